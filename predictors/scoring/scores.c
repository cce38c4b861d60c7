/* scores.c - the agreement of predictions with observations, above all in their order.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/scoring/scores.h"

#include "base/int128.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const predict_score_names[PREDICT_N_SCORES + 1] = {
  [PREDICT_RCC] = "rcc",     [PREDICT_RCC_PAPER] = "rcc_paper",
  [PREDICT_TAU_B] = "tau_b", [PREDICT_SPEARMAN] = "spearman",
  [PREDICT_R2] = "r2",       [PREDICT_MAPE] = "mape",
  [PREDICT_RMSE] = "rmse",   [PREDICT_LOG_RMSE] = "log_rmse",
  [PREDICT_N_SCORES] = NULL,
};

double
predict_score_value (const PredictScores *scores, PredictScore score)
{
  switch (score) {
  case PREDICT_RCC: return scores->rcc;
  case PREDICT_RCC_PAPER: return scores->rcc_paper;
  case PREDICT_TAU_B: return scores->tau_b;
  case PREDICT_SPEARMAN: return scores->spearman;
  case PREDICT_R2: return scores->r2;
  case PREDICT_MAPE: return scores->mape;
  case PREDICT_RMSE: return scores->rmse;
  case PREDICT_LOG_RMSE: return scores->log_rmse;
  case PREDICT_N_SCORES: break;
  }
  g_assert_not_reached ();
}

int
predict_score_direction (PredictScore score)
{
  return score == PREDICT_MAPE || score == PREDICT_RMSE || score == PREDICT_LOG_RMSE ? -1 : 1;
}

/* -- sorting values -------------------------------------------------------- */

int
predict_compare_values (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

typedef struct {
  uint64_t key; /* as the value, in the order of unsigned integers */
  uint32_t sample;
} Keyed;

#define DIGIT_BITS 8
#define N_DIGITS   (64 / DIGIT_BITS)
#define RADIX      (1 << DIGIT_BITS)

static guint
digit_of (uint64_t key, guint digit)
{
  return (guint) (key >> digit * DIGIT_BITS) % RADIX;
}

PredictRanking
predict_ranking_new (const double *values, uint64_t n)
{
  PredictRanking ranking = { g_new (uint32_t, n), g_new (uint32_t, n) };
  Keyed *keyed = g_new (Keyed, n), *spare = g_new (Keyed, n);

  g_assert (n <= (uint64_t) 1 << 31);
  /* The bits of a positive double ascend with it, those of a negative one descend. */
  for (uint64_t i = 0; i < n; i++) {
    double canonical = values[i] + 0.0; /* -0 is 0 */
    uint64_t bits;

    memcpy (&bits, &canonical, sizeof bits);
    keyed[i] = (Keyed){ bits >> 63 ? ~bits : bits | (uint64_t) 1 << 63, (uint32_t) i };
  }
  /* Radix sort, stable; a digit that all values share moves nothing. */
  for (guint digit = 0; n > 0 && digit < N_DIGITS; digit++) {
    uint64_t place[RADIX] = { 0 }, next = 0;
    Keyed *sorted = spare;

    for (uint64_t i = 0; i < n; i++)
      place[digit_of (keyed[i].key, digit)]++;
    if (place[digit_of (keyed[0].key, digit)] == n)
      continue;
    for (guint value = 0; value < RADIX; value++) {
      uint64_t count = place[value];

      place[value] = next;
      next += count;
    }
    for (uint64_t i = 0; i < n; i++)
      sorted[place[digit_of (keyed[i].key, digit)]++] = keyed[i];
    spare = keyed;
    keyed = sorted;
  }
  for (uint64_t first = 0, end; first < n; first = end) {
    for (end = first; end < n && keyed[end].key == keyed[first].key; end++)
      ranking.order[end] = keyed[end].sample;
    for (uint64_t i = first; i < end; i++)
      ranking.rank[keyed[i].sample] = (uint32_t) (first + end - 1);
  }
  g_free (keyed);
  g_free (spare);
  return ranking;
}

void
predict_ranking_clear (PredictRanking *ranking)
{
  g_free (ranking->rank);
  g_free (ranking->order);
}

/* -- comparing orders ------------------------------------------------------ */

/* Sorts values[n] by merging; returns the pairs that were in the wrong order. */
static uint64_t
sort_counting (uint32_t *values, uint32_t *spare, uint64_t n)
{
  uint64_t inversions = 0;
  uint32_t *from = values, *to = spare;

  for (uint64_t width = 1; width < n; width *= 2) {
    uint32_t *swap = from;

    for (uint64_t at = 0; at < n; at += 2 * width) {
      const uint32_t *left = from + at, *left_end = from + MIN (at + width, n), *right = left_end;
      const uint32_t *right_end = from + MIN (at + 2 * width, n);
      uint32_t *next = to + at;

      /* Without branches that depend on values, which a processor could only guess. */
      while (left < left_end && right < right_end) {
        gboolean takes_right = *right < *left;

        inversions += takes_right ? (uint64_t) (left_end - left) : 0;
        *next++ = takes_right ? *right : *left;
        right += takes_right;
        left += !takes_right;
      }
      memcpy (next, left, (gsize) (left_end - left) * sizeof *next);
      memcpy (next + (left_end - left), right, (gsize) (right_end - right) * sizeof *next);
    }
    from = to;
    to = swap;
  }
  if (from != values)
    memcpy (values, from, n * sizeof *values);
  return inversions;
}

/* values[n]: ranks in another, in the order of `by`.  Sorts them within its ties, and counts the
 * pairs that were not sorted. */
static uint64_t
sort_within_ties (const PredictRanking *by, uint32_t *values, uint32_t *spare, uint64_t n,
                  uint64_t *ties, uint64_t *ties_both)
{
  uint64_t inverted = 0;

  *ties = *ties_both = 0;
  for (uint64_t first = 0, end; first < n; first = end) {
    uint32_t rank = by->rank[by->order[first]];
    uint64_t run = 0;

    for (end = first + 1; end < n && by->rank[by->order[end]] == rank; end++)
      ;
    *ties += (end - first) * (end - first - 1) / 2;
    inverted += sort_counting (values + first, spare, end - first);
    for (uint64_t i = first + 1; i < end; i++) {
      run = values[i] == values[i - 1] ? run + 1 : 0;
      *ties_both += run;
    }
  }
  return inverted;
}

/* -- scores ---------------------------------------------------------------- */

/* Integers, so that equal orders score exactly 1 and -1. */
static double
spearman (const PredictRanking *observed, const PredictRanking *predicted, uint64_t n)
{
  BaseInt128 products = 0, squares_observed = 0, squares_predicted = 0;

  for (uint64_t i = 0; i < n; i++) {
    int64_t x = (int64_t) observed->rank[i] - (int64_t) (n - 1);
    int64_t y = (int64_t) predicted->rank[i] - (int64_t) (n - 1);

    products += (BaseInt128) x * y;
    squares_observed += (BaseInt128) x * x;
    squares_predicted += (BaseInt128) y * y;
  }
  return (double) products / sqrt ((double) squares_observed * (double) squares_predicted);
}

/* -- pairs that are apart -------------------------------------------------- */

/* A tally of ranks below n_ranks, [n_ranks + 1]: sums of prefixes in O(log n), after Fenwick (1994). */
static void
tally_add (uint32_t *tally, uint64_t n_ranks, uint32_t rank)
{
  for (uint64_t at = (uint64_t) rank + 1; at <= n_ranks; at += at & -at)
    tally[at]++;
}

static uint64_t
tally_below (const uint32_t *tally, uint64_t rank)
{
  uint64_t sum = 0;

  for (uint64_t at = rank; at > 0; at -= at & -at)
    sum += tally[at];
  return sum;
}

static double
rcc_apart (const double *observed, const PredictRanking *x, const PredictRanking *y, uint64_t n)
{
  uint64_t n_ranks = 2 * n, n_smaller = 0; /* ranks are doubled */
  g_autofree uint32_t *tally = g_new0 (uint32_t, n_ranks + 1);
  double right = 0, pairs = 0;

  if (n == 0 || !(observed[x->order[0]] > 0))
    return NAN;
  for (uint64_t i = 0; i < n; i++) {
    uint32_t sample = x->order[i], rank = y->rank[sample];

    while (observed[x->order[n_smaller]] * (1 + PREDICT_APART) < observed[sample])
      tally_add (tally, n_ranks, y->rank[x->order[n_smaller++]]);
    /* One that is predicted to be the same counts a half. */
    right += 0.5 * (double) (tally_below (tally, rank) + tally_below (tally, (uint64_t) rank + 1));
    pairs += (double) n_smaller;
  }
  return pairs > 0 ? right / pairs : (double) NAN;
}

/* -- the choice ------------------------------------------------------------ */

static double
regret (const double *observed, const PredictRanking *x, const PredictRanking *y, uint64_t n)
{
  double least = n > 0 ? observed[x->order[0]] : 0, sum = 0;
  uint64_t n_first = 0;

  if (!(least > 0))
    return NAN;
  while (n_first < n && y->rank[y->order[n_first]] == y->rank[y->order[0]])
    sum += observed[y->order[n_first++]] / least;
  return sum / (double) n_first - 1;
}

/* -- values ---------------------------------------------------------------- */

/* Beyond 2^(+-RANGE) squares of values overflow or vanish, and the values are divided by about
 * their largest; at most by 2^(+-MOST), whose inverse is a number too. */
#define RANGE 400
#define MOST  1000

PredictScores
predict_score (const double *observed, const double *predicted, uint64_t n_samples)
{
  PredictScores scores = { .n = n_samples, .pairs = n_samples * (n_samples - 1) / 2 };
  double mean = 0, deviations = 0, squares = 0, shares = 0, log_squares = 0;
  double n = (double) n_samples, pairs = (double) scores.pairs, largest = 0, factor = 1;
  g_auto (PredictRanking) x = predict_ranking_new (observed, n_samples);
  g_auto (PredictRanking) y = predict_ranking_new (predicted, n_samples);
  g_autofree uint32_t *ranks = g_new (uint32_t, n_samples), *spare = g_new (uint32_t, n_samples);
  uint64_t inversions, ties_inverted, ties_once, concordant;

  /* Knight (1966): sort one order by the other, and count the pairs that merging puts in order. */
  for (uint64_t i = 0; i < n_samples; i++)
    ranks[i] = x.rank[y.order[i]];
  ties_inverted =
      sort_within_ties (&y, ranks, spare, n_samples, &scores.ties_predicted, &scores.ties_both);
  for (uint64_t i = 0; i < n_samples; i++)
    ranks[i] = y.rank[x.order[i]];
  ties_inverted +=
      sort_within_ties (&x, ranks, spare, n_samples, &scores.ties_observed, &scores.ties_both);
  inversions = sort_counting (ranks, spare, n_samples);

  /* The paper's formula counts a pair j < i as right when observed[i] >= observed[j] and
   * predicted[i] >= predicted[j], or observed[i] < observed[j] and predicted[i] < predicted[j].  So a
   * pair that differs in both is right when the signs agree; one that ties in both is right; one that
   * ties in one is wrong when the other descends from j to i. */
  ties_once = scores.ties_observed - scores.ties_both + scores.ties_predicted - scores.ties_both;
  concordant = scores.pairs - ties_once - scores.ties_both - inversions;
  scores.mispredicted = (double) inversions + 0.5 * (double) ties_once;
  scores.rcc = ((double) (concordant + scores.ties_both) + 0.5 * (double) ties_once) / pairs;
  scores.rcc_apart = rcc_apart (observed, &x, &y, n_samples);
  scores.rcc_paper = (double) (scores.pairs - inversions - ties_inverted) / pairs;
  scores.tau_b = ((double) concordant - (double) inversions) /
                 sqrt ((double) (scores.pairs - scores.ties_observed) *
                       (double) (scores.pairs - scores.ties_predicted));
  scores.spearman = spearman (&x, &y, n_samples);

  /* A power of two changes no digit; it is 1 for all values but huge and tiny ones. */
  for (uint64_t i = 0; i < n_samples; i++)
    largest = fmax (largest, fmax (fabs (observed[i]), fabs (predicted[i])));
  if (largest > 0 && isfinite (largest) && abs (ilogb (largest)) > RANGE)
    factor = ldexp (1, CLAMP (-ilogb (largest), -MOST, MOST));
  for (uint64_t i = 0; i < n_samples; i++)
    mean += observed[i] * factor;
  mean /= n;
  for (uint64_t i = 0; i < n_samples; i++) {
    double off = observed[i] * factor - mean, plain = predicted[i] - observed[i];
    double error = predicted[i] * factor - observed[i] * factor;
    double share = isfinite (plain) ? plain / observed[i] : error / (observed[i] * factor);
    double ratio =
        observed[i] > 0 && predicted[i] > 0 ? log (predicted[i]) - log (observed[i]) : (double) NAN;

    deviations += off * off;
    squares += error * error;
    shares += observed[i] == 0 ? (double) NAN : fabs (share);
    log_squares += ratio * ratio;
  }
  scores.r2 = deviations > 0 ? 1 - squares / deviations : (double) NAN;
  scores.mape = shares / n;
  scores.rmse = sqrt (squares / n) / factor;
  scores.log_rmse = sqrt (log_squares / n);
  scores.regret = regret (observed, &x, &y, n_samples);
  return scores;
}

/* --- The noise of the observations --- */

#define MAX_HALVINGS 16u

/* The rcc of the means of draws first ... first + n_draws / 2 - 1, counted around, against the means of
 * the others, of rows that have both. */
static double
halves_rcc (const double *draws, uint64_t n, guint n_draws, guint first)
{
  g_autofree double *both = g_new (double, 2 * n);
  double *means[] = { both, both + n };
  uint64_t n_both = 0;

  for (uint64_t row = 0; row < n; row++) {
    double sum[2] = { 0 };
    guint count[2] = { 0 };

    for (guint draw = 0; draw < n_draws; draw++) {
      double value = draws[row * n_draws + draw];
      gboolean half = (draw + n_draws - first) % n_draws < n_draws / 2;

      if (isnan (value))
        continue;
      sum[half] += value;
      count[half]++;
    }
    if (count[0] == 0 || count[1] == 0)
      continue;
    for (guint half = 0; half < 2; half++)
      means[half][n_both] = sum[half] / count[half];
    n_both++;
  }
  return predict_score (means[0], means[1], n_both).rcc;
}

/* The rcc of the true times against means of n draws, from that of means of some draws against means
 * of as many others as are left of n_draws. */
static double
ceiling (double rcc, guint n_draws, guint n)
{
  double correlation = sin (G_PI * (CLAMP (rcc, 0.5, 1) - 0.5));
  double a = n_draws / 2, b = n_draws - a, square = correlation * correlation;
  /* correlation^2 = 1 / ((1 + x / a) (1 + x / b)), x = w / v. */
  double p = (a + b) / 2, q = a * b * (1 / square - 1), x = q / (p + sqrt (p * p + q));

  return square <= 0 ? 0.5 : 0.5 + asin (sqrt (1 / (1 + x / n))) / G_PI;
}

PredictNoise
predict_noise (const double *draws, uint64_t n, guint n_draws)
{
  PredictNoise noise = { .halves_rcc = (double) NAN, .noise_rcc = (double) NAN };
  guint n_halvings = MIN (n_draws % 2 == 0 ? n_draws / 2 : n_draws, MAX_HALVINGS);
  uint64_t n_rows = 0;
  double sum = 0;

  for (uint64_t row = 0; row < n; row++) {
    guint count = 0;

    for (guint draw = 0; draw < n_draws; draw++)
      count += !isnan (draws[row * n_draws + draw]);
    if (count > 0 && (n_rows++ == 0 || count < noise.n_draws))
      noise.n_draws = count;
  }
  if (noise.n_draws < 2 || n_rows < 2)
    return noise;
  for (guint first = 0; first < n_halvings; first++)
    sum += halves_rcc (draws, n, n_draws, first);
  noise.halves_rcc = sum / n_halvings;
  noise.noise_rcc = ceiling (noise.halves_rcc, n_draws, noise.n_draws);
  return noise;
}
