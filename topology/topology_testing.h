/* topology_testing.h - machines and files for tests of all rooms.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "topology/machine.h"
#include "topology/mapping/mapping.h"

/* The machine of a spec that is right; a node has that many slots, those of the
 * spec when 0. */
TopoMachine *topo_testing_machine (const char *spec, uint32_t ranks_per_node);

/* A fabric of the shared data, which is not part of the project; NULL, and the test
 * skipped, when it is not there. */
TopoFabric *topo_testing_fabric (const char *name);

/* Asserts that every rank has a slot of the machine, and no two the same. */
void topo_testing_places (const TopoMapping *mapping, const TopoMachine *machine);

/* The path of a new temporary file with this text; the caller removes it and
 * frees the path. */
char *topo_testing_file (const char *text);

/* Asserts that an error of TOPO_ERROR with this code (-1: any) begins with `where` (NULL: with
 * anything), contains `named` and has one line. */
void topo_testing_refused (const GError *error, int code, const char *where, const char *named);
