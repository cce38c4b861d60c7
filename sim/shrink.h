/* shrink.h - long messages with a part of their packets.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A message of n packets that is simulated with n / S of them, each standing for S, contends much
 * as it would have: what it is off by depends on n / S alone, under uniform traffic 3 % of a
 * message's time at 512, 6 % at 64 (`hopcast validate shrink`).  That holds while all messages that share the network are
 * long; so S follows from the shortest message between two nodes.  Where packets are routed
 * dynamically it takes eight times more packets to be as near. */
#pragma once

#include "routing/pami.h"
#include "routing/paths.h"
#include "sim/traffic.h"

typedef struct {
  uint32_t factor;       /* S; 0: it follows from .packets_left */
  uint32_t packets_left; /* that the shortest message must keep at least; 0 too: every packet */
} SimShrink;

static inline gboolean
sim_shrink_is_off (SimShrink shrink)
{
  return shrink.factor == 0 && shrink.packets_left == 0;
}

/* "off", "auto" (1,000 packets are left), "auto:screen" (250; both eight times that of dynamic
 * messages), "auto:race" (4, and S is at most 8: for the order of placements alone), or S: 2, 3 ...;
 * TRUE if it is one of them. */
gboolean sim_shrink_parse (const char *text, SimShrink *shrink);
/* The same back; the caller frees it. */
char *sim_shrink_text (SimShrink shrink);

/* S for all messages of a trace: at most `most`, 1 if the trace has a message between two nodes that
 * is too short, or none between two nodes.  *shortest_bytes: that of the shortest message,
 * UINT64_MAX: there is none.  traffic may be NULL; then the trace is read for it.  0 and *error on
 * failure. */
uint32_t
sim_shrink_factor (SimShrink shrink, Trace *trace, const SimTraffic *traffic,
                   const TopoMachine *machine, const TopoMapping *mapping, RoutePolicy policy,
                   uint32_t most, uint64_t *shortest_bytes, GError **error);
