/* replayed_program.h - programs of a few ranks, replayed as the program `hopcast` does.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * For experiments that were measured through MPI: the whole way from spec or
 * file to time is taken, by sim_run(). */
#pragma once

#include "sim/run.h"

#include <stdbool.h>

/* A machine with `settings` (NULL-terminated "group.key=value"; may be NULL)
 * applied.  Every core of a fabric's node is a slot of its number. */
TopoMachine *validation_machine_new (const char *spec, const char *const *settings, GError **error);

typedef struct {
  double time_ps; /* end of the last rank */
  double mpi_ps;  /* time outside of computations, mean over the ranks */
} ValidationRun;

/* Replays a trace (a path or gen:...) on the packet network with rank r on
 * core[r] of node[r]. */
bool
validation_replay (const char *trace, const TopoMachine *machine, uint32_t n_ranks,
                   const uint32_t *node, const uint8_t *core, ValidationRun *run, GError **error);

/* The same for the text of a time-independent trace of all ranks. */
bool validation_replay_text (const char *text, const TopoMachine *machine, uint32_t n_ranks,
                             const uint32_t *node, const uint8_t *core, ValidationRun *run,
                             GError **error);

/* Half of a round trip of messages of `bytes` between ranks on node 0 and on another one, in
 * picoseconds, without the program's start and end; 0 and *error on failure. */
double
validation_latency_ps (const TopoMachine *machine, uint32_t to, uint64_t bytes, GError **error);

/* Bytes per second of a window of nonblocking messages of `bytes` from node 0 to another one, from
 * the first call to the last completion; 0 and *error on failure. */
double
validation_bandwidth_Bps (const TopoMachine *machine, uint32_t to, uint64_t bytes, GError **error);
