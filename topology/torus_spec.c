/* torus_spec.c - Blue Gene/Q partitions and other tori as specs of machines.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "topology/machine_private.h"

#include <string.h>

#define BGQ_DIMENSIONS    5
#define BGQ_E             4
#define MIDPLANE_SIZE     4  /* along A, B, C and D */
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

/* A shape as it stands in a spec: sizes, and which ones end in m. */
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

static gboolean
check_nodes (const char *spec, const Sizes *sizes, GError **error)
{
  uint64_t n_nodes = 1;

  for (uint32_t dimension = 0; dimension < sizes->n_dimensions; dimension++) {
    n_nodes *= sizes->size[dimension];
    if (n_nodes > MAX_NODES)
      return set_error_range (error, spec, "a machine has at most 1048576 nodes");
  }
  return TRUE;
}

/* The listed partition of these sizes, or NULL. */
static const Partition *
find_partition (const Sizes *sizes)
{
  for (gsize at = 0; at < G_N_ELEMENTS (partitions); at++) {
    uint32_t dimension = 0;

    while (dimension < BGQ_DIMENSIONS && partitions[at].size[dimension] == sizes->size[dimension])
      dimension++;
    if (dimension == BGQ_DIMENSIONS)
      return &partitions[at];
  }
  return NULL;
}

static bool
is_within_midplane (const Sizes *sizes)
{
  for (uint32_t dimension = 0; dimension < BGQ_E; dimension++)
    if (sizes->size[dimension] > MIDPLANE_SIZE)
      return false;
  return sizes->size[BGQ_E] <= 2;
}

static bool
is_of_midplanes (const Sizes *sizes)
{
  for (uint32_t dimension = 0; dimension < BGQ_E; dimension++)
    if (sizes->size[dimension] % MIDPLANE_SIZE != 0 || sizes->size[dimension] > MAX_BGQ_SIZE)
      return false;
  return sizes->size[BGQ_E] == 2;
}

/* Whether a dimension is a torus when the spec does not say otherwise.  A
 * block below a midplane that IBM does not list is a mesh wherever it does
 * not span the midplane (bgq.md section 1, sub-block jobs). */
static bool
bgq_wraps (const Sizes *sizes, uint32_t dimension)
{
  const Partition *partition = find_partition (sizes);

  if (partition != NULL)
    return partition->wrap[dimension] == 'T';
  return dimension == BGQ_E || sizes->size[dimension] >= MIDPLANE_SIZE;
}

static gboolean
make_bgq (TopoMachine *machine, const char *spec, const Sizes *sizes, GError **error)
{
  machine->is_bgq = true;
  machine->shape.n_dimensions = BGQ_DIMENSIONS;
  if (sizes->n_dimensions != BGQ_DIMENSIONS)
    return set_error_range (error, spec, "a Blue Gene/Q has five dimensions, as in 4x4x4x8x2");
  if (!is_within_midplane (sizes) && !is_of_midplanes (sizes))
    return set_error_range (error, spec, "a Blue Gene/Q block is " POSSIBLE_BGQ_DIMS);
  if (sizes->mesh[BGQ_E])
    return set_error_range (error, spec, "the E dimension of a Blue Gene/Q is always a torus");
  for (uint32_t dimension = 0; dimension < BGQ_DIMENSIONS; dimension++) {
    machine->shape.size[dimension] = sizes->size[dimension];
    machine->shape.wrap[dimension] = !sizes->mesh[dimension] && bgq_wraps (sizes, dimension);
  }
  return check_nodes (spec, sizes, error);
}

/* bgq:N. */
static gboolean
make_bgq_by_nodes (TopoMachine *machine, const char *spec, const char *text, GError **error)
{
  guint64 nodes;
  g_autoptr (GString) possible = g_string_new ("known node counts are");
  Sizes sizes = { .n_dimensions = BGQ_DIMENSIONS };

  if (!g_ascii_string_to_unsigned (text, 10, 0, UINT32_MAX, &nodes, NULL))
    nodes = 0;
  for (gsize at = 0; at < G_N_ELEMENTS (partitions); at++) {
    g_string_append_printf (possible, " %u", partitions[at].nodes);
    if (partitions[at].nodes != nodes)
      continue;
    for (uint32_t dimension = 0; dimension < BGQ_DIMENSIONS; dimension++)
      sizes.size[dimension] = partitions[at].size[dimension];
    return make_bgq (machine, spec, &sizes, error);
  }
  g_string_append (possible, ", or give a shape, as in bgq:4x4x4x8x2");
  return set_error_range (error, spec, possible->str);
}

static gboolean
make_torus (TopoMachine *machine, const char *spec, const Sizes *sizes, GError **error)
{
  machine->shape.n_dimensions = sizes->n_dimensions;
  for (uint32_t dimension = 0; dimension < sizes->n_dimensions; dimension++) {
    bool mesh = sizes->mesh[dimension];

    if (sizes->size[dimension] > (mesh ? MAX_MESH_SIZE : MAX_TORUS_SIZE))
      return set_error_range (error, spec,
                              "a torus dimension has at most 511 nodes, a mesh dimension 256");
    machine->shape.size[dimension] = sizes->size[dimension];
    machine->shape.wrap[dimension] = !mesh;
  }
  return check_nodes (spec, sizes, error);
}

/* The spec that makes this shape, with an m where it is not the default. */
static char *
canonical_spec (const TopoMachine *machine)
{
  const TopoShape *shape = &machine->shape;
  GString *spec = g_string_new (machine->is_bgq ? "bgq:" : "torus:");
  Sizes sizes = { .n_dimensions = shape->n_dimensions };

  memcpy (sizes.size, shape->size, sizeof sizes.size);
  for (uint32_t dimension = 0; dimension < shape->n_dimensions; dimension++) {
    bool wraps = machine->is_bgq ? bgq_wraps (&sizes, dimension) : true;

    g_string_append_printf (spec, "%s%u%s", dimension > 0 ? "x" : "", shape->size[dimension],
                            wraps && !shape->wrap[dimension] ? "m" : "");
  }
  return g_string_free (spec, FALSE);
}

gboolean
topo_torus_make (TopoMachine *machine, const char *spec, GError **error)
{
  const char *text = strchr (spec, ':') + 1;
  const char *comma = strchr (text, ',');
  bool is_bgq = g_str_has_prefix (spec, "bgq:");
  Sizes sizes;

  topo_parameters_default (&machine->parameters, TOPO_FAMILY_TORUS);
  if (comma != NULL) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX,
                 "machine \"%s\": unknown option \"%s\" (no options are known for this machine)",
                 spec, comma + 1);
    return FALSE;
  }
  if (is_bgq && strchr (text, 'x') == NULL) {
    if (!make_bgq_by_nodes (machine, spec, text, error))
      return FALSE;
  } else if (!parse_sizes (spec, text, &sizes, error) ||
             !(is_bgq ? make_bgq : make_torus) (machine, spec, &sizes, error))
    return FALSE;
  machine->spec = canonical_spec (machine);
  return TRUE;
}

bool
topo_torus_is_spec (const char *spec)
{
  return g_str_has_prefix (spec, "bgq:") || g_str_has_prefix (spec, "torus:");
}
