/* otf2_definitions.h - definitions of an OTF2 archive that all ranks share; private to traces/.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * MPI ranks are the locations in the archive's group of communication
 * locations of the paradigm MPI, in its order; all other locations (threads,
 * accelerators, metrics) are left out. */
#pragma once

#include "traces/trace.h"

/* The meaning of an MPI call for the records inside it. */
typedef enum {
  OTF2_CALL_USER, /* a region of the program, not of MPI */
  OTF2_CALL_OTHER,
  OTF2_CALL_INIT,
  OTF2_CALL_FINALIZE,
  OTF2_CALL_SENDRECV,
  OTF2_CALL_WAIT,
  OTF2_CALL_WAIT_SOME,
  OTF2_CALL_TEST,
  OTF2_CALL_MOVES, /* moves data, or waits for all: an event should be inside */
} Otf2CallKind;

typedef struct {
  const char *name; /* interned: of an MPI call as MPI spells it */
  Otf2CallKind kind;
} Otf2Region;

typedef struct {
  uint32_t handle;     /* TRACE_COMM_WORLD, TRACE_COMM_SELF or a number of its own */
  uint32_t n_ranks;    /* SELF: 1 */
  int32_t *ranks;      /* world ranks, in order; NULL: SELF */
  int32_t color;       /* of all definitions of this communicator, and of no other */
  const char *refused; /* static: why nothing can be done on it; or NULL */
} Otf2Comm;

typedef struct Otf2Definitions Otf2Definitions;

Otf2Definitions *otf2_definitions_new (void);
void otf2_definitions_free (Otf2Definitions *definitions);

/* Definitions as they are read, in any order, before otf2_definitions_finish(). */
void otf2_definitions_clock (Otf2Definitions *definitions, uint64_t ticks_per_s);
void otf2_definitions_string (Otf2Definitions *definitions, uint32_t id, const char *text);
void otf2_definitions_location (Otf2Definitions *definitions, uint64_t id);
void
otf2_definitions_region (Otf2Definitions *definitions, uint32_t id, uint32_t name, gboolean is_mpi);
/* Of MPI alone: members are locations, */
void otf2_definitions_mpi_locations (Otf2Definitions *definitions, const uint64_t *members,
                                     uint32_t n_members);
/* or indices into those; is_self: without members. */
void otf2_definitions_mpi_group (Otf2Definitions *definitions, uint32_t id, gboolean is_self,
                                 const uint64_t *members, uint32_t n_members);
void
otf2_definitions_comm (Otf2Definitions *definitions, uint32_t id, uint32_t name, uint32_t group);
void otf2_definitions_intercomm (Otf2Definitions *definitions, uint32_t id);
void otf2_definitions_window (Otf2Definitions *definitions, uint32_t id, uint32_t comm);

/* Puts it all together.  merge: several ranks may have defined the same
 * communicator, each under a number of its own, as EZTrace does.  `path` is
 * for messages. */
gboolean otf2_definitions_finish (Otf2Definitions *definitions, gboolean merge, const char *path,
                                  GError **error);

uint32_t otf2_definitions_ranks (const Otf2Definitions *definitions);
uint64_t otf2_definitions_location_of (const Otf2Definitions *definitions, uint32_t rank);
uint64_t otf2_definitions_ticks_per_s (const Otf2Definitions *definitions);
/* NULL when there is no such definition. */
const Otf2Region *otf2_definitions_find_region (const Otf2Definitions *definitions, uint32_t id);
const Otf2Comm *otf2_definitions_find_comm (const Otf2Definitions *definitions, uint32_t id);
const Otf2Comm *otf2_definitions_window_comm (const Otf2Definitions *definitions, uint32_t id);

/* The interned name of the user region `name`; NULL and *error, which names a
 * few that exist, when there is none. */
const char *otf2_definitions_user_region (const Otf2Definitions *definitions, const char *name,
                                          const char *path, GError **error);
