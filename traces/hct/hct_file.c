/* hct_file.c - the layout of a native trace file: header, blocks, index, trailer.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/hct/hct_file.h"
#include "traces/format.h"

#include <errno.h>
#include <zlib.h>

/* --- The index ---
 *
 * Tables are stored column by column, and numbers that mostly follow from the
 * one before as the difference, so that zlib makes next to nothing of the
 * 65,536 rows of ranks that do the same. */

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
put_strings (const GPtrArray *strings, HctBuffer *out)
{
  put_number (out, strings->len);
  for (guint i = 0; i < strings->len; i++)
    hct_put_string (out, strings->pdata[i]);
}

void
hct_index_put (const HctIndex *index, HctBuffer *out)
{
  guint n_blocks = index->blocks->len, n_programs = index->programs->len;
  guint n_segments = index->segments->len;

  put_number (out, index->is_graph ? 1 : 0);
  hct_put_string (out, index->source_format);
  hct_put_string (out, index->source_hash);
  put_strings (index->warnings, out);
  put_strings (index->notes, out);
  put_number (out, index->n_ops);
  put_number (out, index->record_bytes);
  hct_names_put (index->names, out);

  put_number (out, n_blocks);
  for (guint i = 0; i < n_blocks; i++)
    put_number (out, BLOCK (index, i)->kind);
  for (guint i = 0; i < n_blocks; i++)
    put_number (out, BLOCK (index, i)->raw_bytes);
  for (guint i = 0; i < n_blocks; i++)
    put_number (out, BLOCK (index, i)->stored_bytes);
  for (guint i = 0; i < n_blocks; i++)
    put_number (out, BLOCK (index, i)->crc);

  put_number (out, n_programs);
  for (guint i = 0; i < n_programs; i++)
    put_step (out, PROGRAM (index, i)->block, i > 0 ? PROGRAM (index, i - 1)->block : 0);
  for (guint i = 0; i < n_programs; i++)
    put_number (out, PROGRAM (index, i)->at);
  for (guint i = 0; i < n_programs; i++)
    put_number (out, PROGRAM (index, i)->n_bytes);
  for (guint i = 0; i < n_programs; i++)
    put_number (out, PROGRAM (index, i)->n_ops);

  put_number (out, index->n_ranks);
  for (uint32_t i = 0; i < index->n_ranks; i++)
    put_number (out, *RANK (index, i + 1) - *RANK (index, i));
  for (guint i = 0; i < n_segments; i++)
    put_step (out, SEGMENT (index, i)->program, i > 0 ? SEGMENT (index, i - 1)->program : 0);
  for (guint i = 0; i < n_segments; i++)
    put_step (out, SEGMENT (index, i)->measures_at,
              i > 0 ? SEGMENT (index, i - 1)->measures_at : 0);
  for (guint i = 0; i < n_segments; i++)
    put_number (out, SEGMENT (index, i)->n_measure_bytes);
}

static uint32_t
take_u32 (HctReader *in)
{
  return (uint32_t) hct_take_limited (in, UINT32_MAX);
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

/* Takes the blocks and places them one behind the other; returns how many
 * bytes of measures are in them. */
static uint64_t
take_blocks (HctIndex *index, HctReader *in, uint64_t blocks_bytes)
{
  uint32_t n = hct_take_count (in);
  uint64_t at = HCT_HEADER_BYTES, measures_at = 0;

  g_array_set_size (index->blocks, n);
  for (uint32_t i = 0; i < n; i++)
    BLOCK (index, i)->kind = (HctBlockKind) hct_take_limited (in, HCT_BLOCK_MEASURES);
  for (uint32_t i = 0; i < n; i++)
    BLOCK (index, i)->raw_bytes = take_u32 (in);
  for (uint32_t i = 0; i < n; i++)
    BLOCK (index, i)->stored_bytes = take_u32 (in);
  for (uint32_t i = 0; i < n; i++)
    BLOCK (index, i)->crc = take_u32 (in);
  for (uint32_t i = 0; i < n; i++) {
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
  return measures_at;
}

static void
take_programs (HctIndex *index, HctReader *in)
{
  uint32_t n = hct_take_count (in);
  uint64_t number = 0;

  g_array_set_size (index->programs, n);
  for (uint32_t i = 0; i < n; i++) {
    number = take_step (in, number);
    in->bad |= number >= index->blocks->len;
    PROGRAM (index, i)->block = (uint32_t) number;
  }
  for (uint32_t i = 0; i < n; i++)
    PROGRAM (index, i)->at = take_u32 (in);
  for (uint32_t i = 0; i < n; i++)
    PROGRAM (index, i)->n_bytes = take_u32 (in);
  for (uint32_t i = 0; i < n; i++)
    PROGRAM (index, i)->n_ops = hct_take_varint (in);
  for (uint32_t i = 0; i < n && !in->bad; i++) {
    const HctProgramPlace *program = PROGRAM (index, i);
    const HctBlock *block = BLOCK (index, program->block);

    in->bad |= block->kind != HCT_BLOCK_PROGRAMS || program->at > block->raw_bytes ||
               program->n_bytes > block->raw_bytes - program->at;
  }
}

static void
take_ranks (HctIndex *index, HctReader *in, uint64_t measure_bytes)
{
  uint64_t n_segments = 0, program = 0, at = 0;

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

  g_array_set_size (index->segments, (guint) n_segments);
  for (uint32_t i = 0; i < n_segments; i++) {
    program = take_step (in, program);
    in->bad |= program >= index->programs->len;
    SEGMENT (index, i)->program = (uint32_t) program;
  }
  for (uint32_t i = 0; i < n_segments; i++)
    SEGMENT (index, i)->measures_at = at = take_step (in, at);
  for (uint32_t i = 0; i < n_segments; i++) {
    HctSegment *segment = SEGMENT (index, i);

    segment->n_measure_bytes = hct_take_varint (in);
    in->bad |= segment->measures_at > measure_bytes ||
               segment->n_measure_bytes > measure_bytes - segment->measures_at;
  }
}

HctIndex *
hct_index_take (HctReader *in, uint64_t blocks_bytes)
{
  g_autoptr (HctIndex) index = hct_index_new ();
  uint64_t measure_bytes = 0;

  index->is_graph = hct_take_limited (in, 1) != 0;
  index->source_format = hct_take_string (in);
  index->source_hash = hct_take_string (in);
  take_strings (index->warnings, in);
  take_strings (index->notes, in);
  index->n_ops = hct_take_varint (in);
  index->record_bytes = hct_take_varint (in);
  if (!in->bad && hct_names_take (index->names, in))
    measure_bytes = take_blocks (index, in, blocks_bytes);
  if (!in->bad)
    take_programs (index, in);
  if (!in->bad)
    take_ranks (index, in, measure_bytes);
  return in->bad ? NULL : g_steal_pointer (&index);
}

/* --- The file --- */

/* As in PNG (RFC 2083, section 12.11): a byte with the top bit set and both
 * ends of line reveal a transfer as text. */
static const guint8 magic[8] = { 0x89, 'H', 'C', 'T', '\r', '\n', 0x1a, '\n' };
static const guint8 end_magic[4] = { 'T', 'C', 'H', '\n' };

#define BYTE_ORDER_MARK UINT32_C (0x01020304)
#define SWAPPED_MARK    UINT32_C (0x04030201)

/* Of the header. */
enum { MAJOR_AT = 8, MINOR_AT = 12, ORDER_AT = 16, HEADER_CRC_AT = 28 };
/* Of the trailer. */
enum {
  INDEX_AT = 0,
  INDEX_STORED_AT = 8,
  INDEX_RAW_AT = 16,
  INDEX_CRC_AT = 24,
  FILE_BYTES_AT = 32,
  TRAILER_CRC_AT = 40,
  END_MAGIC_AT = 44
};

static uint32_t
crc_of (const guint8 *bytes, gsize n)
{
  return (uint32_t) crc32_z (0, bytes, n);
}

static gboolean
put (HctOutput *output, const guint8 *bytes, gsize n, GError **error)
{
  errno = 0;
  if (fwrite (bytes, 1, n, output->out) == n) {
    output->at += n;
    return TRUE;
  }
  return TRACE_FAIL (TRACE_ERROR_WRITE, error, "cannot write the trace: %s",
                     g_strerror (errno != 0 ? errno : EIO));
}

gboolean
hct_output_start (HctOutput *output, FILE *out, GError **error)
{
  guint8 header[HCT_HEADER_BYTES] = { 0 };

  *output = (HctOutput){ .out = out };
  memcpy (header, magic, sizeof magic);
  hct_store_u32 (header + MAJOR_AT, HCT_MAJOR);
  hct_store_u32 (header + MINOR_AT, HCT_MINOR);
  hct_store_u32 (header + ORDER_AT, BYTE_ORDER_MARK);
  hct_store_u32 (header + HEADER_CRC_AT, crc_of (header, HEADER_CRC_AT));
  return put (output, header, sizeof header, error);
}

/* Sets *n to how many bytes in *bytes stand for the raw ones: packed, unless
 * that saves less than a sixteenth. */
static void
pack (HctOutput *output, const HctBuffer *raw, const guint8 **bytes, gsize *n)
{
  uLongf packed = compressBound (raw->n);

  output->packed.n = 0;
  hct_buffer_reserve (&output->packed, packed);
  if (compress2 (output->packed.data, &packed, raw->data, raw->n, 6) != Z_OK)
    g_assert_not_reached ();
  *bytes = output->packed.data;
  *n = packed;
  if (packed >= raw->n - raw->n / 16) {
    *bytes = raw->data;
    *n = raw->n;
  }
}

gboolean
hct_output_block (HctOutput *output, HctIndex *index, HctBlockKind kind, const HctBuffer *raw,
                  uint32_t *number, GError **error)
{
  HctBlock block = { .kind = kind, .raw_bytes = (uint32_t) raw->n, .at = output->at };
  const guint8 *bytes;
  gsize n;

  if (raw->n > G_MAXINT32)
    return TRACE_FAIL (TRACE_ERROR_WRITE, error, "an operation takes more than 2 GiB");
  pack (output, raw, &bytes, &n);
  block.stored_bytes = (uint32_t) n;
  block.crc = crc_of (bytes, n);
  *number = index->blocks->len;
  g_array_append_val (index->blocks, block);
  return put (output, bytes, n, error);
}

gboolean
hct_output_finish (HctOutput *output, const HctIndex *index, GError **error)
{
  guint8 trailer[HCT_TRAILER_BYTES] = { 0 };
  uint64_t index_at = output->at;
  HctBuffer raw = { 0 };
  const guint8 *bytes;
  gboolean good;
  gsize n;

  hct_index_put (index, &raw);
  pack (output, &raw, &bytes, &n);
  hct_store_u64 (trailer + INDEX_AT, index_at);
  hct_store_u64 (trailer + INDEX_STORED_AT, n);
  hct_store_u64 (trailer + INDEX_RAW_AT, raw.n);
  hct_store_u32 (trailer + INDEX_CRC_AT, crc_of (bytes, n));
  hct_store_u64 (trailer + FILE_BYTES_AT, index_at + n + HCT_TRAILER_BYTES);
  hct_store_u32 (trailer + TRAILER_CRC_AT, crc_of (trailer, TRAILER_CRC_AT));
  memcpy (trailer + END_MAGIC_AT, end_magic, sizeof end_magic);
  good = put (output, bytes, n, error) && put (output, trailer, sizeof trailer, error);
  hct_buffer_clear (&raw);
  return good;
}

void
hct_output_clear (HctOutput *output)
{
  hct_buffer_clear (&output->packed);
}

gboolean
hct_file_probe (const guint8 *head, gsize n)
{
  return n >= sizeof magic && memcmp (head, magic, sizeof magic) == 0;
}

static gboolean
bad (const char *path, const char *what, GError **error)
{
  return TRACE_FAIL (TRACE_ERROR_FORMAT, error, "%s: %s", path, what);
}

/* The version comes first: another one may have another header. */
static gboolean
check_header (const char *path, const guint8 *header, GError **error)
{
  uint32_t order = hct_load_u32 (header + ORDER_AT);
  uint32_t major = hct_load_u32 (header + MAJOR_AT);

  if (order == SWAPPED_MARK)
    return bad (path, "is of the other byte order; .hct files are little-endian", error);
  if (crc_of (header, HEADER_CRC_AT) != hct_load_u32 (header + HEADER_CRC_AT))
    return bad (path, "the header is damaged (checksum)", error);
  if (order != BYTE_ORDER_MARK)
    return bad (path, "the byte order mark is wrong", error);
  if (major != HCT_MAJOR)
    return TRACE_FAIL (TRACE_ERROR_FORMAT, error,
                       "%s: version %u.%u, but this program reads version %d", path, major,
                       hct_load_u32 (header + MINOR_AT), HCT_MAJOR);
  return TRUE;
}

static gboolean
check_trailer (const char *path, const guint8 *trailer, uint64_t file_bytes, GError **error)
{
  uint64_t index_at = hct_load_u64 (trailer + INDEX_AT);
  uint64_t stored = hct_load_u64 (trailer + INDEX_STORED_AT);

  if (memcmp (trailer + END_MAGIC_AT, end_magic, sizeof end_magic) != 0)
    return bad (path, "has no trailer: truncated, or followed by other data", error);
  if (crc_of (trailer, TRAILER_CRC_AT) != hct_load_u32 (trailer + TRAILER_CRC_AT))
    return bad (path, "the trailer is damaged (checksum)", error);
  if (hct_load_u64 (trailer + FILE_BYTES_AT) != file_bytes)
    return TRACE_FAIL (TRACE_ERROR_FORMAT, error,
                       "%s: was written with %" G_GUINT64_FORMAT
                       " bytes and now has %" G_GUINT64_FORMAT,
                       path, hct_load_u64 (trailer + FILE_BYTES_AT), file_bytes);
  if (index_at < HCT_HEADER_BYTES || index_at > file_bytes - HCT_TRAILER_BYTES ||
      stored != file_bytes - HCT_TRAILER_BYTES - index_at)
    return bad (path, "the index is not where the trailer says", error);
  return TRUE;
}

GBytes *
hct_block_read (const char *path, GBytes *contents, const HctBlock *block, GError **error)
{
  const guint8 *stored = (const guint8 *) g_bytes_get_data (contents, NULL) + block->at;
  uLongf n = block->raw_bytes;
  guint8 *raw;

  if (crc_of (stored, block->stored_bytes) != block->crc) {
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_FORMAT,
                 "%s: the block at byte %" G_GUINT64_FORMAT " is damaged (checksum)", path,
                 block->at);
    return NULL;
  }
  if (block->stored_bytes == block->raw_bytes)
    return g_bytes_new_from_bytes (contents, block->at, block->raw_bytes);
  raw = g_malloc (block->raw_bytes);
  if (uncompress (raw, &n, stored, block->stored_bytes) == Z_OK && n == block->raw_bytes)
    return g_bytes_new_take (raw, n);
  g_free (raw);
  g_set_error (error, TRACE_ERROR, TRACE_ERROR_FORMAT,
               "%s: the block at byte %" G_GUINT64_FORMAT " cannot be unpacked", path, block->at);
  return NULL;
}

HctIndex *
hct_index_read (const char *path, GBytes *contents, GError **error)
{
  gsize n;
  const guint8 *bytes = g_bytes_get_data (contents, &n);
  const guint8 *trailer = bytes + n - HCT_TRAILER_BYTES;
  g_autoptr (GBytes) raw = NULL;
  HctBlock block = { 0 };
  HctReader in = { 0 };
  HctIndex *index;
  uint64_t raw_bytes;

  if (n < HCT_HEADER_BYTES + HCT_TRAILER_BYTES) {
    bad (path, "is too short: truncated", error);
    return NULL;
  }
  if (!check_header (path, bytes, error) || !check_trailer (path, trailer, n, error))
    return NULL;
  block.at = hct_load_u64 (trailer + INDEX_AT);
  raw_bytes = hct_load_u64 (trailer + INDEX_RAW_AT);
  block.stored_bytes = (uint32_t) MIN (n - HCT_TRAILER_BYTES - block.at, G_MAXINT32);
  block.raw_bytes = (uint32_t) MIN (raw_bytes, G_MAXINT32);
  block.crc = hct_load_u32 (trailer + INDEX_CRC_AT);
  if (block.raw_bytes != raw_bytes || !hct_block_is_possible (&block)) {
    bad (path, "the index has an impossible size", error);
    return NULL;
  }
  raw = hct_block_read (path, contents, &block, error);
  if (raw == NULL)
    return NULL;
  in.at = g_bytes_get_data (raw, &n);
  in.end = in.at + n;
  index = hct_index_take (&in, block.at - HCT_HEADER_BYTES);
  if (index == NULL)
    bad (path, "the index is impossible, or needs a newer version of this program", error);
  return index;
}
