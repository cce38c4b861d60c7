/* work_threads.c - pieces of work that do not depend on each other, done by threads.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/forest/work_threads.h"

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
do_all (gpointer data)
{
  while (do_one (data))
    ;
  return NULL;
}

static void
report_progress (const PredictWorkShare *share, double done)
{
  if (share != NULL && share->progress != NULL)
    share->progress (share->progress_data, share->from + done * (share->to - share->from));
}

void
predict_work (PredictPiece piece, void *data, guint n, guint threads, const PredictWorkShare *share)
{
  Work work = { .piece = piece, .data = data, .n = n };
  guint n_others = (guint) CLAMP (threads, 1, MAX (n, 1)) - 1;
  g_autofree GThread **others = g_new (GThread *, n_others);

  for (guint i = 0; i < n_others; i++)
    others[i] = g_thread_try_new ("predict", do_all, &work, NULL);
  while (do_one (&work)) {
    guint n_done = atomic_load (&work.n_done);

    if (n_done < n) /* the end is reported once, when all threads have ended */
      report_progress (share, (double) n_done / (double) n);
  }
  for (guint i = 0; i < n_others; i++)
    if (others[i])
      g_thread_join (others[i]);
  report_progress (share, 1);
}
