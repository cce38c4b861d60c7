/* iterations.c - the main loop of a program, and how long each of its iterations takes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/iterations.h"

#include <math.h>

/* --- The loop in a sequence ---
 *
 * A stretch with period p is one where each item equals that p places later.  A stretch of half of
 * the items or more has the middle of the sequence within it or at its edge, so that only these are
 * looked at, as in one step of the algorithm of Main and Lorentz (An O(n log n) algorithm for
 * finding all repetitions in a string, J. Algorithms 5, 1984).  How far a stretch goes to either
 * side is the length of a common prefix, of which the Z algorithm finds those of all p in linear
 * time (Gusfield, Algorithms on Strings, Trees and Sequences, section 1.4). */

/* Items that are read from left to right, step 1, or from right to left, step -1. */
typedef struct {
  const uint64_t *first;
  ptrdiff_t step;
  uint32_t n;
} Items;

static inline uint64_t
item (const Items *items, uint32_t at)
{
  return items->first[items->step * (ptrdiff_t) at];
}

/* lengths[at] becomes the length of the longest common prefix of `pattern` and of `text` from `at`
 * on, for all `at` from `from` to n.  own: the same of the pattern with itself, up to any place
 * that is smaller than `at` and the pattern; when it is the text, the lengths themselves. */
static void
common_prefixes (const Items *pattern, const uint32_t *own, const Items *text, uint32_t from,
                 uint32_t n, uint32_t *lengths)
{
  uint32_t begin = 0, end = 0; /* of the match that reaches furthest */

  for (uint32_t at = from; at < n; at++) {
    uint32_t length = at < end ? MIN (end - at, own[at - begin]) : 0;

    while (at + length < text->n && length < pattern->n &&
           item (text, at + length) == item (pattern, length))
      length++;
    lengths[at] = length;
    if (at + length > end) {
      begin = at;
      end = at + length;
    }
  }
}

/* The same of the items with themselves. */
static void
own_prefixes (const Items *items, uint32_t *lengths)
{
  lengths[0] = items->n;
  common_prefixes (items, lengths, items, 1, items->n, lengths);
}

static void
consider (SimLoop *best, uint32_t first, uint32_t period, uint32_t length)
{
  uint32_t count = length / period;

  if (count >= 2 && (uint64_t) count * period > best->count * best->period)
    *best = (SimLoop){ first, period, count };
}

SimLoop
sim_loop_find (const uint64_t *operations, uint32_t n)
{
  uint32_t middle = n / 2, rest = n - middle;
  SimLoop best = { 0 };

  if (n < 2)
    return best;

  Items left = { operations + middle - 1, -1, middle };
  Items right = { operations + middle, 1, rest };
  Items forwards = { operations, 1, n }, backwards = { operations + n - 1, -1, n };
  g_autofree uint32_t *of_left = g_new (uint32_t, middle);
  g_autofree uint32_t *of_right = g_new (uint32_t, rest);
  /* Of the right half and what begins in the left one; and from the middle to the left, of the left
   * half and what ends in the right one. */
  g_autofree uint32_t *ahead = g_new (uint32_t, middle);
  g_autofree uint32_t *behind = g_new (uint32_t, rest);

  own_prefixes (&left, of_left);
  own_prefixes (&right, of_right);
  common_prefixes (&right, of_right, &forwards, 0, middle, ahead);
  common_prefixes (&left, of_left, &backwards, 0, rest, behind);
  for (uint32_t period = 1; period <= middle; period++) {
    uint32_t before = period < middle ? of_left[period] : 0;
    uint32_t after = period < rest ? of_right[period] : 0;

    /* At least one period is on the left of the middle, or on its right. */
    consider (&best, middle - period - before, period, before + period + ahead[middle - period]);
    consider (&best, middle - behind[rest - period], period,
              behind[rest - period] + period + after);
  }
  return 2 * best.count * best.period >= n ? best : (SimLoop){ 0 };
}

/* --- The loops of a trace --- */

/* Of one rank, so that its hashes and lengths take 256 MiB at most. */
#define MOST_OPERATIONS (1u << 24)

typedef enum {
  KIND_COUNTS,
  KIND_CALL,    /* moves nothing */
  KIND_POLL,    /* made as often as the program has to */
  KIND_COMPUTE, /* no call */
} Kind;

static Kind
kind_of (TraceOpKind kind)
{
  switch ((int) kind) {
  case TRACE_OP_COMPUTE: return KIND_COMPUTE;
  case TRACE_OP_INIT:
  case TRACE_OP_FINALIZE:
  case TRACE_OP_CALL:
  case TRACE_OP_COMM_DEFINE: return KIND_CALL;
  case TRACE_OP_TEST:
  case TRACE_OP_IPROBE:
  case TRACE_OP_WAIT_SOME: return KIND_POLL;
  default: return KIND_COUNTS;
  }
}

/* Each bit of the number changes half of the bits of the hash (the finaliser of SplitMix64). */
static inline uint64_t
mix (uint64_t hash, uint64_t number)
{
  hash = (hash ^ number) + UINT64_C (0x9e3779b97f4a7c15);
  hash = (hash ^ hash >> 30) * UINT64_C (0xbf58476d1ce4e5b9);
  hash = (hash ^ hash >> 27) * UINT64_C (0x94d049bb133111eb);
  return hash ^ hash >> 31;
}

static inline uint64_t
pair (uint32_t high, uint32_t low)
{
  return (uint64_t) high << 32 | low;
}

/* A collective with a size per rank counts by what the rank sends in all: programs that sort send
 * the same number of keys in every iteration, but not the same to each rank.  Handles of requests
 * and how many a call completes are left out: they follow from the operations that started them. */
static uint64_t
operation_hash (const TraceOp *op, bool with_sizes)
{
  uint64_t hash = pair (op->kind, (uint32_t) op->mode << 1 | op->nonblocking);

  hash = mix (hash, pair ((uint32_t) op->peer, (uint32_t) op->tag));
  hash = mix (hash, pair (op->comm, (uint32_t) op->root));
  hash = mix (hash, pair ((uint32_t) op->recv_peer, (uint32_t) op->recv_tag));
  if (with_sizes) {
    uint64_t sum = 0;

    for (uint32_t i = 0; op->counts != NULL && i < op->n_counts; i++)
      sum += op->counts[i];
    hash = mix (mix (mix (hash, op->bytes), op->recv_bytes), sum);
  }
  for (uint32_t i = 0; op->values != NULL && i < trace_op_n_values (op); i++)
    hash = mix (hash, (uint32_t) op->values[i]);
  for (uint32_t i = 0; op->values2 != NULL && i < trace_op_n_values2 (op); i++)
    hash = mix (hash, (uint32_t) op->values2[i]);
  return hash;
}

/* Up to one more than the most. */
static gboolean
read_rank (Trace *trace, uint32_t rank, bool with_sizes, GArray *hashes, GError **error)
{
  g_autoptr (TraceCursor) cursor = trace_cursor_new (trace, rank, error);
  TraceNext next = TRACE_NEXT_ERROR;
  TraceOp op;

  g_array_set_size (hashes, 0);
  while (cursor != NULL && hashes->len <= MOST_OPERATIONS &&
         (next = trace_cursor_next (cursor, &op, error)) == TRACE_NEXT_OPERATION)
    if (kind_of (op.kind) == KIND_COUNTS) {
      uint64_t hash = operation_hash (&op, with_sizes);

      g_array_append_val (hashes, hash);
    }
  return next != TRACE_NEXT_ERROR;
}

/* A rank whose body repeats itself while that of others does not, as where others have a partner in
 * every second step only, has a multiple of their iterations: several of its bodies are one. */
static char *
agree (SimIterations *iterations)
{
  uint64_t count = UINT64_MAX;
  uint32_t least = 0;

  for (uint32_t rank = 0; rank < iterations->n_ranks; rank++)
    if (iterations->loops[rank].period > 0 && iterations->loops[rank].count < count) {
      count = iterations->loops[rank].count;
      least = rank;
    }
  if (count == UINT64_MAX)
    return g_strdup ("no rank communicates");
  for (uint32_t rank = 0; rank < iterations->n_ranks; rank++) {
    SimLoop *loop = &iterations->loops[rank];
    uint64_t bodies = loop->count / count;

    if (loop->period == 0)
      continue;
    if (loop->count / bodies != count)
      return g_strdup_printf ("rank %u has %" G_GUINT64_FORMAT
                              " iterations and rank %u %" G_GUINT64_FORMAT,
                              least, count, rank, loop->count);
    loop->period *= bodies;
    loop->count = count;
  }
  iterations->count = (uint32_t) count;
  return NULL;
}

static gboolean
find_loops (SimIterations *iterations, Trace *trace, GError **error)
{
  g_autoptr (GArray) hashes = g_array_new (FALSE, FALSE, sizeof (uint64_t));

  for (uint32_t rank = 0; rank < iterations->n_ranks; rank++) {
    if (!read_rank (trace, rank, !iterations->sizes_differ, hashes, error))
      return FALSE;
    if (hashes->len > MOST_OPERATIONS)
      iterations->reason =
          g_strdup_printf ("rank %u has more than %u operations", rank, MOST_OPERATIONS);
    else
      iterations->loops[rank] = sim_loop_find ((const uint64_t *) hashes->data, hashes->len);
    if (iterations->reason == NULL && hashes->len > 0 && iterations->loops[rank].period == 0)
      iterations->reason =
          g_strdup_printf ("rank %u repeats nothing that is half of its operations", rank);
    if (iterations->reason != NULL)
      return TRUE;
  }
  iterations->reason = agree (iterations);
  return TRUE;
}

SimIterations *
sim_iterations_new (Trace *trace, GError **error)
{
  g_autoptr (SimIterations) iterations = g_new0 (SimIterations, 1);

  iterations->n_ranks = trace_ranks (trace);
  iterations->loops = g_new0 (SimLoop, iterations->n_ranks);
  iterations->ranks = g_new0 (SimRankIterations, iterations->n_ranks);
  if (trace_is_graph (trace))
    iterations->reason = g_strdup ("the operations of this trace are a graph, and not in an order");
  else if (!find_loops (iterations, trace, error))
    return NULL;
  else if (iterations->count == 0) {
    g_clear_pointer (&iterations->reason, g_free);
    iterations->sizes_differ = true;
    if (!find_loops (iterations, trace, error))
      return NULL;
  }
  iterations->ends_ps = g_new0 (int64_t, iterations->count + 1);
  return g_steal_pointer (&iterations);
}

void
sim_iterations_free (SimIterations *iterations)
{
  if (iterations == NULL)
    return;
  g_free (iterations->reason);
  g_free (iterations->loops);
  g_free (iterations->ranks);
  g_free (iterations->ends_ps);
  g_free (iterations);
}

/* --- Their times --- */

void
sim_iterations_begin (SimIterations *iterations)
{
  for (uint32_t rank = 0; rank < iterations->n_ranks; rank++) {
    const SimLoop *loop = &iterations->loops[rank];

    iterations->ranks[rank] = (SimRankIterations){
      .next = loop->period > 0 ? loop->first : UINT64_MAX, .end_moves = true, .least_ps = INT64_MAX
    };
  }
  for (uint32_t end = 0; end <= iterations->count; end++)
    iterations->ends_ps[end] = 0;
  iterations->messages = iterations->message_bytes = 0;
}

void
sim_iterations_ended (SimIterations *iterations, uint32_t rank, int64_t now_ps)
{
  SimRankIterations *it = &iterations->ranks[rank];

  if (it->n_counted == it->next && it->end_moves)
    it->end_ps = now_ps;
}

/* What is done so far ends an iteration, or the start-up. */
static void
take_end (SimIterations *iterations, uint32_t rank, int64_t *ends_ps)
{
  SimRankIterations *it = &iterations->ranks[rank];
  uint32_t end = it->n_ends++;

  ends_ps[end] = MAX (ends_ps[end], it->end_ps);
  if (end == 0)
    it->begin_ps = it->end_ps;
  else {
    it->least_ps = MIN (it->least_ps, it->end_ps - it->last_ps);
    it->most_ps = MAX (it->most_ps, it->end_ps - it->last_ps);
  }
  it->last_ps = it->end_ps;
  it->next = end < iterations->count ? it->next + iterations->loops[rank].period : UINT64_MAX;
}

void
sim_iterations_next (SimIterations *iterations, uint32_t rank, TraceOpKind kind, int64_t *ends_ps)
{
  SimRankIterations *it = &iterations->ranks[rank];
  Kind is = kind_of (kind);

  it->end_moves = is == KIND_COUNTS || is == KIND_POLL || (is == KIND_CALL && it->n_ends == 0);
  if (is != KIND_COUNTS)
    return;
  if (it->n_counted == it->next)
    take_end (iterations, rank, ends_ps);
  it->n_counted++;
}

void
sim_iterations_finish (SimIterations *iterations, uint32_t rank, int64_t *ends_ps)
{
  if (iterations->ranks[rank].n_counted == iterations->ranks[rank].next)
    take_end (iterations, rank, ends_ps);
}

void
sim_iterations_dump (SimIterations *iterations, BaseDump *dump)
{
  base_dump_section (dump, "iterations");
  base_dump_array (dump, iterations->ranks, iterations->n_ranks, sizeof *iterations->ranks);
}

double
sim_iterations_mean_ps (const SimIterations *iterations, uint32_t rank)
{
  const SimRankIterations *it = &iterations->ranks[rank];

  return it->n_ends > 0 ? (double) (it->last_ps - it->begin_ps) / iterations->count : (double) NAN;
}
