/* hct_test.c - the native format gives back what was written.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/hct/hct_testing.h"

#include "traces/format.h"

#include <math.h>
#include <string.h>

/* Memory for the arrays of one made-up operation. */
static uint64_t memory[8][4100];

/* Bits from everywhere, the same every time. */
static uint64_t
scattered (uint64_t i)
{
  uint64_t z = (i + 1) * UINT64_C (0x9e3779b97f4a7c15);

  z = (z ^ (z >> 30)) * UINT64_C (0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C (0x94d049bb133111eb);
  return z ^ (z >> 31);
}

/* Numbers of all magnitudes up to `most`, with the extremes often. */
static uint64_t
varied (uint64_t i, uint64_t most)
{
  uint64_t bits = scattered (i);

  switch (bits % 8) {
  case 0: return 0;
  case 1: return most;
  case 2: return most - MIN (most, 1);
  case 3: return most / 2;
  default: return MIN (scattered (i + 1) >> (bits / 8 % 64), most);
  }
}

static uint32_t
varied_u32 (uint64_t i)
{
  return (uint32_t) varied (i, UINT32_MAX);
}

static int32_t
varied_i32 (uint64_t i)
{
  return (int32_t) varied_u32 (i);
}

/* TRACE_PROC_NULL, TRACE_ANY_SOURCE, and ranks. */
static int32_t
varied_peer (uint64_t i)
{
  return (int32_t) (varied (i, INT32_MAX + UINT64_C (2)) - 2);
}

static uint64_t
varied_bytes (uint64_t i)
{
  return scattered (i + 500) % 4 == 0 ? TRACE_UNKNOWN_BYTES : varied (i, UINT64_C (1) << 62);
}

static void *
varied_array (guint slot, uint32_t n, gsize size, uint64_t most, uint64_t seed)
{
  if (n == 0)
    return NULL;
  for (uint32_t i = 0; i < n; i++) {
    uint64_t value = varied (seed + i * 3, most);

    memcpy ((guint8 *) memory[slot] + i * size, &value, size);
  }
  return memory[slot];
}

static void
vary_numbers (TraceOp *op, uint64_t seed)
{
  static const char *const sites[] = { NULL, "main", "program+0x51a3c", "\xff latin" };
  static const char *const names[] = { "MPI_Isend", "MPI_Irecv", "x" };

  op->mode = (TraceSendMode) (scattered (seed) % 4);
  op->gap_ps = (int64_t) varied (seed + 1, INT64_MAX);
  op->flops =
      ldexp ((double) varied (seed + 24, UINT64_MAX), (int) (scattered (seed) % 1900) - 1000);
  op->instructions = varied (seed + 2, UINT64_MAX);
  op->cycles = varied (seed + 3, UINT64_MAX);
  op->comm = varied_u32 (seed + 4);
  op->peer = varied_peer (seed + 5);
  op->tag = varied_i32 (seed + 6);
  op->bytes = varied_bytes (seed + 7);
  op->recv_peer = varied_peer (seed + 8);
  op->recv_tag = varied_i32 (seed + 9);
  op->recv_bytes = varied_bytes (seed + 10);
  op->root = varied_i32 (seed + 11);
  op->request = varied_u32 (seed + 12);
  op->nonblocking = scattered (seed + 13) % 2;
  op->matched_source = varied_peer (seed + 14);
  op->window = varied_u32 (seed + 15);
  op->new_comm = varied_u32 (seed + 16);
  op->group = varied_u32 (seed + 17);
  op->group2 = varied_u32 (seed + 18);
  op->new_group = varied_u32 (seed + 19);
  op->color = varied_i32 (seed + 20);
  op->key = varied_i32 (seed + 21);
  op->cpu = varied_u32 (seed + 22);
  op->call_ps = (int64_t) varied (seed + 23, INT64_MAX);
  op->site = sites[scattered (seed + 24) % G_N_ELEMENTS (sites)];
  op->name = names[scattered (seed + 25) % G_N_ELEMENTS (names)];
}

static uint32_t
varied_length (uint64_t seed)
{
  static const uint32_t lengths[] = { 0, 0, 0, 1, 2, 7, 130, 4096 };

  return lengths[scattered (seed) % G_N_ELEMENTS (lengths)];
}

static void
vary_arrays (TraceOp *op, uint64_t seed)
{
  const uint64_t most_bytes = UINT64_C (1) << 62;

  op->n_requests = varied_length (seed + 30);
  op->requests = varied_array (0, op->n_requests, 4, UINT32_MAX - 1, seed + 40);
  if (op->n_requests > 0) {
    op->n_completed = varied_length (seed + 31);
    op->completed = varied_array (1, op->n_completed, 4,
                                  op->kind == TRACE_OP_IPROBE ? 0 : op->n_requests - 1, seed + 50);
  }
  op->n_counts = varied_length (seed + 32);
  op->counts = varied_array (2, op->n_counts, 8, most_bytes, seed + 60);
  op->n_recv_counts = varied_length (seed + 33);
  op->recv_counts = varied_array (3, op->n_recv_counts, 8, most_bytes, seed + 70);
  op->n_values =
      trace_op_is_neighborhood (op->kind) ? op->n_counts : varied_length (seed + 34) / 3 * 3;
  op->values = varied_array (4, trace_op_n_values (op), 4, INT32_MAX - 1, seed + 80);
  op->values2 =
      op->kind == TRACE_OP_CART_CREATE || op->n_recv_counts > 0 || scattered (seed + 36) % 2 > 0
          ? varied_array (5, trace_op_n_values2 (op), 4, INT32_MAX - 1, seed + 90)
          : NULL;
  for (uint32_t i = 0; i < trace_op_n_values (op); i += 2)
    ((int32_t *) (void *) memory[4])[i] ^= scattered (seed + i) % 2 > 0 ? -1 : 0;
}

static void
vary_after (TraceOp *op, uint64_t index, uint64_t seed)
{
  uint32_t *after = (uint32_t *) (void *) memory[6], *after_start = (uint32_t *) (void *) memory[7];

  op->n_after = (uint32_t) MIN (index, varied_length (seed + 37));
  op->n_after_start = (uint32_t) MIN (index, varied_length (seed + 38));
  for (uint32_t i = 0; i < op->n_after; i++)
    after[i] = (uint32_t) (scattered (seed + i) % index);
  for (uint32_t i = 0; i < op->n_after_start; i++)
    after_start[i] = (uint32_t) (scattered (seed + i + 5) % index);
  op->after = op->n_after > 0 ? after : NULL;
  op->after_start = op->n_after_start > 0 ? after_start : NULL;
}

/* Every kind in turn, all fields at random; half of the peers are ranks. */
static gboolean
anything (gconstpointer data, uint32_t rank, uint64_t index, TraceOp *op)
{
  uint64_t seed = scattered (index * 7 + rank), n = GPOINTER_TO_SIZE (data);

  op->kind = (TraceOpKind) (index % TRACE_N_OPS);
  vary_numbers (op, seed);
  vary_arrays (op, seed);
  vary_after (op, index, seed);
  if (scattered (seed + 39) % 2 > 0) {
    op->peer = (int32_t) (scattered (seed + 51) % 8) - 2;
    op->recv_peer = (int32_t) (scattered (seed + 52) % 8) - 2;
    op->matched_source = (int32_t) (scattered (seed + 53) % 8) - 1;
    op->root = (int32_t) (scattered (seed + 54) % 8) - 1;
  }
  return index < n;
}

/* The same operations again and again, so that all of them are in loops. */
static gboolean
anything_in_loops (gconstpointer data, uint32_t rank, uint64_t index, TraceOp *op)
{
  uint64_t place = index;

  (void) data;
  if (!anything (GSIZE_TO_POINTER (200), rank, index % 150, op) || index >= 150 * 12)
    return FALSE;
  /* A graph's operation waits for those at the same distance before it. */
  for (uint32_t i = 0; i < op->n_after; i++)
    ((uint32_t *) (void *) memory[6])[i] += (uint32_t) (place - index % 150);
  for (uint32_t i = 0; i < op->n_after_start; i++)
    ((uint32_t *) (void *) memory[7])[i] += (uint32_t) (place - index % 150);
  return TRUE;
}

/* One field set, all others 0: none is taken for another. */
static gboolean
single_fields (gconstpointer data, uint32_t rank, uint64_t index, TraceOp *op)
{
  TraceOp all = { 0 };
  static const struct {
    gsize at, size;
  } fields[] = {
#define FIELD(name) { G_STRUCT_OFFSET (TraceOp, name), sizeof (((TraceOp *) NULL)->name) }
    FIELD (mode),      FIELD (gap_ps),    FIELD (flops),       FIELD (instructions),
    FIELD (cycles),    FIELD (comm),      FIELD (peer),        FIELD (tag),
    FIELD (bytes),     FIELD (recv_peer), FIELD (recv_tag),    FIELD (recv_bytes),
    FIELD (root),      FIELD (request),   FIELD (nonblocking), FIELD (matched_source),
    FIELD (window),    FIELD (new_comm),  FIELD (group),       FIELD (group2),
    FIELD (new_group), FIELD (color),     FIELD (key),         FIELD (cpu),
    FIELD (call_ps),   FIELD (site),      FIELD (name),
#undef FIELD
  };
  gsize field = index % G_N_ELEMENTS (fields);

  (void) data, (void) rank;
  vary_numbers (&all, index);
  op->name = "x";
  memcpy ((guint8 *) op + fields[field].at, (guint8 *) &all + fields[field].at, fields[field].size);
  op->kind = (TraceOpKind) (index / G_N_ELEMENTS (fields) % TRACE_N_OPS);
  return index < 3 * G_N_ELEMENTS (fields) * TRACE_N_OPS;
}

/* All neighbours are ranks, so that they are relative.  One may send to more
 * or to fewer than it receives from, or to none. */
static gboolean
neighbourhoods (gconstpointer data, uint32_t rank, uint64_t index, TraceOp *op)
{
  static int32_t to[3], from[3];
  static const uint64_t bytes[] = { 1, 20, 300 };

  (void) data;
  op->kind = index % 2 == 0 ? TRACE_OP_NEIGHBOR_ALLTOALL : TRACE_OP_WIN_POST;
  op->name = "x";
  for (uint32_t i = 0; i < 3; i++) {
    to[i] = (int32_t) ((rank + i * index) % 5);
    from[i] = (int32_t) ((rank * 2 + i) % 5);
  }
  op->values = to;
  op->values2 = index % 2 == 0 ? from : NULL;
  op->n_values = 3;
  if (index % 2 == 0) {
    op->counts = op->recv_counts = bytes;
    op->n_values = op->n_counts = (uint32_t) (index / 2 % 4);
    op->n_recv_counts = (uint32_t) (index / 8 % 4);
  }
  return index < 40;
}

static gboolean
nothing (gconstpointer data, uint32_t rank, uint64_t index, TraceOp *op)
{
  (void) data, (void) rank, (void) index, (void) op;
  return FALSE;
}

/* Work that is no whole number, or none at all. */
static gboolean
odd_work (gconstpointer data, uint32_t rank, uint64_t index, TraceOp *op)
{
  static const double work[] = { 0.5, -0.0, 0, 1e300, 5e-324, 9007199254740993.0, 0x1p-1022 };

  (void) data, (void) rank;
  op->kind = TRACE_OP_COMPUTE;
  op->name = "compute";
  op->flops = work[index % G_N_ELEMENTS (work)];
  return index < 50;
}

/* A stream longer than what is folded at once, with loops across that border. */
static gboolean
long_stream (gconstpointer data, uint32_t rank, uint64_t index, TraceOp *op)
{
  (void) data;
  op->kind = index % 7 == 0 ? TRACE_OP_COMPUTE : TRACE_OP_SEND;
  op->peer = (int32_t) ((rank + index % 7) % 4);
  op->gap_ps = index % 7 == 0 ? (int64_t) (scattered (index) % 100000) : 0;
  op->name = "MPI_Send";
  return index < 700001;
}

/* Every operation differs from all others: no loops, many programs. */
static gboolean
no_repetition (gconstpointer data, uint32_t rank, uint64_t index, TraceOp *op)
{
  (void) data;
  op->kind = TRACE_OP_SEND;
  op->name = "MPI_Send";
  op->bytes = scattered (index * 5 + rank) >> 2;
  op->tag = (int32_t) index;
  return index < 300000;
}

/* Made-up operations, written and read again. */
static const struct {
  const char *name;
  uint32_t n_ranks;
  gboolean is_graph;
  TraceTestingOp op;
  gsize n; /* for anything() */
} cases[] = {
  { "anything", 6, FALSE, anything, 10 * TRACE_N_OPS },
  { "anything/graph", 6, TRUE, anything, 10 * TRACE_N_OPS },
  { "anything/one", 1, FALSE, anything, 1 },
  { "loops", 6, TRUE, anything_in_loops, 0 },
  { "single-fields", 2, FALSE, single_fields, 0 },
  { "neighbourhoods", 5, FALSE, neighbourhoods, 0 },
  { "empty", 3, FALSE, nothing, 0 },
  { "odd-work", 1, FALSE, odd_work, 0 },
  { "long", 2, FALSE, long_stream, 0 },
  { "no-repetition", 2, FALSE, no_repetition, 0 },
};

static void
test_round_trip (gconstpointer data)
{
  guint i = GPOINTER_TO_UINT (data);
  g_autoptr (Trace) trace = trace_testing_made_up (cases[i].n_ranks, cases[i].is_graph, cases[i].op,
                                                   GSIZE_TO_POINTER (cases[i].n), NULL);

  hct_testing_round_trip (trace);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *path = g_strconcat ("/traces/hct/again/", cases[i].name, NULL);

    g_test_add_data_func (path, GUINT_TO_POINTER (i), test_round_trip);
  }
  return g_test_run ();
}
