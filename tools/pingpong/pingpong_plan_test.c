/* pingpong_plan_test.c - who does what in each class, read back from who speaks to whom.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/pingpong/pingpong.h"

#include "cli/command.h"

#include <string.h>

#define MAX_PLACES 8

static const CliPingpongNoise all_noise = { UINT32_MAX, UINT32_MAX, 551 };

static TopoLevels *
harpertown (void)
{
  g_autoptr (TopoNode) node = topo_node_harpertown ();

  return topo_levels_new (node, false);
}

/* A process on each place of each node. */
static void
fill (CliPingpongSeat seats[], uint32_t n_nodes, uint32_t n_places)
{
  for (uint32_t rank = 0; rank < n_nodes * n_places; rank++)
    seats[rank] = (CliPingpongSeat){ rank / n_places, rank % n_places };
}

/* What a rank's place is marked with, seen from who its partner is. */
static uint8_t
mark_of (const CliPingpongClass *class, const CliPingpongSeat seats[], uint32_t rank)
{
  uint32_t partner = class->partner[rank];

  if (partner == rank)
    return TOPO_PLACE_FREE;
  if (rank == class->ping || rank == class->pong)
    return TOPO_PLACE_OBSERVED;
  if (seats[partner].node != seats[rank].node)
    return TOPO_PLACE_OUTSIDE;
  return (uint8_t) (TOPO_PLACE_PAIR + MIN (seats[rank].place, seats[partner].place));
}

/* The class that the ranks of a node really make, pairs numbered without gaps. */
static char *
class_on (const TopoLevels *levels, const CliPingpongClass *class, const CliPingpongSeat seats[],
          uint32_t n_ranks, uint32_t node)
{
  uint8_t mark[MAX_PLACES] = { 0 }, number[MAX_PLACES] = { 0 }, n = 0;

  for (uint32_t rank = 0; rank < n_ranks; rank++)
    if (seats[rank].node == node)
      mark[seats[rank].place] = mark_of (class, seats, rank);
  for (uint32_t place = 0; place < levels->n_places; place++)
    if (mark[place] >= TOPO_PLACE_PAIR) {
      uint8_t first = (uint8_t) (mark[place] - TOPO_PLACE_PAIR);

      if (first == place)
        number[first] = n++;
      mark[place] = (uint8_t) (TOPO_PLACE_PAIR + number[first]);
    }
  return topo_placement_class (levels, mark);
}

static void
assert_class (const TopoLevels *levels, const CliPingpongClass *class,
              const CliPingpongSeat seats[], uint32_t n_ranks)
{
  uint32_t node = seats[class->ping].node, n_busy = 0;
  g_autofree char *here = class_on (levels, class, seats, n_ranks, node);

  g_assert_cmpstr (here, ==, class->class);
  g_assert_cmpuint (class->ping, !=, class->pong);
  g_assert_cmpuint (class->partner[class->ping], ==, class->pong);
  for (uint32_t rank = 0; rank < n_ranks; rank++) {
    g_assert_cmpuint (class->partner[class->partner[rank]], ==, rank);
    n_busy += class->partner[rank] != rank;
  }
  g_assert_cmpuint (class->is_between, ==, seats[class->pong].node != node);
  g_assert_cmpuint (n_busy, ==,
                    2 + (class->is_between ? 4 : 2) * class->n_pairs + 2 * class->n_outside);
  if (class->is_between) {
    g_autofree char *there = class_on (levels, class, seats, n_ranks, seats[class->pong].node);

    g_assert_cmpstr (there, ==, class->class);
  }
}

static CliPingpongPlan *
plan_of (const TopoLevels *levels, const CliPingpongSeat seats[], uint32_t n_ranks,
         CliPingpongNoise noise)
{
  g_autoptr (GError) error = NULL;
  CliPingpongPlan *plan = cli_pingpong_plan_new (levels, seats, n_ranks, noise, &error);

  g_assert_no_error (error);
  for (guint at = 0; at < plan->classes->len; at++)
    assert_class (levels, g_ptr_array_index (plan->classes, at), seats, n_ranks);
  return plan;
}

static uint32_t
count (const GPtrArray *classes, bool is_between, uint32_t least_outside, uint32_t most_outside)
{
  uint32_t n = 0;

  for (guint at = 0; at < classes->len; at++) {
    const CliPingpongClass *class = g_ptr_array_index (classes, at);

    n += class->is_between == is_between && class->n_outside >= least_outside &&
         class->n_outside <= most_outside;
  }
  return n;
}

/* The reference counts 56 and 268 classes for the paper's node (infiniband.md section 0). */
static void
test_two_full_nodes (void)
{
  g_autoptr (TopoLevels) levels = harpertown ();
  CliPingpongSeat seats[16];
  g_autoptr (CliPingpongPlan) plan = NULL;

  fill (seats, 2, 8);
  plan = plan_of (levels, seats, 16, all_noise);
  g_assert_cmpuint (count (plan->classes, false, 0, 0), ==, 56);
  g_assert_cmpuint (count (plan->classes, true, 0, 8), ==, 268);
  g_assert_cmpuint (plan->unreachable->len, ==, 0);
  g_assert_cmpuint (plan->n_nodes, ==, 2);
}

/* Four processes on one package.  By hand: the observed pair on a die or across; with a pair of
 * noise, each on a die, or both across. */
static void
test_one_package (void)
{
  g_autoptr (TopoLevels) levels = harpertown ();
  static const CliPingpongSeat seats[] = { { 0, 4 }, { 0, 6 }, { 0, 5 }, { 0, 7 } };
  g_autoptr (CliPingpongPlan) plan = plan_of (levels, seats, 4, all_noise);

  g_assert_cmpuint (count (plan->classes, false, 0, 8), ==, 4);
  g_assert_cmpuint (count (plan->classes, true, 0, 8), ==, 0);
  g_assert_cmpuint (count (plan->unreachable, false, 0, 0), ==, 52);
  g_assert_cmpuint (count (plan->unreachable, true, 0, 8), ==, 268);
}

/* The first node has one process, the second has three and the last two: it is the second that is
 * observed, and towards the last, with which it shares two places. */
static void
test_unequal_nodes (void)
{
  g_autoptr (TopoLevels) levels = harpertown ();
  static const CliPingpongSeat seats[] = { { 0, 2 }, { 1, 0 }, { 1, 1 },
                                           { 1, 4 }, { 2, 4 }, { 2, 1 } };
  g_autoptr (CliPingpongPlan) plan = plan_of (levels, seats, 6, all_noise);
  const CliPingpongClass *class = g_ptr_array_index (plan->classes, 0);

  /* On a die, across packages. */
  g_assert_cmpuint (count (plan->classes, false, 0, 0), ==, 2);
  /* A message from one of the two places, alone or with one from the other. */
  g_assert_cmpuint (count (plan->classes, true, 0, 8), ==, 2);
  g_assert_cmpuint (seats[class->ping].node, ==, 1);
  class = g_ptr_array_index (plan->classes, plan->classes->len - 1);
  g_assert_cmpuint (seats[class->pong].node, ==, 2);
}

static void
test_less_noise (void)
{
  g_autoptr (TopoLevels) levels = harpertown ();
  CliPingpongSeat seats[16];
  g_autoptr (CliPingpongPlan) plan = NULL;

  fill (seats, 2, 8);
  plan = plan_of (levels, seats, 16, (CliPingpongNoise){ 1, 0, 23 });
  g_assert_cmpuint (count (plan->classes, false, 0, 8), ==, 3 + 13);
  g_assert_cmpuint (count (plan->classes, true, 0, 8), ==, 1 + 6);
}

/* 23 classes are allowed above; here they are one less. */
static void
test_too_many (void)
{
  g_autoptr (TopoLevels) levels = harpertown ();
  CliPingpongSeat seats[16];
  g_autoptr (GError) error = NULL;

  fill (seats, 2, 8);
  g_assert_null (cli_pingpong_plan_new (levels, seats, 16, (CliPingpongNoise){ 1, 0, 22 }, &error));
  g_assert_error (error, CLI_ERROR, CLI_ERROR_FILE);
  g_assert_nonnull (strstr (error->message, "--max-pairs"));
}

static void
test_class_of_tasks (void)
{
  g_autoptr (TopoLevels) levels = harpertown ();
  CliPingpongSeat seats[] = { { 0, 0 }, { 0, 4 }, { 1, 2 }, { 1, 6 } };
  g_autofree char *class = cli_pingpong_tasks_class (levels, seats, 4);

  g_assert_cmpstr (class, ==, "(((..)(.o))((..)(.o)))");
  seats[3].place = 3;
  g_assert_null (cli_pingpong_tasks_class (levels, seats, 4));
  seats[3].place = TOPO_NONE;
  g_assert_null (cli_pingpong_tasks_class (levels, seats, 4));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli/pingpong-plan/two-full-nodes", test_two_full_nodes);
  g_test_add_func ("/cli/pingpong-plan/one-package", test_one_package);
  g_test_add_func ("/cli/pingpong-plan/unequal-nodes", test_unequal_nodes);
  g_test_add_func ("/cli/pingpong-plan/less-noise", test_less_noise);
  g_test_add_func ("/cli/pingpong-plan/too-many", test_too_many);
  g_test_add_func ("/cli/pingpong-plan/class-of-tasks", test_class_of_tasks);
  return g_test_run ();
}
