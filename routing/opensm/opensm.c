/* opensm.c - tables that a real subnet manager computes.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * ibsim plays the management side of a fabric over a local socket; OpenSM
 * talks to it through a library that takes the place of the one that opens
 * the device (infiniband.md section B2).  OpenSM tries again for ever when its
 * engine refuses a fabric: its log tells, and the clock ends it.  Where the
 * engine uses virtual lanes, OpenSM stays until it has been asked for them. */
#include "config.h"

#include "routing/opensm/opensm.h"

#include "routing/forwarding/forwarding_private.h"
#include "topology/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct {
  char *path; /* absolute */
  int input;  /* of the process that removes it */
  pid_t remover;
} Folder;

/* --- The fabric as ibsim and OpenSM read and write it --- */

#define FIRST_GUID UINT64_C (0x0010000000000000)

static gint
by_guid (gconstpointer left, gconstpointer right, gpointer data)
{
  const TopoFabric *fabric = data;
  uint32_t a = *(const uint32_t *) left, b = *(const uint32_t *) right;
  uint64_t guid = route_compared_guid (fabric, a), other = route_compared_guid (fabric, b);

  if (guid != other)
    return guid < other ? -1 : 1;
  return a < b ? -1 : a > b;
}

uint64_t *
route_opensm_guids (const TopoFabric *fabric)
{
  uint64_t *guids = g_new (uint64_t, fabric->n_devices + 1);
  g_autofree uint32_t *order = g_new (uint32_t, fabric->n_devices + 1);

  for (uint32_t device = 0; device < fabric->n_devices; device++)
    order[device] = device;
  g_qsort_with_data (order, (gint) fabric->n_devices, sizeof *order, by_guid, (gpointer) fabric);
  for (uint32_t place = 0; place < fabric->n_devices; place++)
    guids[order[place]] = FIRST_GUID | (uint64_t) (place >> 16 & 0xff) << 8 |
                          (uint64_t) (place >> 8 & 0xff) << 16 | (uint64_t) (place & 0xff) << 24;
  return guids;
}

static void
write_device (GString *text, const TopoFabric *fabric, const uint64_t *guids, uint32_t device)
{
  const TopoDevice *it = &fabric->devices[device];

  g_string_append_printf (
      text, "%sguid=0x%" G_GINT64_MODIFIER "x\n%s %u \"%c-%016" G_GINT64_MODIFIER "x\" # \"%u\"\n",
      it->is_switch ? "switch" : "ca", guids[device], it->is_switch ? "Switch" : "Ca", it->n_ports,
      it->is_switch ? 'S' : 'H', guids[device], device);
  for (uint32_t number = 1; number <= it->n_ports; number++) {
    const TopoPort *port = &fabric->ports[it->first_port + number - 1];
    const TopoPort *peer = port->peer != TOPO_NONE ? &fabric->ports[port->peer] : NULL;

    if (peer != NULL)
      g_string_append_printf (text, "[%u] \"%c-%016" G_GINT64_MODIFIER "x\"[%u] # lid 0 %ux%s\n",
                              number, fabric->devices[peer->device].is_switch ? 'S' : 'H',
                              guids[peer->device], topo_fabric_port_number (fabric, port->peer),
                              port->lanes, topo_speed_name (port->speed));
  }
  g_string_append_c (text, '\n');
}

/* As ibsim reads it.  Switches first: the subnet manager sits on the first
 * device. */
static gboolean
write_fabric (const TopoFabric *fabric, const char *path, GError **error)
{
  g_autofree uint64_t *guids = route_opensm_guids (fabric);
  g_autoptr (GString) text = g_string_new (NULL);

  for (int kind = 0; kind < 2; kind++)
    for (uint32_t device = 0; device < fabric->n_devices; device++)
      if (fabric->devices[device].is_switch == (kind == 0))
        write_device (text, fabric, guids, device);
  return g_file_set_contents (path, text->str, (gssize) text->len, error);
}

/* The same fabric under the GUIDs that were written; arrays are its own. */
static TopoFabric
renamed (const TopoFabric *fabric)
{
  g_autofree uint64_t *guids = route_opensm_guids (fabric);
  TopoFabric copy = *fabric;

  copy.devices = g_memdup2 (fabric->devices, fabric->n_devices * sizeof *fabric->devices);
  copy.ports = g_memdup2 (fabric->ports, fabric->n_ports * sizeof *fabric->ports);
  for (uint32_t device = 0; device < copy.n_devices; device++) {
    copy.devices[device].guid = guids[device];
    copy.devices[device].lid = 0;
  }
  for (uint32_t port = 0; port < copy.n_ports; port++)
    copy.ports[port].guid = copy.ports[port].lid = copy.ports[port].lmc = 0;
  return copy;
}

/* OpenSM's dump of the tables of a fabric that was written so. */
static RouteForwarding *
load_tables (const TopoFabric *fabric, const char *path, const char *engine, GError **error)
{
  TopoFabric copy = renamed (fabric);
  g_autoptr (GError) cause = NULL;
  RouteForwarding *tables = route_forwarding_load (&copy, path, &cause);

  g_free (copy.devices);
  g_free (copy.ports);
  if (tables == NULL) {
    /* The dump is gone by the time anybody reads this. */
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                 "routes=opensm:%s: OpenSM's tables do not fit %s, which may fall apart%s", engine,
                 fabric->source, strrchr (cause->message, ':'));
    return NULL;
  }
  tables->fabric = fabric;
  g_free (tables->engine);
  tables->engine = g_strconcat ("opensm:", engine, NULL);
  return tables;
}

/* --- A temporary folder that is removed however this program ends ---
 *
 * A shell waits for the end of its input, which comes when we close it or
 * are killed, and then removes the folder.  It is in a session of its own, so that
 * what a terminal sends to us does not reach it. */

/* Programs that are being killed may still write a file. */
#define REMOVE "read end; rm -rf -- \"$0\" 2>/dev/null || { sleep 1; rm -rf -- \"$0\"; }"

static void
leave_session (gpointer unused G_GNUC_UNUSED)
{
  setsid ();
}

static gboolean
folder_make (Folder *folder, GError **error)
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

#define LIMIT_US      (30 * G_USEC_PER_SEC)
#define POLL_US       (G_USEC_PER_SEC / 50)
#define READY_MESSAGE "Network simulator ready"

/* --- Programs --- */

typedef struct {
  Folder folder; /* of both programs' files */
  pid_t ibsim, opensm;
  const TopoFabric *fabric;
  const char *engine;
  gint64 last_us; /* when to give up, of the monotonic clock */
} Run;

/* In the child: it must not outlive us, whatever ends us, be it before this. */
static void
set_up_child (gpointer parent)
{
  prctl (PR_SET_PDEATHSIG, SIGKILL);
  if (getppid () != GPOINTER_TO_INT (parent))
    _exit (1);
}

static char *
path_in (const Run *run, const char *name)
{
  return g_build_filename (run->folder.path, name, NULL);
}

/* Standard output and errors of the program go to `log` in the folder. */
static gboolean
start (const Run *run, const char *const *arguments, char **environment, const char *log,
       pid_t *pid, GError **error)
{
  g_autofree char *path = path_in (run, log);
  g_autofree char *program = g_find_program_in_path (arguments[0]);
  /* Debian keeps OpenSM where only root's shells look. */
  g_autofree char *there = g_build_filename ("/usr/sbin", arguments[0], NULL);
  g_autoptr (GPtrArray) copy = g_ptr_array_new ();
  int out = g_open (path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  gboolean started;
  GPid child;

  g_ptr_array_add (copy, program != NULL ? program : there);
  for (guint at = 1; arguments[at] != NULL; at++)
    g_ptr_array_add (copy, (gpointer) arguments[at]);
  g_ptr_array_add (copy, NULL);
  if (out < 0) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_FILE, "%s: %s", path, g_strerror (errno));
    return FALSE;
  }
  started = g_spawn_async_with_fds (run->folder.path, (char **) copy->pdata, environment,
                                    G_SPAWN_DO_NOT_REAP_CHILD, set_up_child,
                                    GINT_TO_POINTER (getpid ()), &child, -1, out, out, NULL);
  close (out);
  if (started)
    *pid = child;
  else
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_FILE,
                 "routes=opensm: %s cannot be started; Debian's packages opensm and ibsim-utils "
                 "have it",
                 arguments[0]);
  return started;
}

static bool
log_says (const Run *run, const char *log, const char *text)
{
  g_autofree char *path = path_in (run, log);
  g_autofree char *contents = NULL;

  return g_file_get_contents (path, &contents, NULL, NULL) && strstr (contents, text) != NULL;
}

/* Has it ended?  If so it is reaped, and *pid forgotten. */
static bool
has_ended (pid_t *pid)
{
  if (waitpid (*pid, NULL, WNOHANG) == 0)
    return false;
  *pid = 0;
  return true;
}

static void
end (pid_t *pid)
{
  if (*pid == 0)
    return;
  kill (*pid, SIGKILL); /* ibsim does not listen to anything less */
  waitpid (*pid, NULL, 0);
  *pid = 0;
}

static gboolean
start_ibsim (Run *run, char **environment, GError **error)
{
  const char *const arguments[] = { "ibsim", "-s", "-n",     "-N",         "70000", "-S",
                                    "8192",  "-P", "500000", "fabric.net", NULL };

  if (!start (run, arguments, environment, "ibsim.log", &run->ibsim, error))
    return FALSE;
  while (g_get_monotonic_time () < run->last_us && !log_says (run, "ibsim.log", READY_MESSAGE)) {
    if (has_ended (&run->ibsim))
      break;
    g_usleep (POLL_US);
  }
  if (run->ibsim != 0 && log_says (run, "ibsim.log", READY_MESSAGE))
    return TRUE;
  g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
               "routes=opensm: ibsim does not take the fabric");
  return FALSE;
}

/* Engines that keep virtual lanes apart work only with QoS. */
static bool
uses_lanes (const char *engine)
{
  static const char *const engines[] = { "lash", "dfsssp", "nue", NULL };

  return g_strv_contains (engines, engine);
}

/* The reason that OpenSM's log gives: its first line of error about routing,
 * without time and number; the caller frees it. */
static char *
reason_of (const Run *run)
{
  static const char *const words[] = { "fat-tree", "VLs available", "Lane requirements", "root",
                                       NULL };
  g_autofree char *path = path_in (run, "osm.log");
  g_autofree char *contents = NULL;
  g_auto (GStrv) lines = NULL;

  if (!g_file_get_contents (path, &contents, NULL, NULL))
    return NULL;
  lines = g_strsplit (contents, "\n", -1);
  for (guint at = 0; lines[at] != NULL; at++) {
    const char *text = strstr (lines[at], ": ERR ");

    for (guint word = 0; text != NULL && words[word] != NULL; word++)
      if (strstr (text, words[word]) != NULL && (text = strchr (text + 2, ':')) != NULL)
        return g_strstrip (g_strdup (text + 1));
  }
  return NULL;
}

static gboolean
engine_refused (const Run *run, GError **error)
{
  g_autofree char *unknown = g_strdup_printf ("Failed to setup routing engine '%s'", run->engine);
  g_autofree char *reason = NULL;

  if (log_says (run, "osm.log", unknown)) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                 "routes=opensm:%s: OpenSM has no such routing engine", run->engine);
    return TRUE;
  }
  if (!log_says (run, "osm.log", "No routing engine able to successfully configure"))
    return FALSE;
  reason = reason_of (run);
  if (log_says (run, "osm.log", "not a fat-tree"))
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                 "routes=opensm:%s: OpenSM's engine refuses %s: it is not a fat tree", run->engine,
                 run->fabric->source);
  else
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                 "routes=opensm:%s: OpenSM's engine refuses %s%s%s", run->engine,
                 run->fabric->source, reason != NULL ? ": " : "", reason != NULL ? reason : "");
  return TRUE;
}

/* Waits for the end of OpenSM's sweep; it stays when it is to be asked for lanes. */
static gboolean
wait_for_tables (Run *run, GError **error)
{
  g_autofree char *done = g_strdup_printf ("%s tables configured on all switches", run->engine);
  bool stays = uses_lanes (run->engine);

  while (!has_ended (&run->opensm) && !(stays && log_says (run, "osm.log", "SUBNET UP"))) {
    if (engine_refused (run, error))
      return FALSE;
    if (g_get_monotonic_time () > run->last_us) {
      g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                   "routes=opensm:%s: OpenSM has not routed %s within %d s", run->engine,
                   run->fabric->source, (int) (LIMIT_US / G_USEC_PER_SEC));
      return FALSE;
    }
    g_usleep (POLL_US);
  }
  if (engine_refused (run, error))
    return FALSE;
  if (log_says (run, "osm.log", done) && stays == (run->opensm != 0))
    return TRUE;
  g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
               "routes=opensm:%s: OpenSM ended without tables for %s", run->engine,
               run->fabric->source);
  return FALSE;
}

static char *
simulation_library (void)
{
  static const char *const folders[] = { "/usr/lib/x86_64-linux-gnu",
                                         "/usr/lib/aarch64-linux-gnu",
                                         "/usr/lib/powerpc64le-linux-gnu",
                                         "/usr/lib64",
                                         "/usr/lib",
                                         NULL };

  for (guint at = 0; folders[at] != NULL; at++) {
    char *path = g_build_filename (folders[at], "umad2sim", "libumad2sim.so", NULL);

    if (g_file_test (path, G_FILE_TEST_EXISTS))
      return path;
    g_free (path);
  }
  return NULL;
}

static gboolean
start_opensm (Run *run, char **environment, uint32_t max_vls, GError **error)
{
  g_autofree char *routing = g_strconcat (run->engine, ",no_fallback", NULL);
  g_autofree char *library = simulation_library ();
  g_auto (GStrv) own = g_strdupv (environment);
  const char *const arguments[] = {
    "opensm", "-F",      "opensm.conf", "-R",   routing,
    "-f",     "osm.log", "-D",          "0x43", uses_lanes (run->engine) ? NULL : "-o",
    NULL
  };

  if (library == NULL) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_FILE,
                 "routes=opensm: libumad2sim.so is not installed; Debian's package ibsim-utils "
                 "brings it");
    return FALSE;
  }
  /* Its options, so that those of the site it is installed at do not count. */
  g_autofree char *path = path_in (run, "opensm.conf");
  g_autofree char *text = g_strdup_printf ("force_log_flush TRUE\n"
                                           "sweep_interval 0\n"
                                           "nue_max_num_vls %u\n"
                                           "qos %s\n",
                                           max_vls, uses_lanes (run->engine) ? "TRUE" : "FALSE");
  if (!g_file_set_contents (path, text, -1, error))
    return FALSE;
  own = g_environ_setenv (own, "LD_PRELOAD", library, TRUE);
  own = g_environ_setenv (own, "OSM_CACHE_DIR", run->folder.path, TRUE);
  own = g_environ_setenv (own, "OSM_TMP_DIR", run->folder.path, TRUE);
  return start (run, arguments, own, "opensm.out", &run->opensm, error);
}

static RouteForwarding *
read_tables (const Run *run, const char *socket_name, uint32_t max_vls, GError **error)
{
  g_autofree char *path = path_in (run, "opensm-lfts.dump");
  g_autofree char *lids = path_in (run, "guid2lid");
  g_autofree char *log = path_in (run, "osm.log");
  g_autoptr (RouteForwarding) tables = load_tables (run->fabric, path, run->engine, error);
  const RouteOpensmLanes lanes = { .socket_name = socket_name,
                                   .lids = lids,
                                   .log = log,
                                   .max_vls = max_vls,
                                   .last_us = run->last_us };

  if (tables == NULL ||
      (uses_lanes (run->engine) && !route_opensm_read_lanes (tables, &lanes, error)))
    return NULL;
  return g_steal_pointer (&tables);
}

static gboolean
check_engine (const char *engine, GError **error)
{
  if (strcmp (engine, "torus-2QoS") == 0) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                 "routes=opensm:torus-2QoS: its packets change virtual lanes on the way, which is "
                 "not modelled");
    return FALSE;
  }
  if (engine[strspn (engine, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")] ==
      '\0')
    return TRUE;
  g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX,
               "routes=opensm:%s: expected the name of one of OpenSM's routing engines", engine);
  return FALSE;
}

RouteForwarding *
route_opensm_run (const TopoFabric *fabric, const char *engine, uint32_t max_vls, GError **error)
{
  Run run = { .fabric = fabric, .engine = engine, .last_us = g_get_monotonic_time () + LIMIT_US };
  g_autofree char *net = NULL;
  g_autofree char *socket_name = NULL;
  g_auto (GStrv) environment = g_get_environ ();
  RouteForwarding *tables = NULL;

  if (!check_engine (engine, error))
    return NULL;
  if (!folder_make (&run.folder, error)) {
    g_prefix_error (error, "routes=opensm:%s: ", engine);
    return NULL;
  }
  net = path_in (&run, "fabric.net");
  /* The folder's name is unique, so is the socket's. */
  socket_name = g_path_get_basename (run.folder.path);
  environment = g_environ_setenv (environment, "IBSIM_SOCKNAME", socket_name, TRUE);
  environment = g_environ_unsetenv (environment, "IBSIM_SERVER_NAME");
  environment = g_environ_unsetenv (environment, "SIM_HOST");
  if (write_fabric (fabric, net, error) && start_ibsim (&run, environment, error) &&
      start_opensm (&run, environment, max_vls, error) && wait_for_tables (&run, error))
    tables = read_tables (&run, socket_name, max_vls, error);
  end (&run.opensm);
  end (&run.ibsim);
  /* The remover deletes the folder when its input is closed, and then ends. */
  close (run.folder.input);
  waitpid (run.folder.remover, NULL, 0);
  g_free (run.folder.path);
  return tables;
}
