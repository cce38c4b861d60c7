/* session.c - hands out the runs of a study and stores their results.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/session/session.h"

#include "study/session/execute.h"
#include "study/session/racing.h"

#include <string.h>
#include <sys/resource.h>

/* --- The runs of a study that are left --- */

static const StudyPlanRun *
run_at (const StudyPlan *plan, guint run)
{
  return g_ptr_array_index (plan->runs, run);
}

char *
study_session_store_path (const StudyPlan *plan, const StudySessionOptions *options)
{
  const char *ending = ".store";
  g_autofree char *stem = NULL;

  if (options->store_path != NULL)
    return g_strdup (options->store_path);
  if (options->n_shards == 0)
    return g_strdup (plan->store_path);
  stem = g_strdup (plan->store_path);
  if (g_str_has_suffix (stem, ending))
    stem[strlen (stem) - strlen (ending)] = '\0';
  return g_strdup_printf ("%s.%uof%u%s", stem, options->shard, options->n_shards, ending);
}

/* As study_session_todo(), of an open store; NULL: there is none yet. */
static GArray *
runs_left (const StudyPlan *plan, const StudySessionOptions *options, StudyStore *store,
           StudyTally *tally, GError **error)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GArray) todo = g_array_new (FALSE, FALSE, sizeof (guint));
  g_autoptr (GHashTable) done = NULL, all = NULL;

  if (store != NULL && ((done = study_store_keys (store, FALSE, error)) == NULL ||
                        (all = study_store_keys (store, TRUE, error)) == NULL))
    return NULL;
  for (guint run = 0; run < plan->n_listed; run++) {
    const char *key = run_at (plan, run)->key;
    gboolean is_done = done != NULL && g_hash_table_contains (done, key);
    gboolean has_failed = !is_done && all != NULL && g_hash_table_contains (all, key);

    /* The first run of each key, of this shard: all shards count alike. */
    if (!g_hash_table_add (seen, (char *) key) ||
        (options->n_shards > 0 && run % options->n_shards != options->shard - 1))
      continue;
    tally->n_runs++;
    tally->n_failed_before += has_failed && !options->retry_failed;
    if (is_done || (has_failed && !options->retry_failed))
      tally->n_there++;
    else
      g_array_append_val (todo, run);
  }
  return g_steal_pointer (&todo);
}

GArray *
study_session_todo (const StudyPlan *plan, const StudySessionOptions *options, StudyTally *tally,
                    GError **error)
{
  g_autofree char *path = study_session_store_path (plan, options);
  g_autoptr (StudyStore) store = NULL;

  if (g_file_test (path, G_FILE_TEST_EXISTS) &&
      !(store = study_store_open (path, STUDY_STORE_READ, error)))
    return NULL;
  return runs_left (plan, options, store, tally, error);
}

/* --- Making the runs --- */

/* Rows wait at most this long, and at most this many: the loss when the process is killed. */
#define STORE_INTERVAL_US    (G_USEC_PER_SEC / 5)
#define MAX_WAITING_ROWS     500u
#define PROGRESS_INTERVAL_US (G_USEC_PER_SEC / 10)
#define TAKE_TIMEOUT_MS      100

/* The jobs of one trace on one machine, which a worker opens when it begins the first of them. */
typedef struct {
  guint trace, machine;
  guint next, end; /* in jobs */
  gboolean begun;
} Group;

typedef struct {
  const StudyPlan *plan;
  const StudySessionOptions *options;
  StudyTally *tally;
  StudyStore *store;
  StudyBench *bench;
  StudyPool *pool;
  const StudyChooser *chooser; /* NULL: all jobs are listed at first */
  void *chooser_data;
  GArray *jobs;             /* (element-type guint) all of them; those of a group are neighbours */
  GPtrArray *groups;        /* (element-type Group) in the order of the jobs */
  gboolean *edges_asked;    /* [traces] */
  Group **group_of;         /* [workers] NULL: none yet */
  guint n_given, in_flight; /* jobs */
  StudyStoreGroup *made;    /* to be stored */
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

/* Signals are delivered only while the session waits for a result, so that they never interrupt a
 * write to the store.  Ignored signals (nohup) stay ignored. */
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

/* --- While the runs are made --- */

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

static void
report_progress (Session *session, gboolean now)
{
  gint64 now_us = g_get_monotonic_time ();

  session->tally->elapsed_s = seconds_since (session->begin_us);
  if (session->options->progress == NULL ||
      (!now && now_us - session->told_us < PROGRESS_INTERVAL_US))
    return;
  session->told_us = now_us;
  session->options->progress (session->options->progress_data, session->tally);
}

/* Takes the row, which is stored unless its inputs have changed. */
static void
count_row (Session *session, guint run, StudyRow *row, gboolean changed)
{
  StudyTally *tally = session->tally;

  if (session->chooser != NULL)
    session->chooser->tell (session->chooser_data, run, row);

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

/* Waits for a result and keeps it; *taken: there was one. */
static gboolean
take (Session *session, gint timeout_ms, const sigset_t *mask, gboolean *taken, GError **error)
{
  const StudyPlan *plan = session->plan;
  StudyPoolResult made = { 0 };
  StudyPoolTaken what = session->pool->take (session->pool, timeout_ms, mask, &made, error);
  gboolean good = what != STUDY_POOL_ERROR;
  gboolean is_run = made.job < plan->runs->len;
  g_auto (StudyJobResult) result = { 0 };

  *taken = what == STUDY_POOL_RESULT;
  if (!*taken)
    return good;
  session->in_flight--;
  if (made.block == NULL) {
    /* The worker ended.  When it read the edges of a trace the runs of that trace will fail too. */
    if (is_run) {
      StudyRow *row = study_plan_row (plan, made.job);

      row->status = STUDY_FAILED;
      g_free (row->error);
      row->error = g_strdup (made.lost);
      count_row (session, made.job, row, FALSE);
    }
  } else if (!study_job_read (session->bench, made.block, &result) ||
             is_run != (result.row != NULL)) {
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_WORKER, "a worker sent an invalid result");
    good = FALSE;
  } else if (is_run) {
    const char *hash = result.row->mapping_hash;

    if (result.places != NULL && hash != NULL)
      study_store_group_add_places (session->made, hash, result.row->ranks,
                                    g_steal_pointer (&result.places));
    count_row (session, made.job, g_steal_pointer (&result.row), result.changed);
  } else if (result.edges != NULL) {
    const StudyPlanRun *run = run_at (plan, made.job - plan->runs->len);
    const StudyTrace *trace = g_ptr_array_index (plan->traces, run->trace);

    study_store_group_add_edges (session->made, trace->hash, trace->n_ranks, result.n_edges,
                                 g_steal_pointer (&result.edges));
  }
  study_pool_result_clear (&made);
  return good;
}

/* --- The order of jobs --- */

static void
add_job (Session *session, guint job, const StudyPlanRun *run)
{
  guint n = session->groups->len;
  Group *last = n > 0 ? g_ptr_array_index (session->groups, n - 1) : NULL;

  g_array_append_val (session->jobs, job);
  if (last == NULL || last->trace != run->trace || last->machine != run->machine) {
    const Group fresh = { run->trace, run->machine, session->jobs->len - 1, session->jobs->len,
                          FALSE };

    g_ptr_array_add (session->groups, g_memdup2 (&fresh, sizeof fresh));
  } else
    last->end++;
}

/* A job is a run, or, above the number of runs, the edges of a run's trace. */
static void
list_jobs (Session *session, const GArray *runs)
{
  const StudyPlan *plan = session->plan;

  for (guint i = 0; i < runs->len; i++) {
    guint run = g_array_index (runs, guint, i), trace = run_at (plan, run)->trace;
    const char *hash = ((const StudyTrace *) g_ptr_array_index (plan->traces, trace))->hash;

    if (!session->edges_asked[trace] && hash != NULL &&
        !study_store_has_edges (session->store, hash)) {
      /* Of the trace's first run in the whole plan: the machine that decomposes the collectives
       * must not depend on the runs that are left. */
      guint first = 0;

      while (run_at (plan, first)->trace != trace)
        first++;
      add_job (session, plan->runs->len + first, run_at (plan, run));
    }
    session->edges_asked[trace] = TRUE;
    add_job (session, run, run_at (plan, run));
  }
}

/* Lists the runs that are chosen now and that the store does not have. */
static gboolean
list_wanted (Session *session, GError **error)
{
  StudyTally *tally = session->tally;
  gboolean told = TRUE;

  while (told) {
    g_autoptr (GArray) wanted = session->chooser->wanted (session->chooser_data);
    g_autoptr (GArray) missing = g_array_new (FALSE, FALSE, sizeof (guint));

    told = FALSE;
    for (guint i = 0; i < wanted->len; i++) {
      guint run = g_array_index (wanted, guint, i);
      g_autoptr (GError) trouble = NULL;
      g_autoptr (StudyRow) row =
          study_store_find (session->store, run_at (session->plan, run)->key, &trouble);

      if (trouble != NULL) {
        g_propagate_error (error, g_steal_pointer (&trouble));
        return FALSE;
      }
      tally->n_runs++;
      if (row == NULL || (row->status != STUDY_DONE && session->options->retry_failed)) {
        g_array_append_val (missing, run);
        continue;
      }
      tally->n_there++;
      tally->n_failed_before += row->status != STUDY_DONE;
      session->chooser->tell (session->chooser_data, run, row);
      told = TRUE;
    }
    list_jobs (session, missing);
  }
  session->chooser->count (session->chooser_data, &tally->n_races, &tally->n_over);
  return TRUE;
}

/* The next job of a worker; some are left.  It stays with its group while that has jobs, then takes
 * the first group that no worker has begun, and then helps with the group that has the most left. */
static guint
next_job (Session *session, guint worker)
{
  Group *group = session->group_of[worker];

  if (group == NULL || group->next == group->end) {
    group = g_ptr_array_index (session->groups, 0);
    for (guint i = 0; i < session->groups->len && group->begun; i++) {
      Group *other = g_ptr_array_index (session->groups, i);

      if (!other->begun || other->end - other->next > group->end - group->next)
        group = other;
    }
    session->group_of[worker] = group;
  }
  group->begun = TRUE;
  return g_array_index (session->jobs, guint, group->next++);
}

static gboolean
is_late (const Session *session)
{
  gint64 deadline_us = session->options->deadline_us;

  return deadline_us > 0 && g_get_monotonic_time () >= deadline_us;
}

/* Whatever ends the work, finished results are stored. */
static gboolean
work (Session *session, const sigset_t *mask, GError **error)
{
  gboolean good = TRUE, taken = TRUE;
  sigset_t blocked;

  while (good && !caught && !is_late (session) &&
         (session->n_given < session->jobs->len || session->in_flight > 0)) {
    int worker;

    while (session->n_given < session->jobs->len &&
           (worker = session->pool->idlest (session->pool)) >= 0) {
      session->pool->give (session->pool, (guint) worker, next_job (session, (guint) worker));
      session->n_given++;
      session->in_flight++;
    }
    good = take (session, TAKE_TIMEOUT_MS, mask, &taken, error) &&
           (session->chooser == NULL || !taken || list_wanted (session, error));
    if (good && (session->made->rows->len >= MAX_WAITING_ROWS ||
                 g_get_monotonic_time () - session->stored_us >= STORE_INTERVAL_US))
      good = store_made (session, error);
    if (good)
      report_progress (session, FALSE);
  }
  if (!good) {
    store_made (session, NULL);
    return FALSE;
  }
  session->tally->signal = caught;
  sigprocmask (SIG_SETMASK, NULL, &blocked);
  for (taken = TRUE; taken && session->in_flight > 0;)
    if (!take (session, 0, &blocked, &taken, error))
      return FALSE;
  return store_made (session, error);
}

static gboolean
make_runs (Session *session, const StudyPoolKind *maker, GError **error)
{
  Signals before;
  gboolean good = FALSE;

  session->bench = study_bench_new (session->plan);
  signals_take (&before);
  session->pool =
      maker->pool_new (session->options->n_workers, study_job_make, session->bench, error);
  if (session->pool != NULL) {
    session->group_of = g_new0 (Group *, session->pool->n_workers);
    good = work (session, &before.mask, error);
  }
  study_pool_free (session->pool);
  signals_give_back (&before);
  study_bench_free (session->bench);
  g_free (session->group_of);
  report_progress (session, TRUE);
  return good;
}

/* The plan and its machines. */
static gboolean
put_plan (Session *session, GError **error)
{
  const StudyPlan *plan = session->plan;
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify) study_row_free);

  for (guint run = 0; run < plan->n_listed; run++)
    g_ptr_array_add (rows, study_plan_row (plan, run));
  if (!study_store_set_plan (session->store, plan->name, plan->text, (StudyRow **) rows->pdata,
                             rows->len, error))
    return FALSE;
  for (guint i = 0; i < plan->machines->len; i++) {
    const StudyMachine *machine = g_ptr_array_index (plan->machines, i);

    if (machine->hash != NULL &&
        !study_store_put_machine (session->store, machine->hash, machine->machine_text, error))
      return FALSE;
  }
  return TRUE;
}

/* The first jobs: all runs that the store does not have, or the first ones that are chosen. */
static gboolean
list_first (Session *session, GError **error)
{
  g_autoptr (GArray) todo = NULL;

  if (session->chooser != NULL)
    return list_wanted (session, error);
  todo = runs_left (session->plan, session->options, session->store, session->tally, error);
  if (todo != NULL)
    list_jobs (session, todo);
  return todo != NULL;
}

/* --- Races choose runs --- */

static GArray *
race_wanted (void *racing)
{
  return study_racing_wanted (racing);
}

static void
race_tell (void *racing, guint run, const StudyRow *row)
{
  study_racing_tell (racing, run, row);
}

static void
race_count (void *racing, guint *n_races, guint *n_over)
{
  study_racing_count (racing, n_races, n_over);
}

static const StudyChooser races = { race_wanted, race_tell, race_count };

static gboolean
put_race (Session *session, const StudyRacing *racing, GError **error)
{
  g_autoptr (GPtrArray) outcome = study_racing_outcome (racing);

  return study_store_put_race (session->store, outcome, error);
}

gboolean
study_session_run (const StudyPlan *plan, const StudyPoolKind *maker,
                   const StudySessionOptions *options, StudyTally *tally, GError **error)
{
  g_autofree char *path = study_session_store_path (plan, options);
  g_autoptr (StudyStore) store = study_store_open (path, STUDY_STORE_CREATE, error);
  g_autoptr (StudyStoreGroup) made = study_store_group_new ();
  g_autoptr (GArray) jobs = g_array_new (FALSE, FALSE, sizeof (guint));
  g_autoptr (GPtrArray) groups = g_ptr_array_new_with_free_func (g_free);
  g_autofree gboolean *edges_asked = g_new0 (gboolean, plan->traces->len);
  Session session = { .plan = plan,
                      .options = options,
                      .tally = tally,
                      .chooser = options->chooser,
                      .chooser_data = options->chooser_data,
                      .store = store,
                      .jobs = jobs,
                      .groups = groups,
                      .edges_asked = edges_asked,
                      .made = made,
                      .begin_us = g_get_monotonic_time () };
  g_autoptr (StudyRacing) racing = NULL;

  g_assert (plan->is_raced == (options->race_best > 0));
  g_assert (!plan->is_raced || options->chooser == NULL);
  if (store == NULL)
    return FALSE;
  if (plan->is_raced) {
    racing = study_racing_new (plan, options->race_best, options->confidence, error);
    if (racing == NULL)
      return FALSE;
    session.chooser = &races;
    session.chooser_data = racing;
  }
  session.stored_us = session.begin_us;
  return list_first (&session, error) && put_plan (&session, error) &&
         (jobs->len == 0 || make_runs (&session, maker, error)) &&
         (racing == NULL || put_race (&session, racing, error)) &&
         study_store_check_place (store, error);
}

gboolean
study_session_serve (const StudyPlan *plan, const StudyPoolKind *maker, GError **error)
{
  g_autoptr (StudyBench) bench = study_bench_new (plan);

  return maker->serve (study_job_make, bench, error);
}

/* --- The time that the runs that are left will take --- */

/* Of the runs of one case in the store. */
typedef struct {
  double wall_s;
  guint n;
} Sum;

typedef struct {
  const StudyPlan *plan;
  GHashTable *cases;            /* of case_name() to Sum: runs in the store */
  double packet_s, packet_hops; /* of all packet runs in the store */
  StudyBench *bench;
  GHashTable *sizes; /* of case_name() to StudyBenchSize; load_s < 0: cannot be opened */
  StudyEstimate *estimate;
} Estimation;

static char *
case_name (const StudyRow *row, const char *machine_hash)
{
  return g_strdup_printf ("%s %s %s %s", row->trace_hash != NULL ? row->trace_hash : "",
                          machine_hash != NULL ? machine_hash : "", row->network, row->shrink);
}

/* The times of the runs in the store. */
static gboolean
read_times (Estimation *it, const StudySessionOptions *options, GError **error)
{
  g_autofree char *path = study_session_store_path (it->plan, options);
  g_autoptr (StudyStore) store = NULL;
  g_autoptr (GPtrArray) rows = NULL;

  if (!g_file_test (path, G_FILE_TEST_EXISTS))
    return TRUE;
  store = study_store_open (path, STUDY_STORE_READ, error);
  rows = store != NULL ? study_store_rows (store, FALSE, error) : NULL;
  for (guint i = 0; rows != NULL && i < rows->len; i++) {
    const StudyRow *row = g_ptr_array_index (rows, i);
    g_autofree char *name = case_name (row, row->machine_hash);
    Sum *sum = g_hash_table_lookup (it->cases, name);

    if (row->status != STUDY_DONE)
      continue;
    if (sum == NULL) {
      sum = g_new0 (Sum, 1);
      g_hash_table_insert (it->cases, g_steal_pointer (&name), sum);
    }
    sum->wall_s += row->wall_s;
    sum->n++;
    it->estimate->peak_rss_bytes = MAX (it->estimate->peak_rss_bytes, row->peak_rss_bytes);
    if (!strcmp (row->network, "packet")) {
      it->packet_s += row->wall_s;
      it->packet_hops += (double) row->packet_hops;
    }
  }
  return rows != NULL;
}

/* By the other runs of its case, else by a load run of the case, of which flow runs know nothing.  With
 * a single part out a machine takes as long as the whole one. */
static void
estimate_run (Estimation *it, guint run)
{
  const StudyPlanRun *asked = run_at (it->plan, run);
  g_autoptr (StudyRow) row = study_plan_row (it->plan, run);
  const StudyMachine *machine = g_ptr_array_index (it->plan->machines, asked->machine);
  g_autofree char *name =
      case_name (row, machine->whole != NULL ? machine->whole->hash : row->machine_hash);
  const Sum *known = g_hash_table_lookup (it->cases, name);
  double rate = it->packet_s > 0 ? it->packet_hops / it->packet_s : STUDY_ESTIMATE_HOPS_PER_S;
  StudyBenchSize *size;

  if (known != NULL) {
    it->estimate->run_s += known->wall_s / known->n;
    it->estimate->n_measured++;
    return;
  }
  if (asked->network == SIM_NETWORK_FLOW) {
    it->estimate->n_unknown++;
    return;
  }
  size = g_hash_table_lookup (it->sizes, name);
  if (size == NULL) {
    size = g_new0 (StudyBenchSize, 1);
    if (study_bench_measure (it->bench, run, size))
      it->estimate->run_s += size->read_s;
    else
      size->load_s = -1;
    g_hash_table_insert (it->sizes, g_steal_pointer (&name), size);
  }
  if (size->load_s < 0)
    it->estimate->n_unknown++;
  else
    it->estimate->run_s +=
        asked->network == SIM_NETWORK_LOAD ? size->load_s : size->packet_hops / rate;
}

gboolean
study_estimate (const StudyPlan *plan, const StudySessionOptions *options, const GArray *todo,
                StudyEstimate *estimate, GError **error)
{
  Estimation it = { .plan = plan,
                    .cases = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free),
                    .sizes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free),
                    .bench = study_bench_new (plan),
                    .estimate = estimate };
  struct rusage usage;
  gboolean is_read;

  *estimate = (StudyEstimate){ 0 };
  is_read = read_times (&it, options, error);
  for (guint i = 0; is_read && i < todo->len; i++)
    estimate_run (&it, g_array_index (todo, guint, i));
  if (getrusage (RUSAGE_SELF, &usage) == 0)
    estimate->peak_rss_bytes = MAX (estimate->peak_rss_bytes, (uint64_t) usage.ru_maxrss * 1024);
  study_bench_free (it.bench);
  g_hash_table_unref (it.sizes);
  g_hash_table_unref (it.cases);
  return is_read;
}
