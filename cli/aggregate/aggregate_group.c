/* aggregate_group.c - `hopcast aggregate group`: which ranks are to share a node.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cli/command.h"
#include "cli/options.h"
#include "cli/print/outfile.h"
#include "cli/print/output.h"
#include "cli/print/terminal.h"
#include "predictors/group/cost_graph.h"
#include "predictors/group/grouping.h"
#include "predictors/table/table.h"
#include "study/aggregate/aggregate_mapping.h"
#include "study/search/matrix.h"
#include "study/search/scotch.h"

#include <math.h>

typedef struct {
  uint32_t n_ranks;
  const char *kind;       /* "bytes", "mended" or "literal" */
  PredictCostGraph graph; /* borrows from one of the next two */
  StudyGraph *bytes;
  PredictCostRows *rows;
  int exponent; /* costs of the graph are the true ones times 2^exponent */
  double c;     /* of equation 4; NaN: costs are bytes */
} Costs;

/* Parts of parts: sockets of a node, dies of a socket. */
#define MAX_LEVELS 2

typedef struct {
  const char *source, *method;
  uint64_t seed;
  uint32_t n_parts;
  const Costs *costs;
  const PredictGroups *groups;
  uint32_t n_levels;
  uint32_t *level[MAX_LEVELS]; /* [rank] which socket of the node, which die of that */
} Sheet;

static void
costs_clear (Costs *costs)
{
  g_clear_pointer (&costs->bytes, study_graph_free);
  g_clear_pointer (&costs->rows, predict_cost_rows_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Costs, costs_clear)

/* A cost of the graph in its true unit. */
static double
group_cost (const Costs *costs, int64_t cost)
{
  return ldexp ((double) cost, -costs->exponent);
}

/* Bytes both ways; ranks beyond those of the matrix are silent. */
static void
costs_of_bytes (Costs *costs, const StudyMatrix *matrix, uint32_t n_ranks)
{
  StudyGraph *bytes = study_graph_new (study_matrix_edges (matrix), n_ranks);

  *costs = (Costs){ .n_ranks = n_ranks,
                    .kind = "bytes",
                    .graph = { n_ranks, bytes->first, bytes->neighbour, bytes->weight },
                    .bytes = bytes,
                    .exponent = -(int) bytes->shift,
                    .c = NAN };
}

/* --- Ping-pongs --- */

static gboolean
refuse (const PredictTable *table, uint32_t row, GError **error, const char *what)
{
  g_autofree char *place = predict_table_place (table, row);

  g_set_error (error, CLI_ERROR, CLI_ERROR_INPUT, "%s: %s", place, what);
  return FALSE;
}

static gboolean
check_pingpong (const PredictTable *table, const PredictPingPong *times, GError **error)
{
  if (times->n == 0) {
    g_set_error (error, CLI_ERROR, CLI_ERROR_INPUT, "%s: there are no times", table->source);
    return FALSE;
  }
  for (uint32_t row = 0; row < times->n; row++) {
    if (!(times->bytes[row] >= 0) || (row > 0 && times->bytes[row] <= times->bytes[row - 1]))
      return refuse (table, row, error, "bytes must ascend from at least 0");
    if (!(times->within_s[row] > 0) || !(times->between_s[row] > 0))
      return refuse (table, row, error, "times must be above 0");
  }
  return TRUE;
}

/* Seconds of a column of microseconds; the caller frees. */
static double *
read_seconds (const PredictTable *table, const char *name, GError **error)
{
  const double *us = predict_table_finite (table, name, error);
  double *s = us ? g_new (double, table->n_rows + 1) : NULL;

  for (uint64_t row = 0; s && row < table->n_rows; row++)
    s[row] = us[row] * 1e-6;
  return s;
}

/* Equation 4, from the ping-pongs of a CSV file with the columns bytes, within_us and between_us.
 * All messages of a pair in one direction are taken to have their mean size. */
static gboolean
costs_of_times (Costs *costs, const StudyMatrix *matrix, uint32_t n_ranks, const char *times_path,
                uint32_t n_parts, PredictCostForm form, GError **error)
{
  g_autoptr (PredictTable) table = predict_table_read (times_path, error);
  const double *bytes = table ? predict_table_finite (table, "bytes", error) : NULL;
  g_autofree double *within_s = bytes ? read_seconds (table, "within_us", error) : NULL;
  g_autofree double *between_s = within_s ? read_seconds (table, "between_us", error) : NULL;
  g_autofree PredictPairTime *pairs = NULL;
  PredictPingPong times;
  uint64_t n_pairs;

  if (!between_s)
    return FALSE;
  times = (PredictPingPong){ (uint32_t) table->n_rows, bytes, within_s, between_s };
  if (!check_pingpong (table, &times, error))
    return FALSE;
  if (form == PREDICT_COST_LITERAL && n_ranks > PREDICT_LITERAL_MAX_TASKS) {
    g_set_error (error, CLI_ERROR, CLI_ERROR_INPUT,
                 "--cost literal: every pair of ranks has an edge; %u ranks are more than %u",
                 n_ranks, PREDICT_LITERAL_MAX_TASKS);
    return FALSE;
  }
  pairs = study_pair_times (study_matrix_edges (matrix), n_ranks, &times, &n_pairs);
  *costs =
      (Costs){ .n_ranks = n_ranks, .kind = form == PREDICT_COST_LITERAL ? "literal" : "mended" };
  costs->rows = predict_edge_costs (n_ranks, pairs, n_pairs, (n_ranks + n_parts - 1) / n_parts,
                                    form, &costs->c);
  costs->graph = costs->rows->graph;
  costs->exponent = costs->rows->exponent;
  return TRUE;
}

/* --- groups of ranks for people and for programs --- */

static const char *const level_names[MAX_LEVELS] = { "socket", "die" };

static const PredictGroupTrial *
trial_of (const Sheet *sheet, uint32_t i)
{
  return &g_array_index (sheet->groups->trials, PredictGroupTrial, i);
}

/* [part] how many ranks it has; the caller frees. */
static uint32_t *
count_sizes (const Sheet *sheet)
{
  uint32_t *size = g_new0 (uint32_t, sheet->n_parts);

  for (uint32_t rank = 0; rank < sheet->costs->n_ranks; rank++)
    size[sheet->groups->part[rank]]++;
  return size;
}

static int64_t
sum_costs (const PredictCostGraph *graph)
{
  int64_t sum = 0;

  for (uint64_t e = 0; e < graph->first[graph->n]; e++)
    sum += graph->cost[e];
  return sum / 2;
}

/* Groups of ranks that have no edges to others. */
static uint32_t
count_components (const PredictCostGraph *graph)
{
  g_autofree bool *is_seen = g_new0 (bool, graph->n);
  g_autofree uint32_t *waiting = g_new (uint32_t, graph->n);
  uint32_t n = 0;

  for (uint32_t rank = 0; rank < graph->n; rank++) {
    uint32_t n_waiting = 0;

    if (is_seen[rank])
      continue;
    n++;
    is_seen[rank] = true;
    waiting[n_waiting++] = rank;
    while (n_waiting > 0) {
      uint32_t next = waiting[--n_waiting];

      for (uint64_t e = graph->first[next]; e < graph->first[next + 1]; e++)
        if (!is_seen[graph->neighbour[e]]) {
          is_seen[graph->neighbour[e]] = true;
          waiting[n_waiting++] = graph->neighbour[e];
        }
    }
  }
  return n;
}

/* -- for programs ---------------------------------------------------------- */

static void
print_csv (FILE *out, const Sheet *sheet)
{
  fputs ("rank,part", out);
  for (uint32_t i = 0; i < sheet->n_levels; i++)
    fprintf (out, ",%s", level_names[i]);
  fputc ('\n', out);
  for (uint32_t rank = 0; rank < sheet->costs->n_ranks; rank++) {
    fprintf (out, "%u,%u", rank, sheet->groups->part[rank]);
    for (uint32_t i = 0; i < sheet->n_levels; i++)
      fprintf (out, ",%u", sheet->level[i][rank]);
    fputc ('\n', out);
  }
}

static void
add_numbers (JsonBuilder *builder, const char *name, const uint32_t *numbers, uint32_t n)
{
  cli_begin_array (builder, name);
  for (uint32_t i = 0; i < n; i++)
    json_builder_add_int_value (builder, numbers[i]);
  json_builder_end_array (builder);
}

static void
add_trials (JsonBuilder *builder, const Sheet *sheet)
{
  cli_begin_array (builder, "starts");
  for (uint32_t i = 0; i < sheet->groups->trials->len; i++) {
    const PredictGroupTrial *trial = trial_of (sheet, i);

    json_builder_begin_object (builder);
    cli_add_string (builder, "start", trial->name);
    cli_add_number (builder, "cut_start", group_cost (sheet->costs, trial->cut_start));
    cli_add_number (builder, "cut_bettered", group_cost (sheet->costs, trial->cut_bettered));
    cli_add_number (builder, "cut", group_cost (sheet->costs, trial->cut));
    json_builder_end_object (builder);
  }
  json_builder_end_array (builder);
}

static void
print_json (FILE *out, const Sheet *sheet)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  g_autoptr (JsonNode) record = NULL;
  g_autofree uint32_t *size = count_sizes (sheet);
  uint32_t n_ranks = sheet->costs->n_ranks;

  json_builder_begin_object (builder);
  cli_add_string (builder, "schema", "hopcast.groups/1");
  cli_add_string (builder, "source", sheet->source);
  cli_add_integer (builder, "ranks", n_ranks);
  cli_add_integer (builder, "parts", sheet->n_parts);
  cli_add_string (builder, "method", sheet->method);
  cli_add_integer (builder, "seed", sheet->seed);
  cli_add_string (builder, "cost", sheet->costs->kind);
  cli_add_number (builder, "c", sheet->costs->c);
  cli_add_integer (builder, "components", count_components (&sheet->costs->graph));
  cli_add_number (builder, "cut", group_cost (sheet->costs, sheet->groups->cut));
  cli_add_number (builder, "cost_of_all_edges",
                  group_cost (sheet->costs, sum_costs (&sheet->costs->graph)));
  cli_add_string (builder, "best_start", trial_of (sheet, sheet->groups->best)->name);
  add_trials (builder, sheet);
  add_numbers (builder, "sizes", size, sheet->n_parts);
  add_numbers (builder, "part", sheet->groups->part, n_ranks);
  for (uint32_t i = 0; i < sheet->n_levels; i++)
    add_numbers (builder, level_names[i], sheet->level[i], n_ranks);
  cli_print_object (out, builder);
}

/* -- for people ------------------------------------------------------------ */

static void
print_ranks (FILE *out, const Sheet *sheet, const uint32_t *order, uint32_t n)
{
  for (uint32_t i = 0; i < n; i++) {
    gboolean is_new = FALSE;

    for (uint32_t level = 0; level < sheet->n_levels; level++)
      is_new |= i > 0 && sheet->level[level][order[i]] != sheet->level[level][order[i - 1]];
    fprintf (out, "%s%u", is_new ? " | " : " ", order[i]);
  }
  fputc ('\n', out);
}

static int
compare_within_part (const void *left, const void *right, void *data)
{
  uint32_t a = *(const uint32_t *) left, b = *(const uint32_t *) right;
  const Sheet *sheet = data;
  const uint32_t *part = sheet->groups->part;

  if (part[a] != part[b])
    return part[a] < part[b] ? -1 : 1;
  for (uint32_t i = 0; i < sheet->n_levels; i++)
    if (sheet->level[i][a] != sheet->level[i][b])
      return sheet->level[i][a] < sheet->level[i][b] ? -1 : 1;
  return (a > b) - (a < b);
}

static void
print_table (FILE *out, const Sheet *sheet)
{
  uint32_t n_ranks = sheet->costs->n_ranks, next = 0;
  g_autofree uint32_t *size = count_sizes (sheet), *order = g_new (uint32_t, n_ranks);
  double all = group_cost (sheet->costs, sum_costs (&sheet->costs->graph));
  double cut = group_cost (sheet->costs, sheet->groups->cut);

  for (uint32_t rank = 0; rank < n_ranks; rank++)
    order[rank] = rank;
  g_qsort_with_data (order, (int) n_ranks, sizeof *order, compare_within_part, (void *) sheet);
  cli_print_heading (out, "  part   size  ranks");
  for (uint32_t part = 0; part < sheet->n_parts; part++) {
    fprintf (out, "%6u %6u ", part, size[part]);
    print_ranks (out, sheet, order + next, size[part]);
    next += size[part];
  }
  fputc ('\n', out);
  cli_print_heading (out, "  start            cut before      bettered     perturbed");
  for (uint32_t i = 0; i < sheet->groups->trials->len; i++) {
    const PredictGroupTrial *trial = trial_of (sheet, i);

    fprintf (out, "%c %-13s %13.7g %13.7g %13.7g\n", i == sheet->groups->best ? '*' : ' ',
             trial->name, group_cost (sheet->costs, trial->cut_start),
             group_cost (sheet->costs, trial->cut_bettered), group_cost (sheet->costs, trial->cut));
  }
  cli_printf (out, "\ncut: %.10g of %.10g (%s), %.1f %%\n", cut, all, sheet->costs->kind,
              all > 0 ? 100 * cut / all : 0);
}

/* CSV: rank,part[,socket[,die]], a line per rank; JSON: one object; table: a line per part and what
 * the starts came to. */
static void
group_print (FILE *out, const Sheet *sheet, CliFormat format)
{
  switch (format) {
  case CLI_FORMAT_TABLE: print_table (out, sheet); break;
  case CLI_FORMAT_CSV: print_csv (out, sheet); break;
  case CLI_FORMAT_JSON: print_json (out, sheet); break;
  }
}

/* --- `hopcast aggregate group`: which ranks are to share a node --- */

static const char *const method_names[] = { "kl", "paper", "scotch", NULL };
enum { METHOD_KL, METHOD_PAPER, METHOD_SCOTCH };
static const char *const cost_names[] = { "mended", "literal", NULL };

#define MAX_STARTS 10000
#define MAX_WIDTH  64 /* sockets of a node, dies of a socket */

typedef struct {
  CliFormatOptions format;
  CliTalkOptions talk;
  char *method_name, *cost_name, *times, *levels, *output;
  int n_ranks, n_parts, n_starts;
  gint64 seed;
  int method, cost;
  uint32_t width[MAX_LEVELS], n_levels;
} Options;

#define OPTIONS_INIT                                                                      \
  {                                                                                       \
    .n_ranks = G_MININT, .n_parts = G_MININT, .n_starts = PREDICT_GROUP_STARTS, .seed = 0 \
  }

static void
options_clear (Options *options)
{
  cli_format_options_clear (&options->format);
  g_free (options->method_name);
  g_free (options->cost_name);
  g_free (options->times);
  g_free (options->levels);
  g_free (options->output);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

static void
add_options (GOptionContext *context, Options *options)
{
  const GOptionEntry entries[] = {
    { "parts", 0, 0, G_OPTION_ARG_INT, &options->n_parts,
      "How many groups there are to be: the nodes", "K" },
    { "ranks", 0, 0, G_OPTION_ARG_INT, &options->n_ranks,
      "How many ranks there are, when the last ones of the matrix are silent", "N" },
    { "levels", 0, 0, G_OPTION_ARG_STRING, &options->levels,
      "Also place the ranks inside their nodes: how many sockets a node has, and dies a socket",
      "S[,D]" },
    { "times", 0, 0, G_OPTION_ARG_FILENAME, &options->times,
      "Ping-pongs (CSV: bytes,within_us,between_us): costs of edges by equation 4 of the paper "
      "instead of bytes",
      "FILE" },
    { "cost", 0, 0, G_OPTION_ARG_STRING, &options->cost_name,
      "With --times: mended (default; pairs that send nothing cost nothing, times by their mean) or "
      "literal",
      "FORM" },
    { "method", 0, 0, G_OPTION_ARG_STRING, &options->method_name,
      "kl (default; Kernighan and Lin from several starts, perturbed), paper (the same from the "
      "block start alone) or scotch",
      "METHOD" },
    { "starts", 0, 0, G_OPTION_ARG_INT, &options->n_starts,
      "How many starts kl has besides Scotch's: block, round robin, greedy, halves, then random "
      "ones (default: 8)",
      "N" },
    { "seed", 0, 0, G_OPTION_ARG_INT64, &options->seed, "Of all that is random (default: 0)", "N" },
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options->output,
      "Where to write (default: standard output)", "FILE" },
    { "format", 0, 0, G_OPTION_ARG_STRING, &options->format.format_name,
      "How to print: csv (default), table or json", "FORMAT" },
    { NULL },
  };

  g_option_context_add_main_entries (context, entries, NULL);
  cli_add_unpack_option (context);
  cli_add_quiet_option (context, &options->talk);
}

static gboolean
parse_levels (Options *options, GError **error)
{
  g_auto (GStrv) words = g_strsplit (options->levels, ",", -1);

  for (char **word = words; *word; word++) {
    guint64 width;

    if (options->n_levels == MAX_LEVELS ||
        !g_ascii_string_to_unsigned (*word, 10, 1, MAX_WIDTH, &width, NULL))
      break;
    options->width[options->n_levels++] = (uint32_t) width;
  }
  if (options->n_levels == 0 || options->n_levels < g_strv_length (words))
    return cli_refuse (error, "--levels: '%s' is not one or two numbers within 1..%d, such as 2,2",
                       options->levels, MAX_WIDTH);
  return TRUE;
}

static gboolean
check_options (Options *options, GError **error)
{
  if (options->n_parts == G_MININT)
    return cli_refuse (error, "--parts K is missing");
  if (options->n_parts < 1)
    return cli_refuse (error, "--parts: %d is not at least 1", options->n_parts);
  if (options->n_ranks != G_MININT && options->n_ranks < 1)
    return cli_refuse (error, "--ranks: %d is not at least 1", options->n_ranks);
  if (options->n_starts < 1 || options->n_starts > MAX_STARTS)
    return cli_refuse (error, "--starts: %d is not within 1..%d", options->n_starts, MAX_STARTS);
  if (options->seed < 0)
    return cli_refuse (error, "--seed: must not be negative");
  if (options->cost_name && !options->times)
    return cli_refuse (error, "--cost: without --times FILE costs are bytes");
  if (options->method_name && (options->method = cli_parse_choice ("--method", options->method_name,
                                                                   method_names, error)) < 0)
    return FALSE;
  if (options->cost_name &&
      (options->cost = cli_parse_choice ("--cost", options->cost_name, cost_names, error)) < 0)
    return FALSE;
  if (options->levels && !parse_levels (options, error))
    return FALSE;
  if (!cli_parse_format (&options->format, error))
    return FALSE;
  if (!options->format.format_name)
    options->format.format = CLI_FORMAT_CSV;
  return TRUE;
}

/* --- Costs --- */

static gboolean
load_costs (const char *path, const Options *options, Costs *costs, GError **error)
{
  g_autoptr (StudyMatrix) matrix = study_matrix_load (path, error);
  uint32_t n_ranks;

  if (!matrix)
    return FALSE;
  n_ranks = study_matrix_ranks (matrix);
  if (options->n_ranks != G_MININT && (uint32_t) options->n_ranks < n_ranks) {
    g_set_error (error, CLI_ERROR, CLI_ERROR_INPUT, "%s: has %u ranks, --ranks says %d", path,
                 n_ranks, options->n_ranks);
    return FALSE;
  }
  if (options->n_ranks != G_MININT)
    n_ranks = (uint32_t) options->n_ranks;
  if ((uint32_t) options->n_parts > n_ranks) {
    g_set_error (error, CLI_ERROR, CLI_ERROR_INPUT,
                 "%s: %u ranks cannot be %d groups, each of at least one", path, n_ranks,
                 options->n_parts);
    return FALSE;
  }
  if (options->times)
    return costs_of_times (costs, matrix, n_ranks, options->times, (uint32_t) options->n_parts,
                           (PredictCostForm) options->cost, error);
  costs_of_bytes (costs, matrix, n_ranks);
  return TRUE;
}

/* --- Groups --- */

static PredictGroups *
find_groups (const PredictCostGraph *graph, const Options *options, GError **error)
{
  PredictGroupOptions search = { .n_parts = (uint32_t) options->n_parts,
                                 .n_starts = (uint32_t) options->n_starts,
                                 .seed = (uint64_t) options->seed,
                                 .work = PREDICT_GROUP_WORK };
  PredictGroupStart given = { .name = "scotch" };
  g_autofree uint32_t *part = NULL;
  g_autoptr (GError) scotch_error = NULL;

  if (options->method == METHOD_PAPER) {
    search.work = 0;
    return predict_group (graph, &search);
  }
  part = study_scotch_part (graph, search.n_parts, search.seed, &scotch_error);
  if (options->method == METHOD_SCOTCH) {
    if (scotch_error)
      g_propagate_error (error, g_steal_pointer (&scotch_error));
    return part ? predict_groups_given (graph, "scotch", g_steal_pointer (&part), search.n_parts)
                : NULL;
  }
  if (part) {
    given.part = part;
    search.given = &given;
    search.n_given = 1;
  } else if (!options->talk.quiet)
    cli_printf (stderr, "hopcast: warning: %s\n", scotch_error->message);
  return predict_group (graph, &search);
}

/* Divides tasks[n], which ascend, into up to `width` groups; fills group[task]. */
static void
divide (const PredictCostGraph *graph, const Options *options, uint32_t width,
        const uint32_t *tasks, uint32_t n, uint32_t *group)
{
  g_autoptr (PredictCostRows) rows = predict_cost_rows_among (graph, tasks, n);
  const PredictGroupOptions search = {
    .n_parts = MIN (width, n),
    .n_starts = (uint32_t) options->n_starts,
    .seed = (uint64_t) options->seed,
    .work = options->method == METHOD_PAPER ? 0 : PREDICT_GROUP_WORK / (uint32_t) options->n_parts
  };
  g_autoptr (PredictGroups) groups = predict_group (&rows->graph, &search);

  for (uint32_t i = 0; i < n; i++)
    group[tasks[i]] = groups->part[i];
}

/* Divides the ranks of every cell, cell[rank] of them, into groups. */
static void
divide_cells (const PredictCostGraph *graph, const Options *options, uint32_t width,
              const uint32_t *cell, uint32_t n_cells, uint32_t *group)
{
  g_autofree uint32_t *first = g_new0 (uint32_t, (gsize) n_cells + 1);
  g_autofree uint32_t *end = NULL, *tasks = g_new (uint32_t, graph->n);

  for (uint32_t rank = 0; rank < graph->n; rank++)
    first[cell[rank] + 1]++;
  for (uint32_t i = 0; i < n_cells; i++)
    first[i + 1] += first[i];
  end = g_memdup2 (first, n_cells * sizeof *first);
  for (uint32_t rank = 0; rank < graph->n; rank++)
    tasks[end[cell[rank]]++] = rank;
  for (uint32_t i = 0; i < n_cells; i++)
    if (first[i + 1] > first[i])
      divide (graph, options, width, tasks + first[i], first[i + 1] - first[i], group);
}

/* Sockets of the nodes, then dies of the sockets. */
static void
place_in_nodes (const Sheet *sheet, const Options *options)
{
  uint32_t n_ranks = sheet->costs->n_ranks, n_cells = sheet->n_parts;
  g_autofree uint32_t *cell = g_memdup2 (sheet->groups->part, n_ranks * sizeof *cell);

  for (uint32_t level = 0; level < options->n_levels; level++) {
    uint32_t width = options->width[level];

    divide_cells (&sheet->costs->graph, options, width, cell, n_cells, sheet->level[level]);
    for (uint32_t rank = 0; rank < n_ranks; rank++)
      cell[rank] = cell[rank] * width + sheet->level[level][rank];
    n_cells *= width;
  }
}

/* --- The command --- */

static gboolean
write_groups (const Sheet *sheet, const Options *options, GError **error)
{
  g_autoptr (CliOutfile) file = cli_outfile_new (options->output ? options->output : "-", error);

  if (!file)
    return FALSE;
  group_print (cli_outfile_stream (file), sheet, options->format.format);
  return cli_outfile_commit (file, error);
}

int
cli_aggregate_group (int argc, char **argv, GError **error)
{
  static const char *const names[] = { "MATRIX", NULL };
  g_autoptr (GOptionContext) context = cli_context_new (
      "MATRIX", "Finds groups of ranks, as many in each, such that what is sent between groups "
                "costs little.");
  g_auto (Options) options = OPTIONS_INIT;
  g_auto (Costs) costs = { 0 };
  g_autoptr (PredictGroups) groups = NULL;
  Sheet sheet = { 0 };
  gboolean written;

  add_options (context, &options);
  if (!cli_parse (context, argc, argv, names, &sheet.source, error) ||
      !check_options (&options, error) || !load_costs (sheet.source, &options, &costs, error) ||
      !(groups = find_groups (&costs.graph, &options, error)))
    return CLI_FAILED;
  sheet.method = method_names[options.method];
  sheet.seed = (uint64_t) options.seed;
  sheet.n_parts = (uint32_t) options.n_parts;
  sheet.costs = &costs;
  sheet.groups = groups;
  sheet.n_levels = options.n_levels;
  for (uint32_t i = 0; i < sheet.n_levels; i++)
    sheet.level[i] = g_new0 (uint32_t, costs.n_ranks);
  if (sheet.n_levels > 0)
    place_in_nodes (&sheet, &options);
  written = write_groups (&sheet, &options, error);
  for (uint32_t i = 0; i < sheet.n_levels; i++)
    g_free (sheet.level[i]);
  return written ? CLI_DONE : CLI_FAILED;
}
