/* search_fixture.c - problems for the tests of searches.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/search/search_fixture.h"

#include "base/random.h"

Fixture
fixture_new (const char *spec, uint32_t per_node, StudyMatrix *matrix)
{
  g_autoptr (GError) error = NULL;
  Fixture fixture = { .machine = topo_machine_new (spec, &error), .matrix = matrix };

  g_assert_no_error (error);
  g_assert_true (topo_machine_set_ranks_per_node (fixture.machine, per_node, NULL));
  fixture.paths = route_paths_new (fixture.machine, &error);
  g_assert_no_error (error);
  fixture.distance = study_distance_new (fixture.paths, &error);
  g_assert_no_error (error);
  fixture.graph = study_graph_new (study_matrix_edges (matrix), study_matrix_ranks (matrix));
  fixture.problem = (StudyProblem){ fixture.graph, fixture.distance, per_node };
  g_assert_cmpuint (fixture.graph->n_ranks, <=, study_problem_slots (&fixture.problem));
  return fixture;
}

void
fixture_clear (Fixture *fixture)
{
  study_graph_free (fixture->graph);
  study_distance_free (fixture->distance);
  route_paths_free (fixture->paths);
  study_matrix_free (fixture->matrix);
  topo_machine_free (fixture->machine);
}

StudyMatrix *
fixture_grid (uint32_t rows, uint32_t columns)
{
  StudyMatrix *matrix = study_matrix_new (rows * columns);

  for (uint32_t row = 0; row < rows; row++)
    for (uint32_t column = 0; column < columns; column++) {
      uint32_t rank = row * columns + column;
      uint32_t right = row * columns + (column + 1) % columns;
      uint32_t below = (row + 1) % rows * columns + column;

      study_matrix_add (matrix, rank, right, 1, 100);
      study_matrix_add (matrix, right, rank, 1, 100);
      study_matrix_add (matrix, rank, below, 1, 100);
      study_matrix_add (matrix, below, rank, 1, 100);
    }
  return matrix;
}

uint32_t *
fixture_shuffled (const Fixture *fixture, uint64_t seed)
{
  BaseRandom random = { seed };
  uint32_t n_slots = study_problem_slots (&fixture->problem);
  uint32_t *slot = g_new (uint32_t, n_slots);

  for (uint32_t i = 0; i < n_slots; i++)
    slot[i] = i;
  for (uint32_t i = n_slots; i > 1; i--) {
    uint32_t other = base_random_below_32 (&random, i), kept = slot[i - 1];

    slot[i - 1] = slot[other];
    slot[other] = kept;
  }
  return slot;
}

void
fixture_check (const Fixture *fixture, const uint32_t *slot)
{
  uint32_t n_slots = study_problem_slots (&fixture->problem);
  g_autofree bool *taken = g_new0 (bool, n_slots);

  for (uint32_t rank = 0; rank < fixture->graph->n_ranks; rank++) {
    g_assert_cmpuint (slot[rank], <, n_slots);
    g_assert_false (taken[slot[rank]]);
    taken[slot[rank]] = true;
  }
}
