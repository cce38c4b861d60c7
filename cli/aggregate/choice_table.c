/* choice_table.c - see choice_table.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cli/aggregate/choice_table.h"

#include "cli/outfile.h"
#include "cli/progress.h"
#include "sim/net/load.h"
#include "study/aggregate/bound_fill.h"
#include "study/aggregate/network_pingpong.h"

void
cli_choice_table_clear (CliChoiceTable *table)
{
  g_clear_pointer (&table->table, predict_bound_table_free);
}

/* What a table has of collectives that can be simulated: (element-type StudyBoundCollective). */
static GArray *
collectives_of (Trace *trace, const TopoMachine *machine, GError **error)
{
  g_autofree SimCensus *census = g_new0 (SimCensus, 1);
  GArray *found = g_array_new (FALSE, FALSE, sizeof (StudyBoundCollective));

  if (!sim_census (trace, machine, SIM_CENSUS_POINT_TO_POINT, false, NULL, NULL, NULL, NULL, census,
                   error)) {
    g_array_unref (found);
    return NULL;
  }
  for (int kind = 0; kind < TRACE_N_OPS; kind++) {
    const StudyBoundCollective one = { (TraceOpKind) kind, trace_ranks (trace) };

    if (census->collectives[kind] > 0 && study_collective_is_known (one.kind) && one.n_ranks > 1)
      g_array_append_val (found, one);
  }
  return found;
}

/* Collectives that the table has already are not made again. */
static void
drop_known (const PredictBoundTable *table, const TopoPatterns *patterns, GArray *wanted)
{
  for (guint i = wanted->len; i-- > 0;) {
    const StudyBoundCollective *one = &g_array_index (wanted, StudyBoundCollective, i);
    gboolean is_known = FALSE;

    for (uint32_t at = 0; at < patterns->n && !is_known; at++) {
      g_autofree char *placement = study_bound_pattern_class (
          patterns->levels, patterns->pattern[at].place, patterns->pattern[at].n_tasks);
      const PredictBoundKind kind = {
        trace_op_name (one->kind), PREDICT_BOUND_ALL, placement, 0, 0, one->n_ranks
      };

      is_known = predict_bound_table_find (table, &kind) != NULL;
    }
    if (is_known)
      g_array_remove_index (wanted, i);
  }
}

/* Adds the collectives of one table to another. */
static void
add_collectives (PredictBoundTable *table, const PredictBoundTable *more, const GArray *wanted,
                 const TopoPatterns *patterns)
{
  for (guint i = 0; i < wanted->len; i++)
    for (uint32_t at = 0; at < patterns->n; at++) {
      const StudyBoundCollective *one = &g_array_index (wanted, StudyBoundCollective, i);
      g_autofree char *placement = study_bound_pattern_class (
          patterns->levels, patterns->pattern[at].place, patterns->pattern[at].n_tasks);
      const PredictBoundKind kind = {
        trace_op_name (one->kind), PREDICT_BOUND_ALL, placement, 0, 0, one->n_ranks
      };
      const PredictBoundCurve *curve = predict_bound_table_find (more, &kind);

      for (uint32_t point = 0; curve != NULL && point < predict_bound_curve_points (curve);
           point++) {
        uint64_t bytes = predict_bound_curve_bytes (curve, point);

        predict_bound_table_add (table, &kind, bytes,
                                 1e6 * predict_bound_curve_s (curve, (double) bytes, &(bool){ 0 }));
      }
    }
}

static void
show_progress (void *progress, double share)
{
  cli_progress_text (progress, share, "table of bounds, ");
}

static gboolean
fill (CliChoiceTable *table, const GArray *wanted, const TopoMachine *machine,
      const TopoPatterns *patterns, gboolean quiet, GError **error)
{
  g_autoptr (CliProgress) progress = cli_progress_new (quiet);
  const StudyBoundFill asked = {
    .machine = machine,
    .bytes = study_bound_sizes,
    .n_bytes = study_bound_n_sizes,
    .noise = { UINT32_MAX, UINT32_MAX },
    .no_messages = table->table != NULL,
    .collectives = (const StudyBoundCollective *) (const void *) wanted->data,
    .n_collectives = wanted->len,
    .progress = show_progress,
    .progress_data = progress,
  };
  g_autoptr (CliOutfile) file = cli_outfile_new (table->path, error);
  PredictBoundTable *filled = file != NULL ? study_bound_fill (&asked, error) : NULL;

  if (filled == NULL)
    return FALSE;
  if (table->table == NULL)
    table->table = filled;
  else {
    add_collectives (table->table, filled, wanted, patterns);
    predict_bound_table_free (filled);
  }
  predict_bound_table_write (table->table, cli_outfile_stream (file));
  return cli_outfile_commit (file, error);
}

gboolean
cli_choice_table_open (CliChoiceTable *table, Trace *trace, const TopoMachine *machine,
                       const TopoPatterns *patterns, gboolean quiet, GError **error)
{
  g_autoptr (GArray) wanted = NULL;

  if (table->path == NULL || (table->table != NULL && !table->is_ours))
    return TRUE;
  if (table->table == NULL && g_file_test (table->path, G_FILE_TEST_EXISTS)) {
    table->table = predict_bound_table_read (table->path, error);
    return table->table != NULL;
  }
  table->is_ours = TRUE;
  if (!(wanted = collectives_of (trace, machine, error)))
    return FALSE;
  if (table->table != NULL)
    drop_known (table->table, patterns, wanted);
  return (table->table != NULL && wanted->len == 0) ||
         fill (table, wanted, machine, patterns, quiet, error);
}
