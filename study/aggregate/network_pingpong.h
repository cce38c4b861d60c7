/* network_pingpong.h - messages to and fro, and collectives, on the packet network: one number each.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The times that a user would measure by a program: sim_run() goes the whole way from trace to
 * time.  Every core of a node must be a slot of its number (study_slots_are_cores()). */
#pragma once

#include "sim/run.h"

#include <stdbool.h>

/* Makes every core of a fabric's node, the first TOPO_MAX_RANKS_PER_NODE of them, the slot of its
 * number; of a torus nothing. */
void study_slots_are_cores (TopoMachine *machine);

/* Half a round trip of `bytes` between ranks 0 and n_ranks / 2, in microseconds, while the
 * other ranks do the same in pairs (rank r with r + n_ranks / 2), all from the same moment on and
 * as often; without the program's start, the first rounds and the end.  Rank r is on core[r] of
 * node[r].  paths are the machine's; NULL: made anew.  NaN and *error on failure. */
double
study_pingpong_us (const TopoMachine *machine, const RoutePaths *paths, uint32_t n_ranks,
                   const uint32_t *node, const uint8_t *core, uint64_t bytes, GError **error);

/* Whether study_collective_us() can make this collective a program. */
bool study_collective_is_known (TraceOpKind kind);

/* Appends a rank's call as a line of a time-independent trace, with rank 0 as the root; false and
 * nothing when the collective is not known. */
bool study_append_collective (GString *text, TraceOpKind kind, uint32_t rank, uint64_t bytes);

/* The first call of a collective of all ranks, which begin together, in microseconds; bytes are
 * what a trace's operation counts.  The first, as a bound must hold for a call with buffers that
 * the adapter does not know yet: registering them is a tenth of a long all-to-all.  Behind it, but
 * for a barrier, is a barrier whose time counts: a rank that is out early may keep others waiting
 * afterwards. */
double study_collective_us (const TopoMachine *machine, const RoutePaths *paths, TraceOpKind kind,
                            uint32_t n_ranks, const uint32_t *node, const uint8_t *core,
                            uint64_t bytes, GError **error);
