/* small_map.h - a small table from one number to three; shared with sim/.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Open addressing, linear probing, no tombstones.  An empty map owns no
 * memory, so that a million ranks may each have several.  Nothing iterates
 * in an order that depends on anything but the keys and their history. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct {
  uint32_t key; /* UINT32_MAX: a free place */
  uint32_t value[3];
} TraceMapEntry;

typedef struct {
  TraceMapEntry *entries; /* [capacity] */
  uint32_t n, capacity;   /* capacity: 0 or a power of two */
} TraceMap;

void trace_map_clear (TraceMap *map);

/* NULL when it is not there.  Pointers hold until the next add or remove. */
TraceMapEntry *trace_map_find (const TraceMap *map, uint32_t key);

/* Finds or adds; a new entry has all values `fill`.  key < UINT32_MAX. */
TraceMapEntry *trace_map_add (TraceMap *map, uint32_t key, uint32_t fill);

void trace_map_remove (TraceMap *map, TraceMapEntry *entry);

/* A well-mixed hash of one number, the same on every machine. */
static inline uint32_t
trace_map_hash (uint32_t key)
{
  key = (key ^ (key >> 16)) * 0x7feb352du;
  key = (key ^ (key >> 15)) * 0x846ca68bu;
  return key ^ (key >> 16);
}
