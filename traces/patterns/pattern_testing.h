/* pattern_testing.h - what a pattern sends, for its tests.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "traces/trace_testing.h"

/* Messages between ranks of MPI_COMM_WORLD in figures that do not depend on
 * their order: how many, their bytes, and the sums of source x destination and
 * of (source - destination) squared. */
typedef struct {
  uint64_t n, bytes, products, squares;
} PatternSums;

/* Messages of all ranks.  Every one must have its receive, of the same size
 * and tag, and every request must be waited for before the stream ends. */
PatternSums pattern_testing_sends (const char *spec);

/* All-to-alls taken apart into messages between different ranks.  All ranks
 * of a communicator must call it alike.  *n_communicators: other than
 * MPI_COMM_WORLD. */
PatternSums pattern_testing_alltoalls (const char *spec, guint *n_communicators);

/* The figures are these. */
#define pattern_testing_equal(sums, n_, bytes_, products_, squares_) \
  do {                                                               \
    PatternSums sums_ = (sums);                                      \
    g_assert_cmpuint (sums_.n, ==, (n_));                            \
    g_assert_cmpuint (sums_.bytes, ==, (bytes_));                    \
    g_assert_cmpuint (sums_.products, ==, (products_));              \
    g_assert_cmpuint (sums_.squares, ==, (squares_));                \
  } while (0)
