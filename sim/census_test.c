/* census_test.c - the contents of a trace, counted without time.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/net/load.h"

#include "sim/net/network.h"
#include "sim/replay/replay_testing.h"

#include <glib.h>
#include <string.h>

/* Messages as they are told, in order: one per line. */
static void
note (void *data, uint32_t source, uint32_t destination, uint64_t bytes, bool direct)
{
  g_string_append_printf (data, "%u>%u %" G_GUINT64_FORMAT "%s\n", source, destination, bytes,
                          direct ? " direct" : "");
}

/* Without a machine messages are matched; with one, collectives are counted with them. */
typedef struct {
  const char *name;
  uint32_t n_ranks;
  const char *machine;
  const char *script;
  const char *notes;   /* NULL: not checked */
  uint64_t operations; /* 0: not checked */
  uint64_t sends, send_bytes, receives, unmatched_sends, unmatched_receives, communicators;
  int error_code;
  const char *error; /* NULL: none */
} Case;

#define BROKEN(name_, script_, error_)                                                             \
  {                                                                                                \
    .name = name_, .n_ranks = 2, .script = script_, .error_code = SIM_ERROR_TRACE, .error = error_ \
  }

static const Case cases[] = {
  /* Point to point. */
  { .name = "counts",
    .n_ranks = 2,
    .script = "0: compute 1; send 1 5 100; isend 1 5 200 7; wait 7 |"
              "1: irecv 0 5 100 7; recv 0 5 500; wait 7",
    .operations = 6,
    .sends = 2,
    .send_bytes = 300,
    .receives = 2,
    .notes = "0>1 100\n0>1 200\n" },
  { .name = "no-peer",
    .n_ranks = 1,
    .script = "0: send null 5 100; recv null 5 100",
    .operations = 2,
    .notes = "" },
  { .name = "sendrecv",
    .n_ranks = 3,
    .script = "0: sendrecv 1 2 8 | 1: sendrecv 2 0 8 | 2: sendrecv 0 1 8",
    .sends = 3,
    .send_bytes = 24,
    .receives = 3,
    .notes = "0>1 8\n1>2 8\n2>0 8\n" },
  /* A persistent request counts each time it is started, with the last meaning of its
   * handle. */
  { .name = "persistent-requests",
    .n_ranks = 2,
    .script = "0: send_init 1 3 40 7; start 7; start 7; send_init 1 3 50 7; start 7 |"
              "1: recv_init 0 3 50 8; start 8; start 8; start 8",
    .sends = 3,
    .send_bytes = 130,
    .receives = 3,
    .notes = "0>1 40\n0>1 40\n0>1 50\n" },
  { .name = "started-before", .n_ranks = 1, .script = "0: start 9" },

  /* Left over: two sends of tag 6, a receive of tag 7 and one of rank 0. */
  { .name = "unmatched",
    .n_ranks = 2,
    .script = "0: send 1 5 1; send 1 6 1; send 1 6 1; recv 1 5 1 | 1: recv 0 5 1; recv 0 7 1",
    .sends = 3,
    .send_bytes = 3,
    .receives = 3,
    .unmatched_sends = 2,
    .unmatched_receives = 2 },
  /* The exact receive takes 0's tag 1, "tag 1 from any" the message of 1, "any tag from 0"
   * 0's tag 2; "anything" is left, however early it was posted. */
  { .name = "wildcards",
    .n_ranks = 3,
    .script = "0: send 2 1 1; send 2 2 1 | 1: send 2 1 1 |"
              "2: recv any any 1; recv any 1 1; recv 0 any 1; recv 0 1 1",
    .sends = 3,
    .send_bytes = 3,
    .receives = 4,
    .unmatched_receives = 1 },
  { .name = "cancelled",
    .n_ranks = 2,
    .script = "0: send 1 5 1 | 1: irecv 0 5 1 7; irecv 0 5 1 8; cancel 8",
    .sends = 1,
    .send_bytes = 1,
    .receives = 2 },
  /* The same ranks and tag on two communicators are two channels. */
  { .name = "communicators-do-not-mix",
    .n_ranks = 2,
    .script = "*: comm_split 0 0 10 | 0: send 1 5 1 | 1: recv 0 5 1 comm=10",
    .sends = 1,
    .send_bytes = 1,
    .receives = 1,
    .unmatched_sends = 1,
    .unmatched_receives = 1,
    .communicators = 1 },

  /* Communicators.  Ranks 1 and 3 are ranks 1 and 0 of theirs; the last to come goes on
   * first. */
  { .name = "world-ranks",
    .n_ranks = 4,
    .script =
        "0: comm_split 0 0 10; send 0 0 0 comm=10 | 1: comm_split 1 -1 10; send 0 0 1 comm=10 |"
        "2: comm_split 0 -2 10; send 0 0 2 comm=10 | 3: comm_split 1 -3 10; send 0 0 3 comm=10",
    .communicators = 2,
    .sends = 4,
    .send_bytes = 6,
    .unmatched_sends = 4,
    .notes = "3>3 3\n0>2 0\n1>3 1\n2>2 2\n" },
  { .name = "groups",
    .n_ranks = 2,
    .script = "*: comm_group 20; comm_create 20 10; comm_free 10",
    .communicators = 1 },
  BROKEN ("freed", "*: comm_group 20; comm_create 20 10; comm_free 10 | 1: send 0 0 0 comm=10",
          "send on unknown communicator 10"),
  /* Both ranks define it without waiting: peers are ranks of it. */
  { .name = "definition",
    .n_ranks = 3,
    .script =
        "0: comm_define 10 2 0; send 0 0 5 comm=10 | 2: comm_define 10 2 0; recv 1 0 5 comm=10",
    .communicators = 1,
    .sends = 1,
    .send_bytes = 5,
    .receives = 1,
    .notes = "0>2 5\n" },

  /* Collectives. */
  { .name = "collectives-are-counted",
    .n_ranks = 2,
    .script = "*: barrier; bcast 0 1000",
    .operations = 4,
    .notes = "" },
  { .name = "hardware-collectives",
    .n_ranks = 4,
    .machine = "bgq:32",
    .script = "*: barrier; bcast 0 1000",
    .notes = "" },
  /* Ranks 0 and 2 are a communicator, the broadcast on it one message. */
  { .name = "collective-on-part",
    .n_ranks = 3,
    .machine = "bgq:32",
    .script = "0,2: comm_split 0 0 10; bcast 1 1000 comm=10 | 1: comm_split undefined 0 10",
    .communicators = 1,
    .notes = "2>0 1000\n" },
  /* As in a replay. */
  { .name = "unknown-sizes",
    .n_ranks = 2,
    .machine = "torus:2x2",
    .script = "0: send 1 4 unknown | 1: recv 0 4 100 | *: gather 0 unknown",
    .sends = 1,
    .receives = 1,
    .notes = "0>1 0\n1>0 0\n" },
  /* The ranks in the lists get the bytes of the lists, only with the collectives. */
  { .name = "neighbors",
    .n_ranks = 3,
    .script = "1: ineighbor_alltoall to=2,0 counts=5,6",
    .notes = "" },
  { .name = "neighbors-in-steps",
    .n_ranks = 3,
    .machine = "torus:4",
    .script = "1: ineighbor_alltoall to=2,0 counts=5,6",
    .notes = "1>2 5\n1>0 6\n" },
  /* Data goes from the origin, to it, or both; none of it is a send.  Post and
   * complete send messages without data. */
  { .name = "one-sided",
    .n_ranks = 3,
    .script = "1: put 2 10; get 2 20; fetch 2 10 20; put null 0; win_post 2 0",
    .notes = "1>2 10\n2>1 20\n1>2 10\n2>1 20\n" },
  { .name = "one-sided-in-steps",
    .n_ranks = 3,
    .machine = "torus:4",
    .script = "1: put 2 10; get 2 20; fetch 2 10 20; put null 0; win_post 2 0",
    .notes = "1>2 10\n2>1 20\n1>2 10\n2>1 20\n1>2 0\n1>0 0\n" },

  /* Broken traces. */
  BROKEN ("peer-out-of-range", "1: call; send 2 5 1",
          "rank1:2: rank 1: peer 2 on a communicator of 2 ranks"),
  BROKEN ("send-to-any", "0: send any 5 1", "send to any rank"),
  BROKEN ("root-out-of-range", "0: bcast 2 1", "root 2 on a communicator of 2 ranks"),
  BROKEN ("no-root", "0: bcast none 10", "root -1 on a communicator of 2 ranks"),
  BROKEN ("wrong-number-of-counts", "0: alltoallv counts=1,1,1",
          "3 counts on a communicator of 2 ranks"),
  BROKEN ("neighbor-out-of-range", "1: neighbor_alltoall from=3 recv_counts=5", "neighbour 3"),
  { .name = "never-complete",
    .n_ranks = 3,
    .script = "0: comm_split 0 0 10 | 2: comm_split 0 0 10",
    .error_code = SIM_ERROR_DEADLOCK,
    .error = "rank0:1: rank 0 makes a communicator" },
  /* Their traffic would be missing without a word. */
  { .name = "unsupported",
    .n_ranks = 2,
    .machine = "bgq:32",
    .script = "1: unsupported",
    .error_code = SIM_ERROR_TRACE,
    .error = "rank1:1: rank 1: MPI_Unsupported cannot be replayed" },
};

static gboolean
census_of (Trace *trace, const char *spec, GString *notes, SimCensus *census, GError **error)
{
  g_autoptr (TopoMachine) machine = spec == NULL ? NULL : topo_machine_new (spec, NULL);
  SimCensusScope scope = SIM_CENSUS_POINT_TO_POINT | (spec == NULL ? 0 : SIM_CENSUS_COLLECTIVES);

  return sim_census (trace, machine, scope, spec == NULL, note, notes, NULL, NULL, census, error);
}

static void
test_case (gconstpointer data)
{
  const Case *it = data;
  g_autoptr (Trace) trace = script_new (it->n_ranks);
  g_autoptr (GString) notes = g_string_new (NULL);
  g_autoptr (GError) error = NULL;
  SimCensus census;

  script_text (trace, it->script);
  if (!census_of (trace, it->machine, notes, &census, &error)) {
    g_assert_nonnull (it->error);
    g_assert_error (error, SIM_ERROR, it->error_code);
    g_assert_nonnull (strstr (error->message, it->error));
    return;
  }
  g_assert_null (it->error);
  if (it->notes != NULL)
    g_assert_cmpstr (notes->str, ==, it->notes);
  if (it->operations > 0)
    g_assert_cmpuint (census.operations, ==, it->operations);
  g_assert_cmpuint (census.sends, ==, it->sends);
  g_assert_cmpuint (census.send_bytes, ==, it->send_bytes);
  g_assert_cmpuint (census.receives, ==, it->receives);
  g_assert_cmpuint (census.unmatched_sends, ==, it->unmatched_sends);
  g_assert_cmpuint (census.unmatched_receives, ==, it->unmatched_receives);
  g_assert_cmpuint (census.communicators, ==, it->communicators);
}

/* All pairs, but for the empty ones: rank r sends r bytes to each. */
static void
test_direct_collective (void)
{
  static const char *const expected[] = { "1>0 1 direct", "1>2 1 direct", "2>0 2 direct",
                                          "2>1 2 direct" };
  g_autoptr (Trace) trace = script_new (3);
  g_autoptr (GString) notes = g_string_new (NULL);
  g_auto (GStrv) lines = NULL;
  SimCensus census;

  script_text (trace, "0: alltoallv counts=0,0,0 recv_counts=0,1,2 |"
                      "1: alltoallv counts=1,1,1 recv_counts=0,1,2 |"
                      "2: alltoallv counts=2,2,2 recv_counts=0,1,2");
  g_assert_true (census_of (trace, "bgq:32", notes, &census, NULL));
  lines = g_strsplit (notes->str, "\n", 0);
  g_assert_cmpuint (g_strv_length (lines), ==, 5); /* four, and the text after the last */
  for (uint32_t i = 0; i < G_N_ELEMENTS (expected); i++)
    g_assert_true (g_strv_contains ((const char *const *) lines, expected[i]));
}

/* Calls are counted whether or not they can be replayed. */
static void
test_calls (void)
{
  g_autoptr (Trace) trace = script_new (3);
  g_autoptr (GString) notes = g_string_new (NULL);
  SimCensus census;

  script_text (trace, "0: isend 1 5 200 7; wait 7; unsupported | 1: recv 0 5 200; wait 7; put 2 10;"
                      "put null 0 | 2: ineighbor_alltoall to=2,0 counts=5,6 | 0-1: barrier");
  g_assert_true (census_of (trace, NULL, notes, &census, NULL));
  g_assert_cmpuint (census.calls[TRACE_OP_WAIT], ==, 2);
  g_assert_cmpuint (census.calls[TRACE_OP_ISEND], ==, 1);
  g_assert_cmpuint (census.calls[TRACE_OP_PUT], ==, 2);
  g_assert_cmpuint (census.calls[TRACE_OP_UNSUPPORTED], ==, 1);
  g_assert_cmpuint (census.collectives[TRACE_OP_BARRIER], ==, 2);
  g_assert_cmpuint (census.collectives[TRACE_OP_NEIGHBOR_ALLTOALL], ==, 1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (uint32_t i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *path = g_strdup_printf ("/sim/census/%s", cases[i].name);

    g_test_add_data_func (path, &cases[i], test_case);
  }
  g_test_add_func ("/sim/census/direct-collective", test_direct_collective);
  g_test_add_func ("/sim/census/calls", test_calls);
  return g_test_run ();
}
