/* aggregation.c - the aggregation patterns of a node: which of its cores a job uses.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "topology/mapping/aggregation.h"

#include <string.h>

/* A group, as the range of its places. */
typedef struct {
  uint32_t first, end;
  uint32_t gives; /* places, under a pattern */
} Group;

/* The groups of level `below` in a range of places (element-type Group). */
static GArray *
children_of (const TopoLevels *levels, uint32_t below, uint32_t first, uint32_t end)
{
  GArray *children = g_array_new (FALSE, FALSE, sizeof (Group));

  for (uint32_t start = first, stop; start < end; start = stop) {
    stop = topo_levels_child_end (levels, below, start, end);
    g_array_append_val (children, ((Group){ start, stop, 0 }));
  }
  return children;
}

/* ---- the places of a pattern ---- */

static int
gives_more (const void *a, const void *b)
{
  const Group *one = a, *other = b;

  if (one->gives != other->gives)
    return one->gives > other->gives ? -1 : 1;
  return one->first < other->first ? -1 : 1;
}

/* Marks the used places of a range; returns their number. */
static uint32_t
take (const TopoLevels *levels, const uint32_t takes[], uint32_t below, uint32_t first,
      uint32_t end, bool is_used[])
{
  g_autoptr (GArray) children = NULL;
  uint32_t n = 0;

  if (below == levels->n_levels) {
    is_used[first] = true;
    return 1;
  }
  children = children_of (levels, below, first, end);
  for (guint at = 0; at < children->len; at++) {
    Group *child = &g_array_index (children, Group, at);

    child->gives = take (levels, takes, below + 1, child->first, child->end, is_used);
  }
  qsort (children->data, children->len, sizeof (Group), gives_more);
  for (guint at = 0; at < children->len; at++) {
    const Group *child = &g_array_index (children, Group, at);

    if (at < takes[below])
      n += child->gives;
    else
      memset (is_used + child->first, 0, (child->end - child->first) * sizeof *is_used);
  }
  return n;
}

static uint32_t
socket_of (const TopoNode *node, uint32_t core)
{
  return topo_node_above (node, core, TOPO_OBJECT_PACKAGE);
}

static uint32_t
die_of (const TopoNode *node, uint32_t core)
{
  uint32_t cache = topo_node_above (node, core, TOPO_OBJECT_CACHE);

  return cache != TOPO_NONE && node->objects[cache].n_cores > 1 ? cache : socket_of (node, core);
}

static uint32_t
count_objects (const TopoNode *node, const TopoLevels *levels, const TopoPattern *pattern,
               uint32_t (*object_of) (const TopoNode *, uint32_t))
{
  uint32_t n = 0, before = 0;

  for (uint32_t at = 0; at < pattern->n_tasks; at++) {
    uint32_t object = object_of (node, levels->core[pattern->place[at]]);

    n += at == 0 || object != before;
    before = object;
  }
  return n;
}

static TopoPattern
make_pattern (const TopoNode *node, const TopoLevels *levels, const uint32_t takes[])
{
  g_autofree bool *is_used = g_new0 (bool, levels->n_places);
  TopoPattern pattern = { .place = g_new (uint32_t, levels->n_places) };
  bool is_even = true;

  memcpy (pattern.takes, takes, sizeof pattern.takes);
  take (levels, takes, 0, 0, levels->n_places, is_used);
  for (uint32_t place = 0; place < levels->n_places; place++)
    if (is_used[place])
      pattern.place[pattern.n_tasks++] = place;
  for (uint32_t level = 0; level < levels->n_levels; level++) {
    /* Groups of the level that are used, and whether each has equally many tasks. */
    uint32_t n = 0, tasks = 0, tasks_before = 0;

    for (uint32_t at = 0; at < pattern.n_tasks; at++) {
      bool is_last =
          at + 1 == pattern.n_tasks || levels->level[level].group[pattern.place[at + 1]] !=
                                           levels->level[level].group[pattern.place[at]];

      tasks++;
      if (!is_last)
        continue;
      is_even = is_even && (n == 0 || tasks == tasks_before);
      tasks_before = tasks;
      tasks = 0;
      n++;
    }
    pattern.used[level] = n;
  }
  pattern.is_uneven = !is_even;
  pattern.n_sockets = count_objects (node, levels, &pattern, socket_of);
  pattern.n_dies = count_objects (node, levels, &pattern, die_of);
  return pattern;
}

/* ---- all patterns ---- */

typedef struct {
  const TopoNode *node;
  const TopoLevels *levels;
  TopoPatternFlags flags;
  GHashTable *seen; /* (element-type utf8): canonical texts */
  GArray *patterns; /* (element-type TopoPattern) */
} Listing;

static void
list_patterns (Listing *listing, uint32_t level, uint32_t takes[])
{
  const TopoLevels *levels = listing->levels;
  uint32_t n_places = levels->n_places;
  g_autofree bool *allowed = NULL; /* [count] in any group of the level above */

  if (level == levels->n_levels) {
    TopoPattern pattern = make_pattern (listing->node, levels, takes);
    g_autofree const char **mark = g_new (const char *, n_places);

    for (uint32_t place = 0; place < n_places; place++)
      mark[place] = ".";
    for (uint32_t at = 0; at < pattern.n_tasks; at++)
      mark[pattern.place[at]] = "o";
    pattern.symmetries = topo_levels_images (levels, mark);
    if (g_hash_table_add (listing->seen, topo_levels_canonical (levels, mark)))
      g_array_append_val (listing->patterns, pattern);
    else
      g_free (pattern.place);
    return;
  }
  allowed = g_new0 (bool, n_places + 1);
  for (uint32_t first = 0, end; first < n_places; first = end) {
    g_autoptr (GArray) children = NULL;

    end = level > 0 ? topo_levels_child_end (levels, level - 1, first, n_places) : n_places;
    children = children_of (levels, level, first, end);
    for (uint32_t count = 1; count <= children->len; count++)
      allowed[count] = allowed[count] || ((listing->flags & TOPO_PATTERNS_ALL_COUNTS) != 0 ||
                                          children->len % count == 0 || (count & (count - 1)) == 0);
  }
  for (uint32_t count = 1; count <= n_places; count++)
    if (allowed[count]) {
      takes[level] = count;
      list_patterns (listing, level + 1, takes);
    }
}

/* Fewer tasks first, then more groups of each level from outside. */
static int
compare_patterns (const void *a, const void *b)
{
  const TopoPattern *one = a, *other = b;

  if (one->n_tasks != other->n_tasks)
    return one->n_tasks < other->n_tasks ? -1 : 1;
  for (uint32_t level = 0; level < TOPO_MAX_LEVELS; level++)
    if (one->used[level] != other->used[level])
      return one->used[level] > other->used[level] ? -1 : 1;
  return memcmp (one->place, other->place, one->n_tasks * sizeof *one->place);
}

TopoPatterns *
topo_patterns_new (const TopoNode *node, TopoPatternFlags flags)
{
  TopoPatterns *patterns = g_new0 (TopoPatterns, 1);
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  Listing listing = { .node = node, .flags = flags, .seen = seen };
  uint32_t takes[TOPO_MAX_LEVELS] = { 0 };

  patterns->levels = topo_levels_new (node, (flags & TOPO_PATTERNS_THREADS) != 0);
  patterns->node_bytes = topo_node_memory_bytes (node);
  listing.levels = patterns->levels;
  listing.patterns = g_array_new (FALSE, FALSE, sizeof (TopoPattern));
  list_patterns (&listing, 0, takes);
  g_array_sort (listing.patterns, compare_patterns);
  patterns->n = listing.patterns->len;
  patterns->pattern = (TopoPattern *) g_array_free (listing.patterns, FALSE);
  for (uint32_t at = 0; at < patterns->n; at++)
    patterns->pattern[at].id = at + 1;
  topo_patterns_admit (patterns, &(TopoJob){ 0 }, NULL);
  return patterns;
}

void
topo_patterns_free (TopoPatterns *patterns)
{
  if (patterns == NULL)
    return;
  for (uint32_t at = 0; at < patterns->n; at++) {
    g_free (patterns->pattern[at].place);
    g_free (patterns->pattern[at].excluded);
  }
  g_free (patterns->pattern);
  topo_levels_free (patterns->levels);
  g_free (patterns);
}

uint32_t
topo_node_pattern (const TopoNode *node, uint32_t id, uint8_t cores[])
{
  g_autoptr (TopoPatterns) patterns = topo_patterns_new (node, TOPO_PATTERNS_DEFAULT);
  const TopoPattern *pattern;

  if (id < 1 || id > patterns->n)
    return 0;
  pattern = &patterns->pattern[id - 1];
  for (uint32_t at = 0; at < pattern->n_tasks; at++)
    cores[at] = (uint8_t) pattern->place[at];
  return pattern->n_tasks;
}

char *
topo_pattern_takes (const TopoLevels *levels, const TopoPattern *pattern)
{
  GString *text = g_string_new (NULL);

  for (uint32_t level = 0; level < levels->n_levels; level++)
    g_string_append_printf (text, "%s%u", level > 0 ? "x" : "", pattern->takes[level]);
  return g_string_free (text, FALSE);
}
