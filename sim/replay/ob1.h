/* ob1.h - Open MPI's point-to-point protocols in a replay; private to sim/.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 *   ob1.c         PML ob1: which protocol, matching hooks, what comes
 *   ob1_steps.c   from one piece of work to the next, what completes when
 *   ob1_cost.c    what each piece of work takes and copies
 *   ob1_sm.c      BTL sm and self: through the memory of a node
 *   ob1_openib.c  BTL openib: through the adapter; and what runs past ob1
 *   ob1_work.c    processors: what they do, in which order, copies in pieces
 *
 * Everything that costs a processor time is a piece of work of one rank,
 * done one after the other: what its calls ask for first, then what has come,
 * while the rank is in MPI.  A copy goes through the memory of the node in
 * pieces, each at its time, so that copies of other ranks come between.
 *
 * Sources are files of open-mpi/ompi around v1.3.2, below ompi/mca/. */
#pragma once

#include "sim/node/memory.h"
#include "sim/replay/replay_private.h"

/* Of the structs in pml/ob1/pml_ob1_hdr.h, with 8-byte pointers; LARGEST is of
 * their union. */
enum {
  SIM_OB1_MATCH_HEADER_BYTES = 16,
  SIM_OB1_RENDEZVOUS_HEADER_BYTES = 32,
  SIM_OB1_ACK_HEADER_BYTES = 32,
  SIM_OB1_FRAGMENT_HEADER_BYTES = 32,
  SIM_OB1_PUT_HEADER_BYTES = 64,
  SIM_OB1_FIN_HEADER_BYTES = 16,
  SIM_OB1_LARGEST_HEADER_BYTES = 72,
};

/* What a cookie of kind OB1 tells the rank that it comes to. */
typedef enum {
  SIM_OB1_ENVELOPE, /* with the first piece of the data */
  SIM_OB1_ACK,      /* send fragments */
  SIM_OB1_FRAGMENT,
  SIM_OB1_RETURN, /* within a node: a piece is taken out, its buffer is free */
  SIM_OB1_PUT,    /* write a piece */
  SIM_OB1_WRITE,  /* the piece; software at its destination sees nothing */
  SIM_OB1_FIN,    /* the piece is there */
  SIM_OB1_STORE,  /* the data of a one-sided put; as WRITE */
  SIM_OB1_CLOCK,  /* a processor's time has come */
  SIM_OB1_AGENT,  /* the same, of the one that works while the rank computes */
  SIM_OB1_DUE,    /* work for which it was too early has its time */
} SimOb1Event;

typedef enum {
  SIM_OB1_SEND,            /* the first piece */
  SIM_OB1_COPY,            /* of a message that runs past ob1 */
  SIM_OB1_STASH,           /* an unexpected first piece out of the library's buffer */
  SIM_OB1_TAKE,            /* the first piece of a matched message */
  SIM_OB1_ACKED,           /* learn of an acknowledgement */
  SIM_OB1_SEND_FRAGMENT,   /* copy in and send */
  SIM_OB1_TAKE_FRAGMENT,   /* copy out */
  SIM_OB1_FIRST_DELIVERED, /* learn that the first piece is out of the way */
  SIM_OB1_DELIVERED,       /* or that a fragment is */
  SIM_OB1_ASK,             /* register a piece and ask for it */
  SIM_OB1_ANSWER,          /* register it and write it */
  SIM_OB1_FINISH,          /* tell that it is written */
  SIM_OB1_FINISHED,        /* learn it */
  SIM_OB1_NOTHING,         /* not needed any more */
} SimOb1WorkKind;

typedef struct {
  int64_t at_ps;         /* not before */
  uint64_t bytes;        /* of the piece */
  uint64_t copied_bytes; /* so far */
  uint64_t cookie;       /* COPY: of the timer that ends it */
  uint32_t transfer;     /* COPY: the rank of the other memory */
  uint32_t notify;       /* COPY: the timer's rank */
  uint32_t next;
  uint8_t kind; /* SimOb1WorkKind */
  bool begun;
} SimOb1Work;

/* When something is done. */
typedef enum {
  SIM_OB1_CALL,    /* by the call that the rank is in, before it ends */
  SIM_OB1_NEXT,    /* at once after what is done now */
  SIM_OB1_ARRIVED, /* when the rank is in MPI, after what came before */
} SimOb1Turn;

typedef struct {
  uint32_t first, last, n; /* of work */
} SimOb1Queue;

typedef struct {
  SimOb1Queue calls, arrived;
  int64_t clock_ps;
  uint32_t work; /* what it does now; TOPO_NONE */
} SimOb1Processor;

typedef struct {
  SimOb1Processor own, agent;
  SimOb1Queue early; /* of the agent: what has come for receives of a rank that is ahead */
  TraceMap pinned;   /* peer -> pages registered to send to it, to receive from it */
  uint32_t round;    /* BUSY: of what has come, so much is done before the rank goes on */
} SimOb1Rank;

/* What ob1 knows of a transfer.  Each side changes its own half. */
typedef struct {
  uint64_t first_bytes; /* with the envelope */
  bool eager;
  bool single; /* the receiver copies it once, from the sender's buffer */
  bool pinned; /* all of it by RDMA, in one piece */

  /* the sender's */
  uint64_t next_bytes;     /* where the next fragment begins */
  uint64_t put_bytes;      /* where the next piece that the receiver asks for begins */
  uint64_t returned_bytes; /* within a node: where the next one that comes back begins */
  uint64_t delivered_bytes;
  uint32_t in_flight; /* fragments */
  bool acked, first_returned, first_delivered, sent;

  /* the receiver's */
  uint64_t rdma_end_bytes; /* where RDMA ends and fragments begin: in its first message */
  uint64_t ask_bytes;      /* where the next piece to ask for begins */
  uint64_t finished_bytes; /* and where the next one that is told to be there */
  uint64_t came_bytes;     /* within a node: where the next fragment that comes begins */
  uint64_t received_bytes; /* in the buffer of the receive */
  uint32_t asked;          /* pieces asked for, not there */
  uint32_t stash;          /* work that waits to stash it; TOPO_NONE */
  bool stashed, received;
} SimOb1Message;

typedef struct SimOb1 {
  SimMemory *memory;
  SimMemory *own_memory; /* NULL: it is the network's */
  SimOb1Rank *ranks;     /* [n_ranks] */
  SimOb1Work *works;
  uint32_t n_works, works_capacity, first_free_work;
  SimOb1Message *messages; /* [messages_capacity] of a transfer */
  uint32_t messages_capacity;
} SimOb1;

static inline SimOb1Message *
sim_ob1_message (const SimReplay *replay, uint32_t transfer)
{
  return &replay->ob1->messages[transfer];
}

static inline uint64_t
sim_ob1_cookie (SimOb1Event event, uint32_t transfer)
{
  return sim_cookie (SIM_COOKIE_OB1, (uint32_t) event, transfer);
}

/* -- ob1.c: for the replay ------------------------------------------------ */

/* A new transfer begins, at its sender's local time or after. */
void sim_ob1_send (SimReplay *replay, uint32_t transfer);
/* It has its receive, which is posted just now or was before. */
void sim_ob1_matched (SimReplay *replay, uint32_t transfer, bool posting);
/* It has none yet. */
void sim_ob1_unexpected (SimReplay *replay, uint32_t transfer);
/* A message or timer of kind OB1 has come to a rank; bytes: the message's. */
void sim_ob1_event (SimReplay *replay, uint32_t rank, uint64_t cookie, uint64_t bytes);
/* The acknowledgement of such a message has come back. */
void sim_ob1_sent (SimReplay *replay, const SimMessage *message);

/* -- ob1_cost.c ------------------------------------------------------------ */

/* Whether the receiver answers the first piece, before it copies it out. */
bool sim_ob1_is_acknowledged (const SimReplay *replay, uint32_t transfer);
/* The user bytes of the fragment that begins there. */
uint64_t sim_ob1_fragment_bytes (const SimReplay *replay, uint32_t transfer, uint64_t begin);
/* Processor time before the copy. */
int64_t sim_ob1_lead_ps (SimReplay *replay, const SimOb1Work *work);
/* The bytes that a piece of work copies in all. */
uint64_t sim_ob1_copy_bytes (const SimReplay *replay, const SimOb1Work *work);
/* From where to where its next piece goes. */
void sim_ob1_copy_between (const SimReplay *replay, const SimOb1Work *work, SimCopy *copy);

/* -- ob1_steps.c ----------------------------------------------------------- */

/* A processor of a graph has taken it out. */
void sim_ob1_taken (SimReplay *replay, uint32_t transfer);
/* What it does after the lead, and after the copy.  No pointer into a pool holds. */
void sim_ob1_begin (SimReplay *replay, const SimOb1Work *work, int64_t at_ps);
void sim_ob1_end (SimReplay *replay, const SimOb1Work *work, int64_t at_ps);

/* -- ob1_sm.c -------------------------------------------------------------- */

static inline bool
sim_ob1_is_local (const SimReplay *replay, uint32_t transfer)
{
  return sim_transfer_is_local (replay, &replay->transfers[transfer]);
}
static inline bool
sim_ob1_is_self (const SimReplay *replay, uint32_t transfer)
{
  const SimTransfer *it = &replay->transfers[transfer];

  return it->envelope.source == it->destination;
}
/* Largest message that goes with its envelope. */
uint64_t sim_ob1_sm_eager_bytes (const SimReplay *replay, bool self);
/* User bytes of a fragment. */
uint64_t sim_ob1_sm_fragment_bytes (const SimReplay *replay);
/* Writes a pointer into the FIFO of the transfer's source or destination. */
void sim_ob1_sm_post (SimReplay *replay, uint32_t transfer, SimOb1Event event, int64_t at_ps);
/* The shared buffer of its first piece or of its fragments. */
SimBuffer sim_ob1_sm_buffer (const SimReplay *replay, uint32_t transfer, bool first);

/* -- ob1_openib.c ---------------------------------------------------------- */

uint64_t sim_ob1_openib_eager_bytes (const SimReplay *replay);
uint64_t sim_ob1_openib_fragment_bytes (const SimReplay *replay);
/* Size of an RDMA piece that begins there. */
uint64_t sim_ob1_openib_piece_bytes (const SimReplay *replay, uint32_t transfer, uint64_t begin);
/* Where RDMA ends and copied fragments begin, as its receiver decides. */
uint64_t sim_ob1_openib_rdma_end (const SimReplay *replay, uint32_t transfer);
/* Sends a message of the transfer; bytes: user bytes in it. */
void sim_ob1_openib_post (SimReplay *replay, uint32_t transfer, SimOb1Event event, uint64_t bytes,
                          int64_t at_ps);
SimBuffer
sim_ob1_openib_buffer (const SimReplay *replay, uint32_t transfer, bool sender, bool first);
/* Processor time to register a piece of a buffer of the sender or receiver. */
int64_t
sim_ob1_openib_register_ps (SimReplay *replay, uint32_t transfer, bool sender, uint64_t bytes);

/* One message of a direct collective, at the rank's local time: its cookie
 * comes to the peer. */
void
sim_ob1_direct (SimReplay *replay, uint32_t rank, uint32_t peer, uint64_t bytes, uint64_t cookie);
/* A one-sided access begins, at its origin's local time. */
void sim_ob1_access (SimReplay *replay, uint32_t transfer);
/* It has come to its target. */
void sim_ob1_serve (SimReplay *replay, uint32_t transfer);

/* -- ob1_work.c ------------------------------------------------------------ */

SimOb1 *sim_ob1_new (uint32_t n_ranks);
/* Copies go through the memory of the replay's network, or one of its own. */
void sim_ob1_use_memory (SimReplay *replay);
void sim_ob1_free (SimOb1 *ob1, uint32_t n_ranks);
/* Puts it down; returns its number. */
uint32_t sim_ob1_do (SimReplay *replay, uint32_t rank, SimOb1Work work, SimOb1Turn turn);
/* At the end of every callback of the rank: starts what can start, and lets it
 * go on when it can. */
void sim_ob1_go (SimReplay *replay, uint32_t rank);
/* At the end of a call: does what the call asked for, as far as that goes at once. */
void sim_ob1_call (SimReplay *replay, uint32_t rank);
/* The rank is in a call: what came until now is done before it goes on. */
void sim_ob1_progress (SimReplay *replay, uint32_t rank);
/* Its processor is busy, or its calls have left something to do. */
bool sim_ob1_is_occupied (const SimReplay *replay, uint32_t rank);
/* A timer of its own or its agent's processor. */
void sim_ob1_clock (SimReplay *replay, uint32_t rank, bool agent);
/* Some of the agent's work may begin now. */
void sim_ob1_due (SimReplay *replay, uint32_t rank);
