/* edges_test.c - the communication graph adds up and comes out sorted.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/edges.h"

#include <glib.h>

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SimEdges, sim_edges_free)

static void
assert_edge (SimEdge edge, uint32_t source, uint32_t destination, uint64_t messages, uint64_t bytes)
{
  g_assert_cmpuint (edge.source, ==, source);
  g_assert_cmpuint (edge.destination, ==, destination);
  g_assert_cmpuint (edge.messages, ==, messages);
  g_assert_cmpuint (edge.bytes, ==, bytes);
}

static void
test_none (void)
{
  g_autoptr (SimEdges) edges = sim_edges_new (3);
  uint64_t n_edges = 99;
  g_autofree SimEdge *sorted = sim_edges_sorted (edges, &n_edges);

  g_assert_cmpuint (n_edges, ==, 0);
  sim_edges_free (NULL);
}

static void
test_adding_up (void)
{
  g_autoptr (SimEdges) edges = sim_edges_new (3);
  g_autofree SimEdge *sorted = NULL;
  uint64_t n_edges;

  sim_edges_add (edges, 0, 1, 1, 10);
  sim_edges_add (edges, 0, 1, 2, 30);
  sim_edges_add (edges, 1, 0, 1, 0);
  sorted = sim_edges_sorted (edges, &n_edges);
  g_assert_cmpuint (n_edges, ==, 2);
  assert_edge (sorted[0], 0, 1, 3, 40);
  assert_edge (sorted[1], 1, 0, 1, 0);
}

static void
test_messages_to_oneself_are_ignored (void)
{
  g_autoptr (SimEdges) edges = sim_edges_new (2);
  g_autofree SimEdge *sorted = NULL;
  uint64_t n_edges;

  sim_edges_add (edges, 1, 1, 5, 500);
  sorted = sim_edges_sorted (edges, &n_edges);
  g_assert_cmpuint (n_edges, ==, 0);
}

/* A million bytes fit no 32 bits when a million of them come. */
static void
test_large_sums (void)
{
  g_autoptr (SimEdges) edges = sim_edges_new (2);
  g_autofree SimEdge *sorted = NULL;
  uint64_t n_edges;

  for (uint32_t i = 0; i < 1000000; i++)
    sim_edges_add (edges, 0, 1, 1, 1000000);
  sorted = sim_edges_sorted (edges, &n_edges);
  assert_edge (sorted[0], 0, 1, 1000000, UINT64_C (1000000000000));
}

/* Against a dense matrix: same sums, whatever the order of adding, in tables of few places and
 * in full ones; messages that are sent are numbered by pair, whatever is added between them. */
static void
test_random_against_matrix (void)
{
  enum { N = 70 };
  static uint64_t messages[N][N], bytes[N][N];
  static uint32_t sent[N][N];
  g_autoptr (SimEdges) edges = sim_edges_new (N);
  g_autofree SimEdge *sorted = NULL;
  uint64_t n_edges, next = 0;

  for (uint32_t i = 0; i < 20000; i++) {
    uint32_t source = (uint32_t) g_test_rand_int_range (0, N);
    uint32_t destination = (uint32_t) g_test_rand_int_range (0, 1 + (gint32) source);
    uint64_t size = (uint64_t) g_test_rand_int_range (0, 1000);

    if (g_test_rand_bit ())
      sim_edges_add (edges, source, destination, 1, size);
    else
      g_assert_cmpuint (sim_edges_send (edges, source, destination, size), ==,
                        sent[source][destination]++);
    messages[source][destination]++;
    bytes[source][destination] += size;
  }
  sorted = sim_edges_sorted (edges, &n_edges);
  for (uint32_t source = 0; source < N; source++)
    for (uint32_t destination = 0; destination < N; destination++)
      if (source != destination && messages[source][destination] > 0)
        assert_edge (sorted[next++], source, destination, messages[source][destination],
                     bytes[source][destination]);
  g_assert_cmpuint (next, ==, n_edges);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sim/edges/none", test_none);
  g_test_add_func ("/sim/edges/adding-up", test_adding_up);
  g_test_add_func ("/sim/edges/to-oneself", test_messages_to_oneself_are_ignored);
  g_test_add_func ("/sim/edges/large-sums", test_large_sums);
  g_test_add_func ("/sim/edges/random-against-matrix", test_random_against_matrix);
  return g_test_run ();
}
