/* infiniband_shift.c - every node to the one d further on, on a tree of switches.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * PNNL's PIC cluster: QDR, one 648-port switch, which inside is 36 leaves of
 * 18 nodes and 18 spines; 128 nodes.  Which nodes the job had is not told: we
 * draw them at random from the whole machine, as a busy cluster hands them
 * out, and number the ranks in the order of the nodes.  One draw is not enough:
 * whether three messages meet on some link, or two, hangs on it; so a figure
 * is the median of several.  Nor are the tables of its switches told: we take
 * minhop's.  2.8 GB/s, what a pair alone
 * got there, is the adapter's bandwidth here. */
#include "config.h"

#include "validation/infiniband/infiniband.h"
#include "validation/messages_at_once.h"

#include <math.h>
#include <stdlib.h>

#define MACHINE     "fattree:36x18:18,routes=minhop"
#define DRAWS       15 /* seeds 1, 2 ...; odd */
#define RANKS       128
#define SHIFT_BYTES UINT64_C (262144)

const char *const ib_shift_settings[] = { "hca.pcie_bandwidth=2.8 GB/s", NULL };

static int
compare_nodes (const void *a, const void *b)
{
  uint32_t x = *(const uint32_t *) a, y = *(const uint32_t *) b;

  return (x > y) - (x < y);
}

/* RANKS different ones of n nodes, in their order. */
static void
draw_nodes (uint32_t node[RANKS], uint32_t n, uint32_t seed)
{
  g_autofree uint32_t *all = g_new (uint32_t, n);
  GRand *random = g_rand_new_with_seed (seed);

  for (uint32_t i = 0; i < n; i++)
    all[i] = i;
  for (uint32_t i = 0; i < RANKS; i++) {
    uint32_t chosen = (uint32_t) g_rand_int_range (random, (gint32) i, (gint32) n);

    node[i] = all[chosen];
    all[chosen] = all[i];
  }
  g_rand_free (random);
  qsort (node, RANKS, sizeof *node, compare_nodes);
}

/* Bytes per second and node until the last message is in; NaN on failure. */
static double
shift_Bps (const TopoMachine *machine, const RoutePaths *paths, const uint32_t *node,
           uint32_t distance, GError **error)
{
  ValidationMessage messages[RANKS];
  g_autofree int64_t *delivered_ps = NULL;

  for (uint32_t rank = 0; rank < RANKS; rank++)
    messages[rank] = (ValidationMessage){ node[rank], node[(rank + distance) % RANKS], SHIFT_BYTES,
                                          SIM_MESSAGE_WRITE };
  delivered_ps = validation_pattern_run_fabric (machine, paths, messages, RANKS, error);
  if (delivered_ps == NULL)
    return (double) NAN;
  return (double) SHIFT_BYTES / ((double) validation_pattern_end_ps (delivered_ps, RANKS) * 1e-12);
}

bool
ib_shift_range (const TopoMachine *machine, uint32_t seed, GString *details, double *slowest_Bps,
                double *fastest_Bps, GError **error)
{
  g_autoptr (RoutePaths) paths = route_paths_new (machine, error);
  uint32_t node[RANKS];

  if (paths == NULL)
    return false;
  draw_nodes (node, topo_shape_nodes (&machine->shape), seed);
  *slowest_Bps = INFINITY;
  *fastest_Bps = 0;
  for (uint32_t distance = 1; distance < RANKS; distance++) {
    double bandwidth_Bps = shift_Bps (machine, paths, node, distance, error);
    g_autofree char *point = g_strdup_printf ("%u", distance);

    if (isnan (bandwidth_Bps))
      return false;
    validation_detail (details, "shift", point, (double) NAN, bandwidth_Bps * 1e-9, "GB/s");
    *slowest_Bps = fmin (*slowest_Bps, bandwidth_Bps);
    *fastest_Bps = fmax (*fastest_Bps, bandwidth_Bps);
  }
  return true;
}

static int
compare_doubles (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

static double
median (double values[DRAWS])
{
  qsort (values, DRAWS, sizeof *values, compare_doubles);
  return values[DRAWS / 2];
}

static bool
measure_draws (InfiniBand *ib, GError **error)
{
  g_autoptr (TopoMachine) machine = validation_machine_new (MACHINE, ib_shift_settings, error);
  double slowest_Bps[DRAWS], fastest_Bps[DRAWS];

  for (uint32_t draw = 0; machine != NULL && draw < DRAWS; draw++) {
    g_autofree char *point = g_strdup_printf ("draw %u slowest", draw + 1);

    if (!ib_shift_range (machine, draw + 1, draw == 0 ? ib->details : NULL, &slowest_Bps[draw],
                         &fastest_Bps[draw], error))
      return false;
    validation_detail (ib->details, "shift-draw", point, (double) NAN, slowest_Bps[draw] * 1e-9,
                       "GB/s");
  }
  if (machine == NULL)
    return false;
  ib->slowest_shift_Bps = median (slowest_Bps);
  ib->fastest_shift_Bps = median (fastest_Bps);
  return true;
}

double
ib_shift_GBps (InfiniBand *ib, uint32_t fastest, GError **error)
{
  if (!ib->has_shifts && !measure_draws (ib, error))
    return (double) NAN;
  ib->has_shifts = true;
  return (fastest ? ib->fastest_shift_Bps : ib->slowest_shift_Bps) * 1e-9;
}
