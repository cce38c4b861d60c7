/* predict.c - `hopcast predict`: a table with the predictions of a model.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

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

/* Where standard input began: it may be a file that somebody has read a part of. */
static off_t input_start;

static void
set_input_error (GError **error)
{
  g_set_error (error, CLI_ERROR, CLI_ERROR_INPUT, "standard input: %s", g_strerror (errno));
}

/* Everything there is to read, to `file`. */
static gboolean
put_aside (FILE *file)
{
  g_autofree char *buffer = g_malloc (BUFFER_BYTES);
  ssize_t n;

  while ((n = read (STDIN_FILENO, buffer, BUFFER_BYTES)) != 0) {
    if (n < 0 && errno != EINTR)
      return FALSE;
    if (n > 0 && fwrite (buffer, 1, (size_t) n, file) != (size_t) n)
      return FALSE;
  }
  return fflush (file) == 0;
}

/* Makes standard input readable twice: what is no file is put aside in one.  To be called before
 * it is read for the first time. */
static gboolean
keep_input (GError **error)
{
  FILE *file;
  gboolean kept;

  input_start = lseek (STDIN_FILENO, 0, SEEK_CUR);
  if (input_start >= 0)
    return TRUE;
  input_start = 0;
  file = tmpfile ();
  kept = file != NULL && put_aside (file) && dup2 (fileno (file), STDIN_FILENO) >= 0 &&
         lseek (STDIN_FILENO, 0, SEEK_SET) == 0;
  if (!kept)
    set_input_error (error);
  if (file != NULL)
    fclose (file);
  return kept;
}

/* -- out of a file ------------------------------------------------------------- */

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
  if (reader->file == NULL) {
    g_set_error (error, CLI_ERROR, CLI_ERROR_INPUT, "%s: %s", path, g_strerror (errno));
    return FALSE;
  }
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

/* Within quotes a quote is doubled: it is open after an odd number of them. */
static gboolean
is_open (const char *text)
{
  gboolean open = FALSE;

  for (text = strchr (text, '"'); text != NULL; text = strchr (text + 1, '"'))
    open = !open;
  return open;
}

static gboolean
next_record (Reader *reader)
{
  g_string_truncate (reader->text, 0);
  reader->line = reader->n_lines + 1;
  if (!add_line (reader))
    return FALSE;
  while (is_open (reader->text->str) && add_line (reader))
    ;
  while (reader->text->len > 0 && strchr ("\r\n", reader->text->str[reader->text->len - 1]) != NULL)
    g_string_truncate (reader->text, reader->text->len - 1);
  return TRUE;
}

/* A byte order mark alone is an empty line too. */
static gboolean
is_empty (const GString *text)
{
  return text->len == 0 || strcmp (text->str, BOM) == 0;
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
    if (!has_header && !is_empty (reader.text)) {
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
  g_set_error (error, CLI_ERROR, CLI_ERROR_INPUT, "%s: has changed while it was read",
               table->source);
  return FALSE;
}

/* -- out of no file -------------------------------------------------------------- */

static void
copy_cells (const PredictTable *table, const CliNewColumn *columns, FILE *out)
{
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
}

/* CSV: the lines of the file at `path` ("-": standard input, see above) that `table` was read from,
 * to the letter, each with its numbers of `columns` (ended by a NULL name) behind it; the cells of a
 * table that is in no file.  Empty lines are dropped.  FALSE and *error: a name that the table has,
 * a file that has changed since.  Errors of `out` are for its owner to find. */
static gboolean
table_copy (const PredictTable *table, const char *path, const CliNewColumn *columns, FILE *out,
            GError **error)
{
  for (const CliNewColumn *column = columns; column->name != NULL; column++)
    if (predict_table_find (table, column->name) != NULL) {
      g_set_error (error, CLI_ERROR, CLI_ERROR_INPUT, "%s: has a column '%s' already",
                   table->source, column->name);
      return FALSE;
    }
  if (table->lines != NULL)
    return copy_file (table, path, columns, out, error);
  copy_cells (table, columns, out);
  return TRUE;
}

/* --- `hopcast predict`: what a model says about the rows of a table --- */

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

  return table_copy (table, path, columns, cli_outfile_stream (out), error) &&
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

  if (model == NULL || (!strcmp (path, "-") && !keep_input (error)) ||
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
