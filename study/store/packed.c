/* packed.c - rows of 64-bit words, compressed: the blobs of a store.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/store/packed.h"

#include <string.h>
#include <zlib.h>

#define CHUNK_BYTES 65536

static void
swap_words (uint64_t *words, gsize n_words)
{
  for (gsize at = 0; at < n_words; at++)
    words[at] = GUINT64_TO_LE (words[at]);
}

GBytes *
study_pack_words (const uint64_t *words, gsize n_words)
{
  gsize n_bytes = n_words * sizeof *words;
  g_autofree uint64_t *little = n_words > 0 ? g_memdup2 (words, n_bytes) : g_new (uint64_t, 1);
  uLongf n_packed = compressBound (n_bytes);
  guchar *packed = g_malloc (n_packed);

  swap_words (little, n_words);
  /* Counters are small numbers in wide words: the fastest level finds nearly all
   * that there is. It fails only for want of room, which there is. */
  compress2 (packed, &n_packed, (const Bytef *) little, n_bytes, Z_BEST_SPEED);
  return g_bytes_new_take (g_realloc (packed, n_packed), n_packed);
}

/* What comes out, of at most max_bytes; NULL when there is more, or the stream does not end
 * well. */
static GByteArray *
inflate_all (gconstpointer packed, gsize n_bytes, gsize max_bytes)
{
  g_autoptr (GByteArray) all = g_byte_array_new ();
  z_stream stream = { .next_in = (Bytef *) packed, .avail_in = (uInt) n_bytes };
  guchar chunk[CHUNK_BYTES];
  int code = Z_OK;

  if (packed == NULL || n_bytes > G_MAXUINT || max_bytes > G_MAXUINT / 2 ||
      inflateInit (&stream) != Z_OK)
    return NULL;
  while (code == Z_OK && all->len <= max_bytes) {
    stream.next_out = chunk;
    stream.avail_out = sizeof chunk;
    code = inflate (&stream, Z_NO_FLUSH);
    g_byte_array_append (all, chunk, (guint) (sizeof chunk - stream.avail_out));
  }
  inflateEnd (&stream);
  return code == Z_STREAM_END && stream.avail_in == 0 && all->len <= max_bytes
             ? g_steal_pointer (&all)
             : NULL;
}

uint64_t *
study_unpack_words (gconstpointer packed, gsize n_bytes, gsize max_words, gsize *n_words)
{
  g_autoptr (GByteArray) all = inflate_all (packed, n_bytes, max_words * sizeof (uint64_t));
  gsize length = all != NULL ? all->len : 1;
  uint64_t *words;

  if (length % sizeof *words != 0)
    return NULL;
  *n_words = length / sizeof *words;
  /* Never NULL, without words too. */
  words = g_realloc (g_byte_array_free (g_steal_pointer (&all), FALSE), length + sizeof *words);
  swap_words (words, *n_words);
  return words;
}
