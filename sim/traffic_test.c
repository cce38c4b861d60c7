/* traffic_test.c - a trace read once loads links as one read for every run.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/run.h"

#include <string.h>

typedef struct {
  Trace *trace;
  TopoMachine *machine;
  RoutePaths *paths;
} Inputs;

static void
inputs_open (Inputs *inputs, const char *path, const char *spec, uint32_t ranks_per_node)
{
  GError *error = NULL;

  inputs->trace = trace_open (path, NULL, &error);
  g_assert_no_error (error);
  inputs->machine = topo_machine_new (spec, &error);
  g_assert_no_error (error);
  g_assert_true (topo_machine_set_ranks_per_node (inputs->machine, ranks_per_node, &error));
  inputs->paths = route_paths_new (inputs->machine, &error);
  g_assert_no_error (error);
}

static void
inputs_clear (Inputs *inputs)
{
  route_paths_free (inputs->paths);
  topo_machine_free (inputs->machine);
  trace_free (inputs->trace);
}

static SimTraffic *
traffic_new (const Inputs *inputs)
{
  GError *error = NULL;
  SimTraffic *traffic =
      sim_traffic_new (inputs->trace, inputs->machine, G_MAXUINT64, NULL, NULL, &error);

  g_assert_no_error (error);
  return traffic;
}

static SimRun *
run (const Inputs *inputs, const char *mapping_text, const SimTraffic *traffic)
{
  GError *error = NULL;
  g_autoptr (TopoMapping) mapping =
      topo_mapping_new (mapping_text, inputs->machine, trace_ranks (inputs->trace), &error);
  const SimRunOptions options = { .trace_path = trace_path (inputs->trace),
                                  .network = SIM_NETWORK_LOAD,
                                  .compute_scale = 1,
                                  .paths = traffic != NULL ? inputs->paths : NULL,
                                  .traffic = traffic };
  SimRun *result = sim_run (inputs->trace, inputs->machine, mapping, &options, &error);

  g_assert_no_error (error);
  return result;
}

static void
assert_same (const SimRun *once, const SimRun *anew)
{
  g_assert_cmpstr (once->key, ==, anew->key);
  g_assert_cmpuint (once->result.messages, ==, anew->result.messages);
  g_assert_cmpuint (once->result.message_bytes, ==, anew->result.message_bytes);
  g_assert_cmpuint (once->result.collectives, ==, anew->result.collectives);
  g_assert_cmpmem (once->features, sizeof once->features, anew->features, sizeof anew->features);
  for (uint32_t link = 0; link < anew->counters->n_places; link++)
    g_assert_cmpuint (once->counters->link[link].payload_bytes, ==,
                      anew->counters->link[link].payload_bytes);
  for (uint32_t fifo = 0; fifo < anew->counters->n_fifo_places; fifo++)
    g_assert_cmpuint (once->counters->fifo_messages[fifo], ==, anew->counters->fifo_messages[fifo]);
}

/* One reading serves all mappings, to the last bit of every feature. */
static void
check (const char *path, const char *spec, uint32_t ranks_per_node, const char *const *mappings)
{
  Inputs inputs;
  g_autoptr (SimTraffic) traffic = NULL;

  inputs_open (&inputs, path, spec, ranks_per_node);
  traffic = traffic_new (&inputs);
  g_assert_cmpuint (traffic->n_kinds, >, 0);
  for (const char *const *mapping = mappings; *mapping != NULL; mapping++) {
    g_autoptr (SimRun) once = run (&inputs, *mapping, traffic);
    g_autoptr (SimRun) anew = run (&inputs, *mapping, NULL);

    g_assert_cmpuint (anew->result.messages, >, 0);
    assert_same (once, anew);
  }
  inputs_clear (&inputs);
}

static void
test_tori (void)
{
  static const char *const mappings[] = { "ABCDET", "TABCDE", "TEDCBA", NULL };

  check ("gen:halo3d:ranks=128,bytes=512,iterations=3", "bgq:32", 4, mappings);
  check ("gen:halo2d:ranks=128,bytes=100000,iterations=3", "bgq:32", 4, mappings);
}

/* Alltoalls of Blue Gene/Q are direct, and take turns on the FIFOs. */
static void
test_direct_collectives (void)
{
  static const char *const mappings[] = { "ABCDET", "TABCDE", NULL };

  check ("gen:suba2a:ranks=128,bytes=512,iterations=3", "bgq:32", 4, mappings);
}

static void
test_fabrics (void)
{
  static const char *const mappings[] = { "AT", "TA", NULL };

  check ("gen:halo3d:ranks=64,bytes=100000,iterations=3", "systemg:16", 4, mappings);
  check ("gen:suba2a:ranks=64,bytes=512,iterations=3", "systemg:16", 4, mappings);
}

/* Four neighbours of each rank in three iterations of one size. */
static void
test_kinds_of_a_halo (void)
{
  Inputs inputs;
  g_autoptr (SimTraffic) traffic = NULL;

  inputs_open (&inputs, "gen:halo2d:ranks=64,bytes=512,iterations=3", "bgq:32", 2);
  traffic = traffic_new (&inputs);
  g_assert_cmpuint (traffic->n_kinds, ==, 64 * 4);
  g_assert_cmpuint (traffic->n_edges, ==, 64 * 4);
  g_assert_cmpuint (traffic->messages, ==, 64 * 4 * 3);
  g_assert_cmpuint (traffic->bytes, ==, 64 * 4 * 3 * 512);
  for (uint64_t kind = 0; kind < traffic->n_kinds; kind++) {
    g_assert_cmpuint (traffic->kinds[kind].n, ==, 3);
    g_assert_cmpuint (traffic->kinds[kind].bytes, ==, 512);
  }
  inputs_clear (&inputs);
}

static void
test_too_many_kinds (void)
{
  Inputs inputs;
  g_autoptr (GError) error = NULL;

  inputs_open (&inputs, "gen:halo2d:ranks=64,bytes=512,iterations=3", "bgq:32", 2);
  g_assert_null (sim_traffic_new (inputs.trace, inputs.machine, 255, NULL, NULL, &error));
  g_assert_no_error (error);
  inputs_clear (&inputs);
}

/* A key that is given is the run's and is not computed again. */
static void
test_a_known_key (void)
{
  Inputs inputs;
  GError *error = NULL;
  g_autoptr (TopoMapping) mapping = NULL;
  g_autoptr (SimRun) made = NULL;
  const SimRunOptions options = { .network = SIM_NETWORK_LOAD, .compute_scale = 1, .key = "k" };

  inputs_open (&inputs, "gen:halo2d:ranks=64,bytes=512,iterations=3", "bgq:32", 2);
  mapping = topo_mapping_new (NULL, inputs.machine, 64, &error);
  g_assert_no_error (error);
  made = sim_run (inputs.trace, inputs.machine, mapping, &options, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (made->key, ==, "k");
  inputs_clear (&inputs);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sim/traffic/tori", test_tori);
  g_test_add_func ("/sim/traffic/direct", test_direct_collectives);
  g_test_add_func ("/sim/traffic/fabrics", test_fabrics);
  g_test_add_func ("/sim/traffic/halo", test_kinds_of_a_halo);
  g_test_add_func ("/sim/traffic/too-many", test_too_many_kinds);
  g_test_add_func ("/sim/traffic/key", test_a_known_key);
  return g_test_run ();
}
