/* inversions.h - the order of values, and how far two orders differ.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>
#include <stdint.h>

typedef struct {
  uint32_t *rank; /* [n] twice the mean place of a value among all, from 0: equal values share it */
  uint32_t *order; /* [n] samples by value, those of equal values in their own order */
} PredictRanking;

/* Values are finite, n <= 2^31.  By radix: O(n), 32 bytes a sample meanwhile. */
PredictRanking predict_ranking_new (const double *values, uint64_t n);
void predict_ranking_clear (PredictRanking *ranking);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (PredictRanking, predict_ranking_clear)

/* Pairs of samples in two rankings. */
typedef struct {
  uint64_t ties_first, ties_second; /* equal in one, whatever the other */
  uint64_t ties_both;
  uint64_t ties_inverted; /* equal in one only; in the other, the earlier sample is above */
  uint64_t inversions;    /* different in both, and in opposite order */
} PredictInversions;

/* Knight (1966): sorts one by the other, and counts what merging puts in order.  O(n log n). */
PredictInversions
predict_ranking_inversions (const PredictRanking *first, const PredictRanking *second, uint64_t n);
