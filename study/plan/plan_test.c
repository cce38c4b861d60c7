/* plan_test.c - study files, good and bad, and the runs that they ask for.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/store/store_fixture.h"

#include <string.h>

static char *folder, *path;

/* "trace | machine | mapping | network ..." of each run, by lines. */
static char *
listing (const StudyPlan *plan)
{
  GString *text = g_string_new (NULL);

  for (guint at = 0; at < plan->runs->len; at++) {
    g_autoptr (StudyRow) row = study_plan_row (plan, at);

    g_string_append_printf (text, "%s | %s | %s | %s %s %g %u", row->trace, row->machine,
                            row->mapping, row->network, row->routing, row->compute_scale,
                            (guint) row->seed);
    if (row->replica > 0)
      g_string_append_printf (text, " replica %u", row->replica);
    if (strcmp (row->shrink, "off") != 0)
      g_string_append_printf (text, " shrink %s", row->shrink);
    g_string_append_c (text, '\n');
  }
  return g_string_free (text, FALSE);
}

static const StudyPlanRun *
run_at (const StudyPlan *plan, guint at)
{
  return g_ptr_array_index (plan->runs, at);
}

static const TopoMachine *
machine_of (const StudyPlan *plan, guint at)
{
  const StudyMachine *machine = g_ptr_array_index (plan->machines, run_at (plan, at)->machine);

  return machine->machine;
}

#define HALO "gen:halo2d:iterations=2,grid=4x4"
#define LONG "gen:halo2d:iterations=2,grid=2x8"
#define RING "gen:ring:iterations=1,ranks="

static void
test_runs (void)
{
  static const struct {
    const char *name, *file, *runs;
  } cases[] = {
    { "defaults", "[traces]\ntrace = " HALO "\n[machines]\nmachine = torus:4x4\n",
      HALO " | torus:4x4 | ABT | packet default 1 0\n" },
    { "cross product",
      "[traces]\ntrace = " HALO "; " LONG " \ncompute-scale = 1;0.5\n"
      "[machines]\nmachine = torus:4x4\n"
      "[mappings]\nmapping = default;BAT\n[runs]\nnetwork = packet;load\nseed = 5\n",
#define BOTH_MAPPINGS(trace, rest) \
  trace " | torus:4x4 | ABT | " rest "\n" trace " | torus:4x4 | BAT | " rest "\n"
#define ALL_RUNS(trace)                         \
  BOTH_MAPPINGS (trace, "packet default 1 5")   \
  BOTH_MAPPINGS (trace, "packet default 0.5 5") \
  BOTH_MAPPINGS (trace, "load default 1 5") BOTH_MAPPINGS (trace, "load default 0.5 5")
      ALL_RUNS (HALO) ALL_RUNS (LONG) },
    /* Of the load network, which has no packets and no time, there is one run. */
    { "replicas and shrunk messages",
      "[traces]\ntrace = " HALO "\n[machines]\nmachine = torus:4x4\n"
      "[runs]\nnetwork = packet;load\nshrink = off;4\nreplicas = 2\nseed = 5\n",
      HALO " | torus:4x4 | ABT | packet default 1 5\n" HALO
           " | torus:4x4 | ABT | packet default 1 6 replica 1\n" HALO
           " | torus:4x4 | ABT | packet default 1 5 shrink 4\n" HALO
           " | torus:4x4 | ABT | packet default 1 6 replica 1 shrink 4\n" HALO
           " | torus:4x4 | ABT | load default 1 5\n" },
    { "settings",
      "[traces]\ntrace = " HALO "\n[machines]\nmachine = torus:4x4\nset = "
      "link.hop_latency=50ns\nranks-per-node=1;2\n[mappings]\nmapping = BAT;BAT\n"
      "[runs]\nrouting = deterministic\n",
      HALO " | torus:4x4 ranks-per-node=1 link.hop_latency=50ns | BAT | packet "
           "deterministic 1 0\n" HALO
           " | torus:4x4 ranks-per-node=2 link.hop_latency=50ns | BAT | packet "
           "deterministic 1 0\n" },
    /* They share the making of their mappings, not their places in the list. */
    { "traces of the same number of ranks",
      "[traces]\ntrace = " RING "2;" RING "4;" RING "2,bytes=8;none;" RING "4,bytes=8\n"
      "[machines]\nmachine = torus:4\n[mappings]\nmapping = default;AT\n",
      RING "2 | torus:4 | AT | packet default 1 0\n" RING
           "4 | torus:4 | AT | packet default 1 0\n" RING
           "2,bytes=8 | torus:4 | AT | packet default 1 0\n"
           "none | torus:4 | default | packet default 1 0\n"
           "none | torus:4 | AT | packet default 1 0\n" RING
           "4,bytes=8 | torus:4 | AT | packet default 1 0\n" },
    { "a name has one value in all texts of a run",
      "[traces]\ntrace = gen:halo2d:iterations=2,grid={n}\n"
      "[machines]\nmachine = torus:{n};torus:16\n[n]\nvalues = 4x4 ; 2x8\n",
      HALO " | torus:4x4 | ABT | packet default 1 0\n" HALO
           " | torus:16 | AT | packet default 1 0\n" LONG
           " | torus:2x8 | ABT | packet default 1 0\n" LONG
           " | torus:16 | AT | packet default 1 0\n" },
    { "{seed} is that of the repetition",
      "[traces]\ntrace = " HALO "\n[machines]\nmachine = torus:4x4\n"
      "[mappings]\nmapping = default;random({seed})\n"
      "[runs]\nrepetitions = 2\nseed = 7\nnetwork=load\n",
      HALO " | torus:4x4 | ABT | load default 1 7\n" HALO
           " | torus:4x4 | random(7) | load default 1 7\n" HALO
           " | torus:4x4 | ABT | load default 1 8\n" HALO
           " | torus:4x4 | random(8) | load default 1 8\n" },
  };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autoptr (StudyPlan) plan = NULL;
    g_autofree char *found = NULL;

    g_test_message ("%s", cases[at].name);
    plan = fixture_plan (folder, cases[at].file);
    found = listing (plan);
    g_assert_cmpstr (found, ==, cases[at].runs);
  }
}

static void
test_families_and_files (void)
{
  g_autoptr (StudyPlan) plan = NULL;
  const char *last;

  fixture_write (folder, "BAT", "no map, but a file");
  fixture_write (folder, "list", "# mine\n\nBAT\n  map.txt  \nslurm:map.txt\n");
  fixture_write (folder, "map.txt", "0 0 0\n1 0 0\n0 1 0\n1 1 0\n");
  plan = fixture_plan (
      folder,
      "[traces]\ntrace = gen:halo2d:iterations=2,grid=2x2\n[machines]\nmachine = torus:2x2\n"
      "ranks-per-node = 1\n[mappings]\nfile = list\nfamily = permutations\n");
  g_assert_cmpuint (plan->runs->len, >=, 3);
  g_assert_cmpstr (run_at (plan, 0)->mapping, ==, "BAT");
  g_assert_cmpstr (run_at (plan, 1)->mapping, ==, "map.txt");
  g_assert_true (g_str_has_suffix (run_at (plan, 1)->mapping_path, "/map.txt"));
  for (guint at = 0; at < 2; at++)
    g_assert_cmpstr (run_at (plan, at)->problem, ==, NULL);
  last = run_at (plan, 2)->mapping_path;
  g_assert_true (g_str_has_prefix (last, "slurm:/"));
  g_assert_true (g_str_has_suffix (last, "/map.txt"));
}

/* As `simulate` finds it, whose record has the key. */
static char *
key_of_run (const char *trace_path, TopoMachine *machine, const char *mapping_text,
            const SimRunOptions *options)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Trace) trace = trace_open (trace_path, NULL, &error);
  g_autoptr (TopoMapping) mapping =
      topo_mapping_new (mapping_text, machine, trace_ranks (trace), &error);
  g_autoptr (SimRun) run = sim_run (trace, machine, mapping, options, &error);

  g_assert_no_error (error);
  return g_strdup (run->key);
}

static void
test_keys_are_those_of_runs (void)
{
  g_autoptr (StudyPlan) plan = fixture_plan (
      folder, "[traces]\ntrace = " HALO "\ncompute-scale = 0.5\n[machines]\n"
              "machine = torus:4x4;systemg:4\nranks-per-node = 4\n"
              "set = mpi.send_overhead=300ns\n[mappings]\nmapping = default\n"
              "[runs]\nnetwork = load;packet\nrouting = default;deterministic\nseed = 3\n");
  static const char *const specs[] = { "torus:4x4", "systemg:4" };

  g_assert_cmpuint (plan->runs->len, ==, 8);
  for (guint at = 0; at < 8; at++) {
    const StudyPlanRun *run = run_at (plan, at);
    g_autoptr (TopoMachine) machine = topo_machine_new (specs[at / 4], NULL);
    const SimRunOptions options = {
      .network = run->network, .policy = run->policy, .compute_scale = 0.5, .seed = 3
    };
    g_autofree char *key = NULL;

    g_assert_true (topo_machine_set_ranks_per_node (machine, 4, NULL));
    g_assert_true (topo_parameters_set (&machine->parameters, "mpi.send_overhead", "300ns", NULL));
    key = key_of_run (HALO, machine, NULL, &options);
    g_assert_cmpstr (run->key, ==, key);
    g_assert_null (run->problem);
  }
}

/* --- Failures --- */

/* Leaves have nodes at ports 1 and 2, a cable to each spine at 3 and 4. */
#define SMALL "fattree:2x2:2"

/* The names of the machines of all runs, which have one mapping, between "; ". */
static char *
machines_of (const StudyPlan *plan)
{
  GString *names = g_string_new (NULL);

  for (guint at = 0; at < plan->runs->len; at++) {
    const StudyMachine *machine = g_ptr_array_index (plan->machines, run_at (plan, at)->machine);

    g_string_append_printf (names, "%s%s", at > 0 ? "; " : "", machine->text);
  }
  return g_string_free (names, FALSE);
}

static StudyPlan *
plan_without (const char *machine, const char *failures)
{
  g_autofree char *text = g_strdup_printf ("[traces]\ntrace = " RING "2\n[machines]\n"
                                           "machine = %s\nfailures = %s\n[runs]\nnetwork = load\n",
                                           machine, failures);

  return fixture_plan (folder, text);
}

static void
test_failures (void)
{
#define LESS(part) SMALL " failed=" part
  static const struct {
    const char *machine, *failures, *machines, *line;
  } cases[] = {
    { SMALL, "cables",
      SMALL "; " LESS ("leaf0:3") "; " LESS ("leaf0:4") "; " LESS ("leaf1:3") "; " LESS ("leaf1:4"),
      "cables on " SMALL ": 4 of 4" },
    { SMALL, "cables every 2", SMALL "; " LESS ("leaf0:3") "; " LESS ("leaf1:3"),
      "cables every 2 on " SMALL ": 2 of 4" },
    { SMALL, "cables sample 9",
      SMALL "; " LESS ("leaf0:3") "; " LESS ("leaf0:4") "; " LESS ("leaf1:3") "; " LESS ("leaf1:4"),
      "cables sample 9 on " SMALL ": 4 of 4" },
    { SMALL, "switches",
      SMALL "; " LESS ("leaf0") "; " LESS ("leaf1") "; " LESS ("spine0") "; " LESS ("spine1"),
      "switches on " SMALL ": 4 of 4" },
    { SMALL, "nodes",
      SMALL "; " LESS ("node0") "; " LESS ("node1") "; " LESS ("node2") "; " LESS ("node3"),
      "nodes on " SMALL ": 4 of 4" },
    /* The end that matches names the cable; a part is out once. */
    { SMALL, "spine*;  spine1:? ;spine1",
      SMALL "; " LESS ("spine0") "; " LESS ("spine1") "; " LESS ("spine1:1") "; " LESS ("spine1:2"),
      "spine* on " SMALL ": 2 of 2" },
    { SMALL, "leaf?:3 1x", SMALL "; " SMALL " degraded=leaf0:3 1x; " SMALL " degraded=leaf1:3 1x",
      "leaf?:3 1x on " SMALL ": 2 of 2" },
    /* What is out already stays out. */
    { SMALL ",failed=spine1,routes=updn", "cables",
      SMALL ",failed=spine1,routes=updn; " SMALL ",failed=spine1,routes=updn failed=leaf0:3; " SMALL
            ",failed=spine1,routes=updn failed=leaf1:3",
      "cables on " SMALL ",failed=spine1,routes=updn: 2 of 2" },
    /* Cables with no more lanes are not degraded. */
    { SMALL ",degraded=leaf0:3 1x", "cables 1x sample 3 seed 5",
      SMALL ",degraded=leaf0:3 1x; " SMALL ",degraded=leaf0:3 1x degraded=leaf0:4 1x; " SMALL
            ",degraded=leaf0:3 1x degraded=leaf1:3 1x; " SMALL
            ",degraded=leaf0:3 1x degraded=leaf1:4 1x",
      "cables 1x sample 3 seed 5 on " SMALL ",degraded=leaf0:3 1x: 3 of 3" },
  };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autoptr (StudyPlan) plan = plan_without (cases[at].machine, cases[at].failures);
    g_autofree char *found = machines_of (plan);

    g_test_message ("%s", cases[at].failures);
    g_assert_cmpstr (found, ==, cases[at].machines);
    g_assert_cmpstr (g_ptr_array_index (plan->failures, 0), ==, cases[at].line);
  }
}

/* A run is that on a machine whose spec has the part, so that `simulate` makes it again. */
static void
test_failures_are_machines (void)
{
  static const char *const specs[] = { SMALL ",failed=spine1", SMALL ",failed=spine1+leaf0:3",
                                       SMALL ",failed=spine1,degraded=leaf1:3 2x" };
  g_autoptr (StudyPlan) plan = plan_without (SMALL ",failed=spine1", "leaf0:3;leaf1:3 2x");

  fixture_write (folder, "m.conf", "[machine]\nspec = " SMALL "\nfailed = spine1\n");
  for (int of_file = 0; of_file < 2; of_file++) {
    g_assert_cmpuint (plan->runs->len, ==, 3);
    for (guint at = 0; at < 3; at++) {
      const SimRunOptions options = { .network = SIM_NETWORK_LOAD, .compute_scale = 1 };
      g_autoptr (GError) error = NULL;
      g_autoptr (TopoMachine) machine = topo_machine_new (specs[at], &error);
      g_autofree char *key = NULL;
      g_autoptr (StudyRow) row = study_plan_row (plan, at);

      g_assert_no_error (error);
      key = key_of_run (RING "2", machine, NULL, &options);
      g_assert_cmpstr (run_at (plan, at)->key, ==, key);
      g_assert_cmpuint (row->nodes, ==, 4);
    }
    study_plan_free (plan);
    plan = plan_without ("m.conf", "leaf0:3;leaf1:3 2x");
  }
}

/* The same lot every time, in the order of the fabric; another seed, another lot. */
static void
test_samples_of_failures (void)
{
  g_autoptr (StudyPlan) plan = plan_without ("fattree:8x8", "cables sample 5 seed 1");
  g_autoptr (StudyPlan) again = plan_without ("fattree:8x8", "cables sample 5 seed 1");
  g_autoptr (StudyPlan) other = plan_without ("fattree:8x8", "cables sample 5");
  g_autoptr (StudyPlan) all = plan_without ("fattree:8x8", "cables");
  g_autofree char *names = machines_of (plan), *names_again = machines_of (again),
                  *names_of_other = machines_of (other), *names_of_all = machines_of (all);
  g_auto (GStrv) list = g_strsplit (names, "; ", -1);
  const char *from = names_of_all;

  g_assert_cmpuint (plan->runs->len, ==, 6);
  g_assert_cmpuint (all->runs->len, ==, 65);
  g_assert_cmpstr (names, ==, names_again);
  g_assert_cmpstr (names, !=, names_of_other);
  for (guint at = 0; list[at] != NULL; at++) {
    from = strstr (from, list[at]);
    g_assert_nonnull (from);
  }
}

/* A job that does not run is what the study is to find, whatever the file leaves out. */
static void
test_unfit_by_failures (void)
{
  g_autoptr (StudyPlan) plan =
      fixture_plan (folder, "[traces]\ntrace = " RING "4\n[machines]\nmachine = " SMALL
                            "\nfailures = leaf0;leaf1:2\n"
                            "[mappings]\nskip-unfit = true\n[runs]\nnetwork = load\n");

  g_assert_cmpuint (plan->runs->len, ==, 3);
  g_assert_cmpstr (run_at (plan, 0)->problem, ==, NULL);
  for (guint at = 0; at < 3; at++)
    g_assert_cmpstr (run_at (plan, at)->mapping, ==, "AT");
  g_assert_nonnull (strstr (run_at (plan, 1)->problem, "places for 1 to 2"));
  g_assert_nonnull (strstr (run_at (plan, 2)->problem, "it is the only cable of node3"));
  g_assert_cmpuint (plan->unfit->len, ==, 1);
  g_assert_false (((const StudyUnfit *) g_ptr_array_index (plan->unfit, 0))->is_left_out);
}

static void
test_wrong_failures (void)
{
  static const char *const cases[][3] = {
    { "torus:4", "cables", "torus:4 is a torus" },
    { SMALL, "cable", "\"cable\" is no part of " SMALL "; did you mean cables?" },
    { SMALL, "leaf9:*", "\"leaf9:*\" is no part of" },
    { SMALL, "cables 8x", "\"cables 8x\": no cable of " SMALL " has more lanes" },
  };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (StudyPlan) plan = NULL;
    g_autofree char *text = g_strdup_printf ("[traces]\ntrace = " RING "2\n[machines]\n"
                                             "machine = %s\nfailures = %s\n",
                                             cases[at][0], cases[at][1]);

    fixture_write (folder, "a.study", text);
    plan = study_plan_load (path, &error);
    g_assert_no_error (error);
    g_assert_false (study_plan_resolve (plan, NULL, NULL, &error));
    g_test_message ("%s", error->message);
    g_assert_nonnull (strstr (error->message, "a.study:5: machines.failures: "));
    g_assert_nonnull (strstr (error->message, cases[at][2]));
  }
}

/* A rankfile takes any core; switches that choose do not when the routing is told. */
static void
test_variants_of_machines (void)
{
  g_autoptr (StudyPlan) plan = NULL;
  g_autoptr (StudyRow) first = NULL, second = NULL, third = NULL;
  const StudyMachine *machine;

  fixture_write (folder, "ranks",
                 "rank 0=+n0 slot=0\nrank 1=+n0 slot=5\nrank 2=+n1 slot=1\n"
                 "rank 3=+n3 slot=2\n");
  plan = fixture_plan (
      folder,
      "[traces]\ntrace = gen:halo2d:iterations=2,grid=2x2\n[machines]\nmachine = systemg:4\n"
      "ranks-per-node = 2\nset = switch.adaptive=free\n"
      "[mappings]\nmapping = default;ranks\n"
      "[runs]\nrouting = default;deterministic\n");
  g_assert_cmpuint (plan->runs->len, ==, 4);
  first = study_plan_row (plan, 0);
  second = study_plan_row (plan, 1);
  third = study_plan_row (plan, 2);
  g_assert_cmpstr (second->error, ==, NULL);
  g_assert_cmpuint (first->ranks_per_node, ==, 2);
  g_assert_cmpuint (second->ranks_per_node, ==, 8);
  g_assert_cmpstr (first->machine, ==, second->machine);
  g_assert_cmpstr (first->machine_hash, !=, second->machine_hash);
  g_assert_cmpstr (first->machine_hash, !=, third->machine_hash);
  machine = g_ptr_array_index (plan->machines, run_at (plan, 2)->machine);
  g_assert_cmpuint (machine->machine->parameters.switches.adaptive, ==, TOPO_ADAPTIVE_NONE);
  g_assert_cmpuint (plan->machines->len, ==, 4);
}

/* What cannot be opened or made is a run with a problem, the others are as they were. */
static void
test_problems (void)
{
  g_autoptr (StudyPlan) plan = fixture_plan (
      folder, "[traces]\ntrace = " HALO ";no-such-trace\n[machines]\n"
              "machine = torus:4x4;torus:4y4;torus:2\n[mappings]\nmapping = default;BAT;ABCT\n"
              "family = sc13-shared\n[runs]\nrouting = zone1\nnetwork=load\n");
  g_autoptr (GHashTable) keys = g_hash_table_new (g_str_hash, g_str_equal);
  guint n_trace = 0, n_machine = 0;

  for (guint at = 0; at < plan->runs->len; at++) {
    g_autoptr (StudyRow) row = study_plan_row (plan, at);

    g_assert_nonnull (row->error);
    g_assert_null (row->mapping_hash);
    g_assert_cmpuint (strlen (row->key), ==, 64);
    g_assert_true (g_hash_table_add (keys, run_at (plan, at)->key));
    n_trace += strstr (row->error, "no-such-trace") != NULL;
    n_machine += strstr (row->error, "4y4") != NULL;
  }
  g_assert_cmpuint (n_trace, ==, 3 * 4);
  g_assert_cmpuint (n_machine, ==, 4);
}

/* "mapping | machine x runs" of what does not fit, by lines, "left out" behind it. */
static void
assert_unfit (const StudyPlan *plan, const char *expected)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint at = 0; at < plan->unfit->len; at++) {
    const StudyUnfit *unfit = g_ptr_array_index (plan->unfit, at);

    g_assert_cmpstr (unfit->problem, !=, "");
    g_string_append_printf (text, "%s | %s x %u%s\n", unfit->mapping, unfit->machine, unfit->n_runs,
                            unfit->is_left_out ? " left out" : "");
  }
  g_assert_cmpstr (text->str, ==, expected);
}

/* Four ranks are too many for torus:2, BAT has too many dimensions for torus:4, ABCTT fits
 * nowhere, and a trace that is not there is another trouble. */
static void
test_unfit (void)
{
#define MISFITS                                                                                \
  "[traces]\ntrace = gen:ring:ranks=4;none\n[machines]\nmachine = torus:2x2;torus:4;torus:2\n" \
  "[runs]\nnetwork = load\nrepetitions = 2\n[mappings]\nmapping = default;BAT;ABCTT\n"
  g_autoptr (StudyPlan) all = fixture_plan (folder, MISFITS), fitting = NULL;

  g_assert_cmpuint (all->runs->len, ==, 2 * 3 * 3 * 2);
  assert_unfit (all, "ABCTT | torus:2x2 x 2\n"
                     "BAT | torus:4 x 2\nABCTT | torus:4 x 2\n"
                     "default | torus:2 x 2\nBAT | torus:2 x 2\nABCTT | torus:2 x 2\n");
  fitting = fixture_plan (folder, MISFITS "skip-unfit = true\n");
  assert_unfit (fitting, "ABCTT | torus:2x2 x 2\n"
                         "BAT | torus:4 x 2 left out\nABCTT | torus:4 x 2\n"
                         "default | torus:2 x 2 left out\nBAT | torus:2 x 2 left out\n"
                         "ABCTT | torus:2 x 2\n");
  g_assert_cmpuint (fitting->runs->len, ==, all->runs->len - 3 * 2);
  for (guint at = 0; at < fitting->runs->len; at++) {
    const StudyPlanRun *run = run_at (fitting, at);

    g_assert_true (run->problem == NULL || run->trace == 1 || !strcmp (run->mapping, "ABCTT"));
  }
}

/* A machine without room for the ranks has no members of the family. */
static void
test_unfit_family (void)
{
#define FAMILY                                                                                  \
  "[traces]\ntrace = gen:ring:ranks=512\n[mappings]\nfamily = sc13-shared\nskip-unfit = true\n" \
  "[machines]\nranks-per-node = 16\nmachine = bgq:32"
  g_autoptr (StudyPlan) both = fixture_plan (folder, FAMILY ";torus:16\n"),
                        one = fixture_plan (folder, FAMILY "\n");

  g_assert_cmpuint (one->runs->len, >, 1);
  g_assert_cmpuint (both->runs->len, ==, one->runs->len);
  assert_unfit (one, "");
  assert_unfit (both, "family sc13-shared | torus:16 x 1 left out\n");
}

/* A map file that changed is another run. */
static void
test_changed_map (void)
{
  static const char *const study =
      "[traces]\ntrace = gen:halo2d:iterations=2,grid=2x2\n[machines]\n"
      "machine = torus:2x2\n[mappings]\nmapping = m\n";
  g_autoptr (StudyPlan) before = NULL, after = NULL, again = NULL;
  const StudyPlanRun *runs[3];

  fixture_write (folder, "m", "0 0 0\n0 1 0\n1 0 0\n1 1 0\n");
  before = fixture_plan (folder, study);
  fixture_write (folder, "m", "0 0 0\n0 1 0\n1 1 0\n1 0 0\n");
  after = fixture_plan (folder, study);
  fixture_write (folder, "m", "# the same as first\n0 0 0\n0 1 0\n1 0 0\n1 1 0\n");
  again = fixture_plan (folder, study);
  runs[0] = run_at (before, 0);
  runs[1] = run_at (after, 0);
  runs[2] = run_at (again, 0);
  g_assert_null (runs[0]->problem);
  g_assert_cmpstr (runs[0]->key, !=, runs[1]->key);
  g_assert_cmpstr (runs[0]->mapping_hash, !=, runs[1]->mapping_hash);
  g_assert_cmpstr (runs[0]->key, ==, runs[2]->key);
}

static void
test_names_and_mappings (void)
{
  g_autoptr (StudyPlan) plan =
      fixture_plan (folder, "[study]\nname = demo\nstore = kept.store\n[traces]\n"
                            "trace = gen:halo2d:iterations=2,grid=2x2\n"
                            "[machines]\nmachine = torus:2x2\n[mappings]\nmapping = default;BAT\n");
  g_autoptr (TopoMapping) mapping = NULL;
  g_autoptr (GError) error = NULL;

  g_assert_cmpstr (plan->name, ==, "demo");
  g_assert_true (g_str_has_suffix (plan->store_path, "/kept.store"));
  mapping = study_plan_mapping (plan, 1, machine_of (plan, 1), &error);
  g_assert_no_error (error);
  g_assert_cmpuint (mapping->node[1], ==, 2);
  study_plan_free (plan);
  plan =
      fixture_plan (folder, "[traces]\ntrace = gen:ring:ranks=4\n[machines]\nmachine = torus:2\n");
  g_assert_cmpstr (plan->name, ==, "a");
  g_assert_true (g_str_has_suffix (plan->store_path, "/a.store"));
  g_assert_null (study_plan_mapping (plan, 0, machine_of (plan, 0), &error));
  g_assert_nonnull (strstr (error->message, "4 ranks"));
}

/* Values of four names that no memory would hold. */
static void
test_too_many (void)
{
  g_autoptr (GString) text =
      g_string_new ("[traces]\ntrace = {a}{b}{c}{d}\n[machines]\nmachine = m\n");
  g_autoptr (GError) error = NULL;

  for (char name = 'a'; name <= 'd'; name++) {
    g_string_append_printf (text, "[%c]\nvalues = ", name);
    for (int value = 0; value < 1000; value++)
      g_string_append_printf (text, "%d;", value);
    g_string_append_c (text, '\n');
  }
  fixture_write (folder, "a.study", text->str);
  g_assert_null (study_plan_load (path, &error));
  g_assert_nonnull (strstr (error->message, ":2: traces.trace: the values of its {names} make"));
}

static void
test_bad_files (void)
{
#define GOOD "[traces]\ntrace = t\n[machines]\nmachine = m\n"
  static const char *const cases[][2] = {
    { "", "no trace in [traces]" },
    { "[traces]\ntrace=t\n", "no machine in [machines]" },
    { "trace = t\n", ":1: expected [group]" },
    { GOOD "[machine]\nx = 1\n", ":5: unknown group \"machine\", which has no values either; did "
                                 "you mean \"machines\"?" },
    { GOOD "[runs]\nnetworks = load\n",
      ":6: unknown key \"networks\" in [runs]; did you mean \"network\"?" },
    { GOOD "[runs]\nxyzzy = load\n", "known are network, routing" },
    { GOOD "[runs]\nnetwork = fast\n", ":6: runs.network: \"fast\" is none of packet, flow, load" },
    { GOOD "[runs]\nrouting = zone9\n", "\"zone9\" is none of" },
    { GOOD "[runs]\nrepetitions = 0\n", ":6: runs.repetitions: expected 1 to" },
    { GOOD "[runs]\nseed = -1\n", "found \"-1\"" },
    { GOOD "[runs]\nkeep-links = yes\n", "expected true or false, found \"yes\"" },
    { "[traces]\ntrace = t\ncompute-scale = 1;-2\n[machines]\nmachine = m\n", "found \"-2\"" },
    { "[traces]\ntrace = t\n[machines]\nmachine = m\nranks-per-node = 257\n",
      ":5: machines.ranks-per-node: expected 1 to 256, found \"257\"" },
    { "[traces]\ntrace = t\n[machines]\nmachine = m\npattern = 0\n",
      "expected 1 to 2147483647, found \"0\"" },
    { "[traces]\ntrace = t{size}\n[machines]\nmachine = m\n[sizes]\nvalues=1\n",
      ":2: traces.trace: {size}: there is no group [size]; did you mean {sizes}?" },
    { GOOD "[mappings]\nmapping = {abc}\n", ":6: mappings.mapping: {abc}: there is no group" },
    { GOOD "[size]\nvalues = 1;2\n", ":6: size.values: no trace, machine or mapping names {size}" },
    { GOOD "[size]\nvalues = ;\n", "size.values: is empty" },
    { GOOD "[seed]\nvalues = 1\n", "set runs.seed" },
#define FAILURES "[traces]\ntrace = t\n[machines]\nmachine = m\nfailures = "
    { FAILURES "cables every 0\n", ":5: machines.failures: expected cables, switches, nodes" },
    { FAILURES "cables every x\n", "found \"cables every x\"" },
    { FAILURES "cables; cables sample -1\n", "found \"cables sample -1\"" },
    { FAILURES "cables seed 4\n", "found \"cables seed 4\"" },
    { FAILURES "cables sample 4 seed 1.5\n", "machines.failures" },
    { FAILURES "cables every 2 sample 4\n", "machines.failures" },
    { FAILURES "switches 1x\n", "found \"switches 1x\"" },
    { FAILURES "cables sample 99999999999\n", "machines.failures" },
    { GOOD "[size]\nvalues = 1\nmore = 2\n", "unknown key \"more\" in [size]" },
    { GOOD "[mappings]\nfile = nowhere\n", ":6: mappings.file: " },
    /* Two bad escapes are one error. */
    { GOOD "[size]\nvalues = 1;a\\x\n", "size.values: " },
    { GOOD "[size]\nvalues = \\x\\\n", "has a backslash that is none of" },
    { GOOD "[traces]\ntrace = u\n", ":6: \"trace\" is set twice" },
  };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (StudyPlan) plan = NULL;

    fixture_write (folder, "a.study", cases[at][0]);
    plan = study_plan_load (path, &error);
    g_assert_null (plan);
    g_assert_nonnull (error);
    g_test_message ("%s", error->message);
    g_assert_nonnull (strstr (error->message, "a.study"));
    g_assert_nonnull (strstr (error->message, cases[at][1]));
  }
}

/* A text is not left out for a backslash. */
static void
test_backslashes (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (StudyPlan) plan = NULL;

  fixture_write (folder, "a.study", "[study]\nname = a\\x\\;b\nstore = a\\\\b\n" GOOD);
  plan = study_plan_load (path, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (plan->name, ==, "a\\x\\;b");
  g_assert_true (g_str_has_suffix (plan->store_path, "/a\\b"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name, test) fixture_add_test (name, test, "a.study", &folder, &path)
  ADD ("/plan/runs", test_runs);
  ADD ("/plan/families-and-files", test_families_and_files);
  ADD ("/plan/keys-are-those-of-runs", test_keys_are_those_of_runs);
  ADD ("/plan/failures", test_failures);
  ADD ("/plan/failures-are-machines", test_failures_are_machines);
  ADD ("/plan/samples-of-failures", test_samples_of_failures);
  ADD ("/plan/unfit-by-failures", test_unfit_by_failures);
  ADD ("/plan/wrong-failures", test_wrong_failures);
  ADD ("/plan/variants-of-machines", test_variants_of_machines);
  ADD ("/plan/problems", test_problems);
  ADD ("/plan/unfit", test_unfit);
  ADD ("/plan/unfit-family", test_unfit_family);
  ADD ("/plan/changed-map", test_changed_map);
  ADD ("/plan/names-and-mappings", test_names_and_mappings);
  ADD ("/plan/bad-files", test_bad_files);
  ADD ("/plan/too-many", test_too_many);
  ADD ("/plan/backslashes", test_backslashes);
  return g_test_run ();
}
