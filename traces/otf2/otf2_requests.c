/* otf2_requests.c - requests of one rank that are under way, by the archive's numbers.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/otf2/otf2_requests.h"

#include "mpi/operation.h"

#include <glib.h>

typedef struct {
  uint64_t id; /* the key of the table */
  uint64_t serial;
  uint32_t handle;
} Entry;

struct Otf2Requests {
  GHashTable *entries; /* set of Entry */
  GArray *unused;      /* (element-type uint32_t) handles to give again */
  uint32_t next;
  uint64_t serial;
};

Otf2Requests *
otf2_requests_new (void)
{
  Otf2Requests *requests = g_new (Otf2Requests, 1);

  requests->entries = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  requests->unused = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  requests->next = TRACE_REQUEST_NULL + 1;
  requests->serial = 0;
  return requests;
}

void
otf2_requests_free (Otf2Requests *requests)
{
  if (requests == NULL)
    return;
  g_hash_table_unref (requests->entries);
  g_array_unref (requests->unused);
  g_free (requests);
}

static void
add (Otf2Requests *requests, uint64_t id, uint32_t handle)
{
  Entry *entry = g_new (Entry, 1);

  *entry = (Entry){ id, requests->serial++, handle };
  g_hash_table_add (requests->entries, entry);
}

uint32_t
otf2_requests_bind (Otf2Requests *requests, uint64_t id)
{
  uint32_t handle;

  if (requests->unused->len > 0) {
    handle = g_array_index (requests->unused, uint32_t, requests->unused->len - 1);
    g_array_set_size (requests->unused, requests->unused->len - 1);
  } else {
    handle = requests->next++;
  }
  add (requests, id, handle);
  return handle;
}

void
otf2_requests_bind_nothing (Otf2Requests *requests, uint64_t id)
{
  add (requests, id, TRACE_REQUEST_NULL);
}

static void
take (Otf2Requests *requests, Entry *entry)
{
  if (entry->handle != TRACE_REQUEST_NULL)
    g_array_append_val (requests->unused, entry->handle);
  g_hash_table_remove (requests->entries, entry);
}

bool
otf2_requests_find (Otf2Requests *requests, uint64_t id, bool taken, uint32_t *handle)
{
  Entry *entry = g_hash_table_lookup (requests->entries, &id);

  if (entry == NULL)
    return false;
  *handle = entry->handle;
  if (taken)
    take (requests, entry);
  return true;
}

bool
otf2_requests_take_oldest (Otf2Requests *requests, uint32_t *handle)
{
  GHashTableIter iter;
  gpointer key;
  Entry *oldest = NULL;

  g_hash_table_iter_init (&iter, requests->entries);
  while (g_hash_table_iter_next (&iter, &key, NULL)) {
    Entry *entry = key;

    if (entry->handle != TRACE_REQUEST_NULL && (oldest == NULL || entry->serial < oldest->serial))
      oldest = entry;
  }
  if (oldest == NULL)
    return false;
  *handle = oldest->handle;
  take (requests, oldest);
  return true;
}

void
otf2_requests_take_all (Otf2Requests *requests)
{
  g_hash_table_remove_all (requests->entries);
  g_array_set_size (requests->unused, 0);
  requests->next = TRACE_REQUEST_NULL + 1;
}

uint32_t
otf2_requests_count (const Otf2Requests *requests)
{
  return g_hash_table_size (requests->entries);
}
