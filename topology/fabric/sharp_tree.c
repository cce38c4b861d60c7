/* sharp_tree.c - aggregation trees of InfiniBand switches (NVIDIA's SHARP).
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Source of the payloads: the NVIDIA SHARP manual 2.6.1, "NVIDIA SHARP Collective Library",
 * SHARP_COLL_JOB_QUOTA_PAYLOAD_PER_OST; of the device ids: the PCI ID repository. */
#include "topology/fabric/sharp_tree.h"

#include <string.h>

/* --- Generations of switches --- */

typedef struct {
  const char *name;
  uint32_t model; /* PCI device id */
  TopoSpeed speed;
  uint64_t most_bytes;    /* of a transaction; 0: it cannot aggregate */
  uint64_t library_bytes; /* of which NVIDIA's library asks for so many */
} Generation;

static const Generation generations[] = {
  { "InfiniScale IV", 48438, TOPO_SPEED_QDR, 0, 0 },
  { "SwitchX", 51000, TOPO_SPEED_FDR, 0, 0 },
  { "Switch-IB", 52000, TOPO_SPEED_SDR, 0, 0 }, /* of EDR, which without an id is Switch-IB 2 */
  { "Switch-IB 2", 53000, TOPO_SPEED_EDR, 256, 256 },
  { "Quantum", 54000, TOPO_SPEED_HDR, 2048, 1024 },
  { "Quantum-2", 54002, TOPO_SPEED_NDR, 2048, 1024 },
};

static bool
is_switch (const TopoFabric *fabric, uint32_t port)
{
  return port != TOPO_NONE && fabric->devices[fabric->ports[port].device].is_switch;
}

/* NULL: its cables are slower than those of all that have SHARP, and it has no known id. */
static const Generation *
generation_of (const TopoFabric *fabric, const TopoDevice *device)
{
  TopoSpeed speed = TOPO_SPEED_SDR;
  const Generation *found = NULL;

  for (gsize at = 0; at < G_N_ELEMENTS (generations); at++)
    if (generations[at].model == device->model)
      return &generations[at];
  for (uint32_t port = device->first_port; port < device->first_port + device->n_ports; port++)
    if (fabric->ports[port].peer != TOPO_NONE)
      speed = MAX (speed, (TopoSpeed) fabric->ports[port].speed);
  for (gsize at = 0; at < G_N_ELEMENTS (generations); at++)
    if (generations[at].most_bytes > 0 && generations[at].speed <= speed)
      found = &generations[at];
  return found;
}

/* --- Levels --- */

/* [n_devices] of switches with a way to a node, else TOPO_NONE.  The caller frees. */
static uint32_t *
levels_new (const TopoFabric *fabric)
{
  uint32_t *level = g_new (uint32_t, fabric->n_devices), n = 0;
  g_autofree uint32_t *queue = g_new (uint32_t, fabric->n_devices);

  memset (level, 0xff, fabric->n_devices * sizeof *level);
  for (uint32_t port = 0; port < fabric->n_ports; port++) {
    uint32_t device = fabric->ports[port].device, peer = fabric->ports[port].peer;

    if (!is_switch (fabric, port) || peer == TOPO_NONE || is_switch (fabric, peer) ||
        level[device] == 0)
      continue;
    level[device] = 0;
    queue[n++] = device;
  }
  for (uint32_t at = 0; at < n; at++) {
    const TopoDevice *device = &fabric->devices[queue[at]];

    for (uint32_t port = device->first_port; port < device->first_port + device->n_ports; port++) {
      uint32_t peer = fabric->ports[port].peer;
      uint32_t next = peer == TOPO_NONE ? TOPO_NONE : fabric->ports[peer].device;

      if (!is_switch (fabric, peer) || level[next] != TOPO_NONE)
        continue;
      level[next] = level[queue[at]] + 1;
      queue[n++] = next;
    }
  }
  return level;
}

static gboolean
check_levels (const TopoMachine *machine, GError **error)
{
  const TopoFabric *fabric = machine->fabric;
  g_autofree uint32_t *level = levels_new (fabric);

  for (uint32_t port = 0; port < fabric->n_ports; port++) {
    uint32_t device = fabric->ports[port].device, peer = fabric->ports[port].peer;

    if (!is_switch (fabric, port) || !is_switch (fabric, peer) || level[device] == TOPO_NONE ||
        level[device] != level[fabric->ports[peer].device])
      continue;
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                 "mpi.sharp: the switches of %s are no tree: the cable between %s and %s joins two "
                 "of one level; aggregation trees are known for fat trees only",
                 machine->spec, fabric->devices[device].name,
                 fabric->devices[fabric->ports[peer].device].name);
    return FALSE;
  }
  return TRUE;
}

gboolean
topo_sharp_check (const TopoMachine *machine, GError **error)
{
  const TopoFabric *fabric = machine->fabric;
  uint64_t payload_bytes = machine->parameters.sharp.payload_bytes;

  if (machine->parameters.sharp.enabled == 0)
    return TRUE;
  for (uint32_t at = 0; at < fabric->n_devices; at++) {
    const TopoDevice *device = &fabric->devices[at];
    const Generation *generation = device->is_switch ? generation_of (fabric, device) : NULL;

    if (!device->is_switch)
      continue;
    if (generation == NULL || generation->most_bytes == 0) {
      g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                   "mpi.sharp: switch %s of %s%s%s%s is older than Switch-IB 2 (EDR), the first "
                   "that aggregates",
                   device->name, machine->spec, generation == NULL ? "" : " (",
                   generation == NULL ? "" : generation->name, generation == NULL ? "" : ")");
      return FALSE;
    }
    if (payload_bytes > generation->most_bytes) {
      g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                   "sharp.payload: switch %s of %s (%s) takes at most %" G_GUINT64_FORMAT
                   " B a transaction",
                   device->name, machine->spec, generation->name, generation->most_bytes);
      return FALSE;
    }
  }
  return check_levels (machine, error);
}

/* --- Trees --- */

/* Of one communicator.  Arrays are by device. */
typedef struct {
  const TopoFabric *fabric;
  uint32_t *level;
  uint32_t *n_children; /* of a switch, in the tree: first its nodes alone */
  uint32_t n_leaves;    /* switches with nodes */
  uint32_t *up;         /* port towards the root that was last tried */
  uint32_t *tried;      /* number of the last root from which it was reached */
  uint32_t *queue;
} Search;

static void
search_clear (Search *search)
{
  g_free (search->level);
  g_free (search->n_children);
  g_free (search->up);
  g_free (search->tried);
  g_free (search->queue);
}

/* The port of the node's first adapter; TOPO_NONE: no cable leads to a switch. */
static uint32_t
port_of_node (const TopoFabric *fabric, uint32_t node)
{
  const TopoDevice *adapter = &fabric->devices[fabric->rails[fabric->hosts[node].first_rail]];

  for (uint32_t at = adapter->first_port; at < adapter->first_port + adapter->n_ports; at++)
    if (is_switch (fabric, fabric->ports[at].peer))
      return at;
  return TOPO_NONE;
}

/* Appends the switches one level above (below) a switch to the queue, each once for a `number`. */
static uint32_t
spread (Search *search, uint32_t device, bool upwards, uint32_t number, uint32_t end)
{
  const TopoFabric *fabric = search->fabric;
  const TopoDevice *it = &fabric->devices[device];

  for (uint32_t port = it->first_port; port < it->first_port + it->n_ports; port++) {
    uint32_t peer = fabric->ports[port].peer, next;

    if (!is_switch (fabric, peer))
      continue;
    next = fabric->ports[peer].device;
    if (search->tried[next] == number || (search->level[next] > search->level[device]) != upwards)
      continue;
    search->tried[next] = number;
    search->up[next] = peer;
    search->queue[end++] = next;
  }
  return end;
}

/* Whether cables lead down from `root` to all leaves; queue[first] and what follows is free. */
static bool
reaches_all (Search *search, uint32_t root, uint32_t number, uint32_t first)
{
  uint32_t end = first, n_leaves = 0;

  search->tried[root] = number;
  search->queue[end++] = root;
  for (uint32_t at = first; at < end && n_leaves < search->n_leaves; at++) {
    n_leaves += search->n_children[search->queue[at]] > 0;
    if (search->level[search->queue[at]] > 0)
      end = spread (search, search->queue[at], false, number, end);
  }
  return n_leaves == search->n_leaves;
}

/* The first switch of the lowest level above all leaves, of which `leaf` is one. */
static uint32_t
find_root (Search *search, uint32_t leaf)
{
  const uint32_t upwards = 1;
  uint32_t end = 1, number = upwards;
  g_autofree uint32_t *above = NULL;

  search->queue[0] = leaf;
  search->tried[leaf] = upwards;
  for (uint32_t at = 0; at < end; at++)
    end = spread (search, search->queue[at], true, upwards, end);
  above = g_memdup2 (search->queue, end * sizeof *above);
  for (uint32_t at = 0; at < end; at++)
    if (reaches_all (search, above[at], ++number, 0))
      return above[at];
  return TOPO_NONE;
}

static void
add_cable (const TopoMachine *machine, uint32_t port, int64_t *slowest_ps, TopoSharpTree *tree)
{
  const TopoPort *it = &machine->fabric->ports[port];

  *slowest_ps = MAX (*slowest_ps, topo_machine_cable_latency_ps (machine, port));
  tree->bandwidth_Bps =
      MIN (tree->bandwidth_Bps, topo_link_bandwidth_Bps (it->lanes, (TopoSpeed) it->speed));
}

/* The ways from the nodes up to the root.  Every switch counts as a child of its parent once. */
static void
measure (const TopoMachine *machine, Search *search, const uint32_t *nodes, uint32_t n_nodes,
         uint32_t root, TopoSharpTree *tree)
{
  const TopoFabric *fabric = machine->fabric;
  uint32_t n_levels = search->level[root] + 1;
  g_autofree bool *counted = g_new0 (bool, fabric->n_devices);
  g_autofree uint32_t *most = g_new0 (uint32_t, n_levels);
  g_autofree int64_t *cable_ps = g_new0 (int64_t, n_levels);

  *tree = (TopoSharpTree){ .n_levels = n_levels,
                           .bandwidth_Bps = UINT64_MAX,
                           .payload_bytes = UINT64_MAX };
  for (uint32_t at = 0; at < n_nodes; at++) {
    uint32_t port = port_of_node (fabric, nodes[at]);

    for (;;) {
      uint32_t device = fabric->ports[fabric->ports[port].peer].device;
      const Generation *generation = generation_of (fabric, &fabric->devices[device]);
      bool was_counted = counted[device];

      add_cable (machine, port, &cable_ps[search->level[device]], tree);
      counted[device] = true;
      if (was_counted)
        break;
      if (generation != NULL)
        tree->payload_bytes = MIN (tree->payload_bytes, generation->library_bytes);
      if (device == root)
        break;
      port = search->up[device];
      search->n_children[fabric->ports[fabric->ports[port].peer].device]++;
    }
  }
  for (uint32_t device = 0; device < fabric->n_devices; device++)
    if (counted[device]) {
      uint32_t level = search->level[device];

      most[level] = MAX (most[level], search->n_children[device]);
    }
  for (uint32_t level = 0; level < n_levels; level++) {
    tree->n_children += most[level];
    tree->most_children = MAX (tree->most_children, most[level]);
    tree->cables_ps += cable_ps[level];
  }
}

bool
topo_sharp_tree (const TopoMachine *machine, const uint32_t *nodes, uint32_t n_nodes,
                 TopoSharpTree *tree)
{
  const TopoFabric *fabric = machine->fabric;
  Search search = { .fabric = fabric };
  uint32_t root = TOPO_NONE, leaf = TOPO_NONE;
  bool all = true;

  search.level = levels_new (fabric);
  search.n_children = g_new0 (uint32_t, fabric->n_devices);
  search.up = g_new (uint32_t, fabric->n_devices);
  search.tried = g_new0 (uint32_t, fabric->n_devices);
  search.queue = g_new (uint32_t, fabric->n_devices);
  for (uint32_t at = 0; at < n_nodes && all; at++) {
    uint32_t port = port_of_node (fabric, nodes[at]);

    all = port != TOPO_NONE;
    if (!all)
      break;
    leaf = fabric->ports[fabric->ports[port].peer].device;
    search.n_leaves += search.n_children[leaf]++ == 0;
  }
  if (all && leaf != TOPO_NONE)
    root = find_root (&search, leaf);
  if (root != TOPO_NONE)
    measure (machine, &search, nodes, n_nodes, root, tree);
  search_clear (&search);
  return root != TOPO_NONE;
}
