/* paraver.c - the Paraver format of the BSC tools: files and streams.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A trace is NAME.prv, with NAME.pcf beside it that says what its numbers
 * mean; each may be gzip.  The .prv has all ranks in one file in the order of
 * time and is read as a whole when it is opened; see paraver_format.h. */
#include "traces/trace_file.h"
#include "traces/paraver/paraver_format.h"

#include <string.h>

typedef struct {
  ParaverState *state;
  ParaverOps *ops;
  char *place;
} ParaverCursor;

static gboolean
probe (const char *path, const guint8 *head, gsize n)
{
  static const char magic[] = "#Paraver ";

  (void) path;
  return n >= sizeof magic - 1 && memcmp (head, magic, sizeof magic - 1) == 0;
}

/* The .pcf beside a .prv, or NULL. */
static char *
find_pcf (const char *path)
{
  g_autofree char *stem = g_strdup (path), *pcf = NULL;

  if (g_str_has_suffix (stem, ".gz"))
    stem[strlen (stem) - 3] = '\0';
  if (g_str_has_suffix (stem, ".prv"))
    stem[strlen (stem) - 4] = '\0';
  pcf = g_strconcat (stem, ".pcf", NULL);
  return trace_file_find (pcf);
}

static void
close_state (gpointer data)
{
  ParaverState *state = data;

  for (uint32_t rank = 0; state->ranks != NULL && rank < state->n_ranks; rank++) {
    g_array_unref (state->ranks[rank].calls);
    g_array_unref (state->ranks[rank].deeds);
  }
  g_free (state->ranks);
  if (state->messages != NULL)
    g_array_unref (state->messages);
  paraver_header_clear (&state->header);
  paraver_meaning_free (state->meaning);
  g_free (state->name);
  g_free (state);
}

static gboolean
read_all (ParaverState *state, const char *path, const char *pcf, GError **error)
{
  g_autoptr (ParaverText) text = paraver_text_open (path, error);

  if (text == NULL || !paraver_header_read (text, &state->header, error))
    return FALSE;
  state->meaning = paraver_meaning_new (state->trace, pcf, error);
  if (state->meaning == NULL || !paraver_records_read (state, text, error))
    return FALSE;
  paraver_messages_match (state);
  return paraver_collectives_match (state, error);
}

static gpointer
open_trace (Trace *trace, const char *path, const TraceOptions *options, uint32_t *n_ranks,
            GPtrArray *files, GError **error)
{
  g_autofree char *pcf = find_pcf (path);
  ParaverState *state;

  if (!trace_refuse_region (path, options, error))
    return NULL;
  state = g_new0 (ParaverState, 1);
  state->trace = trace;
  state->options = options;
  state->world = PARAVER_NONE;
  state->name = g_path_get_basename (path);
  if (!read_all (state, path, pcf, error)) {
    close_state (state);
    return NULL;
  }
  state->options = NULL;
  *n_ranks = state->n_ranks;
  g_ptr_array_add (files, g_strdup (path));
  if (pcf != NULL)
    g_ptr_array_add (files, g_steal_pointer (&pcf));
  return state;
}

static gpointer
cursor_new (gpointer data, uint32_t rank, GError **error)
{
  ParaverCursor *cursor = g_new0 (ParaverCursor, 1);

  (void) error;
  cursor->state = data;
  cursor->ops = paraver_ops_new (data, rank);
  return cursor;
}

static void
cursor_free (gpointer data)
{
  ParaverCursor *cursor = data;

  paraver_ops_free (cursor->ops);
  g_free (cursor->place);
  g_free (cursor);
}

static TraceNext
cursor_next (gpointer data, TraceOp *op, GError **error)
{
  ParaverCursor *cursor = data;

  (void) error;
  return paraver_ops_next (cursor->ops, op) ? TRACE_NEXT_OPERATION : TRACE_NEXT_END;
}

static const char *
cursor_place (gpointer data)
{
  ParaverCursor *cursor = data;

  g_free (cursor->place);
  cursor->place = g_strdup_printf ("%s:%" G_GUINT64_FORMAT, cursor->state->name,
                                   paraver_ops_line (cursor->ops));
  return cursor->place;
}

const TraceFormat trace_format_paraver = {
  .name = "paraver",
  .summary = "Paraver: a .prv file with a .pcf file beside it",
  .collectives = TRACE_COLLECTIVES_WITHOUT_SIZES,
  .probe = probe,
  .open = open_trace,
  .close = close_state,
  .cursor_new = cursor_new,
  .cursor_free = cursor_free,
  .cursor_next = cursor_next,
  .cursor_place = cursor_place,
  .call_counts = trace_no_call_counts,
};
