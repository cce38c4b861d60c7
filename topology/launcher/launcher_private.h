/* launcher_private.h - shared parts of the kinds of launchers' files; private to topology/.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "topology/launcher/launcher.h"

#include <string.h>

extern const TopoLauncher topo_launcher_map;
extern const TopoLauncher topo_launcher_bgp;
extern const TopoLauncher topo_launcher_cray;
extern const TopoLauncher topo_launcher_rankfile;
extern const TopoLauncher topo_launcher_hostfile;
extern const TopoLauncher topo_launcher_hydra;
extern const TopoLauncher topo_launcher_slurm;
extern const TopoLauncher topo_launcher_flux;
extern const TopoLauncher topo_launcher_pmi;
extern const TopoLauncher topo_launcher_erf;
extern const TopoLauncher topo_launcher_vcoord;

/* --- Reading --- */

/* Places ranks one by one, in any order, and checks each place. */
typedef struct {
  TopoMapping *mapping;
  const TopoMachine *machine;
  const char *path;
  uint32_t line; /* of the file, for messages; the reader counts it */
  uint32_t n_placed;
  uint32_t *rank_at;  /* [node * ranks_per_node + slot] TOPO_NONE: free */
  uint32_t *n_filled; /* [n_nodes] slots that topo_placer_fill() has passed */
} TopoPlacer;

TopoPlacer topo_placer_new (TopoMapping *mapping, const TopoMachine *machine, const char *path);
void topo_placer_clear (TopoPlacer *placer);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (TopoPlacer, topo_placer_clear)

/* An error at the current line. */
gboolean topo_placer_fail (const TopoPlacer *placer, TopoError code, GError **error,
                           const char *format, ...) G_GNUC_PRINTF (4, 5);

/* Puts a rank in a slot that the machine has. */
gboolean
topo_placer_put (TopoPlacer *placer, uint64_t rank, uint32_t node, uint32_t slot, GError **error);

/* Puts the next rank, counted from 0, in the next slot of a node; not to be mixed
 * with the other. */
gboolean topo_placer_fill (TopoPlacer *placer, uint32_t node, GError **error);

/* Whether every rank has its place. */
gboolean topo_placer_finish (const TopoPlacer *placer, GError **error);

/* The next line of a text that has something before its '#', cut out of the text
 * and without blanks around it; *text moves on.  NULL: there is none left.  Counts
 * placer->line. */
char *topo_placer_line (TopoPlacer *placer, char **text);

/* The text up to where something that is neither blank nor comment begins. */
const char *topo_launcher_skip (const char *text);

/* For kinds whose content looks like another kind: they need their name. */
bool topo_launcher_probe_never (const TopoMachine *machine, const char *text);

/* --- Writing --- */

/* How many ranks from this one on stay on its node. */
uint32_t topo_launcher_run (const TopoMapping *mapping, uint32_t rank);

/* Refuses a mapping whose ranks on a node do not have its slots from 0 on in
 * ascending order. */
gboolean topo_launcher_check_slots (const TopoMapping *mapping, const TopoMachine *machine,
                                    const char *kind, GError **error);

/* The same of a file that names hosts; also refuses a machine whose nodes have no names, and names
 * that are not valid for hosts. */
gboolean topo_launcher_check_hosts (const TopoMapping *mapping, const TopoMachine *machine,
                                    const char *kind, GError **error);

/* The largest slot that a rank has, plus one. */
uint32_t topo_launcher_slots_used (const TopoMapping *mapping);

/* The largest number of a node that has a rank, plus one. */
uint32_t topo_launcher_nodes_used (const TopoMapping *mapping);

/* " OPTION0,4,2": for each used slot of a node the system's number of the first
 * processor of its core, with commas or other signs between; empty on a torus.  The
 * caller frees it. */
char *topo_launcher_processors (const TopoMapping *mapping, const TopoMachine *machine,
                                const char *option, char between);

/* "4x3x2", the shape of the machine.  The caller frees it. */
char *topo_launcher_shape (const TopoMachine *machine);
