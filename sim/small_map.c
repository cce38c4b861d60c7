/* small_map.c - a small table from one number to three.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/small_map.h"

#include <glib.h>

#define FIRST_CAPACITY 4u

static void
map_resize (SimMap *map, uint32_t capacity)
{
  SimMap old = *map;

  map->entries = g_new (SimMapEntry, capacity);
  map->capacity = capacity;
  map->n = 0;
  for (uint32_t place = 0; place < capacity; place++)
    map->entries[place].key = UINT32_MAX;
  for (uint32_t place = 0; place < old.capacity; place++)
    if (old.entries[place].key != UINT32_MAX)
      *sim_map_add (map, old.entries[place].key, 0) = old.entries[place];
  g_free (old.entries);
}

void
sim_map_clear (SimMap *map)
{
  g_free (map->entries);
  *map = (SimMap){ 0 };
}

SimMapEntry *
sim_map_find (const SimMap *map, uint32_t key)
{
  uint32_t mask = map->capacity - 1;

  if (map->n == 0)
    return NULL;
  for (uint32_t place = sim_map_hash (key) & mask; map->entries[place].key != UINT32_MAX;
       place = (place + 1) & mask)
    if (map->entries[place].key == key)
      return &map->entries[place];
  return NULL;
}

SimMapEntry *
sim_map_add (SimMap *map, uint32_t key, uint32_t fill)
{
  SimMapEntry *entry = sim_map_find (map, key);
  uint32_t place;

  g_assert (key != UINT32_MAX);
  if (entry != NULL)
    return entry;
  if (4 * (map->n + 1) > 3 * map->capacity)
    map_resize (map, MAX (FIRST_CAPACITY, 2 * map->capacity));
  place = sim_map_hash (key) & (map->capacity - 1);
  while (map->entries[place].key != UINT32_MAX)
    place = (place + 1) & (map->capacity - 1);
  map->n++;
  map->entries[place] = (SimMapEntry){ key, { fill, fill, fill } };
  return &map->entries[place];
}

void
sim_map_remove (SimMap *map, SimMapEntry *entry)
{
  uint32_t mask = map->capacity - 1;
  uint32_t hole = (uint32_t) (entry - map->entries);

  /* Entries behind the hole move into it unless that would put them before
   * the place their key hashes to. */
  for (uint32_t place = (hole + 1) & mask; map->entries[place].key != UINT32_MAX;
       place = (place + 1) & mask) {
    uint32_t home = sim_map_hash (map->entries[place].key) & mask;

    if (((place - home) & mask) >= ((place - hole) & mask)) {
      map->entries[hole] = map->entries[place];
      hole = place;
    }
  }
  map->entries[hole].key = UINT32_MAX;
  map->n--;
}
