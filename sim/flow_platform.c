/* flow_platform.c - a torus as a SimGrid platform file.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/flow_platform.h"

#include <glib.h>

uint32_t
sim_flow_platform_split_dimension (const TopoMachine *machine)
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
write_link (const SimFlowPlatform *platform, uint32_t node, uint32_t port, FILE *out)
{
  const TopoParameters *parameters = &platform->machine->parameters;
  uint32_t link = node * topo_shape_ports (&platform->machine->shape) + port;
  int64_t latency_ps = 0;

  if (platform->latencies)
    latency_ps =
        parameters->hop_latency_ps + topo_machine_extra_latency_ps (platform->machine, node, port);
  fprintf (out, "<link id=\"l%u\" bandwidth=\"", link);
  write_double (out, (double) parameters->link_bandwidth_Bps * (1 - parameters->link_overhead));
  fputs ("Bps\" latency=\"", out);
  write_double (out, (double) latency_ps * 1e-12);
  fputs ("s\"/>\n", out);
}

/* All links: a path may pass nodes that have no host. */
static void
write_links (const SimFlowPlatform *platform, FILE *out)
{
  const TopoShape *shape = &platform->machine->shape;
  uint32_t n_nodes = topo_shape_nodes (shape);
  uint32_t n_ports = topo_shape_ports (shape);

  for (uint32_t node = 0; node < n_nodes; node++)
    for (uint32_t port = 0; port < n_ports; port++)
      if (topo_shape_neighbour (shape, node, port) != TOPO_NONE)
        write_link (platform, node, port, out);
}

static void
write_hosts (const SimFlowPlatform *platform, char kind, FILE *out)
{
  double speed_flops = platform->machine->parameters.compute_Flops;

  for (uint32_t i = 0; i < platform->n_nodes; i++) {
    fprintf (out, "<host id=\"%c%u\" speed=\"", kind, platform->nodes[i]);
    write_double (out, speed_flops > 0 ? speed_flops : 1e9);
    fputs ("f\"/>\n", out);
  }
}

static void
write_route (const SimFlowPlatform *platform, char kind, uint32_t from, uint32_t to, RouteWay way,
             uint32_t *links, FILE *out)
{
  uint32_t n_links = route_torus_path (platform->route, from, way, links);

  fprintf (out, "<route src=\"%c%u\" dst=\"%c%u\" symmetrical=\"NO\">", kind, from, kind, to);
  for (uint32_t i = 0; i < n_links; i++)
    fprintf (out, "<link_ctn id=\"l%u\"/>", links[i]);
  fputs ("</route>\n", out);
}

static void
write_routes (const SimFlowPlatform *platform, uint32_t *links, FILE *out)
{
  for (uint32_t i = 0; i < platform->n_nodes; i++)
    for (uint32_t j = 0; j < platform->n_nodes; j++) {
      uint32_t from = platform->nodes[i], to = platform->nodes[j];

      if (from != to)
        write_route (platform, 'n', from, to, route_torus_way (platform->route, from, to), links,
                     out);
    }
}

/* The cable that the deterministic path leaves unused, for the second half
 * of large transfers to the E neighbour. */
static void
write_split_routes (const SimFlowPlatform *platform, uint32_t dimension, const bool *has_host,
                    uint32_t *links, FILE *out)
{
  const RouteTorus *route = platform->route;

  for (uint32_t i = 0; i < platform->n_nodes; i++) {
    uint32_t from = platform->nodes[i];
    uint32_t to = topo_shape_neighbour (&platform->machine->shape, from, 2 * dimension);
    bool first_goes_plus;

    if (!has_host[to])
      continue;
    first_goes_plus = (route_torus_way (route, from, to).plus >> dimension) & 1u;
    write_route (platform, 'e', from, to,
                 route_torus_way_hinted (route, from, to, dimension, !first_goes_plus), links, out);
  }
}

uint32_t
sim_flow_platform_longest_path (const TopoMachine *machine)
{
  const TopoShape *shape = &machine->shape;
  uint32_t n_links = 0;

  for (uint32_t dimension = 0; dimension < shape->n_dimensions; dimension++)
    n_links += shape->size[dimension];
  return n_links;
}

void
sim_flow_platform_write (const SimFlowPlatform *platform, FILE *out)
{
  const TopoShape *shape = &platform->machine->shape;
  uint32_t split_dimension = sim_flow_platform_split_dimension (platform->machine);
  g_autofree uint32_t *links = g_new (uint32_t, sim_flow_platform_longest_path (platform->machine));
  g_autofree bool *has_host = g_new0 (bool, topo_shape_nodes (shape));

  for (uint32_t i = 0; i < platform->n_nodes; i++)
    has_host[platform->nodes[i]] = true;
  fputs ("<?xml version='1.0'?>\n"
         "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
         "<platform version=\"4.1\">\n<zone id=\"machine\" routing=\"Full\">\n",
         out);
  write_hosts (platform, 'n', out);
  if (split_dimension != TOPO_NONE)
    write_hosts (platform, 'e', out);
  write_links (platform, out);
  write_routes (platform, links, out);
  if (split_dimension != TOPO_NONE)
    write_split_routes (platform, split_dimension, has_host, links, out);
  fputs ("</zone>\n</platform>\n", out);
}
