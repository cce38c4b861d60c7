/* aggregate_mapping.h - the ranks of a program on the cores of an aggregation pattern.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The procedure of section IV.B of the aggregation paper: ranks that are expensive to separate share a
 * node; the same procedure and costs then divide the ranks of a node among its sockets, dies and
 * cores, as far as the pattern uses them.
 *
 * With a bound table the cost of a pair is equation 4 (predictors/group/cost_graph.h): the time of all
 * messages of the pair within a node, without noise and in the slowest place, against the time
 * between two nodes.  Without a table it is the bytes that the pair exchanges.
 * Collectives do not count; ranks without any messages stay in order. */
#pragma once

#include "predictors/aggregation/bound_table.h"
#include "predictors/group/cost_graph.h"
#include "sim/edges.h"
#include "topology/mapping/aggregation.h"
#include "topology/mapping/mapping.h"
#include "traces/trace.h"

typedef struct {
  const PredictBoundTable *table; /* NULL: costs are bytes */
  PredictCostForm form;           /* of equation 4 */
  gboolean paper; /* the paper's procedure, from the block start alone; FALSE: from several starts,
                   * Scotch's among them, and perturbed */
  uint64_t seed;
} StudyAggregateOptions;

/* The messages between the ranks of a trace, read once for all patterns. */
typedef struct StudyAggregate StudyAggregate;

/* Borrows nothing but the table.  progress may be NULL.  Errors are those of the trace, and
 * STUDY_ERROR_INPUT where the table lacks a placement without noise. */
StudyAggregate *study_aggregate_new (Trace *trace, const TopoPatterns *patterns,
                                     const StudyAggregateOptions *options, TraceProgress progress,
                                     void *data, GError **error);
void study_aggregate_free (StudyAggregate *aggregate);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (StudyAggregate, study_aggregate_free)

/* Rank r on a node and a core (which is its slot: see study_slots_are_cores()) of the pattern, one
 * of those that the aggregate was made with.  Nodes have equally many ranks, or some one less than
 * others.  The caller frees it; its name is that of the pattern. */
TopoMapping *study_aggregate_mapping (const StudyAggregate *aggregate, const TopoPattern *pattern);

/* --- The times of all messages of each pair of ranks --- */

/* Of the pairs that communicate, both ways, sorted by a, then b; all messages of a pair in one
 * direction are taken to have their mean size.  The caller frees. */
PredictPairTime *study_pair_times (const SimEdges *messages, uint32_t n_ranks,
                                   const PredictPingPong *times, uint64_t *n_pairs);
