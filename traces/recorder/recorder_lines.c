/* recorder_lines.c - the contents of a recording, in the lines that
 * recorder_program.c writes; for the test of the recorder.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Usage: recorder_lines RECORDING
 *        recorder_lines --times RECORDING
 *          times RANK COMPUTED CALL SITE: ms before and in the barrier, and its place
 * Communicators are made by the rules of MPI, without the simulator, which is
 * another reader of the same operations. */
#include "traces/trace.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct {
  uint64_t calls, bytes, received;
} Count;

/* A communicator as all its members see it. */
typedef struct {
  GArray *members;   /* (element-type uint32_t) world ranks */
  GPtrArray *making; /* (element-type Making) by the order of the calls on it */
} Comm;

typedef struct {
  guint n_arrived;
  gboolean is_split;
  int32_t *colors, *keys; /* by rank in the parent */
  GPtrArray *made;        /* (element-type Comm), by rank in the parent, once all arrived */
} Making;

typedef struct {
  TraceCursor *cursor;
  GHashTable *comms;      /* handle -> Comm */
  GHashTable *n_made;     /* Comm -> how many this rank made of it */
  GHashTable *persistent; /* request -> RECV_INIT is absent; send: Send */
  TraceOp op;
  gboolean waits, ended;
} Rank;

typedef struct {
  int32_t peer;
  uint32_t comm;
  uint64_t bytes;
} Send;

static Rank *ranks;
static uint32_t n_ranks;
static GHashTable *counts;  /* text -> Count */
static GHashTable *defined; /* colour -> Comm */

static void
add (char *key, uint64_t bytes, uint64_t received)
{
  Count *count = g_hash_table_lookup (counts, key);

  if (count == NULL) {
    count = g_new0 (Count, 1);
    g_hash_table_insert (counts, g_strdup (key), count);
  }
  count->calls++;
  count->bytes += bytes;
  count->received += received;
  g_free (key);
}

/* --- Communicators --- */

static Comm *
comm_new (void)
{
  Comm *comm = g_new0 (Comm, 1);

  comm->members = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  comm->making = g_ptr_array_new ();
  return comm;
}

static Comm *
find_comm (uint32_t rank, uint32_t handle)
{
  Comm *comm = g_hash_table_lookup (ranks[rank].comms, GUINT_TO_POINTER (handle));

  if (comm == NULL)
    g_error ("rank %u: no communicator %u", rank, handle);
  return comm;
}

static uint32_t
world_rank (const Comm *comm, int32_t rank)
{
  g_assert_cmpint (rank, >=, 0);
  g_assert_cmpint (rank, <, (int) comm->members->len);
  return g_array_index (comm->members, uint32_t, rank);
}

static guint
rank_in (const Comm *comm, uint32_t rank)
{
  guint at = 0;

  while (at < comm->members->len && g_array_index (comm->members, uint32_t, at) != rank)
    at++;
  g_assert_cmpuint (at, <, comm->members->len);
  return at;
}

/* The ranks of one colour, by key and then by rank in the parent. */
static Comm *
make_color (const Comm *parent, const Making *making, int32_t color)
{
  guint n = parent->members->len;
  gboolean used[4096] = { FALSE };
  Comm *comm = comm_new ();

  g_assert_cmpuint (n, <=, G_N_ELEMENTS (used));
  for (;;) {
    guint best = n;

    for (guint i = 0; i < n; i++)
      if (!used[i] && making->colors[i] == color &&
          (best == n || making->keys[i] < making->keys[best]))
        best = i;
    if (best == n)
      return comm;
    used[best] = TRUE;
    g_array_append_val (comm->members, g_array_index (parent->members, uint32_t, best));
  }
}

/* FALSE when other members have to arrive first. */
static gboolean
make_comm (uint32_t rank, const TraceOp *op)
{
  Rank *state = &ranks[rank];
  Comm *parent = find_comm (rank, op->comm);
  guint n = parent->members->len, self = rank_in (parent, rank);
  guint k = GPOINTER_TO_UINT (g_hash_table_lookup (state->n_made, parent));
  Making *making;

  if (k == parent->making->len) {
    making = g_new0 (Making, 1);
    making->colors = g_new0 (int32_t, n);
    making->keys = g_new0 (int32_t, n);
    g_ptr_array_add (parent->making, making);
  }
  making = parent->making->pdata[k];
  if (!state->waits) {
    making->n_arrived++;
    making->is_split = op->kind == TRACE_OP_COMM_SPLIT;
    making->colors[self] = making->is_split ? op->color : 0;
    making->keys[self] = making->is_split ? op->key : 0;
    if (making->n_arrived == n) {
      making->made = g_ptr_array_new ();
      g_ptr_array_set_size (making->made, (gint) n);
      for (guint i = 0; i < n; i++) {
        if (making->colors[i] == TRACE_UNDEFINED || making->made->pdata[i] != NULL)
          continue;
        making->made->pdata[i] = make_color (parent, making, making->colors[i]);
        for (guint j = i + 1; j < n; j++)
          if (making->colors[j] == making->colors[i])
            making->made->pdata[j] = making->made->pdata[i];
      }
    }
  }
  state->waits = making->made == NULL;
  if (state->waits)
    return FALSE;
  g_hash_table_insert (state->n_made, parent, GUINT_TO_POINTER (k + 1));
  if (making->made->pdata[self] != NULL)
    g_hash_table_insert (state->comms, GUINT_TO_POINTER (op->new_comm), making->made->pdata[self]);
  else
    g_assert_cmpuint (op->new_comm, ==, TRACE_COMM_NULL);
  return TRUE;
}

/* --- Lines --- */

static void
add_send (uint32_t rank, uint32_t comm, int32_t peer, uint64_t bytes)
{
  if (peer != TRACE_PROC_NULL)
    add (g_strdup_printf ("send %u %u", rank, world_rank (find_comm (rank, comm), peer)), bytes, 0);
}

static uint64_t
sum (const uint64_t *values, uint32_t n)
{
  uint64_t total = 0;

  for (uint32_t i = 0; i < n; i++)
    total += values[i];
  return total;
}

static gboolean
take_op (uint32_t rank, const TraceOp *op)
{
  if (op->kind == TRACE_OP_SEND || op->kind == TRACE_OP_ISEND || op->kind == TRACE_OP_SENDRECV)
    add_send (rank, op->comm, op->peer, op->bytes);
  else if (op->kind == TRACE_OP_RECV || op->kind == TRACE_OP_IRECV) {
    if (op->peer == TRACE_ANY_SOURCE)
      add (g_strdup_printf ("from %u %u", rank,
                            world_rank (find_comm (rank, op->comm), op->matched_source)),
           0, 0);
  } else if (op->kind == TRACE_OP_SEND_INIT) {
    Send *send = g_new (Send, 1);

    *send = (Send){ op->peer, op->comm, op->bytes };
    g_hash_table_insert (ranks[rank].persistent, GUINT_TO_POINTER (op->request), send);
  } else if (op->kind == TRACE_OP_REQUEST_FREE)
    g_hash_table_remove (ranks[rank].persistent, GUINT_TO_POINTER (op->requests[0]));
  else if (op->kind == TRACE_OP_START) {
    for (uint32_t i = 0; i < op->n_requests; i++) {
      const Send *send =
          g_hash_table_lookup (ranks[rank].persistent, GUINT_TO_POINTER (op->requests[i]));

      if (send != NULL)
        add_send (rank, send->comm, send->peer, send->bytes);
    }
  } else if (op->kind == TRACE_OP_NEIGHBOR_ALLGATHER || op->kind == TRACE_OP_NEIGHBOR_ALLTOALL) {
    const Comm *comm = find_comm (rank, op->comm);

    g_assert_cmpuint (op->n_counts, ==, op->n_values);
    for (uint32_t i = 0; i < op->n_values; i++)
      add (g_strdup_printf ("edge %u %u %s%s", rank, world_rank (comm, op->values[i]),
                            op->nonblocking ? "i" : "", trace_op_name (op->kind)),
           op->counts[i], 0);
  } else if (trace_op_is_collective (op->kind)) {
    g_assert_cmpuint (find_comm (rank, op->comm)->members->len, >, 0);
    add (g_strdup_printf ("call %u %s%s", rank, op->nonblocking ? "i" : "",
                          trace_op_name (op->kind)),
         op->bytes + sum (op->counts, op->n_counts),
         op->recv_bytes + sum (op->recv_counts, op->n_recv_counts));
  } else if (op->kind == TRACE_OP_PUT || op->kind == TRACE_OP_GET || op->kind == TRACE_OP_FETCH)
    add (g_strdup_printf ("access %u %u %s", rank,
                          world_rank (find_comm (rank, op->comm), op->peer),
                          trace_op_name (op->kind)),
         op->bytes, op->recv_bytes);
  else if (op->kind == TRACE_OP_COMM_DUP || op->kind == TRACE_OP_COMM_SPLIT)
    return make_comm (rank, op);
  else if (op->kind == TRACE_OP_COMM_DEFINE) {
    /* All members must have described it alike. */
    Comm *comm = g_hash_table_lookup (defined, GINT_TO_POINTER (op->color));

    if (comm == NULL) {
      comm = comm_new ();
      for (uint32_t i = 0; i < op->n_values; i++)
        g_array_append_val (comm->members, op->values[i]);
      g_hash_table_insert (defined, GINT_TO_POINTER (op->color), comm);
    }
    g_assert_cmpuint (comm->members->len, ==, op->n_values);
    for (uint32_t i = 0; i < op->n_values; i++)
      g_assert_cmpint (world_rank (comm, (int32_t) i), ==, op->values[i]);
    rank_in (comm, rank);
    g_hash_table_insert (ranks[rank].comms, GUINT_TO_POINTER (op->new_comm), comm);
  } else if (op->kind == TRACE_OP_COMM_FREE)
    g_hash_table_remove (ranks[rank].comms, GUINT_TO_POINTER (op->comm));
  else if (op->kind == TRACE_OP_UNSUPPORTED)
    g_error ("rank %u: %s is not supported", rank, op->name);
  return TRUE;
}

/* --- All ranks side by side --- */

/* The computation before the first barrier, and the time in it. */
static void
print_times (Trace *trace, uint32_t rank)
{
  g_autoptr (TraceCursor) cursor = trace_cursor_new (trace, rank, NULL);
  int64_t computed_ps = 0;
  TraceOp op;

  while (cursor != NULL && trace_cursor_next (cursor, &op, NULL) == TRACE_NEXT_OPERATION) {
    computed_ps += op.gap_ps;
    if (op.kind != TRACE_OP_BARRIER)
      continue;
    printf ("times %u %.0f %.0f %s\n", rank, (double) computed_ps / 1e9, (double) op.call_ps / 1e9,
            op.site);
    return;
  }
  g_error ("rank %u: no barrier", rank);
}

static void
print_lines (Trace *trace)
{
  Comm *world = comm_new ();
  gboolean moved = TRUE;

  ranks = g_new0 (Rank, n_ranks);
  counts = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  defined = g_hash_table_new (NULL, NULL);
  for (uint32_t rank = 0; rank < n_ranks; rank++)
    g_array_append_val (world->members, rank);
  for (uint32_t rank = 0; rank < n_ranks; rank++) {
    g_autoptr (GError) error = NULL;
    Rank *state = &ranks[rank];
    Comm *self = comm_new ();

    state->cursor = trace_cursor_new (trace, rank, &error);
    if (state->cursor == NULL)
      g_error ("%s", error->message);
    state->comms = g_hash_table_new (NULL, NULL);
    state->n_made = g_hash_table_new (NULL, NULL);
    state->persistent = g_hash_table_new_full (NULL, NULL, NULL, g_free);
    g_array_append_val (self->members, rank);
    g_hash_table_insert (state->comms, GUINT_TO_POINTER (TRACE_COMM_WORLD), world);
    g_hash_table_insert (state->comms, GUINT_TO_POINTER (TRACE_COMM_SELF), self);
  }
  while (moved) {
    moved = FALSE;
    /* Each rank in turn, until it waits for others or its stream ends. */
    for (uint32_t rank = 0; rank < n_ranks; rank++) {
      g_autoptr (GError) error = NULL;
      Rank *state = &ranks[rank];

      while (!state->ended) {
        if (!state->waits) {
          TraceNext next = trace_cursor_next (state->cursor, &state->op, &error);

          if (next == TRACE_NEXT_ERROR)
            g_error ("%s", error->message);
          state->ended = next == TRACE_NEXT_END;
        }
        if (state->ended || !take_op (rank, &state->op))
          break;
        moved = TRUE;
      }
    }
  }
  for (uint32_t rank = 0; rank < n_ranks; rank++)
    if (!ranks[rank].ended)
      g_error ("rank %u waits for a communicator that others do not make", rank);

  GHashTableIter iter;
  gpointer key, value;

  g_hash_table_iter_init (&iter, counts);
  while (g_hash_table_iter_next (&iter, &key, &value)) {
    const char *line = key;
    const Count *count = value;

    printf ("%s %" G_GUINT64_FORMAT, line, count->calls);
    if (line[0] != 'f')
      printf (" %" G_GUINT64_FORMAT, count->bytes);
    if (line[0] == 'c' || line[0] == 'a')
      printf (" %" G_GUINT64_FORMAT, count->received);
    printf ("\n");
  }
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  gboolean times = argc == 3 && g_str_equal (argv[1], "--times");
  g_autoptr (Trace) trace = argc > 1 ? trace_open (argv[argc - 1], NULL, &error) : NULL;

  if (trace == NULL)
    g_error ("%s", error != NULL ? error->message : "usage: recorder_lines RECORDING");
  n_ranks = trace_ranks (trace);
  if (!times)
    print_lines (trace);
  for (uint32_t rank = 0; times && rank < n_ranks; rank++)
    print_times (trace, rank);
  return 0;
}
