/* kernighan_lin_private.h - what the sweeps and the procedure for two parts share.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "predictors/group/kernighan_lin.h"

#include <stdbool.h>

#define PREDICT_NO_TASK UINT32_MAX

/* Two tasks that change places; b PREDICT_NO_TASK: a moves to an empty place. */
typedef struct {
  uint32_t a, b;
  uint32_t from, to; /* the parts of a before and after */
} PredictExchange;

/* What the procedure for two parts works with; "local" numbers count the places of both,
 * those of the first before those of the second. */
typedef struct {
  uint32_t n[2];
  uint32_t *task;      /* [local]; PREDICT_NO_TASK: an empty place */
  uint32_t *local;     /* [task]; PREDICT_NO_TASK: in neither part */
  uint32_t *left[2];   /* local numbers, those set aside first */
  int64_t *difference; /* [local] cost to the other part less that within the own */
  int64_t *matrix;     /* costs between places, when they are few; else NULL */
  int64_t *row;        /* costs of one place, when they are many */
  uint32_t row_owner;
  bool is_small;
} PredictTwo;

struct PredictParts {
  const PredictCostGraph *graph;
  int64_t *square; /* [n * n] costs of a dense graph; NULL: it is sparse */
  uint32_t n_parts;
  uint32_t *first;        /* [n_parts + 1] the first place of each part */
  uint32_t *size;         /* [n_parts] */
  uint32_t *member;       /* [place]; the empty ones of a part come last */
  uint32_t *place, *part; /* [task] */
  int64_t cut, kept_cut;
  uint64_t work;
  GArray *exchanges; /* PredictExchange, since the last keep */
  /* Which pairs may gain: those of which a part has changed since one of them was swept. */
  uint64_t clock, *changed, *swept; /* [n_parts] */
  bool *is_waiting;                 /* [n_parts] */
  uint32_t *queue, queue_head, n_waiting;
  uint32_t *near; /* the parts that one has edges to */
  bool *is_near;
  PredictTwo two;
};

/* Betters two parts until nothing is gained; the gain. */
int64_t predict_two_better (PredictParts *parts, uint32_t a, uint32_t b);

void predict_two_init (PredictTwo *two, uint32_t n_tasks, uint32_t largest_room);
void predict_two_clear (PredictTwo *two);

/* Moves tasks and notes it; the cut is the caller's. */
void predict_parts_apply (PredictParts *parts, PredictExchange exchange);
