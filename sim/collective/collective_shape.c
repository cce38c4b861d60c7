/* collective_shape.c - the trees that Open MPI sends along.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Source: ompi/mca/coll/base/coll_base_topo.c of Open MPI 4.1, the same as
 * coll_tuned_topo.c of 1.3.  Trees are over places, ranks counted from the
 * root, except the in-order binary one, which is over the ranks themselves. */
#include "sim/collective/collective_steps.h"

#include <glib.h>

#define RADIX 4u /* coll_tuned_bcast_knomial_radix */

static uint32_t
my_place (const SimCollective *collective)
{
  return sim_rank_before (collective, collective->rank, (uint32_t) collective->root);
}

static uint32_t
rank_at (const SimCollective *collective, uint32_t place)
{
  return sim_rank_after (collective, place, (uint32_t) collective->root);
}

/* False when there is no such place. */
static bool
add_child (const SimCollective *collective, SimTree *tree, uint64_t place)
{
  if (place >= collective->n_ranks)
    return false;
  tree->children[tree->n_children++] = rank_at (collective, (uint32_t) place);
  return true;
}

/* Places of a level follow one another, 1, 2 | 3, 4, 5, 6 | ..., and so do the
 * left children of a level and then its right ones: odd places are all below
 * place 1, even ones below place 2. */
void
sim_shape_binary (const SimCollective *collective, SimTree *tree)
{
  uint32_t place = my_place (collective);
  uint32_t level_places = 1u << sim_floor_log2 (place + 1);

  *tree = (SimTree){ .parent = TOPO_NONE };
  if (place > 0) {
    uint32_t parent = place - level_places / 2;

    if (parent >= level_places - 1)
      parent -= level_places / 2;
    tree->parent = rank_at (collective, parent);
  }
  if (add_child (collective, tree, (uint64_t) place + level_places))
    add_child (collective, tree, (uint64_t) place + UINT64_C (2) * level_places);
}

void
sim_shape_chain (const SimCollective *collective, SimTree *tree)
{
  uint32_t place = my_place (collective);

  *tree = (SimTree){ .parent = place == 0 ? TOPO_NONE : rank_at (collective, place - 1) };
  add_child (collective, tree, (uint64_t) place + 1);
}

void
sim_shape_binomial (const SimCollective *collective, SimTree *tree)
{
  uint32_t place = my_place (collective);
  uint64_t bit = place == 0 ? 1 : UINT64_C (2) << sim_floor_log2 (place);

  *tree = (SimTree){ .parent = TOPO_NONE };
  if (place > 0)
    tree->parent = rank_at (collective, place ^ (uint32_t) (bit / 2));
  while (add_child (collective, tree, place + bit))
    bit *= 2;
}

void
sim_shape_binomial_in_order (const SimCollective *collective, SimTree *tree)
{
  uint32_t place = my_place (collective);
  uint64_t end = place == 0 ? collective->n_ranks : place & -place;

  *tree = (SimTree){ .parent = place == 0 ? TOPO_NONE : rank_at (collective, place & (place - 1)) };
  for (uint64_t bit = 1; bit < end && add_child (collective, tree, place + bit);)
    bit *= 2;
}

/* Numbers in base 4 take the part of those in base 2, and the children with
 * the largest subtrees come first. */
void
sim_shape_four_nomial (const SimCollective *collective, SimTree *tree)
{
  uint32_t place = my_place (collective);
  uint64_t unit = 1;

  *tree = (SimTree){ .parent = TOPO_NONE };
  while (unit < collective->n_ranks && place % (RADIX * unit) == 0)
    unit *= RADIX;
  if (place > 0)
    tree->parent = rank_at (collective, (uint32_t) (place - place % (RADIX * unit)));
  for (unit /= RADIX; unit > 0; unit /= RADIX)
    for (uint32_t digit = 1; digit < RADIX; digit++)
      add_child (collective, tree, place + unit * digit);
}

/* The last rank of a range is its root; the first half of the range is below
 * its second child, the rest below its first. */
void
sim_shape_binary_in_order (const SimCollective *collective, SimTree *tree)
{
  uint32_t first = 0, n = collective->n_ranks, parent = TOPO_NONE;

  for (;;) {
    uint32_t top = first + n - 1;
    uint32_t n_second = n > 2 ? n / 2 : 0;

    if (collective->rank == top) {
      *tree = (SimTree){ .parent = parent };
      if (n > 1)
        tree->children[tree->n_children++] = top - 1;
      if (n_second > 0)
        tree->children[tree->n_children++] = first + n_second - 1;
      return;
    }
    parent = top;
    if (collective->rank < first + n_second) {
      n = n_second;
    } else {
      first += n_second;
      n -= n_second + 1;
    }
  }
}
