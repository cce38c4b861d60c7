/* aggregate_group.c - `hopcast aggregate group`: which ranks are to share a node.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cli/command.h"
#include "cli/aggregate/group_print.h"
#include "cli/options.h"
#include "cli/outfile.h"
#include "cli/terminal.h"
#include "study/search/scotch.h"

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
  uint32_t width[CLI_GROUP_MAX_LEVELS], n_levels;
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

    if (options->n_levels == CLI_GROUP_MAX_LEVELS ||
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
load_costs (const char *path, const Options *options, CliGroupCosts *costs, GError **error)
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
    return cli_group_costs_of_times (costs, matrix, n_ranks, options->times,
                                     (uint32_t) options->n_parts, (PredictCostForm) options->cost,
                                     error);
  cli_group_costs_of_bytes (costs, matrix, n_ranks);
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
place_in_nodes (const CliGroupSheet *sheet, const Options *options)
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
write_groups (const CliGroupSheet *sheet, const Options *options, GError **error)
{
  g_autoptr (CliOutfile) file = cli_outfile_new (options->output ? options->output : "-", error);

  if (!file)
    return FALSE;
  cli_group_print (cli_outfile_stream (file), sheet, options->format.format);
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
  g_auto (CliGroupCosts) costs = { 0 };
  g_autoptr (PredictGroups) groups = NULL;
  CliGroupSheet sheet = { 0 };
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
