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
#define OURS   "/same/ours/"

/* The largest of the points of a series; less the largest of others, when there are some. */
static const struct {
  const char *name, *series, *points, *less;
} claims[] = {
  { "halo2d_8_variation", "variation/8.halo2d", "worst_to_best", NULL },
  { "halo2d_512_variation", "variation/512.halo2d", "worst_to_best", NULL },
  { "halo2d_16k_variation", "variation/16k.halo2d", "worst_to_best", NULL },
  { "halo2d_large_variation", "variation/large.halo2d", "worst_to_best", NULL },
  { "halo3d_8_variation", "variation/8.halo3d", "worst_to_best", NULL },
  { "halo3d_512_variation", "variation/512.halo3d", "worst_to_best", NULL },
  { "suba2a_8_variation", "variation/8.suba2a", "worst_to_best", NULL },
  { "halo2d_16k_max_dilation", "score/16k.halo2d" OURS "rcc", "max_dilation", NULL },
  { "halo3d_16k_max_dilation", "score/16k.halo3d" OURS "rcc", "max_dilation", NULL },
  { "halo2d_16k_prior", "score/16k.halo2d" OURS "rcc", PRIOR, NULL },
  { "halo3d_512_prior", "score/512.halo3d" OURS "rcc", PRIOR, NULL },
  { "halo3d_16k_prior", "score/16k.halo3d" OURS "rcc", PRIOR, NULL },
  { "halo2d_max_bytes_leads", "score/16k.halo2d" OURS "rcc", "max_bytes",
    "max_dilation,avg_bytes" },
  { "halo3d_max_bytes_leads", "score/16k.halo3d" OURS "rcc", "max_bytes",
    "max_dilation,avg_bytes" },
  { "suba2a_avg_bytes_leads", "score/512.suba2a" OURS "rcc", "avg_bytes", "max_bytes" },
  { "halo2d_16k_max_bytes_r2", "score/16k.halo2d" OURS "r2", "max_bytes", NULL },
  { "halo3d_16k_max_bytes_r2", "score/16k.halo3d" OURS "r2", "max_bytes", NULL },
  { "suba2a_512_new", "score/512.suba2a" OURS "rcc", PRIOR "," NEW, NULL },
  { "halo3d_16k_new", "score/16k.halo3d" OURS "rcc", PRIOR "," NEW, NULL },
  { "halo2d_16k_hybrid", "score/16k.halo2d" OURS "rcc", HYBRID, NULL },
  { "halo3d_16k_hybrid", "score/16k.halo3d" OURS "rcc", HYBRID, NULL },
  { "suba2a_512_hybrid", "score/512.suba2a" OURS "rcc", HYBRID, NULL },
  { "halo2d_large_hybrid", "score/large.halo2d" OURS "rcc", HYBRID, NULL },
  { "halo3d_large_hybrid", "score/large.halo3d" OURS "rcc", HYBRID, NULL },
  { "halo2d_16k_hybrid_r2", "score/16k.halo2d" OURS "r2", HYBRID, NULL },
  { "halo2d_large_hybrid_r2", "score/large.halo2d" OURS "r2", HYBRID, NULL },
  { "hybrid_beats_prior_2d", "score/16k.halo2d" OURS "rcc", HYBRID, PRIOR },
  { "hybrid_beats_prior_3d", "score/16k.halo3d" OURS "rcc", HYBRID, PRIOR },
  { "high_halo2d_hybrid", "score/high.16k.halo2d" OURS "rcc", HYBRID, NULL },
  { "high_halo3d_hybrid", "score/high.16k.halo3d" OURS "rcc", HYBRID, NULL },
  { "high_suba2a_hybrid", "score/high.16k.suba2a" OURS "rcc", HYBRID, NULL },
  { "combined_avg_bytes", "score/combined" OURS "rcc", "avg_bytes", NULL },
  { "combined_best", "score/combined" OURS "rcc", PRIOR "," NEW "," HYBRID, NULL },
  { "transfer_H3", "transfer/high" OURS "rcc", "H3", NULL },
  { "transfer_best", "transfer/high" OURS "rcc", PRIOR "," NEW "," HYBRID, NULL },
  { "pf3d_max_bytes", "score/pf3d.pf3d" OURS "rcc", "max_bytes", NULL },
  { "pf3d_sum_dilation_AO", "score/pf3d.pf3d" OURS "rcc", "sum_dilation_AO", NULL },
  { "pf3d_hybrid", "score/pf3d.pf3d" OURS "rcc", HYBRID, NULL },
  { "pf3d_H6", "score/pf3d.pf3d" OURS "rcc", "H6", NULL },
  { "pf3d_max_bytes_r2", "score/pf3d.pf3d" OURS "r2", "max_bytes", NULL },
  { "pf3d_H6_r2", "score/pf3d.pf3d" OURS "r2", "H6", NULL },
};

/* Cases that are learned together. */
static const char *const combined[] = {
  "16k.halo2d",       "16k.halo3d", "a2a.16k.suba2a", "large.halo2d", "large.halo3d",
  "a2a.large.suba2a", NULL
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
  sc13->book.details = watch->details;
  sc13->book.numbers = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  return sc13;
}

static void
close_sc13 (gpointer state)
{
  Sc13 *sc13 = state;

  g_hash_table_unref (sc13->book.numbers);
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
      watch->progress (watch->data, (double) i / (stores->cases->len + 4));
    if (!sc13_draw (book, samples, error) || !sc13_score (book, samples, error) ||
        !sc13_cover (book, samples, error))
      return FALSE;
  }
  all = sc13_pool (stores, "combined", combined);
  from = sc13_pool (stores, "low", low);
  to = sc13_pool (stores, "high", high);
  if (all != NULL && !sc13_score (book, all, error))
    return FALSE;
  return from == NULL || to == NULL || sc13_transfer (book, from, to, error);
}

/* The largest of the points of a series; -INFINITY: none is known. */
static double
largest (const Sc13Book *book, const char *series, const char *points)
{
  g_auto (GStrv) names = g_strsplit (points, ",", -1);
  double value = -INFINITY;

  for (guint i = 0; names[i] != NULL; i++) {
    double told = sc13_told (book, series, names[i]);

    if (told > value)
      value = told;
  }
  return value;
}

static bool
measure_claim (gpointer state, const ValidationPublished *published, double *simulated,
               GError **error)
{
  Sc13 *sc13 = state;

  if (!sc13->is_ready && !read_and_learn (sc13, error))
    return false;
  sc13->is_ready = true;
  for (guint i = 0; i < G_N_ELEMENTS (claims); i++) {
    if (strcmp (claims[i].name, published->name) != 0)
      continue;
    *simulated = largest (&sc13->book, claims[i].series, claims[i].points);
    if (claims[i].less != NULL)
      *simulated -= largest (&sc13->book, claims[i].series, claims[i].less);
    if (isfinite (*simulated))
      return true;
    g_set_error (error, VALIDATION_ERROR, VALIDATION_ERROR_NOT_RUN, "the stores have no \"%s\"",
                 claims[i].series);
    return false;
  }
  return validation_no_experiment (published, error);
}

const ValidationSuite validation_sc13 = {
  .name = "sc13",
  .figures = published_csv,
  .path = "sc13_published.csv",
  .open = open_sc13,
  .close = close_sc13,
  .measure = measure_claim,
};
