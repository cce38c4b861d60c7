/* grouping.h - which tasks share a node, as the aggregation paper decides it (section IV).
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * B. W. Kernighan and S. Lin, An Efficient Heuristic Procedure for
 * Partitioning Graphs (1970): two parts are bettered by exchanging the best
 * subsets of both; more parts pair by pair, until no pair can be bettered. */
#pragma once

#include <stdint.h>

/* Orders tasks[n] so that the first n / n_parts of them are one part, and so
 * on, with little cost between parts.  It starts from the order given; n is
 * a multiple of n_parts.  cost[a * stride + b] >= 0 is the cost of the edge
 * between the tasks a and b, equal to that of b and a. */
void validation_group (uint32_t *tasks, uint32_t n, uint32_t n_parts, const double *cost,
                       uint32_t stride);
