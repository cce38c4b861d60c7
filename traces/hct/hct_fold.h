/* hct_fold.h - finds the loops in a sequence; private to traces/.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A sequence of numbers becomes a sequence of *items*: numbers, and loops
 * whose bodies are items again.  These are the regular section descriptors
 * and their powers of Noeth, Mueller, Schulz and de Supinski, "Scalable
 * compression and replay of communication traces in massively parallel
 * environments", IPDPS 2007, section 3.1; the way they are found is ours.
 *
 * Whenever the last items repeat the items before them, the input is compared
 * with itself, so that all further repetitions are taken at once, and a loop
 * never has to be extended later.  Equal items are found through chains of
 * their earlier places, equal runs of items through sums that are kept for
 * every prefix: the time is in proportion to the length. */
#pragma once

#include <glib.h>
#include <stdint.h>

#define HCT_MAX_DEPTH 8 /* of loops in loops */
#define HCT_LOOP      (UINT32_C (1) << 31)

typedef struct {
  uint32_t first, n_items; /* in bodies[] */
  uint32_t depth;          /* 1: there are no loops in it */
  uint64_t count;
  uint64_t length; /* of one repetition, in numbers */
} HctLoop;

typedef struct HctFold HctFold;

HctFold *hct_fold_new (void);
void hct_fold_free (HctFold *fold);

/* Folds numbers[n], each below n_numbers < HCT_LOOP, and forgets the sequence
 * that was folded before.  Afterwards: */
void hct_fold (HctFold *fold, const uint32_t *numbers, uint32_t n, uint32_t n_numbers);

/* an item is a number, or HCT_LOOP | the index of a loop. */
const uint32_t *hct_fold_items (const HctFold *fold, uint32_t *n);
const HctLoop *hct_fold_loop (const HctFold *fold, uint32_t item);
const uint32_t *hct_fold_body (const HctFold *fold, const HctLoop *loop);
