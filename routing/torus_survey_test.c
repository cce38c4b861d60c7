/* torus_survey_test.c - surveys against hand-worked rings and against each other.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "routing/torus_survey.h"

#include <glib.h>

G_DEFINE_AUTOPTR_CLEANUP_FUNC (RouteSurvey, route_survey_free)

static RouteSurvey *
survey_of (const TopoShape *shape, bool every_pair)
{
  RouteTorus route;

  route_torus_init (&route, shape);
  return route_survey_new (&route, every_pair);
}

static void
test_by_hand (void)
{
  static const struct {
    const char *name;
    TopoShape shape;
    uint64_t pairs_by_hops[4]; /* 0 ends it */
    uint32_t links;
    uint64_t load_min, load_max;
    double load_median;
    uint32_t bubble_rings;
  } by_hand[] = {
    /* The eight pairs of neighbours use a link each; of the four opposite pairs those that
     * start at 0 and 2 go up, at 1 and 3 down, so each of the eight links carries one
     * neighbour and one opposite pair, and no direction closes: going up, nothing goes on
     * from 1 to 2 to 3. */
    { "a ring of four", { 1, { 4 }, { true } }, { 8, 4 }, 8, 2, 2, 2, 0 },
    /* No ties; each link carries the pair at distance 1 and the two at distance 2 that pass
     * it, and both directions close. */
    { "a ring of five", { 1, { 5 }, { true } }, { 10, 10 }, 10, 3, 3, 3, 2 },
    /* Link x is passed by (x + 1) * (3 - x) pairs in each direction: 3, 4, 3. */
    { "a row of four", { 1, { 4 }, { false } }, { 6, 4, 2 }, 6, 3, 4, 3, 0 },
    /* Two cables: even 0 goes plus, odd 1 goes minus, so one of the cables carries both
     * pairs and the other nothing. */
    { "a pair", { 1, { 2 }, { true } }, { 2 }, 4, 0, 1, 0.5, 0 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (by_hand); i++) {
    g_autoptr (RouteSurvey) survey = survey_of (&by_hand[i].shape, true);
    uint32_t hops = 0;
    uint64_t pairs = 0;

    g_test_message ("%s", by_hand[i].name);
    for (; by_hand[i].pairs_by_hops[hops] > 0; hops++) {
      g_assert_cmpuint (survey->pairs_by_hops[hops + 1], ==, by_hand[i].pairs_by_hops[hops]);
      pairs += by_hand[i].pairs_by_hops[hops];
    }
    g_assert_cmpuint (survey->max_hops, ==, hops);
    g_assert_cmpuint (survey->pairs, ==, pairs);
    g_assert_cmpuint (survey->unreachable, ==, 0);
    g_assert_cmpuint (survey->links, ==, by_hand[i].links);
    g_assert_cmpuint (survey->load_min, ==, by_hand[i].load_min);
    g_assert_cmpfloat (survey->load_median, ==, by_hand[i].load_median);
    g_assert_cmpuint (survey->load_max, ==, by_hand[i].load_max);
    g_assert_cmpuint (survey->bubble_rings, ==, by_hand[i].bubble_rings);
    g_assert_cmpuint (survey->credit_loops, ==, 0);
  }
}

static const TopoShape cases[] = {
  { 5, { 4, 4, 4, 4, 2 }, { true, true, true, true, true } },
  { 5, { 2, 2, 4, 2, 2 }, { false, false, true, false, true } },
  { 3, { 5, 4, 3 }, { true, true, true } },
  { 3, { 6, 1, 4 }, { true, true, false } },
  { 3, { 4, 6, 2 }, { true, false, true } },
  { 2, { 1, 8 }, { true, true } },
  { 1, { 9 }, { true } },
  { 1, { 1 }, { true } },
  { 6, { 3, 2, 3, 2, 3, 4 }, { true, true, false, true, true, true } },
};

static void
test_derived_is_walked (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (RouteSurvey) walked = survey_of (&cases[i], true);
    g_autoptr (RouteSurvey) derived = survey_of (&cases[i], false);

    g_assert_cmpuint (walked->unreachable, ==, 0);
    g_assert_cmpuint (derived->pairs, ==, walked->pairs);
    g_assert_cmpuint (derived->max_hops, ==, walked->max_hops);
    for (uint32_t hops = 0; hops <= walked->max_hops; hops++)
      g_assert_cmpuint (derived->pairs_by_hops[hops], ==, walked->pairs_by_hops[hops]);
    g_assert_cmpuint (derived->links, ==, walked->links);
    g_assert_cmpuint (derived->load_min, ==, walked->load_min);
    g_assert_cmpfloat (derived->load_median, ==, walked->load_median);
    g_assert_cmpuint (derived->load_max, ==, walked->load_max);
    g_assert_cmpuint (derived->bubble_rings, ==, walked->bubble_rings);
    g_assert_cmpuint (derived->credit_loops, ==, walked->credit_loops);
  }
}

/* In an even ring of n nodes the way is n/4 long on average over all pairs,
 * equal ones included; 16 x 12 x 16 x 16 x 2 adds up to 15.5. */
static void
test_largest_machine_has_its_mean_distance (void)
{
  const TopoShape sequoia = { 5, { 16, 12, 16, 16, 2 }, { true, true, true, true, true } };
  g_autoptr (RouteSurvey) survey = survey_of (&sequoia, false);
  uint64_t n = 98304, hops = 0, pairs = 0;

  for (uint32_t length = 0; length <= survey->max_hops; length++) {
    hops += length * survey->pairs_by_hops[length];
    pairs += survey->pairs_by_hops[length];
  }
  g_assert_cmpuint (survey->pairs, ==, n * (n - 1));
  g_assert_cmpuint (pairs, ==, survey->pairs);
  g_assert_cmpuint (hops, ==, n * n / 2 * 31);
}

/* A routing that breaks the order of dimensions (A before B, B before C, C
 * before A when two are left) has loops that no bubble rule guards. */
static void
test_bad_order_has_loops (void)
{
  TopoShape shape = { 3, { 3, 3, 3 }, { true, true, true } };
  RouteTorus route;
  g_autoptr (RouteSurvey) survey = NULL;

  route_torus_init (&route, &shape);
  route.next_dimension[3] = 0;
  route.next_dimension[6] = 1;
  route.next_dimension[5] = 2;
  survey = route_survey_new (&route, true);
  g_assert_cmpuint (survey->unreachable, ==, 0);
  g_assert_cmpuint (survey->credit_loops, >, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/routing/survey/by-hand", test_by_hand);
  g_test_add_func ("/routing/survey/derived-is-walked", test_derived_is_walked);
  g_test_add_func ("/routing/survey/largest-machine-has-its-mean-distance",
                   test_largest_machine_has_its_mean_distance);
  g_test_add_func ("/routing/survey/bad-order-has-loops", test_bad_order_has_loops);
  return g_test_run ();
}
