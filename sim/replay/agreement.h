/* agreement.h - do the ranks of a communicator make the same collective calls?
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * MPI matches the n-th collective of each member of a communicator with the
 * n-th of all others, and requires them to agree (MPI 4.1, chapter 6).  The
 * check happens where a rank enters one, before any method or network is
 * chosen, so that it is the same for all of them:
 *
 *   call       the same, and nonblocking with nonblocking; making a
 *              communicator or a window counts, and so does a fence
 *   root       the same
 *   bytes      bcast, reduce, allreduce, scan, exscan: the same on all ranks
 *              gather, scatter: the root and the other rank have the same size
 *              allgather, alltoall: a rank receives as much as is sent to it
 *              allgatherv, reduce_scatter: the same list on all ranks
 *              gatherv, scatterv, alltoallv: pair by pair
 *   arguments  grids: the same dimensions
 *
 * Neighbourhoods are compared by call alone.  The part that a rank keeps for itself is
 * compared only where it is sent to others too.  Sizes that a trace does not
 * have are not compared: see trace_collectives().
 *
 * A window counts with its communicator: its fences must come in the same order
 * with that one's collectives, posted ones too.
 *
 * An open collective, one that some members have entered and others have not,
 * takes 56 bytes; gatherv, scatterv and alltoallv 12 more per member. */
#pragma once

#include "mpi/communicator.h"
#include "traces/trace.h"

typedef struct SimAgreement SimAgreement;

/* Borrows both; comms is the one that numbers the communicators. */
SimAgreement *sim_agreement_new (Trace *trace, const TraceComms *comms);
void sim_agreement_free (SimAgreement *agreement);
/* Loads into what nobody has used; the communicators are there. */
void sim_agreement_dump (SimAgreement *agreement, BaseDump *dump);

/* May be called from any thread.  A rank, which is a member, enters its `sequence`-th collective on a
 * communicator, counted from 0; op is checked already for itself.  Must be
 * called for every such operation of a rank in the order of its stream, on
 * COMM_SELF too.  SIM_ERROR_MISMATCH names both ranks, both calls and both
 * places; after it all calls fail so. */
gboolean sim_agreement_enter (SimAgreement *agreement, uint32_t rank, uint32_t comm,
                              uint32_t sequence, const TraceOp *op, GError **error);

/* When all streams have ended: a warning about collectives that some members
 * have not entered, to be freed; NULL: there is none.  It does not depend on the order in which the
 * ranks came. */
char *sim_agreement_left (const SimAgreement *agreement);
