/* small_map.c - a small table from one number to three.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/small_map.h"

#include <glib.h>

#define FIRST_CAPACITY 4u

void
base_map_clear (BaseMap *map)
{
  g_free (map->entries);
  *map = (BaseMap){ 0 };
}

void
base_map_dump (BaseMap *map, BaseDump *dump)
{
  uint32_t n_places = map->capacity;

  BASE_DUMP_VALUE (dump, map->n);
  base_dump_list (dump, (void **) &map->entries, &n_places, &map->capacity, sizeof *map->entries);
}

BaseMapEntry *
base_map_find (const BaseMap *map, uint32_t key)
{
  uint32_t mask = map->capacity - 1;

  if (map->n == 0)
    return NULL;
  for (uint32_t place = base_map_hash (key) & mask; map->entries[place].key != UINT32_MAX;
       place = (place + 1) & mask)
    if (map->entries[place].key == key)
      return &map->entries[place];
  return NULL;
}

BaseMapEntry *
base_map_add (BaseMap *map, uint32_t key, uint32_t fill)
{
  BaseMapEntry *entry = base_map_find (map, key);
  uint32_t place;

  g_assert (key != UINT32_MAX);
  if (entry != NULL)
    return entry;
  /* One place is always free, where a search ends; more would be a waste where a million ranks
   * have a map of 14 neighbours. */
  if (map->n + 1 + MAX (1u, map->capacity / 8) > map->capacity) {
    BaseMap old = *map;

    map->capacity = MAX (FIRST_CAPACITY, 2 * old.capacity);
    map->entries = g_new (BaseMapEntry, map->capacity);
    map->n = 0;
    for (place = 0; place < map->capacity; place++)
      map->entries[place].key = UINT32_MAX;
    for (place = 0; place < old.capacity; place++)
      if (old.entries[place].key != UINT32_MAX)
        *base_map_add (map, old.entries[place].key, 0) = old.entries[place];
    g_free (old.entries);
  }
  place = base_map_hash (key) & (map->capacity - 1);
  while (map->entries[place].key != UINT32_MAX)
    place = (place + 1) & (map->capacity - 1);
  map->n++;
  map->entries[place] = (BaseMapEntry){ key, { fill, fill, fill } };
  return &map->entries[place];
}

void
base_map_remove (BaseMap *map, BaseMapEntry *entry)
{
  uint32_t mask = map->capacity - 1;
  uint32_t hole = (uint32_t) (entry - map->entries);

  /* Entries after the hole move into it unless that would put them before the
   * place of their hash. */
  for (uint32_t place = (hole + 1) & mask; map->entries[place].key != UINT32_MAX;
       place = (place + 1) & mask) {
    uint32_t home = base_map_hash (map->entries[place].key) & mask;

    if (((place - home) & mask) >= ((place - hole) & mask)) {
      map->entries[hole] = map->entries[place];
      hole = place;
    }
  }
  map->entries[hole].key = UINT32_MAX;
  map->n--;
}
