/* trust.h - whether cheap measures of a placement predict its exact time.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>

/* How well a model predicts the logarithm of an exact time from cheap measures: each candidate that was
 * run is predicted by a ridge regression over the others, whose ridge was chosen without it too. */
typedef struct {
  const char *name; /* "load", "shrunk" */
  guint n;          /* candidates that were predicted; 0: the model was not tried */
  double r2, spearman;
  double error;  /* root of the mean squared error, relative */
  double spread; /* standard deviation of the times, relative */
  gboolean trusted;
} StudyTrust;

/* predicted[n]: of measures[n][n_measures] and logarithms of times (NaN: not known), as StudyTrust says;
 * those without a time are predicted from all others.  Fewer than eight known times are not trusted, and
 * nothing is predicted.  A model is trusted whose R2 is at least one half. */
gboolean study_advice_validate (const double *measures, guint n_measures, const double *log_times,
                                guint n, StudyTrust *trust, double *predicted, GError **error);
