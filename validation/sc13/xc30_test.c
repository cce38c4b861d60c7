/* xc30_test.c - dense placement from sparse runs: a made-up machine, and the published one.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * With --verbose the figures of the handbook's page aggregation-models. */
#include "validation/sc13/xc30.h"

#include ".ci/test_data.h"
#include "study/aggregate/pattern_choice.h"
#include "validation/measured_curve.h"
#include "validation/published.h"

#include <glib/gstdio.h>
#include <math.h>

static char *folder;

#define HEADING "benchmark,ranks,ranks_per_node,cores_per_node,chips_per_node,median_s\n"

static char *
write_file (const char *text)
{
  g_autoptr (GError) error = NULL;
  char *path = g_build_filename (folder, "runs.csv", NULL);

  g_file_set_contents (path, text, -1, &error);
  g_assert_no_error (error);
  return path;
}

static void
add_pair (GString *text, const char *code, guint ranks, double dense, double sparse)
{
  g_string_append_printf (text, "%s,%u,24,24,2,%.17g\n%s,%u,12,24,2,%.17g\n", code, ranks, dense,
                          code, ranks, sparse);
}

/* Codes that scale, of which one does not use memory and two are slower by a third and two thirds. */
static char *
made_up (void)
{
  static const guint ranks[] = { 24, 48, 96, 192 };
  g_autoptr (GString) text = g_string_new (HEADING);

  for (gsize at = 0; at < G_N_ELEMENTS (ranks); at++) {
    double sparse = 4800.0 / ranks[at];

    add_pair (text, "alpha", ranks[at], sparse, sparse);
    add_pair (text, "beta", ranks[at], sparse * 4 / 3, sparse);
    add_pair (text, "gamma", ranks[at], sparse * 5 / 3, sparse);
    add_pair (text, "121.pop2", ranks[at], sparse * 100, sparse);
    g_string_append_printf (text, "alpha,%u,48,24,2,999\n", ranks[at]);
  }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

/* Data beyond all caches: what was learned is what is predicted, and both ways are exact. */
static void
test_made_up (void)
{
  PredictNodeAssumptions assumptions = validation_xc30_assumptions;
  g_autofree char *text = made_up (), *path = write_file (text);
  g_auto (ValidationXc30) result = { 0 };
  g_autoptr (GError) error = NULL;

  assumptions.footprint_bytes = INFINITY;
  validation_xc30_vary (path, &assumptions, NULL, &result, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (result.n_codes, ==, 3);
  g_assert_cmpuint (result.n_counts, ==, 4);
  g_assert_cmpstr (result.code[2], ==, "gamma");
  g_assert_cmpfloat_with_epsilon (result.overhead, 0, 1e-6);
  g_assert_cmpfloat_with_epsilon (result.memory_share[0], 0, 1e-6);
  g_assert_cmpfloat_with_epsilon (result.predicted[4 + 3], 4.0 / 3, 1e-4);
  g_assert_cmpfloat_with_epsilon (result.predicted[8 + 3], 5.0 / 3, 1e-4);
  g_assert_cmpfloat_with_epsilon (result.carried[8 + 3], 5.0 / 3, 1e-12);
  g_assert_cmpfloat (result.model.median_error, <, 1e-4);
  g_assert_cmpfloat (result.mean.median_error, <, 1e-12);
}

/* Slow-downs of which less is left with more ranks, in all codes alike: the other codes tell how much.  Where all
 * of them stay, carrying over is exact, and the fallback. */
static void
test_fades (void)
{
  static const guint ranks[] = { 24, 48, 96, 192 };
  static const char *const codes[] = { "alpha", "beta", "gamma", "delta" };
  static const double slow[] = { 0.1, 0.2, 0.3, 0.5 };
  PredictNodeAssumptions assumptions = validation_xc30_assumptions;

  assumptions.footprint_bytes = INFINITY;
  assumptions.with_overhead = false;
  for (guint keep = 0; keep < 2; keep++) {
    static const double left[2][4] = { { 1, 1, 0.8, 0.25 }, { 1, 1, 1, 1 } };
    g_autoptr (GString) text = g_string_new (HEADING);
    g_autofree char *path = NULL;
    g_auto (ValidationXc30) result = { 0 };
    g_autoptr (GError) error = NULL;

    for (gsize code = 0; code < G_N_ELEMENTS (codes); code++)
      for (gsize at = 0; at < G_N_ELEMENTS (ranks); at++)
        add_pair (text, codes[code], ranks[at],
                  4800.0 / ranks[at] * exp (left[keep][at] * slow[code]), 4800.0 / ranks[at]);
    path = write_file (text->str);
    validation_xc30_vary (path, &assumptions, NULL, &result, &error);
    g_assert_no_error (error);
    g_assert_cmpfloat_with_epsilon (result.left_out.spearman, keep ? result.mean.spearman : 1,
                                    1e-6);
    g_assert_cmpfloat (result.left_out.median_error, <, 1e-4);
    if (keep)
      g_assert_true (result.falls_back); /* carrying over is exact */
    else
      g_assert_false (result.falls_back);
    for (gsize code = 0; code < G_N_ELEMENTS (codes) && !keep; code++)
      g_assert_cmpfloat_with_epsilon (result.faded[code * 4 + 3], exp (0.25 * slow[code]), 1e-4);
  }
}

/* Data that from 96 ranks on fits into caches where nodes are sparse: a working set of 5 MB, parts of 5.2
 * and 2.6 MB.  Of what leaves 256 KB the dense nodes miss (1/sqrt (C) - 1/sqrt (W)) / (1/sqrt (P)
 * - 1/sqrt (W)), each line 12 * 8.7 / 37.5 times as slowly; with 192 ranks nothing is missed. */
static void
test_working_set_shrinks (void)
{
  const double end = 1 / sqrt (5e6), beyond = 1 / sqrt (30.0 / 12 * 1024 * 1024) - end,
               all = 1 / sqrt (256 * 1024) - end;
  PredictNodeAssumptions assumptions = validation_xc30_assumptions;
  g_autofree char *text = made_up (), *path = write_file (text);
  g_auto (ValidationXc30) result = { 0 };
  g_autoptr (GError) error = NULL;
  double memory_share;

  assumptions.footprint_bytes = 96 * 5e6;
  assumptions.with_overhead = false;
  validation_xc30_vary (path, &assumptions, NULL, &result, &error);
  g_assert_no_error (error);
  memory_share = result.memory_share[2];
  g_assert_cmpfloat (memory_share, >, 0.1);
  g_assert_cmpfloat_with_epsilon (
      result.predicted[8 + 2],
      1 + memory_share / (1 - memory_share) * beyond / all * 12 * 8.7 / 37.5, 1e-9);
  g_assert_cmpfloat_with_epsilon (result.predicted[8 + 3], 1, 1e-12);
}

static void
test_left_out (void)
{
  g_autofree char *text = made_up (), *path = write_file (text);
  g_auto (ValidationXc30) result = { 0 };
  g_autoptr (GError) error = NULL;

  g_assert_false (
      validation_xc30_vary (path, &validation_xc30_assumptions, "beta", &result, &error));
  g_assert_error (error, VALIDATION_ERROR, VALIDATION_ERROR_DATA);
  g_assert_nonnull (g_strstr_len (error->message, -1, "2 codes and 4 counts"));
}

/* Whole texts, or texts of made_up() with one piece replaced. */
static void
test_bad_files (void)
{
  static const struct {
    const char *old, *text, *pattern; /* old NULL: text is all */
  } cases[] = {
    { "median_s", "seconds", "*runs.csv*median_s*" },
    { "alpha,24,24,24,2,200", "alpha,24,24,24,2,-1", "*runs.csv:2: ranks and times*" },
    { "alpha,24,24,24,2,200", "alpha,24,24,24,2,", "*runs.csv:2*median_s*" },
    { "alpha,24,24,24,2,200", "alpha,24,24,24,0,200", "*runs.csv:2: no node has*" },
    { "alpha,24,24,24,2,200", "alpha,24,24,24,4,200", "*runs.csv:3: nodes must be of one kind*" },
    { "alpha,24,12,24,2,200", "alpha,24,24,24,2,200", "*runs.csv:3: this run occurs twice" },
    { "alpha,96,12,24,2,50", "alpha,96,6,24,2,50",
      "*runs.csv: no run of alpha with 96 ranks on 12 cores of a node" },
    { NULL, HEADING "1,24,24,24,2,5\n", "*benchmark*has numbers*" },
    { NULL, HEADING "a,24,24,24,2,5\na,24,12,24,2,5\n", "*1 codes and 1 counts*" },
  };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autofree char *all = made_up (), *path = NULL;
    g_autoptr (GString) text = g_string_new (cases[at].old != NULL ? all : cases[at].text);
    g_auto (ValidationXc30) result = { 0 };
    g_autoptr (GError) error = NULL;

    if (cases[at].old != NULL)
      g_assert_cmpuint (g_string_replace (text, cases[at].old, cases[at].text, 1), ==, 1);
    path = write_file (text->str);
    g_assert_false (validation_xc30 (path, &result, &error));
    g_assert_nonnull (error);
    if (!g_pattern_match_simple (cases[at].pattern, error->message))
      g_error ("\"%s\" is not like \"%s\"", error->message, cases[at].pattern);
  }
}

static void
print_score (const char *what, double overhead, const ValidationXc30Score *score)
{
  g_test_message ("%-28s overhead %.3f  Spearman %.3f  median error %.2f %%  mean %.2f %%", what,
                  overhead, score->spearman, 100 * score->median_error, 100 * score->mean_error);
}

/* The published runs; FALSE: they are not there. */
static bool
published (const PredictNodeAssumptions *assumptions, const char *without, ValidationXc30 *result)
{
  g_autofree char *path = test_data ("measured/placement/spec_mpi2007_xc30.csv");
  g_autoptr (GError) error = NULL;

  if (path == NULL)
    return false;
  validation_xc30_vary (path, assumptions, without, result, &error);
  g_assert_no_error (error);
  return true;
}

/* The model is better than the mean in both scores. */
static void
assert_better (const char *what, const ValidationXc30 *result)
{
  print_score (what, result->overhead, &result->model);
  print_score ("  mean", 0, &result->mean);
  g_assert_cmpfloat (result->model.spearman, >, result->mean.spearman);
  g_assert_cmpfloat (result->model.median_error, <, result->mean.median_error);
}

/* The quoted figures of carrying the mean over are met, and those of the model by an implementation
 * of its formulae in another language.  Codes that compute only are a control: 122.tachyon is not
 * slowed. */
static void
test_published (void)
{
  g_auto (ValidationXc30) result = { 0 };

  if (!published (&validation_xc30_assumptions, NULL, &result))
    return;
  g_assert_cmpuint (result.n_codes, ==, 11);
  g_assert_cmpuint (result.n_counts, ==, 6);
  for (guint code = 0; code < result.n_codes; code++) {
    g_autoptr (GString) line = g_string_new (NULL);

    for (guint count = 0; count < result.n_counts; count++) {
      double predicted = result.predicted[code * result.n_counts + count];

      g_string_append_printf (line, "  %.2f %.2f", result.measured[code * result.n_counts + count],
                              predicted);
      if (g_str_equal (result.code[code], "122.tachyon"))
        g_assert_cmpfloat_with_epsilon (predicted, 1, 0.005);
    }
    g_test_message ("%-13s %.3f%s", result.code[code], result.memory_share[code], line->str);
  }
  g_assert_true (g_strv_contains ((const char *const *) result.code, "122.tachyon"));
  assert_better ("model", &result);
  g_assert_cmpfloat_with_epsilon (result.mean_spearman_by_row, 0.5495, 1e-4);
  g_assert_cmpfloat_with_epsilon (result.mean.spearman, 0.5816, 1e-3);
  g_assert_cmpfloat_with_epsilon (result.mean.median_error, 0.0614, 1e-4);
  g_assert_cmpfloat_with_epsilon (result.model.spearman, 0.679, 1e-3);
  g_assert_cmpfloat_with_epsilon (result.model.median_error, 0.0457, 1e-4);
  g_assert_cmpfloat_with_epsilon (result.overhead, 0.228, 2e-3);
  print_score ("  left out by turns", result.overhead, &result.left_out);
  /* By the same procedure in numpy. */
  g_assert_cmpfloat_with_epsilon (result.left_out.spearman, 0.762, 1e-3);
  g_assert_cmpfloat_with_epsilon (result.left_out.median_error, 0.0426, 2e-4);
  g_assert_cmpfloat_with_epsilon (result.left_out.mean_error, 0.0746, 1e-4);
  g_assert_false (result.falls_back);
}

/* The defaults of `aggregate` for programs of which nothing is known: the shares of these codes if all have more
 * data than any cache. */
static void
test_published_shares (void)
{
  PredictNodeAssumptions assumptions = validation_xc30_assumptions;
  g_auto (ValidationXc30) result = { 0 };
  double least = 1, most = 0;

  assumptions.footprint_bytes = INFINITY;
  if (!published (&assumptions, NULL, &result))
    return;
  for (guint code = 0; code < result.n_codes; code++) {
    least = fmin (least, result.memory_share[code]);
    most = fmax (most, result.memory_share[code]);
  }
  g_test_message ("shares %.3f to %.3f, median %.3f", least, most,
                  validation_median (result.memory_share, result.n_codes));
  g_assert_cmpfloat_with_epsilon (study_memory_unknown.share_low, least, 0.005);
  g_assert_cmpfloat_with_epsilon (study_memory_unknown.share_high, most, 0.005);
  g_assert_cmpfloat_with_epsilon (study_memory_unknown.share_middle,
                                  validation_median (result.memory_share, result.n_codes), 0.005);
}

/* No single code makes the difference. */
static void
test_published_without_each (void)
{
  g_auto (ValidationXc30) all = { 0 };

  if (!published (&validation_xc30_assumptions, NULL, &all))
    return;
  for (guint code = 0; code < all.n_codes; code++) {
    g_auto (ValidationXc30) result = { 0 };

    published (&validation_xc30_assumptions, all.code[code], &result);
    g_assert_cmpuint (result.n_codes, ==, all.n_codes - 1);
    assert_better (all.code[code], &result);
  }
}

/* Nor does the value of an assumption, within what sources allow. */
static void
test_published_assumptions (void)
{
  static const struct {
    const char *what;
    PredictNodeAssumptions assumptions;
  } variants[] = {
    { "footprint 8 GB", { 8e9, 0.5, 1.0 / 3, true } },
    { "footprint 32 GB", { 32e9, 0.5, 1.0 / 3, true } },
    { "footprint without end", { INFINITY, 0.5, 1.0 / 3, true } },
    { "reuse exponent 0.3", { 16e9, 0.3, 1.0 / 3, true } },
    { "reuse exponent 0.7", { 16e9, 0.7, 1.0 / 3, true } },
    { "growth 1/4", { 16e9, 0.5, 1.0 / 4, true } },
    { "growth 1/2", { 16e9, 0.5, 1.0 / 2, true } },
    { "growth 1", { 16e9, 0.5, 1, true } },
    { "no overhead", { 16e9, 0.5, 1.0 / 3, false } },
    { "no overhead, 4 GB", { 4e9, 0.5, 1.0 / 3, false } },
    { "no overhead, 32 GB", { 32e9, 0.5, 1.0 / 3, false } },
  };

  for (gsize at = 0; at < G_N_ELEMENTS (variants); at++) {
    g_auto (ValidationXc30) result = { 0 };

    if (!published (&variants[at].assumptions, NULL, &result))
      return;
    assert_better (variants[at].what, &result);
  }
}

int
main (int argc, char **argv)
{
  int status;

  g_test_init (&argc, &argv, NULL);
  folder = g_dir_make_tmp ("hopcast-xc30-XXXXXX", NULL);
  g_test_add_func ("/validation/xc30/made-up", test_made_up);
  g_test_add_func ("/validation/xc30/working-set-shrinks", test_working_set_shrinks);
  g_test_add_func ("/validation/xc30/left-out", test_left_out);
  g_test_add_func ("/validation/xc30/bad-files", test_bad_files);
  g_test_add_func ("/validation/xc30/published", test_published);
  g_test_add_func ("/validation/xc30/published-shares", test_published_shares);
  g_test_add_func ("/validation/xc30/fades", test_fades);
  g_test_add_func ("/validation/xc30/published-without-each", test_published_without_each);
  g_test_add_func ("/validation/xc30/published-assumptions", test_published_assumptions);
  status = g_test_run ();
  if (folder != NULL) {
    g_autofree char *path = g_build_filename (folder, "runs.csv", NULL);

    g_unlink (path);
    g_rmdir (folder);
    g_free (folder);
  }
  return status;
}
