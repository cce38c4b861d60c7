/* report_data.c - what a report page shows, as one JSON object.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/report/report_data.h"
#include "study/report/report_json.h"

#include <math.h>
#include <string.h>

/* The numbers of a row that the page can show, before the features. */
typedef struct {
  const char *name, *unit;
} Column;

static const Column columns[] = {
  { "time_s", "s" },        { "compute_s_avg", "s" },   { "wait_s_avg", "s" },
  { "wait_s_max", "s" },    { "messages", "messages" }, { "message_bytes", "bytes" },
  { "packets", "packets" }, { "packet_hops", "hops" },
};

/* As every table of ours has it, so that what is not known is not known here. */
static double
column_value (const StudyRow *row, const char *name)
{
  for (guint column = 0; column < study_row_n_columns (FALSE); column++)
    if (!strcmp (study_row_column_name (column), name)) {
      g_autofree char *text = study_row_column_text (row, column);

      return text && *text ? g_ascii_strtod (text, NULL) : (double) NAN;
    }
  return (double) NAN;
}

void
study_report_detail_clear (StudyReportDetail *detail)
{
  g_clear_pointer (&detail->link_bytes, g_bytes_unref);
  g_clear_pointer (&detail->rank_times, g_bytes_unref);
  g_clear_pointer (&detail->first_rank, g_free);
}

GPtrArray *
study_report_cases (const StudyReport *report, GError **error)
{
  return study_cases_new (report->rows, NULL, STUDY_TIE, report->source->machine, report->data,
                          error);
}

static void
add_columns (GString *json)
{
  study_json_member (json, "columns");
  g_string_append_c (json, '[');
  for (gsize column = 0; column < G_N_ELEMENTS (columns); column++) {
    study_json_next (json);
    g_string_append_printf (json, "[\"%s\",\"%s\"]", columns[column].name, columns[column].unit);
  }
  for (guint feature = 0; feature < SIM_N_FEATURES; feature++) {
    study_json_next (json);
    g_string_append_printf (json, "[\"%s\",\"%s\"]", sim_feature_name ((SimFeature) feature),
                            sim_feature_unit ((SimFeature) feature));
  }
  g_string_append_c (json, ']');
}

static void
add_values (GString *json, const StudyRow *row)
{
  study_json_member (json, "values");
  g_string_append_c (json, '[');
  for (gsize column = 0; column < G_N_ELEMENTS (columns); column++) {
    study_json_next (json);
    study_json_number (json, column_value (row, columns[column].name));
  }
  for (guint feature = 0; feature < SIM_N_FEATURES; feature++) {
    study_json_next (json);
    study_json_number (json, row->features[feature]);
  }
  g_string_append_c (json, ']');
}

/* The first `top`, the default one and the worst. */
static gboolean
is_shown_in_detail (const StudyReport *report, const StudyCase *study_case, guint index)
{
  const StudyRanked *it = &g_array_index (study_case->ranked, StudyRanked, index);

  return index < report->top || index + 1 == study_case->ranked->len ||
         g_strcmp0 (it->mapping, study_case->default_mapping) == 0;
}

static gboolean
add_mapping (GString *json, const StudyReport *report, const StudyRanked *ranked,
             gboolean in_detail, const TopoMachine *machine, GError **error)
{
  g_auto (StudyReportDetail) detail = { NULL, NULL, NULL };

  study_json_next (json);
  g_string_append_c (json, '{');
  study_json_member_string (json, "name", ranked->mapping);
  study_json_member_number (json, "value", ranked->value);
  study_json_member_number (json, "gain", ranked->gain);
  study_json_member_number (json, "place", ranked->place);
  study_json_member_number (json, "runs", ranked->n_runs);
  study_json_member_string (json, "key", ranked->row->key);
  add_values (json, ranked->row);
  if (in_detail) {
    /* The row is one of report->rows, which a ranking only borrows. */
    if (!report->source->detail (report->data, (StudyRow *) ranked->row, &detail, error))
      return FALSE;
    study_report_detail (json, &detail, machine);
  }
  g_string_append_c (json, '}');
  return TRUE;
}

/* Each text once, in the order in which it first appears. */
static guint
index_of (GPtrArray *rows, GHashTable *seen, const char *key, const StudyRow *row)
{
  gpointer found;

  if (g_hash_table_lookup_extended (seen, key, NULL, &found))
    return GPOINTER_TO_UINT (found);
  g_hash_table_insert (seen, (gpointer) key, GUINT_TO_POINTER (rows->len));
  g_ptr_array_add (rows, (gpointer) row);
  return rows->len - 1;
}

/* A row for each distinct trace and machine. */
typedef struct {
  GPtrArray *traces, *machines;                /* (element-type StudyRow) */
  GHashTable *trace_indices, *machine_indices; /* hash -> index */
} Inputs;

static void
inputs_clear (Inputs *inputs)
{
  g_ptr_array_unref (inputs->traces);
  g_ptr_array_unref (inputs->machines);
  g_hash_table_unref (inputs->trace_indices);
  g_hash_table_unref (inputs->machine_indices);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Inputs, inputs_clear)

static const char *
trace_key (const StudyRow *row)
{
  return row->trace_hash ? row->trace_hash : row->trace;
}

static const char *
machine_key (const StudyRow *row)
{
  return row->machine_hash ? row->machine_hash : row->machine;
}

/* What all runs of a case warned of, each text once. */
static void
add_warnings (GString *json, const StudyCase *study_case)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);

  study_json_member (json, "warnings");
  g_string_append_c (json, '[');
  for (guint i = 0; i < study_case->ranked->len; i++) {
    char **warnings = g_array_index (study_case->ranked, StudyRanked, i).row->warnings;

    for (guint w = 0; warnings && warnings[w]; w++)
      if (g_hash_table_add (seen, warnings[w])) {
        study_json_next (json);
        study_json_string (json, warnings[w]);
      }
  }
  g_string_append_c (json, ']');
}

static void
add_case_inputs (GString *json, const StudyCase *study_case, Inputs *inputs)
{
  const StudyRow *row = study_case->row;

  study_json_member_string (json, "name", study_case->name);
  study_json_member_number (json, "trace",
                            index_of (inputs->traces, inputs->trace_indices, trace_key (row), row));
  study_json_member_number (
      json, "machine",
      index_of (inputs->machines, inputs->machine_indices, machine_key (row), row));
  study_json_member_string (json, "network", row->network);
  study_json_member_string (json, "routing", row->routing);
  study_json_member_string (json, "grain", row->grain);
  study_json_member_number (json, "compute_scale", row->compute_scale);
  study_json_member_number (json, "ranks", row->ranks);
  study_json_member_number (json, "ranks_per_node", row->ranks_per_node);
  study_json_member_number (json, "nodes", row->nodes);
  study_json_member_number (json, "links", row->links);
  study_json_member_string (json, "column", study_case->column);
  study_json_member_string (json, "default", study_case->default_mapping);
  study_json_member_number (json, "failed", study_case->n_failed);
}

static gboolean
add_case (GString *json, const StudyReport *report, const StudyCase *study_case, Inputs *inputs,
          GError **error)
{
  /* add_machines() tells why there is none. */
  const TopoMachine *machine = report->source->machine (report->data, study_case->row, NULL);

  study_json_next (json);
  g_string_append_c (json, '{');
  add_case_inputs (json, study_case, inputs);
  add_warnings (json, study_case);
  study_json_member (json, "mappings");
  g_string_append_c (json, '[');
  for (guint i = 0; i < study_case->ranked->len; i++)
    if (!add_mapping (json, report, &g_array_index (study_case->ranked, StudyRanked, i),
                      is_shown_in_detail (report, study_case, i), machine, error))
      return FALSE;
  g_string_append (json, "]}");
  return TRUE;
}

static gboolean
add_traces (GString *json, const StudyReport *report, const Inputs *inputs, GError **error)
{
  study_json_member (json, "traces");
  g_string_append_c (json, '[');
  for (guint i = 0; i < inputs->traces->len; i++) {
    const StudyRow *row = g_ptr_array_index (inputs->traces, i);
    g_autoptr (GError) local = NULL;
    uint64_t n_edges = 0;
    g_autofree SimEdge *edges = report->source->edges (report->data, row, &n_edges, &local);

    if (local) {
      g_propagate_error (error, g_steal_pointer (&local));
      return FALSE;
    }
    study_json_next (json);
    g_string_append_c (json, '{');
    study_json_member_string (json, "name", row->trace);
    study_json_member_string (json, "hash", row->trace_hash);
    study_json_member_number (json, "ranks", row->ranks);
    if (n_edges > 0 && row->ranks > 0) {
      study_json_member (json, "matrix");
      study_report_matrix (json, edges, n_edges, row->ranks);
    }
    g_string_append_c (json, '}');
  }
  g_string_append_c (json, ']');
  return TRUE;
}

/* A fabric's files may have changed since: the rows are shown all the same. */
static void
add_machines (GString *json, const StudyReport *report, const Inputs *inputs)
{
  study_json_member (json, "machines");
  g_string_append_c (json, '[');
  for (guint i = 0; i < inputs->machines->len; i++) {
    const StudyRow *row = g_ptr_array_index (inputs->machines, i);
    g_autoptr (GError) local = NULL;
    const TopoMachine *machine = report->source->machine (report->data, row, &local);

    study_json_next (json);
    g_string_append_c (json, '{');
    study_json_member_string (json, "name", row->machine);
    study_json_member_string (json, "hash", row->machine_hash);
    if (local)
      study_json_member_string (json, "problem", local->message);
    if (machine) {
      g_string_append_c (json, ',');
      study_report_machine (json, machine);
    }
    g_string_append_c (json, '}');
  }
  g_string_append_c (json, ']');
}

static void
add_failed (GString *json, const GPtrArray *rows)
{
  study_json_member (json, "failed");
  g_string_append_c (json, '[');
  for (guint i = 0; i < rows->len; i++) {
    const StudyRow *row = g_ptr_array_index (rows, i);

    if (row->status == STUDY_DONE)
      continue;
    study_json_next (json);
    g_string_append_c (json, '{');
    study_json_member_string (json, "trace", row->trace);
    study_json_member_string (json, "machine", row->machine);
    study_json_member_string (json, "network", row->network);
    study_json_member_string (json, "mapping", row->mapping);
    study_json_member_number (json, "repetition", row->repetition);
    study_json_member_string (json, "error", row->error);
    g_string_append_c (json, '}');
  }
  g_string_append_c (json, ']');
}

static Inputs
inputs_new (void)
{
  return (Inputs){ g_ptr_array_new (), g_ptr_array_new (),
                   g_hash_table_new (g_str_hash, g_str_equal),
                   g_hash_table_new (g_str_hash, g_str_equal) };
}

GString *
study_report_data (const StudyReport *report, const GPtrArray *cases, GError **error)
{
  g_auto (Inputs) inputs = inputs_new ();
  GString *json = g_string_new ("{");
  const StudyRow *first = report->rows->len > 0 ? g_ptr_array_index (report->rows, 0) : NULL;
  gboolean ok = TRUE;

  study_json_member_string (json, "schema", "hopcast.report/1");
  study_json_member_string (json, "title", report->title);
  study_json_member_string (json, "origin", report->origin);
  study_json_member_string (json, "version", first ? first->version : NULL);
  study_json_member_string (json, "study", report->file_text);
  study_json_member_number (json, "runs", report->rows->len);
  study_json_member_number (json, "tie", STUDY_TIE);
  add_columns (json);
  add_failed (json, report->rows);
  study_json_member (json, "cases");
  g_string_append_c (json, '[');
  for (guint i = 0; ok && i < cases->len; i++)
    ok = add_case (json, report, g_ptr_array_index (cases, i), &inputs, error);
  g_string_append_c (json, ']');
  ok = ok && add_traces (json, report, &inputs, error);
  add_machines (json, report, &inputs);
  g_string_append_c (json, '}');
  if (!ok)
    g_string_free (g_steal_pointer (&json), TRUE);
  return json;
}
