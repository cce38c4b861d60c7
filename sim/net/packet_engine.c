/* packet_engine.c - what the packet networks of tori and fabrics share.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/net/packet_engine.h"

#include "sim/node/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define CACHE_LINE ((size_t) 64)
#define HUGE_PAGE  ((size_t) 2 << 20)

/* --- Memory --- */

/* Tables are visited in order of nodes, and a page walk for each visit would
 * cost more than the visit. */
void *
packet_table_new (size_t bytes)
{
  size_t alignment = bytes < HUGE_PAGE ? CACHE_LINE : HUGE_PAGE;
  size_t size = (bytes + alignment - 1) / alignment * alignment;
  void *table = aligned_alloc (alignment, size);

  if (!table)
    g_error ("cannot allocate %zu bytes", size);
#ifdef MADV_HUGEPAGE
  if (alignment == HUGE_PAGE)
    madvise (table, size, MADV_HUGEPAGE);
#endif
  return memset (table, 0, size);
}

void
packet_table_free (void *table)
{
  free (table);
}

void
packet_advise_huge_pages (void *records, size_t bytes)
{
#ifdef MADV_HUGEPAGE
  uintptr_t start = ((uintptr_t) records + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
  uintptr_t end = ((uintptr_t) records + bytes) & ~(HUGE_PAGE - 1);

  if (start < end)
    madvise ((void *) start, end - start, MADV_HUGEPAGE);
#endif
}

int64_t
packet_bytes_ps (uint64_t bytes, double bandwidth_Bps)
{
  return (int64_t) ((double) bytes * 1e12 / bandwidth_Bps + 0.5);
}

void
packet_engine_count (PacketEngine *engine)
{
  SimCounters *counters = engine->base.counters;

  counters->has_buffers = true;
  counters->packets = counters->packet_hops = counters->messages = 0;
  for (uint32_t part = 0; part < sim_network_n_parts (&engine->base); part++) {
    const PacketEngine *it = (PacketEngine *) sim_network_part (&engine->base, part);

    counters->packets += it->n_packets;
    counters->packet_hops += it->n_hops;
    counters->messages += it->n_messages;
  }
}

void
packet_engine_free (PacketEngine *engine)
{
  if (engine->schedule)
    sim_schedule_free (engine->schedule);
  if (engine->calendar.ring)
    calendar_clear (&engine->calendar);
  g_free (engine->timer);
  if (engine->part > 0)
    return;
  sim_counters_free (engine->base.counters);
  if (engine->base.memory != NULL)
    sim_memory_free (engine->base.memory);
  if (engine->table == NULL)
    return;
  for (uint32_t segment = 0; segment < engine->table->n_segments; segment++)
    g_free (engine->table->segment[segment]);
  g_free (engine->table->segment);
  g_free (engine->table->part);
  g_free (engine->table);
}

/* --- Saving and loading --- */

void
packet_pool_dump (Pool *pool, void **records, size_t size, BaseDump *dump)
{
  uint32_t n = (uint32_t) base_dump_count (dump, pool->n, size);

  BASE_DUMP_VALUE (dump, pool->first_free);
  BASE_DUMP_VALUE (dump, pool->n_taken);
  if (base_dump_loads (dump)) {
    pool->n = n;
    if (n > pool->capacity) {
      pool->capacity = n;
      *records = g_realloc_n (*records, n, size);
      packet_advise_huge_pages (*records, n * size);
    }
  }
  base_dump_bytes (dump, *records, n * size);
}

static Message *
new_segment (void)
{
  return g_new0 (Message, MESSAGE_SEGMENT);
}

static void
dump_messages (MessageTable *table, BaseDump *dump)
{
  uint32_t n = (uint32_t) base_dump_count (dump, table->n_segments, sizeof (Message));

  if (base_dump_loads (dump)) {
    table->n_segments = MIN (n, MESSAGE_SEGMENTS);
    for (uint32_t segment = 0; segment < table->n_segments; segment++)
      table->segment[segment] = new_segment ();
  }
  base_dump_array (dump, table->part, table->n_segments, sizeof *table->part);
  for (uint32_t segment = 0; segment < table->n_segments; segment++)
    base_dump_array (dump, table->segment[segment], MESSAGE_SEGMENT, sizeof (Message));
}

void
packet_engine_dump (PacketEngine *engine, BaseDump *dump)
{
  base_dump_section (dump, "packet engine");
  BASE_DUMP_VALUE (dump, engine->now_ps);
  BASE_DUMP_VALUE (dump, engine->n_packets);
  BASE_DUMP_VALUE (dump, engine->n_hops);
  BASE_DUMP_VALUE (dump, engine->n_messages);
  BASE_DUMP_VALUE (dump, engine->n_timers);
  BASE_DUMP_VALUE (dump, engine->payload_sent);
  BASE_DUMP_VALUE (dump, engine->base.bytes_sent);
  BASE_DUMP_VALUE (dump, engine->base.bytes_received);
  BASE_DUMP_VALUE (dump, engine->idle_windows);
  BASE_DUMP_VALUE (dump, engine->messages);
  packet_pool_dump (&engine->timers, (void **) &engine->timer, sizeof (Timer), dump);
  if (engine->schedule != NULL)
    sim_schedule_dump (engine->schedule, dump);
  if (engine->calendar.ring != NULL)
    calendar_dump (&engine->calendar, dump);
  if (engine->part > 0)
    return;
  dump_messages (engine->table, dump);
  sim_counters_dump (engine->base.counters, dump);
  if (engine->base.memory != NULL)
    sim_memory_dump (engine->base.memory, dump);
}

/* --- The run --- */

bool
packet_engine_call (PacketEngine *engine, int64_t now_ps)
{
  SimNetwork *base = &engine->base;

  if (base->loads != NULL && sim_link_loads_are_due (base->loads, now_ps)) {
    base->class->count (base);
    sim_link_loads_take (base->loads, base->counters, now_ps);
  }
  return base->client->running == NULL || base->client->running (base->client_data, now_ps);
}

gboolean
packet_engine_stopped (GError **error)
{
  g_set_error_literal (error, SIM_ERROR, SIM_ERROR_STOPPED, "the run was stopped");
  return FALSE;
}

/* --- Messages and timers --- */

/* Other parts learn of the segment with the first packet of one of its messages. */
static void
add_segment (PacketEngine *engine)
{
  MessageTable *table = engine->table;
  uint32_t segment = __atomic_fetch_add (&table->n_segments, 1, __ATOMIC_RELAXED);

  g_assert (segment < MESSAGE_SEGMENTS);
  table->segment[segment] = new_segment ();
  /* A small run needs a part of one. */
  if (segment > 0)
    packet_advise_huge_pages (table->segment[segment], MESSAGE_SEGMENT * sizeof (Message));
  table->part[segment] = (uint16_t) engine->part;
  engine->messages.n = segment << MESSAGE_SEGMENT_BITS;
  engine->messages.capacity = engine->messages.n + MESSAGE_SEGMENT;
}

void
packet_engine_make_messages (PacketEngine *engine)
{
  engine->table = g_new0 (MessageTable, 1);
  engine->table->segment = g_new0 (Message *, MESSAGE_SEGMENTS);
  engine->table->part = g_new0 (uint16_t, MESSAGE_SEGMENTS);
}

uint32_t
packet_engine_message (PacketEngine *engine, const SimMessage *message, int64_t at_ps)
{
  Pool *pool = &engine->messages;
  uint32_t index;

  g_assert (at_ps >= engine->now_ps);
  if (pool->first_free != 0) {
    index = pool->first_free - 1;
    pool->first_free = message_at (engine, index)->next;
  } else {
    if (pool->n == pool->capacity)
      add_segment (engine);
    index = pool->n++;
  }
  pool->n_taken++;
  *message_at (engine, index) = (Message){
    .public = *message,
    .bytes_left = message->bytes,
    .next = PACKET_NONE,
  };
  engine->n_messages++;
  engine->base.bytes_sent += message->bytes;
  return index;
}

void
packet_engine_give_message (PacketEngine *engine, uint32_t index)
{
  message_at (engine, index)->next = engine->messages.first_free;
  engine->messages.first_free = index + 1;
  engine->messages.n_taken--;
}

uint32_t
packet_engine_timer (PacketEngine *engine, uint32_t rank, uint64_t cookie, int64_t at_ps)
{
  uint32_t index =
      pool_take (&engine->timers, (void **) &engine->timer, sizeof (Timer), offsetof (Timer, next));

  g_assert (at_ps >= engine->now_ps);
  engine->timer[index] = (Timer){ cookie, rank, 0 };
  return index;
}

void
packet_engine_timer_due (PacketEngine *engine, uint32_t index)
{
  Timer timer = engine->timer[index];

  engine->n_timers++;
  pool_give (&engine->timers, engine->timer, sizeof (Timer), offsetof (Timer, next), index);
  engine->base.client->timer (engine->base.client_data, timer.rank, timer.cookie, engine->now_ps);
}
