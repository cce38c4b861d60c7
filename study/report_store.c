/* report_store.c - the report of everything that a store keeps.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/report.h"

/* The last machine stays open: the rows of one follow each other. */
typedef struct {
  StudyStore *store;
  TopoMachine *machine;
  char *machine_hash;
} Reader;

static void
reader_clear (Reader *reader)
{
  g_clear_pointer (&reader->machine, topo_machine_free);
  g_clear_pointer (&reader->machine_hash, g_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Reader, reader_clear)

static const TopoMachine *
store_machine (void *data, const StudyRow *row, GError **error)
{
  Reader *reader = data;

  if (g_strcmp0 (row->machine_hash, reader->machine_hash) == 0)
    return reader->machine;
  reader_clear (reader);
  reader->machine = study_store_machine (reader->store, row, error);
  if (reader->machine)
    reader->machine_hash = g_strdup (row->machine_hash);
  return reader->machine;
}

static SimEdge *
store_edges (void *data, const StudyRow *row, uint64_t *n_edges, GError **error)
{
  Reader *reader = data;

  *n_edges = 0;
  return row->trace_hash ? study_store_edges (reader->store, row->trace_hash, n_edges, error)
                         : NULL;
}

/* The row gives its blobs away, so that one row at a time has them in memory. */
static gboolean
store_detail (void *data, StudyRow *row, StudyReportDetail *detail, GError **error)
{
  Reader *reader = data;
  g_autoptr (TopoMapping) mapping = NULL;

  if (!study_store_load_blobs (reader->store, row, error))
    return FALSE;
  detail->link_bytes = g_steal_pointer (&row->link_bytes);
  detail->rank_times = g_steal_pointer (&row->rank_times);
  mapping = study_store_placement (reader->store, row, error);
  if (!mapping)
    return FALSE;
  detail->first_rank = study_report_first_ranks (mapping, row->nodes);
  return TRUE;
}

static const StudyReportSource store_source = { store_machine, store_edges, store_detail };

gboolean
study_report_write_store (FILE *out, StudyStore *store, const char *title, guint top,
                          GError **error)
{
  g_autoptr (GPtrArray) rows = study_store_rows (store, FALSE, error);
  g_autofree char *name = rows ? study_store_name (store, error) : NULL;
  g_autofree char *file_text = name ? study_store_file_text (store, error) : NULL;
  g_autofree char *origin = g_path_get_basename (study_store_path (store));
  g_auto (Reader) reader = { .store = store };
  const StudyReport report = { .title = title ? title : name,
                               .origin = origin,
                               .file_text = file_text,
                               .top = top,
                               .source = &store_source,
                               .data = &reader,
                               .rows = rows };

  return name && study_report_write (out, &report, error);
}
