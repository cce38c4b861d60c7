/* processor.h - the microarchitectures of nodes: how they are recognised, what their memory does.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * One table (processor.c) has for each of them the signs by which hwloc's XML names it, the
 * structure of a usual node of two packages, and the keys of [memory] in which it differs from
 * the defaults of the family, each with its origin. */
#pragma once

#include "topology/node/node.h"
#include "topology/parameters.h"

/* What hwloc says of the processors of a machine; 0 and NULL: nothing. */
typedef struct {
  const char *vendor; /* GenuineIntel, AuthenticAMD */
  const char *model;  /* the name that the processor gives itself */
  uint32_t family, model_number, stepping;
} TopoCpuSigns;

/* The same objects in every package: NUMA domains, in each of them core groups (with an L3, if
 * any), in each of them cores with an L2 of their own. */
typedef struct {
  uint32_t n_domains, n_groups, n_cores;
  uint32_t l3_kibibytes, l2_kibibytes;
} TopoUsualNode;

struct TopoProcessor {
  const char *name;  /* that of the node, too: node=rome */
  const char *title; /* for messages */
  TopoUsualNode usual;
  bool has_controllers;  /* every package has memory of its own */
  uint32_t newest_slots; /* the generation of PCIe that it has */
};

/* The processor with these signs.  Sets *is_nearest when the table does not have it: then the
 * one whose numbers are closest, by vendor, family and model.  NULL: the signs do not say. */
const TopoProcessor *topo_processor_find (const TopoCpuSigns *signs, bool *is_nearest);

/* "GenuineIntel", "AuthenticAMD". */
const char *topo_processor_vendor (const TopoProcessor *processor);

/* NULL: no processor has this name. */
const TopoProcessor *topo_processor_named (const char *name);

/* All names, NULL at the end. */
const char *const *topo_processor_names (void);

/* The parameters of a node with such processors (element-type TopoParameterNote), which borrow
 * nothing.  Those that the table has per package are divided among the NUMA nodes.  The caller
 * unrefs the array. */
GPtrArray *topo_processor_notes (const TopoNode *node);
