/* ipc_print.c - what an IPC model has learned, and what it predicts, for people and programs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cli/aggregate/ipc_print.h"

#include "base/csv.h"
#include "cli/print/terminal.h"
#include "predictors/correction/loss.h"

#include <math.h>
#include <string.h>

/* -- a model ------------------------------------------------------------------ */

/* What predicts the programs of a class. */
static const char *
used_of (const PredictIpcPiece *piece, guint class)
{
  return predict_ipc_piece_names[piece->linear != NULL ? class : PREDICT_IPC_ALL];
}

static void
print_model_table (FILE *out, const PredictIpcModel *model)
{
  g_autofree char *samples = g_strjoinv (", ", model->samples);
  g_autofree char *events = g_strjoinv (", ", model->events);

  cli_printf (out, "trained on    %s: %u programs\n", model->source, model->n_programs);
  cli_printf (out, "samples       %s\n", samples);
  cli_printf (out, "events        %s\n", *events != '\0' ? events : "none");
  fprintf (out, "coefficients  %u of each function\n\n", predict_ipc_n_regressors (model));
  cli_print_heading (out, "pattern   class    programs  rank       ridge  left out  predicted by");
  for (guint target = 0; target < model->n_targets; target++)
    for (guint class = 0; class < PREDICT_IPC_N_PIECES; class ++) {
      const PredictIpcPiece *piece = &model->targets[target].pieces[class];

      fprintf (out, "%-8s  %-7s  %8u  ", model->targets[target].pattern,
               predict_ipc_piece_names[class], piece->n_programs);
      if (piece->linear != NULL)
        fprintf (out, "%4u  %10.2g  %6.2f %%", piece->rank, piece->ridge, 100 * piece->error);
      else
        fprintf (out, "%4s  %10s  %8s", "-", "-", "-");
      cli_printf (out, "  %s\n", used_of (piece, class));
    }
}

static void
print_model_csv (FILE *out, const PredictIpcModel *model)
{
  char ridge[BASE_DECIMAL_SIZE], error[BASE_DECIMAL_SIZE];

  fputs ("pattern,class,programs,coefficients,rank,ridge,error,under_determined,predicted_by\n",
         out);
  for (guint target = 0; target < model->n_targets; target++)
    for (guint class = 0; class < PREDICT_IPC_N_PIECES; class ++) {
      const PredictIpcPiece *piece = &model->targets[target].pieces[class];

      base_csv_field (out, model->targets[target].pattern);
      /* The names of classes have commas. */
      fprintf (out, ",\"%s\",%u,%u,%u,%s,%s,%s,\"%s\"\n", predict_ipc_piece_names[class],
               piece->n_programs, predict_ipc_n_regressors (model), piece->rank,
               base_decimal_print (ridge, piece->linear != NULL ? piece->ridge : (double) NAN),
               base_decimal_print (error, piece->error),
               predict_ipc_is_under_determined (model, piece) ? "true" : "false",
               used_of (piece, class));
    }
}

static void
add_names (JsonBuilder *builder, const char *name, char *const *names)
{
  cli_begin_array (builder, name);
  for (; *names != NULL; names++)
    json_builder_add_string_value (builder, *names);
  json_builder_end_array (builder);
}

static void
add_boolean (JsonBuilder *builder, const char *name, gboolean value)
{
  cli_add_boolean (builder, name, value);
}

static void
add_piece (JsonBuilder *builder, const PredictIpcModel *model, const PredictIpcTarget *target,
           guint class)
{
  const PredictIpcPiece *piece = &target->pieces[class];

  json_builder_begin_object (builder);
  cli_add_string (builder, "pattern", target->pattern);
  cli_add_string (builder, "class", predict_ipc_piece_names[class]);
  cli_add_integer (builder, "programs", piece->n_programs);
  cli_add_integer (builder, "rank", piece->rank);
  cli_add_number (builder, "ridge", piece->linear != NULL ? piece->ridge : (double) NAN);
  cli_add_number (builder, "error", piece->error);
  add_boolean (builder, "under_determined", predict_ipc_is_under_determined (model, piece));
  cli_add_string (builder, "predicted_by", used_of (piece, class));
  json_builder_end_object (builder);
}

/* Ends the object that it was begun with. */
static void
print_object (FILE *out, JsonBuilder *builder)
{
  g_autoptr (JsonNode) record = NULL;

  cli_print_object (out, builder);
}

static void
print_model_json (FILE *out, const PredictIpcModel *model)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();

  json_builder_begin_object (builder);
  cli_add_string (builder, "schema", "hopcast.ipc-training/1");
  cli_add_string (builder, "table", model->source);
  cli_add_integer (builder, "programs", model->n_programs);
  add_names (builder, "samples", model->samples);
  add_names (builder, "events", model->events);
  cli_add_integer (builder, "coefficients", predict_ipc_n_regressors (model));
  cli_begin_array (builder, "functions");
  for (guint target = 0; target < model->n_targets; target++)
    for (guint class = 0; class < PREDICT_IPC_N_PIECES; class ++)
      add_piece (builder, model, &model->targets[target], class);
  json_builder_end_array (builder);
  print_object (out, builder);
}

void
cli_ipc_print_model (FILE *out, const PredictIpcModel *model, CliFormat format)
{
  switch (format) {
  case CLI_FORMAT_TABLE: print_model_table (out, model); break;
  case CLI_FORMAT_CSV: print_model_csv (out, model); break;
  case CLI_FORMAT_JSON: print_model_json (out, model); break;
  }
}

/* -- warnings ------------------------------------------------------------------ */

/* Of the class in all patterns that as many programs have as target `first`, which is the first of
 * them. */
static void
warn_of_class (const PredictIpcModel *model, guint first, guint class)
{
  const PredictIpcPiece *piece = &model->targets[first].pieces[class];
  g_autoptr (GString) patterns = g_string_new (NULL);
  guint n = 0;

  for (guint target = 0; target < model->n_targets; target++) {
    if (model->targets[target].pieces[class].n_programs != piece->n_programs)
      continue;
    if (target < first)
      return;
    g_string_append_printf (patterns, "%s %s", n++ > 0 ? "," : "", model->targets[target].pattern);
  }
  cli_printf (stderr,
              "hopcast: warning: %s: pattern%s%s, class %s: under-determined, %u program%s for %u "
              "coefficients%s\n",
              model->source, n == 1 ? "" : "s", patterns->str, predict_ipc_piece_names[class],
              piece->n_programs, piece->n_programs == 1 ? "" : "s",
              predict_ipc_n_regressors (model),
              piece->linear == NULL ? "; predicted by what all programs say" : "");
}

void
cli_ipc_warn (const PredictIpcModel *model)
{
  for (guint class = 0; class < PREDICT_IPC_N_PIECES; class ++)
    for (guint target = 0; target < model->n_targets; target++)
      if (predict_ipc_is_under_determined (model, &model->targets[target].pieces[class]))
        warn_of_class (model, target, class);
}

/* -- predictions ----------------------------------------------------------------- */

typedef struct {
  const char *program, *pattern;
  double predicted, observed;
  double error; /* of the observed, a share; NaN: not known */
} Line;

static gsize
count_lines (const PredictIpcModel *model, const PredictIpcAnswer *answer)
{
  return (gsize) answer->phases->n_programs * model->n_targets;
}

static Line
line_at (const PredictIpcModel *model, const PredictIpcAnswer *answer, gsize at)
{
  double predicted = answer->predicted[at], observed = answer->observed[at];

  return (Line){ answer->phases->programs[at / model->n_targets],
                 model->targets[at % model->n_targets].pattern, predicted, observed,
                 predicted / observed - 1 };
}

static PredictRelativeErrors
errors_of (const PredictIpcModel *model, const PredictIpcAnswer *answer)
{
  return predict_relative_errors (answer->observed, answer->predicted, count_lines (model, answer));
}

static void
print_answer_table (FILE *out, const PredictIpcModel *model, const PredictIpcAnswer *answer)
{
  PredictRelativeErrors errors = errors_of (model, answer);
  int width = 7;

  for (guint program = 0; program < answer->phases->n_programs; program++)
    width = MAX (width, (int) g_utf8_strlen (answer->phases->programs[program], -1));
  fprintf (out, "%-*s  %-8s  %9s", width, "program", "pattern", "predicted");
  fputs (errors.n > 0 ? "   observed      error\n" : "\n", out);
  for (gsize at = 0; at < count_lines (model, answer); at++) {
    Line line = line_at (model, answer, at);

    cli_printf (out, "%s%*s  %-8s  %9.4f", line.program,
                width - (int) g_utf8_strlen (line.program, -1), "", line.pattern, line.predicted);
    if (!isnan (line.observed))
      fprintf (out, "  %9.4f  %+7.3f %%", line.observed, 100 * line.error);
    fputc ('\n', out);
  }
}

static void
print_answer_csv (FILE *out, const PredictIpcModel *model, const PredictIpcAnswer *answer)
{
  gboolean is_known = errors_of (model, answer).n > 0;
  char predicted[BASE_DECIMAL_SIZE], observed[BASE_DECIMAL_SIZE], error[BASE_DECIMAL_SIZE];

  fprintf (out, "program,pattern,ipc_predicted%s\n", is_known ? ",ipc_observed,error" : "");
  for (gsize at = 0; at < count_lines (model, answer); at++) {
    Line line = line_at (model, answer, at);

    base_csv_field (out, line.program);
    fputc (',', out);
    base_csv_field (out, line.pattern);
    fprintf (out, ",%s", base_decimal_print (predicted, line.predicted));
    if (is_known)
      fprintf (out, ",%s,%s", base_decimal_print (observed, line.observed),
               base_decimal_print (error, line.error));
    fputc ('\n', out);
  }
}

static void
add_errors (JsonBuilder *builder, const PredictRelativeErrors *errors)
{
  cli_begin_object (builder, "errors");
  cli_add_integer (builder, "n", errors->n);
  cli_add_number (builder, "mean", errors->mean);
  cli_add_number (builder, "sd", errors->sd);
  cli_add_number (builder, "max", errors->max);
  json_builder_end_object (builder);
}

static void
print_answer_json (FILE *out, const PredictIpcModel *model, const PredictIpcAnswer *answer,
                   const char *source)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  PredictRelativeErrors errors = errors_of (model, answer);

  json_builder_begin_object (builder);
  cli_add_string (builder, "schema", "hopcast.ipc-prediction/1");
  cli_add_string (builder, "table", source);
  cli_add_integer (builder, "programs", answer->phases->n_programs);
  cli_add_integer (builder, "outside", answer->n_outside);
  add_errors (builder, &errors);
  cli_begin_array (builder, "predictions");
  for (gsize at = 0; at < count_lines (model, answer); at++) {
    Line line = line_at (model, answer, at);

    json_builder_begin_object (builder);
    cli_add_string (builder, "program", line.program);
    cli_add_string (builder, "pattern", line.pattern);
    cli_add_number (builder, "ipc_predicted", line.predicted);
    cli_add_number (builder, "ipc_observed", line.observed);
    cli_add_number (builder, "error", line.error);
    json_builder_end_object (builder);
  }
  json_builder_end_array (builder);
  print_object (out, builder);
}

void
cli_ipc_print_answer (FILE *out, const PredictIpcModel *model, const PredictIpcAnswer *answer,
                      const char *source, CliFormat format)
{
  switch (format) {
  case CLI_FORMAT_TABLE: print_answer_table (out, model, answer); break;
  case CLI_FORMAT_CSV: print_answer_csv (out, model, answer); break;
  case CLI_FORMAT_JSON: print_answer_json (out, model, answer, source); break;
  }
}

void
cli_ipc_tell_errors (const PredictIpcModel *model, const PredictIpcAnswer *answer)
{
  PredictRelativeErrors errors = errors_of (model, answer);

  if (errors.n > 0)
    cli_printf (
        stderr,
        "hopcast: %" G_GUINT64_FORMAT " of %" G_GSIZE_FORMAT
        " predictions are known: mean error %.3f %%, standard deviation %.3f %%, largest %.3f %%\n",
        errors.n, count_lines (model, answer), 100 * errors.mean,
        100 * (isnan (errors.sd) ? 0 : errors.sd), 100 * errors.max);
}
