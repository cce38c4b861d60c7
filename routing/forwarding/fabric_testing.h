/* fabric_testing.h - fabrics and their tables for tests.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "routing/forwarding/forwarding.h"

/* The tables that `routes` of a machine with 15 virtual lanes names; the first asserts that there
 * are some. */
RouteForwarding *fabric_testing_tables (const TopoFabric *fabric, const char *routes);
RouteForwarding *
fabric_testing_routes (const TopoFabric *fabric, const char *routes, GError **error);

/* Asserts that both tables have ways of the same lengths between all pairs. */
void fabric_testing_same_hops (const RouteForwarding *a, const RouteForwarding *b);

/* As a file of this text describes it. */
TopoFabric *fabric_testing_of (const char *text);

/* x by y by z switches in a torus, ports 1..6 in the order of the dimensions,
 * `adapters` on each switch from port 7 on. */
TopoFabric *fabric_testing_torus (uint32_t x, uint32_t y, uint32_t z, uint32_t adapters);

/* n switches in a ring with one adapter each. */
TopoFabric *fabric_testing_ring (uint32_t n);

/* n switches in a chain and more cables at random, always the same, and one
 * adapter on each. */
TopoFabric *fabric_testing_tangle (uint32_t n, uint32_t n_cables);
