/* launcher_fuzz.c - any bytes as the file of any launcher.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The first byte chooses the machine, the second the kind, or that the content tells it; h: the
 * names of the nodes. */
#include ".ci/fuzzing.h"
#include "topology/launcher/launcher.h"

#include <string.h>

#define N_RANKS 6

static TopoMachine *machines[2];

/* Of a kind each, in the order of the table, after the two bytes that choose. */
static const char *const texts[] = {
  "10rank 0=node1 slot=1:0-2\nrank 1=+n0 slot=0:* # x\n/* y */ rank 2=node0 slot=p3\n",
  "11cpu_index_using: physical\nrank: 0: { host: 1; cpu: {4},{0-3} ; gpu: {0} } : app 0\n",
  "12(vector,(0,2,1),(0,2,2))",
  "03(0,0,1)\n(1,1,0)\n# x\n(0,0,1)\n",
  "04{\"version\":1,\"map\":[[0,3,1,1],[0,3,1,1]]}",
  "05# x\n0,1,4-5\n2,3\n",
  "16node1 slots=2\nnode[0,2]:2 max_slots=4\n",
  "17node1:2\nnode0\nnode1:3\n",
  "18node1*2,node[0-1]\nnode2\nnode2\n",
  "090 0 0 0\n0 0 1 1\n",
  "1:# A T\n0 0\n1 7\n",
  "1hnode[1-2] # two\nlogin\n",
  NULL,
};

static const char *const words[] = {
  "rank ",   " slot=",  "node1",        "rank: 0: { host: ",
  "cpu: {",  "(vector", "\\\"map\\\":", "[0,1,1,1]",
  "(0,1,1)", "*",       "+n0",          "cpu_index_using: physical\\x0a",
  "slots=",  "[0-1]",   NULL,
};

static void
seed (FuzzSeeds *seeds)
{
  fuzz_add_texts (seeds, texts);
  fuzz_add_words (seeds, words);
}

static void
prepare (void)
{
  machines[0] = topo_machine_new ("torus:3x2x2", NULL);
  machines[1] = topo_machine_new ("systemg:3", NULL);
  g_assert_true (topo_machine_set_ranks_per_node (machines[0], 2, NULL));
  g_assert_true (topo_machine_set_ranks_per_node (machines[1], 8, NULL));
}

/* The kind that a byte chooses; NULL: the content tells. */
static const TopoLauncher *
choose_kind (uint8_t byte)
{
  guint n = 0;

  while (topo_launchers[n] != NULL)
    n++;
  return byte >= '0' && byte - '0' < (int) n ? topo_launchers[byte - '0'] : NULL;
}

/* Every rank has a place of its own. */
static void
check_places (const TopoMapping *mapping, const TopoMachine *machine)
{
  bool taken[12 * TOPO_MAX_RANKS_PER_NODE] = { false };

  for (uint32_t rank = 0; rank < mapping->n_ranks; rank++) {
    uint32_t place = mapping->node[rank] * machine->ranks_per_node + mapping->slot[rank];

    g_assert_cmpuint (mapping->node[rank], <, topo_shape_nodes (&machine->shape));
    g_assert_cmpuint (mapping->slot[rank], <, machine->ranks_per_node);
    g_assert_false (taken[place]);
    taken[place] = true;
  }
}

static void
check_hosts (const uint8_t *data, size_t size)
{
  g_autoptr (TopoMachine) machine = topo_machine_new ("systemg:3", NULL);
  g_autoptr (GError) error = NULL;

  if (topo_machine_set_hosts (machine, fuzz_file (data, size), &error))
    for (uint32_t node = 0; node < 3; node++)
      g_assert_true (*topo_machine_host (machine, node) != '\0');
  else
    g_assert_true (error->domain == TOPO_ERROR && strchr (error->message, '\n') == NULL);
}

static void
check_mapping (const uint8_t *data, size_t size)
{
  const TopoMachine *machine = machines[size > 0 && data[0] == '1'];
  const TopoLauncher *kind = size > 1 ? choose_kind (data[1]) : NULL;
  size_t before = MIN (size, 2);
  g_autofree char *text = g_strconcat (kind != NULL ? kind->name : "", kind != NULL ? ":" : "",
                                       fuzz_file (data + before, size - before), NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (TopoMapping) mapping = NULL;

  mapping = topo_mapping_new (text, machine, N_RANKS, &error);
  g_assert_true ((mapping == NULL) == (error != NULL));
  if (mapping != NULL)
    check_places (mapping, machine);
  else
    g_assert_true (error->domain == TOPO_ERROR && strchr (error->message, '\n') == NULL);
}

static void
check (const uint8_t *data, size_t size)
{
  if (size > 1 && data[1] == 'h')
    check_hosts (data + 2, size - 2);
  else
    check_mapping (data, size);
}

const FuzzProgram fuzz_program = { prepare, seed, check };
