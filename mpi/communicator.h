/* communicator.h - communicators and groups, rebuilt across ranks.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Traces name communicators by each rank's own handles.  Creation is
 * collective over a parent, so the k-th creation on a parent is the same on
 * all its members: their contributions (colour and key, or a group) are
 * gathered; with the last one the members are known.
 *
 * Communicators are numbered globally; 0 is COMM_WORLD, whose members are not
 * stored.  COMM_SELF of rank r is resolved without an object: see
 * trace_comms_resolve().
 *
 * Ranks may be of several threads, each rank of one.  The numbers of communicators that they make at
 * the same moment depend on the moment. */
#pragma once

#include "mpi/rank_group.h"
#include "mpi/operation.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define TRACE_COMMS_WORLD 0u
#define TRACE_COMMS_NULL  UINT32_MAX
#define TRACE_COMMS_SELF  (UINT32_MAX - 1)

typedef struct TraceComms TraceComms;

TraceComms *trace_comms_new (uint32_t n_ranks);
void trace_comms_free (TraceComms *comms);
/* Loads into what nobody has used. */
void trace_comms_dump (TraceComms *comms, BaseDump *dump);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TraceComms, trace_comms_free)

/* A rank's handle -> communicator number; TRACE_COMMS_NULL when unknown. */
uint32_t trace_comms_resolve (const TraceComms *comms, uint32_t world_rank, uint32_t handle);

uint32_t trace_comms_size (const TraceComms *comms, uint32_t comm);
/* World rank of member `rank`; self_rank names the owner of a COMM_SELF. */
uint32_t
trace_comms_world_rank (const TraceComms *comms, uint32_t comm, uint32_t rank, uint32_t self_rank);
/* Rank in `comm` of a world rank, TRACE_NO_MEMBER when not a member. O(1) for
 * WORLD, O(log n) otherwise. */
uint32_t trace_comms_rank (const TraceComms *comms, uint32_t comm, uint32_t world_rank);
/* True when the collective network can serve it: COMM_WORLD and communicators
 * with the same members in the same order. */
bool trace_comms_is_world (const TraceComms *comms, uint32_t comm);

/* Group operations are local and done at once. */
gboolean
trace_comms_group (TraceComms *comms, uint32_t world_rank, const TraceOp *op, GError **error);

/* A creation call (COMM_DUP, COMM_SPLIT, COMM_CREATE, CART_CREATE, CART_SUB,
 * GRAPH_CREATE) of one rank.  Binds op->new_comm once the communicator is
 * known.  *complete is set at the last member of the parent; then all members'
 * handles are bound.  Otherwise the caller must block the rank. */
gboolean trace_comms_create (TraceComms *comms, uint32_t world_rank, const TraceOp *op,
                             bool *complete, GError **error);

/* COMM_DEFINE: binds op->new_comm to the communicator of this colour and these
 * members.  The first definition makes it; no rank waits. */
gboolean
trace_comms_define (TraceComms *comms, uint32_t world_rank, const TraceOp *op, GError **error);
/* Unbinds a handle.  Returns the communicator's number when the rank's collectives on it end
 * there, else TRACE_COMMS_NULL: later definitions may bind the number of a defined one again, and
 * windows that are left go on to meet. */
uint32_t trace_comms_release (TraceComms *comms, uint32_t world_rank, uint32_t handle);

/* A window keeps its communicator after the program freed the handle, which may
 * then be bound to another.  op: WIN_CREATE. */
void trace_comms_window_made (TraceComms *comms, uint32_t world_rank, const TraceOp *op);
/* The communicator of an operation: its window's, when the creation of that is in the trace, else
 * its handle's; TRACE_COMMS_NULL when unknown. */
uint32_t trace_comms_of_op (const TraceComms *comms, uint32_t world_rank, const TraceOp *op);
/* op: WIN_FREE. */
void trace_comms_window_freed (TraceComms *comms, uint32_t world_rank, const TraceOp *op);

/* Number of communicators made, without COMM_WORLD and the COMM_SELFs. */
uint32_t trace_comms_created (const TraceComms *comms);
