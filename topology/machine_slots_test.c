/* machine_slots_test.c - which cores are slots, by hand.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "topology/machine.h"
#include "topology/topology_testing.h"

#include <string.h>

/* The cores of the slots in use, then those of the others: "0,4|1,2,3,5,6,7". */
static char *
describe (const TopoMachine *machine)
{
  GString *text = g_string_new (NULL);

  for (uint32_t slot = 0; slot < machine->node->n_cores; slot++)
    g_string_append_printf (text, "%s%u",
                            slot == machine->ranks_per_node ? "|"
                            : slot > 0                      ? ","
                                                            : "",
                            machine->slot_core[slot]);
  return g_string_free (text, FALSE);
}

static void
assert_slots (const TopoMachine *machine, const char *expected)
{
  g_autofree char *found = describe (machine);

  g_assert_cmpstr (found, ==, expected);
}

/* Harpertown: cores 0 to 3 in the first package, 0 and 1 on its first die;
 * Linux numbers them 0 4 2 6, 1 5 3 7. */
static void
test_named_orders (void)
{
  g_autoptr (TopoMachine) machine = topo_testing_machine ("systemg:2", 0);

  assert_slots (machine, "0|1,2,3,4,5,6,7");
  g_assert_true (topo_machine_set_cores (machine, "scatter", NULL));
  assert_slots (machine, "0|4,2,6,1,5,3,7");
  g_assert_true (topo_machine_set_ranks_per_node (machine, 4, NULL));
  assert_slots (machine, "0,4,2,6|1,5,3,7");
  g_assert_true (topo_machine_set_cores (machine, "os", NULL));
  assert_slots (machine, "0,4,2,6|1,5,3,7");
  g_assert_true (topo_machine_set_cores (machine, "compact", NULL));
  assert_slots (machine, "0,1,2,3|4,5,6,7");
}

static void
test_scatter_over_two_sockets (void)
{
  g_autoptr (TopoMachine) machine = topo_testing_machine ("stampede:2", 0);

  g_assert_true (topo_machine_set_cores (machine, "scatter", NULL));
  assert_slots (machine, "0|8,1,9,2,10,3,11,4,12,5,13,6,14,7,15");
}

static void
test_lists (void)
{
  g_autoptr (TopoMachine) machine = topo_testing_machine ("systemg:2", 0);

  g_assert_true (topo_machine_set_cores (machine, "6, 0-2", NULL));
  assert_slots (machine, "6,0,1,2|3,4,5,7");
  g_assert_true (topo_machine_set_ranks_per_node (machine, 8, NULL));
  assert_slots (machine, "6,0,1,2,3,4,5,7");
  g_assert_true (topo_machine_set_cores (machine, "0-7", NULL));
  assert_slots (machine, "0,1,2,3,4,5,6,7");
}

/* infiniband.md section 0. */
static void
test_patterns (void)
{
  static const char *const expected[] = {
    "0|1,2,3,4,5,6,7", "0,4|1,2,3,5,6,7", "0,2|1,3,4,5,6,7", "0,1|2,3,4,5,6,7",
    "0,2,4,6|1,3,5,7", "0,1,4,5|2,3,6,7", "0,1,2,3|4,5,6,7", "0,1,2,3,4,5,6,7",
  };
  g_autoptr (TopoMachine) machine = topo_testing_machine ("systemg:2", 0);

  for (uint32_t pattern = 1; pattern <= 8; pattern++) {
    g_assert_true (topo_machine_set_pattern (machine, pattern, NULL));
    assert_slots (machine, expected[pattern - 1]);
  }
}

static void
test_wrong_ones_change_nothing (void)
{
  static const char *const lists[] = { "",    "8",   "0,",    "0,0", "1-0",
                                       "a",   "0-8", "-1",    "0-",  "18446744073709551616",
                                       "0;1", "0x1", "scatt", "0--1" };
  g_autoptr (TopoMachine) machine = topo_testing_machine ("systemg:2", 0);
  g_autoptr (TopoMachine) torus = topo_testing_machine ("bgq:32", 0);

  g_assert_true (topo_machine_set_cores (machine, "5,3", NULL));
  for (gsize at = 0; at < G_N_ELEMENTS (lists); at++) {
    g_autoptr (GError) error = NULL;

    g_assert_false (topo_machine_set_cores (machine, lists[at], &error));
    g_assert_true (error->domain == TOPO_ERROR);
  }
  g_assert_false (topo_machine_set_ranks_per_node (machine, 9, NULL));
  g_assert_false (topo_machine_set_ranks_per_node (machine, 0, NULL));
  g_assert_false (topo_machine_set_pattern (machine, 0, NULL));
  g_assert_false (topo_machine_set_pattern (machine, 9, NULL));
  assert_slots (machine, "5,3|0,1,2,4,6,7");
  g_assert_false (topo_machine_set_cores (torus, "0", NULL));
  g_assert_false (topo_machine_set_pattern (torus, 1, NULL));
  g_assert_true (topo_machine_set_ranks_per_node (torus, 64, NULL));
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/topology/machine-slots/named", test_named_orders);
  g_test_add_func ("/topology/machine-slots/two-sockets", test_scatter_over_two_sockets);
  g_test_add_func ("/topology/machine-slots/lists", test_lists);
  g_test_add_func ("/topology/machine-slots/patterns", test_patterns);
  g_test_add_func ("/topology/machine-slots/wrong", test_wrong_ones_change_nothing);
  return g_test_run ();
}
