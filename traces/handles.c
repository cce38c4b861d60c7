/* handles.c - request handles of one rank and their meaning.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/handles.h"

#include "mpi/operation.h"

typedef struct {
  uint64_t serial;
  uint32_t number;
} Started;

struct TraceHandles {
  GHashTable *queues; /* handle -> GQueue of Started; none is empty */
  GHashTable *models; /* handle -> number */
  uint64_t n_started;
};

static void
queue_free (gpointer queue)
{
  g_queue_free_full (queue, g_free);
}

TraceHandles *
trace_handles_new (void)
{
  TraceHandles *handles = g_new0 (TraceHandles, 1);

  handles->queues = g_hash_table_new_full (NULL, NULL, NULL, queue_free);
  handles->models = g_hash_table_new (NULL, NULL);
  return handles;
}

void
trace_handles_free (TraceHandles *handles)
{
  if (handles == NULL)
    return;
  g_hash_table_unref (handles->queues);
  g_hash_table_unref (handles->models);
  g_free (handles);
}

static GQueue *
queue_of (const TraceHandles *handles, uint32_t handle)
{
  return g_hash_table_lookup (handles->queues, GUINT_TO_POINTER (handle));
}

void
trace_handles_push (TraceHandles *handles, uint32_t handle, uint32_t number)
{
  GQueue *queue = queue_of (handles, handle);
  Started *started;

  if (handle == TRACE_REQUEST_NULL)
    return;
  if (queue == NULL) {
    queue = g_queue_new ();
    g_hash_table_insert (handles->queues, GUINT_TO_POINTER (handle), queue);
  }
  started = g_new (Started, 1);
  *started = (Started){ handles->n_started++, number };
  g_queue_push_tail (queue, started);
}

gboolean
trace_handles_peek (const TraceHandles *handles, uint32_t handle, uint32_t *number)
{
  GQueue *queue = queue_of (handles, handle);

  if (queue == NULL)
    return FALSE;
  *number = ((const Started *) g_queue_peek_head (queue))->number;
  return TRUE;
}

gboolean
trace_handles_pop (TraceHandles *handles, uint32_t handle, uint32_t *number)
{
  GQueue *queue = queue_of (handles, handle);

  if (!trace_handles_peek (handles, handle, number))
    return FALSE;
  g_free (g_queue_pop_head (queue));
  if (g_queue_is_empty (queue))
    g_hash_table_remove (handles->queues, GUINT_TO_POINTER (handle));
  return TRUE;
}

static int
compare_started (gconstpointer a, gconstpointer b)
{
  uint64_t one = ((const Started *) a)->serial, other = ((const Started *) b)->serial;

  return (one > other) - (one < other);
}

GArray *
trace_handles_pop_all (TraceHandles *handles)
{
  g_autoptr (GArray) all = g_array_new (FALSE, FALSE, sizeof (Started));
  GArray *numbers = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  GHashTableIter iter;
  gpointer queue;

  g_hash_table_iter_init (&iter, handles->queues);
  while (g_hash_table_iter_next (&iter, NULL, &queue))
    for (const GList *link = g_queue_peek_head_link (queue); link != NULL; link = link->next)
      g_array_append_vals (all, link->data, 1);
  g_hash_table_remove_all (handles->queues);
  g_array_sort (all, compare_started);
  for (guint i = 0; i < all->len; i++)
    g_array_append_val (numbers, g_array_index (all, Started, i).number);
  return numbers;
}

void
trace_handles_set_model (TraceHandles *handles, uint32_t handle, uint32_t number)
{
  g_hash_table_insert (handles->models, GUINT_TO_POINTER (handle), GUINT_TO_POINTER (number));
}

gboolean
trace_handles_model (const TraceHandles *handles, uint32_t handle, uint32_t *number)
{
  gpointer value;

  if (!g_hash_table_lookup_extended (handles->models, GUINT_TO_POINTER (handle), NULL, &value))
    return FALSE;
  *number = GPOINTER_TO_UINT (value);
  return TRUE;
}

void
trace_handles_drop_model (TraceHandles *handles, uint32_t handle)
{
  g_hash_table_remove (handles->models, GUINT_TO_POINTER (handle));
}
