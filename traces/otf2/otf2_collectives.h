/* otf2_collectives.h - what the sizes in a collective's event mean; private to traces/.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "traces/otf2/otf2_record.h"
#include "traces/trace.h"

/* OTF2 leaves the meaning of sizes to the writer. */
typedef enum {
  OTF2_SIZES_PLAIN,  /* EZTrace: the arguments of the call, in bytes */
  OTF2_SIZES_SCOREP, /* Score-P: what goes to, and comes from, all ranks together */
} Otf2Sizes;

/* Fills kind, sizes and root of *op from a COLLECTIVE record or one that was
 * completed as one; `me` is the rank's number among the n of the
 * communicator.  *counts and *recv_counts are to be freed by the caller, as op
 * points to them.  False when the record has no such collective; *guessed is
 * set when only a total was known. */
bool otf2_collectives_fill (const Otf2Record *record, Otf2Sizes sizes, uint32_t me, uint32_t n,
                            TraceOp *op, uint64_t **counts, uint64_t **recv_counts, bool *guessed);
