/* work_threads.c - pieces of work that do not depend on each other, done by threads.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/forest/work_threads.h"

#include <stdatomic.h>

typedef struct {
  PredictPiece piece;
  void *data;
  guint n;
  atomic_uint next, n_done;
} Work;

void
predict_work_report (const PredictWorkShare *share, double done)
{
  if (share != NULL && share->progress != NULL)
    share->progress (share->progress_data, share->from + done * (share->to - share->from));
}

/* Does pieces until all are taken.  share: NULL in all threads but the caller's. */
static void
do_pieces (Work *work, const PredictWorkShare *share)
{
  guint number;

  while ((number = atomic_fetch_add (&work->next, 1)) < work->n) {
    guint n_done;

    work->piece (work->data, number);
    n_done = atomic_fetch_add (&work->n_done, 1) + 1;
    if (n_done < work->n) /* predict_work() reports the end, when all threads have ended */
      predict_work_report (share, (double) n_done / (double) work->n);
  }
}

static gpointer
run_thread (gpointer work)
{
  do_pieces (work, NULL);
  return NULL;
}

void
predict_work (PredictPiece piece, void *data, guint n, guint threads, const PredictWorkShare *share)
{
  Work work = { .piece = piece, .data = data, .n = n };
  guint n_others = (guint) CLAMP (threads, 1, MAX (n, 1)) - 1;
  g_autofree GThread **others = g_new (GThread *, n_others);

  for (guint i = 0; i < n_others; i++)
    others[i] = g_thread_try_new ("predict", run_thread, &work, NULL);
  do_pieces (&work, share);
  for (guint i = 0; i < n_others; i++)
    if (others[i])
      g_thread_join (others[i]);
  predict_work_report (share, 1);
}
