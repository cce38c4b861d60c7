/* power.h - the energy of a job, by the way in which it fills its nodes.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * For the time of the job, each node draws its idle power, and more for each of its sockets
 * and cores that the job uses; besides there is energy, whatever the time, for each byte that goes to or from memory.
 * Nodes without tasks are switched off, as in the aggregation paper.
 *
 *   [power]
 *   idle = 180 W
 *   socket = 20 W
 *   core = 12 W
 *   memory = 1 J/GB        W/(GB/s) is the same
 *
 * A key that is missing is 0, but for idle, which is needed. */
#pragma once

#include "topology/mapping/aggregation.h"

typedef struct {
  double idle_W;   /* of a node */
  double socket_W; /* of each socket with a task, beyond idle */
  double core_W;   /* of each core with a task, beyond that */
  double memory_J_per_byte;
} StudyPower;

/* A guess: the figures above.  A node of "a few hundred watts", as the paper has it; sockets and
 * cores stay below the 80 W that the data sheet allows a Xeon E5462. */
extern const StudyPower study_power_guess;

/* FALSE and *error (TOPO_ERROR, or STUDY_ERROR_INPUT) with file and line. */
gboolean study_power_read (const char *path, StudyPower *power, GError **error);

/* Joules of a job that takes `time_s` on all nodes of a pattern (n_nodes is set); the last one
 * counts as full. */
double study_power_energy_J (const StudyPower *power, const TopoPattern *pattern, double time_s,
                             double memory_bytes);
