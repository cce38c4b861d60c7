/* memory_room_test.c - room in a cache that several cores share.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A dual Harpertown's L2 of 6 MiB, below which are cores 0 and 1 (2 and 3 ...).
 * Where a buffer was shows in the memory, which serves the lines that do not come from
 * a cache.  Each rank has two buffers (cache_share 50 %), to send and to receive. */
#include "sim/node/memory.h"

#define PIECE     4096u
#define KIBIBYTE  1024u
#define MEBIBYTE  (1024u * KIBIBYTE)
#define FRAGMENTS (96u * KIBIBYTE)

typedef struct {
  TopoMachine *machine;
  SimMemory *memory;
  int64_t now_ps;
} Node;

static Node
new_node_of (const char *spec)
{
  g_autoptr (GError) error = NULL;
  TopoMachine *machine = topo_machine_new (spec, &error);

  g_assert_no_error (error);
  machine->parameters.memory.cache_share = 0.5;
  machine->parameters.memory.copy_quantum_bytes = PIECE;
  return (Node){ .machine = machine, .memory = sim_memory_new (machine) };
}

static Node
new_node (void)
{
  return new_node_of ("systemg:2");
}

static void
node_free (Node *it)
{
  sim_memory_free (it->memory);
  topo_machine_free (it->machine);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Node, node_free)

static SimBuffer
own (uint32_t core, uint64_t footprint)
{
  return (SimBuffer){ SIM_BUFFER_PRIVATE, core, core, footprint };
}

static SimBuffer
fragments (uint32_t writer, uint32_t reader)
{
  return (SimBuffer){ SIM_BUFFER_SHARED, writer, reader, FRAGMENTS };
}

/* Bytes that the memory serves for a piece that a core copies. */
static uint64_t
memory_bytes (Node *it, uint32_t core, SimBuffer from, SimBuffer to)
{
  uint32_t dram = it->machine->node->memory[0];
  uint64_t before = sim_memory_bytes (it->memory, 0, dram);

  it->now_ps = sim_memory_copy (
      it->memory, &(SimCopy){ .core = core, .from = from, .to = to, .bytes = PIECE }, it->now_ps);
  return sim_memory_bytes (it->memory, 0, dram) - before;
}

/* A piece of a message that leaves the core for a core of another die: copied
 * in, which asks nothing of the memory if the buffer and the fragments are in the L2. */
static uint64_t
send_piece (Node *it, uint32_t core, uint64_t footprint)
{
  return memory_bytes (it, core, own (core, footprint), fragments (core, core ^ 2));
}

/* Pieces that came from memory, of so many bytes that a core sends over and over. */
static uint64_t
send_bytes (Node *it, uint32_t core, uint64_t footprint, uint64_t bytes)
{
  uint64_t missed = 0;

  for (uint64_t sent = 0; sent < bytes; sent += PIECE)
    missed += send_piece (it, core, footprint) > 0;
  return missed;
}

/* Two ranks of different pairs take turns, piece by piece, each until it has used
 * its bytes; the pieces that came from memory. */
static void
take_turns (Node *it, const uint64_t footprint[2], uint64_t bytes, uint64_t missed[2])
{
  missed[0] = missed[1] = 0;
  for (uint64_t sent = 0; sent < bytes; sent += PIECE)
    for (uint32_t core = 0; core < 2; core++)
      missed[core] += send_piece (it, core, footprint[core]) > 0;
}

/* 2 * 3 MiB fill the cache, alone; one byte more does not fit. */
static void
test_alone (void)
{
  g_auto (Node) node = new_node ();

  g_assert_cmpuint (send_bytes (&node, 0, 3 * MEBIBYTE, 20 * MEBIBYTE), ==, 0);
  g_assert_cmpuint (send_bytes (&node, 0, 3 * MEBIBYTE + 1, MEBIBYTE), ==, 256);
  g_assert_cmpuint (send_bytes (&node, 2, 3 * MEBIBYTE, 20 * MEBIBYTE), ==, 0);
}

/* A pair on one die has source and target there, both of 3 MiB, and is one
 * pair whichever of the two copies. */
static void
test_pair_of_one_die (void)
{
  g_auto (Node) node = new_node ();

  for (uint32_t piece = 0; piece < 4096; piece++) {
    uint32_t sender = piece / 768 % 2, receiver = 1 - sender;

    g_assert_cmpuint (
        memory_bytes (&node, sender, own (sender, 3 * MEBIBYTE), fragments (sender, receiver)), ==,
        0);
    g_assert_cmpuint (
        memory_bytes (&node, receiver, fragments (sender, receiver), own (receiver, 3 * MEBIBYTE)),
        ==, 0);
  }
}

/* Two pairs with two buffers each: 4 * 1.5 MiB fill the cache, 4 * 2 MiB do
 * not.  In turn: each of the first pieces finds its bytes as long as the
 * different bytes that both have used are no more than 6 MiB. */
static void
test_two_pairs (void)
{
  static const struct {
    uint64_t footprint[2];
    bool stays[2];
  } cases[] = {
    { { 1536 * KIBIBYTE, 1536 * KIBIBYTE }, { true, true } },
    { { 1540 * KIBIBYTE, 1540 * KIBIBYTE }, { false, false } },
    { { 2 * MEBIBYTE, 2 * MEBIBYTE }, { false, false } },
    { { 2 * MEBIBYTE, 1 * MEBIBYTE }, { true, true } },
    { { 2560 * KIBIBYTE, 516 * KIBIBYTE }, { false, true } }, /* 5 + 1.01 MiB; 1.01 + 1.01 */
    { { 16 * MEBIBYTE, 1532 * KIBIBYTE }, { false, true } },  /* as much in the same time */
    { { 16 * MEBIBYTE, 1540 * KIBIBYTE }, { false, false } },
  };

  for (guint at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_auto (Node) node = new_node ();
    uint64_t missed[2];

    take_turns (&node, cases[at].footprint, 16 * MEBIBYTE, missed);
    take_turns (&node, cases[at].footprint, 4 * MEBIBYTE, missed);
    for (uint32_t core = 0; core < 2; core++)
      g_assert_cmpuint (missed[core], ==, cases[at].stays[core] ? 0 : 1024);
  }
}

/* How far others have got counts, not how much they have.  Beside one that is twice
 * as fast, 2 * 1020 KiB come to 3 * 2040 KiB used in a round, to four times that beside
 * one that is three times as fast. */
static void
test_faster_pair (void)
{
  for (uint32_t times = 1; times <= 4; times++) {
    g_auto (Node) node = new_node ();
    uint64_t missed = 0;

    for (uint32_t piece = 0; piece < 2048; piece++) {
      bool misses = send_piece (&node, 0, 1020 * KIBIBYTE) > 0;

      missed += piece >= 1024 && misses;
      send_bytes (&node, 1, 16 * MEBIBYTE, times * PIECE);
    }
    g_assert_cmpuint (missed, ==, times <= 2 ? 0 : 1024);
  }
}

/* The bytes that a pair has used before the other's last round no longer counts: from
 * then on the other is as if alone. */
static void
test_silence_gives_room_back (void)
{
  static const uint64_t both[] = { 2 * MEBIBYTE, 2 * MEBIBYTE };
  g_auto (Node) node = new_node ();
  uint64_t missed[2], back;

  take_turns (&node, both, 16 * MEBIBYTE, missed);
  back = send_bytes (&node, 0, both[0], 4 * MEBIBYTE);
  /* Beside 4 MiB of its own there is room for the other's last 2 MiB; that is, to
   * a piece, from the 512th piece on. */
  g_assert_cmpuint (back, >=, 511);
  g_assert_cmpuint (back, <=, 513);
  g_assert_cmpuint (send_bytes (&node, 0, both[0], 64 * MEBIBYTE), ==, 0);
  /* A pair that comes back after so long finds nothing of its own for a round; the
   * silence is smeared over that one, so that it may take part of another. */
  g_assert_cmpuint (send_bytes (&node, 1, MEBIBYTE, 2 * MEBIBYTE), ==, 0);
  send_bytes (&node, 0, 3 * MEBIBYTE, 12 * MEBIBYTE);
  g_assert_cmpuint (send_bytes (&node, 1, MEBIBYTE, 2 * MEBIBYTE), ==, 512);
  send_bytes (&node, 1, MEBIBYTE, 2 * MEBIBYTE);
  g_assert_cmpuint (send_bytes (&node, 1, MEBIBYTE, 16 * MEBIBYTE), ==, 0);
}

/* A rank that fills its node's adapter is a pair like any other; other dies and
 * other nodes are none of it. */
static void
test_who_competes (void)
{
  static const struct {
    uint32_t node, core;
    bool competes;
  } others[] = { { 0, 1, true }, { 0, 2, false }, { 0, 4, false }, { 1, 1, false } };

  for (guint at = 0; at < G_N_ELEMENTS (others); at++) {
    g_auto (Node) node = new_node ();
    SimBuffer eager = { SIM_BUFFER_ADAPTER, others[at].core, others[at].core, 12 * KIBIBYTE };
    SimCopy copy = { .node = others[at].node,
                     .core = others[at].core,
                     .from = own (others[at].core, 16 * MEBIBYTE),
                     .to = eager,
                     .bytes = PIECE };
    uint64_t missed = 0;

    for (uint32_t piece = 0; piece < 4096; piece++) {
      bool misses = send_piece (&node, 0, 2 * MEBIBYTE) > 0;

      missed += piece >= 2048 && misses;
      node.now_ps = sim_memory_copy (node.memory, &copy, node.now_ps);
    }
    g_assert_cmpuint (missed, ==, others[at].competes ? 2048 : 0);
  }
}

/* Fragments are used so often that little comes in between: they stay beside a
 * stream that leaves no room for buffers.  Thirty times as fast, it drives them out. */
static void
test_fragments_stay (void)
{
  for (uint32_t times = 1; times <= 40; times += 39) {
    g_auto (Node) node = new_node ();
    uint64_t bytes = 0;

    for (uint32_t piece = 0; piece < 4096; piece++) {
      bytes = send_piece (&node, 0, 2 * MEBIBYTE);
      send_bytes (&node, 1, 64 * MEBIBYTE, times * PIECE);
    }
    /* The buffer is read; fragments are fetched and written besides. */
    g_assert_cmpuint (bytes, ==, times == 1 ? PIECE : 3 * PIECE);
  }
}

/* Eight cores share the L3 of 20 MiB of a Sandy Bridge: 4 MiB of the first and of each
 * of the streams, and the buffers of the others, however often they use them. */
static void
test_many_cores (void)
{
  for (uint32_t streams = 3; streams <= 4; streams++) {
    g_auto (Node) node = new_node_of ("stampede:1");
    uint64_t missed = 0;

    for (uint32_t piece = 0; piece < 4096; piece++) {
      for (uint32_t core = 1; core < 8; core++) {
        uint64_t footprint = core <= streams ? 64 * MEBIBYTE : 64 * KIBIBYTE;

        memory_bytes (&node, core, own (core, footprint), fragments (core, core + 8));
      }
      missed += memory_bytes (&node, 0, own (0, 2 * MEBIBYTE), fragments (0, 8)) > 0;
      if (piece == 2047)
        missed = 0;
    }
    g_assert_cmpuint (missed, ==, streams == 3 ? 0 : 2048);
  }
}

/* Copies that begin together end as they did the last time, to the picosecond. */
static void
test_same_again (void)
{
  int64_t end_ps[2];

  for (uint32_t run = 0; run < 2; run++) {
    g_auto (Node) node = new_node ();
    uint64_t missed[2];

    take_turns (&node, (const uint64_t[]){ 2560 * KIBIBYTE, 516 * KIBIBYTE }, 8 * MEBIBYTE, missed);
    send_bytes (&node, 0, 1000003, 8 * MEBIBYTE);
    take_turns (&node, (const uint64_t[]){ 777777, 16 * MEBIBYTE }, 8 * MEBIBYTE, missed);
    end_ps[run] = node.now_ps;
  }
  g_assert_cmpint (end_ps[0], ==, end_ps[1]);
}

/* With the whole cache for one buffer (cache_share 100 %) two of 3 MiB stay; a
 * share of nothing keeps everything in memory. */
static void
test_share (void)
{
  static const struct {
    double share;
    uint64_t footprint;
    uint64_t missed;
  } cases[] = { { 1, 3 * MEBIBYTE, 0 },
                { 1, 3 * MEBIBYTE + PIECE, 1024 },
                { 0, 4 * KIBIBYTE, 1024 } };

  for (guint at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_auto (Node) node = new_node ();
    const uint64_t footprint[] = { cases[at].footprint, cases[at].footprint };
    uint64_t missed[2];

    node.machine->parameters.memory.cache_share = cases[at].share;
    sim_memory_free (node.memory);
    node.memory = sim_memory_new (node.machine);
    take_turns (&node, footprint, 16 * MEBIBYTE, missed);
    take_turns (&node, footprint, 4 * MEBIBYTE, missed);
    g_assert_cmpuint (missed[0], ==, cases[at].missed);
    g_assert_cmpuint (missed[1], ==, cases[at].missed);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sim/memory/room/alone", test_alone);
  g_test_add_func ("/sim/memory/room/one-die", test_pair_of_one_die);
  g_test_add_func ("/sim/memory/room/two-pairs", test_two_pairs);
  g_test_add_func ("/sim/memory/room/faster", test_faster_pair);
  g_test_add_func ("/sim/memory/room/silence", test_silence_gives_room_back);
  g_test_add_func ("/sim/memory/room/who", test_who_competes);
  g_test_add_func ("/sim/memory/room/fragments", test_fragments_stay);
  g_test_add_func ("/sim/memory/room/many-cores", test_many_cores);
  g_test_add_func ("/sim/memory/room/share", test_share);
  g_test_add_func ("/sim/memory/room/same-again", test_same_again);
  return g_test_run ();
}
