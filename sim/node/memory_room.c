/* memory_room.c - who finds room in a cache that several cores share.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A cache keeps what was used last.  A byte is still there at its next use if the
 * different bytes that were used in between, by whomever, fit in the cache: least
 * recently used goes first, and what counts is the stack distance.  Alone, a party
 * goes round its buffers and needs room for all of them, its claim.  What the
 * others use meanwhile comes to that, from each as many bytes as it used in that
 * time, but no more different ones than its own claim (Chandra, Guo, Kim and
 * Solihin, Predicting inter-thread cache contention, HPCA 2005, do the same
 * with measured distances).
 *
 * When a party last used the byte that it wants now is one claim of its own bytes
 * ago.  To find that, and what others had used then, each keeps three marks, the
 * beginnings of its last two rounds and its last use, and is taken to have gone on
 * steadily between them.  The clock counts the bytes that all parties use, so
 * that a cache which nobody uses forgets nothing:
 *
 *     own bytes
 *         |                   last ,------- silence
 *         |                     ,-'
 *         |        round[1] _.-'
 *         |           _,.-'
 *         |  round[0]'
 *         +---------------------------- bytes of all
 *
 * Two marks would not do: at the beginning of a round nearly all of the one
 * before is looked back on.  Of one who has nothing that old it is taken that
 * its buffers were there when it began. */
#include "sim/node/memory_state.h"

static uint64_t
claim_of (const SimMemory *memory, uint64_t footprint_bytes)
{
  double claim = (double) footprint_bytes * memory->buffers;

  return claim < 0x1p62 ? (uint64_t) claim : UINT64_C (1) << 62;
}

/* On the line from (x0, y0) to (x1, y1), x0 <= x <= x1. */
static uint64_t
between (uint64_t x, uint64_t x0, uint64_t y0, uint64_t x1, uint64_t y1)
{
  if (x >= x1)
    return y1;
  return y0 + (uint64_t) ((double) (y1 - y0) * ((double) (x - x0) / (double) (x1 - x0)));
}

/* What all had used when it had used so much itself; not known further back
 * than two rounds. */
static uint64_t
all_when (const SimTenant *it, uint64_t own)
{
  const SimMark *from = own >= it->round[1].own ? &it->round[1] : &it->round[0];
  const SimMark *to = from == it->round ? &it->round[1] : &it->last;

  return own <= it->round[0].own ? it->round[0].all
                                 : between (own, from->own, from->all, to->own, to->all);
}

/* What it had used itself when all had used so much. */
static uint64_t
own_when (const SimTenant *it, uint64_t all)
{
  const SimMark *from = all >= it->round[1].all ? &it->round[1] : &it->round[0];
  const SimMark *to = from == it->round ? &it->round[1] : &it->last;

  return all <= it->round[0].all ? it->round[0].own
                                 : between (all, from->all, from->own, to->all, to->own);
}

/* Of its buffers, in the round before and in this one. */
static uint64_t
largest_bytes (const SimTenant *it)
{
  return MAX (it->before_bytes, it->footprint_bytes);
}

bool
sim_memory_has_room (const SimMemory *memory, uint32_t cache, const SimParty *party,
                     const SimBuffer *buffer)
{
  const TopoObject *object = &memory->node->objects[cache];
  const SimTenant *it = sim_memory_tenant (memory, cache, party, buffer->core);
  const SimTenant *tenants = sim_memory_tenants (memory, party->node, cache);
  uint64_t claim = claim_of (memory, buffer->footprint_bytes), taken = 0, since;

  if (it->last.own == 0)
    return true;
  since = all_when (it, it->last.own - MIN (claim, it->last.own));
  for (uint32_t core = 0; core < object->n_cores; core++)
    if (&tenants[core] != it && tenants[core].last.all > since)
      taken += MIN (tenants[core].last.own - own_when (&tenants[core], since),
                    claim_of (memory, largest_bytes (&tenants[core])));
  return taken <= object->cache_bytes - MIN (claim, object->cache_bytes);
}

/* A tenant has, or had, other buffers than before. */
static void
room_changes (const SimMemory *memory, uint32_t cache, SimRoom *room, uint64_t from_bytes,
              uint64_t to_bytes)
{
  uint64_t cache_bytes = memory->node->objects[cache].cache_bytes;
  uint64_t fits_bytes = memory->places[cache].fits_bytes;

  room->largest_bytes += MIN (to_bytes, cache_bytes) - MIN (from_bytes, cache_bytes);
  room->free_bytes = fits_bytes > room->largest_bytes ? fits_bytes - room->largest_bytes : 0;
}

/* Less than a 64th of the cache is not worth a mark. */
static void
round_has (const SimMemory *memory, uint32_t cache, SimTenant *it, uint64_t bytes)
{
  uint64_t cache_bytes = memory->node->objects[cache].cache_bytes;

  it->footprint_bytes = bytes;
  it->round_end =
      it->round[1].own + CLAMP (claim_of (memory, bytes), cache_bytes / 64, cache_bytes);
}

void
sim_memory_round_grows (const SimMemory *memory, uint32_t cache, SimRoom *room, SimTenant *it,
                        uint64_t bytes)
{
  uint64_t from_bytes = largest_bytes (it);

  if (it->last.own == 0)
    it->round[0] = it->round[1] = (SimMark){ 0, room->all_bytes };
  round_has (memory, cache, it, bytes);
  if (largest_bytes (it) != from_bytes)
    room_changes (memory, cache, room, from_bytes, largest_bytes (it));
}

void
sim_memory_round_ends (const SimMemory *memory, uint32_t cache, SimRoom *room, SimTenant *it,
                       uint64_t bytes)
{
  uint64_t from_bytes = largest_bytes (it);

  it->round[0] = it->round[1];
  it->round[1] = it->last;
  it->before_bytes = it->footprint_bytes;
  round_has (memory, cache, it, bytes);
  if (largest_bytes (it) != from_bytes)
    room_changes (memory, cache, room, from_bytes, largest_bytes (it));
}
