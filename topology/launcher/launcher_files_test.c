/* launcher_files_test.c - launchers' files by hand and by others, and every way to get one wrong.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "topology/launcher/launcher_fixture.h"

#include <glib/gstdio.h>
#include <string.h>

/* --- By hand and by others --- */

/* "node.slot" of each rank. */
static void
assert_placed (const char *kind, const char *text, const TopoMachine *machine, uint32_t n_ranks,
               const char *expected)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (TopoMapping) mapping = launcher_fixture_read (kind, text, machine, n_ranks, &error);
  g_autoptr (GString) found = g_string_new (NULL);

  g_assert_no_error (error);
  for (uint32_t rank = 0; rank < n_ranks; rank++)
    g_string_append_printf (found, "%s%u.%u", rank > 0 ? " " : "", mapping->node[rank],
                            mapping->slot[rank]);
  g_assert_cmpstr (found->str, ==, expected);
}

/* The examples of RFC 34: the ranks of each node, and the map that says so. */
static const struct {
  const char *raw, *map;
} rfc34[] = {
  { "0", "[[0,1,1,1]]" },
  { "0;1", "[[0,2,1,1]]" },
  { "0-1", "[[0,1,2,1]]" },
  { "0-1;2-3", "[[0,2,2,1]]" },
  { "0,2;1,3", "[[0,2,1,2]]" },
  { "1;0", "[[1,1,1,1],[0,1,1,1]]" },
  { "0-3;4-7;8-11;12-15", "[[0,4,4,1]]" },
  { "0,4,8,12;1,5,9,13;2,6,10,14;3,7,11,15", "[[0,4,1,4]]" },
  { "0-1,8-9;2-3,10-11;4-5,12-13;6-7,14-15", "[[0,4,2,2]]" },
  { "0-1;2-3;4-5;6-7;8-11;12-15", "[[0,4,2,1],[4,2,4,1]]" },
  { "0,6;1,7;2,8;3,9;4,10,12,14;5,11,13,15", "[[0,6,1,2],[4,2,1,2]]" },
  { "14-15;12-13;10-11;8-9;4-7;0-3",
    "[[5,1,4,1],[4,1,4,1],[3,1,2,1],[2,1,2,1],[1,1,2,1],[0,1,2,1]]" },
  { "0-1;2-3;4-5;6-7;8-9;12-13;10-11;14-15", "[[0,5,2,1],[6,1,2,1],[5,1,2,1],[7,1,2,1]]" },
  { "12-15;8-11;4-7;0-3", "[[3,1,4,1],[2,1,4,1],[1,1,4,1],[0,1,4,1]]" },
};

/* Node of each rank as the raw map has it; returns how many ranks there are. */
static uint32_t
nodes_of_raw (const char *raw, uint32_t node_of[])
{
  uint32_t n_ranks = 0, node = 0;

  while (*raw != '\0') {
    char *end;
    guint64 first = g_ascii_strtoull (raw, &end, 10), last = first;

    if (*end == '-')
      last = g_ascii_strtoull (end + 1, &end, 10);
    for (; first <= last; first++, n_ranks++)
      node_of[first] = node;
    node += *end == ';';
    raw = end + (*end != '\0');
  }
  return n_ranks;
}

static void
test_flux_as_its_rfc (void)
{
  g_autoptr (TopoMachine) machine = topo_testing_machine ("torus:8", 4);

  for (gsize at = 0; at < G_N_ELEMENTS (rfc34); at++) {
    uint32_t node_of[16];
    uint32_t n_ranks = nodes_of_raw (rfc34[at].raw, node_of);
    g_autoptr (TopoMapping) mapping =
        launcher_fixture_read (NULL, rfc34[at].map, machine, n_ranks, NULL);
    g_autofree char *expected = g_strdup_printf ("{\"version\":1,\"map\":%s}\n", rfc34[at].map);
    g_autofree char *text = NULL;

    g_assert_nonnull (mapping);
    g_assert_true (memcmp (mapping->node, node_of, n_ranks * sizeof *node_of) == 0);
    text = launcher_fixture_find ("flux")->print (mapping, machine, NULL);
    g_assert_cmpstr (text, ==, expected);
  }
}

static void
test_flux_forms (void)
{
  g_autoptr (TopoMachine) machine = topo_testing_machine ("torus:4", 4);

  assert_placed (NULL, "{ \"map\" : [ [ 1 , 2,1,\n2 ] ],\n \"version\": 1 }", machine, 4,
                 "1.0 2.0 1.1 2.1");
  assert_placed ("flux", "[[0,1,2,1],[0,1,1,1]]", machine, 3, "0.0 0.1 0.2");
}

/* The table of RFC 34 on PMI's maps. */
static void
test_pmi (void)
{
  g_autoptr (TopoMachine) machine = topo_testing_machine ("torus:6", 4);
  g_autoptr (TopoMapping) mapping = NULL;
  g_autofree char *text = NULL;

  assert_placed (NULL, "(vector,(0,4,2),(4,2,4))", machine, 16,
                 "0.0 0.1 1.0 1.1 2.0 2.1 3.0 3.1 4.0 4.1 4.2 4.3 5.0 5.1 5.2 5.3");
  assert_placed (NULL, " ( vector, (0,2,1), (0,2,1) )\n", machine, 4, "0.0 1.0 0.1 1.1");
  mapping =
      launcher_fixture_read (NULL, "(vector,(0,6,1),(0,6,1),(4,2,1),(4,2,1))", machine, 16, NULL);
  text = launcher_fixture_find ("pmi")->print (mapping, machine, NULL);
  g_assert_cmpstr (text, ==, "(vector,(0,6,1),(0,6,1),(4,2,1),(4,2,1))\n");
}

/* What grid_order printed for NERSC: 4 x 4 x 4 ranks by rows on two nodes of 32. */
static void
test_cray_as_grid_order_prints (void)
{
  static const char order[] =
      "# grid_order -R -Z -c 32 -g 4,4,4\n# Region 3: 0,0,1 (0..63)\n"
      "0,1,2,3,16,17,18,19,32,33,34,35,48,49,50,51,4,5,6,7,20,21,22,23,36,37,38,39,52,53,54,55\n"
      "8,9,10,11,24,25,26,27,40,41,42,43,56,57,58,59,12,13,14,15,28,29,30,31,44,45,46,47,60,61,"
      "62,63\n";
  g_autoptr (TopoMachine) machine = topo_testing_machine ("torus:2", 32);
  g_autoptr (TopoMapping) mapping = launcher_fixture_read (NULL, order, machine, 64, NULL);

  g_assert_nonnull (mapping);
  g_assert_cmpuint (mapping->node[16], ==, 0);
  g_assert_cmpuint (mapping->slot[16], ==, 4);
  g_assert_cmpuint (mapping->node[8], ==, 1);
  g_assert_cmpuint (mapping->slot[8], ==, 0);
  g_assert_cmpuint (mapping->node[55], ==, 0);
  g_assert_cmpuint (mapping->slot[55], ==, 31);
}

static void
test_cray_forms (void)
{
  g_autoptr (TopoMachine) machine = topo_testing_machine ("torus:2", 3);

  assert_placed (NULL, "2-4, 0\n\n1,5 # the rest\n", machine, 6, "1.0 1.1 0.0 0.1 0.2 1.2");
  assert_placed ("cray", "1\n0\n", machine, 2, "0.1 0.0");
  assert_placed ("cray", "1,\n0,\n", machine, 2, "0.1 0.0");
}

static void
test_host_files (void)
{
  g_autoptr (TopoMachine) machine = topo_testing_machine ("systemg:4", 3);

  assert_placed ("slurm", "node3\nnode1,node[2-3]\n# no\nnode0*2\n", machine, 6,
                 "3.0 1.0 2.0 3.1 0.0 0.1");
  assert_placed ("hydra", "node3:2\nnode1 # here\nnode3\n+n0\n", machine, 5, "3.0 3.1 1.0 3.2 0.0");
  /* The same lines are a list of hosts to those who are not told. */
  assert_placed (NULL, "node3:2\nnode1\nnode3\n", machine, 4, "3.0 3.1 3.2 1.0");
  assert_placed ("hostfile", "node3 slots=2\nnode1\n", machine, 3, "3.0 3.1 1.0");
}

static void
test_vcoord (void)
{
  g_autoptr (TopoMachine) machine = topo_testing_machine ("torus:3x2x4", 2);
  g_autoptr (TopoMachine) plane = topo_testing_machine ("torus:3x2", 2);

  assert_placed (NULL, "(0,0,1)\n( 2, 1 ,3 )\n(0,0,1)\n", machine, 3, "1.0 23.0 1.1");
  assert_placed (NULL, "(2,1)\n(0,1)\n", plane, 2, "5.0 1.0");
}

/* Processors of Harpertown by the system's numbers: core 4 has number 1. */
static void
test_erf (void)
{
  g_autoptr (TopoMachine) machine = topo_testing_machine ("systemg:4", 8);

  assert_placed (NULL,
                 "app 0: ./program\ncpu_index_using: physical\noverlapping_rs: warn\n"
                 "rank: 1: { host: 2; cpu: {1} ; gpu: {0} } : app 0\n"
                 "rank: 0 : {host: node3; cpu: 0}\n",
                 machine, 2, "3.0 1.4");
  assert_placed (NULL,
                 "cpu_index_using: physical\nrank: 0: { host: 1; cpu: {0},{1} }\n"
                 "rank: 1: { hosts: 1; cpu: {0-1} }\nrank: 2: { host: 1; cpu: {0,1,5-7} }\n",
                 machine, 3, "0.0 0.4 0.5");
}

/* --- Wrong files --- */

static void
assert_refused (const char *kind, const char *text, const TopoMachine *machine, uint32_t n_ranks,
                const char *line, const char *named)
{
  g_autoptr (GError) error = NULL;

  if (launcher_fixture_read (kind, text, machine, n_ranks, &error) != NULL)
    g_error ("%s: \"%s\" was taken", kind, text);
  g_assert_true (error->domain == TOPO_ERROR);
  if (strstr (error->message, line) == NULL || strstr (error->message, named) == NULL)
    g_error ("%s \"%s\": \"%s\" instead of %s %s", kind, text, error->message, line, named);
}

/* Two ranks on four nodes with two slots. */
static void
test_wrong_files (void)
{
  static const struct {
    const char *kind, *text, *line, *named;
  } cases[] = {
    { "slurm", "", ":1: ", "0 of 2 ranks; rank 0" },
    { "slurm", "node0\n", ":2: ", "1 of 2 ranks; rank 1" },
    { "slurm", "node0\nnode1\nnode2\n", ":3: ", "more than 2 ranks" },
    { "slurm", "node0\nnode99999\n", ":2: ", "not a node of" },
    { "slurm", "node0\nnode9\n", ":2: ", "not among the nodes of" },
    { "slurm", "node[0-\n", ":1: ", "node[0-" },
    { "slurm", "node0*x\n", ":1: ", "node0" },
    { "slurm", "node0*0\n", ":1: ", "node0" },
    { "slurm", "node0,,node1\n", ":1: ", "found \"\"" },
    { "hydra", "node0:x\n", ":1: ", "node0:x" },
    { "hydra", "node0:0\n", ":1: ", "node0:0" },
    { "hydra", "node0 slots=2\n", ":1: ", "slots=2" },
    { "hydra", "node0:99999999999\n", ":1: ", "node0:9999" },
    { "hydra", "node1:1\nnode0:3\n", ":2: ", "more than 2 ranks" },
    { "flux", "", ":1: ", "expected [" },
    { "flux", "{}", ":1: ", "\"map\"" },
    { "flux", "{\"version\":2,\"map\":[[0,1,2,1]]}", ":1: ", "version 2" },
    { "flux", "{\"version\":1}", ":1: ", "no \"map\"" },
    { "flux", "{\"map\":[[0,1,2,1]]}", ":1: ", "no \"version\"" },
    { "flux", "[[0,1,2]]", ":1: ", "expected ," },
    { "flux", "[[0,1,2,\n-1]]", ":2: ", "expected a number" },
    { "flux", "[[0,1,2,1]", ":1: ", "expected ]" },
    { "flux", "[[0,1,2,1]]\n\nx", ":3: ", "expected the end" },
    { "flux", "[[4,1,2,1]]", ":1: ", "has 4 nodes" },
    { "flux", "[[1,4294967295,1,1]]", ":1: ", "has 4 nodes" },
    { "flux", "[[0,1,99999999999,1]]", ":1: ", "too large" },
    { "flux", "[[0,0,1,4294967295]]", ":1: ", "without nodes" },
    { "flux", "[[0,1,3,1]]", ":1: ", "more than 2 ranks" },
    { "flux", "[[0,1,1,1]]", ":1: ", "1 of 2 ranks" },
    { "pmi", "(vector)", ":1: ", "0 of 2 ranks" },
    { "pmi", "(vektor,(0,1,2))", ":1: ", "expected vector" },
    { "pmi", "(vector,(0,1,2)", ":1: ", "expected )" },
    { "pmi", "(vector,(0,1,2,1))", ":1: ", "expected )" },
    { "cray", "0,1,2\n", ":1: ", "rank 2 is one too many" },
    { "cray", "0\n0\n", ":2: ", "rank 0 has a place" },
    { "cray", "0,2\n", ":1: ", "ranks 0 to 1" },
    { "cray", "0\n", ":2: ", "rank 1 is missing" },
    { "cray", "0,,1\n", ":1: ", "found \"\"" },
    { "cray", "1-0\n", ":1: ", "1-0" },
    { "cray", "0-4294967295\n", ":1: ", "too many" },
    { "erf", "rank: 0: { host: 1; cpu: {0} }\n", ":1: ", "physical" },
    { "erf", "cpu_index_using: logical\nrank: 0: { host: 1; cpu: {0} }\n", ":2: ", "logical" },
    { "erf", "cpu_index_using: physical\nrank: 0: { host: 5; cpu: {0} }\n",
      ":2: ", "hosts 1 to 4" },
    { "erf", "cpu_index_using: physical\nrank: 0: { host: 0; cpu: {0} }\n",
      ":2: ", "hosts 1 to 4" },
    { "erf", "cpu_index_using: physical\nrank: 0: { cpu: {0} }\n", ":2: ", "expected rank" },
    { "erf", "cpu_index_using: physical\nrank: 0: } host: 1; cpu: {0} {\n", ":2: ", "expected" },
    { "erf", "cpu_index_using: physical\nrank: 0-1: { host: 1; cpu: {0} }\n", ":2: ", "expected" },
    { "erf", "cpu_index_using: physical\nrank: 0: { host: 1; cpu: {} }\n", ":2: ", "expected" },
    { "erf", "cpu_index_using: physical\nrank: 0: { host: 1; cpu: {9} }\n", ":2: ", "no slot" },
    { "erf", "cpu_index_using: physical\nranks: 0\n", ":2: ", "expected" },
    { "erf",
      "cpu_index_using: physical\nrank: 0: { host: 1; cpu: {0} }\nrank: 1: { host: 1; cpu: {0} }\n",
      ":3: ", "are taken" },
  };
  g_autoptr (TopoMachine) machine = topo_testing_machine ("systemg:4", 2);

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++)
    assert_refused (cases[at].kind, cases[at].text, machine, 2, cases[at].line, cases[at].named);
}

static void
test_wrong_coordinates (void)
{
  g_autoptr (TopoMachine) machine = topo_testing_machine ("torus:3x2x4", 1);

  assert_refused ("vcoord", "(0,0,0)\n(0,2,0)\n", machine, 2, ":2: ", "Y = 2");
  assert_refused ("vcoord", "(0,0,0)\n(0,0,0)\n", machine, 2,
                  ":2: ", "more than 1 ranks on node 0");
  assert_refused ("vcoord", "(0,0)\n", machine, 1, ":1: ", "3 coordinates");
  assert_refused ("vcoord", "(0,0,0,0)\n", machine, 1, ":1: ", "3 coordinates");
  assert_refused ("vcoord", "(0,0,0) core=1\n", machine, 1, ":1: ", "core=1");
  assert_refused ("vcoord", "(0,,0)\n", machine, 1, ":1: ", "(0,,0)");
  assert_refused ("vcoord", "0,0,0\n", machine, 1, ":1: ", "0,0,0");
  assert_refused ("bgp", "0 0 0 1\n", machine, 1, ":1: ", "T = 1");
}

/* Names of hosts where the machine has none. */
static void
test_hosts_of_a_torus (void)
{
  g_autoptr (TopoMachine) machine = topo_testing_machine ("torus:2x2", 2);

  assert_refused ("slurm", "a\n", machine, 1, ":1: ", "see --hosts");
  launcher_fixture_name_hosts (machine);
  assert_placed ("slurm", "h3\nh0\nh3\n", machine, 3, "3.0 0.0 3.1");
  assert_refused ("slurm", "node0\n", machine, 1, ":1: ", "not a node of torus:2x2");
}

/* Other names beat those of a fabric. */
static void
test_hosts_of_a_fabric (void)
{
  g_autoptr (TopoMachine) machine = topo_testing_machine ("systemg:4", 2);
  g_autoptr (TopoMapping) mapping = NULL;
  g_autofree char *text = NULL;

  launcher_fixture_name_hosts (machine);
  assert_refused ("slurm", "node0\n", machine, 1, ":1: ", "not a node of");
  g_assert_true (topo_machine_set_ranks_per_node (machine, 8, NULL));
  mapping = launcher_fixture_read (NULL, "rank 0=h2 slot=1:0\n", machine, 1, NULL);
  g_assert_nonnull (mapping);
  text = launcher_fixture_find ("rankfile")->print (mapping, machine, NULL);
  g_assert_cmpstr (text, ==, "rank 0=h2 slot=1:0\n");
}

static void
test_wrong_hosts (void)
{
  static const struct {
    const char *text, *named;
  } cases[] = {
    { "a\nb\nc\n", "names 3 hosts; torus:2x2 has 4 nodes" },
    { "a\nb\nc\nd\ne\n", "names 5 hosts" },
    { "a\nb\n\nb\nd\n", ":4: host b appears twice" },
    { "a b c d\n", ":1: " },
    { "a\nb:2\n", ":2: " },
    { "n[0-\n", ":1: " },
  };
  g_autoptr (TopoMachine) machine = topo_testing_machine ("torus:2x2", 2);

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autofree char *path = topo_testing_file (cases[at].text);
    g_autoptr (GError) error = NULL;

    g_assert_false (topo_machine_set_hosts (machine, path, &error));
    g_assert_true (error->domain == TOPO_ERROR);
    g_assert_nonnull (strstr (error->message, cases[at].named));
    g_assert_null (topo_machine_host (machine, 0));
    g_unlink (path);
  }
  g_assert_false (topo_machine_set_hosts (machine, "/no/such/file", NULL));
}

/* Short lines that ask for gigabytes of names, or for more nested brackets than the stack holds. */
static void
test_hosts_without_end (void)
{
  g_autoptr (TopoMachine) machine = topo_testing_machine ("torus:2x2", 2);
  g_autofree char *letters = g_strnfill (20000, 'a');
  g_autofree char *far = g_strdup_printf ("%s[1-131072]\n", letters);
  g_autoptr (GString) deep = g_string_new ("n");
  const char *lines[] = { far, NULL };

  for (guint level = 0; level < 300000; level++)
    g_string_append (deep, "[1]");
  lines[1] = deep->str;
  for (gsize at = 0; at < G_N_ELEMENTS (lines); at++) {
    g_autofree char *path = topo_testing_file (lines[at]);
    g_autoptr (GError) error = NULL;

    g_assert_false (topo_machine_set_hosts (machine, path, &error));
    g_assert_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX);
    g_assert_nonnull (strstr (error->message, ":1: expected the name of a host"));
    g_unlink (path);
  }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/topology/launcher-files/flux-rfc34", test_flux_as_its_rfc);
  g_test_add_func ("/topology/launcher-files/flux-forms", test_flux_forms);
  g_test_add_func ("/topology/launcher-files/pmi", test_pmi);
  g_test_add_func ("/topology/launcher-files/cray-grid-order", test_cray_as_grid_order_prints);
  g_test_add_func ("/topology/launcher-files/cray-forms", test_cray_forms);
  g_test_add_func ("/topology/launcher-files/host-files", test_host_files);
  g_test_add_func ("/topology/launcher-files/vcoord", test_vcoord);
  g_test_add_func ("/topology/launcher-files/erf", test_erf);
  g_test_add_func ("/topology/launcher-files/wrong-files", test_wrong_files);
  g_test_add_func ("/topology/launcher-files/wrong-coordinates", test_wrong_coordinates);
  g_test_add_func ("/topology/launcher-files/hosts-of-a-torus", test_hosts_of_a_torus);
  g_test_add_func ("/topology/launcher-files/hosts-of-a-fabric", test_hosts_of_a_fabric);
  g_test_add_func ("/topology/launcher-files/wrong-hosts", test_wrong_hosts);
  g_test_add_func ("/topology/launcher-files/hosts-without-end", test_hosts_without_end);
  return g_test_run ();
}
