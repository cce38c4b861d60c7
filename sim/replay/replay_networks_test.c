/* replay_networks_test.c - posted collectives, accesses and graphs on real networks.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Under deterministic routing the packet network must carry, link by link,
 * the bytes that the load network adds up without any time. */
#include "sim/replay/replay_testing.h"

/* Full machines of two ranks per node. */
static const struct {
  const char *spec;
  uint32_t n;
} machines[] = { { "bgq:32", 64 }, { "torus:4x3m", 24 } };

/* -- posted collectives ---------------------------------------------------- */

static void
add_posted (Trace *trace, uint32_t rank)
{
  static const TraceOpKind kinds[] = { TRACE_OP_BARRIER,   TRACE_OP_ALLTOALL, TRACE_OP_BCAST,
                                       TRACE_OP_ALLGATHER, TRACE_OP_REDUCE,   TRACE_OP_SCAN };

  script_compute (trace, rank, rank * 7919 % 50 * 1000000);
  for (uint32_t i = 0; i < G_N_ELEMENTS (kinds); i++) {
    script_add (trace, rank,
                (TraceOp){ .kind = kinds[i],
                           .comm = TRACE_COMM_WORLD,
                           .root = 3,
                           .bytes = 700,
                           .recv_bytes = 700,
                           .nonblocking = true,
                           .request = 10 + i });
    script_compute (trace, rank, rank * 31 % 11 * 1000000);
  }
  for (uint32_t i = G_N_ELEMENTS (kinds); i-- > 0;)
    script_wait (trace, rank, 10 + i);
}

static void
add_neighbors (Trace *trace, uint32_t n, uint32_t rank)
{
  int32_t ranks[] = { (int32_t) ((rank + n - 5) % n), (int32_t) ((rank + 5) % n) };
  uint64_t counts[] = { 100, 9000 }, recv_counts[] = { 9000, 100 };

  script_add (trace, rank,
              (TraceOp){ .kind = TRACE_OP_NEIGHBOR_ALLTOALL,
                         .comm = TRACE_COMM_WORLD,
                         .values = ranks,
                         .values2 = ranks,
                         .counts = counts,
                         .recv_counts = recv_counts,
                         .n_counts = 2,
                         .n_recv_counts = 2 });
}

/* -- accesses ------------------------------------------------------------ */

static void
add_accesses (Trace *trace, uint32_t n, uint32_t rank)
{
  for (uint32_t i = 0; i < 9; i++)
    script_add (trace, rank,
                (TraceOp){ .kind = TRACE_OP_PUT + (TraceOpKind) (i % 3),
                           .comm = TRACE_COMM_WORLD,
                           .window = 9,
                           .peer = (int32_t) ((rank * 13 + i * 29) % n),
                           .bytes = 10 + i * 3000,
                           .recv_bytes = 20 + i * i * 2500 });
}

static TraceOp
window_op (TraceOpKind kind)
{
  return (TraceOp){ .kind = kind, .comm = TRACE_COMM_WORLD, .window = 9 };
}

/* -- graphs -------------------------------------------------------------- */

/* Each rank sends to two others and computes meanwhile; it sends on
 * the messages that it receives. */
static void
add_graph (Trace *trace, uint32_t n, uint32_t rank)
{
  for (uint32_t i = 0; i < 2; i++) {
    uint32_t distance = i == 0 ? 7 : n / 2;
    uint32_t first = 4 * i, received = first + 1;
    TraceOp send = { .kind = TRACE_OP_SEND,
                     .comm = TRACE_COMM_WORLD,
                     .peer = (int32_t) ((rank + distance) % n),
                     .bytes = 100 + i * 20000,
                     .cpu = i };
    TraceOp receive = send;

    receive.kind = TRACE_OP_RECV;
    receive.peer = (int32_t) ((rank + n - distance) % n);
    script_add (trace, rank, send);
    script_add (trace, rank, receive);
    script_add (trace, rank,
                (TraceOp){ .kind = TRACE_OP_COMPUTE, .gap_ps = rank % 5 * 3000000, .cpu = i });
    send.tag = 1;
    send.after = &received;
    send.n_after = 1;
    script_add (trace, rank, send);
  }
  for (uint32_t i = 0; i < 2; i++)
    script_add (trace, rank,
                (TraceOp){ .kind = TRACE_OP_RECV,
                           .comm = TRACE_COMM_WORLD,
                           .peer = TRACE_ANY_SOURCE,
                           .tag = 1,
                           .bytes = 50000 });
}

/* -- tests --------------------------------------------------------------- */

typedef enum { COLLECTIVES, ACCESSES, GRAPH } Program;

static void
test_program (gconstpointer data)
{
  for (uint32_t i = 0; i < G_N_ELEMENTS (machines); i++) {
    uint32_t n = machines[i].n;
    g_auto (Fixture) f = fixture_new_spec (machines[i].spec, n, 2);

    g_test_message ("%s", machines[i].spec);
    for (uint32_t rank = 0; rank < n; rank++)
      switch ((Program) GPOINTER_TO_UINT (data)) {
      case COLLECTIVES:
        add_posted (f.trace, rank);
        add_neighbors (f.trace, n, rank);
        break;
      case ACCESSES:
        script_add (f.trace, rank, window_op (TRACE_OP_WIN_CREATE));
        add_accesses (f.trace, n, rank);
        script_add (f.trace, rank, window_op (TRACE_OP_WIN_FENCE));
        add_accesses (f.trace, n, rank);
        script_add (f.trace, rank, window_op (TRACE_OP_WIN_FREE));
        break;
      case GRAPH:
        script_set_graph (f.trace);
        add_graph (f.trace, n, rank);
        break;
      }
    fixture_check_links (&f);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/sim/replay-networks/collectives", GUINT_TO_POINTER (COLLECTIVES),
                        test_program);
  g_test_add_data_func ("/sim/replay-networks/accesses", GUINT_TO_POINTER (ACCESSES), test_program);
  g_test_add_data_func ("/sim/replay-networks/graph", GUINT_TO_POINTER (GRAPH), test_program);
  return g_test_run ();
}
