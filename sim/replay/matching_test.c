/* matching_test.c - MPI's matching rules.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/replay/matching.h"

#include "mpi/operation.h"

#include <glib.h>
#include <string.h>

typedef struct {
  SimMatchPool pool;
  SimMatchQueue queue;
} Fixture;

static void
set_up (Fixture *fixture, gconstpointer data)
{
  (void) data;
  sim_match_pool_init (&fixture->pool);
  sim_match_queue_init (&fixture->queue);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  (void) data;
  sim_match_queue_clear (&fixture->queue);
  sim_match_pool_clear (&fixture->pool);
}

static uint32_t
arrive (Fixture *fixture, uint32_t context, uint32_t source, int32_t tag, uint32_t transfer)
{
  return sim_match_arrive (&fixture->pool, &fixture->queue, (SimEnvelope){ context, source, tag },
                           transfer);
}

static uint32_t
post (Fixture *fixture, uint32_t context, uint32_t source, int32_t tag, uint32_t request)
{
  return sim_match_post (&fixture->pool, &fixture->queue, (SimEnvelope){ context, source, tag },
                         request);
}

static void
test_oldest_first (Fixture *fixture, gconstpointer data)
{
  (void) data;
  for (uint32_t i = 0; i < 5; i++)
    g_assert_cmpuint (post (fixture, 0, 3, 7, i), ==, TOPO_NONE);
  for (uint32_t i = 0; i < 5; i++)
    g_assert_cmpuint (arrive (fixture, 0, 3, 7, 100 + i), ==, i);
  for (uint32_t i = 0; i < 5; i++)
    g_assert_cmpuint (arrive (fixture, 0, 3, 7, 200 + i), ==, TOPO_NONE);
  for (uint32_t i = 0; i < 5; i++)
    g_assert_cmpuint (post (fixture, 0, 3, 7, i), ==, 200 + i);
}

static void
test_envelopes_must_agree (Fixture *fixture, gconstpointer data)
{
  (void) data;
  post (fixture, 0, 3, 7, 1);
  g_assert_cmpuint (arrive (fixture, 2, 3, 7, 10), ==, TOPO_NONE);
  g_assert_cmpuint (arrive (fixture, 0, 4, 7, 11), ==, TOPO_NONE);
  g_assert_cmpuint (arrive (fixture, 0, 3, 8, 12), ==, TOPO_NONE);
  g_assert_cmpuint (arrive (fixture, 0, 3, 7, 13), ==, 1);
  g_assert_cmpuint (fixture->queue.n_unexpected, ==, 3);
}

static void
test_message_takes_older_of_wild_and_exact (Fixture *fixture, gconstpointer data)
{
  (void) data;
  post (fixture, 0, TOPO_NONE, 7, 1);
  post (fixture, 0, 3, 7, 2);
  post (fixture, 0, 3, TRACE_ANY_TAG, 3);
  post (fixture, 0, 3, 7, 4);
  for (uint32_t i = 1; i <= 4; i++)
    g_assert_cmpuint (arrive (fixture, 0, 3, 7, 10), ==, i);
  g_assert_cmpuint (fixture->queue.n_posted, ==, 0);
}

static void
test_wildcard_takes_oldest_message (Fixture *fixture, gconstpointer data)
{
  (void) data;
  arrive (fixture, 2, 1, 7, 9); /* another communicator */
  arrive (fixture, 0, 5, 7, 10);
  arrive (fixture, 0, 1, 8, 11);
  arrive (fixture, 0, 1, 7, 12);
  g_assert_cmpuint (post (fixture, 0, 1, TRACE_ANY_TAG, 1), ==, 11);
  g_assert_cmpuint (post (fixture, 0, TOPO_NONE, 7, 2), ==, 10);
  g_assert_cmpuint (post (fixture, 0, TOPO_NONE, TRACE_ANY_TAG, 3), ==, 12);
  g_assert_cmpuint (post (fixture, 0, TOPO_NONE, TRACE_ANY_TAG, 4), ==, TOPO_NONE);
}

static void
test_cancel_takes_back_from_the_middle (Fixture *fixture, gconstpointer data)
{
  SimEnvelope exact = { 0, 3, 7 }, wild = { 0, TOPO_NONE, 7 };

  (void) data;
  for (uint32_t i = 0; i < 3; i++) {
    post (fixture, 0, 3, 7, i);
    post (fixture, 0, TOPO_NONE, 7, 10 + i);
  }
  g_assert_true (sim_match_cancel (&fixture->pool, &fixture->queue, exact, 1));
  g_assert_true (sim_match_cancel (&fixture->pool, &fixture->queue, wild, 10));
  g_assert_false (sim_match_cancel (&fixture->pool, &fixture->queue, exact, 1));
  g_assert_cmpuint (arrive (fixture, 0, 3, 7, 0), ==, 0);
  g_assert_cmpuint (arrive (fixture, 0, 3, 7, 0), ==, 11);
  g_assert_cmpuint (arrive (fixture, 0, 3, 7, 0), ==, 2);
  g_assert_cmpuint (arrive (fixture, 0, 3, 7, 0), ==, 12);
  g_assert_cmpuint (fixture->queue.n_posted, ==, 0);
}

static void
test_probe_leaves_the_message (Fixture *fixture, gconstpointer data)
{
  SimEnvelope wild = { 0, TOPO_NONE, 7 };

  (void) data;
  g_assert_cmpuint (sim_match_probe (&fixture->pool, &fixture->queue, wild), ==, TOPO_NONE);
  arrive (fixture, 0, 3, 7, 42);
  g_assert_cmpuint (sim_match_probe (&fixture->pool, &fixture->queue, wild), ==, 42);
  g_assert_cmpuint (sim_match_probe (&fixture->pool, &fixture->queue, wild), ==, 42);
  g_assert_cmpuint (post (fixture, 0, 3, 7, 1), ==, 42);
}

/* -- against the rule written down naively ------------------------------- */

typedef struct {
  SimEnvelope envelope;
  uint32_t item;
} Waiting;

static uint32_t
naive_take (GArray *list, SimEnvelope envelope, bool is_receive)
{
  for (uint32_t i = 0; i < list->len; i++) {
    Waiting it = g_array_index (list, Waiting, i);

    if (is_receive ? sim_match_accepts (envelope, it.envelope)
                   : sim_match_accepts (it.envelope, envelope)) {
      g_array_remove_index (list, i);
      return it.item;
    }
  }
  return TOPO_NONE;
}

static SimEnvelope
random_envelope (bool is_receive)
{
  bool any_source = is_receive && g_test_rand_int_range (0, 5) == 0;
  bool any_tag = is_receive && g_test_rand_int_range (0, 5) == 0;

  return (SimEnvelope){ (uint32_t) g_test_rand_int_range (0, 2),
                        any_source ? TOPO_NONE : (uint32_t) g_test_rand_int_range (0, 6),
                        any_tag ? TRACE_ANY_TAG : g_test_rand_int_range (0, 4) };
}

static void
test_agrees_with_two_lists (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GArray) posted = g_array_new (FALSE, FALSE, sizeof (Waiting));
  g_autoptr (GArray) unexpected = g_array_new (FALSE, FALSE, sizeof (Waiting));

  (void) data;
  for (uint32_t item = 0; item < 20000; item++) {
    bool is_receive = g_test_rand_bit ();
    SimEnvelope envelope = random_envelope (is_receive);
    uint32_t wanted = naive_take (is_receive ? unexpected : posted, envelope, is_receive);
    uint32_t found = is_receive
                         ? sim_match_post (&fixture->pool, &fixture->queue, envelope, item)
                         : sim_match_arrive (&fixture->pool, &fixture->queue, envelope, item);

    g_assert_cmpuint (found, ==, wanted);
    if (wanted == TOPO_NONE)
      g_array_append_vals (is_receive ? posted : unexpected, &(Waiting){ envelope, item }, 1);
    g_assert_cmpuint (fixture->queue.n_posted, ==, posted->len);
    g_assert_cmpuint (fixture->queue.n_unexpected, ==, unexpected->len);
  }
}

/* The replay posts receives earlier than the network's time: which receive gets which message
 * must not depend on how posts and arrivals interleave. */
static void
test_interleaving_does_not_matter (Fixture *fixture, gconstpointer data)
{
  enum { N = 40 };
  SimEnvelope sent[N], wanted[N];
  uint32_t partner[N], first[N];

  (void) fixture;
  (void) data;
  for (uint32_t i = 0; i < N; i++) {
    sent[i] = random_envelope (false);
    wanted[i] = random_envelope (true);
  }
  for (uint32_t round = 0; round < 50; round++) {
    Fixture own;
    uint32_t n_sent = 0, n_wanted = 0;

    set_up (&own, NULL);
    for (uint32_t i = 0; i < N; i++)
      partner[i] = TOPO_NONE;
    while (n_sent < N || n_wanted < N)
      if (n_wanted == N || (n_sent < N && g_test_rand_bit ())) {
        uint32_t request = sim_match_arrive (&own.pool, &own.queue, sent[n_sent], n_sent);

        if (request != TOPO_NONE)
          partner[request] = n_sent;
        n_sent++;
      } else {
        partner[n_wanted] = sim_match_post (&own.pool, &own.queue, wanted[n_wanted], n_wanted);
        n_wanted++;
      }
    if (round == 0)
      memcpy (first, partner, sizeof first);
    g_assert_cmpmem (partner, sizeof partner, first, sizeof first);
    tear_down (&own, NULL);
  }
}

#define ADD(name, function) \
  g_test_add ("/sim/matching/" name, Fixture, NULL, set_up, function, tear_down)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  ADD ("oldest-first", test_oldest_first);
  ADD ("envelopes-must-agree", test_envelopes_must_agree);
  ADD ("older-of-wild-and-exact", test_message_takes_older_of_wild_and_exact);
  ADD ("wildcard-oldest-message", test_wildcard_takes_oldest_message);
  ADD ("cancel", test_cancel_takes_back_from_the_middle);
  ADD ("probe", test_probe_leaves_the_message);
  ADD ("agrees-with-two-lists", test_agrees_with_two_lists);
  ADD ("interleaving", test_interleaving_does_not_matter);
  return g_test_run ();
}
