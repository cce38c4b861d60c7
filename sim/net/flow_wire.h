/* flow_wire.h - what a message is to the flow network: bytes and latencies.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Everything that happens to a message before and after its bytes flow. */
#pragma once

#include "sim/net/network.h"

/* What crosses each link of a torus: whole packets with headers and trailers,
 * the last one filled up to a chunk.  An empty payload is still one packet. */
uint64_t sim_flow_packets_bytes (const TopoParameters *parameters, uint64_t payload_bytes);

/* The same for a message, with all that its kind adds; of any machine. */
uint64_t sim_flow_wire_bytes (const TopoParameters *parameters, const SimMessage *message);

/* From its posting to the flow of its bytes: all latencies of the way;
 * links has room for longest_links of the paths. */
int64_t sim_flow_start_latency_ps (const RoutePaths *paths, const TopoMapping *mapping,
                                   const SimMessage *message, uint32_t *links);

/* From the last byte on the last link to software that may see it. */
int64_t sim_flow_reception_latency_ps (const TopoParameters *parameters);

/* Fabrics: from the last byte to the sender's software, by way of the
 * acknowledgement. */
int64_t sim_flow_acknowledgement_ps (const RoutePaths *paths, const TopoMapping *mapping,
                                     const SimMessage *message, uint32_t *links);
