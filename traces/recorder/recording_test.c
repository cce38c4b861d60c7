/* recording_test.c - the reader of recordings, on files put together by hand
 * from the description in recording.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * recorder_test.sh compares recordings with the calls of programs. */
#include "traces/trace_testing.h"

#include <string.h>
#include <zlib.h>

/* --- Putting files together --- */

static void
add_bytes (GByteArray *to, const char *bytes, gsize n)
{
  g_byte_array_append (to, (const guint8 *) bytes, (guint) n);
}

#define ADD(to, literal) add_bytes (to, literal, sizeof (literal) - 1)

static void
add_word (GByteArray *to, guint32 word)
{
  word = GUINT32_TO_LE (word);
  g_byte_array_append (to, (const guint8 *) &word, sizeof word);
}

/* The sum is over the first three numbers, the payload and the sources. */
static void
add_block (GByteArray *to, const char *payload, gsize n, const char *sources, gsize n_sources,
           guint32 n_operations)
{
  guint start = to->len;
  uLong crc;

  add_word (to, (guint32) n);
  add_word (to, (guint32) n_sources);
  add_word (to, n_operations);
  crc = crc32 (0, to->data + start, 12);
  crc = crc32 (crc, (const Bytef *) payload, (uInt) n);
  crc = crc32 (crc, (const Bytef *) sources, (uInt) n_sources);
  add_word (to, (guint32) crc);
  ADD (to, "hblk");
  add_bytes (to, payload, n);
  add_bytes (to, sources, n_sources);
}

#define ADD_BLOCK(to, payload, sources, n_operations) \
  add_block (to, payload, sizeof (payload) - 1, sources, sizeof (sources) - 1, n_operations)

static GByteArray *
begin_file (const char *header)
{
  GByteArray *file = g_byte_array_new ();

  ADD (file, "hopcast\x01");
  add_block (file, header, strlen (header), "", 0, 0);
  return file;
}

static char *
write_file (const char *folder, const char *name, GByteArray *file)
{
  char *path = trace_testing_write (folder, name, file->data, file->len);

  g_byte_array_unref (file);
  return path;
}

#define HEADER "version=1\nrank=0\nranks=1\ncounters=none: not permitted\n"

/* Strings 1 and 2, then MPI_Init with 1500 ns in it: kind 1; fields time,
 * name and site, mask 0x0e. */
#define INIT                        \
  "\xff\x08MPI_Init\xff\x07prog+12" \
  "\x01\x0e\xdc\x0b\x01\x02"
/* 300 ns of computing, then kind 7, irecv: gap, name, peer, tag, bytes,
 * request and the wildcard bit, mask 0x100000f5; anyone is -1, that is 1 in
 * zigzag; tag 5 is 10. */
#define IRECV         \
  "\xff\x09MPI_Irecv" \
  "\x07\xf5\x81\x80\x80\x01\xac\x02\x03\x01\x0a\x40\x02"
/* Kind 15, wait: name and requests, mask 0x100004. */
#define WAIT         \
  "\xff\x08MPI_Wait" \
  "\x0f\x84\x80\xc0\x00\x04\x01\x02"
#define FINALIZE         \
  "\xff\x0cMPI_Finalize" \
  "\x02\x04\x05"

/* The source of receive 0, 3 (6 in zigzag), stands in a later block. */
static GByteArray *
good_file (void)
{
  GByteArray *file = begin_file (HEADER);

  ADD_BLOCK (file, INIT IRECV, "", 2);
  ADD_BLOCK (file, WAIT FINALIZE, "\x00\x06", 2);
  return file;
}

/* --- Sound recordings --- */

static void
test_operations (void)
{
  char *folder = trace_testing_folder ();
  g_autofree char *path = write_file (folder, "rank-0.rec", good_file ());
  TraceTestingStream s;

  trace_testing_stream_open (&s, folder, folder, 0, NULL);
  g_assert_cmpstr (trace_format_name (s.trace), ==, "recording");
  g_assert_cmpuint (trace_warnings (s.trace)->len, ==, 0);
  g_assert_cmpuint (trace_notes (s.trace)->len, ==, 1);
  g_assert_cmpstr (trace_notes (s.trace)->pdata[0], ==, "no hardware counters: not permitted");
  EXPECT (&s, "init name=MPI_Init site=prog+12 call_ps=1500000",
          "compute name=compute gap_ps=300000",
          "irecv comm=world peer=any tag=5 bytes=64 request=2 matched_source=3",
          "wait requests[0]=2 n_requests=1", "finalize");
  trace_testing_stream_end (&s);
  trace_testing_stream_end (&s);
  trace_testing_stream_close (&s);
}

/* Calls always have a name, places never an empty one. */
static void
test_no_names (void)
{
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
  GByteArray *file = begin_file (HEADER);
  g_autofree char *path = NULL;
  g_autoptr (Trace) trace = NULL;
  g_autoptr (TraceCursor) cursor = NULL;
  TraceOp op;

  ADD_BLOCK (file, "\xff\x00\x12\x0c\x01\x01\x12\x00", "", 2);
  path = write_file (folder, "rank-0.rec", file);
  trace = trace_testing_open (folder);
  cursor = trace_cursor_new (trace, 0, NULL);
  for (guint i = 0; i < 2; i++) {
    g_assert_cmpint (trace_cursor_next (cursor, &op, NULL), ==, TRACE_NEXT_OPERATION);
    g_assert_cmpstr (op.name, ==, "barrier");
    g_assert_null (op.site);
  }
}

/* Any file of the folder names the recording, also a compressed one. */
static void
test_compressed (void)
{
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
  g_autoptr (GByteArray) file = good_file ();
  g_autofree char *path = trace_testing_write_gzip (folder, "rank-0.rec.gz", file->data, file->len);
  g_autoptr (Trace) trace = trace_testing_open (path);
  g_autoptr (Trace) same = trace_testing_open (folder);

  g_assert_cmpuint (trace_testing_totals (trace).receives, ==, 1);
  g_assert_cmpuint (trace_testing_totals (same).receives, ==, 1);
}

/* --- Broken recordings --- */

/* However much of the file there is, it reads to a clean end, or one error:
 * cut in the header or before it is one. */
static void
test_every_length (void)
{
  g_autoptr (GByteArray) file = good_file ();
  guint header = 8 + 20 + strlen (HEADER), n_cut = 0;

  for (guint n = 0; n < file->len; n++) {
    g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
    g_autofree char *path = trace_testing_write (folder, "rank-0.rec", file->data, n);
    g_autoptr (GError) error = NULL;
    g_autoptr (Trace) trace = trace_open (folder, NULL, &error);

    g_assert_true ((trace != NULL) == (n >= header));
    if (trace == NULL) {
      g_assert_error (error, TRACE_ERROR, TRACE_ERROR_FORMAT);
    } else {
      trace_testing_totals (trace);
      g_assert_true (trace_testing_warned (trace, "no MPI_Finalize"));
      n_cut++;
    }
  }
  g_assert_cmpuint (n_cut, ==, file->len - header);
}

/* A sum of 32 bits finds any single byte that is wrong; in the head of a block
 * it may look as if the file ended early. */
static void
test_every_byte (void)
{
  g_autoptr (GByteArray) file = good_file ();

  for (guint i = 0; i < file->len; i++) {
    g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
    g_autofree char *path = NULL;
    g_autoptr (GError) error = NULL;
    Trace *trace;

    file->data[i] ^= 0x41;
    path = trace_testing_write (folder, "rank-0.rec", file->data, file->len);
    file->data[i] ^= 0x41;
    trace = trace_open (folder, NULL, &error);
    if (trace != NULL) {
      g_autoptr (TraceCursor) cursor = trace_cursor_new (trace, 0, &error);
      TraceNext next = TRACE_NEXT_OPERATION;
      TraceOp op;

      g_assert_nonnull (cursor);
      while (next == TRACE_NEXT_OPERATION)
        next = trace_cursor_next (cursor, &op, &error);
      g_assert_true (next == TRACE_NEXT_ERROR || trace_testing_warned (trace, "no MPI_Finalize"));
    }
    g_assert_true (trace != NULL || error != NULL);
    g_clear_pointer (&trace, trace_free);
  }
}

/* A sound block with unsound content. */
static void
check_payload (const char *payload, gsize n, guint32 n_operations, const char *message)
{
  g_autoptr (GByteArray) file = begin_file (HEADER);

  add_block (file, payload, n, "", 0, n_operations);
  trace_testing_bad_file ("rank-0.rec", file->data, file->len, TRACE_ERROR_FORMAT, message);
}

#define CHECK_PAYLOAD(payload, n_operations, message) \
  check_payload (payload, sizeof (payload) - 1, n_operations, message)

static void
test_payloads (void)
{
  /* A kind that does not exist, a field that does not. */
  CHECK_PAYLOAD ("\xc8\x00", 1, "not an operation");
  CHECK_PAYLOAD ("\x00\x80\x80\x80\x80\x02", 1, "not an operation");
  /* String 1 of none; a string longer than the block; number without end. */
  CHECK_PAYLOAD ("\x00\x04\x01", 1, "not an operation");
  CHECK_PAYLOAD ("\xff\x7fMPI", 0, "not a string");
  CHECK_PAYLOAD ("\x00\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 1, "not an operation");
  /* A wait for 2^31 requests. */
  CHECK_PAYLOAD ("\x0f\x80\x80\xc0\x00\x80\x80\x80\x80\x08", 1, "not an operation");
  /* A test that completed the second of one request; freeing none. */
  CHECK_PAYLOAD ("\x11\x80\x80\xc0\x01\x01\x02\x01\x01", 1, "not an operation");
  CHECK_PAYLOAD ("\x0e\x00", 1, "not an operation");
  /* A message to -3, one of 2^63 bytes, from -3; gathered, 2^63 bytes. */
  CHECK_PAYLOAD ("\x03\x10\x05", 1, "not an operation");
  CHECK_PAYLOAD ("\x03\x40\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 1, "not an operation");
  CHECK_PAYLOAD ("\x06\x80\x40\x05", 1, "not an operation");
  CHECK_PAYLOAD ("\x15\x80\x80\x80\x04\x01\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 1,
                 "not an operation");
  /* More and fewer operations than the head says. */
  CHECK_PAYLOAD ("\x00\x00\x00\x00", 1, "more operations");
  CHECK_PAYLOAD ("\x00\x00", 2, "operations are missing");
}

static void
check_header (const char *header, TraceError code, const char *message)
{
  g_autoptr (GByteArray) file = begin_file (header);

  trace_testing_bad_file ("rank-0.rec", file->data, file->len, code, message);
}

static void
test_headers (void)
{
  check_header ("version=2\nrank=0\nranks=1\n", TRACE_ERROR_FORMAT, "another version");
  check_header ("rank=0\nranks=1\n", TRACE_ERROR_FORMAT, "version=nothing");
  check_header ("version=1\nrank=0\nranks=many\n", TRACE_ERROR_FORMAT, "ranks=many");
  check_header ("version=1\nrank=0\nranks=0\n", TRACE_ERROR_RANGE, "0 ranks");
  check_header ("version=1\nrank=0\nranks=3\n", TRACE_ERROR_OPEN, "rank 1 is missing");
  check_header ("version=1\nrank=0\nranks=4000000000\n", TRACE_ERROR_FORMAT, "ranks=4000000000");
}

/* The file of rank 1 says that it is of rank 0. */
static void
test_mixed (void)
{
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
  const char *header = "version=1\nrank=0\nranks=2\n";
  g_autofree char *first = write_file (folder, "rank-0.rec", begin_file (header));
  g_autofree char *second = write_file (folder, "rank-1.rec", begin_file (header));

  trace_testing_bad (folder, TRACE_ERROR_RANGE, "belongs to rank 0 of 2, not 1 of 2");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/recording/operations", test_operations);
  g_test_add_func ("/recording/no-names", test_no_names);
  g_test_add_func ("/recording/compressed", test_compressed);
  g_test_add_func ("/recording/broken/every-length", test_every_length);
  g_test_add_func ("/recording/broken/every-byte", test_every_byte);
  g_test_add_func ("/recording/broken/payloads", test_payloads);
  g_test_add_func ("/recording/broken/headers", test_headers);
  g_test_add_func ("/recording/broken/mixed", test_mixed);
  return g_test_run ();
}
