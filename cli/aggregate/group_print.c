/* group_print.c - groups of ranks for people and for programs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cli/aggregate/group_print.h"

#include "cli/terminal.h"

#include <math.h>

static const char *const level_names[CLI_GROUP_MAX_LEVELS] = { "socket", "die" };

static const PredictGroupTrial *
trial_of (const CliGroupSheet *sheet, uint32_t i)
{
  return &g_array_index (sheet->groups->trials, PredictGroupTrial, i);
}

/* [part] how many ranks it has; the caller frees. */
static uint32_t *
count_sizes (const CliGroupSheet *sheet)
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
print_csv (FILE *out, const CliGroupSheet *sheet)
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
  json_builder_set_member_name (builder, name);
  json_builder_begin_array (builder);
  for (uint32_t i = 0; i < n; i++)
    json_builder_add_int_value (builder, numbers[i]);
  json_builder_end_array (builder);
}

static void
add_trials (JsonBuilder *builder, const CliGroupSheet *sheet)
{
  json_builder_set_member_name (builder, "starts");
  json_builder_begin_array (builder);
  for (uint32_t i = 0; i < sheet->groups->trials->len; i++) {
    const PredictGroupTrial *trial = trial_of (sheet, i);

    json_builder_begin_object (builder);
    cli_add_string (builder, "start", trial->name);
    cli_add_number (builder, "cut_start", cli_group_cost (sheet->costs, trial->cut_start));
    cli_add_number (builder, "cut_bettered", cli_group_cost (sheet->costs, trial->cut_bettered));
    cli_add_number (builder, "cut", cli_group_cost (sheet->costs, trial->cut));
    json_builder_end_object (builder);
  }
  json_builder_end_array (builder);
}

static void
print_json (FILE *out, const CliGroupSheet *sheet)
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
  cli_add_number (builder, "cut", cli_group_cost (sheet->costs, sheet->groups->cut));
  cli_add_number (builder, "cost_of_all_edges",
                  cli_group_cost (sheet->costs, sum_costs (&sheet->costs->graph)));
  cli_add_string (builder, "best_start", trial_of (sheet, sheet->groups->best)->name);
  add_trials (builder, sheet);
  add_numbers (builder, "sizes", size, sheet->n_parts);
  add_numbers (builder, "part", sheet->groups->part, n_ranks);
  for (uint32_t i = 0; i < sheet->n_levels; i++)
    add_numbers (builder, level_names[i], sheet->level[i], n_ranks);
  json_builder_end_object (builder);
  record = json_builder_get_root (builder);
  cli_print_record (out, record, CLI_FORMAT_JSON);
}

/* -- for people ------------------------------------------------------------ */

static void
print_ranks (FILE *out, const CliGroupSheet *sheet, const uint32_t *order, uint32_t n)
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
  const CliGroupSheet *sheet = data;
  const uint32_t *part = sheet->groups->part;

  if (part[a] != part[b])
    return part[a] < part[b] ? -1 : 1;
  for (uint32_t i = 0; i < sheet->n_levels; i++)
    if (sheet->level[i][a] != sheet->level[i][b])
      return sheet->level[i][a] < sheet->level[i][b] ? -1 : 1;
  return (a > b) - (a < b);
}

static void
print_table (FILE *out, const CliGroupSheet *sheet)
{
  uint32_t n_ranks = sheet->costs->n_ranks, next = 0;
  g_autofree uint32_t *size = count_sizes (sheet), *order = g_new (uint32_t, n_ranks);
  double all = cli_group_cost (sheet->costs, sum_costs (&sheet->costs->graph));
  double cut = cli_group_cost (sheet->costs, sheet->groups->cut);

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
             trial->name, cli_group_cost (sheet->costs, trial->cut_start),
             cli_group_cost (sheet->costs, trial->cut_bettered),
             cli_group_cost (sheet->costs, trial->cut));
  }
  cli_printf (out, "\ncut: %.10g of %.10g (%s), %.1f %%\n", cut, all, sheet->costs->kind,
              all > 0 ? 100 * cut / all : 0);
}

void
cli_group_print (FILE *out, const CliGroupSheet *sheet, CliFormat format)
{
  switch (format) {
  case CLI_FORMAT_TABLE: print_table (out, sheet); break;
  case CLI_FORMAT_CSV: print_csv (out, sheet); break;
  case CLI_FORMAT_JSON: print_json (out, sheet); break;
  }
}
