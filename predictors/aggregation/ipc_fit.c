/* ipc_fit.c - training the IPC model; see ipc_model.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/predict_error.h"
#include "predictors/aggregation/ipc_private.h"
#include "predictors/model/linear.h"

#include <math.h>

/* The IPC of the chosen programs in a pattern, [n] of them. */
static double *
targets_of (const PredictIpcPhases *phases, guint pattern, const gboolean *chosen)
{
  double *y = g_new (double, phases->n_programs);
  guint n = 0;

  for (guint program = 0; program < phases->n_programs; program++)
    if (chosen[program])
      y[n++] = phases->ipc[(gsize) program * phases->n_patterns + pattern];
  return y;
}

static double
mean_error (const double *observed, const double *predicted, guint n)
{
  double sum = 0;

  for (guint i = 0; i < n; i++)
    sum += fabs (predicted[i] / observed[i] - 1);
  return sum / n;
}

/* Marks those of the class (PREDICT_IPC_ALL: any) that have the pattern; how many. */
static guint
choose_programs (const PredictIpcPhases *phases, guint pattern, guint class, gboolean *chosen)
{
  guint n = 0;

  for (guint program = 0; program < phases->n_programs; program++) {
    const double *rates, *ipc = predict_ipc_phase (phases, program, &rates);

    chosen[program] =
        isfinite (ipc[pattern]) &&
        (class == PREDICT_IPC_ALL || predict_ipc_class (ipc, phases->n_samples) == class);
    n += chosen[program];
  }
  return n;
}

static gboolean
fit_piece (const PredictIpcModel *model, const PredictIpcPhases *phases, guint pattern, guint class,
           PredictIpcPiece *piece, GError **error)
{
  g_autofree gboolean *chosen = g_new (gboolean, phases->n_programs);
  g_autoptr (PredictSamples) samples = NULL;
  PredictRidgeChoice choice;

  piece->n_programs = choose_programs (phases, pattern, class, chosen);
  piece->error = NAN;
  if (piece->n_programs < model->n_samples + 2)
    return TRUE;
  if (!(samples = predict_ipc_samples (model, phases, chosen, error)))
    return FALSE;
  samples->y = targets_of (phases, pattern, chosen);
  if (!predict_ridge_choose (samples, &choice, error))
    return FALSE;
  piece->rank = choice.rank;
  piece->ridge = choice.ridge;
  piece->error = mean_error (samples->y, choice.left_out, piece->n_programs);
  g_free (choice.left_out);
  piece->linear = predict_linear_fit (samples, piece->ridge, error);
  return piece->linear != NULL;
}

static gboolean
fit_target (const PredictIpcModel *model, const PredictIpcPhases *phases, guint pattern,
            PredictIpcTarget *target, const char *source, GError **error)
{
  const PredictIpcPiece *all = &target->pieces[PREDICT_IPC_ALL];

  target->pattern = g_strdup (phases->patterns[pattern]);
  for (guint piece = 0; piece < PREDICT_IPC_N_PIECES; piece++)
    if (!fit_piece (model, phases, pattern, piece, &target->pieces[piece], error)) {
      g_prefix_error (error, "%s: pattern %s: ", source, target->pattern);
      return FALSE;
    }
  if (all->linear != NULL)
    return TRUE;
  g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_NUMERIC,
               "%s: pattern %s: %u program%s, and at least %u are needed", source, target->pattern,
               all->n_programs, all->n_programs == 1 ? " has it" : "s have it",
               model->n_samples + 2);
  return FALSE;
}

static void
find_range (PredictIpcModel *model, const PredictIpcPhases *phases)
{
  guint width = 1 + model->n_events;

  for (guint i = 0; i < model->n_samples * width; i++) {
    guint sample = i / width;

    model->smallest[i] = INFINITY;
    model->largest[i] = -INFINITY;
    for (guint program = 0; program < phases->n_programs; program++) {
      const double *rates, *ipc = predict_ipc_phase (phases, program, &rates);
      double value = i % width == 0 ? ipc[sample] : rates[sample * model->n_events + i % width - 1];

      model->smallest[i] = MIN (model->smallest[i], value);
      model->largest[i] = MAX (model->largest[i], value);
    }
  }
}

/* The columns that were learned from; the caller frees. */
static char *
hash_of (const PredictTable *table, const char *const *events)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  static const char *const others[] = { "program", "pattern", "ipc" };

  for (gsize i = 0; i < G_N_ELEMENTS (others); i++)
    g_ptr_array_add (names, (char *) others[i]);
  for (; *events != NULL; events++)
    g_ptr_array_add (names, (char *) *events);
  g_ptr_array_add (names, NULL);
  return predict_table_hash (table, (const char *const *) names->pdata);
}

static PredictIpcModel *
begin_model (const PredictTable *table, const PredictIpcPhases *phases, const char *const *samples,
             const char *const *events, GError **error)
{
  PredictIpcModel *model = predict_ipc_model_new (samples, events);

  if (model == NULL) {
    g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_OPTION,
                 "%u samples and %u events make no model, or one of more than %u terms",
                 phases->n_samples, phases->n_events, PREDICT_IPC_MAX_TERMS);
    return NULL;
  }
  model->version = g_strdup (PACKAGE_VERSION);
  model->source = g_strdup (table->source);
  model->hash = hash_of (table, events);
  model->n_programs = phases->n_programs;
  find_range (model, phases);
  return model;
}

PredictIpcModel *
predict_ipc_train (const PredictTable *table, const char *const *samples, const char *const *events,
                   GError **error)
{
  g_autoptr (PredictIpcPhases) phases = predict_ipc_phases_from (table, samples, events, error);
  g_autoptr (PredictIpcModel) model =
      phases != NULL ? begin_model (table, phases, samples, events, error) : NULL;

  if (model == NULL)
    return NULL;
  if (phases->n_patterns == phases->n_samples) {
    g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_TABLE,
                 "%s has no pattern but the samples: nothing to predict", table->source);
    return NULL;
  }
  model->targets = g_new0 (PredictIpcTarget, phases->n_patterns - phases->n_samples);
  for (guint pattern = phases->n_samples; pattern < phases->n_patterns; pattern++)
    if (!fit_target (model, phases, pattern, &model->targets[model->n_targets++], table->source,
                     error))
      return NULL;
  return g_steal_pointer (&model);
}
