/* rank.c - `hopcast rank`: the mappings of a study, best first; the best one's map file.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cli/command.h"
#include "cli/map/map_options.h"
#include "cli/study/rank_model.h"
#include "cli/study/rank_print.h"
#include "cli/study/study_store.h"
#include "study/store/store.h"
#include "study/text.h"

#include <math.h>
#include <string.h>

typedef struct {
  CliFormatOptions format;
  CliLearningOptions learning;
  char *by, *model, *wanted_case, *output, *kind, *hosts;
  double tie, interval; /* interval NaN: not given */
  int top;
} Options;

static void
options_clear (Options *options)
{
  cli_format_options_clear (&options->format);
  cli_learning_options_clear (&options->learning);
  g_free (options->by);
  g_free (options->model);
  g_free (options->wanted_case);
  g_free (options->output);
  g_free (options->kind);
  g_free (options->hosts);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

static void
add_options (GOptionContext *context, Options *options)
{
  const GOptionEntry entries[] = {
    { "by", 0, 0, G_OPTION_ARG_STRING, &options->by,
      "What is ranked, the smallest first: any number of a run, such as max_bytes (default: time_s, "
      "and max_bytes where the network has no time)",
      "COLUMN" },
    { "model", 0, 0, G_OPTION_ARG_FILENAME, &options->model,
      "Rank by what a model of 'hopcast train' or 'hopcast correct' predicts", "MODEL" },
    { "interval", 0, 0, G_OPTION_ARG_DOUBLE, &options->interval,
      "With --model: also between which values this share of the results probably is, such as 0.9",
      "LEVEL" },
    { "tie", 0, 0, G_OPTION_ARG_DOUBLE, &options->tie,
      "Share of the best of a place within which others share it (default: 0.01)", "X" },
    { "case", 0, 0, G_OPTION_ARG_STRING, &options->wanted_case,
      "Only this case: its number, or those with TEXT in their name", "N|TEXT" },
    { "top", 0, 0, G_OPTION_ARG_INT, &options->top,
      "Only the best K mappings of each case, and those that share their places", "K" },
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options->output,
      "Write the map file of the best mapping; of one case", "MAPFILE" },
    { "to", 0, 0, G_OPTION_ARG_STRING, &options->kind,
      "Write the file of a launcher instead: see the kinds below", "KIND" },
    { "hosts", 0, 0, G_OPTION_ARG_FILENAME, &options->hosts,
      "With --to: the names of the nodes, a line each in their order: those of a torus, or other "
      "names than the fabric has",
      "FILE" },
    { NULL },
  };

  g_option_context_add_main_entries (context, entries, NULL);
  cli_add_learning_options (context, &options->learning);
  cli_add_format_options (context, &options->format);
}

static gboolean
refuse (GError **error, const char *text)
{
  g_set_error_literal (error, CLI_ERROR, CLI_ERROR_USAGE, text);
  return FALSE;
}

static gboolean
check_model_options (Options *options, GError **error)
{
  gboolean has_runs =
      options->learning.observed_text != NULL || options->learning.features_text != NULL;

  if (options->model != NULL && options->by != NULL)
    return refuse (error, "--by: with --model, what it predicts is ranked");
  if (options->model == NULL && has_runs)
    return refuse (error, "--observed-runs and --feature-runs need --model MODEL");
  if (options->model == NULL && !isnan (options->interval))
    return refuse (error, "--interval needs --model MODEL");
  if (!isnan (options->interval) && !(options->interval > 0 && options->interval < 1))
    return refuse (error, "--interval: not a share between 0 and 1");
  return cli_parse_learning (&options->learning, error);
}

static gboolean
check_options (Options *options, GError **error)
{
  if (!check_model_options (options, error))
    return FALSE;
  if (!(options->tie >= 0) || !isfinite (options->tie))
    return refuse (error, "--tie: not a number of at least 0");
  if (options->top < 1)
    return refuse (error, "--top: must be at least 1");
  if (options->kind != NULL && options->output == NULL)
    return refuse (error, "--to needs --output FILE");
  if (options->wanted_case != NULL && *options->wanted_case == '\0')
    return refuse (error, "--case: '' is neither a number nor a part of a name");
  if (options->hosts != NULL && options->kind == NULL)
    return refuse (error, "--hosts needs --to KIND");
  if (options->kind != NULL && cli_map_parse_kind (options->kind, error) == NULL)
    return FALSE;
  return cli_parse_format (&options->format, error);
}

/* -- choosing cases ------------------------------------------------------ */

static gboolean
is_number (const char *text)
{
  return *text != '\0' && strspn (text, "0123456789") == strlen (text);
}

static gboolean
is_wanted (const char *wanted, guint number, const StudyCase *study_case)
{
  if (wanted == NULL)
    return TRUE;
  if (is_number (wanted))
    return g_ascii_strtoull (wanted, NULL, 10) == number + 1;
  return strstr (study_case->name, wanted) != NULL;
}

/* [cases]; NULL and *error when none is wanted. */
static bool *
choose_cases (const GPtrArray *cases, const char *wanted, GError **error)
{
  g_autofree bool *chosen = g_new0 (bool, cases->len);
  g_autofree char *all = NULL;
  bool any = false;

  for (guint at = 0; at < cases->len; at++) {
    chosen[at] = is_wanted (wanted, at, g_ptr_array_index (cases, at));
    any |= chosen[at];
  }
  if (any)
    return g_steal_pointer (&chosen);
  all = study_count (cases->len, "case");
  g_set_error (error, CLI_ERROR, CLI_ERROR_USAGE, "--case %s: is none of %s", wanted, all);
  return NULL;
}

/* -- the map file -------------------------------------------------------- */

/* The only chosen one; NULL and *error when there are more, or it ranks nothing. */
static const StudyCase *
only_case (const CliRanking *ranking, GError **error)
{
  const StudyCase *only = NULL;

  for (guint number = 0; number < ranking->cases->len; number++) {
    if (!ranking->chosen[number])
      continue;
    if (only != NULL) {
      refuse (error, "--output is the map file of one case; --case chooses it");
      return NULL;
    }
    only = g_ptr_array_index (ranking->cases, number);
  }
  g_assert (only != NULL);
  if (only->ranked->len > 0)
    return only;
  g_set_error (error, CLI_ERROR, CLI_ERROR_INPUT, "%s: no mapping of \"%s\" is ranked",
               ranking->store, only->name);
  return NULL;
}

static gboolean
write_map_file (const TopoMapping *mapping, const TopoMachine *machine, const char *path,
                GError **error)
{
  g_autofree char *text = topo_mapping_print (mapping, machine);

  return cli_map_write_text (text, path, error);
}

static gboolean
write_for_launcher (const TopoMapping *mapping, TopoMachine *machine, const Options *options,
                    GError **error)
{
  const TopoLauncher *launcher = cli_map_parse_kind (options->kind, error);
  g_autofree char *text = NULL;
  g_auto (TopoLaunch) launch = { NULL };

  if (options->hosts != NULL && !topo_machine_set_hosts (machine, options->hosts, error))
    return FALSE;
  text = launcher->print (mapping, machine, error);
  if (text == NULL || !cli_map_write_text (text, options->output, error))
    return FALSE;
  launch = cli_map_launch (launcher, mapping, machine, options->output);
  cli_map_tell_launch (&launch, FALSE);
  return TRUE;
}

static gboolean
write_best (StudyStore *store, const CliRanking *ranking, const Options *options, GError **error)
{
  const StudyCase *study_case = only_case (ranking, error);
  const StudyRow *row = study_case ? g_array_index (study_case->ranked, StudyRanked, 0).row : NULL;
  g_autoptr (TopoMachine) machine = row ? study_store_machine (store, row, error) : NULL;
  g_autoptr (TopoMapping) mapping = machine ? study_store_placement (store, row, error) : NULL;

  if (mapping == NULL)
    return FALSE;
  if (options->kind == NULL)
    return write_map_file (mapping, machine, options->output, error);
  return write_for_launcher (mapping, machine, options, error);
}

/* -- the command --------------------------------------------------------- */

static GPtrArray *
make_cases (StudyStore *store, const GPtrArray *rows, const CliRankModel *model,
            const Options *options, GError **error)
{
  g_auto (StudyMachineReader) reader = { .store = store };
  g_autoptr (GError) trouble = NULL;
  GPtrArray *cases =
      model ? cli_rank_model_cases (model, rows, options->tie, study_machine_reader_find, &reader)
            : study_cases_new (rows, options->by, options->tie, study_machine_reader_find, &reader,
                               &trouble);

  if (cases == NULL)
    g_set_error (error, CLI_ERROR, CLI_ERROR_USAGE, "--by: %s", trouble->message);
  return cases;
}

/* Of what a model was not asked about, nothing is said. */
static void
leave_empty_out (bool *chosen, const GPtrArray *cases)
{
  for (guint number = 0; number < cases->len; number++)
    chosen[number] &= ((const StudyCase *) g_ptr_array_index (cases, number))->ranked->len > 0;
}

static gboolean
show_ranking (StudyStore *store, CliRanking *ranking, const Options *options, GError **error)
{
  g_autofree bool *chosen = NULL;

  if (ranking->cases->len == 0) {
    g_set_error (error, CLI_ERROR, CLI_ERROR_INPUT, "%s: no run is done yet", ranking->store);
    return FALSE;
  }
  chosen = choose_cases (ranking->cases, options->wanted_case, error);
  if (chosen == NULL)
    return FALSE;
  if (options->model != NULL && options->wanted_case == NULL)
    leave_empty_out (chosen, ranking->cases);
  ranking->chosen = chosen;
  if (options->output != NULL && !write_best (store, ranking, options, error))
    return FALSE;
  /* A map file on standard output has it for itself. */
  if (g_strcmp0 (options->output, "-"))
    cli_ranking_print (stdout, ranking, options->format.format);
  return TRUE;
}

static CliRankModel *
open_model (StudyStore *store, const GPtrArray *rows, const Options *options, GError **error)
{
  return cli_rank_model_new (options->model, isnan (options->interval) ? 0 : options->interval,
                             &options->learning, store, rows, error);
}

static gboolean
rank_store (StudyStore *store, const Options *options, GError **error)
{
  g_autofree char *name = study_store_name (store, error);
  g_autoptr (GPtrArray) rows = name ? study_store_rows (store, FALSE, error) : NULL;
  g_autoptr (GPtrArray) missing = rows ? study_store_missing (store, error) : NULL;
  g_autoptr (CliRankModel) model =
      missing && options->model ? open_model (store, rows, options, error) : NULL;
  g_autoptr (GPtrArray) cases = NULL;
  g_autoptr (GArray) columns = NULL;

  if (missing == NULL || (options->model != NULL && model == NULL))
    return FALSE;
  cases = make_cases (store, rows, model, options, error);
  columns = model ? cli_rank_model_columns (model, rows) : NULL;
  return cases && show_ranking (store,
                                &(CliRanking){ .store = study_store_path (store),
                                               .study = name,
                                               .n_missing = missing->len,
                                               .cases = cases,
                                               .top = (guint) options->top,
                                               .columns = columns,
                                               .note = model ? model->note : NULL },
                                options, error);
}

int
cli_rank (int argc, char **argv, GError **error)
{
  static const char *const names[] = { "STORE|STUDY", NULL };
  g_autoptr (GOptionContext) context = cli_context_new (
      "STORE|STUDY",
      "Ranks the mappings of a study, the best first, for each case: all runs that differ "
      "in nothing but the mapping.");
  g_auto (Options) options = { .tie = STUDY_TIE, .interval = (double) NAN, .top = G_MAXINT };
  g_autoptr (StudyStore) store = NULL;
  g_autofree char *kinds = cli_map_describe_kinds ();
  const char *path;

  add_options (context, &options);
  g_option_context_set_description (context, kinds);
  if (!cli_parse (context, argc, argv, names, &path, error) || !check_options (&options, error) ||
      !(store = cli_study_store_open (path, error)) || !rank_store (store, &options, error))
    return CLI_FAILED;
  return CLI_DONE;
}
