/* store_rows.c - rows into a store and out of it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/aggregate/program_file.h"
#include "study/inputs.h"
#include "study/plan/plan.h"
#include "study/store/row_fields.h"
#include "study/store/store_private.h"

#include <float.h>
#include <string.h>

/* Between warnings in a column. */
#define SEPARATOR "\n"

/* Of study_store_rows(), blobs aside. */
#define MAX_ROWS_BYTES (G_GUINT64_CONSTANT (1) << 32)

#define RANK_WORDS (sizeof (StudyRankTimes) / sizeof (uint64_t))

/* --- In --- */

static void
bind_list (sqlite3_stmt *statement, int at, char *const *list)
{
  sqlite3_bind_text (statement, at, g_strjoinv (SEPARATOR, (char **) list), -1, g_free);
}

static void
bind_field (sqlite3_stmt *statement, int at, const StudyRow *row, const StudyField *field)
{
  if (!study_row_knows (row, field)) {
    sqlite3_bind_null (statement, at);
    return;
  }
  switch (field->kind) {
  case STUDY_FIELD_TEXT:
    study_store_bind_text (statement, at, *(char **) study_row_at (row, field));
    return;
  case STUDY_FIELD_REAL:
    sqlite3_bind_double (statement, at, *(double *) study_row_at (row, field));
    return;
  case STUDY_FIELD_STATUS:
    study_store_bind_text (statement, at, study_status_name (row->status));
    return;
  case STUDY_FIELD_LIST: bind_list (statement, at, *(char ***) study_row_at (row, field)); return;
  case STUDY_FIELD_U32:
  case STUDY_FIELD_U64:
  default: sqlite3_bind_int64 (statement, at, (sqlite3_int64) study_row_integer (row, field));
  }
}

static gboolean
prepare_puts (StudyStore *store, GError **error)
{
  g_autofree char *insert = study_store_insert_sql ();

  if (store->put_blobs != NULL)
    return TRUE;
  return (store->drop_failed = study_store_prepare (
              store, "DELETE FROM runs WHERE key = ? AND status = 'failed'", error)) != NULL &&
         (store->put_run = study_store_prepare (store, insert, error)) != NULL &&
         (store->put_blobs = study_store_prepare (
              store, "INSERT OR REPLACE INTO blobs VALUES (?, ?, ?)", error)) != NULL;
}

/* The words of a blob of ours, uint64_t or double. */
static void
bind_blob (sqlite3_stmt *statement, int at, GBytes *blob)
{
  gsize n_bytes, n_packed;
  const uint64_t *words;
  GBytes *packed;
  gpointer data;

  if (blob == NULL) {
    sqlite3_bind_null (statement, at);
    return;
  }
  words = g_bytes_get_data (blob, &n_bytes);
  packed = study_pack_words (words, n_bytes / sizeof *words);
  data = g_bytes_unref_to_data (packed, &n_packed);
  sqlite3_bind_blob64 (statement, at, data, n_packed, g_free);
}

static gboolean
put_blobs (StudyStore *store, const StudyRow *row, GError **error)
{
  gboolean done;

  study_store_bind_text (store->put_blobs, 1, row->key);
  bind_blob (store->put_blobs, 2, row->link_bytes);
  bind_blob (store->put_blobs, 3, row->rank_times);
  done = study_store_run (store, store->put_blobs, error);
  sqlite3_clear_bindings (store->put_blobs);
  return done;
}

gboolean
study_store_insert_row (StudyStore *store, const StudyRow *row, GError **error)
{
  if (!prepare_puts (store, error))
    return FALSE;
  study_store_bind_text (store->drop_failed, 1, row->key);
  if (!study_store_run (store, store->drop_failed, error))
    return FALSE;
  for (guint at = 0; at < study_row_n_fields (); at++)
    bind_field (store->put_run, (int) at + 1, row, study_row_field (at));
  if (!study_store_run (store, store->put_run, error))
    return FALSE;
  if (sqlite3_changes (store->db) == 0 || (row->link_bytes == NULL && row->rank_times == NULL))
    return TRUE;
  return put_blobs (store, row, error);
}

gboolean
study_store_insert_rows (StudyStore *store, StudyRow *const *rows, guint n_rows, GError **error)
{
  for (guint at = 0; at < n_rows; at++)
    if (!study_store_insert_row (store, rows[at], error))
      return FALSE;
  return TRUE;
}

gboolean
study_store_put_all (StudyStore *store, StudyRow *const *rows, guint n_rows, GError **error)
{
  return study_store_begin (store, error) &&
         study_store_end (store, study_store_insert_rows (store, rows, n_rows, error), error);
}

gboolean
study_store_put (StudyStore *store, const StudyRow *row, GError **error)
{
  return study_store_begin (store, error) &&
         study_store_end (store, study_store_insert_row (store, row, error), error);
}

/* --- Out --- */

/* What runs can be: the simulated clock has 2^63 picoseconds, the largest torus 2^20 nodes, as
 * many devices the largest fabric. */
#define MAX_TIME_S 1e7
#define MAX_NODES  (1 << 20)
#define MAX_LINKS  (1 << 24)

/* The lists of texts that a field may be; NULL: any. */
static const char *const *
choices_of (const StudyField *field)
{
  if (field->offset == G_STRUCT_OFFSET (StudyRow, network))
    return study_network_names;
  return field->offset == G_STRUCT_OFFSET (StudyRow, routing) ? study_routing_names : NULL;
}

static gboolean
is_hash (const StudyField *field)
{
  return field->offset == G_STRUCT_OFFSET (StudyRow, key) ||
         g_str_has_suffix (field->name, "_hash");
}

static gboolean
read_text (const StudyStoreRecord *record, int at, const StudyField *field, char **to,
           GError **error)
{
  gboolean is_error = field->offset == G_STRUCT_OFFSET (StudyRow, error);
  gboolean is_key = field->offset == G_STRUCT_OFFSET (StudyRow, key);
  const char *const *choices = choices_of (field);
  const char *text;

  if (!(is_hash (field)
            ? study_store_hash_cell (record, at, field->name, !is_key, &text, error)
            : study_store_text_cell (record, at, field->name,
                                     is_error ? STUDY_STORE_MAX_TEXT : STUDY_STORE_MAX_NAME,
                                     is_error, &text, error)))
    return FALSE;
  if (choices != NULL && !g_strv_contains (choices, text)) {
    g_autofree char *list = g_strjoinv (", ", (char **) choices);

    return study_store_bad_cell (record, field->name, error, "\"%.80s\" is none of %s", text, list);
  }
  *to = g_strdup (text);
  return TRUE;
}

static gboolean
read_real (const StudyStoreRecord *record, int at, const StudyField *field, double *to,
           GError **error)
{
  gboolean is_result = field->offset >= G_STRUCT_OFFSET (StudyRow, time_s) &&
                       field->offset <= G_STRUCT_OFFSET (StudyRow, wait_s_max);
  gboolean is_feature = field->offset >= G_STRUCT_OFFSET (StudyRow, features) &&
                        field->offset < G_STRUCT_OFFSET (StudyRow, wall_s);

  return study_store_real_cell (record, at, field->name, is_feature ? -DBL_MAX : 0,
                                is_result ? MAX_TIME_S : DBL_MAX, to, error);
}

/* The largest integer of a field. */
static gint64
most_of (const StudyField *field)
{
  switch (field->offset) {
  case G_STRUCT_OFFSET (StudyRow, ranks_per_node): return TOPO_MAX_RANKS_PER_NODE;
  case G_STRUCT_OFFSET (StudyRow, nodes): return MAX_NODES;
  case G_STRUCT_OFFSET (StudyRow, links): return MAX_LINKS;
  default: return field->kind == STUDY_FIELD_U32 ? G_MAXUINT32 : G_MAXINT64;
  }
}

static gboolean
read_integer (const StudyStoreRecord *record, int at, const StudyField *field, StudyRow *row,
              GError **error)
{
  gboolean is_seed = field->offset == G_STRUCT_OFFSET (StudyRow, seed); /* any 64 bits */
  gint64 number = 0;

  /* A count that the run does not have. */
  if (field->offset >= G_STRUCT_OFFSET (StudyRow, messages) &&
      sqlite3_column_type (record->statement, at) == SQLITE_NULL)
    return TRUE;
  if (!study_store_integer_cell (record, at, field->name, is_seed ? G_MININT64 : 0, most_of (field),
                                 &number, error))
    return FALSE;
  study_row_set_integer (row, field, (uint64_t) number);
  return TRUE;
}

gboolean
study_store_status_cell (const StudyStoreRecord *record, int at, StudyStatus *status,
                         GError **error)
{
  const char *text;

  if (!study_store_text_cell (record, at, "status", STUDY_STORE_MAX_NAME, FALSE, &text, error))
    return FALSE;
  *status = strcmp (text, study_status_name (STUDY_DONE)) == 0 ? STUDY_DONE : STUDY_FAILED;
  return strcmp (text, study_status_name (*status)) == 0 ||
         study_store_bad_cell (record, "status", error, "\"%.80s\" is none of done, failed", text);
}

static gboolean
read_list (const StudyStoreRecord *record, int at, const StudyField *field, char ***list,
           GError **error)
{
  const char *text;

  if (!study_store_text_cell (record, at, field->name, STUDY_STORE_MAX_TEXT, TRUE, &text, error))
    return FALSE;
  if (text != NULL && *text != '\0') {
    g_strfreev (*list);
    *list = g_strsplit (text, SEPARATOR, -1);
  }
  return TRUE;
}

static gboolean
read_field (const StudyStoreRecord *record, int at, const StudyField *field, StudyRow *row,
            GError **error)
{
  gpointer to = study_row_at (row, field);

  switch (field->kind) {
  case STUDY_FIELD_TEXT: return read_text (record, at, field, to, error);
  case STUDY_FIELD_REAL: return read_real (record, at, field, to, error);
  case STUDY_FIELD_STATUS: return study_store_status_cell (record, at, &row->status, error);
  case STUDY_FIELD_LIST: return read_list (record, at, field, to, error);
  case STUDY_FIELD_U32:
  case STUDY_FIELD_U64:
  default: return read_integer (record, at, field, row, error);
  }
}

/* A run that was made had places for its ranks. */
static gboolean
check_row (const StudyStoreRecord *record, const StudyRow *row, GError **error)
{
  if (row->status != STUDY_DONE)
    return TRUE;
  return (row->ranks > 0 && row->ranks <= (uint64_t) row->nodes * row->ranks_per_node) ||
         study_store_bad_cell (record, "ranks", error,
                               "%u ranks of a run that was made on %u nodes of %u slots each",
                               row->ranks, row->nodes, row->ranks_per_node);
}

StudyRow *
study_store_row_at (StudyStoreRecord *record, gboolean is_of_plan, GError **error)
{
  g_autoptr (StudyRow) row = study_row_new ();
  StudyStoreRecord run = { record->store, record->statement, "runs", 0 };
  int first = is_of_plan ? 2 : 1;

  if (!study_store_next_record (record, error))
    return NULL;
  run.row = sqlite3_column_int64 (record->statement, first - 1);
  for (guint at = 0; at < study_row_n_fields (); at++) {
    const StudyField *field = study_row_field (at);
    gboolean is_plans = is_of_plan && study_store_is_plans (field->name);

    if (!read_field (is_plans ? record : &run, first + (int) at, field, row, error))
      return NULL;
  }
  return check_row (&run, row, error) ? g_steal_pointer (&row) : NULL;
}

/* The seconds of ranks, as they come out of the clock. */
static gboolean
check_times (const StudyStoreRecord *record, const uint64_t *words, gsize n_words, GError **error)
{
  for (gsize at = 0; at < n_words; at++) {
    double time_s;

    memcpy (&time_s, &words[at], sizeof time_s);
    if (!(time_s >= 0 && time_s <= MAX_TIME_S))
      return study_store_bad_cell (record, "rank_times", error,
                                   "%g, of rank %" G_GSIZE_FORMAT ", is not within 0 to %g", time_s,
                                   at / RANK_WORDS, MAX_TIME_S);
  }
  return TRUE;
}

static void
take_words (GBytes **blob, uint64_t *words, gsize n_words)
{
  g_clear_pointer (blob, g_bytes_unref);
  if (words != NULL)
    *blob = g_bytes_new_take (words, n_words * sizeof *words);
}

/* A word per link that there is, and of the ports without a cable; three per rank. */
static gboolean
read_blobs (StudyStoreRecord *record, StudyRow *row, GError **error)
{
  gsize n_links, n_times, n_expected = (gsize) row->ranks * RANK_WORDS;
  g_autofree uint64_t *times = NULL;
  uint64_t *links;

  if (!study_store_next_record (record, error))
    return FALSE;
  if (!study_store_words_cell (record, 2, "rank_times", TRUE, n_expected, n_expected, &times,
                               &n_times, error) ||
      !check_times (record, times, n_times, error) ||
      !study_store_words_cell (record, 1, "link_bytes", TRUE, row->links, MAX_LINKS, &links,
                               &n_links, error))
    return FALSE;
  take_words (&row->link_bytes, links, n_links);
  take_words (&row->rank_times, g_steal_pointer (&times), n_times);
  return TRUE;
}

gboolean
study_store_load_blobs (StudyStore *store, StudyRow *row, GError **error)
{
  g_autoptr (sqlite3_stmt) statement = study_store_prepare (
      store, "SELECT rowid, link_bytes, rank_times FROM blobs WHERE key = ?", error);
  StudyStoreRecord record = { store, statement, "blobs", G_MININT64 };
  gboolean has_row;

  if (statement == NULL)
    return FALSE;
  study_store_bind_text (statement, 1, row->key);
  return study_store_step (store, statement, &has_row, error) &&
         (!has_row || read_blobs (&record, row, error));
}

/* The bytes of its texts: a row that stands for many in the plan is as many. */
static gsize
text_bytes (const StudyRow *row)
{
  gsize n_bytes = sizeof *row;

  for (guint at = 0; at < study_row_n_fields (); at++) {
    const char *text = study_row_field (at)->kind == STUDY_FIELD_TEXT
                           ? *(char **) study_row_at (row, study_row_field (at))
                           : NULL;

    n_bytes += text != NULL ? strlen (text) : 0;
  }
  for (char **warning = row->warnings; *warning != NULL; warning++)
    n_bytes += sizeof *warning + strlen (*warning);
  return n_bytes;
}

static gboolean
read_rows (StudyStore *store, GPtrArray *rows, GError **error)
{
  g_autofree char *sql = study_store_results_sql ();
  g_autoptr (sqlite3_stmt) statement = study_store_prepare (store, sql, error);
  StudyStoreRecord record = { store, statement, "plan", -1 };
  gboolean has_row = statement != NULL;
  gsize n_bytes = 0;

  while (has_row) {
    StudyRow *row;

    if (!study_store_step (store, statement, &has_row, error))
      return FALSE;
    if (!has_row)
      break;
    row = study_store_row_at (&record, TRUE, error);
    if (row == NULL)
      return FALSE;
    g_ptr_array_add (rows, row);
    n_bytes += text_bytes (row);
    if (n_bytes > MAX_ROWS_BYTES)
      return study_store_damaged (store, "its rows take more than 4 GiB", error);
  }
  return statement != NULL;
}

GPtrArray *
study_store_rows (StudyStore *store, gboolean with_blobs, GError **error)
{
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify) study_row_free);

  if (!read_rows (store, rows, error))
    return NULL;
  for (guint at = 0; with_blobs && at < rows->len; at++)
    if (!study_store_load_blobs (store, g_ptr_array_index (rows, at), error))
      return NULL;
  return g_steal_pointer (&rows);
}

StudyRow *
study_store_find (StudyStore *store, const char *key, GError **error)
{
  g_autoptr (sqlite3_stmt) statement =
      study_store_prepare (store, "SELECT rowid, * FROM runs WHERE key = ?", error);
  StudyStoreRecord record = { store, statement, "runs", G_MININT64 };
  gboolean has_row;

  if (statement == NULL)
    return NULL;
  study_store_bind_text (statement, 1, key);
  if (!study_store_step (store, statement, &has_row, error) || !has_row)
    return NULL;
  return study_store_row_at (&record, FALSE, error);
}

static gboolean
add_key (StudyStoreRecord *record, GHashTable *keys, gboolean failed, GError **error)
{
  StudyStatus status;
  const char *key;

  if (!study_store_next_record (record, error) ||
      !study_store_hash_cell (record, 1, "key", FALSE, &key, error) ||
      !study_store_status_cell (record, 2, &status, error))
    return FALSE;
  if (failed || status == STUDY_DONE)
    g_hash_table_add (keys, g_strdup (key));
  return TRUE;
}

GHashTable *
study_store_keys (StudyStore *store, gboolean failed, GError **error)
{
  g_autoptr (sqlite3_stmt) statement =
      study_store_prepare (store, "SELECT rowid, key, status FROM runs ORDER BY rowid", error);
  g_autoptr (GHashTable) keys = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  StudyStoreRecord record = { store, statement, "runs", G_MININT64 };
  gboolean has_row = statement != NULL;

  while (has_row)
    if (!study_store_step (store, statement, &has_row, error) ||
        (has_row && !add_key (&record, keys, failed, error)))
      return NULL;
  return statement != NULL ? g_steal_pointer (&keys) : NULL;
}

/* --- What the hashes of rows stand for: machines, placements, edges --- */

/* Words of an edge: source and destination in one, messages, bytes. */
#define EDGE_WORDS 3

/* --- In --- */

/* TRUE when it was put before through this connection. */
static gboolean
is_known (const StudyStore *store, const char *hash)
{
  return g_hash_table_contains (store->known, hash);
}

static gboolean
put (StudyStore *store, sqlite3_stmt *statement, const char *hash, GError **error)
{
  if (!study_store_run (store, statement, error))
    return FALSE;
  g_hash_table_add (store->known, g_strdup (hash));
  return TRUE;
}

gboolean
study_store_put_machine (StudyStore *store, const char *hash, const char *text, GError **error)
{
  g_autoptr (sqlite3_stmt) statement = NULL;

  if (is_known (store, hash))
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
  return put (store, statement, hash, error);
}

static void
bind_bytes (sqlite3_stmt *statement, int at, GBytes *bytes)
{
  sqlite3_bind_blob64 (statement, at, g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes),
                       SQLITE_STATIC);
}

void
study_places_free (StudyPlaces *places)
{
  g_free (places->hash);
  g_bytes_unref (places->packed);
  g_free (places);
}

GBytes *
study_store_pack_places (const TopoMapping *mapping)
{
  g_autofree uint64_t *words = g_new (uint64_t, mapping->n_ranks);

  for (uint32_t rank = 0; rank < mapping->n_ranks; rank++)
    words[rank] = mapping->node[rank] | (uint64_t) mapping->slot[rank] << 32;
  return study_pack_words (words, mapping->n_ranks);
}

gboolean
study_store_put_places (StudyStore *store, const char *hash, uint32_t n_ranks, GBytes *packed,
                        GError **error)
{
  g_autoptr (sqlite3_stmt) statement = NULL;

  if (is_known (store, hash))
    return TRUE;
  statement =
      study_store_prepare (store, "INSERT OR IGNORE INTO placements VALUES (?, ?, ?)", error);
  if (statement == NULL)
    return FALSE;
  study_store_bind_text (statement, 1, hash);
  sqlite3_bind_int64 (statement, 2, n_ranks);
  bind_bytes (statement, 3, packed);
  return put (store, statement, hash, error);
}

gboolean
study_store_put_placement (StudyStore *store, const char *hash, const TopoMapping *mapping,
                           GError **error)
{
  g_autoptr (GBytes) packed = is_known (store, hash) ? NULL : study_store_pack_places (mapping);

  return packed == NULL || study_store_put_places (store, hash, mapping->n_ranks, packed, error);
}

void
study_packed_edges_free (StudyPackedEdges *edges)
{
  g_free (edges->trace_hash);
  g_bytes_unref (edges->packed);
  g_free (edges);
}

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
study_store_put_packed_edges (StudyStore *store, const StudyPackedEdges *edges, GError **error)
{
  g_autoptr (sqlite3_stmt) statement =
      study_store_prepare (store, "INSERT OR IGNORE INTO edges VALUES (?, ?, ?, ?)", error);

  if (statement == NULL)
    return FALSE;
  study_store_bind_text (statement, 1, edges->trace_hash);
  sqlite3_bind_int64 (statement, 2, edges->n_ranks);
  sqlite3_bind_int64 (statement, 3, (sqlite3_int64) edges->n_edges);
  bind_bytes (statement, 4, edges->packed);
  return study_store_run (store, statement, error);
}

gboolean
study_store_put_edges (StudyStore *store, const char *trace_hash, uint32_t n_ranks,
                       const SimEdge *edges, uint64_t n_edges, GError **error)
{
  g_autoptr (GBytes) packed = study_store_pack_edges (edges, n_edges);
  const StudyPackedEdges all = { (char *) trace_hash, n_ranks, n_edges, packed };

  return study_store_put_packed_edges (store, &all, error);
}

/* --- Out --- */

/* The row of a table by its hash; NULL without an error when it is not there. */
static sqlite3_stmt *
find (StudyStore *store, const char *sql, const char *hash, GError **error)
{
  g_autoptr (sqlite3_stmt) statement = study_store_prepare (store, sql, error);
  gboolean has_row;

  if (statement == NULL)
    return NULL;
  study_store_bind_text (statement, 1, hash);
  if (!study_store_step (store, statement, &has_row, error) || !has_row)
    return NULL;
  return g_steal_pointer (&statement);
}

static void
not_kept (const StudyStore *store, const char *what, const char *name, GError **error)
{
  if (error != NULL && *error == NULL)
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_STORE, "%s: the %s of '%s' was not kept",
                 store->path, what, name != NULL ? name : "");
}

/* --- Machines --- */

gboolean
study_store_check_machine_record (StudyStoreRecord *record, GError **error)
{
  const char *hash, *text;

  return study_store_next_record (record, error) &&
         study_store_hash_cell (record, 1, "hash", FALSE, &hash, error) &&
         study_store_text_cell (record, 2, "text", STUDY_STORE_MAX_TEXT, FALSE, &text, error);
}

static gboolean
check_machine_hash (const StudyStore *store, const TopoMachine *machine, const StudyRow *row,
                    GError **error)
{
  g_autofree char *hash = study_machine_hash (machine);

  if (g_strcmp0 (hash, row->machine_hash) == 0)
    return TRUE;
  g_set_error (error, STUDY_ERROR, STUDY_ERROR_CHANGED,
               "%s: the files that describe %s are no longer what they were when it was simulated",
               store->path, row->machine);
  return FALSE;
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
  g_autoptr (sqlite3_stmt) found =
      find (store, "SELECT rowid, * FROM machines WHERE hash = ?", row->machine_hash, error);
  StudyStoreRecord record = { store, found, "machines", G_MININT64 };
  g_autoptr (TopoMachine) machine = NULL;
  g_autoptr (GError) trouble = NULL;

  if (found == NULL) {
    not_kept (store, "machine", row->machine, error);
    return NULL;
  }
  if (!study_store_check_machine_record (&record, error))
    return NULL;

  /* Machine files are read from files. */
  const char *text = (const char *) sqlite3_column_text (found, 2);
  g_autoptr (StudyTextFile) file = study_text_file_new (text, &trouble);
  g_autoptr (GHashTable) hashes = study_machine_text_hashes (text);

  machine = file != NULL ? topo_machine_new_known (file->path, hashes, &trouble) : NULL;
  if (machine == NULL) {
    if (g_error_matches (trouble, TOPO_ERROR, TOPO_ERROR_CHANGED))
      g_set_error (error, STUDY_ERROR, STUDY_ERROR_CHANGED,
                   "%s: table machines, row %" G_GINT64_FORMAT
                   ": the files that describe %s are not "
                   "known to be those that it was simulated with: %s; 'hopcast study run' of its "
                   "study stores their hashes",
                   record.store->path, record.row, row->machine, trouble->message);
    else
      g_set_error (error, STUDY_ERROR, STUDY_ERROR_STORE,
                   "%s: table machines, row %" G_GINT64_FORMAT ", column text: %s",
                   record.store->path, record.row, trouble->message);
    return NULL;
  }
  if (!check_machine_hash (store, machine, row, error) ||
      !study_store_check_machine (store, machine, row, error))
    return NULL;
  return g_steal_pointer (&machine);
}

/* --- Placements --- */

/* The mapping of "SELECT rowid, * FROM placements", which is as its hash says. */
static TopoMapping *
read_places (StudyStoreRecord *record, GError **error)
{
  g_autoptr (TopoMapping) mapping = g_new0 (TopoMapping, 1);
  g_autofree uint64_t *words = NULL;
  g_autofree char *actual = NULL;
  const char *hash;
  gint64 n_ranks;
  gsize n_words;

  if (!study_store_next_record (record, error) ||
      !study_store_hash_cell (record, 1, "hash", FALSE, &hash, error) ||
      !study_store_integer_cell (record, 2, "ranks", 1, STUDY_STORE_MAX_WORDS, &n_ranks, error) ||
      !study_store_words_cell (record, 3, "places", FALSE, (gsize) n_ranks, (gsize) n_ranks, &words,
                               &n_words, error))
    return NULL;
  mapping->n_ranks = (uint32_t) n_ranks;
  mapping->node = g_new (uint32_t, n_ranks);
  mapping->slot = g_new (uint8_t, n_ranks);
  for (uint32_t rank = 0; rank < mapping->n_ranks; rank++) {
    if (words[rank] >> 32 >= TOPO_MAX_RANKS_PER_NODE) {
      study_store_bad_cell (record, "places", error, "slot %u of rank %u",
                            (uint32_t) (words[rank] >> 32), rank);
      return NULL;
    }
    mapping->node[rank] = (uint32_t) words[rank];
    mapping->slot[rank] = (uint8_t) (words[rank] >> 32);
  }
  actual = study_mapping_hash (mapping);
  if (strcmp (actual, hash) != 0) {
    study_store_bad_cell (record, "places", error, "the places are not those of their hash");
    return NULL;
  }
  return g_steal_pointer (&mapping);
}

gboolean
study_store_check_places_record (StudyStoreRecord *record, GError **error)
{
  g_autoptr (TopoMapping) mapping = read_places (record, error);

  return mapping != NULL;
}

/* Every rank has a place of its own on the row's machine. */
static gboolean
check_places (const StudyStoreRecord *record, const TopoMapping *mapping, const StudyRow *row,
              GError **error)
{
  g_autofree uint64_t *slots = NULL; /* [nodes] a bit per slot */

  if (mapping->n_ranks != row->ranks)
    return study_store_bad_cell (record, "ranks", error, "%u, but a run of it has %u",
                                 mapping->n_ranks, row->ranks);
  slots = g_new0 (uint64_t, (gsize) row->nodes + 1);
  for (uint32_t rank = 0; rank < mapping->n_ranks; rank++) {
    uint32_t node = mapping->node[rank], slot = mapping->slot[rank];

    if (node >= row->nodes || slot >= row->ranks_per_node)
      return study_store_bad_cell (record, "places", error,
                                   "rank %u is in slot %u of node %u; a machine of its runs has %u "
                                   "nodes of %u slots",
                                   rank, slot, node, row->nodes, row->ranks_per_node);
    if (slots[node] >> slot & 1)
      return study_store_bad_cell (record, "places", error,
                                   "rank %u is in slot %u of node %u, as one before it", rank, slot,
                                   node);
    slots[node] |= G_GUINT64_CONSTANT (1) << slot;
  }
  return TRUE;
}

TopoMapping *
study_store_placement (StudyStore *store, const StudyRow *row, GError **error)
{
  g_autoptr (sqlite3_stmt) found =
      find (store, "SELECT rowid, * FROM placements WHERE hash = ?", row->mapping_hash, error);
  StudyStoreRecord record = { store, found, "placements", G_MININT64 };
  g_autoptr (TopoMapping) mapping = NULL;

  if (found == NULL) {
    not_kept (store, "placement", row->mapping, error);
    return NULL;
  }
  mapping = read_places (&record, error);
  if (mapping == NULL || !check_places (&record, mapping, row, error))
    return NULL;
  mapping->name = g_strdup (row->mapping);
  return g_steal_pointer (&mapping);
}

/* --- Edges --- */

gboolean
study_store_has_edges (StudyStore *store, const char *trace_hash)
{
  g_autoptr (sqlite3_stmt) found =
      find (store, "SELECT 1 FROM edges WHERE trace_hash = ?", trace_hash, NULL);

  return found != NULL;
}

/* Those of "SELECT rowid, * FROM edges", between ranks that the trace has. */
static SimEdge *
read_edges (StudyStoreRecord *record, gint64 *n_ranks, gint64 *n_edges, GError **error)
{
  g_autofree uint64_t *words = NULL;
  g_autofree SimEdge *edges = NULL;
  const char *hash;
  gsize n_words;

  if (!study_store_next_record (record, error) ||
      !study_store_hash_cell (record, 1, "trace_hash", FALSE, &hash, error) ||
      !study_store_integer_cell (record, 2, "ranks", 1, G_MAXUINT32, n_ranks, error) ||
      !study_store_integer_cell (record, 3, "edges", 0, STUDY_STORE_MAX_EDGES, n_edges, error) ||
      !study_store_words_cell (record, 4, "data", FALSE, (gsize) *n_edges * EDGE_WORDS,
                               (gsize) *n_edges * EDGE_WORDS, &words, &n_words, error))
    return NULL;
  edges = g_new (SimEdge, *n_edges + 1);
  for (gint64 edge = 0; edge < *n_edges; edge++) {
    const uint64_t *its = &words[edge * EDGE_WORDS];

    edges[edge] = (SimEdge){ (uint32_t) its[0], (uint32_t) (its[0] >> 32), its[1], its[2] };
    if (edges[edge].source >= *n_ranks || edges[edge].destination >= *n_ranks) {
      study_store_bad_cell (record, "data", error,
                            "an edge from rank %u to %u; there are %" G_GINT64_FORMAT " ranks",
                            edges[edge].source, edges[edge].destination, *n_ranks);
      return NULL;
    }
  }
  return g_steal_pointer (&edges);
}

gboolean
study_store_check_edges_record (StudyStoreRecord *record, GError **error)
{
  gint64 n_ranks, n_edges;
  g_autofree SimEdge *edges = read_edges (record, &n_ranks, &n_edges, error);

  return edges != NULL;
}

SimEdge *
study_store_edges (StudyStore *store, const char *trace_hash, uint32_t n_ranks, uint64_t *n_edges,
                   GError **error)
{
  g_autoptr (sqlite3_stmt) found =
      find (store, "SELECT rowid, * FROM edges WHERE trace_hash = ?", trace_hash, error);
  StudyStoreRecord record = { store, found, "edges", G_MININT64 };
  g_autofree SimEdge *edges = NULL;
  gint64 n_ranks_there, n;

  *n_edges = 0;
  if (found == NULL)
    return NULL;
  edges = read_edges (&record, &n_ranks_there, &n, error);
  if (edges == NULL)
    return NULL;
  if (n_ranks_there != n_ranks) {
    study_store_bad_cell (&record, "ranks", error, "%" G_GINT64_FORMAT ", but a run of it has %u",
                          n_ranks_there, n_ranks);
    return NULL;
  }
  *n_edges = (uint64_t) n;
  return g_steal_pointer (&edges);
}
