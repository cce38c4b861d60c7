/* traffic.h - all messages of a trace, equal ones counted.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Reading a trace takes longer than laying its messages on links.  Many
 * mappings of one trace on one machine need one reading. */
#pragma once

#include "sim/net/load.h"

typedef struct {
  uint32_t source, destination; /* world ranks */
  bool direct;                  /* of a direct collective */
  uint64_t bytes;               /* of each */
  uint64_t n;
} SimTrafficKind;

/* Public and read-only once made. */
typedef struct {
  SimTrafficKind *kinds; /* [n_kinds] by source; also of ranks to themselves */
  uint64_t n_kinds;
  SimEdge *edges; /* [n_edges] sim_edges_sorted() */
  uint64_t n_edges;
  uint64_t messages, bytes;
  SimCensus census;
} SimTraffic;

/* Collectives are decomposed as on the machine.  NULL without *error when
 * the trace has more than max_kinds kinds of messages. */
SimTraffic *sim_traffic_new (Trace *trace, const TopoMachine *machine, uint64_t max_kinds,
                             TraceProgress progress, void *progress_data, GError **error);
void sim_traffic_free (SimTraffic *traffic);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SimTraffic, sim_traffic_free)

/* Every message on its links and FIFOs; the same as sim_load_add() of each. */
void sim_traffic_load (const SimTraffic *traffic, SimCounters *counters, const RoutePaths *paths,
                       const TopoMapping *mapping);
