/* shrink_phases_test.c - which phases of a trace are shrunk, and runs in which only some are.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/replay/replay_testing.h"
#include "sim/resume_testing.h"

#include <math.h>
#include <string.h>

/* --- Plans --- */

/* Of two ranks on two nodes with packets of 512 bytes: LONG has 4,000 of them, LONGER 32,000 and
 * SHORT two. */
#define LONG   "sendrecv 1 1 2048000"
#define LONGER "sendrecv 1 1 16384000"
#define SHORT  "sendrecv 1 1 600"

typedef struct {
  const char *name, *script; /* of rank 0; rank 1 does the same, but for its peer */
  const char *other;         /* of rank 1; NULL: as rank 0 */
  const char *shrink;
  uint32_t factor;
  const char *exact; /* for each count of collectives; NULL: nothing is shrunk */
} PlanCase;

static const PlanCase plan_cases[] = {
  { "one", LONG, NULL, "auto", 4, "0" },
  { "mixed", LONG ";" SHORT, NULL, "auto", 1, NULL },
  { "barrier", LONG "; barrier;" LONG, NULL, "auto", 4, "00" },
  { "short-first", SHORT "; barrier;" LONG, NULL, "auto", 4, "10" },
  { "short-between", LONG "; barrier;" SHORT "; allreduce 8;" LONG, NULL, "auto", 4, "010" },
  { "short-after-each", LONG ";" SHORT "; barrier;" LONG ";" SHORT, NULL, "auto", 1, NULL },
  { "by-number", SHORT "; barrier;" LONG, NULL, "16", 16, "10" },
  { "by-large-number", SHORT "; barrier;" LONG, NULL, "4000", 64, "10" },
  { "too-large-number", SHORT "; barrier;" LONG, NULL, "4001", 1, NULL },
  /* S is that of most packets saved: 31/32 of LONGER is more than 3/4 of both, and less if there are
   * five times more of LONG. */
  { "two-factors", LONG "; barrier;" LONGER, NULL, "auto", 32, "10" },
  { "less-of-longer", "5*" LONG "; barrier;" LONGER, NULL, "auto", 4, "00" },
  /* Nothing divides here what comes before from what comes after. */
  { "no-barrier-at-all", SHORT "; barrier comm=3;" LONG, NULL, "auto", 1, NULL },
  { "empty-allreduce", SHORT "; allreduce 0;" LONG, NULL, "auto", 1, NULL },
  { "bcast", SHORT "; bcast 0 8;" LONG, NULL, "auto", 1, NULL },
  { "nonblocking", SHORT "; ibarrier 5; wait 5;" LONG, NULL, "auto", 1, NULL },
  { "long-collective", SHORT "; allgather 2048000;" LONG, NULL, "auto", 1, NULL },
  { "open-send", "isend 1 0 600 5; barrier; wait 5;" LONG, "recv 0 0 600; barrier;" LONG, "auto", 1,
    NULL },
  { "open-receive", "irecv 1 0 600 5; barrier; wait 5;" LONG, "bsend 0 0 600; barrier;" LONG,
    "auto", 1, NULL },
  { "late-receive", "bsend 1 0 600; barrier;" LONG, "barrier; recv 0 0 600;" LONG, "auto", 1,
    NULL },
  { "open-collective", SHORT "; ibarrier 5; barrier; wait 5;" LONG, NULL, "auto", 1, NULL },
  { "started", "send_init 1 0 600 5; start 5; barrier; wait 5;" LONG, "recv 0 0 600; barrier;" LONG,
    "auto", 1, NULL },
  { "cancelled", SHORT "; irecv 1 9 600 5; cancel 5; wait 5; barrier;" LONG, NULL, "auto", 1,
    NULL },
  { "put", SHORT "; win_create; put 1 600; win_fence; barrier;" LONG, NULL, "auto", 1, NULL },
  /* All that was begun is complete. */
  { "completed", "isend 1 0 600 5; irecv 1 0 600 6; wait 5 6; barrier;" LONG, NULL, "auto", 4,
    "10" },
  { "completed-by-test", "isend 1 0 600 5; irecv 1 0 600 6; test 5 6 completed=1,0; barrier;" LONG,
    NULL, "auto", 4, "10" },
  { "seen-incomplete",
    "isend 1 0 600 5; irecv 1 0 600 6; test 5 6 completed=1; barrier; wait 5;" LONG, NULL, "auto",
    1, NULL },
  { "one-handle", "isend 1 0 600 5; isend 1 0 600 5; wait 5; wait 5; barrier;" LONG,
    "2*recv 0 0 600; barrier;" LONG, "auto", 4, "10" },
  { "one-handle-once", "isend 1 0 600 5; isend 1 0 600 5; wait 5; barrier; wait 5;" LONG,
    "2*recv 0 0 600; barrier;" LONG, "auto", 1, NULL },
  { "started-and-completed", "send_init 1 0 600 5; 2*start 5; 2*wait 5; barrier;" LONG,
    "2*recv 0 0 600; barrier;" LONG, "auto", 4, "10" },
  /* Makings of communicators count, and so do collectives that divide nothing. */
  { "counted", SHORT "; comm_dup 20; bcast 0 8; barrier;" LONG, NULL, "auto", 4, "1110" },
};

/* `text` as the other rank has it: its peer is rank 0. */
static char *
mirrored (const char *text)
{
  g_auto (GStrv) parts = g_strsplit (text, "sendrecv 1 1", -1);
  g_autofree char *exchanged = g_strjoinv ("sendrecv 0 0", parts);
  g_auto (GStrv) others = g_regex_split_simple ("(isend|irecv|put) 1", exchanged, 0, 0);
  GString *mirror = g_string_new (NULL);

  for (guint i = 0; others[i] != NULL; i++)
    g_string_append_printf (mirror, "%s%s", others[i], i % 2 == 1 ? " 0" : "");
  return g_string_free (mirror, FALSE);
}

static void
test_plan (gconstpointer data)
{
  const PlanCase *it = data;
  g_auto (Fixture) fixture = fixture_new_spec ("torus:2", 2, 1);
  g_autofree char *mirror = mirrored (it->script);
  g_autofree char *script =
      g_strconcat ("0: ", it->script, " | 1: ", it->other != NULL ? it->other : mirror, NULL);
  g_autoptr (SimTraffic) traffic = NULL;
  g_autoptr (GError) error = NULL;
  SimShrink shrink;

  script_text (fixture.trace, script);
  traffic = sim_traffic_new (fixture.trace, fixture.machine, 1000, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (sim_shrink_parse (it->shrink, &shrink));
  for (guint from_traffic = 0; from_traffic < 2; from_traffic++) {
    g_autoptr (SimShrinkPlan) plan =
        sim_shrink_plan (shrink, fixture.trace, from_traffic ? traffic : NULL, fixture.machine,
                         fixture.mapping, ROUTE_POLICY_DETERMINISTIC, 64, &error);

    g_assert_no_error (error);
    g_assert_cmpuint (plan->factor, ==, it->factor);
    g_assert_cmpint (plan->shrunk_share > 0, ==, it->factor > 1);
    if (plan->exact == NULL) /* the lengths have settled it */
      g_assert_true (it->exact == NULL || strchr (it->exact, '1') == NULL);
    else {
      g_assert_cmpuint (plan->n_exact, ==, strlen (it->exact));
      for (uint32_t i = 0; i < plan->n_exact; i++)
        g_assert_cmpint (plan->exact[i], ==, it->exact[i] == '1');
    }
  }
}

/* --- Runs --- */

static const char *const machines[] = { "bgq:32", "fattree:4x4" };

#define RANKS 16

/* Every rank exchanges messages with two others, twice, of so many bytes; an allreduce after each
 * length but the last.  `halves`: the odd ranks have 600 bytes instead. */
static Fixture
exchanges (const char *spec, const uint64_t *bytes, guint n, bool halves)
{
  Fixture fixture = fixture_new_spec (spec, RANKS, 1);
  g_autoptr (GString) script = g_string_new (NULL);

  for (guint rank = 0; rank < RANKS; rank++) {
    /* The replay counts the making of a communicator as the plan does. */
    g_string_append_printf (script, "%s%u: comm_dup 20; ", rank > 0 ? " | " : "", rank);
    for (guint i = 0; i < n; i++) {
      for (guint far = 2; far <= 6; far += 4)
        g_string_append_printf (script, "2*sendrecv %u %u %" G_GUINT64_FORMAT "; ",
                                (rank + far) % RANKS, (rank + RANKS - far) % RANKS,
                                halves && rank % 2 == 1 ? 600 : bytes[i]);
      g_string_append (script, i + 1 < n ? "allreduce 8; " : "finalize");
    }
  }
  script_text (fixture.trace, script->str);
  return fixture;
}

static SimRun *
run (const Fixture *fixture, const char *shrink, uint32_t n_threads)
{
  SimRunOptions options = { .compute_scale = 1,
                            .policy = fixture->machine->fabric != NULL ? ROUTE_POLICY_DEFAULT
                                                                       : ROUTE_POLICY_DETERMINISTIC,
                            .n_threads = n_threads };
  g_autoptr (GError) error = NULL;
  SimRun *made;

  g_assert_true (sim_shrink_parse (shrink, &options.shrink));
  made = sim_run (fixture->trace, fixture->machine, fixture->mapping, &options, &error);
  g_assert_no_error (error);
  return made;
}

static bool
warns (const SimRun *made, const char *text)
{
  for (guint i = 0; i < made->warnings->len; i++)
    if (strstr (g_ptr_array_index (made->warnings, i), text) != NULL)
      return true;
  return false;
}

static void
assert_same_bytes (const SimRun *made, const SimRun *exact)
{
  for (uint32_t link = 0; link < exact->counters->n_places; link++)
    g_assert_cmpuint (made->counters->link[link].payload_bytes, ==,
                      exact->counters->link[link].payload_bytes);
}

static uint64_t
received_packets (const SimRun *made)
{
  uint64_t n = 0;

  for (uint32_t link = 0; link < made->counters->n_places; link++)
    n += made->counters->link[link].received_packets;
  return n;
}

/* The long exchanges have fewer packets, the short ones theirs, and all are counted. */
static void
test_some (void)
{
  static const uint64_t all[] = { 1024000, 6000, 1024000 }, some[] = { 6000 };

  for (gsize i = 0; i < G_N_ELEMENTS (machines); i++) {
    g_auto (Fixture) fixture = exchanges (machines[i], all, G_N_ELEMENTS (all), false);
    g_auto (Fixture) of_short = exchanges (machines[i], some, G_N_ELEMENTS (some), false);
    g_autoptr (SimRun) exact = run (&fixture, "off", 1);
    g_autoptr (SimRun) shrunk = run (&fixture, "16", 1);
    g_autoptr (SimRun) off = run (&fixture, "3000", 1);
    g_autoptr (SimRun) exact_short = run (&of_short, "off", 1);
    double share = 2. * 1024000 / (2. * 1024000 + 6000);

    g_assert_cmpuint (shrunk->shrink, ==, 16);
    g_assert_cmpfloat (fabs (shrunk->shrink_share - share), <, .001);
    g_assert_true (warns (shrunk, "in 2 of 3 phases, with 99"));
    g_assert_true (warns (off, "not shrunk"));
    assert_same_bytes (shrunk, exact);
    g_assert_cmpuint (shrunk->counters->packets, <, exact->counters->packets / 4);
    g_assert_cmpuint (shrunk->counters->packets, >, exact_short->counters->packets);
    g_assert_cmpfloat (
        fabs ((double) received_packets (shrunk) / (double) received_packets (exact) - 1), <, .03);
    g_assert_cmpfloat (fabs ((double) shrunk->result.time_ps / (double) exact->result.time_ps - 1),
                       <, .05);
  }
}

/* Without anything between them, short and long messages share the network. */
static void
test_mixed (void)
{
  static const uint64_t bytes[] = { 2048000, 2048000 };

  for (gsize i = 0; i < G_N_ELEMENTS (machines); i++) {
    g_auto (Fixture) fixture = exchanges (machines[i], bytes, G_N_ELEMENTS (bytes), true);
    g_autoptr (SimRun) exact = run (&fixture, "off", 1);
    g_autoptr (SimRun) automatic = run (&fixture, "auto:screen", 1);

    g_assert_cmpuint (automatic->shrink, ==, 1);
    g_assert_cmpfloat (automatic->shrink_share, ==, 0);
    g_assert_true (warns (automatic, "not shrunk"));
    g_assert_cmpint (automatic->result.time_ps, ==, exact->result.time_ps);
    g_assert_true (memcmp (automatic->counters->link, exact->counters->link,
                           exact->counters->n_places * sizeof *exact->counters->link) == 0);
  }
}

static void
test_threads (void)
{
  static const uint64_t bytes[] = { 100000, 3000, 100000, 600 };
  g_auto (Fixture) fixture = exchanges ("bgq:32", bytes, G_N_ELEMENTS (bytes), false);
  g_autoptr (SimRun) one = run (&fixture, "16", 1);
  g_autoptr (SimRun) two = run (&fixture, "16", 2);

  g_assert_cmpfloat (one->shrink_share, <, 1);
  g_assert_cmpint (one->result.time_ps, ==, two->result.time_ps);
  g_assert_true (memcmp (one->counters->link, two->counters->link,
                         one->counters->n_places * sizeof *one->counters->link) == 0);
  g_assert_cmpmem (one->features, sizeof one->features, two->features, sizeof two->features);
}

static void
test_resume (void)
{
  static const uint64_t bytes[] = { 100000, 3000, 100000, 600 };

  for (gsize i = 0; i < G_N_ELEMENTS (machines); i++) {
    g_auto (Fixture) fixture = exchanges (machines[i], bytes, G_N_ELEMENTS (bytes), false);
    SimRunOptions options = { .compute_scale = 1,
                              .shrink = { .factor = 16 },
                              .windows_per_pause = 500 };

    resume_check (fixture.trace, fixture.machine, fixture.mapping, &options, 4);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (plan_cases); i++) {
    g_autofree char *path = g_strconcat ("/sim/shrink-phases/plan/", plan_cases[i].name, NULL);

    g_test_add_data_func (path, &plan_cases[i], test_plan);
  }
  g_test_add_func ("/sim/shrink-phases/some", test_some);
  g_test_add_func ("/sim/shrink-phases/mixed", test_mixed);
  g_test_add_func ("/sim/shrink-phases/threads", test_threads);
  g_test_add_func ("/sim/shrink-phases/resume", test_resume);
  return g_test_run ();
}
