/* worker.c - one process of a crew on this machine.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/session/worker.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

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

gboolean
study_worker_send (int socket, gconstpointer from, gsize n_bytes)
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
study_crew_let_signals_pass (void)
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

/* Sockets of other workers would hide the master's death from them; the store's
 * files are none of ours. */
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

static gboolean
work_once (const StudyWorker *worker, gboolean *spent)
{
  guint32 job;
  g_autoptr (GBytes) block = NULL;
  StudyWorkerHead head = { 0 };

  *spent = FALSE;
  if (!read_all (worker->socket, &job, sizeof job))
    return FALSE;
  ++*worker->n_begun;
  block = worker->make (worker->data, job, spent);
  head = (StudyWorkerHead){ .job = job, .spent = *spent, .n_bytes = g_bytes_get_size (block) };
  return study_worker_send (worker->socket, &head, sizeof head) &&
         study_worker_send (worker->socket, g_bytes_get_data (block, NULL),
                            g_bytes_get_size (block));
}

void
study_worker_work (const StudyWorker *worker)
{
  gboolean spent = FALSE;

  prctl (PR_SET_PDEATHSIG, SIGKILL);
  if (getppid () != worker->master) /* died before that call */
    _exit (1);
  study_crew_let_signals_pass ();
  close_others (worker->socket);
  while (!spent && work_once (worker, &spent))
    ;
  _exit (0); /* what the master has open and registered is not ours to finish */
}
