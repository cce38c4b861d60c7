/* launcher_rankfile_test.c - rankfiles and lists of hosts, and every way to get one wrong.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "topology/launcher/launcher.h"

#include ".ci/test_data.h"
#include "topology/topology_testing.h"

#include <glib/gstdio.h>
#include <string.h>

static TopoMapping *
mapping_of_text (const char *text, const TopoMachine *machine, uint32_t n_ranks, GError **error)
{
  g_autofree char *path = topo_testing_file (text);
  TopoMapping *mapping = topo_mapping_new (path, machine, n_ranks, error);

  g_unlink (path);
  return mapping;
}

/* "node.core" of each rank. */
static char *
describe (const TopoMapping *mapping, const TopoMachine *machine)
{
  GString *text = g_string_new (NULL);

  for (uint32_t rank = 0; rank < mapping->n_ranks; rank++)
    g_string_append_printf (text, "%s%u.%u", rank > 0 ? " " : "", mapping->node[rank],
                            machine->slot_core[mapping->slot[rank]]);
  return g_string_free (text, FALSE);
}

static void
assert_placed (const char *text, const TopoMachine *machine, uint32_t n_ranks, const char *expected)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (TopoMapping) mapping = mapping_of_text (text, machine, n_ranks, &error);
  g_autofree char *found = NULL;

  g_assert_no_error (error);
  found = describe (mapping, machine);
  g_assert_cmpstr (found, ==, expected);
}

static void
assert_refused (const char *text, const TopoMachine *machine, uint32_t n_ranks, const char *line,
                const char *named)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (mapping_of_text (text, machine, n_ranks, &error));
  g_assert_true (error->domain == TOPO_ERROR);
  if (!strstr (error->message, line) || !strstr (error->message, named) ||
      strchr (error->message, '\n'))
    g_error ("\"%s\": \"%s\" instead of %s %s", text, error->message, line, named);
}

/* --- Rankfiles, on four nodes of eight cores, named node0 to node3 --- */

/* Each form that Open MPI's scanner and its manual name. */
static void
test_forms (void)
{
  g_autoptr (TopoMachine) machine = topo_testing_machine ("systemg:4", 8);

  assert_placed ("rank 0=node1 slot=1:0\nrank 1=node0 slot=0:3\n", machine, 2, "1.4 0.3");
  assert_placed ("rank 1=node0 slot=5\n\nrank 0=node0 slot=0\n", machine, 2, "0.0 0.5");
  assert_placed ("rank 0=+n3 slot=1:0-2\nrank 1=+N0 slot=0:0,1\n", machine, 2, "3.4 0.0");
  assert_placed ("  rank\t0 = me@node2   slots = 0:*  \r\n", machine, 1, "2.0");
  assert_placed ("rank 0=node2 slot=*", machine, 1, "2.0");
  assert_placed ("rank 0=node0 slot=1:2,0:1;3", machine, 1, "0.6");
}

static void
test_comments (void)
{
  g_autoptr (TopoMachine) machine = topo_testing_machine ("systemg:4", 8);

  assert_placed ("# a job\n/* of\n two ranks */ rank 0=node0 slot=1 // here\n"
                 "rank 1=node1 slot=0:* # there\n",
                 machine, 2, "0.1 1.0");
  assert_refused ("/* one\ntwo */\nrank 0=node0 slot=9\n", machine, 1, ":3: ", "cores 0 to 7");
}

/* A set is any of its cores: the first that is free. */
static void
test_sets_fill_up (void)
{
  g_autoptr (TopoMachine) machine = topo_testing_machine ("systemg:4", 8);

  assert_placed ("rank 0=node0 slot=1:*\nrank 1=node0 slot=1:*\nrank 2=node0 slot=4-7\n", machine,
                 3, "0.4 0.5 0.6");
  assert_refused ("rank 0=node0 slot=0-1\nrank 1=node0 slot=0\n", machine, 2,
                  ":2: ", "place of rank 0 (line 1)");
  assert_refused ("rank 0=node0 slot=0-1\nrank 1=node0 slot=0-1\nrank 2=node0 slot=0-1\n", machine,
                  3, ":3: ", "already");
}

/* Processor 1 of the system is the first core of the second package. */
static void
test_processors (void)
{
  g_autoptr (TopoMachine) machine = topo_testing_machine ("systemg:4", 8);

  assert_placed ("rank 0=node0 slot=p1\nrank 1=node0 slot=P4\nrank 2=node0 slot=p2-3\n", machine, 3,
                 "0.4 0.1 0.2");
  assert_refused ("rank 0=node0 slot=p8\n", machine, 1, ":1: ", "processor 8");
  assert_refused ("rank 0=node0 slot=p1:1\n", machine, 1, ":1: ", "slot=p5");
}

/* Slots are cores whatever the order of the slots. */
static void
test_cores_in_another_order (void)
{
  g_autoptr (TopoMachine) machine = topo_testing_machine ("systemg:4", 1);

  g_assert_true (topo_machine_set_cores (machine, "scatter", NULL));
  g_assert_true (topo_machine_set_ranks_per_node (machine, 8, NULL));
  assert_placed ("rank 0=node0 slot=1\nrank 1=node0 slot=1:0\n", machine, 2, "0.1 0.4");
  machine->ranks_per_node = 2;
  assert_placed ("rank 0=node0 slot=0\nrank 1=node0 slot=1:0\n", machine, 2, "0.0 0.4");
  assert_refused ("rank 0=node0 slot=1\n", machine, 1, ":1: ", "not one of the 2 slots");
}

/* Cores beyond the 64th are others than those before. */
static void
test_many_cores (void)
{
  g_autoptr (TopoMachine) machine = topo_testing_machine ("systemg:4,node=rome", 128);

  assert_placed ("rank 0=node0 slot=1:63\nrank 1=node0 slot=0,64\nrank 2=node0 slot=0,64\n",
                 machine, 3, "0.127 0.0 0.64");
  g_assert_true (topo_machine_set_cores (machine, "64,0,127", NULL));
  g_assert_cmpuint (machine->ranks_per_node, ==, 3);
  g_assert_cmpuint (machine->slot_core[0], ==, 64);
  g_assert_cmpuint (machine->slot_core[3], ==, 1);
  g_assert_cmpuint (machine->slot_core[127], ==, 126);
  g_assert_false (topo_machine_set_cores (machine, "64,0,64", NULL));
}

/* Open MPI's numbers are those of cores. */
static void
test_threads (void)
{
  g_autofree char *path = test_data ("nodes/hwloc2-Intel-Skylake-2xXeon6140.xml");
  g_autofree char *spec = g_strdup_printf ("systemg:4,node=%s,threads=2", path);
  g_autoptr (TopoMachine) machine = NULL;
  g_autoptr (TopoMapping) mapping = NULL;

  if (path == NULL)
    return;
  machine = topo_testing_machine (spec, 72);
  mapping = topo_mapping_new ("AT", machine, 4, NULL);
  assert_refused ("rank 0=node0 slot=0\n", machine, 1, "threads=2", "not their threads");
  for (guint at = 0; at < 2; at++) {
    const TopoLauncher *launcher = topo_launcher_find (at == 0 ? "rankfile" : "hostfile", 8);
    g_autoptr (GError) error = NULL;

    g_assert_null (launcher->print (mapping, machine, &error));
    g_assert_nonnull (strstr (error->message, "not their threads"));
  }
}

static void
test_bad_rankfiles (void)
{
  static const struct {
    const char *text, *line, *named;
  } cases[] = {
    { "rank 0=node0 slot=0\n", ":1: ", "rank 1 is missing" },
    { "rank 0=node0 slot=0\nrank 0=node1 slot=0\n", ":2: ", "already in line 1" },
    { "rank 2=node0 slot=0\n", ":1: ", "ranks 0 to 1" },
    { "rank 99999999999999999999=node0 slot=0\n", ":1: ", "ranks 0 to 1" },
    { "rank 0=node9999 slot=0\n", ":1: ", "not a node of systemg:4" },
    { "rank 0=node17 slot=0\n", ":1: ", "not among the nodes of systemg:4" },
    { "rank 0=+n4 slot=0\n", ":1: ", "+n0 to +n3" },
    { "rank 0=+nx slot=0\n", ":1: ", "+n0 to +n3" },
    { "rank 0=node0 slot=2:0\n", ":1: ", "socket 2" },
    { "rank 0=node0 slot=0:4\n", ":1: ", "socket has cores 0 to 3" },
    { "rank 0=node0 slot=0:0-4\n", ":1: ", "socket has cores 0 to 3" },
    { "rank 0=node0 slot=0:2-1\n", ":1: ", "expected a core" },
    { "rank 0=node0 slot=0:\n", ":1: ", "expected a core" },
    { "rank 0=node0 slot=0,\n", ":1: ", "expected a core" },
    { "rank 0=node0 slot=0:1:2\n", ":1: ", "expected a core" },
    { "rank 0=node0 slot=:1\n", ":1: ", "expected SOCKET:CORE" },
    { "rank 0=node0 slot=p\n", ":1: ", "no core" },
    { "rank 0=node0 slot=,\n", ":1: ", "expected a core" },
    { "rank 0=node0 slot=two\n", ":1: ", "expected a core" },
    { "rank 0=node0 slot=\n", ":1: ", "expected rank" },
    { "rank 0=node0\n", ":1: ", "expected rank" },
    { "rank 0 node0 slot=1\n", ":1: ", "expected rank" },
    { "rank 0=node0 slot=1 2\n", ":1: ", "expected rank" },
    { "rank 0=node0 slot=0\n1 node1 slot=0\n", ":2: ", "expected rank" },
  };
  g_autoptr (TopoMachine) machine = topo_testing_machine ("systemg:4", 8);
  g_autoptr (TopoMachine) torus = topo_machine_new ("bgq:32", NULL);

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++)
    assert_refused (cases[at].text, machine, 2, cases[at].line, cases[at].named);
  assert_refused ("rank 0=node0 slot=0\n", torus, 1, "", "is a torus");
}

/* What is written is read again, to the same places. */
static void
test_print_survives (void)
{
  g_autoptr (TopoMachine) machine = topo_testing_machine ("systemg:4", 1);
  g_autoptr (TopoMapping) mapping = NULL, again = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL, *placed = NULL;

  g_assert_true (topo_machine_set_cores (machine, "scatter", NULL));
  g_assert_true (topo_machine_set_ranks_per_node (machine, 8, NULL));
  mapping = topo_mapping_new ("TA", machine, 13, &error);
  g_assert_no_error (error);
  text = topo_launcher_find ("rankfile", 8)->print (mapping, machine, &error);
  g_assert_no_error (error);
  g_assert_true (g_str_has_prefix (text, "rank 0=node0 slot=0:0\nrank 1=node1 slot=0:0\n"));
  g_assert_nonnull (strstr (text, "rank 4=node0 slot=1:0\n"));
  placed = describe (mapping, machine);
  assert_placed (text, machine, 13, placed);
}

static void
test_print_refused (void)
{
  g_autoptr (TopoMachine) torus = topo_machine_new ("bgq:32", NULL);
  g_autoptr (TopoMapping) mapping = topo_mapping_new (NULL, torus, 4, NULL);
  g_autoptr (TopoMachine) machine = topo_testing_machine ("systemg:4", 1);
  g_autoptr (TopoMapping) other = topo_mapping_new (NULL, machine, 4, NULL);
  char *name = machine->fabric->hosts[2].name;

  g_assert_null (topo_launcher_find ("rankfile", 8)->print (mapping, torus, NULL));
  machine->fabric->hosts[2].name = (char *) "a node";
  g_assert_null (topo_launcher_find ("rankfile", 8)->print (other, machine, NULL));
  machine->fabric->hosts[2].name = name;
}

/* --- Lists of hosts, and the letters of fabrics --- */

static void
test_hosts (void)
{
  g_autoptr (TopoMachine) machine = topo_testing_machine ("systemg:4", 4);

  assert_placed ("# ours\nnode2 slots=2 max_slots=8\nnode0:3\n", machine, 5, "2.0 2.1 0.0 0.1 0.2");
  assert_placed ("node3\nnode1\nnode3\n+n0\n", machine, 4, "3.0 3.1 1.0 0.0");
  assert_placed ("node[2-3]:2\n", machine, 4, "2.0 2.1 3.0 3.1");
  assert_placed ("node[3,0-1],node2 slots=2\r\n", machine, 7, "3.0 3.1 0.0 0.1 1.0 1.1 2.0");
  assert_placed ("node3 slots=4 # all\nnode1 slots=4\n", machine, 5, "3.0 3.1 3.2 3.3 1.0");
}

static void
test_bad_hosts (void)
{
  static const struct {
    const char *text, *line, *named;
  } cases[] = {
    { "node0\n", ":2: ", "for 1 ranks of 2" },
    { "node0 slots=5\n", ":1: ", "which has 4" },
    { "node0 slots=4\nnode0\n", ":2: ", "which has 4" },
    { "node0 slots=0\n", ":1: ", "slots=0" },
    { "node0:x\n", ":1: ", "\"x\"" },
    { "node0 cpus=2\n", ":1: ", "cpus=2" },
    { "\nnode4\n", ":2: ", "not among" },
    { "host\n", ":1: ", "not a node" },
    { "node[2-4]\n", ":1: ", "\"node4\" is not among" },
    { "node[2-\n", ":1: ", "\"node[2-\"" },
    { "node0\nnode[]\n", ":2: ", "\"node[]\"" },
    { "node[0-4294967295]\n", ":1: ", "expected HOST" },
  };
  g_autoptr (TopoMachine) machine = topo_testing_machine ("systemg:4", 4);

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++)
    assert_refused (cases[at].text, machine, 2, cases[at].line, cases[at].named);
}

/* By slot, as Open MPI places by default, and by node; maps have two columns. */
static void
test_letters_and_maps (void)
{
  g_autoptr (TopoMachine) machine = topo_testing_machine ("systemg:4", 2);
  g_autoptr (TopoMapping) by_slot = topo_mapping_new (NULL, machine, 5, NULL);
  g_autoptr (TopoMapping) by_node = topo_mapping_new ("TA", machine, 5, NULL);
  g_autofree char *slots = describe (by_slot, machine), *nodes = describe (by_node, machine);

  g_assert_cmpstr (by_slot->name, ==, "AT");
  g_assert_cmpstr (slots, ==, "0.0 0.1 1.0 1.1 2.0");
  g_assert_cmpstr (nodes, ==, "0.0 1.0 2.0 3.0 0.1");
  assert_placed ("# A T\n3 1\n0 0\n", machine, 2, "3.1 0.0");
  assert_refused ("3 1\n4 0\n", machine, 2, ":2: ", "A = 4");
  assert_refused ("3 2\n", machine, 2, ":1: ", "T = 2");
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/topology/rankfile/forms", test_forms);
  g_test_add_func ("/topology/rankfile/comments", test_comments);
  g_test_add_func ("/topology/rankfile/sets", test_sets_fill_up);
  g_test_add_func ("/topology/rankfile/processors", test_processors);
  g_test_add_func ("/topology/rankfile/order", test_cores_in_another_order);
  g_test_add_func ("/topology/rankfile/bad", test_bad_rankfiles);
  g_test_add_func ("/topology/rankfile/print", test_print_survives);
  g_test_add_func ("/topology/rankfile/many-cores", test_many_cores);
  g_test_add_func ("/topology/rankfile/threads", test_threads);
  g_test_add_func ("/topology/rankfile/print-refused", test_print_refused);
  g_test_add_func ("/topology/hostfile/hosts", test_hosts);
  g_test_add_func ("/topology/hostfile/bad", test_bad_hosts);
  g_test_add_func ("/topology/mapping/fabric", test_letters_and_maps);
  return g_test_run ();
}
