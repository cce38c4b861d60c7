/* hct_record.h - one operation as bytes, in the native format; private to its reader and writer.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The lasting part of an operation is its *record*: it is the same in every
 * repetition and in every rank that does the same.  For that, peers stand
 * relative to the rank and requests relative to the one bound last, where
 * that makes records repeat, and the predecessors of a graph's operation stand
 * relative to its own place.  The parts that vary - times, work, the match of
 * a wildcard, the result of a test - are *measures* and not in the record.
 *
 * A varint holds seven bits of a number in each byte, lowest first; the top
 * bit says that more follow.  Signed numbers are folded first, so that small
 * ones of either sign are short: 0, -1, 1, -2 become 0, 1, 2, 3. */
#pragma once

#include "mpi/operation.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* --- Numbers as bytes --- */

#define HCT_VARINT_BYTES 10 /* the longest */

/* Bytes being put together; all zero to begin with. */
typedef struct {
  guint8 *data;
  gsize n, capacity;
} HctBuffer;

/* Makes room for n more bytes. */
void hct_buffer_reserve (HctBuffer *buffer, gsize n);
void hct_buffer_clear (HctBuffer *buffer);

static inline uint64_t
hct_fold_sign (int64_t value)
{
  return ((uint64_t) value << 1) ^ (uint64_t) (value >> 63);
}

static inline int64_t
hct_unfold_sign (uint64_t folded)
{
  return (int64_t) (folded >> 1) ^ -(int64_t) (folded & 1);
}

/* There must be room. */
static inline void
hct_put_varint (HctBuffer *buffer, uint64_t value)
{
  guint8 *at = buffer->data + buffer->n;

  for (; value >= 0x80; value >>= 7)
    *at++ = (guint8) (value | 0x80);
  *at++ = (guint8) value;
  buffer->n = (gsize) (at - buffer->data);
}

static inline void
hct_put_signed (HctBuffer *buffer, int64_t value)
{
  hct_put_varint (buffer, hct_fold_sign (value));
}

static inline void
hct_put_bytes (HctBuffer *buffer, const void *bytes, gsize n)
{
  if (n == 0)
    return;
  hct_buffer_reserve (buffer, n);
  memcpy (buffer->data + buffer->n, bytes, n);
  buffer->n += n;
}

/* Bytes being taken apart.  The first thing that is wrong makes it bad for
 * good, and everything taken from then on is 0. */
typedef struct {
  const guint8 *at, *end;
  bool bad;
} HctReader;

uint64_t hct_take_long_varint (HctReader *reader);

static inline uint64_t
hct_take_varint (HctReader *reader)
{
  if (G_LIKELY (reader->at < reader->end && *reader->at < 0x80))
    return *reader->at++;
  return hct_take_long_varint (reader);
}

static inline int64_t
hct_take_signed (HctReader *reader)
{
  return hct_unfold_sign (hct_take_varint (reader));
}

/* A number that must be at most `most`. */
static inline uint64_t
hct_take_limited (HctReader *reader, uint64_t most)
{
  uint64_t value = hct_take_varint (reader);

  if (G_LIKELY (value <= most))
    return value;
  reader->bad = true;
  return 0;
}

/* How many of something follow, each of which takes at least one byte: a
 * count that the bytes left cannot hold is bad, so that nothing is ever
 * allocated for it. */
static inline uint32_t
hct_take_count (HctReader *reader)
{
  return (uint32_t) hct_take_limited (reader,
                                      MIN ((uint64_t) (reader->end - reader->at), G_MAXUINT32));
}

static inline void
hct_store_u32 (guint8 *at, uint32_t value)
{
  value = GUINT32_TO_LE (value);
  memcpy (at, &value, sizeof value);
}

static inline void
hct_store_u64 (guint8 *at, uint64_t value)
{
  value = GUINT64_TO_LE (value);
  memcpy (at, &value, sizeof value);
}

static inline uint32_t
hct_load_u32 (const guint8 *at)
{
  uint32_t value;

  memcpy (&value, at, sizeof value);
  return GUINT32_FROM_LE (value);
}

static inline uint64_t
hct_load_u64 (const guint8 *at)
{
  uint64_t value;

  memcpy (&value, at, sizeof value);
  return GUINT64_FROM_LE (value);
}

/* --- The tables of strings that records refer to --- */

typedef struct HctNames HctNames;

HctNames *hct_names_new (void);
void hct_names_free (HctNames *names);

void hct_names_put (const HctNames *names, HctBuffer *out);
bool hct_names_take (HctNames *names, HctReader *in);

/* NULL and "" differ. */
void hct_put_string (HctBuffer *out, const char *string);
/* The caller frees; NULL for NULL, and when the reader is bad. */
char *hct_take_string (HctReader *in);

/* --- Records --- */

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

/* Appends the record of op, with the values in `form` relative.  Everything in
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
/* Forgets the arrays in it and makes room for n bytes. */
void hct_scratch_reset (HctScratch *scratch, gsize n);

/* The most bytes of the arrays of a record of n bytes and of the copies that
 * patching makes: an element is at least one byte of the record. */
static inline gsize
hct_record_scratch_bytes (gsize n)
{
  return 16 * n;
}

/* The steps left to make a record a rank's operation. */
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

/* --- Measures ---
 *
 * An operation has up to eight numbers and one list.  A number that is the
 * same wherever a record occurs is a *parameter* of the rank and stored once;
 * others stand in the rank's stream of measures, in the order of the
 * operations. */

enum {
  HCT_GAP,   /* gap_ps, sign folded */
  HCT_CALL,  /* call_ps, sign folded */
  HCT_FLOPS, /* the bits of the double */
  HCT_INSTRUCTIONS,
  HCT_CYCLES,
  HCT_MATCHED, /* matched_source, where the record lacks it; from the rank, sign folded */
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

/* --- Checks ---
 *
 * Checksums prove that a file is as it was written, not that this program
 * wrote it.  The writer makes the same checks, so that it never writes a
 * trace that its reader refuses. */

/* Whether the operation is possible, apart from its measures.  Values that are still relative (by
 * `patches`) are not checked. */
bool hct_check_op (const TraceOp *op, unsigned patches);

/* Whether its measures are. */
bool hct_check_measures (const TraceOp *op);
