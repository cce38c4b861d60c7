/* paraver_test.c - the reader of Paraver traces, on small files worked out by hand.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/trace_testing.h"

#include <string.h>

/* Two ranks, times in nanoseconds, the end at 9,000. */
#define HEADER "#Paraver (21/01/2022 at 16:37):9000_ns:1(2):1:2(1:1,1:1),1\nc:1:1:2:1:2\n"
/* "cpu:application:task:thread:" of the first thread of both. */
#define ONE "1:1:1:1:"
#define TWO "2:1:2:1:"
/* An event at a time. */
#define P2P(who, t, value)  "2:" who t ":50000001:" value "\n"
#define COLL(who, t, value) "2:" who t ":50000002:" value "\n"
/* A collective on communicator 1, with the bytes it sends and gets. */
#define SIZES(who, t, value, sent, received) \
  "2:" who t ":50000002:" value ":50100001:" sent ":50100002:" received ":50100004:1\n"

typedef TraceTestingStream Stream;

static void
stream_open_with (Stream *s, const char *prv, const char *pcf)
{
  char *folder = trace_testing_folder ();
  g_autofree char *path = trace_testing_write_text (folder, "t.prv", prv), *beside = NULL;

  if (pcf != NULL)
    beside = trace_testing_write_text (folder, "t.pcf", pcf);
  trace_testing_stream_open (s, folder, path, 0, NULL);
}

/* The events have their usual numbers; reading starts with rank 0. */
static void
stream_open (Stream *s, const char *prv)
{
  stream_open_with (s, prv, NULL);
}

/* Rank 0 sends 64 bytes with tag 7 to rank 1: calls at 100-200 and 300-450. */
#define MESSAGE         \
  P2P (ONE, "100", "1") \
  P2P (ONE, "200", "0") \
  P2P (TWO, "300", "2") \
  P2P (TWO, "450", "0") "3:" ONE "100:200:" TWO "300:450:64:7\n"

static void
test_blocking_message (void)
{
  Stream s;

  stream_open (&s, HEADER MESSAGE);
  g_assert_cmpstr (trace_format_name (s.trace), ==, "paraver");
  g_assert_cmpuint (trace_ranks (s.trace), ==, 2);
  EXPECT (&s, "compute gap_ps=100000",
          "send peer=1 tag=7 bytes=64 comm=world call_ps=100000 name=MPI_Send");
  g_assert_null (s.op.site);
  g_assert_cmpstr (trace_cursor_place (s.cursor), ==, "t.prv:3");
  EXPECT (&s, "compute gap_ps=8800000");
  trace_testing_stream_end (&s);
  trace_testing_stream_go_to (&s, 1);
  EXPECT (&s, "compute gap_ps=300000", "recv peer=0 matched_source=0 call_ps=150000",
          "compute gap_ps=8550000");
  trace_testing_stream_end (&s);
  g_assert_true (trace_testing_warned (s.trace, "window"));
  g_assert_true (trace_testing_warned (s.trace, "no .pcf"));
  trace_testing_stream_close (&s);
}

static void
test_microseconds (void)
{
  Stream s;

  stream_open (&s, "#Paraver (1/1/11 at 1:02):9000:0:1:2(1:1,1:1)\r\n" MESSAGE);
  EXPECT (&s, "compute gap_ps=100000000", "+send call_ps=100000000");
  trace_testing_stream_close (&s);
}

/* Two receives under way end in the waits in whose ends they are said to be
 * complete, which is not the order of posting. */
static void
test_waits (void)
{
  Stream s;

  stream_open (&s, HEADER P2P (ONE, "10", "4") P2P (ONE, "20", "0") P2P (ONE, "20", "4")
                       P2P (ONE, "30", "0") P2P (ONE, "40", "5") P2P (TWO, "41", "1")
                           P2P (TWO, "45", "0") P2P (TWO, "45", "1") P2P (TWO, "50", "0")
                               P2P (ONE, "60", "0") P2P (ONE, "60", "5")
                                   P2P (ONE, "80", "0") "3:" TWO "41:45:" ONE "20:80:100:1\n"
                                                        "3:" TWO "45:50:" ONE "30:60:200:2\n");
  EXPECT (&s, "+irecv bytes=100 request:first", "+irecv bytes=200 request:second first!=second",
          "+wait n_requests=1 requests[0]=second n_completed=1 completed[0]=0",
          "+wait requests[0]=first");
  g_assert_cmpuint (trace_warnings (s.trace)->len, ==, 2); /* .pcf, requests */
  trace_testing_stream_close (&s);
}

#define ISEND(t, end) P2P (ONE, t, "3") P2P (ONE, end, "0")
#define IRECV(t, end) P2P (TWO, t, "4") P2P (TWO, end, "0")

/* Three sends and one receive in flight, to and from oneself or the other:
 * a wait that got nothing is for the oldest send, a waitall for all. */
static void
test_sends_complete (void)
{
  Stream s;

  stream_open (&s, HEADER ISEND ("10", "11") ISEND ("12", "13") ISEND ("14", "15")
                       IRECV ("16", "17") IRECV ("18", "19") IRECV ("20", "21") P2P (ONE, "30", "5")
                           P2P (ONE, "31", "0") P2P (ONE, "32", "6") P2P (ONE, "33", "0")
                               P2P (ONE, "34", "6") P2P (ONE, "35", "0") P2P (TWO, "40", "6")
                                   P2P (TWO, "50", "0") "3:" ONE "10:11:" TWO "17:50:1:1\n"
                                                        "3:" ONE "12:13:" TWO "19:50:2:1\n"
                                                        "3:" ONE "14:15:" TWO "21:50:3:1\n");
  EXPECT (&s, "+isend bytes=1 request:first", "+isend bytes=2 request:second",
          "+isend bytes=3 request:third", "+wait n_requests=1 requests[0]=first",
          "+wait n_requests=2 requests[0]=second requests[1]=third", "+call name=MPI_Waitall");
  trace_testing_stream_go_to (&s, 1);
  EXPECT (&s, "+irecv request:first", "+irecv request:second", "+irecv request:third",
          "+wait n_requests=3 requests[0]=first requests[1]=second requests[2]=third");
  trace_testing_stream_close (&s);
}

/* A send whose receive is posted after the waits was not waited for, or did
 * not need to be. */
static void
test_late_receive (void)
{
  Stream s;

  stream_open (&s,
               HEADER ISEND ("10", "11") P2P (ONE, "20", "6") P2P (ONE, "21", "0")
                   P2P (ONE, "22", "5") P2P (ONE, "23", "0") IRECV ("30", "31") P2P (ONE, "40", "5")
                       P2P (ONE, "41", "0") "3:" ONE "10:11:" TWO "31:50:1:1\n");
  EXPECT (&s, "+isend", "+call", "+call", "+wait n_requests=1");
  trace_testing_stream_close (&s);
}

/* A simulator's record: complete when it arrived, before anything waited. */
static void
test_early_arrival (void)
{
  Stream s;

  stream_open (&s, HEADER P2P (TWO, "5", "4") P2P (TWO, "9", "0") ISEND ("10", "11") P2P (
                       TWO, "40", "5") P2P (TWO, "41", "0") "3:" ONE "10:12:" TWO "7:20:1:1\n");
  trace_testing_stream_go_to (&s, 1);
  EXPECT (&s, "+irecv", "+wait n_requests=1");
  trace_testing_stream_close (&s);
}

/* The same, when it was there before the receive was posted. */
static void
test_arrival_before_posting (void)
{
  Stream s;

  stream_open (&s,
               HEADER ISEND ("1", "2") P2P (TWO, "5", "5") P2P (TWO, "9", "0") IRECV ("10", "12")
                   P2P (TWO, "40", "5") P2P (TWO, "41", "0") "3:" ONE "1:2:" TWO "12:7:1:1\n");
  trace_testing_stream_go_to (&s, 1);
  EXPECT (&s, "+call", "+irecv", "+wait n_requests=1");
  trace_testing_stream_close (&s);
}

/* One send ends when the other begins, and has lost its message. */
static void
test_neighbours_in_time (void)
{
  Stream s;

  stream_open (&s, HEADER P2P (ONE, "10", "1") P2P (TWO, "11", "2") P2P (ONE, "20", "0")
                       P2P (ONE, "20", "1") P2P (ONE, "30", "0")
                           P2P (TWO, "40", "0") "3:" ONE "20:30:" TWO "11:40:1:1\n");
  EXPECT (&s, "+call", "+send");
  trace_testing_stream_close (&s);
}

/* A message to oneself has one request on either side. */
static void
test_self_message (void)
{
  Stream s;

  stream_open (&s, HEADER ISEND ("10", "11") P2P (ONE, "12", "4") P2P (ONE, "13", "0") P2P (
                       ONE, "20", "6") P2P (ONE, "21", "0") "3:" ONE "10:11:" ONE "13:21:1:1\n");
  EXPECT (&s, "+isend request:send peer=0", "+irecv request:receive",
          "+wait n_requests=2 requests[0]=receive requests[1]=send");
  trace_testing_stream_close (&s);
}

/* Rank 1 receives, and sends to MPI_PROC_NULL. */
static void
test_sendrecv (void)
{
  Stream s;

  stream_open (&s, HEADER P2P (ONE, "10", "41") P2P (TWO, "12", "41") P2P (ONE, "20", "0")
                       P2P (TWO, "30", "0") "3:" ONE "10:20:" TWO "12:30:8:3\n");
  EXPECT (&s, "+sendrecv peer=1 bytes=8 recv_peer=null");
  trace_testing_stream_go_to (&s, 1);
  EXPECT (&s, "+sendrecv peer=null recv_peer=0 recv_tag=3 recv_bytes=8");
  trace_testing_stream_close (&s);
}

/* One MPI_Startall starts a send and a receive; its time is counted once. */
static void
test_persistent (void)
{
  Stream s;

  stream_open (&s, HEADER "2:" ONE "10:50000003:124\n2:" ONE "14:50000003:0\n"
                          "2:" TWO "20:50000003:124\n2:" TWO "24:50000003:0\n"
                          "3:" ONE "11:12:" TWO "23:40:8:3\n3:" TWO "21:22:" ONE
                          "13:30:9:3\n" P2P (ONE, "25", "6") P2P (ONE, "30", "0"));
  EXPECT (&s, "+isend call_ps=4000", "irecv call_ps=0 bytes=9", "+wait n_requests=2");
  trace_testing_stream_close (&s);
}

/* Both ranks, one after the other; rank 1 is the root. */
#define ROOTED(value, sent0, got0, sent1, got1, t) \
  SIZES (ONE, t "0", value, sent0, got0)           \
  SIZES (TWO, t "1", value, sent1, got1)           \
  COLL (ONE, t "5", "0") COLL (TWO, t "6", "0")

static void
test_rooted_collectives (void)
{
  Stream s;

  stream_open (&s, HEADER ROOTED ("7", "0", "80", "80", "0", "1") /* bcast */
               ROOTED ("9", "40", "0", "0", "40", "2")            /* reduce */
               ROOTED ("13", "10", "0", "10", "20", "3")          /* gather */
               ROOTED ("14", "5", "0", "7", "12", "4")            /* gatherv */
               ROOTED ("15", "0", "6", "12", "6", "5")            /* scatter */
               ROOTED ("16", "0", "3", "11", "8", "6"));          /* scatterv */
  EXPECT (&s, "+bcast root=1 bytes=80 comm=world", "+reduce root=1 bytes=40",
          "+gather bytes=10 recv_bytes=0", "+gatherv bytes=5 n_recv_counts=0",
          "+scatter recv_bytes=6", "+scatterv root=1 recv_bytes=3");
  trace_testing_stream_go_to (&s, 1);
  EXPECT (&s, "+bcast bytes=80", "+reduce bytes=40", "+gather recv_bytes=10",
          "+gatherv n_recv_counts=2 recv_counts[0]=5 recv_counts[1]=7", "+scatter bytes=6",
          "+scatterv n_counts=2 counts[0]=3 counts[1]=8");
  trace_testing_stream_close (&s);
}

/* Empty broadcasts have a root only by their flag, each its own. */
static void
test_flagged_root (void)
{
  Stream s;

  stream_open (&s, HEADER SIZES (ONE, "10", "7", "0",
                                 "0") "2:" ONE "10:50100003:1\n" SIZES (TWO, "10", "7", "0", "0")
                       COLL (ONE, "20", "0") COLL (TWO, "20", "0") SIZES (ONE, "30", "7", "0", "0")
                           SIZES (TWO, "30", "7", "0", "0") "2:" TWO
                                                            "30:50100003:1\n" COLL (ONE, "40", "0")
                                                                COLL (TWO, "40", "0"));
  EXPECT (&s, "+bcast root=0", "+bcast root=1");
  trace_testing_stream_close (&s);
}

static void
test_unrooted_collectives (void)
{
  Stream s;

  stream_open (&s, HEADER ROOTED ("8", "0", "0", "0", "0", "1") /* barrier */
               ROOTED ("10", "24", "24", "24", "24", "2")       /* allreduce */
               ROOTED ("11", "16", "0", "16", "0", "3")         /* alltoall */
               ROOTED ("17", "8", "16", "8", "16", "4")         /* allgather */
               ROOTED ("18", "8", "12", "4", "12", "5")         /* allgatherv */
               ROOTED ("12", "7", "0", "4", "0", "6")           /* alltoallv */
               ROOTED ("80", "30", "10", "30", "20", "7")       /* reduce_scatter */
               ROOTED ("155", "24", "24", "24", "24", "8"));    /* iallreduce */
  EXPECT (&s, "+barrier root=none", "+allreduce bytes=24", "+alltoall bytes=16 recv_bytes=16",
          "+allgather bytes=8 recv_bytes=8", "+allgatherv bytes=8 n_recv_counts=2 recv_counts[1]=4",
          "+alltoallv counts[0]=4 counts[1]=3 recv_counts[0]=4 recv_counts[1]=2",
          "+reduce_scatter n_recv_counts=2 recv_counts[0]=10 recv_counts[1]=20",
          "+allreduce nonblocking=0");
  g_assert_true (trace_testing_warned (s.trace, "MPI_Iallreduce"));
  g_assert_true (trace_testing_warned (s.trace, "MPI_Alltoallv"));
  trace_testing_stream_close (&s);
}

/* Without a communicator, and without any in the header. */
static void
test_no_communicators (void)
{
  Stream s;

  stream_open (&s, "#Paraver (d):900_ns:0:1:2(1:1,1:1)\n" COLL (ONE, "10", "8")
                       COLL (TWO, "10", "8") COLL (ONE, "20", "0") COLL (TWO, "20", "0"));
  EXPECT (&s, "+barrier comm=world");
  g_assert_true (trace_testing_warned (s.trace, "without a communicator"));
  trace_testing_stream_close (&s);
}

/* A communicator of ranks 2 and 0, in this order, and one of all ranks that
 * is not in order; rank 1 only knows the second. */
static void
test_communicators (void)
{
  Stream s;

  stream_open (&s, "#Paraver (d):900_ns:0:1:3(1:1,1:1,1:1),9\nc:1:5:2:3:1\nc:1:6:3:3:2:1\n"
                   "c:1:7:1:2\n#comment\n"
                   "2:1:1:1:1:10:50000002:7:50100001:0:50100002:4:50100004:5\n"
                   "2:1:1:3:1:10:50000002:7:50100001:4:50100002:0:50100004:5\n"
                   "2:1:1:1:1:20:50000002:0\n2:1:1:3:1:20:50000002:0\n"
                   "2:1:1:1:1:30:50000002:8:50100004:6\n2:1:1:2:1:30:50000002:8:50100004:6\n"
                   "2:1:1:3:1:30:50000002:8:50100004:6\n2:1:1:1:1:40:50000002:0\n"
                   "2:1:1:2:1:40:50000002:0\n2:1:1:3:1:40:50000002:0\n");
  EXPECT (&s, "comm_define n_values=2 values[0]=2 values[1]=0 color:first");
  g_assert_cmpuint (s.op.new_comm, >, TRACE_COMM_SELF);
  EXPECT (&s, "comm_define n_values=3 color!=first", "+bcast root=0 bytes=4");
  trace_testing_stream_go_to (&s, 1);
  EXPECT (&s, "comm_define n_values=3", "+barrier");
  trace_testing_stream_go_to (&s, 2);
  EXPECT (&s, "comm_define color=first");
  trace_testing_stream_close (&s);
}

/* A .pcf with numbers of its own: nothing of Extrae's numbers is used. */
static void
test_pcf (void)
{
  static const char pcf[] = "DEFAULT_OPTIONS\n\nLEVEL THREAD\n\nSTATES\n0    Idle\n\n"
                            "EVENT_TYPE\n9   6000    MPI Point-to-point\nVALUES\n77   MPI_Send\n"
                            "78 MPI_Recv\n0   Outside MPI\n\n\nEVENT_TYPE\n"
                            "0  71    Caller at level 1\n0 72    Caller at level 2\nVALUES\n"
                            "0   End\n5 exchange \n\nEVENT_TYPE\n0 81 Caller line at level 1\n"
                            "VALUES\n9 114 (halo.c, app)\n";
  Stream s;

  stream_open_with (&s,
                    HEADER "2:" ONE "100:6000:77:71:5:81:9\n2:" ONE "200:6000:0\n"
                           "2:" TWO "300:6000:78:71:5\n2:" TWO "400:6000:0\n"
                           "3:" ONE "100:200:" TWO "300:400:64:7\n",
                    pcf);
  EXPECT (&s, "+send");
  g_assert_cmpstr (s.op.site, ==, "exchange halo.c:114");
  trace_testing_stream_go_to (&s, 1);
  EXPECT (&s, "+recv site=exchange");
  g_assert_false (trace_testing_warned (s.trace, "pcf"));
  trace_testing_stream_close (&s);
}

/* The first application only reads counters; it has events, no messages. */
static void
test_application_with_messages (void)
{
  Stream s;

  stream_open (&s, "#Paraver (d):900_ns:1(4):2:3(1:1,1:1,1:1),2(1:1,1:1),4\nc:1:1:3:1:2:3\n"
                   "2:1:1:3:1:5:50000003:31\n2:1:1:3:1:6:50000003:0\n"
                   "2:1:2:1:1:10:50000001:1\n2:1:2:2:1:10:50000001:2\n"
                   "2:1:2:1:1:20:50000001:0\n2:1:2:2:1:30:50000001:0\n"
                   "3:1:2:1:1:10:20:1:2:2:1:10:30:5:1\n");
  g_assert_cmpuint (trace_ranks (s.trace), ==, 2);
  EXPECT (&s, "+send");
  trace_testing_stream_close (&s);
}

/* Only the first thread of a task is a rank; a message between the other
 * threads, and one to another application, are warned of. */
static void
test_other_threads (void)
{
  Stream s;

  stream_open (&s, "#Paraver (d):900_ns:0:2:2(2:1,2:1):1(1:1)\n" MESSAGE
                   "2:1:1:1:2:500:50000001:1\n2:1:1:1:2:510:50000001:0\n"
                   "3:1:1:1:2:500:510:2:1:2:2:500:510:99:7\n"
                   "3:1:1:1:1:500:510:3:2:1:1:500:510:99:7\n"
                   "3:1:2:1:1:500:510:3:2:1:1:500:510:99:7\n");
  EXPECT (&s, "+send", "compute");
  trace_testing_stream_end (&s);
  g_assert_true (trace_testing_warned (s.trace, "2 events of MPI calls on other threads"));
  g_assert_true (trace_testing_warned (s.trace, "2 messages to or from other threads"));
  trace_testing_stream_close (&s);
}

/* A call that began before the last one ended: the last one is left out. */
static void
test_end_is_lost (void)
{
  Stream s;

  stream_open (&s, HEADER P2P (ONE, "10", "5") COLL (ONE, "20", "8") COLL (TWO, "20", "8")
                       COLL (ONE, "30", "0") COLL (TWO, "30", "0"));
  EXPECT (&s, "compute gap_ps=20000", "barrier");
  g_assert_true (trace_testing_warned (s.trace, "1 calls do not end"));
  trace_testing_stream_close (&s);
}

/* Rank 1 was in the first barrier already when the trace begins; the call at
 * the end of rank 0 does not end. */
static void
test_cut (void)
{
  Stream s;

  stream_open (&s, HEADER COLL (ONE, "5", "8") COLL (ONE, "20", "0") COLL (TWO, "21", "0")
                       SIZES (TWO, "40", "8", "0", "0") SIZES (ONE, "50", "8", "0", "0")
                           COLL (ONE, "60", "0") COLL (TWO, "61", "0") P2P (ONE, "100", "5"));
  EXPECT (&s, "+call name=MPI_Barrier", "+barrier call_ps=10000",
          "compute gap_ps=40000" /* until the call that was cut */);
  trace_testing_stream_end (&s);
  trace_testing_stream_go_to (&s, 1);
  EXPECT (&s, "compute gap_ps=19000" /* from the end of the call that was cut */, "barrier",
          "compute gap_ps=8939000");
  trace_testing_stream_end (&s);
  g_assert_true (trace_testing_warned (s.trace, "middle of 2 calls"));
  g_assert_true (trace_testing_warned (s.trace, "1 collective calls are not"));
  trace_testing_stream_close (&s);
}

/* The receiver's call is not in the trace: neither is the sender's half. */
static void
test_half_a_message (void)
{
  Stream s;

  stream_open (&s, HEADER P2P (ONE, "100", "1") P2P (ONE, "200", "0") "3:" ONE "100:200:" TWO
                                                                      "300:450:64:7\n");
  EXPECT (&s, "+call name=MPI_Send");
  g_assert_true (trace_testing_warned (s.trace, "1 messages were not"));
  g_assert_true (trace_testing_warned (s.trace, "1 sends and 0 receives"));
  trace_testing_stream_close (&s);
}

static void
test_gzip (void)
{
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
  const char text[] = HEADER MESSAGE;
  g_autofree char *path = trace_testing_write_gzip (folder, "t.prv.gz", text, strlen (text));
  g_autoptr (Trace) trace = trace_testing_open (path);

  g_assert_cmpuint (trace_testing_totals (trace).send_bytes, ==, 64);
}

/* The hash covers both files. */
static void
test_hash (void)
{
  g_autofree char *first = NULL;
  Stream s;

  stream_open (&s, HEADER MESSAGE);
  first = g_strdup (trace_hash (s.trace, NULL));
  g_assert_nonnull (first);
  trace_testing_stream_close (&s);
  stream_open_with (&s, HEADER MESSAGE, "EVENT_TYPE\n");
  g_assert_cmpstr (trace_hash (s.trace, NULL), !=, first);
  trace_testing_stream_close (&s);
}

/* Adds up the requests that calls of this name complete. */
static uint64_t
count_completed (Trace *trace, const char *name)
{
  uint64_t n = 0;

  for (uint32_t rank = 0; rank < trace_ranks (trace); rank++) {
    g_autoptr (TraceCursor) cursor = trace_cursor_new (trace, rank, NULL);
    TraceOp op;

    while (trace_cursor_next (cursor, &op, NULL) == TRACE_NEXT_OPERATION)
      n += g_str_equal (op.name, name) ? op.n_completed : 0;
  }
  return n;
}

/* LULESH on 8 ranks, cut out of a longer run.  The expected figures come from
 * counting the file's own lines with awk and a script that knows nothing of
 * this reader: communication records (-F: '$1==3') and their field 14; begins
 * of events 50000001..3 by value on application 1; the time between their
 * ends and begins. */
static void
test_profet (void)
{
  g_autofree char *path = trace_testing_shared (
      "paraver/profet-lulesh_4p4/lulesh_4+4_with_uncores_sockets1+2.chop_5it.prv.gz");
  g_autoptr (Trace) trace = NULL;
  TraceTotals totals;

  if (path == NULL)
    return;
  trace = trace_testing_open (path);
  totals = trace_testing_totals (trace);
  g_assert_cmpuint (trace_ranks (trace), ==, 8);
  g_assert_cmpuint (totals.sends, ==, 484);
  g_assert_cmpuint (totals.receives, ==, 484);
  g_assert_cmpuint (totals.send_bytes, ==, 35093376);
  g_assert_cmpuint (totals.channels, ==, 108);
  g_assert_cmpuint (totals.n_ops[TRACE_OP_ISEND], ==, 484);
  g_assert_cmpuint (totals.n_ops[TRACE_OP_IRECV], ==, 484);
  g_assert_cmpuint (totals.n_ops[TRACE_OP_ALLREDUCE], ==, 40);
  /* 540 + 540 + 540 + 120 + 40 + 360 begins. */
  g_assert_cmpuint (totals.n_ops[TRACE_OP_CALL] + totals.n_ops[TRACE_OP_WAIT] + 484 + 484 + 40, ==,
                    2140);
  g_assert_cmpint (totals.gap_ps, ==, INT64_C (11795081981000));
  /* The program waits for its sends together, and for each receive alone. */
  g_assert_cmpuint (count_completed (trace, "MPI_Waitall"), ==, 484);
  g_assert_cmpuint (count_completed (trace, "MPI_Wait"), ==, 484);
  g_assert_false (trace_testing_warned (trace, "not sent or not received"));
  g_assert_false (trace_testing_warned (trace, "not waited for"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/traces/paraver/blocking-message", test_blocking_message);
  g_test_add_func ("/traces/paraver/microseconds", test_microseconds);
  g_test_add_func ("/traces/paraver/waits", test_waits);
  g_test_add_func ("/traces/paraver/sends-complete", test_sends_complete);
  g_test_add_func ("/traces/paraver/late-receive", test_late_receive);
  g_test_add_func ("/traces/paraver/early-arrival", test_early_arrival);
  g_test_add_func ("/traces/paraver/arrival-before-posting", test_arrival_before_posting);
  g_test_add_func ("/traces/paraver/neighbours-in-time", test_neighbours_in_time);
  g_test_add_func ("/traces/paraver/self-message", test_self_message);
  g_test_add_func ("/traces/paraver/sendrecv", test_sendrecv);
  g_test_add_func ("/traces/paraver/persistent", test_persistent);
  g_test_add_func ("/traces/paraver/rooted-collectives", test_rooted_collectives);
  g_test_add_func ("/traces/paraver/flagged-root", test_flagged_root);
  g_test_add_func ("/traces/paraver/unrooted-collectives", test_unrooted_collectives);
  g_test_add_func ("/traces/paraver/no-communicators", test_no_communicators);
  g_test_add_func ("/traces/paraver/communicators", test_communicators);
  g_test_add_func ("/traces/paraver/pcf", test_pcf);
  g_test_add_func ("/traces/paraver/application", test_application_with_messages);
  g_test_add_func ("/traces/paraver/other-threads", test_other_threads);
  g_test_add_func ("/traces/paraver/end-is-lost", test_end_is_lost);
  g_test_add_func ("/traces/paraver/cut", test_cut);
  g_test_add_func ("/traces/paraver/half-a-message", test_half_a_message);
  g_test_add_func ("/traces/paraver/gzip", test_gzip);
  g_test_add_func ("/traces/paraver/hash", test_hash);
  g_test_add_func ("/traces/paraver/profet", test_profet);
  return g_test_run ();
}
