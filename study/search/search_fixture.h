/* search_fixture.h - problems for the tests of searches.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "study/search/matrix.h"
#include "study/search/slot_placement.h"

typedef struct {
  TopoMachine *machine;
  RoutePaths *paths;
  StudyMatrix *matrix;
  StudyDistance *distance;
  StudyGraph *graph;
  StudyProblem problem;
} Fixture;

/* Takes the matrix. */
Fixture fixture_new (const char *spec, uint32_t per_node, StudyMatrix *matrix);
void fixture_clear (Fixture *fixture);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Fixture, fixture_clear)

/* Every rank of a grid sends 100 bytes to each of its neighbours, around the edges;
 * a dimension of two ranks has its one neighbour twice.  Ranks row-major. */
StudyMatrix *fixture_grid (uint32_t rows, uint32_t columns);

/* A mapping that is as bad as chance; the caller g_free()s. */
uint32_t *fixture_shuffled (const Fixture *fixture, uint64_t seed);

/* Fails unless every rank has a slot of its own. */
void fixture_check (const Fixture *fixture, const uint32_t *slot);
