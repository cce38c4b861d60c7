/* score.c - `hopcast score`: how well one column of a table predicts another.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/print/columns.h"
#include "cli/command.h"
#include "cli/options.h"
#include "predictors/scoring/scores.h"
#include "predictors/table/table.h"

#include <math.h>
#include <stddef.h>

static const char *const rule_names[] = { "half", "paper", NULL };
#define RULE_PAPER 1

typedef struct {
  CliFormatOptions format;
  char *observed, *predicted, *group, *rule;
} Options;

static void
options_clear (Options *options)
{
  cli_format_options_clear (&options->format);
  g_free (options->observed);
  g_free (options->predicted);
  g_free (options->group);
  g_free (options->rule);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

static void
add_options (GOptionContext *context, Options *options)
{
  const GOptionEntry entries[] = {
    { "observed", 0, 0, G_OPTION_ARG_STRING, &options->observed, "What was measured", "COLUMN" },
    { "predicted", 0, 0, G_OPTION_ARG_STRING, &options->predicted, "What was predicted of it",
      "COLUMN" },
    { "rcc", 0, 0, G_OPTION_ARG_STRING, &options->rule,
      "Ties in rcc and mispredicted: half (default; a pair that ties in one column is half right) or "
      "paper (the formula to the letter, which depends on the order of the rows)",
      "RULE" },
    { "group", 0, 0, G_OPTION_ARG_STRING, &options->group,
      "Also the scores of the rows that share a value of this column", "COLUMN" },
    { NULL },
  };

  g_option_context_add_main_entries (context, entries, NULL);
  cli_add_unpack_option (context);
  cli_add_format_options (context, &options->format);
}

/* The rows of each group side by side, in their order. */
typedef struct {
  uint32_t n;
  uint64_t *first;   /* [n + 1] */
  char **names;      /* [n] */
  double *observed;  /* [rows] */
  double *predicted; /* [rows] */
} Groups;

static void
groups_clear (Groups *groups)
{
  for (uint32_t group = 0; groups->names != NULL && group < groups->n; group++)
    g_free (groups->names[group]);
  g_free (groups->names);
  g_free (groups->first);
  g_free (groups->observed);
  g_free (groups->predicted);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Groups, groups_clear)

static gboolean
groups_read (const PredictTable *table, const char *name, const double *observed,
             const double *predicted, Groups *groups, GError **error)
{
  g_autofree uint32_t *group = predict_table_groups (table, name, &groups->n, error);
  const PredictColumn *column = predict_table_find (table, name);
  g_autofree uint64_t *next = NULL;

  if (group == NULL)
    return FALSE;
  groups->names = g_new0 (char *, groups->n);
  groups->first = g_new0 (uint64_t, groups->n + 1);
  groups->observed = g_new (double, table->n_rows);
  groups->predicted = g_new (double, table->n_rows);
  for (uint64_t row = 0; row < table->n_rows; row++)
    groups->first[group[row] + 1]++;
  for (uint32_t i = 0; i < groups->n; i++)
    groups->first[i + 1] += groups->first[i];
  next = g_memdup2 (groups->first, (groups->n + 1) * sizeof *next);
  for (uint64_t row = 0; row < table->n_rows; row++) {
    if (groups->names[group[row]] == NULL)
      groups->names[group[row]] =
          predict_table_cell (table, (guint) (column - table->columns), row);
    groups->observed[next[group[row]]] = observed[row];
    groups->predicted[next[group[row]]++] = predicted[row];
  }
  return TRUE;
}

static PredictScores
score (const double *observed, const double *predicted, uint64_t n, int rule)
{
  PredictScores scores = predict_score (observed, predicted, n);

  if (rule == RULE_PAPER && n > 1) {
    scores.rcc = scores.rcc_paper;
    scores.mispredicted = rint ((double) scores.pairs * (1 - scores.rcc_paper));
  }
  return scores;
}

/* A group of rows, or all. */
typedef struct {
  const char *group; /* NULL: there are no groups */
  PredictScores scores;
} Row;

enum { ALONE = 1 }; /* too much for a table of groups */

#define COUNT(field) CLI_CELL_U64, offsetof (Row, scores.field), NULL
#define SCORE(field) CLI_CELL_NUMBER, offsetof (Row, scores.field), NULL
static const CliColumn columns[] = {
  { "group", NULL, CLI_CELL_TEXT, offsetof (Row, group) },
  { "n", "n", COUNT (n) },
  { "rcc", "rcc", SCORE (rcc) },
  { "rcc_paper", "rcc_paper", SCORE (rcc_paper), ALONE },
  { "tau_b", "tau_b", SCORE (tau_b) },
  { "spearman", "spearman", SCORE (spearman) },
  { "r2", "r2", SCORE (r2) },
  { "mape", "mape", SCORE (mape) },
  { "rmse", "rmse", SCORE (rmse) },
  { "log_rmse", "log_rmse", SCORE (log_rmse) },
  { "pairs", "pairs", COUNT (pairs), ALONE },
  { "mispredicted", "mispredicted", SCORE (mispredicted) },
  { "ties_observed", "ties_observed", COUNT (ties_observed), ALONE },
  { "ties_predicted", "ties_predicted", COUNT (ties_predicted), ALONE },
  { "ties_both", "ties_both", COUNT (ties_both), ALONE },
};
#undef COUNT
#undef SCORE

/* rows: the groups, and all of the table last. */
static void
print (const PredictTable *table, const Options *options, int rule, CliRows *rows)
{
  const Row *row = rows->rows, *all = &row[rows->n_rows - 1];
  /* Without groups there is no column of them. */
  guint first = options->group == NULL;
  g_autofree CliColumn *own = g_memdup2 (columns, sizeof columns);
  g_autoptr (JsonBuilder) builder = NULL;

  switch (options->format.format) {
  case CLI_FORMAT_TABLE:
    own[0].heading = options->group;
    rows->columns = own;
    if (options->group != NULL)
      cli_rows_print_table (stdout, rows, "");
    else
      cli_columns_print_list (stdout, columns, G_N_ELEMENTS (columns), all, ALONE);
    break;
  case CLI_FORMAT_CSV:
    rows->columns += first;
    rows->n_columns -= first;
    cli_rows_print_csv (stdout, rows);
    break;
  case CLI_FORMAT_JSON:
    builder = json_builder_new ();
    json_builder_begin_object (builder);
    cli_add_string (builder, "schema", "hopcast.score/1");
    cli_add_string (builder, "table", table->source);
    cli_add_string (builder, "observed", options->observed);
    cli_add_string (builder, "predicted", options->predicted);
    cli_add_string (builder, "rcc_rule", rule_names[rule]);
    cli_columns_add_json (builder, columns + 1, G_N_ELEMENTS (columns) - 1, all);
    if (options->group != NULL) {
      cli_add_string (builder, "group", options->group);
      rows->n_rows--;
      cli_rows_add_json (builder, "groups", rows);
    }
    cli_print_object (stdout, builder);
    break;
  }
}

int
cli_score (int argc, char **argv, GError **error)
{
  static const char *const names[] = { "TABLE", NULL };
  g_autoptr (GOptionContext) context = cli_context_new (
      "TABLE", "Scores the predictions in one column of a CSV table by what another one observed: "
               "the share of pairs in the right order (RCC), rank correlations and errors.");
  g_auto (Options) options = { 0 };
  g_autoptr (PredictTable) table = NULL;
  g_auto (Groups) groups = { 0 };
  g_autofree Row *rows = NULL;
  const double *observed, *predicted;
  const char *path;
  int rule;

  add_options (context, &options);
  if (!cli_parse (context, argc, argv, names, &path, error))
    return CLI_FAILED;
  if (options.observed == NULL || options.predicted == NULL) {
    cli_refuse (error, "--%s COLUMN is missing",
                options.observed == NULL ? "observed" : "predicted");
    return CLI_FAILED;
  }
  if ((rule = cli_parse_choice ("--rcc", options.rule, rule_names, error)) < 0 ||
      !cli_parse_format (&options.format, error) || !(table = predict_table_read (path, error)) ||
      !(observed = predict_table_finite (table, options.observed, error)) ||
      !(predicted = predict_table_finite (table, options.predicted, error)))
    return CLI_FAILED;
  if (table->n_rows == 0) {
    cli_fail (error, "%s has no rows to score", table->source);
    return CLI_FAILED;
  }
  if (options.group != NULL &&
      !groups_read (table, options.group, observed, predicted, &groups, error))
    return CLI_FAILED;
  rows = g_new (Row, groups.n + 1);
  for (uint32_t i = 0; i < groups.n; i++) {
    uint64_t first = groups.first[i];

    rows[i] = (Row){ groups.names[i], score (groups.observed + first, groups.predicted + first,
                                             groups.first[i + 1] - first, rule) };
  }
  rows[groups.n] = (Row){ "all", score (observed, predicted, table->n_rows, rule) };
  print (table, &options, rule, &CLI_ROWS (columns, rows, groups.n + 1));
  return CLI_DONE;
}
