/* infiniband.c - experiments that were made on InfiniBand clusters, repeated in simulation.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "validation/infiniband/infiniband.h"

#include <math.h>

/* The CSV files of validation/data as strings, made by the build. */
static const char published_csv[] =
#include "validation/infiniband/infiniband_published.inc"
    ;
static const char curves_csv[] =
#include "validation/infiniband/infiniband_curves.inc"
    ;

static const ValidationMeasure measures[] = {
  { "pingpong_fdr_between", ib_curve_error, IB_CURVE_STAMPEDE_BETWEEN, NULL },
  { "pingpong_fdr_inside", ib_curve_error, IB_CURVE_STAMPEDE_INSIDE, NULL },
  { "pingpong_qdr_between", ib_curve_error, IB_CURVE_CONNECTX_LATENCY, NULL },
  { "connectx_latency", ib_curve_first, IB_CURVE_CONNECTX_LATENCY, NULL },
  { "connectx_inline_step", ib_inline_step_us, 0, NULL },
  { "connectx_bandwidth", ib_curve_last, IB_CURVE_CONNECTX_BANDWIDTH, NULL },
  { "connectx_bandwidth_curve", ib_curve_error, IB_CURVE_CONNECTX_BANDWIDTH, NULL },
  { "connectx_bidirectional", ib_bidirectional_ratio, 0, NULL },
  { "alltoall_change", ib_alltoall_change_bytes, 10000, NULL },
  { "alltoall_drop", ib_alltoall_drop, 3000, NULL },
  { "alltoall_linear_1595", ib_alltoall_us, 1595, NULL },
  { "alltoall_linear_2975", ib_alltoall_us, 2975, NULL },
  { "alltoall_pairwise_3000", ib_alltoall_us, 3000, NULL },
  { "alltoall_pairwise_10", ib_pairwise_us, 10, NULL },
  { "alltoall_pairwise_flat", ib_pairwise_flatness, 0, NULL },
  { "alltoall_bruck_10", ib_bruck_us, 10, NULL },
  { "alltoall_bruck_1000", ib_bruck_us, 1000, NULL },
  { "alltoall_bruck_growth", ib_bruck_growth, 0, NULL },
  { "alltoall_nehalem_25", ib_bruck_nehalem_us, 25, NULL },
  { "alltoall_nehalem_100", ib_bruck_nehalem_us, 100, NULL },
  { "alltoall_nehalem_1000", ib_bruck_nehalem_us, 1000, NULL },
  { "sharp_allreduce_8", ib_sharp_us, 8, NULL },
  { "sharp_allreduce_4096", ib_sharp_us, 4096, NULL },
  { "sharp_messages_8", ib_allreduce_us, 8, NULL },
  { "sharp_messages_4096", ib_allreduce_us, 4096, NULL },
  { "ib_shift_slowest", ib_shift_GBps, 0, NULL },
  { "ib_shift_fastest", ib_shift_GBps, 1, NULL },
  { "small_inside_gain", ib_small_inside_gain, 8, NULL },
  { "large_between_gain", ib_large_between_gain, 4u << 20, NULL },
  { "die_to_socket", ib_distance_order, 1, NULL },
  { "socket_to_node", ib_distance_order, 2, NULL },
  { "noise_least", ib_noise_range, 0, NULL },
  { "noise_most", ib_noise_range, 1, NULL },
  { "noise_intensity", ib_noise_intensity, 0, NULL },
  { "noise_classes_most", ib_noise_classes_most, 1, NULL },
  { "noise_classes_growth", ib_noise_classes_growth, 0, NULL },
};

bool
ib_known (const InfiniBand *ib, const char *series, const char *point, double *value)
{
  g_autofree char *key = g_strconcat (series, ",", point, NULL);
  const double *known = g_hash_table_lookup (ib->made, key);

  if (known != NULL)
    *value = *known;
  return known != NULL;
}

void
ib_keep (InfiniBand *ib, const char *series, const char *point, double value, const char *unit)
{
  g_hash_table_insert (ib->made, g_strconcat (series, ",", point, NULL),
                       g_memdup2 (&value, sizeof value));
  validation_detail (ib->details, series, point, (double) NAN, value, unit);
}

gpointer
ib_new (const ValidationWatch *watch)
{
  InfiniBand *ib = g_new0 (InfiniBand, 1);

  ib->details = watch->details;
  ib->made = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  ib->curves = validation_curves_parse (curves_csv, "infiniband_curves.csv", NULL);
  g_assert (ib->curves != NULL); /* a test reads it too */
  return ib;
}

void
ib_free (gpointer data)
{
  InfiniBand *ib = data;

  g_ptr_array_unref (ib->curves);
  g_hash_table_unref (ib->made);
  for (guint i = 0; i < IB_CURVES; i++)
    g_free (ib->simulated[i]);
  g_free (ib);
}

const ValidationSuite validation_infiniband = {
  .name = "infiniband",
  .figures = published_csv,
  .path = "infiniband_published.csv",
  .open = ib_new,
  .close = ib_free,
  .measures = measures,
  .n_measures = G_N_ELEMENTS (measures),
};
