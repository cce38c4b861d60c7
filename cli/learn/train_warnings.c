/* train_warnings.c - see train_warnings.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cli/learn/train_warnings.h"

#include "cli/terminal.h"
#include "predictors/model/scores.h"

#include <stdio.h>

#define ECHO_RCC     0.98     /* as good an order as the target measured twice would give */
#define ECHO_SAMPLES 1000000u /* sorting more takes longer than people wait for a warning */

static gboolean
is_constant (const float *x, uint64_t n)
{
  for (uint64_t i = 1; i < n; i++)
    if (x[i] != x[0])
      return FALSE;
  return n > 1;
}

static gboolean
is_echo (const float *x, const double *y, uint64_t n)
{
  g_autofree double *values = g_new (double, n);
  double rcc;

  for (uint64_t i = 0; i < n; i++)
    values[i] = x[i];
  rcc = predict_score (y, values, n).rcc;
  return rcc >= ECHO_RCC || rcc <= 1 - ECHO_RCC;
}

/* Features are learned in single precision, in which different numbers may be the same. */
static gboolean
differs_in_table (const PredictTable *table, const char *name)
{
  const PredictColumn *column = predict_table_find (table, name);

  for (uint64_t row = 1; row < table->n_rows; row++)
    if (column->numbers[row] != column->numbers[0])
      return TRUE;
  return FALSE;
}

void
cli_train_warn (const PredictTable *table, const char *const *features, gboolean are_chosen,
                const char *target, const PredictSamples *samples)
{
  uint64_t n = samples->n_samples;
  gboolean seeks_echoes = !are_chosen && table->lines != NULL && n > 2 && n <= ECHO_SAMPLES;

  for (guint i = 0; features[i] != NULL; i++) {
    const float *x = samples->x + i * n;

    if (is_constant (x, n))
      cli_printf (
          stderr,
          "hopcast: warning: %s: '%s' is the same in all rows%s: nothing can be learned from "
          "it\n",
          table->source, features[i],
          differs_in_table (table, features[i])
              ? " when rounded to single precision (subtract a constant, or use another unit)"
              : "");
    else if (seeks_echoes && is_echo (x, samples->y, n))
      cli_printf (
          stderr,
          "hopcast: warning: %s: '%s' puts the rows in the order of '%s': if it is measured "
          "with it, leave it out (--features)\n",
          table->source, features[i], target);
  }
}
