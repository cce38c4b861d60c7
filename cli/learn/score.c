/* score.c - `hopcast score`: how well a column of a table, or a model, predicts another column.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/print/columns.h"
#include "cli/command.h"
#include "cli/learn/learning_options.h"
#include "cli/options.h"
#include "cli/print/terminal.h"
#include "predictors/model/forecaster.h"
#include "predictors/scoring/scores.h"
#include "predictors/table/table.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static const char *const rule_names[] = { "half", "paper", NULL };
#define RULE_PAPER 1

typedef struct {
  CliFormatOptions format;
  CliTalkOptions talk;
  CliLearningOptions learning;
  char *observed, *predicted, *model, *group, *rule;
} Options;

static void
options_clear (Options *options)
{
  cli_format_options_clear (&options->format);
  cli_learning_options_clear (&options->learning);
  g_free (options->observed);
  g_free (options->predicted);
  g_free (options->model);
  g_free (options->group);
  g_free (options->rule);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

static void
add_options (GOptionContext *context, Options *options)
{
  const GOptionEntry entries[] = {
    { "observed", 0, 0, G_OPTION_ARG_STRING, &options->observed,
      "What was measured (default: what the model predicts, or time_s of a store)", "COLUMN" },
    { "predicted", 0, 0, G_OPTION_ARG_STRING, &options->predicted, "What was predicted of it",
      "COLUMN" },
    { "model", 0, 0, G_OPTION_ARG_FILENAME, &options->model,
      "What predicts it, instead: a model of 'hopcast train', or a model file", "MODEL" },
    { "rcc", 0, 0, G_OPTION_ARG_STRING, &options->rule,
      "Ties in rcc and mispredicted: half (default; a pair that ties in one column is half right) or "
      "paper (the formula to the letter, which depends on the order of the rows)",
      "RULE" },
    { "group", 0, 0, G_OPTION_ARG_STRING, &options->group,
      "Also the scores of the rows that share a value of this column", "COLUMN" },
    { NULL },
  };

  g_option_context_add_main_entries (context, entries, NULL);
  cli_add_learning_options (context, &options->learning);
  cli_add_format_options (context, &options->format);
  cli_add_quiet_option (context, &options->talk);
}

/* The rows of each group side by side, in their order. */
typedef struct {
  uint32_t n;
  uint64_t *first;   /* [n + 1] */
  char **names;      /* [n] */
  uint64_t *rows;    /* [rows] of the table */
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
  g_free (groups->rows);
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
  groups->rows = g_new (uint64_t, table->n_rows);
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
    groups->rows[next[group[row]]] = row;
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
  PredictNoise noise;
} Row;

enum {
  ALONE = 1, /* too much for a table of groups */
  NOISE = 2, /* known of replicas alone */
};

#define COUNT(field) CLI_CELL_U64, offsetof (Row, scores.field), NULL
#define SCORE(field) CLI_CELL_NUMBER, offsetof (Row, scores.field), NULL
static const CliColumn columns[] = {
  { "group", NULL, CLI_CELL_TEXT, offsetof (Row, group) },
  { "n", "n", COUNT (n) },
  { "rcc", "rcc", SCORE (rcc) },
  { "noise_rcc", "noise_rcc", CLI_CELL_NUMBER, offsetof (Row, noise.noise_rcc), .needs = NOISE },
  { "halves_rcc", "halves_rcc", CLI_CELL_NUMBER, offsetof (Row, noise.halves_rcc),
    .needs = ALONE | NOISE },
  { "replicas", "replicas", CLI_CELL_KNOWN_U32, offsetof (Row, noise.n_draws), .needs = NOISE },
  { "rcc_paper", "rcc_paper", SCORE (rcc_paper), ALONE },
  { "tau_b", "tau_b", SCORE (tau_b) },
  { "spearman", "spearman", SCORE (spearman) },
  { "r2", "r2", SCORE (r2) },
  { "mape", "mape", SCORE (mape) },
  { "rmse", "rmse", SCORE (rmse) },
  { "log_rmse", "log_rmse", SCORE (log_rmse) },
  { "pairs", "pairs", COUNT (pairs), ALONE },
  { "mispredicted", "mispredicted", SCORE (mispredicted) },
  { "regret", "regret", SCORE (regret) },
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
    rows->has = all->noise.n_draws > 0 ? NOISE : 0;
    if (options->group != NULL)
      cli_rows_print_table (stdout, rows, "");
    else
      cli_columns_print_list (stdout, columns, G_N_ELEMENTS (columns), all, ALONE | rows->has);
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
    cli_add_string (builder, "model", options->model);
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

/* --- The command --- */

typedef struct {
  PredictForecaster *model; /* NULL: a column predicts */
  PredictTable *table;
  StudyLearned learned;
  PredictAnswer answer;               /* of the model */
  const double *observed, *predicted; /* [rows] */
  double *relative;                   /* owned: what is observed in the units of the model */
} Work;

static void
work_clear (Work *work)
{
  g_clear_pointer (&work->relative, g_free);
  g_clear_pointer (&work->model, predict_forecaster_free);
  g_clear_pointer (&work->table, predict_table_free);
  study_learned_clear (&work->learned);
  predict_answer_clear (&work->answer);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Work, work_clear)

/* Whether the model learned from these rows, unless groups had a part in that. */
static gboolean
is_training_table (const PredictModel *model, const PredictTable *table)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  g_autofree char *hash = NULL;

  if (predict_table_find (table, model->target) == NULL)
    return FALSE;
  for (char **feature = model->features; *feature != NULL; feature++)
    g_ptr_array_add (names, *feature);
  g_ptr_array_add (names, model->target);
  g_ptr_array_add (names, NULL);
  hash = predict_table_hash (table, (const char *const *) names->pdata);
  return strcmp (hash, model->hash) == 0;
}

/* Reads the table, and what was observed and predicted of its rows. */
static gboolean
prepare (Work *work, const char *path, Options *options, GError **error)
{
  if (options->model != NULL && !(work->model = predict_forecaster_read (options->model, error)))
    return FALSE;
  if (options->observed == NULL)
    options->observed =
        g_strdup (work->model != NULL ? predict_forecaster_target (work->model) : "time_s");
  options->learning.learning.noisy = options->observed;
  work->table =
      cli_learning_table (path, &options->learning, options->talk.quiet, &work->learned, error);
  if (work->table == NULL ||
      !(work->observed = predict_table_finite (work->table, options->observed, error)))
    return FALSE;
  if (work->table->n_rows == 0)
    return cli_fail (error, "%s has no rows to score", work->table->source);
  if (work->model == NULL)
    work->predicted = predict_table_finite (work->table, options->predicted, error);
  else if (predict_forecaster_apply (work->model, work->table, 0, 0, &work->answer, error))
    work->predicted = work->answer.predicted;
  if (work->predicted == NULL || work->model == NULL || work->model->learned == NULL)
    return work->predicted != NULL;
  work->observed = work->relative =
      predict_model_observed (work->model->learned, work->table, work->observed, error);
  return work->observed != NULL;
}

static void
tell (const Work *work, const Row *all)
{
  if (work->model != NULL && work->model->learned != NULL &&
      is_training_table (work->model->learned, work->table))
    cli_printf (stderr,
                "hopcast: note: %s: the model learned from these rows: its scores are too good\n",
                work->table->source);
  if (all->scores.rcc > all->noise.noise_rcc)
    cli_printf (
        stderr,
        "hopcast: note: rcc is above noise_rcc, which a perfect model is expected to have: by luck, "
        "or because the predictions contain the noise of these very runs\n");
}

int
cli_score (int argc, char **argv, GError **error)
{
  static const char *const names[] = { "TABLE.csv|STORE", NULL };
  g_autoptr (GOptionContext) context = cli_context_new (
      "TABLE.csv|STORE",
      "Scores the predictions in one column of a table or of a store's runs, or of a model, by what "
      "another column observed: the share of pairs in the right order (RCC), rank correlations and "
      "errors; and, of replicas, the RCC that a perfect model would have.");
  g_auto (Options) options = { 0 };
  g_auto (Work) work = { NULL };
  g_auto (Groups) groups = { 0 };
  g_autofree Row *rows = NULL;
  const char *path;
  Row *all;
  int rule;

  add_options (context, &options);
  if (!cli_parse (context, argc, argv, names, &path, error))
    return CLI_FAILED;
  if (options.model != NULL && options.predicted != NULL)
    cli_refuse (error, "--model and --predicted exclude each other");
  else if (options.observed == NULL && options.model == NULL && !cli_is_store (path))
    cli_refuse (error, "--observed COLUMN is missing");
  else if (options.predicted == NULL && options.model == NULL)
    cli_refuse (error, "--predicted COLUMN is missing, or --model MODEL");
  else if ((rule = cli_parse_choice ("--rcc", options.rule, rule_names, error)) >= 0 &&
           cli_parse_format (&options.format, error) &&
           cli_parse_learning (&options.learning, error) &&
           prepare (&work, path, &options, error) &&
           (options.group == NULL || groups_read (work.table, options.group, work.observed,
                                                  work.predicted, &groups, error))) {
    rows = g_new0 (Row, groups.n + 1);
    for (uint32_t i = 0; i < groups.n; i++) {
      uint64_t first = groups.first[i], n = groups.first[i + 1] - first;

      rows[i] = (Row){ groups.names[i],
                       score (groups.observed + first, groups.predicted + first, n, rule),
                       study_learned_noise (&work.learned, groups.rows + first, n) };
    }
    all = &rows[groups.n];
    *all = (Row){ "all", score (work.observed, work.predicted, work.table->n_rows, rule),
                  study_learned_noise (&work.learned, NULL, work.table->n_rows) };
    print (work.table, &options, rule, &CLI_ROWS (columns, rows, groups.n + 1));
    if (!options.talk.quiet)
      tell (&work, all);
    return CLI_DONE;
  }
  return CLI_FAILED;
}
