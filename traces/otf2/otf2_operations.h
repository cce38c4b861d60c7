/* otf2_operations.h - what the files that make operations of OTF2 records share; private to them.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * otf2_calls.c is a call from its begin to its end, otf2_operations.c its
 * records one by one, otf2_windows.c those of windows. */
#pragma once

#include "traces/otf2/otf2_calls.h"
#include "traces/otf2/otf2_requests.h"

/* More than any program moves at once, and far from overflow in a sum. */
#define OTF2_MOST_BYTES (UINT64_C (1) << 56)

struct Otf2Calls {
  const Otf2Reading *reading;
  uint32_t rank;
  Otf2Requests *requests;
  GHashTable *places; /* handle of a communicator that is defined -> own rank in it */
  uint64_t n_lost;    /* lost receives so far */
  uint64_t n_foreign; /* completions of what was posted outside of what is replayed */
  uint64_t n_outside; /* completions outside of what was posted inside */
  uint64_t n_dropped; /* lost receives that nothing stands in for */
  gboolean finalized;

  /* The call. */
  const Otf2Region *region;
  gboolean is_replayed;
  const char *site;
  GArray *records;   /* (element-type Otf2Record) */
  GArray *finished;  /* (element-type uint32_t) handles that complete in it */
  GArray *tested;    /* (element-type uint32_t) handles that do not */
  gboolean flushed;  /* a window */
  GArray *ops;       /* (element-type TraceOp) */
  guint n_taken;     /* of ops */
  GPtrArray *arrays; /* of ops */
};

/* Sets *error; FALSE. */
gboolean
otf2_calls_fail (TraceError code, GError **error, const char *format, ...) G_GNUC_PRINTF (3, 4);

/* A new operation, valid until the next one.  name: of what stands outside of calls. */
TraceOp *otf2_calls_push (Otf2Calls *calls, TraceOpKind kind, const char *name);
void otf2_calls_push_wait (Otf2Calls *calls, TraceOpKind kind, uint32_t handle);
/* A copy that lives as long as the operations. */
uint32_t *otf2_calls_keep (Otf2Calls *calls, const uint32_t *handles, uint32_t n);
/* Defines the communicator if that was not done; *place is the rank's own in
 * it. */
gboolean otf2_calls_use (Otf2Calls *calls, const Otf2Comm *comm, uint32_t *place, GError **error);

/* The operations of one record. */
gboolean otf2_calls_add_record (Otf2Calls *calls, const Otf2Record *r, GError **error);

/* Of windows; NULL or FALSE and *error. */
TraceOp *otf2_calls_push_access (Otf2Calls *calls, TraceOpKind kind, const char *name,
                                 const Otf2Record *record, GError **error);
gboolean
otf2_calls_add_window_collective (Otf2Calls *calls, const Otf2Record *record, GError **error);
gboolean otf2_calls_add_window_flush (Otf2Calls *calls, const Otf2Record *record, GError **error);
