/* row_fields.h - the fields of a row one by one; private to rows, store and exports.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "study/store/row.h"

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
  gsize offset; /* in StudyRow */
} StudyField;

/* In the order of the columns of every table; those of timing are the last.  The
 * blobs are no fields. */
guint study_row_n_fields (void);
const StudyField *study_row_field (guint field);

static inline gpointer
study_row_at (const StudyRow *row, const StudyField *field)
{
  return (char *) row + field->offset;
}

/* The number of a field that is U32, U64 or the status. */
uint64_t study_row_integer (const StudyRow *row, const StudyField *field);
void study_row_set_integer (StudyRow *row, const StudyField *field, uint64_t value);

/* What is not known has no place in a table: results of a failed run, packets of
 * a network that has none, NaN, texts that are NULL. */
gboolean study_row_knows (const StudyRow *row, const StudyField *field);

/* "done" and "failed". */
const char *study_status_name (StudyStatus status);
