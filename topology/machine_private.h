/* machine_private.h - the parts of making a machine; private to topology/.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "topology/machine.h"

/* --- machine.c --- */

/* To be called before a file that describes a part of the machine is read: notes it in
 * machine->files, or refuses one that is not known. */
gboolean topo_machine_note_file (TopoMachine *machine, const char *path, GError **error);

/* Slot number s is core number s. */
void topo_machine_default_cores (TopoMachine *machine);

/* `path` as seen from `folder` (NULL: the working folder); the caller frees it. */
char *topo_path_in (const char *folder, const char *path);

/* --- fabric_spec.c: fabrics as specs of machines --- */

bool topo_fabric_is_spec (const char *spec);

/* Fills in what a spec says: spec, fabric, shape, the parameters of the
 * family and of the preset, and, where an option of it names them and they
 * are not there yet, routes and node.  Paths are seen from `folder` (NULL: the
 * working folder). */
gboolean
topo_fabric_make (TopoMachine *machine, const char *spec, const char *folder, GError **error);

/* Options that stand behind the path of a machine file: routes, node and threads. */
gboolean topo_fabric_read_options (TopoMachine *machine, const char *options, GError **error);

/* An engine, opensm:ENGINE, or the path of dumped tables; and the name of a
 * processor (topology/node/processor.h) or the path of hwloc's XML. */
gboolean
topo_fabric_set_routes (TopoMachine *machine, const char *text, const char *folder, GError **error);
gboolean
topo_fabric_set_node (TopoMachine *machine, const char *text, const char *folder, GError **error);

/* Applies machine->failed and ->degraded to the fabric, before topo_fabric_finish().  *key is the one
 * of the two that was wrong. */
gboolean topo_fabric_apply_faults (TopoMachine *machine, const char **key, GError **error);

/* A number from 1 on; topo_fabric_finish() compares it with the node. */
gboolean topo_fabric_set_threads (TopoMachine *machine, const char *text, GError **error);

/* The defaults of options that are not set, the parameters of the node's processors, and the
 * canonical spec: with those options alone that are not the default. */
gboolean topo_fabric_finish (TopoMachine *machine, GError **error);

/* The spec as a machine file has it, without routes and node and with an
 * absolute path; a path (or name) of routes or of a node likewise.  The caller
 * frees them. */
char *topo_fabric_print_spec (const TopoMachine *machine);
char *topo_fabric_print_path (const char *name);

/* Appends the parameters that a preset sets, or the generation of a fabric, and the library
 * (element-type TopoParameterNote). */
void topo_fabric_notes (const TopoMachine *machine, GArray *notes);

/* The keys of parameters that nothing on this machine reads: NULL after the last; returns keys. */
#define TOPO_MAX_UNUSED 11
const char *const *
topo_fabric_unused (const TopoMachine *machine, const char *keys[TOPO_MAX_UNUSED + 1]);
