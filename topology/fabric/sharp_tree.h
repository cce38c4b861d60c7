/* sharp_tree.h - aggregation trees of InfiniBand switches (NVIDIA's SHARP).
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Switches from Switch-IB 2 on have a unit that combines what the children of the switch in a tree
 * send, and passes one packet on to its parent; the root's result goes down the same tree.
 *
 * A switch with nodes is on level 0, others are one level above the lowest switch beside them.  A
 * fabric is a tree of switches here when every cable between two switches joins neighbouring levels;
 * so the way from any node to the root of an aggregation tree has a switch of each level.  The root is
 * the first switch of the lowest level from which cables lead down to all nodes of the
 * communicator.  NVIDIA's aggregation manager serves Dragonfly+ and other fabrics too, but does not
 * publish its trees there. */
#pragma once

#include "topology/machine.h"

typedef struct {
  uint32_t n_levels;      /* switches on the way from a node to the root, the root among them */
  uint32_t n_children;    /* of the switch with most children on each level, added up */
  uint32_t most_children; /* of a switch */
  int64_t cables_ps;      /* of the way up: the slowest cable below each level, added up */
  uint64_t bandwidth_Bps; /* of the slowest cable */
  uint64_t payload_bytes; /* of a transaction: what NVIDIA's library asks of the oldest switch */
} TopoSharpTree;

/* TRUE where mpi.sharp is off.  Else TOPO_ERROR_RANGE when the switches of the fabric are no tree, or
 * one of them is older than Switch-IB 2 or cannot take sharp.payload.  A switch without a known PCI
 * device id is the first of its speed that has SHARP: Switch-IB 2 for EDR, not Switch-IB. */
gboolean topo_sharp_check (const TopoMachine *machine, GError **error);

/* The tree of so many different nodes of a machine that has passed the check, by the first adapter of
 * each.  False when there is none: a node has no cable to a switch, or no switch is above all of them. */
bool topo_sharp_tree (const TopoMachine *machine, const uint32_t *nodes, uint32_t n_nodes,
                      TopoSharpTree *tree);
