/* bench_light.c - the speed of light of a packet simulator: one event per packet-hop.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/bench/bench_light.h"

#include "tools/bench/bench.h"

#include <glib.h>
#include <stdbool.h>
#include <string.h>

enum {
  SLOT_NS = 4, /* the order within a slot does not matter here */
  N_SLOTS = 1 << 14,
  HOP_NS = 40,
  LINK_NS = 276,              /* 552 bytes of a packet at 2 GB/s */
  INJECTION_NS = 2 * LINK_NS, /* a node offers half of what one link carries */
};

#define NONE UINT32_MAX

typedef struct {
  uint64_t at_ns;
  uint32_t next; /* in the slot */
  uint32_t source;
  union {
    struct {
      uint32_t node;
      int8_t left[BENCH_LIGHT_DIMENSIONS]; /* hops; negative: through the odd port */
    } torus;
    struct {
      uint32_t at, end; /* of hops[] */
    } fabric;
  };
} Packet;

/* The two words of a link that every packet touches. */
typedef struct {
  uint64_t free_ns;
  uint64_t n_packets;
} Link;

typedef struct {
  Packet *packets; /* in the order of their nodes, each node's in the order of their injection */
  Link *links;
  uint32_t slots[N_SLOTS]; /* first packet */
} Wheel;

static inline void
wheel_put (Wheel *wheel, uint32_t packet)
{
  uint32_t *slot = &wheel->slots[wheel->packets[packet].at_ns / SLOT_NS % N_SLOTS];

  wheel->packets[packet].next = *slot;
  *slot = packet;
}

static Packet
packet_of (const BenchLight *light, uint32_t source, uint32_t message)
{
  uint32_t at = light->first_hop[message], end = light->first_hop[message + 1];
  Packet packet = { .source = source };

  if (light->neighbour == NULL) {
    packet.fabric.at = at;
    packet.fabric.end = end;
    return packet;
  }
  packet.torus.node = source;
  for (; at < end; at++) {
    uint32_t port = light->hops[at] % light->n_ports;

    if (port % 2 == 0)
      packet.torus.left[port / 2]++;
    else
      packet.torus.left[port / 2]--;
  }
  return packet;
}

static void
fill_packets (const BenchLight *light, Packet *packets)
{
  for (uint32_t message = 0; message < light->n_nodes * light->n_each; message++) {
    Packet packet = packet_of (light, message / light->n_each, message);

    for (uint32_t i = 0; i < light->n_packets; i++)
      *packets++ = packet;
  }
}

/* The link that the packet goes over; NONE: it has arrived. */
static inline uint32_t
packet_step (Packet *packet, const BenchLight *light, bool is_torus)
{
  uint32_t dimension = 0, link;
  int8_t left;

  if (!is_torus)
    return packet->fabric.at < packet->fabric.end ? light->hops[packet->fabric.at++] : NONE;
  while (dimension < light->n_ports / 2 && packet->torus.left[dimension] == 0)
    dimension++;
  if (dimension == light->n_ports / 2)
    return NONE;
  left = packet->torus.left[dimension];
  packet->torus.left[dimension] = (int8_t) (left > 0 ? left - 1 : left + 1);
  link = packet->torus.node * light->n_ports + 2 * dimension + (left < 0);
  packet->torus.node = light->neighbour[link];
  return link;
}

/* All packets of the slot; returns how many have arrived. */
static inline uint64_t
slot_run (Wheel *wheel, uint64_t slot, const BenchLight *light, uint32_t *n_injected, bool is_torus)
{
  uint32_t per_node = light->n_each * light->n_packets;
  uint32_t next = wheel->slots[slot % N_SLOTS];
  uint64_t n_arrived = 0;

  wheel->slots[slot % N_SLOTS] = NONE;
  while (next != NONE) {
    uint32_t packet = next, link;
    Packet *it = &wheel->packets[packet];

    next = it->next;
    if (it->at_ns / SLOT_NS != slot) { /* of a later turn of the wheel */
      wheel_put (wheel, packet);
      continue;
    }
    /* The youngest packet of a node brings the next one. */
    if (n_injected[it->source] < per_node &&
        packet == it->source * per_node + n_injected[it->source] - 1) {
      wheel->packets[packet + 1].at_ns = it->at_ns + INJECTION_NS;
      n_injected[it->source]++;
      wheel_put (wheel, packet + 1);
    }
    link = packet_step (it, light, is_torus);
    if (link == NONE) {
      n_arrived++;
      continue;
    }

    uint64_t start_ns = MAX (it->at_ns, wheel->links[link].free_ns);

    wheel->links[link].free_ns = start_ns + LINK_NS;
    wheel->links[link].n_packets++;
    it->at_ns = start_ns + HOP_NS;
    wheel_put (wheel, packet);
  }
  return n_arrived;
}

uint64_t
bench_light_run (const BenchLight *light, double *seconds)
{
  uint32_t per_node = light->n_each * light->n_packets;
  uint64_t n_packets = (uint64_t) light->n_nodes * per_node, n_arrived = 0, n_hops = 0;
  double start_s;
  g_autofree Packet *packets = g_new (Packet, n_packets);
  g_autofree Link *links = g_new0 (Link, light->n_links);
  g_autofree uint32_t *n_injected = g_new (uint32_t, light->n_nodes);
  g_autofree Wheel *wheel = g_new (Wheel, 1);

  g_assert (n_packets < NONE);
  fill_packets (light, packets);
  wheel->packets = packets;
  wheel->links = links;
  memset (wheel->slots, 0xff, sizeof wheel->slots);
  for (uint32_t node = 0; node < light->n_nodes; node++) {
    n_injected[node] = 1;
    wheel_put (wheel, node * per_node);
  }
  start_s = bench_seconds ();
  for (uint64_t slot = 0; n_arrived < n_packets; slot++)
    n_arrived += light->neighbour != NULL ? slot_run (wheel, slot, light, n_injected, true)
                                          : slot_run (wheel, slot, light, n_injected, false);
  *seconds = bench_seconds () - start_s;
  for (uint32_t link = 0; link < light->n_links; link++)
    n_hops += links[link].n_packets;
  return n_hops;
}
