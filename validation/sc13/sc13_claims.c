/* sc13_claims.c - the claims of the SC13 paper, compared with simulated runs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "validation/sc13/sc13.h"

#include <math.h>
#include <string.h>

/* validation/data/sc13_published.csv as a string, made by the build. */
static const char published_csv[] =
#include "validation/sc13/sc13_published.inc"
    ;

#define PRIOR  "max_dilation,avg_bytes,max_bytes"
#define NEW    "avg_buffer,avg_buffer_TO,sum_dilation_AO,avg_bytes_AO,avg_bytes_TO"
#define HYBRID "H1,H2,H3,H4,H5,H6"

/* The largest of the points of a score; less the largest of others, when there are some.  score NULL:
 * how much slower the worst mapping of the case is than the best. */
typedef struct {
  const char *name, *kind, *of, *score, *points, *less;
} Claim;

static const Claim claims[] = {
  { "halo2d_8_variation", .of = "8.halo2d" },
  { "halo2d_512_variation", .of = "512.halo2d" },
  { "halo2d_16k_variation", .of = "16k.halo2d" },
  { "halo2d_large_variation", .of = "large.halo2d" },
  { "halo3d_8_variation", .of = "8.halo3d" },
  { "halo3d_512_variation", .of = "512.halo3d" },
  { "suba2a_8_variation", .of = "8.suba2a" },
  { "halo2d_16k_max_dilation", "score", "16k.halo2d", "rcc", "max_dilation", NULL },
  { "halo3d_16k_max_dilation", "score", "16k.halo3d", "rcc", "max_dilation", NULL },
  { "halo2d_16k_prior", "score", "16k.halo2d", "rcc", PRIOR, NULL },
  { "halo3d_512_prior", "score", "512.halo3d", "rcc", PRIOR, NULL },
  { "halo3d_16k_prior", "score", "16k.halo3d", "rcc", PRIOR, NULL },
  { "halo2d_max_bytes_leads", "score", "16k.halo2d", "rcc", "max_bytes", "max_dilation,avg_bytes" },
  { "halo3d_max_bytes_leads", "score", "16k.halo3d", "rcc", "max_bytes", "max_dilation,avg_bytes" },
  { "suba2a_avg_bytes_leads", "score", "512.suba2a", "rcc", "avg_bytes", "max_bytes" },
  { "halo2d_16k_max_bytes_r2", "score", "16k.halo2d", "r2", "max_bytes", NULL },
  { "halo3d_16k_max_bytes_r2", "score", "16k.halo3d", "r2", "max_bytes", NULL },
  { "suba2a_512_new", "score", "512.suba2a", "rcc", PRIOR "," NEW, NULL },
  { "halo3d_16k_new", "score", "16k.halo3d", "rcc", PRIOR "," NEW, NULL },
  { "halo2d_16k_hybrid", "score", "16k.halo2d", "rcc", HYBRID, NULL },
  { "halo3d_16k_hybrid", "score", "16k.halo3d", "rcc", HYBRID, NULL },
  { "suba2a_512_hybrid", "score", "512.suba2a", "rcc", HYBRID, NULL },
  { "halo2d_large_hybrid", "score", "large.halo2d", "rcc", HYBRID, NULL },
  { "halo3d_large_hybrid", "score", "large.halo3d", "rcc", HYBRID, NULL },
  { "halo2d_16k_hybrid_r2", "score", "16k.halo2d", "r2", HYBRID, NULL },
  { "halo2d_large_hybrid_r2", "score", "large.halo2d", "r2", HYBRID, NULL },
  { "hybrid_beats_prior_2d", "score", "16k.halo2d", "rcc", HYBRID, PRIOR },
  { "hybrid_beats_prior_3d", "score", "16k.halo3d", "rcc", HYBRID, PRIOR },
  { "high_halo2d_hybrid", "score", "high.16k.halo2d", "rcc", HYBRID, NULL },
  { "high_halo3d_hybrid", "score", "high.16k.halo3d", "rcc", HYBRID, NULL },
  { "high_suba2a_hybrid", "score", "high.16k.suba2a", "rcc", HYBRID, NULL },
  { "combined_avg_bytes", "score", "combined", "rcc", "avg_bytes", NULL },
  { "combined_best", "score", "combined", "rcc", PRIOR "," NEW "," HYBRID, NULL },
  { "transfer_H3", "transfer", "high", "rcc", "H3", NULL },
  { "transfer_best", "transfer", "high", "rcc", PRIOR "," NEW "," HYBRID, NULL },
  { "pf3d_max_bytes", "score", "pf3d", "rcc", "max_bytes", NULL },
  { "pf3d_sum_dilation_AO", "score", "pf3d", "rcc", "sum_dilation_AO", NULL },
  { "pf3d_hybrid", "score", "pf3d", "rcc", HYBRID, NULL },
  { "pf3d_H6", "score", "pf3d", "rcc", "H6", NULL },
  { "pf3d_max_bytes_r2", "score", "pf3d", "r2", "max_bytes", NULL },
  { "pf3d_H6_r2", "score", "pf3d", "r2", "H6", NULL },
};

/* Cases that are learned together.  The small study has the transfer's training set apart, of fewer
 * ranks per node. */
static const char *const combined[] = {
  "16k.halo2d", "16k.halo3d", "16k.suba2a", "large.halo2d", "large.halo3d", "large.suba2a", NULL
};
static const char *const low[] = { "low.16k.halo2d",
                                   "low.16k.halo3d",
                                   "low.16k.suba2a",
                                   "low.large.halo2d",
                                   "low.large.halo3d",
                                   "low.large.suba2a",
                                   NULL };
static const char *const high[] = { "high.16k.halo2d",
                                    "high.16k.halo3d",
                                    "high.16k.suba2a",
                                    "high.large.halo2d",
                                    "high.large.halo3d",
                                    "high.large.suba2a",
                                    NULL };

typedef struct {
  const ValidationWatch *watch;
  Sc13Book book;
  bool is_ready;
} Sc13;

static gpointer
open_sc13 (const ValidationWatch *watch)
{
  Sc13 *sc13 = g_new0 (Sc13, 1);

  sc13->watch = watch;
  sc13_book_init (&sc13->book, watch->details);
  return sc13;
}

static void
close_sc13 (gpointer state)
{
  Sc13 *sc13 = state;

  sc13_book_clear (&sc13->book);
  g_free (sc13);
}

/* Computes all numbers, whichever claim is asked for. */
static gboolean
read_and_learn (Sc13 *sc13, GError **error)
{
  const ValidationWatch *watch = sc13->watch;
  Sc13Book *book = &sc13->book;
  g_autoptr (Sc13Stores) stores = NULL;
  g_autoptr (Sc13Samples) all = NULL, from = NULL, to = NULL;

  if (watch->stores == NULL || *watch->stores == NULL) {
    g_set_error (error, VALIDATION_ERROR, VALIDATION_ERROR_EXPERIMENT,
                 "needs the stores that validation/sc13/run makes");
    return FALSE;
  }
  if ((stores = sc13_stores_read (watch->stores, error)) == NULL)
    return FALSE;
  for (guint i = 0; i < stores->cases->len; i++) {
    const Sc13Samples *samples = g_ptr_array_index (stores->cases, i);

    if (watch->progress != NULL)
      watch->progress (watch->data, (double) i / (stores->cases->len + 8));
    if (!sc13_draw (book, samples, error) || !sc13_score (book, samples, FALSE, error) ||
        !sc13_cover (book, samples, error))
      return FALSE;
  }
  all = sc13_pool (stores, "combined", combined);
  from = sc13_pool (stores, "low", low);
  if (from == NULL)
    from = sc13_pool (stores, "low", combined);
  to = sc13_pool (stores, "high", high);
  for (guint normalized = 0; normalized < 2; normalized++)
    if ((all != NULL && !sc13_score (book, all, (gboolean) normalized, error)) ||
        (from != NULL && to != NULL &&
         !sc13_transfer (book, from, to, (gboolean) normalized, error)))
      return FALSE;
  return TRUE;
}

/* --- Claims --- */

static const Claim *
find_claim (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (claims); i++)
    if (strcmp (claims[i].name, name) == 0)
      return &claims[i];
  return NULL;
}

/* Of each split, the largest of the points that are defined there, NaN where none is; NULL: no point is
 * known. */
static GArray *
largest (const Sc13Book *book, const char *series, const char *points)
{
  g_auto (GStrv) names = g_strsplit (points, ",", -1);
  GArray *most = NULL;

  for (guint i = 0; names[i] != NULL; i++) {
    const GArray *told = sc13_told_splits (book, series, names[i]);

    if (told != NULL && most == NULL)
      most = g_array_copy ((GArray *) told);
    for (guint k = 0; told != NULL && k < told->len; k++) {
      double value = g_array_index (told, double, k);

      if (value > g_array_index (most, double, k) || isnan (g_array_index (most, double, k)))
        g_array_index (most, double, k) = value;
    }
  }
  return most;
}

/* What a claim is about, of each split of a protocol; NULL: not known. */
static GArray *
splits_of (const Sc13 *sc13, const Claim *claim, guint protocol)
{
  g_autofree char *series =
      g_strdup_printf ("%s/%s/%s/%s/%s", claim->kind, claim->of, sc13_source_names[SC13_SAME],
                       sc13_protocols[protocol].name, claim->score);
  g_autoptr (GArray) value = largest (&sc13->book, series, claim->points);
  g_autoptr (GArray) less = claim->less == NULL ? NULL : largest (&sc13->book, series, claim->less);

  if (value == NULL || (claim->less != NULL && less == NULL))
    return NULL;
  for (guint k = 0; less != NULL && k < value->len; k++)
    g_array_index (value, double, k) -= g_array_index (less, double, k);
  return g_steal_pointer (&value);
}

/* A lead, which has no upper end, is no number that a split could show by chance: it has to be there
 * in half of them. */
static bool
is_lead (const Claim *claim, const ValidationPublished *published)
{
  return claim->less != NULL && isinf (published->high);
}

/* By one protocol: the median over its splits, and the ends of 90 % of them.  False: not known. */
static bool
judge (const Sc13 *sc13, const Claim *claim, guint protocol, double *median, double *lower,
       double *upper)
{
  g_autoptr (GArray) values = NULL;

  if (claim->score == NULL) {
    g_autofree char *series = g_strconcat ("variation/", claim->of, NULL);

    *median = sc13_told (&sc13->book, series, "worst_to_best");
    *lower = sc13_told (&sc13->book, series, "least");
    *upper = sc13_told (&sc13->book, series, "most");
    return isfinite (*median);
  }
  if ((values = splits_of (sc13, claim, protocol)) == NULL)
    return false;
  *median = predict_spread ((double *) (void *) values->data, values->len).median;
  *lower = predict_quantile ((double *) (void *) values->data, values->len, 0.05);
  *upper = predict_quantile ((double *) (void *) values->data, values->len, 0.95);
  return isfinite (*median);
}

/* Tells a claim by our protocol too, and the best that could be had: "claim/NAME". */
static void
tell_ours (Sc13 *sc13, const Claim *claim, const ValidationPublished *published)
{
  g_autofree char *series = g_strconcat ("claim/", claim->name, NULL);
  g_autofree char *noise = g_strconcat ("noise/", claim->of, NULL);
  double median, lower, upper;

  if (claim->score == NULL || !judge (sc13, claim, SC13_OURS, &median, &lower, &upper))
    return;
  sc13_tell (&sc13->book, series, "ours", median, "");
  sc13_tell (&sc13->book, series, "ours_p5", lower, "");
  sc13_tell (&sc13->book, series, "ours_p95", upper, "");
  sc13_tell (&sc13->book, series, "ours_agrees",
             is_lead (claim, published) ? validation_agrees (published, median)
                                        : validation_agrees_within (published, lower, upper),
             "");
  if (strcmp (claim->score, "rcc") == 0 && claim->less == NULL)
    sc13_tell (&sc13->book, series, "noise_rcc", sc13_told (&sc13->book, noise, "noise_rcc"), "");
}

static bool
measure_claim (gpointer state, const ValidationPublished *published, double *simulated,
               GError **error)
{
  Sc13 *sc13 = state;
  const Claim *claim = find_claim (published->name);
  double lower, upper;

  if (!sc13->is_ready && !read_and_learn (sc13, error))
    return false;
  sc13->is_ready = true;
  if (claim == NULL)
    return validation_no_experiment (published, error);
  if (judge (sc13, claim, SC13_PAPER, simulated, &lower, &upper)) {
    tell_ours (sc13, claim, published);
    return true;
  }
  g_set_error (error, VALIDATION_ERROR, VALIDATION_ERROR_NOT_RUN, "the stores have no \"%s\"",
               claim->of);
  return false;
}

static bool
spread_of_claim (gpointer state, const ValidationPublished *published, double *lower, double *upper)
{
  const Claim *claim = find_claim (published->name);
  double median;

  return claim != NULL && judge (state, claim, SC13_PAPER, &median, lower, upper) &&
         isfinite (*lower) && isfinite (*upper) && !is_lead (claim, published);
}

const ValidationSuite validation_sc13 = {
  .name = "sc13",
  .figures = published_csv,
  .path = "sc13_published.csv",
  .open = open_sc13,
  .close = close_sc13,
  .measure = measure_claim,
  .spread = spread_of_claim,
};
