/* pattern.c - programs that are generated: the list of them, and their streams.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/patterns/pattern.h"

#include "traces/patterns/batch.h"
#include "traces/format.h"
#include "traces/patterns/pattern_grid.h"
#include "traces/patterns/pattern_spec.h"

/* In the order in which they are listed. */
static const TracePattern *const patterns[] = {
  &trace_pattern_halo2d, &trace_pattern_halo3d,   &trace_pattern_suba2a,      &trace_pattern_pf3d,
  &trace_pattern_evh1,   &trace_pattern_alltoall, &trace_pattern_permutation, &trace_pattern_random,
  &trace_pattern_ring,   &trace_pattern_pingpong, &trace_pattern_npb,         NULL,
};

typedef struct {
  const TracePattern *pattern;
  gpointer state;
  char *spec; /* canonical */
} Program;

typedef enum { STAGE_INIT, STAGE_BATCHES, STAGE_ENDED } Stage;

typedef struct {
  const Program *program;
  uint32_t rank;
  Stage stage;
  guint at;          /* of the next operation in the batch */
  TraceBatch *batch; /* NULL: none made yet, or no more to come */
  uint64_t n_batches;
  uint64_t n_operations; /* read from the batch */
  char *place;
} Cursor;

const TracePattern *const *
trace_patterns (void)
{
  return patterns;
}

static void
program_free (gpointer data)
{
  Program *program = data;

  if (program->state != NULL)
    program->pattern->close (program->state);
  g_free (program->spec);
  g_free (program);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Program, program_free)

static Program *
program_new (const char *spec, uint32_t *n_ranks, GError **error)
{
  g_autoptr (Program) program = g_new0 (Program, 1);
  TraceParameterValue values[PATTERN_MAX_PARAMETERS];

  program->pattern = pattern_spec_find (spec, patterns, error);
  if (program->pattern == NULL || !pattern_spec_read (spec, program->pattern, values, error))
    return NULL;
  program->state = program->pattern->open (values, n_ranks, error);
  if (program->state == NULL) {
    g_prefix_error (error, "%s: ", spec);
    return NULL;
  }
  if (*n_ranks > PATTERN_MAX_RANKS) {
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_RANGE,
                 "%s: %u ranks; there may be up to %" G_GINT64_FORMAT, spec, *n_ranks,
                 PATTERN_MAX_RANKS);
    return NULL;
  }
  program->spec = pattern_spec_print (program->pattern, values);
  return g_steal_pointer (&program);
}

char *
trace_pattern_canonical (const char *spec, GError **error)
{
  uint32_t n_ranks;
  g_autoptr (Program) program = program_new (spec, &n_ranks, error);

  return program != NULL ? g_steal_pointer (&program->spec) : NULL;
}

static gboolean
probe (const char *path, const guint8 *head, gsize n)
{
  (void) head, (void) n;
  return trace_pattern_is_spec (path);
}

static gpointer
open_trace (Trace *trace, const char *path, const TraceOptions *options, uint32_t *n_ranks,
            GPtrArray *files, GError **error)
{
  g_autoptr (Program) program = NULL;

  (void) files;
  if (!trace_refuse_region (path, options, error) ||
      (program = program_new (path, n_ranks, error)) == NULL)
    return NULL;
  if (options->n_ranks != 0 && options->n_ranks != *n_ranks) {
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_RANGE, "%s: has %u ranks, but %u were asked for",
                 path, *n_ranks, options->n_ranks);
    return NULL;
  }
  trace_set_spec (trace, program->spec);
  return g_steal_pointer (&program);
}

static gpointer
cursor_new (gpointer state, uint32_t rank, GError **error)
{
  Cursor *cursor = g_new0 (Cursor, 1);

  (void) error;
  cursor->program = state;
  cursor->rank = rank;
  return cursor;
}

static void
cursor_free (gpointer data)
{
  Cursor *cursor = data;

  trace_batch_free (cursor->batch);
  g_free (cursor->place);
  g_free (cursor);
}

/* Fills the batch with the next one; FALSE when that was the last. */
static gboolean
next_batch (Cursor *cursor)
{
  const Program *program = cursor->program;

  if (cursor->batch == NULL)
    cursor->batch = trace_batch_new ();
  trace_batch_clear (cursor->batch);
  if (!program->pattern->batch (program->state, cursor->rank, cursor->n_batches, cursor->batch))
    return FALSE;
  trace_batch_seal (cursor->batch);
  cursor->n_batches++;
  cursor->n_operations = 0;
  cursor->at = 0;
  return TRUE;
}

static TraceNext
bare_operation (TraceOp *op, TraceOpKind kind, const char *name)
{
  *op = (TraceOp){ .kind = kind, .comm = TRACE_COMM_WORLD, .name = name };
  return TRACE_NEXT_OPERATION;
}

static TraceNext
cursor_next (gpointer data, TraceOp *op, GError **error)
{
  Cursor *cursor = data;

  (void) error;
  if (cursor->stage == STAGE_ENDED)
    return TRACE_NEXT_END;
  if (cursor->stage == STAGE_INIT) {
    cursor->stage = STAGE_BATCHES;
    return bare_operation (op, TRACE_OP_INIT, "MPI_Init");
  }
  while (cursor->batch == NULL || !trace_batch_read (cursor->batch, &cursor->at, op))
    if (!next_batch (cursor)) {
      g_clear_pointer (&cursor->batch, trace_batch_free);
      cursor->stage = STAGE_ENDED;
      return bare_operation (op, TRACE_OP_FINALIZE, "MPI_Finalize");
    }
  cursor->n_operations++;
  return TRACE_NEXT_OPERATION;
}

/* Batches and their operations are counted from 0, as `index` is. */
static const char *
cursor_place (gpointer data)
{
  Cursor *cursor = data;
  const char *name = cursor->program->pattern->name;

  g_free (cursor->place);
  if (cursor->stage == STAGE_ENDED)
    cursor->place = g_strdup_printf ("gen:%s end", name);
  else if (cursor->n_operations == 0)
    cursor->place = g_strdup_printf ("gen:%s start", name);
  else
    cursor->place =
        g_strdup_printf ("gen:%s batch %" G_GUINT64_FORMAT " operation %" G_GUINT64_FORMAT, name,
                         cursor->n_batches - 1, cursor->n_operations - 1);
  return cursor->place;
}

const TraceFormat trace_format_pattern = {
  .name = "pattern",
  .summary = "generated pattern: gen:KIND:NAME=VALUE,...",
  .probe = probe,
  .open = open_trace,
  .close = program_free,
  .cursor_new = cursor_new,
  .cursor_free = cursor_free,
  .cursor_next = cursor_next,
  .cursor_place = cursor_place,
  .call_counts = trace_no_call_counts,
};
