/* goal_test.c - the reader of GOAL schedules, as text and as binary.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/trace_testing.h"

#include <string.h>

/* The stream of rank 0 of a schedule of 4 ranks; the others are empty. */
typedef TraceTestingStream Stream;

static void
stream_open_bytes (Stream *s, const void *bytes, gsize n)
{
  char *folder = trace_testing_folder ();
  g_autofree char *path = trace_testing_write (folder, "t.goal", bytes, n);

  trace_testing_stream_open (s, folder, path, 0, NULL);
}

static char *
schedule_of (const char *statements)
{
  return g_strconcat ("num_ranks 4\n\nrank 0 {\n", statements,
                      "\n}\nrank 1 {\n}\nrank 2 {\n}\nrank 3 {\n}\n", NULL);
}

static void
stream_open (Stream *s, const char *statements)
{
  g_autofree char *text = schedule_of (statements);

  stream_open_bytes (s, text, strlen (text));
}

static void
stream_close (Stream *s)
{
  trace_testing_stream_end (s);
  trace_testing_stream_end (s);
  trace_testing_stream_close (s);
}

static void
test_operations (void)
{
  Stream s;

  stream_open (&s, "l1: send 1024b to 3 tag 7 cpu 2 nic 1\n"
                   "recv 9b from -1 tag -1\n"
                   "l_2b : recv 0b from 1 cpu 255\n"
                   "calc 250 cpu 1\n");
  g_assert_true (trace_is_graph (s.trace));
  g_assert_cmpuint (trace_ranks (s.trace), ==, 4);
  g_assert_cmpstr (trace_format_name (s.trace), ==, "goal");
  EXPECT (&s, "send bytes=1024 peer=3 tag=7 cpu=2 comm=world");
  g_assert_cmpstr (trace_cursor_place (s.cursor), ==, "t.goal:4");
  EXPECT (&s, "recv peer=any matched_source=any tag=any",
          "recv peer=1 matched_source=1 tag=0 bytes=0 cpu=255", "compute gap_ps=250000 cpu=1");
  g_assert_cmpstr (trace_cursor_place (s.cursor), ==, "t.goal:7");
  stream_close (&s);
}

static void
test_dependencies (void)
{
  Stream s;

  stream_open (&s, "a: calc 1\nb: calc 2\nc: calc 3\nd: calc 4\n"
                   "d requires c\nd requires a\nd irequires b\nc irequires a\n");
  EXPECT (&s, "compute gap_ps=1000 n_after=0 n_after_start=0",
          "compute gap_ps=2000 n_after=0 n_after_start=0",
          "compute gap_ps=3000 n_after=0 n_after_start=1 after_start[0]=0",
          "compute gap_ps=4000 n_after=2 after[0]=0 after[1]=2 n_after_start=1 after_start[0]=1");
  stream_close (&s);
}

/* What nothing forbids stays as the file has it: 1 has to wait for 5, and 2
 * for 1; 3 and 4 are free.  Worked by hand. */
static void
test_order (void)
{
  Stream s;

  stream_open (&s, "a: calc 1\nb: calc 2\nc: calc 3\nd: calc 4\ne: calc 5\n"
                   "a requires e\nb irequires a\n");
  EXPECT (&s, "compute gap_ps=3000", "compute gap_ps=4000",
          "compute gap_ps=5000 n_after=0 n_after_start=0",
          "compute gap_ps=1000 n_after=1 after[0]=2 n_after_start=0",
          "compute gap_ps=2000 n_after=0 n_after_start=1 after_start[0]=3");
  stream_close (&s);
}

/* Whatever the dependencies, they are on earlier operations, and on the ones
 * that were named. */
static void
test_random_order (void)
{
  enum { N = 200 };
  g_autoptr (GString) text = g_string_new (NULL);
  uint32_t rank_in_order[N], place[N];
  gboolean waits[N][N] = { 0 };
  uint32_t n_edges = 0, n_found = 0;
  Stream s;

  for (uint32_t i = 0; i < N; i++)
    rank_in_order[i] = (i * 37 + 11) % N; /* a permutation, as 37 and 200 share no divisor */
  for (uint32_t i = 0; i < N; i++)
    g_string_append_printf (text, "n%u: calc %u\n", i, i);
  for (int k = 0; k < 600; k++) {
    uint32_t a = (uint32_t) g_test_rand_int_range (0, N),
             b = (uint32_t) g_test_rand_int_range (0, N);

    if (rank_in_order[a] <= rank_in_order[b] || waits[a][b])
      continue;
    waits[a][b] = TRUE;
    n_edges++;
    g_string_append_printf (text, "n%u %s n%u\n", a, k % 3 ? "requires" : "irequires", b);
  }
  stream_open (&s, text->str);
  for (uint32_t at = 0; at < N; at++) {
    uint32_t node;

    EXPECT (&s, "compute");
    node = (uint32_t) (s.op.gap_ps / 1000);
    place[at] = node;
    for (uint32_t i = 0; i < s.op.n_after + s.op.n_after_start; i++) {
      uint32_t on = i < s.op.n_after ? s.op.after[i] : s.op.after_start[i - s.op.n_after];

      g_assert_cmpuint (on, <, at);
      g_assert_true (waits[node][place[on]]);
      n_found++;
    }
  }
  g_assert_cmpuint (n_found, ==, n_edges);
  stream_close (&s);
}

static void
test_comments_and_space (void)
{
  static const char text[] = "// made by hand\n/* two\nlines ** */ num_ranks/**/2\r\n"
                             "rank 0{l1:calc 5//}\n\n\tl2 :send 3b to 1 /* } */ tag 4 l2 requires "
                             "l1}rank 1 {\n\n recv 3b from 0 tag 4 }\n// end";
  Stream s;

  stream_open_bytes (&s, text, strlen (text));
  EXPECT (&s, "compute gap_ps=5000", "send tag=4 n_after=1 after[0]=0 n_after_start=0");
  stream_close (&s);
}

/* A word of the language is a label where a label stands. */
static void
test_words_as_labels (void)
{
  Stream s;

  stream_open (&s, "send: calc 1\nrequires: calc 2\nrequires requires send\nput: calc 3");
  EXPECT (&s, "compute gap_ps=1000", "compute gap_ps=2000 n_after=1 after[0]=0 n_after_start=0",
          "compute gap_ps=3000");
  stream_close (&s);
}

static void
test_bad_text (void)
{
  static const struct {
    const char *statements;
    TraceError code;
    const char *message;
  } bad[] = {
    { "l1: calc 1\nl2 requires l1", TRACE_ERROR_FORMAT, "t.goal:5: label \"l2\" is not defined" },
    { "l1: calc 1\nl1 irequires l9", TRACE_ERROR_FORMAT, "t.goal:5: label \"l9\" is not defined" },
    { "l1: calc 1\nl1: calc 2", TRACE_ERROR_FORMAT, "t.goal:5: label \"l1\" is already defined" },
    { "a: calc 1\nb: calc 1\na requires b\nb irequires a", TRACE_ERROR_FORMAT,
      "t.goal:4: rank 0: \"a\" (line 4) and \"b\" (line 5) wait for each other" },
    { "a: calc 1\na requires a", TRACE_ERROR_FORMAT, "\"a\" (line 4) waits for itself" },
    { "send 1b to 4", TRACE_ERROR_RANGE, "t.goal:4: rank 4 is impossible: must be 0 to 3" },
    { "send 1b to -1", TRACE_ERROR_RANGE, "rank -1 is impossible" },
    { "send 1b to 1 tag -1", TRACE_ERROR_RANGE, "tag -1 is impossible" },
    { "recv 1b from -2", TRACE_ERROR_RANGE, "rank -2 is impossible" },
    { "send 1 to 1", TRACE_ERROR_FORMAT, "expected \"b\", found \"to\"" },
    { "recv 1b to 1", TRACE_ERROR_FORMAT, "expected \"from\", found \"to\"" },
    { "send 99999999999999999999b to 1", TRACE_ERROR_RANGE, "size 99999999999999999999 is" },
    { "send 4611686018427387905b to 1", TRACE_ERROR_RANGE, "size 4611686018427387905 is" },
    { "calc 9223372036854776", TRACE_ERROR_RANGE, "time in ns 9223372036854776 is impossible" },
    { "calc 1 cpu 256", TRACE_ERROR_RANGE, "cpu 256 is impossible" },
    { "send 1b to 1 tag 2147483648", TRACE_ERROR_RANGE, "tag 2147483648 is impossible" },
    { "put 8b to 1", TRACE_ERROR_FORMAT, "t.goal:4: \"put\" belongs to the .g2 dialect" },
    { "l1: append 8b", TRACE_ERROR_FORMAT, "\"append\" belongs to the .g2 dialect" },
    { "jump 3", TRACE_ERROR_FORMAT,
      "t.goal:4: expected \"send\", \"recv\" or \"calc\", found \"jump\"" },
    { "calc 1 {", TRACE_ERROR_FORMAT, "t.goal:4: expected statements or \"}\", found \"{\"" },
    { "calc 1 /* on", TRACE_ERROR_FORMAT, "t.goal:4: the comment that begins here has no end" },
    { "calc 1.5", TRACE_ERROR_FORMAT, "found \".\"" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_autofree char *text = schedule_of (bad[i].statements);

    trace_testing_bad_file ("t.goal", text, strlen (text), bad[i].code, bad[i].message);
  }
}

/* In picoseconds it just fits in 63 bits. */
static void
test_longest_time (void)
{
  Stream s;

  stream_open (&s, "calc 9223372036854775");
  EXPECT (&s, "compute gap_ps=9223372036854775000");
  stream_close (&s);
}

static void
test_bad_ranks (void)
{
  static const struct {
    const char *text;
    TraceError code;
    const char *message;
  } bad[] = {
    { "num_ranks 2 rank 1 {} rank 0 {}", TRACE_ERROR_RANGE, "rank 1 where rank 0 belongs" },
    { "num_ranks 2 rank 0 {}\nrank 0 {}", TRACE_ERROR_RANGE, "t.goal:2: rank 0 where rank 1" },
    { "num_ranks 2 rank 0 {}\n", TRACE_ERROR_FORMAT, "the text ends before rank 1 of 2" },
    { "num_ranks 2 rank 0 {} rank 2 {}", TRACE_ERROR_RANGE, "rank 2 is impossible" },
    { "num_ranks 1 rank 0 {} rank 1 {}", TRACE_ERROR_FORMAT, "nothing after the last rank" },
    { "num_ranks 1 rank 0 { calc 1", TRACE_ERROR_FORMAT, "but the text ends" },
    { "num_ranks 0", TRACE_ERROR_RANGE, "number of ranks 0 is impossible" },
    { "num_ranks", TRACE_ERROR_FORMAT, "t.goal:1: expected number of ranks, but the text ends" },
    { "num_ranks 99999999999", TRACE_ERROR_RANGE, "number of ranks 99999999999" },
    /* Nothing may be allocated by what is only claimed. */
    { "num_ranks 16777216", TRACE_ERROR_FORMAT, "the text ends before rank 0 of 16777216" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    trace_testing_bad_file ("t.goal", bad[i].text, strlen (bad[i].text), bad[i].code,
                            bad[i].message);
}

static void
test_region_is_refused (void)
{
  static const char text[] = "num_ranks 1 rank 0 {}";
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
  g_autofree char *path = trace_testing_write_text (folder, "t.goal", text);
  TraceOptions options = { .from_region = "main" };
  g_autoptr (GError) error = NULL;

  g_assert_null (trace_open (path, &options, &error));
  g_assert_error (error, TRACE_ERROR, TRACE_ERROR_OPEN);
}

/* -- the binary form ---------------------------------------------------------- */

static void
put (GByteArray *bytes, uint64_t value, guint n)
{
  for (guint i = 0; i < n; i++) {
    guint8 byte = (guint8) (value >> (8 * i));

    g_byte_array_append (bytes, &byte, 1);
  }
}

typedef struct {
  guint waits, kind, peer, tag, cpu, n_after, after, n_start, start;
  uint64_t size;
} BinaryNode;

static void
put_node (GByteArray *bytes, const BinaryNode *node)
{
  put (bytes, node->waits, 4);
  put (bytes, node->kind, 1);
  put (bytes, node->peer, 4);
  put (bytes, node->size, 8);
  put (bytes, node->tag, 4);
  put (bytes, node->cpu, 1);
  put (bytes, 0, 1);
  put (bytes, node->n_after, 4);
  put (bytes, node->after, 4);
  put (bytes, node->n_start, 4);
  put (bytes, node->start, 4);
}

/* Two ranks.  Rank 0: a receive from any that waits for the end of a calc of
 * 7 ns that the file has after it; a send that waits for the begin of the
 * receive.  Rank 1: nothing. */
static GByteArray *
small_binary (void)
{
  static const BinaryNode nodes[] = {
    { .waits = 1, .kind = 2, .peer = UINT32_MAX, .size = 64, .tag = UINT32_MAX, .n_start = 1 },
    { .waits = 1, .kind = 1, .peer = 1, .size = 32, .tag = 5, .cpu = 3, .after = 1, .start = 1 },
    { .kind = 3, .size = 7, .n_after = 1, .after = 1, .start = 2 },
  };
  GByteArray *bytes = g_byte_array_new ();
  guint begin = 6 + 2 * 16, end = begin + 8 + 4 + 3 * 39 + 2 * 4;

  put (bytes, 4223, 8);
  put (bytes, 2, 4);
  put (bytes, 3, 1);
  put (bytes, 0, 1);
  put (bytes, begin, 8);
  put (bytes, end, 8);
  put (bytes, end, 8);
  put (bytes, end + 8, 8);
  put (bytes, 3, 4);
  put (bytes, 1, 4);
  put (bytes, 2, 4); /* the root */
  for (guint i = 0; i < 3; i++)
    put_node (bytes, &nodes[i]);
  put (bytes, 1, 4); /* of the receive */
  put (bytes, 0, 4); /* of the calc */
  put (bytes, 0, 8);
  return bytes;
}

static void
test_binary (void)
{
  g_autoptr (GByteArray) bytes = small_binary ();
  Stream s;

  stream_open_bytes (&s, bytes->data, bytes->len);
  g_assert_cmpuint (trace_ranks (s.trace), ==, 2);
  g_assert_true (trace_is_graph (s.trace));
  EXPECT (&s, "compute gap_ps=7000 n_after=0 n_after_start=0",
          "recv peer=any tag=any bytes=64 n_after=1 after[0]=0 n_after_start=0");
  g_assert_cmpstr (trace_cursor_place (s.cursor), ==, "t.goal:0x3a");
  EXPECT (&s, "send peer=1 tag=5 cpu=3 n_after=0 n_after_start=1 after_start[0]=1");
  stream_close (&s);
}

/* One field of the small file is changed. */
static void
test_bad_binary (void)
{
  enum { RANKS = 8, BEGIN = 14, COUNT = 46, ROOTS = 50, NODE = 58, APPENDIX = NODE + 3 * 39 };
  static const struct {
    guint at, n;
    uint64_t value;
    TraceError code;
    const char *message;
  } bad[] = {
    { RANKS, 4, 0, TRACE_ERROR_RANGE, "0x8: 0 ranks are impossible" },
    { RANKS, 4, 4000000000, TRACE_ERROR_RANGE, "0x8: 4000000000 ranks are impossible" },
    { BEGIN, 8, 0, TRACE_ERROR_RANGE, "0xe: rank 0 is from 0x0 to" },
    { BEGIN, 8, UINT64_MAX, TRACE_ERROR_RANGE, "which is not in the file" },
    { BEGIN + 8, 8, 10000, TRACE_ERROR_RANGE, "which is not in the file" },
    { COUNT, 4, 4, TRACE_ERROR_FORMAT, "0x2e: 4 nodes and 1 roots do not fill" },
    { COUNT, 4, UINT32_MAX, TRACE_ERROR_FORMAT, "do not fill" },
    { ROOTS, 4, UINT32_MAX, TRACE_ERROR_FORMAT, "do not fill" },
    { NODE + 4, 1, 4, TRACE_ERROR_FORMAT, "0x3e: operation of unknown kind 4" },
    { NODE + 5, 4, 2, TRACE_ERROR_RANGE, "rank 2 among 2" },
    { NODE + 9, 8, UINT64_MAX, TRACE_ERROR_RANGE, "bytes are impossible" },
    { NODE + 9, 8, INT64_MAX, TRACE_ERROR_RANGE, "9223372036854775807 bytes are impossible" },
    { NODE + 17, 4, 0x80000000, TRACE_ERROR_RANGE, "tag 2147483648 is impossible" },
    { NODE + 35, 4, 2, TRACE_ERROR_RANGE, "1 indices from number 2 on, in an appendix of 2" },
    { NODE + 39 + 5, 4, UINT32_MAX, TRACE_ERROR_RANGE, "rank 4294967295 among 2" },
    { NODE + 39 + 17, 4, UINT32_MAX, TRACE_ERROR_RANGE, "tag 4294967295 is impossible" },
    { NODE + 78 + 9, 8, INT64_MAX, TRACE_ERROR_RANGE, "ns are more than can be counted" },
    { APPENDIX, 4, 3, TRACE_ERROR_RANGE, "node 3 among 3" },
    { APPENDIX + 4, 4, 2, TRACE_ERROR_FORMAT, "number 2 waits for itself" },
    { APPENDIX, 4, 2, TRACE_ERROR_FORMAT, "wait for each other" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_autoptr (GByteArray) bytes = small_binary ();
    g_autoptr (GByteArray) value = g_byte_array_new ();

    put (value, bad[i].value, bad[i].n);
    memcpy (bytes->data + bad[i].at, value->data, value->len);
    trace_testing_bad_file ("t.bin", bytes->data, bytes->len, bad[i].code, bad[i].message);
  }
}

/* -- both --------------------------------------------------------------------- */

/* However much is missing at the end, the answer is an error. */
static void
check_truncated (const void *bytes, gsize n)
{
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();

  for (gsize length = 0; length < n; length++) {
    g_autofree char *path = trace_testing_write (folder, "t", bytes, length);
    g_autoptr (GError) error = NULL;
    g_autoptr (Trace) trace = trace_open (path, NULL, &error);

    g_assert_null (trace);
    g_assert_true (error->domain == TRACE_ERROR);
  }
}

static void
test_truncated (void)
{
  g_autoptr (GByteArray) binary = small_binary ();
  g_autofree char *text = schedule_of ("l1: send 10b to 1 tag 2\nl2: calc 3\nl2 requires l1");

  check_truncated (binary->data, binary->len);
  check_truncated (text, strlen (text) - 1);
}

/* A changed byte is read, or is an error; sanitizers watch. */
static void
test_changed_bytes (void)
{
  g_autoptr (GByteArray) bytes = small_binary ();
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();

  for (guint at = 8; at < bytes->len; at++)
    for (guint bit = 0; bit < 8; bit++) {
      g_autofree guint8 *changed = g_memdup2 (bytes->data, bytes->len);
      g_autofree char *path = NULL;

      changed[at] ^= (guint8) (1u << bit);
      path = trace_testing_write (folder, "t", changed, bytes->len);
      trace_testing_read (path, NULL, NULL);
    }
}

static void
test_gzip (void)
{
  g_autoptr (GByteArray) binary = small_binary ();
  g_autofree char *text = schedule_of ("calc 3\nsend 1b to 2");
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
  g_autofree char *text_path = trace_testing_write_gzip (folder, "a", text, strlen (text));
  g_autofree char *binary_path = trace_testing_write_gzip (folder, "b", binary->data, binary->len);
  g_autoptr (Trace) a = trace_testing_open (text_path);
  g_autoptr (Trace) b = trace_testing_open (binary_path);

  g_assert_cmpint (trace_testing_totals (a).gap_ps, ==, 3000);
  g_assert_cmpint (trace_testing_totals (b).gap_ps, ==, 7000);
  g_assert_nonnull (trace_hash (a, NULL));
}

/* -- schedules of others ------------------------------------------------------- */

/* A binomial tree of N ranks has N - 1 messages. */
static void
test_loggopsim_examples (void)
{
  static const struct {
    const char *path;
    uint32_t n_ranks;
    uint64_t messages, bytes;
  } known[] = {
    { "goal/loggopsim-examples/binary_tree_32.goal", 32, 31, 31 },
    { "goal/loggopsim-examples/binomialtreebcast_128_1024.goal", 128, 127, 127 * 1024 },
    { "goal/loggopsim-examples/schedule.goal", 4, 8, 8 },
    { "goal/loggopsim-examples/g2/ping_pong_big.g2", 2, 2, 150000 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (known); i++) {
    g_autofree char *path = trace_testing_shared (known[i].path);
    g_autoptr (Trace) trace = NULL;
    TraceTotals totals;

    if (path == NULL)
      continue;
    trace = trace_testing_open (path);
    totals = trace_testing_totals (trace);
    g_assert_cmpuint (trace_ranks (trace), ==, known[i].n_ranks);
    g_assert_cmpuint (totals.sends, ==, known[i].messages);
    g_assert_cmpuint (totals.receives, ==, known[i].messages);
    g_assert_cmpuint (totals.send_bytes, ==, known[i].bytes);
  }
}

static void
test_old_binary_is_refused (void)
{
  g_autofree char *path =
      trace_testing_shared ("goal/loggopsim-examples/binomialtreebcast_128_1024.bin");

  if (path != NULL)
    trace_testing_bad (path, TRACE_ERROR_FORMAT,
                       "0x80e: nodes of 104 bytes: the layout of LogGOPSim2");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/traces/goal/operations", test_operations);
  g_test_add_func ("/traces/goal/dependencies", test_dependencies);
  g_test_add_func ("/traces/goal/order", test_order);
  g_test_add_func ("/traces/goal/random-order", test_random_order);
  g_test_add_func ("/traces/goal/comments-and-space", test_comments_and_space);
  g_test_add_func ("/traces/goal/words-as-labels", test_words_as_labels);
  g_test_add_func ("/traces/goal/bad-text", test_bad_text);
  g_test_add_func ("/traces/goal/longest-time", test_longest_time);
  g_test_add_func ("/traces/goal/bad-ranks", test_bad_ranks);
  g_test_add_func ("/traces/goal/region-is-refused", test_region_is_refused);
  g_test_add_func ("/traces/goal/binary", test_binary);
  g_test_add_func ("/traces/goal/bad-binary", test_bad_binary);
  g_test_add_func ("/traces/goal/truncated", test_truncated);
  g_test_add_func ("/traces/goal/changed-bytes", test_changed_bytes);
  g_test_add_func ("/traces/goal/gzip", test_gzip);
  g_test_add_func ("/traces/goal/loggopsim-examples", test_loggopsim_examples);
  g_test_add_func ("/traces/goal/old-binary-is-refused", test_old_binary_is_refused);
  return g_test_run ();
}
