/* goal_labels.h - which node of a rank has which label.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Labels are not copied: they stay in the text that they were read from. */
#pragma once

#include <glib.h>
#include <stdint.h>

typedef struct GoalLabels GoalLabels;

GoalLabels *goal_labels_new (void);
void goal_labels_free (GoalLabels *labels);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GoalLabels, goal_labels_free)

/* FALSE when another node has the label. */
gboolean goal_labels_add (GoalLabels *labels, const char *text, gsize length, uint32_t node);
/* FALSE when no node has it. */
gboolean
goal_labels_find (const GoalLabels *labels, const char *text, gsize length, uint32_t *node);
