/* report_pack.h - many numbers in a page: a byte each, compressed.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * 40,960 link loads are 440 kB as decimal text, 44 kB like this.  Where there are
 * at most 256 different values, as regular patterns have, nothing is lost;
 * otherwise values are rounded on a logarithmic scale, and the smallest and the
 * largest stay exact. */
#pragma once

#include <glib.h>
#include <stdint.h>

/* Appends {"exact":true|false,"levels":[...],"codes":"..."}: value i is
 * levels[code i]; codes is base64 of a zlib stream. */
void study_pack_values (GString *json, const uint64_t *values, gsize n);

/* Appends base64 of the zlib stream of some bytes, as a JSON string. */
void study_pack_bytes (GString *json, const void *bytes, gsize n);
