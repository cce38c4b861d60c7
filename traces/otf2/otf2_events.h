/* otf2_events.h - one rank's records into operations; private to traces/.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "traces/otf2/otf2_collectives.h"
#include "traces/otf2/otf2_definitions.h"
#include "traces/otf2/otf2_losses.h"
#include "traces/otf2/otf2_record.h"
#include "traces/trace.h"

/* How an archive is read; one for all ranks. */
typedef struct {
  Trace *trace; /* for warnings */
  const Otf2Definitions *definitions;
  Otf2Sizes sizes;
  const char *from_region; /* interned; or NULL */
  gboolean allow_lossy;
  const Otf2Losses *losses; /* what stands in for lost receives; or NULL */
} Otf2Reading;

typedef struct Otf2Events Otf2Events;

/* reading: borrowed. */
Otf2Events *otf2_events_new (const Otf2Reading *reading, uint32_t rank);
void otf2_events_free (Otf2Events *events);

/* What a record brings about can be taken afterwards, and must be before the
 * next; posts must not be OTF2_FATE_OPEN. */
gboolean otf2_events_add (Otf2Events *events, const Otf2Record *record, GError **error);
/* The same for the end of the trace. */
gboolean otf2_events_end (Otf2Events *events, GError **error);
/* FALSE when there is none.  Arrays of *op live until the next call of otf2_events_add(). */
gboolean otf2_events_take (Otf2Events *events, TraceOp *op);
