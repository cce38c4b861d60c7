/* replay_test.c - messages of two or three ranks, timed by hand.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Times are in nanoseconds; see replay_testing.h for the machine's. */
#include "sim/replay/replay_testing.h"

#include <string.h>

static void
test_eager (void)
{
  g_auto (Fixture) f = fixture_new (2, 1);

  script_send (f.trace, 0, 1, 7, 500);
  script_recv (f.trace, 1, 0, 7, 500);
  fixture_run (&f);
  ASSERT_ENDS (&f, 0, 300);
  ASSERT_ENDS (&f, 1, 300 + 1500 + 700);
  g_assert_cmpint (f.result->ranks[1].wait_ps, ==, 1800 * NS);
  g_assert_cmpint (f.result->ranks[0].wait_ps, ==, 0);
  g_assert_cmpint (f.result->time_ps, ==, 2500 * NS);
  g_assert_cmpuint (f.result->messages, ==, 1);
  g_assert_cmpuint (f.result->message_bytes, ==, 500);
  g_assert_cmpuint (f.result->ranks[0].sends, ==, 1);
  g_assert_cmpuint (f.result->ranks[1].receives, ==, 1);
  g_assert_cmpuint (sim_edges_count (sim_replay_edges (f.replay)), ==, 1);
}

static void
test_unexpected_eager (void)
{
  g_auto (Fixture) f = fixture_new (2, 1);

  script_send (f.trace, 0, 1, 7, 500);
  script_compute (f.trace, 1, 5000 * NS);
  script_recv (f.trace, 1, 0, 7, 500);
  fixture_run (&f);
  ASSERT_ENDS (&f, 1, 5700);
  g_assert_cmpint (f.result->ranks[1].wait_ps, ==, 0);
  g_assert_cmpint (f.result->ranks[1].compute_ps, ==, 5000 * NS);
}

/* Request 300-1300, get 1300-2300, data 2300-5300, receive done 6000, its
 * acknowledgement 6000-7000. */
static void
test_rendezvous (void)
{
  g_auto (Fixture) f = fixture_new (2, 1);

  script_send (f.trace, 0, 1, 7, 2000);
  script_recv (f.trace, 1, 0, 7, 2000);
  fixture_run (&f);
  ASSERT_ENDS (&f, 0, 7000);
  ASSERT_ENDS (&f, 1, 6000);
  g_assert_cmpint (f.result->ranks[0].wait_ps, ==, 6700 * NS);
  g_assert_cmpuint (fixture_count (&f, SIM_MESSAGE_CONTROL), ==, 2);
  g_assert_cmpuint (fixture_count (&f, SIM_MESSAGE_REMOTE_GET), ==, 1);
  g_assert_cmpuint (fixture_record (&f, SIM_MESSAGE_DATA, 0)->message.bytes, ==, 2000);
}

/* Nobody answers the request of 1300 before the wait, at 100 + 5000 + 100. */
static void
computing_receiver (Fixture *f)
{
  *f = fixture_new (2, 1);
  script_send (f->trace, 0, 1, 7, 2000);
  script_irecv (f->trace, 1, 0, 7, 2000, 9);
  script_compute (f->trace, 1, 5000 * NS);
  script_wait (f->trace, 1, 9);
}

static void
test_rendezvous_waits_for_the_receiver (void)
{
  g_auto (Fixture) f = { 0 };

  computing_receiver (&f);
  fixture_run (&f);
  ASSERT_ENDS (&f, 1, 5200 + 1000 + 3000 + 700);
  ASSERT_ENDS (&f, 0, 9900 + 1000);
}

static void
test_async_progress_answers_at_once (void)
{
  g_auto (Fixture) f = { 0 };

  computing_receiver (&f);
  f.machine->parameters.async_progress = true;
  fixture_run (&f);
  ASSERT_ENDS (&f, 1, 6000);
  ASSERT_ENDS (&f, 0, 7000);
}

/* A call in the middle, 2100-2200, answers. */
static void
test_any_call_makes_progress (void)
{
  g_auto (Fixture) f = fixture_new (2, 1);

  script_send (f.trace, 0, 1, 7, 2000);
  script_irecv (f.trace, 1, 0, 7, 2000, 9);
  script_compute (f.trace, 1, 2000 * NS);
  script_call (f.trace, 1);
  script_compute (f.trace, 1, 3000 * NS);
  script_wait (f.trace, 1, 9);
  fixture_run (&f);
  g_assert_cmpint (fixture_record (&f, SIM_MESSAGE_REMOTE_GET, 0)->sent_ps, ==, 2200 * NS);
  ASSERT_ENDS (&f, 1, 2200 + 1000 + 3000 + 700);
}

/* The wait for the first message ends at once and answers the second, whose
 * request came at 1600, although the rank goes on to compute. */
static void
test_short_wait_makes_progress (void)
{
  g_auto (Fixture) f = fixture_new (2, 1);

  script_send (f.trace, 0, 1, 1, 100);
  script_send (f.trace, 0, 1, 2, 2000);
  script_irecv (f.trace, 1, 0, 1, 100, 8);
  script_irecv (f.trace, 1, 0, 2, 2000, 9);
  script_compute (f.trace, 1, 3000 * NS);
  script_wait (f.trace, 1, 8);
  script_compute (f.trace, 1, 8000 * NS);
  script_wait (f.trace, 1, 9);
  fixture_run (&f);
  /* 200 + 3000 + 100, then 700 for the eager message. */
  g_assert_cmpint (fixture_record (&f, SIM_MESSAGE_REMOTE_GET, 0)->sent_ps, ==, 4000 * NS);
  ASSERT_ENDS (&f, 1, 4000 + 8000 + 100 + 700);
}

static void
test_within_a_node (void)
{
  g_auto (Fixture) f = fixture_new (2, 2);

  script_send (f.trace, 0, 1, 7, 500);
  script_recv (f.trace, 1, 0, 7, 500);
  fixture_run (&f);
  ASSERT_ENDS (&f, 1, 300 + 200 + 50 + 700);
  g_assert_cmpuint (fake_network_log (f.network)->len, ==, 0);
  g_assert_cmpuint (sim_edges_count (sim_replay_edges (f.replay)), ==, 1);
}

/* The copy runs 500-700; both see its end. */
static void
test_rendezvous_within_a_node (void)
{
  g_auto (Fixture) f = fixture_new (2, 2);

  script_send (f.trace, 0, 1, 7, 2000);
  script_recv (f.trace, 1, 0, 7, 2000);
  fixture_run (&f);
  ASSERT_ENDS (&f, 0, 700);
  ASSERT_ENDS (&f, 1, 1400);
}

static void
test_to_oneself (void)
{
  g_auto (Fixture) f = fixture_new (2, 1);

  script_irecv (f.trace, 0, 0, 7, 2000, 5);
  script_isend (f.trace, 0, 0, 7, 2000, 6);
  script_requests (f.trace, 0, TRACE_OP_WAIT, 2, (uint32_t[]){ 5, 6 });
  fixture_run (&f);
  ASSERT_ENDS (&f, 0, 100 + 300 + 200 + 200 + 700);
  g_assert_cmpuint (f.result->messages, ==, 1);
  g_assert_cmpuint (sim_edges_count (sim_replay_edges (f.replay)), ==, 0);
}

static void
test_synchronous_small (void)
{
  g_auto (Fixture) f = fixture_new (2, 1);

  script_send_mode (f.trace, 0, 1, 7, 10, TRACE_SEND_SYNCHRONOUS);
  script_recv (f.trace, 1, 0, 7, 10);
  fixture_run (&f);
  ASSERT_ENDS (&f, 1, 2300 + 1010 + 700);
  ASSERT_ENDS (&f, 0, 4010 + 1000);
}

/* Nothing to get: the request is acknowledged. */
static void
test_synchronous_empty (void)
{
  g_auto (Fixture) f = fixture_new (2, 1);

  script_send_mode (f.trace, 0, 1, 7, 0, TRACE_SEND_SYNCHRONOUS);
  script_recv (f.trace, 1, 0, 7, 0);
  fixture_run (&f);
  ASSERT_ENDS (&f, 1, 1300 + 700);
  ASSERT_ENDS (&f, 0, 3000);
  g_assert_cmpuint (fixture_count (&f, SIM_MESSAGE_DATA), ==, 0);
}

static void
test_buffered_does_not_wait (void)
{
  g_auto (Fixture) f = fixture_new (2, 1);

  script_send_mode (f.trace, 0, 1, 7, 2000, TRACE_SEND_BUFFERED);
  script_recv (f.trace, 1, 0, 7, 2000);
  fixture_run (&f);
  ASSERT_ENDS (&f, 0, 300);
  ASSERT_ENDS (&f, 1, 6000);
}

static void
test_sends_are_pipelined (void)
{
  g_auto (Fixture) f = fixture_new (2, 1);

  for (uint32_t i = 0; i < 100; i++) {
    script_send (f.trace, 0, 1, 7, 0);
    script_recv (f.trace, 1, 0, 7, 0);
  }
  fixture_run (&f);
  ASSERT_ENDS (&f, 0, 100 * 300);
  /* 700 per message is more than 300, so the receiver is never idle again. */
  ASSERT_ENDS (&f, 1, 1300 + 100 * 700);
}

/* The second, empty, is there before the first, but is matched after it. */
static void
test_order_of_a_pair (void)
{
  g_auto (Fixture) f = fixture_new (2, 1);

  script_send (f.trace, 0, 1, 7, 900);
  script_send (f.trace, 0, 1, 7, 0);
  script_recv (f.trace, 1, 0, 7, 900);
  script_recv (f.trace, 1, 0, 7, 0);
  fixture_run (&f);
  /* The second is there at 1600, the first at 2200. */
  ASSERT_ENDS (&f, 1, 2200 + 700 + 700);
  g_assert_cmpuint (f.result->warnings->len, ==, 0);
}

static void
test_wildcard_takes_who_comes_first (void)
{
  g_auto (Fixture) f = fixture_new (3, 1);

  script_compute (f.trace, 1, 1000 * NS);
  script_send (f.trace, 1, 0, 7, 10);
  script_send (f.trace, 2, 0, 7, 900);
  script_recv (f.trace, 0, TRACE_ANY_SOURCE, TRACE_ANY_TAG, 900);
  script_recv (f.trace, 0, TRACE_ANY_SOURCE, TRACE_ANY_TAG, 10);
  fixture_run (&f);
  /* 2200 from rank 2, 2310 from rank 1. */
  ASSERT_ENDS (&f, 0, 2200 + 700 + 700);
  g_assert_cmpuint (f.result->warnings->len, ==, 0);
}

static void
test_proc_null (void)
{
  g_auto (Fixture) f = fixture_new (1, 1);

  script_send (f.trace, 0, TRACE_PROC_NULL, 7, 500);
  script_recv (f.trace, 0, TRACE_PROC_NULL, 7, 500);
  script_irecv (f.trace, 0, TRACE_PROC_NULL, 7, 500, 5);
  script_wait (f.trace, 0, 5);
  fixture_run (&f);
  ASSERT_ENDS (&f, 0, 400);
  g_assert_cmpuint (f.result->messages, ==, 0);
}

static void
test_sendrecv_exchanges (void)
{
  g_auto (Fixture) f = fixture_new (2, 1);

  for (uint32_t rank = 0; rank < 2; rank++)
    script_add (f.trace, rank,
                (TraceOp){ .kind = TRACE_OP_SENDRECV,
                           .comm = TRACE_COMM_WORLD,
                           .peer = 1 - (int32_t) rank,
                           .recv_peer = 1 - (int32_t) rank,
                           .bytes = 2000,
                           .recv_bytes = 2000 });
  fixture_run (&f);
  /* Both receive at 6000; the acknowledgement is at 7000. */
  ASSERT_ENDS (&f, 0, 7000);
  ASSERT_ENDS (&f, 1, 7000);
}

static void
test_truncation_is_a_warning (void)
{
  g_auto (Fixture) f = fixture_new (2, 1);

  script_send (f.trace, 0, 1, 7, 500);
  script_send (f.trace, 0, 1, 7, 500);
  script_recv (f.trace, 1, 0, 7, 499);
  script_recv (f.trace, 1, 0, 7, TRACE_UNKNOWN_BYTES);
  fixture_run (&f);
  g_assert_no_error (f.error);
  g_assert_cmpuint (f.result->warnings->len, ==, 1);
  g_assert_true (g_str_has_suffix (g_ptr_array_index (f.result->warnings, 0), "rank1:1"));
}

static void
test_compute_scale_and_work (void)
{
  g_auto (Fixture) f = fixture_new (1, 1);

  f.compute_scale = 0.5;
  script_add (f.trace, 0,
              (TraceOp){ .kind = TRACE_OP_COMPUTE, .gap_ps = 1000 * NS, .flops = 3000 });
  script_add (f.trace, 0, (TraceOp){ .kind = TRACE_OP_FINALIZE });
  script_compute (f.trace, 0, 1000 * NS); /* after the end: not replayed */
  fixture_run (&f);
  ASSERT_ENDS (&f, 0, 0.5 * (1000 + 3000) + 100);
}

/* A receive that nobody asks for any more still lets its sender go. */
static void
test_done_rank_answers (void)
{
  g_auto (Fixture) f = fixture_new (2, 1);

  script_irecv (f.trace, 1, 0, 7, 2000, 5);
  script_send (f.trace, 0, 1, 7, 2000);
  fixture_run (&f);
  ASSERT_ENDS (&f, 1, 100);
  ASSERT_ENDS (&f, 0, 7000);
}

/* But not before it is done, whatever the network's time is. */
static void
test_done_rank_answers_at_its_end (void)
{
  g_auto (Fixture) f = fixture_new (2, 1);

  script_irecv (f.trace, 1, 0, 7, 2000, 5);
  script_compute (f.trace, 1, 9000 * NS);
  script_send (f.trace, 0, 1, 7, 2000);
  fixture_run (&f);
  g_assert_cmpint (fixture_record (&f, SIM_MESSAGE_REMOTE_GET, 0)->sent_ps, ==, 9100 * NS);
  ASSERT_ENDS (&f, 1, 9100);
}

static void
test_deadlock_names_the_ranks (void)
{
  g_auto (Fixture) f = fixture_new (3, 1);

  script_recv (f.trace, 0, 1, 7, 10);
  script_recv (f.trace, 1, TRACE_ANY_SOURCE, TRACE_ANY_TAG, 10);
  fixture_run (&f);
  g_assert_error (f.error, SIM_ERROR, SIM_ERROR_DEADLOCK);
  g_assert_cmpstr (
      f.error->message, ==,
      "script: the trace cannot end: rank 0 waits in MPI_Recv from 1 tag 7 at rank0:1; "
      "rank 1 waits in MPI_Recv from any rank any tag at rank1:1");
}

static void
assert_fails (TraceOp op, const char *text)
{
  g_auto (Fixture) f = fixture_new (2, 1);

  script_add (f.trace, 1, op);
  fixture_run (&f);
  g_assert_error (f.error, SIM_ERROR, SIM_ERROR_TRACE);
  g_assert_nonnull (strstr (f.error->message, text));
  g_assert_nonnull (strstr (f.error->message, "rank 1, MPI_Call at rank1:1: "));
}

static void
test_bad_operations_are_errors (void)
{
  uint32_t completed = 3;

  assert_fails ((TraceOp){ .kind = TRACE_OP_UNSUPPORTED }, "cannot be replayed");
  assert_fails ((TraceOp){ .kind = TRACE_OP_SEND, .comm = TRACE_COMM_WORLD, .peer = 2 },
                "rank 2 of a communicator of 2");
  assert_fails ((TraceOp){ .kind = TRACE_OP_SEND, .comm = 99 }, "communicator 99 does not exist");
  assert_fails ((TraceOp){ .kind = TRACE_OP_RECV, .comm = TRACE_COMM_NULL },
                "communicator 1 does not exist");
  assert_fails ((TraceOp){ .kind = TRACE_OP_TEST, .completed = &completed, .n_completed = 1 },
                "number 3 of 0");
  assert_fails ((TraceOp){ .kind = TRACE_OP_BCAST, .comm = TRACE_COMM_WORLD, .root = 2 }, "root 2");
}

/* Sums of times have room for a few of the largest ones, and not for more. */
static void
test_end_of_time (void)
{
  g_auto (Fixture) f = fixture_new (2, 1);

  script_compute (f.trace, 1, INT64_MAX / 4 - 1000000);
  fixture_run (&f);
  g_assert_no_error (f.error);
  for (uint32_t i = 0; i < 3; i++)
    script_add (f.trace, 1, (TraceOp){ .kind = TRACE_OP_COMPUTE, .flops = 1e300 });
  fixture_run (&f);
  g_assert_error (f.error, SIM_ERROR, SIM_ERROR_TRACE);
  g_assert_nonnull (strstr (f.error->message, "time passes 2305843 s"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sim/replay/eager", test_eager);
  g_test_add_func ("/sim/replay/eager-unexpected", test_unexpected_eager);
  g_test_add_func ("/sim/replay/rendezvous", test_rendezvous);
  g_test_add_func ("/sim/replay/rendezvous-computing", test_rendezvous_waits_for_the_receiver);
  g_test_add_func ("/sim/replay/async-progress", test_async_progress_answers_at_once);
  g_test_add_func ("/sim/replay/progress-in-calls", test_any_call_makes_progress);
  g_test_add_func ("/sim/replay/progress-in-short-waits", test_short_wait_makes_progress);
  g_test_add_func ("/sim/replay/node", test_within_a_node);
  g_test_add_func ("/sim/replay/node-rendezvous", test_rendezvous_within_a_node);
  g_test_add_func ("/sim/replay/oneself", test_to_oneself);
  g_test_add_func ("/sim/replay/synchronous", test_synchronous_small);
  g_test_add_func ("/sim/replay/synchronous-empty", test_synchronous_empty);
  g_test_add_func ("/sim/replay/buffered", test_buffered_does_not_wait);
  g_test_add_func ("/sim/replay/pipelined", test_sends_are_pipelined);
  g_test_add_func ("/sim/replay/order", test_order_of_a_pair);
  g_test_add_func ("/sim/replay/wildcard", test_wildcard_takes_who_comes_first);
  g_test_add_func ("/sim/replay/proc-null", test_proc_null);
  g_test_add_func ("/sim/replay/sendrecv", test_sendrecv_exchanges);
  g_test_add_func ("/sim/replay/truncation", test_truncation_is_a_warning);
  g_test_add_func ("/sim/replay/compute", test_compute_scale_and_work);
  g_test_add_func ("/sim/replay/done-rank-answers", test_done_rank_answers);
  g_test_add_func ("/sim/replay/done-rank-answers-late", test_done_rank_answers_at_its_end);
  g_test_add_func ("/sim/replay/deadlock", test_deadlock_names_the_ranks);
  g_test_add_func ("/sim/replay/bad-operations", test_bad_operations_are_errors);
  g_test_add_func ("/sim/replay/end-of-time", test_end_of_time);
  return g_test_run ();
}
