/* pattern_ring.c - every rank sends to the next one.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/patterns/batch.h"
#include "traces/patterns/pattern_parameters.h"

typedef struct {
  PatternCommon common;
  gboolean both;
} State;

enum { BOTH = PATTERN_N_COMMON };
enum { TAG_UP, TAG_DOWN };

static const TraceParameter parameters[] = {
  PATTERN_COMMON (NULL, "16K", "bytes of a message", "10"),
  [BOTH] = { "both", TRACE_PARAMETER_WORD, "no", 0, "yes|no: also to the one before?" },
  PATTERN_END,
};

static gpointer
open_pattern (TraceParameterValue *values, uint32_t *n_ranks, GError **error)
{
  State *state = g_new (State, 1);

  (void) error;
  *state = (State){ pattern_common (values), *values[BOTH].word == 'y' };
  *n_ranks = state->common.n_ranks;
  return state;
}

static gboolean
fill_batch (gconstpointer data, uint32_t rank, uint64_t index, TraceBatch *batch)
{
  const State *state = data;
  uint32_t n = state->common.n_ranks, request = TRACE_BATCH_FIRST_REQUEST;
  uint64_t bytes = state->common.bytes;
  int32_t next = (int32_t) ((rank + 1) % n), previous = (int32_t) ((rank + n - 1) % n);

  if (index >= state->common.iterations)
    return FALSE;
  trace_batch_compute (batch, state->common.compute_ps);
  trace_batch_irecv (batch, previous, TAG_UP, bytes, request++);
  if (state->both)
    trace_batch_irecv (batch, next, TAG_DOWN, bytes, request++);
  trace_batch_isend (batch, next, TAG_UP, bytes, request++);
  if (state->both)
    trace_batch_isend (batch, previous, TAG_DOWN, bytes, request++);
  trace_batch_wait (batch, TRACE_BATCH_FIRST_REQUEST, request - TRACE_BATCH_FIRST_REQUEST);
  return TRUE;
}

const TracePattern trace_pattern_ring = {
  .name = "ring",
  .summary = "every rank sends to the next one, the last to the first",
  .parameters = parameters,
  .open = open_pattern,
  .close = g_free,
  .batch = fill_batch,
};
