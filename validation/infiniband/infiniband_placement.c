/* infiniband_placement.c - ping-pong inside and between the nodes of the aggregation paper.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Figures 3 and 4 of the paper are known from its text alone: what is compared
 * are orders and ranges, not curves. */
#include "config.h"

#include "study/aggregate/network_pingpong.h"
#include "validation/infiniband/infiniband.h"
#include "validation/infiniband/placements.h"

#include <math.h>

#define MACHINE     "systemg:2"
#define NOISE_BYTES (UINT64_C (4) << 20) /* the longest of the Intel MPI Benchmarks */
#define LEAST_BYTES UINT64_C (1)         /* the shortest with data; powers of two between */

/* The three places of the second rank, the first being on core 0. */
enum { SAME_DIE, SAME_SOCKET, OTHER_SOCKET, DISTANCES };

static const uint8_t distance_core[DISTANCES] = { 1, 2, 4 };

/* The paper's six tests of one noisy pair (Figure 4a): the observed pair has
 * aggregation pattern 4, 3 or 2; with the noise it makes patterns 6 and 7, 5
 * and 7, 5 and 6. */
static const ValidationPlacement figure_4a[] = {
  { 2, { { 0, 1 }, { 4, 5 } } }, { 2, { { 0, 1 }, { 2, 3 } } }, { 2, { { 0, 2 }, { 4, 6 } } },
  { 2, { { 0, 2 }, { 1, 3 } } }, { 2, { { 0, 4 }, { 2, 6 } } }, { 2, { { 0, 4 }, { 1, 5 } } },
};

/* Figure 4b: no pair has both ranks in one socket; the noise of the first two
 * is on other dies than the observed pair, the third fills the node. */
static const ValidationPlacement figure_4b[] = {
  { 2, { { 0, 4 }, { 2, 6 } } },
  { 3, { { 0, 4 }, { 2, 6 }, { 3, 7 } } },
  { 4, { { 0, 4 }, { 2, 6 }, { 3, 7 }, { 1, 5 } } },
};

/* ---- two ranks ---- */

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
ib_small_inside_gain (InfiniBand *ib, uint32_t bytes, GError **error)
{
  (void) ib;
  return inside_against_between (bytes, true, error);
}

double
ib_large_between_gain (InfiniBand *ib, uint32_t bytes, GError **error)
{
  (void) ib;
  return inside_against_between (bytes, false, error);
}

/* The least that one step of distance costs, over sizes from 8 bytes to 4 MB;
 * `farther` is 1 for another die, 2 for another socket. */
double
ib_distance_order (InfiniBand *ib, uint32_t farther, GError **error)
{
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

/* ---- with noise ---- */

static double
placement_us (const TopoMachine *machine, const ValidationPlacement *placement, uint64_t bytes,
              GError **error)
{
  uint32_t n_pairs = MIN (placement->n_pairs, 1u + VALIDATION_MAX_NOISE);
  uint32_t node[VALIDATION_CORES] = { 0 };
  uint8_t core[VALIDATION_CORES] = { 0 };

  for (uint32_t pair = 0; pair < n_pairs; pair++) {
    core[pair] = placement->pair[pair][0];
    core[n_pairs + pair] = placement->pair[pair][1];
  }
  return study_pingpong_us (machine, NULL, 2 * n_pairs, node, core, bytes, error);
}

static char *
placement_name (const ValidationPlacement *placement, uint64_t bytes)
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

/* Without the noise of a placement, measured once; NaN and *error. */
static double
alone_us (InfiniBand *ib, const TopoMachine *machine, const ValidationPlacement *placement,
          uint64_t bytes, GError **error)
{
  ValidationPlacement alone = *placement;
  g_autofree char *name = NULL;
  double us;

  alone.n_pairs = 1;
  name = placement_name (&alone, bytes);
  if (ib_known (ib, "alone", name, &us))
    return us;
  us = placement_us (machine, &alone, bytes, error);
  if (!isnan (us))
    ib_keep (ib, "alone", name, us, "us");
  return us;
}

/* By how many percent the noise lengthens the observed messages. */
static double
noise_percent (InfiniBand *ib, const TopoMachine *machine, const ValidationPlacement *placement,
               uint64_t bytes, GError **error)
{
  g_autofree char *name = placement_name (placement, bytes);
  double quiet_us, noisy_us, percent;

  if (ib_known (ib, "noise", name, &percent))
    return percent;
  quiet_us = alone_us (ib, machine, placement, bytes, error);
  noisy_us = isnan (quiet_us) ? quiet_us : placement_us (machine, placement, bytes, error);
  percent = 100 * (noisy_us / quiet_us - 1);
  if (!isnan (percent))
    ib_keep (ib, "noise", name, percent, "%");
  return percent;
}

/* Writes the percentages of n placements with the longest messages; false and *error. */
static bool
measure_noise (InfiniBand *ib, const ValidationPlacement *placements, uint32_t n, double *percent,
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

/* The most over all sizes; NaN and *error. */
static double
most_noise_percent (InfiniBand *ib, const TopoMachine *machine,
                    const ValidationPlacement *placement, GError **error)
{
  double most = -(double) INFINITY;

  for (uint64_t bytes = LEAST_BYTES; bytes <= NOISE_BYTES; bytes *= 2) {
    double percent = noise_percent (ib, machine, placement, bytes, error);

    if (isnan (percent))
      return percent;
    most = fmax (most, percent);
  }
  return most;
}

/* What noise costs at the size that suffers most: the least and the most of
 * Figure 4a's tests. */
static bool
measure_figure_4a (InfiniBand *ib, double *least, double *most, GError **error)
{
  g_autoptr (TopoMachine) machine = validation_machine_new (MACHINE, NULL, error);

  *least = INFINITY;
  *most = -(double) INFINITY;
  for (guint i = 0; machine != NULL && i < G_N_ELEMENTS (figure_4a); i++) {
    double percent = most_noise_percent (ib, machine, &figure_4a[i], error);

    if (isnan (percent))
      return false;
    *least = fmin (*least, percent);
    *most = fmax (*most, percent);
  }
  return machine != NULL;
}

double
ib_noise_least (InfiniBand *ib, uint32_t unused, GError **error)
{
  double least, most;

  (void) unused;
  return measure_figure_4a (ib, &least, &most, error) ? least : (double) NAN;
}

double
ib_noise_most (InfiniBand *ib, uint32_t unused, GError **error)
{
  double least, most;

  (void) unused;
  return measure_figure_4a (ib, &least, &most, error) ? most : (double) NAN;
}

/* The smallest step, in percent of the time without noise, from one noisy
 * pair more in Figure 4b. */
double
ib_noise_intensity (InfiniBand *ib, uint32_t unused, GError **error)
{
  double percent[G_N_ELEMENTS (figure_4b)], least;

  (void) unused;
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
  ValidationPlacement classes[VALIDATION_MAX_PLACEMENTS];
  uint32_t n = validation_placements (n_noise, classes);
  double percent[VALIDATION_MAX_PLACEMENTS];

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
ib_noise_classes_most (InfiniBand *ib, uint32_t n_noise, GError **error)
{
  double most, mean;

  return measure_classes (ib, n_noise, &most, &mean, error) ? most : (double) NAN;
}

/* The smallest step of the mean over all classes from one noisy pair to two
 * and to three. */
double
ib_noise_classes_growth (InfiniBand *ib, uint32_t unused, GError **error)
{
  double most, before = 0, least = INFINITY;

  (void) unused;
  for (uint32_t n_noise = 1; n_noise <= VALIDATION_MAX_NOISE; n_noise++) {
    double mean;

    if (!measure_classes (ib, n_noise, &most, &mean, error))
      return (double) NAN;
    least = fmin (least, mean - before);
    before = mean;
  }
  return least;
}
