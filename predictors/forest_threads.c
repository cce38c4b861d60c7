/* forest_threads.c - parts of a work on several threads.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/forest_private.h"

#include <stdatomic.h>

typedef struct {
  PredictWork work;
  void *data;
  guint n_parts;
  atomic_uint next, n_done;
} Parts;

static bool
part_do (Parts *parts)
{
  guint part = atomic_fetch_add (&parts->next, 1);

  if (part >= parts->n_parts)
    return false;
  parts->work (parts->data, part);
  atomic_fetch_add (&parts->n_done, 1);
  return true;
}

static gpointer
help (gpointer data)
{
  while (part_do (data))
    ;
  return NULL;
}

void
predict_in_parallel (guint threads, guint n_parts, PredictWork work, void *data,
                     PredictProgress progress, void *progress_data)
{
  Parts parts = { .work = work, .data = data, .n_parts = n_parts };
  guint n_helpers = MIN (threads, n_parts) > 1 ? MIN (threads, n_parts) - 1 : 0;
  g_autofree GThread **helpers = g_new0 (GThread *, n_helpers);

  for (guint i = 0; i < n_helpers; i++)
    helpers[i] = g_thread_try_new ("predict", help, &parts, NULL);
  while (part_do (&parts))
    if (progress)
      progress (progress_data, (double) atomic_load (&parts.n_done) / n_parts);
  for (guint i = 0; i < n_helpers; i++)
    if (helpers[i])
      g_thread_join (helpers[i]);
}
