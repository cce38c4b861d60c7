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

/* --- Measured values --- */

/* The inputs of a run, the most familiar first. */
static const char *const inputs[] = {
  "trace",         "machine",    "mapping", "ranks_per_node", "network",      "routing",
  "compute_scale", "repetition", "seed",    "shrink",         "ranks",        "nodes",
  "links",         "version",    "key",     "trace_hash",     "machine_hash", "mapping_hash",
};

#define MOST_TOLD 3u         /* values that an error lists of an input in which runs differ */
#define NO_RUN    UINT64_MAX /* of a measurement */

/* Measurements and their runs, by the inputs that are columns of both tables. */
typedef struct {
  const PredictTable *runs, *measured;
  const char *name[G_N_ELEMENTS (inputs)]; /* [n_keys], and their columns in both tables */
  guint in_runs[G_N_ELEMENTS (inputs)], in_measured[G_N_ELEMENTS (inputs)];
  guint n_keys;
  const double *values; /* [measured rows] the target */
  uint64_t *run;        /* [measured rows] a row of `runs`, or NO_RUN */
} Join;

static void
join_clear (Join *join)
{
  g_free (join->run);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Join, join_clear)

/* "trace=a.hct, mapping=TABCDE"; the caller frees. */
static char *
name_of (const Join *join, const PredictTable *table, const guint *columns, uint64_t row)
{
  GString *name = g_string_new (NULL);

  for (guint key = 0; key < join->n_keys; key++) {
    g_autofree char *cell = predict_table_cell (table, columns[key], row);

    g_string_append_printf (name, "%s%s=%s", key > 0 ? ", " : "", join->name[key], cell);
  }
  return g_string_free (name, FALSE);
}

/* The first input in which the runs differ, and its values: "mapping (ABCDET, TABCDE, ...)"; the
 * caller frees. */
static char *
difference_of (const PredictTable *runs, const GArray *rows)
{
  for (gsize at = 0; at < G_N_ELEMENTS (inputs); at++) {
    const PredictColumn *column = predict_table_find (runs, inputs[at]);
    g_autoptr (GPtrArray) cells = g_ptr_array_new_with_free_func (g_free);
    g_autofree char *list = NULL;

    for (guint i = 0; column != NULL && i < rows->len && cells->len <= MOST_TOLD; i++) {
      char *cell = predict_table_cell (runs, (guint) (column - runs->columns),
                                       g_array_index (rows, uint64_t, i));

      if (g_ptr_array_find_with_equal_func (cells, cell, g_str_equal, NULL))
        g_free (cell);
      else
        g_ptr_array_add (cells, cell);
    }
    if (cells->len < 2)
      continue;
    if (cells->len > MOST_TOLD) {
      g_free (cells->pdata[MOST_TOLD]);
      cells->pdata[MOST_TOLD] = g_strdup ("...");
    }
    g_ptr_array_add (cells, NULL);
    list = g_strjoinv (", ", (char **) cells->pdata);
    return g_strdup_printf ("%s (%s)", inputs[at], list);
  }
  g_assert_not_reached (); /* keys differ */
}

/* Finds the run of each measurement. */
static gboolean
join_match (Join *join, GError **error)
{
  /* Name -> GArray of uint64_t, its rows. */
  g_autoptr (GHashTable) of_name =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_array_unref);

  join->run = g_new (uint64_t, join->measured->n_rows + 1);
  for (uint64_t row = 0; row < join->runs->n_rows; row++) {
    char *name = name_of (join, join->runs, join->in_runs, row);
    GArray *rows = g_hash_table_lookup (of_name, name);

    if (rows == NULL) {
      rows = g_array_new (FALSE, FALSE, sizeof row);
      g_hash_table_insert (of_name, name, rows);
    } else
      g_free (name);
    g_array_append_val (rows, row);
  }
  for (uint64_t row = 0; row < join->measured->n_rows; row++) {
    g_autofree char *name = name_of (join, join->measured, join->in_measured, row);
    const GArray *rows = g_hash_table_lookup (of_name, name);
    g_autofree char *difference =
        rows != NULL && rows->len > 1 ? difference_of (join->runs, rows) : NULL;

    if (difference != NULL)
      return predict_table_refuse (join->measured, row, error,
                                   "%s has %u runs with %s; they differ in %s", join->runs->source,
                                   rows->len, name, difference);
    join->run[row] = rows != NULL ? g_array_index (rows, uint64_t, 0) : NO_RUN;
  }
  return TRUE;
}

static gboolean
join_new (Join *join, const char *target, GError **error)
{
  const PredictTable *runs = join->runs, *measured = join->measured;

  join->values = predict_table_finite (measured, target, error);
  for (uint64_t row = 0; join->values != NULL && row < measured->n_rows; row++)
    if (join->values[row] < 0)
      return predict_table_refuse (measured, row, error, "%s is negative: %g", target,
                                   join->values[row]);
  if (join->values == NULL)
    return FALSE;
  for (gsize at = 0; at < G_N_ELEMENTS (inputs); at++) {
    const PredictColumn *in_runs = predict_table_find (runs, inputs[at]);
    const PredictColumn *in_measured = predict_table_find (measured, inputs[at]);

    if (in_runs == NULL || in_measured == NULL || strcmp (inputs[at], target) == 0)
      continue;
    join->name[join->n_keys] = inputs[at];
    join->in_runs[join->n_keys] = (guint) (in_runs - runs->columns);
    join->in_measured[join->n_keys++] = (guint) (in_measured - measured->columns);
  }
  if (join->n_keys > 0)
    return join_match (join, error);
  g_set_error (error, STUDY_ERROR, STUDY_ERROR_INPUT,
               "%s: no column identifies the measured run: trace, machine, mapping, key or another "
               "input of a run",
               measured->source);
  return FALSE;
}

/* The runs of some measurements, whose places they get. */
static PredictTable *
join_pick (const Join *join, const uint64_t *rows, uint64_t n)
{
  g_autofree uint64_t *picked = g_new (uint64_t, n + 1);
  PredictTable *table;

  for (uint64_t at = 0; at < n; at++)
    picked[at] = join->run[rows[at]];
  table = predict_table_pick (join->runs, picked, n);
  g_free (table->source);
  table->source = g_strdup_printf ("%s with %s", join->runs->source, join->measured->source);
  g_free (table->lines);
  table->lines = join->measured->lines != NULL ? g_new (uint64_t, n + 1) : NULL;
  for (uint64_t at = 0; table->lines != NULL && at < n; at++)
    table->lines[at] = join->measured->lines[rows[at]];
  return table;
}

/* Whether the runs get that column of the measurements. */
static gboolean
is_added (const Join *join, const PredictColumn *column)
{
  return column->numbers != NULL && predict_table_find (join->runs, column->name) == NULL;
}

PredictTable *
study_measured_rows (const PredictTable *runs, const PredictTable *measured, const char *target,
                     GError **error)
{
  g_auto (Join) join = { .runs = runs, .measured = measured };
  g_autofree uint64_t *before = g_new0 (uint64_t, runs->n_rows + 1); /* of a run, plus 1 */
  g_autofree uint64_t *rows = g_new (uint64_t, measured->n_rows + 1);
  PredictTable *table;

  if (!join_new (&join, target, error))
    return NULL;
  for (uint64_t row = 0; row < measured->n_rows; row++) {
    uint64_t run = join.run[row];
    g_autofree char *name = name_of (&join, measured, join.in_measured, row), *place = NULL;

    rows[row] = row;
    if (run == NO_RUN) {
      predict_table_refuse (measured, row, error, "%s has no run with %s", runs->source, name);
      return NULL;
    }
    if (before[run] > 0) {
      place = predict_table_place (measured, before[run] - 1);
      predict_table_refuse (measured, row, error, "the run with %s was measured before, at %s",
                            name, place);
      return NULL;
    }
    before[run] = row + 1;
  }
  table = join_pick (&join, rows, measured->n_rows);
  for (guint at = 0; at < measured->n_columns; at++) {
    const PredictColumn *column = &measured->columns[at];

    if (is_added (&join, column) && strcmp (column->name, target) != 0)
      predict_table_take_numbers (
          table, column->name, column->unit,
          g_memdup2 (column->numbers, measured->n_rows * sizeof *column->numbers));
  }
  return table;
}

/* The measurements by runs. */
typedef struct {
  uint64_t *place;  /* [measured rows] of the run among the measured ones; NO_RUN */
  uint64_t *first;  /* [n_runs] the first measurement of each */
  guint *n_repeats; /* [n_runs] how many there are */
  uint64_t n_runs;
  guint most_repeats;
} Repeats;

static void
repeats_clear (Repeats *repeats)
{
  g_free (repeats->place);
  g_free (repeats->first);
  g_free (repeats->n_repeats);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Repeats, repeats_clear)

static void
repeats_count (Repeats *repeats, const Join *join)
{
  uint64_t n = join->measured->n_rows;
  g_autofree uint64_t *place_of = g_new0 (uint64_t, join->runs->n_rows + 1); /* of a run, plus 1 */

  repeats->place = g_new (uint64_t, n + 1);
  repeats->first = g_new (uint64_t, n + 1);
  repeats->n_repeats = g_new0 (guint, n + 1);
  for (uint64_t row = 0; row < n; row++) {
    uint64_t run = join->run[row], place;

    repeats->place[row] = NO_RUN;
    if (run == NO_RUN)
      continue;
    if (place_of[run] == 0) {
      repeats->first[repeats->n_runs] = row;
      place_of[run] = ++repeats->n_runs;
    }
    repeats->place[row] = place = place_of[run] - 1;
    repeats->n_repeats[place]++;
    repeats->most_repeats = MAX (repeats->most_repeats, repeats->n_repeats[place]);
  }
}

/* The mean of a column over the measurements of each run. */
static double *
means_of (const Repeats *repeats, const Join *join, const double *numbers)
{
  double *means = g_new0 (double, repeats->n_runs);

  for (uint64_t row = 0; row < join->measured->n_rows; row++)
    if (repeats->place[row] != NO_RUN)
      means[repeats->place[row]] += numbers[row];
  for (uint64_t at = 0; at < repeats->n_runs; at++)
    means[at] /= repeats->n_repeats[at];
  return means;
}

/* The draws of replicas that stood there were of a column of the runs. */
static void
take_repeats (StudyLearned *learned, const Repeats *repeats, const Join *join)
{
  gsize n_draws = repeats->most_repeats > 1 ? repeats->most_repeats : 0;
  g_autofree guint *n_taken = g_new0 (guint, repeats->n_runs);

  g_free (learned->draws);
  learned->n_draws = (guint) n_draws;
  learned->draws = g_new (double, repeats->n_runs *n_draws);
  for (gsize at = 0; at < repeats->n_runs * n_draws; at++)
    learned->draws[at] = (double) NAN;
  for (uint64_t row = 0; row < join->measured->n_rows; row++) {
    uint64_t place = repeats->place[row];

    if (place == NO_RUN) {
      if (learned->n_unmatched++ == 0)
        learned->first_unmatched = row;
    } else if (n_draws > 0)
      learned->draws[place * n_draws + n_taken[place]++] = join->values[row];
  }
  for (uint64_t at = 0; at < repeats->n_runs; at++)
    learned->n_repeated += repeats->n_repeats[at] > 1;
  learned->n_unmeasured = (guint) (join->runs->n_rows - repeats->n_runs);
}

PredictTable *
study_measured_runs (const PredictTable *runs, const PredictTable *measured, const char *target,
                     StudyLearned *learned, GError **error)
{
  g_auto (Join) join = { .runs = runs, .measured = measured };
  g_auto (Repeats) repeats = { NULL };
  PredictTable *table;

  if (predict_table_find (runs, target) != NULL) {
    g_set_error (
        error, STUDY_ERROR, STUDY_ERROR_INPUT,
        "%s: runs have a column %s of their own; the measured one needs another name, such "
        "as measured_s",
        measured->source, target);
    return NULL;
  }
  if (!join_new (&join, target, error))
    return NULL;
  repeats_count (&repeats, &join);
  if (measured->n_rows == 0)
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_INPUT, "%s: has no rows", measured->source);
  else if (repeats.n_runs == 0) {
    g_autofree char *name = name_of (&join, measured, join.in_measured, 0);

    predict_table_refuse (measured, 0, error,
                          "%s has no run with %s, and none of any other measurement", runs->source,
                          name);
  }
  if (repeats.n_runs == 0)
    return NULL;
  table = join_pick (&join, repeats.first, repeats.n_runs);
  for (guint at = 0; at < measured->n_columns; at++) {
    const PredictColumn *column = &measured->columns[at];

    if (is_added (&join, column))
      predict_table_take_numbers (table, column->name, column->unit,
                                  means_of (&repeats, &join, column->numbers));
  }
  take_repeats (learned, &repeats, &join);
  return table;
}
