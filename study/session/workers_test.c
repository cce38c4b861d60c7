/* workers_test.c - processes that make jobs, and die over them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/session/crew.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define N_JOBS 40

enum { KILLED = 1000, EXITS, SPENDS, HUGE_BLOCK, SLEEPS, TELLS_PID };

#define HUGE_BYTES 3000000

/* What a job is: itself squared, or one of the kinds above. */
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

static StudyCrew *
crew_new (guint n_workers)
{
  GError *error = NULL;
  StudyCrew *crew = study_workers_new (n_workers, make, NULL, &error);

  g_assert_no_error (error);
  return crew;
}

static StudyCrewResult
take (StudyCrew *crew)
{
  StudyCrewResult result = { 0 };
  GError *error = NULL;
  sigset_t mask;

  sigprocmask (SIG_SETMASK, NULL, &mask);
  for (;;)
    switch (crew->take (crew, 1000, &mask, &result, &error)) {
    case STUDY_CREW_RESULT: return result;
    case STUDY_CREW_NOTHING: break;
    case STUDY_CREW_ERROR: g_assert_no_error (error);
    }
}

static guint64
value_of (const StudyCrewResult *result)
{
  guint64 value;

  g_assert_nonnull (result->block);
  g_assert_cmpuint (g_bytes_get_size (result->block), ==, sizeof value);
  memcpy (&value, g_bytes_get_data (result->block, NULL), sizeof value);
  return value;
}

static void
give (StudyCrew *crew, guint job)
{
  int worker = crew->idlest (crew);

  g_assert_cmpint (worker, >=, 0);
  crew->give (crew, (guint) worker, job);
}

/* The result of one job, for itself. */
static StudyCrewResult
make_one (StudyCrew *crew, guint job)
{
  StudyCrewResult result;

  give (crew, job);
  result = take (crew);
  g_assert_cmpuint (result.job, ==, job);
  return result;
}

static guint64
pid_of_worker (StudyCrew *crew, guint job)
{
  StudyCrewResult result = make_one (crew, job);
  guint64 pid = value_of (&result);

  study_crew_result_clear (&result);
  return pid;
}

static void
assert_no_children (void)
{
  g_assert_cmpint (waitpid (-1, NULL, WNOHANG), ==, -1);
  g_assert_cmpint (errno, ==, ECHILD);
}

/* Hands out the first n jobs as they are wanted; seen[] counts the results. */
static void
make_many (StudyCrew *crew, guint n, guint *seen)
{
  guint next = 0;

  for (guint n_taken = 0; n_taken < n; n_taken++) {
    StudyCrewResult result;

    for (int worker; next < n && (worker = crew->idlest (crew)) >= 0; next++)
      crew->give (crew, (guint) worker, next);
    result = take (crew);
    g_assert_cmpuint (result.job, <, n);
    g_assert_cmpuint (value_of (&result), ==, (guint64) result.job * result.job);
    seen[result.job]++;
    study_crew_result_clear (&result);
  }
}

static void
test_every_job_is_made_once (void)
{
  StudyCrew *crew = crew_new (3);
  guint seen[N_JOBS] = { 0 };

  make_many (crew, N_JOBS, seen);
  for (guint job = 0; job < N_JOBS; job++)
    g_assert_cmpuint (seen[job], ==, 1);
  study_crew_free (crew);
  assert_no_children ();
}

static void
check_lost (guint job, const char *how)
{
  StudyCrew *crew = crew_new (1);
  StudyCrewResult result = make_one (crew, job);

  g_assert_null (result.block);
  g_assert_cmpstr (result.lost, ==, how);
  study_crew_result_clear (&result);
  result = make_one (crew, 5); /* by its successor */
  g_assert_cmpuint (value_of (&result), ==, 25);
  study_crew_result_clear (&result);
  study_crew_free (crew);
  assert_no_children ();
}

static void
test_the_death_of_a_worker_is_told (void)
{
  check_lost (KILLED, "worker ended by signal 9");
  check_lost (EXITS, "worker ended with status 7");
}

/* Two quick jobs make the worker one that gets a second job in advance. */
static void
test_jobs_behind_a_fatal_one_are_made (void)
{
  StudyCrew *crew = crew_new (1);
  StudyCrewResult first, second;

  first = make_one (crew, 1);
  study_crew_result_clear (&first);
  give (crew, KILLED);
  give (crew, 6);
  g_assert_cmpint (crew->idlest (crew), ==, -1);
  first = take (crew);
  second = take (crew);
  g_assert_cmpuint (first.job, ==, KILLED);
  g_assert_nonnull (first.lost);
  g_assert_cmpuint (second.job, ==, 6);
  g_assert_cmpuint (value_of (&second), ==, 36);
  study_crew_result_clear (&first);
  study_crew_result_clear (&second);
  study_crew_free (crew);
}

/* It is stopped before it can begin the second job, and then killed. */
static void
test_a_job_that_was_not_begun_is_not_lost (void)
{
  StudyCrew *crew = crew_new (1);
  pid_t pid = (pid_t) pid_of_worker (crew, TELLS_PID);
  StudyCrewResult result;
  int status;

  kill (pid, SIGSTOP);
  g_assert_cmpint (waitpid (pid, &status, WUNTRACED), ==, pid);
  g_assert_true (WIFSTOPPED (status));
  give (crew, 6);
  kill (pid, SIGKILL);
  result = take (crew);
  g_assert_cmpuint (result.job, ==, 6);
  g_assert_cmpuint (value_of (&result), ==, 36);
  study_crew_result_clear (&result);
  study_crew_free (crew);
}

static void
test_a_spent_worker_is_replaced (void)
{
  StudyCrew *crew = crew_new (1);
  guint64 pid = pid_of_worker (crew, TELLS_PID);

  g_assert_cmpuint (pid_of_worker (crew, SPENDS), ==, pid);
  g_assert_cmpuint (pid_of_worker (crew, TELLS_PID), !=, pid);
  study_crew_free (crew);
  assert_no_children ();
}

static void
test_blocks_larger_than_a_socket_holds (void)
{
  StudyCrew *crew = crew_new (1);
  StudyCrewResult result = make_one (crew, HUGE_BLOCK);

  g_assert_cmpuint (g_bytes_get_size (result.block), ==, HUGE_BYTES);
  study_crew_result_clear (&result);
  study_crew_free (crew);
}

/* Freed while a job is in flight that would take ten minutes. */
static void
test_jobs_in_flight_are_dropped (void)
{
  StudyCrew *crew = crew_new (2);

  give (crew, SLEEPS);
  give (crew, SLEEPS);
  g_assert_cmpint (crew->idlest (crew), ==, -1); /* they may take long: one each */
  study_crew_free (crew);
  assert_no_children ();
}

/* SIGTERM to a worker, as a batch system sends it to all processes of a job, is
 * the master's to handle. */
static void
test_signals_pass_workers (void)
{
  StudyCrew *crew = crew_new (1);
  pid_t pid = (pid_t) pid_of_worker (crew, TELLS_PID);

  kill (pid, SIGTERM);
  kill (pid, SIGINT);
  g_assert_cmpuint (pid_of_worker (crew, TELLS_PID), ==, (guint64) pid);
  study_crew_free (crew);
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
  StudyCrew *crew = crew_new (1);
  StudyCrewResult result;
  sigset_t blocked, before;
  gint64 begin_us = g_get_monotonic_time ();

  signal (SIGUSR1, note_signal);
  sigemptyset (&blocked);
  sigaddset (&blocked, SIGUSR1);
  sigprocmask (SIG_BLOCK, &blocked, &before);
  kill (getpid (), SIGUSR1);
  g_assert_false (signalled);
  g_assert_cmpint (crew->take (crew, 60000, &before, &result, NULL), ==, STUDY_CREW_NOTHING);
  g_assert_true (signalled);
  g_assert_cmpint (g_get_monotonic_time () - begin_us, <, 30 * G_USEC_PER_SEC);
  sigprocmask (SIG_SETMASK, &before, NULL);
  study_crew_free (crew);
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
    StudyCrew *crew;

    dup2 (ends[1], STDOUT_FILENO);
    close (ends[0]);
    close (ends[1]);
    crew = study_workers_new (2, make, NULL, NULL);
    give (crew, SLEEPS);
    give (crew, SLEEPS);
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
  StudyCrew *crew;

  g_assert_cmpint (pipe (ends), ==, 0);
  crew = crew_new (2);
  pid_of_worker (crew, TELLS_PID);
  pid_of_worker (crew, TELLS_PID);
  close (ends[1]);
  g_assert_true (closes (ends[0]));
  close (ends[0]);
  study_crew_free (crew);
}

static GBytes *
die (G_GNUC_UNUSED void *data, G_GNUC_UNUSED guint job, G_GNUC_UNUSED gboolean *spent)
{
  _exit (1);
}

/* Every run of a study may be too large for the machine; all are told, none is
 * tried again. */
static void
test_workers_that_always_die (void)
{
  StudyCrew *crew = study_workers_new (2, die, NULL, NULL);
  guint n_told[N_JOBS] = { 0 };

  for (guint job = 0; job < N_JOBS; job++) {
    StudyCrewResult result;

    give (crew, job);
    result = take (crew);
    g_assert_cmpstr (result.lost, ==, "worker ended with status 1");
    n_told[result.job]++;
    study_crew_result_clear (&result);
  }
  for (guint job = 0; job < N_JOBS; job++)
    g_assert_cmpuint (n_told[job], ==, 1);
  study_crew_free (crew);
  assert_no_children ();
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
