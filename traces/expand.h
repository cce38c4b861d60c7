/* expand.h - collectives as point-to-point messages, for formats without them.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The algorithms are the textbook ones (R. Thakur, R. Rabenseifner, W. Gropp:
 * Optimization of collective communication operations in MPICH, 2005): one
 * for each operation, whatever its size, as those who read the files expect
 * a program and not a machine in them.
 *
 *   barrier                    dissemination
 *   bcast, reduce              binomial tree
 *   gather, gatherv            everybody to the root at once
 *   scatter, scatterv          the root to everybody at once
 *   allgather, allgatherv      ring
 *   alltoall, alltoallv,
 *   reduce_scatter             pairwise exchange
 *   allreduce                  recursive doubling
 *   scan, exscan               doubling of distances
 *   neighbourhoods             everything at once
 *
 * Nothing is sent where both sides know that it would be nothing, but for
 * the messages of a barrier and of a tree. */
#pragma once

#include "traces/trace.h"

/* Ranks are those of the communicator; TRACE_NO_MEMBER: no message. */
typedef struct {
  uint32_t send_to, recv_from;
  uint64_t send_bytes, recv_bytes;
  gboolean with_next; /* begins together with the next step, else that one waits for it */
} TraceStep;

/* What rank `rank` of n does in a collective, in order (element-type
 * TraceStep); nonblocking or not makes no difference.  NULL and *error
 * (TRACE_ERROR_RANGE), without place, when the operation names ranks that
 * there are not, or lists of the wrong length. */
GArray *trace_expand (const TraceOp *op, uint32_t n, uint32_t rank, GError **error);
