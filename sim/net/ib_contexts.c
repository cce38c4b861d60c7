/* ib_contexts.c - the contexts of queue pairs that adapters hold.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/net/ib_contexts.h"

#include "sim/net/packet_engine.h"

#include <glib.h>
#include <stdlib.h>

#define FIRST_SLOTS 64u
#define FIRST_ENDS  16u /* of a device: a cache line of uses */

/* --- The table of connections: open addresses, nothing is ever removed --- */

/* Sends and writes of two ranks begin at places of one cache line. */
static inline uint32_t
first_slot (const IbContexts *contexts, uint32_t low, uint32_t high, uint8_t number)
{
  uint64_t key = ((uint64_t) low << 32 | high) ^ (uint64_t) (number >> 1) << 58;

  key = (key ^ key >> 29) * UINT64_C (0x9e3779b97f4a7c15);
  return ((uint32_t) (key >> 32) ^ (number & 1)) & (contexts->n_slots - 1);
}

void
ib_contexts_prefetch (const IbContexts *contexts, uint32_t source_rank, uint32_t destination_rank,
                      uint8_t number)
{
  uint32_t low = MIN (source_rank, destination_rank), high = MAX (source_rank, destination_rank);

  __builtin_prefetch (&contexts->slot[first_slot (contexts, low, high, number)]);
}

static IbConnection *
find (const IbContexts *contexts, uint32_t low, uint32_t high, uint8_t number)
{
  uint32_t slot = first_slot (contexts, low, high, number);

  for (;; slot = (slot + 1) & (contexts->n_slots - 1)) {
    IbConnection *it = &contexts->slot[slot];

    if (it->low_end == 0 || (it->low == low && it->high == high && it->number == number))
      return it;
  }
}

static void
grow_table (IbContexts *contexts)
{
  g_autofree IbConnection *old = contexts->slot;
  uint32_t n_old = contexts->n_slots;

  contexts->n_slots = MAX (FIRST_SLOTS, 2 * n_old);
  contexts->slot = g_new0 (IbConnection, contexts->n_slots);
  packet_advise_huge_pages (contexts->slot, contexts->n_slots * sizeof *contexts->slot);
  for (uint32_t slot = 0; slot < n_old; slot++)
    if (old[slot].low_end != 0)
      *find (contexts, old[slot].low, old[slot].high, old[slot].number) = old[slot];
}

/* --- Construction and saving --- */

static uint32_t
n_sides (const IbContexts *contexts)
{
  return contexts->capacity > 0 ? contexts->n_devices * IB_CONTEXT_SIDES : 0;
}

void
ib_contexts_init (IbContexts *contexts, uint32_t capacity, uint32_t n_fetches, int64_t miss_ps,
                  uint32_t n_devices)
{
  *contexts = (IbContexts){
    .capacity = capacity,
    .n_fetches = n_fetches,
    .miss_ps = miss_ps,
    .n_devices = n_devices,
  };
  contexts->sides = g_new0 (IbSide, n_sides (contexts));
  contexts->fetch_ps = g_new0 (int64_t, (size_t) n_sides (contexts) * n_fetches);
  if (capacity > 0)
    grow_table (contexts);
}

void
ib_contexts_clear (IbContexts *contexts)
{
  for (uint32_t side = 0; side < n_sides (contexts); side++) {
    g_free (contexts->sides[side].use);
    g_free (contexts->sides[side].ready_ps);
    g_free (contexts->sides[side].held);
  }
  g_free (contexts->sides);
  g_free (contexts->fetch_ps);
  g_free (contexts->slot);
}

void
ib_contexts_dump (IbContexts *contexts, BaseDump *dump)
{
  base_dump_section (dump, "contexts");
  for (uint32_t side = 0; side < n_sides (contexts); side++) {
    IbSide *it = &contexts->sides[side];

    base_dump_list (dump, (void **) &it->use, &it->n, &it->capacity, sizeof *it->use);
    if (base_dump_loads (dump))
      it->ready_ps = g_renew (int64_t, it->ready_ps, it->n);
    base_dump_array (dump, it->ready_ps, it->n, sizeof *it->ready_ps);
    base_dump_list (dump, (void **) &it->held, &it->n_held, &it->held_capacity, sizeof *it->held);
    BASE_DUMP_VALUE (dump, it->n_ordered);
    BASE_DUMP_VALUE (dump, it->n_uses);
    BASE_DUMP_VALUE (dump, it->idle_ps);
  }
  base_dump_array (dump, contexts->fetch_ps, (size_t) n_sides (contexts) * contexts->n_fetches,
                   sizeof *contexts->fetch_ps);
  base_dump_list (dump, (void **) &contexts->slot, &contexts->n_slots, &contexts->n_slots,
                  sizeof *contexts->slot);
  BASE_DUMP_VALUE (dump, contexts->n_connections);
}

/* --- What a side of an adapter holds, in the order of use --- */

static int
compare (const void *left, const void *right)
{
  uint64_t a = *(const uint64_t *) left, b = *(const uint64_t *) right;

  return (a > b) - (a < b);
}

#define STEPS_OF_FEW 8u /* for each context: what qsort() takes too */

/* False when too many are out of their place.  Where contexts come and go, few are. */
static bool
insertion_sort (uint64_t *held, uint32_t n)
{
  uint64_t steps = 0;

  for (uint32_t i = 1; i < n && steps <= (uint64_t) STEPS_OF_FEW * n; i++) {
    uint64_t it = held[i];
    uint32_t hole = i;

    for (; hole > 0 && held[hole - 1] > it; hole--)
      held[hole] = held[hole - 1];
    held[hole] = it;
    steps += i - hole;
  }
  return steps <= (uint64_t) STEPS_OF_FEW * n;
}

/* Puts what is held in the order of its last use, and counts uses anew. */
static void
put_in_order (IbSide *side)
{
  for (uint32_t at = 0; at < side->n_held; at++) {
    uint32_t context = (uint32_t) side->held[at];

    side->held[at] = (uint64_t) side->use[context] << 32 | context;
  }
  if (!insertion_sort (side->held, side->n_held))
    qsort (side->held, side->n_held, sizeof *side->held, compare);
  for (uint32_t at = 0; at < side->n_held; at++) {
    uint32_t context = (uint32_t) side->held[at];

    side->use[context] = at + 1;
    side->held[at] = (uint64_t) (at + 1) << 32 | context;
  }
  side->n_uses = side->n_ordered = side->n_held;
}

/* The place in held[] of the context that was used longest ago.  Those that were used since they were
 * put in order are passed over, and what has been fetched since is behind all of these, so that an
 * order is paid by as many uses and fetches. */
static uint32_t
oldest (IbSide *side)
{
  for (;;) {
    for (; side->n_ordered > 0; side->n_ordered--) {
      uint32_t at = side->n_held - side->n_ordered;

      if (side->use[(uint32_t) side->held[at]] == side->held[at] >> 32)
        return at;
    }
    put_in_order (side);
  }
}

static void
note_use (IbSide *side, uint32_t context)
{
  if (side->n_uses == UINT32_MAX)
    put_in_order (side);
  side->use[context] = ++side->n_uses;
}

static void
hold (const IbContexts *contexts, IbSide *side, uint32_t context)
{
  uint32_t at = side->n_held;

  if (at == contexts->capacity) {
    at = oldest (side);
    side->n_ordered--;
    side->use[(uint32_t) side->held[at]] = 0;
  } else {
    if (at == side->held_capacity) {
      side->held_capacity = MIN (MAX (FIRST_ENDS, 2 * at), contexts->capacity);
      side->held = g_renew (uint64_t, side->held, side->held_capacity);
    }
    side->n_held++;
    side->n_ordered = 0; /* they would no longer be the last */
  }
  side->held[at] = context;
  note_use (side, context);
}

/* --- Use --- */

/* When the next fetch of a side is over. */
static int64_t
fetch (IbContexts *contexts, uint32_t side, int64_t now_ps)
{
  int64_t *free_ps = &contexts->fetch_ps[(size_t) side * contexts->n_fetches], *first = free_ps;

  for (uint32_t i = 1; i < contexts->n_fetches; i++)
    if (free_ps[i] < *first)
      first = &free_ps[i];
  *first = MAX (*first, now_ps) + contexts->miss_ps;
  return *first;
}

int64_t
ib_contexts_use_slowly (IbContexts *contexts, uint32_t side, uint32_t context, int64_t now_ps)
{
  IbSide *it = &contexts->sides[side];

  if (it->use[context] == 0) {
    it->idle_ps = it->ready_ps[context] = fetch (contexts, side, now_ps);
    hold (contexts, it, context);
  } else {
    note_use (it, context);
  }
  return MAX (it->ready_ps[context], now_ps);
}

/* --- New connections --- */

/* One more context on both sides of a device; its number. */
static uint32_t
add_end (const IbContexts *contexts, uint32_t device)
{
  IbSide *sides = &contexts->sides[(size_t) device * IB_CONTEXT_SIDES];
  uint32_t end = sides->n;

  for (IbSide *it = sides; it < sides + IB_CONTEXT_SIDES; it++) {
    if (end == it->capacity) {
      it->capacity = MAX (FIRST_ENDS, 2 * end);
      it->use = g_renew (uint32_t, it->use, it->capacity);
      it->ready_ps = g_renew (int64_t, it->ready_ps, it->capacity);
    }
    it->n++;
    it->use[end] = 0;
    it->ready_ps[end] = 0;
    if (it->n_held < contexts->capacity)
      hold (contexts, it, end);
  }
  return end;
}

IbEnds
ib_contexts_connect (IbContexts *contexts, uint32_t source_rank, uint32_t destination_rank,
                     uint8_t number, bool both_ways, uint32_t source_device,
                     uint32_t destination_device)
{
  bool is_low = !both_ways || source_rank < destination_rank;
  uint32_t low = is_low ? source_rank : destination_rank;
  uint32_t high = is_low ? destination_rank : source_rank;
  IbConnection *it;

  if (2 * contexts->n_connections >= contexts->n_slots)
    grow_table (contexts);
  it = find (contexts, low, high, number);
  if (it->low_end == 0) {
    uint32_t low_end = add_end (contexts, is_low ? source_device : destination_device);
    uint32_t high_end = add_end (contexts, is_low ? destination_device : source_device);

    g_assert (high_end < 1u << 24);
    contexts->n_connections++;
    *it = (IbConnection){
      .low = low,
      .high = high,
      .low_end = low_end + 1,
      .high_end = high_end & 0xffffff,
      .number = number,
    };
  }
  return is_low ? (IbEnds){ it->low_end - 1, it->high_end }
                : (IbEnds){ it->high_end, it->low_end - 1 };
}
