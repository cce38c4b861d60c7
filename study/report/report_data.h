/* report_data.h - the data of a report page, as one JSON object.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "study/ranking.h"
#include "study/report/report.h"

#include <glib.h>
#include <stdint.h>

/* Rows by case, best mapping first, as `rank` prints them.  (element-type StudyCase);
 * borrows the report's rows. */
GPtrArray *study_report_cases (const StudyReport *report, GError **error);

/* The object, schema hopcast.report/1, on one line; NULL and *error on failure. */
GString *study_report_data (const StudyReport *report, const GPtrArray *cases, GError **error);

/* The words of a row's link_bytes: all numbers of links, whether they exist or not. */
gsize study_report_link_places (const TopoMachine *machine);

/* The details of one mapping: links, ranks and places. */
void
study_report_detail (GString *json, const StudyReportDetail *detail, const TopoMachine *machine);

/* The bytes between ranks, in at most 256 x 256 cells. */
void study_report_matrix (GString *json, const SimEdge *edges, uint64_t n_edges, uint32_t n_ranks);

/* --- JSON text that may stand in a page --- */

/* The generator of json-glib writes all digits of a double and leaves '<' as it
 * is; here numbers are the shortest that read back, and no text ends a script. */

/* Text that is not UTF-8 gets U+FFFD where it is not.  NULL is null. */
void study_json_string (GString *json, const char *text);

void study_json_number (GString *json, double value); /* NaN, infinity: null */

/* --- Many numbers in a page: a byte each, compressed --- */

/* 40,960 link loads are 440 kB as decimal text, 44 kB like this.  Where there are
 * at most 256 different values, as regular patterns have, nothing is lost;
 * otherwise values are rounded on a logarithmic scale, and the smallest and the
 * largest stay exact. */

/* Appends {"exact":true|false,"levels":[...],"codes":"..."}: value i is
 * levels[code i]; codes is base64 of a zlib stream. */
void study_pack_values (GString *json, const uint64_t *values, gsize n);
