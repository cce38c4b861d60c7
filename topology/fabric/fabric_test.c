/* fabric_test.c - real fabrics by their known figures, and broken ones.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "topology/fabric/fabric.h"

#include "topology/machine.h"
#include "topology/topology_testing.h"

#include <glib/gstdio.h>
#include <string.h>

static TopoFabric *
fabric_of (const char *text, GError **error)
{
  g_autofree char *path = topo_testing_file (text);
  TopoFabric *fabric = topo_fabric_load (path, NULL, error);

  g_unlink (path);
  return fabric;
}

static void
assert_refused (const char *text, const char *part)
{
  g_autoptr (GError) error = NULL;

  g_test_message ("%s", text);
  g_assert_null (fabric_of (text, &error));
  topo_testing_refused (error, TOPO_ERROR_SYNTAX, NULL, part);
}

/* Everything points back at itself. */
static void
assert_consistent (const TopoFabric *fabric)
{
  uint32_t n_links = 0, n_rails = 0;

  for (uint32_t port = 0; port < fabric->n_ports; port++) {
    uint32_t peer = fabric->ports[port].peer;

    if (peer == TOPO_NONE)
      continue;
    g_assert_cmpuint (fabric->ports[peer].peer, ==, port);
    g_assert_cmpuint (fabric->ports[peer].lanes, ==, fabric->ports[port].lanes);
    g_assert_cmpuint (fabric->ports[peer].speed, ==, fabric->ports[port].speed);
    n_links++;
  }
  g_assert_cmpuint (n_links, ==, fabric->n_links);
  g_assert_cmpuint (fabric->n_switches + fabric->n_adapters, ==, fabric->n_devices);
  for (uint32_t node = 0; node < fabric->n_hosts; node++)
    for (uint32_t rail = 0; rail < fabric->hosts[node].n_rails; rail++, n_rails++)
      g_assert_cmpuint (fabric->devices[fabric->rails[fabric->hosts[node].first_rail + rail]].node,
                        ==, node);
}

static uint32_t
ends_of_speed (const TopoFabric *fabric, TopoSpeed speed)
{
  uint32_t n = 0;

  for (uint32_t port = 0; port < fabric->n_ports; port++)
    n += fabric->ports[port].peer != TOPO_NONE && fabric->ports[port].speed == speed;
  return n;
}

/* What `grep -c` counts in the dump. */
static void
test_x5 (void)
{
  g_autoptr (TopoFabric) fabric = topo_testing_fabric ("x5/X5.topofile");

  if (fabric == NULL)
    return;
  assert_consistent (fabric);
  g_assert_cmpuint (fabric->n_adapters, ==, 89);
  g_assert_cmpuint (fabric->n_hosts, ==, 89);
  g_assert_cmpuint (fabric->n_switches, ==, 11);
  g_assert_cmpuint (ends_of_speed (fabric, TOPO_SPEED_QDR), ==, 272);
  g_assert_cmpuint (ends_of_speed (fabric, TOPO_SPEED_DDR), ==, 46);
  g_assert_cmpuint (fabric->n_links, ==, 318);
  g_assert_cmpstr (fabric->devices[0].name, ==, "Voltaire 4036 - 36 QDR ports switch");
  g_assert_cmpuint (fabric->devices[0].lid, ==, 9);
}

/* Two descriptions of one fabric, the second converted by another program. */
static void
test_avakas (void)
{
  g_autoptr (TopoFabric) a = topo_testing_fabric ("avakas/ib-subnet-fe80_0000_0000_0000.txt");
  g_autoptr (TopoFabric) b = topo_testing_fabric ("avakas/avakas.net");

  if (a == NULL || b == NULL)
    return;
  assert_consistent (a);
  assert_consistent (b);
  g_assert_cmpuint (a->n_adapters, ==, 281);
  g_assert_cmpuint (a->n_switches, ==, 25);
  g_assert_cmpuint (a->n_adapters, ==, b->n_adapters);
  g_assert_cmpuint (a->n_switches, ==, b->n_switches);
  g_assert_cmpuint (a->n_links, ==, b->n_links);
}

/* The preset is cabled as the tree whose tables OpenSM computed. */
static void
test_tree_is_the_known_one (void)
{
  g_autoptr (TopoFabric) file = topo_testing_fabric ("ft324/ft_324.net");
  g_autoptr (TopoFabric) preset =
      topo_fabric_tree (18, 18, 9, (TopoRate){ 4, TOPO_SPEED_SDR }, NULL);

  if (file == NULL)
    return;
  g_assert_cmpuint (file->n_ports, ==, preset->n_ports);
  g_assert_cmpuint (file->n_hosts, ==, 324);
  for (uint32_t port = 0; port < file->n_ports; port++)
    g_assert_cmpuint (file->ports[port].peer, ==, preset->ports[port].peer);
  for (uint32_t device = 0; device < file->n_devices; device++) {
    g_assert_cmpstr (file->devices[device].name, ==, preset->devices[device].name);
    g_assert_cmpstr (file->devices[device].id, ==, preset->devices[device].id);
  }
}

static void
test_three_levels (void)
{
  g_autoptr (TopoFabric) fabric = topo_fabric_tree3 (8, (TopoRate){ 4, TOPO_SPEED_QDR }, NULL);

  assert_consistent (fabric);
  g_assert_cmpuint (fabric->n_hosts, ==, 128);
  g_assert_cmpuint (fabric->n_switches, ==, 80);
  g_assert_cmpuint (fabric->n_links, ==, 2 * 3 * 128);
  for (uint32_t port = 0; port < fabric->n_ports; port++)
    g_assert_cmpuint (fabric->ports[port].peer, !=, TOPO_NONE);
}

static void
test_impossible_trees (void)
{
  g_autoptr (GError) wide = NULL, empty = NULL, odd = NULL;

  g_assert_null (topo_fabric_tree (18, 200, 200, (TopoRate){ 4, TOPO_SPEED_QDR }, &wide));
  g_assert_error (wide, TOPO_ERROR, TOPO_ERROR_RANGE);
  g_assert_null (topo_fabric_tree (0, 18, 9, (TopoRate){ 4, TOPO_SPEED_QDR }, &empty));
  g_assert_error (empty, TOPO_ERROR, TOPO_ERROR_RANGE);
  g_assert_null (topo_fabric_tree3 (7, (TopoRate){ 4, TOPO_SPEED_QDR }, &odd));
  g_assert_error (odd, TOPO_ERROR, TOPO_ERROR_RANGE);
}

/* --- Dragonfly+ --- */

/* Cables between two groups of a Dragonfly+, whose spines are devices from first_spine on. */
static uint32_t
cables_between (const TopoFabric *fabric, uint32_t first_spine, uint32_t spines, uint32_t a,
                uint32_t b)
{
  uint32_t n = 0;

  for (uint32_t spine = 0; spine < spines; spine++) {
    const TopoDevice *device = &fabric->devices[first_spine + a * spines + spine];

    for (uint32_t number = 0; number < device->n_ports; number++) {
      uint32_t there = fabric->ports[fabric->ports[device->first_port + number].peer].device;

      n += there >= first_spine && (there - first_spine) / spines == b;
    }
  }
  return n;
}

/* Counted by hand: with G groups of L leaves and S spines, H nodes on a leaf and E cables from a
 * spine to others, there are GLH nodes, G (L + S) switches, GLH + GLS + GSE / 2 cables, as many
 * between any two groups, and no port is empty. */
static void
test_dragonfly (void)
{
  static const struct {
    TopoDragonfly shape;
    uint32_t nodes, switches, cables, between;
  } cases[] = {
    { { 8, 4, 4, 8, 0 }, 256, 64, 256 + 128 + 112, 4 },
    { { 2, 1, 1, 1, 0 }, 2, 4, 2 + 2 + 1, 1 },
    { { 3, 2, 2, 2, 1 }, 12, 12, 12 + 12 + 3, 1 },
    { { 3, 2, 2, 2, 4 }, 12, 12, 12 + 12 + 12, 4 },
    { { 5, 3, 2, 1, 2 }, 15, 25, 15 + 30 + 10, 1 },
    { { 4, 2, 6, 3, 2 }, 24, 32, 24 + 48 + 24, 4 },
    /* Switches of 40 ports: 18 leaves below a spine and 22 other groups. */
    { { 23, 18, 18, 10, 22 }, 4140, 828, 4140 + 7452 + 4554, 18 },
  };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    const TopoDragonfly *shape = &cases[at].shape;
    g_autoptr (TopoFabric) fabric =
        topo_fabric_dragonfly (shape, (TopoRate){ 2, TOPO_SPEED_HDR }, NULL);

    assert_consistent (fabric);
    g_assert_cmpuint (fabric->n_hosts, ==, cases[at].nodes);
    g_assert_cmpuint (fabric->n_switches, ==, cases[at].switches);
    g_assert_cmpuint (fabric->n_links, ==, 2 * cases[at].cables);
    for (uint32_t port = 0; port < fabric->n_ports; port++) {
      g_assert_cmpuint (fabric->ports[port].peer, !=, TOPO_NONE);
      g_assert_cmpuint (fabric->ports[port].lanes, ==, 2);
    }
    for (uint32_t a = 0; a < shape->groups; a++)
      for (uint32_t b = 0; b < shape->groups; b++)
        g_assert_cmpuint (
            cables_between (fabric, shape->groups * shape->leaves, shape->spines, a, b), ==,
            a == b ? 0 : cases[at].between);
  }
}

static void
test_impossible_dragonflies (void)
{
  static const struct {
    TopoDragonfly shape;
    const char *part;
  } cases[] = {
    { { 1, 4, 4, 8, 0 }, "two or more groups" },
    { { 0, 4, 4, 8, 0 }, "two or more groups" },
    { { 8, 0, 4, 8, 0 }, "two or more groups" },
    { { 8, 4, 4, 0, 0 }, "two or more groups" },
    { { 8, 4, 4, 8, 4 }, "16 to other groups, which is no multiple of the 7" },
    { { 8, 4, 4, 251, 0 }, "leaves of 255 and spines of 11 ports" },
    { { 252, 4, 4, 8, 0 }, "leaves of 12 and spines of 255 ports" },
    { { 250, 4, 4, 200, 0 }, "more than 65535" },
    { { 60000, 2, 2, 1, 0 }, "ports" },
  };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autoptr (GError) error = NULL;

    g_assert_null (
        topo_fabric_dragonfly (&cases[at].shape, (TopoRate){ 4, TOPO_SPEED_HDR }, &error));
    topo_testing_refused (error, TOPO_ERROR_RANGE, "dragonflyplus:", cases[at].part);
  }
}

/* --- Files of Slurm --- */

static void
test_slurm (void)
{
  static const char text[] = "# a tree\n"
                             "SwitchName=leaf1 Nodes=node[01-03],login\n"
                             "SwitchName=leaf2 Nodes=node[10,12] LinkSpeed=4\n"
                             "SwitchName=spine Switches=leaf[1-2]\n";
  g_autoptr (GError) error = NULL;
  g_autoptr (TopoFabric) fabric = fabric_of (text, &error);

  g_assert_no_error (error);
  assert_consistent (fabric);
  g_assert_cmpuint (fabric->n_hosts, ==, 6);
  g_assert_cmpuint (fabric->n_switches, ==, 3);
  g_assert_cmpuint (fabric->n_links, ==, 2 * 8);
  g_assert_cmpstr (fabric->hosts[2].name, ==, "node03");
  g_assert_cmpstr (fabric->hosts[4].name, ==, "node10");
  g_assert_cmpuint (fabric->warnings->len, ==, 1);
}

/* Comments that speak of switches, keys in any case, lines that go on, names
 * with several numbers. */
static void
test_slurm_as_people_write_it (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (TopoFabric) fabric = fabric_of ("# Switch layout, see Switch 1\n"
                                             "switchname=s1 \\\r\n"
                                             "  nodes=r[1-2]n[08-10],\\\n"
                                             "login\n"
                                             "SWITCHNAME=top Switches=s1\n",
                                             &error);

  g_assert_no_error (error);
  g_assert_cmpuint (fabric->n_switches, ==, 2);
  g_assert_cmpuint (fabric->n_hosts, ==, 7);
  g_assert_cmpstr (fabric->hosts[0].name, ==, "r1n08");
  g_assert_cmpstr (fabric->hosts[5].name, ==, "r2n10");
  g_assert_cmpstr (fabric->hosts[6].name, ==, "login");
  assert_refused ("SwitchName=s \\\n Nodes=a\nfoo\n", ":3: expected names");
}

static void
test_slurm_of_x5 (void)
{
  g_autoptr (TopoFabric) fabric = topo_testing_fabric ("x5/X5.topology.conf");

  if (fabric == NULL)
    return;
  assert_consistent (fabric);
  g_assert_cmpuint (fabric->n_switches, ==, 11);
  g_assert_cmpuint (fabric->n_hosts, ==, 89);
}

/* A fabric of a text, with options for its cables. */
static TopoFabric *
fabric_with (const char *text, const TopoCabling *cabling, GError **error)
{
  g_autofree char *path = topo_testing_file (text);
  TopoFabric *fabric = topo_fabric_load (path, cabling, error);

  g_unlink (path);
  return fabric;
}

#define BLOCKS                                             \
  "BlockName=b1 Nodes=n[1-4]\nblockname=b2 nodes=n[5-8]\n" \
  "BlockName=b3 Nodes=n9\nBlockSizes=4,8\n"

/* A switch for each block with its nodes, and so many between them as a block has cables. */
static void
test_slurm_blocks (void)
{
  static const struct {
    TopoCabling cabling;
    uint32_t switches, cables, warnings;
    TopoSpeed speed;
  } cases[] = {
    { { { 0, 0 }, 0, 0 }, 4, 9 + 3, 1, TOPO_SPEED_QDR },
    { { { 0, 0 }, 5, 0 }, 8, 9 + 15, 1, TOPO_SPEED_QDR },
    { { { 2, TOPO_SPEED_NDR }, 2, 0 }, 5, 9 + 6, 0, TOPO_SPEED_NDR },
  };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (TopoFabric) fabric = fabric_with (BLOCKS, &cases[at].cabling, &error);

    g_assert_no_error (error);
    assert_consistent (fabric);
    g_assert_cmpuint (fabric->n_hosts, ==, 9);
    g_assert_cmpuint (fabric->n_switches, ==, cases[at].switches);
    g_assert_cmpuint (fabric->n_links, ==, 2 * cases[at].cables);
    g_assert_cmpuint (ends_of_speed (fabric, cases[at].speed), ==, fabric->n_links);
    g_assert_cmpuint (fabric->warnings->len, ==, cases[at].warnings);
  }
  g_autoptr (TopoFabric) one = fabric_of ("BlockName=b1 Nodes=n[1-4]\n", NULL);

  g_assert_cmpuint (one->n_switches, ==, 1);
}

/* cables= counts between switches, not to nodes. */
static void
test_slurm_cables (void)
{
  static const char text[] = "SwitchName=leaf1 Nodes=n[1-3]\nSwitchName=leaf2 Nodes=n[4-5]\n"
                             "SwitchName=spine Switches=leaf[1-2]\n";
  g_autoptr (TopoFabric) fabric =
      fabric_with (text, &(TopoCabling){ .rate = { 2, TOPO_SPEED_HDR }, .cables = 3 }, NULL);

  assert_consistent (fabric);
  g_assert_cmpuint (fabric->n_links, ==, 2 * (5 + 6));
  g_assert_cmpuint (ends_of_speed (fabric, TOPO_SPEED_HDR), ==, fabric->n_links);
  g_assert_cmpuint (fabric->ports[0].lanes, ==, 2);
  g_assert_cmpuint (fabric->warnings->len, ==, 0);
}

#define TABLE                                                 \
  "# a site\n\n"                                              \
  "NODE a RACK 1 CELL east  SWITCH s1\n"                      \
  "NODE b RACK 2 CELL west SWITCH s3\r\n"                     \
  "CELL east SWITCH s2\tNODE c\nNODE d CELL east SWITCH s1\n" \
  "NODE e CELL north SWITCH s4\n"

/* Nodes stay in the order of the table and on the leaves that it names; cells may be of several
 * sizes. */
static void
test_table (void)
{
  static const char *const names[] = { "a", "b", "c", "d", "e" };
  static const char *const leaves[] = { "s1", "s3", "s2", "s1", "s4" };
  static const struct {
    TopoCabling cabling;
    uint32_t switches, cables, warnings;
  } cases[] = {
    /* Two spines in each cell, as cell east has two leaves; three pairs of cells. */
    { { { 0, 0 }, 0, 0 }, 4 + 6, 5 + 8 + 3 * 2, 1 },
    { { { 4, TOPO_SPEED_EDR }, 2, 3 }, 4 + 9, 5 + 12 + 3 * 6, 0 },
  };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (TopoFabric) fabric = fabric_with (TABLE, &cases[at].cabling, &error);

    g_assert_no_error (error);
    assert_consistent (fabric);
    g_assert_cmpuint (fabric->n_switches, ==, cases[at].switches);
    g_assert_cmpuint (fabric->n_links, ==, 2 * cases[at].cables);
    g_assert_cmpuint (fabric->warnings->len, ==, cases[at].warnings);
    g_assert_cmpuint (ends_of_speed (fabric, at == 0 ? TOPO_SPEED_HDR : TOPO_SPEED_EDR), ==,
                      fabric->n_links);
    g_assert_cmpuint (fabric->n_hosts, ==, G_N_ELEMENTS (names));
    for (uint32_t node = 0; node < fabric->n_hosts; node++) {
      const TopoDevice *adapter = &fabric->devices[fabric->rails[node]];
      uint32_t leaf = fabric->ports[fabric->ports[adapter->first_port].peer].device;

      g_assert_cmpstr (fabric->hosts[node].name, ==, names[node]);
      g_assert_cmpstr (fabric->devices[leaf].name, ==, leaves[node]);
    }
  }
}

/* What awk counts in the table: 22 cells of 18 leaves at most. */
static void
test_leonardo (void)
{
  g_autoptr (TopoFabric) fabric = topo_testing_fabric ("leonardo-hdr/leonardo.txt");

  if (fabric == NULL)
    return;
  assert_consistent (fabric);
  g_assert_cmpuint (fabric->n_hosts, ==, 4992);
  g_assert_cmpuint (fabric->n_switches, ==, 392 + 22 * 18);
  g_assert_cmpuint (fabric->n_links, ==, 2 * (4992 + 392 * 18 + 22 * 21 / 2 * 18));
  g_assert_cmpstr (fabric->hosts[182].name, ==, "0183");
}

/* Every dialect that is collected; devices counted with grep; jabl-3 has two
 * adapters in one node. */
static void
test_examples (void)
{
  static const struct {
    const char *name;
    uint32_t n_hosts, n_switches;
  } known[] = {
    { "examples/jabl-1.topo", 4, 2 },
    { "examples/jabl-2.topo", 2, 1 },
    { "examples/jabl-3.topo", 5, 2 },
    { "examples/jabl-4.topo", 1, 1 },
    { "examples/ibsim-net", 2, 2 },
    { "examples/ibsim-net.1", 2, 1 },
    { "examples/ibsim-net.2sw2path", 2, 2 },
    { "examples/ibsim-net.2sw2path4hca", 4, 2 },
    { "examples/ibsim-net.2sw2path4hca2port", 2, 2 },
    { "examples/treydock-ports-report.out", 3, 4 },
  };

  for (guint at = 0; at < G_N_ELEMENTS (known); at++) {
    g_autoptr (TopoFabric) fabric = topo_testing_fabric (known[at].name);

    if (fabric == NULL)
      return;
    g_test_message ("%s", known[at].name);
    assert_consistent (fabric);
    g_assert_cmpuint (fabric->n_hosts, ==, known[at].n_hosts);
    g_assert_cmpuint (fabric->n_switches, ==, known[at].n_switches);
  }
}

#define PAIR                                 \
  "Switch 2 \"S\" # \"leaf\"\n"              \
  "[1] \"A\"[1] # \"a HCA-1\" lid 2 4xQDR\n" \
  "[2] \"B\"[1] # \"b HCA-1\" lid 3 4xQDR\n" \
  "Ca 1 \"A\" # \"a HCA-1\"\n"               \
  "[1] \"S\"[1] # lid 2 lmc 0 \"leaf\" lid 1 4xQDR\n"

static void
test_broken (void)
{
  static const struct {
    const char *text, *part;
  } cases[] = {
    { "", "describes no fabric" },
    { "hello\nworld\n", "describes no fabric" },
    { PAIR, ":3: the cable leads to port 1 of \"B\", which is not described" },
    { PAIR "Ca 1 \"B\" # \"b HCA-1\"\n", ":3: the cable to port 1 of \"B\" is seen from "
                                         "this end only" },
    { PAIR "Ca 1 \"A\"\n", ":6: \"A\" has the name or GUID of \"A\" in line 4" },
    { PAIR "Ca 1 \"B\"\n[1] \"S\"[1] # lid 3 lmc 0 \"leaf\" lid 1 4xQDR\n", "leads to" },
    { PAIR "Ca 1 \"B\"\n[2] \"S\"[2]\n", ":7: port 2 of \"B\", which has 1" },
    { PAIR "Ca 1 \"B\"\n[1] \"S\"[2]\n[1] \"S\"[2]\n", "is in line 7 already" },
    { PAIR "Ca 1 \"B\"\n[1] \"S\"[2] # lid 3 lmc 0 \"leaf\" lid 1 4xXDR\n", "width and speed" },
    { PAIR "Ca 1 \"B\"\n[1] \"S\"[2] # lid 3 lmc 9 \"leaf\" lid 1 4xQDR\n", "lmc" },
    { "[1] \"S\"[2]\n", "a device before its ports" },
    { "Switch 300 \"S\"\n", "300 ports" },
    { "Switch 0 \"S\"\n", "0 ports" },
    { "Switch 2 \"S\"\n", "no node" },
    { "Switch 2\n", "PORTS \"ID\"" },
    { "Switch 2 \"S\n", "PORTS \"ID\"" },
    { PAIR "[x] \"S\"[2]\n", "[PORT] \"ID\"[PORT]" },
    { "Rt 2 \"R\"\n", "routers" },
    { "Switch 2 \"S\"\ninclude other\n", "ibsim" },
    /* A GUID belongs to one device, whatever its name is. */
    { "switchguid=0x10\nSwitch 2 \"S\"\nswitchguid=0x10\nSwitch 2 \"T\"\n",
      ":4: \"T\" has the name or GUID of \"S\" in line 2" },
    /* Reports. */
    { "CA 1 1 0x10\n", "expected KIND LID PORT GUID" },
    { "CA 1 1 0x10 4x QDR - SW 2 1 ( 'a HCA-1' - 'b' )\n", "expected KIND" },
    /* 2^32 + 1 is no LID. */
    { "CA 4294967297 1 0x10 4x QDR - SW 2 1 0x20 ( 'a HCA-1' - 'b' )\n", "expected KIND" },
    { "CA 1 1 0x10 4x ZDR - SW 2 1 0x20 ( 'a HCA-1' - 'b' )\n", "expected KIND" },
    { "CA 1 1 0x10 4x QDR - SW 2 1 0x20 ( 'a HCA-1' - 'b' )\n"
      "CA 3 1 0x30 4x QDR - SW 2 1 0x20 ( 'c HCA-1' - 'b' )\n",
      "already" },
    /* Slurm. */
    { "SwitchName=a Nodes=n[3-1]\n", ":1: expected names" },
    { "SwitchName=a Nodes=n[1-\n", "expected names" },
    { "SwitchName=a Nodes=n[1-999999999]\n", "expected names" },
    { "SwitchName=a Nodes=n[7,99999999999999999999999]\n", "expected names" },
    { "SwitchName=a Nodes=n[000000000000000000000000000000000000001-2]\n", "expected names" },
    { "Nodes=n1 SwitchName=a\n", "expected names" },
    { "SwitchName=a Switches=b\nSwitchName=c Nodes=b\n", ":2: expected names" },
    { "BlockName=a Nodes=b\nSwitchName=c Nodes=d\n", "both SwitchName and BlockName" },
    { "BlockName=a Nodes=n[3-1]\n", ":1: expected names" },
    /* Tables. */
    { TABLE "NODE f CELL\n", ":8: expected NODE name CELL name SWITCH name" },
    { TABLE "NODE f CELL east\n", ":8: expected NODE name CELL name SWITCH name" },
    { TABLE "NODE c CELL west SWITCH s3\n", ":8: node c is there twice" },
    { TABLE "NODE f CELL west SWITCH s1\n", ":8: switch s1 was in another cell" },
  };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++)
    assert_refused (cases[at].text, cases[at].part);
}

/* Options that do not apply to a file. */
static void
test_needless_cabling (void)
{
  static const struct {
    const char *text, *part;
    TopoCabling cabling;
  } cases[] = {
    { PAIR, "speed= does not apply: the file has its cables", { { 4, TOPO_SPEED_HDR }, 0, 0 } },
    { PAIR, "cables= does not apply", { { 0, 0 }, 2, 0 } },
    { "SwitchName=a Nodes=b\n",
      "spines= does not apply: the file has its switches",
      { { 0, 0 }, 0, 2 } },
  };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autoptr (GError) error = NULL;

    g_assert_null (fabric_with (cases[at].text, &cases[at].cabling, &error));
    topo_testing_refused (error, TOPO_ERROR_SYNTAX, NULL, cases[at].part);
  }
  g_autoptr (GError) wide = NULL;

  g_assert_null (fabric_with (TABLE, &(TopoCabling){ .cables = 200 }, &wide));
  topo_testing_refused (wide, TOPO_ERROR_RANGE, NULL, "3 cells with 2 spines");
}

/* Rails of a node; adapters named after their vendor are nodes of their own. */
static void
test_rails (void)
{
  static const char text[] =
      "Switch 4 \"S\"\n"
      "[1] \"A\"[1]\n[2] \"B\"[1]\n[3] \"C\"[1]\n[4] \"D\"[1]\n"
      "Ca 1 \"A\" # \"big HCA-1\"\n[1] \"S\"[1]\n"
      "Ca 1 \"B\" # \"MT25408 ConnectX Mellanox Technologies\"\n[1] \"S\"[2]\n"
      "Ca 1 \"C\" # \"MT25408 ConnectX Mellanox Technologies\"\n[1] \"S\"[3]\n"
      "Ca 1 \"D\" # \"big mlx5_1\"\n[1] \"S\"[4]\n";
  g_autoptr (GError) error = NULL;
  g_autoptr (TopoFabric) fabric = fabric_of (text, &error);

  g_assert_no_error (error);
  assert_consistent (fabric);
  g_assert_cmpuint (fabric->n_hosts, ==, 3);
  g_assert_cmpstr (fabric->hosts[0].name, ==, "big");
  g_assert_cmpuint (fabric->hosts[0].n_rails, ==, 2);
  g_assert_cmpstr (fabric->hosts[1].name, ==, "B");
  g_assert_cmpuint (fabric->warnings->len, ==, 1);
}

static void
test_rates (void)
{
  g_assert_cmpuint (topo_link_bandwidth_Bps (4, TOPO_SPEED_SDR), ==, 1000000000);
  g_assert_cmpuint (topo_link_bandwidth_Bps (4, TOPO_SPEED_QDR), ==, 4000000000);
  g_assert_cmpuint (topo_link_bandwidth_Bps (4, TOPO_SPEED_FDR) / 1000000, ==, 6818);
  g_assert_cmpuint (topo_link_bandwidth_Bps (12, TOPO_SPEED_EDR), ==, 37500000000);
  g_assert_cmpuint (topo_link_bandwidth_Bps (4, TOPO_SPEED_NDR), ==, 50000000000);
}

/* The names say Gb/s of data; what has no number has four lanes. */
static void
test_names_of_rates (void)
{
  static const struct {
    const char *name;
    uint64_t bandwidth_Gbps;
  } named[] = { { "SDR", 8 },   { "QDR", 32 },     { "EDR", 100 }, { "HDR100", 100 },
                { "HDR", 200 }, { "NDR200", 200 }, { "NDR", 400 } };
  TopoRate rate;

  for (gsize at = 0; at < G_N_ELEMENTS (named); at++) {
    g_autofree char *lower = g_ascii_strdown (named[at].name, -1);

    g_assert_true (topo_rate_parse (lower, &rate));
    g_assert_cmpuint (8 * topo_link_bandwidth_Bps (rate.lanes, rate.speed), ==,
                      named[at].bandwidth_Gbps * 1000000000);
    g_assert_cmpstr (topo_rate_name (rate), ==, named[at].name);
  }
  g_assert_false (topo_rate_parse ("HDR200", &rate));
  g_assert_false (topo_rate_parse ("", &rate));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/topology/fabric/x5", test_x5);
  g_test_add_func ("/topology/fabric/avakas", test_avakas);
  g_test_add_func ("/topology/fabric/tree", test_tree_is_the_known_one);
  g_test_add_func ("/topology/fabric/three-levels", test_three_levels);
  g_test_add_func ("/topology/fabric/impossible-trees", test_impossible_trees);
  g_test_add_func ("/topology/fabric/dragonfly", test_dragonfly);
  g_test_add_func ("/topology/fabric/impossible-dragonflies", test_impossible_dragonflies);
  g_test_add_func ("/topology/fabric/slurm", test_slurm);
  g_test_add_func ("/topology/fabric/slurm-people", test_slurm_as_people_write_it);
  g_test_add_func ("/topology/fabric/slurm-x5", test_slurm_of_x5);
  g_test_add_func ("/topology/fabric/slurm-blocks", test_slurm_blocks);
  g_test_add_func ("/topology/fabric/slurm-cables", test_slurm_cables);
  g_test_add_func ("/topology/fabric/table", test_table);
  g_test_add_func ("/topology/fabric/leonardo", test_leonardo);
  g_test_add_func ("/topology/fabric/examples", test_examples);
  g_test_add_func ("/topology/fabric/broken", test_broken);
  g_test_add_func ("/topology/fabric/needless-cabling", test_needless_cabling);
  g_test_add_func ("/topology/fabric/rails", test_rails);
  g_test_add_func ("/topology/fabric/rates", test_rates);
  g_test_add_func ("/topology/fabric/names-of-rates", test_names_of_rates);
  return g_test_run ();
}
