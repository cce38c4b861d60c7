/* ti.c - the time-independent format of SimGrid: files, lists of them, streams.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/format.h"
#include "traces/ti/ti_private.h"
#include "traces/trace.h"
#include "traces/trace_file.h"

#include <glib.h>
#include <stdint.h>
#include <string.h>

/* --- Texts and lists of them --- */

/* More ranks than any machine has: a larger number is a mistake. */
#define TI_MAX_RANKS (1u << 24)

/* A text in memory. */
typedef struct {
  char *name; /* without its folder, for messages */
  GBytes *bytes;
  const char *data;
  gsize size;
  gsize last_line;    /* where a last line without a line feed starts; size: there is none */
  char *unterminated; /* a copy of that line, which ends with a NUL */
} TiText;

static TiText *
ti_text_open (const char *path, GError **error)
{
  GBytes *bytes = trace_file_load (path, error);
  TiText *text;

  if (bytes == NULL)
    return NULL;
  text = g_new (TiText, 1);
  text->name = g_path_get_basename (path);
  text->bytes = bytes;
  text->data = g_bytes_get_data (bytes, &text->size);
  text->last_line = text->size;
  while (text->last_line > 0 && text->data[text->last_line - 1] != '\n')
    text->last_line--;
  text->unterminated = g_strndup (text->data + text->last_line, text->size - text->last_line);
  return text;
}

static void
ti_text_close (TiText *text)
{
  if (text == NULL)
    return;
  g_bytes_unref (text->bytes);
  g_free (text->unterminated);
  g_free (text->name);
  g_free (text);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (TiText, ti_text_close)

/* The line at *at without its end; *at moves to the next.  FALSE at the end. */
static gboolean
ti_next_line (const char *data, gsize size, gsize *at, const char **line, gsize *length)
{
  const char *end;

  if (*at >= size)
    return FALSE;
  *line = data + *at;
  end = memchr (*line, '\n', size - *at);
  *length = end != NULL ? (gsize) (end - *line) : size - *at;
  *at += *length + (end != NULL);
  return TRUE;
}

static inline gsize
skip_blanks (const char *line, gsize length)
{
  gsize i = 0;

  while (i < length && ti_is_blank (line[i]))
    i++;
  return i;
}

/* The functions of a line take what follows it as well: its length may be that of all the text
 * from it on. */

/* Nothing, or a comment. */
static inline gboolean
ti_line_is_empty (const char *line, gsize length)
{
  gsize i = skip_blanks (line, length);

  return i == length || line[i] == '\n' || line[i] == '#';
}

/* The rank in front of a line; *rest is the position after it. */
static inline gboolean
ti_line_rank (const char *line, gsize length, uint32_t *rank, gsize *rest)
{
  const char *c = line + skip_blanks (line, length), *begin = c, *end = line + length;
  uint32_t value = 0, digit;

  for (; c < end && (digit = (uint32_t) *c - '0') < 10 && value < TI_MAX_RANKS; c++)
    value = value * 10 + digit;
  if (c == begin || value >= TI_MAX_RANKS || (c < end && *c != '\n' && !ti_is_blank (*c)))
    return FALSE;
  *rank = value;
  *rest = (gsize) (c - line);
  return TRUE;
}

/* The first line that is neither empty nor a comment. */
static gboolean
ti_first_line (const char *data, gsize size, const char **line, gsize *length)
{
  gsize at = 0;

  while (ti_next_line (data, size, &at, line, length))
    if (!ti_line_is_empty (*line, *length))
      return TRUE;
  return FALSE;
}

/* A rank and a word. */
static gboolean
ti_line_is_action (const char *line, gsize length)
{
  uint32_t rank;
  gsize i;

  if (!ti_line_rank (line, length, &rank, &i))
    return FALSE;
  i += skip_blanks (line + i, length - i);
  return i < length && g_ascii_isalpha (line[i]);
}

/* The number, from 1, of the line that starts at `at`.  It is rarely needed, and
 * counted anew each time. */
static uint64_t
ti_line_number (const TiText *text, gsize at)
{
  const char *end = text->data + MIN (at, text->size);
  uint64_t number = 1;

  for (const char *c = text->data; c < end && (c = memchr (c, '\n', (gsize) (end - c))) != NULL;
       c++)
    number++;
  return number;
}

/* Sets the error of a line that cannot be read.  Always FALSE. */
static gboolean
ti_bad_line (const char *name, uint64_t number, const char *line, gsize length, const char *what,
             GError **error)
{
  return TRACE_FAIL (TRACE_ERROR_FORMAT, error, "%s:%" G_GUINT64_FORMAT ": %s, found \"%.*s\"",
                     name, number, what, (int) MIN (length, 80), line);
}

/* The file of an entry of a list, or NULL.  Paths in a list count from the
 * current folder, as for SimGrid, else from the list's; a file that was moved
 * together with its list is found by its name alone. */
static char *
ti_list_find (const char *list, const char *entry)
{
  g_autofree char *folder = g_path_get_dirname (list);
  g_autofree char *name = g_path_get_basename (entry);
  g_autofree char *beside = g_build_filename (folder, entry, NULL);
  g_autofree char *alone = g_build_filename (folder, name, NULL);
  char *found = trace_file_find (entry);

  if (found == NULL && !g_path_is_absolute (entry))
    found = trace_file_find (beside);
  return found != NULL ? found : trace_file_find (alone);
}

/* The files of a list, in its order (element-type filename). */
static GPtrArray *
ti_list_read (const char *path, GError **error)
{
  g_autoptr (GPtrArray) listed = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (TiText) list = ti_text_open (path, error);
  const char *line;
  gsize at = 0, length;

  if (list == NULL)
    return NULL;
  for (uint32_t number = 1; ti_next_line (list->data, list->size, &at, &line, &length); number++) {
    g_autofree char *entry = NULL;
    char *found;

    if (ti_line_is_empty (line, length))
      continue;
    entry = g_strstrip (g_strndup (line, length));
    found = ti_list_find (path, entry);
    if (found == NULL) {
      g_set_error (error, TRACE_ERROR, TRACE_ERROR_OPEN, "%s:%u: no such file: \"%s\"", path,
                   number, entry);
      return NULL;
    }
    g_ptr_array_add (listed, found);
  }
  return g_steal_pointer (&listed);
}

/* --- SimGrid's time-independent traces: files and streams --- */

/* A line is "RANK ACTION ARGUMENTS...".  Either one file holds the lines of
 * all ranks, or a list names one file per rank; a list of one file is that
 * file. */

#define HEAD_BYTES 4096

typedef struct {
  Trace *trace;
  uint32_t n_ranks;
  GPtrArray *files;        /* borrowed from the trace; in rank order, or one for all */
  TiText *merged;          /* all ranks' text, or NULL */
  gsize *segments;         /* offsets of the runs of lines of one rank, by rank, then in order */
  uint64_t *first_segment; /* [n_ranks + 1] */

  /* The collectives of the first rank whose stream ended, to compare with the others. */
  GMutex lock;
  gboolean counted;
  uint64_t n_collectives;
} TiState;

typedef struct {
  TiState *state;
  uint32_t rank;
  TiText *text; /* own, or the merged one */
  uint64_t segment, end_segment;
  gsize at;      /* of the next line */
  gsize line_at; /* of the last one read */
  gboolean ended;
  TiLines *lines;
  double flops; /* work after the last operation, to be returned next */
  char *place;
} TiCursor;

static gboolean
probe (const char *path, const guint8 *head, gsize n)
{
  g_autofree char *entry = NULL, *found = NULL;
  const char *line;
  gsize length;

  if (memchr (head, '\0', n) != NULL || !ti_first_line ((const char *) head, n, &line, &length))
    return FALSE;
  if (ti_line_is_action (line, length))
    return TRUE;

  /* The first line of a list names a file, or looks as if it did: then the error is a missing
   * file, not an unknown format. */
  entry = g_strstrip (g_strndup (line, length));
  for (const char *c = entry; *c != '\0'; c++)
    if (!g_ascii_isprint (*c))
      return FALSE;
  found = ti_list_find (path, entry);
  return found != NULL || g_str_has_suffix (entry, ".txt") || g_str_has_suffix (entry, ".txt.gz");
}

/* A position in a merged text: a run of lines of the same rank. */
typedef struct {
  gsize start; /* of the run */
  gsize at;    /* of the line after its first */
  uint32_t rank;
} Run;

/* Goes to the next run. */
static TraceNext
next_run (const TiText *text, Run *run, GError **error)
{
  uint32_t rank = run->rank;
  const char *line;
  gsize length, rest;

  for (gsize start = run->at; ti_next_line (text->data, text->size, &run->at, &line, &length);
       start = run->at) {
    if (ti_line_is_empty (line, length))
      continue;
    if (!ti_line_rank (line, length, &run->rank, &rest)) {
      ti_bad_line (text->name, ti_line_number (text, start), line, length,
                   "expected a line that starts with a rank", error);
      return TRACE_NEXT_ERROR;
    }
    if (run->rank != rank) {
      run->start = start;
      return TRACE_NEXT_OPERATION;
    }
  }
  return TRACE_NEXT_END;
}

/* The runs of one rank. */
typedef struct {
  uint64_t n;
  gsize first;
} RankRuns;

/* Finds each rank's runs.  A second pass finds them when a rank has several: there may be as many
 * runs as lines, too many to be kept before it is known how many a rank has. */
static gboolean
find_segments (TiState *state, GError **error)
{
  g_autoptr (GArray) found = g_array_new (FALSE, TRUE, sizeof (RankRuns)); /* by rank */
  g_autofree uint64_t *next = NULL;
  Run run = { .rank = TI_MAX_RANKS };
  gboolean is_mixed = FALSE;
  TraceNext got;

  while ((got = next_run (state->merged, &run, error)) == TRACE_NEXT_OPERATION) {
    RankRuns *runs;

    if (run.rank >= found->len)
      g_array_set_size (found, run.rank + 1);
    runs = &g_array_index (found, RankRuns, run.rank);
    if (runs->n++ == 0)
      runs->first = run.start;
    else
      is_mixed = TRUE;
  }
  if (got == TRACE_NEXT_ERROR)
    return FALSE;
  state->n_ranks = found->len;
  state->first_segment = g_new0 (uint64_t, state->n_ranks + 1);
  for (uint32_t rank = 0; rank < state->n_ranks; rank++)
    state->first_segment[rank + 1] =
        state->first_segment[rank] + g_array_index (found, RankRuns, rank).n;
  state->segments = g_new (gsize, state->first_segment[state->n_ranks]);
  if (!is_mixed) {
    for (uint32_t rank = 0; rank < state->n_ranks; rank++)
      if (g_array_index (found, RankRuns, rank).n > 0)
        state->segments[state->first_segment[rank]] = g_array_index (found, RankRuns, rank).first;
    return TRUE;
  }
  next = g_memdup2 (state->first_segment, state->n_ranks * sizeof *next);
  run = (Run){ .rank = TI_MAX_RANKS };
  while (next_run (state->merged, &run, NULL) == TRACE_NEXT_OPERATION)
    state->segments[next[run.rank]++] = run.start;
  return TRUE;
}

static gboolean
open_merged (TiState *state, const char *path, uint32_t n_ranks_hint, GError **error)
{
  state->merged = ti_text_open (path, error);
  if (state->merged == NULL || !find_segments (state, error))
    return FALSE;
  if (state->n_ranks == 0)
    return TRACE_FAIL (TRACE_ERROR_FORMAT, error, "%s: has no actions", path);
  if (n_ranks_hint != 0 && n_ranks_hint < state->n_ranks)
    return TRACE_FAIL (TRACE_ERROR_RANGE, error,
                       "%s: has lines of rank %u, but %u ranks were asked for", path,
                       state->n_ranks - 1, n_ranks_hint);
  if (n_ranks_hint > state->n_ranks) {
    /* Ranks without lines, beyond those that have some. */
    uint64_t n_segments = state->first_segment[state->n_ranks];

    state->first_segment = g_renew (uint64_t, state->first_segment, n_ranks_hint + 1);
    for (uint32_t rank = state->n_ranks; rank < n_ranks_hint; rank++)
      state->first_segment[rank + 1] = n_segments;
    state->n_ranks = n_ranks_hint;
  }
  g_ptr_array_add (state->files, g_strdup (path));
  return TRUE;
}

static void
close_state (gpointer data)
{
  TiState *state = data;

  ti_text_close (state->merged);
  g_free (state->segments);
  g_free (state->first_segment);
  g_mutex_clear (&state->lock);
  g_free (state);
}

static gboolean
open_any (TiState *state, const char *path, uint32_t n_ranks_hint, GError **error)
{
  guint8 head[HEAD_BYTES];
  gssize n = trace_file_head (path, head, sizeof head, error);
  g_autoptr (GPtrArray) listed = NULL;
  const char *line;
  gsize length, rest;

  if (n < 0)
    return FALSE;
  if (ti_first_line ((const char *) head, (gsize) n, &line, &length) &&
      ti_line_is_action (line, length))
    return open_merged (state, path, n_ranks_hint, error);
  listed = ti_list_read (path, error);
  if (listed == NULL)
    return FALSE;
  if (listed->len == 1)
    return open_merged (state, listed->pdata[0], n_ranks_hint, error);
  state->n_ranks = listed->len;
  g_ptr_array_set_size (state->files, (gint) listed->len);
  for (uint32_t i = 0; i < listed->len; i++) {
    const char *file = listed->pdata[i];
    uint32_t rank = i;

    /* The first line has the rank; an empty file belongs to the rank of its
     * position. */
    n = trace_file_head (file, head, sizeof head, error);
    if (n < 0)
      return FALSE;
    if (ti_first_line ((const char *) head, (gsize) n, &line, &length) &&
        !ti_line_rank (line, length, &rank, &rest))
      return ti_bad_line (file, 1, line, length, "expected lines that start with a rank", error);
    if (rank >= state->n_ranks)
      return TRACE_FAIL (TRACE_ERROR_RANGE, error,
                         "%s: has the lines of rank %u, but %s lists %u files", file, rank, path,
                         state->n_ranks);
    if (state->files->pdata[rank] != NULL)
      return TRACE_FAIL (TRACE_ERROR_RANGE, error, "%s and %s both have the lines of rank %u",
                         (const char *) state->files->pdata[rank], file, rank);
    state->files->pdata[rank] = g_strdup (file);
  }
  return TRUE;
}

static gpointer
open_trace (Trace *trace, const char *path, const TraceOptions *options, uint32_t *n_ranks,
            GPtrArray *files, GError **error)
{
  TiState *state = g_new0 (TiState, 1);

  g_mutex_init (&state->lock);
  state->trace = trace;
  state->files = files;
  if (!trace_refuse_region (path, options, error) ||
      !open_any (state, path, options->n_ranks, error)) {
    close_state (state);
    return NULL;
  }
  *n_ranks = state->n_ranks;
  return state;
}

static void
cursor_free (gpointer data)
{
  TiCursor *cursor = data;

  if (cursor->text != cursor->state->merged)
    ti_text_close (cursor->text);
  ti_lines_free (cursor->lines);
  g_free (cursor->place);
  g_free (cursor);
}

/* Goes to the next run of lines of the rank in a merged text. */
static gboolean
next_segment (TiCursor *cursor)
{
  if (cursor->segment == cursor->end_segment)
    return FALSE;
  cursor->at = cursor->state->segments[cursor->segment++];
  return TRUE;
}

static gpointer
cursor_new (gpointer data, uint32_t rank, GError **error)
{
  TiState *state = data;
  TiText *text = state->merged;
  TiCursor *cursor;

  if (text == NULL)
    text = ti_text_open (state->files->pdata[rank], error);
  if (text == NULL)
    return NULL;
  cursor = g_new0 (TiCursor, 1);
  cursor->state = state;
  cursor->rank = rank;
  cursor->text = text;
  if (state->merged != NULL) {
    cursor->segment = state->first_segment[rank];
    cursor->end_segment = state->first_segment[rank + 1];
    cursor->ended = !next_segment (cursor);
  }
  cursor->lines = ti_lines_new (state->trace, rank, state->n_ranks);
  return cursor;
}

/* Leaves a line that does not belong here. */
static TraceNext
bad_line (TiCursor *cursor, const char *what, GError **error)
{
  gsize length = 0;
  const char *line = "";

  ti_next_line (cursor->text->data, cursor->text->size, &cursor->at, &line, &length);
  ti_bad_line (cursor->text->name, ti_line_number (cursor->text, cursor->line_at), line, length,
               what, error);
  return TRACE_NEXT_ERROR;
}

/* Goes to the line after the one of position `at`. */
static void
leave_line (TiCursor *cursor, gsize at)
{
  const TiText *text = cursor->text;
  const char *end = text->data + at;

  if (at == text->size || *end != '\n')
    end = memchr (end, '\n', text->size - at);
  cursor->at = end != NULL ? (gsize) (end + 1 - text->data) : text->size;
}

/* Goes to the rank's next line; *words is the position after the rank in it. */
static TraceNext
find_line (TiCursor *cursor, gsize *words, GError **error)
{
  const TiText *text = cursor->text;
  gsize rest;
  uint32_t rank;

  for (;;) {
    const char *line = text->data + cursor->at;
    gsize length = text->size - cursor->at;

    cursor->line_at = cursor->at;
    if (length == 0) {
      if (next_segment (cursor))
        continue;
      return TRACE_NEXT_END;
    }
    if (ti_line_is_empty (line, length)) {
      leave_line (cursor, cursor->at);
      continue;
    }
    if (!ti_line_rank (line, length, &rank, &rest))
      return bad_line (cursor, "expected a line that starts with a rank", error);
    if (rank == cursor->rank) {
      *words = cursor->at + rest;
      return TRACE_NEXT_OPERATION;
    }
    if (cursor->state->merged == NULL)
      return bad_line (cursor, "the file has lines of more than one rank", error);
    if (!next_segment (cursor))
      return TRACE_NEXT_END;
  }
}

static void
end_stream (TiCursor *cursor)
{
  TiState *state = cursor->state;
  uint64_t n = ti_lines_collectives (cursor->lines);
  gboolean differs;

  /* The format silently loses sub-communicators, and nothing else; they show in
   * ranks that take part in different numbers of collectives. */
  cursor->ended = TRUE;
  g_mutex_lock (&state->lock);
  differs = state->counted && state->n_collectives != n;
  if (!state->counted)
    state->n_collectives = n;
  state->counted = TRUE;
  g_mutex_unlock (&state->lock);
  if (differs)
    trace_warn (state->trace, "ranks take part in different numbers of collectives: they were in "
                              "sub-communicators, which the format does not have");
  if (!ti_lines_finalized (cursor->lines))
    trace_warn (state->trace, "no finalize: the trace is a window");
}

/* Adds the place to an error of ti_lines_read(). */
static TraceNext
bad_words (const TiCursor *cursor, GError **error)
{
  gsize at = cursor->line_at, length = 0;
  const char *line = "";
  g_autofree char *shown = NULL;

  ti_next_line (cursor->text->data, cursor->text->size, &at, &line, &length);
  shown = g_strstrip (g_strndup (line, length));
  g_prefix_error (error, "%s:%" G_GUINT64_FORMAT ": \"%.80s\": ", cursor->text->name,
                  ti_line_number (cursor->text, cursor->line_at), shown);
  return TRACE_NEXT_ERROR;
}

static TraceNext
cursor_next (gpointer data, TraceOp *op, GError **error)
{
  TiCursor *cursor = data;

  if (cursor->flops > 0) {
    *op = (TraceOp){ .kind = TRACE_OP_COMPUTE, .flops = cursor->flops, .name = "compute" };
    cursor->flops = 0;
    return TRACE_NEXT_OPERATION;
  }
  while (!cursor->ended) {
    const TiText *text = cursor->text;
    const char *start, *end;
    gsize words = 0;
    TraceNext next = find_line (cursor, &words, error);
    TiLine line;

    if (next == TRACE_NEXT_ERROR)
      return next;
    if (next == TRACE_NEXT_END) {
      end_stream (cursor);
      break;
    }
    start = words >= text->last_line ? text->unterminated + (words - text->last_line)
                                     : text->data + words;
    end = start;
    line = ti_lines_read (cursor->lines, &end, op, &cursor->flops, error);
    leave_line (cursor, words + (gsize) (end - start));
    if (line == TI_LINE_OPERATION)
      return TRACE_NEXT_OPERATION;
    if (line == TI_LINE_ERROR)
      return bad_words (cursor, error);
  }
  return TRACE_NEXT_END;
}

static const char *
cursor_place (gpointer data)
{
  TiCursor *cursor = data;

  g_free (cursor->place);
  cursor->place = g_strdup_printf ("%s:%" G_GUINT64_FORMAT, cursor->text->name,
                                   ti_line_number (cursor->text, cursor->line_at));
  return cursor->place;
}

const TraceFormat trace_format_ti = {
  .name = "ti",
  .summary = "SimGrid time-independent: a file of all ranks or a list of files",
  .probe = probe,
  .open = open_trace,
  .close = close_state,
  .cursor_new = cursor_new,
  .cursor_free = cursor_free,
  .cursor_next = cursor_next,
  .cursor_place = cursor_place,
};
