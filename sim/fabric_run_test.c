/* fabric_run_test.c - whole runs on switched fabrics.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/run.h"

#include ".ci/test_data.h"

#include <glib/gstdio.h>
#include <string.h>

/* The fabric X5 with the tables that OpenSM computed for it. */
static char *
x5_spec (void)
{
  g_autofree char *x5 = test_data ("fabrics/x5");

  return x5 == NULL
             ? NULL
             : g_strdup_printf ("fabric:%s/X5.topofile,routes=%s/opensm-minhop-lfts.dump", x5, x5);
}

static SimRun *
run (const char *trace_path, const char *spec, uint32_t ranks_per_node, SimNetworkKind network,
     RoutePolicy policy, GError **error)
{
  const SimRunOptions options = {
    .trace_path = trace_path, .network = network, .policy = policy, .compute_scale = 1
  };
  g_autoptr (Trace) trace = trace_open (trace_path, NULL, NULL);
  g_autoptr (TopoMachine) machine = topo_machine_new (spec, error);
  g_autoptr (TopoMapping) mapping = NULL;

  g_assert_nonnull (trace);
  g_assert_nonnull (machine);
  machine->ranks_per_node = ranks_per_node;
  mapping = topo_mapping_new (NULL, machine, trace_ranks (trace), error);
  g_assert_nonnull (mapping);
  return sim_run (trace, machine, mapping, &options, error);
}

static SimRun *
run_well (const char *trace_path, const char *spec, uint32_t ranks_per_node, SimNetworkKind network)
{
  g_autoptr (GError) error = NULL;
  SimRun *result =
      run (trace_path, spec, ranks_per_node, network, ROUTE_POLICY_DETERMINISTIC, &error);

  g_assert_no_error (error);
  return result;
}

static void
assert_links_add_up (const SimRun *result)
{
  double sum_bytes = 0;

  for (uint32_t link = 0; link < result->counters->n_places; link++)
    sum_bytes += (double) result->counters->link[link].payload_bytes;
  g_assert_cmpfloat (sum_bytes, >, 0);
  g_assert_cmpfloat (sum_bytes, ==, result->features[SIM_FEATURE_HOP_BYTES]);
}

/* Each link has as many bytes, each send queue as many messages. */
static void
assert_same_counters (const SimRun *result, const SimRun *load)
{
  const SimCounters *counters = result->counters, *expected = load->counters;

  for (uint32_t link = 0; link < expected->n_places; link++)
    g_assert_cmpuint (counters->link[link].payload_bytes, ==, expected->link[link].payload_bytes);
  for (uint32_t fifo = 0; fifo < expected->n_fifo_places; fifo++)
    g_assert_cmpuint (counters->fifo_messages[fifo], ==, expected->fifo_messages[fifo]);
}

/* Whatever the network: the bytes of all links are hops times bytes. */
static void
test_networks_agree (gconstpointer data)
{
  g_autofree char *path = test_data (data);
  g_autofree char *spec = path == NULL ? NULL : x5_spec ();
  g_autoptr (SimRun) load = NULL, packet = NULL;

  if (spec == NULL)
    return;
  load = run_well (path, spec, 2, SIM_NETWORK_LOAD);
  packet = run_well (path, spec, 2, SIM_NETWORK_PACKET);
  assert_links_add_up (load);
  assert_links_add_up (packet);
  g_assert_cmpuint (packet->result.messages, ==, load->result.messages);
  g_assert_cmpuint (packet->result.message_bytes, ==, load->result.message_bytes);
  assert_same_counters (packet, load);
  for (SimFeature feature = SIM_FEATURE_MAX_DILATION; feature <= SIM_FEATURE_AVG_BYTES_TO;
       feature++)
    g_assert_cmpfloat (packet->features[feature], ==, load->features[feature]);
}

/* SimGrid has one engine per process. */
static void
test_flow_agrees (gconstpointer data)
{
  g_autofree char *path = test_data (data);
  g_autofree char *spec = path == NULL ? NULL : x5_spec ();
  g_autoptr (SimRun) load = NULL, flow = NULL;

  if (spec == NULL)
    return;
#ifndef HAVE_SIMGRID
  g_test_skip ("built without SimGrid");
  return;
#endif
  if (!g_test_subprocess ()) {
    g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_INHERIT_STDERR);
    g_test_trap_assert_passed ();
    return;
  }
  load = run_well (path, spec, 2, SIM_NETWORK_LOAD);
  flow = run_well (path, spec, 2, SIM_NETWORK_FLOW);
  assert_links_add_up (flow);
  g_assert_cmpint (flow->result.time_ps, >, 0);
  assert_same_counters (flow, load);
}

/* -- without recorded traces --------------------------------------------- */

static char *
write_file (const char *text)
{
  char *path = NULL;
  int file = g_file_open_tmp ("fabric-run-XXXXXX", &path, NULL);

  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  g_close (file, NULL);
  return path;
}

static void
remove_file (char *path)
{
  g_unlink (path);
  g_free (path);
}

static const char two_ranks[] = "0 init\n1 init\n0 send 1 0 5000 6\n1 recv 0 0 5000 6\n"
                                "0 finalize\n1 finalize\n";

/* Of every size at which Open MPI cuts otherwise, with and without buffers
 * that stay registered. */
static void
test_messages_of_every_size (void)
{
  static const uint64_t sizes[] = { 0,       1,       12215,   12216,   12217,   12288,
                                    77720,   77721,   1048576, 1048577, 1060864, 1060865,
                                    1073080, 1073081, 2109440, 3157953, 3157954, 9000000 };
  static const char *const specs[] = { "fattree:2x1:1", "stampede:2" };
  g_autoptr (GString) text = g_string_new ("0 init\n1 init\n");
  char *trace;

  for (gsize at = 0; at < G_N_ELEMENTS (sizes); at++)
    g_string_append_printf (
        text, "0 send 1 0 %" G_GUINT64_FORMAT " 6\n1 recv 0 0 %" G_GUINT64_FORMAT " 6\n", sizes[at],
        sizes[at]);
  g_string_append (text, "0 finalize\n1 finalize\n");
  trace = write_file (text->str);
  for (gsize at = 0; at < G_N_ELEMENTS (specs); at++) {
    g_autoptr (SimRun) load = run_well (trace, specs[at], 1, SIM_NETWORK_LOAD);
    g_autoptr (SimRun) packet = run_well (trace, specs[at], 1, SIM_NETWORK_PACKET);

    assert_same_counters (packet, load);
    g_assert_cmpuint (load->counters->fifo_messages[0], >=, G_N_ELEMENTS (sizes));
  }
  remove_file (trace);
}

static char *
key_of (const char *trace_path, const char *spec)
{
  g_autoptr (SimRun) result = run_well (trace_path, spec, 1, SIM_NETWORK_LOAD);

  return g_strdup (result->key);
}

#define NODE_A "Ca 1 \"A\" # \"a HCA-1\"\n[1] \"S\"[1] # 4xQDR\n\n"
#define NODE_B "Ca 1 \"B\" # \"b HCA-1\"\n[1] \"S\"[2] # 4xQDR\n\n"
#define SWITCH "Switch 4 \"S\" # \"s\"\n[1] \"A\"[1] # 4xQDR\n[2] \"B\"[1] # 4xQDR\n\n"
#define SLOW   "Switch 4 \"S\" # \"s\"\n[1] \"A\"[1] # 4xQDR\n[2] \"B\"[1] # 4xDDR\n\n"

/* The contents of the files count, not their names. */
static void
test_key (void)
{
  char *trace = write_file (two_ranks);
  char *fabric = write_file (SWITCH NODE_A NODE_B), *copy = write_file (SWITCH NODE_A NODE_B);
  char *slow = write_file (SLOW NODE_A "Ca 1 \"B\" # \"b HCA-1\"\n[1] \"S\"[2] # 4xDDR\n\n");
  g_autofree char *fabric_spec = g_strconcat ("fabric:", fabric, NULL);
  g_autofree char *copy_spec = g_strconcat ("fabric:", copy, NULL);
  g_autofree char *slow_spec = g_strconcat ("fabric:", slow, NULL);
  g_autofree char *one = key_of (trace, fabric_spec);
  g_autofree char *same = key_of (trace, copy_spec);
  g_autofree char *other = key_of (trace, slow_spec);
  g_autofree char *tree = key_of (trace, "fattree:18x18:9,routes=ftree");
  g_autofree char *minhop = key_of (trace, "fattree:18x18:9,routes=minhop");
  g_autofree char *dor = key_of (trace, "fattree:18x18:9,routes=dor");

  g_autofree char *node = key_of (trace, "fattree:18x18:9,routes=dor,node=sandybridge");

  g_assert_cmpstr (one, ==, same);
  g_assert_cmpstr (one, !=, other);
  g_assert_cmpstr (dor, !=, node);
  g_assert_cmpstr (tree, !=, minhop);
  g_assert_cmpstr (tree, !=, dor);
  g_assert_cmpstr (minhop, !=, dor);
  remove_file (trace);
  remove_file (fabric);
  remove_file (copy);
  remove_file (slow);
}

static void
assert_run_refused (const char *trace, const char *spec, SimNetworkKind network, RoutePolicy policy,
                    const char *part)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SimRun) result = run (trace, spec, 1, network, policy, &error);

  g_assert_null (result);
  if (strstr (error->message, part) == NULL)
    g_error ("\"%s\" does not say \"%s\"", error->message, part);
}

/* Nodes that no cable connects hold ranks: known before anything is sent. */
static void
test_unreachable (void)
{
  char *trace = write_file (two_ranks);
  char *fabric = write_file ("Switch 2 \"S\" # \"s\"\n[1] \"A\"[1]\n\n"
                             "Switch 2 \"T\" # \"t\"\n[1] \"B\"[1]\n\n"
                             "Ca 1 \"A\" # \"a HCA-1\"\n[1] \"S\"[1]\n\n"
                             "Ca 1 \"B\" # \"b HCA-1\"\n[1] \"T\"[1]\n\n");
  g_autofree char *spec = g_strconcat ("fabric:", fabric, NULL);

  assert_run_refused (trace, spec, SIM_NETWORK_LOAD, ROUTE_POLICY_DEFAULT, "no way from a to b");
  assert_run_refused (trace, spec, SIM_NETWORK_PACKET, ROUTE_POLICY_DEFAULT, "no way from a to b");
  remove_file (trace);
  remove_file (fabric);
}

static void
test_refusals (void)
{
  char *trace = write_file (two_ranks);

  assert_run_refused (trace, "fattree:2x2:1", SIM_NETWORK_PACKET, ROUTE_POLICY_ZONE2,
                      "routing zones");
  remove_file (trace);
}

int
main (int argc, char **argv)
{
  static const char *const traces[][2] = {
    { "lulesh-27", "traces/dumpi/gen-lulesh-27/dumpi-2026.11.20.12.00.06.meta" },
    { "amg-27", "traces/dumpi/amg-27-hopper/dumpi-2014.03.03.14.55.00.meta" },
    { "is-16", "traces/ti/gen-nas-is-S-16/nas-is-S-16.txt" },
  };

  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sim/fabric-run/messages-of-every-size", test_messages_of_every_size);
  g_test_add_func ("/sim/fabric-run/key", test_key);
  g_test_add_func ("/sim/fabric-run/unreachable", test_unreachable);
  g_test_add_func ("/sim/fabric-run/refusals", test_refusals);
  for (guint at = 0; at < G_N_ELEMENTS (traces); at++) {
    g_autofree char *packet = g_strconcat ("/sim/fabric-run/packet/", traces[at][0], NULL);
    g_autofree char *flow = g_strconcat ("/sim/fabric-run/flow/", traces[at][0], NULL);

    g_test_add_data_func (packet, traces[at][1], test_networks_agree);
    g_test_add_data_func (flow, traces[at][1], test_flow_agrees);
  }
  return g_test_run ();
}
