/* memory_pairs_test.c - pairs that exchange messages within a node, alone and
 * beside others.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Ping-pongs as Open MPI 1.3 copies them (infiniband.md C2): fragments of 32 KiB,
 * three in flight, copied in by the sender and out by the receiver.  Only the
 * copies: no software, no queues.  The tables are printed as diagnostics. */
#include "sim/node/memory.h"

#define PIECE     4096u
#define FRAGMENT  (8 * PIECE)
#define IN_FLIGHT 3
#define MAX_PAIRS 4
#define REPEATS   6
#define KIBIBYTE  1024u

/* One pair; a message is copied piece by piece. */
typedef struct {
  uint32_t sender, receiver; /* change sides after each message */
  uint32_t n_pieces, n_fragment_pieces;
  uint32_t n_in, n_out;                        /* pieces copied so far */
  int64_t sender_ps, receiver_ps;              /* free again */
  int64_t in_ps[IN_FLIGHT], out_ps[IN_FLIGHT]; /* fragment copied in, out */
  uint32_t n_messages;
} Pair;

typedef struct {
  uint32_t a, b;
} Cores;

static Pair
new_pair (Cores cores, uint64_t bytes)
{
  uint32_t n_pieces = (uint32_t) ((bytes + PIECE - 1) / PIECE);

  return (Pair){ .sender = cores.a,
                 .receiver = cores.b,
                 .n_pieces = n_pieces,
                 .n_fragment_pieces = MIN (n_pieces, FRAGMENT / PIECE) };
}

/* When the sender can go on; INT64_MAX: when the receiver has. */
static int64_t
sender_ready_ps (const Pair *pair)
{
  uint32_t fragment = pair->n_in / pair->n_fragment_pieces;

  if (pair->n_in == pair->n_pieces)
    return INT64_MAX;
  if (pair->n_in % pair->n_fragment_pieces != 0 || fragment < IN_FLIGHT)
    return pair->sender_ps;
  if (pair->n_out < (fragment - IN_FLIGHT + 1) * pair->n_fragment_pieces)
    return INT64_MAX;
  return MAX (pair->sender_ps, pair->out_ps[fragment % IN_FLIGHT]);
}

static int64_t
receiver_ready_ps (const Pair *pair)
{
  uint32_t fragment = pair->n_out / pair->n_fragment_pieces;

  if (pair->n_in < MIN ((fragment + 1) * pair->n_fragment_pieces, pair->n_pieces))
    return INT64_MAX;
  return MAX (pair->receiver_ps, pair->in_ps[fragment % IN_FLIGHT]);
}

static SimBuffer
user_buffer (uint32_t core, const Pair *pair)
{
  return (SimBuffer){ SIM_BUFFER_PRIVATE, core, core, (uint64_t) pair->n_pieces * PIECE };
}

static SimBuffer
fragments (const Pair *pair)
{
  return (SimBuffer){ SIM_BUFFER_SHARED, pair->sender, pair->receiver, IN_FLIGHT * FRAGMENT };
}

static void
send_piece (SimMemory *memory, Pair *pair, int64_t now_ps)
{
  SimCopy copy = { .core = pair->sender,
                   .from = user_buffer (pair->sender, pair),
                   .to = fragments (pair),
                   .bytes = PIECE };
  uint32_t fragment = pair->n_in++ / pair->n_fragment_pieces;

  pair->sender_ps = sim_memory_copy (memory, &copy, now_ps);
  pair->in_ps[fragment % IN_FLIGHT] = pair->sender_ps;
}

static void
receive_piece (SimMemory *memory, Pair *pair, int64_t now_ps)
{
  SimCopy copy = { .core = pair->receiver,
                   .from = fragments (pair),
                   .to = user_buffer (pair->receiver, pair),
                   .bytes = PIECE };
  uint32_t fragment = pair->n_out++ / pair->n_fragment_pieces;

  pair->receiver_ps = sim_memory_copy (memory, &copy, now_ps);
  pair->out_ps[fragment % IN_FLIGHT] = pair->receiver_ps;
  if (pair->n_out < pair->n_pieces)
    return;
  pair->n_messages++;
  pair->n_in = pair->n_out = 0;
  pair->sender_ps = pair->receiver_ps;
  pair->receiver = pair->sender;
  pair->sender = copy.core;
}

/* One piece of the pair that is first. */
static void
step (SimMemory *memory, Pair *pairs, uint32_t n_pairs)
{
  int64_t first_ps = INT64_MAX;
  Pair *first = NULL;

  for (uint32_t at = 0; at < n_pairs; at++) {
    int64_t ready_ps = MIN (sender_ready_ps (&pairs[at]), receiver_ready_ps (&pairs[at]));

    if (ready_ps < first_ps) {
      first_ps = ready_ps;
      first = &pairs[at];
    }
  }
  g_assert (first != NULL);
  if (receiver_ready_ps (first) == first_ps)
    receive_piece (memory, first, first_ps);
  else
    send_piece (memory, first, first_ps);
}

/* Time of one message of the first pair, while all others exchange messages
 * of the same size. */
static double
message_us (const TopoMachine *machine, const Cores *cores, uint32_t n_pairs, uint64_t bytes)
{
  g_autoptr (SimMemory) memory = sim_memory_new (machine);
  Pair pairs[MAX_PAIRS] = { 0 };
  int64_t warm_ps = 0;

  for (uint32_t at = 0; at < n_pairs; at++)
    pairs[at] = new_pair (cores[at], bytes);
  while (pairs[0].n_messages < 2 * REPEATS) {
    step (memory, pairs, n_pairs);
    if (pairs[0].n_messages == REPEATS && pairs[0].n_in + pairs[0].n_out == 0)
      warm_ps = pairs[0].sender_ps;
  }
  return (double) (pairs[0].sender_ps - warm_ps) / REPEATS / 1e6;
}

static TopoMachine *
new_machine (void)
{
  g_autoptr (GError) error = NULL;
  TopoMachine *machine = topo_machine_new ("systemg:1", &error);

  g_assert_no_error (error);
  return machine;
}

/* Same die, other die of the package, other package. */
static const Cores placements[] = { { 0, 1 }, { 0, 2 }, { 0, 4 } };
static const char *const names[] = { "same die", "same package", "other package" };

/* The nearer, the faster, at every size (the paper, section V). */
static void
test_order_of_placements (void)
{
  static const uint64_t sizes[] = { 4 * KIBIBYTE, 32 * KIBIBYTE, 256 * KIBIBYTE, 2048 * KIBIBYTE,
                                    16384 * KIBIBYTE };
  g_autoptr (TopoMachine) machine = new_machine ();

  for (guint at = 0; at < G_N_ELEMENTS (sizes); at++) {
    double us[3];

    for (guint placement = 0; placement < 3; placement++) {
      us[placement] = message_us (machine, &placements[placement], 1, sizes[at]);
      g_test_message ("%8" G_GUINT64_FORMAT " KiB  %-13s %9.2f us  %.2f GB/s", sizes[at] / KIBIBYTE,
                      names[placement], us[placement], (double) sizes[at] / us[placement] / 1e3);
    }
    g_assert_cmpfloat (us[0], <, us[1]);
    g_assert_cmpfloat (us[1], <, us[2]);
  }
}

/* Noise of one, two and three pairs; the further one looks, the less it has
 * in common with the observed pair at the head of each row. */
static const struct {
  Cores pairs[MAX_PAIRS];
  uint32_t n_pairs;
} noises[] = {
  { { { 0, 1 }, { 4, 5 } }, 2 },
  { { { 0, 1 }, { 4, 6 } }, 2 },
  { { { 0, 1 }, { 2, 4 } }, 2 },
  { { { 0, 1 }, { 2, 3 } }, 2 },
  { { { 0, 1 }, { 4, 5 }, { 6, 7 } }, 3 },
  { { { 0, 1 }, { 2, 3 }, { 4, 5 } }, 3 },
  { { { 0, 1 }, { 2, 3 }, { 4, 5 }, { 6, 7 } }, 4 },
  { { { 0, 1 }, { 2, 3 }, { 4, 6 }, { 5, 7 } }, 4 },
  { { { 0, 2 }, { 4, 5 } }, 2 },
  { { { 0, 2 }, { 4, 6 } }, 2 },
  { { { 0, 2 }, { 1, 4 } }, 2 },
  { { { 0, 2 }, { 1, 3 } }, 2 },
  { { { 0, 2 }, { 1, 3 }, { 4, 6 } }, 3 },
  { { { 0, 2 }, { 1, 3 }, { 4, 6 }, { 5, 7 } }, 4 },
  { { { 0, 4 }, { 2, 3 } }, 2 },
  { { { 0, 4 }, { 1, 2 } }, 2 },
  { { { 0, 4 }, { 2, 6 } }, 2 },
  { { { 0, 4 }, { 1, 5 } }, 2 },
  { { { 0, 4 }, { 1, 5 }, { 2, 6 } }, 3 },
  { { { 0, 4 }, { 1, 5 }, { 2, 6 }, { 3, 7 } }, 4 },
};

static double
slowdown (const TopoMachine *machine, const Cores *pairs, uint32_t n_pairs, uint64_t bytes)
{
  return message_us (machine, pairs, n_pairs, bytes) / message_us (machine, pairs, 1, bytes);
}

/* So many times as long a pair takes when it has lost its caches. */
static double
without_caches (const TopoMachine *machine, const Cores *pair, uint64_t bytes)
{
  uint64_t large = 16384 * KIBIBYTE;
  double us = message_us (machine, pair, 1, large) * (double) bytes / (double) large;

  return MAX (1, us / message_us (machine, pair, 1, bytes));
}

/* The slow-down lies between nothing and as many times as there are pairs, all
 * of them without their caches. */
static void
test_interference (void)
{
  static const uint64_t sizes[] = { 4 * KIBIBYTE, 256 * KIBIBYTE, 2048 * KIBIBYTE,
                                    16384 * KIBIBYTE };
  g_autoptr (TopoMachine) machine = new_machine ();

  g_test_message ("slow-down at 4 KiB, 256 KiB, 2 MiB, 16 MiB");
  for (guint at = 0; at < G_N_ELEMENTS (noises); at++) {
    g_autoptr (GString) row = g_string_new (NULL);

    for (uint32_t pair = 0; pair < MAX_PAIRS; pair++)
      if (pair < noises[at].n_pairs)
        g_string_append_printf (row, "(%u %u) ", noises[at].pairs[pair].a,
                                noises[at].pairs[pair].b);
      else
        g_string_append (row, "      ");
    for (guint size = 0; size < G_N_ELEMENTS (sizes); size++) {
      double ratio = slowdown (machine, noises[at].pairs, noises[at].n_pairs, sizes[size]);

      g_string_append_printf (row, " %5.3f", ratio);
      g_assert_cmpfloat (ratio, >, 0.999);
      g_assert_cmpfloat (ratio, <,
                         1.01 * noises[at].n_pairs *
                             without_caches (machine, noises[at].pairs, sizes[size]));
    }
    g_test_message ("%s", row->str);
  }
}

/* A pair that stays within a die has nothing in common with one in the other
 * package as long as its buffers fit; a pair on the same bus has, once they
 * do not. */
static void
test_noise_elsewhere (void)
{
  static const Cores far[] = { { 0, 1 }, { 4, 5 } }, near[] = { { 0, 1 }, { 2, 3 } };
  g_autoptr (TopoMachine) machine = new_machine ();

  g_assert_cmpfloat_with_epsilon (slowdown (machine, far, 2, 256 * KIBIBYTE), 1, 1e-9);
  g_assert_cmpfloat_with_epsilon (slowdown (machine, near, 2, 256 * KIBIBYTE), 1, 1e-9);
  g_assert_cmpfloat (slowdown (machine, near, 2, 16384 * KIBIBYTE), >, 1.2);
  g_assert_cmpfloat (slowdown (machine, near, 2, 16384 * KIBIBYTE), >,
                     slowdown (machine, far, 2, 16384 * KIBIBYTE));
}

/* Two pairs across the same dies: at 1 MiB each die has four buffers in its L2 of
 * 6 MiB; at 2 MiB it has not the room, and both pairs lose their caches.  Alone,
 * or on other dies, a pair keeps them. */
static void
test_noise_takes_room (void)
{
  static const Cores same[] = { { 0, 2 }, { 1, 3 } }, other[] = { { 0, 2 }, { 4, 6 } };
  g_autoptr (TopoMachine) machine = new_machine ();

  g_assert_cmpfloat (slowdown (machine, same, 2, 1024 * KIBIBYTE), <, 1.05);
  g_assert_cmpfloat (slowdown (machine, same, 2, 2048 * KIBIBYTE), >, 1.5);
  g_assert_cmpfloat_with_epsilon (slowdown (machine, other, 2, 2048 * KIBIBYTE), 1, 0.01);
  g_assert_cmpfloat_with_epsilon (message_us (machine, same, 2, 2048 * KIBIBYTE) /
                                      message_us (machine, same, 2, 16384 * KIBIBYTE),
                                  1. / 8, 0.01);
}

/* More pairs never help. */
static void
test_noise_adds_up (void)
{
  static const Cores dies[] = { { 0, 1 }, { 2, 3 }, { 4, 5 }, { 6, 7 } };
  static const Cores packages[] = { { 0, 4 }, { 1, 5 }, { 2, 6 }, { 3, 7 } };
  g_autoptr (TopoMachine) machine = new_machine ();
  double die = 1, package = 1;

  for (uint32_t n_pairs = 2; n_pairs <= 4; n_pairs++) {
    double more_die = slowdown (machine, dies, n_pairs, 16384 * KIBIBYTE);
    double more_package = slowdown (machine, packages, n_pairs, 16384 * KIBIBYTE);

    g_assert_cmpfloat (more_die, >, 0.99 * die);
    g_assert_cmpfloat (more_package, >, 0.99 * package);
    die = more_die;
    package = more_package;
  }
  g_assert_cmpfloat (die, >, 1.5);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sim/memory/pairs/order", test_order_of_placements);
  g_test_add_func ("/sim/memory/pairs/interference", test_interference);
  g_test_add_func ("/sim/memory/pairs/noise-elsewhere", test_noise_elsewhere);
  g_test_add_func ("/sim/memory/pairs/noise-takes-room", test_noise_takes_room);
  g_test_add_func ("/sim/memory/pairs/noise-adds-up", test_noise_adds_up);
  return g_test_run ();
}
