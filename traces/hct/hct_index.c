/* hct_index.c - what is where in a native trace file, as bytes.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Tables are stored column by column, and numbers that mostly follow from the
 * one before as the difference, so that zlib makes next to nothing of the
 * 65,536 rows of ranks that do the same. */
#include "traces/hct/hct_file.h"

HctIndex *
hct_index_new (void)
{
  HctIndex *index = g_new0 (HctIndex, 1);

  index->warnings = g_ptr_array_new_with_free_func (g_free);
  index->notes = g_ptr_array_new_with_free_func (g_free);
  index->names = hct_names_new ();
  index->blocks = g_array_new (FALSE, FALSE, sizeof (HctBlock));
  index->measure_blocks = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  index->programs = g_array_new (FALSE, FALSE, sizeof (HctProgramPlace));
  index->segments = g_array_new (FALSE, FALSE, sizeof (HctSegment));
  index->rank_segments = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  return index;
}

void
hct_index_free (HctIndex *index)
{
  if (index == NULL)
    return;
  g_free (index->source_format);
  g_free (index->source_hash);
  g_ptr_array_unref (index->warnings);
  g_ptr_array_unref (index->notes);
  hct_names_free (index->names);
  g_array_unref (index->blocks);
  g_array_unref (index->measure_blocks);
  g_array_unref (index->programs);
  g_array_unref (index->segments);
  g_array_unref (index->rank_segments);
  g_free (index);
}

#define BLOCK(index, i)   (&g_array_index ((index)->blocks, HctBlock, i))
#define PROGRAM(index, i) (&g_array_index ((index)->programs, HctProgramPlace, i))
#define SEGMENT(index, i) (&g_array_index ((index)->segments, HctSegment, i))
#define RANK(index, i)    (&g_array_index ((index)->rank_segments, uint32_t, i))

static void
put_number (HctBuffer *out, uint64_t value)
{
  hct_buffer_reserve (out, HCT_VARINT_BYTES);
  hct_put_varint (out, value);
}

static void
put_step (HctBuffer *out, uint64_t value, uint64_t before)
{
  put_number (out, hct_fold_sign ((int64_t) (value - before)));
}

static uint64_t
take_step (HctReader *in, uint64_t before)
{
  return before + (uint64_t) hct_take_signed (in);
}

static void
put_blocks (const HctIndex *index, HctBuffer *out)
{
  guint n = index->blocks->len;

  put_number (out, n);
  for (guint i = 0; i < n; i++)
    put_number (out, BLOCK (index, i)->kind);
  for (guint i = 0; i < n; i++)
    put_number (out, BLOCK (index, i)->raw_bytes);
  for (guint i = 0; i < n; i++)
    put_number (out, BLOCK (index, i)->stored_bytes);
  for (guint i = 0; i < n; i++)
    put_number (out, BLOCK (index, i)->crc);
}

static void
put_programs (const HctIndex *index, HctBuffer *out)
{
  guint n = index->programs->len;

  put_number (out, n);
  for (guint i = 0; i < n; i++)
    put_step (out, PROGRAM (index, i)->block, i > 0 ? PROGRAM (index, i - 1)->block : 0);
  for (guint i = 0; i < n; i++)
    put_number (out, PROGRAM (index, i)->at);
  for (guint i = 0; i < n; i++)
    put_number (out, PROGRAM (index, i)->n_bytes);
  for (guint i = 0; i < n; i++)
    put_number (out, PROGRAM (index, i)->n_ops);
}

static void
put_ranks (const HctIndex *index, HctBuffer *out)
{
  guint n = index->segments->len;

  put_number (out, index->n_ranks);
  for (uint32_t i = 0; i < index->n_ranks; i++)
    put_number (out, *RANK (index, i + 1) - *RANK (index, i));
  for (guint i = 0; i < n; i++)
    put_step (out, SEGMENT (index, i)->program, i > 0 ? SEGMENT (index, i - 1)->program : 0);
  for (guint i = 0; i < n; i++)
    put_step (out, SEGMENT (index, i)->measures_at,
              i > 0 ? SEGMENT (index, i - 1)->measures_at : 0);
  for (guint i = 0; i < n; i++)
    put_number (out, SEGMENT (index, i)->n_measure_bytes);
}

static void
put_strings (const GPtrArray *strings, HctBuffer *out)
{
  put_number (out, strings->len);
  for (guint i = 0; i < strings->len; i++)
    hct_put_string (out, strings->pdata[i]);
}

void
hct_index_put (const HctIndex *index, HctBuffer *out)
{
  put_number (out, index->is_graph ? 1 : 0);
  hct_put_string (out, index->source_format);
  hct_put_string (out, index->source_hash);
  put_strings (index->warnings, out);
  put_strings (index->notes, out);
  put_number (out, index->n_ops);
  put_number (out, index->record_bytes);
  hct_names_put (index->names, out);
  put_blocks (index, out);
  put_programs (index, out);
  put_ranks (index, out);
}

static void
take_strings (GPtrArray *strings, HctReader *in)
{
  for (uint32_t n = hct_take_count (in); n > 0 && !in->bad; n--) {
    char *string = hct_take_string (in);

    in->bad |= string == NULL;
    g_ptr_array_add (strings, string);
  }
}

static void
take_provenance (HctIndex *index, HctReader *in)
{
  index->is_graph = hct_take_limited (in, 1) != 0;
  index->source_format = hct_take_string (in);
  index->source_hash = hct_take_string (in);
  take_strings (index->warnings, in);
  take_strings (index->notes, in);
  index->n_ops = hct_take_varint (in);
  index->record_bytes = hct_take_varint (in);
}

static void
place_blocks (HctIndex *index, HctReader *in, uint64_t blocks_bytes)
{
  uint64_t at = HCT_HEADER_BYTES, measures_at = 0;

  for (uint32_t i = 0; i < index->blocks->len; i++) {
    HctBlock *block = BLOCK (index, i);

    in->bad |= !hct_block_is_possible (block);
    block->at = at;
    at += block->stored_bytes;
    block->measures_at = measures_at;
    if (block->kind == HCT_BLOCK_MEASURES) {
      measures_at += block->raw_bytes;
      g_array_append_val (index->measure_blocks, i);
    }
  }
  in->bad |= at != HCT_HEADER_BYTES + blocks_bytes;
}

static void
take_blocks (HctIndex *index, HctReader *in, uint64_t blocks_bytes)
{
  uint32_t n = hct_take_count (in);

  g_array_set_size (index->blocks, n);
  for (uint32_t i = 0; i < n; i++)
    BLOCK (index, i)->kind = (HctBlockKind) hct_take_limited (in, HCT_BLOCK_MEASURES);
  for (uint32_t i = 0; i < n; i++)
    BLOCK (index, i)->raw_bytes = (uint32_t) hct_take_limited (in, UINT32_MAX);
  for (uint32_t i = 0; i < n; i++)
    BLOCK (index, i)->stored_bytes = (uint32_t) hct_take_limited (in, UINT32_MAX);
  for (uint32_t i = 0; i < n; i++)
    BLOCK (index, i)->crc = (uint32_t) hct_take_limited (in, UINT32_MAX);
  place_blocks (index, in, blocks_bytes);
}

static void
check_program (const HctIndex *index, HctReader *in, const HctProgramPlace *program)
{
  const HctBlock *block;

  if (program->block >= index->blocks->len) {
    in->bad = true;
    return;
  }
  block = BLOCK (index, program->block);
  in->bad |= block->kind != HCT_BLOCK_PROGRAMS || program->at > block->raw_bytes ||
             program->n_bytes > block->raw_bytes - program->at;
}

static void
take_programs (HctIndex *index, HctReader *in)
{
  uint32_t n = hct_take_count (in);
  uint64_t block = 0;

  g_array_set_size (index->programs, n);
  for (uint32_t i = 0; i < n; i++) {
    block = take_step (in, block);
    in->bad |= block > UINT32_MAX;
    PROGRAM (index, i)->block = (uint32_t) block;
  }
  for (uint32_t i = 0; i < n; i++)
    PROGRAM (index, i)->at = (uint32_t) hct_take_limited (in, UINT32_MAX);
  for (uint32_t i = 0; i < n; i++)
    PROGRAM (index, i)->n_bytes = (uint32_t) hct_take_limited (in, UINT32_MAX);
  for (uint32_t i = 0; i < n; i++)
    PROGRAM (index, i)->n_ops = hct_take_varint (in);
  for (uint32_t i = 0; i < n && !in->bad; i++)
    check_program (index, in, PROGRAM (index, i));
}

/* Sets where each rank's segments begin; returns how many there are. */
static uint32_t
take_ranks (HctIndex *index, HctReader *in)
{
  uint64_t n_segments = 0;

  index->n_ranks = hct_take_count (in);
  in->bad |= index->n_ranks == 0;
  g_array_set_size (index->rank_segments, index->n_ranks + 1);
  for (uint32_t i = 0; i < index->n_ranks; i++) {
    *RANK (index, i) = (uint32_t) n_segments;
    n_segments += hct_take_count (in);
    in->bad |= n_segments > (uint64_t) (in->end - in->at);
    n_segments = in->bad ? 0 : n_segments;
  }
  *RANK (index, index->n_ranks) = (uint32_t) n_segments;
  return (uint32_t) n_segments;
}

static uint64_t
all_measures (const HctIndex *index)
{
  const HctBlock *last;

  if (index->measure_blocks->len == 0)
    return 0;
  last = BLOCK (index,
                g_array_index (index->measure_blocks, uint32_t, index->measure_blocks->len - 1));
  return last->measures_at + last->raw_bytes;
}

static void
take_segments (HctIndex *index, HctReader *in, uint32_t n)
{
  uint64_t end = all_measures (index), program = 0, at = 0;

  g_array_set_size (index->segments, n);
  for (uint32_t i = 0; i < n; i++) {
    program = take_step (in, program);
    in->bad |= program >= index->programs->len;
    SEGMENT (index, i)->program = (uint32_t) program;
  }
  for (uint32_t i = 0; i < n; i++)
    SEGMENT (index, i)->measures_at = at = take_step (in, at);
  for (uint32_t i = 0; i < n; i++) {
    HctSegment *segment = SEGMENT (index, i);

    segment->n_measure_bytes = hct_take_varint (in);
    in->bad |= segment->measures_at > end || segment->n_measure_bytes > end - segment->measures_at;
  }
}

HctIndex *
hct_index_take (HctReader *in, uint64_t blocks_bytes)
{
  g_autoptr (HctIndex) index = hct_index_new ();

  take_provenance (index, in);
  if (in->bad || !hct_names_take (index->names, in))
    return NULL;
  take_blocks (index, in, blocks_bytes);
  if (in->bad)
    return NULL;
  take_programs (index, in);
  if (in->bad)
    return NULL;
  take_segments (index, in, take_ranks (index, in));
  return in->bad ? NULL : g_steal_pointer (&index);
}
