/* matrix.h - who sends how much to whom, as a file.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Two forms are read: lines of src,dst,bytes or src,dst,messages,bytes (with
 * or without a heading that names the columns), and a dense square of bytes,
 * row = source.  Fields are separated by commas, semicolons or blanks; '#'
 * starts a comment.  Three lines of three numbers are a square.  Also the
 * formats of graph libraries: study/search/graph_files.h. */
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
