/* hct_store.c - an open native trace file, and what its cursors share.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/hct/hct_store.h"

#include "traces/trace_file.h"

/* What is kept although no cursor uses it, for the next one. */
#define N_KEPT_PROGRAMS 64
#define N_KEPT_BLOCKS   16

typedef struct {
  HctProgram *program; /* NULL: not in memory */
  uint32_t n_users;    /* cursors, and one when it is among those kept */
} Shared;

typedef struct {
  uint32_t number;
  GBytes *bytes;
} KeptBlock;

struct HctStoreCache {
  GMutex lock;
  Shared *programs;               /* [index->programs->len] */
  uint32_t kept[N_KEPT_PROGRAMS]; /* numbers + 1 */
  guint next_kept;
  KeptBlock blocks[N_KEPT_BLOCKS];
  guint next_block;
};

static gboolean
load (HctStore *store, GError **error)
{
  store->contents = trace_file_load (store->path, error);
  if (store->contents == NULL)
    return FALSE;
  store->index = hct_index_read (store->path, store->contents, error);
  if (store->index == NULL)
    return FALSE;
  store->cache->programs = g_new0 (Shared, store->index->programs->len);
  return TRUE;
}

HctStore *
hct_store_new (const char *path, GError **error)
{
  HctStore *store = g_new0 (HctStore, 1);

  store->path = g_strdup (path);
  store->cache = g_new0 (HctStoreCache, 1);
  g_mutex_init (&store->cache->lock);
  if (load (store, error))
    return store;
  hct_store_free (store);
  return NULL;
}

void
hct_store_free (HctStore *store)
{
  if (store == NULL)
    return;
  for (guint i = 0; store->index != NULL && i < store->index->programs->len; i++)
    hct_program_free (store->cache->programs[i].program);
  for (guint i = 0; i < N_KEPT_BLOCKS; i++)
    g_clear_pointer (&store->cache->blocks[i].bytes, g_bytes_unref);
  g_mutex_clear (&store->cache->lock);
  g_free (store->cache->programs);
  g_free (store->cache);
  hct_index_free (store->index);
  g_clear_pointer (&store->contents, g_bytes_unref);
  g_free (store->path);
  g_free (store);
}

static GBytes *
find_block (HctStore *store, uint32_t number)
{
  for (guint i = 0; i < N_KEPT_BLOCKS; i++)
    if (store->cache->blocks[i].bytes != NULL && store->cache->blocks[i].number == number)
      return g_bytes_ref (store->cache->blocks[i].bytes);
  return NULL;
}

static void
keep_block (HctStore *store, uint32_t number, GBytes *bytes)
{
  KeptBlock *kept = &store->cache->blocks[store->cache->next_block++ % N_KEPT_BLOCKS];

  g_clear_pointer (&kept->bytes, g_bytes_unref);
  *kept = (KeptBlock){ number, g_bytes_ref (bytes) };
}

/* Unpacks without the lock, so that threads do that side by side. */
GBytes *
hct_store_block (HctStore *store, uint32_t number, GError **error)
{
  const HctBlock *block = &g_array_index (store->index->blocks, HctBlock, number);
  GBytes *bytes;

  g_mutex_lock (&store->cache->lock);
  bytes = find_block (store, number);
  g_mutex_unlock (&store->cache->lock);
  if (bytes != NULL)
    return bytes;
  bytes = hct_block_read (store->path, store->contents, block, error);
  if (bytes == NULL)
    return NULL;
  g_mutex_lock (&store->cache->lock);
  keep_block (store, number, bytes);
  g_mutex_unlock (&store->cache->lock);
  return bytes;
}

/* With the lock. */
static void
release_locked (HctStore *store, uint32_t number)
{
  Shared *shared = &store->cache->programs[number];

  if (--shared->n_users == 0)
    g_clear_pointer (&shared->program, hct_program_free);
}

void
hct_store_release (HctStore *store, uint32_t number)
{
  g_mutex_lock (&store->cache->lock);
  release_locked (store, number);
  g_mutex_unlock (&store->cache->lock);
}

/* With the lock; takes the program, or finds that another thread was faster. */
static void
share_program (HctStore *store, uint32_t number, HctProgram *program)
{
  Shared *shared = &store->cache->programs[number];
  uint32_t *kept;

  if (shared->program != NULL) {
    hct_program_free (program);
    return;
  }
  shared->program = program;
  shared->n_users = 1;
  kept = &store->cache->kept[store->cache->next_kept++ % N_KEPT_PROGRAMS];
  if (*kept != 0)
    release_locked (store, *kept - 1);
  *kept = number + 1;
}

static HctProgram *
make_program (HctStore *store, uint32_t number, GError **error)
{
  const HctProgramPlace *place = &g_array_index (store->index->programs, HctProgramPlace, number);
  g_autoptr (GBytes) block = hct_store_block (store, place->block, error);
  HctProgram *program;

  if (block == NULL)
    return NULL;
  program = hct_program_new (block, store->index->names, place->at, place->n_bytes, place->n_ops);
  if (program == NULL)
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_FORMAT,
                 "%s: program %u is impossible, or needs a newer version of this program",
                 store->path, number);
  return program;
}

const HctProgram *
hct_store_program (HctStore *store, uint32_t number, GError **error)
{
  Shared *shared = &store->cache->programs[number];
  const HctProgram *program;

  g_mutex_lock (&store->cache->lock);
  if (shared->program == NULL) {
    HctProgram *made;

    g_mutex_unlock (&store->cache->lock);
    made = make_program (store, number, error);
    if (made == NULL)
      return NULL;
    g_mutex_lock (&store->cache->lock);
    share_program (store, number, made);
  }
  program = shared->program;
  shared->n_users++;
  g_mutex_unlock (&store->cache->lock);
  return program;
}
