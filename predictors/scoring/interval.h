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
 * rule that is exact for one sample of each group (Dunn, Wasserman, Ramdas 2022). */
#pragma once

#include <stdint.h>

typedef struct {
  uint32_t n;      /* scores kept */
  uint64_t of;     /* samples calibrated on */
  uint64_t groups; /* that they belong to */
  double *scores; /* [n] ascending; all of them up to 1,000 samples, else evenly spaced quantiles */
  double floor;   /* added to deviations, for where all trees agree; > 0 unless all errors
                      are 0 */
} PredictInterval;

/* Scores of n samples; predicted[i] NaN: not calibrated on.  group[n] < n_groups. */
PredictInterval predict_interval_calibrate (const double *observed, const double *predicted,
                                            const double *deviation, const uint32_t *group,
                                            uint64_t n, uint32_t n_groups);
void predict_interval_clear (PredictInterval *interval);

/* Half the width of the interval at `level` (0 < level < 1) of a prediction with this deviation;
 * infinite when the groups are too few for the level: ceil ((groups + 1) level) > groups. */
double
predict_interval_half_width (const PredictInterval *interval, double level, double deviation);
