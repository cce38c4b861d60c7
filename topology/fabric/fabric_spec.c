/* fabric_spec.c - fabrics as specs of machines.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 *   KIND[:ARGUMENT][,OPTION=VALUE...]
 *
 * The layout of System G's switches is not published; 18 leaves with 18 nodes
 * each and 9 spines is what fits its 324 ports (our assumption). */
#include "base/words.h"
#include "topology/fabric/fabric_build.h"
#include "topology/library.h"
#include "topology/machine_private.h"
#include "topology/node/processor.h"

#include <string.h>

#define LAYERS          "layers:"
#define OPENSM          "opensm:"
#define LIBRARY         ",library="
#define SYSTEM_G_LEAVES 18
#define SYSTEM_G_NODES  18 /* per leaf */
#define SYSTEM_G_SPINES 9
#define MOST_CABLES     254 /* ports of a switch */
#define MOST_RAILS      8

/* What only a spec says. */
typedef struct {
  TopoCabling cabling; /* always with a rate for a fabric by numbers */
  uint32_t rails;      /* adapters of a node */
  char *library;       /* NULL: that of the kind or of the generation */
} SpecOptions;

typedef TopoFabric *(*Make) (TopoMachine *machine, const char *argument, const SpecOptions *given,
                             GError **error);

static TopoFabric *
bad_argument (GError **error, const char *expected, const char *found)
{
  g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX, "machine: expected %s, found \"%s\"", expected,
               found != NULL ? found : "nothing");
  return NULL;
}

/* Up to n whole numbers with the separators of `format` between them; how
 * many there are, 0 when the text is something else. */
static guint
read_numbers (const char *text, const char *separators, uint32_t *numbers)
{
  guint n = 0;

  for (;;) {
    char *end;
    guint64 value = g_ascii_strtoull (text, &end, 10);

    if (!g_ascii_isdigit (*text) || value > UINT16_MAX)
      return 0;
    numbers[n++] = (uint32_t) value;
    if (*end == '\0')
      return n;
    if (separators[n - 1] == '\0' || *end != separators[n - 1])
      return 0;
    text = end + 1;
  }
}

/* Each `n_rails` nodes in a row become one with so many adapters.  NULL stays NULL. */
static TopoFabric *
with_rails (TopoFabric *fabric, uint32_t n_rails)
{
  uint32_t n_hosts;
  TopoHost *hosts;

  if (fabric == NULL || n_rails == 1)
    return fabric;
  n_hosts = fabric->n_hosts / n_rails;
  hosts = g_new0 (TopoHost, n_hosts);

  for (uint32_t at = 0; at < n_hosts * n_rails; at++) {
    uint32_t node = at / n_rails, rail = at % n_rails;
    TopoDevice *adapter = &fabric->devices[fabric->rails[at]];

    if (rail == 0)
      hosts[node] = (TopoHost){ g_strdup_printf ("node%u", node), at, n_rails };
    adapter->node = node;
    g_free (adapter->name);
    adapter->name = g_strdup_printf ("node%u HCA-%u", node, rail + 1);
  }
  for (uint32_t node = 0; node < fabric->n_hosts; node++)
    g_free (fabric->hosts[node].name);
  g_free (fabric->hosts);
  fabric->hosts = hosts;
  fabric->n_hosts = n_hosts;
  return fabric;
}

static TopoFabric *
make_tree (TopoMachine *machine G_GNUC_UNUSED, const char *argument, const SpecOptions *given,
           GError **error)
{
  uint32_t numbers[3] = { 0 };

  if (argument == NULL || read_numbers (argument, "x:", numbers) < 2)
    return bad_argument (error, "LEAVESxNODES[:SPINES], as in fattree:18x18:9", argument);
  return with_rails (topo_fabric_tree (numbers[0], numbers[1] * given->rails, numbers[2],
                                       given->cabling.rate, error),
                     given->rails);
}

static TopoFabric *
make_dragonfly (TopoMachine *machine G_GNUC_UNUSED, const char *argument, const SpecOptions *given,
                GError **error)
{
  uint32_t numbers[5] = { 0 };

  if (argument == NULL || read_numbers (argument, "xx::", numbers) < 4)
    return bad_argument (error, "GROUPSxLEAVESxSPINES:NODES[:GLOBAL], as in dragonflyplus:8x4x4:8",
                         argument);
  return topo_fabric_dragonfly (
      &(TopoDragonfly){ numbers[0], numbers[1], numbers[2], numbers[3], numbers[4] },
      given->cabling.rate, error);
}

static TopoFabric *
make_tree3 (TopoMachine *machine G_GNUC_UNUSED, const char *argument, const SpecOptions *given,
            GError **error)
{
  uint32_t radix;

  if (argument == NULL || read_numbers (argument, "", &radix) != 1)
    return bad_argument (error, "the ports of a switch, as in fattree3:8", argument);
  return topo_fabric_tree3 (radix, given->cabling.rate, error);
}

/* How many nodes of a cluster are wanted; all when there is no argument. */
static bool
read_nodes (const char *argument, uint32_t most, uint32_t *n_nodes)
{
  *n_nodes = most;
  return argument == NULL ||
         (read_numbers (argument, "", n_nodes) == 1 && *n_nodes >= 1 && *n_nodes <= most);
}

static TopoFabric *
make_system_g (TopoMachine *machine, const char *argument, const SpecOptions *given, GError **error)
{
  if (!read_nodes (argument, SYSTEM_G_LEAVES * SYSTEM_G_NODES, &machine->shape.size[0]))
    return bad_argument (error, "1 to 324 nodes, as in systemg:16", argument);
  return topo_fabric_tree (SYSTEM_G_LEAVES, SYSTEM_G_NODES, SYSTEM_G_SPINES, given->cabling.rate,
                           error);
}

static TopoFabric *
make_stampede (TopoMachine *machine, const char *argument, const SpecOptions *given, GError **error)
{
  if (!read_nodes (argument, TOPO_STAMPEDE_NODES, &machine->shape.size[0]))
    return bad_argument (error, "1 to 6400 nodes, as in stampede:16", argument);
  return topo_fabric_stampede (machine->shape.size[0], given->cabling.rate, error);
}

/* Switches of a generation: ports at the full rate, twice as many at half of it. */
static uint32_t
usual_radix (TopoRate rate)
{
  uint32_t radix = rate.speed >= TOPO_SPEED_NDR ? 64 : rate.speed >= TOPO_SPEED_HDR ? 40 : 36;

  return rate.lanes < 4 ? 2 * radix : radix;
}

/* The smallest non-blocking tree: one switch, leaves and spines, or three levels. */
static TopoFabric *
make_cluster (TopoMachine *machine, const char *argument, const SpecOptions *given, GError **error)
{
  uint32_t radix = usual_radix (given->cabling.rate), rails = given->rails, n_nodes = 0, n_leaves;
  uint32_t of_leaf = MAX (1, radix / 2 / rails); /* nodes */
  guint64 most = (guint64) radix * (radix / 2) * (radix / 2) / rails;

  if (argument == NULL || read_numbers (argument, "", &n_nodes) != 1 || n_nodes < 1 ||
      n_nodes > most) {
    g_autofree char *expected =
        g_strdup_printf ("1 to %" G_GUINT64_FORMAT " nodes, as in edr:16", MIN (most, UINT16_MAX));

    return bad_argument (error, expected, argument);
  }
  machine->shape.size[0] = n_nodes;
  if (n_nodes * rails <= radix)
    return with_rails (topo_fabric_tree (1, n_nodes * rails, 1, given->cabling.rate, error), rails);
  n_leaves = (n_nodes + of_leaf - 1) / of_leaf;
  if (n_leaves > radix)
    return with_rails (topo_fabric_tree3 (radix, given->cabling.rate, error), rails);
  /* As few spines as the leaves' cables fill, each with as many cables to every leaf. */
  for (uint32_t n_spines = MAX (1, n_leaves * of_leaf * rails / radix);; n_spines++) {
    uint32_t n_cables = (of_leaf * rails + n_spines - 1) / n_spines;

    if (n_leaves * n_cables <= radix && of_leaf * rails % n_spines == 0)
      return with_rails (
          topo_fabric_tree (n_leaves, of_leaf * rails, n_spines, given->cabling.rate, error),
          rails);
  }
}

static TopoFabric *
make_from_file (TopoMachine *machine, const char *argument, const SpecOptions *given,
                GError **error)
{
  if (argument == NULL)
    return bad_argument (error, "the path of a fabric's description, as in fabric:X5.topofile",
                         argument);
  return topo_machine_note_file (machine, argument, error)
             ? topo_fabric_load (argument, &given->cabling, error)
             : NULL;
}

/* MVAPICH2's are those that it has built in for this processor with this
 * adapter (gen2/ibv_param.c and ch3_smp_progress.c: E5_2680_16, MLX_CX_FDR).  The
 * measured ping-pongs (github.com/Ezibenroc/platform-calibration,
 * data/stampede_17_06_01) were run under it: the job's output says so.
 * "calibrated" is what was read off these ping-pongs. */
static const TopoParameterNote stampede_notes[] = {
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
  { NULL, NULL, NULL },
};

/* What adapters from ConnectX-4 on do at a time is not published either. */
#define NEWER_MISS                                                                     \
  {                                                                                    \
    "hca.context_miss", "1 us", "guess: two reads of 0.5 us that depend on each other" \
  }
#define NEWER_FETCHES                                                         \
  {                                                                           \
    "hca.context_fetches", "8", "guess: from ConnectX-4 on several at a time" \
  }

/* UCX counts 600 ns for the adapters, a switch and the cables between them (uct, ib_iface.c). */
#define NEWER_SEND                                                                            \
  {                                                                                           \
    "hca.send_latency", "180 ns",                                                             \
        "[S] UCX counts 600 ns for the whole way, from EDR on; less a switch and two links\n" \
        "[D]; the split is a guess"                                                           \
  }
#define NEWER_RECEIVE                                          \
  {                                                            \
    "hca.receive_latency", "290 ns", "[D] as hca.send_latency" \
  }
#define NEWER_READ                                                                         \
  {                                                                                        \
    "hca.read_latency", "450 ns",                                                          \
        "calibrated: the step of 0.47 us from 128 to 256 B between ConnectX-4 hosts [M]\n" \
        "alaska-edr-ompi4; UCX counts 350 ns for reading the request [S] uct, ib_iface.c"  \
  }
#define NEWER_INLINE                                                                           \
  {                                                                                            \
    "hca.inline", "237 B",                                                                     \
        "[S] UCX, rc_mlx5: four blocks of 64 B less 16 B of control and 4 B of length, with\n" \
        "its own byte of header"                                                               \
  }
#define NEWER_QUEUES                                                                           \
  {                                                                                            \
    "hca.receive_queues", "16",                                                                \
        "calibrated: messages of 64 B fall between 16 and 32 pairs, from 68 to 28 million a\n" \
        "second [M] csd3-hdr100-ompi3"                                                         \
  }
#define NEWER_FRAMING                                                               \
  {                                                                                 \
    "ib.framing", "2 B", "[S] UCX counts two bytes of delimiters (uct, ib_iface.c)" \
  }
#define MTU_4096                                                          \
  {                                                                       \
    "ib.mtu", "4 KiB", "from FDR on the usual one [S] public field notes" \
  }
#define UCX_LIBRARY                                                \
  {                                                                \
    "mpi.library", "ompi-4.1", "Open MPI over UCX, of these years" \
  }
/* Of slots with 16 lanes, which adapters have from EDR on; UCX's formula (ib_device.c): after the
 * line code 128/130 another 10.5 % for headers and control.  The slot is as old as the older one of
 * processor and adapter. */
#define FIRST_SLOT 3
static const TopoParameterNote slots[] = {
  { "hca.pcie_bandwidth", "14.1 GB/s",
    "gen3 x16: 128 GT/s, less 1.5 and 10.5 % [S] UCX, ib_device.c" },
  { "hca.pcie_bandwidth", "28.2 GB/s",
    "gen4 x16: 256 GT/s, less 1.5 and 10.5 % [S] UCX, ib_device.c" },
  { "hca.pcie_bandwidth", "56.4 GB/s",
    "gen5 x16: 512 GT/s, less 1.5 and 10.5 % [S] UCX, ib_device.c" },
};

#define MOST_NOTES 18

/* What a cluster of one generation of InfiniBand has: switches and adapters, where they are not
 * the family's, and the usual node of its years.  SDR, DDR and QDR are the family's. */
typedef struct {
  const char *node; /* NULL: the kind's */
  uint32_t
      newest_slots; /* PCIe generation of its adapters; 0: hca.pcie_bandwidth is in the notes */
  TopoParameterNote notes[MOST_NOTES];
} Generation;

static const Generation generations[TOPO_SPEEDS] = {
  [TOPO_SPEED_FDR10] = { "sandybridge",
                         0,
                         { { "switch.latency", "170 ns", "FDR10: as FDR" },
                           { "hca.model", "connectx-3", "FDR10: as FDR" },
                           { "hca.pcie_bandwidth", "6.4 GB/s", "FDR10: as FDR" },
                           { "hca.send_latency", "360 ns", "FDR10: as FDR" },
                           { "hca.receive_latency", "290 ns", "FDR10: as FDR" },
                           { "hca.read_latency", "450 ns", "FDR10: as FDR" },
                           { "hca.inline", "188 B", "FDR10: as FDR" },
                           { "hca.contexts", "256", "FDR10: as FDR" },
                           NEWER_MISS } },
  [TOPO_SPEED_FDR] = { "sandybridge",
                       0,
                       { { "switch.latency", "170 ns", "FDR: [G] section A4, SwitchX" },
                         { "hca.model", "connectx-3", "FDR: of these years" },
                         { "hca.pcie_bandwidth", "6.4 GB/s", "FDR: gen3 x8, as stampede" },
                         { "hca.send_latency", "360 ns", "FDR: as stampede" },
                         { "hca.receive_latency", "290 ns", "FDR: as stampede" },
                         { "hca.read_latency", "450 ns", "FDR: as stampede" },
                         { "hca.inline", "188 B", "FDR: as stampede" },
                         { "hca.message_gap", "29 ns",
                           "FDR: ConnectX-3 sends 35 million messages a second [G]" },
                         { "hca.contexts", "256", "FDR: guess: ConnectX-3 holds twice as many" },
                         NEWER_MISS } },
  [TOPO_SPEED_EDR] = { "broadwell",
                       3,
                       { UCX_LIBRARY,
                         MTU_4096,
                         NEWER_FRAMING,
                         { "switch.latency", "90 ns", "EDR: [G] section A4, Switch-IB 2" },
                         { "hca.model", "connectx-4", "EDR: the first, of 2015" },
                         NEWER_SEND,
                         NEWER_RECEIVE,
                         NEWER_READ,
                         NEWER_INLINE,
                         { "hca.message_gap", "6.7 ns",
                           "EDR: ConnectX-4 sends 150 million messages a second [G]" },
                         { "hca.contexts", "512",
                           "EDR: guess: ConnectX-4 holds four times as many" },
                         NEWER_QUEUES,
                         { "hca.queue_miss", "150 ns",
                           "EDR: calibrated: 53 million messages of 64 B a second between 32 pairs [M]\n"
                           "alaska-edr-ompi4" },
                         NEWER_MISS,
                         NEWER_FETCHES } },
  [TOPO_SPEED_HDR] = { "icelake",
                       4,
                       { UCX_LIBRARY,
                         MTU_4096,
                         NEWER_FRAMING,
                         { "switch.latency", "130 ns", "HDR: [G] section A4, Quantum" },
                         { "hca.model", "connectx-6", "HDR: the first" },
                         NEWER_SEND,
                         NEWER_RECEIVE,
                         NEWER_READ,
                         NEWER_INLINE,
                         { "hca.message_gap", "4.7 ns",
                           "HDR: ConnectX-6 sends 215 million messages a second [S] data sheet" },
                         { "hca.contexts", "1024",
                           "HDR: so many has weir, a simulator of ConnectX-6 for ns-3 [S]" },
                         NEWER_QUEUES,
                         { "hca.queue_miss", "330 ns",
                           "HDR: calibrated: 28 million messages of 64 B a second between 32 pairs [M]\n"
                           "csd3-hdr100-ompi3" },
                         NEWER_MISS,
                         NEWER_FETCHES } },
  [TOPO_SPEED_NDR] = { "sapphirerapids",
                       5,
                       { UCX_LIBRARY,
                         MTU_4096,
                         NEWER_FRAMING,
                         { "switch.latency", "150 ns",
                           "NDR: of Quantum-2 public pages claim below 150, about 330 and below 400 ns [S];\n"
                           "guess: the first is without error correction, which is in ib.fec_ndr_latency" },
                         { "hca.model", "connectx-7", "NDR: the first" },
                         NEWER_SEND,
                         NEWER_RECEIVE,
                         NEWER_READ,
                         NEWER_INLINE,
                         { "hca.message_gap", "3 ns",
                           "NDR: ConnectX-7 sends 330 to 370 million messages a second [G]" },
                         { "hca.contexts", "1024", "NDR: guess: as HDR" },
                         NEWER_QUEUES,
                         { "hca.queue_miss", "330 ns", "NDR: guess: as HDR" },
                         NEWER_MISS,
                         NEWER_FETCHES } },
};

typedef struct {
  const char *kind;
  Make make;
  TopoRate rate;          /* of its cables; zeros: the file says */
  const char *node;       /* the usual one: a processor's name; NULL: of the generation */
  bool has_own_node;      /* a cluster of which the node is known */
  TopoSpeed newest_speed; /* of adapters that such a node can have */
  bool is_file;
  const char *library;            /* NULL: of the generation, or of the notes */
  const TopoParameterNote *notes; /* NULL-terminated; NULL: the generation's */
} Kind;

#define QDR4          \
  {                   \
    4, TOPO_SPEED_QDR \
  }
#define OMPI "ompi-4.1"

static const Kind kinds[] = {
  { "fattree", make_tree, QDR4, "harpertown", false, TOPO_SPEED_QDR, false, NULL, NULL },
  { "fattree3", make_tree3, QDR4, "harpertown", false, TOPO_SPEED_QDR, false, NULL, NULL },
  { "dragonflyplus",
    make_dragonfly,
    { 4, TOPO_SPEED_HDR },
    "harpertown",
    false,
    TOPO_SPEED_QDR,
    false,
    NULL,
    NULL },
  { "systemg", make_system_g, QDR4, "harpertown", true, TOPO_SPEED_QDR, false, NULL, NULL },
  { "stampede",
    make_stampede,
    { 4, TOPO_SPEED_FDR },
    "sandybridge",
    true,
    TOPO_SPEED_EDR,
    false,
    NULL,
    stampede_notes },
  { "qdr", make_cluster, QDR4, "westmere", false, TOPO_SPEED_QDR, false, OMPI, NULL },
  { "fdr",
    make_cluster,
    { 4, TOPO_SPEED_FDR },
    "sandybridge",
    false,
    TOPO_SPEED_FDR,
    false,
    OMPI,
    NULL },
  { "edr",
    make_cluster,
    { 4, TOPO_SPEED_EDR },
    "broadwell",
    false,
    TOPO_SPEED_EDR,
    false,
    OMPI,
    NULL },
  { "hdr100",
    make_cluster,
    { 2, TOPO_SPEED_HDR },
    "cascadelake",
    false,
    TOPO_SPEED_HDR,
    false,
    OMPI,
    NULL },
  { "hdr",
    make_cluster,
    { 4, TOPO_SPEED_HDR },
    "icelake",
    false,
    TOPO_SPEED_HDR,
    false,
    OMPI,
    NULL },
  { "ndr200",
    make_cluster,
    { 2, TOPO_SPEED_NDR },
    "sapphirerapids",
    false,
    TOPO_SPEED_NDR,
    false,
    OMPI,
    NULL },
  { "ndr",
    make_cluster,
    { 4, TOPO_SPEED_NDR },
    "sapphirerapids",
    false,
    TOPO_SPEED_NDR,
    false,
    OMPI,
    NULL },
  { "fabric", make_from_file, { 0 }, "harpertown", false, TOPO_SPEED_QDR, true, NULL, NULL },
};

/* The kind at the beginning of a spec and the length of its name; NULL: no such kind. */
static const Kind *
kind_of (const char *spec, gsize *length)
{
  *length = strcspn (spec, ":,");
  for (gsize at = 0; at < G_N_ELEMENTS (kinds); at++)
    if (strlen (kinds[at].kind) == *length && !strncmp (spec, kinds[at].kind, *length))
      return &kinds[at];
  return NULL;
}

/* The kind of a spec that has passed topo_fabric_is_spec(). */
static const Kind *
known_kind (const char *spec)
{
  gsize length;
  const Kind *kind = kind_of (spec, &length);

  g_assert (kind != NULL);
  return kind;
}

bool
topo_fabric_is_spec (const char *spec)
{
  gsize length;

  return kind_of (spec, &length) != NULL;
}

/* --- Options --- */

/* "layers:" may stand before every kind of routes. */
static gsize
layers_length (const char *routes)
{
  return g_str_has_prefix (routes, LAYERS) ? strlen (LAYERS) : 0;
}

const char *const *
topo_routing_engines (void)
{
  static const char *const names[] = { "minhop", "updn", "ftree", "dor", NULL };

  return names;
}

/* An engine's name, even where a file is called so (./minhop). */
static bool
is_engine (const char *text)
{
  return g_strv_contains (topo_routing_engines (), text) ||
         (g_str_has_prefix (text, OPENSM) && text[strlen (OPENSM)] != '\0');
}

bool
topo_machine_has_dumped_routes (const TopoMachine *machine)
{
  return machine->fabric != NULL && !is_engine (machine->routes + layers_length (machine->routes));
}

gboolean
topo_fabric_set_routes (TopoMachine *machine, const char *text, const char *folder, GError **error)
{
  gsize skip = layers_length (text);
  g_autofree char *path = topo_path_in (folder, text + skip);
  bool engine = is_engine (text + skip);

  if (!engine && (text[skip] == '\0' || !g_file_test (path, G_FILE_TEST_EXISTS))) {
    g_autofree char *known = g_strjoinv (", ", (char **) topo_routing_engines ());
    g_autofree char *meant = base_did_you_mean (text + skip, topo_routing_engines ());

    g_set_error (error, TOPO_ERROR, TOPO_ERROR_FILE,
                 "routes: \"%s\" is neither an engine (%s, opensm:ENGINE) nor a file%s", path,
                 known, meant);
    return FALSE;
  }
  g_free (machine->routes);
  machine->routes = engine ? g_strdup (text) : g_strconcat (skip > 0 ? LAYERS : "", path, NULL);
  return TRUE;
}

gboolean
topo_fabric_set_node (TopoMachine *machine, const char *text, const char *folder, GError **error)
{
  g_autofree char *path = topo_path_in (folder, text);
  TopoNode *node = topo_node_named (text);

  if (node == NULL && topo_machine_note_file (machine, path, error))
    node = topo_node_load (path, error);
  if (node == NULL) {
    if (!g_file_test (path, G_FILE_TEST_EXISTS))
      g_prefix_error (error, "node: no processor has the name \"%s\", nor a file: ", text);
    return FALSE;
  }
  topo_node_free (machine->node);
  machine->node = node;
  return TRUE;
}

gboolean
topo_fabric_set_threads (TopoMachine *machine, const char *text, GError **error)
{
  guint64 n_threads;

  if (!g_ascii_string_to_unsigned (text, 10, 1, TOPO_MAX_RANKS_PER_NODE, &n_threads, NULL)) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE, "threads: expected 1 to %d, found \"%s\"",
                 TOPO_MAX_RANKS_PER_NODE, text);
    return FALSE;
  }
  machine->threads_per_core = (uint32_t) n_threads;
  return TRUE;
}

/* A whole number from 1 on; as many as a switch can have ports. */
static bool
read_count (const char *text, uint32_t *count)
{
  return read_numbers (text, "", count) == 1 && *count >= 1 && *count <= MOST_CABLES;
}

static gboolean
set_once (char **text, const char *value)
{
  if (*text == NULL)
    *text = g_strdup (value);
  return TRUE;
}

/* Sets *of_spec (NULL: not possible here) for what the kind of fabric has options for.  Routes and
 * nodes that are set already stay. */
static gboolean
read_option (TopoMachine *machine, const Kind *kind, const char *option, const char *folder,
             SpecOptions *of_spec, GError **error)
{
  const char *value = strchr (option, '=');

  if (value != NULL && *++value != '\0') {
    if (g_str_has_prefix (option, "routes="))
      return machine->routes != NULL || topo_fabric_set_routes (machine, value, folder, error);
    if (g_str_has_prefix (option, "node="))
      return machine->node != NULL || topo_fabric_set_node (machine, value, folder, error);
    if (g_str_has_prefix (option, "threads="))
      return machine->threads_per_core != 0 || topo_fabric_set_threads (machine, value, error);
    if (g_str_has_prefix (option, "failed="))
      return set_once (&machine->failed, value);
    if (g_str_has_prefix (option, "degraded="))
      return set_once (&machine->degraded, value);
    if (of_spec != NULL && g_str_has_prefix (option, "library=")) {
      g_free (of_spec->library);
      of_spec->library = g_strdup (value);
      return TRUE;
    }
    if (of_spec != NULL && (kind->make == make_cluster || kind->make == make_tree) &&
        g_str_has_prefix (option, "rails=") && read_count (value, &of_spec->rails) &&
        of_spec->rails <= MOST_RAILS)
      return TRUE;
    if (of_spec != NULL && kind->make != make_cluster && g_str_has_prefix (option, "speed=") &&
        topo_rate_parse (value, &of_spec->cabling.rate))
      return TRUE;
    if (of_spec != NULL && kind->is_file &&
        ((g_str_has_prefix (option, "cables=") && read_count (value, &of_spec->cabling.cables)) ||
         (g_str_has_prefix (option, "spines=") && read_count (value, &of_spec->cabling.spines))))
      return TRUE;
  }
  bad_argument (
      error,
      "routes=ENGINE, routes=opensm:ENGINE, routes=PATH, node=PROCESSOR, as in node=rome, "
      "node=HWLOC.xml, threads=N, failed=leaf0:3+spine1, \"degraded=leaf0:3 1x\" or, in a spec, library=ompi-1.3, ompi-4.1, ompi-5.0 or mpich-4, "
      "speed=SDR, DDR, QDR, FDR10, FDR, EDR, HDR100, HDR, NDR200 or NDR (not of a preset), of "
      "two-level trees and presets rails=1 to 8 and, of "
      "files without cables, cables=1 to 254 and spines=1 to 254",
      option);
  return FALSE;
}

/* Refuses an option that is there twice, of which one would be ignored. */
static gboolean
check_once (char *const *options, GError **error)
{
  for (guint at = 0; options[at] != NULL; at++) {
    gsize length = strcspn (options[at], "=");

    for (guint before = 0; before < at && options[at][length] == '='; before++)
      if (strncmp (options[before], options[at], length + 1) == 0) {
        g_set_error (
            error, TOPO_ERROR, TOPO_ERROR_SYNTAX, "\"%s\" and \"%s\": %.*s is there twice%s",
            options[before], options[at], (int) length, options[at],
            g_str_has_prefix (options[at], "failed=") || g_str_has_prefix (options[at], "degraded=")
                ? "; parts go between + in one"
                : "");
        return FALSE;
      }
  }
  return TRUE;
}

gboolean
topo_fabric_read_options (TopoMachine *machine, const char *options, GError **error)
{
  g_auto (GStrv) fields = g_strsplit (options, ",", -1);

  if (!check_once (fields, error))
    return FALSE;
  for (guint at = 0; fields[at] != NULL; at++)
    if (!read_option (machine, NULL, fields[at], NULL, NULL, error))
      return FALSE;
  return TRUE;
}

/* --- Machines --- */

/* The speed of the fastest cable of a switch. */
static TopoSpeed
speed_of (const TopoFabric *fabric)
{
  TopoSpeed fastest = TOPO_SPEED_SDR;

  for (uint32_t port = 0; port < fabric->n_ports; port++)
    if (fabric->ports[port].peer != TOPO_NONE &&
        fabric->devices[fabric->ports[port].device].is_switch)
      fastest = MAX (fastest, (TopoSpeed) fabric->ports[port].speed);
  return fastest;
}

/* The node of a fabric of which nothing is said. */
static const char *
usual_node (const Kind *kind, const TopoFabric *fabric)
{
  const char *of_generation = generations[speed_of (fabric)].node;

  return kind->has_own_node || kind->make == make_cluster || of_generation == NULL ? kind->node
                                                                                   : of_generation;
}

static void
apply_note (TopoParameters *parameters, const TopoParameterNote *note)
{
  g_autoptr (GError) error = NULL;

  if (!topo_parameters_set (parameters, note->key, note->value, &error))
    g_error ("%s: %s", note->key, error->message);
}

/* Appends the parameters of a kind of fabric, or of its generation, that are not the family's. */
static void
append_notes (const Kind *kind, const TopoFabric *fabric, const TopoNode *node, GArray *notes)
{
  const Generation *generation = &generations[speed_of (fabric)];
  const TopoParameterNote *note = kind->notes != NULL ? kind->notes : generation->notes;

  for (; note->key != NULL; note++)
    g_array_append_vals (notes, note, 1);
  if (kind->notes == NULL && !kind->has_own_node && generation->newest_slots > 0) {
    uint32_t slot = node->processor != NULL
                        ? MIN (node->processor->newest_slots, generation->newest_slots)
                        : generation->newest_slots;

    g_array_append_vals (notes, &slots[MAX (slot, FIRST_SLOT) - FIRST_SLOT], 1);
  }
}

gboolean
topo_fabric_make (TopoMachine *machine, const char *spec, const char *folder, GError **error)
{
  gsize length;
  const Kind *kind = kind_of (spec, &length);
  g_auto (GStrv) fields = g_strsplit (spec + length, ",", -1);
  const char *text = fields[0] != NULL && fields[0][0] == ':' ? fields[0] + 1 : "";
  g_autofree char *argument = NULL;
  SpecOptions options = { .cabling.rate = kind->rate, .rails = 1 };
  g_autofree char *library = NULL;
  const TopoCabling *cabling = &options.cabling;
  GString *canonical;

  if (fields[0] != NULL && !check_once (fields + 1, error))
    return FALSE;
  for (guint at = 1; fields[0] != NULL && fields[at] != NULL; at++)
    if (!read_option (machine, kind, fields[at], folder, &options, error)) {
      g_free (options.library);
      return FALSE;
    }
  library = options.library;
  if (*text != '\0')
    argument = kind->is_file ? topo_path_in (folder, text) : g_strdup (text);
  machine->fabric = kind->make (machine, argument, &options, error);
  if (machine->fabric == NULL)
    return FALSE;
  canonical = g_string_new (kind->kind);
  if (argument != NULL)
    g_string_append_printf (canonical, ":%s", argument);
  if (cabling->rate.lanes != kind->rate.lanes || cabling->rate.speed != kind->rate.speed)
    g_string_append_printf (canonical, ",speed=%s", topo_rate_name (cabling->rate));
  if (cabling->cables > 0)
    g_string_append_printf (canonical, ",cables=%u", cabling->cables);
  if (cabling->spines > 0)
    g_string_append_printf (canonical, ",spines=%u", cabling->spines);
  if (options.rails > 1)
    g_string_append_printf (canonical, ",rails=%u", options.rails);
  if (library != NULL)
    g_string_append_printf (canonical, ",library=%s", library);
  machine->spec = g_string_free (canonical, FALSE);
  machine->shape.n_dimensions = 1;
  if (machine->shape.size[0] == 0)
    machine->shape.size[0] = machine->fabric->n_hosts;
  topo_parameters_default (&machine->parameters, TOPO_FAMILY_FABRIC);
  /* What the library brings comes before all other keys. */
  if (library == NULL)
    library = g_strdup (kind->library);
  return library == NULL ||
         topo_parameters_set (&machine->parameters, "mpi.library", library, error);
}

/* The parameters of the machine that its file does not set. */
static void
set_parameters (const TopoMachine *machine, TopoParameters *parameters)
{
  const Kind *kind = known_kind (machine->spec);
  g_autoptr (GArray) of_kind = g_array_new (FALSE, FALSE, sizeof (TopoParameterNote));
  g_autoptr (GPtrArray) of_processor = topo_processor_notes (machine->node);
  const char *library = strstr (machine->spec, LIBRARY);

  topo_parameters_default (parameters, TOPO_FAMILY_FABRIC);
  append_notes (kind, machine->fabric, machine->node, of_kind);
  for (guint at = 0; at < of_kind->len; at++)
    apply_note (parameters, &g_array_index (of_kind, TopoParameterNote, at));
  if (library != NULL || kind->library != NULL) {
    const char *from = library != NULL ? library + strlen (LIBRARY) : kind->library;
    g_autofree char *name = g_strndup (from, strcspn (from, ","));

    apply_note (parameters, &(TopoParameterNote){ "mpi.library", name, NULL });
  }
  for (guint at = 0; at < of_processor->len; at++)
    apply_note (parameters, of_processor->pdata[at]);
}

gboolean
topo_fabric_apply_faults (TopoMachine *machine, const char **key, GError **error)
{
  /* A cable may be both, as when it is degraded and a study takes it out. */
  *key = "degraded";
  if (machine->degraded != NULL && !topo_fabric_degrade (machine->fabric, machine->degraded, error))
    return FALSE;
  *key = "failed";
  return machine->failed == NULL ||
         topo_fabric_fail (machine->fabric, machine->failed, &machine->shape.size[0], error);
}

/* OpenSM's own default; but where a leaf has as many nodes as switches have cables upwards, minhop counts
 * both in step, and each switch of the middle level sends all over one of its cables. */
static const char *
usual_routes (const TopoFabric *fabric)
{
  return g_str_has_prefix (fabric->source, "fattree3:") ? "ftree" : "minhop";
}

gboolean
topo_fabric_finish (TopoMachine *machine, GError **error)
{
  const Kind *kind = known_kind (machine->spec);
  const char *usual = usual_node (kind, machine->fabric);
  GString *spec;

  if (machine->routes == NULL)
    machine->routes = g_strdup (usual_routes (machine->fabric));
  machine->node_by_default = machine->node == NULL;
  if (machine->node == NULL)
    machine->node = topo_node_named (usual);
  machine->threads_per_core = MAX (machine->threads_per_core, 1);
  if (machine->threads_per_core > 1) {
    TopoNode *threads = topo_node_threads (machine->node, machine->threads_per_core, error);

    if (threads == NULL)
      return FALSE;
    topo_node_free (machine->node);
    machine->node = threads;
  }
  spec = g_string_new (machine->spec);
  if (machine->failed != NULL)
    g_string_append_printf (spec, ",failed=%s", machine->failed);
  if (machine->degraded != NULL)
    g_string_append_printf (spec, ",degraded=%s", machine->degraded);
  if (!g_str_equal (machine->routes, usual_routes (machine->fabric)))
    g_string_append_printf (spec, ",routes=%s", machine->routes);
  if (!g_str_equal (machine->node->source, usual))
    g_string_append_printf (spec, ",node=%s", machine->node->source);
  if (machine->threads_per_core > 1)
    g_string_append_printf (spec, ",threads=%u", machine->threads_per_core);
  g_free (machine->spec);
  machine->spec = g_string_free (spec, FALSE);
  topo_machine_default_cores (machine);
  set_parameters (machine, &machine->parameters);
  if (machine->node->n_cores <= TOPO_MAX_RANKS_PER_NODE)
    return TRUE;
  g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE, "%s: %u cores; at most %d are possible",
               machine->node->source, machine->node->n_cores, TOPO_MAX_RANKS_PER_NODE);
  return FALSE;
}

/* --- Assumptions --- */

bool
topo_machine_assumes_node (const TopoMachine *machine)
{
  return machine->fabric != NULL && machine->node_by_default &&
         !known_kind (machine->spec)->has_own_node;
}

/* The sign that an adapter is newer than the nodes, NULL without one.  The models are host
 * adapters since 2011, when nodes had PCIe 3, as the kernel's drivers and pci.ids name them. */
static char *
newer_adapter (const TopoFabric *fabric, TopoSpeed newest, const TopoPort *fastest)
{
  static const struct {
    uint32_t id;
    const char *name;
  } models[] = {
    { 0x1003, "ConnectX-3" },    { 0x1007, "ConnectX-3 Pro" }, { 0x1011, "Connect-IB" },
    { 0x1013, "ConnectX-4" },    { 0x1015, "ConnectX-4 Lx" },  { 0x1017, "ConnectX-5" },
    { 0x1019, "ConnectX-5 Ex" }, { 0x101b, "ConnectX-6" },     { 0x101d, "ConnectX-6 Dx" },
    { 0x101f, "ConnectX-6 Lx" }, { 0x1021, "ConnectX-7" },     { 0x1023, "ConnectX-8" },
  };
  static const char *const words[] = {
    "ConnectX-8", "ConnectX-7", "ConnectX-6", "ConnectX-5", "ConnectX-4",
    "ConnectX-3", "Connect-IB", "mlx5",       "hfi1",
  };

  if (fastest != NULL && fastest->speed > newest)
    return g_strdup_printf ("\"%s\" has a link of %ux%s", fabric->devices[fastest->device].name,
                            fastest->lanes, topo_speed_name ((TopoSpeed) fastest->speed));
  for (uint32_t at = 0; at < fabric->n_devices && newest <= TOPO_SPEED_QDR; at++) {
    const TopoDevice *device = &fabric->devices[at];
    const char *model = NULL;

    if (device->is_switch)
      continue;
    for (gsize id = 0; id < G_N_ELEMENTS (models) && model == NULL; id++)
      if (device->model == models[id].id)
        model = models[id].name;
    for (gsize word = 0; word < G_N_ELEMENTS (words) && model == NULL; word++)
      if (strstr (device->name, words[word]) != NULL)
        model = words[word];
    if (model != NULL)
      return g_strdup_printf ("\"%s\" is %s", device->name, model);
  }
  return NULL;
}

void
topo_machine_assumptions (const TopoMachine *machine, GPtrArray *lines)
{
  const TopoFabric *fabric = machine->fabric;
  const TopoParameters *parameters = &machine->parameters;
  const TopoPort *fastest = NULL; /* of the adapters' ports with a cable */
  g_autofree char *newer = NULL;
  TopoParameters usual;
  uint64_t link_Bps = 0;
  const Kind *kind;

  if (fabric == NULL)
    return;
  kind = known_kind (machine->spec);
  for (uint32_t at = 0; at < fabric->n_ports; at++) {
    const TopoPort *port = &fabric->ports[at];
    uint64_t bandwidth_Bps = topo_link_bandwidth_Bps (port->lanes, (TopoSpeed) port->speed);

    if (port->peer == TOPO_NONE || fabric->devices[port->device].is_switch ||
        bandwidth_Bps <= link_Bps)
      continue;
    fastest = port;
    link_Bps = bandwidth_Bps;
  }
  if (machine->node_by_default)
    newer = newer_adapter (fabric,
                           kind->has_own_node ? kind->newest_speed
                                              : MAX (kind->newest_speed, speed_of (fabric)),
                           fastest);
  if (topo_machine_assumes_node (machine))
    g_ptr_array_add (lines,
                     g_strdup_printf ("node: %s (assumed): %u cores, two of %s; "
                                      "node=PROCESSOR, as in node=rome, or node=FILE.xml (hwloc's "
                                      "lstopo FILE.xml) states the node",
                                      machine->node->source, machine->node->n_cores,
                                      machine->node->processor->title));
  if (newer != NULL)
    g_ptr_array_add (
        lines,
        g_strdup_printf ("node: the adapter %s, which is newer than the node %s; node=FILE.xml "
                         "states the node, [memory] and [hca] of a machine file its numbers",
                         newer, machine->node->source));

  set_parameters (machine, &usual);
  if ((machine->node->processor == NULL || machine->node->is_nearest) &&
      parameters->memory.core_bandwidth_Bps == usual.memory.core_bandwidth_Bps &&
      parameters->memory.core_memory_bandwidth_Bps == usual.memory.core_memory_bandwidth_Bps &&
      parameters->memory.core_transfer_bandwidth_Bps == usual.memory.core_transfer_bandwidth_Bps &&
      parameters->memory.cache_bandwidth_Bps == usual.memory.cache_bandwidth_Bps &&
      parameters->memory.bus_bandwidth_Bps == usual.memory.bus_bandwidth_Bps &&
      parameters->memory.dram_bandwidth_Bps == usual.memory.dram_bandwidth_Bps)
    g_ptr_array_add (
        lines,
        g_strdup_printf ("[memory]: bandwidths of %s (assumed) for the node %s, whose processor "
                         "(%s) is not in our table; a machine file or --set memory.bandwidth=... "
                         "and the others change them",
                         machine->node->is_nearest ? machine->node->processor->title : "harpertown",
                         machine->node->source,
                         machine->node->model != NULL ? machine->node->model : "not named"));
  if (machine->node->has_split_memory)
    g_ptr_array_add (lines,
                     g_strdup_printf ("node: %s has one memory for all packages; each is "
                                      "assumed to have its own, as those of %s do",
                                      machine->node->source, machine->node->processor->title));
  if (fastest != NULL && fastest->speed > TOPO_SPEED_QDR &&
      link_Bps > usual.hca.pcie_bandwidth_Bps &&
      (kind->notes == NULL || kind->rate.speed != fastest->speed) &&
      parameters->hca.pcie_bandwidth_Bps == usual.hca.pcie_bandwidth_Bps)
    g_ptr_array_add (
        lines, g_strdup_printf (
                   "hca.pcie_bandwidth: %.4g GB/s (assumed) is less than the %.4g GB/s of the "
                   "adapters' links (%ux%s); --set hca.pcie_bandwidth=... changes it",
                   (double) usual.hca.pcie_bandwidth_Bps / 1e9, (double) link_Bps / 1e9,
                   fastest->lanes, topo_speed_name ((TopoSpeed) fastest->speed)));
}

/* --- Printing --- */

char *
topo_fabric_print_path (const char *name)
{
  gsize skip = layers_length (name);
  g_autofree char *path = NULL;

  if (topo_processor_named (name) != NULL || is_engine (name + skip))
    return g_strdup (name);
  path = g_canonicalize_filename (name + skip, NULL);
  return g_strconcat (skip > 0 ? LAYERS : "", path, NULL);
}

char *
topo_fabric_print_spec (const TopoMachine *machine)
{
  const Kind *kind = known_kind (machine->spec);
  const char *from = machine->spec, *end;
  g_autofree char *path = NULL, *options = NULL;

  /* The path of a file may have any characters. */
  if (kind->is_file)
    from += strlen (kind->kind) + 1 + strlen (machine->fabric->source);
  end = strstr (from, ",failed=");
  if (end == NULL)
    end = strstr (from, ",degraded=");
  if (end == NULL)
    end = strstr (from, ",routes=");
  if (end == NULL)
    end = strstr (from, ",node=");
  if (end == NULL)
    end = strstr (from, ",threads=");
  options = end != NULL ? g_strndup (from, (gsize) (end - from)) : g_strdup (from);
  if (!kind->is_file)
    return g_steal_pointer (&options);
  path = topo_fabric_print_path (machine->fabric->source);
  return g_strconcat (kind->kind, ":", path, options, NULL);
}

const char *const *
topo_fabric_unused (const TopoMachine *machine, const char *keys[TOPO_MAX_UNUSED + 1])
{
  static const struct {
    const char *key;
    TopoSpeed speed;
  } of_speeds[] = { { "ib.fec_edr_latency", TOPO_SPEED_EDR },
                    { "ib.fec_hdr_latency", TOPO_SPEED_HDR },
                    { "ib.fec_ndr_latency", TOPO_SPEED_NDR } };
  static const char *const of_sharp[] = { "sharp.min_leaders", "sharp.payload",
                                          "sharp.transactions", "sharp.max",
                                          "sharp.aggregation_latency" };
  const TopoFabric *fabric = machine->fabric;
  const TopoNode *node = machine->node;
  bool has_speed[TOPO_SPEEDS] = { false }, has_hbm = false;
  uint32_t n_domains = 0, n_packages = 0, n = 0;

  for (uint32_t port = 0; port < fabric->n_ports; port++)
    if (fabric->ports[port].peer != TOPO_NONE)
      has_speed[fabric->ports[port].speed] = true;
  for (uint32_t at = 0; at < node->n_objects; at++) {
    has_hbm |= node->objects[at].is_hbm;
    n_domains += node->objects[at].kind == TOPO_OBJECT_MEMORY;
    n_packages += node->objects[at].kind == TOPO_OBJECT_PACKAGE;
  }
  for (gsize at = 0; at < G_N_ELEMENTS (of_speeds); at++)
    if (!has_speed[of_speeds[at].speed])
      keys[n++] = of_speeds[at].key;
  if (!has_hbm)
    keys[n++] = "memory.hbm_bandwidth";
  if (n_domains <= n_packages)
    keys[n++] = "memory.domain_latency";
  if (machine->parameters.switches.adaptive != TOPO_ADAPTIVE_DETOURS)
    keys[n++] = "switch.detour_factor";
  for (gsize at = 0; at < G_N_ELEMENTS (of_sharp) && machine->parameters.sharp.enabled == 0; at++)
    keys[n++] = of_sharp[at];
  g_assert (n <= TOPO_MAX_UNUSED);
  keys[n] = NULL;
  return keys;
}

void
topo_fabric_notes (const TopoMachine *machine, GArray *notes)
{
  const TopoParameterNote *of_library =
      topo_library_notes ((TopoLibrary) machine->parameters.mpi.library);

  append_notes (known_kind (machine->spec), machine->fabric, machine->node, notes);
  for (; of_library->key != NULL; of_library++)
    g_array_append_vals (notes, of_library, 1);
}
