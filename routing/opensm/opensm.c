/* opensm.c - tables that a real subnet manager computes.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * ibsim simulates the management side of a fabric over a local socket; OpenSM
 * communicates with it through a library that replaces the library of the
 * device (infiniband.md section B2).  OpenSM retries for ever when its engine
 * refuses a fabric: the refusal is found in its log, or a time limit ends it.
 * Where the engine uses virtual lanes, OpenSM runs until they have been queried. */
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

/* As ibsim reads it.  Switches first: the subnet manager runs on the first device, which must not be one
 * that is out. */
static gboolean
write_fabric (const TopoFabric *fabric, const char *path, GError **error)
{
  g_autofree uint64_t *guids = route_opensm_guids (fabric);
  g_autoptr (GString) text = g_string_new (NULL);

  for (uint32_t turn = 0; turn < 2 * fabric->n_devices; turn++) {
    uint32_t device = turn % fabric->n_devices;
    const TopoDevice *it = &fabric->devices[device];

    if (it->is_switch != (turn < fabric->n_devices) || !topo_fabric_has_cable (fabric, device))
      continue;
    g_string_append_printf (
        text,
        "%sguid=0x%" G_GINT64_MODIFIER "x\n%s %u \"%c-%016" G_GINT64_MODIFIER "x\" # \"%u\"\n",
        it->is_switch ? "switch" : "ca", guids[device], it->is_switch ? "Switch" : "Ca",
        it->n_ports, it->is_switch ? 'S' : 'H', guids[device], device);
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
  return g_file_set_contents (path, text->str, (gssize) text->len, error);
}

/* --- A temporary folder that is removed however this program ends ---
 *
 * A shell waits for the end of its input, which comes when this process closes it or
 * is killed, and then removes the folder.  It is in a session of its own, so that
 * signals of a terminal do not reach it. */

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

/* Runs in the child, which must not outlive its parent even if that has ended already. */
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

/* Sets *error: "routes=opensm:ENGINE: ...".  Always FALSE. */
static gboolean G_GNUC_PRINTF (4, 5)
    fail (const Run *run, TopoError code, GError **error, const char *format, ...)
{
  g_autofree char *message = NULL;
  va_list arguments;

  va_start (arguments, format);
  message = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error (error, TOPO_ERROR, (int) code, "routes=opensm:%s: %s", run->engine, message);
  return FALSE;
}

static bool
log_says (const Run *run, const char *log, const char *text)
{
  g_autofree char *path = path_in (run, log);
  g_autofree char *contents = NULL;

  return g_file_get_contents (path, &contents, NULL, NULL) && strstr (contents, text) != NULL;
}

/* Reaps the process and sets *pid to 0 if it has ended. */
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
  g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE, "routes=opensm: ibsim refuses the fabric");
  return FALSE;
}

/* Engines that keep virtual lanes apart work only with QoS. */
static bool
uses_lanes (const char *engine)
{
  static const char *const engines[] = { "lash", "dfsssp", "nue", NULL };

  return g_strv_contains (engines, engine);
}

static gboolean
engine_refused (const Run *run, GError **error)
{
  static const char *const words[] = { "fat-tree", "VLs available", "Lane requirements", "root",
                                       NULL };
  g_autofree char *unknown = g_strdup_printf ("Failed to setup routing engine '%s'", run->engine);
  g_autofree char *path = path_in (run, "osm.log");
  g_autofree char *log = NULL, *reason = NULL;
  g_auto (GStrv) lines = NULL;

  if (!g_file_get_contents (path, &log, NULL, NULL))
    return FALSE;
  if (strstr (log, unknown) != NULL)
    return !fail (run, TOPO_ERROR_RANGE, error, "OpenSM has no such routing engine");
  if (strstr (log, "No routing engine able to successfully configure") == NULL)
    return FALSE;
  if (strstr (log, "not a fat-tree") != NULL)
    return !fail (run, TOPO_ERROR_RANGE, error, "OpenSM's engine refuses %s: it is not a fat tree",
                  run->fabric->source);
  /* The first error about routing in the log, without time and number. */
  lines = g_strsplit (log, "\n", -1);
  for (guint at = 0; lines[at] != NULL && reason == NULL; at++) {
    const char *text = strstr (lines[at], ": ERR ");

    for (guint word = 0; text != NULL && words[word] != NULL && reason == NULL; word++)
      if (strstr (text, words[word]) != NULL && (text = strchr (text + 2, ':')) != NULL)
        reason = g_strstrip (g_strdup (text + 1));
  }
  return !fail (run, TOPO_ERROR_RANGE, error, "OpenSM's engine refuses %s%s%s", run->fabric->source,
                reason != NULL ? ": " : "", reason != NULL ? reason : "");
}

/* Waits for the end of OpenSM's sweep; OpenSM keeps running when lanes are to be queried. */
static gboolean
wait_for_tables (Run *run, GError **error)
{
  g_autofree char *done = g_strdup_printf ("%s tables configured on all switches", run->engine);
  bool stays = uses_lanes (run->engine);

  while (!has_ended (&run->opensm) && !(stays && log_says (run, "osm.log", "SUBNET UP"))) {
    if (engine_refused (run, error))
      return FALSE;
    if (g_get_monotonic_time () > run->last_us)
      return fail (run, TOPO_ERROR_RANGE, error, "OpenSM has not routed %s within %d s",
                   run->fabric->source, (int) (LIMIT_US / G_USEC_PER_SEC));
    g_usleep (POLL_US);
  }
  if (engine_refused (run, error))
    return FALSE;
  return (log_says (run, "osm.log", done) && stays == (run->opensm != 0)) ||
         fail (run, TOPO_ERROR_RANGE, error, "OpenSM ended without tables for %s",
               run->fabric->source);
}

static gboolean
start_opensm (Run *run, char **environment, uint32_t max_vls, GError **error)
{
  static const char *const folders[] = { "/usr/lib/x86_64-linux-gnu",
                                         "/usr/lib/aarch64-linux-gnu",
                                         "/usr/lib/powerpc64le-linux-gnu",
                                         "/usr/lib64",
                                         "/usr/lib",
                                         NULL };
  g_autofree char *routing = g_strconcat (run->engine, ",no_fallback", NULL);
  g_autofree char *path = path_in (run, "opensm.conf");
  /* Its own options, so that those of the site's installation do not count. */
  g_autofree char *options = g_strdup_printf ("force_log_flush TRUE\n"
                                              "sweep_interval 0\n"
                                              "nue_max_num_vls %u\n"
                                              "qos %s\n",
                                              max_vls, uses_lanes (run->engine) ? "TRUE" : "FALSE");
  g_auto (GStrv) own = g_strdupv (environment);
  const char *const arguments[] = {
    "opensm", "-F",      "opensm.conf", "-R",   routing,
    "-f",     "osm.log", "-D",          "0x43", uses_lanes (run->engine) ? NULL : "-o",
    NULL
  };
  g_autofree char *library = NULL;

  for (guint at = 0; folders[at] != NULL && library == NULL; at++) {
    library = g_build_filename (folders[at], "umad2sim", "libumad2sim.so", NULL);
    if (!g_file_test (library, G_FILE_TEST_EXISTS))
      g_clear_pointer (&library, g_free);
  }
  if (library == NULL) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_FILE,
                 "routes=opensm: libumad2sim.so is not installed; Debian's package ibsim-utils "
                 "brings it");
    return FALSE;
  }
  if (!g_file_set_contents (path, options, -1, error))
    return FALSE;
  own = g_environ_setenv (own, "LD_PRELOAD", library, TRUE);
  own = g_environ_setenv (own, "OSM_CACHE_DIR", run->folder.path, TRUE);
  own = g_environ_setenv (own, "OSM_TMP_DIR", run->folder.path, TRUE);
  return start (run, arguments, own, "opensm.out", &run->opensm, error);
}

static RouteForwarding *
read_tables (const Run *run, const char *socket_name, uint32_t max_vls, GError **error)
{
  const TopoFabric *fabric = run->fabric;
  g_autofree uint64_t *guids = route_opensm_guids (fabric);
  g_autofree char *path = path_in (run, "opensm-lfts.dump");
  g_autofree char *lids = path_in (run, "guid2lid");
  g_autofree char *log = path_in (run, "osm.log");
  g_autofree TopoDevice *devices =
      g_memdup2 (fabric->devices, fabric->n_devices * sizeof *fabric->devices);
  g_autofree TopoPort *ports = g_memdup2 (fabric->ports, fabric->n_ports * sizeof *fabric->ports);
  g_autoptr (RouteForwarding) tables = NULL;
  g_autoptr (GError) cause = NULL;
  const RouteOpensmLanes lanes = { .socket_name = socket_name,
                                   .lids = lids,
                                   .log = log,
                                   .max_vls = max_vls,
                                   .last_us = run->last_us };
  TopoFabric renamed = *fabric; /* with the GUIDs of fabric.net */

  renamed.devices = devices;
  renamed.ports = ports;
  for (uint32_t device = 0; device < fabric->n_devices; device++) {
    devices[device].guid = guids[device];
    devices[device].lid = 0;
  }
  for (uint32_t port = 0; port < fabric->n_ports; port++)
    ports[port].guid = ports[port].lid = ports[port].lmc = 0;
  tables = route_forwarding_load (&renamed, path, &cause);
  if (tables == NULL) {
    /* Without the path: the dump is temporary. */
    fail (run, TOPO_ERROR_RANGE, error,
          "OpenSM's tables do not fit %s, which may be disconnected%s", fabric->source,
          strrchr (cause->message, ':'));
    return NULL;
  }
  tables->fabric = fabric;
  g_free (tables->engine);
  tables->engine = g_strconcat ("opensm:", run->engine, NULL);
  if (uses_lanes (run->engine) && !route_opensm_read_lanes (tables, &lanes, error))
    return NULL;
  return g_steal_pointer (&tables);
}

RouteForwarding *
route_opensm_run (const TopoFabric *fabric, const char *engine, uint32_t max_vls, GError **error)
{
  Run run = { .fabric = fabric, .engine = engine, .last_us = g_get_monotonic_time () + LIMIT_US };
  g_autofree char *net = NULL;
  g_autofree char *socket_name = NULL;
  g_auto (GStrv) environment = g_get_environ ();
  RouteForwarding *tables = NULL;

  if (strcmp (engine, "torus-2QoS") == 0) {
    fail (&run, TOPO_ERROR_RANGE, error,
          "its packets change virtual lanes on the way, which is not modelled");
    return NULL;
  }
  if (engine[strspn (engine, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "-_")] != '\0') {
    fail (&run, TOPO_ERROR_SYNTAX, error, "expected the name of one of OpenSM's routing engines");
    return NULL;
  }
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
