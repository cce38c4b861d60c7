/* verdict_page.c - one HTML page of the results of suites, with a picture of each.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "validation/verdict_page.h"

#include <math.h>
#include <string.h>

/* The texts of a result, and where it lies in its picture: shares of the published end next to it. */
typedef struct {
  char *suite, *name, *simulated, *unit, *published, *beyond, *verdict, *role, *source, *remark;
  bool is_run, agrees, is_recorded;
  bool has_place;      /* both are positive */
  double at;           /* simulated */
  double from, to;     /* of what agrees; 0 and INFINITY where open */
  double lower, upper; /* NaN: not known */
} Row;

struct ValidationPage {
  GPtrArray *rows; /* (element-type Row) */
};

static void
row_free (gpointer data)
{
  Row *row = data;
  char *texts[] = { row->suite,  row->name,    row->simulated, row->unit,   row->published,
                    row->beyond, row->verdict, row->role,      row->source, row->remark };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    g_free (texts[i]);
  g_free (row);
}

ValidationPage *
validation_page_new (void)
{
  ValidationPage *page = g_new (ValidationPage, 1);

  page->rows = g_ptr_array_new_with_free_func (row_free);
  return page;
}

void
validation_page_free (ValidationPage *page)
{
  if (page == NULL)
    return;
  g_ptr_array_unref (page->rows);
  g_free (page);
}

char *
validation_published_text (const ValidationPublished *published)
{
  g_autoptr (GString) text = g_string_new (NULL);

  if (isinf (published->high))
    g_string_printf (text, ">= %g", published->low);
  else if (isinf (published->low))
    g_string_printf (text, "<= %g", published->high);
  else if (published->low < published->high)
    g_string_printf (text, "%g..%g", published->low, published->high);
  else
    g_string_printf (text, "%g", published->low);
  if (published->tolerance > 0)
    g_string_append_printf (text, " +-%g%%", 100 * published->tolerance);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static void
place (Row *row, const ValidationResult *result)
{
  const ValidationPublished *published = result->published;
  bool is_above =
      isinf (published->low) || (!isinf (published->high) && result->simulated > published->high);
  double end = is_above ? published->high : published->low;

  row->has_place = result->is_run && end > 0 && result->simulated > 0;
  if (!row->has_place)
    return;
  row->at = result->simulated / end;
  row->from =
      isinf (published->low) ? 0 : fmax (0, published->low * (1 - published->tolerance) / end);
  row->to = published->high * (1 + published->tolerance) / end;
  row->lower = result->lower / end;
  row->upper = result->upper / end;
}

void
validation_page_add (ValidationPage *page, const ValidationResult *result)
{
  const ValidationPublished *published = result->published;
  g_autoptr (GString) remark = g_string_new (NULL);
  Row *row = g_new0 (Row, 1);

  if (result->commit != NULL)
    g_string_append_printf (remark, "recorded, runs of commit %s. ", result->commit);
  if (!result->is_run)
    g_string_append (remark, result->why);
  if (result->note != NULL)
    g_string_append_printf (remark, "%s. ", result->note);
  if (result->cause != NULL)
    g_string_append (remark, result->cause);
  *row = (Row){
    .suite = g_strdup (result->suite),
    .name = g_strdup (published->name),
    .simulated = result->is_run ? g_strdup_printf ("%.4g", result->simulated) : g_strdup ("-"),
    .unit = g_strdup (published->unit),
    .published = validation_published_text (published),
    .beyond = result->is_run ? g_strdup_printf ("%+.1f %%", 100 * validation_deviation (
                                                                      published, result->simulated))
                             : g_strdup ("-"),
    .verdict = g_strdup (!result->is_run  ? "not run"
                         : result->agrees ? "held"
                                          : "differs"),
    .role = g_strdup (published->role),
    .source = g_strdup (published->source),
    .remark = g_strdup (g_strchomp (remark->str)),
    .is_run = result->is_run,
    .agrees = result->is_run && result->agrees,
    .is_recorded = result->commit != NULL,
    .lower = (double) NAN,
    .upper = (double) NAN,
  };
  place (row, result);
  g_ptr_array_add (page->rows, row);
}

/* --- Counts --- */

typedef struct {
  guint n, n_held, n_differ, n_not_run, n_recorded;
} Counts;

static Counts
count (const ValidationPage *page, guint begin, guint end)
{
  Counts counts = { 0 };

  for (guint i = begin; i < end; i++) {
    const Row *row = g_ptr_array_index (page->rows, i);

    counts.n++;
    counts.n_held += row->agrees;
    counts.n_differ += row->is_run && !row->agrees;
    counts.n_not_run += !row->is_run;
    counts.n_recorded += row->is_recorded;
  }
  return counts;
}

/* One past the last row of the suite of row `begin`. */
static guint
suite_end (const ValidationPage *page, guint begin)
{
  const Row *first = g_ptr_array_index (page->rows, begin);
  guint end = begin + 1;

  while (end < page->rows->len &&
         strcmp (((const Row *) g_ptr_array_index (page->rows, end))->suite, first->suite) == 0)
    end++;
  return end;
}

static void
write_counts (FILE *out, Counts counts)
{
  fprintf (out,
           "<td class=n>%u</td><td class=\"n held\">%u</td><td class=\"n differs\">%u</td>"
           "<td class=n>%u</td><td class=n>%u</td></tr>\n",
           counts.n, counts.n_held, counts.n_differ, counts.n_not_run, counts.n_recorded);
}

/* --- The picture: a line per figure, from a quarter to four times what was published --- */

#define LABEL_WIDTH 230
#define PLOT_WIDTH  480
#define LINE_HEIGHT 15
#define REACH       2.0 /* powers of two, on each side */

/* Where a share is; beyond the picture at its edge. */
static double
x_of (double share)
{
  double power = share > 0 ? log2 (share) : -REACH;

  power = CLAMP (power, -REACH, REACH);
  return LABEL_WIDTH + PLOT_WIDTH * (power + REACH) / (2 * REACH);
}

static void
write_mark (FILE *out, const Row *row, double y)
{
  const char *colour = row->agrees ? "#1b7f3b" : "#c2410c";
  double x = x_of (row->at);
  bool is_beyond = fabs (log2 (row->at)) > REACH;

  if (isfinite (row->lower) && isfinite (row->upper))
    fprintf (out, "<path d=\"M%.1f %.1fH%.1f\" stroke=\"%s\"/>", x_of (row->lower), y,
             x_of (row->upper), colour);
  if (is_beyond)
    fprintf (out, "<path d=\"M%.1f %.1fl%d -4v8z\" fill=\"%s\"/>", x, y, row->at > 1 ? -8 : 8,
             colour);
  else if (row->is_recorded)
    fprintf (out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" fill=\"#fff\" stroke=\"%s\"/>", x, y,
             colour);
  else
    fprintf (out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\"/>", x, y, colour);
}

static void
write_picture (FILE *out, const ValidationPage *page, guint begin, guint end)
{
  static const double ticks[] = { 0.25, 0.5, 1, 2, 4 };
  guint height = LINE_HEIGHT * (end - begin) + 24;

  fprintf (out, "<svg width=\"%d\" height=\"%u\" role=\"img\">\n", LABEL_WIDTH + PLOT_WIDTH + 12,
           height);
  for (guint i = 0; i < G_N_ELEMENTS (ticks); i++)
    fprintf (out,
             "<path d=\"M%.1f 0V%u\" stroke=\"%s\"/><text x=\"%.1f\" y=\"%u\" "
             "text-anchor=\"middle\">%g</text>\n",
             x_of (ticks[i]), height - 16, i == 2 ? "#888" : "#ddd", x_of (ticks[i]), height - 3,
             ticks[i]);
  for (guint i = begin; i < end; i++) {
    const Row *row = g_ptr_array_index (page->rows, i);
    g_autofree char *name = g_markup_escape_text (row->name, -1);
    double y = LINE_HEIGHT * (i - begin) + LINE_HEIGHT / 2.0;

    fprintf (out, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>", LABEL_WIDTH - 8, y + 4,
             name);
    if (row->has_place) {
      double from = x_of (row->from);

      fprintf (out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"8\" fill=\"#cfd8dc\"/>",
               from, y - 4, fmax (1.5, x_of (row->to) - from));
      write_mark (out, row, y);
    } else
      fprintf (out, "<text x=\"%d\" y=\"%.1f\" fill=\"#888\">%s</text>", LABEL_WIDTH + 4, y + 4,
               row->is_run ? "no ratio" : "not run");
    fputc ('\n', out);
  }
  fputs ("</svg>\n", out);
}

/* --- The page --- */

static void
write_cell (FILE *out, const char *class, const char *text)
{
  g_autofree char *escaped = g_markup_escape_text (text, -1);

  fprintf (out, "<td class=\"%s\">%s</td>", class, escaped);
}

static void
write_suite (FILE *out, const ValidationPage *page, guint begin, guint end)
{
  const Row *first = g_ptr_array_index (page->rows, begin);
  Counts counts = count (page, begin, end);

  fprintf (out, "<h2 id=\"%s\">%s</h2>\n<p>%u held, %u differ, %u not run.</p>\n", first->suite,
           first->suite, counts.n_held, counts.n_differ, counts.n_not_run);
  write_picture (out, page, begin, end);
  fputs ("<table><tr><th>claim</th><th>simulated</th><th>unit</th><th>published</th>"
         "<th>beyond</th><th>verdict</th><th>role</th><th>source</th><th></th></tr>\n",
         out);
  for (guint i = begin; i < end; i++) {
    const Row *row = g_ptr_array_index (page->rows, i);

    fputs ("<tr>", out);
    write_cell (out, "", row->name);
    write_cell (out, "n", row->simulated);
    write_cell (out, "", row->unit);
    write_cell (out, "", row->published);
    write_cell (out, "n", row->beyond);
    write_cell (out, !row->is_run ? "" : row->verdict, row->verdict);
    write_cell (out, "", row->role);
    write_cell (out, "", row->source);
    write_cell (out, "remark", row->remark);
    fputs ("</tr>\n", out);
  }
  fputs ("</table>\n", out);
}

void
validation_page_write (const ValidationPage *page, const char *program, FILE *out)
{
  fprintf (
      out,
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<title>%s: validation</title>\n<style>\n"
      "body{font:14px/1.4 sans-serif;max-width:1200px;margin:1em auto;padding:0 1em}\n"
      "table{border-collapse:collapse;margin:1em 0}td,th{padding:2px 8px;text-align:left;"
      "border-bottom:1px solid #ddd;vertical-align:top}\n"
      ".n{text-align:right;white-space:nowrap}.held{color:#1b7f3b}.differs{color:#c2410c}.remark{color:#666}\n"
      "svg text{font-size:11px}\n</style></head><body>\n<h1>%s: validation</h1>\n",
      program, program);
  fputs ("<table><tr><th>suite</th><th>claims</th><th>held</th><th>differ</th><th>not run</th>"
         "<th>recorded</th></tr>\n",
         out);
  for (guint begin = 0, end; begin < page->rows->len; begin = end) {
    const Row *first = g_ptr_array_index (page->rows, begin);

    end = suite_end (page, begin);
    fprintf (out, "<tr><td><a href=\"#%s\">%s</a></td>", first->suite, first->suite);
    write_counts (out, count (page, begin, end));
  }
  fputs ("<tr><td>all</td>", out);
  write_counts (out, count (page, 0, page->rows->len));
  fputs ("</table>\n<p>Pictures: simulated over published, the nearer published end being 1. Grey: "
         "what agrees. Open circles: recorded results, not run now. Triangles: beyond the "
         "picture.</p>\n",
         out);
  for (guint begin = 0, end; begin < page->rows->len; begin = end) {
    end = suite_end (page, begin);
    write_suite (out, page, begin, end);
  }
  fputs ("</body></html>\n", out);
}
