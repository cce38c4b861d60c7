/* opensm.c - tables that a real subnet manager computes.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * ibsim plays the management side of a fabric over a local socket; OpenSM
 * talks to it through a library that takes the place of the one that opens
 * the device (infiniband.md section B2).  The fabric is written with GUIDs of
 * our own, so that what comes back can be told apart whatever the source of
 * the fabric called its devices.  OpenSM tries again for ever when its engine
 * refuses a fabric: its log tells, and the clock ends it. */
#include "config.h"

#include "routing/opensm.h"

#include "routing/routes.h"
#include "topology/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIMIT_US      (30 * G_USEC_PER_SEC)
#define POLL_US       (G_USEC_PER_SEC / 50)
#define FIRST_GUID    UINT64_C (0x0010000000000000)
#define GUID_STEP     256 /* room for the GUIDs of a device's ports */
#define READY_MESSAGE "Network simulator ready"

/* --- The fabric in their words --- */

static uint64_t
guid_of (uint32_t device)
{
  return FIRST_GUID + (uint64_t) device * GUID_STEP;
}

static void
write_device (GString *text, const TopoFabric *fabric, uint32_t device)
{
  const TopoDevice *it = &fabric->devices[device];

  g_string_append_printf (
      text, "%sguid=0x%" G_GINT64_MODIFIER "x\n%s %u \"%c-%016" G_GINT64_MODIFIER "x\" # \"%u\"\n",
      it->is_switch ? "switch" : "ca", guid_of (device), it->is_switch ? "Switch" : "Ca",
      it->n_ports, it->is_switch ? 'S' : 'H', guid_of (device), device);
  for (uint32_t number = 1; number <= it->n_ports; number++) {
    const TopoPort *port = &fabric->ports[it->first_port + number - 1];
    const TopoPort *peer = port->peer != TOPO_NONE ? &fabric->ports[port->peer] : NULL;

    if (peer != NULL)
      g_string_append_printf (text, "[%u] \"%c-%016" G_GINT64_MODIFIER "x\"[%u] # lid 0 %ux%s\n",
                              number, fabric->devices[peer->device].is_switch ? 'S' : 'H',
                              guid_of (peer->device), topo_fabric_port_number (fabric, port->peer),
                              port->lanes, topo_speed_name (port->speed));
  }
  g_string_append_c (text, '\n');
}

/* Switches first: the subnet manager sits on the first device. */
static gboolean
write_fabric (const TopoFabric *fabric, const char *path, GError **error)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (int kind = 0; kind < 2; kind++)
    for (uint32_t device = 0; device < fabric->n_devices; device++)
      if (fabric->devices[device].is_switch == (kind == 0))
        write_device (text, fabric, device);
  return g_file_set_contents (path, text->str, (gssize) text->len, error);
}

/* The same fabric under the GUIDs that were written; arrays are its own. */
static TopoFabric
renamed (const TopoFabric *fabric)
{
  TopoFabric copy = *fabric;

  copy.devices = g_memdup2 (fabric->devices, fabric->n_devices * sizeof *fabric->devices);
  copy.ports = g_memdup2 (fabric->ports, fabric->n_ports * sizeof *fabric->ports);
  for (uint32_t device = 0; device < copy.n_devices; device++) {
    copy.devices[device].guid = guid_of (device);
    copy.devices[device].lid = 0;
  }
  for (uint32_t port = 0; port < copy.n_ports; port++)
    copy.ports[port].guid = copy.ports[port].lid = copy.ports[port].lmc = 0;
  return copy;
}

/* --- Programs --- */

typedef struct {
  char *folder; /* of both programs' files; NULL: none yet */
  pid_t ibsim, opensm;
} Run;

/* In the child: it must not outlive us, whatever ends us. */
static void
set_up_child (gpointer data)
{
  (void) data;
  prctl (PR_SET_PDEATHSIG, SIGKILL);
}

static char *
path_in (const Run *run, const char *name)
{
  return g_build_filename (run->folder, name, NULL);
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
  started = g_spawn_async_with_fds (run->folder, (char **) copy->pdata, environment,
                                    G_SPAWN_DO_NOT_REAP_CHILD, set_up_child, NULL, &child, -1, out,
                                    out, NULL);
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
  gint64 last_us = g_get_monotonic_time () + LIMIT_US;

  if (!start (run, arguments, environment, "ibsim.log", &run->ibsim, error))
    return FALSE;
  while (g_get_monotonic_time () < last_us && !log_says (run, "ibsim.log", READY_MESSAGE)) {
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

static gboolean
engine_refused (const Run *run, const TopoFabric *fabric, const char *engine, GError **error)
{
  g_autofree char *unknown = g_strdup_printf ("Failed to setup routing engine '%s'", engine);

  if (log_says (run, "osm.log", unknown))
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                 "routes=opensm:%s: OpenSM has no such routing engine", engine);
  else if (log_says (run, "osm.log", "No routing engine able to successfully configure"))
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                 "routes=opensm:%s: OpenSM's engine refuses %s%s", engine, fabric->source,
                 log_says (run, "osm.log", "not a fat-tree") ? ": it is not a fat tree" : "");
  else
    return FALSE;
  return TRUE;
}

/* Waits for the end of OpenSM's one sweep. */
static gboolean
wait_for_tables (Run *run, const TopoFabric *fabric, const char *engine, GError **error)
{
  g_autofree char *done = g_strdup_printf ("%s tables configured on all switches", engine);
  gint64 last_us = g_get_monotonic_time () + LIMIT_US;

  while (!has_ended (&run->opensm)) {
    if (engine_refused (run, fabric, engine, error))
      return FALSE;
    if (g_get_monotonic_time () > last_us) {
      g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                   "routes=opensm:%s: OpenSM has not routed %s within %d s", engine, fabric->source,
                   (int) (LIMIT_US / G_USEC_PER_SEC));
      return FALSE;
    }
    g_usleep (POLL_US);
  }
  if (engine_refused (run, fabric, engine, error))
    return FALSE;
  if (log_says (run, "osm.log", done))
    return TRUE;
  g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
               "routes=opensm:%s: OpenSM ended without tables for %s", engine, fabric->source);
  return FALSE;
}

/* Engines that keep virtual lanes apart work only with QoS. */
static bool
needs_lanes (const char *engine)
{
  static const char *const engines[] = { "lash", "dfsssp", "nue", "torus-2QoS", NULL };

  return g_strv_contains (engines, engine);
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
start_opensm (Run *run, char **environment, const char *engine, GError **error)
{
  g_autofree char *routing = g_strconcat (engine, ",no_fallback", NULL);
  g_autofree char *library = simulation_library ();
  g_auto (GStrv) own = g_strdupv (environment);
  const char *const arguments[] = { "opensm", "-R",   routing,
                                    "-o",     "-f",   "osm.log",
                                    "-D",     "0x43", needs_lanes (engine) ? "-Q" : NULL,
                                    NULL };

  if (library == NULL) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_FILE,
                 "routes=opensm: libumad2sim.so is not installed; Debian's package ibsim-utils "
                 "brings it");
    return FALSE;
  }
  own = g_environ_setenv (own, "LD_PRELOAD", library, TRUE);
  own = g_environ_setenv (own, "OSM_CACHE_DIR", run->folder, TRUE);
  own = g_environ_setenv (own, "OSM_TMP_DIR", run->folder, TRUE);
  return start (run, arguments, own, "opensm.out", &run->opensm, error);
}

static RouteForwarding *
read_tables (const Run *run, const TopoFabric *fabric, const char *engine, GError **error)
{
  g_autofree char *path = path_in (run, "opensm-lfts.dump");
  TopoFabric copy = renamed (fabric);
  RouteForwarding *tables = route_forwarding_load (&copy, path, error);

  g_free (copy.devices);
  g_free (copy.ports);
  if (tables == NULL)
    return NULL;
  tables->fabric = fabric;
  g_free (tables->engine);
  tables->engine = g_strconcat ("opensm:", engine, NULL);
  return tables;
}

static int
remove_one (const char *path, const struct stat *status, int kind, struct FTW *place)
{
  (void) status, (void) kind, (void) place;
  return remove (path);
}

/* Killed programs leave folders of their own in it. */
static void
run_clear (Run *run)
{
  end (&run->opensm);
  end (&run->ibsim);
  if (run->folder != NULL)
    nftw (run->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
  g_free (run->folder);
}

RouteForwarding *
route_opensm_run (const TopoFabric *fabric, const char *engine, GError **error)
{
  Run run = { .folder = g_dir_make_tmp ("hopcast-opensm-XXXXXX", error) };
  g_autofree char *net = run.folder != NULL ? path_in (&run, "fabric.net") : NULL;
  g_autofree char *socket_name = NULL;
  g_auto (GStrv) environment = g_get_environ ();
  RouteForwarding *tables = NULL;

  if (run.folder == NULL)
    return NULL;
  /* The folder's name is unique, so is the socket's. */
  socket_name = g_path_get_basename (run.folder);
  environment = g_environ_setenv (environment, "IBSIM_SOCKNAME", socket_name, TRUE);
  if (write_fabric (fabric, net, error) && start_ibsim (&run, environment, error) &&
      start_opensm (&run, environment, engine, error) &&
      wait_for_tables (&run, fabric, engine, error))
    tables = read_tables (&run, fabric, engine, error);
  run_clear (&run);
  return tables;
}
