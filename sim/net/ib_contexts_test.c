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
} Sent;

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
    bench_send (few, sent[i].from, sent[i].to, 100, sent[i].at_ps);
    bench_send (ideal, sent[i].from, sent[i].to, 100, sent[i].at_ps);
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

/* --- The order of use, against a list that is searched --- */

enum { RANKS = 12, DEVICES = 3, CAPACITY = 5, FETCHES = 2, CONTEXTS = RANKS * RANKS * 2 };
#define MISS_PS 1000

typedef struct {
  int64_t ready_ps[CONTEXTS];
  uint32_t last_use[CONTEXTS]; /* 0: never */
  bool held[CONTEXTS];
  uint32_t device[CONTEXTS];
  uint32_t n[DEVICES][IB_CONTEXT_SIDES];
  int64_t fetches_ps[DEVICES][IB_CONTEXT_SIDES][2]; /* ends of the last two */
  uint32_t n_uses;
} Plain;

static void
plain_hold (Plain *plain, const IbContexts *contexts, uint32_t index)
{
  uint32_t device = plain->device[index], side = index % IB_CONTEXT_SIDES;
  uint32_t oldest = UINT32_MAX;

  plain->held[index] = true;
  plain->last_use[index] = ++plain->n_uses;
  if (++plain->n[device][side] <= CAPACITY)
    return;
  for (uint32_t i = side; i < contexts->n_contexts; i += IB_CONTEXT_SIDES)
    if (plain->held[i] && i != index && plain->device[i] == device &&
        (oldest == UINT32_MAX || plain->last_use[i] < plain->last_use[oldest]))
      oldest = i;
  plain->held[oldest] = false;
  plain->n[device][side]--;
}

/* A fetch begins when it is asked for, and when the last but one before it is over. */
static int64_t
plain_use (Plain *plain, const IbContexts *contexts, uint32_t index, int64_t now_ps)
{
  int64_t *ends_ps = plain->fetches_ps[plain->device[index]][index % IB_CONTEXT_SIDES];

  if (plain->held[index]) {
    plain->last_use[index] = ++plain->n_uses;
    return MAX (plain->ready_ps[index], now_ps);
  }
  plain_hold (plain, contexts, index);
  plain->ready_ps[index] = MAX (ends_ps[0], now_ps) + MISS_PS;
  ends_ps[0] = ends_ps[1];
  ends_ps[1] = plain->ready_ps[index];
  return plain->ready_ps[index];
}

static void
test_order_of_use (void)
{
  BaseRandom random = base_random_stream (1, 1);
  IbContexts contexts;
  Plain plain = { .n_uses = 0 };
  uint32_t n_known = 0, n_waited = 0;
  int64_t now_ps = 0, there_ps;

  ib_contexts_init (&contexts, CAPACITY, FETCHES, MISS_PS, DEVICES);
  for (uint32_t step = 0; step < 20000; step++) {
    uint32_t from = (uint32_t) base_random_below (&random, RANKS);
    uint32_t to = (uint32_t) base_random_below (&random, RANKS);
    uint32_t index, device = from % DEVICES;

    if (from % DEVICES == to % DEVICES)
      continue;
    now_ps += (int64_t) base_random_below (&random, 200);
    index = ib_contexts_connect (&contexts, from, to, false, from % DEVICES, to % DEVICES);
    g_assert_true (n_known == contexts.n_contexts || index / 4 * 4 == n_known);
    g_assert_cmpuint ((index & IB_CONTEXT_OTHER_END) != 0, ==, from > to);
    for (uint32_t side = 0; side < IB_CONTEXT_SIDES; side++) {
      plain.device[index + side] = from % DEVICES;
      plain.device[(index ^ IB_CONTEXT_OTHER_END) + side] = to % DEVICES;
    }
    for (; n_known < contexts.n_contexts; n_known++)
      if (plain.n[plain.device[n_known]][n_known % IB_CONTEXT_SIDES] < CAPACITY)
        plain_hold (&plain, &contexts, n_known);
    if (base_random_below (&random, 2) == 0) {
      index = (index ^ IB_CONTEXT_OTHER_END) + IB_CONTEXT_RECEIVE;
      device = to % DEVICES;
    }
    there_ps = ib_contexts_use (&contexts, index, device, now_ps);
    g_assert_cmpint (there_ps, ==, plain_use (&plain, &contexts, index, now_ps));
    n_waited += there_ps > now_ps;
  }
  g_assert_cmpuint (n_known, ==, RANKS * (RANKS - RANKS / DEVICES) * 2);
  g_assert_cmpuint (n_waited, >, 1000);
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
  g_test_add_func ("/sim/contexts/order-of-use", test_order_of_use);
  return g_test_run ();
}
