/* memory_state.h - what the memory system of nodes knows; private.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "sim/memory.h"

/* What does not change while the simulation runs, by object of the node. */
typedef struct {
  double byte_ps;      /* 0: not a server */
  uint64_t fits_bytes; /* of a cache: largest buffer that may be at home in it */
  uint32_t package;    /* that it is in; TOPO_NONE: none */
  bool is_meeting;     /* of a package: its own caches meet on its bus */
} SimPlace;

/* The same of a core. */
typedef struct {
  uint32_t cache; /* its outermost; TOPO_NONE: none */
  uint32_t memory;
  uint32_t package; /* TOPO_NONE: none */
} SimSite;

struct SimMemory {
  const TopoNode *node;
  SimPlace *places; /* [n_objects] */
  SimSite *sites;   /* [n_cores] */

  int64_t *busy_ps; /* [node * n_objects + object] until when a server is taken */
  uint64_t *passed; /* [same] bytes that it has served */

  double core_ps, transfer_ps, memory_ps; /* of a byte, at a core's own rate */
  double far;                             /* as long from another package */
  int64_t transfer_latency_ps, package_latency_ps;
  bool updates_memory;
  uint64_t quantum_bytes;

  uint32_t *dma; /* [n_dma] where what the adapter moves goes, in equal parts */
  uint32_t n_dma;
  bool dma_to_cache;
};
