/* ipc_fuzz.c - any bytes as a file of an IPC model.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A model that is read must predict without harm, and be written and read the same. */
#include ".ci/fuzzing.h"
#include "predictors/aggregation/ipc_fixture.h"

static const char *const words[] = {
  "null",
  "1e308",
  "-1",
  "\\\"[0,1)\\\"",
  "\\\"all\\\"",
  "\\\"linear\\\"",
  "\\\"pieces\\\"",
  "\\\"patterns\\\"",
  "\\\"samples\\\"",
  "9223372036854775807",
  NULL,
};

/* Small models: with and without a class of its own. */
static void
seed (FuzzSeeds *seeds)
{
  for (guint n = 3; n <= 4; n++) {
    g_autoptr (PredictTable) table = ipc_contention_table ((guint[]){ n, 1, 0, 0 }, 0.01, n);
    g_autoptr (PredictIpcModel) model =
        predict_ipc_train (table, ipc_samples, ipc_events, PREDICT_IPC_RIDGE, NULL);
    g_autofree char *text = ipc_model_text (model);

    fuzz_add_text (seeds, text);
  }
  fuzz_add_words (seeds, words);
}

/* One program, of which every counter is one. */
static void
check_predicts (const PredictIpcModel *model)
{
  g_autoptr (PredictTable) table = predict_table_new ("fuzz", model->n_samples);
  g_autofree const char **programs = g_new (const char *, model->n_samples);
  g_auto (PredictIpcAnswer) answer = { 0 };
  g_autoptr (GError) error = NULL;

  for (guint event = 0; event <= model->n_events; event++) {
    double *ones = g_new (double, model->n_samples);

    for (guint sample = 0; sample < model->n_samples; sample++)
      ones[sample] = 1;
    predict_table_take_numbers (table, event < model->n_events ? model->events[event] : "ipc", NULL,
                                ones);
  }
  for (guint sample = 0; sample < model->n_samples; sample++)
    programs[sample] = "program";
  predict_table_add_texts (table, "program", programs);
  predict_table_add_texts (table, "pattern", (const char *const *) model->samples);
  /* More samples than a table may have patterns are told. */
  g_assert_true (predict_ipc_apply (model, table, &answer, &error) == (error == NULL));
}

static void
check_same (const PredictIpcModel *model)
{
  g_autofree char *text = ipc_model_text (model), *again = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (PredictIpcModel) back = ipc_model_read_text (text, &error);

  g_assert_no_error (error);
  again = ipc_model_text (back);
  g_assert_cmpstr (again, ==, text);
}

static void
check (const uint8_t *data, size_t size)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (PredictIpcModel) model = NULL;

  model = predict_ipc_model_read (fuzz_file (data, size), &error);
  g_assert_true ((model == NULL) == (error != NULL));
  if (model == NULL)
    return;
  check_predicts (model);
  check_same (model);
}

const FuzzProgram fuzz_program = { NULL, seed, check };
