/* forest_predict.c - means over the trees, out of bag too.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/forest/crowd.h"
#include "predictors/forest/forest_private.h"

#include <math.h>
#include <stdlib.h>

#define ROWS_TOGETHER 16384u /* a tree is read once for so many */
#define FEW_ROWS      512u   /* not worth a thread */

/* What the trees say about one sample, one after the other (Welford 1962). */
typedef struct {
  guint n;
  double mean, squares; /* sum of squares of the deviations from the mean */
} Opinion;

typedef struct {
  const PredictForest *forest;
  const PredictSamples *samples;
  const PredictGround *ground; /* out of bag: trees that saw a sample do not count; else NULL */
  double *mean, *deviation;    /* [n_samples]; deviation may be NULL */
  guint n_rows;                /* of a part; the last one may have less */
} Asked;

static void
opinion_add (Opinion *opinion, double value)
{
  double difference = value - opinion->mean;

  opinion->n++;
  opinion->mean += difference / opinion->n;
  opinion->squares += difference * (value - opinion->mean);
}

static bool
has_seen (const PredictGround *ground, guint tree, uint64_t row)
{
  return ground && ground->in_bag[tree * ground->n_words + row / 64] >> row % 64 & 1;
}

static void
ask_tree (const Asked *asked, guint tree, PredictRows *rows, uint64_t first, guint n, double *said,
          Opinion *opinions)
{
  const PredictForest *forest = asked->forest;

  predict_rows_ask (rows, forest->nodes + forest->first[tree], forest->values + forest->first[tree],
                    said);
  for (guint row = 0; row < n; row++)
    if (!has_seen (asked->ground, tree, first + row))
      opinion_add (&opinions[row], said[row]);
}

static void
ask_part (void *data, guint part)
{
  const Asked *asked = data;
  uint64_t first = (uint64_t) part * asked->n_rows;
  guint n = (guint) MIN (asked->n_rows, asked->samples->n_samples - first);
  PredictRows *rows = predict_rows_new (asked->samples, first, n);
  g_autofree double *said = g_new (double, n);
  g_autofree Opinion *opinions = g_new0 (Opinion, n);

  for (guint tree = 0; tree < asked->forest->n_trees; tree++)
    ask_tree (asked, tree, rows, first, n, said, opinions);
  for (guint row = 0; row < n; row++) {
    const Opinion *opinion = &opinions[row];

    asked->mean[first + row] = opinion->n > 0 ? opinion->mean : (double) NAN;
    if (asked->deviation)
      asked->deviation[first + row] =
          opinion->n > 0 ? sqrt (opinion->squares / opinion->n) : (double) NAN;
  }
  predict_rows_free (rows);
}

static void
ask (Asked *asked, guint threads)
{
  uint64_t n = asked->samples->n_samples;
  uint64_t even = (n + threads - 1) / threads;

  asked->n_rows = (guint) CLAMP (even, FEW_ROWS, ROWS_TOGETHER);
  predict_crowd (ask_part, asked, (guint) ((n + asked->n_rows - 1) / asked->n_rows), threads, NULL);
}

void
predict_forest_predict (const PredictForest *forest, const PredictSamples *samples, guint threads,
                        double *predicted, double *deviation)
{
  Asked asked = { .forest = forest, .samples = samples, .mean = predicted, .deviation = deviation };

  g_assert (samples->n_features == forest->n_features);
  ask (&asked, predict_threads (&(PredictSettings){ .threads = threads }));
}

void
predict_forest_out_of_bag (const PredictForest *forest, const PredictGround *ground,
                           PredictForestReport *report)
{
  uint64_t n = ground->samples->n_samples;
  Asked asked = { .forest = forest,
                  .samples = ground->samples,
                  .ground = ground,
                  .mean = report->out_of_bag = g_new (double, n),
                  .deviation = report->out_of_bag_sd = g_new (double, n) };

  ask (&asked, predict_threads (ground->settings));
}
