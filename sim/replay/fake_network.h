/* fake_network.h - a network for tests of the replay: constant latency.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A message arrives latency_ps + bytes * byte_ps after it was sent, however
 * many there are; its acknowledgement is back latency_ps later.  It checks what network.h asks of its client: nothing in
 * the past, sends from the node of the callback only, timers of other nodes
 * not before the look-ahead. */
#pragma once

#include "sim/net/network.h"

typedef struct {
  SimMessage message;
  int64_t sent_ps, delivered_ps;
} FakeRecord;

/* latency_ps is the look-ahead too.  With jitter_ps > 0 each message takes up
 * to that much longer, by a fixed function of its number, so that messages
 * overtake each other. */
SimNetwork *fake_network_new (const TopoMapping *mapping, int64_t latency_ps, int64_t byte_ps,
                              int64_t jitter_ps, const SimClient *client, void *client_data);

/* (element-type FakeRecord) in the order of sim_network_send(). */
const GArray *fake_network_log (const SimNetwork *network);

/* Timers that were set. */
uint64_t fake_network_timers (const SimNetwork *network);
