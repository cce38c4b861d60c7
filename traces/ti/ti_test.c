/* ti_test.c - the reader of time-independent traces, line by line and file by file.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/ti/ti_private.h"
#include "traces/trace_testing.h"

#include <string.h>

typedef TraceTestingStream Stream;

/* Opens rank 0 of a merged file with these lines of rank 0, and one of rank 3, so
 * that there are 4 ranks. */
static void
stream_open (Stream *s, const char *lines)
{
  g_autofree char *text = g_strconcat (lines, "\n3 init\n", NULL);
  char *folder = trace_testing_folder ();
  g_autofree char *path = trace_testing_write_text (folder, "t.txt", text);

  trace_testing_stream_open (s, folder, path, 0, NULL);
}

static void
stream_close (Stream *s)
{
  trace_testing_stream_end (s);
  trace_testing_stream_close (s);
}

static void
test_computation (void)
{
  Stream s;

  stream_open (&s, "0 init\n0 compute 1.5e9\n0 sleep 0.25\n0 location a.c 7\n0 finalize");
  EXPECT (&s, "init", "compute flops=1500000000 gap_ps=0", "compute gap_ps=250000000000 flops=0",
          "finalize");
  stream_close (&s);
}

static void
test_messages (void)
{
  Stream s;

  stream_open (&s,
               "0 init\n0 send 3 7 1e6\n0 recv 2 7 10 0\n0 recv -555 -444 -1\n0  isend  1 5 2  1 \n"
               "0 issend 1 5 2 1\n0 sendRecv 3 1 4 2 1 0");
  EXPECT (&s, "init", "send peer=3 tag=7 bytes=1000000 comm=world",
          "recv bytes=80 matched_source=2", "recv peer=any tag=any bytes=unknown",
          "isend bytes=8 name=MPI_Isend", "isend mode=synchronous",
          "sendrecv bytes=12 peer=1 recv_bytes=32 recv_peer=2");
  stream_close (&s);
}

/* The default datatype has 8 bytes when init has an argument, 1 without; it
 * replaces unknown datatypes. */
static void
test_default_datatype (void)
{
  Stream s;

  stream_open (&s, "0 init\n0 bcast 10\n0 bcast 10 0 1\n0 init 1\n0 bcast 10\n0 bcast 10 0 999");
  EXPECT (&s, "init", "bcast bytes=10", "bcast bytes=40", "init", "bcast bytes=80",
          "bcast bytes=80");
  g_assert_true (trace_testing_warned (s.trace, "datatype 999"));
  stream_close (&s);
}

static void
test_datatype_sizes (void)
{
  static const struct {
    int type;
    uint64_t bytes;
  } known[] = { { 0, 8 },   { 1, 4 },   { 2, 1 },   { 3, 2 },  { 6, 1 },   { 14, 16 },
                { 20, 8 },  { 26, 16 }, { 32, 16 }, { 39, 4 }, { 44, 32 }, { 45, 4 },
                { 49, 16 }, { 50, 32 }, { 54, 32 }, { 55, 0 }, { 57, 1 },  { 59, 8 } };

  for (guint i = 0; i < G_N_ELEMENTS (known); i++) {
    g_autofree char *line = g_strdup_printf ("0 send 1 0 3 %d", known[i].type);
    Stream s;

    stream_open (&s, line);
    EXPECT (&s, "send");
    g_assert_cmpuint (s.op.bytes, ==, 3 * known[i].bytes);
    stream_close (&s);
  }
}

/* The oldest of equal triples is waited for. */
static void
test_waits (void)
{
  Stream s;

  stream_open (&s, "0 irecv 1 9 4\n0 irecv 1 9 4\n0 isend 1 9 4\n0 wait 0 1 9\n0 wait 1 0 9\n"
                   "0 wait 1 0 9\n0 wait 1 0 9");
  EXPECT (&s, "irecv request:first", "irecv request:second",
          "isend request:other first!=second first!=0 first!=1", "wait requests[0]=other",
          "wait requests[0]=first n_completed=1", "wait requests[0]=second", "call");
  g_assert_true (trace_testing_warned (s.trace, "not under way"));
  stream_close (&s);
}

static void
test_wait_for_wildcard (void)
{
  Stream s;

  stream_open (&s, "0 irecv -555 9 4\n0 wait 2 0 9");
  EXPECT (&s, "irecv request:request", "wait requests[0]=request");
  stream_close (&s);
}

/* A waitall completes requests; a test does not. */
static void
test_waitall_and_test (void)
{
  Stream s;

  stream_open (&s, "0 irecv 1 9 4\n0 test 1 0 9\n0 waitall 1\n0 wait 1 0 9");
  EXPECT (&s, "irecv", "test n_requests=1 n_completed=0", "wait_outstanding", "call");
  stream_close (&s);
}

static void
test_many_requests (void)
{
  enum { N = 5000 };
  TiRequests *requests = ti_requests_new ();
  uint32_t request;

  for (int32_t tag = 0; tag < N; tag++)
    ti_requests_start (requests, (TiTriple){ 0, 1, tag });
  for (int32_t tag = 0; tag < N; tag += 2) {
    g_assert_true (ti_requests_find (requests, (TiTriple){ 0, 1, tag }, true, &request));
    g_assert_cmpuint (request, ==, (uint32_t) tag + TRACE_REQUEST_NULL + 1);
    g_assert_false (ti_requests_find (requests, (TiTriple){ 0, 1, tag }, false, &request));
  }
  for (int32_t tag = N - 1; tag > 0; tag -= 2) {
    g_assert_true (ti_requests_take_last (requests, &request));
    g_assert_cmpuint (request, ==, (uint32_t) tag + TRACE_REQUEST_NULL + 1);
  }
  g_assert_false (ti_requests_take_last (requests, &request));
  ti_requests_free (requests);
}

/* As a program waits that posted in one order and waits in the other: more
 * comparisons than a machine makes in a minute, were they all compared. */
static void
test_requests_in_reverse (void)
{
  enum { N = 600000 };
  TiRequests *requests = ti_requests_new ();
  uint32_t request;

  for (int32_t tag = 0; tag < N; tag++)
    ti_requests_start (requests, (TiTriple){ tag % 7, 1, tag });
  for (int32_t tag = N - 2; tag >= 0; tag--) {
    g_assert_true (ti_requests_find (requests, (TiTriple){ tag % 7, 1, tag }, true, &request));
    g_assert_cmpuint (request, ==, (uint32_t) tag + TRACE_REQUEST_NULL + 1);
  }
  ti_requests_free (requests);
}

/* Of several that fit, an exact one goes before wildcards, then the oldest. */
static void
test_wildcards_by_age (void)
{
  static const TiTriple started[] = { { 0, 1, TRACE_ANY_TAG },
                                      { TRACE_ANY_SOURCE, 1, 5 },
                                      { TRACE_ANY_SOURCE, 1, TRACE_ANY_TAG },
                                      { 0, 1, 5 },
                                      { 0, 2, 5 },
                                      { 0, 1, 5 } };
  static const uint32_t order[] = { 3, 5, 0, 1, 2 };
  TiRequests *requests = ti_requests_new ();
  uint32_t request;

  for (guint i = 0; i < G_N_ELEMENTS (started); i++)
    ti_requests_start (requests, started[i]);
  for (guint i = 0; i < G_N_ELEMENTS (order); i++) {
    g_assert_true (ti_requests_find (requests, (TiTriple){ 0, 1, 5 }, true, &request));
    g_assert_cmpuint (request, ==, order[i] + TRACE_REQUEST_NULL + 1);
  }
  g_assert_false (ti_requests_find (requests, (TiTriple){ 0, 1, 5 }, true, &request));
  ti_requests_free (requests);
}

/* What is under way, in the simplest way: in the order of the start, with the number. */
typedef struct {
  TiTriple triple;
  uint32_t request;
} Listed;

static guint
find_in_list (const GArray *list, TiTriple wanted)
{
  guint found = list->len;

  for (guint at = list->len; at-- > 0;) {
    const TiTriple *triple = &g_array_index (list, Listed, at).triple;

    if (triple->source == wanted.source && triple->tag == wanted.tag)
      found = at;
  }
  for (guint at = 0; at < list->len && found == list->len; at++) {
    const TiTriple *triple = &g_array_index (list, Listed, at).triple;

    if ((triple->source == wanted.source || triple->source == TRACE_ANY_SOURCE) &&
        (triple->tag == wanted.tag || triple->tag == TRACE_ANY_TAG))
      found = at;
  }
  return found;
}

static void
expect_taken (GArray *list, guint at, bool found, uint32_t request)
{
  g_assert_cmpint (found, ==, at < list->len);
  if (!found)
    return;
  g_assert_cmpuint (request, ==, g_array_index (list, Listed, at).request);
  g_array_remove_index (list, at);
}

/* Starts and waits in any order, with few under way and with many, as they become more and
 * fewer by turns. */
static void
test_requests_against_a_list (void)
{
  TiRequests *requests = ti_requests_new ();
  g_autoptr (GArray) list = g_array_new (FALSE, FALSE, sizeof (Listed));
  uint32_t n_started = 0, request = 0;

  for (guint step = 0; step < 40000; step++) {
    gint starts = step / 500 % 2 == 0 ? 6 : 3, what = g_test_rand_int_range (0, 10);
    TiTriple triple = { g_test_rand_int_range (-1, 4), 1, g_test_rand_int_range (-1, 9) };

    if (what < starts) {
      Listed listed = { triple, ti_requests_start (requests, triple) };

      g_assert_cmpuint (listed.request, ==, n_started++ + TRACE_REQUEST_NULL + 1);
      g_array_append_val (list, listed);
    } else if (what == starts) {
      bool found = ti_requests_take_last (requests, &request);

      expect_taken (list, list->len > 0 ? list->len - 1 : 0, found, request);
    } else if (what == starts + 1 && step % 100 == 0) {
      ti_requests_forget (requests);
      g_array_set_size (list, 0);
    } else {
      guint at = find_in_list (list, triple);
      bool found = ti_requests_find (requests, triple, true, &request);

      expect_taken (list, at, found, request);
    }
  }
  ti_requests_free (requests);
}

static void
test_rooted_collectives (void)
{
  Stream s;

  stream_open (&s,
               "0 reduce 5 100 2 1\n0 gather 6 6 0 1 1\n0 scatter 6 7\n0 gatherv 3 1 2 3 4 0 1 0\n"
               "0 gatherv 3 1 2 3 4 1\n0 scatterv 1 2 3 4 5 0 1 0\n0 scatterv 1 2 3 4 5 2");
  EXPECT (&s, "reduce bytes=20 root=2", "compute flops=100" /* the reduction's own work */,
          "gather bytes=24", "scatter bytes=6 recv_bytes=7 root=0",
          "gatherv bytes=12 n_recv_counts=4 recv_counts[3]=32", "gatherv" /* not the root */);
  g_assert_null (s.op.recv_counts);
  EXPECT (&s, "scatterv counts[3]=16 recv_bytes=40", "scatterv");
  g_assert_null (s.op.counts);
  stream_close (&s);
}

static void
test_other_collectives (void)
{
  Stream s;

  stream_open (&s, "0 allreduce 5 0 0\n0 scan 2 7\n0 alltoall 3 4 1 0\n0 allgather 2 2\n"
                   "0 reducescatter 1 2 3 4 50 1\n0 alltoallv 10 1 2 3 4 20 5 6 7 8 1 0");
  EXPECT (&s, "allreduce bytes=40", "scan", "compute flops=7", "alltoall bytes=12 recv_bytes=32",
          "allgather", "reduce_scatter recv_counts[2]=12", "compute",
          "alltoallv counts[0]=4 recv_counts[0]=40");
  stream_close (&s);
}

/* scount r0..r3, then types, or displacements, or both. */
static void
test_allgatherv_endings (void)
{
  static const struct {
    const char *line;
    uint64_t bytes;
  } endings[] = { { "0 allgatherv 5 5 6 7 8", 5 },
                  { "0 allgatherv 5 5 6 7 8 1 1", 20 },
                  { "0 allgatherv 5 5 6 7 8 0 5 11 18", 5 },
                  { "0 allgatherv 5 5 6 7 8 1 1 0 5 11 18", 20 } };

  for (guint i = 0; i < G_N_ELEMENTS (endings); i++) {
    Stream s;

    stream_open (&s, endings[i].line);
    EXPECT (&s, "allgatherv");
    g_assert_cmpuint (s.op.bytes, ==, endings[i].bytes);
    g_assert_cmpuint (s.op.recv_counts[3] * 5, ==, endings[i].bytes * 8);
    stream_close (&s);
  }
}

/* What SimGrid's own tracer writes and its replayer refuses, and the names of
 * its old versions. */
static void
test_dialects (void)
{
  Stream s;

  stream_open (&s, "# version: 1.0\n\n0 init\r\n0 Isend 1 4\n0 allReduce 1 0\n0 iallreduce 2 0\n"
                   "0 ibarrier\n0 Start 1 2 3\n0 wait\n0 comm_split\n0 waitAny 3");
  EXPECT (&s, "init", "isend bytes=4 tag=0" /* no tag in those days */, "allreduce", "allreduce",
          "barrier", "unsupported name=MPI_Start", "wait" /* for the last request */, "call",
          "call");
  g_assert_true (trace_testing_warned (s.trace, "iallreduce"));
  g_assert_true (trace_testing_warned (s.trace, "3.19"));
  g_assert_true (trace_testing_warned (s.trace, "MPI_Comm_split"));
  g_assert_true (trace_testing_warned (s.trace, "MPI_Waitany"));
  stream_close (&s);
}

static void
write_text (const char *folder, const char *name, const char *text)
{
  g_free (trace_testing_write_text (folder, name, text));
}

static void
check_operations (Trace *trace, uint32_t rank, uint64_t n)
{
  g_autoptr (TraceCursor) cursor = trace_cursor_new (trace, rank, NULL);
  TraceOp op;

  for (uint64_t i = 0; i < n; i++)
    g_assert_cmpint (trace_cursor_next (cursor, &op, NULL), ==, TRACE_NEXT_OPERATION);
  g_assert_cmpint (trace_cursor_next (cursor, &op, NULL), ==, TRACE_NEXT_END);
}

/* Every form of a number that strtod() reads, with the value that it gives. */
static void
test_numbers (void)
{
  static const char *const numbers[] = { "0",
                                         "007",
                                         "999999999999999",
                                         "9007199254740993",
                                         "99999999999999999999",
                                         "1.",
                                         ".5",
                                         "+3",
                                         "1e3",
                                         "1E+3",
                                         "1.19517e+06",
                                         "4.9e-324",
                                         "0.1234567890123456789",
                                         "0x10",
                                         "0x1p-3" };

  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++) {
    g_autofree char *line = g_strdup_printf ("0 compute \t%s\r", numbers[i]);
    Stream s;

    stream_open (&s, line);
    EXPECT (&s, "compute");
    g_assert_true (s.op.flops == g_ascii_strtod (numbers[i], NULL));
    stream_close (&s);
  }
}

/* Whole numbers are cut; the limits themselves are allowed. */
static void
test_integers (void)
{
  Stream s;

  stream_open (&s, "0 send 1 2147483647 1000000000000 1\n0 send 2.9 -0 3.7 6.5\n"
                   "0 send 1 -2147483647 0000000000000000000005 6\n0 recv -1 1e1 -0.5");
  EXPECT (&s, "send tag=2147483647 bytes=4000000000000", "send peer=2 tag=0 bytes=3",
          "send tag=-2147483647 bytes=5", "recv peer=any tag=10 bytes=0");
  stream_close (&s);
}

/* A mapped file of whole pages: nothing may be read behind its last byte. */
static void
test_last_line_of_a_page (void)
{
  enum { SIZE = 32768 };
  static const char last[] = "\n0 send 0 12 345";
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
  g_autofree char *text = g_strnfill (SIZE, '#'), *path = NULL;
  g_autoptr (Trace) trace = NULL;
  g_autoptr (TraceCursor) cursor = NULL;
  TraceOp op;

  memcpy (text, "0 init\n", 7);
  memcpy (text + SIZE - strlen (last), last, strlen (last));
  path = trace_testing_write (folder, "t.txt", text, SIZE);
  trace = trace_testing_open (path);
  cursor = trace_cursor_new (trace, 0, NULL);
  g_assert_cmpint (trace_cursor_next (cursor, &op, NULL), ==, TRACE_NEXT_OPERATION);
  g_assert_cmpint (trace_cursor_next (cursor, &op, NULL), ==, TRACE_NEXT_OPERATION);
  g_assert_cmpint (op.tag, ==, 12);
  g_assert_cmpuint (op.bytes, ==, 345);
  g_assert_cmpstr (trace_cursor_place (cursor), ==, "t.txt:3");
  g_assert_cmpint (trace_cursor_next (cursor, &op, NULL), ==, TRACE_NEXT_END);
}

/* The rest of a line behind a NUL is not read; the next line is. */
static void
test_nul_in_line (void)
{
  static const char lines[] = "\n0 send 0 1 5\0 6 seven\n0 recv 0 1 5\0";
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
  g_autofree char *comment = g_strnfill (5000, '#'); /* text until here is not taken for binary */
  g_autoptr (GString) text = g_string_new ("0 init\n");
  g_autofree char *path = NULL;
  g_autoptr (Trace) trace = NULL;

  g_string_append (text, comment);
  g_string_append_len (text, lines, sizeof lines - 1);
  path = trace_testing_write (folder, "t.txt", text->str, text->len);
  trace = trace_testing_open (path);
  check_operations (trace, 0, 3);
}

/* Lines of all ranks mixed, with gaps between those of one. */
static void
test_merged_file (void)
{
  static const char text[] = "1 init\n0 init\n# half\n\n0 barrier\n2 init\n1 barrier\n2 barrier\n"
                             "0 finalize\n2 finalize\n1 compute 5\n1 finalize";
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
  g_autofree char *path = trace_testing_write_text (folder, "m", text);
  g_autoptr (Trace) trace = trace_testing_open (path);

  g_assert_cmpuint (trace_ranks (trace), ==, 3);
  check_operations (trace, 0, 3);
  check_operations (trace, 1, 4);
  check_operations (trace, 2, 3);
  g_assert_cmpuint (trace_warnings (trace)->len, ==, 0);
}

/* A rank without lines is there when it was asked for. */
static void
test_rank_hint (void)
{
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
  g_autofree char *path = trace_testing_write (folder, "m", "0 init\n1 init\n", 14);
  g_autoptr (GError) error = NULL;
  g_autoptr (Trace) trace = trace_open (path, &(TraceOptions){ .n_ranks = 4 }, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (trace_ranks (trace), ==, 4);
  check_operations (trace, 3, 0);
  g_assert_null (trace_open (path, &(TraceOptions){ .n_ranks = 1 }, &error));
  g_assert_error (error, TRACE_ERROR, TRACE_ERROR_RANGE);
}

/* Neither the names nor the order in the list, but the lines tell whose a
 * file is; one of them is packed, one does not exist under its folder. */
static void
test_list_of_files (void)
{
  static const char list[] = "# files\nb.txt\n\n  a.txt  \nelsewhere/c.txt\n";
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
  g_autofree char *path = trace_testing_write_text (folder, "list", list);
  g_autofree char *packed = trace_testing_write_gzip (folder, "a.txt.gz", "0 init\n", 7);
  g_autoptr (Trace) trace = NULL;

  write_text (folder, "b.txt", "1 init\n1 barrier\n");
  write_text (folder, "c.txt", "2 init\n2 barrier\n2 barrier");
  trace = trace_testing_open (path);
  g_assert_cmpuint (trace_ranks (trace), ==, 3);
  check_operations (trace, 0, 1);
  check_operations (trace, 1, 2);
  check_operations (trace, 2, 3);
  g_assert_true (trace_testing_warned (trace, "different numbers of collectives"));
  g_assert_true (trace_testing_warned (trace, "no finalize"));
}

static void
test_list_of_one (void)
{
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
  g_autofree char *path = trace_testing_write (folder, "list", "all.txt", 7);
  g_autoptr (Trace) trace = NULL;

  write_text (folder, "all.txt", "0 init\n1 init\n");
  trace = trace_testing_open (path);
  g_assert_cmpuint (trace_ranks (trace), ==, 2);
}

typedef struct {
  const char *name, *line;
  TraceError code;
  const char *part; /* of the message */
} Bad;

/* Each stands on line 2 of a trace of 2 ranks. */
static const Bad bad_lines[] = {
  { "no-rank", "send 1 0 5", TRACE_ERROR_FORMAT, "t.txt:2: expected a line that starts" },
  { "no-action", "0", TRACE_ERROR_FORMAT, "action is missing" },
  { "action", "0 transmit 1", TRACE_ERROR_FORMAT, "t.txt:2: \"0 transmit 1\": unknown action" },
  { "i-action", "0 ifinalize", TRACE_ERROR_FORMAT, "unknown action" },
  { "huge-rank", "99999999999 init", TRACE_ERROR_FORMAT, "starts with a rank" },
  { "few", "0 send 1", TRACE_ERROR_FORMAT, "the tag is missing" },
  { "no-arguments", "0 send", TRACE_ERROR_FORMAT, "the destination is missing" },
  { "many", "0 send 1 0 5 6 7", TRACE_ERROR_FORMAT, "too many arguments, from \"7\" on" },
  { "peer", "0 send 2 0 5", TRACE_ERROR_RANGE, "destination 2 is not one of 2 ranks" },
  { "negative-peer", "0 isend -1 0 5", TRACE_ERROR_RANGE, "destination -1" },
  { "any-peer", "0 send -555 0 5", TRACE_ERROR_RANGE, "destination -555" },
  { "source", "0 recv 7 0 5", TRACE_ERROR_RANGE, "source 7" },
  { "negative-count", "0 send 1 0 -5", TRACE_ERROR_RANGE, "count -5 is negative" },
  { "huge-count", "0 send 1 0 1e300", TRACE_ERROR_RANGE, "count 1e+300 is impossible" },
  { "more-than-memory", "0 send 1 0 1e13", TRACE_ERROR_RANGE, "count 1e+13 is impossible" },
  { "word-count", "0 send 1 0 five", TRACE_ERROR_FORMAT, "found \"five\"" },
  { "half-number", "0 send 1 0 5x", TRACE_ERROR_FORMAT, "found \"5x\"" },
  { "nan", "0 compute nan", TRACE_ERROR_FORMAT, "found \"nan\"" },
  { "infinity", "0 compute inf", TRACE_ERROR_FORMAT, "found \"inf\"" },
  { "negative-work", "0 compute -1", TRACE_ERROR_RANGE, "-1 is negative" },
  { "time", "0 sleep 1e99", TRACE_ERROR_RANGE, "time 1e+99 s" },
  { "no-work", "0 allreduce 4", TRACE_ERROR_FORMAT, "amount of work is missing" },
  { "root", "0 bcast 4 2", TRACE_ERROR_RANGE, "root 2" },
  { "null-root", "0 bcast 4 -666", TRACE_ERROR_RANGE, "nobody is the root" },
  { "tag", "0 send 1 1e10 5 0", TRACE_ERROR_RANGE, "tag 1e+10" },
  { "few-counts", "0 alltoallv 9 1 2 9 1", TRACE_ERROR_FORMAT, "count received is missing" },
  { "negative-counts", "0 gatherv 1 1 -2", TRACE_ERROR_RANGE, "count received -2" },
  { "half-wait", "0 wait 1 0", TRACE_ERROR_FORMAT, "the tag is missing" },
  { "control", "0 \001", TRACE_ERROR_FORMAT, "unknown action" },
  { "delete", "0 comm\177size", TRACE_ERROR_FORMAT, "unknown action" },
  { "beginning", "0 sen 1 0 5", TRACE_ERROR_FORMAT, "unknown action" },
  { "long-action", "0 sendd 1 0 5", TRACE_ERROR_FORMAT, "unknown action" },
  { "control-in-number", "0 send 1 0 5\0016", TRACE_ERROR_FORMAT, "found \"5\0016\"" },
  { "long-count", "0 send 1 0 1000000000001", TRACE_ERROR_RANGE, "count 1e+12 is impossible" },
  { "long-tag", "0 send 1 2147483648 5", TRACE_ERROR_RANGE, "tag 2.14748e+09 is impossible" },
};

static void
test_bad_line (gconstpointer data)
{
  const Bad *bad = data;
  g_autofree char *text = g_strdup_printf ("0 init\n%s\n1 init\n", bad->line);

  trace_testing_bad_file ("t.txt", text, strlen (text), bad->code, bad->part);
}

static void
check_bad_list (const char *list, const char *a, const char *b, TraceError code, const char *part)
{
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
  g_autofree char *path = trace_testing_write_text (folder, "list.txt", list);

  write_text (folder, "a.txt", a);
  write_text (folder, "b.txt", b);
  trace_testing_bad (path, code, part);
}

static void
test_bad_lists (void)
{
  check_bad_list ("a.txt\nc.txt\n", "0 init", "1 init", TRACE_ERROR_OPEN,
                  "list.txt:2: no such file: \"c.txt\"");
  check_bad_list ("missing.txt\n", "0 init", "1 init", TRACE_ERROR_OPEN, "missing.txt");
  check_bad_list ("a.txt\nb.txt\n", "0 init", "0 init", TRACE_ERROR_RANGE,
                  "both have the lines of rank 0");
  check_bad_list ("a.txt\nb.txt\n", "0 init", "2 init", TRACE_ERROR_RANGE, "lists 2 files");
  check_bad_list ("a.txt\nb.txt\n", "0 init\n1 barrier", "1 init", TRACE_ERROR_FORMAT,
                  "a.txt:2: the file has lines of more than one rank");
  check_bad_list ("a.txt\nb.txt\n", "0 init", "init", TRACE_ERROR_FORMAT, "start with a rank");
  check_bad_list ("a.txt\n", "# nothing\n", "", TRACE_ERROR_FORMAT, "no action");
}

/* Random damage to a text that is right: an error or not, but an end. */
static void
test_damaged_text (void)
{
  static const char good[] =
      "0 init\n1 init\n0 isend 1 3 100 6\n1 irecv 0 3 100 6\n0 wait 0 1 3\n1 waitall 1\n"
      "0 alltoallv 3 1 2 3 1 2\n1 alltoallv 3 1 2 3 1 2\n0 sendRecv 1 1 1 1\n0 finalize\n";
  static const char letters[] = "0123456789 \n.-e#ax\t\377";
  g_autoptr (GRand) random = g_rand_new_with_seed (1); /* the same damage every time */
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();

  for (guint i = 0; i < 2000; i++) {
    g_autofree char *text = g_strdup (good);
    g_autofree char *path = NULL;
    g_autoptr (GError) error = NULL;
    g_autoptr (Trace) trace = NULL;

    for (gint n = g_rand_int_range (random, 1, 5); n > 0; n--)
      text[g_rand_int_range (random, 0, (gint) strlen (good))] =
          letters[g_rand_int_range (random, 0, (gint) strlen (letters))];
    path = trace_testing_write_text (folder, "t.txt", text);
    trace = trace_open (path, NULL, &error);
    for (uint32_t rank = 0; trace != NULL && rank < MIN (trace_ranks (trace), 20); rank++) {
      g_autoptr (TraceCursor) cursor = trace_cursor_new (trace, rank, NULL);
      TraceOp op;

      while (trace_cursor_next (cursor, &op, NULL) == TRACE_NEXT_OPERATION)
        ;
    }
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/traces/ti/lines/computation", test_computation);
  g_test_add_func ("/traces/ti/lines/messages", test_messages);
  g_test_add_func ("/traces/ti/lines/default-datatype", test_default_datatype);
  g_test_add_func ("/traces/ti/lines/datatypes", test_datatype_sizes);
  g_test_add_func ("/traces/ti/lines/waits", test_waits);
  g_test_add_func ("/traces/ti/lines/wait-wildcard", test_wait_for_wildcard);
  g_test_add_func ("/traces/ti/lines/waitall-test", test_waitall_and_test);
  g_test_add_func ("/traces/ti/lines/many-requests", test_many_requests);
  g_test_add_func ("/traces/ti/lines/requests-in-reverse", test_requests_in_reverse);
  g_test_add_func ("/traces/ti/lines/wildcards-by-age", test_wildcards_by_age);
  g_test_add_func ("/traces/ti/lines/requests-against-a-list", test_requests_against_a_list);
  g_test_add_func ("/traces/ti/lines/rooted", test_rooted_collectives);
  g_test_add_func ("/traces/ti/lines/collectives", test_other_collectives);
  g_test_add_func ("/traces/ti/lines/allgatherv", test_allgatherv_endings);
  g_test_add_func ("/traces/ti/lines/dialects", test_dialects);
  g_test_add_func ("/traces/ti/lines/numbers", test_numbers);
  g_test_add_func ("/traces/ti/lines/integers", test_integers);
  g_test_add_func ("/traces/ti/lines/last-of-a-page", test_last_line_of_a_page);
  g_test_add_func ("/traces/ti/lines/nul", test_nul_in_line);
  g_test_add_func ("/traces/ti/files/merged", test_merged_file);
  g_test_add_func ("/traces/ti/files/hint", test_rank_hint);
  g_test_add_func ("/traces/ti/files/list", test_list_of_files);
  g_test_add_func ("/traces/ti/files/list-of-one", test_list_of_one);
  g_test_add_func ("/traces/ti/bad/lists", test_bad_lists);
  g_test_add_func ("/traces/ti/fuzz/text", test_damaged_text);
  for (guint i = 0; i < G_N_ELEMENTS (bad_lines); i++) {
    g_autofree char *path = g_strconcat ("/traces/ti/bad/", bad_lines[i].name, NULL);

    g_test_add_data_func (path, &bad_lines[i], test_bad_line);
  }
  return g_test_run ();
}
