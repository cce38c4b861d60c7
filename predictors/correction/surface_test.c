/* surface_test.c - surfaces against hand-worked cases, scikit-learn and numpy.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/correction/surface.h"

#include "base/random.h"
#include "predictors/formula/base_model.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <sys/wait.h>

#define N_LEARNED 30u
#define N_ASKED   12u

static PredictSurface *
fit (PredictSurfaceKind kind, const double *const *columns, uint64_t n, uint32_t n_variables,
     const double *observed, const PredictKernel *kernel)
{
  const PredictPoints points = { columns, n };
  GError *error = NULL;
  PredictSurface *surface =
      predict_surface_fit (kind, &points, n_variables, observed, kernel, &error);

  g_assert_no_error (error);
  return surface;
}

static double
value_at (const PredictSurface *surface, double x)
{
  const double *const columns[] = { &x };
  double value;

  predict_surface_values (surface, &(PredictPoints){ columns, 1 }, &value);
  return value;
}

/* Two points at -1 and 1 after standardising, times -1 and 1 (of which there are no logarithms), length
 * 2, noise 0.5.  k = matern (1) is their correlation.  The mean is 0 by symmetry, the weights are -+1 /
 * (1.5 - k), and the value at the second point is (1 - k) / (1.5 - k). */
static void
test_two_points (void)
{
  static const double x[] = { -3, 5 }, time[] = { -1, 1 };
  const double *const columns[] = { x };
  double length = 2, root = sqrt (5);
  const double k = (1 + root + 5.0 / 3) * exp (-root);
  const PredictKernel kernel = { &length, 0.5 };
  g_autoptr (PredictSurface) surface = fit (PREDICT_SURFACE_KRIGING, columns, 2, 1, time, &kernel);

  g_assert_false (surface->log_time);
  g_assert_cmpfloat_with_epsilon (surface->constant, 0, 1e-14);
  g_assert_cmpfloat_with_epsilon (value_at (surface, 5), (1 - k) / (1.5 - k), 1e-14);
  g_assert_cmpfloat_with_epsilon (value_at (surface, 1), 0, 1e-14);
  /* The determinant is 1.5^2 - k^2, the mean square of the whitened times 1 / (1.5 - k). */
  g_assert_cmpfloat_with_epsilon (surface->likelihood, log (1.5 - k) - 0.5 * log (2.25 - k * k),
                                  1e-13);
}

/* A law that is quadratic in logarithms is found again, and goes on beyond the points as far as the
 * range of times is wide. */
static void
test_quadratic_law (void)
{
  double x[9], time[9];
  const double *const columns[] = { x };
  g_autoptr (PredictSurface) surface = NULL;

  for (guint at = 0; at < 9; at++) {
    x[at] = pow (2, at);
    time[at] = exp (1 + 0.5 * log (x[at]) + 0.1 * log (x[at]) * log (x[at]));
  }
  surface = fit (PREDICT_SURFACE_QUADRATIC, columns, 9, 1, time, NULL);
  g_assert_cmpfloat_with_epsilon (
      value_at (surface, 24) / exp (1 + 0.5 * log (24) + 0.1 * log (24) * log (24)), 1, 1e-5);
  g_assert_cmpfloat_with_epsilon (value_at (surface, 1e30) / (time[8] * time[8] / time[0]), 1,
                                  1e-12);
  /* Next to nothing counts as a billionth, where the law is beyond the same end. */
  g_assert_cmpfloat_with_epsilon (value_at (surface, -1) / (time[8] * time[8] / time[0]), 1, 1e-12);
}

/* Smooth times without noise: kriging is near them between the points. */
static void
test_kriging_of_smooth_times (void)
{
  double x[20], time[20];
  const double *const columns[] = { x };
  g_autoptr (PredictSurface) surface = NULL;

  for (guint at = 0; at < 20; at++) {
    x[at] = 1 + at;
    time[at] = 2 + sin (x[at] / 3);
  }
  surface = fit (PREDICT_SURFACE_KRIGING, columns, 20, 1, time, NULL);
  for (double at = 1.5; at < 20; at++)
    g_assert_cmpfloat_with_epsilon (value_at (surface, at), 2 + sin (at / 3), 0.02);
  g_assert_cmpfloat (surface->kernel.noise, <, 1e-3);
}

/* Points twice, a column that is constant, times that are all the same, more points than are kept. */
static void
test_degenerate (void)
{
  enum { N = PREDICT_KRIGING_MOST + 500 };
  g_autofree double *x = g_new (double, N), *same = g_new (double, N), *time = g_new (double, N);
  const double *const columns[] = { x, same }, *const only[] = { same };

  for (guint at = 0; at < N; at++) {
    x[at] = 1 + at % 7;
    same[at] = 4;
    time[at] = 3;
  }
  for (int kind = PREDICT_SURFACE_QUADRATIC; kind <= PREDICT_SURFACE_KRIGING; kind++) {
    g_autoptr (PredictSurface) flat = fit ((PredictSurfaceKind) kind, columns, 40, 2, time, NULL);
    g_autoptr (PredictSurface) none = fit ((PredictSurfaceKind) kind, only, 40, 1, time, NULL);

    g_assert_cmpuint (flat->n_used, ==, 1);
    g_assert_cmpuint (none->n_used, ==, 0);
    g_assert_cmpfloat_with_epsilon (value_at (flat, 3), 3, 1e-12);
    g_assert_cmpfloat_with_epsilon (value_at (none, 3), 3, 1e-12);
  }
  for (guint at = 0; at < N; at++)
    time[at] = x[at] * x[at];
  {
    double length = 1;
    const PredictKernel kernel = { &length, 1e-6 };
    g_autoptr (PredictSurface) many = fit (PREDICT_SURFACE_KRIGING, columns, N, 1, time, &kernel);

    g_assert_cmpuint (many->n, ==, PREDICT_KRIGING_MOST);
    g_assert_cmpfloat_with_epsilon (value_at (many, 5), 25, 1e-3);
  }
}

/* The times of a made-up machine, with noise. */
static void
make_points (double *memory, const double **columns, double *observed, uint64_t n, uint64_t seed)
{
  BaseRandom random = base_random_stream (seed, 0);

  for (uint64_t at = 0; at < n; at++) {
    memory[at] = 64 * pow (2, 16 * base_random_unit (&random));
    memory[n + at] = 1 + (double) base_random_below (&random, 32);
    memory[2 * n + at] = 1 + (double) base_random_below (&random, 64);
    if (observed != NULL)
      observed[at] = (1e-6 + 1e-9 * memory[at]) * log (1 + memory[n + at] * memory[2 * n + at]) *
                     exp (0.1 * base_random_unit (&random));
  }
  for (guint at = 0; at < 3; at++)
    columns[at] = memory + at * n;
}

static void
append_rows (GString *text, const double *const *columns, const double *observed, uint64_t n)
{
  char number[G_ASCII_DTOSTR_BUF_SIZE];

  for (uint64_t at = 0; at < n; at++) {
    for (guint variable = 0; variable < 3; variable++)
      g_string_append_printf (text, "%s ",
                              g_ascii_dtostr (number, sizeof number, columns[variable][at]));
    if (observed != NULL)
      g_string_append (text, g_ascii_dtostr (number, sizeof number, observed[at]));
    g_string_append_c (text, '\n');
  }
}

/* Kriging with fixed lengths and noise is scikit-learn's, the quadratic surface numpy's lstsq. */
static void
test_reference (void)
{
  double known[3 * N_LEARNED], asked[3 * N_ASKED], observed[N_LEARNED], value[2 * N_ASKED];
  double lengths[] = { 1.5, 0.7, 3 };
  const double *learned[3], *places[3];
  const PredictKernel kernel = { lengths, 0.01 };
  g_autofree char *script =
      g_test_build_filename (G_TEST_DIST, "predictors/correction/surface_reference.py", NULL);
  char *command[] = { (char *) "/usr/bin/python3", script, NULL, NULL };
  g_autoptr (PredictSurface) quadratic = NULL, kriging = NULL;
  g_autoptr (GString) input = g_string_new (NULL);
  g_autofree char *output = NULL, *path = NULL;
  int status, file;
  char ridge[G_ASCII_DTOSTR_BUF_SIZE];
  g_auto (GStrv) lines = NULL;

  make_points (known, learned, observed, N_LEARNED, 1);
  make_points (asked, places, NULL, N_ASKED, 2);
  quadratic = fit (PREDICT_SURFACE_QUADRATIC, learned, N_LEARNED, 3, observed, NULL);
  kriging = fit (PREDICT_SURFACE_KRIGING, learned, N_LEARNED, 3, observed, &kernel);
  predict_surface_values (quadratic, &(PredictPoints){ places, N_ASKED }, value);
  predict_surface_values (kriging, &(PredictPoints){ places, N_ASKED }, value + N_ASKED);

  g_string_printf (input, "%u %u 3 %s 0.01 1.5 0.7 3\n", N_LEARNED, N_ASKED,
                   g_ascii_dtostr (ridge, sizeof ridge, quadratic->ridge));
  append_rows (input, learned, observed, N_LEARNED);
  append_rows (input, places, NULL, N_ASKED);
  file = g_file_open_tmp ("surface-XXXXXX", &path, NULL);
  g_assert_cmpint (file, >=, 0);
  g_close (file, NULL);
  g_assert_true (g_file_set_contents (path, input->str, -1, NULL));
  command[2] = path;
  if (!g_spawn_sync (NULL, command, NULL, G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL, &output, NULL,
                     &status, NULL)) {
    g_unlink (path);
    g_test_skip ("no /usr/bin/python3");
    return;
  }
  g_unlink (path);
  if (WIFEXITED (status) && WEXITSTATUS (status) == 77) {
    g_test_skip (output);
    return;
  }
  g_assert_cmpint (status, ==, 0);
  lines = g_strsplit (output, "\n", -1);
  g_assert_cmpuint (g_strv_length (lines), ==, 2 * N_ASKED + 2);
  for (guint at = 0; at < 2 * N_ASKED; at++)
    /* Terms of the quadratic surface are of single precision. */
    g_assert_cmpfloat_with_epsilon (value[at] / g_ascii_strtod (lines[at], NULL), 1,
                                    at < N_ASKED ? 1e-5 : 1e-9);
  g_assert_cmpfloat_with_epsilon (kriging->likelihood, g_ascii_strtod (lines[2 * N_ASKED], NULL),
                                  1e-8);
}

/* A search ends where no other lengths and noise nearby are likelier, and where the likelihood is
 * above that of any guess. */
static void
test_search (void)
{
  double memory[3 * N_LEARNED], observed[N_LEARNED];
  const double *columns[3];
  g_autoptr (PredictSurface) found = NULL;

  make_points (memory, columns, observed, N_LEARNED, 3);
  found = fit (PREDICT_SURFACE_KRIGING, columns, N_LEARNED, 3, observed, NULL);
  for (guint at = 0; at < 8; at++) {
    double lengths[3];
    PredictKernel other = { lengths, found->kernel.noise };
    g_autoptr (PredictSurface) moved = NULL;

    memcpy (lengths, found->kernel.lengths, sizeof lengths);
    if (at / 2 < 3)
      lengths[at / 2] = fmin (fmax (lengths[at / 2] * (at % 2 ? 1.3 : 1 / 1.3), 0.1), 30);
    else
      other.noise = fmin (fmax (other.noise * (at % 2 ? 1.3 : 1 / 1.3), 1e-6), 1);
    moved = fit (PREDICT_SURFACE_KRIGING, columns, N_LEARNED, 3, observed, &other);
    g_assert_cmpfloat (moved->likelihood, <, found->likelihood + 0.02);
  }
}

/* As a model file a surface has the same times. */
static void
test_text (void)
{
  static const char *const names[] = { "n", "m", "p", NULL };
  double memory[3 * N_LEARNED], observed[N_LEARNED], asked[3 * N_ASKED];
  const double *columns[3], *places[3];

  make_points (memory, columns, observed, N_LEARNED, 4);
  make_points (asked, places, NULL, N_ASKED, 5);
  asked[0] = -3;
  asked[1] = 1e40;
  for (guint at = 0; at < N_LEARNED; at++) /* one variable is not positive, and has no logarithm */
    memory[2 * N_LEARNED + at] -= 20;
  for (int kind = PREDICT_SURFACE_QUADRATIC; kind <= PREDICT_SURFACE_KRIGING; kind++) {
    g_autoptr (PredictSurface) surface =
        fit ((PredictSurfaceKind) kind, columns, N_LEARNED, 3, observed, NULL);
    g_autoptr (GString) text = g_string_new ("variable n, m, p\n");
    g_autoptr (PredictBaseModel) model = NULL;
    g_autoptr (PredictWorkspace) workspace = predict_workspace_new ();
    double values[N_ASKED], wanted[N_ASKED];
    GError *error = NULL;

    predict_surface_text (surface, names, "s", text);
    g_string_append (text, "time = s\n");
    model = predict_base_model_parse (text->str, "surface", &error);
    g_assert_no_error (error);
    g_assert_cmpuint (
        predict_values (model->time, &(PredictPoints){ places, N_ASKED }, NULL, workspace, values),
        ==, 0);
    predict_surface_values (surface, &(PredictPoints){ places, N_ASKED }, wanted);
    for (guint at = 0; at < N_ASKED; at++)
      g_assert_cmpfloat_with_epsilon (values[at] / wanted[at], 1, kind ? 1e-9 : 1e-4);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/predictors/surface/two-points", test_two_points);
  g_test_add_func ("/predictors/surface/quadratic-law", test_quadratic_law);
  g_test_add_func ("/predictors/surface/kriging-of-smooth-times", test_kriging_of_smooth_times);
  g_test_add_func ("/predictors/surface/degenerate", test_degenerate);
  g_test_add_func ("/predictors/surface/reference", test_reference);
  g_test_add_func ("/predictors/surface/text", test_text);
  g_test_add_func ("/predictors/surface/search", test_search);
  return g_test_run ();
}
