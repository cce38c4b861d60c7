/* report_machine.c - machines and what was counted on them, for the report page.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/report/report_data.h"
#include "study/report/report_json.h"
#include "study/report/report_pack.h"

#include <string.h>

/* The page draws no more bars and cells than this; more are averaged or added. */
#define MAX_RANK_BINS   512
#define MAX_MATRIX_BINS 256

static void
add_torus (GString *json, const TopoShape *shape)
{
  g_string_append (json, "\"kind\":\"torus\",\"shape\":[");
  for (uint32_t dimension = 0; dimension < shape->n_dimensions; dimension++) {
    study_json_next (json);
    g_string_append_printf (json, "%u", shape->size[dimension]);
  }
  g_string_append (json, "],\"wrap\":[");
  for (uint32_t dimension = 0; dimension < shape->n_dimensions; dimension++) {
    study_json_next (json);
    g_string_append (json, shape->wrap[dimension] ? "true" : "false");
  }
  g_string_append_c (json, ']');
}

/* Devices as [name, is a switch, ports], links as from, port, to, port, flat and
 * in the order of the fabric's ports. */
static void
add_fabric (GString *json, const TopoFabric *fabric)
{
  g_string_append (json, "\"kind\":\"fabric\",\"devices\":[");
  for (uint32_t device = 0; device < fabric->n_devices; device++) {
    const TopoDevice *it = &fabric->devices[device];

    study_json_next (json);
    g_string_append_c (json, '[');
    study_json_string (json, it->name);
    g_string_append_printf (json, ",%d,%u]", it->is_switch, it->n_ports);
  }
  g_string_append (json, "],\"links\":[");
  for (uint32_t port = 0; port < fabric->n_ports; port++) {
    uint32_t peer = fabric->ports[port].peer;

    if (peer == TOPO_NONE)
      continue;
    study_json_next (json);
    g_string_append_printf (json, "%u,%u,%u,%u", fabric->ports[port].device,
                            topo_fabric_port_number (fabric, port), fabric->ports[peer].device,
                            topo_fabric_port_number (fabric, peer));
  }
  g_string_append_c (json, ']');
}

void
study_report_machine (GString *json, const TopoMachine *machine)
{
  if (machine->fabric)
    add_fabric (json, machine->fabric);
  else
    add_torus (json, &machine->shape);
}

static gboolean
link_exists (const TopoMachine *machine, uint32_t place)
{
  uint32_t n_ports = topo_shape_ports (&machine->shape);

  if (machine->fabric)
    return machine->fabric->ports[place].peer != TOPO_NONE;
  return topo_shape_neighbour (&machine->shape, place / n_ports, place % n_ports) != TOPO_NONE;
}

gsize
study_report_link_places (const TopoMachine *machine)
{
  if (machine->fabric)
    return machine->fabric->n_ports;
  return (gsize) topo_shape_nodes (&machine->shape) * topo_shape_ports (&machine->shape);
}

/* Only links that exist, in the order of their numbers: the page counts along. */
static void
add_links (GString *json, GBytes *link_bytes, const TopoMachine *machine)
{
  gsize size;
  const uint64_t *bytes = g_bytes_get_data (link_bytes, &size);
  gsize n_places = size / sizeof *bytes, n_links = 0;
  g_autofree uint64_t *values = g_new (uint64_t, n_places + 1);

  g_assert (n_places == study_report_link_places (machine));
  for (gsize place = 0; place < n_places; place++)
    if (link_exists (machine, (uint32_t) place))
      values[n_links++] = bytes[place];
  study_json_member (json, "links");
  study_pack_values (json, values, n_links);
}

/* Means of neighbouring ranks, as little-endian floats. */
static void
add_rank_bins (GString *json, const char *name, const StudyRankTimes *ranks, gsize n_ranks,
               gsize offset)
{
  gsize n_bins = MIN (n_ranks, MAX_RANK_BINS);
  g_autofree guint32 *means = g_new0 (guint32, n_bins + 1);

  for (gsize bin = 0; bin < n_bins; bin++) {
    gsize from = bin * n_ranks / n_bins, to = (bin + 1) * n_ranks / n_bins;
    double sum = 0;
    float mean;

    for (gsize rank = from; rank < to; rank++)
      sum += *(const double *) (const void *) ((const char *) &ranks[rank] + offset);
    mean = (float) (sum / (double) (to - from));
    memcpy (&means[bin], &mean, sizeof mean);
    means[bin] = GUINT32_TO_LE (means[bin]);
  }
  study_json_member (json, name);
  study_pack_bytes (json, means, n_bins * sizeof *means);
}

static void
add_ranks (GString *json, GBytes *rank_times)
{
  gsize size;
  const StudyRankTimes *ranks = g_bytes_get_data (rank_times, &size);
  gsize n_ranks = size / sizeof *ranks;

  study_json_member (json, "ranks");
  g_string_append_printf (json, "{\"n\":%" G_GSIZE_FORMAT, n_ranks);
  add_rank_bins (json, "end_s", ranks, n_ranks, offsetof (StudyRankTimes, end_s));
  add_rank_bins (json, "compute_s", ranks, n_ranks, offsetof (StudyRankTimes, compute_s));
  add_rank_bins (json, "wait_s", ranks, n_ranks, offsetof (StudyRankTimes, wait_s));
  g_string_append_c (json, '}');
}

uint32_t *
study_report_first_ranks (const TopoMapping *mapping, uint32_t n_nodes)
{
  uint32_t *first = g_new (uint32_t, n_nodes);

  for (uint32_t node = 0; node < n_nodes; node++)
    first[node] = TOPO_NONE;
  for (uint32_t rank = mapping->n_ranks; rank-- > 0;)
    if (mapping->node[rank] < n_nodes)
      first[mapping->node[rank]] = rank;
  return first;
}

/* As little-endian 32-bit integers. */
static void
add_places (GString *json, const uint32_t *first_rank, uint32_t n_nodes)
{
  g_autofree guint32 *little = g_new (guint32, n_nodes);

  for (uint32_t node = 0; node < n_nodes; node++)
    little[node] = GUINT32_TO_LE (first_rank[node]);
  study_json_member (json, "places");
  study_pack_bytes (json, little, n_nodes * sizeof *little);
}

void
study_report_detail (GString *json, const StudyReportDetail *detail, const TopoMachine *machine)
{
  if (machine && detail->link_bytes)
    add_links (json, detail->link_bytes, machine);
  if (detail->rank_times && g_bytes_get_size (detail->rank_times) > 0)
    add_ranks (json, detail->rank_times);
  if (machine && detail->first_rank)
    add_places (json, detail->first_rank, detail->n_nodes);
}

void
study_report_matrix (GString *json, const SimEdge *edges, uint64_t n_edges, uint32_t n_ranks)
{
  uint32_t n_bins = MIN (n_ranks, MAX_MATRIX_BINS);
  g_autofree uint64_t *bytes = g_new0 (uint64_t, (gsize) n_bins * n_bins);

  for (uint64_t edge = 0; edge < n_edges; edge++) {
    gsize row = (gsize) edges[edge].source * n_bins / n_ranks;
    gsize column = (gsize) edges[edge].destination * n_bins / n_ranks;

    if (row < n_bins && column < n_bins)
      bytes[row * n_bins + column] += edges[edge].bytes;
  }
  g_string_append_printf (json, "{\"n\":%u,\"ranks\":%u,\"bytes\":", n_bins, n_ranks);
  study_pack_values (json, bytes, (gsize) n_bins * n_bins);
  g_string_append_c (json, '}');
}
