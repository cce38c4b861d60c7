/* features.h - the congestion metrics of a run, from edges and counters.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Names and meanings: design table "Counters -> features"; SC13 paper
 * equations 1-6 and section 5.3 (AO: elements above the mean; TO: elements
 * within 5 % of the maximum).
 *
 * What IBM's counters count stands beside what the paper makes of it:
 *   bytes    user bytes that a link carried
 *   chunks   32 bytes each of all that it carried, headers and protocol packets too (PP_SENT)
 *   buffer   packets that wait in the receive buffers at the end of a link, added up every
 *            network cycle (PP_RECV_FIFO), so packet-cycles
 *   delay    that per packet received: by Little's law the mean wait in cycles
 *   waited   packets that had to wait at all
 * The paper's sum_dilation_AO can be read in two ways.  Section 5.3 has a sum of maximum
 * dilations, so one of each sender (sum_dilation_AO); section 7 has dilations of messages, each
 * counted as often as it is sent (sum_message_dilation_AO). */
#pragma once

#include "routing/paths.h"
#include "sim/counters.h"
#include "sim/edges.h"
#include "topology/mapping/mapping.h"

typedef enum {
  SIM_FEATURE_MAX_DILATION,
  SIM_FEATURE_AVG_DILATION,
  SIM_FEATURE_SUM_DILATION_AO,
  SIM_FEATURE_SUM_MESSAGE_DILATION_AO,
  SIM_FEATURE_HOP_BYTES,
  SIM_FEATURE_AVG_HOPS_PER_BYTE,
  SIM_FEATURE_SUM_HOPS_AO,
  SIM_FEATURE_AVG_BYTES,
  SIM_FEATURE_MAX_BYTES,
  SIM_FEATURE_AVG_BYTES_AO,
  SIM_FEATURE_AVG_BYTES_TO,
  SIM_FEATURE_AVG_CHUNKS,
  SIM_FEATURE_MAX_CHUNKS,
  SIM_FEATURE_AVG_CHUNKS_AO,
  SIM_FEATURE_AVG_CHUNKS_TO,
  SIM_FEATURE_AVG_BUFFER,
  SIM_FEATURE_MAX_BUFFER,
  SIM_FEATURE_AVG_BUFFER_AO,
  SIM_FEATURE_AVG_BUFFER_TO,
  SIM_FEATURE_AVG_DELAY,
  SIM_FEATURE_MAX_DELAY,
  SIM_FEATURE_AVG_DELAY_AO,
  SIM_FEATURE_AVG_DELAY_TO,
  SIM_FEATURE_AVG_WAITED,
  SIM_FEATURE_MAX_WAITED,
  SIM_FEATURE_AVG_WAITED_AO,
  SIM_FEATURE_AVG_WAITED_TO,
  SIM_FEATURE_AVG_FIFO,
  SIM_FEATURE_MAX_FIFO,
  SIM_FEATURE_AVG_FIFO_AO,
  SIM_FEATURE_AVG_FIFO_TO,
  SIM_N_FEATURES
} SimFeature;

/* "max_dilation" ... as tables and JSON name them. */
const char *sim_feature_name (SimFeature feature);
/* "hops", "bytes", "chunks", "packet cycles", "cycles", "packets", "messages" ... */
const char *sim_feature_unit (SimFeature feature);
/* The same traffic twice, over the same links, has twice as much of it. */
bool sim_feature_adds_up (SimFeature feature);

/* Hops are links crossed: on a fabric, from adapter to adapter.  Values the
 * network does not know (buffers under `load`) are NaN. */
void sim_features_compute (double features[SIM_N_FEATURES], const RoutePaths *paths,
                           const TopoMapping *mapping, const SimEdges *edges,
                           const SimCounters *counters);

/* The same of edges as sim_edges_sorted() gives them. */
void sim_features_compute_sorted (double features[SIM_N_FEATURES], const RoutePaths *paths,
                                  const TopoMapping *mapping, const SimEdge *edges,
                                  uint64_t n_edges, const SimCounters *counters);
