/* timeline_file_test.c - a small timeline, made by hand, in Chrome's form.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/trace/timeline_file.h"

#include <stdlib.h>
#include <string.h>

#define NS 1000

typedef struct {
  TopoMachine *machine;
  TopoMapping *mapping;
  SimTimeline *timeline;
  JsonParser *parser;
  JsonArray *events;
} Fixture;

static void
tell (SimTimeline *timeline, uint32_t rank, TraceOpKind kind, const char *name, int64_t at_ps)
{
  const TraceOp operation = { .kind = kind, .name = name };

  sim_timeline_call (timeline, rank, &operation, at_ps);
}

/* Rank 0 computes until 500 ns and sends until 800; rank 1 receives: it waits from 0.001 ns to 1810 and
 * copies until 2510.25. */
static Fixture
fixture_new (const char *trace_name)
{
  Fixture fixture, *f = &fixture;
  g_autoptr (GError) error = NULL;
  char *text = NULL;
  size_t length;
  FILE *out = open_memstream (&text, &length);
  CliRunInputs inputs = { trace_name, "packet", "default", NULL, NULL };

  f->machine = topo_machine_new ("torus:2x2", &error);
  f->mapping = topo_mapping_new (NULL, f->machine, 2, &error);
  g_assert_no_error (error);
  f->timeline = sim_timeline_new (2, NULL, 100);
  tell (f->timeline, 0, TRACE_OP_COMPUTE, "compute", 0);
  tell (f->timeline, 0, TRACE_OP_SEND, "MPI_\"Send\\\n", 500 * NS);
  sim_timeline_sent (f->timeline, 0, 500 * NS);
  sim_timeline_rank_end (f->timeline, 0, 800 * NS);
  tell (f->timeline, 1, TRACE_OP_RECV, "MPI_Recv", 0);
  sim_timeline_wait (f->timeline, 1, 1, 1810 * NS);
  sim_timeline_received (f->timeline, 0, 0, 1, 10, 2510 * NS + 250);
  sim_timeline_rank_end (f->timeline, 1, 2510 * NS + 250);
  inputs.machine = f->machine;
  inputs.mapping = f->mapping;
  cli_timeline_write_chrome (out, f->timeline, &inputs);
  fclose (out);
  f->parser = json_parser_new ();
  json_parser_load_from_data (f->parser, text, (gssize) length, &error);
  g_assert_no_error (error);
  f->events = json_object_get_array_member (json_node_get_object (json_parser_get_root (f->parser)),
                                            "traceEvents");
  free (text);
  return fixture;
}

static void
fixture_clear (Fixture *f)
{
  g_object_unref (f->parser);
  sim_timeline_free (f->timeline);
  topo_mapping_free (f->mapping);
  topo_machine_free (f->machine);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Fixture, fixture_clear)

/* The only event of a phase and name; NULL when there is none. */
static JsonObject *
find (const Fixture *f, const char *phase, const char *name)
{
  JsonObject *found = NULL;

  for (guint i = 0; i < json_array_get_length (f->events); i++) {
    JsonObject *event = json_array_get_object_element (f->events, i);

    if (strcmp (json_object_get_string_member (event, "ph"), phase) == 0 &&
        strcmp (json_object_get_string_member (event, "name"), name) == 0) {
      g_assert_null (found);
      found = event;
    }
  }
  return found;
}

static void
assert_times (const Fixture *f, const char *phase, const char *name, gint64 lane, double begin_us,
              double span_us)
{
  JsonObject *event = find (f, phase, name);

  g_assert_nonnull (event);
  g_assert_cmpint (json_object_get_int_member (event, "tid"), ==, lane);
  g_assert_cmpfloat (json_object_get_double_member (event, "ts"), ==, begin_us);
  if (span_us > 0)
    g_assert_cmpfloat (json_object_get_double_member (event, "dur"), ==, span_us);
}

/* An event within another one comes after it. */
static void
test_intervals (void)
{
  g_auto (Fixture) f = fixture_new ("a.hct");
  guint outer = G_MAXUINT, inner = G_MAXUINT;

  assert_times (&f, "X", "computing", 0, 0, 0.5);
  assert_times (&f, "X", "MPI_\"Send\\\n", 0, 0.5, 0.3);
  assert_times (&f, "X", "MPI_Recv", 1, 0, 2.51025);
  assert_times (&f, "X", "waiting", 1, 0.000001, 1.809999);
  for (guint i = 0; i < json_array_get_length (f.events); i++) {
    JsonObject *event = json_array_get_object_element (f.events, i);

    if (event == find (&f, "X", "MPI_Recv"))
      outer = i;
    if (event == find (&f, "X", "waiting"))
      inner = i;
  }
  g_assert_cmpuint (outer, <, inner);
}

static void
test_arrow (void)
{
  g_auto (Fixture) f = fixture_new ("a.hct");
  JsonObject *begin = find (&f, "s", "message"), *end = find (&f, "f", "message"), *args;

  assert_times (&f, "s", "message", 0, 0.5, 0);
  assert_times (&f, "f", "message", 1, 2.50925, 0);
  g_assert_cmpint (json_object_get_int_member (begin, "id"), ==,
                   json_object_get_int_member (end, "id"));
  args = json_object_get_object_member (begin, "args");
  g_assert_cmpint (json_object_get_int_member (args, "bytes"), ==, 10);
  g_assert_cmpint (json_object_get_int_member (args, "to"), ==, 1);
  g_assert_cmpfloat (json_object_get_double_member (args, "delivered_us"), ==, 2.51025);
}

/* Names of files may have any bytes. */
static void
test_any_name (void)
{
  g_auto (Fixture) f = fixture_new ("a\t\"\\\xff.hct");
  JsonObject *root = json_node_get_object (json_parser_get_root (f.parser));

  g_assert_cmpstr (
      json_object_get_string_member (json_object_get_object_member (root, "otherData"), "trace"),
      ==, "a\t\"\\\xef\xbf\xbd.hct");
}

static void
test_names_of_lanes (void)
{
  g_autofree char *first = cli_timeline_lane_name ((SimLane){ 7, 0 });
  g_autofree char *second = cli_timeline_lane_name ((SimLane){ 7, 2 });
  char time[CLI_TIME_SIZE];

  g_assert_cmpstr (first, ==, "rank 7");
  g_assert_cmpstr (second, ==, "rank 7 cpu 2");
  g_assert_cmpstr (cli_timeline_us (time, 12000000 + 5), ==, "12.000005");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli/timeline/intervals", test_intervals);
  g_test_add_func ("/cli/timeline/arrow", test_arrow);
  g_test_add_func ("/cli/timeline/any-name", test_any_name);
  g_test_add_func ("/cli/timeline/names", test_names_of_lanes);
  return g_test_run ();
}
