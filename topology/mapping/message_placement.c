/* message_placement.c - the ways in which messages can lie in a node, symmetric ones once.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * With a name on every pair the least text of the tree would tell the class; but the names of
 * pairs may be exchanged too.  So pairs get their numbers one by one: number one is the pair with
 * which the text becomes least while the others stand there without a name, and so on.
 * Where several pairs do equally well each is tried, unless the tree has an
 * automorphism that exchanges it with one that has been tried and leaves all other pairs
 * where they are: then nothing new can come of it.  That makes the common case, many pairs that
 * are all alike, as cheap as few, where trying all orders of names would not be. */
#include "topology/mapping/message_placement.h"

#include <string.h>

#define MAX_PAIRS 200

typedef struct {
  const TopoLevels *levels;
  const uint8_t *mark;
  uint32_t n_pairs;
  uint32_t number[MAX_PAIRS]; /* of a pair; 0: without a name yet */
  uint32_t common[MAX_PAIRS]; /* of how many levels both ends have the same group */
} Naming;

/* What stands for a place that has no end of a pair. */
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

/* Whether an automorphism exchanges two pairs without names and moves no other: the text is the
 * same whichever of the two has which number. */
static bool
can_exchange (const Naming *naming, uint32_t pair, uint32_t other)
{
  Naming one = *naming, exchanged;
  g_autofree char *text = NULL, *exchanged_text = NULL;

  for (uint32_t at = 0; at < one.n_pairs; at++)
    if (one.number[at] == 0)
      one.number[at] = one.n_pairs + 1 + at;
  exchanged = one;
  exchanged.number[pair] = one.number[other];
  exchanged.number[other] = one.number[pair];
  text = text_of (&one);
  exchanged_text = text_of (&exchanged);
  return g_str_equal (text, exchanged_text);
}

/* The pairs that may be the next, one of each that can be exchanged; returns how many. */
static uint32_t
next_pairs (const Naming *naming, uint32_t number, uint32_t pairs[])
{
  g_autofree char *least = NULL;
  uint32_t n = 0;

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
    for (uint32_t at = 0; at < n && is_new; at++)
      is_new = !can_exchange (naming, pairs[at], pair);
    if (is_new)
      pairs[n++] = pair;
  }
  return n;
}

/* The least text that names from `number` on lead to. */
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
 * Every placement is one with a message less, and one more: so the classes grow from
 * those of the kind before by trying the places that are left, free places of one innermost
 * group only once. */

typedef struct {
  const TopoLevels *levels;
  GHashTable *seen; /* (element-type utf8): classes */
  GPtrArray *grown; /* (element-type guint8): marks, one placement of each */
  uint8_t *mark;    /* what is being tried */
} Growth;

/* Whether a free place comes before it that has the same neighbours. */
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

/* Puts `ends` marks, from `least` on. */
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

/* While they grow, closed places are marked: only what keeps them where they are may count as the
 * same, since what is on an open place can be where its image is closed. */
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
