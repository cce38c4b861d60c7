/* modern_programs.c - the benchmarks as programs, and the times that they would print.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A time is that between two moments of a rank.  Two programs give it: the one ends at the first
 * moment, the other, which begins in the same way, at the second. */
#include "sim/collective/collective.h"
#include "study/aggregate/network_pingpong.h"
#include "validation/modern/modern.h"
#include "validation/replayed_program.h"

#include <math.h>
#include <string.h>

#define WINDOW    64 /* messages in flight: osu_bw, osu_mbw_mr and IMB */
#define ANSWER    4  /* bytes */
#define BYTE_TYPE 6  /* MPI_BYTE in a time-independent trace */
#define PACKET    4096.0

/* Iterations of the first program, and the further ones of the second. */
#define FIRST_ROUNDS 2
#define ROUNDS       4
#define FIRST_CALLS  1
#define CALLS        1

ModernSite *
modern_site_new (const ModernSet *set, TopoMachine *machine, const char *nodes, GError **error)
{
  g_autoptr (ModernSite) site = g_new0 (ModernSite, 1);

  *site = (ModernSite){ .set = set, .machine = machine, .nodes = nodes };
  site->paths = route_paths_new (machine, error);
  return site->paths == NULL ? NULL : g_steal_pointer (&site);
}

void
modern_site_free (ModernSite *site)
{
  if (site == NULL)
    return;
  g_clear_pointer (&site->paths, route_paths_free);
  topo_machine_free (site->machine);
  g_free (site);
}

/* --- Collectives --- */

/* A rank's part in a call.  counts[n_ranks] is room for those of a reduce-scatter. */
static void
collective_of (const ModernSite *site, const ModernPoint *point, uint32_t rank, uint64_t *counts,
               SimCollective *collective)
{
  TraceOp op = { .kind = point->test->kind,
                 .comm = TRACE_COMM_WORLD,
                 .bytes = point->bytes,
                 .recv_bytes = point->bytes };

  if (op.kind == TRACE_OP_REDUCE_SCATTER) {
    for (uint32_t other = 0; other < point->n_ranks; other++)
      counts[other] = point->bytes;
    op.recv_counts = counts;
    op.n_recv_counts = point->n_ranks;
  }
  sim_collective_init (collective, site->machine, &op, point->n_ranks, rank, true, NULL);
}

static void
append_message (GString *text, uint32_t rank, const char *call, uint32_t peer, uint64_t bytes)
{
  g_string_append_printf (text, "%u %s %u 0 %" G_GUINT64_FORMAT " %d\n", rank, call, peer, bytes,
                          BYTE_TYPE);
}

static void
append_call (GString *text, const ModernPoint *point, uint32_t rank)
{
  if (study_append_collective (text, point->test->kind, rank, point->bytes))
    return;
  g_assert (point->test->kind == TRACE_OP_REDUCE_SCATTER);
  g_string_append_printf (text, "%u reducescatter", rank);
  for (uint32_t other = 0; other < point->n_ranks; other++)
    g_string_append_printf (text, " %" G_GUINT64_FORMAT, point->bytes);
  g_string_append_printf (text, " 0 %d\n", BYTE_TYPE);
}

static void
append_calls (GString *text, const ModernPoint *point, uint32_t rank, bool second)
{
  /* A measured barrier follows another one at once. */
  bool between = point->test->kind != TRACE_OP_BARRIER;
  uint32_t n_calls = FIRST_CALLS + (second ? CALLS : 0);

  for (uint32_t call = 0; call < n_calls; call++) {
    if (between)
      g_string_append_printf (text, "%u barrier\n", rank);
    append_call (text, point, rank);
  }
  if (between && !second)
    g_string_append_printf (text, "%u barrier\n", rank);
}

/* --- Pairs --- */

static void
append_round (GString *text, const ModernPoint *point, uint32_t rank, bool first, uint32_t peer)
{
  append_message (text, rank, first ? "send" : "recv", peer, point->bytes);
  append_message (text, rank, first ? "recv" : "send", peer, point->bytes);
}

/* As the benchmarks do: all receives, all sends, one wait. */
static void
append_window (GString *text, const ModernPoint *point, uint32_t rank, bool first, uint32_t peer)
{
  ModernProgram program = point->test->program;

  for (uint32_t i = 0; i < WINDOW && (program != MODERN_ONE_WAY || !first); i++)
    append_message (text, rank, "irecv", peer, point->bytes);
  for (uint32_t i = 0; i < WINDOW && (program != MODERN_ONE_WAY || first); i++)
    append_message (text, rank, "isend", peer, point->bytes);
  g_string_append_printf (text, "%u waitall\n", rank);
  if (program != MODERN_BOTH_WAYS)
    append_message (text, rank, first ? "recv" : "send", peer, ANSWER);
}

static uint32_t
n_iterations (const ModernPoint *point, bool second)
{
  return point->test->program == MODERN_PINGPONG ? FIRST_ROUNDS + (second ? ROUNDS : 0)
                                                 : FIRST_CALLS + (second ? CALLS : 0);
}

static char *
program_text (const ModernPoint *point, bool second)
{
  GString *text = g_string_new (NULL);
  uint32_t n_pairs = point->n_ranks / 2;

  for (uint32_t rank = 0; rank < point->n_ranks; rank++) {
    bool first = rank < n_pairs;
    uint32_t peer = first ? rank + n_pairs : rank - n_pairs;

    g_string_append_printf (text, "%u init\n", rank);
    if (point->test->program >= MODERN_COLLECTIVE)
      append_calls (text, point, rank, second);
    else {
      g_string_append_printf (text, "%u barrier\n", rank);
      for (uint32_t i = 0; i < n_iterations (point, second); i++)
        (point->test->program == MODERN_PINGPONG ? append_round : append_window) (text, point, rank,
                                                                                  first, peer);
    }
    g_string_append_printf (text, "%u finalize\n", rank);
  }
  return g_string_free (text, FALSE);
}

/* Sets the forced algorithm of the point; false: it is not known. */
static bool
force (const ModernSite *site, const ModernPoint *point)
{
  uint32_t number = sim_collective_named (point->test->kind, point->variant);

  site->machine->parameters.mpi.algorithm = number;
  return number != 0 || *point->variant == '\0' || point->test->program < MODERN_COLLECTIVE;
}

double
modern_point_packets (const ModernSite *site, const ModernPoint *point)
{
  double packets = ceil ((double) point->bytes / PACKET) + 1, total = 0;
  g_autofree uint64_t *counts = NULL;

  if (point->test->program == MODERN_PINGPONG)
    return packets * point->n_ranks * (2 * FIRST_ROUNDS + ROUNDS);
  if (point->test->program < MODERN_COLLECTIVE)
    return packets * WINDOW * (2 * FIRST_CALLS + CALLS) * point->n_ranks /
           (point->test->program == MODERN_ONE_WAY ? 2 : 1);
  if (!force (site, point))
    return (double) INFINITY;
  counts = g_new0 (uint64_t, point->n_ranks);
  for (uint32_t rank = 0; rank < point->n_ranks; rank++) {
    SimCollective collective;

    collective_of (site, point, rank, counts, &collective);
    for (uint32_t at = 0; at < collective.n_steps; at++) {
      SimStep step = sim_collective_step (&collective, at);

      if (step.send_to != TOPO_NONE && step.send_to != rank)
        total += ceil ((double) step.send_bytes / PACKET) + 1;
    }
  }
  return total * (2 * FIRST_CALLS + CALLS);
}

/* --- Times --- */

/* The core of the `index`-th rank of a node. */
static uint8_t
core_of (const ModernSite *site, const ModernPoint *point, uint32_t rank)
{
  uint32_t index = rank % point->ranks_per_node;
  uint32_t half = site->machine->node == NULL ? 0 : site->machine->node->n_cores / 2;
  uint32_t core = index;

  if (g_str_has_prefix (point->variant, "core ") && rank == 1)
    core = (uint32_t) g_ascii_strtoull (point->variant + strlen ("core "), NULL, 10);
  else if (site->set->cores == MODERN_CYCLIC)
    core = index % 2 * half + index / 2;
  else if (site->set->cores == MODERN_HALVES && index >= (point->ranks_per_node + 1) / 2)
    core = half + index - (point->ranks_per_node + 1) / 2;
  return (uint8_t) core;
}

static bool
place (const ModernSite *site, const ModernPoint *point, uint32_t *node, uint8_t *core,
       GError **error)
{
  uint32_t n_nodes = (point->n_ranks + point->ranks_per_node - 1) / point->ranks_per_node;
  g_autofree uint32_t *nodes = NULL;

  if (site->nodes != NULL && (nodes = modern_nodes_parse (site->nodes, n_nodes)) == NULL) {
    g_set_error (error, VALIDATION_ERROR, VALIDATION_ERROR_DATA,
                 "%s: the nodes of a run on %u are not known", site->set->name, n_nodes);
    return false;
  }
  for (uint32_t rank = 0; rank < point->n_ranks; rank++) {
    node[rank] = rank / point->ranks_per_node;
    if (nodes != NULL)
      node[rank] = nodes[node[rank]] - 1;
    core[rank] = core_of (site, point, rank);
  }
  return true;
}

/* Of an iteration: the mean over the ranks that measure it, or that of the slowest; NaN and *error. */
static double
iteration_ps (const ModernSite *site, const ModernPoint *point, GError **error)
{
  uint32_t n = point->n_ranks;
  uint32_t n_measure = point->test->program < MODERN_COLLECTIVE ? n / 2 : n;
  g_autofree uint32_t *node = g_new (uint32_t, n);
  g_autofree uint8_t *core = g_new (uint8_t, n);
  g_autofree int64_t *end_ps = g_new (int64_t, 2 * n);
  double sum_ps = 0, most_ps = 0;

  force (site, point);
  if (!place (site, point, node, core, error))
    return (double) NAN;
  for (uint32_t second = 0; second < 2; second++) {
    g_autofree char *text = program_text (point, second > 0);

    if (!validation_replay_ends (text, site->machine, site->paths, n, node, core,
                                 end_ps + second * n, error))
      return (double) NAN;
  }
  for (uint32_t rank = 0; rank < n_measure; rank++) {
    double ps = (double) (end_ps[n + rank] - end_ps[rank]);

    sum_ps += ps;
    most_ps = MAX (most_ps, ps);
  }
  if (point->test->program == MODERN_SLOWEST)
    return most_ps / CALLS;
  return sum_ps / n_measure / (point->test->program == MODERN_PINGPONG ? ROUNDS : CALLS);
}

double
modern_point_simulate (const ModernSite *site, const ModernPoint *point, GError **error)
{
  double ps = iteration_ps (site, point, error), messages;

  if (isnan (ps))
    return ps;
  if (point->unit == MODERN_US)
    return (point->test->program == MODERN_PINGPONG ? ps / 2 : ps) * 1e-6;
  messages =
      (double) WINDOW * point->n_ranks / (point->test->program == MODERN_ONE_WAY ? 2 : 1) / ps;
  return point->unit == MODERN_PER_S ? messages * 1e12 : messages * (double) point->bytes * 1e6;
}
