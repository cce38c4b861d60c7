/* replay.h - MPI ranks as state machines over any network.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each rank reads its operations one at a time and is blocked, computing or
 * done; no threads, no stacks.  On a torus the MPI protocol is PAMI's (bgq.md
 * sections 3.3 and 4): immediate and eager messages go at once, longer ones
 * after a request to send has been matched, by remote get.  On a fabric it is
 * Open MPI's.  pami_protocol.c and ob1.c have the details.  Processor time is
 * charged per call (machine file, [mpi]); between calls the recorded gaps are
 * replayed.  A trace that is a graph has no calls in order: see replay_graph.c. */
#pragma once

#include "routing/paths.h"
#include "sim/edges.h"
#include "sim/iterations.h"
#include "sim/net/network.h"
#include "sim/replay/timeline.h"
#include "traces/trace.h"

/* What the time of a run is made of (critical.h). */
typedef enum {
  SIM_CLASS_COMPUTE,  /* recorded gaps and work, and the jitter of the start */
  SIM_CLASS_SOFTWARE, /* processor time of the messaging library, its copies included */
  SIM_CLASS_LATENCY,  /* of messages without bytes on an idle network; of collectives in hardware */
  SIM_CLASS_BANDWIDTH, /* of the bytes of messages on an idle network; of copies that no rank makes */
  SIM_CLASS_QUEUEING, /* what messages take beyond that: congestion */
  SIM_N_CLASSES
} SimTimeClass;

/* "compute", "software", "latency", "bandwidth", "queueing". */
extern const char *const sim_class_names[SIM_N_CLASSES];

typedef struct {
  int64_t ps[SIM_N_CLASSES];
} SimPath;

typedef struct {
  double compute_scale; /* recorded gaps and work are multiplied by it; default 1 */
  RoutePolicy policy;   /* the network's: tells how many descriptors a remote get carries */
  int64_t jitter_ps;    /* each rank starts up to so much later than 0, drawn from the seed */
  uint64_t seed;
  /* Receives and probes of any source take only the source that the trace has. */
  bool recorded_sources;
  SimTimeline *timeline;     /* records the run; borrowed, NULL: none.  In one thread only */
  SimIterations *iterations; /* filled with their times; borrowed, NULL: none.  It has a loop */
  const RoutePaths
      *routes; /* of the machine, to find the critical path; borrowed, NULL: it is not */
  /* Called now and then with an estimate of the share done (0..1) and simulated time; may be
   * NULL. */
  void (*progress) (void *data, double share, int64_t now_ps);
  void *progress_data;
  /* Called as SimClient.running, unless the run is about to fail: then the replay may be saved.
   * False ends it.  May be NULL. */
  bool (*pause) (void *data);
  void *pause_data;
} SimReplayOptions;

typedef struct {
  int64_t end_ps;           /* when the rank finished */
  int64_t compute_ps;       /* replayed gaps and work */
  int64_t wait_ps;          /* inside MPI beyond the overheads: blocked */
  uint64_t sends, receives; /* user point-to-point operations with a real peer */
} SimRankTimes;

typedef struct {
  int64_t time_ps;     /* end of the last rank */
  SimRankTimes *ranks; /* [n_ranks] */
  uint32_t n_ranks;
  SimPath path;  /* of the critical path; its sum is time_ps */
  bool has_path; /* it is known: it was asked for, and the trace is no graph */
  /* User messages: point-to-point, the data of one-sided accesses, and those of
   * decomposed collectives. */
  uint64_t messages;
  uint64_t message_bytes;
  uint64_t unmatched_sends, unmatched_receives; /* left over at the end */
  uint64_t collectives;                         /* calls, one per rank */
  GPtrArray *warnings;                          /* (element-type utf8) */
} SimReplayResult;

typedef struct SimReplay SimReplay;

/* Takes none of its arguments; all must outlive it.  The network is set
 * after both are made: the network is made with sim_replay_client. */
SimReplay *sim_replay_new (Trace *trace, const TopoMachine *machine, const TopoMapping *mapping,
                           const SimReplayOptions *options, GError **error);
void sim_replay_free (SimReplay *replay);

extern const SimClient sim_replay_client; /* client_data is the SimReplay */

/* Before the run: which messages are exact (SimMessage).  Those that a rank sends after it has
 * entered i collectives on COMM_WORLD, makings of communicators among them, are if exact[i] is set;
 * the last of them is for all that follow.  Borrows the list until freed. */
void sim_replay_set_exact (SimReplay *replay, const bool *exact, uint32_t n_exact);

/* Runs the trace on the network to its end, once.  SIM_ERROR_DEADLOCK names the
 * ranks that still wait, the operation each waits in and its place in the
 * trace (the first 10 of them).
 *
 * On a network in parts everything is the same, but for other errors in the trace: which of several
 * is named, and which ranks a mismatch names, then depends on the threads. */
gboolean sim_replay_run (SimReplay *replay, SimNetwork *network, GError **error);

/* Saves the replay and its network, called by SimReplayOptions.pause. */
void sim_replay_save (SimReplay *replay, BaseDump *dump);
/* Loads both into new ones, made for the same trace, machine, mapping and options, the network in as many parts,
 * and runs on from there.  Ends the dump.  The streams are read once more up to where they were. */
gboolean sim_replay_resume (SimReplay *replay, SimNetwork *network, BaseDump *dump, GError **error);

/* After a successful run; borrowed. */
const SimReplayResult *sim_replay_result (const SimReplay *replay);
const SimEdges *sim_replay_edges (const SimReplay *replay);
/* The same, given away: the last thing that is asked of a replay. */
SimEdges *sim_replay_take_edges (SimReplay *replay);

/* Whether there were receives of any source of which the trace has the
 * source, so that recorded_sources makes a difference.  After any run. */
bool sim_replay_knows_sources (const SimReplay *replay);
