/* store_lock.c - one process writes to a store.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * SQLite lets several processes write by turns, but two of them that run the
 * same study would make every run twice.  The lock is POSIX's on a file beside the
 * store: the kernel takes it back however the process ends, children do not
 * inherit it, and network file systems know it.  It cannot be on the store
 * itself, as closing that file anywhere in the process would end SQLite's own
 * locks on it. */
#include "config.h"

#include "study/store_private.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <sys/stat.h>
#include <unistd.h>

struct StudyLock {
  char *path;
  int fd;
  char *name; /* in `held` */
  pid_t owner;
};

/* POSIX locks are a process's: a second one of its own would be granted, and
 * its end would end the first. (element-type utf8)  A child has none of them. */
static GHashTable *held;
static pid_t holder;

static void
know_holder (void)
{
  if (held != NULL && holder == getpid ())
    return;
  g_clear_pointer (&held, g_hash_table_unref);
  held = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  holder = getpid ();
}

static gboolean
fail (const char *store_path, const char *lock_path, GError **error)
{
  int number = errno;

  g_set_error (error, STUDY_ERROR, STUDY_ERROR_STORE, "%s: cannot be written: %s: %s", store_path,
               lock_path, g_strerror (number));
  return FALSE;
}

static gboolean
busy (const char *store_path, pid_t owner, GError **error)
{
  g_set_error (error, STUDY_ERROR, STUDY_ERROR_BUSY,
               "%s: process %d writes to it; only one may at a time", store_path, (int) owner);
  return FALSE;
}

/* FALSE without an error: the file was removed by its last owner meanwhile. */
static gboolean
lock_file (int fd, const char *store_path, const char *lock_path, GError **error)
{
  struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
  struct flock other = lock;
  struct stat opened, there;

  if (fcntl (fd, F_SETLK, &lock) != 0) {
    if (errno != EACCES && errno != EAGAIN)
      return fail (store_path, lock_path, error);
    if (fcntl (fd, F_GETLK, &other) != 0 || other.l_type == F_UNLCK)
      other.l_pid = 0;
    return busy (store_path, other.l_pid, error);
  }
  return fstat (fd, &opened) == 0 && stat (lock_path, &there) == 0 &&
         opened.st_ino == there.st_ino && opened.st_dev == there.st_dev;
}

/* The open and locked file; -1 and *error. */
static int
open_locked (const char *store_path, const char *lock_path, GError **error)
{
  for (;;) {
    g_autoptr (GError) trouble = NULL;
    int fd = g_open (lock_path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);

    if (fd < 0) {
      fail (store_path, lock_path, error);
      return -1;
    }
    if (lock_file (fd, store_path, lock_path, &trouble))
      return fd;
    close (fd);
    if (trouble != NULL) {
      g_propagate_error (error, g_steal_pointer (&trouble));
      return -1;
    }
  }
}

StudyLock *
study_lock_new (const char *store_path, GError **error)
{
  g_autofree char *path = g_strconcat (store_path, "-lock", NULL);
  g_autofree char *name = g_canonicalize_filename (path, NULL);
  StudyLock *lock;
  int fd;

  know_holder ();
  if (g_hash_table_contains (held, name)) {
    busy (store_path, getpid (), error);
    return NULL;
  }
  fd = open_locked (store_path, path, error);
  if (fd < 0)
    return NULL;
  g_hash_table_add (held, g_strdup (name));
  lock = g_new0 (StudyLock, 1);
  lock->path = g_steal_pointer (&path);
  lock->name = g_steal_pointer (&name);
  lock->fd = fd;
  lock->owner = holder;
  return lock;
}

void
study_lock_free (StudyLock *lock)
{
  if (lock == NULL)
    return;
  /* Removed while it is locked: who waits for it finds that it is gone. */
  if (lock->owner == getpid ()) {
    g_unlink (lock->path);
    g_hash_table_remove (held, lock->name);
  }
  close (lock->fd);
  g_free (lock->path);
  g_free (lock->name);
  g_free (lock);
}
