/* ib_random_test.c - random machines and programs on the packet network of a fabric.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Machines and programs are drawn from a seed: trees of two and three levels
 * and a line of switches with cables of mixed rates and adapters of two ports;
 * lanes with their arbiters, adaptive switches, congestion control, sizes of
 * buffers, latencies, kinds and sizes of messages, answers sent from callbacks,
 * timers.  The hashes below are those of an engine written differently, whose
 * every arrival was an event of a schedule sorted by unit, on 3,000 seeds; two of
 * its rules had been changed for that: it looked for a free slot before it
 * looked at credits, and a packet behind others woke its port.  FABRIC_SEEDS=
 * "FIRST N" prints the hashes of others. */
#include "sim/net/ib_state.h"
#include "sim/net/network_testing.h"
#include "sim/net/random_testing.h"

static void
draw_message (SimMessage *message, uint64_t most_bytes, BaseRandom *random)
{
  message->kind = base_random_below (random, 2) ? SIM_MESSAGE_SEND : SIM_MESSAGE_WRITE;
  message->acknowledge = base_random_below (random, 2);
  message->bytes = base_random_below (random, 2) ? base_random_below (random, most_bytes + 1)
                                                 : base_random_below (random, 600);
  if (message->kind == SIM_MESSAGE_SEND)
    message->software_bytes = (uint16_t) base_random_below (random, 100);
}

/* Three switches in a line, cables of any rates, adapters with one port and with
 * two: on both ends of the line, and twice on the same switch. */
static Bench *
line_new (BaseRandom *random, const char *const *settings, bool has_lanes)
{
  static const char *const rates[] = { "1xSDR", "4xSDR", "4xDDR", "4xQDR", "4xEDR", "4xNDR", NULL };
  BenchCable cables[] = {
    { 0, 15, 1, 15, NULL }, { 1, 14, 2, 14, NULL }, { 0, 1, 100, 1, NULL }, { 0, 2, 101, 1, NULL },
    { 2, 1, 101, 2, NULL }, { 2, 2, 102, 1, NULL }, { 1, 1, 103, 1, NULL }, { 1, 2, 103, 2, NULL },
    { 1, 3, 104, 1, NULL }, { 0, 3, 104, 2, NULL }, { 2, 3, 105, 2, NULL },
  };

  for (size_t cable = 0; cable < G_N_ELEMENTS (cables); cable++)
    cables[cable].rate = random_text (random, rates);
  return bench_cabled (cables, G_N_ELEMENTS (cables), "minhop", settings, 1,
                       has_lanes ? bench_spread_over_lanes : NULL);
}

/* Settings in the form that the bench takes.  Buffers come first: they must
 * hold a packet at any moment. */
static GStrv
draw_settings (BaseRandom *random)
{
  static const RandomSetting draws[] = {
    { "switch.buffer", { "14KiB", "64KiB", "64KiB", "1MiB", NULL } },
    { "hca.buffer", { "14KiB", "64KiB", NULL } },
    { "switch.vls", { "3", NULL } },
    { "ib.mtu", { "256B", "2KiB", "2KiB", "4KiB", NULL } },
    { "ib.cable_latency", { "1ns", "10ns", "10ns", "3us", "900us", NULL } },
    { "ib.credit_latency", { "1ns", "100ns", "100ns", "2us", "700us", NULL } },
    { "ib.block", { "64B", "64B", "32B", NULL } },
    { "switch.latency", { "1ns", "100ns", "100ns", "1777ps", "1us", NULL } },
    { "switch.reads", { "1", "2", "3", "3", "255", NULL } },
    { "switch.adaptive", { "none", "none", "free", NULL } },
    { "switch.vlarb_high", { "none", "1:3", "2:255,0:1", NULL } },
    { "switch.vlarb_low", { "0:20,1:60,2:5", "2:1,1:1,0:1", NULL } },
    { "switch.high_limit", { "0", "1", "255", NULL } },
    { "hca.pcie_bandwidth", { "3.25GB/s", "100TB/s", "1GB/s", NULL } },
    { "hca.send_latency", { "0ns", "300ns", NULL } },
    { "hca.receive_latency", { "0ns", "250ns", NULL } },
    { "hca.message_gap", { "0ns", "100ns", "3us", NULL } },
    { "hca.read_ahead", { "1", "4", NULL } },
    { "hca.inline", { "0B", "128B", "4KiB", NULL } },
    { "memory.bandwidth", { "100TB/s", "2GB/s", NULL } },
    { "congestion.control", { "true", "false", "false", NULL } },
    { "congestion.threshold", { "0", "8", "15", NULL } },
    { "congestion.ccti_timer", { "1ns", "5us", "100us", NULL } },
  };
  GPtrArray *settings = g_ptr_array_new ();

  for (size_t i = 0; i < G_N_ELEMENTS (draws); i++)
    g_ptr_array_add (
        settings, g_strdup_printf ("%s=%s", draws[i].key, random_text (random, draws[i].values)));
  g_ptr_array_add (settings, NULL);
  return (GStrv) g_ptr_array_free (settings, FALSE);
}

static Bench *
draw_machine (BaseRandom *random)
{
  static const char *const specs[] = { "fattree:4x4:2",  "fattree:4x4:4",   "fattree3:4",
                                       "fattree:2x40:9", "fattree:3x70:20", NULL };
  g_auto (GStrv) settings = draw_settings (random);
  bool has_lanes = base_random_below (random, 2);

  if (base_random_below (random, 3) == 0)
    return line_new (random, (const char *const *) settings, has_lanes);
  return bench_fabric (random_text (random, specs), (const char *const *) settings, 1,
                       has_lanes ? bench_spread_over_lanes : NULL);
}

/* A Dragonfly+ whose packets take detours. */
static Bench *
draw_dragonfly (BaseRandom *random)
{
  static const char *const specs[] = { "dragonflyplus:3x2x2:2", "dragonflyplus:4x2x2:3:6",
                                       "dragonflyplus:5x2x4:2:2", "dragonflyplus:6x3x3:1", NULL };
  static const char *const factors[] = { "switch.detour_factor=1", "switch.detour_factor=2",
                                         "switch.detour_factor=7", NULL };
  g_auto (GStrv) drawn = draw_settings (random);
  g_autoptr (GPtrArray) settings = g_ptr_array_new ();

  for (char **setting = drawn; *setting != NULL; setting++)
    g_ptr_array_add (settings, *setting);
  g_ptr_array_add (settings, (gpointer) "switch.adaptive=detours");
  g_ptr_array_add (settings, (gpointer) random_text (random, factors));
  g_ptr_array_add (settings, NULL);
  return bench_fabric (random_text (random, specs), (const char *const *) settings->pdata, 1, NULL);
}

static SimNetwork *
make_again (gpointer data)
{
  const Bench *bench = data;
  g_autoptr (GError) error = NULL;
  SimNetwork *network =
      sim_ib_new (bench->machine, bench->paths, bench->mapping, NULL, NULL, &error);

  g_assert_no_error (error);
  return network;
}

/* In windows of 1 ps if has_short_windows: nothing may depend on their length.  Saved and loaded on
 * the way if in_parts. */
static uint64_t
run_machine (Bench *(*draw) (BaseRandom *), uint64_t seed, bool has_short_windows, bool in_parts)
{
  static const int64_t within_ps[] = { 0, 0, 100000, 4000000, INT64_C (20000000000) };
  static const uint64_t most_bytes[] = { 0, 700, 4096, 40000 };
  BaseRandom random = base_random_stream (seed, 2);
  g_autoptr (Bench) bench = draw (&random);
  RandomProgram program = {
    .mapping = bench->mapping,
    .seed = seed,
    .n_nodes = bench->n_nodes,
    .n_ranks = bench->n_nodes,
    .n_first = 1 + (uint32_t) base_random_below (&random, 1500),
    .within_ps = within_ps[base_random_below (&random, G_N_ELEMENTS (within_ps))],
    .most_bytes = most_bytes[base_random_below (&random, G_N_ELEMENTS (most_bytes))],
    .answers = (uint32_t) base_random_below (&random, 256),
    .draw_message = draw_message,
    .make_again = in_parts ? make_again : NULL,
    .again_data = bench,
  };
  IbNetwork *net = (IbNetwork *) bench->network;
  uint64_t hash;

  if (has_short_windows) {
    calendar_clear (&net->engine.calendar);
    calendar_init (&net->engine.calendar, 1);
  }
  hash = random_program_run (&program, g_steal_pointer (&bench->network));

  g_test_message ("seed %" G_GUINT64_FORMAT ": %s, %u messages up to %" G_GUINT64_FORMAT
                  " B: 0x%016" G_GINT64_MODIFIER "x",
                  seed, bench->machine->spec, program.n_first, program.most_bytes, hash);
  return hash;
}

static uint64_t
run_seed (uint64_t seed, bool has_short_windows, bool in_parts)
{
  return run_machine (draw_machine, seed, has_short_windows, in_parts);
}

static uint64_t
hash_of_seed (uint64_t seed)
{
  return run_seed (seed, false, false);
}

static uint64_t
hash_in_parts (uint64_t seed)
{
  return run_seed (seed, false, true);
}

/* Of seeds 1, 2, ... */
static const uint64_t golden[] = {
  UINT64_C (0xce8a8e440df19725), UINT64_C (0x6d2129554b71ab23), UINT64_C (0x6cf58512179b6cc1),
  UINT64_C (0x0de7e27076c2b86e), UINT64_C (0x109374559b36cae1), UINT64_C (0x3de698bd7e3e8f40),
  UINT64_C (0xbfc88e5bd401389d), UINT64_C (0x428072eae0e39a79), UINT64_C (0x287376154f955fb3),
  UINT64_C (0x8d23371bca0084c3), UINT64_C (0x29a29900855687fa), UINT64_C (0xb585acac457cd2e5),
  UINT64_C (0x9bf46934e0b14d26), UINT64_C (0xba32ee1dd779f6b1), UINT64_C (0xe164a26c3ca42838),
  UINT64_C (0x5263b33c8b79d9b7), UINT64_C (0x43c2b28939f634a9), UINT64_C (0x5caa9baf986bce30),
  UINT64_C (0x755b5cb74074d1c7), UINT64_C (0xa1a434aec6128d53), UINT64_C (0x549329b25d63a374),
  UINT64_C (0x307d620a30a84fc7), UINT64_C (0xaf657d93400193f9), UINT64_C (0xa26dcda452e1dcb5),
  UINT64_C (0xb7c97c63a0d0924d), UINT64_C (0x7083566fb4f0bef5), UINT64_C (0x1353fb5d221252d8),
  UINT64_C (0x31dbf9dac9d041d2), UINT64_C (0x2d0128b560e4cb97), UINT64_C (0xc8b29a3e93e2c721),
  UINT64_C (0x6b344c7840883e99), UINT64_C (0x1f835ff7c2b22dbe), UINT64_C (0xb1c0b0c09893c920),
  UINT64_C (0x60fb868981ced4ab), UINT64_C (0x433a71a5f016bab6), UINT64_C (0x6c2f3f08fcd10e61),
  UINT64_C (0x0da73b9347795dd8), UINT64_C (0x76987577466310f8), UINT64_C (0x24266ac388b99fee),
  UINT64_C (0x86a67aa14d78d1bc), UINT64_C (0x6bce322359aff03d), UINT64_C (0x1f641d4f57865b41),
  UINT64_C (0x8b150ee8997adfc0), UINT64_C (0x8ae0234048296b5d), UINT64_C (0xcc48c4f5dfe574c2),
  UINT64_C (0x306c484481e16f28), UINT64_C (0x4e837ec86410a149), UINT64_C (0x5be99aaa5f8f49c4),
  UINT64_C (0xac75416bec888b8c), UINT64_C (0x27a050c4e91d84d0), UINT64_C (0x738a58051a9783f2),
  UINT64_C (0x2eeb58984886bf10), UINT64_C (0x60a7848907f78524), UINT64_C (0x325d7be607eb00c4),
  UINT64_C (0x80be40d448695676), UINT64_C (0x606f475eb6049cea), UINT64_C (0xe2c47f68322d6a3a),
  UINT64_C (0xa3028314f890b1e6), UINT64_C (0xe7d219301a755f95), UINT64_C (0x010a5379d2b8ebfb),
  UINT64_C (0x355859b555307921), UINT64_C (0x3de54e39819bb51e), UINT64_C (0x88630beca2060edf),
  UINT64_C (0x669585989989e98a), UINT64_C (0xa43b8a5b551ce714), UINT64_C (0xa1233aa8106b1537),
  UINT64_C (0xcc4da9a95b7d8338), UINT64_C (0x5127db994b3ff537), UINT64_C (0xc3b251dc581039a6),
  UINT64_C (0x17d7d385d3339816), UINT64_C (0x963aad36c342110c), UINT64_C (0xa7946c7759660187),
  UINT64_C (0x5c534c115edfa080), UINT64_C (0x84d7222d7cad2f5c), UINT64_C (0xc7510757f50a43d6),
  UINT64_C (0xb6c3578b7bbdf9bb), UINT64_C (0xfc86b6d9a94c18bf), UINT64_C (0x204bcda50eef2111),
  UINT64_C (0xe921c6bea4fae660), UINT64_C (0x358bc575bbc78991), UINT64_C (0x11841135a95bcbe7),
  UINT64_C (0xaf7038b3a1e67cf7), UINT64_C (0xd55d46b3e866433f), UINT64_C (0x5e29fd72df29928a),
  UINT64_C (0xf3c984503430fded), UINT64_C (0x4832e9055b25f148), UINT64_C (0x8bb3c372c21ce955),
  UINT64_C (0xeda0f774713b481e), UINT64_C (0xdf47cd410d2f5f98), UINT64_C (0xbe4f8a984d4aae0f),
  UINT64_C (0x5de8c5a0feca6dcd), UINT64_C (0xdbc4390696c82147), UINT64_C (0x7e4673f2fb37b0aa),
  UINT64_C (0x143917b69152c8e4), UINT64_C (0xe07df416f6b4ea29), UINT64_C (0x8931a4e7413d2ee2),
  UINT64_C (0x47ea734d2ca47d90), UINT64_C (0x02a8c40ec32f00f8), UINT64_C (0xd130210b0d6a4f89),
  UINT64_C (0x293031efcb6b0023), UINT64_C (0x055bcb9d0ca4a13e), UINT64_C (0xbee0833c3e9d8e8d),
  UINT64_C (0x7709334b846f8dd9), UINT64_C (0x099d36a222834ecf), UINT64_C (0x126022941957a472),
  UINT64_C (0x9ea597391adbda1c), UINT64_C (0xbc45d4278bdf180c), UINT64_C (0xa1c924af9c06620b),
  UINT64_C (0x1d41090d559db723), UINT64_C (0xb2d3df5cb0560f9d), UINT64_C (0x1e74e056fa144853),
  UINT64_C (0x673c47109428e207), UINT64_C (0x5dbbcae5da01db2a), UINT64_C (0x331aa9bc4b67219b),
  UINT64_C (0x573283c9b69bd6e7), UINT64_C (0xee865091ee29b391), UINT64_C (0x2780600065333051),
  UINT64_C (0x7a5459018ef978b1), UINT64_C (0x38a6ee6941cee1aa), UINT64_C (0xd3ffceb0c4d9ca2d),
  UINT64_C (0x2c2c15f8b2382557), UINT64_C (0xca02878ae09e0349), UINT64_C (0x39878b5ea12366d8),
  UINT64_C (0xcb6ab6cbb187bb53), UINT64_C (0x123a22e5fc641e67), UINT64_C (0x16a2bef35f7e8f00),
  UINT64_C (0xe3c60c632bf2def9), UINT64_C (0xf91bb36a8d9c7871), UINT64_C (0x5689396d59f037c6),
  UINT64_C (0xea29eafa2d2d0f32), UINT64_C (0x5ae4b0616d86de80), UINT64_C (0xab4b69e8321d2286),
  UINT64_C (0xa40d258d2449075e), UINT64_C (0xd29c2adf7cc35d1c), UINT64_C (0x0b475d038cba71e1),
  UINT64_C (0xa986233fa1148e18), UINT64_C (0x5ffd97ef9b5e7d7a), UINT64_C (0x65c3ebc3b97a3075),
  UINT64_C (0x094d9204d02977b6), UINT64_C (0xbd707bf2626b22fb), UINT64_C (0x133ddaf83c59e0a3),
  UINT64_C (0x489be9549c7a5617), UINT64_C (0x13e478dc53669bd2), UINT64_C (0x6bc6ab59fb90eaa1),
  UINT64_C (0xdeb41549fe1e33bb), UINT64_C (0x0009efe8bdbc81a3), UINT64_C (0xf6ceb78f8d9317bc),
  UINT64_C (0xe7886a652b017311), UINT64_C (0x14d5636d7dc4bf53), UINT64_C (0x37bea7df3234816b),
  UINT64_C (0xaa3a324bc2d9adad), UINT64_C (0x3e66986850733a2f), UINT64_C (0xcb72db7526d26b0e),
  UINT64_C (0x44ba76d978c9f49b), UINT64_C (0x0a869c688c1bb959), UINT64_C (0xfd94d1ac9ddf401f),
  UINT64_C (0xfa06dce79af98524), UINT64_C (0x3109380afd2f3bf7), UINT64_C (0x0f6f319aebabcb99),
  UINT64_C (0x79ddeb664b9923d1), UINT64_C (0x997a29c72025670c), UINT64_C (0x8d39013e4cd56b00),
  UINT64_C (0x3f761b627a5c00ec), UINT64_C (0xcacf4b4edff4cb0e), UINT64_C (0xf32c3e67b804d1a3),
  UINT64_C (0x6caa303bfbcd7bd0), UINT64_C (0xa81a253a0bb90a62), UINT64_C (0x10ef95aa792444ae),
  UINT64_C (0x7ddcb6d23c132f2a), UINT64_C (0x573c54c49d2fccfd), UINT64_C (0xafa6e3d1c1d78c53),
  UINT64_C (0x5235d93e7c5c24cb), UINT64_C (0xa10265a01215b7eb), UINT64_C (0x8890615969fcdfe4),
  UINT64_C (0xe2c329bca7a55a58), UINT64_C (0x69d8c6000cd21f97), UINT64_C (0x5a3ac6c6a21496bf),
  UINT64_C (0xff9b2afaa493b2c1), UINT64_C (0xb89404b66cdeb165), UINT64_C (0x70e08680e1c9a87d),
  UINT64_C (0xe214530074c6b473), UINT64_C (0x6385342adf3b0b6a), UINT64_C (0x60647ede8022e044),
  UINT64_C (0x99658f898ef823ec), UINT64_C (0x34a5c44b470449f5), UINT64_C (0x7fcca0b3ac3b41a8),
  UINT64_C (0x527f82ec8821f627), UINT64_C (0x251f539f13013237), UINT64_C (0xa4688f5a41d24d78),
  UINT64_C (0x0da11c2368147bdb), UINT64_C (0x592c0f1da880c7f3), UINT64_C (0xf94c299c544ac7be),
  UINT64_C (0x67233ee6c8c442f5), UINT64_C (0xd81bf9c0092c7c3d), UINT64_C (0x44fdff4ec9318345),
  UINT64_C (0x201695e29b83bcdd), UINT64_C (0xcd434024dec49594), UINT64_C (0xb8ee40ca88a06a8c),
  UINT64_C (0xca60274932f40925), UINT64_C (0x90cfe386374f3d43), UINT64_C (0xb3deadb877936a66),
  UINT64_C (0x6043d81a57f7294c), UINT64_C (0x79b59dfc287e4ef1), UINT64_C (0x76c589ed23d528cd),
  UINT64_C (0x3086fd207421db86), UINT64_C (0x784f9784a69cef42), UINT64_C (0x3b38beadb9e0184b),
  UINT64_C (0x8189577160bd6642), UINT64_C (0xbc49a2df7b64e30e), UINT64_C (0xe80dab579259733b),
  UINT64_C (0xfb4978b0096b8528), UINT64_C (0xb8da5bde1b2a6f42), UINT64_C (0xfa8bf880ac7f7f62),
  UINT64_C (0x3d4417b3617b2895), UINT64_C (0x394fe173af1d4756), UINT64_C (0x6f8e6368523d2e78),
  UINT64_C (0x98ee62e85e0ca3ab), UINT64_C (0x8d2b47f74bfeac4d), UINT64_C (0xe3d08c521a4b452b),
  UINT64_C (0xb1de6dd4a987828c), UINT64_C (0xe3c348741a1149c7), UINT64_C (0xbf3f7e39cb3c16b8),
  UINT64_C (0xf58bfddd7e8578dc), UINT64_C (0xf782dc649abaf038), UINT64_C (0x76f03f460e1b1fdf),
  UINT64_C (0xc6576dbd2afefcbf), UINT64_C (0x2ece142da441cc7a), UINT64_C (0xae7eefb888bf361c),
  UINT64_C (0xa183b51ba0f5bc09), UINT64_C (0xddadae48f2711e45), UINT64_C (0x86c730783e61b080),
  UINT64_C (0xd9cf001cb8c8ad12), UINT64_C (0xab59f587ad2879ee), UINT64_C (0x568cfab60fd0c852),
  UINT64_C (0x7ffdee904706510b), UINT64_C (0xa3de963e9c3adcc4), UINT64_C (0xd252447a01f7a613),
  UINT64_C (0x9fa3ce0d120a64e7), UINT64_C (0x51181940a38a5673), UINT64_C (0x5db9090f78433da4),
};

static void
test_golden (void)
{
  random_program_golden ("FABRIC_SEEDS", hash_of_seed, golden, G_N_ELEMENTS (golden));
}

static void
test_windows_do_not_matter (void)
{
  for (uint64_t seed = 1; seed <= 40; seed++)
    g_assert_cmphex (run_seed (seed, true, false), ==, golden[seed - 1]);
}

static void
test_saved (void)
{
  random_program_golden ("FABRIC_SEEDS", hash_in_parts, golden, G_N_ELEMENTS (golden));
}

/* The network checks at the end that all credits of both lanes are back and nothing is stuck. */
static void
test_detours (void)
{
  for (uint64_t seed = 1; seed <= 40; seed++) {
    uint64_t hash = run_machine (draw_dragonfly, seed, false, false);

    g_assert_cmphex (run_machine (draw_dragonfly, seed, true, false), ==, hash);
    g_assert_cmphex (run_machine (draw_dragonfly, seed, false, true), ==, hash);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sim/ib/random/golden", test_golden);
  g_test_add_func ("/sim/ib/random/windows", test_windows_do_not_matter);
  g_test_add_func ("/sim/ib/random/saved", test_saved);
  g_test_add_func ("/sim/ib/random/detours", test_detours);
  return g_test_run ();
}
