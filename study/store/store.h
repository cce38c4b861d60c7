/* store.h - the file in which the runs of a study are kept.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * An SQLite database (application_id, user_version = STUDY_STORE_VERSION, WAL)
 * that anybody can open; doc/handbook/format-store.md has its tables.  A run is
 * in it whole or not at all, whenever the program is killed.  One process writes
 * (STUDY_ERROR_BUSY for the second); any number read.
 *
 * A store may come from anybody: values are checked before they are used, and
 * STUDY_ERROR_DAMAGED names table, row and column of an impossible value.  A store that is
 * renamed or removed while it is written to is STUDY_ERROR_MOVED at the next
 * transaction.
 *
 * A store of an older version is read as one of this version: its runs have no buffers and delays,
 * which were counted otherwise up to version 2, and those of version 1 are one replica without jitter
 * each; up to version 3 the parts of the critical path are not known.  It becomes one of this version
 * when it is opened to be written. */
#pragma once

#include "study/study_error.h"
#include "study/store/row.h"

#define STUDY_STORE_VERSION 4

typedef struct StudyStore StudyStore;

typedef enum {
  STUDY_STORE_READ,   /* must exist; works on read-only media */
  STUDY_STORE_WRITE,  /* must exist */
  STUDY_STORE_CREATE, /* is made if it does not exist */
} StudyStoreMode;

/* Errors tell a file that is no store, one of a newer version, one that cannot be
 * written, one that another process writes to. */
StudyStore *study_store_open (const char *path, StudyStoreMode mode, GError **error);
void study_store_free (StudyStore *store);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (StudyStore, study_store_free)
const char *study_store_path (const StudyStore *store);
/* Whether a store that is written to still is the file that its path names: STUDY_ERROR_MOVED
 * when it is not. */
gboolean study_store_check_place (StudyStore *store, GError **error);

/* The runs that the store's study wants, in their order, which tables and
 * rankings show.  Of each row (study_plan_row()) its key and its names are kept:
 * the same run may stand in several places under several names.  Replaces the
 * list; rows that are no longer listed stay and are found again when they are.
 * file_text is the study file's. */
gboolean study_store_set_plan (StudyStore *store, const char *name, const char *file_text,
                               StudyRow *const *rows, guint n_rows, GError **error);

/* Keys of all rows that are done (failed ones too when failed); the set's keys
 * live as long as it.  g_hash_table_unref(). */
GHashTable *study_store_keys (StudyStore *store, gboolean failed, GError **error);

/* The row of a key, whatever the plan says, without blobs; NULL without an error: none. */
StudyRow *study_store_find (StudyStore *store, const char *key, GError **error);

/* The machine that rows name by its hash, once.  To be put before these rows. */
gboolean
study_store_put_machine (StudyStore *store, const char *hash, const char *text, GError **error);

/* Packing, which costs most of storing, needs no store.  Edges are the communication graph of a
 * trace. */
GBytes *study_store_pack_places (const TopoMapping *mapping);
GBytes *study_store_pack_edges (const SimEdge *edges, uint64_t n_edges);

/* Rows, and the placements and edges that they name, to be stored together. */
typedef struct {
  GPtrArray *placements, *edges; /* private */
  GPtrArray *rows;               /* (element-type StudyRow) owned */
} StudyStoreGroup;
StudyStoreGroup *study_store_group_new (void);
void study_store_group_free (StudyStoreGroup *group);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (StudyStoreGroup, study_store_group_free)
/* Both take `packed`. */
void study_store_group_add_places (StudyStoreGroup *group, const char *mapping_hash,
                                   uint32_t n_ranks, GBytes *packed);
void study_store_group_add_edges (StudyStoreGroup *group, const char *trace_hash, uint32_t n_ranks,
                                  uint64_t n_edges, GBytes *packed);
/* All of it in one transaction, and nothing of it when that fails; empties the group either way.  Of
 * rows of one key the first that is done stays; a failed one is replaced. */
gboolean study_store_put_group (StudyStore *store, StudyStoreGroup *group, GError **error);

/* The plan's rows that are there, in its order (element-type StudyRow), without
 * blobs unless asked for.  The array owns them. */
GPtrArray *study_store_rows (StudyStore *store, gboolean with_blobs, GError **error);
/* The runs of the plan that are not there, as rows with nothing but names. */
GPtrArray *study_store_missing (StudyStore *store, GError **error);
/* Runs of the plan that differ in nothing but mapping, seed and repetition. */
typedef struct {
  char *trace, *machine, *network, *routing;
  double compute_scale;
  guint n_runs, n_done, n_failed; /* the others are missing */
} StudyProgress;
/* (element-type StudyProgress) in the order of the plan. */
GPtrArray *study_store_progress (StudyStore *store, GError **error);
/* How many runs the plan lists. */
gboolean study_store_plan_size (StudyStore *store, guint *n_runs, GError **error);
char *study_store_name (StudyStore *store, GError **error);
char *study_store_file_text (StudyStore *store, GError **error);

/* What a race (study/race.h) made of a mapping. */
typedef struct {
  guint number; /* of the race, from 0 on: one for each case */
  char *key;    /* of the mapping's first run in its case */
  /* "best", "not told apart" from the best, "beaten" by draws, "screened" before them, "failed" */
  char *outcome;
  guint n_draws;
  double time_s; /* geometric mean of the draws; NaN: none */
  double behind,
      margin; /* relative, when it was dropped: how much slower than the last of the best,
                          * and how much slower noise may make it look; NaN: it was not */
  char *trace, *machine, *mapping, *network, *routing; /* by the names of the plan; NULL in
                                                        * study_store_put_race() */
} StudyRaceRow;
void study_race_row_free (StudyRaceRow *row);

/* A race's rows are neighbours, best first.  The rows replace those of an earlier race;
 * study_store_set_plan() removes them. */
gboolean study_store_put_race (StudyStore *store, const GPtrArray *rows, GError **error);
/* (element-type StudyRaceRow) none: there was no race, or it is not over. */
GPtrArray *study_store_race (StudyStore *store, GError **error);

/* The blobs of one row of study_store_rows(). */
gboolean study_store_load_blobs (StudyStore *store, StudyRow *row, GError **error);

/* The machine of a row, as it was when it ran; slots and cores included.  The
 * files that describe a fabric are read again, if their content has the hash that
 * the store has of it: STUDY_ERROR_CHANGED when they no longer say the same. */
TopoMachine *study_store_machine (StudyStore *store, const StudyRow *row, GError **error);
/* Whether the row can be of it, besides its hash: STUDY_ERROR_DAMAGED when not. */
gboolean study_store_check_machine (const StudyStore *store, const TopoMachine *machine,
                                    const StudyRow *row, GError **error);
/* Its places, whatever has become of the file or recipe. */
TopoMapping *study_store_placement (StudyStore *store, const StudyRow *row, GError **error);

/* No more are kept of a trace: 96 MB, and no picture shows them. */
#define STUDY_STORE_MAX_EDGES (1u << 22)

/* The communication graph of a trace: edges between different ranks, sorted. */
gboolean study_store_has_edges (StudyStore *store, const char *trace_hash);
/* *n_edges = 0 and NULL without an error when it was not kept. */
SimEdge *study_store_edges (StudyStore *store, const char *trace_hash, uint32_t n_ranks,
                            uint64_t *n_edges, GError **error);

/* Adds everything of another store (a shard).  Its runs that the plan here does not
 * list are listed after the others.  STUDY_ERROR_VERSION when the runs that it lists
 * are by another version of hopcast than those here, STUDY_ERROR_CHANGED when two
 * rows of one key differ in a result.  All or nothing. */
gboolean study_store_merge (StudyStore *store, const char *from_path, GError **error);
