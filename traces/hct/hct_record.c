/* hct_record.c - one operation as bytes, in the native format: written.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/hct/hct_mask.h"

/* The most that a record without arrays takes. */
#define PLAIN_BYTES (32 * HCT_VARINT_BYTES)

static inline bool
is_rank (int32_t peer, const HctPlace *place)
{
  return peer >= 0 && (uint32_t) peer < place->n_ranks;
}

static bool
all_ranks (const int32_t *values, uint32_t n, const HctPlace *place)
{
  for (uint32_t i = 0; i < n; i++)
    if (!is_rank (values[i], place))
      return false;
  return true;
}

unsigned
hct_record_forms (const TraceOp *op, const HctPlace *place)
{
  unsigned used = hct_uses[op->kind], forms = 0;

  if (((used & USES_PEER) != 0 && is_rank (op->peer, place)) ||
      ((used & USES_RECV_PEER) != 0 && is_rank (op->recv_peer, place)) ||
      ((used & USES_VALUES) != 0 && (trace_op_n_values (op) > 0 || trace_op_n_values2 (op) > 0)))
    forms |= HCT_RELATIVE_PEERS;
  if (op->request != 0 || op->n_requests > 0)
    forms |= HCT_RELATIVE_REQUESTS;
  return forms;
}

/* The bits of values that are not 0. */
static inline uint32_t
mask_of (const TraceOp *op)
{
#define BIT(condition, bit) ((uint32_t) (condition) * (uint32_t) (bit))
  return BIT (op->comm != 0, HAS_COMM) | BIT (op->peer != 0, HAS_PEER) |
         BIT (op->tag != 0, HAS_TAG) | BIT (op->bytes != 0, HAS_BYTES) |
         BIT (op->request != 0, HAS_REQUEST) | BIT (op->n_requests != 0, HAS_REQUESTS) |
         BIT (op->root == TRACE_NO_ROOT, ROOT_NONE) |
         BIT (op->site != NULL && *op->site != '\0', HAS_SITE) | BIT (op->mode != 0, HAS_MODE) |
         BIT (op->recv_bytes != 0, HAS_RECV_BYTES) | BIT (op->recv_peer != 0, HAS_RECV_PEER) |
         BIT (op->recv_tag != 0, HAS_RECV_TAG) |
         BIT (op->root != 0 && op->root != TRACE_NO_ROOT, HAS_ROOT) |
         BIT (op->nonblocking, NONBLOCKING) | BIT (op->n_counts != 0, HAS_COUNTS) |
         BIT (op->n_recv_counts != 0, HAS_RECV_COUNTS) |
         BIT (trace_op_n_values (op) != 0 && op->values != NULL, HAS_VALUES) |
         BIT (trace_op_n_values2 (op) != 0 && op->values2 != NULL, HAS_VALUES2) |
         BIT (op->window != 0, HAS_WINDOW) | BIT (op->new_comm != 0, HAS_NEW_COMM) |
         BIT (op->group != 0, HAS_GROUP) | BIT (op->group2 != 0, HAS_GROUP2) |
         BIT (op->new_group != 0, HAS_NEW_GROUP) | BIT (op->n_after != 0, HAS_AFTER) |
         BIT (op->n_after_start != 0, HAS_AFTER_START) | BIT (op->cpu != 0, HAS_CPU);
#undef BIT
}

/* matched_source when it says nothing that the record does not. */
static inline uint32_t
matched_bits (const TraceOp *op)
{
  if (op->matched_source == TRACE_ANY_SOURCE)
    return MATCHED_ANY;
  return op->matched_source != 0 && op->matched_source == op->peer ? MATCHED_PEER : 0;
}

/* Around the ring of ranks, the short way. */
static inline int64_t
distance (int32_t peer, const HctPlace *place)
{
  int64_t n = place->n_ranks, away = (int64_t) peer - (int64_t) place->rank;

  if (away > n / 2)
    return away - n;
  return away < -((n - 1) / 2) ? away + n : away;
}

/* Relative peers are even, others odd. */
static inline void
put_peer (HctBuffer *out, int32_t peer, const HctPlace *place, bool relative)
{
  if (!relative)
    hct_put_signed (out, peer);
  else if (is_rank (peer, place))
    hct_put_varint (out, hct_fold_sign (distance (peer, place)) << 1);
  else
    hct_put_varint (out, (hct_fold_sign (peer) << 1) | 1);
}

static void
put_u32s (HctBuffer *out, const uint32_t *values, uint32_t n, uint32_t before)
{
  hct_buffer_reserve (out, ((gsize) n + 1) * HCT_VARINT_BYTES);
  hct_put_varint (out, n);
  for (uint32_t i = 0; i < n; before = values[i++])
    hct_put_signed (out, (int32_t) (values[i] - before));
}

static void
put_u64s (HctBuffer *out, const uint64_t *values, uint32_t n)
{
  uint64_t before = 0;

  hct_buffer_reserve (out, ((gsize) n + 1) * HCT_VARINT_BYTES);
  hct_put_varint (out, n);
  for (uint32_t i = 0; i < n; before = values[i++])
    hct_put_signed (out, (int64_t) (values[i] - before));
}

static void
put_values (HctBuffer *out, const int32_t *values, uint32_t n, const HctPlace *place,
            bool may_be_relative)
{
  bool relative = may_be_relative && all_ranks (values, n, place);
  int64_t before = 0;

  hct_buffer_reserve (out, ((gsize) n + 1) * HCT_VARINT_BYTES);
  hct_put_varint (out, (uint64_t) n << 1 | relative);
  for (uint32_t i = 0; i < n; i++) {
    int64_t value = relative ? distance (values[i], place) : values[i];

    hct_put_signed (out, value - before);
    before = value;
  }
}

/* How far back each lies. */
static void
put_after (HctBuffer *out, const uint32_t *after, uint32_t n, const HctPlace *place)
{
  hct_buffer_reserve (out, ((gsize) n + 1) * HCT_VARINT_BYTES);
  hct_put_varint (out, n);
  for (uint32_t i = 0; i < n; i++)
    hct_put_varint (out, place->index - after[i]);
}

static void
put_rare (HctBuffer *out, const TraceOp *op, const HctPlace *place, uint32_t mask)
{
  if ((mask & HAS_MODE) != 0)
    hct_put_varint (out, op->mode);
  if ((mask & HAS_RECV_BYTES) != 0)
    hct_put_varint (out, op->recv_bytes);
  if ((mask & HAS_RECV_PEER) != 0)
    put_peer (out, op->recv_peer, place,
              (mask & RELATIVE_PEERS) != 0 && (hct_uses[op->kind] & USES_RECV_PEER) != 0);
  if ((mask & HAS_RECV_TAG) != 0)
    hct_put_signed (out, op->recv_tag);
  if ((mask & HAS_ROOT) != 0)
    hct_put_signed (out, op->root);
  if ((mask & HAS_WINDOW) != 0)
    hct_put_varint (out, op->window);
  if ((mask & HAS_NEW_COMM) != 0)
    hct_put_varint (out, op->new_comm);
  if ((mask & HAS_GROUP) != 0)
    hct_put_varint (out, op->group);
  if ((mask & HAS_GROUP2) != 0)
    hct_put_varint (out, op->group2);
  if ((mask & HAS_NEW_GROUP) != 0)
    hct_put_varint (out, op->new_group);
  if ((mask & HAS_CPU) != 0)
    hct_put_varint (out, op->cpu);
}

static void
put_arrays (HctBuffer *out, const TraceOp *op, const HctPlace *place, uint32_t mask)
{
  bool relative = (mask & RELATIVE_PEERS) != 0 && (hct_uses[op->kind] & USES_VALUES) != 0;

  if ((mask & HAS_REQUESTS) != 0)
    put_u32s (out, op->requests, op->n_requests,
              (mask & RELATIVE_REQUESTS) != 0 ? place->last_request : 0);
  if ((mask & HAS_COUNTS) != 0)
    put_u64s (out, op->counts, op->n_counts);
  if ((mask & HAS_RECV_COUNTS) != 0)
    put_u64s (out, op->recv_counts, op->n_recv_counts);
  if ((mask & HAS_VALUES) != 0)
    put_values (out, op->values, trace_op_n_values (op), place, relative);
  if ((mask & HAS_VALUES2) != 0)
    put_values (out, op->values2, trace_op_n_values2 (op), place, relative);
  if ((mask & HAS_AFTER) != 0)
    put_after (out, op->after, op->n_after, place);
  if ((mask & HAS_AFTER_START) != 0)
    put_after (out, op->after_start, op->n_after_start, place);
}

void
hct_record_put (HctBuffer *out, HctNames *names, const TraceOp *op, const HctPlace *place,
                unsigned form)
{
  uint32_t mask = mask_of (op) | matched_bits (op);
  unsigned used = hct_uses[op->kind];

  if ((form & HCT_RELATIVE_PEERS) != 0)
    mask |= RELATIVE_PEERS | ((used & USES_PEER) != 0 ? HAS_PEER : 0u) |
            ((used & USES_RECV_PEER) != 0 ? HAS_RECV_PEER : 0u);
  if ((form & HCT_RELATIVE_REQUESTS) != 0)
    mask |= RELATIVE_REQUESTS;

  hct_buffer_reserve (out, PLAIN_BYTES);
  hct_put_varint (out, hct_names_call (names, op->kind, op->name));
  hct_put_varint (out, mask);
  if ((mask & HAS_COMM) != 0)
    hct_put_varint (out, op->comm);
  if ((mask & HAS_PEER) != 0)
    put_peer (out, op->peer, place, (mask & RELATIVE_PEERS) != 0 && (used & USES_PEER) != 0);
  if ((mask & HAS_TAG) != 0)
    hct_put_signed (out, op->tag);
  if ((mask & HAS_BYTES) != 0)
    hct_put_varint (out, op->bytes);
  if ((mask & HAS_REQUEST) != 0)
    hct_put_signed (
        out,
        (int32_t) (op->request - ((form & HCT_RELATIVE_REQUESTS) != 0 ? place->last_request : 0)));
  if ((mask & HAS_SITE) != 0)
    hct_put_varint (out, hct_names_site (names, op->site));
  if ((mask & RARE) != 0)
    put_rare (out, op, place, mask);
  if ((mask & ARRAYS) != 0)
    put_arrays (out, op, place, mask);
}
