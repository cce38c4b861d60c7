/* agreement_test.c - collective calls that do not match, on every network.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Which calls match is MPI's: MPI 4.1, sections 6.4 to 6.12. */
#include "sim/replay/agreement.h"

#include "sim/run.h"
#include "sim/replay/replay_testing.h"

#include <string.h>

#define N 3

typedef struct {
  TopoMachine *machine;
  TopoMapping *mapping;
  Trace *trace;
} Setup;

static void
setup_init (Setup *setup, const char *spec, uint32_t per_node)
{
  GError *error = NULL;

  setup->machine = topo_machine_new (spec, &error);
  g_assert_no_error (error);
  setup->machine->ranks_per_node = per_node;
  setup->mapping = topo_mapping_new (NULL, setup->machine, N, &error);
  g_assert_no_error (error);
  setup->trace = script_new (N);
}

static void
setup_clear (Setup *setup)
{
  trace_free (setup->trace);
  topo_mapping_free (setup->mapping);
  topo_machine_free (setup->machine);
}

/* The text of the mismatch, or NULL when the trace ends well. */
static char *
run (const Setup *setup, SimNetworkKind network)
{
  SimRunOptions options = { .network = network,
                            .policy = ROUTE_POLICY_DETERMINISTIC,
                            .compute_scale = 1 };
  g_autoptr (GError) error = NULL;
  g_autoptr (SimRun) run = sim_run (setup->trace, setup->machine, setup->mapping, &options, &error);

  if (run != NULL) {
    g_assert_cmpuint (run->warnings->len, ==, 0);
    return NULL;
  }
  g_assert_error (error, SIM_ERROR, SIM_ERROR_MISMATCH);
  return g_strdup (error->message);
}

/* -- one call of each rank ----------------------------------------------- */

/* Calls of ranks 0, 1 and 2 that match, one that is made instead of rank 1's,
 * and the error. */
typedef struct {
  const char *name;
  TraceOp ops[N];
  TraceOp wrong;
  const char *error;
} Case;

#define LIST(...)    \
  (const uint64_t[]) \
  {                  \
    __VA_ARGS__      \
  }
#define COUNTS(...)      .counts = LIST (__VA_ARGS__), .n_counts = N
#define RECV_COUNTS(...) .recv_counts = LIST (__VA_ARGS__), .n_recv_counts = N
#define DIMS(...) \
  .values = (const int32_t[]){ __VA_ARGS__ }, .values2 = (const int32_t[]){ 0, 0 }, .n_values = 2

#define BARRIER                                     \
  {                                                 \
    .kind = TRACE_OP_BARRIER, .name = "MPI_Barrier" \
  }
#define ALLREDUCE                                                    \
  {                                                                  \
    .kind = TRACE_OP_ALLREDUCE, .bytes = 40, .name = "MPI_Allreduce" \
  }
#define WINDOW                                                         \
  {                                                                    \
    .kind = TRACE_OP_WIN_CREATE, .window = 4, .name = "MPI_Win_create" \
  }
#define DUP                                                          \
  {                                                                  \
    .kind = TRACE_OP_COMM_DUP, .new_comm = 9, .name = "MPI_Comm_dup" \
  }

/* A kind whose `bytes` are the same on all ranks. */
#define SAME(kind_, name_)                                                                        \
  {                                                                                               \
    name_,                                                                                        \
        { { .kind = kind_, .bytes = 500, .name = name_ },                                         \
          { .kind = kind_, .bytes = 500, .name = name_ },                                         \
          { .kind = kind_, .bytes = 500, .name = name_ } },                                       \
        { .kind = kind_, .bytes = 900000, .name = name_ },                                        \
        "rank 1, " name_ " at rank1:1: does not match rank 0, " name_ " at rank0:1: 900000 bytes" \
        " against 500 bytes"                                                                      \
  }
#define BOTH(kind_, name_)                                                                   \
  {                                                                                          \
    name_,                                                                                   \
        { { .kind = kind_, .bytes = 1000, .recv_bytes = 1000, .name = name_ },               \
          { .kind = kind_, .bytes = 1000, .recv_bytes = 1000, .name = name_ },               \
          { .kind = kind_, .bytes = 1000, .recv_bytes = 1000, .name = name_ } },             \
        { .kind = kind_, .bytes = 5, .recv_bytes = 5, .name = name_ },                       \
        "rank 1, " name_ " at rank1:1: does not match rank 0, " name_ " at rank0:1: 5 bytes" \
        " received from each rank against 1000 bytes received from each rank"                \
  }

static const Case cases[] = {
  { "barrier and allreduce",
    { BARRIER, BARRIER, BARRIER },
    ALLREDUCE,
    "rank 1, MPI_Allreduce at rank1:1: does not match rank 0, MPI_Barrier at rank0:1: allreduce"
    " against barrier" },
  { "allreduce and reduce",
    { ALLREDUCE, ALLREDUCE, ALLREDUCE },
    { .kind = TRACE_OP_REDUCE, .bytes = 40, .name = "MPI_Reduce" },
    "rank 1, MPI_Reduce at rank1:1: does not match rank 0, MPI_Allreduce at rank0:1: reduce"
    " against allreduce" },
  { "nonblocking and blocking",
    { BARRIER, BARRIER, BARRIER },
    { .kind = TRACE_OP_BARRIER, .nonblocking = true, .request = 7, .name = "MPI_Ibarrier" },
    "rank 1, MPI_Ibarrier at rank1:1: does not match rank 0, MPI_Barrier at rank0:1: nonblocking"
    " against blocking" },
  { "communicator and collective",
    { DUP, DUP, DUP },
    BARRIER,
    "rank 1, MPI_Barrier at rank1:1: does not match rank 0, MPI_Comm_dup at rank0:1: barrier"
    " against comm_dup" },
  { "two ways to a communicator",
    { DUP, DUP, DUP },
    { .kind = TRACE_OP_COMM_SPLIT, .new_comm = 9, .name = "MPI_Comm_split" },
    "rank 1, MPI_Comm_split at rank1:1: does not match rank 0, MPI_Comm_dup at rank0:1:"
    " comm_split against comm_dup" },
  { "grid",
    { { .kind = TRACE_OP_CART_CREATE, DIMS (1, 3), .new_comm = 9, .name = "MPI_Cart_create" },
      { .kind = TRACE_OP_CART_CREATE, DIMS (1, 3), .new_comm = 9, .name = "MPI_Cart_create" },
      { .kind = TRACE_OP_CART_CREATE, DIMS (1, 3), .new_comm = 9, .name = "MPI_Cart_create" } },
    { .kind = TRACE_OP_CART_CREATE, DIMS (3, 1), .new_comm = 9, .name = "MPI_Cart_create" },
    "rank 1, MPI_Cart_create at rank1:1: does not match rank 0, MPI_Cart_create at rank0:1:"
    " 3 x 1 against 1 x 3" },
  { "window and barrier",
    { WINDOW, WINDOW, WINDOW },
    BARRIER,
    "rank 1, MPI_Barrier at rank1:1: does not match rank 0, MPI_Win_create at rank0:1: barrier"
    " against win_create" },
  { "roots",
    { { .kind = TRACE_OP_BCAST, .bytes = 500, .name = "MPI_Bcast" },
      { .kind = TRACE_OP_BCAST, .bytes = 500, .name = "MPI_Bcast" },
      { .kind = TRACE_OP_BCAST, .bytes = 500, .name = "MPI_Bcast" } },
    { .kind = TRACE_OP_BCAST, .bytes = 500, .root = 1, .name = "MPI_Bcast" },
    "rank 1, MPI_Bcast at rank1:1: does not match rank 0, MPI_Bcast at rank0:1: root 1 against"
    " root 0" },
  SAME (TRACE_OP_BCAST, "MPI_Bcast"),
  SAME (TRACE_OP_REDUCE, "MPI_Reduce"),
  SAME (TRACE_OP_ALLREDUCE, "MPI_Allreduce"),
  SAME (TRACE_OP_SCAN, "MPI_Scan"),
  SAME (TRACE_OP_EXSCAN, "MPI_Exscan"),
  BOTH (TRACE_OP_ALLGATHER, "MPI_Allgather"),
  BOTH (TRACE_OP_ALLTOALL, "MPI_Alltoall"),
  /* Sent and received: 1,000 elements against 5. */
  { "alltoall with itself",
    { { .kind = TRACE_OP_ALLTOALL, .bytes = 5, .recv_bytes = 5, .name = "MPI_Alltoall" },
      { .kind = TRACE_OP_ALLTOALL, .bytes = 5, .recv_bytes = 5, .name = "MPI_Alltoall" },
      { .kind = TRACE_OP_ALLTOALL, .bytes = 5, .recv_bytes = 5, .name = "MPI_Alltoall" } },
    { .kind = TRACE_OP_ALLTOALL, .bytes = 1000, .recv_bytes = 5, .name = "MPI_Alltoall" },
    "rank 1, MPI_Alltoall at rank1:1: 1000 bytes sent against 5 bytes received from each rank" },
  /* What the others have for receiving, and the root for sending, is void. */
  { "gather",
    { { .kind = TRACE_OP_GATHER, .bytes = 3, .recv_bytes = 30, .name = "MPI_Gather" },
      { .kind = TRACE_OP_GATHER, .bytes = 30, .recv_bytes = 9, .name = "MPI_Gather" },
      { .kind = TRACE_OP_GATHER, .bytes = 30, .recv_bytes = 8, .name = "MPI_Gather" } },
    { .kind = TRACE_OP_GATHER, .bytes = 40, .name = "MPI_Gather" },
    "rank 1, MPI_Gather at rank1:1: does not match rank 0, MPI_Gather at rank0:1: 40 bytes sent"
    " against 30 bytes received from each rank" },
  { "scatter",
    { { .kind = TRACE_OP_SCATTER, .bytes = 30, .recv_bytes = 3, .name = "MPI_Scatter" },
      { .kind = TRACE_OP_SCATTER, .bytes = 7, .recv_bytes = 30, .name = "MPI_Scatter" },
      { .kind = TRACE_OP_SCATTER, .bytes = 6, .recv_bytes = 30, .name = "MPI_Scatter" } },
    { .kind = TRACE_OP_SCATTER, .recv_bytes = 40, .name = "MPI_Scatter" },
    "rank 1, MPI_Scatter at rank1:1: does not match rank 0, MPI_Scatter at rank0:1: 40 bytes"
    " received against 30 bytes sent to each rank" },
  { "gatherv",
    { { .kind = TRACE_OP_GATHERV, RECV_COUNTS (2, 30, 50), .name = "MPI_Gatherv" },
      { .kind = TRACE_OP_GATHERV, .bytes = 30, .name = "MPI_Gatherv" },
      { .kind = TRACE_OP_GATHERV, .bytes = 50, .name = "MPI_Gatherv" } },
    { .kind = TRACE_OP_GATHERV, .bytes = 31, .name = "MPI_Gatherv" },
    "rank 1, MPI_Gatherv at rank1:1: does not match rank 0, MPI_Gatherv at rank0:1: 31 bytes sent"
    " against 30 bytes received from rank 1" },
  { "scatterv",
    { { .kind = TRACE_OP_SCATTERV, COUNTS (2, 30, 50), .name = "MPI_Scatterv" },
      { .kind = TRACE_OP_SCATTERV, .recv_bytes = 30, .name = "MPI_Scatterv" },
      { .kind = TRACE_OP_SCATTERV, .recv_bytes = 50, .name = "MPI_Scatterv" } },
    { .kind = TRACE_OP_SCATTERV, .recv_bytes = 31, .name = "MPI_Scatterv" },
    "rank 1, MPI_Scatterv at rank1:1: does not match rank 0, MPI_Scatterv at rank0:1: 31 bytes"
    " received against 30 bytes sent to rank 1" },
  { "allgatherv",
    { { .kind = TRACE_OP_ALLGATHERV, RECV_COUNTS (7, 8, 9), .bytes = 7, .name = "MPI_Allgatherv" },
      { .kind = TRACE_OP_ALLGATHERV, RECV_COUNTS (7, 8, 9), .bytes = 8, .name = "MPI_Allgatherv" },
      { .kind = TRACE_OP_ALLGATHERV,
        RECV_COUNTS (7, 8, 9),
        .bytes = 9,
        .name = "MPI_Allgatherv" } },
    { .kind = TRACE_OP_ALLGATHERV, RECV_COUNTS (7, 8, 10), .bytes = 8, .name = "MPI_Allgatherv" },
    "rank 1, MPI_Allgatherv at rank1:1: does not match rank 0, MPI_Allgatherv at rank0:1: 10 bytes"
    " for rank 2 against 9 bytes for rank 2" },
  { "allgatherv with itself",
    { { .kind = TRACE_OP_ALLGATHERV, RECV_COUNTS (7, 8, 9), .bytes = 7, .name = "MPI_Allgatherv" },
      { .kind = TRACE_OP_ALLGATHERV, RECV_COUNTS (7, 8, 9), .bytes = 8, .name = "MPI_Allgatherv" },
      { .kind = TRACE_OP_ALLGATHERV,
        RECV_COUNTS (7, 8, 9),
        .bytes = 9,
        .name = "MPI_Allgatherv" } },
    { .kind = TRACE_OP_ALLGATHERV, RECV_COUNTS (7, 8, 9), .bytes = 6, .name = "MPI_Allgatherv" },
    "rank 1, MPI_Allgatherv at rank1:1: 6 bytes sent against 8 bytes received from itself" },
  { "reduce_scatter",
    { { .kind = TRACE_OP_REDUCE_SCATTER, RECV_COUNTS (8, 8, 8), .name = "MPI_Reduce_scatter" },
      { .kind = TRACE_OP_REDUCE_SCATTER, RECV_COUNTS (8, 8, 8), .name = "MPI_Reduce_scatter" },
      { .kind = TRACE_OP_REDUCE_SCATTER, RECV_COUNTS (8, 8, 8), .name = "MPI_Reduce_scatter" } },
    { .kind = TRACE_OP_REDUCE_SCATTER, RECV_COUNTS (8, 16, 0), .name = "MPI_Reduce_scatter" },
    "rank 1, MPI_Reduce_scatter at rank1:1: does not match rank 0, MPI_Reduce_scatter at rank0:1:"
    " 16 bytes for rank 1 against 8 bytes for rank 1" },
  /* Rank s sends 10 s + r to rank r; what a rank keeps does not matter. */
  { "alltoallv",
    { { .kind = TRACE_OP_ALLTOALLV,
        COUNTS (5, 1, 2),
        RECV_COUNTS (6, 10, 20),
        .name = "MPI_Alltoallv" },
      { .kind = TRACE_OP_ALLTOALLV,
        COUNTS (10, 5, 12),
        RECV_COUNTS (1, 6, 21),
        .name = "MPI_Alltoallv" },
      { .kind = TRACE_OP_ALLTOALLV,
        COUNTS (20, 21, 5),
        RECV_COUNTS (2, 12, 6),
        .name = "MPI_Alltoallv" } },
    { .kind = TRACE_OP_ALLTOALLV,
      COUNTS (10, 5, 99),
      RECV_COUNTS (1, 6, 21),
      .name = "MPI_Alltoallv" },
    "rank 1, MPI_Alltoallv at rank1:1: does not match rank 2, MPI_Alltoallv at rank2:1: 99 bytes sent"
    " to rank 2 against 12 bytes received from rank 1" },
};

static const struct {
  const char *spec;
  uint32_t per_node;
} machines[] = { { "bgq:32", 1 },
                 { "bgq:32", 4 },
                 { "torus:3x2m", 1 },
                 { "torus:3x2m", 4 },
                 { "systemg:4", 1 },
                 { "systemg:4", 4 },
                 { "fattree:2x4,node=harpertown", 2 } };

static void
add_calls (Trace *trace, const Case *it, bool wrong)
{
  for (uint32_t rank = 0; rank < N; rank++) {
    TraceOp op = wrong && rank == 1 ? it->wrong : it->ops[rank];

    op.comm = TRACE_COMM_WORLD;
    script_add (trace, rank, op);
    if (op.nonblocking)
      script_wait (trace, rank, op.request);
  }
}

static void
check_case (const Case *it, const char *spec, uint32_t per_node, SimNetworkKind network, bool wrong)
{
  g_autofree char *error = NULL;
  Setup setup;

  g_test_message ("%s on %s, %u ranks per node, %s", it->name, spec, per_node,
                  network == SIM_NETWORK_LOAD ? "load" : "packet");
  setup_init (&setup, spec, per_node);
  add_calls (setup.trace, it, wrong);
  error = run (&setup, network);
  if (!wrong)
    g_assert_null (error);
  else {
    g_assert_nonnull (error);
    g_assert_cmpstr (error, ==, it->error);
  }
  setup_clear (&setup);
}

static void
test_case (gconstpointer data)
{
  const Case *it = data;

  for (uint32_t i = 0; i < G_N_ELEMENTS (machines); i++)
    for (uint32_t wrong = 0; wrong < 2; wrong++) {
      check_case (it, machines[i].spec, machines[i].per_node, SIM_NETWORK_PACKET, wrong);
      check_case (it, machines[i].spec, machines[i].per_node, SIM_NETWORK_LOAD, wrong);
    }
}

/* -- later calls, other communicators, guesses --------------------------- */

/* Posted collectives on two halves of the ranks: the third of rank 2 is not
 * that of rank 0, which has gone on to wait. */
static void
test_posted_in_a_part (void)
{
  for (uint32_t machine = 0; machine < G_N_ELEMENTS (machines); machine++) {
    g_autofree char *error = NULL;
    Setup setup;

    setup_init (&setup, machines[machine].spec, machines[machine].per_node);
    for (uint32_t rank = 0; rank < N; rank++) {
      script_add (setup.trace, rank,
                  (TraceOp){ .kind = TRACE_OP_COMM_SPLIT,
                             .comm = TRACE_COMM_WORLD,
                             .color = (int32_t) rank % 2,
                             .new_comm = 20 + rank });
      script_compute (setup.trace, rank, rank * INT64_C (1000000000));
      for (uint32_t i = 0; i < 4; i++)
        script_add (setup.trace, rank,
                    (TraceOp){ .kind = TRACE_OP_ALLREDUCE,
                               .comm = 20 + rank,
                               .bytes = rank == 2 && i == 2 ? 16 : 8,
                               .nonblocking = true,
                               .request = 30 + i,
                               .name = "MPI_Iallreduce" });
      for (uint32_t i = 0; i < 4; i++)
        script_wait (setup.trace, rank, 30 + i);
    }
    error = run (&setup, SIM_NETWORK_PACKET);
    g_assert_cmpstr (error, ==,
                     "rank 2, MPI_Iallreduce at rank2:5: does not match rank 0, MPI_Iallreduce at "
                     "rank0:5: 16 bytes against 8 bytes");
    setup_clear (&setup);
  }
}

/* Two fences against a fence and the freeing of the window. */
static void
test_fences (void)
{
  g_autofree char *error = NULL;
  Setup setup;

  setup_init (&setup, "torus:3x2m", 1);
  for (uint32_t rank = 0; rank < N; rank++) {
    TraceOp op = { .comm = TRACE_COMM_WORLD, .window = 4, .name = "MPI_Win" };

    op.kind = TRACE_OP_WIN_CREATE;
    script_add (setup.trace, rank, op);
    op.kind = TRACE_OP_WIN_FENCE;
    script_add (setup.trace, rank, op);
    if (rank == 2)
      op.kind = TRACE_OP_WIN_FREE;
    script_add (setup.trace, rank, op);
  }
  error = run (&setup, SIM_NETWORK_PACKET);
  g_assert_nonnull (error);
  g_assert_nonnull (strstr (error, "rank2:3"));
  g_assert_nonnull (strstr (error, "rank0:3"));
  g_assert_nonnull (strstr (error, "win_f"));
  setup_clear (&setup);
}

/* A posted one that rank 1 never enters and nobody waits for. */
static void
test_left_alone (void)
{
  SimRunOptions options = { .network = SIM_NETWORK_PACKET, .compute_scale = 1 };
  g_autoptr (GError) error = NULL;
  g_autoptr (SimRun) it = NULL;
  Setup setup;

  setup_init (&setup, "bgq:32", 1);
  for (uint32_t rank = 0; rank < N; rank++)
    if (rank != 1)
      script_add (setup.trace, rank,
                  (TraceOp){ .kind = TRACE_OP_BARRIER,
                             .comm = TRACE_COMM_WORLD,
                             .nonblocking = true,
                             .request = 7,
                             .name = "MPI_Ibarrier" });
  it = sim_run (setup.trace, setup.machine, setup.mapping, &options, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (it->warnings->len, ==, 1);
  g_assert_cmpstr (it->warnings->pdata[0], ==,
                   "1 collectives were not entered by all ranks of their communicator; the first: "
                   "rank 0, MPI_Ibarrier at rank0:1");
  setup_clear (&setup);
}

/* Whether calls of two kinds of disagreement are refused in a trace. */
static void
check_known (TraceCollectives collectives, const TraceOp *one, const TraceOp *other, bool refused)
{
  g_autofree char *error = NULL;
  Setup setup;

  setup_init (&setup, "bgq:32", 1);
  script_set_collectives (setup.trace, collectives);
  for (uint32_t rank = 0; rank < N; rank++)
    script_add (setup.trace, rank, rank == 1 ? *other : *one);
  error = run (&setup, SIM_NETWORK_LOAD);
  g_assert_true ((error != NULL) == refused);
  setup_clear (&setup);
}

static void
test_what_a_trace_knows (void)
{
  TraceOp small = { .kind = TRACE_OP_BCAST, .comm = TRACE_COMM_WORLD, .bytes = 5 };
  TraceOp large = { .kind = TRACE_OP_BCAST, .comm = TRACE_COMM_WORLD, .bytes = 6 };
  TraceOp unknown = { .kind = TRACE_OP_BCAST,
                      .comm = TRACE_COMM_WORLD,
                      .bytes = TRACE_UNKNOWN_BYTES };
  TraceOp rooted = { .kind = TRACE_OP_BCAST, .comm = TRACE_COMM_WORLD, .bytes = 5, .root = 2 };
  TraceOp gathers = {
    .kind = TRACE_OP_ALLGATHER, .comm = TRACE_COMM_WORLD, .bytes = 5, .recv_bytes = 5
  };
  TraceOp in_place = {
    .kind = TRACE_OP_ALLGATHER, .comm = TRACE_COMM_WORLD, .bytes = 1, .recv_bytes = 5
  };

  check_known (TRACE_COLLECTIVES_KNOWN, &small, &large, true);
  check_known (TRACE_COLLECTIVES_KNOWN, &small, &unknown, false);
  check_known (TRACE_COLLECTIVES_KNOWN, &unknown, &small, false);
  check_known (TRACE_COLLECTIVES_KNOWN, &gathers, &in_place, true);
  check_known (TRACE_COLLECTIVES_PASSED, &small, &large, true);
  check_known (TRACE_COLLECTIVES_PASSED, &gathers, &in_place, false);
  check_known (TRACE_COLLECTIVES_WITHOUT_SIZES, &small, &large, false);
  check_known (TRACE_COLLECTIVES_WITHOUT_SIZES, &small, &rooted, true);
  check_known (TRACE_COLLECTIVES_WITHOUT_SIZES, &small, &gathers, true);
  check_known (TRACE_COLLECTIVES_MIXED, &small, &large, false);
  check_known (TRACE_COLLECTIVES_MIXED, &small, &rooted, false);
  check_known (TRACE_COLLECTIVES_MIXED, &small, &gathers, false);
}

/* -- any order ----------------------------------------------------------- */

#define MEMBERS 7
#define CALLS   300

/* The n-th call of a rank; all kinds of sizes take turns. */
static TraceOp
nth_call (uint32_t rank, uint32_t n, const uint64_t *counts)
{
  static const TraceOpKind kinds[] = { TRACE_OP_BARRIER,        TRACE_OP_BCAST,
                                       TRACE_OP_GATHERV,        TRACE_OP_ALLTOALL,
                                       TRACE_OP_REDUCE_SCATTER, TRACE_OP_SCATTERV,
                                       TRACE_OP_ALLTOALLV };
  TraceOpKind kind = kinds[n % G_N_ELEMENTS (kinds)];

  return (TraceOp){ .kind = kind,
                    .comm = TRACE_COMM_WORLD,
                    .root = (int32_t) (n % MEMBERS),
                    .bytes = kind == TRACE_OP_GATHERV ? counts[rank] : n,
                    .recv_bytes = kind == TRACE_OP_SCATTERV ? counts[rank] : n,
                    .counts = kind == TRACE_OP_ALLTOALLV ? counts + 1 : counts,
                    .recv_counts = kind == TRACE_OP_ALLTOALLV ? counts + 1 : counts,
                    .n_counts = MEMBERS,
                    .n_recv_counts = MEMBERS,
                    .name = "MPI_Call" };
}

/* All members enter all calls, in any order between them; the rank and number
 * of a wrong one, or UINT32_MAX. */
static void
check_any_order (uint32_t wrong_rank, uint32_t wrong_call)
{
  static const uint64_t equal[] = { 5, 5, 5, 5, 5, 5, 5, 5 }, rising[] = { 1, 2, 3, 4, 5, 6, 7 };
  g_autoptr (Trace) trace = script_new (MEMBERS);
  TraceComms *comms = trace_comms_new (MEMBERS);
  SimAgreement *agreement = sim_agreement_new (trace, comms);
  uint32_t entered[MEMBERS] = { 0 }, n_left = MEMBERS * CALLS;
  g_autoptr (GError) error = NULL;

  for (uint32_t rank = 0; rank < MEMBERS; rank++)
    for (uint32_t n = 0; n < CALLS; n++) {
      TraceOp op = nth_call (rank, n, n % 7 == 6 ? equal : rising);

      if (rank == wrong_rank && n == wrong_call)
        op.kind = TRACE_OP_SCAN;
      script_add (trace, rank, op);
    }
  while (n_left > 0 && error == NULL) {
    uint32_t rank = (uint32_t) g_test_rand_int_range (0, MEMBERS), n = entered[rank];
    TraceOp op = nth_call (rank, n, n % 7 == 6 ? equal : rising);

    if (n == CALLS)
      continue;
    if (rank == wrong_rank && n == wrong_call)
      op.kind = TRACE_OP_SCAN;
    entered[rank]++;
    n_left--;
    sim_agreement_enter (agreement, rank, TRACE_COMMS_WORLD, n, &op, &error);
  }
  if (wrong_rank == UINT32_MAX)
    g_assert_no_error (error);
  else {
    g_autofree char *place = g_strdup_printf ("rank%u:%u", wrong_rank, wrong_call + 1);

    g_assert_error (error, SIM_ERROR, SIM_ERROR_MISMATCH);
    g_assert_nonnull (strstr (error->message, place));
  }
  sim_agreement_free (agreement);
  trace_comms_free (comms);
}

static void
test_any_order (void)
{
  check_any_order (UINT32_MAX, 0);
  for (uint32_t round = 0; round < 20; round++)
    check_any_order ((uint32_t) g_test_rand_int_range (0, MEMBERS),
                     (uint32_t) g_test_rand_int_range (0, CALLS));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (uint32_t i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *path = g_strdup_printf ("/sim/agreement/calls/%02u-%s", i, cases[i].name);

    g_test_add_data_func (g_strdelimit (path, " ", '-'), &cases[i], test_case);
  }
  g_test_add_func ("/sim/agreement/posted-in-a-part", test_posted_in_a_part);
  g_test_add_func ("/sim/agreement/fences", test_fences);
  g_test_add_func ("/sim/agreement/left-alone", test_left_alone);
  g_test_add_func ("/sim/agreement/what-a-trace-knows", test_what_a_trace_knows);
  g_test_add_func ("/sim/agreement/any-order", test_any_order);
  return g_test_run ();
}
