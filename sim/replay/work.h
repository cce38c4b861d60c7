/* work.h - the processors of ranks on a fabric, and the work that waits for them.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A rank has one processor, and everything that costs it time is a piece of
 * work; one is done after the other.  Work that the rank's calls ask for is done
 * before the calls end, as MPI_Isend copies before it returns; messages are
 * handled in the order in which they came, while the rank is blocked
 * in MPI, or when it makes a call after the network has caught up with it: then those
 * that are there.  With [mpi] async_progress an agent handles messages, and does
 * the work of posted collectives, at once and in no time of the rank's;
 * in a graph it does everything.
 *
 * A copy is made at the time of the network, in pieces, as the memory of a node
 * is shared and copies of other ranks come between: a rank that is ahead waits
 * for the network.  Work without a copy is done ahead, as on a torus.
 *
 * What work there is, what it costs and what it does is a messaging library's: its rules. */
#pragma once

#include "sim/node/memory.h"
#include "sim/replay/replay_private.h"

/* Kinds of work; a library's own begin at SIM_WORK_LIBRARY. */
enum {
  SIM_WORK_NOTHING, /* not needed any more */
  SIM_WORK_COPY,    /* of a message that runs past the library */
  SIM_WORK_LIBRARY,
};

/* Events, of sim_work_event(); a library's own begin at SIM_WORK_EVENTS. */
enum {
  SIM_WORK_CLOCK, /* a processor's time has come */
  SIM_WORK_AGENT, /* the same, of the one that works while the rank computes */
  SIM_WORK_DUE,   /* work for which it was too early has its time */
  /* Of one-sided accesses, which run past the libraries; their cookies have the transfer. */
  SIM_WORK_ACCESS, /* a get or fetch, at its target */
  SIM_WORK_STORE,  /* the data of a put; software sees nothing */
  SIM_WORK_EVENTS,
};

typedef struct {
  int64_t at_ps;         /* not before */
  uint64_t bytes;        /* of the piece */
  uint64_t copied_bytes; /* so far */
  uint64_t cookie;       /* COPY: of the timer that ends it */
  uint32_t transfer;     /* COPY: the rank of the other memory */
  uint32_t notify;       /* COPY: the timer's rank */
  uint32_t next;
  uint8_t kind;
  bool begun;
} SimWork;

/* When something is done. */
typedef enum {
  SIM_TURN_CALL,    /* by the call that the rank is in, before it ends */
  SIM_TURN_NEXT,    /* at once after the present work */
  SIM_TURN_ARRIVED, /* when the rank is in MPI, after all that came before */
} SimTurn;

typedef struct {
  uint32_t first, last, n; /* of work */
} SimWorkQueue;

typedef struct {
  SimWorkQueue calls, arrived;
  int64_t clock_ps;
  uint32_t work; /* the present one; TOPO_NONE */
} SimProcessor;

typedef struct {
  SimProcessor own, agent;
  SimWorkQueue early; /* of the agent: messages for receives of a rank that is ahead */
  uint32_t round;     /* BUSY: so many arrived pieces are done before the rank goes on */
} SimWorker;

/* No pointer into a pool of the library or of the work holds across `begins` and `ends`. */
typedef struct {
  /* Processor time before the copy; begin_ps: when it begins. */
  int64_t (*lead_ps) (SimReplay *replay, const SimWork *work, int64_t begin_ps);
  /* The bytes that a piece of work copies in all. */
  uint64_t (*copy_bytes) (const SimReplay *replay, const SimWork *work);
  /* From where to where the next part of the copy goes. */
  void (*copy_between) (const SimReplay *replay, const SimWork *work, SimCopy *copy);
  /* The effect on its message, after the lead (NULL: none) and after the copy. */
  void (*begins) (SimReplay *replay, const SimWork *work, int64_t at_ps);
  void (*ends) (SimReplay *replay, uint32_t rank, const SimWork *work, int64_t at_ps);
} SimWorkRules;

/* The first in the state of a library that has it. */
typedef struct {
  const SimWorkRules *rules;
  SimMemory *memory;
  SimMemory *own_memory; /* NULL: it is the network's */
  SimWorker *workers;    /* [n_ranks] */
  int64_t request_ps;    /* processor time of a work request past the library */
  SimWork *works;
  uint32_t n_works, works_capacity, first_free_work;
} SimWorkers;

static inline SimWorkers *
sim_workers (const SimReplay *replay)
{
  return replay->library;
}

static inline uint8_t
sim_core_of (const SimReplay *replay, uint32_t rank)
{
  return replay->machine->slot_core[replay->mapping->slot[rank]];
}

static inline uint32_t
sim_work_source (const SimReplay *replay, uint32_t transfer)
{
  return sim_transfer_at (replay, transfer)->envelope.source;
}

/* Both ranks of the transfer are on one node. */
static inline bool
sim_work_is_local (const SimReplay *replay, uint32_t transfer)
{
  return sim_transfer_is_local (replay, sim_transfer_at (replay, transfer));
}

static inline bool
sim_work_is_self (const SimReplay *replay, uint32_t transfer)
{
  return sim_work_source (replay, transfer) == sim_transfer_at (replay, transfer)->destination;
}

/* The send request of a transfer, which may have been completed before, is complete. */
static inline void
sim_work_send_complete (SimReplay *replay, uint32_t transfer, int64_t at_ps)
{
  uint32_t request = sim_transfer_at (replay, transfer)->send_request;

  sim_transfer_at (replay, transfer)->send_request = TOPO_NONE;
  if (request != TOPO_NONE)
    sim_request_complete (replay, request, at_ps);
}

/* A buffer of the rank's own. */
static inline SimBuffer
sim_private_buffer (const SimReplay *replay, uint32_t rank, uint64_t footprint_bytes)
{
  return (SimBuffer){ .kind = SIM_BUFFER_PRIVATE,
                      .core = sim_core_of (replay, rank),
                      .footprint_bytes = footprint_bytes };
}

static inline uint64_t
sim_event_cookie (uint32_t event, uint32_t transfer)
{
  return sim_cookie (SIM_COOKIE_PROTOCOL, event, transfer);
}

/* Copies go through the memory of the replay's network, or one of their own.  Work requests past the
 * library cost request_ps. */
void sim_workers_init (SimReplay *replay, SimWorkers *workers, const SimWorkRules *rules,
                       int64_t request_ps);
void sim_workers_clear (SimWorkers *workers);
void sim_workers_dump (SimReplay *replay, BaseDump *dump);

/* Notes work for a rank; returns its number. */
uint32_t sim_work_add (SimReplay *replay, uint32_t rank, SimWork work, SimTurn turn);
/* Work for a message or a piece of it that has come. */
void sim_work_arrived (SimReplay *replay, uint32_t rank, uint32_t transfer, uint8_t kind,
                       uint64_t bytes);
/* `rank` copies between its memory and the peer's of the same node, then `notify` is told. */
void sim_work_copy_within (SimReplay *replay, uint32_t rank, uint32_t peer, uint64_t bytes,
                           uint32_t notify, uint64_t cookie);
/* False: the event is the library's own. */
bool sim_work_event (SimReplay *replay, const SimProtocolEvent *event);

/* Of SimProtocol. */
void
sim_work_direct (SimReplay *replay, uint32_t rank, uint32_t peer, uint64_t bytes, uint64_t cookie);
void sim_work_access (SimReplay *replay, uint32_t transfer);
void sim_work_progress (SimReplay *replay, uint32_t rank, SimMoment moment);
bool sim_work_is_busy (const SimReplay *replay, uint32_t rank);

/* Time of a pointer in a FIFO, from its writer to its reader's poll; two ranks of a node. */
int64_t sim_fifo_ps (const SimReplay *replay, uint32_t from, uint32_t to);

/* An RDMA write of one rank into the memory of another, past the libraries: the cookie comes to
 * the target's adapter. */
void sim_write_to (SimReplay *replay, uint32_t from, uint32_t to, uint64_t bytes, uint64_t cookie,
                   bool acknowledge, int64_t at_ps);
