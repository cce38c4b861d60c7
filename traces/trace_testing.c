/* trace_testing.c - helpers of the tests of traces/.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/trace_testing.h"

#include ".ci/test_data.h"
#include "traces/format.h"

#include <glib/gstdio.h>
#include <string.h>
#include <zlib.h>

TraceTestingFolder *
trace_testing_folder (void)
{
  g_autoptr (GError) error = NULL;
  char *folder = g_dir_make_tmp ("hopcast-traces-XXXXXX", &error);

  g_assert_no_error (error);
  return folder;
}

static void
remove_all (const char *path)
{
  GDir *dir = g_dir_open (path, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL) {
    g_autofree char *child = g_build_filename (path, name, NULL);

    remove_all (child);
  }
  if (dir != NULL)
    g_dir_close (dir);
  g_remove (path);
}

void
trace_testing_remove (TraceTestingFolder *folder)
{
  remove_all (folder);
  g_free (folder);
}

char *
trace_testing_write (const char *folder, const char *name, const void *contents, gsize n)
{
  g_autoptr (GError) error = NULL;
  char *path = g_build_filename (folder, name, NULL);

  /* Without the flags for safety, which would wait for the disk each time, an
   * existing file keeps what is beyond the new end. */
  g_remove (path);
  g_file_set_contents_full (path, contents, (gssize) n, G_FILE_SET_CONTENTS_NONE, 0666, &error);
  g_assert_no_error (error);
  return path;
}

char *
trace_testing_write_text (const char *folder, const char *name, const char *text)
{
  return trace_testing_write (folder, name, text, strlen (text));
}

char *
trace_testing_write_gzip (const char *folder, const char *name, const void *contents, gsize n)
{
  char *path = g_build_filename (folder, name, NULL);
  gzFile file = gzopen (path, "wb");

  g_assert_nonnull (file);
  g_assert_cmpint (gzwrite (file, contents, (unsigned) n), ==, (int) n);
  g_assert_cmpint (gzclose (file), ==, Z_OK);
  return path;
}

static const char *
source_root (void)
{
  const char *root = g_getenv ("G_TEST_SRCDIR");

  return root != NULL ? root : ".";
}

char *
trace_testing_shared (const char *name)
{
  g_autofree char *in_data = g_build_filename ("traces", name, NULL);

  return test_data (in_data);
}

char *
trace_testing_shipped (const char *name)
{
  return g_build_filename (source_root (), "traces", "data", name, NULL);
}

char *
trace_testing_recorded (const char *name, TraceTestingFolder **folder)
{
  g_autofree char *path = trace_testing_shared (name), *base = g_path_get_basename (name);
  g_autofree char *archive = g_strdup_printf ("%s/%s.tar.xz", path, base);
  g_autoptr (TraceTestingFolder) unpacked = NULL;
  g_autoptr (GDir) dir = NULL;
  const char *argv[] = { "tar", "-C", NULL, "-xJf", archive, NULL };
  const char *file;
  int status;

  *folder = NULL;
  if (path == NULL || !g_file_test (path, G_FILE_TEST_IS_DIR))
    return g_steal_pointer (&path);
  argv[2] = unpacked = trace_testing_folder ();
  if (!g_spawn_sync (NULL, (char **) argv, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_STDERR_TO_DEV_NULL,
                     NULL, NULL, NULL, NULL, &status, NULL) ||
      status != 0) {
    g_test_skip ("tar or xz is not here");
    return NULL;
  }
  dir = g_dir_open (unpacked, 0, NULL);
  while ((file = g_dir_read_name (dir)) != NULL)
    if (g_str_has_suffix (file, ".meta") || g_str_has_suffix (file, ".txt")) {
      *folder = g_steal_pointer (&unpacked);
      return g_build_filename (*folder, file, NULL);
    }
  g_error ("%s has neither a .meta file nor a list", archive);
}

Trace *
trace_testing_open (const char *path)
{
  g_autoptr (GError) error = NULL;
  Trace *trace = trace_open (path, NULL, &error);

  g_assert_no_error (error);
  g_assert_nonnull (trace);
  return trace;
}

gboolean
trace_testing_read (const char *path, const TraceOptions *options, GError **error)
{
  g_autoptr (GError) trouble = NULL;
  g_autoptr (Trace) trace = trace_open (path, options, &trouble);

  g_assert_true ((trace == NULL) == (trouble != NULL));
  for (uint32_t rank = 0; trouble == NULL && rank < trace_ranks (trace); rank++) {
    g_autoptr (TraceCursor) cursor = trace_cursor_new (trace, rank, &trouble);
    TraceNext next = cursor != NULL ? TRACE_NEXT_OPERATION : TRACE_NEXT_ERROR;
    TraceOp op;

    while (next == TRACE_NEXT_OPERATION)
      next = trace_cursor_next (cursor, &op, &trouble);
    g_assert_true ((next == TRACE_NEXT_ERROR) == (trouble != NULL));
  }
  if (trouble == NULL)
    return TRUE;
  g_assert_true (trouble->domain == TRACE_ERROR);
  g_propagate_error (error, g_steal_pointer (&trouble));
  return FALSE;
}

void
trace_testing_bad (const char *path, TraceError code, const char *part)
{
  g_autoptr (GError) error = NULL;

  trace_testing_read (path, NULL, &error);
  g_assert_error (error, TRACE_ERROR, (gint) code);
  if (strstr (error->message, part) == NULL)
    g_error ("expected \"%s\" in \"%s\"", part, error->message);
}

void
trace_testing_bad_file (const char *name, const void *contents, gsize n, TraceError code,
                        const char *part)
{
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
  g_autofree char *path = trace_testing_write (folder, name, contents, n);

  trace_testing_bad (path, code, part);
}

typedef struct {
  TraceTestingOp op;
  gpointer data;
  GDestroyNotify free_data;
  uint32_t n_ranks;
  gboolean is_graph;
} MadeUp;

typedef struct {
  const MadeUp *trace;
  uint32_t rank;
  uint64_t index;
} MadeUpCursor;

/* The next trace that is opened. */
static const MadeUp *to_open;

static gpointer
made_up_open (Trace *trace, const char *path, const TraceOptions *options, uint32_t *n_ranks,
              GPtrArray *files, GError **error)
{
  (void) path, (void) options, (void) files, (void) error;
  *n_ranks = to_open->n_ranks;
  if (to_open->is_graph)
    trace_set_graph (trace);
  return g_memdup2 (to_open, sizeof *to_open);
}

static void
made_up_close (gpointer data)
{
  MadeUp *state = data;

  if (state->free_data != NULL)
    state->free_data (state->data);
  g_free (state);
}

static gpointer
made_up_cursor_new (gpointer state, uint32_t rank, GError **error)
{
  MadeUpCursor *cursor = g_new0 (MadeUpCursor, 1);

  (void) error;
  cursor->trace = state;
  cursor->rank = rank;
  return cursor;
}

static TraceNext
made_up_cursor_next (gpointer data, TraceOp *op, GError **error)
{
  MadeUpCursor *cursor = data;

  (void) error;
  memset (op, 0, sizeof *op);
  return cursor->trace->op (cursor->trace->data, cursor->rank, cursor->index++, op)
             ? TRACE_NEXT_OPERATION
             : TRACE_NEXT_END;
}

static const char *
made_up_cursor_place (gpointer cursor)
{
  (void) cursor;
  return "made up";
}

static const TraceFormat made_up = {
  .name = "made-up",
  .open = made_up_open,
  .close = made_up_close,
  .cursor_new = made_up_cursor_new,
  .cursor_free = g_free,
  .cursor_next = made_up_cursor_next,
  .cursor_place = made_up_cursor_place,
};

Trace *
trace_testing_made_up (uint32_t n_ranks, gboolean is_graph, TraceTestingOp op, gpointer data,
                       GDestroyNotify free_data)
{
  const MadeUp state = { op, data, free_data, n_ranks, is_graph };

  to_open = &state;
  return trace_open_as (&made_up, "made up", NULL, NULL);
}

static void
add_channel (GHashTable *channels, uint32_t rank, const TraceOp *op)
{
  char *key = g_strdup_printf ("%u %d %d", rank, op->peer, op->tag);
  uint64_t *bytes = g_hash_table_lookup (channels, key);

  if (bytes != NULL) {
    *bytes += op->bytes;
    g_free (key);
    return;
  }
  bytes = g_new (uint64_t, 1);
  *bytes = op->bytes;
  g_hash_table_insert (channels, key, bytes);
}

static void
add_op (TraceTotals *totals, GHashTable *channels, uint32_t rank, const TraceOp *op)
{
  gboolean sends =
      op->kind == TRACE_OP_SEND || op->kind == TRACE_OP_ISEND || op->kind == TRACE_OP_SENDRECV;
  gboolean receives = op->kind == TRACE_OP_RECV || op->kind == TRACE_OP_IRECV;

  totals->n_ops[op->kind]++;
  totals->gap_ps += op->gap_ps;
  if (sends && op->peer >= 0) {
    totals->sends++;
    totals->send_bytes += op->bytes;
    add_channel (channels, rank, op);
  }
  if ((receives && op->peer != TRACE_PROC_NULL) ||
      (op->kind == TRACE_OP_SENDRECV && op->recv_peer != TRACE_PROC_NULL))
    totals->receives++;
}

/* A sum of hashes does not depend on the order of the table. */
static uint64_t
digest_of (GHashTable *channels)
{
  GHashTableIter iter;
  gpointer key, value;
  uint64_t digest = 0;

  g_hash_table_iter_init (&iter, channels);
  while (g_hash_table_iter_next (&iter, &key, &value))
    digest += (g_str_hash (key) + 1ull) * 0x9e3779b97f4a7c15ull * (*(uint64_t *) value + 1);
  return digest;
}

TraceTotals
trace_testing_totals (Trace *trace)
{
  g_autoptr (GHashTable) channels = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_autoptr (GError) error = NULL;
  TraceTotals totals = { 0 };

  for (uint32_t rank = 0; rank < trace_ranks (trace); rank++) {
    g_autoptr (TraceCursor) cursor = trace_cursor_new (trace, rank, &error);
    TraceNext next;
    TraceOp op;

    g_assert_no_error (error);
    while ((next = trace_cursor_next (cursor, &op, &error)) == TRACE_NEXT_OPERATION)
      add_op (&totals, channels, rank, &op);
    g_assert_no_error (error);
    g_assert_cmpint (next, ==, TRACE_NEXT_END);
    g_assert_cmpint (trace_cursor_next (cursor, &op, &error), ==, TRACE_NEXT_END);
  }
  totals.channels = g_hash_table_size (channels);
  totals.channel_digest = digest_of (channels);
  return totals;
}

gboolean
trace_testing_warned (const Trace *trace, const char *part)
{
  const GPtrArray *warnings = trace_warnings (trace);

  for (guint i = 0; i < warnings->len; i++)
    if (strstr (warnings->pdata[i], part) != NULL)
      return TRUE;
  return FALSE;
}

void
trace_testing_stream_open (TraceTestingStream *stream, char *folder, const char *path,
                           uint32_t rank, const TraceOptions *options)
{
  g_autoptr (GError) error = NULL;

  *stream = (TraceTestingStream){ .folder = folder };
  stream->trace = trace_open (path, options, &error);
  g_assert_no_error (error);
  stream->names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  trace_testing_stream_go_to (stream, rank);
}

void
trace_testing_stream_go_to (TraceTestingStream *stream, uint32_t rank)
{
  g_autoptr (GError) error = NULL;

  trace_cursor_free (stream->cursor);
  stream->cursor = trace_cursor_new (stream->trace, rank, &error);
  g_assert_no_error (error);
}

void
trace_testing_stream_end (TraceTestingStream *stream)
{
  g_autoptr (GError) error = NULL;
  TraceNext got = trace_cursor_next (stream->cursor, &stream->op, &error);

  g_assert_no_error (error);
  g_assert_cmpint (got, ==, TRACE_NEXT_END);
}

void
trace_testing_stream_close (TraceTestingStream *stream)
{
  trace_cursor_free (stream->cursor);
  trace_free (stream->trace);
  if (stream->folder != NULL)
    trace_testing_remove (stream->folder);
  g_clear_pointer (&stream->names, g_hash_table_unref);
}

/* The value of a field, or of an element of an array: "counts[1]". */
static char *
field_text (const TraceOp *op, const char *key)
{
  enum { I4, U4, I8, U8, BOOLEAN, REAL, STRING };
#define FIELD(name, type)                         \
  {                                               \
#name, G_STRUCT_OFFSET(TraceOp, name), (type) \
  }
  static const struct {
    const char *name;
    glong at;
    int type; /* of the elements of an array */
  } fields[] = {
    FIELD (mode, U4),
    FIELD (gap_ps, I8),
    FIELD (flops, REAL),
    FIELD (comm, U4),
    FIELD (peer, I4),
    FIELD (tag, I4),
    FIELD (bytes, U8),
    FIELD (recv_peer, I4),
    FIELD (recv_tag, I4),
    FIELD (recv_bytes, U8),
    FIELD (root, I4),
    FIELD (request, U4),
    FIELD (window, U4),
    FIELD (nonblocking, BOOLEAN),
    FIELD (matched_source, I4),
    FIELD (new_comm, U4),
    FIELD (group, U4),
    FIELD (group2, U4),
    FIELD (new_group, U4),
    FIELD (color, I4),
    FIELD (key, I4),
    FIELD (requests, U4),
    FIELD (n_requests, U4),
    FIELD (completed, U4),
    FIELD (n_completed, U4),
    FIELD (counts, U8),
    FIELD (n_counts, U4),
    FIELD (recv_counts, U8),
    FIELD (n_recv_counts, U4),
    FIELD (values, I4),
    FIELD (values2, I4),
    FIELD (n_values, U4),
    FIELD (after, U4),
    FIELD (n_after, U4),
    FIELD (after_start, U4),
    FIELD (n_after_start, U4),
    FIELD (cpu, U4),
    FIELD (call_ps, I8),
    FIELD (site, STRING),
    FIELD (name, STRING),
  };
#undef FIELD
  g_auto (GStrv) parts = g_strsplit_set (key, "[]", 3);

  for (guint i = 0; i < G_N_ELEMENTS (fields); i++) {
    const guint8 *at = (const guint8 *) op + fields[i].at;

    if (!g_str_equal (fields[i].name, parts[0]))
      continue;
    if (parts[1] != NULL) {
      gboolean wide = fields[i].type == I8 || fields[i].type == U8;

      memcpy (&at, at, sizeof at);
      g_assert_nonnull (at);
      at += g_ascii_strtoull (parts[1], NULL, 10) * (wide ? 8 : 4);
    }
    switch (fields[i].type) {
    case I4: return g_strdup_printf ("%d", *(const int32_t *) (const void *) at);
    case U4: return g_strdup_printf ("%u", *(const uint32_t *) (const void *) at);
    case I8: return g_strdup_printf ("%" G_GINT64_FORMAT, *(const int64_t *) (const void *) at);
    case U8: return g_strdup_printf ("%" G_GUINT64_FORMAT, *(const uint64_t *) (const void *) at);
    case BOOLEAN: return g_strdup_printf ("%d", *(const bool *) at);
    case REAL: return g_strdup_printf ("%.17g", *(const double *) (const void *) at);
    default: return g_strdup (*(const char *const *) (const void *) at);
    }
  }
  g_error ("TraceOp has no field \"%s\"", key);
}

static const char *
value_text (GHashTable *names, const char *key, const char *value)
{
  static const struct {
    const char *word;
    int64_t value;
  } words[] = {
    { "any", TRACE_ANY_SOURCE },      { "null", TRACE_PROC_NULL },
    { "none", TRACE_NO_ROOT },        { "world", TRACE_COMM_WORLD },
    { "self", TRACE_COMM_SELF },      { "standard", TRACE_SEND_STANDARD },
    { "ready", TRACE_SEND_READY },    { "synchronous", TRACE_SEND_SYNCHRONOUS },
    { "undefined", TRACE_UNDEFINED }, { "buffered", TRACE_SEND_BUFFERED },
  };
  G_STATIC_ASSERT (TRACE_ANY_TAG == TRACE_ANY_SOURCE);
  const char *bound = g_hash_table_lookup (names, value);

  if (bound != NULL || !g_ascii_isalpha (*value) || g_str_equal (key, "name") ||
      g_str_equal (key, "site"))
    return bound != NULL ? bound : value;
  if (g_str_equal (value, "unknown"))
    return g_intern_string (G_STRINGIFY (18446744073709551615));
  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    if (g_str_equal (words[i].word, value)) {
      g_autofree char *text = g_strdup_printf ("%" G_GINT64_FORMAT, words[i].value);

      return g_intern_string (text);
    }
  g_error ("\"%s\" is neither bound nor a word", value);
}

void
trace_testing_expect (TraceTestingStream *stream, const char *const *rows)
{
  for (; *rows != NULL; rows++) {
    g_auto (GStrv) tokens = g_strsplit (*rows, " ", -1);
    g_autoptr (GError) error = NULL;
    gboolean skips = tokens[0][0] == '+';
    TraceNext got;

    do
      got = trace_cursor_next (stream->cursor, &stream->op, &error);
    while (skips && got == TRACE_NEXT_OPERATION && stream->op.kind == TRACE_OP_COMPUTE);
    if (got != TRACE_NEXT_OPERATION)
      g_error ("expected \"%s\", but got %s", *rows, error != NULL ? error->message : "the end");
    if (!g_str_equal (trace_op_name (stream->op.kind), tokens[0] + skips))
      g_error ("expected \"%s\", but got %s", *rows, trace_op_name (stream->op.kind));
    for (guint i = 1; tokens[i] != NULL; i++) {
      gsize n = strcspn (tokens[i], "!=:");
      const char *sign = tokens[i] + n;
      g_autofree char *key = g_strndup (tokens[i], n), *found = NULL;
      const char *expected;

      found = g_strdup (g_hash_table_lookup (stream->names, key));
      if (found == NULL)
        found = field_text (&stream->op, key);
      if (*sign == ':') {
        g_hash_table_replace (stream->names, g_strdup (sign + 1), g_steal_pointer (&found));
        continue;
      }
      expected = value_text (stream->names, key, sign + 1 + (*sign == '!'));
      if ((g_strcmp0 (found, expected) == 0) != (*sign == '='))
        g_error ("expected \"%s\", but %s is %s", *rows, key, found != NULL ? found : "NULL");
    }
  }
}
