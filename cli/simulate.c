/* simulate.c - `hopcast simulate`: one trace, one machine, one run.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/print/links.h"
#include "cli/options.h"
#include "cli/print/outfile.h"
#include "cli/print/progress.h"
#include "cli/print/terminal.h"
#include "cli/trace/record.h"
#include "cli/trace/timeline_file.h"
#include "cli/print/warnings.h"
#include "sim/net/load.h"
#include "sim/run.h"
#include "study/inputs.h"
#include "study/plan/plan.h"
#include "study/replicas.h"
#include "study/report/report.h"

#include <math.h>
#include <signal.h>
#include <string.h>

static void
add_edge (void *data, uint32_t source, uint32_t destination, uint64_t bytes, bool direct_collective)
{
  (void) direct_collective;
  sim_edges_add (data, source, destination, 1, bytes);
}

/* All inputs of the run are in the row then. */
static void
name_inputs (StudyRow *row, const CliRunInputs *inputs, Trace *trace, const SimRunOptions *options)
{
  g_free (row->network);
  row->trace = g_strdup (inputs->trace);
  row->trace_hash = g_strdup (trace_hash (trace, NULL));
  row->machine = g_strdup (inputs->machine->spec);
  row->machine_hash = study_machine_hash (inputs->machine);
  row->mapping = g_strdup (inputs->mapping->name);
  row->mapping_hash = study_mapping_hash (inputs->mapping);
  row->network = g_strdup (inputs->network);
  row->routing = g_strdup (inputs->routing);
  row->shrink = sim_shrink_text (options->shrink);
  row->version = g_strdup (PACKAGE_VERSION);
  row->ranks = inputs->mapping->n_ranks;
  row->ranks_per_node = inputs->machine->ranks_per_node;
  row->nodes = topo_shape_nodes (&inputs->machine->shape);
  row->compute_scale = options->compute_scale;
  row->seed = options->seed;
  row->jitter_s = (double) options->jitter_ps / 1e12;
}

/* The page of a run.  The trace is read once more for the messages between ranks. */
static gboolean
write_page (FILE *out, const CliRunInputs *inputs, Trace *trace, StudyRow *row, GError **error)
{
  SimEdges *edges = sim_edges_new (inputs->mapping->n_ranks);
  SimCensus census;
  gboolean done;

  done = sim_census (trace, inputs->machine, SIM_CENSUS_COLLECTIVES, false, add_edge, edges, NULL,
                     NULL, &census, error) &&
         study_report_write_run (out, row, inputs->machine, inputs->mapping, edges, inputs->trace,
                                 error);
  sim_edges_free (edges);
  return done;
}

/* --- Options --- */

typedef struct {
  CliMachineOptions machine;
  CliFormatOptions format;
  CliTalkOptions talk;
  char *mapping, *network, *routing, *links, *ranks, *report;
  char *loads, *loads_every;
  int64_t loads_every_ps;
  char *checkpoint, *every, *resume;
  int64_t every_us;
  char *shrink, *jitter;
  SimShrink shrink_twice; /* of --shrink S,2S the second; off: there is one */
  double compute_scale;
  int threads, replicas;
  gboolean iterations, critical_path;
  gint64 seed;
  CliTraceOptions trace;
  CliTimelineOptions timeline;
} Options;

static void
options_clear (Options *options)
{
  cli_machine_options_clear (&options->machine);
  cli_trace_options_clear (&options->trace);
  cli_timeline_options_clear (&options->timeline);
  cli_format_options_clear (&options->format);
  g_free (options->mapping);
  g_free (options->network);
  g_free (options->routing);
  g_free (options->links);
  g_free (options->loads);
  g_free (options->loads_every);
  g_free (options->ranks);
  g_free (options->report);
  g_free (options->checkpoint);
  g_free (options->every);
  g_free (options->resume);
  g_free (options->shrink);
  g_free (options->jitter);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

static void
add_own_options (GOptionContext *context, Options *options)
{
  const GOptionEntry entries[] = {
    { "network", 0, 0, G_OPTION_ARG_STRING, &options->network,
      "packet (default: every packet), flow (SimGrid's sharing) or load (no time)", "NETWORK" },
    { "routing", 0, 0, G_OPTION_ARG_STRING, &options->routing,
      "default (as the messaging library chooses), deterministic, zone0, zone1, zone2 or zone3; "
      "a fabric's tables are deterministic",
      "ROUTING" },
    { "compute-scale", 0, 0, G_OPTION_ARG_DOUBLE, &options->compute_scale,
      "Multiply the recorded computation by X (default: 1)", "X" },
    { "shrink", 0, 0, G_OPTION_ARG_STRING, &options->shrink,
      "Let a packet of long messages stand for S, where all messages are long enough: off (default), "
      "auto (1,000 packets of each are left), auto:screen (250), auto:race (2) or the number S; S,2S: "
      "two runs, and what they come to without",
      "off|auto|S|S,2S" },
    { "replicas", 0, 0, G_OPTION_ARG_INT, &options->replicas,
      "Make N runs whose ranks start a little apart, and print means and how sure they are "
      "(default: 1)",
      "N" },
    { "jitter", 0, 0, G_OPTION_ARG_STRING, &options->jitter,
      "Start each rank up to TIME later, drawn from the seed (default: 0, with --replicas 1us)",
      "TIME" },
    { "seed", 0, 0, G_OPTION_ARG_INT64, &options->seed,
      "Seed of the first replica, those of the others follow (default: 0)", "N" },
    { "threads", 0, 0, G_OPTION_ARG_INT, &options->threads,
      "Simulate a large torus, or replicas, with N threads (default: one per core); the results are "
      "the same",
      "N" },
    { "links", 0, 0, G_OPTION_ARG_FILENAME, &options->links,
      "Write counters per link: CSV, or BGQNCL lines when FILE ends in .cnt", "FILE" },
    { "links-over-time", 0, 0, G_OPTION_ARG_FILENAME, &options->loads,
      "Write what each link sends in each interval of time as CSV, gzip when FILE ends in .gz",
      "FILE" },
    { "links-every", 0, 0, G_OPTION_ARG_STRING, &options->loads_every,
      "How long an interval of --links-over-time is (default: 10us)", "TIME" },
    { "ranks", 0, 0, G_OPTION_ARG_FILENAME, &options->ranks, "Write times per rank as CSV",
      "FILE" },
    { "iterations", 0, 0, G_OPTION_ARG_NONE, &options->iterations,
      "Find the main loop of the program, and print how long its iterations take, with --ranks of "
      "each rank",
      NULL },
    { "critical-path", 0, 0, G_OPTION_ARG_NONE, &options->critical_path,
      "Print what the time is made of, along the critical path; the run takes a tenth longer",
      NULL },
    { "report", 0, 0, G_OPTION_ARG_FILENAME, &options->report,
      "Write a page that shows where bytes and time went", "FILE" },
    { "checkpoint", 0, 0, G_OPTION_ARG_FILENAME, &options->checkpoint,
      "Save the run now and then, and when SIGTERM ends it, so that --resume goes on from there",
      "FILE" },
    { "every", 0, 0, G_OPTION_ARG_STRING, &options->every,
      "How often --checkpoint saves: 90s, 10min (default) or 2h", "TIME" },
    { "resume", 0, 0, G_OPTION_ARG_FILENAME, &options->resume,
      "Go on from a file that --checkpoint wrote for the same run", "FILE" },
    { NULL },
  };

  cli_add_machine_option (context, &options->machine);
  cli_add_machine_detail_options (context, &options->machine);
  cli_add_mapping_option (context, &options->mapping);
  g_option_context_add_main_entries (context, entries, NULL);
  cli_add_timeline_options (context, &options->timeline);
  cli_add_trace_options (context, &options->trace);
  cli_add_format_options (context, &options->format);
  cli_add_talk_options (context, &options->talk);
}

#define DEFAULT_EVERY "10min"
#define MAX_EVERY_S   1e9

static gboolean
check_checkpoint (Options *options, SimNetworkKind network, GError **error)
{
  static const struct {
    const char *unit;
    double s;
  } units[] = { { "s", 1 }, { "min", 60 }, { "h", 3600 } };
  const char *every = options->every ? options->every : DEFAULT_EVERY;
  char *end;
  double value = g_ascii_strtod (every, &end);

  if ((options->checkpoint || options->resume) && network != SIM_NETWORK_PACKET)
    return cli_refuse (error, "%s: only runs with --network packet can be saved and resumed",
                       options->checkpoint ? "--checkpoint" : "--resume");
  if (options->checkpoint && !strcmp (options->checkpoint, "-"))
    return cli_refuse (error, "--checkpoint: needs a file, not standard output");
  for (gsize i = 0; i < G_N_ELEMENTS (units); i++)
    if (end != every && !strcmp (end, units[i].unit) && value > 0 &&
        value * units[i].s <= MAX_EVERY_S)
      options->every_us = (int64_t) ceil (value * units[i].s * 1e6);
  if (options->every_us == 0)
    return cli_refuse (error, "--every: '%s' is not a time above 0 such as 90s, 10min or 2h",
                       every);
  return !options->every || options->checkpoint ||
         cli_refuse (error, "--every: without --checkpoint nothing is saved");
}

#define DEFAULT_LOADS_EVERY "10us"

/* The counters at the beginning of the interval are not in a checkpoint. */
static gboolean
check_loads (Options *options, SimNetworkKind network, GError **error)
{
  const char *every = options->loads_every ? options->loads_every : DEFAULT_LOADS_EVERY;
  g_autoptr (GError) trouble = NULL;
  TopoValue value;

  if (!topo_unit_parse (TOPO_UNIT_TIME, every, &value, &trouble))
    return cli_refuse (error, "--links-every: %s", trouble->message);
  if (value.whole == 0 || value.whole > UINT64_C (1000000000000))
    return cli_refuse (error, "--links-every: '%s' is not a time above 0, up to a second", every);
  options->loads_every_ps = (int64_t) value.whole;
  if (options->loads_every && !options->loads)
    return cli_refuse (error, "--links-every needs --links-over-time FILE");
  if (options->loads && network != SIM_NETWORK_PACKET)
    return cli_refuse (error, "--links-over-time: only --network packet has it");
  if (options->loads && (options->checkpoint || options->resume))
    return cli_refuse (error, "--links-over-time: is not saved; not with %s",
                       options->checkpoint ? "--checkpoint" : "--resume");
  return TRUE;
}

#define MAX_REPLICAS 10000

static gboolean
parse_shrink (Options *options, SimRunOptions *run, GError **error)
{
  g_auto (GStrv) factors = g_strsplit (options->shrink, ",", 2);

  if (g_strv_length (factors) == 2) {
    if (!sim_shrink_parse (factors[0], &run->shrink) ||
        !sim_shrink_parse (factors[1], &options->shrink_twice) || run->shrink.factor == 0 ||
        options->shrink_twice.factor != 2 * run->shrink.factor)
      return cli_refuse (error, "--shrink: '%s' is not a number from 2 on and twice that",
                         options->shrink);
    return TRUE;
  }
  return sim_shrink_parse (options->shrink, &run->shrink) ||
         cli_refuse (
             error,
             "--shrink: '%s' is none of off, auto, auto:screen, auto:race; nor a number from 2 on",
             options->shrink);
}

/* What describes one run cannot describe several. */
static gboolean
check_single (const Options *options, const char *reason, GError **error)
{
  const struct {
    const char *option, *value;
  } of_one[] = {
    { "--links", options->links },
    { "--links-over-time", options->loads },
    { "--ranks", options->ranks },
    { "--iterations", options->iterations ? "" : NULL },
    { "--critical-path", options->critical_path ? "" : NULL },
    { "--timeline", options->timeline.path },
    { "--report", options->report },
    { "--checkpoint", options->checkpoint },
    { "--resume", options->resume },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (of_one); i++)
    if (of_one[i].value)
      return cli_refuse (error, "%s is of one run; %s", of_one[i].option, reason);
  return TRUE;
}

static gboolean
check_replicas (const Options *options, SimRunOptions *run, GError **error)
{
  g_autoptr (GError) trouble = NULL;

  run->seed = (uint64_t) options->seed;
  run->jitter_ps = options->replicas > 1 ? STUDY_JITTER_PS : 0;
  if (options->jitter && !study_jitter_parse (options->jitter, &run->jitter_ps, &trouble))
    return cli_refuse (error, "--jitter: %s", trouble->message);
  if (!sim_shrink_is_off (options->shrink_twice) &&
      !check_single (options, "--shrink S,2S makes two: shrink it by one number", error))
    return FALSE;
  if (options->replicas == 1)
    return TRUE;
  if (run->network == SIM_NETWORK_LOAD)
    return cli_refuse (error, "--replicas: the load network has no times");
  if (run->jitter_ps == 0)
    return cli_refuse (error, "--replicas: without --jitter all of them are the same run");
  return check_single (options, "make replica K alone, with --jitter and the seed plus K - 1",
                       error);
}

static gboolean
check_options (Options *options, SimRunOptions *run, GError **error)
{
  int network, routing;

  if (!(options->compute_scale >= 0) || !isfinite (options->compute_scale))
    return cli_refuse (error, "--compute-scale: not a number of at least 0");
  if (!cli_check_number ("--threads", options->threads, 1, CLI_MAX_THREADS, error) ||
      !cli_check_number ("--replicas", options->replicas, 1, MAX_REPLICAS, error))
    return FALSE;
  if (options->shrink && !parse_shrink (options, run, error))
    return FALSE;
  if (options->seed < 0)
    return cli_refuse (error, "--seed: must not be negative");
  if ((network = cli_parse_choice ("--network", options->network, study_network_names, error)) <
          0 ||
      (routing = cli_parse_choice ("--routing", options->routing, study_routing_names, error)) <
          0 ||
      !cli_parse_format (&options->format, error))
    return FALSE;
  run->network = (SimNetworkKind) network;
  run->policy = (RoutePolicy) routing;
  run->compute_scale = options->compute_scale;
  run->iterations = options->iterations;
  run->critical_path = options->critical_path;
  if (run->network != SIM_NETWORK_PACKET && !sim_shrink_is_off (run->shrink))
    return cli_refuse (error, "--shrink: only --network packet has packets");
  if (options->ranks && run->network == SIM_NETWORK_LOAD)
    return cli_refuse (error, "--ranks: the load network has no times");
  if (options->iterations && run->network == SIM_NETWORK_LOAD)
    return cli_refuse (error, "--iterations: the load network has no times");
  if (options->critical_path && run->network == SIM_NETWORK_LOAD)
    return cli_refuse (error, "--critical-path: the load network has no times");
  if (run->network == SIM_NETWORK_LOAD && run->policy >= ROUTE_POLICY_ZONE0)
    return cli_refuse (error, "--routing: the load network has deterministic paths only");
  if (options->links && g_str_has_suffix (options->links, ".cnt") &&
      run->network != SIM_NETWORK_PACKET)
    return cli_refuse (error,
                       "--links: BGQNCL lines count chunks, which only --network packet has");
  return check_checkpoint (options, run->network, error) &&
         check_loads (options, run->network, error) && check_replicas (options, run, error) &&
         cli_timeline_check (&options->timeline, run->network != SIM_NETWORK_LOAD, error);
}

/* --- Checkpoints --- */

typedef struct {
  const char *path;
  int64_t every_us, next_us; /* next_us 0: the run has not begun */
  gboolean is_quiet, was_stopped;
} Checkpoint;

static volatile sig_atomic_t terminated;
static struct sigaction before_terminate;

/* A second signal ends the program. */
static void
take_signal (int number G_GNUC_UNUSED)
{
  terminated = 1;
  sigaction (SIGTERM, &before_terminate, NULL);
}

/* From now on there is something to save. */
static void
checkpoint_begin (Checkpoint *checkpoint)
{
  struct sigaction action = { .sa_handler = take_signal };

  checkpoint->next_us = g_get_monotonic_time () + checkpoint->every_us;
  sigemptyset (&action.sa_mask);
  sigaction (SIGTERM, NULL, &before_terminate);
  if (before_terminate.sa_handler != SIG_IGN)
    sigaction (SIGTERM, &action, NULL);
}

static void
checkpoint_end (const Checkpoint *checkpoint)
{
  if (checkpoint->next_us != 0)
    sigaction (SIGTERM, &before_terminate, NULL);
}

static gboolean
checkpoint_write (const Checkpoint *checkpoint, SimRunning *running, GError **error)
{
  g_autoptr (CliOutfile) file = cli_outfile_new (checkpoint->path, error);

  if (file == NULL)
    return FALSE;
  if (sim_run_save (running, cli_outfile_stream (file), error))
    return cli_outfile_commit (file, error);
  g_prefix_error (error, "%s: ", checkpoint->path);
  return FALSE;
}

/* SimRunOptions.pause */
static gboolean
checkpoint_pause (void *data, SimRunning *running, GError **error)
{
  Checkpoint *checkpoint = data;
  g_autoptr (GError) trouble = NULL;
  gboolean saved;

  if (checkpoint->next_us == 0)
    checkpoint_begin (checkpoint);
  if (!terminated && g_get_monotonic_time () < checkpoint->next_us)
    return TRUE;
  saved = checkpoint_write (checkpoint, running, &trouble);
  /* From the end of writing, so that it never takes all of the time. */
  checkpoint->next_us = g_get_monotonic_time () + checkpoint->every_us;
  if (terminated) {
    checkpoint->was_stopped = saved;
    if (saved)
      g_set_error (error, SIM_ERROR, SIM_ERROR_STOPPED,
                   "stopped by SIGTERM; --resume %s goes on from here", checkpoint->path);
    else
      g_propagate_error (error, g_steal_pointer (&trouble));
    return FALSE;
  }
  /* A full disk is no reason to lose the run. */
  if (!saved && !checkpoint->is_quiet)
    cli_printf (stderr, "hopcast: warning: the run was not saved: %s\n", trouble->message);
  return TRUE;
}

/* --- The run --- */

/* The files are opened before the run, so that a place that cannot be written fails at once and not
 * after an hour. */
typedef struct {
  CliOutfile *links, *loads, *ranks, *timeline, *report;
  CliOutfile *checkpoint;
} Outputs;

static void
outputs_clear (Outputs *outputs)
{
  g_clear_pointer (&outputs->links, cli_outfile_free);
  g_clear_pointer (&outputs->loads, cli_outfile_free);
  g_clear_pointer (&outputs->ranks, cli_outfile_free);
  g_clear_pointer (&outputs->timeline, cli_outfile_free);
  g_clear_pointer (&outputs->report, cli_outfile_free);
  g_clear_pointer (&outputs->checkpoint, cli_outfile_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Outputs, outputs_clear)

static gboolean
open_outputs (Outputs *outputs, const Options *options, const TopoMachine *machine, GError **error)
{
  const struct {
    const char *option, *path;
    CliOutfile **file;
  } all[] = {
    { "--links", options->links, &outputs->links },
    { "--links-over-time", options->loads, &outputs->loads },
    { "--ranks", options->ranks, &outputs->ranks },
    { "--timeline", options->timeline.path, &outputs->timeline },
    { "--report", options->report, &outputs->report },
    { "--checkpoint", options->checkpoint, &outputs->checkpoint },
  };

  for (gsize second = 0; second < G_N_ELEMENTS (all); second++)
    for (gsize first = 0; first < second; first++)
      if (all[first].path != NULL && g_strcmp0 (all[first].path, all[second].path) == 0)
        return cli_refuse (error, "%s and %s name the same file, %s", all[first].option,
                           all[second].option, all[first].path);
  if (options->links && g_str_has_suffix (options->links, ".cnt") &&
      !cli_links_fit_bgqncl (machine)) {
    if (machine->fabric)
      return cli_refuse (
          error,
          "--links %s: BGQNCL lines are for Blue Gene/Q; %s is a switched fabric; other endings give CSV",
          options->links, machine->spec);
    return cli_refuse (error,
                       "--links %s: BGQNCL lines need a machine of five dimensions, %s has %u",
                       options->links, machine->spec, machine->shape.n_dimensions);
  }
  for (gsize i = 0; i < G_N_ELEMENTS (all); i++)
    if (all[i].file == &outputs->timeline && all[i].path != NULL &&
        cli_timeline_is_otf2 (all[i].path)) {
      if (!cli_timeline_otf2_check (all[i].path, error))
        return FALSE;
    } else if (all[i].file == &outputs->loads && all[i].path != NULL) {
      if (!(outputs->loads = cli_outfile_new_gzip (all[i].path, error)))
        return FALSE;
    } else if (all[i].path != NULL && !(*all[i].file = cli_outfile_new (all[i].path, error)))
      return FALSE;
  /* It is written anew each time. */
  g_clear_pointer (&outputs->checkpoint, cli_outfile_free);
  return TRUE;
}

/* An archive is not one file; what it lacks is a warning of the run. */
static gboolean
write_otf2 (const Options *options, const CliRunInputs *inputs, Trace *trace, SimRun *run,
            const SimTimeline *timeline, GError **error)
{
  char *warning;

  if (!options->timeline.path || !cli_timeline_is_otf2 (options->timeline.path))
    return TRUE;
  if (!cli_timeline_write_otf2 (options->timeline.path, timeline, inputs, trace, &warning, error))
    return FALSE;
  if (warning)
    g_ptr_array_add (run->warnings, warning);
  return TRUE;
}

static gboolean
write_outputs (Outputs *outputs, const Options *options, const CliRunInputs *inputs,
               const SimRun *run, const SimTimeline *timeline, const SimLinkLoads *loads,
               GError **error)
{
  if (outputs->loads) {
    cli_loads_write_csv (cli_outfile_stream (outputs->loads), inputs->machine, loads);
    if (!cli_outfile_commit (outputs->loads, error))
      return FALSE;
  }
  if (outputs->links) {
    FILE *out = cli_outfile_stream (outputs->links);

    if (g_str_has_suffix (options->links, ".cnt"))
      cli_links_write_bgqncl (out, inputs->machine, inputs->mapping, run->counters);
    else
      cli_links_write_csv (out, inputs->machine, run->counters);
    if (!cli_outfile_commit (outputs->links, error))
      return FALSE;
  }
  if (outputs->ranks) {
    cli_ranks_write_csv (cli_outfile_stream (outputs->ranks), inputs->machine, inputs->mapping,
                         &run->result, run->iterations);
    if (!cli_outfile_commit (outputs->ranks, error))
      return FALSE;
  }
  if (outputs->timeline) {
    cli_timeline_write (cli_outfile_stream (outputs->timeline), options->timeline.path, timeline,
                        inputs);
    return cli_outfile_commit (outputs->timeline, error);
  }
  return TRUE;
}

/* Below so many nodes for each, threads wait for each other longer than they work. */
#define NODES_PER_THREAD 256u

static uint32_t
n_threads (const Options *options, const TopoMachine *machine)
{
  if (options->threads != G_MININT)
    return (uint32_t) options->threads;
  if (options->resume)
    return 0; /* as before */
  return MIN (g_get_num_processors (),
              MAX (1, topo_shape_nodes (&machine->shape) / NODES_PER_THREAD));
}

static void
print_result (const Options *options, const CliRunInputs *inputs, const CliRunResults *results)
{
  const StudyRow *row = results->row;
  g_autoptr (GPtrArray) warnings = g_ptr_array_new ();

  for (char **warning = row->warnings; *warning != NULL; warning++)
    g_ptr_array_add (warnings, *warning);
  if (!options->talk.quiet)
    cli_warnings_tell (warnings);
  if (options->talk.verbose && !options->talk.quiet)
    cli_printf (stderr,
                "hopcast: %" G_GUINT64_FORMAT " events, %" G_GUINT64_FORMAT
                " packet hops in %.3f s, %.1f MB\n",
                row->events, row->packet_hops, row->wall_s, (double) row->peak_rss_bytes / 1e6);
  cli_record_print (stdout, inputs, results, options->format.format);
}

/* Makes them once more, shrunk twice as much, and puts into `rows` what both come to. */
static gboolean
extrapolate (StudyReplicas replicas, SimShrink twice, GPtrArray *rows, GError **error)
{
  g_autoptr (GPtrArray) seconds = NULL;

  replicas.options.shrink = twice;
  seconds = study_replicas_run (&replicas, error);
  for (guint i = 0; seconds != NULL && i < rows->len; i++) {
    StudyRow *row = study_rows_extrapolate (rows->pdata[i], seconds->pdata[i], error);

    if (row == NULL)
      return FALSE;
    study_row_free (rows->pdata[i]);
    rows->pdata[i] = row;
  }
  return seconds != NULL;
}

/* Replicas, or one; with --shrink S,2S two of each. */
static gboolean
simulate_several (const Options *options, const CliRunInputs *inputs, Trace *trace,
                  const SimRunOptions *run_options, GError **error)
{
  const StudyReplicas replicas = { .trace = trace,
                                   .machine = inputs->machine,
                                   .mapping = inputs->mapping,
                                   .options = *run_options,
                                   .n_replicas = (guint) options->replicas,
                                   .n_workers = options->threads == G_MININT
                                                    ? 0
                                                    : (guint) options->threads };
  g_autoptr (GPtrArray) rows = study_replicas_run (&replicas, error);
  g_autoptr (StudyRow) mean = NULL;

  if (rows == NULL || (!sim_shrink_is_off (options->shrink_twice) &&
                       !extrapolate (replicas, options->shrink_twice, rows, error)))
    return FALSE;
  mean = study_rows_mean (rows);
  name_inputs (mean, inputs, trace, run_options);
  if (!sim_shrink_is_off (options->shrink_twice)) {
    g_free (mean->shrink);
    mean->shrink = g_strdup (options->shrink);
  }
  print_result (options, inputs,
                &(CliRunResults){ .row = mean, .replicas = options->replicas > 1 ? rows : NULL });
  return TRUE;
}

/* *was_stopped: by a signal, after which the run was saved. */
static gboolean
simulate (const char *path, const Options *options, SimRunOptions *run_options,
          gboolean *was_stopped, GError **error)
{
  RoutePolicy policy = run_options->policy;
  g_autoptr (TopoMachine) machine = cli_machine_new (&options->machine, error);
  g_autoptr (Trace) trace = machine ? cli_trace_open (path, &options->trace, error) : NULL;
  g_autoptr (TopoMapping) mapping =
      trace ? cli_mapping_new (options->mapping, machine, trace_ranks (trace), error) : NULL;
  g_autoptr (CliProgress) progress = NULL;
  g_autoptr (SimTimeline) timeline = NULL;
  g_autoptr (SimLinkLoads) loads = NULL;
  g_autoptr (SimRun) run = NULL;
  g_autoptr (StudyRow) row = NULL;
  g_auto (Outputs) outputs = { NULL };
  Checkpoint checkpoint = { .path = options->checkpoint,
                            .every_us = options->every_us,
                            .is_quiet = options->talk.quiet };
  CliRunInputs inputs = { path, study_network_names[run_options->network],
                          study_routing_names[policy], machine, mapping };
  char *warning;

  if (!mapping)
    return FALSE;
  /* Zones choose among the directions of a torus; packets of a fabric follow its tables, unless its
   * switches are adaptive. */
  if (machine->fabric && policy >= ROUTE_POLICY_ZONE0)
    return cli_refuse (
        error, "--routing %s: zones are for tori; %s is a switched fabric, routed by its tables",
        study_routing_names[policy], machine->spec);
  if (machine->fabric && policy == ROUTE_POLICY_DETERMINISTIC)
    machine->parameters.switches.adaptive = TOPO_ADAPTIVE_NONE;
  timeline = cli_timeline_new (&options->timeline, trace_ranks (trace), error);
  if (timeline && cli_timeline_is_otf2 (options->timeline.path) && trace_is_graph (trace))
    return cli_refuse (
        error,
        "--timeline %s: %s is a graph, whose ranks have several processors; OTF2 has "
        "a rank's calls one after the other: use .json or .paje",
        options->timeline.path, path);
  if ((options->timeline.path && !timeline) || !open_outputs (&outputs, options, machine, error))
    return FALSE;

  progress = cli_progress_new (options->talk.quiet);
  run_options->trace_path = path;
  run_options->progress = cli_progress_update;
  run_options->progress_data = progress;
  run_options->timeline = timeline;
  if (options->loads)
    loads = sim_link_loads_new (machine, options->loads_every_ps);
  run_options->loads = loads;
  run_options->resume = options->resume;
  if (options->replicas > 1 || !sim_shrink_is_off (options->shrink_twice)) {
    gboolean done = simulate_several (options, &inputs, trace, run_options, error);

    if (!done)
      cli_machine_blame (&options->machine, *error);
    return done;
  }
  run_options->n_threads = n_threads (options, machine);
  if (options->checkpoint) {
    run_options->pause = checkpoint_pause;
    run_options->pause_data = &checkpoint;
  }
  run = sim_run (trace, machine, mapping, run_options, error);
  checkpoint_end (&checkpoint);
  g_clear_pointer (&progress, cli_progress_free);
  *was_stopped = checkpoint.was_stopped;
  if (!run) {
    cli_machine_blame (&options->machine, *error);
    return FALSE;
  }

  warning = timeline ? cli_timeline_warning (timeline, run->result.time_ps) : NULL;
  if (warning)
    g_ptr_array_add (run->warnings, warning);
  if (options->critical_path && !run->result.has_path)
    g_ptr_array_add (run->warnings, g_strdup ("--critical-path: not known of a trace that is a "
                                              "graph, whose ranks have several processors"));
  if (!write_otf2 (options, &inputs, trace, run, timeline, error))
    return FALSE;
  row = study_row_new ();
  row->key = g_strdup (run->key);
  name_inputs (row, &inputs, trace, run_options);
  study_row_take (row, run, run_options->network, outputs.report != NULL, outputs.report != NULL);
  if (!write_outputs (&outputs, options, &inputs, run, timeline, loads, error))
    return FALSE;
  if (outputs.report &&
      (!write_page (cli_outfile_stream (outputs.report), &inputs, trace, row, error) ||
       !cli_outfile_commit (outputs.report, error)))
    return FALSE;
  print_result (
      options, &inputs,
      &(CliRunResults){ .row = row, .counters = run->counters, .iterations = run->iterations });
  return TRUE;
}

int
cli_simulate (int argc, char **argv, GError **error)
{
  static const char *const names[] = { "TRACE", NULL };
  g_autoptr (GOptionContext) context = cli_context_new (
      "TRACE", "Replays a trace on a machine and prints the time and the congestion metrics.");
  g_auto (Options) options = { .machine = CLI_MACHINE_OPTIONS_INIT,
                               .timeline = CLI_TIMELINE_OPTIONS_INIT,
                               .compute_scale = 1,
                               .threads = G_MININT,
                               .replicas = 1 };
  SimRunOptions run_options = { 0 };
  g_autoptr (GError) trouble = NULL;
  gboolean was_stopped = FALSE;
  const char *path;

  add_own_options (context, &options);
  if (!cli_parse (context, argc, argv, names, &path, error) ||
      !check_options (&options, &run_options, error))
    return CLI_FAILED;
  if (simulate (path, &options, &run_options, &was_stopped, &trouble))
    return CLI_DONE;
  if (was_stopped) {
    if (!options.talk.quiet)
      cli_printf (stderr, "hopcast: %s\n", trouble->message);
    return 128 + SIGTERM;
  }
  g_propagate_error (error, g_steal_pointer (&trouble));
  return CLI_FAILED;
}
