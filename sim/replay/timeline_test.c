/* timeline_test.c - what ranks did when: worked by hand, and sums.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Times in nanoseconds on the machine of replay_testing.h. */
#include "sim/replay/replay_testing.h"

#include <string.h>

static void
init (Fixture *f, uint32_t n_ranks, uint32_t per_node, uint64_t limit)
{
  *f = fixture_new (n_ranks, per_node);
  f->timeline = sim_timeline_new (n_ranks, NULL, limit);
}

static void
clear (Fixture *f)
{
  sim_timeline_free (f->timeline);
  fixture_clear (f);
}

static void
append_interval (GString *text, const SimTimeline *timeline, const SimTimelineEvent *event)
{
  g_string_append_printf (text, "%s%s%s %g-%g", text->len > 0 ? "; " : "",
                          sim_timeline_state (timeline, event->state)->name,
                          event->waits ? " waits" : "", (double) event->begin_ps / NS,
                          (double) event->end_ps / NS);
}

/* The intervals of a lane: "computing 0-500; MPI_Recv waits 500-700". */
static char *
lane_text (const SimTimeline *timeline, uint32_t lane)
{
  GString *text = g_string_new (NULL);
  SimTimelineEvent event;

  for (uint64_t number = 0; number < sim_timeline_size (timeline); number++)
    if (sim_timeline_event (timeline, number, &event) && !event.is_message && event.lane == lane)
      append_interval (text, timeline, &event);
  return g_string_free (text, FALSE);
}

/* "0>1 10 500-2510": from, to, bytes, when. */
static char *
messages_text (const SimTimeline *timeline)
{
  GString *text = g_string_new (NULL);
  SimTimelineEvent event;

  for (uint64_t number = 0; number < sim_timeline_size (timeline); number++)
    if (sim_timeline_event (timeline, number, &event) && event.is_message)
      g_string_append_printf (text, "%s%u>%u %" G_GUINT64_FORMAT " %g-%g",
                              text->len > 0 ? "; " : "", event.lane, event.destination, event.bytes,
                              (double) event.begin_ps / NS, (double) event.end_ps / NS);
  return g_string_free (text, FALSE);
}

#define ASSERT_LANE(f, lane, expected)                        \
  do {                                                        \
    g_autofree char *text_ = lane_text ((f)->timeline, lane); \
    g_assert_cmpstr (text_, ==, expected);                    \
  } while (0)
#define ASSERT_MESSAGES(f, expected)                        \
  do {                                                      \
    g_autofree char *text_ = messages_text ((f)->timeline); \
    g_assert_cmpstr (text_, ==, expected);                  \
  } while (0)

static void
script_pingpong (Trace *trace)
{
  script_compute (trace, 0, 500 * NS);
  script_send (trace, 0, 1, 7, 10);
  script_recv (trace, 0, 1, 7, 10);
  script_recv (trace, 1, 0, 7, 10);
  script_send (trace, 1, 0, 7, 10);
}

/* Handed over at 800 and there at 1810; taken out at 2510; the answer is handed
 * over at 2810 and there at 3820. */
static void
test_pingpong (void)
{
  Fixture f;

  init (&f, 2, 1, UINT64_MAX);
  script_pingpong (f.trace);
  fixture_run (&f);
  ASSERT_LANE (&f, 0,
               "computing 0-500; MPI_Send 500-800; MPI_Recv waits 800-3820; MPI_Recv 3820-4520");
  ASSERT_LANE (&f, 1, "MPI_Recv waits 0-1810; MPI_Recv 1810-2510; MPI_Send 2510-2810");
  ASSERT_MESSAGES (&f, "0>1 10 500-2510; 1>0 10 2510-4520");
  g_assert_cmpuint (fixture_check_timeline (&f), ==, 2);
  g_assert_cmpint (sim_timeline_end_ps (f.timeline), ==, INT64_MAX);
  clear (&f);
}

/* Its request goes at 300 and is there at 1300; the data is asked for at 1300, is
 * there at 1300 + 1000 + 1000 + 2000 and taken out at 6000; the acknowledgement
 * is back at 7000. */
static void
test_rendezvous_waits_in_the_send (void)
{
  Fixture f;

  init (&f, 2, 1, UINT64_MAX);
  script_send (f.trace, 0, 1, 7, 2000);
  script_recv (f.trace, 1, 0, 7, 2000);
  fixture_run (&f);
  ASSERT_LANE (&f, 0, "MPI_Send 0-300; MPI_Send waits 300-7000");
  ASSERT_LANE (&f, 1, "MPI_Recv waits 0-5300; MPI_Recv 5300-6000");
  ASSERT_MESSAGES (&f, "0>1 2000 0-6000");
  clear (&f);
}

/* What overlaps: the data comes while rank 1 computes. */
static void
test_nonblocking (void)
{
  Fixture f;

  init (&f, 2, 1, UINT64_MAX);
  script_isend (f.trace, 0, 1, 7, 10, 5);
  script_wait (f.trace, 0, 5);
  script_irecv (f.trace, 1, 0, 7, 10, 6);
  script_compute (f.trace, 1, 5000 * NS);
  script_wait (f.trace, 1, 6);
  fixture_run (&f);
  ASSERT_LANE (&f, 0, "MPI_Isend 0-300; MPI_Wait 300-400");
  ASSERT_LANE (&f, 1, "MPI_Irecv 0-100; computing 100-5100; MPI_Wait 5100-5900");
  ASSERT_MESSAGES (&f, "0>1 10 0-5900");
  g_assert_cmpuint (fixture_check_timeline (&f), ==, 1);
  clear (&f);
}

/* Two sends that come one after the other are waited for in one interval each,
 * as the first is taken out between; but what is waited for without work
 * between is one. */
static void
test_waits_of_a_call_are_joined (void)
{
  Fixture f;

  init (&f, 3, 1, UINT64_MAX);
  script_isend (f.trace, 0, 1, 7, 2000, 1);
  script_isend (f.trace, 0, 2, 7, 2000, 2);
  script_requests (f.trace, 0, TRACE_OP_WAIT, 2, (uint32_t[]){ 1, 2 });
  script_recv (f.trace, 1, 0, 7, 2000);
  script_recv (f.trace, 2, 0, 7, 2000);
  fixture_run (&f);
  ASSERT_LANE (&f, 0,
               "MPI_Isend 0-300; MPI_Isend 300-600; MPI_Wait 600-700; "
               "MPI_Wait waits 700-7300");
  g_assert_cmpuint (fixture_check_timeline (&f), ==, 2);
  clear (&f);
}

/* Each is a call of its own, though it has the same name. */
static void
test_first_interval_of_a_call (void)
{
  Fixture f;
  uint32_t n_first = 0;
  SimTimelineEvent event;

  init (&f, 2, 1, UINT64_MAX);
  for (uint32_t i = 0; i < 3; i++) {
    script_send (f.trace, 0, 1, 7, 2000);
    script_recv (f.trace, 1, 0, 7, 2000);
  }
  fixture_run (&f);
  for (uint64_t number = 0; number < sim_timeline_size (f.timeline); number++)
    n_first += sim_timeline_event (f.timeline, number, &event) && event.first;
  g_assert_cmpuint (n_first, ==, 6);
  clear (&f);
}

static void
test_within_a_node (void)
{
  Fixture f;

  init (&f, 2, 2, UINT64_MAX);
  script_send (f.trace, 0, 1, 7, 100);
  script_recv (f.trace, 1, 0, 7, 100);
  fixture_run (&f);
  ASSERT_LANE (&f, 1, "MPI_Recv waits 0-510; MPI_Recv 510-1210");
  ASSERT_MESSAGES (&f, "0>1 100 0-1210");
  clear (&f);
}

static void
test_kinds (void)
{
  static const struct {
    TraceOpKind operation;
    SimStateKind state;
  } kinds[] = {
    { TRACE_OP_BARRIER, SIM_STATE_COLLECTIVE },
    { TRACE_OP_NEIGHBOR_ALLTOALL, SIM_STATE_COLLECTIVE },
    { TRACE_OP_WIN_CREATE, SIM_STATE_ONE_SIDED },
    { TRACE_OP_WIN_WAIT, SIM_STATE_ONE_SIDED },
    { TRACE_OP_SENDRECV, SIM_STATE_RECEIVE },
    { TRACE_OP_ISEND, SIM_STATE_SEND },
    { TRACE_OP_TEST, SIM_STATE_COMPLETION },
    { TRACE_OP_COMM_DUP, SIM_STATE_OTHER },
    { TRACE_OP_START, SIM_STATE_OTHER },
    { TRACE_OP_INIT, SIM_STATE_OTHER },
  };
  g_autoptr (SimTimeline) timeline = sim_timeline_new (1, NULL, UINT64_MAX);

  for (uint32_t i = 0; i < G_N_ELEMENTS (kinds); i++) {
    TraceOp op = { .kind = kinds[i].operation, .name = trace_op_name (kinds[i].operation) };
    SimTimelineEvent event;

    sim_timeline_call (timeline, 0, &op, i);
    sim_timeline_rank_end (timeline, 0, i + 1);
    g_assert_true (sim_timeline_event (timeline, i, &event));
    g_assert_cmpstr (sim_timeline_state (timeline, event.state)->name, ==, op.name);
    g_assert_cmpint (sim_timeline_state (timeline, event.state)->kind, ==, kinds[i].state);
  }
}

/* A name that is missing is the kind's; names without end are one. */
static void
test_names_of_calls (void)
{
  g_autoptr (SimTimeline) timeline = sim_timeline_new (1, NULL, UINT64_MAX);
  TraceOp op = { .kind = TRACE_OP_SEND };
  SimTimelineEvent event;

  for (uint32_t i = 0; i < 5000; i++) {
    g_autofree char *name = i == 0 ? NULL : g_strdup_printf ("call %u", i);

    op.name = name;
    sim_timeline_call (timeline, 0, &op, i);
  }
  sim_timeline_rank_end (timeline, 0, 5000);
  g_assert_cmpuint (sim_timeline_size (timeline), ==, 5000);
  g_assert_true (sim_timeline_event (timeline, 0, &event));
  g_assert_cmpstr (sim_timeline_state (timeline, event.state)->name, ==, "send");
  g_assert_true (sim_timeline_event (timeline, 4999, &event));
  g_assert_cmpstr (sim_timeline_state (timeline, event.state)->name, ==, "other calls");
}

static TraceOp
access_op (TraceOpKind kind, uint64_t bytes, uint64_t recv_bytes)
{
  return (TraceOp){ .kind = kind,
                    .comm = TRACE_COMM_WORLD,
                    .window = 0,
                    .peer = 1,
                    .bytes = bytes,
                    .recv_bytes = recv_bytes,
                    .name = "MPI_Access" };
}

/* A put of 500 is handed over at 300 and at its target at 1800; a get is handed over
 * at 600 and has its data at 1600 + 1000 + 40. */
static void
test_one_sided (void)
{
  Fixture f;

  init (&f, 2, 1, UINT64_MAX);
  script_add (f.trace, 0, access_op (TRACE_OP_PUT, 500, 0));
  script_add (f.trace, 0, access_op (TRACE_OP_GET, 0, 40));
  script_add (f.trace, 0,
              (TraceOp){ .kind = TRACE_OP_WIN_FLUSH,
                         .comm = TRACE_COMM_WORLD,
                         .peer = TRACE_ANY_SOURCE,
                         .name = "MPI_Win_flush" });
  fixture_run (&f);
  g_assert_no_error (f.error);
  ASSERT_MESSAGES (&f, "0>1 500 0-1800; 1>0 40 300-2640");
  ASSERT_LANE (&f, 0,
               "MPI_Access 0-300; MPI_Access 300-600; MPI_Win_flush 600-700; "
               "MPI_Win_flush waits 700-2800");
  g_assert_cmpuint (fixture_check_timeline (&f), ==, 2);
  clear (&f);
}

/* Two processors; each operation as in LogGOPSim's model.  The compute of 1000 on
 * processor 1 begins at once, beside that of 400 on processor 0, then the send. */
static void
test_graph_lanes (void)
{
  static const uint32_t after_first[] = { 0 };
  Fixture f;

  init (&f, 2, 1, UINT64_MAX);
  script_set_graph (f.trace);
  script_add (f.trace, 0, (TraceOp){ .kind = TRACE_OP_COMPUTE, .gap_ps = 400 * NS });
  script_add (f.trace, 0, (TraceOp){ .kind = TRACE_OP_COMPUTE, .gap_ps = 1000 * NS, .cpu = 1 });
  script_add (f.trace, 0,
              (TraceOp){ .kind = TRACE_OP_SEND,
                         .comm = TRACE_COMM_WORLD,
                         .peer = 1,
                         .tag = 7,
                         .bytes = 10,
                         .after = after_first,
                         .n_after = 1 });
  script_add (
      f.trace, 1,
      (TraceOp){
          .kind = TRACE_OP_RECV, .comm = TRACE_COMM_WORLD, .peer = 0, .tag = 7, .bytes = 10 });
  fixture_run (&f);
  g_assert_no_error (f.error);
  ASSERT_LANE (&f, 0, "computing 0-400; send 400-700; idle 700-1000");
  ASSERT_LANE (&f, 2, "computing 0-1000");
  ASSERT_LANE (&f, 1, "idle waits 0-1710; recv 1710-2410");
  g_assert_cmpuint (sim_timeline_lane (f.timeline, 2).rank, ==, 0);
  g_assert_cmpuint (sim_timeline_lane (f.timeline, 2).processor, ==, 1);
  ASSERT_MESSAGES (&f, "0>1 10 400-2410");
  g_assert_cmpuint (fixture_check_timeline (&f), ==, 1);
  clear (&f);
}

/* -- what is kept ---------------------------------------------------------- */

static void
test_chosen_ranks (void)
{
  static const bool shown[] = { true, false, true };
  Fixture f;

  f = fixture_new (3, 1);
  f.timeline = sim_timeline_new (3, shown, UINT64_MAX);
  script_send (f.trace, 0, 1, 7, 10);
  script_send (f.trace, 0, 2, 7, 10);
  script_recv (f.trace, 1, 0, 7, 10);
  script_recv (f.trace, 2, 0, 7, 10);
  fixture_run (&f);
  ASSERT_LANE (&f, 0, "MPI_Send 0-300; MPI_Send 300-600");
  ASSERT_LANE (&f, 1, "");
  ASSERT_LANE (&f, 2, "MPI_Recv waits 0-1610; MPI_Recv 1610-2310");
  ASSERT_MESSAGES (&f, "0>2 10 300-2310");
  g_assert_cmpuint (sim_timeline_left_out (f.timeline), ==, 0);
  clear (&f);
}

/* The clipped timeline is the whole one, clipped. */
static void
check_limit (uint64_t limit, const char *whole[2], const char *whole_messages)
{
  Fixture f;
  int64_t end_ps;
  uint64_t n_kept = 0;
  SimTimelineEvent event;

  init (&f, 2, 1, limit);
  for (uint32_t i = 0; i < 20; i++)
    script_pingpong (f.trace);
  fixture_run (&f);
  end_ps = sim_timeline_end_ps (f.timeline);
  for (uint64_t number = 0; number < sim_timeline_size (f.timeline); number++)
    if (sim_timeline_event (f.timeline, number, &event)) {
      g_assert_cmpint (event.end_ps, <=, end_ps);
      n_kept++;
    }
  g_assert_cmpuint (n_kept, <=, limit + 2 * 2);
  for (uint32_t lane = 0; lane < 2 && end_ps > 0; lane++) {
    g_autofree char *text = lane_text (f.timeline, lane);
    const char *cut = strrchr (text, '-');

    /* All but where its last interval ends, which is the end of the timeline. */
    g_assert_cmpint (strncmp (text, whole[lane], (gsize) (cut - text)), ==, 0);
    g_assert_cmpfloat (g_ascii_strtod (cut + 1, NULL), ==, (double) end_ps / NS);
  }
  if (end_ps > 0) {
    g_autofree char *text = messages_text (f.timeline);

    g_assert_true (g_str_has_prefix (whole_messages, text));
  }
  g_assert_cmpuint (n_kept + sim_timeline_left_out (f.timeline), >=, limit);
  g_assert_cmpuint (sim_timeline_left_out (f.timeline), >, 0);
  clear (&f);
}

static void
test_limit_ends_it_for_all (void)
{
  Fixture f;

  init (&f, 2, 1, UINT64_MAX);
  for (uint32_t i = 0; i < 20; i++)
    script_pingpong (f.trace);
  fixture_run (&f);
  {
    g_autofree char *first = lane_text (f.timeline, 0), *second = lane_text (f.timeline, 1);
    g_autofree char *messages = messages_text (f.timeline);
    const char *whole[] = { first, second };

    for (uint64_t limit = 0; limit < 100; limit += 7)
      check_limit (limit, whole, messages);
  }
  clear (&f);
}

/* A replay that is made again begins again. */
static void
test_twice_is_once (void)
{
  g_autofree char *once = NULL, *twice = NULL;
  Fixture f;

  init (&f, 2, 1, 1000);
  script_pingpong (f.trace);
  fixture_run (&f);
  once = lane_text (f.timeline, 0);
  fixture_run (&f);
  twice = lane_text (f.timeline, 0);
  g_assert_cmpstr (once, ==, twice);
  clear (&f);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sim/timeline/pingpong", test_pingpong);
  g_test_add_func ("/sim/timeline/rendezvous", test_rendezvous_waits_in_the_send);
  g_test_add_func ("/sim/timeline/nonblocking", test_nonblocking);
  g_test_add_func ("/sim/timeline/joined-waits", test_waits_of_a_call_are_joined);
  g_test_add_func ("/sim/timeline/first", test_first_interval_of_a_call);
  g_test_add_func ("/sim/timeline/node", test_within_a_node);
  g_test_add_func ("/sim/timeline/kinds", test_kinds);
  g_test_add_func ("/sim/timeline/names", test_names_of_calls);
  g_test_add_func ("/sim/timeline/one-sided", test_one_sided);
  g_test_add_func ("/sim/timeline/graph", test_graph_lanes);
  g_test_add_func ("/sim/timeline/chosen-ranks", test_chosen_ranks);
  g_test_add_func ("/sim/timeline/limit", test_limit_ends_it_for_all);
  g_test_add_func ("/sim/timeline/twice", test_twice_is_once);
  return g_test_run ();
}
