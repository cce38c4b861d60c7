/* bound_program.h - a trace as what its bound is computed from: steps of each rank.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Computation, messages that are posted and waited for, and collectives of all ranks; what else a
 * trace can have is taken apart as for formats of messages (traces/lower.h).  In memory: 24 bytes
 * a step, of which a message has two at each end. */
#pragma once

#include "traces/trace.h"

#include <stdbool.h>

typedef enum {
  STUDY_STEP_COMPUTE,
  STUDY_STEP_POST,
  STUDY_STEP_AWAIT,
  STUDY_STEP_COLLECTIVE,
} StudyStepKind;

typedef struct {
  uint8_t kind;
  bool is_send; /* POST */
  int32_t peer; /* POST: world rank, or TRACE_ANY_SOURCE.  COLLECTIVE: its TraceOpKind */
  int32_t tag;  /* POST: or TRACE_ANY_TAG */
  uint32_t n;   /* AWAIT: how many of awaited[] */
  union {
    uint64_t bytes; /* POST, COLLECTIVE */
    uint64_t first; /* AWAIT: of awaited[] */
    double s;       /* COMPUTE */
  };
} StudyStep;

typedef struct {
  GArray *steps;   /* (element-type StudyStep) */
  GArray *awaited; /* (element-type guint32): number of a post among those of the rank */
  uint32_t n_posts;
  uint32_t n_collectives;
} StudyRankSteps;

typedef struct {
  uint32_t n_ranks;
  StudyRankSteps *ranks;
} StudyProgram;

/* Computation that is told as operations takes flops / compute_Flops; what was recorded as time is
 * that time.  Both are multiplied by compute_scale.  Which collectives are kept whole, may_keep
 * says; others become messages.  Errors are the trace's: also a trace that is a graph, or uses
 * one-sided communication. */
StudyProgram *study_program_new (Trace *trace, double compute_Flops, double compute_scale,
                                 bool (*may_keep) (TraceOpKind kind), TraceProgress progress,
                                 void *data, GError **error);
void study_program_free (StudyProgram *program);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (StudyProgram, study_program_free)
