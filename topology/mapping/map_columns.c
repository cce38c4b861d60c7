/* map_columns.c - the columns of a machine's maps: its dimensions and the slot.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "topology/mapping/map_columns.h"

TopoColumns
topo_columns_of (const TopoMachine *machine)
{
  uint32_t n_dimensions = machine->shape.n_dimensions;
  TopoColumns columns = { .n = n_dimensions + 1 };

  for (uint32_t dimension = 0; dimension < n_dimensions; dimension++) {
    columns.size[dimension] = machine->shape.size[dimension];
    columns.letter[dimension] = topo_dimension_letter (dimension);
  }
  columns.size[n_dimensions] = machine->ranks_per_node;
  columns.letter[n_dimensions] = 'T';
  return columns;
}
