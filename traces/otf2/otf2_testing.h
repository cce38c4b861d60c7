/* otf2_testing.h - OTF2 archives that tests write, through libotf2's own writer.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every archive has the same regions and communicators; a test gives the
 * events of each rank as records. */
#pragma once

#include "traces/otf2/otf2_private.h"
#include "traces/trace_testing.h"

/* Regions, by number. */
enum {
  AT_MAIN,
  AT_SOLVE,
  AT_IO,
  AT_INIT,
  AT_FINALIZE,
  AT_SEND,
  AT_SSEND,
  AT_RECV,
  AT_ISEND,
  AT_IRECV,
  AT_WAIT,
  AT_WAITALL,
  AT_WAITANY,
  AT_TEST,
  AT_SENDRECV,
  AT_STARTALL,
  AT_COLLECTIVE, /* MPI_Allreduce, whatever is in it */
  AT_IALLREDUCE,
  AT_COMM_SPLIT,
  AT_WIN, /* MPI_Win_fence */
  AT_PUT,
  AT_WIN_FLUSH,
  N_AT
};

/* Communicators, by number; of 4 ranks: */
enum {
  ON_WORLD,
  ON_SELF,
  ON_EVEN,  /* ranks 2, 0, in that order; window 1 */
  ON_DUP,   /* of all ranks */
  ON_INTER, /* an intercommunicator */
  ON_EMPTY, /* of no rank */
  N_ON
};

/* Ticks, then the fields of the kind. */
#define ENTER(t, region)                                    \
  {                                                         \
    .ticks = (t), .kind = OTF2_RECORD_ENTER, .id = (region) \
  }
#define LEAVE(t, region)                                    \
  {                                                         \
    .ticks = (t), .kind = OTF2_RECORD_LEAVE, .id = (region) \
  }
#define SEND(t, comm_, to, tag_, n)                                                     \
  {                                                                                     \
    .ticks = (t), .kind = OTF2_RECORD_SEND, .id = (comm_), .peer = (to), .tag = (tag_), \
    .bytes = (n)                                                                        \
  }
#define ISEND(t, comm_, to, tag_, n, r)                                                  \
  {                                                                                      \
    .ticks = (t), .kind = OTF2_RECORD_ISEND, .id = (comm_), .peer = (to), .tag = (tag_), \
    .bytes = (n), .request = (r)                                                         \
  }
#define SENT(t, r)                                                   \
  {                                                                  \
    .ticks = (t), .kind = OTF2_RECORD_ISEND_COMPLETE, .request = (r) \
  }
#define RECV(t, comm_, from, tag_, n)                                                     \
  {                                                                                       \
    .ticks = (t), .kind = OTF2_RECORD_RECV, .id = (comm_), .peer = (from), .tag = (tag_), \
    .bytes = (n)                                                                          \
  }
#define POST(t, r)                                               \
  {                                                              \
    .ticks = (t), .kind = OTF2_RECORD_IRECV_POST, .request = (r) \
  }
#define GOT(t, comm_, from, tag_, n, r)                                              \
  {                                                                                  \
    .ticks = (t), .kind = OTF2_RECORD_IRECV_COMPLETE, .id = (comm_), .peer = (from), \
    .tag = (tag_), .bytes = (n), .request = (r)                                      \
  }
#define TESTED(t, r)                                         \
  {                                                          \
    .ticks = (t), .kind = OTF2_RECORD_TESTED, .request = (r) \
  }
#define CANCELLED(t, r)                                         \
  {                                                             \
    .ticks = (t), .kind = OTF2_RECORD_CANCELLED, .request = (r) \
  }
#define BEGUN(t)                                       \
  {                                                    \
    .ticks = (t), .kind = OTF2_RECORD_COLLECTIVE_BEGIN \
  }
#define COLLECTIVE(t, op_, comm_, root_, sent_, received_)                                     \
  {                                                                                            \
    .ticks = (t), .kind = OTF2_RECORD_COLLECTIVE, .op = (op_), .id = (comm_), .peer = (root_), \
    .bytes = (sent_), .recv_bytes = (received_)                                                \
  }
#define ASKED(t, r)                                                   \
  {                                                                   \
    .ticks = (t), .kind = OTF2_RECORD_COLLECTIVE_POST, .request = (r) \
  }
#define DONE(t, op_, comm_, root_, sent_, received_, r)                                \
  {                                                                                    \
    .ticks = (t), .kind = OTF2_RECORD_COLLECTIVE_COMPLETE, .op = (op_), .id = (comm_), \
    .peer = (root_), .bytes = (sent_), .recv_bytes = (received_), .request = (r)       \
  }
#define MEASURED(t)                               \
  {                                               \
    .ticks = (t), .kind = OTF2_RECORD_MEASUREMENT \
  }
#define FLUSHED(t, stop)                                       \
  {                                                            \
    .ticks = (t), .kind = OTF2_RECORD_FLUSH, .request = (stop) \
  }

#define OTF2_TESTING_RANKS 4
#define SCOREP             "Score-P 8.0" /* a creator */

typedef struct {
  const char *creator; /* NULL: none, as EZTrace */
  uint64_t ticks_per_s;
  gboolean no_mpi;
  uint32_t n_ranks; /* 0: OTF2_TESTING_RANKS, of which these have events */
  const Otf2Record *records[OTF2_TESTING_RANKS];
  guint n_records[OTF2_TESTING_RANKS];
  TraceOptions options; /* for opening it */
} Otf2Testing;

#define RANK(rank, records_) .records[rank] = (records_), .n_records[rank] = G_N_ELEMENTS (records_)

/* Writes it to the folder; the path of the anchor, caller frees. */
char *otf2_testing_write (const char *folder, const Otf2Testing *testing);
/* Of a rank; in no simple relation. */
uint64_t otf2_testing_location (uint32_t rank);

/* Writes an archive to a folder of its own, and opens the stream of a rank. */
void otf2_testing_open (TraceTestingStream *stream, const Otf2Testing *testing, uint32_t rank);
/* There must be no more operations. */
void otf2_testing_close (TraceTestingStream *stream);

/* The archive, or a stream of it, must fail with this in its message. */
void otf2_testing_bad (const Otf2Testing *testing, TraceError code, const char *part);
