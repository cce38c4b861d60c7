/* ipc_fixture.c - counted programs whose law is known, for tests.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/aggregation/ipc_fixture.h"

#include "base/random.h"
#include "predictors/predict_testing.h"

#include <math.h>

#define N_PATTERNS 8u

const char *const ipc_samples[] = { "4", "5", NULL };
const char *const ipc_events[] = { "l2", "memory", NULL };

static gpointer
read_table (const char *path, GError **error)
{
  return predict_table_read (path, error);
}

PredictTable *
ipc_table (const char *text, GError **error)
{
  return testing_read (read_table, text, -1, error);
}

static gpointer
read_model (const char *path, GError **error)
{
  return predict_ipc_model_read (path, error);
}

gpointer
ipc_model_read_text (const char *text, GError **error)
{
  return testing_read (read_model, text, -1, error);
}

char *
ipc_model_text (const PredictIpcModel *model)
{
  char *text = NULL;
  gsize n;
  FILE *out = open_memstream (&text, &n);

  g_assert_true (predict_ipc_model_write (model, out, NULL));
  fclose (out);
  return text;
}

/* -- the law ----------------------------------------------------------------- */

/* Whether two tasks share a cache, and how much dearer the bus is, in patterns 1 to 8. */
static const struct {
  double sharing, bus;
} pattern_costs[N_PATTERNS] = { { 0, 1 },   { 0, 1.05 }, { 0, 1.15 }, { 1, 1.2 },
                                { 0, 1.3 }, { 1, 1.35 }, { 1, 1.6 },  { 1, 1.9 } };

typedef struct {
  double cycles, l2, memory; /* of an instruction */
} Program;

/* ipc, l2 and memory accesses per cycle in the pattern. */
static void
run_program (const Program *program, guint pattern, double *counters)
{
  double memory = program->memory * (1 + 20 * pattern_costs[pattern].sharing * program->l2);
  double wait = 120 * memory * pattern_costs[pattern].bus;
  double ipc = 1 / (program->cycles + 12 * program->l2 + wait * (1 + wait / 2));

  counters[0] = ipc;
  counters[1] = ipc * program->l2;
  counters[2] = ipc * memory;
}

static guint
class_of (double first_ipc, double second_ipc)
{
  double mean = (first_ipc + second_ipc) / 2;

  return (mean >= 1) + (mean >= 1.5) + (mean >= 2);
}

static Program
draw_program (BaseRandom *random, guint class)
{
  double first[3], second[3];
  Program program;

  do {
    program = (Program){ .cycles = 0.3 + 0.6 * base_random_unit (random),
                         .l2 = 0.03 * base_random_unit (random),
                         .memory = 0.006 * base_random_unit (random) };
    run_program (&program, 3, first);
    run_program (&program, 4, second);
  } while (class_of (first[0], second[0]) != class);
  return program;
}

PredictTable *
ipc_contention_table (const guint per_class[PREDICT_IPC_N_CLASSES], double noise, uint64_t seed)
{
  static const char *const names[] = { "ipc", "l2", "memory" };
  BaseRandom random = base_random_stream (seed, 0);
  g_autoptr (GPtrArray) programs = g_ptr_array_new_with_free_func (g_free);
  guint n_rows = 0;
  PredictTable *table;
  double *pattern, *columns[3];

  for (guint class = 0; class < PREDICT_IPC_N_CLASSES; class ++)
    n_rows += per_class[class] * N_PATTERNS;
  table = predict_table_new ("synthetic", n_rows);
  pattern = g_new (double, n_rows);
  for (guint i = 0; i < 3; i++)
    columns[i] = g_new (double, n_rows);
  for (guint class = 0, row = 0; class < PREDICT_IPC_N_CLASSES; class ++)
    for (guint k = 0; k < per_class[class]; k++) {
      Program program = draw_program (&random, class);

      for (guint i = 0; i < N_PATTERNS; i++, row++) {
        double counters[3];

        g_ptr_array_add (programs, g_strdup_printf ("p%u.%u", class, k));
        run_program (&program, i, counters);
        pattern[row] = i + 1;
        for (guint c = 0; c < 3; c++)
          columns[c][row] = counters[c] * (1 + noise * testing_normal (&random));
      }
    }
  predict_table_add_texts (table, "program", (const char *const *) programs->pdata);
  predict_table_take_numbers (table, "pattern", NULL, pattern);
  for (guint c = 0; c < 3; c++)
    predict_table_take_numbers (table, names[c], NULL, columns[c]);
  return table;
}

PredictTable *
ipc_bilinear_table (const guint per_class[PREDICT_IPC_N_CLASSES], uint64_t seed)
{
  PredictTable *table = ipc_contention_table (per_class, 0, seed);
  double *ipc = predict_table_find (table, "ipc")->numbers;
  const double *l2 = predict_table_find (table, "l2")->numbers;
  const double *memory = predict_table_find (table, "memory")->numbers;

  for (uint64_t first = 0; first < table->n_rows; first += N_PATTERNS) {
    const double s[] = { ipc[first + 3], ipc[first + 4] }, a[] = { l2[first + 3], l2[first + 4] };
    const double b[] = { memory[first + 3], memory[first + 4] };
    double class = class_of (s[0], s[1]);

    for (guint i = 0; i < N_PATTERNS; i++)
      if (i != 3 && i != 4)
        ipc[first + i] = 0.2 + 0.1 * class + 0.4 * s[0] + (0.3 + 0.01 * i) * s[1] -
                         2 * s[0] * a[0] - i * s[1] * a[1] - 9 * s[0] * b[0] -
                         (8 + class) * s[1] * b[1] + 100 * a[0] * a[1] + 1000 * b[0] * b[1] +
                         0.02 * i * s[0] * s[1];
  }
  return table;
}
