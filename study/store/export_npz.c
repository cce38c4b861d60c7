/* export_npz.c - a store's runs as arrays for NumPy.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/store/export.h"
#include "study/store/npz.h"
#include "study/store/row_fields.h"

#include <math.h>
#include <string.h>

/* --- Columns --- */

static gboolean
is_feature (const StudyField *field)
{
  return field->offset >= G_STRUCT_OFFSET (StudyRow, features) &&
         field->offset < G_STRUCT_OFFSET (StudyRow, features) + sizeof ((StudyRow *) 0)->features;
}

static void
add_texts (StudyNpz *npz, const GPtrArray *rows, guint column)
{
  g_autoptr (GPtrArray) texts = g_ptr_array_new_with_free_func (g_free);

  for (guint row = 0; row < rows->len; row++)
    g_ptr_array_add (texts, study_row_column_text (g_ptr_array_index (rows, row), column));
  study_npz_add_texts (npz, study_row_column_name (column), (const char *const *) texts->pdata,
                       rows->len);
}

/* Counts that some runs do not know are numbers that have a NaN. */
static void
add_numbers (StudyNpz *npz, const GPtrArray *rows, const StudyField *field)
{
  g_autofree double *reals = g_new (double, rows->len + 1);
  g_autofree uint64_t *integers = g_new (uint64_t, rows->len + 1);
  gboolean is_real = field->kind == STUDY_FIELD_REAL;

  for (guint at = 0; at < rows->len; at++) {
    const StudyRow *row = g_ptr_array_index (rows, at);

    if (field->kind == STUDY_FIELD_REAL)
      reals[at] = *(double *) study_row_at (row, field);
    else {
      integers[at] = study_row_integer (row, field);
      reals[at] = study_row_knows (row, field) ? (double) integers[at] : (double) NAN;
      is_real = is_real || !study_row_knows (row, field);
    }
  }
  if (is_real)
    study_npz_add_reals (npz, field->name, reals, rows->len);
  else
    study_npz_add_integers (npz, field->name, integers, rows->len);
}

static void
add_columns (StudyNpz *npz, const GPtrArray *rows, gboolean timing)
{
  for (guint column = 0; column < study_row_n_columns (timing); column++) {
    const StudyField *field = study_row_field (column);

    if (is_feature (field))
      continue;
    if (study_row_column_is_number (column))
      add_numbers (npz, rows, field);
    else
      add_texts (npz, rows, column);
  }
}

static void
add_features (StudyNpz *npz, const GPtrArray *rows)
{
  const uint64_t shape[] = { rows->len, SIM_N_FEATURES };
  const char *names[SIM_N_FEATURES];

  for (guint feature = 0; feature < SIM_N_FEATURES; feature++)
    names[feature] = sim_feature_name ((SimFeature) feature);
  study_npz_add_texts (npz, "feature_names", names, SIM_N_FEATURES);
  study_npz_begin (npz, "features", "<f8", shape, 2);
  for (guint row = 0; row < rows->len; row++)
    for (guint feature = 0; feature < SIM_N_FEATURES; feature++) {
      uint64_t word;

      memcpy (&word, &((StudyRow *) g_ptr_array_index (rows, row))->features[feature], sizeof word);
      word = GUINT64_TO_LE (word);
      study_npz_write (npz, &word, sizeof word);
    }
  study_npz_end (npz);
}

/* --- Blobs --- */

/* A kind of blob: words per run, as rows of `width` words. */
typedef struct {
  const char *name, *type;
  gsize offset; /* of the blob in StudyRow */
  guint width;
} Kind;

static const Kind kinds[] = {
  { "link_bytes", "<u8", G_STRUCT_OFFSET (StudyRow, link_bytes), 1 },
  { "rank_times", "<f8", G_STRUCT_OFFSET (StudyRow, rank_times), 3 },
};

static GBytes *
blob_of (const StudyRow *row, const Kind *kind)
{
  return *(GBytes *const *) ((const char *) row + kind->offset);
}

static void
drop_blobs (StudyRow *row)
{
  g_clear_pointer (&row->link_bytes, g_bytes_unref);
  g_clear_pointer (&row->rank_times, g_bytes_unref);
}

/* sizes[row]: words of its blob, 0 when it kept none. */
static gboolean
measure_blobs (StudyStore *store, const GPtrArray *rows, const Kind *kind, gsize *sizes,
               GError **error)
{
  for (guint at = 0; at < rows->len; at++) {
    StudyRow *row = g_ptr_array_index (rows, at);
    GBytes *blob;

    if (!study_store_load_blobs (store, row, error))
      return FALSE;
    blob = blob_of (row, kind);
    sizes[at] = blob != NULL ? g_bytes_get_size (blob) / sizeof (uint64_t) : 0;
    drop_blobs (row);
  }
  return TRUE;
}

static gboolean
write_blob (StudyNpz *npz, StudyStore *store, StudyRow *row, const Kind *kind, GError **error)
{
  const uint64_t *words;
  gsize n_bytes;

  if (!study_store_load_blobs (store, row, error))
    return FALSE;
  words = g_bytes_get_data (blob_of (row, kind), &n_bytes);
  for (gsize at = 0; at < n_bytes / sizeof *words; at++) {
    uint64_t little = GUINT64_TO_LE (words[at]);

    study_npz_write (npz, &little, sizeof little);
  }
  drop_blobs (row);
  return TRUE;
}

/* The blobs of one size, and of which runs they are.  There are several sizes when
 * machines or numbers of ranks differ: the arrays then have theirs in their names. */
static gboolean
add_blobs_of_size (StudyNpz *npz, StudyStore *store, const GPtrArray *rows, const Kind *kind,
                   const gsize *sizes, gsize size, gboolean is_only, GError **error)
{
  g_autofree char *name =
      is_only ? g_strdup (kind->name) : g_strdup_printf ("%s_%zu", kind->name, size / kind->width);
  g_autofree char *runs_name = g_strconcat (name, "_runs", NULL);
  g_autofree uint64_t *runs = g_new (uint64_t, rows->len + 1);
  uint64_t shape[] = { 0, size / kind->width, kind->width };

  for (guint at = 0; at < rows->len; at++)
    if (sizes[at] == size)
      runs[shape[0]++] = at;
  study_npz_add_integers (npz, runs_name, runs, shape[0]);
  study_npz_begin (npz, name, kind->type, shape, kind->width > 1 ? 3 : 2);
  for (uint64_t at = 0; at < shape[0]; at++)
    if (!write_blob (npz, store, g_ptr_array_index (rows, runs[at]), kind, error))
      return FALSE;
  study_npz_end (npz);
  return TRUE;
}

static gboolean
is_new_size (const gsize *sizes, guint at)
{
  for (guint before = 0; before < at; before++)
    if (sizes[before] == sizes[at])
      return FALSE;
  return sizes[at] > 0;
}

static gboolean
add_blobs (StudyNpz *npz, StudyStore *store, const GPtrArray *rows, const Kind *kind,
           GError **error)
{
  g_autofree gsize *sizes = g_new (gsize, rows->len + 1);
  guint n_sizes = 0;

  if (!measure_blobs (store, rows, kind, sizes, error))
    return FALSE;
  for (guint at = 0; at < rows->len; at++)
    n_sizes += is_new_size (sizes, at);
  for (guint at = 0; at < rows->len; at++)
    if (is_new_size (sizes, at) &&
        !add_blobs_of_size (npz, store, rows, kind, sizes, sizes[at], n_sizes == 1, error))
      return FALSE;
  return TRUE;
}

gboolean
study_export_npz (StudyStore *store, gboolean timing, FILE *out, GError **error)
{
  g_autoptr (GPtrArray) rows = study_store_rows (store, FALSE, error);
  g_autoptr (StudyNpz) npz = rows != NULL ? study_npz_new (out) : NULL;

  if (npz == NULL)
    return FALSE;
  add_columns (npz, rows, timing);
  add_features (npz, rows);
  for (gsize at = 0; at < G_N_ELEMENTS (kinds); at++)
    if (!add_blobs (npz, store, rows, &kinds[at], error))
      return FALSE;
  return TRUE;
}
