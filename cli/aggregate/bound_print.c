/* bound_print.c - see bound_print.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cli/aggregate/bound_print.h"

#include "cli/terminal.h"

#include <math.h>

/* How the bounds agree with what was simulated. */
typedef struct {
  guint n, n_bounded;
  double rcc, least, most; /* tightness: bound over simulated */
} Agreement;

static Agreement
agreement_of (const CliBoundSheet *sheet, bool is_sum)
{
  g_autofree double *observed = g_new (double, sheet->n + 1);
  g_autofree double *predicted = g_new (double, sheet->n + 1);
  Agreement agreement = { .rcc = NAN, .least = NAN, .most = NAN };

  for (guint i = 0; i < sheet->n; i++) {
    const CliBoundRow *row = &sheet->rows[i];
    double bound_s = is_sum ? row->sum_s : row->path_s, tightness = bound_s / row->simulated_s;

    if (isnan (row->simulated_s))
      continue;
    observed[agreement.n] = row->simulated_s;
    predicted[agreement.n++] = bound_s;
    agreement.n_bounded += bound_s >= row->simulated_s;
    agreement.least = fmin (agreement.least, tightness);
    agreement.most = fmax (agreement.most, tightness);
  }
  if (agreement.n > 1)
    agreement.rcc = predict_score (observed, predicted, agreement.n).rcc;
  return agreement;
}

/* -- for people ------------------------------------------------------------------ */

static void
print_seconds (FILE *out, double s)
{
  if (isnan (s))
    fprintf (out, "  %12s", "-");
  else
    fprintf (out, "  %12.6g", s);
}

static void
print_agreement (FILE *out, const CliBoundSheet *sheet, const char *name, bool is_sum)
{
  const Agreement agreement = agreement_of (sheet, is_sum);

  if (agreement.n == 0)
    return;
  fprintf (out, "%s bounds %u of %u, tightness %.3g .. %.3g", name, agreement.n_bounded,
           agreement.n, agreement.least, agreement.most);
  if (!isnan (agreement.rcc))
    fprintf (out, ", rank correctness %.3g", agreement.rcc);
  fputc ('\n', out);
}

static void
print_doubts (FILE *out, const CliBoundSheet *sheet)
{
  uint64_t n = 0, n_extrapolated = 0, n_substituted = 0;

  for (guint i = 0; i < sheet->n; i++) {
    n += sheet->rows[i].n_messages + sheet->rows[i].n_collectives;
    n_extrapolated += sheet->rows[i].n_extrapolated;
    n_substituted += sheet->rows[i].n_substituted;
  }
  if (n_extrapolated > 0)
    fprintf (out, "%.3g %% of the operations are longer than any of the table\n",
             100 * (double) n_extrapolated / (double) n);
  if (n_substituted > 0)
    fprintf (out, "%.3g %% of the operations have placements that the table lacks\n",
             100 * (double) n_substituted / (double) n);
}

static void
print_table (FILE *out, const CliBoundSheet *sheet)
{
  cli_printf (out, "%s on %s, times by %s\n", sheet->trace, sheet->machine, sheet->table);
  fprintf (out, "%2s  %5s  %5s  %12s  %12s", "id", "tasks", "nodes", "bound s", "sum s");
  if (sheet->is_simulated)
    fprintf (out, "  %12s  %9s", "simulated s", "tightness");
  fputs ("  classes\n", out);
  for (guint i = 0; i < sheet->n; i++) {
    const CliBoundRow *row = &sheet->rows[i];

    fprintf (out, "%2u  %5u  %5u", row->pattern->id, row->pattern->n_tasks, row->pattern->n_nodes);
    if (row->pattern->excluded != NULL) {
      cli_printf (out, "  %s\n", row->pattern->excluded);
      continue;
    }
    print_seconds (out, row->path_s);
    print_seconds (out, row->sum_s);
    if (sheet->is_simulated) {
      print_seconds (out, row->simulated_s);
      fprintf (out, "  %9.3g", row->path_s / row->simulated_s);
    }
    fprintf (out, "  %7u\n", row->n_classes);
  }
  print_agreement (out, sheet, "bound", false);
  print_agreement (out, sheet, "sum", true);
  print_doubts (out, sheet);
}

/* -- for programs ---------------------------------------------------------------- */

static void
print_field (FILE *out, double value)
{
  char number[STUDY_NUMBER_SIZE];

  fprintf (out, ",%s", study_number (number, value));
}

static void
print_csv (FILE *out, const CliBoundSheet *sheet)
{
  fputs ("pattern,tasks,nodes,bound_s,sum_s,simulated_s,compute_s,messages,collectives,"
         "extrapolated,substituted,classes,excluded\n",
         out);
  for (guint i = 0; i < sheet->n; i++) {
    const CliBoundRow *row = &sheet->rows[i];

    fprintf (out, "%u,%u,%u", row->pattern->id, row->pattern->n_tasks, row->pattern->n_nodes);
    print_field (out, row->path_s);
    print_field (out, row->sum_s);
    print_field (out, row->simulated_s);
    print_field (out, row->compute_s);
    fprintf (out,
             ",%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT
             ",%u,",
             row->n_messages, row->n_collectives, row->n_extrapolated, row->n_substituted,
             row->n_classes);
    study_csv_field (out, row->pattern->excluded != NULL ? row->pattern->excluded : "");
    fputc ('\n', out);
  }
}

static void
add_agreement (JsonBuilder *builder, const CliBoundSheet *sheet, const char *name, bool is_sum)
{
  const Agreement agreement = agreement_of (sheet, is_sum);

  json_builder_set_member_name (builder, name);
  json_builder_begin_object (builder);
  cli_add_integer (builder, "patterns", agreement.n);
  cli_add_integer (builder, "bounded", agreement.n_bounded);
  cli_add_number (builder, "tightness_min", agreement.least);
  cli_add_number (builder, "tightness_max", agreement.most);
  cli_add_number (builder, "rcc", agreement.rcc);
  json_builder_end_object (builder);
}

static void
add_row (JsonBuilder *builder, const CliBoundRow *row)
{
  json_builder_begin_object (builder);
  cli_add_integer (builder, "pattern", row->pattern->id);
  cli_add_integer (builder, "tasks", row->pattern->n_tasks);
  cli_add_integer (builder, "nodes", row->pattern->n_nodes);
  cli_add_number (builder, "bound_s", row->path_s);
  cli_add_number (builder, "sum_s", row->sum_s);
  cli_add_number (builder, "simulated_s", row->simulated_s);
  cli_add_number (builder, "compute_s", row->compute_s);
  cli_add_integer (builder, "messages", row->n_messages);
  cli_add_integer (builder, "collectives", row->n_collectives);
  cli_add_integer (builder, "extrapolated", row->n_extrapolated);
  cli_add_integer (builder, "substituted", row->n_substituted);
  cli_add_integer (builder, "classes", row->n_classes);
  cli_add_string (builder, "excluded", row->pattern->excluded);
  json_builder_end_object (builder);
}

static void
print_json (FILE *out, const CliBoundSheet *sheet)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  g_autoptr (JsonNode) root = NULL;

  json_builder_begin_object (builder);
  cli_add_string (builder, "schema", "hopcast.bound/1");
  cli_add_string (builder, "trace", sheet->trace);
  cli_add_string (builder, "machine", sheet->machine);
  cli_add_string (builder, "table", sheet->table);
  cli_add_integer (builder, "ranks", sheet->n_ranks);
  if (sheet->is_simulated) {
    add_agreement (builder, sheet, "bound", false);
    add_agreement (builder, sheet, "sum", true);
  }
  json_builder_set_member_name (builder, "patterns");
  json_builder_begin_array (builder);
  for (guint i = 0; i < sheet->n; i++)
    add_row (builder, &sheet->rows[i]);
  json_builder_end_array (builder);
  json_builder_end_object (builder);
  root = json_builder_get_root (builder);
  cli_print_record (out, root, CLI_FORMAT_JSON);
}

void
cli_print_bounds (FILE *out, const CliBoundSheet *sheet, CliFormat format)
{
  switch (format) {
  case CLI_FORMAT_TABLE: print_table (out, sheet); break;
  case CLI_FORMAT_CSV: print_csv (out, sheet); break;
  case CLI_FORMAT_JSON: print_json (out, sheet); break;
  }
}
