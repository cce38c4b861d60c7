/* replay_private.h - the state of a replay, shared by the files that run it.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 *   replay.c              ranks: their clock, their loop, the network's callbacks, reports
 *   replay_ops.c          MPI calls, requests, handles
 *   replay_collectives.c  collectives, and the making of communicators
 *   replay_window.c       windows and one-sided accesses
 *   replay_graph.c        ranks whose operations are a graph
 *   messages.c            messages: order, matching
 *   pami_protocol.c       the messaging library of a torus
 *   ob1.c, ucx.c          those of a fabric, of 2009 and of today
 *   work.c                the processors of its ranks
 *
 * A rank has its own clock, local_ps, which may be ahead of the network's:
 * sends are handed to the network for a later time, receives are posted for
 * a later time (matching.h says why that gives the same matches), and a rank
 * that blocks at local time t handles at t all that comes before t.  A timer is
 * set only where a rank must let the network catch up: see rank_pause() in
 * replay.c.
 *
 * On a network in parts every part has a SimReplay of its own, a view, whose thread handles the
 * ranks on the part's nodes, one callback at a time.  The views share by pointer the tables of
 * ranks, each entry of which belongs to the view of its rank, and
 *
 *   transfers      at any moment one side's, or fields of which each side has its own: a
 *                  message between the two hands over the rest
 *   communicators  with locks of their own, see there; and the meetings of ranks
 *   agreement
 *
 * What ranks of several views do to these in one window must have the same effect in any order. */
#pragma once

#include "sim/replay/agreement.h"
#include "sim/collective/collective.h"
#include "mpi/communicator.h"
#include "base/small_map.h"
#include "sim/replay/matching.h"
#include "sim/replay/replay.h"

#include <pthread.h>

/* Simulated time ends here, after 26 days: far enough from the end of 64 bits
 * that no sum of a clock and a few durations, none longer, overflows. */
#define SIM_LAST_PS (INT64_MAX / 4)

#define SIM_CACHE_LINE 64u

/* The meaning of a cookie, in its top four bits; the same kinds serve messages
 * and timers. */
typedef enum {
  SIM_COOKIE_DIRECT,       /* communicator and sequence number of a direct collective */
  SIM_COOKIE_MET,          /* ranks have met: a posted collective ends */
  SIM_COOKIE_RELEASE,      /* ranks have met: this one is blocked, until so many ps later */
  SIM_COOKIE_RESUME,       /* the network's time has reached the rank's */
  SIM_COOKIE_ACCESSED,     /* transfer: a one-sided access is complete, at its origin */
  SIM_COOKIE_BEGIN,        /* a processor of a graph that may begin something */
  SIM_COOKIE_END,          /* an operation of a graph that does not occupy its processor any more */
  SIM_COOKIE_PROTOCOL = 8, /* this and all above: the messaging library's own */
} SimCookie;

/* high: 28 bits, a piece or a communicator; low: a transfer or a sequence number. */
static inline uint64_t
sim_cookie (uint32_t kind, uint32_t high, uint32_t low)
{
  return (uint64_t) kind << 60 | (uint64_t) (high & 0xfffffffu) << 32 | low;
}

static inline uint32_t
sim_cookie_kind (uint64_t cookie)
{
  return (uint32_t) (cookie >> 60);
}

static inline uint32_t
sim_cookie_high (uint64_t cookie)
{
  return (uint32_t) (cookie >> 32) & 0xfffffffu;
}

static inline uint32_t
sim_cookie_low (uint64_t cookie)
{
  return (uint32_t) cookie;
}

/* One operation that a rank has started (or, a template, may start). */
typedef struct {
  uint64_t bytes; /* to send, or room to receive */
  int64_t at_ps;  /* when posted; once complete, when it completed */
  uint32_t
      context; /* of the envelope of the message, or wanted; the rest is in `tag` and the ranks */
  int32_t tag;
  uint32_t rank;
  uint32_t peer; /* world rank of the destination or source; TOPO_NONE: any or none */
  uint32_t next; /* younger one of the same handle, of the youngest the oldest; the chain of
                  * free ones; once awaited, its number among those of the call */
  uint8_t mode;  /* TraceSendMode */
  bool used : 1;
  bool is_send : 1;
  bool no_message : 1; /* the peer is MPI_PROC_NULL, or a collective */
  bool complete : 1;
  bool awaited : 1;    /* the rank is blocked until it is complete */
  bool detached : 1;   /* no call will ask for it: freed when complete */
  bool owned : 1;      /* by the posted collective of this context and tag; freed when complete */
  bool collective : 1; /* is itself a posted collective, of this context and tag */
  bool graph : 1;      /* `next` is the number of its operation in a graph; freed when complete */
  bool access : 1;     /* of accesses to a window */
  bool blocking : 1;   /* a send: the call ends when it is complete */
} SimRequest;

/* One message from its send to its end, at both of its ranks.  A message is seldom in a cache when
 * something of it arrives, so that it takes one line. */
typedef struct {
  uint64_t bytes;
  union {
    uint64_t asked_bytes; /* rendezvous data */
    uint64_t back_bytes;  /* an access: to its origin */
  };
  uint64_t arrived_bytes;
  int64_t at_ps;        /* when it came; then when its data may be fetched */
  SimEnvelope envelope; /* an access: its window and origin */
  uint32_t destination;
  union {
    uint32_t serial;          /* until it is matched: among the messages of this pair of ranks */
    uint32_t receive_request; /* then */
  };
  uint32_t send_request; /* TOPO_NONE: complete for the sender */
  uint32_t next;         /* early, deferred or paced; the chain of free ones */
  uint16_t piece_bytes;  /* of the remote gets; 0: all at once */
  uint8_t state;         /* the library's own; of an access: TraceOpKind */
  bool dynamic;          /* its data is routed dynamically */
} SimTransfer;

G_STATIC_ASSERT (sizeof (SimTransfer) == SIM_CACHE_LINE);

/* Transfers are read by both of their ranks, so that they do not move: they are in segments of two
 * megabytes.  A view hands out those of its own segments; another one that has no more use for
 * one gives it back to that view. */
#define SIM_SEGMENT_BITS 15u
#define SIM_SEGMENT      (1u << SIM_SEGMENT_BITS)
#define SIM_SEGMENTS     (1u << (32 - SIM_SEGMENT_BITS))

typedef struct {
  SimTransfer *segment[SIM_SEGMENTS];
  uint16_t home[SIM_SEGMENTS]; /* number of the view */
  SimPath *path[SIM_SEGMENTS]; /* critical.h: of the transfers; NULL: not asked for */
  uint32_t n_segments;         /* changed by all views, atomically */
  /* Of each view, in a cache line of its own: chain of free ones that other views gave back.
   * Atomic. */
  uint32_t *given_back;
} SimTransferTable;

#define SIM_LINE_WORDS (SIM_CACHE_LINE / sizeof (uint32_t))

/* A collective that a rank is in or, when it is nonblocking, has posted. */
typedef struct SimActive SimActive;
struct SimActive {
  SimCollective collective;
  SimActive *next;     /* younger one of the rank */
  SimActive *next_met; /* next posted one that waits in the same meeting */
  SimGroups *groups;   /* held for the collective; NULL: none */
  /* When the last of the requests that it owned was complete.  A posted one in a meeting: the span
   * in which it came, then the time of its end. */
  int64_t at_ps;
  SimLocalWork work; /* of the steps so far, to be done when nothing is pending */
  uint32_t rank, comm, sequence;
  uint32_t request;  /* complete when this ends; TOPO_NONE: blocking */
  uint32_t pending;  /* requests that it owns */
  uint32_t step;     /* or the number of direct messages handed over */
  uint32_t missing;  /* direct messages still to come */
  uint32_t arrival;  /* a posted one, or one in switches, in a meeting: as that of a rank */
  uint32_t meeting;  /* in switches: the request that is complete when the result is there */
  bool in_switches;  /* a leader waits for the others' data */
  bool blocks;       /* the rank does nothing else */
  bool direct_ready; /* `missing` is known */
  uint32_t n_words;  /* of arrays */
  uint64_t arrays[]; /* the collective's lists */
};

typedef enum {
  SIM_RANK_READY,   /* about to do the next thing */
  SIM_RANK_RUNNING, /* outside MPI: a timer ends that */
  SIM_RANK_BUSY,    /* in MPI, with work of the messaging library */
  SIM_RANK_WAITING, /* for its awaited requests */
  SIM_RANK_PROBING,
  SIM_RANK_MEETING,   /* for other ranks, in the network or to make a communicator */
  SIM_RANK_GATHERING, /* for the messages of a direct collective */
  SIM_RANK_GRAPH,     /* its processors serve replay_graph.c */
  SIM_RANK_DONE,
} SimRankState;

/* In the order of use: a large replay has none of it in a cache when a message arrives, which
 * needs the first line, and the second when a receive is complete. */
typedef struct {
  int64_t local_ps;
  int64_t wait_ps; /* SimRankTimes */
  SimMatchQueue matching;
  uint32_t pending;                       /* awaited requests that are not complete */
  uint32_t open_receives;                 /* posted or matched, not complete */
  uint32_t open_sends;                    /* fabrics: those of which more than the first piece
                                           * needs this rank */
  uint32_t first_early;                   /* transfers that overtook others of their pair */
  uint32_t first_deferred, last_deferred; /* matched while outside MPI */
  uint32_t n_dynamic;                     /* transfers on their way here that are routed
                                           * dynamically */
  uint8_t state;                          /* SimRankState */
  bool active_ready;                      /* a posted collective may go on */
  uint16_t n_awaited;                     /* by the present call so far, modulo 2^16 */
  SimActive *active;                      /* the one that blocks, then posted ones by age */
  TraceCursor *cursor;                    /* NULL before the first step and after the last */
  uint32_t *queues;                       /* [n_queues] handle -> its requests */
  uint32_t n_queues;
  uint32_t node;
  int64_t computed_ps;  /* where the last compute gap ended */
  const char *call;     /* MPI name of the last operation */
  BaseMap *handles;     /* handle -> its requests where queues[] ends, template; NULL: none yet */
  BaseMap sequences;    /* communicator -> collectives so far, makings of communicators too */
  GArray *early_direct; /* (element-type EarlyDirect) NULL: none */
  union {
    SimEnvelope probe;       /* SIM_RANK_PROBING */
    struct {                 /* SIM_RANK_MEETING */
      uint32_t next_meeting; /* next rank that waits in the same meeting */
      uint32_t arrival;      /* number among the waits of the view */
      uint32_t came;         /* in which span; modulo 2^32 */
    };
  };
  uint32_t cancel; /* request to take back when the network has caught up */
} SimRank;

G_STATIC_ASSERT (sizeof (SimRank) % SIM_CACHE_LINE == 0);

typedef enum {
  SIM_WARNING_UNKNOWN_REQUEST,
  SIM_WARNING_TRUNCATED,
  SIM_WARNING_UNKNOWN_SIZE,
  SIM_N_WARNINGS
} SimWarning;

typedef enum {
  SIM_MATCHED_BY_POST,    /* the receive is posted just now */
  SIM_MATCHED_BY_ARRIVAL, /* it was posted before */
  SIM_UNMATCHED,          /* the message has come, and no receive takes it yet */
} SimMatched;

/* When a library may do some of the work that waits for a rank's processor. */
typedef enum {
  SIM_MOMENT_ENTERED,  /* the rank is in MPI again: work that came while it was outside */
  SIM_MOMENT_CALLED,   /* a call of the rank ends: its work, as far as that goes at once */
  SIM_MOMENT_CALLBACK, /* a callback of the rank ends */
} SimMoment;

/* A message or timer of the library's own. */
typedef struct {
  uint64_t cookie;
  uint64_t bytes;    /* the message's; of a timer 0 */
  uint32_t rank;     /* to which it came */
  bool acknowledged; /* it is the acknowledgement of that message, back at its source */
  uint8_t rail;      /* the message's */
} SimProtocolEvent;

/* A messaging library: how messages are carried, and the cost. */
typedef struct {
  /* Around the run; the network is known. */
  void (*begin) (SimReplay *replay);
  void (*free) (SimReplay *replay);
  /* The library's state; loads into one that has begun. */
  void (*dump) (SimReplay *replay, BaseDump *dump);
  /* A new transfer begins, at its sender's local time or after; charges its sender. */
  void (*send) (SimReplay *replay, uint32_t transfer);
  /* The envelope of a transfer and its receive have met, or not yet. */
  void (*matched) (SimReplay *replay, uint32_t transfer, SimMatched how);
  /* A processor of a graph has taken a message out. */
  void (*taken) (SimReplay *replay, uint32_t transfer);
  /* One message of a direct collective: the cookie comes to the peer. */
  void (*direct) (SimReplay *replay, uint32_t rank, uint32_t peer, uint64_t bytes, uint64_t cookie);
  /* A one-sided access begins, at its origin's local time; it ends with SIM_COOKIE_ACCESSED. */
  void (*access) (SimReplay *replay, uint32_t transfer);
  void (*event) (SimReplay *replay, const SimProtocolEvent *event);
  void (*progress) (SimReplay *replay, uint32_t rank, SimMoment moment);
  /* The rank's processor has to finish something before the rank can go on. */
  bool (*is_busy) (const SimReplay *replay, uint32_t rank);
} SimProtocol;

extern const SimProtocol sim_pami, sim_ob1, sim_ucx;

/* The first in the order of time, then of the nodes. */
typedef struct {
  uint64_t n;
  int64_t at_ps;
  uint32_t rank;
  char *place;
} SimWarned;

typedef struct SimCritical SimCritical; /* critical.h */

/* Of ranks that wait for each other. */
typedef struct {
  pthread_mutex_t lock;
  GHashTable *open; /* gint64 (communicator, sequence) -> Meeting of replay_collectives.c */
} SimMeetings;

struct SimReplay {
  Trace *trace;
  const TopoMachine *machine;
  const TopoMapping *mapping;
  const TopoParameters *parameters; /* of the machine */
  SimReplayOptions options;
  SimTimeline *timeline;     /* NULL: none */
  SimIterations *iterations; /* NULL: none; a rank's entry is changed by its view */
  SimCritical *critical;     /* NULL: the critical path is not asked for */
  SimRank *ranks;            /* [n_ranks] */
  uint32_t n_ranks;
  struct SimGraph *graphs; /* [n_ranks] NULL: the trace is no graph */
  TraceComms *comms;
  SimAgreement *agreement;
  SimMeetings *meetings;
  SimEdges *edges; /* those from a rank are changed by its view */
  SimTransferTable *transfers;
  const SimProtocol *protocol;
  void *library;     /* of the protocol, from its begin() to its free() */
  const bool *exact; /* [n_exact] see sim_replay_set_exact(); NULL: none is */
  uint32_t n_exact;
  SimReplay **views; /* [n_views] the first is the replay itself */
  uint32_t n_views;
  bool *failed; /* a view has an error: nothing is done any more.  Atomic */

  /* The view's own. */
  uint32_t view;         /* its number */
  SimNetwork *network;   /* the part */
  bool knows_sources;    /* of a receive of any source */
  bool own_failed;       /* the first view's is that of all */
  int64_t now_ps;        /* of the callback */
  uint32_t n_done;       /* ranks */
  uint64_t n_operations; /* executed */
  uint64_t n_callbacks;
  uint32_t n_meeting_waits;  /* so far, modulo 2^32 */
  uint32_t span_bits;        /* of meetings: a span is 2^span_bits ps */
  int64_t progress_us;       /* when the progress function was last called */
  uint64_t operations_guess; /* of the whole trace; 0: not yet known */
  SimEdges *distant_edges;   /* from ranks of other views; NULL: none */
  SimMatchPool match_pool;
  SimRequest *requests; /* of the view's ranks */
  uint32_t n_requests, requests_capacity, first_free_request;
  uint32_t next_transfer, end_transfer; /* of its last segment, never taken */
  uint32_t first_free_transfer;
  struct SimGraphEdges *graph_edges;
  uint64_t n_works;    /* of the library, under way */
  GHashTable *windows; /* gint64 (rank, handle) -> Window */
  GHashTable *levels; /* communicator -> Levels of replay_collectives.c, of those used lately; NULL:
                        * none yet */
  int64_t *iteration_ends_ps;         /* SimIterations.ends_ps of the view's ranks; NULL: none */
  uint64_t loop_messages, loop_bytes; /* SimIterations.messages and .message_bytes */
  /* The path to the callback, which is known once something has asked for it. */
  SimPath cause;
  uint64_t cause_cookie;
  const SimMessage *cause_message; /* NULL: a timer */
  uint32_t cause_rank;
  bool cause_known;
  uint32_t *critical_links; /* scratch, links of one path */
  SimWarned warnings[SIM_N_WARNINGS];
  GError *error;          /* the first one */
  SimReplayResult result; /* its ranks and warnings are of all views */
};

static inline SimTransfer *
sim_transfer_at (const SimReplay *replay, uint32_t transfer)
{
  return &replay->transfers->segment[transfer >> SIM_SEGMENT_BITS][transfer & (SIM_SEGMENT - 1)];
}

static inline SimPath *
sim_transfer_path (const SimReplay *replay, uint32_t transfer)
{
  return &replay->transfers->path[transfer >> SIM_SEGMENT_BITS][transfer & (SIM_SEGMENT - 1)];
}

/* The view handles the rank. */
static inline bool
sim_replay_handles (const SimReplay *replay, uint32_t rank)
{
  uint32_t node = replay->ranks[rank].node;

  return replay->n_views == 1 ||
         (node >= replay->network->first_node && node < replay->network->end_node);
}

/* The view that handles a rank. */
static inline SimReplay *
sim_replay_view (const SimReplay *replay, uint32_t rank)
{
  uint32_t node = replay->ranks[rank].node, view = 0;

  while (replay->n_views > 1 && node >= replay->views[view]->network->end_node)
    view++;
  return replay->views[view];
}

/* Between ranks of one node: through its memory, not the network. */
static inline bool
sim_transfer_is_local (const SimReplay *replay, const SimTransfer *transfer)
{
  const uint32_t *node = replay->mapping->node;

  return node[transfer->envelope.source] == node[transfer->destination];
}

/* Of the message that is sent, or wanted. */
static inline SimEnvelope
sim_request_envelope (const SimRequest *request)
{
  return (SimEnvelope){ request->context, request->is_send ? request->rank : request->peer,
                        request->tag };
}

/* Even: the program's messages; odd: those of collectives on the same communicator. */
static inline uint32_t
sim_context (uint32_t comm, bool internal)
{
  return comm == TRACE_COMMS_SELF ? UINT32_MAX - 1 - internal : 2 * comm + internal;
}

/* -- replay.c ------------------------------------------------------------ */

/* Makes room for n_records, of which n_used are there; NULL: none yet.  The first begins on the
 * edge of a cache line; large tables, which are read all over, are in huge pages. */
void *sim_records_resize (void *records, size_t n_used, size_t n_records, size_t size);
void sim_records_free (void *records);

/* The rank's clock moves on to at_ps, if that is later: it waited in MPI. */
void sim_rank_wait_until (SimReplay *replay, uint32_t rank, int64_t at_ps);
/* Goes on with a rank whose reason to wait is gone. */
void sim_rank_wake (SimReplay *replay, uint32_t rank);
/* Leaves MPI until the network's time has come to the rank's. */
void sim_rank_sleep (SimReplay *replay, uint32_t rank);
void sim_rank_finish (SimReplay *replay, uint32_t rank);
/* Sets the replay's error, unless there is one: "rank 3, MPI_Recv at PLACE: ...". */
void
sim_report_fail (SimReplay *replay, uint32_t rank, const char *format, ...) G_GNUC_PRINTF (3, 4);
void sim_report_warn (SimReplay *replay, uint32_t rank, SimWarning warning);

/* -- replay_ops.c -------------------------------------------------------- */

void sim_ops_execute (SimReplay *replay, uint32_t rank, const TraceOp *op);
/* The communicator an operation names; TRACE_COMMS_NULL and the replay failed
 * when there is none. */
uint32_t sim_ops_comm (SimReplay *replay, uint32_t rank, const TraceOp *op);
/* The world rank of `peer` in a communicator, TOPO_NONE for wildcards and
 * MPI_PROC_NULL; false, and the replay failed, when there is no such rank. */
bool sim_ops_peer (SimReplay *replay, uint32_t rank, uint32_t comm, int32_t peer, uint32_t *world);
/* The request of a send or receive, which has not begun; TOPO_NONE, and the
 * replay failed, when it cannot be. */
uint32_t sim_ops_request (SimReplay *replay, uint32_t rank, const TraceOp *op);
/* Processor time of a compute gap. */
int64_t sim_ops_compute_ps (const SimReplay *replay, const TraceOp *op);
/* Takes back the receive that MPI_Cancel named, if nothing has matched it, now
 * that the network has caught up. */
void sim_ops_take_back (SimReplay *replay, uint32_t rank);
uint32_t sim_request_take (SimReplay *replay, SimRequest value);
void sim_request_complete (SimReplay *replay, uint32_t request, int64_t at_ps);
/* The rank cannot go on before it is complete; it is freed then. */
void sim_request_await (SimReplay *replay, uint32_t request);
void sim_handle_push (SimReplay *replay, uint32_t rank, uint32_t handle, uint32_t request);

/* -- replay_collectives.c ------------------------------------------------- */

void sim_active_enter (SimReplay *replay, uint32_t rank, const TraceOp *op);
void sim_active_create_comm (SimReplay *replay, uint32_t rank, const TraceOp *op);
/* Messages that are no collective of the program's, as a neighbourhood in this
 * communicator; the number is the same at both ends of each. */
void sim_active_exchange (SimReplay *replay, uint32_t rank, const TraceOp *op, uint32_t comm,
                          uint32_t number);
/* Goes on with a collective of any method, until it has to wait. */
void sim_active_continue (SimReplay *replay, SimActive *active);
/* Goes on with posted ones, if the rank or an agent of it can. */
void sim_active_progress (SimReplay *replay, uint32_t rank);
/* SIM_COOKIE_DIRECT has come. */
void sim_active_direct (SimReplay *replay, uint32_t rank, uint64_t cookie);
/* SIM_COOKIE_MET has come. */
void sim_active_met (SimReplay *replay, uint32_t rank, uint64_t cookie);
/* An owned request is complete. */
void sim_active_owned (SimReplay *replay, const SimRequest *request, int64_t at_ps);
/* The posted one that a request stands for or is owned by. */
SimActive *sim_active_of (const SimReplay *replay, const SimRequest *request);
void sim_active_clear (SimRank *rank);
/* Of the messages of direct collectives that came early. */
GArray *sim_active_early_new (void);
/* Those of a rank; the communicators are there. */
void sim_active_dump (SimReplay *replay, uint32_t rank, BaseDump *dump);
/* The ranks and their collectives are there. */
void sim_meetings_dump (SimReplay *replay, BaseDump *dump);
SimMeetings *sim_meetings_new (void);
void sim_meetings_free (SimMeetings *meetings);

/* -- replay_window.c ----------------------------------------------------- */

void sim_window_init (SimReplay *replay);
void sim_window_dump (SimReplay *replay, BaseDump *dump);
void sim_window_call (SimReplay *replay, uint32_t rank, const TraceOp *op);
/* An access is at its target. */
void sim_window_arrived (SimReplay *replay, uint32_t transfer);
/* Its origin knows that it is complete. */
void sim_window_accessed (SimReplay *replay, uint32_t transfer);

/* -- replay_graph.c ------------------------------------------------------ */

void sim_graph_init (SimReplay *replay);
/* Of each view. */
void sim_graph_init_view (SimReplay *replay);
void sim_graph_free_view (SimReplay *replay);
void sim_graph_dump_view (SimReplay *replay, BaseDump *dump);
void sim_graph_free (SimReplay *replay);
void sim_graph_dump (SimReplay *replay, BaseDump *dump);
void sim_graph_start (SimReplay *replay, uint32_t rank);
/* SIM_COOKIE_BEGIN or SIM_COOKIE_END has come. */
void sim_graph_timer (SimReplay *replay, uint32_t rank, uint64_t cookie);
/* The message of a receive is here: a processor has to take it out. */
void sim_graph_arrived (SimReplay *replay, uint32_t request, uint32_t transfer);
/* The request of an operation is complete. */
void sim_graph_completed (SimReplay *replay, uint32_t rank, uint32_t operation);
/* The oldest operation of a rank that has not ended, its request, or TOPO_NONE,
 * and how many there are. */
uint32_t
sim_graph_oldest (const SimReplay *replay, uint32_t rank, uint32_t *request, uint32_t *n_open);

/* -- messages.c ---------------------------------------------------------- */

/* The table of n_views views. */
SimTransferTable *sim_transfers_new (uint32_t n_views);
void sim_transfers_free (SimTransferTable *table);
/* The views are there. */
void sim_transfers_dump (SimReplay *replay, BaseDump *dump);
uint32_t sim_transfer_take (SimReplay *replay, SimTransfer value);
void sim_transfer_give (SimReplay *replay, uint32_t transfer);
/* Counts a message in the result and the communication graph. */
void sim_message_count (SimReplay *replay, uint32_t source, uint32_t destination, uint64_t bytes);
/* Begins a send request at the rank's local time. */
void sim_message_send (SimReplay *replay, uint32_t request);
/* Posts a receive request at the rank's local time. */
void sim_message_post (SimReplay *replay, uint32_t request);
/* An envelope has come. */
void sim_message_arrive (SimReplay *replay, uint32_t transfer);
/* Hands a message to the network, from a callback of its source. */
void sim_message_transmit (SimReplay *replay, SimMessage message, int64_t at_ps);
/* Its receiver has taken it out: not yet given back, tells the timeline. */
void sim_message_received (SimReplay *replay, uint32_t transfer, int64_t at_ps);
