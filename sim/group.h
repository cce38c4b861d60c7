/* group.h - ordered sets of ranks, kept once; private to sim/.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every rank of a trace makes the groups that it needs, and most of them are
 * the same, so equal groups are one object.  The group of all ranks in their
 * own order has no list. */
#pragma once

#include "traces/operation.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct {
  uint32_t number; /* in the order they were made */
  uint32_t n;
  const uint32_t *ranks; /* [n] world ranks; NULL: the identity */
  const uint32_t *order; /* [n] indices into ranks[] by rising world rank; NULL: they rise */
} SimGroup;

typedef struct SimGroups SimGroups;

SimGroups *sim_groups_new (uint32_t n_ranks);
void sim_groups_free (SimGroups *groups);

const SimGroup *sim_groups_world (const SimGroups *groups);
const SimGroup *sim_groups_at (const SimGroups *groups, uint32_t number);

/* The group of these n world ranks, which differ; takes `ranks`, that
 * g_new() made. */
const SimGroup *sim_groups_of (SimGroups *groups, uint32_t *ranks, uint32_t n);

uint32_t sim_group_world_rank (const SimGroup *group, uint32_t rank);
/* TOPO_NONE when not a member. */
uint32_t sim_group_rank (const SimGroup *group, uint32_t world_rank);

/* The result of a GROUP_INCL ... GROUP_DIFFERENCE operation; `second` is NULL
 * unless it takes two groups.  NULL and SIM_ERROR_TRACE when the operation
 * names ranks that the group does not have, or one twice. */
const SimGroup *sim_groups_apply (SimGroups *groups, const TraceOp *op, const SimGroup *first,
                                  const SimGroup *second, GError **error);
