/* parameters.h - every number of a machine model, by name and with its unit.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * One table (parameters.c) gives each number its key in machine files, its
 * unit, its default, where the default comes from, and the word "guess"
 * where nobody outside IBM knows: reference sections are those of the
 * handbook page "The Blue Gene/Q model". */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct {
  /* [link] */
  uint64_t link_bandwidth_Bps; /* raw, each direction */
  double link_overhead;        /* share of it taken by acks and tokens, 0..1 */
  int64_t hop_latency_ps;      /* head of a packet: sender port to next router's decision */
  int64_t midplane_latency_ps; /* added on a link that leaves a midplane */
  int64_t token_latency_ps;    /* a freed buffer to the sender that may use it */

  /* [packet] */
  uint64_t packet_payload_bytes; /* largest payload */
  uint64_t packet_header_bytes;
  uint64_t packet_trailer_bytes; /* on the wire only, not in buffers */
  uint64_t chunk_bytes;          /* unit of buffers and counters */

  /* [router] */
  uint64_t dynamic_tokens;    /* chunks, per link */
  uint64_t bubble_tokens;     /* packets, per link */
  uint64_t priority_tokens;   /* packets, per link */
  uint64_t dynamic_queues;    /* queues within the dynamic receiver, 1..5 */
  uint64_t receiver_grants;   /* receiver grants per injection grant under contention */
  uint64_t reception_packets; /* depth of a network reception FIFO */
  bool escape;                /* dynamic packets may fall to the bubble VC */
  bool stay_on_bubble;        /* and stay there once fallen */

  /* [messaging] */
  int64_t injection_latency_ps;  /* descriptor written to head of packet in the router */
  int64_t reception_latency_ps;  /* last byte in memory to software that may see it */
  uint64_t memory_bandwidth_Bps; /* writes of arriving packets, all ports of a node together */

  /* [mpi] */
  int64_t send_overhead_ps;    /* processor time of a send call */
  int64_t receive_overhead_ps; /* processor time of receiving a message */
  int64_t call_overhead_ps;    /* processor time of any other MPI call */
  int64_t direct_overhead_ps;  /* processor time to write one descriptor of a direct collective */
  uint64_t envelope_bytes;     /* software header in the first payload */
  uint64_t immediate_bytes;    /* largest message sent from the look-aside descriptor */
  uint64_t eager_bytes;        /* largest eager message */
  uint64_t e_split_bytes;      /* rendezvous data to the E neighbour is split from here on */
  uint64_t dynamic_bytes;      /* rendezvous data above this is routed dynamically */
  uint64_t dynamic_messages;   /* dynamically routed messages in flight per rank */
  bool async_progress;         /* protocol answered while the rank computes */
  bool pacing;                 /* remote gets are paced above one rack */
  int64_t shm_latency_ps;      /* within a node, sender to receiver */
  uint64_t shm_bandwidth_Bps;  /* one copy within a node */

  /* [collective] */
  bool collective_network;     /* broadcast and reductions in the network */
  int64_t barrier_latency_ps;  /* global interrupt, fixed part */
  int64_t tree_latency_ps;     /* collective network, fixed part */
  int64_t tree_hop_latency_ps; /* per hop of the tree's depth */
  uint64_t tree_bandwidth_Bps; /* of combining and broadcasting */
  uint64_t rectangle_bytes;    /* broadcasts above this go over all links */

  /* [node] */
  double compute_Flops; /* to turn operations of a trace into time, flop/s */
} TopoParameters;

/* The defaults: a Blue Gene/Q node and link. */
void topo_parameters_default (TopoParameters *parameters);

/* Applies every key of `file`; unknown groups, unknown keys, missing or
 * unknown units and values out of range are errors that name `path` and the
 * line.  On failure *parameters is untouched.  The groups named in
 * `ignore_groups` (NULL-terminated) belong to the caller. */
gboolean topo_parameters_load (TopoParameters *parameters, GKeyFile *file, const char *path,
                               const char *const *ignore_groups, GError **error);

/* Sets one parameter from text: key is "group.key", value carries its unit,
 * as on the command line (--set link.hop_latency=40ns). */
gboolean topo_parameters_set (TopoParameters *parameters, const char *key, const char *value,
                              GError **error);

/* Appends all groups with their values, units and descriptions as comments,
 * in the form that topo_parameters_load() reads back without loss. */
void topo_parameters_print (const TopoParameters *parameters, GString *out);
