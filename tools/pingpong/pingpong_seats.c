/* pingpong_seats.c - the place of each process of a job in its node.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/pingpong/pingpong.h"

#include "cli/command.h"

#include <stdlib.h>
#include <string.h>

#define HOW_TO_BIND "mpirun --bind-to core, srun --cpu-bind=cores or --bind"

static uint32_t
first_cpu (const CliPingpongProcess *process)
{
  uint32_t cpu = 0;

  while (cpu < CLI_PINGPONG_MAX_CPUS && !process->may_run[cpu])
    cpu++;
  return cpu;
}

static gboolean
all_may_run (const CliPingpongProcess processes[], uint32_t n_ranks, GError **error)
{
  for (uint32_t rank = 0; rank < n_ranks; rank++)
    if (first_cpu (&processes[rank]) == CLI_PINGPONG_MAX_CPUS)
      return cli_fail (error, "process %u: its processors are unknown, or above %d", rank,
                       CLI_PINGPONG_MAX_CPUS - 1);
  return TRUE;
}

/* TOPO_NONE: the tree has no such processor. */
static uint32_t
core_of (const TopoNode *node, uint32_t cpu)
{
  for (uint32_t at = 0; at < node->n_cpus; at++)
    if (node->cpu[at] == cpu)
      return node->cpu_core[at];
  return TOPO_NONE;
}

/* With a tree. */
static gboolean
seat_on_cores (CliPingpongSeating *seating, const TopoNode *node,
               const CliPingpongProcess processes[], uint32_t n_ranks, GError **error)
{
  g_autoptr (GHashTable) taken = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  uint32_t n_sharing = 0;

  for (uint32_t rank = 0; rank < n_ranks; rank++) {
    const CliPingpongProcess *process = &processes[rank];
    uint32_t core = TOPO_NONE;

    for (uint32_t cpu = first_cpu (process); cpu < CLI_PINGPONG_MAX_CPUS; cpu++) {
      uint32_t cpu_core = process->may_run[cpu] ? core_of (node, cpu) : core;

      if (process->may_run[cpu] && cpu_core == TOPO_NONE)
        return cli_fail (error, "process %u may run on processor %u, which the node of %s lacks",
                         rank, cpu, node->source);
      if (core != TOPO_NONE && cpu_core != core)
        return cli_fail (error, "process %u is not bound to one core: use %s", rank, HOW_TO_BIND);
      core = cpu_core;
    }
    if (!g_hash_table_add (taken, g_strdup_printf ("%u %u", process->node, core))) {
      core = TOPO_NONE;
      n_sharing++;
    }
    seating->seats[rank] = (CliPingpongSeat){ process->node, core };
  }
  if (n_sharing > 0)
    g_ptr_array_add (
        seating->warnings,
        g_strdup_printf (
            "%u processes share a core with another: only the first on each core is used",
            n_sharing));
  return TRUE;
}

typedef struct {
  uint32_t node, cpu, rank;
} Claim;

static int
compare_claims (const void *a, const void *b)
{
  const Claim *one = a, *other = b;

  if (one->node != other->node)
    return one->node < other->node ? -1 : 1;
  if (one->cpu != other->cpu)
    return one->cpu < other->cpu ? -1 : 1;
  return one->rank < other->rank ? -1 : 1;
}

/* Without a tree: by node, first processor and rank. */
static void
seat_in_a_row (CliPingpongSeating *seating, const CliPingpongProcess processes[], uint32_t n_ranks)
{
  g_autofree Claim *claims = g_new (Claim, n_ranks);
  g_autofree uint32_t *cpu = NULL;
  uint32_t place = 0, n_places = 1;
  uint8_t used[CLI_PINGPONG_MAX_CPUS] = { 0 };
  gboolean share = FALSE, bound = TRUE; /* a processor of two processes; each on one processor */

  for (uint32_t rank = 0; rank < n_ranks; rank++)
    claims[rank] = (Claim){ processes[rank].node, first_cpu (&processes[rank]), rank };
  qsort (claims, n_ranks, sizeof *claims, compare_claims);
  for (uint32_t at = 0; at < n_ranks; at++) {
    const CliPingpongProcess *process = &processes[claims[at].rank];
    gboolean same_node = at > 0 && claims[at].node == claims[at - 1].node;
    uint32_t n = 0;

    place = same_node ? place + 1 : 0;
    seating->seats[claims[at].rank] = (CliPingpongSeat){ claims[at].node, place };
    n_places = MAX (n_places, place + 1);
    if (!same_node)
      memset (used, 0, sizeof used);
    for (uint32_t i = 0; i < CLI_PINGPONG_MAX_CPUS; i++) {
      share = share || (process->may_run[i] && used[i]);
      used[i] |= process->may_run[i];
      n += process->may_run[i];
    }
    bound = bound && n == 1;
  }
  cpu = g_new (uint32_t, n_places);
  for (uint32_t at = 0; at < n_places; at++)
    cpu[at] = at;
  seating->levels = topo_levels_flat (cpu, n_places);
  if (share)
    g_ptr_array_add (
        seating->warnings,
        g_strdup (bound ? "some processes share a processor: their times mean little"
                        : "processes are not bound to processors of their own, which makes their "
                          "times mean little: " HOW_TO_BIND " does it"));
}

/* --- Seatings --- */

void
cli_pingpong_seating_free (CliPingpongSeating *seating)
{
  if (seating == NULL)
    return;
  topo_levels_free (seating->levels);
  g_ptr_array_unref (seating->warnings);
  g_free (seating->seats);
  g_free (seating);
}

CliPingpongSeating *
cli_pingpong_seating_new (const TopoNode *node, const CliPingpongProcess processes[],
                          uint32_t n_ranks, GError **error)
{
  g_autoptr (CliPingpongSeating) seating = g_new0 (CliPingpongSeating, 1);

  seating->warnings = g_ptr_array_new_with_free_func (g_free);
  seating->seats = g_new0 (CliPingpongSeat, n_ranks);
  if (!all_may_run (processes, n_ranks, error))
    return NULL;
  if (node == NULL)
    seat_in_a_row (seating, processes, n_ranks);
  else {
    seating->levels = topo_levels_new (node, false);
    if (!seat_on_cores (seating, node, processes, n_ranks, error))
      return NULL;
  }
  return g_steal_pointer (&seating);
}

static int
compare_cores (gconstpointer a, gconstpointer b, gpointer data)
{
  const uint32_t one = core_of (data, *(const uint32_t *) a),
                 other = core_of (data, *(const uint32_t *) b);

  return (one > other) - (one < other);
}

/* Where the processes of a node may run, one processor of each core in the order of the cores.
 * (element-type guint32), owned by the caller. */
static GArray *
cpus_of_node (const TopoNode *node, const CliPingpongProcess processes[], uint32_t n_ranks,
              uint32_t which)
{
  GArray *cpus = g_array_new (FALSE, FALSE, sizeof (uint32_t));

  for (uint32_t cpu = 0; cpu < CLI_PINGPONG_MAX_CPUS; cpu++) {
    gboolean may_run = FALSE, is_taken = FALSE;

    for (uint32_t rank = 0; rank < n_ranks; rank++)
      may_run = may_run || (processes[rank].node == which && processes[rank].may_run[cpu]);
    for (guint at = 0; may_run && node != NULL && at < cpus->len; at++)
      is_taken =
          is_taken || core_of (node, g_array_index (cpus, uint32_t, at)) == core_of (node, cpu);
    if (may_run && !is_taken)
      g_array_append_val (cpus, cpu);
  }
  if (node != NULL)
    g_array_sort_with_data (cpus, compare_cores, (gpointer) node);
  return cpus;
}

uint32_t *
cli_pingpong_choose_cpus (const TopoNode *node, const CliPingpongProcess processes[],
                          uint32_t n_ranks, GError **error)
{
  g_autofree uint32_t *chosen = g_new (uint32_t, n_ranks);

  if (!all_may_run (processes, n_ranks, error))
    return NULL;
  for (uint32_t rank = 0; rank < n_ranks; rank++) {
    g_autoptr (GArray) cpus = NULL;

    if (processes[rank].local != 0)
      continue;
    cpus = cpus_of_node (node, processes, n_ranks, processes[rank].node);
    for (uint32_t other = 0; other < n_ranks; other++)
      if (processes[other].node == processes[rank].node)
        chosen[other] = g_array_index (cpus, uint32_t, processes[other].local % cpus->len);
  }
  return g_steal_pointer (&chosen);
}

void
cli_pingpong_pretend_nodes (CliPingpongProcess processes[], uint32_t n_ranks, uint32_t n_nodes)
{
  for (uint32_t rank = 0; rank < n_ranks; rank++) {
    processes[rank].node = (uint32_t) ((uint64_t) rank * n_nodes / n_ranks);
    processes[rank].local = rank > 0 && processes[rank].node == processes[rank - 1].node
                                ? processes[rank - 1].local + 1
                                : 0;
  }
}
