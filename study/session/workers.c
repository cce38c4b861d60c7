/* workers.c - a crew of processes on this machine.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A worker counts the jobs that it has begun in memory that it shares with the master.
 * When it dies, its oldest job without a result is lost if it had begun that one;
 * otherwise nothing is.  A process that never made anything is taken to have died of
 * its first job, so that workers that always die come to an end.
 *
 * Work is handed out one job at a time, except that a worker whose jobs take less
 * than QUICK_US has a second one waiting: it then does not idle while the master writes
 * to the store. */
#include "config.h"

#include "study/study_error.h"
#include "study/session/worker.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define QUICK_US  100000
#define MAX_QUEUE 4

typedef struct {
  pid_t pid;
  int socket;
  GByteArray *read;      /* of a result that is not complete */
  guint jobs[MAX_QUEUE]; /* in the order given */
  guint n_jobs;
  guint32 n_made;  /* results of this process */
  gint64 begin_us; /* when it could begin the first of them */
  gint64 last_us;  /* what the last one took; G_MAXINT64: none yet */
} Worker;

typedef struct {
  StudyCrew crew;
  StudyCrewMake make;
  void *data;
  pid_t master;
  Worker *workers;    /* [crew.n_workers] */
  struct pollfd *fds; /* [crew.n_workers] */
  guint32 *n_begun;   /* [crew.n_workers] jobs that each process has begun; shared with them */
  GArray *again;      /* (element-type guint) jobs of dead workers that they had not begun */
  GArray *lost;       /* (element-type StudyCrewResult) to be told */
} Crew;

void
study_crew_result_clear (StudyCrewResult *result)
{
  g_clear_pointer (&result->block, g_bytes_unref);
  g_clear_pointer (&result->lost, g_free);
}

void
study_crew_free (StudyCrew *crew)
{
  if (crew != NULL)
    crew->free (crew);
}

/* --- In the master --- */

static gboolean
set_error (GError **error, const char *doing)
{
  g_set_error (error, STUDY_ERROR, STUDY_ERROR_WORKER, "cannot %s a worker: %s", doing,
               g_strerror (errno));
  return FALSE;
}

static void
work (const Crew *crew, guint index, int socket)
{
  const StudyWorker worker = { socket, crew->master, &crew->n_begun[index], crew->make,
                               crew->data };

  study_worker_work (&worker);
}

static gboolean
start (Crew *crew, Worker *worker, GError **error)
{
  guint index = (guint) (worker - crew->workers);
  int sockets[2];

  if (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
    return set_error (error, "talk to");
  crew->n_begun[index] = 0;
  worker->pid = fork ();
  if (worker->pid == 0)
    work (crew, index, sockets[1]);
  close (sockets[1]);
  if (worker->pid < 0) {
    set_error (error, "start");
    close (sockets[0]);
    return FALSE;
  }
  worker->socket = sockets[0];
  worker->n_jobs = 0;
  worker->n_made = 0;
  worker->last_us = G_MAXINT64;
  g_byte_array_set_size (worker->read, 0);
  return TRUE;
}

static void
send_job (Worker *worker, guint job)
{
  guint32 number = job;

  /* One that has died is found when its socket is read. */
  if (worker->n_jobs == 0)
    worker->begin_us = g_get_monotonic_time ();
  worker->jobs[worker->n_jobs++] = job;
  (void) study_worker_send (worker->socket, &number, sizeof number);
}

static guint
room (const Worker *worker)
{
  guint queue = worker->last_us < QUICK_US ? 2 : 1;

  return worker->pid > 0 && queue > worker->n_jobs ? queue - worker->n_jobs : 0;
}

/* Jobs that were handed out before come first. */
static int
idlest_of (const Crew *crew)
{
  int best = -1;

  for (guint i = 0; i < crew->crew.n_workers; i++) {
    const Worker *worker = &crew->workers[i];

    if (room (worker) > 0 && (best < 0 || worker->n_jobs < crew->workers[best].n_jobs))
      best = (int) i;
  }
  return best;
}

static void
give_again (Crew *crew)
{
  int worker;

  while (crew->again->len > 0 && (worker = idlest_of (crew)) >= 0) {
    send_job (&crew->workers[worker], g_array_index (crew->again, guint, 0));
    g_array_remove_index (crew->again, 0);
  }
}

static int
idlest (StudyCrew *base)
{
  give_again ((Crew *) base);
  return idlest_of ((Crew *) base);
}

static void
give (StudyCrew *base, guint worker, guint job)
{
  send_job (&((Crew *) base)->workers[worker], job);
}

static char *
ending (int status)
{
  if (WIFSIGNALED (status))
    return g_strdup_printf ("worker ended by signal %d", WTERMSIG (status));
  return g_strdup_printf ("worker ended with status %d", WEXITSTATUS (status));
}

/* Whether a process that is dead died over the oldest of its jobs. */
static gboolean
has_lost (const Crew *crew, const Worker *worker)
{
  return worker->n_jobs > 0 &&
         (worker->n_made == 0 || crew->n_begun[worker - crew->workers] > worker->n_made);
}

/* What it was making is lost, unless it left because it was spent. */
static void
bury (Crew *crew, Worker *worker, gboolean spent)
{
  guint first = 0;
  int status = 0;

  close (worker->socket);
  if (!spent)
    kill (worker->pid, SIGKILL); /* one whose socket broke may live on */
  while (waitpid (worker->pid, &status, 0) < 0 && errno == EINTR)
    ;
  if (!spent && has_lost (crew, worker)) {
    StudyCrewResult result = { .job = worker->jobs[0], .lost = ending (status) };

    g_array_append_val (crew->lost, result);
    first = 1;
  }
  for (guint i = first; i < worker->n_jobs; i++)
    g_array_append_val (crew->again, worker->jobs[i]);
  worker->pid = 0;
  worker->socket = -1;
  worker->n_jobs = 0;
}

static gboolean
replace (Crew *crew, Worker *worker, gboolean spent, GError **error)
{
  bury (crew, worker, spent);
  return start (crew, worker, error);
}

static void
job_done (Worker *worker, guint job)
{
  gint64 now_us = g_get_monotonic_time ();

  g_assert (worker->n_jobs > 0 && worker->jobs[0] == job);
  worker->n_jobs--;
  worker->n_made++;
  memmove (worker->jobs, worker->jobs + 1, worker->n_jobs * sizeof worker->jobs[0]);
  worker->last_us = now_us - worker->begin_us;
  worker->begin_us = now_us;
}

/* The first complete result among what was read, if there is one. */
static gboolean
cut_result (Worker *worker, StudyCrewResult *result, gboolean *spent)
{
  StudyWorkerHead head;

  if (worker->read->len < sizeof head)
    return FALSE;
  memcpy (&head, worker->read->data, sizeof head);
  if (worker->read->len - sizeof head < head.n_bytes)
    return FALSE;
  *result = (StudyCrewResult){
    .job = head.job, .block = g_bytes_new (worker->read->data + sizeof head, (gsize) head.n_bytes)
  };
  *spent = head.spent != 0;
  g_byte_array_remove_range (worker->read, 0, (guint) (sizeof head + head.n_bytes));
  job_done (worker, head.job);
  return TRUE;
}

/* False when the worker is gone. */
static gboolean
read_some (Worker *worker)
{
  guint8 buffer[65536];
  ssize_t n = recv (worker->socket, buffer, sizeof buffer, MSG_DONTWAIT);

  if (n > 0)
    g_byte_array_append (worker->read, buffer, (guint) n);
  return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

/* A result that has been read, if there is one. */
static StudyCrewTaken
take_read (Crew *crew, Worker *worker, StudyCrewResult *result, GError **error)
{
  gboolean spent = FALSE;

  if (!cut_result (worker, result, &spent))
    return STUDY_CREW_NOTHING;
  if (!spent || replace (crew, worker, TRUE, error))
    return STUDY_CREW_RESULT;
  study_crew_result_clear (result);
  return STUDY_CREW_ERROR;
}

/* Of those who have said something already, and of the dead. */
static StudyCrewTaken
take_known (Crew *crew, StudyCrewResult *result, GError **error)
{
  for (guint i = 0; i < crew->crew.n_workers; i++) {
    StudyCrewTaken taken = take_read (crew, &crew->workers[i], result, error);

    if (taken != STUDY_CREW_NOTHING)
      return taken;
  }
  if (crew->lost->len == 0)
    return STUDY_CREW_NOTHING;
  *result = g_array_index (crew->lost, StudyCrewResult, 0);
  g_array_remove_index (crew->lost, 0);
  return STUDY_CREW_RESULT;
}

/* Reads what there is, once; the dead are buried and replaced. */
static gboolean
listen_to_all (Crew *crew, gint timeout_ms, const sigset_t *mask, GError **error)
{
  const struct timespec timeout = { timeout_ms / 1000, timeout_ms % 1000 * 1000000L };
  guint n = crew->crew.n_workers;

  for (guint i = 0; i < n; i++)
    crew->fds[i] = (struct pollfd){ .fd = crew->workers[i].socket, .events = POLLIN };
  if (ppoll (crew->fds, n, &timeout, mask) <= 0)
    return TRUE;
  for (guint i = 0; i < n; i++)
    if (crew->fds[i].revents != 0 && !read_some (&crew->workers[i]) &&
        !replace (crew, &crew->workers[i], FALSE, error))
      return FALSE;
  return TRUE;
}

static StudyCrewTaken
take (StudyCrew *base, gint timeout_ms, const sigset_t *mask, StudyCrewResult *result,
      GError **error)
{
  Crew *crew = (Crew *) base;
  StudyCrewTaken taken = take_known (crew, result, error);

  if (taken == STUDY_CREW_NOTHING) {
    give_again (crew);
    if (!listen_to_all (crew, timeout_ms, mask, error))
      return STUDY_CREW_ERROR;
    taken = take_known (crew, result, error);
  }
  give_again (crew);
  return taken;
}

static void
workers_free (StudyCrew *base)
{
  Crew *crew = (Crew *) base;

  for (guint i = 0; i < base->n_workers; i++) {
    if (crew->workers[i].pid > 0)
      bury (crew, &crew->workers[i], FALSE);
    g_byte_array_unref (crew->workers[i].read);
  }
  for (guint i = 0; i < crew->lost->len; i++)
    study_crew_result_clear (&g_array_index (crew->lost, StudyCrewResult, i));
  g_array_unref (crew->lost);
  g_array_unref (crew->again);
  if (crew->n_begun != MAP_FAILED)
    munmap (crew->n_begun, base->n_workers * sizeof *crew->n_begun);
  g_free (crew->fds);
  g_free (crew->workers);
  g_free (crew);
}

static gboolean
start_all (Crew *crew, GError **error)
{
  if (crew->n_begun == MAP_FAILED)
    return set_error (error, "share memory with");
  for (guint i = 0; i < crew->crew.n_workers; i++)
    if (!start (crew, &crew->workers[i], error))
      return FALSE;
  return TRUE;
}

StudyCrew *
study_workers_new (guint n_workers, StudyCrewMake make, void *data, GError **error)
{
  Crew *crew = g_new0 (Crew, 1);

  n_workers = n_workers > 0 ? n_workers : g_get_num_processors ();
  crew->crew = (StudyCrew){ n_workers, idlest, give, take, workers_free };
  crew->make = make;
  crew->data = data;
  crew->master = getpid ();
  crew->workers = g_new0 (Worker, n_workers);
  crew->fds = g_new0 (struct pollfd, n_workers);
  crew->again = g_array_new (FALSE, FALSE, sizeof (guint));
  crew->lost = g_array_new (FALSE, FALSE, sizeof (StudyCrewResult));
  for (guint i = 0; i < n_workers; i++)
    crew->workers[i].read = g_byte_array_new ();
  crew->n_begun = mmap (NULL, n_workers * sizeof *crew->n_begun, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (start_all (crew, error))
    return &crew->crew;
  study_crew_free (&crew->crew);
  return NULL;
}

/* --- As a kind of crew --- */

static gboolean
is_master (void)
{
  return TRUE;
}

static gboolean
serve (G_GNUC_UNUSED StudyCrewMake make, G_GNUC_UNUSED void *data, G_GNUC_UNUSED GError **error)
{
  g_assert_not_reached ();
}

const StudyCrewMaker study_crew_of_processes = { is_master, study_workers_new, serve };
