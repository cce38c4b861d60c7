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

/* The text of the mismatch, or NULL when the trace ends well. */
static char *
run (const Fixture *f, SimNetworkKind network)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SimRun) run = fixture_simulate (f, network, &error);

  if (run != NULL) {
    g_assert_cmpuint (run->warnings->len, ==, 0);
    return NULL;
  }
  g_assert_error (error, SIM_ERROR, SIM_ERROR_MISMATCH);
  return g_strdup (error->message);
}

/* -- one call of each rank ----------------------------------------------- */

/* Calls of ranks 0, 1 and 2 that match (NULL: as rank 0's), one that rank 1 makes
 * instead of its own, and the error. */
typedef struct {
  const char *name;
  const char *right[N], *wrong;
  const char *error;
} Case;

#define AGAINST(mine, theirs) \
  "rank 1, MPI_" mine " at rank1:1: does not match rank 0, MPI_" theirs " at rank0:1: "

/* Kinds of which all ranks have the same `bytes`, and kinds that compare the bytes received. */
#define SAME(kind, name_, root)                                 \
  {                                                             \
    name_, { kind root " 500" }, kind root " 900000",           \
        AGAINST (name_, name_) "900000 bytes against 500 bytes" \
  }
#define BOTH(kind, name_)                                        \
  {                                                              \
    name_, { kind " 1000" }, kind " 5",                          \
        AGAINST (name_, name_) "5 bytes received from each rank" \
                               " against 1000 bytes received"    \
                               " from each rank"                 \
  }

static const Case cases[] = {
  { "barrier and allreduce",
    { "barrier" },
    "allreduce 40",
    AGAINST ("Allreduce", "Barrier") "allreduce against barrier" },
  { "allreduce and reduce",
    { "allreduce 40" },
    "reduce 0 40",
    AGAINST ("Reduce", "Allreduce") "reduce against allreduce" },
  { "nonblocking and blocking",
    { "barrier" },
    "ibarrier 7; wait 7",
    AGAINST ("Ibarrier", "Barrier") "nonblocking against blocking" },
  { "communicator and collective",
    { "comm_dup 9" },
    "barrier",
    AGAINST ("Barrier", "Comm_dup") "barrier against comm_dup" },
  { "two ways to a communicator",
    { "comm_dup 9" },
    "comm_split 0 0 9",
    AGAINST ("Comm_split", "Comm_dup") "comm_split against comm_dup" },
  { "grid",
    { "cart_create new=9 values=1,3 periods=0,0" },
    "cart_create new=9 values=3,1 periods=0,0",
    AGAINST ("Cart_create", "Cart_create") "3 x 1 against 1 x 3" },
  { "window and barrier",
    { "win_create" },
    "barrier",
    AGAINST ("Barrier", "Win_create") "barrier against win_create" },
  { "roots", { "bcast 0 500" }, "bcast 1 500", AGAINST ("Bcast", "Bcast") "root 1 against root 0" },
  SAME ("bcast", "Bcast", " 0"),
  SAME ("reduce", "Reduce", " 0"),
  SAME ("allreduce", "Allreduce", ""),
  SAME ("scan", "Scan", ""),
  SAME ("exscan", "Exscan", ""),
  BOTH ("allgather", "Allgather"),
  BOTH ("alltoall", "Alltoall"),
  /* Sent and received: 1,000 elements against 5. */
  { "alltoall with itself",
    { "alltoall 5" },
    "alltoall 5 bytes=1000",
    "rank 1, MPI_Alltoall at rank1:1: 1000 bytes sent against 5 bytes received from each rank" },
  /* The sizes that the others have for receiving, and the root for sending, are void. */
  { "gather",
    { "gather 0 3 recv=30", "gather 0 30 recv=9", "gather 0 30 recv=8" },
    "gather 0 40 recv=0",
    AGAINST ("Gather", "Gather") "40 bytes sent against 30 bytes received from each rank" },
  { "scatter",
    { "scatter 0 30 recv=3", "scatter 0 7 recv=30", "scatter 0 6 recv=30" },
    "scatter 0 0 recv=40",
    AGAINST ("Scatter", "Scatter") "40 bytes received against 30 bytes sent to each rank" },
  { "gatherv",
    { "gatherv recv_counts=2,30,50", "gatherv bytes=30", "gatherv bytes=50" },
    "gatherv bytes=31",
    AGAINST ("Gatherv", "Gatherv") "31 bytes sent against 30 bytes received from rank 1" },
  { "scatterv",
    { "scatterv counts=2,30,50", "scatterv recv=30", "scatterv recv=50" },
    "scatterv recv=31",
    AGAINST ("Scatterv", "Scatterv") "31 bytes received against 30 bytes sent to rank 1" },
  { "allgatherv",
    { "allgatherv bytes=7 recv_counts=7,8,9", "allgatherv bytes=8 recv_counts=7,8,9",
      "allgatherv bytes=9 recv_counts=7,8,9" },
    "allgatherv bytes=8 recv_counts=7,8,10",
    AGAINST ("Allgatherv", "Allgatherv") "10 bytes for rank 2 against 9 bytes for rank 2" },
  { "allgatherv with itself",
    { "allgatherv bytes=7 recv_counts=7,8,9", "allgatherv bytes=8 recv_counts=7,8,9",
      "allgatherv bytes=9 recv_counts=7,8,9" },
    "allgatherv bytes=6 recv_counts=7,8,9",
    "rank 1, MPI_Allgatherv at rank1:1: 6 bytes sent against 8 bytes received from itself" },
  { "reduce_scatter",
    { "reduce_scatter recv_counts=8,8,8" },
    "reduce_scatter recv_counts=8,16,0",
    AGAINST ("Reduce_scatter", "Reduce_scatter") "16 bytes for rank 1 against 8 bytes for rank 1" },
  /* Rank s sends 10 s + r to rank r; the part that a rank keeps does not matter. */
  { "alltoallv",
    { "alltoallv counts=5,1,2 recv_counts=6,10,20", "alltoallv counts=10,5,12 recv_counts=1,6,21",
      "alltoallv counts=20,21,5 recv_counts=2,12,6" },
    "alltoallv counts=10,5,99 recv_counts=1,6,21",
    "rank 1, MPI_Alltoallv at rank1:1: does not match rank 2, MPI_Alltoallv at rank2:1: 99 bytes"
    " sent to rank 2 against 12 bytes received from rank 1" },
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
check_case (const Case *it, const char *spec, uint32_t per_node, SimNetworkKind network, bool wrong)
{
  g_auto (Fixture) f = fixture_new_spec (spec, N, per_node);
  g_autofree char *error = NULL;

  g_test_message ("%s on %s, %u ranks per node, %s", it->name, spec, per_node,
                  network == SIM_NETWORK_LOAD ? "load" : "packet");
  for (uint32_t rank = 0; rank < N; rank++) {
    const char *right = it->right[rank] != NULL ? it->right[rank] : it->right[0];
    g_autofree char *text =
        g_strdup_printf ("%u: %s", rank, wrong && rank == 1 ? it->wrong : right);

    script_text (f.trace, text);
  }
  error = run (&f, network);
  g_assert_cmpstr (error, ==, wrong ? it->error : NULL);
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
    g_auto (Fixture) f = fixture_new_spec (machines[machine].spec, N, machines[machine].per_node);
    g_autofree char *error = NULL;

    script_text (f.trace, "0: comm_split 0 0 9 | 1: comm_split 1 0 9; compute 1000000 |"
                          "2: comm_split 0 0 9; compute 2000000 |"
                          "*: iallreduce 8 30 comm=9; iallreduce 8 31 comm=9 |"
                          "0-1: iallreduce 8 32 comm=9 | 2: iallreduce 16 32 comm=9 |"
                          "*: iallreduce 8 33 comm=9; wait 30; wait 31; wait 32; wait 33");
    error = run (&f, SIM_NETWORK_PACKET);
    g_assert_cmpstr (error, ==,
                     "rank 2, MPI_Iallreduce at rank2:5: does not match rank 0, MPI_Iallreduce at "
                     "rank0:4: 16 bytes against 8 bytes");
  }
}

/* Two fences against a fence and the freeing of the window. */
static void
test_fences (void)
{
  g_auto (Fixture) f = fixture_new_spec ("torus:3x2m", N, 1);
  g_autofree char *error = NULL;

  script_text (f.trace, "*: win_create; win_fence | 0-1: win_fence | 2: win_free");
  error = run (&f, SIM_NETWORK_PACKET);
  g_assert_nonnull (error);
  g_assert_nonnull (strstr (error, "rank2:3"));
  g_assert_nonnull (strstr (error, "rank0:3"));
  g_assert_nonnull (strstr (error, "win_f"));
}

/* A posted collective that rank 1 never enters and no rank waits for. */
static void
test_left_alone (void)
{
  g_auto (Fixture) f = fixture_new_spec ("bgq:32", N, 1);
  g_autoptr (GError) error = NULL;
  g_autoptr (SimRun) it = NULL;

  script_text (f.trace, "0,2: ibarrier 7");
  it = fixture_simulate (&f, SIM_NETWORK_PACKET, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (it->warnings->len, ==, 1);
  g_assert_cmpstr (it->warnings->pdata[0], ==,
                   "1 collectives were not entered by all ranks of their communicator; the first: "
                   "rank 0, MPI_Ibarrier at rank0:1");
}

/* The first is that of the lowest rank, whatever the communicators' numbers. */
static void
test_several_left_alone (void)
{
  g_auto (Fixture) f = fixture_new_spec ("bgq:32", N, 1);
  g_autoptr (GError) error = NULL;
  g_autoptr (SimRun) it = NULL;

  script_text (f.trace, "*: comm_dup 9 | 2: ibarrier 7 | 1: compute 900; ibarrier 7 comm=9");
  it = fixture_simulate (&f, SIM_NETWORK_PACKET, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (it->warnings->len, ==, 1);
  g_assert_cmpstr (it->warnings->pdata[0], ==,
                   "2 collectives were not entered by all ranks of their communicator; the first: "
                   "rank 1, MPI_Ibarrier at rank1:3");
}

/* Disagreements of rank 1 with the others, by the knowledge that a trace has of collectives. */
static void
test_knowledge_of_a_trace (void)
{
  static const struct {
    TraceCollectives collectives;
    const char *one, *other;
    bool refused;
  } known[] = {
    { TRACE_COLLECTIVES_KNOWN, "bcast 0 5", "bcast 0 6", true },
    { TRACE_COLLECTIVES_KNOWN, "bcast 0 5", "bcast 0 unknown", false },
    { TRACE_COLLECTIVES_KNOWN, "bcast 0 unknown", "bcast 0 5", false },
    { TRACE_COLLECTIVES_KNOWN, "allgather 5", "allgather 5 bytes=1", true }, /* in place */
    { TRACE_COLLECTIVES_PASSED, "bcast 0 5", "bcast 0 6", true },
    { TRACE_COLLECTIVES_PASSED, "allgather 5", "allgather 5 bytes=1", false },
    { TRACE_COLLECTIVES_WITHOUT_SIZES, "bcast 0 5", "bcast 0 6", false },
    { TRACE_COLLECTIVES_WITHOUT_SIZES, "bcast 0 5", "bcast 2 5", true },
    { TRACE_COLLECTIVES_WITHOUT_SIZES, "bcast 0 5", "allgather 5", true },
    { TRACE_COLLECTIVES_MIXED, "bcast 0 5", "bcast 0 6", false },
    { TRACE_COLLECTIVES_MIXED, "bcast 0 5", "bcast 2 5", false },
    { TRACE_COLLECTIVES_MIXED, "bcast 0 5", "allgather 5", false },
  };

  for (uint32_t i = 0; i < G_N_ELEMENTS (known); i++) {
    g_auto (Fixture) f = fixture_new_spec ("bgq:32", N, 1);
    g_autofree char *text = g_strdup_printf ("0,2: %s | 1: %s", known[i].one, known[i].other);
    g_autofree char *error = NULL;

    g_test_message ("%s, knowledge %u", text, known[i].collectives);
    script_set_collectives (f.trace, known[i].collectives);
    script_text (f.trace, text);
    error = run (&f, SIM_NETWORK_LOAD);
    g_assert_true ((error != NULL) == known[i].refused);
  }
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
  g_autoptr (TraceComms) comms = trace_comms_new (MEMBERS);
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
  g_test_add_func ("/sim/agreement/several-left-alone", test_several_left_alone);
  g_test_add_func ("/sim/agreement/knowledge", test_knowledge_of_a_trace);
  g_test_add_func ("/sim/agreement/any-order", test_any_order);
  return g_test_run ();
}
