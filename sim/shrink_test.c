/* shrink_test.c - shrunk messages: bytes that stay exact, times that stay close, where nothing is shrunk.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/resume_testing.h"
#include "sim/run.h"

#include <math.h>
#include <string.h>

/* --- A run of a pattern --- */

typedef struct {
  Trace *trace;
  TopoMachine *machine;
  TopoMapping *mapping;
} Inputs;

static void
inputs_clear (Inputs *inputs)
{
  trace_free (inputs->trace);
  topo_machine_free (inputs->machine);
  topo_mapping_free (inputs->mapping);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Inputs, inputs_clear)

static Inputs
inputs_new (const char *pattern, const char *spec, const char *mapping)
{
  g_autoptr (GError) error = NULL;
  Inputs inputs = { .trace = trace_open (pattern, NULL, &error) };

  g_assert_no_error (error);
  inputs.machine = topo_machine_new (spec, &error);
  g_assert_no_error (error);
  /* More ranks than nodes go to the first ones. */
  if (trace_ranks (inputs.trace) > topo_shape_nodes (&inputs.machine->shape))
    topo_machine_set_ranks_per_node (inputs.machine, trace_ranks (inputs.trace), &error);
  g_assert_no_error (error);
  inputs.mapping = topo_mapping_new (mapping, inputs.machine, trace_ranks (inputs.trace), &error);
  g_assert_no_error (error);
  return inputs;
}

static SimRun *
run (const Inputs *inputs, const char *shrink, RoutePolicy policy, uint32_t n_threads)
{
  SimRunOptions options = { .compute_scale = 1, .policy = policy, .n_threads = n_threads };
  g_autoptr (GError) error = NULL;
  SimRun *made;

  g_assert_true (sim_shrink_parse (shrink, &options.shrink));
  made = sim_run (inputs->trace, inputs->machine, inputs->mapping, &options, &error);
  g_assert_no_error (error);
  return made;
}

static double
relative_difference (double value, double exact)
{
  return fabs (value / exact - 1);
}

/* --- Bytes --- */

/* Whatever the lengths leave over, each link has carried what it carries exactly. */
static void
test_bytes (void)
{
  static const struct {
    const char *pattern, *machine, *mapping;
  } cases[] = {
    { "gen:halo3d:ranks=32,bytes=1M,iterations=1", "bgq:32", NULL },
    { "gen:halo3d:ranks=64,bytes=333333,iterations=1", "bgq:64", "random(3)" },
    { "gen:ring:ranks=24,bytes=1000003,iterations=1", "torus:4x3x2m", "random(5)" },
    { "gen:halo2d:ranks=16,bytes=700001,iterations=1", "fattree:4x4", NULL },
    { "gen:random:ranks=16,bytes=555555,iterations=1", "fattree:4x4", "random(1)" },
  };
  static const char *const shrinks[] = { "2", "3", "8", "16" };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_auto (Inputs) inputs = inputs_new (cases[i].pattern, cases[i].machine, cases[i].mapping);
    g_autoptr (SimRun) exact = run (&inputs, "off", ROUTE_POLICY_DETERMINISTIC, 1);

    for (gsize j = 0; j < G_N_ELEMENTS (shrinks); j++) {
      g_autoptr (SimRun) shrunk = run (&inputs, shrinks[j], ROUTE_POLICY_DETERMINISTIC, 1);

      g_assert_cmpuint (shrunk->shrink, ==, g_ascii_strtoull (shrinks[j], NULL, 10));
      g_assert_cmpuint (shrunk->counters->packets, <, exact->counters->packets);
      for (uint32_t link = 0; link < exact->counters->n_places; link++)
        g_assert_cmpuint (shrunk->counters->link[link].payload_bytes, ==,
                          exact->counters->link[link].payload_bytes);
    }
  }
}

/* Dynamic packets go other ways, as far. */
static void
test_dynamic_bytes (void)
{
  g_auto (Inputs) inputs =
      inputs_new ("gen:random:ranks=32,bytes=1000001,iterations=1", "bgq:32", NULL);
  g_autoptr (SimRun) exact = run (&inputs, "off", ROUTE_POLICY_ZONE0, 1);
  g_autoptr (SimRun) shrunk = run (&inputs, "8", ROUTE_POLICY_ZONE0, 1);
  uint64_t bytes[2] = { 0, 0 };

  for (uint32_t link = 0; link < exact->counters->n_places; link++) {
    bytes[0] += exact->counters->link[link].payload_bytes;
    bytes[1] += shrunk->counters->link[link].payload_bytes;
  }
  g_assert_cmpuint (bytes[0], ==, bytes[1]);
  g_assert_cmpfloat (
      relative_difference ((double) bytes[1], shrunk->features[SIM_FEATURE_HOP_BYTES]), <, 1e-12);
}

/* --- Times and counts --- */

/* One message has a link to itself: its packets take the same time, but for what is left over and
 * the last packet, which is stored once as a whole. */
static void
test_one_message (void)
{
  static const struct {
    const char *machine;
    double packet_ps;
  } cases[] = { { "torus:2x2", 300e3 }, { "fattree:2x1", 1100e3 } };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_auto (Inputs) inputs =
        inputs_new ("gen:pingpong:ranks=2,bytes=4M,iterations=1", cases[i].machine, NULL);
    g_autoptr (SimRun) exact = run (&inputs, "off", ROUTE_POLICY_DEFAULT, 1);

    for (unsigned factor = 2; factor <= 16; factor *= 2) {
      g_autofree char *text = g_strdup_printf ("%u", factor);
      g_autoptr (SimRun) shrunk = run (&inputs, text, ROUTE_POLICY_DEFAULT, 1);

      /* There and back. */
      g_assert_cmpfloat (fabs ((double) (shrunk->result.time_ps - exact->result.time_ps)), <,
                         2 * 3 * factor * cases[i].packet_ps);
    }
  }
}

/* Messages of 2,000 packets keep their times and waits within a few per cent (validate shrink has
 * the figures). */
static void
test_contention (void)
{
  static const char *const machines[] = { "bgq:32", "fattree:8x4" };

  for (gsize i = 0; i < G_N_ELEMENTS (machines); i++) {
    g_auto (Inputs) inputs =
        inputs_new ("gen:halo3d:ranks=32,bytes=2M,iterations=1", machines[i], "random(1)");
    g_autoptr (SimRun) exact = run (&inputs, "off", ROUTE_POLICY_DETERMINISTIC, 1);
    g_autoptr (SimRun) shrunk = run (&inputs, "4", ROUTE_POLICY_DETERMINISTIC, 1);
    uint64_t waits_ps[2] = { 0, 0 }, packets[2] = { 0, 0 };

    for (uint32_t link = 0; link < exact->counters->n_places; link++) {
      waits_ps[0] += exact->counters->link[link].buffered_ps;
      waits_ps[1] += shrunk->counters->link[link].buffered_ps;
      packets[0] += exact->counters->link[link].received_packets;
      packets[1] += shrunk->counters->link[link].received_packets;
    }
    g_test_message ("%s: time %g %%, waits %g %%, packets %g %%", machines[i],
                    100 * ((double) shrunk->result.time_ps / (double) exact->result.time_ps - 1),
                    100 * ((double) waits_ps[1] / (double) waits_ps[0] - 1),
                    100 * ((double) packets[1] / (double) packets[0] - 1));
    g_assert_cmpfloat (
        relative_difference ((double) shrunk->result.time_ps, (double) exact->result.time_ps), <,
        .1);
    g_assert_cmpfloat (relative_difference ((double) waits_ps[1], (double) waits_ps[0]), <, .2);
    g_assert_cmpfloat (relative_difference ((double) packets[1], (double) packets[0]), <, .03);
  }
}

/* --- Where nothing is shrunk --- */

#define DETERMINISTIC ROUTE_POLICY_DETERMINISTIC

static void
test_factors (void)
{
  static const struct {
    const char *pattern, *machine, *shrink;
    uint32_t factor;
    RoutePolicy policy;
  } cases[] = {
    { "gen:halo3d:ranks=32,bytes=1M,iterations=1", "bgq:32", "off", 1, DETERMINISTIC },
    { "gen:halo3d:ranks=32,bytes=1M,iterations=1", "bgq:32", "auto", 2,
      DETERMINISTIC }, /* 2,048 packets */
    { "gen:halo3d:ranks=32,bytes=1M,iterations=1", "bgq:32", "auto:screen", 8, DETERMINISTIC },
    { "gen:halo3d:ranks=32,bytes=900K,iterations=1", "bgq:32", "auto", 1,
      DETERMINISTIC }, /* 1,800 */
    { "gen:halo3d:ranks=32,bytes=4M,iterations=1", "bgq:32", "auto", 8, DETERMINISTIC },
    { "gen:halo3d:ranks=32,bytes=4096,iterations=1", "bgq:32", "8", 8,
      DETERMINISTIC }, /* 8 packets */
    { "gen:halo3d:ranks=32,bytes=4096,iterations=1", "bgq:32", "9", 1, DETERMINISTIC },
    { "gen:halo3d:ranks=32,bytes=1M,iterations=1", "bgq:32", "1000", 64,
      DETERMINISTIC }, /* as much as there is */
    { "gen:halo3d:ranks=32,bytes=4M,iterations=1", "fattree:8x4", "auto", 2,
      DETERMINISTIC }, /* 2,048 of 2 KiB */
    /* All messages are within a node. */
    { "gen:halo3d:ranks=8,bytes=1K,iterations=1", "systemg:2", "auto", 1, DETERMINISTIC },
    /* 32,768 packets, of which some choose their way. */
    { "gen:halo3d:ranks=32,bytes=16M,iterations=1", "bgq:32", "auto", 4, ROUTE_POLICY_ZONE0 },
    { "gen:halo3d:ranks=32,bytes=16M,iterations=1", "bgq:32", "auto:screen", 16,
      ROUTE_POLICY_ZONE0 },
    { "gen:halo3d:ranks=32,bytes=16M,iterations=1", "bgq:32", "16", 16, ROUTE_POLICY_ZONE0 },
    { "gen:halo3d:ranks=32,bytes=16K,iterations=1", "bgq:32", "auto:race", 8, ROUTE_POLICY_ZONE0 },
    { "gen:halo3d:ranks=32,bytes=4K,iterations=1", "bgq:32", "auto:race", 4, DETERMINISTIC },
    { "gen:halo3d:ranks=32,bytes=1K,iterations=1", "bgq:32", "auto:race", 1, DETERMINISTIC },
    { "gen:halo3d:ranks=32,bytes=4M,iterations=1", "bgq:32", "auto:race", 8, DETERMINISTIC },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_auto (Inputs) inputs = inputs_new (cases[i].pattern, cases[i].machine, NULL);
    g_autoptr (GError) error = NULL;
    g_autoptr (SimTraffic) traffic =
        sim_traffic_new (inputs.trace, inputs.machine, 1000000, NULL, NULL, &error);
    SimShrink shrink;

    g_assert_no_error (error);
    g_assert_true (sim_shrink_parse (cases[i].shrink, &shrink));
    for (guint from_traffic = 0; from_traffic < 2; from_traffic++) {
      g_autoptr (SimShrinkPlan) plan =
          sim_shrink_plan (shrink, inputs.trace, from_traffic ? traffic : NULL, inputs.machine,
                           inputs.mapping, cases[i].policy, 64, &error);

      g_assert_no_error (error);
      g_assert_cmpuint (plan->factor, ==, cases[i].factor);
      g_assert_cmpfloat (plan->shrunk_share, ==, cases[i].factor > 1);
    }
  }
}

/* Who asks for more than there is reads why. */
static void
test_warnings (void)
{
  static const struct {
    const char *shrink, *warning;
  } cases[] = { { "9", "the shortest between two nodes has 4096 bytes" },
                { "auto", "the shortest between two nodes has 4096 bytes" },
                { "8", NULL },
                { "off", NULL } };
  g_auto (Inputs) inputs =
      inputs_new ("gen:halo3d:ranks=32,bytes=4096,iterations=1", "bgq:32", NULL);

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (SimRun) made = run (&inputs, cases[i].shrink, ROUTE_POLICY_DEFAULT, 1);
    bool found = false;

    for (guint at = 0; at < made->warnings->len; at++)
      found |= strstr (g_ptr_array_index (made->warnings, at), "shrunk") != NULL &&
               (cases[i].warning == NULL ||
                strstr (g_ptr_array_index (made->warnings, at), cases[i].warning) != NULL);
    g_assert_cmpint (found, ==, cases[i].warning != NULL);
  }
}

static void
test_texts (void)
{
  static const char *const good[] = { "off", "auto", "auto:screen", "auto:race", "2", "64" };
  static const char *const bad[] = {
    "", "0", "1", "-2", "2.5", "auto:", "on", "8x", "99999999999"
  };
  SimShrink shrink;

  for (gsize i = 0; i < G_N_ELEMENTS (good); i++) {
    g_autofree char *text = NULL;

    g_assert_true (sim_shrink_parse (good[i], &shrink));
    text = sim_shrink_text (shrink);
    g_assert_cmpstr (text, ==, good[i]);
  }
  for (gsize i = 0; i < G_N_ELEMENTS (bad); i++)
    g_assert_false (sim_shrink_parse (bad[i], &shrink));
  g_assert_true (sim_shrink_is_off ((SimShrink){ 0 }));
}

/* --- Threads, checkpoints, keys --- */

static void
test_threads (void)
{
  g_auto (Inputs) inputs =
      inputs_new ("gen:halo3d:ranks=32,bytes=20000,iterations=1", "bgq:32", "random(2)");
  g_autoptr (SimRun) one = run (&inputs, "8", ROUTE_POLICY_DEFAULT, 1);
  g_autoptr (SimRun) two = run (&inputs, "8", ROUTE_POLICY_DEFAULT, 2);

  g_assert_cmpint (one->result.time_ps, ==, two->result.time_ps);
  g_assert_true (memcmp (one->counters->link, two->counters->link,
                         one->counters->n_places * sizeof *one->counters->link) == 0);
  g_assert_cmpmem (one->features, sizeof one->features, two->features, sizeof two->features);
}

static void
test_resume (void)
{
  static const char *const machines[] = { "bgq:32", "fattree:8x4" };

  for (gsize i = 0; i < G_N_ELEMENTS (machines); i++) {
    g_auto (Inputs) inputs =
        inputs_new ("gen:halo3d:ranks=32,bytes=300000,iterations=2", machines[i], "random(1)");
    SimRunOptions options = { .compute_scale = 1,
                              .seed = 7,
                              .jitter_ps = 1000000,
                              .shrink = { .factor = 4 },
                              .windows_per_pause = 2000 };

    resume_check (inputs.trace, inputs.machine, inputs.mapping, &options, 2);
  }
}

/* Another run than the exact one; the same by either name of exact. */
static void
test_key (void)
{
  g_auto (Inputs) inputs = inputs_new ("gen:halo3d:ranks=32,bytes=1M,iterations=1", "bgq:32", NULL);
  g_autoptr (SimRun) exact = run (&inputs, "off", ROUTE_POLICY_DETERMINISTIC, 1);
  g_autoptr (SimRun) two = run (&inputs, "2", ROUTE_POLICY_DETERMINISTIC, 1);
  g_autoptr (SimRun) automatic = run (&inputs, "auto", ROUTE_POLICY_DETERMINISTIC, 1);

  g_assert_cmpstr (exact->key, !=, two->key);
  g_assert_cmpstr (two->key, !=, automatic->key);
  g_assert_cmpuint (two->shrink, ==, automatic->shrink);
  g_assert_cmpint (two->result.time_ps, ==, automatic->result.time_ps);
}

static void
test_refused (void)
{
  g_auto (Inputs) inputs = inputs_new ("gen:halo3d:ranks=32,bytes=1M,iterations=1", "bgq:32", NULL);
  SimRunOptions options = { .compute_scale = 1,
                            .network = SIM_NETWORK_LOAD,
                            .shrink = { .factor = 2 } };
  g_autoptr (GError) error = NULL;

  g_assert_null (sim_run (inputs.trace, inputs.machine, inputs.mapping, &options, &error));
  g_assert_error (error, SIM_ERROR, SIM_ERROR_NETWORK);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sim/shrink/bytes", test_bytes);
  g_test_add_func ("/sim/shrink/bytes/dynamic", test_dynamic_bytes);
  g_test_add_func ("/sim/shrink/one-message", test_one_message);
  g_test_add_func ("/sim/shrink/contention", test_contention);
  g_test_add_func ("/sim/shrink/factors", test_factors);
  g_test_add_func ("/sim/shrink/warnings", test_warnings);
  g_test_add_func ("/sim/shrink/texts", test_texts);
  g_test_add_func ("/sim/shrink/threads", test_threads);
  g_test_add_func ("/sim/shrink/resume", test_resume);
  g_test_add_func ("/sim/shrink/key", test_key);
  g_test_add_func ("/sim/shrink/refused", test_refused);
  return g_test_run ();
}
