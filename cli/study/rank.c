/* rank.c - `hopcast rank`: the mappings of a study, best first; the best one's map file.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/print/columns.h"
#include "cli/command.h"
#include "cli/learn/learning_options.h"
#include "cli/map/map_options.h"
#include "cli/print/outfile.h"
#include "cli/study/study_store.h"
#include "cli/print/terminal.h"
#include "predictors/model/forecaster.h"
#include "study/failures.h"
#include "study/ranking.h"
#include "study/store/store.h"
#include "base/words.h"

#include <math.h>
#include <stddef.h>
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
      "What is ranked, the smallest first: time, mean_end, waits, or any number of a run, such as "
      "max_bytes (default: time, and max_bytes where the network has no time)",
      "COLUMN" },
    { "model", 0, 0, G_OPTION_ARG_FILENAME, &options->model,
      "Rank by what a model of 'hopcast train' or 'hopcast correct' predicts", "MODEL" },
    { "interval", 0, 0, G_OPTION_ARG_DOUBLE, &options->interval,
      "With --model: also between which values this share of the results probably is, such as 0.9",
      "LEVEL" },
    { "tie", 0, 0, G_OPTION_ARG_DOUBLE, &options->tie,
      "Share of the best of a place within which others share it, where there is one run of each "
      "(default: 0.01); replicas tell by themselves",
      "X" },
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
check_options (Options *options, GError **error)
{
  gboolean has_runs =
      options->learning.observed_text != NULL || options->learning.features_text != NULL;
  gboolean has_interval = !isnan (options->interval);

  if (options->model != NULL && options->by != NULL)
    return cli_refuse (error, "--by and --model exclude each other");
  if (options->model == NULL && has_runs)
    return cli_refuse (error, "--observed-runs and --feature-runs need --model MODEL");
  if (options->model == NULL && has_interval)
    return cli_refuse (error, "--interval needs --model MODEL");
  if (has_interval && !(options->interval > 0 && options->interval < 1))
    return cli_refuse (error, "--interval: not a share between 0 and 1");
  if (!cli_parse_learning (&options->learning, error))
    return FALSE;
  if (!(options->tie >= 0) || !isfinite (options->tie))
    return cli_refuse (error, "--tie: not a number of at least 0");
  if (options->top < 1)
    return cli_refuse (error, "--top: must be at least 1");
  if (options->kind != NULL && options->output == NULL)
    return cli_refuse (error, "--to needs --output FILE");
  if (options->wanted_case != NULL && *options->wanted_case == '\0')
    return cli_refuse (error, "--case: '' is neither a number nor a part of a name");
  if (options->hosts != NULL && options->kind == NULL)
    return cli_refuse (error, "--hosts needs --to KIND");
  if (options->kind != NULL && cli_map_parse_kind (options->kind, error) == NULL)
    return FALSE;
  return cli_parse_format (&options->format, error);
}

/* --- Predictions of a model --- */

typedef struct {
  char *note;           /* the model, and the runs with its features */
  char *target;         /* the predicted column */
  gboolean is_relative; /* predicted over the mean of the row's set */
  double *outside;      /* NULL: no interval, or no run is outside */
  double *predicted, *lower,
      *upper;       /* [rows], NaN: not predicted; the last two NULL without level */
  double *measured; /* [rows], NaN: not measured; NULL: no run is */
} Model;

static void
model_free (Model *model)
{
  if (model == NULL)
    return;
  g_free (model->note);
  g_free (model->target);
  g_free (model->predicted);
  g_free (model->lower);
  g_free (model->outside);
  g_free (model->upper);
  g_free (model->measured);
  g_free (model);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Model, model_free)

/* The values of the table for the rows of the store, of which matches[] are the rows of the table,
 * plus 1; 0: none.  NULL: no values. */
static double *
spread_values (const double *values, const uint64_t *matches, guint n_rows)
{
  double *spread = values != NULL ? g_new (double, n_rows) : NULL;

  for (guint at = 0; values != NULL && at < n_rows; at++)
    spread[at] = matches[at] > 0 ? values[matches[at] - 1] : (double) NAN;
  return spread;
}

/* The predictions for the rows of a store. */
static Model *
model_new (const Options *options, StudyStore *store, GPtrArray *rows, GError **error)
{
  const CliLearningOptions *learning = &options->learning;
  double level = isnan (options->interval) ? 0 : options->interval; /* 0: no interval */
  g_autoptr (PredictForecaster) model = predict_forecaster_read (options->model, error);
  g_autoptr (PredictTable) table =
      model != NULL ? cli_learning_table_of_rows (store, rows, learning, FALSE, NULL, error) : NULL;
  g_auto (PredictAnswer) answer = { NULL, NULL, NULL, 0 };
  g_autoptr (GHashTable) of_key = g_hash_table_new (g_str_hash, g_str_equal);
  g_autofree uint64_t *matches = g_new0 (uint64_t, rows->len);
  g_autofree char *kind = NULL;
  const char *target;
  const PredictColumn *key, *measured;
  Model *ranked;

  if (table == NULL || !predict_forecaster_apply (model, table, level, 0, &answer, error))
    return NULL;
  if (answer.n_outside > 0)
    cli_printf (stderr,
                "hopcast: note: %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                " runs are outside the range of the training data of %s\n",
                answer.n_outside, table->n_rows, options->model);

  key = predict_table_find (table, "key");
  for (uint64_t at = 0; at < table->n_rows; at++)
    g_hash_table_insert (of_key, g_ptr_array_index (key->labels, key->texts[at]),
                         GSIZE_TO_POINTER (at + 1));
  for (guint at = 0; at < rows->len; at++)
    matches[at] = GPOINTER_TO_SIZE (
        g_hash_table_lookup (of_key, ((const StudyRow *) g_ptr_array_index (rows, at))->key));

  target = predict_forecaster_target (model);
  kind = model->learned ? g_strdup_printf ("trained on %" G_GUINT64_FORMAT " samples of %s",
                                           model->learned->n_samples, model->learned->source)
                        : g_strdup ("a formula");
  ranked = g_new0 (Model, 1);
  ranked->note = g_strdup_printf (
      "%s%s predicted by %s, %s, from the features of %s%s", target,
      model->learned != NULL && model->learned->sets != NULL ? " over its mean in a set" : "",
      options->model, kind, learning->features_text != NULL ? "the runs with " : "the same runs",
      learning->features_text != NULL ? learning->features_text : "");
  ranked->target = g_strdup (target);
  ranked->is_relative = model->learned != NULL && model->learned->sets != NULL;
  ranked->predicted = spread_values (answer.predicted, matches, rows->len);
  ranked->lower = spread_values (answer.lower, matches, rows->len);
  ranked->upper = spread_values (answer.upper, matches, rows->len);
  if (answer.upper != NULL && answer.n_outside > 0)
    ranked->outside = spread_values (answer.outside, matches, rows->len);
  measured = predict_table_find (table, ranked->target);
  for (uint64_t at = 0; measured != NULL && measured->numbers != NULL && at < table->n_rows; at++)
    if (!isnan (measured->numbers[at])) {
      ranked->measured = spread_values (measured->numbers, matches, rows->len);
      break;
    }
  return ranked;
}

/* A column beside the ranked one. */
typedef struct {
  const char *name;
  GPtrArray *of_case; /* (element-type GHashTable) [cases] mapping -> double *; absent: not known */
} MoreColumn;

/* A column of means over the runs, as the predictions are; values NULL: no column. */
static void
add_column (GArray *columns, const GPtrArray *rows, const char *name, const double *values)
{
  MoreColumn column = { name, NULL };
  g_autoptr (GPtrArray) cases = NULL;

  if (values == NULL)
    return;
  cases = study_cases_new_by_values (rows, name, values, 0, NULL, NULL);
  column.of_case = g_ptr_array_new_with_free_func ((GDestroyNotify) g_hash_table_unref);
  for (guint number = 0; number < cases->len; number++) {
    const GArray *ranked = ((StudyCase *) g_ptr_array_index (cases, number))->ranked;
    GHashTable *of_mapping = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, g_free);

    for (guint at = 0; at < ranked->len; at++) {
      const StudyRanked *entry = &g_array_index (ranked, StudyRanked, at);

      g_hash_table_insert (of_mapping, (gpointer) entry->mapping,
                           g_memdup2 (&entry->value, sizeof entry->value));
    }
    g_ptr_array_add (column.of_case, of_mapping);
  }
  g_array_append_val (columns, column);
}

/* The 95 % intervals of the means, where there are any. */
static void
add_intervals (GArray *columns, const GPtrArray *cases)
{
  const struct {
    const char *name;
    gsize offset;
  } ends[] = { { "lower", offsetof (StudyRanked, lower) },
               { "upper", offsetof (StudyRanked, upper) } };
  gboolean any = FALSE;

  for (gsize end = 0; end < G_N_ELEMENTS (ends); end++) {
    MoreColumn column = { ends[end].name, NULL };

    column.of_case = g_ptr_array_new_with_free_func ((GDestroyNotify) g_hash_table_unref);
    for (guint number = 0; number < cases->len; number++) {
      const GArray *ranked = ((StudyCase *) g_ptr_array_index (cases, number))->ranked;
      GHashTable *of_mapping = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, g_free);

      for (guint at = 0; at < ranked->len; at++) {
        const StudyRanked *entry = &g_array_index (ranked, StudyRanked, at);

        any |= !isnan (entry->lower);
        g_hash_table_insert (of_mapping, (gpointer) entry->mapping,
                             g_memdup2 ((const char *) entry + ends[end].offset, sizeof (double)));
      }
      g_ptr_array_add (column.of_case, of_mapping);
    }
    if (any)
      g_array_append_val (columns, column);
    else
      g_ptr_array_unref (column.of_case);
  }
}

static void
column_clear (gpointer data)
{
  g_ptr_array_unref (((MoreColumn *) data)->of_case);
}

/* --- Printing --- */

typedef struct {
  const char *store, *study;
  guint n_failures;       /* cases with a part out, which are not shown */
  guint n_missing;        /* planned runs without a result */
  gboolean is_raced;      /* ... as a race left them out */
  const GPtrArray *cases; /* (element-type StudyCase) */
  const bool *chosen;     /* [cases] */
  guint top;              /* mappings per case, ties with the last one included */
  const GArray *columns;  /* (element-type MoreColumn) */
  const char *note;       /* the source of the values; NULL: the runs themselves */
  const char *target;     /* the column that a model predicted; NULL without one */
} Ranking;

#define MAX_MORE 4 /* lower, upper, extrapolates, measured */

/* A mapping of a case. */
typedef struct {
  uint32_t number, place, n_runs; /* number: of the case, from 1 */
  const char *trace, *machine, *network, *routing, *mapping, *column, *key;
  double compute_scale, value, gain, more[MAX_MORE];
} Row;

static const CliColumn row_columns[] = {
  { "case", NULL, CLI_CELL_U32, offsetof (Row, number), .omit = CLI_NOT_JSON },
  { "trace", NULL, CLI_CELL_TEXT, offsetof (Row, trace), .omit = CLI_NOT_JSON },
  { "machine", NULL, CLI_CELL_TEXT, offsetof (Row, machine), .omit = CLI_NOT_JSON },
  { "network", NULL, CLI_CELL_TEXT, offsetof (Row, network), .omit = CLI_NOT_JSON },
  { "routing", NULL, CLI_CELL_TEXT, offsetof (Row, routing), .omit = CLI_NOT_JSON },
  { "mapping", NULL, CLI_CELL_TEXT, offsetof (Row, mapping), .omit = CLI_NOT_JSON },
  { "compute_scale", NULL, CLI_CELL_NUMBER, offsetof (Row, compute_scale), .omit = CLI_NOT_JSON },
  { "place", "place", CLI_CELL_U32, offsetof (Row, place) },
  { "mapping", "mapping", CLI_CELL_TEXT, offsetof (Row, mapping), .omit = CLI_NOT_CSV },
  { "column", NULL, CLI_CELL_TEXT, offsetof (Row, column), .omit = CLI_NOT_JSON },
  { "value", "value", CLI_CELL_NUMBER, offsetof (Row, value) },
};
static const CliColumn row_end_columns[] = {
  { "gain", "gain", CLI_CELL_NUMBER, offsetof (Row, gain), "%.3f" },
  { "runs", "runs", CLI_CELL_U32, offsetof (Row, n_runs) },
  { "key", NULL, CLI_CELL_TEXT, offsetof (Row, key) },
};

static const StudyRanked *
ranked_at (const StudyCase *study_case, guint i)
{
  return &g_array_index (study_case->ranked, StudyRanked, i);
}

/* How many of its mappings a case shows. */
static guint
n_shown (const Ranking *ranking, const StudyCase *study_case)
{
  guint n = MIN (ranking->top, study_case->ranked->len);

  while (n > 0 && n < study_case->ranked->len &&
         ranked_at (study_case, n)->place == ranked_at (study_case, n - 1)->place)
    n++;
  return n;
}

/* Tables have the ranked column under its own name and more columns before the gain; elsewhere
 * more columns come last. */
static GArray *
columns_new (const Ranking *ranking, const char *ranked)
{
  GArray *columns = g_array_new (FALSE, FALSE, sizeof (CliColumn));

  g_assert (ranking->columns->len <= MAX_MORE);
  g_array_append_vals (columns, row_columns, G_N_ELEMENTS (row_columns));
  g_array_index (columns, CliColumn, columns->len - 1).heading = ranked;
  for (int last = 0; last < 2; last++) {
    for (guint i = 0; i < ranking->columns->len; i++) {
      const char *name = g_array_index (ranking->columns, MoreColumn, i).name;
      CliColumn column = { last ? name : NULL, last ? NULL : name, CLI_CELL_NUMBER,
                           offsetof (Row, more) + i * sizeof (double) };

      g_array_append_val (columns, column);
    }
    if (!last)
      g_array_append_vals (columns, row_end_columns, G_N_ELEMENTS (row_end_columns));
  }
  return columns;
}

/* The rows that a case shows; the caller frees. */
static Row *
rows_of (const Ranking *ranking, guint number)
{
  const StudyCase *study_case = g_ptr_array_index (ranking->cases, number);
  guint n = n_shown (ranking, study_case);
  Row *rows = g_new (Row, n);

  for (guint i = 0; i < n; i++) {
    const StudyRanked *ranked = ranked_at (study_case, i);
    const StudyRow *run = ranked->row;

    rows[i] = (Row){ .number = number + 1,
                     .place = ranked->place,
                     .n_runs = ranked->n_runs,
                     .trace = run->trace,
                     .machine = run->machine,
                     .network = run->network,
                     .routing = run->routing,
                     .mapping = ranked->mapping,
                     .column = study_case->column,
                     .key = run->key,
                     .compute_scale = run->compute_scale,
                     .value = ranked->value,
                     .gain = ranked->gain };
    for (guint more = 0; more < ranking->columns->len; more++) {
      const MoreColumn *column = &g_array_index (ranking->columns, MoreColumn, more);
      const double *value =
          g_hash_table_lookup (g_ptr_array_index (column->of_case, number), ranked->mapping);

      rows[i].more[more] = value != NULL ? *value : (double) NAN;
    }
  }
  return rows;
}

/* Whether its times are one draw each. */
static gboolean
is_of_single_runs (const StudyCase *study_case)
{
  gboolean is_timed = strcmp (study_case->column, "time_s") == 0 &&
                      strcmp (study_case->row->network, "packet") == 0;

  for (guint i = 0; i < study_case->ranked->len; i++)
    is_timed &= isnan (ranked_at (study_case, i)->lower);
  return is_timed && study_case->ranked->len > 1;
}

static void
print_case (const Ranking *ranking, guint number, const CliRows *rows)
{
  const StudyCase *study_case = g_ptr_array_index (ranking->cases, number);
  g_autofree char *heading = g_strdup_printf ("case %u: %s", number + 1, study_case->name);
  guint n = rows->n_rows;

  cli_print_heading (stdout, heading);
  if (n > 0)
    cli_rows_print_table (stdout, rows, "  ");
  else
    cli_printf (stdout, "  no run knows its %s\n", study_case->column);
  if (n < study_case->ranked->len)
    printf ("  ... %u more\n", study_case->ranked->len - n);
  if (n > 0 && !isnan (ranked_at (study_case, 0)->gain)) {
    const StudyRanked *best = ranked_at (study_case, 0);
    bool default_is_best = false; /* or shares the first place */

    for (guint i = 0; i < study_case->ranked->len && ranked_at (study_case, i)->place == 1; i++)
      default_is_best |=
          g_strcmp0 (ranked_at (study_case, i)->mapping, study_case->default_mapping) == 0;
    if (default_is_best)
      cli_printf (stdout, "  none is better than the default, %s\n", study_case->default_mapping);
    else
      cli_printf (stdout, "  best: %s, %.3f times as good as the default, %s\n", best->mapping,
                  best->gain, study_case->default_mapping);
  }
  if (study_case->n_failed > 0) {
    g_autofree char *failed = base_count (study_case->n_failed, "run");

    printf ("  %s failed\n", failed);
  }
}

static void
print_ranking (const Ranking *ranking, CliFormat format)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  guint n_printed = 0;
  bool is_single = false;

  json_builder_begin_object (builder);
  cli_add_string (builder, "schema", "hopcast.ranking/1");
  cli_add_string (builder, "store", ranking->store);
  cli_add_string (builder, "study", ranking->study);
  cli_add_integer (builder, "missing", ranking->n_missing);
  if (ranking->note != NULL) {
    cli_add_string (builder, "target", ranking->target);
    cli_add_string (builder, "note", ranking->note);
  }
  cli_begin_array (builder, "cases");
  for (guint number = 0; number < ranking->cases->len; number++) {
    const StudyCase *study_case = g_ptr_array_index (ranking->cases, number);
    g_autoptr (GArray) columns = columns_new (ranking, study_case->column);
    g_autofree Row *row = NULL;
    CliRows rows;

    if (format == CLI_FORMAT_CSV && number == 0)
      cli_columns_print_csv_names (stdout, (const CliColumn *) columns->data, columns->len);
    if (!ranking->chosen[number])
      continue;
    is_single |= is_of_single_runs (study_case);
    row = rows_of (ranking, number);
    rows = (CliRows){ (const CliColumn *) columns->data, columns->len, row, sizeof *row,
                      n_shown (ranking, study_case) };
    switch (format) {
    case CLI_FORMAT_TABLE:
      if (n_printed++ > 0)
        putchar ('\n');
      print_case (ranking, number, &rows);
      break;
    case CLI_FORMAT_CSV:
      for (guint i = 0; i < rows.n_rows; i++)
        cli_columns_print_csv_row (stdout, rows.columns, rows.n_columns, &row[i]);
      break;
    case CLI_FORMAT_JSON:
      json_builder_begin_object (builder);
      cli_add_integer (builder, "case", number + 1);
      cli_add_string (builder, "name", study_case->name);
      cli_add_string (builder, "trace", study_case->row->trace);
      cli_add_string (builder, "machine", study_case->row->machine);
      cli_add_string (builder, "network", study_case->row->network);
      cli_add_string (builder, "routing", study_case->row->routing);
      cli_add_number (builder, "compute_scale", study_case->row->compute_scale);
      cli_add_string (builder, "column", study_case->column);
      cli_add_string (builder, "default", study_case->default_mapping);
      cli_add_integer (builder, "mappings", study_case->ranked->len);
      cli_add_integer (builder, "failed", study_case->n_failed);
      cli_rows_add_json (builder, "ranking", &rows);
      json_builder_end_object (builder);
      break;
    }
  }
  json_builder_end_array (builder);
  if (format == CLI_FORMAT_JSON)
    cli_print_object (stdout, builder);
  if (format == CLI_FORMAT_TABLE && is_single)
    puts (
        "\none run of each: its end is one draw, which moves by 0 to 15 % in a congested exchange;\n"
        "replicas = 4 in [runs] of the study tells by how much here");
  if (format == CLI_FORMAT_TABLE && ranking->note != NULL)
    cli_printf (stdout, "\n%s\n", ranking->note);
  if (format == CLI_FORMAT_TABLE && ranking->n_failures > 0) {
    g_autofree char *failures = base_count (ranking->n_failures, "case");

    printf (
        "\nnot shown: %s with a part out; 'hopcast study failures' sums them up, --case ranks them\n",
        failures);
  }
  if (format == CLI_FORMAT_TABLE && ranking->n_missing > 0) {
    g_autofree char *missing = base_count (ranking->n_missing, "run");

    if (ranking->is_raced)
      printf (
          "\nleft out by races: %s of the study; 'hopcast study status' says of which mappings\n",
          missing);
    else
      printf ("\nnot made yet: %s of the study\n", missing);
  }
}

/* --- Warnings --- */

static gboolean
is_imbalanced (const StudyRow *row)
{
  for (char **warning = row->warnings; *warning != NULL; warning++)
    if (g_str_has_prefix (*warning, SIM_IMBALANCE_WARNING))
      return TRUE;
  return FALSE;
}

/* Names the cases whose times the computation of the ranks decides. */
static void
warn_of_imbalance (const Ranking *ranking)
{
  for (guint number = 0; number < ranking->cases->len; number++) {
    const StudyCase *study_case = g_ptr_array_index (ranking->cases, number);
    guint n = 0;

    if (!ranking->chosen[number] || !cli_learning_is_time (study_case->column))
      continue;
    for (guint i = 0; i < study_case->ranked->len; i++)
      n += is_imbalanced (ranked_at (study_case, i)->row);
    if (n > 0)
      cli_printf (stderr,
                  "hopcast: warning: case %u: imbalanced computation decides the time of %u of %u "
                  "mappings, so that their order may be chance; compute-scale = 0 in the study "
                  "(--compute-scale 0) leaves computation out\n",
                  number + 1, n, study_case->ranked->len);
  }
}

/* --- The command --- */

/* [cases] those of the number `wanted`, or with that text in the name; NULL: all.  NULL and *error:
 * there is none. */
static bool *
choose_cases (const GPtrArray *cases, const char *wanted, GError **error)
{
  gboolean is_number = wanted && *wanted && strspn (wanted, "0123456789") == strlen (wanted);
  g_autofree bool *chosen = g_new0 (bool, cases->len);
  g_autofree char *all = base_count (cases->len, "case");
  bool any = false;

  for (guint at = 0; at < cases->len; at++) {
    chosen[at] = wanted == NULL ||
                 (is_number ? g_ascii_strtoull (wanted, NULL, 10) == at + 1
                            : strstr (((StudyCase *) cases->pdata[at])->name, wanted) != NULL);
    any |= chosen[at];
  }
  if (any)
    return g_steal_pointer (&chosen);
  cli_refuse (error, "--case %s: matches none of %s", wanted, all);
  return NULL;
}

/* Takes out the cases with a part out, of which there may be thousands; returns how many they are. */
static guint
leave_out_failures (const GPtrArray *cases, bool *chosen)
{
  guint n = 0;

  for (guint at = 0; at < cases->len; at++) {
    const char *part, *fault;

    if (study_failure_whole_length (
            ((const StudyCase *) g_ptr_array_index (cases, at))->row->machine, &part, &fault) == 0)
      continue;
    n += chosen[at];
    chosen[at] = false;
  }
  return n;
}

/* Writes the map file of the best mapping, or the file of a launcher, of the only chosen case. */
static gboolean
write_best (StudyStore *store, const Ranking *ranking, const Options *options, GError **error)
{
  const TopoLauncher *launcher =
      options->kind != NULL ? cli_map_parse_kind (options->kind, error) : NULL;
  const StudyCase *only = NULL;
  const StudyRow *row;
  g_autoptr (TopoMachine) machine = NULL;
  g_autoptr (TopoMapping) mapping = NULL;
  g_autofree char *text = NULL;
  g_auto (TopoLaunch) launch = { NULL };

  for (guint number = 0; number < ranking->cases->len; number++) {
    if (!ranking->chosen[number])
      continue;
    if (only != NULL)
      return cli_refuse (error, "--output is the map file of one case; --case chooses it");
    only = g_ptr_array_index (ranking->cases, number);
  }
  g_assert (only != NULL);
  if (only->ranked->len == 0)
    return cli_fail (error, "%s: no mapping of \"%s\" is ranked", ranking->store, only->name);
  row = ranked_at (only, 0)->row;
  if (!(machine = study_store_machine (store, row, error)) ||
      !(mapping = study_store_placement (store, row, error)) ||
      (options->hosts != NULL && !topo_machine_set_hosts (machine, options->hosts, error)))
    return FALSE;
  text = launcher != NULL ? launcher->print (mapping, machine, error)
                          : topo_mapping_print (mapping, machine);
  if (text == NULL || !cli_outfile_write (options->output, text, error))
    return FALSE;
  if (launcher != NULL) {
    launch = cli_map_launch (launcher, mapping, machine, options->output);
    cli_map_tell_launch (&launch, FALSE);
  }
  return TRUE;
}

static gboolean
rank_store (StudyStore *store, const Options *options, GError **error)
{
  g_autofree char *name = study_store_name (store, error);
  g_autoptr (GPtrArray) rows = name ? study_store_rows (store, FALSE, error) : NULL;
  g_autoptr (GPtrArray) missing = rows ? study_store_missing (store, error) : NULL;
  g_autoptr (GPtrArray) race = missing ? study_store_race (store, error) : NULL;
  g_autoptr (Model) model = NULL;
  g_autoptr (GPtrArray) cases = NULL;
  g_autoptr (GArray) columns = g_array_new (FALSE, FALSE, sizeof (MoreColumn));
  g_autofree bool *chosen = NULL;
  guint n_failures = 0;
  g_auto (StudyMachineReader) reader = { .store = store };
  g_autoptr (GError) trouble = NULL;
  Ranking ranking;

  g_array_set_clear_func (columns, column_clear);
  if (race == NULL ||
      (options->model != NULL && !(model = model_new (options, store, rows, error))))
    return FALSE;
  if (model != NULL) {
    cases = study_cases_new_by_values (
        rows,
        g_str_has_suffix (model->target, "_s") && !model->is_relative ? "predicted_s" : "predicted",
        model->predicted, options->tie, study_machine_reader_find, &reader);
    add_column (columns, rows, "lower", model->lower);
    add_column (columns, rows, "upper", model->upper);
    add_column (columns, rows, "extrapolates", model->outside);
    add_column (columns, rows, model->target, model->measured);
  } else {
    cases = study_cases_new (rows, options->by, options->tie, study_machine_reader_find, &reader,
                             &trouble);
    if (cases == NULL)
      return cli_refuse (error, "--by: %s", trouble->message);
    add_intervals (columns, cases);
  }
  if (cases->len == 0)
    return cli_fail (error, "%s: no run is done yet", study_store_path (store));
  chosen = choose_cases (cases, options->wanted_case, error);
  if (chosen == NULL)
    return FALSE;
  /* Cases without a prediction are shown only when they are asked for. */
  for (guint at = 0; model != NULL && options->wanted_case == NULL && at < cases->len; at++)
    chosen[at] &= ((const StudyCase *) g_ptr_array_index (cases, at))->ranked->len > 0;
  if (options->wanted_case == NULL)
    n_failures = leave_out_failures (cases, chosen);
  ranking = (Ranking){ .store = study_store_path (store),
                       .study = name,
                       .n_failures = n_failures,
                       .n_missing = missing->len,
                       .is_raced = race->len > 0,
                       .cases = cases,
                       .chosen = chosen,
                       .top = (guint) options->top,
                       .columns = columns,
                       .note = model ? model->note : NULL,
                       .target = model ? model->target : NULL };
  warn_of_imbalance (&ranking);
  if (options->output != NULL && !write_best (store, &ranking, options, error))
    return FALSE;
  /* A map file on standard output has it for itself. */
  if (g_strcmp0 (options->output, "-"))
    print_ranking (&ranking, options->format.format);
  return TRUE;
}

int
cli_rank (int argc, char **argv, GError **error)
{
  static const char *const names[] = { "STORE|STUDY", NULL };
  g_autoptr (GOptionContext) context = cli_context_new (
      "STORE|STUDY",
      "Ranks the mappings of a study, the best first, for each case: all runs that differ "
      "in nothing but the mapping.");
  g_auto (Options) options = { .learning.learning.without_time = TRUE,
                               .tie = STUDY_TIE,
                               .interval = (double) NAN,
                               .top = G_MAXINT };
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
