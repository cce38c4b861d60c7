/* parameters.h - every number of a machine model, by name and with its unit.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * One table (parameters.c) gives each number its key in machine files, its
 * unit, its default, where the default comes from, and the word "guess"
 * where nobody outside IBM knows: reference sections are those of the
 * handbook page "The Blue Gene/Q model". */
#pragma once

#include "topology/unit.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* What a number applies to, and which default it has, depends on the family. */
typedef enum {
  TOPO_FAMILY_TORUS,  /* Blue Gene/Q and other tori */
  TOPO_FAMILY_FABRIC, /* InfiniBand clusters */
  TOPO_FAMILIES
} TopoFamily;

/* Which library's rules choose the algorithm of a collective ([mpi] collectives). */
typedef enum {
  TOPO_COLLECTIVES_BGQ,    /* PAMI's, and MPICH 3.1's beneath */
  TOPO_COLLECTIVES_OMPI13, /* ompi-1.3: Open MPI 1.3.2, coll/tuned's fixed rules */
  TOPO_COLLECTIVES_OMPI41, /* ompi-4.1 */
  TOPO_COLLECTIVES_MPICH,  /* mpich: 4.0 */
  TOPO_COLLECTIVES_OMPI50, /* ompi-5.0: with coll/han */
  TOPO_COLLECTIVES_MPICH4, /* mpich-4: 4.2 with ch4 */
} TopoCollectives;

/* The MPI library of a fabric ([mpi] library): how messages are carried.  Setting it sets the other
 * keys that go with it (topology/library.h). */
typedef enum {
  TOPO_LIBRARY_OMPI13, /* ompi-1.3: Open MPI 1.3.2, its own protocol ob1 */
  TOPO_LIBRARY_OMPI41, /* ompi-4.1: Open MPI 4.1 over UCX, as all below */
  TOPO_LIBRARY_OMPI50, /* ompi-5.0 */
  TOPO_LIBRARY_MPICH4, /* mpich-4: MPICH 4.2, ch4:ucx */
} TopoLibrary;

/* Models of adapters ([hca] model), by age; in the order of SimUcxAdapter. */
typedef enum {
  TOPO_CONNECTX2, /* and the first ConnectX */
  TOPO_CONNECTX3,
  TOPO_CONNECTIB,
  TOPO_CONNECTX4,
  TOPO_CONNECTX5,
  TOPO_CONNECTX6,
  TOPO_CONNECTX7,
} TopoAdapterModel;

/* How UCX copies long messages within a node ([ucx] single_copy); in the order of SimUcxSingleCopy. */
typedef enum {
  TOPO_SINGLE_COPY_NONE,
  TOPO_SINGLE_COPY_CMA,
  TOPO_SINGLE_COPY_KNEM,
  TOPO_SINGLE_COPY_XPMEM,
} TopoSingleCopy;

/* What a switch may choose among ([switch] adaptive). */
typedef enum {
  TOPO_ADAPTIVE_NONE,    /* the table's port, always */
  TOPO_ADAPTIVE_FREE,    /* of all ports of shortest ways the least loaded */
  TOPO_ADAPTIVE_DETOURS, /* and, in a Dragonfly+, of those of ways over another group */
} TopoAdaptive;

/* A struct for each group of a machine file. */
typedef struct {
  TopoFamily family;

  struct {
    uint64_t bandwidth_Bps;      /* raw, each direction */
    double overhead;             /* share of it taken by acks and tokens, 0..1 */
    int64_t hop_latency_ps;      /* head of a packet: sender port to next router's decision */
    int64_t midplane_latency_ps; /* added on a link that leaves a midplane */
    int64_t token_latency_ps;    /* a freed buffer to the sender that may use it */
  } link;

  struct {
    uint64_t payload_bytes; /* largest payload */
    uint64_t header_bytes;
    uint64_t trailer_bytes; /* on the wire only, not in buffers */
    uint64_t chunk_bytes;   /* unit of buffers and counters */
  } packet;

  struct {
    uint64_t dynamic_tokens;    /* chunks, per link */
    uint64_t bubble_tokens;     /* packets, per link */
    uint64_t priority_tokens;   /* packets, per link */
    uint64_t dynamic_queues;    /* queues within the dynamic receiver, 1..5 */
    uint64_t receiver_grants;   /* receiver grants per injection grant under contention */
    uint64_t reception_packets; /* depth of a network reception FIFO */
    bool escape;                /* dynamic packets may fall to the bubble VC */
    bool stay_on_bubble;        /* and stay there once fallen */
  } router;

  struct {
    int64_t injection_latency_ps;  /* descriptor written to head of packet in the router */
    int64_t reception_latency_ps;  /* last byte in memory to software that may see it */
    uint64_t memory_bandwidth_Bps; /* writes of arriving packets, all ports of a node together */
  } messaging;

  struct {
    int64_t send_overhead_ps;    /* processor time of a send call; fabrics: of the library alone */
    int64_t receive_overhead_ps; /* processor time of receiving a message; as above */
    int64_t call_overhead_ps;    /* processor time of any other MPI call */
    int64_t direct_overhead_ps;  /* processor time to write one descriptor of a direct collective */
    uint64_t envelope_bytes;     /* software header in the first payload */
    uint64_t library;            /* TopoLibrary */
    uint64_t collectives;        /* TopoCollectives */
    /* In an algorithm of a collective, processor time of */
    int64_t datatype_ps;             /* a derived datatype: made, used in a message and freed */
    int64_t datatype_description_ps; /* each block of its description */
    int64_t datatype_block_ps;       /* each block that is packed, unpacked or copied */
    uint64_t algorithm;         /* forced, in no file: sim_collective_named(); 0: by the rules */
    uint64_t immediate_bytes;   /* largest message sent from the look-aside descriptor */
    uint64_t eager_bytes;       /* largest eager message */
    uint64_t e_split_bytes;     /* rendezvous data to the E neighbour is split from here on */
    uint64_t dynamic_bytes;     /* rendezvous data above this is routed dynamically */
    uint64_t dynamic_messages;  /* dynamically routed messages in flight per rank */
    bool async_progress;        /* protocol answered while the rank computes */
    bool pacing;                /* remote gets are paced above one rack */
    int64_t shm_latency_ps;     /* within a node, sender to receiver */
    uint64_t shm_bandwidth_Bps; /* one copy within a node */
  } mpi;

  struct {
    bool in_network;             /* broadcast and reductions in the network */
    int64_t barrier_latency_ps;  /* global interrupt, fixed part */
    int64_t tree_latency_ps;     /* collective network, fixed part */
    int64_t tree_hop_latency_ps; /* per hop of the tree's depth */
    uint64_t tree_bandwidth_Bps; /* of combining and broadcasting */
    uint64_t rectangle_bytes;    /* broadcasts above this go over all links */
  } collective;

  struct {
    double compute_Flops; /* to turn operations of a trace into time, flop/s */
  } node;

  /* Fabrics only, as all below. */
  struct {
    uint64_t mtu_bytes;         /* largest payload of a packet */
    uint64_t header_bytes;      /* LRH, BTH and both checksums, on every packet */
    uint64_t rdma_header_bytes; /* RETH, on the first packet of an RDMA write */
    uint64_t ack_bytes;         /* an acknowledgement, all of it */
    uint64_t framing_bytes;     /* delimiters and idle symbols per packet, on the wire only */
    uint64_t block_bytes;       /* unit of credits */
    int64_t cable_latency_ps;   /* every link */
    int64_t fec_edr_latency_ps; /* more, on a link of this speed: forward error correction */
    int64_t fec_hdr_latency_ps;
    int64_t fec_ndr_latency_ps;
    int64_t credit_latency_ps; /* from a freed buffer to the sender that may use it */
  } ib;

  /* [switch] */
  struct {
    int64_t latency_ps;       /* head of a packet in to its decision */
    uint64_t buffer_bytes;    /* per input port, divided among the data VLs */
    uint64_t vls;             /* data VLs of every port */
    uint64_t reads;           /* packets that may leave one input port at a time */
    uint64_t adaptive;        /* TopoAdaptive */
    uint64_t detour_factor;   /* so many times the blocks ahead of a detour are worth it */
    TopoVlWeights vlarb_high; /* VL arbiter: lanes of high priority */
    TopoVlWeights vlarb_low;  /* ... and of low priority */
    uint64_t high_limit;      /* TOPO_VL_LIMIT_BYTES before low priority has its turn */
  } switches;

  struct {
    uint64_t model;                /* TopoAdapterModel */
    uint64_t pcie_bandwidth_Bps;   /* payload, each direction */
    int64_t send_latency_ps;       /* work request rung in to its first packet on the wire */
    int64_t receive_latency_ps;    /* last byte off the wire to software that may see it */
    int64_t read_latency_ps;       /* added where data is not in the work request itself */
    int64_t device_latency_ps;     /* added where the data is in the adapter's own memory */
    uint64_t inline_bytes;         /* largest message, headers included, within the work request */
    int64_t message_gap_ps;        /* between two work requests of one adapter, either direction */
    uint64_t buffer_bytes;         /* input buffer of an adapter's port, as switch_buffer */
    uint64_t read_ahead;           /* packets read from memory before the link takes them, per VL */
    uint64_t turn_packets;         /* that a queue pair sends in its turn */
    int64_t dynamic_gap_ps;        /* ... with dynamic connections (DC) */
    uint64_t receive_inline_bytes; /* largest message that comes with its completion */
    uint64_t receive_queues;       /* of ranks, that an adapter holds; 0: all */
    int64_t queue_miss_ps;         /* to fetch the next buffer of another */
    uint64_t contexts;             /* of connections, that an adapter holds; 0: all */
    int64_t context_miss_ps;       /* to fetch another */
    uint64_t context_fetches;      /* under way at a time */
  } hca;

  /* OpenSM's cc_* options, without their prefixes */
  struct {
    bool is_on;                  /* congestion control is on */
    uint64_t threshold;          /* 0 never .. 15 soonest */
    uint64_t packet_size_blocks; /* smallest packet that is marked */
    uint64_t marking_rate;       /* packets between two marked ones */
    int64_t ccti_timer_ps;
    uint64_t ccti_increase, ccti_trigger, ccti_min, ccti_limit;
  } congestion;

  /* in [mpi]: Open MPI's, infiniband.md section C2 */
  struct {
    uint64_t sm_eager_bytes;      /* largest eager message within a node, header included */
    uint64_t sm_fragment_bytes;   /* of longer ones, after the first piece */
    uint64_t sm_depth;            /* fragments in flight per message */
    int64_t sm_latency_ps;        /* a pointer in a FIFO, from its writer to its reader's poll */
    uint64_t sm_lines;            /* of that FIFO, handed over on top of it */
    int64_t sm_overhead_ps;       /* processor time per fragment, each side, copy apart */
    bool sm_single_copy;          /* long messages are copied once, by the receiver (KNEM, CMA) */
    uint64_t send_fragment_bytes; /* copied fragments over the network */
    uint64_t send_depth;          /* of those in flight per message */
    int64_t fragment_overhead_ps; /* processor time per piece or control message, each side */
    uint64_t rdma_offset_bytes;   /* so much is sent in copied fragments, the rest by RDMA */
    uint64_t rdma_fragment_bytes; /* one RDMA write */
    uint64_t rdma_depth;          /* of those in flight per message */
    bool leave_pinned;            /* buffers stay registered: all is RDMA from the second time on */
    int64_t registration_ps;      /* of a piece of memory, fixed part, processor time */
    int64_t registration_page_ps; /* and per 4 KiB page */
  } ompi;

  /* Reductions in the switches; `enabled` is in [mpi]: handbook page "Collectives" */
  struct {
    uint64_t enabled;       /* 1: for calls that it can serve */
    uint64_t min_leaders;   /* nodes of a communicator from which on it is used */
    uint64_t max_bytes;     /* of a call; larger ones take the library's algorithm */
    uint64_t payload_bytes; /* of a transaction, at most; larger calls are pipelined */
    uint64_t transactions;  /* of a communicator in flight */
    int64_t aggregation_ps; /* a switch combines what came from its children */
  } sharp;

  struct {
    uint64_t version;            /* its minor number: 12 is UCX 1.12 */
    uint64_t single_copy;        /* TopoSingleCopy */
    uint64_t rndv_thresh_bytes;  /* messages from here on are a rendezvous; 0: by UCX's model */
    uint64_t zcopy_thresh_bytes; /* those from here on are not copied by the sender; 0: likewise */
    uint64_t segment_bytes;      /* of a registered buffer; 0: as UCX of that version has it */
    uint64_t rails;              /* adapters that share the data of one, at most */
    uint64_t copy_bandwidth_Bps; /* into buffers that the adapter reads next */
    int64_t post_ps;             /* processor time: a work request */
    int64_t receive_ps;          /* ... a message that has come */
    int64_t completion_ps;       /* ... the end of a request of which the library must learn */
    int64_t registration_ps;     /* ... to find a buffer among the registered ones */
    int64_t single_copy_overhead_ps; /* ... to begin a single copy */
  } ucx;

  /* of a node: see topology/node/node.h */
  struct {
    uint64_t core_bandwidth_Bps;          /* what one core can copy, everything in its own caches */
    uint64_t core_memory_bandwidth_Bps;   /* lines that one core can fetch from memory */
    uint64_t core_transfer_bandwidth_Bps; /* ... from a cache that is not above it */
    uint64_t cache_bandwidth_Bps;         /* of a shared cache, all its cores together */
    uint64_t group_bandwidth_Bps; /* between a core group and the rest; 0: no limit of its own */
    uint64_t bus_bandwidth_Bps;   /* between a package and the rest: its bus or interconnect */
    uint64_t dram_bandwidth_Bps;  /* of one NUMA node's memory, reads and writes together */
    uint64_t hbm_bandwidth_Bps;   /* ... of high-bandwidth memory */
    bool uses_hbm;                /* ranks have their buffers there, where a core has it near */
    double cache_share;           /* of a cache that one buffer of a message may fill */
    double thread_slowdown;       /* of computation beside another thread of the core, as a share */
    int64_t thread_latency_ps;    /* of a line that another thread of the core has written */
    int64_t cache_latency_ps;     /* ... another core below the same cache */
    int64_t transfer_latency_ps;  /* of a line from memory, or from caches that share none above */
    int64_t domain_latency_ps;    /* more, from another NUMA domain of the package */
    int64_t package_latency_ps;   /* more, of a line from another package */
    bool transfer_updates_memory; /* when a changed line goes from cache to cache */
    bool migratory;               /* a changed line comes to its reader for him to change */
    bool dma_to_cache;            /* adapters write to and read from caches, not memory */
    uint64_t copy_quantum_bytes;  /* copies take turns in pieces of this */
  } memory;
} TopoParameters;

/* The defaults: a Blue Gene/Q node and link, or a QDR cluster of Harpertown
 * nodes under Open MPI 1.3.2. */
void topo_parameters_default (TopoParameters *parameters, TopoFamily family);

/* Applies every key of `file` that the family has; unknown groups, unknown keys, missing or
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

/* A value that is not the family's default, and why. */
typedef struct {
  const char *key; /* "group.key" */
  const char *value;
  const char *about; /* lines end in \n, except the last */
} TopoParameterNote;

/* The same; notes[n_notes] stand with those values that are theirs still.  Keys that the library or, of
 * `unused` ("group.key", NULL at the end; NULL: none), the machine does not read are left out where
 * they have the family's default. */
void topo_parameters_print_noted (const TopoParameters *parameters, const TopoParameterNote *notes,
                                  uint32_t n_notes, const char *const *unused, GString *out);
