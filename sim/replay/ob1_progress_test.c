/* ob1_progress_test.c - Open MPI's protocols: who does what comes, and when.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/replay/replay_fixture.h"

#define MIB (1024u * 1024)

static void
fixture_overlap (Fixture *f, uint32_t per_node, bool sender_computes, bool agent)
{
  fixture_init_fabric (f, 2, per_node);
  f->machine->parameters.async_progress = agent;
  script_isend (f->trace, 0, 1, 7, 200000, 5);
  script_irecv (f->trace, 1, 0, 7, 200000, 5);
  script_compute (f->trace, sender_computes ? 0 : 1, 5000000 * (int64_t) NS);
  for (uint32_t rank = 0; rank < 2; rank++)
    script_wait (f->trace, rank, 5);
  fixture_run (f);
}

/* A rank that computes holds the message up, unless an agent works for it. */
static void
test_outside (void)
{
  for (uint32_t per_node = 1; per_node <= 2; per_node++)
    for (uint32_t sender = 0; sender < 2; sender++) {
      Fixture f;

      fixture_overlap (&f, per_node, sender, false);
      g_assert_cmpfloat (fixture_end_ns (&f, 0), >, 5000000);
      g_assert_cmpfloat (fixture_end_ns (&f, 1), >, 5000000);
      g_assert_cmpfloat (fixture_end_ns (&f, sender ? 0 : 1), >, 5000000 + 15000);
      fixture_clear (&f);
      fixture_overlap (&f, per_node, sender, true);
      g_assert_cmpfloat (fixture_end_ns (&f, sender ? 1 : 0), <, 500000);
      g_assert_cmpfloat_with_epsilon (fixture_end_ns (&f, sender ? 0 : 1), 5000000, 3000);
      fixture_clear (&f);
    }
}

/* Rank 1 posts its second receive when it has computed, long after that message
 * has come; what its agent has to do until then does not wait for it. */
static void
test_agent_is_not_held_up (void)
{
  Fixture f;

  fixture_init_fabric (&f, 3, 1);
  f.machine->parameters.async_progress = true;
  script_send (f.trace, 0, 1, 7, 200000);
  script_send (f.trace, 2, 1, 8, 100);
  script_irecv (f.trace, 1, 0, 7, 200000, 5);
  script_compute (f.trace, 1, 5000000 * (int64_t) NS);
  script_irecv (f.trace, 1, 2, 8, 100, 6);
  script_add (f.trace, 1, (TraceOp){ .kind = TRACE_OP_WAIT_OUTSTANDING });
  fixture_run (&f);
  g_assert_cmpfloat (fixture_end_ns (&f, 0), <, 500000);
  /* 100 for each posting and the wait; 700 + 60 and a copy, begun when it is posted. */
  g_assert_cmpfloat_with_epsilon (fixture_end_ns (&f, 1), 5000000 + 200 + 770, 0.01);
  fixture_clear (&f);
}

/* Calls in between move it on, as far as one round of the library does. */
static void
test_polling (void)
{
  double end_ns[2];

  for (uint32_t polls = 0; polls < 2; polls++) {
    Fixture f;

    fixture_init_fabric (&f, 2, 1);
    script_isend (f.trace, 0, 1, 7, MIB, 5);
    for (uint32_t i = 0; i < 100; i++) {
      script_compute (f.trace, 0, 50000 * NS);
      if (polls)
        script_call (f.trace, 0);
    }
    script_wait (f.trace, 0, 5);
    script_recv (f.trace, 1, 0, 7, MIB);
    fixture_run (&f);
    end_ns[polls] = fixture_end_ns (&f, 1);
    fixture_clear (&f);
  }
  g_assert_cmpfloat (end_ns[0], >, 5000000);
  g_assert_cmpfloat (end_ns[1], <, 3000000);
}

/* A call does what has come by then, not what comes meanwhile: two senders are
 * faster than the copies of their receiver, who tells rank 3 when it goes on. */
static void
test_one_round (void)
{
  Fixture f;

  fixture_init_fabric (&f, 4, 1);
  f.machine->parameters.core_bandwidth_Bps = 1000000000;
  for (uint32_t sender = 0; sender <= 2; sender += 2) {
    script_isend (f.trace, sender, 1, 7, 4 * MIB, 5);
    script_wait (f.trace, sender, 5);
    script_irecv (f.trace, 1, (int32_t) sender, 7, 4 * MIB, 5 + sender);
  }
  for (uint32_t i = 0; i < 2; i++) {
    script_compute (f.trace, 1, 200000 * NS);
    script_call (f.trace, 1);
  }
  script_send (f.trace, 1, 3, 7, 0);
  script_recv (f.trace, 3, 1, 7, 0);
  script_add (f.trace, 1, (TraceOp){ .kind = TRACE_OP_WAIT_OUTSTANDING });
  fixture_run (&f);
  /* All the copies out take 2 ms. */
  g_assert_cmpfloat (fixture_end_ns (&f, 3), <, 1000000);
  g_assert_cmpfloat (fixture_end_ns (&f, 1), >, 2200000);
  fixture_clear (&f);
}

/* The send of a posted collective completes before its rank blocks; nothing
 * else will wake the rank. */
static void
test_posted_send (void)
{
  for (uint32_t per_node = 1; per_node <= 2; per_node++) {
    Fixture f;

    fixture_init_fabric (&f, 2, per_node);
    for (uint32_t rank = 0; rank < 2; rank++) {
      script_add (f.trace, rank,
                  (TraceOp){ .kind = TRACE_OP_GATHER,
                             .comm = TRACE_COMM_WORLD,
                             .root = 0,
                             .nonblocking = true,
                             .request = 5 });
      script_wait (f.trace, rank, 5);
    }
    fixture_run (&f);
    g_assert_no_error (f.error);
    fixture_clear (&f);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sim/ob1-progress/outside", test_outside);
  g_test_add_func ("/sim/ob1-progress/agent", test_agent_is_not_held_up);
  g_test_add_func ("/sim/ob1-progress/polling", test_polling);
  g_test_add_func ("/sim/ob1-progress/one-round", test_one_round);
  g_test_add_func ("/sim/ob1-progress/posted-send", test_posted_send);
  return g_test_run ();
}
