/* machine.c - the machine a program would run on: shape, parameters, capacity.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "topology/machine.h"

#include "base/words.h"
#include "topology/fabric/sharp_tree.h"
#include "topology/keyfile.h"
#include "topology/machine_private.h"
#include "topology/mapping/aggregation.h"
#include "topology/node/processor.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MIDPLANE_SIZE 4 /* along A, B, C and D */
#define RACK_NODES    1024

#define MAX_FILE_BYTES (1 << 28) /* of a file that an untrusted machine file names */
#define CHUNK_BYTES    65536

GQuark
topo_error_quark (void)
{
  return g_quark_from_static_string ("topo-error-quark");
}

/* --- Files --- */

/* SHA-256 of a regular file; NULL and errno otherwise.  Pipes and devices are never waited for. */
static char *
hash_of_path (const char *path)
{
  int fd = g_open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
  struct stat status;
  char *hash = NULL;
  bool is_there;
  int number;

  if (fd < 0)
    return NULL;
  is_there = fstat (fd, &status) == 0;
  if (is_there && !S_ISREG (status.st_mode))
    errno = EINVAL;
  else if (is_there) {
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
    hash = n == 0 ? g_strdup (g_checksum_get_string (sum)) : NULL;
  }
  number = errno;
  close (fd);
  errno = number;
  return hash;
}

gboolean
topo_machine_note_file (TopoMachine *machine, const char *path, GError **error)
{
  g_autofree char *absolute = g_canonicalize_filename (path, NULL);
  const char *expected =
      machine->known != NULL ? g_hash_table_lookup (machine->known, absolute) : NULL;
  g_autofree char *hash = NULL;

  /* A file without a known hash is not even opened. */
  if (machine->known != NULL && expected == NULL) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_CHANGED,
                 "%s: not opened, as no hash of this file is known", absolute);
    return FALSE;
  }
  hash = hash_of_path (absolute);
  if (expected != NULL && hash == NULL) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_CHANGED, "%s: %s", absolute,
                 errno == EINVAL ? "not a regular file" : g_strerror (errno));
    return FALSE;
  }
  if (expected != NULL && g_ascii_strcasecmp (hash, expected) != 0) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_CHANGED, "%s: the content has changed", absolute);
    return FALSE;
  }
  if (hash == NULL) /* pipes have no hash; the reader of the file reports other failures */
    return TRUE;
  if (machine->files == NULL)
    machine->files = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_hash_table_insert (machine->files, g_steal_pointer (&absolute), g_steal_pointer (&hash));
  return TRUE;
}

/* --- The struct --- */

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
  g_free (machine->failed);
  g_free (machine->degraded);
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
  return here / MIDPLANE_SIZE != there / MIDPLANE_SIZE
             ? machine->parameters.link.midplane_latency_ps
             : 0;
}

int64_t
topo_machine_cable_latency_ps (const TopoMachine *machine, uint32_t port)
{
  const TopoParameters *parameters = &machine->parameters;
  int64_t latency_ps = parameters->ib.cable_latency_ps;

  switch ((TopoSpeed) machine->fabric->ports[port].speed) {
  case TOPO_SPEED_EDR: return latency_ps + parameters->ib.fec_edr_latency_ps;
  case TOPO_SPEED_HDR: return latency_ps + parameters->ib.fec_hdr_latency_ps;
  case TOPO_SPEED_NDR: return latency_ps + parameters->ib.fec_ndr_latency_ps;
  case TOPO_SPEED_SDR:
  case TOPO_SPEED_DDR:
  case TOPO_SPEED_QDR:
  case TOPO_SPEED_FDR10:
  case TOPO_SPEED_FDR:
  case TOPO_SPEEDS: break;
  }
  return latency_ps;
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

/* --- Specs of Blue Gene/Q partitions and other tori --- */

#define BGQ_DIMENSIONS    5
#define BGQ_E             4
#define MAX_BGQ_SIZE      64 /* coordinates have six bits (bgq.md section 1) */
#define MAX_TORUS_SIZE    511
#define MAX_MESH_SIZE     256 /* routes count at most 255 hops per dimension */
#define MAX_NODES         (1u << 20)
#define POSSIBLE_BGQ_DIMS "at most 4x4x4x4x2, or A to D multiples of 4 and E 2"

/* Partitions by node count (bgq.md section 1).  Below a midplane a dimension
 * is a torus where it spans the midplane, since only there a cable leads back.
 * IBM's driver lists the same for 32, 64 and 512 nodes; its flags for 128 and
 * 256 (B of 2 a torus, D of 4 a mesh) cannot be cabled that way, and a D mesh
 * would halve the slowest shift that PNNL measured on 128 nodes (0.6 GB/s).
 * bgq:2x2x4x4mx2 gives the mesh. */
typedef struct {
  uint32_t nodes;
  uint8_t size[BGQ_DIMENSIONS];
  char wrap[BGQ_DIMENSIONS + 1]; /* T or M, A to E */
} Partition;

static const Partition partitions[] = {
  { 32, { 2, 2, 2, 2, 2 }, "MMMMT" },       { 64, { 2, 2, 4, 2, 2 }, "MMTMT" },
  { 128, { 2, 2, 4, 4, 2 }, "MMTTT" },      { 256, { 4, 2, 4, 4, 2 }, "TMTTT" },
  { 512, { 4, 4, 4, 4, 2 }, "TTTTT" },      { 1024, { 4, 4, 4, 8, 2 }, "TTTTT" },
  { 2048, { 4, 4, 4, 16, 2 }, "TTTTT" },    { 4096, { 4, 4, 8, 16, 2 }, "TTTTT" },
  { 8192, { 4, 4, 16, 16, 2 }, "TTTTT" },   { 16384, { 8, 8, 8, 16, 2 }, "TTTTT" },
  { 24576, { 4, 12, 16, 16, 2 }, "TTTTT" }, { 32768, { 8, 8, 16, 16, 2 }, "TTTTT" },
  { 49152, { 8, 12, 16, 16, 2 }, "TTTTT" }, { 98304, { 16, 12, 16, 16, 2 }, "TTTTT" },
};

/* A shape as written in a spec: sizes, and which of them end in m. */
typedef struct {
  uint32_t n_dimensions;
  uint32_t size[TOPO_MAX_DIMENSIONS];
  bool mesh[TOPO_MAX_DIMENSIONS];
} Sizes;

static gboolean
set_error_range (GError **error, const char *spec, const char *possible)
{
  g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE, "machine \"%s\": %s", spec, possible);
  return FALSE;
}

/* Reads "8x8x4m"; the numbers stay below a million, so that no later product
 * overflows unnoticed. */
static gboolean
parse_sizes (const char *spec, const char *text, Sizes *sizes, GError **error)
{
  g_auto (GStrv) parts = g_strsplit (text, "x", -1);
  guint n_parts = g_strv_length (parts);

  *sizes = (Sizes){ .n_dimensions = n_parts };
  if (n_parts < 1 || n_parts > TOPO_MAX_DIMENSIONS)
    return set_error_range (error, spec, "a torus has 1 to 6 dimensions, as in 8x8x8");
  for (guint dimension = 0; dimension < n_parts; dimension++) {
    char *part = parts[dimension];
    gsize length = strlen (part);
    guint64 size;

    sizes->mesh[dimension] = length > 1 && part[length - 1] == 'm';
    if (sizes->mesh[dimension])
      part[length - 1] = '\0';
    if (!g_ascii_string_to_unsigned (part, 10, 1, 999999, &size, NULL)) {
      g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX,
                   "machine \"%s\": expected a size from 1 on, with m behind it for a mesh, "
                   "found \"%s\"",
                   spec, part);
      return FALSE;
    }
    sizes->size[dimension] = (uint32_t) size;
  }
  return TRUE;
}

/* Whether a dimension is a torus unless the spec says otherwise.  A
 * block below a midplane that IBM does not list is a mesh wherever it does
 * not span the midplane (bgq.md section 1, sub-block jobs). */
static bool
bgq_wraps (const uint32_t *size, uint32_t dimension)
{
  for (gsize at = 0; at < G_N_ELEMENTS (partitions); at++) {
    uint32_t n_equal = 0;

    while (n_equal < BGQ_DIMENSIONS && partitions[at].size[n_equal] == size[n_equal])
      n_equal++;
    if (n_equal == BGQ_DIMENSIONS)
      return partitions[at].wrap[dimension] == 'T';
  }
  return dimension == BGQ_E || size[dimension] >= MIDPLANE_SIZE;
}

static gboolean
make_bgq (TopoMachine *machine, const char *spec, const Sizes *sizes, GError **error)
{
  bool is_in_midplane, is_of_midplanes;

  if (sizes->n_dimensions != BGQ_DIMENSIONS)
    return set_error_range (error, spec, "a Blue Gene/Q has five dimensions, as in 4x4x4x8x2");
  is_in_midplane = sizes->size[BGQ_E] <= 2;
  is_of_midplanes = sizes->size[BGQ_E] == 2;
  for (uint32_t dimension = 0; dimension < BGQ_E; dimension++) {
    uint32_t size = sizes->size[dimension];

    is_in_midplane = is_in_midplane && size <= MIDPLANE_SIZE;
    is_of_midplanes = is_of_midplanes && size % MIDPLANE_SIZE == 0 && size <= MAX_BGQ_SIZE;
  }
  if (!is_in_midplane && !is_of_midplanes)
    return set_error_range (error, spec, "a Blue Gene/Q block is " POSSIBLE_BGQ_DIMS);
  if (sizes->mesh[BGQ_E])
    return set_error_range (error, spec, "the E dimension of a Blue Gene/Q is always a torus");
  for (uint32_t dimension = 0; dimension < BGQ_DIMENSIONS; dimension++) {
    machine->shape.size[dimension] = sizes->size[dimension];
    machine->shape.wrap[dimension] = !sizes->mesh[dimension] && bgq_wraps (sizes->size, dimension);
  }
  return TRUE;
}

static bool
torus_is_spec (const char *spec)
{
  return g_str_has_prefix (spec, "bgq:") || g_str_has_prefix (spec, "torus:");
}

/* Faults of a machine that nothing is routed around: says why not. */
static void
set_fault_error (GError **error, bool is_bgq, const char *spec)
{
  g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
               is_bgq ? "a Blue Gene/Q block with a node or link that is out does not boot: the "
                        "control system allocates blocks of whole hardware only; %s needs a block "
                        "without it"
                      : "only fabrics are routed around parts that are out; %s is a torus",
               spec);
}

/* Sets the spec, the shape and the parameters of the family from bgq:512 or torus:8x8x8m. */
static gboolean
torus_make (TopoMachine *machine, const char *spec, GError **error)
{
  const char *text = strchr (spec, ':') + 1;
  const char *comma = strchr (text, ',');
  TopoShape *shape = &machine->shape;
  Sizes sizes = { 0 };
  uint64_t n_nodes = 1;
  GString *canonical;

  topo_parameters_default (&machine->parameters, TOPO_FAMILY_TORUS);
  machine->is_bgq = g_str_has_prefix (spec, "bgq:");
  if (comma != NULL &&
      (g_str_has_prefix (comma, ",failed=") || g_str_has_prefix (comma, ",degraded="))) {
    g_autofree char *whole = g_strndup (spec, (gsize) (comma - spec));

    set_fault_error (error, machine->is_bgq, whole);
    g_prefix_error (error, "machine \"%s\": ", spec);
    return FALSE;
  }
  if (comma != NULL) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX,
                 "machine \"%s\": unknown option \"%s\" (no options are known for this machine)",
                 spec, comma + 1);
    return FALSE;
  }
  if (machine->is_bgq && strchr (text, 'x') == NULL) {
    g_autoptr (GString) possible = g_string_new ("known node counts are");
    guint64 nodes;

    if (!g_ascii_string_to_unsigned (text, 10, 0, UINT32_MAX, &nodes, NULL))
      nodes = 0;
    for (gsize at = 0; at < G_N_ELEMENTS (partitions); at++) {
      g_string_append_printf (possible, " %u", partitions[at].nodes);
      if (partitions[at].nodes != nodes)
        continue;
      sizes.n_dimensions = BGQ_DIMENSIONS;
      for (uint32_t dimension = 0; dimension < BGQ_DIMENSIONS; dimension++)
        sizes.size[dimension] = partitions[at].size[dimension];
    }
    g_string_append (possible, ", or give a shape, as in bgq:4x4x4x8x2");
    if (sizes.n_dimensions == 0)
      return set_error_range (error, spec, possible->str);
  } else if (!parse_sizes (spec, text, &sizes, error))
    return FALSE;

  shape->n_dimensions = sizes.n_dimensions;
  if (machine->is_bgq && !make_bgq (machine, spec, &sizes, error))
    return FALSE;
  for (uint32_t dimension = 0; dimension < sizes.n_dimensions && !machine->is_bgq; dimension++) {
    bool mesh = sizes.mesh[dimension];

    if (sizes.size[dimension] > (mesh ? MAX_MESH_SIZE : MAX_TORUS_SIZE))
      return set_error_range (error, spec,
                              "a torus dimension has at most 511 nodes, a mesh dimension 256");
    shape->size[dimension] = sizes.size[dimension];
    shape->wrap[dimension] = !mesh;
  }
  for (uint32_t dimension = 0; dimension < sizes.n_dimensions; dimension++) {
    n_nodes *= sizes.size[dimension];
    if (n_nodes > MAX_NODES)
      return set_error_range (error, spec, "a machine has at most 1048576 nodes");
  }

  /* The canonical spec has an m only where a torus is the default. */
  canonical = g_string_new (machine->is_bgq ? "bgq:" : "torus:");
  for (uint32_t dimension = 0; dimension < shape->n_dimensions; dimension++) {
    bool wraps = !machine->is_bgq || bgq_wraps (shape->size, dimension);

    g_string_append_printf (canonical, "%s%u%s", dimension > 0 ? "x" : "", shape->size[dimension],
                            wraps && !shape->wrap[dimension] ? "m" : "");
  }
  machine->spec = g_string_free (canonical, FALSE);
  return TRUE;
}

/* --- Ranks and cores of a node --- */

void
topo_machine_default_cores (TopoMachine *machine)
{
  for (uint32_t slot = 0; slot < TOPO_MAX_RANKS_PER_NODE; slot++)
    machine->slot_core[slot] = (uint8_t) slot;
}

gboolean
topo_machine_set_ranks_per_node (TopoMachine *machine, uint32_t n_ranks, GError **error)
{
  uint32_t most = machine->node != NULL ? machine->node->n_cores : TOPO_MAX_TORUS_RANKS;

  if (n_ranks < 1 || n_ranks > most) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                 "%u ranks per node: a node of %s has %u cores", n_ranks, machine->spec, most);
    return FALSE;
  }
  machine->ranks_per_node = n_ranks;
  return TRUE;
}

static gboolean
check_fabric (const TopoMachine *machine, const char *what, GError **error)
{
  if (machine->node != NULL)
    return TRUE;
  g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
               "%s: the nodes of %s, a torus, have no cores to choose from", what, machine->spec);
  return FALSE;
}

/* --- Named orders of cores --- */

/* Which child of its parent an object is; memory is not counted. */
static uint32_t
child_number (const TopoNode *node, uint32_t object)
{
  uint32_t number = 0;

  for (uint32_t other = node->objects[object].parent + 1; other < object; other++)
    number += node->objects[other].parent == node->objects[object].parent &&
              node->objects[other].kind != TOPO_OBJECT_MEMORY;
  return number;
}

/* Whether `core` comes before `other` when the outermost objects take turns,
 * and within each object its children. */
static bool
scatters_before (const TopoNode *node, uint32_t core, uint32_t other)
{
  uint32_t mine = node->core[core], theirs = node->core[other];

  while (node->objects[mine].parent != TOPO_NONE && node->objects[theirs].parent != TOPO_NONE) {
    uint32_t number = child_number (node, mine), their_number = child_number (node, theirs);

    if (number != their_number)
      return number < their_number;
    mine = node->objects[mine].parent;
    theirs = node->objects[theirs].parent;
  }
  return core < other;
}

static bool
os_before (const TopoNode *node, uint32_t core, uint32_t other)
{
  uint32_t mine = node->objects[node->core[core]].os_index;
  uint32_t theirs = node->objects[node->core[other]].os_index;

  return mine != theirs ? mine < theirs : core < other;
}

/* --- Lists of cores --- */

typedef struct {
  uint8_t core[TOPO_MAX_RANKS_PER_NODE];
  uint32_t n;
  bool is_taken[TOPO_MAX_RANKS_PER_NODE]; /* of a core */
} List;

/* Gives the slots the listed cores, then the others. */
static void
use_list (TopoMachine *machine, const List *list)
{
  uint32_t slot = list->n;

  memcpy (machine->slot_core, list->core, list->n);
  for (uint32_t core = 0; core < machine->node->n_cores; core++)
    if (!list->is_taken[core])
      machine->slot_core[slot++] = (uint8_t) core;
  machine->ranks_per_node = list->n;
}

gboolean
topo_machine_set_cores (TopoMachine *machine, const char *cores, GError **error)
{
  g_auto (GStrv) parts = g_strsplit (cores, ",", -1);
  const TopoNode *node = machine->node;
  List list = { .n = 0 };

  if (!check_fabric (machine, "cores", error))
    return FALSE;
  if (g_str_equal (cores, "compact")) {
    topo_machine_default_cores (machine);
    return TRUE;
  }
  if (g_str_equal (cores, "scatter") || g_str_equal (cores, "os")) {
    bool (*before) (const TopoNode *, uint32_t, uint32_t) =
        *cores == 'o' ? os_before : scatters_before;

    /* Insertion: nodes have few cores. */
    for (uint32_t core = 0; core < node->n_cores; core++) {
      uint32_t at = core;

      for (; at > 0 && before (node, core, machine->slot_core[at - 1]); at--)
        machine->slot_core[at] = machine->slot_core[at - 1];
      machine->slot_core[at] = (uint8_t) core;
    }
    return TRUE;
  }
  for (gsize at = 0; parts[at] != NULL; at++) {
    /* "4" or "4-7". */
    const char *text = g_strstrip (parts[at]);
    char *end = NULL;
    guint64 first = g_ascii_isdigit (*text) ? g_ascii_strtoull (text, &end, 10) : 0;
    guint64 last = first;

    if (end != NULL && *end == '-' && g_ascii_isdigit (end[1]))
      last = g_ascii_strtoull (end + 1, &end, 10);
    if (end == NULL || *end != '\0' || last < first) {
      g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX,
                   "expected cores as in 0,2,4-7, or compact, scatter or os, found \"%s\"", text);
      return FALSE;
    }
    for (guint64 core = first; core <= last; core++) {
      if (core >= node->n_cores) {
        g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                     "core %" G_GUINT64_FORMAT ": the node (%s) has cores 0 to %u", core,
                     node->source, node->n_cores - 1);
        return FALSE;
      }
      if (list.is_taken[core]) {
        g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                     "core %" G_GUINT64_FORMAT " appears twice", core);
        return FALSE;
      }
      list.is_taken[core] = true;
      list.core[list.n++] = (uint8_t) core;
    }
  }
  if (list.n == 0) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX, "no core is listed");
    return FALSE;
  }
  use_list (machine, &list);
  return TRUE;
}

gboolean
topo_machine_set_pattern (TopoMachine *machine, uint32_t pattern, GError **error)
{
  List list = { .n = 0 };

  if (!check_fabric (machine, "pattern", error))
    return FALSE;
  list.n = topo_node_pattern (machine->node, pattern, list.core);
  if (list.n == 0) {
    g_set_error (
        error, TOPO_ERROR, TOPO_ERROR_RANGE,
        "pattern %u: the node (%s) has no such pattern; 'hopcast aggregate patterns' lists "
        "them",
        pattern, machine->node->source);
    return FALSE;
  }
  for (uint32_t slot = 0; slot < list.n; slot++)
    list.is_taken[list.core[slot]] = true;
  use_list (machine, &list);
  return TRUE;
}

/* --- Machine files ---
 *
 *   [machine]
 *   spec = fabric:X5.topofile     paths are relative to the machine file
 *   routes = ftree                fabrics only, as the next one and `cores`
 *   node = harpertown
 *   threads = 1
 *   ranks_per_node = 4
 *   cores = 0,4,2,6
 *
 * and a group for each kind of parameters.  Options behind a spec beat the
 * keys, those behind the path of the machine file beat both. */

#define MACHINE_GROUP "machine"
#define POSSIBLE_SPECS                                                                           \
  "bgq:512, bgq:4x4x4x8x2, torus:8x8x8m, fattree:18x18:9, fattree3:8, "                          \
  "dragonflyplus:8x4x4:8, edr:16 (qdr to ndr), systemg, stampede, fabric:FILE or the path of a " \
  "machine file"

/* --- Reading machine files --- */

static gboolean
prefix_key (const char *path, const char *key, GError **error)
{
  g_autofree char *where = topo_keyfile_where (path, MACHINE_GROUP, key);

  g_prefix_error (error, "%s: machine.%s: ", where, key);
  return FALSE;
}

/* The text of a key, NULL without it; the caller frees it. */
static char *
value_of (GKeyFile *file, const char *key)
{
  char *text = g_key_file_get_value (file, MACHINE_GROUP, key, NULL);

  return text != NULL ? g_strstrip (text) : NULL;
}

/* Options that are set already override the keys of the file. */
static gboolean
load_file (TopoMachine *machine, GKeyFile *file, const char *path, const char *folder,
           GError **error)
{
  static const char *const own_groups[] = { MACHINE_GROUP, NULL };
  static const char *const known[] = { "spec",     "routes",         "node",  "threads", "failed",
                                       "degraded", "ranks_per_node", "cores", NULL };
  g_auto (GStrv) keys = g_key_file_get_keys (file, MACHINE_GROUP, NULL, NULL);
  g_autofree char *spec = value_of (file, "spec"), *routes = value_of (file, "routes");
  g_autofree char *node = value_of (file, "node"), *cores = value_of (file, "cores");
  g_autofree char *ranks = value_of (file, "ranks_per_node");
  g_autofree char *threads = value_of (file, "threads");
  g_autofree char *failed = value_of (file, "failed"), *degraded = value_of (file, "degraded");
  const char *fault = NULL;
  gboolean made = FALSE;

  for (gsize at = 0; keys != NULL && keys[at] != NULL; at++)
    if (!g_strv_contains (known, keys[at])) {
      g_autofree char *where = topo_keyfile_where (path, MACHINE_GROUP, keys[at]);
      g_autofree char *list = g_strjoinv (", ", (char **) known);
      g_autofree char *meant = base_did_you_mean (keys[at], known);

      g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX,
                   "%s: unknown key \"%s\" in [machine] (known: %s)%s", where, keys[at], list,
                   meant);
      return FALSE;
    }

  if (spec == NULL) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX, "%s: no spec in [machine]", path);
    return FALSE;
  }
  if (torus_is_spec (spec))
    made = torus_make (machine, spec, error);
  else if (topo_fabric_is_spec (spec))
    made = topo_fabric_make (machine, spec, folder, error);
  else
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX,
                 "expected a spec such as bgq:512 or systemg:16, found \"%s\"", spec);
  if (!made)
    return prefix_key (path, "spec", error);

  if (machine->fabric != NULL) {
    if (routes != NULL && machine->routes == NULL &&
        !topo_fabric_set_routes (machine, routes, folder, error))
      return prefix_key (path, "routes", error);
    if (node != NULL && machine->node == NULL &&
        !topo_fabric_set_node (machine, node, folder, error))
      return prefix_key (path, "node", error);
    if (threads != NULL && machine->threads_per_core == 0 &&
        !topo_fabric_set_threads (machine, threads, error))
      return prefix_key (path, "threads", error);
    if (machine->failed == NULL)
      machine->failed = g_steal_pointer (&failed);
    if (machine->degraded == NULL)
      machine->degraded = g_steal_pointer (&degraded);
    if (!topo_fabric_apply_faults (machine, &fault, error))
      return prefix_key (path, fault, error);
    if (!topo_fabric_finish (machine, error))
      return threads != NULL ? prefix_key (path, "threads", error) : FALSE;
  } else if (failed != NULL || degraded != NULL) {
    set_fault_error (error, machine->is_bgq, machine->spec);
    return prefix_key (path, failed != NULL ? "failed" : "degraded", error);
  } else if (routes != NULL || node != NULL || threads != NULL) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX, "only fabrics have it, %s is a torus",
                 machine->spec);
    return prefix_key (path, routes != NULL ? "routes" : node != NULL ? "node" : "threads", error);
  }

  if (cores != NULL && !topo_machine_set_cores (machine, cores, error))
    return prefix_key (path, "cores", error);
  if (ranks != NULL) {
    uint32_t most = machine->node != NULL ? TOPO_MAX_RANKS_PER_NODE : TOPO_MAX_TORUS_RANKS;
    guint64 n_ranks;

    if (!g_ascii_string_to_unsigned (ranks, 10, 1, most, &n_ranks, NULL)) {
      g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE, "expected 1 to %u, found \"%s\"", most,
                   ranks);
      return prefix_key (path, "ranks_per_node", error);
    }
    if (!topo_machine_set_ranks_per_node (machine, (uint32_t) n_ranks, error))
      return prefix_key (path, "ranks_per_node", error);
  }
  if (!topo_parameters_load (&machine->parameters, file, path, own_groups, error))
    return FALSE;
  if (!topo_sharp_check (machine, error)) {
    g_autofree char *where = topo_keyfile_where (path, "mpi", "sharp");

    g_prefix_error (error, "%s: ", where);
    return FALSE;
  }
  return TRUE;
}

const char *const *
topo_machine_kinds (void)
{
  static const char *const names[] = { "bgq",           "torus",    "fattree", "fattree3",
                                       "dragonflyplus", "qdr",      "fdr",     "edr",
                                       "hdr100",        "hdr",      "ndr200",  "ndr",
                                       "systemg",       "stampede", "fabric",  NULL };

  return names;
}

/* Loads a machine file: "PATH" or "PATH,OPTION=VALUE...", where options (of
 * fabrics) override the file. */
static gboolean
machine_load (TopoMachine *machine, const char *path_and_options, GError **error)
{
  const char *comma =
      g_file_test (path_and_options, G_FILE_TEST_EXISTS) ? NULL : strchr (path_and_options, ',');
  g_autofree char *path = comma == NULL
                              ? g_strdup (path_and_options)
                              : g_strndup (path_and_options, (gsize) (comma - path_and_options));
  g_autofree char *folder = g_path_get_dirname (path);
  g_autoptr (GKeyFile) file = NULL;

  if (!g_file_test (path, G_FILE_TEST_EXISTS)) {
    /* Neither a spec nor a file. */
    g_autofree char *kind = g_strndup (path, strcspn (path, ":"));
    g_autofree char *meant = base_did_you_mean (kind, topo_machine_kinds ());

    g_set_error (error, TOPO_ERROR, TOPO_ERROR_FILE,
                 "machine \"%s\": neither a known machine nor a file; possible are " POSSIBLE_SPECS
                 "%s",
                 path, meant);
    return FALSE;
  }
  if (comma != NULL && !topo_fabric_read_options (machine, comma + 1, error)) {
    g_prefix_error (error, "%s: ", path);
    return FALSE;
  }
  file = topo_keyfile_load (path, error);
  if (file == NULL || !load_file (machine, file, path, folder, error))
    return FALSE;
  if (comma == NULL || machine->fabric != NULL)
    return TRUE;
  g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX,
               "%s: option \"%s\": only fabrics have options, %s is a torus", path, comma + 1,
               machine->spec);
  return FALSE;
}

/* --- Machines --- */

TopoMachine *
topo_machine_new_known (const char *path, GHashTable *known, GError **error)
{
  g_autoptr (TopoMachine) machine = g_new0 (TopoMachine, 1);

  machine->ranks_per_node = 1;
  machine->known = known;
  if (!machine_load (machine, path, error))
    return NULL;
  machine->known = NULL;
  return g_steal_pointer (&machine);
}

/* The parts that options of a spec take out. */
static gboolean
apply_options (TopoMachine *machine, GError **error)
{
  const char *key = NULL;

  if (topo_fabric_apply_faults (machine, &key, error))
    return TRUE;
  g_prefix_error (error, "machine \"%s\": %s: ", machine->spec, key);
  return FALSE;
}

TopoMachine *
topo_machine_new (const char *spec, GError **error)
{
  g_autoptr (TopoMachine) machine = g_new0 (TopoMachine, 1);
  gboolean made;

  machine->ranks_per_node = 1;
  if (torus_is_spec (spec))
    made = torus_make (machine, spec, error);
  else if (topo_fabric_is_spec (spec))
    made = topo_fabric_make (machine, spec, NULL, error) && apply_options (machine, error) &&
           topo_fabric_finish (machine, error);
  else
    made = machine_load (machine, spec, error);
  return made ? g_steal_pointer (&machine) : NULL;
}

/* --- Printing machine files --- */

static void
print_fabric (const TopoMachine *machine, GString *text)
{
  const TopoFabric *fabric = machine->fabric;
  g_autofree char *spec = topo_fabric_print_spec (machine);
  g_autofree char *routes = topo_fabric_print_path (machine->routes);
  g_autofree char *node = topo_fabric_print_path (machine->node->source);
  g_autofree char *picture = topo_node_print (machine->node);
  g_autoptr (GString) names = g_string_new ("# ");
  g_autoptr (GString) faults = g_string_new (NULL);

  for (gsize at = 0; topo_processor_names ()[at] != NULL; at++)
    g_string_append_printf (names, "%s,%s", topo_processor_names ()[at],
                            at % 7 == 6 ? "\n# " : " ");
  g_string_truncate (names, names->len - strlen ("\n# "));
  g_string_append_c (names, '\n');
  if (machine->failed != NULL)
    g_string_append_printf (faults,
                            "# Cables, switches, adapters and nodes that are out\nfailed = %s\n",
                            machine->failed);
  if (machine->degraded != NULL)
    g_string_append_printf (faults, "# Cables with fewer lanes\ndegraded = %s\n",
                            machine->degraded);
  g_string_append_printf (text,
                          "# A machine file: edit any number and give the file's path as"
                          " the machine.\n# Origins: [S] sources and standards, [M] measured,"
                          " [D] derived, [G] general knowledge;\n# guess: not known."
                          "  Sections: handbook, The InfiniBand model.\n\n"
                          "[" MACHINE_GROUP "]\n"
                          "# The first %u of %u nodes; %u switches, %u directed links\n"
                          "spec = %s\n"
                          "# minhop, updn, ftree, dor, opensm:ENGINE, or the path of"
                          " dumped tables;\n"
                          "# any of them after layers: on as many lanes as avoid deadlock\n"
                          "routes = %s\n"
                          "%s%s# or the path of hwloc's XML; cores are numbered as hwloc does:\n",
                          topo_shape_nodes (&machine->shape), fabric->n_hosts, fabric->n_switches,
                          fabric->n_links, spec, routes, faults->str, names->str);
  /* Lines of a picture as comments. */
  g_auto (GStrv) lines = g_strsplit (picture, "\n", -1);

  for (gsize at = 0; lines[at] != NULL; at++)
    if (*lines[at] != '\0')
      g_string_append_printf (text, "#   %s\n", lines[at]);
  g_string_append_printf (text,
                          "node = %s\n"
                          "# Hardware threads of each core that are slots; above 1 the numbers of"
                          " cores are theirs\n"
                          "threads = %u\n"
                          "# Slots for ranks on each node, 1 to %u\n"
                          "ranks_per_node = %u\n"
                          "# Core of each slot: a list, compact, scatter or os\n",
                          node, machine->threads_per_core, machine->node->n_cores,
                          machine->ranks_per_node);
  g_string_append (text, "cores = ");
  for (uint32_t slot = 0; slot < machine->node->n_cores; slot++)
    g_string_append_printf (text, "%s%u", slot > 0 ? "," : "", machine->slot_core[slot]);
  g_string_append_c (text, '\n');
}

char *
topo_machine_print_noted (const TopoMachine *machine, const TopoParameterNote *more, guint n_more)
{
  GString *text = g_string_new (NULL);
  g_autoptr (GArray) notes = g_array_new (FALSE, FALSE, sizeof (TopoParameterNote));
  g_autoptr (GPtrArray) of_processor = NULL;
  const char *keys[TOPO_MAX_UNUSED + 1];
  const char *const *unused = NULL;

  g_array_append_vals (notes, more, n_more);
  if (machine->fabric != NULL) {
    print_fabric (machine, text);
    of_processor = topo_processor_notes (machine->node);
    for (guint at = 0; at < of_processor->len; at++)
      g_array_append_vals (notes, of_processor->pdata[at], 1);
    topo_fabric_notes (machine, notes);
    unused = topo_fabric_unused (machine, keys);
  } else {
    g_string_append_printf (text,
                            "# A machine file: edit any number and give the file's path as"
                            " the machine.\n# Origins: [S] IBM's sources, [P] published,"
                            " [A] published (abstract), [R] recalled,\n# [D] derived;"
                            " guess: nobody outside IBM knows.  Sections: handbook,"
                            " The Blue Gene/Q model.\n\n"
                            "[" MACHINE_GROUP "]\n"
                            "# Shape, %u nodes\n"
                            "spec = %s\n"
                            "# Slots for ranks on each node, 1 to %d\n"
                            "ranks_per_node = %u\n",
                            topo_shape_nodes (&machine->shape), machine->spec, TOPO_MAX_TORUS_RANKS,
                            machine->ranks_per_node);
  }
  topo_parameters_print_noted (&machine->parameters, (const TopoParameterNote *) notes->data,
                               notes->len, unused, text);
  return g_string_free (text, FALSE);
}

char *
topo_machine_print (const TopoMachine *machine)
{
  return topo_machine_print_noted (machine, NULL, 0);
}
