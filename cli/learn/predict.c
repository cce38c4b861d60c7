/* predict.c - `hopcast predict`: what a model says about the rows of a table.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cli/command.h"
#include "cli/learn/learn_settings.h"
#include "cli/learn/learning_options.h"
#include "cli/options.h"
#include "cli/outfile.h"
#include "cli/learn/table_copy.h"
#include "cli/terminal.h"
#include "predictors/model/forecaster.h"

#include <math.h>
#include <string.h>

typedef struct {
  CliTalkOptions talk;
  CliLearningOptions learning;
  char *observed, *output;
  double interval; /* NaN: none */
  int threads;
} Options;

static void
options_clear (Options *options)
{
  cli_learning_options_clear (&options->learning);
  g_free (options->observed);
  g_free (options->output);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

static void
add_options (GOptionContext *context, Options *options)
{
  const GOptionEntry entries[] = {
    { "interval", 0, 0, G_OPTION_ARG_DOUBLE, &options->interval,
      "Also the columns lower and upper, which hold the true value with this probability",
      "LEVEL" },
    { "observed", 0, 0, G_OPTION_ARG_STRING, &options->observed,
      "The column that was predicted, where it is known: scores are told on standard error",
      "COLUMN" },
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options->output,
      "Where to write; standard output without it", "FILE" },
    { "threads", 0, 0, G_OPTION_ARG_INT, &options->threads,
      "Threads to use, which never change a result (default: one per processor)", "N" },
    { NULL },
  };

  g_option_context_add_main_entries (context, entries, NULL);
  cli_add_csv_option (context);
  cli_add_learning_options (context, &options->learning);
  cli_add_quiet_option (context, &options->talk);
}

static gboolean
check_options (const Options *options, GError **error)
{
  if (!isnan (options->interval) && !(options->interval > 0 && options->interval < 1)) {
    g_set_error (error, CLI_ERROR, CLI_ERROR_USAGE, "--interval: not between 0 and 1, as 0.9 is");
    return FALSE;
  }
  return cli_check_threads (options->threads, error);
}

/* -- what is said about it -------------------------------------------------------- */

/* In single precision, as models see features. */
static uint64_t
count_outside (const PredictTable *table, const PredictModel *model, guint feature)
{
  const PredictColumn *column = predict_table_find (table, model->features[feature]);
  float smallest = (float) model->smallest[feature], largest = (float) model->largest[feature];
  uint64_t n = 0;

  for (uint64_t row = 0; row < table->n_rows; row++)
    n += (float) column->numbers[row] < smallest || (float) column->numbers[row] > largest;
  return n;
}

static void
warn_of_outside (const PredictTable *table, const PredictModel *model, const PredictAnswer *answer)
{
  GString *which;

  if (answer->n_outside == 0)
    return;
  which = g_string_new (NULL);
  for (guint feature = 0; model->features[feature] != NULL; feature++) {
    uint64_t n = count_outside (table, model, feature);

    if (n > 0)
      g_string_append_printf (which, "%s%s (%" G_GUINT64_FORMAT " of them)", which->len ? ", " : "",
                              model->features[feature], n);
  }
  cli_printf (stderr,
              "hopcast: warning: %s: %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
              " rows are outside of what the model has learned from: %s\n",
              table->source, answer->n_outside, table->n_rows, which->str);
  g_string_free (which, TRUE);
}

static void
warn_of_endless (const PredictTable *table, const PredictModel *model, const PredictAnswer *answer,
                 double level)
{
  if (answer->upper != NULL && table->n_rows > 0 && isinf (answer->upper[0]))
    cli_printf (stderr,
                "hopcast: warning: %" G_GUINT64_FORMAT
                " samples are too few for an interval of %g: it has no end\n",
                model->interval.of, level);
}

/* The rows whose observation is known, and what was predicted for them. */
typedef struct {
  double *observed, *predicted; /* [n] */
  uint64_t n, n_within;         /* of these within the interval */
} Known;

static void
known_clear (Known *known)
{
  g_free (known->observed);
  g_free (known->predicted);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Known, known_clear)

static Known
known_rows (const PredictTable *table, const PredictColumn *column, const PredictAnswer *answer)
{
  Known known = { g_new (double, table->n_rows), g_new (double, table->n_rows), 0, 0 };

  for (uint64_t row = 0; row < table->n_rows; row++) {
    double observed = column->numbers[row];

    if (!isfinite (observed))
      continue;
    known.observed[known.n] = observed;
    known.predicted[known.n++] = answer->predicted[row];
    known.n_within +=
        answer->lower != NULL && observed >= answer->lower[row] && observed <= answer->upper[row];
  }
  return known;
}

static void
tell_scores (const PredictTable *table, const PredictColumn *column, const PredictAnswer *answer)
{
  g_auto (Known) known = known_rows (table, column, answer);
  PredictScores scores = predict_score (known.observed, known.predicted, known.n);

  cli_printf (stderr,
              "hopcast: %s is known in %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " rows\n",
              column->name, known.n, table->n_rows);
  for (guint i = 0; i < PREDICT_N_SCORES; i++)
    cli_printf (stderr, "  %-10s  %.6g\n", predict_score_names[i],
                predict_score_value (&scores, (PredictScore) i));
  if (answer->lower != NULL && known.n > 0)
    cli_printf (stderr, "  %-10s  %.6g\n", "covered", (double) known.n_within / (double) known.n);
}

/* -- the command ------------------------------------------------------------------- */

static gboolean
write_table (const PredictTable *table, const char *path, const PredictAnswer *answer,
             CliOutfile *out, GError **error)
{
  const CliNewColumn columns[] = { { "predicted", answer->predicted },
                                   { answer->lower != NULL ? "lower" : NULL, answer->lower },
                                   { "upper", answer->upper },
                                   { NULL, NULL } };

  return cli_table_copy (table, path, columns, cli_outfile_stream (out), error) &&
         cli_outfile_commit (out, error);
}

/* The column that was predicted; *found is NULL when it was not asked for. */
static gboolean
find_observed (const PredictTable *table, const char *name, const PredictColumn **found,
               GError **error)
{
  *found = name != NULL ? predict_table_numbers (table, name, error) : NULL;
  return name == NULL || *found != NULL;
}

/* What can be refused is refused before the work, of which nothing is written then. */
static gboolean
predict (const char *model_path, const char *path, const Options *options, GError **error)
{
  double level = isnan (options->interval) ? 0 : options->interval;
  g_autoptr (PredictForecaster) model = predict_forecaster_read (model_path, error);
  g_autoptr (PredictTable) table = NULL;
  g_autoptr (CliOutfile) out = NULL;
  g_auto (PredictAnswer) answer = { NULL };
  const PredictColumn *observed;

  if (model == NULL || (!strcmp (path, "-") && !cli_keep_input (error)) ||
      !(out = cli_outfile_new (options->output != NULL ? options->output : "-", error)))
    return FALSE;
  table = cli_learning_table (path, &options->learning, FALSE, options->talk.quiet, error);
  if (table == NULL || !find_observed (table, options->observed, &observed, error) ||
      !predict_forecaster_apply (model, table, level, (guint) options->threads, &answer, error))
    return FALSE;
  if (!options->talk.quiet && model->learned != NULL) {
    warn_of_outside (table, model->learned, &answer);
    warn_of_endless (table, model->learned, &answer, level);
  }
  if (!write_table (table, path, &answer, out, error))
    return FALSE;
  if (observed != NULL)
    tell_scores (table, observed, &answer);
  return TRUE;
}

int
cli_predict (int argc, char **argv, GError **error)
{
  static const char *const names[] = { "MODEL", "TABLE.csv|STORE", NULL };
  g_autoptr (GOptionContext) context = cli_context_new (
      "MODEL TABLE.csv|STORE",
      "Writes the table, or the runs of a store, as CSV with what the model predicts: one of "
      "'hopcast train', or a model file, such as one of 'hopcast correct'.");
  g_auto (Options) options = { .interval = NAN };
  const char *paths[2];

  add_options (context, &options);
  if (!cli_parse (context, argc, argv, names, paths, error) || !check_options (&options, error) ||
      !cli_parse_learning (&options.learning, error) ||
      !predict (paths[0], paths[1], &options, error))
    return CLI_FAILED;
  return CLI_DONE;
}
