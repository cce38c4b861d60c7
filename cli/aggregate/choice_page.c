/* choice_page.c - see choice_page.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cli/aggregate/choice_page.h"

#include "cli/aggregate/choice_print.h"

#include <math.h>

/* Of the picture, in pixels. */
#define LEFT   110
#define WIDTH  560 /* of the longest bar */
#define HEIGHT 22  /* of a bar and the gap below it */
#define BAR    16

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
      computation, BAR, LEFT + computation, top, all - computation, BAR);
  fprintf (out, "<text x=\"%.1f\" y=\"%.1f\">%.4g s, %+.1f %%: %s</text>\n",
           LEFT + fmax (all, limit) + 6, top + BAR - 4, judged->total_s,
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

    fprintf (out, "<text x=\"0\" y=\"%.1f\"%s>%u: %u x %u</text>\n", top + BAR - 4,
             choice->is_recommended && at == choice->chosen ? " font-weight=\"bold\"" : "",
             pattern->id, pattern->n_nodes, pattern->n_tasks);
    if (is_known (choice, at))
      write_bar (out, choice, at, top, pixels_per_s, limit);
    else {
      g_autofree char *why = g_markup_escape_text (choice->row[at].excluded, -1);

      fprintf (out, "<text x=\"%d\" y=\"%.1f\" fill=\"#777\">excluded: %s</text>\n", LEFT,
               top + BAR - 4, why);
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
