/* machine.c - the machine a program would run on: shape, parameters, capacity.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "topology/machine.h"

#include "topology/fabric/fabric_spec.h"
#include "topology/machine_private.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define MIDPLANE_SIZE 4 /* along A, B, C and D */
#define RACK_NODES    1024

#define MAX_FILE_BYTES (1 << 28) /* of a file that a machine from somebody else names */
#define CHUNK_BYTES    65536

GQuark
topo_error_quark (void)
{
  return g_quark_from_static_string ("topo-error-quark");
}

/* --- Files --- */

/* SHA-256 of what an open file has; NULL and errno. */
static char *
hash_of_file (int fd)
{
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);
  guchar chunk[CHUNK_BYTES];
  off_t n_bytes = 0;
  gssize n = 1;

  while (n > 0 && n_bytes <= MAX_FILE_BYTES) {
    n = read (fd, chunk, sizeof chunk);
    if (n > 0)
      g_checksum_update (sum, chunk, n);
    n_bytes += MAX (n, 0);
  }
  if (n_bytes > MAX_FILE_BYTES)
    errno = EFBIG;
  return n == 0 ? g_strdup (g_checksum_get_string (sum)) : NULL;
}

/* SHA-256 of a regular file; NULL and errno.  Nothing waits for a pipe or device. */
static char *
hash_of_path (const char *path)
{
  int fd = g_open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
  struct stat status;
  char *hash = NULL;
  int number;

  if (fd < 0)
    return NULL;
  if (fstat (fd, &status) == 0) {
    if (S_ISREG (status.st_mode))
      hash = hash_of_file (fd);
    else
      errno = EINVAL;
  }
  number = errno;
  close (fd);
  errno = number;
  return hash;
}

static gboolean
check_known (const char *path, const char *expected, const char *hash, GError **error)
{
  if (expected == NULL)
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_CHANGED,
                 "%s: there is no hash of this file, so that it is not opened", path);
  else if (hash == NULL)
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_CHANGED, "%s: %s", path,
                 errno == EINVAL ? "not a regular file" : g_strerror (errno));
  else if (g_ascii_strcasecmp (hash, expected) != 0)
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_CHANGED, "%s: its content is another one", path);
  else
    return TRUE;
  return FALSE;
}

gboolean
topo_machine_note_file (TopoMachine *machine, const char *path, GError **error)
{
  g_autofree char *absolute = g_canonicalize_filename (path, NULL);
  const char *expected =
      machine->known != NULL ? g_hash_table_lookup (machine->known, absolute) : NULL;
  g_autofree char *hash = NULL;

  /* A file that nothing is known of is not even opened. */
  if (machine->known == NULL || expected != NULL)
    hash = hash_of_path (absolute);
  if (machine->known != NULL && !check_known (absolute, expected, hash, error))
    return FALSE;
  if (hash == NULL) /* a pipe has none, and its reader says why a file cannot be read */
    return TRUE;
  if (machine->files == NULL)
    machine->files = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_hash_table_insert (machine->files, g_steal_pointer (&absolute), g_steal_pointer (&hash));
  return TRUE;
}

/* --- Machines --- */

TopoMachine *
topo_machine_new_known (const char *path, GHashTable *known, GError **error)
{
  g_autoptr (TopoMachine) machine = g_new0 (TopoMachine, 1);

  machine->ranks_per_node = 1;
  machine->known = known;
  if (!topo_machine_load (machine, path, error))
    return NULL;
  machine->known = NULL;
  return g_steal_pointer (&machine);
}

TopoMachine *
topo_machine_new (const char *spec, GError **error)
{
  g_autoptr (TopoMachine) machine = g_new0 (TopoMachine, 1);
  gboolean made;

  machine->ranks_per_node = 1;
  if (topo_torus_is_spec (spec))
    made = topo_torus_make (machine, spec, error);
  else if (topo_fabric_is_spec (spec))
    made = topo_fabric_make (machine, spec, NULL, error) && topo_fabric_finish (machine, error);
  else
    made = topo_machine_load (machine, spec, error);
  return made ? g_steal_pointer (&machine) : NULL;
}

void
topo_machine_free (TopoMachine *machine)
{
  if (machine == NULL)
    return;
  topo_fabric_free (machine->fabric);
  topo_node_free (machine->node);
  g_strfreev (machine->hosts);
  g_clear_pointer (&machine->files, g_hash_table_unref);
  g_free (machine->routes);
  g_free (machine->spec);
  g_free (machine);
}

int64_t
topo_machine_extra_latency_ps (const TopoMachine *machine, uint32_t node, uint32_t port)
{
  const TopoShape *shape = &machine->shape;
  uint32_t dimension = port / 2;
  uint32_t neighbour = topo_shape_neighbour (shape, node, port);
  uint32_t here, there;

  if (!machine->is_bgq || neighbour == TOPO_NONE)
    return 0;
  here = topo_shape_coordinates (shape, node).at[dimension];
  there = topo_shape_coordinates (shape, neighbour).at[dimension];
  return here / MIDPLANE_SIZE != there / MIDPLANE_SIZE ? machine->parameters.midplane_latency_ps
                                                       : 0;
}

uint32_t
topo_machine_racks (const TopoMachine *machine)
{
  return machine->is_bgq ? topo_shape_nodes (&machine->shape) / RACK_NODES : 0;
}

char *
topo_path_in (const char *folder, const char *path)
{
  return folder == NULL || g_str_equal (folder, ".") || g_path_is_absolute (path)
             ? g_strdup (path)
             : g_build_filename (folder, path, NULL);
}
