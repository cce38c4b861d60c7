/* torus_router_bgq.c - torus_router.c and torus_dynamic.c with the places of a Blue Gene/Q's memory as constants.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A hop computes some thirty addresses; with constants it takes a tenth less time. */
#define TORUS_BGQ
#include "sim/net/torus_dynamic.c"
#include "sim/net/torus_router.c"
