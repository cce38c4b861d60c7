/* recording.c - what `hopcast trace record` leaves: a folder with a file for
 * each rank.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/recorder/recording.h"

#include "traces/trace_file.h"
#include "traces/format.h"
#include "traces/recorder/recording_file.h"

#include <string.h>

/* Files that are opened just to see how many there are. */
#define MAX_RANKS (1u << 24)

typedef struct {
  Trace *trace;
  uint32_t n_ranks;
  GPtrArray *files; /* borrowed from the trace; in rank order */
  RecordingStrings strings;
} State;

typedef struct {
  State *state;
  uint32_t rank;
  RecordingFile *file;
  TraceOp pending; /* an operation whose computation was handed out */
  gboolean has_pending, has_finalize, ended;
  char *place;
} Cursor;

static gboolean
probe (const char *path G_GNUC_UNUSED, const guint8 *head, gsize n)
{
  return n >= RECORDING_MAGIC_SIZE && memcmp (head, RECORDING_MAGIC, RECORDING_MAGIC_SIZE) == 0;
}

static void
close_state (gpointer data)
{
  State *state = data;

  recording_strings_clear (&state->strings);
  g_free (state);
}

/* Of the rank whose file was named, as anyone's is as good. */
static gboolean
read_ranks (State *state, const char *path, GError **error)
{
  g_autoptr (RecordingFile) file = recording_file_open (path, &state->strings, error);
  g_autofree char *note = NULL;
  const char *counters;

  if (file == NULL || !recording_file_number (file, "ranks", MAX_RANKS, &state->n_ranks, error))
    return FALSE;
  if (state->n_ranks == 0) {
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_RANGE, "%s: a recording of no ranks", path);
    return FALSE;
  }
  counters = recording_file_key (file, "counters");
  if (counters != NULL && g_str_has_prefix (counters, "none")) {
    note = g_strconcat ("no hardware counters", counters + strlen ("none"), NULL);
    trace_note (state->trace, note);
  }
  return TRUE;
}

static gboolean
find_files (State *state, const char *folder, GError **error)
{
  for (uint32_t rank = 0; rank < state->n_ranks; rank++) {
    g_autofree char *name = g_strdup_printf (RECORDING_FILE, rank);
    g_autofree char *path = g_build_filename (folder, name, NULL);
    char *found = trace_file_find (path);

    if (found == NULL) {
      g_set_error (error, TRACE_ERROR, TRACE_ERROR_OPEN,
                   "%s: the file of rank %u is missing; the recording has %u ranks", path, rank,
                   state->n_ranks);
      return FALSE;
    }
    g_ptr_array_add (state->files, found);
  }
  return TRUE;
}

static gpointer
open_trace (Trace *trace, const char *path, const TraceOptions *options, uint32_t *n_ranks,
            GPtrArray *files, GError **error)
{
  State *state = g_new0 (State, 1);
  g_autofree char *folder = g_path_get_dirname (path);

  state->trace = trace;
  state->files = files;
  recording_strings_init (&state->strings);
  if (!trace_refuse_region (path, options, error) || !read_ranks (state, path, error) ||
      !find_files (state, folder, error)) {
    close_state (state);
    return NULL;
  }
  *n_ranks = state->n_ranks;
  return state;
}

static void
cursor_free (gpointer data)
{
  Cursor *cursor = data;

  recording_file_close (cursor->file);
  g_free (cursor->place);
  g_free (cursor);
}

static gboolean
check_whose (const State *state, uint32_t rank, const RecordingFile *file, GError **error)
{
  uint32_t said_rank, said_ranks;

  if (!recording_file_number (file, "rank", G_MAXUINT32, &said_rank, error) ||
      !recording_file_number (file, "ranks", G_MAXUINT32, &said_ranks, error))
    return FALSE;
  if (said_rank == rank && said_ranks == state->n_ranks)
    return TRUE;
  g_set_error (
      error, TRACE_ERROR, TRACE_ERROR_RANGE, "%s: says that it is of rank %u of %u, not %u of %u",
      (const char *) state->files->pdata[rank], said_rank, said_ranks, rank, state->n_ranks);
  return FALSE;
}

static gpointer
cursor_new (gpointer data, uint32_t rank, GError **error)
{
  State *state = data;
  g_autoptr (RecordingFile) file =
      recording_file_open (state->files->pdata[rank], &state->strings, error);
  Cursor *cursor;

  if (file == NULL || !check_whose (state, rank, file, error))
    return NULL;
  cursor = g_new0 (Cursor, 1);
  cursor->state = state;
  cursor->rank = rank;
  cursor->file = g_steal_pointer (&file);
  return cursor;
}

static TraceNext
end_of_stream (Cursor *cursor)
{
  cursor->ended = TRUE;
  if (cursor->has_finalize && !recording_file_is_cut (cursor->file))
    return TRACE_NEXT_END;
  trace_warn (cursor->state->trace, "no MPI_Finalize: some ranks were ended before, and what they "
                                    "did last may be missing");
  return TRACE_NEXT_END;
}

static TraceNext
cursor_next (gpointer data, TraceOp *op, GError **error)
{
  Cursor *cursor = data;
  TraceOp compute;
  TraceNext next;

  if (cursor->ended)
    return TRACE_NEXT_END;
  if (cursor->has_pending) {
    *op = cursor->pending;
    cursor->has_pending = FALSE;
    return TRACE_NEXT_OPERATION;
  }
  next = recording_file_next (cursor->file, &compute, op, error);
  if (next == TRACE_NEXT_END)
    return end_of_stream (cursor);
  if (next == TRACE_NEXT_ERROR)
    return next;
  cursor->has_finalize |= op->kind == TRACE_OP_FINALIZE;
  if (compute.kind != TRACE_OP_COMPUTE)
    return TRACE_NEXT_OPERATION;
  cursor->pending = *op;
  cursor->has_pending = TRUE;
  compute.name = trace_op_name (TRACE_OP_COMPUTE);
  compute.site = op->site;
  compute.comm = TRACE_COMM_WORLD;
  compute.matched_source = TRACE_ANY_SOURCE;
  compute.root = TRACE_NO_ROOT;
  *op = compute;
  return TRACE_NEXT_OPERATION;
}

static const char *
cursor_place (gpointer data)
{
  Cursor *cursor = data;
  g_autofree char *base = g_path_get_basename (cursor->state->files->pdata[cursor->rank]);

  g_free (cursor->place);
  cursor->place =
      g_strdup_printf ("%s:0x%" G_GOFFSET_MODIFIER "x", base, recording_file_offset (cursor->file));
  return cursor->place;
}

const TraceFormat trace_format_recording = {
  .name = "recording",
  .summary = "a recording: a folder made by hopcast trace record",
  .probe = probe,
  .open = open_trace,
  .close = close_state,
  .cursor_new = cursor_new,
  .cursor_free = cursor_free,
  .cursor_next = cursor_next,
  .cursor_place = cursor_place,
  .call_counts = trace_no_call_counts,
};
