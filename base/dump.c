/* dump.c - the state of a program in a file, written and read by the same functions.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/dump.h"

#include "base/error.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#define BUFFER_BYTES ((size_t) 64 << 10)
#define BLOCK_BYTES  ((size_t) 4096)

typedef struct {
  uint64_t length; /* of all before the trailer */
  uint32_t checksum;
  char end[4];
} Trailer;

G_STATIC_ASSERT (sizeof (Trailer) == 16);

static const char end_mark[4] = "END\n";

struct BaseDump {
  FILE *stream; /* owned by the dump when it loads */
  bool loads;
  char *path; /* of one that loads */
  uint8_t *buffer;
  size_t n, at;    /* bytes in it; of one that loads, the next */
  uint64_t left;   /* loads: bytes before the trailer that are not in the buffer yet */
  uint64_t length; /* saves: bytes written, those in the buffer apart */
  uint32_t checksum;
  GError *error;
};

/* --- Life --- */

static BaseDump *
dump_new (FILE *stream, bool loads)
{
  BaseDump *dump = g_new0 (BaseDump, 1);

  dump->stream = stream;
  dump->loads = loads;
  dump->buffer = g_malloc (BUFFER_BYTES);
  dump->checksum = (uint32_t) crc32_z (0, NULL, 0);
  return dump;
}

void
base_dump_free (BaseDump *dump)
{
  if (dump == NULL)
    return;
  if (dump->loads)
    fclose (dump->stream);
  g_clear_error (&dump->error);
  g_free (dump->buffer);
  g_free (dump->path);
  g_free (dump);
}

bool
base_dump_loads (const BaseDump *dump)
{
  return dump->loads;
}

bool
base_dump_has_failed (const BaseDump *dump)
{
  return dump->error != NULL;
}

void
base_dump_fail (BaseDump *dump, const char *format, ...)
{
  g_autofree char *text = NULL;
  va_list arguments;

  if (dump->error != NULL)
    return;
  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error (&dump->error, BASE_ERROR, BASE_ERROR_DUMP, "%s%s%s",
               dump->path == NULL ? "" : dump->path, dump->path == NULL ? "" : ": ", text);
}

/* --- Saving --- */

static void
write_out (BaseDump *dump, const void *bytes, size_t n)
{
  dump->checksum = (uint32_t) crc32_z (dump->checksum, bytes, n);
  dump->length += n;
  if (dump->error == NULL && fwrite (bytes, 1, n, dump->stream) != n)
    base_dump_fail (dump, "cannot write: %s", g_strerror (errno));
}

static void
save_bytes (BaseDump *dump, const void *bytes, size_t n)
{
  if (n > BUFFER_BYTES - dump->n) {
    write_out (dump, dump->buffer, dump->n);
    dump->n = 0;
  }
  if (n >= BUFFER_BYTES) {
    write_out (dump, bytes, n);
    return;
  }
  if (n == 0) /* nothing may be at NULL */
    return;
  memcpy (dump->buffer + dump->n, bytes, n);
  dump->n += n;
}

BaseDump *
base_dump_save (FILE *stream, const char *kind)
{
  BaseDump *dump = dump_new (stream, false);

  save_bytes (dump, kind, strlen (kind));
  save_bytes (dump, "\n", 1);
  return dump;
}

/* --- Loading --- */

static bool
read_in (BaseDump *dump, void *bytes, size_t n)
{
  if (fread (bytes, 1, n, dump->stream) == n)
    return true;
  base_dump_fail (dump, "%s", ferror (dump->stream) ? g_strerror (errno) : "ends early");
  return false;
}

static void
load_bytes (BaseDump *dump, void *bytes, size_t n)
{
  size_t here = MIN (n, dump->n - dump->at);

  if (dump->error == NULL && n - here > dump->left)
    base_dump_fail (dump, "has less than it should");
  if (dump->error != NULL) {
    memset (bytes, 0, n);
    return;
  }
  memcpy (bytes, dump->buffer + dump->at, here);
  dump->at += here;
  if (here == n)
    return;
  bytes = (uint8_t *) bytes + here;
  n -= here;
  dump->n = dump->at = 0;
  if (n >= BUFFER_BYTES) {
    dump->left -= n;
    if (!read_in (dump, bytes, n))
      memset (bytes, 0, n);
    return;
  }
  dump->n = (size_t) MIN (dump->left, BUFFER_BYTES);
  dump->left -= dump->n;
  if (!read_in (dump, dump->buffer, dump->n)) {
    dump->n = 0;
    memset (bytes, 0, n);
    return;
  }
  memcpy (bytes, dump->buffer, n);
  dump->at = n;
}

/* Reads all of the file once.  Whatever is wrong with it is said in this order: it is no such file,
 * it is not whole, it is not as it was written. */
static gboolean
check_file (BaseDump *dump, const char *kind)
{
  size_t kind_bytes = strlen (kind);
  g_autofree char *head = g_malloc (kind_bytes + 1);
  struct stat status;
  Trailer trailer;
  uint64_t left;

  if (fstat (fileno (dump->stream), &status) != 0 || !S_ISREG (status.st_mode)) {
    base_dump_fail (dump, "is not a file");
    return FALSE;
  }
  if ((uint64_t) status.st_size < kind_bytes + 1 || !read_in (dump, head, kind_bytes + 1) ||
      memcmp (head, kind, kind_bytes) != 0 || head[kind_bytes] != '\n') {
    base_dump_fail (dump, "is not a %s", kind);
    return FALSE;
  }
  if (fseeko (dump->stream, (off_t) - sizeof trailer, SEEK_END) != 0 ||
      !read_in (dump, &trailer, sizeof trailer) ||
      memcmp (trailer.end, end_mark, sizeof end_mark) != 0 ||
      trailer.length != (uint64_t) status.st_size - sizeof trailer) {
    base_dump_fail (dump, "is torn: it is not there to its end");
    return FALSE;
  }
  rewind (dump->stream);
  for (left = trailer.length; left > 0;) {
    size_t n = (size_t) MIN (left, BUFFER_BYTES);

    if (!read_in (dump, dump->buffer, n))
      return FALSE;
    dump->checksum = (uint32_t) crc32_z (dump->checksum, dump->buffer, n);
    left -= n;
  }
  if (dump->checksum != trailer.checksum) {
    base_dump_fail (dump, "is damaged: its checksum is %08x, not %08x", dump->checksum,
                    trailer.checksum);
    return FALSE;
  }
  dump->left = trailer.length - (kind_bytes + 1);
  return fseeko (dump->stream, (off_t) kind_bytes + 1, SEEK_SET) == 0;
}

BaseDump *
base_dump_load (const char *path, const char *kind, GError **error)
{
  FILE *stream = fopen (path, "rbe");
  g_autoptr (BaseDump) dump = NULL;

  if (stream == NULL) {
    g_set_error (error, G_FILE_ERROR, g_file_error_from_errno (errno), "%s: %s", path,
                 g_strerror (errno));
    return NULL;
  }
  dump = dump_new (stream, true);
  dump->path = g_strdup (path);
  if (check_file (dump, kind))
    return g_steal_pointer (&dump);
  g_propagate_error (error, g_steal_pointer (&dump->error));
  return NULL;
}

/* --- Values --- */

void
base_dump_bytes (BaseDump *dump, void *bytes, size_t n)
{
  if (n == 0)
    return;
  if (dump->loads)
    load_bytes (dump, bytes, n);
  else
    save_bytes (dump, bytes, n);
}

void
base_dump_section (BaseDump *dump, const char *name)
{
  char mark[16] = "", found[sizeof mark];

  g_assert (strlen (name) < sizeof mark);
  memcpy (mark, name, strlen (name));
  memcpy (found, mark, sizeof mark);
  base_dump_bytes (dump, found, sizeof found);
  if (memcmp (found, mark, sizeof mark) != 0)
    base_dump_fail (dump, "its part \"%s\" is not where this program has it", name);
}

uint64_t
base_dump_count (BaseDump *dump, uint64_t n, size_t size)
{
  uint64_t header[2] = { n, size };

  BASE_DUMP_VALUE (dump, header);
  if (!dump->loads)
    return n;
  if (header[1] != size)
    base_dump_fail (dump, "has records of %" G_GUINT64_FORMAT " bytes where this program has %zu",
                    header[1], size);
  else if (size > 0 && header[0] > (dump->left + dump->n - dump->at) / size)
    base_dump_fail (dump, "has less than it should");
  return dump->error == NULL ? header[0] : 0;
}

static bool
is_zero (const uint8_t *bytes, size_t n)
{
  return bytes[0] == 0 && memcmp (bytes, bytes + 1, n - 1) == 0;
}

void
base_dump_array (BaseDump *dump, void *records, uint64_t n, size_t size)
{
  uint8_t *bytes = records;
  size_t n_bytes = n * size;
  uint64_t header[2] = { n, size };

  BASE_DUMP_VALUE (dump, header);
  if (header[0] != n || header[1] != size)
    base_dump_fail (dump,
                    "has %" G_GUINT64_FORMAT " records of %" G_GUINT64_FORMAT
                    " bytes where this program has %" G_GUINT64_FORMAT " of %zu",
                    header[0], header[1], n, size);
  /* 64 blocks at a time: which of them are not zero, then these. */
  for (size_t first = 0; first < n_bytes; first += 64 * BLOCK_BYTES) {
    uint64_t filled = 0;

    for (uint32_t block = 0; block < 64 && !dump->loads; block++) {
      size_t at = first + block * BLOCK_BYTES;

      if (at < n_bytes && !is_zero (bytes + at, MIN (BLOCK_BYTES, n_bytes - at)))
        filled |= UINT64_C (1) << block;
    }
    BASE_DUMP_VALUE (dump, filled);
    for (uint32_t block = 0; block < 64; block++) {
      size_t at = first + block * BLOCK_BYTES;

      if (at >= n_bytes)
        break;
      if ((filled >> block & 1) != 0)
        base_dump_bytes (dump, bytes + at, MIN (BLOCK_BYTES, n_bytes - at));
      else if (dump->loads)
        memset (bytes + at, 0, MIN (BLOCK_BYTES, n_bytes - at));
    }
  }
}

gpointer
base_dump_entry (BaseDump *dump, GHashTableIter *entries, size_t size)
{
  gpointer value = NULL;

  if (dump->loads)
    return g_malloc0 (size);
  g_hash_table_iter_next (entries, NULL, &value);
  return value;
}

void
base_dump_list (BaseDump *dump, void **records, uint32_t *n, uint32_t *capacity, size_t size)
{
  uint32_t found = (uint32_t) base_dump_count (dump, *n, size);

  if (dump->loads) {
    g_free (*records);
    *records = found == 0 ? NULL : g_malloc_n (found, size);
    *n = *capacity = found;
  }
  base_dump_bytes (dump, *records, found * size);
}

void
base_dump_garray (BaseDump *dump, GArray *array)
{
  guint size = g_array_get_element_size (array);
  uint32_t n = (uint32_t) base_dump_count (dump, array->len, size);

  if (dump->loads)
    g_array_set_size (array, n);
  base_dump_bytes (dump, array->data, (size_t) n * size);
}

void
base_dump_text (BaseDump *dump, char **text)
{
  bool has_text = *text != NULL;
  uint64_t n;

  BASE_DUMP_VALUE (dump, has_text);
  n = base_dump_count (dump, has_text && !dump->loads ? strlen (*text) : 0, 1);
  if (dump->loads) {
    g_free (*text);
    *text = has_text ? g_malloc0 (n + 1) : NULL;
  }
  if (has_text)
    base_dump_bytes (dump, *text, n);
}

/* --- The end --- */

gboolean
base_dump_end (BaseDump *dump, GError **error)
{
  if (dump->loads && dump->left + dump->n - dump->at > 0)
    base_dump_fail (dump, "has more than it should");
  if (!dump->loads) {
    Trailer trailer;

    write_out (dump, dump->buffer, dump->n);
    dump->n = 0;
    trailer = (Trailer){ .length = dump->length, .checksum = dump->checksum };
    memcpy (trailer.end, end_mark, sizeof end_mark);
    write_out (dump, &trailer, sizeof trailer);
  }
  if (dump->error == NULL)
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&dump->error));
  return FALSE;
}
