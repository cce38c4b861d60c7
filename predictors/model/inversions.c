/* inversions.c - see inversions.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/model/inversions.h"

#include <string.h>

/* -- sorting values -------------------------------------------------------- */

typedef struct {
  uint64_t key; /* as the value, in the order of unsigned integers */
  uint32_t sample;
} Keyed;

#define DIGIT_BITS 8
#define N_DIGITS   (64 / DIGIT_BITS)
#define RADIX      (1 << DIGIT_BITS)

/* The bits of a positive double ascend with it, those of a negative one descend. */
static uint64_t
key_of (double value)
{
  double canonical = value + 0.0; /* -0 is 0 */
  uint64_t bits;

  memcpy (&bits, &canonical, sizeof bits);
  return bits >> 63 ? ~bits : bits | (uint64_t) 1 << 63;
}

static guint
digit_of (uint64_t key, guint digit)
{
  return (guint) (key >> digit * DIGIT_BITS) % RADIX;
}

/* Stable; where all have the same digit, there is nothing to move. */
static void
sort_by_digit (Keyed **keyed, Keyed **spare, uint64_t n, guint digit)
{
  uint64_t place[RADIX] = { 0 }, next = 0;
  Keyed *from = *keyed, *to = *spare;

  for (uint64_t i = 0; i < n; i++)
    place[digit_of (from[i].key, digit)]++;
  if (place[digit_of (from[0].key, digit)] == n)
    return;
  for (guint value = 0; value < RADIX; value++) {
    uint64_t count = place[value];

    place[value] = next;
    next += count;
  }
  for (uint64_t i = 0; i < n; i++)
    to[place[digit_of (from[i].key, digit)]++] = from[i];
  *keyed = to;
  *spare = from;
}

PredictRanking
predict_ranking_new (const double *values, uint64_t n)
{
  PredictRanking ranking = { g_new (uint32_t, n), g_new (uint32_t, n) };
  Keyed *keyed = g_new (Keyed, n), *spare = g_new (Keyed, n);

  g_assert (n <= (uint64_t) 1 << 31);
  for (uint64_t i = 0; i < n; i++)
    keyed[i] = (Keyed){ key_of (values[i]), (uint32_t) i };
  for (guint digit = 0; n > 0 && digit < N_DIGITS; digit++)
    sort_by_digit (&keyed, &spare, n, digit);
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

/* Without branches that depend on values, which a processor could only guess. */
static uint64_t
merge (const uint32_t *left, uint64_t n_left, uint64_t n_right, uint32_t *to)
{
  const uint32_t *right = left + n_left, *left_end = right, *right_end = right + n_right;
  uint64_t inversions = 0;

  while (left < left_end && right < right_end) {
    gboolean takes_right = *right < *left;

    inversions += takes_right ? (uint64_t) (left_end - left) : 0;
    *to++ = takes_right ? *right : *left;
    right += takes_right;
    left += !takes_right;
  }
  memcpy (to, left, (gsize) (left_end - left) * sizeof *to);
  memcpy (to + (left_end - left), right, (gsize) (right_end - right) * sizeof *to);
  return inversions;
}

/* Sorts values[n]; the pairs that were in the wrong order. */
static uint64_t
sort_counting (uint32_t *values, uint32_t *spare, uint64_t n)
{
  uint64_t inversions = 0;
  uint32_t *from = values, *to = spare;

  for (uint64_t width = 1; width < n; width *= 2) {
    uint32_t *swap = from;

    for (uint64_t at = 0; at < n; at += 2 * width) {
      uint64_t n_left = MIN (width, n - at);

      inversions += merge (from + at, n_left, MIN (width, n - at - n_left), to + at);
    }
    from = to;
    to = swap;
  }
  if (from != values)
    memcpy (values, from, n * sizeof *values);
  return inversions;
}

static uint64_t
pairs_of (uint64_t n)
{
  return n * (n - 1) / 2;
}

/* Of values that are sorted. */
static uint64_t
equal_pairs (const uint32_t *values, uint64_t n)
{
  uint64_t pairs = 0, run = 0;

  for (uint64_t i = 1; i < n; i++) {
    run = values[i] == values[i - 1] ? run + 1 : 0;
    pairs += run;
  }
  return pairs;
}

/* values[n]: ranks in another, in the order of `by`.  Sorts them within its ties, and counts the
 * pairs that were not. */
static uint64_t
sort_within_ties (const PredictRanking *by, uint32_t *values, uint32_t *spare, uint64_t n,
                  uint64_t *ties, uint64_t *ties_both)
{
  uint64_t inverted = 0;

  *ties = *ties_both = 0;
  for (uint64_t first = 0, end; first < n; first = end) {
    uint32_t rank = by->rank[by->order[first]];

    for (end = first + 1; end < n && by->rank[by->order[end]] == rank; end++)
      ;
    *ties += pairs_of (end - first);
    inverted += sort_counting (values + first, spare, end - first);
    *ties_both += equal_pairs (values + first, end - first);
  }
  return inverted;
}

PredictInversions
predict_ranking_inversions (const PredictRanking *first, const PredictRanking *second, uint64_t n)
{
  PredictInversions counts;
  g_autofree uint32_t *values = g_new (uint32_t, n);
  g_autofree uint32_t *spare = g_new (uint32_t, n);

  for (uint64_t i = 0; i < n; i++)
    values[i] = first->rank[second->order[i]];
  counts.ties_inverted =
      sort_within_ties (second, values, spare, n, &counts.ties_second, &counts.ties_both);
  for (uint64_t i = 0; i < n; i++)
    values[i] = second->rank[first->order[i]];
  counts.ties_inverted +=
      sort_within_ties (first, values, spare, n, &counts.ties_first, &counts.ties_both);
  counts.inversions = sort_counting (values, spare, n);
  return counts;
}
