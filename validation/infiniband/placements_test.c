/* placements_test.c - the classes of pairs in a node, against counts and hand-made cases.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "validation/infiniband/infiniband.h"

#define SYMMETRIES 128 /* 2 sockets, 2 x 2 dies, 4 x 2 cores to swap: 2^7 */

/* Bits of a symmetry: 0 swaps the sockets, 1 and 2 the dies of a socket, 3 to
 * 6 the cores of a die. */
static uint32_t
moved (uint32_t core, uint32_t symmetry)
{
  uint32_t die = core / 2, socket = core / 4;

  return core ^ (symmetry & 1u) * 4 ^ (symmetry >> (1 + socket) & 1u) * 2 ^
         (symmetry >> (3 + die) & 1u);
}

/* Each core's pair as a digit: 0 none, 1 the observed one, and the others
 * from 2 on in the order in which they are met, as they are alike. */
static uint64_t
digits (const uint8_t pair_of[IB_CORES])
{
  uint8_t name[2 + IB_MAX_NOISE] = { 0, 1 }, next = 2;
  uint64_t number = 0;

  for (uint32_t core = 0; core < IB_CORES; core++) {
    uint8_t pair = pair_of[core];

    if (pair > 1 && name[pair] == 0)
      name[pair] = next++;
    number = number << 4 | name[pair];
  }
  return number;
}

/* Equal for placements of one class and for no others: by force, so that it knows nothing of
 * how the classes were found. */
static uint64_t
class_by_force (const IbPlacement *placement)
{
  uint64_t least = UINT64_MAX;

  for (uint32_t symmetry = 0; symmetry < SYMMETRIES; symmetry++) {
    uint8_t pair_of[IB_CORES] = { 0 };

    for (uint8_t pair = 0; pair < placement->n_pairs; pair++)
      for (uint32_t end = 0; end < 2; end++)
        pair_of[moved (placement->pair[pair][end], symmetry)] = (uint8_t) (pair + 1);
    least = MIN (least, digits (pair_of));
  }
  return least;
}

static const uint32_t n_classes[] = { 3, 13, 27, 13 };

/* Brute force elsewhere counts 3, 13, 27 and 13 (reference, section 0). */
static void
test_counts (void)
{
  IbPlacement classes[IB_MAX_PLACEMENTS];

  for (uint32_t n_noise = 0; n_noise < G_N_ELEMENTS (n_classes); n_noise++)
    g_assert_cmpuint (ib_placements (n_noise, classes), ==, n_classes[n_noise]);
}

static void
test_classes_are_placements (void)
{
  for (uint32_t n_noise = 0; n_noise <= IB_MAX_NOISE; n_noise++) {
    IbPlacement classes[IB_MAX_PLACEMENTS];
    uint32_t n = ib_placements (n_noise, classes);

    for (uint32_t i = 0; i < n; i++) {
      uint32_t used = 0;

      g_assert_cmpuint (classes[i].n_pairs, ==, 1 + n_noise);
      for (uint32_t pair = 0; pair <= n_noise; pair++)
        for (uint32_t end = 0; end < 2; end++) {
          g_assert_cmpuint (classes[i].pair[pair][end], <, IB_CORES);
          g_assert_cmpuint (used >> classes[i].pair[pair][end] & 1u, ==, 0);
          used |= 1u << classes[i].pair[pair][end];
        }
      for (uint32_t other = 0; other < i; other++)
        g_assert_cmpuint (class_by_force (&classes[i]), !=, class_by_force (&classes[other]));
    }
  }
}

static uint64_t
class_of (uint8_t a, uint8_t b, uint8_t c, uint8_t d)
{
  return class_by_force (&(IbPlacement){ 2, { { a, b }, { c, d } } });
}

/* The three places of a pair: one die, one socket, two sockets. */
static void
test_pairs_by_distance (void)
{
  for (uint8_t a = 0; a < IB_CORES; a++)
    for (uint8_t b = 0; b < IB_CORES; b++) {
      uint8_t near = a / 2 == b / 2 ? 1 : a / 4 == b / 4 ? 2 : 4;

      if (a != b)
        g_assert_cmpuint (class_by_force (&(IbPlacement){ 1, { { a, b } } }), ==,
                          class_by_force (&(IbPlacement){ 1, { { 0, near } } }));
    }
}

/* Which of two pairs is the observed one matters, its order does not. */
static void
test_observed_pair_is_apart (void)
{
  g_assert_cmpuint (class_of (0, 1, 2, 4), !=, class_of (2, 4, 0, 1));
  g_assert_cmpuint (class_of (0, 1, 4, 5), ==, class_of (5, 4, 1, 0));
  g_assert_cmpuint (class_of (0, 1, 2, 3), ==, class_of (6, 7, 5, 4));
  g_assert_cmpuint (class_of (0, 1, 2, 3), !=, class_of (0, 1, 4, 5));
  g_assert_cmpuint (class_of (0, 2, 1, 3), !=, class_of (0, 2, 4, 6));
}

/* Placements, not classes: 28 pairs, then 15, 6 and 1 ways for each further
 * one, in any order.  Each belongs to one of the classes. */
static void
test_every_placement_has_its_class (void)
{
  IbPlacement classes[IB_MAX_PLACEMENTS];
  uint32_t n = ib_placements (1, classes), met[IB_MAX_PLACEMENTS] = { 0 }, all = 0;

  for (uint8_t a = 0; a < 8; a++)
    for (uint8_t b = a + 1; b < 8; b++)
      for (uint8_t c = 0; c < 8; c++)
        for (uint8_t d = c + 1; d < 8; d++) {
          uint32_t matches = 0;

          if (c == a || c == b || d == a || d == b)
            continue;
          all++;
          for (uint32_t i = 0; i < n; i++)
            if (class_of (a, b, c, d) == class_by_force (&classes[i])) {
              matches++;
              met[i]++;
            }
          g_assert_cmpuint (matches, ==, 1);
        }
  g_assert_cmpuint (all, ==, 28 * 15);
  for (uint32_t i = 0; i < n; i++)
    g_assert_cmpuint (met[i], >, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/validation/placements/counts", test_counts);
  g_test_add_func ("/validation/placements/classes-are-placements", test_classes_are_placements);
  g_test_add_func ("/validation/placements/pairs-by-distance", test_pairs_by_distance);
  g_test_add_func ("/validation/placements/observed-pair-is-apart", test_observed_pair_is_apart);
  g_test_add_func ("/validation/placements/every-placement-has-its-class",
                   test_every_placement_has_its_class);
  return g_test_run ();
}
