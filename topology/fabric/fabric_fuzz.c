/* fabric_fuzz.c - any bytes as the description of a fabric.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The kinds of files are told apart by their content, so one target
 * reaches all of their readers. */
#include ".ci/fuzzing.h"
#include "topology/fabric/fabric.h"
#include "topology/machine.h"

#include <string.h>

static const char *const texts[] = {
  "vendid=0x8f1\nswitchguid=0x10(0x10)\n"
  "Switch 2 \"S-10\" # \"leaf 1\" enhanced port 0 lid 9 lmc 0\n"
  "[1] \"H-20\"[1](21) # \"a HCA-1\" lid 2 4xQDR\n[2] \"H-30\"[1](31) # \"b HCA-1\" lid 3 4xDDR\n\n"
  "caguid=0x20\nCa 1 \"H-20\" # \"a HCA-1\"\n"
  "[1](21) \"S-10\"[1] # lid 2 lmc 1 \"leaf 1\" lid 9 4xQDR\n"
  "Ca 1 \"H-30\" # \"b HCA-1\"\n[1](31) \"S-10\"[2] # lid 3 lmc 0 \"leaf 1\" lid 9 4xDDR\n",
  "CA 1 1 0x10 4x QDR - SW 2 1 0x20 ( 'a HCA-1' - 'leaf' )\n"
  "SW 2 1 0x20 4x QDR - CA 1 1 0x10 ( 'leaf' - 'a HCA-1' )\n"
  "SW 2 2 0x20 4x SDR 'leaf'\n",
  "# a tree\nSwitchName=leaf1 Nodes=node[01-03,7],login LinkSpeed=4\n"
  "SwitchName=spine Switches=leaf[1-2]\nSwitchName=leaf2 Nodes=x\n",
  "BlockName=b1 Nodes=node[01-03]\nBlockName=b2 Nodes=x\nBlockSizes=4,8\n",
  "NODE 1 RACK 1 CELL 1 SWITCH 100\nNODE 2 RACK 1 CELL 1 SWITCH 101\nNODE 3 CELL 2 SWITCH 200\n",
  NULL,
};

static const char *const words[] = {
  "Switch ", "Ca ",         "switchguid=0x", "caguid=0x", "# lid ", " lmc ",     "4xQDR", "12x EDR",
  "[1](",    "SwitchName=", "Nodes=",        "Switches=", "[1-3]",  "CA 1 1 0x", "SW ",   "???",
  "( '",     "' - '",       "BlockName=",    "NODE ",     " CELL ", " SWITCH ",  NULL,
};

static void
seed (FuzzSeeds *seeds)
{
  fuzz_add_texts (seeds, texts);
  fuzz_add_words (seeds, words);
}

/* What every reader of a fabric may rely on. */
static void
check_ports (const TopoFabric *fabric)
{
  uint32_t n_links = 0;

  for (uint32_t port = 0; port < fabric->n_ports; port++) {
    const TopoPort *it = &fabric->ports[port];

    g_assert_cmpuint (it->device, <, fabric->n_devices);
    g_assert_cmpuint (it->speed, <, TOPO_SPEEDS);
    g_assert_cmpuint (it->lmc, <=, 7);
    if (it->peer == TOPO_NONE)
      continue;
    g_assert_cmpuint (it->peer, <, fabric->n_ports);
    g_assert_cmpuint (fabric->ports[it->peer].peer, ==, port);
    g_assert_cmpuint (topo_link_bandwidth_Bps (it->lanes, (TopoSpeed) it->speed), >, 0);
    n_links++;
  }
  g_assert_cmpuint (n_links, ==, fabric->n_links);
}

static void
check_devices (const TopoFabric *fabric)
{
  uint32_t n_switches = 0;

  for (uint32_t device = 0; device < fabric->n_devices; device++) {
    const TopoDevice *it = &fabric->devices[device];

    g_assert_true (it->id != NULL && it->name != NULL);
    g_assert_cmpuint (it->n_ports, <=, 255);
    g_assert_cmpuint (it->first_port + it->n_ports, <=, fabric->n_ports);
    g_assert_true (it->node < fabric->n_hosts || it->node == TOPO_NONE);
    g_assert_true (!it->is_switch || it->node == TOPO_NONE);
    n_switches += it->is_switch;
  }
  g_assert_cmpuint (n_switches, ==, fabric->n_switches);
  g_assert_cmpuint (fabric->n_switches + fabric->n_adapters, ==, fabric->n_devices);
}

static void
check (const uint8_t *data, size_t size)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (TopoFabric) fabric = NULL;

  fabric = topo_fabric_load (fuzz_file (data, size), NULL, &error);
  g_assert_true ((fabric == NULL) == (error != NULL));
  if (fabric == NULL) {
    g_assert_true (error->domain == TOPO_ERROR && strchr (error->message, '\n') == NULL);
    return;
  }
  check_ports (fabric);
  check_devices (fabric);
}

const FuzzProgram fuzz_program = { NULL, seed, check };
