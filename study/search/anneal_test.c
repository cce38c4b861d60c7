/* anneal_test.c - annealing, descent and relief, against optima that are known.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/search/anneal.h"
#include "study/search/search_fixture.h"
#include "study/search/search.h"

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
  g_test_add_func ("/study/placement/repair", test_repair);
  g_test_add_func ("/study/placement/greedy", test_greedy);
  return g_test_run ();
}
