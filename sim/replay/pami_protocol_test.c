/* pami_protocol_test.c - remote gets: pacing and the choice of routing.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/replay/replay_testing.h"

/* bgq.md section 3.4, two racks. */
#define PIECE_BYTES  16384
#define WINDOW_BYTES 65536

/* n_senders far from rank 0, which receives a message from each. */
static void
fixture_far (Fixture *f, const char *spec, uint32_t n_senders, uint64_t bytes)
{
  uint32_t n_nodes;

  *f = fixture_new_spec (spec, n_senders + 1, 1);
  n_nodes = topo_shape_nodes (&f->machine->shape);
  for (uint32_t sender = 1; sender <= n_senders; sender++) {
    /* Half-way round every dimension, or nearly: never on a line. */
    f->mapping->node[sender] = n_nodes / 2 + n_nodes / 8 + sender * 4;
    script_isend (f->trace, sender, 0, 7, bytes, 5);
    script_wait (f->trace, sender, 5);
    script_irecv (f->trace, 0, (int32_t) sender, 7, bytes, 10 + sender);
  }
  script_add (f->trace, 0, (TraceOp){ .kind = TRACE_OP_WAIT_OUTSTANDING });
  fixture_run (f);
  g_assert_no_error (f->error);
}

static uint64_t
data_bytes (const Fixture *f)
{
  uint32_t n = fixture_count (f, SIM_MESSAGE_DATA);
  uint64_t bytes = 0;

  for (uint32_t i = 0; i < n; i++)
    bytes += fixture_record (f, SIM_MESSAGE_DATA, i)->message.bytes;
  return bytes;
}

static void
test_pieces (void)
{
  g_auto (Fixture) f = { 0 };
  uint64_t bytes = 12 * PIECE_BYTES + 100;

  fixture_far (&f, "bgq:2048", 1, bytes);
  g_assert_cmpuint (fixture_count (&f, SIM_MESSAGE_REMOTE_GET), ==, 13);
  g_assert_cmpuint (data_bytes (&f), ==, bytes);
  for (uint32_t i = 0; i < 13; i++) {
    SimMessage piece = fixture_record (&f, SIM_MESSAGE_DATA, i)->message;

    g_assert_cmpuint (piece.bytes, ==, i < 12 ? PIECE_BYTES : 100);
    g_assert_cmpuint (piece.whole_bytes, ==, bytes);
  }
  g_assert_cmpuint (f.result->messages, ==, 1);
}

/* Bytes asked for and not yet there, whenever a piece is asked for. */
static void
test_window (void)
{
  g_auto (Fixture) f = { 0 };
  uint32_t n_gets;
  int64_t largest = 0;

  fixture_far (&f, "bgq:2048", 3, 20 * PIECE_BYTES);
  n_gets = fixture_count (&f, SIM_MESSAGE_REMOTE_GET);
  g_assert_cmpuint (n_gets, ==, 60);
  for (uint32_t i = 0; i < n_gets; i++) {
    int64_t at_ps = fixture_record (&f, SIM_MESSAGE_REMOTE_GET, i)->sent_ps, outstanding;

    outstanding = (int64_t) (i + 1) * PIECE_BYTES;
    for (uint32_t j = 0; j < n_gets; j++)
      if (fixture_record (&f, SIM_MESSAGE_DATA, j)->delivered_ps <= at_ps)
        outstanding -= PIECE_BYTES;
    largest = MAX (largest, outstanding);
  }
  g_assert_cmpint (largest, ==, WINDOW_BYTES);
}

/* Three equal transfers take turns, so they end within a few pieces. */
static void
test_round_robin (void)
{
  g_auto (Fixture) f = { 0 };
  uint32_t n_of[4] = { 0 };

  fixture_far (&f, "bgq:2048", 3, 20 * PIECE_BYTES);
  for (uint32_t i = 0; i < 60; i++) {
    uint32_t owner = fixture_record (&f, SIM_MESSAGE_REMOTE_GET, i)->message.destination_rank;

    n_of[owner]++;
    if (i >= 8) /* the first asked alone until the others' requests were there */
      for (uint32_t sender = 1; sender <= 3; sender++)
        g_assert_cmpint (n_of[sender] + 5, >=, n_of[owner]);
  }
}

static void
test_small_partitions_are_not_paced (void)
{
  g_auto (Fixture) f = { 0 };

  fixture_far (&f, "bgq:512", 1, 20 * PIECE_BYTES);
  g_assert_cmpuint (fixture_count (&f, SIM_MESSAGE_DATA), ==, 1);
  g_assert_cmpuint (fixture_record (&f, SIM_MESSAGE_DATA, 0)->message.whole_bytes, ==, 0);
}

static void
test_descriptors (void)
{
  g_auto (Fixture) f = { 0 };

  /* Above dynamic_bytes: counted at the receiver, one descriptor. */
  fixture_far (&f, "bgq:512", 1, 65537);
  g_assert_cmpuint (fixture_record (&f, SIM_MESSAGE_REMOTE_GET, 0)->message.descriptors, ==, 1);
  g_assert_false (fixture_record (&f, SIM_MESSAGE_DATA, 0)->message.force_deterministic);
  fixture_clear (&f);
  fixture_far (&f, "bgq:512", 1, 65536);
  g_assert_cmpuint (fixture_record (&f, SIM_MESSAGE_REMOTE_GET, 0)->message.descriptors, ==, 2);
}

/* With room for two dynamic transfers the third is deterministic. */
static void
test_dynamic_limit (void)
{
  g_auto (Fixture) f = { 0 };
  uint32_t forced = 0;

  fixture_far (&f, "bgq:512", 3, 70000);
  for (uint32_t i = 0; i < 3; i++)
    g_assert_false (fixture_record (&f, SIM_MESSAGE_DATA, i)->message.force_deterministic);
  f.machine->parameters.mpi.dynamic_messages = 2;
  fixture_run (&f);
  for (uint32_t i = 0; i < 3; i++)
    forced += fixture_record (&f, SIM_MESSAGE_DATA, i)->message.force_deterministic;
  g_assert_cmpuint (forced, ==, 1);
}

/* The limit is on transfers in flight: one after the other, all are dynamic. */
static void
test_dynamic_limit_is_given_back (void)
{
  g_auto (Fixture) f = fixture_new_spec ("bgq:512", 2, 1);

  f.mapping->node[1] = 327;
  f.machine->parameters.mpi.dynamic_messages = 1;
  for (uint32_t i = 0; i < 3; i++) {
    script_send (f.trace, 1, 0, 7, 70000);
    script_recv (f.trace, 0, 1, 7, 70000);
  }
  fixture_run (&f);
  for (uint32_t i = 0; i < 3; i++)
    g_assert_cmpuint (fixture_record (&f, SIM_MESSAGE_REMOTE_GET, i)->message.descriptors, ==, 1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sim/rendezvous/pieces", test_pieces);
  g_test_add_func ("/sim/rendezvous/window", test_window);
  g_test_add_func ("/sim/rendezvous/round-robin", test_round_robin);
  g_test_add_func ("/sim/rendezvous/small-partition", test_small_partitions_are_not_paced);
  g_test_add_func ("/sim/rendezvous/descriptors", test_descriptors);
  g_test_add_func ("/sim/rendezvous/dynamic-limit", test_dynamic_limit);
  g_test_add_func ("/sim/rendezvous/dynamic-limit-given-back", test_dynamic_limit_is_given_back);
  return g_test_run ();
}
