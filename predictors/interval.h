/* interval.h - between which values a prediction probably lies.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Conformal intervals (Papadopoulos et al. 2002; Lei et al. 2018, normalised by a local
 * spread): of samples that the model had not seen (out of bag, or cross-validated), the
 * score is |observed - predicted| / (deviation over the trees + floor).  The interval of a
 * new sample is its prediction -+ the quantile of the scores x (its deviation + floor).
 * When the samples are exchangeable, it covers the wanted share of them, whatever the
 * distribution. */
#pragma once

#include <stdint.h>

typedef struct {
  uint32_t n;      /* scores kept */
  uint64_t of;     /* samples calibrated on */
  double *scores;  /* [n] ascending; all of them up to 1,000 samples, else evenly spaced quantiles */
  double floor;    /* added to deviations: what there is when all trees agree; > 0 unless all errors
                      are 0 */
} PredictInterval;

/* Scores of n samples; predicted[i] NaN: not calibrated on. */
PredictInterval predict_interval_calibrate (const double *observed, const double *predicted,
                                            const double *deviation, uint64_t n);
void predict_interval_clear (PredictInterval *interval);

/* Half the width of the interval at `level` (0 < level < 1) of a prediction with this deviation;
 * infinite when the samples are too few for the level: ceil ((of + 1) level) > of. */
double predict_interval_half_width (const PredictInterval *interval, double level,
                                    double deviation);
