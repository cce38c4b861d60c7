/* recorder_map.h - a map from handles and addresses to numbers.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
  uint64_t key, value;
  bool used;
} RecorderMapSlot;

/* All zero is an empty map.  Open addressing; the number of slots is a power
 * of two, at most half of them used. */
typedef struct {
  RecorderMapSlot *slots;
  size_t n_slots, n_used;
} RecorderMap;

/* Where the value of the key is, or NULL. */
uint64_t *recorder_map_find (const RecorderMap *map, uint64_t key);
void recorder_map_set (RecorderMap *map, uint64_t key, uint64_t value);
