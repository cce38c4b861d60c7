/* score_print.c - see score_print.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cli/learn/score_print.h"

#include "cli/terminal.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* What is printed, in this order. */
static const struct {
  const char *name;
  gsize offset;
  gboolean is_count; /* uint64_t, not double */
  gboolean is_wide;  /* left out where groups share a line of a terminal */
} columns[] = {
#define COUNT(field) #field, offsetof(PredictScores, field), TRUE
#define SCORE(field) #field, offsetof(PredictScores, field), FALSE
  { COUNT (n), FALSE },
  { SCORE (rcc), FALSE },
  { SCORE (rcc_paper), TRUE },
  { SCORE (tau_b), FALSE },
  { SCORE (spearman), FALSE },
  { SCORE (r2), FALSE },
  { SCORE (mape), FALSE },
  { SCORE (rmse), FALSE },
  { SCORE (log_rmse), FALSE },
  { COUNT (pairs), TRUE },
  { SCORE (mispredicted), FALSE },
  { COUNT (ties_observed), TRUE },
  { COUNT (ties_predicted), TRUE },
  { COUNT (ties_both), TRUE },
#undef COUNT
#undef SCORE
};

#define N_COLUMNS G_N_ELEMENTS (columns)

static uint64_t
count_of (const PredictScores *scores, gsize column)
{
  return *(const uint64_t *) ((const char *) scores + columns[column].offset);
}

static double
score_of (const PredictScores *scores, gsize column)
{
  return *(const double *) ((const char *) scores + columns[column].offset);
}

/* -- for people ------------------------------------------------------------ */

/* The caller frees. */
static char *
brief (const PredictScores *scores, gsize column)
{
  char number[G_ASCII_DTOSTR_BUF_SIZE];

  if (columns[column].is_count)
    return g_strdup_printf ("%" G_GUINT64_FORMAT, count_of (scores, column));
  if (!isfinite (score_of (scores, column)))
    return g_strdup ("-");
  return g_strdup (g_ascii_formatd (number, sizeof number, "%.6g", score_of (scores, column)));
}

static void
print_list (FILE *out, const PredictScores *scores)
{
  for (gsize column = 0; column < N_COLUMNS; column++) {
    g_autofree char *text = brief (scores, column);

    fprintf (out, "%-14s  %s\n", columns[column].name, text);
  }
}

static void
print_cell (FILE *out, gsize column, const char *text)
{
  int width = (int) MAX (9, strlen (columns[column].name));

  if (!columns[column].is_wide)
    fprintf (out, "  %*s", width, text);
}

/* scores NULL: the names of the columns. */
static void
print_line (FILE *out, const char *name, int width, const PredictScores *scores)
{
  cli_printf (out, "%s%*s", name, width - (int) g_utf8_strlen (name, -1), "");
  for (gsize column = 0; column < N_COLUMNS; column++) {
    g_autofree char *text = scores ? brief (scores, column) : g_strdup (columns[column].name);

    print_cell (out, column, text);
  }
  fputc ('\n', out);
}

static void
print_table (FILE *out, const CliScoreSheet *sheet)
{
  int width = (int) MAX (g_utf8_strlen (sheet->group, -1), 3);

  for (uint32_t i = 0; i < sheet->n_groups; i++)
    width = MAX (width, (int) g_utf8_strlen (sheet->groups[i].name, -1));
  print_line (out, sheet->group, width, NULL);
  for (uint32_t i = 0; i < sheet->n_groups; i++)
    print_line (out, sheet->groups[i].name, width, &sheet->groups[i].scores);
  print_line (out, "all", width, &sheet->all);
}

/* -- for programs ---------------------------------------------------------- */

static void
print_csv_line (FILE *out, const char *name, const PredictScores *scores)
{
  char number[STUDY_NUMBER_SIZE];

  if (name != NULL) {
    study_csv_field (out, name);
    fputc (',', out);
  }
  for (gsize column = 0; column < N_COLUMNS; column++) {
    fputs (column > 0 ? "," : "", out);
    if (columns[column].is_count)
      fprintf (out, "%" G_GUINT64_FORMAT, count_of (scores, column));
    else
      fputs (study_number (number, score_of (scores, column)), out);
  }
  fputc ('\n', out);
}

static void
print_csv (FILE *out, const CliScoreSheet *sheet)
{
  fputs (sheet->group ? "group," : "", out);
  for (gsize column = 0; column < N_COLUMNS; column++)
    fprintf (out, "%s%s", columns[column].name, column + 1 < N_COLUMNS ? "," : "\n");
  for (uint32_t i = 0; i < sheet->n_groups; i++)
    print_csv_line (out, sheet->groups[i].name, &sheet->groups[i].scores);
  print_csv_line (out, sheet->group ? "all" : NULL, &sheet->all);
}

static void
add_scores (JsonBuilder *builder, const PredictScores *scores)
{
  for (gsize column = 0; column < N_COLUMNS; column++)
    if (columns[column].is_count)
      cli_add_integer (builder, columns[column].name, count_of (scores, column));
    else
      cli_add_number (builder, columns[column].name, score_of (scores, column));
}

static void
add_groups (JsonBuilder *builder, const CliScoreSheet *sheet)
{
  cli_add_string (builder, "group", sheet->group);
  json_builder_set_member_name (builder, "groups");
  json_builder_begin_array (builder);
  for (uint32_t i = 0; i < sheet->n_groups; i++) {
    json_builder_begin_object (builder);
    cli_add_string (builder, "group", sheet->groups[i].name);
    add_scores (builder, &sheet->groups[i].scores);
    json_builder_end_object (builder);
  }
  json_builder_end_array (builder);
}

static void
print_json (FILE *out, const CliScoreSheet *sheet)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  g_autoptr (JsonNode) record = NULL;

  json_builder_begin_object (builder);
  cli_add_string (builder, "schema", "hopcast.score/1");
  cli_add_string (builder, "table", sheet->source);
  cli_add_string (builder, "observed", sheet->observed);
  cli_add_string (builder, "predicted", sheet->predicted);
  cli_add_string (builder, "rcc_rule", sheet->rule);
  add_scores (builder, &sheet->all);
  if (sheet->group != NULL)
    add_groups (builder, sheet);
  json_builder_end_object (builder);
  record = json_builder_get_root (builder);
  cli_print_record (out, record, CLI_FORMAT_JSON);
}

void
cli_score_print (FILE *out, const CliScoreSheet *sheet, CliFormat format)
{
  switch (format) {
  case CLI_FORMAT_TABLE:
    if (sheet->group != NULL)
      print_table (out, sheet);
    else
      print_list (out, &sheet->all);
    break;
  case CLI_FORMAT_CSV: print_csv (out, sheet); break;
  case CLI_FORMAT_JSON: print_json (out, sheet); break;
  }
}
