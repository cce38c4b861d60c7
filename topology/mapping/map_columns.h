/* map_columns.h - the columns of a machine's maps: its dimensions and the slot.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Private to topology/. */
#pragma once

#include "topology/machine.h"

#define TOPO_MAX_COLUMNS (TOPO_MAX_DIMENSIONS + 1)

typedef struct {
  uint32_t n;
  uint32_t size[TOPO_MAX_COLUMNS];   /* values that each may have; the last one is the slot's */
  char letter[TOPO_MAX_COLUMNS + 1]; /* "ABCDET" */
} TopoColumns;

TopoColumns topo_columns_of (const TopoMachine *machine);
