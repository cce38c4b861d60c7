/* dumpi_file.c - one rank's DUMPI file: index, header, footer.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/dumpi/dumpi_format.h"
#include "traces/trace_file.h"

#include <string.h>

#define MAGIC_BYTES  8
#define BIAS_BYTES   8 /* the two clock biases in front of the records */
#define FOOTER_MAGIC 0xf007fee7
#define FOOTER_BYTES (8 + 2 * 4 * DUMPI_N_COUNTS)

static const guint8 magic[MAGIC_BYTES] = { 0xff, 0xaa, 0xdd, 'D', 'U', 'M', 'P', 'I' };

/* What the index holds behind its magic, from the end of the file backwards:
 * key values, footer, body, header are always there, the others came later. */
enum {
  INDEX_KEYVALUES,
  INDEX_FOOTER,
  INDEX_BODY,
  INDEX_HEADER,
  INDEX_PERF,
  INDEX_ADDRESSES,
  INDEX_SIZES,
  INDEX_N
};
#define INDEX_N_MIN 4

static gboolean
fail (const DumpiFile *file, gsize at, const char *what, GError **error)
{
  g_set_error (error, TRACE_ERROR, TRACE_ERROR_FORMAT, "%s:0x%" G_GSIZE_MODIFIER "x: %s",
               file->name, at, what);
  return FALSE;
}

/* Returns how many offsets the index has, 0 when there is none. */
static guint
find_index (const DumpiFile *file)
{
  for (guint n = INDEX_N; n >= INDEX_N_MIN; n--) {
    gsize index_bytes = MAGIC_BYTES + 8 * (gsize) n;

    if (file->size >= MAGIC_BYTES + index_bytes &&
        memcmp (file->data + file->size - index_bytes, magic, MAGIC_BYTES) == 0)
      return n;
  }
  return 0;
}

/* An offset of 0 means that the part is absent. */
static gboolean
part_fits (const DumpiFile *file, gsize at, gsize part_bytes)
{
  return at == 0 || (at >= MAGIC_BYTES && at <= file->size && file->size - at >= part_bytes);
}

static gboolean
read_index (DumpiFile *file, guint n, GError **error)
{
  DumpiReader reader = { file->data, file->size - 8 * (gsize) n, file->size, FALSE };
  gsize at = reader.at, offset[INDEX_N] = { 0 };

  for (guint i = n; i-- > 0;)
    offset[i] = (gsize) dumpi_read_i8 (&reader);
  file->body = offset[INDEX_BODY];
  file->body_end = offset[INDEX_HEADER];
  file->footer = offset[INDEX_FOOTER];
  file->sizes = offset[INDEX_SIZES];
  if (file->body == 0 || file->body_end == 0 || !part_fits (file, file->body, BIAS_BYTES) ||
      !part_fits (file, file->body_end, 3) || !part_fits (file, file->footer, FOOTER_BYTES) ||
      !part_fits (file, file->sizes, 4) || file->body_end < file->body + BIAS_BYTES)
    return fail (file, at, "the index points beyond the file, or to parts in the wrong order",
                 error);
  file->body += BIAS_BYTES;
  return TRUE;
}

static gboolean
read_header (DumpiFile *file, GError **error)
{
  DumpiReader reader = { file->data, file->body_end, file->size, FALSE };
  uint32_t major = dumpi_read_u1 (&reader);
  uint32_t minor = dumpi_read_u1 (&reader);
  uint32_t patch = dumpi_read_u1 (&reader);

  file->version = DUMPI_VERSION (major, minor, patch);
  if (file->footer != 0) {
    reader.at = file->footer;
    if (dumpi_read_i8 (&reader) != FOOTER_MAGIC)
      return fail (file, file->footer, "the footer does not begin as footers do", error);
  }
  return TRUE;
}

/* The process died before it wrote the index.  The version is not known
 * either; layouts have not changed since 2011. */
static void
prepare_salvage (DumpiFile *file)
{
  file->salvage = TRUE;
  file->version = DUMPI_VERSION (13, 0, 0);
  file->body = MIN (MAGIC_BYTES + BIAS_BYTES, file->size);
  file->body_end = file->size;
}

DumpiFile *
dumpi_file_open (const char *path, GError **error)
{
  g_autoptr (DumpiFile) file = g_new0 (DumpiFile, 1);
  guint n;

  file->name = g_path_get_basename (path);
  file->bytes = trace_file_load (path, error);
  if (file->bytes == NULL)
    return NULL;
  file->data = g_bytes_get_data (file->bytes, &file->size);
  if (file->size < MAGIC_BYTES || memcmp (file->data, magic, MAGIC_BYTES) != 0) {
    fail (file, 0, "does not begin as DUMPI files do", error);
    return NULL;
  }
  n = find_index (file);
  if (n == 0)
    prepare_salvage (file);
  else if (!read_index (file, n, error) || !read_header (file, error))
    return NULL;
  return g_steal_pointer (&file);
}

void
dumpi_file_close (DumpiFile *file)
{
  if (file == NULL)
    return;
  g_bytes_unref (file->bytes);
  g_free (file->name);
  g_free (file);
}

gboolean
dumpi_file_counts (const DumpiFile *file, uint32_t id, uint64_t *made, uint64_t *ignored)
{
  DumpiReader reader = { file->data, file->footer + 8 + 4 * (gsize) id, file->size, FALSE };

  if (file->footer == 0 || id >= DUMPI_N_COUNTS)
    return FALSE;
  *made = dumpi_read_u4 (&reader);
  reader.at = file->footer + 8 + 4 * ((gsize) DUMPI_N_COUNTS + id);
  *ignored = dumpi_read_u4 (&reader);
  return TRUE;
}
