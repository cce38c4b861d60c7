/* report_store.c - the report of everything that a store keeps.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/report/report.h"
#include "study/report/report_data.h"

static SimEdge *
store_edges (void *data, const StudyRow *row, uint64_t *n_edges, GError **error)
{
  const StudyMachineReader *reader = data;

  *n_edges = 0;
  return row->trace_hash
             ? study_store_edges (reader->store, row->trace_hash, row->ranks, n_edges, error)
             : NULL;
}

/* Whether the row is one of its machine, as far as that is there: what is missing or has changed
 * the page says where it shows the machines. */
static gboolean
check_machine (StudyMachineReader *reader, const StudyRow *row, GError **error)
{
  g_autoptr (GError) trouble = NULL;
  const TopoMachine *machine = study_machine_reader_find (reader, row, &trouble);
  gsize n_words = row->link_bytes ? g_bytes_get_size (row->link_bytes) / sizeof (uint64_t) : 0;

  if (g_error_matches (trouble, STUDY_ERROR, STUDY_ERROR_DAMAGED)) {
    g_propagate_error (error, g_steal_pointer (&trouble));
    return FALSE;
  }
  if (!machine || !row->link_bytes || n_words == study_report_link_places (machine))
    return TRUE;
  g_set_error (error, STUDY_ERROR, STUDY_ERROR_DAMAGED,
               "%s: table blobs, key %.12s..., column link_bytes: %" G_GSIZE_FORMAT
               " words, but its machine has %" G_GSIZE_FORMAT
               " links; the store is damaged or was changed by another program",
               study_store_path (reader->store), row->key, n_words,
               study_report_link_places (machine));
  return FALSE;
}

/* The row gives its blobs away, so that one row at a time has them in memory. */
static gboolean
store_detail (void *data, StudyRow *row, StudyReportDetail *detail, GError **error)
{
  StudyMachineReader *reader = data;
  g_autoptr (TopoMapping) mapping = NULL;

  if (!study_store_load_blobs (reader->store, row, error) || !check_machine (reader, row, error))
    return FALSE;
  detail->link_bytes = g_steal_pointer (&row->link_bytes);
  detail->rank_times = g_steal_pointer (&row->rank_times);
  mapping = study_store_placement (reader->store, row, error);
  if (!mapping)
    return FALSE;
  detail->n_nodes = row->nodes;
  detail->first_rank = study_report_first_ranks (mapping, row->nodes);
  return TRUE;
}

static const StudyReportSource store_source = { study_machine_reader_find, store_edges,
                                                store_detail };

gboolean
study_report_write_store (FILE *out, StudyStore *store, const char *title, guint top,
                          GError **error)
{
  g_autoptr (GPtrArray) rows = study_store_rows (store, FALSE, error);
  g_autofree char *name = rows ? study_store_name (store, error) : NULL;
  g_autofree char *file_text = name ? study_store_file_text (store, error) : NULL;
  g_autofree char *origin = g_path_get_basename (study_store_path (store));
  g_auto (StudyMachineReader) reader = { .store = store };
  const StudyReport report = { .title = title ? title : name,
                               .origin = origin,
                               .file_text = file_text,
                               .top = top,
                               .source = &store_source,
                               .data = &reader,
                               .rows = rows };

  return name && file_text && study_report_write (out, &report, error);
}
