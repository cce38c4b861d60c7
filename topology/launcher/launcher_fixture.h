/* launcher_fixture.h - reading texts as launchers' files in tests.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "topology/launcher/launcher.h"
#include "topology/topology_testing.h"

/* Gives the nodes of a machine the names h0, h1 ... */
void launcher_fixture_name_hosts (TopoMachine *machine);

/* The kind of a name, which must be one. */
const TopoLauncher *launcher_fixture_find (const char *kind);

/* Reads a text as a file of the kind, of the kind that its content tells when NULL. */
TopoMapping *launcher_fixture_read (const char *kind, const char *text, const TopoMachine *machine,
                                    uint32_t n_ranks, GError **error);
