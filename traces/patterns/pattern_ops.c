/* pattern_ops.c - operations kept until they are asked for, packed.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A TraceOp has 280 bytes, of which a send sets seven words.  The first byte of a packed
 * operation says how the rest is written:
 *
 *   SEND ... IRECV  a message of MPI_COMM_WORLD by its usual call: peer + 1, tag + 1, bytes,
 *                   request
 *   WAIT            for requests that follow each other: the first, how many
 *   OTHER           a bit per word of the operation, then the words that differ from those of
 *                   a blank one
 *
 * Numbers of the first two take a byte per seven bits, the lowest first, so that a message to a
 * neighbour has nine bytes in all. */
#include "traces/patterns/pattern_ops.h"

#include <string.h>

#define OP_WORDS (sizeof (TraceOp) / sizeof (guint32))
#define OP_MASKS ((OP_WORDS + 31) / 32)

G_STATIC_ASSERT (sizeof (TraceOp) % sizeof (guint32) == 0);

/* Longest packed forms. */
#define NUMBER_BYTES  10
#define MESSAGE_BYTES (1 + 4 * NUMBER_BYTES)
#define OTHER_BYTES   (1 + (OP_MASKS + OP_WORDS) * sizeof (guint32))

/* Bytes; a sealed list has no more than it needs. */
#define FIRST_CAPACITY 256u

typedef enum { SEND, RECV, ISEND, IRECV, WAIT, OTHER } Form;

static const struct {
  TraceOpKind kind;
  const char *name;
} messages[] = {
  [SEND] = { TRACE_OP_SEND, "MPI_Send" },
  [RECV] = { TRACE_OP_RECV, "MPI_Recv" },
  [ISEND] = { TRACE_OP_ISEND, "MPI_Isend" },
  [IRECV] = { TRACE_OP_IRECV, "MPI_Irecv" },
};

struct PatternOps {
  guint8 *bytes; /* packed operations */
  guint n_bytes, capacity;
  GPtrArray *arrays; /* arrays of the operations; NULL until there is one */
  TraceOp *op;       /* room for one that is being filled; NULL once sealed */
  gboolean is_open;  /* `op` is the last one, not packed yet */
};

/* Most lists of requests are a part of this one, 0, 1, 2 ..., which all share. */
#define CONSECUTIVE 1024u

static const guint32 *
consecutive_numbers (void)
{
  static guint32 numbers[CONSECUTIVE];
  static gsize ready;

  if (g_once_init_enter (&ready)) {
    for (guint32 number = 0; number < CONSECUTIVE; number++)
      numbers[number] = number;
    g_once_init_leave (&ready, 1);
  }
  return numbers;
}

PatternOps *
pattern_ops_new (void)
{
  return g_new0 (PatternOps, 1);
}

void
pattern_ops_clear (PatternOps *ops)
{
  g_clear_pointer (&ops->op, g_free);
  g_clear_pointer (&ops->arrays, g_ptr_array_unref);
  ops->is_open = FALSE;
  ops->n_bytes = 0;
}

void
pattern_ops_free (PatternOps *ops)
{
  if (ops == NULL)
    return;
  pattern_ops_clear (ops);
  g_free (ops->bytes);
  g_free (ops);
}

/* --- Packing --- */

static void
append (PatternOps *ops, const guint8 *packed, guint n)
{
  if (ops->capacity - ops->n_bytes < n) {
    ops->capacity = MAX (MAX (FIRST_CAPACITY, 2 * ops->capacity), ops->n_bytes + n);
    ops->bytes = g_renew (guint8, ops->bytes, ops->capacity);
  }
  memcpy (ops->bytes + ops->n_bytes, packed, n);
  ops->n_bytes += n;
}

static void
pack_last (PatternOps *ops)
{
  TraceOp blank;
  guint32 words[OP_WORDS], plain[OP_WORDS], masks[OP_MASKS] = { 0 };
  guint8 packed[OTHER_BYTES], *to = packed + 1 + sizeof masks;

  if (!ops->is_open)
    return;
  ops->is_open = FALSE;
  memcpy (words, ops->op, sizeof words);
  trace_op_init (&blank, TRACE_OP_COMPUTE, NULL);
  memcpy (plain, &blank, sizeof plain);
  for (guint word = 0; word < OP_WORDS; word++)
    if (words[word] != plain[word]) {
      masks[word / 32] |= 1u << word % 32;
      memcpy (to, &words[word], sizeof words[word]);
      to += sizeof words[word];
    }
  packed[0] = OTHER;
  memcpy (packed + 1, masks, sizeof masks);
  append (ops, packed, (guint) (to - packed));
}

static guint8 *
write_number (guint8 *to, guint64 number)
{
  for (; number >= 0x80; number >>= 7)
    *to++ = (guint8) (number | 0x80);
  *to++ = (guint8) number;
  return to;
}

void
pattern_ops_seal (PatternOps *ops)
{
  pack_last (ops);
  g_clear_pointer (&ops->op, g_free);
  if (ops->capacity == ops->n_bytes)
    return;
  ops->capacity = ops->n_bytes;
  ops->bytes = g_renew (guint8, ops->bytes, ops->capacity);
}

/* --- Reading --- */

static const guint8 *
read_number (const guint8 *from, guint64 *number)
{
  guint shift = 0;

  for (*number = 0; *from >= 0x80; shift += 7)
    *number |= (guint64) (*from++ & 0x7f) << shift;
  *number |= (guint64) *from++ << shift;
  return from;
}

static const guint8 *
read_other (const guint8 *from, TraceOp *op)
{
  guint32 masks[OP_MASKS];

  memcpy (masks, from, sizeof masks);
  from += sizeof masks;
  for (guint mask = 0; mask < OP_MASKS; mask++)
    for (guint32 left = masks[mask]; left != 0; left &= left - 1) {
      guint word = 32 * mask + (guint) __builtin_ctz (left);

      memcpy ((guint8 *) op + word * sizeof left, from, sizeof left);
      from += sizeof left;
    }
  return from;
}

gboolean
pattern_ops_read (const PatternOps *ops, guint *at, TraceOp *op)
{
  const guint8 *from = ops->bytes + *at;
  guint64 peer, tag, request, n;
  Form form;

  g_assert (ops->op == NULL);
  if (*at == ops->n_bytes)
    return FALSE;
  trace_op_init (op, TRACE_OP_COMPUTE, NULL);
  form = *from++;
  switch (form) {
  case SEND:
  case RECV:
  case ISEND:
  case IRECV:
    op->kind = messages[form].kind;
    op->name = messages[form].name;
    from = read_number (from, &peer);
    from = read_number (from, &tag);
    from = read_number (from, &op->bytes);
    from = read_number (from, &request);
    op->peer = (int32_t) (peer - 1);
    op->tag = (int32_t) (tag - 1);
    op->request = (uint32_t) request;
    break;
  case WAIT:
    from = read_number (from, &request);
    from = read_number (from, &n);
    op->kind = TRACE_OP_WAIT;
    op->name = n == 1 ? "MPI_Wait" : "MPI_Waitall";
    op->requests = consecutive_numbers () + request;
    op->n_requests = (uint32_t) n;
    break;
  case OTHER: from = read_other (from, op); break;
  }
  *at = (guint) (from - ops->bytes);
  return TRUE;
}

gboolean
pattern_ops_is_over (const PatternOps *ops, guint at)
{
  return at == ops->n_bytes && ops->arrays == NULL;
}

/* --- Filling --- */

TraceOp *
pattern_ops_add (PatternOps *ops, TraceOpKind kind, const char *name)
{
  pack_last (ops);
  if (ops->op == NULL)
    ops->op = g_new (TraceOp, 1);
  ops->is_open = TRUE;
  trace_op_init (ops->op, kind, name);
  return ops->op;
}

void
pattern_ops_compute (PatternOps *ops, int64_t gap_ps)
{
  if (gap_ps > 0)
    pattern_ops_add (ops, TRACE_OP_COMPUTE, "compute")->gap_ps = gap_ps;
}

/* Neither a peer nor a tag is below -1, a wildcard. */
static void
add_message (PatternOps *ops, Form form, int32_t peer, int32_t tag, uint64_t bytes,
             uint32_t request)
{
  guint8 packed[MESSAGE_BYTES] = { (guint8) form }, *to = packed + 1;

  g_assert (peer >= -1 && tag >= -1);
  pack_last (ops);
  to = write_number (to, (guint64) peer + 1);
  to = write_number (to, (guint64) tag + 1);
  to = write_number (to, bytes);
  to = write_number (to, request);
  append (ops, packed, (guint) (to - packed));
}

void
pattern_ops_send (PatternOps *ops, int32_t peer, int32_t tag, uint64_t bytes)
{
  if (peer >= 0)
    add_message (ops, SEND, peer, tag, bytes, 0);
}

void
pattern_ops_recv (PatternOps *ops, int32_t peer, int32_t tag, uint64_t bytes)
{
  if (peer >= 0 || peer == TRACE_ANY_SOURCE)
    add_message (ops, RECV, peer, tag, bytes, 0);
}

void
pattern_ops_isend (PatternOps *ops, int32_t peer, int32_t tag, uint64_t bytes, uint32_t request)
{
  if (peer >= 0)
    add_message (ops, ISEND, peer, tag, bytes, request);
}

void
pattern_ops_irecv (PatternOps *ops, int32_t peer, int32_t tag, uint64_t bytes, uint32_t request)
{
  if (peer >= 0 || peer == TRACE_ANY_SOURCE)
    add_message (ops, IRECV, peer, tag, bytes, request);
}

static gpointer
add_array (PatternOps *ops, gsize n, gsize element_bytes)
{
  gpointer array = g_malloc0_n (MAX (n, 1), element_bytes);

  g_assert (ops->is_open);
  if (ops->arrays == NULL)
    ops->arrays = g_ptr_array_new_full (1, g_free);
  g_ptr_array_add (ops->arrays, array);
  return array;
}

void
pattern_ops_wait (PatternOps *ops, uint32_t first, uint32_t n)
{
  guint8 packed[1 + 2 * NUMBER_BYTES] = { WAIT };
  uint32_t *requests;

  if (n == 0)
    return;
  if (first < CONSECUTIVE && n <= CONSECUTIVE - first) {
    pack_last (ops);
    append (ops, packed, (guint) (write_number (write_number (packed + 1, first), n) - packed));
    return;
  }
  pattern_ops_add (ops, TRACE_OP_WAIT, n == 1 ? "MPI_Wait" : "MPI_Waitall");
  requests = add_array (ops, n, sizeof *requests);
  for (uint32_t i = 0; i < n; i++)
    requests[i] = first + i;
  ops->op->requests = requests;
  ops->op->n_requests = n;
}

void
pattern_ops_alltoall (PatternOps *ops, uint32_t comm, uint64_t bytes)
{
  TraceOp *op = pattern_ops_add (ops, TRACE_OP_ALLTOALL, "MPI_Alltoall");

  op->comm = comm;
  op->bytes = bytes;
  op->recv_bytes = bytes;
}

void
pattern_ops_split (PatternOps *ops, uint32_t comm, int32_t color, int32_t key, uint32_t new_comm)
{
  TraceOp *op = pattern_ops_add (ops, TRACE_OP_COMM_SPLIT, "MPI_Comm_split");

  op->comm = comm;
  op->color = color;
  op->key = key;
  op->new_comm = new_comm;
}

uint64_t *
pattern_ops_counts (PatternOps *ops, uint32_t n)
{
  uint64_t *counts = add_array (ops, n, sizeof *counts);

  ops->op->counts = counts;
  ops->op->n_counts = n;
  return counts;
}

uint64_t *
pattern_ops_recv_counts (PatternOps *ops, uint32_t n)
{
  uint64_t *counts = add_array (ops, n, sizeof *counts);

  ops->op->recv_counts = counts;
  ops->op->n_recv_counts = n;
  return counts;
}
