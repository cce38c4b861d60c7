/* recorder_map.c - a map from handles and addresses to numbers.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/recorder/recorder_map.h"

#include <stdlib.h>

/* Handles are addresses, or numbers with a kind in the high bits. */
static size_t
home (const RecorderMap *map, uint64_t key)
{
  return (size_t) ((key * 0x9e3779b97f4a7c15ull) >> 20) & (map->n_slots - 1);
}

/* The slot of the key, or the free one where it would be. */
static size_t
probe (const RecorderMap *map, uint64_t key)
{
  size_t at = home (map, key);

  while (map->slots[at].used && map->slots[at].key != key)
    at = (at + 1) & (map->n_slots - 1);
  return at;
}

static void
grow (RecorderMap *map)
{
  RecorderMap bigger = { .n_slots = map->n_slots > 0 ? 2 * map->n_slots : 64 };

  bigger.slots = calloc (bigger.n_slots, sizeof *bigger.slots);
  if (bigger.slots == NULL)
    abort ();
  for (size_t i = 0; i < map->n_slots; i++)
    if (map->slots[i].used)
      recorder_map_set (&bigger, map->slots[i].key, map->slots[i].value);
  free (map->slots);
  *map = bigger;
}

uint64_t *
recorder_map_find (const RecorderMap *map, uint64_t key)
{
  size_t at;

  if (map->n_used == 0)
    return NULL;
  at = probe (map, key);
  return map->slots[at].used ? &map->slots[at].value : NULL;
}

void
recorder_map_set (RecorderMap *map, uint64_t key, uint64_t value)
{
  size_t at;

  if (2 * (map->n_used + 1) > map->n_slots)
    grow (map);
  at = probe (map, key);
  if (!map->slots[at].used)
    map->n_used++;
  map->slots[at] = (RecorderMapSlot){ key, value, true };
}

/* Those behind the hole move up, so that no probe ends at it too early. */
static void
close_hole (RecorderMap *map, size_t hole)
{
  size_t last = map->n_slots - 1;

  for (size_t at = (hole + 1) & last; map->slots[at].used; at = (at + 1) & last)
    if (((at - home (map, map->slots[at].key)) & last) >= ((at - hole) & last)) {
      map->slots[hole] = map->slots[at];
      hole = at;
    }
  map->slots[hole].used = false;
}

uint64_t
recorder_map_remove (RecorderMap *map, uint64_t key)
{
  uint64_t *found = recorder_map_find (map, key);
  uint64_t value;

  if (found == NULL)
    return 0;
  value = *found;
  close_hole (map, probe (map, key));
  map->n_used--;
  return value;
}
