/* launcher_test.c - launchers' files: there and back, by hand, and every way to get one wrong.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "topology/launcher.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#define N_RANDOM 100

/* Which mappings a kind can say. */
typedef enum {
  SAYS_ANY,    /* every one */
  SAYS_NODES,  /* slots follow from the order of the ranks on a node */
  SAYS_ORDER,  /* the first slots of the machine, in any order */
  SAYS_BLOCKS, /* a node after the other */
} Says;

static const struct {
  const char *kind;
  Says says;
  bool on_fabric, on_torus; /* of three dimensions */
  bool is_detected;
} kinds[] = {
  { "map", SAYS_ANY, true, true, true },         { "bgp", SAYS_ANY, false, true, false },
  { "rankfile", SAYS_ANY, true, false, true },   { "erf", SAYS_ANY, true, false, true },
  { "flux", SAYS_NODES, true, true, true },      { "pmi", SAYS_NODES, true, true, true },
  { "slurm", SAYS_NODES, true, true, false },    { "hydra", SAYS_NODES, true, true, false },
  { "vcoord", SAYS_NODES, false, true, true },   { "cray", SAYS_ORDER, true, true, true },
  { "hostfile", SAYS_BLOCKS, true, true, true },
};

static char *
temporary_file (const char *text)
{
  char *path = NULL;
  int fd = g_file_open_tmp ("ranks-XXXXXX", &path, NULL);
  gssize length = (gssize) strlen (text);

  /* Not g_file_set_contents(), which waits for the disk. */
  g_assert_cmpint (fd, >=, 0);
  g_assert_cmpint (write (fd, text, (gsize) length), ==, length);
  g_close (fd, NULL);
  return path;
}

/* Gives the nodes of a machine the names h0, h1 ... */
static void
name_hosts (TopoMachine *machine)
{
  g_autofree char *list = g_strdup_printf ("h[0-%u]", topo_shape_nodes (&machine->shape) - 1);
  g_autofree char *path = temporary_file (list);

  g_assert_true (topo_machine_set_hosts (machine, path, NULL));
  g_unlink (path);
}

static TopoMachine *
machine_of (const char *spec, uint32_t ranks_per_node)
{
  TopoMachine *machine = topo_machine_new (spec, NULL);

  g_assert_nonnull (machine);
  g_assert_true (topo_machine_set_ranks_per_node (machine, ranks_per_node, NULL));
  return machine;
}

/* Four slots a node, so that Blue Gene/P can say it. */
static TopoMachine *
torus (void)
{
  TopoMachine *machine = machine_of ("torus:3x2x4", 4);

  name_hosts (machine);
  return machine;
}

/* Eight cores a node, the slots in ascending order of cores. */
static TopoMachine *
fabric (void)
{
  return machine_of ("systemg:6", 8);
}

static const TopoLauncher *
launcher_of (const char *kind)
{
  const TopoLauncher *launcher = topo_launcher_find (kind, strlen (kind));

  g_assert_nonnull (launcher);
  return launcher;
}

/* Reads a text as a file of the kind, of the kind that its content tells when NULL. */
static TopoMapping *
read_text (const char *kind, const char *text, const TopoMachine *machine, uint32_t n_ranks,
           GError **error)
{
  g_autofree char *path = temporary_file (text);
  g_autofree char *named = kind != NULL ? g_strconcat (kind, ":", path, NULL) : g_strdup (path);
  TopoMapping *mapping = topo_mapping_new (named, machine, n_ranks, error);

  g_unlink (path);
  return mapping;
}

static bool
same_places (const TopoMapping *mapping, const TopoMapping *other)
{
  return mapping->n_ranks == other->n_ranks &&
         memcmp (mapping->node, other->node, mapping->n_ranks * sizeof *mapping->node) == 0 &&
         memcmp (mapping->slot, other->slot, mapping->n_ranks) == 0;
}

/* --- Random mappings --- */

static void
shuffle (uint32_t *values, uint32_t n)
{
  for (uint32_t at = n; at > 1; at--) {
    uint32_t other = (uint32_t) g_test_rand_int_range (0, (int) at), value = values[at - 1];

    values[at - 1] = values[other];
    values[other] = value;
  }
}

static uint32_t *
shuffled (uint32_t n)
{
  uint32_t *values = g_new (uint32_t, n);

  for (uint32_t at = 0; at < n; at++)
    values[at] = at;
  shuffle (values, n);
  return values;
}

/* Places in the order in which ranks get them, as node * ranks_per_node + slot. */
static void
choose_places (Says says, const TopoMachine *machine, uint32_t *places, uint32_t n_ranks)
{
  uint32_t n_nodes = topo_shape_nodes (&machine->shape), n_slots = machine->ranks_per_node;
  g_autofree uint32_t *all = shuffled (n_nodes * n_slots);
  g_autofree uint32_t *nodes = shuffled (n_nodes);
  g_autofree uint32_t *used = g_new0 (uint32_t, n_nodes);

  memcpy (places, all, n_ranks * sizeof *places);
  if (says == SAYS_ORDER) {
    g_autofree uint32_t *first = shuffled (n_ranks);

    memcpy (places, first, n_ranks * sizeof *places);
  } else if (says == SAYS_NODES) {
    for (uint32_t rank = 0; rank < n_ranks; rank++) {
      uint32_t node = places[rank] / n_slots;

      places[rank] = node * n_slots + used[node]++;
    }
  } else if (says == SAYS_BLOCKS) {
    for (uint32_t rank = 0; rank < n_ranks; rank++)
      places[rank] = nodes[rank / n_slots] * n_slots + rank % n_slots;
  }
}

static TopoMapping *
random_mapping (Says says, const TopoMachine *machine)
{
  uint32_t n_slots = topo_shape_nodes (&machine->shape) * machine->ranks_per_node;
  uint32_t n_ranks = (uint32_t) g_test_rand_int_range (1, (int) n_slots + 1);
  TopoMapping *mapping = topo_mapping_new (NULL, machine, n_ranks, NULL);
  g_autofree uint32_t *places = g_new (uint32_t, n_slots);

  g_assert_nonnull (mapping);
  choose_places (says, machine, places, n_ranks);
  for (uint32_t rank = 0; rank < n_ranks; rank++) {
    mapping->node[rank] = places[rank] / machine->ranks_per_node;
    mapping->slot[rank] = (uint8_t) (places[rank] % machine->ranks_per_node);
  }
  return mapping;
}

/* --- There and back --- */

static void
assert_survives (const char *kind, bool is_detected, const TopoMapping *mapping,
                 const TopoMachine *machine, const char *text)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (TopoMapping) read = read_text (kind, text, machine, mapping->n_ranks, &error);
  g_autoptr (TopoMapping) again = NULL;

  g_assert_no_error (error);
  if (!same_places (mapping, read))
    g_error ("%s has become another mapping:\n%s", kind, text);
  if (!is_detected)
    return;
  again = read_text (NULL, text, machine, mapping->n_ranks, &error);
  g_assert_no_error (error);
  g_assert_true (same_places (mapping, again));
}

static void
survive_many (gsize at, const TopoMachine *machine)
{
  for (uint32_t n = 0; n < N_RANDOM; n++) {
    g_autoptr (TopoMapping) mapping = random_mapping (kinds[at].says, machine);
    g_autoptr (GError) error = NULL;
    g_autofree char *text = launcher_of (kinds[at].kind)->print (mapping, machine, &error);
    /* A single number is no order to a stranger. */
    bool is_detected =
        kinds[at].is_detected && !(kinds[at].says == SAYS_ORDER && strchr (text, ',') == NULL);

    g_assert_no_error (error);
    assert_survives (kinds[at].kind, is_detected, mapping, machine, text);
  }
}

static void
test_written_is_read_back (void)
{
  g_autoptr (TopoMachine) a_torus = torus ();
  g_autoptr (TopoMachine) a_fabric = fabric ();

  for (gsize at = 0; at < G_N_ELEMENTS (kinds); at++) {
    if (kinds[at].on_torus)
      survive_many (at, a_torus);
    if (kinds[at].on_fabric)
      survive_many (at, a_fabric);
  }
}

/* Blue Gene/Q has more dimensions than some kinds; scattered cores are no matter to
 * those that name them. */
static void
test_other_machines (void)
{
  g_autoptr (TopoMachine) bgq = machine_of ("bgq:32", 16);
  g_autoptr (TopoMachine) scattered = fabric ();

  g_assert_true (topo_machine_set_cores (scattered, "scatter", NULL));
  name_hosts (bgq);
  for (gsize at = 0; at < G_N_ELEMENTS (kinds); at++) {
    if (kinds[at].on_torus && kinds[at].on_fabric)
      survive_many (at, bgq);
    if (kinds[at].on_fabric && kinds[at].says != SAYS_BLOCKS)
      survive_many (at, scattered);
  }
}

/* Whatever a mapping is like: it is refused, or it survives. */
static uint32_t
count_refused (gsize at, const TopoMachine *machine)
{
  uint32_t n_refused = 0;

  for (uint32_t n = 0; n < N_RANDOM; n++) {
    g_autoptr (TopoMapping) mapping = random_mapping (SAYS_ANY, machine);
    g_autoptr (GError) error = NULL;
    g_autofree char *text = launcher_of (kinds[at].kind)->print (mapping, machine, &error);

    if (text != NULL) {
      assert_survives (kinds[at].kind, false, mapping, machine, text);
      continue;
    }
    g_assert_true (error->domain == TOPO_ERROR);
    n_refused++;
  }
  return n_refused;
}

static void
test_nothing_is_lost (void)
{
  g_autoptr (TopoMachine) a_torus = torus ();

  for (gsize at = 0; at < G_N_ELEMENTS (kinds); at++)
    if (kinds[at].on_torus) {
      uint32_t n_refused = count_refused (at, a_torus);

      if (kinds[at].says == SAYS_ANY)
        g_assert_cmpuint (n_refused, ==, 0);
      else
        g_assert_cmpuint (n_refused, >, N_RANDOM / 2);
    }
}

static void
assert_not_written (const char *kind, const TopoMapping *mapping, const TopoMachine *machine,
                    const char *named)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (launcher_of (kind)->print (mapping, machine, &error));
  g_assert_error (error, TOPO_ERROR, TOPO_ERROR_RANGE);
  if (strstr (error->message, named) == NULL)
    g_error ("%s: \"%s\" does not say \"%s\"", kind, error->message, named);
}

static void
test_refusals_say_why (void)
{
  g_autoptr (TopoMachine) a_fabric = fabric ();
  g_autoptr (TopoMachine) a_torus = machine_of ("torus:3x2x4", 8);
  g_autoptr (TopoMachine) bgq = machine_of ("bgq:32", 4);
  g_autoptr (TopoMapping) mapping = read_text (NULL, "0 1\n0 0\n", a_fabric, 2, NULL);
  g_autoptr (TopoMapping) turns = read_text (NULL, "4 0\n5 0\n4 1\n", a_fabric, 3, NULL);
  g_autoptr (TopoMapping) eight = topo_mapping_new (NULL, a_torus, 8, NULL);
  g_autoptr (TopoMapping) line = topo_mapping_new (NULL, a_fabric, 8, NULL);

  assert_not_written ("slurm", mapping, a_fabric, "rank 0 has slot 1 of node0, where 0 lower");
  assert_not_written ("hydra", mapping, a_fabric, "rank 0 has slot 1 of node0");
  assert_not_written ("flux", mapping, a_fabric, "a task map tells nodes only");
  assert_not_written ("hostfile", turns, a_fabric, "rank 2 comes back to node4");
  assert_not_written ("cray", turns, a_fabric, "rank 0 is in slot 0 of node 4");
  assert_not_written ("bgp", eight, a_torus, "slot 7");
  assert_not_written ("bgp", eight, bgq, "no three-dimensional");
  assert_not_written ("vcoord", eight, bgq, "one to three dimensions");
  assert_not_written ("vcoord", line, a_fabric, "one to three dimensions");
  assert_not_written ("slurm", eight, a_torus, "no names");
  assert_not_written ("hydra", eight, a_torus, "--hosts");
  assert_not_written ("hostfile", eight, a_torus, "no names");
  assert_not_written ("rankfile", eight, a_torus, "a torus");
  assert_not_written ("erf", eight, a_torus, "a torus");
  g_assert_true (topo_machine_set_cores (a_fabric, "0,4,2,6,1,3,5,7", NULL));
  assert_not_written ("hostfile", line, a_fabric, "slot 1 is core 4, slot 2 core 2");
}

/* --- By hand and by others --- */

/* "node.slot" of each rank. */
static void
assert_placed (const char *kind, const char *text, const TopoMachine *machine, uint32_t n_ranks,
               const char *expected)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (TopoMapping) mapping = read_text (kind, text, machine, n_ranks, &error);
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
  g_autoptr (TopoMachine) machine = machine_of ("torus:8", 4);

  for (gsize at = 0; at < G_N_ELEMENTS (rfc34); at++) {
    uint32_t node_of[16];
    uint32_t n_ranks = nodes_of_raw (rfc34[at].raw, node_of);
    g_autoptr (TopoMapping) mapping = read_text (NULL, rfc34[at].map, machine, n_ranks, NULL);
    g_autofree char *expected = g_strdup_printf ("{\"version\":1,\"map\":%s}\n", rfc34[at].map);
    g_autofree char *text = NULL;

    g_assert_nonnull (mapping);
    g_assert_true (memcmp (mapping->node, node_of, n_ranks * sizeof *node_of) == 0);
    text = launcher_of ("flux")->print (mapping, machine, NULL);
    g_assert_cmpstr (text, ==, expected);
  }
}

static void
test_flux_forms (void)
{
  g_autoptr (TopoMachine) machine = machine_of ("torus:4", 4);

  assert_placed (NULL, "{ \"map\" : [ [ 1 , 2,1,\n2 ] ],\n \"version\": 1 }", machine, 4,
                 "1.0 2.0 1.1 2.1");
  assert_placed ("flux", "[[0,1,2,1],[0,1,1,1]]", machine, 3, "0.0 0.1 0.2");
}

/* The table of RFC 34 on PMI's maps. */
static void
test_pmi (void)
{
  g_autoptr (TopoMachine) machine = machine_of ("torus:6", 4);
  g_autoptr (TopoMapping) mapping = NULL;
  g_autofree char *text = NULL;

  assert_placed (NULL, "(vector,(0,4,2),(4,2,4))", machine, 16,
                 "0.0 0.1 1.0 1.1 2.0 2.1 3.0 3.1 4.0 4.1 4.2 4.3 5.0 5.1 5.2 5.3");
  assert_placed (NULL, " ( vector, (0,2,1), (0,2,1) )\n", machine, 4, "0.0 1.0 0.1 1.1");
  mapping = read_text (NULL, "(vector,(0,6,1),(0,6,1),(4,2,1),(4,2,1))", machine, 16, NULL);
  text = launcher_of ("pmi")->print (mapping, machine, NULL);
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
  g_autoptr (TopoMachine) machine = machine_of ("torus:2", 32);
  g_autoptr (TopoMapping) mapping = read_text (NULL, order, machine, 64, NULL);

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
  g_autoptr (TopoMachine) machine = machine_of ("torus:2", 3);

  assert_placed (NULL, "2-4, 0\n\n1,5 # the rest\n", machine, 6, "1.0 1.1 0.0 0.1 0.2 1.2");
  assert_placed ("cray", "1\n0\n", machine, 2, "0.1 0.0");
  assert_placed ("cray", "1,\n0,\n", machine, 2, "0.1 0.0");
}

static void
test_host_files (void)
{
  g_autoptr (TopoMachine) machine = machine_of ("systemg:4", 3);

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
  g_autoptr (TopoMachine) machine = machine_of ("torus:3x2x4", 2);
  g_autoptr (TopoMachine) plane = machine_of ("torus:3x2", 2);

  assert_placed (NULL, "(0,0,1)\n( 2, 1 ,3 )\n(0,0,1)\n", machine, 3, "1.0 23.0 1.1");
  assert_placed (NULL, "(2,1)\n(0,1)\n", plane, 2, "5.0 1.0");
}

/* Processors of Harpertown by the system's numbers: core 4 has number 1. */
static void
test_erf (void)
{
  g_autoptr (TopoMachine) machine = machine_of ("systemg:4", 8);

  assert_placed (NULL,
                 "app 0: ./program\ncpu_index_using: physical\noverlapping_rs: warn\n"
                 "rank: 1: { host: 2; cpu: {1} ; gpu: {0} } : app 0\n"
                 "rank: 0 : {host: node3; cpu: 0}\n",
                 machine, 2, "3.0 1.4");
  assert_placed (NULL,
                 "cpu_index_using: physical\nrank: 0: { host: 1; cpu: {0},{1} }\n"
                 "rank: 1: { host: 1; cpu: {0-1} }\nrank: 2: { host: 1; cpu: {0,1,5-7} }\n",
                 machine, 3, "0.0 0.4 0.5");
}

/* --- Wrong files --- */

static void
assert_refused (const char *kind, const char *text, const TopoMachine *machine, uint32_t n_ranks,
                const char *line, const char *named)
{
  g_autoptr (GError) error = NULL;

  if (read_text (kind, text, machine, n_ranks, &error) != NULL)
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
    { "slurm", "", ":1: ", "0 ranks of 2, rank 0" },
    { "slurm", "node0\n", ":2: ", "1 ranks of 2, rank 1" },
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
    { "flux", "[[0,0,1,4294967295]]", ":1: ", "no nodes" },
    { "flux", "[[0,1,3,1]]", ":1: ", "more than 2 ranks" },
    { "flux", "[[0,1,1,1]]", ":1: ", "1 ranks of 2" },
    { "pmi", "(vector)", ":1: ", "0 ranks of 2" },
    { "pmi", "(vektor,(0,1,2))", ":1: ", "expected vector" },
    { "pmi", "(vector,(0,1,2)", ":1: ", "expected )" },
    { "pmi", "(vector,(0,1,2,1))", ":1: ", "expected )" },
    { "cray", "0,1,2\n", ":1: ", "rank 2 is one too many" },
    { "cray", "0\n0\n", ":2: ", "rank 0 has a place" },
    { "cray", "0,2\n", ":1: ", "ranks 0 to 1" },
    { "cray", "0\n", ":2: ", "rank 1 is not among" },
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
  g_autoptr (TopoMachine) machine = machine_of ("systemg:4", 2);

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++)
    assert_refused (cases[at].kind, cases[at].text, machine, 2, cases[at].line, cases[at].named);
}

static void
test_wrong_coordinates (void)
{
  g_autoptr (TopoMachine) machine = machine_of ("torus:3x2x4", 1);

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
  g_autoptr (TopoMachine) machine = machine_of ("torus:2x2", 2);

  assert_refused ("slurm", "a\n", machine, 1, ":1: ", "see --hosts");
  name_hosts (machine);
  assert_placed ("slurm", "h3\nh0\nh3\n", machine, 3, "3.0 0.0 3.1");
  assert_refused ("slurm", "node0\n", machine, 1, ":1: ", "not a node of torus:2x2");
}

/* Other names beat those of a fabric. */
static void
test_hosts_of_a_fabric (void)
{
  g_autoptr (TopoMachine) machine = machine_of ("systemg:4", 2);
  g_autoptr (TopoMapping) mapping = NULL;
  g_autofree char *text = NULL;

  name_hosts (machine);
  assert_refused ("slurm", "node0\n", machine, 1, ":1: ", "not a node of");
  g_assert_true (topo_machine_set_ranks_per_node (machine, 8, NULL));
  mapping = read_text (NULL, "rank 0=h2 slot=1:0\n", machine, 1, NULL);
  g_assert_nonnull (mapping);
  text = launcher_of ("rankfile")->print (mapping, machine, NULL);
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
    { "a\nb\n\nb\nd\n", ":4: host b stands twice" },
    { "a b c d\n", ":1: " },
    { "a\nb:2\n", ":2: " },
    { "n[0-\n", ":1: " },
  };
  g_autoptr (TopoMachine) machine = machine_of ("torus:2x2", 2);

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autofree char *path = temporary_file (cases[at].text);
    g_autoptr (GError) error = NULL;

    g_assert_false (topo_machine_set_hosts (machine, path, &error));
    g_assert_true (error->domain == TOPO_ERROR);
    g_assert_nonnull (strstr (error->message, cases[at].named));
    g_assert_null (topo_machine_host (machine, 0));
    g_unlink (path);
  }
  g_assert_false (topo_machine_set_hosts (machine, "/no/such/file", NULL));
}

/* --- Launching --- */

static void
assert_launch (const char *kind, const TopoMapping *mapping, const TopoMachine *machine,
               const char *line, const char *note)
{
  g_auto (TopoLaunch) launch = launcher_of (kind)->launch (mapping, machine, "F");

  g_assert_cmpstr (launch.line, ==, line);
  if (note == NULL)
    g_assert_null (launch.note);
  else
    g_assert_nonnull (strstr (launch.note, note));
}

static void
test_launch_lines (void)
{
  g_autoptr (TopoMachine) a_fabric = machine_of ("systemg:4", 1);
  g_autoptr (TopoMachine) a_torus = machine_of ("torus:2x3x4", 4);
  g_autoptr (TopoMachine) bgq = machine_of ("bgq:32", 16);
  g_autoptr (TopoMapping) mapping = NULL;
  g_autoptr (TopoMapping) turns = NULL;
  g_autoptr (TopoMapping) six = topo_mapping_new (NULL, a_torus, 6, NULL);
  g_autoptr (TopoMapping) ten = topo_mapping_new (NULL, bgq, 10, NULL);

  /* Cores 0, 4 and 6 of Harpertown are the system's processors 0, 1 and 3. */
  g_assert_true (topo_machine_set_cores (a_fabric, "0,4,6", NULL));
  mapping = topo_mapping_new (NULL, a_fabric, 6, NULL);
  turns = topo_mapping_new ("TA", a_fabric, 6, NULL);
  assert_launch ("rankfile", mapping, a_fabric, "mpirun -np 6 --rankfile F ./program",
                 "Open MPI 4");
  assert_launch ("hostfile", mapping, a_fabric,
                 "mpirun -np 6 --hostfile F --map-by slot --cpu-list 0,4,6 "
                 "--bind-to cpu-list:ordered ./program",
                 NULL);
  assert_launch ("hydra", mapping, a_fabric,
                 "mpiexec.hydra -n 6 -f F -bind-to user:0,1,3 ./program", NULL);
  assert_launch ("hydra", turns, a_fabric, "mpiexec.hydra -n 6 -f F ./program",
                 "2 hosts are split");
  assert_launch ("slurm", mapping, a_fabric,
                 "SLURM_HOSTFILE=F srun -m arbitrary -n 6 --cpu-bind=map_cpu:0,1,3 ./program",
                 NULL);
  assert_launch ("cray", mapping, a_fabric,
                 "MPICH_RANK_REORDER_METHOD=3 MPICH_RANK_REORDER_FILE=F srun -m block -n 6 "
                 "--ntasks-per-node=3 --cpu-bind=map_cpu:0,1,3 ./program",
                 "order");
  assert_launch ("flux", mapping, a_fabric,
                 "flux run -N 2 -n 6 --taskmap=manual:\"$(cat F)\" -o 'cpu-affinity=map:0;1;3' "
                 "./program",
                 "order");
  assert_launch ("flux", six, a_torus, "flux run -N 2 -n 6 --taskmap=manual:\"$(cat F)\" ./program",
                 "order");
  assert_launch ("erf", mapping, a_fabric, "jsrun --erf_input F ./program", "first host");
  assert_launch ("vcoord", six, a_torus, "mpiexec -n 6 --vcoordfile F ./program", "node=2x3x4");
  assert_launch ("bgp", six, a_torus, "mpirun -np 6 -mode VN -mapfile F ./program", "2x3x4");
  assert_launch ("map", ten, bgq, "runjob --np 10 --ranks-per-node 16 --mapping F : ./program",
                 "2x2x2x2x2");
  assert_launch ("map", six, a_torus, NULL, "Blue Gene");
  assert_launch ("pmi", six, a_torus, NULL, "no launcher");
}

/* A task map is an argument of flux, which may have 128 KiB: 16,384 nodes in descending
 * order take a block each, of 9 bytes or more. */
static void
test_task_map_too_long (void)
{
  g_autoptr (TopoMachine) machine = machine_of ("torus:128x128", 1);
  g_autoptr (TopoMapping) mapping = topo_mapping_new (NULL, machine, 128 * 128, NULL);

  assert_launch ("flux", mapping, machine,
                 "flux run -N 16384 -n 16384 --taskmap=manual:\"$(cat F)\" ./program", "order");
  for (uint32_t rank = 0; rank < mapping->n_ranks; rank++)
    mapping->node[rank] = mapping->n_ranks - 1 - rank;
  assert_launch ("flux", mapping, machine, NULL, "128 KiB");
}

/* A kind is what stands before the first colon, and only if it is one. */
static void
test_kinds_by_name (void)
{
  const char *path = NULL;

  g_assert_true (topo_launcher_named ("cray:a:b", &path) == launcher_of ("cray"));
  g_assert_cmpstr (path, ==, "a:b");
  g_assert_null (topo_launcher_named ("cra:b", &path));
  g_assert_null (topo_launcher_named ("cray", &path));
  g_assert_null (topo_launcher_named (":x", &path));
  g_assert_true (topo_mapping_is_rankfile ("erf:/no/such"));
  g_assert_false (topo_mapping_is_rankfile ("slurm:/no/such"));
  g_assert_false (topo_mapping_is_rankfile ("ABCDET"));
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/topology/launcher/there-and-back", test_written_is_read_back);
  g_test_add_func ("/topology/launcher/other-machines", test_other_machines);
  g_test_add_func ("/topology/launcher/nothing-lost", test_nothing_is_lost);
  g_test_add_func ("/topology/launcher/refusals", test_refusals_say_why);
  g_test_add_func ("/topology/launcher/flux-rfc34", test_flux_as_its_rfc);
  g_test_add_func ("/topology/launcher/flux-forms", test_flux_forms);
  g_test_add_func ("/topology/launcher/pmi", test_pmi);
  g_test_add_func ("/topology/launcher/cray-grid-order", test_cray_as_grid_order_prints);
  g_test_add_func ("/topology/launcher/cray-forms", test_cray_forms);
  g_test_add_func ("/topology/launcher/host-files", test_host_files);
  g_test_add_func ("/topology/launcher/vcoord", test_vcoord);
  g_test_add_func ("/topology/launcher/erf", test_erf);
  g_test_add_func ("/topology/launcher/wrong-files", test_wrong_files);
  g_test_add_func ("/topology/launcher/wrong-coordinates", test_wrong_coordinates);
  g_test_add_func ("/topology/launcher/hosts-of-a-torus", test_hosts_of_a_torus);
  g_test_add_func ("/topology/launcher/hosts-of-a-fabric", test_hosts_of_a_fabric);
  g_test_add_func ("/topology/launcher/wrong-hosts", test_wrong_hosts);
  g_test_add_func ("/topology/launcher/launch-lines", test_launch_lines);
  g_test_add_func ("/topology/launcher/long-task-map", test_task_map_too_long);
  g_test_add_func ("/topology/launcher/kinds-by-name", test_kinds_by_name);
  return g_test_run ();
}
