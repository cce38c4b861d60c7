/* anneal_test.c - annealing, descent and relief, against optima that are known and plain searches.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/search/anneal.h"
#include "study/search/search_fixture.h"
#include "study/search/search.h"
#include "base/random.h"

#include <math.h>
#include <string.h>

static const StudyAnneal descent = { .n_steps = 0 };

static uint32_t *
annealed (const Fixture *fixture, uint64_t seed, uint64_t n_steps)
{
  uint32_t *slot = fixture_shuffled (fixture, seed);
  const StudyAnneal options = { .seed = seed, .n_steps = n_steps, .heat = 0.3 };

  study_anneal (&fixture->problem, slot, &options);
  fixture_check (fixture, slot);
  return slot;
}

/* A ring on a ring: every message one hop, 2 * 24 messages of 100 bytes; the dimension of
 * one rank adds only messages to oneself. */
static void
test_ring (void)
{
  g_auto (Fixture) fixture = fixture_new ("torus:24", 1, fixture_grid (1, 24));
  int64_t best = G_MAXINT64;

  for (uint64_t seed = 1; seed <= 8; seed++) {
    g_autofree uint32_t *slot = annealed (&fixture, seed, 100000);

    best = MIN (best, study_hop_bytes (&fixture.problem, slot));
  }
  g_assert_cmpint (best, ==, 2 * 24 * 100);
}

/* A grid on a torus of the same size, and with 4 ranks to a node: pieces of 2 x 2 ranks
 * keep half of their messages within the node. */
static void
test_grid (void)
{
  g_auto (Fixture) one = fixture_new ("torus:4x8", 1, fixture_grid (8, 4));
  g_auto (Fixture) four = fixture_new ("torus:3x4", 4, fixture_grid (8, 6));
  int64_t best_one = G_MAXINT64, best_four = G_MAXINT64;

  for (uint64_t seed = 1; seed <= 10; seed++) {
    g_autofree uint32_t *slot_one = annealed (&one, seed, 300000);
    g_autofree uint32_t *slot_four = annealed (&four, seed, 300000);

    best_one = MIN (best_one, study_hop_bytes (&one.problem, slot_one));
    best_four = MIN (best_four, study_hop_bytes (&four.problem, slot_four));
  }
  g_assert_cmpint (best_one, ==, 32 * 4 * 100);
  g_assert_cmpint (best_four, ==, 48 * 2 * 100);
}

/* Few ranks on many slots gather. */
static void
test_free_slots_are_used (void)
{
  g_auto (Fixture) fixture = fixture_new ("torus:6x6", 4, fixture_grid (2, 2));
  g_autofree uint32_t *slot = annealed (&fixture, 3, 50000);

  g_assert_cmpint (study_hop_bytes (&fixture.problem, slot), ==, 0);
}

static void
test_never_worse_and_repeatable (void)
{
  g_auto (Fixture) fixture = fixture_new ("bgq:32", 2, fixture_grid (8, 8));

  for (uint64_t seed = 1; seed <= 20; seed++)
    for (uint64_t n_steps = 0; n_steps <= 5000; n_steps += 2500) {
      const StudyAnneal options = { .seed = seed, .n_steps = n_steps, .heat = 3 };
      g_autofree uint32_t *slot = fixture_shuffled (&fixture, seed);
      g_autofree uint32_t *again = fixture_shuffled (&fixture, seed);
      int64_t before = study_hop_bytes (&fixture.problem, slot);

      study_anneal (&fixture.problem, slot, &descent);
      g_assert_cmpint (study_hop_bytes (&fixture.problem, slot), <, before);
      memcpy (again, slot, 64 * sizeof *slot);
      before = study_hop_bytes (&fixture.problem, slot);
      study_anneal (&fixture.problem, slot, &options);
      study_anneal (&fixture.problem, again, &options);
      fixture_check (&fixture, slot);
      g_assert_cmpint (study_hop_bytes (&fixture.problem, slot), <=, before);
      g_assert_cmpint (memcmp (slot, again, 64 * sizeof *slot), ==, 0);
    }
}

/* After the descent no exchange is good: each is tried here. */
static void
test_descent_ends_in_an_optimum (void)
{
  g_auto (Fixture) fixture = fixture_new ("torus:4x4x2", 1, fixture_grid (4, 7));
  g_autofree uint32_t *slot = fixture_shuffled (&fixture, 5);
  int64_t reached;

  study_anneal (&fixture.problem, slot, &descent);
  reached = study_hop_bytes (&fixture.problem, slot);
  for (uint32_t rank = 0; rank < 28; rank++)
    for (uint32_t to = 0; to < 32; to++) {
      uint32_t other = 28, old = slot[rank];

      for (uint32_t i = 0; i < 28; i++)
        if (slot[i] == to)
          other = i;
      slot[rank] = to;
      if (other < 28 && other != rank)
        slot[other] = old;
      g_assert_cmpint (study_hop_bytes (&fixture.problem, slot), >=, reached);
      if (other < 28)
        slot[other] = to;
      slot[rank] = old;
    }
}

static gboolean
always (void *data G_GNUC_UNUSED)
{
  return TRUE;
}

static void
test_stop (void)
{
  g_auto (Fixture) fixture = fixture_new ("torus:8x8", 1, fixture_grid (8, 8));
  g_autofree uint32_t *slot = fixture_shuffled (&fixture, 1);
  g_autofree uint32_t *before = g_memdup2 (slot, 64 * sizeof *slot);
  const StudyAnneal options = { .n_steps = 1ull << 60, .heat = 1, .stop = always };

  study_anneal (&fixture.problem, slot, &options);
  study_relieve (&fixture.problem, fixture.paths, slot, &options);
  g_assert_cmpint (memcmp (slot, before, 64 * sizeof *slot), ==, 0);
}

static double
max_bytes (const Fixture *fixture, const uint32_t *slot)
{
  g_autoptr (TopoMapping) mapping = study_placement_mapping (&fixture->problem, slot, "test");
  double features[SIM_N_FEATURES];

  study_static_features (features, fixture->paths, mapping, study_matrix_edges (fixture->matrix));
  return features[SIM_FEATURE_MAX_BYTES];
}

/* A grid on a torus of the same size can do with 100 bytes on each link; the least that
 * is ever possible is the sum of bytes over the number of links. */
static void
test_relief (void)
{
  static const char *const specs[] = { "torus:8x8", "fattree:8x8" };

  for (gsize i = 0; i < G_N_ELEMENTS (specs); i++) {
    g_auto (Fixture) fixture = fixture_new (specs[i], 1, fixture_grid (8, 8));
    g_autofree uint32_t *slot = fixture_shuffled (&fixture, 2);
    g_autofree uint32_t *again = fixture_shuffled (&fixture, 2);
    double before = max_bytes (&fixture, slot);
    const StudyAnneal options = { .seed = 1, .n_steps = 20000 };

    study_relieve (&fixture.problem, fixture.paths, slot, &options);
    study_relieve (&fixture.problem, fixture.paths, again, &options);
    fixture_check (&fixture, slot);
    g_assert_cmpint (memcmp (slot, again, 64 * sizeof *slot), ==, 0);
    g_assert_cmpfloat (max_bytes (&fixture, slot), <=, before / 1.5);
  }
}

/* --- The same as searches that visit all partners and follow all routes --- */

typedef struct {
  const Fixture *fixture;
  uint32_t *slot;
  BaseRandom random;
} Plain;

static uint32_t
plain_node (const Plain *plain, uint32_t rank)
{
  return plain->slot[rank] / plain->fixture->problem.per_node;
}

/* The rank in the slot; TOPO_NONE: none. */
static uint32_t
plain_rank_at (const Plain *plain, uint32_t slot)
{
  for (uint32_t rank = 0; rank < plain->fixture->graph->n_ranks; rank++)
    if (plain->slot[rank] == slot)
      return rank;
  return TOPO_NONE;
}

static void
plain_exchange (Plain *plain, uint32_t rank, uint32_t slot)
{
  uint32_t other = plain_rank_at (plain, slot);

  if (other != TOPO_NONE)
    plain->slot[other] = plain->slot[rank];
  plain->slot[rank] = slot;
}

/* The change of the hop-bytes, by making the exchange and taking it back. */
static int64_t
plain_delta (Plain *plain, uint32_t rank, uint32_t slot)
{
  const StudyProblem *problem = &plain->fixture->problem;
  int64_t before = study_hop_bytes (problem, plain->slot), after;
  uint32_t old = plain->slot[rank];

  plain_exchange (plain, rank, slot);
  after = study_hop_bytes (problem, plain->slot);
  plain_exchange (plain, rank, old);
  return after - before;
}

/* The random choice that search.md describes; FALSE: on the rank's own node. */
static gboolean
plain_propose (Plain *plain, uint32_t *rank, uint32_t *slot)
{
  const StudyProblem *problem = &plain->fixture->problem;
  const StudyGraph *graph = problem->graph;
  const StudyDistance *distance = problem->distance;
  BaseRandom *random = &plain->random;
  uint32_t several = problem->per_node > 1, degree;

  *rank = base_random_below_32 (random, graph->n_ranks);
  degree = (uint32_t) (graph->first[*rank + 1] - graph->first[*rank]);
  if (degree == 0 || (base_random_next (random) & 1))
    *slot = base_random_below_32 (random, study_problem_slots (problem));
  else {
    uint64_t arc = graph->first[*rank] + base_random_below_32 (random, degree);
    uint32_t at = plain_node (plain, graph->neighbour[arc]);
    uint32_t n_near = distance->near_first[at + 1] - distance->near_first[at];
    uint32_t choice = base_random_below_32 (random, n_near + several);
    uint32_t node = choice == n_near ? at : distance->near[distance->near_first[at] + choice];

    *slot =
        node * problem->per_node + (several ? base_random_below_32 (random, problem->per_node) : 0);
  }
  return *slot / problem->per_node != plain_node (plain, *rank);
}

static void
plain_anneal (const Fixture *fixture, uint32_t *slot, const StudyAnneal *options)
{
  Plain plain = { fixture, slot, { options->seed } };
  uint32_t n_ranks = fixture->graph->n_ranks, n_slots = study_problem_slots (&fixture->problem);
  g_autofree uint32_t *start = g_memdup2 (slot, n_ranks * sizeof *slot);
  uint32_t rank, to, n_rises = 0;
  double rises = 0, hot;
  int64_t change = 0, delta;

  for (int step = 0; step < 4096; step++)
    if (plain_propose (&plain, &rank, &to) && (delta = plain_delta (&plain, rank, to)) > 0) {
      rises += (double) delta;
      n_rises++;
    }
  hot = n_rises > 0 ? options->heat * (rises / n_rises) : 0;
  for (uint64_t step = 0; hot > 0 && step < options->n_steps; step++) {
    double done = (double) (step / 4096 * 4096) / (double) options->n_steps;
    double temperature = hot * pow (1e-2, done);

    if (!plain_propose (&plain, &rank, &to))
      continue;
    delta = plain_delta (&plain, rank, to);
    if (delta <= 0 || ((double) delta < 40 * temperature &&
                       base_random_unit (&plain.random) < exp (-(double) delta / temperature))) {
      plain_exchange (&plain, rank, to);
      change += delta;
    }
  }
  if (change > 0)
    memcpy (slot, start, n_ranks * sizeof *slot);
  /* The first of the best slots of each rank in turn, until none is good. */
  for (uint32_t n_tried = 0, r = 0; n_tried < n_ranks; n_tried++, r = (r + 1) % n_ranks) {
    int64_t best = 0;

    for (uint32_t i = 0; i < n_slots; i++)
      if (i / fixture->problem.per_node != plain_node (&plain, r) &&
          (delta = plain_delta (&plain, r, i)) < best) {
        best = delta;
        to = i;
      }
    if (best < 0) {
      plain_exchange (&plain, r, to);
      n_tried = G_MAXUINT32;
    }
  }
}

/* Adds the messages of a rank, but those with `other`, to the loads of their links, or takes them away;
 * returns the growth of the sum of the loads' fourth powers. */
static double
plain_load (Plain *plain, double *load, double unit, uint32_t rank, uint32_t other, double sign)
{
  const StudyGraph *graph = plain->fixture->graph;
  const RoutePaths *paths = plain->fixture->paths;
  g_autofree uint32_t *links = g_new (uint32_t, paths->longest_links);
  double growth = 0;

  for (uint64_t i = graph->first[rank]; i < graph->first[rank + 1]; i++)
    for (int received = 0; received < 2; received++) {
      uint32_t partner = graph->neighbour[i], from = received ? partner : rank;
      uint32_t to = received ? rank : partner, n;
      double way = 0, bytes = (double) (received ? graph->received[i] : graph->sent[i]);

      if (partner == other || bytes == 0)
        continue;
      n = route_paths_links (paths, plain_node (plain, from), plain_node (plain, to), from + to,
                             links);
      for (uint32_t k = 0; k < n; k++) {
        double units = load[links[k]] / unit;

        way -= units * units * units * units;
        units = (load[links[k]] += sign * bytes) / unit;
        way += units * units * units * units;
      }
      growth += way;
    }
  return growth;
}

static void
plain_relieve (const Fixture *fixture, uint32_t *slot, const StudyAnneal *options)
{
  Plain plain = { fixture, slot, { options->seed } };
  const StudyGraph *graph = fixture->graph;
  const TopoMachine *machine = fixture->machine;
  uint32_t n_links = machine->fabric ? machine->fabric->n_ports
                                     : topo_shape_nodes (&machine->shape) * TOPO_MAX_PORTS;
  g_autofree double *load = g_new0 (double, n_links);
  uint64_t n_arcs = graph->first[graph->n_ranks];
  double unit = 0;

  for (uint64_t i = 0; i < n_arcs; i++)
    unit += (double) graph->sent[i];
  unit /= (double) n_arcs;
  /* Each message is counted at both of its ends. */
  for (uint32_t rank = 0; rank < graph->n_ranks; rank++)
    plain_load (&plain, load, unit, rank, TOPO_NONE, 1);
  for (uint32_t link = 0; link < n_links; link++)
    load[link] /= 2;
  for (uint64_t step = 0; step < options->n_steps; step++) {
    uint32_t rank, to, old, other;

    if (!plain_propose (&plain, &rank, &to))
      continue;
    other = plain_rank_at (&plain, to);
    old = slot[rank];
    for (int turn = 0; turn < 2; turn++) {
      double growth = 0;

      for (int sign = -1; sign <= 1; sign += 2) {
        double both = plain_load (&plain, load, unit, rank, TOPO_NONE, sign);

        if (other != TOPO_NONE)
          both += plain_load (&plain, load, unit, other, rank, sign);
        growth += both;
        if (sign < 0)
          plain_exchange (&plain, rank, turn == 0 ? to : old);
      }
      if (growth < 0)
        break;
    }
  }
}

/* Messages of few sizes between random ranks, one of which has none; some have no bytes. */
static StudyMatrix *
random_matrix (uint32_t n_ranks, uint64_t seed)
{
  StudyMatrix *matrix = study_matrix_new (n_ranks);
  BaseRandom random = base_random_stream (seed, n_ranks);

  for (uint32_t i = 0; i < 3 * n_ranks; i++) {
    uint32_t from = (uint32_t) base_random_below (&random, n_ranks - 1);
    uint32_t to = (uint32_t) base_random_below (&random, n_ranks - 1);

    if (from != to)
      study_matrix_add (matrix, from, to, 1, 1000 * base_random_below (&random, 4));
  }
  return matrix;
}

/* Every way to compute hops and ways: axes of tori, meshes, leaves, several slots on the nodes of
 * fabrics, free slots, long rows. */
static void
test_as_plain_searches (void)
{
  static const struct {
    const char *spec;
    uint32_t per_node, n_ranks;
  } cases[] = {
    { "torus:4x3x3", 1, 36 },       { "torus:5x6m", 2, 50 },  { "bgq:32", 2, 40 },
    { "torus:2x2x2x2x2x2", 1, 60 }, { "torus:110", 1, 40 },   { "torus:2x55", 1, 30 },
    { "fattree:4x6", 1, 24 },       { "fattree:4x6", 4, 50 }, { "fattree3:4", 2, 32 },
    { "systemg:40", 8, 60 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    for (uint64_t seed = 0; seed < 3; seed++) {
      StudyMatrix *matrix = seed == 0 ? fixture_grid (cases[i].n_ranks / 2, 2)
                                      : random_matrix (cases[i].n_ranks, seed);
      g_auto (Fixture) fixture = fixture_new (cases[i].spec, cases[i].per_node, matrix);
      size_t size = fixture.graph->n_ranks * sizeof (uint32_t);
      StudyAnneal options = { .seed = seed, .n_steps = 9000, .heat = 0.3 };
      g_autofree uint32_t *slot = fixture_shuffled (&fixture, seed);
      g_autofree uint32_t *expected = g_memdup2 (slot, size);

      study_anneal (&fixture.problem, slot, &options);
      plain_anneal (&fixture, expected, &options);
      g_assert_cmpint (memcmp (slot, expected, size), ==, 0);
      options.n_steps = 1500;
      study_relieve (&fixture.problem, fixture.paths, slot, &options);
      plain_relieve (&fixture, expected, &options);
      g_assert_cmpint (memcmp (slot, expected, size), ==, 0);
      g_free (slot);
      slot = fixture_shuffled (&fixture, seed + 1);
      memcpy (expected, slot, size);
      study_relieve (&fixture.problem, fixture.paths, slot, &options);
      plain_relieve (&fixture, expected, &options);
      g_assert_cmpint (memcmp (slot, expected, size), ==, 0);
    }
}

/* From bad starts, with many exchanges that are equally good. */
static void
test_as_plain_descents (void)
{
  static const struct {
    const char *spec;
    uint32_t per_node, rows, columns;
    uint64_t first_seed, n_seeds;
  } cases[] = {
    { "torus:6x6", 2, 4, 5, 0, 40 },
    { "fattree:4x6", 1, 4, 5, 0, 40 },
    /* Two exchanges that have become good are equally so, and the one that did last goes first. */
    { "torus:6x6", 1, 6, 6, 214, 1 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    for (uint64_t k = 0; k < cases[i].n_seeds; k++) {
      uint64_t seed = cases[i].first_seed + k;
      uint32_t rows = cases[i].rows, columns = cases[i].columns;
      g_auto (Fixture) fixture = fixture_new (cases[i].spec, cases[i].per_node,
                                              seed % 4 == 1 ? random_matrix (rows * columns, seed)
                                                            : fixture_grid (rows, columns));
      size_t size = fixture.graph->n_ranks * sizeof (uint32_t);
      g_autofree uint32_t *slot = fixture_shuffled (&fixture, seed);
      g_autofree uint32_t *expected = g_memdup2 (slot, size);

      study_anneal (&fixture.problem, slot, &descent);
      plain_anneal (&fixture, expected, &descent);
      g_assert_cmpint (memcmp (slot, expected, size), ==, 0);
    }
}

/* What is put on a node beyond its slots moves, what is not stays. */
static void
test_repair (void)
{
  g_auto (Fixture) fixture = fixture_new ("torus:16", 2, fixture_grid (1, 20));
  uint32_t node[20];
  g_autofree uint32_t *slot = NULL;

  for (uint32_t rank = 0; rank < 20; rank++)
    node[rank] = rank < 5 ? 7 : rank - 5;
  slot = study_placement_repair (&fixture.problem, node);
  fixture_check (&fixture, slot);
  g_assert_cmpuint (slot[0] / 2, ==, 7);
  g_assert_cmpuint (slot[1] / 2, ==, 7);
  g_assert_cmpuint (slot[5] / 2, ==, 0);
  g_assert_cmpuint (slot[11] / 2, ==, 6);
}

static void
test_greedy (void)
{
  g_auto (Fixture) fixture = fixture_new ("torus:8x8", 1, fixture_grid (8, 8));
  g_autofree uint32_t *slot = study_placement_greedy (&fixture.problem);
  g_autofree uint32_t *shuffled = fixture_shuffled (&fixture, 1);

  fixture_check (&fixture, slot);
  g_assert_cmpint (study_hop_bytes (&fixture.problem, slot), <,
                   study_hop_bytes (&fixture.problem, shuffled) / 2);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/study/anneal/ring", test_ring);
  g_test_add_func ("/study/anneal/grid", test_grid);
  g_test_add_func ("/study/anneal/free-slots", test_free_slots_are_used);
  g_test_add_func ("/study/anneal/never-worse", test_never_worse_and_repeatable);
  g_test_add_func ("/study/anneal/descent", test_descent_ends_in_an_optimum);
  g_test_add_func ("/study/anneal/stop", test_stop);
  g_test_add_func ("/study/relieve/busiest-link", test_relief);
  g_test_add_func ("/study/anneal/as-plain-searches", test_as_plain_searches);
  g_test_add_func ("/study/anneal/as-plain-searches/descents", test_as_plain_descents);
  g_test_add_func ("/study/placement/repair", test_repair);
  g_test_add_func ("/study/placement/greedy", test_greedy);
  return g_test_run ();
}
