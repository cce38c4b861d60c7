/* hct.c - reads the native trace format.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Opening takes the index apart and nothing else.  A cursor has its place in a
 * program, which it shares with others (hct_store.h), the parameters of its
 * rank, and a reference to the block of measures it reads from. */
#include "traces/format.h"
#include "traces/hct/hct_check.h"
#include "traces/hct/hct_store.h"

typedef struct {
  const uint32_t *again; /* where the body starts */
  uint64_t left;         /* repetitions, with this one */
} Nested;

typedef struct {
  HctStore *store;
  HctPlace place;
  uint32_t segment, end_segment; /* the next one, and the rank's last + 1 */

  const HctProgram *program; /* NULL: between segments */
  uint32_t program_number;
  const uint32_t *step; /* the next one */
  Nested *nested;       /* the loop it is in; from loops[] */
  Nested loops[HCT_MAX_DEPTH + 1];

  HctReader measures; /* of the block at hand */
  GBytes *block;
  uint64_t measures_at, n_measure_bytes; /* what is beyond it */
  uint64_t *parameters;
  uint32_t n_parameters; /* that there is room for */

  HctScratch arrays, list;
  char *place_name;
} Cursor;

static gboolean
probe (const char *path, const guint8 *head, gsize n)
{
  (void) path;
  return hct_file_probe (head, n);
}

static void
close_state (gpointer store)
{
  hct_store_free (store);
}

static gboolean
check_ranks (const HctStore *store, const TraceOptions *options, GError **error)
{
  if (options->n_ranks == 0 || options->n_ranks == store->index->n_ranks)
    return TRUE;
  g_set_error (error, TRACE_ERROR, TRACE_ERROR_RANGE,
               "%s: is of %u ranks, but %u ranks were asked for", store->path,
               store->index->n_ranks, options->n_ranks);
  return FALSE;
}

static gpointer
open_trace (Trace *trace, const char *path, const TraceOptions *options, uint32_t *n_ranks,
            GPtrArray *files, GError **error)
{
  HctStore *store = NULL;

  if (trace_refuse_region (path, options, error))
    store = hct_store_new (trace_path (trace), error);
  if (store == NULL || !check_ranks (store, options, error)) {
    hct_store_free (store);
    return NULL;
  }
  if (store->index->is_graph)
    trace_set_graph (trace);
  trace_set_source (trace, store->index->source_format, store->index->source_hash);
  for (guint i = 0; i < store->index->warnings->len; i++)
    trace_warn (trace, "%s", (const char *) store->index->warnings->pdata[i]);
  for (guint i = 0; i < store->index->notes->len; i++)
    trace_note (trace, store->index->notes->pdata[i]);
  g_ptr_array_add (files, g_strdup (path));
  *n_ranks = store->index->n_ranks;
  return store;
}

static void
leave_program (Cursor *cursor)
{
  if (cursor->program != NULL)
    hct_store_release (cursor->store, cursor->program_number);
  cursor->program = NULL;
}

static void
cursor_free (gpointer data)
{
  Cursor *cursor = data;

  leave_program (cursor);
  g_clear_pointer (&cursor->block, g_bytes_unref);
  hct_scratch_clear (&cursor->arrays);
  hct_scratch_clear (&cursor->list);
  g_free (cursor->parameters);
  g_free (cursor->place_name);
  g_free (cursor);
}

static gpointer
cursor_new (gpointer data, uint32_t rank, GError **error)
{
  HctStore *store = data;
  const uint32_t *first = &g_array_index (store->index->rank_segments, uint32_t, rank);
  Cursor *cursor = g_new0 (Cursor, 1);

  (void) error;
  cursor->store = store;
  cursor->place.rank = rank;
  cursor->place.n_ranks = store->index->n_ranks;
  cursor->segment = first[0];
  cursor->end_segment = first[1];
  return cursor;
}

static TraceNext
bad (const Cursor *cursor, const char *what, GError **error)
{
  g_set_error (error, TRACE_ERROR, TRACE_ERROR_FORMAT,
               "%s: rank %u, operation %" G_GUINT64_FORMAT ": %s", cursor->store->path,
               cursor->place.rank, cursor->place.index, what);
  return TRACE_NEXT_ERROR;
}

/* The block that the measures at a place are in; there is one. */
static uint32_t
measures_block (const HctIndex *index, uint64_t at)
{
  const uint32_t *numbers = (const uint32_t *) (const void *) index->measure_blocks->data;
  guint low = 0, high = index->measure_blocks->len - 1;

  while (low < high) {
    guint middle = (low + high + 1) / 2;

    if (g_array_index (index->blocks, HctBlock, numbers[middle]).measures_at <= at)
      low = middle;
    else
      high = middle - 1;
  }
  return numbers[low];
}

/* Goes on to the next block with measures of the segment. */
static gboolean
refill (Cursor *cursor, GError **error)
{
  uint32_t number = measures_block (cursor->store->index, cursor->measures_at);
  const HctBlock *block = &g_array_index (cursor->store->index->blocks, HctBlock, number);
  uint64_t from = cursor->measures_at - block->measures_at;
  uint64_t n = MIN (block->raw_bytes - from, cursor->n_measure_bytes);

  g_clear_pointer (&cursor->block, g_bytes_unref);
  cursor->block = hct_store_block (cursor->store, number, error);
  if (cursor->block == NULL)
    return FALSE;
  cursor->measures.at = (const guint8 *) g_bytes_get_data (cursor->block, NULL) + from;
  cursor->measures.end = cursor->measures.at + n;
  cursor->measures_at += n;
  cursor->n_measure_bytes -= n;
  return TRUE;
}

/* The measures of one operation are never in two blocks. */
static gboolean
have_measures (Cursor *cursor, GError **error)
{
  if (G_LIKELY (cursor->measures.at < cursor->measures.end))
    return TRUE;
  if (cursor->n_measure_bytes > 0)
    return refill (cursor, error);
  bad (cursor, "there are fewer measures than operations that have some", error);
  return FALSE;
}

static gboolean
take_parameters (Cursor *cursor, GError **error)
{
  const HctProgram *program = cursor->program;

  if (program->n_parameters > cursor->n_parameters) {
    cursor->parameters = g_renew (uint64_t, cursor->parameters, program->n_parameters);
    cursor->n_parameters = program->n_parameters;
  }
  for (uint32_t i = 0; i < program->n_parameters; i++) {
    if (!have_measures (cursor, error))
      return FALSE;
    cursor->parameters[i] = hct_take_number (&cursor->measures, program->parameters[i]);
  }
  return TRUE;
}

/* The rank's next segment, which there must be. */
static gboolean
enter_segment (Cursor *cursor, GError **error)
{
  const HctSegment *segment =
      &g_array_index (cursor->store->index->segments, HctSegment, cursor->segment);

  leave_program (cursor);
  cursor->program = hct_store_program (cursor->store, segment->program, error);
  if (cursor->program == NULL)
    return FALSE;
  cursor->segment++;
  cursor->program_number = segment->program;
  cursor->step = cursor->program->steps;
  cursor->nested = cursor->loops;
  g_clear_pointer (&cursor->block, g_bytes_unref);
  cursor->measures = (HctReader){ 0 };
  cursor->measures_at = segment->measures_at;
  cursor->n_measure_bytes = segment->n_measure_bytes;
  return take_parameters (cursor, error);
}

static gboolean
take_apart (Cursor *cursor, const HctProgramRecord *record, TraceOp *op, unsigned *patches)
{
  HctReader in = { record->bytes, record->bytes + record->n_bytes, false };

  hct_scratch_reset (&cursor->arrays, hct_record_scratch_bytes (record->n_bytes));
  return hct_record_take (&in, cursor->store->index->names, op, patches, &cursor->arrays);
}

/* Sets the measures of a record that has some. */
static gboolean
set_measures (Cursor *cursor, const HctProgramRecord *record, TraceOp *op, GError **error)
{
  uint32_t parameter = record->first_parameter;
  gboolean good = TRUE;

  for (unsigned set = record->parameters; set != 0; set &= set - 1)
    good &= hct_set_number (op, (unsigned) __builtin_ctz (set), cursor->parameters[parameter++],
                            &cursor->place);
  if (record->streamed != 0 && !have_measures (cursor, error))
    return FALSE;
  for (unsigned set = record->streamed; set != 0; set &= set - 1) {
    unsigned measure = (unsigned) __builtin_ctz (set);

    if (measure == HCT_COMPLETED)
      hct_take_list (&cursor->measures, op, &cursor->list);
    else
      good &= hct_set_number (op, measure, hct_take_number (&cursor->measures, measure),
                              &cursor->place);
  }
  if (good && !cursor->measures.bad && hct_check_measures (op))
    return TRUE;
  bad (cursor, "a measure of it is impossible", error);
  return FALSE;
}

/* In pieces that a compiler makes moves of: for the whole it makes a string
 * instruction, which takes twice as long to get going as it has to copy. */
static inline void
copy_op (TraceOp *to, const TraceOp *from)
{
  enum { PIECE = 64, REST = sizeof *to % PIECE };
  guint8 *out = (guint8 *) to;
  const guint8 *in = (const guint8 *) from;

  for (gsize i = 0; i < sizeof *to / PIECE; i++, out += PIECE, in += PIECE)
    memcpy (out, in, PIECE);
  memcpy (out, in, REST);
}

static TraceNext
run_record (Cursor *cursor, uint32_t number, TraceOp *op, GError **error)
{
  const HctProgramRecord *record = &cursor->program->records[number];
  unsigned patches;

  if (G_LIKELY (record->ready != NULL)) {
    copy_op (op, &record->ready->op);
    patches = record->ready->patches;
    if ((patches & HCT_PATCH_ARRAYS) != 0)
      hct_scratch_reset (&cursor->arrays, hct_record_scratch_bytes (record->n_bytes));
  } else if (!take_apart (cursor, record, op, &patches))
    return bad (cursor, "is impossible, or needs a newer version of this program", error);
  if (patches != 0 && !hct_record_patch (op, patches, &cursor->place, &cursor->arrays))
    return bad (cursor, "names a rank or an operation that there is not", error);
  if ((record->parameters | record->streamed) != 0 && !set_measures (cursor, record, op, error))
    return TRACE_NEXT_ERROR;
  hct_place_advance (&cursor->place, op->request);
  return TRACE_NEXT_OPERATION;
}

/* Begins a loop, or its next repetition. */
static void
run_loop (Cursor *cursor, uint32_t step)
{
  if ((step & HCT_STEP_LOOP) != 0) {
    const HctRepeat *loop = &cursor->program->loops[step & ~HCT_STEP_LOOP];

    *++cursor->nested = (Nested){ cursor->program->steps + loop->start, loop->count };
  } else if (--cursor->nested->left > 0)
    cursor->step = cursor->nested->again;
  else
    cursor->nested--;
}

static TraceNext
cursor_next (gpointer data, TraceOp *op, GError **error)
{
  Cursor *cursor = data;

  for (;;) {
    uint32_t step = cursor->program != NULL ? *cursor->step : HCT_STEP_END;

    if (G_LIKELY (step < HCT_STEP_NEXT)) {
      cursor->step++;
      return run_record (cursor, step, op, error);
    }
    if (step != HCT_STEP_END) {
      cursor->step++;
      run_loop (cursor, step);
    } else if (cursor->segment == cursor->end_segment)
      return TRACE_NEXT_END;
    else if (!enter_segment (cursor, error))
      return TRACE_NEXT_ERROR;
  }
}

static const char *
cursor_place (gpointer data)
{
  Cursor *cursor = data;

  g_free (cursor->place_name);
  cursor->place_name =
      g_strdup_printf ("%s: rank %u, operation %" G_GUINT64_FORMAT, cursor->store->path,
                       cursor->place.rank, MAX (cursor->place.index, 1) - 1);
  return cursor->place_name;
}

const TraceFormat trace_format_hct = {
  .name = "hct",
  .summary = "hopcast's native .hct file",
  .probe = probe,
  .open = open_trace,
  .close = close_state,
  .cursor_new = cursor_new,
  .cursor_free = cursor_free,
  .cursor_next = cursor_next,
  .cursor_place = cursor_place,
  .call_counts = trace_no_call_counts,
};
