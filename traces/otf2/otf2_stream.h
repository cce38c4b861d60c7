/* otf2_stream.h - one rank's records in order, posts with what they received; private to traces/.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "traces/otf2/otf2_record.h"
#include "traces/trace.h"

typedef struct Otf2Stream Otf2Stream;

/* Takes the input.  It keeps at most about `limit` records in memory, 0: as
 * many as is sensible. */
Otf2Stream *otf2_stream_new (Otf2Input *input, guint limit);
void otf2_stream_free (Otf2Stream *stream);

/* The next record; no POST is OTF2_FATE_OPEN. */
TraceNext otf2_stream_next (Otf2Stream *stream, Otf2Record *record, GError **error);
