/* aggregate_mapping_test.c - who shares a node, a socket and a die under a pattern.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/aggregate/aggregate_mapping.h"

#include "study/study_error.h"
#include "study/aggregate/network_pingpong.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

typedef struct {
  TopoMachine *machine;
  TopoPatterns *patterns;
  Trace *trace;
} Fixture;

static Fixture
fixture_of (const char *trace, uint32_t n_ranks)
{
  g_autoptr (GError) error = NULL;
  Fixture f = { .machine = topo_machine_new ("systemg:16", &error) };

  g_assert_no_error (error);
  study_slots_are_cores (f.machine);
  f.patterns = topo_patterns_new (f.machine->node, 0);
  f.trace = trace_open (trace, &(TraceOptions){ .n_ranks = n_ranks }, &error);
  g_assert_no_error (error);
  return f;
}

static void
fixture_clear (Fixture *f)
{
  trace_free (f->trace);
  topo_patterns_free (f->patterns);
  topo_machine_free (f->machine);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Fixture, fixture_clear)

static StudyAggregate *
aggregate_of (const Fixture *f, const StudyAggregateOptions *options)
{
  g_autoptr (GError) error = NULL;
  StudyAggregate *aggregate =
      study_aggregate_new (f->trace, f->patterns, options, NULL, NULL, &error);

  g_assert_no_error (error);
  return aggregate;
}

/* Every pattern has its number of ranks on each node, on its own cores and no others. */
static void
test_every_pattern (void)
{
  g_auto (Fixture) f = fixture_of ("gen:npb:kernel=lu,class=W,ranks=16,iterations=1", 0);
  g_autoptr (StudyAggregate) aggregate = aggregate_of (&f, &(StudyAggregateOptions){ .seed = 1 });

  for (uint32_t i = 0; i < f.patterns->n; i++) {
    const TopoPattern *pattern = &f.patterns->pattern[i];
    g_autoptr (TopoMapping) mapping = study_aggregate_mapping (aggregate, pattern);
    uint64_t used[16] = { 0 }, wanted = 0;

    for (uint32_t at = 0; at < pattern->n_tasks; at++)
      wanted |= UINT64_C (1) << pattern->place[at];
    for (uint32_t rank = 0; rank < 16; rank++) {
      g_assert_cmpuint (mapping->node[rank], <, 16 / pattern->n_tasks);
      g_assert_cmpuint (used[mapping->node[rank]] >> mapping->slot[rank] & 1, ==, 0);
      used[mapping->node[rank]] |= UINT64_C (1) << mapping->slot[rank];
    }
    for (uint32_t node = 0; node < 16 / pattern->n_tasks; node++)
      g_assert_cmpuint (used[node], ==, wanted);
  }
}

/* Ranks r and r + 4 exchange messages: in the full node each such pair shares a die, in pattern 6
 * (one die of each socket) too; in pattern 5 (one core of each die) a socket. */
static void
test_pairs_stay_together (void)
{
  g_auto (Fixture) f = fixture_of ("gen:pingpong:ranks=8,bytes=100", 0);
  g_autoptr (StudyAggregate) aggregate = aggregate_of (&f, &(StudyAggregateOptions){ .seed = 1 });
  static const uint32_t cores_shared[] = { [5] = 4, [6] = 2, [8] = 2 };

  for (uint32_t id = 5; id <= 8; id++) {
    g_autoptr (TopoMapping) mapping =
        study_aggregate_mapping (aggregate, &f.patterns->pattern[id - 1]);

    for (uint32_t rank = 0; rank < 4 && cores_shared[id] > 0; rank++) {
      g_assert_cmpuint (mapping->node[rank], ==, mapping->node[rank + 4]);
      g_assert_cmpuint (mapping->slot[rank] / cores_shared[id], ==,
                        mapping->slot[rank + 4] / cores_shared[id]);
    }
  }
}

/* Ten ranks, four to a node: three nodes of 4, 3 and 3. */
static void
test_not_full (void)
{
  g_auto (Fixture) f = fixture_of ("gen:ring:ranks=10,bytes=100", 0);
  g_autoptr (StudyAggregate) aggregate = aggregate_of (&f, &(StudyAggregateOptions){ .seed = 1 });
  g_autoptr (TopoMapping) mapping = study_aggregate_mapping (aggregate, &f.patterns->pattern[4]);
  uint32_t n[3] = { 0 };

  for (uint32_t rank = 0; rank < 10; rank++)
    n[mapping->node[rank]]++;
  g_assert_cmpuint (n[0] + n[1] + n[2], ==, 10);
  for (uint32_t node = 0; node < 3; node++)
    g_assert_cmpuint (n[node], >=, 3);
}

/* Within a node a message takes 1 us and 1 us per byte more, between nodes 3 us. */
static PredictBoundTable *
table_of (bool with_between)
{
  const PredictBoundKind within = {
    PREDICT_BOUND_MESSAGE, PREDICT_BOUND_WITHIN, "(((..)(.o))((..)(.o)))", 0, 0, 2
  };
  const PredictBoundKind between = {
    PREDICT_BOUND_MESSAGE, PREDICT_BOUND_BETWEEN, "(((..)(..))((..)(.o)))", 0, 0, 2
  };
  PredictBoundTable *table = predict_bound_table_new ("test");

  predict_bound_table_add (table, &within, 1, 1);
  predict_bound_table_add (table, &within, 101, 101);
  if (with_between) {
    predict_bound_table_add (table, &between, 1, 3);
    predict_bound_table_add (table, &between, 101, 3);
  }
  return table;
}

/* Ranks 0 and 1, and 2 and 3, exchange long messages, which are faster between nodes; 0 and 2, and
 * 1 and 3, short ones, which are faster within.  By bytes the former share a node, by equation 4
 * the latter. */
static const char program[] = "0 init\n1 init\n2 init\n3 init\n"
                              "0 isend 1 0 100 6\n0 send 2 0 1 6\n0 wait 0 1 0\n"
                              "1 recv 0 0 100 6\n1 send 3 0 1 6\n"
                              "2 isend 3 0 100 6\n2 recv 0 0 1 6\n2 wait 2 3 0\n"
                              "3 recv 2 0 100 6\n3 recv 1 0 1 6\n"
                              "0 finalize\n1 finalize\n2 finalize\n3 finalize\n";

static void
test_equation_4 (void)
{
  g_autofree char *path = NULL;
  int file = g_file_open_tmp ("aggregate-XXXXXX.ti", &path, NULL);
  g_autoptr (PredictBoundTable) table = table_of (true);

  g_assert_cmpint (file, >=, 0);
  close (file);
  g_assert_true (g_file_set_contents (path, program, -1, NULL));
  for (int by_time = 0; by_time <= 1; by_time++) {
    g_auto (Fixture) f = fixture_of (path, 4);
    g_autoptr (StudyAggregate) aggregate =
        aggregate_of (&f, &(StudyAggregateOptions){ .table = by_time ? table : NULL, .seed = 1 });
    g_autoptr (TopoMapping) mapping = study_aggregate_mapping (aggregate, &f.patterns->pattern[3]);

    g_assert_cmpint (mapping->node[0] == mapping->node[1], ==, !by_time);
    g_assert_cmpint (mapping->node[2] == mapping->node[3], ==, !by_time);
    g_assert_cmpint (mapping->node[0] == mapping->node[2], ==, by_time);
    g_assert_cmpint (mapping->node[1] == mapping->node[3], ==, by_time);
  }
  g_unlink (path);
}

static void
test_table_lacks (void)
{
  g_auto (Fixture) f = fixture_of ("gen:pingpong:ranks=8,bytes=1", 0);
  g_autoptr (PredictBoundTable) table = table_of (false);
  g_autoptr (GError) error = NULL;

  g_assert_null (study_aggregate_new (
      f.trace, f.patterns, &(StudyAggregateOptions){ .table = table }, NULL, NULL, &error));
  g_assert_error (error, STUDY_ERROR, STUDY_ERROR_INPUT);
  g_assert_nonnull (strstr (error->message, "test: no pingpong between a node without noise"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/aggregate-mapping/every-pattern", test_every_pattern);
  g_test_add_func ("/aggregate-mapping/pairs-stay-together", test_pairs_stay_together);
  g_test_add_func ("/aggregate-mapping/not-full", test_not_full);
  g_test_add_func ("/aggregate-mapping/equation-4", test_equation_4);
  g_test_add_func ("/aggregate-mapping/table-lacks", test_table_lacks);
  return g_test_run ();
}
