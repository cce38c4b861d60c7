/* pattern_random.c - uniform random traffic: new destinations in every iteration.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Message m of all ranks of one iteration is a random permutation, so that a
 * rank receives as many messages as it sends and knows from whom. */
#include "traces/patterns/batch.h"
#include "traces/patterns/pattern_parameters.h"
#include "traces/patterns/pattern_shuffle.h"

typedef struct {
  PatternCommon common;
  uint32_t n_messages;
  uint64_t seed;
} State;

enum { MESSAGES = PATTERN_N_COMMON, SEED };

static const TraceParameter parameters[] = {
  PATTERN_COMMON (NULL, "16K", "bytes of a message", "10"),
  [MESSAGES] = { "messages", TRACE_PARAMETER_INTEGER, "4", 0,
                 "messages that a rank sends in each iteration, up to 65536" },
  [SEED] = PATTERN_SEED,
  PATTERN_END,
};

static gpointer
open_pattern (TraceParameterValue *values, uint32_t *n_ranks, GError **error)
{
  State *state;

  if (!pattern_check_most ("messages", values[MESSAGES].integer, 65536, error))
    return NULL;
  state = g_new (State, 1);
  *state = (State){ pattern_common (values), (uint32_t) values[MESSAGES].integer,
                    (uint64_t) values[SEED].integer };
  *n_ranks = state->common.n_ranks;
  return state;
}

/* Messages to itself are left out. */
static gboolean
fill_batch (gconstpointer data, uint32_t rank, uint64_t index, TraceBatch *batch)
{
  const State *state = data;
  uint32_t n = state->common.n_ranks, request = TRACE_BATCH_FIRST_REQUEST;

  if (index >= state->common.iterations)
    return FALSE;
  trace_batch_compute (batch, state->common.compute_ps);
  for (uint32_t m = 0; m < state->n_messages; m++) {
    uint32_t from = pattern_unshuffle (pattern_shuffle_key (state->seed, index, m), n, rank);

    if (from != rank)
      trace_batch_irecv (batch, (int32_t) from, (int32_t) m, state->common.bytes, request++);
  }
  for (uint32_t m = 0; m < state->n_messages; m++) {
    uint32_t to = pattern_shuffle (pattern_shuffle_key (state->seed, index, m), n, rank);

    if (to != rank)
      trace_batch_isend (batch, (int32_t) to, (int32_t) m, state->common.bytes, request++);
  }
  trace_batch_wait (batch, TRACE_BATCH_FIRST_REQUEST, request - TRACE_BATCH_FIRST_REQUEST);
  return TRUE;
}

const TracePattern trace_pattern_random = {
  .name = "random",
  .summary = "random destinations, others in every iteration",
  .parameters = parameters,
  .open = open_pattern,
  .close = g_free,
  .batch = fill_batch,
};
