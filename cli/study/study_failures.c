/* study_failures.c - `hopcast study failures`: what each single part that is out costs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/print/columns.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/study/study_store.h"
#include "cli/print/terminal.h"
#include "base/words.h"
#include "study/failures.h"
#include "study/ranking.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

typedef struct {
  CliFormatOptions format;
  double tie;
  gboolean parts;
} Options;

static void
options_clear (Options *options)
{
  cli_format_options_clear (&options->format);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

/* A mapping on a machine. */
typedef struct {
  const char *trace, *machine, *network, *routing, *shrink, *mapping, *fault, *column, *worst_part,
      *name;
  double compute_scale, value, median, worst;
  uint32_t n_parts, n_slowed, n_failed;
} Case;

/* A part of it that is out. */
typedef struct {
  Case of;
  const char *part, *error;
  double value, slow_down;
  uint32_t n_nodes; /* that are left */
} Part;

/* In both, so that lines of parts can be told apart. */
#define NAME_COLUMNS(at)                                                                 \
  { "trace", NULL, CLI_CELL_TEXT, (at) + offsetof (Case, trace) },                       \
      { "machine", NULL, CLI_CELL_TEXT, (at) + offsetof (Case, machine) },               \
      { "network", NULL, CLI_CELL_TEXT, (at) + offsetof (Case, network) },               \
      { "routing", NULL, CLI_CELL_TEXT, (at) + offsetof (Case, routing) },               \
      { "shrink", NULL, CLI_CELL_TEXT, (at) + offsetof (Case, shrink) },                 \
      { "compute_scale", NULL, CLI_CELL_NUMBER, (at) + offsetof (Case, compute_scale) }, \
      { "mapping", NULL, CLI_CELL_TEXT, (at) + offsetof (Case, mapping) },               \
      { "fault", NULL, CLI_CELL_TEXT, (at) + offsetof (Case, fault) },                   \
  {                                                                                      \
    "column", NULL, CLI_CELL_TEXT, (at) + offsetof (Case, column)                        \
  }

static const CliColumn case_columns[] = {
  NAME_COLUMNS (0),
  { NULL, "fault", CLI_CELL_TEXT, offsetof (Case, fault) },
  { "parts", "parts", CLI_CELL_U32, offsetof (Case, n_parts) },
  { "failed", "failed", CLI_CELL_U32, offsetof (Case, n_failed) },
  { "slowed", "slowed", CLI_CELL_U32, offsetof (Case, n_slowed) },
  { "value", "without a failure", CLI_CELL_NUMBER, offsetof (Case, value) },
  { "median_slow_down", "median", CLI_CELL_SHARE, offsetof (Case, median) },
  { "worst_slow_down", "worst", CLI_CELL_SHARE, offsetof (Case, worst) },
  { "worst_part", "worst part", CLI_CELL_TEXT, offsetof (Case, worst_part) },
  { NULL, "mapping", CLI_CELL_TEXT, offsetof (Case, mapping) },
  { NULL, "case", CLI_CELL_TEXT, offsetof (Case, name) },
};

#define PART_COLUMNS                                                            \
  { "part", "part", CLI_CELL_TEXT, offsetof (Part, part) },                     \
      { "value", "value", CLI_CELL_NUMBER, offsetof (Part, value) },            \
      { "slow_down", "slow-down", CLI_CELL_SHARE, offsetof (Part, slow_down) }, \
      { "nodes", "nodes", CLI_CELL_KNOWN_U32, offsetof (Part, n_nodes) },       \
  {                                                                             \
    "error", "error", CLI_CELL_TEXT, offsetof (Part, error)                     \
  }

/* In JSON they are in their case. */
static const CliColumn part_columns[] = { PART_COLUMNS };
static const CliColumn part_csv_columns[] = { NAME_COLUMNS (offsetof (Part, of)), PART_COLUMNS };

/* A part without which jobs do not run. */
typedef struct {
  const char *part, *machine, *error;
  uint32_t n_cases;
} Needed;

static const CliColumn needed_columns[] = {
  { NULL, "part", CLI_CELL_TEXT, offsetof (Needed, part) },
  { NULL, "cases", CLI_CELL_U32, offsetof (Needed, n_cases) },
  { NULL, "machine", CLI_CELL_TEXT, offsetof (Needed, machine) },
  { NULL, "error", CLI_CELL_TEXT, offsetof (Needed, error) },
};

static Case
case_of (const StudyFailureCase *it)
{
  return (Case){ .trace = it->row->trace,
                 .machine = it->machine,
                 .network = it->row->network,
                 .routing = it->row->routing,
                 .shrink = it->row->shrink,
                 .mapping = it->row->mapping,
                 .fault = it->fault,
                 .column = it->column,
                 .worst_part = it->worst_part,
                 .name = it->name,
                 .compute_scale = it->row->compute_scale,
                 .value = it->whole.value,
                 .median = it->median,
                 .worst = it->worst,
                 .n_parts = it->failures->len,
                 .n_slowed = it->n_slowed,
                 .n_failed = it->n_failed };
}

/* The parts of a case, the worst first; the caller frees. */
static Part *
parts_of (const StudyFailureCase *it)
{
  Part *parts = g_new (Part, it->failures->len);

  for (guint at = 0; at < it->failures->len; at++) {
    const StudyFailure *failure = &g_array_index (it->failures, StudyFailure, at);

    parts[at] = (Part){ .of = case_of (it),
                        .part = failure->part,
                        .error = failure->has_failed ? failure->row->error : NULL,
                        .n_nodes = failure->row != NULL ? failure->row->nodes : 0,
                        .value = failure->value,
                        .slow_down = failure->slow_down };
  }
  return parts;
}

/* Jobs for which no part is to blame, each once: what they say of the whole machine. */
static void
print_hopeless (const GPtrArray *cases)
{
  g_autoptr (GHashTable) known = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint number = 0; number < cases->len; number++) {
    const StudyFailureCase *it = g_ptr_array_index (cases, number);

    if (it->whole.has_failed &&
        g_hash_table_add (known, g_strjoin ("\n", it->name, it->row->mapping, NULL)))
      cli_printf (stdout, "without a failure too it does not run: %s, %s: %s\n", it->name,
                  it->row->mapping, it->whole.row->error);
  }
}

/* Each part of a machine without which a job does not run once, with its first error; none of jobs that
 * do not run on the whole machine either. */
static void
print_needed (const GPtrArray *cases)
{
  g_autoptr (GHashTable) known = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GArray) needed = g_array_new (FALSE, FALSE, sizeof (Needed));

  for (guint number = 0; number < cases->len; number++) {
    const StudyFailureCase *it = g_ptr_array_index (cases, number);

    for (guint at = 0; at < it->n_failed && !it->whole.has_failed; at++) {
      const StudyFailure *failure = &g_array_index (it->failures, StudyFailure, at);
      char *name = g_strjoin ("\n", it->machine, failure->part, NULL);
      guint place = GPOINTER_TO_UINT (g_hash_table_lookup (known, name));

      if (place == 0) {
        const Needed fresh = { failure->part, it->machine, failure->row->error, 0 };

        g_array_append_val (needed, fresh);
        place = needed->len;
      }
      g_array_index (needed, Needed, place - 1).n_cases++;
      g_hash_table_insert (known, name, GUINT_TO_POINTER (place));
    }
  }
  if (needed->len == 0)
    return;
  cli_print_heading (stdout, "single points of failure");
  cli_rows_print_table (
      stdout, &CLI_ROWS (needed_columns, (Needed *) (void *) needed->data, needed->len), "  ");
}

static void
print_table (const GPtrArray *cases, const CliRows *rows, const Options *options, guint n_missing)
{
  g_autofree char *missing = base_count (n_missing, "run");

  cli_print_heading (stdout, "failures");
  cli_rows_print_table (stdout, rows, "  ");
  printf ("  slow-down over the machine without a failure; slowed: by more than %g %%; failed: the "
          "job does not run\n",
          100 * options->tie);
  print_hopeless (cases);
  print_needed (cases);
  for (guint number = 0; options->parts && number < cases->len; number++) {
    const StudyFailureCase *it = g_ptr_array_index (cases, number);
    g_autofree char *heading =
        g_strdup_printf ("%s: %s, %s", it->fault, it->name, it->row->mapping);
    g_autofree Part *parts = parts_of (it);

    cli_print_heading (stdout, heading);
    cli_rows_print_table (stdout, &CLI_ROWS (part_columns, parts, it->failures->len), "  ");
  }
  if (n_missing > 0)
    cli_printf (stdout, "not made yet: %s of the study\n", missing);
}

static void
print_json (const GPtrArray *cases, StudyStore *store, const char *study, const Options *options,
            guint n_missing)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();

  json_builder_begin_object (builder);
  cli_add_string (builder, "schema", "hopcast.failures/1");
  cli_add_string (builder, "store", study_store_path (store));
  cli_add_string (builder, "study", study);
  cli_add_integer (builder, "missing", n_missing);
  cli_add_number (builder, "tie", options->tie);
  cli_begin_array (builder, "cases");
  for (guint number = 0; number < cases->len; number++) {
    const StudyFailureCase *it = g_ptr_array_index (cases, number);
    const Case row = case_of (it);
    g_autofree Part *parts = parts_of (it);

    json_builder_begin_object (builder);
    cli_columns_add_json (builder, case_columns, G_N_ELEMENTS (case_columns), &row);
    cli_rows_add_json (builder, "failures", &CLI_ROWS (part_columns, parts, it->failures->len));
    json_builder_end_object (builder);
  }
  json_builder_end_array (builder);
  cli_print_object (stdout, builder);
}

static void
print (const GPtrArray *cases, StudyStore *store, const char *study, const Options *options,
       guint n_missing)
{
  g_autofree Case *all = g_new (Case, cases->len);
  const CliRows rows = CLI_ROWS (case_columns, all, cases->len);

  for (guint number = 0; number < cases->len; number++)
    all[number] = case_of (g_ptr_array_index (cases, number));
  switch (options->format.format) {
  case CLI_FORMAT_TABLE: print_table (cases, &rows, options, n_missing); break;
  case CLI_FORMAT_CSV:
    if (!options->parts) {
      cli_rows_print_csv (stdout, &rows);
      break;
    }
    cli_columns_print_csv_names (stdout, part_csv_columns, G_N_ELEMENTS (part_csv_columns));
    for (guint number = 0; number < cases->len; number++) {
      const StudyFailureCase *it = g_ptr_array_index (cases, number);
      g_autofree Part *parts = parts_of (it);

      for (guint at = 0; at < it->failures->len; at++)
        cli_columns_print_csv_row (stdout, part_csv_columns, G_N_ELEMENTS (part_csv_columns),
                                   &parts[at]);
    }
    break;
  case CLI_FORMAT_JSON: print_json (cases, store, study, options, n_missing); break;
  }
}

int
cli_study_failures (int argc, char **argv, GError **error)
{
  static const char *const names[] = { "STORE|STUDY", NULL };
  g_autoptr (GOptionContext) context = cli_context_new (
      "STORE|STUDY", "Says what each single part that a study takes out of its machines costs: the "
                     "median and the worst slow-down, and without which parts a job does not run.");
  g_auto (Options) options = { .tie = STUDY_TIE };
  const GOptionEntry entries[] = {
    { "parts", 0, 0, G_OPTION_ARG_NONE, &options.parts,
      "Also each part, the worst first; in CSV a line for each (JSON always has them)", NULL },
    { "tie", 0, 0, G_OPTION_ARG_DOUBLE, &options.tie,
      "Slow-down up to which a part does not count as slowing (default: 0.01)", "X" },
    { NULL },
  };
  g_autoptr (StudyStore) store = NULL;
  g_autoptr (GPtrArray) rows = NULL, missing = NULL, cases = NULL;
  g_autofree char *study = NULL;
  const char *path;

  g_option_context_add_main_entries (context, entries, NULL);
  cli_add_format_options (context, &options.format);
  if (!cli_parse (context, argc, argv, names, &path, error) ||
      !cli_parse_format (&options.format, error))
    return CLI_FAILED;
  if (!(options.tie >= 0) || !isfinite (options.tie)) {
    cli_refuse (error, "--tie: not a number of at least 0");
    return CLI_FAILED;
  }
  if (!(store = cli_study_store_open (path, error)) || !(study = study_store_name (store, error)) ||
      !(rows = study_store_rows (store, FALSE, error)) ||
      !(missing = study_store_missing (store, error)))
    return CLI_FAILED;
  cases = study_failure_cases (rows, options.tie);
  if (cases->len == 0) {
    cli_fail (error, "%s: no run with a part out is there; see \"failures\" in [machines]",
              study_store_path (store));
    return CLI_FAILED;
  }
  print (cases, store, study, &options, missing->len);
  return CLI_DONE;
}
