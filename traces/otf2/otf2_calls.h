/* otf2_calls.h - the records of one MPI call into operations; private to traces/.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "traces/otf2/otf2_events.h"

typedef struct Otf2Calls Otf2Calls;

Otf2Calls *otf2_calls_new (const Otf2Reading *reading, uint32_t rank);
void otf2_calls_free (Otf2Calls *calls);

/* Forgets the operations of the last call. */
void otf2_calls_clear (Otf2Calls *calls);
void otf2_calls_compute (Otf2Calls *calls, int64_t gap_ps);

/* region: NULL when a record stands alone.  A call that is not replayed only
 * keeps track of requests. */
void otf2_calls_begin (Otf2Calls *calls, const Otf2Region *region, gboolean is_replayed);
void otf2_calls_add (Otf2Calls *calls, const Otf2Record *record);
/* Makes its operations.  site: static; or NULL. */
gboolean otf2_calls_end (Otf2Calls *calls, int64_t call_ps, const char *site, GError **error);
/* Warns of what was left over. */
void otf2_calls_finish (Otf2Calls *calls);

gboolean otf2_calls_take (Otf2Calls *calls, TraceOp *op);
