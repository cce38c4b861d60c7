/* trace.c - opens traces of any format, hands out their streams.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/trace.h"

#include "traces/trace_file.h"
#include "traces/format.h"
#include "traces/patterns/pattern.h"
#include "traces/recorder/recording.h"

#include <glib/gstdio.h>
#include <string.h>

/* Enough to see the first line of any text format. */
#define HEAD_BYTES 4096
/* Files of a folder that a message names. */
#define MAX_CANDIDATES 3u

/* In the order of probing. */
static const TraceFormat *const formats[] = {
  &trace_format_pattern, &trace_format_hct,     &trace_format_dumpi, &trace_format_recording,
  &trace_format_otf2,    &trace_format_paraver, &trace_format_goal,  &trace_format_ti,
};

struct Trace {
  char *path;
  const TraceFormat *format;
  gpointer state;
  uint32_t n_ranks;
  GPtrArray *files;    /* (element-type filename) */
  GPtrArray *notes;    /* (element-type utf8) */
  GPtrArray *warnings; /* (element-type utf8) */
  GHashTable *warned;  /* set of the strings in warnings */
  guint n_opened;      /* warnings that opening it found */
  GMutex lock;         /* of warnings and warned */
  char *hash;
  char *stamp; /* of the files that the hash is of; NULL before, and of patterns */
  gboolean is_graph;
  char *source_format, *source_hash; /* of the trace that it was converted from, or NULL */
  char *reading;                     /* options of reading that the hash covers; NULL: none */
  char *spec;                        /* of a generated trace; NULL: the files are the trace */
};

struct TraceCursor {
  const TraceFormat *format;
  gpointer state;
  uint64_t n_read;
};

Trace *
trace_open_as (const TraceFormat *format, const char *path, const TraceOptions *options,
               GError **error)
{
  static const TraceOptions defaults = { 0 };
  g_autoptr (Trace) trace = g_new0 (Trace, 1);

  if (options == NULL)
    options = &defaults;
  g_mutex_init (&trace->lock);
  trace->path = g_strdup (path);
  trace->format = format;
  trace->files = g_ptr_array_new_with_free_func (g_free);
  trace->notes = g_ptr_array_new_with_free_func (g_free);
  trace->warnings = g_ptr_array_new_with_free_func (g_free);
  trace->warned = g_hash_table_new (g_str_hash, g_str_equal);
  if (options->from_region != NULL || options->allow_lossy)
    trace->reading = g_strdup_printf ("\nregion %s\nlossy %d\n",
                                      options->from_region != NULL ? options->from_region : "",
                                      options->allow_lossy);
  trace->n_opened = G_MAXUINT;
  trace->state = format->open (trace, path, options, &trace->n_ranks, trace->files, error);
  trace->n_opened = trace->warnings->len;
  return trace->state != NULL ? g_steal_pointer (&trace) : NULL;
}

static gint
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(char *const *) a, *(char *const *) b);
}

/* (element-type filename) The likely traces for a folder: the anchor of the OTF2
 * archive whose events it holds, or the traces in it. */
static GPtrArray *
list_candidates (const char *folder)
{
  static const char *const endings[] = { ".otf2",   ".meta", ".meta.gz", ".prv",
                                         ".prv.gz", ".hct",  ".goal",    ".ti" };
  GPtrArray *paths = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *bare = g_build_filename (folder, "x", NULL);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  *strrchr (bare, G_DIR_SEPARATOR) = '\0';
  g_ptr_array_add (paths, g_strconcat (bare, ".otf2", NULL));
  if (g_file_test (paths->pdata[0], G_FILE_TEST_IS_REGULAR))
    return paths;
  g_ptr_array_set_size (paths, 0);
  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    for (guint i = 0; i < G_N_ELEMENTS (endings); i++)
      if (g_str_has_suffix (name, endings[i]))
        g_ptr_array_add (paths, g_build_filename (folder, name, NULL));
  g_ptr_array_sort (paths, compare_names);
  return paths;
}

Trace *
trace_open (const char *path, const TraceOptions *options, GError **error)
{
  g_autofree char *name = g_strdup_printf (RECORDING_FILE, 0u);
  g_autofree char *first = g_build_filename (path, name, NULL), *inside = NULL;
  const TraceFormat *format = NULL;
  const char *entry = path;
  guint8 head[HEAD_BYTES];
  gssize n = 0;
  Trace *trace;

  if (g_file_test (path, G_FILE_TEST_IS_DIR)) {
    /* A recording is opened by its file of rank 0. */
    entry = inside = trace_file_find (first);
    if (inside == NULL) {
      g_autoptr (GPtrArray) paths = list_candidates (path);
      g_autoptr (GString) advice = g_string_new (NULL);

      for (guint i = 0; i < MIN (paths->len, MAX_CANDIDATES); i++)
        g_string_append_printf (advice, "%s%s", i == 0 ? "; give " : " or ",
                                (const char *) paths->pdata[i]);
      if (paths->len > MAX_CANDIDATES)
        g_string_append (advice, " or another one in it");
      g_set_error (error, TRACE_ERROR, TRACE_ERROR_OPEN, "%s: is a folder, not a trace%s", path,
                   advice->str);
      return NULL;
    }
  }

  /* The spec of a pattern is not the name of a file. */
  if (!trace_pattern_is_spec (entry))
    n = trace_file_head (entry, head, sizeof head, error);
  if (n < 0)
    return NULL;
  for (guint i = 0; i < G_N_ELEMENTS (formats) && format == NULL; i++)
    if (formats[i]->probe (entry, head, (gsize) n))
      format = formats[i];
  if (format == NULL) {
    g_autoptr (GString) known = g_string_new (NULL);

    for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
      g_string_append_printf (known, "%s%s", i == 0 ? "" : "; ", formats[i]->summary);
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_FORMAT, "%s: not a trace that can be read (%s)",
                 entry, known->str);
    return NULL;
  }

  trace = trace_open_as (format, entry, options, error);
  if (trace != NULL && inside != NULL) {
    g_free (trace->path);
    trace->path = g_strdup (path);
  }
  return trace;
}

void
trace_free (Trace *trace)
{
  if (trace == NULL)
    return;
  if (trace->state != NULL)
    trace->format->close (trace->state);
  g_hash_table_unref (trace->warned);
  g_ptr_array_unref (trace->notes);
  g_ptr_array_unref (trace->warnings);
  g_ptr_array_unref (trace->files);
  g_mutex_clear (&trace->lock);
  g_free (trace->hash);
  g_free (trace->stamp);
  g_free (trace->source_format);
  g_free (trace->source_hash);
  g_free (trace->reading);
  g_free (trace->spec);
  g_free (trace->path);
  g_free (trace);
}

const char *
trace_path (const Trace *trace)
{
  return trace->path;
}

const char *
trace_format_name (const Trace *trace)
{
  return trace->format->name;
}

uint32_t
trace_ranks (const Trace *trace)
{
  return trace->n_ranks;
}

gboolean
trace_is_graph (const Trace *trace)
{
  return trace->is_graph;
}

void
trace_set_graph (Trace *trace)
{
  trace->is_graph = TRUE;
}

const char *
trace_source (const Trace *trace, const char **hash)
{
  if (hash != NULL)
    *hash = trace->source_hash;
  return trace->source_format;
}

void
trace_set_source (Trace *trace, const char *format, const char *hash)
{
  g_free (trace->source_format);
  g_free (trace->source_hash);
  trace->source_format = g_strdup (format);
  trace->source_hash = g_strdup (hash);
}

TraceCollectives
trace_collectives (const Trace *trace)
{
  TraceCollectives collectives = trace->format->collectives;
  GMutex *lock = (GMutex *) &trace->lock;

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    if (g_strcmp0 (formats[i]->name, trace->source_format) == 0)
      collectives = formats[i]->collectives;
  g_mutex_lock (lock);
  for (guint i = 0; i < trace->warnings->len; i++) {
    const char *warning = trace->warnings->pdata[i];

    if (strstr (warning, TRACE_WARNING_NO_COMMUNICATORS) != NULL)
      collectives = TRACE_COLLECTIVES_MIXED;
    if (strstr (warning, TRACE_WARNING_NO_SIZE) != NULL)
      collectives = MAX (collectives, TRACE_COLLECTIVES_WITHOUT_SIZES);
  }
  g_mutex_unlock (lock);
  return collectives;
}

void
trace_set_spec (Trace *trace, const char *spec)
{
  g_free (trace->spec);
  trace->spec = g_strdup (spec);
}

gboolean
trace_refuse_region (const char *path, const TraceOptions *options, GError **error)
{
  if (options->from_region == NULL)
    return TRUE;
  return TRACE_FAIL (TRACE_ERROR_OPEN, error,
                     "%s: this format has no regions, so nothing can start at \"%s\"", path,
                     options->from_region);
}

/* A text that differs when a file was written or replaced. */
static char *
files_stamp (const GPtrArray *files)
{
  g_autoptr (GString) stamp = g_string_new (NULL);

  for (guint i = 0; i < files->len; i++) {
    GStatBuf status = { 0 };

    if (g_stat (files->pdata[i], &status) == 0)
      g_string_append_printf (stamp, "%" G_GUINT64_FORMAT " %" G_GINT64_FORMAT " %ld.%09ld",
                              (guint64) status.st_ino, (gint64) status.st_size,
                              (long) status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
    g_string_append_c (stamp, '\n');
  }
  return g_string_free (g_steal_pointer (&stamp), FALSE);
}

gboolean
trace_is_unchanged (const Trace *trace)
{
  g_autofree char *stamp = trace->stamp != NULL ? files_stamp (trace->files) : NULL;

  return g_strcmp0 (stamp, trace->stamp) == 0;
}

const char *
trace_hash (Trace *trace, GError **error)
{
  g_autoptr (GChecksum) checksum = NULL;
  g_autofree char *stamp = NULL;

  if (trace->hash == NULL && trace->spec != NULL)
    trace->hash = g_compute_checksum_for_string (G_CHECKSUM_SHA256, trace->spec, -1);
  if (trace->hash != NULL)
    return trace->hash;
  checksum = g_checksum_new (G_CHECKSUM_SHA256);
  stamp = files_stamp (trace->files);
  for (guint i = 0; i < trace->files->len; i++)
    if (!trace_file_checksum (trace->files->pdata[i], checksum, error))
      return NULL;
  if (trace->reading != NULL)
    g_checksum_update (checksum, (const guchar *) trace->reading, -1);
  trace->hash = g_strdup (g_checksum_get_string (checksum));
  trace->stamp = g_steal_pointer (&stamp);
  return trace->hash;
}

const GPtrArray *
trace_warnings (const Trace *trace)
{
  return trace->warnings;
}

const GPtrArray *
trace_notes (const Trace *trace)
{
  return trace->notes;
}

void
trace_note (Trace *trace, const char *note)
{
  g_ptr_array_add (trace->notes, g_strdup (note));
}

void
trace_warn (Trace *trace, const char *format, ...)
{
  g_autofree char *message = NULL;
  va_list arguments;

  va_start (arguments, format);
  message = g_strdup_vprintf (format, arguments);
  va_end (arguments);

  g_mutex_lock (&trace->lock);
  if (!g_hash_table_contains (trace->warned, message)) {
    guint place = trace->warnings->len;

    /* Streams are read in any order. */
    while (place > trace->n_opened && strcmp (message, trace->warnings->pdata[place - 1]) < 0)
      place--;
    g_hash_table_add (trace->warned, message);
    g_ptr_array_insert (trace->warnings, (gint) place, g_steal_pointer (&message));
  }
  g_mutex_unlock (&trace->lock);
}

void
trace_set_warnings (Trace *trace, const GPtrArray *warnings)
{
  g_hash_table_remove_all (trace->warned);
  g_ptr_array_set_size (trace->warnings, 0);
  for (guint i = 0; i < warnings->len; i++)
    trace_warn (trace, "%s", (const char *) warnings->pdata[i]);
}

TraceCursor *
trace_cursor_new (Trace *trace, uint32_t rank, GError **error)
{
  TraceCursor *cursor;
  gpointer state;

  if (rank >= trace->n_ranks) {
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_RANGE, "%s: no rank %u among %u", trace->path,
                 rank, trace->n_ranks);
    return NULL;
  }
  state = trace->format->cursor_new (trace->state, rank, error);
  if (state == NULL)
    return NULL;
  cursor = g_new (TraceCursor, 1);
  *cursor = (TraceCursor){ trace->format, state, 0 };
  return cursor;
}

void
trace_cursor_free (TraceCursor *cursor)
{
  if (cursor == NULL)
    return;
  cursor->format->cursor_free (cursor->state);
  g_free (cursor);
}

TraceNext
trace_cursor_next (TraceCursor *cursor, TraceOp *op, GError **error)
{
  TraceNext next = cursor->format->cursor_next (cursor->state, op, error);

  cursor->n_read += next == TRACE_NEXT_OPERATION;
  return next;
}

uint64_t
trace_cursor_count (const TraceCursor *cursor)
{
  return cursor->n_read;
}

const char *
trace_cursor_place (TraceCursor *cursor)
{
  return cursor->format->cursor_place (cursor->state);
}
