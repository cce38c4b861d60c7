/* study_status.c - `hopcast study status`: how far a study is.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cli/command.h"
#include "cli/options.h"
#include "cli/study/study_store.h"
#include "cli/terminal.h"

#include <string.h>

/* What is known of a store; of different errors each is there once. */
typedef struct {
  StudyStore *store;
  char *name;
  GPtrArray *cases;   /* (element-type StudyProgress) */
  GPtrArray *errors;  /* (element-type utf8) in the order of the runs */
  GHashTable *counts; /* (element-type utf8 guint) */
  guint n_runs, n_done, n_failed;
} Status;

static void
status_clear (Status *status)
{
  g_clear_pointer (&status->store, study_store_free);
  g_clear_pointer (&status->cases, g_ptr_array_unref);
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
read_errors (Status *status, GError **error)
{
  g_autoptr (GPtrArray) rows = study_store_rows (status->store, FALSE, error);

  if (!rows)
    return FALSE;
  status->errors = g_ptr_array_new_with_free_func (g_free);
  status->counts = g_hash_table_new (g_str_hash, g_str_equal);
  for (guint at = 0; at < rows->len; at++) {
    const StudyRow *row = g_ptr_array_index (rows, at);
    const char *text = row->error ? row->error : "no reason was kept";
    guint count;

    if (row->status == STUDY_DONE)
      continue;
    count = count_of (status, text);
    if (count == 0)
      g_ptr_array_add (status->errors, g_strdup (text));
    g_hash_table_insert (status->counts,
                         count > 0 ? (gpointer) text
                                   : g_ptr_array_index (status->errors, status->errors->len - 1),
                         GUINT_TO_POINTER (count + 1));
  }
  return TRUE;
}

static gboolean
read_status (Status *status, const char *path, GError **error)
{
  status->store = cli_study_store_open (path, error);
  if (!status->store || !(status->name = study_store_name (status->store, error)) ||
      !(status->cases = study_store_progress (status->store, error)) ||
      !read_errors (status, error))
    return FALSE;
  for (guint at = 0; at < status->cases->len; at++) {
    const StudyProgress *progress = g_ptr_array_index (status->cases, at);

    status->n_runs += progress->n_runs;
    status->n_done += progress->n_done;
    status->n_failed += progress->n_failed;
  }
  return TRUE;
}

/* --- For people --- */

static void
print_case (const StudyProgress *progress)
{
  cli_printf (stdout, "  %8u %8u %8u %8u  %s, %s, %s", progress->n_runs, progress->n_done,
              progress->n_failed, progress->n_runs - progress->n_done - progress->n_failed,
              progress->trace, progress->machine, progress->network);
  if (g_strcmp0 (progress->routing, "default"))
    cli_printf (stdout, ", routing %s", progress->routing);
  if (progress->compute_scale < 1 || progress->compute_scale > 1)
    printf (", compute x %g", progress->compute_scale);
  putchar ('\n');
}

static void
print_table (const Status *status)
{
  cli_print_heading (stdout, "study");
  cli_printf (stdout, "  %-10s %s\n  %-10s %s\n", "name", status->name, "store",
              study_store_path (status->store));
  printf ("  %-10s %u: %u done, %u failed, %u missing\n", "runs", status->n_runs, status->n_done,
          status->n_failed, status->n_runs - status->n_done - status->n_failed);
  cli_print_heading (stdout, "cases");
  printf ("  %8s %8s %8s %8s  %s\n", "runs", "done", "failed", "missing", "case");
  for (guint at = 0; at < status->cases->len; at++)
    print_case (g_ptr_array_index (status->cases, at));
  if (status->errors->len > 0)
    cli_print_heading (stdout, "errors");
  for (guint at = 0; at < status->errors->len; at++) {
    const char *text = g_ptr_array_index (status->errors, at);

    cli_printf (stdout, "  %8u  %s\n", count_of (status, text), text);
  }
}

/* --- For programs --- */

static void
print_csv (const Status *status)
{
  puts ("trace,machine,network,routing,compute_scale,runs,done,failed,missing");
  for (guint at = 0; at < status->cases->len; at++) {
    const StudyProgress *progress = g_ptr_array_index (status->cases, at);
    const char *const texts[] = { progress->trace, progress->machine, progress->network,
                                  progress->routing };
    char scale[STUDY_NUMBER_SIZE];

    for (gsize text = 0; text < G_N_ELEMENTS (texts); text++) {
      study_csv_field (stdout, texts[text] ? texts[text] : "");
      putchar (',');
    }
    printf ("%s,%u,%u,%u,%u\n", study_number (scale, progress->compute_scale), progress->n_runs,
            progress->n_done, progress->n_failed,
            progress->n_runs - progress->n_done - progress->n_failed);
  }
}

static void
add_counts (JsonBuilder *builder, guint n_runs, guint n_done, guint n_failed)
{
  cli_add_integer (builder, "runs", n_runs);
  cli_add_integer (builder, "done", n_done);
  cli_add_integer (builder, "failed", n_failed);
  cli_add_integer (builder, "missing", n_runs - n_done - n_failed);
}

static void
add_cases (JsonBuilder *builder, const GPtrArray *cases)
{
  json_builder_set_member_name (builder, "cases");
  json_builder_begin_array (builder);
  for (guint at = 0; at < cases->len; at++) {
    const StudyProgress *progress = g_ptr_array_index (cases, at);

    json_builder_begin_object (builder);
    cli_add_string (builder, "trace", progress->trace);
    cli_add_string (builder, "machine", progress->machine);
    cli_add_string (builder, "network", progress->network);
    cli_add_string (builder, "routing", progress->routing);
    cli_add_number (builder, "compute_scale", progress->compute_scale);
    add_counts (builder, progress->n_runs, progress->n_done, progress->n_failed);
    json_builder_end_object (builder);
  }
  json_builder_end_array (builder);
}

static void
print_json (const Status *status)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  g_autoptr (JsonNode) record = NULL;

  json_builder_begin_object (builder);
  cli_add_string (builder, "name", status->name);
  cli_add_string (builder, "store", study_store_path (status->store));
  add_counts (builder, status->n_runs, status->n_done, status->n_failed);
  add_cases (builder, status->cases);
  json_builder_set_member_name (builder, "errors");
  json_builder_begin_array (builder);
  for (guint at = 0; at < status->errors->len; at++) {
    const char *text = g_ptr_array_index (status->errors, at);

    json_builder_begin_object (builder);
    cli_add_string (builder, "error", text);
    cli_add_integer (builder, "runs", count_of (status, text));
    json_builder_end_object (builder);
  }
  json_builder_end_array (builder);
  json_builder_end_object (builder);
  record = json_builder_get_root (builder);
  cli_print_record (stdout, record, CLI_FORMAT_JSON);
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
  if (format.format == CLI_FORMAT_TABLE)
    print_table (&status);
  else if (format.format == CLI_FORMAT_CSV)
    print_csv (&status);
  else
    print_json (&status);
  return CLI_DONE;
}
