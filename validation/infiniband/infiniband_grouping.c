/* infiniband_grouping.c - grouping of tasks on nodes, sockets and dies under a pattern.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * As in section IV.B of the aggregation paper: the times of all messages of a pair, inside a node
 * (in the worst place, on two sockets) and between nodes, are sums of ping-pongs without noise.
 * Pairs that are faster inside get costs above C, the others the reciprocal of their loss there;
 * collectives do not count.  The same procedure and costs then divide the tasks of a node among its
 * sockets and dies. */
#include "predictors/group/grouping.h"
#include "study/aggregate/network_pingpong.h"
#include "validation/infiniband/infiniband.h"

#include <math.h>

#define MACHINE        "systemg:2"
#define SMALLEST_BYTES UINT64_C (8)
#define N_SIZES        20 /* powers of two, to 4 MiB */
#define FAR_CORE       4  /* the other socket than core 0's */
#define SOCKET_CORES   4
#define DIE_CORES      2

/* Of the pairs of tasks. */
typedef struct {
  double inside_us[IB_TASKS * IB_TASKS], between_us[IB_TASKS * IB_TASKS];
} Times;

static double
one_way_us (InfiniBand *ib, const TopoMachine *machine, bool between, uint64_t bytes,
            GError **error)
{
  const char *series = between ? "grouping-between" : "grouping-inside";
  g_autofree char *point = g_strdup_printf ("%" G_GUINT64_FORMAT, bytes);
  const uint32_t node[] = { 0, between ? 1 : 0 };
  const uint8_t core[] = { 0, between ? 0 : FAR_CORE };
  double us;

  if (ib_known (ib, series, point, &us))
    return us;
  us = study_pingpong_us (machine, NULL, 2, node, core, bytes, error);
  if (!isnan (us))
    ib_keep (ib, series, point, us, "us");
  return us;
}

/* Linear between the sizes, and beyond the last of them. */
static double
curve_at (const double us[N_SIZES], uint64_t bytes)
{
  uint32_t last = 1;
  double from_bytes;

  if (bytes <= SMALLEST_BYTES)
    return us[0];
  while (last < N_SIZES - 1 && bytes > SMALLEST_BYTES << last)
    last++;
  from_bytes = (double) (SMALLEST_BYTES << (last - 1));
  return us[last - 1] + (us[last] - us[last - 1]) * ((double) bytes - from_bytes) / from_bytes;
}

/* Sums of the messages of each pair.  The traces are the generator's: peers are ranks of all. */
static bool
time_pairs (InfiniBand *ib, const char *path, Times *times, GError **error)
{
  g_autoptr (TopoMachine) machine = validation_machine_new (MACHINE, NULL, error);
  g_autoptr (Trace) trace = NULL;
  double inside_us[N_SIZES], between_us[N_SIZES];

  for (uint32_t i = 0; machine != NULL && i < N_SIZES; i++) {
    inside_us[i] = one_way_us (ib, machine, false, SMALLEST_BYTES << i, error);
    if (isnan (inside_us[i]))
      return false;
    between_us[i] = one_way_us (ib, machine, true, SMALLEST_BYTES << i, error);
    if (isnan (between_us[i]))
      return false;
  }
  if (machine == NULL || (trace = trace_open (path, NULL, error)) == NULL)
    return false;
  *times = (Times){ .inside_us = { 0 } };
  for (uint32_t rank = 0; rank < IB_TASKS; rank++) {
    g_autoptr (TraceCursor) cursor = trace_cursor_new (trace, rank, error);
    TraceNext next = TRACE_NEXT_ERROR;
    TraceOp op;

    while (cursor != NULL &&
           (next = trace_cursor_next (cursor, &op, error)) == TRACE_NEXT_OPERATION) {
      bool is_send =
          op.kind == TRACE_OP_SEND || op.kind == TRACE_OP_ISEND || op.kind == TRACE_OP_SENDRECV;
      uint32_t peer = (uint32_t) op.peer;
      const uint32_t edges[] = { rank * IB_TASKS + peer, peer * IB_TASKS + rank };

      if (!is_send || op.peer < 0 || peer == rank)
        continue;
      g_assert (op.comm == TRACE_COMM_WORLD);
      for (uint32_t i = 0; i < 2; i++) {
        times->inside_us[edges[i]] += curve_at (inside_us, op.bytes);
        times->between_us[edges[i]] += curve_at (between_us, op.bytes);
      }
    }
    if (next != TRACE_NEXT_END)
      return false;
  }
  return true;
}

/* The number of groups of `width` among ascending cores. */
static uint32_t
count_groups (const uint8_t *cores, uint32_t n, uint32_t width)
{
  uint32_t n_groups = 1;

  for (uint32_t i = 1; i < n; i++)
    n_groups += cores[i] / width != cores[i - 1] / width;
  return n_groups;
}

/* Orders tasks[n] so that the first n / n_parts of them are the first part, and so on: the paper's
 * procedure, from the order given. */
static void
group (uint32_t *tasks, uint32_t n, uint32_t n_parts, const double *cost)
{
  const PredictGroupOptions options = { .n_parts = n_parts };
  g_autofree PredictCostEdge *edges = g_new (PredictCostEdge, n * (n - 1) / 2);
  uint32_t before[IB_TASKS], n_edges = 0, next = 0;
  g_autoptr (PredictCostRows) rows = NULL;
  g_autoptr (PredictGroups) groups = NULL;

  for (uint32_t a = 0; a < n; a++) {
    before[a] = tasks[a];
    for (uint32_t b = a + 1; b < n; b++)
      edges[n_edges++] = (PredictCostEdge){ a, b, cost[tasks[a] * IB_TASKS + tasks[b]] };
  }
  rows = predict_cost_rows (n, edges, n_edges);
  groups = predict_group (&rows->graph, &options);
  for (uint32_t part = 0; part < n_parts; part++)
    for (uint32_t i = 0; i < n; i++)
      if (groups->part[i] == part)
        tasks[next++] = before[i];
}

bool
ib_group_tasks (InfiniBand *ib, const char *trace, const uint8_t *cores, uint32_t n_cores,
                uint32_t node[IB_TASKS], uint8_t core[IB_TASKS], GError **error)
{
  uint32_t n_sockets = count_groups (cores, n_cores, SOCKET_CORES), size = n_cores / n_sockets;
  uint32_t tasks[IB_TASKS];
  double cost[IB_TASKS * IB_TASKS], most = 0;
  Times times;

  if (!time_pairs (ib, trace, &times, error))
    return false;
  /* The paper's costs of the edges, with n_cores tasks on a node (equation 4). */
  for (uint32_t edge = 0; edge < IB_TASKS * IB_TASKS; edge++) {
    double loss_us = times.inside_us[edge] - times.between_us[edge];

    cost[edge] = loss_us > 0 ? 1 / loss_us : 0;
    most = fmax (most, cost[edge]);
  }
  for (uint32_t edge = 0; edge < IB_TASKS * IB_TASKS; edge++) {
    double gain_us = times.between_us[edge] - times.inside_us[edge];

    if (times.between_us[edge] > 0 && gain_us >= 0)
      cost[edge] = n_cores * n_cores * most + gain_us;
  }
  /* Nodes, then the sockets of a node, then the dies of a socket. */
  for (uint32_t i = 0; i < IB_TASKS; i++)
    tasks[i] = i;
  group (tasks, IB_TASKS, IB_TASKS / n_cores, cost);
  for (uint32_t i = 0; i < IB_TASKS; i += n_cores) {
    group (tasks + i, n_cores, n_sockets, cost);
    for (uint32_t at = 0; at < n_cores; at += size)
      group (tasks + i + at, size, count_groups (cores + at, size, DIE_CORES), cost);
  }
  for (uint32_t i = 0; i < IB_TASKS; i++) {
    node[tasks[i]] = i / n_cores;
    core[tasks[i]] = cores[i % n_cores];
  }
  return true;
}
