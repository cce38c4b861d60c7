/* ipc_factors.c - how aggregation patterns change the time of computations, from counted IPCs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/aggregate/ipc_factors.h"

#include "predictors/aggregation/ipc_model.h"
#include "study/study_error.h"

#include <math.h>
#include <string.h>

static gboolean
find_program (const PredictIpcPhases *phases, const StudyIpcSource *source, guint *found,
              GError **error)
{
  g_autofree char *list = g_strjoinv (", ", phases->programs);

  *found = 0;
  if (source->program == NULL && phases->n_programs == 1)
    return TRUE;
  for (; source->program != NULL && *found < phases->n_programs; (*found)++)
    if (!strcmp (phases->programs[*found], source->program))
      return TRUE;
  if (phases->n_programs == 0)
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_INPUT, "%s: has no programs", source->table_path);
  else if (source->program == NULL)
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_INPUT,
                 "%s: has %u programs (%s); --program says which", source->table_path,
                 phases->n_programs, list);
  else
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_INPUT, "%s: has no program \"%s\"; it has %s",
                 source->table_path, source->program, list);
  return FALSE;
}

/* The number of the pattern of that name; 0: the node has none. */
static uint32_t
pattern_of (const char *name, const TopoPatterns *patterns)
{
  guint64 id;

  return g_ascii_string_to_unsigned (name, 10, 1, patterns->n, &id, NULL) ? (uint32_t) id : 0;
}

static void
take_known (const PredictIpcPhases *phases, guint program, const TopoPatterns *patterns,
            double *ipc)
{
  for (guint at = 0; at < phases->n_patterns; at++) {
    uint32_t id = pattern_of (phases->patterns[at], patterns);

    if (id > 0)
      ipc[id - 1] = phases->ipc[(gsize) program * phases->n_patterns + at];
  }
}

static gboolean
read_with_model (const StudyIpcSource *source, const PredictTable *table,
                 const TopoPatterns *patterns, double *ipc, char **why, GError **error)
{
  g_autoptr (PredictIpcModel) model = predict_ipc_model_read (source->model_path, error);
  g_auto (PredictIpcAnswer) answer = { 0 };
  guint program;

  if (model == NULL || !predict_ipc_apply (model, table, &answer, error) ||
      !find_program (answer.phases, source, &program, error))
    return FALSE;
  take_known (answer.phases, program, patterns, ipc);
  for (guint at = 0; at < model->n_targets; at++) {
    uint32_t id = pattern_of (model->targets[at].pattern, patterns);
    double predicted = answer.predicted[(gsize) program * model->n_targets + at];

    if (id == 0)
      continue;
    ipc[id - 1] = predicted > 0 ? predicted : (double) NAN;
    if (!(predicted > 0))
      why[id - 1] =
          g_strdup_printf ("the model predicts an IPC of %.3g, which is not above 0", predicted);
  }
  return TRUE;
}

static gboolean
read_observed (const StudyIpcSource *source, const PredictTable *table,
               const TopoPatterns *patterns, double *ipc, GError **error)
{
  static const char *const none[] = { NULL };
  g_autoptr (PredictIpcPhases) phases = predict_ipc_phases_from (table, none, none, error);
  guint program;

  if (phases == NULL || !find_program (phases, source, &program, error))
    return FALSE;
  take_known (phases, program, patterns, ipc);
  return TRUE;
}

gboolean
study_ipc_read (const StudyIpcSource *source, const TopoPatterns *patterns, double *ipc, char **why,
                GPtrArray *warnings, GError **error)
{
  g_autoptr (PredictTable) table = predict_table_read (source->table_path, error);

  for (uint32_t at = 0; at < patterns->n; at++) {
    ipc[at] = (double) NAN;
    why[at] = NULL;
  }
  if (table == NULL)
    return FALSE;
  predict_ipc_check_instructions (table, warnings);
  return source->model_path != NULL ? read_with_model (source, table, patterns, ipc, why, error)
                                    : read_observed (source, table, patterns, ipc, error);
}
