/* infiniband_grouping.c - which tasks share a node, a socket and a die under a pattern.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * As section IV.B of the aggregation paper has it: what all messages of a
 * pair would take inside a node (in the worst place, on two sockets) and
 * between nodes is added up from ping-pongs alone; pairs that are faster
 * inside get costs above C, the others the reciprocal of what they lose
 * there; collectives do not count.  The same procedure and costs then part
 * the tasks of a node among its sockets and dies. */
#include "config.h"

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

/* One-way times over the sizes. */
typedef struct {
  double inside_us[N_SIZES], between_us[N_SIZES];
} Curves;

/* Of the pairs of tasks; [IB_TASKS * IB_TASKS]. */
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

static bool
measure_curves (InfiniBand *ib, Curves *curves, GError **error)
{
  g_autoptr (TopoMachine) machine = validation_machine_new (MACHINE, NULL, error);

  for (uint32_t i = 0; machine != NULL && i < N_SIZES; i++) {
    curves->inside_us[i] = one_way_us (ib, machine, false, SMALLEST_BYTES << i, error);
    if (isnan (curves->inside_us[i]))
      return false;
    curves->between_us[i] = one_way_us (ib, machine, true, SMALLEST_BYTES << i, error);
    if (isnan (curves->between_us[i]))
      return false;
  }
  return machine != NULL;
}

/* Between the sizes, and beyond the last of them, on a straight line. */
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

static void
add_message (const Curves *curves, Times *times, uint32_t from, uint32_t to, uint64_t bytes)
{
  const uint32_t edges[] = { from * IB_TASKS + to, to * IB_TASKS + from };

  for (uint32_t i = 0; i < 2; i++) {
    times->inside_us[edges[i]] += curve_at (curves->inside_us, bytes);
    times->between_us[edges[i]] += curve_at (curves->between_us, bytes);
  }
}

static bool
is_send (const TraceOp *op)
{
  return op->kind == TRACE_OP_SEND || op->kind == TRACE_OP_ISEND || op->kind == TRACE_OP_SENDRECV;
}

/* The traces are the generator's: peers are ranks of all. */
static bool
add_messages (Trace *trace, uint32_t rank, const Curves *curves, Times *times, GError **error)
{
  g_autoptr (TraceCursor) cursor = trace_cursor_new (trace, rank, error);
  TraceNext next = cursor == NULL ? TRACE_NEXT_ERROR : TRACE_NEXT_OPERATION;
  TraceOp op;

  while (next == TRACE_NEXT_OPERATION) {
    next = trace_cursor_next (cursor, &op, error);
    if (next == TRACE_NEXT_OPERATION && is_send (&op) && op.peer >= 0 &&
        (uint32_t) op.peer != rank) {
      g_assert (op.comm == TRACE_COMM_WORLD);
      add_message (curves, times, rank, (uint32_t) op.peer, op.bytes);
    }
  }
  return next == TRACE_NEXT_END;
}

static bool
time_pairs (const char *path, const Curves *curves, Times *times, GError **error)
{
  g_autoptr (Trace) trace = trace_open (path, NULL, error);

  *times = (Times){ .inside_us = { 0 } };
  for (uint32_t rank = 0; trace != NULL && rank < IB_TASKS; rank++)
    if (!add_messages (trace, rank, curves, times, error))
      return false;
  return trace != NULL;
}

/* The paper's costs of the edges; k tasks share a node (equation 4). */
static void
set_costs (const Times *times, uint32_t k, double cost[IB_TASKS * IB_TASKS])
{
  double most = 0;

  for (uint32_t edge = 0; edge < IB_TASKS * IB_TASKS; edge++) {
    double loss_us = times->inside_us[edge] - times->between_us[edge];

    cost[edge] = loss_us > 0 ? 1 / loss_us : 0;
    most = fmax (most, cost[edge]);
  }
  for (uint32_t edge = 0; edge < IB_TASKS * IB_TASKS; edge++) {
    double gain_us = times->between_us[edge] - times->inside_us[edge];

    if (times->between_us[edge] > 0 && gain_us >= 0)
      cost[edge] = k * k * most + gain_us;
  }
}

/* Of cores in ascending order: how many groups of `width` they are in. */
static uint32_t
count_groups (const uint8_t *cores, uint32_t n, uint32_t width)
{
  uint32_t n_groups = 1;

  for (uint32_t i = 1; i < n; i++)
    n_groups += cores[i] / width != cores[i - 1] / width;
  return n_groups;
}

/* Orders tasks[n] so that the first n / n_parts of them are one part, and so on: the paper's
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

static void
part_node (uint32_t *tasks, const uint8_t *cores, uint32_t n, const double *cost)
{
  uint32_t n_sockets = count_groups (cores, n, SOCKET_CORES);
  uint32_t size = n / n_sockets;

  group (tasks, n, n_sockets, cost);
  for (uint32_t socket = 0; socket < n_sockets; socket++) {
    uint32_t *mine = tasks + socket * size;

    group (mine, size, count_groups (cores + socket * size, size, DIE_CORES), cost);
  }
}

bool
ib_group_tasks (InfiniBand *ib, const char *trace, const uint8_t *cores, uint32_t n_cores,
                uint32_t node[IB_TASKS], uint8_t core[IB_TASKS], GError **error)
{
  uint32_t tasks[IB_TASKS];
  double cost[IB_TASKS * IB_TASKS];
  Curves curves;
  Times times;

  if (!measure_curves (ib, &curves, error) || !time_pairs (trace, &curves, &times, error))
    return false;
  set_costs (&times, n_cores, cost);
  for (uint32_t i = 0; i < IB_TASKS; i++)
    tasks[i] = i;
  group (tasks, IB_TASKS, IB_TASKS / n_cores, cost);
  for (uint32_t i = 0; i < IB_TASKS; i += n_cores)
    part_node (tasks + i, cores, n_cores, cost);
  for (uint32_t i = 0; i < IB_TASKS; i++) {
    node[tasks[i]] = i / n_cores;
    core[tasks[i]] = cores[i % n_cores];
  }
  return true;
}
