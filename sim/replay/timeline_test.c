/* timeline_test.c - intervals and messages of ranks: worked by hand, and sums.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Times in nanoseconds on the machine of replay_testing.h. */
#include "sim/replay/replay_testing.h"

#include <string.h>

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

#define PINGPONG "0: compute 500; send 1 7 10; recv 1 7 10 | 1: recv 0 7 10; send 0 7 10"

static const struct {
  const char *name;
  const char *script;
  uint32_t n_ranks, per_node;
  bool graph;
  const char *lanes[3]; /* NULL: not checked */
  const char *messages;
  uint64_t n_messages;
} cases[] = {
  /* Handed over at 800 and there at 1810; taken out at 2510; the answer is handed
   * over at 2810 and there at 3820. */
  { .name = "pingpong",
    .script = PINGPONG,
    .lanes = { "computing 0-500; MPI_Send 500-800; MPI_Recv waits 800-3820; MPI_Recv 3820-4520",
               "MPI_Recv waits 0-1810; MPI_Recv 1810-2510; MPI_Send 2510-2810" },
    .messages = "0>1 10 500-2510; 1>0 10 2510-4520",
    .n_messages = 2 },
  /* Its request goes at 300 and is there at 1300; the data is asked for at 1300, is
   * there at 1300 + 1000 + 1000 + 2000 and taken out at 6000; the acknowledgement
   * is back at 7000. */
  { .name = "a rendezvous waits in the send",
    .script = "0: send 1 7 2000 | 1: recv 0 7 2000",
    .lanes = { "MPI_Send 0-300; MPI_Send waits 300-7000",
               "MPI_Recv waits 0-5300; MPI_Recv 5300-6000" },
    .messages = "0>1 2000 0-6000",
    .n_messages = 1 },
  /* The data comes while rank 1 computes. */
  { .name = "nonblocking",
    .script = "0: isend 1 7 10 5; wait 5 | 1: irecv 0 7 10 6; compute 5000; wait 6",
    .lanes = { "MPI_Isend 0-300; MPI_Wait 300-400",
               "MPI_Irecv 0-100; computing 100-5100; MPI_Wait 5100-5900" },
    .messages = "0>1 10 0-5900",
    .n_messages = 1 },
  /* The waits of a call without work between them are one interval. */
  { .name = "joined waits",
    .n_ranks = 3,
    .script = "0: isend 1 7 2000 1; isend 2 7 2000 2; wait 1 2 | 1-2: recv 0 7 2000",
    .lanes = { "MPI_Isend 0-300; MPI_Isend 300-600; MPI_Wait 600-700; MPI_Wait waits 700-7300" },
    .n_messages = 2 },
  { .name = "within a node",
    .per_node = 2,
    .script = "0: send 1 7 100 | 1: recv 0 7 100",
    .lanes = { NULL, "MPI_Recv waits 0-510; MPI_Recv 510-1210" },
    .messages = "0>1 100 0-1210",
    .n_messages = 1 },
  /* A put of 500 is handed over at 300 and at its target at 1800; a get is handed over
   * at 600 and has its data at 1600 + 1000 + 40. */
  { .name = "one-sided",
    .script = "0: put 1 500; get 1 40; win_flush any",
    .lanes = { "MPI_Put 0-300; MPI_Get 300-600; MPI_Win_flush 600-700; MPI_Win_flush waits"
               " 700-2800" },
    .messages = "0>1 500 0-1800; 1>0 40 300-2640",
    .n_messages = 2 },
  /* Two processors; each operation as in LogGOPSim's model.  The compute of 1000 on
   * processor 1, lane 2, begins at once, beside that of 400 on processor 0, then the send. */
  { .name = "graph",
    .graph = true,
    .script = "0: compute 400; compute 1000 cpu=1; send 1 7 10 after=0 | 1: recv 0 7 10",
    .lanes = { "computing 0-400; send 400-700; idle 700-1000", "idle waits 0-1710; recv 1710-2410",
               "computing 0-1000" },
    .messages = "0>1 10 400-2410",
    .n_messages = 1 },
};

static void
test_cases (void)
{
  for (uint32_t i = 0; i < G_N_ELEMENTS (cases); i++) {
    uint32_t n_ranks = MAX (2, cases[i].n_ranks);
    g_autoptr (SimTimeline) timeline = sim_timeline_new (n_ranks, NULL, UINT64_MAX);
    g_auto (Fixture) f = fixture_new (n_ranks, MAX (1, cases[i].per_node));

    g_test_message ("%s", cases[i].name);
    f.timeline = timeline;
    if (cases[i].graph)
      script_set_graph (f.trace);
    script_text (f.trace, cases[i].script);
    fixture_run (&f);
    g_assert_no_error (f.error);
    for (uint32_t lane = 0; lane < 3; lane++)
      if (cases[i].lanes[lane] != NULL) {
        g_autofree char *text = lane_text (timeline, lane);

        g_assert_cmpstr (text, ==, cases[i].lanes[lane]);
      }
    if (cases[i].messages != NULL) {
      g_autofree char *text = messages_text (timeline);

      g_assert_cmpstr (text, ==, cases[i].messages);
    }
    g_assert_cmpuint (fixture_check_timeline (&f), ==, cases[i].n_messages);
    g_assert_cmpint (sim_timeline_end_ps (timeline), ==, INT64_MAX);
    if (cases[i].graph) {
      g_assert_cmpuint (sim_timeline_lane (timeline, 2).rank, ==, 0);
      g_assert_cmpuint (sim_timeline_lane (timeline, 2).processor, ==, 1);
    }
  }
}

/* Each is a call of its own, though it has the same name. */
static void
test_first_interval_of_a_call (void)
{
  g_autoptr (SimTimeline) timeline = sim_timeline_new (2, NULL, UINT64_MAX);
  g_auto (Fixture) f = fixture_new (2, 1);
  SimTimelineEvent event;
  uint32_t n_first = 0;

  f.timeline = timeline;
  script_text (f.trace, "0: 3*send 1 7 2000 | 1: 3*recv 0 7 2000");
  fixture_run (&f);
  for (uint64_t number = 0; number < sim_timeline_size (timeline); number++)
    n_first += sim_timeline_event (timeline, number, &event) && event.first;
  g_assert_cmpuint (n_first, ==, 6);
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

/* Calls that take no time have no interval, and their number all the same. */
static void
test_numbers_of_calls (void)
{
  static const struct {
    int64_t at_ps;
    uint64_t call;
  } expected[] = { { 0, 0 }, { 4, 1 }, { 9, 3 }, { 12, 3 } };
  g_autoptr (SimTimeline) timeline = sim_timeline_new (1, NULL, UINT64_MAX);
  const TraceOp op = { .kind = TRACE_OP_SEND };
  SimTimelineEvent event;

  sim_timeline_call (timeline, 0, &op, 4);
  sim_timeline_call (timeline, 0, &op, 9);
  sim_timeline_call (timeline, 0, &op, 9);
  sim_timeline_wait (timeline, 0, 12, 20);
  sim_timeline_rank_end (timeline, 0, 20);
  g_assert_cmpuint (sim_timeline_size (timeline), ==, G_N_ELEMENTS (expected));
  for (uint32_t i = 0; i < G_N_ELEMENTS (expected); i++) {
    g_assert_true (sim_timeline_event (timeline, i, &event));
    g_assert_cmpint (event.begin_ps, ==, expected[i].at_ps);
    g_assert_cmpuint (event.call, ==, expected[i].call);
  }
}

/* -- limits ---------------------------------------------------------------- */

static void
test_chosen_ranks (void)
{
  static const bool shown[] = { true, false, true };
  static const char *const lanes[] = { "MPI_Send 0-300; MPI_Send 300-600", "",
                                       "MPI_Recv waits 0-1610; MPI_Recv 1610-2310" };
  g_autoptr (SimTimeline) timeline = sim_timeline_new (3, shown, UINT64_MAX);
  g_auto (Fixture) f = fixture_new (3, 1);
  g_autofree char *messages = NULL;

  f.timeline = timeline;
  script_text (f.trace, "0: send 1 7 10; send 2 7 10 | 1-2: recv 0 7 10");
  fixture_run (&f);
  for (uint32_t lane = 0; lane < 3; lane++) {
    g_autofree char *text = lane_text (timeline, lane);

    g_assert_cmpstr (text, ==, lanes[lane]);
  }
  messages = messages_text (timeline);
  g_assert_cmpstr (messages, ==, "0>2 10 300-2310");
  g_assert_cmpuint (sim_timeline_left_out (timeline), ==, 0);
}

/* A new timeline of so many events, of 20 exchanges. */
static SimTimeline *
run_exchanges (Fixture *f, uint64_t limit)
{
  SimTimeline *timeline = sim_timeline_new (2, NULL, limit);

  *f = fixture_new (2, 1);
  f->timeline = timeline;
  for (uint32_t i = 0; i < 20; i++)
    script_text (f->trace, PINGPONG);
  fixture_run (f);
  return timeline;
}

/* The clipped timeline is the whole one, clipped. */
static void
check_limit (uint64_t limit, const char *whole[2], const char *whole_messages)
{
  g_auto (Fixture) f = { 0 };
  g_autoptr (SimTimeline) timeline = run_exchanges (&f, limit);
  int64_t end_ps = sim_timeline_end_ps (timeline);
  uint64_t n_kept = 0;
  SimTimelineEvent event;

  for (uint64_t number = 0; number < sim_timeline_size (timeline); number++)
    if (sim_timeline_event (timeline, number, &event)) {
      g_assert_cmpint (event.end_ps, <=, end_ps);
      n_kept++;
    }
  g_assert_cmpuint (n_kept, <=, limit + 2 * 2);
  for (uint32_t lane = 0; lane < 2 && end_ps > 0; lane++) {
    g_autofree char *text = lane_text (timeline, lane);
    const char *cut = strrchr (text, '-');

    /* All but where its last interval ends, which is the end of the timeline. */
    g_assert_cmpint (strncmp (text, whole[lane], (gsize) (cut - text)), ==, 0);
    g_assert_cmpfloat (g_ascii_strtod (cut + 1, NULL), ==, (double) end_ps / NS);
  }
  if (end_ps > 0) {
    g_autofree char *text = messages_text (timeline);

    g_assert_true (g_str_has_prefix (whole_messages, text));
  }
  g_assert_cmpuint (n_kept + sim_timeline_left_out (timeline), >=, limit);
  g_assert_cmpuint (sim_timeline_left_out (timeline), >, 0);
}

static void
test_limit_ends_it_for_all (void)
{
  g_auto (Fixture) f = { 0 };
  g_autoptr (SimTimeline) timeline = run_exchanges (&f, UINT64_MAX);
  g_autofree char *first = lane_text (timeline, 0), *second = lane_text (timeline, 1);
  g_autofree char *messages = messages_text (timeline);
  const char *whole[] = { first, second };

  for (uint64_t limit = 0; limit < 100; limit += 7)
    check_limit (limit, whole, messages);
}

/* A replay that is made again begins again. */
static void
test_twice_is_once (void)
{
  g_auto (Fixture) f = { 0 };
  g_autoptr (SimTimeline) timeline = run_exchanges (&f, 1000);
  g_autofree char *once = lane_text (timeline, 0), *twice = NULL;

  fixture_run (&f);
  twice = lane_text (timeline, 0);
  g_assert_cmpstr (once, ==, twice);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sim/timeline/cases", test_cases);
  g_test_add_func ("/sim/timeline/first", test_first_interval_of_a_call);
  g_test_add_func ("/sim/timeline/kinds", test_kinds);
  g_test_add_func ("/sim/timeline/names", test_names_of_calls);
  g_test_add_func ("/sim/timeline/numbers-of-calls", test_numbers_of_calls);
  g_test_add_func ("/sim/timeline/chosen-ranks", test_chosen_ranks);
  g_test_add_func ("/sim/timeline/limit", test_limit_ends_it_for_all);
  g_test_add_func ("/sim/timeline/twice", test_twice_is_once);
  return g_test_run ();
}
