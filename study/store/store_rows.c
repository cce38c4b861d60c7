/* store_rows.c - the rows, machines, placements and edges of a store, in and out.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/aggregate/program_file.h"
#include "study/inputs.h"
#include "study/plan/plan.h"
#include "study/store/row_fields.h"
#include "study/store/store_private.h"

#include <float.h>
#include <string.h>

/* Between the warnings of a row. */
#define SEPARATOR "\n"

/* Of study_store_rows(), blobs aside. */
#define MAX_ROWS_BYTES (G_GUINT64_CONSTANT (1) << 32)

/* Limits of a run: the simulated clock has 2^63 picoseconds, the largest torus has 2^20 nodes, the
 * largest fabric as many devices. */
#define MAX_TIME_S 1e7
#define MAX_NODES  (1 << 20)
#define MAX_LINKS  (1 << 24)

#define RANK_WORDS (sizeof (StudyRankTimes) / sizeof (uint64_t))

/* Words of an edge: source and destination in the first, messages, bytes. */
#define EDGE_WORDS 3

/* --- Rows: writing --- */

static void
bind_field (sqlite3_stmt *statement, int at, const StudyRow *row, const StudyField *field)
{
  gpointer value = study_row_at (row, field);

  if (!study_row_knows (row, field)) {
    sqlite3_bind_null (statement, at);
    return;
  }
  switch (field->kind) {
  case STUDY_FIELD_TEXT: study_store_bind_text (statement, at, *(char **) value); return;
  case STUDY_FIELD_REAL: sqlite3_bind_double (statement, at, *(double *) value); return;
  case STUDY_FIELD_STATUS:
    study_store_bind_text (statement, at, study_status_name (row->status));
    return;
  case STUDY_FIELD_LIST:
    sqlite3_bind_text (statement, at, g_strjoinv (SEPARATOR, *(char ***) value), -1, g_free);
    return;
  case STUDY_FIELD_U32:
  case STUDY_FIELD_U64:
  default: sqlite3_bind_int64 (statement, at, (sqlite3_int64) study_row_integer (row, field));
  }
}

/* The blob holds words of 64 bits, integers or doubles. */
static void
bind_packed (sqlite3_stmt *statement, int at, GBytes *blob)
{
  gsize n_bytes, n_packed;
  const uint64_t *words;
  gpointer packed;

  if (blob == NULL) {
    sqlite3_bind_null (statement, at);
    return;
  }
  words = g_bytes_get_data (blob, &n_bytes);
  packed = g_bytes_unref_to_data (study_pack_words (words, n_bytes / sizeof *words), &n_packed);
  sqlite3_bind_blob64 (statement, at, packed, n_packed, g_free);
}

gboolean
study_store_insert_row (StudyStore *store, const StudyRow *row, GError **error)
{
  gboolean done;

  if (store->put_blobs == NULL) {
    g_autoptr (GString) insert = g_string_new ("INSERT OR IGNORE INTO runs VALUES (?");

    for (guint at = 1; at < study_row_n_fields (); at++)
      g_string_append (insert, ",?");
    g_string_append_c (insert, ')');
    if ((store->drop_failed = study_store_prepare (
             store, "DELETE FROM runs WHERE key = ? AND status = 'failed'", error)) == NULL ||
        (store->put_run = study_store_prepare (store, insert->str, error)) == NULL ||
        (store->put_blobs = study_store_prepare (
             store, "INSERT OR REPLACE INTO blobs VALUES (?, ?, ?)", error)) == NULL)
      return FALSE;
  }
  study_store_bind_text (store->drop_failed, 1, row->key);
  if (!study_store_run (store, store->drop_failed, error))
    return FALSE;
  for (guint at = 0; at < study_row_n_fields (); at++)
    bind_field (store->put_run, (int) at + 1, row, study_row_field (at));
  if (!study_store_run (store, store->put_run, error))
    return FALSE;
  if (sqlite3_changes (store->db) == 0 || (row->link_bytes == NULL && row->rank_times == NULL))
    return TRUE;
  study_store_bind_text (store->put_blobs, 1, row->key);
  bind_packed (store->put_blobs, 2, row->link_bytes);
  bind_packed (store->put_blobs, 3, row->rank_times);
  done = study_store_run (store, store->put_blobs, error);
  sqlite3_clear_bindings (store->put_blobs);
  return done;
}

/* --- Rows: reading --- */

gboolean
study_store_status_cell (const StudyStoreCursor *cursor, int at, StudyStatus *status,
                         GError **error)
{
  const char *text;

  if (!study_store_text_cell (cursor, at, "status", STUDY_STORE_MAX_NAME, FALSE, &text, error))
    return FALSE;
  *status = strcmp (text, study_status_name (STUDY_DONE)) == 0 ? STUDY_DONE : STUDY_FAILED;
  return strcmp (text, study_status_name (*status)) == 0 ||
         study_store_bad_cell (cursor, "status", error, "\"%.80s\" is none of done, failed", text);
}

/* A cell of the table runs or plan, checked by the limits of its field. */
static gboolean
read_field (const StudyStoreCursor *cursor, int at, const StudyField *field, StudyRow *row,
            GError **error)
{
  gpointer to = study_row_at (row, field);
  gsize offset = field->offset;
  const char *text;

  switch (field->kind) {
  case STUDY_FIELD_STATUS: return study_store_status_cell (cursor, at, &row->status, error);

  case STUDY_FIELD_TEXT: {
    gboolean is_key = offset == G_STRUCT_OFFSET (StudyRow, key);
    gboolean is_error = offset == G_STRUCT_OFFSET (StudyRow, error);
    gsize max_bytes = is_error ? STUDY_STORE_MAX_TEXT : STUDY_STORE_MAX_NAME;
    const char *const *choices = offset == G_STRUCT_OFFSET (StudyRow, network) ? study_network_names
                                 : offset == G_STRUCT_OFFSET (StudyRow, routing)
                                     ? study_routing_names
                                     : NULL;
    gboolean is_read =
        is_key || g_str_has_suffix (field->name, "_hash")
            ? study_store_hash_cell (cursor, at, field->name, !is_key, &text, error)
            : study_store_text_cell (cursor, at, field->name, max_bytes, is_error, &text, error);

    if (!is_read)
      return FALSE;
    if (choices != NULL && !g_strv_contains (choices, text)) {
      g_autofree char *list = g_strjoinv (", ", (char **) choices);

      return study_store_bad_cell (cursor, field->name, error, "\"%.80s\" is none of %s", text,
                                   list);
    }
    *(char **) to = g_strdup (text);
    return TRUE;
  }

  case STUDY_FIELD_REAL: {
    gboolean is_time = offset >= G_STRUCT_OFFSET (StudyRow, time_s) &&
                       offset <= G_STRUCT_OFFSET (StudyRow, wait_s_max);
    gboolean is_feature = offset >= G_STRUCT_OFFSET (StudyRow, features) &&
                          offset < G_STRUCT_OFFSET (StudyRow, wall_s);

    return study_store_real_cell (cursor, at, field->name, is_feature ? -DBL_MAX : 0,
                                  is_time ? MAX_TIME_S : DBL_MAX, to, error);
  }

  case STUDY_FIELD_LIST:
    if (!study_store_text_cell (cursor, at, field->name, STUDY_STORE_MAX_TEXT, TRUE, &text, error))
      return FALSE;
    if (text != NULL && *text != '\0') {
      g_strfreev (row->warnings);
      row->warnings = g_strsplit (text, SEPARATOR, -1);
    }
    return TRUE;

  case STUDY_FIELD_U32:
  case STUDY_FIELD_U64:
  default: {
    gboolean is_seed = offset == G_STRUCT_OFFSET (StudyRow, seed); /* any 64 bits */
    gint64 number = 0;
    gint64 most = offset == G_STRUCT_OFFSET (StudyRow, ranks_per_node) ? TOPO_MAX_RANKS_PER_NODE
                  : offset == G_STRUCT_OFFSET (StudyRow, nodes)        ? MAX_NODES
                  : offset == G_STRUCT_OFFSET (StudyRow, links)        ? MAX_LINKS
                  : field->kind == STUDY_FIELD_U32                     ? G_MAXUINT32
                                                                       : G_MAXINT64;

    /* The counts from the factor on are NULL where the run has no such count. */
    if (offset >= G_STRUCT_OFFSET (StudyRow, shrink_factor) &&
        sqlite3_column_type (cursor->statement, at) == SQLITE_NULL)
      return TRUE;
    if (!study_store_integer_cell (cursor, at, field->name, is_seed ? G_MININT64 : 0, most, &number,
                                   error))
      return FALSE;
    study_row_set_integer (row, field, (uint64_t) number);
    return TRUE;
  }
  }
}

StudyRow *
study_store_row_at (const StudyStoreCursor *cursor, gboolean is_of_plan, GError **error)
{
  g_autoptr (StudyRow) row = study_row_new ();
  int first = is_of_plan ? 2 : 1;
  StudyStoreCursor run = { .store = cursor->store,
                           .statement = cursor->statement,
                           .table = "runs",
                           .row = sqlite3_column_int64 (cursor->statement, first - 1) };

  for (guint at = 0; at < study_row_n_fields (); at++) {
    const StudyField *field = study_row_field (at);
    gboolean is_plans = is_of_plan && study_store_is_plans (field->name);

    if (!read_field (is_plans ? cursor : &run, first + (int) at, field, row, error))
      return NULL;
  }
  if (row->status == STUDY_DONE &&
      (row->ranks == 0 || row->ranks > (uint64_t) row->nodes * row->ranks_per_node)) {
    study_store_bad_cell (&run, "ranks", error,
                          "%u ranks of a run that was made on %u nodes of %u slots each",
                          row->ranks, row->nodes, row->ranks_per_node);
    return NULL;
  }
  return g_steal_pointer (&row);
}

static void
take_words (GBytes **blob, uint64_t *words, gsize n_words)
{
  g_clear_pointer (blob, g_bytes_unref);
  if (words != NULL)
    *blob = g_bytes_new_take (words, n_words * sizeof *words);
}

gboolean
study_store_load_blobs (StudyStore *store, StudyRow *row, GError **error)
{
  g_auto (StudyStoreCursor) cursor = study_store_select (
      store, "blobs", G_MININT64, "SELECT rowid, link_bytes, rank_times FROM blobs WHERE key = ?",
      row->key, error);
  gsize n_links, n_times, n_expected = (gsize) row->ranks * RANK_WORDS;
  g_autofree uint64_t *times = NULL;
  uint64_t *links;

  if (!study_store_next (&cursor, error))
    return !cursor.failed;
  if (!study_store_words_cell (&cursor, 2, "rank_times", TRUE, n_expected, n_expected, &times,
                               &n_times, error))
    return FALSE;
  for (gsize at = 0; at < n_times; at++) {
    double time_s;

    memcpy (&time_s, &times[at], sizeof time_s);
    if (!(time_s >= 0 && time_s <= MAX_TIME_S))
      return study_store_bad_cell (&cursor, "rank_times", error,
                                   "%g, of rank %" G_GSIZE_FORMAT ", is not within 0 to %g", time_s,
                                   at / RANK_WORDS, MAX_TIME_S);
  }
  /* At least a word per link; ports without a cable have one too. */
  if (!study_store_words_cell (&cursor, 1, "link_bytes", TRUE, row->links, MAX_LINKS, &links,
                               &n_links, error))
    return FALSE;
  take_words (&row->link_bytes, links, n_links);
  take_words (&row->rank_times, g_steal_pointer (&times), n_times);
  return TRUE;
}

/* The memory that a row takes without its blobs. */
static gsize
row_bytes (const StudyRow *row)
{
  gsize n_bytes = sizeof *row;

  for (guint at = 0; at < study_row_n_fields (); at++) {
    const StudyField *field = study_row_field (at);
    const char *text =
        field->kind == STUDY_FIELD_TEXT ? *(char **) study_row_at (row, field) : NULL;

    n_bytes += text != NULL ? strlen (text) : 0;
  }
  for (char **warning = row->warnings; *warning != NULL; warning++)
    n_bytes += sizeof *warning + strlen (*warning);
  return n_bytes;
}

GPtrArray *
study_store_rows (StudyStore *store, gboolean with_blobs, GError **error)
{
  g_autofree char *sql = study_store_results_sql ();
  g_auto (StudyStoreCursor) cursor = study_store_select (store, "plan", -1, sql, NULL, error);
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify) study_row_free);
  gsize n_bytes = 0;

  while (study_store_next (&cursor, error)) {
    StudyRow *row = study_store_row_at (&cursor, TRUE, error);

    if (row == NULL)
      return NULL;
    g_ptr_array_add (rows, row);
    /* A plan that lists one run many times makes many rows of a small file. */
    n_bytes += row_bytes (row);
    if (n_bytes > MAX_ROWS_BYTES) {
      study_store_damaged (store, "its rows take more than 4 GiB", error);
      return NULL;
    }
  }
  if (cursor.failed)
    return NULL;
  for (guint at = 0; with_blobs && at < rows->len; at++)
    if (!study_store_load_blobs (store, g_ptr_array_index (rows, at), error))
      return NULL;
  return g_steal_pointer (&rows);
}

StudyRow *
study_store_find (StudyStore *store, const char *key, GError **error)
{
  g_auto (StudyStoreCursor) cursor = study_store_select (
      store, "runs", G_MININT64, "SELECT rowid, * FROM runs WHERE key = ?", key, error);

  return study_store_next (&cursor, error) ? study_store_row_at (&cursor, FALSE, error) : NULL;
}

GHashTable *
study_store_keys (StudyStore *store, gboolean failed, GError **error)
{
  g_auto (StudyStoreCursor) cursor = study_store_select (
      store, "runs", G_MININT64, "SELECT rowid, key, status FROM runs ORDER BY rowid", NULL, error);
  g_autoptr (GHashTable) keys = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  StudyStatus status;
  const char *key;

  while (study_store_next (&cursor, error)) {
    if (!study_store_hash_cell (&cursor, 1, "key", FALSE, &key, error) ||
        !study_store_status_cell (&cursor, 2, &status, error))
      return NULL;
    if (failed || status == STUDY_DONE)
      g_hash_table_add (keys, g_strdup (key));
  }
  return cursor.failed ? NULL : g_steal_pointer (&keys);
}

/* --- Machines, placements and edges, which rows name by their hashes --- */

static void
bind_bytes (sqlite3_stmt *statement, int at, GBytes *bytes)
{
  sqlite3_bind_blob64 (statement, at, g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes),
                       SQLITE_STATIC);
}

/* The store has the content of the hash from then on. */
static gboolean
put_known (StudyStore *store, sqlite3_stmt *statement, const char *hash, GError **error)
{
  if (!study_store_run (store, statement, error))
    return FALSE;
  g_hash_table_add (store->known, g_strdup (hash));
  return TRUE;
}

static void
not_kept (const StudyStoreCursor *cursor, const char *what, const char *name, GError **error)
{
  if (!cursor->failed)
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_STORE, "%s: the %s of '%s' was not kept",
                 cursor->store->path, what, name != NULL ? name : "");
}

/* --- Machines --- */

gboolean
study_store_put_machine (StudyStore *store, const char *hash, const char *text, GError **error)
{
  g_autoptr (sqlite3_stmt) statement = NULL;

  if (g_hash_table_contains (store->known, hash))
    return TRUE;
  /* A store of an older version has no hashes of files in the text. */
  statement = study_store_prepare (store,
                                   "INSERT INTO machines VALUES (?, ?)"
                                   " ON CONFLICT (hash) DO UPDATE SET text = excluded.text"
                                   " WHERE text IS NOT excluded.text",
                                   error);
  if (statement == NULL)
    return FALSE;
  study_store_bind_text (statement, 1, hash);
  study_store_bind_text (statement, 2, text);
  return put_known (store, statement, hash, error);
}

gboolean
study_store_check_machine_columns (const StudyStoreCursor *cursor, GError **error)
{
  const char *hash, *text;

  return study_store_hash_cell (cursor, 1, "hash", FALSE, &hash, error) &&
         study_store_text_cell (cursor, 2, "text", STUDY_STORE_MAX_TEXT, FALSE, &text, error);
}

gboolean
study_store_check_machine (const StudyStore *store, const TopoMachine *machine, const StudyRow *row,
                           GError **error)
{
  uint32_t n_nodes = topo_shape_nodes (&machine->shape);

  if (row->nodes == n_nodes && row->ranks_per_node == machine->ranks_per_node)
    return TRUE;
  g_set_error (error, STUDY_ERROR, STUDY_ERROR_DAMAGED,
               "%s: table runs, key %.12s..., columns nodes and ranks_per_node: %u and %u, but its "
               "machine has %u and %u; the store is damaged or was changed by another program",
               store->path, row->key, row->nodes, row->ranks_per_node, n_nodes,
               machine->ranks_per_node);
  return FALSE;
}

TopoMachine *
study_store_machine (StudyStore *store, const StudyRow *row, GError **error)
{
  g_auto (StudyStoreCursor) cursor =
      study_store_select (store, "machines", G_MININT64,
                          "SELECT rowid, * FROM machines WHERE hash = ?", row->machine_hash, error);
  g_autoptr (StudyTextFile) file = NULL;
  g_autoptr (GHashTable) hashes = NULL;
  g_autoptr (TopoMachine) machine = NULL;
  g_autoptr (GError) trouble = NULL;
  g_autofree char *hash = NULL;
  const char *text;

  if (!study_store_next (&cursor, error)) {
    not_kept (&cursor, "machine", row->machine, error);
    return NULL;
  }
  if (!study_store_check_machine_columns (&cursor, error))
    return NULL;

  /* Machine files are read from files. */
  text = (const char *) sqlite3_column_text (cursor.statement, 2);
  file = study_text_file_new (text, &trouble);
  hashes = study_machine_text_hashes (text);
  machine = file != NULL ? topo_machine_new_known (file->path, hashes, &trouble) : NULL;
  if (machine == NULL) {
    if (g_error_matches (trouble, TOPO_ERROR, TOPO_ERROR_CHANGED))
      g_set_error (error, STUDY_ERROR, STUDY_ERROR_CHANGED,
                   "%s: table machines, row %" G_GINT64_FORMAT
                   ": the files that describe %s are not "
                   "known to be those that it was simulated with: %s; 'hopcast study run' of its "
                   "study stores their hashes",
                   store->path, cursor.row, row->machine, trouble->message);
    else
      g_set_error (error, STUDY_ERROR, STUDY_ERROR_STORE,
                   "%s: table machines, row %" G_GINT64_FORMAT ", column text: %s", store->path,
                   cursor.row, trouble->message);
    return NULL;
  }
  hash = study_machine_hash (machine);
  if (g_strcmp0 (hash, row->machine_hash) != 0) {
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_CHANGED,
                 "%s: the files that describe %s have changed since it was simulated", store->path,
                 row->machine);
    return NULL;
  }
  return study_store_check_machine (store, machine, row, error) ? g_steal_pointer (&machine) : NULL;
}

/* --- Placements: a word per rank, the node in its lower half, the slot in its upper half --- */

GBytes *
study_store_pack_places (const TopoMapping *mapping)
{
  g_autofree uint64_t *words = g_new (uint64_t, mapping->n_ranks);

  for (uint32_t rank = 0; rank < mapping->n_ranks; rank++)
    words[rank] = mapping->node[rank] | (uint64_t) mapping->slot[rank] << 32;
  return study_pack_words (words, mapping->n_ranks);
}

gboolean
study_store_put_places (StudyStore *store, const StudyPacked *places, GError **error)
{
  g_autoptr (sqlite3_stmt) statement = NULL;

  if (g_hash_table_contains (store->known, places->hash))
    return TRUE;
  statement =
      study_store_prepare (store, "INSERT OR IGNORE INTO placements VALUES (?, ?, ?)", error);
  if (statement == NULL)
    return FALSE;
  study_store_bind_text (statement, 1, places->hash);
  sqlite3_bind_int64 (statement, 2, places->n_ranks);
  bind_bytes (statement, 3, places->packed);
  return put_known (store, statement, places->hash, error);
}

/* The mapping of "SELECT rowid, * FROM placements", checked against its hash. */
static TopoMapping *
read_places (const StudyStoreCursor *cursor, GError **error)
{
  g_autoptr (TopoMapping) mapping = g_new0 (TopoMapping, 1);
  g_autofree uint64_t *words = NULL;
  g_autofree char *actual = NULL;
  const char *hash;
  gint64 n_ranks;
  gsize n_words;

  if (!study_store_hash_cell (cursor, 1, "hash", FALSE, &hash, error) ||
      !study_store_integer_cell (cursor, 2, "ranks", 1, STUDY_STORE_MAX_WORDS, &n_ranks, error) ||
      !study_store_words_cell (cursor, 3, "places", FALSE, (gsize) n_ranks, (gsize) n_ranks, &words,
                               &n_words, error))
    return NULL;
  mapping->n_ranks = (uint32_t) n_ranks;
  mapping->node = g_new (uint32_t, n_ranks);
  mapping->slot = g_new (uint8_t, n_ranks);
  for (uint32_t rank = 0; rank < mapping->n_ranks; rank++) {
    if (words[rank] >> 32 >= TOPO_MAX_RANKS_PER_NODE) {
      study_store_bad_cell (cursor, "places", error, "slot %u of rank %u",
                            (uint32_t) (words[rank] >> 32), rank);
      return NULL;
    }
    mapping->node[rank] = (uint32_t) words[rank];
    mapping->slot[rank] = (uint8_t) (words[rank] >> 32);
  }
  actual = study_mapping_hash (mapping);
  if (strcmp (actual, hash) != 0) {
    study_store_bad_cell (cursor, "places", error, "the places do not match their hash");
    return NULL;
  }
  return g_steal_pointer (&mapping);
}

gboolean
study_store_check_places_columns (const StudyStoreCursor *cursor, GError **error)
{
  g_autoptr (TopoMapping) mapping = read_places (cursor, error);

  return mapping != NULL;
}

/* Every rank has a slot of its own on the row's machine. */
static gboolean
check_places (const StudyStoreCursor *cursor, const TopoMapping *mapping, const StudyRow *row,
              GError **error)
{
  g_autofree uint64_t *taken = NULL; /* a bit per slot, all nodes in a row */
  gsize place;

  if (mapping->n_ranks != row->ranks)
    return study_store_bad_cell (cursor, "ranks", error, "%u, but a run of it has %u",
                                 mapping->n_ranks, row->ranks);
  taken = g_new0 (uint64_t, (gsize) row->nodes * row->ranks_per_node / 64 + 1);
  for (uint32_t rank = 0; rank < mapping->n_ranks; rank++) {
    uint32_t node = mapping->node[rank], slot = mapping->slot[rank];

    if (node >= row->nodes || slot >= row->ranks_per_node)
      return study_store_bad_cell (cursor, "places", error,
                                   "rank %u is in slot %u of node %u; a machine of its runs has %u "
                                   "nodes of %u slots",
                                   rank, slot, node, row->nodes, row->ranks_per_node);
    place = (gsize) node * row->ranks_per_node + slot;
    if (taken[place / 64] >> place % 64 & 1)
      return study_store_bad_cell (cursor, "places", error,
                                   "rank %u is in slot %u of node %u, like an earlier rank", rank,
                                   slot, node);
    taken[place / 64] |= G_GUINT64_CONSTANT (1) << place % 64;
  }
  return TRUE;
}

TopoMapping *
study_store_placement (StudyStore *store, const StudyRow *row, GError **error)
{
  g_auto (StudyStoreCursor) cursor = study_store_select (
      store, "placements", G_MININT64, "SELECT rowid, * FROM placements WHERE hash = ?",
      row->mapping_hash, error);
  g_autoptr (TopoMapping) mapping = NULL;

  if (!study_store_next (&cursor, error)) {
    not_kept (&cursor, "placement", row->mapping, error);
    return NULL;
  }
  mapping = read_places (&cursor, error);
  if (mapping == NULL || !check_places (&cursor, mapping, row, error))
    return NULL;
  mapping->name = g_strdup (row->mapping);
  return g_steal_pointer (&mapping);
}

/* --- Edges --- */

GBytes *
study_store_pack_edges (const SimEdge *edges, uint64_t n_edges)
{
  g_autofree uint64_t *words = g_new (uint64_t, n_edges * EDGE_WORDS + 1);

  for (uint64_t edge = 0; edge < n_edges; edge++) {
    words[edge * EDGE_WORDS] = edges[edge].source | (uint64_t) edges[edge].destination << 32;
    words[edge * EDGE_WORDS + 1] = edges[edge].messages;
    words[edge * EDGE_WORDS + 2] = edges[edge].bytes;
  }
  return study_pack_words (words, n_edges * EDGE_WORDS);
}

gboolean
study_store_put_edges (StudyStore *store, const StudyPacked *edges, GError **error)
{
  g_autoptr (sqlite3_stmt) statement =
      study_store_prepare (store, "INSERT OR IGNORE INTO edges VALUES (?, ?, ?, ?)", error);

  if (statement == NULL)
    return FALSE;
  study_store_bind_text (statement, 1, edges->hash);
  sqlite3_bind_int64 (statement, 2, edges->n_ranks);
  sqlite3_bind_int64 (statement, 3, (sqlite3_int64) edges->n_edges);
  bind_bytes (statement, 4, edges->packed);
  return study_store_run (store, statement, error);
}

gboolean
study_store_has_edges (StudyStore *store, const char *trace_hash)
{
  g_auto (StudyStoreCursor) cursor = study_store_select (
      store, "edges", G_MININT64, "SELECT 1 FROM edges WHERE trace_hash = ?", trace_hash, NULL);

  return study_store_next (&cursor, NULL);
}

/* The edges of "SELECT rowid, * FROM edges", which join ranks of the trace. */
static SimEdge *
read_edges (const StudyStoreCursor *cursor, gint64 *n_ranks, gint64 *n_edges, GError **error)
{
  g_autofree uint64_t *words = NULL;
  g_autofree SimEdge *edges = NULL;
  const char *hash;
  gsize n_words;

  if (!study_store_hash_cell (cursor, 1, "trace_hash", FALSE, &hash, error) ||
      !study_store_integer_cell (cursor, 2, "ranks", 1, G_MAXUINT32, n_ranks, error) ||
      !study_store_integer_cell (cursor, 3, "edges", 0, STUDY_STORE_MAX_EDGES, n_edges, error) ||
      !study_store_words_cell (cursor, 4, "data", FALSE, (gsize) *n_edges * EDGE_WORDS,
                               (gsize) *n_edges * EDGE_WORDS, &words, &n_words, error))
    return NULL;
  edges = g_new (SimEdge, *n_edges + 1);
  for (gint64 edge = 0; edge < *n_edges; edge++) {
    const uint64_t *word = &words[edge * EDGE_WORDS];

    edges[edge] = (SimEdge){ (uint32_t) word[0], (uint32_t) (word[0] >> 32), word[1], word[2] };
    if (edges[edge].source >= *n_ranks || edges[edge].destination >= *n_ranks) {
      study_store_bad_cell (cursor, "data", error,
                            "an edge from rank %u to %u; there are %" G_GINT64_FORMAT " ranks",
                            edges[edge].source, edges[edge].destination, *n_ranks);
      return NULL;
    }
  }
  return g_steal_pointer (&edges);
}

gboolean
study_store_check_edges_columns (const StudyStoreCursor *cursor, GError **error)
{
  gint64 n_ranks, n_edges;
  g_autofree SimEdge *edges = read_edges (cursor, &n_ranks, &n_edges, error);

  return edges != NULL;
}

SimEdge *
study_store_edges (StudyStore *store, const char *trace_hash, uint32_t n_ranks, uint64_t *n_edges,
                   GError **error)
{
  g_auto (StudyStoreCursor) cursor =
      study_store_select (store, "edges", G_MININT64,
                          "SELECT rowid, * FROM edges WHERE trace_hash = ?", trace_hash, error);
  g_autofree SimEdge *edges = NULL;
  gint64 n_ranks_there, n;

  *n_edges = 0;
  if (!study_store_next (&cursor, error))
    return NULL;
  edges = read_edges (&cursor, &n_ranks_there, &n, error);
  if (edges == NULL)
    return NULL;
  if (n_ranks_there != n_ranks) {
    study_store_bad_cell (&cursor, "ranks", error, "%" G_GINT64_FORMAT ", but a run of it has %u",
                          n_ranks_there, n_ranks);
    return NULL;
  }
  *n_edges = (uint64_t) n;
  return g_steal_pointer (&edges);
}
