/* launcher_test.c - every launcher's file there and back; what is refused, and how to launch.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "topology/launcher/launcher_fixture.h"

#include <string.h>

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

/* Four slots a node, so that Blue Gene/P can say it. */
static TopoMachine *
torus (void)
{
  TopoMachine *machine = topo_testing_machine ("torus:3x2x4", 4);

  launcher_fixture_name_hosts (machine);
  return machine;
}

/* Eight cores a node, the slots in ascending order of cores. */
static TopoMachine *
fabric (void)
{
  return topo_testing_machine ("systemg:6", 8);
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
  g_autoptr (TopoMapping) read =
      launcher_fixture_read (kind, text, machine, mapping->n_ranks, &error);
  g_autoptr (TopoMapping) again = NULL;

  g_assert_no_error (error);
  if (!same_places (mapping, read))
    g_error ("%s has become another mapping:\n%s", kind, text);
  if (!is_detected)
    return;
  again = launcher_fixture_read (NULL, text, machine, mapping->n_ranks, &error);
  g_assert_no_error (error);
  g_assert_true (same_places (mapping, again));
}

static void
survive_many (gsize at, const TopoMachine *machine)
{
  for (uint32_t n = 0; n < N_RANDOM; n++) {
    g_autoptr (TopoMapping) mapping = random_mapping (kinds[at].says, machine);
    g_autoptr (GError) error = NULL;
    g_autofree char *text =
        launcher_fixture_find (kinds[at].kind)->print (mapping, machine, &error);
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
  g_autoptr (TopoMachine) bgq = topo_testing_machine ("bgq:32", 16);
  g_autoptr (TopoMachine) scattered = fabric ();

  g_assert_true (topo_machine_set_cores (scattered, "scatter", NULL));
  launcher_fixture_name_hosts (bgq);
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
    g_autofree char *text =
        launcher_fixture_find (kinds[at].kind)->print (mapping, machine, &error);

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

  g_assert_null (launcher_fixture_find (kind)->print (mapping, machine, &error));
  g_assert_error (error, TOPO_ERROR, TOPO_ERROR_RANGE);
  if (strstr (error->message, named) == NULL)
    g_error ("%s: \"%s\" does not say \"%s\"", kind, error->message, named);
}

static void
test_refusals_say_why (void)
{
  g_autoptr (TopoMachine) a_fabric = fabric ();
  g_autoptr (TopoMachine) a_torus = topo_testing_machine ("torus:3x2x4", 8);
  g_autoptr (TopoMachine) bgq = topo_testing_machine ("bgq:32", 4);
  g_autoptr (TopoMapping) mapping = launcher_fixture_read (NULL, "0 1\n0 0\n", a_fabric, 2, NULL);
  g_autoptr (TopoMapping) turns =
      launcher_fixture_read (NULL, "4 0\n5 0\n4 1\n", a_fabric, 3, NULL);
  g_autoptr (TopoMapping) eight = topo_mapping_new (NULL, a_torus, 8, NULL);
  g_autoptr (TopoMapping) line = topo_mapping_new (NULL, a_fabric, 8, NULL);

  assert_not_written ("slurm", mapping, a_fabric, "rank 0 has slot 1 of node0, where 0 lower");
  assert_not_written ("hydra", mapping, a_fabric, "rank 0 has slot 1 of node0");
  assert_not_written ("flux", mapping, a_fabric, "a task map gives nodes only");
  assert_not_written ("hostfile", turns, a_fabric, "rank 2 returns to node4");
  assert_not_written ("cray", turns, a_fabric, "rank 0 is in slot 0 of node 4");
  assert_not_written ("bgp", eight, a_torus, "slot 7");
  assert_not_written ("bgp", eight, bgq, "not a three-dimensional");
  assert_not_written ("vcoord", eight, bgq, "one to three dimensions");
  assert_not_written ("vcoord", line, a_fabric, "one to three dimensions");
  assert_not_written ("slurm", eight, a_torus, "no host names");
  assert_not_written ("hydra", eight, a_torus, "--hosts");
  assert_not_written ("hostfile", eight, a_torus, "no host names");
  assert_not_written ("rankfile", eight, a_torus, "a torus");
  assert_not_written ("erf", eight, a_torus, "a torus");
  g_assert_true (topo_machine_set_cores (a_fabric, "0,4,2,6,1,3,5,7", NULL));
  assert_not_written ("hostfile", line, a_fabric, "slot 1 is core 4, slot 2 core 2");
}

/* --- Launching --- */

static void
assert_launch (const char *kind, const TopoMapping *mapping, const TopoMachine *machine,
               const char *line, const char *note)
{
  g_auto (TopoLaunch) launch = launcher_fixture_find (kind)->launch (mapping, machine, "F");

  g_assert_cmpstr (launch.line, ==, line);
  if (note == NULL)
    g_assert_null (launch.note);
  else
    g_assert_nonnull (strstr (launch.note, note));
}

static void
test_launch_lines (void)
{
  g_autoptr (TopoMachine) a_fabric = topo_testing_machine ("systemg:4", 1);
  g_autoptr (TopoMachine) a_torus = topo_testing_machine ("torus:2x3x4", 4);
  g_autoptr (TopoMachine) bgq = topo_testing_machine ("bgq:32", 16);
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
  g_autoptr (TopoMachine) machine = topo_testing_machine ("torus:128x128", 1);
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

  g_assert_true (topo_launcher_named ("cray:a:b", &path) == launcher_fixture_find ("cray"));
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
  g_test_add_func ("/topology/launcher/launch-lines", test_launch_lines);
  g_test_add_func ("/topology/launcher/long-task-map", test_task_map_too_long);
  g_test_add_func ("/topology/launcher/kinds-by-name", test_kinds_by_name);
  return g_test_run ();
}
