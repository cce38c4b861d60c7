/* goal_binary.c - GOAL schedules in the binary form of LogGOPSim's txt2bin.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/goal/goal_binary.h"

#include "traces/trace_file.h"
#include "traces/trace.h"

#include <string.h>

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

struct GoalBinary {
  char *name; /* without its folder, for messages */
  GBytes *bytes;
  const guint8 *data;
  gsize size;
  uint32_t n_ranks;
};

/* The part of a rank; what is not bytes is places in the file. */
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
  g_set_error (error, TRACE_ERROR, (gint) code, "%s:0x%" G_GINT64_MODIFIER "x: %s", binary->name,
               at, message);
  return FALSE;
}

gboolean
goal_binary_probe (const guint8 *head, gsize n)
{
  uint64_t magic;

  if (n < sizeof magic)
    return FALSE;
  memcpy (&magic, head, sizeof magic);
  return GUINT64_FROM_LE (magic) == GOAL_BINARY_MAGIC;
}

/* -- the parts of the ranks -------------------------------------------------- */

/* The lengths of lists fit what is there, with nodes of so many bytes. */
static gboolean
fits (const Part *part, uint64_t node_bytes)
{
  uint64_t n = part->end - part->begin;
  uint64_t least =
      COUNTS_BYTES + (uint64_t) INDEX_BYTES * part->n_roots + node_bytes * part->n_nodes;

  return least <= n && (n - least) % INDEX_BYTES == 0 && (n - least) / INDEX_BYTES <= UINT32_MAX;
}

/* What the first indices of the nodes add up to, with nodes as they are now. */
static gboolean
lists_fill_appendix (const Part *part)
{
  uint64_t n = 0;

  for (uint32_t node = 0; node < part->n_nodes; node++) {
    uint64_t at = part->nodes + (uint64_t) node * NODE_BYTES;

    n += (uint64_t) u32_at (part->binary, at + 23) + u32_at (part->binary, at + 31);
  }
  return n == part->n_appendix;
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
    part->n_appendix = (uint32_t) ((part->end - part->appendix) / INDEX_BYTES);
    if (lists_fill_appendix (part))
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

static gboolean
check (GoalBinary *binary, GError **error)
{
  Part part;

  if (binary->size < TABLE)
    return fail (binary, binary->size, TRACE_ERROR_FORMAT, error, "the file ends in its head");
  binary->n_ranks = u32_at (binary, BASE);
  if (binary->n_ranks == 0 || (binary->size - TABLE) / TABLE_ENTRY < binary->n_ranks)
    return fail (binary, BASE, TRACE_ERROR_RANGE, error,
                 "%u ranks are impossible in a file of %" G_GSIZE_FORMAT " bytes", binary->n_ranks,
                 binary->size);
  for (uint32_t rank = 0; rank < binary->n_ranks; rank++)
    if (!find_part (binary, rank, &part, error))
      return FALSE;
  return TRUE;
}

GoalBinary *
goal_binary_open (const char *path, GError **error)
{
  GBytes *bytes = trace_file_load (path, error);
  GoalBinary *binary;

  if (bytes == NULL)
    return NULL;
  binary = g_new0 (GoalBinary, 1);
  binary->name = g_path_get_basename (path);
  binary->bytes = bytes;
  binary->data = g_bytes_get_data (bytes, &binary->size);
  if (!check (binary, error)) {
    goal_binary_close (binary);
    return NULL;
  }
  return binary;
}

void
goal_binary_close (GoalBinary *binary)
{
  if (binary == NULL)
    return;
  g_bytes_unref (binary->bytes);
  g_free (binary->name);
  g_free (binary);
}

uint32_t
goal_binary_ranks (const GoalBinary *binary)
{
  return binary->n_ranks;
}

/* -- nodes ------------------------------------------------------------------- */

static gboolean
read_message (const Part *part, uint64_t at, GoalNode *node, GError **error)
{
  const GoalBinary *binary = part->binary;
  uint32_t peer = u32_at (binary, at + 5), tag = u32_at (binary, at + 17);
  gboolean receives = node->kind == GOAL_RECV;

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

static gboolean
read_calc (const Part *part, uint64_t at, GoalNode *node, GError **error)
{
  if (node->size > INT64_MAX / PS_PER_NS)
    return fail (part->binary, at, TRACE_ERROR_RANGE, error,
                 "%" G_GUINT64_FORMAT " ns are more than can be counted", node->size);
  node->size *= PS_PER_NS;
  return TRUE;
}

static gboolean
read_node (const Part *part, uint64_t at, GoalNode *node, GError **error)
{
  guint8 kind = part->binary->data[at + 4];

  *node = (GoalNode){ .size = u64_at (part->binary, at + 9),
                      .at = at,
                      .cpu = part->binary->data[at + 21] };
  switch (kind) {
  case KIND_SEND: node->kind = GOAL_SEND; return read_message (part, at, node, error);
  case KIND_RECV: node->kind = GOAL_RECV; return read_message (part, at, node, error);
  case KIND_CALC: node->kind = GOAL_CALC; return read_calc (part, at, node, error);
  default:
    return fail (part->binary, at + 4, TRACE_ERROR_FORMAT, error, "operation of unknown kind %u",
                 kind);
  }
}

/* Those that wait for a node: a length and a first index stand at `list`. */
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

GoalGraph *
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
