/* ti_bench.c - bytes and operations per second out of time-independent traces.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * `make bench` runs it without arguments; arguments are traces of this format,
 * plain text in one file.  Everything is in the page cache.  Each row is the
 * median of several runs that open the trace and read all ranks, one after the
 * other, in processor time.
 *
 * The physical argument: each byte must be loaded and compared once.  The
 * figure beside it is of a loop that does only that: it adds up the numbers of
 * the text, without lines, words and checks. */
#include "traces/format.h"
#include "traces/trace_file.h"
#include "traces/trace_testing.h"
#include "traces/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define RUNS 7

static double
cpu_seconds (void)
{
  struct timespec time;

  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &time);
  return (double) time.tv_sec + 1e-9 * (double) time.tv_nsec;
}

static Trace *
open_or_exit (const char *path)
{
  g_autoptr (GError) error = NULL;
  Trace *trace = trace_open (path, NULL, &error);

  if (trace == NULL)
    g_error ("%s", error->message);
  return trace;
}

static uint64_t
read_all (Trace *trace)
{
  g_autoptr (GError) error = NULL;
  uint64_t n_ops = 0;
  TraceOp op;

  for (uint32_t rank = 0; rank < trace_ranks (trace); rank++) {
    g_autoptr (TraceCursor) cursor = trace_cursor_new (trace, rank, &error);

    while (cursor != NULL && trace_cursor_next (cursor, &op, &error) == TRACE_NEXT_OPERATION)
      n_ops++;
    if (error != NULL)
      g_error ("%s", error->message);
  }
  return n_ops;
}

static uint64_t
add_numbers (GBytes *text)
{
  gsize n;
  const char *c = g_bytes_get_data (text, &n), *end = c + n;
  uint64_t sum = 0, number = 0;

  for (; c < end; c++)
    if (*c >= '0' && *c <= '9')
      number = 10 * number + (uint64_t) (*c - '0');
    else {
      sum += number;
      number = 0;
    }
  return sum;
}

static int
compare (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

static double
median (double *values)
{
  qsort (values, RUNS, sizeof *values, compare);
  return values[RUNS / 2];
}

static void
measure (const char *name, const char *path)
{
  g_autoptr (GBytes) text = trace_file_load (path, NULL);
  double bytes = (double) g_bytes_get_size (text), opens[RUNS], reads[RUNS], sums[RUNS];
  double seconds;
  uint64_t n_ops = 0, sum = 0;

  for (int run = 0; run < RUNS; run++) {
    double start_s = cpu_seconds (), opened_s, read_s;
    g_autoptr (Trace) trace = open_or_exit (path);

    opened_s = cpu_seconds ();
    n_ops = read_all (trace);
    read_s = cpu_seconds ();
    sum += add_numbers (text);
    sums[run] = cpu_seconds () - read_s;
    opens[run] = opened_s - start_s;
    reads[run] = read_s - opened_s;
  }
  g_assert_cmpuint (sum, >, 0);
  seconds = median (opens) + median (reads);
  printf ("%-36.36s %6.1f MB %6.0f MB/s (opened at %5.0f, read at %4.0f)  %6.2f M op/s   "
          "numbers added up at %4.0f MB/s\n",
          name, 1e-6 * bytes, 1e-6 * bytes / seconds, 1e-6 * bytes / median (opens),
          1e-6 * bytes / median (reads), 1e-6 * (double) n_ops / seconds,
          1e-6 * bytes / median (sums));
}

/* Frees the text. */
static void
measure_text (const char *name, GString *text)
{
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
  g_autofree char *path = trace_testing_write (folder, "t.ti", text->str, text->len);

  g_string_free (text, TRUE);
  measure (name, path);
}

/* A pattern as this project's writer writes it. */
static void
measure_pattern (const char *spec)
{
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
  g_autofree char *path = g_build_filename (folder, "t.ti", NULL);
  g_autoptr (Trace) trace = open_or_exit (spec);
  g_autoptr (GError) error = NULL;
  FILE *out = fopen (path, "w");

  if (out == NULL || !trace_writer_ti.write (trace, out, NULL, NULL, &error) || fclose (out) != 0)
    g_error ("%s: %s", path, error != NULL ? error->message : "cannot be written");
  measure (spec, path);
}

/* Each request is waited for by its name, as SimGrid's tracer writes it; the lines of each rank
 * together, or those of all ranks in turn. */
static GString *
waits (gboolean in_turn)
{
  enum { RANKS = 64, ITERATIONS = 600, NEIGHBORS = 6 };
  static const uint32_t steps[NEIGHBORS] = { 1, RANKS - 1, 8, RANKS - 8, 9, RANKS - 9 };
  GString *text = g_string_new (NULL);

  for (uint32_t i = 0; i < RANKS * ITERATIONS; i++) {
    uint32_t rank = in_turn ? i % RANKS : i / ITERATIONS;

    for (uint32_t j = 0; j < NEIGHBORS; j++)
      g_string_append_printf (text, "%u irecv %u %u 114688 6\n", rank, (rank + steps[j]) % RANKS,
                              j);
    for (uint32_t j = 0; j < NEIGHBORS; j++)
      g_string_append_printf (text, "%u isend %u %u 114688 6\n", rank, (rank + steps[j]) % RANKS,
                              j ^ 1);
    g_string_append_printf (text, "%u compute %u.1e+05\n", rank, i);
    for (uint32_t j = 0; j < NEIGHBORS; j++)
      g_string_append_printf (text, "%u wait %u %u %u\n", rank, (rank + steps[j]) % RANKS, rank, j);
    for (uint32_t j = 0; j < NEIGHBORS; j++)
      g_string_append_printf (text, "%u wait %u %u %u\n", rank, rank, (rank + steps[j]) % RANKS,
                              j ^ 1);
  }
  return text;
}

static GString *
vectors (void)
{
  enum { RANKS = 64, ITERATIONS = 400 };
  GString *text = g_string_new (NULL);

  for (uint32_t i = 0; i < RANKS * ITERATIONS; i++) {
    g_string_append_printf (text, "%u alltoallv", i / ITERATIONS);
    for (uint32_t j = 0; j < 2 * (RANKS + 1); j++)
      g_string_append_printf (text, " %u", (i * 7919 + j * 104729) % 9973);
    g_string_append (text, " 1 1\n");
  }
  return text;
}

/* Recorded lines of CoMD, several times each rank's. */
static void
measure_recorded (void)
{
  const char *folder = g_getenv ("G_TEST_SRCDIR");
  g_autofree char *path =
      g_build_filename (folder != NULL ? folder : ".", "traces/data/comd-256.ti.gz", NULL);
  g_autoptr (GBytes) bytes = trace_file_load (path, NULL);
  GString *text;
  gsize size;
  const char *data;

  if (bytes == NULL) {
    printf ("%s: not there\n", path);
    return;
  }
  data = g_bytes_get_data (bytes, &size);
  text = g_string_new (NULL);
  for (int i = 0; i < 20; i++)
    g_string_append_len (text, data, (gssize) size);
  measure_text ("comd-256, 20 times", text);
}

int
main (int argc, char **argv)
{
  for (int i = 1; i < argc; i++)
    measure (argv[i], argv[i]);
  if (argc > 1)
    return 0;
  printf ("Time-independent traces: bytes read per second of one processor\n");
  measure_pattern ("gen:halo3d:ranks=512,iterations=50");
  measure_text ("waits by name", waits (FALSE));
  measure_text ("the same, ranks in turn", waits (TRUE));
  measure_text ("alltoallv of 64 ranks", vectors ());
  measure_recorded ();
  return 0;
}
