/* matching.h - which message a receive gets; private to sim/.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each rank has one queue of posted receives and one of unexpected messages.
 * MPI's rule: a message takes the oldest posted receive that accepts it, a
 * receive the oldest unexpected message that it accepts.  Seen as a marriage
 * in which both sides prefer the older partner, the result is the only
 * stable one, so it does not depend on how posts and arrivals interleave;
 * the replay relies on it when it posts receives ahead of network time.
 *
 *   source   receives posted for it alone and its unexpected messages, oldest
 *            first; a (context, tag) never has both
 *   wild     posted receives with a wildcard, oldest first
 *   waiting  all unexpected messages, oldest first
 *
 * so that receives with wildcards cost a search, and others one among what is
 * open with the same source, which a rank has few of.  The replay needs a
 * record per source anyway, for the number of messages that have come. */
#pragma once

#include "base/small_map.h"
#include "topology/shape.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct {
  uint32_t context; /* communicator and kind of traffic */
  uint32_t source;  /* world rank; TOPO_NONE in a receive: any */
  int32_t tag;      /* TRACE_ANY_TAG in a receive: any */
} SimEnvelope;

typedef struct {
  SimEnvelope envelope;
  uint32_t item;        /* the caller's: a request or a transfer */
  uint32_t serial : 31; /* age within the queue */
  bool posted : 1;
  uint32_t next;         /* of the same source; or the chain of free entries */
  uint32_t older, newer; /* in `wild` or `waiting` */
} SimMatchEntry;

/* Entries of all ranks. */
typedef struct {
  SimMatchEntry *entries;
  uint32_t n, capacity, first_free;
} SimMatchPool;

/* What is noted of a source. */
enum { SIM_MATCH_RECEIVED, SIM_MATCH_FIRST, SIM_MATCH_LAST };

/* One rank's. */
typedef struct {
  BaseMap sources; /* source -> messages received, first entry, last entry */
  uint32_t first_wild, last_wild, first_waiting, last_waiting;
  uint32_t n_posted, n_unexpected;
  uint32_t serial;
} SimMatchQueue;

void sim_match_pool_init (SimMatchPool *pool);
void sim_match_pool_clear (SimMatchPool *pool);
void sim_match_queue_init (SimMatchQueue *queue);
void sim_match_queue_clear (SimMatchQueue *queue);

/* Messages received from a source so far, to be counted by the caller; 0 at first, modulo 2^32.
 * The pointer holds until the next call that adds a source. */
uint32_t *sim_match_received (SimMatchQueue *queue, uint32_t source);

/* A message has come: returns the receive that takes it, which is no longer
 * posted, or TOPO_NONE; then the message is kept as unexpected. */
uint32_t sim_match_arrive (SimMatchPool *pool, SimMatchQueue *queue, SimEnvelope envelope,
                           uint32_t transfer);

/* A receive is posted: returns the unexpected message that it takes, or
 * TOPO_NONE; then the receive is kept as posted. */
uint32_t
sim_match_post (SimMatchPool *pool, SimMatchQueue *queue, SimEnvelope envelope, uint32_t request);

/* Takes a posted receive back; false when it is not posted any more. */
bool
sim_match_cancel (SimMatchPool *pool, SimMatchQueue *queue, SimEnvelope envelope, uint32_t request);

/* The unexpected message that such a receive would take, or TOPO_NONE. */
uint32_t
sim_match_probe (const SimMatchPool *pool, const SimMatchQueue *queue, SimEnvelope envelope);

/* True when a receive `wanted` accepts a message `sent`. */
bool sim_match_accepts (SimEnvelope wanted, SimEnvelope sent);
