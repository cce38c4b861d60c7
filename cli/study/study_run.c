/* study_run.c - `hopcast study run`: makes the runs of a study file.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/pool_kind.h"
#include "cli/options.h"
#include "cli/print/progress.h"
#include "cli/print/terminal.h"
#include "study/session/session.h"
#include "base/words.h"

#include <string.h>
#include <sys/resource.h>

#define MAX_WORKERS 1024
#define MAX_SHARDS  1000000u
#define MAX_BEST    1000u
#define SIGNAL_EXIT 128
#define MOST_UNFIT  5u /* lines before the runs */

typedef struct {
  CliTalkOptions talk;
  char *store, *shard, *race;
  double confidence;
  int threads;
  gboolean retry_failed, dry_run;
} Options;

static void
options_clear (Options *options)
{
  g_free (options->store);
  g_free (options->shard);
  g_free (options->race);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

static void
add_own_options (GOptionContext *context, Options *options)
{
  const GOptionEntry entries[] = {
    { "store", 0, 0, G_OPTION_ARG_FILENAME, &options->store,
      "Where the results are kept (default: what the study says, else its name with .store)",
      "FILE" },
    { "shard", 0, 0, G_OPTION_ARG_STRING, &options->shard,
      "Make the i-th of n parts of the runs, in a store of its own, for 'study merge'", "I/N" },
    { "race", 0, 0, G_OPTION_ARG_STRING, &options->race,
      "Make only the runs that find the best mapping of each case, or the K best", "best|top:K" },
    { "confidence", 0, 0, G_OPTION_ARG_DOUBLE, &options->confidence,
      "How sure a race is not to drop the best (default: 0.95)", "P" },
    { "threads", 0, 0, G_OPTION_ARG_INT, &options->threads,
      "Runs that are made at a time (default: one per core)", "N" },
    { "retry-failed", 0, 0, G_OPTION_ARG_NONE, &options->retry_failed,
      "Make those again that failed before", NULL },
    { "dry-run", 0, 0, G_OPTION_ARG_NONE, &options->dry_run,
      "Only say how many runs there are, what is done, and how long the rest may take", NULL },
    { NULL },
  };

  g_option_context_add_main_entries (context, entries, NULL);
  cli_add_unpack_option (context);
  cli_add_talk_options (context, &options->talk);
}

static gboolean
check_race (const Options *options, StudySessionOptions *session, GError **error)
{
  guint64 n_best = 1;

  session->confidence = options->confidence;
  if (!(options->confidence > 0 && options->confidence < 1))
    return cli_refuse (error, "--confidence: not between 0 and 1");
  if (options->race == NULL)
    return TRUE;
  if (strcmp (options->race, "best") != 0 &&
      (!g_str_has_prefix (options->race, "top:") ||
       !g_ascii_string_to_unsigned (options->race + strlen ("top:"), 10, 1, MAX_BEST, &n_best,
                                    NULL)))
    return cli_refuse (error, "--race: '%s' is none of best, top:; top:K has a K of 1 to %u",
                       options->race, MAX_BEST);
  if (options->shard != NULL)
    return cli_refuse (error, "--shard: a race needs all runs in one store");
  session->race_best = (guint) n_best;
  return TRUE;
}

static gboolean
check_options (const Options *options, StudySessionOptions *session, GError **error)
{
  g_auto (GStrv) parts = options->shard ? g_strsplit (options->shard, "/", 2) : NULL;
  guint64 shard, n_shards;

  if (options->threads < 0 || options->threads > MAX_WORKERS)
    return cli_refuse (error, "--threads: not within 1..1024");
  session->n_workers = (guint) options->threads;
  session->store_path = options->store;
  session->retry_failed = options->retry_failed;
  if (!check_race (options, session, error))
    return FALSE;
  if (parts == NULL)
    return TRUE;
  if (g_strv_length (parts) != 2 ||
      !g_ascii_string_to_unsigned (parts[1], 10, 1, MAX_SHARDS, &n_shards, NULL) ||
      !g_ascii_string_to_unsigned (parts[0], 10, 1, n_shards, &shard, NULL))
    return cli_refuse (error, "--shard: '%s' is not of the form I/N with I of 1 to N",
                       options->shard);
  session->shard = (guint) shard;
  session->n_shards = (guint) n_shards;
  return TRUE;
}

/* --- Before the runs --- */

/* Lists the mappings that do not fit their machine, at most `most` of them. */
static void
tell_unfit (FILE *out, const StudyPlan *plan, gboolean is_left_out, const char *heading, guint most)
{
  guint n_runs = 0, n_told = 0;
  g_autofree char *runs = NULL;

  for (guint at = 0; at < plan->unfit->len; at++) {
    const StudyUnfit *unfit = g_ptr_array_index (plan->unfit, at);

    n_runs += unfit->is_left_out == is_left_out ? unfit->n_runs : 0;
  }
  if (n_runs == 0)
    return;
  runs = base_count (n_runs, "run");
  cli_printf (out, "%s%s\n", heading, runs);
  for (guint at = 0; at < plan->unfit->len; at++) {
    const StudyUnfit *unfit = g_ptr_array_index (plan->unfit, at);

    if (unfit->is_left_out != is_left_out)
      continue;
    if (++n_told > most)
      break;
    cli_printf (out, "  %s on %s: %s\n", unfit->mapping, unfit->machine, unfit->problem);
  }
  if (n_told > most)
    fputs ("  ... --dry-run tells all\n", out);
}

/* Prints each assumption once, with the first machine that makes it. */
static void
tell_assumptions (const StudyPlan *plan)
{
  g_autoptr (GHashTable) told = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint at = 0; at < plan->machines->len; at++) {
    const StudyMachine *machine = g_ptr_array_index (plan->machines, at);
    g_autoptr (GPtrArray) lines = g_ptr_array_new_with_free_func (g_free);

    if (machine->machine != NULL)
      topo_machine_assumptions (machine->machine, lines);
    for (guint line = 0; line < lines->len; line++)
      if (g_hash_table_add (told, g_strdup (lines->pdata[line])))
        cli_printf (stderr, "hopcast: warning: %s: %s\n", machine->text,
                    (const char *) lines->pdata[line]);
  }
}

/* --- The runs --- */

static void
tell_progress (void *data, const StudyTally *tally)
{
  guint todo = tally->n_runs - tally->n_there, n_left = tally->n_races - tally->n_over,
        ended = tally->n_done + tally->n_failed;
  double rate = tally->elapsed_s > 0 ? ended / tally->elapsed_s : 0;
  g_autofree char *runs = base_count (todo, "run");
  g_autofree char *failed =
      tally->n_failed > 0 ? g_strdup_printf (", %u failed", tally->n_failed) : g_strdup ("");
  g_autofree char *middle =
      rate >= 1 || rate == 0
          ? g_strdup_printf ("%u of %s%s, %.0f per second, ", ended, runs, failed, rate)
          : g_strdup_printf ("%u of %s%s, %.0f per hour, ", ended, runs, failed, rate * 3600);

  /* How many runs a race will need is not known. */
  if (n_left > 0) {
    g_autofree char *left = base_count (n_left, "race");
    g_autofree char *text = g_strdup_printf ("%s%s to go, ", middle, left);

    cli_progress_text (data, (double) tally->n_over / tally->n_races, text);
  } else
    cli_progress_text (data, todo > 0 ? (double) ended / todo : 1, middle);
}

/* who: RUSAGE_SELF or RUSAGE_CHILDREN. */
static double
processor_s (int who)
{
  struct rusage usage;

  if (getrusage (who, &usage) != 0)
    return 0;
  return (double) (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         (double) (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

/* --- Without the runs --- */

static int
dry_run (const StudyPlan *plan, const StudySessionOptions *session, GError **error)
{
  g_autofree char *store = study_session_store_path (plan, session);
  g_auto (StudyTally) tally = { 0 };
  g_autoptr (GArray) todo = study_session_todo (plan, session, &tally, error);
  guint n_workers = session->n_workers > 0 ? session->n_workers : g_get_num_processors ();
  g_autofree char *time = NULL, *unknown = NULL;
  StudyEstimate estimate;
  double seconds;

  if (todo == NULL || !study_estimate (plan, session, todo, &estimate, error))
    return CLI_FAILED;
  n_workers = MAX (1, MIN (n_workers, todo->len));
  seconds = estimate.run_s / n_workers;
  time = seconds < 100    ? g_strdup_printf ("%.2g s", seconds)
         : seconds < 6000 ? g_strdup_printf ("%.0f min", seconds / 60)
                          : g_strdup_printf ("%.1f h", seconds / 3600);
  unknown = base_count (estimate.n_unknown, "run");
  printf ("runs     %u\ndone     %u\nfailed   %u\nto do    %u\n", tally.n_runs,
          tally.n_there - tally.n_failed_before, tally.n_failed_before, todo->len);
  printf ("time     %s with %u at a time", time, n_workers);
  if (estimate.n_unknown > 0)
    printf (", and %s of which nothing is known", unknown);
  if (session->race_best > 0)
    printf ("\nrace     as few of these as it takes, and at most %u that screen",
            plan->runs->len - plan->n_listed);
  for (guint at = 0; at < plan->failures->len; at++)
    cli_printf (stdout, "\n%-9s%s", at == 0 ? "out" : "",
                (const char *) g_ptr_array_index (plan->failures, at));
  printf ("\nmemory   %.0f MB and more\nstore    %s\n",
          (double) estimate.peak_rss_bytes * n_workers / 1e6, store);
  tell_unfit (stdout, plan, FALSE, "fail, as mappings do not fit: ", G_MAXUINT);
  tell_unfit (stdout, plan, TRUE, "left out, as mappings do not fit: ", G_MAXUINT);
  return CLI_DONE;
}

static int
make_runs (const StudyPlan *plan, StudySessionOptions *session, const Options *options,
           GError **error)
{
  g_autofree char *store = study_session_store_path (plan, session);
  g_autoptr (CliProgress) progress = cli_progress_new (options->talk.quiet);
  g_auto (StudyTally) tally = { 0 };
  int status;

  session->progress = tell_progress;
  session->progress_data = progress;
  if (!study_session_run (plan, cli_pool_kind, session, &tally, error))
    return CLI_FAILED;
  g_clear_pointer (&progress, cli_progress_free);
  status = tally.signal != 0                            ? SIGNAL_EXIT + tally.signal
           : tally.n_failed + tally.n_failed_before > 0 ? (int) CLI_PARTLY
                                                        : (int) CLI_DONE;
  if (!options->talk.quiet) {
    g_autofree char *done = base_count (tally.n_done, "run");
    g_autofree char *changed = base_count (tally.n_changed, "run");
    g_autofree char *failed_before = base_count (tally.n_failed_before, "run");

    if (tally.first_error != NULL)
      cli_printf (stderr, "hopcast: the first run that failed: %s\n", tally.first_error);
    if (tally.n_changed > 0)
      cli_printf (
          stderr,
          "hopcast: inputs of %s changed during the runs; the same command takes them as they are now\n",
          changed);
    if (tally.n_failed_before > 0)
      cli_printf (stderr, "hopcast: %s failed before; --retry-failed tries again\n", failed_before);
    cli_printf (stderr, "hopcast: %s done, %u failed, %u %s there: %s\n", done, tally.n_failed,
                tally.n_there, tally.n_there == 1 ? "was" : "were", store);
    if (options->talk.verbose)
      cli_printf (
          stderr,
          "hopcast: %.3f s, of which %.3f s in the store (%.2f %%); processor time: %.3f s here, "
          "%.3f s of workers\n",
          tally.elapsed_s, tally.store_s,
          tally.elapsed_s > 0 ? 100 * tally.store_s / tally.elapsed_s : 0,
          processor_s (RUSAGE_SELF), processor_s (RUSAGE_CHILDREN));
    if (tally.signal != 0)
      cli_printf (stderr, "hopcast: stopped by %s; the same command continues\n",
                  g_strsignal (tally.signal));
    else if (session->n_shards > 0)
      cli_printf (stderr, "hopcast: next: hopcast study merge, when all shards are there\n");
    else
      cli_printf (stderr, "hopcast: next: hopcast %s %s; hopcast report %s -o page.html\n",
                  plan->failures->len > 0 ? "study failures" : "rank", store, store);
  }
  return status;
}

int
cli_study_run (int argc, char **argv, GError **error)
{
  static const char *const names[] = { "STUDY", NULL };
  g_autoptr (GOptionContext) context = cli_context_new (
      "STUDY", "Makes the runs that a study file asks for and that its store does not have.");
  g_auto (Options) options = { .confidence = 0.95 };
  StudySessionOptions session = { 0 };
  g_autoptr (StudyPlan) plan = NULL;
  g_autoptr (CliProgress) progress = NULL;
  const char *path;

  add_own_options (context, &options);
  if (!cli_parse (context, argc, argv, names, &path, error) ||
      !check_options (&options, &session, error) || !(plan = study_plan_load (path, error)))
    return CLI_FAILED;
  plan->is_raced = session.race_best > 0;
  progress = cli_progress_new (options.talk.quiet);
  if (!study_plan_resolve (plan, cli_progress_share, progress, error))
    return CLI_FAILED;
  g_clear_pointer (&progress, cli_progress_free);
  if (options.dry_run)
    return dry_run (plan, &session, error);
  if (!cli_pool_kind->is_master ())
    return study_session_serve (plan, cli_pool_kind, error) ? CLI_DONE : CLI_FAILED;
  if (!options.talk.quiet) {
    tell_assumptions (plan);
    tell_unfit (stderr, plan, FALSE, "hopcast: fail, as mappings do not fit: ", MOST_UNFIT);
    tell_unfit (stderr, plan, TRUE, "hopcast: left out, as mappings do not fit: ", MOST_UNFIT);
  }
  return make_runs (plan, &session, &options, error);
}
