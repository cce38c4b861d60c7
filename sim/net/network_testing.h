/* network_testing.h - a machine, a packet network on it, messages and their arrivals, for tests.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "sim/counters.h"
#include "sim/net/network.h"

/* Every number that a test's arithmetic uses, whatever the defaults become;
 * memory is so fast that PCIe alone counts. */
extern const char *const bench_pinned[];

/* One cable between two devices: 0..99 switches, 100..999 adapters; those whose
 * numbers end in the same two digits are the rails of one node. */
typedef struct {
  uint32_t device, port, other_device, other_port;
  const char *rate; /* "4xQDR" */
} BenchCable;

typedef struct {
  TopoMachine *machine;
  TopoMapping *mapping;
  RoutePaths *paths; /* of a fabric */
  SimNetwork *network;
  uint32_t n_nodes;    /* one rank on each */
  int64_t *at_ps;      /* [cookie] delivered */
  int64_t *sent_ps;    /* [cookie] acknowledged, on fabrics */
  uint64_t *node_hash; /* deliveries in order */
  uint64_t n_sent, n_delivered;
} Bench;

/* A torus; settings: "group.key=value" pairs, NULL-terminated, may be NULL. */
Bench *bench_torus (const char *spec, const char *const *settings, RoutePolicy policy,
                    uint64_t n_messages);
/* A fabric; settings: "group.key=value" beyond the pinned ones, NULL-terminated, may be
 * NULL.  prepare(), which may be NULL, changes the tables before the network is
 * made. */
Bench *bench_fabric (const char *spec, const char *const *settings, uint32_t n_messages,
                     void (*prepare) (RouteForwarding *tables));
/* For prepare: every way is on one of three lanes. */
void bench_spread_over_lanes (RouteForwarding *tables);
/* The same for cables, one rank per node, in the order of their numbers. */
Bench *bench_cabled (const BenchCable *cables, uint32_t n_cables, const char *routes,
                     const char *const *settings, uint32_t n_messages,
                     void (*prepare) (RouteForwarding *tables));
void bench_free (Bench *bench);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Bench, bench_free)

/* On a torus. */
void bench_send_kind (Bench *bench, uint32_t from, uint32_t to, uint64_t bytes, SimMessageKind kind,
                      int64_t at_ps);
/* On a fabric, acknowledged.  Returns the cookie. */
uint64_t bench_send (Bench *bench, uint32_t from, uint32_t to, uint64_t bytes, int64_t at_ps);
/* Everybody to everybody else, all at once. */
void bench_all_to_all (Bench *bench, uint64_t bytes);
/* Must succeed and deliver everything. */
void bench_run (Bench *bench);
/* Deliveries and all counters in one number. */
uint64_t bench_hash (const Bench *bench);
/* User bytes over all links that leave switches or adapters. */
uint64_t bench_hop_bytes (const Bench *bench);
