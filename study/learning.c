/* learning.c - a store's runs as a table to learn from.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/learning.h"

#include "study/replicas.h"
#include "study/store/row_fields.h"

#include <math.h>
#include <string.h>

/* A row of the resulting table. */
typedef struct {
  const StudyRow *observed, *features; /* borrowed */
  const GPtrArray *replicas; /* (element-type StudyRow) likewise: `observed`, or its draws */
} Pair;

/* Rows that differ in nothing but network, routing, shrink and replica. */
typedef struct {
  GPtrArray *observed, *features; /* (element-type StudyRow) borrowed, chosen by either */
} Group;

typedef struct {
  const char *source;
  const StudyLearning *learning;
  GPtrArray *rows;    /* (element-type StudyRow) */
  GPtrArray *order;   /* (element-type Group) by their first observed row */
  GHashTable *of_run; /* the text of group_of() -> Group */
  GArray *pairs;      /* (element-type Pair) */
  GPtrArray *means;   /* (element-type StudyRow) of replicas, which pairs borrow */
  guint n_left_out;
} Learning;

static void
group_free (gpointer data)
{
  Group *group = data;

  g_ptr_array_unref (group->observed);
  g_ptr_array_unref (group->features);
  g_free (group);
}

static void
learning_clear (Learning *learning)
{
  g_clear_pointer (&learning->rows, g_ptr_array_unref);
  g_ptr_array_unref (learning->order);
  g_hash_table_unref (learning->of_run);
  g_array_unref (learning->pairs);
  g_ptr_array_unref (learning->means);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Learning, learning_clear)

/* --- The chosen runs --- */

static gboolean
is_wanted (const char *wanted, const char *text)
{
  return wanted == NULL || g_strcmp0 (wanted, text) == 0;
}

static gboolean
is_chosen (const StudyLearningRuns *runs, const StudyRow *row)
{
  return is_wanted (runs->network, row->network) && is_wanted (runs->routing, row->routing) &&
         is_wanted (runs->shrink, row->shrink);
}

static gboolean
is_same_run (const StudyLearningRuns *runs)
{
  return runs->network == NULL && runs->routing == NULL && runs->shrink == NULL;
}

/* A machine is identified by its text: a fabric with deterministic routing is another one for the
 * store, but the same to people. */
static Group *
group_of (Learning *learning, const StudyRow *row)
{
  char scale[G_ASCII_DTOSTR_BUF_SIZE];
  g_autofree char *identity =
      g_strdup_printf ("%s\n%s\n%s\n%s\n%" G_GUINT64_FORMAT "\n%u", row->trace_hash, row->machine,
                       row->mapping_hash, g_ascii_dtostr (scale, sizeof scale, row->compute_scale),
                       row->seed - row->replica, row->repetition);
  Group *group = g_hash_table_lookup (learning->of_run, identity);

  if (group != NULL)
    return group;
  group = g_new (Group, 1);
  *group = (Group){ g_ptr_array_new (), g_ptr_array_new () };
  g_hash_table_insert (learning->of_run, g_steal_pointer (&identity), group);
  return group;
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

/* --- Pairs --- */

/* Whether two runs are replicas of one. */
static gboolean
is_replica (const StudyRow *row, const StudyRow *other)
{
  return row->jitter_s > 0 && row->jitter_s == other->jitter_s &&
         g_strcmp0 (row->network, other->network) == 0 &&
         g_strcmp0 (row->routing, other->routing) == 0 &&
         g_strcmp0 (row->shrink, other->shrink) == 0;
}

/* The mean of replicas, by the key of the first. */
static const StudyRow *
mean_of (Learning *learning, const GPtrArray *runs)
{
  StudyRow *mean = study_rows_mean (runs);

  g_free (mean->key);
  mean->key = g_strdup (((const StudyRow *) g_ptr_array_index (runs, 0))->key);
  g_ptr_array_add (learning->means, mean);
  return mean;
}

/* The only run, or the mean of its replicas; NULL: there is none, or several and *error with a choice
 * between two of them, as an option has it: "network=packet or network=flow". */
static const StudyRow *
only_run (Learning *learning, const GPtrArray *runs, const char *role, GError **error)
{
  const StudyRow *first = runs->len > 0 ? g_ptr_array_index (runs, 0) : NULL, *second = NULL;
  g_autofree char *choice = NULL;

  if (runs->len <= 1)
    return first;
  for (guint at = 1; at < runs->len && second == NULL; at++)
    if (!is_replica (first, g_ptr_array_index (runs, at)))
      second = g_ptr_array_index (runs, at);
  if (second == NULL)
    return mean_of (learning, runs);

  const struct {
    const char *name, *first, *second;
  } choices[] = { { "network", first->network, second->network },
                  { "routing", first->routing, second->routing },
                  { "shrink", first->shrink, second->shrink } };

  for (gsize at = 0; choice == NULL && at < G_N_ELEMENTS (choices); at++)
    if (g_strcmp0 (choices[at].first, choices[at].second) != 0)
      choice = g_strdup_printf ("choose %s=%s or %s=%s", choices[at].name, choices[at].first,
                                choices[at].name, choices[at].second);
  if (choice == NULL)
    choice = g_strdup_printf ("their keys are %s and %s, and no choice tells them apart",
                              first->key, second->key);
  g_set_error (error, STUDY_ERROR, STUDY_ERROR_INPUT,
               "%s: %s runs: %s with %s on %s was run in several ways: %s", learning->source, role,
               first->trace, first->mapping, first->machine, choice);
  return NULL;
}

static gboolean
add_pair (Learning *learning, Group *group, GError **error)
{
  GPtrArray *runs = group->observed;
  GError *trouble = NULL;
  gboolean has_time = FALSE;
  Pair pair;

  /* A run without a time counts only where no observed run has one. */
  for (guint at = 0; at < runs->len; at++)
    has_time |= !isnan (((const StudyRow *) g_ptr_array_index (runs, at))->time_s);
  for (guint at = runs->len; has_time && at-- > 0;)
    if (isnan (((const StudyRow *) g_ptr_array_index (runs, at))->time_s))
      g_ptr_array_remove_index (runs, at);
  pair.features = pair.observed = only_run (learning, runs, "observed", &trouble);
  if (trouble == NULL && !is_same_run (&learning->learning->features))
    pair.features = only_run (learning, group->features, "feature", &trouble);
  if (trouble != NULL) {
    g_propagate_error (error, trouble);
    return FALSE;
  }
  if (pair.features == NULL) {
    learning->n_left_out++;
    return TRUE;
  }
  pair.replicas = runs;
  g_array_append_val (learning->pairs, pair);
  return TRUE;
}

/* Replicas of one number have the same seed: their draws stand in the same place of each row, unless
 * some were not made. */
static void
take_draws (const Learning *learning, StudyLearned *learned)
{
  const char *noisy = learning->learning->noisy != NULL ? learning->learning->noisy : "time_s";
  const StudyField *field = study_row_find_field (noisy);
  const GArray *pairs = learning->pairs;

  if (field == NULL || !study_field_is_number (field))
    return;
  for (guint at = 0; at < pairs->len; at++)
    learned->n_draws = MAX (learned->n_draws, g_array_index (pairs, Pair, at).replicas->len);
  learned->draws = g_new (double, (gsize) pairs->len * learned->n_draws);
  for (gsize i = 0; i < (gsize) pairs->len * learned->n_draws; i++)
    learned->draws[i] = (double) NAN;
  for (guint at = 0; at < pairs->len; at++) {
    const GPtrArray *replicas = g_array_index (pairs, Pair, at).replicas;
    double *draws = learned->draws + (gsize) at * learned->n_draws;

    for (guint i = 0; i < replicas->len; i++) {
      const StudyRow *row = g_ptr_array_index (replicas, i);
      guint place = row->replica;

      if (place >= learned->n_draws || !isnan (draws[place]))
        for (place = 0; place < learned->n_draws - 1 && !isnan (draws[place]);)
          place++;
      draws[place] = study_row_number (row, field);
    }
  }
}

void
study_learned_clear (StudyLearned *learned)
{
  g_clear_pointer (&learned->draws, g_free);
}

PredictNoise
study_learned_noise (const StudyLearned *learned, const uint64_t *rows, uint64_t n)
{
  g_autofree double *picked = NULL;

  if (rows == NULL || learned->n_draws == 0)
    return predict_noise (learned->draws, learned->n_draws > 0 ? n : 0, learned->n_draws);
  picked = g_new (double, n * learned->n_draws);
  for (uint64_t at = 0; at < n; at++)
    memcpy (picked + at * learned->n_draws, learned->draws + rows[at] * learned->n_draws,
            learned->n_draws * sizeof *picked);
  return predict_noise (picked, n, learned->n_draws);
}

/* --- The table --- */

PredictTable *
study_learning_table (StudyStore *store, GPtrArray *rows, const StudyLearning *choice,
                      StudyLearned *learned, GError **error)
{
  g_auto (Learning) learning = {
    .source = study_store_path (store),
    .learning = choice,
    .rows = rows != NULL ? g_ptr_array_ref (rows) : study_store_rows (store, FALSE, error),
    .order = g_ptr_array_new (),
    .of_run = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, group_free),
    .pairs = g_array_new (FALSE, FALSE, sizeof (Pair)),
    .means = g_ptr_array_new_with_free_func ((GDestroyNotify) study_row_free),
  };
  PredictTable *table;

  *learned = (StudyLearned){ 0 };
  if (learning.rows == NULL)
    return NULL;
  for (guint at = 0; at < learning.rows->len; at++) {
    const StudyRow *row = g_ptr_array_index (learning.rows, at);
    Group *group;

    if (row->status != STUDY_DONE)
      continue;
    group = group_of (&learning, row);
    if (is_chosen (&choice->features, row))
      add_once (group->features, row);
    if (!is_chosen (&choice->observed, row) || (isnan (row->time_s) && !choice->without_time))
      continue;
    if (group->observed->len == 0)
      g_ptr_array_add (learning.order, group);
    add_once (group->observed, row);
  }
  for (guint at = 0; at < learning.order->len; at++)
    if (!add_pair (&learning, g_ptr_array_index (learning.order, at), error))
      return NULL;
  if (learning.pairs->len == 0) {
    if (learning.order->len > 0)
      g_set_error (error, STUDY_ERROR, STUDY_ERROR_INPUT,
                   "%s: none of the %u observed runs has its placement in the feature runs",
                   learning.source, learning.order->len);
    else
      g_set_error (error, STUDY_ERROR, STUDY_ERROR_INPUT, "%s: no run that is done %s",
                   learning.source,
                   is_same_run (&choice->observed) ? "has a time"
                                                   : "is one of the observed runs, and has a time");
    return NULL;
  }
  learned->n_left_out = learning.n_left_out;
  take_draws (&learning, learned);
  table = predict_table_new (learning.source, learning.pairs->len);
  for (guint column = 0; column < study_row_n_columns (FALSE); column++) {
    const StudyField *field = study_row_field (column);
    gboolean is_number = study_field_is_number (field);
    double *numbers = is_number ? g_new (double, table->n_rows) : NULL;
    g_autoptr (GPtrArray) texts = g_ptr_array_new_with_free_func (g_free);

    for (guint at = 0; at < learning.pairs->len; at++) {
      const Pair *pair = &g_array_index (learning.pairs, Pair, at);
      const StudyRow *row = study_field_is_feature (field) ? pair->features : pair->observed;

      if (is_number)
        numbers[at] = study_row_number (row, field);
      else
        g_ptr_array_add (texts, study_row_column_text (row, column));
    }
    if (is_number)
      predict_table_take_numbers (table, field->name, field->unit, numbers);
    else
      predict_table_add_texts (table, field->name, (const char *const *) texts->pdata);
  }
  return table;
}
