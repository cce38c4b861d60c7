/* packet_pool.c - records of the packet network by index, reused when free.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "sim/packet_state.h"

#include <stddef.h>
#include <sys/mman.h>

static inline uint32_t *
chain (void *records, size_t size, size_t next_offset, uint32_t index)
{
  return (uint32_t *) ((char *) records + size * index + next_offset);
}

/* A pool of a large machine is read all over: short page walks pay. */
static void
advise_huge_pages (void *records, size_t bytes)
{
#ifdef MADV_HUGEPAGE
  uintptr_t page = (uintptr_t) 2 << 20;
  uintptr_t start = ((uintptr_t) records + page - 1) & ~(page - 1);
  uintptr_t end = ((uintptr_t) records + bytes) & ~(page - 1);

  if (start < end)
    madvise ((void *) start, end - start, MADV_HUGEPAGE);
#endif
}

static inline uint32_t
pool_take (Pool *pool, void **records, size_t size, size_t next_offset)
{
  uint32_t index;

  pool->n_taken++;
  /* first_free is one more than the index, so that a zeroed pool is empty. */
  if (pool->first_free != 0) {
    index = pool->first_free - 1;
    pool->first_free = *chain (*records, size, next_offset, index);
    return index;
  }
  if (G_UNLIKELY (pool->n == pool->capacity)) {
    g_assert (pool->capacity < UINT32_MAX / 2);
    pool->capacity = MAX (1024, pool->capacity + pool->capacity / 2);
    *records = g_realloc_n (*records, pool->capacity, size);
    advise_huge_pages (*records, pool->capacity * size);
  }
  return pool->n++;
}

static inline void
pool_give (Pool *pool, void *records, size_t size, size_t next_offset, uint32_t index)
{
  *chain (records, size, next_offset, index) = pool->first_free;
  pool->first_free = index + 1;
  pool->n_taken--;
}

/* The links of the packets' lists lie apart from them: who appends to a list
 * touches 4 bytes of its last packet, not a cache line of it. */
uint32_t
packet_take (PacketNetwork *net)
{
  Pool *pool = &net->packets;
  uint32_t capacity = pool->capacity;
  uint32_t index = pool_take (pool, (void **) &net->next, sizeof *net->next, 0);

  if (G_UNLIKELY (pool->capacity != capacity)) {
    net->packet = g_renew (Packet, net->packet, pool->capacity);
    advise_huge_pages (net->packet, pool->capacity * sizeof (Packet));
  }
  return index;
}

void
packet_give (PacketNetwork *net, uint32_t packet)
{
  pool_give (&net->packets, net->next, sizeof *net->next, 0, packet);
}

uint32_t
packet_take_feeder (PacketNetwork *net)
{
  return pool_take (&net->feeders, (void **) &net->feeder, sizeof (Feeder),
                    offsetof (Feeder, next));
}

void
packet_give_feeder (PacketNetwork *net, uint32_t feeder)
{
  pool_give (&net->feeders, net->feeder, sizeof (Feeder), offsetof (Feeder, next), feeder);
}

uint32_t
packet_take_descriptor (PacketNetwork *net)
{
  return pool_take (&net->descriptors, (void **) &net->descriptor, sizeof (Descriptor),
                    offsetof (Descriptor, next));
}

void
packet_give_descriptor (PacketNetwork *net, uint32_t descriptor)
{
  pool_give (&net->descriptors, net->descriptor, sizeof (Descriptor), offsetof (Descriptor, next),
             descriptor);
}

uint32_t
packet_take_message (PacketNetwork *net)
{
  return pool_take (&net->messages, (void **) &net->message, sizeof (Message),
                    offsetof (Message, next));
}

void
packet_give_message (PacketNetwork *net, uint32_t message)
{
  pool_give (&net->messages, net->message, sizeof (Message), offsetof (Message, next), message);
}

uint32_t
packet_take_timer (PacketNetwork *net)
{
  return pool_take (&net->timers, (void **) &net->timer, sizeof (Timer), offsetof (Timer, next));
}

void
packet_give_timer (PacketNetwork *net, uint32_t timer)
{
  pool_give (&net->timers, net->timer, sizeof (Timer), offsetof (Timer, next), timer);
}

void
packet_pools_free (PacketNetwork *net)
{
  g_free (net->packet);
  g_free (net->next);
  g_free (net->feeder);
  g_free (net->descriptor);
  g_free (net->message);
  g_free (net->timer);
}
