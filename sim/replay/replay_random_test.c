/* replay_random_test.c - random programs that are right by construction.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Messages are written in one global order, send and receive together, so a
 * program could run one message at a time: it must end on any network, with
 * every message received. */
#include "sim/replay/replay_testing.h"

#include <string.h>

#define RANKS    12
#define MESSAGES 400

typedef struct {
  Fixture f;
  uint64_t n_messages, bytes, remote_bytes;
  uint32_t next_request[RANKS];
  GArray *open[RANKS]; /* (element-type uint32_t) active handles */
} Program;

/* Distinct tags, so that wildcards cannot steal. */
static void
add_send (Program *program, uint32_t rank, int32_t to, int32_t tag, uint64_t bytes)
{
  uint32_t request = 10 + program->next_request[rank]++ % 50;

  switch (g_test_rand_int_range (0, 4)) {
  case 0:
    script_send_mode (program->f.trace, rank, to, tag, bytes,
                      (TraceSendMode) g_test_rand_int_range (0, 4));
    break;
  default:
    script_isend (program->f.trace, rank, to, tag, bytes, request);
    g_array_append_val (program->open[rank], request);
    break;
  }
}

static void
add_receive (Program *program, uint32_t rank, int32_t from, int32_t tag, uint64_t bytes)
{
  uint32_t request = 100 + program->next_request[rank]++;

  if (g_test_rand_int_range (0, 4) == 0)
    from = TRACE_ANY_SOURCE;
  if (g_test_rand_int_range (0, 3) == 0) {
    script_recv (program->f.trace, rank, from, tag, bytes);
    return;
  }
  script_irecv (program->f.trace, rank, from, tag, bytes, request);
  g_array_append_val (program->open[rank], request);
}

static void
add_wait (Program *program, uint32_t rank)
{
  GArray *open = program->open[rank];

  if (open->len == 0)
    return;
  script_requests (program->f.trace, rank, TRACE_OP_WAIT, open->len, (uint32_t *) open->data);
  g_array_set_size (open, 0);
}

/* All ranks: their open requests, then a collective. */
static void
add_everyone (Program *program)
{
  static const TraceOpKind kinds[] = { TRACE_OP_BARRIER,  TRACE_OP_BCAST,     TRACE_OP_ALLREDUCE,
                                       TRACE_OP_ALLTOALL, TRACE_OP_ALLGATHER, TRACE_OP_GATHER };
  TraceOpKind kind = kinds[g_test_rand_int_range (0, G_N_ELEMENTS (kinds))];
  int32_t root = g_test_rand_int_range (0, RANKS);

  for (uint32_t rank = 0; rank < RANKS; rank++) {
    add_wait (program, rank);
    script_collective (program->f.trace, rank, kind, root, 300);
  }
}

static void
add_message (Program *program, int32_t tag)
{
  uint32_t from = (uint32_t) g_test_rand_int_range (0, RANKS);
  uint32_t to = (from + (uint32_t) g_test_rand_int_range (1, RANKS)) % RANKS;
  uint64_t bytes = (uint64_t) g_test_rand_int_range (0, 2500);

  add_send (program, from, (int32_t) to, tag, bytes);
  add_receive (program, to, (int32_t) from, tag, bytes);
  program->n_messages++;
  program->bytes += bytes;
  if (program->f.mapping->node[from] != program->f.mapping->node[to])
    program->remote_bytes += bytes;
  if (g_test_rand_int_range (0, 3) == 0)
    script_compute (program->f.trace, to, g_test_rand_int_range (0, 9000) * NS);
  if (g_test_rand_int_range (0, 3) == 0)
    script_call (program->f.trace, from);
  if (g_test_rand_int_range (0, 20) == 0)
    add_wait (program, to);
}

static void
fixture_init_on (Fixture *f, bool fabric)
{
  uint32_t per_node = (uint32_t) g_test_rand_int_range (1, 4);

  if (fabric) {
    *f = fixture_new_fabric (RANKS, per_node);
    fixture_lower_limits (f, (uint32_t) g_test_rand_int ());
  } else
    *f = fixture_new (RANKS, per_node);
}

static void
program_init (Program *program, bool collectives, bool fabric)
{
  *program = (Program){ 0 };
  fixture_init_on (&program->f, fabric);
  program->f.machine->parameters.mpi.async_progress = g_test_rand_bit ();
  program->f.machine->parameters.collective.in_network = g_test_rand_bit ();
  program->f.jitter_ps = g_test_rand_bit () ? 5000 * NS : 0;
  for (uint32_t rank = 0; rank < RANKS; rank++)
    program->open[rank] = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  for (int32_t tag = 0; tag < MESSAGES; tag++) {
    add_message (program, tag);
    if (collectives && g_test_rand_int_range (0, 40) == 0)
      add_everyone (program);
  }
  for (uint32_t rank = 0; rank < RANKS; rank++)
    add_wait (program, rank);
}

static void
program_clear (Program *program)
{
  for (uint32_t rank = 0; rank < RANKS; rank++)
    g_array_unref (program->open[rank]);
  fixture_clear (&program->f);
}

static void
test_all_end (void)
{
  for (uint32_t round = 0; round < 40; round++) {
    Program program;

    program_init (&program, true, round % 2);
    fixture_run (&program.f);
    g_assert_no_error (program.f.error);
    g_assert_cmpuint (program.f.result->warnings->len, ==, 0);
    g_assert_cmpuint (program.f.result->messages, >=, program.n_messages);
    program_clear (&program);
  }
}

/* The network carries the messages between ranks of different nodes and no others. */
static void
check_carried (const Program *program)
{
  const GArray *log = fake_network_log (program->f.network);
  uint64_t carried = 0;

  for (uint32_t i = 0; i < log->len; i++)
    carried += g_array_index (log, FakeRecord, i).message.bytes;
  g_assert_cmpuint (carried, ==, program->remote_bytes);
}

static void
test_messages_are_conserved (void)
{
  for (uint32_t round = 0; round < 10; round++) {
    uint64_t sends = 0, receives = 0;
    Program program;

    program_init (&program, false, round % 2);
    fixture_run (&program.f);
    g_assert_no_error (program.f.error);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
      sends += program.f.result->ranks[rank].sends;
      receives += program.f.result->ranks[rank].receives;
    }
    g_assert_cmpuint (sends, ==, MESSAGES);
    g_assert_cmpuint (receives, ==, MESSAGES);
    g_assert_cmpuint (program.f.result->messages, ==, program.n_messages);
    g_assert_cmpuint (program.f.result->message_bytes, ==, program.bytes);
    if (round % 2)
      check_carried (&program);
    program_clear (&program);
  }
}

static void
check_twice_the_same (bool fabric)
{
  Program program;
  SimRankTimes ranks[RANKS];

  program_init (&program, true, fabric);
  fixture_run (&program.f);
  g_assert_no_error (program.f.error);
  memcpy (ranks, program.f.result->ranks, sizeof ranks);
  fixture_run (&program.f);
  g_assert_cmpmem (ranks, sizeof ranks, program.f.result->ranks, sizeof ranks);
  program_clear (&program);
}

static void
test_twice_the_same (void)
{
  check_twice_the_same (false);
  for (uint32_t round = 0; round < 10; round++)
    check_twice_the_same (true);
}

/* The same program has the same messages on a torus and on a fabric. */
static void
test_torus_and_fabric (void)
{
  for (uint32_t round = 0; round < 10; round++) {
    SimReplayResult torus;
    Program program;
    Fixture fabric;
    Trace *none;

    program_init (&program, false, false);
    fixture_init_on (&fabric, true);
    none = fabric.trace;
    fabric.trace = program.f.trace;
    fixture_run (&program.f);
    g_assert_no_error (program.f.error);
    torus = *program.f.result;
    fixture_run (&fabric);
    g_assert_no_error (fabric.error);
    g_assert_cmpuint (fabric.result->messages, ==, torus.messages);
    g_assert_cmpuint (fabric.result->message_bytes, ==, torus.message_bytes);
    g_assert_cmpuint (fabric.result->unmatched_sends, ==, 0);
    g_assert_cmpuint (fabric.result->unmatched_receives, ==, 0);
    fabric.trace = none;
    fixture_clear (&fabric);
    program_clear (&program);
  }
}

/* Overheads and waits and computing are all there is. */
static void
check_wait_is_what_is_left (bool fabric)
{
  Program program;

  program_init (&program, true, fabric);
  program.f.machine->parameters.memory.core_bandwidth_Bps = UINT64_C (1000000000000000000);
  program.f.machine->parameters.ompi.sm_overhead_ps = 0;
  program.f.machine->parameters.ompi.fragment_overhead_ps = 0;
  program.f.machine->parameters.ompi.registration_ps = 0;
  program.f.machine->parameters.ompi.registration_page_ps = 0;
  program.f.machine->parameters.ucx.post_ps = 0;
  program.f.machine->parameters.ucx.receive_ps = 0;
  program.f.machine->parameters.ucx.completion_ps = 0;
  program.f.machine->parameters.ucx.registration_ps = 0;
  program.f.machine->parameters.ucx.single_copy_overhead_ps = 0;
  program.f.machine->parameters.ucx.copy_bandwidth_Bps = 0;
  program.f.machine->parameters.mpi.async_progress = false;
  program.f.machine->parameters.mpi.send_overhead_ps = 0;
  program.f.machine->parameters.mpi.receive_overhead_ps = 0;
  program.f.machine->parameters.mpi.call_overhead_ps = 0;
  program.f.machine->parameters.mpi.direct_overhead_ps = 0;
  fixture_run (&program.f);
  g_assert_no_error (program.f.error);
  for (uint32_t rank = 0; rank < RANKS; rank++) {
    const SimRankTimes *it = &program.f.result->ranks[rank];

    g_assert_cmpint (it->end_ps, ==, it->compute_ps + it->wait_ps);
  }
  program_clear (&program);
}

static void
test_wait_is_what_is_left (void)
{
  check_wait_is_what_is_left (false);
  for (uint32_t round = 0; round < 5; round++)
    check_wait_is_what_is_left (true);
}

/* Whatever ranks do, their timeline has no gap, and its sums are the ranks' times. */
static void
test_timelines_add_up (void)
{
  for (uint32_t round = 0; round < 60; round++) {
    bool collectives = round % 3 > 0;
    Program program;
    uint64_t n_messages;

    program_init (&program, collectives, round % 2);
    program.f.machine->parameters.mpi.async_progress = round % 4 > 1;
    program.f.timeline = sim_timeline_new (RANKS, NULL, UINT64_MAX);
    fixture_run (&program.f);
    g_assert_no_error (program.f.error);
    n_messages = fixture_check_timeline (&program.f);
    if (!collectives)
      g_assert_cmpuint (n_messages, ==, program.n_messages);
    sim_timeline_free (program.f.timeline);
    program_clear (&program);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sim/replay-random/all-end", test_all_end);
  g_test_add_func ("/sim/replay-random/conserved", test_messages_are_conserved);
  g_test_add_func ("/sim/replay-random/twice-the-same", test_twice_the_same);
  g_test_add_func ("/sim/replay-random/torus-and-fabric", test_torus_and_fabric);
  g_test_add_func ("/sim/replay-random/wait-is-what-is-left", test_wait_is_what_is_left);
  g_test_add_func ("/sim/replay-random/timelines-add-up", test_timelines_add_up);
  return g_test_run ();
}
