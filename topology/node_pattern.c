/* node_pattern.c - aggregation patterns: which cores of a node are used.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The paper's Figure 2 is not in its text; 6 and 7 are read from the order of
 * its noise tests (infiniband.md section 0).  A die here is what shares the
 * outermost cache. */
#include "topology/node.h"

typedef struct {
  uint32_t packages, dies, cores; /* packages of a node, dies of a package, cores of a die */
} Layout;

/* What a pattern takes of each; 0: all. */
static const Layout patterns[] = {
  { 1, 1, 1 }, /* 1: one core */
  { 0, 1, 1 }, /* 2: one core of each package */
  { 1, 0, 1 }, /* 3: one core of each die of a package */
  { 1, 1, 0 }, /* 4: one die */
  { 0, 0, 1 }, /* 5: one core of each die */
  { 0, 1, 0 }, /* 6: one die of each package */
  { 1, 0, 0 }, /* 7: one package */
  { 0, 0, 0 }, /* 8: all cores */
};

/* The layout that the first core sees, if all cores see the same. */
static bool
find_layout (const TopoNode *node, Layout *layout)
{
  for (uint32_t core = 0; core < node->n_cores; core++) {
    uint32_t package = topo_node_above (node, core, TOPO_OBJECT_PACKAGE);
    uint32_t die = topo_node_above (node, core, TOPO_OBJECT_CACHE);
    uint32_t package_cores, die_cores;

    if (package == TOPO_NONE || die == TOPO_NONE)
      return false;
    package_cores = node->objects[package].n_cores;
    die_cores = node->objects[die].n_cores;
    if (core == 0)
      *layout = (Layout){ node->n_cores / package_cores, package_cores / die_cores, die_cores };
    if (die_cores != layout->cores || package_cores != layout->cores * layout->dies ||
        node->n_cores != package_cores * layout->packages)
      return false;
  }
  return layout->packages >= 2 && layout->dies >= 2 && layout->cores >= 2;
}

uint32_t
topo_node_pattern (const TopoNode *node, uint32_t pattern, uint8_t cores[])
{
  uint32_t n_cores = 0;
  Layout layout = { 0 };

  if (pattern < 1 || pattern > G_N_ELEMENTS (patterns) || !find_layout (node, &layout))
    return 0;
  for (uint32_t core = 0; core < node->n_cores; core++) {
    const Layout *takes = &patterns[pattern - 1];
    uint32_t die = core / layout.cores;

    if ((takes->cores == 0 || core % layout.cores < takes->cores) &&
        (takes->dies == 0 || die % layout.dies < takes->dies) &&
        (takes->packages == 0 || die / layout.dies < takes->packages))
      cores[n_cores++] = (uint8_t) core;
  }
  return n_cores;
}
