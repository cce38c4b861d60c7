/* node_print.c - the tree of a node for people to read.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "topology/node/node.h"

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

/* Cores that hang below one object, all in one line. */
static void
print_cores (const TopoNode *node, uint32_t parent, uint32_t depth, GString *text)
{
  const TopoObject *above = &node->objects[parent];
  uint32_t cache = TOPO_NONE;
  g_autoptr (GString) cores = g_string_new (NULL);
  g_autoptr (GString) cpus = g_string_new (NULL);

  for (uint32_t core = above->first_core; core < above->first_core + above->n_cores; core++) {
    uint32_t object = node->core[core];
    uint32_t under = node->objects[object].parent;

    if (is_own_cache (node, under)) {
      cache = under;
      under = node->objects[under].parent;
    }
    if (under != parent)
      continue;
    g_string_append_printf (cores, " %u", core);
    g_string_append_printf (cpus, " %u", node->objects[object].os_index);
  }
  if (cores->len == 0)
    return;
  g_string_append_printf (text, "%*scores%s", (int) (2 * depth), "", cores->str);
  if (cache != TOPO_NONE) {
    g_string_append (text, ", each with ");
    print_cache (&node->objects[cache], text);
  }
  g_string_append_printf (text, " (CPUs%s)\n", cpus->str);
}

static void
print_name (const TopoNode *node, uint32_t object, GString *text)
{
  const TopoObject *it = &node->objects[object];

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
}

static void
print_below (const TopoNode *node, uint32_t object, uint32_t depth, GString *text)
{
  g_string_append_printf (text, "%*s", (int) (2 * depth), "");
  print_name (node, object, text);
  if (node->objects[object].kind == TOPO_OBJECT_MEMORY)
    return;
  print_cores (node, object, depth + 1, text);
  for (uint32_t child = object + 1; child < node->n_objects; child++)
    if (node->objects[child].parent == object && node->objects[child].kind != TOPO_OBJECT_CORE &&
        !is_own_cache (node, child))
      print_below (node, child, depth + 1, text);
}

char *
topo_node_print (const TopoNode *node)
{
  GString *text = g_string_new (NULL);

  print_below (node, 0, 0, text);
  return g_string_free (text, FALSE);
}
