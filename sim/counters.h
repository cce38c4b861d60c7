/* counters.h - counts of the hardware, per link and per FIFO.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The BGPM names (PEVT_NW_USER_...) are those of IBM's counter library: sent
 * counters belong to the sender's end of a link, received ones to the
 * receiver's; both are kept under the same link number here.  Chunks are 32
 * bytes of packet as it is buffered: header and payload, no trailer.  Each
 * network fills the counters it knows; see `has_*`. */
#pragma once

#include "base/dump.h"

#include <stdbool.h>
#include <stdint.h>

/* Indexed by link: on a torus node * n_ports + port, on a fabric the port of
 * the fabric that the link leaves.  Entries of links that do not exist stay 0. */
typedef struct {
  uint64_t payload_bytes;    /* user bytes sent: the bytes of the features */
  uint64_t dynamic_chunks;   /* PEVT_NW_USER_DYN_PP_SENT */
  uint64_t bubble_chunks;    /* PEVT_NW_USER_ESC_PP_SENT */
  uint64_t priority_chunks;  /* PEVT_NW_USER_PRI_PP_SENT; PP_SENT is the sum of the three */
  uint64_t received_packets; /* PEVT_NW_USER_PP_RECV */
  uint64_t buffered_packets; /* of those, the ones that had to wait in the receive buffers */
  uint64_t buffered_ps;      /* time they waited, added up: RECV_FIFO in picoseconds */
  uint64_t wire_bytes;       /* fabrics: headers and acknowledgements included; PortXmitData and, at
                              * the other end, PortRcvData are this / 4 */
  uint64_t sent_packets;     /* fabrics: PortXmitPkts; received_packets: PortRcvPkts */
  uint64_t wait_ps;          /* fabrics: PortXmitWait: something waits, nothing is sent, for want
                              * of credits */
} SimLinkCounters;

typedef struct SimCounters {
  uint32_t n_nodes, n_ports; /* torus: ports of each node; fabric: ports of all devices */
  uint32_t n_places;         /* numbers of links, n_nodes * n_ports on a torus */
  uint32_t n_links;          /* existing ones */
  bool has_buffers;          /* received/buffered are known (packet network) */
  SimLinkCounters *link;     /* [n_places] */
  uint64_t *fifo_messages;   /* [n_fifo_places] messages injected per torus FIFO, or per
                                       * adapter's send queue: one per port of an adapter, in the
                                       * order of the destinations of the routes */
  uint32_t n_fifos;          /* torus FIFOs per node: 10 on Blue Gene/Q; fabric: 0 */
  uint32_t n_fifo_places;    /* n_nodes * n_fifos on a torus */
  uint64_t *direct_messages; /* [n_nodes] of direct collectives, which take turns on the FIFOs;
                              * load network only */
  bool *link_exists;         /* [n_places] */

  uint64_t packets; /* injected into the torus */
  uint64_t packet_hops;
  uint64_t events;   /* processed by the network; tori: hops, receptions, deliveries, timers */
  uint64_t messages; /* handed to the network, protocol ones included */
} SimCounters;

/* Network cycles of 2 ns, as PEVT_NW_USER_PP_RECV_FIFO counts them, and the chunks of PP_SENT.
 * Fabrics, which have neither, are told in the same units. */
#define SIM_NETWORK_CYCLE_PS 2000
#define SIM_CHUNK_BYTES      32

#include "topology/machine.h"

/* All zero, sized for the machine. */
SimCounters *sim_counters_new (const TopoMachine *machine);
void sim_counters_free (SimCounters *counters);
void sim_counters_dump (SimCounters *counters, BaseDump *dump);
