/* store_lock.c - one process writes to a store, and to the file that has the store's name.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * SQLite lets several processes write by turns, but two of them that run the
 * same study would make every run twice.  There are two locks.  One is POSIX's on a file
 * beside the store: the kernel releases it however the process ends, children do not
 * inherit it, network file systems know it, and it says which process has it.  But
 * two paths of one store (a symbolic or a hard link) have two such files.  The other is on the
 * store itself, on a byte behind those that SQLite locks.  It belongs to the open file
 * (F_OFD_SETLK): SQLite unlocks the whole file for the process when it has
 * finished with it.
 *
 * Closing a file ends all POSIX locks that the process has on it, SQLite's too, so that
 * the store is opened here before SQLite opens it and closed after SQLite has closed it. */
#include "config.h"

#include "study/store/store_private.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* SQLite's locks are on 512 bytes from 2^30 on. */
#define LOCK_BYTE ((off_t) 0x40010000)

struct StudyLock {
  char *path;         /* of the store */
  char *beside;       /* of the file beside it; NULL: not locked yet */
  int fd, beside_fd;  /* -1: not open */
  struct stat status; /* of the store */
  pid_t owner;
};

/* POSIX locks are a process's: a second one of its own would be granted, and
 * its end would end the first. (element-type StudyLock)  A child has none of them. */
static GPtrArray *held;
static pid_t holder;

static void
know_holder (void)
{
  if (held != NULL && holder == getpid ())
    return;
  g_clear_pointer (&held, g_ptr_array_unref);
  held = g_ptr_array_new ();
  holder = getpid ();
}

static gboolean
is_same_file (const struct stat *left, const struct stat *right)
{
  return left->st_dev == right->st_dev && left->st_ino == right->st_ino;
}

static gboolean
is_held (const struct stat *status)
{
  for (guint at = 0; at < held->len; at++)
    if (is_same_file (&((const StudyLock *) g_ptr_array_index (held, at))->status, status))
      return TRUE;
  return FALSE;
}

static gboolean
fail (const char *path, const char *beside, const char *trouble, GError **error)
{
  g_set_error (error, STUDY_ERROR, STUDY_ERROR_STORE, "%s: cannot be written: %s%s%s", path,
               beside != NULL ? beside : "", beside != NULL ? ": " : "", trouble);
  return FALSE;
}

static gboolean
busy (const char *path, pid_t owner, GError **error)
{
  g_set_error (error, STUDY_ERROR, STUDY_ERROR_BUSY,
               "%s: process %d writes to it; only one may at a time", path, (int) owner);
  return FALSE;
}

/* --- The file beside the store --- */

/* FALSE without an error: the file was removed by its last owner meanwhile. */
static gboolean
lock_beside (int fd, const char *path, const char *beside, GError **error)
{
  struct flock range = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
  struct flock other = range;
  struct stat opened, there;

  if (fcntl (fd, F_SETLK, &range) != 0) {
    if (errno != EACCES && errno != EAGAIN)
      return fail (path, beside, g_strerror (errno), error);
    if (fcntl (fd, F_GETLK, &other) != 0 || other.l_type == F_UNLCK)
      other.l_pid = 0;
    return busy (path, other.l_pid, error);
  }
  return fstat (fd, &opened) == 0 && stat (beside, &there) == 0 && is_same_file (&opened, &there);
}

static gboolean
open_beside (StudyLock *lock, GError **error)
{
  g_autofree char *beside = g_strconcat (lock->path, "-lock", NULL);

  for (;;) {
    g_autoptr (GError) trouble = NULL;
    int fd = g_open (beside, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);

    if (fd < 0)
      return fail (lock->path, beside, g_strerror (errno), error);
    if (lock_beside (fd, lock->path, beside, &trouble)) {
      lock->beside_fd = fd;
      lock->beside = g_steal_pointer (&beside);
      return TRUE;
    }
    close (fd);
    if (trouble != NULL) {
      g_propagate_error (error, g_steal_pointer (&trouble));
      return FALSE;
    }
  }
}

/* --- The store --- */

static gboolean
open_store (StudyLock *lock, gboolean create, GError **error)
{
  struct flock range = {
    .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = LOCK_BYTE, .l_len = 1
  };

  lock->fd = g_open (lock->path, O_RDWR | O_CLOEXEC | O_NONBLOCK | (create ? O_CREAT : 0), 0644);
  if (lock->fd < 0 || fstat (lock->fd, &lock->status) != 0)
    return fail (lock->path, NULL, g_strerror (errno), error);
  if (!S_ISREG (lock->status.st_mode))
    return fail (lock->path, NULL, "not a regular file", error);
  /* Where there are no such locks the file beside the store is the only one. */
  if (fcntl (lock->fd, F_OFD_SETLK, &range) == 0 || (errno != EACCES && errno != EAGAIN))
    return TRUE;
  g_set_error (error, STUDY_ERROR, STUDY_ERROR_BUSY,
               "%s: another process writes to it by another path (a link); only one may at a time",
               lock->path);
  return FALSE;
}

StudyLock *
study_lock_new (const char *path, gboolean create, GError **error)
{
  g_autoptr (StudyLock) lock = g_new0 (StudyLock, 1);
  struct stat status;

  know_holder ();
  *lock = (StudyLock){ .path = g_strdup (path), .fd = -1, .beside_fd = -1, .owner = holder };
  /* Opening and closing it again would end SQLite's locks. */
  if (stat (path, &status) == 0 && is_held (&status)) {
    busy (path, holder, error);
    return NULL;
  }
  if (!open_beside (lock, error) || !open_store (lock, create, error))
    return NULL;
  g_ptr_array_add (held, lock);
  return g_steal_pointer (&lock);
}

void
study_lock_free (StudyLock *lock)
{
  if (lock == NULL)
    return;
  if (lock->owner == getpid ()) {
    g_ptr_array_remove_fast (held, lock);
    /* Removed while it is locked: a process that waits for it finds that it is gone. */
    if (lock->beside != NULL)
      g_unlink (lock->beside);
  }
  if (lock->fd >= 0)
    close (lock->fd);
  if (lock->beside_fd >= 0)
    close (lock->beside_fd);
  g_free (lock->beside);
  g_free (lock->path);
  g_free (lock);
}

/* The path that the open file has now; NULL where the system does not say. */
static char *
path_now (const StudyLock *lock)
{
  g_autofree char *link = g_strdup_printf ("/proc/self/fd/%d", lock->fd);
  g_autofree char *path = g_file_read_link (link, NULL);
  struct stat status;

  return path != NULL && stat (path, &status) == 0 && is_same_file (&status, &lock->status)
             ? g_steal_pointer (&path)
             : NULL;
}

StudyLockState
study_lock_state (const StudyLock *lock, char **path)
{
  struct stat status;

  *path = NULL;
  if (stat (lock->path, &status) == 0 && is_same_file (&status, &lock->status))
    return STUDY_LOCK_IN_PLACE;
  if (fstat (lock->fd, &status) == 0 && status.st_nlink == 0)
    return STUDY_LOCK_REMOVED;
  *path = path_now (lock);
  return STUDY_LOCK_RENAMED;
}
