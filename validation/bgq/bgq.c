/* bgq.c - experiments that were done on Blue Gene/Q, done again here: some ten
 * seconds in all.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validation/messages_at_once.h"
#include "validation/replayed_pingpong.h"
#include "validation/suite.h"

#include <math.h>
#include <string.h>

/* validation/data/bgq_published.csv as a string, made by the build. */
static const char published_csv[] =
#include "validation/bgq/bgq_published.inc"
    ;

#define MEGABYTE       UINT64_C (1000000)
#define LINK_BPS       1.8e9 /* payload of a link, the papers' "peak" */
#define DIRECT_BYTES   UINT64_C (2048)
#define TRANSFER_BYTES UINT64_C (1048576)
#define SHIFT_BYTES    UINT64_C (262144)

/* Measurements that several figures are taken from, kept once made. */
typedef struct {
  bool has_latencies, has_bandwidths, has_shifts;
  double nearest_ps, farthest_ps, per_hop_ps;
  double lowest_Bps, highest_Bps;
  double slowest_shift_Bps, fastest_shift_Bps;
} Bgq;

/* What a measurement returns when it has set *error. */
static const double failed = (double) NAN;

/* The figure in its published unit, or failed. */
typedef double (*Measure) (Bgq *bgq, GError **error);

/* ---- through MPI ---- */

static double
latency_neighbour_us (Bgq *bgq, GError **error)
{
  g_autoptr (TopoMachine) machine = topo_machine_new ("bgq:128", error);
  double latency_ps;

  (void) bgq;
  if (machine == NULL)
    return failed;
  latency_ps = validation_latency_ps (machine, 0, 1, 8, error);
  return latency_ps > 0 ? latency_ps * 1e-6 : failed;
}

/* Least squares of latency over hops, from node 0 to all others. */
static bool
measure_latencies (Bgq *bgq, GError **error)
{
  g_autoptr (TopoMachine) machine = topo_machine_new ("bgq:128", error);
  uint32_t n_nodes = machine == NULL ? 0 : topo_shape_nodes (&machine->shape);
  double n = 0, sum_x = 0, sum_y = 0, sum_xx = 0, sum_xy = 0;

  if (bgq->has_latencies)
    return true;
  bgq->nearest_ps = INFINITY;
  bgq->farthest_ps = 0;
  for (uint32_t to = 1; to < n_nodes; to++) {
    double latency_ps = validation_latency_ps (machine, 0, to, 0, error);
    double hops = topo_shape_hops (&machine->shape, 0, to);

    if (latency_ps <= 0)
      return false;
    bgq->nearest_ps = fmin (bgq->nearest_ps, latency_ps);
    bgq->farthest_ps = fmax (bgq->farthest_ps, latency_ps);
    n++, sum_x += hops, sum_y += latency_ps;
    sum_xx += hops * hops, sum_xy += hops * latency_ps;
  }
  bgq->per_hop_ps = (n * sum_xy - sum_x * sum_y) / (n * sum_xx - sum_x * sum_x);
  return bgq->has_latencies = n_nodes > 0;
}

static double
latency_nearest_us (Bgq *bgq, GError **error)
{
  return measure_latencies (bgq, error) ? bgq->nearest_ps * 1e-6 : failed;
}

static double
latency_farthest_us (Bgq *bgq, GError **error)
{
  return measure_latencies (bgq, error) ? bgq->farthest_ps * 1e-6 : failed;
}

static double
latency_per_hop_ns (Bgq *bgq, GError **error)
{
  return measure_latencies (bgq, error) ? bgq->per_hop_ps * 1e-3 : failed;
}

/* Node 1 is node 0's E neighbour and left out here. */
static bool
measure_bandwidths (Bgq *bgq, GError **error)
{
  g_autoptr (TopoMachine) machine = topo_machine_new ("bgq:128", error);
  uint32_t n_nodes = machine == NULL ? 0 : topo_shape_nodes (&machine->shape);

  if (bgq->has_bandwidths)
    return true;
  bgq->lowest_Bps = INFINITY;
  bgq->highest_Bps = 0;
  for (uint32_t to = 2; to < n_nodes; to++) {
    double bandwidth_Bps = validation_bandwidth_Bps (machine, 0, to, MEGABYTE, error);

    if (bandwidth_Bps <= 0)
      return false;
    bgq->lowest_Bps = fmin (bgq->lowest_Bps, bandwidth_Bps);
    bgq->highest_Bps = fmax (bgq->highest_Bps, bandwidth_Bps);
  }
  return bgq->has_bandwidths = n_nodes > 0;
}

static double
bandwidth_lowest_GBps (Bgq *bgq, GError **error)
{
  return measure_bandwidths (bgq, error) ? bgq->lowest_Bps * 1e-9 : failed;
}

static double
bandwidth_highest_GBps (Bgq *bgq, GError **error)
{
  return measure_bandwidths (bgq, error) ? bgq->highest_Bps * 1e-9 : failed;
}

static double
bandwidth_e_neighbour_GBps (Bgq *bgq, GError **error)
{
  g_autoptr (TopoMachine) machine = topo_machine_new ("bgq:128", error);
  double bandwidth_Bps;

  (void) bgq;
  if (machine == NULL)
    return failed;
  bandwidth_Bps = validation_bandwidth_Bps (machine, 0, 1, MEGABYTE, error);
  return bandwidth_Bps > 0 ? bandwidth_Bps * 1e-9 : failed;
}

/* ---- on the network alone ---- */

/* Where a node sends to in a pattern of one message per node. */
typedef uint32_t (*Partner) (const TopoShape *shape, uint32_t node, uint32_t argument);

/* Bytes per second and node until the last message is in; nodes that are
 * their own partner send nothing. */
static double
permutation_Bps (const TopoMachine *machine, RoutePolicy policy, Partner partner, uint32_t argument,
                 uint64_t bytes, GError **error)
{
  uint32_t n_nodes = topo_shape_nodes (&machine->shape), n = 0;
  g_autofree ValidationMessage *messages = g_new (ValidationMessage, n_nodes);
  g_autofree int64_t *delivered_ps = NULL;

  for (uint32_t node = 0; node < n_nodes; node++) {
    uint32_t to = partner (&machine->shape, node, argument);

    if (to != node)
      messages[n++] = (ValidationMessage){ node, to, bytes, SIM_MESSAGE_DATA };
  }
  delivered_ps = validation_pattern_run (machine, policy, messages, n, error);
  if (delivered_ps == NULL)
    return failed;
  return (double) bytes / ((double) validation_pattern_end_ps (delivered_ps, n) * 1e-12);
}

static uint32_t
shifted (const TopoShape *shape, uint32_t node, uint32_t distance)
{
  return (node + distance) % topo_shape_nodes (shape);
}

/* Half-way around in the dimensions of the mask. */
static uint32_t
opposite (const TopoShape *shape, uint32_t node, uint32_t dimensions)
{
  TopoCoordinates at = topo_shape_coordinates (shape, node);

  for (uint32_t dimension = 0; dimension < shape->n_dimensions; dimension++)
    if (dimensions >> dimension & 1u)
      at.at[dimension] =
          (uint16_t) ((at.at[dimension] + shape->size[dimension] / 2) % shape->size[dimension]);
  return topo_shape_node (shape, at);
}

/* The node at (A, B, C, D) holds the block in row AB and column CD. */
static uint32_t
transposed (const TopoShape *shape, uint32_t node, uint32_t unused)
{
  TopoCoordinates from = topo_shape_coordinates (shape, node);
  TopoCoordinates to = from;

  (void) unused;
  for (uint32_t dimension = 0; dimension < 4; dimension++)
    to.at[dimension] = from.at[(dimension + 2) % 4];
  return topo_shape_node (shape, to);
}

static bool
measure_shifts (Bgq *bgq, GError **error)
{
  g_autoptr (TopoMachine) machine = topo_machine_new ("bgq:128", error);
  uint32_t n_nodes = machine == NULL ? 0 : topo_shape_nodes (&machine->shape);

  if (bgq->has_shifts)
    return true;
  bgq->slowest_shift_Bps = INFINITY;
  bgq->fastest_shift_Bps = 0;
  for (uint32_t distance = 1; distance < n_nodes; distance++) {
    double bandwidth_Bps =
        permutation_Bps (machine, ROUTE_POLICY_DEFAULT, shifted, distance, SHIFT_BYTES, error);

    if (isnan (bandwidth_Bps))
      return false;
    bgq->slowest_shift_Bps = fmin (bgq->slowest_shift_Bps, bandwidth_Bps);
    bgq->fastest_shift_Bps = fmax (bgq->fastest_shift_Bps, bandwidth_Bps);
  }
  return bgq->has_shifts = n_nodes > 0;
}

static double
shift_slowest_GBps (Bgq *bgq, GError **error)
{
  return measure_shifts (bgq, error) ? bgq->slowest_shift_Bps * 1e-9 : failed;
}

static double
shift_fastest_GBps (Bgq *bgq, GError **error)
{
  return measure_shifts (bgq, error) ? bgq->fastest_shift_Bps * 1e-9 : failed;
}

/* Each node's destinations in an order of its own, as the direct alltoall
 * has it (bgq.md section 5); a seed per node. */
static void
shuffle_destinations (ValidationMessage *messages, uint32_t n, uint32_t node)
{
  GRand *random = g_rand_new_with_seed (node + 1);

  for (uint32_t left = n; left > 1; left--) {
    uint32_t chosen = (uint32_t) g_rand_int_range (random, 0, (gint32) left);
    ValidationMessage kept = messages[left - 1];

    messages[left - 1] = messages[chosen];
    messages[chosen] = kept;
  }
  g_rand_free (random);
}

/* Of 8 / L times a link's payload bandwidth, L the longest dimension: what
 * the bisection of the torus allows (bgq.md section 6.2). */
static double
alltoall_share (Bgq *bgq, GError **error)
{
  g_autoptr (TopoMachine) machine = topo_machine_new ("bgq:512", error);
  uint32_t n_nodes = machine == NULL ? 0 : topo_shape_nodes (&machine->shape), n = 0;
  g_autofree ValidationMessage *messages = g_new (ValidationMessage, (gsize) n_nodes * n_nodes);
  g_autofree int64_t *delivered_ps = NULL;
  double bytes_per_node = (double) (n_nodes - 1) * (double) DIRECT_BYTES;

  (void) bgq;
  if (machine == NULL)
    return failed;
  for (uint32_t from = 0; from < n_nodes; from++) {
    for (uint32_t k = 1; k < n_nodes; k++)
      messages[n++] =
          (ValidationMessage){ from, (from + k) % n_nodes, DIRECT_BYTES, SIM_MESSAGE_DIRECT };
    shuffle_destinations (messages + n - (n_nodes - 1), n_nodes - 1, from);
  }
  delivered_ps = validation_pattern_run (machine, ROUTE_POLICY_DEFAULT, messages, n, error);
  if (delivered_ps == NULL)
    return failed;
  return bytes_per_node / ((double) validation_pattern_end_ps (delivered_ps, n) * 1e-12) /
         (8.0 / 4 * LINK_BPS);
}

/* Every node with the one farthest from it: half the nodes send across each
 * bisection in each direction, N/2 flows over 2N/4 links. */
static double
pairing_share (Bgq *bgq, GError **error)
{
  g_autoptr (TopoMachine) machine = topo_machine_new ("bgq:512", error);

  (void) bgq;
  if (machine == NULL)
    return failed;
  return permutation_Bps (machine, ROUTE_POLICY_DEFAULT, opposite, 0x1f, TRANSFER_BYTES, error) /
         LINK_BPS;
}

static double
transpose_gain (Bgq *bgq, GError **error)
{
  g_autoptr (TopoMachine) machine = topo_machine_new ("bgq:512", error);
  double dynamic_Bps, deterministic_Bps;

  (void) bgq;
  if (machine == NULL)
    return failed;
  dynamic_Bps = permutation_Bps (machine, ROUTE_POLICY_ZONE0, transposed, 0, TRANSFER_BYTES, error);
  if (isnan (dynamic_Bps))
    return failed;
  deterministic_Bps =
      permutation_Bps (machine, ROUTE_POLICY_DETERMINISTIC, transposed, 0, TRANSFER_BYTES, error);
  return dynamic_Bps / deterministic_Bps;
}

/* Partners half-way around D, the longest dimension of both shapes. */
static double
pairing_of_shape_Bps (const char *spec, GError **error)
{
  g_autoptr (TopoMachine) machine = topo_machine_new (spec, error);

  if (machine == NULL)
    return failed;
  return permutation_Bps (machine, ROUTE_POLICY_DEFAULT, opposite, 1u << 3, SHIFT_BYTES, error);
}

static double
geometry_gain (Bgq *bgq, GError **error)
{
  double compact_Bps = pairing_of_shape_Bps ("bgq:4x4x8x8x2", error);
  double long_Bps = isnan (compact_Bps) ? failed : pairing_of_shape_Bps ("bgq:4x4x4x16x2", error);

  (void) bgq;
  return compact_Bps / long_Bps;
}

/* ---- all of them ---- */

static const struct {
  const char *name;
  Measure measure;
} measures[] = {
  { "mpi_latency_neighbour", latency_neighbour_us },
  { "mpi_latency_nearest", latency_nearest_us },
  { "mpi_latency_farthest", latency_farthest_us },
  { "latency_per_hop", latency_per_hop_ns },
  { "mpi_bandwidth_lowest", bandwidth_lowest_GBps },
  { "mpi_bandwidth_highest", bandwidth_highest_GBps },
  { "mpi_bandwidth_e_neighbour", bandwidth_e_neighbour_GBps },
  { "shift_slowest", shift_slowest_GBps },
  { "shift_fastest", shift_fastest_GBps },
  { "alltoall_efficiency", alltoall_share },
  { "pairing_efficiency", pairing_share },
  { "transpose_gain", transpose_gain },
  { "geometry_gain", geometry_gain },
};

static gpointer
open_bgq (const ValidationWatch *watch)
{
  (void) watch;
  return g_new0 (Bgq, 1);
}

static bool
measure_figure (gpointer state, const ValidationPublished *published, double *simulated,
                GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (measures); i++)
    if (strcmp (measures[i].name, published->name) == 0) {
      *simulated = measures[i].measure (state, error);
      return !isnan (*simulated);
    }
  g_set_error (error, VALIDATION_ERROR, VALIDATION_ERROR_EXPERIMENT,
               "no experiment measures \"%s\"", published->name);
  return false;
}

const ValidationSuite validation_bgq = {
  .name = "bgq",
  .figures = published_csv,
  .path = "bgq_published.csv",
  .open = open_bgq,
  .close = g_free,
  .measure = measure_figure,
};
