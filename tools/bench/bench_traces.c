/* bench_traces.c - operations per second: out of traces, and through the replay.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Everything is in the page cache.  A sample opens the trace and reads all ranks, one after the
 * other.
 *
 * The physical argument of time-independent traces: each byte must be loaded and compared once.
 * The yardstick is a loop that does only that: it adds up the numbers of the text, without lines,
 * words and checks.
 *
 * That of .hct: an operation in a loop is one copy of TraceOp from the first-level cache (six lines)
 * and its patches.  An operation that is not in a loop is taken apart from its bytes each time, and its block is inflated first, at the speed of zlib.
 *
 * That of the replay: an operation is a TraceOp, the line of its rank, its message and its match,
 * which come from memory when there are many ranks. */
#include "base/random.h"
#include "sim/run.h"
#include "tools/bench/bench.h"
#include "traces/hct/hct_testing.h"
#include "traces/trace_file.h"
#include "traces/trace_testing.h"
#include "traces/writer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef GString *(*MakeText) (void);

typedef struct {
  const char *name;
  const char *bound;
  const char *source; /* a spec, or the path of a file of the project; NULL: made up */
  MakeText text;      /* of a TI trace; NULL: of the source */
  guint repeated;     /* so often, for recorded traces that are too short for the clock */
} TraceCase;

typedef struct {
  const char *name, *machine, *trace;
  uint32_t ranks_per_node;
} ReplayCase;

typedef struct {
  TraceTestingFolder *folder;
  char *path;
  GBytes *text; /* TI */
} TraceFile;

static Trace *
open_trace (const char *path)
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

/* A file of the project; NULL and *error when it is not there. */
static char *
source_path (const char *name, GError **error)
{
  const char *folder = g_getenv ("G_TEST_SRCDIR");
  char *path = g_build_filename (folder != NULL ? folder : ".", name, NULL);

  if (g_file_test (path, G_FILE_TEST_EXISTS))
    return path;
  g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_NOENT, "%s is not there", name);
  g_free (path);
  return NULL;
}

static void
trace_file_close (gpointer state)
{
  TraceFile *file = state;

  trace_testing_remove (file->folder);
  g_clear_pointer (&file->text, g_bytes_unref);
  g_free (file->path);
  g_free (file);
}

/* --- Time-independent traces --- */

/* Each request is waited for by its name, as SimGrid's tracer writes it; the lines of each rank
 * together, or those of all ranks in turn. */
static GString *
waits (bool in_turn)
{
  enum { RANKS = 64, ITERATIONS = 600, PEERS = 6 };
  static const uint32_t steps[PEERS] = { 1, RANKS - 1, 8, RANKS - 8, 9, RANKS - 9 };
  GString *text = g_string_new (NULL);

  for (uint32_t i = 0; i < RANKS * ITERATIONS; i++) {
    uint32_t rank = in_turn ? i % RANKS : i / ITERATIONS;

    for (uint32_t j = 0; j < PEERS; j++)
      g_string_append_printf (text, "%u irecv %u %u 114688 6\n", rank, (rank + steps[j]) % RANKS,
                              j);
    for (uint32_t j = 0; j < PEERS; j++)
      g_string_append_printf (text, "%u isend %u %u 114688 6\n", rank, (rank + steps[j]) % RANKS,
                              j ^ 1);
    g_string_append_printf (text, "%u compute %u.1e+05\n", rank, i);
    for (uint32_t j = 0; j < PEERS; j++)
      g_string_append_printf (text, "%u wait %u %u %u\n", rank, (rank + steps[j]) % RANKS, rank, j);
    for (uint32_t j = 0; j < PEERS; j++)
      g_string_append_printf (text, "%u wait %u %u %u\n", rank, rank, (rank + steps[j]) % RANKS,
                              j ^ 1);
  }
  return text;
}

static GString *
waits_by_rank (void)
{
  return waits (false);
}

static GString *
waits_in_turn (void)
{
  return waits (true);
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

static GString *
recorded (const TraceCase *it, GError **error)
{
  g_autofree char *path = source_path (it->source, error);
  g_autoptr (GBytes) bytes = path != NULL ? trace_file_load (path, error) : NULL;
  GString *text;
  gsize size;
  const char *data;

  if (bytes == NULL)
    return NULL;
  data = g_bytes_get_data (bytes, &size);
  text = g_string_new (NULL);
  for (guint i = 0; i < it->repeated; i++)
    g_string_append_len (text, data, (gssize) size);
  return text;
}

/* A pattern as this project's writer writes it. */
static gboolean
write_pattern (const char *spec, const char *path, GError **error)
{
  g_autoptr (Trace) trace = trace_open (spec, NULL, error);
  FILE *out = trace != NULL ? fopen (path, "w") : NULL;
  gboolean written = out != NULL && trace_writer_ti.write (trace, out, NULL, NULL, error);

  return out != NULL && fclose (out) == 0 && written;
}

static gpointer
ti_open (BenchRow *row, GError **error)
{
  const TraceCase *it = row->details;
  TraceFile *file = g_new0 (TraceFile, 1);
  GString *text = NULL;
  gboolean done;

  file->folder = trace_testing_folder ();
  file->path = g_build_filename (file->folder, "t.ti", NULL);
  if (it->text == NULL && it->repeated == 0)
    done = write_pattern (it->source, file->path, error);
  else {
    text = it->text != NULL ? it->text () : recorded (it, error);
    done = text != NULL && g_file_set_contents (file->path, text->str, (gssize) text->len, error);
    if (text != NULL)
      g_string_free (text, TRUE);
  }
  if (done)
    file->text = trace_file_load (file->path, error);
  if (file->text != NULL)
    return file;
  trace_file_close (file);
  return NULL;
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

static void
ti_sample (gpointer state, BenchSample *sample)
{
  TraceFile *file = state;
  double megabytes = 1e-6 * (double) g_bytes_get_size (file->text);
  double start_s = bench_seconds (), read_s;
  g_autoptr (Trace) trace = open_trace (file->path);
  uint64_t n_ops = read_all (trace), sum;

  read_s = bench_seconds ();
  sample->peak_bytes = bench_peak_bytes ();
  sum = add_numbers (file->text);
  sample->beside = megabytes / (bench_seconds () - read_s);
  sample->value = megabytes / (read_s - start_s);
  g_assert_cmpuint (n_ops, >, 0);
  g_assert_cmpuint (sum, >, 0);
}

/* --- The native format --- */

/* Nothing is ever the same: peers, tags, sizes and times are random. */
static gboolean
random_op (gconstpointer data, uint32_t rank, uint64_t index, TraceOp *op)
{
  uint64_t seed = base_random_mix (index * 16 + rank);

  op->kind = TRACE_OP_SEND;
  op->name = "MPI_Send";
  op->comm = TRACE_COMM_WORLD;
  op->peer = (int32_t) (seed % 16);
  op->tag = (int32_t) (seed >> 8 & 0xffff);
  op->bytes = seed >> 40;
  op->call_ps = 1000 * (int64_t) (base_random_mix (seed) & 0xfffff);
  op->root = TRACE_NO_ROOT;
  op->matched_source = TRACE_ANY_SOURCE;
  return index < GPOINTER_TO_SIZE (data);
}

static gpointer
hct_open (BenchRow *row, GError **error)
{
  const TraceCase *it = row->details;
  g_autofree char *path = NULL;
  g_autoptr (Trace) trace = NULL;
  TraceFile *file;

  if (it->source == NULL)
    trace = trace_testing_made_up (16, FALSE, random_op, GSIZE_TO_POINTER (100000), NULL);
  else {
    path = g_str_has_prefix (it->source, "gen:") ? g_strdup (it->source)
                                                 : source_path (it->source, error);
    if (path == NULL || !(trace = trace_open (path, NULL, error)))
      return NULL;
  }
  file = g_new0 (TraceFile, 1);
  file->folder = trace_testing_folder ();
  file->path = hct_testing_convert (trace, file->folder);
  return file;
}

static void
hct_sample (gpointer state, BenchSample *sample)
{
  const TraceFile *file = state;
  g_autoptr (Trace) trace = NULL;
  double start_s = bench_seconds ();
  uint64_t n_ops;

  trace = open_trace (file->path);
  n_ops = read_all (trace);
  sample->value = 1e-6 * (double) n_ops / (bench_seconds () - start_s);
  sample->peak_bytes = bench_peak_bytes ();
  sample->beside = NAN;
}

/* --- The replay --- */

typedef struct {
  TopoMachine *machine;
  TopoMapping *mapping;
  Trace *trace;
  uint64_t n_ops;
} Program;

static void
program_close (gpointer state)
{
  Program *program = state;

  g_clear_pointer (&program->trace, trace_free);
  topo_mapping_free (program->mapping);
  topo_machine_free (program->machine);
  g_free (program);
}

static gpointer
program_open (BenchRow *row, GError **error)
{
  const ReplayCase *it = row->details;
  g_autofree char *spec = bench_spec (row, it->machine), *trace = NULL;
  Program *program = g_new0 (Program, 1);

  if (!(program->machine = topo_machine_new (spec, error)))
    goto failed;
  program->machine->ranks_per_node = it->ranks_per_node;
  row->n_nodes = topo_shape_nodes (&program->machine->shape);
  row->n_ranks = row->n_nodes * it->ranks_per_node;
  trace = g_strdup_printf ("%s,ranks=%u", it->trace, row->n_ranks);
  if (!(program->mapping = topo_mapping_new (NULL, program->machine, row->n_ranks, error)) ||
      !(program->trace = trace_open (trace, NULL, error)))
    goto failed;
  program->n_ops = read_all (program->trace);
  return program;

failed:
  program_close (program);
  return NULL;
}

static void
program_sample (gpointer state, BenchSample *sample)
{
  const Program *program = state;
  SimRunOptions options = { .trace_path = "bench", .compute_scale = 1, .key = "bench" };
  g_autoptr (GError) error = NULL;
  double start_s = bench_seconds ();
  g_autoptr (SimRun) run =
      sim_run (program->trace, program->machine, program->mapping, &options, &error);

  if (run == NULL)
    g_error ("%s", error->message);
  sample->value = 1e-6 * (double) program->n_ops / (bench_seconds () - start_s);
  sample->peak_bytes = bench_peak_bytes ();
  sample->beside = NAN;
}

/* --- Rows --- */

static const BenchKind ti_kind = { ti_open, ti_sample, trace_file_close };
static const BenchKind hct_kind = { hct_open, hct_sample, trace_file_close };
static const BenchKind program_kind = { program_open, program_sample, program_close };

#define EACH_BYTE "each byte is loaded and compared"
#define IN_LOOPS  "a copy of six cache lines and its patches"
#define TAKEN     "zlib; then bytes taken apart"

static const TraceCase ti_cases[] = {
  { "ti halo3d of 512 ranks", EACH_BYTE, "gen:halo3d:ranks=512,iterations=50", NULL, 0 },
  { "ti waits by name", EACH_BYTE, NULL, waits_by_rank, 0 },
  { "ti waits by name; ranks in turn", EACH_BYTE, NULL, waits_in_turn, 0 },
  { "ti alltoallv of 64 ranks", EACH_BYTE, NULL, vectors, 0 },
  { "ti CoMD of 256 ranks", EACH_BYTE, "traces/data/comd-256.ti.gz", NULL, 20 },
};

/* Patterns, then gzip DUMPI, gzip TI and OTF2, converted. */
static const TraceCase hct_cases[] = {
  { "hct halo2d of 4096 ranks", IN_LOOPS, "gen:halo2d:ranks=4096,iterations=100", NULL, 0 },
  { "hct halo3d of 4096 ranks", IN_LOOPS, "gen:halo3d:ranks=4096,iterations=100", NULL, 0 },
  { "hct without repetition", TAKEN, NULL, NULL, 0 },
  { "hct NPB IS of 16 ranks", TAKEN, "traces/data/npb-is-A-16.meta", NULL, 0 },
  { "hct CoMD of 256 ranks", TAKEN, "traces/data/comd-256.ti.gz", NULL, 0 },
  { "hct OTF2 of 10 ranks", TAKEN, "validation/data/traces/otf2/sstmacro-10rank/traces.otf2", NULL,
    0 },
  { "hct LAMMPS of 16 ranks", TAKEN,
    "validation/data/traces/dumpi/gen-lammps-lj-16/dumpi-2026.11.20.11.54.52.meta", NULL, 0 },
};

static const ReplayCase program_cases[] = {
  { "replay of 8 B; 512 nodes of 16 ranks", "bgq:512", "gen:halo2d:bytes=8,iterations=20", 16 },
  { "replay of 4 KiB; 4096 nodes of 16 ranks", "bgq:4096", "gen:halo3d:bytes=4K,iterations=1", 16 },
};

static void
add_traces (GPtrArray *rows, const BenchKind *kind, const TraceCase *cases, guint n,
            const char *unit, const char *beside)
{
  for (guint i = 0; i < n; i++) {
    BenchRow *row = g_new0 (BenchRow, 1);

    *row = (BenchRow){ .kind = kind,
                       .details = &cases[i],
                       .name = g_strdup (cases[i].name),
                       .unit = unit,
                       .beside = beside,
                       .bound = cases[i].bound };
    g_ptr_array_add (rows, row);
  }
}

void
bench_add_traces (GPtrArray *rows)
{
  for (guint i = 0; i < G_N_ELEMENTS (program_cases); i++) {
    BenchRow *row = g_new0 (BenchRow, 1);

    *row = (BenchRow){ .kind = &program_kind,
                       .details = &program_cases[i],
                       .name = g_strdup (program_cases[i].name),
                       .unit = "M op/s",
                       .bound = "rank; message and match of an operation: from memory" };
    g_ptr_array_add (rows, row);
  }
  add_traces (rows, &ti_kind, ti_cases, G_N_ELEMENTS (ti_cases), "MB/s", "adding numbers");
  add_traces (rows, &hct_kind, hct_cases, G_N_ELEMENTS (hct_cases), "M op/s", NULL);
}
