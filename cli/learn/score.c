/* score.c - `hopcast score`: how well one column of a table predicts another.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cli/command.h"
#include "cli/options.h"
#include "cli/learn/score_print.h"
#include "predictors/table/table.h"

#include <math.h>

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

static gboolean
check_options (Options *options, int *rule, GError **error)
{
  if (options->observed == NULL || options->predicted == NULL) {
    g_set_error (error, CLI_ERROR, CLI_ERROR_USAGE, "--%s COLUMN is missing",
                 options->observed == NULL ? "observed" : "predicted");
    return FALSE;
  }
  *rule = 0;
  if (options->rule && (*rule = cli_parse_choice ("--rcc", options->rule, rule_names, error)) < 0)
    return FALSE;
  return cli_parse_format (&options->format, error);
}

/* -- the table ------------------------------------------------------------- */

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

/* -- the command ----------------------------------------------------------- */

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

static gboolean
score_table (const PredictTable *table, const Options *options, int rule, GError **error)
{
  const double *observed = predict_table_finite (table, options->observed, error);
  const double *predicted =
      observed ? predict_table_finite (table, options->predicted, error) : NULL;
  g_auto (Groups) groups = { 0 };
  g_autofree CliScoreGroup *scored = NULL;
  CliScoreSheet sheet = { table->source, options->observed, options->predicted, options->group,
                          rule_names[rule] };

  if (predicted == NULL)
    return FALSE;
  if (table->n_rows == 0) {
    g_set_error (error, CLI_ERROR, CLI_ERROR_INPUT, "%s has no rows to score", table->source);
    return FALSE;
  }
  if (options->group != NULL &&
      !groups_read (table, options->group, observed, predicted, &groups, error))
    return FALSE;
  sheet.groups = scored = g_new (CliScoreGroup, groups.n);
  sheet.n_groups = groups.n;
  for (uint32_t i = 0; i < groups.n; i++) {
    uint64_t first = groups.first[i];

    scored[i].name = groups.names[i];
    scored[i].scores = score (groups.observed + first, groups.predicted + first,
                              groups.first[i + 1] - first, rule);
  }
  sheet.all = score (observed, predicted, table->n_rows, rule);
  cli_score_print (stdout, &sheet, options->format.format);
  return TRUE;
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
  const char *path;
  int rule;

  add_options (context, &options);
  if (!cli_parse (context, argc, argv, names, &path, error) ||
      !check_options (&options, &rule, error) || !(table = predict_table_read (path, error)) ||
      !score_table (table, &options, rule, error))
    return CLI_FAILED;
  return CLI_DONE;
}
