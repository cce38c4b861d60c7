/* stampede.c - TACC's Stampede of 2013: its fabric and its numbers.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * TACC's user guide: over 320 36-port leaf switches with 20 nodes and 16 cables to the
 * core each, eight 648-port directors (Mellanox SX6536), at most 5 hops.  A
 * director of this size is 36 boards of 18 outer ports and 18 spine chips, one cable
 * from each board to each.  Which outer port a leaf's cable goes to is our
 * assumption: in the order of the leaves. */
#include "topology/stampede.h"

#include "topology/fabric/fabric_wire.h"

#define LEAF_NODES     20
#define DIRECTORS      8
#define LEAF_CABLES    2 /* from a leaf to a director */
#define LEAF_PORTS     36
#define BOARD_PORTS    18 /* outer ones, and as many inner ones */
#define DIRECTOR_CHIPS 18

static gboolean
wire_nodes (TopoFabricBuilder *builder, uint32_t n_nodes, TopoSpeed speed, GError **error)
{
  for (uint32_t node = 0; node < n_nodes; node++)
    if (!topo_wire_cable (builder,
                          (TopoPlug){ TOPO_WIRE_LEAF, node / LEAF_NODES, node % LEAF_NODES + 1 },
                          (TopoPlug){ TOPO_WIRE_NODE, node, 1 }, speed, error))
      return FALSE;
  return TRUE;
}

/* From the leaves to the boards of one director. */
static gboolean
wire_leaves (TopoFabricBuilder *builder, uint32_t director, uint32_t n_leaves, uint32_t n_boards,
             TopoSpeed speed, GError **error)
{
  for (uint32_t outer = 0; outer < n_leaves * LEAF_CABLES; outer++) {
    uint32_t leaf = outer / LEAF_CABLES;
    uint32_t port = LEAF_NODES + director * LEAF_CABLES + outer % LEAF_CABLES + 1;
    uint32_t board = director * n_boards + outer / BOARD_PORTS;

    if (!topo_wire_cable (builder, (TopoPlug){ TOPO_WIRE_LEAF, leaf, port },
                          (TopoPlug){ TOPO_WIRE_BOARD, board, outer % BOARD_PORTS + 1 }, speed,
                          error))
      return FALSE;
  }
  return TRUE;
}

/* Inside one director. */
static gboolean
wire_boards (TopoFabricBuilder *builder, uint32_t director, uint32_t n_boards, TopoSpeed speed,
             GError **error)
{
  for (uint32_t board = 0; board < n_boards; board++)
    for (uint32_t chip = 0; chip < DIRECTOR_CHIPS; chip++)
      if (!topo_wire_cable (
              builder,
              (TopoPlug){ TOPO_WIRE_BOARD, director * n_boards + board, BOARD_PORTS + chip + 1 },
              (TopoPlug){ TOPO_WIRE_SPINE, director * DIRECTOR_CHIPS + chip, board + 1 }, speed,
              error))
        return FALSE;
  return TRUE;
}

TopoFabric *
topo_stampede_fabric (uint32_t n_nodes, TopoSpeed speed, GError **error)
{
  g_autofree char *source = g_strdup_printf ("stampede:%u", n_nodes);
  g_autoptr (TopoFabricBuilder) builder = topo_build_new (source);
  uint32_t n_leaves = (n_nodes + LEAF_NODES - 1) / LEAF_NODES;
  uint32_t n_boards = n_leaves > 1 ? (n_leaves * LEAF_CABLES + BOARD_PORTS - 1) / BOARD_PORTS : 0;

  if (!topo_wire_devices (builder, TOPO_WIRE_LEAF, n_leaves, LEAF_PORTS, error) ||
      !topo_wire_devices (builder, TOPO_WIRE_BOARD, DIRECTORS * n_boards, 2 * BOARD_PORTS, error))
    return NULL;
  if (n_boards > 1 &&
      !topo_wire_devices (builder, TOPO_WIRE_SPINE, DIRECTORS * DIRECTOR_CHIPS, LEAF_PORTS, error))
    return NULL;
  if (!topo_wire_devices (builder, TOPO_WIRE_NODE, n_nodes, 1, error) ||
      !wire_nodes (builder, n_nodes, speed, error))
    return NULL;
  for (uint32_t director = 0; director < DIRECTORS && n_boards > 0; director++) {
    if (!wire_leaves (builder, director, n_leaves, n_boards, speed, error))
      return NULL;
    if (n_boards > 1 && !wire_boards (builder, director, n_boards, speed, error))
      return NULL;
  }
  return topo_build_finish (builder, error);
}

/* MVAPICH2's are those that it has built in for this processor with this
 * adapter (gen2/ibv_param.c and ch3_smp_progress.c: E5_2680_16, MLX_CX_FDR).  The
 * measured ping-pongs (github.com/Ezibenroc/platform-calibration,
 * data/stampede_17_06_01) were run under it: the job's output says so.
 * "calibrated" is what was read off these ping-pongs. */
const TopoParameterNote topo_stampede_notes[] = {
  { "mpi.collectives", "mpich",
    "stampede: MVAPICH2 is made from MPICH; its own tables of algorithms are left out" },
  { "mpi.send_overhead", "80 ns",
    "stampede: calibrated: with receive_overhead, sm_overhead and sm_latency the 0.29 us of one byte\n"
    "inside the node [M]; the split is a guess" },
  { "mpi.receive_overhead", "80 ns", "stampede: as send_overhead" },
  { "mpi.sm_overhead", "20 ns", "stampede: as send_overhead" },
  { "mpi.sm_latency", "80 ns", "stampede: as send_overhead" },
  { "mpi.envelope", "40 B", "stampede: MVAPICH2's header; guess" },
  { "mpi.eager", "17 KiB", "stampede: [S] MVAPICH2, rdma_vbuf_total_size" },
  { "mpi.sm_eager", "8 KiB", "stampede: [S] MVAPICH2, g_smp_eagersize where single copies work" },
  { "mpi.sm_fragment", "14 KiB", "stampede: [S] MVAPICH2, s_smp_block_size" },
  { "mpi.sm_depth", "16", "stampede: [S] MVAPICH2, s_smp_num_send_buffer" },
  { "mpi.sm_single_copy", "true",
    "stampede: [S] MVAPICH2 copies once (CMA) where the kernel lets it; [M] 13 to 16 GB/s between\n"
    "two processes, which two copies would not reach" },
  { "mpi.rdma_offset", "0 B",
    "stampede: [S] MVAPICH2, RPUT: the receiver's answer, then all by RDMA write" },
  { "mpi.leave_pinned", "true", "stampede: [S] MVAPICH2, MV2_USE_LAZY_MEM_UNREGISTER" },
  { "switch.latency", "170 ns", "stampede: [G] section A4, SwitchX" },
  { "hca.pcie_bandwidth", "6.4 GB/s",
    "stampede: [D] gen3 x8, 8 x 8 GT/s x 128/130 = 7.88 GB/s, times what ib_model leaves of gen2;\n"
    "NVIDIA's GPUDirect manual shows 6.37 to 6.39 GB/s of osu_bw on FDR and gen3 [S]" },
  { "hca.send_latency", "360 ns",
    "stampede: calibrated: with receive_latency the 1.36 us of one byte between nodes [M], less\n"
    "the processors and the switch; the split is a guess" },
  { "hca.receive_latency", "290 ns", "stampede: as send_latency" },
  { "hca.read_latency", "450 ns",
    "stampede: calibrated: the step at the inline limit [M]; two reads, as libmlx4 rings a doorbell\n"
    "where data is not inline [S]" },
  { "hca.inline", "188 B",
    "stampede: [G] what mlx4 grants; calibrated: the step lies between 146 and 158 B of data [M]" },
  { "node.compute", "21.6 Gflop/s", "stampede: [D] 2.7 GHz x 8" },
  { "memory.core_bandwidth", "12 GB/s",
    "stampede: calibrated: 0.165 ns/B for the two copies of 170 B to 8 KB inside the node [M]" },
  { "memory.core_memory_bandwidth", "8 GB/s",
    "stampede: ten line fill buffers of 64 B in 80 ns [G]; guess" },
  { "memory.core_transfer_bandwidth", "12 GB/s",
    "stampede: within a package lines come from the inclusive L3; 13 to 16 GB/s of one copy above\n"
    "8 KB [M]; calibrated: no less than core_bandwidth.  From the other package: see\n"
    "package_latency" },
  { "memory.transfer_latency", "60 ns",
    "stampede: of a line that another core of the package has changed; guess" },
  { "memory.dma_to_cache", "true", "stampede: DDIO, from Sandy Bridge-EP on [G]" },
  { "memory.cache_bandwidth", "200 GB/s",
    "stampede: of the L3; guess: below a third of what its eight slices deliver at best, 32 bytes\n"
    "per cycle each" },
  { "memory.bus_bandwidth", "40 GB/s",
    "stampede: two QPI links of 8 GT/s, 16 GB/s in each direction of each [G]; guess: what is left\n"
    "to use of these 64" },
  { "memory.bandwidth", "40 GB/s",
    "stampede: four channels of DDR3-1600 carry 51.2 GB/s [D]; guess: four fifths of it" },
  { NULL, NULL, NULL },
};
