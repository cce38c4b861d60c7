/* choice_print.c - the patterns of choices for people and programs, and files for launchers.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/aggregate/choice.h"

#include "cli/command.h"
#include "cli/map/map_options.h"
#include "cli/print/columns.h"
#include "cli/print/outfile.h"
#include "cli/print/output.h"
#include "cli/print/terminal.h"
#include "study/plan/plan.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define BAR 40 /* characters of the longest bar */

/* As a share of the energy of the reference; NaN: not known. */
static double
saving_of (const StudyChoice *choice, uint32_t at)
{
  return 1 - choice->row[at].energy_J / choice->row[choice->reference].energy_J;
}

/* How much slower than the fastest, as a share of its time. */
static double
behind_of (const StudyChoice *choice, uint32_t at)
{
  return choice->judged[at].total_s / choice->judged[choice->fastest].total_s - 1;
}

/* "pattern 1", or the pattern that replaces it, and why; the caller frees it. */
static char *
reference_text (const StudyChoice *choice, const CliChoiceOptions *options)
{
  uint32_t id = choice->patterns->pattern[choice->reference].id;

  if (id == options->choice.reference)
    return g_strdup_printf ("pattern %u", id);
  return g_strdup_printf ("pattern %u, the fastest that fits (%u is excluded: %s)", id,
                          options->choice.reference,
                          choice->row[options->choice.reference - 1].excluded);
}

/* Of an index of patterns. */
static int
compare_times (gconstpointer a, gconstpointer b, gpointer judged)
{
  double first = ((const PredictAggregationJudgement *) judged)[*(const uint32_t *) a].total_s;
  double second = ((const PredictAggregationJudgement *) judged)[*(const uint32_t *) b].total_s;

  return (first > second) - (first < second);
}

/* "3 (14.08 s), 1 (+0.2 %), ..."; the caller frees it. */
static char *
ranking_text (const StudyChoice *choice)
{
  GString *text = g_string_new (NULL);
  g_autoptr (GArray) order = g_array_new (FALSE, FALSE, sizeof (uint32_t));

  for (uint32_t at = 0; at < choice->patterns->n; at++)
    if (choice->row[at].excluded == NULL)
      g_array_append_val (order, at);
  g_array_sort_with_data (order, compare_times, choice->judged);
  for (guint i = 0; i < order->len; i++) {
    uint32_t at = g_array_index (order, uint32_t, i);

    if (i == 0)
      g_string_append_printf (text, "%u (%.5g s)", choice->patterns->pattern[at].id,
                              choice->judged[at].total_s);
    else
      g_string_append_printf (text, ", %u (%+.1f %%)", choice->patterns->pattern[at].id,
                              0.1 * round (1000 * behind_of (choice, at)) + 0.0);
  }
  return g_string_free (text, FALSE);
}

/* Whether slow-downs are ranges, for want of knowledge of the program. */
static bool
has_band (const StudyChoice *choice)
{
  return choice->shares != NULL && !study_memory_is_known (&choice->options->memory);
}

/* "20 to 40 %", "30 %"; the caller frees it. */
static char *
share_text (const StudyMemoryUse *use)
{
  return use->share_low == use->share_high
             ? g_strdup_printf ("a memory share of %.3g %%", 100 * use->share_low)
             : g_strdup_printf ("memory shares of %.3g to %.3g %%", 100 * use->share_low,
                                100 * use->share_high);
}

/* How much slower than the reference the chosen pattern may be, and the pattern that would be better if it
 * were known that the program asks for little memory; begins with "; ".  The caller frees it. */
static char *
band_text (const StudyChoice *choice)
{
  const StudyMemoryUse *use = &choice->options->memory;
  const TopoPattern *pattern = choice->patterns->pattern;
  const PredictAggregationJudgement *chosen = &choice->judged[choice->chosen];
  g_autofree char *shares = share_text (use);
  GString *text = g_string_new (NULL);
  uint32_t better = choice->patterns->n;

  if (choice->chosen == choice->reference)
    g_string_append_printf (
        text, "; no pattern that needs less energy is certain to be at most %g %% slower, with %s",
        100 * choice->options->max_slowdown, shares);
  else
    g_string_append_printf (text, "; against pattern %u %+.1f to %+.1f %%, with %s",
                            pattern[choice->reference].id, 100 * chosen->slowdown_low + 0.0,
                            100 * chosen->slowdown_high + 0.0, shares);
  if (use->set_low_bytes < use->set_high_bytes)
    g_string_append (text, use->set_low_bytes > 0 || !isinf (use->set_high_bytes)
                               ? " and every working set of the range"
                               : " and any working set");
  for (uint32_t at = 0; at < choice->patterns->n; at++)
    if (choice->judged[at].verdict == PREDICT_AGGREGATION_DEPENDS &&
        pattern[at].energy_rank < pattern[choice->chosen].energy_rank &&
        choice->row[at].share_limit > 0 &&
        (better == choice->patterns->n || pattern[at].energy_rank < pattern[better].energy_rank))
      better = at;
  if (better < choice->patterns->n)
    g_string_append_printf (
        text,
        "; pattern %u on %u nodes would do up to a memory share of %.0f %%, which "
        "times in two patterns tell (hopcast aggregate memory-share)",
        pattern[better].id, pattern[better].n_nodes, floor (100 * choice->row[better].share_limit));
  return g_string_free (text, FALSE);
}

char *
cli_choice_advice (const StudyChoice *choice)
{
  g_autofree char *band =
      choice->is_recommended && has_band (choice) ? band_text (choice) : g_strdup ("");
  const TopoPattern *chosen = &choice->patterns->pattern[choice->chosen];
  const TopoPattern *fastest = &choice->patterns->pattern[choice->fastest];
  double behind = 0.1 * round (1000 * behind_of (choice, choice->chosen)) + 0.0;

  if (!choice->is_recommended) {
    g_autofree char *ranking = ranking_text (choice);

    return g_strdup_printf (
        "no recommendation: nothing says how much the tasks of a node slow each "
        "other down (--computation unchanged); without that, by time: %s",
        ranking);
  }
  if (choice->chosen == choice->fastest)
    return g_strdup_printf (
        "choose pattern %u: %u of a node's cores on each of %u nodes; it is the "
        "fastest%s",
        chosen->id, chosen->n_tasks, chosen->n_nodes, band);
  return g_strdup_printf (
      "choose pattern %u: %u of a node's cores on each of %u nodes; it is %.1f %% "
      "slower than the fastest, pattern %u on %u nodes%s",
      chosen->id, chosen->n_tasks, chosen->n_nodes, behind, fastest->id, fastest->n_nodes, band);
}

/* A pattern. */
typedef struct {
  uint32_t n_ranks, id, n_tasks, n_nodes;
  char *takes, *verdict; /* verdict: with the reason of an exclusion; both freed by rows_free() */
  const char *verdict_name, *excluded;
  double ipc, computation_s, bound_s, extrapolated, simulated_s, time_s;
  double total_s, difference_s, slowdown, slowdown_low, slowdown_high, share_limit, energy_rank;
  double energy_J, saving, delay_Js, delay_saving, over_fastest;
} Row;

enum { HAS_BOUND = 1, HAS_SIMULATION = 2, HAS_POWER = 4, HAS_BAND = 8 };

#define NUMBER(field) CLI_CELL_NUMBER, offsetof (Row, field)
static const CliColumn columns[] = {
  { "ranks", NULL, CLI_CELL_U32, offsetof (Row, n_ranks), .omit = CLI_NOT_JSON },
  { "pattern", "id", CLI_CELL_U32, offsetof (Row, id), .omit = CLI_NOT_JSON },
  { "id", NULL, CLI_CELL_U32, offsetof (Row, id), .omit = CLI_NOT_CSV },
  { "tasks_per_node", "tasks", CLI_CELL_U32, offsetof (Row, n_tasks) },
  { "nodes", "nodes", CLI_CELL_U32, offsetof (Row, n_nodes) },
  { "takes", "takes", CLI_CELL_TEXT, offsetof (Row, takes) },
  { "ipc", NULL, NUMBER (ipc) },
  { "computation_s", "computation", NUMBER (computation_s), "%.5g" },
  { "bound_s", "bound", NUMBER (bound_s), "%.5g", HAS_BOUND },
  { "extrapolated", NULL, NUMBER (extrapolated) },
  { "simulated_s", "simulated", NUMBER (simulated_s), "%.5g", HAS_SIMULATION },
  { "time_s", NULL, NUMBER (time_s) },
  { "total_s", "total s", NUMBER (total_s), "%.5g" },
  { "difference_s", NULL, NUMBER (difference_s) },
  { "slowdown", "slowdown", CLI_CELL_SHARE, offsetof (Row, slowdown) },
  { "slowdown_low", "least", CLI_CELL_SHARE, offsetof (Row, slowdown_low), NULL, HAS_BAND },
  { "slowdown_high", "most", CLI_CELL_SHARE, offsetof (Row, slowdown_high), NULL, HAS_BAND },
  { "share_limit", "share to", CLI_CELL_SHARE, offsetof (Row, share_limit), "%.0f", HAS_BAND },
  { "energy_rank", "energy", NUMBER (energy_rank), "%.5g" },
  { "energy_J", "energy J", NUMBER (energy_J), "%.5g", HAS_POWER },
  { "saving", "saving", CLI_CELL_SHARE, offsetof (Row, saving), NULL, HAS_POWER },
  { "energy_delay_Js", "energy x s", NUMBER (delay_Js), "%.5g", HAS_POWER },
  { "energy_delay_saving", "saving", CLI_CELL_SHARE, offsetof (Row, delay_saving), NULL,
    HAS_POWER },
  { "over_fastest", NULL, NUMBER (over_fastest) },
  { "verdict", NULL, CLI_CELL_TEXT, offsetof (Row, verdict_name) },
  { "excluded", NULL, CLI_CELL_TEXT, offsetof (Row, excluded) },
  { NULL, "verdict", CLI_CELL_TEXT, offsetof (Row, verdict) },
};
#undef NUMBER

static CliRows
rows_new (const StudyChoice *choice, const CliChoiceOptions *options)
{
  Row *rows = g_new (Row, choice->patterns->n);
  CliRows all = CLI_ROWS (columns, rows, choice->patterns->n);

  all.has = (options->table != NULL ? HAS_BOUND : 0u) |
            (options->no_simulate ? 0u : HAS_SIMULATION) |
            (options->choice.power != NULL ? HAS_POWER : 0u) | (has_band (choice) ? HAS_BAND : 0u);
  for (uint32_t at = 0; at < choice->patterns->n; at++) {
    const TopoPattern *pattern = &choice->patterns->pattern[at];
    const StudyChoiceRow *row = &choice->row[at];
    const PredictAggregationJudgement *judged = &choice->judged[at];
    const char *verdict = predict_aggregation_verdicts[judged->verdict];

    rows[at] = (Row){
      .n_ranks = choice->n_ranks,
      .id = pattern->id,
      .n_tasks = pattern->n_tasks,
      .n_nodes = pattern->n_nodes,
      .takes = topo_pattern_takes (choice->patterns->levels, pattern),
      .verdict = row->excluded != NULL ? g_strconcat (verdict, ": ", row->excluded, NULL)
                                       : g_strdup (verdict),
      .verdict_name = verdict,
      .excluded = row->excluded,
      .ipc = row->ipc,
      .computation_s = row->computation_s,
      .bound_s = row->bound_s,
      .extrapolated = row->extrapolated,
      .simulated_s = row->simulated_s,
      .time_s = row->time_s,
      .total_s = judged->total_s,
      .difference_s = judged->difference_s,
      .slowdown = judged->slowdown,
      .slowdown_low = judged->slowdown_low,
      .slowdown_high = judged->slowdown_high,
      .share_limit = row->share_limit >= 0 ? row->share_limit : (double) NAN,
      .energy_rank = row->excluded != NULL ? (double) NAN : pattern->energy_rank,
      .energy_J = row->energy_J,
      .saving = saving_of (choice, at),
      .delay_Js = row->delay_Js,
      .delay_saving = 1 - row->delay_Js / choice->row[choice->reference].delay_Js,
      .over_fastest = behind_of (choice, at),
    };
  }
  return all;
}

static void
rows_free (CliRows *rows)
{
  Row *row = (Row *) rows->rows;

  for (guint at = 0; at < rows->n_rows; at++) {
    g_free (row[at].takes);
    g_free (row[at].verdict);
  }
  g_free (row);
}

/* The pattern with the least of a number of its row. */
static uint32_t
least_of (const StudyChoice *choice, size_t field)
{
  uint32_t least = choice->fastest;

  for (uint32_t at = 0; at < choice->patterns->n; at++)
    if (G_STRUCT_MEMBER (double, &choice->row[at], field) <
        G_STRUCT_MEMBER (double, &choice->row[least], field))
      least = at;
  return least;
}

/* --- For people --- */

static void
print_table (FILE *out, const StudyChoice *choice, const CliChoiceOptions *options)
{
  g_autofree char *reference = reference_text (choice, options);
  g_autofree char *advice = cli_choice_advice (choice);
  g_autofree char *communication =
      options->choice.basis == STUDY_BASIS_BOUND
          ? g_strdup_printf ("upper bound (%s)", options->table)
          : g_strdup_printf ("simulated (%s)", study_network_names[options->choice.network]);
  double most_extrapolated = 0, most_s = 0;
  CliRows rows;

  cli_printf (out, "%s on %s: %u ranks\n", choice->trace_path, choice->spec, choice->n_ranks);
  cli_printf (out, "computation: %s; communication: %s; at most %g %% slower than %s\n",
              choice->computation, communication, 100 * options->choice.max_slowdown, reference);
  if (options->choice.power != NULL)
    cli_printf (out, "power: %s: a node %g W, a socket %g W, a core %g W, memory %g J/GB\n",
                options->power_is_guess ? "a guess, not measured" : options->power_path,
                options->power.idle_W, options->power.socket_W, options->power.core_W,
                options->power.memory_J_per_byte * 1e9);
  rows = rows_new (choice, options);
  cli_rows_print_table (out, &rows, "");
  rows_free (&rows);
  for (uint32_t at = 0; at < choice->patterns->n; at++) {
    most_extrapolated = fmax (most_extrapolated, choice->row[at].extrapolated);
    if (choice->row[at].excluded == NULL)
      most_s = fmax (most_s, choice->judged[at].total_s);
  }
  if (most_extrapolated > 0)
    fprintf (out, "of the bound up to %.3g %% of the operations are longer than the table goes\n",
             100 * most_extrapolated);

  /* Bars: computation #, communication =; the longest total is BAR long. */
  fputs ("\n", out);
  for (uint32_t at = 0; at < choice->patterns->n; at++) {
    const StudyChoiceRow *row = &choice->row[at];
    int computation, all;

    if (row->excluded != NULL)
      continue;
    computation = (int) lround (BAR * row->computation_s / most_s);
    all = (int) lround (BAR * choice->judged[at].total_s / most_s);
    fprintf (out, "%c%2u |", choice->is_recommended && at == choice->chosen ? '*' : ' ',
             choice->patterns->pattern[at].id);
    for (int i = 0; i < all; i++)
      fputc (i < computation ? '#' : '=', out);
    fputc ('\n', out);
  }
  fprintf (out, "     # computation  = communication%s\n",
           choice->is_recommended ? "  * chosen" : "");
  cli_printf (out, "%s\n", advice);
  if (options->choice.power != NULL)
    cli_printf (
        out, "least energy: pattern %u; least energy times time: pattern %u; fastest: pattern %u\n",
        choice->patterns->pattern[least_of (choice, offsetof (StudyChoiceRow, energy_J))].id,
        choice->patterns->pattern[least_of (choice, offsetof (StudyChoiceRow, delay_Js))].id,
        choice->patterns->pattern[choice->fastest].id);
}

/* --- JSON, and all forms --- */

static void
print_json (FILE *out, const GPtrArray *choices, const CliChoiceOptions *options)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();

  json_builder_begin_object (builder);
  cli_add_string (builder, "schema", "hopcast.aggregation/1");
  cli_add_string (builder, "network", study_network_names[options->choice.network]);
  cli_add_string (builder, "basis", cli_basis_names[options->choice.basis]);
  cli_add_integer (builder, "reference", options->choice.reference);
  cli_add_number (builder, "max_slowdown", options->choice.max_slowdown);
  cli_add_string (builder, "power",
                  options->choice.power == NULL ? NULL
                  : options->power_is_guess     ? "guess"
                                                : options->power_path);
  cli_begin_array (builder, "jobs");
  for (guint i = 0; i < choices->len; i++) {
    const StudyChoice *choice = choices->pdata[i];
    const TopoPattern *pattern = choice->patterns->pattern;
    g_autofree char *advice = cli_choice_advice (choice);
    CliRows rows = rows_new (choice, options);

    json_builder_begin_object (builder);
    cli_add_string (builder, "trace", choice->trace_path);
    cli_add_string (builder, "machine", choice->spec);
    cli_add_integer (builder, "ranks", choice->n_ranks);
    cli_add_string (builder, "computation", choice->computation);
    /* Null without a recommendation. */
    cli_add_number (builder, "chosen",
                    choice->is_recommended ? pattern[choice->chosen].id : (double) NAN);
    cli_add_integer (builder, "fastest", pattern[choice->fastest].id);
    cli_add_number (builder, "chosen_over_fastest",
                    choice->is_recommended ? behind_of (choice, choice->chosen) : (double) NAN);
    cli_add_integer (builder, "compared_with", pattern[choice->reference].id);
    if (options->choice.power != NULL) {
      cli_add_integer (builder, "least_energy",
                       pattern[least_of (choice, offsetof (StudyChoiceRow, energy_J))].id);
      cli_add_integer (builder, "least_energy_delay",
                       pattern[least_of (choice, offsetof (StudyChoiceRow, delay_Js))].id);
    }
    if (choice->shares != NULL) {
      cli_add_number (builder, "memory_share_low", options->choice.memory.share_low);
      cli_add_number (builder, "memory_share_middle", options->choice.memory.share_middle);
      cli_add_number (builder, "memory_share_high", options->choice.memory.share_high);
    }
    cli_add_string (builder, "advice", advice);
    cli_rows_add_json (builder, "patterns", &rows);
    json_builder_end_object (builder);
    rows_free (&rows);
  }
  json_builder_end_array (builder);
  cli_print_object (out, builder);
}

/* A choice.  Without a recommendation only the fastest pattern is known. */
typedef struct {
  uint32_t n_ranks, pattern, n_tasks, n_nodes, fastest;
  double slowdown, saving, over_fastest;
} ScalingRow;

static const CliColumn scaling_columns[] = {
  { NULL, "ranks", CLI_CELL_U32, offsetof (ScalingRow, n_ranks) },
  { NULL, "pattern", CLI_CELL_KNOWN_U32, offsetof (ScalingRow, pattern) },
  { NULL, "tasks", CLI_CELL_KNOWN_U32, offsetof (ScalingRow, n_tasks) },
  { NULL, "nodes", CLI_CELL_KNOWN_U32, offsetof (ScalingRow, n_nodes) },
  { NULL, "slowdown", CLI_CELL_SHARE, offsetof (ScalingRow, slowdown) },
  { NULL, "saving", CLI_CELL_SHARE, offsetof (ScalingRow, saving), NULL, HAS_POWER },
  { NULL, "fastest", CLI_CELL_U32, offsetof (ScalingRow, fastest) },
  { NULL, "over it", CLI_CELL_SHARE, offsetof (ScalingRow, over_fastest) },
};

static void
print_scaling (FILE *out, const GPtrArray *choices, const CliChoiceOptions *options)
{
  g_autofree ScalingRow *row = g_new0 (ScalingRow, choices->len);
  CliRows rows = CLI_ROWS (scaling_columns, row, choices->len);

  rows.has = options->choice.power != NULL ? HAS_POWER : 0;
  for (guint i = 0; i < choices->len; i++) {
    const StudyChoice *choice = choices->pdata[i];
    const TopoPattern *chosen = &choice->patterns->pattern[choice->chosen];

    row[i].n_ranks = choice->n_ranks;
    row[i].fastest = choice->patterns->pattern[choice->fastest].id;
    row[i].slowdown = row[i].saving = row[i].over_fastest = NAN;
    if (!choice->is_recommended)
      continue;
    row[i].pattern = chosen->id;
    row[i].n_tasks = chosen->n_tasks;
    row[i].n_nodes = chosen->n_nodes;
    row[i].slowdown = choice->judged[choice->chosen].slowdown;
    row[i].saving = saving_of (choice, choice->chosen);
    row[i].over_fastest = behind_of (choice, choice->chosen);
  }
  fputc ('\n', out);
  cli_rows_print_table (out, &rows, "");
}

void
cli_choice_print (FILE *out, const GPtrArray *choices, const CliChoiceOptions *options)
{
  switch (options->format.format) {
  case CLI_FORMAT_JSON: print_json (out, choices, options); break;
  case CLI_FORMAT_CSV:
    cli_columns_print_csv_names (out, columns, G_N_ELEMENTS (columns));
    for (guint i = 0; i < choices->len; i++) {
      CliRows rows = rows_new (choices->pdata[i], options);

      for (guint at = 0; at < rows.n_rows; at++)
        cli_columns_print_csv_row (out, columns, G_N_ELEMENTS (columns),
                                   (const Row *) rows.rows + at);
      rows_free (&rows);
    }
    break;
  case CLI_FORMAT_TABLE:
    for (guint i = 0; i < choices->len; i++) {
      if (i > 0)
        fputc ('\n', out);
      print_table (out, choices->pdata[i], options);
    }
    if (choices->len > 1)
      print_scaling (out, choices, options);
    break;
  }
}

/* --- A page --- */

/* Of the picture, in pixels. */
#define LEFT       110
#define WIDTH      560 /* of the longest bar */
#define HEIGHT     22  /* of a bar and the gap below it */
#define BAR_HEIGHT 16

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<title>hopcast aggregate</title>\n<style>\n"
    "body { font: 15px/1.4 sans-serif; margin: 2em; max-width: 60em; }\n"
    "svg { font: 12px sans-serif; }\n"
    ".computation { fill: #4a6fa5; } .communication { fill: #e0a030; }\n"
    ".slow { opacity: 0.45; } .limit { stroke: #a02020; stroke-dasharray: 4 3; }\n"
    "</style>\n</head>\n<body>\n<h1>How many ranks share a node</h1>\n";

static void
write_picture (FILE *out, const StudyChoice *choice, const CliChoiceOptions *options)
{
  double limit_s = (1 + options->choice.max_slowdown) * choice->judged[choice->reference].total_s;
  double most_s = 0, pixels_per_s, limit;

  for (uint32_t at = 0; at < choice->patterns->n; at++)
    if (choice->row[at].excluded == NULL)
      most_s = fmax (most_s, choice->judged[at].total_s);
  pixels_per_s = WIDTH / most_s;
  limit = limit_s <= most_s ? limit_s * pixels_per_s : 0;
  fprintf (out,
           "<svg width=\"%d\" height=\"%u\" role=\"img\" aria-label=\"time of each pattern\">\n",
           LEFT + WIDTH + 230, (choice->patterns->n + 1) * HEIGHT);
  for (uint32_t at = 0; at < choice->patterns->n; at++) {
    const TopoPattern *pattern = &choice->patterns->pattern[at];
    const StudyChoiceRow *row = &choice->row[at];
    const PredictAggregationJudgement *judged = &choice->judged[at];
    double top = at * HEIGHT, computation = row->computation_s * pixels_per_s;
    double all = fmax (judged->total_s * pixels_per_s, computation);

    fprintf (out, "<text x=\"0\" y=\"%.1f\"%s>%u: %u x %u</text>\n", top + BAR_HEIGHT - 4,
             choice->is_recommended && at == choice->chosen ? " font-weight=\"bold\"" : "",
             pattern->id, pattern->n_nodes, pattern->n_tasks);
    if (row->excluded != NULL) {
      g_autofree char *why = g_markup_escape_text (row->excluded, -1);

      fprintf (out, "<text x=\"%d\" y=\"%.1f\" fill=\"#777\">excluded: %s</text>\n", LEFT,
               top + BAR_HEIGHT - 4, why);
      continue;
    }
    fprintf (
        out,
        "<g%s><rect class=\"computation\" x=\"%d\" y=\"%.1f\" width=\"%.2f\" height=\"%d\"/>"
        "<rect class=\"communication\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%d\"/></g>\n",
        judged->verdict == PREDICT_AGGREGATION_TOO_SLOW ? " class=\"slow\"" : "", LEFT, top,
        computation, BAR_HEIGHT, LEFT + computation, top, all - computation, BAR_HEIGHT);
    /* The text keeps clear of the line of the limit. */
    fprintf (out, "<text x=\"%.1f\" y=\"%.1f\">%.4g s, %+.1f %%: %s</text>\n",
             LEFT + fmax (all, limit) + 6, top + BAR_HEIGHT - 4, judged->total_s,
             0.1 * round (1000 * judged->slowdown) + 0.0,
             predict_aggregation_verdicts[judged->verdict]);
  }
  if (limit > 0)
    fprintf (out, "<line class=\"limit\" x1=\"%.1f\" y1=\"0\" x2=\"%.1f\" y2=\"%u\"/>\n",
             LEFT + limit, LEFT + limit, choice->patterns->n * HEIGHT);
  fputs ("</svg>\n", out);
}

void
cli_choice_write_page (FILE *out, const GPtrArray *choices, const CliChoiceOptions *options)
{
  fputs (head, out);
  fprintf (out,
           "<p>Time of each aggregation pattern (number: nodes x ranks on each): "
           "<span style=\"color: #4a6fa5\">computation</span> and <span style=\"color: "
           "#b07000\">communication</span>. Pale: slower than the reference by more than %g %%, "
           "the broken line.</p>\n",
           100 * options->choice.max_slowdown);
  for (guint i = 0; i < choices->len; i++) {
    const StudyChoice *choice = choices->pdata[i];
    g_autofree char *reference = reference_text (choice, options);
    g_autofree char *advice = cli_choice_advice (choice);
    g_autofree char *marked = g_markup_escape_text (advice, -1);
    g_autofree char *compared = g_markup_escape_text (reference, -1);
    g_autofree char *trace = g_markup_escape_text (choice->trace_path, -1);
    g_autofree char *machine = g_markup_escape_text (choice->spec, -1);

    fprintf (out,
             "<h2>%s on %s: %u ranks</h2>\n<p>Computation: %s. Communication: %s. Compared "
             "with %s.</p>\n",
             trace, machine, choice->n_ranks, choice->computation,
             options->choice.basis == STUDY_BASIS_BOUND ? "an upper bound" : "simulated", compared);
    write_picture (out, choice, options);
    fprintf (out, "<p>%s.</p>\n", marked);
  }
  fputs ("</body>\n</html>\n", out);
}

/* --- Files of launchers --- */

static gboolean
write_file (const StudyChoice *choice, const char *kind, const char *path, GError **error)
{
  const TopoLauncher *launcher = topo_launcher_find (kind, strlen (kind));
  const TopoMapping *mapping = choice->row[choice->placed].mapping;
  g_autofree char *text = launcher->print (mapping, choice->machine, error);
  g_auto (TopoLaunch) launch = { NULL };

  if (text == NULL) {
    g_prefix_error (error, "%s: ", path);
    return FALSE;
  }
  if (!cli_outfile_write (path, text, error))
    return FALSE;
  launch = cli_map_launch (launcher, mapping, choice->machine, path);
  cli_map_tell_launch (&launch, FALSE);
  return TRUE;
}

gboolean
cli_choice_write_files (const StudyChoice *choice, const CliChoiceOptions *options, GError **error)
{
  static const char *const kinds[] = { "rankfile", "hostfile", "slurm" };
  const char *const paths[] = { options->rankfile, options->hostfile, options->slurm };
  guint n_written = 0;

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (paths[i] != NULL && !write_file (choice, kinds[i], paths[i], error))
      return FALSE;
  /* Not every launcher can express a placement; at least one must. */
  for (guint i = 0; options->prefix != NULL && i < G_N_ELEMENTS (kinds); i++) {
    g_autofree char *path = g_strconcat (options->prefix, ".", kinds[i], NULL);
    g_autoptr (GError) trouble = NULL;

    if (write_file (choice, kinds[i], path, &trouble))
      n_written++;
    else if (trouble->domain != TOPO_ERROR || (i + 1 == G_N_ELEMENTS (kinds) && n_written == 0)) {
      g_propagate_error (error, g_steal_pointer (&trouble));
      return FALSE;
    } else if (!options->talk.quiet)
      cli_printf (stderr, "hopcast: warning: not written: %s\n", trouble->message);
  }
  return TRUE;
}
