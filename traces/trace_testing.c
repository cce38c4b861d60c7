/* trace_testing.c - what the tests of traces/ share.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/trace_testing.h"

#include ".ci/test_data.h"

#include <glib/gstdio.h>
#include <string.h>
#include <zlib.h>

char *
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
trace_testing_remove (char *folder)
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

/* The archive in a folder, unpacked into another; NULL when that fails. */
static char *
unpack (const char *set, const char *name)
{
  g_autofree char *archive = g_strdup_printf ("%s/%s.tar.xz", set, name);
  char *folder = trace_testing_folder ();
  const char *const argv[] = { "tar", "-C", folder, "-xJf", archive, NULL };
  int status;

  if (g_spawn_sync (NULL, (char **) argv, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_STDERR_TO_DEV_NULL,
                    NULL, NULL, NULL, NULL, &status, NULL) &&
      status == 0)
    return folder;
  trace_testing_remove (folder);
  return NULL;
}

/* A trace in a folder: its only .meta file, or the list *.txt. */
static char *
find_trace (const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  while ((name = g_dir_read_name (dir)) != NULL)
    if (g_str_has_suffix (name, ".meta") || g_str_has_suffix (name, ".txt"))
      return g_build_filename (folder, name, NULL);
  return NULL;
}

char *
trace_testing_recorded (const char *name, char **folder)
{
  g_autofree char *where = g_build_filename ("recorded", name, NULL);
  g_autofree char *set = trace_testing_shared (where);

  if (set == NULL)
    return NULL;
  *folder = unpack (set, name);
  if (*folder != NULL)
    return find_trace (*folder);
  g_test_skip ("tar or xz is not here");
  return NULL;
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

/* Reads all streams until one fails. */
static void
read_all (Trace *trace, GError **error)
{
  for (uint32_t rank = 0; rank < trace_ranks (trace); rank++) {
    g_autoptr (TraceCursor) cursor = trace_cursor_new (trace, rank, error);
    TraceNext next = TRACE_NEXT_OPERATION;
    TraceOp op;

    if (cursor == NULL)
      return;
    while (next == TRACE_NEXT_OPERATION)
      next = trace_cursor_next (cursor, &op, error);
    if (next == TRACE_NEXT_ERROR)
      return;
  }
}

typedef enum { NUMBER, U64, I64, TEXT, PEER, TAG, ROOT, COLOR, COMM, MODE, BOOLEAN } FieldType;

/* The fields of an operation that a test can name; lists are separate. */
static const struct {
  gsize at;
  FieldType type;
  const char *name;
} fields[] = {
#define FIELD(name, type)                        \
  {                                              \
    G_STRUCT_OFFSET (TraceOp, name), type, #name \
  }
  FIELD (mode, MODE),           FIELD (gap_ps, I64),          FIELD (call_ps, I64),
  FIELD (comm, COMM),           FIELD (peer, PEER),           FIELD (tag, TAG),
  FIELD (bytes, U64),           FIELD (recv_peer, PEER),      FIELD (recv_tag, TAG),
  FIELD (recv_bytes, U64),      FIELD (root, ROOT),           FIELD (request, NUMBER),
  FIELD (nonblocking, BOOLEAN), FIELD (matched_source, PEER), FIELD (window, NUMBER),
  FIELD (new_comm, NUMBER),     FIELD (group, NUMBER),        FIELD (group2, NUMBER),
  FIELD (new_group, NUMBER),    FIELD (color, COLOR),         FIELD (key, NUMBER),
  FIELD (n_requests, NUMBER),   FIELD (n_completed, NUMBER),  FIELD (n_values, NUMBER),
  FIELD (site, TEXT),           FIELD (name, TEXT),
#undef FIELD
};

static void
append_field (GString *text, const TraceOp *op, const char *name)
{
  const guint8 *at = NULL;
  FieldType type = NUMBER;
  int32_t number;

#define LIST(list, n, format)          \
  if (g_str_equal (name, #list))       \
    for (uint32_t i = 0; i < (n); i++) \
      g_string_append_printf (text, "%s%" format, i > 0 ? "," : "", op->list[i]);
  LIST (requests, op->n_requests, G_GUINT32_FORMAT)
  LIST (completed, op->n_completed, G_GUINT32_FORMAT)
  LIST (counts, op->n_counts, G_GUINT64_FORMAT)
  LIST (recv_counts, op->n_recv_counts, G_GUINT64_FORMAT)
  LIST (values, trace_op_n_values (op), G_GINT32_FORMAT)
  LIST (values2, trace_op_n_values2 (op), G_GINT32_FORMAT)
#undef LIST
  for (guint i = 0; i < G_N_ELEMENTS (fields); i++)
    if (g_str_equal (name, fields[i].name)) {
      at = (const guint8 *) op + fields[i].at;
      type = fields[i].type;
    }
  if (at == NULL)
    return;
  memcpy (&number, at, sizeof number);
  if (type == U64)
    g_string_append_printf (text, "%" G_GUINT64_FORMAT, *(const uint64_t *) (const void *) at);
  else if (type == I64)
    g_string_append_printf (text, "%" G_GINT64_FORMAT, *(const int64_t *) (const void *) at);
  else if (type == TEXT)
    g_string_append_printf (text, "%s", *(const char *const *) (const void *) at);
  else if (type == BOOLEAN)
    g_string_append (text, *(const bool *) at ? "yes" : "no");
  else if (type == PEER && number < 0)
    g_string_append (text, number == TRACE_ANY_SOURCE ? "any" : "null");
  else if (type == TAG && number == TRACE_ANY_TAG)
    g_string_append (text, "any");
  else if (type == ROOT && number == TRACE_NO_ROOT)
    g_string_append (text, "none");
  else if (type == COLOR && number == TRACE_UNDEFINED)
    g_string_append (text, "undefined");
  else if (type == COMM && (number == TRACE_COMM_WORLD || number == TRACE_COMM_SELF))
    g_string_append (text, number == TRACE_COMM_WORLD ? "world" : "self");
  else if (type == MODE)
    g_string_append_c (text, "-bsr"[number]);
  else
    g_string_append_printf (text, "%d", number);
}

void
trace_testing_expect_list (TraceCursor *cursor, va_list arguments)
{
  const char *expected;

  for (guint n = 0; (expected = va_arg (arguments, const char *)) != NULL; n++) {
    g_auto (GStrv) words = g_strsplit (expected, " ", -1);
    g_autoptr (GError) error = NULL;
    TraceOp op;
    TraceNext next = trace_cursor_next (cursor, &op, &error);
    GString *found = g_string_new (next == TRACE_NEXT_END ? "end" : trace_op_name (op.kind));

    g_assert_no_error (error);
    for (guint i = 1; next == TRACE_NEXT_OPERATION && words[i] != NULL; i++) {
      *strchr (words[i], '=') = '\0';
      g_string_append_printf (found, " %s=", words[i]);
      append_field (found, &op, words[i]);
    }
    if (!g_str_equal (found->str, expected))
      g_error ("operation %u: expected \"%s\", found \"%s\"", n, expected, found->str);
    g_string_free (found, TRUE);
  }
}

void
trace_testing_expect (TraceCursor *cursor, ...)
{
  va_list arguments;

  va_start (arguments, cursor);
  trace_testing_expect_list (cursor, arguments);
  va_end (arguments);
}

void
trace_testing_bad (const char *path, TraceError code, const char *part)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Trace) trace = trace_open (path, NULL, &error);

  if (trace != NULL)
    read_all (trace, &error);
  g_assert_error (error, TRACE_ERROR, (gint) code);
  if (strstr (error->message, part) == NULL)
    g_error ("expected \"%s\" in \"%s\"", part, error->message);
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
