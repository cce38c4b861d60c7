/* parameters.c - every number of a machine model, by name and with its unit.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The tags in the descriptions: [S] IBM's driver and messaging sources, [P]
 * published and read, [A] published, abstract only, [R] recalled, [D] derived
 * from these; "guess" marks what nobody outside IBM knows.  Section numbers
 * are those of the handbook page "The Blue Gene/Q model". */
#include "topology/parameters.h"

#include "base/words.h"
#include "topology/keyfile.h"
#include "topology/library.h"
#include "topology/machine.h"
#include "topology/unit.h"

#include <stddef.h>
#include <string.h>

typedef struct {
  const char *group;
  const char *key;
  gsize offset; /* in TopoParameters */
  TopoUnit unit;
  /* The default of each family, as in a file; NULL: the family has no such key. */
  const char *initial[TOPO_FAMILIES];
  const char *least; /* of the range; NULL for booleans and names */
  const char *most;
  const char *about;          /* lines end in \n, except the last */
  const char *const *choices; /* names for 0, 1 ...; NULL: a number */
} Row;

/* In the orders of their enumerations. */
static const char *const collectives_names[] = { "bgq",      "ompi-1.3", "ompi-4.1", "mpich",
                                                 "ompi-5.0", "mpich-4",  NULL };
static const char *const library_names[] = { "ompi-1.3", "ompi-4.1", "ompi-5.0", "mpich-4", NULL };
static const char *const adapter_names[] = { "connectx-2", "connectx-3", "connect-ib", "connectx-4",
                                             "connectx-5", "connectx-6", "connectx-7", NULL };
static const char *const single_copy_names[] = { "none", "cma", "knem", "xpmem", NULL };
static const char *const adaptive_names[] = { "none", "free", "detours", NULL };
static const char *const off_on_names[] = { "off", "on", NULL };

#define AT(field) offsetof (TopoParameters, field)

/* clang-format off */
static const Row rows[] = {
  { "link", "bandwidth", AT (link.bandwidth_Bps), TOPO_UNIT_BANDWIDTH,
    { "2 GB/s", NULL }, "1 MB/s", "100 TB/s",
    "Raw, each direction: 4 bytes per cycle of 500 MHz [S] section 1" },
  { "link", "overhead", AT (link.overhead), TOPO_UNIT_SHARE,
    { "3 %", NULL }, "0 %", "90 %",
    "Share of the bandwidth taken by acknowledgements and tokens;\n"
    "guess: what is left between the packet format (92.75 %) and the 1.8 GB/s measured [P]" },
  { "link", "hop_latency", AT (link.hop_latency_ps), TOPO_UNIT_TIME,
    { "40 ns", NULL }, "1 ns", "1 ms",
    "Head of a packet, from a sender's port to the decision of the next router [S] section 1;\n"
    "35 ns seen through MPI [P]" },
  { "link", "midplane_latency", AT (link.midplane_latency_ps), TOPO_UNIT_TIME,
    { "80 ns", NULL }, "0 ns", "1 ms",
    "Added on a link that leaves its midplane; guess: two link chips of 40 ns [S], no cable" },
  { "link", "token_latency", AT (link.token_latency_ps), TOPO_UNIT_TIME,
    { "40 ns", NULL }, "1 ns", "1 ms",
    "From a freed buffer to the sender that may use it; guess: one hop" },

  { "packet", "payload", AT (packet.payload_bytes), TOPO_UNIT_BYTES,
    { "512 B", NULL }, "32 B", "64 KiB",
    "Largest payload [S] section 1" },
  { "packet", "header", AT (packet.header_bytes), TOPO_UNIT_BYTES,
    { "32 B", NULL }, "1 B", "4 KiB",
    "Network and messaging unit headers, 12 + 20 B [S] section 1" },
  { "packet", "trailer", AT (packet.trailer_bytes), TOPO_UNIT_BYTES,
    { "8 B", NULL }, "0 B", "4 KiB",
    "On the wire only, not in buffers [S] section 1" },
  { "packet", "chunk", AT (packet.chunk_bytes), TOPO_UNIT_BYTES,
    { "32 B", NULL }, "1 B", "4 KiB",
    "Unit of buffers, tokens and counters [S] section 1" },

  { "router", "dynamic_tokens", AT (router.dynamic_tokens), TOPO_UNIT_COUNT,
    { "126", NULL }, "1", "65535",
    "Chunks of the dynamic VC's receiver, per link: count [S], unit [D] section 2.2" },
  { "router", "bubble_tokens", AT (router.bubble_tokens), TOPO_UNIT_COUNT,
    { "7", NULL }, "2", "65535",
    "Packets of the bubble VC's receiver, per link: count [S], unit [D] section 2.2" },
  { "router", "priority_tokens", AT (router.priority_tokens), TOPO_UNIT_COUNT,
    { "7", NULL }, "2", "65535",
    "Packets of the priority VC's receiver, per link: count [S], unit [D] section 2.2" },
  { "router", "dynamic_queues", AT (router.dynamic_queues), TOPO_UNIT_COUNT,
    { "5", NULL }, "1", "5",
    "Queues within the dynamic receiver; guess: one per dimension (the chip has seven, [S],\n"
    "what each is for is not documented)" },
  { "router", "receiver_grants", AT (router.receiver_grants), TOPO_UNIT_COUNT,
    { "16", NULL }, "1", "255",
    "Grants of a link to transit packets per grant to injected ones, when both wait\n"
    "[S] section 2.3, from the default personality" },
  { "router", "reception_packets", AT (router.reception_packets), TOPO_UNIT_COUNT,
    { "4", NULL }, "1", "65535",
    "Depth of a network reception FIFO, in packets; guess" },
  { "router", "escape", AT (router.escape), TOPO_UNIT_BOOLEAN,
    { "true", NULL }, NULL, NULL,
    "Dynamic packets may fall to the bubble VC [S] section 2.6" },
  { "router", "stay_on_bubble", AT (router.stay_on_bubble), TOPO_UNIT_BOOLEAN,
    { "false", NULL }, NULL, NULL,
    "... and stay there up to their destination [S] section 2.6: bit off in PAMI" },

  { "messaging", "injection_latency", AT (messaging.injection_latency_ps), TOPO_UNIT_TIME,
    { "20 ns", NULL }, "0 ns", "1 ms",
    "From a written descriptor to the head of the packet in the router; guess: together with\n"
    "one hop and the reception, the 80 ns of the nearest-neighbour headline [R] section 1" },
  { "messaging", "reception_latency", AT (messaging.reception_latency_ps), TOPO_UNIT_TIME,
    { "20 ns", NULL }, "0 ns", "1 ms",
    "From the last byte in memory to software that may see it; guess, as above" },
  { "messaging", "memory_bandwidth", AT (messaging.memory_bandwidth_Bps), TOPO_UNIT_BANDWIDTH,
    { "27.8 GB/s", NULL }, "1 MB/s", "100 TB/s",
    "Writes of arriving packets, all ports of a node together: STREAM [P] section 6.1" },

  { "mpi", "library", AT (mpi.library), TOPO_UNIT_COUNT,
    { NULL, "ompi-1.3" }, NULL, NULL,
    "ompi-1.3, Open MPI of 2009 with its own protocol (ob1, openib); over UCX: ompi-4.1, ompi-5.0,\n"
    "mpich-4.  Setting it sets collectives, the overheads and sm_* below, and [ucx], to its own",
    library_names },
  { "mpi", "sharp", AT (sharp.enabled), TOPO_UNIT_COUNT,
    { NULL, "off" }, NULL, NULL,
    "on: switches reduce barriers, allreduces, reductions and broadcasts on the way, as [sharp] says;\n"
    "off, as HCOLL_ENABLE_SHARP is by default [S] NVIDIA SHARP manual", off_on_names },
  { "mpi", "send_overhead", AT (mpi.send_overhead_ps), TOPO_UNIT_TIME,
    { "1.3 us", NULL }, "0 ns", "1 s",
    "Processor time of a send call; calibrated: half of the latency between neighbours, half-way\n"
    "between the 2.6 and 2.8 us measured [P] section 6.1, less the path in the hardware" },
  { "mpi", "send_overhead", AT (mpi.send_overhead_ps), TOPO_UNIT_TIME,
    { NULL, "200 ns" }, "0 ns", "1 s",
    "Processor time of a send call, apart from copies and from what every piece costs (sm_overhead,\n"
    "fragment_overhead); guess: with these below the 0.48 us per message of one sender between\n"
    "nodes and the 0.58 us inside [M]" },
  { "mpi", "receive_overhead", AT (mpi.receive_overhead_ps), TOPO_UNIT_TIME,
    { "1.3 us", NULL }, "0 ns", "1 s",
    "Processor time of receiving a message; calibrated, the other half" },
  { "mpi", "receive_overhead", AT (mpi.receive_overhead_ps), TOPO_UNIT_TIME,
    { NULL, "200 ns" }, "0 ns", "1 s",
    "Processor time of receiving a message, apart as above; guess: as send_overhead" },
  { "mpi", "call_overhead", AT (mpi.call_overhead_ps), TOPO_UNIT_TIME,
    { "0.1 us", "0.1 us" }, "0 ns", "1 s",
    "Processor time of any other MPI call; guess" },
  { "mpi", "direct_overhead", AT (mpi.direct_overhead_ps), TOPO_UNIT_TIME,
    { "50 ns", NULL }, "0 ns", "1 s",
    "Processor time to write one descriptor of a direct collective; guess: below PAMI's\n"
    "107 million messages/s of a node with 32 ranks [R], which are 0.3 us per message of a rank\n"
    "with everything that a message costs" },
  { "mpi", "envelope", AT (mpi.envelope_bytes), TOPO_UNIT_BYTES,
    { "16 B", NULL }, "0 B", "4 KiB",
    "Software header in the first payload [S] section 4" },
  { "mpi", "envelope", AT (mpi.envelope_bytes), TOPO_UNIT_BYTES,
    { NULL, "24 B" }, "0 B", "4 KiB",
    "Header of the library in front of a message's data; guess: ob1's match header and the tag of\n"
    "the transport" },
  { "mpi", "immediate", AT (mpi.immediate_bytes), TOPO_UNIT_BYTES,
    { "112 B", NULL }, "0 B", "64 KiB",
    "Largest message sent from the look-aside descriptor [S] section 4; not modelled:\n"
    "it must only fit" },
  { "mpi", "eager", AT (mpi.eager_bytes), TOPO_UNIT_BYTES,
    { "4 KiB", NULL }, "0 B", "1 GiB",
    "Largest eager message [S] section 4; older software: 2 KiB" },
  { "mpi", "eager", AT (mpi.eager_bytes), TOPO_UNIT_BYTES,
    { NULL, "12 KiB" }, "0 B", "1 GiB",
    "Largest eager message between nodes, largest header included [S] section C2: openib's limit" },
  { "mpi", "e_split", AT (mpi.e_split_bytes), TOPO_UNIT_BYTES,
    { "2 KiB", NULL }, "1 B", "1024 GiB",
    "Rendezvous data to the E neighbour uses both cables from here on [S] section 1" },
  { "mpi", "dynamic", AT (mpi.dynamic_bytes), TOPO_UNIT_BYTES,
    { "64 KiB", NULL }, "0 B", "1024 GiB",
    "Rendezvous data above this is routed dynamically [S] section 2.7" },
  { "mpi", "dynamic_messages", AT (mpi.dynamic_messages), TOPO_UNIT_COUNT,
    { "64", NULL }, "0", "65535",
    "Dynamically routed messages in flight per rank, the others are deterministic\n"
    "[S] section 2.7" },
  { "mpi", "async_progress", AT (mpi.async_progress), TOPO_UNIT_BOOLEAN,
    { "false", "false" }, NULL, NULL,
    "Rendezvous requests are answered while the rank computes; guess" },
  { "mpi", "pacing", AT (mpi.pacing), TOPO_UNIT_BOOLEAN,
    { "true", NULL }, NULL, NULL,
    "Remote gets are paced above one rack [S] section 3.4" },
  { "mpi", "shm_latency", AT (mpi.shm_latency_ps), TOPO_UNIT_TIME,
    { "0.5 us", NULL }, "0 ns", "1 s",
    "Within a node, sender to receiver; guess" },
  { "mpi", "shm_bandwidth", AT (mpi.shm_bandwidth_Bps), TOPO_UNIT_BANDWIDTH,
    { "6 GB/s", NULL }, "1 MB/s", "100 TB/s",
    "One copy within a node; guess" },

  { "mpi", "collectives", AT (mpi.collectives), TOPO_UNIT_COUNT,
    { "bgq", "ompi-1.3" }, NULL, NULL,
    "Whose rules choose the algorithm of a collective: bgq (PAMI's, and MPICH 3.1's beneath),\n"
    "ompi-1.3 (coll/tuned of Open MPI 1.3.2), ompi-4.1, ompi-5.0 (with coll/han), mpich (4.0)\n"
    "or mpich-4 (4.2 with ch4); ompi-5.0 and mpich-4 have two levels, nodes and their leaders",
    collectives_names },
  { "mpi", "datatype", AT (mpi.datatype_ps), TOPO_UNIT_TIME,
    { NULL, "790 ns" }, "0 ns", "1 ms",
    "Processor time in an algorithm of a collective for a derived datatype that is made, committed,\n"
    "sent with, received with and freed: 2,200 instructions, counted by callgrind in Open MPI 4.1.4,\n"
    "which has 1.3's engine for datatypes [M], at one a cycle of Harpertown's 2.8 GHz; guess: 0.4 to\n"
    "1.6 us, two a cycle to one in two cycles" },
  { "mpi", "datatype_description", AT (mpi.datatype_description_ps), TOPO_UNIT_TIME,
    { NULL, "86 ns" }, "0 ns", "1 ms",
    "For each block of bytes in its description: 240 instructions, as above [M]; guess: 43 to 172 ns" },
  { "mpi", "datatype_block", AT (mpi.datatype_block_ps), TOPO_UNIT_TIME,
    { NULL, "11 ns" }, "0 ns", "1 ms",
    "For each block that is packed, unpacked or copied, its bytes apart: 31 instructions, as\n"
    "above [M]; guess: 5.5 to 22 ns" },
  { "mpi", "sm_eager", AT (ompi.sm_eager_bytes), TOPO_UNIT_BYTES,
    { NULL, "4 KiB" }, "1 B", "1 GiB",
    "Largest eager message within a node, header included [S] section C2" },
  { "mpi", "sm_fragment", AT (ompi.sm_fragment_bytes), TOPO_UNIT_BYTES,
    { NULL, "32 KiB" }, "64 B", "1 GiB",
    "Fragments of longer ones [S] section C2" },
  { "mpi", "sm_depth", AT (ompi.sm_depth), TOPO_UNIT_COUNT,
    { NULL, "3" }, "1", "1024",
    "Fragments in flight per message [S] section C2: send_pipeline_depth" },
  { "mpi", "sm_latency", AT (ompi.sm_latency_ps), TOPO_UNIT_TIME,
    { NULL, "150 ns" }, "0 ns", "1 s",
    "A pointer in a FIFO, from its writer to its reader's poll; guess" },
  { "mpi", "sm_lines", AT (ompi.sm_lines), TOPO_UNIT_COUNT,
    { NULL, "0" }, "0", "64",
    "Cache lines of that FIFO that go from one core to the other on the way of a pointer, each as\n"
    "[memory] says for their distance, on top of sm_latency; 0: all of it is in sm_latency" },
  { "mpi", "sm_overhead", AT (ompi.sm_overhead_ps), TOPO_UNIT_TIME,
    { NULL, "150 ns" }, "0 ns", "1 s",
    "Processor time per fragment on each side, its copy apart; guess" },
  { "mpi", "sm_single_copy", AT (ompi.sm_single_copy), TOPO_UNIT_BOOLEAN,
    { NULL, "false" }, NULL, NULL,
    "Long messages within a node are copied once, by the receiver (KNEM, CMA); Open MPI 1.3 had\n"
    "neither [S] section C2" },
  { "mpi", "send_fragment", AT (ompi.send_fragment_bytes), TOPO_UNIT_BYTES,
    { NULL, "64 KiB" }, "64 B", "1 GiB",
    "Copied fragments over the network [S] section C2: openib's max_send" },
  { "mpi", "send_depth", AT (ompi.send_depth), TOPO_UNIT_COUNT,
    { NULL, "3" }, "1", "1024",
    "Of those in flight per message [S] section C2: send_pipeline_depth" },
  { "mpi", "fragment_overhead", AT (ompi.fragment_overhead_ps), TOPO_UNIT_TIME,
    { NULL, "150 ns" }, "0 ns", "1 s",
    "Processor time of a piece of a message or of a control message over the network: a work\n"
    "request posted or its completion found, on each side; copies and registration apart; guess: as\n"
    "within a node" },
  { "mpi", "rdma_offset", AT (ompi.rdma_offset_bytes), TOPO_UNIT_BYTES,
    { NULL, "1 MiB" }, "0 B", "1024 GiB",
    "Of a message longer than eager and this together the last so many bytes are sent in copied\n"
    "fragments, the rest by RDMA [S] section C2: rdma_pipeline_send_length" },
  { "mpi", "rdma_fragment", AT (ompi.rdma_fragment_bytes), TOPO_UNIT_BYTES,
    { NULL, "1 MiB" }, "4 KiB", "1024 GiB",
    "One RDMA write [S] section C2: rdma_pipeline_frag_size" },
  { "mpi", "rdma_depth", AT (ompi.rdma_depth), TOPO_UNIT_COUNT,
    { NULL, "4" }, "1", "1024",
    "Of those in flight per message [S] section C2: recv_pipeline_depth" },
  { "mpi", "leave_pinned", AT (ompi.leave_pinned), TOPO_UNIT_BOOLEAN,
    { NULL, "true" }, NULL, NULL,
    "Buffers stay registered, so that long messages are one RDMA transfer; on in 1.3.2 where memory\n"
    "hooks work, as on Linux: btl_openib_component.c turns it on unless told otherwise [S], and its\n"
    "authors say so of 1.3.2 (users' list, May 2009)" },
  { "mpi", "registration", AT (ompi.registration_ps), TOPO_UNIT_TIME,
    { NULL, "2 us" }, "0 ns", "1 s",
    "Registering a piece of memory with the adapter, fixed part; guess" },
  { "mpi", "registration_page", AT (ompi.registration_page_ps), TOPO_UNIT_TIME,
    { NULL, "50 ns" }, "0 ns", "1 s",
    "... and per page of 4 KiB; guess" },

  { "collective", "network", AT (collective.in_network), TOPO_UNIT_BOOLEAN,
    { "true", NULL }, NULL, NULL,
    "Broadcasts, reductions and barriers of the whole partition run in the network\n"
    "[S] section 5" },
  { "collective", "barrier_latency", AT (collective.barrier_latency_ps), TOPO_UNIT_TIME,
    { "1.2 us", NULL }, "0 ns", "1 s",
    "Global interrupt, fixed part; guess: with a tree of depth 15 (the half lengths of\n"
    "4x4x4x16x2 added up) the 2.7 us on 2,048 nodes [R] section 6.3" },
  { "collective", "tree_latency", AT (collective.tree_latency_ps), TOPO_UNIT_TIME,
    { "4 us", NULL }, "0 ns", "1 s",
    "Collective network, fixed part; guess: with a tree of depth 15 the allreduce of 5.5 us on\n"
    "2,048 nodes [R] section 6.3" },
  { "collective", "tree_hop_latency", AT (collective.tree_hop_latency_ps), TOPO_UNIT_TIME,
    { "100 ns", NULL }, "0 ns", "1 ms",
    "Per hop of the tree's depth, up and down again; guess: two hops of 50 ns, 40 ns of link and\n"
    "10 ns to combine.  At depth 31, 96 racks, this gives 7.1 us; of the 10.25 us measured there\n"
    "[A] section 6.2 the rest is taken to be the 16 ranks of each node.  A line through both\n"
    "points, 1.05 us + 297 ns per hop, would leave a barrier slower than measured" },
  { "collective", "tree_bandwidth", AT (collective.tree_bandwidth_Bps), TOPO_UNIT_BANDWIDTH,
    { "1.7 GB/s", NULL }, "1 MB/s", "100 TB/s",
    "Of combining and broadcasting [R] section 6.3" },
  { "collective", "rectangle", AT (collective.rectangle_bytes), TOPO_UNIT_BYTES,
    { "64 KiB", NULL }, "0 B", "1024 GiB",
    "Broadcasts above this go over all links [S] section 5" },

  { "node", "compute", AT (node.compute_Flops), TOPO_UNIT_FLOPS,
    { "12.8 Gflop/s", NULL }, "1 flop/s", "1000000 Tflop/s",
    "Turns the operations of a trace into time: one core's peak, 1.6 GHz x 8 [D]" },
  { "node", "compute", AT (node.compute_Flops), TOPO_UNIT_FLOPS,
    { NULL, "11.2 Gflop/s" }, "1 flop/s", "1000000 Tflop/s",
    "Turns the operations of a trace into time: one core's peak, 2.8 GHz x 4 [D]" },

  { "ib", "mtu", AT (ib.mtu_bytes), TOPO_UNIT_BYTES,
    { NULL, "2 KiB" }, "256 B", "4 KiB",
    "Largest payload of a packet [S] section A1: what Open MPI 1.3.2 sets on ConnectX" },
  { "ib", "header", AT (ib.header_bytes), TOPO_UNIT_BYTES,
    { NULL, "26 B" }, "0 B", "256 B",
    "Of every packet: LRH 8, BTH 12, ICRC 4, VCRC 2 [S] section A1" },
  { "ib", "rdma_header", AT (ib.rdma_header_bytes), TOPO_UNIT_BYTES,
    { NULL, "16 B" }, "0 B", "256 B",
    "RETH, on the first packet of an RDMA write [G] section A1" },
  { "ib", "ack", AT (ib.ack_bytes), TOPO_UNIT_BYTES,
    { NULL, "30 B" }, "0 B", "256 B",
    "An acknowledgement, all of it [D] section A1" },
  { "ib", "framing", AT (ib.framing_bytes), TOPO_UNIT_BYTES,
    { NULL, "8 B" }, "0 B", "256 B",
    "Delimiters and idle symbols of a packet, on the wire only: about two symbols on each of four\n"
    "lanes [G] section A1; guess" },
  { "ib", "block", AT (ib.block_bytes), TOPO_UNIT_BYTES,
    { NULL, "64 B" }, "1 B", "4 KiB",
    "Unit of credits [S] section A3" },
  { "ib", "cable_latency", AT (ib.cable_latency_ps), TOPO_UNIT_TIME,
    { NULL, "10 ns" }, "1 ns", "1 ms",
    "Of every link: two metres at 5 ns/m [G] section A4; guess" },
  { "ib", "fec_edr_latency", AT (ib.fec_edr_latency_ps), TOPO_UNIT_TIME,
    { NULL, "0 ns" }, "0 ns", "1 ms",
    "Forward error correction, added on every link of EDR, where it is an option; guess: off" },
  { "ib", "fec_hdr_latency", AT (ib.fec_hdr_latency_ps), TOPO_UNIT_TIME,
    { NULL, "50 ns" }, "0 ns", "1 ms",
    "... on every link of HDR, which always has it [S]; about 50 ns [G]; guess" },
  { "ib", "fec_ndr_latency", AT (ib.fec_ndr_latency_ps), TOPO_UNIT_TIME,
    { NULL, "100 ns" }, "0 ns", "1 ms",
    "... on every link of NDR, which always has it [S]; about 100 ns [G]; guess" },
  { "ib", "credit_latency", AT (ib.credit_latency_ps), TOPO_UNIT_TIME,
    { NULL, "100 ns" }, "1 ns", "1 ms",
    "From a freed buffer to the sender that may use it; guess: as a packet through a switch" },

  { "switch", "latency", AT (switches.latency_ps), TOPO_UNIT_TIME,
    { NULL, "100 ns" }, "1 ns", "1 ms",
    "Head of a packet in to the decision where it goes [S] section A4: 50 + 50 ns in ib_model;\n"
    "InfiniScale IV about 100 ns [G]" },
  { "switch", "buffer", AT (switches.buffer_bytes), TOPO_UNIT_BYTES,
    { NULL, "64 KiB" }, "256 B", "1 GiB",
    "Per input port, divided evenly among the data VLs [D] section A3: 1000 units of 64 B" },
  { "switch", "vls", AT (switches.vls), TOPO_UNIT_COUNT,
    { NULL, "4" }, "1", "15",
    "Data VLs of every port: 4 or 8 in typical hardware [G] section A3; guess" },
  { "switch", "reads", AT (switches.reads), TOPO_UNIT_COUNT,
    { NULL, "3" }, "1", "255",
    "Packets that may leave one input port at a time [S] section A3: maxBeingSent, 1 to 3" },
  { "switch", "adaptive", AT (switches.adaptive), TOPO_UNIT_COUNT,
    { NULL, "none" }, NULL, NULL,
    "none: the table's port; free: the least loaded one of those that are as near; detours: in a\n"
    "Dragonfly+ also those of ways over another group", adaptive_names },
  { "switch", "detour_factor", AT (switches.detour_factor), TOPO_UNIT_COUNT,
    { NULL, "2" }, "1", "1000",
    "With adaptive = detours a packet takes one when more than so many times its blocks are ahead\n"
    "of it on a shortest way: a detour has two cables between groups instead of one (UGAL: Singh,\n"
    "\"Load-balanced routing in interconnection networks\", 2005); guess" },
  { "switch", "vlarb_high", AT (switches.vlarb_high), TOPO_UNIT_VL_WEIGHTS,
    { NULL, "none" }, NULL, NULL,
    "VL arbiter of all ports, high priority: VL:weight in turns, weights 0..255 in 64 bytes, as\n"
    "OpenSM's qos_vlarb_high [S] section A3; counts where tables use several VLs" },
  { "switch", "vlarb_low", AT (switches.vlarb_low), TOPO_UNIT_VL_WEIGHTS,
    { NULL, "0:4,1:4,2:4,3:4,4:4,5:4,6:4,7:4,8:4,9:4,10:4,11:4,12:4,13:4,14:4" }, NULL, NULL,
    "The same for low priority: all data VLs alike; guess" },
  { "switch", "high_limit", AT (switches.high_limit), TOPO_UNIT_COUNT,
    { NULL, "0" }, "0", "255",
    "What goes with high priority before low has its turn, in 4096 bytes; 0: one packet,\n"
    "255: no limit; OpenSM's qos_high_limit [G] section A3" },

  { "hca", "model", AT (hca.model), TOPO_UNIT_COUNT,
    { NULL, "connectx-2" }, NULL, NULL,
    "What UCX knows of the adapter: its transports, and whether it has memory that the processor\n"
    "writes short messages into (from connectx-5 on)", adapter_names },
  { "hca", "pcie_bandwidth", AT (hca.pcie_bandwidth_Bps), TOPO_UNIT_BANDWIDTH,
    { NULL, "3.25 GB/s" }, "1 MB/s", "100 TB/s",
    "Payload between adapter and memory, each direction [S] section A5: gen2 x8" },
  { "hca", "send_latency", AT (hca.send_latency_ps), TOPO_UNIT_TIME,
    { NULL, "300 ns" }, "0 ns", "1 ms",
    "From a work request that is rung in to its first packet on the wire; guess" },
  { "hca", "receive_latency", AT (hca.receive_latency_ps), TOPO_UNIT_TIME,
    { NULL, "250 ns" }, "0 ns", "1 ms",
    "From the last byte off the wire to software that may see it; guess" },
  { "hca", "read_latency", AT (hca.read_latency_ps), TOPO_UNIT_TIME,
    { NULL, "1.1 us" }, "0 ns", "1 ms",
    "Added where the data is not in the work request itself: the adapter is rung for and reads\n"
    "first the request, then the data over PCIe [S] libmlx4, mlx4_post_send; calibrated: the step\n"
    "of 1.2 us from 64 to 128 B between ConnectX hosts [M] handbook, measured-infiniband.md" },
  { "hca", "device_latency", AT (hca.device_latency_ps), TOPO_UNIT_TIME,
    { NULL, "200 ns" }, "0 ns", "1 ms",
    "Added where the data is in the adapter's own memory: messages of UCX above inline, up to 2 KB;\n"
    "calibrated: the step of 0.2 us from 128 to 256 B between ConnectX-6 hosts [M] csd3-hdr100-ompi3" },
  { "hca", "inline", AT (hca.inline_bytes), TOPO_UNIT_BYTES,
    { NULL, "128 B" }, "0 B", "4 KiB",
    "Largest message, software's headers included, within the work request [S] section C2" },
  { "hca", "message_gap", AT (hca.message_gap_ps), TOPO_UNIT_TIME,
    { NULL, "100 ns" }, "0 ns", "1 ms",
    "Between two messages of one adapter, each direction; guess: ten million a second" },
  { "hca", "buffer", AT (hca.buffer_bytes), TOPO_UNIT_BYTES,
    { NULL, "64 KiB" }, "256 B", "1 GiB",
    "Input buffer of an adapter's port, divided among the data VLs; guess: as a switch's" },
  { "hca", "read_ahead", AT (hca.read_ahead), TOPO_UNIT_COUNT,
    { NULL, "4" }, "1", "255",
    "Packets read from memory before the link takes them, per port and VL; guess" },
  { "hca", "turn", AT (hca.turn_packets), TOPO_UNIT_COUNT,
    { NULL, "4" }, "1", "65535",
    "Packets of a request that a queue pair sends before it is the next one's turn; guess: several,\n"
    "as linear all-to-alls of two packets take hardly longer than those of one [M]" },
  { "hca", "dynamic_gap", AT (hca.dynamic_gap_ps), TOPO_UNIT_TIME,
    { NULL, "12.5 ns" }, "0 ns", "1 ms",
    "message_gap where UCX takes dynamic connections (DC: above 60 ranks on mlx5); calibrated: 8 B\n"
    "between 32 pairs, 79 to 82 million a second [M] alaska-edr-ompi4, csd3-hdr100-ompi3" },
  { "hca", "receive_inline", AT (hca.receive_inline_bytes), TOPO_UNIT_BYTES,
    { NULL, "64 B" }, "0 B", "4 KiB",
    "Largest message, software's headers included, that the adapter writes with its completion:\n"
    "it needs no receive buffer [S] uct, rc_iface.c: RX_INLINE" },
  { "hca", "receive_queues", AT (hca.receive_queues), TOPO_UNIT_COUNT,
    { NULL, "0" }, "0", "65535",
    "Ranks of whose receive queues an adapter holds the next buffers, those that it wrote to last;\n"
    "0: of all; guess" },
  { "hca", "queue_miss", AT (hca.queue_miss_ps), TOPO_UNIT_TIME,
    { NULL, "330 ns" }, "0 ns", "1 ms",
    "To fetch those of another rank, context_fetches at a time; guess" },
  { "hca", "contexts", AT (hca.contexts), TOPO_UNIT_COUNT,
    { NULL, "128" }, "0", "16777216",
    "Contexts of queue pairs that an adapter holds for sending, and as many for receiving, those used\n"
    "last; others are fetched from memory; 0: it holds all; guess: ConnectX of 2009" },
  { "hca", "context_miss", AT (hca.context_miss_ps), TOPO_UNIT_TIME,
    { NULL, "6.8 us" }, "0 ns", "1 ms",
    "To fetch one: reads over PCIe that depend on each other; calibrated: pairwise all-to-alls of 10 B\n"
    "on full nodes, 48 us a step [M] validation/reports/infiniband.md" },
  { "hca", "context_fetches", AT (hca.context_fetches), TOPO_UNIT_COUNT,
    { NULL, "1" }, "1", "255",
    "Fetches under way at a time, for sending and for receiving; guess" },

  { "congestion", "control", AT (congestion.is_on), TOPO_UNIT_BOOLEAN,
    { NULL, "false" }, NULL, NULL,
    "FECN marks by switches, BECN by adapters, rates by their tables [S] section A7: off" },
  { "congestion", "threshold", AT (congestion.threshold), TOPO_UNIT_COUNT,
    { NULL, "15" }, "0", "15",
    "0: nothing is marked ... 15: as soon as a packet waits [S] section A7" },
  { "congestion", "packet_size", AT (congestion.packet_size_blocks), TOPO_UNIT_COUNT,
    { NULL, "0" }, "0", "63",
    "Blocks of the smallest packet that is marked [S] section A7" },
  { "congestion", "marking_rate", AT (congestion.marking_rate), TOPO_UNIT_COUNT,
    { NULL, "0" }, "0", "65535",
    "Packets that pass between two marked ones [S] section A7" },
  { "congestion", "ccti_timer", AT (congestion.ccti_timer_ps), TOPO_UNIT_TIME,
    { NULL, "30 us" }, "1 ns", "1 s",
    "After which the index falls by 1 [S] section A7: ib_model" },
  { "congestion", "ccti_increase", AT (congestion.ccti_increase), TOPO_UNIT_COUNT,
    { NULL, "1" }, "0", "127",
    "Of the index, per BECN [S] section A7" },
  { "congestion", "trigger_threshold", AT (congestion.ccti_trigger), TOPO_UNIT_COUNT,
    { NULL, "1" }, "0", "127",
    "Index from which on the adapter reports congestion [S] section A7" },
  { "congestion", "ccti_min", AT (congestion.ccti_min), TOPO_UNIT_COUNT,
    { NULL, "0" }, "0", "127",
    "Below which the index does not fall [S] section A7" },
  { "congestion", "ccti_limit", AT (congestion.ccti_limit), TOPO_UNIT_COUNT,
    { NULL, "127" }, "0", "127",
    "Above which it does not rise [S] section A7: ib_model" },

  { "sharp", "min_leaders", AT (sharp.min_leaders), TOPO_UNIT_COUNT,
    { NULL, "4" }, "2", "1048576",
    "Nodes of a communicator from which on it is used [S] NVIDIA SHARP manual: HCOLL_SHARP_NP" },
  { "sharp", "payload", AT (sharp.payload_bytes), TOPO_UNIT_BYTES,
    { NULL, "0 B" }, "0 B", "4 KiB",
    "Of a transaction, at most; 0: 256 B on Switch-IB 2 (EDR), from Quantum (HDR) on 1 KiB, the\n"
    "library's limit [S] NVIDIA SHARP manual 2.6.1: SHARP_COLL_JOB_QUOTA_PAYLOAD_PER_OST" },
  { "sharp", "transactions", AT (sharp.transactions), TOPO_UNIT_COUNT,
    { NULL, "2" }, "1", "65535",
    "Of a communicator in flight [S] NVIDIA SHARP manual: SHARP_COLL_OSTS_PER_GROUP, dynamic, at\n"
    "least 2; guess: the least" },
  { "sharp", "max", AT (sharp.max_bytes), TOPO_UNIT_BYTES,
    { NULL, "0 B" }, "0 B", "1024 GiB",
    "Largest call; larger ones take the library's algorithm; 0: transactions times payload [S]\n"
    "NVIDIA SHARP manual: HCOLL_ALLREDUCE_SHARP_MAX" },
  { "sharp", "aggregation_latency", AT (sharp.aggregation_ps), TOPO_UNIT_TIME,
    { NULL, "50 ns" }, "0 ns", "1 ms",
    "Of each switch on the way up, beside switch.latency: its unit combines what its children sent;\n"
    "guess: half of a switch's own latency" },

  { "ucx", "version", AT (ucx.version), TOPO_UNIT_COUNT,
    { NULL, "12" }, "7", "19",
    "UCX 1.VERSION, for libraries over UCX, as all of this group; from 16 on it chooses among its\n"
    "ways by another model" },
  { "ucx", "single_copy", AT (ucx.single_copy), TOPO_UNIT_COUNT,
    { NULL, "cma" }, NULL, NULL,
    "How long messages within a node are copied once: none, cma (in every Linux), knem, xpmem",
    single_copy_names },
  { "ucx", "rndv_thresh", AT (ucx.rndv_thresh_bytes), TOPO_UNIT_BYTES,
    { NULL, "0 B" }, "0 B", "1024 GiB",
    "UCX_RNDV_THRESH, the largest message that is no rendezvous, between nodes and within; 0: auto,\n"
    "by UCX's model of what each way costs" },
  { "ucx", "zcopy_thresh", AT (ucx.zcopy_thresh_bytes), TOPO_UNIT_BYTES,
    { NULL, "0 B" }, "0 B", "1024 GiB",
    "UCX_ZCOPY_THRESH, the largest message that the sender copies; 0: auto, likewise" },
  { "ucx", "seg_size", AT (ucx.segment_bytes), TOPO_UNIT_BYTES,
    { NULL, "0 B" }, "0 B", "1 GiB",
    "UCX_RC_SEG_SIZE and its like, the largest fragment with its headers; 0: 8256 B, before 1.9 8 KiB" },
  { "ucx", "rails", AT (ucx.rails), TOPO_UNIT_COUNT,
    { NULL, "2" }, "1", "4",
    "UCX_MAX_RNDV_RAILS: adapters that share the data of one rendezvous [S] ucp_context.c" },
  { "ucx", "copy_bandwidth", AT (ucx.copy_bandwidth_Bps), TOPO_UNIT_BANDWIDTH,
    { NULL, "6082 MB/s" }, "1 MB/s", "100 TB/s",
    "What a processor copies into buffers that the adapter reads next: 5800 MiB/s, UCX_BCOPY_BW on\n"
    "Intel's (AMD's: 5008) [S] ucs, arch/x86_64/cpu.c; 8 KB messages of alaska, csd3 and abci agree [M]" },
  { "ucx", "post", AT (ucx.post_ps), TOPO_UNIT_TIME,
    { NULL, "80 ns" }, "0 ns", "1 s",
    "Processor time of a work request: building it 40 ns, doorbell 40 ns [S] uct, ib_iface.c" },
  { "ucx", "receive", AT (ucx.receive_ps), TOPO_UNIT_TIME,
    { NULL, "40 ns" }, "0 ns", "1 s",
    "Processor time of a message that has come [S] uct, ib_iface.c" },
  { "ucx", "completion", AT (ucx.completion_ps), TOPO_UNIT_TIME,
    { NULL, "20 ns" }, "0 ns", "1 s",
    "Processor time of the end of a request that the adapter tells of [S] uct, ib_iface.c" },
  { "ucx", "registration", AT (ucx.registration_ps), TOPO_UNIT_TIME,
    { NULL, "180 ns" }, "0 ns", "1 s",
    "To find a buffer among the registered ones; 50 ns from 1.16 on [S] uct, ib_md.c" },
  { "ucx", "single_copy_overhead", AT (ucx.single_copy_overhead_ps), TOPO_UNIT_TIME,
    { NULL, "2 us" }, "0 ns", "1 s",
    "Processor time to begin a single copy: a system call that looks up the other's pages, with CMA and\n"
    "KNEM; UCX's estimate up to 1.15, later 0.5 us [S] uct, scopy" },

  { "memory", "core_bandwidth", AT (memory.core_bandwidth_Bps), TOPO_UNIT_BANDWIDTH,
    { NULL, "5 GB/s" }, "1 MB/s", "100 TB/s",
    "What one core copies when all is in its own caches; guess" },
  { "memory", "core_memory_bandwidth", AT (memory.core_memory_bandwidth_Bps), TOPO_UNIT_BANDWIDTH,
    { NULL, "4.5 GB/s" }, "1 MB/s", "100 TB/s",
    "Lines that one core fetches from memory, for reading or to be written: STREAM on one core\n"
    "counts as many bytes, 4-5 GB/s [G] section C1; guess" },
  { "memory", "core_transfer_bandwidth", AT (memory.core_transfer_bandwidth_Bps), TOPO_UNIT_BANDWIDTH,
    { NULL, "2 GB/s" }, "1 MB/s", "100 TB/s",
    "Lines that one core fetches from a cache that is not above it; guess: slower than from\n"
    "memory, since the other cache must be asked and memory written on the way" },
  { "memory", "cache_bandwidth", AT (memory.cache_bandwidth_Bps), TOPO_UNIT_BANDWIDTH,
    { NULL, "20 GB/s" }, "1 MB/s", "100 TB/s",
    "Of a shared cache, all its cores together, reads and writes; guess" },
  { "memory", "group_bandwidth", AT (memory.group_bandwidth_Bps), TOPO_UNIT_BANDWIDTH,
    { NULL, "0 MB/s" }, "0 MB/s", "100 TB/s",
    "Between a core group (the cores below an outermost cache that is not the whole package's)\n"
    "and the rest of the node, both directions together; 0: no limit of its own" },
  { "memory", "bus_bandwidth", AT (memory.bus_bandwidth_Bps), TOPO_UNIT_BANDWIDTH,
    { NULL, "8 GB/s" }, "1 MB/s", "100 TB/s",
    "Between a package and the rest of the node, both directions together.  A front-side bus of\n"
    "1600 MT/s carries 12.8 GB/s in all [S] Xbit Labs, Nehalem microarchitecture, p. 8; STREAM on\n"
    "one package 5-6 GB/s [G] section C1 and the write allocations that it does not count (a third\n"
    "more) make 6.7 to 8; guess" },
  { "memory", "bandwidth", AT (memory.dram_bandwidth_Bps), TOPO_UNIT_BANDWIDTH,
    { NULL, "12 GB/s" }, "1 MB/s", "100 TB/s",
    "Of one NUMA node's memory, reads and writes together: 8-10 GB/s of STREAM [G] section C1 and\n"
    "the write allocations that STREAM does not count (a third more); guess" },
  { "memory", "hbm_bandwidth", AT (memory.hbm_bandwidth_Bps), TOPO_UNIT_BANDWIDTH,
    { NULL, "200 GB/s" }, "1 MB/s", "100 TB/s",
    "The same of a NUMA node of high-bandwidth memory (hwloc's subtypes HBM and MCDRAM): a stack of\n"
    "HBM2E, 1,024 bits at 3.2 GT/s, carries 410 GB/s [D]; guess: half of it" },
  { "memory", "use_hbm", AT (memory.uses_hbm), TOPO_UNIT_BOOLEAN,
    { NULL, "false" }, NULL, NULL,
    "Ranks have their buffers in the high-bandwidth memory near their core, where there is one (as\n"
    "with numactl); else in the other memory near it, Linux's default" },
  { "memory", "cache_share", AT (memory.cache_share), TOPO_UNIT_SHARE,
    { NULL, "50 %" }, "0 %", "100 %",
    "Of a cache that one buffer of a message may fill; guess: two buffers share it" },
  { "memory", "thread_slowdown", AT (memory.thread_slowdown), TOPO_UNIT_SHARE,
    { NULL, "60 %" }, "0 %", "100 %",
    "How much longer computation in a core takes while another thread of the core computes too (the\n"
    "model of aggregation): SPEC MPI2007 on X5570 with 16 instead of 8 ranks a node, codes that hardly wait\n"
    "for memory: tachyon 57 %, lammps 60 %, tera_tf 61 % [M]" },
  { "memory", "thread_latency", AT (memory.thread_latency_ps), TOPO_UNIT_TIME,
    { NULL, "8 ns" }, "0 ns", "1 ms",
    "Of the first line of a piece that another thread of the same core has written: 7 to 10 ns on\n"
    "Cascade Lake, Ice Lake and Milan [M] core-to-core latencies" },
  { "memory", "cache_latency", AT (memory.cache_latency_ps), TOPO_UNIT_TIME,
    { NULL, "0 ns" }, "0 ns", "1 ms",
    "Of the first line of a piece that another core has written, when the two share a cache; 0: no\n"
    "more than a hit in that cache; guess" },
  { "memory", "transfer_latency", AT (memory.transfer_latency_ps), TOPO_UNIT_TIME,
    { NULL, "100 ns" }, "0 ns", "1 ms",
    "Of the first line of a piece, from memory or from a cache that is not above the core: 80-100\n"
    "ns for memory, about the same between caches [G] section C1; guess" },
  { "memory", "domain_latency", AT (memory.domain_latency_ps), TOPO_UNIT_TIME,
    { NULL, "0 ns" }, "0 ns", "1 ms",
    "More, when the other core or the line's memory is in another NUMA domain of the package; guess" },
  { "memory", "package_latency", AT (memory.package_latency_ps), TOPO_UNIT_TIME,
    { NULL, "30 ns" }, "0 ns", "1 ms",
    "More, when it, or the memory that is its home, is in another package; all further lines take\n"
    "as much longer in proportion; guess: a second bus to cross" },
  { "memory", "transfer_updates_memory", AT (memory.transfer_updates_memory), TOPO_UNIT_BOOLEAN,
    { NULL, "true" }, NULL, NULL,
    "A changed line that goes from cache to cache is written to memory too [S] Intel SDM vol. 3,\n"
    "11.2, implicit write-back; not so with an owned state (AMD)" },
  { "memory", "migratory", AT (memory.migratory), TOPO_UNIT_BOOLEAN,
    { NULL, "false" }, NULL, NULL,
    "A changed line leaves its cache for that of its reader, who may change it at once; else both\n"
    "have it, and to change it is one more hand-over [G]" },
  { "memory", "dma_to_cache", AT (memory.dma_to_cache), TOPO_UNIT_BOOLEAN,
    { NULL, "false" }, NULL, NULL,
    "The adapter writes to and reads from the outermost cache of its package (Intel's DDIO, from\n"
    "Sandy Bridge on [G]) instead of memory" },
  { "memory", "copy_quantum", AT (memory.copy_quantum_bytes), TOPO_UNIT_BYTES,
    { NULL, "4 KiB" }, "64 B", "1 GiB",
    "Copies that compete take turns in pieces of this; of the model, not of a machine" },
};
/* clang-format on */

static void
store (TopoParameters *parameters, const Row *row, TopoValue value)
{
  char *field = (char *) parameters + row->offset;
  int64_t time_ps = (int64_t) value.whole;
  bool truth = value.whole != 0;

  switch (row->unit) {
  case TOPO_UNIT_TIME: memcpy (field, &time_ps, sizeof time_ps); break;
  case TOPO_UNIT_BOOLEAN: memcpy (field, &truth, sizeof truth); break;
  case TOPO_UNIT_SHARE:
  case TOPO_UNIT_FLOPS: memcpy (field, &value.real, sizeof value.real); break;
  case TOPO_UNIT_BYTES:
  case TOPO_UNIT_BANDWIDTH:
  case TOPO_UNIT_COUNT: memcpy (field, &value.whole, sizeof value.whole); break;
  case TOPO_UNIT_VL_WEIGHTS: memcpy (field, &value.weights, sizeof value.weights); break;
  }
}

/* The family has this key. */
static bool
has_row (TopoFamily family, const Row *row)
{
  return row->initial[family] != NULL;
}

static TopoValue
fetch (const TopoParameters *parameters, const Row *row)
{
  const char *field = (const char *) parameters + row->offset;
  TopoValue value = { 0 };

  if (topo_unit_is_real (row->unit))
    memcpy (&value.real, field, sizeof value.real);
  else if (row->unit == TOPO_UNIT_BOOLEAN)
    value.whole = *(const bool *) field;
  else if (row->unit == TOPO_UNIT_VL_WEIGHTS)
    memcpy (&value.weights, field, sizeof value.weights);
  else
    memcpy (&value.whole, field, sizeof value.whole);
  return value;
}

static gboolean
parse_value (const Row *row, const char *text, TopoValue *value, GError **error)
{
  g_autofree char *list = NULL, *meant = NULL;

  if (row->choices == NULL)
    return topo_unit_parse (row->unit, text, value, error);
  for (uint64_t at = 0; row->choices[at] != NULL; at++)
    if (g_str_equal (row->choices[at], text)) {
      *value = (TopoValue){ .whole = at };
      return TRUE;
    }
  list = g_strjoinv (", ", (char **) row->choices);
  meant = base_did_you_mean (text, row->choices);
  g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX, "expected one of %s, found \"%s\"%s", list,
               text, meant);
  return FALSE;
}

/* The value of a text in the table. */
static TopoValue
table_value (const Row *row, const char *text)
{
  g_autoptr (GError) error = NULL;
  TopoValue value;

  if (!parse_value (row, text, &value, &error))
    g_error ("%s.%s: %s", row->group, row->key, error->message);
  return value;
}

void
topo_parameters_default (TopoParameters *parameters, TopoFamily family)
{
  *parameters = (TopoParameters){ .family = family };
  for (gsize at = 0; at < G_N_ELEMENTS (rows); at++)
    if (has_row (family, &rows[at]))
      store (parameters, &rows[at], table_value (&rows[at], rows[at].initial[family]));
}

static const Row *find_row (TopoFamily family, const char *group, const char *key);

/* A library brings the values of the keys that go with it: those of its notes, otherwise the
 * family's. */
static void
apply_library (TopoParameters *parameters)
{
  const TopoParameterNote *notes = topo_library_notes ((TopoLibrary) parameters->mpi.library);

  for (gsize at = 0; at < G_N_ELEMENTS (rows); at++)
    if (has_row (parameters->family, &rows[at]) && topo_library_has (rows[at].group, rows[at].key))
      store (parameters, &rows[at], table_value (&rows[at], rows[at].initial[parameters->family]));
  for (; notes->key != NULL; notes++) {
    g_auto (GStrv) parts = g_strsplit (notes->key, ".", 2);
    const Row *row = find_row (parameters->family, parts[0], parts[1]);

    store (parameters, row, table_value (row, notes->value));
  }
}

static gboolean
apply (TopoParameters *parameters, const Row *row, const char *text, GError **error)
{
  TopoValue value;

  if (!parse_value (row, text, &value, error)) {
    g_prefix_error (error, "%s.%s: ", row->group, row->key);
    return FALSE;
  }
  if (row->least != NULL) {
    TopoValue least = table_value (row, row->least), most = table_value (row, row->most);
    bool is_within = topo_unit_is_real (row->unit)
                         ? value.real >= least.real && value.real <= most.real
                         : value.whole >= least.whole && value.whole <= most.whole;

    if (!is_within) {
      g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE, "%s.%s: \"%s\" is not within %s .. %s",
                   row->group, row->key, text, row->least, row->most);
      return FALSE;
    }
  }
  store (parameters, row, value);
  if (row->offset == AT (mpi.library))
    apply_library (parameters);
  return TRUE;
}

/* A key whose value contradicts other parameters, and the reason; NULL: none does. */
static const char *
find_conflict (const TopoParameters *parameters, const char **reason)
{
  if (parameters->family == TOPO_FAMILY_FABRIC) {
    uint64_t packet_bytes =
        parameters->ib.header_bytes + parameters->ib.rdma_header_bytes + parameters->ib.mtu_bytes;

    if (parameters->switches.buffer_bytes / parameters->switches.vls < packet_bytes) {
      *reason = "must hold at least one full packet per data VL (ib.mtu, ib.header, switch.vls)";
      return "switch.buffer";
    }
    if (parameters->hca.buffer_bytes / parameters->switches.vls < packet_bytes) {
      *reason = "must hold at least one full packet per data VL (ib.mtu, ib.header, switch.vls)";
      return "hca.buffer";
    }
    if (parameters->ompi.sm_eager_bytes <= parameters->mpi.envelope_bytes) {
      *reason = "must be more than mpi.envelope";
      return "mpi.sm_eager";
    }
    if (parameters->sharp.enabled != 0 && parameters->mpi.library == TOPO_LIBRARY_OMPI13) {
      *reason = "needs a library over UCX (mpi.library): SHARP is younger than Open MPI 1.3";
      return "mpi.sharp";
    }
  } else {
    uint64_t packet_bytes = parameters->packet.header_bytes + parameters->packet.payload_bytes;

    if (parameters->packet.payload_bytes % parameters->packet.chunk_bytes != 0) {
      *reason = "must be a multiple of packet.chunk";
      return "packet.payload";
    }
    if (parameters->router.dynamic_tokens * parameters->packet.chunk_bytes < packet_bytes) {
      *reason = "must hold at least one full packet (packet.header + packet.payload)";
      return "router.dynamic_tokens";
    }
    if (parameters->mpi.envelope_bytes + parameters->mpi.immediate_bytes >
        parameters->packet.payload_bytes) {
      *reason = "must fit into one packet together with mpi.envelope";
      return "mpi.immediate";
    }
    if (parameters->mpi.immediate_bytes > parameters->mpi.eager_bytes) {
      *reason = "must be at least mpi.immediate";
      return "mpi.eager";
    }
  }
  return NULL;
}

static const Row *
find_row (TopoFamily family, const char *group, const char *key)
{
  for (gsize at = 0; at < G_N_ELEMENTS (rows); at++)
    if (has_row (family, &rows[at]) && g_str_equal (rows[at].group, group) &&
        g_str_equal (rows[at].key, key))
      return &rows[at];
  return NULL;
}

static bool
is_group (TopoFamily family, const char *group)
{
  for (gsize at = 0; at < G_N_ELEMENTS (rows); at++)
    if (has_row (family, &rows[at]) && g_str_equal (rows[at].group, group))
      return true;
  return false;
}

static void
set_unknown (TopoFamily family, const char *group, const char *key, GError **error)
{
  bool known = is_group (family, group);
  g_autoptr (GPtrArray) names = g_ptr_array_new (); /* groups, or the keys of a known group */
  g_autofree char *possible = NULL, *meant = NULL;
  const char *last = "";

  for (gsize at = 0; at < G_N_ELEMENTS (rows); at++) {
    const char *name = known ? rows[at].key : rows[at].group;

    if (!has_row (family, &rows[at]) || (known && !g_str_equal (rows[at].group, group)) ||
        g_str_equal (name, last))
      continue;
    g_ptr_array_add (names, (gpointer) name);
    last = name;
  }
  g_ptr_array_add (names, NULL);
  possible = g_strjoinv (", ", (char **) names->pdata);
  meant = base_did_you_mean (known ? key : group, (const char *const *) names->pdata);
  if (known)
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX, "unknown key \"%s\" in [%s] (known: %s)%s",
                 key, group, possible, meant);
  else
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX, "unknown group \"%s\" (known: %s)%s", group,
                 possible, meant);
}

/* path is NULL when the values came from the command line. */
static gboolean
check_together (const TopoParameters *parameters, const char *path, GError **error)
{
  const char *reason = NULL, *name = find_conflict (parameters, &reason);

  if (name == NULL)
    return TRUE;
  g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE, "%s %s", name, reason);
  if (path != NULL) {
    g_auto (GStrv) parts = g_strsplit (name, ".", 2);
    g_autofree char *where = topo_keyfile_where (path, parts[0], parts[1]);

    g_prefix_error (error, "%s: ", where);
  }
  return FALSE;
}

gboolean
topo_parameters_load (TopoParameters *parameters, GKeyFile *file, const char *path,
                      const char *const *ignore_groups, GError **error)
{
  g_auto (GStrv) groups = g_key_file_get_groups (file, NULL);
  TopoParameters loaded = *parameters;
  g_autofree char *library = g_key_file_get_value (file, "mpi", "library", NULL);
  const Row *first = find_row (parameters->family, "mpi", "library");

  /* The keys that go with it come after it, wherever they stand. */
  if (library != NULL && first != NULL && !apply (&loaded, first, g_strstrip (library), error)) {
    g_autofree char *where = topo_keyfile_where (path, "mpi", "library");

    g_prefix_error (error, "%s: ", where);
    return FALSE;
  }

  for (gsize at = 0; groups[at] != NULL; at++) {
    const char *group = groups[at];
    g_auto (GStrv) keys = NULL;

    if (ignore_groups != NULL && g_strv_contains (ignore_groups, group))
      continue;
    if (!is_group (parameters->family, group)) {
      g_autofree char *where = topo_keyfile_where (path, group, NULL);

      set_unknown (parameters->family, group, "", error);
      g_prefix_error (error, "%s: ", where);
      return FALSE;
    }
    keys = g_key_file_get_keys (file, group, NULL, NULL);
    for (gsize key = 0; keys[key] != NULL; key++) {
      const Row *row = find_row (parameters->family, group, keys[key]);
      g_autofree char *text = g_key_file_get_value (file, group, keys[key], NULL);
      g_autofree char *where = NULL;

      if (row != NULL && row == first)
        continue;
      if (row == NULL)
        set_unknown (parameters->family, group, keys[key], error);
      else if (apply (&loaded, row, g_strstrip (text), error))
        continue;
      where = topo_keyfile_where (path, group, keys[key]);
      g_prefix_error (error, "%s: ", where);
      return FALSE;
    }
  }
  if (!check_together (&loaded, path, error))
    return FALSE;
  *parameters = loaded;
  return TRUE;
}

gboolean
topo_parameters_set (TopoParameters *parameters, const char *key, const char *value, GError **error)
{
  g_auto (GStrv) parts = g_strsplit (key, ".", 2);
  g_autofree char *text = g_strstrip (g_strdup (value));
  TopoParameters changed = *parameters;
  const Row *row;

  if (g_strv_length (parts) != 2) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX, "expected group.key, found \"%s\"", key);
    return FALSE;
  }
  row = find_row (parameters->family, parts[0], parts[1]);
  if (row == NULL) {
    set_unknown (parameters->family, parts[0], parts[1], error);
    return FALSE;
  }
  if (!apply (&changed, row, text, error) || !check_together (&changed, NULL, error))
    return FALSE;
  *parameters = changed;
  return TRUE;
}

/* Appends the first `length` bytes as comments. */
static void
print_about (const char *about, gsize length, GString *out)
{
  g_autofree char *text = g_strndup (about, length);
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);

  for (gsize at = 0; lines[at] != NULL; at++)
    g_string_append_printf (out, "# %s\n", lines[at]);
}

static char *
print_value (const Row *row, TopoValue value)
{
  return row->choices != NULL ? g_strdup (row->choices[value.whole])
                              : topo_unit_print (row->unit, value);
}

/* What a key means, without where its default comes from. */
static gsize
meaning_length (const char *about)
{
  for (const char *at = strchr (about, ';'); at != NULL; at = strchr (at + 1, ';')) {
    const char *next = at + 1 + strspn (at + 1, " \n");

    if (g_str_has_prefix (next, "guess") || g_str_has_prefix (next, "calibrated"))
      return (gsize) (at - about);
  }
  return strlen (about);
}

/* The note that explains the value of a key; NULL: none does. */
static const TopoParameterNote *
note_of (const Row *row, const char *value, const TopoParameterNote *notes, uint32_t n_notes)
{
  for (uint32_t at = 0; at < n_notes; at++) {
    g_auto (GStrv) parts = g_strsplit (notes[at].key, ".", 2);
    g_autofree char *noted = NULL;

    if (!g_str_equal (parts[0], row->group) || !g_str_equal (parts[1], row->key))
      continue;
    noted = print_value (row, table_value (row, notes[at].value));
    if (g_str_equal (noted, value) && notes[at].about != NULL)
      return &notes[at];
  }
  return NULL;
}

/* Nothing reads the key, and it has its default. */
static bool
is_idle (const TopoParameters *parameters, const Row *row, const char *value, const char *initial,
         const char *const *unused)
{
  g_autofree char *key = g_strconcat (row->group, ".", row->key, NULL);

  if (parameters->family != TOPO_FAMILY_FABRIC || !g_str_equal (value, initial))
    return false;
  return topo_library_ignores ((TopoLibrary) parameters->mpi.library, row->group, row->key) ||
         (unused != NULL && g_strv_contains (unused, key));
}

void
topo_parameters_print_noted (const TopoParameters *parameters, const TopoParameterNote *notes,
                             uint32_t n_notes, const char *const *unused, GString *out)
{
  const char *group = "";
  guint n = 0, n_guesses = 0;

  for (gsize at = 0; at < G_N_ELEMENTS (rows); at++) {
    const Row *row = &rows[at];
    g_autofree char *value = NULL, *initial = NULL;
    const TopoParameterNote *note;
    gsize from;

    if (!has_row (parameters->family, row))
      continue;
    value = print_value (row, fetch (parameters, row));
    initial = print_value (row, table_value (row, row->initial[parameters->family]));
    if (is_idle (parameters, row, value, initial, unused))
      continue;
    if (!g_str_equal (row->group, group))
      g_string_append_printf (out, "\n[%s]\n", row->group);
    group = row->group;
    note = note_of (row, value, notes, n_notes);
    from = out->len;
    print_about (row->about,
                 note != NULL || !g_str_equal (value, initial) ? meaning_length (row->about)
                                                               : strlen (row->about),
                 out);
    if (note != NULL)
      print_about (note->about, strlen (note->about), out);
    n++;
    n_guesses += strstr (out->str + from, "guess") != NULL;
    g_string_append_printf (out, "%s = %s\n", row->key, value);
  }
  g_string_append_printf (out, "\n# %u of these %u are guesses, whole or in part\n", n_guesses, n);
}

void
topo_parameters_print (const TopoParameters *parameters, GString *out)
{
  topo_parameters_print_noted (parameters, NULL, 0, NULL, out);
}
