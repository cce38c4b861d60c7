/* gain.h - by how much one mapping is faster than another, and how sure that is.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A simulation has no noise: the same inputs give the same time.  What is uncertain is
 * whether the machine and the program are as the inputs say.  So both mappings are
 * simulated again on machines whose speeds and latencies, and with computation whose length,
 * are multiplied by random factors, the same ones for both.  The interval is
 * where the gain of one more such pair of runs lies with 95 % probability, were the
 * logarithms of the ratios of times normally distributed (Student's t).  The runs with
 * the inputs as they are have no part in it: they are no random draw, and mappings are chosen
 * by them.  It tells nothing about what the model leaves out. */
#pragma once

#include "topology/machine.h"

#include <glib.h>

/* Factors are within 1/STUDY_PERTURBATION .. STUDY_PERTURBATION. */
#define STUDY_PERTURBATION 1.1

typedef struct {
  double nominal;   /* with the inputs as they are: time of the default / time - 1; NaN: unknown */
  double mean;      /* geometric, over the perturbed pairs; the nominal one without any */
  double low, high; /* of the interval; NaN with fewer than three pairs */
  guint n_pairs;    /* perturbed */
  guint n_faster;   /* pairs in which the mapping was faster than the default */
} StudyGain;

/* default_s[0] and time_s[0] are those of the inputs as they are; with n_times 0 all is
 * unknown. */
StudyGain study_gain_new (const double *default_s, const double *time_s, guint n_times);

/* Perturbation number 1, 2 ... of a machine.  The copy shares everything but its
 * parameters with the original, which must outlive it, and is not freed. */
TopoMachine study_gain_perturbed (const TopoMachine *machine, uint64_t seed, guint number,
                                  double *compute_scale);
