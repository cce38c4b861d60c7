/* infiniband_shift.c - every node to the one d further on, on a tree of switches.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * PNNL's PIC cluster: QDR, one 648-port switch, which inside is 36 leaves of 18 nodes and 18 spines;
 * 128 nodes.  The nodes of the job are not published: they are drawn at random from the whole
 * machine, as a busy cluster hands them out, and ranks are numbered in the order of the nodes.  The
 * draw decides whether two or three messages meet on a link, so a figure is the median of several.
 * The tables of the switches are not published either: minhop's are used.  The adapter's bandwidth
 * is the 2.8 GB/s of a lone pair there. */
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

bool
ib_shift_range (const TopoMachine *machine, uint32_t seed, GString *details, double *slowest_Bps,
                double *fastest_Bps, GError **error)
{
  uint32_t n_nodes = topo_shape_nodes (&machine->shape), node[RANKS];
  g_autoptr (RoutePaths) paths = route_paths_new (machine, error);
  g_autofree uint32_t *all = g_new (uint32_t, n_nodes);
  GRand *random;

  if (paths == NULL)
    return false;
  /* RANKS different nodes, in their order. */
  random = g_rand_new_with_seed (seed);
  for (uint32_t i = 0; i < n_nodes; i++)
    all[i] = i;
  for (uint32_t i = 0; i < RANKS; i++) {
    uint32_t chosen = (uint32_t) g_rand_int_range (random, (gint32) i, (gint32) n_nodes);

    node[i] = all[chosen];
    all[chosen] = all[i];
  }
  g_rand_free (random);
  qsort (node, RANKS, sizeof *node, compare_nodes);

  /* Bytes per second and node until the last message of a shift is in. */
  *slowest_Bps = INFINITY;
  *fastest_Bps = 0;
  for (uint32_t distance = 1; distance < RANKS; distance++) {
    ValidationMessage messages[RANKS];
    g_autofree int64_t *delivered_ps = NULL;
    g_autofree char *point = g_strdup_printf ("%u", distance);
    double bandwidth_Bps;

    for (uint32_t rank = 0; rank < RANKS; rank++)
      messages[rank] = (ValidationMessage){ node[rank], node[(rank + distance) % RANKS],
                                            SHIFT_BYTES, SIM_MESSAGE_WRITE };
    delivered_ps =
        validation_pattern_run (machine, ROUTE_POLICY_DEFAULT, paths, messages, RANKS, error);
    if (delivered_ps == NULL)
      return false;
    bandwidth_Bps =
        (double) SHIFT_BYTES / ((double) validation_pattern_end_ps (delivered_ps, RANKS) * 1e-12);
    validation_detail (details, "shift", point, (double) NAN, bandwidth_Bps * 1e-9, "GB/s");
    *slowest_Bps = fmin (*slowest_Bps, bandwidth_Bps);
    *fastest_Bps = fmax (*fastest_Bps, bandwidth_Bps);
  }
  return true;
}

double
ib_shift_GBps (gpointer state, uint32_t fastest, GError **error)
{
  InfiniBand *ib = state;
  g_autoptr (TopoMachine) machine = NULL;
  double slowest_Bps[DRAWS], fastest_Bps[DRAWS];

  if (!ib->has_shifts) {
    if ((machine = validation_machine_new (MACHINE, ib_shift_settings, error)) == NULL)
      return (double) NAN;
    for (uint32_t draw = 0; draw < DRAWS; draw++) {
      g_autofree char *point = g_strdup_printf ("draw %u slowest", draw + 1);

      if (!ib_shift_range (machine, draw + 1, draw == 0 ? ib->details : NULL, &slowest_Bps[draw],
                           &fastest_Bps[draw], error))
        return (double) NAN;
      validation_detail (ib->details, "shift-draw", point, (double) NAN, slowest_Bps[draw] * 1e-9,
                         "GB/s");
    }
    ib->slowest_shift_Bps = validation_median (slowest_Bps, DRAWS);
    ib->fastest_shift_Bps = validation_median (fastest_Bps, DRAWS);
    ib->has_shifts = true;
  }
  return (fastest ? ib->fastest_shift_Bps : ib->slowest_shift_Bps) * 1e-9;
}
