/* calibration.c - parameters of a machine, fitted to benchmarks of messages that were measured on it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/calibrate/calibration.h"

#include "base/student.h"
#include "base/vector.h"
#include "study/aggregate/network_pingpong.h"
#include "study/session/worker_pool.h"
#include "study/study_error.h"
#include "topology/library.h"

#include <cminpack.h>
#include <lapacke.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define SOFT             0.1  /* c: residuals from about here on count as they are, not squared */
#define STEP             0.02 /* of differences, in the logarithm of a parameter */
#define LEAST_SLOPE      0.02 /* doubling the parameter changes a time by a hundredth at least */
#define LEAST_OWN        0.1 /* of a column's square, apart from those of others: inflation by ten */
#define WIDEST           M_LN2
#define NEAR_BOUND       0.01 /* of the way between the bounds */
#define FARTHEST         20   /* of the search, where a bound is to nine digits */
#define TOLERANCE        3e-4
#define MOST_EVALUATIONS 40
#define N_BLOCKS         5 /* of sizes, left out one after the other */
#define PROBABILITY      0.95

/* --- What may be fitted --- */

typedef struct {
  const char *key; /* group.key */
  gsize offset;    /* of a 64-bit number in TopoParameters: picoseconds, or bytes per second */
  TopoUnit unit;
  double low, high; /* of what is physical */
} Candidate;

#define NS(ns)   ((ns) *1e3)
#define GBPS(gb) ((gb) *1e9)
#define LATENCY(key, field, low, high)                                         \
  {                                                                            \
    key, offsetof (TopoParameters, field), TOPO_UNIT_TIME, NS (low), NS (high) \
  }
#define BANDWIDTH(key, field, low, high)                                                \
  {                                                                                     \
    key, offsetof (TopoParameters, field), TOPO_UNIT_BANDWIDTH, GBPS (low), GBPS (high) \
  }

/* The bounds are wide: a parameter that runs to one has taken over something else. */
static const Candidate of_fabrics[] = {
  LATENCY ("hca.send_latency", hca.send_latency_ps, 10, 5000),
  LATENCY ("hca.receive_latency", hca.receive_latency_ps, 10, 5000),
  LATENCY ("hca.read_latency", hca.read_latency_ps, 10, 5000),
  LATENCY ("hca.device_latency", hca.device_latency_ps, 10, 5000),
  LATENCY ("hca.message_gap", hca.message_gap_ps, 1, 5000),
  LATENCY ("hca.dynamic_gap", hca.dynamic_gap_ps, 1, 5000),
  BANDWIDTH ("hca.pcie_bandwidth", hca.pcie_bandwidth_Bps, 0.2, 500),
  LATENCY ("ib.cable_latency", ib.cable_latency_ps, 1, 2000),
  LATENCY ("switch.latency", switches.latency_ps, 10, 2000),
  LATENCY ("mpi.send_overhead", mpi.send_overhead_ps, 1, 10000),
  LATENCY ("mpi.receive_overhead", mpi.receive_overhead_ps, 1, 10000),
  LATENCY ("mpi.call_overhead", mpi.call_overhead_ps, 1, 10000),
  LATENCY ("mpi.sm_latency", ompi.sm_latency_ps, 1, 10000),
  LATENCY ("mpi.sm_overhead", ompi.sm_overhead_ps, 1, 10000),
  LATENCY ("mpi.fragment_overhead", ompi.fragment_overhead_ps, 1, 10000),
  LATENCY ("mpi.registration", ompi.registration_ps, 10, 1000000),
  LATENCY ("mpi.registration_page", ompi.registration_page_ps, 1, 10000),
  BANDWIDTH ("ucx.copy_bandwidth", ucx.copy_bandwidth_Bps, 0.5, 200),
  LATENCY ("ucx.post", ucx.post_ps, 1, 10000),
  LATENCY ("ucx.receive", ucx.receive_ps, 1, 10000),
  LATENCY ("ucx.completion", ucx.completion_ps, 1, 10000),
  LATENCY ("ucx.registration", ucx.registration_ps, 1, 100000),
  LATENCY ("ucx.single_copy_overhead", ucx.single_copy_overhead_ps, 10, 100000),
  BANDWIDTH ("memory.core_bandwidth", memory.core_bandwidth_Bps, 0.5, 500),
  BANDWIDTH ("memory.core_memory_bandwidth", memory.core_memory_bandwidth_Bps, 0.5, 500),
  BANDWIDTH ("memory.core_transfer_bandwidth", memory.core_transfer_bandwidth_Bps, 0.5, 500),
  LATENCY ("memory.cache_latency", memory.cache_latency_ps, 1, 1000),
  LATENCY ("memory.transfer_latency", memory.transfer_latency_ps, 5, 2000),
  LATENCY ("memory.domain_latency", memory.domain_latency_ps, 1, 2000),
  LATENCY ("memory.package_latency", memory.package_latency_ps, 1, 2000),
};

static const Candidate of_tori[] = {
  LATENCY ("link.hop_latency", link.hop_latency_ps, 1, 2000),
  LATENCY ("messaging.injection_latency", messaging.injection_latency_ps, 1, 5000),
  LATENCY ("messaging.reception_latency", messaging.reception_latency_ps, 1, 5000),
  BANDWIDTH ("messaging.memory_bandwidth", messaging.memory_bandwidth_Bps, 0.2, 1000),
  LATENCY ("mpi.send_overhead", mpi.send_overhead_ps, 1, 20000),
  LATENCY ("mpi.receive_overhead", mpi.receive_overhead_ps, 1, 20000),
  LATENCY ("mpi.call_overhead", mpi.call_overhead_ps, 1, 20000),
  LATENCY ("mpi.shm_latency", mpi.shm_latency_ps, 1, 20000),
  BANDWIDTH ("mpi.shm_bandwidth", mpi.shm_bandwidth_Bps, 0.1, 500),
};

static uint64_t *
field_of (TopoParameters *parameters, const Candidate *candidate)
{
  return (uint64_t *) (void *) ((char *) parameters + candidate->offset);
}

/* Four digits are more than any interval leaves, and keep files legible. */
static uint64_t
rounded (double value)
{
  double unit = pow (10, floor (log10 (value)) - 3);

  return (uint64_t) llround (unit > 1 ? round (value / unit) * unit : value);
}

static char *
text_of (const Candidate *candidate, uint64_t value)
{
  return topo_unit_print (candidate->unit, (TopoValue){ .whole = value });
}

/* --- Simulations --- */

/* A point with the places of its ranks. */
typedef struct {
  StudyMeasuredPoint point;
  guint table, number; /* the number among all points of all tables */
  uint32_t *node;      /* [ranks]; its table's */
  uint8_t *core;
} Sample;

typedef struct {
  TopoMachine *machine; /* whose slots are cores */
  RoutePaths *paths;
  GArray *samples; /* (element-type Sample) */
  GPtrArray *places;
  guint n_threads;
  void (*progress) (void *data, double share);
  void *progress_data;
  /* Progress: a batch of simulations covers this share of the rest of a stage. */
  double now, end, batch;
  /* Of the batch: samples[chosen[j % n_chosen]] with the parameters free[] of row j / n_chosen. */
  const Candidate *const *free;
  guint n_free, n_chosen, n_jobs;
  const guint *chosen;
  const double *values; /* [rows][n_free] */
  double *logs;         /* [rows][n_chosen] */
} Bench;

static void
bench_clear (Bench *bench)
{
  g_clear_pointer (&bench->paths, route_paths_free);
  g_clear_pointer (&bench->samples, g_array_unref);
  g_clear_pointer (&bench->places, g_ptr_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Bench, bench_clear)

typedef struct {
  double log; /* NaN: error */
  char error[240];
} Made;

static GBytes *
make_simulation (void *data, guint job, gboolean *spent)
{
  const Bench *bench = data;
  const Sample *sample =
      &g_array_index (bench->samples, Sample, bench->chosen[job % bench->n_chosen]);
  gsize row = (gsize) (job / bench->n_chosen) * bench->n_free;
  g_autoptr (GError) error = NULL;
  Made made = { .log = (double) NAN };
  double simulated;

  (void) spent;
  for (guint at = 0; at < bench->n_free; at++)
    *field_of (&bench->machine->parameters, bench->free[at]) =
        (uint64_t) llround (bench->values[row + at]);
  simulated = study_benchmark_simulate (&sample->point.run, bench->machine, bench->paths,
                                        sample->node, sample->core, &error);
  if (error != NULL)
    g_strlcpy (made.error, error->message, sizeof made.error);
  else if (!(simulated > 0) || !isfinite (simulated))
    g_strlcpy (made.error, "a message took no time", sizeof made.error);
  else
    made.log = study_benchmark_log_time (&sample->point.run, simulated, sample->point.measured);
  return g_bytes_new (&made, sizeof made);
}

static gboolean
take_simulation (void *data, const StudyPoolResult *result, guint n_done, GError **error)
{
  Bench *bench = data;

  if (result != NULL) {
    Made made = { .log = (double) NAN };

    if (result->block != NULL)
      memcpy (&made, g_bytes_get_data (result->block, NULL), sizeof made);
    if (isnan (made.log)) {
      g_set_error (error, STUDY_ERROR, STUDY_ERROR_WORKER, "a simulation failed: %s",
                   result->block != NULL ? made.error : result->lost);
      return FALSE;
    }
    bench->logs[result->job] = made.log;
  }
  if (bench->progress != NULL)
    bench->progress (bench->progress_data, bench->now + bench->batch * (bench->end - bench->now) *
                                                            n_done / bench->n_jobs);
  return TRUE;
}

/* Simulates n_chosen samples with each of n_rows rows of values. */
static gboolean
simulate (Bench *bench, const guint *chosen, guint n_chosen, const double *values, guint n_rows,
          double *logs, GError **error)
{
  bench->chosen = chosen;
  bench->n_chosen = n_chosen;
  bench->values = values;
  bench->logs = logs;
  bench->n_jobs = n_rows * n_chosen;
  if (!study_pool_run (bench->n_threads, bench->n_jobs, make_simulation, take_simulation, bench,
                       error))
    return FALSE;
  bench->now += bench->batch * (bench->end - bench->now);
  return TRUE;
}

/* --- Samples --- */

static gboolean
open_bench (Bench *bench, TopoMachine *machine, guint n_threads, GError **error)
{
  *bench = (Bench){ .machine = machine,
                    .samples = g_array_new (FALSE, FALSE, sizeof (Sample)),
                    .places = g_ptr_array_new_with_free_func (g_free),
                    .n_threads = n_threads };
  bench->paths = route_paths_new (machine, error);
  return bench->paths != NULL;
}

/* Adds the points of a table of at most so many packets; *n_long: the others.  `machine` has the slots
 * of its file. */
static gboolean
add_samples (Bench *bench, const TopoMachine *machine, const GPtrArray *tables, guint at,
             double most_packets, guint *n_long, GError **error)
{
  const StudyMeasured *table = g_ptr_array_index (tables, at);
  Sample sample = { .table = at,
                    .node = g_new (uint32_t, table->n_ranks),
                    .core = g_new (uint8_t, table->n_ranks) };

  for (guint i = 0; i < at; i++)
    sample.number += ((const StudyMeasured *) g_ptr_array_index (tables, i))->points->len;
  g_ptr_array_add (bench->places, sample.node);
  g_ptr_array_add (bench->places, sample.core);
  if (!study_measured_place (table, machine, sample.node, sample.core, error))
    return FALSE;
  for (guint i = 0; i < table->points->len; i++, sample.number++) {
    sample.point = g_array_index (table->points, StudyMeasuredPoint, i);
    if (study_benchmark_packets (&sample.point.run, machine) > most_packets)
      ++*n_long;
    else
      g_array_append_val (bench->samples, sample);
  }
  return TRUE;
}

/* --- The fit --- */

typedef struct {
  Bench *bench;
  const guint *chosen;
  guint n_chosen;
  GError *error;
} Fit;

static double
share_of (double inner)
{
  return 1 / (1 + exp (-CLAMP (inner, -FARTHEST, FARTHEST)));
}

static double
value_of (const Candidate *candidate, double inner)
{
  return candidate->low * pow (candidate->high / candidate->low, share_of (inner));
}

static double
inner_of (const Candidate *candidate, double value)
{
  double share = log (value / candidate->low) / log (candidate->high / candidate->low);

  share = CLAMP (share, NEAR_BOUND, 1 - NEAR_BOUND);
  return log (share / (1 - share));
}

/* c times the square root of 2 (sqrt (1 + (r / c)^2) - 1), with r's sign; and its slope. */
static double
soft (double residual, double *slope)
{
  double square = residual * residual / (SOFT * SOFT), root = sqrt (1 + square);
  double size = sqrt (2 * square / (root + 1));

  *slope = size > 0 ? fabs (residual) / SOFT / (size * root) : 1;
  return copysign (SOFT * size, residual);
}

/* logs[n_chosen] at values[n_free], and, unless slopes is NULL, the slopes by the logarithms of the
 * parameters: slopes[n_free][n_chosen]. */
static gboolean
evaluate (Bench *bench, const guint *chosen, guint n_chosen, const double *values, double *logs,
          double *slopes, GError **error)
{
  guint n = bench->n_free;
  guint n_rows = slopes == NULL ? 1 : n + 1;
  g_autofree double *rows = g_new (double, n_rows *(gsize) MAX (n, 1));
  g_autofree double *all = g_new (double, n_rows *(gsize) n_chosen);

  for (guint row = 0; row < n_rows; row++) {
    memcpy (rows + (gsize) row * n, values, n * sizeof *rows);
    if (row > 0)
      rows[(gsize) row * n + row - 1] *= exp (STEP);
  }
  if (!simulate (bench, chosen, n_chosen, rows, n_rows, all, error))
    return FALSE;
  memcpy (logs, all, n_chosen * sizeof *logs);
  for (guint at = 0; slopes != NULL && at < n; at++)
    for (guint i = 0; i < n_chosen; i++)
      slopes[(gsize) at * n_chosen + i] = (all[(gsize) (at + 1) * n_chosen + i] - all[i]) / STEP;
  return TRUE;
}

/* As lmder calls it: residuals (wanted 1) or slopes (2) at inner[]; -1 ends the fit. */
static int
evaluate_inner (void *data, int n_points, int n_unknowns, const double *inner, double *residuals,
                double *slopes, int stride, int wanted)
{
  Fit *fit = data;
  const Candidate *const *free = fit->bench->free;
  g_autofree double *values = g_new (double, n_unknowns), *logs = g_new (double, n_points);
  double slope;

  g_assert (stride == n_points && (guint) n_points == fit->n_chosen);
  for (int at = 0; at < n_unknowns; at++)
    values[at] = value_of (free[at], inner[at]);
  if (!evaluate (fit->bench, fit->chosen, fit->n_chosen, values, logs, wanted == 2 ? slopes : NULL,
                 &fit->error))
    return -1;
  if (wanted == 1) {
    for (int i = 0; i < n_points; i++)
      residuals[i] = soft (logs[i], &slope);
    return 0;
  }
  for (int at = 0; at < n_unknowns; at++) {
    double share = share_of (inner[at]);
    double of_inner = log (free[at]->high / free[at]->low) * share * (1 - share);

    for (int i = 0; i < n_points; i++) {
      soft (logs[i], &slope);
      slopes[(gsize) at * (gsize) n_points + (gsize) i] *= slope * of_inner;
    }
  }
  return 0;
}

/* Changes values[n_free] to those that fit the chosen samples best. */
static gboolean
fit_values (Bench *bench, const guint *chosen, guint n_chosen, double *values, GError **error)
{
  gsize m = n_chosen, n = bench->n_free;
  Fit fit = { bench, chosen, n_chosen, NULL };
  g_autofree double *inner = g_new (double, n), *memory = g_new (double, m *(n + 2) + 5 * n);
  g_autofree int *pivots = g_new (int, n);
  double *residuals = memory + m * n, *spare = residuals + m, *rest = spare + m;
  int n_values, n_slopes;

  for (gsize at = 0; at < n; at++)
    inner[at] = inner_of (bench->free[at], values[at]);
  lmder (evaluate_inner, &fit, (int) m, (int) n, inner, residuals, memory, (int) m, TOLERANCE,
         TOLERANCE, 0, MOST_EVALUATIONS, rest, 1, 1, 0, &n_values, &n_slopes, pivots, rest + n,
         rest + 2 * n, rest + 3 * n, rest + 4 * n, spare);
  if (fit.error != NULL) {
    g_propagate_error (error, fit.error);
    return FALSE;
  }
  for (gsize at = 0; at < n; at++)
    values[at] = value_of (bench->free[at], inner[at]);
  return TRUE;
}

/* --- Which parameters the points determine --- */

/* Chooses candidates by QR with column pivoting on slopes[n][n_points], which is changed: the column with
 * the largest part that the chosen ones do not explain comes next.  why[] of one that is not chosen
 * gets the reason. */
static void
choose (const Candidate *const *candidates, guint n, double *slopes, guint n_points, char **why)
{
  g_autofree double *square = g_new (double, n), *largest = g_new0 (double, n);
  g_autofree guint *nearest = g_new0 (guint, n); /* the chosen one that explains most of a column */
  g_autofree bool *is_chosen = g_new0 (bool, n);

  for (guint at = 0; at < n; at++) {
    const double *column = slopes + (gsize) at * n_points;
    double most = 0;

    square[at] = base_dot (column, column, n_points);
    for (guint i = 0; i < n_points; i++)
      most = MAX (most, fabs (column[i]));
    if (most < LEAST_SLOPE)
      why[at] = g_strdup ("no effect on these figures");
  }
  /* As many unknowns as points would leave no residual to judge by. */
  for (guint n_chosen = 0;; n_chosen++) {
    guint best = n;
    double best_rest = 0;
    const double *column;

    for (guint at = 0; at < n; at++) {
      const double *other = slopes + (gsize) at * n_points;
      double rest = base_dot (other, other, n_points);

      if (is_chosen[at] || why[at] != NULL)
        continue;
      if (rest < LEAST_OWN * square[at])
        why[at] = g_strdup_printf ("not to be told from %s", candidates[nearest[at]]->key);
      else if (n_chosen + 1 >= n_points)
        why[at] = g_strdup ("too few figures");
      else if (rest > best_rest) {
        best = at;
        best_rest = rest;
      }
    }
    if (best == n)
      return;
    is_chosen[best] = true;
    column = slopes + (gsize) best * n_points;
    for (guint at = 0; at < n; at++) {
      double *other = slopes + (gsize) at * n_points;
      double factor = base_dot (column, other, n_points) / best_rest;
      double explained = factor * factor * best_rest;

      if (is_chosen[at])
        continue;
      if (explained > largest[at]) {
        largest[at] = explained;
        nearest[at] = best;
      }
      for (guint i = 0; i < n_points; i++)
        other[i] -= factor * column[i];
    }
  }
}

/* half[n_free]: half of the 95 % intervals of the logarithms of the parameters, by the variance of the
 * residuals and the slopes[n_free][n_points]; infinite when these do not determine one. */
static void
find_intervals (const double *logs, const double *slopes, guint n, guint n_points, double *half)
{
  g_autofree double *weighted = g_new (double, (gsize) n *n_points);
  g_autofree double *square = g_new (double, (gsize) n *n);
  double sum = 0, t = base_student_within (PROBABILITY, n_points - n);
  lapack_int singular;

  for (guint i = 0; i < n_points; i++) {
    double slope, residual = soft (logs[i], &slope);

    sum += residual * residual;
    for (guint at = 0; at < n; at++)
      weighted[(gsize) at * n_points + i] = slope * slopes[(gsize) at * n_points + i];
  }
  for (guint row = 0; row < n; row++)
    for (guint at = 0; at < n; at++)
      square[row * n + at] =
          base_dot (weighted + (gsize) row * n_points, weighted + (gsize) at * n_points, n_points);
  singular = LAPACKE_dpotrf (LAPACK_COL_MAJOR, 'L', (lapack_int) n, square, (lapack_int) n);
  g_assert (singular >= 0);
  if (singular > 0) {
    /* The slopes of this one are those of the ones before it, or nil. */
    memset (half, 0, n * sizeof *half);
    half[singular - 1] = INFINITY;
    return;
  }
  LAPACKE_dpotri (LAPACK_COL_MAJOR, 'L', (lapack_int) n, square, (lapack_int) n);
  for (guint at = 0; at < n; at++)
    half[at] = t * sqrt (square[at * n + at] * sum / (n_points - n));
}

/* --- Calibrating --- */

/* A calibration under way. */
typedef struct {
  TopoMachine *machine;
  Bench bench;
  guint *all;             /* [samples] 0, 1, 2 ... */
  GPtrArray *candidates;  /* (element-type Candidate) const */
  char **why;             /* [candidates] NULL: it is fitted */
  double *initial;        /* [candidates] */
  const Candidate **free; /* [n_free] those that are fitted */
  guint *number;          /* [n_free] their numbers among the candidates */
  guint n_free;
  double *values, *half;              /* [n_free] */
  double *before, *after, *predicted; /* [samples] */
  double *slopes;                     /* [n_free][samples] */
} Work;

static void
work_clear (Work *work)
{
  bench_clear (&work->bench);
  g_free (work->all);
  for (guint at = 0; work->why != NULL && at < work->candidates->len; at++)
    g_free (work->why[at]);
  g_free (work->why);
  g_clear_pointer (&work->candidates, g_ptr_array_unref);
  g_free (work->initial);
  g_free (work->free);
  g_free (work->number);
  g_free (work->values);
  g_free (work->half);
  g_free (work->before);
  g_free (work->after);
  g_free (work->predicted);
  g_free (work->slopes);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Work, work_clear)

static void
add_candidates (GPtrArray *candidates, const TopoMachine *machine)
{
  const TopoParameters *parameters = &machine->parameters;
  bool is_fabric = parameters->family == TOPO_FAMILY_FABRIC;
  const Candidate *all = is_fabric ? of_fabrics : of_tori;
  guint n = is_fabric ? G_N_ELEMENTS (of_fabrics) : G_N_ELEMENTS (of_tori);

  for (guint at = 0; at < n; at++) {
    g_auto (GStrv) parts = g_strsplit (all[at].key, ".", 2);

    if (!is_fabric ||
        !topo_library_ignores ((TopoLibrary) parameters->mpi.library, parts[0], parts[1]))
      g_ptr_array_add (candidates, (gpointer) &all[at]);
  }
}

/* Why a table is not fitted; NULL: it is. */
static const char *
reason_of (const StudyMeasured *table)
{
  const StudyBenchmark *benchmark = table->benchmark;

  if (benchmark == NULL)
    return "not simulated";
  if (benchmark->program >= STUDY_BENCHMARK_COLLECTIVE)
    return "a collective: only predicted";
  if (table->n_ranks > 2)
    return "several pairs: only predicted";
  return benchmark->program == STUDY_BENCHMARK_BOTH_WAYS ||
                 benchmark->program == STUDY_BENCHMARK_ANSWERED
             ? "both ways: only predicted"
             : NULL;
}

static gboolean
gather (Work *work, const TopoMachine *machine, const GPtrArray *tables,
        StudyCalibration *calibration, GError **error)
{
  for (guint at = 0; at < tables->len; at++) {
    StudyCalibratedTable *table = &calibration->tables[at];
    guint before = work->bench.samples->len;

    table->left_out = reason_of (g_ptr_array_index (tables, at));
    if (table->left_out == NULL && !add_samples (&work->bench, machine, tables, at,
                                                 STUDY_CALIBRATION_PACKETS, &table->n_long, error))
      return FALSE;
    table->n = work->bench.samples->len - before;
  }
  if (work->bench.samples->len >= 3)
    return TRUE;
  g_set_error (error, STUDY_ERROR, STUDY_ERROR_INPUT,
               "%u figures of messages: at least 3 are needed to fit anything",
               work->bench.samples->len);
  return FALSE;
}

/* Sets free[] to the candidates without a reason against them, with values[] as they are, or else from
 * initial[]. */
static void
free_candidates (Work *work)
{
  g_autofree double *known = g_memdup2 (work->initial, work->candidates->len * sizeof (double));

  for (guint at = 0; at < work->n_free; at++)
    known[work->number[at]] = work->values[at];
  work->n_free = 0;
  for (guint at = 0; at < work->candidates->len; at++)
    if (work->why[at] == NULL) {
      work->free[work->n_free] = g_ptr_array_index (work->candidates, at);
      work->number[work->n_free] = at;
      work->values[work->n_free++] = known[at];
    }
  work->bench.free = work->free;
  work->bench.n_free = work->n_free;
}

/* Chooses the parameters that the samples determine at the machine's values. */
static gboolean
choose_free (Work *work, GError **error)
{
  guint n = work->candidates->len, n_samples = work->bench.samples->len;
  g_autofree double *slopes = g_new (double, (gsize) n *n_samples);
  g_autofree double *logs = g_new (double, n_samples);

  if (!simulate (&work->bench, work->all, n_samples, NULL, 1, work->before, error))
    return FALSE;
  free_candidates (work);
  if (!evaluate (&work->bench, work->all, n_samples, work->values, logs, slopes, error))
    return FALSE;
  choose ((const Candidate *const *) (gconstpointer) work->candidates->pdata, n, slopes, n_samples,
          work->why);
  free_candidates (work);
  if (work->n_free > 0)
    return TRUE;
  g_set_error (error, STUDY_ERROR, STUDY_ERROR_INPUT, "the figures determine no parameter");
  return FALSE;
}

/* Gives the worst parameter back: one that is at a bound, or the one of the widest interval if that is too wide;
 * false: all are sound. */
static bool
drop_worst (Work *work)
{
  guint worst = work->n_free;

  for (guint at = 0; at < work->n_free; at++) {
    const Candidate *candidate = work->free[at];
    double share = log (work->values[at] / candidate->low) / log (candidate->high / candidate->low);

    if (share < NEAR_BOUND || share > 1 - NEAR_BOUND) {
      g_autofree char *text = text_of (candidate, rounded (work->values[at]));

      work->why[work->number[at]] = g_strdup_printf ("would run to a bound: %s", text);
      return true;
    }
    if (work->half[at] > WIDEST && (worst == work->n_free || work->half[at] > work->half[worst]))
      worst = at;
  }
  if (worst == work->n_free)
    return false;
  work->why[work->number[worst]] = g_strdup ("interval wider than a factor of two");
  return true;
}

static gboolean
fit_all (Work *work, GError **error)
{
  guint n_samples = work->bench.samples->len;

  for (;;) {
    if (!fit_values (&work->bench, work->all, n_samples, work->values, error) ||
        !evaluate (&work->bench, work->all, n_samples, work->values, work->after, work->slopes,
                   error))
      return FALSE;
    find_intervals (work->after, work->slopes, work->n_free, n_samples, work->half);
    if (!drop_worst (work))
      break;
    free_candidates (work);
    if (work->n_free == 0) {
      g_set_error (
          error, STUDY_ERROR, STUDY_ERROR_INPUT,
          "the figures determine no parameter: no interval is narrower than a factor of two");
      return FALSE;
    }
  }
  for (guint at = 0; at < work->n_free; at++)
    work->values[at] = (double) rounded (work->values[at]);
  return simulate (&work->bench, work->all, n_samples, work->values, 1, work->after, error);
}

static int
compare_sizes (const void *a, const void *b)
{
  uint64_t x = *(const uint64_t *) a, y = *(const uint64_t *) b;

  return (x > y) - (x < y);
}

/* Fits the parameters to the samples of all sizes but a block, and predicts that block, for each of
 * N_BLOCKS blocks. */
static gboolean
leave_out (Work *work, GError **error)
{
  guint n = work->bench.samples->len, n_sizes = 0, n_blocks;
  g_autofree uint64_t *sizes = g_new (uint64_t, n);
  g_autofree guint *rest = g_new (guint, n), *block = g_new (guint, n);
  g_autofree double *values = g_new (double, work->n_free), *logs = g_new (double, n);

  for (guint i = 0; i < n; i++)
    sizes[i] = g_array_index (work->bench.samples, Sample, i).point.run.bytes;
  qsort (sizes, n, sizeof *sizes, compare_sizes);
  for (guint i = 0; i < n; i++)
    if (i == 0 || sizes[i] != sizes[n_sizes - 1])
      sizes[n_sizes++] = sizes[i];
  n_blocks = MIN (n_sizes, N_BLOCKS);
  for (guint at = 0; at < n_blocks; at++) {
    uint64_t first = sizes[at * n_sizes / n_blocks];
    uint64_t last = sizes[(at + 1) * n_sizes / n_blocks - 1];
    guint n_rest = 0, n_block = 0;

    for (guint i = 0; i < n; i++) {
      uint64_t bytes = g_array_index (work->bench.samples, Sample, i).point.run.bytes;

      if (bytes >= first && bytes <= last)
        block[n_block++] = i;
      else
        rest[n_rest++] = i;
    }
    /* From the machine's own values: the fitted ones know the block. */
    for (guint i = 0; i < work->n_free; i++)
      values[i] = work->initial[work->number[i]];
    work->bench.end = 0.5 + 0.5 * (at + 1) / n_blocks;
    if ((n_rest > work->n_free && !fit_values (&work->bench, rest, n_rest, values, error)) ||
        !simulate (&work->bench, block, n_block, values, 1, logs, error))
      return FALSE;
    for (guint i = 0; i < n_block; i++)
      work->predicted[block[i]] = logs[i];
  }
  return TRUE;
}

/* --- The result --- */

static void
parameter_free (gpointer data)
{
  StudyCalibrated *parameter = data;

  g_free (parameter->why);
  g_free (parameter->initial);
  g_free (parameter->value);
  g_free (parameter->low);
  g_free (parameter->high);
  g_free (parameter);
}

void
study_calibration_free (StudyCalibration *calibration)
{
  if (calibration == NULL)
    return;
  g_ptr_array_unref (calibration->parameters);
  g_free (calibration->tables);
  g_free (calibration);
}

/* The tables that a fitted parameter changes, with their lines. */
static char *
origin_of (const Work *work, guint at, const GPtrArray *tables)
{
  guint n = work->bench.samples->len;
  GString *text = g_string_new (NULL);

  for (guint table = 0; table < tables->len; table++) {
    const StudyMeasured *measured = g_ptr_array_index (tables, table);
    g_autofree char *name = g_path_get_basename (measured->path);
    double most = 0;

    for (guint i = 0; i < n; i++)
      if (g_array_index (work->bench.samples, Sample, i).table == table)
        most = MAX (most, fabs (work->slopes[(gsize) at * n + i]));
    if (most >= LEAST_SLOPE)
      g_string_append_printf (text, "%s%s:%u-%u", text->len > 0 ? ", " : "", name,
                              measured->first_line, measured->last_line);
  }
  return g_string_free (text, FALSE);
}

static void
add_parameters (const Work *work, const GPtrArray *tables, StudyCalibration *calibration)
{
  for (guint at = 0, i = 0; at < work->candidates->len; at++) {
    const Candidate *candidate = g_ptr_array_index (work->candidates, at);
    uint64_t *field = field_of (&work->machine->parameters, candidate);
    StudyCalibrated *parameter = g_new0 (StudyCalibrated, 1);

    parameter->key = candidate->key;
    parameter->initial = text_of (candidate, *field);
    parameter->is_fitted = work->why[at] == NULL;
    g_ptr_array_add (calibration->parameters, parameter);
    if (!parameter->is_fitted) {
      parameter->why = g_strdup (work->why[at]);
      parameter->value = g_strdup (parameter->initial);
      continue;
    }
    *field = (uint64_t) work->values[i];
    parameter->why = origin_of (work, i, tables);
    parameter->value = text_of (candidate, *field);
    parameter->low = text_of (candidate, rounded (work->values[i] * exp (-work->half[i])));
    parameter->high = text_of (candidate, rounded (work->values[i] * exp (work->half[i])));
    i++;
  }
}

static void
summarize (const Work *work, guint n_tables, StudyCalibration *calibration)
{
  guint n = work->bench.samples->len;

  calibration->before = study_benchmark_summary (work->before, n);
  calibration->after = study_benchmark_summary (work->after, n);
  calibration->predicted = study_benchmark_summary (work->predicted, n);
  /* The samples of a table follow each other. */
  for (guint table = 0, first = 0; table < n_tables; first += calibration->tables[table++].n) {
    StudyCalibratedTable *result = &calibration->tables[table];

    result->before = study_benchmark_summary (work->before + first, result->n);
    result->after = study_benchmark_summary (work->after + first, result->n);
    result->predicted = study_benchmark_summary (work->predicted + first, result->n);
  }
}

StudyCalibration *
study_calibrate (TopoMachine *machine, const GPtrArray *tables, guint n_threads,
                 void (*progress) (void *data, double share), void *data, GError **error)
{
  const TopoMachine given = *machine; /* for its slots */
  g_auto (Work) work = { .machine = machine, .candidates = g_ptr_array_new () };
  g_autoptr (StudyCalibration) calibration = g_new0 (StudyCalibration, 1);
  guint n, n_samples;
  bool done;

  calibration->parameters = g_ptr_array_new_with_free_func (parameter_free);
  calibration->tables = g_new0 (StudyCalibratedTable, tables->len + 1);
  add_candidates (work.candidates, machine);
  if (!open_bench (&work.bench, machine, n_threads, error) ||
      !gather (&work, machine, tables, calibration, error))
    return NULL;
  n = work.candidates->len;
  n_samples = work.bench.samples->len;
  work.bench.progress = progress;
  work.bench.progress_data = data;
  work.why = g_new0 (char *, n);
  work.initial = g_new (double, n);
  work.free = g_new (const Candidate *, n);
  work.number = g_new (guint, n);
  work.values = g_new (double, n);
  work.half = g_new (double, n);
  work.before = g_new (double, n_samples);
  work.after = g_new (double, n_samples);
  work.predicted = g_new (double, n_samples);
  work.slopes = g_new (double, (gsize) n *n_samples);
  work.all = g_new (guint, n_samples);
  for (guint i = 0; i < n_samples; i++)
    work.all[i] = i;
  for (guint at = 0; at < n; at++) {
    const Candidate *candidate = g_ptr_array_index (work.candidates, at);

    work.initial[at] = CLAMP ((double) *field_of (&machine->parameters, candidate), candidate->low,
                              candidate->high);
  }
  work.bench.batch = 0.2; /* their number is not known before */
  work.bench.end = 0.5;
  study_slots_are_cores (machine);
  done = choose_free (&work, error) && fit_all (&work, error) && leave_out (&work, error);
  machine->ranks_per_node = given.ranks_per_node;
  memcpy (machine->slot_core, given.slot_core, sizeof machine->slot_core);
  if (!done)
    return NULL;
  add_parameters (&work, tables, calibration);
  summarize (&work, tables->len, calibration);
  return g_steal_pointer (&calibration);
}

/* --- The machine file --- */

static double
percent (double spread)
{
  return 100 * expm1 (spread);
}

char *
study_calibration_print (const StudyCalibration *calibration, const TopoMachine *machine,
                         const GPtrArray *tables)
{
  g_autoptr (GArray) notes = g_array_new (FALSE, FALSE, sizeof (TopoParameterNote));
  g_autoptr (GPtrArray) texts = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GString) text = g_string_new ("# Calibrated by hopcast to\n");
  g_autofree char *file = NULL;

  for (guint at = 0; at < tables->len; at++) {
    const StudyMeasured *table = g_ptr_array_index (tables, at);

    if (calibration->tables[at].n > 0)
      g_string_append_printf (text, "#   %s:%u-%u, %s of %u ranks\n", table->path,
                              table->first_line, table->last_line, table->name, table->n_ranks);
  }
  g_string_append_printf (
      text,
      "# Median error of their %u figures: %.1f %% before, %.1f %% now, %.1f %% for"
      " sizes that are left out.\n"
      "# Not determined by them, and left as they were:\n",
      calibration->after.n, percent (calibration->before.spread),
      percent (calibration->after.spread), percent (calibration->predicted.spread));
  for (guint at = 0; at < calibration->parameters->len; at++) {
    const StudyCalibrated *parameter = g_ptr_array_index (calibration->parameters, at);
    TopoParameterNote note = { .key = parameter->key, .value = parameter->value };
    char *about;

    if (!parameter->is_fitted) {
      g_string_append_printf (text, "#   %s: %s\n", parameter->key, parameter->why);
      continue;
    }
    about = g_strdup_printf ("calibrated [M], 95 %% interval %s to %s, before %s:\n%s",
                             parameter->low, parameter->high, parameter->initial, parameter->why);
    g_ptr_array_add (texts, about);
    note.about = about;
    g_array_append_val (notes, note);
  }
  g_string_append_c (text, '\n');
  file = topo_machine_print_noted (machine, (const TopoParameterNote *) (gpointer) notes->data,
                                   notes->len);
  g_string_append (text, file);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

/* --- Predictions --- */

gboolean
study_calibration_test (TopoMachine *machine, const GPtrArray *tables, double most_packets,
                        guint n_threads, void (*progress) (void *data, double share), void *data,
                        double *logs, GError **error)
{
  const TopoMachine given = *machine; /* for its slots */
  g_auto (Bench) bench = { 0 };
  g_autofree guint *all = NULL;
  g_autofree double *simulated = NULL;
  guint n = 0;
  bool done;

  if (!open_bench (&bench, machine, n_threads, error))
    return FALSE;
  for (guint at = 0, first = 0; at < tables->len; at++) {
    const StudyMeasured *table = g_ptr_array_index (tables, at);

    for (guint i = 0; i < table->points->len; i++)
      logs[first + i] = (double) NAN;
    first += table->points->len;
  }
  for (guint at = 0; at < tables->len; at++) {
    const StudyMeasured *table = g_ptr_array_index (tables, at);
    guint n_long = 0;

    if (table->benchmark != NULL &&
        !add_samples (&bench, machine, tables, at, most_packets, &n_long, error))
      return FALSE;
  }
  n = bench.samples->len;
  all = g_new (guint, n + 1);
  simulated = g_new (double, n + 1);
  for (guint i = 0; i < n; i++)
    all[i] = i;
  bench.progress = progress;
  bench.progress_data = data;
  bench.batch = bench.end = 1;
  study_slots_are_cores (machine);
  done = n == 0 || simulate (&bench, all, n, NULL, 1, simulated, error);
  machine->ranks_per_node = given.ranks_per_node;
  memcpy (machine->slot_core, given.slot_core, sizeof machine->slot_core);
  for (guint i = 0; done && i < n; i++)
    logs[g_array_index (bench.samples, Sample, i).number] = simulated[i];
  return done;
}
