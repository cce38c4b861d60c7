/* export.h - a store's runs as tables and arrays for other programs.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * In the order of the plan; the same store gives the same bytes.  Errors of the
 * stream are for its owner to find. */
#pragma once

#include "study/store/store.h"

#include <glib.h>
#include <stdint.h>
#include <stdio.h>

typedef enum {
  STUDY_EXPORT_CSV,
  STUDY_EXPORT_JSON,  /* one array */
  STUDY_EXPORT_JSONL, /* an object per line */
} StudyExportForm;

typedef enum {
  STUDY_EXPORT_RUNS,       /* a line per run: the columns of row.h */
  STUDY_EXPORT_LINKS,      /* per run and link: bytes; of runs that kept them */
  STUDY_EXPORT_RANKS,      /* per run and rank: times; of runs that kept them */
  STUDY_EXPORT_PLACEMENTS, /* per run and rank: node and slot */
} StudyExportKind;

/* timing: with the columns that differ from one time to the next. */
gboolean study_export (StudyStore *store, StudyExportKind kind, StudyExportForm form,
                       gboolean timing, FILE *out, GError **error);

/* Everything as an .npz: doc/handbook/studies.md lists the arrays. */
gboolean study_export_npz (StudyStore *store, gboolean timing, FILE *out, GError **error);

/* --- Arrays in the file that NumPy's load() opens --- */

/* A zip archive, nothing compressed, of one .npy per array; nothing in it depends
 * on when or where it is written.  It is written from front to end, so that a pipe
 * will do; errors of the stream are for its owner to find. */

typedef struct StudyNpz StudyNpz;

/* Borrows the stream, which must be at its beginning. */
StudyNpz *study_npz_new (FILE *out);
/* Ends the archive. */
void study_npz_free (StudyNpz *npz);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (StudyNpz, study_npz_free)

/* Sizes and places above it are written as 64-bit numbers, which not all programs
 * read: 4 GiB unless a test says otherwise. */
void study_npz_set_limit (StudyNpz *npz, uint64_t limit);

/* An array, row by row: begin, as many bytes as shape and type say, end.  type is
 * NumPy's: "<f8", "<u8", "<i8", "<u4", "<U12"; numbers are little-endian. */
void study_npz_begin (StudyNpz *npz, const char *name, const char *type, const uint64_t *shape,
                      guint n_dimensions);
void study_npz_write (StudyNpz *npz, gconstpointer data, gsize n_bytes);
void study_npz_end (StudyNpz *npz);

/* Whole arrays of one dimension. */
void study_npz_add_reals (StudyNpz *npz, const char *name, const double *values, uint64_t n);
void study_npz_add_integers (StudyNpz *npz, const char *name, const uint64_t *values, uint64_t n);
/* NULL is an empty text. */
void study_npz_add_texts (StudyNpz *npz, const char *name, const char *const *texts, uint64_t n);
