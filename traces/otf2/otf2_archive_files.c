/* otf2_archive_files.c - the files of an OTF2 archive, and whether they are whole.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/otf2/otf2_archive.h"

#include "traces/trace_file.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>

/* The marks of the end of a chunk and of a file, which files of all versions
 * and writers seen so far end with; an anchor has a zero behind them.  Some
 * files have been through a tool that ends each with a new line. */
static const guint8 end_marks[] = { 2, 1 };

static gboolean
has_end (const guint8 *tail, gsize n)
{
  if (tail[n - 1] == '\n')
    n--;
  if (tail[n - 1] == '\0')
    n--;
  return memcmp (tail + n - 2, end_marks, 2) == 0;
}

static char *
without_ending (const char *anchor)
{
  gsize n = strlen (anchor);

  return g_strndup (anchor, g_str_has_suffix (anchor, ".otf2") ? n - 5 : n);
}

static char *
location_path (const char *anchor, uint64_t location, const char *ending)
{
  g_autofree char *stem = without_ending (anchor);

  return g_strdup_printf ("%s%c%" G_GUINT64_FORMAT "%s", stem, G_DIR_SEPARATOR, location, ending);
}

char *
otf2_archive_events_path (const char *anchor, uint64_t location)
{
  return location_path (anchor, location, ".evt");
}

char *
otf2_archive_definitions_path (const char *anchor, uint64_t location)
{
  return location_path (anchor, location, ".def");
}

char *
otf2_archive_global_path (const char *anchor)
{
  g_autofree char *stem = without_ending (anchor);

  return g_strconcat (stem, ".def", NULL);
}

gboolean
otf2_archive_check_file (const char *path, GError **error)
{
  guint8 tail[4] = { 0 };
  FILE *file = g_fopen (path, "rb");
  gboolean good;

  if (file == NULL) {
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_OPEN, "%s: %s", path, g_strerror (errno));
    return FALSE;
  }
  good = fseek (file, -(long) sizeof tail, SEEK_END) == 0 &&
         fread (tail, 1, sizeof tail, file) == sizeof tail && has_end (tail, sizeof tail);
  fclose (file);
  if (!good)
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_FORMAT, "%s: is cut short: its end is missing",
                 path);
  return good;
}

/* Where the three strings of an anchor begin (machine, creator, description),
 * which the number of properties follows, in 32 bits. */
#define STRINGS_AT 46
/* An anchor has a few hundred bytes. */
#define ANCHOR_BYTES 65536

/* libotf2 believes the number of properties: a wrong one keeps it busy for
 * minutes.  A property is two strings. */
static gboolean
properties_fit (const guint8 *anchor, gsize n)
{
  gsize at = STRINGS_AT;
  guint32 n_properties;

  for (guint i = 0; i < 3; i++) {
    const guint8 *end = at < n ? memchr (anchor + at, '\0', n - at) : NULL;

    if (end == NULL)
      return FALSE;
    at = (gsize) (end - anchor) + 1;
  }
  if (n - at < sizeof n_properties)
    return FALSE;
  memcpy (&n_properties, anchor + at, sizeof n_properties);
  n_properties = anchor[1] == 'B' ? GUINT32_FROM_LE (n_properties) : GUINT32_FROM_BE (n_properties);
  return n_properties <= (n - at) / 2;
}

gboolean
otf2_archive_check_anchor (const char *path, GError **error)
{
  g_autofree guint8 *anchor = g_malloc (ANCHOR_BYTES);
  gssize n = trace_file_head (path, anchor, ANCHOR_BYTES, error);

  if (n < 0 || !otf2_archive_check_file (path, error))
    return FALSE;
  if (properties_fit (anchor, (gsize) n))
    return TRUE;
  g_set_error (error, TRACE_ERROR, TRACE_ERROR_FORMAT,
               "%s: has more properties than it has room for", path);
  return FALSE;
}
