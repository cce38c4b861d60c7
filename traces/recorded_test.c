/* recorded_test.c - traces of real programs, against counts from other readers.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The shared traces come with counts that were not made by this program: the
 * call counts in the files themselves, SST's own dump of one, the counts of
 * an independent reader (EXPECT.json). */
#include "traces/dumpi/dumpi_testing.h"

#include <json-glib/json-glib.h>
#include <stdio.h>
#include <string.h>

/* What an independent reader found in the sets. */
typedef struct {
  const char *path;
  uint32_t n_ranks;
  uint64_t sends, send_bytes;
  gboolean window; /* recorded without MPI_Finalize */
} Known;

static const Known dumpi_sets[] = {
  { "dumpi/amg-27-hopper/dumpi-2014.03.03.14.55.00.meta", 27, 15524, 13584368, TRUE },
  { "dumpi/gen-lammps-lj-16/dumpi-2026.11.20.11.54.52.meta", 16, 10464, 44737688, FALSE },
  { "dumpi/gen-lulesh-27/dumpi-2026.11.20.12.00.06.meta", 27, 7300, 3590144, FALSE },
  { "dumpi/sst-testbgp-bluegene/testbgp.meta", 7, 588, 418656, FALSE },
  { "dumpi/sst-testtrace-4/testtrace.meta", 4, 4, 16, FALSE },
};

static const Known ti_sets[] = {
  { "ti/gen-lulesh-27/lulesh-27.txt", 27, 7300, 3590144, FALSE },
  { "ti/gen-nas-is-S-16/nas-is-S-16.txt", 16, 15, 60, FALSE },
  { "ti/simgrid-manual-deploy/mixed.txt", 2, 4, 4000000000, FALSE },
  { "ti/simgrid-replay-examples/actions_waitall.txt", 3, 3, 8000, FALSE },
  { "ti/simgrid-replay-examples/actions_with_isend.txt", 3, 3, 3000000, FALSE },
  { "ti/simgrid-replay-examples/split_traces", 2, 3, 3000000, FALSE },
};

static void
check_known (const Known *known)
{
  g_autofree char *path = trace_testing_shared (known->path);
  g_autoptr (Trace) trace = NULL;
  TraceTotals totals;

  if (path == NULL)
    return;
  trace = trace_testing_open (path);
  totals = trace_testing_totals (trace);
  g_assert_cmpuint (trace_ranks (trace), ==, known->n_ranks);
  g_assert_cmpuint (totals.sends, ==, known->sends);
  g_assert_cmpuint (totals.receives, ==, known->sends);
  g_assert_cmpuint (totals.send_bytes, ==, known->send_bytes);
  g_assert_cmpint (trace_testing_warned (trace, "window"), ==, known->window);
}

/* Every record was read as what it is: the counts by call are those that the
 * tracer kept while it wrote. */
static void
check_calls (Trace *trace)
{
  for (uint32_t rank = 0; rank < trace_ranks (trace); rank++)
    g_hash_table_unref (dumpi_testing_calls (trace, rank));
}

static void
test_dumpi_sets (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (dumpi_sets); i++) {
    g_autofree char *path = trace_testing_shared (dumpi_sets[i].path);
    g_autoptr (Trace) trace = NULL;

    if (path == NULL)
      continue;
    check_known (&dumpi_sets[i]);
    trace = trace_testing_open (path);
    check_calls (trace);
  }
}

static void
test_ti_sets (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (ti_sets); i++)
    check_known (&ti_sets[i]);
}

/* One program, two tracers: LULESH on 27 ranks sends the same bytes between
 * the same ranks under the same tags, and takes part in the same collectives. */
static void
test_formats_agree (void)
{
  g_autofree char *dumpi_path = trace_testing_shared (dumpi_sets[2].path);
  g_autofree char *ti_path = trace_testing_shared (ti_sets[0].path);
  g_autoptr (Trace) dumpi = NULL;
  g_autoptr (Trace) ti = NULL;
  TraceTotals a, b;

  if (dumpi_path == NULL || ti_path == NULL)
    return;
  dumpi = trace_testing_open (dumpi_path);
  ti = trace_testing_open (ti_path);
  a = trace_testing_totals (dumpi);
  b = trace_testing_totals (ti);
  g_assert_cmpuint (a.channels, ==, 582);
  g_assert_cmpuint (b.channels, ==, 582);
  g_assert_cmpuint (a.channel_digest, ==, b.channel_digest);
  for (int kind = TRACE_OP_BARRIER; kind <= TRACE_OP_EXSCAN; kind++)
    g_assert_cmpuint (a.n_ops[kind], ==, b.n_ops[kind]);
  g_assert_cmpuint (a.n_ops[TRACE_OP_ALLREDUCE], ==, 297);
}

/* A dump of rank 0 by SST's own reader: lines "MPI_X called N times and
 * ignored M times". */
static void
test_counts_of_dump (void)
{
  g_autofree char *text_path = trace_testing_shared ("dumpi/sst-testtrace-4/testtrace-0000.txt");
  g_autofree char *path = trace_testing_shared ("dumpi/sst-testtrace-4/testtrace.meta");
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;
  g_autoptr (Trace) trace = NULL;
  g_autoptr (GHashTable) calls = NULL;
  unsigned made, ignored;
  guint n_found = 0;
  char name[64];

  if (path == NULL || text_path == NULL)
    return;
  g_assert_true (g_file_get_contents (text_path, &text, NULL, NULL));
  lines = g_strsplit (text, "\n", -1);
  trace = trace_testing_open (path);
  calls = dumpi_testing_calls (trace, 0);
  for (guint i = 0; lines[i] != NULL; i++)
    if (sscanf (lines[i], "%63s called %u times and ignored %u times", name, &made, &ignored) ==
            3 &&
        !g_str_equal (name, "MPI_ALL_FUNCTIONS")) {
      guint n = GPOINTER_TO_UINT (g_hash_table_lookup (calls, name));

      g_assert_cmpuint (n, ==, made - ignored);
      n_found += n > 0;
    }
  g_assert_cmpuint (n_found, ==, g_hash_table_size (calls));
}

/* The next "MPI_X entering at walltime S.NNNNNNNNN" or "returning" line. */
static gboolean
next_time (char ***line, const char *what, char *name, int64_t *time_ns)
{
  for (; **line != NULL; ++*line) {
    char verb[16];
    long long seconds, ns;

    if (sscanf (**line, "%63s %15s at walltime %lld.%lld", name, verb, &seconds, &ns) == 4 &&
        g_str_equal (verb, what)) {
      *time_ns = seconds * 1000000000 + ns;
      ++*line;
      return TRUE;
    }
  }
  return FALSE;
}

/* Names and gaps, call by call, are those of the same dump. */
static void
test_gaps_of_dump (void)
{
  g_autofree char *text_path = trace_testing_shared ("dumpi/sst-testtrace-4/testtrace-0000.txt");
  g_autofree char *path = trace_testing_shared ("dumpi/sst-testtrace-4/testtrace.meta");
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;
  g_autoptr (Trace) trace = NULL;
  g_autoptr (TraceCursor) cursor = NULL;
  int64_t stop_ns = 0, start_ns, end_ns = 0;
  char **line, name[64];
  guint n_calls = 0;
  TraceOp op;

  if (path == NULL || text_path == NULL)
    return;
  g_assert_true (g_file_get_contents (text_path, &text, NULL, NULL));
  lines = g_strsplit (text, "\n", -1);
  trace = trace_testing_open (path);
  cursor = trace_cursor_new (trace, 0, NULL);
  for (line = lines; next_time (&line, "entering", name, &start_ns); n_calls++) {
    g_assert_true (next_time (&line, "returning", name, &end_ns));
    g_assert_cmpint (trace_cursor_next (cursor, &op, NULL), ==, TRACE_NEXT_OPERATION);
    if (n_calls > 0 && start_ns > stop_ns) {
      g_assert_cmpint (op.kind, ==, TRACE_OP_COMPUTE);
      g_assert_cmpint (op.gap_ps, ==, (start_ns - stop_ns) * 1000);
      g_assert_cmpint (trace_cursor_next (cursor, &op, NULL), ==, TRACE_NEXT_OPERATION);
    }
    g_assert_cmpstr (op.name, ==, name);
    stop_ns = end_ns;
  }
  g_assert_cmpuint (n_calls, ==, 9);
  g_assert_cmpint (trace_cursor_next (cursor, &op, NULL), ==, TRACE_NEXT_END);
}

static uint64_t
collectives_named (const TraceTotals *totals, const char *name)
{
  g_autofree char *lower = g_ascii_strdown (name, -1);

  for (int kind = TRACE_OP_BARRIER; kind <= TRACE_OP_EXSCAN; kind++)
    if (g_str_equal (trace_op_name ((TraceOpKind) kind), lower))
      return totals->n_ops[kind];
  g_error ("no collective is called %s", name);
}

static void
check_expected (const char *set, Trace *trace)
{
  g_autofree char *path = g_build_filename (set, "EXPECT.json", NULL);
  g_autoptr (JsonParser) parser = json_parser_new ();
  TraceTotals totals = trace_testing_totals (trace);
  JsonObject *expected, *collectives;
  g_autoptr (GList) names = NULL;
  uint64_t n_collectives = 0;

  g_assert_true (json_parser_load_from_file (parser, path, NULL));
  expected = json_node_get_object (json_parser_get_root (parser));
  collectives = json_object_get_object_member (expected, "collectives");
  names = json_object_get_members (collectives);
  g_assert_cmpuint (trace_ranks (trace), ==, json_object_get_int_member (expected, "ranks"));
  g_assert_cmpuint (totals.sends, ==, json_object_get_int_member (expected, "sends"));
  g_assert_cmpuint (totals.receives, ==, json_object_get_int_member (expected, "receives"));
  g_assert_cmpuint (totals.send_bytes, ==, json_object_get_int_member (expected, "send_bytes"));
  for (const GList *name = names; name != NULL; name = name->next) {
    gint64 n = json_object_get_int_member (collectives, name->data);

    g_assert_cmpuint (collectives_named (&totals, name->data), ==, n);
    n_collectives += (uint64_t) n;
  }
  for (int kind = TRACE_OP_BARRIER; kind <= TRACE_OP_EXSCAN; kind++)
    n_collectives -= totals.n_ops[kind];
  g_assert_cmpuint (n_collectives, ==, 0);
}

static void
test_recorded (gconstpointer data)
{
  g_autofree char *name = g_strconcat ("recorded/", data, NULL);
  g_autofree char *set = trace_testing_shared (name);
  g_autoptr (TraceTestingFolder) folder = NULL;
  g_autofree char *path = trace_testing_recorded (name, &folder);
  g_autoptr (Trace) trace = path != NULL ? trace_testing_open (path) : NULL;

  if (trace == NULL)
    return;
  check_expected (set, trace);
  if (g_str_equal (trace_format_name (trace), "dumpi"))
    check_calls (trace);
}

/* The entries of a list are found wherever the program is started. */
static void
test_list_from_elsewhere (void)
{
  g_autofree char *path = trace_testing_shared (ti_sets[1].path);
  g_autofree char *absolute = NULL;
  g_autoptr (Trace) trace = NULL;

  if (path == NULL)
    return;
  absolute = g_canonicalize_filename (path, NULL);
  trace = trace_testing_open (absolute);
  g_assert_cmpuint (trace_ranks (trace), ==, 16);
}

/* LAMMPS divides its periodic box 4 x 4 x 4 and exchanges with the six
 * neighbours, to and fro: every rank sends to six, and what one sends another
 * receives.  How many messages and bytes is what this recording has, against
 * change only. */
static void
test_lammps (void)
{
  g_autofree char *path = trace_testing_shipped ("lammps-64.hct");
  g_autoptr (Trace) trace = trace_testing_open (path);
  g_autoptr (GHashTable) pairs = g_hash_table_new (NULL, NULL);
  TraceTotals totals = trace_testing_totals (trace);

  g_assert_cmpuint (trace_ranks (trace), ==, 64);
  g_assert_cmpuint (totals.sends, ==, 42624);
  g_assert_cmpuint (totals.receives, ==, totals.sends);
  g_assert_cmpuint (totals.send_bytes, ==, 414869224);
  for (uint32_t rank = 0; rank < 64; rank++) {
    g_autoptr (TraceCursor) cursor = trace_cursor_new (trace, rank, NULL);
    TraceOp op;

    while (trace_cursor_next (cursor, &op, NULL) == TRACE_NEXT_OPERATION)
      if (op.kind == TRACE_OP_SEND)
        g_hash_table_add (pairs, GINT_TO_POINTER ((gint) rank * 64 + op.peer + 1));
  }
  g_assert_cmpuint (g_hash_table_size (pairs), ==, 64 * 6);
}

int
main (int argc, char **argv)
{
  static const char *const names[] = { "npb-bt-W-16", "npb-cg-A-16", "npb-ep-A-16",
                                       "npb-ft-W-16", "npb-is-A-16", "npb-lu-W-16",
                                       "npb-mg-A-16", "npb-sp-W-16", "comd-256-ti" };

  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/traces/recorded/dumpi", test_dumpi_sets);
  g_test_add_func ("/traces/recorded/ti", test_ti_sets);
  g_test_add_func ("/traces/recorded/formats-agree", test_formats_agree);
  g_test_add_func ("/traces/recorded/dump-counts", test_counts_of_dump);
  g_test_add_func ("/traces/recorded/dump-gaps", test_gaps_of_dump);
  g_test_add_func ("/traces/recorded/list-from-elsewhere", test_list_from_elsewhere);
  g_test_add_func ("/traces/recorded/lammps", test_lammps);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autofree char *path = g_strconcat ("/traces/recorded/", names[i], NULL);

    g_test_add_data_func (path, names[i], test_recorded);
  }
  return g_test_run ();
}
