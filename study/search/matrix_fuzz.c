/* matrix_fuzz.c - any bytes as a matrix or a graph of who sends how much to whom.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The formats are told apart by their content, so one target reaches all of their readers.
 * What is read is written, and that must read back as the same edges. */
#include ".ci/fuzzing.h"
#include "study/search/matrix.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char *const texts[] = {
  "src,dst,messages,bytes\n0,1,5,4096\n1,0,2,64\n2,0,1,0\n",
  "0 1 100\n1 2 200\n# a remark\n",
  "0,5,9\n5,0,9\n9,9,0\n",
  "0;1;2;3\n1;0;1;1\n2;2;0;2\n3;3;3;0\n",
  "4\n0 1 100\n3 2 7\n",
  "%%MatrixMarket matrix coordinate real symmetric\n% x\n3 3 2\n2 1 1.5\n3 3 7\n",
  "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n2 1\n3 1\n",
  "%%MatrixMarket matrix array integer general\n2 2\n0\n1\n2\n3\n",
  "% metis\n3 2 011 1\n1 2 5\n1 1 5 3 6\n1 2 6\n",
  "0\n3 4\n0 010\n1 5 1\n2 5 0 6 2\n1 6 1\n",
  NULL,
};

static const char *const words[] = {
  "%%MatrixMarket matrix ",
  "coordinate",
  "array",
  "pattern",
  "symmetric",
  "skew-symmetric",
  "hermitian",
  "general",
  "real",
  "integer",
  "src,dst,messages,bytes\\x0a",
  "src,dst,bytes\\x0a",
  "4294967295",
  "4294967296",
  "18446744073709551615",
  "1e19",
  "-1",
  NULL,
};

static void
seed (FuzzSeeds *seeds)
{
  fuzz_add_texts (seeds, texts);
  fuzz_add_words (seeds, words);
}

static void
check_edges (const SimEdge *edges, uint64_t n_edges, uint32_t n_ranks)
{
  for (uint64_t at = 0; at < n_edges; at++) {
    g_assert_true (edges[at].source < n_ranks && edges[at].destination < n_ranks);
    g_assert_true (edges[at].source != edges[at].destination);
    g_assert_true (at == 0 || edges[at].source > edges[at - 1].source ||
                   (edges[at].source == edges[at - 1].source &&
                    edges[at].destination > edges[at - 1].destination));
  }
}

static void
check_same (const StudyMatrix *matrix, const SimEdge *edges, uint64_t n_edges)
{
  char *text = NULL;
  gsize length;
  FILE *out = open_memstream (&text, &length);
  g_autoptr (GError) error = NULL;
  g_autoptr (StudyMatrix) again = NULL;
  g_autofree SimEdge *edges_again = NULL;
  uint64_t n_again;

  study_matrix_write (matrix, out);
  fclose (out);
  again = study_matrix_load (fuzz_file ((const uint8_t *) text, length), &error);
  g_assert_no_error (error);
  edges_again = sim_edges_sorted (study_matrix_edges (again), &n_again);
  g_assert_cmpmem (edges, n_edges * sizeof *edges, edges_again, n_again * sizeof *edges);
  free (text);
}

/* A matrix may have 16 million ranks, whose tables take seconds under the sanitizers: numbers of
 * 6 to 8 digits are left out; longer ones are no ranks. */
static bool
has_many_ranks (const uint8_t *data, size_t size)
{
  size_t digits = 0;

  for (size_t at = 0; at <= size; at++)
    if (at < size && g_ascii_isdigit (data[at]))
      digits += digits > 0 || data[at] != '0';
    else if (digits >= 6 && digits <= 8)
      return true;
    else
      digits = 0;
  return false;
}

static void
check (const uint8_t *data, size_t size)
{
  const char *path = fuzz_file (data, size);
  g_autoptr (GError) error = NULL;
  g_autoptr (StudyMatrix) matrix = NULL;
  g_autofree SimEdge *edges = NULL;
  uint64_t n_edges;

  if (has_many_ranks (data, size))
    return;
  study_matrix_probe (path);
  matrix = study_matrix_load (path, &error);
  g_assert_true ((matrix == NULL) == (error != NULL));
  if (matrix == NULL) {
    g_assert_null (strchr (error->message, '\n'));
    return;
  }
  edges = sim_edges_sorted (study_matrix_edges (matrix), &n_edges);
  check_edges (edges, n_edges, study_matrix_ranks (matrix));
  if (n_edges > 0)
    check_same (matrix, edges, n_edges);
}

const FuzzProgram fuzz_program = { NULL, seed, check };
