/* replay_mix_test.c - random programs that mix all kinds of operations.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A program is made of steps in one global order: a message, a collective of
 * a communicator, an epoch of a window ...  Everything that a rank waits for was
 * begun by others in the same step or before, so a program could run one step
 * at a time and must end on any network. */
#include "sim/replay/replay_testing.h"
#include "sim/replay/replay_private.h"

#include <string.h>

#define RANKS         12
#define STEPS         60
#define SLOTS         4
#define HANDLES       100  /* below: of communicators */
#define LARGE_HANDLES 5000 /* small ones look into an array, large ones into a map */

typedef struct {
  uint32_t handle, n;
  uint32_t ranks[RANKS]; /* in the order of the communicator */
} Group;

typedef struct {
  Fixture f;
  Group comms[SLOTS];   /* n 0: none; the first two are the world and self */
  Group windows[SLOTS]; /* the communicator of each, which may be freed */
  GArray *open[RANKS];  /* (element-type uint32_t) active handles */
  uint32_t next_request;
  int32_t next_tag;
  uint32_t mistakes; /* one in so many steps; 0: none */
  uint32_t n_kinds;  /* of mistakes */
} Program;

static uint32_t
below (uint32_t n)
{
  return (uint32_t) g_test_rand_int_range (0, (gint32) n);
}

/* Some empty, some eager, some that are fetched. */
static uint64_t
some_bytes (void)
{
  static const uint32_t most[] = { 1, 300, 2500, 40000 };

  return below (most[below (G_N_ELEMENTS (most))]);
}

static void
add (Program *program, uint32_t rank, TraceOp op)
{
  script_add (program->f.trace, rank, op);
  if (below (8) == 0)
    script_compute (program->f.trace, rank, below (9000) * NS);
}

static uint32_t
new_handle (Program *program)
{
  uint32_t number = program->next_request++;

  return number % 2 == 0 ? HANDLES + number : LARGE_HANDLES + number;
}

/* A handle that the rank has to ask for. */
static uint32_t
open_handle (Program *program, uint32_t rank)
{
  uint32_t handle = new_handle (program);

  g_array_append_val (program->open[rank], handle);
  return handle;
}

static const Group *
some_comm (const Program *program)
{
  const Group *comm = &program->comms[below (SLOTS)];

  return comm->n > 0 ? comm : &program->comms[0];
}

/* -- completion ---------------------------------------------------------- */

static void
close_handles (Program *program, uint32_t rank, uint32_t n)
{
  static const TraceOpKind kinds[] = { TRACE_OP_WAIT, TRACE_OP_WAIT_SOME, TRACE_OP_TEST };
  GArray *open = program->open[rank];
  uint32_t handles[STEPS * RANKS], all[STEPS * RANKS];

  if (n == 0)
    return;
  g_assert (open->len <= G_N_ELEMENTS (handles));
  for (uint32_t i = 0; i < n; i++) {
    uint32_t place = below (open->len);

    handles[i] = g_array_index (open, uint32_t, place);
    all[i] = i;
    g_array_remove_index_fast (open, place);
  }
  add (program, rank,
       (TraceOp){ .kind = kinds[below (G_N_ELEMENTS (kinds))],
                  .requests = handles,
                  .n_requests = n,
                  .completed = all,
                  .n_completed = n });
}

static void
step_wait (Program *program)
{
  uint32_t rank = below (RANKS);
  const GArray *open = program->open[rank];

  if (open->len > 0)
    add (program, rank,
         (TraceOp){ .kind = TRACE_OP_TEST,
                    .requests = (const uint32_t *) (const void *) open->data,
                    .n_requests = open->len });
  close_handles (program, rank, below (open->len + 1));
}

/* -- messages ------------------------------------------------------------ */

static void
step_message (Program *program)
{
  const Group *comm = some_comm (program);
  uint32_t from = below (comm->n), to = below (comm->n);
  TraceOp send = { .kind = TRACE_OP_ISEND,
                   .mode = (TraceSendMode) below (4),
                   .comm = comm->handle,
                   .peer = (int32_t) to,
                   .tag = program->next_tag++,
                   .bytes = some_bytes () };
  TraceOp receive = send;

  receive.kind = TRACE_OP_IRECV;
  receive.peer = below (4) == 0 ? TRACE_ANY_SOURCE : (int32_t) from;
  receive.matched_source = (int32_t) from;
  if (from != to && below (3) == 0)
    send.kind = TRACE_OP_SEND;
  else
    send.request = open_handle (program, comm->ranks[from]);
  add (program, comm->ranks[from], send);
  if (below (3) == 0) {
    receive.kind = TRACE_OP_PROBE;
    add (program, comm->ranks[to], receive);
    receive.kind = TRACE_OP_RECV;
  } else
    receive.request = open_handle (program, comm->ranks[to]);
  add (program, comm->ranks[to], receive);
}

/* Two starts of one handle at each end, whose first may be active still. */
static void
step_persistent (Program *program)
{
  uint32_t from = below (RANKS), to = (from + 1 + below (RANKS - 1)) % RANKS;
  uint32_t handle = new_handle (program);
  uint32_t handles[] = { handle, handle };
  TraceOp init = { .kind = TRACE_OP_SEND_INIT,
                   .comm = TRACE_COMM_WORLD,
                   .peer = (int32_t) to,
                   .tag = program->next_tag++,
                   .bytes = some_bytes (),
                   .request = handle };
  static const TraceOpKind kinds[] = { TRACE_OP_START, TRACE_OP_WAIT };

  add (program, from, init);
  init.kind = TRACE_OP_RECV_INIT;
  init.peer = (int32_t) from;
  add (program, to, init);
  for (uint32_t i = 0; i < G_N_ELEMENTS (kinds); i++) {
    script_requests (program->f.trace, from, kinds[i], 2, handles);
    script_requests (program->f.trace, to, kinds[i], 2, handles);
  }
  script_requests (program->f.trace, from, TRACE_OP_REQUEST_FREE, 1, handles);
  script_requests (program->f.trace, to, TRACE_OP_REQUEST_FREE, 1, handles);
}

/* -- collectives --------------------------------------------------------- */

static void
add_collective (Program *program, const Group *comm, TraceOp op, bool posted)
{
  for (uint32_t member = 0; member < comm->n; member++) {
    op.nonblocking = posted;
    op.request = posted ? open_handle (program, comm->ranks[member]) : 0;
    if (op.kind == TRACE_OP_ALLGATHERV)
      op.bytes = op.recv_counts[member];
    add (program, comm->ranks[member], op);
  }
}

static void
step_collective (Program *program)
{
  static const TraceOpKind kinds[] = {
    TRACE_OP_BARRIER,        TRACE_OP_BCAST,    TRACE_OP_GATHER, TRACE_OP_SCATTER,
    TRACE_OP_ALLGATHER,      TRACE_OP_ALLTOALL, TRACE_OP_REDUCE, TRACE_OP_ALLREDUCE,
    TRACE_OP_REDUCE_SCATTER, TRACE_OP_SCAN,     TRACE_OP_EXSCAN, TRACE_OP_ALLGATHERV
  };
  const Group *comm = some_comm (program);
  uint64_t counts[RANKS];
  TraceOp op = { .kind = kinds[below (G_N_ELEMENTS (kinds))],
                 .comm = comm->handle,
                 .root = (int32_t) below (comm->n),
                 .bytes = some_bytes () };

  op.recv_bytes = op.bytes;
  if (op.kind == TRACE_OP_REDUCE_SCATTER || op.kind == TRACE_OP_ALLGATHERV) {
    op.recv_counts = counts;
    op.n_recv_counts = comm->n;
  }
  for (uint32_t member = 0; member < comm->n; member++)
    counts[member] = some_bytes ();
  add_collective (program, comm, op, g_test_rand_bit ());
}

static void
step_alltoallv (Program *program)
{
  const Group *comm = some_comm (program);
  bool posted = g_test_rand_bit ();
  uint64_t bytes[RANKS][RANKS], recv_counts[RANKS];

  for (uint32_t from = 0; from < comm->n; from++)
    for (uint32_t to = 0; to < comm->n; to++)
      bytes[from][to] = some_bytes ();
  for (uint32_t member = 0; member < comm->n; member++) {
    for (uint32_t from = 0; from < comm->n; from++)
      recv_counts[from] = bytes[from][member];
    add (program, comm->ranks[member],
         (TraceOp){ .kind = TRACE_OP_ALLTOALLV,
                    .comm = comm->handle,
                    .counts = bytes[member],
                    .recv_counts = recv_counts,
                    .n_counts = comm->n,
                    .n_recv_counts = comm->n,
                    .nonblocking = posted,
                    .request = posted ? open_handle (program, comm->ranks[member]) : 0 });
  }
}

#define EDGES 20

/* Any edges: to oneself, twice the same, none at a rank. */
static void
step_neighbors (Program *program)
{
  const Group *comm = some_comm (program);
  bool posted = g_test_rand_bit ();
  uint32_t n_edges = below (EDGES + 1);
  int32_t from[EDGES], to[EDGES];
  uint64_t bytes[EDGES];

  for (uint32_t edge = 0; edge < n_edges; edge++) {
    from[edge] = (int32_t) below (comm->n);
    to[edge] = (int32_t) below (comm->n);
    bytes[edge] = some_bytes ();
  }
  for (uint32_t member = 0; member < comm->n; member++) {
    int32_t destinations[EDGES], sources[EDGES];
    uint64_t counts[EDGES], recv_counts[EDGES];
    TraceOp op = { .kind = TRACE_OP_NEIGHBOR_ALLTOALL,
                   .comm = comm->handle,
                   .values = destinations,
                   .values2 = sources,
                   .counts = counts,
                   .recv_counts = recv_counts,
                   .nonblocking = posted };

    for (uint32_t edge = 0; edge < n_edges; edge++) {
      if (from[edge] == (int32_t) member) {
        destinations[op.n_counts] = to[edge];
        counts[op.n_counts++] = bytes[edge];
      }
      if (to[edge] == (int32_t) member) {
        sources[op.n_recv_counts] = from[edge];
        recv_counts[op.n_recv_counts++] = bytes[edge];
      }
    }
    op.request = posted ? open_handle (program, comm->ranks[member]) : 0;
    add (program, comm->ranks[member], op);
  }
}

/* -- communicators ------------------------------------------------------- */

/* The handle is bound again even while operations on its communicator are under way. */
static void
comm_free (Program *program, Group *comm)
{
  for (uint32_t member = 0; member < comm->n; member++)
    add (program, comm->ranks[member],
         (TraceOp){ .kind = TRACE_OP_COMM_FREE, .comm = comm->handle });
  comm->n = 0;
}

static void
step_split (Program *program)
{
  Group *comm = &program->comms[2 + below (SLOTS - 2)];
  bool backwards = g_test_rand_bit ();
  uint32_t handle = 10 + (uint32_t) (comm - program->comms);

  comm_free (program, comm);
  comm->handle = handle;
  for (uint32_t i = 0; i < RANKS; i++) {
    uint32_t rank = backwards ? RANKS - 1 - i : i;
    uint32_t color = below (3);

    add (program, rank,
         (TraceOp){ .kind = TRACE_OP_COMM_SPLIT,
                    .comm = TRACE_COMM_WORLD,
                    .new_comm = handle,
                    .color = color == 2 ? TRACE_UNDEFINED : (int32_t) color,
                    .key = (int32_t) i });
    if (color == 0)
      comm->ranks[comm->n++] = rank;
    else if (color == 1)
      add (program, rank, (TraceOp){ .kind = TRACE_OP_COMM_FREE, .comm = handle });
  }
}

/* -- windows ------------------------------------------------------------- */

static TraceOp
window_op (const Program *program, const Group *window, TraceOpKind kind, int32_t peer)
{
  uint32_t number = 1 + (uint32_t) (window - program->windows);

  return (TraceOp){ .kind = kind, .comm = window->handle, .window = number, .peer = peer };
}

static void
window_call (Program *program, const Group *window, TraceOpKind kind)
{
  for (uint32_t member = 0; member < window->n; member++)
    add (program, window->ranks[member], window_op (program, window, kind, 0));
}

static void
add_access (Program *program, const Group *window, uint32_t member, int32_t target)
{
  TraceOp op = window_op (program, window, TRACE_OP_PUT + (TraceOpKind) below (3), target);

  op.bytes = some_bytes ();
  op.recv_bytes = some_bytes ();
  op.nonblocking = below (4) == 0;
  if (op.nonblocking)
    op.request = open_handle (program, window->ranks[member]);
  add (program, window->ranks[member], op);
}

static void
step_locks (Program *program, const Group *window)
{
  uint32_t member = below (window->n);
  int32_t target = below (5) == 0 ? TRACE_PROC_NULL : (int32_t) below (window->n);

  for (uint32_t n = below (4); n > 0; n--)
    add_access (program, window, member, target);
  add_access (program, window, member, (int32_t) below (window->n));
  add (program, window->ranks[member],
       window_op (program, window, TRACE_OP_WIN_FLUSH,
                  g_test_rand_bit () ? TRACE_ANY_SOURCE : target));
}

/* Some access, some are accessed, some both: a target posts before it starts, so that
 * no ranks wait in a circle. */
static void
step_groups (Program *program, const Group *window)
{
  int32_t origins[RANKS], targets[RANKS];
  uint32_t n_origins = 0, n_targets = 0;
  bool is_origin[RANKS], is_target[RANKS];

  for (uint32_t member = 0; member < window->n; member++) {
    is_origin[member] = g_test_rand_bit ();
    is_target[member] = g_test_rand_bit ();
    if (is_origin[member])
      origins[n_origins++] = (int32_t) member;
    if (is_target[member])
      targets[n_targets++] = (int32_t) member;
  }
  for (uint32_t member = 0; member < window->n; member++) {
    TraceOp as_target = window_op (program, window, TRACE_OP_WIN_POST, 0);
    TraceOp as_origin = window_op (program, window, TRACE_OP_WIN_START, 0);

    as_target.values = origins;
    as_target.n_values = n_origins;
    as_origin.values = targets;
    as_origin.n_values = n_targets;
    if (is_target[member])
      add (program, window->ranks[member], as_target);
    if (is_origin[member]) {
      add (program, window->ranks[member], as_origin);
      for (uint32_t n = n_targets > 0 ? below (4) : 0; n > 0; n--)
        add_access (program, window, member, targets[below (n_targets)]);
      as_origin.kind = TRACE_OP_WIN_COMPLETE;
      add (program, window->ranks[member], as_origin);
    }
    as_target.kind = TRACE_OP_WIN_WAIT;
    if (is_target[member])
      add (program, window->ranks[member], as_target);
  }
}

static void
step_fence (Program *program, const Group *window)
{
  for (uint32_t n = below (8); n > 0; n--)
    add_access (program, window, below (window->n), (int32_t) below (window->n));
  window_call (program, window, TRACE_OP_WIN_FENCE);
}

static void
step_window (Program *program)
{
  Group *window = &program->windows[below (SLOTS)];

  if (window->n == 0) {
    *window = *some_comm (program);
    window_call (program, window, TRACE_OP_WIN_CREATE);
    return;
  }
  switch (below (4)) {
  case 0: step_locks (program, window); break;
  case 1: step_groups (program, window); break;
  case 2: step_fence (program, window); break;
  default: window_call (program, window, TRACE_OP_WIN_FREE); window->n = 0;
  }
}

/* -- mistakes ------------------------------------------------------------ */

/* Harmless ones, one that makes the program wait for ever, one that is an error. */
enum { HARMLESS = 2, ENDLESS, ALL_MISTAKES };

static void
step_mistake (Program *program)
{
  uint32_t rank = below (RANKS), unknown = HANDLES - 1;
  int32_t peer = (int32_t) below (RANKS);

  switch (below (program->n_kinds)) {
  case 0: script_requests (program->f.trace, rank, TRACE_OP_WAIT, 1, &unknown); break;
  case 1: /* too long */
    script_send_mode (program->f.trace, rank, peer, program->next_tag, 500, TRACE_SEND_BUFFERED);
    script_recv (program->f.trace, (uint32_t) peer, (int32_t) rank, program->next_tag++, 400);
    break;
  case 2: script_recv (program->f.trace, rank, peer, program->next_tag++, 10); break;
  default: script_collective (program->f.trace, rank, TRACE_OP_BARRIER, TRACE_NO_ROOT, 0);
  }
}

/* -- programs ------------------------------------------------------------ */

static void
program_fill (Program *program)
{
  static void (*const steps[]) (Program *) = {
    step_wait,      step_message,   step_message, step_persistent, step_collective, step_collective,
    step_alltoallv, step_neighbors, step_split,   step_window,     step_window,     step_window,
  };

  for (uint32_t step = 0; step < STEPS; step++) {
    steps[below (G_N_ELEMENTS (steps))](program);
    if (program->mistakes > 0 && below (program->mistakes) == 0)
      step_mistake (program);
  }
  for (uint32_t slot = 0; slot < SLOTS; slot++)
    window_call (program, &program->windows[slot], TRACE_OP_WIN_FREE);
  for (uint32_t rank = 0; rank < RANKS; rank++) {
    close_handles (program, rank, program->open[rank]->len);
    add (program, rank, (TraceOp){ .kind = TRACE_OP_FINALIZE });
  }
}

/* Whatever the switches are. */
static void
use_sharp (TopoParameters *parameters)
{
  parameters->sharp.enabled = 1;
  parameters->sharp.min_leaders = 2 + below (2);
  parameters->sharp.payload_bytes = 64;
  parameters->sharp.transactions = 1 + below (3);
  parameters->sharp.max_bytes = below (2) * 1000;
}

static void
program_init_with (Program *program, bool fabric, uint32_t mistakes, uint32_t n_kinds)
{
  *program = (Program){ .mistakes = mistakes, .n_kinds = n_kinds };
  if (fabric) {
    program->f = fixture_new_fabric (RANKS, 1 + below (3));
    fixture_lower_limits (&program->f, below (16));
    if (g_test_rand_bit ())
      use_sharp (&program->f.machine->parameters);
  } else
    program->f = fixture_new (RANKS, 1 + below (3));
  program->f.machine->parameters.mpi.async_progress = g_test_rand_bit ();
  program->f.machine->parameters.collective.in_network = g_test_rand_bit ();
  program->f.jitter_ps = g_test_rand_bit () ? 5000 * NS : 0;
  program->comms[0] = (Group){ .handle = TRACE_COMM_WORLD, .n = RANKS };
  program->comms[1] = (Group){ .handle = TRACE_COMM_SELF, .n = 1, .ranks = { below (RANKS) } };
  for (uint32_t rank = 0; rank < RANKS; rank++) {
    program->comms[0].ranks[rank] = rank;
    program->open[rank] = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  }
  program_fill (program);
}

static void
program_init (Program *program, bool fabric)
{
  program_init_with (program, fabric, 0, HARMLESS);
}

static void
program_clear (Program *program)
{
  for (uint32_t rank = 0; rank < RANKS; rank++)
    g_array_unref (program->open[rank]);
  fixture_clear (&program->f);
}

/* -- tests --------------------------------------------------------------- */

/* Nothing is under way when all have ended, and nothing is kept. */
static void
test_nothing_is_left (void)
{
  for (uint32_t round = 0; round < 150; round++) {
    const SimReplay *replay;
    uint32_t n_transfers = 0;
    Program program;

    program_init (&program, round % 2);
    fixture_run (&program.f);
    g_assert_no_error (program.f.error);
    g_assert_cmpuint (program.f.result->warnings->len, ==, 0);
    replay = program.f.replay;
    for (uint32_t request = 0; request < replay->n_requests; request++)
      g_assert_false (replay->requests[request].used);
    g_assert_cmpuint (g_hash_table_size (replay->meetings->open), ==, 0);
    g_assert_cmpuint (g_hash_table_size (replay->windows), ==, 0);
    for (uint32_t free = replay->first_free_transfer; free != TOPO_NONE;
         free = sim_transfer_at (replay, free)->next)
      n_transfers++;
    g_assert_cmpuint (n_transfers, ==, replay->next_transfer);
    g_assert_cmpuint (replay->n_works, ==, 0);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
      const SimRank *it = &replay->ranks[rank];

      g_assert_null (it->active);
      g_assert_cmpuint (it->open_receives, ==, 0);
      g_assert_cmpuint (it->open_sends, ==, 0);
      for (uint32_t handle = 0; handle < it->n_queues; handle++)
        g_assert_cmpuint (it->queues[handle], ==, TOPO_NONE);
      g_assert_true (it->handles == NULL || it->handles->n == 0);
      g_assert_true (it->early_direct == NULL || it->early_direct->len == 0);
    }
    program_clear (&program);
  }
}

static void
test_twice_the_same (void)
{
  for (uint32_t round = 0; round < 10; round++) {
    SimRankTimes ranks[RANKS];
    Program program;

    program_init (&program, round % 2);
    fixture_run (&program.f);
    g_assert_no_error (program.f.error);
    memcpy (ranks, program.f.result->ranks, sizeof ranks);
    fixture_run (&program.f);
    g_assert_cmpmem (ranks, sizeof ranks, program.f.result->ranks, sizeof ranks);
    program_clear (&program);
  }
}

static void
test_links_carry_the_load (void)
{
  for (uint32_t round = 0; round < 30; round++) {
    Program program;

    program_init (&program, round % 2);
    program.f.machine->parameters.sharp.enabled = 0; /* the load network sends by messages */
    fixture_check_links (&program.f);
    program_clear (&program);
  }
}

/* Whatever is under way when a run is saved, it goes on from there. */
static void
test_resumed (void)
{
  for (uint32_t round = 0; round < 300; round++) {
    Program program;

    program_init (&program, round % 2);
    fixture_check_resumed (&program.f,
                           round % 4 < 2 ? ROUTE_POLICY_DETERMINISTIC : ROUTE_POLICY_DEFAULT,
                           1 + below (3));
    program_clear (&program);
  }
}

/* -- in parts ------------------------------------------------------------ */

static void
append_result (GString *text, const SimReplayResult *result)
{
  g_string_append_printf (
      text, "%ld %lu %lu %lu %lu %lu\n", (long) result->time_ps, (unsigned long) result->messages,
      (unsigned long) result->message_bytes, (unsigned long) result->collectives,
      (unsigned long) result->unmatched_sends, (unsigned long) result->unmatched_receives);
  for (uint32_t rank = 0; rank < RANKS; rank++) {
    const SimRankTimes *it = &result->ranks[rank];

    g_string_append_printf (text, "%ld %ld %ld %lu %lu\n", (long) it->end_ps, (long) it->compute_ps,
                            (long) it->wait_ps, (unsigned long) it->sends,
                            (unsigned long) it->receives);
  }
  for (uint32_t class = 0; class < SIM_N_CLASSES; class ++)
    g_string_append_printf (text, "%ld\n", (long) result->path.ps[class]);
  for (guint i = 0; i < result->warnings->len; i++)
    g_string_append_printf (text, "%s\n", (const char *) result->warnings->pdata[i]);
}

/* All that a run gives, as text. */
static char *
outcome_in_parts (const Fixture *f, uint32_t n_parts, int64_t latency_ps)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (RoutePaths) routes = route_paths_new (f->machine, &error);
  SimReplayOptions options = { .compute_scale = 1, .routes = routes };
  GString *text = g_string_new (NULL);
  SimReplay *replay = sim_replay_new (f->trace, f->machine, f->mapping, &options, &error);
  uint32_t n_nodes = 1 + MAX (f->mapping->node[0], f->mapping->node[RANKS - 1]);
  SimNetwork *network;

  g_assert_no_error (error);
  network = parts_network_new (f->mapping, n_nodes, n_parts, latency_ps, 1 * NS, f->jitter_ps,
                               &sim_replay_client, replay);
  if (sim_replay_run (replay, network, &error)) {
    uint64_t n_edges;
    g_autofree SimEdge *edges = sim_edges_sorted (sim_replay_edges (replay), &n_edges);

    append_result (text, sim_replay_result (replay));
    fixture_check_path (sim_replay_result (replay));
    for (uint64_t i = 0; i < n_edges; i++)
      g_string_append_printf (text, "%u-%u %lu %lu\n", edges[i].source, edges[i].destination,
                              (unsigned long) edges[i].messages, (unsigned long) edges[i].bytes);
  } else {
    g_assert_error (error, SIM_ERROR, SIM_ERROR_DEADLOCK);
    g_string_append (text, error->message);
  }
  g_string_append_printf (text, " %lx", (unsigned long) parts_network_hash (network));
  sim_network_free (network);
  sim_replay_free (replay);
  return g_string_free (text, FALSE);
}

/* The last rank is on the first node; collectives in the network are faster than messages. */
static void
make_odd (Fixture *f)
{
  uint32_t last = f->mapping->node[RANKS - 1];

  for (uint32_t rank = 0; rank < RANKS; rank++)
    f->mapping->node[rank] = last - f->mapping->node[rank];
  f->machine->parameters.collective.barrier_latency_ps = 0;
  f->machine->parameters.collective.tree_latency_ps = 0;
  f->machine->parameters.collective.tree_hop_latency_ps = 0;
}

/* Whether the run ended; not how many parts there are, or which one comes first, makes any
 * difference. */
static bool
check_parts (const Fixture *f)
{
  int64_t latency_ps = below (2) == 0 ? 40 * NS : 1000 * NS;
  g_autofree char *whole = outcome_in_parts (f, 1, latency_ps);

  for (uint32_t n_parts = 2; n_parts <= 4; n_parts++) {
    g_autofree char *cut = outcome_in_parts (f, n_parts, latency_ps);

    g_assert_cmpstr (cut, ==, whole);
  }
  return g_ascii_isdigit (*whole);
}

static void
test_parts_are_not_seen (void)
{
  uint32_t n_rounds = 60, n_ended = 0;

  for (uint32_t round = 0; round < n_rounds; round++) {
    Program program;

    program_init_with (&program, false, round % 2 * 20, round % 4 == 1 ? ENDLESS : HARMLESS);
    if (round % 3 == 0)
      make_odd (&program.f);
    n_ended += check_parts (&program.f);
    program_clear (&program);
  }
  g_assert_cmpuint (n_ended, >=, n_rounds / 2);
  g_assert_cmpuint (n_ended, <, n_rounds);
}

/* Ranks of all parts warn, meet and release each other in the same windows; some of the trace's
 * sizes are guesses.  In the end all but the root enter a reduction. */
static void
test_meetings_in_parts (void)
{
  static const TraceOpKind kinds[] = { TRACE_OP_BARRIER, TRACE_OP_BCAST, TRACE_OP_BCAST,
                                       TRACE_OP_REDUCE, TRACE_OP_ALLREDUCE };

  for (uint32_t round = 0; round < 30; round++) {
    g_auto (Fixture) f = fixture_new (RANKS, 1 + below (3));
    uint32_t unknown = HANDLES, posted = HANDLES + 1;

    f.machine->parameters.collective.in_network = true;
    f.machine->parameters.mpi.async_progress = g_test_rand_bit ();
    if (g_test_rand_bit ())
      make_odd (&f);
    script_set_collectives (f.trace, TRACE_COLLECTIVES_WITHOUT_SIZES);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
      script_isend (f.trace, rank, (int32_t) (rank + 1) % RANKS, 0, below (900), posted);
      script_recv (f.trace, rank, (int32_t) (rank + RANKS - 1) % RANKS, 0, 900);
      script_requests (f.trace, rank, TRACE_OP_WAIT, 1, &unknown);
      script_wait (f.trace, rank, posted);
    }
    for (uint32_t step = 0; step < 40; step++) {
      TraceOp op = { .kind = kinds[below (G_N_ELEMENTS (kinds))],
                     .comm = TRACE_COMM_WORLD,
                     .root = (int32_t) below (RANKS),
                     .nonblocking = below (3) == 0,
                     .request = posted };
      bool splits = below (8) == 0;

      for (uint32_t rank = 0; rank < RANKS; rank++) {
        if (below (3) > 0)
          script_compute (f.trace, rank, below (900) * NS);
        op.bytes = 8 + 8 * below (100);
        if (splits)
          script_add (f.trace, rank,
                      (TraceOp){ .kind = TRACE_OP_COMM_SPLIT,
                                 .comm = TRACE_COMM_WORLD,
                                 .new_comm = 10 + step,
                                 .color = (int32_t) (rank + step) % 3 });
        else
          script_add (f.trace, rank, op);
        if (!splits && op.nonblocking)
          script_wait (f.trace, rank, posted);
        /* The communicators of all colours are made at about the same time. */
        if (splits)
          script_add (
              f.trace, rank,
              (TraceOp){ .kind = TRACE_OP_COMM_DUP, .comm = 10 + step, .new_comm = 1000 + step });
      }
    }
    for (uint32_t rank = 1; rank < RANKS; rank++) {
      script_compute (f.trace, rank, below (900) * NS);
      script_collective (f.trace, rank, TRACE_OP_REDUCE, 0, 8);
    }
    g_assert_true (check_parts (&f));
  }
}

/* -- threads of whole runs ---------------------------------------------- */

static char *
outcome_of_threads (Fixture *f, uint32_t n_threads)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SimRun) run = NULL;
  GString *text = g_string_new (NULL);

  f->n_threads = n_threads;
  run = fixture_simulate (f, SIM_NETWORK_PACKET, &error);
  if (run == NULL) {
    g_string_append (text, error->message);
    return g_string_free (text, FALSE);
  }
  append_result (text, &run->result);
  g_string_append_printf (text, "%lu %lu\n", (unsigned long) run->counters->events,
                          (unsigned long) run->counters->packet_hops);
  for (uint32_t link = 0; link < run->counters->n_places; link++)
    for (uint32_t i = 0; i < sizeof (SimLinkCounters) / sizeof (uint64_t); i++)
      g_string_append_printf (text, "%lu ", ((unsigned long *) &run->counters->link[link])[i]);
  for (uint32_t feature = 0; feature < SIM_N_FEATURES; feature++)
    g_string_append_printf (text, "%a ", run->features[feature]);
  return g_string_free (text, FALSE);
}

/* Over all nodes of the machine. */
static void
spread (Fixture *f)
{
  uint32_t stride = topo_shape_nodes (&f->machine->shape) / (f->mapping->node[RANKS - 1] + 1);

  for (uint32_t rank = 0; rank < RANKS; rank++)
    f->mapping->node[rank] *= stride;
}

/* On a torus, with errors in some traces. */
static void
test_threads_are_not_seen (void)
{
  for (uint32_t round = 0; round < 20; round++) {
    g_autofree char *one = NULL;
    Program program;

    program_init_with (&program, false, round % 2 * 30, ALL_MISTAKES);
    spread (&program.f);
    one = outcome_of_threads (&program.f, 1);
    for (uint32_t n_threads = 2; n_threads <= 4; n_threads++) {
      g_autofree char *several = outcome_of_threads (&program.f, n_threads);

      g_assert_cmpstr (several, ==, one);
    }
    program_clear (&program);
  }
}

/* Transfers go back to the part that began them. */
static void
test_one_way_traffic (void)
{
  SimReplayOptions options = { .compute_scale = 1 };
  g_autoptr (GError) error = NULL;
  g_auto (Fixture) f = fixture_new (2, 1);

  script_text (f.trace, "0: 40000*send 1 0 1 | 1: 40000*recv 0 0 1");
  f.replay = sim_replay_new (f.trace, f.machine, f.mapping, &options, &error);
  g_assert_no_error (error);
  f.network =
      parts_network_new (f.mapping, 2, 2, 1000 * NS, 1 * NS, 0, &sim_replay_client, f.replay);
  sim_replay_run (f.replay, f.network, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (f.replay->transfers->n_segments, ==, 1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sim/replay-mix/nothing-is-left", test_nothing_is_left);
  g_test_add_func ("/sim/replay-mix/twice-the-same", test_twice_the_same);
  g_test_add_func ("/sim/replay-mix/links-carry-the-load", test_links_carry_the_load);
  g_test_add_func ("/sim/replay-mix/resumed", test_resumed);
  g_test_add_func ("/sim/replay-mix/parts-are-not-seen/programs", test_parts_are_not_seen);
  g_test_add_func ("/sim/replay-mix/parts-are-not-seen/meetings", test_meetings_in_parts);
  g_test_add_func ("/sim/replay-mix/one-way-traffic", test_one_way_traffic);
  g_test_add_func ("/sim/replay-mix/threads-are-not-seen", test_threads_are_not_seen);
  return g_test_run ();
}
