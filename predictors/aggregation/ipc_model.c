/* ipc_model.c - see ipc_model.h: what a model is, and what it predicts.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/predict_error.h"
#include "predictors/aggregation/ipc_private.h"

#include <float.h>
#include <math.h>
#include <string.h>

const char *const predict_ipc_piece_names[] = { "[0,1)",   "[1,1.5)", "[1.5,2)",
                                                "[2,inf)", "all",     NULL };

static const double class_ends[PREDICT_IPC_N_CLASSES] = { 1, 1.5, 2, INFINITY };

guint
predict_ipc_class (const double *ipc, guint n_samples)
{
  double sum = 0, mean;
  guint class = 0;

  for (guint sample = 0; sample < n_samples; sample++)
    sum += ipc[sample];
  mean = sum / n_samples;
  while (class < PREDICT_IPC_N_CLASSES - 1 && mean >= class_ends[class])
    class ++;
  return class;
}

PredictIpcModel *
predict_ipc_model_new (const char *const *samples, const char *const *events)
{
  guint n_samples = g_strv_length ((char **) samples), n_events = g_strv_length ((char **) events);
  guint n_terms;
  PredictIpcTerm *terms = predict_ipc_terms (n_samples, n_events, &n_terms);
  PredictIpcModel *model;

  if (terms == NULL)
    return NULL;
  model = g_new0 (PredictIpcModel, 1);
  model->samples = g_strdupv ((char **) samples);
  model->events = g_strdupv ((char **) events);
  model->n_samples = n_samples;
  model->n_events = n_events;
  model->terms = terms;
  model->n_terms = n_terms;
  model->smallest = g_new0 (double, n_samples *(1 + n_events));
  model->largest = g_new0 (double, n_samples *(1 + n_events));
  return model;
}

static void
target_clear (PredictIpcTarget *target)
{
  g_free (target->pattern);
  for (guint piece = 0; piece < PREDICT_IPC_N_PIECES; piece++)
    predict_linear_free (target->pieces[piece].linear);
}

void
predict_ipc_model_free (PredictIpcModel *model)
{
  if (model == NULL)
    return;
  for (guint target = 0; target < model->n_targets; target++)
    target_clear (&model->targets[target]);
  g_free (model->targets);
  g_free (model->version);
  g_free (model->source);
  g_free (model->hash);
  g_strfreev (model->samples);
  g_strfreev (model->events);
  g_free (model->smallest);
  g_free (model->largest);
  g_free (model->terms);
  g_free (model);
}

guint
predict_ipc_n_regressors (const PredictIpcModel *model)
{
  return model->n_terms + 1;
}

gboolean
predict_ipc_is_under_determined (const PredictIpcModel *model, const PredictIpcPiece *piece)
{
  return piece->n_programs < predict_ipc_n_regressors (model);
}

static void
set_term_too_large (const PredictIpcModel *model, const PredictIpcTerm *term, const char *program,
                    double value, GError **error)
{
  g_autofree char *name = predict_ipc_term_name (term, (const char *const *) model->samples,
                                                 (const char *const *) model->events);

  g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_NUMERIC,
               "program '%s': %s is %g, which is too large for single precision", program, name,
               value);
}

PredictSamples *
predict_ipc_samples (const PredictIpcModel *model, const PredictIpcPhases *phases,
                     const gboolean *chosen, GError **error)
{
  guint n = 0, next = 0;
  g_autoptr (PredictSamples) samples = NULL;

  for (guint program = 0; program < phases->n_programs; program++)
    n += chosen == NULL || chosen[program];
  samples = predict_samples_new (n, model->n_terms, FALSE);
  for (guint program = 0; program < phases->n_programs; program++) {
    const double *rates, *ipc = predict_ipc_phase (phases, program, &rates);

    if (chosen != NULL && !chosen[program])
      continue;
    for (guint term = 0; term < model->n_terms; term++) {
      double value = predict_ipc_term_value (&model->terms[term], model->n_events, ipc, rates);

      if (!(fabs (value) <= (double) FLT_MAX)) {
        set_term_too_large (model, &model->terms[term], phases->programs[program], value, error);
        return NULL;
      }
      samples->x[(gsize) term * n + next] = (float) value;
    }
    next++;
  }
  return g_steal_pointer (&samples);
}

/* -- predicting ------------------------------------------------------------- */

/* Of all programs, those of the piece that serves them. */
static void
predict_target (const PredictIpcModel *model, guint target, const PredictSamples *samples,
                const guint *class, PredictIpcAnswer *answer)
{
  guint n = answer->phases->n_programs;
  g_autofree double *by_piece = g_new (double, n);
  const PredictIpcPiece *pieces = model->targets[target].pieces;

  for (guint piece = 0; piece < PREDICT_IPC_N_PIECES; piece++) {
    if (pieces[piece].linear == NULL)
      continue;
    predict_linear_predict (pieces[piece].linear, samples, by_piece);
    for (guint program = 0; program < n; program++)
      if (class[program] == piece ||
          (piece == PREDICT_IPC_ALL && pieces[class[program]].linear == NULL))
        answer->predicted[(gsize) program * model->n_targets + target] = by_piece[program];
  }
}

static gboolean
check_predicted (const PredictIpcModel *model, const PredictIpcAnswer *answer, GError **error)
{
  for (guint i = 0; i < answer->phases->n_programs * model->n_targets; i++)
    if (!isfinite (answer->predicted[i])) {
      g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_NUMERIC,
                   "program '%s': the prediction of pattern %s overflows: its counters are too far "
                   "from what the model has learned",
                   answer->phases->programs[i / model->n_targets],
                   model->targets[i % model->n_targets].pattern);
      return FALSE;
    }
  return TRUE;
}

/* What the table says of the target itself. */
static void
observe_target (const PredictIpcModel *model, guint target, PredictIpcAnswer *answer)
{
  const PredictIpcPhases *phases = answer->phases;
  guint pattern = 0;

  while (pattern < phases->n_patterns &&
         strcmp (phases->patterns[pattern], model->targets[target].pattern) != 0)
    pattern++;
  for (guint program = 0; program < phases->n_programs; program++)
    answer->observed[(gsize) program * model->n_targets + target] =
        pattern < phases->n_patterns ? phases->ipc[(gsize) program * phases->n_patterns + pattern]
                                     : (double) NAN;
}

static gboolean
is_outside (const PredictIpcModel *model, const PredictIpcPhases *phases, guint program)
{
  const double *rates, *ipc = predict_ipc_phase (phases, program, &rates);
  guint width = 1 + model->n_events;

  for (guint i = 0; i < model->n_samples * width; i++) {
    guint sample = i / width;
    double value = i % width == 0 ? ipc[sample] : rates[sample * model->n_events + i % width - 1];

    if (value < model->smallest[i] || value > model->largest[i])
      return TRUE;
  }
  return FALSE;
}

gboolean
predict_ipc_apply (const PredictIpcModel *model, const PredictTable *table,
                   PredictIpcAnswer *answer, GError **error)
{
  PredictIpcPhases *phases = predict_ipc_phases_from (table, (const char *const *) model->samples,
                                                      (const char *const *) model->events, error);
  g_autoptr (PredictSamples) samples = NULL;
  g_autofree guint *class = NULL;
  gsize n;

  if (phases == NULL)
    return FALSE;
  n = (gsize) phases->n_programs * model->n_targets;
  *answer = (PredictIpcAnswer){ phases, g_new0 (double, n), g_new (double, n), 0 };
  class = g_new (guint, phases->n_programs);
  for (guint program = 0; program < phases->n_programs; program++) {
    const double *rates, *ipc = predict_ipc_phase (phases, program, &rates);

    class[program] = predict_ipc_class (ipc, model->n_samples);
    answer->n_outside += is_outside (model, phases, program);
  }
  samples = predict_ipc_samples (model, phases, NULL, error);
  for (guint target = 0; samples != NULL && target < model->n_targets; target++) {
    predict_target (model, target, samples, class, answer);
    observe_target (model, target, answer);
  }
  if (samples != NULL && check_predicted (model, answer, error))
    return TRUE;
  g_prefix_error (error, "%s: ", table->source);
  predict_ipc_answer_clear (answer);
  return FALSE;
}

void
predict_ipc_answer_clear (PredictIpcAnswer *answer)
{
  predict_ipc_phases_free (answer->phases);
  g_free (answer->predicted);
  g_free (answer->observed);
  *answer = (PredictIpcAnswer){ 0 };
}
