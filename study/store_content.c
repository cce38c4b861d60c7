/* store_content.c - what the hashes of rows stand for: machines, placements, edges.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/inputs.h"
#include "study/packed.h"
#include "study/program_file.h"
#include "study/store_private.h"

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
  statement = study_store_prepare (store, "INSERT OR IGNORE INTO machines VALUES (?, ?)", error);
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

/* Machine files are read from files. */
static TopoMachine *
machine_of_text (const char *text, GError **error)
{
  g_autoptr (StudyTextFile) file = study_text_file_new (text, error);

  return file != NULL ? topo_machine_new (file->path, error) : NULL;
}

static gboolean
check_machine (const StudyStore *store, const TopoMachine *machine, const StudyRow *row,
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

TopoMachine *
study_store_machine (StudyStore *store, const StudyRow *row, GError **error)
{
  g_autoptr (sqlite3_stmt) found =
      find (store, "SELECT text FROM machines WHERE hash = ?", row->machine_hash, error);
  g_autoptr (TopoMachine) machine = NULL;

  if (found == NULL) {
    not_kept (store, "machine", row->machine, error);
    return NULL;
  }
  machine = machine_of_text ((const char *) sqlite3_column_text (found, 0), error);
  if (machine == NULL || !check_machine (store, machine, row, error))
    return NULL;
  return g_steal_pointer (&machine);
}

static uint64_t *
words_at (sqlite3_stmt *statement, int at, gsize *n_words)
{
  return study_unpack_words (sqlite3_column_blob (statement, at),
                             (gsize) sqlite3_column_bytes (statement, at), n_words);
}

TopoMapping *
study_store_placement (StudyStore *store, const StudyRow *row, GError **error)
{
  g_autoptr (sqlite3_stmt) found =
      find (store, "SELECT places FROM placements WHERE hash = ?", row->mapping_hash, error);
  g_autofree uint64_t *words = NULL;
  TopoMapping *mapping;
  gsize n_words = 0;

  if (found == NULL) {
    not_kept (store, "placement", row->mapping, error);
    return NULL;
  }
  words = words_at (found, 0, &n_words);
  if (words == NULL || n_words == 0 || n_words > G_MAXUINT32) {
    study_store_damaged (store, "a placement", error);
    return NULL;
  }
  mapping = g_new0 (TopoMapping, 1);
  mapping->name = g_strdup (row->mapping);
  mapping->n_ranks = (uint32_t) n_words;
  mapping->node = g_new (uint32_t, n_words);
  mapping->slot = g_new (uint8_t, n_words);
  for (gsize rank = 0; rank < n_words; rank++) {
    mapping->node[rank] = (uint32_t) words[rank];
    mapping->slot[rank] = (uint8_t) (words[rank] >> 32);
  }
  return mapping;
}

gboolean
study_store_has_edges (StudyStore *store, const char *trace_hash)
{
  g_autoptr (sqlite3_stmt) found =
      find (store, "SELECT 1 FROM edges WHERE trace_hash = ?", trace_hash, NULL);

  return found != NULL;
}

SimEdge *
study_store_edges (StudyStore *store, const char *trace_hash, uint64_t *n_edges, GError **error)
{
  g_autoptr (sqlite3_stmt) found =
      find (store, "SELECT data FROM edges WHERE trace_hash = ?", trace_hash, error);
  g_autofree uint64_t *words = NULL;
  gsize n_words = 0;
  SimEdge *edges;

  *n_edges = 0;
  if (found == NULL)
    return NULL;
  words = words_at (found, 0, &n_words);
  if (words == NULL || n_words % EDGE_WORDS != 0) {
    study_store_damaged (store, "the edges of a trace", error);
    return NULL;
  }
  *n_edges = n_words / EDGE_WORDS;
  edges = g_new (SimEdge, *n_edges + 1);
  for (uint64_t edge = 0; edge < *n_edges; edge++)
    edges[edge] =
        (SimEdge){ (uint32_t) words[edge * EDGE_WORDS], (uint32_t) (words[edge * EDGE_WORDS] >> 32),
                   words[edge * EDGE_WORDS + 1], words[edge * EDGE_WORDS + 2] };
  return edges;
}
