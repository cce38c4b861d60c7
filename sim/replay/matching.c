/* matching.c - which message a receive gets.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/replay/matching.h"

#include "base/small_map.h"
#include "mpi/operation.h"

#include <glib.h>

#define FIRST_BUCKETS 4u

/* -- entries ------------------------------------------------------------- */

static uint32_t
entry_take (SimMatchPool *pool, SimMatchEntry value)
{
  uint32_t entry = pool->first_free;

  if (entry != TOPO_NONE)
    pool->first_free = pool->entries[entry].next;
  else {
    if (pool->n == pool->capacity) {
      pool->capacity = MAX (64u, 2 * pool->capacity);
      pool->entries = g_renew (SimMatchEntry, pool->entries, pool->capacity);
    }
    entry = pool->n++;
  }
  pool->entries[entry] = value;
  return entry;
}

static uint32_t
entry_give (SimMatchPool *pool, uint32_t entry)
{
  pool->entries[entry].next = pool->first_free;
  pool->first_free = entry;
  return pool->entries[entry].item;
}

/* -- ordered lists: `wild` and `waiting` --------------------------------- */

static void
list_append (SimMatchPool *pool, uint32_t *first, uint32_t *last, uint32_t entry)
{
  pool->entries[entry].older = *last;
  pool->entries[entry].newer = TOPO_NONE;
  if (*last == TOPO_NONE)
    *first = entry;
  else
    pool->entries[*last].newer = entry;
  *last = entry;
}

static void
list_remove (SimMatchPool *pool, uint32_t *first, uint32_t *last, uint32_t entry)
{
  uint32_t older = pool->entries[entry].older, newer = pool->entries[entry].newer;

  *(older == TOPO_NONE ? first : &pool->entries[older].newer) = newer;
  *(newer == TOPO_NONE ? last : &pool->entries[newer].older) = older;
}

/* -- buckets ------------------------------------------------------------- */

static bool
is_wild (SimEnvelope envelope)
{
  return envelope.source == TOPO_NONE || envelope.tag == TRACE_ANY_TAG;
}

static uint32_t
envelope_hash (SimEnvelope key)
{
  return base_map_hash (base_map_hash (base_map_hash (key.source) + (uint32_t) key.tag) +
                        key.context);
}

/* The place of a key, or the free one where it would go. */
static SimMatchBucket *
bucket_place (const SimMatchQueue *queue, SimEnvelope key)
{
  uint32_t mask = queue->capacity - 1;
  uint32_t place = envelope_hash (key) & mask;

  for (;; place = (place + 1) & mask) {
    SimMatchBucket *it = &queue->buckets[place];

    if (it->first == TOPO_NONE ||
        (it->key.context == key.context && it->key.source == key.source && it->key.tag == key.tag))
      return it;
  }
}

static SimMatchBucket *
bucket_find (const SimMatchQueue *queue, SimEnvelope key)
{
  SimMatchBucket *bucket;

  if (queue->n_buckets == 0)
    return NULL;
  bucket = bucket_place (queue, key);
  return bucket->first == TOPO_NONE ? NULL : bucket;
}

static void
bucket_append (SimMatchPool *pool, SimMatchQueue *queue, uint32_t entry)
{
  SimEnvelope key = pool->entries[entry].envelope;
  SimMatchBucket *bucket;

  if (4 * (queue->n_buckets + 1) > 3 * queue->capacity) {
    SimMatchBucket *old = queue->buckets;
    uint32_t old_capacity = queue->capacity;

    queue->capacity = MAX (FIRST_BUCKETS, 2 * old_capacity);
    queue->buckets = g_new (SimMatchBucket, queue->capacity);
    for (uint32_t place = 0; place < queue->capacity; place++)
      queue->buckets[place].first = TOPO_NONE;
    for (uint32_t place = 0; place < old_capacity; place++)
      if (old[place].first != TOPO_NONE)
        *bucket_place (queue, old[place].key) = old[place];
    g_free (old);
  }
  bucket = bucket_place (queue, key);
  pool->entries[entry].next = TOPO_NONE;
  if (bucket->first == TOPO_NONE) {
    *bucket = (SimMatchBucket){ key, entry, entry };
    queue->n_buckets++;
    return;
  }
  pool->entries[bucket->last].next = entry;
  bucket->last = entry;
}

/* Unlinks `entry`, which follows `before` (TOPO_NONE: is the first). */
static void
bucket_unlink (SimMatchPool *pool, SimMatchQueue *queue, SimMatchBucket *bucket, uint32_t before,
               uint32_t entry)
{
  uint32_t next = pool->entries[entry].next, mask = queue->capacity - 1;
  uint32_t hole = (uint32_t) (bucket - queue->buckets);

  if (before != TOPO_NONE) {
    pool->entries[before].next = next;
    if (next == TOPO_NONE)
      bucket->last = before;
    return;
  }
  if (next != TOPO_NONE) {
    bucket->first = next;
    return;
  }
  /* The bucket goes.  As in base_map_remove(), buckets that probed past the hole
   * move up. */
  for (uint32_t place = (hole + 1) & mask; queue->buckets[place].first != TOPO_NONE;
       place = (place + 1) & mask) {
    uint32_t home = envelope_hash (queue->buckets[place].key) & mask;

    if (((place - home) & mask) >= ((place - hole) & mask)) {
      queue->buckets[hole] = queue->buckets[place];
      hole = place;
    }
  }
  queue->buckets[hole].first = TOPO_NONE;
  queue->n_buckets--;
}

/* -- the queues ---------------------------------------------------------- */

void
sim_match_pool_init (SimMatchPool *pool)
{
  *pool = (SimMatchPool){ .first_free = TOPO_NONE };
}

void
sim_match_pool_clear (SimMatchPool *pool)
{
  g_free (pool->entries);
  sim_match_pool_init (pool);
}

void
sim_match_queue_init (SimMatchQueue *queue)
{
  *queue = (SimMatchQueue){ .first_wild = TOPO_NONE,
                            .last_wild = TOPO_NONE,
                            .first_waiting = TOPO_NONE,
                            .last_waiting = TOPO_NONE };
}

void
sim_match_queue_clear (SimMatchQueue *queue)
{
  g_free (queue->buckets);
  sim_match_queue_init (queue);
}

bool
sim_match_accepts (SimEnvelope wanted, SimEnvelope sent)
{
  return wanted.context == sent.context &&
         (wanted.source == TOPO_NONE || wanted.source == sent.source) &&
         (wanted.tag == TRACE_ANY_TAG || wanted.tag == sent.tag);
}

static uint32_t
unexpected_find (const SimMatchPool *pool, const SimMatchQueue *queue, SimEnvelope wanted)
{
  uint32_t entry = queue->first_waiting;

  if (queue->n_unexpected == 0)
    return TOPO_NONE;
  if (!is_wild (wanted)) {
    const SimMatchBucket *bucket = bucket_find (queue, wanted);

    return bucket != NULL && !pool->entries[bucket->first].posted ? bucket->first : TOPO_NONE;
  }
  while (entry != TOPO_NONE && !sim_match_accepts (wanted, pool->entries[entry].envelope))
    entry = pool->entries[entry].newer;
  return entry;
}

uint32_t
sim_match_arrive (SimMatchPool *pool, SimMatchQueue *queue, SimEnvelope envelope, uint32_t transfer)
{
  SimMatchBucket *bucket = bucket_find (queue, envelope);
  uint32_t exact =
      bucket != NULL && pool->entries[bucket->first].posted ? bucket->first : TOPO_NONE;
  uint32_t wild = queue->first_wild;

  while (wild != TOPO_NONE && !sim_match_accepts (pool->entries[wild].envelope, envelope))
    wild = pool->entries[wild].newer;
  if (exact == TOPO_NONE && wild == TOPO_NONE) {
    uint32_t entry = entry_take (
        pool, (SimMatchEntry){ .envelope = envelope, .item = transfer, .serial = queue->serial++ });

    bucket_append (pool, queue, entry);
    list_append (pool, &queue->first_waiting, &queue->last_waiting, entry);
    queue->n_unexpected++;
    return TOPO_NONE;
  }
  queue->n_posted--;
  /* The difference is taken modulo 2^32, as serials may wrap. */
  if (exact != TOPO_NONE && (wild == TOPO_NONE || (int32_t) (pool->entries[exact].serial -
                                                             pool->entries[wild].serial) < 0)) {
    bucket_unlink (pool, queue, bucket, TOPO_NONE, exact);
    return entry_give (pool, exact);
  }
  list_remove (pool, &queue->first_wild, &queue->last_wild, wild);
  return entry_give (pool, wild);
}

uint32_t
sim_match_post (SimMatchPool *pool, SimMatchQueue *queue, SimEnvelope envelope, uint32_t request)
{
  uint32_t found = unexpected_find (pool, queue, envelope);

  if (found == TOPO_NONE) {
    uint32_t entry = entry_take (pool, (SimMatchEntry){ .envelope = envelope,
                                                        .item = request,
                                                        .serial = queue->serial++,
                                                        .posted = true });

    if (is_wild (envelope))
      list_append (pool, &queue->first_wild, &queue->last_wild, entry);
    else
      bucket_append (pool, queue, entry);
    queue->n_posted++;
    return TOPO_NONE;
  }
  /* The oldest message of all that match is the oldest of its own key. */
  bucket_unlink (pool, queue, bucket_find (queue, pool->entries[found].envelope), TOPO_NONE, found);
  list_remove (pool, &queue->first_waiting, &queue->last_waiting, found);
  queue->n_unexpected--;
  return entry_give (pool, found);
}

bool
sim_match_cancel (SimMatchPool *pool, SimMatchQueue *queue, SimEnvelope envelope, uint32_t request)
{
  bool wild = is_wild (envelope);
  SimMatchBucket *bucket = wild ? NULL : bucket_find (queue, envelope);
  uint32_t entry = queue->first_wild, before = TOPO_NONE;

  if (!wild)
    entry = bucket != NULL && pool->entries[bucket->first].posted ? bucket->first : TOPO_NONE;
  while (entry != TOPO_NONE && pool->entries[entry].item != request) {
    before = entry;
    entry = wild ? pool->entries[entry].newer : pool->entries[entry].next;
  }
  if (entry == TOPO_NONE)
    return false;
  if (wild)
    list_remove (pool, &queue->first_wild, &queue->last_wild, entry);
  else
    bucket_unlink (pool, queue, bucket, before, entry);
  entry_give (pool, entry);
  queue->n_posted--;
  return true;
}

uint32_t
sim_match_probe (const SimMatchPool *pool, const SimMatchQueue *queue, SimEnvelope envelope)
{
  uint32_t entry = unexpected_find (pool, queue, envelope);

  return entry == TOPO_NONE ? TOPO_NONE : pool->entries[entry].item;
}
