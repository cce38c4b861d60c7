/* bound_replay.c - see bound_replay.h: what ranks do.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/aggregate/bound_private.h"

#include "study/study_error.h"

#include <math.h>

/* FALSE: the rank must wait. */
static bool
await (StudyBoundReplay *replay, uint32_t rank, const StudyStep *step)
{
  StudyBoundRank *r = &replay->ranks[rank];
  const uint32_t *awaited =
      &g_array_index (replay->program->ranks[rank].awaited, uint32_t, step->first);

  r->ready_s = r->now_s;
  r->n_missing = 0;
  for (uint32_t i = 0; i < step->n; i++) {
    StudyBoundPost *post = study_bound_post_at (replay, rank, awaited[i]);

    post->is_waited = true;
    if (isnan (post->done_s))
      r->n_missing++;
    else
      r->ready_s = fmax (r->ready_s, post->done_s);
  }
  r->is_waiting = true;
  study_bound_attend (replay, rank);
  if (r->n_missing == 0)
    study_bound_push (replay, r->ready_s, STUDY_BOUND_RUN, rank);
  return false;
}

static void
end_collective (StudyBoundReplay *replay)
{
  StudyBoundDoubt doubt = { .extrapolated = false };
  double s = study_noise_collective_s (replay->noise, (TraceOpKind) replay->gathered.peer,
                                       replay->gathered.bytes, &doubt, replay->error);

  replay->has_failed = isnan (s);
  replay->times->n_collectives++;
  replay->times->n_extrapolated += doubt.extrapolated;
  replay->times->n_substituted += doubt.substituted;
  replay->n_gathered = 0;
  for (uint32_t rank = 0; rank < replay->program->n_ranks; rank++) {
    replay->ranks[rank].phase++;
    replay->times->sum_s[rank] += s;
    study_bound_push (replay, replay->gathered_s + s, STUDY_BOUND_RUN, rank);
  }
  replay->gathered_s = 0;
}

static void
gather (StudyBoundReplay *replay, uint32_t rank, const StudyStep *step)
{
  StudyBoundRank *r = &replay->ranks[rank];

  if (replay->n_gathered++ == 0)
    replay->gathered = *step;
  else if (replay->gathered.peer != step->peer) {
    g_set_error (replay->error, STUDY_ERROR, STUDY_ERROR_INPUT,
                 "rank %u is in %s when others are in %s", rank,
                 trace_op_name ((TraceOpKind) step->peer),
                 trace_op_name ((TraceOpKind) replay->gathered.peer));
    replay->has_failed = true;
    return;
  }
  /* The ranks may tell it differently: the largest counts. */
  replay->gathered.bytes = MAX (replay->gathered.bytes, step->bytes);
  replay->gathered_s = fmax (replay->gathered_s, fmax (r->now_s, r->busy_s));
  r->is_waiting = true;
  study_bound_attend (replay, rank);
  if (replay->n_gathered == replay->program->n_ranks)
    end_collective (replay);
}

/* Until it must wait, or computes: others may post before it goes on. */
static void
run (StudyBoundReplay *replay, uint32_t rank, double now_s)
{
  StudyBoundRank *r = &replay->ranks[rank];
  const GArray *steps = replay->program->ranks[rank].steps;

  r->now_s = now_s;
  r->is_waiting = false;
  while (r->at < steps->len && !replay->has_failed) {
    const StudyStep *step = &g_array_index (steps, StudyStep, r->at++);

    switch ((StudyStepKind) step->kind) {
    case STUDY_STEP_COMPUTE:
      replay->times->compute_s[rank] += step->s;
      study_bound_push (replay, r->now_s + step->s, STUDY_BOUND_RUN, rank);
      return;
    case STUDY_STEP_POST:
      if (step->is_send)
        study_bound_post_send (replay, rank, step);
      else
        study_bound_post_receive (replay, rank, step);
      break;
    case STUDY_STEP_AWAIT: await (replay, rank, step); return;
    case STUDY_STEP_COLLECTIVE: gather (replay, rank, step); return;
    }
  }
  r->is_done = r->at == steps->len;
  r->is_waiting = true; /* in MPI_Finalize: what it has posted goes on */
  study_bound_attend (replay, rank);
  replay->times->end_s[rank] = r->now_s;
}

static gboolean
check_done (const StudyBoundReplay *replay, GError **error)
{
  g_autoptr (GString) who = g_string_new (NULL);
  uint32_t n = 0;

  for (uint32_t rank = 0; rank < replay->program->n_ranks; rank++)
    if (!replay->ranks[rank].is_done && n++ < 10)
      g_string_append_printf (who, "%s%u (step %u)", n > 1 ? ", " : "", rank,
                              replay->ranks[rank].at);
  if (n == 0)
    return TRUE;
  g_set_error (error, STUDY_ERROR, STUDY_ERROR_INPUT, "%u of %u ranks wait for ever: %s%s", n,
               replay->program->n_ranks, who->str, n > 10 ? " ..." : "");
  return FALSE;
}

static void
replay_all (StudyBoundReplay *replay)
{
  for (uint32_t rank = 0; rank < replay->program->n_ranks; rank++)
    study_bound_push (replay, 0, STUDY_BOUND_RUN, rank);
  while (replay->heap->len > 0 && !replay->has_failed) {
    const StudyBoundEvent event = study_bound_pop (replay);

    switch ((StudyBoundEventKind) event.kind) {
    case STUDY_BOUND_RUN: run (replay, event.which, event.s); break;
    case STUDY_BOUND_BEGIN: study_bound_begin (replay, event.which, event.s); break;
    case STUDY_BOUND_TAKE: study_bound_take (replay, event.which, event.s); break;
    }
  }
}

static GArray *
numbers_new (void)
{
  return g_array_new (FALSE, FALSE, sizeof (uint32_t));
}

static void
rank_clear (StudyBoundRank *rank)
{
  g_array_unref (rank->posts);
  g_array_unref (rank->pending);
  g_array_unref (rank->arrived);
  g_array_unref (rank->idle);
}

gboolean
study_bound_replay (const StudyProgram *program, StudyNoise *noise, const StudyReplayLimits *limits,
                    StudyReplayTimes *times, GError **error)
{
  GError *failure = NULL;
  g_autofree StudyBoundRank *ranks = g_new0 (StudyBoundRank, program->n_ranks);
  g_autoptr (GArray) messages = g_array_new (FALSE, FALSE, sizeof (StudyBoundMessage));
  g_autoptr (GArray) heap = g_array_new (FALSE, FALSE, sizeof (StudyBoundEvent));
  StudyBoundReplay replay = { .program = program,
                              .noise = noise,
                              .limits = limits,
                              .times = times,
                              .ranks = ranks,
                              .messages = messages,
                              .free_message = STUDY_BOUND_NOBODY,
                              .heap = heap,
                              .error = &failure };
  gboolean good;

  for (uint32_t rank = 0; rank < program->n_ranks; rank++) {
    ranks[rank].posts = g_array_new (FALSE, FALSE, sizeof (StudyBoundPost));
    ranks[rank].pending = numbers_new ();
    ranks[rank].arrived = numbers_new ();
    ranks[rank].idle = numbers_new ();
  }
  replay_all (&replay);
  good = failure == NULL && check_done (&replay, &failure);
  for (uint32_t rank = 0; rank < program->n_ranks; rank++)
    rank_clear (&ranks[rank]);
  if (!good)
    g_propagate_error (error, failure);
  return good;
}
