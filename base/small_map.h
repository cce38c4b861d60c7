/* small_map.h - a small table from one number to three.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Open addressing, linear probing, no tombstones.  An empty map owns no
 * memory, so that a million ranks may each have several.  Nothing iterates
 * in an order that depends on anything but the keys and their history. */
#pragma once

#include "base/dump.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct {
  uint32_t key; /* UINT32_MAX: a free place */
  uint32_t value[3];
} BaseMapEntry;

typedef struct {
  BaseMapEntry *entries; /* [capacity] */
  uint32_t n, capacity;  /* capacity: 0 or a power of two */
} BaseMap;

void base_map_clear (BaseMap *map);
void base_map_dump (BaseMap *map, BaseDump *dump);

/* NULL when it is not there.  Pointers hold until the next add or remove. */
BaseMapEntry *base_map_find (const BaseMap *map, uint32_t key);

/* Finds or adds; a new entry has all values `fill`.  key < UINT32_MAX. */
BaseMapEntry *base_map_add (BaseMap *map, uint32_t key, uint32_t fill);

void base_map_remove (BaseMap *map, BaseMapEntry *entry);

/* A well-mixed hash of one number, the same on every machine. */
static inline uint32_t
base_map_hash (uint32_t key)
{
  key = (key ^ (key >> 16)) * 0x7feb352du;
  key = (key ^ (key >> 15)) * 0x846ca68bu;
  return key ^ (key >> 16);
}
