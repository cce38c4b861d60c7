/* node.c - the inside of a node: what its cores share, as a tree; the nodes that are built in.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "topology/node/node.h"

#include "topology/machine.h"
#include "topology/node/node_build.h"
#include "topology/node/processor.h"

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
  g_free (node->first_thread);
  g_free (node->core);
  g_free (node->objects);
  g_free (node->model);
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
  TopoNode *node = topo_node_make (g_strdup ("harpertown"), objects);

  node->processor = topo_processor_named ("harpertown");
  return node;
}

uint32_t
topo_node_above (const TopoNode *node, uint32_t core, TopoObjectKind kind)
{
  uint32_t found = TOPO_NONE;

  if (kind == TOPO_OBJECT_MEMORY) {
    for (uint32_t memory = 0; memory < node->n_memories; memory++) {
      const TopoObject *object = &node->objects[node->memory[memory]];

      if (core - object->first_core >= object->n_cores)
        continue;
      if (!object->is_hbm)
        return node->memory[memory];
      if (found == TOPO_NONE)
        found = node->memory[memory];
    }
    return found != TOPO_NONE ? found : node->memory[0];
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

/* --- Usual nodes of two packages --- */

#define PACKAGES 2

/* A domain of a package: its memory, its core groups and their cores. */
static void
add_domain (GArray *objects, const TopoUsualNode *usual, uint32_t package, uint32_t number)
{
  uint32_t n_cores = usual->n_groups * usual->n_cores, first_core = number * n_cores;

  add (objects, (TopoObject){ .kind = TOPO_OBJECT_MEMORY,
                              .parent = package,
                              .os_index = number,
                              .first_core = first_core,
                              .n_cores = n_cores });
  for (uint32_t group = 0; group < usual->n_groups; group++) {
    uint32_t first = first_core + group * usual->n_cores;
    uint32_t l3 = add (objects, (TopoObject){ .kind = TOPO_OBJECT_CACHE,
                                              .level = 3,
                                              .parent = package,
                                              .first_core = first,
                                              .n_cores = usual->n_cores,
                                              .cache_bytes = usual->l3_kibibytes * 1024 });

    for (uint32_t core = first; core < first + usual->n_cores; core++) {
      uint32_t l2 = add (objects, (TopoObject){ .kind = TOPO_OBJECT_CACHE,
                                                .level = 2,
                                                .parent = l3,
                                                .first_core = core,
                                                .n_cores = 1,
                                                .cache_bytes = usual->l2_kibibytes * 1024 });

      add (objects, (TopoObject){ .kind = TOPO_OBJECT_CORE,
                                  .parent = l2,
                                  .os_index = core,
                                  .first_core = core,
                                  .n_cores = 1 });
    }
  }
}

TopoNode *
topo_node_named (const char *name)
{
  const TopoProcessor *processor = topo_processor_named (name);
  GArray *objects;
  TopoNode *node;
  uint32_t n;

  if (processor == NULL)
    return NULL;
  if (processor->usual.n_cores == 0)
    return topo_node_harpertown ();
  objects = g_array_new (FALSE, TRUE, sizeof (TopoObject));
  n = processor->usual.n_domains * processor->usual.n_groups * processor->usual.n_cores;
  add (objects,
       (TopoObject){ .kind = TOPO_OBJECT_MACHINE, .parent = TOPO_NONE, .n_cores = PACKAGES * n });
  for (uint32_t number = 0; number < PACKAGES; number++) {
    uint32_t package = add (objects, (TopoObject){ .kind = TOPO_OBJECT_PACKAGE,
                                                   .os_index = number,
                                                   .first_core = n * number,
                                                   .n_cores = n });

    for (uint32_t domain = 0; domain < processor->usual.n_domains; domain++)
      add_domain (objects, &processor->usual, package,
                  number * processor->usual.n_domains + domain);
  }
  node = topo_node_make (g_strdup (name), objects);
  node->adapter = 1; /* the first package */
  node->processor = processor;
  return node;
}

/* --- Threads as cores --- */

TopoNode *
topo_node_threads (const TopoNode *node, uint32_t n_threads, GError **error)
{
  g_autofree uint32_t *n_of = g_new0 (uint32_t, node->n_cores); /* threads that a core has */
  g_autofree uint32_t *first = g_new0 (uint32_t, node->n_cores + 1);
  g_autofree uint32_t *place = g_new0 (uint32_t, node->n_objects); /* in the new array */
  GArray *objects;
  TopoNode *threads;
  uint32_t most = 0;

  for (uint32_t cpu = 0; cpu < node->n_cpus; cpu++)
    n_of[node->cpu_core[cpu]]++;
  for (uint32_t core = 0; core < node->n_cores; core++) {
    most = MAX (most, n_of[core]);
    first[core + 1] = first[core] + MIN (n_of[core], n_threads);
  }
  if (n_threads > most) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                 "threads=%u: the cores of the node (%s) have %u", n_threads, node->source, most);
    return NULL;
  }
  objects = g_array_new (FALSE, TRUE, sizeof (TopoObject));
  for (uint32_t number = 0; number < node->n_objects; number++) {
    TopoObject object = node->objects[number];
    uint32_t core = object.first_core, cpu = 0;

    if (object.parent != TOPO_NONE)
      object.parent = place[object.parent];
    object.first_core = first[core];
    object.n_cores = first[core + object.n_cores] - first[core];
    place[number] = objects->len;
    if (object.kind != TOPO_OBJECT_CORE) {
      g_array_append_val (objects, object);
      continue;
    }
    object.n_cores = 1;
    while (node->cpu_core[cpu] != core)
      cpu++;
    for (; object.first_core < first[core + 1]; object.first_core++) {
      object.os_index = node->cpu[cpu++];
      g_array_append_val (objects, object);
    }
  }
  threads = topo_node_make (g_strdup (node->source), objects);
  threads->model = g_strdup (node->model);
  threads->processor = node->processor;
  threads->is_nearest = node->is_nearest;
  threads->has_split_memory = node->has_split_memory;
  threads->adapter = place[node->adapter];
  threads->first_thread = g_new (uint32_t, threads->n_cores);
  for (uint32_t core = 0; core < node->n_cores; core++)
    for (uint32_t thread = first[core]; thread < first[core + 1]; thread++)
      threads->first_thread[thread] = first[core];
  return threads;
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
  case TOPO_OBJECT_MEMORY:
    g_string_append_printf (text, "memory %u%s", it->os_index,
                            it->is_hbm ? ", high-bandwidth" : "");
    break;
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
