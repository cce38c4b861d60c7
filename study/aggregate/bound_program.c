/* bound_program.c - see bound_program.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/aggregate/bound_program.h"

#include "study/study_error.h"
#include "traces/lower.h"

typedef struct {
  TraceSink sink;
  StudyRankSteps *rank;
  double s_per_flop, compute_scale;
  bool (*may_keep) (TraceOpKind kind);
} Keeper;

static void
keep_compute (TraceSink *sink, int64_t gap_ps, double flops)
{
  Keeper *keeper = (Keeper *) sink;
  double s = ((double) gap_ps * 1e-12 + flops * keeper->s_per_flop) * keeper->compute_scale;
  const StudyStep step = { .kind = STUDY_STEP_COMPUTE, .s = s };

  if (s > 0)
    g_array_append_val (keeper->rank->steps, step);
}

static uint64_t
keep_post (TraceSink *sink, const TracePost *post)
{
  Keeper *keeper = (Keeper *) sink;
  const StudyStep step = { .kind = STUDY_STEP_POST,
                           .is_send = post->is_send,
                           .peer = post->peer,
                           .tag = post->tag,
                           .bytes = post->bytes };

  g_array_append_val (keeper->rank->steps, step);
  return keeper->rank->n_posts++;
}

static void
keep_await (TraceSink *sink, const TracePost *posts, uint32_t n, gboolean waits_for_all)
{
  Keeper *keeper = (Keeper *) sink;
  const StudyStep step = { .kind = STUDY_STEP_AWAIT, .n = n, .first = keeper->rank->awaited->len };

  (void) waits_for_all;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t number = (uint32_t) posts[i].token;

    g_array_append_val (keeper->rank->awaited, number);
  }
  g_array_append_val (keeper->rank->steps, step);
}

static gboolean
keep_collective (TraceSink *sink, const TraceOp *op)
{
  Keeper *keeper = (Keeper *) sink;
  const StudyStep step = { .kind = STUDY_STEP_COLLECTIVE,
                           .peer = (int32_t) op->kind,
                           .bytes = op->kind == TRACE_OP_BARRIER ? 0 : op->bytes };

  if (!keeper->may_keep (op->kind))
    return FALSE;
  g_array_append_val (keeper->rank->steps, step);
  keeper->rank->n_collectives++;
  return TRUE;
}

static gboolean
keep_rank (Trace *trace, const TraceSurvey *survey, uint32_t rank, Keeper *keeper, GError **error)
{
  keeper->rank->steps = g_array_new (FALSE, FALSE, sizeof (StudyStep));
  keeper->rank->awaited = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  return trace_lower (trace, survey, rank, &keeper->sink, error);
}

StudyProgram *
study_program_new (Trace *trace, double compute_Flops, double compute_scale,
                   bool (*may_keep) (TraceOpKind kind), TraceProgress progress, void *data,
                   GError **error)
{
  g_autoptr (StudyProgram) program = g_new0 (StudyProgram, 1);
  g_autoptr (TraceSurvey) survey = NULL;
  Keeper keeper = { .sink = { .compute = keep_compute,
                              .post = keep_post,
                              .await = keep_await,
                              .collective = keep_collective },
                    .s_per_flop = 1 / compute_Flops,
                    .compute_scale = compute_scale,
                    .may_keep = may_keep };

  if (trace_is_graph (trace)) {
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_INPUT,
                 "%s: its operations are a graph, in which no operation comes next",
                 trace_path (trace));
    return NULL;
  }
  survey = trace_survey_new (trace, error);
  if (survey == NULL)
    return NULL;
  program->n_ranks = trace_ranks (trace);
  program->ranks = g_new0 (StudyRankSteps, program->n_ranks);
  for (uint32_t rank = 0; rank < program->n_ranks; rank++) {
    keeper.rank = &program->ranks[rank];
    if (!keep_rank (trace, survey, rank, &keeper, error))
      return NULL;
    if (progress != NULL)
      progress (data, (double) (rank + 1) / program->n_ranks);
  }
  return g_steal_pointer (&program);
}

void
study_program_free (StudyProgram *program)
{
  if (program == NULL)
    return;
  for (uint32_t rank = 0; rank < program->n_ranks; rank++) {
    g_clear_pointer (&program->ranks[rank].steps, g_array_unref);
    g_clear_pointer (&program->ranks[rank].awaited, g_array_unref);
  }
  g_free (program->ranks);
  g_free (program);
}
