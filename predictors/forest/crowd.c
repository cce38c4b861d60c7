/* crowd.c - see crowd.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/forest/crowd.h"

#include <stdatomic.h>

typedef struct {
  PredictPiece piece;
  void *data;
  guint n;
  atomic_uint next, n_done;
} Work;

/* The next piece; FALSE when all are taken. */
static gboolean
do_one (Work *work)
{
  guint number = atomic_fetch_add (&work->next, 1);

  if (number >= work->n)
    return FALSE;
  work->piece (work->data, number);
  atomic_fetch_add (&work->n_done, 1);
  return TRUE;
}

static gpointer
help (gpointer data)
{
  while (do_one (data))
    ;
  return NULL;
}

static void
tell (const PredictStretch *stretch, double share)
{
  if (stretch != NULL && stretch->progress != NULL)
    stretch->progress (stretch->progress_data,
                       stretch->from + share * (stretch->to - stretch->from));
}

void
predict_crowd (PredictPiece piece, void *data, guint n, guint threads,
               const PredictStretch *stretch)
{
  Work work = { .piece = piece, .data = data, .n = n };
  guint n_helpers = (guint) CLAMP (threads, 1, MAX (n, 1)) - 1;
  g_autofree GThread **helpers = g_new (GThread *, n_helpers);

  for (guint i = 0; i < n_helpers; i++)
    helpers[i] = g_thread_try_new ("predict", help, &work, NULL);
  while (do_one (&work)) {
    guint n_done = atomic_load (&work.n_done);

    if (n_done < n) /* the end is told once, when all helpers have come home */
      tell (stretch, (double) n_done / (double) n);
  }
  for (guint i = 0; i < n_helpers; i++)
    if (helpers[i])
      g_thread_join (helpers[i]);
  tell (stretch, 1);
}
