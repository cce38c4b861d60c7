/* replay_testing.h - scripts, a network and small machines for tests of the replay.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A script is a trace that a test writes, instead of one that is read from a file.  This
 * module provides all of traces/trace.h, so programs that link it must not
 * need the readers.
 *
 * Times of the small machine, in nanoseconds: send 300, receive 700, any other
 * call 100, direct message 50; network 1000 + 1 per byte; within a node 200 +
 * 0.1 per byte.  Messages are eager up to 1,000 bytes. */
#pragma once

#include "sim/net/network.h"
#include "sim/run.h"
#include "traces/trace.h"

/* -- scripts: each function appends one operation to a rank's stream --------- */

/* trace_free() frees it. */
Trace *script_new (uint32_t n_ranks);

/* Streams as text: "RANKS: OP; OP | RANKS: OP ...", RANKS being "0", "0,2", "1-3" or
 * "*" for all.  OP is trace_op_name() with arguments; a collective with "i" before
 * it is nonblocking and has a request as last argument, and "3*OP" is three of them:
 *
 *   compute NS               call   finalize
 *   send|ssend|bsend TO TAG BYTES        isend|send_init TO TAG BYTES REQUEST
 *   recv FROM TAG BYTES                  irecv|recv_init FROM TAG BYTES REQUEST
 *   sendrecv TO FROM BYTES               probe FROM TAG
 *   wait|start|cancel|request_free|test REQUEST ...
 *   bcast|gather|scatter|reduce ROOT BYTES      other collectives BYTES
 *   put TO BYTES    get FROM BACK    fetch PEER BYTES BACK    win_flush PEER
 *   win_post|win_start|win_complete|win_wait RANK ...         win_create ...
 *   comm_split COLOR KEY NEW     comm_dup NEW     comm_define NEW RANK ...
 *
 * Other fields follow as "comm=5", "counts=1,2,3" ...  The words any, null, unknown,
 * none, self and undefined stand for the constants of operation.h.  The communicator is
 * COMM_WORLD and the window 9, unless told. */
void script_text (Trace *trace, const char *text);

/* Any operation; its arrays are copied. */
void script_add (Trace *trace, uint32_t rank, TraceOp op);

/* From now on the trace is a graph: operations are ordered by `after` alone. */
void script_set_graph (Trace *trace);

/* The result of trace_collectives(); at first all is known. */
void script_set_collectives (Trace *trace, TraceCollectives collectives);

void script_compute (Trace *trace, uint32_t rank, int64_t gap_ps);
void script_call (Trace *trace, uint32_t rank);
void script_send (Trace *trace, uint32_t rank, int32_t to, int32_t tag, uint64_t bytes);
void script_send_mode (Trace *trace, uint32_t rank, int32_t to, int32_t tag, uint64_t bytes,
                       TraceSendMode mode);
void script_isend (Trace *trace, uint32_t rank, int32_t to, int32_t tag, uint64_t bytes,
                   uint32_t request);
void script_recv (Trace *trace, uint32_t rank, int32_t from, int32_t tag, uint64_t bytes);
void script_irecv (Trace *trace, uint32_t rank, int32_t from, int32_t tag, uint64_t bytes,
                   uint32_t request);
/* WAIT, START, CANCEL or REQUEST_FREE of n handles. */
void script_requests (Trace *trace, uint32_t rank, TraceOpKind kind, uint32_t n,
                      const uint32_t *requests);
void script_wait (Trace *trace, uint32_t rank, uint32_t request);
/* Collective on COMM_WORLD. */
void
script_collective (Trace *trace, uint32_t rank, TraceOpKind kind, int32_t root, uint64_t bytes);

/* -- a network of constant latency ------------------------------------------- */

/* A message arrives latency_ps + bytes * byte_ps after it was sent, however
 * many there are; its acknowledgement is back latency_ps later.  The network checks
 * that its client obeys network.h: nothing in the past, sends from
 * the node of the callback only, timers of other nodes not before the look-ahead. */

typedef struct {
  SimMessage message;
  int64_t sent_ps, delivered_ps;
} FakeRecord;

/* latency_ps is the look-ahead too.  With jitter_ps > 0 each message takes up
 * to that much longer, by a fixed function of its number, so that messages
 * overtake each other. */
SimNetwork *fake_network_new (const TopoMapping *mapping, int64_t latency_ps, int64_t byte_ps,
                              int64_t jitter_ps, const SimClient *client, void *client_data);

/* (element-type FakeRecord) in the order of sim_network_send(). */
const GArray *fake_network_log (const SimNetwork *network);

/* Timers that were set. */
uint64_t fake_network_timers (const SimNetwork *network);

/* A network of constant latency and jitter in parts: see replay_parts_testing.c.  No fabric's, as
 * nothing is acknowledged. */
SimNetwork *parts_network_new (const TopoMapping *mapping, uint32_t n_nodes, uint32_t n_parts,
                               int64_t latency_ps, int64_t byte_ps, int64_t jitter_ps,
                               const SimClient *client, void *client_data);

/* Of all that happened at each node, in order: callbacks, and messages that were sent.  After the
 * run. */
uint64_t parts_network_hash (const SimNetwork *network);

/* -- a small machine with round numbers ---------------------------------------- */

#define NS 1000

typedef struct {
  TopoMachine *machine;
  TopoMapping *mapping;
  Trace *trace;
  SimReplay *replay;
  SimNetwork *network;
  GError *error;
  const SimReplayResult *result; /* NULL: the run failed with `error` */
  SimTimeline *timeline;         /* borrowed; may be NULL */
  int64_t jitter_ps;
  double compute_scale;
  uint32_t n_threads; /* of fixture_simulate() */
  bool without_path;  /* of a machine between whose nodes there are no ways */
} Fixture;

/* n_ranks with `per_node` consecutive ones on each node. */
Fixture fixture_new (uint32_t n_ranks, uint32_t per_node);
/* On a machine of this spec instead. */
Fixture fixture_new_spec (const char *spec, uint32_t n_ranks, uint32_t per_node);
/* On a fat tree, whose library is Open MPI.  Copies take 0.1 ns per byte, whoever
 * else copies, and a pointer to another rank of the node 200; handling a fragment
 * or a control message 40 within a node and 60 between nodes; registration 2,000
 * and 10 per page.  Limits and depths are the machine's defaults. */
Fixture fixture_new_fabric (uint32_t n_ranks, uint32_t per_node);
/* Limits so low that messages of 2,000 bytes go every way; three bits of `ways`
 * choose among the ways of long ones, a fourth UCX. */
void fixture_lower_limits (Fixture *fixture, uint32_t ways);
void fixture_clear (Fixture *fixture);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Fixture, fixture_clear)

/* Replays; again when called again; checks the critical path.  Without a timeline of the test's it is told to
 * one that must add up, as fixture_check_timeline() says. */
void fixture_run (Fixture *fixture);

/* A whole run on a real network, with deterministic routing. */
SimRun *fixture_simulate (const Fixture *fixture, SimNetworkKind network, GError **error);

/* resume_check() at every window of the network. */
void fixture_check_resumed (const Fixture *fixture, RoutePolicy policy, uint32_t n_parts);

/* Asserts that the packet network carries, link by link, the bytes that the load
 * network adds up without any time. */
void fixture_check_links (const Fixture *fixture);

/* Asserts of the timeline of the last run that every lane is without a gap from
 * 0 to its rank's end, and that computing and waiting add up to the rank's times.
 * Returns how many messages it has. */
uint64_t fixture_check_timeline (const Fixture *fixture);

/* Asserts that the classes of the critical path add up to the time, if it is known. */
void fixture_check_path (const SimReplayResult *result);

/* When the rank ended, in nanoseconds. */
double fixture_end_ns (const Fixture *fixture, uint32_t rank);
#define ASSERT_ENDS(fixture, rank, ns) \
  g_assert_cmpfloat_with_epsilon (fixture_end_ns (fixture, rank), ns, 1e-6)

/* How many messages of a kind the network carried. */
uint32_t fixture_count (const Fixture *fixture, SimMessageKind kind);

/* Pairs of ranks that sent messages. */
uint64_t fixture_edges (const Fixture *fixture);
/* The i-th of them. */
const FakeRecord *fixture_record (const Fixture *fixture, SimMessageKind kind, uint32_t i);

/* -- tables of replays ------------------------------------------------------------ */

#define NOTHING (-1) /* expected to be 0; 0 itself is not checked */

typedef struct {
  const char *name;
  const char *script;                 /* for script_text() */
  uint32_t n_ranks, per_node;         /* 0: 2 and 1 */
  bool fabric, graph, network, async; /* network: for collectives; async: progress */

  double end_ns[4], wait_ns[4]; /* of the ranks */
  int64_t messages, message_bytes, collectives, edges;
  int64_t carried; /* messages in the network */
  struct {
    SimMessageKind kind;
    int64_t n;
  } of_kind[3];
  struct {
    SimMessageKind kind;
    uint32_t nth;
    int64_t ns;
  } sent;                             /* when the network got it */
  uint32_t warnings, unmatched_sends; /* these always are */
  int error_code;
  const char *error; /* in the message of an error, which ends the run; NULL: none */
} ReplayCase;

/* A test PREFIX/NAME for each. */
void replay_cases_add (const char *prefix, const ReplayCase *cases, uint32_t n);
