/* group_costs.c - what it costs to part ranks: bytes, or the times of their messages.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cli/aggregate/group_costs.h"

#include "cli/command.h"
#include "predictors/table/table.h"
#include "study/aggregate/aggregate_mapping.h"

#include <math.h>

void
cli_group_costs_clear (CliGroupCosts *costs)
{
  g_clear_pointer (&costs->bytes, study_graph_free);
  g_clear_pointer (&costs->rows, predict_cost_rows_free);
}

double
cli_group_cost (const CliGroupCosts *costs, int64_t cost)
{
  return ldexp ((double) cost, -costs->exponent);
}

void
cli_group_costs_of_bytes (CliGroupCosts *costs, const StudyMatrix *matrix, uint32_t n_ranks)
{
  StudyGraph *bytes = study_graph_new (study_matrix_edges (matrix), n_ranks);

  *costs = (CliGroupCosts){ .n_ranks = n_ranks,
                            .kind = "bytes",
                            .graph = { n_ranks, bytes->first, bytes->neighbour, bytes->weight },
                            .bytes = bytes,
                            .exponent = -(int) bytes->shift,
                            .c = NAN };
}

/* --- Ping-pongs --- */

static gboolean
refuse (const PredictTable *table, uint32_t row, GError **error, const char *what)
{
  g_autofree char *place = predict_table_place (table, row);

  g_set_error (error, CLI_ERROR, CLI_ERROR_INPUT, "%s: %s", place, what);
  return FALSE;
}

static gboolean
check_pingpong (const PredictTable *table, const PredictPingPong *times, GError **error)
{
  if (times->n == 0) {
    g_set_error (error, CLI_ERROR, CLI_ERROR_INPUT, "%s: there are no times", table->source);
    return FALSE;
  }
  for (uint32_t row = 0; row < times->n; row++) {
    if (!(times->bytes[row] >= 0) || (row > 0 && times->bytes[row] <= times->bytes[row - 1]))
      return refuse (table, row, error, "bytes must ascend from at least 0");
    if (!(times->within_s[row] > 0) || !(times->between_s[row] > 0))
      return refuse (table, row, error, "times must be above 0");
  }
  return TRUE;
}

/* Seconds of a column of microseconds; the caller frees. */
static double *
read_seconds (const PredictTable *table, const char *name, GError **error)
{
  const double *us = predict_table_finite (table, name, error);
  double *s = us ? g_new (double, table->n_rows + 1) : NULL;

  for (uint64_t row = 0; s && row < table->n_rows; row++)
    s[row] = us[row] * 1e-6;
  return s;
}

gboolean
cli_group_costs_of_times (CliGroupCosts *costs, const StudyMatrix *matrix, uint32_t n_ranks,
                          const char *times_path, uint32_t n_parts, PredictCostForm form,
                          GError **error)
{
  g_autoptr (PredictTable) table = predict_table_read (times_path, error);
  const double *bytes = table ? predict_table_finite (table, "bytes", error) : NULL;
  g_autofree double *within_s = bytes ? read_seconds (table, "within_us", error) : NULL;
  g_autofree double *between_s = within_s ? read_seconds (table, "between_us", error) : NULL;
  g_autofree PredictPairTime *pairs = NULL;
  PredictPingPong times;
  uint64_t n_pairs;

  if (!between_s)
    return FALSE;
  times = (PredictPingPong){ (uint32_t) table->n_rows, bytes, within_s, between_s };
  if (!check_pingpong (table, &times, error))
    return FALSE;
  if (form == PREDICT_COST_LITERAL && n_ranks > PREDICT_LITERAL_MAX_TASKS) {
    g_set_error (error, CLI_ERROR, CLI_ERROR_INPUT,
                 "--cost literal: every pair of ranks has an edge; %u ranks are more than %u",
                 n_ranks, PREDICT_LITERAL_MAX_TASKS);
    return FALSE;
  }
  pairs = study_pair_times (study_matrix_edges (matrix), n_ranks, &times, &n_pairs);
  *costs = (CliGroupCosts){ .n_ranks = n_ranks,
                            .kind = form == PREDICT_COST_LITERAL ? "literal" : "mended" };
  costs->rows = predict_edge_costs (n_ranks, pairs, n_pairs, (n_ranks + n_parts - 1) / n_parts,
                                    form, &costs->c);
  costs->graph = costs->rows->graph;
  costs->exponent = costs->rows->exponent;
  return TRUE;
}
