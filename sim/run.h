/* run.h - one simulation from a spec to its record.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * `simulate` prints the record, a store keeps it, and predictors read it. */
#pragma once

#include "sim/features.h"
#include "sim/net/link_loads.h"
#include "sim/replay/replay.h"
#include "sim/shrink.h"
#include "sim/traffic.h"

#include <stdio.h>

typedef enum { SIM_NETWORK_PACKET, SIM_NETWORK_FLOW, SIM_NETWORK_LOAD } SimNetworkKind;

/* A run between two windows of its network. */
typedef struct SimRunning SimRunning;

typedef struct {
  const char *trace_path;
  SimNetworkKind network;
  RoutePolicy policy;
  double compute_scale;
  uint64_t seed;
  int64_t jitter_ps; /* each rank starts up to so much later, drawn from the seed; 0: all at once */
  SimShrink shrink;  /* packet */
  SimTimeline *timeline; /* of packet and flow; borrowed, NULL: none */
  SimLinkLoads *loads; /* of packet: what links send in each interval; borrowed, NULL: not wanted */
  bool iterations;     /* finds the main loop of the trace, and times it; packet and flow */
  bool critical_path;  /* finds what the time is made of, a tenth slower; packet and flow */
  uint32_t n_threads;  /* at most so many, on tori in packet without a timeline; 0: one, or those of
                          * .resume.  Nothing but the wall time depends on it */
  /* Called now and then with the share done (0..1) and simulated time, which is 0 in
   * load; may be NULL. */
  void (*progress) (void *data, double share, int64_t now_ps);
  void *progress_data;

  /* Packet.  Called some ten times a second, first when the network begins: what may save the run with
   * sim_run_save().  FALSE and *error end it, with that error.  May be NULL. */
  gboolean (*pause) (void *data, SimRunning *running, GError **error);
  void *pause_data;
  uint32_t windows_per_pause; /* called after so many windows at the latest; 0: the usual number */
  const char *resume;         /* path of a file of sim_run_save(), to go on from; NULL: none */

  /* Shared by many runs, borrowed; each NULL: made anew. */
  const RoutePaths *paths;   /* of the machine */
  const SimTraffic *traffic; /* of the trace on the machine; load */
  const char *key;           /* sim_run_key() of this very run */
} SimRunOptions;

typedef struct {
  char *key;              /* SHA-256 of everything that went in */
  SimReplayResult result; /* load: times 0 */
  SimCounters *counters;
  double features[SIM_N_FEATURES];
  SimIterations *iterations; /* NULL: not asked for */
  uint32_t shrink;           /* what long messages were shrunk by; 1: every packet was simulated */
  double shrink_share;       /* of the bytes between nodes, those of messages that were shrunk */
  double wall_s;
  uint64_t peak_rss_bytes;
  GPtrArray *warnings; /* (element-type utf8) trace's and replay's */
} SimRun;

/* How the warning begins that the computation of the ranks differs too much for the time of the run
 * to show what communication costs.  Its text is the same for every mapping. */
#define SIM_IMBALANCE_WARNING "imbalanced computation: "

/* Borrows everything for the call.  NULL and *error on failure. */
SimRun *sim_run (Trace *trace, const TopoMachine *machine, const TopoMapping *mapping,
                 const SimRunOptions *options, GError **error);
void sim_run_free (SimRun *run);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SimRun, sim_run_free)

/* Writes all that a run is, so that another process goes on from there to the same record.  For its
 * pause function, after which it goes on itself, too. */
gboolean sim_run_save (SimRunning *running, FILE *stream, GError **error);

/* SHA-256 as text, the caller frees it.  The content of files counts, not
 * their path.  Errors are those of reading the trace. */
char *sim_run_key (Trace *trace, const RoutePaths *paths, const TopoMapping *mapping,
                   const SimRunOptions *options, GError **error);

/* The same for a trace that need not be open: `trace_hash` is its trace_hash(). */
char *sim_run_key_of_hash (const char *trace_hash, const RoutePaths *paths,
                           const TopoMapping *mapping, const SimRunOptions *options);
