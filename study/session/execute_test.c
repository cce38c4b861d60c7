/* execute_test.c - runs of a plan, whose inputs stay or change.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/session/execute.h"
#include "study/store/store_fixture.h"

#include <glib/gstdio.h>
#include <string.h>

#define HALO "gen:halo2d:iterations=2,grid=4x4,bytes=512"

static const char two_ranks[] = "0 init\n1 init\n0 send 1 3 100 6\n1 recv 0 3 100 6\n"
                                "0 finalize\n1 finalize\n";

static char *folder;

/* Makes a job as a worker does and reads the result as the master does. */
static StudyJobResult
make (StudyBench *bench, guint job)
{
  gboolean spent = FALSE;
  g_autoptr (GBytes) block = study_job_make (bench, job, &spent);
  StudyJobResult result;

  g_assert_true (study_job_read (bench, block, &result));
  g_assert_cmpint (result.row != NULL && !strcmp (result.row->network, "flow"), ==, spent);
  return result;
}

/* The same run by sim_run(). */
static SimRun *
run_by_hand (const char *mapping_text, SimNetworkKind network)
{
  const SimRunOptions options = { .trace_path = HALO, .network = network, .compute_scale = 1 };
  g_autoptr (GError) error = NULL;
  g_autoptr (Trace) trace = trace_open (HALO, NULL, &error);
  g_autoptr (TopoMachine) machine = topo_machine_new ("torus:4x4", &error);
  g_autoptr (TopoMapping) mapping = topo_mapping_new (mapping_text, machine, 16, &error);
  SimRun *made = sim_run (trace, machine, mapping, &options, &error);

  g_assert_no_error (error);
  return made;
}

static void
check_by_hand (StudyBench *bench, guint index, const char *mapping, SimNetworkKind network)
{
  g_auto (StudyJobResult) result = make (bench, index);
  const StudyRow *row = result.row;
  g_autoptr (SimRun) made = run_by_hand (mapping, network);

  g_assert_cmpstr (row->error, ==, NULL);
  g_assert_cmpint (row->status, ==, STUDY_DONE);
  g_assert_false (result.changed);
  g_assert_cmpstr (row->key, ==, made->key);
  g_assert_cmpmem (row->features, sizeof row->features, made->features, sizeof made->features);
  if (network == SIM_NETWORK_PACKET)
    g_assert_cmpfloat (row->time_s, ==, (double) made->result.time_ps / 1e12);
}

static void
test_runs_are_those_made_by_hand (void)
{
  g_autoptr (StudyPlan) plan =
      fixture_plan (folder, "[traces]\ntrace = " HALO "\n[machines]\nmachine = torus:4x4\n"
                            "[mappings]\nmapping = ABT;BAT\n[runs]\nnetwork = packet;load\n");
  g_autoptr (StudyBench) bench = study_bench_new (plan);

  check_by_hand (bench, 0, "ABT", SIM_NETWORK_PACKET);
  check_by_hand (bench, 1, "BAT", SIM_NETWORK_PACKET);
  check_by_hand (bench, 2, "ABT", SIM_NETWORK_LOAD);
  check_by_hand (bench, 3, "BAT", SIM_NETWORK_LOAD);
  check_by_hand (bench, 0, "ABT", SIM_NETWORK_PACKET); /* after others */
}

/* One file of a study changes between runs, and back. */
static void
test_files_that_change (void)
{
  static const char other[] = "0 init\n1 init\n0 send 1 3 999 6\n1 recv 0 3 999 6\n"
                              "0 finalize\n1 finalize\n";
  static const char map[] = "1 0\n0 0\n";
  static const struct {
    const char *file, *text; /* NULL: it is removed */
    guint run;               /* by AT or by the map file */
    const char *words;       /* NULL: it is done */
  } steps[] = {
    { "two.ti", two_ranks, 0, NULL },
    { "two.ti", other, 0, "two.ti: has changed" },
    { "two.ti", two_ranks, 0, NULL },
    { "places.map", map, 1, NULL },
    { "places.map", "0 0\n1 0\n", 1, "places.map: has changed" },
    { "places.map", "0 0\n1 0\n", 0, NULL }, /* the same places by its own right */
    { "places.map", "not a map\n", 1, "places.map" },
    { "places.map", NULL, 1, "places.map" },
    { "two.ti", NULL, 0, "two.ti" },
    { "two.ti", two_ranks, 0, NULL },
  };
  g_autoptr (StudyPlan) plan = NULL;
  g_autoptr (StudyBench) bench = NULL;

  fixture_write (folder, "two.ti", two_ranks);
  fixture_write (folder, "places.map", map);
  plan = fixture_plan (folder, "[traces]\ntrace = two.ti\n[machines]\nmachine = torus:2\n"
                               "[mappings]\nmapping = AT;places.map\n");
  bench = study_bench_new (plan);
  for (gsize at = 0; at < G_N_ELEMENTS (steps); at++) {
    g_autofree char *path = g_build_filename (folder, steps[at].file, NULL);
    g_auto (StudyJobResult) result = { 0 };
    const StudyRow *row;

    g_test_message ("step %zu: %s", at, steps[at].file);
    if (steps[at].text != NULL)
      fixture_write (folder, steps[at].file, steps[at].text);
    else
      g_assert_cmpint (g_unlink (path), ==, 0);
    result = make (bench, steps[at].run);
    row = result.row;
    if (steps[at].words == NULL)
      g_assert_cmpstr (row->error, ==, NULL);
    else {
      g_assert_nonnull (row->error);
      g_assert_nonnull (strstr (row->error, steps[at].words));
    }
    g_assert_cmpint (row->status, ==, steps[at].words == NULL ? STUDY_DONE : STUDY_FAILED);
    g_assert_cmpint (result.changed, ==, steps[at].words != NULL);
  }
}

/* A run that could never be made is no change. */
static void
test_a_run_with_a_problem (void)
{
  g_autoptr (StudyPlan) plan =
      fixture_plan (folder, "[traces]\ntrace = nothing.ti\n[machines]\nmachine = torus:2\n");
  g_autoptr (StudyBench) bench = study_bench_new (plan);
  g_auto (StudyJobResult) result = make (bench, 0), edges = make (bench, 1);
  StudyBenchSize size;

  g_assert_cmpint (result.row->status, ==, STUDY_FAILED);
  g_assert_nonnull (strstr (result.row->error, "nothing.ti"));
  g_assert_false (result.changed);
  g_assert_null (edges.row);
  g_assert_null (edges.edges);
  g_assert_false (study_bench_measure (bench, 0, &size));
}

/* A receive that nobody sends for. */
static void
test_a_trace_that_cannot_end (void)
{
  g_autoptr (StudyPlan) plan = NULL;
  g_autoptr (StudyBench) bench = NULL;
  g_auto (StudyJobResult) result = { 0 };

  fixture_write (folder, "stuck.ti", "0 init\n1 init\n0 recv 1 3 100 6\n0 finalize\n1 finalize\n");
  plan = fixture_plan (folder, "[traces]\ntrace = stuck.ti\n[machines]\nmachine = torus:2\n");
  bench = study_bench_new (plan);
  result = make (bench, 0);
  g_assert_cmpint (result.row->status, ==, STUDY_FAILED);
  g_assert_nonnull (result.row->error);
  g_assert_false (result.changed);
}

/* A placement is sent once, edges whenever they are asked for. */
static void
test_places_and_edges (void)
{
  const SimEdge edges[] = { { 0, 1, 1, 100 } };
  g_autoptr (GBytes) packed = study_store_pack_edges (edges, 1);
  g_autoptr (StudyPlan) plan = NULL;
  g_autoptr (StudyBench) bench = NULL, other = NULL;
  g_autoptr (GBytes) block = NULL;
  gboolean spent = FALSE;

  fixture_write (folder, "two.ti", two_ranks);
  plan = fixture_plan (folder, "[traces]\ntrace = two.ti\n[machines]\nmachine = torus:2\n");
  bench = study_bench_new (plan);
  other = study_bench_new (plan);
  block = study_job_make (other, 0, &spent);
  for (guint time = 0; time < 3; time++) {
    g_auto (StudyJobResult) run = { 0 }, graph = make (bench, 1);

    /* The first is a worker's of its own, which makes the placement known to the master. */
    if (time == 0)
      g_assert_true (study_job_read (bench, block, &run));
    else
      run = make (bench, 0);
    g_assert_cmpint (run.places != NULL, ==, time == 0);
    g_assert_cmpuint (graph.n_edges, ==, 1);
    g_assert_true (g_bytes_equal (graph.edges, packed));
  }
}

/* Messages of one packet each: the estimate is the packets' user data; what the
 * protocol adds, envelopes and acknowledgements, stays below as much again. */
static void
test_packet_hops_are_estimated (void)
{
  g_autoptr (StudyPlan) plan =
      fixture_plan (folder, "[traces]\ntrace = " HALO "\n[machines]\nmachine = torus:4x4\n");
  g_autoptr (StudyBench) bench = study_bench_new (plan);
  g_auto (StudyJobResult) result = make (bench, 0);
  double packet_hops = (double) result.row->packet_hops;
  StudyBenchSize size;

  g_assert_true (study_bench_measure (bench, 0, &size));
  g_assert_cmpfloat (size.load_s, >, 0);
  g_assert_cmpfloat (size.packet_hops, >, 0.5 * packet_hops);
  g_assert_cmpfloat (size.packet_hops, <, 2 * packet_hops);
}

static void
test_shrunk_packet_hops_are_estimated (void)
{
  g_autoptr (StudyPlan) plan =
      fixture_plan (folder, "[traces]\ntrace = gen:halo2d:iterations=1,grid=4x4,bytes=65536\n"
                            "[machines]\nmachine = torus:4x4\n[runs]\nshrink = off;8\n");
  g_autoptr (StudyBench) bench = study_bench_new (plan);

  g_assert_cmpuint (plan->runs->len, ==, 2);
  for (guint run = 0; run < 2; run++) {
    g_auto (StudyJobResult) result = make (bench, run);
    double packet_hops = (double) result.row->packet_hops;
    StudyBenchSize size;

    g_assert_true (study_bench_measure (bench, run, &size));
    g_assert_cmpuint (result.row->shrink_factor, ==, run == 0 ? 1 : 8);
    g_assert_cmpfloat (size.packet_hops, >, 0.8 * packet_hops);
    g_assert_cmpfloat (size.packet_hops, <, 1.25 * packet_hops);
  }
}

#ifdef HAVE_SIMGRID
static void
test_a_flow_run_spends_the_process (void)
{
  g_autoptr (StudyPlan) plan =
      fixture_plan (folder, "[traces]\ntrace = " HALO "\n[machines]\n"
                            "machine = torus:4x4\n[runs]\nnetwork = flow\n");
  g_autoptr (StudyBench) bench = study_bench_new (plan);
  g_auto (StudyJobResult) result = make (bench, 0); /* looks at that */

  g_assert_cmpint (result.row->status, ==, STUDY_DONE);
}
#endif

int
main (int argc, char **argv)
{
  int status;

  g_test_init (&argc, &argv, NULL);
  folder = fixture_folder ();
  g_test_add_func ("/study/execute/by-hand", test_runs_are_those_made_by_hand);
  g_test_add_func ("/study/execute/files-change", test_files_that_change);
  g_test_add_func ("/study/execute/problem", test_a_run_with_a_problem);
  g_test_add_func ("/study/execute/stuck", test_a_trace_that_cannot_end);
  g_test_add_func ("/study/execute/places-and-edges", test_places_and_edges);
  g_test_add_func ("/study/execute/packet-hops", test_packet_hops_are_estimated);
  g_test_add_func ("/study/execute/shrunk-hops", test_shrunk_packet_hops_are_estimated);
#ifdef HAVE_SIMGRID
  g_test_add_func ("/study/execute/flow", test_a_flow_run_spends_the_process);
#endif
  status = g_test_run ();
  fixture_remove (folder);
  return status;
}
