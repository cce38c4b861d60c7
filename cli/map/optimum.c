/* optimum.c - what a search for mappings found, for people and for programs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cli/map/optimum.h"

#include "cli/terminal.h"
#include "study/text.h"

#include <math.h>

static void
add_candidate (JsonBuilder *builder, const StudyCandidate *candidate)
{
  json_builder_begin_object (builder);
  cli_add_string (builder, "mapping", candidate->name);
  cli_add_number (builder, "hop_bytes", candidate->hop_bytes);
  cli_add_number (builder, "max_bytes", candidate->max_bytes);
  cli_add_number (builder, "score", candidate->score);
  cli_add_number (builder, "time_s", candidate->time_s);
  cli_add_number (builder, "gain", candidate->gain.nominal);
  cli_add_number (builder, "gain_mean", candidate->gain.mean);
  cli_add_number (builder, "gain_low", candidate->gain.low);
  cli_add_number (builder, "gain_high", candidate->gain.high);
  cli_add_integer (builder, "pairs", candidate->gain.n_pairs);
  cli_add_integer (builder, "pairs_faster", candidate->gain.n_faster);
  if (candidate->error)
    cli_add_string (builder, "error", candidate->error);
  json_builder_end_object (builder);
}

static JsonNode *
record_new (const CliOptimum *optimum)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();

  json_builder_begin_object (builder);
  cli_add_string (builder, "schema", "hopcast.optimum/1");
  cli_add_string (builder, "source", optimum->source);
  cli_add_string (builder, "machine", optimum->machine->spec);
  cli_add_integer (builder, "ranks", optimum->candidates->problem->graph->n_ranks);
  cli_add_string (builder, "network", optimum->network);
  cli_add_string (builder, "objective", optimum->objective);
  cli_add_integer (builder, "seed", optimum->seed);
  cli_add_integer (builder, "rounds", optimum->n_rounds);
  cli_add_integer (builder, "runs", optimum->n_runs);
  json_builder_set_member_name (builder, "stopped");
  json_builder_add_boolean_value (builder, optimum->stopped);
  json_builder_set_member_name (builder, "best");
  add_candidate (builder, study_candidate (optimum->candidates, optimum->best));
  json_builder_set_member_name (builder, "candidates");
  json_builder_begin_array (builder);
  for (guint i = 0; i < optimum->candidates->list->len; i++)
    add_candidate (builder, study_candidate (optimum->candidates, i));
  json_builder_end_array (builder);
  json_builder_end_object (builder);
  return json_builder_get_root (builder);
}

static void
print_csv (FILE *out, const CliOptimum *optimum)
{
  fputs ("mapping,best,hop_bytes,max_bytes,score,time_s,gain,gain_mean,gain_low,gain_high,pairs,"
         "pairs_faster\n",
         out);
  for (guint i = 0; i < optimum->candidates->list->len; i++) {
    const StudyCandidate *candidate = study_candidate (optimum->candidates, i);
    const StudyGain *gain = &candidate->gain;
    const double numbers[] = {
      candidate->hop_bytes, candidate->max_bytes, candidate->score, candidate->time_s,
      gain->nominal,        gain->mean,           gain->low,        gain->high
    };

    study_csv_field (out, candidate->name);
    fprintf (out, ",%d", i == optimum->best);
    for (gsize k = 0; k < G_N_ELEMENTS (numbers); k++) {
      char text[STUDY_NUMBER_SIZE];

      fprintf (out, ",%s", study_number (text, numbers[k]));
    }
    fprintf (out, ",%u,%u\n", gain->n_pairs, gain->n_faster);
  }
}

/* A number in a column of the table, "-" when it is not known. */
static void
print_cell (FILE *out, const char *format, double value)
{
  char text[32];

  g_ascii_formatd (text, sizeof text, format, value);
  fprintf (out, " %12s", isnan (value) ? "-" : text);
}

static void
print_verdict (FILE *out, const CliOptimum *optimum)
{
  const StudyCandidate *best = study_candidate (optimum->candidates, optimum->best);
  const StudyGain *gain = &best->gain;
  g_autofree char *pairs = study_count (gain->n_pairs, "pair");

  cli_printf (out, "\nbest: %s", best->name);
  if (optimum->best == 0)
    fputs (", the default: nothing better was found", out);
  else if (!isnan (gain->low))
    fprintf (
        out,
        "; %.1f %% faster than the default (95 %% interval %.1f to %.1f %%; faster in %u of %s "
        "of runs with perturbed machines)",
        100 * gain->mean, 100 * gain->low, 100 * gain->high, gain->n_faster, pairs);
  else if (gain->n_pairs > 0)
    fprintf (out,
             "; %.1f %% faster than the default (faster in %u of %s of runs with perturbed "
             "machines: too few for an interval)",
             100 * gain->mean, gain->n_faster, pairs);
  else if (!isnan (gain->nominal))
    fprintf (out, "; %.1f %% faster than the default in one simulation, confidence unknown",
             100 * gain->nominal);
  else if (optimum->simulates)
    cli_printf (out, "; not simulated: %s",
                optimum->stopped ? "stopped before" : "the budget is too small");
  fputs ("\n", out);
}

static void
print_table (FILE *out, const CliOptimum *optimum)
{
  char heading[128];

  g_snprintf (heading, sizeof heading, "  %-32s %12s %12s %12s %12s %12s", "mapping", "hop_bytes",
              "max_bytes", "score", "time_s", "gain");
  cli_print_heading (out, heading);
  for (guint i = 0; i < optimum->candidates->list->len; i++) {
    const StudyCandidate *candidate = study_candidate (optimum->candidates, i);

    cli_printf (out, "%c %-32s", i == optimum->best ? '*' : ' ', candidate->name);
    print_cell (out, "%.6g", candidate->hop_bytes);
    print_cell (out, "%.6g", candidate->max_bytes);
    print_cell (out, "%.4f", candidate->score);
    print_cell (out, "%.6g", candidate->time_s);
    print_cell (out, "%.4f", candidate->gain.mean);
    cli_printf (out, "%s%s\n", candidate->error ? "  " : "",
                candidate->error ? candidate->error : "");
  }
  print_verdict (out, optimum);
}

void
cli_optimum_print (FILE *out, const CliOptimum *optimum, CliFormat format)
{
  g_autoptr (JsonNode) record = NULL;

  switch (format) {
  case CLI_FORMAT_TABLE: print_table (out, optimum); break;
  case CLI_FORMAT_CSV: print_csv (out, optimum); break;
  case CLI_FORMAT_JSON:
    record = record_new (optimum);
    cli_print_record (out, record, format);
    break;
  }
}

char *
cli_optimum_comment (const CliOptimum *optimum)
{
  const StudyCandidate *best = study_candidate (optimum->candidates, optimum->best);
  const StudyCandidate *plain = study_candidate (optimum->candidates, 0);

  return g_strdup_printf ("# %s on %s: %s\n"
                          "# hop_bytes %.17g (default %.17g), max_bytes %.17g (default %.17g)\n",
                          optimum->source, optimum->machine->spec, best->name, best->hop_bytes,
                          plain->hop_bytes, best->max_bytes, plain->max_bytes);
}
