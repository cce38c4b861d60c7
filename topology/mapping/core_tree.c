/* core_tree.c - the cores of a node as a tree of equal depth, by the hardware they share.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "topology/mapping/core_tree.h"

#include "topology/machine.h"

#include <string.h>

/* ---- from a node ---- */

typedef struct {
  TopoObjectKind kind;
  uint8_t cache_level;
} Kind;

/* In the order of their names in a joint level. */
static const Kind kinds[] = {
  { TOPO_OBJECT_PACKAGE, 0 }, { TOPO_OBJECT_MEMORY, 0 }, { TOPO_OBJECT_CACHE, 5 },
  { TOPO_OBJECT_CACHE, 4 },   { TOPO_OBJECT_CACHE, 3 },  { TOPO_OBJECT_CACHE, 2 },
  { TOPO_OBJECT_CACHE, 1 },
};

/* The objects of a kind above the cores. */
typedef struct {
  const Kind *kind;
  uint32_t object[TOPO_MAX_RANKS_PER_NODE]; /* of a core; TOPO_NONE */
  uint32_t n;                               /* different ones */
} Column;

static uint32_t
object_above (const TopoNode *node, uint32_t core, const Kind *kind)
{
  if (kind->kind != TOPO_OBJECT_CACHE)
    return topo_node_above (node, core, kind->kind);
  for (uint32_t object = node->core[core]; object != TOPO_NONE;
       object = node->objects[object].parent)
    if (node->objects[object].kind == TOPO_OBJECT_CACHE &&
        node->objects[object].level == kind->cache_level)
      return object;
  return TOPO_NONE;
}

static int
compare_columns (const void *a, const void *b)
{
  const Column *one = a, *other = b;

  if (one->n != other->n)
    return one->n < other->n ? -1 : 1;
  return one->kind < other->kind ? -1 : 1;
}

static void
append_level (TopoLevels *levels, char *name, uint32_t n_groups, uint32_t *group)
{
  levels->level[levels->n_levels++] = (TopoLevel){ name, n_groups, group };
}

/* Splits the groups of the last level where the objects of the column change.  A column that
 * splits nothing adds its name to the level of its objects. */
static void
add_column (TopoLevels *levels, const Column *column, uint32_t n_cores)
{
  TopoLevel *before = levels->n_levels > 0 ? &levels->level[levels->n_levels - 1] : NULL;
  uint32_t *group = g_new (uint32_t, levels->n_places);
  uint32_t n = 1;
  g_autofree char *name = column->kind->kind == TOPO_OBJECT_PACKAGE ? g_strdup ("package")
                          : column->kind->kind == TOPO_OBJECT_MEMORY
                              ? g_strdup ("memory")
                              : g_strdup_printf ("L%u", column->kind->cache_level);

  for (uint32_t place = 0; place < levels->n_places; place++) {
    if (place > 0 &&
        (column->object[levels->core[place]] != column->object[levels->core[place - 1]] ||
         (before != NULL && before->group[place] != before->group[place - 1])))
      n++;
    group[place] = n - 1;
  }
  if (n > 1 && n < n_cores && (before == NULL || n > before->n_groups)) {
    append_level (levels, g_steal_pointer (&name), n, g_steal_pointer (&group));
    return;
  }
  if (before != NULL && n == before->n_groups && column->n == n) {
    char *both = g_strconcat (before->name, "+", name, NULL);

    g_free (before->name);
    before->name = both;
  }
  g_free (group);
}

/* A group for each core, and for each hardware thread if cores have several. */
static void
add_places (TopoLevels *levels, uint32_t n_cores)
{
  append_level (levels, g_strdup ("core"), n_cores,
                g_memdup2 (levels->core, levels->n_places * sizeof *levels->core));
  if (levels->n_places > n_cores) {
    uint32_t *group = g_new (uint32_t, levels->n_places);

    for (uint32_t place = 0; place < levels->n_places; place++)
      group[place] = place;
    append_level (levels, g_strdup ("thread"), levels->n_places, group);
  }
}

TopoLevels *
topo_levels_new (const TopoNode *node, bool with_threads)
{
  TopoLevels *levels = g_new0 (TopoLevels, 1);
  Column column[G_N_ELEMENTS (kinds)];

  levels->core = g_new (uint32_t, node->n_cpus);
  levels->cpu = g_new (uint32_t, node->n_cpus);
  for (uint32_t cpu = 0; cpu < node->n_cpus; cpu++)
    if (with_threads || cpu == 0 || node->cpu_core[cpu] != node->cpu_core[cpu - 1]) {
      levels->core[levels->n_places] = node->cpu_core[cpu];
      levels->cpu[levels->n_places++] = node->cpu[cpu];
    }
  for (gsize kind = 0; kind < G_N_ELEMENTS (kinds); kind++) {
    column[kind] = (Column){ .kind = &kinds[kind] };
    for (uint32_t core = 0; core < node->n_cores; core++) {
      column[kind].object[core] = object_above (node, core, &kinds[kind]);
      column[kind].n += column[kind].object[core] != TOPO_NONE &&
                        (core == 0 || column[kind].object[core] != column[kind].object[core - 1]);
    }
  }
  qsort (column, G_N_ELEMENTS (kinds), sizeof *column, compare_columns);
  for (gsize kind = 0; kind < G_N_ELEMENTS (kinds); kind++)
    add_column (levels, &column[kind], node->n_cores);
  add_places (levels, node->n_cores);
  return levels;
}

TopoLevels *
topo_levels_flat (const uint32_t cpu[], uint32_t n)
{
  TopoLevels *levels = g_new0 (TopoLevels, 1);

  levels->n_places = n;
  levels->cpu = g_memdup2 (cpu, n * sizeof *cpu);
  levels->core = g_new (uint32_t, n);
  for (uint32_t place = 0; place < n; place++)
    levels->core[place] = place;
  add_places (levels, n);
  return levels;
}

void
topo_levels_free (TopoLevels *levels)
{
  if (levels == NULL)
    return;
  for (uint32_t level = 0; level < levels->n_levels; level++) {
    g_free (levels->level[level].name);
    g_free (levels->level[level].group);
  }
  g_free (levels->core);
  g_free (levels->cpu);
  g_free (levels);
}

uint32_t
topo_levels_child_end (const TopoLevels *levels, uint32_t below, uint32_t first, uint32_t end)
{
  const uint32_t *group = levels->level[below].group;
  uint32_t place = first + 1;

  while (place < end && group[place] == group[first])
    place++;
  return place;
}

/* ---- in words ---- */

char *
topo_levels_describe (const TopoLevels *levels)
{
  GString *text = g_string_new (NULL);

  for (uint32_t level = 0; level < levels->n_levels; level++) {
    const TopoLevel *it = &levels->level[level], *above = level > 0 ? it - 1 : NULL;
    uint32_t n_parents = above != NULL ? above->n_groups : 1, most = 0;
    g_autofree uint32_t *children = g_new0 (uint32_t, n_parents);
    bool alike = true;

    for (uint32_t place = 0; place < levels->n_places; place++)
      if (place == 0 || it->group[place] != it->group[place - 1])
        children[above != NULL ? above->group[place] : 0]++;
    for (uint32_t parent = 0; parent < n_parents; parent++) {
      most = MAX (most, children[parent]);
      alike = alike && children[parent] == children[0];
    }
    g_string_append_printf (text, "%s%s%u %s", level > 0 ? ", each " : "", alike ? "" : "at most ",
                            most, it->name);
  }
  return g_string_free (text, FALSE);
}

/* ---- symmetries ---- */

typedef struct {
  const TopoLevels *levels;
  const char *const *mark;
} Marking;

/* The subtree of a group: the least text among its symmetric forms. */
typedef struct {
  char *marked, *plain; /* with the marks, and without any */
  double images;
} Form;

static int
compare_forms (const void *a, const void *b)
{
  return strcmp (((const Form *) a)->marked, ((const Form *) b)->marked);
}

static void
clear_form (gpointer form)
{
  g_free (((Form *) form)->marked);
  g_free (((Form *) form)->plain);
}

static int
compare_texts (const void *a, const void *b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

/* The form of the group with these places on the level above `below`. */
static Form
form_of (const Marking *marking, uint32_t below, uint32_t first, uint32_t end)
{
  g_autoptr (GArray) children = NULL;
  g_autofree const char **plain = NULL;
  g_autofree char *inside = NULL;
  Form form = { .images = 1 };
  GString *marked;
  double ways = 1;

  if (below == marking->levels->n_levels) {
    form.marked = g_strdup (marking->mark[first]);
    form.plain = g_strdup ("-");
    return form;
  }
  children = g_array_new (FALSE, FALSE, sizeof (Form));
  g_array_set_clear_func (children, clear_form);
  for (uint32_t start = first, stop; start < end; start = stop) {
    Form child;

    stop = topo_levels_child_end (marking->levels, below, start, end);
    child = form_of (marking, below + 1, start, stop);
    form.images *= child.images;
    g_array_append_val (children, child);
  }
  qsort (children->data, children->len, sizeof (Form), compare_forms);
  marked = g_string_new ("(");
  plain = g_new (const char *, children->len + 1);
  for (guint at = 0; at < children->len; at++) {
    const Form *child = &g_array_index (children, Form, at);
    uint32_t n_shape = 0, n_same = 0;

    g_string_append (marked, child->marked);
    plain[at] = child->plain;
    /* The number of orders of children of one shape is the product, shape by shape, of
     * multinomials, one child after the other. */
    for (guint before = 0; before <= at; before++) {
      const Form *other = &g_array_index (children, Form, before);

      n_shape += g_str_equal (other->plain, child->plain);
      n_same += g_str_equal (other->marked, child->marked);
    }
    ways = ways * n_shape / n_same;
  }
  form.marked = g_string_free (g_string_append_c (marked, ')'), FALSE);
  plain[children->len] = NULL;
  qsort (plain, children->len, sizeof *plain, compare_texts);
  inside = g_strjoinv ("", (char **) plain);
  form.plain = g_strconcat ("(", inside, ")", NULL);
  form.images *= ways;
  return form;
}

char *
topo_levels_canonical (const TopoLevels *levels, const char *const mark[])
{
  Form form = form_of (&(Marking){ levels, mark }, 0, 0, levels->n_places);

  g_free (form.plain);
  return form.marked;
}

double
topo_levels_images (const TopoLevels *levels, const char *const mark[])
{
  Form form = form_of (&(Marking){ levels, mark }, 0, 0, levels->n_places);

  clear_form (&form);
  return form.images;
}
