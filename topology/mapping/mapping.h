/* mapping.h - which node and slot each rank has.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Always checked: every rank placed once, no slot twice, no more ranks than
 * slots.  The struct is public and read-only once made. */
#pragma once

#include "topology/machine.h"

typedef struct {
  char *name; /* what was asked for: ABCDET, a path ... */
  uint32_t n_ranks;
  uint32_t *node; /* [n_ranks] */
  uint8_t *slot;  /* [n_ranks] the T coordinate, 0..ranks_per_node-1 */
} TopoMapping;

/* `text` is a permutation of the dimension letters and T, slowest first (ABCDET on
 * Blue Gene/Q, AT, a node after the other, on fabrics: the defaults when NULL or "default"), or the
 * path of a file: a map file or that of a launcher (topology/launcher/launcher.h).  Its content
 * tells which kind it is, unless the kind stands before the path: "slurm:FILE".
 *
 * Errors name file and line.  A text that is a recipe (topology/recipe/recipe.h), and no file,
 * is followed as one. */
TopoMapping *
topo_mapping_new (const char *text, const TopoMachine *machine, uint32_t n_ranks, GError **error);
void topo_mapping_free (TopoMapping *mapping);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TopoMapping, topo_mapping_free)

/* A mapping as a map file's text; the caller frees it. */
char *topo_mapping_print (const TopoMapping *mapping, const TopoMachine *machine);

/* Whether a mapping's text is the path of a rankfile, or of a file of another kind
 * that names cores, which takes any core of a node: a machine must have them all as
 * slots (ranks_per_node) before. */
bool topo_mapping_is_rankfile (const char *text);
