/* sc13_stores.c - the cases of the SC13 study, from its stores.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/decimal.h"
#include "predictors/table/table.h"
#include "study/replicas.h"
#include "study/store/row_fields.h"
#include "study/store/store.h"
#include "validation/sc13/sc13.h"

#include <math.h>
#include <string.h>

const char *const sc13_source_names[SC13_N_SOURCES] = { "same", "shrunk", "coarse", "load" };

#define EXACT SC13_N_SOURCES /* what a study is for, beside the sources */

/* While stores are read. */
typedef struct {
  Sc13Stores *stores;
  GPtrArray *rows;    /* of all stores */
  GHashTable *copies; /* copies_key() -> GPtrArray of its replicas, borrowed rows */
  GHashTable *names;  /* of the studies read */
} Reading;

void
sc13_samples_free (Sc13Samples *samples)
{
  for (guint i = 0; i < SC13_N_SOURCES; i++)
    if (samples->rows[i] != NULL)
      g_ptr_array_unref (samples->rows[i]);
  if (samples->exact != NULL)
    g_ptr_array_unref (samples->exact);
  g_free (samples->draws);
  g_free (samples->group);
  g_free (samples->set);
  g_free (samples->name);
  g_free (samples);
}

void
sc13_stores_free (Sc13Stores *stores)
{
  g_ptr_array_unref (stores->cases);
  g_free (stores);
}

static void
row_free (gpointer row)
{
  if (row != NULL)
    study_row_free (row);
}

static Sc13Samples *
samples_new (const char *name)
{
  Sc13Samples *samples = g_new0 (Sc13Samples, 1);

  samples->name = g_strdup (name);
  samples->rows[SC13_SAME] = g_ptr_array_new ();
  return samples;
}

static Sc13Samples *
find_case (const Sc13Stores *stores, const char *name)
{
  for (guint i = 0; i < stores->cases->len; i++) {
    Sc13Samples *samples = g_ptr_array_index (stores->cases, i);

    if (strcmp (samples->name, name) == 0)
      return samples;
  }
  return NULL;
}

static char *
copies_key (const char *name, guint purpose, const StudyRow *row)
{
  return g_strdup_printf ("%s %u %s", name, purpose, row->mapping_hash);
}

/* What a study's runs are for, of which *name is then the rest: "load.16k.halo2d". */
static guint
purpose_of (const char **name)
{
  for (guint purpose = SC13_SHRUNK; purpose <= EXACT; purpose++) {
    const char *word = purpose == EXACT ? "exact" : sc13_source_names[purpose];

    if (g_str_has_prefix (*name, word) && (*name)[strlen (word)] == '.') {
      *name += strlen (word) + 1;
      return purpose;
    }
  }
  return SC13_SAME;
}

/* "16k.halo2d" of a study "16k.halo2d", or of "16k" with a trace "gen:halo2d:..."; g_free(). */
static char *
case_name (const char *study, const StudyRow *row)
{
  g_auto (GStrv) parts = g_strsplit (row->trace, ":", 3);
  const char *program = g_strv_length (parts) < 2 ? row->trace : parts[1];
  g_autofree char *suffix = g_strconcat (".", program, NULL);

  return strcmp (study, program) == 0 || g_str_has_suffix (study, suffix)
             ? g_strdup (study)
             : g_strconcat (study, suffix, NULL);
}

/* Makes the time and what features count those of one iteration of a generated trace, as the paper's
 * times are: cases that are learned together may differ in their number. */
static void
take_one_iteration (StudyRow *row)
{
  const char *found = strstr (row->trace, "iterations=");
  guint64 n = found != NULL ? g_ascii_strtoull (found + strlen ("iterations="), NULL, 10) : 1;

  if (n <= 1)
    return;
  row->time_s /= (double) n;
  for (guint feature = 0; feature < SIM_N_FEATURES; feature++)
    if (sim_feature_adds_up ((SimFeature) feature))
      row->features[feature] /= (double) n;
}

static void
add_row (Reading *reading, const char *study, StudyRow *row)
{
  bool is_load = strcmp (row->network, "load") == 0;
  guint purpose = purpose_of (&study);
  g_autofree char *name = case_name (study, row), *key = NULL;
  GPtrArray *copies;
  Sc13Samples *samples;

  if (row->status != STUDY_DONE || !(is_load || strcmp (row->network, "packet") == 0))
    return;
  if (is_load)
    purpose = SC13_LOAD;
  key = copies_key (name, purpose, row);
  copies = g_hash_table_lookup (reading->copies, key);
  if (copies != NULL) {
    g_ptr_array_add (copies, row);
    return;
  }
  copies = g_ptr_array_new ();
  g_ptr_array_add (copies, row);
  g_hash_table_insert (reading->copies, g_steal_pointer (&key), copies);
  if (purpose != SC13_SAME)
    return;
  if ((samples = find_case (reading->stores, name)) == NULL)
    g_ptr_array_add (reading->stores->cases, samples = samples_new (name));
  g_ptr_array_add (samples->rows[SC13_SAME], row);
}

/* Whether a cell of an export has what its field can hold. */
static bool
take_cell (StudyRow *row, const StudyField *field, const char *text)
{
  double number;

  switch (field->kind) {
  case STUDY_FIELD_TEXT: *(char **) study_row_at (row, field) = g_strdup (text); return true;
  case STUDY_FIELD_REAL: return base_decimal_all (text, study_row_at (row, field));
  case STUDY_FIELD_STATUS:
    row->status = strcmp (text, study_status_name (STUDY_DONE)) == 0 ? STUDY_DONE : STUDY_FAILED;
    return true;
  case STUDY_FIELD_LIST: return true;
  case STUDY_FIELD_U32:
  case STUDY_FIELD_U64:
  default: break;
  }
  if (!base_decimal_all (text, &number) || number != floor (number) || number < 0 ||
      number > (field->kind == STUDY_FIELD_U32 ? (double) G_MAXUINT32 : 0x1p53))
    return false;
  study_row_set_integer (row, field, (uint64_t) number);
  return true;
}

/* The runs of a table as `study export --format csv --timing` writes it (element-type StudyRow), all
 * but their warnings; columns that are not a run's do not matter. */
static GPtrArray *
read_export (const char *path, GError **error)
{
  static const char *const needed[] = {
    "trace", "mapping_hash", "network", "status", "time_s", NULL
  };
  g_autoptr (PredictTable) table = predict_table_read (path, error);
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify) study_row_free);

  if (table == NULL || !predict_table_has_all (table, needed, error))
    return NULL;
  for (uint64_t at = 0; at < table->n_rows; at++) {
    StudyRow *row = study_row_new ();

    g_ptr_array_add (rows, row);
    for (guint column = 0; column < table->n_columns; column++) {
      const char *name = table->columns[column].name;
      const StudyField *field = study_row_find_field (name);
      g_autofree char *text = field != NULL ? predict_table_cell (table, column, at) : NULL;

      if (text == NULL || *text == '\0' || take_cell (row, field, text))
        continue;
      predict_table_refuse (table, at, error, "column \"%s\": \"%s\" is not possible there", name,
                            text);
      return NULL;
    }
    if (row->trace == NULL || row->mapping_hash == NULL || row->network == NULL) {
      predict_table_refuse (table, at, error, "a run without trace, mapping_hash or network");
      return NULL;
    }
  }
  return g_steal_pointer (&rows);
}

/* A store, or the table of its runs: its name is that of the file then. */
static gboolean
read_study (Reading *reading, const char *path, GError **error)
{
  g_autofree char *name = NULL;
  g_autoptr (GPtrArray) rows = NULL;

  if (g_str_has_suffix (path, ".csv")) {
    name = g_path_get_basename (path);
    name[strlen (name) - strlen (".csv")] = '\0';
    rows = read_export (path, error);
  } else {
    g_autoptr (StudyStore) store = study_store_open (path, STUDY_STORE_READ, error);

    if (store != NULL && (name = study_store_name (store, error)) != NULL)
      rows = study_store_rows (store, FALSE, error);
  }
  if (rows == NULL)
    return FALSE;
  if (!g_hash_table_add (reading->names, g_strdup (name))) {
    g_set_error (error, VALIDATION_ERROR, VALIDATION_ERROR_EXPERIMENT,
                 "%s: the study \"%s\" was read before", path, name);
    return FALSE;
  }
  for (guint i = 0; i < rows->len; i++) {
    take_one_iteration (g_ptr_array_index (rows, i));
    add_row (reading, name, g_ptr_array_index (rows, i));
  }
  g_ptr_array_extend_and_steal (reading->rows, g_steal_pointer (&rows));
  return TRUE;
}

/* The means of each mapping's replicas for a purpose; NULL unless each mapping has some, or, of exact
 * runs, any has. */
static GPtrArray *
means_of (const Reading *reading, const Sc13Samples *samples, const GPtrArray *observed,
          guint purpose)
{
  g_autoptr (GPtrArray) means = g_ptr_array_new_with_free_func (row_free);
  guint n_known = 0;

  for (guint i = 0; i < observed->len; i++) {
    g_autofree char *key = copies_key (samples->name, purpose, g_ptr_array_index (observed, i));
    const GPtrArray *copies = g_hash_table_lookup (reading->copies, key);

    g_ptr_array_add (means, copies != NULL ? study_rows_mean (copies) : NULL);
    n_known += copies != NULL;
  }
  return n_known == observed->len || (purpose == EXACT && n_known > 0) ? g_steal_pointer (&means)
                                                                       : NULL;
}

/* The times of the replicas of each sample. */
static void
find_draws (const Reading *reading, Sc13Samples *samples, const GPtrArray *observed)
{
  for (guint pass = 0; pass < 2; pass++) {
    for (guint i = 0; i < observed->len; i++) {
      g_autofree char *key = copies_key (samples->name, SC13_SAME, observed->pdata[i]);
      const GPtrArray *copies = g_hash_table_lookup (reading->copies, key);

      if (pass == 0)
        samples->n_draws = MAX (samples->n_draws, copies->len);
      for (guint k = 0; pass == 1 && k < samples->n_draws; k++)
        samples->draws[i * samples->n_draws + k] =
            k < copies->len ? ((const StudyRow *) copies->pdata[k])->time_s : (double) NAN;
    }
    if (pass == 0)
      samples->draws = g_new (double, (gsize) observed->len * samples->n_draws);
  }
}

/* Samples of one mapping share a group. */
static void
number_mappings (Sc13Samples *samples)
{
  g_autoptr (GHashTable) numbers = g_hash_table_new (g_str_hash, g_str_equal);
  const GPtrArray *observed = samples->rows[SC13_SAME];

  samples->group = g_new (uint32_t, observed->len);
  for (guint i = 0; i < observed->len; i++) {
    const StudyRow *row = g_ptr_array_index (observed, i);
    gpointer number;

    if (!g_hash_table_lookup_extended (numbers, row->mapping_hash, NULL, &number)) {
      number = GUINT_TO_POINTER (g_hash_table_size (numbers));
      g_hash_table_insert (numbers, row->mapping_hash, number);
    }
    samples->group[i] = GPOINTER_TO_UINT (number);
  }
  samples->n_groups = g_hash_table_size (numbers);
}

Sc13Stores *
sc13_stores_read (const char *const *paths, GError **error)
{
  g_autoptr (Sc13Stores) stores = g_new0 (Sc13Stores, 1);
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify) study_row_free);
  g_autoptr (GHashTable) copies =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_ptr_array_unref);
  g_autoptr (GHashTable) names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  Reading reading = { stores, rows, copies, names };

  stores->cases = g_ptr_array_new_with_free_func ((GDestroyNotify) sc13_samples_free);
  for (; *paths != NULL; paths++)
    if (!read_study (&reading, *paths, error))
      return NULL;
  for (guint i = 0; i < stores->cases->len; i++) {
    Sc13Samples *samples = g_ptr_array_index (stores->cases, i);
    g_autoptr (GPtrArray) observed = g_steal_pointer (&samples->rows[SC13_SAME]);

    find_draws (&reading, samples, observed);
    for (guint source = 0; source < SC13_N_SOURCES; source++)
      samples->rows[source] = means_of (&reading, samples, observed, source);
    samples->exact = means_of (&reading, samples, observed, EXACT);
    number_mappings (samples);
    samples->set = g_new0 (uint32_t, observed->len);
    samples->n_sets = 1;
  }
  return g_steal_pointer (&stores);
}

Sc13Samples *
sc13_pool (const Sc13Stores *stores, const char *name, const char *const *cases)
{
  g_autoptr (Sc13Samples) pool = samples_new (name);
  guint n = 0;

  for (guint i = 0; cases[i] != NULL; i++) {
    const Sc13Samples *samples = find_case (stores, cases[i]);
    guint n_more;

    if (samples == NULL)
      return NULL;
    n_more = samples->rows[SC13_SAME]->len;
    pool->set = g_renew (uint32_t, pool->set, n + n_more);
    for (guint k = n; k < n + n_more; k++)
      pool->set[k] = i;
    n += n_more;
    pool->n_sets = i + 1;
    /* A source that one case lacks, the pool lacks. */
    for (guint source = 0; source < SC13_N_SOURCES; source++) {
      if (i == 0 && pool->rows[source] == NULL)
        pool->rows[source] = g_ptr_array_new ();
      if (pool->rows[source] != NULL && samples->rows[source] != NULL)
        g_ptr_array_extend (pool->rows[source], samples->rows[source], NULL, NULL);
      else
        g_clear_pointer (&pool->rows[source], g_ptr_array_unref);
    }
  }
  number_mappings (pool);
  return g_steal_pointer (&pool);
}
