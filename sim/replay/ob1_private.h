/* ob1_private.h - between ob1.c and ob1_work.c: messages, and the work that they are.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * ob1.c has the protocol: which messages a transfer is, and which work each of
 * them is.  ob1_work.c has the processors of the ranks: the order of the work, its
 * cost and its copies. */
#pragma once

#include "sim/node/memory.h"
#include "sim/replay/ob1.h"
#include "sim/replay/replay_private.h"

/* The meaning of a message or timer for the rank that it comes to. */
typedef enum {
  EVENT_ENVELOPE, /* with the first piece of the data */
  EVENT_ACK,      /* send fragments */
  EVENT_FRAGMENT,
  EVENT_RETURN, /* within a node: a piece is taken out, its buffer is free */
  EVENT_PUT,    /* write a piece */
  EVENT_WRITE,  /* the piece; software at its destination sees nothing */
  EVENT_FIN,    /* the piece is there */
  EVENT_ACCESS, /* a one-sided get or fetch, at its target */
  EVENT_STORE,  /* the data of a one-sided put; as WRITE */
  EVENT_CLOCK,  /* a processor's time has come */
  EVENT_AGENT,  /* the same, of the one that works while the rank computes */
  EVENT_DUE,    /* work for which it was too early has its time */
} Event;

typedef enum {
  WORK_SEND,            /* the first piece */
  WORK_COPY,            /* of a message that runs past ob1 */
  WORK_STASH,           /* an unexpected first piece out of the library's buffer */
  WORK_TAKE,            /* the first piece of a matched message */
  WORK_ACKED,           /* learn of an acknowledgement */
  WORK_SEND_FRAGMENT,   /* copy in and send */
  WORK_TAKE_FRAGMENT,   /* copy out */
  WORK_FIRST_DELIVERED, /* learn that the first piece is out of the way */
  WORK_DELIVERED,       /* or that a fragment is */
  WORK_ASK,             /* register a piece and ask for it */
  WORK_ANSWER,          /* register it and write it */
  WORK_FINISH,          /* tell that it is written */
  WORK_FINISHED,        /* learn it */
  WORK_NOTHING,         /* not needed any more */
} WorkKind;

typedef struct {
  int64_t at_ps;         /* not before */
  uint64_t bytes;        /* of the piece */
  uint64_t copied_bytes; /* so far */
  uint64_t cookie;       /* COPY: of the timer that ends it */
  uint32_t transfer;     /* COPY: the rank of the other memory */
  uint32_t notify;       /* COPY: the timer's rank */
  uint32_t next;
  uint8_t kind; /* WorkKind */
  bool begun;
} Work;

/* When something is done. */
typedef enum {
  TURN_CALL,    /* by the call that the rank is in, before it ends */
  TURN_NEXT,    /* at once after the present work */
  TURN_ARRIVED, /* when the rank is in MPI, after all that came before */
} Turn;

typedef struct {
  uint32_t first, last, n; /* of work */
} Queue;

typedef struct {
  Queue calls, arrived;
  int64_t clock_ps;
  uint32_t work; /* the present one; TOPO_NONE */
} Processor;

typedef struct {
  Processor own, agent;
  Queue early;    /* of the agent: messages for receives of a rank that is ahead */
  BaseMap pinned; /* peer -> pages registered to send to it, to receive from it */
  uint32_t round; /* BUSY: so many arrived pieces are done before the rank goes on */
} Ob1Rank;

/* The state of a transfer.  Each side changes its own half. */
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
} Message;

typedef struct {
  SimMemory *memory;
  SimMemory *own_memory; /* NULL: it is the network's */
  Ob1Rank *ranks;        /* [n_ranks] */
  Work *works;
  uint32_t n_works, works_capacity, first_free_work;
  Message *messages; /* [messages_capacity] of a transfer */
  uint32_t messages_capacity;
} Ob1;

static inline Ob1 *
ob1_of (const SimReplay *replay)
{
  return replay->library;
}

static inline Message *
message_of (const SimReplay *replay, uint32_t transfer)
{
  return &ob1_of (replay)->messages[transfer];
}

static inline uint32_t
source_of (const SimReplay *replay, uint32_t transfer)
{
  return sim_transfer_at (replay, transfer)->envelope.source;
}

static inline uint64_t
event_cookie (Event event, uint32_t transfer)
{
  return sim_cookie (SIM_COOKIE_PROTOCOL, (uint32_t) event, transfer);
}

static inline bool
is_local (const SimReplay *replay, uint32_t transfer)
{
  return sim_transfer_is_local (replay, sim_transfer_at (replay, transfer));
}

static inline bool
is_self (const SimReplay *replay, uint32_t transfer)
{
  return source_of (replay, transfer) == sim_transfer_at (replay, transfer)->destination;
}

/* -- ob1.c ---------------------------------------------------------------- */

/* The receiver answers the first piece, before it copies it out. */
bool sim_ob1_is_acknowledged (const SimReplay *replay, uint32_t transfer);
/* The effect of a piece of work on its message, after the lead and after the copy.  No
 * pointer into a pool holds across them. */
void sim_ob1_work_begins (SimReplay *replay, const Work *work, int64_t at_ps);
void sim_ob1_work_ends (SimReplay *replay, uint32_t rank, const Work *work, int64_t at_ps);

/* -- ob1_work.c ----------------------------------------------------------- */

/* Notes work for a rank; returns its number. */
uint32_t sim_ob1_work_add (SimReplay *replay, uint32_t rank, Work work, Turn turn);
/* Time of a pointer in a FIFO, from its writer to its reader's poll; two ranks of a node. */
int64_t sim_ob1_fifo_ps (const SimReplay *replay, uint32_t from, uint32_t to);
/* EVENT_CLOCK or EVENT_AGENT: the present work goes on. */
void sim_ob1_work_go_on (SimReplay *replay, uint32_t rank, Processor *processor);
/* EVENT_DUE: some of the agent's work may begin now. */
void sim_ob1_work_due (SimReplay *replay, uint32_t rank);
void sim_ob1_progress (SimReplay *replay, uint32_t rank, SimMoment moment);
/* The processor is busy, or the rank's calls have left something to do. */
bool sim_ob1_is_busy (const SimReplay *replay, uint32_t rank);
