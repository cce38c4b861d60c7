/* switch_levels.h - how far each switch of a fabric is from its roots; private.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "routing/forwarding/forwarding_private.h"

/* Distance of every switch from the nearest root, in cables: roots are 0, and
 * going up means going to a smaller level.  Roots are the switches from which
 * nearly all adapters are at one distance: more than 9 of 10 at that one, and
 * no other has more than 1 of 20 (OpenSM's rule for up/down routing), and of
 * these the ones with the smallest distance: in a tree of more than 20 branches
 * the leaves, too, are equally far from nearly all.  Of a fabric that falls
 * apart each part has its own; parts without adapters have UINT32_MAX.  NULL
 * when a part with adapters has no root.  The caller g_free()s it. */
uint32_t *route_levels_from_roots (const RouteForwarding *tables, const RouteCables *cables);

/* The same counted from the leaves: the distance of every switch from the
 * nearest one that has adapters.  Never NULL. */
uint32_t *route_levels_from_leaves (const RouteForwarding *tables, const RouteCables *cables);
