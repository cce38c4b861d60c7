/* replay_ops_test.c - requests and the calls that complete, probe and cancel.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Times are in nanoseconds; see replay_testing.h for the machine's. */
#include "sim/replay/replay_testing.h"

/* One handle for three active sends, completed in the order of their start. */
static void
test_request_handle_is_a_queue (void)
{
  g_auto (Fixture) f = fixture_new (2, 1);

  script_isend (f.trace, 0, 1, 1, 2000, 5);
  script_isend (f.trace, 0, 1, 2, 0, 5);
  script_isend (f.trace, 0, 1, 3, 0, 5);
  for (uint32_t i = 0; i < 3; i++)
    script_wait (f.trace, 0, 5);
  for (int32_t tag = 1; tag <= 3; tag++)
    script_recv (f.trace, 1, 0, tag, 2000);
  fixture_run (&f);
  /* Sent at 300, acknowledged 6000-7000; two more waits of 100. */
  ASSERT_ENDS (&f, 0, 7000 + 200);
  g_assert_cmpuint (f.result->warnings->len, ==, 0);
}

static void
test_unknown_request_is_a_warning (void)
{
  g_auto (Fixture) f = fixture_new (1, 1);

  script_wait (f.trace, 0, 77);
  script_wait (f.trace, 0, 78);
  script_wait (f.trace, 0, TRACE_REQUEST_NULL);
  fixture_run (&f);
  ASSERT_ENDS (&f, 0, 300);
  g_assert_cmpuint (f.result->warnings->len, ==, 1);
  g_assert_true (g_str_has_prefix (g_ptr_array_index (f.result->warnings, 0), "2 "));
}

static void
test_impossible_request (void)
{
  g_auto (Fixture) f = fixture_new (2, 1);

  script_isend (f.trace, 0, 1, 1, 10, UINT32_MAX);
  fixture_run (&f);
  g_assert_error (f.error, SIM_ERROR, SIM_ERROR_TRACE);
}

static void
persistent_init (Trace *trace, uint32_t rank, TraceOpKind kind, int32_t peer)
{
  script_add (trace, rank,
              (TraceOp){ .kind = kind,
                         .comm = TRACE_COMM_WORLD,
                         .peer = peer,
                         .tag = 7,
                         .bytes = 500,
                         .request = 20 });
}

static void
test_persistent (void)
{
  g_auto (Fixture) f = fixture_new (2, 1);
  uint32_t handle = 20;

  for (uint32_t rank = 0; rank < 2; rank++) {
    persistent_init (f.trace, rank, rank == 0 ? TRACE_OP_SEND_INIT : TRACE_OP_RECV_INIT,
                     1 - (int32_t) rank);
    script_wait (f.trace, rank, handle); /* inactive: nothing to wait for */
    for (uint32_t i = 0; i < 3; i++) {
      script_requests (f.trace, rank, TRACE_OP_START, 1, &handle);
      script_wait (f.trace, rank, handle);
    }
    script_requests (f.trace, rank, TRACE_OP_REQUEST_FREE, 1, &handle);
  }
  fixture_run (&f);
  /* Starts end at 500, 900, 1300; each wait and the free cost 100. */
  ASSERT_ENDS (&f, 0, 200 + 3 * 400 + 100);
  g_assert_cmpuint (f.result->messages, ==, 3);
  g_assert_cmpuint (f.result->ranks[1].receives, ==, 3);
  g_assert_cmpuint (f.result->warnings->len, ==, 0);
}

static void
test_freed_request_goes_on (void)
{
  g_auto (Fixture) f = fixture_new (2, 1);

  script_isend (f.trace, 0, 1, 7, 2000, 5);
  script_requests (f.trace, 0, TRACE_OP_REQUEST_FREE, 1, (uint32_t[]){ 5 });
  script_recv (f.trace, 1, 0, 7, 2000);
  fixture_run (&f);
  ASSERT_ENDS (&f, 0, 400);
  ASSERT_ENDS (&f, 1, 6000);
}

static void
test_probe_blocks (void)
{
  g_auto (Fixture) f = fixture_new (2, 1);

  script_send (f.trace, 0, 1, 7, 500);
  script_add (
      f.trace, 1,
      (TraceOp){
          .kind = TRACE_OP_PROBE, .comm = TRACE_COMM_WORLD, .peer = TRACE_ANY_SOURCE, .tag = 7 });
  script_compute (f.trace, 1, 1000 * NS);
  script_recv (f.trace, 1, 0, 7, 500);
  fixture_run (&f);
  ASSERT_ENDS (&f, 1, 1800 + 1000 + 700);
  g_assert_cmpint (f.result->ranks[1].wait_ps, ==, 1700 * NS);
}

static void
add_iprobe (Trace *trace, uint32_t rank, uint32_t seen)
{
  uint32_t completed = 0;

  script_add (trace, rank,
              (TraceOp){ .kind = TRACE_OP_IPROBE,
                         .comm = TRACE_COMM_WORLD,
                         .peer = 0,
                         .tag = 7,
                         .completed = &completed,
                         .n_completed = seen });
}

/* One that saw nothing costs a call, one that saw the message waits. */
static void
test_iprobe (void)
{
  g_auto (Fixture) f = fixture_new (2, 1);

  script_send (f.trace, 0, 1, 7, 500);
  add_iprobe (f.trace, 1, 0);
  add_iprobe (f.trace, 1, 1);
  script_recv (f.trace, 1, 0, 7, 500);
  fixture_run (&f);
  ASSERT_ENDS (&f, 1, 1800 + 700);
  g_assert_cmpint (f.result->ranks[1].wait_ps, ==, 1600 * NS);
}

static void
cancelled_receive (Fixture *f, int64_t compute_ps)
{
  uint32_t handle = 9;

  *f = fixture_new (2, 1);
  script_send (f->trace, 0, 1, 7, 500);
  script_irecv (f->trace, 1, 0, 7, 500, handle);
  script_compute (f->trace, 1, compute_ps);
  script_requests (f->trace, 1, TRACE_OP_CANCEL, 1, &handle);
  script_wait (f->trace, 1, handle);
  fixture_run (f);
}

static void
test_cancel_before_the_message (void)
{
  g_auto (Fixture) f = { 0 };

  cancelled_receive (&f, 1000 * NS);
  ASSERT_ENDS (&f, 1, 100 + 1000 + 100 + 100);
  g_assert_cmpuint (f.result->unmatched_sends, ==, 1);
  g_assert_cmpuint (f.result->warnings->len, ==, 1);
}

static void
test_cancel_after_the_message (void)
{
  g_auto (Fixture) f = { 0 };

  cancelled_receive (&f, 3000 * NS);
  ASSERT_ENDS (&f, 1, 100 + 3000 + 100 + 700 + 100);
  g_assert_cmpuint (f.result->unmatched_sends, ==, 0);
}

/* What a test saw complete is waited for; the other stays open. */
static void
test_test_completes_what_it_saw (void)
{
  g_auto (Fixture) f = fixture_new (2, 1);
  uint32_t handles[2] = { 5, 6 }, completed = 1;

  script_compute (f.trace, 0, 10000 * NS);
  script_send (f.trace, 0, 1, 5, 0);
  script_send (f.trace, 0, 1, 6, 0);
  script_irecv (f.trace, 1, 0, 5, 0, 5);
  script_irecv (f.trace, 1, 0, 6, 0, 6);
  script_add (f.trace, 1, (TraceOp){ .kind = TRACE_OP_TEST, .requests = handles, .n_requests = 2 });
  script_add (f.trace, 1,
              (TraceOp){ .kind = TRACE_OP_TEST,
                         .requests = handles,
                         .n_requests = 2,
                         .completed = &completed,
                         .n_completed = 1 });
  script_add (f.trace, 1, (TraceOp){ .kind = TRACE_OP_WAIT_OUTSTANDING });
  fixture_run (&f);
  /* Arrivals at 11300 and 11600, 700 each; then a call. */
  ASSERT_ENDS (&f, 1, 11300 + 1400 + 100);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sim/requests/queue", test_request_handle_is_a_queue);
  g_test_add_func ("/sim/requests/unknown", test_unknown_request_is_a_warning);
  g_test_add_func ("/sim/requests/impossible", test_impossible_request);
  g_test_add_func ("/sim/requests/free", test_freed_request_goes_on);
  g_test_add_func ("/sim/requests/persistent", test_persistent);
  g_test_add_func ("/sim/requests/probe", test_probe_blocks);
  g_test_add_func ("/sim/requests/iprobe", test_iprobe);
  g_test_add_func ("/sim/requests/cancel-before", test_cancel_before_the_message);
  g_test_add_func ("/sim/requests/cancel-after", test_cancel_after_the_message);
  g_test_add_func ("/sim/requests/test", test_test_completes_what_it_saw);
  return g_test_run ();
}
