/* modern_programs.c - the machines and placements of the measured runs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/collective/collective.h"
#include "validation/modern/modern.h"

#include <math.h>
#include <string.h>

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
  uint32_t n_nodes = (point->run.n_ranks + point->ranks_per_node - 1) / point->ranks_per_node;
  g_autofree uint32_t *nodes = NULL;

  if (site->nodes != NULL && (nodes = modern_nodes_parse (site->nodes, n_nodes)) == NULL) {
    g_set_error (error, VALIDATION_ERROR, VALIDATION_ERROR_DATA,
                 "%s: the nodes of a run on %u are not known", site->set->name, n_nodes);
    return false;
  }
  for (uint32_t rank = 0; rank < point->run.n_ranks; rank++) {
    node[rank] = rank / point->ranks_per_node;
    if (nodes != NULL)
      node[rank] = nodes[node[rank]] - 1;
    core[rank] = core_of (site, point, rank);
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
