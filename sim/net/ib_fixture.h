/* ib_fixture.h - fabrics, messages and a log of arrivals for tests of the fabrics' network.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "sim/net/ib_state.h"

/* Every number that a test's arithmetic uses, whatever the defaults become;
 * memory is so fast that PCIe alone counts. */
extern const char *const ib_pinned[];

/* One cable between two devices: 0..99 switches, 100..999 adapters; those whose
 * numbers end in the same two digits are the rails of one node. */
typedef struct {
  uint32_t device, port, other_device, other_port;
  const char *rate; /* "4xQDR" */
} IbCable;

typedef struct {
  TopoMachine *machine;
  TopoMapping *mapping;
  RoutePaths *paths;
  SimNetwork *network;
  int64_t *at_ps;      /* [cookie] delivered */
  int64_t *sent_ps;    /* [cookie] acknowledged */
  uint64_t *node_hash; /* deliveries in order */
  uint64_t n_sent, n_delivered;
} IbBench;

/* settings: "group.key=value" beyond the pinned ones, NULL-terminated, may be
 * NULL.  prepare(), which may be NULL, changes the tables before the network is
 * made. */
IbBench *ib_bench_new (const char *spec, const char *const *settings, uint32_t n_messages,
                       void (*prepare) (RouteForwarding *tables));
/* The same for cables, one rank per node, in the order of their numbers. */
IbBench *ib_bench_cabled (const IbCable *cables, uint32_t n_cables, const char *routes,
                          const char *const *settings, uint32_t n_messages,
                          void (*prepare) (RouteForwarding *tables));
void ib_bench_free (IbBench *bench);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (IbBench, ib_bench_free)

/* Returns the cookie. */
uint64_t ib_bench_send (IbBench *bench, uint32_t from, uint32_t to, uint64_t bytes, int64_t at_ps);
/* Everybody to everybody else, all at once. */
void ib_bench_all_to_all (IbBench *bench, uint64_t bytes);
/* Must succeed and deliver everything. */
void ib_bench_run (IbBench *bench);
/* Deliveries and all counters in one number. */
uint64_t ib_bench_hash (const IbBench *bench);
/* User bytes over all links that leave switches or adapters. */
uint64_t ib_bench_hop_bytes (const IbBench *bench);
