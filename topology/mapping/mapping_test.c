/* mapping_test.c - permutations, map files and every way to get one wrong.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "topology/mapping/mapping.h"
#include "topology/topology_testing.h"

#include <glib/gstdio.h>
#include <string.h>

static TopoMapping *
mapping_of (const char *text, const TopoMachine *machine, uint32_t n_ranks)
{
  g_autoptr (GError) error = NULL;
  TopoMapping *mapping = topo_mapping_new (text, machine, n_ranks, &error);

  g_assert_no_error (error);
  return mapping;
}

/* By hand; on 2 x 3 with two slots BTA has the first dimension fastest, then the slot, and B
 * slowest; a node is 3 A + B. */
static void
test_orders (void)
{
  static const struct {
    const char *spec, *text, *name, *places; /* node.slot */
    uint32_t n_slots, n_ranks;
  } cases[] = {
    { "torus:2x3", NULL, "ABT", "0.0 0.1 1.0 1.1 2.0 2.1 3.0 3.1 4.0 4.1 5.0 5.1", 2, 12 },
    { "torus:2x3", "default", "ABT", "0.0 0.1 1.0 1.1 2.0 2.1 3.0 3.1 4.0 4.1 5.0 5.1", 2, 12 },
    { "torus:2x3", "TAB", "TAB", "0.0 1.0 2.0 3.0 4.0 5.0 0.1 1.1 2.1 3.1 4.1 5.1", 2, 12 },
    { "torus:2x3", "BTA", "BTA", "0.0 3.0 0.1 3.1 1.0 4.0 1.1 4.1 2.0 5.0 2.1 5.1", 2, 12 },
    { "bgq:512", NULL, "ABCDET", "0.0 0.1 0.2 1.0 1.1 1.2 2.0", 3, 7 },
    { "bgq:512", "TABCDE", "TABCDE", "0.0 1.0 2.0 3.0", 4, 4 },
  };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autoptr (TopoMachine) machine = topo_testing_machine (cases[at].spec, cases[at].n_slots);
    g_autoptr (TopoMapping) mapping = mapping_of (cases[at].text, machine, cases[at].n_ranks);
    g_autoptr (GString) places = g_string_new (NULL);

    for (uint32_t rank = 0; rank < mapping->n_ranks; rank++)
      g_string_append_printf (places, "%s%u.%u", rank > 0 ? " " : "", mapping->node[rank],
                              mapping->slot[rank]);
    g_test_message ("%s %s", cases[at].spec, cases[at].name);
    g_assert_cmpstr (mapping->name, ==, cases[at].name);
    g_assert_cmpstr (places->str, ==, cases[at].places);
  }
  g_assert_false (topo_mapping_is_rankfile ("default"));
}

/* All ranks of a midplane, by formulae. */
static void
test_midplane (void)
{
  g_autoptr (TopoMachine) machine = topo_testing_machine ("bgq:512", 16);
  g_autoptr (TopoMapping) by_node = mapping_of (NULL, machine, 8192);
  g_autoptr (TopoMapping) by_slot = mapping_of ("TABCDE", machine, 8192);

  for (uint32_t rank = 0; rank < 8192; rank++) {
    g_assert_cmpuint (by_node->node[rank], ==, rank / 16);
    g_assert_cmpuint (by_node->slot[rank], ==, rank % 16);
    g_assert_cmpuint (by_slot->node[rank], ==, rank % 512);
    g_assert_cmpuint (by_slot->slot[rank], ==, rank / 512);
  }
}

static void
test_every_permutation_places_all_once (void)
{
  static const char *const orders[] = { "ABCDET", "TEDCBA", "CABTED", "EABCDT", "DCBATE" };
  g_autoptr (TopoMachine) machine = topo_testing_machine ("bgq:64", 5);

  for (gsize at = 0; at < G_N_ELEMENTS (orders); at++) {
    g_autoptr (TopoMapping) mapping = mapping_of (orders[at], machine, 320);

    topo_testing_places (mapping, machine);
  }
}

static void
test_part_of_the_machine (void)
{
  g_autoptr (TopoMachine) machine = topo_testing_machine ("bgq:32", 2);
  g_autoptr (TopoMapping) mapping = mapping_of ("TEDCBA", machine, 7);

  g_assert_cmpuint (mapping->n_ranks, ==, 7);
  topo_testing_places (mapping, machine);
}

/* A whole Sequoia with 16 ranks per node. */
static void
test_largest_machine (void)
{
  g_autoptr (TopoMachine) machine = topo_testing_machine ("bgq:98304", 16);
  g_autoptr (TopoMapping) mapping = mapping_of ("TABCDE", machine, 1572864);

  g_assert_cmpuint (mapping->node[1572863], ==, 98303);
  g_assert_cmpuint (mapping->slot[1572863], ==, 15);
}

static void
test_file (void)
{
  g_autoptr (TopoMachine) machine = topo_testing_machine ("bgq:512", 2);
  g_autofree char *path = topo_testing_file ("# A B C D E T\n"
                                             "0 0 0 0 0 1\r\n"
                                             "\n"
                                             "   # all of it a comment\n"
                                             "\t3  3 3 3\t1 0   # the last node\n"
                                             "1 2 3 0 1 1");
  g_autoptr (TopoMapping) mapping = mapping_of (path, machine, 3);

  g_assert_cmpstr (mapping->name, ==, path);
  g_assert_cmpuint (mapping->node[0], ==, 0);
  g_assert_cmpuint (mapping->slot[0], ==, 1);
  g_assert_cmpuint (mapping->node[1], ==, 511);
  g_assert_cmpuint (mapping->slot[1], ==, 0);
  g_assert_cmpuint (mapping->node[2], ==, 128 + 2 * 32 + 3 * 8 + 0 + 1);
  g_unlink (path);
}

static void
test_print_survives (void)
{
  g_autoptr (TopoMachine) machine = topo_testing_machine ("torus:3x5m", 3);
  g_autoptr (TopoMapping) mapping = mapping_of ("TBA", machine, 44);
  g_autofree char *text = topo_mapping_print (mapping, machine);
  g_autofree char *path = topo_testing_file (text);
  g_autoptr (TopoMapping) read = mapping_of (path, machine, 44);

  g_assert_cmpmem (read->node, 44 * sizeof *read->node, mapping->node, 44 * sizeof *mapping->node);
  g_assert_cmpmem (read->slot, 44, mapping->slot, 44);
  g_unlink (path);
}

static void
test_refusals (void)
{
  static const struct {
    const char *text;
    uint32_t n_ranks;
    int code;
    const char *named;
  } cases[] = {
    { "", 512, TOPO_ERROR_SYNTAX, "ABCDET" },       { "ABCDE", 512, TOPO_ERROR_SYNTAX, "ABCDET" },
    { "ABCDEE", 512, TOPO_ERROR_SYNTAX, "ABCDET" }, { "ABCDETT", 512, TOPO_ERROR_SYNTAX, "ABCDET" },
    { "ABCDEF", 512, TOPO_ERROR_SYNTAX, "ABCDET" }, { "XYZ", 512, TOPO_ERROR_SYNTAX, "ABCDET" },
    { "TTTTTT", 512, TOPO_ERROR_SYNTAX, "ABCDET" }, { NULL, 0, TOPO_ERROR_RANGE, "0 ranks" },
    { NULL, 1025, TOPO_ERROR_RANGE, "1024" },       { "/no/such/map", 4, TOPO_ERROR_FILE, "" },
  };
  g_autoptr (TopoMachine) machine = topo_testing_machine ("bgq:512", 2);

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autoptr (GError) error = NULL;

    g_test_message ("\"%s\", %u ranks", cases[at].text, cases[at].n_ranks);
    g_assert_null (topo_mapping_new (cases[at].text, machine, cases[at].n_ranks, &error));
    topo_testing_refused (error, cases[at].code, NULL, cases[at].named);
  }
}

/* Two ranks on bgq:512 with two slots; each file names the line to blame. */
static void
test_bad_files (void)
{
  static const struct {
    const char *text, *line, *named;
  } cases[] = {
    { "", ":1: ", "0 of 2 ranks" },
    { "0 0 0 0 0 0\n", ":2: ", "1 of 2 ranks" },
    { "0 0 0 0 0 0\n0 0 0 0 1 0\n0 0 0 1 0 0\n", ":3: ", "too many" },
    { "0 0 0 0 0 0\n# x\n0 0 0 0 0 0\n", ":3: ", "rank 0" },
    { "0 0 0 0 0\n", ":1: ", "column 6" },
    { "0 0 0 0 0 0 0\n", ":1: ", "after the last" },
    { "0 0 4 0 0 0\n", ":1: ", "C = 4" },
    { "0 0 0 0 2 0\n", ":1: ", "E = 2" },
    { "0 0 0 0 0 2\n", ":1: ", "T = 2" },
    { "0 0 -1 0 0 0\n", ":1: ", "column 3" },
    { "\n0 0 1.0 0 0 0\n", ":2: ", "column 3" },
    { "0 0 0x1 0 0 0\n", ":1: ", "column 3" },
    { "0 0 18446744073709551617 0 0 0\n", ":1: ", "C = 1844" },
    { "0;0;0;0;0;0\n", ":1: ", "column 1" },
    { "rank map\n", ":1: ", "column 1" },
  };
  g_autoptr (TopoMachine) machine = topo_testing_machine ("bgq:512", 2);

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autofree char *path = topo_testing_file (cases[at].text);
    g_autofree char *where = g_strconcat (path, cases[at].line, NULL);
    g_autoptr (GError) error = NULL;

    g_test_message ("%s", cases[at].text);
    g_assert_null (topo_mapping_new (path, machine, 2, &error));
    topo_testing_refused (error, -1, where, cases[at].named);
    g_unlink (path);
  }
}

static void
test_binary_file (void)
{
  g_autoptr (TopoMachine) machine = topo_testing_machine ("bgq:512", 2);
  g_autoptr (GError) error = NULL;
  g_autofree char *path = topo_testing_file ("");

  g_assert_true (g_file_set_contents (path, "0 0 0\0 0 0 0\n", 13, NULL));
  g_assert_null (topo_mapping_new (path, machine, 1, &error));
  g_assert_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX);
  g_unlink (path);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/topology/mapping/orders", test_orders);
  g_test_add_func ("/topology/mapping/midplane", test_midplane);
  g_test_add_func ("/topology/mapping/all-once", test_every_permutation_places_all_once);
  g_test_add_func ("/topology/mapping/part", test_part_of_the_machine);
  g_test_add_func ("/topology/mapping/largest", test_largest_machine);
  g_test_add_func ("/topology/mapping/file", test_file);
  g_test_add_func ("/topology/mapping/print", test_print_survives);
  g_test_add_func ("/topology/mapping/refusals", test_refusals);
  g_test_add_func ("/topology/mapping/bad-files", test_bad_files);
  g_test_add_func ("/topology/mapping/binary-file", test_binary_file);
  return g_test_run ();
}
