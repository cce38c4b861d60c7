/* library.h - the MPI libraries of fabrics, as parameters.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * [mpi] library chooses how messages are carried, and the numbers that go with it; keys of a
 * machine file, and settings after it, change these. */
#pragma once

#include "topology/parameters.h"

/* The keys whose values are not the family's defaults; the last one has the key NULL. */
const TopoParameterNote *topo_library_notes (TopoLibrary library);

/* The key goes with the library: another one sets it back. */
bool topo_library_has (const char *group, const char *key);

/* Nothing of the library reads the key. */
bool topo_library_ignores (TopoLibrary library, const char *group, const char *key);
