/* predict.c - `hopcast predict`: a table with the predictions of a model.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/learn/learn_settings.h"
#include "cli/learn/learning_options.h"
#include "cli/options.h"
#include "cli/print/outfile.h"
#include "cli/print/terminal.h"
#include "predictors/model/forecaster.h"
#include "predictors/table/table.h"
#include "base/csv.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

typedef struct {
  const char *name;
  const double *values; /* [n_rows] */
} CliNewColumn;

#define BUFFER_BYTES (1u << 18)
#define BOM          "\xEF\xBB\xBF"

/* Where standard input began: it may be a file of which a part has been read. */
static off_t input_start;

/* Makes standard input readable twice: a pipe is copied to a temporary file.  To be called before
 * the first read. */
static gboolean
keep_input (GError **error)
{
  g_autofree char *buffer = NULL;
  FILE *file;
  gboolean kept;
  ssize_t n;

  input_start = lseek (STDIN_FILENO, 0, SEEK_CUR);
  if (input_start >= 0)
    return TRUE;
  input_start = 0;
  file = tmpfile ();
  kept = file != NULL;
  buffer = g_malloc (BUFFER_BYTES);
  while (kept && (n = read (STDIN_FILENO, buffer, BUFFER_BYTES)) != 0)
    kept = n < 0 ? errno == EINTR : fwrite (buffer, 1, (size_t) n, file) == (size_t) n;
  kept = kept && fflush (file) == 0 && dup2 (fileno (file), STDIN_FILENO) >= 0 &&
         lseek (STDIN_FILENO, 0, SEEK_SET) == 0;
  if (!kept)
    cli_fail (error, "standard input: %s", g_strerror (errno));
  if (file != NULL)
    fclose (file);
  return kept;
}

typedef struct {
  gzFile file;
  uint64_t line; /* that `text` begins with, from 1 */
  GString *text; /* a record: a line without its end, or several where a quote spans them */
  uint64_t n_lines;
} Reader;

static gboolean
reader_open (Reader *reader, const char *path, GError **error)
{
  int descriptor = -1;

  *reader = (Reader){ .text = g_string_new (NULL) };
  if (strcmp (path, "-") != 0)
    reader->file = gzopen (path, "rbe");
  else if (lseek (STDIN_FILENO, input_start, SEEK_SET) >= 0 &&
           (descriptor = dup (STDIN_FILENO)) >= 0)
    reader->file = gzdopen (descriptor, "rb");
  if (reader->file == NULL)
    return cli_fail (error, "%s: %s", path, g_strerror (errno));
  gzbuffer (reader->file, BUFFER_BYTES);
  return TRUE;
}

static void
reader_clear (Reader *reader)
{
  if (reader->file != NULL)
    gzclose (reader->file);
  g_string_free (reader->text, TRUE);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Reader, reader_clear)

/* Adds a line with its end to the text; FALSE at the end of the file. */
static gboolean
add_line (Reader *reader)
{
  gsize before = reader->text->len;
  char piece[4096];

  while (gzgets (reader->file, piece, sizeof piece) != NULL) {
    g_string_append (reader->text, piece);
    if (reader->text->str[reader->text->len - 1] == '\n')
      break;
  }
  if (reader->text->len == before)
    return FALSE;
  reader->n_lines++;
  return TRUE;
}

static gboolean
next_record (Reader *reader)
{
  GString *text = g_string_truncate (reader->text, 0);
  gboolean open = FALSE; /* within quotes */
  gsize at = 0;

  reader->line = reader->n_lines + 1;
  if (!add_line (reader))
    return FALSE;
  /* Within quotes a quote is doubled: a quote is open after an odd number of them. */
  do
    for (; at < text->len; at++)
      open ^= text->str[at] == '"';
  while (open && add_line (reader));
  while (text->len > 0 && strchr ("\r\n", text->str[text->len - 1]) != NULL)
    g_string_truncate (text, text->len - 1);
  return TRUE;
}

static void
print_names (FILE *out, const CliNewColumn *columns)
{
  for (; columns->name != NULL; columns++) {
    fputc (',', out);
    base_csv_field (out, columns->name);
  }
  fputc ('\n', out);
}

static void
print_numbers (FILE *out, const CliNewColumn *columns, uint64_t row)
{
  char number[BASE_DECIMAL_SIZE];

  for (; columns->name != NULL; columns++)
    fprintf (out, ",%s", base_decimal_print (number, columns->values[row]));
  fputc ('\n', out);
}

/* A record as it was read; its fields one by one where formulas are to be made harmless. */
static void
print_record (FILE *out, const GString *record)
{
  const char *at = record->str;

  if (!base_csv_is_safe ()) {
    fwrite (record->str, 1, record->len, out);
    return;
  }
  if (g_str_has_prefix (at, BOM)) {
    fputs (BOM, out);
    at += strlen (BOM);
  }
  for (gboolean more = TRUE; more; at++) {
    g_autoptr (GString) field = g_string_new (NULL);

    for (gboolean quoted = FALSE; *at != '\0' && (quoted || *at != ','); at++)
      if (*at != '"')
        g_string_append_c (field, *at);
      else if (quoted && at[1] == '"')
        g_string_append_c (field, *at++);
      else
        quoted = !quoted;
    base_csv_field (out, field->str);
    more = *at == ',';
    if (more)
      fputc (',', out);
  }
}

static gboolean
copy_file (const PredictTable *table, const char *path, const CliNewColumn *columns, FILE *out,
           GError **error)
{
  g_auto (Reader) reader = { NULL };
  gboolean has_header = FALSE;
  uint64_t row = 0;

  if (!reader_open (&reader, path, error))
    return FALSE;
  while (next_record (&reader)) {
    /* A byte order mark alone is an empty line too. */
    if (!has_header && reader.text->len > 0 && strcmp (reader.text->str, BOM) != 0) {
      print_record (out, reader.text);
      print_names (out, columns);
      has_header = TRUE;
    } else if (row < table->n_rows && reader.line == table->lines[row]) {
      print_record (out, reader.text);
      print_numbers (out, columns, row++);
    }
  }
  if (row == table->n_rows)
    return TRUE;
  return cli_fail (error, "%s: changed while it was read", table->source);
}

/* Prints the table as CSV with the numbers of `columns` (ended by a NULL name) behind each row: the
 * unchanged lines of the file at `path` ("-": standard input, see keep_input()) from which the table
 * was read, or the cells of a table that is from no file.  Empty lines are dropped.  FALSE and *error:
 * the table has a column of that name, or the file has changed since.  The caller checks `out`. */
static gboolean
table_copy (const PredictTable *table, const char *path, const CliNewColumn *columns, FILE *out,
            GError **error)
{
  for (const CliNewColumn *column = columns; column->name != NULL; column++)
    if (predict_table_find (table, column->name) != NULL)
      return cli_fail (error, "%s: already has a column '%s'", table->source, column->name);
  if (table->lines != NULL)
    return copy_file (table, path, columns, out, error);
  for (guint column = 0; column < table->n_columns; column++) {
    if (column > 0)
      fputc (',', out);
    base_csv_field (out, table->columns[column].name);
  }
  print_names (out, columns);
  for (uint64_t row = 0; row < table->n_rows; row++) {
    for (guint column = 0; column < table->n_columns; column++) {
      g_autofree char *cell = predict_table_cell (table, column, row);

      if (column > 0)
        fputc (',', out);
      base_csv_field (out, cell);
    }
    print_numbers (out, columns, row);
  }
  return TRUE;
}

/* --- The command --- */

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
      "Also the columns lower and upper, which hold the true value with this probability, and "
      "extrapolates: how far, in ranges of the training data, the row is outside of them",
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

/* Warns of rows outside of what the model has learned from, with the features that are. */
static void
warn_of_outside (const PredictTable *table, const PredictModel *model, const PredictAnswer *answer)
{
  g_autoptr (GString) which = g_string_new (NULL);

  if (answer->n_outside == 0)
    return;
  for (guint feature = 0; model->features[feature] != NULL; feature++)
    if (answer->outside_of[feature] > 0)
      g_string_append_printf (which, "%s%s (%" G_GUINT64_FORMAT " of them)", which->len ? ", " : "",
                              model->features[feature], answer->outside_of[feature]);
  cli_printf (stderr,
              "hopcast: warning: %s: %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
              " rows are outside the range of the training data%s: %s\n",
              table->source, answer->n_outside, table->n_rows,
              answer->lower != NULL ? ", with wider intervals" : "", which->str);
}

/* Scores the predictions in the rows whose observation is known: values[rows], in the units of what is
 * predicted, of a column. */
static void
tell_scores (const PredictTable *table, const StudyLearned *learned, const PredictColumn *column,
             const double *values, const PredictAnswer *answer)
{
  g_autofree double *observed = g_new (double, table->n_rows);
  g_autofree double *predicted = g_new (double, table->n_rows);
  PredictNoise noise = study_learned_noise (learned, NULL, table->n_rows);
  uint64_t n = 0, n_within = 0;
  PredictScores scores;

  for (uint64_t row = 0; row < table->n_rows; row++) {
    double value = values[row];

    if (!isfinite (value))
      continue;
    observed[n] = value;
    predicted[n++] = answer->predicted[row];
    n_within += answer->lower != NULL && value >= answer->lower[row] && value <= answer->upper[row];
  }
  scores = predict_score (observed, predicted, n);
  cli_printf (stderr,
              "hopcast: %s is known in %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " rows\n",
              column->name, n, table->n_rows);
  for (guint i = 0; i < PREDICT_N_SCORES; i++)
    cli_printf (stderr, "  %-10s  %.6g\n", predict_score_names[i],
                predict_score_value (&scores, (PredictScore) i));
  if (!isnan (noise.noise_rcc))
    cli_printf (stderr, "  %-10s  %.6g\n", "noise_rcc", noise.noise_rcc);
  if (answer->lower != NULL && n > 0)
    cli_printf (stderr, "  %-10s  %.6g\n", "covered", (double) n_within / (double) n);
}

/* Everything that can be refused is refused before the first line is written. */
static gboolean
predict (const char *model_path, const char *path, const Options *options, GError **error)
{
  double level = isnan (options->interval) ? 0 : options->interval;
  g_autoptr (PredictForecaster) model = predict_forecaster_read (model_path, error);
  g_autoptr (PredictTable) table = NULL;
  g_autoptr (CliOutfile) out = NULL;
  g_auto (PredictAnswer) answer = { NULL };
  g_auto (StudyLearned) learned = { 0 };
  const PredictColumn *observed = NULL;
  g_autofree double *relative = NULL;

  if (model == NULL || (!strcmp (path, "-") && !keep_input (error)) ||
      !(out = cli_outfile_new (options->output, error)))
    return FALSE;
  table = cli_learning_table (path, &options->learning, options->talk.quiet,
                              options->observed != NULL ? &learned : NULL, error);
  if (table == NULL ||
      (options->observed != NULL &&
       !(observed = predict_table_numbers (table, options->observed, error))) ||
      !predict_forecaster_apply (model, table, level, (guint) options->threads, &answer, error) ||
      (observed != NULL && model->learned != NULL &&
       !(relative = predict_model_observed (model->learned, table, observed->numbers, error))))
    return FALSE;
  if (!options->talk.quiet && model->learned != NULL) {
    if (model->learned->sets != NULL)
      cli_printf (stderr, "hopcast: note: %s: predicted is %s over its mean in a set of rows\n",
                  model_path, model->learned->target);
    warn_of_outside (table, model->learned, &answer);
    if (level > 0 &&
        isinf (predict_interval_half_width (&model->learned->interval, level, 0, 0, 0)))
      cli_printf (stderr,
                  "hopcast: warning: %" G_GUINT64_FORMAT
                  " samples are too few for an interval of %g: it is unbounded\n",
                  model->learned->interval.all.of, level);
  }
  if (!table_copy (table, path,
                   (const CliNewColumn[]){ { "predicted", answer.predicted },
                                           { answer.lower != NULL ? "lower" : NULL, answer.lower },
                                           { "upper", answer.upper },
                                           { "extrapolates", answer.outside },
                                           { NULL, NULL } },
                   cli_outfile_stream (out), error) ||
      !cli_outfile_commit (out, error))
    return FALSE;
  if (observed != NULL)
    tell_scores (table, &learned, observed, relative != NULL ? relative : observed->numbers,
                 &answer);
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
  g_auto (Options) options = { .learning.learning.without_time = TRUE, .interval = NAN };
  const char *paths[2];

  add_options (context, &options);
  if (!cli_parse (context, argc, argv, names, paths, error))
    return CLI_FAILED;
  if (!isnan (options.interval) && !(options.interval > 0 && options.interval < 1)) {
    cli_refuse (error, "--interval: not between 0 and 1, such as 0.9");
    return CLI_FAILED;
  }
  options.learning.learning.noisy = options.observed;
  if (!cli_check_number ("--threads", options.threads, 0, CLI_MAX_THREADS, error) ||
      !cli_parse_learning (&options.learning, error) ||
      !predict (paths[0], paths[1], &options, error))
    return CLI_FAILED;
  return CLI_DONE;
}
