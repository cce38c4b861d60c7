/* benchmark.c - programs of OSU, IMB and others that measure messages and collectives, simulated.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A time is that between two moments of a rank.  Two programs give it: the one ends at the first
 * moment, the other, which begins in the same way, at the second. */
#include "study/calibrate/benchmark.h"

#include "sim/collective/collective.h"
#include "study/aggregate/network_pingpong.h"
#include "study/aggregate/program_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER    4 /* bytes */
#define BYTE_TYPE 6 /* MPI_BYTE in a time-independent trace */
#define PACKET    4096.0

/* Iterations of the first program, and the further ones of the second. */
#define FIRST_ROUNDS 2
#define ROUNDS       4
#define FIRST_CALLS  1
#define CALLS        1

const char *const study_benchmark_quantities[STUDY_BENCHMARK_QUANTITIES] = {
  [STUDY_BENCHMARK_LATENCY] = "latency",
  [STUDY_BENCHMARK_BANDWIDTH] = "bandwidth",
  [STUDY_BENCHMARK_MESSAGE_RATE] = "message_rate",
  [STUDY_BENCHMARK_PAIRS_BANDWIDTH] = "pairs_bandwidth",
  [STUDY_BENCHMARK_ALLTOALL] = "alltoall",
  [STUDY_BENCHMARK_ALLGATHER] = "allgather",
  [STUDY_BENCHMARK_ALLREDUCE] = "allreduce",
  [STUDY_BENCHMARK_BCAST] = "bcast",
  [STUDY_BENCHMARK_REDUCE] = "reduce",
  [STUDY_BENCHMARK_REDUCE_SCATTER] = "reduce_scatter",
  [STUDY_BENCHMARK_GATHER] = "gather",
  [STUDY_BENCHMARK_SCATTER] = "scatter",
  [STUDY_BENCHMARK_BARRIER] = "barrier",
};

const char *const study_benchmark_units[] = { "us", "MB/s", "1/s", NULL };

#define MESSAGES(name_, program_, quantity_)                          \
  {                                                                   \
    name_, STUDY_BENCHMARK_##program_, 0, STUDY_BENCHMARK_##quantity_ \
  }
#define CALLS_OF(name_, program_, kind_)                                         \
  {                                                                              \
    name_, STUDY_BENCHMARK_##program_, TRACE_OP_##kind_, STUDY_BENCHMARK_##kind_ \
  }

static const StudyBenchmark benchmarks[] = {
  MESSAGES ("osu_latency", PINGPONG, LATENCY),
  MESSAGES ("osu_multi_lat", PINGPONG, LATENCY),
  MESSAGES ("imb_pingpong", PINGPONG, LATENCY),
  MESSAGES ("pingpong", PINGPONG, LATENCY),
  MESSAGES ("osu_bw", ONE_WAY, BANDWIDTH),
  MESSAGES ("osu_mbw_mr", ONE_WAY, BANDWIDTH),
  MESSAGES ("imb_uniband", ONE_WAY, BANDWIDTH),
  MESSAGES ("osu_bibw", BOTH_WAYS, BANDWIDTH),
  MESSAGES ("imb_biband", ANSWERED, BANDWIDTH),
  CALLS_OF ("osu_alltoall", COLLECTIVE, ALLTOALL),
  CALLS_OF ("osu_allgather", COLLECTIVE, ALLGATHER),
  CALLS_OF ("osu_allreduce", COLLECTIVE, ALLREDUCE),
  CALLS_OF ("osu_bcast", COLLECTIVE, BCAST),
  CALLS_OF ("osu_reduce", COLLECTIVE, REDUCE),
  CALLS_OF ("osu_gather", COLLECTIVE, GATHER),
  CALLS_OF ("osu_scatter", COLLECTIVE, SCATTER),
  CALLS_OF ("osu_barrier", COLLECTIVE, BARRIER),
  /* Roots of IMB's other collectives take turns, which is not simulated. */
  CALLS_OF ("imb_alltoall", IN_A_ROW, ALLTOALL),
  CALLS_OF ("imb_allgather", IN_A_ROW, ALLGATHER),
  CALLS_OF ("imb_allreduce", IN_A_ROW, ALLREDUCE),
  CALLS_OF ("imb_barrier", IN_A_ROW, BARRIER),
  /* hopcast-pingpong's. */
  CALLS_OF ("alltoall", SLOWEST, ALLTOALL),
  CALLS_OF ("allgather", SLOWEST, ALLGATHER),
  CALLS_OF ("allreduce", SLOWEST, ALLREDUCE),
  CALLS_OF ("bcast", SLOWEST, BCAST),
  CALLS_OF ("reduce", SLOWEST, REDUCE),
  CALLS_OF ("gather", SLOWEST, GATHER),
  CALLS_OF ("scatter", SLOWEST, SCATTER),
  CALLS_OF ("barrier", SLOWEST, BARRIER),
  CALLS_OF ("pico_alltoall", SLOWEST, ALLTOALL),
  CALLS_OF ("pico_allgather", SLOWEST, ALLGATHER),
  CALLS_OF ("pico_allreduce", SLOWEST, ALLREDUCE),
  CALLS_OF ("pico_bcast", SLOWEST, BCAST),
  CALLS_OF ("pico_reduce", SLOWEST, REDUCE),
  CALLS_OF ("pico_reduce_scatter", SLOWEST, REDUCE_SCATTER),
  CALLS_OF ("pico_gather", SLOWEST, GATHER),
  CALLS_OF ("pico_scatter", SLOWEST, SCATTER),
};

const StudyBenchmark *
study_benchmark_find (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (benchmarks); i++)
    if (strcmp (benchmarks[i].name, name) == 0)
      return &benchmarks[i];
  return NULL;
}

StudyBenchmarkQuantity
study_benchmark_quantity (const StudyBenchmarkPoint *point)
{
  if (point->benchmark->quantity != STUDY_BENCHMARK_BANDWIDTH || point->n_ranks == 2)
    return point->benchmark->quantity;
  return point->bytes <= STUDY_BENCHMARK_SHORT_BYTES ? STUDY_BENCHMARK_MESSAGE_RATE
                                                     : STUDY_BENCHMARK_PAIRS_BANDWIDTH;
}

/* --- Collectives --- */

/* A rank's part in a call.  counts[n_ranks] is room for those of a reduce-scatter. */
static void
collective_of (const TopoMachine *machine, const StudyBenchmarkPoint *point, uint32_t rank,
               uint64_t *counts, SimCollective *collective)
{
  TraceOp op = { .kind = point->benchmark->kind,
                 .comm = TRACE_COMM_WORLD,
                 .bytes = point->bytes,
                 .recv_bytes = point->bytes };

  if (op.kind == TRACE_OP_REDUCE_SCATTER) {
    for (uint32_t other = 0; other < point->n_ranks; other++)
      counts[other] = point->bytes;
    op.recv_counts = counts;
    op.n_recv_counts = point->n_ranks;
  }
  sim_collective_init (collective, machine, &op, point->n_ranks, rank, true, NULL);
}

static void
append_message (GString *text, uint32_t rank, const char *call, uint32_t peer, uint64_t bytes)
{
  g_string_append_printf (text, "%u %s %u 0 %" G_GUINT64_FORMAT " %d\n", rank, call, peer, bytes,
                          BYTE_TYPE);
}

static void
append_call (GString *text, const StudyBenchmarkPoint *point, uint32_t rank)
{
  if (study_append_collective (text, point->benchmark->kind, rank, point->bytes))
    return;
  g_assert (point->benchmark->kind == TRACE_OP_REDUCE_SCATTER);
  g_string_append_printf (text, "%u reducescatter", rank);
  for (uint32_t other = 0; other < point->n_ranks; other++)
    g_string_append_printf (text, " %" G_GUINT64_FORMAT, point->bytes);
  g_string_append_printf (text, " 0 %d\n", BYTE_TYPE);
}

static void
append_calls (GString *text, const StudyBenchmarkPoint *point, uint32_t rank, bool second)
{
  /* A measured barrier follows another one at once. */
  bool between = point->benchmark->kind != TRACE_OP_BARRIER &&
                 point->benchmark->program != STUDY_BENCHMARK_IN_A_ROW;
  uint32_t n_calls = FIRST_CALLS + (second ? CALLS : 0);

  for (uint32_t call = 0; call < n_calls; call++) {
    if (between)
      g_string_append_printf (text, "%u barrier\n", rank);
    append_call (text, point, rank);
  }
  if (between && !second)
    g_string_append_printf (text, "%u barrier\n", rank);
}

/* --- Pairs --- */

static void
append_round (GString *text, const StudyBenchmarkPoint *point, uint32_t rank, bool first,
              uint32_t peer)
{
  append_message (text, rank, first ? "send" : "recv", peer, point->bytes);
  append_message (text, rank, first ? "recv" : "send", peer, point->bytes);
}

/* As the benchmarks do: all receives, all sends, one wait. */
static void
append_window (GString *text, const StudyBenchmarkPoint *point, uint32_t rank, bool first,
               uint32_t peer)
{
  StudyBenchmarkProgram program = point->benchmark->program;

  for (uint32_t i = 0; i < point->window && (program != STUDY_BENCHMARK_ONE_WAY || !first); i++)
    append_message (text, rank, "irecv", peer, point->bytes);
  for (uint32_t i = 0; i < point->window && (program != STUDY_BENCHMARK_ONE_WAY || first); i++)
    append_message (text, rank, "isend", peer, point->bytes);
  g_string_append_printf (text, "%u waitall\n", rank);
  if (program != STUDY_BENCHMARK_BOTH_WAYS)
    append_message (text, rank, first ? "recv" : "send", peer, ANSWER);
}

static uint32_t
n_iterations (const StudyBenchmarkPoint *point, bool second)
{
  return point->benchmark->program == STUDY_BENCHMARK_PINGPONG
             ? FIRST_ROUNDS + (second ? ROUNDS : 0)
             : FIRST_CALLS + (second ? CALLS : 0);
}

static char *
program_text (const StudyBenchmarkPoint *point, bool second)
{
  StudyBenchmarkProgram program = point->benchmark->program;
  GString *text = g_string_new (NULL);
  uint32_t n_pairs = point->n_ranks / 2;

  for (uint32_t rank = 0; rank < point->n_ranks; rank++) {
    bool first = rank < n_pairs;
    uint32_t peer = first ? rank + n_pairs : rank - n_pairs;

    g_string_append_printf (text, "%u init\n", rank);
    if (program >= STUDY_BENCHMARK_COLLECTIVE)
      append_calls (text, point, rank, second);
    else {
      g_string_append_printf (text, "%u barrier\n", rank);
      for (uint32_t i = 0; i < n_iterations (point, second); i++)
        (program == STUDY_BENCHMARK_PINGPONG ? append_round : append_window) (text, point, rank,
                                                                              first, peer);
    }
    g_string_append_printf (text, "%u finalize\n", rank);
  }
  return g_string_free (text, FALSE);
}

double
study_benchmark_packets (const StudyBenchmarkPoint *point, const TopoMachine *machine)
{
  double packets = ceil ((double) point->bytes / PACKET) + 1, total = 0;
  StudyBenchmarkProgram program = point->benchmark->program;
  g_autofree uint64_t *counts = NULL;

  if (program == STUDY_BENCHMARK_PINGPONG)
    return packets * point->n_ranks * (2 * FIRST_ROUNDS + ROUNDS);
  if (program < STUDY_BENCHMARK_COLLECTIVE)
    return packets * point->window * (2 * FIRST_CALLS + CALLS) * point->n_ranks /
           (program == STUDY_BENCHMARK_ONE_WAY ? 2 : 1);
  counts = g_new0 (uint64_t, point->n_ranks);
  for (uint32_t rank = 0; rank < point->n_ranks; rank++) {
    SimCollective collective;

    collective_of (machine, point, rank, counts, &collective);
    for (uint32_t at = 0; at < collective.n_steps; at++) {
      SimStep step = sim_collective_step (&collective, at);

      if (step.send_to != TOPO_NONE && step.send_to != rank)
        total += ceil ((double) step.send_bytes / PACKET) + 1;
    }
  }
  return total * (2 * FIRST_CALLS + CALLS);
}

/* --- Times --- */

/* Replays the text of a time-independent trace; end_ps[n_ranks]: when each rank ends. */
static bool
replay (const char *text, const TopoMachine *machine, const RoutePaths *paths, uint32_t n_ranks,
        const uint32_t *node, const uint8_t *core, int64_t *end_ps, GError **error)
{
  const TopoMapping mapping = { (char *) "of a benchmark", n_ranks, (uint32_t *) node,
                                (uint8_t *) core };
  g_autoptr (StudyTextFile) file = study_text_file_new (text, error);
  g_autoptr (Trace) trace = NULL;
  g_autoptr (SimRun) run = NULL;
  SimRunOptions options = { .network = SIM_NETWORK_PACKET,
                            .policy = ROUTE_POLICY_DEFAULT,
                            .compute_scale = 1,
                            .paths = paths,
                            .key = "of a benchmark" };

  if (file == NULL)
    return false;
  options.trace_path = file->path;
  trace = trace_open (file->path, &(TraceOptions){ .n_ranks = n_ranks }, error);
  if (trace == NULL || (run = sim_run (trace, machine, &mapping, &options, error)) == NULL)
    return false;
  for (uint32_t rank = 0; rank < n_ranks; rank++)
    end_ps[rank] = run->result.ranks[rank].end_ps;
  return true;
}

/* Of an iteration: the mean over the ranks that measure it, or that of the slowest; NaN and *error. */
static double
iteration_ps (const StudyBenchmarkPoint *point, const TopoMachine *machine, const RoutePaths *paths,
              const uint32_t *node, const uint8_t *core, GError **error)
{
  StudyBenchmarkProgram program = point->benchmark->program;
  uint32_t n = point->n_ranks;
  uint32_t n_measure = program < STUDY_BENCHMARK_COLLECTIVE ? n / 2 : n;
  g_autofree int64_t *end_ps = g_new (int64_t, 2 * n);
  double sum_ps = 0, most_ps = 0;

  for (uint32_t second = 0; second < 2; second++) {
    g_autofree char *text = program_text (point, second > 0);

    if (!replay (text, machine, paths, n, node, core, end_ps + second * n, error))
      return (double) NAN;
  }
  for (uint32_t rank = 0; rank < n_measure; rank++) {
    double ps = (double) (end_ps[n + rank] - end_ps[rank]);

    sum_ps += ps;
    most_ps = MAX (most_ps, ps);
  }
  if (program == STUDY_BENCHMARK_SLOWEST)
    return most_ps / CALLS;
  return sum_ps / n_measure / (program == STUDY_BENCHMARK_PINGPONG ? ROUNDS : CALLS);
}

double
study_benchmark_simulate (const StudyBenchmarkPoint *point, const TopoMachine *machine,
                          const RoutePaths *paths, const uint32_t *node, const uint8_t *core,
                          GError **error)
{
  StudyBenchmarkProgram program = point->benchmark->program;
  double ps = iteration_ps (point, machine, paths, node, core, error), messages;

  if (isnan (ps))
    return ps;
  if (point->unit == STUDY_BENCHMARK_US)
    return (program == STUDY_BENCHMARK_PINGPONG ? ps / 2 : ps) * 1e-6;
  messages =
      (double) point->window * point->n_ranks / (program == STUDY_BENCHMARK_ONE_WAY ? 2 : 1) / ps;
  return point->unit == STUDY_BENCHMARK_PER_S ? messages * 1e12
                                              : messages * (double) point->bytes * 1e6;
}

double
study_benchmark_log_time (const StudyBenchmarkPoint *point, double simulated, double measured)
{
  return log (simulated / measured) * (point->unit == STUDY_BENCHMARK_US ? 1 : -1);
}

/* --- Deviations of many points --- */

static int
compare_numbers (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

/* Sorts the values. */
static double
median (double *values, guint n)
{
  if (n == 0)
    return (double) NAN;
  qsort (values, n, sizeof *values, compare_numbers);
  return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

StudyBenchmarkSummary
study_benchmark_summary (const double *logs, guint n)
{
  StudyBenchmarkSummary summary = { .n = n };
  g_autofree double *values = g_new (double, MAX (n, 1));

  for (guint i = 0; i < n; i++) {
    values[i] = logs[i];
    if (fabs (logs[i]) > fabs (logs[summary.worst]))
      summary.worst = i;
  }
  summary.bias = median (values, n);
  for (guint i = 0; i < n; i++)
    values[i] = fabs (logs[i]);
  summary.spread = median (values, n);
  return summary;
}
