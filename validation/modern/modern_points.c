/* modern_points.c - the table of measured points.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "validation/modern/modern.h"

#include <math.h>
#include <string.h>

const char *const modern_quantities[MODERN_QUANTITIES] = {
  [MODERN_LATENCY] = "latency",
  [MODERN_BANDWIDTH] = "bandwidth",
  [MODERN_MESSAGE_RATE] = "message_rate",
  [MODERN_PAIRS_BANDWIDTH] = "pairs_bandwidth",
  [MODERN_ALLTOALL] = "alltoall",
  [MODERN_ALLGATHER] = "allgather",
  [MODERN_ALLREDUCE] = "allreduce",
  [MODERN_BCAST] = "bcast",
  [MODERN_REDUCE] = "reduce",
  [MODERN_REDUCE_SCATTER] = "reduce_scatter",
  [MODERN_GATHER] = "gather",
  [MODERN_SCATTER] = "scatter",
  [MODERN_BARRIER] = "barrier",
};

const char *const modern_units[] = { "us", "MB/s", "1/s", NULL };

static const ModernTest tests[] = {
  { "osu_latency", MODERN_PINGPONG, 0, MODERN_LATENCY },
  { "osu_multi_lat", MODERN_PINGPONG, 0, MODERN_LATENCY },
  { "imb_pingpong", MODERN_PINGPONG, 0, MODERN_LATENCY },
  { "osu_bw", MODERN_ONE_WAY, 0, MODERN_BANDWIDTH },
  { "osu_mbw_mr", MODERN_ONE_WAY, 0, MODERN_BANDWIDTH },
  { "imb_uniband", MODERN_ONE_WAY, 0, MODERN_BANDWIDTH },
  { "osu_bibw", MODERN_BOTH_WAYS, 0, MODERN_BANDWIDTH },
  { "imb_biband", MODERN_ANSWERED, 0, MODERN_BANDWIDTH },
  { "osu_alltoall", MODERN_COLLECTIVE, TRACE_OP_ALLTOALL, MODERN_ALLTOALL },
  { "osu_allgather", MODERN_COLLECTIVE, TRACE_OP_ALLGATHER, MODERN_ALLGATHER },
  { "osu_allreduce", MODERN_COLLECTIVE, TRACE_OP_ALLREDUCE, MODERN_ALLREDUCE },
  { "osu_bcast", MODERN_COLLECTIVE, TRACE_OP_BCAST, MODERN_BCAST },
  { "osu_barrier", MODERN_COLLECTIVE, TRACE_OP_BARRIER, MODERN_BARRIER },
  { "pico_alltoall", MODERN_SLOWEST, TRACE_OP_ALLTOALL, MODERN_ALLTOALL },
  { "pico_allgather", MODERN_SLOWEST, TRACE_OP_ALLGATHER, MODERN_ALLGATHER },
  { "pico_allreduce", MODERN_SLOWEST, TRACE_OP_ALLREDUCE, MODERN_ALLREDUCE },
  { "pico_bcast", MODERN_SLOWEST, TRACE_OP_BCAST, MODERN_BCAST },
  { "pico_reduce", MODERN_SLOWEST, TRACE_OP_REDUCE, MODERN_REDUCE },
  { "pico_reduce_scatter", MODERN_SLOWEST, TRACE_OP_REDUCE_SCATTER, MODERN_REDUCE_SCATTER },
  { "pico_gather", MODERN_SLOWEST, TRACE_OP_GATHER, MODERN_GATHER },
  { "pico_scatter", MODERN_SLOWEST, TRACE_OP_SCATTER, MODERN_SCATTER },
};

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
call_bytes (const ModernTest *test, uint64_t table_bytes, uint32_t n_ranks)
{
  if (test->program != MODERN_SLOWEST || test->kind == TRACE_OP_ALLREDUCE ||
      test->kind == TRACE_OP_BCAST || test->kind == TRACE_OP_REDUCE)
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
  ModernPoint *point;
  char *end;
  guint set = 0, test = 0, unit = 0;
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
  while (test < G_N_ELEMENTS (tests) && strcmp (tests[test].name, fields[TEST]) != 0)
    test++;
  while (modern_units[unit] != NULL && strcmp (modern_units[unit], fields[UNIT]) != 0)
    unit++;
  if (set == modern_n_sets || test == G_N_ELEMENTS (tests) || modern_units[unit] == NULL)
    return NULL;
  point = g_new (ModernPoint, 1);
  *point = (ModernPoint){ .set = &modern_sets[set],
                          .test = &tests[test],
                          .variant = g_strdup (fields[VARIANT]),
                          .ranks_per_node = (uint32_t) ranks_per_node,
                          .n_ranks = (uint32_t) ranks,
                          .bytes = call_bytes (&tests[test], bytes, (uint32_t) ranks),
                          .table_bytes = bytes,
                          .measured = value,
                          .unit = (ModernUnit) unit };
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

ModernQuantity
modern_point_quantity (const ModernPoint *point)
{
  if (point->test->quantity != MODERN_BANDWIDTH || point->n_ranks == 2)
    return point->test->quantity;
  return point->bytes <= MODERN_SHORT_BYTES ? MODERN_MESSAGE_RATE : MODERN_PAIRS_BANDWIDTH;
}

static bool
is_power_of_two (uint64_t n)
{
  return n != 0 && (n & (n - 1)) == 0;
}

bool
modern_point_is_usual (const ModernPoint *point)
{
  uint64_t bytes = point->bytes;
  uint32_t n = point->n_ranks;
  /* Two bytes are the only size of some series. */
  bool size = bytes <= 2 || (is_power_of_two (bytes) && __builtin_ctzll (bytes) % 2 == 0);
  bool ranks =
      is_power_of_two (n) || is_power_of_two (n + 1) || (n % 3 == 0 && is_power_of_two (n / 3));

  /* PICO's sizes and numbers of nodes are few as they are. */
  if (point->test->program == MODERN_SLOWEST)
    return true;
  return size && (ranks || point->test->program != MODERN_COLLECTIVE);
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
