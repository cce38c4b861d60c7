/* goal_write.c - writes traces as GOAL text.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A program becomes a graph: every statement begins when all statements that the
 * program waited for before it have ended, and the last posted statement has
 * begun.  These are the front of the program, which the new statement replaces.
 * A schedule has no collectives and communicators: lower.h turns them into
 * messages.  A trace that is a graph already is written unchanged. */
#include "traces/format.h"
#include "traces/lower.h"
#include "traces/writer.h"

#include <errno.h>

#define PS_PER_NS 1000
/* Work that was counted and not measured; the same rate as for TI. */
#define PS_PER_FLOP 1000.0

/* A dependency of the next statement. */
typedef struct {
  uint64_t label;
  gboolean on_start;
} Front;

typedef struct {
  TraceSink sink;
  Trace *trace;
  FILE *out;
  uint64_t n_labels;
  GArray *front;       /* (element-type Front) */
  GArray *other_front; /* of the program, while a branch is written */
  int64_t rest_ps;     /* time that was too short for a statement of its own; may be negative */
} Writer;

/* -- statements -------------------------------------------------------------------- */

static int
compare_fronts (gconstpointer a, gconstpointer b)
{
  const Front *one = a, *other = b;

  if (one->on_start != other->on_start)
    return one->on_start ? 1 : -1;
  return (one->label > other->label) - (one->label < other->label);
}

/* In the order in which a reader returns them. */
static void
write_front (Writer *writer)
{
  g_array_sort (writer->front, compare_fronts);
  for (guint i = 0; i < writer->front->len; i++) {
    const Front *front = &g_array_index (writer->front, Front, i);

    fprintf (writer->out, "l%" G_GUINT64_FORMAT " %s l%" G_GUINT64_FORMAT "\n", writer->n_labels,
             front->on_start ? "irequires" : "requires", front->label);
  }
}

/* The program continues when the statement written last has ended, or begun. */
static void
set_front (Writer *writer, gboolean on_start)
{
  Front front = { writer->n_labels, on_start };

  write_front (writer);
  g_array_set_size (writer->front, 0);
  g_array_append_val (writer->front, front);
}

static void
write_calc (Writer *writer, int64_t ns)
{
  fprintf (writer->out, "l%" G_GUINT64_FORMAT ": calc %" G_GINT64_FORMAT "\n", ++writer->n_labels,
           ns);
}

/* Rounds to the nearest ns; the remainder goes to the next statement. */
static int64_t
take_ns (Writer *writer, int64_t ps)
{
  int64_t ns;

  writer->rest_ps += ps;
  if (writer->rest_ps < PS_PER_NS / 2)
    return 0;
  ns = (writer->rest_ps + PS_PER_NS / 2) / PS_PER_NS;
  writer->rest_ps -= ns * PS_PER_NS;
  return ns;
}

static void
compute (TraceSink *sink, int64_t gap_ps, double flops)
{
  Writer *writer = (Writer *) sink;
  double work_ps = MIN (flops * PS_PER_FLOP, (double) (INT64_MAX / 4));
  int64_t ns = take_ns (writer, MIN (gap_ps, INT64_MAX / 4) + (int64_t) work_ps);

  if (flops > 0)
    trace_warn (writer->trace,
                "counted work is written as the time it takes at 1 Gflop/s: a machine's own rate "
                "(node.compute) changes it no more");
  if (ns == 0)
    return;
  write_calc (writer, ns);
  set_front (writer, FALSE);
}

static void
write_message (Writer *writer, gboolean is_send, uint64_t bytes, int32_t peer, int32_t tag)
{
  if (!is_send && bytes == TRACE_UNKNOWN_BYTES) {
    trace_warn (writer->trace, "receives of unknown length are written with 0 bytes");
    bytes = 0;
  }
  fprintf (writer->out, "l%" G_GUINT64_FORMAT ": %s %" G_GUINT64_FORMAT "b %s %d",
           ++writer->n_labels, is_send ? "send" : "recv", bytes, is_send ? "to" : "from", peer);
  if (tag != 0)
    fprintf (writer->out, " tag %d", tag);
}

/* -- programs ------------------------------------------------------------------------ */

static uint64_t
post (TraceSink *sink, const TracePost *post)
{
  Writer *writer = (Writer *) sink;

  write_message (writer, post->is_send, post->bytes, post->peer, post->tag);
  putc ('\n', writer->out);
  set_front (writer, TRUE);
  return writer->n_labels;
}

/* A dependency on the end of a statement replaces the one on its begin. */
static void
await (TraceSink *sink, const TracePost *posts, uint32_t n, gboolean waits_for_all)
{
  Writer *writer = (Writer *) sink;

  (void) waits_for_all;
  for (uint32_t i = 0; i < n; i++) {
    Front front = { posts[i].token, FALSE };

    if (writer->front->len > 0 && g_array_index (writer->front, Front, 0).label == posts[i].token)
      g_array_index (writer->front, Front, 0) = front;
    else
      g_array_append_val (writer->front, front);
  }
}

static gboolean
collective (TraceSink *sink, const TraceOp *op)
{
  (void) sink, (void) op;
  return FALSE;
}

static void
begin_branch (TraceSink *sink)
{
  Writer *writer = (Writer *) sink;

  g_array_set_size (writer->other_front, 0);
  g_array_append_vals (writer->other_front, writer->front->data, writer->front->len);
}

/* One statement stands for the end of the branch. */
static uint64_t
end_branch (TraceSink *sink)
{
  Writer *writer = (Writer *) sink;
  GArray *branch = writer->front;

  write_calc (writer, 0);
  write_front (writer);
  writer->front = writer->other_front;
  writer->other_front = branch;
  return writer->n_labels;
}

/* -- graphs --------------------------------------------------------------------------- */

static void
write_dependencies (const Writer *writer, const char *verb, const uint32_t *indices, uint32_t n)
{
  for (uint32_t i = 0; i < n; i++)
    fprintf (writer->out, "l%" G_GUINT64_FORMAT " %s l%" G_GUINT64_FORMAT "\n", writer->n_labels,
             verb, (uint64_t) indices[i] + 1);
}

/* Labels count from 1, indices from 0: therefore a calc of no time is written too. */
static gboolean
write_graph (Writer *writer, uint32_t rank, GError **error)
{
  g_autoptr (TraceCursor) cursor = trace_cursor_new (writer->trace, rank, error);
  TraceNext next;
  TraceOp op;

  if (cursor == NULL)
    return FALSE;
  while ((next = trace_cursor_next (cursor, &op, error)) == TRACE_NEXT_OPERATION) {
    gboolean is_message = op.kind == TRACE_OP_SEND || op.kind == TRACE_OP_RECV;

    if (op.kind == TRACE_OP_COMPUTE) {
      fprintf (writer->out, "l%" G_GUINT64_FORMAT ": calc %" G_GINT64_FORMAT, ++writer->n_labels,
               take_ns (writer, op.gap_ps));
    } else if (is_message && op.comm == TRACE_COMM_WORLD) {
      write_message (writer, op.kind == TRACE_OP_SEND, op.bytes, op.peer, op.tag);
    } else
      return TRACE_FAIL (TRACE_ERROR_WRITE, error,
                         "%s: rank %u: a graph with %s cannot be expressed in this format",
                         trace_cursor_place (cursor), rank, op.name);
    if (op.cpu != 0)
      fprintf (writer->out, " cpu %u", op.cpu);
    putc ('\n', writer->out);
    write_dependencies (writer, "requires", op.after, op.n_after);
    write_dependencies (writer, "irequires", op.after_start, op.n_after_start);
  }
  return next == TRACE_NEXT_END;
}

static gboolean
write_trace (Trace *trace, FILE *out, TraceProgress progress, void *data, GError **error)
{
  Writer writer = {
    .sink = { compute, post, await, collective, begin_branch, end_branch },
    .trace = trace,
    .out = out,
    .front = g_array_new (FALSE, FALSE, sizeof (Front)),
    .other_front = g_array_new (FALSE, FALSE, sizeof (Front)),
  };
  g_autoptr (TraceSurvey) survey = NULL;
  uint32_t n_ranks = trace_ranks (trace);
  gboolean good = TRUE;

  if (!trace_is_graph (trace)) {
    survey = trace_survey_new (trace, error);
    good = survey != NULL && trace_survey_check_tags (survey, error);
  }
  if (good)
    fprintf (out, "num_ranks %u\n", n_ranks);
  for (uint32_t rank = 0; rank < n_ranks && good; rank++) {
    writer.n_labels = 0;
    writer.rest_ps = 0;
    g_array_set_size (writer.front, 0);
    fprintf (out, "\nrank %u {\n", rank);
    good = survey == NULL ? write_graph (&writer, rank, error)
                          : trace_lower (trace, survey, rank, &writer.sink, error);
    if (good)
      fputs ("}\n", out);
    if (good && ferror (out)) {
      g_set_error (error, TRACE_ERROR, TRACE_ERROR_WRITE, "cannot write: %s", g_strerror (errno));
      good = FALSE;
    }
    if (good && progress != NULL)
      progress (data, (rank + 1.0) / n_ranks);
  }
  g_array_unref (writer.front);
  g_array_unref (writer.other_front);
  return good;
}

const TraceWriter trace_writer_goal = {
  .name = "goal",
  .ending = ".goal",
  .summary = "GOAL text for LogGOPSim and ATLAHS, collectives as messages",
  .write = write_trace,
};
