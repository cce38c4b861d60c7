/* bound_replay_test.c - programs of a few messages, bounded by hand.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The node is that of the paper, 2 x 2 x 2 cores, and the table one that tells at a
 * glance which class was looked up: see table_new(). */
#include "study/aggregate/bound_replay.h"

#include "study/study_error.h"
#include "study/aggregate/network_pingpong.h"
#include "topology/mapping/message_placement.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#define US 1e-6

/* A message takes 1 us within a node, 2 us between nodes, whatever its size up to 1 MiB; 10 us more
 * with every pair of noise, 100 us with every noisy message to another node.  A barrier of 4 takes
 * 1 ms. */
static PredictBoundTable *
table_new (const TopoLevels *levels, uint32_t max_pairs)
{
  PredictBoundTable *table = predict_bound_table_new ("by-hand");

  for (uint32_t ends = 1; ends <= 2; ends++)
    for (uint32_t pairs = 0; pairs <= max_pairs; pairs++)
      for (uint32_t outside = 0; ends + 2 * pairs + outside <= 8; outside++) {
        g_autoptr (TopoPlacements) found =
            topo_placements_new (levels, (TopoPlacementKind){ ends, pairs, outside });

        for (uint32_t i = 0; i < found->n; i++) {
          g_autofree char *placement = topo_placement_class (levels, found->mark + 8 * i);
          const PredictBoundKind kind = { PREDICT_BOUND_MESSAGE,
                                          ends == 2 ? PREDICT_BOUND_WITHIN : PREDICT_BOUND_BETWEEN,
                                          placement,
                                          pairs,
                                          outside,
                                          2 };
          double us = (ends == 2 ? 1 : 2) + 10.0 * pairs + 100.0 * outside;

          g_assert_true (predict_bound_table_add (table, &kind, 1, us));
          g_assert_true (predict_bound_table_add (table, &kind, 1 << 20, us));
        }
      }
  for (uint32_t n = 1; n <= 4; n *= 2) {
    uint32_t places[] = { 0, 2, 4, 6 };
    g_autofree char *placement = NULL;
    uint8_t mark[8] = { 0 };

    for (uint32_t i = 0; i < n; i++)
      mark[places[i]] = TOPO_PLACE_OBSERVED;
    placement = topo_placement_class (levels, mark);
    predict_bound_table_add (
        table, &(PredictBoundKind){ "barrier", PREDICT_BOUND_ALL, placement, 0, 0, 4 }, 0, 1000);
  }
  return table;
}

/* Four ranks of a program's text, %d sends to the next etc. */
typedef struct {
  TopoMachine *machine;
  TopoLevels *levels;
  PredictBoundTable *table;
  uint32_t node[4];
  uint8_t slot[4];
  TopoMapping mapping;
  StudyBoundOptions options;
  GError *error;
} Fixture;

/* Rank r is on a core of a die of its own of node[r]. */
static void
set_up (Fixture *f, gconstpointer unused)
{
  (void) unused;
  f->machine = topo_machine_new ("systemg:4", NULL);
  study_slots_are_cores (f->machine);
  topo_parameters_set (&f->machine->parameters, "node.compute", "1 Gflop/s", NULL);
  f->levels = topo_levels_new (f->machine->node, false);
  f->table = table_new (f->levels, 3);
  f->mapping = (TopoMapping){ (char *) "test", 4, f->node, f->slot };
  for (uint32_t rank = 0; rank < 4; rank++) {
    f->node[rank] = 0;
    f->slot[rank] = (uint8_t) (2 * rank);
  }
}

static void
tear_down (Fixture *f, gconstpointer unused)
{
  (void) unused;
  predict_bound_table_free (f->table);
  topo_levels_free (f->levels);
  topo_machine_free (f->machine);
  g_clear_error (&f->error);
}

/* The bound of a program of 4 ranks, a line per operation, without init and finalize. */
static gboolean
bound_text (Fixture *f, const char *lines, StudyCommBound *bound)
{
  g_autofree char *path = NULL;
  g_autofree char *text = g_strconcat ("0 init\n1 init\n2 init\n3 init\n", lines,
                                       "0 finalize\n1 finalize\n2 finalize\n3 finalize\n", NULL);
  int file = g_file_open_tmp ("bound-XXXXXX.ti", &path, NULL);
  g_autoptr (Trace) trace = NULL;
  gboolean good;

  g_assert_cmpint (file, >=, 0);
  close (file);
  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  trace = trace_open (path, &(TraceOptions){ .n_ranks = 4 }, NULL);
  g_assert_nonnull (trace);
  good = study_comm_bound (trace, f->machine, &f->mapping, f->table, &f->options, bound, &f->error);
  g_unlink (path);
  return good;
}

static void
assert_bound (Fixture *f, const char *lines, const double path_us[4], const double sum_us[4])
{
  g_auto (StudyCommBound) bound = { 0 };
  double path_most = 0, sum_most = 0;

  bound_text (f, lines, &bound);
  g_assert_no_error (f->error);
  for (uint32_t rank = 0; rank < 4; rank++) {
    g_assert_cmpfloat_with_epsilon (bound.rank_path_s[rank], path_us[rank] * US, 1e-12);
    g_assert_cmpfloat_with_epsilon (bound.rank_sum_s[rank], sum_us[rank] * US, 1e-12);
    path_most = fmax (path_most, path_us[rank]);
    sum_most = fmax (sum_most, sum_us[rank]);
  }
  g_assert_cmpfloat_with_epsilon (bound.path_s, path_most * US, 1e-12);
  g_assert_cmpfloat_with_epsilon (bound.sum_s, sum_most * US, 1e-12);
}

/* Ranks are on node 0 unless node[] says otherwise.  Noise is that of the phase by default. */
static const struct {
  const char *name;
  uint32_t node[4];
  StudyNear near;
  const char *lines;
  double path_us[4], sum_us[4];
} programs[] = {
  /* Within a node, alone: 1 us each; a ping-pong of two rounds is four messages, but the sender of
   * the last does not wait for it. */
  { .name = "ping-pong",
    .lines = "0 send 1 0 8 6\n1 recv 0 0 8 6\n1 send 0 0 8 6\n0 recv 1 0 8 6\n"
             "0 send 1 0 8 6\n1 recv 0 0 8 6\n1 send 0 0 8 6\n0 recv 1 0 8 6\n",
    .path_us = { 4, 3, 0, 0 },
    .sum_us = { 4, 4, 0, 0 } },

/* 2 and 3 exchange messages in the same phase: a pair of noise, 11 us.  Behind a barrier there
 * is none. */
#define PHASES                                                       \
  "0 send 1 0 8 6\n1 recv 0 0 8 6\n2 send 3 0 8 6\n3 recv 2 0 8 6\n" \
  "0 barrier\n1 barrier\n2 barrier\n3 barrier\n"                     \
  "0 send 1 0 8 6\n1 recv 0 0 8 6\n"
  { .name = "phases, noise of the phase",
    .lines = PHASES,
    .path_us = { 1011, 1012, 1011, 1011 },
    .sum_us = { 1012, 1012, 1011, 1011 } },
  { .name = "phases, noise of the run",
    .near = STUDY_NEAR_RUN,
    .lines = PHASES,
    .path_us = { 1011, 1022, 1011, 1011 },
    .sum_us = { 1022, 1022, 1011, 1011 } },
  { .name = "phases, no noise",
    .near = STUDY_NEAR_NONE,
    .lines = PHASES,
    .path_us = { 1001, 1002, 1001, 1001 },
    .sum_us = { 1002, 1002, 1001, 1001 } },

  /* 0 to 2 is between nodes (2 us), with 1 to 3 beside it on both (100 us). */
  { .name = "between nodes",
    .node = { 0, 0, 1, 1 },
    .lines = "0 send 2 0 8 6\n2 recv 0 0 8 6\n1 send 3 0 8 6\n3 recv 1 0 8 6\n",
    .path_us = { 0, 0, 102, 102 },
    .sum_us = { 102, 102, 102, 102 } },

  /* Rank 2 alone on node 1.  From 0 to 2 there is a pair of noise on node 0, 1 and 3, and none on
   * node 1: the slower counts, 12 us.  Between 1 and 3 there is one message outside: 101 us. */
  { .name = "the slower node counts",
    .node = { 0, 0, 1, 0 },
    .lines = "0 send 2 0 8 6\n2 recv 0 0 8 6\n1 send 3 0 8 6\n3 recv 1 0 8 6\n",
    .path_us = { 0, 0, 12, 101 },
    .sum_us = { 12, 101, 12, 101 } },

  /* Rank 1 can be in a pair with 3 or at a message to 2, on the other node: the latter is the slower
   * noise for 0, which sends to 2 too (102); then 3 is without a partner.  1 to 3, with 0 outside:
   * 101.  1 to 2: 0 outside, 3 idle, 102. */
  { .name = "the worst way counts",
    .node = { 0, 0, 1, 0 },
    .lines = "0 send 2 0 8 6\n2 recv 0 0 8 6\n"
             "1 send 3 0 8 6\n3 recv 1 0 8 6\n1 send 2 0 8 6\n2 recv 1 0 8 6\n",
    .path_us = { 0, 0, 204, 101 },
    .sum_us = { 102, 203, 204, 101 } },

  /* A pipeline of three: rank 1 waits for the computation of rank 0, 100 us (10^5 flops), and 2
   * for both; the sums do not contain that.  All of 0 to 3 communicate: every message has noise.
   * 0-1 has the pair 2-3 (11 us), 1-2 is beside 0 and 3, which are no pair (1 us). */
  { .name = "waiting",
    .lines = "0 compute 1e5\n0 send 1 0 8 6\n"
             "1 recv 0 0 8 6\n1 compute 1e5\n1 send 2 0 8 6\n"
             "2 recv 1 0 8 6\n2 compute 1e5\n2 send 3 0 8 6\n"
             "3 recv 2 0 8 6\n",
    .path_us = { 0, 111, 212, 323 },
    .sum_us = { 11, 12, 12, 11 } },

  /* Nonblocking messages count once, one after the other: 0 sends three at once, which leave at 0, 1
   * and 2 us, as the node is idle otherwise (other ranks only receive from 0: no pair besides). */
  { .name = "one after the other",
    .lines = "0 isend 1 0 8 6\n0 isend 2 0 8 6\n0 isend 3 0 8 6\n0 waitall\n"
             "1 recv 0 0 8 6\n2 recv 0 0 8 6\n3 recv 0 0 8 6\n",
    .path_us = { 0, 1, 2, 3 },
    .sum_us = { 3, 1, 1, 1 } },

  /* Both ends exchange at once: a rank does one operation at a time, 2 long messages each.  Of short
   * messages it only takes the one that comes. */
  { .name = "both ways, long",
    .lines = "0 irecv 1 0 100000 6\n0 isend 1 0 100000 6\n0 waitall\n"
             "1 irecv 0 0 100000 6\n1 isend 0 0 100000 6\n1 waitall\n",
    .path_us = { 2, 2, 0, 0 },
    .sum_us = { 2, 2, 0, 0 } },
  { .name = "both ways, short",
    .lines = "0 irecv 1 0 8 6\n0 isend 1 0 8 6\n0 waitall\n"
             "1 irecv 0 0 8 6\n1 isend 0 0 8 6\n1 waitall\n",
    .path_us = { 1, 1, 0, 0 },
    .sum_us = { 2, 2, 0, 0 } },

  /* A message above the eager limit begins when both ends wait: rank 1 posts its receive at
   * once, but computes 100 us before it waits; the sender is kept waiting.  A short message has left
   * by then. */
  { .name = "a long message needs both ends",
    .lines = "0 send 1 0 100000 6\n1 irecv 0 0 100000 6\n1 compute 1e5\n1 waitall\n",
    .path_us = { 101, 1, 0, 0 },
    .sum_us = { 1, 1, 0, 0 } },
  { .name = "a short message leaves at once",
    .lines = "0 send 1 0 100 6\n1 irecv 0 0 100 6\n1 compute 1e5\n1 waitall\n",
    .path_us = { 0, 1, 0, 0 },
    .sum_us = { 1, 1, 0, 0 } },

  /* A rank that waits for one long message serves the others too: no deadlock where MPI has none. */
  { .name = "progress in any wait",
    .lines = "0 irecv 1 1 100000 6\n0 isend 1 2 100000 6\n0 wait 0 1 2\n0 wait 1 0 1\n"
             "1 irecv 0 2 100000 6\n1 isend 0 1 100000 6\n1 wait 1 0 1\n1 wait 0 1 2\n",
    .path_us = { 2, 2, 0, 0 },
    .sum_us = { 2, 2, 0, 0 } },
};

static void
test_programs (Fixture *f, gconstpointer unused)
{
  (void) unused;
  for (gsize i = 0; i < G_N_ELEMENTS (programs); i++) {
    g_test_message ("%s", programs[i].name);
    memcpy (f->node, programs[i].node, sizeof f->node);
    f->options.near = programs[i].near;
    assert_bound (f, programs[i].lines, programs[i].path_us, programs[i].sum_us);
  }
}

/* Slots are the cores that the machine says: 0 and 1 on a die, 2 and 3 on another socket are what the
 * slots 0 .. 3 of cores 0, 1, 4, 6 are. */
static void
test_slots (Fixture *f, gconstpointer unused)
{
  const PredictBoundKind die = {
    PREDICT_BOUND_MESSAGE, PREDICT_BOUND_WITHIN, "(((..)(..))((..)(oo)))", 0, 0, 2
  };
  (void) unused;
  g_assert_true (topo_machine_set_cores (f->machine, "0,1,4,6", NULL));
  predict_bound_table_add (f->table, &die, 100, 50);
  for (uint8_t rank = 0; rank < 4; rank++)
    f->slot[rank] = rank;
  assert_bound (f, "0 send 1 0 100 6\n1 recv 0 0 100 6\n", (double[]){ 0, 50, 0, 0 },
                (double[]){ 50, 50, 0, 0 });
  assert_bound (f, "2 send 3 0 100 6\n3 recv 2 0 100 6\n", (double[]){ 0, 0, 0, 1 },
                (double[]){ 0, 0, 1, 1 });
}

/* The largest of those with as much noise or more stands for a class that is not there; where
 * there is none, the error names it. */
static void
test_missing_classes (Fixture *f, gconstpointer unused)
{
  g_auto (StudyCommBound) bound = { 0 };
  const PredictBoundKind noisy = {
    PREDICT_BOUND_MESSAGE, PREDICT_BOUND_WITHIN, "another", 2, 3, 2
  };
  const char *lines = "0 send 1 0 8 6\n1 recv 0 0 8 6\n2 send 3 0 8 6\n3 recv 2 0 8 6\n";

  (void) unused;
  predict_bound_table_free (f->table);
  f->table = table_new (f->levels, 0);
  g_assert_false (bound_text (f, lines, &bound));
  g_assert_error (f->error, STUDY_ERROR, STUDY_ERROR_INPUT);
  g_assert_nonnull (strstr (f->error->message, "by-hand: no entry for a message within a node in "
                                               "placement (((#001.)(#001.))((.o)(.o)))"));
  g_clear_error (&f->error);
  predict_bound_table_add (f->table, &noisy, 4, 77);
  g_assert_true (bound_text (f, lines, &bound));
  g_assert_cmpfloat_with_epsilon (bound.path_s, 77 * 2 * US, 1e-12);
  g_assert_cmpuint (bound.n_substituted, ==, 2);
  g_assert_cmpuint (bound.n_extrapolated, ==, 2);
}

static void
test_missing_collective (Fixture *f, gconstpointer unused)
{
  g_auto (StudyCommBound) bound = { 0 };

  (void) unused;
  g_assert_false (bound_text (f,
                              "0 allreduce 8 0 6\n1 allreduce 8 0 6\n2 allreduce 8 0 6\n"
                              "3 allreduce 8 0 6\n",
                              &bound));
  g_assert_error (f->error, STUDY_ERROR, STUDY_ERROR_INPUT);
  g_assert_nonnull (strstr (f->error->message, "--collectives allreduce:4"));
}

static void
test_wrong_programs (Fixture *f, gconstpointer unused)
{
  g_auto (StudyCommBound) bound = { 0 };

  (void) unused;
  g_assert_false (bound_text (f, "0 recv 1 0 8 6\n1 recv 0 0 8 6\n", &bound));
  g_assert_error (f->error, STUDY_ERROR, STUDY_ERROR_INPUT);
  g_assert_nonnull (strstr (f->error->message, "2 of 4 ranks wait for ever: 0 (step 2), 1"));
  g_clear_error (&f->error);
  g_assert_false (bound_text (f, "0 barrier\n", &bound));
  g_assert_nonnull (strstr (f->error->message, "rank 0 takes part in 1 collectives"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name, function) \
  g_test_add ("/comm-bound/" name, Fixture, NULL, set_up, function, tear_down)
  ADD ("programs", test_programs);
  ADD ("slots", test_slots);
  ADD ("missing-classes", test_missing_classes);
  ADD ("missing-collective", test_missing_collective);
  ADD ("wrong-programs", test_wrong_programs);
  return g_test_run ();
}
