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

/* -- programs ------------------------------------------------------------ */

static void
program_fill (Program *program)
{
  static void (*const steps[]) (Program *) = {
    step_wait,      step_message,   step_message, step_persistent, step_collective, step_collective,
    step_alltoallv, step_neighbors, step_split,   step_window,     step_window,     step_window,
  };

  for (uint32_t step = 0; step < STEPS; step++)
    steps[below (G_N_ELEMENTS (steps))](program);
  for (uint32_t slot = 0; slot < SLOTS; slot++)
    window_call (program, &program->windows[slot], TRACE_OP_WIN_FREE);
  for (uint32_t rank = 0; rank < RANKS; rank++) {
    close_handles (program, rank, program->open[rank]->len);
    add (program, rank, (TraceOp){ .kind = TRACE_OP_FINALIZE });
  }
}

static void
program_init (Program *program, bool fabric)
{
  *program = (Program){ 0 };
  if (fabric) {
    program->f = fixture_new_fabric (RANKS, 1 + below (3));
    fixture_lower_limits (&program->f, below (8));
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
    g_assert_cmpuint (g_hash_table_size (replay->meetings), ==, 0);
    g_assert_cmpuint (g_hash_table_size (replay->windows), ==, 0);
    for (uint32_t free = replay->first_free_transfer; free != TOPO_NONE;
         free = replay->transfers[free].next)
      n_transfers++;
    g_assert_cmpuint (n_transfers, ==, replay->n_transfers);
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

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sim/replay-mix/nothing-is-left", test_nothing_is_left);
  g_test_add_func ("/sim/replay-mix/twice-the-same", test_twice_the_same);
  g_test_add_func ("/sim/replay-mix/links-carry-the-load", test_links_carry_the_load);
  g_test_add_func ("/sim/replay-mix/resumed", test_resumed);
  return g_test_run ();
}
