/* hct_check.c - what a replay relies on, of operations out of a file.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/hct/hct_check.h"

#include "traces/hct/hct_record.h"

#include <math.h>

static inline bool
size_is_possible (uint64_t bytes)
{
  return bytes <= TRACE_MAX_BYTES || bytes == TRACE_UNKNOWN_BYTES;
}

static bool
counts_are_possible (const uint64_t *counts, uint32_t n)
{
  for (uint32_t i = 0; i < n; i++)
    if (counts[i] > TRACE_MAX_BYTES)
      return false;
  return true;
}

static bool
list_is_possible (const int32_t *values, uint32_t n)
{
  for (uint32_t i = 0; i < n; i++)
    if (values[i] == INT32_MAX)
      return false;
  return true;
}

static bool
needs_values2 (TraceOpKind kind)
{
  return kind == TRACE_OP_CART_CREATE || trace_op_is_neighborhood (kind);
}

static bool
values_are_possible (const TraceOp *op)
{
  uint32_t n = trace_op_n_values (op), n2 = trace_op_n_values2 (op);

  if ((op->values == NULL && n != 0) ||
      (op->values2 == NULL && n2 != 0 && needs_values2 (op->kind)))
    return false;
  if ((op->kind == TRACE_OP_GROUP_RANGE_INCL || op->kind == TRACE_OP_GROUP_RANGE_EXCL) &&
      n % 3 != 0)
    return false;
  return list_is_possible (op->values, n) &&
         (op->values2 == NULL || list_is_possible (op->values2, n2));
}

static bool
requests_are_possible (const TraceOp *op)
{
  for (uint32_t i = 0; i < op->n_requests; i++)
    if (op->requests[i] == UINT32_MAX)
      return false;
  return true;
}

bool
hct_check_op (const TraceOp *op, unsigned patches)
{
  bool good = size_is_possible (op->bytes) && size_is_possible (op->recv_bytes);

  good &= (patches & HCT_PATCH_PEER) != 0 || op->peer >= TRACE_PROC_NULL;
  good &= (patches & HCT_PATCH_RECV_PEER) != 0 || op->recv_peer >= TRACE_PROC_NULL;
  if (op->n_counts != 0)
    good &= counts_are_possible (op->counts, op->n_counts);
  if (op->n_recv_counts != 0)
    good &= counts_are_possible (op->recv_counts, op->n_recv_counts);
  good &= values_are_possible (op);
  if (op->n_requests != 0 && (patches & HCT_PATCH_REQUESTS) == 0)
    good &= requests_are_possible (op);
  return good;
}

/* What an iprobe saw is one thing or nothing; it has no requests. */
bool
hct_check_measures (const TraceOp *op)
{
  uint32_t n = op->kind == TRACE_OP_IPROBE ? 1 : op->n_requests;

  for (uint32_t i = 0; i < op->n_completed; i++)
    if (op->completed[i] >= n)
      return false;
  return op->gap_ps >= 0 && op->call_ps >= 0 && isfinite (op->flops) && op->flops >= 0 &&
         op->matched_source >= TRACE_PROC_NULL;
}
