/* otf2_windows.c - the records of one-sided communication in OTF2 archives into operations.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/otf2/otf2_operations.h"

#include <otf2/otf2.h>

TraceOp *
otf2_calls_push_access (Otf2Calls *calls, TraceOpKind kind, const char *name,
                        const Otf2Record *record, GError **error)
{
  const Otf2Comm *comm = otf2_definitions_window_comm (calls->reading->definitions, record->id);
  uint32_t place;
  TraceOp *op;

  if (!otf2_calls_use (calls, comm, &place, error))
    return NULL;
  op = otf2_calls_push (calls, kind, name);
  op->comm = comm->handle;
  op->window = record->id;
  op->peer = TRACE_ANY_SOURCE;
  if (kind == TRACE_OP_WIN_CREATE || kind == TRACE_OP_WIN_FREE || kind == TRACE_OP_WIN_FENCE)
    return op;
  if (kind == TRACE_OP_WIN_FLUSH && record->kind == OTF2_RECORD_RMA_FLUSH)
    return op;
  if (record->peer >= comm->n_ranks) {
    otf2_calls_fail (TRACE_ERROR_RANGE, error, "access to rank %u of a window of %u ranks",
                     record->peer, comm->n_ranks);
    return NULL;
  }
  if (record->bytes > OTF2_MOST_BYTES || record->recv_bytes > OTF2_MOST_BYTES) {
    otf2_calls_fail (TRACE_ERROR_RANGE, error, "an access to %" G_GUINT64_FORMAT " bytes",
                     MAX (record->bytes, record->recv_bytes));
    return NULL;
  }
  op->peer = (int32_t) record->peer;
  op->bytes = record->bytes;
  op->recv_bytes = record->recv_bytes;
  return op;
}

gboolean
otf2_calls_add_window_collective (Otf2Calls *calls, const Otf2Record *record, GError **error)
{
  TraceOpKind kind = TRACE_OP_WIN_FENCE;

  if (record->op == OTF2_COLLECTIVE_OP_CREATE_HANDLE ||
      record->op == OTF2_COLLECTIVE_OP_CREATE_HANDLE_AND_ALLOCATE)
    kind = TRACE_OP_WIN_CREATE;
  else if (record->op == OTF2_COLLECTIVE_OP_DESTROY_HANDLE ||
           record->op == OTF2_COLLECTIVE_OP_DESTROY_HANDLE_AND_DEALLOCATE)
    kind = TRACE_OP_WIN_FREE;
  return otf2_calls_push_access (calls, kind, "MPI_Win_fence", record, error) != NULL;
}

/* Completions are recorded in every call that makes some sure; only a flush
 * waits for them. */
gboolean
otf2_calls_add_window_flush (Otf2Calls *calls, const Otf2Record *record, GError **error)
{
  if (calls->flushed || calls->region == NULL ||
      !g_str_has_prefix (calls->region->name, "MPI_Win_flush"))
    return TRUE;
  calls->flushed = TRUE;
  return otf2_calls_push_access (calls, TRACE_OP_WIN_FLUSH, "MPI_Win_flush", record, error) != NULL;
}
