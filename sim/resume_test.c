/* resume_test.c - runs that are saved and resumed: traces of every format, patterns, files that are not right.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Programs of every kind of call are in sim/replay/replay_mix_test.c and in the tables of its
 * siblings, networks of all parameters in sim/net/torus_test.c and ib_random_test.c. */
#include "sim/resume_testing.h"

#include ".ci/test_data.h"
#include "base/error.h"
#include "traces/trace_testing.h"

#include <glib/gstdio.h>
#include <string.h>
#include <zlib.h>

/* --- Traces --- */

/* rules: [mpi] collectives; NULL: those of the machine. */
static void
check_trace_by (const char *path, const char *spec, RoutePolicy policy, uint32_t windows,
                const char *rules)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Trace) trace = trace_open (path, NULL, &error);
  g_autoptr (TopoMachine) machine = NULL;
  g_autoptr (TopoMapping) mapping = NULL;
  SimRunOptions options = {
    .policy = policy, .compute_scale = 1, .critical_path = true, .windows_per_pause = windows
  };
  uint32_t n_nodes;

  g_assert_no_error (error);
  machine = topo_machine_new (spec, &error);
  g_assert_no_error (error);
  if (rules != NULL)
    topo_parameters_set (&machine->parameters, "mpi.collectives", rules, &error);
  g_assert_no_error (error);
  n_nodes = topo_shape_nodes (&machine->shape);
  topo_machine_set_ranks_per_node (machine, (trace_ranks (trace) + n_nodes - 1) / n_nodes, &error);
  g_assert_no_error (error);
  mapping = topo_mapping_new (NULL, machine, trace_ranks (trace), &error);
  g_assert_no_error (error);
  resume_check (trace, machine, mapping, &options, 3);
}

static void
check_trace (const char *path, const char *spec, RoutePolicy policy, uint32_t windows)
{
  check_trace_by (path, spec, policy, windows, NULL);
}

typedef struct {
  const char *name, *path; /* a path of data, or a pattern */
} Format;

static const Format formats[] = {
  { "dumpi", "traces/dumpi/sst-testbgp-bluegene/testbgp.meta" },
#ifdef HAVE_OTF2
  { "otf2", "traces/otf2/sstmacro-10rank/traces.otf2" },
  { "otf2-large", "traces/otf2/pipit-ping-pong-otf2/traces.otf2" },
#endif
  { "paraver",
    "traces/paraver/profet-lulesh_4p4/lulesh_4+4_with_uncores_sockets1+2.chop_5it.prv.gz" },
  { "goal", "traces/goal/loggopsim-examples/binomialtreebcast_128_1024.goal" },
  { "goal-text", "traces/goal/loggopsim-examples/schedule.goal" },
};

static void
test_format (gconstpointer data)
{
  const Format *format = data;
  g_autofree char *path = test_data (format->path);

  if (path == NULL)
    return;
  check_trace (path, "torus:4x4x2", ROUTE_POLICY_DEFAULT, 1);
  check_trace (path, "systemg:16", ROUTE_POLICY_DEFAULT, 1);
}

/* The formats that are kept compressed among the sources. */
static void
test_own_formats (void)
{
  static const char *const names[] = { "lammps-64.hct", "nas-is-S-16.ti.gz" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autofree char *path = trace_testing_shipped (names[i]);

    check_trace (path, "bgq:32", ROUTE_POLICY_DEFAULT, 16);
    check_trace (path, "fattree:4x4", ROUTE_POLICY_DEFAULT, 16);
    /* In the midst of collectives of two levels. */
    check_trace_by (path, "fattree:4x2", ROUTE_POLICY_DEFAULT, 1, "ompi-5.0");
    check_trace_by (path, "fattree:4x2", ROUTE_POLICY_DEFAULT, 1, "mpich-4");
  }
}

static void
test_patterns (void)
{
  static const char *const patterns[] = { "gen:halo3d:ranks=64,iterations=2",
                                          "gen:suba2a:ranks=64,iterations=1",
                                          "gen:alltoall:ranks=32,bytes=3000,iterations=2",
                                          "gen:npb:kernel=lu,class=W,ranks=16,iterations=1",
                                          "gen:permutation:kind=random,ranks=32,bytes=100000" };
  static const char *const machines[] = { "bgq:32", "bgq:4x2x2x2x2", "torus:4x4x2m",
                                          "fattree:4x8:2", "systemg:8" };

  for (guint i = 0; i < G_N_ELEMENTS (patterns); i++)
    for (guint at = 0; at < G_N_ELEMENTS (machines); at++)
      check_trace (patterns[i], machines[at],
                   (i + at) % 2 && at < 3 ? ROUTE_POLICY_ZONE0 : ROUTE_POLICY_DEFAULT, 4);
}

/* Long messages between far nodes of a Blue Gene/Q of more than a rack are paced. */
static void
test_paced (void)
{
  check_trace ("gen:random:ranks=256,bytes=80000,iterations=1,messages=3", "bgq:2048",
               ROUTE_POLICY_DEFAULT, 32);
}

/* --- A file --- */

typedef struct {
  TopoMachine *machine;
  TopoMapping *mapping;
  Trace *trace;
  char *path;
  uint64_t n_pauses;
} Saved;

static gboolean
save_fifth (void *data, SimRunning *running, GError **error)
{
  Saved *saved = data;
  FILE *file;

  if (++saved->n_pauses != 5)
    return TRUE;
  file = fopen (saved->path, "w");
  g_assert_true (sim_run_save (running, file, error));
  g_assert_cmpint (fclose (file), ==, 0);
  return TRUE;
}

static SimRun *
saved_run (Saved *saved, const SimRunOptions *options, GError **error)
{
  return sim_run (saved->trace, saved->machine, saved->mapping, options, error);
}

/* A run in the middle of an exchange. */
static Saved
saved_new (void)
{
  Saved saved = { .path = NULL };
  SimRunOptions options = {
    .compute_scale = 1, .critical_path = true, .pause = save_fifth, .windows_per_pause = 50
  };
  g_autoptr (SimRun) run = NULL;
  g_autoptr (GError) error = NULL;
  int file = g_file_open_tmp ("hopcast-run-XXXXXX", &saved.path, &error);

  g_assert_no_error (error);
  close (file);
  saved.trace = trace_open ("gen:halo2d:ranks=16,iterations=3", NULL, &error);
  g_assert_no_error (error);
  saved.machine = topo_machine_new ("torus:4x4", &error);
  g_assert_no_error (error);
  saved.mapping = topo_mapping_new (NULL, saved.machine, 16, &error);
  g_assert_no_error (error);
  options.pause_data = &saved;
  run = saved_run (&saved, &options, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (saved.n_pauses, >, 10);
  return saved;
}

static void
saved_clear (Saved *saved)
{
  g_unlink (saved->path);
  g_free (saved->path);
  trace_free (saved->trace);
  topo_mapping_free (saved->mapping);
  topo_machine_free (saved->machine);
}

static void
assert_refused (Saved *saved, const SimRunOptions *changed, const char *why)
{
  g_autoptr (GError) error = NULL;
  SimRunOptions options = *changed;

  options.resume = saved->path;
  g_assert_null (saved_run (saved, &options, &error));
  g_assert_error (error, BASE_ERROR, BASE_ERROR_DUMP);
  if (!g_str_has_prefix (error->message, saved->path) || strstr (error->message, why) == NULL)
    g_error ("got: %s", error->message);
}

static const SimRunOptions same = { .compute_scale = 1, .critical_path = true };

/* Every byte counts, and so does the end. */
static void
test_damaged (void)
{
  Saved saved = saved_new ();
  g_autofree char *bytes = NULL, *longer = NULL;
  gsize length;

  g_assert_true (g_file_get_contents (saved.path, &bytes, &length, NULL));
  for (guint round = 0; round < 200; round++) {
    gsize at = round < 60 ? round : (gsize) g_test_rand_int_range (0, (gint32) length);
    char flip = (char) (1 << g_test_rand_int_range (0, 7));

    g_assert_true (g_file_set_contents (saved.path, bytes, (gssize) at, NULL));
    assert_refused (&saved, &same, at < 22 ? "is not a hopcast checkpoint" : "is torn");
    bytes[at] ^= flip;
    g_assert_true (g_file_set_contents (saved.path, bytes, (gssize) length, NULL));
    assert_refused (&saved, &same, at < 22 ? "is not a hopcast checkpoint" : "is ");
    bytes[at] ^= flip;
  }
  /* More than it was. */
  longer = g_malloc0 (length + 16);
  memcpy (longer, bytes, length);
  g_assert_true (g_file_set_contents (saved.path, longer, (gssize) length + 16, NULL));
  assert_refused (&saved, &same, "is torn");
  saved_clear (&saved);
}

/* Another run's. */
static void
test_foreign (void)
{
  Saved saved = saved_new ();
  SimRunOptions options = same;
  g_autoptr (GError) error = NULL;
  g_autoptr (SimTimeline) timeline = sim_timeline_new (16, NULL, 100);
  Trace *trace = saved.trace;
  TopoMachine *machine = saved.machine;
  uint32_t node = saved.mapping->node[0];

  saved.trace = trace_open ("gen:halo2d:ranks=16,iterations=4", NULL, &error);
  g_assert_no_error (error);
  assert_refused (&saved, &same, "is of another trace than gen:halo2d");
  trace_free (saved.trace);
  saved.trace = trace;

  saved.machine = topo_machine_new ("torus:4x4m", &error);
  g_assert_no_error (error);
  assert_refused (&saved, &same, "of another machine, mapping or other options");
  topo_machine_free (saved.machine);
  saved.machine = machine;

  saved.mapping->node[0] = saved.mapping->node[1];
  saved.mapping->node[1] = node;
  assert_refused (&saved, &same, "of another machine, mapping or other options");
  saved.mapping->node[1] = saved.mapping->node[0];
  saved.mapping->node[0] = node;

  options.compute_scale = 2;
  assert_refused (&saved, &options, "of another machine, mapping or other options");
  options = same;
  options.policy = ROUTE_POLICY_DETERMINISTIC;
  assert_refused (&saved, &options, "of another machine, mapping or other options");
  options = same;
  options.timeline = timeline;
  assert_refused (&saved, &options, "is of a run without a timeline");
  saved_clear (&saved);
}

/* A whole file of another version. */
static void
test_other_version (void)
{
  Saved saved = saved_new ();
  g_autofree char *bytes = NULL;
  gsize length;
  uint32_t checksum;
  char *version;

  g_assert_true (g_file_get_contents (saved.path, &bytes, &length, NULL));
  version = memmem (bytes, length, PACKAGE_VERSION, strlen (PACKAGE_VERSION));
  g_assert_nonnull (version);
  *version += 1;
  checksum = (uint32_t) crc32 (0, (const Bytef *) bytes, (uInt) length - 16);
  memcpy (bytes + length - 8, &checksum, sizeof checksum);
  g_assert_true (g_file_set_contents (saved.path, bytes, (gssize) length, NULL));
  assert_refused (&saved, &same, "and this is " PACKAGE_VERSION);
  saved_clear (&saved);
}

/* Neither flow nor load has such a state. */
static void
test_other_networks (void)
{
  Saved saved = saved_new ();

  for (int network = SIM_NETWORK_FLOW; network <= SIM_NETWORK_LOAD; network++) {
    SimRunOptions options = { .network = (SimNetworkKind) network,
                              .compute_scale = 1,
                              .pause = save_fifth };
    g_autoptr (GError) error = NULL;

    g_assert_null (saved_run (&saved, &options, &error));
    g_assert_error (error, SIM_ERROR, SIM_ERROR_NETWORK);
  }
  saved_clear (&saved);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    g_autofree char *name = g_strconcat ("/sim/resume/format/", formats[i].name, NULL);

    g_test_add_data_func (name, &formats[i], test_format);
  }
  g_test_add_func ("/sim/resume/own-formats", test_own_formats);
  g_test_add_func ("/sim/resume/patterns", test_patterns);
  g_test_add_func ("/sim/resume/paced", test_paced);
  g_test_add_func ("/sim/resume/damaged", test_damaged);
  g_test_add_func ("/sim/resume/foreign", test_foreign);
  g_test_add_func ("/sim/resume/other-version", test_other_version);
  g_test_add_func ("/sim/resume/other-networks", test_other_networks);
  return g_test_run ();
}
