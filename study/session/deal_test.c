/* deal_test.c - workers stay with what they have opened.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/session/deal.h"

static void
add (StudyDeal *deal, guint first, guint n, guint group)
{
  for (guint i = 0; i < n; i++)
    study_deal_add (deal, first + i, group);
}

static void
assert_next (StudyDeal *deal, guint worker, guint expected)
{
  guint job;

  g_assert_true (study_deal_next (deal, worker, &job));
  g_assert_cmpuint (job, ==, expected);
}

static void
test_each_its_own_group (void)
{
  g_autoptr (StudyDeal) deal = study_deal_new (2);
  guint job;

  add (deal, 10, 3, 7);
  add (deal, 20, 2, 8);
  assert_next (deal, 0, 10);
  assert_next (deal, 1, 20);
  assert_next (deal, 1, 21);
  assert_next (deal, 0, 11);
  assert_next (deal, 1, 12); /* nothing is left of its own */
  g_assert_cmpuint (study_deal_n_left (deal), ==, 0);
  g_assert_false (study_deal_next (deal, 0, &job));
  g_assert_false (study_deal_next (deal, 1, &job));
}

static void
test_a_fresh_group_before_help (void)
{
  g_autoptr (StudyDeal) deal = study_deal_new (2);

  add (deal, 10, 9, 0);
  add (deal, 20, 1, 1);
  add (deal, 30, 1, 2);
  assert_next (deal, 0, 10);
  assert_next (deal, 1, 20);
  assert_next (deal, 1, 30);
  assert_next (deal, 1, 11);
}

static void
test_help_where_most_is_left (void)
{
  g_autoptr (StudyDeal) deal = study_deal_new (3);

  add (deal, 10, 3, 0);
  add (deal, 20, 5, 1);
  assert_next (deal, 0, 10);
  assert_next (deal, 1, 20);
  assert_next (deal, 2, 21);
}

/* Groups are neighbours: a number that comes again is another group. */
static void
test_every_job_once (void)
{
  g_autoptr (StudyDeal) deal = study_deal_new (4);
  guint seen[100] = { 0 }, job;

  for (guint i = 0; i < 100; i++)
    study_deal_add (deal, i, i / 7 % 3);
  for (guint i = 0; study_deal_next (deal, i % 4, &job); i++)
    seen[job]++;
  for (guint i = 0; i < 100; i++)
    g_assert_cmpuint (seen[i], ==, 1);
}

static void
test_nothing (void)
{
  g_autoptr (StudyDeal) deal = study_deal_new (1);
  guint job;

  g_assert_false (study_deal_next (deal, 0, &job));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/study/deal/own", test_each_its_own_group);
  g_test_add_func ("/study/deal/fresh", test_a_fresh_group_before_help);
  g_test_add_func ("/study/deal/help", test_help_where_most_is_left);
  g_test_add_func ("/study/deal/once", test_every_job_once);
  g_test_add_func ("/study/deal/nothing", test_nothing);
  return g_test_run ();
}
