/* launcher.h - the files by which launchers are told where ranks go.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each kind of file is a table of functions; there is no other place that knows
 * kinds.  A reader checks that every rank has one place, that no place has two
 * ranks and that nodes have room.  A writer loses nothing: a mapping that the
 * kind cannot say is refused, with the reason.
 *
 * What kinds leave unsaid is what their launchers do.  Where a file tells only
 * the nodes of ranks, the ranks of a node have its slots in ascending order: the
 * lowest rank slot 0, no slot between left free. */
#pragma once

#include "topology/mapping/mapping.h"

/* How a file is used; both texts are the caller's to free. */
typedef struct {
  char *line; /* the command that starts the job; NULL: no launcher reads such a file */
  char *note; /* what has to hold or will surprise; NULL: nothing */
} TopoLaunch;

void topo_launch_clear (TopoLaunch *launch);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (TopoLaunch, topo_launch_clear)

typedef struct {
  const char *name;    /* as before the colon of KIND:FILE and behind --to */
  const char *summary; /* whose file it is */

  /* Whether the content of a file can be nothing else on this machine. */
  bool (*probe) (const TopoMachine *machine, const char *text);

  /* Fills in a mapping that has its rooms, from a text that it may cut up; errors
   * name the path and the line. */
  gboolean (*read) (TopoMapping *mapping, const TopoMachine *machine, const char *path, char *text,
                    GError **error);

  /* The file's text, which the caller frees; NULL and *error when the kind cannot
   * say the mapping. */
  char *(*print) (const TopoMapping *mapping, const TopoMachine *machine, GError **error);

  /* How to use what print() made, under the name of `file`. */
  TopoLaunch (*launch) (const TopoMapping *mapping, const TopoMachine *machine, const char *file);
} TopoLauncher;

/* NULL at the end, in the order in which contents are probed: a map file is what
 * nothing else is. */
extern const TopoLauncher *const topo_launchers[];

/* The kind of a name ("cray", its first `length` letters); NULL: there is none. */
const TopoLauncher *topo_launcher_find (const char *name, gsize length);

/* The kind that a mapping's text names before a colon (cray:MPICH_RANK_ORDER), with
 * the path behind it in *path; NULL: the text names none. */
const TopoLauncher *topo_launcher_named (const char *text, const char **path);

/* The kind of a file by its content; never NULL. */
const TopoLauncher *topo_launcher_detect (const TopoMachine *machine, const char *text);
