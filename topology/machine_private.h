/* machine_private.h - how machines are put together; private to topology/.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "topology/machine.h"

/* bgq:512 and torus:8x8x8m.  Makes what such a spec says: spec, shape and the
 * parameters of the family. */
bool topo_torus_is_spec (const char *spec);
gboolean topo_torus_make (TopoMachine *machine, const char *spec, GError **error);

/* From a machine file: "PATH" or "PATH,OPTION=VALUE...", where options (of
 * fabrics) beat what the file says. */
gboolean topo_machine_load (TopoMachine *machine, const char *path_and_options, GError **error);

/* To be called before a file that describes a part of the machine is read: notes it in
 * machine->files, or refuses one that is not known. */
gboolean topo_machine_note_file (TopoMachine *machine, const char *path, GError **error);

/* Slot number s is core number s. */
void topo_machine_default_cores (TopoMachine *machine);

/* `path` as seen from `folder` (NULL: the working folder); the caller frees it. */
char *topo_path_in (const char *folder, const char *path);
