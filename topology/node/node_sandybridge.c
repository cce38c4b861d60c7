/* node_sandybridge.c - a node of two eight-core Xeon E5-2680.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "topology/node/node_build.h"

#define PACKAGES 2
#define CORES    8 /* of a package */

static uint32_t
add (GArray *objects, TopoObject object)
{
  g_array_append_val (objects, object);
  return objects->len - 1;
}

static void
add_core (GArray *objects, uint32_t l3, uint32_t core)
{
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

/* Its number as the first package's adapter needs it. */
static uint32_t
add_package (GArray *objects, uint32_t number)
{
  TopoObject object = {
    .kind = TOPO_OBJECT_PACKAGE, .os_index = number, .first_core = CORES * number, .n_cores = CORES
  };
  uint32_t package = add (objects, object);
  uint32_t l3;

  object.parent = package;
  object.kind = TOPO_OBJECT_MEMORY;
  add (objects, object);
  object.kind = TOPO_OBJECT_CACHE;
  object.os_index = 0;
  object.level = 3;
  object.cache_bytes = 20 * 1024 * 1024;
  l3 = add (objects, object);
  for (uint32_t core = 0; core < CORES; core++)
    add_core (objects, l3, CORES * number + core);
  return package;
}

TopoNode *
topo_node_sandybridge (void)
{
  GArray *objects = g_array_new (FALSE, TRUE, sizeof (TopoObject));
  TopoObject machine = { .kind = TOPO_OBJECT_MACHINE,
                         .parent = TOPO_NONE,
                         .n_cores = PACKAGES * CORES };
  uint32_t first_package;
  TopoNode *node;

  add (objects, machine);
  first_package = add_package (objects, 0);
  add_package (objects, 1);
  node = topo_node_make (g_strdup ("sandybridge"), objects);
  node->adapter = first_package;
  return node;
}
