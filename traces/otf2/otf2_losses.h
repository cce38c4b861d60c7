/* otf2_losses.h - receives that an archive lost, and what they may have been; private to traces/.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * EZTrace records the completion of a request only in MPI_Wait with a status,
 * and nothing of MPI_Sendrecv.  A receive that was posted but never seen to
 * complete has no source, tag or size. */
#pragma once

#include "traces/otf2/otf2_definitions.h"
#include "traces/otf2/otf2_record.h"

typedef struct {
  uint64_t receives;    /* that were posted nonblocking */
  uint64_t lost;        /* of those, without source and size */
  uint64_t sendrecvs;   /* calls with nothing in them */
  uint64_t collectives; /* begun, but not said what they were */
  uint64_t guessed;     /* lost receives that a send was found for */
  uint64_t unmatched;   /* sends that no receive, lost or not, is left for */
} Otf2LossCounts;

typedef struct Otf2Losses Otf2Losses;

/* definitions: borrowed. */
Otf2Losses *otf2_losses_new (const Otf2Definitions *definitions);
void otf2_losses_free (Otf2Losses *losses);

/* Reads all of a rank; takes the input. */
gboolean otf2_losses_scan (Otf2Losses *losses, uint32_t rank, Otf2Input *input, GError **error);
/* After all ranks: finds what the lost receives may have been. */
void otf2_losses_match (Otf2Losses *losses);

const Otf2LossCounts *otf2_losses_counts (const Otf2Losses *losses);
/* Completes the rank's lost receive number `index`, as it posted them; false
 * when there is no send left for it. */
bool otf2_losses_guess (const Otf2Losses *losses, uint32_t rank, uint64_t index, Otf2Record *post);
