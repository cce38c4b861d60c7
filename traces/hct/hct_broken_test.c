/* hct_broken_test.c - damaged .hct files are refused, whatever the damage.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/format.h"
#include "traces/hct/hct_file.h"
#include "traces/hct/hct_record.h"
#include "traces/hct/hct_testing.h"
#include "traces/writer.h"

#include <string.h>
#include <zlib.h>

/* Loops, measures, sites: all parts of a file. */
static gboolean
sample_op (gconstpointer data, uint32_t rank, uint64_t index, TraceOp *op)
{
  static const uint32_t requests[] = { 7 };

  (void) data;
  op->kind = index % 3 == 0 ? TRACE_OP_COMPUTE : index % 3 == 1 ? TRACE_OP_ISEND : TRACE_OP_WAIT;
  op->name = "MPI_Call";
  op->site = index % 3 == 1 ? "main" : NULL;
  op->gap_ps = index % 3 == 0 ? (int64_t) (index * index * 7919 % 10007) : 0;
  op->peer = (int32_t) (rank + 1) % 3;
  op->request = index % 3 == 1 ? 7 : 0;
  op->requests = requests;
  op->n_requests = index % 3 == 2;
  return index < 60;
}

/* The bytes of a file with that. */
static char *
sample_file (gsize *n)
{
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
  g_autoptr (Trace) trace = trace_testing_made_up (3, FALSE, sample_op, NULL, NULL);
  g_autofree char *path = NULL;
  char *contents;

  trace_warn (trace, "something is missing");
  path = hct_testing_convert (trace, folder);
  g_assert_true (g_file_get_contents (path, &contents, n, NULL));
  return contents;
}

/* Reads the trace to the end; FALSE and *error when that fails. */
static gboolean
is_readable (const char *path, GError **error)
{
  g_autoptr (Trace) trace = trace_open_as (&trace_format_hct, path, NULL, error);

  for (uint32_t rank = 0; trace != NULL && rank < trace_ranks (trace); rank++) {
    g_autoptr (TraceCursor) cursor = trace_cursor_new (trace, rank, error);
    TraceNext next = cursor != NULL ? TRACE_NEXT_OPERATION : TRACE_NEXT_ERROR;
    TraceOp op;

    while (next == TRACE_NEXT_OPERATION)
      next = trace_cursor_next (cursor, &op, error);
    if (next == TRACE_NEXT_ERROR)
      return FALSE;
  }
  return trace != NULL;
}

static void
check_refused (const char *folder, const char *contents, gsize n, const char *what)
{
  g_autofree char *path = trace_testing_write (folder, "t.hct", contents, n);
  g_autoptr (GError) error = NULL;

  if (is_readable (path, &error))
    g_error ("not noticed: %s", what);
  g_assert_error (error, TRACE_ERROR, TRACE_ERROR_FORMAT);
  g_assert_nonnull (strstr (error->message, "t.hct"));
}

/* The whole file, bit by bit. */
static void
test_every_bit (void)
{
  gsize n;
  g_autofree char *contents = sample_file (&n);
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();

  g_assert_cmpuint (n, <, 4096);
  for (gsize bit = 0; bit < 8 * n; bit++) {
    g_autofree char *what = g_strdup_printf ("bit %" G_GSIZE_FORMAT, bit);

    contents[bit / 8] = (char) (contents[bit / 8] ^ 1 << bit % 8);
    check_refused (folder, contents, n, what);
    contents[bit / 8] = (char) (contents[bit / 8] ^ 1 << bit % 8);
  }
}

static void
test_every_length (void)
{
  gsize n;
  g_autofree char *contents = sample_file (&n);
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();

  for (gsize length = 0; length < n; length++)
    check_refused (folder, contents, length, "a file that is too short");
  contents = g_realloc (contents, n + 1);
  contents[n] = '\n';
  check_refused (folder, contents, n + 1, "a byte behind the end");
}

/* Parts of the file that are right by their checksums. */
static void
set_u32 (char *contents, gsize at, uint32_t value)
{
  hct_store_u32 ((guint8 *) contents + at, value);
}

static void
seal_header (char *contents)
{
  set_u32 (contents, 28, (uint32_t) crc32_z (0, (guint8 *) contents, 28));
}

static void
check_message (char *contents, gsize n, const char *part)
{
  trace_testing_bad_file ("t.hct", contents, n, TRACE_ERROR_FORMAT, part);
}

static void
test_header (void)
{
  gsize n;
  g_autofree char *contents = sample_file (&n);
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
  g_autofree char *path = NULL;
  g_autoptr (GError) error = NULL;

  set_u32 (contents, 12, HCT_MINOR + 7);
  seal_header (contents);
  path = trace_testing_write (folder, "t.hct", contents, n);
  g_assert_true (is_readable (path, &error));
  g_assert_no_error (error);
  set_u32 (contents, 8, HCT_MAJOR + 1);
  seal_header (contents);
  check_message (contents, n, "version 2.7, but");
  set_u32 (contents, 16, 0x04030201);
  seal_header (contents);
  check_message (contents, n, "other byte order");
}

/* The first bytes are those of a .hct file, the rest of something else. */
static void
test_something_else (void)
{
  char contents[200] = "\x89HCT\r\n\x1a\n";

  check_message (contents, sizeof contents, "header is damaged");
  check_message (contents, 8, "truncated");
}

/* A file of this index, with right checksums and no blocks. */
static void
check_index (const guint8 *index, gsize n_index, uint64_t claimed_bytes, const char *part)
{
  gsize length, n = 32 + n_index + 48;
  g_autofree char *sample = sample_file (&length), *contents = g_malloc0 (n);
  guint8 *trailer = (guint8 *) contents + 32 + n_index;

  memcpy (contents, sample, 32);
  memcpy (contents + 32, index, n_index);
  hct_store_u64 (trailer, 32);
  hct_store_u64 (trailer + 8, n_index);
  hct_store_u64 (trailer + 16, claimed_bytes);
  hct_store_u32 (trailer + 24, (uint32_t) crc32_z (0, index, n_index));
  hct_store_u64 (trailer + 32, n);
  hct_store_u32 (trailer + 40, (uint32_t) crc32_z (0, trailer, 40));
  memcpy (trailer + 44, "TCH\n", 4);
  check_message (contents, n, part);
}

/* Counts of 2^32 - 1 elements, which take at least a byte each, in a file of a
 * few bytes: for every table.  Then segments and programs that point nowhere. */
static void
test_impossible_index (void)
{
#define HUGE 0xff, 0xff, 0xff, 0xff, 0x0f
  static const struct {
    guint8 bytes[17];
    gsize n;
  } indices[] = {
    { { 0, HUGE }, 6 },                                                    /* a string */
    { { 0, 0, 0, HUGE }, 8 },                                              /* warnings */
    { { 0, 0, 0, 0, HUGE }, 9 },                                           /* notes */
    { { 0, 0, 0, 0, 0, 0, 0, HUGE }, 12 },                                 /* calls */
    { { 0, 0, 0, 0, 0, 0, 0, 0, HUGE }, 13 },                              /* sites */
    { { 0, 0, 0, 0, 0, 0, 0, 0, 0, HUGE }, 14 },                           /* blocks */
    { { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, HUGE }, 15 },                        /* programs */
    { { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, HUGE }, 16 },                     /* ranks */
    { { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, HUGE }, 17 },                  /* segments */
    { { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0 }, 15 },               /* a program */
    { { 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0 }, 15 },               /* a block */
    { { 0, 0, 0, 0, 0, 0, 1, 5, 'w', 'h', 'a', 't', 0, 0, 0, 0, 0 }, 17 }, /* a kind */
  };
#undef HUGE

  for (guint i = 0; i < G_N_ELEMENTS (indices); i++)
    check_index (indices[i].bytes, indices[i].n, indices[i].n, "index is impossible");
  check_index (indices[0].bytes, indices[0].n, G_MAXINT32, "impossible size");
  check_index (indices[0].bytes, indices[0].n, UINT64_MAX, "impossible size");
}

static void
test_write_fails (void)
{
  g_autoptr (Trace) trace = trace_testing_made_up (3, FALSE, sample_op, NULL, NULL);
  g_autoptr (GError) error = NULL;
  FILE *full = fopen ("/dev/full", "wb");

  if (full == NULL) {
    g_test_skip ("there is no /dev/full");
    return;
  }
  setvbuf (full, NULL, _IONBF, 0);
  g_assert_false (trace_writer_hct.write (trace, full, NULL, NULL, &error));
  g_assert_error (error, TRACE_ERROR, TRACE_ERROR_WRITE);
  fclose (full);
}

static const uint32_t three[] = { 3 };
static const int32_t values[] = { 0, 1 };
static const uint64_t bytes[] = { 8, 8 };

/* Operations that would not be read are not written. */
static const struct {
  const char *name;
  TraceOp op;
  gboolean good;
} operations[] = {
  { "after a later one", { .after = three, .n_after = 1 }, FALSE },
  { "back in time", { .gap_ps = -1 }, FALSE },
  { "no such peer", { .peer = -3 }, FALSE },
  { "no such request",
    { .requests = three, .n_requests = 1, .completed = three, .n_completed = 1 },
    FALSE },
  { "too many bytes", { .bytes = UINT64_MAX - 1 }, FALSE },
  { "half a range", { .kind = TRACE_OP_GROUP_RANGE_INCL, .values = values, .n_values = 2 }, FALSE },
  { "to no neighbour",
    { .kind = TRACE_OP_NEIGHBOR_ALLTOALL, .counts = bytes, .n_counts = 2 },
    FALSE },
  { "from no neighbour",
    { .kind = TRACE_OP_NEIGHBOR_ALLGATHER, .recv_counts = bytes, .n_recv_counts = 2 },
    FALSE },
  { "nothing wrong", { .peer = 0 }, TRUE },
};

static gboolean
single_op (gconstpointer data, uint32_t rank, uint64_t index, TraceOp *op)
{
  (void) rank;
  *op = *(const TraceOp *) data;
  op->kind = op->kind != 0 ? op->kind : TRACE_OP_TEST;
  op->name = "x";
  return index < 1;
}

static void
test_wrong_operations (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (operations); i++) {
    g_autoptr (Trace) trace =
        trace_testing_made_up (1, TRUE, single_op, (gpointer) &operations[i].op, NULL);
    g_autoptr (GError) error = NULL;
    FILE *out = tmpfile ();

    g_test_message ("%s", operations[i].name);
    g_assert_cmpint (trace_writer_hct.write (trace, out, NULL, NULL, &error), ==,
                     operations[i].good);
    if (!operations[i].good)
      g_assert_error (error, TRACE_ERROR, TRACE_ERROR_WRITE);
    fclose (out);
  }
}

/* As many neighbours as there are counts, on either side; a reader refuses
 * lists that a replay would read past. */
static void
test_neighbours (void)
{
  /* neighbor_alltoall, the lengths and then the elements of: counts,
   * recv_counts, values and values2, which are twice their length. */
  static const struct {
    guint8 bytes[14];
    gsize n;
    bool good;
  } records[] = {
    { { 0, 0x80, 0x80, 0xf0, 0x01, 1, 8, 1, 8, 2, 0, 2, 0 }, 13, true },
    { { 0, 0x80, 0x80, 0x50, 1, 8, 2, 0 }, 8, true },
    { { 0, 0x80, 0x80, 0xa0, 0x01, 1, 8, 2, 0 }, 9, true },
    { { 0, 0x80, 0x80, 0xf0, 0x01, 2, 8, 0, 1, 8, 2, 0, 2, 0 }, 14, false },
    { { 0, 0x80, 0x80, 0xf0, 0x01, 1, 8, 2, 8, 0, 2, 0, 2, 0 }, 14, false },
    { { 0, 0x80, 0x80, 0xf0, 0x01, 1, 8, 1, 8, 4, 0, 0, 2, 0 }, 14, false },
    { { 0, 0x80, 0x80, 0x70, 1, 8, 1, 8, 2, 0 }, 10, false },
    { { 0, 0x80, 0x80, 0x90, 0x01, 1, 8, 2, 0 }, 9, false },
    /* Of another kind, with values and values2: 1 means none, at distances. */
    { { 1, 0x80, 0x80, 0xc0, 0x01, 4, 0, 0, 4, 0, 0 }, 11, true },
    { { 1, 0x80, 0x80, 0xc0, 0x01, 4, 0, 0, 1 }, 9, false },
    { { 1, 0x80, 0x80, 0xc0, 0x01, 1, 4, 0, 0 }, 9, false },
  };
  HctNames *names = hct_names_new ();
  HctPlace place = { .n_ranks = 1 };
  HctScratch scratch = { 0 };
  HctBuffer out = { 0 };

  /* These enter the calls 0 and 1. */
  hct_record_put (&out, names, &(TraceOp){ .kind = TRACE_OP_NEIGHBOR_ALLTOALL }, &place, 0);
  hct_record_put (&out, names, &(TraceOp){ .kind = TRACE_OP_WIN_POST }, &place, 0);
  hct_buffer_clear (&out);
  for (guint i = 0; i < G_N_ELEMENTS (records); i++) {
    HctReader in = { records[i].bytes, records[i].bytes + records[i].n, false };
    unsigned patches;
    TraceOp op;

    hct_scratch_reset (&scratch, hct_record_scratch_bytes (records[i].n));
    g_test_message ("record %u", i);
    g_assert_cmpint (hct_record_take (&in, names, &op, &patches, &scratch), ==, records[i].good);
  }
  hct_scratch_clear (&scratch);
  hct_names_free (names);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/traces/hct/broken/every-bit", test_every_bit);
  g_test_add_func ("/traces/hct/broken/every-length", test_every_length);
  g_test_add_func ("/traces/hct/broken/header", test_header);
  g_test_add_func ("/traces/hct/broken/something-else", test_something_else);
  g_test_add_func ("/traces/hct/broken/index", test_impossible_index);
  g_test_add_func ("/traces/hct/broken/write", test_write_fails);
  g_test_add_func ("/traces/hct/broken/operations", test_wrong_operations);
  g_test_add_func ("/traces/hct/broken/neighbours", test_neighbours);
  return g_test_run ();
}
