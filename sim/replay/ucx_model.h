/* ucx_model.h - which transport UCX takes, and which sizes it sends in which way.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * UCX decides by a model of what each way costs, whose constants are in its source.  They
 * are not what the simulator charges: a real UCX decides by its constants too, and its messages
 * then take what they take.
 *
 * The sizes are those of tagged messages, as MPI sends them.  Up to 1.15 three thresholds of an
 * endpoint decide; from 1.16 the way that is estimated to be fastest. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef enum {
  SIM_UCX_RC_MLX5, /* a queue pair for each peer */
  SIM_UCX_DC_MLX5, /* a few queue pairs that change their peer */
  SIM_UCX_UD_MLX5, /* datagrams */
  SIM_UCX_RC_VERBS,
  SIM_UCX_UD_VERBS,
} SimUcxTransport;

/* How long messages within a node are copied once. */
typedef enum { SIM_UCX_NO_SINGLE_COPY, SIM_UCX_CMA, SIM_UCX_KNEM, SIM_UCX_XPMEM } SimUcxSingleCopy;

typedef enum { SIM_UCX_INTEL, SIM_UCX_AMD, SIM_UCX_OTHER_VENDOR } SimUcxVendor;

/* ConnectX-2 and -3 are mlx4, later ones mlx5; device memory from ConnectX-5 on. */
typedef enum {
  SIM_UCX_CONNECTX2,
  SIM_UCX_CONNECTX3,
  SIM_UCX_CONNECTIB,
  SIM_UCX_CONNECTX4,
  SIM_UCX_CONNECTX5,
  SIM_UCX_CONNECTX6,
  SIM_UCX_CONNECTX7,
} SimUcxAdapter;

typedef struct {
  uint32_t version;                     /* its minor number: 12 is UCX 1.12; 7 and later */
  uint32_t n_endpoints, ranks_per_node; /* as the MPI library announces them */
  SimUcxAdapter adapter;
  uint32_t n_adapters; /* of a node, alike */
  double link_Gbps;    /* signalling rate of all lanes of a port: EDR 4x is 103.125 */
  uint32_t mtu_bytes;  /* 256 to 4096 */
  double pcie_Bps;     /* payload, after UCX's own formula for the slot; 0: no limit */
  /* Of the adapter from the cores that the rank may use, their mean, as the firmware tells it: 10
   * is the own node of NUMA.  0: 10. */
  double numa_distance;
  SimUcxVendor vendor;
  SimUcxSingleCopy single_copy;
  bool fast_completion; /* sends that have to complete at once locally, as blocking ones */
  bool multi_send;      /* sends that are said to be some of many; from 1.16 it matters */
} SimUcxSituation;

/* The largest message, in the user's bytes, of each way, in this order; above the last one it is a
 * rendezvous.  Equal to the one before: the way is not taken. */
typedef struct {
  uint64_t short_bytes; /* in the work request or, with device memory, in the adapter's memory */
  uint64_t bcopy_bytes; /* copied into a registered buffer, in fragments */
  uint64_t zcopy_bytes; /* read by the adapter from where it is, in fragments; UINT64_MAX: always */
} SimUcxLimits;

typedef struct {
  SimUcxTransport transport;
  SimUcxLimits between, within; /* nodes; a node */
  /* User's bytes that go at most in one packet of UCX, between nodes and within one.  Of longer
   * messages a fragment has 8 less, and the first one 16 less. */
  uint64_t fragment_bytes, fragment_within_bytes;
  uint32_t n_rails; /* adapters that share the data of one rendezvous between nodes */
  /* Of the data of a rendezvous within a node, what goes through the adapter and back: from 1.16 it
   * helps the kernel, while few ranks share it.  0 to 1. */
  double adapter_part_within;
} SimUcxChoice;

void sim_ucx_choose (const SimUcxSituation *situation, SimUcxChoice *choice);
