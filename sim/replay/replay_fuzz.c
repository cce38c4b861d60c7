/* replay_fuzz.c - any bytes as a program of a few ranks on a small machine.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The first bytes choose a machine, a network and the ranks, the others one
 * step each with its arguments.  Steps of all ranks together are right by
 * themselves; calls of one rank have any kind and arguments that are in part
 * impossible.  A program ends with a result, on which the networks agree, or
 * with an error that has a text; a network that stalls is at fault.  SimGrid
 * makes one network in a process, so that flow is not among them. */
#include ".ci/fuzzing.h"
#include "sim/run.h"
#include "sim/replay/replay_testing.h"

#define MAX_RANKS 8u
#define MAX_STEPS 120u
#define MAX_LIST  3u
/* All that a program may send, if each size went between all pairs of ranks. */
#define MAX_SENT_BYTES 4000000u

/* Handles; some of each stay unknown. */
enum { FIRST_COMM = 10, N_COMMS = 4, N_HANDLES = 8, N_WINDOWS = 3, N_GROUPS = 4 };

typedef struct {
  const uint8_t *at, *end;
  Trace *trace;
  uint32_t n_ranks;
  uint64_t sent_bytes; /* as MAX_SENT_BYTES counts them */
  bool is_load, is_graph;
} Program;

/* 0 where the input has ended. */
static uint32_t
below (Program *program, uint32_t n)
{
  return program->at == program->end ? 0 : *program->at++ % n;
}

static uint64_t
some_bytes (Program *program)
{
  static const uint64_t sizes[] = { 0, 1, 8, 300, 3000, 20000, 100000, TRACE_UNKNOWN_BYTES };
  uint64_t bytes = sizes[below (program, G_N_ELEMENTS (sizes))];

  if (bytes == TRACE_UNKNOWN_BYTES)
    return bytes;
  if (program->sent_bytes + bytes * program->n_ranks * program->n_ranks > MAX_SENT_BYTES)
    return bytes % 7;
  program->sent_bytes += bytes * program->n_ranks * program->n_ranks;
  return bytes;
}

/* Readers give no unknown ones in lists. */
static uint64_t
some_count (Program *program)
{
  uint64_t bytes = some_bytes (program);

  return bytes == TRACE_UNKNOWN_BYTES ? 0 : bytes;
}

static uint32_t
some_comm (Program *program)
{
  uint32_t number = below (program, N_COMMS + 3);

  return number < N_COMMS ? FIRST_COMM + number : TRACE_COMM_NULL + (number - N_COMMS);
}

/* From MPI_PROC_NULL to one more than there are. */
static int32_t
some_rank (Program *program)
{
  return (int32_t) below (program, program->n_ranks + 3) + TRACE_PROC_NULL;
}

/* -- one call of one rank ------------------------------------------------ */

typedef struct {
  uint32_t requests[MAX_LIST], completed[MAX_LIST], after[MAX_LIST], after_start[MAX_LIST];
  uint64_t counts[MAX_RANKS + 1], recv_counts[MAX_RANKS + 1];
  int32_t values[MAX_RANKS + 1], values2[MAX_RANKS + 1];
} Lists;

static uint32_t
fill_numbers (Program *program, uint32_t *numbers, uint32_t first, uint32_t n_values)
{
  uint32_t n = below (program, MAX_LIST + 1);

  for (uint32_t i = 0; i < n; i++)
    numbers[i] = first + below (program, n_values);
  return n;
}

/* None, one for each rank, or too many. */
static uint32_t
list_length (Program *program)
{
  static const uint32_t beyond[] = { 0, 0, 1 };
  uint32_t choice = below (program, 4);

  return choice == 3 ? 0 : program->n_ranks + beyond[choice];
}

static void
fill_lists (Program *program, TraceOp *op, Lists *lists)
{
  op->requests = lists->requests;
  op->n_requests = fill_numbers (program, lists->requests, 1, N_HANDLES);
  op->completed = lists->completed;
  op->n_completed = fill_numbers (program, lists->completed, 0, MAX_LIST);
  op->n_counts = list_length (program);
  for (uint32_t i = 0; i < op->n_counts; i++)
    lists->counts[i] = some_count (program);
  op->n_recv_counts = list_length (program);
  for (uint32_t i = 0; i < op->n_recv_counts; i++)
    lists->recv_counts[i] = some_count (program);
  op->n_values = list_length (program);
  for (uint32_t i = 0; i <= MAX_RANKS; i++) {
    lists->values[i] = some_rank (program);
    lists->values2[i] = some_rank (program);
  }
  if (op->kind == TRACE_OP_GROUP_RANGE_INCL || op->kind == TRACE_OP_GROUP_RANGE_EXCL)
    op->n_values -= op->n_values % 3;
  op->counts = op->n_counts > 0 ? lists->counts : NULL;
  op->recv_counts = op->n_recv_counts > 0 ? lists->recv_counts : NULL;
  op->values = lists->values;
  op->values2 = lists->values2;
}

static void
fill_order (Program *program, TraceOp *op, Lists *lists)
{
  op->after = lists->after;
  op->n_after = fill_numbers (program, lists->after, 0, 16);
  op->after_start = lists->after_start;
  op->n_after_start = fill_numbers (program, lists->after_start, 0, 16);
  op->cpu = below (program, 3);
}

static void
step_call (Program *program)
{
  Lists lists = { 0 };
  uint32_t rank = below (program, program->n_ranks);
  TraceOp op = { .kind = (TraceOpKind) below (program, TRACE_N_OPS),
                 .mode = (TraceSendMode) below (program, 4),
                 .gap_ps = below (program, 16) == 15 ? INT64_MAX : below (program, 256) * 1000000,
                 .comm = some_comm (program),
                 .peer = some_rank (program),
                 .tag = (int32_t) below (program, 4) + TRACE_ANY_TAG,
                 .bytes = some_bytes (program),
                 .recv_peer = some_rank (program),
                 .recv_tag = (int32_t) below (program, 4) + TRACE_ANY_TAG,
                 .recv_bytes = some_bytes (program),
                 .root = some_rank (program),
                 .request = 1 + below (program, N_HANDLES),
                 .nonblocking = below (program, 2),
                 .window = 1 + below (program, N_WINDOWS),
                 .new_comm = some_comm (program),
                 .group = 1 + below (program, N_GROUPS),
                 .group2 = 1 + below (program, N_GROUPS),
                 .new_group = 1 + below (program, N_GROUPS),
                 .color = some_rank (program),
                 .key = some_rank (program),
                 .name = "MPI_Any" };

  /* A replay does not read the rest of the stream, but load does. */
  if (op.kind == TRACE_OP_FINALIZE)
    op.kind = TRACE_OP_CALL;
  fill_lists (program, &op, &lists);
  if (program->is_graph)
    fill_order (program, &op, &lists);
  script_add (program->trace, rank, op);
}

/* -- steps that are right ------------------------------------------------ */

static void
step_message (Program *program)
{
  uint32_t from = below (program, program->n_ranks), to = below (program, program->n_ranks);
  uint64_t bytes = some_bytes (program);
  int32_t tag = (int32_t) below (program, 3);

  script_isend (program->trace, from, (int32_t) to, tag, bytes, 2 + below (program, N_HANDLES));
  if (below (program, 2))
    script_recv (program->trace, to, (int32_t) from, tag, bytes);
  else
    script_irecv (program->trace, to, (int32_t) from, tag, bytes, 2 + below (program, N_HANDLES));
}

static void
step_wait (Program *program)
{
  uint32_t n = below (program, 2) ? program->n_ranks : 1, rank = below (program, program->n_ranks);

  for (uint32_t i = 0; i < n; i++)
    script_add (program->trace, (rank + i) % program->n_ranks,
                (TraceOp){ .kind = TRACE_OP_WAIT_OUTSTANDING, .name = "MPI_Waitall" });
}

/* All ranks of the world, or all that have the handle of a communicator. */
static void
step_collective (Program *program)
{
  uint64_t bytes[MAX_RANKS][MAX_RANKS], recv_counts[MAX_RANKS];
  uint32_t n = program->n_ranks, seed = below (program, 256);
  TraceOp op = { .kind = TRACE_OP_BARRIER + (TraceOpKind) below (program, 15),
                 .comm = below (program, 2) ? some_comm (program) : TRACE_COMM_WORLD,
                 .root = (int32_t) below (program, n),
                 .bytes = some_bytes (program),
                 .request = 2 + below (program, N_HANDLES),
                 .nonblocking = below (program, 2),
                 .n_counts = n,
                 .n_recv_counts = n,
                 .name = "MPI_Collective" };

  op.recv_bytes = op.bytes;
  for (uint32_t from = 0; from < n; from++)
    for (uint32_t to = 0; to < n; to++)
      bytes[from][to] = (seed * (from + 1) + 37 * to) % 7 * 50;
  for (uint32_t rank = 0; rank < n; rank++) {
    bool pairs = op.kind == TRACE_OP_ALLTOALLV;

    for (uint32_t peer = 0; peer < n; peer++)
      recv_counts[peer] = pairs ? bytes[peer][rank] : bytes[0][peer];
    if (op.kind == TRACE_OP_GATHERV || op.kind == TRACE_OP_ALLGATHERV)
      op.bytes = bytes[0][rank];
    if (op.kind == TRACE_OP_SCATTERV)
      op.recv_bytes = bytes[0][rank];
    op.counts = pairs ? bytes[rank] : bytes[0];
    op.recv_counts = recv_counts;
    script_add (program->trace, rank, op);
  }
}

static void
step_communicator (Program *program)
{
  bool frees = below (program, 4) == 0;
  uint32_t handle = FIRST_COMM + below (program, N_COMMS), parts = 1 + below (program, 3);

  for (uint32_t rank = 0; rank < program->n_ranks; rank++)
    script_add (program->trace, rank,
                (TraceOp){ .kind = frees ? TRACE_OP_COMM_FREE : TRACE_OP_COMM_SPLIT,
                           .comm = frees ? handle : TRACE_COMM_WORLD,
                           .new_comm = handle,
                           .color = (int32_t) (rank % parts),
                           .key = -(int32_t) rank,
                           .name = "MPI_Comm" });
}

static void
step_window (Program *program)
{
  static const TraceOpKind kinds[] = { TRACE_OP_WIN_CREATE, TRACE_OP_WIN_FENCE, TRACE_OP_WIN_FREE,
                                       TRACE_OP_PUT,        TRACE_OP_GET,       TRACE_OP_FETCH };
  TraceOp op = { .kind = kinds[below (program, G_N_ELEMENTS (kinds))],
                 .comm = TRACE_COMM_WORLD,
                 .window = 1 + below (program, N_WINDOWS),
                 .bytes = some_bytes (program),
                 .recv_bytes = some_bytes (program),
                 .name = "MPI_Window" };
  uint32_t shift = below (program, program->n_ranks);

  for (uint32_t rank = 0; rank < program->n_ranks; rank++) {
    op.peer = (int32_t) ((rank + shift) % program->n_ranks);
    script_add (program->trace, rank, op);
  }
}

static void
program_read (Program *program)
{
  static void (*const steps[]) (Program *) = { step_call,       step_message,      step_wait,
                                               step_collective, step_communicator, step_window };

  for (uint32_t n = 0; n < MAX_STEPS && program->at < program->end; n++) {
    uint32_t step = below (program, 2 * G_N_ELEMENTS (steps));

    steps[step < G_N_ELEMENTS (steps) && !program->is_graph ? step : 0](program);
  }
}

/* -- running ------------------------------------------------------------- */

/* Made once: their ways take longer than most programs. */
static struct {
  const char *spec;
  TopoMachine *machine;
  RoutePaths *paths;
} machines[] = { { .spec = "bgq:32" },
                 { .spec = "torus:2x2x2m" },
                 { .spec = "torus:3x4" },
                 { .spec = "systemg:8" },
                 { .spec = "fattree:2x4" } };

static void
prepare (void)
{
  for (uint32_t i = 0; i < G_N_ELEMENTS (machines); i++) {
    machines[i].machine = topo_machine_new (machines[i].spec, NULL);
    g_assert_nonnull (machines[i].machine);
    machines[i].paths = route_paths_new (machines[i].machine, NULL);
    g_assert_nonnull (machines[i].paths);
  }
}

static SimRun *
run (const Program *program, const RoutePaths *paths, const TopoMapping *mapping,
     SimNetworkKind network)
{
  SimRunOptions options = { .network = network,
                            .policy = ROUTE_POLICY_DETERMINISTIC,
                            .compute_scale = 1,
                            .paths = paths,
                            .key = "fuzz" };
  g_autoptr (GError) error = NULL;
  SimRun *it = sim_run (program->trace, paths->machine, mapping, &options, &error);

  g_assert_true ((it == NULL) == (error != NULL));
  g_assert_true (error == NULL || error->message[0] != '\0');
  g_assert_false (g_error_matches (error, SIM_ERROR, SIM_ERROR_STALL));
  return it;
}

/* Of a program that has ended well, with nothing left over and no warning but of imbalance, the
 * messages are those that the load network counts without time. */
static void
check_result (const Program *program, const RoutePaths *paths, const TopoMapping *mapping,
              const SimRun *packet)
{
  g_autoptr (SimRun) load = NULL;

  for (uint32_t rank = 0; rank < program->n_ranks; rank++) {
    const SimRankTimes *it = &packet->result.ranks[rank];

    g_assert_cmpint (it->end_ps, <=, packet->result.time_ps);
    g_assert_cmpint (it->compute_ps, >=, 0);
    g_assert_cmpint (it->wait_ps, >=, 0);
  }
  for (guint i = 0; i < packet->warnings->len; i++)
    if (!g_str_has_prefix (packet->warnings->pdata[i], SIM_IMBALANCE_WARNING))
      return;
  load = run (program, paths, mapping, SIM_NETWORK_LOAD);
  g_assert_nonnull (load);
  g_assert_cmpuint (packet->result.messages, ==, load->result.messages);
  g_assert_cmpuint (packet->result.message_bytes, ==, load->result.message_bytes);
  g_assert_cmpuint (packet->result.collectives, ==, load->result.collectives);
}

static void
check (const uint8_t *data, size_t size)
{
  Program program = { .at = data, .end = data + size };
  uint32_t number = below (&program, G_N_ELEMENTS (machines)), bits = below (&program, 256);
  TopoMachine *machine = machines[number].machine;
  const RoutePaths *paths = machines[number].paths;
  g_autoptr (TopoMapping) mapping = NULL;
  g_autoptr (SimRun) it = NULL;

  program.n_ranks = 1 + below (&program, MAX_RANKS);
  program.is_load = (bits & 7) == 7;
  program.is_graph = (bits & 0x38) == 0x38;
  machine->ranks_per_node = bits & 0x40 ? 4 : 1;
  machine->parameters.mpi.async_progress = bits & 0x80;
  machine->parameters.mpi.collectives = below (&program, 6); /* TopoCollectives */
  mapping = topo_mapping_new (NULL, machine, program.n_ranks, NULL);
  g_assert_nonnull (mapping);
  program.trace = script_new (program.n_ranks);
  if (program.is_graph)
    script_set_graph (program.trace);
  program_read (&program);
  it = run (&program, paths, mapping, program.is_load ? SIM_NETWORK_LOAD : SIM_NETWORK_PACKET);
  if (it != NULL && !program.is_load)
    check_result (&program, paths, mapping, it);
  trace_free (program.trace);
}

/* -- seeds --------------------------------------------------------------- */

static const char *const words[] = { "\\x01\\x00\\x01", "\\x02\\x01", "\\x03\\x00",
                                     "\\x05\\x00\\x01", "\\xff\\xff", NULL };

/* Every choice of machine with bytes of a fixed generator. */
static void
seed (FuzzSeeds *seeds)
{
  uint32_t state = 1;

  for (uint32_t i = 0; i < 40; i++) {
    uint8_t bytes[400];

    for (uint32_t at = 0; at < sizeof bytes; at++) {
      state = state * 1664525 + 1013904223;
      bytes[at] = (uint8_t) (state >> 24);
    }
    bytes[0] = (uint8_t) i;
    fuzz_add (seeds, bytes, 20 + 9 * i);
  }
  fuzz_add_words (seeds, words);
}

const FuzzProgram fuzz_program = { prepare, seed, check };
