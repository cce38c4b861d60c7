/* bound_fill_test.c - the classes of the paper's node, simulated.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/aggregate/bound_fill.h"

#include "study/study_error.h"
#include "study/aggregate/network_pingpong.h"
#include "topology/mapping/message_placement.h"
#include "topology/topology_testing.h"

#include <string.h>

static const uint64_t small[] = { 8 };

static PredictBoundTable *
fill_good (const StudyBoundFill *fill)
{
  g_autoptr (GError) error = NULL;
  PredictBoundTable *table = study_bound_fill (fill, &error);

  g_assert_no_error (error);
  return table;
}

static char *
text_of (const PredictBoundTable *table)
{
  char *text;
  size_t length;
  FILE *out = open_memstream (&text, &length);

  predict_bound_table_write (table, out);
  fclose (out);
  return text;
}

static guint
count_lines (const char *text, const char *start, const char *part)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  guint n = 0;

  for (char **line = lines; *line != NULL; line++)
    n += g_str_has_prefix (*line, start) && strstr (*line, part) != NULL;
  return n;
}

/* 56 within a node and 268 between nodes, as the reference counts them: 56 is without noise to
 * other nodes.  One worker or three make the same table. */
static void
test_classes (void)
{
  g_autoptr (TopoMachine) machine = topo_testing_machine ("systemg:2", 0);
  StudyBoundFill fill = { .machine = machine,
                          .bytes = small,
                          .n_bytes = 1,
                          .noise = { UINT32_MAX, UINT32_MAX },
                          .n_threads = 3 };
  g_autoptr (PredictBoundTable) table = fill_good (&fill), again = NULL, quiet = NULL;
  g_autofree char *text = text_of (table), *text_again = NULL, *quiet_text = NULL;

  g_assert_cmpuint (count_lines (text, "pingpong,between,", ""), ==, 268);
  g_assert_cmpuint (count_lines (text, "pingpong,within,", ""), ==, 283);
  fill.n_threads = 1;
  again = fill_good (&fill);
  text_again = text_of (again);
  g_assert_cmpstr (text, ==, text_again);
  fill.noise.max_outside = 0;
  quiet = fill_good (&fill);
  quiet_text = text_of (quiet);
  g_assert_cmpuint (count_lines (quiet_text, "pingpong,within,", ""), ==, 56);
}

/* A row is the ping-pong that its class says: the pair of one die with one of the other socket; a
 * message between nodes with noise beside it on both. */
static void
test_rows (void)
{
  g_autoptr (TopoMachine) machine = topo_testing_machine ("systemg:2", 0);
  const uint64_t sizes[] = { 8, 65536 };
  const StudyBoundFill fill = {
    .machine = machine, .bytes = sizes, .n_bytes = 2, .noise = { 1, 1 }, .n_threads = 2
  };
  g_autoptr (PredictBoundTable) table = fill_good (&fill);
  g_autoptr (TopoLevels) levels = topo_levels_new (machine->node, false);
  const uint8_t within[8] = {
    TOPO_PLACE_OBSERVED, TOPO_PLACE_OBSERVED, 0, 0, TOPO_PLACE_PAIR, 0, TOPO_PLACE_PAIR, 0
  };
  const uint8_t between[8] = { TOPO_PLACE_OBSERVED, TOPO_PLACE_OUTSIDE, TOPO_PLACE_PAIR,
                               TOPO_PLACE_PAIR };
  const uint32_t within_node[4] = { 0 }, between_node[] = { 0, 0, 1, 0, 1, 0, 1, 1 };
  const uint8_t within_core[] = { 0, 4, 1, 6 }, between_core[] = { 0, 2, 2, 1, 0, 3, 3, 1 };
  g_autofree char *within_class = topo_placement_class (levels, within);
  g_autofree char *between_class = topo_placement_class (levels, between);
  const PredictBoundKind kinds[] = {
    { PREDICT_BOUND_MESSAGE, PREDICT_BOUND_WITHIN, within_class, 1, 0, 2 },
    { PREDICT_BOUND_MESSAGE, PREDICT_BOUND_BETWEEN, between_class, 1, 1, 2 },
  };

  study_slots_are_cores (machine);
  for (guint i = 0; i < 2; i++)
    for (guint size = 0; size < 2; size++) {
      const PredictBoundCurve *curve = predict_bound_table_find (table, &kinds[i]);
      bool beyond = false;

      g_assert_nonnull (curve);
      g_assert_cmpfloat_with_epsilon (
          predict_bound_curve_s (curve, (double) sizes[size], &beyond) * 1e6,
          i == 0
              ? study_pingpong_us (machine, NULL, 4, within_node, within_core, sizes[size], NULL)
              : study_pingpong_us (machine, NULL, 8, between_node, between_core, sizes[size], NULL),
          1e-9);
    }
}

/* Collectives come for the patterns that 4 ranks fill: 1 to 7; on 2 nodes those of two and
 * four tasks, 2 to 7.  An all-to-all takes longer than its part within a node; a barrier has one
 * size. */
static void
test_collectives (void)
{
  g_autoptr (TopoMachine) machine = topo_testing_machine ("systemg:2", 0);
  const uint64_t sizes[] = { 8, 4096 };
  const StudyBoundCollective wanted[] = { { TRACE_OP_ALLTOALL, 4 }, { TRACE_OP_BARRIER, 4 } };
  const StudyBoundFill fill = { .machine = machine,
                                .bytes = sizes,
                                .n_bytes = 2,
                                .no_messages = TRUE,
                                .collectives = wanted,
                                .n_collectives = 2,
                                .n_threads = 2 };
  g_autoptr (PredictBoundTable) table = fill_good (&fill);
  g_autofree char *text = text_of (table);

  g_assert_cmpuint (count_lines (text, "alltoall,,", ",0,0,4,8,"), ==, 6);
  g_assert_cmpuint (count_lines (text, "alltoall,,", ",0,0,4,4096,"), ==, 6);
  g_assert_cmpuint (count_lines (text, "barrier,,", ",0,0,4,0,"), ==, 6);
  g_assert_cmpuint (count_lines (text, "", ",0,0,"), ==, 18);
}

/* Every collective that is known can be made, and takes longer with more bytes. */
static void
test_every_collective (void)
{
  g_autoptr (TopoMachine) machine = topo_testing_machine ("systemg:4", 0);
  const uint32_t node[] = { 0, 1, 2, 3 };
  const uint8_t core[4] = { 0 };
  guint n = 0;

  study_slots_are_cores (machine);
  for (int kind = 0; kind < TRACE_N_OPS; kind++) {
    g_autoptr (GError) error = NULL;
    double few, many;

    if (!study_collective_is_known ((TraceOpKind) kind))
      continue;
    few = study_collective_us (machine, NULL, (TraceOpKind) kind, 4, node, core, 8, &error);
    g_assert_no_error (error);
    many = study_collective_us (machine, NULL, (TraceOpKind) kind, 4, node, core, 1 << 20, &error);
    g_assert_no_error (error);
    g_assert_cmpfloat (few, >, 0);
    if (kind == TRACE_OP_BARRIER)
      g_assert_cmpfloat (many, ==, few);
    else
      g_assert_cmpfloat (many, >, 100 * few / 8);
    n++;
  }
  g_assert_cmpuint (n, ==, 8);
}

static void
assert_refused (const char *spec, TraceOpKind kind, uint32_t n_ranks, const char *part)
{
  g_autoptr (TopoMachine) machine = topo_testing_machine (spec, 0);
  const StudyBoundCollective wanted = { kind, n_ranks };
  const StudyBoundFill fill = { .machine = machine,
                                .bytes = small,
                                .n_bytes = 1,
                                .no_messages = TRUE,
                                .collectives = &wanted,
                                .n_collectives = 1,
                                .n_threads = 1 };
  g_autoptr (GError) error = NULL;

  g_assert_null (study_bound_fill (&fill, &error));
  g_assert_error (error, STUDY_ERROR, STUDY_ERROR_OPTION);
  if (strstr (error->message, part) == NULL)
    g_error ("\"%s\", expected \"%s\"", error->message, part);
}

static void
test_refused (void)
{
  assert_refused ("bgq:32", TRACE_OP_BCAST, 4, "is a torus");
  assert_refused ("systemg:1", TRACE_OP_BCAST, 4, "has one node");
  assert_refused ("systemg:2", TRACE_OP_SCAN, 4, "scan: no table");
  assert_refused ("systemg:2", TRACE_OP_BCAST, 32, "no pattern of the node");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/bound-fill/classes", test_classes);
  g_test_add_func ("/bound-fill/rows", test_rows);
  g_test_add_func ("/bound-fill/collectives", test_collectives);
  g_test_add_func ("/bound-fill/every-collective", test_every_collective);
  g_test_add_func ("/bound-fill/refused", test_refused);
  return g_test_run ();
}
