/* hct_symbols.h - numbers for operations that are the same; private to
 * traces/.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Two operations have the same number when their records are the same bytes
 * (hct_record.h).  A computation is the same only after the same call: the
 * work between a receive and a send is not that before a reduction, and the
 * measures of each may be constant.
 *
 * Whether peers and requests are written relative or as they are: relative,
 * unless the other form was seen before and this one was not. */
#pragma once

#include "traces/hct/hct_record.h"

typedef struct HctSymbols HctSymbols;

HctSymbols *hct_symbols_new (HctNames *names);
void hct_symbols_free (HctSymbols *symbols);

/* Numbers count up from 0. */
uint32_t hct_symbols_find (HctSymbols *symbols, const TraceOp *op, const HctPlace *place);
const guint8 *hct_symbols_record (const HctSymbols *symbols, uint32_t symbol, uint32_t *n_bytes);

uint32_t hct_symbols_count (const HctSymbols *symbols);
/* Of all records. */
gsize hct_symbols_bytes (const HctSymbols *symbols);

/* A new stream begins: nothing comes before its first operation. */
void hct_symbols_restart (HctSymbols *symbols);
/* Forgets all numbers. */
void hct_symbols_reset (HctSymbols *symbols);
