/* rank_group.h - ordered sets of ranks, kept once; private to traces/.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every rank of a trace makes the groups that it needs, and most of them are
 * the same, so equal groups are one object.  The group of all ranks in their
 * own order has no list. */
#pragma once

#include "base/dump.h"
#include "mpi/operation.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define TRACE_NO_MEMBER UINT32_MAX

typedef struct {
  uint32_t number; /* in the order they were made */
  uint32_t n;
  const uint32_t *ranks; /* [n] world ranks; NULL: the identity */
  const uint32_t *order; /* [n] indices into ranks[] by rising world rank; NULL: they rise */
} TraceGroup;

typedef struct TraceGroups TraceGroups;

TraceGroups *trace_groups_new (uint32_t n_ranks);
void trace_groups_free (TraceGroups *groups);
/* Loads into what has the world's group alone. */
void trace_groups_dump (TraceGroups *groups, BaseDump *dump);

const TraceGroup *trace_groups_world (const TraceGroups *groups);
const TraceGroup *trace_groups_at (const TraceGroups *groups, uint32_t number);

/* The group of these n world ranks, which differ; takes `ranks`, that
 * g_new() made. */
const TraceGroup *trace_groups_of (TraceGroups *groups, uint32_t *ranks, uint32_t n);

uint32_t trace_group_world_rank (const TraceGroup *group, uint32_t rank);
/* TRACE_NO_MEMBER when not a member. */
uint32_t trace_group_rank (const TraceGroup *group, uint32_t world_rank);

/* The result of a GROUP_INCL ... GROUP_DIFFERENCE operation; `second` is NULL
 * unless it takes two groups.  NULL and TRACE_ERROR_RANGE when the operation
 * names ranks that the group does not have, or one twice. */
const TraceGroup *
trace_groups_apply (TraceGroups *groups, const TraceOp *op, const TraceGroup *first,
                    const TraceGroup *second, GError **error);
