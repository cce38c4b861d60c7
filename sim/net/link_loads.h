/* link_loads.h - what each link sends in each interval of time.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A packet network stops between its windows, which are shorter than the time in which nodes can affect
 * each other.  Where an interval ends, the counters of all links are compared with what they were
 * before: packets cost nothing more than without.  A packet counts where it begins to be sent.  An
 * interval reaches to the beginning of the first window that begins after its end, so that the sums over
 * time are the counters. */
#pragma once

#include "sim/counters.h"

#include <glib.h>

typedef struct {
  uint64_t interval; /* from 0 */
  uint64_t payload_bytes;
  uint64_t wire_bytes; /* headers and trailers too; of fabrics acknowledgements, too */
  uint32_t link;       /* as in SimCounters */
} SimLinkLoad;

typedef struct SimLinkLoads SimLinkLoads;

/* Of intervals of every_ps, above 0.  Borrows the machine. */
SimLinkLoads *sim_link_loads_new (const TopoMachine *machine, int64_t every_ps);
void sim_link_loads_free (SimLinkLoads *loads);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SimLinkLoads, sim_link_loads_free)

/* Forgets everything: the run begins once more. */
void sim_link_loads_begin (SimLinkLoads *loads);
/* Whether the network, which is about to go on at next_ps, has come to the end of the interval. */
bool sim_link_loads_are_due (const SimLinkLoads *loads, int64_t next_ps);
/* The counters as they are then. */
void sim_link_loads_take (SimLinkLoads *loads, const SimCounters *counters, int64_t next_ps);

/* In the order of intervals, then of links; those of nothing are left out. */
const SimLinkLoad *sim_link_loads_list (const SimLinkLoads *loads, size_t *n);
int64_t sim_link_loads_every_ps (const SimLinkLoads *loads);
