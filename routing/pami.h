/* pami.h - the decisions of IBM's messaging library per message: routing, FIFO.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Facts: bgq.md sections 2.7 (routing), 3.2 (FIFOs), 3.4 (pacing).  The
 * rules compare coordinates, so they are functions of (machine, source,
 * destination) and can be tested against hand-worked cases. */
#pragma once

#include "routing/torus.h"
#include "topology/machine.h"

typedef enum {
  ROUTE_VC_DYNAMIC = 0,
  ROUTE_VC_BUBBLE = 1,   /* deterministic; also the escape of dynamic packets */
  ROUTE_VC_PRIORITY = 2, /* deterministic, remote-get requests */
} RouteVc;
#define ROUTE_VCS 3

/* A whole run may override PAMI's choice (--routing). */
typedef enum {
  ROUTE_POLICY_DEFAULT,
  ROUTE_POLICY_DETERMINISTIC,
  ROUTE_POLICY_ZONE0,
  ROUTE_POLICY_ZONE1,
  ROUTE_POLICY_ZONE2,
  ROUTE_POLICY_ZONE3,
} RoutePolicy;

typedef struct {
  uint8_t vc;   /* RouteVc */
  uint8_t zone; /* when dynamic */
} RouteChoice;

/* Rendezvous data of `bytes` user bytes between two nodes, before the limit
 * on messages in flight.  Deterministic when the nodes differ in one
 * dimension only or bytes <= dynamic_bytes; else the zone by block size and
 * flexibility metric (table of section 2.7).  A zone policy overrides the
 * zone of what would be dynamic; ROUTE_POLICY_DETERMINISTIC everything. */
RouteChoice route_pami_data (const TopoMachine *machine, RoutePolicy policy, uint32_t from,
                             uint32_t to, uint64_t bytes);

/* Messages of direct collectives (many-to-many): dynamic, zone 1 up to 512
 * nodes, zone 0 above. */
RouteChoice route_pami_direct (const TopoMachine *machine, RoutePolicy policy);

/* Network injection FIFOs of a node, in the order of the 16-bit map. */
enum {
  ROUTE_FIFO_LOCAL0 = 10,
  ROUTE_FIFO_LOCAL1 = 11,
  ROUTE_FIFO_PRIORITY = 12,
  ROUTE_FIFO_SYSTEM = 13,
  ROUTE_FIFO_COLLECTIVE = 14,
  ROUTE_FIFO_COLLECTIVE_SYSTEM = 15,
  ROUTE_FIFOS = 16,
};
#define ROUTE_TORUS_FIFOS 10

/* PAMI's pin of a destination: 10 + destination slot mod 6 within a node,
 * 2 * dimension + sign on a line, else the sum of the raw (unwrapped)
 * distances mod 10.  On machines that are not Blue Gene/Q the same rule runs
 * over their dimensions, mod the number of their torus FIFOs. */
uint32_t route_pami_pin (const TopoMachine *machine, uint32_t from, uint32_t to, uint32_t to_slot);

/* Pin -> network injection FIFO (the like-numbered torus FIFO, Local0/1). */
uint32_t route_pami_pin_fifo (uint32_t pin);

/* The pin from which the source of remote-get data injects it, given the
 * receiver's pin to that source: even and odd swapped. */
uint32_t route_pami_pin_to_self (uint32_t pin);

/* Remote-get pacing (section 3.4).  True when the transfer is paced; then
 * *piece_bytes is the sub-message and *window_bytes the cap per node. */
bool route_pami_paced (const TopoMachine *machine, uint32_t from, uint32_t to, uint64_t bytes,
                       uint64_t *piece_bytes, uint64_t *window_bytes);

/* True when rendezvous data between the nodes is split over both cables of
 * the E dimension: pure E neighbours and bytes >= e_split_bytes. */
bool route_pami_e_split (const TopoMachine *machine, uint32_t from, uint32_t to, uint64_t bytes);
