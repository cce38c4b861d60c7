/* failures.c - what single parts that are out cost: the slow-down by each, the median and the worst.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/failures.h"

#include "study/ranking.h"
#include "study/store/row_fields.h"

#include <math.h>
#include <string.h>

/* --- Names --- */

static const char *const marks[] = { " failed=", " degraded=" };

char *
study_failure_machine (const char *whole, const char *part, uint32_t lanes)
{
  return lanes > 0 ? g_strdup_printf ("%s%s%s %ux", whole, marks[1], part, lanes)
                   : g_strconcat (whole, marks[0], part, NULL);
}

gsize
study_failure_whole_length (const char *machine, const char **part, const char **fault)
{
  for (gsize at = 0; at < G_N_ELEMENTS (marks); at++) {
    const char *found = g_strrstr (machine, marks[at]);
    const char *width;

    if (found == NULL)
      continue;
    *part = found + strlen (marks[at]);
    width = at > 0 ? strrchr (*part, ' ') : NULL;
    *fault = width != NULL ? width + 1 : "out";
    return (gsize) (found - machine);
  }
  return 0;
}

/* --- Cases --- */

/* A case while rows are read. */
typedef struct {
  StudyFailureCase *result;
  const StudyField *column;
  GHashTable *of_part; /* (element-type utf8 guint) part to its index in .failures, plus 1 */
  GHashTable *keys;    /* (element-type utf8) of the runs that were counted, behind their part */
} Builder;

static void
builder_free (gpointer data)
{
  Builder *builder = data;

  g_hash_table_unref (builder->of_part);
  g_hash_table_unref (builder->keys);
  g_free (builder);
}

static void
case_free (gpointer data)
{
  StudyFailureCase *it = data;

  g_free (it->name);
  g_free (it->machine);
  g_array_unref (it->failures);
  g_free (it);
}

static Builder *
builder_new (const StudyRow *row, const char *fault, char *machine)
{
  Builder *builder = g_new0 (Builder, 1);
  StudyFailureCase *result = g_new0 (StudyFailureCase, 1);

  result->machine = machine;
  result->name = study_case_name (row, machine);
  result->fault = fault;
  result->row = row;
  result->column = g_strcmp0 (row->network, "load") == 0 ? "max_bytes" : "time_s";
  result->failures = g_array_new (FALSE, TRUE, sizeof (StudyFailure));
  builder->result = result;
  builder->column = study_row_find_field (result->column);
  builder->of_part = g_hash_table_new (g_str_hash, g_str_equal);
  builder->keys = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  return builder;
}

/* The entry of a part, which is added when it is the first row of it.  NULL: the whole machine. */
static StudyFailure *
failure_of (Builder *builder, const char *part)
{
  GArray *failures = builder->result->failures;
  guint at;

  if (part == NULL)
    return &builder->result->whole;
  at = GPOINTER_TO_UINT (g_hash_table_lookup (builder->of_part, part));
  if (at == 0) {
    const StudyFailure fresh = { .part = part };

    g_array_append_val (failures, fresh);
    at = failures->len;
    g_hash_table_insert (builder->of_part, (gpointer) part, GUINT_TO_POINTER (at));
  }
  return &g_array_index (failures, StudyFailure, at - 1);
}

static void
builder_add (Builder *builder, const StudyRow *row, const char *part)
{
  StudyFailure *failure = failure_of (builder, part);
  double value = study_row_number (row, builder->column);

  /* Replicas of one repetition may be those of another, and are one run then. */
  if (row->key != NULL &&
      !g_hash_table_add (builder->keys, g_strjoin ("\n", part != NULL ? part : "", row->key, NULL)))
    return;
  if (row->status != STUDY_DONE) {
    if (!failure->has_failed)
      failure->row = row;
    failure->has_failed = TRUE;
  } else if (!isnan (value)) {
    if (failure->row == NULL)
      failure->row = row;
    failure->value += value;
    failure->n_done++;
  }
}

/* whole: value of the whole machine; NaN: not known. */
static void
finish_failure (StudyFailure *failure, double whole)
{
  failure->value =
      failure->n_done > 0 && !failure->has_failed ? failure->value / failure->n_done : (double) NAN;
  failure->slow_down = failure->value / whole - 1;
  if (!isfinite (failure->slow_down))
    failure->slow_down = NAN;
}

/* Failed ones, the known, those that are not known. */
static gint
compare_failures (gconstpointer left, gconstpointer right)
{
  const StudyFailure *a = left, *b = right;
  int kind_a = a->has_failed          ? 0
               : isnan (a->slow_down) ? 2
                                      : 1,
      kind_b = b->has_failed          ? 0
               : isnan (b->slow_down) ? 2
                                      : 1;

  if (kind_a != kind_b || kind_a != 1)
    return kind_a - kind_b;
  return (a->slow_down < b->slow_down) - (a->slow_down > b->slow_down);
}

static void
finish_case (StudyFailureCase *it, double tie)
{
  const StudyFailure *known; /* the first whose slow-down is known */
  guint n_known = 0;

  finish_failure (&it->whole, NAN);
  for (guint at = 0; at < it->failures->len; at++) {
    StudyFailure *failure = &g_array_index (it->failures, StudyFailure, at);

    finish_failure (failure, it->whole.value);
    it->n_failed += failure->has_failed;
    it->n_slowed += failure->slow_down > tie;
    n_known += !isnan (failure->slow_down);
  }
  g_array_sort (it->failures, compare_failures);
  it->median = it->worst = NAN;
  if (n_known == 0)
    return;
  known = &g_array_index (it->failures, StudyFailure, it->n_failed);
  it->worst = known->slow_down;
  it->worst_part = known->part;
  it->median = (known[(n_known - 1) / 2].slow_down + known[n_known / 2].slow_down) / 2;
}

/* The case of a fault among those of one mapping on one machine; NULL: there is none. */
static Builder *
builder_of (const GPtrArray *group, const char *fault)
{
  for (guint at = 0; group != NULL && at < group->len; at++) {
    Builder *builder = g_ptr_array_index (group, at);

    if (strcmp (builder->result->fault, fault) == 0)
      return builder;
  }
  return NULL;
}

/* Adds the rows of machines with a part out, which make the cases, or of whole ones.  groups: name and
 * mapping of a case to (element-type Builder), borrowed. */
static void
add_rows (const GPtrArray *rows, gboolean of_failures, GPtrArray *builders, GHashTable *groups)
{
  for (guint at = 0; at < rows->len; at++) {
    const StudyRow *row = g_ptr_array_index (rows, at);
    const char *part = NULL, *fault = NULL;
    gsize length = study_failure_whole_length (row->machine, &part, &fault);
    g_autofree char *machine =
        length > 0 ? g_strndup (row->machine, length) : g_strdup (row->machine);
    g_autofree char *name = NULL, *text = NULL;
    GPtrArray *group;
    Builder *builder;

    if ((length > 0) != of_failures)
      continue;
    name = study_case_name (row, machine);
    text = g_strjoin ("\n", name, row->mapping, NULL);
    group = g_hash_table_lookup (groups, text);
    if (!of_failures) {
      for (guint of = 0; group != NULL && of < group->len; of++)
        builder_add (g_ptr_array_index (group, of), row, NULL);
      continue;
    }
    builder = builder_of (group, fault);
    if (builder == NULL) {
      builder = builder_new (row, fault, g_steal_pointer (&machine));
      g_ptr_array_add (builders, builder);
      if (group == NULL) {
        group = g_ptr_array_new ();
        g_hash_table_insert (groups, g_steal_pointer (&text), group);
      }
      g_ptr_array_add (group, builder);
    }
    builder_add (builder, row, part);
  }
}

GPtrArray *
study_failure_cases (const GPtrArray *rows, double tie)
{
  g_autoptr (GPtrArray) builders = g_ptr_array_new_with_free_func (builder_free);
  g_autoptr (GHashTable) groups =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_ptr_array_unref);
  GPtrArray *cases = g_ptr_array_new_with_free_func (case_free);

  g_assert (tie >= 0);
  add_rows (rows, TRUE, builders, groups);
  add_rows (rows, FALSE, builders, groups);
  for (guint at = 0; at < builders->len; at++) {
    StudyFailureCase *it = ((Builder *) g_ptr_array_index (builders, at))->result;

    finish_case (it, tie);
    g_ptr_array_add (cases, it);
  }
  return cases;
}
