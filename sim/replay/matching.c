/* matching.c - which message a receive gets.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/replay/matching.h"

#include "mpi/operation.h"

#include <glib.h>

#define SERIAL_MASK 0x7fffffffu

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

/* -- sources ------------------------------------------------------------- */

static bool
is_wild (SimEnvelope envelope)
{
  return envelope.source == TOPO_NONE || envelope.tag == TRACE_ANY_TAG;
}

static BaseMapEntry *
source_at (SimMatchQueue *queue, uint32_t source)
{
  BaseMapEntry *it = base_map_find (&queue->sources, source);

  if (it != NULL)
    return it;
  it = base_map_add (&queue->sources, source, TOPO_NONE);
  it->value[SIM_MATCH_RECEIVED] = 0;
  return it;
}

uint32_t *
sim_match_received (SimMatchQueue *queue, uint32_t source)
{
  return &source_at (queue, source)->value[SIM_MATCH_RECEIVED];
}

static void
source_append (SimMatchPool *pool, SimMatchQueue *queue, uint32_t entry)
{
  BaseMapEntry *source = source_at (queue, pool->entries[entry].envelope.source);

  pool->entries[entry].next = TOPO_NONE;
  if (source->value[SIM_MATCH_FIRST] == TOPO_NONE)
    source->value[SIM_MATCH_FIRST] = entry;
  else
    pool->entries[source->value[SIM_MATCH_LAST]].next = entry;
  source->value[SIM_MATCH_LAST] = entry;
}

/* Unlinks `entry`, which follows `before` (TOPO_NONE: is the first). */
static void
source_unlink (SimMatchPool *pool, BaseMapEntry *source, uint32_t before, uint32_t entry)
{
  uint32_t next = pool->entries[entry].next;

  *(before == TOPO_NONE ? &source->value[SIM_MATCH_FIRST] : &pool->entries[before].next) = next;
  if (next == TOPO_NONE)
    source->value[SIM_MATCH_LAST] = before;
}

/* The oldest entry with this envelope of the one queue or the other; *before is the one that it
 * follows. */
static uint32_t
source_find (const SimMatchPool *pool, const BaseMapEntry *source, SimEnvelope envelope,
             bool posted, uint32_t *before)
{
  uint32_t entry = source == NULL ? TOPO_NONE : source->value[SIM_MATCH_FIRST];

  for (*before = TOPO_NONE; entry != TOPO_NONE; entry = pool->entries[entry].next) {
    const SimMatchEntry *it = &pool->entries[entry];

    if (it->posted == posted && it->envelope.tag == envelope.tag &&
        it->envelope.context == envelope.context)
      break;
    *before = entry;
  }
  return entry;
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
  base_map_clear (&queue->sources);
  sim_match_queue_init (queue);
}

bool
sim_match_accepts (SimEnvelope wanted, SimEnvelope sent)
{
  return wanted.context == sent.context &&
         (wanted.source == TOPO_NONE || wanted.source == sent.source) &&
         (wanted.tag == TRACE_ANY_TAG || wanted.tag == sent.tag);
}

/* The unexpected message that such a receive takes; *before is the one of the same source that it
 * follows, which only a receive without wildcards learns. */
static uint32_t
unexpected_find (const SimMatchPool *pool, const SimMatchQueue *queue, SimEnvelope wanted,
                 uint32_t *before)
{
  uint32_t entry = queue->first_waiting;

  *before = TOPO_NONE;
  if (queue->n_unexpected == 0)
    return TOPO_NONE;
  if (!is_wild (wanted))
    return source_find (pool, base_map_find (&queue->sources, wanted.source), wanted, false,
                        before);
  while (entry != TOPO_NONE && !sim_match_accepts (wanted, pool->entries[entry].envelope))
    entry = pool->entries[entry].newer;
  return entry;
}

uint32_t
sim_match_arrive (SimMatchPool *pool, SimMatchQueue *queue, SimEnvelope envelope, uint32_t transfer)
{
  BaseMapEntry *source = base_map_find (&queue->sources, envelope.source);
  uint32_t before, exact = source_find (pool, source, envelope, true, &before);
  uint32_t wild = queue->first_wild;

  while (wild != TOPO_NONE && !sim_match_accepts (pool->entries[wild].envelope, envelope))
    wild = pool->entries[wild].newer;
  if (exact == TOPO_NONE && wild == TOPO_NONE) {
    uint32_t entry = entry_take (pool, (SimMatchEntry){ .envelope = envelope,
                                                        .item = transfer,
                                                        .serial = queue->serial++ & SERIAL_MASK });

    source_append (pool, queue, entry);
    list_append (pool, &queue->first_waiting, &queue->last_waiting, entry);
    queue->n_unexpected++;
    return TOPO_NONE;
  }
  queue->n_posted--;
  /* The difference is taken modulo 2^31, as serials wrap. */
  if (exact != TOPO_NONE &&
      (wild == TOPO_NONE || ((pool->entries[exact].serial - pool->entries[wild].serial) &
                             SERIAL_MASK) > SERIAL_MASK / 2)) {
    source_unlink (pool, source, before, exact);
    return entry_give (pool, exact);
  }
  list_remove (pool, &queue->first_wild, &queue->last_wild, wild);
  return entry_give (pool, wild);
}

uint32_t
sim_match_post (SimMatchPool *pool, SimMatchQueue *queue, SimEnvelope envelope, uint32_t request)
{
  uint32_t before, found = unexpected_find (pool, queue, envelope, &before);
  BaseMapEntry *source;

  if (found == TOPO_NONE) {
    uint32_t entry = entry_take (pool, (SimMatchEntry){ .envelope = envelope,
                                                        .item = request,
                                                        .serial = queue->serial++ & SERIAL_MASK,
                                                        .posted = true });

    if (is_wild (envelope))
      list_append (pool, &queue->first_wild, &queue->last_wild, entry);
    else
      source_append (pool, queue, entry);
    queue->n_posted++;
    return TOPO_NONE;
  }
  source = base_map_find (&queue->sources, pool->entries[found].envelope.source);
  /* The oldest message of all that match is the oldest of its own envelope. */
  if (is_wild (envelope))
    source_find (pool, source, pool->entries[found].envelope, false, &before);
  source_unlink (pool, source, before, found);
  list_remove (pool, &queue->first_waiting, &queue->last_waiting, found);
  queue->n_unexpected--;
  return entry_give (pool, found);
}

bool
sim_match_cancel (SimMatchPool *pool, SimMatchQueue *queue, SimEnvelope envelope, uint32_t request)
{
  bool wild = is_wild (envelope);
  BaseMapEntry *source = wild ? NULL : base_map_find (&queue->sources, envelope.source);
  uint32_t entry = queue->first_wild, before = TOPO_NONE;

  if (!wild)
    entry = source == NULL ? TOPO_NONE : source->value[SIM_MATCH_FIRST];
  while (entry != TOPO_NONE &&
         (!pool->entries[entry].posted || pool->entries[entry].item != request)) {
    before = entry;
    entry = wild ? pool->entries[entry].newer : pool->entries[entry].next;
  }
  if (entry == TOPO_NONE)
    return false;
  if (wild)
    list_remove (pool, &queue->first_wild, &queue->last_wild, entry);
  else
    source_unlink (pool, source, before, entry);
  entry_give (pool, entry);
  queue->n_posted--;
  return true;
}

uint32_t
sim_match_probe (const SimMatchPool *pool, const SimMatchQueue *queue, SimEnvelope envelope)
{
  uint32_t before, entry = unexpected_find (pool, queue, envelope, &before);

  return entry == TOPO_NONE ? TOPO_NONE : pool->entries[entry].item;
}
