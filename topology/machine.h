/* machine.h - the machine a program would run on: shape, parameters, capacity.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Made from a spec:
 *
 *   bgq:512            a Blue Gene/Q partition by node count
 *   bgq:4x4x4x8x2      or by shape, A x B x C x D x E
 *   torus:8x8x8m       any torus; a trailing m makes the dimension a mesh (1 to
 *                      6 dimensions of up to 511 nodes, as a mesh 256; 2^20 nodes)
 *   fattree:18x18:9    a two-level fat tree: leaves x nodes per leaf, spines
 *   fattree3:8         a three-level one of 8-port switches
 *   dragonflyplus:8x4x4:8   groups x leaves x spines of each, nodes per leaf
 *   edr:16             a non-blocking tree of so many nodes of a generation, with adapters, nodes and
 *                      library: qdr, fdr, edr, hdr100, hdr, ndr200, ndr
 *   systemg:16         the first nodes of the cluster of the aggregation paper
 *   stampede:16        of TACC's Stampede of 2013
 *   fabric:FILE        an InfiniBand fabric as a tool of its site listed it; it
 *                      and the trees take options after commas, e.g.
 *                      fabric:X5.topofile,routes=ftree,node=node.xml
 *                      or with parts that are out: fattree:18x18,failed=leaf0:20+spine1
 *   machine.conf       a file (GLib key file) in which every number can be set;
 *                      of a fabric with options that beat it: my.conf,routes=dor
 *
 * The struct is public and read-only once made. */
#pragma once

#include "topology/fabric/fabric.h"
#include "topology/node/node.h"
#include "topology/parameters.h"
#include "topology/shape.h"

#include <glib.h>

#define TOPO_ERROR (topo_error_quark ())
typedef enum {
  TOPO_ERROR_SYNTAX,  /* the text is not of the form */
  TOPO_ERROR_RANGE,   /* the form is right, the value impossible */
  TOPO_ERROR_FILE,    /* cannot be read */
  TOPO_ERROR_CHANGED, /* a file is not the one that it was */
} TopoError;
GQuark topo_error_quark (void);

#define TOPO_MAX_RANKS_PER_NODE 256 /* a slot is a byte wherever it is stored */
#define TOPO_MAX_TORUS_RANKS    64  /* the hardware threads of a Blue Gene/Q node */

typedef struct {
  char *spec;                /* canonical: what was asked for, e.g. bgq:4x4x4x4x2; of a fabric
                              with those options that are not the default */
  bool is_bgq;               /* E doubles; midplanes, racks and PAMI's block rules apply */
  TopoFabric *fabric;        /* switches and cables; NULL: a torus */
  char *routes;              /* fabric: an engine, or the path of dumped tables */
  char *failed;              /* fabric: parts that are out, as they were given; NULL: none */
  char *degraded;            /* fabric: cables with fewer lanes, likewise */
  TopoShape shape;           /* of a fabric: its nodes in a row, for numbering them */
  TopoNode *node;            /* fabric: the inside of every node; NULL: a torus */
  bool node_by_default;      /* fabric: neither the spec nor the machine file named a node */
  char **hosts;              /* [n_nodes] names that beat those of the fabric; NULL: none do */
  uint32_t threads_per_core; /* fabric: so many hardware threads of a core are slots; then the
                                node's cores are threads (topo_node_threads()) */
  uint32_t ranks_per_node;   /* how many slots each node offers */
  uint8_t slot_core[TOPO_MAX_RANKS_PER_NODE]; /* fabric: core of a slot; each core once */
  TopoParameters parameters;
  GHashTable *files; /* absolute path -> SHA-256 of the regular files that the fabric and the node
                        were read from; NULL: none */
  GHashTable *known; /* while it is made: the only files that may be read; NULL: all */
} TopoMachine;

/* NULL and *error on an unknown spec, an impossible shape or a bad file. */
TopoMachine *topo_machine_new (const char *spec, GError **error);
/* The machine of an untrusted file: what it names is only opened when it is a regular
 * file in `known` (absolute path -> SHA-256 in hexadecimal) whose content has that hash.
 * TOPO_ERROR_CHANGED when it has not. */
TopoMachine *topo_machine_new_known (const char *path, GHashTable *known, GError **error);
void topo_machine_free (TopoMachine *machine);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TopoMachine, topo_machine_free)

/* What a spec may begin with, NULL at the end. */
const char *const *topo_machine_kinds (void);

/* The names of our own routing engines, NULL at the end: routing/forwarding/forwarding.h tells
 * what they do. */
const char *const *topo_routing_engines (void);

/* The complete machine file of a machine: reading it back gives the same
 * machine.  The caller frees the text. */
char *topo_machine_print (const TopoMachine *machine);

/* The same with notes of the caller's, which beat those of processors and libraries. */
char *topo_machine_print_noted (const TopoMachine *machine, const TopoParameterNote *notes,
                                guint n_notes);

/* Whether the node is only the default of a kind of fabric whose nodes can be any: not so the nodes of
 * systemg and stampede. */
bool topo_machine_assumes_node (const TopoMachine *machine);

/* Adds a line (g_free()) for each default that results depend on and that may be wrong for this fabric:
 * an assumed node, adapters that are newer than it, parameters of an older generation. */
void topo_machine_assumptions (const TopoMachine *machine, GPtrArray *lines);

/* --- Parts of a fabric that may be out --- */

/* What of a fabric (`failed` and `degraded` name it) can be out: "cables" between switches,
 * "switches", "nodes", or a pattern with * and ?, which with a ':' is of ends of cables, as in
 * leaf0:*, and without one of switches and nodes.  lanes > 0: cables with more lanes alone, which can
 * be degraded to so many.  Each once, in the order of the fabric; of a cable the matching end.
 * g_strfreev(). */
char **topo_machine_parts (const TopoMachine *machine, const char *what, uint32_t lanes);

/* The spec of the machine that was made of `spec`, with one part more out, or with so many lanes > 0
 * alone.  The caller frees it. */
char *topo_machine_spec_without (const TopoMachine *machine, const char *spec, const char *part,
                                 uint32_t lanes);

/* Whether the forwarding tables are dumped ones, which know no other fabric. */
bool topo_machine_has_dumped_routes (const TopoMachine *machine);

/* Slots of each node: 1..64 on a torus, 1 to the node's cores on a fabric. */
gboolean topo_machine_set_ranks_per_node (TopoMachine *machine, uint32_t n_ranks, GError **error);

/* A slot is a core, or with threads=N one of N hardware threads of a core, of which the numbers then
 * are.  Which core each slot of a fabric's nodes is.  A list ("0,2,4-7") also sets how
 * many slots there are; the cores that are not listed follow in ascending order,
 * for more slots.  Or a name: compact (ascending), scatter (packages take turns,
 * in them the caches) or os (as the operating system numbers them).  Lists and
 * names change nothing when they fail. */
gboolean topo_machine_set_cores (TopoMachine *machine, const char *cores, GError **error);

/* The names of the nodes, for launchers' files: a host a line in the order of the
 * nodes (of a torus: the last dimension fastest), or a list as Slurm writes them
 * (node[1-16]); '#' starts a comment.  As many as there are nodes, no name twice.
 * Changes nothing when it fails. */
gboolean topo_machine_set_hosts (TopoMachine *machine, const char *path, GError **error);

/* The name of a node; NULL on a torus that was given none. */
const char *topo_machine_host (const TopoMachine *machine, uint32_t node);

/* The slots and cores of an aggregation pattern: see topology/mapping/aggregation.h. */
gboolean topo_machine_set_pattern (TopoMachine *machine, uint32_t pattern, GError **error);

/* Extra latency of a link, beyond hop_latency: a Blue Gene/Q link that
 * leaves its 4x4x4x4x2 midplane passes two link chips and a cable. */
int64_t topo_machine_extra_latency_ps (const TopoMachine *machine, uint32_t node, uint32_t port);

/* Latency of a fabric's cable, with the error correction that its speed has. */
int64_t topo_machine_cable_latency_ps (const TopoMachine *machine, uint32_t port);

/* Racks of 1,024 nodes that a Blue Gene/Q partition has, as PAMI's block
 * rules count them; 0 below one rack. */
uint32_t topo_machine_racks (const TopoMachine *machine);
