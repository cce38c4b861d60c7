/* pingpong_samples.h - the median of repeated times, and how sure it is.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Times of messages have a long tail (the operating system, other jobs), so the median tells
 * what a message takes and the mean does not. */
#pragma once

#include <glib.h>

typedef struct {
  double median;
  double width; /* half of the 95 % confidence interval of the median, as a share of it */
} CliPingpongMedian;

/* Sorts the samples (element-type double), of which there is one at least.  The interval is that
 * of order statistics, which assumes no distribution: from sample n/2 - 0.98 sqrt(n) to its
 * mirror image (Conover, Practical Nonparametric Statistics, section 3.2).  It is infinite
 * below six samples, of which not even all make one.  Samples count as independent. */
CliPingpongMedian cli_pingpong_median (GArray *samples);
