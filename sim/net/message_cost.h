/* message_cost.h - bytes and time of a message on an idle network.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * What the flow network adds to the time of a message's bytes, and what a message would take alone:
 * the packet networks give it that, or more where it has to wait.  `links` is room for longest_links
 * of the paths. */
#pragma once

#include "routing/paths.h"
#include "sim/net/network.h"

/* Bytes of a payload on each link of a torus: whole packets with headers and trailers. */
uint64_t sim_message_packets_bytes (const TopoParameters *parameters, uint64_t payload_bytes);

/* Bytes of a message on each link. */
uint64_t sim_message_wire_bytes (const TopoParameters *parameters, const SimMessage *message);

/* Writes the links of the deterministic path between the nodes of two ranks; returns how many. */
uint32_t sim_message_links (const RoutePaths *paths, const TopoMapping *mapping, uint32_t from_rank,
                            uint32_t to_rank, uint32_t *links);

/* A fabric's cables, and the switches between them. */
int64_t sim_message_way_ps (const TopoMachine *machine, const uint32_t *links, uint32_t n_links);

/* From its posting to the flow of its bytes: all latencies of the way. */
int64_t sim_message_start_ps (const RoutePaths *paths, const TopoMapping *mapping,
                              const SimMessage *message, uint32_t *links);

/* latency_ps: of a message without bytes, from its posting to software that may see it.
 * bandwidth_ps: of its bytes on the slowest link of its way; on a fabric also of a packet, which is
 * wholly read before it is sent and wholly received before it is written. */
typedef struct {
  int64_t latency_ps, bandwidth_ps;
} SimMessageTimes;

/* Both 0 within a node. */
SimMessageTimes sim_message_idle_times (const RoutePaths *paths, const TopoMapping *mapping,
                                        const SimMessage *message, uint32_t *links);
