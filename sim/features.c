/* features.c - the congestion metrics of a run, from edges and counters.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/features.h"

#include <glib.h>
#include <math.h>

/* "Within 5 % of the maximum" (SC13 paper, section 5.3). */
#define TOP_SHARE 0.95

static const struct {
  const char *name, *unit;
  bool adds_up;
} features_table[] = {
  [SIM_FEATURE_MAX_DILATION] = { "max_dilation", "hops", false },
  [SIM_FEATURE_AVG_DILATION] = { "avg_dilation", "hops", false },
  [SIM_FEATURE_SUM_DILATION_AO] = { "sum_dilation_AO", "hops", false },
  [SIM_FEATURE_SUM_MESSAGE_DILATION_AO] = { "sum_message_dilation_AO", "hops", true },
  [SIM_FEATURE_HOP_BYTES] = { "hop_bytes", "hop bytes", true },
  [SIM_FEATURE_AVG_HOPS_PER_BYTE] = { "avg_hops_per_byte", "hops", false },
  [SIM_FEATURE_SUM_HOPS_AO] = { "sum_hops_AO", "hops", false },
  [SIM_FEATURE_AVG_BYTES] = { "avg_bytes", "bytes", true },
  [SIM_FEATURE_MAX_BYTES] = { "max_bytes", "bytes", true },
  [SIM_FEATURE_AVG_BYTES_AO] = { "avg_bytes_AO", "bytes", true },
  [SIM_FEATURE_AVG_BYTES_TO] = { "avg_bytes_TO", "bytes", true },
  [SIM_FEATURE_AVG_CHUNKS] = { "avg_chunks", "chunks", true },
  [SIM_FEATURE_MAX_CHUNKS] = { "max_chunks", "chunks", true },
  [SIM_FEATURE_AVG_CHUNKS_AO] = { "avg_chunks_AO", "chunks", true },
  [SIM_FEATURE_AVG_CHUNKS_TO] = { "avg_chunks_TO", "chunks", true },
  [SIM_FEATURE_AVG_BUFFER] = { "avg_buffer", "packet cycles", true },
  [SIM_FEATURE_MAX_BUFFER] = { "max_buffer", "packet cycles", true },
  [SIM_FEATURE_AVG_BUFFER_AO] = { "avg_buffer_AO", "packet cycles", true },
  [SIM_FEATURE_AVG_BUFFER_TO] = { "avg_buffer_TO", "packet cycles", true },
  [SIM_FEATURE_AVG_DELAY] = { "avg_delay", "cycles", false },
  [SIM_FEATURE_MAX_DELAY] = { "max_delay", "cycles", false },
  [SIM_FEATURE_AVG_DELAY_AO] = { "avg_delay_AO", "cycles", false },
  [SIM_FEATURE_AVG_DELAY_TO] = { "avg_delay_TO", "cycles", false },
  [SIM_FEATURE_AVG_WAITED] = { "avg_waited", "packets", true },
  [SIM_FEATURE_MAX_WAITED] = { "max_waited", "packets", true },
  [SIM_FEATURE_AVG_WAITED_AO] = { "avg_waited_AO", "packets", true },
  [SIM_FEATURE_AVG_WAITED_TO] = { "avg_waited_TO", "packets", true },
  [SIM_FEATURE_AVG_FIFO] = { "avg_FIFO", "messages", true },
  [SIM_FEATURE_MAX_FIFO] = { "max_FIFO", "messages", true },
  [SIM_FEATURE_AVG_FIFO_AO] = { "avg_FIFO_AO", "messages", true },
  [SIM_FEATURE_AVG_FIFO_TO] = { "avg_FIFO_TO", "messages", true },
};

G_STATIC_ASSERT (G_N_ELEMENTS (features_table) == SIM_N_FEATURES);

const char *
sim_feature_name (SimFeature feature)
{
  g_assert (feature < SIM_N_FEATURES);
  return features_table[feature].name;
}

const char *
sim_feature_unit (SimFeature feature)
{
  g_assert (feature < SIM_N_FEATURES);
  return features_table[feature].unit;
}

bool
sim_feature_adds_up (SimFeature feature)
{
  g_assert (feature < SIM_N_FEATURES);
  return features_table[feature].adds_up;
}

/* --- Summaries --- */

typedef struct {
  double sum;
  uint64_t n;
} Sum;

static void
sum_add (Sum *sum, double value)
{
  sum->sum += value;
  sum->n++;
}

static double
sum_mean (Sum sum)
{
  return sum.n == 0 ? 0 : sum.sum / (double) sum.n;
}

/* avg, max, AO mean and TO mean of n values (n may be 0: all 0).  The AO
 * mean of values that are all equal is a mean over no element: 0. */
typedef struct {
  double avg, max, avg_above_mean, avg_top;
} Summary;

static Summary
summarize (const double *values, uint64_t n)
{
  Sum all = { 0 }, above = { 0 }, top = { 0 };
  Summary summary = { 0 };
  double min;

  if (n == 0)
    return summary;
  min = summary.max = values[0];
  for (uint64_t element = 0; element < n; element++) {
    sum_add (&all, values[element]);
    min = MIN (min, values[element]);
    summary.max = MAX (summary.max, values[element]);
  }
  /* Values that are all equal have that value as their mean, whatever the rounding of
   * their sum. */
  summary.avg = CLAMP (sum_mean (all), min, summary.max);
  for (uint64_t element = 0; element < n; element++) {
    if (values[element] > summary.avg)
      sum_add (&above, values[element]);
    if (values[element] >= TOP_SHARE * summary.max)
      sum_add (&top, values[element]);
  }
  summary.avg_above_mean = sum_mean (above);
  summary.avg_top = sum_mean (top);
  return summary;
}

/* Four features in a row: avg, max, AO, TO. */
static void
set_summary (double *features, const double *values, uint64_t n)
{
  Summary summary = summarize (values, n);

  features[0] = summary.avg;
  features[1] = summary.max;
  features[2] = summary.avg_above_mean;
  features[3] = summary.avg_top;
}

/* --- Edges --- */

static double
sum_above_mean (const double *values, uint64_t n)
{
  double avg = summarize (values, n).avg;
  double sum = 0;

  for (uint64_t element = 0; element < n; element++)
    if (values[element] > avg)
      sum += values[element];
  return sum;
}

/* The sum of the hops of the messages whose hops are above the mean of all messages. */
static double
sum_of_messages (const double *hops, const SimEdge *edges, uint64_t n_edges)
{
  double all = 0, above = 0, n_messages = 0, mean;

  for (uint64_t edge = 0; edge < n_edges; edge++) {
    all += hops[edge] * (double) edges[edge].messages;
    n_messages += (double) edges[edge].messages;
  }
  mean = n_messages > 0 ? all / n_messages : 0;
  for (uint64_t edge = 0; edge < n_edges; edge++)
    if (hops[edge] > mean)
      above += hops[edge] * (double) edges[edge].messages;
  return above;
}

static void
set_edge_features (double *features, const RoutePaths *paths, const TopoMapping *mapping,
                   const SimEdge *edges, uint64_t n_edges)
{
  g_autofree double *hops = g_new (double, n_edges);
  g_autofree double *maxima = g_new (double, mapping->n_ranks);
  double hop_bytes = 0, bytes = 0;
  uint64_t n_senders = 0;
  Summary dilation;

  for (uint64_t edge = 0; edge < n_edges; edge++) {
    uint32_t source = edges[edge].source, destination = edges[edge].destination;

    hops[edge] = route_paths_hops (paths, mapping->node[source], mapping->node[destination],
                                   route_paths_turn (paths, mapping, source, destination));
    hop_bytes += hops[edge] * (double) edges[edge].bytes;
    bytes += (double) edges[edge].bytes;
    /* The largest of each sender's hops; the edges are sorted by sender. */
    if (edge == 0 || source != edges[edge - 1].source)
      maxima[n_senders++] = hops[edge];
    else
      maxima[n_senders - 1] = MAX (maxima[n_senders - 1], hops[edge]);
  }
  dilation = summarize (hops, n_edges);
  features[SIM_FEATURE_MAX_DILATION] = dilation.max;
  features[SIM_FEATURE_AVG_DILATION] = dilation.avg;
  features[SIM_FEATURE_SUM_DILATION_AO] = sum_above_mean (maxima, n_senders);
  features[SIM_FEATURE_SUM_MESSAGE_DILATION_AO] = sum_of_messages (hops, edges, n_edges);
  features[SIM_FEATURE_HOP_BYTES] = hop_bytes;
  features[SIM_FEATURE_AVG_HOPS_PER_BYTE] = bytes > 0 ? hop_bytes / bytes : 0;
  features[SIM_FEATURE_SUM_HOPS_AO] = sum_above_mean (hops, n_edges);
}

/* --- Links and FIFOs --- */

typedef enum { LINK_BYTES, LINK_CHUNKS, LINK_BUFFER, LINK_DELAY, LINK_WAITED } LinkValue;

static double
value_of_link (const SimLinkCounters *link, LinkValue value)
{
  double packet_cycles = (double) link->buffered_ps / SIM_NETWORK_CYCLE_PS;

  switch (value) {
  case LINK_BYTES: return (double) link->payload_bytes;
  case LINK_CHUNKS:
    /* A torus counts chunks, a fabric bytes. */
    return (double) (link->dynamic_chunks + link->bubble_chunks + link->priority_chunks) +
           (double) link->wire_bytes / SIM_CHUNK_BYTES;
  case LINK_BUFFER: return packet_cycles;
  case LINK_DELAY:
    return link->received_packets > 0 ? packet_cycles / (double) link->received_packets : 0;
  case LINK_WAITED: return (double) link->buffered_packets;
  }
  g_assert_not_reached ();
}

/* values[] has room for one per link that exists. */
static void
set_link_features (double *features, const SimCounters *counters, LinkValue value, double *values)
{
  uint64_t n = 0;

  for (uint64_t link = 0; link < counters->n_places; link++)
    if (counters->link_exists[link])
      values[n++] = value_of_link (&counters->link[link], value);
  g_assert (n == counters->n_links);
  set_summary (features, values, n);
}

void
sim_features_compute_sorted (double features[SIM_N_FEATURES], const RoutePaths *paths,
                             const TopoMapping *mapping, const SimEdge *edges, uint64_t n_edges,
                             const SimCounters *counters)
{
  g_autofree double *values = g_new (double, counters->n_links);
  g_autofree double *fifos = g_new (double, counters->n_fifo_places);

  set_edge_features (features, paths, mapping, edges, n_edges);
  set_link_features (features + SIM_FEATURE_AVG_BYTES, counters, LINK_BYTES, values);
  if (counters->has_buffers) {
    set_link_features (features + SIM_FEATURE_AVG_CHUNKS, counters, LINK_CHUNKS, values);
    set_link_features (features + SIM_FEATURE_AVG_BUFFER, counters, LINK_BUFFER, values);
    set_link_features (features + SIM_FEATURE_AVG_DELAY, counters, LINK_DELAY, values);
    set_link_features (features + SIM_FEATURE_AVG_WAITED, counters, LINK_WAITED, values);
  } else
    for (uint32_t feature = SIM_FEATURE_AVG_CHUNKS; feature < SIM_FEATURE_AVG_FIFO; feature++)
      features[feature] = NAN;
  for (uint64_t fifo = 0; fifo < counters->n_fifo_places; fifo++)
    fifos[fifo] = (double) counters->fifo_messages[fifo];
  set_summary (features + SIM_FEATURE_AVG_FIFO, fifos, counters->n_fifo_places);
}

void
sim_features_compute (double features[SIM_N_FEATURES], const RoutePaths *paths,
                      const TopoMapping *mapping, const SimEdges *edges,
                      const SimCounters *counters)
{
  uint64_t n_edges;
  g_autofree SimEdge *sorted = sim_edges_sorted (edges, &n_edges);

  sim_features_compute_sorted (features, paths, mapping, sorted, n_edges, counters);
}
