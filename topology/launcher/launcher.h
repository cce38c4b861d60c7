/* launcher.h - launchers' files that give the places of ranks.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each kind of file is a table of functions; no other code depends on the kind.
 * A reader checks that every rank has one place, that no place has two ranks and
 * that nodes have room.  A writer loses nothing: it refuses a mapping that the
 * kind cannot express, with the reason.
 *
 * Where a kind leaves something open its launcher's behaviour is assumed.  Where
 * a file gives only the nodes of ranks, the ranks of a node have its slots in
 * ascending order: the lowest rank slot 0, no slot between left free. */
#pragma once

#include "topology/mapping/mapping.h"

/* How a file is used; both texts are the caller's to free. */
typedef struct {
  char *line; /* the command that starts the job; NULL: no launcher reads such a file */
  char *note; /* preconditions and pitfalls; NULL: none */
} TopoLaunch;

void topo_launch_clear (TopoLaunch *launch);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (TopoLaunch, topo_launch_clear)

typedef struct {
  const char *name;    /* as before the colon of KIND:FILE and behind --to */
  const char *summary; /* one line: the launcher, the content */

  /* Whether the content of a file identifies the kind on this machine. */
  bool (*probe) (const TopoMachine *machine, const char *text);

  /* Fills a mapping whose arrays are allocated from a text, which it may modify;
   * errors name the path and the line. */
  gboolean (*read) (TopoMapping *mapping, const TopoMachine *machine, const char *path, char *text,
                    GError **error);

  /* The file's text, which the caller frees; NULL and *error when the kind cannot
   * express the mapping. */
  char *(*print) (const TopoMapping *mapping, const TopoMachine *machine, GError **error);

  /* How to use what print() made, under the name of `file`. */
  TopoLaunch (*launch) (const TopoMapping *mapping, const TopoMachine *machine, const char *file);
} TopoLauncher;

/* In the order in which contents are probed, NULL-terminated.  A map file is the
 * fallback. */
extern const TopoLauncher *const topo_launchers[];

/* The kind of a name ("cray", its first `length` letters); NULL: there is none. */
const TopoLauncher *topo_launcher_find (const char *name, gsize length);

/* The kind before the colon of a mapping's text (cray:MPICH_RANK_ORDER), with
 * the path after it in *path; NULL without a kind. */
const TopoLauncher *topo_launcher_named (const char *text, const char **path);

/* The kind of a file by its content; never NULL. */
const TopoLauncher *topo_launcher_detect (const TopoMachine *machine, const char *text);
