/* ranking.c - the mappings of a study, best first.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/ranking.h"

#include "base/words.h"
#include "study/inputs.h"
#include "study/replicas.h"
#include "study/store/row_fields.h"
#include "study/study_error.h"

#include <math.h>
#include <string.h>

/* The runs of one mapping in one case. */
typedef struct {
  const char *mapping;
  const StudyRow *row; /* the first that has a value */
  GArray *values;      /* (element-type double) */
  GArray *rows;        /* (element-type StudyRow *) borrowed, of each */
  gboolean is_drawn;   /* all have a jitter, so that the values are draws */
} Group;

/* A case while its rows are read. */
typedef struct {
  StudyCase *result;
  const StudyField *column;    /* NULL: values are given */
  GPtrArray *groups;           /* (element-type Group) in the order of the rows */
  GHashTable *of_mapping;      /* mapping -> Group */
  const char *default_mapping; /* the first that is named as the machine's default is */
} Builder;

/* The machines of rows. */
typedef struct {
  StudyMachineOf find; /* NULL: none are known */
  void *data;
} Machines;

/* --- Columns --- */

/* NULL and *error when runs have no numbers of that name. */
static const StudyField *
column_find (const char *name, GError **error)
{
  static const char *const brief[][2] = { { "time", "time_s" },
                                          { "mean_end", "mean_end_s" },
                                          { "waits", "wait_s_avg" } };
  const StudyField *field = study_row_find_field (name);
  g_autoptr (GPtrArray) names = NULL;
  g_autofree char *meant = NULL;

  for (gsize i = 0; i < G_N_ELEMENTS (brief); i++)
    if (strcmp (name, brief[i][0]) == 0)
      field = study_row_find_field (brief[i][1]);
  if (field != NULL && study_field_is_number (field))
    return field;
  if (field != NULL) {
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_INPUT, "column \"%s\" has no numbers to rank by",
                 name);
    return NULL;
  }
  names = g_ptr_array_new ();
  for (guint at = 0; at < study_row_n_fields (); at++)
    if (study_field_is_number (study_row_field (at)))
      g_ptr_array_add (names, (gpointer) study_row_field (at)->name);
  g_ptr_array_add (names, NULL);
  meant = base_did_you_mean (name, (const char *const *) names->pdata);
  g_set_error (error, STUDY_ERROR, STUDY_ERROR_INPUT, "runs have no column \"%s\"%s", name, meant);
  return NULL;
}

/* --- Cases --- */

/* The text that the rows of one case on `machine` have in common; `separator` keeps the parts apart. */
static char *
case_text (const StudyRow *row, const char *machine, const char *separator, gboolean brief)
{
  GString *text = g_string_new (NULL);
  char scale[G_ASCII_DTOSTR_BUF_SIZE];

  g_string_append_printf (text, "%s%s%s%s%s", row->trace, separator, machine, separator,
                          row->network);
  if (!brief || g_strcmp0 (row->routing, "default") != 0)
    g_string_append_printf (text, "%srouting %s", separator, row->routing);
  if (!brief || g_strcmp0 (row->shrink, "off") != 0)
    g_string_append_printf (text, "%sshrink %s", separator, row->shrink);
  if (!brief || row->compute_scale != 1)
    g_string_append_printf (text, "%scompute x %s", separator,
                            g_ascii_formatd (scale, sizeof scale, "%.10g", row->compute_scale));
  return g_string_free (text, FALSE);
}

char *
study_case_name (const StudyRow *row, const char *machine)
{
  return case_text (row, machine, ", ", TRUE);
}

/* A permutation names every dimension of its machine, so that the letters alone
 * show that they are in their order with the slot last: AT, ABCT, ABCDET ... */
static gboolean
is_default_name (const char *mapping)
{
  gsize n = strlen (mapping);

  if (strcmp (mapping, "default") == 0)
    return TRUE;
  if (n < 2 || n > 7 || mapping[n - 1] != 'T')
    return FALSE;
  for (gsize at = 0; at + 1 < n; at++)
    if (mapping[at] != 'A' + (char) at)
      return FALSE;
  return TRUE;
}

static void
group_free (gpointer data)
{
  Group *group = data;

  g_array_unref (group->values);
  g_array_unref (group->rows);
  g_free (group);
}

static void
case_free (StudyCase *study_case)
{
  if (study_case == NULL)
    return;
  g_free (study_case->name);
  g_free (study_case->default_mapping);
  g_array_unref (study_case->ranked);
  g_free (study_case);
}

static void
builder_free (gpointer data)
{
  Builder *builder = data;

  g_ptr_array_unref (builder->groups);
  g_hash_table_unref (builder->of_mapping);
  case_free (builder->result);
  g_free (builder);
}

static const StudyRow *
row_at (const Group *group, guint i)
{
  return g_array_index (group->rows, const StudyRow *, i);
}

static void
builder_add (Builder *builder, const StudyRow *row, double value)
{
  Group *group;

  if (builder->default_mapping == NULL && is_default_name (row->mapping))
    builder->default_mapping = row->mapping;
  if (row->status != STUDY_DONE) {
    builder->result->n_failed++;
    return;
  }
  if (isnan (value))
    return;
  group = g_hash_table_lookup (builder->of_mapping, row->mapping);
  if (group == NULL) {
    group = g_new (Group, 1);
    *group = (Group){ row->mapping, row, g_array_new (FALSE, FALSE, sizeof (double)),
                      g_array_new (FALSE, FALSE, sizeof (const StudyRow *)), TRUE };
    g_ptr_array_add (builder->groups, group);
    g_hash_table_insert (builder->of_mapping, (gpointer) row->mapping, group);
  }
  /* Replicas of one repetition may be those of another, and are one draw then. */
  for (guint i = 0; i < group->rows->len; i++)
    if (row->key != NULL && g_strcmp0 (row_at (group, i)->key, row->key) == 0)
      return;
  group->is_drawn = group->is_drawn && row->jitter_s > 0;
  g_array_append_val (group->values, value);
  g_array_append_val (group->rows, row);
}

/* --- Ranking --- */

static int
compare_doubles (gconstpointer left, gconstpointer right)
{
  double a = *(const double *) left, b = *(const double *) right;

  return (a > b) - (a < b);
}

/* Whether the runs do not tell the worse mapping from the better one.  Runs of one seed start their
 * ranks at the same times. */
static gboolean
is_tied (const Builder *builder, const StudyRanked *best, const StudyRanked *worse, double tie)
{
  const Group *left = g_hash_table_lookup (builder->of_mapping, best->mapping);
  const Group *right = g_hash_table_lookup (builder->of_mapping, worse->mapping);
  g_autofree double *differences = g_new (double, right->values->len);
  StudySpread spread;
  guint n = 0;

  for (guint i = 0; i < right->values->len && left->is_drawn && right->is_drawn; i++)
    for (guint j = 0; j < left->values->len; j++)
      if (row_at (right, i)->seed == row_at (left, j)->seed) {
        differences[n++] =
            g_array_index (right->values, double, i) - g_array_index (left->values, double, j);
        break;
      }
  spread = study_spread (differences, n);
  return isnan (spread.lower) ? worse->value - best->value <= tie * fabs (best->value)
                              : spread.lower <= 0;
}

static int
compare_ranked (gconstpointer left, gconstpointer right)
{
  return compare_doubles (&((const StudyRanked *) left)->value,
                          &((const StudyRanked *) right)->value);
}

/* The mapping that is the default under another name; NULL: there is none, or the default is not
 * known, as when the files of a fabric have changed since. */
static const char *
default_by_places (const GPtrArray *groups, const Machines *machines)
{
  const StudyRow *asked = NULL; /* the first row on the machine of the study; NULL: no row */

  /* A rankfile has a machine of its own with all cores as slots: never fewer, and mostly more. */
  for (guint i = 0; i < groups->len; i++) {
    const StudyRow *row = ((const Group *) g_ptr_array_index (groups, i))->row;

    if (asked == NULL || row->ranks_per_node < asked->ranks_per_node)
      asked = row;
  }

  const TopoMachine *machine =
      asked != NULL && machines->find != NULL ? machines->find (machines->data, asked, NULL) : NULL;
  g_autoptr (TopoMapping) mapping =
      machine != NULL ? topo_mapping_new (NULL, machine, asked->ranks, NULL) : NULL;
  g_autofree char *hash = mapping != NULL ? study_mapping_hash (mapping) : NULL;
  for (guint i = 0; hash != NULL && i < groups->len; i++) {
    const Group *group = g_ptr_array_index (groups, i);

    if (g_strcmp0 (group->row->machine_hash, asked->machine_hash) == 0 &&
        g_strcmp0 (group->row->mapping_hash, hash) == 0)
      return group->mapping;
  }
  return NULL;
}

/* Takes the case out of the builder, ranked. */
static StudyCase *
builder_finish (Builder *builder, double tie, const Machines *machines)
{
  StudyCase *result = g_steal_pointer (&builder->result);
  double reference = NAN;
  guint best = 0; /* of the place */

  if (builder->default_mapping == NULL)
    builder->default_mapping = default_by_places (builder->groups, machines);
  for (guint i = 0; i < builder->groups->len; i++) {
    const Group *group = g_ptr_array_index (builder->groups, i);
    StudySpread spread =
        study_spread ((const double *) (const void *) group->values->data, group->values->len);
    StudyRanked ranked = { .mapping = group->mapping,
                           .row = group->row,
                           .n_runs = group->values->len,
                           .value = spread.mean,
                           .lower = group->is_drawn ? spread.lower : (double) NAN,
                           .upper = group->is_drawn ? spread.upper : (double) NAN };

    if (g_strcmp0 (group->mapping, builder->default_mapping) == 0)
      reference = ranked.value;
    g_array_append_val (result->ranked, ranked);
  }
  for (guint i = 0; i < result->ranked->len; i++) {
    StudyRanked *it = &g_array_index (result->ranked, StudyRanked, i);

    it->gain = reference == it->value ? 1 : reference / it->value;
  }
  g_array_sort (result->ranked, compare_ranked);

  /* 1, 1, 3: mappings that share a place take up the next ones. */
  for (guint i = 0; i < result->ranked->len; i++) {
    StudyRanked *it = &g_array_index (result->ranked, StudyRanked, i);

    if (i > 0 && !is_tied (builder, &g_array_index (result->ranked, StudyRanked, best), it, tie))
      best = i;
    it->place = best + 1;
  }
  result->default_mapping = g_strdup (builder->default_mapping);
  return result;
}

/* column: of rows, or a name for the values; NULL: that of each network.  values: [rows], NULL: those
 * of the column. */
static GPtrArray *
cases_new (const GPtrArray *rows, const char *column, const double *values, double tie,
           const Machines *machines)
{
  g_autoptr (GPtrArray) builders = g_ptr_array_new_with_free_func (builder_free);
  g_autoptr (GHashTable) of_key = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  GPtrArray *cases = g_ptr_array_new_with_free_func ((GDestroyNotify) case_free);

  g_assert (tie >= 0);
  for (guint i = 0; i < rows->len; i++) {
    const StudyRow *row = g_ptr_array_index (rows, i);
    g_autofree char *key = case_text (row, row->machine, "\n", FALSE);
    Builder *builder = g_hash_table_lookup (of_key, key);

    if (builder == NULL) {
      gboolean is_load = g_strcmp0 (row->network, "load") == 0;

      builder = g_new0 (Builder, 1);
      builder->groups = g_ptr_array_new_with_free_func (group_free);
      builder->of_mapping = g_hash_table_new (g_str_hash, g_str_equal);
      builder->result = g_new0 (StudyCase, 1);
      builder->result->name = study_case_name (row, row->machine);
      builder->result->row = row;
      builder->result->column = column != NULL ? column : is_load ? "max_bytes" : "time_s";
      builder->result->ranked = g_array_new (FALSE, TRUE, sizeof (StudyRanked));
      builder->column = study_row_find_field (builder->result->column);
      g_ptr_array_add (builders, builder);
      g_hash_table_insert (of_key, g_steal_pointer (&key), builder);
    }
    builder_add (builder, row,
                 values != NULL ? values[i] : study_row_number (row, builder->column));
  }
  for (guint i = 0; i < builders->len; i++)
    g_ptr_array_add (cases, builder_finish (g_ptr_array_index (builders, i), tie, machines));
  return cases;
}

GPtrArray *
study_cases_new (const GPtrArray *rows, const char *column, double tie, StudyMachineOf machine,
                 void *data, GError **error)
{
  const StudyField *field = column != NULL ? column_find (column, error) : NULL;

  if (column != NULL && field == NULL)
    return NULL;
  return cases_new (rows, field != NULL ? field->name : NULL, NULL, tie,
                    &(Machines){ machine, data });
}

GPtrArray *
study_cases_new_by_values (const GPtrArray *rows, const char *name, const double *values,
                           double tie, StudyMachineOf machine, void *data)
{
  return cases_new (rows, name, values, tie, &(Machines){ machine, data });
}
