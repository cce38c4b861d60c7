/* surface.c - times as a smooth surface over the variables: a quadratic one, and kriging.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/correction/surface.h"

#include "base/random.h"
#include "predictors/formula/elementary.h"

#include <math.h>
#include <string.h>

#define SQRT5 2.23606797749978969641

/* --- Coordinates --- */

#define LEAST_SHARE 1e-9 /* of the smallest value that was learned from */

/* Columns that vary, and whether by their logarithms. */
static void
find_coordinates (PredictSurface *surface, const PredictPoints *points, uint32_t n_variables)
{
  surface->used = g_new (uint32_t, n_variables + 1);
  surface->log_variable = g_new (bool, n_variables + 1);
  surface->least = g_new (double, n_variables + 1);
  surface->mean = g_new (double, n_variables + 1);
  surface->unit = g_new (double, n_variables + 1);
  for (uint32_t variable = 0; variable < n_variables; variable++) {
    const double *column = points->columns[variable];
    uint32_t at = surface->n_used;
    double sum = 0, squares = 0, least = column[0], n = (double) points->n;
    bool positive, varies = false;

    for (uint64_t point = 0; point < points->n; point++) {
      least = fmin (least, column[point]);
      varies = varies || column[point] != column[0];
    }
    positive = least > 0;
    if (!varies)
      continue;
    for (uint64_t point = 0; point < points->n; point++)
      sum += positive ? predict_log (column[point]) : column[point];
    for (uint64_t point = 0; point < points->n; point++) {
      double value = (positive ? predict_log (column[point]) : column[point]) - sum / n;

      squares += value * value;
    }
    surface->used[at] = variable;
    surface->log_variable[at] = positive;
    surface->least[at] = LEAST_SHARE * least;
    surface->mean[at] = sum / n;
    surface->unit[at] = squares > 0 ? sqrt (squares / n) : 1;
    surface->n_used++;
  }
}

/* places[n_used][points->n]; the caller frees. */
static double *
find_places (const PredictSurface *surface, const PredictPoints *points)
{
  double *places = g_new (double, surface->n_used * points->n + 1);

  for (uint32_t at = 0; at < surface->n_used; at++) {
    const double *column = points->columns[surface->used[at]];

    for (uint64_t point = 0; point < points->n; point++) {
      double value = column[point];

      if (surface->log_variable[at])
        value = predict_log (fmax (value, surface->least[at]));
      places[at * points->n + point] = (value - surface->mean[at]) / surface->unit[at];
    }
  }
  return places;
}

/* --- The quadratic surface --- */

/* Linear terms, then squares and products; without a target.  The caller frees. */
static PredictSamples *
quadratic_terms (const double *places, uint32_t n_used, uint64_t n)
{
  guint n_terms = n_used + n_used * (n_used + 1) / 2, term = n_used;
  PredictSamples *samples = predict_samples_new (n, n_terms, TRUE);

  for (uint32_t a = 0; a < n_used; a++) {
    for (uint64_t point = 0; point < n; point++)
      samples->x[a * n + point] = (float) places[a * n + point];
    for (uint32_t b = a; b < n_used; b++, term++)
      for (uint64_t point = 0; point < n; point++)
        samples->x[term * n + point] = (float) (places[a * n + point] * places[b * n + point]);
  }
  return samples;
}

static bool
fit_quadratic (PredictSurface *surface, const double *places, const double *times, uint64_t n,
               GError **error)
{
  g_autoptr (PredictSamples) samples = quadratic_terms (places, surface->n_used, n);
  PredictRidgeChoice choice = { 0 };

  memcpy (samples->y, times, n * sizeof *times);
  if (surface->n_used > 0 && !predict_ridge_choose (samples, &choice, error))
    return false;
  g_free (choice.left_out);
  surface->ridge = choice.ridge;
  surface->linear = predict_linear_fit (samples, choice.ridge, error);
  return surface->linear != NULL;
}

/* --- Kriging ---
 *
 * The matrix is factored here and not by LAPACK: a search follows the likelihood, and the last digits of
 * LAPACK's factors, which depend on the processor and its threads, would lead it elsewhere. */

#define LEAST_NOISE      1e-6
#define LARGEST_NOISE    1.0
#define LEAST_LENGTH     0.1
#define LARGEST_LENGTH   30.0
#define SEARCHED_POINTS  200u /* of whose likelihood lengths and noise are found */
#define LEAST_STEP       0.05 /* of logarithms */
#define MOST_EVALUATIONS 600u
#define DRAW_STREAM      0x6b726967u

/* Matern 5/2 of a distance. */
static double
matern (double distance)
{
  double scaled = SQRT5 * distance;

  return (1 + scaled + scaled * scaled / 3) * predict_exp (-scaled);
}

static double
correlation (const double *a, uint64_t a_stride, const double *b, uint64_t b_stride,
             const double *lengths, uint32_t n_used)
{
  double squares = 0;

  for (uint32_t at = 0; at < n_used; at++) {
    double difference = (a[at * a_stride] - b[at * b_stride]) / lengths[at];

    squares += difference * difference;
  }
  return matern (sqrt (squares));
}

/* A Cholesky factor in the lower triangle of matrix[n][n], by rows; false: not positive definite. */
static bool
factor (double *matrix, uint64_t n)
{
  for (uint64_t row = 0; row < n; row++)
    for (uint64_t column = 0; column <= row; column++) {
      double sum = matrix[row * n + column];

      for (uint64_t at = 0; at < column; at++)
        sum -= matrix[row * n + at] * matrix[column * n + at];
      if (row != column)
        matrix[row * n + column] = sum / matrix[column * n + column];
      else if (!(sum > 0))
        return false;
      else
        matrix[row * n + row] = sqrt (sum);
    }
  return true;
}

/* Solves (L L') x = vector in place. */
static void
solve (const double *factored, uint64_t n, double *vector)
{
  for (uint64_t row = 0; row < n; row++) {
    for (uint64_t at = 0; at < row; at++)
      vector[row] -= factored[row * n + at] * vector[at];
    vector[row] /= factored[row * n + row];
  }
  for (uint64_t row = n; row-- > 0;) {
    for (uint64_t at = row + 1; at < n; at++)
      vector[row] -= factored[at * n + row] * vector[at];
    vector[row] /= factored[row * n + row];
  }
}

/* The points that a process is fitted to, and memory. */
typedef struct {
  const double *places; /* [n_used][stride] */
  const double *times;
  uint64_t n, stride;
  uint32_t n_used;
  double *matrix; /* [n][n] */
  double *ones, *weights;
} Process;

/* weights[], *constant; returns the logarithm of the likelihood with the best mean and variance, but
 * for a constant: -n/2 log variance - 1/2 log |R|; -INFINITY: the matrix is singular. */
static double
find_weights (Process *process, const double *lengths, double noise, double *constant)
{
  uint64_t n = process->n;
  double of_ones = 0, of_times = 0, squares = 0, determinant = 0;

  for (uint64_t row = 0; row < n; row++) {
    for (uint64_t column = 0; column < row; column++)
      process->matrix[row * n + column] =
          correlation (process->places + row, process->stride, process->places + column,
                       process->stride, lengths, process->n_used);
    process->matrix[row * n + row] = 1 + noise;
  }
  if (!factor (process->matrix, n))
    return -INFINITY;
  for (uint64_t at = 0; at < n; at++) {
    process->ones[at] = 1;
    process->weights[at] = process->times[at];
  }
  solve (process->matrix, n, process->ones);
  solve (process->matrix, n, process->weights);
  for (uint64_t at = 0; at < n; at++) {
    of_ones += process->ones[at];
    of_times += process->weights[at];
    determinant += 2 * predict_log (process->matrix[at * n + at]);
  }
  *constant = of_times / of_ones;
  for (uint64_t at = 0; at < n; at++) {
    process->weights[at] -= *constant * process->ones[at];
    squares += process->weights[at] * (process->times[at] - *constant);
  }
  if (!(squares > 0))
    return -INFINITY;
  return -0.5 * ((double) n * predict_log (squares / (double) n) + determinant);
}

/* inner[n_used + 1]: logarithms of the lengths and of the noise. */
static double
likelihood_of (Process *process, const double *inner, double *lengths)
{
  double constant;

  for (uint32_t at = 0; at < process->n_used; at++)
    lengths[at] = predict_exp (inner[at]);
  return find_weights (process, lengths, predict_exp (inner[process->n_used]), &constant);
}

/* The greatest likelihood: from the best of a few places where all lengths are the same, steps along each
 * coordinate that halve when none helps (Hooke and Jeeves 1961 without the pattern move). */
static void
search_kernel (Process *process, PredictKernel *kernel)
{
  static const double lengths[] = { 0.5, 1, 2, 5 }, noises[] = { 1e-4, 1e-2, 1e-1 };
  uint32_t n_inner = process->n_used + 1;
  g_autofree double *inner = g_new (double, n_inner), *start = g_new (double, n_inner);
  double best = -INFINITY, step = 1;
  uint32_t n_evaluations = 0;

  for (guint i = 0; i < G_N_ELEMENTS (lengths) * G_N_ELEMENTS (noises); i++) {
    double likelihood;

    for (uint32_t at = 0; at < process->n_used; at++)
      start[at] = predict_log (lengths[i % G_N_ELEMENTS (lengths)]);
    start[process->n_used] = predict_log (noises[i / G_N_ELEMENTS (lengths)]);
    likelihood = likelihood_of (process, start, kernel->lengths);
    if (i == 0 || likelihood > best) {
      best = likelihood;
      memcpy (inner, start, n_inner * sizeof *inner);
    }
  }
  while (step >= LEAST_STEP && n_evaluations < MOST_EVALUATIONS) {
    bool moved = false;

    for (uint32_t at = 0; at < n_inner; at++)
      for (int sign = -1; sign <= 1; sign += 2) {
        double before = inner[at], likelihood;
        bool is_noise = at == process->n_used;

        inner[at] =
            fmin (fmax (before + sign * step, predict_log (is_noise ? LEAST_NOISE : LEAST_LENGTH)),
                  predict_log (is_noise ? LARGEST_NOISE : LARGEST_LENGTH));
        likelihood = likelihood_of (process, inner, kernel->lengths);
        n_evaluations++;
        if (likelihood > best) {
          best = likelihood;
          moved = true;
          break;
        }
        inner[at] = before;
      }
    if (!moved)
      step /= 2;
  }
  for (uint32_t at = 0; at < process->n_used; at++)
    kernel->lengths[at] = predict_exp (inner[at]);
  kernel->noise = predict_exp (inner[process->n_used]);
}

/* `most` of the n points, in random order. */
static uint64_t *
draw_points (uint64_t n, uint64_t most)
{
  BaseRandom random = base_random_stream (1, DRAW_STREAM);
  uint64_t *order = g_new (uint64_t, n);

  for (uint64_t at = 0; at < n; at++)
    order[at] = at;
  for (uint64_t at = 0; at < MIN (most, n - 1); at++) {
    uint64_t other = at + base_random_below (&random, n - at), swapped = order[at];

    order[at] = order[other];
    order[other] = swapped;
  }
  return order;
}

static void
fit_kriging (PredictSurface *surface, const double *places, const double *times, uint64_t n,
             const PredictKernel *kernel)
{
  uint64_t n_kept = MIN (n, PREDICT_KRIGING_MOST);
  g_autofree uint64_t *order = draw_points (n, n_kept);
  g_autofree double *kept = g_new (double, n_kept), *ones = g_new (double, n_kept);
  g_autofree double *matrix = g_new (double, n_kept *n_kept);
  Process process = { .n_used = surface->n_used,
                      .times = kept,
                      .n = MIN (n_kept, SEARCHED_POINTS),
                      .stride = n_kept,
                      .matrix = matrix,
                      .ones = ones };

  surface->n = n_kept;
  process.places = surface->places = g_new (double, surface->n_used *n_kept + 1);
  process.weights = surface->weights = g_new (double, n_kept);
  surface->kernel.lengths = g_new (double, surface->n_used + 1);
  for (uint64_t at = 0; at < n_kept; at++) {
    kept[at] = times[order[at]];
    for (uint32_t used = 0; used < surface->n_used; used++)
      surface->places[used * n_kept + at] = places[used * n + order[at]];
  }
  if (kernel != NULL) {
    memcpy (surface->kernel.lengths, kernel->lengths, surface->n_used * sizeof *kernel->lengths);
    surface->kernel.noise = kernel->noise;
  } else
    search_kernel (&process, &surface->kernel);
  process.n = n_kept;
  surface->likelihood =
      find_weights (&process, surface->kernel.lengths, surface->kernel.noise, &surface->constant);
  if (isfinite (surface->likelihood))
    return;
  /* All times are the same, or points so near that rounding hides their distance: the mean is left. */
  surface->constant = 0;
  for (uint64_t at = 0; at < n_kept; at++) {
    surface->constant += kept[at] / (double) n_kept;
    surface->weights[at] = 0;
  }
}

/* --- Both --- */

PredictSurface *
predict_surface_fit (PredictSurfaceKind kind, const PredictPoints *points, uint32_t n_variables,
                     const double *observed, const PredictKernel *kernel, GError **error)
{
  g_autoptr (PredictSurface) surface = g_new0 (PredictSurface, 1);
  g_autofree double *places = NULL, *times = g_new (double, points->n);
  double low = INFINITY, high = -INFINITY;

  g_assert (points->n >= 2);
  surface->kind = kind;
  find_coordinates (surface, points, n_variables);
  places = find_places (surface, points);
  surface->log_time = true;
  for (uint64_t point = 0; point < points->n; point++)
    surface->log_time = surface->log_time && observed[point] > 0;
  for (uint64_t point = 0; point < points->n; point++) {
    times[point] = surface->log_time ? predict_log (observed[point]) : observed[point];
    low = fmin (low, times[point]);
    high = fmax (high, times[point]);
  }
  surface->low = low - (high - low);
  surface->high = high + (high - low);
  if (kind == PREDICT_SURFACE_KRIGING)
    fit_kriging (surface, places, times, points->n, kernel);
  else if (!fit_quadratic (surface, places, times, points->n, error))
    return NULL;
  return g_steal_pointer (&surface);
}

void
predict_surface_free (PredictSurface *surface)
{
  if (surface == NULL)
    return;
  g_free (surface->used);
  g_free (surface->log_variable);
  g_free (surface->least);
  g_free (surface->mean);
  g_free (surface->unit);
  predict_linear_free (surface->linear);
  g_free (surface->places);
  g_free (surface->weights);
  g_free (surface->kernel.lengths);
  g_free (surface);
}

void
predict_surface_values (const PredictSurface *surface, const PredictPoints *points, double *values)
{
  g_autofree double *places = find_places (surface, points);

  if (surface->kind == PREDICT_SURFACE_QUADRATIC) {
    g_autoptr (PredictSamples) samples = quadratic_terms (places, surface->n_used, points->n);

    predict_linear_predict (surface->linear, samples, values);
  } else
    for (uint64_t point = 0; point < points->n; point++) {
      values[point] = surface->constant;
      for (uint64_t at = 0; at < surface->n; at++)
        values[point] += surface->weights[at] *
                         correlation (places + point, points->n, surface->places + at, surface->n,
                                      surface->kernel.lengths, surface->n_used);
    }
  for (uint64_t point = 0; point < points->n; point++) {
    double value = fmin (fmax (values[point], surface->low), surface->high);

    values[point] = surface->log_time ? predict_exp (value) : value;
  }
}

/* --- As a formula --- */

static void
append_number (GString *text, double value)
{
  g_autofree char *number = predict_number_text (value);

  g_string_append_printf (text, value < 0 ? "(%s)" : "%s", number);
}

/* " + FACTOR*" of what follows. */
static void
append_factor (GString *text, double factor)
{
  g_string_append (text, " + ");
  append_number (text, factor);
  g_string_append_c (text, '*');
}

/* Constant and terms, each less its mean. */
static void
append_quadratic (const PredictSurface *surface, const char *name, GString *text)
{
  const PredictLinear *linear = surface->linear;
  guint term = surface->n_used;

  append_number (text, linear->constant);
  for (uint32_t a = 0; a < surface->n_used; a++) {
    append_factor (text, linear->coefficients[a]);
    g_string_append_printf (text, "(%s_x%u - ", name, a + 1);
    append_number (text, linear->means[a]);
    g_string_append_c (text, ')');
    for (uint32_t b = a; b < surface->n_used; b++, term++) {
      append_factor (text, linear->coefficients[term]);
      g_string_append_printf (text, "(%s_x%u*%s_x%u - ", name, a + 1, name, b + 1);
      append_number (text, linear->means[term]);
      g_string_append_c (text, ')');
    }
  }
}

static void
append_kriging (const PredictSurface *surface, const char *name, GString *text)
{
  append_number (text, surface->constant);
  for (guint at = 0; surface->n_used > 0 && at < surface->n; at++) {
    append_factor (text, surface->weights[at]);
    g_string_append_printf (text, "(1 + %s_r%u + %s_r%u^2/3)*exp(-%s_r%u)", name, at + 1, name,
                            at + 1, name, at + 1);
  }
}

/* sqrt(5) times the distance from each point. */
static void
append_distances (const PredictSurface *surface, const char *name, GString *text)
{
  for (guint at = 0; surface->n_used > 0 && at < surface->n; at++) {
    g_string_append_printf (text, "%s_r%u = sqrt(0", name, at + 1);
    for (uint32_t used = 0; used < surface->n_used; used++) {
      append_factor (text, 5 / (surface->kernel.lengths[used] * surface->kernel.lengths[used]));
      g_string_append_printf (text, "(%s_x%u - ", name, used + 1);
      append_number (text, surface->places[used * surface->n + at]);
      g_string_append (text, ")^2");
    }
    g_string_append (text, ")\n");
  }
}

void
predict_surface_text (const PredictSurface *surface, const char *const *variables, const char *name,
                      GString *text)
{
  for (uint32_t at = 0; at < surface->n_used; at++) {
    g_string_append_printf (text, "%s_x%u = (", name, at + 1);
    if (surface->log_variable[at]) {
      g_string_append_printf (text, "log(max(%s, ", variables[surface->used[at]]);
      append_number (text, surface->least[at]);
      g_string_append (text, "))");
    } else
      g_string_append (text, variables[surface->used[at]]);
    g_string_append (text, " - ");
    append_number (text, surface->mean[at]);
    g_string_append (text, ")/");
    append_number (text, surface->unit[at]);
    g_string_append_c (text, '\n');
  }
  if (surface->kind == PREDICT_SURFACE_KRIGING)
    append_distances (surface, name, text);
  g_string_append_printf (text, "%s = %smin(max(", name, surface->log_time ? "exp(" : "(");
  if (surface->kind == PREDICT_SURFACE_KRIGING)
    append_kriging (surface, name, text);
  else
    append_quadratic (surface, name, text);
  g_string_append (text, ", ");
  append_number (text, surface->low);
  g_string_append (text, "), ");
  append_number (text, surface->high);
  g_string_append (text, "))\n");
}
