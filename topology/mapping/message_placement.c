/* message_placement.c - the placements of messages in a node, up to symmetry.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * With numbered pairs the least text of the tree would identify the class, but the numbers of
 * pairs may be exchanged too.  Therefore pairs get their numbers in turn: number one is the pair
 * that gives the least text while the other pairs have no number, and so on.  Where several pairs
 * give the same text each is tried, unless the tree has an automorphism that exchanges it with a
 * pair that has been tried and leaves all other pairs in place: the result would be the same.
 * Many pairs that are all alike, the common case, are then as cheap as few; trying all orders of
 * numbers is not. */
#include "topology/mapping/message_placement.h"

#include <string.h>

#define MAX_PAIRS 200

typedef struct {
  const TopoLevels *levels;
  const uint8_t *mark;
  uint32_t n_pairs;
  uint32_t number[MAX_PAIRS]; /* of a pair; 0: none yet */
  uint32_t common[MAX_PAIRS]; /* levels whose group both ends share */
} Naming;

/* The marks of places without an end of a pair. */
static const char *const letters[TOPO_PLACE_PAIR] = {
  [TOPO_PLACE_FREE] = ".",
  [TOPO_PLACE_OBSERVED] = "o",
  [TOPO_PLACE_OUTSIDE] = "x",
  [TOPO_PLACE_CLOSED] = "-",
};

/* The text with the numbers as they are; the caller frees it. */
static char *
text_of (const Naming *naming)
{
  uint32_t n_places = naming->levels->n_places;
  g_autoptr (GPtrArray) marks = g_ptr_array_new_full (n_places, g_free);

  for (uint32_t place = 0; place < n_places; place++) {
    uint8_t mark = naming->mark[place];
    uint32_t pair = mark - TOPO_PLACE_PAIR;

    if (mark < TOPO_PLACE_PAIR)
      g_ptr_array_add (marks, g_strdup (letters[mark]));
    else if (naming->number[pair] > 0)
      g_ptr_array_add (marks, g_strdup_printf ("#%03u", naming->number[pair]));
    else
      g_ptr_array_add (marks, g_strdup_printf ("?%u", naming->common[pair]));
  }
  return topo_levels_canonical (naming->levels, (const char *const *) marks->pdata);
}

/* The candidates for the next number, one of each set that can be exchanged; returns their
 * number.  Two pairs can be exchanged when the text is the same after swapping their numbers,
 * with provisional numbers on all pairs. */
static uint32_t
next_pairs (const Naming *naming, uint32_t number, uint32_t pairs[])
{
  g_autofree char *least = NULL, *reference = NULL;
  Naming all = *naming;
  uint32_t n = 0;

  for (uint32_t pair = 0; pair < all.n_pairs; pair++)
    if (all.number[pair] == 0)
      all.number[pair] = all.n_pairs + 1 + pair;
  for (uint32_t pair = 0; pair < naming->n_pairs; pair++) {
    Naming tried = *naming;
    g_autofree char *text = NULL;
    bool is_new = true;
    int order;

    if (naming->number[pair] != 0)
      continue;
    tried.number[pair] = number;
    text = text_of (&tried);
    order = least != NULL ? strcmp (text, least) : -1;
    if (order > 0)
      continue;
    if (order < 0) {
      g_free (least);
      least = g_steal_pointer (&text);
      n = 0;
    }
    if (n > 0 && reference == NULL)
      reference = text_of (&all);
    for (uint32_t at = 0; at < n && is_new; at++) {
      Naming exchanged = all;
      g_autofree char *other = NULL;

      exchanged.number[pair] = all.number[pairs[at]];
      exchanged.number[pairs[at]] = all.number[pair];
      other = text_of (&exchanged);
      is_new = !g_str_equal (other, reference);
    }
    if (is_new)
      pairs[n++] = pair;
  }
  return n;
}

/* The least text over all choices of the numbers from `number` on. */
static char *
least_text (const Naming *naming, uint32_t number)
{
  uint32_t pairs[MAX_PAIRS], n = number <= naming->n_pairs ? next_pairs (naming, number, pairs) : 0;
  char *least = NULL;

  if (n == 0)
    return text_of (naming);
  for (uint32_t at = 0; at < n; at++) {
    Naming named = *naming;
    g_autofree char *text = NULL;

    named.number[pairs[at]] = number;
    text = least_text (&named, number + 1);
    if (least == NULL || strcmp (text, least) < 0) {
      g_free (least);
      least = g_steal_pointer (&text);
    }
  }
  return least;
}

char *
topo_placement_class (const TopoLevels *levels, const uint8_t mark[])
{
  Naming naming = { .levels = levels, .mark = mark };
  uint32_t first[MAX_PAIRS];

  memset (first, 0xff, sizeof first);
  for (uint32_t place = 0; place < levels->n_places; place++) {
    uint32_t pair = mark[place] - TOPO_PLACE_PAIR;

    if (mark[place] < TOPO_PLACE_PAIR)
      continue;
    g_assert (pair < MAX_PAIRS);
    naming.n_pairs = MAX (naming.n_pairs, pair + 1);
    if (first[pair] == TOPO_NONE)
      first[pair] = place;
    else {
      uint32_t n = 0;

      while (n < levels->n_levels &&
             levels->level[n].group[first[pair]] == levels->level[n].group[place])
        n++;
      naming.common[pair] = n;
    }
  }
  return least_text (&naming, 1);
}

/* ---- all classes of a kind ----
 *
 * A placement is a placement with one message less, plus a message: the classes of a kind
 * grow from those of the kind before by trying the free places, those of one innermost
 * group only once. */

typedef struct {
  const TopoLevels *levels;
  GHashTable *seen; /* (element-type utf8): classes */
  GPtrArray *grown; /* (element-type guint8): marks, one placement of each */
  uint8_t *mark;    /* what is being tried */
} Growth;

/* Whether an earlier free place has the same neighbours. */
static bool
is_like_one_before (const Growth *growth, uint32_t place)
{
  const TopoLevels *levels = growth->levels;
  const uint32_t *group = levels->n_levels > 1 ? levels->level[levels->n_levels - 2].group : NULL;

  for (uint32_t before = place; before-- > 0;) {
    if (group != NULL && group[before] != group[place])
      return false;
    if (growth->mark[before] == TOPO_PLACE_FREE)
      return true;
  }
  return false;
}

/* Puts `ends` marks on free places from `least` on. */
static void
extend (Growth *growth, uint8_t mark, uint32_t ends, uint32_t least)
{
  if (ends == 0) {
    char *class = topo_placement_class (growth->levels, growth->mark);

    if (g_hash_table_add (growth->seen, class))
      g_ptr_array_add (growth->grown, g_memdup2 (growth->mark, growth->levels->n_places));
    return;
  }
  for (uint32_t place = least; place < growth->levels->n_places; place++) {
    if (growth->mark[place] != TOPO_PLACE_FREE || is_like_one_before (growth, place))
      continue;
    growth->mark[place] = mark;
    extend (growth, mark, ends - 1, place + 1);
    growth->mark[place] = TOPO_PLACE_FREE;
  }
}

/* The classes with one message more than those of `marks`, which it takes. */
static GPtrArray *
grow (const TopoLevels *levels, GPtrArray *marks, uint8_t mark, uint32_t ends)
{
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  Growth growth = { levels, seen, g_ptr_array_new_with_free_func (g_free), NULL };

  for (guint at = 0; at < marks->len; at++) {
    growth.mark = g_ptr_array_index (marks, at);
    extend (&growth, mark, ends, 0);
  }
  g_ptr_array_unref (marks);
  return growth.grown;
}

typedef struct {
  char *class;
  const uint8_t *mark;
} Found;

static int
compare_found (const void *a, const void *b)
{
  return strcmp (((const Found *) a)->class, ((const Found *) b)->class);
}

/* Takes the marks. */
static TopoPlacements *
in_order (const TopoLevels *levels, GPtrArray *marks)
{
  TopoPlacements *placements = g_new0 (TopoPlacements, 1);
  g_autofree Found *found = g_new (Found, marks->len);

  for (guint at = 0; at < marks->len; at++) {
    const uint8_t *mark = g_ptr_array_index (marks, at);

    found[at] = (Found){ topo_placement_class (levels, mark), mark };
  }
  if (marks->len > 0)
    qsort (found, marks->len, sizeof *found, compare_found);
  placements->n = marks->len;
  placements->n_places = levels->n_places;
  placements->mark = g_new (uint8_t, (gsize) marks->len * levels->n_places);
  for (guint at = 0; at < marks->len; at++) {
    memcpy (placements->mark + (gsize) at * levels->n_places, found[at].mark, levels->n_places);
    g_free (found[at].class);
  }
  g_ptr_array_unref (marks);
  return placements;
}

/* Of the places that `start` leaves free; takes it. */
static GPtrArray *
grow_from (const TopoLevels *levels, TopoPlacementKind kind, uint8_t *start)
{
  GPtrArray *marks = g_ptr_array_new_with_free_func (g_free);

  g_assert (kind.n_pairs <= MAX_PAIRS);
  g_ptr_array_add (marks, start);
  marks = grow (levels, marks, TOPO_PLACE_OBSERVED, kind.n_observed);
  for (uint32_t pair = 0; pair < kind.n_pairs; pair++)
    marks = grow (levels, marks, (uint8_t) (TOPO_PLACE_PAIR + pair), 2);
  for (uint32_t end = 0; end < kind.n_outside; end++)
    marks = grow (levels, marks, TOPO_PLACE_OUTSIDE, 1);
  return marks;
}

TopoPlacements *
topo_placements_new (const TopoLevels *levels, TopoPlacementKind kind)
{
  return in_order (levels, grow_from (levels, kind, g_new0 (uint8_t, levels->n_places)));
}

/* Closed places are marked during the growth: only symmetries that keep them in place may count,
 * since others can move a message from an open place to a closed one. */
TopoPlacements *
topo_placements_on (const TopoLevels *levels, TopoPlacementKind kind, const bool open[])
{
  uint8_t *start = g_new0 (uint8_t, levels->n_places);
  g_autoptr (GPtrArray) marks = NULL;
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  GPtrArray *different = g_ptr_array_new_with_free_func (g_free);

  for (uint32_t place = 0; place < levels->n_places; place++)
    start[place] = open[place] ? TOPO_PLACE_FREE : TOPO_PLACE_CLOSED;
  marks = grow_from (levels, kind, start);
  for (guint at = 0; at < marks->len; at++) {
    uint8_t *mark = g_ptr_array_index (marks, at);

    for (uint32_t place = 0; place < levels->n_places; place++)
      if (!open[place])
        mark[place] = TOPO_PLACE_FREE;
    if (g_hash_table_add (seen, topo_placement_class (levels, mark)))
      g_ptr_array_add (different, g_memdup2 (mark, levels->n_places));
  }
  return in_order (levels, different);
}

void
topo_placements_free (TopoPlacements *placements)
{
  if (placements == NULL)
    return;
  g_free (placements->mark);
  g_free (placements);
}
