/* correct.c - `hopcast correct`: corrects a performance model by measured times.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/decimal.h"
#include "cli/command.h"
#include "cli/learn/learning_options.h"
#include "cli/options.h"
#include "cli/print/outfile.h"
#include "cli/print/output.h"
#include "cli/print/progress.h"
#include "cli/print/terminal.h"
#include "predictors/correction/nested.h"
#include "predictors/formula/base_model.h"
#include "predictors/scoring/feature_sets.h"
#include "predictors/table/table.h"

#include <math.h>
#include <string.h>

/* --- Points and the model --- */

typedef struct {
  PredictTable *table;                /* a row per point */
  double *observed;                   /* [n_rows] s */
  const double **columns;             /* [variables] of a model, after points_bind() */
  const double *parts[SIM_N_CLASSES]; /* of the simulated time, borrowed; first NULL: not known */
} Points;

static void
points_clear (Points *points)
{
  predict_table_free (points->table);
  g_free (points->observed);
  g_free (points->columns);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Points, points_clear)

/* From a CSV file with the measured column `observed`.  runs NULL: all other columns are in that
 * file too; otherwise the file identifies the measured ones of the runs (cli_learning_table()). */
static gboolean
points_read (Points *points, const char *path, const char *observed, const PredictTable *runs,
             GError **error)
{
  g_autoptr (PredictTable) file = predict_table_read (path, error);
  const double *times = file ? predict_table_finite (file, observed, error) : NULL;

  if (times == NULL)
    return FALSE;
  points->observed = g_memdup2 (times, file->n_rows * sizeof *times);
  points->table =
      runs ? study_measured_rows (runs, file, observed, error) : g_steal_pointer (&file);
  return points->table != NULL;
}

/* Finds the columns of the model's variables; FALSE and *error also where the model has no value. */
static gboolean
points_bind (Points *points, const PredictBaseModel *model, GError **error)
{
  g_autofree double *times = NULL;

  points->columns = predict_base_model_columns (model, points->table, error);
  times = points->columns ? predict_base_model_times (model, points->table, error) : NULL;
  return times != NULL;
}

/* --- The parts of a simulated time, each of which gets a factor --- */

static const char *const part_meanings[SIM_N_CLASSES] = {
  [SIM_CLASS_COMPUTE] = "computation",
  [SIM_CLASS_SOFTWARE] = "work of the MPI library",
  [SIM_CLASS_LATENCY] = "latency of an idle network",
  [SIM_CLASS_BANDWIDTH] = "bytes on an idle network",
  [SIM_CLASS_QUEUEING] = "waiting for other messages in the network",
};

/* FALSE: not known of all points, as of runs of an older version and of traces that are graphs. */
static gboolean
points_find_parts (Points *points)
{
  gboolean known = TRUE;

  for (guint part = 0; part < SIM_N_CLASSES && known; part++) {
    const PredictColumn *column =
        predict_table_numbers (points->table, study_path_fields[part], NULL);

    known = column != NULL;
    points->parts[part] = known ? column->numbers : NULL;
    for (uint64_t point = 0; known && point < points->table->n_rows; point++)
      known = points->parts[part][point] >= 0 && isfinite (points->parts[part][point]);
  }
  if (!known)
    points->parts[0] = NULL;
  return known;
}

/* What a factor says.  The caller frees. */
static char *
factor_text (const PredictFactors *factors, guint part)
{
  double factor = factors->factors[part];

  if (!factors->known[part])
    return g_strdup_printf ("%s: no run has any", part_meanings[part]);
  if (isinf (factors->upper[part]))
    return g_strdup_printf ("%s: times %.3g, which these runs do not determine",
                            part_meanings[part], factor);
  return g_strdup_printf ("%s: times %.3g [%.3g, %.3g], %s", part_meanings[part], factor,
                          factors->lower[part], factors->upper[part],
                          factors->lower[part] > 1   ? "longer than simulated"
                          : factors->upper[part] < 1 ? "shorter than simulated"
                                                     : "as simulated, as far as these runs tell");
}

/* The simulator as a model: time_s of a run with a scale and an offset to be fitted.  The offset has
 * either sign: the trace lacks something, or the simulator counts something twice. */
static PredictBaseModel *
simulator_model (const Points *points)
{
  double largest = 0;
  g_autofree char *bound = NULL, *text = NULL;

  for (uint64_t point = 0; point < points->table->n_rows; point++)
    largest = MAX (largest, fabs (points->observed[point]));
  bound = predict_number_text (largest > 0 ? largest : 1);
  text = g_strdup_printf ("variable time_s\n"
                          "parameter scale 1 [0.01, 100] log\n"
                          "parameter offset 0 [-%s, %s]\n"
                          "time = scale*time_s + offset\n",
                          bound, bound);
  return predict_base_model_parse (text, "simulator", NULL);
}

/* text: "VARIABLE=LOW:HIGH". */
static gboolean
extend_by_option (const PredictBaseModel *model, const char *text, PredictRange *box,
                  GError **error)
{
  const char *equals = strchr (text, '=');
  g_autofree char *name = equals ? g_strndup (text, (gsize) (equals - text)) : NULL;
  char *colon = NULL, *end = NULL;
  double low = equals ? g_ascii_strtod (equals + 1, &colon) : (double) NAN;
  double high = colon && colon > equals + 1 && *colon == ':' ? g_ascii_strtod (colon + 1, &end)
                                                             : (double) NAN;

  if (!(low <= high) || !isfinite (low) || !isfinite (high) || end == colon + 1 || *end != '\0')
    return cli_refuse (error, "--predict-range: \"%s\" is not VARIABLE=LOW:HIGH", text);
  for (uint32_t at = 0; at < model->n_variables; at++)
    if (!strcmp (name, model->names.variables[at])) {
      box[at].low = MIN (box[at].low, low);
      box[at].high = MAX (box[at].high, high);
      return TRUE;
    }
  return cli_refuse (error, "--predict-range: %s has no variable \"%s\"", model->source, name);
}

/* Where the corrected model will be used: at the points, and in `ranges` (NULL-terminated; NULL:
 * none).  [variables], the caller frees; NULL and *error. */
static PredictRange *
points_box (const PredictCorrectionData *data, char **ranges, GError **error)
{
  const PredictBaseModel *model = data->model;
  const PredictPoints *const sets[] = { &data->train, &data->test };
  g_autofree PredictRange *box = g_new (PredictRange, model->n_variables + 1);

  for (uint32_t at = 0; at < model->n_variables; at++) {
    box[at] = predict_range (INFINITY, -INFINITY);
    for (gsize set = 0; set < G_N_ELEMENTS (sets); set++)
      for (uint64_t point = 0; point < sets[set]->n; point++) {
        box[at].low = MIN (box[at].low, sets[set]->columns[at][point]);
        box[at].high = MAX (box[at].high, sets[set]->columns[at][point]);
      }
  }
  for (char **range = ranges; range != NULL && *range != NULL; range++)
    if (!extend_by_option (model, *range, box, error))
      return NULL;
  return g_steal_pointer (&box);
}

/* --- Printing --- */

static const char *const mode_names[] = { "best", "paper", NULL };

static const char *const verdicts[] = {
  [PREDICT_TAKE_TERM] = "take the term",
  [PREDICT_TAKE_REFITTED] = "take the refitted model",
  [PREDICT_TAKE_FACTORS] = "take the factors",
  [PREDICT_TAKE_NEITHER] = "take neither",
};

/* All borrowed. */
typedef struct {
  const PredictCorrectionData *data;
  const PredictCorrectionSettings *settings;
  const PredictCorrection *correction;
  const PredictCorrectionTrial *best;  /* NULL: no trial found a term */
  const PredictComparison *comparison; /* NULL: nothing was left out */
  double level;                        /* of intervals */
} Correction;

/* An undefined error is null. */
static void
add_error (JsonBuilder *builder, const char *name, double value)
{
  cli_add_number (builder, name, isfinite (value) ? value : (double) NAN);
}

static void
add_errors (JsonBuilder *builder, const char *name, const PredictErrors *errors)
{
  cli_begin_object (builder, name);
  add_error (builder, "log_rmse", errors->log_rmse);
  add_error (builder, "rmse", errors->rmse);
  add_error (builder, "mape", errors->mape);
  json_builder_end_object (builder);
}

static void
add_model (JsonBuilder *builder, const char *name, const PredictErrors *train,
           const PredictErrors *test)
{
  cli_begin_object (builder, name);
  add_errors (builder, "train", train);
  add_errors (builder, "test", test);
  json_builder_end_object (builder);
}

static void
add_parameters (JsonBuilder *builder, const char *name, const PredictBaseModel *model,
                const double *values)
{
  cli_begin_object (builder, name);
  for (uint32_t at = 0; at < model->n_parameters; at++)
    cli_add_number (builder, model->parameters[at].name, values[at]);
  json_builder_end_object (builder);
}

static char *
brief_text (const PredictBaseModel *model, const PredictExpression *brief)
{
  g_autofree char *base_name = predict_correction_base_name (model);
  g_autofree const char **variables = g_new0 (const char *, model->n_variables + 2);

  for (uint32_t at = 0; at < model->n_variables; at++)
    variables[at] = model->names.variables[at];
  variables[model->n_variables] = base_name;
  return predict_expression_text (brief, &(PredictNames){ .variables = variables });
}

/* The names of the parameters that ended at a bound. */
static void
add_at_bounds (JsonBuilder *builder, const char *name, const PredictBaseModel *model,
               const double *values)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();

  for (uint32_t at = 0; at < model->n_parameters; at++)
    if (predict_parameter_at_bound (&model->parameters[at], values[at]))
      g_ptr_array_add (names, model->parameters[at].name);
  cli_add_strings (builder, name, names);
}

static void
add_trial (JsonBuilder *builder, const PredictBaseModel *model, const PredictCorrectionTrial *trial)
{
  g_autofree char *brief = trial->brief ? brief_text (model, trial->brief) : NULL;

  json_builder_begin_object (builder);
  cli_add_boolean (builder, "converged", trial->converged);
  cli_add_boolean (builder, "better", trial->better);
  cli_add_string (builder, "term", brief);
  if (trial->brief != NULL) {
    add_parameters (builder, "parameters", model, trial->parameters);
    add_error (builder, "cross_validation", trial->folds_loss);
    add_error (builder, "description", trial->description);
    add_errors (builder, "train", &trial->train);
    add_errors (builder, "test", &trial->test);
  }
  json_builder_end_object (builder);
}

static void
add_factors (JsonBuilder *builder, const PredictFactors *factors)
{
  g_autoptr (GPtrArray) texts = g_ptr_array_new_with_free_func (g_free);

  cli_begin_object (builder, "factors");
  for (guint part = 0; part < factors->n; part++) {
    cli_begin_object (builder, sim_class_names[part]);
    cli_add_number (builder, "factor",
                    factors->known[part] ? factors->factors[part] : (double) NAN);
    add_error (builder, "lower",
               isinf (factors->upper[part]) ? (double) NAN : factors->lower[part]);
    add_error (builder, "upper", factors->upper[part]);
    json_builder_end_object (builder);
    g_ptr_array_add (texts, factor_text (factors, part));
  }
  json_builder_end_object (builder);
  cli_add_strings (builder, "factors_meaning", texts);
}

/* The half-width of an interval, as a factor of the time or in seconds; undefined: too few points. */
static void
add_margin (JsonBuilder *builder, const char *name, PredictMargin margin)
{
  g_autofree char *key = g_strdup_printf ("%s_%s", name, margin.logarithms ? "factor" : "seconds");

  add_error (builder, key, margin.logarithms ? exp (margin.margin) : margin.margin);
}

/* The share of the test points within their interval. */
static double
covered (const Correction *shown, PredictMargin margin)
{
  const PredictCandidate *chosen = &shown->comparison->candidates[shown->comparison->chosen];
  const PredictCorrectionData *data = shown->data;
  uint64_t n_covered = 0;

  for (uint64_t point = 0; point < data->test.n; point++) {
    double lower, upper, observed = data->test_observed[point];

    predict_margin_ends (margin, chosen->test_times[point], &lower, &upper);
    n_covered += lower <= observed && observed <= upper;
  }
  return data->test.n > 0 ? (double) n_covered / (double) data->test.n : (double) NAN;
}

/* How far a new time may be from the choice's and from the corrected model's. */
static void
add_intervals (JsonBuilder *builder, const Correction *shown)
{
  const PredictComparison *comparison = shown->comparison;
  guint number = PREDICT_CANDIDATE_CASES + shown->settings->number - 1;
  PredictMargin margin =
      predict_comparison_margin (comparison, comparison->chosen, shown->data, shown->level);

  cli_begin_object (builder, "interval");
  cli_add_number (builder, "level", shown->level);
  add_margin (builder, "chosen", margin);
  add_margin (builder, "corrected",
              predict_comparison_margin (comparison, number, shown->data, shown->level));
  if (shown->data->test.n > 0)
    cli_add_number (builder, "test_coverage", covered (shown, margin));
  json_builder_end_object (builder);
}

/* Losses at points left out of the whole procedure, and where there are test points the errors there. */
static void
add_comparison (JsonBuilder *builder, const Correction *shown)
{
  const PredictComparison *comparison = shown->comparison;
  bool has_test = shown->data->test.n > 0;

  for (guint test = 0; test < (has_test ? 2 : 1); test++) {
    cli_begin_object (builder, test ? "nested_test_log_rmse" : "nested");
    for (guint at = 0; at < PREDICT_N_CANDIDATES; at++) {
      const PredictCandidate *candidate = &comparison->candidates[at];

      if (candidate->left_out != NULL)
        add_error (builder, predict_candidate_names[at],
                   test ? candidate->test.log_rmse : candidate->nested);
    }
    if (!test)
      cli_add_integer (builder, "folds", comparison->n_folds);
    json_builder_end_object (builder);
  }
  cli_begin_object (builder, "blend_weights");
  for (guint at = PREDICT_CANDIDATE_REFITTED; at < PREDICT_CANDIDATE_BLEND; at++)
    if (comparison->candidates[at].left_out != NULL)
      cli_add_number (builder, predict_candidate_names[at], comparison->weights[at]);
  json_builder_end_object (builder);
  cli_add_string (builder, "chosen", predict_candidate_names[comparison->chosen]);
  add_error (builder, "chosen_nested", comparison->chosen_nested);
  add_intervals (builder, shown);
  if (comparison->factors.n > 0)
    add_factors (builder, &comparison->factors);
}

/* Errors before and after, the formula (infix, LaTeX, C), parameters, the count of better trials; in
 * JSON each trial as well.  The verdict is last, where a reader looks first. */
static void
correction_print (FILE *out, const Correction *shown, CliFormat format)
{
  const PredictCorrection *correction = shown->correction;
  const PredictBaseModel *model = shown->data->model;
  const PredictCorrectionTrial *best = shown->best;
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  g_autoptr (JsonNode) record = NULL;

  json_builder_begin_object (builder);
  cli_add_schema (builder, "hopcast.correction/1", format);
  cli_add_string (builder, "model", model->source);
  cli_add_string (builder, "mode", mode_names[shown->settings->mode]);
  cli_add_integer (builder, "case", shown->settings->number);
  cli_add_string (builder, "loss", predict_loss_names[shown->settings->loss]);
  add_model (builder, "base", &correction->base_train, &correction->base_test);
  add_model (builder, "refitted", &correction->refitted_train, &correction->refitted_test);
  add_parameters (builder, "refitted_parameters", model, correction->refitted);
  if (best != NULL) {
    g_autofree char *brief = brief_text (model, best->brief);
    g_autofree char *whole = predict_expression_text (best->time, &model->names);
    g_autofree char *latex = predict_expression_latex (best->time, &model->names);
    g_autofree char *c =
        predict_expression_c (best->time, &model->names, best->parameters, "corrected_time");

    add_model (builder, "corrected", &best->train, &best->test);
    cli_add_string (builder, "term", brief);
    cli_add_string (builder, "expression", whole);
    add_parameters (builder, "parameters", model, best->parameters);
    cli_add_string (builder, "latex", latex);
    cli_add_string (builder, "c", c);
  }
  cli_begin_object (builder, "trials");
  cli_add_integer (builder, "made", correction->n_trials);
  cli_add_integer (builder, "converged", correction->n_converged);
  cli_add_integer (builder, "better", correction->n_better);
  cli_add_number (builder, "share_better",
                  correction->n_converged == 0
                      ? (double) NAN
                      : (double) correction->n_better / correction->n_converged);
  if (format == CLI_FORMAT_JSON) {
    cli_begin_array (builder, "each");
    for (guint at = 0; at < correction->n_trials; at++)
      add_trial (builder, model, &correction->trials[at]);
    json_builder_end_array (builder);
  }
  json_builder_end_object (builder);
  add_at_bounds (builder, "refitted_at_bounds", model, correction->refitted);
  if (best != NULL)
    add_at_bounds (builder, "at_bounds", model, best->parameters);
  cli_begin_object (builder, "left_out");
  add_error (builder, "base", correction->base_folds);
  add_error (builder, "refitted", correction->refitted_folds);
  add_error (builder, "corrected", correction->corrected_folds);
  json_builder_end_object (builder);
  if (shown->comparison != NULL)
    add_comparison (builder, shown);
  cli_add_string (builder, "verdict", verdicts[correction->verdict]);
  cli_add_string (builder, "reason", correction->reason);
  json_builder_end_object (builder);
  record = json_builder_get_root (builder);
  cli_print_record (out, record, format);
}

/* CSV: set, point, observed, original, corrected (empty when there is no corrected model), and of a
 * comparison the time of the chosen candidate with its interval (empty: too few points): at points to
 * learn from the one with the point left out. */
static void
print_points (FILE *out, bool test, const Correction *shown)
{
  const PredictPoints *points = test ? &shown->data->test : &shown->data->train;
  const double *observed = test ? shown->data->test_observed : shown->data->train_observed;
  const PredictComparison *comparison = shown->comparison;
  const PredictCandidate *chosen = comparison ? &comparison->candidates[comparison->chosen] : NULL;
  const PredictBaseModel *model = shown->data->model;
  const PredictCorrectionTrial *best = shown->best;
  g_autoptr (PredictWorkspace) workspace = predict_workspace_new ();
  g_autofree double *given = predict_base_model_values (model);
  g_autofree double *original = g_new (double, points->n + 1);
  g_autofree double *corrected = g_new (double, points->n + 1);
  char a[BASE_DECIMAL_SIZE], b[BASE_DECIMAL_SIZE], c[BASE_DECIMAL_SIZE];
  PredictMargin margin = { false, INFINITY };

  if (points->n == 0)
    return;
  if (chosen != NULL)
    margin = predict_comparison_margin (comparison, comparison->chosen, shown->data, shown->level);
  predict_values (model->time, points, given, workspace, original);
  if (best != NULL)
    predict_values (best->time, points, best->parameters, workspace, corrected);
  for (uint64_t point = 0; point < points->n; point++) {
    fprintf (out, "%s,%" G_GUINT64_FORMAT ",%s,%s,%s", test ? "test" : "train", point + 1,
             base_decimal_print (a, observed[point]), base_decimal_print (b, original[point]),
             best && isfinite (corrected[point]) ? base_decimal_print (c, corrected[point]) : "");
    if (chosen != NULL) {
      double lower, upper, time_s = test ? chosen->test_times[point] : chosen->left_out[point];

      predict_margin_ends (margin, time_s, &lower, &upper);
      fprintf (out, ",%s,%s,%s", isfinite (time_s) ? base_decimal_print (a, time_s) : "",
               isfinite (lower) && isfinite (upper) ? base_decimal_print (b, lower) : "",
               isfinite (lower) && isfinite (upper) ? base_decimal_print (c, upper) : "");
    }
    fputc ('\n', out);
  }
}

/* --- Options --- */

/* Folds that depend on the number of points: few points lose too much with a fifth of them. */
#define FOLDS_BY_POINTS UINT_MAX
#define FEW_POINTS      40u
#define FOLDS_OF_FEW    10u
#define FOLDS_OF_MANY   5u

typedef struct {
  CliFormatOptions format;
  CliTalkOptions talk;
  CliLearningOptions learning;
  char *model, *observed, *from, *measured, *features, *test, *mode, *loss, *functions, *output;
  char *points, *refitted, *chosen;
  char **ranges;
  int number, n_trials, n_threads, population, generations, n_folds;
  guint folds; /* after check_options(); 0: nothing is left out; FOLDS_BY_POINTS */
  gboolean anyway, compare;
  double level; /* of intervals */
  gint64 seed;
  PredictOp *ops; /* of `functions`, after check_options() */
} Options;

static void
options_clear (Options *options)
{
  cli_format_options_clear (&options->format);
  cli_learning_options_clear (&options->learning);
  g_free (options->model);
  g_free (options->observed);
  g_free (options->from);
  g_free (options->measured);
  g_free (options->features);
  g_free (options->test);
  g_free (options->mode);
  g_free (options->loss);
  g_free (options->functions);
  g_free (options->output);
  g_free (options->points);
  g_free (options->refitted);
  g_free (options->chosen);
  g_free (options->ops);
  g_strfreev (options->ranges);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

static void
add_options (GOptionContext *context, Options *options)
{
  const GOptionEntry entries[] = {
    { "model", 0, 0, G_OPTION_ARG_FILENAME, &options->model,
      "The performance model: variables, parameters with bounds, time = FORMULA (default with "
      "--from: the simulated time)",
      "FILE" },
    { "observed", 0, 0, G_OPTION_ARG_STRING, &options->observed,
      "The measured times, in s (default with --from: measured_s)", "COLUMN" },
    { "from", 0, 0, G_OPTION_ARG_FILENAME, &options->from,
      "Instead of TRAIN: a store, some of whose runs were also measured", "STORE" },
    { "measured", 0, 0, G_OPTION_ARG_FILENAME, &options->measured,
      "With --from: a table of which runs were measured (trace, machine, mapping, ...) and their "
      "times",
      "TABLE" },
    { "features", 0, 0, G_OPTION_ARG_STRING, &options->features,
      "Columns that the term may also name, and sets of them such as H3", "A,B,..." },
    { "test", 0, 0, G_OPTION_ARG_FILENAME, &options->test,
      "Points that are only predicted: a table with the same columns", "TABLE" },
    { "mode", 0, 0, G_OPTION_ARG_STRING, &options->mode,
      "best (default; least squares on every number, short formulas, no poles) or paper", "MODE" },
    { "case", 0, 0, G_OPTION_ARG_INT, &options->number,
      "The term takes the model's time (1, 3) or is added to it (2, 4); parameters stay (1, 2) or "
      "are searched (3, 4; default: 4)",
      "N" },
    { "loss", 0, 0, G_OPTION_ARG_STRING, &options->loss,
      "What is made small: rmse, mre, logrmse or mape (default: logrmse; paper: rmse)", "NAME" },
    { "functions", 0, 0, G_OPTION_ARG_STRING, &options->functions,
      "What terms are made of, with commas: + - * / ^ min max log log2 exp sqrt sin cos abs ceil "
      "floor (default: +,-,*,/,*,^,log,exp,sqrt,max; paper: +,-,*,/,^,log,exp)",
      "LIST" },
    { "predict-range", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options->ranges,
      "Where the mended model will be used, besides where the points are, such as np=1:1024: no "
      "formula that may be undefined there; may be given again",
      "VARIABLE=LOW:HIGH" },
    { "trials", 0, 0, G_OPTION_ARG_INT, &options->n_trials,
      "How often all is done anew (default: 10; paper: 30)", "N" },
    { "population", 0, 0, G_OPTION_ARG_INT, &options->population,
      "Formulas in a generation (default: 300; paper: 3000)", "N" },
    { "generations", 0, 0, G_OPTION_ARG_INT, &options->generations,
      "How many follow the first (default: 40; paper: 100)", "N" },
    { "nested", 0, 0, G_OPTION_ARG_INT, &options->n_folds,
      "The folds of points that are left out of the whole search, each in turn, to tell its error (default: 5, or 10 of "
      "up to 40 points; 0: none, which is two to four times faster)",
      "N" },
    { "compare", 0, 0, G_OPTION_ARG_NONE, &options->compare,
      "Also the errors, so found, of all four cases", NULL },
    { "interval", 0, 0, G_OPTION_ARG_DOUBLE, &options->level,
      "The share of new times that are to be in the intervals of the chosen model, by the errors at "
      "points left out (default: 0.9)",
      "P" },
    { "seed", 0, 0, G_OPTION_ARG_INT64, &options->seed, "Of all that is random (default: 1)", "N" },
    { "threads", 0, 0, G_OPTION_ARG_INT, &options->n_threads,
      "Trials at a time (default: all processors); the result is the same", "N" },
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options->output,
      "Write the mended model as a model file, if the verdict is to take the term or the factors",
      "FILE" },
    { "anyway", 0, 0, G_OPTION_ARG_NONE, &options->anyway,
      "With -o: the model with the term, whatever the verdict is", NULL },
    { "refitted", 0, 0, G_OPTION_ARG_FILENAME, &options->refitted,
      "Write the model with its parameters fitted, without a term", "FILE" },
    { "chosen", 0, 0, G_OPTION_ARG_FILENAME, &options->chosen,
      "Write what is chosen by errors at points left out, a surface or a blend too, as a model file",
      "FILE" },
    { "points", 0, 0, G_OPTION_ARG_FILENAME, &options->points,
      "Write every point with its times: observed, of the model, of the mended model (CSV)",
      "FILE" },
    { NULL },
  };

  g_option_context_add_main_entries (context, entries, NULL);
  cli_add_learning_options (context, &options->learning);
  cli_add_format_options (context, &options->format);
  cli_add_quiet_option (context, &options->talk);
}

/* given G_MININT: the option was not given. */
static gboolean
parse_count (const char *option, int given, int least, int most, guint *count, GError **error)
{
  if (given != G_MININT)
    *count = (guint) given;
  return cli_check_number (option, given, least, most, error);
}

/* Names of functions, separated by commas; a repeated one is drawn more often.  The caller frees. */
static PredictOp *
parse_functions (const char *list, guint *n, GError **error)
{
  g_auto (GStrv) names = g_strsplit (list, ",", -1);
  g_autofree PredictOp *functions = g_new (PredictOp, g_strv_length (names) + 1);

  for (*n = 0; names[*n] != NULL; (*n)++) {
    PredictOp op = PREDICT_OP_ADD;

    while (op < PREDICT_N_OPS && strcmp (g_strstrip (names[*n]), predict_ops[op].name) != 0)
      op++;
    if (op == PREDICT_N_OPS) {
      cli_refuse (error, "--functions: \"%s\" is not a function", names[*n]);
      return NULL;
    }
    functions[*n] = op;
  }
  if (*n == 0)
    cli_refuse (error, "--functions: the list is empty");
  return *n > 0 ? g_steal_pointer (&functions) : NULL;
}

/* Checks the options; the settings borrow options->ops. */
static gboolean
check_options (Options *options, const char *train, PredictCorrectionSettings *settings,
               GError **error)
{
  int mode, loss;

  /* The points: a table, or a store and a table. */
  if (options->from != NULL) {
    if (train != NULL)
      return cli_refuse (
          error, "TRAIN and --from STORE exclude each other; measured times go to --measured");
    if (options->measured == NULL)
      return cli_refuse (error, "--from STORE needs --measured TABLE");
    if (options->observed == NULL)
      options->observed = g_strdup ("measured_s");
    if (!cli_parse_learning (&options->learning, error))
      return FALSE;
  } else if (options->measured || options->learning.observed_text ||
             options->learning.features_text)
    return cli_refuse (error, "--measured, --observed-runs and --feature-runs need --from STORE");
  else if (train == NULL)
    return cli_refuse (error, "TRAIN (a table) or --from STORE is missing");
  else if (options->model == NULL)
    return cli_refuse (error, "--model FILE is missing");
  else if (options->observed == NULL)
    return cli_refuse (error, "--observed COLUMN is missing");

  if ((mode = cli_parse_choice ("--mode", options->mode, mode_names, error)) < 0 ||
      (loss = cli_parse_choice ("--loss", options->loss, predict_loss_names, error)) < 0)
    return FALSE;
  *settings = predict_correction_settings ((PredictCorrectionMode) mode);
  settings->n_threads = g_get_num_processors ();
  options->folds = FOLDS_BY_POINTS;
  if (options->loss)
    settings->loss = (PredictLoss) loss;
  if (options->seed < 0)
    return cli_refuse (error, "--seed: must not be negative");
  settings->seed = (uint64_t) options->seed;
  if (options->anyway && options->output == NULL)
    return cli_refuse (error, "--anyway needs -o FILE");
  if (!parse_count ("--case", options->number, 1, 4, &settings->number, error) ||
      !parse_count ("--trials", options->n_trials, 1, 1000000, &settings->n_trials, error) ||
      !parse_count ("--threads", options->n_threads, 1, CLI_MAX_THREADS, &settings->n_threads,
                    error) ||
      !parse_count ("--population", options->population, 10, 100000, &settings->population,
                    error) ||
      !parse_count ("--generations", options->generations, 1, 1000000, &settings->generations,
                    error) ||
      !parse_count ("--nested", options->n_folds, 0, 1000, &options->folds, error) ||
      !cli_parse_format (&options->format, error))
    return FALSE;
  if (options->folds == 1)
    return cli_refuse (error, "--nested: 0 or at least 2 folds");
  if (!(options->level > 0 && options->level < 1))
    return cli_refuse (error, "--interval: must be between 0 and 1");
  if (options->compare && options->folds == 0)
    return cli_refuse (error, "--compare needs folds: not --nested 0");
  if (options->chosen != NULL && options->folds == 0)
    return cli_refuse (error, "--chosen needs folds: not --nested 0");
  if (options->functions != NULL)
    options->ops = parse_functions (options->functions, &settings->n_functions, error);
  settings->functions = options->ops;
  return options->functions == NULL || options->ops != NULL;
}

/* --- The command --- */

/* Warnings that a reader would otherwise have to derive from the figures. */
static void
tell_advice (const Correction *shown)
{
  const PredictCorrectionData *data = shown->data;
  const PredictBaseModel *model = data->model;
  const PredictCorrection *correction = shown->correction;
  const PredictCorrectionTrial *best = shown->best;

  for (uint32_t at = 0; at < model->n_parameters; at++) {
    const PredictParameter *parameter = &model->parameters[at];

    if (predict_parameter_at_bound (parameter, correction->refitted[at]))
      cli_printf (
          stderr,
          "hopcast: warning: %s: fitted alone, parameter %s ends at its bound, %g: the formula lacks a term, or the bound is wrong\n",
          model->source, parameter->name, correction->refitted[at]);
  }
  if (best != NULL && correction->verdict == PREDICT_TAKE_TERM && data->test.n > 0 &&
      correction->refitted_test.log_rmse < best->test.log_rmse)
    cli_printf (stderr,
                "hopcast: warning: %s: at the test points, which the verdict ignores, fitting "
                "the parameters (log_rmse %.4g) is better than the corrected model (%.4g)\n",
                model->source, correction->refitted_test.log_rmse, best->test.log_rmse);
  if (shown->comparison != NULL && correction->verdict != PREDICT_TAKE_NEITHER &&
      (shown->comparison->chosen == PREDICT_CANDIDATE_QUADRATIC ||
       shown->comparison->chosen == PREDICT_CANDIDATE_KRIGING ||
       shown->comparison->chosen == PREDICT_CANDIDATE_BLEND))
    cli_printf (stderr,
                "hopcast: warning: %s: within the range of the points, what is no formula (%s) "
                "is off by less (%.4g at points left out) than the verdict's model\n",
                model->source, predict_candidate_names[shown->comparison->chosen],
                shown->comparison->candidates[shown->comparison->chosen].nested);
  if (best != NULL && best->brief->n >= data->train.n)
    cli_printf (stderr,
                "hopcast: warning: %s: a term of %u steps from %" G_GUINT64_FORMAT
                " points: it can pass through all of them and still be wrong elsewhere\n",
                model->source, best->brief->n, (guint64) data->train.n);
}

/* A part of the whole, for its progress. */
typedef struct {
  CliProgress *progress;
  double from, to;
} Stage;

static void
show_stage (void *data, double share)
{
  const Stage *stage = data;

  cli_progress_share (stage->progress, stage->from + (stage->to - stage->from) * share);
}

/* made[case - 1]: of the case asked for, and with --compare of all; then all is done again with folds left
 * out.  *comparison: NULL without folds. */
static gboolean
search (const PredictCorrectionData *data, const PredictCorrectionSettings *settings,
        const Options *options, PredictCorrection **made, PredictComparison **comparison,
        GError **error)
{
  CliProgress *progress = cli_progress_new (options->talk.quiet);
  Stage stage = { progress, 0, 0 };
  guint n_cases = options->compare ? PREDICT_N_CASES : 1, folds = options->folds;
  gboolean done = TRUE;

  if (folds == FOLDS_BY_POINTS)
    folds = data->train.n <= FEW_POINTS ? FOLDS_OF_FEW : FOLDS_OF_MANY;

  for (guint number = 1; number <= PREDICT_N_CASES && done; number++) {
    PredictCorrectionSettings of_case = *settings;

    if (number != settings->number && !options->compare)
      continue;
    of_case.number = number;
    stage.from = stage.to;
    stage.to += 1.0 / (n_cases * (1 + folds / 5.0)); /* a fold makes a fifth of the trials */
    made[number - 1] = predict_correct (data, &of_case, show_stage, &stage, error);
    done = made[number - 1] != NULL;
  }
  if (done && folds > 0) {
    stage.from = stage.to;
    stage.to = 1;
    *comparison = predict_compare (data, settings, (const PredictCorrection *const *) made, folds,
                                   show_stage, &stage, error);
    done = *comparison != NULL;
  }
  cli_progress_free (progress);
  if (!done)
    g_prefix_error (error, "%s: ", data->model->source);
  return done;
}

static gboolean
report (const PredictCorrectionData *data, const PredictCorrectionSettings *settings,
        const Options *options, const PredictCorrection *const *made,
        const PredictComparison *comparison, GError **error)
{
  const PredictCorrection *correction = made[settings->number - 1];
  Correction shown = { data, settings, correction, NULL, comparison, options->level };
  g_autoptr (CliOutfile) points = NULL;
  g_autofree char *refitted = NULL, *text = NULL;

  if (correction->best < correction->n_trials)
    shown.best = &correction->trials[correction->best];
  refitted = predict_base_model_text (data->model, correction->refitted);
  if ((options->refitted != NULL && !cli_outfile_write (options->refitted, refitted, error)) ||
      (options->points != NULL && !(points = cli_outfile_new (options->points, error))))
    return FALSE;
  if (points != NULL) {
    FILE *out = cli_outfile_stream (points);

    fprintf (out, "set,point,observed,original,corrected%s\n",
             comparison ? ",chosen,lower,upper" : "");
    print_points (out, false, &shown);
    print_points (out, true, &shown);
    if (!cli_outfile_commit (points, error))
      return FALSE;
  }
  if (!options->talk.quiet)
    tell_advice (&shown);
  correction_print (stdout, &shown, options->format.format);

  /* A mended model is written only when the verdict is for it. */
  if (options->output == NULL)
    return TRUE;
  if (correction->verdict == PREDICT_TAKE_FACTORS && !options->anyway) {
    text = predict_comparison_text (comparison, PREDICT_CANDIDATE_FACTORS, data, settings, made,
                                    error);
    return text != NULL && cli_outfile_write (options->output, text, error);
  }
  if (shown.best == NULL || (correction->verdict != PREDICT_TAKE_TERM && !options->anyway))
    return cli_fail (error, "%s: not written: %s: %s%s", options->output,
                     verdicts[correction->verdict], correction->reason,
                     shown.best != NULL ? " (--anyway writes it all the same)" : "");
  text = predict_correction_text (data->model, shown.best);
  return cli_outfile_write (options->output, text, error);
}

static gboolean
correct (const PredictCorrectionData *data, const PredictCorrectionSettings *settings,
         const Options *options, GError **error)
{
  PredictCorrection *made[PREDICT_N_CASES] = { NULL };
  g_autoptr (PredictComparison) comparison = NULL;
  const PredictCorrection *const *read_only = (const PredictCorrection *const *) made;
  gboolean done = search (data, settings, options, made, &comparison, error);

  if (done && comparison != NULL)
    predict_comparison_review (comparison, settings->number, made[settings->number - 1]);
  if (done && options->chosen != NULL) {
    g_autofree char *text =
        predict_comparison_text (comparison, comparison->chosen, data, settings, read_only, error);

    done = text != NULL && cli_outfile_write (options->chosen, text, error);
  }
  done = done && report (data, settings, options, read_only, comparison, error);
  for (guint at = 0; at < PREDICT_N_CASES; at++)
    predict_correction_free (made[at]);
  return done;
}

typedef struct {
  Points train, test; /* test.table NULL: there is none */
  PredictBaseModel *model;
} Work;

static void
work_clear (Work *work)
{
  points_clear (&work->train);
  points_clear (&work->test);
  predict_base_model_free (work->model);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Work, work_clear)

/* Reads the points and the model. */
static gboolean
prepare (Work *work, const char *train, Options *options, GError **error)
{
  g_autoptr (PredictTable) runs = NULL;
  g_autoptr (GPtrArray) left_out = g_ptr_array_new_with_free_func (g_free);
  g_auto (GStrv) features = NULL;
  g_autoptr (GError) trouble = NULL;

  /* A formula may use the features of a load alone; only the simulator as the model needs times. */
  options->learning.learning.without_time = options->model != NULL;
  if (options->from != NULL && !(runs = cli_learning_table (options->from, &options->learning,
                                                            options->talk.quiet, NULL, error)))
    return FALSE;
  if (!points_read (&work->train, train ? train : options->measured, options->observed, runs,
                    error) ||
      (options->test != NULL &&
       !points_read (&work->test, options->test, options->observed, runs, error)))
    return FALSE;
  work->model = options->model ? predict_base_model_read (options->model, error)
                               : simulator_model (&work->train);
  if (work->model == NULL)
    return FALSE;
  if (options->features != NULL) {
    features = predict_feature_list (options->features, work->train.table, left_out, &trouble);
    if (features == NULL)
      return cli_refuse (error, "--features: %s", trouble->message);
    if (!options->talk.quiet)
      cli_tell_unknown_features (work->train.table, left_out);
    if (!predict_base_model_add_variables (work->model, (const char *const *) features, error))
      return FALSE;
  }
  if (options->from != NULL && options->model == NULL && !points_find_parts (&work->train) &&
      !options->talk.quiet)
    cli_printf (
        stderr,
        "hopcast: note: %s: not all measured runs have the parts of their times "
        "(path_compute_s ...), so that these get no factors: a study with keep-path = true has "
        "them, except of traces that are graphs\n",
        options->from);
  if (options->test != NULL && work->train.parts[0] != NULL && !points_find_parts (&work->test))
    work->train.parts[0] = NULL;
  return points_bind (&work->train, work->model, error) &&
         (options->test == NULL || points_bind (&work->test, work->model, error));
}

int
cli_correct (int argc, char **argv, GError **error)
{
  static const char *const names[] = { "[TRAIN]", NULL };
  g_autoptr (GOptionContext) context =
      cli_context_new ("TRAIN | --from STORE --measured TABLE",
                       "Mends a performance model, or the simulator, by measured times: finds a "
                       "term that corrects it, and its parameters within their bounds.");
  g_auto (Options) options = { .seed = 1,
                               .number = G_MININT,
                               .n_trials = G_MININT,
                               .n_threads = G_MININT,
                               .population = G_MININT,
                               .generations = G_MININT,
                               .n_folds = G_MININT,
                               .level = 0.9 };
  g_auto (Work) work = { .model = NULL };
  PredictCorrectionSettings settings;
  g_autofree PredictRange *box = NULL;
  PredictCorrectionData data;
  const char *train;

  add_options (context, &options);
  if (!cli_parse (context, argc, argv, names, &train, error) ||
      !check_options (&options, train, &settings, error) ||
      !prepare (&work, train, &options, error))
    return CLI_FAILED;
  data = (PredictCorrectionData){
    .model = work.model,
    .train = { work.train.columns, work.train.table->n_rows },
    .test = { work.test.columns, work.test.table ? work.test.table->n_rows : 0 },
    .train_observed = work.train.observed,
    .test_observed = work.test.observed,
  };
  if (work.train.parts[0] != NULL) {
    data.n_parts = SIM_N_CLASSES;
    data.part_names = study_path_fields;
    data.train_parts = (PredictPoints){ work.train.parts, data.train.n };
    data.test_parts = (PredictPoints){ work.test.parts, data.test.n };
  }
  if (!(box = points_box (&data, options.ranges, error)))
    return CLI_FAILED;
  data.box = box;
  return correct (&data, &settings, &options, error) ? CLI_DONE : CLI_FAILED;
}
