/* hct_bytes.h - numbers as bytes, for the native format; private to traces/.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A varint holds seven bits of a number in each byte, lowest first; the top
 * bit says that more follow.  Signed numbers are folded first, so that small
 * ones of either sign are short: 0, -1, 1, -2 become 0, 1, 2, 3. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

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
