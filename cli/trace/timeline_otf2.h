/* timeline_otf2.h - what timeline_file_otf2.c needs besides events: a place, and communicators.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "mpi/communicator.h"
#include "traces/trace.h"

/* -- timeline_otf2_place.c ------------------------------------------------ */

/* An archive is three entries of a folder: X.otf2, X.def and the folder X.  They are written in a
 * temporary folder beside their place and moved, X.otf2 last: without it nothing is an archive. */
typedef struct CliOtf2Place CliOtf2Place;

/* For "dir/X.otf2".  NULL and *error when nothing can be written there. */
CliOtf2Place *cli_otf2_place_new (const char *path, GError **error);
/* Removes the temporary folder and all that is left in it. */
void cli_otf2_place_free (CliOtf2Place *place);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CliOtf2Place, cli_otf2_place_free)

/* What libotf2 opens: a folder that it makes, and the name "X" in it. */
const char *cli_otf2_place_folder (const CliOtf2Place *place);
const char *cli_otf2_place_name (const CliOtf2Place *place);

/* Moves the archive, which is closed, to its place.  FALSE and *error when it is not whole, or cannot be
 * moved. */
gboolean cli_otf2_place_commit (CliOtf2Place *place, GError **error);

/* -- timeline_otf2_comms.c ------------------------------------------------ */

/* The communicators of a trace that is no graph, all of it read. */
typedef struct CliOtf2Comms CliOtf2Comms;

/* Borrows the trace until it returns.  NULL and *error. */
CliOtf2Comms *cli_otf2_comms_new (Trace *trace, GError **error);
void cli_otf2_comms_free (CliOtf2Comms *comms);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CliOtf2Comms, cli_otf2_comms_free)

/* All of them with their members. */
const TraceComms *cli_otf2_comms_all (const CliOtf2Comms *comms);

/* The number of the communicator that the rank's nth creation or definition binds, from 0;
 * TRACE_COMMS_NULL when the rank makes none, or has no more. */
uint32_t cli_otf2_comms_made (const CliOtf2Comms *comms, uint32_t rank, uint32_t nth);
