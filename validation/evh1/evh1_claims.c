/* evh1_claims.c - the claims of the paper on model error correction, one figure each.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "validation/evh1/evh1_claims.h"

#include "predictors/scoring/scores.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Files of validation/data and doc/examples as strings, made by the build. */
static const char published_csv[] =
#include "validation/evh1/evh1_published.inc"
    ;
static const char table_csv[] =
#include "validation/evh1/evh1_table.inc"
    ;
static const char model_text[] =
#include "validation/evh1/evh1_model.inc"
    ;

/* --- The stand-in --- */

typedef struct {
  double variable[3]; /* T, nx, np */
  double time_s;
  bool is_test;
} Point;

static int
compare_points (const void *a, const void *b)
{
  const Point *left = a, *right = b;

  if (left->is_test != right->is_test)
    return left->is_test ? 1 : -1;
  return (left->time_s > right->time_s) - (left->time_s < right->time_s);
}

/* The points of the table: those to learn from first, either kind by their times. */
static void
read_table (Point *points)
{
  g_auto (GStrv) lines = g_strsplit (table_csv, "\n", -1);

  for (guint at = 0; at < EVH1_POINTS; at++) {
    g_auto (GStrv) cells = g_strsplit (lines[at + 1], ",", -1);

    g_assert (g_strv_length (cells) == 7); /* a test reads the file too */
    for (guint variable = 0; variable < 3; variable++)
      points[at].variable[variable] = g_ascii_strtod (cells[variable], NULL);
    points[at].time_s = g_ascii_strtod (cells[3], NULL);
    points[at].is_test = strcmp (cells[4], "test") == 0;
  }
  qsort (points, EVH1_POINTS, sizeof *points, compare_points);
}

Evh1 *
evh1_new (const ValidationWatch *watch)
{
  Evh1 *evh1 = g_new0 (Evh1, 1);
  double *times;
  Point points[EVH1_POINTS];
  guint n_train = 0;

  read_table (points);
  evh1->details = watch->details;
  evh1->model = predict_base_model_parse (model_text, "evh1-r1.model", NULL);
  g_assert (evh1->model != NULL && evh1->model->n_variables == 3);
  evh1->memory = g_new (double, 4 * EVH1_POINTS);
  times = evh1->memory + 3 * EVH1_POINTS;
  for (guint variable = 0; variable < 3; variable++)
    evh1->box[variable] = predict_range (INFINITY, -INFINITY);
  for (guint at = 0; at < EVH1_POINTS; at++) {
    n_train += !points[at].is_test;
    times[at] = points[at].time_s;
    for (guint variable = 0; variable < 3; variable++) {
      PredictRange *range = &evh1->box[variable];
      double value = points[at].variable[variable];

      evh1->memory[variable * EVH1_POINTS + at] = value;
      range->low = fmin (range->low, value);
      range->high = fmax (range->high, value);
    }
  }
  for (guint variable = 0; variable < 3; variable++) {
    evh1->columns[0][variable] = evh1->memory + variable * EVH1_POINTS;
    evh1->columns[1][variable] = evh1->columns[0][variable] + n_train;
  }
  evh1->data = (PredictCorrectionData){
    .model = evh1->model,
    .train = { evh1->columns[0], n_train },
    .test = { evh1->columns[1], EVH1_POINTS - n_train },
    .train_observed = times,
    .test_observed = times + n_train,
    .box = evh1->box,
  };
  for (guint mode = 0; mode < 2; mode++) {
    evh1->settings[mode] = predict_correction_settings ((PredictCorrectionMode) mode);
    evh1->settings[mode].n_trials = 30; /* as the paper has them, in either mode */
    evh1->settings[mode].n_threads = g_get_num_processors ();
  }
  return evh1;
}

void
evh1_free (Evh1 *evh1)
{
  if (evh1 == NULL)
    return;
  for (guint mode = 0; mode < 2; mode++)
    for (guint number = 0; number < EVH1_CASES; number++)
      predict_correction_free (evh1->made[mode][number]);
  predict_base_model_free (evh1->model);
  g_free (evh1->memory);
  g_free (evh1);
}

/* --- Trials --- */

/* The times of a formula at the test points, [data.test.n]; the caller frees. */
static double *
times_of (const Evh1 *evh1, const PredictExpression *time, const double *parameters)
{
  g_autoptr (PredictWorkspace) workspace = predict_workspace_new ();
  double *times = g_new (double, evh1->data.test.n);

  predict_values (time, &evh1->data.test, parameters, workspace, times);
  return times;
}

static double *
original_times (const Evh1 *evh1)
{
  g_autofree double *parameters = predict_base_model_values (evh1->model);

  return times_of (evh1, evh1->model->time, parameters);
}

/* Figures 6 to 9: a line per test point. */
static void
append_points (const Evh1 *evh1, guint number, const PredictCorrectionTrial *best)
{
  g_autofree double *original = original_times (evh1), *times = NULL;

  if (evh1->details == NULL || best == NULL)
    return;
  times = times_of (evh1, best->time, best->parameters);
  for (uint64_t at = 0; at < evh1->data.test.n; at++) {
    const double *const *columns = evh1->data.test.columns;
    g_autofree char *point =
        g_strdup_printf ("T=%g nx=%g np=%g", columns[0][at], columns[1][at], columns[2][at]);
    const struct {
      const char *name;
      double time_s;
    } series[] = { { "stand-in", evh1->data.test_observed[at] },
                   { "original", original[at] },
                   { "corrected", times[at] } };

    for (guint i = 0; i < G_N_ELEMENTS (series); i++) {
      g_autofree char *name = g_strdup_printf ("fig%u %s", number + 5, series[i].name);

      validation_detail (evh1->details, name, point, (double) NAN, series[i].time_s, "s");
    }
  }
}

const PredictCorrection *
evh1_case (Evh1 *evh1, PredictCorrectionMode mode, guint number, GError **error)
{
  PredictCorrection **made = &evh1->made[mode][number - 1];
  PredictCorrectionSettings settings = evh1->settings[mode];

  if (*made != NULL)
    return *made;
  settings.number = number;
  *made = predict_correct (&evh1->data, &settings, NULL, NULL, error);
  if (*made != NULL && mode == PREDICT_CORRECTION_PAPER)
    append_points (evh1, number, evh1_best_trial (*made, mode));
  return *made;
}

/* At the test points, in the loss of the mode. */
static double
error_of (const PredictErrors *errors, PredictCorrectionMode mode)
{
  return mode == PREDICT_CORRECTION_PAPER ? errors->rmse : errors->log_rmse;
}

const PredictCorrectionTrial *
evh1_best_trial (const PredictCorrection *correction, PredictCorrectionMode mode)
{
  const PredictCorrectionTrial *best = NULL;

  for (guint at = 0; at < correction->n_trials; at++) {
    const PredictCorrectionTrial *trial = &correction->trials[at];

    if (trial->converged &&
        (best == NULL || error_of (&trial->test, mode) < error_of (&best->test, mode)))
      best = trial;
  }
  return best;
}

/* Each returns NaN and sets *error when the case cannot be made; a case without any trial that
 * converged has no number either. */
static bool
no_trial (GError **error)
{
  if (error != NULL && *error == NULL)
    g_set_error (error, VALIDATION_ERROR, VALIDATION_ERROR_EXPERIMENT, "no trial converged");
  return false;
}

static double
best_error (Evh1 *evh1, guint number, GError **error)
{
  const PredictCorrection *made = evh1_case (evh1, PREDICT_CORRECTION_PAPER, number, error);
  const PredictCorrectionTrial *best =
      made ? evh1_best_trial (made, PREDICT_CORRECTION_PAPER) : NULL;

  if (best == NULL) {
    no_trial (error);
    return (double) NAN;
  }
  return best->test.rmse;
}

static double
median_error (const PredictCorrection *made)
{
  g_autofree double *errors = g_new (double, made->n_trials + 1);
  guint n = 0;

  for (guint at = 0; at < made->n_trials; at++)
    if (made->trials[at].converged)
      errors[n++] = made->trials[at].test.log_rmse;
  if (n == 0)
    return (double) NAN;
  qsort (errors, n, sizeof *errors, predict_compare_values);
  return (errors[(n - 1) / 2] + errors[n / 2]) / 2;
}

/* --- Measurements: NaN and *error on failure --- */

enum { POPULATION, GENERATIONS, CROSSOVER, MUTATION, DEPTH, TRIALS, POINTS, POINTS_LEARNED };

static double
table1 (gpointer state, guint which, GError **error G_GNUC_UNUSED)
{
  Evh1 *evh1 = state;
  const PredictCorrectionSettings settings = predict_correction_settings (PREDICT_CORRECTION_PAPER);
  const double values[] = {
    [POPULATION] = settings.population,
    [GENERATIONS] = settings.generations,
    [CROSSOVER] = 100 * PREDICT_PAPER_CROSSOVER,
    [MUTATION] = 100 - 100 * PREDICT_PAPER_CROSSOVER,
    [DEPTH] = PREDICT_PAPER_DEPTH,
    [TRIALS] = settings.n_trials,
    [POINTS] = (double) (evh1->data.train.n + evh1->data.test.n),
    [POINTS_LEARNED] = (double) evh1->data.train.n,
  };

  return values[which];
}

/* which: 3 x parameter, + 1 its lower bound, + 2 its upper one; 12: f. */
static double
table2 (gpointer state, guint which, GError **error G_GNUC_UNUSED)
{
  Evh1 *evh1 = state;
  const PredictParameter *parameter = &evh1->model->parameters[which / 3];

  if (which == 12)
    return evh1->model->constants[0].value;
  return which % 3 == 0 ? parameter->value : which % 3 == 1 ? parameter->low : parameter->high;
}

static double
original_large_np (gpointer state, guint which G_GNUC_UNUSED, GError **error G_GNUC_UNUSED)
{
  Evh1 *evh1 = state;
  g_autofree double *times = original_times (evh1);
  double squares[2] = { 0 };
  guint n[2] = { 0 };

  for (uint64_t at = 0; at < evh1->data.test.n; at++) {
    bool large = evh1->data.test.columns[2][at] > 32;
    double deviation = log (times[at] / evh1->data.test_observed[at]);

    squares[large] += deviation * deviation;
    n[large]++;
  }
  return sqrt (squares[true] / n[true] / (squares[false] / n[false]));
}

static double
not_in_text (gpointer evh1 G_GNUC_UNUSED, guint which G_GNUC_UNUSED, GError **error)
{
  g_set_error (error, VALIDATION_ERROR, VALIDATION_ERROR_NOT_RUN,
               "the numbers are in a picture alone, which is lost, as are the measured times");
  return (double) NAN;
}

static double
fig4_case (gpointer state, guint number, GError **error)
{
  Evh1 *evh1 = state;
  double least = best_error (evh1, number, error);

  return isnan (least) ? least
                       : least / evh1->made[PREDICT_CORRECTION_PAPER][number - 1]->base_test.rmse;
}

static double
fig4_is_best (gpointer evh1, guint number, GError **error)
{
  double least = INFINITY;

  for (guint other = 1; other <= EVH1_CASES; other++) {
    double found = best_error (evh1, other, error);

    if (isnan (found))
      return found;
    if (other != number)
      least = fmin (least, found);
  }
  return best_error (evh1, number, error) / least;
}

static double
fig4_inside (gpointer evh1, guint which G_GNUC_UNUSED, GError **error)
{
  double found[EVH1_CASES];

  for (guint number = 1; number <= EVH1_CASES; number++) {
    found[number - 1] = best_error (evh1, number, error);
    if (isnan (found[number - 1]))
      return (double) NAN;
  }
  return fmax (found[0], found[2]) / fmin (found[1], found[3]);
}

/* Percent of the trials that converged which are better than the original. */
static double
share_better (Evh1 *evh1, PredictCorrectionMode mode, guint number, GError **error)
{
  const PredictCorrection *made = evh1_case (evh1, mode, number, error);

  if (made != NULL && made->n_converged == 0)
    no_trial (error);
  return made == NULL || made->n_converged == 0 ? (double) NAN
                                                : 100.0 * made->n_better / made->n_converged;
}

static double
fig5_case (gpointer evh1, guint number, GError **error)
{
  return share_better (evh1, PREDICT_CORRECTION_PAPER, number, error);
}

static double
fig5_is_most (gpointer evh1, guint number, GError **error)
{
  double most = 0;

  for (guint other = 1; other <= EVH1_CASES; other++) {
    double share = fig5_case (evh1, other, error);

    if (isnan (share))
      return share;
    if (other != number)
      most = fmax (most, share);
  }
  return fig5_case (evh1, number, error) / most;
}

static double
fig5_not_converged (gpointer evh1, guint which G_GNUC_UNUSED, GError **error)
{
  guint n = 0;

  for (guint number = 1; number <= EVH1_CASES; number++) {
    const PredictCorrection *made = evh1_case (evh1, PREDICT_CORRECTION_PAPER, number, error);

    if (made == NULL)
      return (double) NAN;
    n += made->n_trials - made->n_converged;
  }
  return n;
}

/* Percent of the test points first ... end - 1 at which the best trial is nearer to the time, in seconds,
 * than the original. */
static double
nearer (Evh1 *evh1, guint number, uint64_t first, uint64_t end, GError **error)
{
  const PredictCorrection *made = evh1_case (evh1, PREDICT_CORRECTION_PAPER, number, error);
  const PredictCorrectionTrial *best =
      made ? evh1_best_trial (made, PREDICT_CORRECTION_PAPER) : NULL;
  g_autofree double *original = original_times (evh1), *times = NULL;
  guint n = 0;

  if (best == NULL) {
    no_trial (error);
    return (double) NAN;
  }
  times = times_of (evh1, best->time, best->parameters);
  for (uint64_t at = first; at < end; at++)
    n += fabs (times[at] - evh1->data.test_observed[at]) <
         fabs (original[at] - evh1->data.test_observed[at]);
  return 100.0 * n / (double) (end - first);
}

static double
large_nearer (gpointer state, guint number, GError **error)
{
  Evh1 *evh1 = state;

  return nearer (evh1, number, EVH1_SMALL, evh1->data.test.n, error);
}

static double
small_farther (gpointer evh1, guint number, GError **error)
{
  return 100 - nearer (evh1, number, 0, EVH1_SMALL, error);
}

static double
best_share (gpointer evh1, guint number, GError **error)
{
  return share_better (evh1, PREDICT_CORRECTION_BEST, number, error);
}

static double
best_median (gpointer evh1, guint number, GError **error)
{
  const PredictCorrection *made = evh1_case (evh1, PREDICT_CORRECTION_BEST, number, error);
  double median = made != NULL ? median_error (made) : (double) NAN;

  if (isnan (median))
    no_trial (error);
  return median;
}

/* --- The suite --- */

static const ValidationMeasure measures[] = {
  { "table1_population", table1, POPULATION, NULL },
  { "table1_generations", table1, GENERATIONS, NULL },
  { "table1_crossover", table1, CROSSOVER, NULL },
  { "table1_mutation", table1, MUTATION, NULL },
  { "table1_depth", table1, DEPTH, NULL },
  { "table1_trials", table1, TRIALS, NULL },
  { "table1_points", table1, POINTS, NULL },
  { "table1_points_learned", table1, POINTS_LEARNED, NULL },
  { "table2_f", table2, 12, NULL },
  { "table2_g", table2, 0, NULL },
  { "table2_g_low", table2, 1, NULL },
  { "table2_g_high", table2, 2, NULL },
  { "table2_h", table2, 3, NULL },
  { "table2_h_low", table2, 4, NULL },
  { "table2_h_high", table2, 5, NULL },
  { "table2_i", table2, 6, NULL },
  { "table2_i_low", table2, 7, NULL },
  { "table2_i_high", table2, 8, NULL },
  { "table2_j", table2, 9, NULL },
  { "table2_j_low", table2, 10, NULL },
  { "table2_j_high", table2, 11, NULL },
  { "original_large_np", original_large_np, 0, NULL },
  { "fig4_errors", not_in_text, 0, NULL },
  { "fig4_case1", fig4_case, 1, NULL },
  { "fig4_case2", fig4_case, 2, NULL },
  { "fig4_case3", fig4_case, 3, NULL },
  { "fig4_case4", fig4_case, 4, NULL },
  { "fig4_case1_is_best", fig4_is_best, 1,
    "the planted fault is a sum, which cases 2 and 4 write as it is; by what law EVH1's times left "
    "the formula is not known" },
  { "fig4_inside_beats_added", fig4_inside, 0, "the same" },
  { "fig5_case1", fig5_case, 1, NULL },
  { "fig5_case2", fig5_case, 2, NULL },
  { "fig5_case3", fig5_case, 3,
    "the parameters alone, fitted, take a third of the error away here, so that case 3 begins better "
    "than the original" },
  { "fig5_case4", fig5_case, 4,
    "trees of up to 127 steps overfit 16 points; what kept the paper's trees short is not printed" },
  { "fig5_case4_is_most", fig5_is_most, 4, "the two above" },
  { "fig5_not_converged", fig5_not_converged, 0,
    "what the paper means by converged is not printed; here every trial beats the original where it "
    "learns" },
  { "fig6_large", large_nearer, 1, NULL },
  { "fig6_small", small_farther, 1,
    "of the four smallest times two are of 64 and 96 processes, where the stand-in has its fault" },
  { "fig7_large", large_nearer, 2, NULL },
  { "fig7_small", small_farther, 2, "the same" },
  { "fig8_large", large_nearer, 3,
    "at 6 of the 12 large points np is at most 32, where the stand-in is the original but for noise" },
  { "fig8_small", small_farther, 3, "the same" },
  { "fig9_large", large_nearer, 4, "the same" },
  { "fig9_small", small_farther, 4, "the same" },
  { "fig6_to_9_times", not_in_text, 0, NULL },
  { "best_case1", best_share, 1, NULL },
  { "best_case2", best_share, 2, NULL },
  { "best_case3", best_share, 3, NULL },
  { "best_case4", best_share, 4, NULL },
  { "best_case1_median", best_median, 1, NULL },
  { "best_case2_median", best_median, 2, NULL },
  { "best_case3_median", best_median, 3,
    "four free parameters within a free formula end at a factor of t_comm; see "
    "validation/reports/correction.md" },
  { "best_case4_median", best_median, 4, NULL },
};

static gpointer
open_evh1 (const ValidationWatch *watch)
{
  return evh1_new (watch);
}

static void
close_evh1 (gpointer state)
{
  evh1_free (state);
}

void
evh1_share_range (guint count, guint n, double *lower, double *upper)
{
  const double z = 1.6449; /* 95 % of a normal distribution are below */
  double share = (double) count / n, extra = z * z / n;
  double middle = (share + extra / 2) / (1 + extra);
  double half = z * sqrt (share * (1 - share) / n + extra / (4 * n)) / (1 + extra);

  *lower = fmax (middle - half, 0);
  *upper = fmin (middle + half, 1);
}

/* Of shares and counts of trials, whose paper has chance in them as well. */
static bool
spread_of (gpointer state, const ValidationPublished *published, double *lower, double *upper)
{
  const Evh1 *evh1 = state;
  guint count = 0, n = 0;

  if (strcmp (published->name, "fig5_not_converged") == 0) {
    for (guint number = 0; number < EVH1_CASES; number++) {
      n += evh1->made[PREDICT_CORRECTION_PAPER][number]->n_trials;
      count += evh1->made[PREDICT_CORRECTION_PAPER][number]->n_trials -
               evh1->made[PREDICT_CORRECTION_PAPER][number]->n_converged;
    }
    evh1_share_range (count, n, lower, upper);
    *lower *= n;
    *upper *= n;
    return true;
  }
  for (guint i = 0; i < G_N_ELEMENTS (measures); i++)
    if (measures[i].measure == fig5_case && strcmp (measures[i].name, published->name) == 0) {
      const PredictCorrection *made = evh1->made[PREDICT_CORRECTION_PAPER][measures[i].which - 1];

      evh1_share_range (made->n_better, made->n_converged, lower, upper);
      *lower *= 100;
      *upper *= 100;
      return true;
    }
  return false;
}

/* --- The tables and figures, the paper's beside ours --- */

/* "-" where there is none. */
static const char *
number_text (char *text, gsize size, double value)
{
  g_snprintf (text, (gulong) size, isfinite (value) ? "%.4g" : "-", value);
  return text;
}

static void
print_tables (const Evh1 *evh1, FILE *out)
{
  const PredictCorrection *any = evh1->made[PREDICT_CORRECTION_PAPER][0];
  char text[3][32];

  fprintf (
      out,
      "\nTable 1, settings                  paper                  ours\n"
      "function set                       + - x / ^ log exp      the same\n"
      "terminal set                       R nx np T tcomm        the same; tcomm in cases 1 and 3\n"
      "selection                          graduated elitist      copies by rank and tournaments: a reading\n"
      "error measure                      lost                   root of the mean square, s\n");
  fprintf (
      out,
      "\nTable 2, parameters  paper: original  low        high         ours: fitted alone  case 3     case 4\n");
  for (guint at = 0; at < evh1->model->n_parameters; at++) {
    const PredictParameter *parameter = &evh1->model->parameters[at];
    double found[3] = { any ? any->refitted[at] : (double) NAN, (double) NAN, (double) NAN };

    for (guint number = 3; number <= EVH1_CASES; number++) {
      const PredictCorrection *made = evh1->made[PREDICT_CORRECTION_PAPER][number - 1];
      const PredictCorrectionTrial *best =
          made != NULL ? evh1_best_trial (made, PREDICT_CORRECTION_PAPER) : NULL;

      if (best != NULL)
        found[number - 2] = best->parameters[at];
    }
    fprintf (out, "%-19s  %-15g  %-9g  %-11g  %-18s  %-9s  %s\n", parameter->name, parameter->value,
             parameter->low, parameter->high, number_text (text[0], sizeof text[0], found[0]),
             number_text (text[1], sizeof text[1], found[1]),
             number_text (text[2], sizeof text[2], found[2]));
  }
}

static void
print_cases (const Evh1 *evh1, FILE *out)
{
  static const int paper_share[EVH1_CASES] = { 77, 73, 50, 90 };

  fprintf (out, "\nFigures 4 and 5  RMSE, s     of the      better than the original\n"
                "                 best trial  original    ours    paper\n");
  for (guint at = 0; at < EVH1_CASES; at++) {
    const PredictCorrection *made = evh1->made[PREDICT_CORRECTION_PAPER][at];
    const PredictCorrectionTrial *best =
        made != NULL ? evh1_best_trial (made, PREDICT_CORRECTION_PAPER) : NULL;

    if (best != NULL)
      fprintf (out, "case %u           %-10.4g  %5.1f %%     %3.0f %%   %d %%\n", at + 1,
               best->test.rmse, 100 * best->test.rmse / made->base_test.rmse,
               100.0 * made->n_better / made->n_converged, paper_share[at]);
  }
}

static void
print_points (const Evh1 *evh1, FILE *out)
{
  g_autofree double *original = original_times (evh1);
  double *times[EVH1_CASES] = { NULL };
  char text[32];

  for (guint at = 0; at < EVH1_CASES; at++) {
    const PredictCorrection *made = evh1->made[PREDICT_CORRECTION_PAPER][at];
    const PredictCorrectionTrial *best =
        made != NULL ? evh1_best_trial (made, PREDICT_CORRECTION_PAPER) : NULL;

    times[at] = best != NULL ? times_of (evh1, best->time, best->parameters) : NULL;
  }
  fprintf (
      out,
      "\nFigures 6 to 9, times in s\n"
      "point  T     nx    np   stand-in    original    case 1      case 2      case 3      case 4\n");
  for (uint64_t point = 0; point < evh1->data.test.n; point++) {
    const double *const *columns = evh1->data.test.columns;

    fprintf (out, "%-5u  %-4g  %-4g  %-3g  %-10.4g  %-10.4g", (guint) point + 1, columns[0][point],
             columns[1][point], columns[2][point], evh1->data.test_observed[point],
             original[point]);
    for (guint at = 0; at < EVH1_CASES; at++)
      fprintf (out, at + 1 < EVH1_CASES ? "  %-10s" : "  %s",
               number_text (text, sizeof text, times[at] ? times[at][point] : (double) NAN));
    fputc ('\n', out);
  }
  for (guint at = 0; at < EVH1_CASES; at++)
    g_free (times[at]);
}

static void
print_evh1 (gpointer state, FILE *out)
{
  const Evh1 *evh1 = state;
  bool any = false;

  print_tables (evh1, out);
  for (guint at = 0; at < EVH1_CASES; at++)
    any = any || evh1->made[PREDICT_CORRECTION_PAPER][at] != NULL;
  if (any) {
    print_cases (evh1, out);
    print_points (evh1, out);
  }
  fprintf (
      out,
      "\nThe times are a stand-in, not measured: the paper's data, its formula and its pictures "
      "are lost.\n");
}

const ValidationSuite validation_evh1 = {
  .name = "evh1",
  .figures = published_csv,
  .path = "evh1_published.csv",
  .open = open_evh1,
  .close = close_evh1,
  .measures = measures,
  .n_measures = G_N_ELEMENTS (measures),
  .spread = spread_of,
  .print = print_evh1,
};
