/* pattern_pingpong.c - messages to and fro between pairs of ranks.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Rank r of the first half and rank r + ranks/2 are a pair; all pairs play
 * at the same time. */
#include "traces/patterns/batch.h"
#include "traces/patterns/pattern_parameters.h"

static const TraceParameter parameters[] = {
  PATTERN_COMMON ("2", "8", "bytes of a message", "10"),
  PATTERN_END,
};

static gpointer
open_pattern (TraceParameterValue *values, uint32_t *n_ranks, GError **error)
{
  PatternCommon *common;

  if (values[PATTERN_AT_RANKS].integer % 2 != 0) {
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_RANGE,
                 "ranks: %" G_GINT64_FORMAT " is odd, but ranks are in pairs",
                 values[PATTERN_AT_RANKS].integer);
    return NULL;
  }
  common = g_new (PatternCommon, 1);
  *common = pattern_common (values);
  *n_ranks = common->n_ranks;
  return common;
}

static gboolean
fill_batch (gconstpointer data, uint32_t rank, uint64_t index, TraceBatch *batch)
{
  const PatternCommon *common = data;
  uint32_t half = common->n_ranks / 2;
  gboolean first = rank < half;
  int32_t peer = (int32_t) (first ? rank + half : rank - half);

  if (index >= common->iterations)
    return FALSE;
  trace_batch_compute (batch, common->compute_ps);
  if (first)
    trace_batch_send (batch, peer, 0, common->bytes);
  trace_batch_recv (batch, peer, 0, common->bytes);
  if (!first)
    trace_batch_send (batch, peer, 0, common->bytes);
  return TRUE;
}

const TracePattern trace_pattern_pingpong = {
  .name = "pingpong",
  .summary = "a message to and fro between the ranks of each pair",
  .parameters = parameters,
  .open = open_pattern,
  .close = g_free,
  .batch = fill_batch,
};
