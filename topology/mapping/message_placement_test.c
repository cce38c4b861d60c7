/* message_placement_test.c - classes of placements against brute force over all automorphisms.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "topology/mapping/message_placement.h"

#include "topology/node/node_fixture.h"

#include <string.h>

#define MAX_PLACES  8
#define MAX_ORDERS  40320 /* 8! */
#define MAX_CLASSES 64

/* ---- brute force: every order of the places that keeps what they share ---- */

typedef struct {
  uint32_t n_places, n;
  uint8_t order[MAX_ORDERS][MAX_PLACES];
} Group;

static uint32_t
shared_levels (const TopoLevels *levels, uint32_t place, uint32_t other)
{
  uint32_t n = 0;

  for (uint32_t level = 0; level < levels->n_levels; level++)
    n += levels->level[level].group[place] == levels->level[level].group[other];
  return n;
}

static void
add_orders (Group *group, const TopoLevels *levels, uint8_t order[], uint32_t n)
{
  if (n == levels->n_places) {
    memcpy (group->order[group->n++], order, n);
    return;
  }
  for (uint8_t place = 0; place < levels->n_places; place++) {
    bool fits = true;

    for (uint32_t before = 0; before < n && fits; before++)
      fits = order[before] != place &&
             shared_levels (levels, before, n) == shared_levels (levels, order[before], place);
    order[n] = place;
    if (fits)
      add_orders (group, levels, order, n + 1);
  }
}

static Group *
group_new (const TopoLevels *levels)
{
  Group *group = g_new0 (Group, 1);
  uint8_t order[MAX_PLACES];

  g_assert_cmpuint (levels->n_places, <=, MAX_PLACES);
  group->n_places = levels->n_places;
  add_orders (group, levels, order, 0);
  return group;
}

/* The least number that the marks have in any order, pairs renamed as they are met. */
static uint64_t
class_by_force (const Group *group, const uint8_t mark[])
{
  uint64_t least = UINT64_MAX;

  for (uint32_t at = 0; at < group->n; at++) {
    uint8_t name[16] = { 0, 1, 2 }, next = TOPO_PLACE_PAIR;
    uint64_t number = 0;

    for (uint32_t place = 0; place < group->n_places; place++) {
      uint8_t it = mark[group->order[at][place]];

      if (it >= TOPO_PLACE_PAIR && name[it] == 0)
        name[it] = next++;
      number = number << 4 | name[it];
    }
    least = MIN (least, number);
  }
  return least;
}

/* Every placement of a kind, one by one. */
typedef struct {
  const Group *group;
  const TopoLevels *levels;
  uint64_t class[MAX_CLASSES];
  char *text[MAX_CLASSES]; /* what topo_placement_class() says of the same */
  uint32_t n;
} Force;

static void
force_note (Force *force, const uint8_t placed[])
{
  uint8_t mark[MAX_PLACES];
  uint64_t class;
  g_autofree char *text = NULL;

  for (uint32_t place = 0; place < force->levels->n_places; place++)
    mark[place] = placed[place] == TOPO_PLACE_CLOSED ? TOPO_PLACE_FREE : placed[place];
  class = class_by_force (force->group, mark);
  text = topo_placement_class (force->levels, mark);
  for (uint32_t at = 0; at < force->n; at++) {
    g_assert_true ((force->class[at] == class) == g_str_equal (force->text[at], text));
    if (force->class[at] == class)
      return;
  }
  g_assert_cmpuint (force->n, <, MAX_CLASSES);
  force->class[force->n] = class;
  force->text[force->n++] = g_steal_pointer (&text);
}

/* Puts what is left on free places, in any order. */
static void
force_all (Force *force, uint8_t mark[], TopoPlacementKind left)
{
  uint32_t n_places = force->group->n_places;

  if (left.n_observed + left.n_pairs + left.n_outside == 0) {
    force_note (force, mark);
    return;
  }
  for (uint32_t place = 0; place < n_places; place++) {
    TopoPlacementKind less = left;

    if (mark[place] != TOPO_PLACE_FREE)
      continue;
    mark[place] = left.n_observed > 0  ? TOPO_PLACE_OBSERVED
                  : left.n_outside > 0 ? TOPO_PLACE_OUTSIDE
                                       : (uint8_t) (TOPO_PLACE_PAIR + left.n_pairs - 1);
    less.n_observed -= left.n_observed > 0;
    less.n_outside -= left.n_observed == 0 && left.n_outside > 0;
    if (mark[place] < TOPO_PLACE_PAIR)
      force_all (force, mark, less);
    less.n_pairs--;
    for (uint32_t other = place + 1; mark[place] >= TOPO_PLACE_PAIR && other < n_places; other++)
      if (mark[other] == TOPO_PLACE_FREE) {
        mark[other] = mark[place];
        force_all (force, mark, less);
        mark[other] = TOPO_PLACE_FREE;
      }
    mark[place] = TOPO_PLACE_FREE;
  }
}

/* Bits of `closed`: places that stay free. */
static uint32_t
count_by_force (const TopoLevels *levels, const Group *group, TopoPlacementKind kind,
                uint32_t closed)
{
  Force force = { .group = group, .levels = levels };
  uint8_t mark[MAX_PLACES] = { 0 };

  for (uint32_t place = 0; place < levels->n_places; place++)
    mark[place] = closed >> place & 1 ? TOPO_PLACE_CLOSED : TOPO_PLACE_FREE;
  force_all (&force, mark, kind);
  for (uint32_t at = 0; at < force.n; at++)
    g_free (force.text[at]);
  return force.n;
}

static uint32_t
count (const TopoLevels *levels, TopoPlacementKind kind)
{
  g_autoptr (TopoPlacements) placements = topo_placements_new (levels, kind);

  return placements->n;
}

/* ---- tests ---- */

static TopoLevels *
levels_of (const char *description)
{
  g_autoptr (TopoNode) node = node_fixture_of (description);

  return topo_levels_new (node, false);
}

static TopoLevels *
harpertown (void)
{
  g_autoptr (TopoNode) node = topo_node_harpertown ();

  return topo_levels_new (node, false);
}

/* Counted elsewhere by brute force (infiniband.md section 0): 56 classes. */
static void
test_inside (void)
{
  static const uint32_t expected[] = { 3, 13, 27, 13 };
  g_autoptr (TopoLevels) levels = harpertown ();

  for (uint32_t n_pairs = 0; n_pairs < G_N_ELEMENTS (expected); n_pairs++)
    g_assert_cmpuint (count (levels, (TopoPlacementKind){ 2, n_pairs, 0 }), ==, expected[n_pairs]);
  g_assert_cmpuint (count (levels, (TopoPlacementKind){ 2, 4, 0 }), ==, 0);
}

/* The same source: 268 classes, by pairs of noise inside and ends of noise to other nodes. */
static void
test_between (void)
{
  static const uint32_t expected[4][8] = {
    { 1, 3, 6, 8, 8, 6, 3, 1 }, { 6, 17, 28, 28, 17, 6 }, { 16, 35, 35, 16 }, { 14, 14 }
  };
  g_autoptr (TopoLevels) levels = harpertown ();
  uint32_t all = 0;

  for (uint32_t n_pairs = 0; n_pairs < 4; n_pairs++)
    for (uint32_t n_outside = 0; n_outside < 8; n_outside++) {
      uint32_t n = count (levels, (TopoPlacementKind){ 1, n_pairs, n_outside });

      g_assert_cmpuint (n, ==, expected[n_pairs][n_outside]);
      all += n;
    }
  g_assert_cmpuint (all, ==, 268);
}

static void
assert_as_by_force (const TopoLevels *levels, uint32_t automorphisms)
{
  g_autofree Group *group = group_new (levels);

  g_assert_cmpuint (group->n, ==, automorphisms);
  for (uint32_t n_observed = 1; n_observed <= 2; n_observed++)
    for (uint32_t n_pairs = 0; n_observed + 2 * n_pairs <= levels->n_places; n_pairs++)
      for (uint32_t n_outside = 0; n_outside <= 2; n_outside++) {
        TopoPlacementKind kind = { n_observed, n_pairs, n_outside };

        g_assert_cmpuint (count (levels, kind), ==, count_by_force (levels, group, kind, 0));
      }
}

/* What fits where some places are closed: all sets of places of small trees. */
static void
assert_on_open_places (const TopoLevels *levels, TopoPlacementKind kind)
{
  g_autofree Group *group = group_new (levels);

  for (uint32_t closed = 0; closed < 1u << levels->n_places; closed++) {
    bool open[MAX_PLACES];
    g_autoptr (TopoPlacements) placements = NULL;

    for (uint32_t place = 0; place < levels->n_places; place++)
      open[place] = !(closed >> place & 1);
    placements = topo_placements_on (levels, kind, open);
    g_assert_cmpuint (placements->n, ==, count_by_force (levels, group, kind, closed));
    for (uint32_t at = 0; at < placements->n * levels->n_places; at++)
      g_assert_true (open[at % levels->n_places] || placements->mark[at] == TOPO_PLACE_FREE);
  }
}

static void
test_open_places (void)
{
  g_autoptr (TopoLevels) paper = harpertown (), unlike = levels_of ("package:2 l2:2 core:1 pu:1");

  assert_on_open_places (paper, (TopoPlacementKind){ 2, 1, 0 });
  assert_on_open_places (paper, (TopoPlacementKind){ 1, 1, 1 });
  assert_on_open_places (unlike, (TopoPlacementKind){ 1, 0, 2 });
}

/* Of cores that are all alike, nothing but numbers tells placements apart. */
static void
test_flat (void)
{
  static const uint32_t cpu[] = { 0, 2, 5, 7, 8 };
  g_autoptr (TopoLevels) levels = topo_levels_flat (cpu, G_N_ELEMENTS (cpu));
  g_autofree char *class = topo_placement_class (levels, (uint8_t[]){ 2, 0, 4, 1, 4 });

  g_assert_cmpuint (levels->cpu[3], ==, 7);
  g_assert_cmpuint (count (levels, (TopoPlacementKind){ 2, 1, 1 }), ==, 1);
  g_assert_cmpuint (count (levels, (TopoPlacementKind){ 2, 2, 0 }), ==, 0);
  g_assert_cmpstr (class, ==, "(#001#001.ox)");
}

/* Every placement, not only one of each class, in trees of several shapes. */
static void
test_by_force (void)
{
  static const struct {
    const char *description;
    uint32_t automorphisms;
  } trees[] = {
    { "core:5 pu:1", 120 },
    { "pack:2 core:3 pu:1", 72 },
    { "pack:3 core:2 pu:1", 48 },
    { "pack:4 core:2 pu:1", 384 },
    { "pack:2 numa:3 core:1 pu:1", 72 },
    { "numa:2 pack:1 l2:2(size=6291456) core:2 pu:1", 128 },
  };

  for (gsize at = 0; at < G_N_ELEMENTS (trees); at++) {
    g_autoptr (TopoLevels) levels = levels_of (trees[at].description);

    assert_as_by_force (levels, trees[at].automorphisms);
  }
}

/* Groups of one, two and three: only what is alike can be exchanged. */
static void
test_unlike_groups (void)
{
  uint32_t groups[] = { 0, 1, 1, 2, 2, 2 }, places[] = { 0, 1, 2, 3, 4, 5 };
  TopoLevels levels = { .n_places = 6,
                        .n_levels = 2,
                        .level = { { NULL, 3, groups }, { NULL, 6, places } } };

  assert_as_by_force (&levels, 12);
}

/* Which pair is the observed one matters, the order of the others and of ends does not. */
static void
test_names_do_not_matter (void)
{
  static const uint8_t one[] = { 1, 3, 3, 1, 4, 5, 4, 5 }, other[] = { 5, 4, 4, 5, 3, 1, 3, 1 };
  static const uint8_t apart[] = { 3, 1, 1, 3, 4, 5, 4, 5 }, noisy[] = { 1, 1, 3, 4, 3, 4, 5, 5 };
  g_autoptr (TopoLevels) levels = harpertown ();
  g_autofree char *class = topo_placement_class (levels, one);
  g_autofree char *same = topo_placement_class (levels, other);
  g_autofree char *unlike = topo_placement_class (levels, apart);
  g_autofree char *third = topo_placement_class (levels, noisy);

  g_assert_cmpstr (class, ==, same);
  g_assert_cmpstr (class, ==, unlike); /* dies changed within the first socket */
  g_assert_cmpstr (class, !=, third);
}

/* Pairs from one socket of two cores to the next, in rings of so many sockets; the first pair
 * has the number `shift`. */
static char *
class_of_rings (const TopoLevels *levels, const uint32_t rings[], uint32_t shift)
{
  uint8_t mark[16];
  uint32_t first = 0;

  for (uint32_t ring = 0; first < 8; first += rings[ring++])
    for (uint32_t at = 0; at < rings[ring]; at++) {
      uint8_t pair = (uint8_t) (TOPO_PLACE_PAIR + (first + at + shift) % 8);

      mark[2 * (first + at)] = pair;
      mark[2 * (first + (at + 1) % rings[ring]) + 1] = pair;
    }
  return topo_placement_class (levels, mark);
}

/* No pair of a ring can be exchanged with another alone, and all look alike at first. */
static void
test_rings (void)
{
  static const uint32_t all[][3] = { { 8 }, { 3, 5 }, { 5, 3 }, { 4, 4 }, { 2, 6 }, { 6, 2 } };
  g_autoptr (TopoLevels) levels = levels_of ("pack:8 core:2 pu:1");

  for (gsize at = 0; at < G_N_ELEMENTS (all); at++)
    for (gsize other = 0; other <= at; other++)
      for (uint32_t shift = 0; shift < 8; shift++) {
        g_autofree char *class = class_of_rings (levels, all[at], 0);
        g_autofree char *moved = class_of_rings (levels, all[other], shift);
        bool is_same = at == other || all[at][0] == all[other][1];

        g_assert_true (g_str_equal (class, moved) == is_same);
      }
}

/* Far too many automorphisms to try, 2 x (20!)^2.  Where pairs lie is all that counts: the
 * observed one within a socket (a in its own, b in the other, c across) or across. */
static void
test_large_node (void)
{
  g_autoptr (TopoLevels) levels = levels_of ("pack:2 l3:1(size=8388608) core:20 pu:1");
  uint8_t mark[40];
  g_autofree char *class = NULL;

  /* Within: C(n + 2, 2) ways to part n pairs; across: the sockets are alike, so a and b
   * unordered. */
  g_assert_cmpuint (count (levels, (TopoPlacementKind){ 2, 0, 0 }), ==, 2);
  g_assert_cmpuint (count (levels, (TopoPlacementKind){ 2, 1, 0 }), ==, 3 + 2);
  g_assert_cmpuint (count (levels, (TopoPlacementKind){ 2, 2, 0 }), ==, 6 + 4);
  g_assert_cmpuint (count (levels, (TopoPlacementKind){ 2, 3, 0 }), ==, 10 + 6);
  /* A full node: twenty pairs, all across. */
  for (uint32_t place = 0; place < 40; place++)
    mark[place] =
        (uint8_t) (place % 20 == 0 ? TOPO_PLACE_OBSERVED : TOPO_PLACE_PAIR + place % 20 - 1);
  class = topo_placement_class (levels, mark);
  g_assert_true (g_str_has_prefix (class, "((#001#002#003"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/topology/placement/inside", test_inside);
  g_test_add_func ("/topology/placement/between", test_between);
  g_test_add_func ("/topology/placement/by-force", test_by_force);
  g_test_add_func ("/topology/placement/unlike-groups", test_unlike_groups);
  g_test_add_func ("/topology/placement/names", test_names_do_not_matter);
  g_test_add_func ("/topology/placement/rings", test_rings);
  g_test_add_func ("/topology/placement/large-node", test_large_node);
  g_test_add_func ("/topology/placement/open-places", test_open_places);
  g_test_add_func ("/topology/placement/flat", test_flat);
  return g_test_run ();
}
