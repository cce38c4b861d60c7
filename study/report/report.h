/* report.h - one page that shows a study: its mappings, best first, and the reasons.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * One HTML file that needs no network and no other file; doc/handbook/report.md
 * describes its contents.  The same input gives the same bytes. */
#pragma once

#include "study/machine_reader.h"

#include <stdio.h>

/* Nothing is written when there is an error; errors of the stream are the caller's to find. */

/* The report of everything that a store's plan lists.  title NULL: the name of
 * the study.  advice (element-type utf8): paragraphs at the top, NULL: none. */
gboolean study_report_write_store (FILE *out, StudyStore *store, const char *title,
                                   const GPtrArray *advice, guint top, GError **error);

/* The report of one run: the row with its blobs.  edges may be NULL. */
gboolean study_report_write_run (FILE *out, StudyRow *row, const TopoMachine *machine,
                                 const TopoMapping *mapping, const SimEdges *edges,
                                 const char *title, GError **error);
