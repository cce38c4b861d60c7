/* goal.c - the GOAL format of LogGOPSim: dependency graphs, binary files, streams.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/format.h"
#include "traces/goal/goal_private.h"
#include "traces/trace.h"
#include "traces/trace_file.h"

#include <stdlib.h>
#include <string.h>

/* --- Dependency graphs --- */

/* Numbers are little-endian and packed.  Offsets of ranks count from the
 * number of ranks.
 *
 *   u64 4223 | u32 ranks, u8 highest cpu, u8 highest nic
 *            | per rank u64 begin, u64 end
 *            | per rank u32 nodes, u32 roots, roots x u32, nodes x node, appendix
 *   node: u32 dependencies, u8 kind (1 send, 2 recv, 3 calc), u32 peer,
 *         u64 size, u32 tag, u8 cpu, u8 nic,
 *         u32 nodes that wait for its end, u32 the first in the appendix,
 *         u32 nodes that wait for its begin, u32 the first in the appendix
 *   appendix: u32 numbers of nodes
 *
 * LogGOPSim2 wrote the same head before nodes of 104 bytes: refused. */
#define GOAL_BINARY_MAGIC 4223u

GoalGraph *
goal_graph_new (void)
{
  GoalGraph *graph = g_new0 (GoalGraph, 1);

  graph->nodes = g_array_new (FALSE, FALSE, sizeof (GoalNode));
  graph->edges = g_array_new (FALSE, FALSE, sizeof (GoalEdge));
  return graph;
}

void
goal_graph_free (GoalGraph *graph)
{
  if (graph == NULL)
    return;
  g_array_unref (graph->nodes);
  g_array_unref (graph->edges);
  g_free (graph->order);
  g_free (graph->after);
  g_free (graph->first_after);
  g_free (graph->first_after_start);
  g_free (graph);
}

void
goal_graph_add_edge (GoalGraph *graph, uint32_t node, uint32_t on, gboolean on_start)
{
  GoalEdge edge = { node, on, on_start ? 1 : 0 };

  g_array_append_val (graph->edges, edge);
}

static const GoalEdge *
edge_at (const GoalGraph *graph, guint index)
{
  return &g_array_index (graph->edges, GoalEdge, index);
}

/* -- sorting ---------------------------------------------------------------- */

/* The nodes that wait for a node: list[first[node]] up to list[first[node + 1]]. */
typedef struct {
  uint64_t *first; /* [nodes + 1] */
  uint32_t *list;  /* [edges] */
  uint32_t *left;  /* [nodes] edges that a node still waits for */
  uint32_t *heap;  /* [nodes] nodes without an edge left, least number first */
  uint32_t n_heap;
} Sorter;

static void
heap_push (Sorter *sorter, uint32_t node)
{
  uint32_t at = sorter->n_heap++;

  for (; at > 0 && sorter->heap[(at - 1) / 2] > node; at = (at - 1) / 2)
    sorter->heap[at] = sorter->heap[(at - 1) / 2];
  sorter->heap[at] = node;
}

static uint32_t
heap_pop (Sorter *sorter)
{
  uint32_t least = sorter->heap[0], last = sorter->heap[--sorter->n_heap];
  uint32_t at = 0, child;

  while ((child = 2 * at + 1) < sorter->n_heap) {
    if (child + 1 < sorter->n_heap && sorter->heap[child + 1] < sorter->heap[child])
      child++;
    if (sorter->heap[child] >= last)
      break;
    sorter->heap[at] = sorter->heap[child];
    at = child;
  }
  sorter->heap[at] = last;
  return least;
}

/* Sorts the nodes topologically: of all nodes that may come next, the first in
 * the file comes next.  FALSE when nodes wait for each other in a circle: *node
 * waits for *on, which is also in it. */
static gboolean
sort_nodes (const GoalGraph *graph, uint32_t *order, uint32_t *node, uint32_t *on)
{
  uint32_t n_nodes = graph->nodes->len, n = 0;
  g_autofree uint64_t *first = g_new0 (uint64_t, n_nodes + 2);
  g_autofree uint32_t *list = g_new (uint32_t, graph->edges->len);
  g_autofree uint32_t *left = g_new0 (uint32_t, n_nodes);
  g_autofree uint32_t *heap = g_new (uint32_t, n_nodes);
  g_autofree uint32_t *next = NULL;
  Sorter sorter = { first, list, left, heap, 0 };
  uint32_t at = 0;

  /* first[] is one entry ahead while it counts and fills, and right at the end. */
  for (guint i = 0; i < graph->edges->len; i++)
    first[edge_at (graph, i)->on + 2]++;
  for (guint i = 0; i < n_nodes; i++)
    first[i + 2] += first[i + 1];
  for (guint i = 0; i < graph->edges->len; i++) {
    list[first[edge_at (graph, i)->on + 1]++] = edge_at (graph, i)->node;
    left[edge_at (graph, i)->node]++;
  }

  for (uint32_t i = 0; i < n_nodes; i++)
    if (left[i] == 0)
      heap_push (&sorter, i);
  while (sorter.n_heap > 0) {
    uint32_t least = heap_pop (&sorter);

    order[n++] = least;
    for (uint64_t i = first[least]; i < first[least + 1]; i++)
      if (--left[list[i]] == 0)
        heap_push (&sorter, list[i]);
  }
  if (n == n_nodes)
    return TRUE;

  /* A node that was not sorted waits for another such node, so that going from
   * one to the next ends in a circle. */
  next = g_new (uint32_t, n_nodes);
  for (guint i = graph->edges->len; i-- > 0;)
    if (left[edge_at (graph, i)->on] > 0)
      next[edge_at (graph, i)->node] = edge_at (graph, i)->on;
  while (left[at] == 0)
    at++;
  for (guint i = 0; i < n_nodes; i++)
    at = next[at];
  *node = at;
  *on = next[at];
  return FALSE;
}

static int
compare_places (gconstpointer a, gconstpointer b)
{
  uint32_t one = *(const uint32_t *) a, other = *(const uint32_t *) b;

  return (one > other) - (one < other);
}

/* Sorts the graph, and lists the places that each place waits for.  Called once,
 * with all nodes and edges there; FALSE as sort_nodes(). */
static gboolean
goal_graph_sort (GoalGraph *graph, uint32_t *node, uint32_t *on)
{
  uint32_t n_nodes = graph->nodes->len;
  g_autofree uint32_t *place = g_new (uint32_t, n_nodes);
  g_autofree uint64_t *next = NULL, *next_start = NULL;
  gboolean in_order = TRUE;
  uint64_t total = 0;

  graph->order = g_new (uint32_t, n_nodes);
  for (guint i = 0; i < graph->edges->len && in_order; i++)
    in_order = edge_at (graph, i)->on < edge_at (graph, i)->node;
  for (uint32_t at = 0; at < n_nodes && in_order; at++)
    graph->order[at] = at;
  if (!in_order && !sort_nodes (graph, graph->order, node, on))
    return FALSE;
  for (guint at = 0; at < n_nodes; at++)
    place[graph->order[at]] = at;

  /* Count the edges of each place, edges on starts after those on ends, so that
   * each run begins at the end of the one before. */
  graph->first_after = g_new0 (uint64_t, n_nodes + 1);
  graph->first_after_start = g_new0 (uint64_t, n_nodes);
  for (guint i = 0; i < graph->edges->len; i++) {
    const GoalEdge *edge = edge_at (graph, i);

    (edge->on_start ? graph->first_after_start : graph->first_after)[place[edge->node]]++;
  }
  for (guint at = 0; at < n_nodes; at++) {
    uint64_t ends = graph->first_after[at], starts = graph->first_after_start[at];

    graph->first_after[at] = total;
    graph->first_after_start[at] = total + ends;
    total += ends + starts;
  }
  graph->first_after[n_nodes] = total;

  /* Fill the runs, and sort each. */
  next = g_memdup2 (graph->first_after, n_nodes * sizeof *next);
  next_start = g_memdup2 (graph->first_after_start, n_nodes * sizeof *next_start);
  graph->after = g_new (uint32_t, (gsize) graph->edges->len + 1); /* never NULL */
  for (guint i = 0; i < graph->edges->len; i++) {
    const GoalEdge *edge = edge_at (graph, i);

    graph->after[(edge->on_start ? next_start : next)[place[edge->node]]++] = place[edge->on];
  }
  for (guint at = 0; at < n_nodes; at++) {
    uint64_t first = graph->first_after[at], middle = graph->first_after_start[at];
    uint64_t end = graph->first_after[at + 1];

    if (middle - first > 1)
      qsort (graph->after + first, middle - first, sizeof *graph->after, compare_places);
    if (end - middle > 1)
      qsort (graph->after + middle, end - middle, sizeof *graph->after, compare_places);
  }
  g_array_set_size (graph->edges, 0);
  return TRUE;
}

/* --- GOAL schedules in the binary form of LogGOPSim's txt2bin --- */

#define BASE           8u /* offsets count from here */
#define TABLE          (BASE + 6u)
#define TABLE_ENTRY    16u
#define COUNTS_BYTES   8u
#define NODE_BYTES     39u
#define OLD_NODE_BYTES 104u
#define INDEX_BYTES    4u
#define ANY            UINT32_MAX
#define PS_PER_NS      1000u

enum { KIND_SEND = 1, KIND_RECV, KIND_CALC };

typedef struct {
  char *name; /* without its folder, for messages */
  GBytes *bytes;
  const guint8 *data;
  gsize size;
  uint32_t n_ranks;
} GoalBinary;

/* The part of a rank; begin, end, nodes and appendix are offsets in the file. */
typedef struct {
  const GoalBinary *binary;
  uint32_t rank;
  uint64_t begin, end;
  uint32_t n_nodes, n_roots;
  uint64_t nodes, appendix;
  uint32_t n_appendix;
} Part;

static uint32_t
u32_at (const GoalBinary *binary, uint64_t at)
{
  uint32_t value;

  memcpy (&value, binary->data + at, sizeof value);
  return GUINT32_FROM_LE (value);
}

static uint64_t
u64_at (const GoalBinary *binary, uint64_t at)
{
  uint64_t value;

  memcpy (&value, binary->data + at, sizeof value);
  return GUINT64_FROM_LE (value);
}

static gboolean fail (const GoalBinary *binary, uint64_t at, TraceError code, GError **error,
                      const char *format, ...) G_GNUC_PRINTF (5, 6);

/* Sets an error at a place of the file.  Always FALSE. */
static gboolean
fail (const GoalBinary *binary, uint64_t at, TraceError code, GError **error, const char *format,
      ...)
{
  g_autofree char *message = NULL;
  va_list arguments;

  va_start (arguments, format);
  message = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  return TRACE_FAIL (code, error, "%s:0x%" G_GINT64_MODIFIER "x: %s", binary->name, at, message);
}

static gboolean
goal_binary_probe (const guint8 *head, gsize n)
{
  uint64_t magic;

  if (n < sizeof magic)
    return FALSE;
  memcpy (&magic, head, sizeof magic);
  return GUINT64_FROM_LE (magic) == GOAL_BINARY_MAGIC;
}

/* -- the parts of the ranks -------------------------------------------------- */

/* The lists fill the part exactly, with nodes of this size. */
static gboolean
fits (const Part *part, uint64_t node_bytes)
{
  uint64_t n = part->end - part->begin;
  uint64_t least =
      COUNTS_BYTES + (uint64_t) INDEX_BYTES * part->n_roots + node_bytes * part->n_nodes;

  return least <= n && (n - least) % INDEX_BYTES == 0 && (n - least) / INDEX_BYTES <= UINT32_MAX;
}

static gboolean
find_part (const GoalBinary *binary, uint32_t rank, Part *part, GError **error)
{
  uint64_t at = TABLE + (uint64_t) rank * TABLE_ENTRY;
  uint64_t begin = u64_at (binary, at), end = u64_at (binary, at + 8);
  uint64_t available = binary->size - BASE;

  if (begin > end || end > available || end - begin < COUNTS_BYTES ||
      begin < (uint64_t) TABLE - BASE + (uint64_t) binary->n_ranks * TABLE_ENTRY)
    return fail (binary, at, TRACE_ERROR_RANGE, error,
                 "rank %u is from 0x%" G_GINT64_MODIFIER "x to 0x%" G_GINT64_MODIFIER
                 "x, which is not in the file",
                 rank, begin, end);
  *part = (Part){ .binary = binary, .rank = rank, .begin = BASE + begin, .end = BASE + end };
  part->n_nodes = u32_at (binary, part->begin);
  part->n_roots = u32_at (binary, part->begin + 4);
  part->nodes = part->begin + COUNTS_BYTES + (uint64_t) INDEX_BYTES * part->n_roots;
  part->appendix = part->nodes + (uint64_t) NODE_BYTES * part->n_nodes;
  if (fits (part, NODE_BYTES)) {
    uint64_t n_waiting = 0;

    /* The lists of the nodes fill the appendix. */
    part->n_appendix = (uint32_t) ((part->end - part->appendix) / INDEX_BYTES);
    for (uint32_t node = 0; node < part->n_nodes; node++) {
      at = part->nodes + (uint64_t) node * NODE_BYTES;
      n_waiting += (uint64_t) u32_at (binary, at + 23) + u32_at (binary, at + 31);
    }
    if (n_waiting == part->n_appendix)
      return TRUE;
  }
  if (fits (part, OLD_NODE_BYTES))
    return fail (binary, part->begin, TRACE_ERROR_FORMAT, error,
                 "nodes of 104 bytes: the layout of LogGOPSim2, which cannot be read; convert the "
                 "text again with txt2bin");
  return fail (binary, part->begin, TRACE_ERROR_FORMAT, error,
               "%u nodes and %u roots do not fill the %" G_GUINT64_FORMAT " bytes of rank %u",
               part->n_nodes, part->n_roots, end - begin, rank);
}

static void
goal_binary_close (GoalBinary *binary)
{
  if (binary == NULL)
    return;
  g_bytes_unref (binary->bytes);
  g_free (binary->name);
  g_free (binary);
}

/* Checks the extents of all ranks. */
static GoalBinary *
goal_binary_open (const char *path, GError **error)
{
  GBytes *bytes = trace_file_load (path, error);
  GoalBinary *binary;
  gboolean good;
  Part part;

  if (bytes == NULL)
    return NULL;
  binary = g_new0 (GoalBinary, 1);
  binary->name = g_path_get_basename (path);
  binary->bytes = bytes;
  binary->data = g_bytes_get_data (bytes, &binary->size);
  good = binary->size >= TABLE ||
         fail (binary, binary->size, TRACE_ERROR_FORMAT, error, "the file ends in its head");
  if (good) {
    binary->n_ranks = u32_at (binary, BASE);
    good = (binary->n_ranks > 0 && (binary->size - TABLE) / TABLE_ENTRY >= binary->n_ranks) ||
           fail (binary, BASE, TRACE_ERROR_RANGE, error,
                 "%u ranks are impossible in a file of %" G_GSIZE_FORMAT " bytes", binary->n_ranks,
                 binary->size);
  }
  for (uint32_t rank = 0; rank < binary->n_ranks && good; rank++)
    good = find_part (binary, rank, &part, error);
  if (good)
    return binary;
  goal_binary_close (binary);
  return NULL;
}

/* -- nodes ------------------------------------------------------------------- */

static gboolean
read_node (const Part *part, uint64_t at, GoalNode *node, GError **error)
{
  const GoalBinary *binary = part->binary;
  guint8 kind = binary->data[at + 4];
  uint32_t peer = u32_at (binary, at + 5), tag = u32_at (binary, at + 17);
  gboolean receives = kind == KIND_RECV;

  *node = (GoalNode){ .size = u64_at (binary, at + 9), .at = at, .cpu = binary->data[at + 21] };
  if (kind == KIND_CALC) {
    node->kind = GOAL_CALC;
    if (node->size > INT64_MAX / PS_PER_NS)
      return fail (binary, at, TRACE_ERROR_RANGE, error,
                   "%" G_GUINT64_FORMAT " ns are more than can be counted", node->size);
    node->size *= PS_PER_NS;
    return TRUE;
  }
  if (kind != KIND_SEND && kind != KIND_RECV)
    return fail (binary, at + 4, TRACE_ERROR_FORMAT, error, "operation of unknown kind %u", kind);

  node->kind = receives ? GOAL_RECV : GOAL_SEND;
  if (peer >= binary->n_ranks && !(receives && peer == ANY))
    return fail (binary, at, TRACE_ERROR_RANGE, error, "rank %u among %u", peer, binary->n_ranks);
  if (tag > INT32_MAX && !(receives && tag == ANY))
    return fail (binary, at, TRACE_ERROR_RANGE, error, "tag %u is impossible", tag);
  if (node->size > TRACE_MAX_BYTES)
    return fail (binary, at, TRACE_ERROR_RANGE, error, "%" G_GUINT64_FORMAT " bytes are impossible",
                 node->size);
  node->peer = peer == ANY ? TRACE_ANY_SOURCE : (int32_t) peer;
  node->tag = tag == ANY ? TRACE_ANY_TAG : (int32_t) tag;
  return TRUE;
}

/* Adds the edges of the nodes that wait for `on`; the length of their list and
 * its first index stand at `list`. */
static gboolean
read_waiting (const Part *part, uint64_t list, uint32_t on, gboolean on_start, GoalGraph *graph,
              GError **error)
{
  uint32_t n = u32_at (part->binary, list), first = u32_at (part->binary, list + 4);

  if (n == 0)
    return TRUE;
  if (first > part->n_appendix || n > part->n_appendix - first)
    return fail (part->binary, list, TRACE_ERROR_RANGE, error,
                 "%u indices from number %u on, in an appendix of %u", n, first, part->n_appendix);
  for (uint32_t i = 0; i < n; i++) {
    uint64_t at = part->appendix + ((uint64_t) first + i) * INDEX_BYTES;
    uint32_t node = u32_at (part->binary, at);

    if (node >= part->n_nodes)
      return fail (part->binary, at, TRACE_ERROR_RANGE, error, "node %u among %u", node,
                   part->n_nodes);
    goal_graph_add_edge (graph, node, on, on_start);
  }
  return TRUE;
}

/* The unsorted graph of a rank.  May be called from any thread. */
static GoalGraph *
goal_binary_read (const GoalBinary *binary, uint32_t rank, GError **error)
{
  g_autoptr (GoalGraph) graph = goal_graph_new ();
  Part part;

  if (!find_part (binary, rank, &part, error))
    return NULL;
  for (uint32_t i = 0; i < part.n_nodes; i++) {
    uint64_t at = part.nodes + (uint64_t) i * NODE_BYTES;
    GoalNode node;

    if (!read_node (&part, at, &node, error) ||
        !read_waiting (&part, at + 23, i, FALSE, graph, error) ||
        !read_waiting (&part, at + 31, i, TRUE, graph, error))
      return NULL;
    g_array_append_val (graph->nodes, node);
  }
  return g_steal_pointer (&graph);
}

/* --- GOAL schedules: text, or the binary form of it; gzip or plain --- */

/* T. Hoefler, C. Siebert, A. Lumsdaine: Group Operation Assembly Language - a
 * flexible way to express collective communication (ICPP 2009); read by
 * LogGOPSim and ATLAHS.  The first operation of a cursor reads its rank, which
 * is freed with the cursor. */

typedef struct {
  Trace *trace;
  GoalText *text; /* or */
  GoalBinary *binary;
} GoalState;

typedef struct {
  const GoalState *state;
  uint32_t rank;
  GoalGraph *graph; /* NULL before the first and after the last operation */
  gboolean ended;
  uint32_t next;
  uint64_t at; /* offset of the last operation in the file */
  char *place;
} GoalCursor;

static gboolean
probe (const char *path, const guint8 *head, gsize n)
{
  (void) path;
  return goal_binary_probe (head, n) || goal_text_probe (head, n);
}

static void
close_state (gpointer data)
{
  GoalState *state = data;

  goal_text_close (state->text);
  goal_binary_close (state->binary);
  g_free (state);
}

static gpointer
open_trace (Trace *trace, const char *path, const TraceOptions *options, uint32_t *n_ranks,
            GPtrArray *files, GError **error)
{
  guint8 head[sizeof (uint64_t)];
  GoalState *state;
  gssize n;

  if (!trace_refuse_region (path, options, error) ||
      (n = trace_file_head (path, head, sizeof head, error)) < 0)
    return NULL;
  state = g_new0 (GoalState, 1);
  state->trace = trace;
  if (goal_binary_probe (head, (gsize) n))
    state->binary = goal_binary_open (path, error);
  else
    state->text = goal_text_open (path, error);
  if (state->binary == NULL && state->text == NULL) {
    close_state (state);
    return NULL;
  }
  trace_set_graph (trace);
  g_ptr_array_add (files, g_strdup (path));
  *n_ranks = state->binary != NULL ? state->binary->n_ranks : goal_text_ranks (state->text);
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

static const char *
cursor_place (gpointer data)
{
  GoalCursor *cursor = data;
  const GoalState *state = cursor->state;
  g_autofree char *name = g_path_get_basename (trace_path (state->trace));

  g_free (cursor->place);
  if (state->binary != NULL)
    cursor->place = g_strdup_printf ("%s:0x%" G_GINT64_MODIFIER "x", name, cursor->at);
  else
    cursor->place = g_strdup_printf (
        "%s:%" G_GUINT64_FORMAT, name,
        cursor->at == 0 ? 1 : goal_text_line (state->text, cursor->rank, cursor->at));
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
read_rank (GoalCursor *cursor, GError **error)
{
  const GoalState *state = cursor->state;
  g_autofree char *one = NULL, *other = NULL;
  uint32_t node = 0, on = 0;

  cursor->graph = state->text != NULL ? goal_text_read (state->text, cursor->rank, error)
                                      : goal_binary_read (state->binary, cursor->rank, error);
  if (cursor->graph == NULL)
    return FALSE;
  if (goal_graph_sort (cursor->graph, &node, &on))
    return TRUE;
  one = describe_node (cursor, node);
  other = describe_node (cursor, on);
  cursor->at = g_array_index (cursor->graph->nodes, GoalNode, node).at;
  if (node == on)
    return TRACE_FAIL (TRACE_ERROR_FORMAT, error, "%s: rank %u: %s waits for itself",
                       cursor_place (cursor), cursor->rank, one);
  return TRACE_FAIL (TRACE_ERROR_FORMAT, error, "%s: rank %u: %s and %s wait for each other",
                     cursor_place (cursor), cursor->rank, one, other);
}

static TraceNext
cursor_next (gpointer data, TraceOp *op, GError **error)
{
  static const struct {
    TraceOpKind kind;
    const char *name;
  } known[] = {
    [GOAL_SEND] = { TRACE_OP_SEND, "MPI_Send" },
    [GOAL_RECV] = { TRACE_OP_RECV, "MPI_Recv" },
    [GOAL_CALC] = { TRACE_OP_COMPUTE, "compute" },
  };
  GoalCursor *cursor = data;
  uint32_t place = cursor->next;
  uint64_t first, middle;
  const GoalGraph *graph;
  const GoalNode *node;

  if (cursor->ended)
    return TRACE_NEXT_END;
  if (cursor->graph == NULL && !read_rank (cursor, error)) {
    g_clear_pointer (&cursor->graph, goal_graph_free);
    return TRACE_NEXT_ERROR;
  }
  if (place == cursor->graph->nodes->len) {
    cursor->ended = TRUE;
    g_clear_pointer (&cursor->graph, goal_graph_free);
    return TRACE_NEXT_END;
  }

  graph = cursor->graph;
  node = &g_array_index (graph->nodes, GoalNode, graph->order[place]);
  first = graph->first_after[place];
  middle = graph->first_after_start[place];
  *op = (TraceOp){ .kind = known[node->kind].kind,
                   .comm = TRACE_COMM_WORLD,
                   .root = TRACE_NO_ROOT,
                   .matched_source = node->kind == GOAL_RECV ? node->peer : TRACE_ANY_SOURCE,
                   .peer = node->peer,
                   .tag = node->tag,
                   .after = graph->after + first,
                   .n_after = (uint32_t) (middle - first),
                   .after_start = graph->after + middle,
                   .n_after_start = (uint32_t) (graph->first_after[place + 1] - middle),
                   .cpu = node->cpu,
                   .name = known[node->kind].name };
  if (node->kind == GOAL_CALC)
    op->gap_ps = (int64_t) node->size;
  else
    op->bytes = node->size;
  cursor->at = node->at;
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
};
