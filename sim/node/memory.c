/* memory.c - the memory system of nodes, made from their tree.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/node/memory_state.h"

static double
byte_ps (uint64_t bandwidth_Bps)
{
  return 1e12 / (double) bandwidth_Bps;
}

static double
server_ps (const TopoObject *object, const TopoParameters *parameters)
{
  switch ((TopoObjectKind) object->kind) {
  case TOPO_OBJECT_PACKAGE: return byte_ps (parameters->bus_bandwidth_Bps);
  case TOPO_OBJECT_MEMORY: return byte_ps (parameters->dram_bandwidth_Bps);
  case TOPO_OBJECT_CACHE:
    return object->n_cores > 1 ? byte_ps (parameters->cache_bandwidth_Bps) : 0;
  case TOPO_OBJECT_MACHINE:
  case TOPO_OBJECT_CORE: break;
  }
  return 0;
}

static uint32_t
package_of (const TopoNode *node, uint32_t object)
{
  while (object != TOPO_NONE && node->objects[object].kind != TOPO_OBJECT_PACKAGE)
    object = node->objects[object].parent;
  return object;
}

static void
make_places (SimMemory *memory, const TopoParameters *parameters)
{
  const TopoNode *node = memory->node;

  memory->places = g_new0 (SimPlace, node->n_objects);
  for (uint32_t object = 0; object < node->n_objects; object++) {
    SimPlace *place = &memory->places[object];

    place->byte_ps = server_ps (&node->objects[object], parameters);
    place->fits_bytes =
        (uint64_t) (parameters->cache_share * (double) node->objects[object].cache_bytes);
    place->package = package_of (node, object);
    place->room = TOPO_NONE;
    place->is_meeting = node->objects[object].kind == TOPO_OBJECT_PACKAGE;
  }
  for (uint32_t number = 0; number < node->n_memories; number++) {
    uint32_t package = memory->places[node->memory[number]].package;

    if (package != TOPO_NONE)
      memory->places[package].is_meeting = false;
  }
}

static void
make_sites (SimMemory *memory)
{
  const TopoNode *node = memory->node;

  memory->sites = g_new (SimSite, node->n_cores);
  for (uint32_t core = 0; core < node->n_cores; core++)
    memory->sites[core] = (SimSite){
      .cache = topo_node_above (node, core, TOPO_OBJECT_CACHE),
      .memory = topo_node_above (node, core, TOPO_OBJECT_MEMORY),
      .package = topo_node_above (node, core, TOPO_OBJECT_PACKAGE),
    };
}

static uint32_t
shared_from (const SimMemory *memory, uint32_t object)
{
  while (object != TOPO_NONE && memory->places[object].room == TOPO_NONE)
    object = memory->node->objects[object].parent;
  return object;
}

/* Caches of several cores, in each of them a tenant for each of its cores. */
static void
make_rooms (SimMemory *memory, uint32_t n_nodes)
{
  const TopoNode *node = memory->node;

  for (uint32_t object = 0; object < node->n_objects; object++) {
    SimPlace *place = &memory->places[object];

    if (node->objects[object].kind != TOPO_OBJECT_CACHE || node->objects[object].n_cores < 2)
      continue;
    place->room = memory->n_rooms++;
    place->first_tenant = memory->n_tenants;
    place->shared_above = shared_from (memory, node->objects[object].parent);
    memory->n_tenants += node->objects[object].n_cores;
  }
  for (uint32_t core = 0; core < node->n_cores; core++)
    memory->sites[core].shared = shared_from (memory, node->core[core]);
  memory->rooms = g_new0 (SimRoom, (gsize) n_nodes * memory->n_rooms);
  memory->tenants = g_new0 (SimTenant, (gsize) n_nodes * memory->n_tenants);
}

static bool
is_below (const TopoNode *node, uint32_t object, uint32_t above)
{
  while (object != above && object != TOPO_NONE)
    object = node->objects[object].parent;
  return object == above;
}

/* The adapter's side: the cache of its first core, where hardware writes
 * there, or all memories below its bridge, since ranks have their buffers in
 * any of them; all memories of the node when it has none of its own. */
static void
make_dma (SimMemory *memory)
{
  const TopoNode *node = memory->node;
  uint32_t cache = memory->sites[node->objects[node->adapter].first_core].cache;

  memory->dma = g_new (uint32_t, node->n_memories);
  if (memory->dma_to_cache && cache != TOPO_NONE) {
    memory->dma[memory->n_dma++] = cache;
    return;
  }
  memory->dma_to_cache = false;
  for (uint32_t number = 0; number < node->n_memories; number++)
    if (is_below (node, node->memory[number], node->adapter))
      memory->dma[memory->n_dma++] = node->memory[number];
  if (memory->n_dma > 0)
    return;
  for (uint32_t number = 0; number < node->n_memories; number++)
    memory->dma[memory->n_dma++] = node->memory[number];
}

SimMemory *
sim_memory_new (const TopoMachine *machine)
{
  const TopoParameters *parameters = &machine->parameters;
  double latency_ps = (double) parameters->transfer_latency_ps;
  SimMemory *memory = g_new0 (SimMemory, 1);
  gsize n_states;

  g_assert (machine->node != NULL);
  memory->node = machine->node;
  memory->quantum_bytes = parameters->copy_quantum_bytes;
  memory->core_ps = byte_ps (parameters->core_bandwidth_Bps);
  memory->transfer_ps = byte_ps (parameters->core_transfer_bandwidth_Bps);
  memory->memory_ps = byte_ps (parameters->core_memory_bandwidth_Bps);
  memory->transfer_latency_ps = parameters->transfer_latency_ps;
  memory->package_latency_ps = parameters->package_latency_ps;
  /* As many lines are under way as before, each for longer. */
  memory->far =
      latency_ps > 0 ? (latency_ps + (double) parameters->package_latency_ps) / latency_ps : 1;
  memory->updates_memory = parameters->transfer_updates_memory;
  memory->buffers = parameters->cache_share > 0 ? 1 / parameters->cache_share : 0;
  memory->dma_to_cache = parameters->dma_to_cache;
  make_places (memory, parameters);
  make_sites (memory);
  make_dma (memory);
  n_states = (gsize) topo_shape_nodes (&machine->shape) * memory->node->n_objects;
  memory->busy_ps = g_new0 (int64_t, n_states);
  memory->passed = g_new0 (uint64_t, n_states);
  make_rooms (memory, topo_shape_nodes (&machine->shape));
  return memory;
}

void
sim_memory_free (SimMemory *memory)
{
  if (memory == NULL)
    return;
  g_free (memory->places);
  g_free (memory->sites);
  g_free (memory->busy_ps);
  g_free (memory->passed);
  g_free (memory->rooms);
  g_free (memory->tenants);
  g_free (memory->dma);
  g_free (memory);
}

uint64_t
sim_memory_quantum_bytes (const SimMemory *memory)
{
  return memory->quantum_bytes;
}

uint64_t
sim_memory_bytes (const SimMemory *memory, uint32_t node, uint32_t object)
{
  return memory->passed[(gsize) node * memory->node->n_objects + object];
}
