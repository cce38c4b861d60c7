/* packet_engine.h - what the packet networks of tori and fabrics share; private to sim/net/packet*, ib*.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * One engine, two routers: messages, timers, packets and the lists that
 * packets wait in, the schedule, and the loop that hands out its events.  A
 * router adds its own ports, buffers and rules; its state begins with a
 * PacketEngine, as that begins with a SimNetwork. */
#pragma once

#include "sim/counters.h"
#include "sim/net/calendar.h"
#include "sim/net/link_loads.h"
#include "sim/net/network.h"
#include "sim/net/schedule.h"

#include <stddef.h>

#define PACKET_NONE UINT32_MAX
#define NEVER_PS    INT64_MAX

/* A run in which this many windows pass while packets are pending and none
 * moves is stopped: 2^20 windows of 32 ns are at least 34 ms of
 * simulated time, since those without events are not counted. */
#define STALL_WINDOWS (1u << 20)

/* SimClient.running is called after so many windows or events, some 30 and 100 ms. */
#define WINDOWS_PER_CALL 65536u
#define EVENTS_PER_CALL  (UINT64_C (1) << 20)

#define ALWAYS_INLINE inline __attribute__ ((always_inline))

/* GCC takes a function that only prefetches for one without effect and drops
 * the call, unless it is inlined before it looks. */
#define PREFETCHES inline __attribute__ ((always_inline)) void

/* Packets that waited in the receive buffers of an input port. */
typedef struct {
  uint64_t packets, ps;
} Waited;

/* First what each packet changes when it is received; the rest is looked at
 * when the message is complete. */
typedef struct {
  uint64_t packets_left; /* not yet received */
  uint64_t bytes_left;
  int64_t last_ps;  /* latest byte in memory so far */
  uint32_t next;    /* free list */
  uint32_t context; /* fabrics: of its connection, at the destination */
  SimMessage public;
} Message;

typedef struct {
  uint64_t cookie;
  uint32_t rank;
  uint32_t next;
} Timer;

/* The messages of all parts of a network.  A packet's message may be received by another part than
 * sends it, so that records must not move: they are in segments.  A part hands out the records of
 * its own segments, and gets them back. */
#define MESSAGE_SEGMENT_BITS 15u
#define MESSAGE_SEGMENT      (1u << MESSAGE_SEGMENT_BITS)
#define MESSAGE_SEGMENTS     (1u << (32 - MESSAGE_SEGMENT_BITS))

typedef struct {
  Message **segment;   /* [MESSAGE_SEGMENTS], n_segments of them made */
  uint16_t *part;      /* [MESSAGE_SEGMENTS] whose it is */
  uint32_t n_segments; /* changed by all parts, atomically */
} MessageTable;

/* A growing array of records addressed by index; free ones are chained
 * through a uint32_t in each of them. */
typedef struct {
  uint32_t n, capacity, first_free, n_taken;
} Pool;

typedef struct {
  SimNetwork base; /* first: a SimNetwork * is a PacketEngine * */
  const TopoMachine *machine;
  const TopoMapping *mapping;
  SimSchedule *schedule;
  Calendar calendar;
  int64_t now_ps;

  MessageTable *table; /* owned by the first part */
  uint32_t part;       /* of the network */
  Timer *timer;
  Pool messages, timers;
  uint64_t n_packets, n_hops, n_messages, n_timers, payload_sent;

  uint64_t progress;     /* packet_engine_progress() of the last window in which something moved */
  uint32_t idle_windows; /* since then, while packets were pending */
  uint32_t windows_left; /* until SimClient.running is called */
  uint64_t call_events;  /* ... or when so many events have been */
} PacketEngine;

/* Zeroed memory on a cache line's edge; large tables in huge pages where the
 * system has them. */
void *packet_table_new (size_t bytes);
void packet_table_free (void *table);

/* A pool of a large machine is read all over: short page walks pay. */
void packet_advise_huge_pages (void *records, size_t bytes);

/* Time of so many bytes, to the nearest picosecond. */
int64_t packet_bytes_ps (uint64_t bytes, double bandwidth_Bps);

/* Frees the schedule and the pools; of the first part, the counters, the messages and the nodes'
 * memory too. */
void packet_engine_free (PacketEngine *engine);

/* What the engine has: schedule, pools, counters and the nodes' memory. */
void packet_engine_dump (PacketEngine *engine, BaseDump *dump);
void packet_pool_dump (Pool *pool, void **records, size_t size, BaseDump *dump);

/* Writes the counters of the whole network, those of its links apart. */
void packet_engine_count (PacketEngine *engine);

/* --- Records --- */

static inline uint32_t *
pool_chain (void *records, size_t size, size_t next_offset, uint32_t index)
{
  return (uint32_t *) ((char *) records + size * index + next_offset);
}

/* A fresh record's number; contents are whatever they were.  Pointers into
 * the pool are invalid after this. */
static inline uint32_t
pool_take (Pool *pool, void **records, size_t size, size_t next_offset)
{
  uint32_t index;

  pool->n_taken++;
  /* first_free is one more than the index, so that a zeroed pool is empty. */
  if (pool->first_free != 0) {
    index = pool->first_free - 1;
    pool->first_free = *pool_chain (*records, size, next_offset, index);
    return index;
  }
  if (G_UNLIKELY (pool->n == pool->capacity)) {
    g_assert (pool->capacity < UINT32_MAX / 2);
    pool->capacity = MAX (1024, pool->capacity + pool->capacity / 2);
    *records = g_realloc_n (*records, pool->capacity, size);
    packet_advise_huge_pages (*records, pool->capacity * size);
  }
  return pool->n++;
}

static inline void
pool_give (Pool *pool, void *records, size_t size, size_t next_offset, uint32_t index)
{
  *pool_chain (records, size, next_offset, index) = pool->first_free;
  pool->first_free = index + 1;
  pool->n_taken--;
}

/* --- Messages and timers --- */

static inline Message *
message_at (const PacketEngine *engine, uint32_t index)
{
  return &engine->table->segment[index >> MESSAGE_SEGMENT_BITS][index & (MESSAGE_SEGMENT - 1)];
}

/* The part that a message's record belongs to. */
static inline uint32_t
message_home (const PacketEngine *engine, uint32_t index)
{
  return engine->table->part[index >> MESSAGE_SEGMENT_BITS];
}

/* The table of the first part, which others share. */
void packet_engine_make_messages (PacketEngine *engine);

/* A record of the message, no packet of it counted yet. */
uint32_t packet_engine_message (PacketEngine *engine, const SimMessage *message, int64_t at_ps);
/* The message belongs to this part. */
void packet_engine_give_message (PacketEngine *engine, uint32_t message);

/* A record of the timer; the router lets it come due. */
uint32_t packet_engine_timer (PacketEngine *engine, uint32_t rank, uint64_t cookie, int64_t at_ps);
/* Tells the client. */
void packet_engine_timer_due (PacketEngine *engine, uint32_t timer);

/* A packet's user bytes will be in memory at in_memory_ps; true when they
 * were the last of their message. */
static inline bool
packet_engine_received (PacketEngine *engine, uint32_t index, uint32_t payload_bytes,
                        int64_t in_memory_ps)
{
  Message *message = message_at (engine, index);

  message->last_ps = MAX (message->last_ps, in_memory_ps);
  message->bytes_left -= payload_bytes;
  engine->base.bytes_received += payload_bytes;
  return --message->packets_left == 0;
}

/* --- The run --- */

static inline uint64_t
packet_engine_progress (const PacketEngine *engine)
{
  return engine->n_hops + engine->base.bytes_received + engine->n_messages;
}

/* The error of a run that the client ended; FALSE. */
gboolean packet_engine_stopped (GError **error);

/* Before each window, with the events so far: whether SimClient.running is to be called. */
static inline bool
packet_engine_call_is_due (PacketEngine *engine, uint64_t n_events)
{
  uint32_t windows = engine->base.windows_per_call;

  if (G_LIKELY (engine->windows_left > 1 && n_events < engine->call_events)) {
    engine->windows_left--;
    return false;
  }
  engine->windows_left = windows > 0 ? windows : WINDOWS_PER_CALL;
  engine->call_events = n_events + EVENTS_PER_CALL;
  return true;
}

/* Calls it with the beginning of the next window; false when the client ends the run.  Loads that are
 * due are taken. */
bool packet_engine_call (PacketEngine *engine, int64_t now_ps);

/* After each window, with the progress so far; false when nothing has moved for too long. */
static inline bool
packet_engine_moves (PacketEngine *engine, uint64_t progress, bool is_pending)
{
  if (progress != engine->progress || !is_pending) {
    engine->progress = progress;
    engine->idle_windows = 0;
    return true;
  }
  return ++engine->idle_windows != STALL_WINDOWS;
}

/* `yes` or `no` without a branch: which kind of event comes next cannot be
 * predicted, and a wrong guess costs more than what is selected from. */
static inline uintptr_t
choose (bool condition, uintptr_t yes, uintptr_t no)
{
  uintptr_t mask = -(uintptr_t) condition;

  return (yes & mask) | (no & ~mask);
}
