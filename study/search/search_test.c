/* search_test.c - searches against published mappings, Scotch and each other.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/search/search.h"

#include ".ci/test_data.h"
#include "study/search/scotch.h"
#include "study/search/search_fixture.h"

#include <stdio.h>
#include <string.h>

/* --- MapLib (University of Basel): matrices of 64 ranks, twelve mappings of each --- */

static const char *const algorithms[] = { "FHGreedy", "bipartition", "gray",       "greedy",
                                          "hilbert",  "greedyALLC",  "pacmap",     "peano",
                                          "scan",     "sweep",       "topo_aware", "bokhari" };

/* Its stored mappings are not those of the runs that its statistics are from. */
#define NOT_IN_STATISTICS "bokhari"

typedef struct {
  const char *program, *what, *topology, *statistics;
} Case;

static const Case cases[] = {
  { "cg", "size", "torus", "cgTorusMapSizeStatistics" },
  { "cg", "size", "mesh", "cgMeshMapSizeStatistics" },
  { "cg", "count", "torus", "cgTorusMapStatistics" },
  { "cg", "count", "mesh", "cgMeshMapStatistics" },
  { "lulesh", "size", "torus", "luleshTorusMapSizeStatistics" },
  { "lulesh", "size", "mesh", "luleshMeshMapSizeStatistics" },
  { "lulesh", "count", "torus", "luleshTorusMapStatistics" },
  { "lulesh", "count", "mesh", "luleshMeshMapStatistics" },
};

static Fixture
fixture_of (const Case *maplib, const char *spec)
{
  g_autofree char *name = g_strdup_printf ("mapping/maplib/%sCMatrices/comm_matrix.p2p.%s.csv",
                                           maplib->program, maplib->what);
  g_autofree char *path = test_data_find (name);
  g_autoptr (GError) error = NULL;
  StudyMatrix *matrix;

  g_assert_nonnull (path);
  matrix = study_matrix_load (path, &error);
  g_assert_no_error (error);
  return fixture_new (spec, 1, matrix);
}

static char *
folder_of (const Case *maplib)
{
  g_autofree char *name = g_strdup_printf ("mapping/maplib/maps/%s/%sMAP%s", maplib->what,
                                           maplib->program, maplib->topology);

  return test_data_find (name);
}

/* The places of a published mapping: lines of x y z and the one rank there. */
static void
load_published (const Case *maplib, const char *algorithm, uint32_t slot[64])
{
  g_autofree char *folder = folder_of (maplib);
  g_autofree char *path = g_strdup_printf ("%s/Mapping.p2p.%s.csv.%s.%s.4x4x4.csv", folder,
                                           maplib->what, algorithm, maplib->topology);
  FILE *file = fopen (path, "r");
  unsigned x, y, z, n, rank, n_read = 0;
  char line[256];

  g_assert_nonnull (file);
  while (fgets (line, sizeof line, file))
    if (sscanf (line, "%u %u %u %u %u", &x, &y, &z, &n, &rank) == 5) {
      g_assert_true (x < 4 && y < 4 && z < 4 && n == 1 && rank < 64);
      slot[rank] = (x * 4 + y) * 4 + z;
      n_read++;
    }
  fclose (file);
  g_assert_cmpuint (n_read, ==, 64);
}

/* "WTAD : n" of an algorithm: the sum of weights times mesh hops over all pairs, counted
 * twice, over n * n - 1, cut to a whole number. */
static gint64
published_wtad (const Case *maplib, const char *algorithm)
{
  g_autofree char *folder = folder_of (maplib);
  g_autofree char *path = g_build_filename (folder, maplib->statistics, NULL);
  g_autofree char *heading = g_strdup_printf ("Mapping: %s Topology:", algorithm);
  g_autofree char *text = NULL;
  const char *section, *value;

  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  section = strstr (text, heading);
  value = section ? strstr (section, "\nWTAD   :") : NULL;
  g_assert_nonnull (value);
  return g_ascii_strtoll (value + strlen ("\nWTAD   :"), NULL, 10);
}

/* Without the data there is nothing to test. */
static gboolean
skip_without_data (const char *name)
{
  g_autofree char *path = test_data (name);

  return path == NULL;
}

static void
test_published_statistics (void)
{
  if (skip_without_data ("mapping/maplib/maps"))
    return;
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_auto (Fixture) fixture = fixture_of (&cases[i], "torus:4mx4mx4m");

    for (gsize k = 0; k < G_N_ELEMENTS (algorithms); k++) {
      uint32_t slot[64];

      if (!strcmp (algorithms[k], NOT_IN_STATISTICS))
        continue;
      load_published (&cases[i], algorithms[k], slot);
      fixture_check (&fixture, slot);
      g_assert_cmpint (2 * study_hop_bytes (&fixture.problem, slot) / (64 * 64 - 1), ==,
                       published_wtad (&cases[i], algorithms[k]));
    }
  }
}

/* --- The search --- */

static int64_t
best_hop_bytes (const Fixture *fixture, const StudyCandidates *candidates)
{
  guint best = study_candidates_best (candidates);

  return study_hop_bytes (&fixture->problem, study_candidate (candidates, best)->slot);
}

/* A search ends when it has what it shall reach. */
typedef struct {
  const Fixture *fixture;
  const StudyCandidates *candidates;
  int64_t hop_bytes; /* -1: nothing */
} Goal;

static gboolean
is_reached (void *data)
{
  const Goal *goal = data;

  return best_hop_bytes (goal->fixture, goal->candidates) <= goal->hop_bytes;
}

static StudyCandidates *
searched (const Fixture *fixture, StudyObjective objective, guint n_rounds, guint n_threads,
          int64_t hop_bytes)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (TopoMapping) plain =
      topo_mapping_new (NULL, fixture->machine, fixture->graph->n_ranks, &error);
  StudyCandidates *candidates =
      study_candidates_new (&fixture->problem, fixture->paths, study_matrix_edges (fixture->matrix),
                            objective, plain->name, study_placement_of (&fixture->problem, plain));
  Goal goal = { fixture, candidates, hop_bytes };
  const StudySearch options = {
    .seed = 1, .n_rounds = n_rounds, .n_threads = n_threads, .stop = is_reached, .data = &goal
  };
  StudySearched result;

  g_assert_true (study_search (candidates, &options, &result, &error));
#ifdef HAVE_SCOTCH
  g_assert_null (result.scotch_error);
#else
  /* A goal may be reached before Scotch is asked. */
  g_assert_true (result.scotch_error != NULL
                     ? strstr (result.scotch_error, "built without Scotch") != NULL
                     : hop_bytes >= 0);
  g_free (result.scotch_error);
#endif
  if (hop_bytes < 0)
    g_assert_cmpuint (result.n_rounds, ==, n_rounds);
  for (guint i = 0; i < candidates->list->len; i++)
    fixture_check (fixture, study_candidate (candidates, i)->slot);
  return candidates;
}

/* The best of three seeds; a build without Scotch has none. */
static int64_t
scotch_hop_bytes (const Fixture *fixture)
{
  int64_t best = G_MAXINT64;

  for (uint64_t seed = 0; seed < 3; seed++) {
    g_autofree uint32_t *slot = study_scotch_map (&fixture->problem, fixture->machine, seed, NULL);

    if (slot != NULL)
      best = MIN (best, study_hop_bytes (&fixture->problem, slot));
  }
  return best;
}

static int64_t
best_published (const Case *maplib, const Fixture *fixture)
{
  int64_t best = G_MAXINT64;

  for (gsize k = 0; k < G_N_ELEMENTS (algorithms); k++) {
    uint32_t slot[64];

    load_published (maplib, algorithms[k], slot);
    best = MIN (best, study_hop_bytes (&fixture->problem, slot));
  }
  return best;
}

static void
test_no_worse_than_the_published (void)
{
  if (skip_without_data ("mapping/maplib/maps"))
    return;
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
    gboolean mesh = !strcmp (cases[i].topology, "mesh");
    g_auto (Fixture) fixture = fixture_of (&cases[i], mesh ? "torus:4mx4mx4m" : "torus:4x4x4");
    int64_t published = best_published (&cases[i], &fixture), scotch = scotch_hop_bytes (&fixture);
    g_autoptr (StudyCandidates) candidates =
        searched (&fixture, STUDY_OBJECTIVE_HOP_BYTES, 200, 2, MIN (published, scotch));
    int64_t ours = best_hop_bytes (&fixture, candidates);

    g_test_message ("%s %s %s: default %.0f, published %" G_GINT64_FORMAT
                    ", Scotch %" G_GINT64_FORMAT ", ours %" G_GINT64_FORMAT,
                    cases[i].program, cases[i].what, cases[i].topology,
                    study_candidate (candidates, 0)->hop_bytes, published, scotch, ours);
    g_assert_cmpint (ours, <=, published);
    g_assert_cmpint (ours, <=, scotch);
  }
}

/* NPB SP, class D, 1,024 processes (SPEAR-UIC/topomap). */
static void
test_sp_d_1024 (void)
{
  static const struct {
    const char *spec;
    uint32_t per_node;
  } machines[] = { { "bgq:1024", 1 }, { "bgq:64", 16 }, { "torus:8x8x16", 1 } };

  if (skip_without_data ("graphs/sp.D.1024.topo"))
    return;
  for (gsize i = 0; i < G_N_ELEMENTS (machines); i++) {
    g_autofree char *path = test_data_find ("graphs/sp.D.1024.topo");
    g_auto (Fixture) fixture =
        fixture_new (machines[i].spec, machines[i].per_node, study_matrix_load (path, NULL));
    int64_t scotch = scotch_hop_bytes (&fixture);
    g_autoptr (StudyCandidates) candidates =
        searched (&fixture, STUDY_OBJECTIVE_HOP_BYTES, 200, 2, scotch / 100 * 95);
    int64_t ours = best_hop_bytes (&fixture, candidates);

    g_assert_cmpuint (fixture.graph->n_edges, ==, 6144);
    g_test_message ("sp.D.1024 on %s, %u per node: default %.0f, Scotch %" G_GINT64_FORMAT
                    ", ours %" G_GINT64_FORMAT,
                    machines[i].spec, machines[i].per_node,
                    study_candidate (candidates, 0)->hop_bytes, scotch, ours);
    g_assert_cmpint (ours, <=, scotch);
    g_assert_cmpfloat ((double) ours, <, study_candidate (candidates, 0)->hop_bytes);
  }
}

/* Threads do not change what is found, nor in which order. */
static void
test_threads_change_nothing (void)
{
  g_auto (Fixture) fixture = fixture_new ("bgq:32", 4, fixture_grid (16, 8));
  g_autoptr (StudyCandidates) one = searched (&fixture, STUDY_OBJECTIVE_BOTH, 10, 1, -1);
  g_autoptr (StudyCandidates) three = searched (&fixture, STUDY_OBJECTIVE_BOTH, 10, 3, -1);

  g_assert_cmpuint (one->list->len, ==, three->list->len);
  for (guint i = 0; i < one->list->len; i++) {
    const StudyCandidate *left = study_candidate (one, i), *right = study_candidate (three, i);

    g_assert_cmpstr (left->name, ==, right->name);
    g_assert_cmpmem (left->slot, 128 * sizeof (uint32_t), right->slot, 128 * sizeof (uint32_t));
  }
}

/* The default stays first, the others are in order; where the default is perfect it is
 * the best. */
static void
test_list (void)
{
  g_auto (Fixture) fixture = fixture_new ("torus:8x8", 1, fixture_grid (8, 8));
  g_auto (Fixture) worse = fixture_new ("torus:4x16", 1, fixture_grid (8, 8));
  g_autoptr (StudyCandidates) perfect = searched (&fixture, STUDY_OBJECTIVE_BOTH, 4, 1, -1);
  g_autoptr (StudyCandidates) candidates = searched (&worse, STUDY_OBJECTIVE_MAX_BYTES, 12, 1, -1);

  g_assert_cmpuint (study_candidates_best (perfect), ==, 0);
  g_assert_cmpstr (study_candidate (candidates, 0)->name, ==, "ABT");
  g_assert_cmpfloat (study_candidate (candidates, 0)->score, ==, 1);
  for (guint i = 2; i < candidates->list->len; i++)
    g_assert_cmpfloat (study_candidate (candidates, i - 1)->score, <=,
                       study_candidate (candidates, i)->score);
  g_assert_cmpfloat (study_candidate (candidates, 1)->max_bytes, <,
                     study_candidate (candidates, 0)->max_bytes);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/study/search/published-statistics", test_published_statistics);
  g_test_add_func ("/study/search/published-mappings", test_no_worse_than_the_published);
  g_test_add_func ("/study/search/sp-d-1024", test_sp_d_1024);
  g_test_add_func ("/study/search/threads", test_threads_change_nothing);
  g_test_add_func ("/study/search/list", test_list);
  return g_test_run ();
}
