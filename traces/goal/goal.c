/* goal.c - GOAL schedules: text, or the binary form of it; gzip or plain.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * T. Hoefler, C. Siebert, A. Lumsdaine: Group Operation Assembly Language - a
 * flexible way to express collective communication (ICPP 2009); read by
 * LogGOPSim and ATLAHS.  A rank is read when its first operation is asked
 * for, and kept only as long as its cursor. */
#include "traces/trace_file.h"
#include "traces/format.h"
#include "traces/goal/goal_binary.h"
#include "traces/goal/goal_scan.h"
#include "traces/goal/goal_text.h"

typedef struct {
  Trace *trace;
  GoalText *text; /* or */
  GoalBinary *binary;
  uint32_t n_ranks;
} GoalState;

typedef struct {
  const GoalState *state;
  uint32_t rank;
  GoalGraph *graph; /* NULL before the first and after the last operation */
  gboolean ended;
  uint32_t next;
  uint64_t at; /* where in the file the last operation is */
  char *place;
} GoalCursor;

static gboolean
probe (const char *path, const guint8 *head, gsize n)
{
  GoalScanner scanner = { (const char *) head, (const char *) head + n };
  GoalToken token;

  (void) path;
  if (goal_binary_probe (head, n))
    return TRUE;
  token = goal_scan (&scanner);
  return goal_token_is (&token, "num_ranks");
}

static void
close_state (gpointer data)
{
  GoalState *state = data;

  goal_text_close (state->text);
  goal_binary_close (state->binary);
  g_free (state);
}

static gboolean
open_file (GoalState *state, const char *path, GError **error)
{
  guint8 head[sizeof (uint64_t)];
  gssize n = trace_file_head (path, head, sizeof head, error);

  if (n < 0)
    return FALSE;
  if (goal_binary_probe (head, (gsize) n)) {
    state->binary = goal_binary_open (path, error);
    if (state->binary != NULL)
      state->n_ranks = goal_binary_ranks (state->binary);
    return state->binary != NULL;
  }
  state->text = goal_text_open (path, error);
  if (state->text != NULL)
    state->n_ranks = goal_text_ranks (state->text);
  return state->text != NULL;
}

static gpointer
open_trace (Trace *trace, const char *path, const TraceOptions *options, uint32_t *n_ranks,
            GPtrArray *files, GError **error)
{
  GoalState *state = g_new0 (GoalState, 1);

  state->trace = trace;
  if (!trace_refuse_region (path, options, error) || !open_file (state, path, error)) {
    close_state (state);
    return NULL;
  }
  trace_set_graph (trace);
  g_ptr_array_add (files, g_strdup (path));
  *n_ranks = state->n_ranks;
  return state;
}

static gpointer
cursor_new (gpointer data, uint32_t rank, GError **error)
{
  GoalCursor *cursor = g_new0 (GoalCursor, 1);

  (void) error;
  cursor->state = data;
  cursor->rank = rank;
  return cursor;
}

static void
cursor_free (gpointer data)
{
  GoalCursor *cursor = data;

  goal_graph_free (cursor->graph);
  g_free (cursor->place);
  g_free (cursor);
}

static char *
describe_place (const GoalCursor *cursor)
{
  g_autofree char *name = g_path_get_basename (trace_path (cursor->state->trace));

  if (cursor->state->binary != NULL)
    return g_strdup_printf ("%s:0x%" G_GINT64_MODIFIER "x", name, cursor->at);
  return g_strdup_printf (
      "%s:%" G_GUINT64_FORMAT, name,
      cursor->at == 0 ? 1 : goal_text_line (cursor->state->text, cursor->rank, cursor->at));
}

static const char *
cursor_place (gpointer data)
{
  GoalCursor *cursor = data;

  g_free (cursor->place);
  cursor->place = describe_place (cursor);
  return cursor->place;
}

static char *
describe_node (const GoalCursor *cursor, uint32_t node)
{
  const GoalNode *it = &g_array_index (cursor->graph->nodes, GoalNode, node);

  if (cursor->state->text != NULL)
    return goal_text_describe (cursor->state->text, cursor->rank, it);
  return g_strdup_printf ("number %u", node);
}

static gboolean
fail_circle (GoalCursor *cursor, uint32_t node, uint32_t on, GError **error)
{
  g_autofree char *one = describe_node (cursor, node);
  g_autofree char *other = describe_node (cursor, on);

  cursor->at = g_array_index (cursor->graph->nodes, GoalNode, node).at;
  if (node == on)
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_FORMAT, "%s: rank %u: %s waits for itself",
                 cursor_place (cursor), cursor->rank, one);
  else
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_FORMAT,
                 "%s: rank %u: %s and %s wait for each other", cursor_place (cursor), cursor->rank,
                 one, other);
  return FALSE;
}

static gboolean
read_rank (GoalCursor *cursor, GError **error)
{
  const GoalState *state = cursor->state;
  uint32_t node, on;

  cursor->graph = state->text != NULL ? goal_text_read (state->text, cursor->rank, error)
                                      : goal_binary_read (state->binary, cursor->rank, error);
  if (cursor->graph == NULL)
    return FALSE;
  return goal_graph_sort (cursor->graph, &node, &on) || fail_circle (cursor, node, on, error);
}

static void
fill (const GoalCursor *cursor, uint32_t at, TraceOp *op)
{
  static const struct {
    TraceOpKind kind;
    const char *name;
  } known[] = {
    [GOAL_SEND] = { TRACE_OP_SEND, "MPI_Send" },
    [GOAL_RECV] = { TRACE_OP_RECV, "MPI_Recv" },
    [GOAL_CALC] = { TRACE_OP_COMPUTE, "compute" },
  };
  const GoalGraph *graph = cursor->graph;
  const GoalNode *node = &g_array_index (graph->nodes, GoalNode, graph->order[at]);
  uint64_t first = graph->first_after[at], middle = graph->first_after_start[at];

  *op = (TraceOp){ .kind = known[node->kind].kind,
                   .comm = TRACE_COMM_WORLD,
                   .root = TRACE_NO_ROOT,
                   .matched_source = node->kind == GOAL_RECV ? node->peer : TRACE_ANY_SOURCE,
                   .peer = node->peer,
                   .tag = node->tag,
                   .after = graph->after + first,
                   .n_after = (uint32_t) (middle - first),
                   .after_start = graph->after + middle,
                   .n_after_start = (uint32_t) (graph->first_after[at + 1] - middle),
                   .cpu = node->cpu,
                   .name = known[node->kind].name };
  if (node->kind == GOAL_CALC)
    op->gap_ps = (int64_t) node->size;
  else
    op->bytes = node->size;
}

static TraceNext
cursor_next (gpointer data, TraceOp *op, GError **error)
{
  GoalCursor *cursor = data;

  if (cursor->ended)
    return TRACE_NEXT_END;
  if (cursor->graph == NULL && !read_rank (cursor, error)) {
    g_clear_pointer (&cursor->graph, goal_graph_free);
    return TRACE_NEXT_ERROR;
  }
  if (cursor->next == cursor->graph->nodes->len) {
    cursor->ended = TRUE;
    g_clear_pointer (&cursor->graph, goal_graph_free);
    return TRACE_NEXT_END;
  }
  fill (cursor, cursor->next, op);
  cursor->at =
      g_array_index (cursor->graph->nodes, GoalNode, cursor->graph->order[cursor->next]).at;
  cursor->next++;
  return TRACE_NEXT_OPERATION;
}

const TraceFormat trace_format_goal = {
  .name = "goal",
  .summary = "GOAL of LogGOPSim: text or txt2bin's binary",
  .probe = probe,
  .open = open_trace,
  .close = close_state,
  .cursor_new = cursor_new,
  .cursor_free = cursor_free,
  .cursor_next = cursor_next,
  .cursor_place = cursor_place,
  .call_counts = trace_no_call_counts,
};
