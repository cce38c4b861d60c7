/* rivals.h - the placements that an advice compares: ranks per node, and mappings for each.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "routing/pami.h"
#include "study/inputs.h"
#include "study/search/search.h"
#include "traces/trace.h"

/* A candidate; times and gains are NaN where it was not simulated. */
typedef struct {
  char *name;
  uint32_t ranks_per_node; /* slots of each node */
  uint32_t nodes;          /* that hold ranks */
  double hop_bytes, max_bytes;
  double
      predicted_s; /* by the trusted model; of a candidate that was run without looking at its run;
                            * NaN: no model */
  double time_s;   /* on the machine as it is */
  guint n_draws;   /* exact runs of the race */
  StudyGain gain;  /* over the default, in the race */
  const char *
      outcome; /* "default", "best other", "not told apart", "beaten", "screened", "failed", "not run" */
  char *error; /* of a run that failed; NULL */
  TopoMapping *mapping;
  guint variant; /* index of its machine */
} StudyRival;

/* Ranks per node that are compared: what the inputs say, and that alone, if they name it, cores or a
 * pattern.  Else the powers of two and the number of cores with which the ranks fit, up to one rank per
 * core; on a torus whose cores are not known the machine's own.  The default's is the machine's own, or
 * the least that fits.  (element-type guint) the default's first.  NULL and *error: they do not fit. */
GArray *study_advice_ranks_per_node (const TopoMachine *machine, uint32_t n_ranks,
                                     gboolean is_fixed, GError **error);

/* A machine with a number of ranks per node.  Machine and routes are the variant's. */
typedef struct {
  TopoMachine *machine;
  RoutePaths *paths;
} StudyVariant;

typedef struct {
  GPtrArray *variants; /* (element-type StudyVariant) the default's first */
  GPtrArray
      *all; /* (element-type StudyRival) those of a variant are neighbours, its default first */
} StudyRivals;

void study_rivals_free (StudyRivals *rivals);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (StudyRivals, study_rivals_free)

/* For each number of ranks per node the default order and the best of what study/search finds by bytes
 * on links; of placements that are the same the first.  policy deterministic: switches are not adaptive.
 * search_us: the search ends after so long (0: when it has made its rounds, so that the result depends
 * on nothing else). */
StudyRivals *study_rivals_new (Trace *trace, const StudyMachineInputs *inputs, RoutePolicy policy,
                               uint64_t seed, gint64 search_us, GError **error);
