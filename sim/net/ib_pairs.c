/* ib_pairs.c - the queue pairs, found by their two ranks.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A hash table with open addresses.  Pairs live while they have work, so that
 * it is as large as what goes on at a time, not as all pairs of ranks.  With
 * congestion control they live until their last request is forgotten and
 * their index has fallen to what a new pair's is; when the table is full, those
 * are cleared out before it grows. */
#include "config.h"

#include "sim/net/ib_state.h"

#define FIRST_SLOTS 64u

static inline uint32_t
first_slot (const IbNetwork *net, uint32_t source_rank, uint32_t destination_rank, bool rdma)
{
  uint64_t key = (uint64_t) source_rank << 32 | destination_rank;

  key ^= (uint64_t) rdma << 63;
  key = (key ^ key >> 29) * UINT64_C (0x9e3779b97f4a7c15);
  return (uint32_t) (key >> 32) & (net->n_pair_slots - 1);
}

/* Where the pair is, or the free slot where it belongs. */
static uint32_t
find (const IbNetwork *net, uint32_t source_rank, uint32_t destination_rank, bool rdma)
{
  uint32_t slot = first_slot (net, source_rank, destination_rank, rdma);

  for (; net->pair_slot[slot] != 0; slot = (slot + 1) & (net->n_pair_slots - 1)) {
    const IbPair *pair = &net->pair[net->pair_slot[slot] - 1];

    if (pair->source_rank == source_rank && pair->destination_rank == destination_rank &&
        pair->rdma == rdma)
      break;
  }
  return slot;
}

/* Nothing distinguishes it from a new one, since before this window: other
 * nodes may be as far back as that. */
static bool
is_as_new (const IbNetwork *net, const IbPair *pair)
{
  const TopoParameters *p = net->parameters;
  int64_t now_ps = sim_schedule_window_start_ps (net->engine.schedule);

  return pair->n_open == 0 && pair->not_before_ps <= now_ps &&
         pair->ccti - (int64_t) p->ccti_min <= (now_ps - pair->ccti_ps) / p->ccti_timer_ps;
}

static void
forget_idle (IbNetwork *net)
{
  for (uint32_t slot = 0; slot < net->n_pair_slots; slot++) {
    uint32_t pair = net->pair_slot[slot] - 1;

    if (net->pair_slot[slot] == 0 || !is_as_new (net, &net->pair[pair]))
      continue;
    net->pair_slot[slot] = 0;
    pool_give (&net->pairs, net->pair, sizeof (IbPair), offsetof (IbPair, next), pair);
    net->n_paired--;
  }
}

/* A table with room for more, without pairs that are not needed. */
static void
make_room (IbNetwork *net)
{
  g_autofree uint32_t *old = net->pair_slot;
  uint32_t n_old = net->n_pair_slots;

  if (net->parameters->cc)
    forget_idle (net);
  /* As large as before only when it is half as full: this must not come often. */
  net->n_pair_slots = MAX (FIRST_SLOTS, 4 * net->n_paired < n_old ? n_old : 2 * n_old);
  net->pair_slot = g_new0 (uint32_t, net->n_pair_slots);
  for (uint32_t slot = 0; slot < n_old; slot++)
    if (old[slot] != 0) {
      const IbPair *pair = &net->pair[old[slot] - 1];

      net->pair_slot[find (net, pair->source_rank, pair->destination_rank, pair->rdma)] = old[slot];
    }
}

uint32_t
ib_pair_get (IbNetwork *net, uint32_t source_rank, uint32_t destination_rank, bool rdma)
{
  uint32_t slot, index;

  if (2 * net->n_paired >= net->n_pair_slots)
    make_room (net);
  slot = find (net, source_rank, destination_rank, rdma);
  if (net->pair_slot[slot] != 0)
    return net->pair_slot[slot] - 1;
  index = pool_take (&net->pairs, (void **) &net->pair, sizeof (IbPair), offsetof (IbPair, next));
  net->pair[index] = (IbPair){
    .source_rank = source_rank,
    .destination_rank = destination_rank,
    .rdma = rdma,
    .head = PACKET_NONE,
    .tail = PACKET_NONE,
    .next = PACKET_NONE,
    .port = PACKET_NONE,
  };
  net->pair_slot[slot] = index + 1;
  net->n_paired++;
  return index;
}

/* Those behind a slot that becomes free move up, unless they stand before
 * their own first slot then. */
static void
close_gap (IbNetwork *net, uint32_t gap)
{
  uint32_t mask = net->n_pair_slots - 1;

  for (uint32_t slot = (gap + 1) & mask; net->pair_slot[slot] != 0; slot = (slot + 1) & mask) {
    const IbPair *pair = &net->pair[net->pair_slot[slot] - 1];
    uint32_t first = first_slot (net, pair->source_rank, pair->destination_rank, pair->rdma);

    if (((slot - first) & mask) < ((slot - gap) & mask))
      continue;
    net->pair_slot[gap] = net->pair_slot[slot];
    gap = slot;
  }
  net->pair_slot[gap] = 0;
}

void
ib_pair_drop (IbNetwork *net, uint32_t index)
{
  const IbPair *pair = &net->pair[index];

  close_gap (net, find (net, pair->source_rank, pair->destination_rank, pair->rdma));
  pool_give (&net->pairs, net->pair, sizeof (IbPair), offsetof (IbPair, next), index);
  net->n_paired--;
}
