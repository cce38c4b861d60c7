/* pattern_test.c - specs of patterns, and the streams made of them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/patterns/pattern.h"

#include "traces/trace_testing.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void
assert_canonical (const char *spec, const char *expected)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *canonical = trace_pattern_canonical (spec, &error);

  g_assert_no_error (error);
  g_assert_cmpstr (canonical, ==, expected);
}

static void
test_defaults_are_filled_in (void)
{
  assert_canonical ("gen:halo2d:ranks=12", "gen:halo2d:ranks=12,bytes=16384,iterations=100,"
                                           "compute=0s,grid=4x3,periodic=yes");
  assert_canonical ("gen:pingpong", "gen:pingpong:ranks=2,bytes=8,iterations=10,compute=0s");
  assert_canonical ("gen:pf3d", "gen:pf3d:ranks=16384,iterations=10,compute=0s,grid=16x8x128,"
                                "zones=128x96x20,complex=8,real=4,planes=3,periodic=no");
  assert_canonical ("gen:suba2a:ranks=16384",
                    "gen:suba2a:ranks=16384,bytes=16384,iterations=50,compute=0s,grid=64x16x16,"
                    "size=64,dimension=x");
}

static void
test_order_is_that_of_the_table (void)
{
  assert_canonical ("gen:ring:both=yes,iterations=2,ranks=3,bytes=1K",
                    "gen:ring:ranks=3,bytes=1024,iterations=2,compute=0s,both=yes");
}

static void
test_values (void)
{
  static const struct {
    const char *typed, *canonical;
  } cases[] = {
    { "bytes=3", "bytes=3" },
    { "bytes=3k", "bytes=3072" },
    { "bytes=2M", "bytes=2097152" },
    { "bytes=1G", "bytes=1073741824" },
    { "compute=1.5us", "compute=1500ns" },
    { "compute=10 us", "compute=10us" },
    { "compute=0.25ms", "compute=250us" },
    { "compute=3s", "compute=3s" },
    { "compute=0", "compute=0s" },
    { "compute=7ps", "compute=7ps" },
    { "compute=1000ns", "compute=1us" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *spec = g_strconcat ("gen:alltoall:ranks=4,", cases[i].typed, NULL);
    g_autofree char *canonical = trace_pattern_canonical (spec, NULL);

    if (strstr (canonical, cases[i].canonical) == NULL)
      g_error ("%s became %s", cases[i].typed, canonical);
  }
}

/* Reading what was printed prints the same. */
static void
test_round_trip (void)
{
  static const char *const specs[] = {
    "gen:halo2d:ranks=64",
    "gen:halo3d:grid=2x3x4,periodic=no",
    "gen:suba2a:ranks=256,size=32,dimension=z",
    "gen:pf3d:ranks=128,compute=1.5ms",
    "gen:evh1:ranks=64",
    "gen:alltoall:ranks=64,bytes=3M",
    "gen:permutation:ranks=64,kind=transpose",
    "gen:permutation:ranks=64,kind=random,seed=3",
    "gen:random:ranks=64",
    "gen:ring:ranks=64,both=yes",
    "gen:pingpong",
  };

  for (guint i = 0; i < G_N_ELEMENTS (specs); i++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *canonical = trace_pattern_canonical (specs[i], &error);

    g_assert_no_error (error);
    g_assert_cmpuint (strlen (canonical), >, strlen (specs[i]));
    assert_canonical (canonical, canonical);
  }
}

/* Every default is a value that may be given, and every name can be an option. */
static void
test_tables_are_sound (void)
{
  for (const TracePattern *const *pattern = trace_patterns (); *pattern != NULL; pattern++)
    for (const TraceParameter *p = (*pattern)->parameters; p->name != NULL; p++) {
      g_autofree char *spec = g_strdup_printf ("gen:%s:%s=%s,nothing=0", (*pattern)->name, p->name,
                                               p->preset != NULL ? p->preset : "");
      g_autoptr (GError) error = NULL;

      g_assert_cmpuint (strspn (p->name, "abcdefghijklmnopqrstuvwxyz0123456789-"), ==,
                        strlen (p->name));
      g_assert_cmpstr (p->name, !=, "output");
      g_assert_cmpstr (p->name, !=, "to");
      if (p->preset == NULL || *p->preset == '\0')
        continue;
      g_assert_null (trace_pattern_canonical (spec, &error));
      g_assert_nonnull (strstr (error->message, "no parameter \"nothing\""));
    }
}

/* A wrong spec, and what its message must have in it. */
typedef struct {
  const char *name, *spec;
  TraceError code;
  const char *part;
} BadSpec;

static const BadSpec bad_specs[] = {
  { "kind", "gen:halo4d", TRACE_ERROR_FORMAT, "no pattern \"halo4d\"; there are halo2d, halo3d" },
  { "empty", "gen:", TRACE_ERROR_FORMAT, "no pattern \"\"" },
  { "parameter", "gen:ring:rank=3", TRACE_ERROR_FORMAT, "no parameter \"rank\"; it has ranks" },
  { "missing", "gen:ring", TRACE_ERROR_FORMAT, "ranks=... is missing: number of ranks" },
  { "twice", "gen:ring:ranks=3,ranks=4", TRACE_ERROR_FORMAT, "ranks is given twice" },
  { "no-value", "gen:ring:ranks", TRACE_ERROR_FORMAT, "\"ranks\" is not of the form NAME=VALUE" },
  { "trailing-comma", "gen:ring:ranks=3,", TRACE_ERROR_FORMAT, "\"\" is not of the form" },
  { "empty-value", "gen:ring:ranks=", TRACE_ERROR_RANGE, "ranks: \"\" is not a whole number" },
  { "zero", "gen:ring:ranks=0", TRACE_ERROR_RANGE,
    "ranks: \"0\" is not a whole number within 1.." },
  { "negative", "gen:ring:ranks=-1", TRACE_ERROR_RANGE, "\"-1\" is not" },
  { "words", "gen:ring:ranks=many", TRACE_ERROR_RANGE, "ranks: \"many\" is not" },
  { "overflow", "gen:ring:ranks=99999999999999999999", TRACE_ERROR_RANGE, "within 1..2147483647" },
  { "too-many", "gen:ring:ranks=20000000", TRACE_ERROR_RANGE,
    "20000000 ranks; there may be up to" },
  { "too-many-in-grid", "gen:halo3d:grid=4096x4096x4096", TRACE_ERROR_RANGE,
    "up to 16777216 ranks" },
  { "bytes", "gen:ring:ranks=2,bytes=1T", TRACE_ERROR_RANGE, "bytes: \"1T\" is not a number of" },
  { "bytes-range", "gen:ring:ranks=2,bytes=1025G", TRACE_ERROR_RANGE, "within 0..1024G" },
  { "bytes-letter", "gen:ring:ranks=2,bytes=K", TRACE_ERROR_RANGE, "\"K\" is not" },
  { "no-unit", "gen:ring:ranks=2,compute=5", TRACE_ERROR_RANGE, "\"5\" is not a time" },
  { "bad-unit", "gen:ring:ranks=2,compute=5 min", TRACE_ERROR_RANGE, "\"5 min\" is not a time" },
  { "bad-number", "gen:ring:ranks=2,compute=1.2.3s", TRACE_ERROR_RANGE, "is not a time" },
  { "long", "gen:ring:ranks=2,compute=1001s", TRACE_ERROR_RANGE, "within 0..1000s" },
  { "grid", "gen:halo2d:grid=4by4", TRACE_ERROR_RANGE, "grid: \"4by4\" is not a grid" },
  { "grid-zero", "gen:halo2d:grid=4x0", TRACE_ERROR_RANGE, "\"4x0\" is not a grid" },
  { "grid-dimensions", "gen:halo2d:grid=4x4x4", TRACE_ERROR_RANGE, "grid: 2 numbers are needed" },
  { "grid-ranks", "gen:halo2d:grid=4x4,ranks=15", TRACE_ERROR_RANGE, "the grid has 16 ranks" },
  { "no-ranks", "gen:halo2d", TRACE_ERROR_RANGE, "ranks=... or grid=... must be given" },
  { "word", "gen:ring:ranks=2,both=maybe", TRACE_ERROR_RANGE, "\"maybe\" is not one of yes|no" },
  { "odd", "gen:pingpong:ranks=5", TRACE_ERROR_RANGE, "ranks: 5 is odd" },
  { "power", "gen:permutation:ranks=12,kind=reverse", TRACE_ERROR_RANGE, "12 is not a power of 2" },
  { "grid-for-shift", "gen:permutation:ranks=12,kind=shift,grid=3x4", TRACE_ERROR_RANGE,
    "grid: is for kind=transpose only" },
  { "sub", "gen:suba2a:ranks=100", TRACE_ERROR_RANGE, "100 is not a multiple of size=64" },
  { "sub-grid", "gen:suba2a:grid=64x8x8,dimension=y", TRACE_ERROR_RANGE, "8 ranks along y" },
  { "pf3d-ranks", "gen:pf3d:ranks=100", TRACE_ERROR_RANGE, "100 is not a multiple of 16 x 8" },
  { "pf3d-zones", "gen:pf3d:ranks=128,zones=64x100x4", TRACE_ERROR_RANGE, "cannot be transposed" },
  { "evh1-zones", "gen:evh1:ranks=32,zones=1000x1024", TRACE_ERROR_RANGE,
    "zones: 1000 is not a multiple of the 32 ranks" },
  { "messages", "gen:random:ranks=32,messages=65537", TRACE_ERROR_RANGE, "65537 is more than" },
};

static void
test_bad_spec (gconstpointer data)
{
  const BadSpec *bad = data;
  g_autofree char *prefix = g_strconcat (bad->spec, ": ", NULL);

  trace_testing_bad (bad->spec, bad->code, bad->part);
  trace_testing_bad (bad->spec, bad->code, prefix);
}

/* A piece that specs are made of, or a character of any kind. */
static void
append_piece (GString *spec)
{
  static const char *const pieces[] = { "gen:",
                                        ":",
                                        ",",
                                        "=",
                                        "ranks",
                                        "bytes",
                                        "iterations",
                                        "compute",
                                        "grid",
                                        "size",
                                        "64",
                                        "0",
                                        "-1",
                                        "2",
                                        "1K",
                                        "1024G",
                                        "4x4x4",
                                        "8x8",
                                        "x",
                                        "5us",
                                        "yes",
                                        "kind",
                                        "random",
                                        "halo2d",
                                        "suba2a",
                                        "pf3d",
                                        "zones",
                                        "random",
                                        "messages",
                                        "65536",
                                        "99999999999999999999",
                                        "16777216" };

  if (g_test_rand_int_range (0, 12) > 0)
    g_string_append (spec, pieces[g_test_rand_int_range (0, G_N_ELEMENTS (pieces))]);
  else
    g_string_append_c (spec, (char) g_test_rand_int_range (1, 256));
}

/* A spec of any pattern with a piece put in or taken out somewhere. */
static char *
damaged_spec (void)
{
  static const char *const specs[] = {
    "gen:halo2d:ranks=64,bytes=1K,iterations=2,compute=5us,grid=8x8,periodic=no",
    "gen:suba2a:ranks=256,size=64,dimension=y,bytes=8",
    "gen:pf3d:grid=4x4x4,zones=16x16x2,planes=2",
    "gen:evh1:ranks=8,zones=64x64,variables=6",
    "gen:permutation:ranks=64,kind=transpose,grid=16x4",
    "gen:random:ranks=64,messages=3,seed=9",
  };
  GString *spec = g_string_new (specs[g_test_rand_int_range (0, G_N_ELEMENTS (specs))]);
  gint at = g_test_rand_int_range (0, (gint) spec->len), n = g_test_rand_int_range (0, 6);
  g_autofree char *rest = NULL;

  n = MIN (n, (gint) spec->len - at);
  rest = g_strdup (spec->str + at + n);
  g_string_truncate (spec, (gsize) at);
  for (gint i = g_test_rand_int_range (0, 4); i > 0; i--)
    append_piece (spec);
  g_string_append (spec, rest);
  return g_string_free (spec, FALSE);
}

/* Whatever is typed: one error that tells the spec, or a program whose
 * streams begin, and whose canonical spec stands for the same. */
static void
test_damaged_specs (void)
{
  for (guint i = 0; i < 3000; i++) {
    g_autofree char *damaged = damaged_spec ();
    g_autofree char *spec = g_strconcat ("gen:", damaged + MIN (strlen (damaged), 4), NULL);
    g_autoptr (GError) error = NULL;
    g_autofree char *canonical = trace_pattern_canonical (spec, &error);
    g_autoptr (Trace) trace = NULL;
    g_autoptr (TraceCursor) cursor = NULL;
    TraceOp op;

    if (canonical == NULL) {
      g_assert_true (error->domain == TRACE_ERROR && g_str_has_prefix (error->message, spec));
      continue;
    }
    g_assert_no_error (error);
    assert_canonical (canonical, canonical);
    trace = trace_testing_open (spec);
    cursor = trace_cursor_new (trace, trace_ranks (trace) - 1, NULL);
    for (guint n = 0; n < 5; n++)
      if (trace_cursor_next (cursor, &op, NULL) != TRACE_NEXT_OPERATION)
        break;
  }
}

/* A spec is no file, even where there is a file with that name. */
static void
test_files_are_not_touched (void)
{
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
  g_autofree char *before = g_get_current_dir ();
  g_autofree char *file = trace_testing_write (folder, "gen:ring:ranks=3", "0 init\n", 7);
  g_autoptr (Trace) trace = NULL;

  g_assert_cmpint (chdir (folder), ==, 0);
  trace = trace_testing_open ("gen:ring:ranks=3");
  g_assert_cmpint (chdir (before), ==, 0);
  g_assert_cmpstr (trace_format_name (trace), ==, "pattern");
  g_assert_cmpstr (trace_path (trace), ==, "gen:ring:ranks=3");
  g_assert_cmpuint (trace_ranks (trace), ==, 3);
  g_assert_false (trace_is_graph (trace));
  g_assert_cmpuint (trace_warnings (trace)->len, ==, 0);
}

static char *
hash_of (const char *spec, gboolean lossy)
{
  const TraceOptions options = { .allow_lossy = lossy };
  g_autoptr (Trace) trace = trace_open (spec, &options, NULL);

  return g_strdup (trace_hash (trace, NULL));
}

/* The hash is that of the canonical spec: what `printf SPEC | sha256sum` says. */
static void
test_hash (void)
{
  g_autofree char *brief = hash_of ("gen:pingpong", FALSE);
  g_autofree char *full = hash_of ("gen:pingpong:bytes=8,ranks=2", FALSE);
  g_autofree char *lossy = hash_of ("gen:pingpong", TRUE);
  g_autofree char *other = hash_of ("gen:pingpong:bytes=9", FALSE);

  g_assert_cmpstr (brief, ==, "0e4568548bc970f146c2318cfe573d9bd63b4ab3ada660d81bc6f2347c7887d3");
  g_assert_cmpstr (full, ==, brief);
  g_assert_cmpstr (lossy, ==, brief);
  g_assert_cmpstr (other, !=, brief);
}

static void
test_options (void)
{
  const TraceOptions region = { .from_region = "solve" }, four = { .n_ranks = 4 };
  g_autoptr (GError) error = NULL;
  g_autoptr (Trace) trace = trace_open ("gen:ring:ranks=4", &four, NULL);

  g_assert_nonnull (trace);
  g_assert_null (trace_open ("gen:ring:ranks=5", &four, &error));
  g_assert_error (error, TRACE_ERROR, TRACE_ERROR_RANGE);
  g_clear_error (&error);
  g_assert_null (trace_open ("gen:ring:ranks=5", &region, &error));
  g_assert_error (error, TRACE_ERROR, TRACE_ERROR_OPEN);
}

static void
test_stream_has_start_and_end (void)
{
  TraceTestingStream s;

  trace_testing_stream_open (&s, NULL, "gen:alltoall:ranks=2,iterations=0", 1, NULL);
  EXPECT (&s, "init", "finalize");
  trace_testing_stream_end (&s);
  trace_testing_stream_end (&s);
  trace_testing_stream_close (&s);
}

static void
test_places (void)
{
  g_autoptr (Trace) trace = trace_testing_open ("gen:ring:ranks=4,iterations=2");
  g_autoptr (TraceCursor) cursor = trace_cursor_new (trace, 1, NULL);
  static const char *const places[] = {
    "gen:ring start",
    "gen:ring batch 0 operation 0",
    "gen:ring batch 0 operation 1",
    "gen:ring batch 0 operation 2",
    "gen:ring batch 1 operation 0",
    "gen:ring batch 1 operation 1",
    "gen:ring batch 1 operation 2",
    "gen:ring end",
  };
  TraceOp op;

  for (guint i = 0; i < G_N_ELEMENTS (places); i++) {
    g_assert_cmpint (trace_cursor_next (cursor, &op, NULL), ==, TRACE_NEXT_OPERATION);
    g_assert_cmpstr (trace_cursor_place (cursor), ==, places[i]);
  }
}

/* Reads op after op of two cursors on the same rank, one far behind. */
static void
test_cursors_are_independent (void)
{
  g_autoptr (Trace) trace = trace_testing_open ("gen:random:ranks=64,messages=3,iterations=5");
  g_autoptr (TraceCursor) ahead = trace_cursor_new (trace, 9, NULL);
  g_autoptr (GArray) seen = g_array_new (FALSE, FALSE, sizeof (TraceOp));
  g_autoptr (TraceCursor) behind = NULL;
  TraceOp op;

  while (trace_cursor_next (ahead, &op, NULL) == TRACE_NEXT_OPERATION)
    g_array_append_val (seen, op);
  behind = trace_cursor_new (trace, 9, NULL);
  for (guint i = 0; i < seen->len; i++) {
    const TraceOp *first = &g_array_index (seen, TraceOp, i);

    g_assert_cmpint (trace_cursor_next (behind, &op, NULL), ==, TRACE_NEXT_OPERATION);
    g_assert_cmpint (op.kind, ==, first->kind);
    g_assert_cmpint (op.peer, ==, first->peer);
    g_assert_cmpuint (op.request, ==, first->request);
    g_assert_cmpuint (op.n_requests, ==, first->n_requests);
  }
  g_assert_cmpuint (seen->len, >, 5 * (3 + 3 + 1));
}

static gint64
resident_bytes (void)
{
  FILE *file = fopen ("/proc/self/statm", "r");
  long size, resident = -1;

  if (file == NULL)
    return -1;
  if (fscanf (file, "%ld %ld", &size, &resident) != 2)
    resident = -1;
  fclose (file);
  return resident < 0 ? -1 : resident * sysconf (_SC_PAGESIZE);
}

/* With a stream of each of 65,536 ranks in the middle of its exchange of 28
 * messages, a stream takes less than 2 KiB. */
static void
test_many_streams_are_small (void)
{
  enum { N = 65536, OPS = 20 };
  g_autoptr (Trace) trace = trace_testing_open ("gen:halo3d:ranks=65536");
  g_autofree TraceCursor **cursors = g_new (TraceCursor *, N);
  gint64 before = resident_bytes ();
  TraceOp op;

  for (uint32_t rank = 0; rank < N; rank++) {
    cursors[rank] = trace_cursor_new (trace, rank, NULL);
    for (guint i = 0; i < OPS; i++)
      g_assert_cmpint (trace_cursor_next (cursors[rank], &op, NULL), ==, TRACE_NEXT_OPERATION);
  }
#ifndef __SANITIZE_ADDRESS__
  if (before >= 0)
    g_assert_cmpint ((resident_bytes () - before) / N, <, 2048);
#else
  (void) before;
#endif
  for (uint32_t rank = 0; rank < N; rank++)
    trace_cursor_free (cursors[rank]);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/traces/pattern/spec/defaults", test_defaults_are_filled_in);
  g_test_add_func ("/traces/pattern/spec/order", test_order_is_that_of_the_table);
  g_test_add_func ("/traces/pattern/spec/values", test_values);
  g_test_add_func ("/traces/pattern/spec/round-trip", test_round_trip);
  g_test_add_func ("/traces/pattern/spec/tables", test_tables_are_sound);
  g_test_add_func ("/traces/pattern/spec/damaged", test_damaged_specs);
  g_test_add_func ("/traces/pattern/spec/no-file", test_files_are_not_touched);
  g_test_add_func ("/traces/pattern/spec/hash", test_hash);
  g_test_add_func ("/traces/pattern/spec/options", test_options);
  g_test_add_func ("/traces/pattern/stream/ends", test_stream_has_start_and_end);
  g_test_add_func ("/traces/pattern/stream/places", test_places);
  g_test_add_func ("/traces/pattern/stream/independent", test_cursors_are_independent);
  g_test_add_func ("/traces/pattern/stream/memory", test_many_streams_are_small);
  for (guint i = 0; i < G_N_ELEMENTS (bad_specs); i++) {
    g_autofree char *path = g_strconcat ("/traces/pattern/bad/", bad_specs[i].name, NULL);

    g_test_add_data_func (path, &bad_specs[i], test_bad_spec);
  }
  return g_test_run ();
}
