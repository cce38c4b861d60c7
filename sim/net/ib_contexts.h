/* ib_contexts.h - the contexts of queue pairs that adapters hold.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * An adapter needs the context of a queue pair for each request that is rung in, each packet that it
 * sends and each one that arrives: one for sending, which acknowledgements need too, and one for
 * receiving.  Its two sides are units of their own.  Each holds the contexts that it used last; others
 * lie in the memory of the node and are fetched by reads that depend on each other, few at a time and
 * in the order in which they were needed.  Sources: handbook, The InfiniBand model.
 *
 * As fetches come in this order, it is known when a context is needed how long it takes; no event
 * says that it has come.
 *
 * Each packet uses a context, and there are as many as pairs of ranks: what a use reads must be little,
 * and near what other uses of the adapter read.  So the contexts of an adapter are numbered there, in the
 * order in which they were made, and a use writes one number of four bytes.  Which one was used
 * longest ago is found from these numbers when an adapter needs the room. */
#pragma once

#include "base/dump.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum { IB_CONTEXT_SEND, IB_CONTEXT_RECEIVE, IB_CONTEXT_SIDES } IbContextSide;

/* The ends of a connection, each with the number of its two contexts at its device. */
typedef struct {
  uint32_t source, destination;
} IbEnds;

/* The table of connections, by their ranks: a place of it. */
typedef struct {
  uint32_t low, high;     /* ranks; of one that is not both ways the source and the destination */
  uint32_t low_end;       /* + 1; 0: the place is free */
  uint32_t high_end : 24; /* see IbEnds */
  uint32_t number : 8;    /* of the connection among those of the two ranks */
} IbConnection;

_Static_assert(sizeof (IbConnection) == 16, "four places are a cache line");

/* One side of an adapter. */
typedef struct {
  /* What a use needs when nothing is fetched. */
  uint32_t *use;   /* [context] number of its last use among those of its side; 0: it is not held */
  int64_t idle_ps; /* all fetches so far are over */
  uint32_t n_uses;

  uint32_t n, capacity; /* contexts, and room for them */
  int64_t *ready_ps;    /* [context] it is there from then on, when it is held */
  uint32_t n_held, held_capacity;
  uint64_t *held; /* [n_held] use << 32 | context; of the last n_ordered, in this order, the use is
                   * what it was when they were put in order, of others nothing */
  uint32_t n_ordered;
} IbSide;

_Static_assert(sizeof (IbSide) == 64, "a side is a cache line");

typedef struct {
  uint32_t capacity; /* of a side; 0: it holds all */
  uint32_t n_fetches;
  int64_t miss_ps;
  IbSide *sides;     /* [device * IB_CONTEXT_SIDES + side] */
  int64_t *fetch_ps; /* [(device * IB_CONTEXT_SIDES + side) * n_fetches] the next may begin then */
  uint32_t n_devices;
  IbConnection *slot; /* hash table */
  uint32_t n_slots, n_connections;
} IbContexts;

void ib_contexts_init (IbContexts *contexts, uint32_t capacity, uint32_t n_fetches, int64_t miss_ps,
                       uint32_t n_devices);
void ib_contexts_clear (IbContexts *contexts);
void ib_contexts_dump (IbContexts *contexts, BaseDump *dump);

/* Fetches what the next function needs. */
void ib_contexts_prefetch (const IbContexts *contexts, uint32_t source_rank,
                           uint32_t destination_rank, uint8_t number);

/* The connection of two ranks, made when there is none; one that is both ways is that of the other
 * direction too, which must have the same devices.  One that is made while its adapters have room
 * is held by them, as its set-up has just written it. */
IbEnds ib_contexts_connect (IbContexts *contexts, uint32_t source_rank, uint32_t destination_rank,
                            uint8_t number, bool both_ways, uint32_t source_device,
                            uint32_t destination_device);

/* Not for use: the rare cases of ib_contexts_use(). */
int64_t
ib_contexts_use_slowly (IbContexts *contexts, uint32_t side, uint32_t context, int64_t now_ps);

/* From when on a side of a device has the context that it needs now; not before now_ps, which must not
 * be before that of another use at this device.  It holds it then instead of the one that it used
 * longest ago. */
static inline int64_t
ib_contexts_use (IbContexts *contexts, uint32_t device, IbContextSide side, uint32_t context,
                 int64_t now_ps)
{
  IbSide *it = &contexts->sides[device * IB_CONTEXT_SIDES + side];

  if (__builtin_expect (it->use[context] == 0 || now_ps < it->idle_ps || it->n_uses == UINT32_MAX,
                        0))
    return ib_contexts_use_slowly (contexts, device * IB_CONTEXT_SIDES + side, context, now_ps);
  it->use[context] = ++it->n_uses;
  return now_ps;
}
