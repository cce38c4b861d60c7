/* curve.h - orders in which the points of a box are visited.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Any number of dimensions up to TOPO_CURVE_DIMENSIONS, any sizes.  Points are
 * numbered row-major, the last dimension the fastest.  All begin at point 0.
 *
 *   hilbert   by halves in every long dimension at once; on a square or a cube
 *             whose side is a power of two Hilbert's curve.  Whatever the sizes,
 *             a point and the next one are neighbours.
 *   peano     by thirds, through the smallest box of powers of three that holds
 *             the box; points beyond the box are passed over.  Neighbours follow
 *             each other where every size is a power of three.
 *   gray      the bits of the coordinates dealt out in turns, as in zorder; the
 *             next code differs in one bit.  One coordinate changes at a time
 *             where every size is a power of two.
 *   snake     row-major, every other row backwards: always neighbours.
 *   zorder    Morton's order, bit 0 of the first dimension the lowest; codes of
 *             points beyond the box are passed over. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define TOPO_CURVE_DIMENSIONS 8

typedef enum {
  TOPO_CURVE_HILBERT,
  TOPO_CURVE_PEANO,
  TOPO_CURVE_GRAY,
  TOPO_CURVE_SNAKE,
  TOPO_CURVE_ZORDER,
  TOPO_N_CURVES,
} TopoCurve;

/* The names above, in the order of the enumeration. */
extern const char *const topo_curve_names[TOPO_N_CURVES];

/* [product of sizes] the number of the point that is k-th on the curve; sizes are
 * at least 1 and their product fits in 32 bits.  The caller frees it. */
uint32_t *topo_curve_new (TopoCurve curve, uint32_t n_dimensions, const uint32_t *size);
