/* shrink.h - long messages with a part of their packets.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A message of n packets that is simulated with n / S of them, each standing for S, contends much
 * as it would have: what it is off by depends on n / S alone, under uniform traffic 3 % of a
 * message's time at 512, 6 % at 64 (`hopcast validate shrink`).  That holds while all messages that
 * share the network are long; so S follows from the shortest message between two nodes in a phase
 * of the trace.  Where packets are routed dynamically it takes eight times more packets to be as
 * near. */
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
 * messages), "auto:race" (2, and S is at most 8: for the order of placements alone), or S: 2, 3 ...;
 * TRUE if it is one of them. */
gboolean sim_shrink_parse (const char *text, SimShrink *shrink);
/* The same back; the caller frees it. */
char *sim_shrink_text (SimShrink shrink);

/* What is shrunk in a run.  Collectives on COMM_WORLD that synchronise all ranks, with messages of a
 * packet at most, divide a trace into phases where nothing else is under way: those of one phase do
 * not share the network with those of another.  Phases whose shortest message between two nodes
 * is long enough for S are shrunk, the others exact; S is the factor that saves most. */
typedef struct {
  uint32_t factor;         /* S; 1: nothing is shrunk */
  uint64_t shortest_bytes; /* of a message between two nodes; UINT64_MAX: there is none */
  uint32_t n_phases, n_shrunk_phases; /* those with messages between nodes; 0: not counted */
  double shrunk_share;                /* of the bytes between nodes */
  bool *exact; /* [n_exact] for sim_replay_set_exact(); NULL: all are alike */
  uint32_t n_exact;
} SimShrinkPlan;

/* S is at most `most`.  traffic may be NULL; where it does not settle the answer, which is the same,
 * the trace is read.  NULL and *error on failure. */
SimShrinkPlan *sim_shrink_plan (SimShrink shrink, Trace *trace, const SimTraffic *traffic,
                                const TopoMachine *machine, const TopoMapping *mapping,
                                RoutePolicy policy, uint32_t most, GError **error);
void sim_shrink_plan_free (SimShrinkPlan *plan);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SimShrinkPlan, sim_shrink_plan_free)
