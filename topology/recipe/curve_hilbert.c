/* curve_hilbert.c - a Hilbert curve through a box of any sizes.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A walk enters its box at a corner and leaves it at the corner that differs in one
 * dimension, the exit.  There is such a walk in steps to neighbours only where the
 * exit's size is even, or all sizes are odd (colour the points like a chess board);
 * every step below keeps to that, so that the whole walk is continuous:
 *
 *   octants   where the exit is long and even, all long even dimensions are cut into
 *             two even parts, and the parts are walked in the order of Gray's code,
 *             entered and left as in Hilbert's curve in that many dimensions
 *             (C. Hamilton, Compact Hilbert Indices, 2006, sections 2.1 to 2.3); so is a box
 *             of twos, whose parts are points
 *   hairpin   an exit of two points: along the longest other dimension, one step, and back
 *   three     otherwise the longest other dimension is cut into an even part and the
 *             rest: along half the width of the even part, through the rest in the
 *             direction of the exit, back along the other half */
#include "topology/recipe/curve.h"

#include <glib.h>

typedef struct {
  uint32_t size[TOPO_CURVE_DIMENSIONS];
  int64_t step[TOPO_CURVE_DIMENSIONS]; /* to the next point, seen from the entry */
  int64_t entry;                       /* the corner's point */
} Box;

typedef struct {
  uint32_t n_dimensions;
  uint32_t *order;
  uint32_t n; /* points so far */
} Walk;

static void walk_box (Walk *walk, Box box, uint32_t exit);

/* The part of a box that begins `from` points inward and is `size` wide, entered at
 * the near side or, turned round, at the far one. */
static Box
part_of (Box box, uint32_t dimension, uint32_t from, uint32_t size, bool far)
{
  box.entry += (int64_t) (far ? from + size - 1 : from) * box.step[dimension];
  box.size[dimension] = size;
  if (far)
    box.step[dimension] = -box.step[dimension];
  return box;
}

/* The longest dimension but one; that one itself where the box is a line. */
static uint32_t
longest_other (const Walk *walk, const Box *box, uint32_t but)
{
  uint32_t longest = but, size = 1;

  for (uint32_t dimension = 0; dimension < walk->n_dimensions; dimension++)
    if (dimension != but && box->size[dimension] > size) {
      longest = dimension;
      size = box->size[dimension];
    }
  return longest;
}

/* The dimensions that octants cut, the exit last; 0 where they cannot, or where the exit
 * would be cut alone though another dimension is nearly as long: that gives thin slices. */
static uint32_t
octant_dimensions (const Walk *walk, const Box *box, uint32_t exit,
                   uint32_t cut[TOPO_CURVE_DIMENSIONS])
{
  uint32_t other = box->size[longest_other (walk, box, exit)];
  uint32_t longest = MAX (box->size[exit], other);
  uint32_t least = longest == 2 ? 2 : MAX (4, longest / 2 + 1);
  uint32_t n = 0;

  if (box->size[exit] < least || box->size[exit] % 2 != 0)
    return 0;
  for (uint32_t dimension = 0; dimension < walk->n_dimensions; dimension++)
    if (dimension != exit && box->size[dimension] >= least && box->size[dimension] % 2 == 0)
      cut[n++] = dimension;
  cut[n++] = exit;
  return n == 1 && box->size[exit] < 2 * other ? 0 : n;
}

static uint32_t
gray (uint32_t number)
{
  return number ^ number >> 1;
}

static uint32_t
trailing_ones (uint32_t number)
{
  uint32_t n = 0;

  for (; number & 1u; number >>= 1)
    n++;
  return n;
}

/* Bit b of an octant's place, and of its corners, is dimension cut[b]. */
static void
walk_octants (Walk *walk, Box box, uint32_t n_cut, const uint32_t *cut)
{
  for (uint32_t octant = 0; octant < 1u << n_cut; octant++) {
    uint32_t entry = octant == 0 ? 0 : gray ((octant - 1) / 2 * 2);
    uint32_t exit = octant == 0 ? 0 : trailing_ones (octant % 2 == 0 ? octant - 1 : octant) % n_cut;
    Box part = box;

    for (uint32_t bit = 0; bit < n_cut; bit++) {
      uint32_t size = box.size[cut[bit]];
      uint32_t near = size == 2 ? 1 : size / 4 * 2;
      bool is_far = gray (octant) >> bit & 1u;

      part = part_of (part, cut[bit], is_far ? near : 0, is_far ? size - near : near,
                      entry >> bit & 1u);
    }
    walk_box (walk, part, cut[exit]);
  }
}

/* All sizes are odd and the exit is long: one half after the other. */
static void
walk_halves (Walk *walk, Box box, uint32_t exit)
{
  uint32_t near = (box.size[exit] + 1) / 4 * 2;

  walk_box (walk, part_of (box, exit, 0, near, false), exit);
  walk_box (walk, part_of (box, exit, near, box.size[exit] - near, false), exit);
}

static void
walk_hairpin (Walk *walk, Box box, uint32_t exit, uint32_t along)
{
  Box back = part_of (box, exit, 1, 1, false);

  walk_box (walk, part_of (box, exit, 0, 1, false), along);
  walk_box (walk, part_of (back, along, 0, box.size[along], true), along);
}

static void
walk_three (Walk *walk, Box box, uint32_t exit, uint32_t along)
{
  uint32_t even = (box.size[along] + 1) / 4 * 2, half = box.size[exit] / 2;
  Box near = part_of (box, along, 0, even, false), far = part_of (box, along, 0, even, true);

  walk_box (walk, part_of (near, exit, 0, half, false), along);
  walk_box (walk, part_of (box, along, even, box.size[along] - even, false), exit);
  walk_box (walk, part_of (far, exit, half, box.size[exit] - half, true), along);
}

static void
walk_line (Walk *walk, const Box *box, uint32_t exit)
{
  for (uint32_t k = 0; k < box->size[exit]; k++)
    walk->order[walk->n++] = (uint32_t) (box->entry + k * box->step[exit]);
}

static void
walk_box (Walk *walk, Box box, uint32_t exit)
{
  uint32_t cut[TOPO_CURVE_DIMENSIONS];
  uint32_t along = longest_other (walk, &box, exit);
  uint32_t n_cut;

  if (along == exit) {
    walk_line (walk, &box, exit);
    return;
  }
  n_cut = octant_dimensions (walk, &box, exit, cut);
  if (n_cut > 0)
    walk_octants (walk, box, n_cut, cut);
  else if (box.size[exit] >= 2 * box.size[along])
    walk_halves (walk, box, exit);
  else if (box.size[exit] == 2 && box.size[along] % 2 == 0)
    walk_hairpin (walk, box, exit, along);
  else
    walk_three (walk, box, exit, along);
}

/* The longest even dimension, or the longest where all are odd. */
static uint32_t
first_exit (uint32_t n_dimensions, const uint32_t *size)
{
  uint32_t exit = 0;

  for (uint32_t dimension = 1; dimension < n_dimensions; dimension++) {
    bool is_even = size[dimension] % 2 == 0, was_even = size[exit] % 2 == 0;

    if (is_even == was_even ? size[dimension] > size[exit] : is_even)
      exit = dimension;
  }
  return exit;
}

void
topo_curve_hilbert (uint32_t *order, uint32_t n_dimensions, const uint32_t *size)
{
  Walk walk = { n_dimensions, order, 0 };
  Box box = { .entry = 0 };
  int64_t stride = 1;

  for (uint32_t dimension = n_dimensions; dimension-- > 0; stride *= size[dimension]) {
    box.size[dimension] = size[dimension];
    box.step[dimension] = stride;
  }
  walk_box (&walk, box, first_exit (n_dimensions, size));
}
