/* aggregate_group.c - `hopcast aggregate group`: groups of ranks that share nodes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/options.h"
#include "cli/print/columns.h"
#include "cli/print/outfile.h"
#include "cli/print/terminal.h"
#include "predictors/group/cost_graph.h"
#include "predictors/group/grouping.h"
#include "predictors/table/table.h"
#include "study/aggregate/aggregate_mapping.h"
#include "study/search/matrix.h"
#include "study/search/scotch.h"

#include <math.h>
#include <stddef.h>

#define MAX_STARTS 10000
#define MAX_WIDTH  64 /* sockets of a node, dies of a socket */
#define MAX_LEVELS 2  /* parts of parts: sockets of a node, dies of a socket */

static const char *const level_names[MAX_LEVELS] = { "socket", "die" };
static const char *const method_names[] = { "kl", "paper", "scotch", NULL };
enum { METHOD_KL, METHOD_PAPER, METHOD_SCOTCH };
static const char *const cost_names[] = { "mended", "literal", NULL };

typedef struct {
  uint32_t n_ranks;
  const char *kind;       /* "bytes", "mended" or "literal" */
  PredictCostGraph graph; /* borrows from one of the next two */
  StudyGraph *bytes;
  PredictCostRows *rows;
  int exponent; /* costs of the graph are the true ones times 2^exponent */
  double c;     /* of equation 4; NaN: costs are bytes */
} Costs;

typedef struct {
  const char *source, *method;
  uint64_t seed;
  uint32_t n_parts;
  const Costs *costs;
  const PredictGroups *groups;
  uint32_t n_levels;
  uint32_t *level[MAX_LEVELS]; /* [rank] its socket in the node, its die in the socket */
} Result;

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

/* --- Costs --- */

static gboolean
check_pingpong (const PredictTable *table, const PredictPingPong *times, GError **error)
{
  const char *problem = NULL;
  g_autofree char *place = NULL;
  uint32_t row;

  if (times->n == 0)
    return cli_fail (error, "%s: there are no times", table->source);
  for (row = 0; row < times->n; row++) {
    if (!(times->bytes[row] >= 0) || (row > 0 && times->bytes[row] <= times->bytes[row - 1]))
      problem = "bytes must ascend from at least 0";
    else if (!(times->within_s[row] > 0) || !(times->between_s[row] > 0))
      problem = "times must be above 0";
    if (problem != NULL)
      break;
  }
  if (problem == NULL)
    return TRUE;
  place = predict_table_place (table, row);
  return cli_fail (error, "%s: %s", place, problem);
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
 * All messages of a pair in one direction are assumed to have their mean size. */
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
  if (form == PREDICT_COST_LITERAL && n_ranks > PREDICT_LITERAL_MAX_TASKS)
    return cli_fail (error,
                     "--cost literal: every pair of ranks has an edge; %u ranks are more than %u",
                     n_ranks, PREDICT_LITERAL_MAX_TASKS);
  pairs = study_pair_times (study_matrix_edges (matrix), n_ranks, &times, &n_pairs);
  *costs =
      (Costs){ .n_ranks = n_ranks, .kind = form == PREDICT_COST_LITERAL ? "literal" : "mended" };
  costs->rows = predict_edge_costs (n_ranks, pairs, n_pairs, (n_ranks + n_parts - 1) / n_parts,
                                    form, &costs->c);
  costs->graph = costs->rows->graph;
  costs->exponent = costs->rows->exponent;
  return TRUE;
}

/* --- Results --- */

/* The connected components of the graph. */
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

static void
print_csv (FILE *out, const Result *result)
{
  fputs ("rank,part", out);
  for (uint32_t i = 0; i < result->n_levels; i++)
    fprintf (out, ",%s", level_names[i]);
  fputc ('\n', out);
  for (uint32_t rank = 0; rank < result->costs->n_ranks; rank++) {
    fprintf (out, "%u,%u", rank, result->groups->part[rank]);
    for (uint32_t i = 0; i < result->n_levels; i++)
      fprintf (out, ",%u", result->level[i][rank]);
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

static int
compare_within_part (const void *left, const void *right, void *data)
{
  uint32_t a = *(const uint32_t *) left, b = *(const uint32_t *) right;
  const Result *result = data;
  const uint32_t *part = result->groups->part;

  if (part[a] != part[b])
    return part[a] < part[b] ? -1 : 1;
  for (uint32_t i = 0; i < result->n_levels; i++)
    if (result->level[i][a] != result->level[i][b])
      return result->level[i][a] < result->level[i][b] ? -1 : 1;
  return (a > b) - (a < b);
}

/* The ranks of a part, with a bar between sockets and dies; the caller frees. */
static char *
ranks_text (const Result *result, const uint32_t *order, uint32_t n)
{
  GString *text = g_string_new (NULL);

  for (uint32_t i = 0; i < n; i++) {
    gboolean is_new = FALSE;

    for (uint32_t level = 0; level < result->n_levels; level++)
      is_new |= i > 0 && result->level[level][order[i]] != result->level[level][order[i - 1]];
    g_string_append_printf (text, "%s%u", is_new ? " | " : i > 0 ? " " : "", order[i]);
  }
  return g_string_free (text, FALSE);
}

typedef struct {
  uint32_t part, size;
  char *ranks;
} PartRow;

static const CliColumn part_columns[] = {
  { NULL, "part", CLI_CELL_U32, offsetof (PartRow, part) },
  { NULL, "size", CLI_CELL_U32, offsetof (PartRow, size) },
  { NULL, "ranks", CLI_CELL_TEXT, offsetof (PartRow, ranks) },
};

typedef struct {
  const char *mark, *name; /* mark: of the best start */
  double cut_start, cut_bettered, cut;
} StartRow;

static const CliColumn start_columns[] = {
  { NULL, "", CLI_CELL_TEXT, offsetof (StartRow, mark) },
  { "start", "start", CLI_CELL_TEXT, offsetof (StartRow, name) },
  { "cut_start", "cut before", CLI_CELL_NUMBER, offsetof (StartRow, cut_start), "%.7g" },
  { "cut_bettered", "bettered", CLI_CELL_NUMBER, offsetof (StartRow, cut_bettered), "%.7g" },
  { "cut", "perturbed", CLI_CELL_NUMBER, offsetof (StartRow, cut), "%.7g" },
};

static void
print_table (FILE *out, const Result *result, const CliRows *starts, const uint32_t *size,
             double all)
{
  uint32_t n_ranks = result->costs->n_ranks, next = 0;
  g_autofree uint32_t *order = g_new (uint32_t, n_ranks);
  g_autofree PartRow *part = g_new (PartRow, result->n_parts);
  double cut = group_cost (result->costs, result->groups->cut);

  for (uint32_t rank = 0; rank < n_ranks; rank++)
    order[rank] = rank;
  g_qsort_with_data (order, (int) n_ranks, sizeof *order, compare_within_part, (void *) result);
  for (uint32_t i = 0; i < result->n_parts; i++) {
    part[i] = (PartRow){ i, size[i], ranks_text (result, order + next, size[i]) };
    next += size[i];
  }
  cli_rows_print_table (out, &CLI_ROWS (part_columns, part, result->n_parts), "");
  for (uint32_t i = 0; i < result->n_parts; i++)
    g_free (part[i].ranks);
  fputc ('\n', out);
  cli_rows_print_table (out, starts, "");
  cli_printf (out, "\ncut: %.10g of %.10g (%s), %.1f %%\n", cut, all, result->costs->kind,
              all > 0 ? 100 * cut / all : 0);
}

/* CSV: rank,part[,socket[,die]], a line per rank; JSON: one object; table: a line per part and per
 * start. */
static void
print (FILE *out, const Result *result, CliFormat format)
{
  const PredictCostGraph *graph = &result->costs->graph;
  const PredictGroups *groups = result->groups;
  guint n_starts = groups->trials->len;
  g_autofree StartRow *start = g_new (StartRow, n_starts);
  g_autofree uint32_t *size = g_new0 (uint32_t, result->n_parts);
  const CliRows starts = CLI_ROWS (start_columns, start, n_starts);
  uint32_t n_ranks = result->costs->n_ranks;
  g_autoptr (JsonBuilder) builder = NULL;
  int64_t sum = 0; /* each edge twice */
  double all;

  for (guint i = 0; i < n_starts; i++) {
    const PredictGroupTrial *trial = &g_array_index (groups->trials, PredictGroupTrial, i);

    start[i] = (StartRow){ i == groups->best ? "*" : "", trial->name,
                           group_cost (result->costs, trial->cut_start),
                           group_cost (result->costs, trial->cut_improved),
                           group_cost (result->costs, trial->cut) };
  }
  for (uint32_t rank = 0; rank < n_ranks; rank++)
    size[groups->part[rank]]++;
  for (uint64_t e = 0; e < graph->first[graph->n]; e++)
    sum += graph->cost[e];
  all = group_cost (result->costs, sum / 2);
  switch (format) {
  case CLI_FORMAT_TABLE: print_table (out, result, &starts, size, all); break;
  case CLI_FORMAT_CSV: print_csv (out, result); break;
  case CLI_FORMAT_JSON:
    builder = json_builder_new ();
    json_builder_begin_object (builder);
    cli_add_string (builder, "schema", "hopcast.groups/1");
    cli_add_string (builder, "source", result->source);
    cli_add_integer (builder, "ranks", n_ranks);
    cli_add_integer (builder, "parts", result->n_parts);
    cli_add_string (builder, "method", result->method);
    cli_add_integer (builder, "seed", result->seed);
    cli_add_string (builder, "cost", result->costs->kind);
    cli_add_number (builder, "c", result->costs->c);
    cli_add_integer (builder, "components", count_components (graph));
    cli_add_number (builder, "cut", group_cost (result->costs, groups->cut));
    cli_add_number (builder, "cost_of_all_edges", all);
    cli_add_string (builder, "best_start", start[groups->best].name);
    cli_rows_add_json (builder, "starts", &starts);
    add_numbers (builder, "sizes", size, result->n_parts);
    add_numbers (builder, "part", groups->part, n_ranks);
    for (uint32_t i = 0; i < result->n_levels; i++)
      add_numbers (builder, level_names[i], result->level[i], n_ranks);
    cli_print_object (out, builder);
    break;
  }
}

/* --- Options --- */

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

static gboolean
check_options (Options *options, GError **error)
{
  if (options->n_parts == G_MININT)
    return cli_refuse (error, "--parts K is missing");
  if (options->n_parts < 1)
    return cli_refuse (error, "--parts: %d is not at least 1", options->n_parts);
  if (options->n_ranks != G_MININT && options->n_ranks < 1)
    return cli_refuse (error, "--ranks: %d is not at least 1", options->n_ranks);
  if (!cli_check_number ("--starts", options->n_starts, 1, MAX_STARTS, error))
    return FALSE;
  if (options->seed < 0)
    return cli_refuse (error, "--seed: must not be negative");
  if (options->cost_name && !options->times)
    return cli_refuse (error, "--cost needs --times FILE");
  if (options->method_name && (options->method = cli_parse_choice ("--method", options->method_name,
                                                                   method_names, error)) < 0)
    return FALSE;
  if (options->cost_name &&
      (options->cost = cli_parse_choice ("--cost", options->cost_name, cost_names, error)) < 0)
    return FALSE;
  if (options->levels) {
    g_auto (GStrv) words = g_strsplit (options->levels, ",", -1);
    guint64 width;

    for (char **word = words; *word && options->n_levels < MAX_LEVELS &&
                              g_ascii_string_to_unsigned (*word, 10, 1, MAX_WIDTH, &width, NULL);
         word++)
      options->width[options->n_levels++] = (uint32_t) width;
    if (options->n_levels == 0 || options->n_levels < g_strv_length (words))
      return cli_refuse (error,
                         "--levels: '%s' is not one or two numbers within 1..%d, such as 2,2",
                         options->levels, MAX_WIDTH);
  }
  if (!cli_parse_format (&options->format, error))
    return FALSE;
  if (!options->format.format_name)
    options->format.format = CLI_FORMAT_CSV;
  return TRUE;
}

/* --- Groups --- */

static gboolean
load_costs (const char *path, const Options *options, Costs *costs, GError **error)
{
  g_autoptr (StudyMatrix) matrix = study_matrix_load (path, error);
  StudyGraph *bytes;
  uint32_t n_ranks;

  if (!matrix)
    return FALSE;
  n_ranks = study_matrix_ranks (matrix);
  if (options->n_ranks != G_MININT && (uint32_t) options->n_ranks < n_ranks)
    return cli_fail (error, "%s: has %u ranks, --ranks says %d", path, n_ranks, options->n_ranks);
  if (options->n_ranks != G_MININT)
    n_ranks = (uint32_t) options->n_ranks;
  if ((uint32_t) options->n_parts > n_ranks)
    return cli_fail (error, "%s: %u ranks cannot be %d groups, each of at least one", path, n_ranks,
                     options->n_parts);
  if (options->times)
    return costs_of_times (costs, matrix, n_ranks, options->times, (uint32_t) options->n_parts,
                           (PredictCostForm) options->cost, error);
  /* Bytes both ways; ranks beyond those of the matrix are silent. */
  bytes = study_graph_new (study_matrix_edges (matrix), n_ranks);
  *costs = (Costs){ .n_ranks = n_ranks,
                    .kind = "bytes",
                    .graph = { n_ranks, bytes->first, bytes->neighbour, bytes->weight },
                    .bytes = bytes,
                    .exponent = -(int) bytes->shift,
                    .c = NAN };
  return TRUE;
}

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

/* Divides the ranks of each node among its sockets, then those of each socket among its dies. */
static void
place_in_nodes (const Result *result, const Options *options)
{
  const PredictCostGraph *graph = &result->costs->graph;
  uint32_t n_ranks = result->costs->n_ranks, n_cells = result->n_parts;
  g_autofree uint32_t *cell = g_memdup2 (result->groups->part, n_ranks * sizeof *cell);
  g_autofree uint32_t *tasks = g_new (uint32_t, n_ranks);

  for (uint32_t level = 0; level < options->n_levels; level++) {
    uint32_t width = options->width[level], *group = result->level[level];
    g_autofree uint32_t *first = g_new0 (uint32_t, (gsize) n_cells + 1), *end = NULL;

    /* tasks[first[i] ..]: the ranks of cell i, ascending. */
    for (uint32_t rank = 0; rank < n_ranks; rank++)
      first[cell[rank] + 1]++;
    for (uint32_t i = 0; i < n_cells; i++)
      first[i + 1] += first[i];
    end = g_memdup2 (first, n_cells * sizeof *first);
    for (uint32_t rank = 0; rank < n_ranks; rank++)
      tasks[end[cell[rank]]++] = rank;
    for (uint32_t i = 0; i < n_cells; i++) {
      uint32_t n = first[i + 1] - first[i];
      const PredictGroupOptions search = { .n_parts = MIN (width, n),
                                           .n_starts = (uint32_t) options->n_starts,
                                           .seed = (uint64_t) options->seed,
                                           .work = options->method == METHOD_PAPER
                                                       ? 0
                                                       : PREDICT_GROUP_WORK /
                                                             (uint32_t) options->n_parts };
      g_autoptr (PredictCostRows) rows = NULL;
      g_autoptr (PredictGroups) groups = NULL;

      if (n == 0)
        continue;
      rows = predict_cost_rows_among (graph, tasks + first[i], n);
      groups = predict_group (&rows->graph, &search);
      for (uint32_t at = 0; at < n; at++)
        group[tasks[first[i] + at]] = groups->part[at];
    }
    for (uint32_t rank = 0; rank < n_ranks; rank++)
      cell[rank] = cell[rank] * width + group[rank];
    n_cells *= width;
  }
}

/* --- The command --- */

int
cli_aggregate_group (int argc, char **argv, GError **error)
{
  static const char *const names[] = { "MATRIX", NULL };
  g_autoptr (GOptionContext) context = cli_context_new (
      "MATRIX", "Finds groups of ranks, as many in each, such that what is sent between groups "
                "costs little.");
  g_auto (Options) options = OPTIONS_INIT;
  const GOptionEntry entries[] = {
    { "parts", 0, 0, G_OPTION_ARG_INT, &options.n_parts,
      "How many groups there are to be: the nodes", "K" },
    { "ranks", 0, 0, G_OPTION_ARG_INT, &options.n_ranks,
      "How many ranks there are, when the last ones of the matrix are silent", "N" },
    { "levels", 0, 0, G_OPTION_ARG_STRING, &options.levels,
      "Also place the ranks inside their nodes: how many sockets a node has, and dies a socket",
      "S[,D]" },
    { "times", 0, 0, G_OPTION_ARG_FILENAME, &options.times,
      "Ping-pongs (CSV: bytes,within_us,between_us): costs of edges by equation 4 of the paper "
      "instead of bytes",
      "FILE" },
    { "cost", 0, 0, G_OPTION_ARG_STRING, &options.cost_name,
      "With --times: mended (default; pairs that send nothing cost nothing, times by their mean) or "
      "literal",
      "FORM" },
    { "method", 0, 0, G_OPTION_ARG_STRING, &options.method_name,
      "kl (default; Kernighan and Lin from several starts, perturbed), paper (the same from the "
      "block start alone) or scotch",
      "METHOD" },
    { "starts", 0, 0, G_OPTION_ARG_INT, &options.n_starts,
      "How many starts kl has besides Scotch's: block, round robin, greedy, halves, then random "
      "ones (default: 8)",
      "N" },
    { "seed", 0, 0, G_OPTION_ARG_INT64, &options.seed, "Of all that is random (default: 0)", "N" },
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options.output,
      "Where to write (default: standard output)", "FILE" },
    { "format", 0, 0, G_OPTION_ARG_STRING, &options.format.format_name,
      "How to print: csv (default), table or json", "FORMAT" },
    { NULL },
  };
  g_auto (Costs) costs = { 0 };
  g_autoptr (PredictGroups) groups = NULL;
  g_autoptr (CliOutfile) file = NULL;
  Result result = { 0 };

  g_option_context_add_main_entries (context, entries, NULL);
  cli_add_unpack_option (context);
  cli_add_quiet_option (context, &options.talk);
  if (!cli_parse (context, argc, argv, names, &result.source, error) ||
      !check_options (&options, error) || !load_costs (result.source, &options, &costs, error) ||
      !(groups = find_groups (&costs.graph, &options, error)) ||
      !(file = cli_outfile_new (options.output, error)))
    return CLI_FAILED;
  result.method = method_names[options.method];
  result.seed = (uint64_t) options.seed;
  result.n_parts = (uint32_t) options.n_parts;
  result.costs = &costs;
  result.groups = groups;
  result.n_levels = options.n_levels;
  for (uint32_t i = 0; i < result.n_levels; i++)
    result.level[i] = g_new0 (uint32_t, costs.n_ranks);
  place_in_nodes (&result, &options);
  print (cli_outfile_stream (file), &result, options.format.format);
  for (uint32_t i = 0; i < result.n_levels; i++)
    g_free (result.level[i]);
  return cli_outfile_commit (file, error) ? CLI_DONE : CLI_FAILED;
}
