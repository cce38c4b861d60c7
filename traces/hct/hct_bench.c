/* hct_bench.c - operations per second out of the native format.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * `make bench` runs it without arguments; arguments are traces of any format,
 * which are read as they are and then as .hct.  Everything is in the page
 * cache.  Each row is the median of several runs over all ranks, one after
 * the other, in processor time.
 *
 * The unit: a byte that is read is a byte of the records and measures
 * of operations as the format writes them (doc/handbook/format-hct.md), each
 * operation counted for itself, before anything is shared, folded or packed:
 * the bytes of a format without loops.  It is not sizeof (TraceOp),
 * which is an order of magnitude more.
 *
 * The physical argument: an operation in a loop is one copy of TraceOp from
 * the first-level cache (six lines) and its patches, some 20 ns; one that is
 * not is taken apart from its bytes each time, and its block is inflated
 * first, at the speed of zlib. */
#include "traces/trace_file.h"
#include "traces/format.h"
#include "traces/hct/hct_file.h"
#include "traces/hct/hct_testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define RUNS 5

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

static int
compare (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

/* Operations per second; `open_s` is the time to open. */
static double
measure (const char *path, Trace *made_up, uint64_t *n_ops, double *open_s)
{
  double rates[RUNS], opens[RUNS];

  for (int run = 0; run < RUNS; run++) {
    double start_s = cpu_seconds (), opened_s;
    g_autoptr (Trace) opened = made_up == NULL ? open_or_exit (path) : NULL;

    opened_s = cpu_seconds ();
    *n_ops = read_all (made_up == NULL ? opened : made_up);
    rates[run] = (double) *n_ops / (cpu_seconds () - opened_s);
    opens[run] = opened_s - start_s;
  }
  qsort (rates, RUNS, sizeof *rates, compare);
  qsort (opens, RUNS, sizeof *opens, compare);
  *open_s = opens[RUNS / 2];
  return rates[RUNS / 2];
}

static double
record_bytes (const char *path)
{
  g_autoptr (GBytes) contents = trace_file_load (path, NULL);
  g_autoptr (HctIndex) index = hct_index_read (path, contents, NULL);

  return (double) index->record_bytes;
}

/* A trace as it is (unless it is made up), then as .hct. */
static void
compare_formats (const char *name, Trace *trace, gboolean is_file)
{
  char *folder = trace_testing_folder ();
  double start_s = cpu_seconds (), write_s, rate, open_s, bytes;
  g_autofree char *path = hct_testing_convert (trace, folder);
  g_autoptr (GBytes) contents = trace_file_load (path, NULL);
  uint64_t n_ops;

  write_s = cpu_seconds () - start_s;
  if (is_file) {
    rate = measure (trace_path (trace), NULL, &n_ops, &open_s);
    printf ("%-28.28s %6s %9.2f M op/s %25s open %8.3f ms\n", name, trace_format_name (trace),
            1e-6 * rate, "", 1e3 * open_s);
  }
  rate = measure (path, NULL, &n_ops, &open_s);
  bytes = record_bytes (path) / (double) n_ops;
  printf ("%-28.28s %6s %9.2f M op/s x %5.1f bytes = %5.2f GB/s  open %8.3f ms  "
          "%.2f M op in %" G_GSIZE_FORMAT " bytes, written at %.1f M op/s\n",
          name, "hct", 1e-6 * rate, bytes, 1e-9 * rate * bytes, 1e3 * open_s, 1e-6 * (double) n_ops,
          g_bytes_get_size (contents), 1e-6 * (double) n_ops / write_s);
  trace_testing_remove (folder);
}

/* splitmix64: the same stream on every machine. */
static uint64_t
scattered (uint64_t i)
{
  uint64_t z = (i + 1) * UINT64_C (0x9e3779b97f4a7c15);

  z = (z ^ (z >> 30)) * UINT64_C (0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C (0x94d049bb133111eb);
  return z ^ (z >> 31);
}

/* Nothing is ever the same: peers, tags, sizes and times are random. */
static gboolean
random_op (gconstpointer data, uint32_t rank, uint64_t index, TraceOp *op)
{
  uint64_t seed = scattered (index * 16 + rank);

  op->kind = TRACE_OP_SEND;
  op->name = "MPI_Send";
  op->comm = TRACE_COMM_WORLD;
  op->peer = (int32_t) (seed % 16);
  op->tag = (int32_t) (seed >> 8 & 0xffff);
  op->bytes = seed >> 40;
  op->call_ps = 1000 * (int64_t) (scattered (seed) & 0xfffff);
  op->root = TRACE_NO_ROOT;
  op->matched_source = TRACE_ANY_SOURCE;
  return index < GPOINTER_TO_SIZE (data);
}

/* A file of the project. */
static void
compare_file (const char *name)
{
  const char *folder = g_getenv ("G_TEST_SRCDIR");
  g_autofree char *path = g_build_filename (folder != NULL ? folder : ".", name, NULL);
  g_autofree char *base = g_path_get_basename (name);
  g_autoptr (Trace) trace = NULL;

  if (!g_file_test (path, G_FILE_TEST_EXISTS)) {
    printf ("%s: not there\n", name);
    return;
  }
  trace = open_or_exit (path);
  compare_formats (base, trace, TRUE);
}

int
main (int argc, char **argv)
{
  static const char *const specs[] = { "gen:halo2d:ranks=4096,iterations=100",
                                       "gen:halo3d:ranks=4096,iterations=100" };
  /* Gzip DUMPI, gzip TI, and OTF2. */
  static const char *const files[] = {
    "traces/data/npb-is-A-16.meta",
    "traces/data/comd-256.ti.gz",
    "validation/data/traces/otf2/sstmacro-10rank/traces.otf2",
    "validation/data/traces/dumpi/gen-lammps-lj-16/dumpi-2026.11.20.11.54.52.meta",
  };
  g_autoptr (Trace) random =
      trace_testing_made_up (16, FALSE, random_op, GSIZE_TO_POINTER (100000), NULL);

  if (argc > 1) {
    for (int i = 1; i < argc; i++) {
      g_autoptr (Trace) trace = open_or_exit (argv[i]);

      compare_formats (argv[i], trace, TRUE);
    }
    return 0;
  }
  printf ("Traces: operations read per second of one processor\n");
  for (guint i = 0; i < G_N_ELEMENTS (specs); i++) {
    g_autoptr (Trace) trace = open_or_exit (specs[i]);

    compare_formats (specs[i], trace, TRUE);
  }
  compare_formats ("random, no repetition", random, FALSE);
  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    compare_file (files[i]);
  return 0;
}
