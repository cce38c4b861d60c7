/* study_status.c - `hopcast study status`: the state of a study's runs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/print/columns.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/study/study_store.h"
#include "cli/print/terminal.h"
#include "study/failures.h"

#include <stddef.h>
#include <string.h>

/* A store, its progress and its distinct errors. */
typedef struct {
  StudyStore *store;
  char *name;
  GPtrArray *cases;   /* (element-type StudyProgress) */
  GPtrArray *race;    /* (element-type StudyRaceRow) */
  GPtrArray *errors;  /* (element-type utf8) in the order of the runs */
  GHashTable *counts; /* (element-type utf8 guint) */
  guint n_runs, n_done, n_failed;
} Status;

static void
status_clear (Status *status)
{
  g_clear_pointer (&status->store, study_store_free);
  g_clear_pointer (&status->cases, g_ptr_array_unref);
  g_clear_pointer (&status->race, g_ptr_array_unref);
  g_clear_pointer (&status->errors, g_ptr_array_unref);
  g_clear_pointer (&status->counts, g_hash_table_unref);
  g_free (status->name);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Status, status_clear)

static guint
count_of (const Status *status, const char *text)
{
  return GPOINTER_TO_UINT (g_hash_table_lookup (status->counts, text));
}

static gboolean
read_status (Status *status, const char *path, GError **error)
{
  g_autoptr (GPtrArray) rows = NULL;

  status->store = cli_study_store_open (path, error);
  if (!status->store || !(status->name = study_store_name (status->store, error)) ||
      !(status->cases = study_store_progress (status->store, error)) ||
      !(status->race = study_store_race (status->store, error)) ||
      !(rows = study_store_rows (status->store, FALSE, error)))
    return FALSE;
  status->errors = g_ptr_array_new_with_free_func (g_free);
  status->counts = g_hash_table_new (g_str_hash, g_str_equal);
  for (guint at = 0; at < rows->len; at++) {
    const StudyRow *row = g_ptr_array_index (rows, at);
    char *text = g_strdup (row->error ? row->error : "no reason was kept");
    guint count = count_of (status, text);

    if (row->status == STUDY_DONE) {
      g_free (text);
      continue;
    }
    if (count == 0)
      g_ptr_array_add (status->errors, text);
    g_hash_table_insert (status->counts, text, GUINT_TO_POINTER (count + 1));
    if (count > 0)
      g_free (text);
  }
  for (guint at = 0; at < status->cases->len; at++) {
    const StudyProgress *progress = g_ptr_array_index (status->cases, at);

    status->n_runs += progress->n_runs;
    status->n_done += progress->n_done;
    status->n_failed += progress->n_failed;
  }
  return TRUE;
}

/* --- Printing --- */

typedef struct {
  const char *trace, *machine, *network, *routing;
  double compute_scale;
  uint32_t n_runs, n_done, n_failed, n_missing;
  const char *name; /* of the case */
} Case;

typedef struct {
  const char *error;
  uint32_t n_runs;
} Failure;

static const CliColumn case_columns[] = {
  { "trace", NULL, CLI_CELL_TEXT, offsetof (Case, trace) },
  { "machine", NULL, CLI_CELL_TEXT, offsetof (Case, machine) },
  { "network", NULL, CLI_CELL_TEXT, offsetof (Case, network) },
  { "routing", NULL, CLI_CELL_TEXT, offsetof (Case, routing) },
  { "compute_scale", NULL, CLI_CELL_NUMBER, offsetof (Case, compute_scale) },
  { "runs", "runs", CLI_CELL_U32, offsetof (Case, n_runs) },
  { "done", "done", CLI_CELL_U32, offsetof (Case, n_done) },
  { "failed", "failed", CLI_CELL_U32, offsetof (Case, n_failed) },
  { "missing", "missing", CLI_CELL_U32, offsetof (Case, n_missing) },
  { NULL, "case", CLI_CELL_TEXT, offsetof (Case, name) },
};
static const CliColumn failure_columns[] = {
  { NULL, "runs", CLI_CELL_U32, offsetof (Failure, n_runs) },
  { "error", "error", CLI_CELL_TEXT, offsetof (Failure, error) },
  { "runs", NULL, CLI_CELL_U32, offsetof (Failure, n_runs) },
};

static const CliColumn race_columns[] = {
  { "race", NULL, CLI_CELL_U32, offsetof (StudyRaceRow, number) },
  { "trace", NULL, CLI_CELL_TEXT, offsetof (StudyRaceRow, trace) },
  { "machine", NULL, CLI_CELL_TEXT, offsetof (StudyRaceRow, machine) },
  { "network", NULL, CLI_CELL_TEXT, offsetof (StudyRaceRow, network) },
  { "routing", NULL, CLI_CELL_TEXT, offsetof (StudyRaceRow, routing) },
  { "outcome", NULL, CLI_CELL_TEXT, offsetof (StudyRaceRow, outcome) },
  { "draws", NULL, CLI_CELL_U32, offsetof (StudyRaceRow, n_draws) },
  { "time_s", NULL, CLI_CELL_NUMBER, offsetof (StudyRaceRow, time_s) },
  { "behind", NULL, CLI_CELL_NUMBER, offsetof (StudyRaceRow, behind) },
  { "margin", NULL, CLI_CELL_NUMBER, offsetof (StudyRaceRow, margin) },
  { "mapping", NULL, CLI_CELL_TEXT, offsetof (StudyRaceRow, mapping) },
};

/* Of one case. */
typedef struct {
  uint32_t n_mappings, n_equal, n_beaten, n_screened, n_failed;
  const char *best; /* the first one's mapping */
} Race;

static const CliColumn race_summary_columns[] = {
  { NULL, "mappings", CLI_CELL_U32, offsetof (Race, n_mappings) },
  { NULL, "not told apart", CLI_CELL_U32, offsetof (Race, n_equal) },
  { NULL, "beaten", CLI_CELL_U32, offsetof (Race, n_beaten) },
  { NULL, "screened", CLI_CELL_U32, offsetof (Race, n_screened) },
  { NULL, "failed", CLI_CELL_U32, offsetof (Race, n_failed) },
  { NULL, "best", CLI_CELL_TEXT, offsetof (Race, best) },
};

/* A line for each race. */
static void
print_races (const Status *status)
{
  g_autoptr (GArray) races = g_array_new (FALSE, FALSE, sizeof (Race));

  for (guint at = 0; at < status->race->len; at++) {
    const StudyRaceRow *row = g_ptr_array_index (status->race, at);
    Race *race;

    if (at == 0 || row->number != ((StudyRaceRow *) status->race->pdata[at - 1])->number) {
      const Race fresh = { .best = row->mapping };

      g_array_append_val (races, fresh);
    }
    race = &g_array_index (races, Race, races->len - 1);
    race->n_mappings++;
    race->n_equal += strcmp (row->outcome, "not told apart") == 0;
    race->n_beaten += strcmp (row->outcome, "beaten") == 0;
    race->n_screened += strcmp (row->outcome, "screened") == 0;
    race->n_failed += strcmp (row->outcome, "failed") == 0;
  }
  cli_print_heading (stdout, "races");
  cli_rows_print_table (
      stdout, &CLI_ROWS (race_summary_columns, (Race *) (void *) races->data, races->len), "  ");
  puts ("  the runs that are missing are those that the races left out");
}

static char *
case_name (const StudyProgress *progress, const char *machine)
{
  GString *name = g_string_new (NULL);

  g_string_printf (name, "%s, %s, %s", progress->trace, machine, progress->network);
  if (g_strcmp0 (progress->routing, "default"))
    g_string_append_printf (name, ", routing %s", progress->routing);
  if (progress->compute_scale < 1 || progress->compute_scale > 1)
    g_string_append_printf (name, ", compute x %g", progress->compute_scale);
  return g_string_free (name, FALSE);
}

/* Fills cases[], whose names are added to `names`, and returns how many they are.  A table has one line
 * for all cases that differ in the part that is out, which may be thousands. */
static guint
fill_cases (const Status *status, CliFormat format, Case *cases, GPtrArray *names)
{
  g_autoptr (GHashTable) folded = g_hash_table_new (g_str_hash, g_str_equal); /* name to Case */
  guint n = 0;

  for (guint at = 0; at < status->cases->len; at++) {
    const StudyProgress *progress = g_ptr_array_index (status->cases, at);
    const char *part, *fault;
    gsize length = study_failure_whole_length (progress->machine, &part, &fault);
    gboolean is_folded = format == CLI_FORMAT_TABLE && length > 0;
    g_autofree char *machine =
        is_folded ? g_strdup_printf ("%.*s with a part out", (int) length, progress->machine)
                  : g_strdup (progress->machine);
    char *name = case_name (progress, machine);
    Case *it = is_folded ? g_hash_table_lookup (folded, name) : NULL;

    g_ptr_array_add (names, name);
    if (it == NULL) {
      it = &cases[n++];
      *it = (Case){ .trace = progress->trace,
                    .machine = progress->machine,
                    .network = progress->network,
                    .routing = progress->routing,
                    .compute_scale = progress->compute_scale,
                    .name = name };
      g_hash_table_insert (folded, name, it);
    }
    it->n_runs += progress->n_runs;
    it->n_done += progress->n_done;
    it->n_failed += progress->n_failed;
    it->n_missing += progress->n_runs - progress->n_done - progress->n_failed;
  }
  return n;
}

static void
print (const Status *status, CliFormat format)
{
  g_autofree Case *cases = g_new (Case, status->cases->len);
  g_autofree Failure *failures = g_new (Failure, status->errors->len);
  const CliRows failure_rows = CLI_ROWS (failure_columns, failures, status->errors->len);
  g_autofree StudyRaceRow *races = g_new (StudyRaceRow, status->race->len + 1);
  const CliRows race_rows = CLI_ROWS (race_columns, races, status->race->len);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  const CliRows case_rows =
      CLI_ROWS (case_columns, cases, fill_cases (status, format, cases, names));
  g_autoptr (JsonBuilder) builder = NULL;
  guint n_missing = status->n_runs - status->n_done - status->n_failed;

  for (guint at = 0; at < status->errors->len; at++) {
    failures[at].error = g_ptr_array_index (status->errors, at);
    failures[at].n_runs = count_of (status, failures[at].error);
  }
  for (guint at = 0; at < status->race->len; at++)
    races[at] = *(const StudyRaceRow *) g_ptr_array_index (status->race, at);
  switch (format) {
  case CLI_FORMAT_TABLE:
    cli_print_heading (stdout, "study");
    cli_printf (stdout, "  %-10s %s\n  %-10s %s\n", "name", status->name, "store",
                study_store_path (status->store));
    printf ("  %-10s %u: %u done, %u failed, %u missing\n", "runs", status->n_runs, status->n_done,
            status->n_failed, n_missing);
    cli_print_heading (stdout, "cases");
    cli_rows_print_table (stdout, &case_rows, "  ");
    if (status->race->len > 0)
      print_races (status);
    if (failure_rows.n_rows > 0) {
      cli_print_heading (stdout, "errors");
      cli_rows_print_table (stdout, &failure_rows, "  ");
    }
    break;
  case CLI_FORMAT_CSV: cli_rows_print_csv (stdout, &case_rows); break;
  case CLI_FORMAT_JSON:
    builder = json_builder_new ();
    json_builder_begin_object (builder);
    cli_add_string (builder, "schema", "hopcast.study-status/1");
    cli_add_string (builder, "name", status->name);
    cli_add_string (builder, "store", study_store_path (status->store));
    cli_add_integer (builder, "runs", status->n_runs);
    cli_add_integer (builder, "done", status->n_done);
    cli_add_integer (builder, "failed", status->n_failed);
    cli_add_integer (builder, "missing", n_missing);
    cli_rows_add_json (builder, "cases", &case_rows);
    cli_rows_add_json (builder, "races", &race_rows);
    cli_rows_add_json (builder, "errors", &failure_rows);
    cli_print_object (stdout, builder);
    break;
  }
}

int
cli_study_status (int argc, char **argv, GError **error)
{
  static const char *const names[] = { "STORE|STUDY", NULL };
  g_autoptr (GOptionContext) context =
      cli_context_new ("STORE|STUDY", "Says how many runs of a study are done, failed and missing, "
                                      "also while it runs.");
  g_auto (CliFormatOptions) format = { 0 };
  g_auto (Status) status = { 0 };
  const char *path;

  cli_add_format_options (context, &format);
  if (!cli_parse (context, argc, argv, names, &path, error) || !cli_parse_format (&format, error) ||
      !read_status (&status, path, error))
    return CLI_FAILED;
  print (&status, format.format);
  return CLI_DONE;
}
