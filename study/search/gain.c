/* gain.c - by how much one mapping is faster than another, and how sure that is.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/search/gain.h"

#include "base/random.h"

#include <math.h>

/* With two the interval would be some thirteen times wider than their difference. */
#define LEAST_PAIRS 3u

/* Quantile 0.975 of Student's t, by degrees of freedom from 1 (any statistical table);
 * beyond, that of 30 is a little too wide. */
static double
student_975 (guint freedom)
{
  static const double quantile[] = { 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
                                     2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
                                     2.110,  2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
                                     2.060,  2.056, 2.052, 2.048, 2.045, 2.042 };

  return quantile[MIN (freedom, G_N_ELEMENTS (quantile)) - 1];
}

StudyGain
study_gain_new (const double *default_s, const double *time_s, guint n_times)
{
  StudyGain gain = { .nominal = NAN, .mean = NAN, .low = NAN, .high = NAN };
  double sum = 0, squares = 0, mean, half;
  guint n = n_times > 0 ? n_times - 1 : 0;

  if (n_times == 0)
    return gain;
  gain.n_pairs = n;
  gain.mean = gain.nominal = default_s[0] / time_s[0] - 1;
  for (guint i = 1; i <= n; i++) {
    sum += log (default_s[i] / time_s[i]);
    gain.n_faster += time_s[i] < default_s[i];
  }
  if (n == 0)
    return gain;
  mean = sum / n;
  gain.mean = expm1 (mean);
  if (n < LEAST_PAIRS)
    return gain;
  for (guint i = 1; i <= n; i++) {
    double off = log (default_s[i] / time_s[i]) - mean;

    squares += off * off;
  }
  half = student_975 (n - 1) * sqrt (squares / (n - 1)) * sqrt (1 + 1.0 / n);
  gain.low = expm1 (mean - half);
  gain.high = expm1 (mean + half);
  return gain;
}

/* The logarithm is even within its bounds. */
static double
factor (BaseRandom *random)
{
  return pow (STUDY_PERTURBATION, 2 * base_random_unit (random) - 1);
}

static void
vary_speed (uint64_t *value, BaseRandom *random)
{
  *value = (uint64_t) llround ((double) *value * factor (random));
}

static void
vary_time (int64_t *value, BaseRandom *random)
{
  *value = llround ((double) *value * factor (random));
}

TopoMachine
study_gain_perturbed (const TopoMachine *machine, uint64_t seed, guint number,
                      double *compute_scale)
{
  TopoMachine copy = *machine;
  TopoParameters *parameters = &copy.parameters;
  BaseRandom random = base_random_stream_added (seed, number);

  *compute_scale *= factor (&random);
  vary_time (&parameters->send_overhead_ps, &random);
  vary_time (&parameters->receive_overhead_ps, &random);
  vary_time (&parameters->call_overhead_ps, &random);
  if (machine->fabric) {
    vary_speed (&parameters->pcie_bandwidth_Bps, &random);
    vary_time (&parameters->cable_latency_ps, &random);
    vary_time (&parameters->switch_latency_ps, &random);
    vary_time (&parameters->hca_send_latency_ps, &random);
    vary_time (&parameters->hca_receive_latency_ps, &random);
    vary_speed (&parameters->core_bandwidth_Bps, &random);
    vary_speed (&parameters->dram_bandwidth_Bps, &random);
  } else {
    vary_speed (&parameters->link_bandwidth_Bps, &random);
    vary_time (&parameters->hop_latency_ps, &random);
    vary_time (&parameters->injection_latency_ps, &random);
    vary_time (&parameters->reception_latency_ps, &random);
    vary_speed (&parameters->memory_bandwidth_Bps, &random);
    vary_speed (&parameters->shm_bandwidth_Bps, &random);
    vary_time (&parameters->shm_latency_ps, &random);
  }
  return copy;
}
