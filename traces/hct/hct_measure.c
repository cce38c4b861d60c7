/* hct_measure.c - what varies between operations that are the same.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Recorded times are mostly whole nanoseconds, so a number that can be
 * divided by 1000 is; the two lowest bits of the varint say what was done. */
#include "traces/hct/hct_measure.h"

#define SCALE 1000

enum { AS_IS, SCALED, ALL_BITS }; /* ALL_BITS: eight bytes follow, lowest first */

/* A wildcard always has its match here, so that the record is the same
 * whichever rank it was. */
static inline bool
matched_is_measure (const TraceOp *op)
{
  if (op->matched_source == TRACE_ANY_SOURCE)
    return false;
  if (op->peer == TRACE_ANY_SOURCE)
    return true;
  return op->matched_source != 0 && op->matched_source != op->peer;
}

static uint64_t
bits_of (double value)
{
  uint64_t bits;

  memcpy (&bits, &value, sizeof bits);
  return bits;
}

static uint64_t
from_rank (int32_t value, const HctPlace *place)
{
  return hct_fold_sign ((int64_t) value - (int64_t) place->rank);
}

/* From the rank when that is nearer than 0: programs sort by rank, or not. */
static uint64_t
key_number (int32_t key, const HctPlace *place)
{
  uint64_t here = hct_fold_sign (key), away = from_rank (key, place);

  return away < here ? 2 + (away << 1 | 1) : 2 + (here << 1);
}

unsigned
hct_measures (const TraceOp *op, const HctPlace *place, uint64_t values[HCT_N_NUMBERS])
{
  unsigned bits = 0;

  values[HCT_GAP] = hct_fold_sign (op->gap_ps);
  values[HCT_CALL] = hct_fold_sign (op->call_ps);
  values[HCT_FLOPS] = bits_of (op->flops);
  values[HCT_INSTRUCTIONS] = op->instructions;
  values[HCT_CYCLES] = op->cycles;
  values[HCT_MATCHED] = matched_is_measure (op) ? 1 + from_rank (op->matched_source, place) : 0;
  values[HCT_COLOR] = hct_fold_sign (op->color);
  values[HCT_KEY] = op->key != 0 ? key_number (op->key, place) : 0;
  for (unsigned i = 0; i < HCT_N_NUMBERS; i++)
    bits |= (unsigned) (values[i] != 0) << i;
  return bits | (unsigned) (op->n_completed != 0) << HCT_COMPLETED;
}

static void
put_scaled (HctBuffer *out, uint64_t value)
{
  if (value % SCALE == 0)
    hct_put_varint (out, (value / SCALE) << 2 | SCALED);
  else if (value < UINT64_C (1) << 62)
    hct_put_varint (out, value << 2 | AS_IS);
  else {
    hct_put_varint (out, ALL_BITS);
    hct_store_u64 (out->data + out->n, value);
    out->n += sizeof value;
  }
}

/* Work is mostly whole and below 2^53; a minus zero is not. */
static bool
whole (uint64_t bits, uint64_t *number)
{
  double value;

  memcpy (&value, &bits, sizeof value);
  if (!(value >= 0 && value < 9007199254740992.0))
    return false;
  *number = (uint64_t) value;
  return bits_of ((double) *number) == bits;
}

void
hct_put_number (HctBuffer *out, unsigned measure, uint64_t value)
{
  uint64_t number = value;

  hct_buffer_reserve (out, HCT_VARINT_BYTES + sizeof value);
  if (measure != HCT_FLOPS || whole (value, &number)) {
    put_scaled (out, number);
    return;
  }
  hct_put_varint (out, ALL_BITS);
  hct_store_u64 (out->data + out->n, value);
  out->n += sizeof value;
}

void
hct_put_list (HctBuffer *out, const uint32_t *list, uint32_t n)
{
  uint32_t before = 0;

  hct_buffer_reserve (out, ((gsize) n + 1) * HCT_VARINT_BYTES);
  hct_put_varint (out, n);
  for (uint32_t i = 0; i < n; before = list[i++])
    hct_put_signed (out, (int32_t) (list[i] - before));
}

static uint64_t
take_all_bits (HctReader *in)
{
  uint64_t value;

  if (in->end - in->at < (ptrdiff_t) sizeof value) {
    in->bad = true;
    return 0;
  }
  value = hct_load_u64 (in->at);
  in->at += sizeof value;
  return value;
}

uint64_t
hct_take_number (HctReader *in, unsigned measure)
{
  uint64_t head = hct_take_varint (in), value = head >> 2;

  if ((head & 3) == ALL_BITS && value == 0)
    return take_all_bits (in);
  in->bad |= (head & 3) >= ALL_BITS;
  if ((head & 3) == SCALED) {
    in->bad |= value > UINT64_MAX / SCALE;
    value *= SCALE;
  }
  return measure == HCT_FLOPS ? bits_of ((double) value) : value;
}

void
hct_take_list (HctReader *in, TraceOp *op, HctScratch *scratch)
{
  uint32_t n = hct_take_count (in), before = 0, *list;

  hct_scratch_reset (scratch, n * sizeof *list);
  list = hct_scratch_take (scratch, n * sizeof *list);
  for (uint32_t i = 0; i < n; i++)
    before = list[i] = before + (uint32_t) hct_take_signed (in);
  op->completed = list;
  op->n_completed = n;
}

static bool
to_i32 (int64_t value, int32_t *result)
{
  *result = (int32_t) value;
  return value >= INT32_MIN && value <= INT32_MAX;
}

/* The inverse of 1 + from_rank(); 0 is left as it is. */
static bool
set_from_rank (uint64_t value, const HctPlace *place, int32_t *result)
{
  int64_t away = hct_unfold_sign (value - 1);

  return value == 0 || (away > -(INT64_C (1) << 40) && away < INT64_C (1) << 40 &&
                        to_i32 (away + (int64_t) place->rank, result));
}

static bool
set_key (uint64_t value, const HctPlace *place, int32_t *key)
{
  if (value < 2)
    return value == 0;
  value -= 2;
  if ((value & 1) != 0)
    return set_from_rank (1 + (value >> 1), place, key);
  return to_i32 (hct_unfold_sign (value >> 1), key);
}

bool
hct_set_number (TraceOp *op, unsigned measure, uint64_t value, const HctPlace *place)
{
  switch (measure) {
  case HCT_GAP: op->gap_ps = hct_unfold_sign (value); return true;
  case HCT_CALL: op->call_ps = hct_unfold_sign (value); return true;
  case HCT_FLOPS: memcpy (&op->flops, &value, sizeof value); return true;
  case HCT_INSTRUCTIONS: op->instructions = value; return true;
  case HCT_CYCLES: op->cycles = value; return true;
  case HCT_MATCHED: return set_from_rank (value, place, &op->matched_source);
  case HCT_COLOR: return to_i32 (hct_unfold_sign (value), &op->color);
  case HCT_KEY: return set_key (value, place, &op->key);
  default: return false;
  }
}
