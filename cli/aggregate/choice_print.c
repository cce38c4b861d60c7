/* choice_print.c - see choice_print.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cli/aggregate/choice_print.h"

#include "cli/command.h"
#include "cli/map/map_options.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "study/plan/plan.h"

#include <math.h>
#include <string.h>

#define BAR 40 /* characters of the longest bar */

static const char *
verdict_of (const CliChoice *choice, uint32_t at)
{
  return predict_aggregation_verdicts[choice->judged[at].verdict];
}

/* "2x1x2"; the caller frees it. */
static char *
takes_text (const TopoPatterns *patterns, const TopoPattern *pattern)
{
  GString *text = g_string_new (NULL);

  for (uint32_t level = 0; level < patterns->levels->n_levels; level++)
    g_string_append_printf (text, "%s%u", level > 0 ? "x" : "", pattern->takes[level]);
  return g_string_free (text, FALSE);
}

/* Of the whole energy of the reference; NaN: not known. */
static double
saving_of (const CliChoice *choice, uint32_t at)
{
  return 1 - choice->row[at].energy_J / choice->row[choice->reference].energy_J;
}

/* By how much it is slower than the fastest, as a share of that. */
static double
behind_of (const CliChoice *choice, uint32_t at)
{
  return choice->judged[at].total_s / choice->judged[choice->fastest].total_s - 1;
}

char *
cli_choice_reference (const CliChoice *choice, const CliChoiceOptions *options)
{
  uint32_t id = choice->patterns->pattern[choice->reference].id;

  if (id == (uint32_t) options->reference)
    return g_strdup_printf ("pattern %u", id);
  return g_strdup_printf ("pattern %u, the fastest that fits (%d is excluded: %s)", id,
                          options->reference, choice->row[options->reference - 1].excluded);
}

/* What an index of patterns is ordered by. */
static int
compare_times (gconstpointer a, gconstpointer b, gpointer judged)
{
  double first = ((const PredictAggregationJudgement *) judged)[*(const uint32_t *) a].total_s;
  double second = ((const PredictAggregationJudgement *) judged)[*(const uint32_t *) b].total_s;

  return (first > second) - (first < second);
}

/* "3 (14.08 s), 1 (+0.2 %), ..."; the caller frees it. */
static char *
ranking_text (const CliChoice *choice)
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

char *
cli_choice_advice (const CliChoice *choice)
{
  const TopoPattern *chosen = &choice->patterns->pattern[choice->chosen];
  const TopoPattern *fastest = &choice->patterns->pattern[choice->fastest];
  double behind = 0.1 * round (1000 * behind_of (choice, choice->chosen)) + 0.0;

  if (!choice->is_recommended) {
    g_autofree char *ranking = ranking_text (choice);

    return g_strdup_printf (
        "no recommendation: nothing says how much the tasks of a node slow each "
        "other down (--ipc, --memory-share); without that, by time: %s",
        ranking);
  }
  if (choice->chosen == choice->fastest)
    return g_strdup_printf (
        "choose pattern %u: %u of a node's cores on each of %u nodes; it is the "
        "fastest",
        chosen->id, chosen->n_tasks, chosen->n_nodes);
  return g_strdup_printf (
      "choose pattern %u: %u of a node's cores on each of %u nodes; it is %.1f %% "
      "slower than the fastest, pattern %u on %u nodes",
      chosen->id, chosen->n_tasks, chosen->n_nodes, behind, fastest->id, fastest->n_nodes);
}

/* -- for people ------------------------------------------------------------ */

static void
print_cell (FILE *out, int width, double value)
{
  g_autofree char *text = isnan (value) ? g_strdup ("-") : g_strdup_printf ("%.5g", value);

  cli_printf (out, "  %*s", width, text);
}

/* What rounds to nothing has no sign of its own. */
static void
print_percent (FILE *out, int width, double share)
{
  g_autofree char *text = isnan (share)
                              ? g_strdup ("-")
                              : g_strdup_printf ("%+.1f%%", 0.1 * round (1000 * share) + 0.0);

  cli_printf (out, "  %*s", width, text);
}

static void
print_row (FILE *out, const CliChoice *choice, const CliChoiceOptions *options, uint32_t at,
           int takes_width)
{
  const TopoPattern *pattern = &choice->patterns->pattern[at];
  const CliChoiceRow *row = &choice->row[at];
  g_autofree char *takes = takes_text (choice->patterns, pattern);

  cli_printf (out, "%2u  %5u  %5u  %-*s", pattern->id, pattern->n_tasks, pattern->n_nodes,
              takes_width, takes);
  print_cell (out, 11, row->computation_s);
  if (options->table != NULL)
    print_cell (out, 10, row->bound_s);
  if (!options->no_simulate)
    print_cell (out, 10, row->simulated_s);
  print_cell (out, 10, choice->judged[at].total_s);
  print_percent (out, 8, choice->judged[at].slowdown);
  print_cell (out, 6, row->excluded != NULL ? (double) NAN : pattern->energy_rank);
  if (options->has_power) {
    print_cell (out, 9, row->energy_J);
    print_percent (out, 7, saving_of (choice, at));
  }
  cli_printf (out, "  %s%s%s\n", verdict_of (choice, at), row->excluded != NULL ? ": " : "",
              row->excluded != NULL ? row->excluded : "");
}

/* Computation #, communication =; the longest total is BAR long. */
static void
print_bars (FILE *out, const CliChoice *choice)
{
  double most_s = 0;

  for (uint32_t at = 0; at < choice->patterns->n; at++)
    if (choice->row[at].excluded == NULL)
      most_s = fmax (most_s, choice->judged[at].total_s);
  fputs ("\n", out);
  for (uint32_t at = 0; at < choice->patterns->n; at++) {
    const CliChoiceRow *row = &choice->row[at];
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
}

static void
print_heading (FILE *out, const CliChoiceOptions *options, int takes_width)
{
  const char *bound = options->table != NULL ? "       bound" : "";
  const char *simulated = options->no_simulate ? "" : "   simulated";
  g_autofree char *joules = options->has_power ? g_strdup ("  energy J   saving") : g_strdup ("");
  g_autofree char *heading = g_strdup_printf (
      "%2s  %5s  %5s  %-*s  %11s%s%s  %10s  %8s  %6s%s  %s", "id", "tasks", "nodes", takes_width,
      "takes", "computation", bound, simulated, "total s", "slowdown", "energy", joules, "verdict");

  cli_print_heading (out, heading);
}

/* Operations that are longer than any of the table. */
static void
print_doubt (FILE *out, const CliChoice *choice)
{
  double most = 0;

  for (uint32_t at = 0; at < choice->patterns->n; at++)
    most = fmax (most, choice->row[at].extrapolated);
  if (most > 0)
    fprintf (out, "of the bound up to %.3g %% of the operations are longer than the table goes\n",
             100 * most);
}

static void
print_table (FILE *out, const CliChoice *choice, const CliChoiceOptions *options)
{
  g_autofree char *reference = cli_choice_reference (choice, options);
  g_autofree char *advice = cli_choice_advice (choice);
  g_autofree char *communication =
      options->basis == CLI_BASIS_BOUND
          ? g_strdup_printf ("upper bound (%s)", options->table)
          : g_strdup_printf ("simulated (%s)", study_network_names[options->network]);
  int takes_width = 5;

  for (uint32_t at = 0; at < choice->patterns->n; at++) {
    g_autofree char *takes = takes_text (choice->patterns, &choice->patterns->pattern[at]);

    takes_width = MAX (takes_width, (int) strlen (takes));
  }
  cli_printf (out, "%s on %s: %u ranks\n", choice->trace, choice->machine, choice->n_ranks);
  cli_printf (out, "computation: %s; communication: %s; at most %g %% slower than %s\n",
              choice->computation, communication, 100 * options->max_slowdown, reference);
  if (options->has_power)
    cli_printf (out, "power: %s: a node %g W, a socket %g W, a core %g W, memory %g J/GB\n",
                options->power_is_guess ? "a guess, not measured" : options->power_path,
                options->power.idle_W, options->power.socket_W, options->power.core_W,
                options->power.memory_J_per_byte * 1e9);
  print_heading (out, options, takes_width);
  for (uint32_t at = 0; at < choice->patterns->n; at++)
    print_row (out, choice, options, at, takes_width);
  print_doubt (out, choice);
  print_bars (out, choice);
  cli_printf (out, "%s\n", advice);
}

/* -- for programs ---------------------------------------------------------- */

static void
print_number (FILE *out, double value)
{
  char number[STUDY_NUMBER_SIZE];

  fprintf (out, ",%s", study_number (number, value));
}

static void
print_csv (FILE *out, const CliChoice *choice)
{
  for (uint32_t at = 0; at < choice->patterns->n; at++) {
    const TopoPattern *pattern = &choice->patterns->pattern[at];
    const CliChoiceRow *row = &choice->row[at];
    const PredictAggregationJudgement *judged = &choice->judged[at];
    g_autofree char *takes = takes_text (choice->patterns, pattern);

    fprintf (out, "%u,%u,%u,%u,%s", choice->n_ranks, pattern->id, pattern->n_tasks,
             pattern->n_nodes, takes);
    print_number (out, row->ipc);
    print_number (out, row->computation_s);
    print_number (out, row->bound_s);
    print_number (out, row->extrapolated);
    print_number (out, row->simulated_s);
    print_number (out, row->time_s);
    print_number (out, judged->total_s);
    print_number (out, judged->difference_s);
    print_number (out, judged->slowdown);
    print_number (out, row->excluded != NULL ? (double) NAN : pattern->energy_rank);
    print_number (out, row->energy_J);
    print_number (out, saving_of (choice, at));
    print_number (out, behind_of (choice, at));
    fprintf (out, ",%s,", verdict_of (choice, at));
    study_csv_field (out, row->excluded != NULL ? row->excluded : "");
    fputc ('\n', out);
  }
}

static void
add_pattern (JsonBuilder *builder, const CliChoice *choice, uint32_t at)
{
  const TopoPattern *pattern = &choice->patterns->pattern[at];
  const CliChoiceRow *row = &choice->row[at];
  const PredictAggregationJudgement *judged = &choice->judged[at];
  g_autofree char *takes = takes_text (choice->patterns, pattern);

  json_builder_begin_object (builder);
  cli_add_integer (builder, "id", pattern->id);
  cli_add_integer (builder, "tasks_per_node", pattern->n_tasks);
  cli_add_integer (builder, "nodes", pattern->n_nodes);
  cli_add_string (builder, "takes", takes);
  cli_add_number (builder, "ipc", row->ipc);
  cli_add_number (builder, "computation_s", row->computation_s);
  cli_add_number (builder, "bound_s", row->bound_s);
  cli_add_number (builder, "extrapolated", row->extrapolated);
  cli_add_number (builder, "simulated_s", row->simulated_s);
  cli_add_number (builder, "time_s", row->time_s);
  cli_add_number (builder, "total_s", judged->total_s);
  cli_add_number (builder, "difference_s", judged->difference_s);
  cli_add_number (builder, "slowdown", judged->slowdown);
  cli_add_number (builder, "energy_rank",
                  row->excluded != NULL ? (double) NAN : pattern->energy_rank);
  cli_add_number (builder, "energy_J", row->energy_J);
  cli_add_number (builder, "saving", saving_of (choice, at));
  cli_add_number (builder, "over_fastest", behind_of (choice, at));
  cli_add_string (builder, "verdict", verdict_of (choice, at));
  cli_add_string (builder, "excluded", row->excluded);
  json_builder_end_object (builder);
}

static void
add_choice (JsonBuilder *builder, const CliChoice *choice, const CliChoiceOptions *options)
{
  g_autofree char *advice = cli_choice_advice (choice);

  json_builder_begin_object (builder);
  cli_add_string (builder, "trace", choice->trace);
  cli_add_string (builder, "machine", choice->machine);
  cli_add_integer (builder, "ranks", choice->n_ranks);
  cli_add_string (builder, "computation", choice->computation);
  /* Null without a recommendation. */
  cli_add_number (builder, "chosen",
                  choice->is_recommended ? choice->patterns->pattern[choice->chosen].id
                                         : (double) NAN);
  cli_add_integer (builder, "fastest", choice->patterns->pattern[choice->fastest].id);
  cli_add_number (builder, "chosen_over_fastest",
                  choice->is_recommended ? behind_of (choice, choice->chosen) : (double) NAN);
  cli_add_integer (builder, "compared_with", choice->patterns->pattern[choice->reference].id);
  cli_add_string (builder, "advice", advice);
  json_builder_set_member_name (builder, "patterns");
  json_builder_begin_array (builder);
  for (uint32_t at = 0; at < choice->patterns->n; at++)
    add_pattern (builder, choice, at);
  json_builder_end_array (builder);
  json_builder_end_object (builder);
}

static void
print_json (FILE *out, const GPtrArray *choices, const CliChoiceOptions *options)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  g_autoptr (JsonNode) root = NULL;

  json_builder_begin_object (builder);
  cli_add_string (builder, "schema", "hopcast.aggregation/1");
  cli_add_string (builder, "network", study_network_names[options->network]);
  cli_add_string (builder, "basis", cli_basis_names[options->basis]);
  cli_add_integer (builder, "reference", (uint64_t) options->reference);
  cli_add_number (builder, "max_slowdown", options->max_slowdown);
  cli_add_string (builder, "power",
                  !options->has_power       ? NULL
                  : options->power_is_guess ? "guess"
                                            : options->power_path);
  json_builder_set_member_name (builder, "jobs");
  json_builder_begin_array (builder);
  for (guint i = 0; i < choices->len; i++)
    add_choice (builder, choices->pdata[i], options);
  json_builder_end_array (builder);
  json_builder_end_object (builder);
  root = json_builder_get_root (builder);
  cli_print_record (out, root, CLI_FORMAT_JSON);
}

/* Which pattern each number of ranks is to have, and which one is the fastest; without a
 * recommendation only that. */
static void
print_scaling (FILE *out, const GPtrArray *choices, const CliChoiceOptions *options)
{
  fputs ("\nranks  pattern  tasks  nodes  slowdown", out);
  fputs (options->has_power ? "  saving  fastest    over it\n" : "  fastest    over it\n", out);
  for (guint i = 0; i < choices->len; i++) {
    const CliChoice *choice = choices->pdata[i];
    const TopoPattern *chosen = &choice->patterns->pattern[choice->chosen];
    uint32_t fastest = choice->patterns->pattern[choice->fastest].id;

    fprintf (out, "%5u", choice->n_ranks);
    if (!choice->is_recommended) {
      fprintf (out, "  %7s  %5s  %5s  %8s", "-", "-", "-", "-");
      if (options->has_power)
        fprintf (out, "  %6s", "-");
      fprintf (out, "  %7u  %9s\n", fastest, "-");
      continue;
    }
    fprintf (out, "  %7u  %5u  %5u", chosen->id, chosen->n_tasks, chosen->n_nodes);
    print_percent (out, 8, choice->judged[choice->chosen].slowdown);
    if (options->has_power)
      print_percent (out, 6, saving_of (choice, choice->chosen));
    fprintf (out, "  %7u", fastest);
    print_percent (out, 9, behind_of (choice, choice->chosen));
    fputc ('\n', out);
  }
}

void
cli_choice_print (FILE *out, const GPtrArray *choices, const CliChoiceOptions *options)
{
  if (options->format.format == CLI_FORMAT_JSON) {
    print_json (out, choices, options);
    return;
  }
  if (options->format.format == CLI_FORMAT_CSV)
    fputs (
        "ranks,pattern,tasks_per_node,nodes,takes,ipc,computation_s,bound_s,extrapolated,"
        "simulated_s,time_s,total_s,difference_s,slowdown,energy_rank,energy_J,saving,over_fastest,verdict,"
        "excluded\n",
        out);
  for (guint i = 0; i < choices->len; i++) {
    if (options->format.format == CLI_FORMAT_CSV)
      print_csv (out, choices->pdata[i]);
    else
      print_table (out, choices->pdata[i], options);
    if (options->format.format == CLI_FORMAT_TABLE && i + 1 < choices->len)
      fputc ('\n', out);
  }
  if (options->format.format == CLI_FORMAT_TABLE && choices->len > 1)
    print_scaling (out, choices, options);
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

/* FALSE: nothing is known of the pattern. */
static gboolean
is_known (const CliChoice *choice, uint32_t at)
{
  return choice->row[at].excluded == NULL;
}

/* A bar, and beside it, not before `limit`, what there is to say. */
static void
write_bar (FILE *out, const CliChoice *choice, uint32_t at, double top, double pixels_per_s,
           double limit)
{
  const CliChoiceRow *row = &choice->row[at];
  const PredictAggregationJudgement *judged = &choice->judged[at];
  double computation = row->computation_s * pixels_per_s;
  double all = fmax (judged->total_s * pixels_per_s, computation);

  fprintf (
      out,
      "<g%s><rect class=\"computation\" x=\"%d\" y=\"%.1f\" width=\"%.2f\" height=\"%d\"/>"
      "<rect class=\"communication\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%d\"/></g>\n",
      judged->verdict == PREDICT_AGGREGATION_TOO_SLOW ? " class=\"slow\"" : "", LEFT, top,
      computation, BAR_HEIGHT, LEFT + computation, top, all - computation, BAR_HEIGHT);
  fprintf (out, "<text x=\"%.1f\" y=\"%.1f\">%.4g s, %+.1f %%: %s</text>\n",
           LEFT + fmax (all, limit) + 6, top + BAR_HEIGHT - 4, judged->total_s,
           0.1 * round (1000 * judged->slowdown) + 0.0,
           predict_aggregation_verdicts[judged->verdict]);
}

static void
write_picture (FILE *out, const CliChoice *choice, const CliChoiceOptions *options)
{
  double limit_s = (1 + options->max_slowdown) * choice->judged[choice->reference].total_s;
  double most_s = 0, pixels_per_s, limit;

  for (uint32_t at = 0; at < choice->patterns->n; at++)
    if (is_known (choice, at))
      most_s = fmax (most_s, choice->judged[at].total_s);
  pixels_per_s = WIDTH / most_s;
  limit = limit_s <= most_s ? limit_s * pixels_per_s : 0;
  fprintf (out,
           "<svg width=\"%d\" height=\"%u\" role=\"img\" aria-label=\"time of each pattern\">\n",
           LEFT + WIDTH + 230, (choice->patterns->n + 1) * HEIGHT);
  for (uint32_t at = 0; at < choice->patterns->n; at++) {
    const TopoPattern *pattern = &choice->patterns->pattern[at];
    double top = at * HEIGHT;

    fprintf (out, "<text x=\"0\" y=\"%.1f\"%s>%u: %u x %u</text>\n", top + BAR_HEIGHT - 4,
             choice->is_recommended && at == choice->chosen ? " font-weight=\"bold\"" : "",
             pattern->id, pattern->n_nodes, pattern->n_tasks);
    if (is_known (choice, at))
      write_bar (out, choice, at, top, pixels_per_s, limit);
    else {
      g_autofree char *why = g_markup_escape_text (choice->row[at].excluded, -1);

      fprintf (out, "<text x=\"%d\" y=\"%.1f\" fill=\"#777\">excluded: %s</text>\n", LEFT,
               top + BAR_HEIGHT - 4, why);
    }
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
           100 * options->max_slowdown);
  for (guint i = 0; i < choices->len; i++) {
    const CliChoice *choice = choices->pdata[i];
    g_autofree char *reference = cli_choice_reference (choice, options);
    g_autofree char *advice = cli_choice_advice (choice);
    g_autofree char *marked = g_markup_escape_text (advice, -1);
    g_autofree char *compared = g_markup_escape_text (reference, -1);
    g_autofree char *trace = g_markup_escape_text (choice->trace, -1);
    g_autofree char *machine = g_markup_escape_text (choice->machine, -1);

    fprintf (out,
             "<h2>%s on %s: %u ranks</h2>\n<p>Computation: %s. Communication: %s. Compared "
             "with %s.</p>\n",
             trace, machine, choice->n_ranks, choice->computation,
             options->basis == CLI_BASIS_BOUND ? "an upper bound" : "simulated", compared);
    write_picture (out, choice, options);
    fprintf (out, "<p>%s.</p>\n", marked);
  }
  fputs ("</body>\n</html>\n", out);
}

/* --- Files of launchers --- */

static const char *const kinds[] = { "rankfile", "hostfile", "slurm" };

static gboolean
write_file (const CliChoice *choice, const char *kind, const char *path, GError **error)
{
  const TopoLauncher *launcher = topo_launcher_find (kind, strlen (kind));
  const TopoMapping *mapping = choice->mapping[choice->placed];
  g_autofree char *text = launcher->print (mapping, choice->opened, error);
  g_auto (TopoLaunch) launch = { NULL };

  if (text == NULL) {
    g_prefix_error (error, "%s: ", path);
    return FALSE;
  }
  if (!cli_map_write_text (text, path, error))
    return FALSE;
  launch = cli_map_launch (launcher, mapping, choice->opened, path);
  cli_map_tell_launch (&launch, FALSE);
  return TRUE;
}

/* FALSE: none could be written. */
static gboolean
write_all (const CliChoice *choice, const CliChoiceOptions *options, GError **error)
{
  guint n_written = 0;

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++) {
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

gboolean
cli_choice_write_files (const CliChoice *choice, const CliChoiceOptions *options, GError **error)
{
  const char *const paths[] = { options->rankfile, options->hostfile, options->slurm };

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (paths[i] != NULL && !write_file (choice, kinds[i], paths[i], error))
      return FALSE;
  return options->prefix == NULL || write_all (choice, options, error);
}
