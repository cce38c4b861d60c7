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
    { "hca.turn", { "1", "1", "4", "200", NULL } },
    { "hca.contexts", { "0", "0", "1", "3", "32", NULL } },
    { "hca.context_miss", { "0ns", "6800ns", "50us", NULL } },
    { "hca.context_fetches", { "1", "1", "4", NULL } },
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
  static const char *const specs[] = {
    "fattree:4x4:2",  "fattree:4x4:4",   "fattree3:4,routes=minhop",
    "fattree:2x40:9", "fattree:3x70:20", NULL
  };
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

  if (has_short_windows)
    ib_set_windows (net, 1);
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
  UINT64_C (0x6c49a511ccaa58fe), UINT64_C (0x115b12357bc1ba1b), UINT64_C (0x8f0b7a7d2c04ba5d),
  UINT64_C (0xe069aea515f1c424), UINT64_C (0x7fcaa9b37ef0d67b), UINT64_C (0xcc30821735eb99fd),
  UINT64_C (0x232e8f406d43c775), UINT64_C (0xe9a258fa1c0006eb), UINT64_C (0x34184d84b5c42be3),
  UINT64_C (0xfd57d7934c7191c1), UINT64_C (0xb37b8b043dced399), UINT64_C (0x87c6d9bb05067bcf),
  UINT64_C (0x5f8f5f5443b62082), UINT64_C (0xebdf8063cc5cc21f), UINT64_C (0x1a6d3f6a80fbb2bb),
  UINT64_C (0xa68c4534f7ced2ed), UINT64_C (0x81cbd2d72332f986), UINT64_C (0xf9c62eee7f735ea0),
  UINT64_C (0xec3767d83474b3f4), UINT64_C (0xdd485a5955afde78), UINT64_C (0x383fb466b55822ee),
  UINT64_C (0x79342d6db6ab9883), UINT64_C (0x6be9639bcf4dc249), UINT64_C (0x31d8ac563ede9cd1),
  UINT64_C (0x878010210130c280), UINT64_C (0x8e38e1ade911e3c7), UINT64_C (0x65f564a173f57440),
  UINT64_C (0xc7b3fc78bc08c4d2), UINT64_C (0xbc946c875532f122), UINT64_C (0x22f2e9f0c39345f5),
  UINT64_C (0x9ed3f53ba099b33e), UINT64_C (0x5e84dc5482f59105), UINT64_C (0x631020484039d7cd),
  UINT64_C (0xd023a81b828a4419), UINT64_C (0xe9901bf38ce756c1), UINT64_C (0x9a41fdcd751610e0),
  UINT64_C (0x1de5d12ff7673353), UINT64_C (0x2c716ba40b6e47f6), UINT64_C (0x7f693ba5a2f78140),
  UINT64_C (0x329d70da2bc94224), UINT64_C (0x899abf7ddff7a07d), UINT64_C (0x6ee299cdda61b6cc),
  UINT64_C (0x34cfdc24ef432221), UINT64_C (0x7c46a6cc0ea11abe), UINT64_C (0x8f73fd34cda271cb),
  UINT64_C (0xccd012000210e5d4), UINT64_C (0xd32524d52292a576), UINT64_C (0xb664f333016a55e3),
  UINT64_C (0xba9e6698c68b163d), UINT64_C (0xa5597fdf5f0c16f8), UINT64_C (0x759f40a2f85b6b54),
  UINT64_C (0x98c8f4f45b727d65), UINT64_C (0xf10d3941d7907131), UINT64_C (0xd056027792de59c3),
  UINT64_C (0x5f568d2cd6de7a65), UINT64_C (0xf662ad9b4c6343ff), UINT64_C (0x7f3408788f29e85e),
  UINT64_C (0x4352dd619684a00b), UINT64_C (0x5660f7898bfa945b), UINT64_C (0xcfca40a63e3e7eb3),
  UINT64_C (0xf1f91f671847f44f), UINT64_C (0xb403424e81528123), UINT64_C (0xafdfed54a924c27d),
  UINT64_C (0xd6c6848c3bf0e3fb), UINT64_C (0xd1078ab673d4a58f), UINT64_C (0x2e950059727c56c5),
  UINT64_C (0x75443c7d956ab740), UINT64_C (0x6358845b4410a5b7), UINT64_C (0xf80d16146ee478a9),
  UINT64_C (0xb116558f09906a51), UINT64_C (0xfc02637c6bf6e08e), UINT64_C (0xc46d98d897bd4087),
  UINT64_C (0x9f4f8d0809891c69), UINT64_C (0x07bd1c184747ed44), UINT64_C (0x09a47db68ac94717),
  UINT64_C (0x19f91062f015bddd), UINT64_C (0x9c77385d56fda651), UINT64_C (0xa42d0db5a7f6fa65),
  UINT64_C (0x1c7f10a459666aea), UINT64_C (0x9d442fac0e02bee5), UINT64_C (0x1dc3125023efe740),
  UINT64_C (0x2a9675f001fe13bf), UINT64_C (0x24c60f540e517c76), UINT64_C (0xa6326352b9ac1f73),
  UINT64_C (0x8c839f602b72ec29), UINT64_C (0xa2e1b9eb61d9af37), UINT64_C (0x865572e62bf56610),
  UINT64_C (0xec1764311759ff7a), UINT64_C (0x691dfd3c2382c426), UINT64_C (0x24894fefb56f8016),
  UINT64_C (0xb6f30a7dc4a04984), UINT64_C (0xa45f2c5e45d06f62), UINT64_C (0xd704ebbcbc9509f3),
  UINT64_C (0x0660a1b020f29a91), UINT64_C (0x331879242a32e873), UINT64_C (0x0282de430eb59929),
  UINT64_C (0x6291aa91e50ad401), UINT64_C (0x386f197771585de4), UINT64_C (0x340bb0651f4d5014),
  UINT64_C (0x0092ffe1bc542172), UINT64_C (0xba5ccd623565ec24), UINT64_C (0x973a6edec7e0d4ea),
  UINT64_C (0x94e14118635b347e), UINT64_C (0x485795d160197d8c), UINT64_C (0xa5e0305d854b65dd),
  UINT64_C (0x78fc16a063015278), UINT64_C (0xaa2f393f68983073), UINT64_C (0x52a6f5c424835578),
  UINT64_C (0x9a3741e44d1642db), UINT64_C (0xf8171d3abf71d4e2), UINT64_C (0xa8de1e5938582976),
  UINT64_C (0xb58e26e0540d986a), UINT64_C (0xe21f95396ad50a21), UINT64_C (0x7fc0c1fc4afc1957),
  UINT64_C (0x4bb799486bcfcb4a), UINT64_C (0xcd667c8445c8b436), UINT64_C (0xa78b3d4f0008a6f7),
  UINT64_C (0x2235c7cb932c84d0), UINT64_C (0xe13013fa4ae3a5e8), UINT64_C (0x93ade54b8a3d656f),
  UINT64_C (0x9a89e057cddba820), UINT64_C (0x75a5de8fe713213a), UINT64_C (0xf0e45e5ed2f3f9c9),
  UINT64_C (0xaaf9685a65cf267a), UINT64_C (0xbc41bce802996e29), UINT64_C (0x7855a7be06d30918),
  UINT64_C (0x46ad1c343f983418), UINT64_C (0x48dc3fb3a0ad5c1e), UINT64_C (0xc9e4299a1518d3ca),
  UINT64_C (0xc3f52a5a837bd563), UINT64_C (0x38b2f12a055a2cab), UINT64_C (0xee586c164b2c2102),
  UINT64_C (0x02dbcbe500a14b65), UINT64_C (0x9dec07cb92a23327), UINT64_C (0x97ec98f51176f6d7),
  UINT64_C (0x383a0fe42666f7ce), UINT64_C (0x5b4d9c860935f1f7), UINT64_C (0x93d3e1aa52df9332),
  UINT64_C (0x2c946610b775fd16), UINT64_C (0x1f5ed597aa872d3d), UINT64_C (0xed6a9a34dd1965fc),
  UINT64_C (0x41d2f4f298b9def8), UINT64_C (0x46cc152e25aa690e), UINT64_C (0x0f2f100b1a695ea1),
  UINT64_C (0x82c6bac9e89ac5e9), UINT64_C (0x3ca487072101173e), UINT64_C (0xffd3b5c17f189ed2),
  UINT64_C (0x283301695db52290), UINT64_C (0x3953f345ae5b649f), UINT64_C (0xea45f090f9ab5b6a),
  UINT64_C (0xa9880d976409ab9e), UINT64_C (0x5c658ecadf5fa95a), UINT64_C (0x5cc4766c6f0c3f7f),
  UINT64_C (0x04eb106e2d643fee), UINT64_C (0xa9c678f5277cead0), UINT64_C (0x964737f50cc17fe6),
  UINT64_C (0x61d9181a636e5c4e), UINT64_C (0x91f33066414dd7dc), UINT64_C (0xe0ce5814d2b99ed8),
  UINT64_C (0x9e8d8072983e1059), UINT64_C (0x0feb5158237e8fc0), UINT64_C (0x8cb65aea7fbfa210),
  UINT64_C (0x58b0fb499229354a), UINT64_C (0xaf95f1a8f14872d2), UINT64_C (0x750dbaef086c627f),
  UINT64_C (0xb5d85b5e09de8d83), UINT64_C (0x265e5549c653c65d), UINT64_C (0x3b4648e4a15d6e39),
  UINT64_C (0xf0b2fdf43512606a), UINT64_C (0xc09fbfded2c84af3), UINT64_C (0x54cd4f8328485b6b),
  UINT64_C (0x135041049600baa5), UINT64_C (0x545abe75b2197e56), UINT64_C (0x8a8e15dd4807efd0),
  UINT64_C (0x7acfc1eb79614430), UINT64_C (0xea0a4e2283cf6741), UINT64_C (0x46ee66e9effc7834),
  UINT64_C (0x4e997b037ed46642), UINT64_C (0xb26dd9ac4d6aedb5), UINT64_C (0x4a93acfd731304bf),
  UINT64_C (0xf434accd373220b3), UINT64_C (0xf72d728ad9c8b30c), UINT64_C (0x36c60aca08ebce17),
  UINT64_C (0xc0c834d0aacc7828), UINT64_C (0x835181a61b5ce35f), UINT64_C (0x705ff4fde222e181),
  UINT64_C (0x05cb497ea7bb5e5c), UINT64_C (0x3e608d61260984db), UINT64_C (0xc152b2caefa71e84),
  UINT64_C (0xc71f8e9ff0b944b9), UINT64_C (0xebe56003e4a5dadc), UINT64_C (0x94952447478a8a11),
  UINT64_C (0x5e46e4f935ea2702), UINT64_C (0xff3f77ff83f7c411), UINT64_C (0xe3c95a26a4c95ed1),
  UINT64_C (0x62ad48a2f2b747a2), UINT64_C (0xb214fe62606aaa2b), UINT64_C (0xed37714effa3237c),
  UINT64_C (0x2d9ede2be0db13bc), UINT64_C (0xaefab22b207cf714), UINT64_C (0x2d8afda25f77a54b),
  UINT64_C (0xf98bc9d2728daea9), UINT64_C (0xfa944c2bf632d844), UINT64_C (0x7a2080479978565b),
  UINT64_C (0xbb9d4c2cc1c1897a), UINT64_C (0xb0f7d41ba33bc2e6), UINT64_C (0x0e41e49f1b33ce82),
  UINT64_C (0x845b8568a683ee61), UINT64_C (0x0cd11783cac50290), UINT64_C (0xc50215941f97a00c),
  UINT64_C (0x920d4eb90e2470b4), UINT64_C (0x5df8f3e458cee3e4), UINT64_C (0xebd2eb92ae3ba38e),
  UINT64_C (0xc11b4f12a7b9b3ff), UINT64_C (0x0c9ab83d2fbfcd6f), UINT64_C (0x52e6148f32621f79),
  UINT64_C (0xd8ddbc0cac2a9c86), UINT64_C (0xbc00782dfdd3b95c), UINT64_C (0x834f15bad7c26f23),
  UINT64_C (0xf37884c3b359d287), UINT64_C (0x04e537f42ef571ce), UINT64_C (0x4cc643090332df10),
  UINT64_C (0x26c9aa3f94ee8734), UINT64_C (0x0fa3eeba0b2af303), UINT64_C (0xfc61c7de6a67ba70),
  UINT64_C (0x216d414f075d7fca), UINT64_C (0x6e89495a0fb79b23), UINT64_C (0x0724ddb682e99773),
  UINT64_C (0x18fd383ecea26101), UINT64_C (0x0c06d59274b93fd8), UINT64_C (0x28fe3351ecebf6b5),
  UINT64_C (0x989b8c25ffc7ef95), UINT64_C (0xc1c7489114e13439), UINT64_C (0x5369703c0dd1d88c),
  UINT64_C (0x6cc7f731b7818a9d), UINT64_C (0xc98be08041727975), UINT64_C (0x6a06822de0a25ecf),
  UINT64_C (0x5de30c133d645f0e), UINT64_C (0x291129be51b214cd), UINT64_C (0x2ac20cc169bc3b34),
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
