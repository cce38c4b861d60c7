/* curve_test.c - curves against their definitions.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "topology/recipe/recipe_private.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

static uint32_t
volume_of (uint32_t n_dimensions, const uint32_t *size)
{
  uint32_t volume = 1;

  for (uint32_t dimension = 0; dimension < n_dimensions; dimension++)
    volume *= size[dimension];
  return volume;
}

/* In how many dimensions two points differ, and by how much in all. */
static void
compare_points (uint32_t first, uint32_t second, uint32_t n_dimensions, const uint32_t *size,
                uint32_t *n_changed, uint32_t *distance)
{
  *n_changed = *distance = 0;
  for (uint32_t dimension = n_dimensions; dimension-- > 0;) {
    int step = (int) (first % size[dimension]) - (int) (second % size[dimension]);

    *n_changed += step != 0;
    *distance += (uint32_t) abs (step);
    first /= size[dimension];
    second /= size[dimension];
  }
}

static void
assert_every_point_once (const uint32_t *order, uint32_t n_points)
{
  g_autofree bool *seen = g_new0 (bool, n_points);

  for (uint32_t k = 0; k < n_points; k++) {
    g_assert_cmpuint (order[k], <, n_points);
    g_assert_false (seen[order[k]]);
    seen[order[k]] = true;
  }
}

/* Steps of more than one hop. */
static uint32_t
count_jumps (TopoCurve curve, uint32_t n_dimensions, const uint32_t *size)
{
  g_autofree uint32_t *order = topo_curve_new (curve, n_dimensions, size);
  uint32_t n_points = volume_of (n_dimensions, size), n_jumps = 0;

  assert_every_point_once (order, n_points);
  g_assert_cmpuint (order[0], ==, 0);
  for (uint32_t k = 1; k < n_points; k++) {
    uint32_t n_changed, distance;

    compare_points (order[k - 1], order[k], n_dimensions, size, &n_changed, &distance);
    n_jumps += distance != 1;
  }
  return n_jumps;
}

static void
assert_order (TopoCurve curve, uint32_t rows, uint32_t columns, const uint32_t *expected)
{
  const uint32_t size[] = { rows, columns };
  g_autofree uint32_t *order = topo_curve_new (curve, 2, size);

  for (uint32_t k = 0; k < rows * columns; k++)
    g_assert_cmpuint (order[k], ==, expected[k]);
}

/* --- Hilbert --- */

/* Hilbert's curve as a turtle draws it: A -> +BF-AFA-FB+, B -> -AF+BFB+FA-. */
typedef struct {
  uint32_t side, n;
  int row, column, down, right; /* where it is, and which way it looks */
  uint32_t *order;
} Turtle;

static void
forward (Turtle *turtle)
{
  turtle->row += turtle->down;
  turtle->column += turtle->right;
  turtle->order[turtle->n++] = (uint32_t) turtle->row * turtle->side + (uint32_t) turtle->column;
}

static void
turn (Turtle *turtle, int way)
{
  int down = turtle->down;

  turtle->down = way * turtle->right;
  turtle->right = -way * down;
}

static void
draw (Turtle *turtle, uint32_t level, int way)
{
  if (level == 0)
    return;
  turn (turtle, way);
  draw (turtle, level - 1, -way);
  forward (turtle);
  turn (turtle, -way);
  draw (turtle, level - 1, way);
  forward (turtle);
  draw (turtle, level - 1, way);
  turn (turtle, -way);
  forward (turtle);
  draw (turtle, level - 1, -way);
  turn (turtle, way);
}

static void
test_hilbert_is_hilberts (void)
{
  for (uint32_t level = 1; level <= 6; level++) {
    uint32_t side = 1u << level;
    g_autofree uint32_t *drawn = g_new0 (uint32_t, (gsize) side * side);
    Turtle turtle = { .side = side, .n = 1, .down = 1, .order = drawn };

    draw (&turtle, level, -1);
    g_assert_cmpuint (turtle.n, ==, side * side);
    assert_order (TOPO_CURVE_HILBERT, side, side, drawn);
  }
}

/* Every block of 2 x 2 x 2, and of 4 x 4 x 4, is walked in one go. */
static void
test_hilbert_stays_in_blocks (void)
{
  static const uint32_t size[] = { 16, 16, 16 };
  g_autofree uint32_t *order = topo_curve_new (TOPO_CURVE_HILBERT, 3, size);

  for (uint32_t side = 2; side <= 4; side *= 2)
    for (uint32_t k = 0; k < 4096; k++) {
      uint32_t first = order[k / (side * side * side) * (side * side * side)];

      g_assert_cmpuint (order[k] / 256 / side, ==, first / 256 / side);
      g_assert_cmpuint (order[k] / 16 % 16 / side, ==, first / 16 % 16 / side);
      g_assert_cmpuint (order[k] % 16 / side, ==, first % 16 / side);
    }
}

static void
test_hilbert_never_jumps (void)
{
  for (uint32_t rows = 1; rows <= 24; rows++)
    for (uint32_t columns = 1; columns <= 24; columns++)
      g_assert_cmpuint (count_jumps (TOPO_CURVE_HILBERT, 2, (const uint32_t[]){ rows, columns }),
                        ==, 0);
  for (uint32_t n = 0; n < 1000; n++) {
    uint32_t n_dimensions = (uint32_t) g_test_rand_int_range (1, 7);
    uint32_t size[6];

    for (uint32_t dimension = 0; dimension < n_dimensions; dimension++)
      size[dimension] = (uint32_t) g_test_rand_int_range (1, n_dimensions > 4 ? 6 : 10);
    g_assert_cmpuint (count_jumps (TOPO_CURVE_HILBERT, n_dimensions, size), ==, 0);
  }
}

/* Partitions of Blue Gene/Q, a whole Sequoia among them. */
static void
test_hilbert_on_partitions (void)
{
  static const uint32_t sizes[][5] = {
    { 2, 2, 2, 2, 2 }, { 4, 4, 4, 8, 2 }, { 4, 8, 4, 16, 2 }, { 16, 16, 16, 12, 2 }
  };

  for (gsize at = 0; at < G_N_ELEMENTS (sizes); at++)
    g_assert_cmpuint (count_jumps (TOPO_CURVE_HILBERT, 5, sizes[at]), ==, 0);
}

/* Mean distance of points that are eight steps apart. */
static double
mean_distance (TopoCurve curve, uint32_t rows, uint32_t columns)
{
  const uint32_t size[] = { rows, columns };
  g_autofree uint32_t *order = topo_curve_new (curve, 2, size);
  uint64_t sum = 0;

  for (uint32_t k = 8; k < rows * columns; k++) {
    uint32_t n_changed, distance;

    compare_points (order[k - 8], order[k], 2, size, &n_changed, &distance);
    sum += distance;
  }
  return (double) sum / (rows * columns - 8);
}

/* Sizes that are no powers of two are walked as compactly: no thin slices. */
static void
test_hilbert_is_compact (void)
{
  static const uint32_t sizes[][2] = { { 17, 17 }, { 12, 10 }, { 31, 33 }, { 100, 90 } };
  double square = mean_distance (TOPO_CURVE_HILBERT, 16, 16);

  for (gsize at = 0; at < G_N_ELEMENTS (sizes); at++) {
    double mean = mean_distance (TOPO_CURVE_HILBERT, sizes[at][0], sizes[at][1]);

    g_assert_cmpfloat (mean, <, 1.05 * square);
    g_assert_cmpfloat (mean, <, 0.7 * mean_distance (TOPO_CURVE_SNAKE, sizes[at][0], sizes[at][1]));
  }
}

/* --- The others --- */

static void
test_snake (void)
{
  static const uint32_t expected[] = { 0, 1, 2, 5, 4, 3, 6, 7, 8, 11, 10, 9 };
  static const uint32_t size[] = { 3, 4, 5, 2, 1, 3 };

  assert_order (TOPO_CURVE_SNAKE, 4, 3, expected);
  g_assert_cmpuint (count_jumps (TOPO_CURVE_SNAKE, 6, size), ==, 0);
}

/* Peano's figure of 1890: three columns of a square, up, down, up. */
static void
test_peano (void)
{
  static const uint32_t expected[] = { 0, 1, 2, 5, 4, 3, 6, 7, 8 };
  static const uint32_t size[] = { 9, 3, 27 };

  assert_order (TOPO_CURVE_PEANO, 3, 3, expected);
  g_assert_cmpuint (count_jumps (TOPO_CURVE_PEANO, 3, size), ==, 0);
}

/* Blocks of 9 x 9 follow the curve of 3 x 3. */
static void
test_peano_nests (void)
{
  static const uint32_t small[] = { 0, 1, 2, 5, 4, 3, 6, 7, 8 };
  static const uint32_t size[] = { 9, 9 };
  g_autofree uint32_t *order = topo_curve_new (TOPO_CURVE_PEANO, 2, size);

  g_assert_cmpuint (count_jumps (TOPO_CURVE_PEANO, 2, size), ==, 0);
  for (uint32_t k = 0; k < 81; k++)
    g_assert_cmpuint (order[k] / 27 * 3 + order[k] % 9 / 3, ==, small[k / 9]);
}

/* What is not in the box is passed over: 2 x 2 of the 3 x 3 above. */
static void
test_peano_of_other_sizes (void)
{
  static const uint32_t expected[] = { 0, 1, 3, 2 };

  assert_order (TOPO_CURVE_PEANO, 2, 2, expected);
}

/* Bit pairs (column, row): 00 01 11 10, the row's bit being the lowest. */
static void
test_gray (void)
{
  static const uint32_t expected[] = { 0, 2, 3, 1 };
  static const uint32_t size[] = { 8, 4, 16 };
  g_autofree uint32_t *order = topo_curve_new (TOPO_CURVE_GRAY, 3, size);

  assert_order (TOPO_CURVE_GRAY, 2, 2, expected);
  assert_every_point_once (order, 512);
  for (uint32_t k = 1; k < 512; k++) {
    uint32_t n_changed, distance;

    compare_points (order[k - 1], order[k], 3, size, &n_changed, &distance);
    g_assert_cmpuint (n_changed, ==, 1);
    g_assert_cmpuint (distance & (distance - 1), ==, 0);
  }
}

/* By hand: codes count rows in the low bit of each pair. */
static void
test_zorder (void)
{
  static const uint32_t four[] = { 0, 4, 1, 5, 8, 12, 9, 13, 2, 6, 3, 7, 10, 14, 11, 15 };
  static const uint32_t three[] = { 0, 3, 1, 4, 6, 7, 2, 5, 8 };

  assert_order (TOPO_CURVE_ZORDER, 4, 4, four);
  assert_order (TOPO_CURVE_ZORDER, 3, 3, three);
}

/* Eight dimensions, a very long one, and boxes of one point. */
static void
test_extremes (void)
{
  static const uint32_t eight[] = { 2, 3, 1, 4, 2, 1, 3, 2 }, line[] = { 1, 100003, 1 };
  static const uint32_t points[] = { 1, 1 };

  for (TopoCurve curve = 0; curve < TOPO_N_CURVES; curve++) {
    g_autofree uint32_t *point = topo_curve_new (curve, 2, points);

    g_assert_cmpuint (point[0], ==, 0);
    count_jumps (curve, 8, eight);
    if (curve != TOPO_CURVE_GRAY)
      g_assert_cmpuint (count_jumps (curve, 3, line), ==, 0);
  }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/topology/curve/hilbert-is-hilberts", test_hilbert_is_hilberts);
  g_test_add_func ("/topology/curve/hilbert-blocks", test_hilbert_stays_in_blocks);
  g_test_add_func ("/topology/curve/hilbert-never-jumps", test_hilbert_never_jumps);
  g_test_add_func ("/topology/curve/hilbert-on-partitions", test_hilbert_on_partitions);
  g_test_add_func ("/topology/curve/hilbert-is-compact", test_hilbert_is_compact);
  g_test_add_func ("/topology/curve/snake", test_snake);
  g_test_add_func ("/topology/curve/peano", test_peano);
  g_test_add_func ("/topology/curve/peano-nests", test_peano_nests);
  g_test_add_func ("/topology/curve/peano-other-sizes", test_peano_of_other_sizes);
  g_test_add_func ("/topology/curve/gray", test_gray);
  g_test_add_func ("/topology/curve/zorder", test_zorder);
  g_test_add_func ("/topology/curve/extremes", test_extremes);
  return g_test_run ();
}
