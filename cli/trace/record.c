/* record.c - the run record: one simulation as it is printed.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/trace/record.h"

#include "cli/print/links.h"
#include "cli/print/terminal.h"
#include "study/store/row_fields.h"

#include <math.h>
#include <string.h>

#define HOT_LINKS 5

void
cli_add_features (JsonBuilder *builder, const double features[SIM_N_FEATURES], gboolean only_known)
{
  cli_begin_object (builder, "features");
  for (guint feature = 0; feature < SIM_N_FEATURES; feature++)
    if (!only_known || !isnan (features[feature]))
      cli_add_number (builder, sim_feature_name ((SimFeature) feature), features[feature]);
  json_builder_end_object (builder);
}

/* A count of a run that knows it. */
static void
add_count (JsonBuilder *builder, const StudyRow *row, const char *name)
{
  const StudyField *field = study_row_find_field (name);

  if (study_row_knows (row, field))
    cli_add_integer (builder, name, study_row_integer (row, field));
  else
    cli_add_number (builder, name, (double) NAN);
}

/* A time, and how it differs between replicas. */
static void
add_time (JsonBuilder *builder, const StudyRow *row, const GPtrArray *replicas, const char *name)
{
  cli_add_number (builder, name, study_row_number (row, study_row_find_field (name)));
  if (replicas != NULL) {
    StudySpread spread = study_rows_spread (replicas, name);
    g_autofree char *interval = g_strconcat (name, "_interval", NULL);
    g_autofree char *range = g_strconcat (name, "_range", NULL);

    cli_add_pair (builder, interval, spread.lower, spread.upper);
    cli_add_pair (builder, range, spread.least, spread.most);
  }
}

/* --- Iterations --- */

/* A feature of the run divided by the iterations is one of an iteration when no more than a
 * hundredth of the messages and of their bytes is sent outside of the loop. */
#define LOOP_SHARE 0.99

/* Of the program, in seconds.  Caller frees. */
static double *
iteration_times (const SimIterations *iterations)
{
  double *times = g_new (double, iterations->count + 1);

  for (uint32_t at = 0; at < iterations->count; at++)
    times[at] = (double) (iterations->ends_ps[at + 1] - iterations->ends_ps[at]) / 1e12;
  return times;
}

/* The first one has what is there to do before a pipeline of ranks is full. */
static StudySpread
later_spread (const SimIterations *iterations, const double *times)
{
  return iterations->count == 0 ? study_spread (NULL, 0)
                                : study_spread (times + 1, iterations->count - 1);
}

static gboolean
is_nearly_all (uint64_t part, uint64_t all)
{
  return (double) part >= LOOP_SHARE * (double) all;
}

static void
add_iterations (JsonBuilder *builder, const StudyRow *row, const SimIterations *iterations)
{
  g_autofree double *times = iteration_times (iterations);
  StudySpread all = study_spread (times, iterations->count);
  StudySpread later = later_spread (iterations, times);
  gboolean knows_features = iterations->count > 0 && row->messages > 0 &&
                            is_nearly_all (iterations->messages, row->messages) &&
                            is_nearly_all (iterations->message_bytes, row->message_bytes);

  cli_begin_object (builder, "iterations");
  cli_add_integer (builder, "count", iterations->count);
  cli_add_string (builder, "none_because", iterations->reason);
  cli_add_boolean (builder, "sizes_differ", iterations->count > 0 && iterations->sizes_differ);
  cli_add_number (builder, "begin_s",
                  iterations->count > 0 ? (double) iterations->ends_ps[0] / 1e12 : (double) NAN);
  cli_add_number (builder, "mean_s", all.mean);
  cli_add_number (builder, "least_s", all.least);
  cli_add_number (builder, "most_s", all.most);
  cli_add_number (builder, "later_mean_s", later.mean);
  cli_add_pair (builder, "interval", later.lower, later.upper);
  cli_begin_array (builder, "times_s");
  for (uint32_t at = 0; at < iterations->count; at++)
    json_builder_add_double_value (builder, times[at]);
  json_builder_end_array (builder);
  cli_add_integer (builder, "messages", iterations->messages);
  cli_add_integer (builder, "message_bytes", iterations->message_bytes);
  cli_begin_object (builder, "features");
  for (guint feature = 0; knows_features && feature < SIM_N_FEATURES; feature++)
    if (sim_feature_adds_up ((SimFeature) feature))
      cli_add_number (builder, sim_feature_name ((SimFeature) feature),
                      row->features[feature] / iterations->count);
  json_builder_end_object (builder);
  json_builder_end_object (builder);
}

static void
print_iterations (FILE *out, const SimIterations *iterations)
{
  g_autofree double *times = iteration_times (iterations);
  StudySpread all = study_spread (times, iterations->count);
  StudySpread later = later_spread (iterations, times);

  if (iterations->count == 0) {
    fprintf (out, "  %-18s none: %s\n", "iterations", iterations->reason);
    return;
  }
  fprintf (out, "  %-18s %14.9f s of %u%s, %.9f to %.9f", "iteration, average", all.mean,
           iterations->count, iterations->sizes_differ ? " whose sizes differ" : "", all.least,
           all.most);
  if (later.n > 1 && later.mean > 0)
    fprintf (out, "; after the first %.9f s +- %.2g %%", later.mean,
             100 * (later.upper / later.mean - 1));
  fputc ('\n', out);
}

/* --- As JSON or CSV --- */

static JsonNode *
record_new (const CliRunResults *results)
{
  const StudyRow *row = results->row;
  const GPtrArray *replicas = results->replicas;
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  g_autoptr (GPtrArray) warnings = g_ptr_array_new ();

  for (char **warning = row->warnings; *warning != NULL; warning++)
    g_ptr_array_add (warnings, *warning);
  json_builder_begin_object (builder);
  cli_add_string (builder, "schema", "hopcast.run/1");
  cli_add_string (builder, "key", row->key);
  cli_add_string (builder, "trace", row->trace);
  cli_add_string (builder, "machine", row->machine);
  cli_add_string (builder, "mapping", row->mapping);
  cli_add_string (builder, "network", row->network);
  cli_add_string (builder, "routing", row->routing);
  cli_add_string (builder, "shrink", row->shrink);
  cli_add_integer (builder, "shrink_factor", row->shrink_factor);
  cli_add_number (builder, "shrink_share", row->shrink_share);
  cli_add_integer (builder, "replicas", replicas == NULL ? 1 : replicas->len);
  cli_add_number (builder, "jitter_s", row->jitter_s);
  cli_add_integer (builder, "seed", row->seed);
  cli_add_integer (builder, "ranks", row->ranks);
  cli_add_integer (builder, "nodes", row->nodes);
  cli_add_integer (builder, "links", row->links);
  add_time (builder, row, replicas, "time_s");
  add_time (builder, row, replicas, "mean_end_s");
  cli_add_number (builder, "compute_s_avg", row->compute_s_avg);
  cli_add_number (builder, "wait_s_avg", row->wait_s_avg);
  cli_add_number (builder, "wait_s_max", row->wait_s_max);
  for (guint at = 0; at < SIM_N_CLASSES; at++)
    cli_add_number (builder, study_path_fields[at],
                    study_row_number (row, study_row_find_field (study_path_fields[at])));
  cli_add_integer (builder, "messages", row->messages);
  cli_add_integer (builder, "message_bytes", row->message_bytes);
  add_count (builder, row, "packets");
  add_count (builder, row, "packet_hops");
  add_count (builder, row, "events");
  cli_add_number (builder, "wall_s", row->wall_s);
  cli_add_integer (builder, "peak_rss_bytes", row->peak_rss_bytes);
  cli_add_strings (builder, "warnings", warnings);
  if (results->iterations != NULL)
    add_iterations (builder, row, results->iterations);
  cli_add_features (builder, row->features, FALSE);
  if (replicas != NULL) {
    cli_begin_object (builder, "features_interval");
    for (guint feature = 0; feature < SIM_N_FEATURES; feature++) {
      const char *name = sim_feature_name ((SimFeature) feature);
      StudySpread spread = study_rows_spread (replicas, name);

      cli_add_pair (builder, name, spread.lower, spread.upper);
    }
    json_builder_end_object (builder);
  }
  json_builder_end_object (builder);
  return json_builder_get_root (builder);
}

/* --- As a table --- */

/* What the time is made of, along the critical path. */
static void
print_path (FILE *out, const StudyRow *row)
{
  if (isnan (row->path_compute_s) || !(row->time_s > 0))
    return;
  fprintf (out, "  %-18s", "critical path");
  for (guint at = 0; at < SIM_N_CLASSES; at++) {
    double part_s = study_row_number (row, study_row_find_field (study_path_fields[at]));

    fprintf (out, "%s %s %.1f %%", at > 0 ? "," : "", sim_class_names[at],
             100 * part_s / row->time_s);
  }
  fputc ('\n', out);
}

/* Of replicas the mean, with its 95 % interval, and the least and the most. */
static void
print_time (FILE *out, const char *label, const StudyRow *row, const GPtrArray *replicas,
            const char *name)
{
  fprintf (out, "  %-18s %14.9f s", label, study_row_number (row, study_row_find_field (name)));
  if (replicas != NULL) {
    StudySpread spread = study_rows_spread (replicas, name);

    if (spread.mean > 0)
      fprintf (out, " +- %.2g %%", 100 * (spread.upper / spread.mean - 1));
    fprintf (out, ", %.9f to %.9f", spread.least, spread.most);
  }
  fputc ('\n', out);
}

/* The width of what the replicas gave, as a share of their mean. */
static double
relative_range (const GPtrArray *replicas, const char *name)
{
  StudySpread spread = study_rows_spread (replicas, name);

  return spread.mean > 0 ? (spread.most - spread.least) / spread.mean : 0;
}

/* Guesses at where people want to know; only the words depend on them. */
#define CALM_RANGE    0.005
#define CHAOTIC_RANGE 0.03

static void
print_sensitivity (FILE *out, const StudyRow *row, const GPtrArray *replicas)
{
  double range = relative_range (replicas, "time_s");

  fprintf (out, "  %-18s %u, whose ranks start within %.3g us\n", "replicas", replicas->len,
           row->jitter_s * 1e6);
  fprintf (out, "  %-18s the end moves by %.2g %%, the mean end of ranks by %.2g %%: %s\n",
           "sensitivity", 100 * range, 100 * relative_range (replicas, "mean_end_s"),
           range < CALM_RANGE      ? "it does not matter when ranks start"
           : range < CHAOTIC_RANGE ? "it matters a little when ranks start"
                                   : "one run's end is one draw; compare means of replicas");
}

static void
print_links (FILE *out, const TopoMachine *machine, const SimCounters *counters)
{
  uint32_t links[HOT_LINKS], n_links = cli_links_hottest (counters, links, HOT_LINKS);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  int width = 18; /* of the first column elsewhere */

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

static void
print_table (FILE *out, const CliRunInputs *inputs, const CliRunResults *results)
{
  static const SimFeature top[] = {
    SIM_FEATURE_AVG_HOPS_PER_BYTE, SIM_FEATURE_MAX_DILATION, SIM_FEATURE_AVG_BYTES,
    SIM_FEATURE_MAX_BYTES,         SIM_FEATURE_MAX_BUFFER,   SIM_FEATURE_MAX_DELAY,
    SIM_FEATURE_MAX_FIFO,
  };
  const TopoMachine *machine = inputs->machine;
  const StudyRow *row = results->row;
  const GPtrArray *replicas = results->replicas;

  cli_print_heading (out, "run");
  cli_printf (out, "  %-18s %s, %u ranks\n", "trace", inputs->trace, inputs->mapping->n_ranks);
  cli_printf (out, "  %-18s %s, %u nodes, %u links\n", "machine", machine->spec, row->nodes,
              row->links);
  if (machine->fabric)
    cli_printf (out, "  %-18s %s%s, %u cores\n", "node", machine->node->source,
                topo_machine_assumes_node (machine) ? " (assumed)" : "", machine->node->n_cores);
  cli_printf (out, "  %-18s %s, %u slots per node\n", "mapping", inputs->mapping->name,
              machine->ranks_per_node);
  fprintf (out, "  %-18s %s, %s routing\n", "network", inputs->network, inputs->routing);
  if (strchr (row->shrink, ',') != NULL)
    fprintf (out,
             "  %-18s shrunk %s: times and features are twice those of the first less those of the "
             "second\n",
             "messages", row->shrink);
  else if (row->shrink_factor > 1)
    fprintf (out,
             "  %-18s shrunk %u: a packet stands for so many of a long message; %.3g %% of bytes\n",
             "messages", row->shrink_factor, 100 * row->shrink_share);
  if (!isnan (row->time_s)) {
    cli_print_heading (out, "time");
    print_time (out, "end of last rank", row, replicas, "time_s");
    print_time (out, "end, average", row, replicas, "mean_end_s");
    fprintf (out, "  %-18s %14.9f s\n", "compute, average", row->compute_s_avg);
    fprintf (out, "  %-18s %14.9f s\n", "wait, average", row->wait_s_avg);
    fprintf (out, "  %-18s %14.9f s\n", "wait, maximum", row->wait_s_max);
    print_path (out, row);
    if (results->iterations != NULL)
      print_iterations (out, results->iterations);
  }
  if (replicas != NULL)
    print_sensitivity (out, row, replicas);
  cli_print_heading (out, "traffic");
  fprintf (out, "  %-18s %14" G_GUINT64_FORMAT "\n", "messages", row->messages);
  fprintf (out, "  %-18s %14" G_GUINT64_FORMAT "\n", "message bytes", row->message_bytes);
  if (row->packets > 0)
    fprintf (out, "  %-18s %14" G_GUINT64_FORMAT "  %" G_GUINT64_FORMAT " packet hops\n", "packets",
             row->packets, row->packet_hops);

  cli_print_heading (out, "congestion");
  for (gsize i = 0; i < G_N_ELEMENTS (top); i++) {
    double value = row->features[top[i]];

    if (!isnan (value))
      fprintf (out, value < 1e5 ? "  %-18s %14.6g %s\n" : "  %-18s %14.0f %s\n",
               sim_feature_name (top[i]), value, sim_feature_unit (top[i]));
  }
  if (results->counters != NULL)
    print_links (out, machine, results->counters);
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
cli_record_print (FILE *out, const CliRunInputs *inputs, const CliRunResults *results,
                  CliFormat format)
{
  g_autoptr (JsonNode) record = NULL;

  if (format == CLI_FORMAT_TABLE) {
    print_table (out, inputs, results);
    return;
  }
  record = record_new (results);
  cli_features_print (out, record, format);
}
