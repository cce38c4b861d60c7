/* bound_fill.h - fills the table of bounds by simulation.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The exhaustive tests of the aggregation paper (section V): an observed ping-pong and its
 * noise, which start together and have messages of the same size, on nodes 0 and 1 of a fabric.
 * For every class of placements in a node (topology/mapping/message_placement.h) one placement is simulated:
 *
 *   within   both ends of the observed message, and the pairs of noise, are on node 0; noise to
 *            another node goes to the same core of node 1.
 *   between  one end is on node 0; the other, and the other ends of the noise to another node,
 *            are on the same cores of node 1, which has the same pairs of noise too.
 *
 * So a message between nodes is assumed to meet the same noise on both.  The network is the way
 * between nodes 0 and 1: congestion by other nodes is not in the table. */
#pragma once

#include "predictors/aggregation/bound_table.h"
#include "topology/mapping/aggregation.h"
#include "topology/machine.h"
#include "mpi/operation.h"

#include <glib.h>

/* Sizes that are simulated unless the user says otherwise: from 1 byte to 4 MiB, with both sides of
 * the steps of Open MPI's protocols (handbook, model-openmpi.md).  Longer messages go at the rate
 * of the last two. */
extern const uint64_t study_bound_sizes[];
extern const guint study_bound_n_sizes;

/* Noise up to these numbers; all that fits by default, which is 551 classes for a node of
 * 2 x 2 x 2 cores (283 within, of which 56 without noise to other nodes; 268 between). */
typedef struct {
  uint32_t max_pairs, max_outside; /* UINT32_MAX: as many as fit */
} StudyBoundNoise;

typedef struct {
  TraceOpKind kind;
  uint32_t n_ranks;
} StudyBoundCollective;

typedef struct {
  const TopoMachine *machine; /* a fabric of at least 2 nodes; borrowed */
  const uint64_t *bytes;      /* [n_bytes] each once */
  guint n_bytes;
  StudyBoundNoise noise;
  gboolean no_messages;                    /* collectives alone */
  const StudyBoundCollective *collectives; /* [n_collectives] */
  guint n_collectives;
  guint n_threads; /* processes at a time; 0: one per core.  There must be no other threads */
  void (*progress) (void *data, double share); /* may be NULL */
  void *progress_data;
} StudyBoundFill;

/* More would take days. */
#define STUDY_BOUND_MAX_RUNS 200000u

/* The rows and their order do not depend on the order in which simulations end.  Collectives are
 * made for every pattern of the node (topology/mapping/aggregation.h) that all ranks fill evenly and the
 * machine has nodes for: with the ranks in order node by node, and in turn over the nodes, of which
 * the longer time counts.  Errors (STUDY_ERROR_OPTION): a torus, too
 * few nodes, a collective that no pattern fits or that cannot be made, too many runs; or
 * the error of a simulation. */
PredictBoundTable *study_bound_fill (const StudyBoundFill *fill, GError **error);

/* How a collective's rows name a pattern: its places marked as observed.  The caller frees. */
char *study_bound_pattern_class (const TopoLevels *levels, const uint32_t *places, uint32_t n);
