/* small_map_test.c - the small table against GLib's.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/small_map.h"

#include <glib.h>

static void
test_empty_owns_nothing (void)
{
  BaseMap map = { 0 };

  g_assert_null (base_map_find (&map, 7));
  g_assert_null (map.entries);
  base_map_clear (&map);
}

static void
test_new_entries_are_filled (void)
{
  BaseMap map = { 0 };
  BaseMapEntry *entry = base_map_add (&map, 0, 99);

  for (uint32_t i = 0; i < 3; i++)
    g_assert_cmpuint (entry->value[i], ==, 99);
  entry->value[1] = 5;
  g_assert_cmpuint (base_map_add (&map, 0, 99)->value[1], ==, 5);
  g_assert_cmpuint (map.n, ==, 1);
  base_map_clear (&map);
}

static void
check_same (const BaseMap *map, GHashTable *wanted)
{
  g_assert_cmpuint (map->n, ==, g_hash_table_size (wanted));
  for (uint32_t key = 0; key < 200; key++) {
    const BaseMapEntry *entry = base_map_find (map, key);
    gpointer value;

    if (g_hash_table_lookup_extended (wanted, GUINT_TO_POINTER (key), NULL, &value)) {
      g_assert_nonnull (entry);
      g_assert_cmpuint (entry->value[2], ==, GPOINTER_TO_UINT (value));
    } else
      g_assert_null (entry);
  }
}

/* Adding and removing in random order, so that holes are closed within
 * clusters and around the end. */
static void
test_agrees_with_a_hash_table (void)
{
  g_autoptr (GHashTable) wanted = g_hash_table_new (NULL, NULL);
  BaseMap map = { 0 };

  for (uint32_t round = 0; round < 5000; round++) {
    uint32_t key = (uint32_t) g_test_rand_int_range (0, 200);
    BaseMapEntry *entry = base_map_find (&map, key);

    if (entry != NULL && g_test_rand_bit ()) {
      base_map_remove (&map, entry);
      g_hash_table_remove (wanted, GUINT_TO_POINTER (key));
    } else {
      base_map_add (&map, key, 0)->value[2] = round;
      g_hash_table_insert (wanted, GUINT_TO_POINTER (key), GUINT_TO_POINTER (round));
    }
    if (round % 50 == 0)
      check_same (&map, wanted);
  }
  check_same (&map, wanted);
  base_map_clear (&map);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/traces/small-map/empty", test_empty_owns_nothing);
  g_test_add_func ("/traces/small-map/fill", test_new_entries_are_filled);
  g_test_add_func ("/traces/small-map/hash-table", test_agrees_with_a_hash_table);
  return g_test_run ();
}
