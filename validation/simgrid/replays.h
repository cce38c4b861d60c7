/* replays.h - one trace and one mapping on packets, on flows, and in SimGrid's own replayer.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The machine is a torus without what SimGrid does not model: processor time in MPI, envelopes and
 * latencies of the messaging unit.  Packets keep a head of one chunk, a 63rd of a full packet; the
 * links that smpirun gets are as much narrower. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct {
  const char *name;        /* as figures of it begin */
  const char *trace;       /* a pattern's spec, or a file of the folder of traces */
  const char *shape;       /* of the torus, one rank a node */
  const char *collectives; /* our rules; NULL: the default */
  const char *smpirun;     /* words for smpirun that choose the same algorithms */
} SimgridCase;

typedef enum { SIMGRID_PACKET, SIMGRID_FLOW, SIMGRID_SMPIRUN, SIMGRID_N_WAYS } SimgridWay;

/* The time of a run in seconds; NaN: not run, and `why` has the reason. */
typedef struct {
  double time_s;
  char *why;
} SimgridTime;

void simgrid_time_clear (SimgridTime *time);

typedef struct {
  const char *traces;  /* folder of the traces that are files */
  const char *smpirun; /* path of the program; NULL: that of PATH */
} SimgridPlaces;

/* The mappings of a case, from 0, the torus's own order first. */
#define SIMGRID_N_MAPPINGS 20

/* Runs the case with its first n_mappings mappings on each of these ways, in one process a core (flow
 * runs: one each): times[way][mapping], of which ways that are not asked for stay as they are.  What a
 * machine lacks (SimGrid, smpirun, a trace) is a time that was not run; FALSE and *error when a run
 * fails otherwise. */
gboolean simgrid_replay (const SimgridCase *it, const SimgridPlaces *places,
                         const bool wanted[SIMGRID_N_WAYS], guint n_mappings,
                         SimgridTime times[SIMGRID_N_WAYS][SIMGRID_N_MAPPINGS], GError **error);
