/* otf2.c - Open Trace Format 2: archives and streams.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * An archive is an anchor X.otf2, X.def with the shared definitions, and in
 * the folder X an event file and its own definitions per location.  An MPI
 * rank is one location; see otf2_definitions.h. */
#include "traces/trace_file.h"
#include "traces/format.h"
#include "traces/otf2/otf2_private.h"

#include <string.h>

/* --- The files of an archive by their beginnings --- */

/* All files of an archive begin with 3 and the mark of the byte order; in an
 * anchor the name of the format follows. */
static gboolean
is_part (const guint8 *head, gsize n)
{
  return n >= 7 && head[0] == 3 && (head[1] == 'B' || head[1] == '#');
}

static gboolean
is_anchor (const guint8 *head, gsize n)
{
  return is_part (head, n) && memcmp (head + 2, "OTF2", 4) == 0;
}

static gboolean
has_part_name (const char *path)
{
  return g_str_has_suffix (path, ".def") || g_str_has_suffix (path, ".evt");
}

static gboolean
probe (const char *path, const guint8 *head, gsize n)
{
  return is_anchor (head, n) || (is_part (head, n) && has_part_name (path)) ||
         g_str_has_suffix (path, ".otf2");
}

#ifdef HAVE_OTF2

typedef struct {
  char *anchor;
  Otf2Definitions *definitions;
  Otf2Losses *losses; /* or NULL */
  Otf2Reading reading;
} State;

typedef struct {
  State *state;
  uint32_t rank;
  Otf2Stream *stream;
  Otf2Events *events;
  uint64_t ticks; /* of the last record */
  gboolean ended;
  char *place;
} Cursor;

static gboolean
check_anchor (const char *path, GError **error)
{
  guint8 head[8];
  gssize n = trace_file_head (path, head, sizeof head, error);

  if (n < 0)
    return FALSE;
  if (is_anchor (head, (gsize) n))
    return TRUE;
  if (is_part (head, (gsize) n) && has_part_name (path))
    return TRACE_FAIL (
        TRACE_ERROR_FORMAT, error,
        "%s: is a part of an OTF2 archive; open its anchor, the file that ends in .otf2", path);
  return TRACE_FAIL (TRACE_ERROR_FORMAT, error, "%s: is not the anchor of an OTF2 archive%s", path,
                     n == 0 ? ": it is empty" : "");
}

/* EZTrace, which writes plain sizes, also loses receives: all events are read
 * once to count them. */
static gboolean
count_losses (State *state, const TraceOptions *options, GError **error)
{
  Trace *trace = state->reading.trace;
  g_autoptr (GString) lost = g_string_new (NULL);
  const Otf2LossCounts *counts;

  state->losses = otf2_losses_new (state->definitions);
  for (uint32_t rank = 0; rank < otf2_definitions_ranks (state->definitions); rank++) {
    uint64_t location = otf2_definitions_location_of (state->definitions, rank);

    if (!otf2_losses_scan (state->losses, rank, otf2_archive_input (state->anchor, location),
                           error))
      return FALSE;
  }
  otf2_losses_match (state->losses);
  counts = otf2_losses_counts (state->losses);
  if (counts->lost + counts->sendrecvs + counts->collectives == 0) {
    g_clear_pointer (&state->losses, otf2_losses_free);
    return TRUE;
  }

  if (!options->allow_lossy) {
    if (counts->lost > 0)
      g_string_append_printf (lost,
                              "%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                              " nonblocking receives have neither source nor size",
                              counts->lost, counts->receives);
    if (counts->sendrecvs > 0)
      g_string_append_printf (lost, "%s%" G_GUINT64_FORMAT " MPI_Sendrecv have no messages",
                              lost->len > 0 ? ", " : "", counts->sendrecvs);
    if (counts->collectives > 0)
      g_string_append_printf (lost, "%s%" G_GUINT64_FORMAT " nonblocking collectives have no size",
                              lost->len > 0 ? ", " : "", counts->collectives);
    return TRACE_FAIL (TRACE_ERROR_LOST, error,
                       "%s: %s: EZTrace records what completes only in MPI_Wait with a status, and "
                       "nothing inside MPI_Sendrecv; record the program again with \"hopcast trace "
                       "record\", or guess with --allow-lossy",
                       state->anchor, lost->str);
  }

  trace_warn (trace,
              "lossy: %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
              " nonblocking receives had neither source nor size; %" G_GUINT64_FORMAT
              " got those of sends that nobody received, in turn; %" G_GUINT64_FORMAT
              " were left out; %" G_GUINT64_FORMAT " sends have no receive",
              counts->lost, counts->receives, counts->guessed, counts->lost - counts->guessed,
              counts->unmatched);
  if (counts->sendrecvs > 0)
    trace_warn (trace, "lossy: %" G_GUINT64_FORMAT " MPI_Sendrecv move nothing", counts->sendrecvs);
  if (counts->collectives > 0)
    trace_warn (trace, "lossy: %" G_GUINT64_FORMAT " nonblocking collectives were left out",
                counts->collectives);
  return TRUE;
}

/* Checks the files of the archive, and appends their paths to files. */
static gboolean
check_files (const State *state, GPtrArray *files, GError **error)
{
  for (uint32_t rank = 0; rank < otf2_definitions_ranks (state->definitions); rank++) {
    uint64_t location = otf2_definitions_location_of (state->definitions, rank);
    char *events = otf2_archive_events_path (state->anchor, location);
    char *definitions = otf2_archive_definitions_path (state->anchor, location);

    g_ptr_array_add (files, events);
    /* The rank's own definitions may not be needed. */
    if (g_file_test (definitions, G_FILE_TEST_EXISTS))
      g_ptr_array_add (files, definitions);
    else
      g_clear_pointer (&definitions, g_free);
    if (!otf2_archive_check_file (events, error)) {
      g_prefix_error (error, "the events of rank %u: ", rank);
      return FALSE;
    }
    if (definitions != NULL && !otf2_archive_check_file (definitions, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
open_state (State *state, const TraceOptions *options, GPtrArray *files, GError **error)
{
  g_autofree char *creator = NULL;
  Otf2Reading *reading = &state->reading;
  gboolean is_scorep, is_whole;
  char *global;

  if (!check_anchor (state->anchor, error) || !otf2_archive_check_anchor (state->anchor, error))
    return FALSE;
  global = otf2_archive_global_path (state->anchor);
  g_ptr_array_add (files, g_strdup (state->anchor));
  g_ptr_array_add (files, global);
  if (!otf2_archive_check_file (global, error))
    return FALSE;
  state->definitions = otf2_archive_definitions (state->anchor, &creator, error);
  if (state->definitions == NULL)
    return FALSE;
  is_scorep = g_str_has_prefix (creator, "Score-P");
  /* A timeline of a simulation has the arguments of all calls. */
  is_whole = is_scorep || g_str_has_prefix (creator, "hopcast ");
  if (!otf2_definitions_finish (state->definitions, !is_whole, state->anchor, error) ||
      !check_files (state, files, error))
    return FALSE;
  reading->definitions = state->definitions;
  reading->sizes = is_scorep ? OTF2_SIZES_SCOREP : OTF2_SIZES_PLAIN;
  reading->allow_lossy = options->allow_lossy;
  if (options->from_region != NULL) {
    reading->from_region = otf2_definitions_user_region (state->definitions, options->from_region,
                                                         state->anchor, error);
    if (reading->from_region == NULL)
      return FALSE;
  }
  if (!is_whole && *creator != '\0')
    trace_warn (reading->trace,
                "written by \"%s\": sizes of collectives are taken for those of the arguments",
                creator);
  if (!is_whole && !count_losses (state, options, error))
    return FALSE;
  reading->losses = state->losses;
  return TRUE;
}

static void
close_state (gpointer data)
{
  State *state = data;

  otf2_losses_free (state->losses);
  otf2_definitions_free (state->definitions);
  g_free (state->anchor);
  g_free (state);
}

static gpointer
open_trace (Trace *trace, const char *path, const TraceOptions *options, uint32_t *n_ranks,
            GPtrArray *files, GError **error)
{
  State *state = g_new0 (State, 1);

  state->anchor = g_strdup (path);
  state->reading.trace = trace;
  if (!open_state (state, options, files, error)) {
    close_state (state);
    return NULL;
  }
  *n_ranks = otf2_definitions_ranks (state->definitions);
  return state;
}

static void
cursor_free (gpointer data)
{
  Cursor *cursor = data;

  otf2_stream_free (cursor->stream);
  otf2_events_free (cursor->events);
  g_free (cursor->place);
  g_free (cursor);
}

static gpointer
cursor_new (gpointer data, uint32_t rank, GError **error)
{
  State *state = data;
  Cursor *cursor = g_new0 (Cursor, 1);
  uint64_t location = otf2_definitions_location_of (state->definitions, rank);

  (void) error;
  cursor->state = state;
  cursor->rank = rank;
  cursor->stream = otf2_stream_new (otf2_archive_input (state->anchor, location), 0);
  cursor->events = otf2_events_new (&state->reading, rank);
  return cursor;
}

/* The time of the last event, as otf2-print shows it, instead of an offset. */
static const char *
cursor_place (gpointer data)
{
  Cursor *cursor = data;
  g_autofree char *path = otf2_archive_events_path (
      cursor->state->anchor,
      otf2_definitions_location_of (cursor->state->definitions, cursor->rank));
  g_autofree char *name = g_path_get_basename (path);

  g_free (cursor->place);
  cursor->place = g_strdup_printf ("%s at %" G_GUINT64_FORMAT, name, cursor->ticks);
  return cursor->place;
}

static TraceNext
cursor_next (gpointer data, TraceOp *op, GError **error)
{
  Cursor *cursor = data;

  while (!otf2_events_take (cursor->events, op)) {
    Otf2Record record;
    GError *own = NULL;

    if (cursor->ended)
      return TRACE_NEXT_END;
    switch (otf2_stream_next (cursor->stream, &record, error)) {
    case TRACE_NEXT_ERROR: return TRACE_NEXT_ERROR;
    case TRACE_NEXT_END:
      cursor->ended = TRUE;
      otf2_events_end (cursor->events, &own);
      break;
    case TRACE_NEXT_OPERATION:
      cursor->ticks = record.ticks;
      otf2_events_add (cursor->events, &record, &own);
      break;
    }
    if (own != NULL) {
      g_propagate_prefixed_error (error, own, "%s: %s: rank %u: ", cursor->state->anchor,
                                  cursor_place (cursor), cursor->rank);
      return TRACE_NEXT_ERROR;
    }
  }
  return TRACE_NEXT_OPERATION;
}

const TraceFormat trace_format_otf2 = {
  .name = "otf2",
  .summary = "OTF2: the anchor of an archive (.otf2)",
  .collectives = TRACE_COLLECTIVES_WITHOUT_SIZES,
  .probe = probe,
  .open = open_trace,
  .close = close_state,
  .cursor_new = cursor_new,
  .cursor_free = cursor_free,
  .cursor_next = cursor_next,
  .cursor_place = cursor_place,
};

#else /* without libotf2 */

static gpointer
refuse (Trace *trace, const char *path, const TraceOptions *options, uint32_t *n_ranks,
        GPtrArray *files, GError **error)
{
  (void) trace, (void) options, (void) n_ranks, (void) files;
  g_set_error (error, TRACE_ERROR, TRACE_ERROR_FORMAT,
               "%s: is an OTF2 trace, and this hopcast was built without libotf2", path);
  return NULL;
}

/* Nothing is ever open. */
const TraceFormat trace_format_otf2 = {
  .name = "otf2",
  .summary = "OTF2: not in this build",
  .collectives = TRACE_COLLECTIVES_WITHOUT_SIZES,
  .probe = probe,
  .open = refuse,
};

#endif
