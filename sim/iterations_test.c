/* iterations_test.c - loops that are known beforehand, and the times of their iterations.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Programs are texts, a letter for each operation: see operations[]. */
#include "sim/iterations.h"

#include "sim/resume_testing.h"
#include "traces/trace_testing.h"

#include <math.h>
#include <string.h>

/* --- The loop in a sequence --- */

/* By trying every stretch. */
static SimLoop
slow_find (const uint64_t *items, uint32_t n)
{
  SimLoop best = { 0 };

  for (uint32_t period = 1; period <= n / 2; period++)
    for (uint32_t first = 0; first + 2 * period <= n; first++) {
      uint32_t end = first + period;

      while (end < n && items[end] == items[end - period])
        end++;
      if ((end - first) / period >= 2 &&
          (uint64_t) (end - first) / period * period > best.count * best.period)
        best = (SimLoop){ first, period, (end - first) / period };
    }
  return 2 * best.count * best.period >= n ? best : (SimLoop){ 0 };
}

static void
assert_same_loop (const uint64_t *items, uint32_t n)
{
  SimLoop loop = sim_loop_find (items, n), truth = slow_find (items, n);

  g_assert_cmpuint (loop.period, ==, truth.period);
  g_assert_cmpuint (loop.first, ==, truth.first);
  g_assert_cmpuint (loop.count, ==, truth.count);
}

static void
fill (uint64_t *items, uint32_t n, int letters)
{
  for (uint32_t at = 0; at < n; at++)
    items[at] = (uint64_t) g_test_rand_int_range (0, letters);
}

/* All sequences of two letters up to this length. */
static void
test_short_sequences (void)
{
  uint64_t items[12];

  for (uint32_t n = 0; n <= G_N_ELEMENTS (items); n++)
    for (uint32_t bits = 0; bits < 1u << n; bits++) {
      for (uint32_t at = 0; at < n; at++)
        items[at] = bits >> at & 1;
      assert_same_loop (items, n);
    }
}

/* A start-up, a body that may have a loop within it, a part of the body, and an end. */
static void
test_random_sequences (void)
{
  for (uint32_t turn = 0; turn < 20000; turn++) {
    uint32_t first = (uint32_t) g_test_rand_int_range (0, 20);
    uint32_t period = (uint32_t) g_test_rand_int_range (1, 12);
    uint32_t length = period * (uint32_t) g_test_rand_int_range (1, 6) +
                      (uint32_t) g_test_rand_int_range (0, (gint32) period);
    uint32_t n = first + length + (uint32_t) g_test_rand_int_range (0, 20);
    g_autofree uint64_t *items = g_new (uint64_t, n);

    fill (items, n, g_test_rand_int_range (1, 5));
    for (uint32_t at = first + period; at < first + length; at++)
      items[at] = items[at - period];
    assert_same_loop (items, n);
  }
}

/* Time that grows with the square would show here. */
static void
test_long_sequence (void)
{
  const uint32_t n = 4000000;
  g_autofree uint64_t *items = g_new0 (uint64_t, n);
  SimLoop loop = sim_loop_find (items, n);

  g_assert_cmpuint (loop.period, ==, 1);
  g_assert_cmpuint (loop.count, ==, n);
  for (uint32_t at = 0; at < n; at++)
    items[at] = at % 1000 < 900 ? at % 3 : at % 1000;
  loop = sim_loop_find (items, n);
  g_assert_cmpuint (loop.first, ==, 0);
  g_assert_cmpuint (loop.period, ==, 3000);
  g_assert_cmpuint (loop.count, ==, 1333);
}

/* --- Programs --- */

/* Peers are relative to the rank; NOBODY: MPI_PROC_NULL, so that the operation takes the overhead of
 * a call.  Digits compute for so many microseconds. */
#define NOBODY 99

static const struct {
  char letter;
  TraceOpKind kind;
  int32_t peer, tag;
  uint64_t bytes;
} operations[] = {
  { 'i', TRACE_OP_INIT, 0, 0, 0 },         { 'f', TRACE_OP_FINALIZE, 0, 0, 0 },
  { 'w', TRACE_OP_CALL, 0, 0, 0 },         { 't', TRACE_OP_TEST, 0, 0, 0 },
  { 'e', TRACE_OP_SEND, NOBODY, 0, 8 },    { 'E', TRACE_OP_SEND, NOBODY, 1, 8 },
  { 'l', TRACE_OP_SEND, NOBODY, 2, 8 },    { 'm', TRACE_OP_SEND, NOBODY, 0, 16 },
  { 'b', TRACE_OP_BARRIER, 0, 0, 0 },      { 'r', TRACE_OP_ALLREDUCE, 0, 0, 8 },
  { 'R', TRACE_OP_ALLREDUCE, 0, 0, 4096 }, { '+', TRACE_OP_SEND, 1, 0, 3000 },
  { '-', TRACE_OP_RECV, -1, 0, 3000 },     { '<', TRACE_OP_SEND, -1, 0, 3000 },
  { '>', TRACE_OP_RECV, 1, 0, 3000 },
};

/* Groups: "iE(5e1e)3f" is "iE5e1e5e1e5e1ef".  A group may be in another one. */
static void
expand (const char **text, GString *program)
{
  while (**text != '\0' && **text != ')')
    if (*(*text)++ != '(')
      g_string_append_c (program, (*text)[-1]);
    else {
      g_autoptr (GString) group = g_string_new (NULL);

      expand (text, group);
      (*text)++;
      for (guint64 n = g_ascii_strtoull (*text, (char **) text, 10); n > 0; n--)
        g_string_append (program, group->str);
    }
}

static gboolean
program_op (gconstpointer data, uint32_t rank, uint64_t index, TraceOp *op)
{
  const GString *program = g_ptr_array_index ((GPtrArray *) data, rank);
  char letter = index < program->len ? program->str[index] : '\0';

  if (letter == '\0')
    return FALSE;
  if (g_ascii_isdigit (letter)) {
    trace_op_init (op, TRACE_OP_COMPUTE, "computing");
    op->gap_ps = g_ascii_digit_value (letter) * INT64_C (1000000);
    return TRUE;
  }
  for (gsize at = 0; at < G_N_ELEMENTS (operations); at++)
    if (operations[at].letter == letter) {
      trace_op_init (op, operations[at].kind, "MPI_Call");
      op->peer =
          operations[at].peer == NOBODY ? TRACE_PROC_NULL : (int32_t) rank + operations[at].peer;
      op->tag = operations[at].tag;
      op->bytes = operations[at].bytes;
      return TRUE;
    }
  g_assert_not_reached ();
}

static void
free_text (gpointer text)
{
  g_string_free (text, TRUE);
}

static void
free_texts (gpointer texts)
{
  g_ptr_array_unref (texts);
}

/* texts: one for each rank, apart by blanks. */
static Trace *
program_new (const char *texts, gboolean is_graph)
{
  g_auto (GStrv) words = g_strsplit (texts, " ", -1);
  GPtrArray *programs = g_ptr_array_new_with_free_func (free_text);

  for (char **word = words; *word != NULL; word++) {
    const char *text = *word;

    g_ptr_array_add (programs, g_string_new (NULL));
    expand (&text, g_ptr_array_index (programs, programs->len - 1));
  }
  return trace_testing_made_up (programs->len, is_graph, program_op, programs, free_texts);
}

typedef struct {
  const char *texts;
  uint32_t count;
  SimLoop loops[3];   /* of the first ranks */
  const char *reason; /* a part of it; NULL: there is a loop */
  bool sizes_differ;
} Program;

static const Program programs[] = {
  { "i(er)5f", 5, { { 0, 2, 5 } }, NULL, false },
  { "iER(1e2rr)4lf", 4, { { 2, 3, 4 } }, NULL, false },
  { "i(eE)2f", 2, { { 0, 2, 2 } }, NULL, false },
  { "iE(e)2lf", 2, { { 1, 1, 2 } }, NULL, false },
  { "ib(el)3bbf", 3, { { 1, 2, 3 } }, NULL, false },
  /* Repeats within the body, two deep. */
  { "iR((e)7l)10f", 10, { { 1, 8, 10 } }, NULL, false },
  { "i(((e)3l)4r)6f", 6, { { 0, 17, 6 } }, NULL, false },
  /* Every second step is another. */
  { "i(erlr)6f", 6, { { 0, 4, 6 } }, NULL, false },
  /* The last iteration ends on its way. */
  { "iE(elrb)5elrf", 5, { { 1, 4, 5 } }, NULL, false },
  /* Computation of other lengths, calls and tests do not count. */
  { "iw1etttl2etl3wetttttlf", 3, { { 0, 2, 3 } }, NULL, false },
  /* Sizes count, unless there is no loop with them. */
  { "i(emrl)4f", 4, { { 0, 4, 4 } }, NULL, false },
  { "iE(er)2(mr)2erlf", 5, { { 1, 2, 5 } }, NULL, true },
  /* The ends of a line have fewer neighbours. */
  { "i(+>)5f i(-+><)5f i(-<)5f", 5, { { 0, 2, 5 }, { 0, 4, 5 }, { 0, 2, 5 } }, NULL, false },
  { "iE(+>)5f il(-+><)5Ef i(-<)5f", 5, { { 1, 2, 5 }, { 1, 4, 5 }, { 0, 2, 5 } }, NULL, false },
  /* Nothing is in a rank, or nothing that counts. */
  { "i(e)4f if i(e)4f", 4, { { 0, 1, 4 }, { 0, 0, 0 }, { 0, 1, 4 } }, NULL, false },
  { "if i3wtf", 0, { { 0 } }, "no rank communicates", false },
  /* One rank has no partner in every second step. */
  { "i(erlr)5f i(er)10f", 5, { { 0, 4, 5 }, { 0, 4, 5 } }, NULL, false },
  { "i(er)11f i(erlr)5erf", 5, { { 0, 4, 5 }, { 0, 4, 5 } }, NULL, false },
  { "i(e)3f i(e)4f", 0, { { 0 } }, "rank 0 has 3 iterations and rank 1 4", false },
  { "ielrbf", 0, { { 0 } }, "rank 0 repeats nothing", false },
  { "i(e)4f ielrbf", 0, { { 0 } }, "rank 1 repeats nothing", false },
  { "ierlR(b)3ElReEf", 0, { { 0 } }, "rank 0 repeats nothing", false },
};

static void
test_program (gconstpointer data)
{
  const Program *program = data;
  g_autoptr (Trace) trace = program_new (program->texts, FALSE);
  g_autoptr (SimIterations) iterations = sim_iterations_new (trace, NULL);

  g_assert_cmpuint (iterations->count, ==, program->count);
  g_assert_true ((iterations->reason == NULL) == (program->count > 0));
  if (program->count > 0)
    g_assert_true (iterations->sizes_differ == program->sizes_differ);
  if (program->reason != NULL)
    g_assert_nonnull (strstr (iterations->reason, program->reason));
  for (uint32_t rank = 0; program->count > 0 && rank < iterations->n_ranks; rank++) {
    g_assert_cmpuint (iterations->loops[rank].first, ==, program->loops[rank].first);
    g_assert_cmpuint (iterations->loops[rank].period, ==, program->loops[rank].period);
    g_assert_cmpuint (iterations->loops[rank].count, ==, program->loops[rank].count);
  }
}

static void
test_graph (void)
{
  g_autoptr (Trace) trace = program_new ("(e)8", TRUE);
  g_autoptr (SimIterations) iterations = sim_iterations_new (trace, NULL);

  g_assert_cmpuint (iterations->count, ==, 0);
  g_assert_nonnull (strstr (iterations->reason, "graph"));
}

/* Changing any of these in one operation of eight breaks the loop. */
static gboolean
changed_op (gconstpointer data, uint32_t rank, uint64_t index, TraceOp *op)
{
  static const uint64_t counts[2][2] = { { 4, 4 }, { 4, 5 } };
  int change = index == 3 ? *(const int *) data : 0;

  (void) rank;
  trace_op_init (op, change == 1 ? TRACE_OP_RECV : TRACE_OP_SEND, "MPI_Call");
  op->peer = change == 2 ? 1 : 0;
  op->tag = change == 3;
  op->bytes = change == 4;
  op->comm = change == 5 ? TRACE_COMM_SELF : TRACE_COMM_WORLD;
  op->root = change == 6;
  op->recv_bytes = change == 7;
  op->counts = counts[change == 8];
  op->n_counts = 2;
  op->mode = change == 9 ? TRACE_SEND_SYNCHRONOUS : TRACE_SEND_STANDARD;
  op->request = (uint32_t) index;
  return index < 8;
}

static void
test_what_is_compared (void)
{
  for (int change = 0; change < 10; change++) {
    g_autoptr (Trace) trace = trace_testing_made_up (1, FALSE, changed_op, &change, NULL);
    g_autoptr (SimIterations) iterations = sim_iterations_new (trace, NULL);

    g_assert_cmpuint (iterations->count, ==, change == 0 ? 8 : 4);
  }
}

/* --- Runs --- */

typedef struct {
  Trace *trace;
  TopoMachine *machine;
  TopoMapping *mapping;
  SimRunOptions options;
} Inputs;

/* Takes the trace. */
static void
inputs_init (Inputs *inputs, Trace *trace, const char *spec, uint32_t ranks_per_node)
{
  GError *error = NULL;

  *inputs = (Inputs){ .trace = trace, .options = { .compute_scale = 1, .iterations = true } };
  inputs->machine = topo_machine_new (spec, &error);
  g_assert_no_error (error);
  g_assert_true (topo_machine_set_ranks_per_node (inputs->machine, ranks_per_node, &error));
  inputs->mapping = topo_mapping_new (NULL, inputs->machine, trace_ranks (trace), &error);
  g_assert_no_error (error);
}

static void
inputs_clear (Inputs *inputs)
{
  topo_mapping_free (inputs->mapping);
  topo_machine_free (inputs->machine);
  trace_free (inputs->trace);
}

static SimRun *
run (const Inputs *inputs)
{
  GError *error = NULL;
  SimRun *result =
      sim_run (inputs->trace, inputs->machine, inputs->mapping, &inputs->options, &error);

  g_assert_no_error (error);
  return result;
}

#define US INT64_C (1000000)

/* One rank without messages: each call takes the same time. */
static void
test_times_of_one_rank (void)
{
  Inputs inputs;
  g_autoptr (SimRun) result = NULL;
  const SimIterations *it;
  int64_t call_ps;

  inputs_init (&inputs, program_new ("i3wE5e1ete2e4e7e3wf", FALSE), "torus:2", 1);
  call_ps = inputs.machine->parameters.mpi.call_overhead_ps;
  result = run (&inputs);
  it = result->iterations;
  g_assert_cmpuint (it->count, ==, 6);
  g_assert_cmpint (it->ends_ps[0], ==, 3 * US + 3 * call_ps);
  g_assert_cmpint (it->ends_ps[1] - it->ends_ps[0], ==, 5 * US + call_ps);
  g_assert_cmpint (it->ends_ps[2] - it->ends_ps[1], ==, 1 * US + 2 * call_ps); /* and the test */
  g_assert_cmpint (it->ends_ps[3] - it->ends_ps[2], ==, call_ps);
  g_assert_cmpint (it->ends_ps[4] - it->ends_ps[3], ==, 2 * US + call_ps);
  g_assert_cmpint (it->ends_ps[5] - it->ends_ps[4], ==, 4 * US + call_ps);
  g_assert_cmpint (it->ends_ps[6] - it->ends_ps[5], ==, 7 * US + call_ps);
  g_assert_cmpint (it->ranks[0].least_ps, ==, call_ps);
  g_assert_cmpint (it->ranks[0].most_ps, ==, 7 * US + call_ps);
  g_assert_cmpfloat_with_epsilon (sim_iterations_mean_ps (it, 0),
                                  (double) (19 * US + 7 * call_ps) / 6, 1e-3);
  inputs_clear (&inputs);
}

/* An iteration of the program ends with its last rank, whichever that is. */
static void
test_last_rank_counts (void)
{
  Inputs inputs;
  g_autoptr (SimRun) result = NULL;
  const SimIterations *it;
  int64_t call_ps;

  inputs_init (&inputs, program_new ("i1e5e1ef i4e1e3ef if", FALSE), "torus:4", 1);
  call_ps = inputs.machine->parameters.mpi.call_overhead_ps;
  result = run (&inputs);
  it = result->iterations;
  g_assert_cmpuint (it->count, ==, 3);
  g_assert_cmpint (it->ends_ps[0], ==, call_ps);
  g_assert_cmpint (it->ends_ps[1], ==, 4 * US + 2 * call_ps);
  g_assert_cmpint (it->ends_ps[2], ==, 6 * US + 3 * call_ps);
  g_assert_cmpint (it->ends_ps[3], ==, 8 * US + 4 * call_ps);
  g_assert_cmpint (it->ranks[1].least_ps, ==, US + call_ps);
  g_assert_true (isnan (sim_iterations_mean_ps (it, 2)));
  inputs_clear (&inputs);
}

/* From MPI_Init to MPI_Finalize a halo is nothing but its iterations, and sends all in them. */
static void
test_iterations_are_the_run (void)
{
  static const char *const specs[] = { "torus:4x4", "fattree:4x4:2" };

  for (gsize spec = 0; spec < G_N_ELEMENTS (specs); spec++)
    for (uint32_t n = 1; n <= 4; n++) {
      g_autofree char *path =
          g_strdup_printf ("gen:halo2d:ranks=16,bytes=4K,compute=2us,iterations=%u", n);
      Inputs inputs;
      g_autoptr (SimRun) result = NULL;
      const SimIterations *it;

      inputs_init (&inputs, trace_testing_open (path), specs[spec], 1);
      result = run (&inputs);
      it = result->iterations;
      g_assert_cmpuint (it->count, ==, n == 1 ? 0 : n);
      if (n > 1) {
        int64_t call_ps = inputs.machine->parameters.mpi.call_overhead_ps;

        g_assert_cmpint (it->ends_ps[0], ==, call_ps);
        g_assert_cmpint (it->ends_ps[n], ==, result->result.time_ps - call_ps);
        g_assert_cmpuint (it->messages, ==, result->result.messages);
        g_assert_cmpuint (it->message_bytes, ==, result->result.message_bytes);
      }
      inputs_clear (&inputs);
    }
}

/* Messages of the start-up and the end are not the loop's. */
static void
test_messages_of_the_loop (void)
{
  Inputs inputs;
  g_autoptr (SimRun) result = NULL;

  inputs_init (&inputs, program_new ("i+E(+>)5f i-E(-<)5f", FALSE), "torus:4", 1);
  result = run (&inputs);
  g_assert_cmpuint (result->result.messages, ==, 11);
  g_assert_cmpuint (result->iterations->messages, ==, 10);
  g_assert_cmpuint (result->iterations->message_bytes, ==, 30000);
  inputs_clear (&inputs);
}

static void
assert_same_bytes (const void *one, const void *other, gsize n)
{
  g_assert_true (memcmp (one, other, n) == 0);
}

static void
assert_same_run (const SimRun *one, const SimRun *other)
{
  g_assert_cmpstr (one->key, ==, other->key);
  g_assert_cmpint (one->result.time_ps, ==, other->result.time_ps);
  assert_same_bytes (one->result.ranks, other->result.ranks,
                     one->result.n_ranks * sizeof (SimRankTimes));
  assert_same_bytes (one->features, other->features, sizeof one->features);
  g_assert_cmpuint (one->counters->events, ==, other->counters->events);
}

static void
assert_same_iterations (const SimIterations *one, const SimIterations *other)
{
  g_assert_cmpuint (one->count, ==, other->count);
  g_assert_cmpuint (one->messages, ==, other->messages);
  g_assert_cmpuint (one->message_bytes, ==, other->message_bytes);
  assert_same_bytes (one->ends_ps, other->ends_ps, (one->count + 1) * sizeof (int64_t));
  assert_same_bytes (one->ranks, other->ranks, one->n_ranks * sizeof (SimRankIterations));
}

/* Finding iterations changes nothing else, and threads do not change the iterations. */
static void
test_same_results (void)
{
  static const char *const paths[] = {
    "gen:halo3d:ranks=64,bytes=5000,iterations=6,compute=3us",
    "gen:npb:kernel=lu,class=W,ranks=16,iterations=4",
  };

  for (gsize path = 0; path < G_N_ELEMENTS (paths); path++) {
    Inputs inputs;
    g_autoptr (SimRun) without = NULL, with = NULL, threads = NULL;

    inputs_init (&inputs, trace_testing_open (paths[path]), "torus:4x4x4", 1);
    with = run (&inputs);
    inputs.options.n_threads = 4;
    threads = run (&inputs);
    inputs.options.iterations = false;
    without = run (&inputs);
    assert_same_run (with, without);
    assert_same_run (with, threads);
    g_assert_null (without->iterations);
    g_assert_cmpuint (with->iterations->count, >, 0);
    assert_same_iterations (with->iterations, threads->iterations);
    inputs_clear (&inputs);
  }
}

static void
test_networks (void)
{
  Inputs inputs;
  g_autoptr (SimRun) load = NULL;

  inputs_init (&inputs, trace_testing_open ("gen:ring:ranks=4,iterations=3"), "torus:4", 1);
  inputs.options.network = SIM_NETWORK_LOAD;
  load = run (&inputs);
  g_assert_null (load->iterations);
  inputs_clear (&inputs);
}

static void
test_resumed (void)
{
  static const char *const specs[] = { "torus:4x4", "fattree:4x4:2" };

  for (gsize spec = 0; spec < G_N_ELEMENTS (specs); spec++) {
    Inputs inputs;

    inputs_init (&inputs, trace_testing_open ("gen:halo2d:ranks=16,bytes=9000,iterations=5"),
                 specs[spec], 1);
    inputs.options.windows_per_pause = 1;
    resume_check (inputs.trace, inputs.machine, inputs.mapping, &inputs.options, 4);
    inputs_clear (&inputs);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sim/iterations/short-sequences", test_short_sequences);
  g_test_add_func ("/sim/iterations/random-sequences", test_random_sequences);
  g_test_add_func ("/sim/iterations/long-sequence", test_long_sequence);
  for (gsize at = 0; at < G_N_ELEMENTS (programs); at++) {
    g_autofree char *name = g_strdup_printf ("/sim/iterations/program/%zu", at);

    g_test_add_data_func (name, &programs[at], test_program);
  }
  g_test_add_func ("/sim/iterations/graph", test_graph);
  g_test_add_func ("/sim/iterations/what-is-compared", test_what_is_compared);
  g_test_add_func ("/sim/iterations/times-of-one-rank", test_times_of_one_rank);
  g_test_add_func ("/sim/iterations/last-rank-counts", test_last_rank_counts);
  g_test_add_func ("/sim/iterations/iterations-are-the-run", test_iterations_are_the_run);
  g_test_add_func ("/sim/iterations/messages-of-the-loop", test_messages_of_the_loop);
  g_test_add_func ("/sim/iterations/same-results", test_same_results);
  g_test_add_func ("/sim/iterations/networks", test_networks);
  g_test_add_func ("/sim/iterations/resumed", test_resumed);
  return g_test_run ();
}
