/* replay_ops_test.c - requests and the calls that complete, probe and cancel.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Times are in nanoseconds; see replay_testing.h for the machine's. */
#include "sim/replay/replay_testing.h"

static const ReplayCase cases[] = {
  /* One handle for three active sends, completed in the order of their start: sent at
   * 300, acknowledged 6000-7000; two more waits of 100. */
  { .name = "queue",
    .script = "0: isend 1 1 2000 5; isend 1 2 0 5; isend 1 3 0 5; 3*wait 5 |"
              "1: recv 0 1 2000; recv 0 2 2000; recv 0 3 2000",
    .end_ns = { 7000 + 200 } },
  { .name = "impossible",
    .script = "0: isend 1 1 10 4294967295",
    .error_code = SIM_ERROR_TRACE,
    .error = "request 4294967295 is impossible" },
  { .name = "free",
    .script = "0: isend 1 7 2000 5; request_free 5 | 1: recv 0 7 2000",
    .end_ns = { 400, 6000 } },
  /* The first wait finds the handle inactive.  Starts end at 500, 900, 1300; each wait
   * and the free cost 100. */
  { .name = "persistent",
    .script = "0: send_init 1 7 500 20; wait 20; start 20; wait 20; start 20; wait 20; start 20;"
              "   wait 20; request_free 20 |"
              "1: recv_init 0 7 500 20; wait 20; start 20; wait 20; start 20; wait 20; start 20;"
              "   wait 20; request_free 20",
    .end_ns = { 200 + 3 * 400 + 100 },
    .messages = 3 },
  { .name = "probe",
    .script = "0: send 1 7 500 | 1: probe any 7; compute 1000; recv 0 7 500",
    .end_ns = { 0, 1800 + 1000 + 700 },
    .wait_ns = { 0, 1700 } },
  /* One that saw nothing costs a call, one that saw the message waits. */
  { .name = "iprobe",
    .script = "0: send 1 7 500 | 1: iprobe 0 7; iprobe 0 7 completed=0; recv 0 7 500",
    .end_ns = { 0, 1800 + 700 },
    .wait_ns = { 0, 1600 } },
  { .name = "cancel-before",
    .script = "0: send 1 7 500 | 1: irecv 0 7 500 9; compute 1000; cancel 9; wait 9",
    .end_ns = { 0, 100 + 1000 + 100 + 100 },
    .unmatched_sends = 1,
    .warnings = 1 },
  { .name = "cancel-after",
    .script = "0: send 1 7 500 | 1: irecv 0 7 500 9; compute 3000; cancel 9; wait 9",
    .end_ns = { 0, 100 + 3000 + 100 + 700 + 100 } },
  /* A request that a test saw complete is waited for; the other stays open.  Arrivals
   * at 11300 and 11600, 700 each; then a call. */
  { .name = "test",
    .script = "0: compute 10000; send 1 5 0; send 1 6 0 | 1: irecv 0 5 0 5; irecv 0 6 0 6;"
              "test 5 6; test 5 6 completed=1; waitall",
    .end_ns = { 0, 11300 + 1400 + 100 } },
};

static void
test_unknown_request_is_a_warning (void)
{
  g_auto (Fixture) f = fixture_new (1, 1);

  script_text (f.trace, "0: wait 77; wait 78");
  script_wait (f.trace, 0, TRACE_REQUEST_NULL);
  fixture_run (&f);
  ASSERT_ENDS (&f, 0, 300);
  g_assert_cmpuint (f.result->warnings->len, ==, 1);
  g_assert_true (g_str_has_prefix (g_ptr_array_index (f.result->warnings, 0), "2 "));
}

static void
test_each_start_is_a_receive (void)
{
  g_auto (Fixture) f = fixture_new (2, 1);

  script_text (f.trace, "0: 3*send 1 7 0 | 1: recv_init 0 7 500 20; start 20; start 20; start 20");
  fixture_run (&f);
  g_assert_no_error (f.error);
  g_assert_cmpuint (f.result->ranks[1].receives, ==, 3);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  replay_cases_add ("/sim/requests", cases, G_N_ELEMENTS (cases));
  g_test_add_func ("/sim/requests/starts", test_each_start_is_a_receive);
  g_test_add_func ("/sim/requests/unknown", test_unknown_request_is_a_warning);
  return g_test_run ();
}
