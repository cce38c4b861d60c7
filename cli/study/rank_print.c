/* rank_print.c - a ranking as people and programs read it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cli/study/rank_print.h"

#include "cli/terminal.h"
#include "study/text.h"

#include <math.h>
#include <string.h>

static const StudyRanked *
ranked_at (const StudyCase *study_case, guint i)
{
  return &g_array_index (study_case->ranked, StudyRanked, i);
}

guint
cli_ranking_length (const CliRanking *ranking, const StudyCase *study_case)
{
  guint n = MIN (ranking->top, study_case->ranked->len);

  while (n > 0 && n < study_case->ranked->len &&
         ranked_at (study_case, n)->place == ranked_at (study_case, n - 1)->place)
    n++;
  return n;
}

static guint
n_columns (const CliRanking *ranking)
{
  return ranking->columns != NULL ? ranking->columns->len : 0;
}

static const char *
column_name (const CliRanking *ranking, guint column)
{
  return g_array_index (ranking->columns, CliRankColumn, column).name;
}

double
cli_ranking_value (const CliRanking *ranking, guint column, guint number, const StudyRanked *ranked)
{
  const CliRankColumn *it = &g_array_index (ranking->columns, CliRankColumn, column);
  const double *value =
      g_hash_table_lookup (g_ptr_array_index (it->of_case, number), ranked->mapping);

  return value != NULL ? *value : (double) NAN;
}

/* -- a table --------------------------------------------------------------- */

static int
mapping_width (const CliRanking *ranking, const StudyCase *study_case)
{
  glong width = (glong) strlen ("mapping");

  for (guint i = 0; i < cli_ranking_length (ranking, study_case); i++)
    width = MAX (width, g_utf8_strlen (ranked_at (study_case, i)->mapping, -1));
  return (int) width;
}

static void
print_gain (FILE *out, double gain)
{
  if (isnan (gain))
    fprintf (out, "  %7s", "-");
  else
    fprintf (out, "  %7.3f", gain);
}

static void
print_ranked (FILE *out, const CliRanking *ranking, guint number, const StudyRanked *ranked,
              int width)
{
  int missing = width - (int) g_utf8_strlen (ranked->mapping, -1);

  cli_printf (out, "  %5u  %s%*s  %12.6g", ranked->place, ranked->mapping, missing, "",
              ranked->value);
  for (guint column = 0; column < n_columns (ranking); column++) {
    double value = cli_ranking_value (ranking, column, number, ranked);

    if (isnan (value))
      fprintf (out, "  %12s", "-");
    else
      fprintf (out, "  %12.6g", value);
  }
  print_gain (out, ranked->gain);
  fprintf (out, "  %4u\n", ranked->n_runs);
}

/* Whether the default shares the first place. */
static gboolean
default_is_best (const StudyCase *study_case)
{
  for (guint i = 0; i < study_case->ranked->len && ranked_at (study_case, i)->place == 1; i++)
    if (g_strcmp0 (ranked_at (study_case, i)->mapping, study_case->default_mapping) == 0)
      return TRUE;
  return FALSE;
}

static void
print_verdict (FILE *out, const StudyCase *study_case)
{
  const StudyRanked *best = ranked_at (study_case, 0);

  if (isnan (best->gain))
    return;
  if (default_is_best (study_case))
    cli_printf (out, "  none is better than the default, %s\n", study_case->default_mapping);
  else
    cli_printf (out, "  best: %s, %.3f times as good as the default, %s\n", best->mapping,
                best->gain, study_case->default_mapping);
}

static void
print_names (FILE *out, const CliRanking *ranking, const StudyCase *study_case, int width)
{
  cli_printf (out, "  place  %-*s  %12s", width, "mapping", study_case->column);
  for (guint column = 0; column < n_columns (ranking); column++)
    cli_printf (out, "  %12s", column_name (ranking, column));
  fprintf (out, "  %7s  %4s\n", "gain", "runs");
}

static void
print_case (FILE *out, const CliRanking *ranking, guint number)
{
  const StudyCase *study_case = g_ptr_array_index (ranking->cases, number);
  guint n = cli_ranking_length (ranking, study_case);
  g_autofree char *heading = g_strdup_printf ("case %u: %s", number + 1, study_case->name);
  int width = mapping_width (ranking, study_case);

  cli_print_heading (out, heading);
  if (n > 0)
    print_names (out, ranking, study_case, width);
  else
    cli_printf (out, "  no run knows its %s\n", study_case->column);
  for (guint i = 0; i < n; i++)
    print_ranked (out, ranking, number, ranked_at (study_case, i), width);
  if (n < study_case->ranked->len)
    fprintf (out, "  ... %u more\n", study_case->ranked->len - n);
  if (n > 0)
    print_verdict (out, study_case);
  if (study_case->n_failed > 0) {
    g_autofree char *failed = study_count (study_case->n_failed, "run");

    fprintf (out, "  %s failed\n", failed);
  }
}

static void
print_table (FILE *out, const CliRanking *ranking)
{
  gboolean first = TRUE;

  for (guint number = 0; number < ranking->cases->len; number++)
    if (ranking->chosen[number]) {
      if (!first)
        fputc ('\n', out);
      print_case (out, ranking, number);
      first = FALSE;
    }
  if (ranking->note != NULL)
    cli_printf (out, "\n%s\n", ranking->note);
  if (ranking->n_missing > 0) {
    g_autofree char *missing = study_count (ranking->n_missing, "run");

    fprintf (out, "\nnot made yet: %s of the study\n", missing);
  }
}

/* -- CSV ------------------------------------------------------------------- */

static void
print_csv_line (FILE *out, const CliRanking *ranking, guint number, const StudyRanked *ranked)
{
  const StudyCase *study_case = g_ptr_array_index (ranking->cases, number);
  const StudyRow *row = ranked->row;
  const char *const texts[] = { row->trace, row->machine, row->network, row->routing,
                                ranked->mapping };
  char value[STUDY_NUMBER_SIZE], gain[STUDY_NUMBER_SIZE], scale[STUDY_NUMBER_SIZE];

  fprintf (out, "%u,", number + 1);
  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++) {
    study_csv_field (out, texts[i]);
    fputc (',', out);
  }
  fprintf (out, "%s,%u,%s,%s,%s,%u,%s", study_number (scale, row->compute_scale), ranked->place,
           study_case->column, study_number (value, ranked->value),
           study_number (gain, ranked->gain), ranked->n_runs, row->key);
  for (guint column = 0; column < n_columns (ranking); column++)
    fprintf (out, ",%s", study_number (value, cli_ranking_value (ranking, column, number, ranked)));
  fputc ('\n', out);
}

static void
print_csv (FILE *out, const CliRanking *ranking)
{
  fputs ("case,trace,machine,network,routing,mapping,compute_scale,place,column,value,gain,runs,"
         "key",
         out);
  for (guint column = 0; column < n_columns (ranking); column++)
    fprintf (out, ",%s", column_name (ranking, column));
  fputc ('\n', out);
  for (guint number = 0; number < ranking->cases->len; number++) {
    const StudyCase *study_case = g_ptr_array_index (ranking->cases, number);

    for (guint i = 0; ranking->chosen[number] && i < cli_ranking_length (ranking, study_case); i++)
      print_csv_line (out, ranking, number, ranked_at (study_case, i));
  }
}

/* -- JSON ------------------------------------------------------------------ */

static void
add_ranked (JsonBuilder *builder, const CliRanking *ranking, guint number,
            const StudyRanked *ranked)
{
  json_builder_begin_object (builder);
  cli_add_integer (builder, "place", ranked->place);
  cli_add_string (builder, "mapping", ranked->mapping);
  cli_add_number (builder, "value", ranked->value);
  cli_add_number (builder, "gain", ranked->gain);
  cli_add_integer (builder, "runs", ranked->n_runs);
  cli_add_string (builder, "key", ranked->row->key);
  for (guint column = 0; column < n_columns (ranking); column++)
    cli_add_number (builder, column_name (ranking, column),
                    cli_ranking_value (ranking, column, number, ranked));
  json_builder_end_object (builder);
}

static void
add_case (JsonBuilder *builder, const CliRanking *ranking, guint number)
{
  const StudyCase *study_case = g_ptr_array_index (ranking->cases, number);

  json_builder_begin_object (builder);
  cli_add_integer (builder, "case", number + 1);
  cli_add_string (builder, "name", study_case->name);
  cli_add_string (builder, "trace", study_case->row->trace);
  cli_add_string (builder, "machine", study_case->row->machine);
  cli_add_string (builder, "network", study_case->row->network);
  cli_add_string (builder, "routing", study_case->row->routing);
  cli_add_number (builder, "compute_scale", study_case->row->compute_scale);
  cli_add_string (builder, "column", study_case->column);
  cli_add_string (builder, "default", study_case->default_mapping);
  cli_add_integer (builder, "mappings", study_case->ranked->len);
  cli_add_integer (builder, "failed", study_case->n_failed);
  json_builder_set_member_name (builder, "ranking");
  json_builder_begin_array (builder);
  for (guint i = 0; i < cli_ranking_length (ranking, study_case); i++)
    add_ranked (builder, ranking, number, ranked_at (study_case, i));
  json_builder_end_array (builder);
  json_builder_end_object (builder);
}

static void
print_json (FILE *out, const CliRanking *ranking)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  g_autoptr (JsonNode) record = NULL;

  json_builder_begin_object (builder);
  cli_add_string (builder, "schema", "hopcast.ranking/1");
  cli_add_string (builder, "store", ranking->store);
  cli_add_string (builder, "study", ranking->study);
  cli_add_integer (builder, "missing", ranking->n_missing);
  if (ranking->note != NULL)
    cli_add_string (builder, "note", ranking->note);
  json_builder_set_member_name (builder, "cases");
  json_builder_begin_array (builder);
  for (guint number = 0; number < ranking->cases->len; number++)
    if (ranking->chosen[number])
      add_case (builder, ranking, number);
  json_builder_end_array (builder);
  json_builder_end_object (builder);
  record = json_builder_get_root (builder);
  cli_print_record (out, record, CLI_FORMAT_JSON);
}

void
cli_ranking_print (FILE *out, const CliRanking *ranking, CliFormat format)
{
  switch (format) {
  case CLI_FORMAT_TABLE: print_table (out, ranking); break;
  case CLI_FORMAT_CSV: print_csv (out, ranking); break;
  case CLI_FORMAT_JSON: print_json (out, ranking); break;
  }
}
