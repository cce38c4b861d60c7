/* dumpi_testing.c - makes DUMPI files byte by byte, for tests.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/dumpi/dumpi_testing.h"

#include "traces/dumpi/dumpi_format.h"
#include "traces/trace_file.h"

#include <string.h>

#define CALL_NS 500

static void
put (DumpiBuild *build, guint n_bytes, uint64_t value)
{
  for (guint i = n_bytes; i-- > 0;) {
    uint8_t byte = (uint8_t) (value >> (8 * i));

    g_byte_array_append (build->bytes, &byte, 1);
  }
}

static void
put_magic (DumpiBuild *build)
{
  g_byte_array_append (build->bytes,
                       (const guint8 *) "\xff\xaa\xdd"
                                        "DUMPI",
                       8);
}

static void
put_string (DumpiBuild *build, guint count_bytes, const char *string)
{
  put (build, count_bytes, strlen (string));
  g_byte_array_append (build->bytes, (const guint8 *) string, (guint) strlen (string));
}

DumpiBuild *
dumpi_build_new (uint8_t major, uint8_t minor, uint8_t patch)
{
  DumpiBuild *build = g_new0 (DumpiBuild, 1);

  build->bytes = g_byte_array_new ();
  build->version[0] = major;
  build->version[1] = minor;
  build->version[2] = patch;
  build->mask = 0x4f;
  build->now_ns = 5000;
  build->between_ns = 1000;
  put_magic (build);
  put (build, 8, 0);
  return build;
}

static void
put_time (DumpiBuild *build, uint64_t time_ns)
{
  put (build, 2, time_ns / 1000000000);
  put (build, 4, time_ns % 1000000000);
}

static void
put_times (DumpiBuild *build)
{
  uint64_t start_ns = build->now_ns + build->between_ns;

  build->now_ns = start_ns + CALL_NS;
  /* The processor clock runs at half the speed, so that they cannot be mixed up. */
  if (build->mask & 0x04) {
    put_time (build, start_ns / 2);
    put_time (build, build->now_ns / 2);
  }
  if (build->mask & 0x08) {
    put_time (build, start_ns);
    put_time (build, build->now_ns);
  }
}

void
dumpi_build_call (DumpiBuild *build, uint16_t id, const char *format, ...)
{
  va_list arguments;

  if (id < DUMPI_TESTING_IDS)
    build->made[id]++;
  put (build, 2, id);
  put (build, 1, build->mask);
  if (build->mask & 0x40)
    put (build, 2, 0);
  put_times (build);
  if (build->mask & 0x80) {
    put (build, 1, 2);
    for (guint i = 0; i < 4; i++)
      put (build, 8, i);
  }
  va_start (arguments, format);
  for (; *format != '\0'; format++)
    if (*format == 's')
      put_string (build, 4, va_arg (arguments, const char *));
    else if (*format != ' ')
      put (build, (guint) (*format - '0'), (uint64_t) (int64_t) va_arg (arguments, int));
  va_end (arguments);
}

void
dumpi_build_init (DumpiBuild *build)
{
  dumpi_build_call (build, 124, "4 s", 1, "./a.out");
}

void
dumpi_build_finalize (DumpiBuild *build)
{
  dumpi_build_call (build, 125, "");
}

GByteArray *
dumpi_build_end (DumpiBuild *build, guint n_offsets)
{
  /* In the order of the index, its newest entry first. */
  enum { SIZES, ADDRESSES, PERF, HEADER, BODY, FOOTER, KEYVALUES, N };
  uint64_t offset[N] = { 0 };
  GByteArray *bytes = build->bytes;

  offset[BODY] = 8;
  put (build, 2, 293);
  offset[HEADER] = bytes->len;
  g_byte_array_append (bytes, build->version, 3);
  put (build, 8, 1400000000);
  put_string (build, 2, "host");
  put_string (build, 2, "user");
  put (build, 4, 0);
  put (build, 4, 0);
  offset[FOOTER] = bytes->len;
  put (build, 8, 0xf007fee7);
  for (guint id = 0; id < DUMPI_TESTING_IDS; id++)
    put (build, 4, build->made[id] + build->ignored[id]);
  for (guint id = 0; id < DUMPI_TESTING_IDS; id++)
    put (build, 4, build->ignored[id]);
  if (build->n_sizes > 0) {
    offset[SIZES] = bytes->len;
    put (build, 4, build->n_sizes);
    for (guint i = 0; i < build->n_sizes; i++)
      put (build, 4, (uint64_t) (int64_t) build->sizes[i]);
  }
  put_magic (build);
  for (guint i = N - n_offsets; i < N; i++)
    put (build, 8, offset[i]);
  g_free (build);
  return bytes;
}

char *
dumpi_build_write (DumpiBuild *build, const char *folder, uint32_t n_ranks)
{
  g_autoptr (GByteArray) bytes = dumpi_build_end (build, 7);
  g_autofree char *meta = g_strdup_printf ("hostname=h\nnumprocs=%u\nfileprefix=t\n", n_ranks);
  g_autofree char *bin = trace_testing_write (folder, "t-0000.bin", bytes->data, bytes->len);

  for (uint32_t rank = 1; rank < n_ranks; rank++) {
    g_autofree char *name = g_strdup_printf ("t-%04u.bin", rank);
    g_autofree char *other = trace_testing_write (folder, name, bytes->data, bytes->len);
  }
  return trace_testing_write_text (folder, "t.meta", meta);
}

GHashTable *
dumpi_testing_calls (Trace *trace, uint32_t rank)
{
  const char *path = trace_path (trace), *ending = strrchr (path, '.');
  g_autofree char *bin = g_strdup_printf ("%.*s-%04u.bin", (int) (ending - path), path, rank);
  g_autofree char *found = trace_file_find (bin);
  GHashTable *calls = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GError) error = NULL;
  g_autoptr (TraceCursor) cursor = trace_cursor_new (trace, rank, &error);
  g_autoptr (DumpiFile) file = NULL;
  TraceNext next;
  TraceOp op;

  g_assert_no_error (error);
  g_assert_nonnull (found);
  file = dumpi_file_open (found, &error);
  g_assert_no_error (error);
  while ((next = trace_cursor_next (cursor, &op, &error)) == TRACE_NEXT_OPERATION)
    if (op.kind != TRACE_OP_COMPUTE) {
      guint n = GPOINTER_TO_UINT (g_hash_table_lookup (calls, op.name));

      g_hash_table_insert (calls, (gpointer) op.name, GUINT_TO_POINTER (n + 1));
    }
  g_assert_no_error (error);
  g_assert_cmpint (next, ==, TRACE_NEXT_END);
  for (uint32_t id = 0; id < DUMPI_N_COUNTS; id++) {
    uint64_t made, ignored;

    g_assert_true (dumpi_file_counts (file, id, &made, &ignored));
    if (dumpi_calls[id].name != NULL) {
      guint n = GPOINTER_TO_UINT (g_hash_table_lookup (calls, dumpi_calls[id].name));

      if (n != made - MIN (ignored, made))
        g_error ("%s: %u records of %s, of %" G_GUINT64_FORMAT " with %" G_GUINT64_FORMAT
                 " ignored",
                 bin, n, dumpi_calls[id].name, made, ignored);
    }
  }
  return calls;
}

static void
run_test (gconstpointer data)
{
  const DumpiTest *test = data;
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
  DumpiFixture f = { .folder = folder, .build = dumpi_build_new (13, 0, 0) };

  f.build->between_ns = 0;
  if (test->mask != 0)
    f.build->mask = test->mask;
  test->run (&f);
  trace_testing_stream_close (&f.stream);
}

int
dumpi_testing_main (int argc, char **argv, const DumpiTest *tests, guint n_tests)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < n_tests; i++) {
    g_autofree char *path = g_strconcat ("/traces/dumpi/", tests[i].path, NULL);

    g_test_add_data_func (path, &tests[i], run_test);
  }
  return g_test_run ();
}

void
dumpi_fixture_restart (DumpiFixture *f, uint8_t major, uint8_t minor, uint8_t patch)
{
  g_autoptr (GByteArray) old = dumpi_build_end (f->build, 7);

  f->build = dumpi_build_new (major, minor, patch);
  f->build->between_ns = 0;
}

void
dumpi_fixture_open (DumpiFixture *f)
{
  g_autofree char *path = dumpi_build_write (f->build, f->folder, 8);

  trace_testing_stream_open (&f->stream, NULL, path, 0, NULL);
}
