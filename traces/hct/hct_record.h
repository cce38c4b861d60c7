/* hct_record.h - one operation as bytes, in the native format; private to
 * traces/.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * What an operation is goes into a *record*: it is the same in every
 * repetition and in every rank that does the same.  For that, peers stand
 * relative to the rank and requests relative to the one bound last, where
 * that makes records repeat, and what a graph's operation waits for stands
 * relative to its own place.  What varies - times, work, what a wildcard
 * matched, what a test saw - are *measures* (hct_measure.h) and not in the
 * record. */
#pragma once

#include "traces/hct/hct_names.h"

/* Which values of a record are relative. */
enum { HCT_RELATIVE_PEERS = 1, HCT_RELATIVE_REQUESTS = 2 };

/* Where a rank is in its stream. */
typedef struct {
  uint32_t rank, n_ranks;
  uint64_t index;        /* of the operation */
  uint32_t last_request; /* the one that was bound last; 0: none yet */
} HctPlace;

/* After each operation, in writing as in reading. */
static inline void
hct_place_advance (HctPlace *place, uint32_t request)
{
  place->index++;
  if (request != 0)
    place->last_request = request;
}

/* Which relative forms the operation can have. */
unsigned hct_record_forms (const TraceOp *op, const HctPlace *place);

/* Appends the record of op with what is in `form` relative.  Everything in
 * op->after must be earlier than the place. */
void hct_record_put (HctBuffer *out, HctNames *names, const TraceOp *op, const HctPlace *place,
                     unsigned form);

/* Memory for the arrays of one operation, which must not move. */
typedef struct {
  guint8 *data;
  gsize n, capacity;
} HctScratch;

#define HCT_SCRATCH_ARRAYS 16 /* that one operation may take */

void hct_scratch_clear (HctScratch *scratch);
/* Forgets what is in it and makes room for n bytes. */
void hct_scratch_reset (HctScratch *scratch, gsize n);
/* NULL for 0 bytes. */
void *hct_scratch_take (HctScratch *scratch, gsize n);

/* What the arrays of a record of n bytes, and the copies that patching makes,
 * take at most: an element is at least one byte of the record. */
static inline gsize
hct_record_scratch_bytes (gsize n)
{
  return 16 * n;
}

/* What is still to be done to make a record a rank's operation. */
enum {
  HCT_PATCH_PEER = 1 << 0,
  HCT_PATCH_RECV_PEER = 1 << 1,
  HCT_PATCH_REQUEST = 1 << 2,
  HCT_PATCH_MATCHED = 1 << 3, /* it matched the peer it asked for */
  HCT_PATCH_REQUESTS = 1 << 4,
  HCT_PATCH_VALUES = 1 << 5,
  HCT_PATCH_VALUES2 = 1 << 6,
  HCT_PATCH_AFTER = 1 << 7,
  HCT_PATCH_ARRAYS = HCT_PATCH_REQUESTS | HCT_PATCH_VALUES | HCT_PATCH_VALUES2 | HCT_PATCH_AFTER,
};

/* Takes a record, which must be all that is in `in`; false when it is none. */
bool hct_record_take (HctReader *in, const HctNames *names, TraceOp *op, unsigned *patches,
                      HctScratch *scratch);

bool
hct_record_patch_arrays (TraceOp *op, unsigned patches, const HctPlace *place, HctScratch *scratch);

/* False when it lies outside the ring of ranks. */
static inline bool
hct_patch_peer (int32_t *peer, const HctPlace *place)
{
  int64_t n = place->n_ranks, at = (int64_t) place->rank + *peer;

  at += at < 0 ? n : 0;
  at -= at >= n ? n : 0;
  *peer = (int32_t) at;
  return at >= 0 && at < n;
}

/* Makes it the operation of the place; false when that is impossible. */
static inline bool
hct_record_patch (TraceOp *op, unsigned patches, const HctPlace *place, HctScratch *scratch)
{
  bool good = true;

  if ((patches & HCT_PATCH_PEER) != 0)
    good &= hct_patch_peer (&op->peer, place);
  if ((patches & HCT_PATCH_REQUEST) != 0)
    op->request += place->last_request;
  if ((patches & HCT_PATCH_RECV_PEER) != 0)
    good &= hct_patch_peer (&op->recv_peer, place);
  if ((patches & HCT_PATCH_MATCHED) != 0)
    op->matched_source = op->peer;
  if ((patches & HCT_PATCH_ARRAYS) != 0)
    good &= hct_record_patch_arrays (op, patches, place, scratch);
  return good;
}
