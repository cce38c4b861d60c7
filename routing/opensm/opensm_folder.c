/* opensm_folder.c - a temporary folder that goes whatever ends us.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A shell waits for the end of its input, which comes when we close it or
 * are killed, and then removes the folder.  It is in a session of its own, so that
 * what a terminal sends to us does not reach it. */
#include "config.h"

#include "routing/opensm/opensm_private.h"
#include "topology/machine.h"

#include <sys/wait.h>
#include <unistd.h>

/* Programs that are being killed may still write a file. */
#define REMOVE "read end; rm -rf -- \"$0\" 2>/dev/null || { sleep 1; rm -rf -- \"$0\"; }"

static void
leave_session (gpointer unused G_GNUC_UNUSED)
{
  setsid ();
}

gboolean
route_opensm_folder_make (RouteOpensmFolder *folder, GError **error)
{
  g_autoptr (GError) cause = NULL;
  g_autofree char *path = g_dir_make_tmp ("hopcast-opensm-XXXXXX", &cause);
  const char *const arguments[] = { "/bin/sh", "-c", REMOVE, path, NULL };
  GPid remover;

  if (path == NULL) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_FILE, "%s: %s", g_get_tmp_dir (), cause->message);
    return FALSE;
  }
  if (!g_spawn_async_with_pipes ("/", (char **) arguments, NULL,
                                 G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_CLOEXEC_PIPES, leave_session,
                                 NULL, &remover, &folder->input, NULL, NULL, &cause)) {
    rmdir (path);
    g_set_error_literal (error, TOPO_ERROR, TOPO_ERROR_FILE, cause->message);
    return FALSE;
  }
  folder->remover = remover;
  folder->path = g_steal_pointer (&path);
  return TRUE;
}

void
route_opensm_folder_remove (RouteOpensmFolder *folder)
{
  close (folder->input);
  waitpid (folder->remover, NULL, 0);
  g_free (folder->path);
}
