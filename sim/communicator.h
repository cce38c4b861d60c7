/* communicator.h - communicators and groups, rebuilt across ranks.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Traces name communicators by each rank's own handles.  Creation is
 * collective over a parent, so the k-th creation on a parent is the same on
 * all its members: what each of them brings (colour and key, or a group)
 * is gathered until all have come, then the members are known.
 *
 * Communicators are numbered globally; 0 is COMM_WORLD, whose members are not
 * stored.  COMM_SELF of rank r is resolved without an object: see
 * sim_comms_resolve(). */
#pragma once

#include "traces/operation.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define SIM_COMM_WORLD 0u
#define SIM_COMM_NULL  UINT32_MAX
#define SIM_COMM_SELF  (UINT32_MAX - 1)

typedef struct SimComms SimComms;

SimComms *sim_comms_new (uint32_t n_ranks);
void sim_comms_free (SimComms *comms);

/* A rank's handle -> communicator number; SIM_COMM_NULL when unknown. */
uint32_t sim_comms_resolve (const SimComms *comms, uint32_t world_rank, uint32_t handle);

uint32_t sim_comms_size (const SimComms *comms, uint32_t comm);
/* World rank of member `rank`; self_rank is whose COMM_SELF is meant. */
uint32_t
sim_comms_world_rank (const SimComms *comms, uint32_t comm, uint32_t rank, uint32_t self_rank);
/* Rank in `comm` of a world rank, TOPO_NONE when not a member. O(1) for
 * WORLD, O(log n) otherwise. */
uint32_t sim_comms_rank (const SimComms *comms, uint32_t comm, uint32_t world_rank);
/* True when the collective network can serve it: COMM_WORLD and what has the
 * same members in the same order. */
bool sim_comms_is_world (const SimComms *comms, uint32_t comm);

/* Group operations are local and done at once. */
gboolean sim_comms_group (SimComms *comms, uint32_t world_rank, const TraceOp *op, GError **error);

/* A creation call (COMM_DUP, COMM_SPLIT, COMM_CREATE, CART_CREATE, CART_SUB,
 * GRAPH_CREATE) of one rank.  Binds op->new_comm once the communicator is
 * known.  *complete is set when this was the last member of the parent to
 * come; then all members' handles are bound.  Otherwise the caller must not
 * let the rank go on. */
gboolean sim_comms_create (SimComms *comms, uint32_t world_rank, const TraceOp *op, bool *complete,
                           GError **error);

void sim_comms_release (SimComms *comms, uint32_t world_rank, uint32_t handle);

/* How many were made in all, COMM_WORLD and the COMM_SELFs not counted. */
uint32_t sim_comms_created (const SimComms *comms);
