/* node_sharing.c - what the tasks of a node cost each other's computation, without counters.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/aggregation/node_sharing.h"

#include "predictors/formula/elementary.h"

#include <glib.h>

double
predict_crowding (uint32_t n_tasks, double core_Bps, double bandwidth_Bps)
{
  g_assert (core_Bps > 0 && bandwidth_Bps > 0);
  return fmax (1, n_tasks * core_Bps / bandwidth_Bps);
}

double
predict_missed (double private_bytes, double cache_bytes, double working_set_bytes, double exponent)
{
  double held = fmax (cache_bytes, private_bytes) / private_bytes;
  double all = working_set_bytes / private_bytes;
  double tail;

  g_assert (private_bytes > 0 && exponent >= 0 && exponent <= 1);
  if (working_set_bytes <= fmax (cache_bytes, private_bytes))
    return 0;
  if (isinf (working_set_bytes)) /* elementary.h has no powers of it; the logarithm's limit is 1 */
    return exponent > 0 ? predict_power (held, -exponent) : 1;
  if (exponent == 0)
    return 1 - predict_log (held) / predict_log (all);
  tail = predict_power (all, -exponent);
  return (predict_power (held, -exponent) - tail) / (1 - tail);
}

double
predict_sharing_time (const PredictShare *share, const PredictMemoryUse *use)
{
  double missed = predict_missed (share->private_bytes, share->cache_bytes, use->working_set_bytes,
                                  use->reuse_exponent);

  g_assert (use->memory_share >= 0 && use->memory_share <= 1 && share->crowding >= 1);
  return 1 - use->memory_share + use->memory_share * missed * share->crowding;
}

static double
slowest (const PredictShare *shares, uint32_t n, const PredictMemoryUse *use)
{
  double time = 0;

  g_assert (n > 0);
  for (uint32_t task = 0; task < n; task++)
    time = fmax (time, predict_sharing_time (&shares[task], use));
  return time;
}

double
predict_sharing_slowdown (const PredictShare *shares, uint32_t n, const PredictShare *reference,
                          uint32_t n_reference, const PredictMemoryUse *use)
{
  double time = slowest (shares, n, use), reference_time = slowest (reference, n_reference, use);

  return time == reference_time ? 1 : time / reference_time;
}
