/* platform_file.c - prints a machine as a SimGrid platform file.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * SimGrid has a torus cluster and a fat tree of its own, but with its own
 * dimension order, its own ties, one cable between the nodes of a dimension of
 * two, and no forwarding tables.  So that both simulators speak of one
 * machine, the file lists one link per directed cable and, for every pair of
 * hosts, the links of our deterministic path.  That is a table of n^2 routes:
 * those of 512 hosts take SimGrid 0.8 s and 80 MB, those of 2,048 hosts 23 s and
 * 0.7 GB.
 *
 * Hosts are called n<node>, links l<link>.  On Blue Gene/Q every node whose
 * E neighbour is listed too has a second host e<node>, with a route only to
 * that neighbour's second host: over the cable that n<node> does not use.  On
 * a fabric every rail of a node has a host, n<node>r<rail> from its second
 * rail on, and every adapter two links more, o<device> and i<device>: the bus
 * between it and memory, each direction. */
#include "validation/simgrid/platform_file.h"

typedef struct {
  const RoutePaths *paths;
  const uint32_t *nodes; /* those that get a host, ascending */
  uint32_t n_nodes;
} Platform;

#define HOST_NAME_SIZE 24

/* The dimension that has a second cable, which large transfers use too; TOPO_NONE without. */
static uint32_t
split_dimension_of (const TopoMachine *machine)
{
  const TopoShape *shape = &machine->shape;
  uint32_t last = shape->n_dimensions - 1;

  return machine->is_bgq && shape->size[last] == 2 && shape->wrap[last] ? last : TOPO_NONE;
}

/* "%.17g" in the C locale: SimGrid reads points, whatever the user's language. */
static void
write_double (FILE *out, double value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  fputs (g_ascii_dtostr (text, sizeof text, value), out);
}

static void
write_link (const Platform *platform, char kind, uint32_t number, double bandwidth_Bps,
            int64_t latency_ps, FILE *out)
{
  fprintf (out, "<link id=\"%c%u\" bandwidth=\"", kind, number);
  write_double (out, bandwidth_Bps);
  fputs ("Bps\" latency=\"", out);
  write_double (out, (double) latency_ps * 1e-12);
  fputs ("s\"/>\n", out);
}

/* --- Tori --- */

/* All links: a path may pass nodes that have no host. */
static void
write_torus_links (const Platform *platform, FILE *out)
{
  const TopoMachine *machine = platform->paths->machine;
  const TopoParameters *parameters = &machine->parameters;
  uint32_t n_nodes = topo_shape_nodes (&machine->shape);
  uint32_t n_ports = topo_shape_ports (&machine->shape);
  double bandwidth_Bps = (double) parameters->link.bandwidth_Bps * (1 - parameters->link.overhead);

  for (uint32_t node = 0; node < n_nodes; node++)
    for (uint32_t port = 0; port < n_ports; port++)
      if (topo_shape_neighbour (&machine->shape, node, port) != TOPO_NONE)
        write_link (platform, 'l', node * n_ports + port, bandwidth_Bps,
                    parameters->link.hop_latency_ps +
                        topo_machine_extra_latency_ps (machine, node, port),
                    out);
}

static void
write_host (const Platform *platform, const char *name, FILE *out)
{
  double speed_flops = platform->paths->machine->parameters.node.compute_Flops;

  fprintf (out, "<host id=\"%s\" speed=\"", name);
  write_double (out, speed_flops > 0 ? speed_flops : 1e9);
  fputs ("f\"/>\n", out);
}

static void
write_torus_hosts (const Platform *platform, char kind, FILE *out)
{
  char name[HOST_NAME_SIZE];

  for (uint32_t i = 0; i < platform->n_nodes; i++) {
    g_snprintf (name, sizeof name, "%c%u", kind, platform->nodes[i]);
    write_host (platform, name, out);
  }
}

static void
write_route (const Platform *platform, char kind, uint32_t from, uint32_t to, RouteWay way,
             uint32_t *links, FILE *out)
{
  uint32_t n_links = route_torus_path (&platform->paths->torus, from, way, links);

  fprintf (out, "<route src=\"%c%u\" dst=\"%c%u\" symmetrical=\"NO\">", kind, from, kind, to);
  for (uint32_t i = 0; i < n_links; i++)
    fprintf (out, "<link_ctn id=\"l%u\"/>", links[i]);
  fputs ("</route>\n", out);
}

static void
write_torus_routes (const Platform *platform, uint32_t *links, FILE *out)
{
  for (uint32_t i = 0; i < platform->n_nodes; i++)
    for (uint32_t j = 0; j < platform->n_nodes; j++) {
      uint32_t from = platform->nodes[i], to = platform->nodes[j];

      if (from != to)
        write_route (platform, 'n', from, to, route_torus_way (&platform->paths->torus, from, to),
                     links, out);
    }
}

/* The cable that the deterministic path leaves unused, for the second half
 * of large transfers to the E neighbour. */
static void
write_split_routes (const Platform *platform, uint32_t dimension, const bool *has_host,
                    uint32_t *links, FILE *out)
{
  const RouteTorus *route = &platform->paths->torus;

  for (uint32_t i = 0; i < platform->n_nodes; i++) {
    uint32_t from = platform->nodes[i];
    uint32_t to = topo_shape_neighbour (&route->shape, from, 2 * dimension);
    bool first_goes_plus;

    if (!has_host[to])
      continue;
    first_goes_plus = (route_torus_way (route, from, to).plus >> dimension) & 1u;
    write_route (platform, 'e', from, to,
                 route_torus_way_hinted (route, from, to, dimension, !first_goes_plus), links, out);
  }
}

static void
write_torus (const Platform *platform, uint32_t *links, FILE *out)
{
  const TopoMachine *machine = platform->paths->machine;
  uint32_t split_dimension = split_dimension_of (machine);
  g_autofree bool *has_host = g_new0 (bool, topo_shape_nodes (&machine->shape));

  for (uint32_t i = 0; i < platform->n_nodes; i++)
    has_host[platform->nodes[i]] = true;
  write_torus_hosts (platform, 'n', out);
  if (split_dimension != TOPO_NONE)
    write_torus_hosts (platform, 'e', out);
  write_torus_links (platform, out);
  write_torus_routes (platform, links, out);
  if (split_dimension != TOPO_NONE)
    write_split_routes (platform, split_dimension, has_host, links, out);
}

/* --- Fabrics --- */

/* The name of the host of a fabric's node on its `rail`th rail, from 0. */
static void
rail_host_name (char name[HOST_NAME_SIZE], uint32_t node, uint32_t rail)
{
  if (rail == 0)
    g_snprintf (name, HOST_NAME_SIZE, "n%u", node);
  else
    g_snprintf (name, HOST_NAME_SIZE, "n%ur%u", node, rail);
}

/* A cable's switch is part of its latency. */
static void
write_cables (const Platform *platform, const TopoFabric *fabric, FILE *out)
{
  const TopoParameters *parameters = &platform->paths->machine->parameters;

  for (uint32_t port = 0; port < fabric->n_ports; port++) {
    const TopoPort *it = &fabric->ports[port];
    bool to_switch;

    if (it->peer == TOPO_NONE)
      continue;
    to_switch = fabric->devices[fabric->ports[it->peer].device].is_switch;
    write_link (platform, 'l', port,
                (double) topo_link_bandwidth_Bps (it->lanes, (TopoSpeed) it->speed),
                topo_machine_cable_latency_ps (platform->paths->machine, port) +
                    (to_switch ? parameters->switches.latency_ps : 0),
                out);
  }
}

/* A flow has one size on all its links, headers included, but the bus carries
 * payload only: its bandwidth is what full packets make of it. */
static void
write_buses (const Platform *platform, const TopoFabric *fabric, FILE *out)
{
  const TopoParameters *parameters = &platform->paths->machine->parameters;
  double mtu_bytes = (double) parameters->ib.mtu_bytes;
  double bandwidth_Bps =
      (double) parameters->hca.pcie_bandwidth_Bps *
      (mtu_bytes + (double) (parameters->ib.header_bytes + parameters->ib.framing_bytes)) /
      mtu_bytes;

  for (uint32_t device = 0; device < fabric->n_devices; device++) {
    if (fabric->devices[device].is_switch)
      continue;
    write_link (platform, 'o', device, bandwidth_Bps, 0, out);
    write_link (platform, 'i', device, bandwidth_Bps, 0, out);
  }
}

/* Hosts of a fabric: the rails of the nodes. */
static uint32_t
count_rails (const Platform *platform)
{
  const RoutePaths *paths = platform->paths;
  uint32_t n = 0;

  for (uint32_t i = 0; i < platform->n_nodes; i++)
    n += paths->first_rail[platform->nodes[i] + 1] - paths->first_rail[platform->nodes[i]];
  return n;
}

typedef struct {
  uint32_t node, rail, destination;
} RailHost;

static RailHost *
rail_hosts (const Platform *platform)
{
  const RoutePaths *paths = platform->paths;
  RailHost *hosts = g_new (RailHost, count_rails (platform));
  uint32_t n = 0;

  for (uint32_t i = 0; i < platform->n_nodes; i++) {
    uint32_t node = platform->nodes[i], first = paths->first_rail[node];

    for (uint32_t rail = 0; rail < paths->first_rail[node + 1] - first; rail++)
      hosts[n++] = (RailHost){ node, rail, paths->rail[first + rail] };
  }
  return hosts;
}

/* Rails that the tables do not connect have no route. */
static void
write_fabric_route (const RouteForwarding *tables, RailHost from, RailHost to, uint32_t *links,
                    FILE *out)
{
  const TopoFabric *fabric = tables->fabric;
  uint32_t port = tables->destination_port[from.destination];
  uint32_t n_links = route_forwarding_path (tables, port, to.destination, links);
  char from_name[HOST_NAME_SIZE], to_name[HOST_NAME_SIZE];

  if (n_links == 0)
    return;
  rail_host_name (from_name, from.node, from.rail);
  rail_host_name (to_name, to.node, to.rail);
  fprintf (out, "<route src=\"%s\" dst=\"%s\" symmetrical=\"NO\"><link_ctn id=\"o%u\"/>", from_name,
           to_name, fabric->ports[port].device);
  for (uint32_t at = 0; at < n_links; at++)
    fprintf (out, "<link_ctn id=\"l%u\"/>", links[at]);
  fprintf (out, "<link_ctn id=\"i%u\"/></route>\n",
           fabric->ports[tables->destination_port[to.destination]].device);
}

static void
write_fabric (const Platform *platform, FILE *out)
{
  const RouteForwarding *tables = platform->paths->tables;
  uint32_t n_hosts = count_rails (platform);
  g_autofree RailHost *hosts = rail_hosts (platform);
  g_autofree uint32_t *links = g_new (uint32_t, tables->n_switches + 2);
  char name[HOST_NAME_SIZE];

  for (uint32_t host = 0; host < n_hosts; host++) {
    rail_host_name (name, hosts[host].node, hosts[host].rail);
    write_host (platform, name, out);
  }
  write_cables (platform, tables->fabric, out);
  write_buses (platform, tables->fabric, out);
  for (uint32_t from = 0; from < n_hosts; from++)
    for (uint32_t to = 0; to < n_hosts; to++)
      if (hosts[from].node != hosts[to].node)
        write_fabric_route (tables, hosts[from], hosts[to], links, out);
}

/* --- Any machine --- */

static void
write_platform (const Platform *platform, FILE *out)
{
  g_autofree uint32_t *links = g_new (uint32_t, platform->paths->longest_links + 1);

  fputs ("<?xml version='1.0'?>\n"
         "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
         "<platform version=\"4.1\">\n<zone id=\"machine\" routing=\"Full\">\n",
         out);
  if (platform->paths->tables != NULL)
    write_fabric (platform, out);
  else
    write_torus (platform, links, out);
  fputs ("</zone>\n</platform>\n", out);
}

void
simgrid_platform_write (const RoutePaths *paths, uint32_t n_nodes, FILE *out)
{
  g_autofree uint32_t *nodes = g_new (uint32_t, n_nodes);
  Platform platform = { paths, nodes, n_nodes };

  for (uint32_t node = 0; node < n_nodes; node++)
    nodes[node] = node;
  write_platform (&platform, out);
}
