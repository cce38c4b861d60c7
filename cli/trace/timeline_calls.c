/* timeline_calls.c - writes a trace of calls that no format of text has, for timelines_otf2_test.sh.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Usage: timeline_calls FILE.hct.  Three ranks: persistent requests, started twice; tests that find
 * nothing and one that finds something; nonblocking collectives; and communicators that the program makes,
 * of which ranks 0 and 2 share one in the reverse order of the world. */
#include "traces/write_testing.h"

#include <stdio.h>

enum { N_RANKS = 3, HALF = 10, COPY = 11 };
enum { RECEIVE = 7, SEND = 8, OTHER = 9, REDUCE = 5, BROADCAST = 6 };

static void
add (GArray *ops, uint32_t rank, TraceOp op)
{
  WriteTestingOp added = { rank, op };

  if (op.kind != TRACE_OP_BCAST)
    added.op.root = TRACE_NO_ROOT;
  g_array_append_val (ops, added);
}

static void
add_persistent (GArray *ops, uint32_t rank, int32_t next, int32_t last)
{
  static const uint32_t both[] = { RECEIVE, SEND };

  add (ops, rank,
       (TraceOp){
           .kind = TRACE_OP_RECV_INIT, .peer = last, .tag = 4, .bytes = 80, .request = RECEIVE });
  add (ops, rank,
       (TraceOp){
           .kind = TRACE_OP_SEND_INIT, .peer = next, .tag = 4, .bytes = 80, .request = SEND });
  for (int round = 0; round < 2; round++) {
    add (ops, rank, (TraceOp){ .kind = TRACE_OP_START, .requests = both, .n_requests = 2 });
    add (ops, rank, (TraceOp){ .kind = TRACE_OP_TEST, .requests = both, .n_requests = 2 });
    add (ops, rank, (TraceOp){ .kind = TRACE_OP_WAIT, .requests = both, .n_requests = 2 });
  }
  add (ops, rank, (TraceOp){ .kind = TRACE_OP_REQUEST_FREE, .requests = both, .n_requests = 2 });
}

/* The test after the send finds the message. */
static void
add_found (GArray *ops, uint32_t rank, int32_t next, int32_t last)
{
  static const uint32_t other[] = { OTHER }, first[] = { 0 };

  add (ops, rank,
       (TraceOp){ .kind = TRACE_OP_IRECV, .peer = last, .tag = 5, .bytes = 96, .request = OTHER });
  add (ops, rank, (TraceOp){ .kind = TRACE_OP_SEND, .peer = next, .tag = 5, .bytes = 96 });
  add (ops, rank,
       (TraceOp){ .kind = TRACE_OP_TEST,
                  .requests = other,
                  .n_requests = 1,
                  .completed = first,
                  .n_completed = 1 });
}

static void
add_nonblocking (GArray *ops, uint32_t rank)
{
  static const uint32_t reduce[] = { REDUCE };

  add (
      ops, rank,
      (TraceOp){ .kind = TRACE_OP_ALLREDUCE, .bytes = 90, .nonblocking = true, .request = REDUCE });
  add (ops, rank, (TraceOp){ .kind = TRACE_OP_TEST, .requests = reduce, .n_requests = 1 });
  add (ops, rank, (TraceOp){ .kind = TRACE_OP_WAIT, .requests = reduce, .n_requests = 1 });
}

/* Rank 2 is number 0 in the half that it shares with rank 0. */
static void
add_communicators (GArray *ops, uint32_t rank)
{
  static const uint32_t broadcast[] = { BROADCAST };

  add (ops, rank,
       (TraceOp){ .kind = TRACE_OP_COMM_SPLIT,
                  .new_comm = HALF,
                  .color = (int32_t) rank % 2,
                  .key = -(int32_t) rank });
  if (rank != 1) {
    add (ops, rank,
         (TraceOp){ .kind = TRACE_OP_BCAST,
                    .comm = HALF,
                    .root = 0,
                    .bytes = 500,
                    .nonblocking = true,
                    .request = BROADCAST });
    add (ops, rank, (TraceOp){ .kind = TRACE_OP_WAIT, .requests = broadcast, .n_requests = 1 });
  }
  if (rank == 2)
    add (ops, rank,
         (TraceOp){ .kind = TRACE_OP_SEND, .comm = HALF, .peer = 1, .tag = 6, .bytes = 64 });
  if (rank == 0)
    add (ops, rank,
         (TraceOp){ .kind = TRACE_OP_RECV, .comm = HALF, .peer = 0, .tag = 6, .bytes = 64 });
  add (ops, rank, (TraceOp){ .kind = TRACE_OP_COMM_DUP, .new_comm = COPY });
  add (ops, rank,
       (TraceOp){ .kind = TRACE_OP_ALLGATHER, .comm = COPY, .bytes = 70, .recv_bytes = 70 });
}

int
main (int argc, char **argv)
{
  g_autoptr (GArray) ops = g_array_new (FALSE, FALSE, sizeof (WriteTestingOp));
  g_autoptr (Trace) trace = NULL;
  g_autoptr (GError) error = NULL;
  FILE *out = argc == 2 ? fopen (argv[1], "wb") : NULL;

  if (out == NULL) {
    fprintf (stderr, "Usage: timeline_calls FILE.hct\n");
    return 2;
  }
  for (uint32_t rank = 0; rank < N_RANKS; rank++) {
    int32_t next = (int32_t) (rank + 1) % N_RANKS, last = (int32_t) (rank + N_RANKS - 1) % N_RANKS;

    add (ops, rank, (TraceOp){ .kind = TRACE_OP_INIT });
    add (ops, rank, (TraceOp){ .kind = TRACE_OP_COMPUTE, .gap_ps = 1000000 });
    add_persistent (ops, rank, next, last);
    add_found (ops, rank, next, last);
    add_nonblocking (ops, rank);
    add_communicators (ops, rank);
    add (ops, rank, (TraceOp){ .kind = TRACE_OP_FINALIZE });
  }
  trace =
      write_testing_program (N_RANKS, (const WriteTestingOp *) (const void *) ops->data, ops->len);
  if (!trace_writer_hct.write (trace, out, NULL, NULL, &error) || fclose (out) != 0) {
    fprintf (stderr, "timeline_calls: %s\n", error != NULL ? error->message : "cannot write");
    return 1;
  }
  return 0;
}
