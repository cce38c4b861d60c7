/* packed.h - rows of 64-bit words, compressed: the blobs of a store.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * zlib's format around little-endian words, so that anybody can read them. */
#pragma once

#include <glib.h>
#include <stdint.h>

GBytes *study_pack_words (const uint64_t *words, gsize n_words);

/* NULL when it is no such row, or one of more than max_words (at most 2^27): a few bytes
 * may stand for gigabytes.  The caller g_free()s. */
uint64_t *study_unpack_words (gconstpointer packed, gsize n_bytes, gsize max_words, gsize *n_words);
