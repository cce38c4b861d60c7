/* memory_state.h - what the memory system of nodes knows; private.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "sim/node/memory.h"

/* What does not change while the simulation runs, by object of the node. */
typedef struct {
  double byte_ps;        /* 0: not a server */
  uint64_t fits_bytes;   /* of a cache: largest buffer that may be at home in it */
  uint32_t room;         /* of a cache of several cores; TOPO_NONE: not one */
  uint32_t first_tenant; /* of such a cache; its cores have one each */
  uint32_t shared_above; /* the next such cache above it; TOPO_NONE: none */
  uint32_t package;      /* that it is in; TOPO_NONE: none */
  bool is_meeting;       /* of a package: its own caches meet on its bus */
} SimPlace;

/* The same of a core. */
typedef struct {
  uint32_t cache; /* its outermost; TOPO_NONE: none */
  uint32_t memory;
  uint32_t package; /* TOPO_NONE: none */
  uint32_t shared;  /* the first of its caches that it shares; TOPO_NONE: none */
} SimSite;

/* Of a shared cache in a node. */
typedef struct {
  uint64_t all_bytes;     /* of buffers that have been used, over and over */
  uint64_t largest_bytes; /* the largest buffers of its tenants, each at most the cache, added up */
  uint64_t free_bytes;    /* so large a buffer finds room whatever the others do */
} SimRoom;

/* A point in the use of a cache, by bytes that one, and that all had used. */
typedef struct {
  uint64_t own, all;
} SimMark;

/* Of a shared cache: a pair of cores that exchange messages, of which both are
 * below the cache (then the first stands for them) or one is. */
typedef struct {
  SimMark last;             /* where its last use ended */
  uint64_t round_end;       /* own bytes, with which its round ends */
  uint64_t footprint_bytes; /* of its largest buffer in this round */
  uint64_t before_bytes;    /* in the round before */
  SimMark round[2];         /* where its last two rounds began */
} SimTenant;

/* The cores that a copy is between; the same twice when only one uses it. */
typedef struct {
  uint32_t node, core, peer;
} SimParty;

struct SimMemory {
  const TopoNode *node;
  SimPlace *places; /* [n_objects] */
  SimSite *sites;   /* [n_cores] */

  int64_t *busy_ps; /* [node * n_objects + object] until when a server is taken */
  uint64_t *passed; /* [same] bytes that it has served */

  SimRoom *rooms;     /* [node * n_rooms + room] */
  SimTenant *tenants; /* [node * n_tenants + first_tenant + core of the cache] */
  uint32_t n_rooms, n_tenants;
  double buffers; /* that share a cache: 1 / cache_share */

  double core_ps, transfer_ps, memory_ps; /* of a byte, at a core's own rate */
  double far;                             /* as long from another package */
  int64_t transfer_latency_ps, package_latency_ps;
  bool updates_memory;
  uint64_t quantum_bytes;

  uint32_t *dma; /* [n_dma] where what the adapter moves goes, in equal parts */
  uint32_t n_dma;
  bool dma_to_cache;
};

static inline bool
sim_object_holds (const TopoObject *object, uint32_t core)
{
  return core - object->first_core < object->n_cores;
}

/* -- memory_room.c, and of it what every piece needs ----------------------- */

static inline SimRoom *
sim_memory_room (const SimMemory *memory, uint32_t node, uint32_t cache)
{
  return &memory->rooms[(gsize) node * memory->n_rooms + memory->places[cache].room];
}

static inline SimTenant *
sim_memory_tenants (const SimMemory *memory, uint32_t node, uint32_t cache)
{
  return &memory->tenants[(gsize) node * memory->n_tenants + memory->places[cache].first_tenant];
}

/* Of the two cores of a party one, `owner`, is surely below the cache. */
static inline SimTenant *
sim_memory_tenant (const SimMemory *memory, uint32_t cache, const SimParty *party, uint32_t owner)
{
  const TopoObject *object = &memory->node->objects[cache];
  uint32_t other = party->core ^ party->peer ^ owner;
  uint32_t first = sim_object_holds (object, other) ? MIN (owner, other) : owner;

  return sim_memory_tenants (memory, party->node, cache) + (first - object->first_core);
}

/* Whether a buffer that is larger than what is free finds room.  O(cores below
 * the cache). */
bool sim_memory_has_room (const SimMemory *memory, uint32_t cache, const SimParty *party,
                          const SimBuffer *buffer);

/* A round goes on with a larger buffer than it had; it is over, and the next
 * begins with a buffer of that size. */
void sim_memory_round_grows (const SimMemory *memory, uint32_t cache, SimRoom *room, SimTenant *it,
                             uint64_t bytes);
void sim_memory_round_ends (const SimMemory *memory, uint32_t cache, SimRoom *room, SimTenant *it,
                            uint64_t bytes);

/* Bytes of a rank's own buffer are used, in all shared caches above its core. */
static inline void
sim_memory_use (SimMemory *memory, const SimParty *party, const SimBuffer *buffer, uint64_t bytes)
{
  for (uint32_t cache = memory->sites[buffer->core].shared; cache != TOPO_NONE;
       cache = memory->places[cache].shared_above) {
    SimRoom *room = sim_memory_room (memory, party->node, cache);
    SimTenant *it = sim_memory_tenant (memory, cache, party, buffer->core);

    if (buffer->footprint_bytes > it->footprint_bytes)
      sim_memory_round_grows (memory, cache, room, it, buffer->footprint_bytes);
    room->all_bytes += bytes;
    it->last = (SimMark){ it->last.own + bytes, room->all_bytes };
    if (it->last.own >= it->round_end)
      sim_memory_round_ends (memory, cache, room, it, buffer->footprint_bytes);
  }
}
