/* worker_pool.c - processes of this machine that make jobs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/session/worker_pool.h"

#include "study/study_error.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

/* A worker has a socket to the master: numbers of jobs (guint32) go one way, results, each behind a
 * head, the other.  Both ends are the same program on the same machine. */
typedef struct {
  guint32 job, spent;
  guint64 n_bytes; /* of the block that follows */
} Head;

/* Descriptors that are closed one by one on a kernel that cannot do it at once. */
#define MAX_OPEN 65536

static gboolean
read_all (int socket, void *to, gsize n_bytes)
{
  char *at = to;

  while (n_bytes > 0) {
    ssize_t n = read (socket, at, n_bytes);

    if (n == 0 || (n < 0 && errno != EINTR))
      return FALSE;
    if (n > 0) {
      at += n;
      n_bytes -= (gsize) n;
    }
  }
  return TRUE;
}

/* All bytes, without SIGPIPE; FALSE when the other end is closed. */
static gboolean
send_all (int socket, gconstpointer from, gsize n_bytes)
{
  const char *at = from;

  while (n_bytes > 0) {
    ssize_t n = send (socket, at, n_bytes, MSG_NOSIGNAL);

    if (n < 0 && errno != EINTR)
      return FALSE;
    if (n > 0) {
      at += n;
      n_bytes -= (gsize) n;
    }
  }
  return TRUE;
}

/* A handler, not SIG_IGN, which programs that a run starts would inherit. */
static void
let_pass (G_GNUC_UNUSED int signal_number)
{
}

void
study_ignore_signals (void)
{
  static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
  struct sigaction action = { .sa_handler = let_pass, .sa_flags = SA_RESTART };
  sigset_t ours;

  sigemptyset (&action.sa_mask);
  sigemptyset (&ours);
  for (gsize i = 0; i < G_N_ELEMENTS (signals); i++) {
    sigaction (signals[i], &action, NULL);
    sigaddset (&ours, signals[i]);
  }
  sigprocmask (SIG_UNBLOCK, &ours, NULL);
}

/* The sockets of other workers would hide the master's death from them; the files of the store are
 * the master's. */
static void
close_others (int socket)
{
  long n_open = sysconf (_SC_OPEN_MAX);

  if ((socket == 3 || close_range (3, (unsigned) socket - 1, 0) == 0) &&
      close_range ((unsigned) socket + 1, G_MAXUINT, 0) == 0)
    return;
  for (int other = 3; other < MIN (n_open, MAX_OPEN); other++)
    if (other != socket)
      close (other);
}

/* --- A pool of processes on this machine --- */

/* A worker counts the jobs that it has begun in memory that it shares with the master.
 * When it dies, its oldest job without a result is lost if it had begun that one;
 * otherwise nothing is.  A process that never made anything is assumed to have died of
 * its first job, so that workers that always die come to an end.
 *
 * Work is handed out one job at a time, except that a worker whose jobs take less
 * than QUICK_US has a second one waiting: it then does not idle while the master writes
 * to the store. */

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
  gint64 last_us;  /* time of the last job; G_MAXINT64: none yet */
} Worker;

typedef struct {
  StudyPool pool;
  StudyJobFunction make;
  void *data;
  pid_t master;
  Worker *workers;    /* [pool.n_workers] */
  struct pollfd *fds; /* [pool.n_workers] */
  guint32 *n_begun;   /* [pool.n_workers] jobs that each process has begun; shared with them */
  GArray *again;      /* (element-type guint) jobs of dead workers that they had not begun */
  GArray *lost;       /* (element-type StudyPoolResult) to be told */
} Pool;

void
study_pool_result_clear (StudyPoolResult *result)
{
  g_clear_pointer (&result->block, g_bytes_unref);
  g_clear_pointer (&result->lost, g_free);
}

void
study_pool_free (StudyPool *pool)
{
  if (pool != NULL)
    pool->free (pool);
}

/* --- Workers --- */

static gboolean
set_error (GError **error, const char *doing)
{
  g_set_error (error, STUDY_ERROR, STUDY_ERROR_WORKER, "cannot %s a worker: %s", doing,
               g_strerror (errno));
  return FALSE;
}

/* The process that was forked makes jobs until it is spent or the master is gone. */
static void G_GNUC_NORETURN
work (const Pool *pool, guint index, int socket)
{
  gboolean spent = FALSE;
  guint32 job;

  prctl (PR_SET_PDEATHSIG, SIGKILL);
  if (getppid () != pool->master) /* died before that call */
    _exit (1);
  study_ignore_signals ();
  close_others (socket);
  while (!spent && read_all (socket, &job, sizeof job)) {
    g_autoptr (GBytes) block = NULL;
    Head head;

    ++*(volatile guint32 *) &pool->n_begun[index];
    block = pool->make (pool->data, job, &spent);
    head = (Head){ .job = job, .spent = spent, .n_bytes = g_bytes_get_size (block) };
    if (!send_all (socket, &head, sizeof head) ||
        !send_all (socket, g_bytes_get_data (block, NULL), g_bytes_get_size (block)))
      break;
  }
  _exit (0); /* without the exit handlers and open files of the master */
}

static gboolean
start (Pool *pool, Worker *worker, GError **error)
{
  guint index = (guint) (worker - pool->workers);
  int sockets[2];

  if (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
    return set_error (error, "talk to");
  pool->n_begun[index] = 0;
  worker->pid = fork ();
  if (worker->pid == 0)
    work (pool, index, sockets[1]);
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

  /* The death of a worker is found when its socket is read. */
  if (worker->n_jobs == 0)
    worker->begin_us = g_get_monotonic_time ();
  worker->jobs[worker->n_jobs++] = job;
  (void) send_all (worker->socket, &number, sizeof number);
}

/* The worker with room that has the fewest jobs; -1: none. */
static int
idlest_of (const Pool *pool)
{
  int best = -1;

  for (guint i = 0; i < pool->pool.n_workers; i++) {
    const Worker *worker = &pool->workers[i];
    guint room = worker->last_us < QUICK_US ? 2 : 1;

    if (worker->pid > 0 && worker->n_jobs < room &&
        (best < 0 || worker->n_jobs < pool->workers[best].n_jobs))
      best = (int) i;
  }
  return best;
}

/* Jobs that were handed out before come first. */
static void
give_again (Pool *pool)
{
  int worker;

  while (pool->again->len > 0 && (worker = idlest_of (pool)) >= 0) {
    send_job (&pool->workers[worker], g_array_index (pool->again, guint, 0));
    g_array_remove_index (pool->again, 0);
  }
}

static int
idlest (StudyPool *base)
{
  give_again ((Pool *) base);
  return idlest_of ((Pool *) base);
}

static void
give (StudyPool *base, guint worker, guint job)
{
  send_job (&((Pool *) base)->workers[worker], job);
}

/* Ends a worker.  Its current job is lost, unless it left because it was
 * spent. */
static void
bury (Pool *pool, Worker *worker, gboolean spent)
{
  gboolean has_begun;
  guint first = 0;
  int status = 0;

  close (worker->socket);
  if (!spent)
    kill (worker->pid, SIGKILL); /* a process whose socket broke may live on */
  while (waitpid (worker->pid, &status, 0) < 0 && errno == EINTR)
    ;
  /* What it shared is final now that it is dead. */
  has_begun = worker->n_made == 0 || pool->n_begun[worker - pool->workers] > worker->n_made;
  if (!spent && worker->n_jobs > 0 && has_begun) {
    StudyPoolResult result = { .job = worker->jobs[0] };

    result.lost = WIFSIGNALED (status)
                      ? g_strdup_printf ("worker ended by signal %d", WTERMSIG (status))
                      : g_strdup_printf ("worker ended with status %d", WEXITSTATUS (status));
    g_array_append_val (pool->lost, result);
    first = 1;
  }
  for (guint i = first; i < worker->n_jobs; i++)
    g_array_append_val (pool->again, worker->jobs[i]);
  worker->pid = 0;
  worker->socket = -1;
  worker->n_jobs = 0;
}

static gboolean
replace (Pool *pool, Worker *worker, gboolean spent, GError **error)
{
  bury (pool, worker, spent);
  return start (pool, worker, error);
}

/* The first complete result among the bytes that were read, if there is one. */
static gboolean
cut_result (Worker *worker, StudyPoolResult *result, gboolean *spent)
{
  gint64 now_us = g_get_monotonic_time ();
  Head head;
  if (worker->read->len < sizeof head)
    return FALSE;
  memcpy (&head, worker->read->data, sizeof head);
  if (worker->read->len - sizeof head < head.n_bytes)
    return FALSE;
  *result = (StudyPoolResult){
    .job = head.job, .block = g_bytes_new (worker->read->data + sizeof head, (gsize) head.n_bytes)
  };
  *spent = head.spent != 0;
  g_byte_array_remove_range (worker->read, 0, (guint) (sizeof head + head.n_bytes));
  g_assert (worker->n_jobs > 0 && worker->jobs[0] == head.job);
  worker->n_jobs--;
  worker->n_made++;
  memmove (worker->jobs, worker->jobs + 1, worker->n_jobs * sizeof worker->jobs[0]);
  worker->last_us = now_us - worker->begin_us;
  worker->begin_us = now_us;
  return TRUE;
}

/* A result that has been read already, or the loss of a job. */
static StudyPoolTaken
take_known (Pool *pool, StudyPoolResult *result, GError **error)
{
  for (guint i = 0; i < pool->pool.n_workers; i++) {
    Worker *worker = &pool->workers[i];
    gboolean spent = FALSE;

    if (!cut_result (worker, result, &spent))
      continue;
    if (!spent || replace (pool, worker, TRUE, error))
      return STUDY_POOL_RESULT;
    study_pool_result_clear (result);
    return STUDY_POOL_ERROR;
  }
  if (pool->lost->len == 0)
    return STUDY_POOL_NOTHING;
  *result = g_array_index (pool->lost, StudyPoolResult, 0);
  g_array_remove_index (pool->lost, 0);
  return STUDY_POOL_RESULT;
}

/* Waits, and reads from each socket once; dead workers are replaced. */
static gboolean
read_sockets (Pool *pool, gint timeout_ms, const sigset_t *mask, GError **error)
{
  const struct timespec timeout = { timeout_ms / 1000, timeout_ms % 1000 * 1000000L };
  guint n = pool->pool.n_workers;
  guint8 buffer[65536];

  for (guint i = 0; i < n; i++)
    pool->fds[i] = (struct pollfd){ .fd = pool->workers[i].socket, .events = POLLIN };
  if (ppoll (pool->fds, n, &timeout, mask) <= 0)
    return TRUE;
  for (guint i = 0; i < n; i++) {
    Worker *worker = &pool->workers[i];
    ssize_t n_read;

    if (pool->fds[i].revents == 0)
      continue;
    n_read = recv (worker->socket, buffer, sizeof buffer, MSG_DONTWAIT);
    if (n_read > 0)
      g_byte_array_append (worker->read, buffer, (guint) n_read);
    else if ((n_read == 0 || (errno != EAGAIN && errno != EINTR)) &&
             !replace (pool, worker, FALSE, error))
      return FALSE;
  }
  return TRUE;
}

static StudyPoolTaken
take (StudyPool *base, gint timeout_ms, const sigset_t *mask, StudyPoolResult *result,
      GError **error)
{
  Pool *pool = (Pool *) base;
  StudyPoolTaken taken = take_known (pool, result, error);

  if (taken == STUDY_POOL_NOTHING) {
    give_again (pool);
    if (!read_sockets (pool, timeout_ms, mask, error))
      return STUDY_POOL_ERROR;
    taken = take_known (pool, result, error);
  }
  give_again (pool);
  return taken;
}

static void
workers_free (StudyPool *base)
{
  Pool *pool = (Pool *) base;

  for (guint i = 0; i < base->n_workers; i++) {
    if (pool->workers[i].pid > 0)
      bury (pool, &pool->workers[i], FALSE);
    g_byte_array_unref (pool->workers[i].read);
  }
  for (guint i = 0; i < pool->lost->len; i++)
    study_pool_result_clear (&g_array_index (pool->lost, StudyPoolResult, i));
  g_array_unref (pool->lost);
  g_array_unref (pool->again);
  if (pool->n_begun != MAP_FAILED)
    munmap (pool->n_begun, base->n_workers * sizeof *pool->n_begun);
  g_free (pool->fds);
  g_free (pool->workers);
  g_free (pool);
}

StudyPool *
study_pool_new (guint n_workers, StudyJobFunction make, void *data, GError **error)
{
  Pool *pool = g_new0 (Pool, 1);
  gboolean good;

  n_workers = n_workers > 0 ? n_workers : g_get_num_processors ();
  pool->pool = (StudyPool){ n_workers, idlest, give, take, workers_free };
  pool->make = make;
  pool->data = data;
  pool->master = getpid ();
  pool->workers = g_new0 (Worker, n_workers);
  pool->fds = g_new0 (struct pollfd, n_workers);
  pool->again = g_array_new (FALSE, FALSE, sizeof (guint));
  pool->lost = g_array_new (FALSE, FALSE, sizeof (StudyPoolResult));
  for (guint i = 0; i < n_workers; i++)
    pool->workers[i].read = g_byte_array_new ();
  pool->n_begun = mmap (NULL, n_workers * sizeof *pool->n_begun, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  good = pool->n_begun != MAP_FAILED || set_error (error, "share memory with");
  for (guint i = 0; good && i < n_workers; i++)
    good = start (pool, &pool->workers[i], error);
  if (good)
    return &pool->pool;
  study_pool_free (&pool->pool);
  return NULL;
}

/* Milliseconds between two looks without a result. */
#define LOOK_MS 50

gboolean
study_pool_run (guint n_workers, guint n_jobs, StudyJobFunction make, StudyPoolLook look,
                void *data, GError **error)
{
  g_autoptr (StudyPool) pool = study_pool_new (n_workers, make, data, error);
  gboolean goes_on = pool != NULL && look (data, NULL, 0, error);
  guint next = 0, n_done = 0;
  int worker;

  while (goes_on && n_done < n_jobs) {
    StudyPoolResult result = { 0 };
    StudyPoolTaken taken;

    while (next < n_jobs && (worker = pool->idlest (pool)) >= 0)
      pool->give (pool, (guint) worker, next++);
    taken = pool->take (pool, LOOK_MS, NULL, &result, error);
    if (taken == STUDY_POOL_ERROR)
      return FALSE;
    n_done += taken == STUDY_POOL_RESULT;
    goes_on = look (data, taken == STUDY_POOL_RESULT ? &result : NULL, n_done, error);
    study_pool_result_clear (&result);
  }
  return goes_on;
}

/* --- As a kind of pool --- */

static gboolean
is_master (void)
{
  return TRUE;
}

static gboolean
serve (G_GNUC_UNUSED StudyJobFunction make, G_GNUC_UNUSED void *data, G_GNUC_UNUSED GError **error)
{
  g_assert_not_reached ();
}

const StudyPoolKind study_pool_of_processes = { is_master, study_pool_new, serve };
