/* interval.h - the interval in which a value probably lies.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Conformal intervals (Papadopoulos et al. 2002; Lei et al. 2018, normalised by a local
 * spread): of samples that the model had not seen (out of bag, or cross-validated), the
 * score is |observed - predicted| / (deviation over the trees + floor).  The interval of a
 * new sample is its prediction -+ the quantile of the scores x (its deviation + floor).
 * When the samples are exchangeable, it covers the wanted share of them, whatever the
 * distribution.  Samples of one group (one mapping, say) are alike, so that many samples of
 * few groups are few observations: the wanted share is then raised as for that few, by the
 * rule that is exact for one sample of each group (Dunn, Wasserman, Ramdas 2022).
 *
 * Errors grow with the prediction: one quantile for all covers more of the small values and fewer of
 * the large ones than wanted.  The samples are therefore divided by their predictions into ten classes
 * of equal size, each with scores and a floor of its own, so that the share holds within each class
 * (Mondrian: Vovk et al. 2005, section 4.5).  Of more than 1,000 groups there are as many classes as the
 * cube root of the groups, at most 100, so that classes get narrower and fuller with the samples; every
 * class has samples of at least PREDICT_CLASS_GROUPS groups, for which there may be fewer classes, or one.
 *
 * Outside of the range of a feature nothing was learned.  A line that rises as much within that range as
 * the targets differ rises by as much again over each further range: the half width grows by (largest
 * - smallest target) x the share of a feature's range by which the sample is outside (of several features the
 * largest share). */
#pragma once

#include <stdint.h>

/* The scores of some samples. */
typedef struct {
  uint32_t n;      /* scores kept */
  uint64_t of;     /* samples calibrated on */
  uint64_t groups; /* that they belong to */
  double *scores; /* [n] ascending; all of them up to 1,000 samples, else evenly spaced quantiles */
  double floor;   /* added to deviations, for where all trees agree; > 0 unless all errors
                      are 0 */
} PredictIntervalScores;

#define PREDICT_MAX_CLASSES  100u
#define PREDICT_CLASS_GROUPS 20u

typedef struct {
  PredictIntervalScores all;
  uint32_t n_classes; /* 0: too few samples for more than one */
  double *edges;      /* [n_classes - 1] rising: class k has the predictions from edges[k - 1] to
                            below edges[k] */
  PredictIntervalScores *classes; /* [n_classes] */
  double range;                   /* largest - smallest target; NaN: not known */
} PredictInterval;

/* Scores of n samples; predicted[i] NaN: not calibrated on.  group[n] < n_groups. */
PredictInterval predict_interval_calibrate (const double *observed, const double *predicted,
                                            const double *deviation, const uint32_t *group,
                                            uint64_t n, uint32_t n_groups);
void predict_interval_clear (PredictInterval *interval);

/* Half the width of the interval at `level` (0 < level < 1) of a prediction with this deviation, of
 * a sample that is outside of the range of some feature by this share of it (0: of none).
 * predicted NaN: of all classes together.
 * When the groups of the class are too few for the level, ceil ((groups + 1) level) > groups, that
 * of all classes; infinite when those are too few, or when it is outside and the range is not known. */
double predict_interval_half_width (const PredictInterval *interval, double level, double predicted,
                                    double deviation, double outside);
