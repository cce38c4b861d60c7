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
  counters->packets = engine->n_packets;
  counters->packet_hops = engine->n_hops;
  counters->messages = engine->n_messages;
  counters->events = engine->calendar.n_events;
}

void
packet_engine_free (PacketEngine *engine)
{
  if (engine->schedule)
    sim_schedule_free (engine->schedule);
  if (engine->calendar.ring)
    calendar_clear (&engine->calendar);
  sim_counters_free (engine->base.counters);
  if (engine->base.memory != NULL)
    sim_memory_free (engine->base.memory);
  g_free (engine->message);
  g_free (engine->timer);
}

/* --- Messages and timers --- */

uint32_t
packet_engine_message (PacketEngine *engine, const SimMessage *message, int64_t at_ps)
{
  uint32_t index = pool_take (&engine->messages, (void **) &engine->message, sizeof (Message),
                              offsetof (Message, next));

  g_assert (at_ps >= engine->now_ps);
  engine->message[index] = (Message){
    .public = *message,
    .bytes_left = message->bytes,
    .next = PACKET_NONE,
  };
  engine->n_messages++;
  return index;
}

void
packet_engine_give_message (PacketEngine *engine, uint32_t message)
{
  pool_give (&engine->messages, engine->message, sizeof (Message), offsetof (Message, next),
             message);
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

  pool_give (&engine->timers, engine->timer, sizeof (Timer), offsetof (Timer, next), index);
  engine->base.client->timer (engine->base.client_data, timer.rank, timer.cookie, engine->now_ps);
}
