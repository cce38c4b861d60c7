/* deal.c - which worker gets which job next.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/session/deal.h"

#define NONE G_MAXUINT

typedef struct {
  guint number;
  guint next, end; /* in jobs */
  gboolean begun;
} Group;

struct StudyDeal {
  GArray *jobs;    /* (element-type guint) */
  GArray *groups;  /* (element-type Group) in the order of the jobs */
  guint *group_of; /* [n_workers] index in groups; NONE: none yet */
  guint n_left;
};

StudyDeal *
study_deal_new (guint n_workers)
{
  StudyDeal *deal = g_new0 (StudyDeal, 1);

  deal->jobs = g_array_new (FALSE, FALSE, sizeof (guint));
  deal->groups = g_array_new (FALSE, FALSE, sizeof (Group));
  deal->group_of = g_new (guint, n_workers);
  for (guint worker = 0; worker < n_workers; worker++)
    deal->group_of[worker] = NONE;
  return deal;
}

void
study_deal_free (StudyDeal *deal)
{
  if (deal == NULL)
    return;
  g_array_unref (deal->jobs);
  g_array_unref (deal->groups);
  g_free (deal->group_of);
  g_free (deal);
}

static Group *
group_at (const StudyDeal *deal, guint index)
{
  return &g_array_index (deal->groups, Group, index);
}

void
study_deal_add (StudyDeal *deal, guint job, guint group)
{
  guint last = deal->groups->len - 1;

  if (deal->groups->len == 0 || group_at (deal, last)->number != group) {
    const Group fresh = { .number = group, .next = deal->jobs->len, .end = deal->jobs->len };

    g_array_append_val (deal->groups, fresh);
    last = deal->groups->len - 1;
  }
  g_array_append_val (deal->jobs, job);
  group_at (deal, last)->end++;
  deal->n_left++;
}

static guint
n_left_of (const Group *group)
{
  return group->end - group->next;
}

/* The first that nobody has begun, else the one with the most left; NONE when
 * nothing is. */
static guint
choose (const StudyDeal *deal)
{
  guint most = NONE;

  for (guint index = 0; index < deal->groups->len; index++) {
    const Group *group = group_at (deal, index);

    if (!group->begun)
      return index;
    if (n_left_of (group) > 0 &&
        (most == NONE || n_left_of (group) > n_left_of (group_at (deal, most))))
      most = index;
  }
  return most;
}

gboolean
study_deal_next (StudyDeal *deal, guint worker, guint *job)
{
  guint index = deal->group_of[worker];
  Group *group;

  if (index == NONE || n_left_of (group_at (deal, index)) == 0)
    index = choose (deal);
  if (index == NONE)
    return FALSE;
  deal->group_of[worker] = index;
  group = group_at (deal, index);
  group->begun = TRUE;
  *job = g_array_index (deal->jobs, guint, group->next++);
  deal->n_left--;
  return TRUE;
}

guint
study_deal_n_left (const StudyDeal *deal)
{
  return deal->n_left;
}
