/* worker_pool_test.c - processes that make jobs, and die over them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/session/worker_pool.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define N_JOBS 40

enum { KILLED = 1000, EXITS, SPENDS, HUGE_BLOCK, SLEEPS, TELLS_PID };

#define HUGE_BYTES 3000000

/* A job is its number squared, or one of the kinds above. */
static GBytes *
make (G_GNUC_UNUSED void *data, guint job, gboolean *spent)
{
  guint64 value = (guint64) job * job;

  if (job == KILLED)
    kill (getpid (), SIGKILL);
  if (job == EXITS)
    _exit (7);
  if (job == SLEEPS)
    g_usleep (600 * G_USEC_PER_SEC);
  if (job == HUGE_BLOCK)
    return g_bytes_new_take (g_malloc0 (HUGE_BYTES), HUGE_BYTES);
  if (job == TELLS_PID || job == SPENDS)
    value = (guint64) getpid ();
  *spent = job == SPENDS;
  return g_bytes_new (&value, sizeof value);
}

static StudyPool *
pool_new (guint n_workers)
{
  GError *error = NULL;
  StudyPool *pool = study_pool_new (n_workers, make, NULL, &error);

  g_assert_no_error (error);
  return pool;
}

static StudyPoolResult
take (StudyPool *pool)
{
  StudyPoolResult result = { 0 };
  GError *error = NULL;
  sigset_t mask;

  sigprocmask (SIG_SETMASK, NULL, &mask);
  for (;;)
    switch (pool->take (pool, 1000, &mask, &result, &error)) {
    case STUDY_POOL_RESULT: return result;
    case STUDY_POOL_NOTHING: break;
    case STUDY_POOL_ERROR: g_assert_no_error (error);
    }
}

static guint64
value_of (const StudyPoolResult *result)
{
  guint64 value;

  g_assert_nonnull (result->block);
  g_assert_cmpuint (g_bytes_get_size (result->block), ==, sizeof value);
  memcpy (&value, g_bytes_get_data (result->block, NULL), sizeof value);
  return value;
}

static void
give (StudyPool *pool, guint job)
{
  int worker = pool->idlest (pool);

  g_assert_cmpint (worker, >=, 0);
  pool->give (pool, (guint) worker, job);
}

/* Takes the result of a job, which is the square of its number. */
static void
assert_made (StudyPool *pool, guint job)
{
  StudyPoolResult result = take (pool);

  g_assert_cmpuint (result.job, ==, job);
  g_assert_cmpuint (value_of (&result), ==, (guint64) job * job);
  study_pool_result_clear (&result);
}

static void
assert_lost (StudyPool *pool, guint job, const char *how)
{
  StudyPoolResult result = take (pool);

  g_assert_cmpuint (result.job, ==, job);
  g_assert_null (result.block);
  g_assert_cmpstr (result.lost, ==, how);
  study_pool_result_clear (&result);
}

static StudyPoolResult
make_one (StudyPool *pool, guint job)
{
  StudyPoolResult result;

  give (pool, job);
  result = take (pool);
  g_assert_cmpuint (result.job, ==, job);
  return result;
}

static guint64
pid_of_worker (StudyPool *pool, guint job)
{
  StudyPoolResult result = make_one (pool, job);
  guint64 pid = value_of (&result);

  study_pool_result_clear (&result);
  return pid;
}

/* No worker outlives its pool. */
static void
free_pool (StudyPool *pool)
{
  study_pool_free (pool);
  g_assert_cmpint (waitpid (-1, NULL, WNOHANG), ==, -1);
  g_assert_cmpint (errno, ==, ECHILD);
}

typedef struct {
  guint seen[N_JOBS], n_most; /* results after which it ends */
} Seen;

static gboolean
see (void *data, const StudyPoolResult *result, guint n_done, GError **error)
{
  Seen *seen = data;
  guint n_seen = 0;

  if (result != NULL) {
    g_assert_cmpuint (result->job, <, N_JOBS);
    g_assert_cmpuint (value_of (result), ==, (guint64) result->job * result->job);
    g_assert_cmpuint (seen->seen[result->job]++, ==, 0);
  }
  for (guint job = 0; job < N_JOBS; job++)
    n_seen += seen->seen[job];
  g_assert_cmpuint (n_done, ==, n_seen);
  if (n_done < seen->n_most)
    return TRUE;
  g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_FAILED, "enough");
  return FALSE;
}

/* All, or until one that looks at the results has enough. */
static void
test_every_job_is_made_once (void)
{
  static const guint n_most[] = { N_JOBS + 1, 5, 0 };

  for (gsize at = 0; at < G_N_ELEMENTS (n_most); at++) {
    g_autoptr (GError) error = NULL;
    Seen seen = { .n_most = n_most[at] };
    guint n = 0;

    g_assert_true (study_pool_run (3, N_JOBS, make, see, &seen, &error) == (error == NULL));
    for (guint job = 0; job < N_JOBS; job++)
      n += seen.seen[job];
    g_assert_cmpuint (n, ==, MIN (n_most[at], N_JOBS));
    free_pool (NULL);
  }
}

static void
test_the_death_of_a_worker_is_told (void)
{
  static const struct {
    guint job;
    const char *how;
  } deaths[] = { { KILLED, "worker ended by signal 9" }, { EXITS, "worker ended with status 7" } };

  for (gsize at = 0; at < G_N_ELEMENTS (deaths); at++) {
    StudyPool *pool = pool_new (1);

    g_test_message ("%s", deaths[at].how);
    give (pool, deaths[at].job);
    assert_lost (pool, deaths[at].job, deaths[at].how);
    give (pool, 5); /* to its successor */
    assert_made (pool, 5);
    free_pool (pool);
  }
}

/* A quick job makes the worker one that gets a second job in advance. */
static void
test_jobs_behind_a_fatal_one_are_made (void)
{
  StudyPool *pool = pool_new (1);

  give (pool, 1);
  assert_made (pool, 1);
  give (pool, KILLED);
  give (pool, 6);
  g_assert_cmpint (pool->idlest (pool), ==, -1);
  assert_lost (pool, KILLED, "worker ended by signal 9");
  assert_made (pool, 6);
  free_pool (pool);
}

/* It is stopped before it can begin the second job, and then killed. */
static void
test_a_job_that_was_not_begun_is_not_lost (void)
{
  StudyPool *pool = pool_new (1);
  pid_t pid = (pid_t) pid_of_worker (pool, TELLS_PID);
  int status;

  kill (pid, SIGSTOP);
  g_assert_cmpint (waitpid (pid, &status, WUNTRACED), ==, pid);
  g_assert_true (WIFSTOPPED (status));
  give (pool, 6);
  kill (pid, SIGKILL);
  assert_made (pool, 6);
  free_pool (pool);
}

static void
test_a_spent_worker_is_replaced (void)
{
  StudyPool *pool = pool_new (1);
  guint64 pid = pid_of_worker (pool, TELLS_PID);

  g_assert_cmpuint (pid_of_worker (pool, SPENDS), ==, pid);
  g_assert_cmpuint (pid_of_worker (pool, TELLS_PID), !=, pid);
  free_pool (pool);
}

static void
test_blocks_larger_than_a_socket_holds (void)
{
  StudyPool *pool = pool_new (1);
  StudyPoolResult result = make_one (pool, HUGE_BLOCK);

  g_assert_cmpuint (g_bytes_get_size (result.block), ==, HUGE_BYTES);
  study_pool_result_clear (&result);
  free_pool (pool);
}

/* Freed while a job is in flight that would take ten minutes. */
static void
test_jobs_in_flight_are_dropped (void)
{
  StudyPool *pool = pool_new (2);

  give (pool, SLEEPS);
  give (pool, SLEEPS);
  g_assert_cmpint (pool->idlest (pool), ==, -1); /* they may take long: one each */
  free_pool (pool);
}

/* The master handles SIGTERM, which a batch system sends to all processes of a job. */
static void
test_signals_pass_workers (void)
{
  StudyPool *pool = pool_new (1);
  pid_t pid = (pid_t) pid_of_worker (pool, TELLS_PID);

  kill (pid, SIGTERM);
  kill (pid, SIGINT);
  g_assert_cmpuint (pid_of_worker (pool, TELLS_PID), ==, (guint64) pid);
  free_pool (pool);
}

static volatile sig_atomic_t signalled;

static void
note_signal (G_GNUC_UNUSED int signal_number)
{
  signalled = 1;
}

/* A signal that is blocked but for the waiting comes through there. */
static void
test_a_signal_ends_the_waiting (void)
{
  StudyPool *pool = pool_new (1);
  StudyPoolResult result;
  sigset_t blocked, before;
  gint64 begin_us = g_get_monotonic_time ();

  signal (SIGUSR1, note_signal);
  sigemptyset (&blocked);
  sigaddset (&blocked, SIGUSR1);
  sigprocmask (SIG_BLOCK, &blocked, &before);
  kill (getpid (), SIGUSR1);
  g_assert_false (signalled);
  g_assert_cmpint (pool->take (pool, 60000, &before, &result, NULL), ==, STUDY_POOL_NOTHING);
  g_assert_true (signalled);
  g_assert_cmpint (g_get_monotonic_time () - begin_us, <, 30 * G_USEC_PER_SEC);
  sigprocmask (SIG_SETMASK, &before, NULL);
  free_pool (pool);
}

/* Whether a pipe's other end closes within ten seconds. */
static gboolean
closes (int pipe_end)
{
  char byte;

  fcntl (pipe_end, F_SETFL, O_NONBLOCK);
  for (guint tenth = 0; tenth < 100; tenth++) {
    if (read (pipe_end, &byte, 1) == 0)
      return TRUE;
    g_usleep (G_USEC_PER_SEC / 10);
  }
  return FALSE;
}

/* The workers hold the standard streams only; one of them is a pipe here, and it
 * closes when they are all gone. */
static void
test_workers_die_with_their_master (void)
{
  int ends[2];
  pid_t master;

  g_assert_cmpint (pipe (ends), ==, 0);
  master = fork ();
  if (master == 0) {
    StudyPool *pool;

    dup2 (ends[1], STDOUT_FILENO);
    close (ends[0]);
    close (ends[1]);
    pool = study_pool_new (2, make, NULL, NULL);
    give (pool, SLEEPS);
    give (pool, SLEEPS);
    kill (getpid (), SIGKILL);
  }
  close (ends[1]);
  g_assert_cmpint (waitpid (master, NULL, 0), ==, master);
  g_assert_true (closes (ends[0]));
  close (ends[0]);
}

/* A descriptor of the master's, the store's say, is not kept by workers. */
static void
test_workers_keep_nothing_open (void)
{
  int ends[2];
  StudyPool *pool;

  g_assert_cmpint (pipe (ends), ==, 0);
  pool = pool_new (2);
  pid_of_worker (pool, TELLS_PID);
  pid_of_worker (pool, TELLS_PID);
  close (ends[1]);
  g_assert_true (closes (ends[0]));
  close (ends[0]);
  free_pool (pool);
}

static GBytes *
die (G_GNUC_UNUSED void *data, G_GNUC_UNUSED guint job, G_GNUC_UNUSED gboolean *spent)
{
  _exit (1);
}

/* Every run of a study may be too large for the machine; each is lost, and none is
 * tried again. */
static void
test_workers_that_always_die (void)
{
  StudyPool *pool = study_pool_new (2, die, NULL, NULL);

  for (guint job = 0; job < N_JOBS; job++) {
    give (pool, job);
    assert_lost (pool, job, "worker ended with status 1");
  }
  free_pool (pool);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/study/workers/once", test_every_job_is_made_once);
  g_test_add_func ("/study/workers/death", test_the_death_of_a_worker_is_told);
  g_test_add_func ("/study/workers/behind", test_jobs_behind_a_fatal_one_are_made);
  g_test_add_func ("/study/workers/not-begun", test_a_job_that_was_not_begun_is_not_lost);
  g_test_add_func ("/study/workers/spent", test_a_spent_worker_is_replaced);
  g_test_add_func ("/study/workers/huge", test_blocks_larger_than_a_socket_holds);
  g_test_add_func ("/study/workers/dropped", test_jobs_in_flight_are_dropped);
  g_test_add_func ("/study/workers/signals", test_signals_pass_workers);
  g_test_add_func ("/study/workers/waiting", test_a_signal_ends_the_waiting);
  g_test_add_func ("/study/workers/master-dies", test_workers_die_with_their_master);
  g_test_add_func ("/study/workers/open", test_workers_keep_nothing_open);
  g_test_add_func ("/study/workers/always-die", test_workers_that_always_die);
  return g_test_run ();
}
