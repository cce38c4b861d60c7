/* replay_test.c - messages of two or three ranks, timed by hand.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Times are in nanoseconds; see replay_testing.h for the machine's. */
#include "sim/replay/replay_testing.h"

#include <string.h>

static const ReplayCase cases[] = {
  { .name = "eager",
    .script = "0: send 1 7 500 | 1: recv 0 7 500",
    .end_ns = { 300, 300 + 1500 + 700 },
    .wait_ns = { NOTHING, 1800 },
    .messages = 1,
    .message_bytes = 500,
    .edges = 1 },
  { .name = "eager-unexpected",
    .script = "0: send 1 7 500 | 1: compute 5000; recv 0 7 500",
    .end_ns = { 0, 5700 },
    .wait_ns = { 0, NOTHING } },
  /* Request 300-1300, get 1300-2300, data 2300-5300, receive done 6000, its
   * acknowledgement 6000-7000. */
  { .name = "rendezvous",
    .script = "0: send 1 7 2000 | 1: recv 0 7 2000",
    .end_ns = { 7000, 6000 },
    .wait_ns = { 6700 },
    .of_kind = { { SIM_MESSAGE_CONTROL, 2 },
                 { SIM_MESSAGE_REMOTE_GET, 1 },
                 { SIM_MESSAGE_DATA, 1 } },
    .message_bytes = 2000 },
  /* The request of 1300 is answered in the wait, at 100 + 5000 + 100. */
  { .name = "rendezvous-computing",
    .script = "0: send 1 7 2000 | 1: irecv 0 7 2000 9; compute 5000; wait 9",
    .end_ns = { 9900 + 1000, 5200 + 1000 + 3000 + 700 } },
  { .name = "async-progress",
    .script = "0: send 1 7 2000 | 1: irecv 0 7 2000 9; compute 5000; wait 9",
    .async = true,
    .end_ns = { 7000, 6000 } },
  /* A call in the middle, 2100-2200, answers. */
  { .name = "progress-in-calls",
    .script = "0: send 1 7 2000 | 1: irecv 0 7 2000 9; compute 2000; call; compute 3000; wait 9",
    .sent = { SIM_MESSAGE_REMOTE_GET, 0, 2200 },
    .end_ns = { 0, 2200 + 1000 + 3000 + 700 } },
  /* The wait for the first message ends at once and answers the second, whose
   * request came at 1600, although the rank goes on to compute: 200 + 3000 + 100,
   * then 700 for the eager message. */
  { .name = "progress-in-short-waits",
    .script = "0: send 1 1 100; send 1 2 2000 | 1: irecv 0 1 100 8; irecv 0 2 2000 9;"
              "compute 3000; wait 8; compute 8000; wait 9",
    .sent = { SIM_MESSAGE_REMOTE_GET, 0, 4000 },
    .end_ns = { 0, 4000 + 8000 + 100 + 700 } },
  { .name = "node",
    .per_node = 2,
    .script = "0: send 1 7 500 | 1: recv 0 7 500",
    .end_ns = { 0, 300 + 200 + 50 + 700 },
    .carried = NOTHING,
    .edges = 1 },
  /* The copy runs 500-700; both see its end. */
  { .name = "node-rendezvous",
    .per_node = 2,
    .script = "0: send 1 7 2000 | 1: recv 0 7 2000",
    .end_ns = { 700, 1400 } },
  { .name = "oneself",
    .script = "0: irecv 0 7 2000 5; isend 0 7 2000 6; wait 5 6",
    .end_ns = { 100 + 300 + 200 + 200 + 700 },
    .messages = 1,
    .edges = NOTHING },
  { .name = "synchronous",
    .script = "0: ssend 1 7 10 | 1: recv 0 7 10",
    .end_ns = { 4010 + 1000, 2300 + 1010 + 700 } },
  /* Nothing to get: the request is acknowledged. */
  { .name = "synchronous-empty",
    .script = "0: ssend 1 7 0 | 1: recv 0 7 0",
    .end_ns = { 3000, 1300 + 700 },
    .of_kind = { { SIM_MESSAGE_DATA, NOTHING } } },
  { .name = "buffered", .script = "0: bsend 1 7 2000 | 1: recv 0 7 2000", .end_ns = { 300, 6000 } },
  /* 700 per message is more than 300, so the receiver is never idle again. */
  { .name = "pipelined",
    .script = "0: 100*send 1 7 0 | 1: 100*recv 0 7 0",
    .end_ns = { 100 * 300, 1300 + 100 * 700 } },
  /* The second, empty, is there at 1600 before the first, at 2200, but is matched
   * after it. */
  { .name = "order",
    .script = "0: send 1 7 900; send 1 7 0 | 1: recv 0 7 900; recv 0 7 0",
    .end_ns = { 0, 2200 + 700 + 700 } },
  /* 2200 from rank 2, 2310 from rank 1: the first to come is taken first. */
  { .name = "wildcard",
    .n_ranks = 3,
    .script = "0: recv any any 900; recv any any 10 | 1: compute 1000; send 0 7 10 |"
              "2: send 0 7 900",
    .end_ns = { 2200 + 700 + 700 } },
  { .name = "proc-null",
    .n_ranks = 1,
    .script = "0: send null 7 500; recv null 7 500; irecv null 7 500 5; wait 5",
    .end_ns = { 400 },
    .messages = NOTHING },
  /* Both receive at 6000; the acknowledgement is at 7000. */
  { .name = "sendrecv",
    .script = "0: sendrecv 1 1 2000 | 1: sendrecv 0 0 2000",
    .end_ns = { 7000, 7000 } },
  /* A receive that no call waits for any more still lets its sender go ... */
  { .name = "done-rank-answers",
    .script = "0: send 1 7 2000 | 1: irecv 0 7 2000 5",
    .end_ns = { 7000, 100 } },
  /* ... but not before its rank is done, whatever the network's time is. */
  { .name = "done-rank-answers-late",
    .script = "0: send 1 7 2000 | 1: irecv 0 7 2000 5; compute 9000",
    .end_ns = { 0, 9100 },
    .sent = { SIM_MESSAGE_REMOTE_GET, 0, 9100 } },
  { .name = "deadlock",
    .n_ranks = 3,
    .script = "0: recv 1 7 10 | 1: recv any any 10",
    .error_code = SIM_ERROR_DEADLOCK,
    .error = "script: the trace cannot end: rank 0 waits in MPI_Recv from 1 tag 7 at rank0:1; "
             "rank 1 waits in MPI_Recv from any rank any tag at rank1:1" },

#define BROKEN(name_, script_, error_)                                                 \
  {                                                                                    \
    .name = "bad-operations/" name_, .script = script_, .error_code = SIM_ERROR_TRACE, \
    .error = error_                                                                    \
  }
  BROKEN ("unsupported", "1: unsupported",
          "rank 1, MPI_Unsupported at rank1:1: this call cannot"
          " be replayed"),
  BROKEN ("peer", "1: send 2 0 0", "rank 1, MPI_Send at rank1:1: rank 2 of a communicator of 2"),
  BROKEN ("communicator", "1: send 0 0 0 comm=99", "communicator 99 does not exist"),
  BROKEN ("null", "1: recv 0 0 0 comm=1", "communicator 1 does not exist"),
  BROKEN ("completed", "1: test completed=3", "number 3 of 0"),
  BROKEN ("root", "1: bcast 2 0", "root 2"),
};

static void
test_counts_of_ranks (void)
{
  g_auto (Fixture) f = fixture_new (2, 1);

  script_text (f.trace, "0: send 1 7 500 | 1: compute 5000; recv 0 7 500");
  fixture_run (&f);
  g_assert_cmpint (f.result->time_ps, ==, 5700 * NS);
  g_assert_cmpuint (f.result->ranks[0].sends, ==, 1);
  g_assert_cmpuint (f.result->ranks[1].receives, ==, 1);
  g_assert_cmpint (f.result->ranks[1].compute_ps, ==, 5000 * NS);
}

static void
test_truncation_is_a_warning (void)
{
  g_auto (Fixture) f = fixture_new (2, 1);

  script_text (f.trace, "0: 2*send 1 7 500 | 1: recv 0 7 499; recv 0 7 unknown");
  fixture_run (&f);
  g_assert_no_error (f.error);
  g_assert_cmpuint (f.result->warnings->len, ==, 1);
  g_assert_true (g_str_has_suffix (g_ptr_array_index (f.result->warnings, 0), "rank1:1"));
  for (uint32_t round = 0; round < 10; round++)
    fixture_check_resumed (&f, ROUTE_POLICY_DETERMINISTIC, 3);
}

/* The last gap comes after the end: not replayed. */
static void
test_compute_scale_and_work (void)
{
  g_auto (Fixture) f = fixture_new (1, 1);

  f.compute_scale = 0.5;
  script_text (f.trace, "0: compute 1000 flops=3000; finalize; compute 1000");
  fixture_run (&f);
  ASSERT_ENDS (&f, 0, 0.5 * (1000 + 3000) + 100);
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
  replay_cases_add ("/sim/replay", cases, G_N_ELEMENTS (cases));
  g_test_add_func ("/sim/replay/counts", test_counts_of_ranks);
  g_test_add_func ("/sim/replay/truncation", test_truncation_is_a_warning);
  g_test_add_func ("/sim/replay/compute", test_compute_scale_and_work);
  g_test_add_func ("/sim/replay/end-of-time", test_end_of_time);
  return g_test_run ();
}
