/* timeline_file.c - `simulate --timeline`: options, and the form of the file.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/trace/timeline_file.h"

#include "cli/command.h"

#include <string.h>

#define OTF2_SUFFIX ".otf2"

typedef void (*Write) (FILE *out, const SimTimeline *timeline, const CliRunInputs *inputs);

static const struct {
  const char *suffix;
  Write write;
} forms[] = {
  { ".json", cli_timeline_write_chrome },
  { ".paje", cli_timeline_write_paje },
  { ".trace", cli_timeline_write_paje },
};

void
cli_timeline_options_clear (CliTimelineOptions *options)
{
  g_free (options->path);
  g_free (options->ranks);
}

void
cli_add_timeline_options (GOptionContext *context, CliTimelineOptions *options)
{
  const GOptionEntry entries[] = {
    { "timeline", 0, 0, G_OPTION_ARG_FILENAME, &options->path,
      "Write what every rank did when: Chrome's trace events when FILE ends in .json, Paje when it "
      "ends in .paje or .trace, an OTF2 archive when it ends in .otf2",
      "FILE" },
    { "timeline-ranks", 0, 0, G_OPTION_ARG_STRING, &options->ranks,
      "Ranks of the timeline, such as 0-15,32 (default: all)", "LIST" },
    { "timeline-limit", 0, 0, G_OPTION_ARG_INT64, &options->limit,
      "End the timeline where it has N intervals and messages (default: 1000000)", "N" },
    { NULL },
  };

  g_option_context_add_main_entries (context, entries, NULL);
}

gboolean
cli_timeline_is_otf2 (const char *path)
{
  return g_str_has_suffix (path, OTF2_SUFFIX);
}

static Write
find_form (const char *path)
{
  for (gsize i = 0; i < G_N_ELEMENTS (forms); i++)
    if (g_str_has_suffix (path, forms[i].suffix))
      return forms[i].write;
  return NULL;
}

gboolean
cli_timeline_check (const CliTimelineOptions *options, gboolean has_time, GError **error)
{
  if (options->limit < 1)
    return cli_refuse (error, "--timeline-limit: must be at least 1");
  if (options->path == NULL && options->ranks != NULL)
    return cli_refuse (error, "--timeline-ranks needs --timeline FILE");
  if (options->path == NULL)
    return TRUE;
  if (!has_time)
    return cli_refuse (error, "--timeline: the load network has no times");
  return find_form (options->path) != NULL || cli_timeline_is_otf2 (options->path) ||
         cli_refuse (
             error,
             "--timeline %s: the name must end in .json (Chrome), .paje or .trace (Paje), or "
             ".otf2",
             options->path);
}

/* Reads a number and moves *text behind it. */
static gboolean
parse_rank (const char **text, guint64 *rank)
{
  char *end;

  if (!g_ascii_isdigit (**text))
    return FALSE;
  *rank = g_ascii_strtoull (*text, &end, 10);
  *text = end;
  return TRUE;
}

/* [n_ranks] of a list such as "0-15,32"; NULL and *error when it is none. */
static bool *
parse_ranks (const char *text, uint32_t n_ranks, GError **error)
{
  g_autofree bool *shown = g_new0 (bool, n_ranks);
  const char *at = text;
  guint64 first, last;

  do {
    gboolean good = parse_rank (&at, &first);

    last = first;
    if (good && *at == '-') {
      at++;
      good = parse_rank (&at, &last) && first <= last;
    }
    if (!good || (*at != ',' && *at != '\0')) {
      cli_refuse (error, "--timeline-ranks: \"%s\" is not a list of ranks such as 0-15,32", text);
      return NULL;
    }
    if (last >= n_ranks) {
      cli_refuse (error, "--timeline-ranks: there is no rank %" G_GUINT64_FORMAT ", the last is %u",
                  last, n_ranks - 1);
      return NULL;
    }
    memset (shown + first, true, (gsize) (last - first + 1) * sizeof *shown);
  } while (*at++ == ',');
  return g_steal_pointer (&shown);
}

SimTimeline *
cli_timeline_new (const CliTimelineOptions *options, uint32_t n_ranks, GError **error)
{
  g_autofree bool *shown = NULL;

  if (options->path == NULL)
    return NULL;
  if (options->ranks != NULL && !(shown = parse_ranks (options->ranks, n_ranks, error)))
    return NULL;
  return sim_timeline_new (n_ranks, shown, (uint64_t) options->limit);
}

void
cli_timeline_write (FILE *out, const char *path, const SimTimeline *timeline,
                    const CliRunInputs *inputs)
{
  find_form (path) (out, timeline, inputs);
}

char *
cli_timeline_warning (const SimTimeline *timeline, int64_t time_ps)
{
  uint64_t left_out = sim_timeline_left_out (timeline);
  char end[CLI_TIME_SIZE], time[CLI_TIME_SIZE];

  if (left_out == 0)
    return NULL;
  return g_strdup_printf ("the timeline ends at %s of %s us, where --timeline-limit is reached: "
                          "%" G_GUINT64_FORMAT " intervals and messages are left out; "
                          "--timeline-ranks chooses ranks",
                          cli_timeline_us (end, sim_timeline_end_ps (timeline)),
                          cli_timeline_us (time, time_ps), left_out);
}

/* --- For all forms --- */

const char *
cli_timeline_us (char text[CLI_TIME_SIZE], int64_t time_ps)
{
  g_snprintf (text, CLI_TIME_SIZE, "%" G_GINT64_FORMAT ".%06" G_GINT64_FORMAT, time_ps / 1000000,
              time_ps % 1000000);
  return text;
}

char *
cli_timeline_node_name (const TopoMachine *machine, uint32_t node)
{
  GString *name = g_string_new (NULL);
  TopoCoordinates coordinates;

  if (machine->fabric != NULL) {
    g_string_assign (name, machine->fabric->hosts[node].name);
    return g_string_free (name, FALSE);
  }
  coordinates = topo_shape_coordinates (&machine->shape, node);
  g_string_printf (name, "node %u (", node);
  for (uint32_t dimension = 0; dimension < machine->shape.n_dimensions; dimension++)
    g_string_append_printf (name, "%s%u", dimension > 0 ? "," : "", coordinates.at[dimension]);
  g_string_append_c (name, ')');
  return g_string_free (name, FALSE);
}

char *
cli_timeline_lane_name (SimLane lane)
{
  return lane.processor == 0 ? g_strdup_printf ("rank %u", lane.rank)
                             : g_strdup_printf ("rank %u cpu %u", lane.rank, lane.processor);
}

#ifndef HAVE_OTF2

gboolean
cli_timeline_otf2_check (const char *path, GError **error)
{
  return cli_refuse (error, "--timeline %s: this hopcast was built without libotf2", path);
}

gboolean
cli_timeline_write_otf2 (const char *path, const SimTimeline *timeline, const CliRunInputs *inputs,
                         Trace *trace, char **warning, GError **error)
{
  (void) timeline, (void) inputs, (void) trace, (void) warning;
  return cli_timeline_otf2_check (path, error);
}

#endif
