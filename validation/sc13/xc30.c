/* xc30.c - slow-downs by dense placement of SPEC MPI2007 on a Cray XC30, predicted without counters.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "validation/sc13/xc30.h"

#include "predictors/scoring/scores.h"
#include "predictors/table/table.h"
#include "study/aggregate/program_file.h"
#include "validation/measured_curve.h"
#include "validation/published.h"

#include <math.h>
#include <string.h>

/* A node: two Xeon E5-2697 v2.  Caches as Intel specifies them.  Bandwidths: STREAM's triad on the
 * E5-2695 v2, which has as many cores and channels, but memory of 1600 instead of 1866 MT/s: 75 GB/s on two
 * chips, 8.7 GB/s on one core (Puget Systems, "Memory Performance for Intel Xeon Haswell-EP DDR4").
 * The learned memory shares absorb most of an error in them. */
#define CHIP_CACHE_BYTES (30.0 * 1024 * 1024)
#define CORE_CACHE_BYTES (256.0 * 1024)
#define CHIP_Bps         37.5e9
#define CORE_Bps         8.7e9

#define LARGEST_NODE 1024

/* The footprint is a guess, one for all codes; the exponent is the mean of its source, the growth
 * that of three-dimensional blocks.  None was fitted; the handbook varies them. */
const PredictNodeAssumptions validation_xc30_assumptions = {
  .footprint_bytes = 16e9,
  .reuse_exponent = PREDICT_REUSE_EXPONENT,
  .growth = PREDICT_SURFACE_GROWTH,
  .with_overhead = true,
};

/* The columns that count, of validation/data/measured/placement, made by the build. */
static const char published_csv[] =
#include "validation/sc13/xc30_runs.inc"
    ;

/* Halves of the cores, then all of them: the order in which runs are learned from. */
enum { SPARSE, DENSE, N_DENSITIES };

/* [code][count][density] */
typedef struct {
  const char *path;
  GPtrArray *codes;      /* borrowed from the table */
  GArray *ranks;         /* double, ascending */
  double *seconds;       /* 0: there is none */
  uint32_t chips, cores; /* of a node */
} Runs;

typedef struct {
  const PredictTable *table;
  const PredictColumn *codes;
  const double *ranks, *per_node, *cores, *chips, *seconds;
} Columns;

static gboolean
find_columns (const PredictTable *table, Columns *columns, GError **error)
{
  static const char *const names[] = {
    "benchmark", "ranks", "ranks_per_node", "cores_per_node", "chips_per_node", "median_s", NULL
  };

  *columns = (Columns){ .table = table };
  if (!predict_table_has_all (table, names, error))
    return FALSE;
  columns->codes = predict_table_find (table, names[0]);
  if (columns->codes->texts == NULL) {
    g_set_error (error, VALIDATION_ERROR, VALIDATION_ERROR_DATA,
                 "%s: column \"benchmark\" has numbers, not names of codes", table->source);
    return FALSE;
  }
  return (columns->ranks = predict_table_finite (table, names[1], error)) != NULL &&
         (columns->per_node = predict_table_finite (table, names[2], error)) != NULL &&
         (columns->cores = predict_table_finite (table, names[3], error)) != NULL &&
         (columns->chips = predict_table_finite (table, names[4], error)) != NULL &&
         (columns->seconds = predict_table_finite (table, names[5], error)) != NULL;
}

static const char *
code_of (const Columns *columns, uint64_t row)
{
  return g_ptr_array_index (columns->codes->labels, columns->codes->texts[row]);
}

/* SPARSE, DENSE, or N_DENSITIES: the row does not count. */
static int
density_of (const Columns *columns, uint64_t row, const char *without)
{
  const char *code = code_of (columns, row);

  if (g_str_equal (code, "121.pop2") || g_str_equal (code, "128.GAPgeofem") ||
      (without != NULL && g_str_equal (code, without)))
    return N_DENSITIES;
  return columns->per_node[row] == columns->cores[row]       ? DENSE
         : columns->per_node[row] * 2 == columns->cores[row] ? SPARSE
                                                             : N_DENSITIES;
}

static gboolean
refuse_row (const Columns *columns, uint64_t row, const char *what, GError **error)
{
  g_autofree char *place = predict_table_place (columns->table, row);

  g_set_error (error, VALIDATION_ERROR, VALIDATION_ERROR_DATA, "%s: %s", place, what);
  return FALSE;
}

static int
ascending (gconstpointer left, gconstpointer right)
{
  double a = *(const double *) left, b = *(const double *) right;

  return (a > b) - (a < b);
}

/* The index of a count of ranks; ranks->len: it is not there. */
static guint
count_of (const Runs *runs, double ranks)
{
  guint at = 0;

  while (at < runs->ranks->len && g_array_index (runs->ranks, double, at) != ranks)
    at++;
  return at;
}

static double *
seconds_at (const Runs *runs, guint code, guint count, int density)
{
  return &runs->seconds[(code * runs->ranks->len + count) * N_DENSITIES + (guint) density];
}

/* The codes and counts of ranks; every row that counts is of one kind of node. */
static gboolean
list_runs (Runs *runs, const Columns *columns, const char *without, GError **error)
{
  for (uint64_t row = 0; row < columns->table->n_rows; row++) {
    if (density_of (columns, row, without) == N_DENSITIES)
      continue;
    if (columns->ranks[row] < 1 || columns->seconds[row] <= 0)
      return refuse_row (columns, row, "ranks and times must be positive", error);
    if (columns->chips[row] < 1 || columns->cores[row] < 2 * columns->chips[row] ||
        columns->cores[row] > LARGEST_NODE)
      return refuse_row (columns, row, "no node has these numbers of chips and cores", error);
    if (runs->codes->len == 0) {
      runs->chips = (uint32_t) columns->chips[row];
      runs->cores = (uint32_t) columns->cores[row];
    }
    if (columns->chips[row] != runs->chips || columns->cores[row] != runs->cores ||
        runs->cores % (2 * runs->chips) != 0)
      return refuse_row (
          columns, row, "nodes must be of one kind, with an even number of cores to a chip", error);
    if (!g_ptr_array_find_with_equal_func (runs->codes, code_of (columns, row), g_str_equal, NULL))
      g_ptr_array_add (runs->codes, (gpointer) code_of (columns, row));
    if (count_of (runs, columns->ranks[row]) == runs->ranks->len)
      g_array_append_val (runs->ranks, columns->ranks[row]);
  }
  g_array_sort (runs->ranks, ascending);
  if (runs->codes->len >= 3 && runs->ranks->len > VALIDATION_XC30_LEARNED)
    return TRUE;
  g_set_error (error, VALIDATION_ERROR, VALIDATION_ERROR_DATA,
               "%s: %u codes and %u counts of ranks, at least 3 of each are needed", runs->path,
               runs->codes->len, runs->ranks->len);
  return FALSE;
}

static gboolean
take_seconds (Runs *runs, const Columns *columns, const char *without, GError **error)
{
  for (uint64_t row = 0; row < columns->table->n_rows; row++) {
    int density = density_of (columns, row, without);
    double *seconds;
    guint code;

    if (density == N_DENSITIES)
      continue;
    g_ptr_array_find_with_equal_func (runs->codes, code_of (columns, row), g_str_equal, &code);
    seconds = seconds_at (runs, code, count_of (runs, columns->ranks[row]), density);
    if (*seconds > 0)
      return refuse_row (columns, row, "this run occurs twice", error);
    *seconds = columns->seconds[row];
  }
  for (guint code = 0; code < runs->codes->len; code++)
    for (guint count = 0; count < runs->ranks->len; count++)
      for (int density = SPARSE; density < N_DENSITIES; density++)
        if (*seconds_at (runs, code, count, density) <= 0) {
          g_set_error (error, VALIDATION_ERROR, VALIDATION_ERROR_DATA,
                       "%s: no run of %s with %g ranks on %u cores of a node", runs->path,
                       (const char *) g_ptr_array_index (runs->codes, code),
                       g_array_index (runs->ranks, double, count),
                       density == DENSE ? runs->cores : runs->cores / 2);
          return FALSE;
        }
  return TRUE;
}

static PredictTimedRun
run_of (const Runs *runs, guint code, guint count, int density)
{
  uint32_t tasks = runs->cores / runs->chips / (density == DENSE ? 1 : 2);

  return (PredictTimedRun){
    .program = code,
    .ranks = g_array_index (runs->ranks, double, count),
    .share = { CORE_CACHE_BYTES, CHIP_CACHE_BYTES / tasks,
               predict_crowding (tasks, CORE_Bps, CHIP_Bps) },
    .seconds = *seconds_at (runs, code, count, density),
  };
}

/* The values [n_codes * n_counts] of the counts that were not learned from. */
static double *
held_out (const ValidationXc30 *result, const double *values, guint *n)
{
  guint n_kept = result->n_counts - VALIDATION_XC30_LEARNED;
  double *kept = g_new (double, result->n_codes *n_kept);

  *n = result->n_codes * n_kept;
  for (guint code = 0; code < result->n_codes; code++)
    memcpy (kept + code * n_kept, values + code * result->n_counts + VALIDATION_XC30_LEARNED,
            n_kept * sizeof *kept);
  return kept;
}

static ValidationXc30Score
score (const double *measured, const double *predicted, guint n)
{
  g_autofree double *errors = g_new (double, n);
  PredictScores scores = predict_score (measured, predicted, n);

  for (guint at = 0; at < n; at++)
    errors[at] = fabs (predicted[at] / measured[at] - 1);
  return (ValidationXc30Score){ .spearman = scores.spearman,
                                .median_error = validation_median (errors, n),
                                .mean_error = scores.mape };
}

/* The factor a with the least sum of |y - a x| over the codes but one: a weighted median.  1: no x differs
 * from 0. */
static double
left_of_slowdowns (const ValidationXc30 *result, guint without, guint count)
{
  g_autofree double *ratio = g_new (double, result->n_codes),
                    *weight = g_new (double, result->n_codes);
  double all = 0, below = 0;
  guint n = 0;

  for (guint code = 0; code < result->n_codes; code++) {
    double x = log (result->predicted[code * result->n_counts + count]);
    double y = log (result->measured[code * result->n_counts + count]);
    guint place = n;

    if (code == without || x == 0)
      continue;
    for (; place > 0 && ratio[place - 1] > y / x; place--) {
      ratio[place] = ratio[place - 1];
      weight[place] = weight[place - 1];
    }
    ratio[place] = y / x;
    weight[place] = fabs (x);
    all += fabs (x);
    n++;
  }
  for (guint at = 0; at < n; at++) {
    below += weight[at];
    if (below >= all / 2)
      return ratio[at];
  }
  return 1;
}

static void
fill (ValidationXc30 *result, const Runs *runs, const PredictNodeFigures *figures)
{
  guint n_codes = runs->codes->len, n_counts = runs->ranks->len, n = n_codes * n_counts;
  g_autofree double *measured = NULL, *predicted = NULL, *carried = NULL, *faded = NULL;
  g_autofree double *place = NULL;
  g_auto (PredictRanking) ranking = { 0 };

  *result = (ValidationXc30){ .n_codes = n_codes,
                              .n_counts = n_counts,
                              .code = g_new0 (char *, n_codes + 1),
                              .ranks = g_memdup2 (runs->ranks->data, n_counts * sizeof (double)),
                              .measured = g_new (double, n),
                              .predicted = g_new (double, n),
                              .carried = g_new (double, n),
                              .faded = g_new (double, n),
                              .memory_share = g_new (double, n_codes),
                              .overhead = figures->overhead };
  for (guint code = 0; code < n_codes; code++) {
    double *slowdown = result->measured + code * n_counts;

    result->code[code] = g_strdup (g_ptr_array_index (runs->codes, code));
    result->memory_share[code] = figures->memory_share[code];
    for (guint count = 0; count < n_counts; count++) {
      PredictTimedRun sparse = run_of (runs, code, count, SPARSE);
      PredictTimedRun dense = run_of (runs, code, count, DENSE);

      slowdown[count] = dense.seconds / sparse.seconds;
      result->predicted[code * n_counts + count] =
          predict_node_time (figures, &dense) / predict_node_time (figures, &sparse);
    }
    for (guint count = 0; count < n_counts; count++)
      result->carried[code * n_counts + count] = (slowdown[0] + slowdown[1]) / 2;
  }
  for (guint code = 0; code < n_codes; code++)
    for (guint count = 0; count < n_counts; count++) {
      guint at = code * n_counts + count;

      result->faded[at] =
          count < VALIDATION_XC30_LEARNED
              ? result->predicted[at]
              : exp (left_of_slowdowns (result, code, count) * log (result->predicted[at]));
    }
  measured = held_out (result, result->measured, &n);
  predicted = held_out (result, result->predicted, &n);
  carried = held_out (result, result->carried, &n);
  result->model = score (measured, predicted, n);
  result->mean = score (measured, carried, n);
  faded = held_out (result, result->faded, &n);
  result->left_out = score (measured, faded, n);
  result->falls_back = !(result->left_out.spearman > result->mean.spearman &&
                         result->left_out.median_error < result->mean.median_error);
  /* Each value of the mean by its place in their order, equal ones by their own: no ties are left. */
  ranking = predict_ranking_new (carried, n);
  place = g_new (double, n);
  for (guint at = 0; at < n; at++)
    place[ranking.order[at]] = at;
  result->mean_spearman_by_row = predict_score (measured, place, n).spearman;
}

gboolean
validation_xc30_vary (const char *csv_path, const PredictNodeAssumptions *assumptions,
                      const char *without, ValidationXc30 *result, GError **error)
{
  g_autoptr (StudyTextFile) built_in =
      csv_path == NULL ? study_text_file_new (published_csv, error) : NULL;
  const char *path = built_in != NULL ? built_in->path : csv_path;
  g_autoptr (PredictTable) table = path != NULL ? predict_table_read (path, error) : NULL;
  g_autoptr (GPtrArray) codes = g_ptr_array_new ();
  g_autoptr (GArray) ranks = g_array_new (FALSE, FALSE, sizeof (double));
  g_autoptr (GArray) learned = g_array_new (FALSE, FALSE, sizeof (PredictTimedRun));
  g_autofree double *seconds = NULL;
  g_autoptr (PredictNodeFigures) figures = NULL;
  Runs runs = { .path = csv_path, .codes = codes, .ranks = ranks };
  Columns columns;

  if (table == NULL || !find_columns (table, &columns, error) ||
      !list_runs (&runs, &columns, without, error))
    return FALSE;
  runs.seconds = seconds = g_new0 (double, codes->len * ranks->len * N_DENSITIES);
  if (!take_seconds (&runs, &columns, without, error))
    return FALSE;
  for (guint code = 0; code < codes->len; code++)
    for (guint count = 0; count < VALIDATION_XC30_LEARNED; count++)
      for (int density = SPARSE; density < N_DENSITIES; density++) {
        PredictTimedRun run = run_of (&runs, code, count, density);

        g_array_append_val (learned, run);
      }
  figures =
      predict_node_learn ((const PredictTimedRun *) (gconstpointer) learned->data, learned->len,
                          (const char *const *) codes->pdata, codes->len, assumptions, error);
  if (figures == NULL)
    return FALSE;
  fill (result, &runs, figures);
  return TRUE;
}

gboolean
validation_xc30 (const char *csv_path, ValidationXc30 *result, GError **error)
{
  return validation_xc30_vary (csv_path, &validation_xc30_assumptions, NULL, result, error);
}

void
validation_xc30_clear (ValidationXc30 *result)
{
  g_strfreev (result->code);
  g_free (result->ranks);
  g_free (result->measured);
  g_free (result->predicted);
  g_free (result->carried);
  g_free (result->faded);
  g_free (result->memory_share);
  *result = (ValidationXc30){ 0 };
}
