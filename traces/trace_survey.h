/* trace_survey.h - facts about a whole trace that writing one rank of it requires.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Formats of point-to-point messages know neither communicators nor what
 * was taken back later.  A survey reads the trace once; then ranks can be
 * written one after the other, each from its first operation on:
 *
 * - Communicators: which one a handle was bound to, in the order of the
 *   operations that bind (trace_survey_binds()).
 * - Tags: messages are kept apart by communicator in MPI.  A tag that is
 *   used in one communicator alone stays; in every further one it becomes a
 *   tag above all others.  Tags of collectives are above those.
 * - Receives that were cancelled: by their number in the order in which
 *   requests of the rank were started. */
#pragma once

#include "mpi/communicator.h"
#include "traces/trace.h"

typedef struct TraceSurvey TraceSurvey;

TraceSurvey *trace_survey_new (Trace *trace, GError **error);
void trace_survey_free (TraceSurvey *survey);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TraceSurvey, trace_survey_free)

const TraceComms *trace_survey_comms (const TraceSurvey *survey);

/* Whether the operation binds a communicator handle. */
gboolean trace_survey_binds (TraceOpKind kind);
/* What the rank's index-th binding operation bound; TRACE_COMMS_NULL: nothing. */
uint32_t trace_survey_bound (const TraceSurvey *survey, uint32_t rank, uint32_t index);

/* How a tag of a message in a communicator is written; wildcards stay. */
int32_t trace_survey_tag (const TraceSurvey *survey, uint32_t comm, int32_t tag);
/* The tag of all messages of the sequence-th collective of a communicator. */
int32_t trace_survey_collective_tag (const TraceSurvey *survey, uint32_t comm, uint32_t sequence);
/* FALSE, and *error, when user tags leave no room for others. */
gboolean trace_survey_check_tags (const TraceSurvey *survey, GError **error);

/* Whether the serial-th request that the rank starts is a receive that it
 * cancels. */
gboolean trace_survey_is_cancelled (const TraceSurvey *survey, uint32_t rank, uint32_t serial);
