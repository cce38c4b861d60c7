/* infiniband_placement.c - ping-pong inside and between the nodes of the aggregation paper.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Figures 3 and 4 of the paper are known from its text alone, so orders and ranges are compared,
 * not curves. */
#include "study/aggregate/network_pingpong.h"
#include "topology/mapping/message_placement.h"
#include "validation/infiniband/infiniband.h"

#include <math.h>

#define MACHINE     "systemg:2"
#define NOISE_BYTES (UINT64_C (4) << 20) /* the longest of the Intel MPI Benchmarks */
#define LEAST_BYTES UINT64_C (1)         /* the shortest with data; powers of two between */

/* The node has two sockets of two dies of two cores: cores 0 and 1 are one die, 0..3 one socket. */
#define CORES          8
#define MAX_NOISE      3
#define MAX_PLACEMENTS 32 /* more than the classes of any number of noisy pairs */

/* One observed pair of ranks and up to three others, the noise. */
typedef struct {
  uint8_t n_pairs;
  uint8_t pair[1 + MAX_NOISE][2]; /* cores; pair 0 is the observed one */
} Placement;

/* The three places of the second rank, the first being on core 0. */
enum { SAME_DIE, SAME_SOCKET, OTHER_SOCKET, DISTANCES };

static const uint8_t distance_core[DISTANCES] = { 1, 2, 4 };

/* The paper's six tests of one noisy pair (Figure 4a): the observed pair has
 * aggregation pattern 4, 3 or 2; with the noise it makes patterns 6 and 7, 5
 * and 7, 5 and 6. */
static const Placement figure_4a[] = {
  { 2, { { 0, 1 }, { 4, 5 } } }, { 2, { { 0, 1 }, { 2, 3 } } }, { 2, { { 0, 2 }, { 4, 6 } } },
  { 2, { { 0, 2 }, { 1, 3 } } }, { 2, { { 0, 4 }, { 2, 6 } } }, { 2, { { 0, 4 }, { 1, 5 } } },
};

/* Figure 4b: no pair has both ranks in one socket; the noise of the first two
 * is on other dies than the observed pair, the third fills the node. */
static const Placement figure_4b[] = {
  { 2, { { 0, 4 }, { 2, 6 } } },
  { 3, { { 0, 4 }, { 2, 6 }, { 3, 7 } } },
  { 4, { { 0, 4 }, { 2, 6 }, { 3, 7 }, { 1, 5 } } },
};

/* One placement of each class (topology/mapping/message_placement.h) with n_noise noisy pairs;
 * returns their number. */
static uint32_t
list_placements (uint32_t n_noise, Placement classes[MAX_PLACEMENTS])
{
  g_autoptr (TopoNode) node = topo_node_harpertown ();
  g_autoptr (TopoLevels) levels = topo_levels_new (node, false);
  g_autoptr (TopoPlacements) found = NULL;

  g_assert (n_noise <= MAX_NOISE && levels->n_places == CORES);
  found = topo_placements_new (levels, (TopoPlacementKind){ 2, n_noise, 0 });
  g_assert (found->n <= MAX_PLACEMENTS);
  for (uint32_t at = 0; at < found->n; at++) {
    const uint8_t *mark = found->mark + CORES * at;
    uint32_t n_ends[1 + MAX_NOISE] = { 0 };

    classes[at] = (Placement){ .n_pairs = (uint8_t) (1 + n_noise) };
    for (uint32_t core = 0; core < CORES; core++) {
      uint32_t pair = mark[core] == TOPO_PLACE_OBSERVED ? 0 : 1u + mark[core] - TOPO_PLACE_PAIR;

      if (mark[core] == TOPO_PLACE_FREE)
        continue;
      g_assert (n_ends[pair] < 2);
      classes[at].pair[pair][n_ends[pair]++] = (uint8_t) core;
    }
  }
  return found->n;
}

/* --- Two ranks --- */

static double
two_ranks_us (const TopoMachine *machine, bool between, uint8_t core, uint64_t bytes,
              GError **error)
{
  const uint32_t node[] = { 0, between ? 1 : 0 };
  const uint8_t cores[] = { 0, core };

  return study_pingpong_us (machine, NULL, 2, node, cores, bytes, error);
}

/* Time between nodes over the longest inside, or the shortest inside over that
 * between nodes. */
static double
inside_against_between (uint64_t bytes, bool longest, GError **error)
{
  g_autoptr (TopoMachine) machine = validation_machine_new (MACHINE, NULL, error);
  double between_us =
      machine == NULL ? (double) NAN : two_ranks_us (machine, true, 0, bytes, error);
  double inside_us = longest ? 0 : (double) INFINITY;

  for (uint32_t distance = 0; !isnan (between_us) && distance < DISTANCES; distance++) {
    double us = two_ranks_us (machine, false, distance_core[distance], bytes, error);

    if (isnan (us))
      return us;
    inside_us = longest ? fmax (inside_us, us) : fmin (inside_us, us);
  }
  return longest ? between_us / inside_us : inside_us / between_us;
}

double
ib_small_inside_gain (gpointer ib G_GNUC_UNUSED, uint32_t bytes, GError **error)
{
  return inside_against_between (bytes, true, error);
}

double
ib_large_between_gain (gpointer ib G_GNUC_UNUSED, uint32_t bytes, GError **error)
{
  return inside_against_between (bytes, false, error);
}

/* The least that one step of distance costs, over sizes from 8 bytes to 4 MB;
 * `farther` is 1 for another die, 2 for another socket. */
double
ib_distance_order (gpointer state, uint32_t farther, GError **error)
{
  InfiniBand *ib = state;
  g_autoptr (TopoMachine) machine = validation_machine_new (MACHINE, NULL, error);
  double least = machine == NULL ? (double) NAN : (double) INFINITY;

  for (uint64_t bytes = 8; machine != NULL && bytes <= UINT64_C (1) << 22; bytes *= 8) {
    double near_us = two_ranks_us (machine, false, distance_core[farther - 1], bytes, error);
    double far_us = isnan (near_us)
                        ? near_us
                        : two_ranks_us (machine, false, distance_core[farther], bytes, error);
    g_autofree char *point = g_strdup_printf ("%" G_GUINT64_FORMAT, bytes);

    if (isnan (far_us))
      return far_us;
    validation_detail (ib->details, farther == SAME_SOCKET ? "die-to-socket" : "socket-to-node",
                       point, (double) NAN, far_us / near_us, "ratio");
    least = fmin (least, far_us / near_us);
  }
  return least;
}

/* --- With noise --- */

static double
placement_us (const TopoMachine *machine, const Placement *placement, uint64_t bytes,
              GError **error)
{
  uint32_t n_pairs = MIN (placement->n_pairs, 1u + MAX_NOISE);
  uint32_t node[CORES] = { 0 };
  uint8_t core[CORES] = { 0 };

  for (uint32_t pair = 0; pair < n_pairs; pair++) {
    core[pair] = placement->pair[pair][0];
    core[n_pairs + pair] = placement->pair[pair][1];
  }
  return study_pingpong_us (machine, NULL, 2 * n_pairs, node, core, bytes, error);
}

static char *
placement_name (const Placement *placement, uint64_t bytes)
{
  GString *name = g_string_new (NULL);

  g_string_append_printf (name, "%" G_GUINT64_FORMAT " B on ", bytes);
  for (uint32_t pair = 0; pair < placement->n_pairs; pair++)
    g_string_append_printf (name, "%s%u-%u",
                            pair == 0   ? ""
                            : pair == 1 ? " with "
                                        : " ",
                            placement->pair[pair][0], placement->pair[pair][1]);
  return g_string_free (name, FALSE);
}

/* By how many percent the noise lengthens the observed messages.  Both times are measured once; NaN
 * and *error on failure. */
static double
noise_percent (InfiniBand *ib, const TopoMachine *machine, const Placement *placement,
               uint64_t bytes, GError **error)
{
  g_autofree char *name = placement_name (placement, bytes), *alone_name = NULL;
  Placement alone = *placement;
  double alone_us, percent;

  if (ib_known (ib, "noise", name, &percent))
    return percent;
  alone.n_pairs = 1;
  alone_name = placement_name (&alone, bytes);
  if (!ib_known (ib, "alone", alone_name, &alone_us)) {
    alone_us = placement_us (machine, &alone, bytes, error);
    if (isnan (alone_us))
      return alone_us;
    ib_keep (ib, "alone", alone_name, alone_us, "us");
  }
  percent = 100 * (placement_us (machine, placement, bytes, error) / alone_us - 1);
  if (!isnan (percent))
    ib_keep (ib, "noise", name, percent, "%");
  return percent;
}

/* Writes the percentages of n placements with the longest messages; false and *error. */
static bool
measure_noise (InfiniBand *ib, const Placement *placements, uint32_t n, double *percent,
               GError **error)
{
  g_autoptr (TopoMachine) machine = validation_machine_new (MACHINE, NULL, error);

  for (uint32_t i = 0; machine != NULL && i < n; i++) {
    percent[i] = noise_percent (ib, machine, &placements[i], NOISE_BYTES, error);
    if (isnan (percent[i]))
      return false;
  }
  return machine != NULL;
}

/* The cost of noise at the size that suffers most: the least (0) or the most (1) of Figure 4a's
 * tests. */
double
ib_noise_range (gpointer ib, uint32_t most, GError **error)
{
  g_autoptr (TopoMachine) machine = validation_machine_new (MACHINE, NULL, error);
  double end = most ? -(double) INFINITY : (double) INFINITY;

  if (machine == NULL)
    return (double) NAN;
  for (guint i = 0; i < G_N_ELEMENTS (figure_4a); i++) {
    double worst = -(double) INFINITY;

    for (uint64_t bytes = LEAST_BYTES; bytes <= NOISE_BYTES; bytes *= 2) {
      double percent = noise_percent (ib, machine, &figure_4a[i], bytes, error);

      if (isnan (percent))
        return percent;
      worst = fmax (worst, percent);
    }
    end = most ? fmax (end, worst) : fmin (end, worst);
  }
  return end;
}

/* The smallest step, in percent of the time without noise, from one noisy pair more in Figure 4b. */
double
ib_noise_intensity (gpointer ib, uint32_t unused G_GNUC_UNUSED, GError **error)
{
  double percent[G_N_ELEMENTS (figure_4b)], least;

  if (!measure_noise (ib, figure_4b, G_N_ELEMENTS (figure_4b), percent, error))
    return (double) NAN;
  least = percent[0];
  for (guint i = 1; i < G_N_ELEMENTS (figure_4b); i++)
    least = fmin (least, percent[i] - percent[i - 1]);
  return least;
}

/* Of all classes with so many noisy pairs; false and *error. */
static bool
measure_classes (InfiniBand *ib, uint32_t n_noise, double *most, double *mean, GError **error)
{
  Placement classes[MAX_PLACEMENTS];
  uint32_t n = list_placements (n_noise, classes);
  double percent[MAX_PLACEMENTS];

  if (!measure_noise (ib, classes, n, percent, error))
    return false;
  *most = -(double) INFINITY;
  *mean = 0;
  for (uint32_t i = 0; i < n; i++) {
    *most = fmax (*most, percent[i]);
    *mean += percent[i] / n;
  }
  return true;
}

double
ib_noise_classes_most (gpointer ib, uint32_t n_noise, GError **error)
{
  double most, mean;

  return measure_classes (ib, n_noise, &most, &mean, error) ? most : (double) NAN;
}

/* The smallest step of the mean over all classes from one noisy pair to two
 * and to three. */
double
ib_noise_classes_growth (gpointer ib, uint32_t unused G_GNUC_UNUSED, GError **error)
{
  double most, before = 0, least = INFINITY;
  for (uint32_t n_noise = 1; n_noise <= MAX_NOISE; n_noise++) {
    double mean;

    if (!measure_classes (ib, n_noise, &most, &mean, error))
      return (double) NAN;
    least = fmin (least, mean - before);
    before = mean;
  }
  return least;
}
