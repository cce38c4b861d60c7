/* timeline_file_paje.c - a timeline in Paje's format.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Events are in the order of time, as Paje requires.  States are set and not pushed, and containers
 * are created first: every reader of the format accepts both. */
#include "cli/trace/timeline_file.h"

#include <stdlib.h>
#include <string.h>

/* The classes of events and their fields; the number is the class's in the file. */
static const struct {
  const char *name;
  const char *fields[7];
} classes[] = {
  { "PajeDefineContainerType", { "Alias string", "Type string", "Name string" } },
  { "PajeDefineStateType", { "Alias string", "Type string", "Name string" } },
  { "PajeDefineLinkType",
    { "Alias string", "Type string", "StartContainerType string", "EndContainerType string",
      "Name string" } },
  { "PajeDefineEntityValue", { "Alias string", "Type string", "Name string", "Color color" } },
  { "PajeCreateContainer",
    { "Time date", "Alias string", "Type string", "Container string", "Name string" } },
  { "PajeDestroyContainer", { "Time date", "Type string", "Name string" } },
  { "PajeSetState", { "Time date", "Type string", "Container string", "Value string" } },
  { "PajeStartLink",
    { "Time date", "Type string", "Container string", "Value string", "StartContainer string",
      "Key string" } },
  { "PajeEndLink",
    { "Time date", "Type string", "Container string", "Value string", "EndContainer string",
      "Key string" } },
};

enum {
  DEFINE_CONTAINER_TYPE,
  DEFINE_STATE_TYPE,
  DEFINE_LINK_TYPE,
  DEFINE_VALUE,
  CREATE_CONTAINER,
  DESTROY_CONTAINER,
  SET_STATE,
  START_LINK,
  END_LINK,
};

/* Okabe and Ito's colours, which colour-blind people can distinguish; computing is grey. */
static const char *const colours[SIM_N_STATE_KINDS] = {
  [SIM_STATE_COMPUTE] = "0.8 0.8 0.8",      [SIM_STATE_SEND] = "0.34 0.71 0.91",
  [SIM_STATE_RECEIVE] = "0.0 0.45 0.7",     [SIM_STATE_COMPLETION] = "0.8 0.47 0.65",
  [SIM_STATE_COLLECTIVE] = "0.0 0.62 0.45", [SIM_STATE_ONE_SIDED] = "0.94 0.89 0.26",
  [SIM_STATE_OTHER] = "0.5 0.5 0.5",        [SIM_STATE_IDLE] = "0.95 0.95 0.95",
};
#define WAIT_COLOUR "0.84 0.37 0.0"

typedef struct {
  FILE *out;
  const SimTimeline *timeline;
  const CliRunInputs *inputs;
} Writer;

/* Paje has no way to write a quote within quotes. */
static void
write_quoted (FILE *out, const char *text)
{
  fputc ('"', out);
  for (; *text != '\0'; text++)
    fputc (*text == '"' || g_ascii_iscntrl (*text) ? '_' : *text, out);
  fputc ('"', out);
}

static void
write_value (FILE *out, const char *prefix, uint32_t state, const char *name, const char *colour)
{
  fprintf (out, "%d %s%u S ", DEFINE_VALUE, prefix, state);
  write_quoted (out, name);
  fprintf (out, " \"%s\"\n", colour);
}

/* The value of a lane whose rank has ended. */
#define DONE "done"

static uint32_t
lane_node (const Writer *writer, uint32_t lane)
{
  return writer->inputs->mapping->node[sim_timeline_lane (writer->timeline, lane).rank];
}

static bool
shows_lane (const Writer *writer, uint32_t lane)
{
  return sim_timeline_shows (writer->timeline, sim_timeline_lane (writer->timeline, lane).rank);
}

typedef enum { BEGINS, ENDS, IS_DONE } Moment;

/* An end of an event of the timeline, or the end of a lane. */
typedef struct {
  int64_t time_ps;
  uint64_t number : 62; /* of the event, or the lane */
  uint64_t moment : 2;
} Item;

static int
compare_items (const void *left, const void *right)
{
  const Item *a = left, *b = right;

  if (a->time_ps != b->time_ps)
    return a->time_ps < b->time_ps ? -1 : 1;
  if (a->moment != b->moment)
    return a->moment < b->moment ? -1 : 1;
  return (a->number > b->number) - (a->number < b->number);
}

static void
item_add (GArray *items, int64_t time_ps, uint64_t number, Moment moment)
{
  const Item item = { .time_ps = time_ps,
                      .number = number & (UINT64_MAX >> 2),
                      .moment = (unsigned) moment & 3 };

  g_array_append_val (items, item);
}

static void
write_definitions (const Writer *writer)
{
  FILE *out = writer->out;

  for (guint class = 0; class < G_N_ELEMENTS (classes); class ++) {
    fprintf (out, "%%EventDef %s %u\n", classes[class].name, class);
    for (guint field = 0; classes[class].fields[field] != NULL; field++)
      fprintf (out, "%%  %s\n", classes[class].fields[field]);
    fputs ("%EndEventDef\n", out);
  }
  fprintf (out, "%d M 0 \"machine\"\n", DEFINE_CONTAINER_TYPE);
  fprintf (out, "%d N M \"node\"\n", DEFINE_CONTAINER_TYPE);
  fprintf (out, "%d R N \"rank\"\n", DEFINE_CONTAINER_TYPE);
  fprintf (out, "%d S R \"state\"\n", DEFINE_STATE_TYPE);
  fprintf (out, "%d L M R R \"message\"\n", DEFINE_LINK_TYPE);
  for (uint32_t number = 0; number < sim_timeline_states (writer->timeline); number++) {
    const SimState *state = sim_timeline_state (writer->timeline, number);
    bool idle = state->kind == SIM_STATE_IDLE;
    g_autofree char *waiting =
        idle ? g_strdup ("waiting") : g_strconcat ("waiting in ", state->name, NULL);

    write_value (out, "v", number, state->name, colours[state->kind]);
    if (state->kind != SIM_STATE_COMPUTE)
      write_value (out, "w", number, waiting, WAIT_COLOUR);
  }
  fprintf (out, "%d " DONE " S \"" DONE "\" \"1.0 1.0 1.0\"\n", DEFINE_VALUE);
}

/* Containers are the machine, the nodes of ranks that are shown, and the lanes of these ranks. */
static void
write_containers (const Writer *writer, const bool *shown)
{
  const TopoMachine *machine = writer->inputs->machine;
  FILE *out = writer->out;

  fprintf (out, "%d 0.000000 m M 0 ", CREATE_CONTAINER);
  write_quoted (out, machine->spec);
  fputc ('\n', out);
  for (uint32_t node = 0; node < topo_shape_nodes (&machine->shape); node++)
    if (shown[node]) {
      g_autofree char *name = cli_timeline_node_name (machine, node);

      fprintf (out, "%d 0.000000 n%u N m ", CREATE_CONTAINER, node);
      write_quoted (out, name);
      fputc ('\n', out);
    }
  for (uint32_t lane = 0; lane < sim_timeline_lanes (writer->timeline); lane++)
    if (shows_lane (writer, lane)) {
      g_autofree char *name = cli_timeline_lane_name (sim_timeline_lane (writer->timeline, lane));

      fprintf (out, "%d 0.000000 r%u R n%u \"%s\"\n", CREATE_CONTAINER, lane,
               lane_node (writer, lane), name);
    }
}

void
cli_timeline_write_paje (FILE *out, const SimTimeline *timeline, const CliRunInputs *inputs)
{
  uint32_t n_nodes = topo_shape_nodes (&inputs->machine->shape);
  uint32_t n_lanes = sim_timeline_lanes (timeline);
  Writer writer = { out, timeline, inputs };
  g_autofree bool *shown = g_new0 (bool, n_nodes);
  g_autofree int64_t *lane_end_ps = g_new0 (int64_t, n_lanes);
  g_autoptr (GArray) items = g_array_new (FALSE, FALSE, sizeof (Item));
  int64_t end_ps = 0;
  char time[CLI_TIME_SIZE];
  SimTimelineEvent event;

  for (uint32_t lane = 0; lane < n_lanes; lane++)
    shown[lane_node (&writer, lane)] |= shows_lane (&writer, lane);
  for (uint64_t number = 0; number < sim_timeline_size (timeline); number++) {
    if (!sim_timeline_event (timeline, number, &event))
      continue;
    item_add (items, event.begin_ps, number, BEGINS);
    if (event.is_message)
      item_add (items, event.end_ps, number, ENDS);
    else
      lane_end_ps[event.lane] = event.end_ps;
    end_ps = MAX (end_ps, event.end_ps);
  }
  for (uint32_t lane = 0; lane < n_lanes; lane++)
    if (shows_lane (&writer, lane) && lane_end_ps[lane] < end_ps)
      item_add (items, lane_end_ps[lane], lane, IS_DONE);
  qsort (items->data, items->len, sizeof (Item), compare_items);

  write_definitions (&writer);
  write_containers (&writer, shown);
  for (guint i = 0; i < items->len; i++) {
    const Item *item = &g_array_index (items, Item, i);
    bool ends = item->moment == ENDS;

    cli_timeline_us (time, item->time_ps);
    if (item->moment == IS_DONE) {
      fprintf (out, "%d %s S r%u " DONE "\n", SET_STATE, time, (uint32_t) item->number);
      continue;
    }
    sim_timeline_event (timeline, item->number, &event);
    if (event.is_message)
      fprintf (out, "%d %s L m %" G_GUINT64_FORMAT " r%u %" G_GUINT64_FORMAT "\n",
               ends ? END_LINK : START_LINK, time, event.bytes,
               ends ? event.destination : event.lane, (uint64_t) item->number);
    else
      fprintf (out, "%d %s S r%u %c%u\n", SET_STATE, time, event.lane, event.waits ? 'w' : 'v',
               event.state);
  }

  cli_timeline_us (time, end_ps);
  for (uint32_t lane = 0; lane < n_lanes; lane++)
    if (shows_lane (&writer, lane))
      fprintf (out, "%d %s R r%u\n", DESTROY_CONTAINER, time, lane);
  for (uint32_t node = 0; node < n_nodes; node++)
    if (shown[node])
      fprintf (out, "%d %s N n%u\n", DESTROY_CONTAINER, time, node);
  fprintf (out, "%d %s M m\n", DESTROY_CONTAINER, time);
}
