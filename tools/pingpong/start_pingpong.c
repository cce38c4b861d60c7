/* start_pingpong.c - `hopcast-pingpong`: plans the measurements and writes their table.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/print/outfile.h"
#include "cli/print/progress.h"
#include "cli/print/terminal.h"
#include "tools/pingpong/pingpong.h"
#include "topology/machine.h"

#include <math.h>
#include <stdio.h>

#define LEAST_US    1e-3 /* the resolution of the clock */
#define FEW_PLACES  8    /* with more not all classes are measured by default */
#define FEW_NOISY   2
#define MAX_CLASSES 10000 /* with all sizes, hours */

/* The table is that of predictors/aggregation/bound_table.h. */
typedef struct {
  const CliPingpongOptions *options;
  const CliPingpongPlan *plan; /* NULL: no messages */
  const char *tasks_class;     /* of collectives; NULL: there are none */
  uint32_t n_ranks;
} Job;

typedef struct {
  const Job *job;
  GString *rows;
  CliProgress *progress;
  guint n_done, n_all;
  guint n_unsure;
  double widest;
} Work;

static guint
n_sizes (const Job *job)
{
  return job->options->sizes->len;
}

static uint64_t
size (const Job *job, guint at)
{
  return g_array_index (job->options->sizes, uint64_t, at);
}

static CliPingpongCollective
collective (const Job *job, guint at)
{
  return (CliPingpongCollective) g_array_index (job->options->collectives, guint, at);
}

static gboolean
fits (const Job *job, CliPingpongCollective which, uint64_t bytes)
{
  return cli_pingpong_buffer_bytes (which, bytes, job->n_ranks) <= CLI_PINGPONG_MAX_BYTES;
}

/* Of a barrier 1: it has no size, and is measured once. */
static guint
sizes_of_collective (const Job *job, CliPingpongCollective which)
{
  guint n = 0;

  for (guint at = 0; at < n_sizes (job); at++)
    n += fits (job, which, size (job, at));
  return which == CLI_PINGPONG_BARRIER ? 1 : n;
}

/* The number of times in the table. */
static guint
count_times (const Job *job)
{
  guint n = job->plan != NULL ? job->plan->classes->len * n_sizes (job) : 0;

  for (guint at = 0; job->tasks_class != NULL && at < job->options->collectives->len; at++)
    n += sizes_of_collective (job, collective (job, at));
  return n;
}

/* --- The table --- */

static void
add_message (GString *rows, const CliPingpongClass *class)
{
  g_string_append_printf (rows, "pingpong,%s,%s,%u,%u,2,", class->is_between ? "between" : "within",
                          class->class, class->n_pairs, class->n_outside);
}

static void
add_collective (GString *rows, const Job *job, CliPingpongCollective which)
{
  g_string_append_printf (rows, "%s,,%s,0,0,%u,", cli_pingpong_collectives[which], job->tasks_class,
                          job->n_ranks);
}

/* A dry run: rows as of the table, without sizes and times but with the number of sizes: 0 where
 * processes are missing.  The duration of all is printed on standard error. */
static char *
list_rows (const Job *job)
{
  GString *rows = g_string_new ("operation,where,class,pairs,outside,ranks,sizes\n");
  guint n = count_times (job);
  double seconds = ceil (n * job->options->effort.seconds);

  for (guint at = 0; job->plan != NULL && at < job->plan->classes->len; at++) {
    add_message (rows, g_ptr_array_index (job->plan->classes, at));
    g_string_append_printf (rows, "%u\n", n_sizes (job));
  }
  for (guint at = 0; job->plan != NULL && at < job->plan->unreachable->len; at++) {
    add_message (rows, g_ptr_array_index (job->plan->unreachable, at));
    g_string_append (rows, "0\n");
  }
  for (guint at = 0; job->tasks_class != NULL && at < job->options->collectives->len; at++) {
    add_collective (rows, job, collective (job, at));
    g_string_append_printf (rows, "%u\n", sizes_of_collective (job, collective (job, at)));
  }
  cli_printf (stderr, "hopcast-pingpong: %u times of at most %g s each: %.0f min %02.0f s\n", n,
              job->options->effort.seconds, floor (seconds / 60), fmod (seconds, 60));
  return g_string_free (rows, FALSE);
}

static void
add_time (Work *work, uint64_t bytes, CliPingpongMedian us)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  g_ascii_formatd (text, sizeof text, "%.6g", MAX (us.median, LEAST_US));
  g_string_append_printf (work->rows, "%" G_GUINT64_FORMAT ",%s\n", bytes, text);
  if (us.width > work->job->options->effort.precision) {
    work->n_unsure++;
    work->widest = MAX (work->widest, us.width);
  }
  work->n_done++;
  cli_progress_share (work->progress, (double) work->n_done / work->n_all);
}

/* The table; the caller frees the text.  The number of medians that are not sure enough is printed
 * on standard error, unless the options are quiet. */
static char *
measure_rows (const Job *job)
{
  const CliPingpongOptions *options = job->options;
  g_autoptr (CliProgress) progress = cli_progress_new (options->quiet);
  Work work = { .job = job,
                .rows = g_string_new ("operation,where,class,pairs,outside,ranks,bytes,time_us\n"),
                .progress = progress,
                .n_all = count_times (job) };

  for (guint i = 0; job->plan != NULL && i < job->plan->classes->len; i++)
    for (guint at = 0; at < n_sizes (job); at++) {
      const CliPingpongClass *class = g_ptr_array_index (job->plan->classes, i);

      add_message (work.rows, class);
      add_time (&work, size (job, at),
                cli_pingpong_measure (class, size (job, at), options->effort));
    }
  for (guint i = 0; job->tasks_class != NULL && i < options->collectives->len; i++) {
    CliPingpongCollective which = collective (job, i);
    gboolean is_barrier = which == CLI_PINGPONG_BARRIER;

    for (guint at = 0; at < (is_barrier ? 1 : n_sizes (job)); at++) {
      uint64_t bytes = is_barrier ? 0 : size (job, at);

      if (!fits (job, which, bytes))
        continue;
      add_collective (work.rows, job, which);
      add_time (&work, bytes, cli_pingpong_measure_collective (which, bytes, options->effort));
    }
  }
  g_clear_pointer (&progress, cli_progress_free);
  if (work.n_unsure > 0 && !options->quiet)
    cli_printf (
        stderr,
        "hopcast-pingpong: %u of %u medians are less precise than %g %%, the worst has %.0f %%; more --seconds make them more precise\n",
        work.n_unsure, work.n_all, options->effort.precision * 100, work.widest * 100);
  return g_string_free (work.rows, FALSE);
}

/* --- The plan --- */

static void
warn (const CliPingpongOptions *options, const char *text)
{
  if (!options->quiet)
    cli_printf (stderr, "hopcast-pingpong: warning: %s\n", text);
}

/* The seats of all processes, with warnings. */
static CliPingpongSeating *
seat_all (const CliPingpongOptions *options, uint32_t n_ranks, GError **error)
{
  g_autoptr (TopoNode) node = NULL;
  g_autofree CliPingpongProcess *processes = NULL;
  CliPingpongSeating *seating;

  if (options->node != NULL) {
    if (!(node = topo_node_load (options->node, error)))
      return NULL;
  } else if (options->machine != NULL) {
    g_autoptr (TopoMachine) machine = topo_machine_new (options->machine, error);

    if (machine == NULL)
      return NULL;
    if (machine->node == NULL) {
      cli_fail (error, "%s is a torus; the cores of its nodes are unknown", machine->spec);
      return NULL;
    }
    node = g_steal_pointer (&machine->node);
  }
  processes = cli_pingpong_find_processes ();
  if (options->bind) {
    g_autofree uint32_t *cpus = cli_pingpong_choose_cpus (node, processes, n_ranks, error);

    if (cpus == NULL)
      return NULL;
    if (!cli_pingpong_bind (cpus)) {
      cli_fail (error, "--bind: the system refuses to");
      return NULL;
    }
    for (uint32_t rank = 0; rank < n_ranks; rank++)
      for (uint32_t cpu = 0; cpu < CLI_PINGPONG_MAX_CPUS; cpu++)
        processes[rank].may_run[cpu] = cpu == cpus[rank];
  }
  if (options->pretend_nodes != G_MININT)
    cli_pingpong_pretend_nodes (processes, n_ranks, (uint32_t) options->pretend_nodes);
  seating = cli_pingpong_seating_new (node, processes, n_ranks, error);
  if (seating == NULL)
    return NULL;
  if (node == NULL)
    warn (options, "without --node or --machine all cores of a node count as alike");
  for (guint at = 0; at < seating->warnings->len; at++)
    warn (options, g_ptr_array_index (seating->warnings, at));
  return seating;
}

/* As many as fit, or a few: UINT32_MAX stands for all. */
static uint32_t
noise_limit (int given, const TopoLevels *levels)
{
  if (given != G_MININT)
    return (uint32_t) given;
  return levels->n_places <= FEW_PLACES ? UINT32_MAX : FEW_NOISY;
}

/* *plan and *class are the caller's; NULL: not asked for. */
static gboolean
plan_all (const CliPingpongOptions *options, uint32_t n_ranks, CliPingpongPlan **plan, char **class,
          GError **error)
{
  g_autoptr (CliPingpongSeating) seating = seat_all (options, n_ranks, error);
  CliPingpongNoise noise = { .max_classes = MAX_CLASSES };

  if (seating == NULL)
    return FALSE;
  if (!options->only_collectives) {
    noise.max_pairs = noise_limit (options->max_pairs, seating->levels);
    noise.max_outside = noise_limit (options->max_outside, seating->levels);
    *plan = cli_pingpong_plan_new (seating->levels, seating->seats, n_ranks, noise, error);
    if (*plan == NULL)
      return FALSE;
    if ((*plan)->unreachable->len > 0) {
      g_autofree char *text = g_strdup_printf (
          "%u of %u classes of placements need other or more processes%s: --dry-run "
          "lists them with 0 sizes",
          (*plan)->unreachable->len, (*plan)->unreachable->len + (*plan)->classes->len,
          (*plan)->n_nodes == 1 ? " or a second node" : "");

      warn (options, text);
    }
  }
  if (options->collectives->len > 0 &&
      (*class = cli_pingpong_tasks_class (seating->levels, seating->seats, n_ranks)) == NULL)
    return cli_fail (
        error,
        "--collectives: nodes differ in the cores that their processes use, or processes share a core");
  return TRUE;
}

/* --- The program --- */

static gboolean
run (int argc, char **argv, uint32_t n_ranks, GError **error)
{
  g_auto (CliPingpongOptions) options = { 0 };
  g_autoptr (CliPingpongPlan) plan = NULL;
  g_autofree char *help = NULL, *class = NULL, *text = NULL;
  Job job;

  if (!cli_pingpong_options_parse (&options, argc, argv, &help, error))
    return FALSE;
  if (help != NULL)
    return cli_outfile_write (NULL, help, error);
  if (options.version)
    return cli_outfile_write (NULL, "hopcast-pingpong " PACKAGE_VERSION "\n", error);
  if (n_ranks < 2)
    return cli_fail (
        error,
        "one process sends no messages: at least two are needed (mpirun -n 2); is mpirun that of the MPI that this program was built with?");
  /* The output is checked before the measurement, and opened after it. */
  if (options.output != NULL) {
    g_autoptr (CliOutfile) file = cli_outfile_new (options.output, error);

    if (file == NULL)
      return FALSE;
  }
  if (!plan_all (&options, n_ranks, &plan, &class, error))
    return FALSE;
  job = (Job){ &options, plan, class, n_ranks };
  if (!options.dry_run && count_times (&job) == 0)
    return cli_fail (
        error, "nothing can be measured: no two processes share a node, and no two nodes have a "
               "process on the same core");
  text = options.dry_run ? list_rows (&job) : measure_rows (&job);
  return cli_outfile_write (options.dry_run ? NULL : options.output, text, error);
}

static int
first (int argc, char **argv, uint32_t n_ranks)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *message = NULL;

  cli_locale_set ();
  g_set_prgname ("hopcast-pingpong");
  cli_outfile_handle_signals ();
  if (run (argc, argv, n_ranks, &error))
    return CLI_DONE;
  message = cli_shorten (error->message);
  if (g_error_matches (error, CLI_ERROR, CLI_ERROR_USAGE)) {
    cli_printf (stderr, "hopcast-pingpong: %s; see 'hopcast-pingpong --help'\n", message);
    return CLI_USAGE;
  }
  cli_printf (stderr, "hopcast-pingpong: %s\n", message);
  return CLI_FAILED;
}

int
main (int argc, char **argv)
{
  uint32_t n_ranks, rank = cli_pingpong_begin (&argc, &argv, &n_ranks);
  int status;

  if (rank > 0)
    return cli_pingpong_serve ();
  status = first (argc, argv, n_ranks);
  cli_pingpong_end (status);
  return status;
}
