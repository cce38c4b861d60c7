/* learning.c - a store's runs as a table to learn from.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/learning.h"

#include "study/store/row_fields.h"

#include <math.h>
#include <string.h>

/* A row of the table to be. */
typedef struct {
  const StudyRow *observed, *features; /* borrowed */
} Pair;

/* Rows that were run with the same of everything but network, routing and grain. */
typedef struct {
  GPtrArray *observed, *features; /* (element-type StudyRow) borrowed, chosen by either */
} Twins;

typedef struct {
  const char *source;
  const StudyLearning *learning;
  GPtrArray *rows;    /* (element-type StudyRow) */
  GPtrArray *order;   /* (element-type Twins) by their first observed row */
  GHashTable *of_run; /* run_identity() -> Twins */
  GArray *pairs;      /* (element-type Pair) */
  guint n_left_out;
} Learning;

static void
twins_free (gpointer data)
{
  Twins *twins = data;

  g_ptr_array_unref (twins->observed);
  g_ptr_array_unref (twins->features);
  g_free (twins);
}

static void
learning_clear (Learning *learning)
{
  g_clear_pointer (&learning->rows, g_ptr_array_unref);
  g_ptr_array_unref (learning->order);
  g_hash_table_unref (learning->of_run);
  g_array_unref (learning->pairs);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Learning, learning_clear)

/* --- Which runs --- */

static gboolean
is_wanted (const char *wanted, const char *text)
{
  return wanted == NULL || g_strcmp0 (wanted, text) == 0;
}

static gboolean
is_chosen (const StudyLearningRuns *runs, const StudyRow *row)
{
  return is_wanted (runs->network, row->network) && is_wanted (runs->routing, row->routing) &&
         is_wanted (runs->grain, row->grain);
}

static gboolean
is_same_run (const StudyLearningRuns *runs)
{
  return runs->network == NULL && runs->routing == NULL && runs->grain == NULL;
}

static Twins *
find_twins (Learning *learning, const StudyRow *row)
{
  /* What twins share.  A machine is known by its text: a fabric with deterministic routing is
   * another one for the store, but the same to people. */
  char scale[G_ASCII_DTOSTR_BUF_SIZE];

  g_autofree char *identity = g_strdup_printf (
      "%s\n%s\n%s\n%s\n%" G_GUINT64_FORMAT "\n%u", row->trace_hash, row->machine, row->mapping_hash,
      g_ascii_dtostr (scale, sizeof scale, row->compute_scale), row->seed, row->repetition);
  Twins *twins = g_hash_table_lookup (learning->of_run, identity);

  if (twins != NULL)
    return twins;
  twins = g_new (Twins, 1);
  *twins = (Twins){ g_ptr_array_new (), g_ptr_array_new () };
  g_hash_table_insert (learning->of_run, g_steal_pointer (&identity), twins);
  return twins;
}

/* The same run may stand in several places of the plan. */
static void
add_once (GPtrArray *rows, const StudyRow *row)
{
  for (guint at = 0; at < rows->len; at++)
    if (strcmp (((const StudyRow *) g_ptr_array_index (rows, at))->key, row->key) == 0)
      return;
  g_ptr_array_add (rows, (gpointer) row);
}

static void
sort_row (Learning *learning, const StudyRow *row)
{
  gboolean observed = is_chosen (&learning->learning->observed, row);
  gboolean has_time = !isnan (row->time_s);
  Twins *twins;

  if (row->status != STUDY_DONE)
    return;
  twins = find_twins (learning, row);
  if (is_chosen (&learning->learning->features, row))
    add_once (twins->features, row);
  if (!observed || (!has_time && !learning->learning->without_time))
    return;
  if (twins->observed->len == 0)
    g_ptr_array_add (learning->order, twins);
  add_once (twins->observed, row);
}

/* --- Pairs --- */

/* What tells two of the runs apart, as an option would: "network=packet or network=flow". */
static char *
tell_apart (const GPtrArray *runs)
{
  const StudyRow *first = g_ptr_array_index (runs, 0), *second = g_ptr_array_index (runs, 1);
  const struct {
    const char *name, *first, *second;
  } choices[] = { { "network", first->network, second->network },
                  { "routing", first->routing, second->routing },
                  { "grain", first->grain, second->grain } };

  for (gsize at = 0; at < G_N_ELEMENTS (choices); at++)
    if (g_strcmp0 (choices[at].first, choices[at].second) != 0)
      return g_strdup_printf ("choose %s=%s or %s=%s", choices[at].name, choices[at].first,
                              choices[at].name, choices[at].second);
  return g_strdup_printf ("their keys are %s and %s, and no choice tells them apart", first->key,
                          second->key);
}

/* The only one of them; NULL: there is none, or several and *error. */
static const StudyRow *
only_run (const Learning *learning, const GPtrArray *runs, const char *role, GError **error)
{
  g_autofree char *choice = NULL;
  const StudyRow *first;

  if (runs->len == 0)
    return NULL;
  first = g_ptr_array_index (runs, 0);
  if (runs->len == 1)
    return first;
  choice = tell_apart (runs);
  g_set_error (error, STUDY_ERROR, STUDY_ERROR_INPUT,
               "%s: %s runs: %s with %s on %s was run in several ways: %s", learning->source, role,
               first->trace, first->mapping, first->machine, choice);
  return NULL;
}

static gboolean
pair_up (Learning *learning, Twins *twins, GError **error)
{
  GError *trouble = NULL;
  Pair pair;

  /* A run that tells no time only stands for those that nothing else was observed of. */
  GPtrArray *runs = twins->observed;
  gboolean any = FALSE;

  for (guint at = 0; at < runs->len; at++)
    any |= !isnan (((const StudyRow *) g_ptr_array_index (runs, at))->time_s);
  for (guint at = runs->len; any && at-- > 0;)
    if (isnan (((const StudyRow *) g_ptr_array_index (runs, at))->time_s))
      g_ptr_array_remove_index (runs, at);
  pair.observed = only_run (learning, twins->observed, "observed", &trouble);
  pair.features =
      is_same_run (&learning->learning->features)
          ? pair.observed
          : (trouble == NULL ? only_run (learning, twins->features, "feature", &trouble) : NULL);
  if (trouble != NULL) {
    g_propagate_error (error, trouble);
    return FALSE;
  }
  if (pair.features != NULL)
    g_array_append_val (learning->pairs, pair);
  else
    learning->n_left_out++;
  return TRUE;
}

static gboolean
check_pairs (const Learning *learning, GError **error)
{
  if (learning->pairs->len > 0)
    return TRUE;
  if (learning->order->len > 0)
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_INPUT,
                 "%s: none of the %u observed runs has its placement in the feature runs",
                 learning->source, learning->order->len);
  else
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_INPUT, "%s: no run that is done %s",
                 learning->source,
                 is_same_run (&learning->learning->observed)
                     ? "has a time"
                     : "is one of the observed runs, and has a time");
  return FALSE;
}

/* --- The table --- */

static gboolean
is_feature (const StudyField *field)
{
  return field->offset >= G_STRUCT_OFFSET (StudyRow, features) &&
         field->offset < G_STRUCT_OFFSET (StudyRow, features) + sizeof ((StudyRow *) 0)->features;
}

static const StudyRow *
pair_row (const Pair *pair, const StudyField *field)
{
  return is_feature (field) ? pair->features : pair->observed;
}

PredictTable *
study_learning_table (StudyStore *store, GPtrArray *rows, const StudyLearning *choice,
                      guint *n_left_out, GError **error)
{
  g_auto (Learning) learning = {
    .source = study_store_path (store),
    .learning = choice,
    .rows = rows != NULL ? g_ptr_array_ref (rows) : study_store_rows (store, FALSE, error),
    .order = g_ptr_array_new (),
    .of_run = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, twins_free),
    .pairs = g_array_new (FALSE, FALSE, sizeof (Pair)),
  };

  if (learning.rows == NULL)
    return NULL;
  for (guint at = 0; at < learning.rows->len; at++)
    sort_row (&learning, g_ptr_array_index (learning.rows, at));
  for (guint at = 0; at < learning.order->len; at++)
    if (!pair_up (&learning, g_ptr_array_index (learning.order, at), error))
      return NULL;
  if (!check_pairs (&learning, error))
    return NULL;
  *n_left_out = learning.n_left_out;

  PredictTable *table = predict_table_new (learning.source, learning.pairs->len);

  for (guint column = 0; column < study_row_n_columns (FALSE); column++)
    if (study_row_column_is_number (column)) {
      const StudyField *field = study_row_field (column);
      double *numbers = g_new (double, table->n_rows);

      for (guint at = 0; at < learning.pairs->len; at++)
        numbers[at] =
            study_row_number (pair_row (&g_array_index (learning.pairs, Pair, at), field), field);
      predict_table_take_numbers (table, field->name, field->unit, numbers);
    } else {
      const StudyField *field = study_row_field (column);
      g_autoptr (GPtrArray) texts = g_ptr_array_new_with_free_func (g_free);

      for (guint at = 0; at < learning.pairs->len; at++)
        g_ptr_array_add (texts,
                         study_row_column_text (
                             pair_row (&g_array_index (learning.pairs, Pair, at), field), column));
      predict_table_add_texts (table, field->name, (const char *const *) texts->pdata);
    }
  return table;
}
