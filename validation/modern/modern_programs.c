/* modern_programs.c - the machines and placements of the measured runs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/random.h"
#include "sim/collective/collective.h"
#include "validation/modern/modern.h"

#include <math.h>
#include <string.h>

#define CORES_SEED 1

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

/* Sets the forced algorithm of the point; false: it is not known. */
static bool
force (const ModernSite *site, const ModernPoint *point)
{
  const StudyBenchmark *benchmark = point->run.benchmark;
  uint32_t number = sim_collective_named (benchmark->kind, point->variant);

  site->machine->parameters.mpi.algorithm = number;
  return number != 0 || *point->variant == '\0' || benchmark->program < STUDY_BENCHMARK_COLLECTIVE;
}

double
modern_point_packets (const ModernSite *site, const ModernPoint *point)
{
  return force (site, point) ? study_benchmark_packets (&point->run, site->machine)
                             : (double) INFINITY;
}

void
modern_point_cores (const ModernSite *site, const ModernPoint *point, uint8_t *core)
{
  uint32_t n = point->ranks_per_node;
  uint32_t n_cores = site->machine->node == NULL ? 0 : site->machine->node->n_cores;
  uint32_t half = n_cores / 2;
  ModernCores order = site->set->cores;
  BaseRandom random =
      base_random_stream (CORES_SEED, (point->table_bytes << 16) + point->run.n_ranks);

  if (order == MODERN_SLURM && n < n_cores)
    order = MODERN_UNBOUND;
  for (uint32_t at = 0; at < n; at++)
    switch (order) {
    case MODERN_COMPACT: core[at] = (uint8_t) at; break;
    case MODERN_SLURM:
    case MODERN_UNBOUND: core[at] = (uint8_t) (at % 2 * half + at / 2); break;
    case MODERN_HALVES:
      core[at] = (uint8_t) (at < (n + 1) / 2 ? at : half + at - (n + 1) / 2);
      break;
    }
  for (uint32_t left = n; order == MODERN_UNBOUND && left > 1; left--) {
    uint32_t at = (uint32_t) base_random_below (&random, left);
    uint8_t swapped = core[at];

    core[at] = core[left - 1];
    core[left - 1] = swapped;
  }
  if (g_str_has_prefix (point->variant, "core "))
    core[1] = (uint8_t) g_ascii_strtoull (point->variant + strlen ("core "), NULL, 10);
}

static bool
place (const ModernSite *site, const ModernPoint *point, uint32_t *node, uint8_t *core,
       GError **error)
{
  uint32_t n_nodes = (point->run.n_ranks + point->ranks_per_node - 1) / point->ranks_per_node;
  g_autofree uint8_t *cores = g_new (uint8_t, MAX (2, point->ranks_per_node));
  g_autofree uint32_t *nodes = NULL;

  if (site->nodes != NULL && (nodes = modern_nodes_parse (site->nodes, n_nodes)) == NULL) {
    g_set_error (error, VALIDATION_ERROR, VALIDATION_ERROR_DATA,
                 "%s: the nodes of a run on %u are not known", site->set->name, n_nodes);
    return false;
  }
  modern_point_cores (site, point, cores);
  for (uint32_t rank = 0; rank < point->run.n_ranks; rank++) {
    node[rank] = rank / point->ranks_per_node;
    if (nodes != NULL)
      node[rank] = nodes[node[rank]] - 1;
    core[rank] = cores[rank % point->ranks_per_node];
  }
  return true;
}

double
modern_point_simulate (const ModernSite *site, const ModernPoint *point, GError **error)
{
  g_autofree uint32_t *node = g_new (uint32_t, point->run.n_ranks);
  g_autofree uint8_t *core = g_new (uint8_t, point->run.n_ranks);

  force (site, point);
  if (!place (site, point, node, core, error))
    return (double) NAN;
  return study_benchmark_simulate (&point->run, site->machine, site->paths, node, core, error);
}
