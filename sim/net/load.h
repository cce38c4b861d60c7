/* load.h - the network without time: the messages of a trace and their links.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Walks every rank's operations without timing anything; only the making of
 * communicators is coordinated between ranks.  Collectives are
 * decomposed as the replay does. */
#pragma once

#include "sim/counters.h"
#include "sim/edges.h"
#include "routing/paths.h"
#include "topology/mapping/mapping.h"
#include "traces/trace.h"

typedef enum {
  SIM_CENSUS_POINT_TO_POINT = 1, /* user messages only */
  SIM_CENSUS_COLLECTIVES = 2,    /* and the messages of decomposed collectives */
} SimCensusScope;

typedef struct {
  uint64_t operations;                  /* all, compute gaps not counted */
  uint64_t sends, send_bytes, receives; /* point-to-point with a real peer */
  uint64_t collectives[TRACE_N_OPS];    /* by kind, one per rank */
  uint64_t calls[TRACE_N_OPS];
  uint32_t communicators;
  uint64_t unmatched_sends, unmatched_receives; /* by (communicator, source, destination, tag) */
} SimCensus;

/* Called for every message, in world ranks. */
typedef void (*SimCensusMessage) (void *data, uint32_t source, uint32_t destination, uint64_t bytes,
                                  bool direct_collective);

/* Point-to-point messages and one-sided accesses are reported in every scope;
 * only the former are `sends`.  machine decides how
 * collectives are decomposed; may be NULL when scope is POINT_TO_POINT.
 * message and progress may be NULL.  `match` asks for the unmatched figures (needs memory
 * for all open channels). */
gboolean sim_census (Trace *trace, const TopoMachine *machine, SimCensusScope scope, bool match,
                     SimCensusMessage message, void *message_data, TraceProgress progress,
                     void *progress_data, SimCensus *census, GError **error);

/* A rank comes to a collective on COMM_WORLD, or makes a communicator of it. */
typedef struct {
  uint32_t number;         /* the n-th of each rank is the n-th of all; from 1 on */
  bool synchronizes;       /* no rank leaves it before all have come */
  bool is_busy;            /* the rank has begun something that it has not seen complete */
  uint64_t sent, received; /* messages that it has begun to send and to receive so far */
} SimCensusMeeting;

/* What a walk tells of the phases of a trace, all in world ranks. */
typedef struct {
  void (*turn) (void *data, uint32_t rank); /* what follows is of this rank */
  SimCensusMessage message;
  void (*enter) (void *data, uint32_t rank, const SimCensusMeeting *meeting);
  /* The messages since are the collective's. */
  void (*leave) (void *data);
} SimCensusPhases;

/* As sim_census() with SIM_CENSUS_COLLECTIVES. */
gboolean sim_census_phases (Trace *trace, const TopoMachine *machine, const SimCensusPhases *phases,
                            void *data, GError **error);

/* Adds one user message between two ranks to static counters: bytes on the
 * links of its deterministic path (halves on both E cables where PAMI splits),
 * one message on each injection FIFO it uses, one per piece where PAMI paces;
 * on a fabric, on the send queue of its rail one per work request that carries
 * its bytes.  Messages within a node are ignored.  Sends above eager_bytes are
 * taken for rendezvous, others for eager.  There must be a way between the
 * ranks' nodes (route_paths_check()). */
void sim_load_add (SimCounters *counters, const RoutePaths *paths, const TopoMapping *mapping,
                   uint32_t source, uint32_t destination, uint64_t bytes, bool direct_collective);

/* The same for n_messages that are all alike. */
void sim_load_add_many (SimCounters *counters, const RoutePaths *paths, const TopoMapping *mapping,
                        uint32_t source, uint32_t destination, uint64_t bytes,
                        bool direct_collective, uint64_t n_messages);

/* The same on a fabric, between two nodes, for bytes whose work requests are
 * known. */
void sim_load_add_work (SimCounters *counters, const RoutePaths *paths, const TopoMapping *mapping,
                        uint32_t source, uint32_t destination, uint64_t bytes, uint64_t n_requests);
