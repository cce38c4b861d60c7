/* bench_light.h - the speed of light of a packet simulator: one event per packet-hop.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A loop that does no more than any simulator of packets must: a packet is taken off a timing
 * wheel, its next link is reserved until the packet has passed, the packet is put back onto the
 * wheel for its arrival at the other end.  There are no buffers, no credits and no arbiters.  On
 * a torus a packet knows how many hops it has left in each dimension and takes the first;
 * on a fabric it has the list of its links.  What a network takes longer is the price of its
 * model. */
#pragma once

#include <stdint.h>

typedef struct {
  uint32_t n_nodes, n_links;
  uint32_t n_each;           /* messages of each node */
  uint32_t n_packets;        /* of each message */
  const uint32_t *first_hop; /* [n_nodes * n_each + 1] of hops[], by message */
  const uint32_t *hops;      /* links of the messages */

  /* Of a torus; else NULL. */
  const uint32_t *neighbour; /* [n_links] by node * n_ports + port */
  uint32_t n_ports;          /* two of each dimension */
} BenchLight;

enum { BENCH_LIGHT_DIMENSIONS = 6 };

/* Sends all messages; returns how many packet-hops that were.  *seconds: the time of the loop. */
uint64_t bench_light_run (const BenchLight *light, double *seconds);
