/* session.c - makes the runs of a study that its store does not have yet.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/session/session_private.h"

#include "study/session/deal.h"
#include "study/session/job.h"

/* Rows wait at most so long, and at most so many of them: what a kill loses. */
#define STORE_INTERVAL_US    (G_USEC_PER_SEC / 5)
#define MAX_WAITING_ROWS     500u
#define PROGRESS_INTERVAL_US (G_USEC_PER_SEC / 10)
#define TAKE_TIMEOUT_MS      100

typedef struct {
  const StudyPlan *plan;
  const StudySessionOptions *options;
  StudyTally *tally;
  StudyStore *store;
  StudyJobMaker *maker;
  StudyCrew *crew;
  const GArray *todo; /* (element-type guint) runs */
  StudyDeal *deal;
  guint in_flight;       /* jobs */
  StudyStoreGroup *made; /* to be stored */
  gint64 begin_us, stored_us, told_us;
} Session;

void
study_tally_clear (StudyTally *tally)
{
  g_clear_pointer (&tally->first_error, g_free);
  *tally = (StudyTally){ 0 };
}

/* --- Signals --- */

static volatile sig_atomic_t caught;

static void catch (int signal_number)
{
  caught = signal_number;
}

static const int signals[] = { SIGINT, SIGTERM, SIGHUP };

typedef struct {
  struct sigaction actions[G_N_ELEMENTS (signals)];
  sigset_t mask;
} Signals;

/* They come through only while the session waits for a result: the store is never
 * left in the middle of something.  Those that were ignored (nohup) stay so. */
static void
signals_take (Signals *before)
{
  struct sigaction action = { .sa_handler = catch };
  sigset_t ours;

  caught = 0;
  sigemptyset (&action.sa_mask);
  sigemptyset (&ours);
  for (gsize i = 0; i < G_N_ELEMENTS (signals); i++) {
    sigaction (signals[i], NULL, &before->actions[i]);
    if (before->actions[i].sa_handler == SIG_IGN)
      continue;
    sigaction (signals[i], &action, NULL);
    sigaddset (&ours, signals[i]);
  }
  sigprocmask (SIG_BLOCK, &ours, &before->mask);
}

static void
signals_give_back (const Signals *before)
{
  sigprocmask (SIG_SETMASK, &before->mask, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (signals); i++)
    sigaction (signals[i], &before->actions[i], NULL);
}

/* --- Before the first run --- */

static const StudyPlanRun *
run_at (const StudyPlan *plan, guint run)
{
  return g_ptr_array_index (plan->runs, run);
}

static gboolean
put_plan (Session *session, GError **error)
{
  const StudyPlan *plan = session->plan;
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify) study_row_free);

  for (guint run = 0; run < plan->runs->len; run++)
    g_ptr_array_add (rows, study_plan_row (plan, run));
  return study_store_set_plan (session->store, plan->name, plan->text, (StudyRow **) rows->pdata,
                               rows->len, error);
}

static gboolean
put_machines (Session *session, GError **error)
{
  for (guint i = 0; i < session->plan->machines->len; i++) {
    const StudyMachine *machine = g_ptr_array_index (session->plan->machines, i);

    if (machine->hash != NULL &&
        !study_store_put_machine (session->store, machine->hash, machine->machine_text, error))
      return FALSE;
  }
  return TRUE;
}

/* The first run of each trace in the whole plan: which machine decomposes the
 * collectives must not depend on what is left to do. */
static guint
first_run_of (const StudyPlan *plan, guint trace)
{
  guint run = 0;

  while (run_at (plan, run)->trace != trace)
    run++;
  return run;
}

/* Who sends to whom is asked before the first run of a trace. */
static StudyDeal *
deal_new (const Session *session, guint n_workers)
{
  const StudyPlan *plan = session->plan;
  g_autofree gboolean *asked = g_new0 (gboolean, plan->traces->len);
  StudyDeal *deal = study_deal_new (n_workers);

  for (guint i = 0; i < session->todo->len; i++) {
    guint run = g_array_index (session->todo, guint, i), trace = run_at (plan, run)->trace;
    guint group = trace * plan->machines->len + run_at (plan, run)->machine;
    const StudyTrace *its = g_ptr_array_index (plan->traces, trace);

    if (!asked[trace] && its->hash != NULL && !study_store_has_edges (session->store, its->hash))
      study_deal_add (deal, plan->runs->len + first_run_of (plan, trace), group);
    asked[trace] = TRUE;
    study_deal_add (deal, run, group);
  }
  return deal;
}

/* --- While they are made --- */

static double
seconds_since (gint64 begin_us)
{
  return (double) (g_get_monotonic_time () - begin_us) * 1e-6;
}

static gboolean
store_made (Session *session, GError **error)
{
  gint64 begin_us = g_get_monotonic_time ();
  gboolean stored = study_store_put_group (session->store, session->made, error);

  session->stored_us = g_get_monotonic_time ();
  session->tally->store_s += seconds_since (begin_us);
  return stored;
}

static gboolean
store_if_due (Session *session, GError **error)
{
  if (session->made->rows->len < MAX_WAITING_ROWS &&
      g_get_monotonic_time () - session->stored_us < STORE_INTERVAL_US)
    return TRUE;
  return store_made (session, error);
}

static void
tell (Session *session, gboolean now)
{
  gint64 now_us = g_get_monotonic_time ();

  session->tally->elapsed_s = seconds_since (session->begin_us);
  if (session->options->progress == NULL ||
      (!now && now_us - session->told_us < PROGRESS_INTERVAL_US))
    return;
  session->told_us = now_us;
  session->options->progress (session->options->progress_data, session->tally);
}

/* Takes the row. */
static void
count_row (Session *session, StudyRow *row, gboolean changed)
{
  StudyTally *tally = session->tally;

  if (row->status == STUDY_DONE) {
    tally->n_done++;
    tally->wall_s += row->wall_s;
  } else {
    tally->n_failed++;
    tally->n_changed += changed;
    if (tally->first_error == NULL)
      tally->first_error = g_strdup (row->error);
  }
  if (changed)
    study_row_free (row);
  else
    g_ptr_array_add (session->made->rows, row);
}

static void
take_row (Session *session, StudyJobResult *result)
{
  const char *hash = result->row->mapping_hash;

  if (result->places != NULL && hash != NULL) {
    StudyPlaces *places = g_new (StudyPlaces, 1);

    *places =
        (StudyPlaces){ g_strdup (hash), result->row->ranks, g_steal_pointer (&result->places) };
    g_ptr_array_add (session->made->placements, places);
    g_hash_table_add (session->maker->known, g_strdup (hash)); /* workers to come need not tell */
  }
  count_row (session, g_steal_pointer (&result->row), result->changed);
}

static void
take_edges (Session *session, guint run, StudyJobResult *result)
{
  guint index = run_at (session->plan, run)->trace;
  const StudyTrace *trace = g_ptr_array_index (session->plan->traces, index);
  StudyPackedEdges *edges;

  if (result->edges == NULL)
    return;
  edges = g_new (StudyPackedEdges, 1);
  *edges = (StudyPackedEdges){ g_strdup (trace->hash), trace->n_ranks, result->n_edges,
                               g_steal_pointer (&result->edges) };
  g_ptr_array_add (session->made->edges, edges);
}

static gboolean
take_block (Session *session, const StudyCrewResult *made, GError **error)
{
  g_auto (StudyJobResult) result = { 0 };
  guint n_runs = session->plan->runs->len;

  if (!study_job_read (made->block, &result) || (made->job < n_runs) != (result.row != NULL)) {
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_WORKER, "a worker sent what is no result");
    return FALSE;
  }
  if (made->job >= n_runs)
    take_edges (session, made->job - n_runs, &result);
  else
    take_row (session, &result);
  return TRUE;
}

static void
take_lost (Session *session, const StudyCrewResult *made)
{
  StudyRow *row;

  if (made->job >= session->plan->runs->len) /* the runs of that trace will tell why */
    return;
  row = study_plan_row (session->plan, made->job);
  row->status = STUDY_FAILED;
  g_free (row->error);
  row->error = g_strdup (made->lost);
  count_row (session, row, FALSE);
}

/* Waits for a result; *taken says whether there was one. */
static gboolean
take (Session *session, gint timeout_ms, const sigset_t *mask, gboolean *taken, GError **error)
{
  StudyCrewResult made = { 0 };
  StudyCrewTaken what = session->crew->take (session->crew, timeout_ms, mask, &made, error);
  gboolean good = what != STUDY_CREW_ERROR;

  *taken = what == STUDY_CREW_RESULT;
  if (!*taken)
    return good;
  session->in_flight--;
  if (made.block != NULL)
    good = take_block (session, &made, error);
  else
    take_lost (session, &made);
  study_crew_result_clear (&made);
  return good;
}

static void
hand_out (Session *session)
{
  guint job;
  int worker;

  while ((worker = session->crew->idlest (session->crew)) >= 0 &&
         study_deal_next (session->deal, (guint) worker, &job)) {
    session->crew->give (session->crew, (guint) worker, job);
    session->in_flight++;
  }
}

/* What has been made already is not thrown away. */
static gboolean
take_the_finished (Session *session, const sigset_t *mask, GError **error)
{
  gboolean taken = TRUE;

  while (taken && session->in_flight > 0)
    if (!take (session, 0, mask, &taken, error))
      return FALSE;
  return TRUE;
}

static gboolean
work_until_signalled (Session *session, const sigset_t *mask, GError **error)
{
  gboolean taken;

  while (!caught && (study_deal_n_left (session->deal) > 0 || session->in_flight > 0)) {
    hand_out (session);
    if (!take (session, TAKE_TIMEOUT_MS, mask, &taken, error) || !store_if_due (session, error))
      return FALSE;
    tell (session, FALSE);
  }
  return TRUE;
}

/* What has been made is stored, whatever ends the work. */
static gboolean
work (Session *session, const sigset_t *mask, GError **error)
{
  sigset_t blocked;

  if (!work_until_signalled (session, mask, error)) {
    store_made (session, NULL);
    return FALSE;
  }
  session->tally->signal = caught;
  sigprocmask (SIG_SETMASK, NULL, &blocked);
  return take_the_finished (session, &blocked, error) && store_made (session, error);
}

static gboolean
make_runs (Session *session, const StudyCrewMaker *maker, GError **error)
{
  Signals before;
  gboolean good;

  session->maker = study_job_maker_new (session->plan);
  signals_take (&before);
  session->crew =
      maker->crew_new (session->options->n_workers, study_job_make, session->maker, error);
  if (session->crew != NULL)
    session->deal = deal_new (session, session->crew->n_workers);
  good = session->crew != NULL && work (session, &before.mask, error);
  study_deal_free (session->deal);
  study_crew_free (session->crew);
  signals_give_back (&before);
  study_job_maker_free (session->maker);
  tell (session, TRUE);
  return good;
}

gboolean
study_session_run (const StudyPlan *plan, const StudyCrewMaker *maker,
                   const StudySessionOptions *options, StudyTally *tally, GError **error)
{
  g_autofree char *path = study_session_store_path (plan, options);
  g_autoptr (StudyStore) store = study_store_open (path, STUDY_STORE_CREATE, error);
  g_autoptr (GArray) todo =
      store != NULL ? study_session_left (plan, options, store, tally, error) : NULL;
  g_autoptr (StudyStoreGroup) made = study_store_group_new ();
  Session session = { .plan = plan,
                      .options = options,
                      .tally = tally,
                      .store = store,
                      .made = made,
                      .begin_us = g_get_monotonic_time () };

  if (todo == NULL || !put_plan (&session, error) || !put_machines (&session, error))
    return FALSE;
  session.stored_us = session.begin_us;
  session.todo = todo;
  return (todo->len == 0 || make_runs (&session, maker, error)) &&
         study_store_check_place (store, error);
}

gboolean
study_session_serve (const StudyPlan *plan, const StudyCrewMaker *maker, GError **error)
{
  g_autoptr (StudyJobMaker) jobs = study_job_maker_new (plan);

  return maker->serve (study_job_make, jobs, error);
}
