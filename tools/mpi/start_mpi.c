/* start_mpi.c - `hopcast-mpi`: the processes of an MPI job make the runs of a study.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A worker's messages: READY when it has resolved the study, a RESULT per job, LEFT
 * as its last one.  The master's: JOB, and STOP as the last one to each.  Nobody waits
 * inside MPI, whose waiting takes all of a core. */
#include "config.h"

#include "cli/command.h"
#include "cli/pool_kind.h"
#include "study/session/worker_pool.h"
#include "study/study_error.h"

#include <fcntl.h>
#include <mpi.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

/* Rank 0 is the master.  Every other one makes its runs in a child process, so that a run
 * that crashes takes no rank of the job with it. */

enum { TAG_READY, TAG_RESULT, TAG_LEFT, TAG_JOB, TAG_STOP };

#define QUICK_US 100000
#define LOOK_NS  500000L /* between two looks for messages */
#define CHILD_MS 5       /* the same while a run is made */

/* Before a result: a block follows, or the text of how it was lost. */
typedef struct {
  guint32 job, is_lost;
} Head;

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
static gboolean stopped;   /* master: has told the others; worker: was told */
static gboolean *has_left; /* master: [n_ranks] */
static gboolean lost_any;  /* master: one has gone without a word */

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

/* A message of that rank, if there is one; the caller unrefs it.  *broken when MPI
 * says that nobody is there any more. */
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

static guint
room (const Rank *rank)
{
  guint queue = rank->last_us < QUICK_US ? 2 : 1;

  return rank->is_ready && queue > rank->jobs->len ? queue - rank->jobs->len : 0;
}

static int
idlest_of (const MpiPool *pool)
{
  int best = -1;

  for (guint i = 0; i < pool->base.n_workers; i++)
    if (room (&pool->ranks[i]) > 0 &&
        (best < 0 || pool->ranks[i].jobs->len < pool->ranks[best].jobs->len))
      best = (int) i;
  return best;
}

/* Its jobs are others' to make; which of them ended it nobody knows. */
static void
part_with (MpiPool *pool, guint worker)
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
    part_with (pool, worker);
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

static void
take_result (Rank *rank, const GByteArray *message, StudyPoolResult *result)
{
  gint64 now_us = g_get_monotonic_time ();
  const guint8 *rest = message->data + sizeof (Head);
  gsize n_rest = message->len - sizeof (Head);
  Head head;

  memcpy (&head, message->data, sizeof head);
  *result = (StudyPoolResult){ .job = head.job };
  if (head.is_lost)
    result->lost = g_strndup ((const char *) rest, n_rest);
  else
    result->block = g_bytes_new (rest, n_rest);
  for (guint i = 0; i < rank->jobs->len; i++)
    if (g_array_index (rank->jobs, guint, i) == head.job) {
      g_array_remove_index (rank->jobs, i);
      break;
    }
  rank->last_us = now_us - rank->begin_us;
  rank->begin_us = now_us;
}

typedef enum { HEARD_NOTHING, HEARD_NEWS, HEARD_RESULT } Heard;

static Heard
hear (MpiPool *pool, guint worker, StudyPoolResult *result)
{
  gboolean broken;
  int tag = TAG_LEFT;
  g_autoptr (GByteArray) message = receive ((int) worker + 1, &tag, &broken);

  lost_any = lost_any || broken;
  if (message == NULL && !broken)
    return HEARD_NOTHING;
  if (tag == TAG_RESULT && message->len >= sizeof (Head)) {
    take_result (&pool->ranks[worker], message, result);
    return HEARD_RESULT;
  }
  if (tag == TAG_READY)
    pool->ranks[worker].is_ready = TRUE;
  else
    part_with (pool, worker);
  return HEARD_NEWS;
}

static Heard
hear_all (MpiPool *pool, StudyPoolResult *result)
{
  for (guint i = 0; i < pool->base.n_workers; i++) {
    Heard heard = has_left[i + 1] ? HEARD_NOTHING : hear (pool, i, result);

    if (heard != HEARD_NOTHING)
      return heard;
  }
  return HEARD_NOTHING;
}

static gboolean
anybody_stays (void)
{
  for (int rank = 1; rank < n_ranks; rank++)
    if (!has_left[rank])
      return TRUE;
  return FALSE;
}

/* Who has become ready is told by STUDY_POOL_NOTHING before the time is over. */
static StudyPoolTaken
take (StudyPool *base, gint timeout_ms, const sigset_t *mask, StudyPoolResult *result,
      GError **error)
{
  MpiPool *pool = (MpiPool *) base;
  gint64 end_us = g_get_monotonic_time () + timeout_ms * (gint64) 1000;
  Heard heard;

  give_again (pool);
  while ((heard = hear_all (pool, result)) == HEARD_NOTHING && g_get_monotonic_time () < end_us)
    nap (mask);
  if (heard == HEARD_RESULT)
    return STUDY_POOL_RESULT;
  if (anybody_stays ())
    return STUDY_POOL_NOTHING;
  g_set_error (error, STUDY_ERROR, STUDY_ERROR_WORKER,
               "no process of the MPI job but the first can make runs; is the study with all that "
               "it names where each of them can read it?");
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
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_WORKER,
                 "the first process of the MPI job hands out runs, others make them: two are the "
                 "least (mpirun -n 2)");
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

static void
send_result (const StudyPoolResult *made)
{
  const Head head = { made->job, made->block == NULL };
  g_autoptr (GByteArray) message = g_byte_array_new ();

  g_byte_array_append (message, (const guint8 *) &head, sizeof head);
  if (made->block != NULL)
    g_byte_array_append (message, g_bytes_get_data (made->block, NULL),
                         (guint) g_bytes_get_size (made->block));
  else
    g_byte_array_append (message, (const guint8 *) made->lost, (guint) strlen (made->lost));
  send_bytes (0, TAG_RESULT, message->data, message->len);
}

/* Jobs go on to the child, all of them: the master gives two at most. */
static void
hear_master (StudyPool *child, guint *n_jobs)
{
  gboolean broken;
  int tag = TAG_STOP;
  g_autoptr (GByteArray) message = receive (0, &tag, &broken);

  stopped = stopped || broken || (message != NULL && tag == TAG_STOP);
  if (message != NULL && tag == TAG_JOB && message->len == sizeof (guint32)) {
    guint32 job;

    memcpy (&job, message->data, sizeof job);
    child->give (child, 0, job);
    ++*n_jobs;
  }
}

static gboolean
hear_child (StudyPool *child, guint *n_jobs, const sigset_t *mask, GError **error)
{
  StudyPoolResult made = { 0 };
  StudyPoolTaken taken = child->take (child, CHILD_MS, mask, &made, error);

  if (taken == STUDY_POOL_RESULT) {
    --*n_jobs;
    send_result (&made);
    study_pool_result_clear (&made);
  }
  return taken != STUDY_POOL_ERROR;
}

static gboolean
serve (StudyJobFunction make, void *data, GError **error)
{
  g_autoptr (StudyPool) child = study_pool_new (1, make, data, error);
  gboolean good = child != NULL;
  guint n_jobs = 0;
  sigset_t mask;

  if (!good)
    return FALSE;
  sigprocmask (SIG_SETMASK, NULL, &mask);
  study_ignore_signals ();
  send_bytes (0, TAG_READY, NULL, 0);
  while (good && !stopped) {
    hear_master (child, &n_jobs);
    if (n_jobs > 0)
      good = hear_child (child, &n_jobs, &mask, error);
    else
      nap (&mask);
  }
  return good;
}

static const StudyPoolKind pool_of_mpi = { is_master, mpi_pool_new, serve };

/* --- Both --- */

static void
cli_mpi_begin (int *argc, char ***argv)
{
  /* Children of workers do not use MPI. */
  g_setenv ("OMPI_MCA_mpi_warn_on_fork", "0", FALSE);
  MPI_Init (argc, argv);
  MPI_Comm_set_errhandler (MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank (MPI_COMM_WORLD, &own_rank);
  MPI_Comm_size (MPI_COMM_WORLD, &n_ranks);
  has_left = g_new0 (gboolean, n_ranks);
}

/* Every message that was sent is received, results that nobody waits for too. */
static void
await_all (void)
{
  stop_all ();
  for (int rank = 1; rank < n_ranks; rank++)
    while (!has_left[rank]) {
      gboolean broken;
      int tag = TAG_LEFT;
      g_autoptr (GByteArray) message = receive (rank, &tag, &broken);

      lost_any = lost_any || broken;
      has_left[rank] = broken || (message != NULL && tag == TAG_LEFT);
      if (message == NULL)
        nap (NULL);
    }
}

static void
leave (void)
{
  send_bytes (0, TAG_LEFT, NULL, 0);
  while (!stopped) {
    gboolean broken;
    int tag = TAG_STOP;
    g_autoptr (GByteArray) message = receive (0, &tag, &broken);

    stopped = broken || (message != NULL && tag == TAG_STOP);
    if (message == NULL)
      nap (NULL);
  }
}

/* Tells the others that there is no more to do, unless that was done, and leaves
 * MPI; returns the exit status to use. */
static int
cli_mpi_end (int status)
{
  if (is_master ())
    await_all ();
  else
    leave ();
  /* MPI would wait for those who are gone. */
  if (lost_any)
    MPI_Abort (MPI_COMM_WORLD, status);
  MPI_Finalize ();
  g_free (has_left);
  return status;
}

/* --- where `hopcast-mpi` begins --- */

const StudyPoolKind *const cli_pool_kind = &pool_of_mpi;

/* What there is to say, the master says. */
static void
be_silent (void)
{
  int null = open ("/dev/null", O_WRONLY | O_CLOEXEC);

  if (null < 0)
    return;
  dup2 (null, STDOUT_FILENO);
  dup2 (null, STDERR_FILENO);
  close (null);
}

static gboolean
is_study_run (int argc, char **argv)
{
  return argc > 2 && !strcmp (argv[1], "study") && !strcmp (argv[2], "run");
}

int
main (int argc, char **argv)
{
  int status = CLI_DONE;

  cli_mpi_begin (&argc, &argv);
  if (!cli_pool_kind->is_master ())
    be_silent ();
  if (cli_pool_kind->is_master () || is_study_run (argc, argv))
    status = cli_main (argc, argv);
  return cli_mpi_end (status);
}
