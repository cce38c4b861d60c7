/* row_pack.c - a row as one block for another process of the same program.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/store/row_fields.h"

#include <string.h>

/* Texts, integers and reals in the order of the fields; warnings; the blobs. */
#define BLOCK_FORMAT "(@ams@at@ad@as@may@may)"

static guint
n_fields_of (gboolean (*is_kind) (StudyFieldKind kind))
{
  guint n = 0;

  for (guint at = 0; at < study_row_n_fields (); at++)
    n += is_kind (study_row_field (at)->kind);
  return n;
}

static gboolean
is_text (StudyFieldKind kind)
{
  return kind == STUDY_FIELD_TEXT;
}

static gboolean
is_integer (StudyFieldKind kind)
{
  return kind == STUDY_FIELD_U32 || kind == STUDY_FIELD_U64 || kind == STUDY_FIELD_STATUS;
}

static gboolean
is_real (StudyFieldKind kind)
{
  return kind == STUDY_FIELD_REAL;
}

static GVariant *
pack_texts (const StudyRow *row)
{
  GVariantBuilder builder;

  g_variant_builder_init (&builder, G_VARIANT_TYPE ("ams"));
  for (guint at = 0; at < study_row_n_fields (); at++)
    if (is_text (study_row_field (at)->kind))
      g_variant_builder_add (&builder, "ms", *(char **) study_row_at (row, study_row_field (at)));
  return g_variant_builder_end (&builder);
}

static GVariant *
pack_integers (const StudyRow *row)
{
  GVariantBuilder builder;

  g_variant_builder_init (&builder, G_VARIANT_TYPE ("at"));
  for (guint at = 0; at < study_row_n_fields (); at++)
    if (is_integer (study_row_field (at)->kind))
      g_variant_builder_add (&builder, "t", study_row_integer (row, study_row_field (at)));
  return g_variant_builder_end (&builder);
}

static GVariant *
pack_reals (const StudyRow *row)
{
  GVariantBuilder builder;

  g_variant_builder_init (&builder, G_VARIANT_TYPE ("ad"));
  for (guint at = 0; at < study_row_n_fields (); at++)
    if (is_real (study_row_field (at)->kind))
      g_variant_builder_add (&builder, "d", *(double *) study_row_at (row, study_row_field (at)));
  return g_variant_builder_end (&builder);
}

static GVariant *
pack_bytes (GBytes *bytes)
{
  return g_variant_new_maybe (
      G_VARIANT_TYPE_BYTESTRING,
      bytes != NULL ? g_variant_new_from_bytes (G_VARIANT_TYPE_BYTESTRING, bytes, TRUE) : NULL);
}

GVariant *
study_row_pack (const StudyRow *row)
{
  GVariant *block =
      g_variant_new (BLOCK_FORMAT, pack_texts (row), pack_integers (row), pack_reals (row),
                     g_variant_new_strv ((const char *const *) row->warnings, -1),
                     pack_bytes (row->link_bytes), pack_bytes (row->rank_times));

  return g_variant_ref_sink (block);
}

static gboolean
unpack_texts (StudyRow *row, GVariant *texts)
{
  gsize next = 0;

  if (g_variant_n_children (texts) != n_fields_of (is_text))
    return FALSE;
  for (guint at = 0; at < study_row_n_fields (); at++)
    if (is_text (study_row_field (at)->kind))
      g_variant_get_child (texts, next++, "ms", study_row_at (row, study_row_field (at)));
  return TRUE;
}

static gboolean
unpack_integers (StudyRow *row, GVariant *integers)
{
  gsize n, next = 0;
  const guint64 *values = g_variant_get_fixed_array (integers, &n, sizeof *values);

  if (n != n_fields_of (is_integer))
    return FALSE;
  for (guint at = 0; at < study_row_n_fields (); at++)
    if (is_integer (study_row_field (at)->kind))
      study_row_set_integer (row, study_row_field (at), values[next++]);
  return TRUE;
}

static gboolean
unpack_reals (StudyRow *row, GVariant *reals)
{
  gsize n, next = 0;
  const double *values = g_variant_get_fixed_array (reals, &n, sizeof *values);

  if (n != n_fields_of (is_real))
    return FALSE;
  for (guint at = 0; at < study_row_n_fields (); at++)
    if (is_real (study_row_field (at)->kind))
      *(double *) study_row_at (row, study_row_field (at)) = values[next++];
  return TRUE;
}

static GBytes *
unpack_bytes (GVariant *maybe)
{
  g_autoptr (GVariant) bytes = g_variant_get_maybe (maybe);

  return bytes != NULL ? g_variant_get_data_as_bytes (bytes) : NULL;
}

StudyRow *
study_row_unpack (GVariant *block)
{
  g_autoptr (StudyRow) row = study_row_new ();
  g_autoptr (GVariant) texts = NULL, integers = NULL, reals = NULL;
  g_autoptr (GVariant) link_bytes = NULL, rank_times = NULL;

  if (!g_variant_is_of_type (block, STUDY_ROW_BLOCK) || !g_variant_is_normal_form (block))
    return NULL;
  g_clear_pointer (&row->warnings, g_strfreev);
  g_variant_get (block, "(@ams@at@ad^as@may@may)", &texts, &integers, &reals, &row->warnings,
                 &link_bytes, &rank_times);
  if (!unpack_texts (row, texts) || !unpack_integers (row, integers) || !unpack_reals (row, reals))
    return NULL;
  row->link_bytes = unpack_bytes (link_bytes);
  row->rank_times = unpack_bytes (rank_times);
  return g_steal_pointer (&row);
}
