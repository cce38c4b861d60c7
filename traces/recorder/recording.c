/* recording.c - the format of our recorder: its files, and the streams of a recording.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/recorder/recording.h"

#include "traces/format.h"
#include "traces/trace.h"
#include "traces/trace_file.h"

#include <string.h>
#include <zlib.h>

/* --- The file of one rank --- */

/* Blocks are checked by their sum, but all values are checked as well: a file
 * may be anything. */

/* Strings of all files of a trace; lives as long as it. */
typedef struct {
  GMutex lock;
  GHashTable *strings; /* set of utf8, owned */
} RecordingStrings;

/* Names and places are shorter. */
#define MAX_STRING_BYTES 4096

typedef struct {
  const guint8 *at, *end;
} Input;

typedef struct {
  char *path;
  GBytes *bytes;
  const guint8 *data;
  gsize size;
  GHashTable *header; /* of utf8, utf8 */
  RecordingStrings *pool;
  GPtrArray *strings; /* (element-type utf8), borrowed from the pool */

  gsize block_at; /* of the next block */
  Input payload;
  uint32_t n_left; /* operations in it */
  gsize operation_at;
  gboolean is_cut;

  /* Sources of wildcard receives, in the order in which they were found. */
  GHashTable *sources; /* receive number + 1 -> source; NULL: not read yet */
  uint64_t n_wildcards;

  GArray *requests, *completed, *counts, *recv_counts, *values, *values2;
} RecordingFile;

/* --- Strings --- */

static const char *
keep_string (RecordingStrings *strings, char *text)
{
  gpointer kept;

  g_mutex_lock (&strings->lock);
  if (g_hash_table_lookup_extended (strings->strings, text, &kept, NULL))
    g_free (text);
  else
    g_hash_table_add (strings->strings, kept = text);
  g_mutex_unlock (&strings->lock);
  return kept;
}

/* --- Errors --- */

static TraceNext
bad_at (const RecordingFile *file, gsize offset, TraceError code, const char *what, GError **error)
{
  g_set_error (error, TRACE_ERROR, (gint) code, "%s:0x%" G_GSIZE_MODIFIER "x: %s", file->path,
               offset, what);
  return TRACE_NEXT_ERROR;
}

static TraceNext
bad (const RecordingFile *file, const char *what, GError **error)
{
  return bad_at (file, file->operation_at, TRACE_ERROR_FORMAT, what, error);
}

/* --- Numbers --- */

static gboolean
get (Input *input, uint64_t *value)
{
  *value = 0;
  for (guint shift = 0; shift < 64 && input->at < input->end; shift += 7) {
    guint8 byte = *input->at++;

    *value |= (uint64_t) (byte & 127) << shift;
    if (byte < 128)
      return TRUE;
  }
  return FALSE;
}

static int64_t
unfold (uint64_t value)
{
  return (int64_t) (value >> 1) ^ -(int64_t) (value & 1);
}

static uint32_t
get_word (const guint8 *at)
{
  return at[0] | (uint32_t) at[1] << 8 | (uint32_t) at[2] << 16 | (uint32_t) at[3] << 24;
}

static gboolean
get_small (Input *input, uint32_t *value)
{
  uint64_t wide;

  if (!get (input, &wide) || wide > UINT32_MAX)
    return FALSE;
  *value = (uint32_t) wide;
  return TRUE;
}

static gboolean
get_signed (Input *input, int32_t *value)
{
  uint64_t wide;

  if (!get (input, &wide) || unfold (wide) < INT32_MIN || unfold (wide) > INT32_MAX)
    return FALSE;
  *value = (int32_t) unfold (wide);
  return TRUE;
}

/* --- Blocks --- */

typedef struct {
  uint32_t n_payload, n_sources, n_operations;
  const guint8 *payload, *sources;
} Block;

/* Reads the block at *at, and moves *at behind it.  TRACE_NEXT_END at the end,
 * and where the file ends in the middle of a block, with *is_cut set. */
static TraceNext
next_block (const RecordingFile *file, gsize *at, gboolean check, Block *block, gboolean *is_cut,
            GError **error)
{
  const guint8 *head = file->data + *at;
  gsize left = file->size - *at, n;
  uLong crc;

  *is_cut = left > 0 && left < RECORDING_HEAD_BYTES;
  if (left < RECORDING_HEAD_BYTES)
    return TRACE_NEXT_END;
  if (get_word (head + 16) != RECORDING_BLOCK)
    return bad_at (file, *at, TRACE_ERROR_FORMAT, "expected the head of a block", error);
  *block = (Block){ get_word (head), get_word (head + 4), get_word (head + 8),
                    head + RECORDING_HEAD_BYTES, NULL };
  n = (gsize) block->n_payload + block->n_sources;
  *is_cut = n > left - RECORDING_HEAD_BYTES;
  if (*is_cut)
    return TRACE_NEXT_END;
  block->sources = block->payload + block->n_payload;
  crc = check ? crc32_z (crc32 (crc32 (0, Z_NULL, 0), head, 12), block->payload, n) : 0;
  if (check && crc != get_word (head + 12))
    return bad_at (file, *at, TRACE_ERROR_FORMAT, "the block is damaged: its sum is wrong", error);
  *at += RECORDING_HEAD_BYTES + n;
  return TRACE_NEXT_OPERATION;
}

/* --- The header --- */

/* The value of a key of the header, or NULL. */
static const char *
header_value (const RecordingFile *file, const char *key)
{
  return g_hash_table_lookup (file->header, key);
}

/* A value of the header as a number, which must exist and be at most `limit`. */
static gboolean
header_number (const RecordingFile *file, const char *key, uint32_t limit, uint32_t *value,
               GError **error)
{
  const char *text = header_value (file, key);
  guint64 wide;

  if (text != NULL && g_ascii_string_to_unsigned (text, 10, 0, limit, &wide, NULL)) {
    *value = (uint32_t) wide;
    return TRUE;
  }
  return TRACE_FAIL (TRACE_ERROR_FORMAT, error, "%s: the header says %s=%s", file->path, key,
                     text != NULL ? text : "nothing");
}

/* --- Opening --- */

static void
file_close (RecordingFile *file)
{
  if (file == NULL)
    return;
  g_clear_pointer (&file->bytes, g_bytes_unref);
  g_clear_pointer (&file->sources, g_hash_table_unref);
  g_hash_table_unref (file->header);
  g_ptr_array_unref (file->strings);
  g_array_unref (file->requests);
  g_array_unref (file->completed);
  g_array_unref (file->counts);
  g_array_unref (file->recv_counts);
  g_array_unref (file->values);
  g_array_unref (file->values2);
  g_free (file->path);
  g_free (file);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (RecordingFile, file_close)

/* NULL and *error when it cannot be opened or has no sound header. */
static RecordingFile *
file_open (const char *path, RecordingStrings *strings, GError **error)
{
  g_autoptr (RecordingFile) file = g_new0 (RecordingFile, 1);
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;
  uint32_t version;
  Block block;

  file->path = g_strdup (path);
  file->pool = strings;
  file->header = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  file->strings = g_ptr_array_new ();
  file->requests = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  file->completed = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  file->counts = g_array_new (FALSE, FALSE, sizeof (uint64_t));
  file->recv_counts = g_array_new (FALSE, FALSE, sizeof (uint64_t));
  file->values = g_array_new (FALSE, FALSE, sizeof (int32_t));
  file->values2 = g_array_new (FALSE, FALSE, sizeof (int32_t));
  file->bytes = trace_file_load (path, error);
  if (file->bytes == NULL)
    return NULL;
  file->data = g_bytes_get_data (file->bytes, &file->size);
  if (file->size < RECORDING_MAGIC_SIZE ||
      memcmp (file->data, RECORDING_MAGIC, RECORDING_MAGIC_SIZE) != 0) {
    bad_at (file, 0, TRACE_ERROR_FORMAT, "not the file of a recording", error);
    return NULL;
  }
  file->block_at = RECORDING_MAGIC_SIZE;
  if (next_block (file, &file->block_at, TRUE, &block, &file->is_cut, error) !=
      TRACE_NEXT_OPERATION) {
    if (error == NULL || *error == NULL)
      bad_at (file, file->block_at, TRACE_ERROR_FORMAT, "the file ends before its header does",
              error);
    return NULL;
  }
  text = g_strndup ((const char *) block.payload, block.n_payload);
  lines = g_strsplit (text, "\n", -1);
  for (char **line = lines; *line != NULL; line++) {
    char *equals = strchr (*line, '=');

    if (equals != NULL)
      g_hash_table_insert (file->header, g_strndup (*line, (gsize) (equals - *line)),
                           g_strdup (equals + 1));
  }
  if (!header_number (file, "version", G_MAXINT32, &version, error))
    return NULL;
  if (version != RECORDING_VERSION) {
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_FORMAT,
                 "%s: written by another version of the recorder (%u, this program reads %d)",
                 file->path, version, RECORDING_VERSION);
    return NULL;
  }
  return g_steal_pointer (&file);
}

/* --- Sources of wildcard receives --- */

/* They may stand in any block after that of the receive. */
static gboolean
read_sources (RecordingFile *file, GError **error)
{
  gsize at = file->block_at;
  uint64_t receive = 0;
  gboolean is_cut;
  TraceNext next;
  Block block;

  file->sources = g_hash_table_new (NULL, NULL);
  while ((next = next_block (file, &at, FALSE, &block, &is_cut, error)) == TRACE_NEXT_OPERATION) {
    Input input = { block.sources, block.sources + block.n_sources };

    while (input.at < input.end) {
      uint64_t step;
      int32_t source;

      if (!get (&input, &step) || !get_signed (&input, &source)) {
        bad_at (file, at, TRACE_ERROR_FORMAT, "the sources before are damaged", error);
        return FALSE;
      }
      receive += (uint64_t) unfold (step);
      if (receive < G_MAXSIZE)
        g_hash_table_insert (file->sources, GSIZE_TO_POINTER (receive + 1),
                             GINT_TO_POINTER (source));
    }
  }
  return next == TRACE_NEXT_END;
}

/* --- Operations --- */

/* An empty name is NULL. */
static gboolean
get_name (RecordingFile *file, const char **name)
{
  uint32_t number;

  if (!get_small (&file->payload, &number) || number == 0 || number > file->strings->len)
    return FALSE;
  *name = file->strings->pdata[number - 1];
  if (**name == '\0')
    *name = NULL;
  return TRUE;
}

static gboolean
get_picoseconds (Input *input, int64_t *time_ps)
{
  uint64_t ns;

  if (!get (input, &ns) || ns > INT64_MAX / 1000)
    return FALSE;
  *time_ps = (int64_t) ns * 1000;
  return TRUE;
}

/* Each number has the width of its member. */
#define GET_UNSIGNED(member)                                                        \
  (get (input, &wide) && wide <= (sizeof (member) < 8 ? UINT32_MAX : UINT64_MAX) && \
   ((member) = (__typeof__ (member)) wide, TRUE))
#define GET_SIGNED(member) get_signed (input, &(member))

static gboolean
get_list (Input *input, gboolean is_there, GArray *list, gboolean is_signed)
{
  uint32_t n = 0;

  /* The rest of the block must be able to hold the count, so that no memory is
   * allocated for an impossible one. */
  if (is_there && !(get_small (input, &n) && n <= (gsize) (input->end - input->at)))
    return FALSE;
  g_array_set_size (list, n);
  for (uint32_t i = 0; i < n; i++) {
    gboolean good;

    if (is_signed)
      good = get_signed (input, &g_array_index (list, int32_t, i));
    else if (g_array_get_element_size (list) == sizeof (uint32_t))
      good = get_small (input, &g_array_index (list, uint32_t, i));
    else
      good = get (input, &g_array_index (list, uint64_t, i));
    if (!good)
      return FALSE;
  }
  return TRUE;
}

static gboolean
get_lists (RecordingFile *file, uint32_t mask, TraceOp *op)
{
  Input *input = &file->payload;

  if (!get_list (input, mask & RECORDING_REQUESTS, file->requests, FALSE) ||
      !get_list (input, mask & RECORDING_COMPLETED, file->completed, FALSE) ||
      !get_list (input, mask & RECORDING_COUNTS, file->counts, FALSE) ||
      !get_list (input, mask & RECORDING_RECV_COUNTS, file->recv_counts, FALSE) ||
      !get_list (input, mask & RECORDING_VALUES, file->values, TRUE) ||
      !get_list (input, mask & RECORDING_VALUES2, file->values2, TRUE))
    return FALSE;
  op->requests = (const uint32_t *) (void *) file->requests->data;
  op->n_requests = file->requests->len;
  op->completed = (const uint32_t *) (void *) file->completed->data;
  op->n_completed = file->completed->len;
  op->counts = (const uint64_t *) (void *) file->counts->data;
  op->n_counts = file->counts->len;
  op->recv_counts = (const uint64_t *) (void *) file->recv_counts->data;
  op->n_recv_counts = file->recv_counts->len;
  op->values = (const int32_t *) (void *) file->values->data;
  op->n_values = file->values->len;
  /* An operation before this one may have left its list there. */
  if (file->values2->len > 0)
    op->values2 = (const int32_t *) (void *) file->values2->data;
  return TRUE;
}

static gboolean
are_sizes (const uint64_t *bytes, uint32_t n)
{
  for (uint32_t i = 0; i < n; i++)
    if (bytes[i] > TRACE_MAX_BYTES)
      return FALSE;
  return TRUE;
}

static gboolean
get_operation (RecordingFile *file, TraceOp *compute, TraceOp *op)
{
  Input *input = &file->payload;
  guint8 code = *input->at++;
  uint32_t mask, n_indices;
  uint64_t wide;

  memset (op, 0, sizeof *op);
  if (code >= sizeof recording_kinds || !get_small (input, &mask) || mask > RECORDING_ALL_FIELDS)
    return FALSE;
  op->kind = (TraceOpKind) recording_kinds[code];
  if (((mask & RECORDING_GAP) && !get_picoseconds (input, &compute->gap_ps)) ||
      ((mask & RECORDING_TIME) && !get_picoseconds (input, &op->call_ps)) ||
      ((mask & RECORDING_NAME) && !get_name (file, &op->name)) ||
      ((mask & RECORDING_SITE) && !get_name (file, &op->site)))
    return FALSE;

#define UNSIGNED(bit, member, absent)                     \
  op->member = (absent);                                  \
  if ((mask & 1u << (bit)) && !GET_UNSIGNED (op->member)) \
    return FALSE;
#define SIGNED(bit, member, absent)                     \
  op->member = (absent);                                \
  if ((mask & 1u << (bit)) && !GET_SIGNED (op->member)) \
    return FALSE;
  RECORDING_NUMBERS (UNSIGNED, SIGNED)
#undef UNSIGNED
#undef SIGNED
  if (op->mode > TRACE_SEND_READY || !get_lists (file, mask, op))
    return FALSE;
  if ((mask & RECORDING_COUNTERS) &&
      (!get (input, &compute->instructions) || !get (input, &compute->cycles)))
    return FALSE;
  if (op->name == NULL)
    op->name = trace_op_name (op->kind);
  op->nonblocking = (mask & RECORDING_NONBLOCKING) != 0;
  if (mask & RECORDING_WILDCARD) {
    gsize receive = (gsize) ++file->n_wildcards;
    gpointer source;

    if (g_hash_table_lookup_extended (file->sources, GSIZE_TO_POINTER (receive), NULL, &source))
      op->matched_source = GPOINTER_TO_INT (source);
  }
  if (compute->gap_ps > 0 || compute->instructions > 0)
    compute->kind = TRACE_OP_COMPUTE;

  /* A replay relies on these. */
  if (!are_sizes (&op->bytes, 1) || !are_sizes (&op->recv_bytes, 1) ||
      !are_sizes (op->counts, op->n_counts) || !are_sizes (op->recv_counts, op->n_recv_counts) ||
      op->peer < TRACE_PROC_NULL || op->recv_peer < TRACE_PROC_NULL ||
      op->matched_source < TRACE_PROC_NULL)
    return FALSE;
  n_indices = op->kind == TRACE_OP_IPROBE ? 1 : op->n_requests;
  for (uint32_t i = 0; i < op->n_completed; i++)
    if (op->completed[i] >= n_indices)
      return FALSE;
  if ((op->kind == TRACE_OP_CANCEL || op->kind == TRACE_OP_REQUEST_FREE) && op->n_requests != 1)
    return FALSE;
  return !trace_op_is_neighborhood (op->kind) ||
         (op->n_values == op->n_counts && file->values2->len == op->n_recv_counts);
}

/* The next operation, and the computation before it in *compute: its kind is
 * TRACE_OP_COMPUTE when there was any, else it is not set.  Arrays live until
 * the next call. */
static TraceNext
file_next (RecordingFile *file, TraceOp *compute, TraceOp *op, GError **error)
{
  Input *input = &file->payload;

  memset (compute, 0, sizeof *compute);
  compute->kind = TRACE_N_OPS;
  if (file->sources == NULL && !read_sources (file, error))
    return TRACE_NEXT_ERROR;
  for (;;) {
    uint64_t n;

    /* The number of operations of a block and its entries must agree. */
    while (input->at == input->end) {
      TraceNext next;
      Block block;

      file->operation_at = file->block_at;
      if (file->n_left > 0)
        return bad (file, "operations are missing in the block before", error);
      next = next_block (file, &file->block_at, TRUE, &block, &file->is_cut, error);
      if (next != TRACE_NEXT_OPERATION)
        return next;
      *input = (Input){ block.payload, block.payload + block.n_payload };
      file->n_left = block.n_operations;
    }
    file->operation_at = (gsize) (input->at - file->data);
    if (*input->at != RECORDING_STRING)
      break;
    input->at++;
    if (!get (input, &n) || n > MAX_STRING_BYTES || n > (gsize) (input->end - input->at))
      return bad (file, "not a string", error);
    g_ptr_array_add (file->strings,
                     (gpointer) keep_string (file->pool, g_strndup ((const char *) input->at, n)));
    input->at += n;
  }
  if (file->n_left-- == 0)
    return bad (file, "more operations than the block says", error);
  if (!get_operation (file, compute, op))
    return bad (file, "not an operation", error);
  return TRACE_NEXT_OPERATION;
}

/* --- The folder of a recording, with a file for each rank --- */

/* Ranks whose files an open recording looks for. */
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

  g_hash_table_unref (state->strings.strings);
  g_mutex_clear (&state->strings.lock);
  g_free (state);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC (State, close_state)

static gpointer
open_trace (Trace *trace, const char *path, const TraceOptions *options, uint32_t *n_ranks,
            GPtrArray *files, GError **error)
{
  g_autoptr (State) state = g_new0 (State, 1);
  g_autofree char *folder = g_path_get_dirname (path), *note = NULL;
  g_autoptr (RecordingFile) file = NULL;
  const char *counters;

  state->trace = trace;
  state->files = files;
  g_mutex_init (&state->strings.lock);
  state->strings.strings = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  if (!trace_refuse_region (path, options, error))
    return NULL;

  /* The header of any rank has the number of ranks. */
  file = file_open (path, &state->strings, error);
  if (file == NULL || !header_number (file, "ranks", MAX_RANKS, &state->n_ranks, error))
    return NULL;
  if (state->n_ranks == 0) {
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_RANGE, "%s: a recording of 0 ranks", path);
    return NULL;
  }
  counters = header_value (file, "counters");
  if (counters != NULL && g_str_has_prefix (counters, "none")) {
    note = g_strconcat ("no hardware counters", counters + strlen ("none"), NULL);
    trace_note (trace, note);
  }

  for (uint32_t rank = 0; rank < state->n_ranks; rank++) {
    g_autofree char *name = g_strdup_printf (RECORDING_FILE, rank);
    g_autofree char *expected = g_build_filename (folder, name, NULL);
    char *found = trace_file_find (expected);

    if (found == NULL) {
      g_set_error (error, TRACE_ERROR, TRACE_ERROR_OPEN,
                   "%s: the file of rank %u is missing; the recording has %u ranks", expected, rank,
                   state->n_ranks);
      return NULL;
    }
    g_ptr_array_add (files, found);
  }
  *n_ranks = state->n_ranks;
  return g_steal_pointer (&state);
}

static void
cursor_free (gpointer data)
{
  Cursor *cursor = data;

  file_close (cursor->file);
  g_free (cursor->place);
  g_free (cursor);
}

static gpointer
cursor_new (gpointer data, uint32_t rank, GError **error)
{
  State *state = data;
  const char *path = state->files->pdata[rank];
  g_autoptr (RecordingFile) file = file_open (path, &state->strings, error);
  uint32_t said_rank, said_ranks;
  Cursor *cursor;

  if (file == NULL || !header_number (file, "rank", G_MAXUINT32, &said_rank, error) ||
      !header_number (file, "ranks", G_MAXUINT32, &said_ranks, error))
    return NULL;
  if (said_rank != rank || said_ranks != state->n_ranks) {
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_RANGE,
                 "%s: belongs to rank %u of %u, not %u of %u", path, said_rank, said_ranks, rank,
                 state->n_ranks);
    return NULL;
  }
  cursor = g_new0 (Cursor, 1);
  cursor->state = state;
  cursor->rank = rank;
  cursor->file = g_steal_pointer (&file);
  return cursor;
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
  next = file_next (cursor->file, &compute, op, error);
  if (next == TRACE_NEXT_END) {
    cursor->ended = TRUE;
    if (!cursor->has_finalize || cursor->file->is_cut)
      trace_warn (cursor->state->trace,
                  "no MPI_Finalize: some ranks were ended before, and what they "
                  "did last may be missing");
    return TRACE_NEXT_END;
  }
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
      g_strdup_printf ("%s:0x%" G_GOFFSET_MODIFIER "x", base, (goffset) cursor->file->operation_at);
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
};
