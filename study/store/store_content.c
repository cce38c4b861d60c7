/* store_content.c - what the hashes of rows stand for: machines, placements, edges.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/inputs.h"
#include "study/store/packed.h"
#include "study/aggregate/program_file.h"
#include "study/store/store_private.h"

#include <string.h>

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

/* Machine files are read from files. */
static TopoMachine *
machine_of_text (const char *text, GError **error)
{
  g_autoptr (StudyTextFile) file = study_text_file_new (text, error);
  g_autoptr (GHashTable) hashes = study_machine_text_hashes (text);

  return file != NULL ? topo_machine_new_known (file->path, hashes, error) : NULL;
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

static void
tell_no_machine (const StudyStoreRecord *record, const StudyRow *row, const GError *trouble,
                 GError **error)
{
  if (g_error_matches (trouble, TOPO_ERROR, TOPO_ERROR_CHANGED))
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_CHANGED,
                 "%s: table machines, row %" G_GINT64_FORMAT ": the files that describe %s are not "
                 "known to be those that it was simulated with: %s; 'hopcast study run' of its "
                 "study stores their hashes",
                 record->store->path, record->row, row->machine, trouble->message);
  else
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_STORE,
                 "%s: table machines, row %" G_GINT64_FORMAT ", column text: %s",
                 record->store->path, record->row, trouble->message);
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
  machine = machine_of_text ((const char *) sqlite3_column_text (found, 2), &trouble);
  if (machine == NULL) {
    tell_no_machine (&record, row, trouble, error);
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
