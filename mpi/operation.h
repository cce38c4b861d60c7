/* operation.h - an operation of one rank: the form every trace is read into.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * An operation is recorded as the program *posted* it: peers may be wildcards, a
 * receive may be longer than what arrives, request and communicator numbers
 * are the rank's own handles and may be used again after they are freed.
 * Sizes are bytes, already multiplied by the size of the datatype.
 *
 * Handles.  Communicators: TRACE_COMM_WORLD, TRACE_COMM_SELF and
 * TRACE_COMM_NULL are fixed, others are bound by the operation that creates
 * them, in each rank for itself.  An operation on a window names the handle of
 * the window's communicator, which may have been freed since.  A request handle names a queue, not one
 * operation: traces of MPI libraries that share one request between small
 * sends start the same handle again while it is active, and completions take
 * them in the order they were started. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define TRACE_ANY_SOURCE    (-1)
#define TRACE_ANY_TAG       (-1)
#define TRACE_PROC_NULL     (-2)
#define TRACE_NO_ROOT       (-1)
#define TRACE_UNDEFINED     (-32766) /* colour of a rank that gets no communicator */
#define TRACE_UNKNOWN_BYTES UINT64_MAX
/* No reader yields a larger size: a few of them add up without overflow. */
#define TRACE_MAX_BYTES (UINT64_C (1) << 62)

enum { TRACE_COMM_NULL = 1, TRACE_COMM_WORLD = 2, TRACE_COMM_SELF = 3 };
enum { TRACE_GROUP_NULL = 1, TRACE_GROUP_EMPTY = 2 };
enum { TRACE_REQUEST_NULL = 1 };

typedef enum {
  TRACE_OP_COMPUTE, /* gap_ps and/or flops: processor time between calls */
  TRACE_OP_INIT,
  TRACE_OP_FINALIZE,
  TRACE_OP_CALL, /* any other MPI call: costs a call, moves nothing */

  /* Point to point.  comm, peer, tag, bytes; *_INIT and I* bind request. */
  TRACE_OP_SEND,      /* mode */
  TRACE_OP_ISEND,     /* mode */
  TRACE_OP_SEND_INIT, /* mode */
  TRACE_OP_RECV,
  TRACE_OP_IRECV,
  TRACE_OP_RECV_INIT,
  TRACE_OP_SENDRECV,     /* and recv_peer, recv_tag, recv_bytes */
  TRACE_OP_START,        /* requests[] */
  TRACE_OP_PROBE,        /* blocks until a match could be received */
  TRACE_OP_IPROBE,       /* completed holds the result that the program saw */
  TRACE_OP_CANCEL,       /* requests[0] */
  TRACE_OP_REQUEST_FREE, /* requests[0] */

  /* Completion: requests[]; completed[] lists the indices into it that the
   * program saw complete.  A test that saw nothing costs a call. */
  TRACE_OP_WAIT,             /* all of requests[] */
  TRACE_OP_WAIT_SOME,        /* waitany, waitsome: exactly completed[] */
  TRACE_OP_WAIT_OUTSTANDING, /* every request of the rank (TI waitall) */
  TRACE_OP_TEST,             /* test family: exactly completed[], maybe none */

  /* Collectives on comm, with nonblocking and request when the call returned
   * at once.  bytes is what this rank contributes to one peer
   * (or to the root), recv_bytes what it gets from one peer; see the table
   * in operation.c for each.  counts[]/recv_counts[]: per rank of comm. */
  TRACE_OP_BARRIER,
  TRACE_OP_BCAST,
  TRACE_OP_GATHER,
  TRACE_OP_GATHERV,
  TRACE_OP_SCATTER,
  TRACE_OP_SCATTERV,
  TRACE_OP_ALLGATHER,
  TRACE_OP_ALLGATHERV,
  TRACE_OP_ALLTOALL,
  TRACE_OP_ALLTOALLV, /* and alltoallw */
  TRACE_OP_REDUCE,
  TRACE_OP_ALLREDUCE,
  TRACE_OP_REDUCE_SCATTER, /* recv_counts[] */
  TRACE_OP_SCAN,
  TRACE_OP_EXSCAN,
  /* Neighbourhoods, of all flavours: to the ranks values[] go counts[], from
   * values2[] come recv_counts[].  The lists are this rank's neighbours in
   * comm, in the order of the topology; MPI_PROC_NULL is left out.  They have
   * n_counts and n_recv_counts entries; n_values says nothing here. */
  TRACE_OP_NEIGHBOR_ALLGATHER,
  TRACE_OP_NEIGHBOR_ALLTOALL,
  TRACE_OP_WIN_CREATE, /* of all flavours: comm, window is bound; all of comm meet */
  TRACE_OP_WIN_FREE,   /* comm, window */
  TRACE_OP_WIN_FENCE,  /* comm, window: my accesses complete, then all of comm meet */

  /* One-sided, on a window over comm; peer is the target.  With a request
   * when nonblocking is set (MPI_Rput ...), else complete for the origin when
   * the next fence, flush, unlock or complete on the window returns. */
  TRACE_OP_PUT,          /* bytes to the peer; accumulate too */
  TRACE_OP_GET,          /* recv_bytes from the peer */
  TRACE_OP_FETCH,        /* both: get-accumulate, fetch-and-op, compare-and-swap */
  TRACE_OP_WIN_FLUSH,    /* also unlock; peer, or TRACE_ANY_SOURCE for all */
  TRACE_OP_WIN_POST,     /* values[]: the origins that may access */
  TRACE_OP_WIN_START,    /* values[]: the targets; until all have posted */
  TRACE_OP_WIN_COMPLETE, /* values[]: the targets of the matching start */
  TRACE_OP_WIN_WAIT,     /* values[]: the origins; until all have completed */

  /* Communicators and groups.  new_comm / new_group is bound. */
  TRACE_OP_COMM_DUP,
  TRACE_OP_COMM_SPLIT,  /* color, key */
  TRACE_OP_COMM_CREATE, /* group */
  TRACE_OP_COMM_FREE,
  /* Membership is known without a call, and no rank waits: values[] = world
   * ranks in order, color = a number that all members give this
   * communicator and no other. */
  TRACE_OP_COMM_DEFINE,
  TRACE_OP_CART_CREATE,  /* values = dims[], values2 = periods[] */
  TRACE_OP_CART_SUB,     /* values = remain_dims[] */
  TRACE_OP_GRAPH_CREATE, /* color = number of nodes */
  TRACE_OP_COMM_GROUP,   /* comm -> new_group */
  TRACE_OP_GROUP_INCL,   /* group, values = ranks[] -> new_group */
  TRACE_OP_GROUP_EXCL,
  TRACE_OP_GROUP_RANGE_INCL, /* values = first, last, stride triples */
  TRACE_OP_GROUP_RANGE_EXCL,
  TRACE_OP_GROUP_UNION, /* group, group2 -> new_group */
  TRACE_OP_GROUP_INTERSECTION,
  TRACE_OP_GROUP_DIFFERENCE,
  TRACE_OP_GROUP_FREE,
  TRACE_OP_UNSUPPORTED, /* see name; intercommunicators, spawn */
  TRACE_N_OPS
} TraceOpKind;

typedef enum {
  TRACE_SEND_STANDARD,
  TRACE_SEND_BUFFERED,
  TRACE_SEND_SYNCHRONOUS,
  TRACE_SEND_READY,
} TraceSendMode;

typedef struct {
  TraceOpKind kind;
  TraceSendMode mode;
  int64_t gap_ps;                /* COMPUTE: measured time */
  double flops;                  /* COMPUTE: counted work */
  uint64_t instructions, cycles; /* COMPUTE: hardware counters; 0: not counted */

  uint32_t comm;
  int32_t peer; /* rank in comm: destination, or source of a receive */
  int32_t tag;
  uint64_t bytes;
  int32_t recv_peer; /* SENDRECV: the source */
  int32_t recv_tag;
  uint64_t recv_bytes;
  int32_t root;           /* rank in comm */
  uint32_t request;       /* bound by I*, *_INIT and what is nonblocking */
  bool nonblocking;       /* a collective or an access that binds request and goes on */
  int32_t matched_source; /* the source of the message if the trace has it, else ANY_SOURCE */

  uint32_t window; /* the rank's own handle; the same may be bound again */
  uint32_t new_comm;
  uint32_t group, group2, new_group;
  int32_t color, key;

  /* Arrays belong to the cursor and live until its next call. */
  const uint32_t *requests;
  uint32_t n_requests;
  const uint32_t *completed;
  uint32_t n_completed;
  const uint64_t *counts, *recv_counts; /* bytes, one per rank of comm */
  uint32_t n_counts, n_recv_counts;
  const int32_t *values, *values2;
  uint32_t n_values;

  /* Traces that are graphs (trace_is_graph()): what must have ended, and what
   * must have begun, before this operation may begin, as indices into the
   * rank's own stream, all of them earlier; and the processor that it
   * occupies.  Nothing else orders the operations of a rank. */
  const uint32_t *after, *after_start;
  uint32_t n_after, n_after_start;
  uint32_t cpu;

  /* Where it was recorded, for reports; a replay does not look at it. */
  int64_t call_ps; /* how long the call took; 0: not known */
  const char
      *site; /* the caller: a region, "program+0x51a3c"; owned by the trace; NULL: not known */

  const char *name; /* the MPI name of the call, e.g. "MPI_Isend"; the trace's, or static */
} TraceOp;

/* Lower-case name of a kind as reports print it: "isend", "allreduce". */
const char *trace_op_name (TraceOpKind kind);

/* Makes *op a blank operation: on the world, from any source, without a root, all else 0. */
static inline void
trace_op_init (TraceOp *op, TraceOpKind kind, const char *name)
{
  enum { LINE_BYTES = 64 };
  char *bytes = (char *) op;

  /* gcc clears a whole operation by "rep stos", which took 11 ns where it was measured; cache lines
   * one by one took 2.5 ns. */
  for (unsigned i = 0; i + LINE_BYTES <= sizeof *op; i += LINE_BYTES)
    memset (bytes + i, 0, LINE_BYTES);
  memset (bytes + sizeof *op / LINE_BYTES * LINE_BYTES, 0, sizeof *op % LINE_BYTES);
  op->kind = kind;
  op->name = name;
  op->comm = TRACE_COMM_WORLD;
  op->matched_source = TRACE_ANY_SOURCE;
  op->root = TRACE_NO_ROOT;
}

static inline bool
trace_op_is_neighborhood (TraceOpKind kind)
{
  return kind == TRACE_OP_NEIGHBOR_ALLGATHER || kind == TRACE_OP_NEIGHBOR_ALLTOALL;
}

/* How long values[] and values2[] are, when they are there. */
static inline uint32_t
trace_op_n_values (const TraceOp *op)
{
  return trace_op_is_neighborhood (op->kind) ? op->n_counts : op->n_values;
}

static inline uint32_t
trace_op_n_values2 (const TraceOp *op)
{
  return trace_op_is_neighborhood (op->kind) ? op->n_recv_counts : op->n_values;
}

static inline bool
trace_op_is_collective (TraceOpKind kind)
{
  return kind >= TRACE_OP_BARRIER && kind <= TRACE_OP_WIN_FENCE;
}

/* True where all ranks of a communicator make another by it. */
static inline bool
trace_op_is_creation (TraceOpKind kind)
{
  return kind == TRACE_OP_COMM_DUP || kind == TRACE_OP_COMM_SPLIT || kind == TRACE_OP_COMM_CREATE ||
         kind == TRACE_OP_CART_CREATE || kind == TRACE_OP_CART_SUB || kind == TRACE_OP_GRAPH_CREATE;
}

/* True for operations on an existing window. */
static inline bool
trace_op_uses_window (TraceOpKind kind)
{
  return kind >= TRACE_OP_WIN_FREE && kind <= TRACE_OP_WIN_WAIT;
}
