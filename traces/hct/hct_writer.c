/* hct_writer.c - writes the native trace format.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every rank is read once, from front to end, and written as it is read; what
 * is kept is the index, and the digests by which equal programs and equal
 * measures are known again, whichever rank they are of. */
#include "traces/hct/hct_batch.h"
#include "traces/hct/hct_check.h"
#include "traces/hct/hct_file.h"
#include "traces/writer.h"

/* Measures that are longer are never looked for among those written: equal
 * ones are those of programs that do the same in the same time. */
#define MAX_SHARED_BYTES 65536
#define OPS_PER_PROGRESS (1u << 20)

typedef struct {
  Trace *trace;
  TraceProgress progress;
  void *data;
  HctOutput output;
  HctIndex *index;
  HctBatch *batch;
  GHashTable *programs;                   /* digest of a program -> its number */
  GHashTable *shared;                     /* digest of measures -> uint64_t, where they are */
  HctBuffer program_block, measure_block; /* not written yet */
  guint first_placed;                     /* programs from here on are in program_block */
  uint64_t measures_at;                   /* of the start of measure_block */
} Writer;

static gboolean
flush_programs (Writer *writer, GError **error)
{
  GArray *programs = writer->index->programs;
  uint32_t number;

  if (writer->program_block.n == 0)
    return TRUE;
  if (!hct_output_block (&writer->output, writer->index, HCT_BLOCK_PROGRAMS, &writer->program_block,
                         &number, error))
    return FALSE;
  for (; writer->first_placed < programs->len; writer->first_placed++)
    g_array_index (programs, HctProgramPlace, writer->first_placed).block = number;
  writer->program_block.n = 0;
  return TRUE;
}

static gboolean
flush_measures (Writer *writer, GError **error)
{
  uint32_t number;

  if (writer->measure_block.n == 0)
    return TRUE;
  writer->measures_at += writer->measure_block.n;
  if (!hct_output_block (&writer->output, writer->index, HCT_BLOCK_MEASURES, &writer->measure_block,
                         &number, error))
    return FALSE;
  writer->measure_block.n = 0;
  return TRUE;
}

static char *
digest_of (const HctBuffer *buffer)
{
  return g_compute_checksum_for_data (G_CHECKSUM_SHA256, buffer->data, buffer->n);
}

static gboolean
put_program (Writer *writer, const HctPart *part, uint32_t *number, GError **error)
{
  g_autofree char *digest = digest_of (part->program);
  HctProgramPlace place = { .n_bytes = (uint32_t) part->program->n, .n_ops = part->n_ops };
  gpointer found;

  if (g_hash_table_lookup_extended (writer->programs, digest, NULL, &found)) {
    *number = GPOINTER_TO_UINT (found);
    return TRUE;
  }
  if (writer->program_block.n + part->program->n > HCT_PROGRAM_BYTES &&
      !flush_programs (writer, error))
    return FALSE;
  place.at = (uint32_t) writer->program_block.n;
  hct_put_bytes (&writer->program_block, part->program->data, part->program->n);
  *number = writer->index->programs->len;
  g_array_append_val (writer->index->programs, place);
  g_hash_table_insert (writer->programs, g_steal_pointer (&digest), GUINT_TO_POINTER (*number));
  return TRUE;
}

/* Puts the measures into blocks, none of which ends within an operation. */
static gboolean
put_measures (Writer *writer, const HctPart *part, GError **error)
{
  gsize from = 0, to = 0;

  if (part->measures->n == 0)
    return TRUE;
  for (guint i = 0; i < part->cuts->len; i++) {
    gsize cut = g_array_index (part->cuts, gsize, i);

    if (writer->measure_block.n + (cut - from) > HCT_MEASURE_BYTES) {
      hct_put_bytes (&writer->measure_block, part->measures->data + from, to - from);
      from = to;
      if (!flush_measures (writer, error))
        return FALSE;
    }
    to = cut;
  }
  hct_put_bytes (&writer->measure_block, part->measures->data + from, to - from);
  return TRUE;
}

static gboolean
share_measures (Writer *writer, const HctPart *part, HctSegment *segment, GError **error)
{
  g_autofree char *digest = NULL;
  const uint64_t *found;

  segment->n_measure_bytes = part->measures->n;
  segment->measures_at = writer->measures_at + writer->measure_block.n;
  if (part->measures->n == 0 || part->measures->n > MAX_SHARED_BYTES)
    return put_measures (writer, part, error);
  digest = digest_of (part->measures);
  found = g_hash_table_lookup (writer->shared, digest);
  if (found != NULL) {
    segment->measures_at = *found;
    return TRUE;
  }
  g_hash_table_insert (writer->shared, g_steal_pointer (&digest),
                       g_memdup2 (&segment->measures_at, sizeof segment->measures_at));
  return put_measures (writer, part, error);
}

static gboolean
write_batch (Writer *writer, GError **error)
{
  HctPart part;

  hct_batch_fold (writer->batch);
  while (hct_batch_next (writer->batch, &part)) {
    HctSegment segment = { 0 };

    if (!put_program (writer, &part, &segment.program, error) ||
        !share_measures (writer, &part, &segment, error))
      return FALSE;
    writer->index->n_ops += part.n_ops;
    writer->index->record_bytes += part.record_bytes;
    g_array_append_val (writer->index->segments, segment);
  }
  return TRUE;
}

static gboolean
is_in_order (const uint32_t *after, uint32_t n, uint64_t index)
{
  for (uint32_t i = 0; i < n; i++)
    if (after[i] >= index)
      return FALSE;
  return TRUE;
}

/* What a reader of the format would refuse. */
static gboolean
check_op (const Writer *writer, const TraceOp *op, const HctPlace *place, GError **error)
{
  if (hct_check_op (op, 0) && hct_check_measures (op) &&
      is_in_order (op->after, op->n_after, place->index) &&
      is_in_order (op->after_start, op->n_after_start, place->index))
    return TRUE;
  g_set_error (error, TRACE_ERROR, TRACE_ERROR_WRITE,
               "%s: rank %u, operation %" G_GUINT64_FORMAT
               " (%s): a value of it is impossible, or it comes after a later one",
               trace_path (writer->trace), place->rank, place->index, trace_op_name (op->kind));
  return FALSE;
}

static gboolean
add_op (Writer *writer, const TraceOp *op, HctPlace *place, GError **error)
{
  if (!check_op (writer, op, place, error))
    return FALSE;
  if (hct_batch_add (writer->batch, op, place) && !write_batch (writer, error))
    return FALSE;
  hct_place_advance (place, op->request);
  if (place->index % OPS_PER_PROGRESS == 0)
    writer->progress (writer->data, place->rank / (double) place->n_ranks);
  return TRUE;
}

static gboolean
write_rank (Writer *writer, uint32_t rank, GError **error)
{
  HctPlace place = { .rank = rank, .n_ranks = trace_ranks (writer->trace) };
  g_autoptr (TraceCursor) cursor = trace_cursor_new (writer->trace, rank, error);
  TraceNext next;
  TraceOp op;

  if (cursor == NULL)
    return FALSE;
  hct_batch_restart (writer->batch);
  while ((next = trace_cursor_next (cursor, &op, error)) == TRACE_NEXT_OPERATION)
    if (!add_op (writer, &op, &place, error))
      return FALSE;
  return next == TRACE_NEXT_END && write_batch (writer, error);
}

static gboolean
write_ranks (Writer *writer, GError **error)
{
  HctIndex *index = writer->index;

  index->n_ranks = trace_ranks (writer->trace);
  for (uint32_t rank = 0; rank < index->n_ranks; rank++) {
    g_array_append_val (index->rank_segments, index->segments->len);
    if (!write_rank (writer, rank, error))
      return FALSE;
    writer->progress (writer->data, (rank + 1) / (double) index->n_ranks);
  }
  g_array_append_val (index->rank_segments, index->segments->len);
  return flush_programs (writer, error) && flush_measures (writer, error);
}

/* A trace that came from another keeps the other's name, so that a copy of a
 * copy still says where it is from. */
static gboolean
note_source (Writer *writer, GError **error)
{
  HctIndex *index = writer->index;
  const char *hash, *format = trace_source (writer->trace, &hash);
  const GPtrArray *warnings = trace_warnings (writer->trace);
  const GPtrArray *notes = trace_notes (writer->trace);

  if (format == NULL) {
    format = trace_format_name (writer->trace);
    hash = trace_hash (writer->trace, error);
    if (hash == NULL)
      return FALSE;
  }
  index->source_format = g_strdup (format);
  index->source_hash = g_strdup (hash);
  index->is_graph = trace_is_graph (writer->trace);
  for (guint i = 0; i < warnings->len; i++)
    g_ptr_array_add (index->warnings, g_strdup (warnings->pdata[i]));
  for (guint i = 0; i < notes->len; i++)
    g_ptr_array_add (index->notes, g_strdup (notes->pdata[i]));
  return TRUE;
}

static void
no_progress (void *data, double share)
{
  (void) data, (void) share;
}

static gboolean
write_trace (Trace *trace, FILE *out, TraceProgress progress, void *data, GError **error)
{
  Writer writer = { .trace = trace,
                    .progress = progress != NULL ? progress : no_progress,
                    .data = data,
                    .index = hct_index_new () };
  gboolean good;

  writer.batch = hct_batch_new (writer.index->names);
  writer.programs = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  writer.shared = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  good = hct_output_start (&writer.output, out, error) && write_ranks (&writer, error) &&
         note_source (&writer, error) && hct_output_finish (&writer.output, writer.index, error);
  g_hash_table_unref (writer.programs);
  g_hash_table_unref (writer.shared);
  hct_batch_free (writer.batch);
  hct_index_free (writer.index);
  hct_output_clear (&writer.output);
  hct_buffer_clear (&writer.program_block);
  hct_buffer_clear (&writer.measure_block);
  return good;
}

const TraceWriter trace_writer_hct = {
  .name = "hct",
  .ending = ".hct",
  .summary = "hopcast's native format: small, checked, opens at any rank at once",
  .write = write_trace,
};
