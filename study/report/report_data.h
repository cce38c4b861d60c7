/* report_data.h - what a report page shows, as one JSON object.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "study/ranking.h"
#include "study/report/report.h"

#include <glib.h>

/* Rows by case, best mapping first, as `rank` prints them.  (element-type StudyCase);
 * borrows the report's rows. */
GPtrArray *study_report_cases (const StudyReport *report, GError **error);

/* The object, schema hopcast.report/1, on one line; NULL and *error on failure. */
GString *study_report_data (const StudyReport *report, const GPtrArray *cases, GError **error);

/* {"kind":"torus"|"fabric",...}: what the page needs to lay links out. */
void study_report_machine (GString *json, const TopoMachine *machine);

/* Numbers of links, whether they exist or not: words of a row's link_bytes. */
gsize study_report_link_places (const TopoMachine *machine);

/* What one mapping did: links, ranks, and which ranks are where. */
void
study_report_detail (GString *json, const StudyReportDetail *detail, const TopoMachine *machine);

/* Who sends to whom, in at most 256 x 256 cells. */
void study_report_matrix (GString *json, const SimEdge *edges, uint64_t n_edges, uint32_t n_ranks);
