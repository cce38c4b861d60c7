/* row_fields.h - the fields of a row one by one; private to study/.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "study/store/row.h"

#include <glib.h>
#include <stdint.h>

typedef enum {
  STUDY_FIELD_TEXT,   /* char *, may be NULL */
  STUDY_FIELD_U32,    /* uint32_t */
  STUDY_FIELD_U64,    /* uint64_t */
  STUDY_FIELD_REAL,   /* double, NaN: not known */
  STUDY_FIELD_STATUS, /* StudyStatus */
  STUDY_FIELD_LIST,   /* char **, never NULL */
} StudyFieldKind;

typedef struct {
  const char *name;
  StudyFieldKind kind;
  gsize offset;     /* in StudyRow */
  const char *unit; /* "s", "bytes", or of a feature; NULL: none */
} StudyField;

/* In the order of the columns of every table; those of timing are the last.  The
 * blobs are no fields. */
guint study_row_n_fields (void);
const StudyField *study_row_field (guint field);
/* NULL: there is none. */
const StudyField *study_row_find_field (const char *name);

static inline gboolean
study_field_is_number (const StudyField *field)
{
  return field->kind == STUDY_FIELD_U32 || field->kind == STUDY_FIELD_U64 ||
         field->kind == STUDY_FIELD_REAL;
}

static inline gboolean
study_field_is_feature (const StudyField *field)
{
  return field->offset >= G_STRUCT_OFFSET (StudyRow, features) &&
         field->offset < G_STRUCT_OFFSET (StudyRow, features) + SIM_N_FEATURES * sizeof (double);
}

static inline gpointer
study_row_at (const StudyRow *row, const StudyField *field)
{
  return (char *) row + field->offset;
}

/* The value of a field that is U32, U64, REAL or the status; NaN: not known. */
double study_row_number (const StudyRow *row, const StudyField *field);

/* The number of a field that is U32, U64 or the status. */
uint64_t study_row_integer (const StudyRow *row, const StudyField *field);
void study_row_set_integer (StudyRow *row, const StudyField *field, uint64_t value);

/* FALSE for a value that a table leaves empty: results of a failed run, packets of a network that
 * has none, NaN, texts that are NULL. */
gboolean study_row_knows (const StudyRow *row, const StudyField *field);

/* "done" and "failed". */
const char *study_status_name (StudyStatus status);

/* --- Rows of 64-bit words, compressed: the blobs of a store --- */

/* zlib's format around little-endian words, so that anybody can read them. */

GBytes *study_pack_words (const uint64_t *words, gsize n_words);

/* NULL for other bytes, or more than max_words (at most 2^27): a few bytes may unpack to gigabytes.
 * The caller g_free()s. */
uint64_t *study_unpack_words (gconstpointer packed, gsize n_bytes, gsize max_words, gsize *n_words);
