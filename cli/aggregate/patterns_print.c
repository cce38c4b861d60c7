/* patterns_print.c - see patterns_print.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cli/aggregate/patterns_print.h"

#include "cli/terminal.h"

#include <string.h>

/* Ascending numbers as --cores takes them, "0,1,4-7"; the caller frees it. */
static char *
list_text (const uint32_t number[], const uint32_t place[], uint32_t n)
{
  GString *text = g_string_new (NULL);

  for (uint32_t at = 0; at < n;) {
    uint32_t end = at;

    while (end + 1 < n && number[place[end + 1]] == number[place[end]] + 1)
      end++;
    if (end < at + 2)
      end = at;
    g_string_append_printf (text, "%s%u", at > 0 ? "," : "", number[place[at]]);
    if (end > at)
      g_string_append_printf (text, "-%u", number[place[end]]);
    at = end + 1;
  }
  return g_string_free (text, FALSE);
}

static char *
cores_text (const CliPatternSheet *sheet, const TopoPattern *pattern)
{
  return list_text (sheet->patterns->levels->core, pattern->place, pattern->n_tasks);
}

static char *
cpus_text (const CliPatternSheet *sheet, const TopoPattern *pattern)
{
  return list_text (sheet->patterns->levels->cpu, pattern->place, pattern->n_tasks);
}

/* The places, as people are told them: without threads a core is enough. */
static char *
places_text (const CliPatternSheet *sheet, const TopoPattern *pattern)
{
  return sheet->with_threads ? cpus_text (sheet, pattern) : cores_text (sheet, pattern);
}

/* "2x1x2"; the caller frees it. */
static char *
takes_text (const CliPatternSheet *sheet, const TopoPattern *pattern)
{
  GString *text = g_string_new (NULL);

  for (uint32_t level = 0; level < sheet->patterns->levels->n_levels; level++)
    g_string_append_printf (text, "%s%u", level > 0 ? "x" : "", pattern->takes[level]);
  return g_string_free (text, FALSE);
}

/* -- for people ------------------------------------------------------------ */

/* "-" for what is not known. */
static void
print_count (FILE *out, int width, uint32_t count)
{
  if (count > 0)
    fprintf (out, "  %*u", width, count);
  else
    fprintf (out, "  %*s", width, "-");
}

static void
print_row (FILE *out, const CliPatternSheet *sheet, const TopoPattern *pattern, int widths[2])
{
  g_autofree char *takes = takes_text (sheet, pattern);
  g_autofree char *list = places_text (sheet, pattern);
  const char *note = pattern->excluded != NULL ? pattern->excluded
                     : pattern->is_uneven      ? "uneven"
                                               : NULL;
  char number[STUDY_NUMBER_SIZE];

  fprintf (out, "%2u  %5u", pattern->id, pattern->n_tasks);
  print_count (out, 5, pattern->n_nodes);
  fprintf (out, "  %-*s  %7u  %4u", widths[0], takes, pattern->n_sockets, pattern->n_dies);
  print_count (out, 6, pattern->energy_rank);
  fprintf (out, "  %10s", study_number (number, pattern->symmetries));
  if (note != NULL)
    cli_printf (out, "  %-*s  %s\n", widths[1], list, note);
  else
    cli_printf (out, "  %s\n", list);
}

static void
print_table (FILE *out, const CliPatternSheet *sheet)
{
  const TopoPatterns *patterns = sheet->patterns;
  g_autofree char *levels = topo_levels_describe (patterns->levels);
  int widths[2] = { 5, 5 };

  cli_printf (out, "%s: %s", sheet->node, levels);
  if (sheet->node_bytes > 0)
    fprintf (out, "; %.4g GiB", (double) sheet->node_bytes / (double) (1 << 30));
  fputc ('\n', out);
  for (uint32_t at = 0; at < patterns->n; at++) {
    g_autofree char *takes = takes_text (sheet, &patterns->pattern[at]);
    g_autofree char *places = places_text (sheet, &patterns->pattern[at]);

    widths[0] = MAX (widths[0], (int) strlen (takes));
    widths[1] = MAX (widths[1], (int) strlen (places));
  }
  fprintf (out, "%2s  %5s  %5s  %-*s  %7s  %4s  %6s  %10s  %s\n", "id", "tasks", "nodes", widths[0],
           "takes", "sockets", "dies", "energy", "symmetries",
           sheet->with_threads ? "cpus" : "cores");
  for (uint32_t at = 0; at < patterns->n; at++)
    print_row (out, sheet, &patterns->pattern[at], widths);
}

/* -- for programs ---------------------------------------------------------- */

static void
print_known (FILE *out, uint32_t count)
{
  if (count > 0)
    fprintf (out, "%u", count);
  fputc (',', out);
}

static void
print_csv (FILE *out, const CliPatternSheet *sheet)
{
  fputs ("id,tasks_per_node,nodes,takes,sockets,dies,energy_rank,symmetries,uneven,cores,cpus,"
         "excluded\n",
         out);
  for (uint32_t at = 0; at < sheet->patterns->n; at++) {
    const TopoPattern *pattern = &sheet->patterns->pattern[at];
    g_autofree char *takes = takes_text (sheet, pattern);
    g_autofree char *cores = cores_text (sheet, pattern), *cpus = cpus_text (sheet, pattern);
    char number[STUDY_NUMBER_SIZE];

    fprintf (out, "%u,%u,", pattern->id, pattern->n_tasks);
    print_known (out, pattern->n_nodes);
    fprintf (out, "%s,%u,%u,", takes, pattern->n_sockets, pattern->n_dies);
    print_known (out, pattern->energy_rank);
    fprintf (out, "%s,%s,", study_number (number, pattern->symmetries),
             pattern->is_uneven ? "true" : "false");
    study_csv_field (out, cores);
    fputc (',', out);
    study_csv_field (out, cpus);
    fputc (',', out);
    study_csv_field (out, pattern->excluded != NULL ? pattern->excluded : "");
    fputc ('\n', out);
  }
}

static void
add_known (JsonBuilder *builder, const char *name, uint64_t count)
{
  if (count > 0)
    cli_add_integer (builder, name, count);
  else {
    json_builder_set_member_name (builder, name);
    json_builder_add_null_value (builder);
  }
}

static void
add_list (JsonBuilder *builder, const char *name, const uint32_t number[],
          const TopoPattern *pattern)
{
  json_builder_set_member_name (builder, name);
  json_builder_begin_array (builder);
  for (uint32_t at = 0; at < pattern->n_tasks; at++)
    json_builder_add_int_value (builder, number[pattern->place[at]]);
  json_builder_end_array (builder);
}

/* A number for each level: what `count` has of it. */
static void
add_levels (JsonBuilder *builder, const char *name, const TopoLevels *levels,
            const uint32_t count[])
{
  json_builder_set_member_name (builder, name);
  json_builder_begin_object (builder);
  for (uint32_t level = 0; level < levels->n_levels; level++)
    cli_add_integer (builder, levels->level[level].name,
                     count != NULL ? count[level] : levels->level[level].n_groups);
  json_builder_end_object (builder);
}

static void
add_pattern (JsonBuilder *builder, const TopoLevels *levels, const TopoPattern *pattern)
{
  json_builder_begin_object (builder);
  cli_add_integer (builder, "id", pattern->id);
  cli_add_integer (builder, "tasks_per_node", pattern->n_tasks);
  add_known (builder, "nodes", pattern->n_nodes);
  add_levels (builder, "takes", levels, pattern->takes);
  add_levels (builder, "used", levels, pattern->used);
  cli_add_integer (builder, "sockets", pattern->n_sockets);
  cli_add_integer (builder, "dies", pattern->n_dies);
  add_known (builder, "energy_rank", pattern->energy_rank);
  cli_add_number (builder, "symmetries", pattern->symmetries);
  json_builder_set_member_name (builder, "uneven");
  json_builder_add_boolean_value (builder, pattern->is_uneven);
  add_list (builder, "cores", levels->core, pattern);
  add_list (builder, "cpus", levels->cpu, pattern);
  cli_add_string (builder, "excluded", pattern->excluded);
  json_builder_end_object (builder);
}

static void
print_json (FILE *out, const CliPatternSheet *sheet)
{
  const TopoLevels *levels = sheet->patterns->levels;
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  g_autoptr (JsonNode) record = NULL;

  json_builder_begin_object (builder);
  cli_add_string (builder, "schema", "hopcast.patterns/1");
  cli_add_string (builder, "node", sheet->node);
  add_levels (builder, "levels", levels, NULL);
  add_known (builder, "ranks", sheet->n_ranks);
  add_known (builder, "memory_per_task_bytes", sheet->task_bytes);
  add_known (builder, "node_memory_bytes", sheet->node_bytes);
  json_builder_set_member_name (builder, "patterns");
  json_builder_begin_array (builder);
  for (uint32_t at = 0; at < sheet->patterns->n; at++)
    add_pattern (builder, levels, &sheet->patterns->pattern[at]);
  json_builder_end_array (builder);
  json_builder_end_object (builder);
  record = json_builder_get_root (builder);
  cli_print_record (out, record, CLI_FORMAT_JSON);
}

void
cli_print_patterns (FILE *out, const CliPatternSheet *sheet, CliFormat format)
{
  switch (format) {
  case CLI_FORMAT_TABLE: print_table (out, sheet); break;
  case CLI_FORMAT_CSV: print_csv (out, sheet); break;
  case CLI_FORMAT_JSON: print_json (out, sheet); break;
  }
}
