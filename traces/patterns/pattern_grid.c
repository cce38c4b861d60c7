/* pattern_grid.c - ranks in a grid, for patterns.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/patterns/pattern_grid.h"

void
pattern_grid_balance (int64_t n, guint n_dims, int64_t *dims)
{
  g_assert (n >= 1 && n_dims >= 1);
  dims[0] = n;
  if (n_dims == 1)
    return;
  for (int64_t first = 1; first <= n; first++) {
    if (n % first != 0)
      continue;
    pattern_grid_balance (n / first, n_dims - 1, dims + 1);
    dims[0] = first;
    if (dims[1] <= first)
      return;
  }
}

static gboolean
check_ranks (int64_t n_ranks, GError **error)
{
  if (n_ranks <= PATTERN_MAX_RANKS)
    return TRUE;
  g_set_error (error, TRACE_ERROR, TRACE_ERROR_RANGE,
               "there may be up to %" G_GINT64_FORMAT " ranks", PATTERN_MAX_RANKS);
  return FALSE;
}

gboolean
pattern_grid_check (const char *name, const int64_t grid[3], guint n_dims, GError **error)
{
  for (guint d = 0; d < 3; d++)
    if ((grid[d] != 0) != (d < n_dims)) {
      g_set_error (error, TRACE_ERROR, TRACE_ERROR_RANGE, "%s: %u numbers are needed, such as %s",
                   name, n_dims, n_dims == 2 ? "8x4" : "8x4x2");
      return FALSE;
    }
  return TRUE;
}

/* Ranks of a grid that was given. */
static gboolean
count_ranks (const int64_t grid[3], guint n_dims, int64_t *n_ranks, GError **error)
{
  if (!pattern_grid_check ("grid", grid, n_dims, error))
    return FALSE;
  *n_ranks = 1;
  for (guint d = 0; d < n_dims; d++) {
    *n_ranks *= grid[d];
    if (!check_ranks (*n_ranks, error))
      return FALSE;
  }
  return TRUE;
}

gboolean
pattern_grid_resolve (TraceParameterValue *ranks, TraceParameterValue *grid, guint n_dims,
                      GError **error)
{
  int64_t n_ranks;

  if (grid->grid[0] == 0) {
    if (ranks->integer == 0) {
      g_set_error (error, TRACE_ERROR, TRACE_ERROR_RANGE, "ranks=... or grid=... must be given");
      return FALSE;
    }
    if (!check_ranks (ranks->integer, error))
      return FALSE;
    pattern_grid_balance (ranks->integer, n_dims, grid->grid);
    return TRUE;
  }
  if (!count_ranks (grid->grid, n_dims, &n_ranks, error))
    return FALSE;
  if (ranks->integer != 0 && ranks->integer != n_ranks) {
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_RANGE,
                 "the grid has %" G_GINT64_FORMAT " ranks, but ranks=%" G_GINT64_FORMAT
                 " was given",
                 n_ranks, ranks->integer);
    return FALSE;
  }
  ranks->integer = n_ranks;
  return TRUE;
}

PatternGrid
pattern_grid_new (const TraceParameterValue *grid, guint n_dims, gboolean periodic)
{
  PatternGrid made = { .n_dims = n_dims, .periodic = periodic };

  for (guint d = 0; d < n_dims; d++)
    made.dims[d] = (int32_t) grid->grid[d];
  return made;
}

void
pattern_grid_place (const PatternGrid *grid, uint32_t rank, int32_t place[3])
{
  for (guint d = grid->n_dims; d-- > 0;) {
    place[d] = (int32_t) (rank % (uint32_t) grid->dims[d]);
    rank /= (uint32_t) grid->dims[d];
  }
}

int32_t
pattern_grid_neighbour (const PatternGrid *grid, const int32_t place[3], const int step[3])
{
  int32_t rank = 0;

  for (guint d = 0; d < grid->n_dims; d++) {
    int32_t at = place[d] + step[d], size = grid->dims[d];

    if (!grid->periodic && (at < 0 || at >= size))
      return TRACE_PROC_NULL;
    rank = rank * size + (at % size + size) % size;
  }
  return rank;
}
