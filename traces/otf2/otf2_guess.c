/* otf2_guess.c - which of the messages to a rank each of its lost receives got.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The ranks are run as far as their records go: sends end at once, and a wait
 * whose oldest receive is a lost one takes a message that was sent by then, or
 * stays until there is one.  One wait of each rank comes after one of all
 * others.  What is received was thus sent before, so that the guess itself
 * cannot make ranks wait for each other, as long as messages are eager.
 *
 * Of several messages the one is taken that stands first in its sender's
 * program: collectives of all ranks count phases alike in every rank, whatever
 * their clocks say, and within a phase a send stands where it stands among all
 * that its sender has there, as a share of them. */
#include "traces/otf2/otf2_guess.h"

typedef struct {
  guint at;            /* of the next act */
  GArray *outstanding; /* (element-type gboolean) is a lost receive; from `oldest` on */
  guint oldest;
  GArray *sent;  /* (element-type uint32_t) messages that are there, not taken */
  GArray *order; /* (element-type uint32_t) messages that are taken */
} Rank;

typedef struct {
  GArray *const *acts;
  GArray *const *messages;
  Rank *ranks;
} Run;

static int
compare (const Otf2Message *x, const Otf2Message *y)
{
  uint64_t x_place = (2 * (uint64_t) x->turn + 1) * y->n_turns;
  uint64_t y_place = (2 * (uint64_t) y->turn + 1) * x->n_turns;

  if (x->phase != y->phase)
    return x->phase < y->phase ? -1 : 1;
  if (x_place != y_place)
    return x_place < y_place ? -1 : 1;
  if (x->source != y->source)
    return x->source < y->source ? -1 : 1;
  return x->turn < y->turn ? -1 : x->turn > y->turn;
}

/* Gives the next lost receive of the rank a message, if one is there. */
static bool
take_message (Run *run, uint32_t rank)
{
  Rank *state = &run->ranks[rank];
  const GArray *messages = run->messages[rank];
  guint best = 0;
  uint32_t number;

  if (state->sent->len == 0)
    return false;
  for (guint i = 1; i < state->sent->len; i++) {
    uint32_t a = g_array_index (state->sent, uint32_t, i);
    uint32_t b = g_array_index (state->sent, uint32_t, best);

    if (compare (&g_array_index (messages, Otf2Message, a),
                 &g_array_index (messages, Otf2Message, b)) < 0)
      best = i;
  }
  number = g_array_index (state->sent, uint32_t, best);
  g_array_append_val (state->order, number);
  g_array_remove_index_fast (state->sent, best);
  return true;
}

/* How many lost receives are outstanding: of all, or the oldest alone. */
static guint
count_needed (const Rank *state, bool all)
{
  guint n = 0;

  for (guint i = state->oldest; i < state->outstanding->len; i++) {
    n += g_array_index (state->outstanding, gboolean, i);
    if (!all)
      break;
  }
  return n;
}

/* Completes what is outstanding, one or all; false when it has to stay.  All
 * that is needed must be there, as the best of some may be the wrong one. */
static bool
wait (Run *run, uint32_t rank, bool all)
{
  Rank *state = &run->ranks[rank];
  guint n = count_needed (state, all);

  if (state->sent->len < n)
    return false;
  for (; n > 0; n--)
    take_message (run, rank);
  state->oldest = all ? state->outstanding->len : state->oldest + 1;
  if (state->oldest >= state->outstanding->len) {
    g_array_set_size (state->outstanding, 0);
    state->oldest = 0;
  }
  return true;
}

static void
post (Rank *state, gboolean is_receive)
{
  g_array_append_val (state->outstanding, is_receive);
}

static void
send_message (Run *run, const Otf2Act *act)
{
  const Otf2Message *message =
      &g_array_index (run->messages[act->destination], Otf2Message, act->message);

  if (!message->taken)
    g_array_append_val (run->ranks[act->destination].sent, act->message);
}

/* Up to and with the next wait; false when nothing could be done. */
static bool
run_rank (Run *run, uint32_t rank)
{
  Rank *state = &run->ranks[rank];
  const GArray *acts = run->acts[rank];
  guint start = state->at;

  for (; state->at < acts->len; state->at++) {
    const Otf2Act *act = &g_array_index (acts, Otf2Act, state->at);

    switch (act->kind) {
    case OTF2_ACT_SEND: send_message (run, act); break;
    case OTF2_ACT_PENDING: post (state, FALSE); break;
    case OTF2_ACT_POST: post (state, TRUE); break;
    case OTF2_ACT_NOTHING: break;
    case OTF2_ACT_WAIT:
    case OTF2_ACT_WAITALL:
      if (!wait (run, rank, act->kind == OTF2_ACT_WAITALL))
        return state->at > start;
      state->at++;
      return true;
    }
  }
  return state->at > start;
}

/* Where nobody can go on the guess has failed; the first waits for nothing. */
static bool
skip_wait (Run *run, uint32_t n_ranks)
{
  for (uint32_t rank = 0; rank < n_ranks; rank++)
    if (run->ranks[rank].at < run->acts[rank]->len) {
      run->ranks[rank].at++;
      return true;
    }
  return false;
}

static void
run_all (Run *run, uint32_t n_ranks)
{
  bool going;

  do {
    going = false;
    for (uint32_t rank = 0; rank < n_ranks; rank++)
      going = run_rank (run, rank) || going;
  } while (going || skip_wait (run, n_ranks));
}

GArray **
otf2_guess (GArray *const *acts, GArray *const *messages, uint32_t n_ranks)
{
  Run run = { acts, messages, g_new0 (Rank, n_ranks) };
  GArray **orders = g_new (GArray *, n_ranks);

  for (uint32_t rank = 0; rank < n_ranks; rank++) {
    run.ranks[rank].outstanding = g_array_new (FALSE, FALSE, sizeof (gboolean));
    run.ranks[rank].sent = g_array_new (FALSE, FALSE, sizeof (uint32_t));
    run.ranks[rank].order = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  }
  run_all (&run, n_ranks);
  for (uint32_t rank = 0; rank < n_ranks; rank++) {
    while (take_message (&run, rank))
      continue;
    g_array_unref (run.ranks[rank].outstanding);
    g_array_unref (run.ranks[rank].sent);
    orders[rank] = run.ranks[rank].order;
  }
  g_free (run.ranks);
  return orders;
}
