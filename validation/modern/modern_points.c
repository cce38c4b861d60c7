/* modern_points.c - the table of measured points.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "validation/modern/modern.h"

#include <math.h>
#include <string.h>

enum { SET, TEST, VARIANT, RANKS_PER_NODE, RANKS, BYTES, VALUE, UNIT, N_COLUMNS };

static const char heading[] = "set,test,variant,ranks_per_node,ranks,bytes,value,unit";

#define INT_BYTES 4 /* PICO's buffers are of MPI_INT32_T */

static void
point_free (gpointer data)
{
  ModernPoint *point = data;

  g_free (point->variant);
  g_free (point);
}

/* PICO gives the bytes of the whole buffer; a call of these kinds has those of a rank's block, in whole
 * elements. */
static uint64_t
call_bytes (const StudyBenchmark *benchmark, uint64_t table_bytes, uint32_t n_ranks)
{
  if (benchmark->program != STUDY_BENCHMARK_SLOWEST || benchmark->kind == TRACE_OP_ALLREDUCE ||
      benchmark->kind == TRACE_OP_BCAST || benchmark->kind == TRACE_OP_REDUCE)
    return table_bytes;
  return table_bytes / INT_BYTES / n_ranks * INT_BYTES;
}

static bool
parse_number (const char *field, guint64 most, guint64 *number)
{
  return g_ascii_string_to_unsigned (field, 10, 0, most, number, NULL);
}

/* NULL for a malformed line. */
static ModernPoint *
parse_line (const char *line)
{
  g_auto (GStrv) fields = g_strsplit (line, ",", -1);
  guint64 ranks_per_node, ranks, bytes;
  const StudyBenchmark *benchmark;
  ModernPoint *point;
  char *end;
  guint set = 0, unit = 0;
  double value;

  if (g_strv_length (fields) != N_COLUMNS || !parse_number (fields[BYTES], G_MAXUINT32, &bytes) ||
      !parse_number (fields[RANKS_PER_NODE], TOPO_MAX_RANKS_PER_NODE, &ranks_per_node) ||
      !parse_number (fields[RANKS], G_MAXUINT16, &ranks) || ranks < 2 || ranks_per_node < 1)
    return NULL;
  value = g_ascii_strtod (fields[VALUE], &end);
  if (end == fields[VALUE] || *end != '\0' || !isfinite (value) || value <= 0)
    return NULL;
  while (set < modern_n_sets && strcmp (modern_sets[set].name, fields[SET]) != 0)
    set++;
  benchmark = study_benchmark_find (fields[TEST]);
  while (study_benchmark_units[unit] != NULL &&
         strcmp (study_benchmark_units[unit], fields[UNIT]) != 0)
    unit++;
  if (set == modern_n_sets || benchmark == NULL || study_benchmark_units[unit] == NULL)
    return NULL;
  point = g_new (ModernPoint, 1);
  *point = (ModernPoint){ .set = &modern_sets[set],
                          .variant = g_strdup (fields[VARIANT]),
                          .ranks_per_node = (uint32_t) ranks_per_node,
                          .run = { benchmark, (uint32_t) ranks, STUDY_BENCHMARK_WINDOW,
                                   call_bytes (benchmark, bytes, (uint32_t) ranks),
                                   (StudyBenchmarkUnit) unit },
                          .table_bytes = bytes,
                          .measured = value };
  return point;
}

GPtrArray *
modern_points_parse (const char *text, const char *path, GError **error)
{
  g_autoptr (GPtrArray) points = g_ptr_array_new_with_free_func (point_free);
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  bool has_heading = false;

  for (guint i = 0; lines[i] != NULL; i++) {
    ModernPoint *point = NULL;
    bool is_heading = !has_heading && strcmp (lines[i], heading) == 0;

    if (*lines[i] == '\0' || *lines[i] == '#')
      continue;
    if (has_heading && (point = parse_line (lines[i])) != NULL)
      g_ptr_array_add (points, point);
    else if (!is_heading) {
      g_set_error (error, VALIDATION_ERROR, VALIDATION_ERROR_DATA,
                   "%s:%u: expected %s, found \"%s\"", path, i + 1, heading, lines[i]);
      return NULL;
    }
    has_heading = true;
  }
  return g_steal_pointer (&points);
}

static bool
is_power_of_two (uint64_t n)
{
  return n != 0 && (n & (n - 1)) == 0;
}

bool
modern_point_is_usual (const ModernPoint *point)
{
  uint64_t bytes = point->run.bytes;
  uint32_t n = point->run.n_ranks;
  /* Two bytes are the only size of some series. */
  bool size = bytes <= 2 || (is_power_of_two (bytes) && __builtin_ctzll (bytes) % 2 == 0);
  bool ranks =
      is_power_of_two (n) || is_power_of_two (n + 1) || (n % 3 == 0 && is_power_of_two (n / 3));

  /* PICO's sizes and numbers of nodes are few as they are. */
  if (point->run.benchmark->program == STUDY_BENCHMARK_SLOWEST)
    return true;
  return size && (ranks || point->run.benchmark->program != STUDY_BENCHMARK_COLLECTIVE);
}

char *
modern_point_figure (const ModernPoint *point)
{
  const StudyBenchmark *benchmark = point->run.benchmark;
  const char *quantity = study_benchmark_quantities[study_benchmark_quantity (&point->run)];

  if (benchmark->quantity == STUDY_BENCHMARK_BANDWIDTH &&
      point->run.n_ranks <= point->ranks_per_node)
    quantity = point->run.bytes <= STUDY_BENCHMARK_SHORT_BYTES ? "node_rate" : "node_bandwidth";
  return g_strdup_printf ("%s_%s", point->set->name, quantity);
}

uint32_t *
modern_nodes_parse (const char *text, uint32_t n_nodes)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);

  for (guint i = 0; lines[i] != NULL; i++) {
    g_auto (GStrv) fields = g_strsplit (lines[i], ",", 2);
    g_auto (GStrv) numbers = NULL;
    uint32_t *nodes;

    if (g_strv_length (fields) != 2 || g_ascii_strtoull (fields[0], NULL, 10) != n_nodes)
      continue;
    numbers = g_strsplit (fields[1], " ", -1);
    if (g_strv_length (numbers) != n_nodes)
      return NULL;
    nodes = g_new (uint32_t, n_nodes);
    for (uint32_t at = 0; at < n_nodes; at++)
      nodes[at] = (uint32_t) g_ascii_strtoull (numbers[at], NULL, 10);
    return nodes;
  }
  return NULL;
}
