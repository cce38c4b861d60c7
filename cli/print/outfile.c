/* outfile.c - result files that are complete or not there at all.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/print/outfile.h"

#include "cli/command.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

struct CliOutfile {
  FILE *stream;
  FILE *
      unpacked; /* what is written to it arrives in `stream` compressed; NULL: it is written itself */
  char *path;   /* as the user wrote it, for messages */
  char *target;    /* the replaced path; NULL when written directly */
  char *temporary; /* NULL when written directly */
};

/* The temporary files of this process, for the signal handler, which may read only entries that were
 * complete before their flag was set. */
#define MAX_PENDING 16
static struct {
  volatile sig_atomic_t used;
  char path[4096];
} pending[MAX_PENDING];

static void
pending_remove (const char *path)
{
  for (guint i = 0; i < MAX_PENDING; i++)
    if (pending[i].used && !strcmp (pending[i].path, path))
      pending[i].used = 0;
}

/* The signals upon which temporary files are removed. */
static const int signals[] = { SIGHUP, SIGINT, SIGTERM, SIGPIPE };

/* Threads of libraries (OpenBLAS has them from the start) do not block the signals that
 * make_temporary() blocks; a signal that reaches one of them is sent on. */
static pthread_t main_thread;

static void
die_tidily (int signal_number)
{
  if (!pthread_equal (pthread_self (), main_thread)) {
    pthread_kill (main_thread, signal_number);
    return;
  }
  for (guint i = 0; i < MAX_PENDING; i++)
    if (pending[i].used)
      unlink (pending[i].path);
  signal (signal_number, SIG_DFL);
  raise (signal_number); /* ends the process when this handler returns */
}

void
cli_outfile_handle_signals (void)
{
  struct sigaction action = { .sa_handler = die_tidily };
  struct sigaction before;

  main_thread = pthread_self ();
  sigemptyset (&action.sa_mask);
  for (gsize i = 0; i < G_N_ELEMENTS (signals); i++)
    if (sigaction (signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
      sigaction (signals[i], &action, NULL);
  /* A file above the size limit is an error of write(), not an end. */
  signal (SIGXFSZ, SIG_IGN);
}

static void
set_write_error (GError **error, const char *path, int error_number)
{
  cli_fail (error, "%s: cannot write: %s", path,
            error_number ? g_strerror (error_number) : "data was lost (disk full?)");
}

/* Whether the link is one of the kernel's names of an open file, such as /dev/stdout. */
static gboolean
is_descriptor_link (const char *path)
{
  g_autofree char *folder = g_path_get_dirname (path);
  g_autofree char *resolved = realpath (folder, NULL);

  return resolved && (g_str_equal (resolved, "/dev") || g_str_has_prefix (resolved, "/proc/"));
}

/* Makes the temporary file and enters it in `pending`; signals are blocked meanwhile. */
static int
make_temporary (char *path)
{
  sigset_t ours, before;
  int descriptor, error_number;

  sigemptyset (&ours);
  for (gsize i = 0; i < G_N_ELEMENTS (signals); i++)
    sigaddset (&ours, signals[i]);
  sigprocmask (SIG_BLOCK, &ours, &before);
  descriptor = g_mkstemp_full (path, O_RDWR | O_CLOEXEC, 0600);
  error_number = errno;
  for (guint i = 0; descriptor >= 0 && i < MAX_PENDING; i++)
    if (!pending[i].used &&
        g_strlcpy (pending[i].path, path, sizeof pending[i].path) < sizeof pending[i].path) {
      pending[i].used = 1;
      break;
    }
  sigprocmask (SIG_SETMASK, &before, NULL);
  errno = error_number;
  return descriptor;
}

/* Whether the file is an SQLite database.  Stores are, and SQLite alone writes them. */
static gboolean
is_store (const char *path)
{
  static const char magic[] = "SQLite format 3";
  char begin[sizeof magic];
  FILE *file = fopen (path, "re");
  gboolean is = file != NULL && fread (begin, sizeof begin, 1, file) == 1 &&
                memcmp (begin, magic, sizeof magic) == 0;

  if (file != NULL)
    fclose (file);
  return is;
}

CliOutfile *
cli_outfile_new (const char *path, GError **error)
{
  g_autoptr (CliOutfile) file = g_new0 (CliOutfile, 1);
  struct stat existing, own;
  gboolean exists, link;
  mode_t mode;
  int descriptor;

  if (path == NULL || !strcmp (path, "-")) {
    file->stream = stdout;
    return g_steal_pointer (&file);
  }
  if (*path == '\0') { /* such as "$unset": not only when all is computed */
    cli_fail (error, "\"\": the name of a file to write is empty");
    return NULL;
  }
  file->path = g_strdup (path);
  exists = stat (path, &existing) == 0;
  link = lstat (path, &own) == 0 && S_ISLNK (own.st_mode);
  if ((exists && !S_ISREG (existing.st_mode)) || (link && is_descriptor_link (path))) {
    if ((file->stream = fopen (path, "we")))
      return g_steal_pointer (&file);
    set_write_error (error, path, errno);
    return NULL;
  }

  /* The file keeps the permissions of one that it replaces. */
  if (exists && !link) {
    mode = existing.st_mode & 07777;
    if (access (path, W_OK) != 0) {
      set_write_error (error, path, errno);
      return NULL;
    }
    if (is_store (path)) {
      cli_fail (error, "%s: not replaced: it is a store of runs", path);
      return NULL;
    }
  } else {
    mode = umask (0);
    umask (mode);
    mode = 0666 & ~mode;
  }
  file->target = g_strdup (path);
  file->temporary = g_strconcat (path, ".tmp-XXXXXX", NULL);
  descriptor = make_temporary (file->temporary);
  if (descriptor < 0) {
    set_write_error (error, path, errno);
    g_clear_pointer (&file->temporary, g_free);
    return NULL;
  }
  if (fchmod (descriptor, mode) != 0 || !(file->stream = fdopen (descriptor, "w"))) {
    set_write_error (error, path, errno);
    close (descriptor);
    return NULL;
  }
  return g_steal_pointer (&file);
}

/* fopencookie: to a gzip file. */
static ssize_t
write_gzip (void *file, const char *data, size_t n_bytes)
{
  return n_bytes == 0 ? 0 : gzwrite (file, data, (unsigned) MIN (n_bytes, G_MAXINT));
}

static int
close_gzip (void *file)
{
  return gzclose (file) == Z_OK ? 0 : EOF;
}

CliOutfile *
cli_outfile_new_gzip (const char *path, GError **error)
{
  const cookie_io_functions_t functions = { .write = write_gzip, .close = close_gzip };
  g_autoptr (CliOutfile) file = cli_outfile_new (path, error);
  int descriptor;
  gzFile gzip;

  if (file == NULL || file->stream == stdout || !g_str_has_suffix (path, ".gz"))
    return g_steal_pointer (&file);
  descriptor = dup (fileno (file->stream));
  gzip = descriptor < 0 ? NULL : gzdopen (descriptor, "wb");
  file->unpacked = gzip == NULL ? NULL : fopencookie (gzip, "w", functions);
  if (file->unpacked != NULL)
    return g_steal_pointer (&file);
  set_write_error (error, path, errno);
  if (gzip != NULL)
    gzclose (gzip);
  else if (descriptor >= 0)
    close (descriptor);
  return NULL;
}

void
cli_outfile_free (CliOutfile *file)
{
  if (!file)
    return;
  if (file->unpacked)
    fclose (file->unpacked);
  if (file->stream && file->stream != stdout)
    fclose (file->stream);
  if (file->temporary) {
    g_unlink (file->temporary);
    pending_remove (file->temporary);
  }
  g_free (file->temporary);
  g_free (file->target);
  g_free (file->path);
  g_free (file);
}

FILE *
cli_outfile_stream (CliOutfile *file)
{
  return file->unpacked ? file->unpacked : file->stream;
}

gboolean
cli_outfile_commit (CliOutfile *file, GError **error)
{
  FILE *stream = file->stream;
  int error_number = 0; /* of the first failure; 0: unknown */
  gboolean good = TRUE;

  if (stream == stdout)
    return cli_stdout_flush (error);
  file->stream = NULL;
  if (file->unpacked) {
    good = fflush (file->unpacked) == 0 && !ferror (file->unpacked);
    good = fclose (file->unpacked) == 0 && good;
    file->unpacked = NULL;
  }
  if (good && fflush (stream) != 0) {
    good = FALSE;
    error_number = errno;
  }
  good = good && !ferror (stream);
  if (good && file->temporary && fsync (fileno (stream)) != 0) {
    good = FALSE;
    error_number = errno;
  }
  if (fclose (stream) != 0 && good) {
    good = FALSE;
    error_number = errno;
  }
  if (good && file->temporary && g_rename (file->temporary, file->target) != 0) {
    good = FALSE;
    error_number = errno;
  }
  if (!good) {
    set_write_error (error, file->path, error_number);
    return FALSE;
  }
  if (file->temporary)
    pending_remove (file->temporary);
  g_clear_pointer (&file->temporary, g_free);
  return TRUE;
}

gboolean
cli_outfile_write (const char *path, const char *text, GError **error)
{
  g_autoptr (CliOutfile) file = cli_outfile_new (path, error);

  if (!file)
    return FALSE;
  fputs (text, cli_outfile_stream (file));
  return cli_outfile_commit (file, error);
}

gboolean
cli_stdout_flush (GError **error)
{
  if (fflush (stdout) != 0) {
    set_write_error (error, "standard output", errno);
    return FALSE;
  }
  if (ferror (stdout)) {
    set_write_error (error, "standard output", 0);
    return FALSE;
  }
  return TRUE;
}
