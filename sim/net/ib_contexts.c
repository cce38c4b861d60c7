/* ib_contexts.c - the contexts of queue pairs that adapters hold.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/net/ib_contexts.h"

#include <glib.h>

#define FIRST_SLOTS 64u

void
ib_contexts_init (IbContexts *contexts, uint32_t capacity, uint32_t n_fetches, int64_t miss_ps,
                  uint32_t n_devices)
{
  uint32_t n_sides = MAX (1, n_devices) * IB_CONTEXT_SIDES;

  *contexts = (IbContexts){
    .capacity = capacity,
    .n_fetches = n_fetches,
    .miss_ps = miss_ps,
    .held = g_new (IbHeld, n_sides),
    .fetch_ps = g_new0 (int64_t, (size_t) n_sides * n_fetches),
    .n_devices = n_devices,
  };
  for (uint32_t side = 0; side < n_sides; side++)
    contexts->held[side] = (IbHeld){ IB_NO_CONTEXT, IB_NO_CONTEXT, 0 };
}

void
ib_contexts_clear (IbContexts *contexts)
{
  g_free (contexts->held);
  g_free (contexts->fetch_ps);
  g_free (contexts->context);
  g_free (contexts->slot);
}

void
ib_contexts_dump (IbContexts *contexts, BaseDump *dump)
{
  size_t n_sides = (size_t) MAX (1, contexts->n_devices) * IB_CONTEXT_SIDES;

  base_dump_section (dump, "contexts");
  base_dump_array (dump, contexts->held, n_sides, sizeof *contexts->held);
  base_dump_array (dump, contexts->fetch_ps, n_sides * contexts->n_fetches,
                   sizeof *contexts->fetch_ps);
  base_dump_list (dump, (void **) &contexts->context, &contexts->n_contexts,
                  &contexts->contexts_capacity, sizeof *contexts->context);
  base_dump_list (dump, (void **) &contexts->slot, &contexts->n_slots, &contexts->n_slots,
                  sizeof *contexts->slot);
}

/* --- What a side of an adapter holds, in the order of use --- */

static uint32_t
side_of (const IbContexts *contexts, uint32_t index)
{
  return contexts->context[index].device * IB_CONTEXT_SIDES + index % IB_CONTEXT_SIDES;
}

static IbHeld *
held_with (const IbContexts *contexts, uint32_t index)
{
  return &contexts->held[side_of (contexts, index)];
}

static void
unlink_held (IbContexts *contexts, uint32_t index)
{
  const IbContext *it = &contexts->context[index];
  IbHeld *held = held_with (contexts, index);

  if (it->newer == IB_NO_CONTEXT)
    held->newest = it->older;
  else
    contexts->context[it->newer].older = it->older;
  if (it->older == IB_NO_CONTEXT)
    held->oldest = it->newer;
  else
    contexts->context[it->older].newer = it->newer;
}

static void
link_newest (IbContexts *contexts, uint32_t index)
{
  IbContext *it = &contexts->context[index];
  IbHeld *held = held_with (contexts, index);

  it->newer = IB_NO_CONTEXT;
  it->older = held->newest;
  if (it->older == IB_NO_CONTEXT)
    held->oldest = index;
  else
    contexts->context[it->older].newer = index;
  held->newest = index;
}

static void
hold (IbContexts *contexts, uint32_t index)
{
  IbHeld *held = held_with (contexts, index);

  if (held->n_held == contexts->capacity) {
    contexts->context[held->oldest].is_held = false;
    unlink_held (contexts, held->oldest);
  } else {
    held->n_held++;
  }
  contexts->context[index].is_held = true;
  link_newest (contexts, index);
}

/* --- The table of connections, by their ranks: open addresses, nothing is ever removed --- */

#define OF_CONNECTION (2 * IB_CONTEXT_SIDES)

static uint32_t
find (const IbContexts *contexts, uint32_t low, uint32_t high, uint8_t number)
{
  uint64_t key = ((uint64_t) low << 32 | high) ^
                 ((uint64_t) (number & 1) << 63 | (uint64_t) (number >> 1) << 58);
  uint32_t slot;

  key = (key ^ key >> 29) * UINT64_C (0x9e3779b97f4a7c15);
  slot = (uint32_t) (key >> 32) & (contexts->n_slots - 1);
  for (; contexts->slot[slot] != 0; slot = (slot + 1) & (contexts->n_slots - 1)) {
    const IbContext *end = &contexts->context[contexts->slot[slot] - 1];

    if (end[0].rank == low && end[IB_CONTEXT_OTHER_END].rank == high && end[0].number == number)
      break;
  }
  return slot;
}

static void
make_room (IbContexts *contexts)
{
  contexts->n_slots = MAX (FIRST_SLOTS, 2 * contexts->n_slots);
  g_free (contexts->slot);
  contexts->slot = g_new0 (uint32_t, contexts->n_slots);
  for (uint32_t index = 0; index < contexts->n_contexts; index += OF_CONNECTION) {
    const IbContext *end = &contexts->context[index];

    contexts->slot[find (contexts, end[0].rank, end[IB_CONTEXT_OTHER_END].rank, end[0].number)] =
        index + 1;
  }
}

static void
add_end (IbContexts *contexts, uint32_t rank, uint32_t device, uint8_t number)
{
  for (uint32_t side = 0; side < IB_CONTEXT_SIDES; side++) {
    uint32_t index = contexts->n_contexts++;

    contexts->context[index] = (IbContext){ .rank = rank, .device = device, .number = number };
    if (held_with (contexts, index)->n_held < contexts->capacity)
      hold (contexts, index);
  }
}

uint32_t
ib_contexts_connect (IbContexts *contexts, uint32_t source_rank, uint32_t destination_rank,
                     uint8_t number, uint32_t source_device, uint32_t destination_device)
{
  bool is_low = source_rank < destination_rank;
  uint32_t low = is_low ? source_rank : destination_rank;
  uint32_t high = is_low ? destination_rank : source_rank;
  uint32_t slot;

  if (contexts->n_contexts / 2 >= contexts->n_slots)
    make_room (contexts);
  slot = find (contexts, low, high, number);
  if (contexts->slot[slot] == 0) {
    if (contexts->n_contexts + OF_CONNECTION > contexts->contexts_capacity) {
      contexts->contexts_capacity = MAX (FIRST_SLOTS, 2 * contexts->contexts_capacity);
      contexts->context = g_renew (IbContext, contexts->context, contexts->contexts_capacity);
    }
    contexts->slot[slot] = contexts->n_contexts + 1;
    add_end (contexts, low, is_low ? source_device : destination_device, number);
    add_end (contexts, high, is_low ? destination_device : source_device, number);
  }
  return contexts->slot[slot] - 1 + (is_low ? 0 : IB_CONTEXT_OTHER_END);
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
ib_contexts_use (IbContexts *contexts, uint32_t index, int64_t now_ps)
{
  IbContext *it = &contexts->context[index];

  if (!it->is_held) {
    it->ready_ps = fetch (contexts, side_of (contexts, index), now_ps);
    hold (contexts, index);
  } else if (it->newer != IB_NO_CONTEXT) {
    unlink_held (contexts, index);
    link_newest (contexts, index);
  }
  return MAX (it->ready_ps, now_ps);
}
