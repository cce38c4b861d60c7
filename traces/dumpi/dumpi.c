/* dumpi.c - the SST DUMPI format: file sets and streams.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A trace is PREFIX.meta and one PREFIX-NNNN.bin per rank, any of them also
 * as .gz; it can be opened by its .meta or by any of its .bin files. */
#include "traces/dumpi/dumpi_format.h"
#include "traces/trace_file.h"

#include <string.h>

#define PS_PER_NS     1000
#define PS_PER_SECOND 1000000000000
/* Seconds are recorded with 16 bits: they wrap after 18 hours. */
#define WRAP_SECONDS 65536

typedef struct {
  Trace *trace;
  uint32_t n_ranks;
  GPtrArray *files; /* borrowed from the trace */
} DumpiState;

typedef struct {
  DumpiState *state;
  uint32_t rank;
  DumpiFile *file;
  DumpiRecord record;
  DumpiOps *ops;
  gsize at; /* of the next record */
  uint64_t n_calls;
  gboolean finalized, ended;
  int64_t clock_ps; /* end of the last call; wraps undone */
  gboolean clock_set;
  TraceOp pending; /* the operation after the gap returned last */
  gboolean is_pending;
  char *place;
} DumpiCursor;

static gboolean
probe (const char *path, const guint8 *head, gsize n)
{
  static const char key[] = "\nnumprocs=";
  gsize key_bytes = strlen (key);

  (void) path;
  return (n >= 8 && memcmp (head,
                            "\xff\xaa\xdd"
                            "DUMPI",
                            8) == 0) ||
         (n >= key_bytes - 1 && memcmp (head, key + 1, key_bytes - 1) == 0) ||
         g_strstr_len ((const char *) head, (gssize) n, key) != NULL;
}

/* Value of key in `key=value` lines, or NULL. */
static char *
meta_value (const char *text, const char *key)
{
  g_auto (GStrv) lines = g_strsplit_set (text, "\r\n", -1);

  for (guint i = 0; lines[i] != NULL; i++)
    if (g_str_has_prefix (lines[i], key) && lines[i][strlen (key)] == '=')
      return g_strstrip (g_strdup (lines[i] + strlen (key) + 1));
  return NULL;
}

/* The part of a path before an ending, which may have .gz behind it; NULL
 * when it does not end so. */
static char *
without_ending (const char *path, const char *ending)
{
  gsize n = strlen (path);

  if (g_str_has_suffix (path, ".gz"))
    n -= 3;
  if (n < strlen (ending) || strncmp (path + n - strlen (ending), ending, strlen (ending)) != 0)
    return NULL;
  return g_strndup (path, n - strlen (ending));
}

/* The set's own name takes precedence over the name that the tracer recorded,
 * which is out of date once the files were renamed. */
static char *
find_rank_file (const char *prefix, const char *recorded_prefix, uint32_t rank)
{
  g_autofree char *path = g_strdup_printf ("%s-%04u.bin", prefix, rank);
  char *found = trace_file_find (path);

  if (found == NULL && recorded_prefix != NULL) {
    g_autofree char *folder = g_path_get_dirname (prefix);
    g_autofree char *name = g_path_get_basename (recorded_prefix);
    g_autofree char *other = g_strdup_printf ("%s/%s-%04u.bin", folder, name, rank);

    found = trace_file_find (other);
  }
  return found;
}

static gboolean
find_files (const char *prefix, const char *recorded_prefix, uint32_t n_ranks, GPtrArray *files,
            GError **error)
{
  for (uint32_t rank = 0; rank < n_ranks; rank++) {
    char *path = find_rank_file (prefix, recorded_prefix, rank);

    if (path == NULL)
      return TRACE_FAIL (TRACE_ERROR_OPEN, error,
                         "%s-%04u.bin: no such file, though the trace has %u ranks", prefix, rank,
                         n_ranks);
    g_ptr_array_add (files, path);
  }
  return TRUE;
}

static gboolean
open_meta (const char *path, GPtrArray *files, uint32_t *n_ranks, GError **error)
{
  g_autoptr (GBytes) bytes = trace_file_load (path, error);
  g_autofree char *prefix = NULL, *recorded_prefix = NULL, *text = NULL, *value = NULL;
  guint64 n;

  if (bytes == NULL)
    return FALSE;
  text = g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
  value = meta_value (text, "numprocs");
  if (value == NULL || !g_ascii_string_to_unsigned (value, 10, 1, G_MAXINT32, &n, NULL))
    return TRACE_FAIL (TRACE_ERROR_FORMAT, error,
                       "%s: expected numprocs=N with N above 0, found \"%s\"", path,
                       value != NULL ? value : "nothing");
  *n_ranks = (uint32_t) n;
  prefix = without_ending (path, ".meta");
  recorded_prefix = meta_value (text, "fileprefix");
  return find_files (prefix != NULL ? prefix : path, recorded_prefix, *n_ranks, files, error);
}

/* A .bin file stands for its set: that of its .meta file or, without one, all
 * the files from rank 0 on. */
static gboolean
open_bin (const char *path, GPtrArray *files, uint32_t *n_ranks, GError **error)
{
  g_autofree char *stem = without_ending (path, ".bin");
  char *dash = stem != NULL ? strrchr (stem, '-') : NULL;
  g_autofree char *meta = NULL, *found = NULL;

  if (dash == NULL || strlen (dash + 1) < 4 || strspn (dash + 1, "0123456789") != strlen (dash + 1))
    return TRACE_FAIL (TRACE_ERROR_OPEN, error,
                       "%s: DUMPI files are named PREFIX-NNNN.bin, with the rank for NNNN", path);
  *dash = '\0';
  meta = g_strconcat (stem, ".meta", NULL);
  found = trace_file_find (meta);
  if (found != NULL)
    return open_meta (found, files, n_ranks, error);
  for (*n_ranks = 0;; ++*n_ranks) {
    char *file = find_rank_file (stem, NULL, *n_ranks);

    if (file == NULL)
      break;
    g_ptr_array_add (files, file);
  }
  return *n_ranks > 0 || find_files (stem, NULL, 1, files, error);
}

static gpointer
open_set (Trace *trace, const char *path, const TraceOptions *options, uint32_t *n_ranks,
          GPtrArray *files, GError **error)
{
  g_autofree char *is_bin = without_ending (path, ".bin");
  DumpiState *state;

  if (!trace_refuse_region (path, options, error))
    return NULL;
  if (!(is_bin != NULL ? open_bin : open_meta) (path, files, n_ranks, error))
    return NULL;
  state = g_new (DumpiState, 1);
  *state = (DumpiState){ trace, *n_ranks, files };
  return state;
}

static void
cursor_free (gpointer data)
{
  DumpiCursor *cursor = data;

  dumpi_ops_free (cursor->ops);
  dumpi_record_clear (&cursor->record);
  dumpi_file_close (cursor->file);
  g_free (cursor->place);
  g_free (cursor);
}

static gpointer
cursor_new (gpointer data, uint32_t rank, GError **error)
{
  DumpiState *state = data;
  DumpiFile *file = dumpi_file_open (state->files->pdata[rank], error);
  DumpiCursor *cursor;

  if (file == NULL)
    return NULL;
  cursor = g_new0 (DumpiCursor, 1);
  cursor->state = state;
  cursor->rank = rank;
  cursor->file = file;
  cursor->at = file->body;
  dumpi_record_init (&cursor->record);
  cursor->ops = dumpi_ops_new (state->trace, file, state->n_ranks);
  return cursor;
}

/* Seconds that go back by more than half their range have wrapped. */
static int64_t
unwrap (const DumpiCursor *cursor, DumpiTime time)
{
  int64_t time_ps = time.seconds * (int64_t) PS_PER_SECOND + time.ns * (int64_t) PS_PER_NS;
  int64_t wrap_ps = WRAP_SECONDS * (int64_t) PS_PER_SECOND;

  if (cursor->clock_set && time_ps < cursor->clock_ps - wrap_ps / 2)
    time_ps += (cursor->clock_ps - wrap_ps / 2 - time_ps + wrap_ps - 1) / wrap_ps * wrap_ps;
  return time_ps;
}

static TraceNext
end_of_stream (DumpiCursor *cursor)
{
  Trace *trace = cursor->state->trace;

  cursor->ended = TRUE;
  if (cursor->file->salvage)
    trace_warn (trace,
                "rank %u: %s has no index, the tracer did not finish: %" G_GUINT64_FORMAT
                " calls could be read",
                cursor->rank, cursor->file->name, cursor->n_calls);
  for (uint32_t id = 0; id < DUMPI_N_COUNTS; id++) {
    const DumpiCall *call = &dumpi_calls[id];
    uint64_t made, ignored;

    if (call->name != NULL && call->kind != TRACE_OP_CALL &&
        dumpi_file_counts (cursor->file, id, &made, &ignored) && ignored > 0)
      trace_warn (trace, "%s was called, but is not in the records", call->name);
  }
  if (!cursor->finalized)
    trace_warn (trace, "no MPI_Finalize: the trace is a window");
  return TRACE_NEXT_END;
}

static TraceNext
cursor_next (gpointer data, TraceOp *op, GError **error)
{
  DumpiCursor *cursor = data;
  DumpiRecord *record = &cursor->record;
  Trace *trace = cursor->state->trace;
  g_autoptr (GError) trouble = NULL;
  int64_t gap_ps = 0, start_ps;
  TraceNext next;

  if (cursor->is_pending) {
    cursor->is_pending = FALSE;
    *op = cursor->pending;
    return TRACE_NEXT_OPERATION;
  }
  if (cursor->ended)
    return TRACE_NEXT_END;
  /* The next record of an MPI call. */
  do
    next = dumpi_record_next (cursor->file, &cursor->at, cursor->finalized, record, &trouble);
  while (next == TRACE_NEXT_OPERATION && record->id >= DUMPI_FUNCTION_ENTER);
  if (next == TRACE_NEXT_OPERATION && !dumpi_ops_convert (cursor->ops, record, op, &trouble))
    next = TRACE_NEXT_ERROR;
  /* In a file that was cut off, the first impossible record is its end. */
  if (next == TRACE_NEXT_END || (next == TRACE_NEXT_ERROR && cursor->file->salvage))
    return end_of_stream (cursor);
  if (next == TRACE_NEXT_ERROR) {
    g_propagate_error (error, g_steal_pointer (&trouble));
    return next;
  }
  cursor->n_calls++;
  cursor->finalized |= op->kind == TRACE_OP_FINALIZE;

  /* The time between the last call and this one, and the time of this one. */
  if (!record->timed) {
    trace_warn (trace, "no times: there is no computation between calls");
    return TRACE_NEXT_OPERATION;
  }
  if (!record->wall)
    trace_warn (trace, "no wall-clock times: gaps are processor times");
  start_ps = unwrap (cursor, record->start);
  if (cursor->clock_set)
    gap_ps = MAX (0, start_ps - cursor->clock_ps);
  cursor->clock_ps = MAX (start_ps, unwrap (cursor, record->stop));
  cursor->clock_set = TRUE;
  op->call_ps = cursor->clock_ps - start_ps;
  if (gap_ps > 0) {
    cursor->pending = *op;
    cursor->is_pending = TRUE;
    *op = (TraceOp){ .kind = TRACE_OP_COMPUTE, .gap_ps = gap_ps, .name = "compute" };
  }
  return TRACE_NEXT_OPERATION;
}

static const char *
cursor_place (gpointer data)
{
  DumpiCursor *cursor = data;

  g_free (cursor->place);
  cursor->place =
      g_strdup_printf ("%s:0x%" G_GSIZE_MODIFIER "x", cursor->file->name, cursor->record.at);
  return cursor->place;
}

const TraceFormat trace_format_dumpi = {
  .name = "dumpi",
  .summary = "SST DUMPI: a .meta file with a .bin file per rank",
  .collectives = TRACE_COLLECTIVES_PASSED,
  .probe = probe,
  .open = open_set,
  .close = g_free,
  .cursor_new = cursor_new,
  .cursor_free = cursor_free,
  .cursor_next = cursor_next,
  .cursor_place = cursor_place,
};
