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
 * says that it has come. */
#pragma once

#include "base/dump.h"

#include <stdbool.h>
#include <stdint.h>

/* Four in a row are a connection: at the end of the lower rank for sending and for receiving, then
 * the same of the higher rank. */
enum { IB_CONTEXT_SEND, IB_CONTEXT_RECEIVE, IB_CONTEXT_SIDES };
#define IB_CONTEXT_OTHER_END 2u /* this bit of its number differs */

typedef struct {
  int64_t ready_ps; /* it is there from then on, when it is held */
  uint32_t use; /* number of its last use among those of its side; what counts when it is held */
  bool is_held;
} IbContext;

_Static_assert(sizeof (IbContext) == 16, "a connection is in one cache line");

/* The table of connections, by their ranks: a place of it. */
typedef struct {
  uint32_t low, high; /* ranks */
  uint32_t first;     /* of its contexts, + 1; 0: the place is free */
  uint8_t number;     /* of the connection among those of the two ranks */
} IbConnection;

typedef struct {
  uint32_t context, use;
} IbUse;

/* One side of an adapter.  Uses are noted in their order, and a context that is used again leaves the
 * note of its use before where it is: to use one touches nothing of the others. */
typedef struct {
  IbUse *uses; /* [first .. end - 1] */
  uint32_t first, end, capacity;
  uint32_t n_held;
  uint32_t n_uses;
  uint32_t last; /* context that was used last */
} IbSide;

typedef struct {
  uint32_t capacity; /* of a side; 0: it holds all */
  uint32_t n_fetches;
  int64_t miss_ps;
  IbSide *sides;     /* [device * IB_CONTEXT_SIDES + side] */
  int64_t *fetch_ps; /* [(device * IB_CONTEXT_SIDES + side) * n_fetches] the next may begin then */
  uint32_t n_devices;
  IbContext *context;
  uint32_t n_contexts, contexts_capacity;
  IbConnection *slot; /* hash table */
  uint32_t n_slots;
} IbContexts;

void ib_contexts_init (IbContexts *contexts, uint32_t capacity, uint32_t n_fetches, int64_t miss_ps,
                       uint32_t n_devices);
void ib_contexts_clear (IbContexts *contexts);
void ib_contexts_dump (IbContexts *contexts, BaseDump *dump);

/* The context for sending at the source's end of the connection of two ranks.  A connection that is
 * made while its adapters have room is held by them, as its set-up has just written it. */
uint32_t ib_contexts_connect (IbContexts *contexts, uint32_t source_rank, uint32_t destination_rank,
                              uint8_t number, uint32_t source_device, uint32_t destination_device);

/* From when on a device has the context that it needs now; not before now_ps, which must not be
 * before that of another use at this device.  It holds it then instead of the one that it used
 * longest ago. */
int64_t ib_contexts_use (IbContexts *contexts, uint32_t context, uint32_t device, int64_t now_ps);
