/* curve.c - orders in which the points of a box are visited.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "topology/recipe/recipe_private.h"

#include <glib.h>
#include <stdlib.h>

/* --- Hilbert: a walk through a box of any sizes ---
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

/* Bit b of an octant's place, and of its corners, is dimension cut[b]. */
static void
walk_octants (Walk *walk, Box box, uint32_t n_cut, const uint32_t *cut)
{
  for (uint32_t octant = 0; octant < 1u << n_cut; octant++) {
    uint32_t entry = octant == 0 ? 0 : gray ((octant - 1) / 2 * 2), n_ones = 0;
    Box part = box;

    /* The exit is the number of trailing ones. */
    for (uint32_t word = octant - (octant > 0 && octant % 2 == 0); word & 1u; word >>= 1)
      n_ones++;
    for (uint32_t bit = 0; bit < n_cut; bit++) {
      uint32_t size = box.size[cut[bit]];
      uint32_t near = size == 2 ? 1 : size / 4 * 2;
      bool is_far = gray (octant) >> bit & 1u;

      part = part_of (part, cut[bit], is_far ? near : 0, is_far ? size - near : near,
                      entry >> bit & 1u);
    }
    walk_box (walk, part, cut[n_ones % n_cut]);
  }
}

static void
walk_box (Walk *walk, Box box, uint32_t exit)
{
  uint32_t cut[TOPO_CURVE_DIMENSIONS];
  uint32_t along = longest_other (walk, &box, exit);
  uint32_t n_cut;

  if (along == exit) {
    for (uint32_t k = 0; k < box.size[exit]; k++)
      walk->order[walk->n++] = (uint32_t) (box.entry + k * box.step[exit]);
    return;
  }
  n_cut = octant_dimensions (walk, &box, exit, cut);
  if (n_cut > 0)
    walk_octants (walk, box, n_cut, cut);
  else if (box.size[exit] >= 2 * box.size[along]) {
    /* All sizes are odd and the exit is long: one half after the other. */
    uint32_t near = (box.size[exit] + 1) / 4 * 2;

    walk_box (walk, part_of (box, exit, 0, near, false), exit);
    walk_box (walk, part_of (box, exit, near, box.size[exit] - near, false), exit);
  } else if (box.size[exit] == 2 && box.size[along] % 2 == 0) {
    Box back = part_of (box, exit, 1, 1, false);

    walk_box (walk, part_of (box, exit, 0, 1, false), along);
    walk_box (walk, part_of (back, along, 0, box.size[along], true), along);
  } else {
    uint32_t even = (box.size[along] + 1) / 4 * 2, half = box.size[exit] / 2;
    Box near = part_of (box, along, 0, even, false), far = part_of (box, along, 0, even, true);

    walk_box (walk, part_of (near, exit, 0, half, false), along);
    walk_box (walk, part_of (box, along, even, box.size[along] - even, false), exit);
    walk_box (walk, part_of (far, exit, half, box.size[exit] - half, true), along);
  }
}

static void
hilbert_new (uint32_t *order, uint32_t n_dimensions, const uint32_t *size)
{
  Walk walk = { n_dimensions, order, 0 };
  Box box = { .entry = 0 };
  int64_t stride = 1;
  uint32_t exit = 0;

  for (uint32_t dimension = n_dimensions; dimension-- > 0; stride *= size[dimension]) {
    box.size[dimension] = size[dimension];
    box.step[dimension] = stride;
  }
  /* The exit is the longest even dimension, or the longest where all are odd. */
  for (uint32_t dimension = 1; dimension < n_dimensions; dimension++) {
    bool is_even = size[dimension] % 2 == 0, was_even = size[exit] % 2 == 0;

    if (is_even == was_even ? size[dimension] > size[exit] : is_even)
      exit = dimension;
  }
  walk_box (&walk, box, exit);
}

const char *const topo_curve_names[TOPO_N_CURVES] = { "hilbert", "peano", "gray", "snake",
                                                      "zorder" };

/* --- Codes ---
 *
 * Peano, Gray and Z-order sort the points by codes of their coordinates: one line of
 * arithmetic per curve, no case for odd sizes, and fast enough (half a second for
 * 1.5 million points). */

typedef struct {
  uint64_t code;
  uint32_t point;
} Coded;

/* The numbers of digits, in the curve's base, of the coordinates of each dimension. */
typedef struct {
  uint32_t n_dimensions, n_levels;
  uint32_t n_digits[TOPO_CURVE_DIMENSIONS];
} Digits;

/* Bits that are always 0 are left out, so that 64 bits are enough for any box. */
static uint64_t
morton_code (const uint32_t *at, const Digits *bits)
{
  uint64_t code = 0;
  uint32_t n = 0;

  for (uint32_t level = 0; level < bits->n_levels; level++)
    for (uint32_t dimension = 0; dimension < bits->n_dimensions; dimension++)
      if (level < bits->n_digits[dimension])
        code |= (uint64_t) (at[dimension] >> level & 1u) << n++;
  return code;
}

/* Digits from the top, the dimensions in turns; a digit runs backwards where the
 * digits before it in the other dimensions have an odd sum (Peano 1890). */
static uint64_t
peano_code (const uint32_t *at, const Digits *digits)
{
  uint32_t own[TOPO_CURVE_DIMENSIONS] = { 0 }, sum = 0, power = 1;
  uint64_t code = 0;

  for (uint32_t level = 1; level < digits->n_levels; level++)
    power *= 3;
  for (uint32_t level = digits->n_levels; level-- > 0; power /= 3)
    for (uint32_t dimension = 0; dimension < digits->n_dimensions; dimension++) {
      uint32_t digit;

      if (level >= digits->n_digits[dimension])
        continue;
      digit = at[dimension] / power % 3;
      code = 3 * code + ((sum - own[dimension]) % 2 == 1 ? 2 - digit : digit);
      own[dimension] += digit;
      sum += digit;
    }
  return code;
}

static int
compare_codes (const void *left, const void *right)
{
  uint64_t first = ((const Coded *) left)->code, second = ((const Coded *) right)->code;

  return (first > second) - (first < second);
}

/* --- Snake --- */

/* Each dimension turns round whenever its run is over. */
static void
snake (uint32_t *order, uint32_t n_points, uint32_t n_dimensions, const uint32_t *size)
{
  uint32_t at[TOPO_CURVE_DIMENSIONS] = { 0 }, stride[TOPO_CURVE_DIMENSIONS];
  bool back[TOPO_CURVE_DIMENSIONS] = { false };
  uint32_t point = 0, product = 1;

  for (uint32_t dimension = n_dimensions; dimension-- > 0; product *= size[dimension])
    stride[dimension] = product;
  for (uint32_t k = 0; k < n_points; k++) {
    order[k] = point;
    for (uint32_t dimension = n_dimensions; dimension-- > 0;) {
      if (at[dimension] + 1 < size[dimension]) {
        at[dimension]++;
        point = back[dimension] ? point - stride[dimension] : point + stride[dimension];
        break;
      }
      at[dimension] = 0;
      back[dimension] = !back[dimension];
    }
  }
}

uint32_t *
topo_curve_new (TopoCurve curve, uint32_t n_dimensions, const uint32_t *size)
{
  uint32_t base = curve == TOPO_CURVE_PEANO ? 3 : 2;
  uint32_t at[TOPO_CURVE_DIMENSIONS] = { 0 };
  Digits digits = { .n_dimensions = n_dimensions };
  g_autofree Coded *coded = NULL;
  uint32_t n_points = 1;
  uint32_t *order;

  g_assert (n_dimensions <= TOPO_CURVE_DIMENSIONS);
  for (uint32_t dimension = 0; dimension < n_dimensions; dimension++)
    n_points *= size[dimension];
  order = g_new (uint32_t, n_points);
  if (curve == TOPO_CURVE_HILBERT) {
    hilbert_new (order, n_dimensions, size);
    return order;
  }
  if (curve == TOPO_CURVE_SNAKE) {
    snake (order, n_points, n_dimensions, size);
    return order;
  }

  for (uint32_t dimension = 0; dimension < n_dimensions; dimension++) {
    for (uint64_t reach = 1; reach < size[dimension]; reach *= base)
      digits.n_digits[dimension]++;
    digits.n_levels = MAX (digits.n_levels, digits.n_digits[dimension]);
  }
  coded = g_new (Coded, n_points);
  for (uint32_t point = 0; point < n_points; point++) {
    uint64_t code =
        curve == TOPO_CURVE_PEANO ? peano_code (at, &digits) : morton_code (at, &digits);

    /* The place of a word in the reflected binary code. */
    for (uint32_t shift = 1; curve == TOPO_CURVE_GRAY && shift < 64; shift *= 2)
      code ^= code >> shift;
    coded[point] = (Coded){ code, point };
    for (uint32_t dimension = n_dimensions; dimension-- > 0; at[dimension] = 0)
      if (++at[dimension] < size[dimension])
        break;
  }
  qsort (coded, n_points, sizeof *coded, compare_codes);
  for (uint32_t k = 0; k < n_points; k++)
    order[k] = coded[k].point;
  return order;
}
