/* replays.c - runs the same trace on packets, on flows, and in SimGrid's own replayer.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "validation/simgrid/replays.h"

#include "base/decimal.h"
#include "sim/run.h"
#include "study/session/worker_pool.h"
#include "topology/recipe/recipe.h"
#include "traces/writer.h"
#include "validation/published.h"
#include "validation/replayed_program.h"
#include "validation/simgrid/platform_file.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

/* 16 packets of 62 chunks of payload and one of head wait for a link. */
static const char *const settings[] = { "link.bandwidth=2 GB/s",
                                        "link.overhead=0 %",
                                        "link.hop_latency=1 us",
                                        "packet.payload=1984 B",
                                        "packet.trailer=0 B",
                                        "router.dynamic_tokens=1008",
                                        "messaging.injection_latency=0 ns",
                                        "messaging.reception_latency=0 ns",
                                        "mpi.send_overhead=0 ns",
                                        "mpi.receive_overhead=0 ns",
                                        "mpi.call_overhead=0 ns",
                                        "mpi.direct_overhead=0 ns",
                                        "mpi.envelope=0 B",
                                        "mpi.eager=64 KiB",
                                        "mpi.async_progress=true",
                                        "collective.network=false",
                                        "node.compute=1 Gflop/s",
                                        NULL };

/* 62/63 of 2 GB/s: the payload of full packets. */
static const char *const payload_settings[] = { "link.bandwidth=1968253968 B/s", NULL };

/* SMPI's corrections for TCP are off, and sends up to mpi.eager leave at once. */
static const char smpirun_words[] =
    "--cfg=network/model:CM02 --cfg=network/latency-factor:1 --cfg=network/bandwidth-factor:1 "
    "--cfg=network/weight-S:0 --cfg=network/TCP-gamma:0 --cfg=network/crosstraffic:0 "
    "--cfg=smpi/bw-factor:0:1 --cfg=smpi/lat-factor:0:1 --cfg=smpi/async-small-thresh:65536 "
    "--log=root.thres:critical --log=smpi.thres:info --log=smpi_config.thres:critical";

/* A replay's files are in a folder of its own.  All three read the trace as SimGrid can: with
 * collectives of the world as calls, and all others as their messages. */
typedef struct {
  const SimgridCase *it;
  const SimgridPlaces *places;
  TopoMachine *machine;
  RoutePaths *paths;
  char **mappings;
  uint32_t n_ranks;
  char *folder, *trace;
  const bool *wanted;
  guint n_mappings;
  SimgridTime (*times)[SIMGRID_N_MAPPINGS];
} Replay;

void
simgrid_time_clear (SimgridTime *time)
{
  g_clear_pointer (&time->why, g_free);
}

/* --- The inputs --- */

static TopoMachine *
torus_new (const SimgridCase *it, GError **error)
{
  g_autofree char *spec = g_strconcat ("torus:", it->shape, NULL);
  g_autoptr (TopoMachine) machine = validation_machine_new (spec, settings, error);

  if (machine != NULL && it->collectives != NULL &&
      !topo_parameters_set (&machine->parameters, "mpi.collectives", it->collectives, error))
    return NULL;
  return g_steal_pointer (&machine);
}

/* Spread over the family of the SC13 study. */
static char **
mappings_new (const TopoMachine *machine, uint32_t n_ranks, GError **error)
{
  g_auto (GStrv) family = topo_recipe_family ("sc13-shared", machine, n_ranks, error);
  char **mappings;
  guint n;

  if (family == NULL)
    return NULL;
  n = g_strv_length (family);
  mappings = g_new0 (char *, SIMGRID_N_MAPPINGS + 1);
  for (guint i = 0; i < SIMGRID_N_MAPPINGS; i++)
    mappings[i] = g_strdup (family[(gsize) i * n / SIMGRID_N_MAPPINGS]);
  return mappings;
}

static FILE *
open_file (const char *path, GError **error)
{
  FILE *file = fopen (path, "w");

  if (file == NULL)
    g_set_error (error, VALIDATION_ERROR, VALIDATION_ERROR_EXPERIMENT, "%s: %s", path,
                 g_strerror (errno));
  return file;
}

static gboolean
close_file (FILE *file, const char *path, GError **error)
{
  if (fclose (file) == 0)
    return TRUE;
  g_set_error (error, VALIDATION_ERROR, VALIDATION_ERROR_EXPERIMENT, "%s: %s", path,
               g_strerror (errno));
  return FALSE;
}

static gboolean
write_trace (const Replay *replay, Trace *trace, GError **error)
{
  FILE *file = open_file (replay->trace, error);
  gboolean written;

  if (file == NULL)
    return FALSE;
  written = trace_writer_ti.write (trace, file, NULL, NULL, error);
  return close_file (file, replay->trace, written ? error : NULL) && written;
}

/* The folder with the trace.  A trace that is not there makes *why. */
static gboolean
replay_open (Replay *replay, char **why, GError **error)
{
  const SimgridCase *it = replay->it;
  g_autofree char *path = g_str_has_prefix (it->trace, "gen:")
                              ? g_strdup (it->trace)
                              : g_build_filename (replay->places->traces, it->trace, NULL);
  g_autoptr (Trace) trace = NULL;

  if (!g_str_has_prefix (path, "gen:") && !g_file_test (path, G_FILE_TEST_EXISTS)) {
    *why = g_strdup_printf ("no %s; --traces names its folder", path);
    return TRUE;
  }
  if ((trace = trace_open (path, NULL, error)) == NULL ||
      (replay->machine = torus_new (it, error)) == NULL ||
      (replay->paths = route_paths_new (replay->machine, error)) == NULL)
    return FALSE;
  replay->n_ranks = trace_ranks (trace);
  replay->mappings = mappings_new (replay->machine, replay->n_ranks, error);
  if (replay->mappings == NULL ||
      (replay->folder = g_dir_make_tmp ("hopcast-simgrid-XXXXXX", error)) == NULL)
    return FALSE;
  replay->trace = g_build_filename (replay->folder, "trace.ti", NULL);
  return write_trace (replay, trace, error);
}

/* The files of a replay are the only ones in its folder. */
static void
replay_close (Replay *replay)
{
  GDir *folder = replay->folder == NULL ? NULL : g_dir_open (replay->folder, 0, NULL);
  const char *name;

  while (folder != NULL && (name = g_dir_read_name (folder)) != NULL) {
    g_autofree char *path = g_build_filename (replay->folder, name, NULL);

    g_unlink (path);
  }
  if (folder != NULL) {
    g_dir_close (folder);
    g_rmdir (replay->folder);
  }
  g_free (replay->folder);
  g_free (replay->trace);
  g_strfreev (replay->mappings);
  route_paths_free (replay->paths);
  topo_machine_free (replay->machine);
}

/* --- One run, in a worker --- */

static double
simulated_s (const Replay *replay, SimNetworkKind network, guint mapping_number, GError **error)
{
  const SimRunOptions options = { .trace_path = replay->trace,
                                  .network = network,
                                  .policy = ROUTE_POLICY_DETERMINISTIC,
                                  .compute_scale = 1,
                                  .paths = replay->paths,
                                  .key = "of a comparison" };
  g_autoptr (Trace) trace =
      trace_open (replay->trace, &(TraceOptions){ .n_ranks = replay->n_ranks }, error);
  g_autoptr (TopoMapping) mapping = NULL;
  g_autoptr (SimRun) run = NULL;

  if (trace == NULL)
    return (double) NAN;
  mapping =
      topo_mapping_new (replay->mappings[mapping_number], replay->machine, replay->n_ranks, error);
  if (mapping != NULL)
    run = sim_run (trace, replay->machine, mapping, &options, error);
  return run == NULL ? (double) NAN : (double) run->result.time_ps / 1e12;
}

/* platform.xml, hosts and list.txt. */
static gboolean
write_smpirun_files (const Replay *replay, guint mapping_number, GError **error)
{
  g_autofree char *path = g_build_filename (replay->folder, "platform.xml", NULL);
  g_autofree char *hosts = g_build_filename (replay->folder, "hosts", NULL);
  g_autofree char *list = g_build_filename (replay->folder, "list.txt", NULL);
  g_autoptr (TopoMachine) machine = torus_new (replay->it, error);
  g_autoptr (RoutePaths) paths = NULL;
  g_autoptr (TopoMapping) mapping = NULL;
  g_autoptr (GString) text = g_string_new (NULL);
  FILE *file;

  for (const char *const *setting = payload_settings; machine != NULL && *setting; setting++) {
    g_auto (GStrv) parts = g_strsplit (*setting, "=", 2);

    if (!topo_parameters_set (&machine->parameters, parts[0], parts[1], error))
      return FALSE;
  }
  if (machine == NULL || (paths = route_paths_new (machine, error)) == NULL)
    return FALSE;
  mapping = topo_mapping_new (replay->mappings[mapping_number], machine, replay->n_ranks, error);
  if (mapping == NULL || (file = open_file (path, error)) == NULL)
    return FALSE;
  simgrid_platform_write (paths, topo_shape_nodes (&machine->shape), file);
  if (!close_file (file, path, error))
    return FALSE;
  for (uint32_t rank = 0; rank < replay->n_ranks; rank++)
    g_string_append_printf (text, "n%u\n", mapping->node[rank]);
  return g_file_set_contents (hosts, text->str, (gssize) text->len, error) &&
         g_file_set_contents (list, "trace.ti\n", -1, error);
}

/* The last line that is not empty; of an aborted smpirun the reason stands further up. */
static char *
reason_of (const char *output)
{
  g_auto (GStrv) lines = g_strsplit (output, "\n", -1);
  const char *found = "it printed nothing";

  for (char **line = lines; *line != NULL; line++) {
    if (strstr (*line, "CRITICAL") != NULL || strstr (*line, "ERROR") != NULL)
      return g_strdup (*line);
    if (**line != '\0')
      found = *line;
  }
  return g_strdup (found);
}

/* NaN: *why, or *error. */
static double
smpirun_s (const Replay *replay, guint mapping_number, char **why, GError **error)
{
  static const char marker[] = "Simulation time ";
  g_autofree char *program = replay->places->smpirun != NULL ? g_strdup (replay->places->smpirun)
                                                             : g_find_program_in_path ("smpirun");
  g_autofree char *n_ranks = g_strdup_printf ("%u", replay->n_ranks);
  g_autofree char *all = g_strconcat (smpirun_words, " ", replay->it->smpirun, NULL);
  g_auto (GStrv) words = g_strsplit (all, " ", -1);
  g_autoptr (GPtrArray) command = g_ptr_array_new ();
  g_auto (GStrv) environment = g_environ_setenv (g_get_environ (), "LC_ALL", "C", TRUE);
  const char *const ends[] = { "-replay", "list.txt", NULL };
  g_autofree char *out = NULL, *talk = NULL, *all_talk = NULL, *reason = NULL;
  double time_s, last_s = 0;
  int status;

  if (program == NULL) {
    *why = g_strdup ("no smpirun in PATH");
    return (double) NAN;
  }
  if (!write_smpirun_files (replay, mapping_number, error))
    return (double) NAN;
  for (const char *const *word =
           (const char *const[]){ program, "-np", n_ranks, "-platform", "platform.xml", "-hostfile",
                                  "hosts", NULL };
       *word != NULL; word++)
    g_ptr_array_add (command, (gpointer) *word);
  for (char **word = words; *word != NULL; word++)
    if (**word != '\0')
      g_ptr_array_add (command, *word);
  for (guint i = 0; i < G_N_ELEMENTS (ends); i++)
    g_ptr_array_add (command, (gpointer) ends[i]);
  if (!g_spawn_sync (replay->folder, (char **) command->pdata, environment, G_SPAWN_DEFAULT, NULL,
                     NULL, &out, &talk, &status, error))
    return (double) NAN;
  /* Every time that all ranks left have ended, it prints the time so far. */
  all_talk = g_strconcat (out, talk, NULL);
  for (const char *at = all_talk; (at = strstr (at, marker)) != NULL; at += strlen (marker))
    if (base_decimal (at + strlen (marker), &time_s) != NULL)
      last_s = MAX (last_s, time_s);
  if (last_s > 0)
    return last_s;
  reason = reason_of (all_talk);
  *why = g_strdup_printf ("smpirun failed: %s", reason);
  return (double) NAN;
}

static SimgridWay
way_of (const Replay *replay, guint job, guint *mapping)
{
  for (guint way = 0; way < SIMGRID_N_WAYS; way++)
    if (replay->wanted[way]) {
      if (job < replay->n_mappings) {
        *mapping = job;
        return (SimgridWay) way;
      }
      job -= replay->n_mappings;
    }
  g_assert_not_reached ();
}

/* A StudyJobFunction: the seconds, "-" and why they are not known, or "!" and the error. */
static GBytes *
make_job (void *data, guint job, gboolean *spent)
{
  const Replay *replay = data;
  g_autoptr (GError) error = NULL;
  g_autofree char *why = NULL;
  char number[BASE_DECIMAL_SIZE];
  guint mapping;
  SimgridWay way = way_of (replay, job, &mapping);
  double time_s;
  char *text;

  if (way == SIMGRID_SMPIRUN)
    time_s = smpirun_s (replay, mapping, &why, &error);
  else
    time_s = simulated_s (replay, way == SIMGRID_FLOW ? SIM_NETWORK_FLOW : SIM_NETWORK_PACKET,
                          mapping, &error);
  *spent = way == SIMGRID_FLOW;
  /* Of flows: SimGrid is not there. */
  if (way == SIMGRID_FLOW && g_error_matches (error, SIM_ERROR, SIM_ERROR_NETWORK))
    why = g_strdup (error->message);
  if (why != NULL)
    text = g_strconcat ("-", why, NULL);
  else if (error != NULL)
    text = g_strconcat ("!", error->message, NULL);
  else
    text = g_strdup (base_decimal_print (number, time_s));
  return g_bytes_new_take (text, strlen (text) + 1);
}

/* A StudyPoolLook. */
static gboolean
look (void *data, const StudyPoolResult *result, guint n_done, GError **error)
{
  Replay *replay = data;
  SimgridTime *time;
  const char *text;
  guint mapping;
  SimgridWay way;

  (void) n_done;
  if (result == NULL)
    return TRUE;
  text = result->block == NULL ? NULL : g_bytes_get_data (result->block, NULL);
  if (text == NULL || *text == '!') {
    g_set_error (error, VALIDATION_ERROR, VALIDATION_ERROR_EXPERIMENT, "%s",
                 text == NULL ? result->lost : text + 1);
    return FALSE;
  }
  way = way_of (replay, result->job, &mapping);
  time = &replay->times[way][mapping];
  simgrid_time_clear (time);
  if (*text == '-') {
    time->time_s = (double) NAN;
    time->why = g_strdup (text + 1);
  } else
    base_decimal (text, &time->time_s);
  return TRUE;
}

gboolean
simgrid_replay (const SimgridCase *it, const SimgridPlaces *places,
                const bool wanted[SIMGRID_N_WAYS], guint n_mappings,
                SimgridTime times[SIMGRID_N_WAYS][SIMGRID_N_MAPPINGS], GError **error)
{
  Replay replay = {
    .it = it, .places = places, .wanted = wanted, .n_mappings = n_mappings, .times = times
  };
  g_autofree char *why = NULL;
  guint n_ways = 0;
  gboolean done;

  g_assert (n_mappings <= SIMGRID_N_MAPPINGS);
  /* Mappings share the files that smpirun reads. */
  g_assert (!wanted[SIMGRID_SMPIRUN] || n_mappings == 1);
  for (guint way = 0; way < SIMGRID_N_WAYS; way++)
    n_ways += wanted[way];
  done = replay_open (&replay, &why, error);
  if (done && why == NULL)
    done = study_pool_run (0, n_ways * n_mappings, make_job, look, &replay, error);
  for (guint way = 0; why != NULL && way < SIMGRID_N_WAYS; way++)
    for (guint mapping = 0; wanted[way] && mapping < n_mappings; mapping++) {
      simgrid_time_clear (&times[way][mapping]);
      times[way][mapping] = (SimgridTime){ (double) NAN, g_strdup (why) };
    }
  replay_close (&replay);
  return done;
}
