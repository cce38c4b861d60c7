/* bound_replay.h - a program whose operations take the times of a table.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The form PATH of comm_bound.h. */
#pragma once

#include "study/aggregate/bound_noise.h"
#include "study/aggregate/bound_program.h"

typedef struct {
  uint64_t eager_within, eager_between; /* longest messages that leave before they are asked for */
  const TopoMapping *mapping;
} StudyReplayLimits;

typedef struct {
  double *end_s, *sum_s, *compute_s; /* [n_ranks], zeroed by the caller */
  uint64_t n_messages, n_collectives, n_extrapolated, n_substituted;
} StudyReplayTimes;

/* Errors: those of the noise's times; STUDY_ERROR_INPUT when ranks wait for ever, with who waits. */
gboolean
study_bound_replay (const StudyProgram *program, StudyNoise *noise, const StudyReplayLimits *limits,
                    StudyReplayTimes *times, GError **error);
