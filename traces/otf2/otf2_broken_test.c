/* otf2_broken_test.c - OTF2 archives with parts missing, many at once, and odd streams.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/otf2/otf2_private.h"
#include "traces/otf2/otf2_testing.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const Otf2Record few[] = { SEND (0, 0, 1, 1, 1), SEND (0, 0, 1, 1, 1) };

/* The archive of a folder, and one of its files cut to n bytes. */
static void
check_cut (const char *file, gsize n, TraceError code, const char *part)
{
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
  g_autofree char *path = otf2_testing_write (folder, &(Otf2Testing){ SCOREP, 9, RANK (0, few) });
  g_autofree char *cut = g_build_filename (folder, file, NULL);
  g_autofree char *contents = NULL, *again = NULL;
  gsize length;

  g_assert_true (g_file_get_contents (cut, &contents, &length, NULL));
  g_assert_cmpuint (length, >, n);
  again = trace_testing_write (folder, file, contents, n);
  trace_testing_bad (path, code, part);
}

static char *
name_of (uint32_t rank, const char *ending)
{
  return g_strdup_printf ("t/%" G_GUINT64_FORMAT "%s", otf2_testing_location (rank), ending);
}

static void
test_cut_files (void)
{
  g_autofree char *events = name_of (0, ".evt");
  g_autofree char *definitions = name_of (0, ".def");

  check_cut ("t.otf2", 0, TRACE_ERROR_FORMAT, "it is empty");
  check_cut ("t.otf2", 5, TRACE_ERROR_FORMAT, "not the anchor");
  check_cut ("t.otf2", 30, TRACE_ERROR_FORMAT, "t.otf2: is cut short");
  check_cut ("t.def", 0, TRACE_ERROR_FORMAT, "t.def: is cut short");
  check_cut ("t.def", 100, TRACE_ERROR_FORMAT, "t.def: is cut short");
  check_cut (events, 0, TRACE_ERROR_FORMAT, "rank 0");
  check_cut (events, 40, TRACE_ERROR_FORMAT, events);
  check_cut (definitions, 20, TRACE_ERROR_FORMAT, definitions);
}

static void
test_missing_files (void)
{
  const char *const files[] = { "t.def", name_of (2, ".evt") };

  for (guint i = 0; i < G_N_ELEMENTS (files); i++) {
    g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
    g_autofree char *path = otf2_testing_write (folder, &(Otf2Testing){ SCOREP, 9, RANK (0, few) });
    g_autofree char *gone = g_build_filename (folder, files[i], NULL);

    g_assert_cmpint (g_remove (gone), ==, 0);
    if (i == 0)
      trace_testing_bad (path, TRACE_ERROR_OPEN, "t.def: No such file");
    else
      trace_testing_bad (path, TRACE_ERROR_OPEN, "the events of rank 2:");
  }
  g_free ((char *) files[1]);
}

static void
test_other_parts (void)
{
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
  g_autofree char *path = otf2_testing_write (folder, &(Otf2Testing){ SCOREP, 9, RANK (0, few) });
  g_autofree char *definitions = g_build_filename (folder, "t.def", NULL);

  trace_testing_bad (definitions, TRACE_ERROR_FORMAT, "open its anchor");
}

static void
test_no_mpi (void)
{
  otf2_testing_bad (&(Otf2Testing){ SCOREP, 9, TRUE, RANK (0, few) }, TRACE_ERROR_LOST,
                    "none of its 4 locations");
  otf2_testing_bad (&(Otf2Testing){ SCOREP, 0, RANK (0, few) }, TRACE_ERROR_FORMAT, "clock");
}

/* Regions that cross, are left twice or never: nothing is lost, calls end
 * with what is around them. */
static void
test_crossing_regions (void)
{
  static const Otf2Record records[] = {
    LEAVE (0, AT_SOLVE), ENTER (1, AT_MAIN),    ENTER (2, AT_SEND),  SEND (3, 0, 1, 1, 1),
    ENTER (4, AT_SOLVE), LEAVE (9, AT_MAIN),    LEAVE (10, AT_SEND), ENTER (11, AT_RECV),
    ENTER (12, AT_RECV), RECV (13, 0, 1, 1, 1), LEAVE (14, AT_RECV), RECV (15, 0, 1, 1, 2),
  };
  TraceTestingStream s;

  otf2_testing_open (&s, &(Otf2Testing){ SCOREP, 1000000000000, RANK (0, records) }, 0);
  EXPECT (&s, "send call_ps=7", "compute gap_ps=2", "recv", "recv bytes=2");
  otf2_testing_close (&s);
}

/* Each rank's cursor is open, and only so many files are. */
static void
test_many_ranks (void)
{
  enum { RANKS = 100, DESCRIPTORS = 40 };
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
  g_autofree char *path =
      otf2_testing_write (folder, &(Otf2Testing){ SCOREP, 9, .n_ranks = RANKS, RANK (0, few) });
  g_autoptr (Trace) trace = trace_testing_open (path);
  TraceCursor *cursors[RANKS];
  struct rlimit before, low;

  g_assert_cmpint (getrlimit (RLIMIT_NOFILE, &before), ==, 0);
  low = (struct rlimit){ DESCRIPTORS, before.rlim_max };
  g_assert_cmpint (setrlimit (RLIMIT_NOFILE, &low), ==, 0);
  for (uint32_t rank = 0; rank < RANKS; rank++) {
    g_autoptr (GError) error = NULL;
    TraceOp op;

    cursors[rank] = trace_cursor_new (trace, rank, &error);
    g_assert_no_error (error);
    g_assert_cmpint (trace_cursor_next (cursors[rank], &op, &error), ==,
                     rank == 0 ? TRACE_NEXT_OPERATION : TRACE_NEXT_END);
    g_assert_no_error (error);
  }
  for (uint32_t rank = 0; rank < RANKS; rank++)
    trace_cursor_free (cursors[rank]);
  g_assert_cmpint (setrlimit (RLIMIT_NOFILE, &before), ==, 0);
}

/* Two long streams whose files are closed under them all the time, as a file
 * may be the only one that is open, are still read once each. */
static void
test_taking_turns (void)
{
  enum { N = 5000 };
  g_autofree Otf2Record *records = g_new0 (Otf2Record, N);
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
  g_autofree char *path = NULL;
  Otf2Input *inputs[2];
  g_autoptr (GArray) read = g_array_new (FALSE, FALSE, sizeof (Otf2Record));
  struct rlimit before, low;

  for (guint i = 0; i < N; i++)
    records[i] = (Otf2Record) SEND (i, 0, 1, 1, i);
  path = otf2_testing_write (
      folder, &(Otf2Testing){ SCOREP, 9, .records = { records, records }, .n_records = { N, N } });
  g_assert_cmpint (getrlimit (RLIMIT_NOFILE, &before), ==, 0);
  low = (struct rlimit){ 16, before.rlim_max };
  for (uint32_t i = 0; i < 2; i++)
    inputs[i] = otf2_archive_input (path, otf2_testing_location (i));
  for (gboolean ended = FALSE; !ended;) {
    guint had = read->len;

    g_assert_cmpint (setrlimit (RLIMIT_NOFILE, &low), ==, 0);
    for (uint32_t i = 0; i < 2; i++)
      g_assert_true (inputs[i]->pull (inputs[i], read, &ended, NULL));
    g_assert_cmpint (setrlimit (RLIMIT_NOFILE, &before), ==, 0);
    g_assert_cmpuint ((read->len - had) % 2, ==, 0);
    for (guint i = 0; i < (read->len - had) / 2; i++)
      g_assert_cmpuint (g_array_index (read, Otf2Record, had + i).bytes, ==, had / 2 + i);
  }
  g_assert_cmpuint (read->len, ==, 2 * N);
  for (uint32_t i = 0; i < 2; i++)
    inputs[i]->free (inputs[i]);
}

/* A receive that stays open during 40,000 others is found without keeping
 * those, and the others are as well. */
static void
test_long_receive (void)
{
  enum { N = 40000 };
  GArray *records = g_array_new (FALSE, FALSE, sizeof (Otf2Record));
  const Otf2Record first = POST (0, 1), last = GOT (N, 0, 3, 9, 99, 1);
  TraceTestingStream s;

  g_array_append_val (records, first);
  for (uint32_t i = 0; i < N; i++) {
    const Otf2Record post = POST (i, 2), got = GOT (i, 0, 2, 8, i, 2);

    g_array_append_val (records, post);
    g_array_append_val (records, got);
  }
  g_array_append_val (records, last);
  otf2_testing_open (&s,
                     &(Otf2Testing){ SCOREP, 1,
                                     .records = { (Otf2Record *) (void *) records->data },
                                     .n_records = { records->len } },
                     0);
  EXPECT (&s, "irecv bytes=99");
  for (uint32_t i = 0; i < N; i++) {
    if (i > 0)
      EXPECT (&s, "compute");
    EXPECT (&s, "irecv");
    g_assert_cmpuint (s.op.bytes, ==, i);
    EXPECT (&s, "wait");
  }
  EXPECT (&s, "compute", "wait");
  otf2_testing_close (&s);
  g_array_unref (records);
}

/* Two steps of a ring in both directions, of which EZTrace kept no receive:
 * each step's receives get that step's sends, and the same request variable
 * means that a wait was there. */
static void
test_guess_in_steps (void)
{
  enum { LEFT = 100, RIGHT = 108, OUT = 116 };
#define STEP(t, left, right, n)                                                                   \
  ENTER (t, AT_IRECV), POST (t, LEFT), POST (t, RIGHT), LEAVE (t, AT_IRECV), ENTER (t, AT_ISEND), \
      ISEND (t, 0, left, 1, n, OUT), LEAVE (t, AT_ISEND), ENTER (t, AT_SEND),                     \
      SEND (t, 0, right, 2, n), LEAVE (t, AT_SEND), ENTER (t, AT_WAITALL), LEAVE (t, AT_WAITALL)
  static const Otf2Record r0[] = { STEP (0, 3, 1, 10), STEP (1, 3, 1, 20) };
  static const Otf2Record r1[] = { STEP (7, 0, 2, 10), STEP (9, 0, 2, 20) };
  static const Otf2Record r2[] = { STEP (0, 1, 3, 10), STEP (1, 1, 3, 20) };
  static const Otf2Record r3[] = { STEP (3, 2, 0, 10), STEP (5, 2, 0, 20) };
#undef STEP
  Otf2Testing testing = { NULL,         1000000000000, RANK (0, r0),
                          RANK (1, r1), RANK (2, r2),  RANK (3, r3) };
  TraceTestingStream s;

  otf2_testing_bad (&testing, TRACE_ERROR_LOST, "16 of 16 nonblocking receives");
  testing.options.allow_lossy = TRUE;
  otf2_testing_open (&s, &testing, 0);
  EXPECT (&s, "irecv peer=1 tag=1 bytes=10", "irecv peer=3 tag=2 bytes=10", "isend", "send",
          "wait_outstanding", "compute", "irecv peer=1 tag=1 bytes=20",
          "irecv peer=3 tag=2 bytes=20", "isend", "send", "wait_outstanding");
  otf2_testing_close (&s);
}

/* Ranks 0 1 / 2 3, each with the one below first, twice, then the one beside
 * it: what is lost is found in that order, not in that of ranks. */
static void
test_guess_in_order (void)
{
#define SWAP(t, other)         POST (t, 1), SEND (t, 0, other, 4, t), ENTER (t, AT_WAIT), LEAVE (t, AT_WAIT)
#define STEP(t, below, beside) SWAP (t, below), SWAP (t + 1, below), SWAP (t + 2, beside)
  static const Otf2Record r0[] = { STEP (1, 2, 1), STEP (4, 2, 1) };
  static const Otf2Record r1[] = { STEP (1, 3, 0), STEP (4, 3, 0) };
  static const Otf2Record r2[] = { STEP (1, 0, 3), STEP (4, 0, 3) };
  static const Otf2Record r3[] = { STEP (1, 1, 2), STEP (4, 1, 2) };
#undef STEP
#undef SWAP
  TraceTestingStream s;

  otf2_testing_open (&s,
                     &(Otf2Testing){ NULL, 1000000000000, RANK (0, r0), RANK (1, r1), RANK (2, r2),
                                     RANK (3, r3), .options.allow_lossy = TRUE },
                     0);
  EXPECT (&s, "irecv peer=2 bytes=1", "send", "wait", "compute", "irecv peer=2 bytes=2", "send",
          "wait", "compute", "irecv peer=1 bytes=3", "send", "wait", "compute",
          "irecv peer=2 bytes=4", "send", "wait", "compute", "irecv peer=2 bytes=5", "send", "wait",
          "compute", "irecv peer=1 bytes=6", "send", "wait");
  otf2_testing_close (&s);
}

/* No completion and no MPI_Waitall: a request that is used again was waited for,
 * and a wait is for the oldest request. */
static void
test_guess_waits (void)
{
  static const Otf2Record r0[] = {
    POST (0, 1),           POST (0, 2),        POST (0, 1),        ENTER (0, AT_WAIT),
    LEAVE (0, AT_WAIT),    ENTER (0, AT_WAIT), LEAVE (0, AT_WAIT), ENTER (0, AT_WAITANY),
    LEAVE (0, AT_WAITANY), POST (0, 3),
  };
  static const Otf2Record r1[] = { SEND (0, 0, 0, 5, 1), SEND (0, 0, 0, 5, 2),
                                   SEND (0, 0, 0, 5, 3) };
  TraceTestingStream s;

  otf2_testing_open (
      &s, &(Otf2Testing){ NULL, 9, RANK (0, r0), RANK (1, r1), .options.allow_lossy = TRUE }, 0);
  EXPECT (&s, "irecv request:first", "irecv request:second", "wait requests[0]=first",
          "irecv request:first", "wait requests[0]=second", "wait requests[0]=first",
          "call" /* nothing is left; nor is a send for the last */);
  g_assert_true (trace_testing_warned (s.trace, "1 were left out"));
  otf2_testing_close (&s);
}

/* Reads what can be read; the child process does not come back. */
static G_GNUC_NORETURN void
read_and_exit (const char *path)
{
  g_autoptr (Trace) trace = NULL;

  alarm (20);
  trace = trace_open (path, NULL, NULL);
  for (uint32_t rank = 0; trace != NULL && rank < MIN (trace_ranks (trace), 4); rank++) {
    TraceCursor *cursor = trace_cursor_new (trace, rank, NULL);
    TraceOp op;

    while (trace_cursor_next (cursor, &op, NULL) == TRACE_NEXT_OPERATION)
      continue;
    trace_cursor_free (cursor);
  }
  _exit (0);
}

/* A few bytes of the file are others; the last ones, without which it is not
 * read at all, stay. */
static void
mutate (const char *path)
{
  g_autofree char *contents = NULL;
  FILE *file;
  gsize n;

  g_assert_true (g_file_get_contents (path, &contents, &n, NULL));
  for (gint i = g_test_rand_int_range (1, 4); i > 0; i--)
    contents[g_test_rand_int_range (0, (gint32) n - 4)] = (char) g_test_rand_int_range (0, 256);
  file = g_fopen (path, "wb");
  g_assert_cmpuint (fwrite (contents, 1, n, file), ==, n);
  fclose (file);
}

/* Parsing is libotf2's, which ends in a signal for some: what is made of
 * what it lets through must not, and nothing takes long. */
static void
test_mutations (void)
{
  enum { TIMES = 150 };
  static const Otf2Record records[] = {
    ENTER (0, AT_IRECV), POST (0, 1),
    LEAVE (1, AT_IRECV), SEND (2, ON_EVEN, 0, 1, 1),
    ENTER (3, AT_WAIT),  GOT (4, 0, 1, 1, 1, 1),
    LEAVE (5, AT_WAIT),  COLLECTIVE (6, 11, ON_WORLD, UINT32_MAX, 400, 400),
  };
  guint n_signals = 0;

  for (guint i = 0; i < TIMES; i++) {
    g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
    g_autofree char *path =
        otf2_testing_write (folder, &(Otf2Testing){ SCOREP, 9, RANK (0, records) });
    g_autofree char *name = i % 3 == 0   ? g_strdup ("t.otf2")
                            : i % 3 == 1 ? g_strdup ("t.def")
                                         : name_of (0, ".evt");
    g_autofree char *file = g_build_filename (folder, name, NULL);
    int status;
    pid_t child;

    mutate (file);
    child = fork ();
    if (child == 0)
      read_and_exit (path);
    g_assert_cmpint (waitpid (child, &status, 0), ==, child);
    if (WIFSIGNALED (status))
      g_test_message ("%s: signal %d", name, WTERMSIG (status));
    g_assert_false (WIFSIGNALED (status) && WTERMSIG (status) == SIGALRM);
    n_signals += WIFSIGNALED (status) || WEXITSTATUS (status) != 0;
  }
  g_test_message ("%u signals", n_signals);
  g_assert_cmpuint (n_signals, ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/traces/otf2-broken/cut-files", test_cut_files);
  g_test_add_func ("/traces/otf2-broken/missing-files", test_missing_files);
  g_test_add_func ("/traces/otf2-broken/other-parts", test_other_parts);
  g_test_add_func ("/traces/otf2-broken/no-mpi", test_no_mpi);
  g_test_add_func ("/traces/otf2-broken/crossing-regions", test_crossing_regions);
  g_test_add_func ("/traces/otf2-broken/many-ranks", test_many_ranks);
  g_test_add_func ("/traces/otf2-broken/taking-turns", test_taking_turns);
  g_test_add_func ("/traces/otf2-broken/long-receive", test_long_receive);
  g_test_add_func ("/traces/otf2-broken/guess-in-steps", test_guess_in_steps);
  g_test_add_func ("/traces/otf2-broken/guess-in-order", test_guess_in_order);
  g_test_add_func ("/traces/otf2-broken/guess-waits", test_guess_waits);
  g_test_add_func ("/traces/otf2-broken/mutations", test_mutations);
  return g_test_run ();
}
