/* ib_contexts_test.c - contexts that an adapter holds or fetches, to the picosecond.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/net/ib_contexts.h"

#include "base/random.h"
#include "sim/net/network_testing.h"

#define US       INT64_C (1000000)
#define LATER(n) ((n) *10 * US) /* when all before is over */

/* --- Messages --- */

typedef struct {
  uint32_t from, to;
  int64_t at_ps;
  bool is_write;
} Sent;

static void
send (Bench *bench, const Sent *sent)
{
  SimMessage message = {
    .cookie = bench->n_sent++,
    .bytes = 100,
    .source_rank = sent->from,
    .destination_rank = sent->to,
    .kind = sent->is_write ? SIM_MESSAGE_WRITE : SIM_MESSAGE_SEND,
    .acknowledge = true,
  };

  sim_network_send (bench->network, &message, sent->at_ps);
}

/* Sends messages of 100 B between nodes of one leaf, on adapters that hold so many contexts and on
 * some that hold all.  Later by: late_ps[] deliveries, sent_late_ps[] acknowledgements. */
static void
check_late (const char *const *settings, const Sent *sent, uint32_t n, const int64_t *late_ps,
            const int64_t *sent_late_ps)
{
  static const char *const all[] = { "hca.contexts=0", NULL };
  g_autoptr (Bench) few = bench_fabric ("fattree:2x8:2", settings, n, NULL);
  g_autoptr (Bench) ideal = bench_fabric ("fattree:2x8:2", all, n, NULL);

  for (uint32_t i = 0; i < n; i++) {
    send (few, &sent[i]);
    send (ideal, &sent[i]);
  }
  bench_run (few);
  bench_run (ideal);
  for (uint32_t i = 0; i < n; i++) {
    g_assert_cmpint (few->at_ps[i] - ideal->at_ps[i], ==, late_ps[i]);
    g_assert_cmpint (few->sent_ps[i] - ideal->sent_ps[i], ==, sent_late_ps[i]);
  }
}

/* The first connection finds room on both sides; the second is fetched by its sender alone, and
 * then the first again.  The other way needs the contexts for receiving, which are still there. */
static void
test_sender_fetches (void)
{
  static const char *const settings[] = { "hca.contexts=1", "hca.context_miss=1us", NULL };
  static const Sent sent[] = {
    { 0, 1, 0 }, { 0, 2, LATER (1) }, { 0, 1, LATER (2) }, { 0, 1, LATER (3) }, { 1, 0, LATER (4) },
  };
  static const int64_t late_ps[] = { 0, US, US, 0, 0 };

  check_late (settings, sent, G_N_ELEMENTS (sent), late_ps, late_ps);
}

static void
test_receiver_fetches (void)
{
  static const char *const settings[] = { "hca.contexts=1", "hca.context_miss=1us", NULL };
  static const Sent sent[] = { { 1, 0, 0 }, { 2, 0, LATER (1) }, { 1, 0, LATER (2) } };
  static const int64_t late_ps[] = { 0, US, US };

  check_late (settings, sent, G_N_ELEMENTS (sent), late_ps, late_ps);
}

/* The first message is on its way when the context of the second takes the place of its own, which its
 * acknowledgement then fetches. */
static void
test_acknowledgement_fetches (void)
{
  static const char *const settings[] = { "hca.contexts=1", "hca.context_miss=200ns", NULL };
  static const Sent sent[] = { { 0, 1, 0 }, { 0, 2, 300000 } };
  static const int64_t late_ps[] = { 0, US / 5 }, sent_late_ps[] = { US / 5, 2 * US / 5 };

  check_late (settings, sent, G_N_ELEMENTS (sent), late_ps, sent_late_ps);
}

/* Two that are not held, one after the other or together, when one is on the link (134 B at 4 GB/s) before
 * the other; the second of the ideal adapter begins a gap of 100 ns after the first. */
static void
test_fetches_at_a_time (void)
{
  static const char *const one[] = { "hca.contexts=2", "hca.context_miss=1us",
                                     "hca.context_fetches=1", NULL };
  static const char *const two[] = { "hca.contexts=2", "hca.context_miss=1us",
                                     "hca.context_fetches=2", NULL };
  static const Sent sent[] = {
    { 0, 1, 0 }, { 0, 2, LATER (1) }, { 0, 3, LATER (2) }, { 0, 4, LATER (2) }
  };
  static const int64_t in_turn[] = { 0, 0, US, 2 * US - US / 10 };
  static const int64_t together[] = { 0, 0, US, US - US / 10 + 33500 };

  check_late (one, sent, G_N_ELEMENTS (sent), in_turn, in_turn);
  check_late (two, sent, G_N_ELEMENTS (sent), together, together);
}

/* What arrives for a context that is being fetched waits for the same fetch, and does not pass. */
static void
test_arrivals_in_order (void)
{
  static const char *const settings[] = { "hca.contexts=1", "hca.context_miss=1us", NULL };
  static const Sent sent[] = { { 1, 0, 0 }, { 2, 0, LATER (1) }, { 2, 0, LATER (1) + US / 2 } };
  /* Software sees the third a gap of 100 ns after the second, whose acknowledgement of 38 B is on the link
   * before. */
  static const int64_t late_ps[] = { 0, US, US / 2 + US / 10 },
                       sent_late_ps[] = { 0, US, US / 2 + 9500 };

  check_late (settings, sent, G_N_ELEMENTS (sent), late_ps, sent_late_ps);
}

/* A node that sends and writes to all 15 others needs 30 contexts: nothing is fetched when it has so many, and
 * the last one when it lacks one. */
static void
test_as_many_as_needed (void)
{
  enum { OTHERS = 15, N = 2 * OTHERS };
  static const char *const enough[] = { "hca.contexts=30", "hca.context_miss=1us", NULL };
  static const char *const too_few[] = { "hca.contexts=29", "hca.context_miss=1us", NULL };
  Sent sent[N];
  int64_t late_ps[N] = { 0 };

  for (uint32_t i = 0; i < N; i++)
    sent[i] = (Sent){ 0, 1 + i % OTHERS, LATER (i), i >= OTHERS };
  check_late (enough, sent, N, late_ps, late_ps);
  late_ps[N - 1] = US;
  check_late (too_few, sent, N, late_ps, late_ps);
}

/* --- The order of use, against a list that is searched --- */

enum { MOST_RANKS = 60, DEVICES = 3, FETCHES = 2, ENDS = MOST_RANKS * MOST_RANKS };
#define MISS_PS 1000

/* The contexts of a device, by its ends of connections. */
typedef struct {
  int64_t ready_ps[ENDS];
  uint32_t last_use[ENDS]; /* 0: it is not held */
  uint32_t n_held;
  int64_t fetches_ps[FETCHES]; /* ends of the last two */
} PlainSide;

typedef struct {
  PlainSide sides[DEVICES][IB_CONTEXT_SIDES];
  uint32_t n_ends[DEVICES];
  uint32_t n_uses, capacity;
} Plain;

static void
plain_hold (Plain *plain, PlainSide *side, uint32_t n_ends, uint32_t end)
{
  uint32_t oldest = UINT32_MAX;

  side->last_use[end] = ++plain->n_uses;
  if (++side->n_held <= plain->capacity)
    return;
  for (uint32_t i = 0; i < n_ends; i++)
    if (side->last_use[i] > 0 &&
        (oldest == UINT32_MAX || side->last_use[i] < side->last_use[oldest]))
      oldest = i;
  side->last_use[oldest] = 0;
  side->n_held--;
}

/* A new end has the next number of its device, and is held where there is room. */
static void
plain_add (Plain *plain, uint32_t device, uint32_t end)
{
  if (end < plain->n_ends[device])
    return;
  g_assert_cmpuint (end, ==, plain->n_ends[device]++);
  for (uint32_t side = 0; side < IB_CONTEXT_SIDES; side++)
    if (plain->sides[device][side].n_held < plain->capacity)
      plain_hold (plain, &plain->sides[device][side], plain->n_ends[device], end);
}

/* A fetch begins when it is asked for, and when the last but one before it is over. */
static int64_t
plain_use (Plain *plain, uint32_t device, uint32_t side, uint32_t end, int64_t now_ps)
{
  PlainSide *it = &plain->sides[device][side];

  if (it->last_use[end] > 0) {
    it->last_use[end] = ++plain->n_uses;
    return MAX (it->ready_ps[end], now_ps);
  }
  plain_hold (plain, it, plain->n_ends[device], end);
  it->ready_ps[end] = MAX (it->fetches_ps[0], now_ps) + MISS_PS;
  it->fetches_ps[0] = it->fetches_ps[1];
  it->fetches_ps[1] = it->ready_ps[end];
  return it->ready_ps[end];
}

/* A random one of two ranks' uses at a time.  Numbers of uses begin near the largest one, so that they must
 * be counted anew. */
static void
check_order_of_use (uint32_t n_ranks, uint32_t capacity)
{
  BaseRandom random = base_random_stream (1, 1);
  IbContexts contexts;
  g_autofree Plain *plain = g_new0 (Plain, 1);
  uint32_t n_ends = 0, n_waited = 0;
  int64_t now_ps = 0;

  plain->capacity = capacity;
  ib_contexts_init (&contexts, capacity, FETCHES, MISS_PS, DEVICES);
  for (uint32_t side = 0; side < DEVICES * IB_CONTEXT_SIDES; side++)
    contexts.sides[side].n_uses = UINT32_MAX - side * capacity;
  for (uint32_t step = 0; step < 20000; step++) {
    uint32_t from = (uint32_t) base_random_below (&random, n_ranks);
    uint32_t to = (uint32_t) base_random_below (&random, n_ranks);
    bool receives = base_random_below (&random, 2) == 0;
    uint32_t device = (receives ? to : from) % DEVICES, end;
    IbContextSide side = receives ? IB_CONTEXT_RECEIVE : IB_CONTEXT_SEND;
    int64_t there_ps;
    IbEnds ends, back;

    if (from % DEVICES == to % DEVICES)
      continue;
    now_ps += (int64_t) base_random_below (&random, 200);
    ends = ib_contexts_connect (&contexts, from, to, 0, true, from % DEVICES, to % DEVICES);
    back = ib_contexts_connect (&contexts, to, from, 0, true, to % DEVICES, from % DEVICES);
    g_assert_true (ends.source == back.destination && ends.destination == back.source);
    plain_add (plain, from % DEVICES, ends.source);
    plain_add (plain, to % DEVICES, ends.destination);
    end = receives ? ends.destination : ends.source;
    there_ps = ib_contexts_use (&contexts, device, side, end, now_ps);
    g_assert_cmpint (there_ps, ==, plain_use (plain, device, side, end, now_ps));
    n_waited += there_ps > now_ps;
  }
  for (uint32_t device = 0; device < DEVICES; device++)
    n_ends += plain->n_ends[device];
  g_assert_cmpuint (n_ends, ==, n_ranks * (n_ranks - n_ranks / DEVICES));
  g_assert_cmpuint (n_waited, >, 1000);
  ib_contexts_clear (&contexts);
}

static void
test_order_of_use (void)
{
  check_order_of_use (12, 5);
  check_order_of_use (12, 1);
  check_order_of_use (MOST_RANKS, 300); /* most are out of order */
}

/* Two ranks on nodes of two adapters, whose messages take one adapter in one direction and another one in the
 * other, have a connection for each, and each counts at its own adapters. */
static void
test_one_way (void)
{
  IbContexts contexts;
  IbEnds there, back;

  ib_contexts_init (&contexts, 1, 1, MISS_PS, 4);
  there = ib_contexts_connect (&contexts, 7, 3, 0, false, 0, 2);
  back = ib_contexts_connect (&contexts, 3, 7, 0, false, 3, 1);
  for (uint32_t side = 0; side < 4 * IB_CONTEXT_SIDES; side++)
    g_assert_cmpuint (contexts.sides[side].n_held, ==, 1);
  g_assert_cmpint (ib_contexts_use (&contexts, 0, IB_CONTEXT_SEND, there.source, 5), ==, 5);
  g_assert_cmpint (ib_contexts_use (&contexts, 1, IB_CONTEXT_RECEIVE, back.destination, 5), ==, 5);
  there = ib_contexts_connect (&contexts, 7, 4, 0, false, 0, 2);
  g_assert_cmpint (ib_contexts_use (&contexts, 0, IB_CONTEXT_SEND, there.source, 5), ==,
                   5 + MISS_PS);
  ib_contexts_clear (&contexts);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sim/contexts/sender", test_sender_fetches);
  g_test_add_func ("/sim/contexts/receiver", test_receiver_fetches);
  g_test_add_func ("/sim/contexts/acknowledgement", test_acknowledgement_fetches);
  g_test_add_func ("/sim/contexts/fetches", test_fetches_at_a_time);
  g_test_add_func ("/sim/contexts/arrivals", test_arrivals_in_order);
  g_test_add_func ("/sim/contexts/as-many-as-needed", test_as_many_as_needed);
  g_test_add_func ("/sim/contexts/order-of-use", test_order_of_use);
  g_test_add_func ("/sim/contexts/one-way", test_one_way);
  return g_test_run ();
}
