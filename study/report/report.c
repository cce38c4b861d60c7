/* report.c - a report page: the data of a study, style and scripts in one file.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/report/report.h"

#include "base/decimal.h"
#include "study/failures.h"
#include "study/ranking.h"
#include "study/report/page.h"
#include "study/store/row_fields.h"
#include "study/study_error.h"

#include <math.h>
#include <string.h>
#include <zlib.h>

/* Everything that a store's plan lists, or one run that was just made. */
typedef struct {
  const char *title;       /* of the page */
  const char *origin;      /* the store or trace that it was made from */
  const char *file_text;   /* of the study file; NULL: there is none */
  const GPtrArray *advice; /* (element-type utf8) NULL: none */
  guint top;               /* mappings of each case whose links and ranks are in the page, besides
                                the default one and the worst */
  GPtrArray *rows;         /* (element-type StudyRow), in their order */
  GPtrArray *failures;     /* (element-type StudyFailureCase) of rows */
  StudyMachineReader *reader; /* of the store; NULL: one run */
  /* Of one run. */
  const TopoMachine *machine;
  const TopoMapping *mapping;
  const SimEdges *edges; /* NULL: they are not known */
} Report;

/* A StudyMachineOf; NULL with an error that the page shows. */
static const TopoMachine *
find_machine (void *data, const StudyRow *row, GError **error)
{
  Report *report = data;

  return report->reader ? study_machine_reader_find (report->reader, row, error) : report->machine;
}

/* Sorted edges of the trace of a row, which the caller g_free()s; *n_edges = 0 and NULL without an error
 * when they are not kept. */
static SimEdge *
find_edges (const Report *report, const StudyRow *row, uint64_t *n_edges, GError **error)
{
  *n_edges = 0;
  if (!report->reader)
    return report->edges ? sim_edges_sorted (report->edges, n_edges) : NULL;
  return row->trace_hash ? study_store_edges (report->reader->store, row->trace_hash, row->ranks,
                                              n_edges, error)
                         : NULL;
}

/* --- Many numbers in a page: a byte each, compressed --- */

/* 40,960 link loads are 440 kB as decimal text, 44 kB like this.  Where there are at most 256 different
 * values, as regular patterns have, nothing is lost; otherwise values are rounded on a logarithmic
 * scale, and the smallest and the largest stay exact. */

#define LEVELS 256

typedef struct {
  gboolean exact;
  guint n;
  double value[LEVELS];
} Levels;

static int
compare_values (const void *left, const void *right)
{
  uint64_t a = *(const uint64_t *) left, b = *(const uint64_t *) right;

  return (a > b) - (a < b);
}

static void
find_levels (Levels *levels, const uint64_t *values, gsize n)
{
  g_autofree uint64_t *sorted = g_memdup2 (values, n * sizeof *values);
  gsize n_different = 0;

  qsort (sorted, n, sizeof *sorted, compare_values);
  for (gsize i = 0; i < n; i++)
    if (i == 0 || sorted[i] != sorted[i - 1])
      sorted[n_different++] = sorted[i];
  levels->exact = n_different <= LEVELS;
  if (levels->exact) {
    levels->n = (guint) n_different;
    for (guint level = 0; level < levels->n; level++)
      levels->value[level] = (double) sorted[level];
  } else {
    /* Level 0 is no bytes, levels 1 to 255 are equal factors apart. */
    double low = (double) sorted[sorted[0] == 0], high = (double) sorted[n_different - 1];
    double step = log (high / low) / (LEVELS - 2);

    levels->n = LEVELS;
    levels->value[0] = 0;
    for (guint level = 1; level < LEVELS; level++)
      levels->value[level] = rint (low * exp ((level - 1) * step));
    levels->value[1] = low;
    levels->value[LEVELS - 1] = high;
  }
}

/* The level nearest to a value; some bytes are never rounded to none. */
static guint8
code_of (const Levels *levels, double value)
{
  guint low = 0, high = levels->n - 1;

  while (high - low > 1) {
    guint middle = (low + high) / 2;

    if (levels->value[middle] <= value)
      low = middle;
    else
      high = middle;
  }
  if (value > 0 && levels->value[low] == 0)
    return (guint8) high;
  return (guint8) (levels->value[high] - value < value - levels->value[low] ? high : low);
}

/* Appends {"exact":true|false,"levels":[...],"codes":"..."}: value i is levels[code i]; codes is base64
 * of a zlib stream. */
static void
pack_values (GString *json, const uint64_t *values, gsize n)
{
  g_autofree guint8 *codes = g_malloc (MAX (n, 1));
  Levels levels = { .exact = TRUE };

  if (n > 0)
    find_levels (&levels, values, n);
  for (gsize i = 0; i < n; i++)
    codes[i] = code_of (&levels, (double) values[i]);
  g_string_append_c (json, '{');
  study_page_add_member (json, "exact");
  g_string_append (json, levels.exact ? "true" : "false");
  study_page_add_member (json, "levels");
  g_string_append_c (json, '[');
  for (guint level = 0; level < levels.n; level++) {
    study_page_add_comma (json);
    study_page_add_number (json, levels.value[level]);
  }
  g_string_append_c (json, ']');
  study_page_add_member (json, "codes");
  study_page_pack (json, codes, n);
  g_string_append_c (json, '}');
}

/* --- Machines and the counters of their links and ranks --- */

/* The page draws no more bars and cells than this; more are averaged or added. */
#define MAX_RANK_BINS   512
#define MAX_MATRIX_BINS 256

/* The members of a machine from which the page lays out its links. */
static void
add_machine (GString *json, const TopoMachine *machine)
{
  if (machine->fabric) {
    /* Devices as [name, is a switch, ports], links as from, port, to, port, flat and
     * in the order of the fabric's ports. */
    const TopoFabric *fabric = machine->fabric;

    g_string_append (json, "\"kind\":\"fabric\",\"devices\":[");
    for (uint32_t device = 0; device < fabric->n_devices; device++) {
      const TopoDevice *it = &fabric->devices[device];

      study_page_add_comma (json);
      g_string_append_c (json, '[');
      study_page_add_string (json, it->name);
      g_string_append_printf (json, ",%d,%u]", it->is_switch, it->n_ports);
    }
    g_string_append (json, "],\"links\":[");
    for (uint32_t port = 0; port < fabric->n_ports; port++) {
      uint32_t peer = fabric->ports[port].peer;

      if (peer == TOPO_NONE)
        continue;
      study_page_add_comma (json);
      g_string_append_printf (json, "%u,%u,%u,%u", fabric->ports[port].device,
                              topo_fabric_port_number (fabric, port), fabric->ports[peer].device,
                              topo_fabric_port_number (fabric, peer));
    }
    g_string_append_c (json, ']');
  } else {
    g_string_append (json, "\"kind\":\"torus\",\"shape\":[");
    for (uint32_t dimension = 0; dimension < machine->shape.n_dimensions; dimension++) {
      study_page_add_comma (json);
      g_string_append_printf (json, "%u", machine->shape.size[dimension]);
    }
    g_string_append (json, "],\"wrap\":[");
    for (uint32_t dimension = 0; dimension < machine->shape.n_dimensions; dimension++) {
      study_page_add_comma (json);
      g_string_append (json, machine->shape.wrap[dimension] ? "true" : "false");
    }
    g_string_append_c (json, ']');
  }
}

/* Means of neighbouring ranks, as little-endian floats. */
static void
add_rank_bins (GString *json, const char *name, const StudyRankTimes *ranks, gsize n_ranks,
               gsize offset)
{
  gsize n_bins = MIN (n_ranks, MAX_RANK_BINS);
  g_autofree guint32 *means = g_new0 (guint32, n_bins + 1);

  for (gsize bin = 0; bin < n_bins; bin++) {
    gsize from = bin * n_ranks / n_bins, to = (bin + 1) * n_ranks / n_bins;
    double sum = 0;
    float mean;

    for (gsize rank = from; rank < to; rank++)
      sum += *(const double *) (const void *) ((const char *) &ranks[rank] + offset);
    mean = (float) (sum / (double) (to - from));
    memcpy (&means[bin], &mean, sizeof mean);
    means[bin] = GUINT32_TO_LE (means[bin]);
  }
  study_page_add_member (json, name);
  study_page_pack (json, means, n_bins * sizeof *means);
}

/* What a page shows of a mapping beyond its row: links, ranks and places.  A machine that is missing or
 * has changed is no error: the page says so where it shows the machines. */
static gboolean
add_detail (GString *json, Report *report, StudyRow *row, GError **error)
{
  StudyStore *store = report->reader ? report->reader->store : NULL;
  g_autoptr (TopoMapping) stored = NULL;
  g_autoptr (GError) trouble = NULL;
  const TopoMapping *mapping = report->mapping;
  const TopoMachine *machine;

  if (store && !study_store_load_blobs (store, row, error))
    return FALSE;
  machine = find_machine (report, row, &trouble);
  if (g_error_matches (trouble, STUDY_ERROR, STUDY_ERROR_DAMAGED)) {
    g_propagate_error (error, g_steal_pointer (&trouble));
    return FALSE;
  }
  if (machine && row->link_bytes) {
    /* Only links that exist, in the order of their numbers: the page counts likewise. */
    gsize size;
    const uint64_t *bytes = g_bytes_get_data (row->link_bytes, &size);
    gsize n_places = size / sizeof *bytes, n_links = 0;
    g_autofree uint64_t *values = g_new (uint64_t, n_places + 1);
    uint32_t n_ports = topo_shape_ports (&machine->shape);
    gsize expected = machine->fabric ? machine->fabric->n_ports
                                     : (gsize) topo_shape_nodes (&machine->shape) * n_ports;

    if (n_places != expected) {
      g_assert (store);
      g_set_error (error, STUDY_ERROR, STUDY_ERROR_DAMAGED,
                   "%s: table blobs, key %.12s..., column link_bytes: %" G_GSIZE_FORMAT
                   " words, but its machine has %" G_GSIZE_FORMAT
                   " links; the store is damaged or was changed by another program",
                   study_store_path (store), row->key, n_places, expected);
      return FALSE;
    }
    for (gsize place = 0; place < n_places; place++)
      if (machine->fabric ? machine->fabric->ports[place].peer != TOPO_NONE
                          : topo_shape_neighbour (&machine->shape, (uint32_t) place / n_ports,
                                                  (uint32_t) place % n_ports) != TOPO_NONE)
        values[n_links++] = bytes[place];
    study_page_add_member (json, "links");
    pack_values (json, values, n_links);
  }
  if (row->rank_times && g_bytes_get_size (row->rank_times) > 0) {
    gsize size;
    const StudyRankTimes *ranks = g_bytes_get_data (row->rank_times, &size);
    gsize n_ranks = size / sizeof *ranks;

    study_page_add_member (json, "ranks");
    g_string_append_printf (json, "{\"n\":%" G_GSIZE_FORMAT, n_ranks);
    add_rank_bins (json, "end_s", ranks, n_ranks, offsetof (StudyRankTimes, end_s));
    add_rank_bins (json, "compute_s", ranks, n_ranks, offsetof (StudyRankTimes, compute_s));
    add_rank_bins (json, "wait_s", ranks, n_ranks, offsetof (StudyRankTimes, wait_s));
    g_string_append_c (json, '}');
  }
  if (store) {
    /* One row at a time has its blobs in memory. */
    g_clear_pointer (&row->link_bytes, g_bytes_unref);
    g_clear_pointer (&row->rank_times, g_bytes_unref);
    mapping = stored = study_store_placement (store, row, error);
    if (!stored)
      return FALSE;
  }
  if (machine) {
    /* The lowest rank of each node, TOPO_NONE where there is none, as little-endian 32-bit integers. */
    uint32_t n_nodes = topo_shape_nodes (&machine->shape);
    g_autofree guint32 *first_rank = g_new (guint32, n_nodes);

    for (uint32_t node = 0; node < n_nodes; node++)
      first_rank[node] = GUINT32_TO_LE (TOPO_NONE);
    for (uint32_t rank = mapping->n_ranks; rank-- > 0;)
      if (mapping->node[rank] < n_nodes)
        first_rank[mapping->node[rank]] = GUINT32_TO_LE (rank);
    study_page_add_member (json, "places");
    study_page_pack (json, first_rank, n_nodes * sizeof *first_rank);
  }
  return TRUE;
}

/* The bytes between ranks, in at most 256 x 256 cells. */
static void
add_matrix (GString *json, const SimEdge *edges, uint64_t n_edges, uint32_t n_ranks)
{
  uint32_t n_bins = MIN (n_ranks, MAX_MATRIX_BINS);
  g_autofree uint64_t *bytes = g_new0 (uint64_t, (gsize) n_bins * n_bins);

  for (uint64_t edge = 0; edge < n_edges; edge++) {
    gsize row = (gsize) edges[edge].source * n_bins / n_ranks;
    gsize column = (gsize) edges[edge].destination * n_bins / n_ranks;

    if (row < n_bins && column < n_bins)
      bytes[row * n_bins + column] += edges[edge].bytes;
  }
  g_string_append_printf (json, "{\"n\":%u,\"ranks\":%u,\"bytes\":", n_bins, n_ranks);
  pack_values (json, bytes, (gsize) n_bins * n_bins);
  g_string_append_c (json, '}');
}

/* --- The whole page as one JSON object --- */

/* The numbers of a row that the page can show, before the features. */
typedef struct {
  const char *name, *unit;
} Column;

static const Column columns[] = {
  { "time_s", "s" },        { "compute_s_avg", "s" },   { "wait_s_avg", "s" },
  { "wait_s_max", "s" },    { "messages", "messages" }, { "message_bytes", "bytes" },
  { "packets", "packets" }, { "packet_hops", "hops" },
};

/* A mapping of a case; in_detail: with its links, ranks and places. */
static gboolean
add_mapping (GString *json, Report *report, const StudyRanked *ranked, gboolean in_detail,
             GError **error)
{
  study_page_add_comma (json);
  g_string_append_c (json, '{');
  study_page_add_string_member (json, "name", ranked->mapping);
  study_page_add_number_member (json, "value", ranked->value);
  study_page_add_number_member (json, "lower", ranked->lower);
  study_page_add_number_member (json, "upper", ranked->upper);
  study_page_add_number_member (json, "gain", ranked->gain);
  study_page_add_number_member (json, "place", ranked->place);
  study_page_add_number_member (json, "runs", ranked->n_runs);
  study_page_add_string_member (json, "key", ranked->row->key);
  study_page_add_member (json, "values");
  g_string_append_c (json, '[');
  for (gsize column = 0; column < G_N_ELEMENTS (columns); column++) {
    const StudyField *field = study_row_find_field (columns[column].name);

    study_page_add_comma (json);
    study_page_add_number (json, study_row_number (ranked->row, field));
  }
  for (guint feature = 0; feature < SIM_N_FEATURES; feature++) {
    study_page_add_comma (json);
    study_page_add_number (json, ranked->row->features[feature]);
  }
  g_string_append_c (json, ']');
  /* The row is one of report->rows, which a ranking only borrows. */
  if (in_detail && !add_detail (json, report, (StudyRow *) ranked->row, error))
    return FALSE;
  g_string_append_c (json, '}');
  return TRUE;
}

/* The index of a row, which is added when it is the first with its key. */
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

static gboolean
add_case (GString *json, Report *report, const StudyCase *study_case, Inputs *inputs,
          GError **error)
{
  const StudyRow *row = study_case->row;
  const char *trace = row->trace_hash ? row->trace_hash : row->trace;
  const char *machine_key = row->machine_hash ? row->machine_hash : row->machine;
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);

  study_page_add_comma (json);
  g_string_append_c (json, '{');

  study_page_add_string_member (json, "name", study_case->name);
  study_page_add_number_member (json, "trace",
                                index_of (inputs->traces, inputs->trace_indices, trace, row));
  study_page_add_number_member (
      json, "machine", index_of (inputs->machines, inputs->machine_indices, machine_key, row));
  study_page_add_string_member (json, "network", row->network);
  study_page_add_string_member (json, "routing", row->routing);
  study_page_add_string_member (json, "shrink", row->shrink);
  study_page_add_number_member (json, "compute_scale", row->compute_scale);
  study_page_add_number_member (json, "ranks", row->ranks);
  study_page_add_number_member (json, "ranks_per_node", row->ranks_per_node);
  study_page_add_number_member (json, "nodes", row->nodes);
  study_page_add_number_member (json, "links", row->links);
  study_page_add_string_member (json, "column", study_case->column);
  study_page_add_string_member (json, "default", study_case->default_mapping);
  study_page_add_number_member (json, "failed", study_case->n_failed);

  /* The warnings of all runs of a case, each text once. */
  study_page_add_member (json, "warnings");
  g_string_append_c (json, '[');
  for (guint i = 0; i < study_case->ranked->len; i++) {
    char **warnings = g_array_index (study_case->ranked, StudyRanked, i).row->warnings;

    for (guint w = 0; warnings && warnings[w]; w++)
      if (g_hash_table_add (seen, warnings[w])) {
        study_page_add_comma (json);
        study_page_add_string (json, warnings[w]);
      }
  }
  g_string_append_c (json, ']');
  study_page_add_member (json, "mappings");
  g_string_append_c (json, '[');
  /* In detail: the first `top`, the default one and the worst. */
  for (guint i = 0; i < study_case->ranked->len; i++) {
    const StudyRanked *ranked = &g_array_index (study_case->ranked, StudyRanked, i);
    gboolean in_detail = i < report->top || i + 1 == study_case->ranked->len ||
                         g_strcmp0 (ranked->mapping, study_case->default_mapping) == 0;

    if (!add_mapping (json, report, ranked, in_detail, error))
      return FALSE;
  }
  g_string_append (json, "]}");
  return TRUE;
}

/* Parts as [name, slow-down, error], the worst first. */
static void
add_failures (GString *json, const GPtrArray *cases)
{
  study_page_add_member (json, "failures");
  g_string_append_c (json, '[');
  for (guint i = 0; i < cases->len; i++) {
    const StudyFailureCase *it = g_ptr_array_index (cases, i);

    study_page_add_comma (json);
    g_string_append_c (json, '{');
    study_page_add_string_member (json, "case", it->name);
    study_page_add_string_member (json, "mapping", it->row->mapping);
    study_page_add_string_member (json, "fault", it->fault);
    study_page_add_string_member (json, "column", it->column);
    study_page_add_number_member (json, "value", it->whole.value);
    study_page_add_number_member (json, "failed", it->n_failed);
    study_page_add_number_member (json, "slowed", it->n_slowed);
    study_page_add_number_member (json, "median", it->median);
    study_page_add_number_member (json, "worst", it->worst);
    study_page_add_string_member (json, "worst_part", it->worst_part);
    study_page_add_member (json, "parts");
    g_string_append_c (json, '[');
    for (guint at = 0; at < it->failures->len; at++) {
      const StudyFailure *failure = &g_array_index (it->failures, StudyFailure, at);

      study_page_add_comma (json);
      g_string_append_c (json, '[');
      study_page_add_string (json, failure->part);
      g_string_append_c (json, ',');
      study_page_add_number (json, failure->slow_down);
      g_string_append_c (json, ',');
      study_page_add_string (json, failure->has_failed ? failure->row->error : NULL);
      g_string_append_c (json, ']');
    }
    g_string_append (json, "]}");
  }
  g_string_append_c (json, ']');
}

static gboolean
add_traces (GString *json, Report *report, const Inputs *inputs, GError **error)
{
  study_page_add_member (json, "traces");
  g_string_append_c (json, '[');
  for (guint i = 0; i < inputs->traces->len; i++) {
    const StudyRow *row = g_ptr_array_index (inputs->traces, i);
    g_autoptr (GError) local = NULL;
    uint64_t n_edges = 0;
    g_autofree SimEdge *edges = find_edges (report, row, &n_edges, &local);

    if (local) {
      g_propagate_error (error, g_steal_pointer (&local));
      return FALSE;
    }
    study_page_add_comma (json);
    g_string_append_c (json, '{');
    study_page_add_string_member (json, "name", row->trace);
    study_page_add_string_member (json, "hash", row->trace_hash);
    study_page_add_number_member (json, "ranks", row->ranks);
    if (n_edges > 0 && row->ranks > 0) {
      study_page_add_member (json, "matrix");
      add_matrix (json, edges, n_edges, row->ranks);
    }
    g_string_append_c (json, '}');
  }
  g_string_append_c (json, ']');
  return TRUE;
}

/* The object, schema hopcast.report/1, on one line; NULL and *error on failure. */
static GString *
report_data (Report *report, const GPtrArray *cases, GError **error)
{
  g_auto (Inputs)
      inputs = { g_ptr_array_new (), g_ptr_array_new (), g_hash_table_new (g_str_hash, g_str_equal),
                 g_hash_table_new (g_str_hash, g_str_equal) };
  GString *json = g_string_new ("{");
  const StudyRow *first = report->rows->len > 0 ? g_ptr_array_index (report->rows, 0) : NULL;
  gboolean ok = TRUE;

  study_page_add_string_member (json, "schema", "hopcast.report/1");
  study_page_add_string_member (json, "title", report->title);
  study_page_add_string_member (json, "origin", report->origin);
  study_page_add_string_member (json, "version", first ? first->version : NULL);
  study_page_add_string_member (json, "study", report->file_text);
  study_page_add_number_member (json, "runs", report->rows->len);
  study_page_add_number_member (json, "tie", STUDY_TIE);
  study_page_add_member (json, "columns");
  g_string_append_c (json, '[');
  for (gsize column = 0; column < G_N_ELEMENTS (columns); column++) {
    study_page_add_comma (json);
    g_string_append_printf (json, "[\"%s\",\"%s\"]", columns[column].name, columns[column].unit);
  }
  for (guint feature = 0; feature < SIM_N_FEATURES; feature++) {
    study_page_add_comma (json);
    g_string_append_printf (json, "[\"%s\",\"%s\"]", sim_feature_name ((SimFeature) feature),
                            sim_feature_unit ((SimFeature) feature));
  }
  g_string_append_c (json, ']');
  study_page_add_member (json, "failed");
  g_string_append_c (json, '[');
  for (guint i = 0; i < report->rows->len; i++) {
    const StudyRow *row = g_ptr_array_index (report->rows, i);

    if (row->status == STUDY_DONE)
      continue;
    study_page_add_comma (json);
    g_string_append_c (json, '{');
    study_page_add_string_member (json, "trace", row->trace);
    study_page_add_string_member (json, "machine", row->machine);
    study_page_add_string_member (json, "network", row->network);
    study_page_add_string_member (json, "mapping", row->mapping);
    study_page_add_number_member (json, "repetition", row->repetition);
    study_page_add_string_member (json, "error", row->error);
    g_string_append_c (json, '}');
  }
  g_string_append_c (json, ']');
  study_page_add_member (json, "cases");
  g_string_append_c (json, '[');
  for (guint i = 0; ok && i < cases->len; i++)
    ok = add_case (json, report, g_ptr_array_index (cases, i), &inputs, error);
  g_string_append_c (json, ']');
  add_failures (json, report->failures);
  ok = ok && add_traces (json, report, &inputs, error);
  /* A fabric's files may have changed since: the rows are shown all the same. */
  study_page_add_member (json, "machines");
  g_string_append_c (json, '[');
  for (guint i = 0; i < inputs.machines->len; i++) {
    const StudyRow *row = g_ptr_array_index (inputs.machines, i);
    g_autoptr (GError) local = NULL;
    const TopoMachine *machine = find_machine (report, row, &local);

    study_page_add_comma (json);
    g_string_append_c (json, '{');
    study_page_add_string_member (json, "name", row->machine);
    study_page_add_string_member (json, "hash", row->machine_hash);
    if (local)
      study_page_add_string_member (json, "problem", local->message);
    if (machine) {
      g_string_append_c (json, ',');
      add_machine (json, machine);
    }
    g_string_append_c (json, '}');
  }
  g_string_append (json, "]}");
  if (!ok)
    g_string_free (g_steal_pointer (&json), TRUE);
  return json;
}

/* --- The page: data, style and scripts in one file --- */

static const char frame_text[] =
#include "study/report/page_frame.inc"
    ;
static const char script_text[] =
#include "study/report/page_script.inc"
    ;

/* Paragraphs as a section of the page; none without any. */
static void
add_advice (GString *html, const GPtrArray *lines)
{
  if (lines == NULL)
    return;
  g_string_append (html, "<section id=\"advice\" aria-labelledby=\"advice-head\">\n"
                         "<h2 id=\"advice-head\">Advice</h2>\n");
  for (guint at = 0; at < lines->len; at++) {
    g_autofree char *line = study_page_escape (lines->pdata[at]);

    g_string_append_printf (html, "<p>%s</p>\n", line);
  }
  g_string_append (html, "</section>\n");
}

/* The rankings, and what single failures cost, as plain tables. */
static void
add_tables (GString *tables, const GPtrArray *cases, const GPtrArray *failures)
{
  for (guint i = 0; i < cases->len; i++) {
    const StudyCase *study_case = g_ptr_array_index (cases, i);
    g_autofree char *name = study_page_escape (study_case->name);

    g_string_append_printf (tables,
                            "<table><caption>%s</caption>\n<tr><th>place<th>mapping<th>%s"
                            "<th>gain over the default</tr>\n",
                            name, study_case->column);
    for (guint row = 0; row < study_case->ranked->len; row++) {
      const StudyRanked *ranked = &g_array_index (study_case->ranked, StudyRanked, row);
      g_autofree char *mapping = study_page_escape (ranked->mapping);
      char value[BASE_DECIMAL_SIZE];

      g_string_append_printf (tables, "<tr><td>%u<td>%s<td>%s<td>", ranked->place, mapping,
                              base_decimal_print (value, ranked->value));
      if (isfinite (ranked->gain))
        g_string_append_printf (tables, "%.4f", ranked->gain);
      g_string_append (tables, "</tr>\n");
    }
    g_string_append (tables, "</table>\n");
  }
  for (guint i = 0; i < failures->len; i++) {
    const StudyFailureCase *it = g_ptr_array_index (failures, i);
    g_autofree char *name = study_page_escape (it->name);
    g_autofree char *mapping = study_page_escape (it->row->mapping);

    g_string_append_printf (tables,
                            "<table><caption>Single failures (%s): %s, %s</caption>\n"
                            "<tr><th>part<th>slow-down<th>error</tr>\n",
                            it->fault, name, mapping);
    for (guint at = 0; at < it->failures->len; at++) {
      const StudyFailure *failure = &g_array_index (it->failures, StudyFailure, at);
      g_autofree char *part = study_page_escape (failure->part);

      g_string_append_printf (tables, "<tr><td>%s<td>", part);
      if (isfinite (failure->slow_down))
        g_string_append_printf (tables, "%+.2f %%", 100 * failure->slow_down);
      g_string_append (tables, "<td>");
      if (failure->has_failed && failure->row->error) {
        g_autofree char *problem = study_page_escape (failure->row->error);

        g_string_append (tables, problem);
      }
      g_string_append (tables, "</tr>\n");
    }
    g_string_append (tables, "</table>\n");
  }
}

/* Nothing is written when there is an error. */
static gboolean
write_page (FILE *out, Report *report, GError **error)
{
  g_autoptr (GPtrArray) whole = g_ptr_array_new ();
  g_autoptr (GPtrArray) failures = study_failure_cases (report->rows, STUDY_TIE);
  g_autoptr (GPtrArray) cases = NULL;
  g_autoptr (GString) data = NULL;
  g_autoptr (GString) tables = g_string_new (NULL), advice = g_string_new (NULL);
  g_autofree char *title = NULL;

  /* Machines with a part out, of which there may be thousands, are no cases of their own. */
  for (guint i = 0; i < report->rows->len; i++) {
    StudyRow *row = g_ptr_array_index (report->rows, i);
    const char *part, *fault;

    if (study_failure_whole_length (row->machine, &part, &fault) == 0)
      g_ptr_array_add (whole, row);
  }
  report->failures = failures;
  cases = study_cases_new (whole, NULL, STUDY_TIE, find_machine, report, error);
  data = cases ? report_data (report, cases, error) : NULL;
  if (!data)
    return FALSE;
  title = study_page_escape (report->title);
  add_advice (advice, report->advice);

  /* For a browser that runs no scripts. */
  add_tables (tables, cases, failures);

  study_page_write (out, frame_text,
                    (StudyPagePart[]){ { "TITLE", title },
                                       { "STYLE", study_page_style, STUDY_PAGE_STYLE },
                                       { "TABLES", tables->str },
                                       { "DATA", data->str },
                                       { "VENDOR", study_page_vendor, STUDY_PAGE_SCRIPT },
                                       { "SCRIPT", script_text, STUDY_PAGE_SCRIPT },
                                       { "ADVICE", advice->str },
                                       { NULL } });
  return TRUE;
}

/* --- Its sources --- */

gboolean
study_report_write_store (FILE *out, StudyStore *store, const char *title, const GPtrArray *advice,
                          guint top, GError **error)
{
  g_autoptr (GPtrArray) rows = study_store_rows (store, FALSE, error);
  g_autofree char *name = rows ? study_store_name (store, error) : NULL;
  g_autofree char *file_text = name ? study_store_file_text (store, error) : NULL;
  g_autofree char *origin = g_path_get_basename (study_store_path (store));
  g_auto (StudyMachineReader) reader = { .store = store };
  Report report = { .title = title ? title : name,
                    .origin = origin,
                    .file_text = file_text,
                    .advice = advice,
                    .top = top,
                    .rows = rows,
                    .reader = &reader };

  return name && file_text && write_page (out, &report, error);
}

gboolean
study_report_write_run (FILE *out, StudyRow *row, const TopoMachine *machine,
                        const TopoMapping *mapping, const SimEdges *edges, const char *title,
                        GError **error)
{
  g_autoptr (GPtrArray) rows = g_ptr_array_new ();
  Report report = { .title = title,
                    .origin = row->trace,
                    .top = 1,
                    .rows = rows,
                    .machine = machine,
                    .mapping = mapping,
                    .edges = edges };

  g_ptr_array_add (rows, row);
  return write_page (out, &report, error);
}
