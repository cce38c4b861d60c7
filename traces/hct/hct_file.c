/* hct_file.c - header, blocks and trailer of a native trace file.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/hct/hct_file.h"

#include <errno.h>
#include <zlib.h>

/* As in PNG (RFC 2083, section 12.11): a byte with the top bit set and both
 * ends of line show what a transfer as text did. */
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
  g_set_error (error, TRACE_ERROR, TRACE_ERROR_WRITE, "cannot write the trace: %s",
               g_strerror (errno != 0 ? errno : EIO));
  return FALSE;
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

  if (raw->n > G_MAXINT32) {
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_WRITE, "an operation takes more than 2 GiB");
    return FALSE;
  }
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
  g_set_error (error, TRACE_ERROR, TRACE_ERROR_FORMAT, "%s: %s", path, what);
  return FALSE;
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
  if (major != HCT_MAJOR) {
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_FORMAT,
                 "%s: is of version %u.%u, and this program reads version %d", path, major,
                 hct_load_u32 (header + MINOR_AT), HCT_MAJOR);
    return FALSE;
  }
  return TRUE;
}

static gboolean
check_trailer (const char *path, const guint8 *trailer, uint64_t file_bytes, GError **error)
{
  uint64_t index_at = hct_load_u64 (trailer + INDEX_AT);
  uint64_t stored = hct_load_u64 (trailer + INDEX_STORED_AT);

  if (memcmp (trailer + END_MAGIC_AT, end_magic, sizeof end_magic) != 0)
    return bad (path, "does not end as a trace does: truncated, or something follows it", error);
  if (crc_of (trailer, TRAILER_CRC_AT) != hct_load_u32 (trailer + TRAILER_CRC_AT))
    return bad (path, "the trailer is damaged (checksum)", error);
  if (hct_load_u64 (trailer + FILE_BYTES_AT) != file_bytes) {
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_FORMAT,
                 "%s: was written with %" G_GUINT64_FORMAT " bytes and now has %" G_GUINT64_FORMAT,
                 path, hct_load_u64 (trailer + FILE_BYTES_AT), file_bytes);
    return FALSE;
  }
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

static HctIndex *
parse_index (const char *path, GBytes *raw, uint64_t blocks_bytes, GError **error)
{
  gsize n;
  const guint8 *bytes = g_bytes_get_data (raw, &n);
  HctReader in = { bytes, bytes + n, false };
  HctIndex *index = hct_index_take (&in, blocks_bytes);

  if (index == NULL)
    bad (path, "the index is impossible, or needs a newer version of this program", error);
  return index;
}

HctIndex *
hct_index_read (const char *path, GBytes *contents, GError **error)
{
  gsize n;
  const guint8 *bytes = g_bytes_get_data (contents, &n);
  const guint8 *trailer = bytes + n - HCT_TRAILER_BYTES;
  g_autoptr (GBytes) raw = NULL;
  HctBlock block = { 0 };
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
  return raw != NULL ? parse_index (path, raw, block.at - HCT_HEADER_BYTES, error) : NULL;
}
