/* memory.c - the memory system of nodes: copies and adapters share it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/memory.h"

struct SimMemory {
  const TopoParameters *parameters;
};

SimMemory *
sim_memory_new (const TopoMachine *machine)
{
  SimMemory *memory = g_new0 (SimMemory, 1);

  memory->parameters = &machine->parameters;
  return memory;
}

void
sim_memory_free (SimMemory *memory)
{
  g_free (memory);
}

uint64_t
sim_memory_quantum_bytes (const SimMemory *memory)
{
  return memory->parameters->copy_quantum_bytes;
}

static int64_t
bytes_ps (uint64_t bytes, uint64_t bandwidth_Bps)
{
  return (int64_t) ((double) bytes * 1e12 / (double) bandwidth_Bps + 0.5);
}

int64_t
sim_memory_copy (SimMemory *memory, const SimCopy *copy, int64_t now_ps)
{
  return now_ps + bytes_ps (copy->bytes, memory->parameters->core_bandwidth_Bps);
}

int64_t
sim_memory_dma (SimMemory *memory, G_GNUC_UNUSED uint32_t node, G_GNUC_UNUSED bool write,
                uint64_t bytes, int64_t now_ps)
{
  return now_ps + bytes_ps (bytes, memory->parameters->dram_bandwidth_Bps);
}
