/* export.h - a store's runs as tables and arrays for other programs.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * In the order of the plan; the same store gives the same bytes.  Errors of the
 * stream are for its owner to find. */
#pragma once

#include "study/store/store.h"

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
} StudyExportWhat;

/* timing: with the columns that differ from one time to the next. */
gboolean study_export (StudyStore *store, StudyExportWhat what, StudyExportForm form,
                       gboolean timing, FILE *out, GError **error);

/* Everything as an .npz: doc/handbook/studies.md lists the arrays. */
gboolean study_export_npz (StudyStore *store, gboolean timing, FILE *out, GError **error);
