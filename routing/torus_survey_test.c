/* torus_survey_test.c - surveys against hand-worked rings and against each other.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "routing/torus_survey.h"

#include <glib.h>

G_DEFINE_AUTOPTR_CLEANUP_FUNC (RouteSurvey, route_survey_free)

typedef struct {
  uint32_t n_dimensions;
  uint32_t size[TOPO_MAX_DIMENSIONS];
  bool wrap[TOPO_MAX_DIMENSIONS];
} Case;

static RouteSurvey *
survey_of (const Case *shape_case, bool every_pair)
{
  TopoShape shape = { .n_dimensions = shape_case->n_dimensions };
  RouteTorus route;

  for (uint32_t dimension = 0; dimension < shape.n_dimensions; dimension++) {
    shape.size[dimension] = shape_case->size[dimension];
    shape.wrap[dimension] = shape_case->wrap[dimension];
  }
  route_torus_init (&route, &shape);
  return route_survey_new (&route, every_pair);
}

/* Four nodes in a ring: the eight pairs of neighbours use a link each; of
 * the four opposite pairs those that start at 0 and 2 go up, at 1 and 3 down,
 * so each of the eight links carries one neighbour and one opposite pair, and
 * no direction closes: going up, nothing goes on from 1 to 2 to 3. */
static void
test_ring_of_four (void)
{
  const Case ring = { 1, { 4 }, { true } };
  g_autoptr (RouteSurvey) survey = survey_of (&ring, true);

  g_assert_cmpuint (survey->pairs, ==, 12);
  g_assert_cmpuint (survey->unreachable, ==, 0);
  g_assert_cmpuint (survey->max_hops, ==, 2);
  g_assert_cmpuint (survey->pairs_by_hops[1], ==, 8);
  g_assert_cmpuint (survey->pairs_by_hops[2], ==, 4);
  g_assert_cmpuint (survey->links, ==, 8);
  g_assert_cmpuint (survey->load_min, ==, 2);
  g_assert_cmpuint (survey->load_max, ==, 2);
  g_assert_cmpuint (survey->bubble_rings, ==, 0);
}

/* Five nodes in a ring: no ties; each link carries the pair at distance 1 and
 * the two at distance 2 that pass it, and both directions close. */
static void
test_ring_of_five (void)
{
  const Case ring = { 1, { 5 }, { true } };
  g_autoptr (RouteSurvey) survey = survey_of (&ring, true);

  g_assert_cmpuint (survey->pairs_by_hops[1], ==, 10);
  g_assert_cmpuint (survey->pairs_by_hops[2], ==, 10);
  g_assert_cmpuint (survey->load_min, ==, 3);
  g_assert_cmpuint (survey->load_max, ==, 3);
  g_assert_cmpuint (survey->bubble_rings, ==, 2);
  g_assert_cmpuint (survey->credit_loops, ==, 0);
}

/* Four nodes in a row: link x is passed by (x + 1) * (3 - x) pairs in each
 * direction: 3, 4, 3. */
static void
test_row_of_four (void)
{
  const Case row = { 1, { 4 }, { false } };
  g_autoptr (RouteSurvey) survey = survey_of (&row, true);

  g_assert_cmpuint (survey->links, ==, 6);
  g_assert_cmpuint (survey->pairs_by_hops[3], ==, 2);
  g_assert_cmpuint (survey->load_min, ==, 3);
  g_assert_cmpfloat (survey->load_median, ==, 3);
  g_assert_cmpuint (survey->load_max, ==, 4);
  g_assert_cmpuint (survey->bubble_rings, ==, 0);
}

/* Two nodes with two cables between them: even 0 goes plus, odd 1 goes
 * minus, so one of the cables carries both and the other nothing. */
static void
test_pair_uses_one_cable (void)
{
  const Case pair = { 1, { 2 }, { true } };
  g_autoptr (RouteSurvey) survey = survey_of (&pair, true);

  g_assert_cmpuint (survey->links, ==, 4);
  g_assert_cmpuint (survey->load_min, ==, 0);
  g_assert_cmpfloat (survey->load_median, ==, 0.5);
  g_assert_cmpuint (survey->load_max, ==, 1);
}

static const Case cases[] = {
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
    RouteSurvey *walked = survey_of (&cases[i], true);
    RouteSurvey *derived = survey_of (&cases[i], false);

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
    route_survey_free (walked);
    route_survey_free (derived);
  }
}

/* In an even ring of n nodes the way is n/4 long on average over all pairs,
 * equal ones included; 16 x 12 x 16 x 16 x 2 adds up to 15.5. */
static void
test_largest_machine_has_its_mean_distance (void)
{
  const Case sequoia = { 5, { 16, 12, 16, 16, 2 }, { true, true, true, true, true } };
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
  RouteSurvey *survey;

  route_torus_init (&route, &shape);
  route.next_dimension[3] = 0;
  route.next_dimension[6] = 1;
  route.next_dimension[5] = 2;
  survey = route_survey_new (&route, true);
  g_assert_cmpuint (survey->unreachable, ==, 0);
  g_assert_cmpuint (survey->credit_loops, >, 0);
  route_survey_free (survey);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/routing/survey/ring-of-four", test_ring_of_four);
  g_test_add_func ("/routing/survey/ring-of-five", test_ring_of_five);
  g_test_add_func ("/routing/survey/row-of-four", test_row_of_four);
  g_test_add_func ("/routing/survey/pair-uses-one-cable", test_pair_uses_one_cable);
  g_test_add_func ("/routing/survey/derived-is-walked", test_derived_is_walked);
  g_test_add_func ("/routing/survey/largest-machine-has-its-mean-distance",
                   test_largest_machine_has_its_mean_distance);
  g_test_add_func ("/routing/survey/bad-order-has-loops", test_bad_order_has_loops);
  return g_test_run ();
}
