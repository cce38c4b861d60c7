/* ti_write.c - writes traces for SimGrid's replayer.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * One file with the lines of all ranks, rank after rank.  It holds what
 * SimGrid 3.32 replays (src/smpi/internals/smpi_replay.cpp), and not all
 * that its tracer writes: no buffered or synchronous sends, no nonblocking
 * collectives, no communicators.  Collectives of other communicators than
 * MPI_COMM_WORLD, and nonblocking ones, are written as messages (lower.h).
 * Lengths are counted in bytes: "init" without an argument makes them the
 * default datatype. */
#include "traces/format.h"
#include "traces/lower.h"
#include "traces/writer.h"

#include <errno.h>

/* MPI_ANY_SOURCE and MPI_ANY_TAG of SimGrid's smpi.h. */
#define ANY_SOURCE (-555)
#define ANY_TAG    (-444)

/* Measured time as work on a host of 1 Gflop/s: a flop is 1000 ps. */
#define PS_PER_FLOP 1000

/* SimGrid counts elements in an int; type 0 has 8 bytes. */
#define MAX_COUNT  INT32_MAX
#define WIDE_TYPE  0
#define WIDE_BYTES 8

typedef struct {
  TraceSink sink;
  Trace *trace;
  FILE *out;
  uint32_t rank, n_ranks;
  uint64_t too_long; /* bytes of a message that cannot be counted; 0: none */
} Writer;

static void
compute (TraceSink *sink, int64_t gap_ps, double flops)
{
  Writer *writer = (Writer *) sink;
  char number[G_ASCII_DTOSTR_BUF_SIZE];

  if (gap_ps > 0)
    trace_warn (writer->trace,
                "measured times are written as work at 1 Gflop/s: they are right again only on "
                "processors of that rate (--set node.compute=1Gflop/s)");
  if (flops > 0)
    fprintf (writer->out, "%u compute %s\n", writer->rank,
             g_ascii_dtostr (number, sizeof number, flops + (double) gap_ps / PS_PER_FLOP));
  else if (gap_ps % PS_PER_FLOP != 0)
    fprintf (writer->out, "%u compute %" G_GINT64_FORMAT ".%03d\n", writer->rank,
             gap_ps / PS_PER_FLOP, (int) (gap_ps % PS_PER_FLOP));
  else if (gap_ps > 0)
    fprintf (writer->out, "%u compute %" G_GINT64_FORMAT "\n", writer->rank, gap_ps / PS_PER_FLOP);
}

/* -- messages ----------------------------------------------------------------------- */

static int32_t
written_tag (int32_t tag)
{
  return tag == TRACE_ANY_TAG ? ANY_TAG : tag;
}

static uint64_t
post (TraceSink *sink, const TracePost *post)
{
  Writer *writer = (Writer *) sink;
  uint64_t bytes = post->bytes;

  fprintf (writer->out, "%u %s%s %d %d", writer->rank, post->is_blocking ? "" : "i",
           post->is_send ? "send" : "recv",
           post->peer == TRACE_ANY_SOURCE ? ANY_SOURCE : post->peer, written_tag (post->tag));
  if (bytes == TRACE_UNKNOWN_BYTES)
    fputs (" -1\n", writer->out);
  else if (bytes <= MAX_COUNT)
    fprintf (writer->out, " %" G_GUINT64_FORMAT "\n", bytes);
  else {
    if (bytes % WIDE_BYTES != 0 || bytes / WIDE_BYTES > MAX_COUNT)
      writer->too_long = bytes;
    fprintf (writer->out, " %" G_GUINT64_FORMAT " %d\n", bytes / WIDE_BYTES, WIDE_TYPE);
  }
  return 0;
}

static void
await (TraceSink *sink, const TracePost *posts, uint32_t n, gboolean waits_for_all)
{
  const Writer *writer = (const Writer *) sink;
  uint32_t n_nonblocking = 0;

  for (uint32_t i = 0; i < n; i++)
    n_nonblocking += !posts[i].is_blocking;
  if (waits_for_all && n_nonblocking > 1) {
    fprintf (writer->out, "%u waitall\n", writer->rank);
    return;
  }
  for (uint32_t i = 0; i < n; i++)
    if (!posts[i].is_blocking) {
      /* Requests are named by source, destination and tag. */
      int32_t peer = posts[i].peer == TRACE_ANY_SOURCE ? ANY_SOURCE : posts[i].peer;
      int32_t me = (int32_t) writer->rank;

      fprintf (writer->out, "%u wait %d %d %d\n", writer->rank, posts[i].is_send ? me : peer,
               posts[i].is_send ? peer : me, written_tag (posts[i].tag));
    }
}

/* -- collectives ---------------------------------------------------------------------- */

typedef enum {
  NOTHING, /* after the last argument */
  BYTES,
  RECV_BYTES,
  COUNTS, /* one for each rank, 0 where the operation has none */
  RECV_COUNTS,
  SUM, /* of the counts that follow: the size of the buffer */
  RECV_SUM,
  ROOT,
  WORK, /* of the reduction: not known */
} Argument;

#define MAX_ARGUMENTS 4

static const struct {
  const char *action;
  Argument arguments[MAX_ARGUMENTS];
} actions[TRACE_N_OPS] = {
  [TRACE_OP_BARRIER] = { "barrier", { NOTHING } },
  [TRACE_OP_BCAST] = { "bcast", { BYTES, ROOT } },
  [TRACE_OP_GATHER] = { "gather", { BYTES, RECV_BYTES, ROOT } },
  [TRACE_OP_GATHERV] = { "gatherv", { BYTES, RECV_COUNTS, ROOT } },
  [TRACE_OP_SCATTER] = { "scatter", { BYTES, RECV_BYTES, ROOT } },
  [TRACE_OP_SCATTERV] = { "scatterv", { COUNTS, RECV_BYTES, ROOT } },
  [TRACE_OP_ALLGATHER] = { "allgather", { BYTES, RECV_BYTES } },
  [TRACE_OP_ALLGATHERV] = { "allgatherv", { BYTES, RECV_COUNTS } },
  [TRACE_OP_ALLTOALL] = { "alltoall", { BYTES, RECV_BYTES } },
  [TRACE_OP_ALLTOALLV] = { "alltoallv", { SUM, COUNTS, RECV_SUM, RECV_COUNTS } },
  [TRACE_OP_REDUCE] = { "reduce", { BYTES, WORK, ROOT } },
  [TRACE_OP_ALLREDUCE] = { "allreduce", { BYTES, WORK } },
  [TRACE_OP_REDUCE_SCATTER] = { "reducescatter", { RECV_COUNTS, WORK } },
  [TRACE_OP_SCAN] = { "scan", { BYTES, WORK } },
  [TRACE_OP_EXSCAN] = { "exscan", { BYTES, WORK } },
};

static uint64_t
sum (const uint64_t *counts, uint32_t n)
{
  uint64_t total = 0;

  for (uint32_t i = 0; counts != NULL && i < n; i++)
    total = total + counts[i] < total ? UINT64_MAX : total + counts[i];
  return total;
}

static void
write_counts (const Writer *writer, const uint64_t *counts, uint32_t n)
{
  for (uint32_t i = 0; i < writer->n_ranks; i++)
    fprintf (writer->out, " %" G_GUINT64_FORMAT, i < n ? counts[i] : 0);
}

/* FALSE: to be written as messages.  All ranks must decide alike. */
static gboolean
collective (TraceSink *sink, const TraceOp *op)
{
  Writer *writer = (Writer *) sink;
  gboolean is_varied = op->kind == TRACE_OP_GATHERV || op->kind == TRACE_OP_SCATTERV ||
                       op->kind == TRACE_OP_ALLTOALLV;
  gboolean has_blocks = op->kind == TRACE_OP_GATHER || op->kind == TRACE_OP_SCATTER ||
                        op->kind == TRACE_OP_ALLGATHER || op->kind == TRACE_OP_ALLTOALL;
  /* The largest buffer that all ranks have; of kinds with varied sizes, that this rank has. */
  uint64_t bytes = MAX (op->bytes, op->recv_bytes);

  if (op->n_counts > 0 || op->n_recv_counts > 0) {
    uint64_t lists = MAX (sum (op->counts, op->n_counts), sum (op->recv_counts, op->n_recv_counts));

    bytes = is_varied ? MAX (lists, bytes) : lists;
  } else if (has_blocks && bytes <= MAX_COUNT) {
    bytes *= writer->n_ranks;
  }
  if (actions[op->kind].action == NULL || (bytes > MAX_COUNT && !is_varied))
    return FALSE;
  if (bytes > MAX_COUNT)
    writer->too_long = bytes;
  fprintf (writer->out, "%u %s", writer->rank, actions[op->kind].action);
  for (guint i = 0; i < MAX_ARGUMENTS; i++) {
    switch (actions[op->kind].arguments[i]) {
    case NOTHING: break;
    case BYTES: fprintf (writer->out, " %" G_GUINT64_FORMAT, op->bytes); break;
    case RECV_BYTES: fprintf (writer->out, " %" G_GUINT64_FORMAT, op->recv_bytes); break;
    case COUNTS: write_counts (writer, op->counts, op->n_counts); break;
    case RECV_COUNTS: write_counts (writer, op->recv_counts, op->n_recv_counts); break;
    case SUM: fprintf (writer->out, " %" G_GUINT64_FORMAT, sum (op->counts, op->n_counts)); break;
    case RECV_SUM:
      fprintf (writer->out, " %" G_GUINT64_FORMAT, sum (op->recv_counts, op->n_recv_counts));
      break;
    case ROOT: fprintf (writer->out, " %d", op->root); break;
    case WORK: fputs (" 0", writer->out); break;
    }
  }
  putc ('\n', writer->out);
  return TRUE;
}

static gboolean
write_trace (Trace *trace, FILE *out, TraceProgress progress, void *data, GError **error)
{
  Writer writer = {
    .sink = { .compute = compute, .post = post, .await = await, .collective = collective },
    .trace = trace,
    .out = out,
    .n_ranks = trace_ranks (trace)
  };
  g_autoptr (TraceSurvey) survey = NULL;

  if (trace_is_graph (trace))
    return TRACE_FAIL (
        TRACE_ERROR_WRITE, error,
        "%s: a graph has no order in which a process could do it: it cannot be written as "
        "a time-independent trace",
        trace_path (trace));
  survey = trace_survey_new (trace, error);
  if (survey == NULL || !trace_survey_check_tags (survey, error))
    return FALSE;
  for (; writer.rank < writer.n_ranks; writer.rank++) {
    fprintf (out, "%u init\n", writer.rank);
    if (!trace_lower (trace, survey, writer.rank, &writer.sink, error))
      return FALSE;
    fprintf (out, "%u finalize\n", writer.rank);
    if (writer.too_long != 0)
      return TRACE_FAIL (TRACE_ERROR_WRITE, error,
                         "%s: rank %u: a message of %" G_GUINT64_FORMAT
                         " bytes is too long for SimGrid",
                         trace_path (trace), writer.rank, writer.too_long);
    if (ferror (out))
      return TRACE_FAIL (TRACE_ERROR_WRITE, error, "cannot write: %s", g_strerror (errno));
    if (progress != NULL)
      progress (data, (writer.rank + 1.0) / writer.n_ranks);
  }
  return TRUE;
}

const TraceWriter trace_writer_ti = {
  .name = "ti",
  .ending = ".ti",
  .summary = "SimGrid's time-independent trace, one file that smpirun replays",
  .write = write_trace,
};
