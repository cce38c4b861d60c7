/* counters_test.c - counters have a place for every link and FIFO.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/counters.h"

#include <glib.h>

static SimCounters *
counters_of (TopoShape shape, bool is_bgq)
{
  TopoMachine machine = { .shape = shape, .is_bgq = is_bgq };

  return sim_counters_new (&machine);
}

static uint32_t
n_existing (const SimCounters *counters)
{
  uint32_t n = 0;

  for (uint32_t link = 0; link < counters->n_nodes * counters->n_ports; link++)
    n += counters->link_exists[link];
  return n;
}

/* A 3 x 2 mesh by torus: 2 * 2 cables down the columns, which do not wrap,
 * and two cables in each of 3 rows; each cable is two links. */
static void
test_links_that_exist (void)
{
  SimCounters *counters = counters_of ((TopoShape){ 2, { 3, 2 }, { false, true } }, false);

  g_assert_cmpuint (counters->n_nodes, ==, 6);
  g_assert_cmpuint (counters->n_ports, ==, 4);
  g_assert_cmpuint (counters->n_links, ==, 2 * 4 + 2 * 6);
  g_assert_cmpuint (n_existing (counters), ==, counters->n_links);
  g_assert_false (counters->link_exists[4 * 0 + 0]); /* A- of the first row */
  g_assert_true (counters->link_exists[4 * 0 + 1]);
  g_assert_false (counters->link_exists[4 * 5 + 1]); /* A+ of the last */
  sim_counters_free (counters);
}

/* A midplane of 512 nodes has 10 links and 10 FIFOs on each. */
static void
test_midplane (void)
{
  SimCounters *counters =
      counters_of ((TopoShape){ 5, { 4, 4, 4, 4, 2 }, { true, true, true, true, true } }, true);

  g_assert_cmpuint (counters->n_links, ==, 5120);
  g_assert_cmpuint (counters->n_fifos, ==, 10);
  sim_counters_free (counters);
}

static void
test_all_zero (void)
{
  SimCounters *counters = counters_of ((TopoShape){ 1, { 4 }, { true } }, false);

  for (uint32_t link = 0; link < 8; link++)
    g_assert_cmpuint (counters->link[link].payload_bytes, ==, 0);
  for (uint32_t fifo = 0; fifo < 4 * counters->n_fifos; fifo++)
    g_assert_cmpuint (counters->fifo_messages[fifo], ==, 0);
  g_assert_false (counters->has_buffers);
  sim_counters_free (counters);
  sim_counters_free (NULL);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sim/counters/links-that-exist", test_links_that_exist);
  g_test_add_func ("/sim/counters/midplane", test_midplane);
  g_test_add_func ("/sim/counters/all-zero", test_all_zero);
  return g_test_run ();
}
