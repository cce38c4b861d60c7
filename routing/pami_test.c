/* pami_test.c - hand-worked cases of what PAMI decides per message.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "routing/pami.h"
#include "topology/topology_testing.h"

#include <string.h>

#define LARGE 65537u /* just above the limit of deterministic data */

/* The node of "a b c d e". */
static uint32_t
node_at (const TopoMachine *machine, const char *text)
{
  TopoCoordinates at = { { 0 } };
  g_auto (GStrv) parts = g_strsplit (text, " ", -1);

  for (uint32_t dimension = 0; dimension < machine->shape.n_dimensions; dimension++)
    at.at[dimension] = (uint16_t) g_ascii_strtoull (parts[dimension], NULL, 10);
  return topo_shape_node (&machine->shape, at);
}

static void
test_pins (void)
{
  static const struct {
    const char *spec, *from, *to;
    uint32_t pin;
  } cases[] = {
    /* On a line: 2 * dimension, plus one for the positive direction. */
    { "bgq:512", "0 0 0 0 0", "1 0 0 0 0", 1 },
    { "bgq:512", "0 0 0 0 0", "3 0 0 0 0", 0 },
    { "bgq:512", "0 0 0 0 0", "0 0 0 2 0", 7 }, /* a tie, even source */
    { "bgq:512", "1 0 0 0 0", "1 0 0 2 0", 6 }, /* a tie, odd source */
    { "bgq:512", "0 0 0 0 0", "0 0 0 0 1", 9 },
    { "bgq:512", "0 0 0 0 1", "0 0 0 0 0", 8 },
    { "bgq:512", "0 0 1 0 0", "0 0 1 0 1", 8 },
    { "bgq:32", "0 0 1 0 0", "0 0 0 0 0", 4 }, /* a mesh: towards it */
    /* Off a line: the raw differences added up, not wrapped, modulo ten. */
    { "bgq:512", "0 0 0 0 0", "3 3 0 0 0", 6 },
    { "bgq:512", "0 0 0 0 0", "1 1 0 0 0", 2 },
    { "bgq:512", "0 0 0 0 0", "3 3 3 3 1", 3 },
    { "bgq:512", "3 3 3 0 0", "0 0 0 1 0", 0 },
    { "bgq:98304", "15 0 0 0 0", "0 11 15 15 1", 7 },
    /* Other machines: the same over their dimensions, modulo their FIFOs. */
    { "torus:8x8x8", "0 0 0", "7 7 0", 14 % 6 },
    { "torus:8x8x8", "0 0 0", "0 0 5", 4 },
    { "torus:2x2x2x2x2x4", "0 0 0 0 0 0", "0 0 0 0 0 1", 1 },
    { "torus:2x2x2x2x2x4", "0 0 0 0 0 0", "1 0 0 0 0 3", 4 },
  };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autoptr (TopoMachine) machine = topo_testing_machine (cases[at].spec, 0);
    uint32_t from = node_at (machine, cases[at].from), to = node_at (machine, cases[at].to);

    g_assert_cmpuint (route_pami_pin (machine, from, to, 3), ==, cases[at].pin);
  }
}

static void
test_local_pins (void)
{
  g_autoptr (TopoMachine) machine = topo_testing_machine ("bgq:512", 0);

  for (uint32_t slot = 0; slot < 64; slot++)
    g_assert_cmpuint (route_pami_pin (machine, 7, 7, slot), ==, 10 + slot % 6);
}

static void
test_pins_stay_in_range (void)
{
  g_autoptr (TopoMachine) machine = topo_testing_machine ("torus:2x2x2x2x2x4", 0);

  for (uint32_t from = 0; from < 128; from++)
    for (uint32_t to = 0; to < 128; to++)
      g_assert_cmpuint (route_pami_pin_fifo (route_pami_pin (machine, from, to, 0)), <,
                        from == to ? 12 : 10);
}

static void
test_pin_fifos (void)
{
  for (uint32_t pin = 0; pin < 10; pin++)
    g_assert_cmpuint (route_pami_pin_fifo (pin), ==, pin);
  for (uint32_t pin = 10; pin < 16; pin++)
    g_assert_cmpuint (route_pami_pin_fifo (pin), ==,
                      pin % 2 == 0 ? ROUTE_FIFO_LOCAL0 : ROUTE_FIFO_LOCAL1);
}

/* The list of bgq.md section 3.2. */
static void
test_pins_to_self (void)
{
  static const uint32_t swapped[] = { 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 11, 10, 11, 10 };

  for (uint32_t pin = 0; pin < G_N_ELEMENTS (swapped); pin++)
    g_assert_cmpuint (route_pami_pin_to_self (pin), ==, swapped[pin]);
}

/* Each row of the table of section 2.7 at, just inside and outside a bound.  Half-way in a
 * dimension counts 1, E counts nothing, and the way wraps. */
static void
test_zone_table (void)
{
  static const struct {
    const char *spec, *to;
    uint32_t zone;
  } cases[] = {
    { "bgq:512", "1 1 0 0 0", 3 },        /* 1.0, out */
    { "bgq:512", "2 2 0 0 0", 3 },        /* 2.0, in */
    { "bgq:1024", "3 1 0 2 0", 0 },       /* 1.5, the bound itself is out */
    { "bgq:1024", "3 1 0 2 1", 0 },       /* 1.5 too */
    { "bgq:1024", "1 1 1 1 0", 2 },       /* 1.75, in */
    { "bgq:1024", "2 2 2 1 0", 2 },       /* 3.25, in */
    { "bgq:1024", "2 2 2 2 0", 0 },       /* 3.5, the bound itself is out */
    { "bgq:1024", "2 2 2 4 0", 0 },       /* 4.0, out */
    { "bgq:4x4x4x12x2", "2 2 0 0 0", 2 }, /* 1.5 racks count as one */
    { "bgq:2048", "2 2 0 0 0", 3 },       /* 2.0, in */
    { "bgq:2048", "1 1 0 0 0", 0 },       /* 1.0, out */
    { "bgq:4096", "2 2 4 0 0", 3 },       /* 3.0, in of 2-8 racks */
    { "bgq:8192", "2 2 8 0 0", 0 },       /* 3.0, out of 8-16 racks */
    { "bgq:8192", "2 2 0 0 0", 3 },       /* 2.0, in */
    { "bgq:16384", "4 1 0 0 0", 0 },      /* 1.25, out of 16-64 racks */
    { "bgq:16384", "4 2 0 0 0", 3 },      /* 1.5, in */
    { "bgq:16384", "4 4 4 0 0", 0 },      /* 3.0, the bound is out */
    { "bgq:98304", "4 3 0 0 0", 3 },      /* 1.0, in from 64 racks on */
    { "bgq:98304", "4 0 2 0 0", 0 },      /* 0.75, the bound is out */
  };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autoptr (TopoMachine) machine = topo_testing_machine (cases[at].spec, 0);
    RouteChoice choice =
        route_pami_data (machine, ROUTE_POLICY_DEFAULT, 0, node_at (machine, cases[at].to), LARGE);

    g_assert_cmpuint (choice.vc, ==, ROUTE_VC_DYNAMIC);
    g_assert_cmpuint (choice.zone, ==, cases[at].zone);
  }
}

static void
test_small_data_is_deterministic (void)
{
  g_autoptr (TopoMachine) machine = topo_testing_machine ("bgq:512", 0);
  uint32_t to = node_at (machine, "1 1 1 1 1");

  g_assert_cmpuint (route_pami_data (machine, ROUTE_POLICY_DEFAULT, 0, to, 65536).vc, ==,
                    ROUTE_VC_BUBBLE);
  g_assert_cmpuint (route_pami_data (machine, ROUTE_POLICY_DEFAULT, 0, to, 65537).vc, ==,
                    ROUTE_VC_DYNAMIC);
}

static void
test_data_on_a_line_is_deterministic (void)
{
  static const char *const lines[] = { "2 0 0 0 0", "0 0 0 1 0", "0 0 0 0 1", "0 0 0 0 0" };
  g_autoptr (TopoMachine) machine = topo_testing_machine ("bgq:512", 0);

  for (gsize at = 0; at < G_N_ELEMENTS (lines); at++)
    g_assert_cmpuint (
        route_pami_data (machine, ROUTE_POLICY_DEFAULT, 0, node_at (machine, lines[at]), LARGE).vc,
        ==, ROUTE_VC_BUBBLE);
}

static void
test_policies (void)
{
  g_autoptr (TopoMachine) machine = topo_testing_machine ("bgq:512", 0);
  uint32_t to = node_at (machine, "1 1 1 1 1");

  for (uint8_t zone = 0; zone < 4; zone++) {
    RoutePolicy policy = (RoutePolicy) (ROUTE_POLICY_ZONE0 + zone);

    g_assert_cmpuint (route_pami_data (machine, policy, 0, to, LARGE).zone, ==, zone);
    g_assert_cmpuint (route_pami_data (machine, policy, 0, to, LARGE).vc, ==, ROUTE_VC_DYNAMIC);
    g_assert_cmpuint (route_pami_data (machine, policy, 0, to, 100).vc, ==, ROUTE_VC_BUBBLE);
    g_assert_cmpuint (route_pami_direct (machine, policy).zone, ==, zone);
  }
  g_assert_cmpuint (route_pami_data (machine, ROUTE_POLICY_DETERMINISTIC, 0, to, LARGE).vc, ==,
                    ROUTE_VC_BUBBLE);
  g_assert_cmpuint (route_pami_direct (machine, ROUTE_POLICY_DETERMINISTIC).vc, ==,
                    ROUTE_VC_BUBBLE);
}

static void
test_direct_zone (void)
{
  g_autoptr (TopoMachine) small = topo_testing_machine ("bgq:512", 0);
  g_autoptr (TopoMachine) large = topo_testing_machine ("bgq:1024", 0);

  g_assert_cmpuint (route_pami_direct (small, ROUTE_POLICY_DEFAULT).zone, ==, 1);
  g_assert_cmpuint (route_pami_direct (large, ROUTE_POLICY_DEFAULT).zone, ==, 0);
  g_assert_cmpuint (route_pami_direct (large, ROUTE_POLICY_DEFAULT).vc, ==, ROUTE_VC_DYNAMIC);
}

static void
test_pacing_table (void)
{
  static const struct {
    const char *spec;
    uint64_t piece_bytes, window_bytes;
  } cases[] = {
    { "bgq:4x4x4x12x2", 16384, 65536 }, { "bgq:2048", 16384, 65536 }, { "bgq:4096", 8192, 32768 },
    { "bgq:8192", 8192, 24576 },        { "bgq:98304", 8192, 24576 },
  };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autoptr (TopoMachine) machine = topo_testing_machine (cases[at].spec, 0);
    uint64_t piece_bytes, window_bytes;

    g_assert_true (route_pami_paced (machine, 0, node_at (machine, "1 1 0 0 0"), LARGE,
                                     &piece_bytes, &window_bytes));
    g_assert_cmpuint (piece_bytes, ==, cases[at].piece_bytes);
    g_assert_cmpuint (window_bytes, ==, cases[at].window_bytes);
  }
}

static bool
is_paced (const char *spec, const char *to, uint64_t bytes)
{
  g_autoptr (TopoMachine) machine = topo_testing_machine (spec, 0);
  uint64_t piece_bytes = 1, window_bytes = 1;

  return route_pami_paced (machine, 0, node_at (machine, to), bytes, &piece_bytes, &window_bytes);
}

static void
test_who_is_paced (void)
{
  g_assert_false (is_paced ("bgq:1024", "1 1 0 0 0", LARGE));
  g_assert_false (is_paced ("bgq:2048", "1 1 0 0 0", 65536));
  g_assert_true (is_paced ("bgq:2048", "1 1 0 0 0", LARGE));
  /* In one dimension: more than four hops; E does not make it a second. */
  g_assert_false (is_paced ("bgq:2048", "0 0 0 4 0", LARGE));
  g_assert_false (is_paced ("bgq:2048", "0 0 0 4 1", LARGE));
  g_assert_true (is_paced ("bgq:2048", "0 0 0 5 0", LARGE));
  g_assert_false (is_paced ("bgq:2048", "0 0 0 12 0", LARGE)); /* four the other way */
  g_assert_false (is_paced ("torus:16x16x16", "1 1 0", LARGE));
}

static void
test_pacing_can_be_switched_off (void)
{
  g_autoptr (TopoMachine) machine = topo_testing_machine ("bgq:2048", 0);
  uint64_t piece_bytes, window_bytes;

  machine->parameters.mpi.pacing = false;
  g_assert_false (route_pami_paced (machine, 0, node_at (machine, "1 1 0 0 0"), LARGE, &piece_bytes,
                                    &window_bytes));
}

static void
test_e_split (void)
{
  g_autoptr (TopoMachine) machine = topo_testing_machine ("bgq:512", 0);
  g_autoptr (TopoMachine) other = topo_testing_machine ("torus:4x4x4x4x2", 0);

  g_assert_true (route_pami_e_split (machine, 0, 1, 2048));
  g_assert_true (route_pami_e_split (machine, 1, 0, 2048));
  g_assert_false (route_pami_e_split (machine, 0, 1, 2047));
  g_assert_false (route_pami_e_split (machine, 0, 2, 2048));
  g_assert_false (route_pami_e_split (machine, 0, 3, 2048));
  g_assert_false (route_pami_e_split (machine, 0, 0, 2048));
  g_assert_false (route_pami_e_split (other, 0, 1, 2048));
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/routing/pami/pins", test_pins);
  g_test_add_func ("/routing/pami/local-pins", test_local_pins);
  g_test_add_func ("/routing/pami/pin-range", test_pins_stay_in_range);
  g_test_add_func ("/routing/pami/pin-fifos", test_pin_fifos);
  g_test_add_func ("/routing/pami/pins-to-self", test_pins_to_self);
  g_test_add_func ("/routing/pami/zones", test_zone_table);
  g_test_add_func ("/routing/pami/small-data", test_small_data_is_deterministic);
  g_test_add_func ("/routing/pami/on-a-line", test_data_on_a_line_is_deterministic);
  g_test_add_func ("/routing/pami/policies", test_policies);
  g_test_add_func ("/routing/pami/direct", test_direct_zone);
  g_test_add_func ("/routing/pami/pacing", test_pacing_table);
  g_test_add_func ("/routing/pami/who-is-paced", test_who_is_paced);
  g_test_add_func ("/routing/pami/pacing-off", test_pacing_can_be_switched_off);
  g_test_add_func ("/routing/pami/e-split", test_e_split);
  return g_test_run ();
}
