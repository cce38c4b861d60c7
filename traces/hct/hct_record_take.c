/* hct_record_take.c - one operation as bytes, in the native format: read.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/hct/hct_check.h"
#include "traces/hct/hct_mask.h"

static int32_t
take_i32 (HctReader *in)
{
  int64_t value = hct_take_signed (in);

  in->bad |= value < INT32_MIN || value > INT32_MAX;
  return (int32_t) value;
}

static inline uint32_t
take_u32 (HctReader *in)
{
  return (uint32_t) hct_take_limited (in, UINT32_MAX);
}

static int32_t
take_peer (HctReader *in, bool may_be_relative, unsigned patch, unsigned *patches)
{
  uint64_t folded = hct_take_varint (in);
  int64_t value;

  if (may_be_relative) {
    if ((folded & 1) == 0)
      *patches |= patch;
    folded >>= 1;
  }
  value = hct_unfold_sign (folded);
  in->bad |= value < INT32_MIN || value > INT32_MAX;
  return (int32_t) value;
}

static uint32_t *
take_u32s (HctReader *in, uint32_t *n, HctScratch *scratch)
{
  uint32_t *values, before = 0;

  *n = hct_take_count (in);
  values = hct_scratch_take (scratch, *n * sizeof *values);
  for (uint32_t i = 0; i < *n; i++)
    before = values[i] = before + (uint32_t) take_i32 (in);
  return values;
}

static uint64_t *
take_u64s (HctReader *in, uint32_t *n, HctScratch *scratch)
{
  uint64_t *values, before = 0;

  *n = hct_take_count (in);
  values = hct_scratch_take (scratch, *n * sizeof *values);
  for (uint32_t i = 0; i < *n; i++)
    before = values[i] = before + (uint64_t) hct_take_signed (in);
  return values;
}

static int32_t *
take_values (HctReader *in, uint32_t *n, bool *relative, HctScratch *scratch)
{
  uint64_t head = hct_take_limited (in, 2 * (uint64_t) (in->end - in->at) + 1);
  int64_t before = 0;
  int32_t *values;

  *n = (uint32_t) MIN (head >> 1, (uint64_t) (in->end - in->at));
  in->bad |= *n != head >> 1;
  *relative = (head & 1) != 0;
  values = hct_scratch_take (scratch, *n * sizeof *values);
  for (uint32_t i = 0; i < *n; i++) {
    before = (int64_t) ((uint64_t) before + (uint64_t) hct_take_signed (in));
    in->bad |= before < INT32_MIN || before > INT32_MAX;
    values[i] = (int32_t) before;
  }
  return values;
}

static uint32_t *
take_after (HctReader *in, uint32_t *n, HctScratch *scratch)
{
  uint32_t *values;

  *n = hct_take_count (in);
  values = hct_scratch_take (scratch, *n * sizeof *values);
  for (uint32_t i = 0; i < *n; i++)
    values[i] = take_u32 (in);
  return values;
}

static void
take_rare (HctReader *in, TraceOp *op, uint32_t mask, unsigned *patches)
{
  if ((mask & HAS_MODE) != 0)
    op->mode = (TraceSendMode) hct_take_limited (in, TRACE_SEND_READY);
  if ((mask & HAS_RECV_BYTES) != 0)
    op->recv_bytes = hct_take_varint (in);
  if ((mask & HAS_RECV_PEER) != 0)
    op->recv_peer =
        take_peer (in, (mask & RELATIVE_PEERS) != 0 && (hct_uses[op->kind] & USES_RECV_PEER) != 0,
                   HCT_PATCH_RECV_PEER, patches);
  if ((mask & HAS_RECV_TAG) != 0)
    op->recv_tag = take_i32 (in);
  if ((mask & HAS_ROOT) != 0)
    op->root = take_i32 (in);
  if ((mask & HAS_WINDOW) != 0)
    op->window = take_u32 (in);
  if ((mask & HAS_NEW_COMM) != 0)
    op->new_comm = take_u32 (in);
  if ((mask & HAS_GROUP) != 0)
    op->group = take_u32 (in);
  if ((mask & HAS_GROUP2) != 0)
    op->group2 = take_u32 (in);
  if ((mask & HAS_NEW_GROUP) != 0)
    op->new_group = take_u32 (in);
  if ((mask & HAS_CPU) != 0)
    op->cpu = take_u32 (in);
}

/* Neighbours are as many as their counts; else both lists are of one length. */
static void
take_value_arrays (HctReader *in, TraceOp *op, uint32_t mask, unsigned *patches,
                   HctScratch *scratch)
{
  bool relative = false, relative2 = false;
  uint32_t n = 0, n2 = 0;

  if ((mask & HAS_VALUES) != 0)
    op->values = take_values (in, &n, &relative, scratch);
  if ((mask & HAS_VALUES2) != 0)
    op->values2 = take_values (in, &n2, &relative2, scratch);
  if (trace_op_is_neighborhood (op->kind))
    op->n_values = op->n_counts;
  else
    op->n_values = (mask & HAS_VALUES) != 0 ? n : n2;
  in->bad |= (mask & HAS_VALUES) != 0 && n != trace_op_n_values (op);
  in->bad |= (mask & HAS_VALUES2) != 0 && n2 != trace_op_n_values2 (op);
  if (relative)
    *patches |= HCT_PATCH_VALUES;
  if (relative2)
    *patches |= HCT_PATCH_VALUES2;
}

static void
take_arrays (HctReader *in, TraceOp *op, uint32_t mask, unsigned *patches, HctScratch *scratch)
{
  if ((mask & HAS_REQUESTS) != 0) {
    op->requests = take_u32s (in, &op->n_requests, scratch);
    if ((mask & RELATIVE_REQUESTS) != 0)
      *patches |= HCT_PATCH_REQUESTS;
  }
  if ((mask & HAS_COUNTS) != 0)
    op->counts = take_u64s (in, &op->n_counts, scratch);
  if ((mask & HAS_RECV_COUNTS) != 0)
    op->recv_counts = take_u64s (in, &op->n_recv_counts, scratch);
  if ((mask & (HAS_VALUES | HAS_VALUES2)) != 0)
    take_value_arrays (in, op, mask, patches, scratch);
  if ((mask & HAS_AFTER) != 0)
    op->after = take_after (in, &op->n_after, scratch);
  if ((mask & HAS_AFTER_START) != 0)
    op->after_start = take_after (in, &op->n_after_start, scratch);
  if ((mask & (HAS_AFTER | HAS_AFTER_START)) != 0)
    *patches |= HCT_PATCH_AFTER;
}

static void
take_site (HctReader *in, const HctNames *names, TraceOp *op)
{
  op->site = hct_names_find_site (names, hct_take_varint (in));
  in->bad |= op->site == NULL;
}

bool
hct_record_take (HctReader *in, const HctNames *names, TraceOp *op, unsigned *patches,
                 HctScratch *scratch)
{
  const HctCall *call = hct_names_find_call (names, hct_take_varint (in));
  uint32_t mask = (uint32_t) hct_take_limited (in, ALL_BITS);

  if (call == NULL || in->bad)
    return false;
  memset (op, 0, sizeof *op);
  *patches = (mask & MATCHED_PEER) != 0 ? HCT_PATCH_MATCHED : 0;
  op->kind = call->kind;
  op->name = call->name;
  op->nonblocking = (mask & NONBLOCKING) != 0;
  op->matched_source = (mask & MATCHED_ANY) != 0 ? TRACE_ANY_SOURCE : 0;
  op->root = (mask & ROOT_NONE) != 0 ? TRACE_NO_ROOT : 0;
  if ((mask & HAS_COMM) != 0)
    op->comm = take_u32 (in);
  if ((mask & HAS_PEER) != 0)
    op->peer = take_peer (in, (mask & RELATIVE_PEERS) != 0 && (hct_uses[op->kind] & USES_PEER) != 0,
                          HCT_PATCH_PEER, patches);
  if ((mask & HAS_TAG) != 0)
    op->tag = take_i32 (in);
  if ((mask & HAS_BYTES) != 0)
    op->bytes = hct_take_varint (in);
  if ((mask & HAS_REQUEST) != 0) {
    op->request = (uint32_t) take_i32 (in);
    if ((mask & RELATIVE_REQUESTS) != 0)
      *patches |= HCT_PATCH_REQUEST;
  }
  if ((mask & HAS_SITE) != 0)
    take_site (in, names, op);
  if ((mask & RARE) != 0)
    take_rare (in, op, mask, patches);
  if ((mask & ARRAYS) != 0)
    take_arrays (in, op, mask, patches, scratch);
  return !in->bad && in->at == in->end && hct_check_op (op, *patches);
}

static bool
patch_values (const int32_t **values, uint32_t n, const HctPlace *place, HctScratch *scratch)
{
  int32_t *patched = hct_scratch_take (scratch, n * sizeof *patched);
  bool good = true;

  for (uint32_t i = 0; i < n; i++) {
    patched[i] = (*values)[i];
    good &= hct_patch_peer (&patched[i], place);
  }
  *values = patched;
  return good;
}

static bool
patch_requests (TraceOp *op, const HctPlace *place, HctScratch *scratch)
{
  uint32_t *patched = hct_scratch_take (scratch, op->n_requests * sizeof *patched);
  bool good = true;

  for (uint32_t i = 0; i < op->n_requests; i++) {
    patched[i] = place->last_request + op->requests[i];
    good &= patched[i] != UINT32_MAX;
  }
  op->requests = patched;
  return good;
}

static bool
patch_after (const uint32_t **after, uint32_t n, const HctPlace *place, HctScratch *scratch)
{
  uint32_t *patched = hct_scratch_take (scratch, n * sizeof *patched);
  bool good = true;

  for (uint32_t i = 0; i < n; i++) {
    uint64_t at = place->index - (*after)[i];

    good &= at < place->index && at <= UINT32_MAX;
    patched[i] = (uint32_t) at;
  }
  *after = patched;
  return good;
}

bool
hct_record_patch_arrays (TraceOp *op, unsigned patches, const HctPlace *place, HctScratch *scratch)
{
  bool good = true;

  if ((patches & HCT_PATCH_REQUESTS) != 0)
    good &= patch_requests (op, place, scratch);
  if ((patches & HCT_PATCH_VALUES) != 0)
    good &= patch_values (&op->values, trace_op_n_values (op), place, scratch);
  if ((patches & HCT_PATCH_VALUES2) != 0)
    good &= patch_values (&op->values2, trace_op_n_values2 (op), place, scratch);
  if ((patches & HCT_PATCH_AFTER) != 0) {
    good &= patch_after (&op->after, op->n_after, place, scratch);
    good &= patch_after (&op->after_start, op->n_after_start, place, scratch);
  }
  return good;
}

void
hct_scratch_clear (HctScratch *scratch)
{
  g_free (scratch->data);
  *scratch = (HctScratch){ 0 };
}

void
hct_scratch_reset (HctScratch *scratch, gsize n)
{
  gsize needed = n + 8 * HCT_SCRATCH_ARRAYS;

  scratch->n = 0;
  if (scratch->capacity >= needed)
    return;
  g_free (scratch->data);
  scratch->data = g_malloc (needed);
  scratch->capacity = needed;
}

void *
hct_scratch_take (HctScratch *scratch, gsize n)
{
  void *taken = scratch->data + scratch->n;

  if (n == 0)
    return NULL;
  g_assert (scratch->capacity - scratch->n >= n);
  scratch->n += (n + 7) & ~(gsize) 7;
  return taken;
}
