/* torus_test.c - random machines and programs on the packet network of a torus.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Machines and programs are drawn from a seed: shapes, meshes, sizes of
 * buffers, latencies, routing policies, ranks per node, kinds and sizes of
 * messages, answers sent from callbacks, timers.  The hashes below are those of
 * an engine written differently, whose every arrival, token and FIFO was an
 * event of a sorted schedule; it went when this one had given the same on
 * 3,000 seeds.  TORUS_SEEDS="FIRST N" prints the hashes of others. */
#include "sim/net/random_testing.h"

static void
draw_message (SimMessage *message, uint64_t most_bytes, BaseRandom *random)
{
  static const uint8_t kinds[] = { SIM_MESSAGE_EAGER,      SIM_MESSAGE_EAGER, SIM_MESSAGE_CONTROL,
                                   SIM_MESSAGE_REMOTE_GET, SIM_MESSAGE_DATA,  SIM_MESSAGE_DATA,
                                   SIM_MESSAGE_DIRECT };

  message->kind = kinds[base_random_below (random, G_N_ELEMENTS (kinds))];
  message->descriptors = (uint8_t) (1 + base_random_below (random, 2));
  message->force_deterministic = base_random_below (random, 4) == 0;
  if (message->kind != SIM_MESSAGE_CONTROL && message->kind != SIM_MESSAGE_REMOTE_GET)
    message->bytes = base_random_below (random, 2) ? base_random_below (random, most_bytes + 1)
                                                   : base_random_below (random, 600);
}

static TopoMachine *
draw_machine (BaseRandom *random)
{
  static const char *const specs[] = { "torus:2",     "torus:3",          "torus:8",
                                       "torus:4x4",   "torus:4x3m",       "torus:5x3x2",
                                       "torus:8x4m",  "torus:3mx3mx2m",   "torus:2x2x2x2x2x4",
                                       "torus:4x4x4", "torus:3x2x3x2mx2", "bgq:32",
                                       "bgq:64",      "bgq:128",          "bgq:1024",
                                       NULL };
  static const RandomSetting settings[] = {
    { "router.bubble_tokens", { "", "", "", "2", "3", "8", "200", NULL } },
    { "router.priority_tokens", { "", "", "2", "9", NULL } },
    { "router.dynamic_tokens", { "", "", "33", "40", "1000", NULL } },
    { "router.dynamic_queues", { "", "", "1", "2", NULL } },
    { "router.stay_on_bubble", { "", "true", NULL } },
    { "router.receiver_grants", { "", "", "1", "3", NULL } },
    { "router.reception_packets", { "", "", "1", "3000", NULL } },
    { "link.hop_latency", { "", "", "", "1ns", "37ns", "20us", "1ms", NULL } },
    { "link.token_latency", { "", "", "", "1ns", "90ns", "12us", NULL } },
    { "link.midplane_latency", { "", "0ns", "300ns", "1ms", NULL } },
    { "messaging.injection_latency", { "", "", "1ns", "1us", NULL } },
    { "messaging.reception_latency", { "", "", "0ns", "1us", NULL } },
    { "messaging.memory_bandwidth", { "", "", "1GB/s", "200MB/s", NULL } },
    { "packet.payload", { "", "", "", "128B", "1KiB", NULL } },
    { "link.bandwidth", { "", "", "", "100GB/s", "10MB/s", NULL } },
  };
  static const uint32_t ranks[] = { 1, 1, 2, 3, 16, 64 };
  g_autoptr (GError) error = NULL;
  TopoMachine *machine = topo_machine_new (random_text (random, specs), &error);

  g_assert_no_error (error);
  random_set_parameters (&machine->parameters, settings, G_N_ELEMENTS (settings), random);
  topo_machine_set_ranks_per_node (machine, ranks[base_random_below (random, G_N_ELEMENTS (ranks))],
                                   &error);
  g_assert_no_error (error);
  return machine;
}

typedef struct {
  const TopoMachine *machine;
  const TopoMapping *mapping;
  RoutePolicy policy;
  uint32_t n_threads;
} Again;

static SimNetwork *
make_again (gpointer data)
{
  const Again *again = data;
  g_autoptr (GError) error = NULL;
  SimNetwork *network = sim_packet_new (again->machine, again->mapping, again->policy,
                                        again->n_threads, NULL, NULL, &error);

  g_assert_no_error (error);
  return network;
}

typedef struct {
  uint32_t n_threads;
  bool is_saved; /* and loaded on the way */
  bool shares;   /* RandomProgram.shares */
} How;

static uint64_t
run_seed (uint64_t seed, How how)
{
  static const int64_t within_ps[] = { 0, 0, 100000, 50000000, INT64_C (20000000000) };
  static const uint64_t most_bytes[] = { 0, 700, 4096, 65536 };
  BaseRandom random = base_random_stream (seed, 1);
  g_autoptr (TopoMachine) machine = draw_machine (&random);
  uint32_t n_nodes = topo_shape_nodes (&machine->shape);
  uint32_t n_ranks = n_nodes * machine->ranks_per_node;
  g_autoptr (GError) error = NULL;
  g_autoptr (TopoMapping) mapping = topo_mapping_new (NULL, machine, n_ranks, &error);
  RoutePolicy policy = base_random_below (&random, 3) == 0
                           ? ROUTE_POLICY_DEFAULT
                           : (RoutePolicy) (ROUTE_POLICY_DEFAULT + base_random_below (&random, 6));
  RandomProgram program = { .mapping = mapping,
                            .seed = seed,
                            .n_nodes = n_nodes,
                            .n_ranks = n_ranks,
                            .draw_message = draw_message };
  Again again = { machine, mapping, policy, how.n_threads };
  uint64_t hash;

  g_assert_no_error (error);
  program.shares = how.shares;
  if (how.is_saved) {
    program.make_again = make_again;
    program.again_data = &again;
  }
  program.within_ps = within_ps[base_random_below (&random, G_N_ELEMENTS (within_ps))];
  program.most_bytes = most_bytes[base_random_below (&random, G_N_ELEMENTS (most_bytes))];
  program.n_first = (uint32_t) base_random_below (&random, 3000);
  program.answers = (uint32_t) base_random_below (&random, 256);
  hash = random_program_run (&program, make_again (&again));
  g_test_message ("seed %" G_GUINT64_FORMAT ": %s, policy %d, %u ranks, %u messages up to"
                  " %" G_GUINT64_FORMAT " B: 0x%016" G_GINT64_MODIFIER "x",
                  seed, machine->spec, policy, n_ranks, program.n_first, program.most_bytes, hash);
  return hash;
}

static uint64_t
hash_of_seed (uint64_t seed)
{
  return run_seed (seed, (How){ .n_threads = 1 });
}

static uint64_t
hash_in_pieces (uint64_t seed)
{
  return run_seed (seed, (How){ .n_threads = 1, .is_saved = true });
}

/* With 2 to 4 threads; some saved and loaded on the way. */
static uint64_t
hash_of_threads (uint64_t seed)
{
  return run_seed (seed,
                   (How){ .n_threads = 2 + (uint32_t) (seed % 3), .is_saved = seed % 4 == 0 });
}

/* Of seeds 1, 2, ... */
static const uint64_t golden[] = {
  UINT64_C (0xe4d669718c71feef), UINT64_C (0xa5eb203841e7e54a), UINT64_C (0x189deef9dbd52180),
  UINT64_C (0x6c08befe58d49acb), UINT64_C (0x66b4d3a44ceb4729), UINT64_C (0x1c8f8778f52d376a),
  UINT64_C (0x1d77213a753c8e36), UINT64_C (0x83ed4ebf4caea813), UINT64_C (0x543b5333380032a1),
  UINT64_C (0x725cd8ab579ed5ea), UINT64_C (0x61463c5fc094dee3), UINT64_C (0x69bbb506dc0422ed),
  UINT64_C (0xe9d8270a8cac33dc), UINT64_C (0x876ce24e63a074d8), UINT64_C (0xbc8d73510363f7bc),
  UINT64_C (0x4302a8adfa9048fd), UINT64_C (0x427e8d37dd4c5cde), UINT64_C (0x1802f0ed9ccde417),
  UINT64_C (0xe2071db3cbf84349), UINT64_C (0x13b6a0c196f05abc), UINT64_C (0xd7b50ecfd18ef08e),
  UINT64_C (0xd9792c710054761a), UINT64_C (0x65c1503d513f7d30), UINT64_C (0xe70ae8544bcc962c),
  UINT64_C (0x29627ddafa9e4797), UINT64_C (0x115f2d50046a1207), UINT64_C (0xe2a0d0080604d117),
  UINT64_C (0x075bf30a8ed89538), UINT64_C (0xa5a67782408bf74d), UINT64_C (0x4522f1f11367be14),
  UINT64_C (0xe952026fdd40afe6), UINT64_C (0xabc56301eac2729e), UINT64_C (0xabdda345dc7268dd),
  UINT64_C (0x8e39f9e9182f43cb), UINT64_C (0xca2a224e3372f3fe), UINT64_C (0x45effc89a7541412),
  UINT64_C (0x023d249f2e5e912a), UINT64_C (0x79e5b4ee011b43cb), UINT64_C (0xa474ab180348d337),
  UINT64_C (0x0fde61ead5801af5), UINT64_C (0x3d67e6a00a3325e8), UINT64_C (0x63c41e71e580f536),
  UINT64_C (0xcc3119be5c42c97f), UINT64_C (0x1ed81355a96023b1), UINT64_C (0x4be9f382a96ec86a),
  UINT64_C (0xf0f884b70d120cdc), UINT64_C (0xbc7784bde07e44a7), UINT64_C (0xc46bf6c5698a6803),
  UINT64_C (0x09b8e3d05ddca028), UINT64_C (0xba98485cbc867f90), UINT64_C (0x031040fd614c77cf),
  UINT64_C (0x1756c5b0e6d535a1), UINT64_C (0x29c21a020d92c7d4), UINT64_C (0xcf6b24619997c460),
  UINT64_C (0xdea2d7b4e014eb58), UINT64_C (0xa5bb5986367da329), UINT64_C (0xa15e24bb8e31b57a),
  UINT64_C (0xd8996cd9ab1eca2b), UINT64_C (0xed0bc9a564e5c185), UINT64_C (0x3502a827c3f67568),
  UINT64_C (0x4d14db6e12504c6a), UINT64_C (0x59aedda0292da110), UINT64_C (0x7b80b5775c8896f2),
  UINT64_C (0x3464949b58ffa2d1), UINT64_C (0xad4e8695dd7dabdb), UINT64_C (0xaadafd3973b59bbd),
  UINT64_C (0x72083aab8bc78e2f), UINT64_C (0xfdfc10aae0971081), UINT64_C (0x92dba70b693a1237),
  UINT64_C (0x899260d141bc627b), UINT64_C (0x1aa191ba8ace1da1), UINT64_C (0x197dde31e788b636),
  UINT64_C (0x08703e0164844671), UINT64_C (0xfc4f4738b65d1502), UINT64_C (0x524274b25d522963),
  UINT64_C (0x2d1592581725d661), UINT64_C (0x7ec64b1a7ac20fa7), UINT64_C (0xabbff95e5d84b511),
  UINT64_C (0xc08b9cae357c531b), UINT64_C (0x6415fd6e695a6be0), UINT64_C (0xd0a78bb134153654),
  UINT64_C (0x179433a904aa1fdf), UINT64_C (0x276fbf929ccc6988), UINT64_C (0xff5dc7d60cd4d4d2),
  UINT64_C (0xc7862a72452e2a3e), UINT64_C (0x978d217123ea8bea), UINT64_C (0x62ee6fe43f99738b),
  UINT64_C (0x7e6c2b817342b3bb), UINT64_C (0x5d39907b223398f4), UINT64_C (0x7ca0dabd995cf62e),
  UINT64_C (0x0adde448e0adaaca), UINT64_C (0xa979c43ef00742fe), UINT64_C (0x0a0c353d8aed550a),
  UINT64_C (0x28ee3e8b75d05e60), UINT64_C (0xb73dbe1f30552a0a), UINT64_C (0xecf633176a708202),
  UINT64_C (0xeb0ef4951538b7f4), UINT64_C (0xfc4dc44b87c0fcc9), UINT64_C (0x76c38360aeefde3f),
  UINT64_C (0xa1ec8c1617a1ad80), UINT64_C (0xeb921e0e391e0607), UINT64_C (0x6af58b87af1d4a72),
  UINT64_C (0xf6b1e675f52de06c), UINT64_C (0xa383783531ef06c2), UINT64_C (0x8f275bdd8cc266c4),
  UINT64_C (0xd780905a491abecc), UINT64_C (0xc5d159757b92b630), UINT64_C (0x51633163bb435605),
  UINT64_C (0x5d5563f8e997d289), UINT64_C (0x0a7d4f100a56b4a1), UINT64_C (0x454912d4c752ff4a),
  UINT64_C (0xca5f9c4a00bfa39f), UINT64_C (0x2beec77787af8be4), UINT64_C (0xca8258409b674272),
  UINT64_C (0x1501b7d31f61c70c), UINT64_C (0xd723e7d61e9b3bd2), UINT64_C (0x7d9a24daae6adc11),
  UINT64_C (0x06c9f41fabcee002), UINT64_C (0x28b830eb80daf7de), UINT64_C (0x40134e3d11096c94),
  UINT64_C (0x6dbf057503ee7c98), UINT64_C (0x3260f7d37d0ac179), UINT64_C (0x445bdf29eb556780),
  UINT64_C (0x499daf93e3ce2021), UINT64_C (0x80e129cfcd89c462), UINT64_C (0x3b7ab0accfb6472e),
  UINT64_C (0xb8bf387ded65d728), UINT64_C (0xf576d4bc15f57822), UINT64_C (0xa8ce2cd105085ae5),
  UINT64_C (0x961754705404fb1f), UINT64_C (0x8ba3064229d5a548), UINT64_C (0xa11012825a6a1a06),
  UINT64_C (0x37f5c63967967091), UINT64_C (0xfbba93cb88d9d2b8), UINT64_C (0x15b9fa186fa1fc21),
  UINT64_C (0x25f40e221bea5acc), UINT64_C (0xcd472782027b4d7f), UINT64_C (0x070171f0d3ba49ae),
  UINT64_C (0x3aaaf4bab75213b9), UINT64_C (0xe8979a87223adb8c), UINT64_C (0x8365c258240060d1),
  UINT64_C (0x2bb83ba33f1626e7), UINT64_C (0x340091080b901fac), UINT64_C (0x630d402eab446783),
  UINT64_C (0x3a6baae4dd12ebf5), UINT64_C (0x6474273c133e1e0c), UINT64_C (0x871ae5227cf9d894),
  UINT64_C (0x8b78d820367b19d1), UINT64_C (0x019c537fe54b467d), UINT64_C (0xaf2c3e54443bc497),
  UINT64_C (0xf066ffa60f808e11), UINT64_C (0x2a4749ba26fa81b3), UINT64_C (0x3f24880b46518d2b),
  UINT64_C (0x24476fe5ec47f83c), UINT64_C (0x60730a5fe8f12968), UINT64_C (0xdd7bff015b3cf16d),
  UINT64_C (0xc26074231ae84113), UINT64_C (0x72e75f5cc25005f5), UINT64_C (0x8a0518c03678c729),
  UINT64_C (0xf5e863e9956c13d9), UINT64_C (0x0662699fdb392c17), UINT64_C (0x3243740ac9cc767a),
  UINT64_C (0x56b703db664057dc), UINT64_C (0x66f5b1798f965ffc), UINT64_C (0xe044f3f769fc6162),
  UINT64_C (0x727de2b71327c2ee), UINT64_C (0xb512438f6102ccf9), UINT64_C (0xd79eae3b4bac703d),
  UINT64_C (0x946d2199ed4ec9e4), UINT64_C (0x076ba71f47c3f115), UINT64_C (0x93287eb96ead638f),
  UINT64_C (0xf0e2a9c7e607d06c), UINT64_C (0x3e87217e78268fb0), UINT64_C (0xfd862c144ac17f10),
  UINT64_C (0x2f4b57b02b52e9df), UINT64_C (0x00b9a434ef986ed4), UINT64_C (0x08571a024a5fe161),
  UINT64_C (0x24b120707fc6005e), UINT64_C (0xfa123d97f6e87d9e), UINT64_C (0x65950c4ce75886c0),
  UINT64_C (0x365e6b962195cdb3), UINT64_C (0xf9e646e83023ae62), UINT64_C (0xab293c7ad088add3),
  UINT64_C (0xaef2a544c1be30be), UINT64_C (0x4bb04a9be0ba054f), UINT64_C (0x48ef3b9bfd73c63d),
  UINT64_C (0xbebf96a8e35f5624), UINT64_C (0x8298e69ba801c595), UINT64_C (0x53ef50e2cd43b7e7),
  UINT64_C (0x9ed9b2958cc79649), UINT64_C (0x14469cc7c4ff3b90), UINT64_C (0x865f3069bace71dc),
  UINT64_C (0x7b44c5510d3dc912), UINT64_C (0x473fb316eb2bbb24), UINT64_C (0xe65d035bcc6f9827),
  UINT64_C (0x65b9943eb80a760a), UINT64_C (0x08e2709f53b472de), UINT64_C (0x739a214f8d94ba2b),
  UINT64_C (0xa7b1418ed1afec7c), UINT64_C (0x22404bd0f1e339df),
};

static void
test_golden (void)
{
  random_program_golden ("TORUS_SEEDS", hash_of_seed, golden, G_N_ELEMENTS (golden));
}

static void
test_saved (void)
{
  random_program_golden ("TORUS_SEEDS", hash_in_pieces, golden, G_N_ELEMENTS (golden));
}

/* Threads that have to take turns are slow: the first seeds; all of them by TORUS_THREADS=all. */
static uint32_t
n_threaded (uint32_t some)
{
  return g_getenv ("TORUS_THREADS") != NULL ? G_N_ELEMENTS (golden) : some;
}

static void
test_threads (void)
{
  random_program_golden ("TORUS_SEEDS", hash_of_threads, golden, n_threaded (16));
}

/* Timers that callbacks of other parts set. */
static void
test_shared_timers (void)
{
  for (uint32_t seed = 1; seed <= n_threaded (10); seed++) {
    How alone = { .n_threads = 1, .shares = true };
    How together = { .n_threads = 2 + seed % 3, .is_saved = seed % 2, .shares = true };

    g_assert_cmphex (run_seed (seed, alone), ==, run_seed (seed, together));
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sim/torus/golden", test_golden);
  g_test_add_func ("/sim/torus/saved", test_saved);
  g_test_add_func ("/sim/torus/threads", test_threads);
  g_test_add_func ("/sim/torus/shared-timers", test_shared_timers);
  return g_test_run ();
}
