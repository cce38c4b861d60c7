/* report.c - puts a report page together: data, style and scripts in one file.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The page may run and load nothing but what is in it: its content security
 * policy names the hashes of its scripts and of its style, and nothing else. */
#include "study/report/report.h"

#include "study/report/report_data.h"
#include "base/decimal.h"

#include <math.h>
#include <string.h>

static const char frame_text[] =
#include "study/report/page_frame.inc"
    ;
static const char style_text[] =
#include "study/report/page_style.inc"
    ;
static const char vendor_text[] =
#include "study/report/page_vendor.inc"
    ;
static const char script_text[] =
#include "study/report/page_script.inc"
    ;

/* 'sha256-...' as a policy names an inline script or style. */
static void
append_hash (GString *policy, const char *text)
{
  g_autoptr (GChecksum) checksum = g_checksum_new (G_CHECKSUM_SHA256);
  guint8 digest[32];
  gsize size = sizeof digest;
  g_autofree char *encoded = NULL;

  g_checksum_update (checksum, (const guchar *) text, -1);
  g_checksum_get_digest (checksum, digest, &size);
  encoded = g_base64_encode (digest, size);
  g_string_append_printf (policy, " 'sha256-%s'", encoded);
}

static char *
html_escape (const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);

  return g_markup_escape_text (valid, -1);
}

gboolean
study_report_write (FILE *out, const StudyReport *report, GError **error)
{
  g_autoptr (GPtrArray) cases = study_report_cases (report, error);
  g_autoptr (GString) data = cases ? study_report_data (report, cases, error) : NULL;
  g_autoptr (GString) policy = g_string_new ("default-src 'none'; script-src");
  g_autoptr (GString) tables = g_string_new (NULL);
  g_autofree char *title = NULL;
  const char *at = frame_text, *mark;

  if (!data)
    return FALSE;
  title = html_escape (report->title);
  append_hash (policy, vendor_text);
  append_hash (policy, script_text);
  g_string_append (policy, "; style-src");
  append_hash (policy, style_text);
  g_string_append (policy, "; base-uri 'none'; form-action 'none'");

  /* For a browser that runs no scripts: the rankings as plain tables. */
  for (guint i = 0; i < cases->len; i++) {
    const StudyCase *study_case = g_ptr_array_index (cases, i);
    g_autofree char *name = html_escape (study_case->name);

    g_string_append_printf (tables,
                            "<table><caption>%s</caption>\n<tr><th>place<th>mapping<th>%s"
                            "<th>gain over the default</tr>\n",
                            name, study_case->column);
    for (guint row = 0; row < study_case->ranked->len; row++) {
      const StudyRanked *ranked = &g_array_index (study_case->ranked, StudyRanked, row);
      g_autofree char *mapping = html_escape (ranked->mapping);
      char value[BASE_DECIMAL_SIZE];

      g_string_append_printf (tables, "<tr><td>%u<td>%s<td>%s<td>", ranked->place, mapping,
                              base_decimal_print (value, ranked->value));
      if (isfinite (ranked->gain))
        g_string_append_printf (tables, "%.4f", ranked->gain);
      g_string_append (tables, "</tr>\n");
    }
    g_string_append (tables, "</table>\n");
  }

  /* The frame with @NAME@ replaced by the part of that name. */
  const struct {
    const char *name, *text;
  } parts[] = { { "POLICY", policy->str }, { "TITLE", title },    { "STYLE", style_text },
                { "TABLES", tables->str }, { "DATA", data->str }, { "VENDOR", vendor_text },
                { "SCRIPT", script_text } };

  while ((mark = strchr (at, '@'))) {
    gsize length = strcspn (mark + 1, "@");

    fwrite (at, 1, (gsize) (mark - at), out);
    for (gsize i = 0; i < G_N_ELEMENTS (parts); i++)
      if (strlen (parts[i].name) == length && !memcmp (parts[i].name, mark + 1, length))
        fputs (parts[i].text, out);
    at = mark + length + 2;
  }
  fputs (at, out);
  return TRUE;
}

/* --- The report of everything that a store keeps --- */

static SimEdge *
store_edges (void *data, const StudyRow *row, uint64_t *n_edges, GError **error)
{
  const StudyMachineReader *reader = data;

  *n_edges = 0;
  return row->trace_hash
             ? study_store_edges (reader->store, row->trace_hash, row->ranks, n_edges, error)
             : NULL;
}

/* The row gives its blobs away, so that one row at a time has them in memory.  A machine that is
 * missing or has changed is no error: the page says so where it shows the machines. */
static gboolean
store_detail (void *data, StudyRow *row, StudyReportDetail *detail, GError **error)
{
  StudyMachineReader *reader = data;
  g_autoptr (TopoMapping) mapping = NULL;
  g_autoptr (GError) trouble = NULL;
  const TopoMachine *machine;
  gsize n_words;

  if (!study_store_load_blobs (reader->store, row, error))
    return FALSE;
  machine = study_machine_reader_find (reader, row, &trouble);
  if (g_error_matches (trouble, STUDY_ERROR, STUDY_ERROR_DAMAGED)) {
    g_propagate_error (error, g_steal_pointer (&trouble));
    return FALSE;
  }
  n_words = row->link_bytes ? g_bytes_get_size (row->link_bytes) / sizeof (uint64_t) : 0;
  if (machine && row->link_bytes && n_words != study_report_link_places (machine)) {
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_DAMAGED,
                 "%s: table blobs, key %.12s..., column link_bytes: %" G_GSIZE_FORMAT
                 " words, but its machine has %" G_GSIZE_FORMAT
                 " links; the store is damaged or was changed by another program",
                 study_store_path (reader->store), row->key, n_words,
                 study_report_link_places (machine));
    return FALSE;
  }
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

/* --- The report of one run that was just made --- */

typedef struct {
  const TopoMachine *machine;
  const TopoMapping *mapping;
  const SimEdges *edges;
} OneRun;

static const TopoMachine *
run_machine (void *data, const StudyRow *row, GError **error)
{
  const OneRun *run = data;

  (void) row;
  (void) error;
  return run->machine;
}

static SimEdge *
run_edges (void *data, const StudyRow *row, uint64_t *n_edges, GError **error)
{
  const OneRun *run = data;

  (void) row;
  (void) error;
  *n_edges = 0;
  return run->edges ? sim_edges_sorted (run->edges, n_edges) : NULL;
}

static gboolean
run_detail (void *data, StudyRow *row, StudyReportDetail *detail, GError **error)
{
  const OneRun *run = data;

  (void) error;
  detail->link_bytes = row->link_bytes ? g_bytes_ref (row->link_bytes) : NULL;
  detail->rank_times = row->rank_times ? g_bytes_ref (row->rank_times) : NULL;
  detail->n_nodes = topo_shape_nodes (&run->machine->shape);
  detail->first_rank = study_report_first_ranks (run->mapping, detail->n_nodes);
  return TRUE;
}

static const StudyReportSource run_source = { run_machine, run_edges, run_detail };

gboolean
study_report_write_run (FILE *out, StudyRow *row, const TopoMachine *machine,
                        const TopoMapping *mapping, const SimEdges *edges, const char *title,
                        GError **error)
{
  OneRun run = { machine, mapping, edges };
  g_autoptr (GPtrArray) rows = g_ptr_array_new ();
  const StudyReport report = { .title = title,
                               .origin = row->trace,
                               .top = 1,
                               .source = &run_source,
                               .data = &run,
                               .rows = rows };

  g_ptr_array_add (rows, row);
  return study_report_write (out, &report, error);
}
