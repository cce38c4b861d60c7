/* report.h - one page that shows a study: its mappings, best first, and the reasons.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * One HTML file that needs no network and no other file; doc/handbook/report.md
 * describes its contents.  The same input gives the same bytes. */
#pragma once

#include "study/study_error.h"
#include "study/machine_reader.h"

#include <stdio.h>

/* The parts of a run that are shown beyond its row.  Each is NULL when it is not kept. */
typedef struct {
  GBytes *link_bytes, *rank_times; /* as in StudyRow */
  uint32_t *first_rank;            /* [n_nodes] study_report_first_ranks() */
  uint32_t n_nodes;
} StudyReportDetail;

void study_report_detail_clear (StudyReportDetail *detail);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (StudyReportDetail, study_report_detail_clear)

/* The lowest rank of each node, TOPO_NONE where there is none; the caller g_free()s. */
uint32_t *study_report_first_ranks (const TopoMapping *mapping, uint32_t n_nodes);

/* The source of the page's data: a store, or one run that was just made. */
typedef struct {
  StudyMachineOf machine;
  /* Sorted edges of the trace of a row, g_free()d by the caller; *n_edges = 0 and
   * NULL without an error when they are not kept. */
  SimEdge *(*edges) (void *data, const StudyRow *row, uint64_t *n_edges, GError **error);
  /* Fills *detail, which is empty. */
  gboolean (*detail) (void *data, StudyRow *row, StudyReportDetail *detail, GError **error);
} StudyReportSource;

typedef struct {
  const char *title;     /* of the page */
  const char *origin;    /* the store or trace that it was made from */
  const char *file_text; /* of the study file; NULL: there is none */
  guint top;             /* mappings of each case whose links and ranks are in the page, besides
                            the default one and the worst */
  const StudyReportSource *source;
  void *data;
  GPtrArray *rows; /* (element-type StudyRow), in their order */
} StudyReport;

/* Writes the page.  Nothing is written when there is an error; errors of the stream are the
 * caller's to find. */
gboolean study_report_write (FILE *out, const StudyReport *report, GError **error);

/* The report of everything that a store's plan lists.  title NULL: the name of
 * the study. */
gboolean study_report_write_store (FILE *out, StudyStore *store, const char *title, guint top,
                                   GError **error);

/* The report of one run: the row with its blobs.  edges may be NULL. */
gboolean study_report_write_run (FILE *out, StudyRow *row, const TopoMachine *machine,
                                 const TopoMapping *mapping, const SimEdges *edges,
                                 const char *title, GError **error);
