/* deal.h - which worker gets which job next.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Jobs come in groups, those of one trace on one machine, which a worker opens
 * when it begins the first of them.  So every worker stays with a group while that has
 * jobs, then takes one that nobody has begun, and then helps with the one that has the most
 * left. */
#pragma once

#include <glib.h>

typedef struct StudyDeal StudyDeal;

StudyDeal *study_deal_new (guint n_workers);
void study_deal_free (StudyDeal *deal);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (StudyDeal, study_deal_free)

/* Jobs of the same group number that come one after the other are a group. */
void study_deal_add (StudyDeal *deal, guint job, guint group);

/* The next job of a worker (below n_workers); FALSE: there are no more. */
gboolean study_deal_next (StudyDeal *deal, guint worker, guint *job);
guint study_deal_n_left (const StudyDeal *deal);
