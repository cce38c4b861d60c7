/* hct_measure.h - what varies between operations that are the same; private
 * to traces/.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The measures of an operation are up to seven numbers and one list.  A
 * number that is the same wherever a record occurs is a *parameter* of the
 * rank and stored once; others stand in the rank's stream of measures, in the
 * order of the operations. */
#pragma once

#include "traces/hct/hct_record.h"

enum {
  HCT_GAP,   /* gap_ps, sign folded */
  HCT_CALL,  /* call_ps, sign folded */
  HCT_FLOPS, /* the bits of the double */
  HCT_INSTRUCTIONS,
  HCT_CYCLES,
  HCT_MATCHED, /* matched_source, where the record does not say it; from the rank, sign folded */
  HCT_COLOR,   /* sign folded */
  HCT_KEY,     /* sign folded, from the rank or from 0 */
  HCT_N_NUMBERS,
  HCT_COMPLETED = HCT_N_NUMBERS, /* the list */
  HCT_N_MEASURES
};

/* The numbers of op that are not 0: sets those of values[], and returns
 * their bits, with that of the list when it is not empty. */
unsigned hct_measures (const TraceOp *op, const HctPlace *place, uint64_t values[HCT_N_NUMBERS]);

void hct_put_number (HctBuffer *out, unsigned measure, uint64_t value);
void hct_put_list (HctBuffer *out, const uint32_t *list, uint32_t n);

uint64_t hct_take_number (HctReader *in, unsigned measure);
/* The list becomes all that is in scratch. */
void hct_take_list (HctReader *in, TraceOp *op, HctScratch *scratch);

/* Sets the measure of op, after the record was patched; false when it cannot
 * be so. */
bool hct_set_number (TraceOp *op, unsigned measure, uint64_t value, const HctPlace *place);
