/* deadlock.h - buffers that wait for each other, and lanes that prevent it; private to routing/.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A packet that holds the buffer behind one link waits for the buffer behind
 * its next one.  Links that wait for each other all around can deadlock
 * (Dally and Seitz, 1987); a graph of waits without such a loop cannot. */
#pragma once

#include "routing/forwarding/forwarding.h"

#define ROUTE_NUMBER_WORDS 4 /* of a set of port numbers */

/* A set of port numbers of one switch, 1 .. 255. */
typedef struct {
  uint64_t bits[ROUTE_NUMBER_WORDS];
} RouteNumbers;

static inline void
route_numbers_add (RouteNumbers *numbers, uint32_t number)
{
  numbers->bits[number / 64] |= UINT64_C (1) << (number % 64);
}

static inline void
route_numbers_remove (RouteNumbers *numbers, uint32_t number)
{
  numbers->bits[number / 64] &= ~(UINT64_C (1) << (number % 64));
}

static inline bool
route_numbers_has (const RouteNumbers *numbers, uint32_t number)
{
  return numbers->bits[number / 64] >> (number % 64) & 1;
}

/* The first member from `number` on; 0: none. */
static inline uint32_t
route_numbers_next (const RouteNumbers *numbers, uint32_t number)
{
  uint32_t word = number / 64;
  uint64_t bits;

  if (word >= ROUTE_NUMBER_WORDS)
    return 0;
  bits = numbers->bits[word] & UINT64_MAX << (number % 64);
  while (bits == 0 && ++word < ROUTE_NUMBER_WORDS)
    bits = numbers->bits[word];
  return bits != 0 ? word * 64 + (uint32_t) __builtin_ctzll (bits) : 0;
}

typedef struct {
  uint32_t n_loops; /* groups of links that wait for each other all around */
  uint32_t *loop;   /* [n_loop] the links of one of them, each waiting for the next and the
                     * last for the first; NULL: none.  The caller g_free()s it */
  uint32_t n_loop;
} RouteLoops;

/* next[port of the fabric]: the ports of the switch behind it that it waits
 * for; [n_ports]. */
RouteLoops route_loops_find (const TopoFabric *fabric, const RouteNumbers *next);

/* The waits of all that adaptive switches may choose (tables->group and detour), as next[] above for
 * lane 0 and, behind it, for lane 1, to which detours rise; [2 * n_ports].  The caller frees them. */
RouteNumbers *route_choice_waits (const RouteForwarding *tables);

/* Puts every pair on a virtual lane, so that on no lane links wait for each
 * other in a circle, and fills tables->vl and n_vls; tables that need one lane
 * only keep vl NULL.  The pairs of one source's switch and one destination
 * share a route and thus a lane; each takes the first lane on which it closes
 * no circle (LASH: Skeie, Lysne and Theiss, "Layered shortest path (LASH)
 * routing in irregular system area networks", 2002).  To put the pairs on as
 * few lanes as possible is a hard problem (Domke, Hoefler and Nagel,
 * "Deadlock-free oblivious routing for arbitrary topologies", 2011): the
 * best of a few orders is taken.  Pairs that the tables do not connect stay on
 * VL 0.  *error when it takes more than max_vls lanes, with the number. */
gboolean route_forwarding_add_layers (RouteForwarding *tables, uint32_t max_vls, GError **error);
