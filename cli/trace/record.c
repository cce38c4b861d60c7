/* record.c - the run record: one simulation as it is printed.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/trace/record.h"

#include "cli/print/links.h"
#include "cli/print/terminal.h"
#include "study/store/row.h"

#include <math.h>

/* Dividing, unlike multiplying by 1e-12, gives the double closest to the decimal number. */
#define PS_PER_SECOND 1e12
#define HOT_LINKS     5

void
cli_add_features (JsonBuilder *builder, const double features[SIM_N_FEATURES], gboolean only_known)
{
  cli_begin_object (builder, "features");
  for (guint feature = 0; feature < SIM_N_FEATURES; feature++)
    if (!only_known || !isnan (features[feature]))
      cli_add_number (builder, sim_feature_name ((SimFeature) feature), features[feature]);
  json_builder_end_object (builder);
}

/* Only the packet network has packets; the load network has no events. */
static void
add_known (JsonBuilder *builder, const char *name, uint64_t value, gboolean known)
{
  if (known)
    cli_add_integer (builder, name, value);
  else
    cli_add_number (builder, name, (double) NAN);
}

static JsonNode *
record_new (const CliRunInputs *inputs, const SimRun *run, gboolean has_time)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  StudyRankSummary summary = study_rank_summary (&run->result);

  json_builder_begin_object (builder);
  cli_add_string (builder, "schema", "hopcast.run/1");
  cli_add_string (builder, "key", run->key);
  cli_add_string (builder, "trace", inputs->trace);
  cli_add_string (builder, "machine", inputs->machine->spec);
  cli_add_string (builder, "mapping", inputs->mapping->name);
  cli_add_string (builder, "network", inputs->network);
  cli_add_string (builder, "routing", inputs->routing);
  cli_add_string (builder, "grain", inputs->grain);
  cli_add_integer (builder, "ranks", inputs->mapping->n_ranks);
  cli_add_integer (builder, "nodes", topo_shape_nodes (&inputs->machine->shape));
  cli_add_integer (builder, "links", run->counters->n_links);
  cli_add_number (builder, "time_s",
                  has_time ? (double) run->result.time_ps / PS_PER_SECOND : (double) NAN);
  cli_add_number (builder, "compute_s_avg", has_time ? summary.compute_s_avg : (double) NAN);
  cli_add_number (builder, "wait_s_avg", has_time ? summary.wait_s_avg : (double) NAN);
  cli_add_number (builder, "wait_s_max", has_time ? summary.wait_s_max : (double) NAN);
  cli_add_integer (builder, "messages", run->result.messages);
  cli_add_integer (builder, "message_bytes", run->result.message_bytes);
  add_known (builder, "packets", run->counters->packets, run->counters->has_buffers);
  add_known (builder, "packet_hops", run->counters->packet_hops, run->counters->has_buffers);
  add_known (builder, "events", run->counters->events, has_time);
  cli_add_number (builder, "wall_s", run->wall_s);
  cli_add_integer (builder, "peak_rss_bytes", run->peak_rss_bytes);
  cli_add_strings (builder, "warnings", run->warnings);
  cli_add_features (builder, run->features, FALSE);
  json_builder_end_object (builder);
  return json_builder_get_root (builder);
}

static void
print_table (FILE *out, const CliRunInputs *inputs, const SimRun *run, gboolean has_time)
{
  static const SimFeature top[] = {
    SIM_FEATURE_AVG_HOPS_PER_BYTE, SIM_FEATURE_MAX_DILATION, SIM_FEATURE_AVG_BYTES,
    SIM_FEATURE_MAX_BYTES,         SIM_FEATURE_MAX_BUFFER,   SIM_FEATURE_MAX_DELAY,
    SIM_FEATURE_MAX_FIFO,
  };
  const TopoMachine *machine = inputs->machine;
  const SimCounters *counters = run->counters;
  StudyRankSummary summary = study_rank_summary (&run->result);
  uint32_t links[HOT_LINKS], n_links = cli_links_hottest (counters, links, HOT_LINKS);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  int width = 18; /* of the first column elsewhere */

  cli_print_heading (out, "run");
  cli_printf (out, "  %-18s %s, %u ranks\n", "trace", inputs->trace, inputs->mapping->n_ranks);
  cli_printf (out, "  %-18s %s, %u nodes, %u links\n", "machine", machine->spec,
              topo_shape_nodes (&machine->shape), counters->n_links);
  if (machine->fabric)
    cli_printf (out, "  %-18s %s%s, %u cores\n", "node", machine->node->source,
                topo_machine_assumes_node (machine) ? " (assumed)" : "", machine->node->n_cores);
  cli_printf (out, "  %-18s %s, %u slots per node\n", "mapping", inputs->mapping->name,
              machine->ranks_per_node);
  fprintf (out, "  %-18s %s, %s routing\n", "network", inputs->network, inputs->routing);
  if (has_time) {
    cli_print_heading (out, "time");
    fprintf (out, "  %-18s %14.9f s\n", "end of last rank",
             (double) run->result.time_ps / PS_PER_SECOND);
    fprintf (out, "  %-18s %14.9f s\n", "compute, average", summary.compute_s_avg);
    fprintf (out, "  %-18s %14.9f s\n", "wait, average", summary.wait_s_avg);
    fprintf (out, "  %-18s %14.9f s\n", "wait, maximum", summary.wait_s_max);
  }
  cli_print_heading (out, "traffic");
  fprintf (out, "  %-18s %14" G_GUINT64_FORMAT "\n", "messages", run->result.messages);
  fprintf (out, "  %-18s %14" G_GUINT64_FORMAT "\n", "message bytes", run->result.message_bytes);
  if (counters->packets > 0)
    fprintf (out, "  %-18s %14" G_GUINT64_FORMAT "  %" G_GUINT64_FORMAT " packet hops\n", "packets",
             counters->packets, counters->packet_hops);

  cli_print_heading (out, "congestion");
  for (gsize i = 0; i < G_N_ELEMENTS (top); i++) {
    double value = run->features[top[i]];

    if (!isnan (value))
      fprintf (out, value < 1e5 ? "  %-18s %14.6g %s\n" : "  %-18s %14.0f %s\n",
               sim_feature_name (top[i]), value, sim_feature_unit (top[i]));
  }

  if (n_links > 0)
    cli_print_heading (out, "hottest links");
  for (uint32_t i = 0; i < n_links; i++) {
    char *name = cli_link_name (machine, links[i]);

    g_ptr_array_add (names, name);
    width = MAX (width, (int) g_utf8_strlen (name, -1));
  }
  for (uint32_t i = 0; i < n_links; i++) {
    const SimLinkCounters *link = &counters->link[links[i]];

    cli_printf (out, "  %-*s %14" G_GUINT64_FORMAT " bytes", width,
                (const char *) g_ptr_array_index (names, i), link->payload_bytes);
    if (counters->has_buffers)
      fprintf (out, "  %10" G_GUINT64_FORMAT " packets, %" G_GUINT64_FORMAT " of them waited",
               link->received_packets, link->buffered_packets);
    fputc ('\n', out);
  }
}

/* In CSV the features are columns like the others: a table for predictors. */
void
cli_features_print (FILE *out, JsonNode *record, CliFormat format)
{
  JsonObject *object = json_node_get_object (record);

  if (format == CLI_FORMAT_CSV) {
    g_autoptr (JsonObject) features =
        json_object_ref (json_object_get_object_member (object, "features"));
    JsonObjectIter iter;
    const char *name;
    JsonNode *member;

    json_object_remove_member (object, "features");
    json_object_iter_init_ordered (&iter, features);
    while (json_object_iter_next_ordered (&iter, &name, &member))
      json_object_set_member (object, name, json_node_copy (member));
  }
  cli_print_record (out, record, format);
}

void
cli_record_print (FILE *out, const CliRunInputs *inputs, const SimRun *run, gboolean has_time,
                  CliFormat format)
{
  g_autoptr (JsonNode) record = NULL;

  if (format == CLI_FORMAT_TABLE) {
    print_table (out, inputs, run, has_time);
    return;
  }
  record = record_new (inputs, run, has_time);
  cli_features_print (out, record, format);
}
