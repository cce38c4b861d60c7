/* timeline_file_chrome.c - a timeline in Chrome's trace event format.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Viewers truncate times to nanoseconds.  An arrow ends a nanosecond before its message arrives;
 * otherwise it would point behind the call that received it.  The exact time is an argument. */
#include "cli/trace/timeline_file.h"

#define NS_PS     1000
#define NO_NUMBER UINT64_MAX

static const char *const categories[SIM_N_STATE_KINDS] = {
  [SIM_STATE_COMPUTE] = "compute",       [SIM_STATE_SEND] = "send",
  [SIM_STATE_RECEIVE] = "receive",       [SIM_STATE_COMPLETION] = "completion",
  [SIM_STATE_COLLECTIVE] = "collective", [SIM_STATE_ONE_SIDED] = "one-sided",
  [SIM_STATE_OTHER] = "other",           [SIM_STATE_IDLE] = "idle",
};

typedef struct {
  FILE *out;
  const SimTimeline *timeline;
  const CliRunInputs *inputs;
  bool any; /* written */
} Writer;

static void
write_string (FILE *out, const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);

  fputc ('"', out);
  for (const char *at = valid; *at != '\0'; at++)
    if (*at == '"' || *at == '\\')
      fprintf (out, "\\%c", *at);
    else if ((unsigned char) *at < 0x20)
      fprintf (out, "\\u%04x", (unsigned) *at);
    else
      fputc (*at, out);
  fputc ('"', out);
}

static uint32_t
lane_node (const Writer *writer, uint32_t lane)
{
  return writer->inputs->mapping->node[sim_timeline_lane (writer->timeline, lane).rank];
}

/* Begins an event; the caller closes it with "}". */
static void
write_event (Writer *writer, const char *phase, uint32_t lane)
{
  fprintf (writer->out, "%s{\"ph\":\"%s\",\"pid\":%u,\"tid\":%u", writer->any ? ",\n" : "", phase,
           lane_node (writer, lane), lane);
  writer->any = true;
}

static void
write_name (Writer *writer, const char *what, uint32_t lane, const char *name)
{
  write_event (writer, "M", lane);
  fprintf (writer->out, ",\"name\":\"%s\",\"args\":{\"name\":", what);
  write_string (writer->out, name);
  fputs ("}}", writer->out);
}

static void
write_interval (Writer *writer, uint32_t lane, const char *category, const char *name,
                int64_t begin_ps, int64_t end_ps)
{
  char begin[CLI_TIME_SIZE], span[CLI_TIME_SIZE];

  write_event (writer, "X", lane);
  fprintf (writer->out,
           ",\"ts\":%s,\"dur\":%s,\"cat\":\"%s\",\"name\":", cli_timeline_us (begin, begin_ps),
           cli_timeline_us (span, end_ps - begin_ps), category);
  write_string (writer->out, name);
  fputc ('}', writer->out);
}

static void
write_message (Writer *writer, uint64_t number, const SimTimelineEvent *event)
{
  int64_t tip_ps = MAX (event->begin_ps, event->end_ps - NS_PS);
  char begin[CLI_TIME_SIZE], end[CLI_TIME_SIZE], tip[CLI_TIME_SIZE];

  write_event (writer, "s", event->lane);
  fprintf (writer->out,
           ",\"ts\":%s,\"id\":%" G_GUINT64_FORMAT
           ",\"cat\":\"message\",\"name\":\"message\",\"args\":{\"from\":%u,\"to\":%u,"
           "\"bytes\":%" G_GUINT64_FORMAT ",\"delivered_us\":%s}}",
           cli_timeline_us (begin, event->begin_ps), number, event->lane, event->destination,
           event->bytes, cli_timeline_us (end, event->end_ps));
  write_event (writer, "f", event->destination);
  fprintf (writer->out,
           ",\"ts\":%s,\"id\":%" G_GUINT64_FORMAT
           ",\"bp\":\"e\",\"cat\":\"message\",\"name\":\"message\"}",
           cli_timeline_us (tip, tip_ps), number);
}

void
cli_timeline_write_chrome (FILE *out, const SimTimeline *timeline, const CliRunInputs *inputs)
{
  const struct {
    const char *name, *value;
  } members[] = {
    { "program", "hopcast " PACKAGE_VERSION },
    { "trace", inputs->trace },
    { "machine", inputs->machine->spec },
    { "mapping", inputs->mapping->name },
    { "network", inputs->network },
  };
  uint64_t size = sim_timeline_size (timeline);
  uint32_t n_lanes = sim_timeline_lanes (timeline);
  g_autofree bool *named = g_new0 (bool, topo_shape_nodes (&inputs->machine->shape));
  g_autofree uint64_t *open = g_new (uint64_t, n_lanes);
  g_autofree int64_t *call_end_ps = g_new0 (int64_t, size);
  Writer writer = { out, timeline, inputs, false };
  SimTimelineEvent event;

  fputs ("{\"displayTimeUnit\":\"ns\",\"otherData\":{", out);
  for (gsize i = 0; i < G_N_ELEMENTS (members); i++) {
    fprintf (out, "%s\"%s\":", i > 0 ? "," : "", members[i].name);
    write_string (out, members[i].value);
  }
  fputs ("},\n\"traceEvents\":[\n", out);
  for (uint32_t lane = 0; lane < n_lanes; lane++) {
    SimLane place = sim_timeline_lane (timeline, lane);
    g_autofree char *lane_name = cli_timeline_lane_name (place);
    uint32_t node = lane_node (&writer, lane);

    if (!sim_timeline_shows (timeline, place.rank))
      continue;
    if (!named[node]) {
      g_autofree char *name = cli_timeline_node_name (inputs->machine, node);

      write_name (&writer, "process_name", lane, name);
      named[node] = true;
    }
    write_name (&writer, "thread_name", lane, lane_name);
  }

  /* Outer events must be written before those within them: of the first interval of each call, find
   * where the call ends. */
  for (uint32_t lane = 0; lane < n_lanes; lane++)
    open[lane] = NO_NUMBER;
  for (uint64_t number = 0; number < size; number++) {
    if (!sim_timeline_event (timeline, number, &event) || event.is_message)
      continue;
    if (event.first || open[event.lane] == NO_NUMBER)
      open[event.lane] = number;
    call_end_ps[open[event.lane]] = event.end_ps;
  }
  for (uint64_t number = 0; number < size; number++) {
    const SimState *state;

    if (!sim_timeline_event (timeline, number, &event))
      continue;
    if (event.is_message) {
      write_message (&writer, number, &event);
      continue;
    }
    state = sim_timeline_state (timeline, event.state);
    if (call_end_ps[number] > 0 && state->kind != SIM_STATE_IDLE)
      write_interval (&writer, event.lane, categories[state->kind], state->name, event.begin_ps,
                      call_end_ps[number]);
    if (event.waits)
      write_interval (&writer, event.lane, "wait", "waiting", event.begin_ps, event.end_ps);
  }
  fputs ("\n]}\n", out);
}
