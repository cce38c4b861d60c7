/* trace.c - opens traces of any format, hands out their streams.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/trace.h"

#include "traces/file.h"
#include "traces/format.h"

/* Enough to see the first line of any text format. */
#define HEAD_BYTES 4096

/* In the order in which they are asked. */
static const TraceFormat *const formats[] = {
  &trace_format_dumpi,
  &trace_format_ti,
};

struct Trace {
  char *path;
  const TraceFormat *format;
  gpointer state;
  uint32_t n_ranks;
  GPtrArray *files;    /* (element-type filename) */
  GPtrArray *warnings; /* (element-type utf8) */
  GHashTable *warned;  /* set of the strings in warnings */
  GMutex lock;         /* of warnings and warned */
  char *hash;
};

struct TraceCursor {
  const TraceFormat *format;
  gpointer state;
};

GQuark
trace_error_quark (void)
{
  return g_quark_from_static_string ("trace-error-quark");
}

static const TraceFormat *
find_format (const char *path, GError **error)
{
  guint8 head[HEAD_BYTES];
  gssize n = trace_file_head (path, head, sizeof head, error);
  g_autoptr (GString) known = NULL;

  if (n < 0)
    return NULL;
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    if (formats[i]->probe (path, head, (gsize) n))
      return formats[i];

  known = g_string_new (NULL);
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    g_string_append_printf (known, "%s%s", i == 0 ? "" : "; ", formats[i]->summary);
  g_set_error (error, TRACE_ERROR, TRACE_ERROR_FORMAT, "%s: not a trace that can be read (%s)",
               path, known->str);
  return NULL;
}

Trace *
trace_open (const char *path, uint32_t n_ranks_hint, GError **error)
{
  const TraceFormat *format = find_format (path, error);
  g_autoptr (Trace) trace = NULL;

  if (format == NULL)
    return NULL;
  trace = g_new0 (Trace, 1);
  g_mutex_init (&trace->lock);
  trace->path = g_strdup (path);
  trace->format = format;
  trace->files = g_ptr_array_new_with_free_func (g_free);
  trace->warnings = g_ptr_array_new_with_free_func (g_free);
  trace->warned = g_hash_table_new (g_str_hash, g_str_equal);
  trace->state = format->open (trace, path, n_ranks_hint, &trace->n_ranks, trace->files, error);
  return trace->state != NULL ? g_steal_pointer (&trace) : NULL;
}

void
trace_free (Trace *trace)
{
  if (trace == NULL)
    return;
  if (trace->state != NULL)
    trace->format->close (trace->state);
  g_hash_table_unref (trace->warned);
  g_ptr_array_unref (trace->warnings);
  g_ptr_array_unref (trace->files);
  g_mutex_clear (&trace->lock);
  g_free (trace->hash);
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

const char *
trace_hash (Trace *trace, GError **error)
{
  g_autoptr (GChecksum) checksum = NULL;

  if (trace->hash != NULL)
    return trace->hash;
  checksum = g_checksum_new (G_CHECKSUM_SHA256);
  for (guint i = 0; i < trace->files->len; i++)
    if (!trace_file_checksum (trace->files->pdata[i], checksum, error))
      return NULL;
  trace->hash = g_strdup (g_checksum_get_string (checksum));
  return trace->hash;
}

const GPtrArray *
trace_warnings (const Trace *trace)
{
  return trace->warnings;
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
    g_hash_table_add (trace->warned, message);
    g_ptr_array_add (trace->warnings, g_steal_pointer (&message));
  }
  g_mutex_unlock (&trace->lock);
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
  *cursor = (TraceCursor){ trace->format, state };
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
  return cursor->format->cursor_next (cursor->state, op, error);
}

const char *
trace_cursor_place (TraceCursor *cursor)
{
  return cursor->format->cursor_place (cursor->state);
}

GArray *
trace_call_counts (Trace *trace, uint32_t rank, GError **error)
{
  g_autoptr (GArray) counts = g_array_new (FALSE, FALSE, sizeof (TraceCallCount));

  if (rank >= trace->n_ranks) {
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_RANGE, "%s: no rank %u among %u", trace->path,
                 rank, trace->n_ranks);
    return NULL;
  }
  if (!trace->format->call_counts (trace->state, rank, counts, error))
    return NULL;
  return g_steal_pointer (&counts);
}
