/* bgq.c - experiments that were made on Blue Gene/Q, repeated in simulation in about ten seconds.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "validation/messages_at_once.h"
#include "validation/replayed_program.h"
#include "validation/suite.h"

#include <math.h>

/* validation/data/bgq_published.csv as a string, made by the build. */
static const char published_csv[] =
#include "validation/bgq/bgq_published.inc"
    ;

#define MEGABYTE       UINT64_C (1000000)
#define LINK_BPS       1.8e9 /* payload of a link, the papers' "peak" */
#define DIRECT_BYTES   UINT64_C (2048)
#define TRANSFER_BYTES UINT64_C (1048576)
#define SHIFT_NODES    128
#define SHIFT_BYTES    UINT64_C (262144)

/* Measurements that several figures share, in published units; kept once made. */
enum { NEAREST, FARTHEST, PER_HOP, N_LATENCIES };
enum { LOWEST, HIGHEST, N_ENDS };

typedef struct {
  bool has_latencies, has_bandwidths, has_shifts;
  double latency[N_LATENCIES]; /* us; per hop: ns */
  double bandwidth_GBps[N_ENDS], shift_GBps[N_ENDS];
} Bgq;

/* The result of a measurement that has set *error. */
static const double failed = (double) NAN;

/* --- Through MPI --- */

static double
neighbour_latency_us (gpointer bgq G_GNUC_UNUSED, uint32_t unused G_GNUC_UNUSED, GError **error)
{
  g_autoptr (TopoMachine) machine = topo_machine_new ("bgq:128", error);
  double one_way_ps = machine != NULL ? validation_latency_ps (machine, 1, 8, error) : 0;

  return one_way_ps > 0 ? one_way_ps * 1e-6 : failed;
}

/* From node 0 to all others; per hop: least squares of latency over hops. */
static double
latency (gpointer state, uint32_t which, GError **error)
{
  Bgq *bgq = state;
  g_autoptr (TopoMachine) machine = NULL;
  double nearest_ps = INFINITY, farthest_ps = 0;
  double n = 0, sum_x = 0, sum_y = 0, sum_xx = 0, sum_xy = 0;

  if (bgq->has_latencies)
    return bgq->latency[which];
  if ((machine = topo_machine_new ("bgq:128", error)) == NULL)
    return failed;
  for (uint32_t to = 1; to < topo_shape_nodes (&machine->shape); to++) {
    double one_way_ps = validation_latency_ps (machine, to, 0, error);
    double hops = topo_shape_hops (&machine->shape, 0, to);

    if (one_way_ps <= 0)
      return failed;
    nearest_ps = fmin (nearest_ps, one_way_ps);
    farthest_ps = fmax (farthest_ps, one_way_ps);
    n++, sum_x += hops, sum_y += one_way_ps;
    sum_xx += hops * hops, sum_xy += hops * one_way_ps;
  }
  bgq->latency[NEAREST] = nearest_ps * 1e-6;
  bgq->latency[FARTHEST] = farthest_ps * 1e-6;
  bgq->latency[PER_HOP] = (n * sum_xy - sum_x * sum_y) / (n * sum_xx - sum_x * sum_x) * 1e-3;
  bgq->has_latencies = true;
  return bgq->latency[which];
}

/* From node 0 to all others except node 1, its E neighbour. */
static double
bandwidth_GBps (gpointer state, uint32_t which, GError **error)
{
  Bgq *bgq = state;
  g_autoptr (TopoMachine) machine = NULL;
  double lowest_Bps = INFINITY, highest_Bps = 0;

  if (bgq->has_bandwidths)
    return bgq->bandwidth_GBps[which];
  if ((machine = topo_machine_new ("bgq:128", error)) == NULL)
    return failed;
  for (uint32_t to = 2; to < topo_shape_nodes (&machine->shape); to++) {
    double bandwidth_Bps = validation_bandwidth_Bps (machine, to, MEGABYTE, error);

    if (bandwidth_Bps <= 0)
      return failed;
    lowest_Bps = fmin (lowest_Bps, bandwidth_Bps);
    highest_Bps = fmax (highest_Bps, bandwidth_Bps);
  }
  bgq->bandwidth_GBps[LOWEST] = lowest_Bps * 1e-9;
  bgq->bandwidth_GBps[HIGHEST] = highest_Bps * 1e-9;
  bgq->has_bandwidths = true;
  return bgq->bandwidth_GBps[which];
}

static double
neighbour_bandwidth_GBps (gpointer bgq G_GNUC_UNUSED, uint32_t unused G_GNUC_UNUSED, GError **error)
{
  g_autoptr (TopoMachine) machine = topo_machine_new ("bgq:128", error);
  double bandwidth_Bps =
      machine != NULL ? validation_bandwidth_Bps (machine, 1, MEGABYTE, error) : 0;

  return bandwidth_Bps > 0 ? bandwidth_Bps * 1e-9 : failed;
}

/* --- On the network alone --- */

/* The destination of a node in a pattern of one message per node. */
typedef uint32_t (*Partner) (const TopoShape *shape, uint32_t node, uint32_t argument);

/* Bytes per second and node until the last message is in; nodes that are their own partner send
 * nothing. */
static double
permutation_Bps (const char *spec, RoutePolicy policy, Partner partner, uint32_t argument,
                 uint64_t bytes, GError **error)
{
  g_autoptr (TopoMachine) machine = topo_machine_new (spec, error);
  g_autofree ValidationMessage *messages = NULL;
  g_autofree int64_t *delivered_ps = NULL;
  uint32_t n = 0;

  if (machine == NULL)
    return failed;
  messages = g_new (ValidationMessage, topo_shape_nodes (&machine->shape));
  for (uint32_t node = 0; node < topo_shape_nodes (&machine->shape); node++) {
    uint32_t to = partner (&machine->shape, node, argument);

    if (to != node)
      messages[n++] = (ValidationMessage){ node, to, bytes, SIM_MESSAGE_DATA };
  }
  delivered_ps = validation_pattern_run (machine, policy, NULL, messages, n, error);
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
transposed (const TopoShape *shape, uint32_t node, uint32_t unused G_GNUC_UNUSED)
{
  TopoCoordinates from = topo_shape_coordinates (shape, node);
  TopoCoordinates to = from;

  for (uint32_t dimension = 0; dimension < 4; dimension++)
    to.at[dimension] = from.at[(dimension + 2) % 4];
  return topo_shape_node (shape, to);
}

static double
shift_GBps (gpointer state, uint32_t which, GError **error)
{
  Bgq *bgq = state;
  double lowest_Bps = INFINITY, highest_Bps = 0;

  if (bgq->has_shifts)
    return bgq->shift_GBps[which];
  for (uint32_t distance = 1; distance < SHIFT_NODES; distance++) {
    double bandwidth_Bps =
        permutation_Bps ("bgq:128", ROUTE_POLICY_DEFAULT, shifted, distance, SHIFT_BYTES, error);

    if (isnan (bandwidth_Bps))
      return failed;
    lowest_Bps = fmin (lowest_Bps, bandwidth_Bps);
    highest_Bps = fmax (highest_Bps, bandwidth_Bps);
  }
  bgq->shift_GBps[LOWEST] = lowest_Bps * 1e-9;
  bgq->shift_GBps[HIGHEST] = highest_Bps * 1e-9;
  bgq->has_shifts = true;
  return bgq->shift_GBps[which];
}

/* A share of 8 / L times a link's payload bandwidth, L the longest dimension: the limit that the
 * bisection of the torus sets (bgq.md section 6.2).  Each node has its destinations in a random
 * order of its own, as the direct alltoall has (section 5). */
static double
alltoall_share (gpointer bgq G_GNUC_UNUSED, uint32_t unused G_GNUC_UNUSED, GError **error)
{
  g_autoptr (TopoMachine) machine = topo_machine_new ("bgq:512", error);
  uint32_t n_nodes = machine == NULL ? 0 : topo_shape_nodes (&machine->shape), n = 0;
  g_autofree ValidationMessage *messages = g_new (ValidationMessage, (gsize) n_nodes * n_nodes);
  g_autofree int64_t *delivered_ps = NULL;
  double bytes_per_node = (double) (n_nodes - 1) * (double) DIRECT_BYTES;

  if (machine == NULL)
    return failed;
  for (uint32_t from = 0; from < n_nodes; from++) {
    ValidationMessage *own = messages + n;
    GRand *random = g_rand_new_with_seed (from + 1);

    for (uint32_t k = 1; k < n_nodes; k++)
      messages[n++] =
          (ValidationMessage){ from, (from + k) % n_nodes, DIRECT_BYTES, SIM_MESSAGE_DIRECT };
    for (uint32_t left = n_nodes - 1; left > 1; left--) {
      uint32_t chosen = (uint32_t) g_rand_int_range (random, 0, (gint32) left);
      ValidationMessage kept = own[left - 1];

      own[left - 1] = own[chosen];
      own[chosen] = kept;
    }
    g_rand_free (random);
  }
  delivered_ps = validation_pattern_run (machine, ROUTE_POLICY_DEFAULT, NULL, messages, n, error);
  if (delivered_ps == NULL)
    return failed;
  return bytes_per_node / ((double) validation_pattern_end_ps (delivered_ps, n) * 1e-12) /
         (8.0 / 4 * LINK_BPS);
}

/* Every node with the one farthest from it: half the nodes send across each bisection in each
 * direction, N/2 flows over 2N/4 links. */
static double
pairing_share (gpointer bgq G_GNUC_UNUSED, uint32_t unused G_GNUC_UNUSED, GError **error)
{
  return permutation_Bps ("bgq:512", ROUTE_POLICY_DEFAULT, opposite, 0x1f, TRANSFER_BYTES, error) /
         LINK_BPS;
}

static double
transpose_gain (gpointer bgq G_GNUC_UNUSED, uint32_t unused G_GNUC_UNUSED, GError **error)
{
  double dynamic_Bps =
      permutation_Bps ("bgq:512", ROUTE_POLICY_ZONE0, transposed, 0, TRANSFER_BYTES, error);

  return isnan (dynamic_Bps) ? failed
                             : dynamic_Bps / permutation_Bps ("bgq:512", ROUTE_POLICY_DETERMINISTIC,
                                                              transposed, 0, TRANSFER_BYTES, error);
}

/* Partners half-way around D, the longest dimension of both shapes. */
static double
geometry_gain (gpointer bgq G_GNUC_UNUSED, uint32_t unused G_GNUC_UNUSED, GError **error)
{
  double compact_Bps = permutation_Bps ("bgq:4x4x8x8x2", ROUTE_POLICY_DEFAULT, opposite, 1u << 3,
                                        SHIFT_BYTES, error);

  return isnan (compact_Bps)
             ? failed
             : compact_Bps / permutation_Bps ("bgq:4x4x4x16x2", ROUTE_POLICY_DEFAULT, opposite,
                                              1u << 3, SHIFT_BYTES, error);
}

/* --- The suite --- */

static const ValidationMeasure measures[] = {
  { "mpi_latency_neighbour", neighbour_latency_us, 0, NULL },
  { "mpi_latency_nearest", latency, NEAREST, NULL },
  { "mpi_latency_farthest", latency, FARTHEST, NULL },
  { "latency_per_hop", latency, PER_HOP, NULL },
  { "mpi_bandwidth_lowest", bandwidth_GBps, LOWEST, NULL },
  { "mpi_bandwidth_highest", bandwidth_GBps, HIGHEST, NULL },
  { "mpi_bandwidth_e_neighbour", neighbour_bandwidth_GBps, 0, NULL },
  { "shift_slowest", shift_GBps, LOWEST, NULL },
  { "shift_fastest", shift_GBps, HIGHEST, NULL },
  { "alltoall_efficiency", alltoall_share, 0, NULL },
  { "pairing_efficiency", pairing_share, 0, NULL },
  { "transpose_gain", transpose_gain, 0, NULL },
  { "geometry_gain", geometry_gain, 0, NULL },
};

static gpointer
open_bgq (const ValidationWatch *watch G_GNUC_UNUSED)
{
  return g_new0 (Bgq, 1);
}

const ValidationSuite validation_bgq = {
  .name = "bgq",
  .figures = published_csv,
  .path = "bgq_published.csv",
  .open = open_bgq,
  .close = g_free,
  .measures = measures,
  .n_measures = G_N_ELEMENTS (measures),
};
