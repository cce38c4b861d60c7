/* node.c - the inside of a node: what its cores share, as a tree; the nodes that are built in.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "topology/node/node.h"

#include "topology/node/node_build.h"

void
topo_node_set_cpus (TopoNode *node, uint32_t *cpu, uint32_t *cpu_core, uint32_t n_cpus)
{
  g_free (node->cpu);
  g_free (node->cpu_core);
  node->cpu = cpu;
  node->cpu_core = cpu_core;
  node->n_cpus = n_cpus;
}

TopoNode *
topo_node_make (char *source, GArray *objects)
{
  TopoNode *node = g_new0 (TopoNode, 1);

  node->source = source;
  node->n_objects = objects->len;
  node->objects = (TopoObject *) g_array_free (objects, FALSE);
  node->core = g_new (uint32_t, node->n_objects);
  node->memory = g_new (uint32_t, node->n_objects);
  for (uint32_t object = 0; object < node->n_objects; object++)
    if (node->objects[object].kind == TOPO_OBJECT_CORE)
      node->core[node->n_cores++] = object;
    else if (node->objects[object].kind == TOPO_OBJECT_MEMORY)
      node->memory[node->n_memories++] = object;
  uint32_t *cpu = g_new (uint32_t, node->n_cores), *cpu_core = g_new (uint32_t, node->n_cores);

  for (uint32_t core = 0; core < node->n_cores; core++) {
    cpu[core] = node->objects[node->core[core]].os_index;
    cpu_core[core] = core;
  }
  topo_node_set_cpus (node, cpu, cpu_core, node->n_cores);
  return node;
}

void
topo_node_free (TopoNode *node)
{
  if (node == NULL)
    return;
  g_free (node->memory);
  g_free (node->cpu);
  g_free (node->cpu_core);
  g_free (node->core);
  g_free (node->objects);
  g_free (node->source);
  g_free (node);
}

static uint32_t
add (GArray *objects, TopoObject object)
{
  g_array_append_val (objects, object);
  return objects->len - 1;
}

TopoNode *
topo_node_harpertown (void)
{
  GArray *objects = g_array_new (FALSE, TRUE, sizeof (TopoObject));

  add (objects, (TopoObject){ .kind = TOPO_OBJECT_MACHINE, .parent = TOPO_NONE, .n_cores = 8 });
  add (objects, (TopoObject){
                    .kind = TOPO_OBJECT_MEMORY, .n_cores = 8, .memory_bytes = UINT64_C (8) << 30 });
  for (uint32_t number = 0; number < 2; number++) {
    uint32_t package = add (objects, (TopoObject){ .kind = TOPO_OBJECT_PACKAGE,
                                                   .os_index = number,
                                                   .first_core = 4 * number,
                                                   .n_cores = 4 });

    for (uint32_t die = 0; die < 2; die++) {
      /* One die: its L2, and in it two cores with an L1 each.  Linux counts
       * the processors of such a board across packages and dies first. */
      TopoObject above = g_array_index (objects, TopoObject, package);
      uint32_t first_core = above.first_core + 2 * die;
      uint32_t l2;

      l2 = add (objects, (TopoObject){ .kind = TOPO_OBJECT_CACHE,
                                       .level = 2,
                                       .parent = package,
                                       .first_core = first_core,
                                       .n_cores = 2,
                                       .cache_bytes = 6144 * 1024 });
      for (uint32_t side = 0; side < 2; side++) {
        uint32_t core = first_core + side;
        uint32_t l1 = add (objects, (TopoObject){ .kind = TOPO_OBJECT_CACHE,
                                                  .level = 1,
                                                  .parent = l2,
                                                  .first_core = core,
                                                  .n_cores = 1,
                                                  .cache_bytes = 32 * 1024 });

        add (objects, (TopoObject){ .kind = TOPO_OBJECT_CORE,
                                    .parent = l1,
                                    .os_index = above.os_index + 2 * die + 4 * side,
                                    .first_core = core,
                                    .n_cores = 1 });
      }
    }
  }
  return topo_node_make (g_strdup ("harpertown"), objects);
}

uint32_t
topo_node_above (const TopoNode *node, uint32_t core, TopoObjectKind kind)
{
  uint32_t found = TOPO_NONE;

  if (kind == TOPO_OBJECT_MEMORY) {
    for (uint32_t memory = 0; memory < node->n_memories; memory++) {
      const TopoObject *object = &node->objects[node->memory[memory]];

      if (core - object->first_core < object->n_cores)
        return node->memory[memory];
    }
    return node->memory[0];
  }
  for (uint32_t object = node->core[core]; object != TOPO_NONE;
       object = node->objects[object].parent)
    if (node->objects[object].kind == kind)
      found = object;
  return found;
}

uint64_t
topo_node_memory_bytes (const TopoNode *node)
{
  uint64_t bytes = 0;

  for (uint32_t memory = 0; memory < node->n_memories; memory++) {
    uint64_t part_bytes = node->objects[node->memory[memory]].memory_bytes;

    if (part_bytes == 0)
      return 0;
    bytes += part_bytes;
  }
  return bytes;
}

/* --- Two eight-core Xeon E5-2680 --- */

#define PACKAGES 2
#define CORES    8 /* of a package */

TopoNode *
topo_node_sandybridge (void)
{
  GArray *objects = g_array_new (FALSE, TRUE, sizeof (TopoObject));
  TopoNode *node;

  add (objects, (TopoObject){ .kind = TOPO_OBJECT_MACHINE,
                              .parent = TOPO_NONE,
                              .n_cores = PACKAGES * CORES });
  for (uint32_t number = 0; number < PACKAGES; number++) {
    uint32_t first_core = CORES * number;
    uint32_t package = add (objects, (TopoObject){ .kind = TOPO_OBJECT_PACKAGE,
                                                   .os_index = number,
                                                   .first_core = first_core,
                                                   .n_cores = CORES });
    uint32_t l3;

    add (objects, (TopoObject){ .kind = TOPO_OBJECT_MEMORY,
                                .parent = package,
                                .os_index = number,
                                .first_core = first_core,
                                .n_cores = CORES });
    l3 = add (objects, (TopoObject){ .kind = TOPO_OBJECT_CACHE,
                                     .level = 3,
                                     .parent = package,
                                     .first_core = first_core,
                                     .n_cores = CORES,
                                     .cache_bytes = 20 * 1024 * 1024 });
    for (uint32_t core = first_core; core < first_core + CORES; core++) {
      uint32_t l2 = add (objects, (TopoObject){ .kind = TOPO_OBJECT_CACHE,
                                                .level = 2,
                                                .parent = l3,
                                                .first_core = core,
                                                .n_cores = 1,
                                                .cache_bytes = 256 * 1024 });

      add (objects, (TopoObject){ .kind = TOPO_OBJECT_CORE,
                                  .parent = l2,
                                  .os_index = core,
                                  .first_core = core,
                                  .n_cores = 1 });
    }
  }
  node = topo_node_make (g_strdup ("sandybridge"), objects);
  node->adapter = 1; /* the first package */
  return node;
}

/* --- Printing --- */

static bool
is_own_cache (const TopoNode *node, uint32_t object)
{
  return node->objects[object].kind == TOPO_OBJECT_CACHE && node->objects[object].n_cores == 1;
}

static void
print_cache (const TopoObject *cache, GString *text)
{
  const uint64_t mebibyte = 1024 * 1024;

  if (cache->cache_bytes % mebibyte == 0)
    g_string_append_printf (text, "L%u of %" G_GUINT64_FORMAT " MiB", cache->level,
                            cache->cache_bytes / mebibyte);
  else
    g_string_append_printf (text, "L%u of %" G_GUINT64_FORMAT " KiB", cache->level,
                            cache->cache_bytes / 1024);
}

static void
print_below (const TopoNode *node, uint32_t object, uint32_t depth, GString *text)
{
  const TopoObject *it = &node->objects[object];
  g_autoptr (GString) cores = g_string_new (NULL);
  g_autoptr (GString) cpus = g_string_new (NULL);
  uint32_t cache = TOPO_NONE;

  g_string_append_printf (text, "%*s", (int) (2 * depth), "");
  switch ((TopoObjectKind) it->kind) {
  case TOPO_OBJECT_MACHINE: g_string_append (text, "node"); break;
  case TOPO_OBJECT_PACKAGE: g_string_append_printf (text, "package %u", it->os_index); break;
  case TOPO_OBJECT_MEMORY: g_string_append_printf (text, "memory %u", it->os_index); break;
  case TOPO_OBJECT_CACHE: print_cache (it, text); break;
  case TOPO_OBJECT_CORE: break;
  }
  if (object == node->adapter)
    g_string_append (text, ", host adapter");
  g_string_append_c (text, '\n');
  if (it->kind == TOPO_OBJECT_MEMORY)
    return;
  depth++;

  /* The cores directly below, or below a cache of their own, on one line. */
  for (uint32_t core = it->first_core; core < it->first_core + it->n_cores; core++) {
    uint32_t under = node->objects[node->core[core]].parent;
    bool has_cache = is_own_cache (node, under);

    if ((has_cache ? node->objects[under].parent : under) != object)
      continue;
    if (has_cache)
      cache = under;
    g_string_append_printf (cores, " %u", core);
    g_string_append_printf (cpus, " %u", node->objects[node->core[core]].os_index);
  }
  if (cores->len > 0) {
    g_string_append_printf (text, "%*scores%s", (int) (2 * depth), "", cores->str);
    if (cache != TOPO_NONE) {
      g_string_append (text, ", each with ");
      print_cache (&node->objects[cache], text);
    }
    g_string_append_printf (text, " (CPUs%s)\n", cpus->str);
  }
  for (uint32_t child = object + 1; child < node->n_objects; child++)
    if (node->objects[child].parent == object && node->objects[child].kind != TOPO_OBJECT_CORE &&
        !is_own_cache (node, child))
      print_below (node, child, depth, text);
}

char *
topo_node_print (const TopoNode *node)
{
  GString *text = g_string_new (NULL);

  print_below (node, 0, 0, text);
  return g_string_free (text, FALSE);
}
