/* aggregate_counters_test.c - rows of tables from the counters of a trace.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "traces/format.h"
#include "traces/writer.h"

#include <glib/gstdio.h>
#include <string.h>

#define N_RANKS     2u
#define N_STRETCHES 3u

/* A trace of two ranks that only compute; rank 1 may not have been counted. */
static uint64_t counted[N_RANKS][N_STRETCHES][2]; /* instructions, cycles */

typedef struct {
  uint32_t rank, next;
} Cursor;

static gpointer
format_open (Trace *trace, const char *path, const TraceOptions *options, uint32_t *n_ranks,
             GPtrArray *files, GError **error)
{
  (void) path, (void) options, (void) files, (void) error;
  trace_set_spec (trace, "counted");
  *n_ranks = N_RANKS;
  return counted;
}

static void
format_close (gpointer state)
{
  (void) state;
}

static gpointer
format_cursor_new (gpointer state, uint32_t rank, GError **error)
{
  Cursor *cursor = g_new0 (Cursor, 1);

  (void) state, (void) error;
  cursor->rank = rank;
  return cursor;
}

static TraceNext
format_cursor_next (gpointer data, TraceOp *op, GError **error)
{
  Cursor *cursor = data;

  (void) error;
  if (cursor->next == N_STRETCHES)
    return TRACE_NEXT_END;
  *op = (TraceOp){ .kind = TRACE_OP_COMPUTE,
                   .gap_ps = 1000,
                   .instructions = counted[cursor->rank][cursor->next][0],
                   .cycles = counted[cursor->rank][cursor->next][1] };
  cursor->next++;
  return TRACE_NEXT_OPERATION;
}

static const char *
format_cursor_place (gpointer cursor)
{
  (void) cursor;
  return "counted";
}

static const TraceFormat format = { .name = "counted",
                                    .open = format_open,
                                    .close = format_close,
                                    .cursor_new = format_cursor_new,
                                    .cursor_free = g_free,
                                    .cursor_next = format_cursor_next,
                                    .cursor_place = format_cursor_place };

/* Writes it as .hct; g_unlink() and g_free(). */
static char *
write_trace (void)
{
  g_autoptr (GError) error = NULL;
  const TraceOptions options = { 0 };
  g_autoptr (Trace) trace = trace_open_as (&format, "counted", &options, &error);
  char *path;
  int descriptor = g_file_open_tmp ("hopcast-counted-XXXXXX.hct", &path, NULL);
  FILE *out = fdopen (descriptor, "wb");

  g_assert_no_error (error);
  g_assert_true (trace_writer_hct.write (trace, out, NULL, NULL, &error));
  g_assert_no_error (error);
  fclose (out);
  return path;
}

/* The row that `aggregate counters` writes of a file; NULL and *error when it fails.  The caller
 * frees it. */
static char *
row_of (const char *path, GError **error)
{
  g_autofree char *output = g_strconcat (path, ".csv", NULL);
  const char *words[] = {
    "counters", "--program=lu", "--pattern=4", "-q", "-o", output, path, NULL
  };
  char *row = NULL;

  if (cli_aggregate_counters (G_N_ELEMENTS (words) - 1, (char **) words, error) == CLI_DONE) {
    g_assert_true (g_file_get_contents (output, &row, NULL, NULL));
    g_unlink (output);
  }
  return row;
}

/* The mean of 120 / 100 and 3 / 6. */
static void
test_ranks_are_tasks (void)
{
  static const uint64_t numbers[N_RANKS][N_STRETCHES][2] = { { { 100, 50 }, { 0, 0 }, { 20, 50 } },
                                                             { { 1, 2 }, { 1, 2 }, { 1, 2 } } };
  g_autofree char *path = NULL, *row = NULL;

  memcpy (counted, numbers, sizeof counted);
  path = write_trace ();
  row = row_of (path, NULL);
  g_assert_cmpstr (row, ==, "program,pattern,ipc\nlu,4,0.85\n");
  g_unlink (path);
}

static void
test_a_rank_without_counters (void)
{
  g_autofree char *path = NULL;
  g_autoptr (GError) error = NULL;

  memset (counted[1], 0, sizeof counted[1]);
  counted[0][0][0] = counted[0][0][1] = 1;
  path = write_trace ();
  g_assert_null (row_of (path, &error));
  g_assert_error (error, CLI_ERROR, CLI_ERROR_FILE);
  g_assert_true (g_str_has_suffix (error->message, ": rank 1 has no counters"));
  g_unlink (path);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli/aggregate/counters/ranks-are-tasks", test_ranks_are_tasks);
  g_test_add_func ("/cli/aggregate/counters/a-rank-without-counters", test_a_rank_without_counters);
  return g_test_run ();
}
