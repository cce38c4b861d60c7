/* goal_labels.c - which node of a rank has which label.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Open addressing, at most half full: a schedule has as many labels as
 * operations, and an allocation for each would cost more than reading it. */
#include "traces/goal/goal_labels.h"

#include <string.h>

#define LEAST_CAPACITY 16u

typedef struct {
  const char *text; /* NULL: a free place */
  uint32_t length;
  uint32_t node;
} Label;

struct GoalLabels {
  Label *places; /* [capacity], a power of two */
  gsize n, capacity;
};

GoalLabels *
goal_labels_new (void)
{
  GoalLabels *labels = g_new (GoalLabels, 1);

  labels->n = 0;
  labels->capacity = LEAST_CAPACITY;
  labels->places = g_new0 (Label, labels->capacity);
  return labels;
}

void
goal_labels_free (GoalLabels *labels)
{
  if (labels == NULL)
    return;
  g_free (labels->places);
  g_free (labels);
}

/* FNV-1a. */
static gsize
hash (const char *text, gsize length)
{
  uint64_t hash = 0xcbf29ce484222325u;

  for (gsize i = 0; i < length; i++)
    hash = (hash ^ (guint8) text[i]) * 0x100000001b3u;
  return (gsize) (hash ^ (hash >> 32));
}

/* Where the label is, or would be. */
static Label *
find_place (const GoalLabels *labels, const char *text, gsize length)
{
  for (gsize at = hash (text, length);; at++) {
    Label *place = &labels->places[at & (labels->capacity - 1)];

    if (place->text == NULL || (place->length == length && memcmp (place->text, text, length) == 0))
      return place;
  }
}

static void
grow (GoalLabels *labels)
{
  Label *old = labels->places;
  gsize n_old = labels->capacity;

  labels->capacity *= 2;
  labels->places = g_new0 (Label, labels->capacity);
  for (gsize i = 0; i < n_old; i++)
    if (old[i].text != NULL)
      *find_place (labels, old[i].text, old[i].length) = old[i];
  g_free (old);
}

gboolean
goal_labels_add (GoalLabels *labels, const char *text, gsize length, uint32_t node)
{
  Label *place;

  if (labels->n * 2 >= labels->capacity)
    grow (labels);
  place = find_place (labels, text, length);
  if (place->text != NULL)
    return FALSE;
  *place = (Label){ text, (uint32_t) length, node };
  labels->n++;
  return TRUE;
}

gboolean
goal_labels_find (const GoalLabels *labels, const char *text, gsize length, uint32_t *node)
{
  const Label *place = find_place (labels, text, length);

  if (place->text == NULL)
    return FALSE;
  *node = place->node;
  return TRUE;
}
