/* memory.h - the memory system of nodes: copies and adapters share it.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every cache, bus and memory of a node (topology/node/node.h) is a server with a
 * bandwidth.  A piece of a copy occupies each server that its bytes really
 * pass, first come first served; so copies that go on at the same time share
 * what they have in common by taking turns, piece by piece, and what one placement
 * of tasks costs another is not a table but the sum of these turns.
 *
 * The model, with the bytes of every case, is on the handbook's page model-node.
 * Calls for one node must come in the order of their times. */
#pragma once

#include "base/dump.h"
#include "topology/machine.h"

#include <glib.h>

typedef struct SimMemory SimMemory;

/* Where the bytes of one side of a copy are. */
typedef enum {
  /* A rank's own: in the smallest cache above `core` of which it takes no more than
   * cache_share, beside the buffers of others, else in the memory next
   * to `core`; which is one of the cores of the fragments that the copy goes through. */
  SIM_BUFFER_PRIVATE,
  /* Of the segment between `core` and `peer`, used over and over: in the outermost
   * cache of its writer if it fits there, as above. */
  SIM_BUFFER_SHARED,
  /* Registered.  Copied from: the adapter wrote it, to memory (to its cache when
   * dma_to_cache).  Copied to: it reads it next, out of the cache of `core`. */
  SIM_BUFFER_ADAPTER,
} SimBufferKind;

typedef struct {
  uint8_t kind;             /* SimBufferKind */
  uint32_t core;            /* of its rank; SHARED: the writer */
  uint32_t peer;            /* SHARED: the reader */
  uint64_t footprint_bytes; /* of the whole buffer; of fragments, all that are used in turn */
} SimBuffer;

/* One piece of a copy, done by the processor of `core`. */
typedef struct {
  uint32_t node, core;
  SimBuffer from, to;
  uint64_t bytes;     /* at most sim_memory_quantum_bytes() */
  uint64_t limit_Bps; /* the processor copies no faster; 0: no other limit than its own */
} SimCopy;

/* Of all nodes of a fabric (machine->node is not NULL), which it borrows until
 * it is freed. */
SimMemory *sim_memory_new (const TopoMachine *machine);
void sim_memory_free (SimMemory *memory);
void sim_memory_dump (SimMemory *memory, BaseDump *dump);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SimMemory, sim_memory_free)

/* Pieces larger than this keep others waiting. */
uint64_t sim_memory_quantum_bytes (const SimMemory *memory);

/* Starts a piece now; returns when it is done.  The core itself is not
 * reserved: a rank does one thing at a time. */
int64_t sim_memory_copy (SimMemory *memory, const SimCopy *copy, int64_t now_ps);

/* The time of one cache line that `writer` has changed, on its way to `reader`, by what they share;
 * all numbers are cores.  The memory next to `home` is that of the line and has a say where no cache
 * holds both: in another package than either, it costs as much as a writer there. */
int64_t
sim_memory_handover_ps (const SimMemory *memory, uint32_t writer, uint32_t reader, uint32_t home);

/* An adapter of the node reads (writes) memory from now on, as fast as memory
 * and the objects between let it; returns when it is done. */
int64_t
sim_memory_dma (SimMemory *memory, uint32_t node, bool write, uint64_t bytes, int64_t now_ps);

/* The time of a core that goes over n_loads buffers of so many bytes, to put the result in another
 * (a copy: 1) or in the last of them (a reduction: 2), when all cores of the node do as much: in
 * its part of the outermost cache, or as fast as it fetches lines from memory.  Buses and memory
 * are not reserved: the caller has a time at once, not an event for every quantum.  0 where the
 * node is not known. */
int64_t sim_memory_pass_ps (const TopoMachine *machine, uint64_t bytes, uint32_t n_loads);

/* Bytes that have passed an object of a node (topology/node/node.h) so far; 0 for
 * objects that are no servers: cores, caches of one core, the machine. */
uint64_t sim_memory_bytes (const SimMemory *memory, uint32_t node, uint32_t object);
