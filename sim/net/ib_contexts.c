/* ib_contexts.c - the contexts of queue pairs that adapters hold.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/net/ib_contexts.h"

#include <glib.h>
#include <string.h>

#define FIRST_SLOTS 64u

static size_t
n_sides (const IbContexts *contexts)
{
  return (size_t) MAX (1, contexts->n_devices) * IB_CONTEXT_SIDES;
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
  contexts->fetch_ps = g_new0 (int64_t, n_sides (contexts) * n_fetches);
}

void
ib_contexts_clear (IbContexts *contexts)
{
  for (size_t side = 0; contexts->sides != NULL && side < n_sides (contexts); side++)
    g_free (contexts->sides[side].uses);
  g_free (contexts->sides);
  g_free (contexts->fetch_ps);
  g_free (contexts->context);
  g_free (contexts->slot);
}

/* --- What a side of an adapter holds, in the order of use --- */

/* The context was not used again. */
static inline bool
is_last (const IbContexts *contexts, IbUse use)
{
  return contexts->context[use.context].is_held && contexts->context[use.context].use == use.use;
}

/* Room for the note of one more use. */
static void
make_room (const IbContexts *contexts, IbSide *side)
{
  uint32_t n = side->end - side->first;

  if (n > side->capacity / 2) {
    n = 0;
    for (uint32_t at = side->first; at < side->end; at++)
      if (is_last (contexts, side->uses[at]))
        side->uses[n++] = side->uses[at];
  } else if (n > 0) {
    memmove (side->uses, &side->uses[side->first], n * sizeof *side->uses);
  }
  side->first = 0;
  side->end = n;
  if (n >= side->capacity / 2) {
    side->capacity = MAX (FIRST_SLOTS, 2 * side->capacity);
    side->uses = g_renew (IbUse, side->uses, side->capacity);
  }
}

static inline void
note_use (IbContexts *contexts, IbSide *side, uint32_t index)
{
  if (G_UNLIKELY (side->end == side->capacity))
    make_room (contexts, side);
  side->last = index;
  contexts->context[index].use = ++side->n_uses;
  side->uses[side->end++] = (IbUse){ index, side->n_uses };
}

static void
hold (IbContexts *contexts, IbSide *side, uint32_t index)
{
  if (side->n_held == contexts->capacity) {
    while (!is_last (contexts, side->uses[side->first]))
      side->first++;
    contexts->context[side->uses[side->first++].context].is_held = false;
  } else {
    side->n_held++;
  }
  contexts->context[index].is_held = true;
  note_use (contexts, side, index);
}

void
ib_contexts_dump (IbContexts *contexts, BaseDump *dump)
{
  base_dump_section (dump, "contexts");
  for (size_t side = 0; side < n_sides (contexts); side++) {
    IbSide *it = &contexts->sides[side];

    if (it->first > 0)
      make_room (contexts, it);
    base_dump_list (dump, (void **) &it->uses, &it->end, &it->capacity, sizeof *it->uses);
    BASE_DUMP_VALUE (dump, it->n_held);
    BASE_DUMP_VALUE (dump, it->n_uses);
    BASE_DUMP_VALUE (dump, it->last);
  }
  base_dump_array (dump, contexts->fetch_ps, n_sides (contexts) * contexts->n_fetches,
                   sizeof *contexts->fetch_ps);
  base_dump_list (dump, (void **) &contexts->context, &contexts->n_contexts,
                  &contexts->contexts_capacity, sizeof *contexts->context);
  base_dump_list (dump, (void **) &contexts->slot, &contexts->n_slots, &contexts->n_slots,
                  sizeof *contexts->slot);
}

/* --- The table of connections: open addresses, nothing is ever removed --- */

#define OF_CONNECTION (2 * IB_CONTEXT_SIDES)

static IbConnection *
find (const IbContexts *contexts, uint32_t low, uint32_t high, uint8_t number)
{
  uint64_t key = ((uint64_t) low << 32 | high) ^
                 ((uint64_t) (number & 1) << 63 | (uint64_t) (number >> 1) << 58);
  uint32_t slot;

  key = (key ^ key >> 29) * UINT64_C (0x9e3779b97f4a7c15);
  slot = (uint32_t) (key >> 32) & (contexts->n_slots - 1);
  for (;; slot = (slot + 1) & (contexts->n_slots - 1)) {
    IbConnection *it = &contexts->slot[slot];

    if (it->first == 0 || (it->low == low && it->high == high && it->number == number))
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
  for (uint32_t slot = 0; slot < n_old; slot++)
    if (old[slot].first != 0)
      *find (contexts, old[slot].low, old[slot].high, old[slot].number) = old[slot];
}

static void
add_end (IbContexts *contexts, uint32_t device)
{
  for (uint32_t side = 0; side < IB_CONTEXT_SIDES; side++) {
    uint32_t index = contexts->n_contexts++;
    IbSide *held = &contexts->sides[device * IB_CONTEXT_SIDES + side];

    contexts->context[index] = (IbContext){ 0 };
    if (held->n_held < contexts->capacity)
      hold (contexts, held, index);
  }
}

uint32_t
ib_contexts_connect (IbContexts *contexts, uint32_t source_rank, uint32_t destination_rank,
                     uint8_t number, uint32_t source_device, uint32_t destination_device)
{
  bool is_low = source_rank < destination_rank;
  uint32_t low = is_low ? source_rank : destination_rank;
  uint32_t high = is_low ? destination_rank : source_rank;
  IbConnection *it;

  if (contexts->n_contexts / 2 >= contexts->n_slots)
    grow_table (contexts);
  it = find (contexts, low, high, number);
  if (it->first == 0) {
    if (contexts->n_contexts + OF_CONNECTION > contexts->contexts_capacity) {
      contexts->contexts_capacity = MAX (FIRST_SLOTS, 2 * contexts->contexts_capacity);
      contexts->context = g_renew (IbContext, contexts->context, contexts->contexts_capacity);
    }
    *it = (IbConnection){ low, high, contexts->n_contexts + 1, number };
    add_end (contexts, is_low ? source_device : destination_device);
    add_end (contexts, is_low ? destination_device : source_device);
  }
  return it->first - 1 + (is_low ? 0 : IB_CONTEXT_OTHER_END);
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
ib_contexts_use (IbContexts *contexts, uint32_t index, uint32_t device, int64_t now_ps)
{
  uint32_t side = device * IB_CONTEXT_SIDES + index % IB_CONTEXT_SIDES;
  IbSide *held = &contexts->sides[side];
  IbContext *it = &contexts->context[index];

  if (!it->is_held) {
    it->ready_ps = fetch (contexts, side, now_ps);
    hold (contexts, held, index);
  } else if (held->last != index) {
    note_use (contexts, held, index);
  }
  return MAX (it->ready_ps, now_ps);
}
