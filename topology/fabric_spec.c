/* fabric_spec.c - fabrics as specs of machines.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 *   KIND:ARGUMENT[,OPTION=VALUE...]
 *
 * The layout of System G's switches is not published; 18 leaves with 18 nodes
 * each and 9 spines is what fits its 324 ports (our assumption). */
#include "topology/fabric_spec.h"

#include <string.h>

#define SYSTEM_G_LEAVES 18
#define SYSTEM_G_NODES  18 /* per leaf */
#define SYSTEM_G_SPINES 9

typedef struct {
  const char *argument; /* NULL: none */
  TopoSpeed speed;
  const char *routes;
} Parts;

typedef gboolean (*Make) (TopoMachine *machine, const Parts *parts, GError **error);

static gboolean
bad_argument (GError **error, const char *expected, const char *found)
{
  g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX, "machine: expected %s, found \"%s\"", expected,
               found != NULL ? found : "nothing");
  return FALSE;
}

/* Up to n whole numbers with the separators of `format` between them; how
 * many there are, 0 when the text is something else. */
static guint
read_numbers (const char *text, const char *separators, uint32_t *numbers)
{
  guint n = 0;

  for (;;) {
    char *end;
    guint64 value = g_ascii_strtoull (text, &end, 10);

    if (!g_ascii_isdigit (*text) || value > UINT16_MAX)
      return 0;
    numbers[n++] = (uint32_t) value;
    if (*end == '\0')
      return n;
    if (separators[n - 1] == '\0' || *end != separators[n - 1])
      return 0;
    text = end + 1;
  }
}

static gboolean
make_tree (TopoMachine *machine, const Parts *parts, GError **error)
{
  uint32_t numbers[3] = { 0 };

  if (parts->argument == NULL || read_numbers (parts->argument, "x:", numbers) < 2)
    return bad_argument (error, "LEAVESxNODES[:SPINES], as in fattree:18x18:9", parts->argument);
  machine->fabric = topo_fabric_tree (numbers[0], numbers[1], numbers[2], parts->speed, error);
  return machine->fabric != NULL;
}

static gboolean
make_tree3 (TopoMachine *machine, const Parts *parts, GError **error)
{
  uint32_t radix;

  if (parts->argument == NULL || read_numbers (parts->argument, "", &radix) != 1)
    return bad_argument (error, "the ports of a switch, as in fattree3:8", parts->argument);
  machine->fabric = topo_fabric_tree3 (radix, parts->speed, error);
  return machine->fabric != NULL;
}

static gboolean
make_system_g (TopoMachine *machine, const Parts *parts, GError **error)
{
  const uint32_t most = SYSTEM_G_LEAVES * SYSTEM_G_NODES;
  uint32_t n_nodes = most;

  if (parts->argument != NULL &&
      (read_numbers (parts->argument, "", &n_nodes) != 1 || n_nodes < 1 || n_nodes > most))
    return bad_argument (error, "1 to 324 nodes, as in systemg:16", parts->argument);
  machine->fabric =
      topo_fabric_tree (SYSTEM_G_LEAVES, SYSTEM_G_NODES, SYSTEM_G_SPINES, parts->speed, error);
  machine->shape.size[0] = n_nodes;
  return machine->fabric != NULL;
}

static gboolean
make_from_file (TopoMachine *machine, const Parts *parts, GError **error)
{
  if (parts->argument == NULL)
    return bad_argument (error, "the path of a fabric's description, as in fabric:X5.topofile",
                         parts->argument);
  machine->fabric = topo_fabric_load (parts->argument, error);
  return machine->fabric != NULL;
}

static const struct {
  const char *kind;
  Make make;
} kinds[] = {
  { "fattree", make_tree },
  { "fattree3", make_tree3 },
  { "systemg", make_system_g },
  { "fabric", make_from_file },
};

/* Length of the kind that a spec begins with, *kind its number; 0: none. */
static gsize
kind_of (const char *spec, guint *kind)
{
  gsize length = strcspn (spec, ":,");

  for (*kind = 0; *kind < G_N_ELEMENTS (kinds); ++*kind)
    if (strlen (kinds[*kind].kind) == length && !strncmp (spec, kinds[*kind].kind, length))
      return length;
  return 0;
}

bool
topo_fabric_is_spec (const char *spec)
{
  guint kind;

  return kind_of (spec, &kind) > 0;
}

static gboolean
read_option (Parts *parts, const char *option, GError **error)
{
  if (g_str_has_prefix (option, "routes=") && option[7] != '\0') {
    parts->routes = option + 7;
    return TRUE;
  }
  if (g_str_has_prefix (option, "speed=") &&
      topo_speed_parse (option + 6, strlen (option + 6), &parts->speed))
    return TRUE;
  return bad_argument (
      error,
      "routes=ENGINE, routes=opensm:ENGINE, routes=PATH or speed=SDR, DDR, QDR, FDR10, FDR, EDR, HDR or "
      "NDR (trees)",
      option);
}

gboolean
topo_fabric_make (TopoMachine *machine, const char *spec, GError **error)
{
  guint kind;
  gsize length = kind_of (spec, &kind);
  g_auto (GStrv) fields = g_strsplit (spec + length, ",", -1);
  Parts parts = { .speed = TOPO_SPEED_QDR, .routes = "minhop" };

  for (guint at = 1; fields[0] != NULL && fields[at] != NULL; at++)
    if (!read_option (&parts, fields[at], error))
      return FALSE;
  if (fields[0] != NULL && fields[0][0] == ':' && fields[0][1] != '\0')
    parts.argument = fields[0] + 1;
  if (!kinds[kind].make (machine, &parts, error))
    return FALSE;
  machine->spec = g_strdup (spec);
  machine->routes = g_strdup (parts.routes);
  machine->node = topo_node_harpertown ();
  machine->shape.n_dimensions = 1;
  if (machine->shape.size[0] == 0)
    machine->shape.size[0] = machine->fabric->n_hosts;
  return TRUE;
}
