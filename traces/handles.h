/* handles.h - request handles of one rank and their meaning; private to traces/.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A handle names a queue (operation.h): operations started under it are taken in
 * the order of their start.  The caller defines the meaning of a number. */
#pragma once

#include <glib.h>
#include <stdint.h>

typedef struct TraceHandles TraceHandles;

TraceHandles *trace_handles_new (void);
void trace_handles_free (TraceHandles *handles);

/* Pushing to the null handle has no effect. */
void trace_handles_push (TraceHandles *handles, uint32_t handle, uint32_t number);
/* The oldest; FALSE when nothing is under way. */
gboolean trace_handles_pop (TraceHandles *handles, uint32_t handle, uint32_t *number);
gboolean trace_handles_peek (const TraceHandles *handles, uint32_t handle, uint32_t *number);

/* All that are under way, the oldest first, and none afterwards (element-type
 * uint32_t).  Caller frees. */
GArray *trace_handles_pop_all (TraceHandles *handles);

/* Of a persistent request: the operation that a start begins. */
void trace_handles_set_model (TraceHandles *handles, uint32_t handle, uint32_t number);
gboolean trace_handles_model (const TraceHandles *handles, uint32_t handle, uint32_t *number);
void trace_handles_drop_model (TraceHandles *handles, uint32_t handle);
