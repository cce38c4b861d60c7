/* graph_files.h - communication matrices in the formats of graph libraries.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Told apart by their content:
 *
 *   topo           the number of ranks, then lines of src dst bytes
 *   MatrixMarket   %%MatrixMarket matrix coordinate|array, rows send to columns
 *   METIS          n m [fmt [ncon]], then the neighbours of each vertex, from 1
 *   Scotch .grf    0, then n m, then base flags, then degree and arcs of each vertex
 *
 * An arc is a message from the vertex where it stands, of as many bytes as its weight
 * (1 without one): the graphs of METIS and Scotch name each edge at both ends, so that
 * as much goes there as back.  Weights and labels of vertices are passed over. */
#pragma once

#include "study/search/matrix.h"

/* Text is read up to its 0.  When it is of none of these formats *known is false and
 * the result NULL without an error.  Errors name path and line. */
StudyMatrix *
study_graph_file_read (const char *text, const char *path, gboolean *known, GError **error);
