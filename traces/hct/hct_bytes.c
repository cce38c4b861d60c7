/* hct_bytes.c - numbers as bytes, for the native format.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/hct/hct_bytes.h"

void
hct_buffer_reserve (HctBuffer *buffer, gsize n)
{
  if (buffer->capacity - buffer->n >= n)
    return;
  buffer->capacity = MAX (buffer->n + n, 2 * buffer->capacity);
  buffer->data = g_realloc (buffer->data, buffer->capacity);
}

void
hct_buffer_clear (HctBuffer *buffer)
{
  g_free (buffer->data);
  *buffer = (HctBuffer){ 0 };
}

uint64_t
hct_take_long_varint (HctReader *reader)
{
  uint64_t value = 0;

  for (unsigned shift = 0; shift < 64 && reader->at < reader->end; shift += 7) {
    guint8 byte = *reader->at++;

    /* The tenth byte has room for one bit only. */
    if (shift == 63 && byte > 1)
      break;
    value |= (uint64_t) (byte & 0x7f) << shift;
    if (byte < 0x80)
      return value;
  }
  reader->bad = true;
  reader->at = reader->end;
  return 0;
}
