/* torus_messages.h - the descriptors that a torus node writes for a message.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "routing/pami.h"
#include "routing/torus.h"
#include "sim/net/network.h"

/* The machine as far as descriptors depend on it. */
typedef struct {
  const TopoMachine *machine;
  const TopoMapping *mapping;
  RoutePolicy policy;
  RouteTorus route;
  uint32_t n_ports;
  uint32_t chunk_bytes, payload_bytes;
  uint32_t *direct_sent; /* [node] messages of direct collectives so far */
} TorusMessages;

/* What the messaging unit has been told to send: one message, or one of its
 * halves. */
typedef struct {
  RouteWay way;
  uint8_t vc, zone;
  uint8_t fifo;            /* network injection FIFO */
  uint8_t envelope_chunks; /* payload chunks of a packet that carries no user data, 0: none */
  uint8_t software_bytes;  /* in the payload of a data packet, before the user's */
  uint32_t owner;          /* of the memory FIFO */
  uint32_t message;
  uint32_t next;
  uint64_t bytes_left; /* user bytes not yet in packets */
  bool data_left;      /* a data packet is due even if bytes_left is 0 */
} TorusDescriptor;

/* `messages` borrows machine and mapping. */
void torus_messages_init (TorusMessages *messages, const TopoMachine *machine,
                          const TopoMapping *mapping, RoutePolicy policy);
void torus_messages_clear (TorusMessages *messages);

/* Writes one descriptor, or two for a transfer that is split over both cables
 * to the E neighbour; returns how many.  `message` and `next` are the caller's. */
uint32_t
torus_describe (TorusMessages *messages, const SimMessage *message, TorusDescriptor descriptors[2]);

/* How many packets the descriptor becomes. */
uint64_t
torus_descriptor_packets (const TorusMessages *messages, const TorusDescriptor *descriptor);

static inline uint32_t
torus_payload_chunks (const TorusMessages *messages, uint64_t bytes)
{
  return (uint32_t) ((bytes + messages->chunk_bytes - 1) / messages->chunk_bytes);
}

/* Fields of the engines can hold what the machine says. */
gboolean torus_check_limits (const TopoMachine *machine, GError **error);
