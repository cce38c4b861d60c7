/* shrink.c - what shrunk messages are off by, against limits and as a table.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "validation/shrink/shrink.h"
#include "validation/suite.h"

#include <math.h>
#include <string.h>

/* validation/data/shrink_published.csv as a string, made by the build. */
static const char published_csv[] =
#include "validation/shrink/shrink_published.inc"
    ;

/* The larger of these is what the mean error of a message's time may be. */
#define MESSAGE_LIMIT 0.03
#define FLOOR_FACTOR  1.3

typedef struct {
  const ValidationWatch *watch;
  GPtrArray *runs; /* (element-type ShrinkRun) NULL: not made yet */
  GArray *cells;   /* (element-type ShrinkCell) */
} Shrink;

static gpointer
shrink_open (const ValidationWatch *watch)
{
  Shrink *shrink = g_new0 (Shrink, 1);

  shrink->watch = watch;
  return shrink;
}

static void
shrink_close (gpointer data)
{
  Shrink *shrink = data;

  g_clear_pointer (&shrink->cells, g_array_unref);
  g_clear_pointer (&shrink->runs, g_ptr_array_unref);
  g_free (shrink);
}

static void
add_details (const Shrink *shrink)
{
  for (guint i = 0; i < shrink->cells->len; i++) {
    const ShrinkCell *cell = &g_array_index (shrink->cells, ShrinkCell, i);
    g_autofree char *point = g_strdup_printf ("%u", cell->factor);

    validation_detail (shrink->watch->details, cell->experiment, point, (double) NAN,
                       100 * cell->message_error, "%");
  }
}

static gboolean
make_runs (Shrink *shrink, GError **error)
{
  const ValidationWatch *watch = shrink->watch;

  if (shrink->runs != NULL)
    return TRUE;
  shrink->runs = shrink_runs (watch->runs, NULL, 0, watch->progress, watch->data, error);
  if (shrink->runs == NULL)
    return FALSE;
  shrink->cells = shrink_cells (shrink->runs);
  if (watch->details != NULL)
    add_details (shrink);
  return TRUE;
}

static double
speed_of (const Shrink *shrink, const char *experiment, GError **error)
{
  for (guint i = 0; i < shrink->cells->len; i++) {
    const ShrinkCell *cell = &g_array_index (shrink->cells, ShrinkCell, i);

    if (cell->is_auto && strcmp (cell->experiment, experiment) == 0)
      return cell->times_faster;
  }
  g_set_error (error, VALIDATION_ERROR, VALIDATION_ERROR_EXPERIMENT, "no case \"%s\"", experiment);
  return (double) NAN;
}

static bool
measure_figure (gpointer state, const ValidationPublished *published, double *simulated,
                GError **error)
{
  Shrink *shrink = state;
  double message_error = 0, waits = 0, links_off = 0;

  if (!make_runs (shrink, error))
    return false;
  for (guint i = 0; i < shrink->cells->len; i++) {
    const ShrinkCell *cell = &g_array_index (shrink->cells, ShrinkCell, i);

    links_off = fmax (links_off, cell->links_off); /* not that of dynamic routing, a NaN */
    if (!cell->is_auto)
      continue;
    message_error =
        fmax (message_error,
              cell->message_error / fmax (MESSAGE_LIMIT, FLOOR_FACTOR * cell->floor_message_error));
    waits = fmax (waits, fabs (cell->waits));
  }
  if (strcmp (published->name, "auto_message_error") == 0)
    *simulated = message_error;
  else if (strcmp (published->name, "auto_waits_error") == 0)
    *simulated = 100 * waits;
  else if (strcmp (published->name, "auto_links_off") == 0)
    *simulated = links_off;
  else if (strcmp (published->name, "halo3d_4M_times_faster") == 0)
    *simulated = speed_of (shrink, "halo3d 4M on 1024", error);
  else if (strcmp (published->name, "halo2d_16M_times_faster") == 0)
    *simulated = speed_of (shrink, "halo2d 16M on 1024", error);
  else
    return validation_no_experiment (published, error);
  return !isnan (*simulated);
}

static void
print_share (FILE *out, double share, bool is_signed)
{
  if (isnan (share))
    fprintf (out, " %6s", "-");
  else
    fprintf (out, is_signed ? " %+6.1f" : " %6.1f", 100 * share);
}

/* A line per case and factor; below the factors the case's replica. */
static void
print_table (gpointer state, FILE *out)
{
  const Shrink *shrink = state;
  const char *last = NULL;

  if (shrink->cells == NULL)
    return;
  fprintf (out, "\n%-24s %7s %6s %6s %6s %6s %6s %6s %7s  %s\n", "in %: off the exact run by", "S",
           "end", "mean", "msgs", "p95", "waits", "links", "faster",
           "order of 20 by end, mean end");
  for (guint i = 0; i < shrink->cells->len; i++) {
    const ShrinkCell *cell = &g_array_index (shrink->cells, ShrinkCell, i);
    bool is_first = g_strcmp0 (last, cell->experiment) != 0;

    if (is_first) {
      fprintf (out, "%-24s %7s", cell->experiment, "replica");
      print_share (out, cell->floor_end, false);
      fprintf (out, " %6s", "");
      print_share (out, cell->floor_message_error, false);
      fprintf (out, " %6s", "");
      print_share (out, cell->floor_waits, false);
      fprintf (out, " %6s %7s", "", "");
      if (!isnan (cell->floor_order_end))
        fprintf (out, "  %.2f %.2f", cell->floor_order_end, cell->floor_order_mean_end);
      fputc ('\n', out);
    }
    fprintf (out, "%-24s %6u%s", "", cell->factor,
             cell->is_auto     ? "*"
             : cell->is_screen ? "+"
                               : " ");
    print_share (out, cell->end, true);
    print_share (out, cell->mean_end, true);
    print_share (out, cell->message_error, false);
    print_share (out, cell->message_p95, false);
    print_share (out, cell->waits, true);
    if (isnan (cell->links_off))
      fprintf (out, " %6s", "-");
    else
      fprintf (out, " %6.0f", cell->links_off);
    fprintf (out, " %7.1f", cell->times_faster);
    if (!isnan (cell->order_end))
      fprintf (out, "  %.2f %.2f", cell->order_end, cell->order_mean_end);
    fputc ('\n', out);
    last = cell->experiment;
  }
  fputs ("* auto  + auto:screen\n", out);
}

const ValidationSuite validation_shrink = {
  .name = "shrink",
  .figures = published_csv,
  .path = "shrink_published.csv",
  .open = shrink_open,
  .close = shrink_close,
  .measure = measure_figure,
  .print = print_table,
};
