/* dumpi_broken_test.c - DUMPI files that are cut, damaged, incomplete or packed.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/dumpi/dumpi_testing.h"

#include <string.h>

enum { INT = 9, WORLD = TRACE_COMM_WORLD };
enum { N_CALLS = 8 };

/* A small file with all kinds of arguments in it. */
static DumpiBuild *
small_build (void)
{
  DumpiBuild *b = dumpi_build_new (13, 0, 0);

  b->n_sizes = 29;
  dumpi_build_init (b);
  dumpi_build_call (b, 12, "4 2 4 4 2 4", 4, INT, -1, 0, WORLD, 2);
  dumpi_build_call (b, 0, "4 2 4 4 2", 4, INT, 0, 0, WORLD);
  dumpi_build_call (b, 18, "4  4 4  4 4 4 1 1 4", 1, 1, 2, 1, 16, 0, 0, 0, 0);
  dumpi_build_call (b, 59, "4 4 2  4 4 4  4 4 4  2 2", 2, 3, INT, 2, 3, 4, 2, 0, 3, INT, WORLD);
  dumpi_build_call (b, 78, "2 4  4  4 4 4 4  2", 3, 1, 1, 3, 0, 0, 1, 5);
  dumpi_build_call (b, 114, "s 4", "node17", 6);
  dumpi_build_finalize (b);
  return b;
}

/* A trace of one rank whose file has these bytes. */
static char *
write_rank (const char *folder, const guint8 *data, gsize n)
{
  g_autofree char *bin = trace_testing_write (folder, "t-0000.bin", data, n);

  return trace_testing_write (folder, "t.meta", "numprocs=1\n", 11);
}

/* Reads everything that can be read; returns the number of calls, or -1 after
 * an error, which must be of our domain and have a message. */
static int
read_what_is_there (const char *path)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Trace) trace = trace_testing_open (path);
  g_autoptr (TraceCursor) cursor = trace_cursor_new (trace, 0, &error);
  TraceNext next = TRACE_NEXT_ERROR;
  TraceOp op;
  int n = 0;

  while (cursor != NULL && (next = trace_cursor_next (cursor, &op, &error)) == TRACE_NEXT_OPERATION)
    n += op.kind != TRACE_OP_COMPUTE;
  if (next == TRACE_NEXT_END)
    return n;
  g_assert_nonnull (error);
  g_assert_cmpuint (error->domain, ==, TRACE_ERROR);
  g_assert_nonnull (strstr (error->message, "t-0000.bin"));
  return -1;
}

static void
test_cut_at_every_byte (void)
{
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
  g_autoptr (GByteArray) bytes = dumpi_build_end (small_build (), 7);
  int n_before = 0;

  for (guint n = 0; n < bytes->len; n++) {
    g_autofree char *path = write_rank (folder, bytes->data, n);
    int n_calls = read_what_is_there (path);

    /* Without its magic a file is nothing, and a cut index of 7 offsets looks
     * like an older one with less; else what is whole can be read. */
    if (n < 8 || (bytes->len - n <= 24 && (bytes->len - n) % 8 == 0))
      g_assert_cmpint (n_calls, ==, -1);
    else {
      g_assert_cmpint (n_calls, >=, n_before);
      n_before = n_calls;
    }
  }
  g_assert_cmpint (n_before, ==, N_CALLS);
}

static void
test_salvage_is_told (void)
{
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
  g_autoptr (GByteArray) bytes = dumpi_build_end (small_build (), 7);
  g_autofree char *path = write_rank (folder, bytes->data, 170);
  g_autoptr (Trace) trace = trace_testing_open (path);
  TraceTotals totals = trace_testing_totals (trace);

  g_assert_cmpuint (totals.n_ops[TRACE_OP_INIT], ==, 1);
  g_assert_cmpuint (totals.n_ops[TRACE_OP_IRECV], ==, 1);
  g_assert_cmpuint (totals.n_ops[TRACE_OP_SEND], ==, 1);
  g_assert_cmpuint (totals.n_ops[TRACE_OP_WAIT], ==, 0);
  g_assert_true (trace_testing_warned (trace, "rank 0: t-0000.bin has no index"));
  g_assert_true (trace_testing_warned (trace, "3 calls could be read"));
}

static void
test_flipped_bits (void)
{
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
  g_autoptr (GByteArray) bytes = dumpi_build_end (small_build (), 7);
  g_autoptr (GRand) random = g_rand_new_with_seed (1); /* the same damage every time */
  guint body_bytes = 300;

  for (guint i = 0; i < 3000; i++) {
    g_autofree guint8 *damaged = g_malloc (bytes->len);
    guint n_flips = (guint) g_rand_int_range (random, 1, 4);
    g_autofree char *path = NULL;

    memcpy (damaged, bytes->data, bytes->len);
    /* Half of them where the records are, half anywhere. */
    for (guint flip = 0; flip < n_flips; flip++) {
      gint end = i % 2 == 0 ? (gint) body_bytes : (gint) bytes->len;

      damaged[g_rand_int_range (random, 0, end)] ^= (guint8) (1 << g_rand_int_range (random, 0, 8));
    }
    path = write_rank (folder, damaged, bytes->len);
    read_what_is_there (path);
  }
}

/* The index grew with the versions: 4 offsets at first, 7 now. */
static void
test_index_of_every_length (void)
{
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();

  for (guint n_offsets = 4; n_offsets <= 7; n_offsets++) {
    g_autoptr (GByteArray) bytes = dumpi_build_end (small_build (), n_offsets);
    g_autofree char *path = write_rank (folder, bytes->data, bytes->len);
    g_autoptr (Trace) trace = trace_testing_open (path);
    TraceTotals totals = trace_testing_totals (trace);

    g_assert_cmpuint (totals.n_ops[TRACE_OP_FINALIZE], ==, 1);
    g_assert_cmpuint (trace_warnings (trace)->len, ==, 0);
  }
}

static void
test_packed_files (void)
{
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
  g_autoptr (GByteArray) bytes = dumpi_build_end (small_build (), 7);
  g_autofree char *bin =
      trace_testing_write_gzip (folder, "t-0000.bin.gz", bytes->data, bytes->len);
  g_autofree char *path = trace_testing_write_gzip (folder, "t.meta.gz", "numprocs=1\n", 11);

  g_assert_cmpint (read_what_is_there (path), ==, N_CALLS);
  g_assert_cmpint (read_what_is_there (bin), ==, N_CALLS);
}

/* Without a .meta file the files from rank 0 on are the trace. */
static void
test_without_meta (void)
{
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
  g_autoptr (GByteArray) bytes = dumpi_build_end (small_build (), 7);
  g_autofree char *a = trace_testing_write (folder, "t-0000.bin", bytes->data, bytes->len);
  g_autofree char *b = trace_testing_write (folder, "t-0001.bin", bytes->data, bytes->len);
  g_autofree char *other = trace_testing_write (folder, "t-0003.bin", bytes->data, bytes->len);
  g_autoptr (Trace) trace = trace_testing_open (b);

  g_assert_cmpuint (trace_ranks (trace), ==, 2);
}

/* The files may have another name than their .meta file: the recorded one. */
static void
test_recorded_prefix (void)
{
  static const char meta[] = "numprocs=1\nfileprefix=/scratch/run/job\n";
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
  g_autoptr (GByteArray) bytes = dumpi_build_end (small_build (), 7);
  g_autofree char *bin = trace_testing_write (folder, "job-0000.bin", bytes->data, bytes->len);
  g_autofree char *path = trace_testing_write_text (folder, "renamed.meta", meta);
  g_autoptr (Trace) trace = trace_testing_open (path);

  g_assert_cmpuint (trace_testing_totals (trace).n_ops[TRACE_OP_SEND], ==, 1);
}

/* A file that the build wrote, changed at one place. */
static void
check_changed (DumpiBuild *build, gint at, const char *bytes, gsize n, const char *part)
{
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
  g_autoptr (GByteArray) file = dumpi_build_end (build, 7);
  g_autofree char *path = NULL;

  memcpy (file->data + (at >= 0 ? at : (gint) file->len + at), bytes, n);
  path = write_rank (folder, file->data, file->len);
  trace_testing_bad (path, TRACE_ERROR_FORMAT, part);
}

static void
test_bad_file (void)
{
  static const struct {
    gint at; /* from the end when it is negative */
    const char *bytes;
    gsize n;
    const char *part;
  } files[] = {
    { 0, "X", 1, "t-0000.bin:0x0: not a DUMPI file" },
    { -32, "\0\0\1", 3, "index" },
    { -32, "\xff", 1, "index" },
    { -24, "\0\0\0\0\0\0\xff\0", 8, "index" },
    { 16, "\x01\x1a", 2, "t-0000.bin:0x10: 282 is not" },
    { 16, "\x7f\xff", 2, "32767 is not" },
    /* The nanoseconds of the first wall time: 2 + 1 + 2 + 12 + 2 into the record. */
    { 16 + 19, "\xff", 1, "nanoseconds" },
  };
  DumpiBuild *build;
  gint footer;

  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    check_changed (small_build (), files[i].at, files[i].bytes, files[i].n, files[i].part);

  build = small_build ();
  footer = (gint) build->bytes->len + 2 + 11 + 12 + 8;
  check_changed (build, footer + 7, "\0", 1, "footer");

  /* The end mark is not where the index has the header. */
  build = dumpi_build_new (13, 0, 0);
  dumpi_build_init (build);
  dumpi_build_finalize (build);
  check_changed (build, 16, "\x01\x25", 2, "the records end here");
}

/* One bad record between good ones. */
static void
test_bad_calls (void)
{
  static const struct {
    const char *part;
    uint16_t id;
    const char *format;
    int a[6];
    TraceError code;
  } calls[] = {
    { "MPI_Send: destination 2", 0, "42442", { 1, INT, 2, 0, WORLD }, TRACE_ERROR_RANGE },
    { "MPI_Irecv: source 9", 12, "424424", { 1, INT, 9, 0, WORLD, 5 }, TRACE_ERROR_RANGE },
    { "MPI_Irecv: request -1", 12, "424424", { 1, INT, 1, 0, WORLD, -1 }, TRACE_ERROR_RANGE },
    { "MPI_Start: request -7", 31, "4", { -7 }, TRACE_ERROR_RANGE },
    { "MPI_Bcast: root 2", 53, "4242", { 1, INT, 2, WORLD }, TRACE_ERROR_RANGE },
    { "MPI_Cart_create: number of periods 0", 99, "244442", { WORLD, 1, 1, 4 }, TRACE_ERROR_RANGE },
    { "MPI_Group_range_incl: length of a list",
      78,
      "244442",
      { 3, 1, 1, 1, 0, 4 },
      TRACE_ERROR_RANGE },
    { "MPI_Startall: the record extends past", 32, "44", { 1, -1 }, TRACE_ERROR_FORMAT },
    { "MPI_Waitall: the record extends past", 18, "444", { 1, 0x7fffffff }, TRACE_ERROR_FORMAT },
    { "MPI_Get_processor_name: the record extends", 114, "4", { 0x1000000 }, TRACE_ERROR_FORMAT },
    { "MPI_Wait: the record extends", 13, "44", { 2, 0x400000 }, TRACE_ERROR_FORMAT },
  };

  for (guint i = 0; i < G_N_ELEMENTS (calls); i++) {
    g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
    DumpiBuild *build = dumpi_build_new (13, 0, 0);
    const int *a = calls[i].a;
    g_autofree char *path = NULL;

    dumpi_build_init (build);
    dumpi_build_call (build, calls[i].id, calls[i].format, a[0], a[1], a[2], a[3], a[4], a[5]);
    dumpi_build_finalize (build);
    path = dumpi_build_write (build, folder, 2);
    trace_testing_bad (path, calls[i].code, calls[i].part);
  }
}

static void
check_bad_meta (const char *meta, TraceError code, const char *part)
{
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
  g_autoptr (GByteArray) bytes = dumpi_build_end (small_build (), 7);
  g_autofree char *bin = trace_testing_write (folder, "t-0000.bin", bytes->data, bytes->len);
  g_autofree char *path = trace_testing_write_text (folder, "t.meta", meta);

  trace_testing_bad (path, code, part);
}

static void
test_bad_meta (void)
{
  check_bad_meta ("numprocs=0\n", TRACE_ERROR_FORMAT, "found \"0\"");
  check_bad_meta ("numprocs=many\n", TRACE_ERROR_FORMAT, "found \"many\"");
  check_bad_meta ("hostname=a\nnumprocs=\n", TRACE_ERROR_FORMAT, "expected numprocs=N");
  check_bad_meta ("numprocs=-4\n", TRACE_ERROR_FORMAT, "found \"-4\"");
}

static void
test_missing_rank (void)
{
  check_bad_meta ("numprocs=2\n", TRACE_ERROR_OPEN, "t-0001.bin: no such file");
}

static void
test_bad_name (void)
{
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
  g_autoptr (GByteArray) bytes = dumpi_build_end (small_build (), 7);
  g_autofree char *path = trace_testing_write (folder, "trace.bin", bytes->data, bytes->len);

  trace_testing_bad (path, TRACE_ERROR_OPEN, "PREFIX-NNNN.bin");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/traces/dumpi/salvage/every-byte", test_cut_at_every_byte);
  g_test_add_func ("/traces/dumpi/salvage/told", test_salvage_is_told);
  g_test_add_func ("/traces/dumpi/fuzz/bits", test_flipped_bits);
  g_test_add_func ("/traces/dumpi/files/index", test_index_of_every_length);
  g_test_add_func ("/traces/dumpi/files/packed", test_packed_files);
  g_test_add_func ("/traces/dumpi/files/without-meta", test_without_meta);
  g_test_add_func ("/traces/dumpi/files/recorded-prefix", test_recorded_prefix);
  g_test_add_func ("/traces/dumpi/bad/file", test_bad_file);
  g_test_add_func ("/traces/dumpi/bad/calls", test_bad_calls);
  g_test_add_func ("/traces/dumpi/bad/meta", test_bad_meta);
  g_test_add_func ("/traces/dumpi/bad/missing-rank", test_missing_rank);
  g_test_add_func ("/traces/dumpi/bad/name", test_bad_name);
  return g_test_run ();
}
