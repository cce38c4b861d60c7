/* start_mpi.c - `hopcast-mpi`: the processes of an MPI job make the runs of a study.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Rank 0 is the master.  Every other rank is a worker and makes its runs in a child process, so
 * that a run that crashes takes no rank of the job with it.
 *
 * Messages of a worker: READY when it has resolved the study, a RESULT per job, and LEFT as the
 * last one.  Messages of the master: JOB, and STOP as the last one to each worker.  No process
 * blocks inside MPI, since blocking there takes all of a core. */
#include "cli/command.h"
#include "cli/pool_kind.h"
#include "study/session/worker_pool.h"
#include "study/study_error.h"

#include <fcntl.h>
#include <mpi.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

enum { TAG_READY, TAG_RESULT, TAG_LEFT, TAG_JOB, TAG_STOP };

#define QUICK_US 100000
#define LOOK_NS  500000L /* between two looks for messages */
#define CHILD_MS 5       /* the same while a run is made */

/* The beginning of a RESULT: a block follows, or the text of the loss. */
typedef struct {
  guint32 job, is_lost;
} ResultHeader;

typedef struct {
  gboolean is_ready;
  GArray *jobs; /* (element-type guint) in the order given */
  gint64 begin_us, last_us;
} Rank;

typedef struct {
  StudyPool base;
  Rank *ranks;   /* [n_workers], of MPI rank 1 on */
  GArray *again; /* (element-type guint) jobs of lost ranks */
} MpiPool;

static int own_rank, n_ranks;
static gboolean stopped;   /* master: STOP is sent; worker: STOP is received */
static gboolean *has_left; /* master: [n_ranks] */
static gboolean lost_any;  /* master: a worker has ended without LEFT */

static gboolean
is_master (void)
{
  return own_rank == 0;
}

/* --- Messages --- */

static void
nap (const sigset_t *mask)
{
  const struct timespec look = { 0, LOOK_NS };

  ppoll (NULL, 0, &look, mask);
}

static gboolean
send_bytes (int rank, int tag, gconstpointer data, gsize n_bytes)
{
  return MPI_Send (data, (int) n_bytes, MPI_BYTE, rank, tag, MPI_COMM_WORLD) == MPI_SUCCESS;
}

/* A message of that rank, or NULL; the caller unrefs it.  *broken: MPI reports that the rank is
 * gone. */
static GByteArray *
receive (int rank, int *tag, gboolean *broken)
{
  MPI_Status status;
  GByteArray *message;
  int is_there = 0, n_bytes = 0;

  *broken = MPI_Iprobe (rank, MPI_ANY_TAG, MPI_COMM_WORLD, &is_there, &status) != MPI_SUCCESS;
  if (*broken || !is_there)
    return NULL;
  MPI_Get_count (&status, MPI_BYTE, &n_bytes);
  message = g_byte_array_new ();
  g_byte_array_set_size (message, (guint) n_bytes);
  *tag = status.MPI_TAG;
  *broken = MPI_Recv (message->data, n_bytes, MPI_BYTE, rank, *tag, MPI_COMM_WORLD,
                      MPI_STATUS_IGNORE) != MPI_SUCCESS;
  if (*broken)
    g_clear_pointer (&message, g_byte_array_unref);
  return message;
}

/* --- The master --- */

/* Gives the jobs of a worker that is gone to others, since any of them may have ended it. */
static void
drop_worker (MpiPool *pool, guint worker)
{
  Rank *rank = &pool->ranks[worker];

  has_left[worker + 1] = TRUE;
  rank->is_ready = FALSE;
  g_array_append_vals (pool->again, rank->jobs->data, rank->jobs->len);
  g_array_set_size (rank->jobs, 0);
}

static void
send_job (MpiPool *pool, guint worker, guint job)
{
  Rank *rank = &pool->ranks[worker];
  guint32 number = job;

  if (rank->jobs->len == 0)
    rank->begin_us = g_get_monotonic_time ();
  g_array_append_val (rank->jobs, job);
  if (!send_bytes ((int) worker + 1, TAG_JOB, &number, sizeof number))
    drop_worker (pool, worker);
}

/* The worker with the fewest jobs of those with room for one: quick ones have two. */
static int
idlest_of (const MpiPool *pool)
{
  int best = -1;

  for (guint i = 0; i < pool->base.n_workers; i++) {
    const Rank *rank = &pool->ranks[i];
    guint queue = rank->last_us < QUICK_US ? 2 : 1;

    if (rank->is_ready && rank->jobs->len < queue &&
        (best < 0 || rank->jobs->len < pool->ranks[best].jobs->len))
      best = (int) i;
  }
  return best;
}

static void
give_again (MpiPool *pool)
{
  int worker;

  while (pool->again->len > 0 && (worker = idlest_of (pool)) >= 0) {
    guint job = g_array_index (pool->again, guint, 0);

    g_array_remove_index (pool->again, 0);
    send_job (pool, (guint) worker, job);
  }
}

static int
idlest (StudyPool *base)
{
  give_again ((MpiPool *) base);
  return idlest_of ((MpiPool *) base);
}

static void
give (StudyPool *base, guint worker, guint job)
{
  send_job ((MpiPool *) base, worker, job);
}

typedef enum { NO_MESSAGE, NEWS, RESULT } Received;

/* A message of a worker.  A RESULT goes to *result. */
static Received
receive_from (MpiPool *pool, guint worker, StudyPoolResult *result)
{
  Rank *rank = &pool->ranks[worker];
  gboolean broken;
  int tag = TAG_LEFT;
  g_autoptr (GByteArray) message = receive ((int) worker + 1, &tag, &broken);
  gint64 now_us = g_get_monotonic_time ();
  ResultHeader header;

  lost_any = lost_any || broken;
  if (message == NULL && !broken)
    return NO_MESSAGE;
  if (message == NULL || tag != TAG_RESULT || message->len < sizeof header) {
    if (message != NULL && tag == TAG_READY)
      rank->is_ready = TRUE;
    else
      drop_worker (pool, worker);
    return NEWS;
  }
  memcpy (&header, message->data, sizeof header);
  *result = (StudyPoolResult){ .job = header.job };
  if (header.is_lost)
    result->lost =
        g_strndup ((const char *) message->data + sizeof header, message->len - sizeof header);
  else
    result->block = g_bytes_new (message->data + sizeof header, message->len - sizeof header);
  for (guint i = 0; i < rank->jobs->len; i++)
    if (g_array_index (rank->jobs, guint, i) == header.job) {
      g_array_remove_index (rank->jobs, i);
      break;
    }
  rank->last_us = now_us - rank->begin_us;
  rank->begin_us = now_us;
  return RESULT;
}

/* STUDY_POOL_NOTHING before the time is over when a worker has become ready. */
static StudyPoolTaken
take (StudyPool *base, gint timeout_ms, const sigset_t *mask, StudyPoolResult *result,
      GError **error)
{
  MpiPool *pool = (MpiPool *) base;
  gint64 end_us = g_get_monotonic_time () + timeout_ms * (gint64) 1000;

  give_again (pool);
  for (;;) {
    Received received = NO_MESSAGE;

    for (guint i = 0; i < base->n_workers && received == NO_MESSAGE; i++)
      if (!has_left[i + 1])
        received = receive_from (pool, i, result);
    if (received == RESULT)
      return STUDY_POOL_RESULT;
    if (received == NEWS || g_get_monotonic_time () >= end_us)
      break;
    nap (mask);
  }
  for (int rank = 1; rank < n_ranks; rank++)
    if (!has_left[rank])
      return STUDY_POOL_NOTHING;
  g_set_error (
      error, STUDY_ERROR, STUDY_ERROR_WORKER,
      "no process of the MPI job but the first can make runs; can each of them read the study and the files that it names?");
  return STUDY_POOL_ERROR;
}

static void
stop_all (void)
{
  if (!stopped)
    for (int rank = 1; rank < n_ranks; rank++)
      send_bytes (rank, TAG_STOP, NULL, 0);
  stopped = TRUE;
}

static void
mpi_pool_free (StudyPool *base)
{
  MpiPool *pool = (MpiPool *) base;

  stop_all ();
  for (guint i = 0; i < base->n_workers; i++)
    g_array_unref (pool->ranks[i].jobs);
  g_array_unref (pool->again);
  g_free (pool->ranks);
  g_free (pool);
}

static StudyPool *
mpi_pool_new (G_GNUC_UNUSED guint n_workers, G_GNUC_UNUSED StudyJobFunction make,
              G_GNUC_UNUSED void *data, GError **error)
{
  MpiPool *pool;

  if (n_ranks < 2) {
    g_set_error (
        error, STUDY_ERROR, STUDY_ERROR_WORKER,
        "the first process of the MPI job hands out runs, others make them: at least two are needed (mpirun -n 2)");
    return NULL;
  }
  pool = g_new0 (MpiPool, 1);
  pool->base = (StudyPool){ (guint) n_ranks - 1, idlest, give, take, mpi_pool_free };
  pool->ranks = g_new0 (Rank, pool->base.n_workers);
  pool->again = g_array_new (FALSE, FALSE, sizeof (guint));
  for (guint i = 0; i < pool->base.n_workers; i++)
    pool->ranks[i] =
        (Rank){ .jobs = g_array_new (FALSE, FALSE, sizeof (guint)), .last_us = G_MAXINT64 };
  return &pool->base;
}

/* --- A worker --- */

/* Hands jobs to the child, all of them: the master gives two at most.  Returns its results. */
static gboolean
serve (StudyJobFunction make, void *data, GError **error)
{
  g_autoptr (StudyPool) child = study_pool_new (1, make, data, error);
  guint n_jobs = 0;
  sigset_t mask;

  if (child == NULL)
    return FALSE;
  sigprocmask (SIG_SETMASK, NULL, &mask);
  study_ignore_signals ();
  send_bytes (0, TAG_READY, NULL, 0);
  while (!stopped) {
    gboolean broken;
    int tag = TAG_STOP;
    g_autoptr (GByteArray) order = receive (0, &tag, &broken);
    g_autoptr (GByteArray) answer = NULL;
    StudyPoolResult made = { 0 };
    StudyPoolTaken taken;
    ResultHeader header;
    guint32 job;

    stopped = broken || (order != NULL && tag == TAG_STOP);
    if (order != NULL && tag == TAG_JOB && order->len == sizeof job) {
      memcpy (&job, order->data, sizeof job);
      child->give (child, 0, job);
      n_jobs++;
    }
    if (n_jobs == 0) {
      nap (&mask);
      continue;
    }
    taken = child->take (child, CHILD_MS, &mask, &made, error);
    if (taken == STUDY_POOL_ERROR)
      return FALSE;
    if (taken != STUDY_POOL_RESULT)
      continue;
    n_jobs--;
    header = (ResultHeader){ made.job, made.block == NULL };
    answer = g_byte_array_new ();
    g_byte_array_append (answer, (const guint8 *) &header, sizeof header);
    if (made.block != NULL)
      g_byte_array_append (answer, g_bytes_get_data (made.block, NULL),
                           (guint) g_bytes_get_size (made.block));
    else
      g_byte_array_append (answer, (const guint8 *) made.lost, (guint) strlen (made.lost));
    send_bytes (0, TAG_RESULT, answer->data, answer->len);
    study_pool_result_clear (&made);
  }
  return TRUE;
}

static const StudyPoolKind pool_of_mpi = { is_master, mpi_pool_new, serve };

const StudyPoolKind *const cli_pool_kind = &pool_of_mpi;

/* --- The program --- */

/* Receives every message, also results that are no longer needed, until the other end has finished:
 * the workers by LEFT, the master by STOP. */
static void
await (int rank, gboolean *is_over, int last_tag)
{
  while (!*is_over) {
    gboolean broken;
    int tag = last_tag;
    g_autoptr (GByteArray) message = receive (rank, &tag, &broken);

    lost_any = lost_any || broken;
    *is_over = broken || (message != NULL && tag == last_tag);
    if (message == NULL)
      nap (NULL);
  }
}

int
main (int argc, char **argv)
{
  int status = CLI_DONE, null;

  /* Children of workers do not use MPI. */
  g_setenv ("OMPI_MCA_mpi_warn_on_fork", "0", FALSE);
  MPI_Init (&argc, &argv);
  MPI_Comm_set_errhandler (MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank (MPI_COMM_WORLD, &own_rank);
  MPI_Comm_size (MPI_COMM_WORLD, &n_ranks);
  has_left = g_new0 (gboolean, n_ranks);
  /* Only the master prints. */
  if (!is_master () && (null = open ("/dev/null", O_WRONLY | O_CLOEXEC)) >= 0) {
    dup2 (null, STDOUT_FILENO);
    dup2 (null, STDERR_FILENO);
    close (null);
  }
  if (is_master () || (argc > 2 && !strcmp (argv[1], "study") && !strcmp (argv[2], "run")))
    status = cli_main (argc, argv);
  if (is_master ()) {
    stop_all ();
    for (int rank = 1; rank < n_ranks; rank++)
      await (rank, &has_left[rank], TAG_LEFT);
  } else {
    send_bytes (0, TAG_LEFT, NULL, 0);
    await (0, &stopped, TAG_STOP);
    lost_any = FALSE;
  }
  /* MPI would wait for ranks that are gone. */
  if (lost_any)
    MPI_Abort (MPI_COMM_WORLD, status);
  MPI_Finalize ();
  g_free (has_left);
  return status;
}
