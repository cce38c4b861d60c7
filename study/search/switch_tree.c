/* switch_tree.c - a tree of switches, read from the hops between nodes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/search/switch_tree.h"

#include <string.h>

/* Free ones included. */
#define MAX_PLACES (1u << 20)

void
study_switch_tree_clear (StudySwitchTree *tree)
{
  for (uint32_t level = 0; level < STUDY_TREE_LEVELS; level++) {
    g_free (tree->group[level]);
    g_free (tree->child[level]);
  }
}

/* The different lengths of ways, ascending; false when there are too many. */
static gboolean
tree_levels (StudySwitchTree *tree, const StudyDistance *distance)
{
  gboolean seen[UINT8_MAX + 1] = { FALSE };

  for (uint32_t from = 0; from < distance->n_nodes; from++)
    for (uint32_t to = from + 1; to < distance->n_nodes; to++)
      seen[study_hops (distance, from, to)] = TRUE;
  for (uint32_t hops = 1; hops <= UINT8_MAX; hops++)
    if (seen[hops]) {
      if (tree->n_levels == STUDY_TREE_LEVELS)
        return FALSE;
      tree->hops[tree->n_levels++] = hops;
    }
  return TRUE;
}

/* Every node joins the first switch whose first node is near enough. */
static void
tree_group (uint32_t *group, const StudyDistance *distance, uint32_t hops)
{
  g_autofree uint32_t *first = g_new (uint32_t, distance->n_nodes);
  uint32_t n = 0;

  for (uint32_t node = 0; node < distance->n_nodes; node++) {
    uint32_t i = 0;

    while (i < n && study_hops (distance, first[i], node) > hops)
      i++;
    if (i == n)
      first[n++] = node;
    group[node] = i;
  }
}

/* Which child of its switch the group of every node below is; also how many
 * children the switch with most of them has. */
static uint32_t
tree_children (uint32_t *child, const uint32_t *group, const uint32_t *below, uint32_t n_nodes)
{
  g_autofree uint32_t *number = g_new (uint32_t, n_nodes);      /* of a group below */
  g_autofree uint32_t *n_children = g_new0 (uint32_t, n_nodes); /* of a switch */
  uint32_t width = 0;

  memset (number, 0xff, n_nodes * sizeof *number);
  for (uint32_t node = 0; node < n_nodes; node++) {
    uint32_t group_below = below ? below[node] : node;

    if (number[group_below] == TOPO_NONE)
      number[group_below] = n_children[group[node]]++;
    child[node] = number[group_below];
    width = MAX (width, n_children[group[node]]);
  }
  return width;
}

static uint64_t
tree_fill (StudySwitchTree *tree, const StudyDistance *distance)
{
  uint64_t n_places = 1;

  for (uint32_t level = 0; level < tree->n_levels && n_places <= MAX_PLACES; level++) {
    tree->group[level] = g_new (uint32_t, distance->n_nodes);
    tree->child[level] = g_new (uint32_t, distance->n_nodes);
    tree_group (tree->group[level], distance, tree->hops[level]);
    tree->width[level] =
        tree_children (tree->child[level], tree->group[level],
                       level > 0 ? tree->group[level - 1] : NULL, distance->n_nodes);
    n_places *= tree->width[level];
  }
  return n_places;
}

gboolean
study_switch_tree_read (StudySwitchTree *tree, const StudyDistance *distance)
{
  uint64_t n_places = tree_levels (tree, distance) ? tree_fill (tree, distance) : G_MAXUINT64;

  tree->n_places = (uint32_t) MIN (n_places, MAX_PLACES);
  return n_places <= MAX_PLACES;
}

uint32_t *
study_switch_tree_nodes (const StudySwitchTree *tree, uint32_t n_nodes)
{
  uint32_t *node_of = g_new (uint32_t, tree->n_places);

  memset (node_of, 0xff, tree->n_places * sizeof *node_of);
  for (uint32_t node = 0; node < n_nodes; node++) {
    uint32_t place = 0;

    for (uint32_t level = tree->n_levels; level-- > 0;)
      place = place * tree->width[level] + tree->child[level][node];
    node_of[place] = node;
  }
  return node_of;
}
