/* node.h - the inside of a node: what its cores share, as a tree.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 *   machine ─┬─ package ─┬─ cache (L3) ─┬─ cache (L2) ── core
 *            │           └─ memory      └─ cache (L2) ── core
 *            └─ memory
 *
 * The tree keeps the objects that communication can share: packages, the largest of the caches
 * that serve the same cores (so a core has at most one cache of its own), cores and memories.
 * Memory (a NUMA node) is a leaf of the object whose cores are nearest to it.  Cores have
 * hwloc's logical numbers: cores that share most have consecutive numbers.  A core with
 * hyper-threads is one core, whose threads are listed apart; topo_node_threads() makes the tree
 * in which each of them stands for a core.
 *
 * The struct is public and read-only once made. */
#pragma once

#include "topology/shape.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum {
  TOPO_OBJECT_MACHINE,
  TOPO_OBJECT_PACKAGE,
  TOPO_OBJECT_CACHE,
  TOPO_OBJECT_CORE,
  TOPO_OBJECT_MEMORY,
} TopoObjectKind;

typedef struct {
  uint8_t kind;                 /* TopoObjectKind */
  uint8_t level;                /* of a cache: 1, 2, 3 ... */
  uint32_t parent;              /* TOPO_NONE: the machine */
  uint32_t os_index;            /* of a package or memory, and of a core's first hardware thread */
  uint32_t first_core, n_cores; /* those below it; of memory: those nearest to it */
  uint64_t cache_bytes;         /* of a cache */
  uint64_t memory_bytes;        /* of memory; 0: not known */
  bool is_hbm;                  /* of memory: high-bandwidth */
} TopoObject;

typedef struct TopoProcessor TopoProcessor; /* processor.h */

typedef struct {
  char *source;                   /* path, or the name of a processor: "harpertown" */
  char *model;                    /* of the processors, as the file has it; NULL: not given */
  const TopoProcessor *processor; /* NULL: not known */
  bool is_nearest;                /* the table has only one that is close to it */
  bool has_split_memory;          /* the file has one memory for packages that have one each */
  TopoObject *objects;            /* parents before children; 0 is the machine */
  uint32_t n_objects;
  uint32_t *core; /* [n_cores] object of a core */
  uint32_t n_cores;
  uint32_t *cpu,
      *cpu_core; /* [n_cpus] hardware threads, by core: the operating system's number; the core */
  uint32_t n_cpus;
  uint32_t *first_thread; /* [n_cores] when the cores of the tree are threads: the first one of the
                             same core; NULL: cores are cores */
  uint32_t *memory;       /* [n_memories] object of a NUMA node; at least one */
  uint32_t n_memories;
  uint32_t
      adapter; /* object below which the host adapter's bridge hangs: the machine, or a package */
} TopoNode;

/* Two quad-core Xeon E5462: in each package two dies of two cores, which share
 * 6 MB of L2; one memory of 8 GiB behind both packages' front-side
 * buses (infiniband.md sections 0 and C1). */
TopoNode *topo_node_harpertown (void);

/* A usual node with two of the processors of this name (processor.h); NULL: no such name.  One
 * hardware thread per core; the adapter is below the first package (a guess) unless the memory
 * is behind a chipset. */
TopoNode *topo_node_named (const char *name);

/* From hwloc's XML.  Errors (TOPO_ERROR) name the file; XML of hwloc 3, which
 * hwloc 2 cannot read, is refused by that name. */
TopoNode *topo_node_load (const char *path, GError **error);

/* The same node with up to n_threads of every core in its place, numbered core by core.  NULL
 * and *error (TOPO_ERROR) when no core has as many. */
TopoNode *topo_node_threads (const TopoNode *node, uint32_t n_threads, GError **error);

void topo_node_free (TopoNode *node);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TopoNode, topo_node_free)

/* The object of this kind that contains a core: the outermost cache, the nearest
 * memory (high-bandwidth memory when there is no other).  TOPO_NONE: no such cache or package. */
uint32_t topo_node_above (const TopoNode *node, uint32_t core, TopoObjectKind kind);

/* Of all its memories; 0 when that of one is not known. */
uint64_t topo_node_memory_bytes (const TopoNode *node);

/* The tree as a few indented lines, for people.  The caller frees the text. */
char *topo_node_print (const TopoNode *node);
