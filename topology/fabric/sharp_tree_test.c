/* sharp_tree_test.c - aggregation trees of switches, by hand, and fabrics that have none.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "topology/fabric/sharp_tree.h"
#include "topology/topology_testing.h"

#include <glib/gstdio.h>
#include <string.h>

#define NODES 16

/* --- Trees --- */

typedef struct {
  const char *spec;
  uint32_t n_nodes, nodes[NODES];
  uint32_t n_levels, n_children, most_children; /* 0 levels: no tree */
  uint64_t payload_bytes;
} Case;

static const Case cases[] = {
  /* One switch with four nodes is the root itself. */
  { "fattree:1x4:1,speed=EDR", 4, { 0, 1, 2, 3 }, 1, 4, 4, 256 },
  { "fattree:4x4:2,speed=EDR", 3, { 5, 6, 7 }, 1, 3, 3, 256 },
  /* Two leaves and a spine. */
  { "fattree:2x2:1,speed=EDR", 4, { 0, 1, 2, 3 }, 2, 2 + 2, 2, 256 },
  { "fattree:2x2:1,speed=HDR", 4, { 3, 2, 1, 0 }, 2, 2 + 2, 2, 1024 },
  { "fattree:2x2:1,speed=NDR", 2, { 0, 3 }, 2, 1 + 2, 2, 1024 },
  /* The fullest leaf counts: three nodes, one and one below a spine with three leaves. */
  { "fattree:4x4:2,speed=EDR", 5, { 0, 1, 2, 4, 12 }, 2, 3 + 3, 3, 256 },
  /* Switches of four ports: leaves with two nodes, pods of two leaves and two spines. */
  { "fattree3:4,speed=EDR", 2, { 0, 1 }, 1, 2, 2, 256 },
  { "fattree3:4,speed=EDR", 4, { 0, 1, 2, 3 }, 2, 2 + 2, 2, 256 },
  { "fattree3:4,speed=EDR", 4, { 0, 4, 8, 12 }, 3, 1 + 1 + 4, 4, 256 },
  { "fattree3:4,speed=EDR",
    16,
    { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 },
    3,
    2 + 2 + 4,
    4,
    256 },
  /* Another spine, or none. */
  { "fattree:2x2:2,speed=EDR,failed=spine0", 4, { 0, 1, 2, 3 }, 2, 2 + 2, 2, 256 },
  { "fattree:2x2:2,speed=EDR,failed=leaf0:3", 4, { 0, 1, 2, 3 }, 2, 2 + 2, 2, 256 },
  { "fattree:2x2:2,speed=EDR,failed=leaf0:3+leaf1:4", 4, { 0, 1, 2, 3 }, 0, 0, 0, 0 },
};

static void
test_trees (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const Case *it = &cases[i];
    g_autoptr (TopoMachine) machine = topo_testing_machine (it->spec, 1);
    TopoSharpTree tree;
    bool found = topo_sharp_tree (machine, it->nodes, it->n_nodes, &tree);
    TopoSpeed speed = (TopoSpeed) machine->fabric->ports[0].speed;

    g_test_message ("%s, %u nodes", it->spec, it->n_nodes);
    g_assert_cmpint (found, ==, it->n_levels > 0);
    if (!found)
      continue;
    g_assert_cmpuint (tree.n_levels, ==, it->n_levels);
    g_assert_cmpuint (tree.n_children, ==, it->n_children);
    g_assert_cmpuint (tree.most_children, ==, it->most_children);
    g_assert_cmpuint (tree.payload_bytes, ==, it->payload_bytes);
    g_assert_cmpuint (tree.bandwidth_Bps, ==, topo_link_bandwidth_Bps (4, speed));
    g_assert_cmpint (tree.cables_ps, ==, it->n_levels * topo_machine_cable_latency_ps (machine, 0));
  }
}

/* The slowest cable: that of one node with a single lane. */
static void
test_a_slow_cable (void)
{
  g_autoptr (TopoMachine) machine =
      topo_testing_machine ("fattree:2x2:1,speed=EDR,degraded=leaf1:1 1x", 1);
  static const uint32_t nodes[] = { 0, 1, 2, 3 }, others[] = { 0, 1, 3 };
  TopoSharpTree tree;

  g_assert_true (topo_sharp_tree (machine, nodes, 4, &tree));
  g_assert_cmpuint (tree.bandwidth_Bps, ==, topo_link_bandwidth_Bps (1, TOPO_SPEED_EDR));
  g_assert_true (topo_sharp_tree (machine, others, 3, &tree));
  g_assert_cmpuint (tree.bandwidth_Bps, ==, topo_link_bandwidth_Bps (4, TOPO_SPEED_EDR));
}

/* --- Fabrics without SHARP --- */

static void
refused (const char *spec, const char *payload, const char *named)
{
  g_autoptr (TopoMachine) machine = topo_testing_machine (spec, 1);
  g_autoptr (GError) error = NULL;

  g_test_message ("%s", spec);
  g_assert_true (topo_sharp_check (machine, &error)); /* while it is off */
  g_assert_true (topo_parameters_set (&machine->parameters, "mpi.library", "ompi-4.1", &error));
  g_assert_true (topo_parameters_set (&machine->parameters, "mpi.sharp", "on", &error));
  g_assert_true (topo_parameters_set (&machine->parameters, "sharp.payload", payload, &error));
  g_assert_no_error (error);
  if (named == NULL) {
    g_assert_true (topo_sharp_check (machine, &error));
    g_assert_no_error (error);
    return;
  }
  g_assert_false (topo_sharp_check (machine, &error));
  topo_testing_refused (error, TOPO_ERROR_RANGE, NULL, named);
}

static void
test_refusals (void)
{
  refused ("edr:16", "0 B", NULL);
  refused ("fattree3:4,speed=HDR", "0 B", NULL);
  refused ("ndr200:16", "2 KiB", NULL);
  refused ("qdr:16", "0 B", "older than Switch-IB 2");
  refused ("fdr:16", "0 B", "older than Switch-IB 2");
  refused ("stampede:16", "0 B", "older than Switch-IB 2");
  refused ("dragonflyplus:3x2x2:2", "0 B", "are no tree");
  refused ("edr:16", "512 B", "at most 256 B");
  refused ("hdr:16", "4 KiB", "at most 2048 B");
}

/* Switches of a ring: every cable joins two switches with nodes. */
static const char ring[] = "Switch 4 \"S-01\" # \"a\" lid 1\n"
                           "[1] \"H-10\"[1] # \"n0 HCA-1\" 4xEDR\n"
                           "[2] \"S-02\"[3] # \"b\" lid 2 4xEDR\n"
                           "\n"
                           "Switch 4 \"S-02\" # \"b\" lid 2\n"
                           "[1] \"H-20\"[1] # \"n1 HCA-1\" 4xEDR\n"
                           "[3] \"S-01\"[2] # \"a\" lid 1 4xEDR\n"
                           "\n"
                           "Ca 1 \"H-10\" # \"n0 HCA-1\"\n"
                           "[1](11) \"S-01\"[1] # lid 3 \"a\" 4xEDR\n"
                           "\n"
                           "Ca 1 \"H-20\" # \"n1 HCA-1\"\n"
                           "[1](21) \"S-02\"[1] # lid 4 \"b\" 4xEDR\n";

/* A switch that its id gives away: Switch-IB has cables of EDR too. */
static const char one_switch[] = "devid=0x%x\n"
                                 "switchguid=0x1(1)\n"
                                 "Switch 4 \"S-0000000000000001\" # \"leaf\" lid 1\n"
                                 "[1] \"H-0000000000000010\"[1] # \"n0 HCA-1\" 4xEDR\n"
                                 "\n"
                                 "Ca 1 \"H-0000000000000010\" # \"n0 HCA-1\"\n"
                                 "[1](11) \"S-0000000000000001\"[1] # lid 2 \"leaf\" 4xEDR\n";

static void
refused_file (const char *text, const char *named)
{
  g_autofree char *path = topo_testing_file (text);
  g_autofree char *spec = g_strconcat ("fabric:", path, NULL);

  refused (spec, "0 B", named);
  g_unlink (path);
}

static void
test_refusals_of_files (void)
{
  g_autofree char *old = g_strdup_printf (one_switch, 52000);
  g_autofree char *young = g_strdup_printf (one_switch, 53000);

  refused_file (ring, "the cable between a and b joins two of one level");
  refused_file (old, "switch leaf");
  refused_file (old, "(Switch-IB)");
  refused_file (young, NULL);
}

/* In a machine file the error names the line. */
static void
test_machine_files (void)
{
  static const struct {
    const char *text, *named;
  } files[] = {
    { "[machine]\nspec = edr:16\n[mpi]\nsharp = on\n", NULL },
    { "[machine]\nspec = edr:16\n[mpi]\nsharp = yes\n", "expected one of off, on" },
    { "[machine]\nspec = fdr:16\n[mpi]\nsharp = on\n", ":4: mpi.sharp: switch leaf0" },
    { "[machine]\nspec = torus:4x4\n[mpi]\nsharp = on\n", "unknown key \"sharp\"" },
    { "[machine]\nspec = edr:16,library=ompi-1.3\n[mpi]\nsharp = on\n",
      "needs a library over UCX" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (files); i++) {
    g_autofree char *path = topo_testing_file (files[i].text);
    g_autoptr (GError) error = NULL;
    g_autoptr (TopoMachine) machine = topo_machine_new (path, &error);

    if (files[i].named == NULL) {
      g_autofree char *shown = topo_machine_print (machine);

      g_assert_no_error (error);
      g_assert_nonnull (strstr (shown, "\nsharp = on\n"));
      g_assert_nonnull (strstr (shown, "\nmin_leaders = 4\n"));
    } else
      topo_testing_refused (error, -1, path, files[i].named);
    g_unlink (path);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/topology/sharp/trees", test_trees);
  g_test_add_func ("/topology/sharp/a-slow-cable", test_a_slow_cable);
  g_test_add_func ("/topology/sharp/refusals", test_refusals);
  g_test_add_func ("/topology/sharp/refusals-of-files", test_refusals_of_files);
  g_test_add_func ("/topology/sharp/machine-files", test_machine_files);
  return g_test_run ();
}
