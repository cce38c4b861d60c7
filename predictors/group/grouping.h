/* grouping.h - the tasks that belong together: parts of exact sizes, of the least cut found.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The procedure of Kernighan and Lin (kernighan_lin.h) ends in a local optimum that
 * depends on the start.  So several starts are tried, and each optimum is perturbed
 * and improved again; the result is kept when it is no worse. */
#pragma once

#include "predictors/group/cost_graph.h"

#include <stdbool.h>

/* The defaults: some tenths of a second. */
#define PREDICT_GROUP_STARTS 8
#define PREDICT_GROUP_WORK   UINT64_C (200000000)

typedef struct {
  const char *name;
  const uint32_t *part; /* [n], of exact sizes */
} PredictGroupStart;

typedef struct {
  uint32_t n_parts;  /* 1 .. n; the first n % n_parts parts of a start have a task more */
  uint32_t n_starts; /* at least 1: block, round robin, greedy, halves, then random ones */
  uint64_t seed;     /* of random starts and perturbations */
  const PredictGroupStart *given; /* [n_given] further starts */
  uint32_t n_given;
  uint64_t work; /* about how many nanoseconds to work after the first start; 0: the block start
                  * alone, without perturbation, which is the paper's procedure */
} PredictGroupOptions;

/* The cut of one start: at first, when no pair gained any more, and after perturbations. */
typedef struct {
  char *name;
  int64_t cut_start, cut_improved, cut;
} PredictGroupTrial;

typedef struct {
  uint32_t *part; /* [n] numbered by their first tasks: task 0 is in part 0 */
  int64_t cut;
  GArray *trials; /* PredictGroupTrial */
  uint32_t best;  /* of the trials */
} PredictGroups;

/* The same for the same graph and options. */
PredictGroups *predict_group (const PredictCostGraph *graph, const PredictGroupOptions *options);
/* Wraps parts of another origin as the only trial; takes part[n]. */
PredictGroups *predict_groups_given (const PredictCostGraph *graph, const char *name,
                                     uint32_t *part, uint32_t n_parts);
void predict_groups_free (PredictGroups *groups);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PredictGroups, predict_groups_free)
