/* matrix.h - communication matrices and graphs, in files and in memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Two forms are read: lines of src,dst,bytes or src,dst,messages,bytes (with
 * or without a heading that names the columns), and a dense square of bytes,
 * row = source.  Fields are separated by commas, semicolons or blanks; '#'
 * starts a comment.  Three lines of three numbers are a square.  Also the
 * formats of graph libraries. */
#pragma once

#include "sim/edges.h"

#include <glib.h>
#include <stdio.h>

typedef struct StudyMatrix StudyMatrix;

StudyMatrix *study_matrix_new (uint32_t n_ranks);
void study_matrix_free (StudyMatrix *matrix);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (StudyMatrix, study_matrix_free)

/* Messages of a rank to itself are kept too. */
void study_matrix_add (StudyMatrix *matrix, uint32_t source, uint32_t destination,
                       uint64_t messages, uint64_t bytes);

/* CSV src,dst,messages,bytes sorted by src, then dst. */
void study_matrix_write (const StudyMatrix *matrix, FILE *out);

/* Does the text in the file look like a matrix, rather than a trace? */
gboolean study_matrix_probe (const char *path);

/* Errors name file and line. */
StudyMatrix *study_matrix_load (const char *path, GError **error);

uint32_t study_matrix_ranks (const StudyMatrix *matrix);

/* Those between different ranks; borrowed. */
const SimEdges *study_matrix_edges (const StudyMatrix *matrix);

/* --- The communication graph as a search reads it: neighbours in a row --- */

/* A pair of ranks that exchange messages is an edge of both, with the bytes that
 * go either way.  Compressed rows: the neighbours of rank r are
 * neighbour[first[r]] .. neighbour[first[r + 1] - 1], ascending. */

typedef struct {
  uint32_t n_ranks;
  uint64_t n_edges;    /* directed ones, as there are messages */
  uint64_t *first;     /* [n_ranks + 1] */
  uint32_t *neighbour; /* [first[n_ranks]] */
  uint64_t *sent;      /* bytes to the neighbour */
  uint64_t *received;  /* bytes from it */
  int64_t *weight;     /* bytes both ways, as (bytes + 2^shift - 1) >> shift */
  uint32_t shift;      /* 0, unless sums of weights times hops would not fit */
} StudyGraph;

/* Hops are never more, so that no sum overflows. */
#define STUDY_MAX_HOPS 4096

/* Of edges between ranks below n_ranks. */
StudyGraph *study_graph_new (const SimEdges *edges, uint32_t n_ranks);
void study_graph_free (StudyGraph *graph);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (StudyGraph, study_graph_free)
