/* census_test.c - what a trace contains, counted without time.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/net/load.h"

#include "sim/net/network.h"
#include "sim/replay/replay_testing.h"

#include <glib.h>
#include <string.h>

#define NEW_COMM 10u

/* Messages as they are told, in order: one per line. */
static void
note (void *data, uint32_t source, uint32_t destination, uint64_t bytes, bool direct)
{
  g_string_append_printf (data, "%u>%u %" G_GUINT64_FORMAT "%s\n", source, destination, bytes,
                          direct ? " direct" : "");
}

static SimCensus
census_of (Trace *trace, GString *notes)
{
  GError *error = NULL;
  SimCensus census;

  g_assert_true (sim_census (trace, NULL, SIM_CENSUS_POINT_TO_POINT, true,
                             notes == NULL ? NULL : note, notes, NULL, NULL, &census, &error));
  g_assert_no_error (error);
  return census;
}

static SimCensus
census_with_collectives (Trace *trace, const char *spec, GString *notes)
{
  GError *error = NULL;
  g_autoptr (TopoMachine) machine = topo_machine_new (spec, &error);
  SimCensus census;

  g_assert_no_error (error);
  g_assert_true (sim_census (trace, machine, SIM_CENSUS_POINT_TO_POINT | SIM_CENSUS_COLLECTIVES,
                             false, note, notes, NULL, NULL, &census, &error));
  g_assert_no_error (error);
  return census;
}

static void
assert_fails (Trace *trace, int code, const char *text)
{
  g_autoptr (GError) error = NULL;
  SimCensus census;

  g_assert_false (sim_census (trace, NULL, SIM_CENSUS_POINT_TO_POINT, true, NULL, NULL, NULL, NULL,
                              &census, &error));
  g_assert_error (error, SIM_ERROR, code);
  g_assert_nonnull (strstr (error->message, text));
}

static void
sendrecv (Trace *trace, uint32_t rank, int32_t to, int32_t from, uint64_t bytes)
{
  script_add (trace, rank,
              (TraceOp){ .kind = TRACE_OP_SENDRECV,
                         .comm = TRACE_COMM_WORLD,
                         .peer = to,
                         .bytes = bytes,
                         .recv_peer = from,
                         .recv_bytes = bytes,
                         .matched_source = TRACE_ANY_SOURCE });
}

static void
split (Trace *trace, uint32_t rank, int32_t color, int32_t key)
{
  script_add (trace, rank,
              (TraceOp){ .kind = TRACE_OP_COMM_SPLIT,
                         .comm = TRACE_COMM_WORLD,
                         .new_comm = NEW_COMM,
                         .color = color,
                         .key = key });
}

/* --- Point to point --- */

static void
test_counts (void)
{
  g_autoptr (Trace) trace = script_new (2);
  g_autoptr (GString) notes = g_string_new (NULL);
  SimCensus census;

  script_compute (trace, 0, 1000);
  script_send (trace, 0, 1, 5, 100);
  script_isend (trace, 0, 1, 5, 200, 7);
  script_wait (trace, 0, 7);
  script_irecv (trace, 1, 0, 5, 100, 7);
  script_recv (trace, 1, 0, 5, 500);
  script_wait (trace, 1, 7);
  census = census_of (trace, notes);
  g_assert_cmpuint (census.operations, ==, 6);
  g_assert_cmpuint (census.sends, ==, 2);
  g_assert_cmpuint (census.send_bytes, ==, 300);
  g_assert_cmpuint (census.receives, ==, 2);
  g_assert_cmpuint (census.calls[TRACE_OP_WAIT], ==, 2);
  g_assert_cmpuint (census.calls[TRACE_OP_ISEND], ==, 1);
  g_assert_cmpuint (census.unmatched_sends, ==, 0);
  g_assert_cmpuint (census.unmatched_receives, ==, 0);
  g_assert_cmpstr (notes->str, ==, "0>1 100\n0>1 200\n");
}

static void
test_nobody_as_peer (void)
{
  g_autoptr (Trace) trace = script_new (1);
  g_autoptr (GString) notes = g_string_new (NULL);
  SimCensus census;

  script_send (trace, 0, TRACE_PROC_NULL, 5, 100);
  script_recv (trace, 0, TRACE_PROC_NULL, 5, 100);
  census = census_of (trace, notes);
  g_assert_cmpuint (census.operations, ==, 2);
  g_assert_cmpuint (census.sends + census.receives, ==, 0);
  g_assert_cmpstr (notes->str, ==, "");
}

static void
test_sendrecv (void)
{
  g_autoptr (Trace) trace = script_new (3);
  g_autoptr (GString) notes = g_string_new (NULL);
  SimCensus census;

  sendrecv (trace, 0, 1, 2, 8);
  sendrecv (trace, 1, 2, 0, 8);
  sendrecv (trace, 2, 0, 1, 8);
  census = census_of (trace, notes);
  g_assert_cmpuint (census.sends, ==, 3);
  g_assert_cmpuint (census.receives, ==, 3);
  g_assert_cmpuint (census.unmatched_sends + census.unmatched_receives, ==, 0);
  g_assert_cmpstr (notes->str, ==, "0>1 8\n1>2 8\n2>0 8\n");
}

/* A persistent request counts each time it is started, with what its handle
 * meant last. */
static void
test_persistent_requests (void)
{
  g_autoptr (Trace) trace = script_new (2);
  g_autoptr (GString) notes = g_string_new (NULL);
  static const uint32_t send = 7, receive = 8;
  SimCensus census;
  TraceOp init = { .kind = TRACE_OP_SEND_INIT,
                   .comm = TRACE_COMM_WORLD,
                   .peer = 1,
                   .tag = 3,
                   .bytes = 40,
                   .request = send,
                   .matched_source = TRACE_ANY_SOURCE };

  script_add (trace, 0, init);
  script_requests (trace, 0, TRACE_OP_START, 1, &send);
  script_requests (trace, 0, TRACE_OP_START, 1, &send);
  init.bytes = 50;
  script_add (trace, 0, init);
  script_requests (trace, 0, TRACE_OP_START, 1, &send);
  init.kind = TRACE_OP_RECV_INIT;
  init.peer = 0;
  init.request = receive;
  script_add (trace, 1, init);
  for (uint32_t i = 0; i < 3; i++)
    script_requests (trace, 1, TRACE_OP_START, 1, &receive);
  census = census_of (trace, notes);
  g_assert_cmpuint (census.sends, ==, 3);
  g_assert_cmpuint (census.send_bytes, ==, 130);
  g_assert_cmpuint (census.receives, ==, 3);
  g_assert_cmpuint (census.unmatched_sends + census.unmatched_receives, ==, 0);
  g_assert_cmpstr (notes->str, ==, "0>1 40\n0>1 40\n0>1 50\n");
}

static void
test_started_before_the_trace (void)
{
  g_autoptr (Trace) trace = script_new (1);
  static const uint32_t request = 9;
  SimCensus census;

  script_requests (trace, 0, TRACE_OP_START, 1, &request);
  census = census_of (trace, NULL);
  g_assert_cmpuint (census.sends + census.receives, ==, 0);
}

/* --- What is left over --- */

static void
test_unmatched (void)
{
  g_autoptr (Trace) trace = script_new (2);
  SimCensus census;

  script_send (trace, 0, 1, 5, 1); /* matched */
  script_send (trace, 0, 1, 6, 1); /* other tag: left */
  script_send (trace, 0, 1, 6, 1); /* left */
  script_recv (trace, 1, 0, 5, 1);
  script_recv (trace, 1, 0, 7, 1); /* left */
  script_recv (trace, 0, 1, 5, 1); /* left */
  census = census_of (trace, NULL);
  g_assert_cmpuint (census.unmatched_sends, ==, 2);
  g_assert_cmpuint (census.unmatched_receives, ==, 2);
}

/* Sends 0>2 tags 1, 2 and 1>2 tag 1; the exact receive takes 0's tag 1, "tag 1
 * from any" the message of 1, "any tag from 0" 0's tag 2; "anything" is left,
 * however early it was posted. */
static void
test_wildcards_take_what_others_leave (void)
{
  g_autoptr (Trace) trace = script_new (3);
  SimCensus census;

  script_send (trace, 0, 2, 1, 1);
  script_send (trace, 0, 2, 2, 1);
  script_send (trace, 1, 2, 1, 1);
  script_recv (trace, 2, TRACE_ANY_SOURCE, TRACE_ANY_TAG, 1);
  script_recv (trace, 2, TRACE_ANY_SOURCE, 1, 1);
  script_recv (trace, 2, 0, TRACE_ANY_TAG, 1);
  script_recv (trace, 2, 0, 1, 1);
  census = census_of (trace, NULL);
  g_assert_cmpuint (census.unmatched_sends, ==, 0);
  g_assert_cmpuint (census.unmatched_receives, ==, 1);
}

static void
test_cancelled_receives_may_be_left (void)
{
  g_autoptr (Trace) trace = script_new (2);
  static const uint32_t first = 7, second = 8;
  SimCensus census;

  script_send (trace, 0, 1, 5, 1);
  script_irecv (trace, 1, 0, 5, 1, first);
  script_irecv (trace, 1, 0, 5, 1, second);
  script_requests (trace, 1, TRACE_OP_CANCEL, 1, &second);
  census = census_of (trace, NULL);
  g_assert_cmpuint (census.unmatched_sends, ==, 0);
  g_assert_cmpuint (census.unmatched_receives, ==, 0);
}

/* The same ranks and tag on two communicators are two channels. */
static void
test_communicators_do_not_mix (void)
{
  g_autoptr (Trace) trace = script_new (2);
  SimCensus census;

  for (uint32_t rank = 0; rank < 2; rank++)
    split (trace, rank, 0, 0);
  script_send (trace, 0, 1, 5, 1);
  script_add (trace, 1,
              (TraceOp){ .kind = TRACE_OP_RECV,
                         .comm = NEW_COMM,
                         .peer = 0,
                         .tag = 5,
                         .matched_source = TRACE_ANY_SOURCE });
  census = census_of (trace, NULL);
  g_assert_cmpuint (census.unmatched_sends, ==, 1);
  g_assert_cmpuint (census.unmatched_receives, ==, 1);
  g_assert_cmpuint (census.communicators, ==, 1);
}

/* --- Communicators --- */

/* Ranks 1 and 3 are ranks 1 and 0 of their communicator. */
static void
test_world_ranks (void)
{
  g_autoptr (Trace) trace = script_new (4);
  g_autoptr (GString) notes = g_string_new (NULL);
  SimCensus census;

  for (uint32_t rank = 0; rank < 4; rank++) {
    split (trace, rank, rank % 2, -(int32_t) rank);
    script_add (trace, rank,
                (TraceOp){ .kind = TRACE_OP_SEND, .comm = NEW_COMM, .peer = 0, .bytes = rank });
  }
  census = census_of (trace, notes);
  g_assert_cmpuint (census.communicators, ==, 2);
  /* The last to come goes on first. */
  g_assert_cmpstr (notes->str, ==, "3>3 3\n0>2 0\n1>3 1\n2>2 2\n");
}

static void
test_groups_and_freed_communicators (void)
{
  g_autoptr (Trace) trace = script_new (2);

  for (uint32_t rank = 0; rank < 2; rank++) {
    script_add (
        trace, rank,
        (TraceOp){ .kind = TRACE_OP_COMM_GROUP, .comm = TRACE_COMM_WORLD, .new_group = 20 });
    script_add (trace, rank,
                (TraceOp){ .kind = TRACE_OP_COMM_CREATE,
                           .comm = TRACE_COMM_WORLD,
                           .group = 20,
                           .new_comm = NEW_COMM });
    script_add (trace, rank, (TraceOp){ .kind = TRACE_OP_COMM_FREE, .comm = NEW_COMM });
  }
  g_assert_cmpuint (census_of (trace, NULL).communicators, ==, 1);
  script_add (trace, 1, (TraceOp){ .kind = TRACE_OP_SEND, .comm = NEW_COMM, .peer = 0 });
  assert_fails (trace, SIM_ERROR_TRACE, "send on unknown communicator 10");
}

/* --- Collectives --- */

static void
barriers_and_bcasts (Trace *trace, uint32_t n_ranks)
{
  for (uint32_t rank = 0; rank < n_ranks; rank++) {
    script_collective (trace, rank, TRACE_OP_BARRIER, TRACE_NO_ROOT, 0);
    script_collective (trace, rank, TRACE_OP_BCAST, 0, 1000);
  }
}

static void
test_collectives_are_counted (void)
{
  g_autoptr (Trace) trace = script_new (2);
  g_autoptr (GString) notes = g_string_new (NULL);
  SimCensus census;

  barriers_and_bcasts (trace, 2);
  census = census_of (trace, notes);
  g_assert_cmpuint (census.collectives[TRACE_OP_BARRIER], ==, 2);
  g_assert_cmpuint (census.collectives[TRACE_OP_BCAST], ==, 2);
  g_assert_cmpuint (census.operations, ==, 4);
  g_assert_cmpuint (census.sends, ==, 0);
  g_assert_cmpstr (notes->str, ==, "");
}

static void
test_hardware_collectives_send_nothing (void)
{
  g_autoptr (Trace) trace = script_new (4);
  g_autoptr (GString) notes = g_string_new (NULL);

  barriers_and_bcasts (trace, 4);
  census_with_collectives (trace, "bgq:32", notes);
  g_assert_cmpstr (notes->str, ==, "");
}

/* Ranks 0 and 2 are a communicator, the broadcast on it one message. */
static void
test_collective_on_part_of_the_ranks (void)
{
  g_autoptr (Trace) trace = script_new (3);
  g_autoptr (GString) notes = g_string_new (NULL);
  SimCensus census;

  for (uint32_t rank = 0; rank < 3; rank++) {
    split (trace, rank, rank == 1 ? TRACE_UNDEFINED : 0, 0);
    if (rank != 1)
      script_add (trace, rank,
                  (TraceOp){ .kind = TRACE_OP_BCAST, .comm = NEW_COMM, .root = 1, .bytes = 1000 });
  }
  census = census_with_collectives (trace, "bgq:32", notes);
  g_assert_cmpstr (notes->str, ==, "2>0 1000\n");
  g_assert_cmpuint (census.sends, ==, 0);
}

/* All pairs, but for the empty ones: rank r sends r bytes to each. */
static void
test_direct_collective (void)
{
  g_autoptr (Trace) trace = script_new (3);
  g_autoptr (GString) notes = g_string_new (NULL);
  g_auto (GStrv) lines = NULL;

  for (uint32_t rank = 0; rank < 3; rank++) {
    const uint64_t counts[] = { rank, rank, rank }, recv_counts[] = { 0, 1, 2 };

    script_add (trace, rank,
                (TraceOp){ .kind = TRACE_OP_ALLTOALLV,
                           .comm = TRACE_COMM_WORLD,
                           .root = TRACE_NO_ROOT,
                           .counts = counts,
                           .n_counts = 3,
                           .recv_counts = recv_counts,
                           .n_recv_counts = 3 });
  }
  census_with_collectives (trace, "bgq:32", notes);
  lines = g_strsplit (notes->str, "\n", 0);
  g_assert_cmpuint (g_strv_length (lines), ==, 5); /* four, and what is after the last */
  g_assert_true (g_strv_contains ((const char *const *) lines, "1>0 1 direct"));
  g_assert_true (g_strv_contains ((const char *const *) lines, "1>2 1 direct"));
  g_assert_true (g_strv_contains ((const char *const *) lines, "2>0 2 direct"));
  g_assert_true (g_strv_contains ((const char *const *) lines, "2>1 2 direct"));
}

/* --- Traces that cannot be --- */

static void
test_peer_out_of_range (void)
{
  g_autoptr (Trace) trace = script_new (2);

  script_call (trace, 1);
  script_send (trace, 1, 2, 5, 1);
  assert_fails (trace, SIM_ERROR_TRACE, "rank1:2: rank 1: peer 2 on a communicator of 2 ranks");
}

static void
test_send_to_any (void)
{
  g_autoptr (Trace) trace = script_new (2);

  script_send (trace, 0, TRACE_ANY_SOURCE, 5, 1);
  assert_fails (trace, SIM_ERROR_TRACE, "send to any rank");
}

static void
test_root_out_of_range (void)
{
  g_autoptr (Trace) trace = script_new (2);

  script_collective (trace, 0, TRACE_OP_BCAST, 2, 1);
  assert_fails (trace, SIM_ERROR_TRACE, "root 2 on a communicator of 2 ranks");
}

static void
test_wrong_number_of_counts (void)
{
  g_autoptr (Trace) trace = script_new (2);
  static const uint64_t counts[] = { 1, 1, 1 };

  script_add (trace, 0,
              (TraceOp){ .kind = TRACE_OP_ALLTOALLV,
                         .comm = TRACE_COMM_WORLD,
                         .root = TRACE_NO_ROOT,
                         .counts = counts,
                         .n_counts = 3 });
  assert_fails (trace, SIM_ERROR_TRACE, "3 counts on a communicator of 2 ranks");
}

static void
test_communicator_that_is_never_complete (void)
{
  g_autoptr (Trace) trace = script_new (3);

  split (trace, 0, 0, 0);
  split (trace, 2, 0, 0);
  assert_fails (trace, SIM_ERROR_DEADLOCK, "rank0:1: rank 0 makes a communicator");
}

/* Their traffic would be missing without a word; calls can be counted. */
static void
test_unsupported_calls_have_no_load (void)
{
  g_autoptr (TopoMachine) machine = topo_machine_new ("bgq:32", NULL);
  g_autoptr (Trace) trace = script_new (2);
  g_autoptr (GError) error = NULL;
  SimCensus census;

  script_add (trace, 1, (TraceOp){ .kind = TRACE_OP_UNSUPPORTED, .name = "MPI_Put" });
  g_assert_true (sim_census (trace, NULL, SIM_CENSUS_POINT_TO_POINT, true, NULL, NULL, NULL, NULL,
                             &census, NULL));
  g_assert_cmpuint (census.calls[TRACE_OP_UNSUPPORTED], ==, 1);
  g_assert_false (sim_census (trace, machine, SIM_CENSUS_COLLECTIVES, false, NULL, NULL, NULL, NULL,
                              &census, &error));
  g_assert_error (error, SIM_ERROR, SIM_ERROR_TRACE);
  g_assert_nonnull (strstr (error->message, "rank1:1: rank 1: MPI_Put cannot be replayed"));
}

static void
test_broadcast_without_a_root (void)
{
  g_autoptr (Trace) trace = script_new (2);

  script_collective (trace, 0, TRACE_OP_BCAST, TRACE_NO_ROOT, 10);
  assert_fails (trace, SIM_ERROR_TRACE, "root -1 on a communicator of 2 ranks");
}

/* As in a replay. */
static void
test_unknown_sizes_are_nothing (void)
{
  g_autoptr (Trace) trace = script_new (2);
  g_autoptr (GString) notes = g_string_new (NULL);
  SimCensus census;

  script_send (trace, 0, 1, 4, TRACE_UNKNOWN_BYTES);
  script_recv (trace, 1, 0, 4, 100);
  for (uint32_t rank = 0; rank < 2; rank++)
    script_collective (trace, rank, TRACE_OP_GATHER, 0, TRACE_UNKNOWN_BYTES);
  census = census_with_collectives (trace, "torus:2x2", notes);
  g_assert_cmpuint (census.sends, ==, 1);
  g_assert_cmpuint (census.send_bytes, ==, 0);
  g_assert_cmpstr (notes->str, ==, "0>1 0\n1>0 0\n");
}

/* Both ranks define it without waiting: peers are ranks of it. */
static void
test_definition (void)
{
  static const int32_t members[] = { 2, 0 };
  g_autoptr (Trace) trace = script_new (3);
  g_autoptr (GString) notes = g_string_new (NULL);

  for (uint32_t rank = 0; rank < 3; rank += 2) {
    script_add (
        trace, rank,
        (TraceOp){
            .kind = TRACE_OP_COMM_DEFINE, .new_comm = NEW_COMM, .values = members, .n_values = 2 });
    script_add (trace, rank,
                (TraceOp){ .kind = rank == 0 ? TRACE_OP_SEND : TRACE_OP_RECV,
                           .comm = NEW_COMM,
                           .peer = rank == 0 ? 0 : 1,
                           .bytes = 5 });
  }
  g_assert_cmpuint (census_of (trace, notes).unmatched_receives, ==, 0);
  g_assert_cmpstr (notes->str, ==, "0>2 5\n");
}

/* Who is in the lists gets what the lists say; only with the collectives. */
static void
test_neighbors (void)
{
  static const int32_t others[] = { 2, 0 };
  static const uint64_t counts[] = { 5, 6 };
  g_autoptr (Trace) trace = script_new (3);
  g_autoptr (GString) notes = g_string_new (NULL);
  SimCensus census;

  script_add (trace, 1,
              (TraceOp){ .kind = TRACE_OP_NEIGHBOR_ALLTOALL,
                         .comm = TRACE_COMM_WORLD,
                         .values = others,
                         .counts = counts,
                         .n_counts = 2,
                         .nonblocking = true });
  census = census_of (trace, notes);
  g_assert_cmpuint (census.collectives[TRACE_OP_NEIGHBOR_ALLTOALL], ==, 1);
  g_assert_cmpuint (census.sends, ==, 0);
  g_assert_cmpstr (notes->str, ==, "");
  census_with_collectives (trace, "torus:4", notes);
  g_assert_cmpstr (notes->str, ==, "1>2 5\n1>0 6\n");
}

static void
test_neighbor_out_of_range (void)
{
  static const int32_t outside[] = { 3 };
  static const uint64_t counts[] = { 5 };
  g_autoptr (Trace) trace = script_new (3);

  script_add (trace, 1,
              (TraceOp){ .kind = TRACE_OP_NEIGHBOR_ALLTOALL,
                         .comm = TRACE_COMM_WORLD,
                         .values2 = outside,
                         .recv_counts = counts,
                         .n_recv_counts = 1 });
  assert_fails (trace, SIM_ERROR_TRACE, "neighbour 3");
}

/* Data goes from the origin, to it, or both; none of it is a send.  Post and
 * complete send messages without data. */
static void
test_one_sided (void)
{
  static const int32_t peers[] = { 2, 0 };
  g_autoptr (Trace) trace = script_new (3);
  g_autoptr (GString) notes = g_string_new (NULL);
  SimCensus census;

  for (TraceOpKind kind = TRACE_OP_PUT; kind <= TRACE_OP_FETCH; kind++)
    script_add (
        trace, 1,
        (TraceOp){
            .kind = kind, .comm = TRACE_COMM_WORLD, .peer = 2, .bytes = 10, .recv_bytes = 20 });
  script_add (trace, 1,
              (TraceOp){ .kind = TRACE_OP_PUT, .comm = TRACE_COMM_WORLD, .peer = TRACE_PROC_NULL });
  script_add (
      trace, 1,
      (TraceOp){
          .kind = TRACE_OP_WIN_POST, .comm = TRACE_COMM_WORLD, .values = peers, .n_values = 2 });
  census = census_of (trace, notes);
  g_assert_cmpuint (census.sends, ==, 0);
  g_assert_cmpuint (census.unmatched_sends, ==, 0);
  g_assert_cmpuint (census.calls[TRACE_OP_PUT], ==, 2);
  g_assert_cmpstr (notes->str, ==, "1>2 10\n2>1 20\n1>2 10\n2>1 20\n");
  g_string_truncate (notes, 0);
  census_with_collectives (trace, "torus:4", notes);
  g_assert_cmpstr (notes->str, ==, "1>2 10\n2>1 20\n1>2 10\n2>1 20\n1>2 0\n1>0 0\n");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sim/census/counts", test_counts);
  g_test_add_func ("/sim/census/nobody-as-peer", test_nobody_as_peer);
  g_test_add_func ("/sim/census/sendrecv", test_sendrecv);
  g_test_add_func ("/sim/census/persistent-requests", test_persistent_requests);
  g_test_add_func ("/sim/census/started-before", test_started_before_the_trace);
  g_test_add_func ("/sim/census/unmatched", test_unmatched);
  g_test_add_func ("/sim/census/wildcards", test_wildcards_take_what_others_leave);
  g_test_add_func ("/sim/census/cancelled", test_cancelled_receives_may_be_left);
  g_test_add_func ("/sim/census/communicators-do-not-mix", test_communicators_do_not_mix);
  g_test_add_func ("/sim/census/world-ranks", test_world_ranks);
  g_test_add_func ("/sim/census/groups", test_groups_and_freed_communicators);
  g_test_add_func ("/sim/census/collectives-are-counted", test_collectives_are_counted);
  g_test_add_func ("/sim/census/hardware-collectives", test_hardware_collectives_send_nothing);
  g_test_add_func ("/sim/census/collective-on-part", test_collective_on_part_of_the_ranks);
  g_test_add_func ("/sim/census/direct-collective", test_direct_collective);
  g_test_add_func ("/sim/census/peer-out-of-range", test_peer_out_of_range);
  g_test_add_func ("/sim/census/send-to-any", test_send_to_any);
  g_test_add_func ("/sim/census/root-out-of-range", test_root_out_of_range);
  g_test_add_func ("/sim/census/wrong-number-of-counts", test_wrong_number_of_counts);
  g_test_add_func ("/sim/census/definition", test_definition);
  g_test_add_func ("/sim/census/neighbors", test_neighbors);
  g_test_add_func ("/sim/census/neighbor-out-of-range", test_neighbor_out_of_range);
  g_test_add_func ("/sim/census/one-sided", test_one_sided);
  g_test_add_func ("/sim/census/unsupported", test_unsupported_calls_have_no_load);
  g_test_add_func ("/sim/census/no-root", test_broadcast_without_a_root);
  g_test_add_func ("/sim/census/unknown-sizes", test_unknown_sizes_are_nothing);
  g_test_add_func ("/sim/census/never-complete", test_communicator_that_is_never_complete);
  return g_test_run ();
}
