/* session_test.c - studies that are made whole, in parts, and after trouble.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/session/session.h"
#include "study/store/store_fixture.h"

#include <glib/gstdio.h>
#include <string.h>

/* Twelve runs, one of which is another one by a second name. */
#define STUDY                                                                         \
  "[traces]\ntrace = gen:halo2d:iterations=2,grid=4x4,bytes={bytes}\n"                \
  "[machines]\nmachine = torus:4x4\n[mappings]\nmapping = ABT;BAT;same.map\n[runs]\n" \
  "network = packet;load\n[bytes]\nvalues = 64;4096\n"
#define N_RUNS     12
#define N_DISTINCT 8

static char *folder;

static char *
in_folder (const char *name)
{
  return g_build_filename (folder, name, NULL);
}

/* ABT on a torus of 4 x 4 by another name. */
static void
write_map (void)
{
  g_autofree char *path = in_folder ("same.map");
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint rank = 0; rank < 16; rank++)
    g_string_append_printf (text, "%u %u 0\n", rank / 4, rank % 4);
  g_assert_true (g_file_set_contents (path, text->str, -1, NULL));
}

static StudyPlan *
plan_new (void)
{
  write_map ();
  return fixture_plan (folder, STUDY);
}

static void
run_with (const StudyPlan *plan, const StudyPoolKind *maker, const StudySessionOptions *options,
          StudyTally *tally)
{
  g_autoptr (GError) error = NULL;

  study_tally_clear (tally);
  study_session_run (plan, maker, options, tally, &error);
  g_assert_no_error (error);
}

static void
run (const StudyPlan *plan, const StudySessionOptions *options, StudyTally *tally)
{
  run_with (plan, &study_pool_of_processes, options, tally);
}

/* "mapping network time" of each run that the store has, in the study's order. */
static char *
listing (const char *store_path)
{
  g_autoptr (StudyStore) store = fixture_open (store_path, STUDY_STORE_READ);
  g_autoptr (GPtrArray) rows = study_store_rows (store, FALSE, NULL);
  GString *text = g_string_new (NULL);

  for (guint at = 0; at < rows->len; at++) {
    const StudyRow *row = g_ptr_array_index (rows, at);

    g_string_append_printf (text, "%s %s %s %s %g %s\n", row->trace, row->mapping, row->network,
                            row->status == STUDY_DONE ? "done" : "failed", row->time_s,
                            row->error != NULL ? row->error : "");
  }
  return g_string_free (text, FALSE);
}

static guint
count_lines (const char *text)
{
  guint n = 0;

  for (; *text != '\0'; text++)
    n += *text == '\n';
  return n;
}

static void
test_every_run_once (void)
{
  g_autoptr (StudyPlan) plan = plan_new ();
  g_autofree char *path = in_folder ("once.store");
  const StudySessionOptions options = { .store_path = path };
  g_auto (StudyTally) tally = { 0 };
  g_autofree char *first = NULL, *second = NULL;

  run (plan, &options, &tally);
  g_assert_cmpuint (tally.n_runs, ==, N_DISTINCT);
  g_assert_cmpuint (tally.n_done, ==, N_DISTINCT);
  g_assert_cmpuint (tally.n_failed + tally.n_there, ==, 0);
  first = listing (path);
  g_assert_cmpuint (count_lines (first), ==, N_RUNS);
  run (plan, &options, &tally);
  g_assert_cmpuint (tally.n_there, ==, N_DISTINCT);
  g_assert_cmpuint (tally.n_done, ==, 0);
  second = listing (path);
  g_assert_cmpstr (first, ==, second);
}

/* The contents that rows name are there: machine, places, edges. */
static void
test_what_rows_name_is_kept (void)
{
  g_autoptr (StudyPlan) plan = plan_new ();
  g_autofree char *path = in_folder ("named.store");
  const StudySessionOptions options = { .store_path = path };
  g_auto (StudyTally) tally = { 0 };
  g_autoptr (StudyStore) store = NULL;
  g_autoptr (GPtrArray) rows = NULL;

  run (plan, &options, &tally);
  store = fixture_open (path, STUDY_STORE_READ);
  rows = study_store_rows (store, FALSE, NULL);
  for (guint at = 0; at < rows->len; at++) {
    const StudyRow *row = g_ptr_array_index (rows, at);
    g_autoptr (TopoMachine) machine = study_store_machine (store, row, NULL);
    g_autoptr (TopoMapping) mapping = study_store_placement (store, row, NULL);
    uint64_t n_edges;
    g_autofree SimEdge *edges =
        study_store_edges (store, row->trace_hash, row->ranks, &n_edges, NULL);

    g_assert_nonnull (machine);
    g_assert_nonnull (mapping);
    g_assert_cmpuint (mapping->n_ranks, ==, 16);
    g_assert_cmpuint (n_edges, ==, 16 * 4);
    g_assert_cmpuint (edges[0].source, ==, 0);
  }
}

static void
test_shards_are_the_whole (void)
{
  g_autoptr (StudyPlan) plan = plan_new ();
  g_autofree char *whole_path = in_folder ("all.store"), *merged_path = in_folder ("merged.store");
  StudySessionOptions options = { .store_path = whole_path };
  g_auto (StudyTally) tally = { 0 };
  g_autofree char *whole = NULL, *merged = NULL;
  g_autoptr (StudyStore) store = fixture_open (merged_path, STUDY_STORE_CREATE);
  guint n_done = 0;

  run (plan, &options, &tally);
  whole = listing (whole_path);
  for (guint shard = 1; shard <= 3; shard++) {
    g_autofree char *path = NULL;
    g_autoptr (GError) error = NULL;

    options = (StudySessionOptions){ .shard = shard, .n_shards = 3 };
    run (plan, &options, &tally);
    n_done += tally.n_done;
    path = study_session_store_path (plan, &options);
    study_store_merge (store, path, &error);
    g_assert_no_error (error);
  }
  g_assert_cmpuint (n_done, ==, N_DISTINCT);
  g_clear_pointer (&store, study_store_free);
  merged = listing (merged_path);
  g_assert_cmpstr (merged, ==, whole);
}

static void
test_names_of_shards (void)
{
  g_autoptr (StudyPlan) plan = plan_new ();
  const StudySessionOptions whole = { 0 }, shard = { .shard = 2, .n_shards = 10 };
  g_autofree char *whole_path = study_session_store_path (plan, &whole);
  g_autofree char *shard_path = study_session_store_path (plan, &shard);

  g_assert_true (g_str_has_suffix (whole_path, "/a.store"));
  g_assert_true (g_str_has_suffix (shard_path, "/a.2of10.store"));
}

static void
raise_once (void *data, const StudyTally *tally)
{
  gboolean *raised = data;

  if (!*raised && tally->signal == 0)
    raise (SIGTERM);
  *raised = TRUE;
}

/* The signal waits until the session does. */
static void
test_a_signal_ends_it_in_order (void)
{
  g_autoptr (StudyPlan) plan = plan_new ();
  g_autofree char *path = in_folder ("signal.store"), *once = in_folder ("once.store");
  gboolean raised = FALSE;
  StudySessionOptions options = {
    .store_path = path, .n_workers = 1, .progress = raise_once, .progress_data = &raised
  };
  g_auto (StudyTally) tally = { 0 };
  guint n_first;
  g_autofree char *found = NULL, *expected = NULL;

  run (plan, &options, &tally);
  g_assert_cmpint (tally.signal, ==, SIGTERM);
  g_assert_cmpuint (tally.n_done, <, N_DISTINCT);
  n_first = tally.n_done;
  run (plan, &options, &tally);
  g_assert_cmpint (tally.signal, ==, 0);
  g_assert_cmpuint (tally.n_there, ==, n_first);
  g_assert_cmpuint (tally.n_done, ==, N_DISTINCT - n_first);
  options.store_path = once;
  run (plan, &options, &tally);
  found = listing (path);
  expected = listing (once);
  g_assert_cmpstr (found, ==, expected);
}

/* --- A pool with a fault --- */

typedef struct {
  StudyPool pool;
  GArray *jobs; /* (element-type guint) given, the last one is made first */
  StudyJobFunction make;
  void *data;
} OddPool;

static enum { NOTHING, LOSES, SENDS_RUBBISH, FAILS } oddity;

static int
odd_idlest (StudyPool *pool)
{
  return ((OddPool *) pool)->jobs->len < 3 ? 0 : -1;
}

static void
odd_give (StudyPool *pool, G_GNUC_UNUSED guint worker, guint job)
{
  g_array_append_val (((OddPool *) pool)->jobs, job);
}

/* Run 3 of the plan is the odd one. */
static StudyPoolTaken
odd_take (StudyPool *base, G_GNUC_UNUSED gint timeout_ms, G_GNUC_UNUSED const sigset_t *mask,
          StudyPoolResult *result, GError **error)
{
  OddPool *pool = (OddPool *) base;
  gboolean spent = FALSE;
  guint job;

  if (pool->jobs->len == 0)
    return STUDY_POOL_NOTHING;
  job = g_array_index (pool->jobs, guint, pool->jobs->len - 1);
  g_array_set_size (pool->jobs, pool->jobs->len - 1);
  *result = (StudyPoolResult){ .job = job };
  if (job != 3 || oddity == NOTHING)
    result->block = pool->make (pool->data, job, &spent);
  else if (oddity == LOSES)
    result->lost = g_strdup ("worker ended by signal 11");
  else if (oddity == SENDS_RUBBISH)
    result->block = g_bytes_new_static ("rubbish", 7);
  else {
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_WORKER, "nobody is left");
    return STUDY_POOL_ERROR;
  }
  return STUDY_POOL_RESULT;
}

static void
odd_free (StudyPool *base)
{
  g_array_unref (((OddPool *) base)->jobs);
  g_free (base);
}

static StudyPool *
odd_new (guint n_workers, StudyJobFunction make, void *data, G_GNUC_UNUSED GError **error)
{
  OddPool *pool = g_new0 (OddPool, 1);

  pool->pool = (StudyPool){ MAX (1, n_workers), odd_idlest, odd_give, odd_take, odd_free };
  pool->jobs = g_array_new (FALSE, FALSE, sizeof (guint));
  pool->make = make;
  pool->data = data;
  return &pool->pool;
}

static const StudyPoolKind odd_pool = { .pool_new = odd_new };

/* The run is failed, stays so, and is made when asked for. */
static void
test_a_lost_run (void)
{
  g_autoptr (StudyPlan) plan = plan_new ();
  g_autofree char *path = in_folder ("lost.store");
  StudySessionOptions options = { .store_path = path };
  g_auto (StudyTally) tally = { 0 };
  g_autofree char *found = NULL;

  oddity = LOSES;
  run_with (plan, &odd_pool, &options, &tally);
  g_assert_cmpuint (tally.n_done, ==, N_DISTINCT - 1);
  g_assert_cmpuint (tally.n_failed, ==, 1);
  g_assert_cmpstr (tally.first_error, ==, "worker ended by signal 11");
  found = listing (path);
  g_assert_nonnull (strstr (found, "failed nan worker ended by signal 11"));
  run (plan, &options, &tally);
  g_assert_cmpuint (tally.n_there, ==, N_DISTINCT);
  g_assert_cmpuint (tally.n_failed_before, ==, 1);
  options.retry_failed = TRUE;
  run (plan, &options, &tally);
  g_assert_cmpuint (tally.n_there, ==, N_DISTINCT - 1);
  g_assert_cmpuint (tally.n_done, ==, 1);
  g_assert_cmpuint (tally.n_failed_before, ==, 0);
}

/* Whatever ends the pool, its results until then are stored. */
static void
check_broken_pool (int which, const char *store, const char *says)
{
  g_autoptr (StudyPlan) plan = plan_new ();
  g_autofree char *path = in_folder (store);
  const StudySessionOptions options = { .store_path = path };
  g_auto (StudyTally) tally = { 0 };
  g_autoptr (GError) error = NULL;
  g_autofree char *found = NULL;

  oddity = which;
  g_assert_false (study_session_run (plan, &odd_pool, &options, &tally, &error));
  g_assert_error (error, STUDY_ERROR, STUDY_ERROR_WORKER);
  g_assert_nonnull (strstr (error->message, says));
  g_assert_cmpuint (tally.n_done, >, 0);
  found = listing (path);
  g_assert_cmpuint (count_lines (found), >=, tally.n_done);
}

static void
test_a_pool_that_breaks (void)
{
  check_broken_pool (SENDS_RUBBISH, "rubbish.store", "an invalid result");
  check_broken_pool (FAILS, "fails.store", "nobody is left");
}

/* --- Without running --- */

static void
test_the_rest_is_estimated (void)
{
  g_autoptr (StudyPlan) plan = plan_new ();
  g_autofree char *path = in_folder ("estimate.store");
  const StudySessionOptions options = { .store_path = path };
  g_auto (StudyTally) tally = { 0 };
  g_autoptr (GArray) todo = study_session_todo (plan, &options, &tally, NULL);
  StudyEstimate estimate;

  g_assert_cmpuint (todo->len, ==, N_DISTINCT);
  g_assert_true (study_estimate (plan, &options, todo, &estimate, NULL));
  g_assert_cmpuint (estimate.n_unknown + estimate.n_measured, ==, 0);
  g_assert_cmpfloat (estimate.run_s, >, 0);
  g_assert_cmpuint (estimate.peak_rss_bytes, >, 1000000);
  g_assert_false (g_file_test (path, G_FILE_TEST_EXISTS));
}

/* A run is estimated from other runs of its case. */
static void
test_the_store_knows_better (void)
{
  g_autoptr (StudyPlan) plan = plan_new ();
  g_autofree char *path = in_folder ("known.store");
  const StudySessionOptions options = { .store_path = path };
  g_auto (StudyTally) tally = { 0 };
  g_autoptr (GArray) all = g_array_new (FALSE, FALSE, sizeof (guint));
  StudyEstimate estimate;

  run (plan, &options, &tally);
  for (guint i = 0; i < plan->runs->len; i++)
    g_array_append_val (all, i);
  g_assert_true (study_estimate (plan, &options, all, &estimate, NULL));
  g_assert_cmpuint (estimate.n_measured, ==, N_RUNS);
  /* Two of three mappings are there once, and count for the third. */
  g_assert_cmpfloat (estimate.run_s, >, 0.5 * tally.wall_s);
  g_assert_cmpfloat (estimate.run_s, <, 3 * tally.wall_s);
}

/* Messages of 8,192 packets. */
static StudyPlan *
shrunk_plan (const char *shrink)
{
  g_autofree char *text =
      g_strdup_printf ("[traces]\ntrace = gen:halo2d:iterations=1,grid=4x4,bytes=4194304\n"
                       "[machines]\nmachine = torus:4x4\n[mappings]\nmapping = ABT;BAT\n"
                       "[runs]\nnetwork = packet\nshrink = %s\n",
                       shrink);

  return fixture_plan (folder, text);
}

/* An estimate of all runs of a plan that has these settings. */
static StudyEstimate
estimate_shrunk (const char *shrink, const char *store_path)
{
  g_autoptr (StudyPlan) plan = shrunk_plan (shrink);
  const StudySessionOptions options = { .store_path = store_path };
  g_autoptr (GArray) all = g_array_new (FALSE, FALSE, sizeof (guint));
  StudyEstimate estimate;

  for (guint i = 0; i < plan->runs->len; i++)
    g_array_append_val (all, i);
  g_assert_true (study_estimate (plan, &options, all, &estimate, NULL));
  g_assert_cmpuint (estimate.n_unknown, ==, 0);
  return estimate;
}

/* Without runs by the packets that are left, and the time to read the trace, some milliseconds beside
 * 0.7 s of all packets.  Runs with another setting are of another case. */
static void
test_shrunk_runs_are_estimated (void)
{
  static const struct {
    const char *shrink;
    double factor;
  } cases[] = { { "8", 8 }, { "auto", 8 }, { "2", 2 }, { "16384", 1 } };
  g_autofree char *none = in_folder ("none.store"), *path = in_folder ("shrunk.store");
  const StudySessionOptions options = { .store_path = path };
  double exact_s = estimate_shrunk ("off", none).run_s;
  g_autoptr (StudyPlan) plan = shrunk_plan ("off");
  g_auto (StudyTally) tally = { 0 };
  StudyEstimate both;

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    double run_s = estimate_shrunk (cases[i].shrink, none).run_s;

    g_test_message ("shrink %s: %g s, exactly %g s", cases[i].shrink, run_s, exact_s);
    g_assert_cmpfloat (run_s, >, exact_s / cases[i].factor / 1.25);
    g_assert_cmpfloat (run_s, <, exact_s / cases[i].factor * 1.25 + 0.05);
  }
  run (plan, &options, &tally);
  g_assert_cmpuint (estimate_shrunk ("off", path).n_measured, ==, 2);
  g_assert_cmpuint (estimate_shrunk ("8", path).n_measured, ==, 0);
  both = estimate_shrunk ("off;8", path);
  g_assert_cmpuint (both.n_measured, ==, 2);
  g_assert_cmpfloat (both.run_s, <, 1.5 * estimate_shrunk ("off", path).run_s);
}

/* --- The order of jobs --- */

/* Two traces on two machines, each with three mappings: groups 0 to 3 of runs 0 to 2, 3 to 5, 6 to 8,
 * 9 to 11, and before groups 0 and 2 the edges of their trace (E). */
#define FOUR_GROUPS                                                    \
  "[traces]\ntrace = gen:halo2d:iterations=1,grid=4x4,bytes={bytes}\n" \
  "[machines]\nmachine = torus:4x4;torus:2x8\n"                        \
  "[mappings]\nmapping = ABT;BAT;random(1)\n[bytes]\nvalues = 64;4096\n"
#define E 12

/* The workers that ask, one after the other, and what they get. */
static const struct {
  guint worker, job;
} asked[] = {
  { 0, E + 0 }, { 1, 3 },  { 1, 4 },  /* each its own group, and stays with it */
  { 2, E + 6 },                       /* a fresh group before help */
  { 3, 9 },     { 1, 5 },  { 1, 0 },  /* help where most is left: 3, 0, 3, 2, of these the first */
  { 0, 1 },     { 3, 10 }, { 1, 2 },  /* a helper stays too */
  { 0, 6 },     { 1, 7 },  { 3, 11 }, /* 0, 0, 3, 1 are left */
  { 3, 8 },
};

static guint n_asked;

static int
asking_worker (G_GNUC_UNUSED StudyPool *pool)
{
  return n_asked < G_N_ELEMENTS (asked) ? (int) asked[n_asked].worker : -1;
}

static void
check_job (StudyPool *pool, guint worker, guint job)
{
  g_assert_cmpuint (worker, ==, asked[n_asked].worker);
  g_assert_cmpuint (job, ==, asked[n_asked].job);
  n_asked++;
  odd_give (pool, worker, job);
}

static StudyPool *
asking_new (guint n_workers, StudyJobFunction make, void *data, GError **error)
{
  StudyPool *pool = odd_new (n_workers, make, data, error);

  pool->idlest = asking_worker;
  pool->give = check_job;
  return pool;
}

static void
test_the_order_of_jobs (void)
{
  static const StudyPoolKind asking_pool = { .pool_new = asking_new };
  g_autoptr (StudyPlan) plan = fixture_plan (folder, FOUR_GROUPS);
  g_autofree char *path = in_folder ("order.store");
  const StudySessionOptions options = { .store_path = path, .n_workers = 4 };
  g_auto (StudyTally) tally = { 0 };

  oddity = NOTHING;
  run_with (plan, &asking_pool, &options, &tally);
  g_assert_cmpuint (n_asked, ==, G_N_ELEMENTS (asked));
  g_assert_cmpuint (tally.n_done, ==, 12);
}

/* --- Races --- */

/* 20 orders of 5 dimensions are screened; long messages, short ones, and the load network, whose runs
 * are all made. */
#define RACE                                                                                         \
  "[traces]\ntrace = gen:halo2d:ranks=32,bytes={bytes},iterations=1\n[machines]\nmachine = bgq:32\n" \
  "[mappings]\nmapping = ABCDET;BACDET;random({seed});random(2);random(3);random(4);random(5);"      \
  "random(6);random(7);random(8);random(9);random(10);random(11);random(12);random(13);EDCBAT;"      \
  "ECDBAT;DABCET;random(14);random(15)\n[runs]\nnetwork = packet;load\nreplicas = 3\n"               \
  "jitter = 1 us\nseed = 20\n[bytes]\nvalues = 64;16K\n"

static StudyPlan *
race_plan (const char *text)
{
  g_autofree char *path = in_folder ("race.study");
  g_autoptr (GError) error = NULL;
  StudyPlan *plan;

  fixture_write (folder, "race.study", text);
  plan = study_plan_load (path, &error);
  g_assert_no_error (error);
  plan->is_raced = TRUE;
  study_plan_resolve (plan, NULL, NULL, &error);
  g_assert_no_error (error);
  return plan;
}

/* The races of a store, a line for each mapping. */
static char *
race_listing (const char *store_path)
{
  g_autoptr (StudyStore) store = fixture_open (store_path, STUDY_STORE_READ);
  g_autoptr (GPtrArray) rows = study_store_race (store, NULL);
  GString *text = g_string_new (NULL);

  g_assert_nonnull (rows);
  for (guint at = 0; at < rows->len; at++) {
    const StudyRaceRow *row = g_ptr_array_index (rows, at);

    g_string_append_printf (text, "%u %s %s %s %u %a %a %a\n", row->number, row->trace,
                            row->mapping, row->outcome, row->n_draws, row->time_s, row->behind,
                            row->margin);
  }
  return g_string_free (text, FALSE);
}

static void
test_race (void)
{
  g_autoptr (StudyPlan) plan = race_plan (RACE);
  g_autofree char *path = in_folder ("race.store");
  StudySessionOptions options = {
    .store_path = path, .race_best = 1, .confidence = .95, .n_workers = 1
  };
  g_auto (StudyTally) tally = { 0 }, again = { 0 };
  g_autofree char *first = NULL, *second = NULL, *third = NULL;
  g_autoptr (StudyStore) store = NULL;
  g_autoptr (GPtrArray) rows = NULL, race = NULL;
  guint n_made = 0;

  g_assert_cmpuint (plan->n_listed, ==, 2 * 20 * (3 + 1));
  /* Every mapping has a shrunk and a load run for either size. */
  g_assert_cmpuint (plan->runs->len - plan->n_listed, ==, 2 * 20 * 2);
  run (plan, &options, &tally);
  g_assert_cmpuint (tally.n_failed + tally.n_there, ==, 0);
  g_assert_cmpuint (tally.n_races, ==, 2);
  g_assert_cmpuint (tally.n_over, ==, 2);
  g_assert_cmpuint (tally.n_runs, <, plan->runs->len);
  first = race_listing (path);
  g_assert_cmpuint (count_lines (first), ==, 40);

  /* All runs of the load network are there; of the winner there are at least two draws. */
  store = fixture_open (path, STUDY_STORE_READ);
  rows = study_store_rows (store, FALSE, NULL);
  race = study_store_race (store, NULL);
  for (guint i = 0; i < rows->len; i++)
    n_made += strcmp (((StudyRow *) rows->pdata[i])->network, "load") == 0;
  g_assert_cmpuint (n_made, ==, 40);
  g_assert_cmpstr (((StudyRaceRow *) race->pdata[0])->outcome, ==, "best");
  g_assert_cmpuint (((StudyRaceRow *) race->pdata[0])->n_draws, >=, 2);
  g_clear_pointer (&store, study_store_free);

  /* Again: nothing is left to do, and the outcome is the same; with several workers too. */
  run (plan, &options, &again);
  g_assert_cmpuint (again.n_done, ==, 0);
  g_assert_cmpuint (again.n_there, ==, tally.n_runs);
  second = race_listing (path);
  g_assert_cmpstr (first, ==, second);
  g_unlink (path);
  options.n_workers = 3;
  run (plan, &options, &again);
  third = race_listing (path);
  g_assert_cmpstr (first, ==, third);
}

static void
raise_late (G_GNUC_UNUSED void *data, const StudyTally *tally)
{
  if (tally->n_done > 50 && tally->signal == 0)
    raise (SIGTERM);
}

/* A race that was ended early leaves no outcome of itself, and goes on from its runs. */
static void
test_race_goes_on (void)
{
  g_autoptr (StudyPlan) plan = race_plan (RACE);
  g_autofree char *whole = in_folder ("whole-race.store"), *parts = in_folder ("parts-race.store");
  StudySessionOptions options = { .store_path = whole, .race_best = 2, .confidence = .9 };
  g_auto (StudyTally) tally = { 0 }, stopped = { 0 };
  g_autofree char *first = NULL, *second = NULL;

  run (plan, &options, &tally);
  first = race_listing (whole);
  options.store_path = parts;
  options.n_workers = 1;
  options.progress = raise_late;
  run (plan, &options, &stopped);
  g_assert_cmpint (stopped.signal, !=, 0);
  options.progress = NULL;
  run (plan, &options, &stopped);
  g_assert_cmpuint (stopped.n_there, >, 0);
  g_assert_cmpuint (stopped.n_done, >, 0);
  second = race_listing (parts);
  g_assert_cmpstr (first, ==, second);

  /* The same study without a race makes what is missing, and its store has no race. */
  plan->is_raced = FALSE;
  options.race_best = 0;
  run (plan, &options, &stopped);
  g_free (second);
  second = race_listing (parts);
  g_assert_cmpstr (second, ==, "");
}

/* A mapping that cannot be made fails and is last; one of other seeds cannot race. */
static void
test_race_of_odd_mappings (void)
{
  static const char *const text =
      "[traces]\ntrace = gen:halo2d:ranks=32,bytes=16K,iterations=1\n[machines]\nmachine = bgq:32\n"
      "[mappings]\nmapping = ABCDET;none.map;ABCDET\n[runs]\nreplicas = 2\njitter = 1 us\n";
  static const char *const seeds =
      "[traces]\ntrace = gen:halo2d:ranks=32,bytes=16K,iterations=1\n[machines]\nmachine = bgq:32\n"
      "[mappings]\nmapping = ABCDET;random({seed})\n[runs]\nrepetitions = 2\njitter = 1 us\n";
  g_autoptr (StudyPlan) plan = race_plan (text), other = race_plan (seeds);
  g_autofree char *path = in_folder ("odd-race.store"), *listing = NULL;
  const StudySessionOptions options = { .store_path = path, .race_best = 1, .confidence = .95 };
  g_auto (StudyTally) tally = { 0 };
  g_autoptr (GError) error = NULL;
  g_auto (GStrv) lines = NULL;

  run (plan, &options, &tally);
  listing = race_listing (path);
  lines = g_strsplit (listing, "\n", -1);
  g_assert_cmpuint (count_lines (listing), ==, 2);
  g_assert_nonnull (strstr (lines[0], " ABCDET best "));
  g_assert_nonnull (strstr (lines[1], " none.map failed "));
  g_assert_false (study_session_run (other, &study_pool_of_processes, &options, &tally, &error));
  g_assert_error (error, STUDY_ERROR, STUDY_ERROR_INPUT);
  g_assert_nonnull (strstr (error->message, "random"));
}

/* --- A plan without a file, whose runs are chosen --- */

typedef struct {
  guint n_asked;
  GString *told; /* runs in the order in which they ended, and their times */
} Choices;

/* Run 2, and then run 0. */
static GArray *
choose_two (void *data)
{
  static const guint order[] = { 2, 0 };
  Choices *choices = data;
  GArray *wanted = g_array_new (FALSE, FALSE, sizeof (guint));

  if (choices->n_asked < G_N_ELEMENTS (order) && choices->n_asked <= choices->told->len)
    g_array_append_val (wanted, order[choices->n_asked++]);
  return wanted;
}

static void
take_choice (void *data, guint run, const StudyRow *row)
{
  Choices *choices = data;

  g_assert_cmpint (row->status, ==, STUDY_DONE);
  g_assert_cmpfloat (row->time_s, >, 0);
  g_string_append_printf (choices->told, "%u", run);
}

static void
count_choices (void *data, guint *n_races, guint *n_over)
{
  const Choices *choices = data;

  *n_races = 2;
  *n_over = (guint) choices->told->len;
}

static void
test_chooser (void)
{
  static const StudyChooser chooser = { choose_two, take_choice, count_choices };
  static const char *const orders[] = { "ABT", "BAT" };
  g_autofree char *path = in_folder ("chosen.store"), *late = in_folder ("late.store");
  g_autoptr (TopoMachine) machine = topo_machine_new ("torus:4x4", NULL);
  g_autoptr (RoutePaths) paths = route_paths_new (machine, NULL);
  g_autoptr (Trace) trace = trace_open ("gen:halo2d:iterations=2,grid=4x4,bytes=64", NULL, NULL);
  const TraceOptions options = { 0 };
  TopoMachine slower = *machine;
  g_autoptr (GError) error = NULL;
  g_autoptr (StudyPlan) plan = study_plan_new ("chosen", "no file");
  g_autoptr (GString) told = g_string_new (NULL);
  Choices choices = { 0, told };
  StudySessionOptions session = {
    .store_path = path, .n_workers = 1, .chooser = &chooser, .chooser_data = &choices
  };
  StudyPlanRun pattern = { .network = SIM_NETWORK_PACKET, .compute_scale = 1 };
  g_auto (StudyTally) tally = { 0 };
  g_autofree char *rows = NULL;

  pattern.trace = study_plan_add_trace (plan, "halo", &options, trace, &error);
  g_assert_no_error (error);
  pattern.machine = study_plan_add_machine (plan, "as it is", machine);
  for (guint at = 0; at < 2; at++) {
    g_autoptr (TopoMapping) mapping = topo_mapping_new (orders[at], machine, 16, NULL);

    g_assert_cmpuint (study_plan_add_run (plan, &pattern, mapping, paths), ==, at);
  }
  /* The third run is on another machine, which changes its key, and is not listed. */
  slower.parameters.link.bandwidth_Bps /= 2;
  pattern.machine = study_plan_add_machine (plan, "slower", &slower);
  pattern.role = STUDY_RUN_OTHER;
  {
    g_autoptr (TopoMapping) mapping = topo_mapping_new (orders[0], machine, 16, NULL);

    g_assert_cmpuint (study_plan_add_run (plan, &pattern, mapping, paths), ==, 2);
  }
  g_assert_cmpuint (plan->n_listed, ==, 2);
  g_assert_cmpstr (((StudyPlanRun *) plan->runs->pdata[0])->key, !=,
                   ((StudyPlanRun *) plan->runs->pdata[2])->key);
  run (plan, &session, &tally);
  g_assert_cmpstr (told->str, ==, "20");
  g_assert_cmpuint (tally.n_done, ==, 2);
  g_assert_cmpuint (tally.n_races, ==, 2);
  g_assert_cmpuint (tally.n_over, ==, 2);
  rows = listing (path);
  g_assert_true (g_str_has_prefix (rows, "halo ABT packet done "));
  g_assert_cmpuint (count_lines (rows), ==, 1);

  /* The store has them: they are told, and none is made. */
  g_string_truncate (told, 0);
  choices.n_asked = 0;
  run (plan, &session, &tally);
  g_assert_cmpstr (told->str, ==, "20");
  g_assert_cmpuint (tally.n_done, ==, 0);
  g_assert_cmpuint (tally.n_there, ==, 2);

  /* After the deadline nothing is begun. */
  g_string_truncate (told, 0);
  choices.n_asked = 0;
  session.store_path = late;
  session.deadline_us = 1;
  run (plan, &session, &tally);
  g_assert_cmpuint (tally.n_done, ==, 0);
  g_assert_cmpint (tally.signal, ==, 0);
}

int
main (int argc, char **argv)
{
  int status;

  g_test_init (&argc, &argv, NULL);
  folder = fixture_folder ();
  g_test_add_func ("/study/session/once", test_every_run_once);
  g_test_add_func ("/study/session/named", test_what_rows_name_is_kept);
  g_test_add_func ("/study/session/shards", test_shards_are_the_whole);
  g_test_add_func ("/study/session/shard-names", test_names_of_shards);
  g_test_add_func ("/study/session/signal", test_a_signal_ends_it_in_order);
  g_test_add_func ("/study/session/lost", test_a_lost_run);
  g_test_add_func ("/study/session/broken-pool", test_a_pool_that_breaks);
  g_test_add_func ("/study/session/estimate", test_the_rest_is_estimated);
  g_test_add_func ("/study/session/estimate-known", test_the_store_knows_better);
  g_test_add_func ("/study/session/estimate-shrunk", test_shrunk_runs_are_estimated);
  g_test_add_func ("/study/session/order", test_the_order_of_jobs);
  g_test_add_func ("/study/session/race", test_race);
  g_test_add_func ("/study/session/race-goes-on", test_race_goes_on);
  g_test_add_func ("/study/session/race-of-odd-mappings", test_race_of_odd_mappings);
  g_test_add_func ("/study/session/chooser", test_chooser);
  status = g_test_run ();
  fixture_remove (folder);
  return status;
}
