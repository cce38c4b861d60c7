/* otf2_private.h - the parts of the OTF2 reader; private to traces/otf2/.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * otf2_archive.c reads the files through libotf2 into records; otf2_stream.c
 * completes the records of posts; otf2_events.c converts records into
 * operations, with otf2_collectives.c for the sizes of collectives;
 * otf2_losses.c substitutes receives that the archive lost. */
#pragma once

#include "traces/otf2/otf2_definitions.h"
#include "traces/trace.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* --- Records ---
 *
 * A record is one OTF2 event without libotf2, so that the conversion of events
 * can be tested, and fuzzed, without archives.  Names of events in comments are
 * those of the OTF2 documentation, "OTF2 Event records". */

typedef enum {
  OTF2_RECORD_ENTER,               /* id: region */
  OTF2_RECORD_LEAVE,               /* id: region */
  OTF2_RECORD_SEND,                /* MpiSend: id: communicator, peer, tag, bytes */
  OTF2_RECORD_ISEND,               /* MpiIsend: and request */
  OTF2_RECORD_ISEND_COMPLETE,      /* request */
  OTF2_RECORD_RECV,                /* MpiRecv: id, peer, tag, bytes */
  OTF2_RECORD_IRECV_POST,          /* MpiIrecvRequest: request, post */
  OTF2_RECORD_IRECV_COMPLETE,      /* MpiIrecv: id, peer, tag, bytes, request */
  OTF2_RECORD_TESTED,              /* MpiRequestTest: request, still under way */
  OTF2_RECORD_CANCELLED,           /* request */
  OTF2_RECORD_COLLECTIVE_BEGIN,    /* nothing */
  OTF2_RECORD_COLLECTIVE,          /* MpiCollectiveEnd: id, peer: root, op, bytes, recv_bytes */
  OTF2_RECORD_COLLECTIVE_POST,     /* NonBlockingCollectiveRequest: request, post */
  OTF2_RECORD_COLLECTIVE_COMPLETE, /* as COLLECTIVE, and request */
  OTF2_RECORD_MEASUREMENT,         /* switched on or off */
  OTF2_RECORD_FLUSH,               /* BufferFlush: request: when it ended, in ticks */
  OTF2_RECORD_RMA_COLLECTIVE,      /* id: window, op */
  OTF2_RECORD_RMA_PUT,             /* id: window, peer, bytes */
  OTF2_RECORD_RMA_GET,             /* id: window, peer, recv_bytes */
  OTF2_RECORD_RMA_ATOMIC,          /* id: window, peer, bytes, recv_bytes */
  OTF2_RECORD_RMA_FLUSH,           /* RmaOpCompleteBlocking: id: window */
  OTF2_RECORD_RMA_UNLOCK,          /* RmaReleaseLock: id: window, peer */
  OTF2_RECORD_RMA_GROUP_SYNC,      /* RmaGroupSync */
  OTF2_RECORD_RMA_WAIT,            /* RmaWaitChange */
  OTF2_RECORD_KINDS
} Otf2RecordKind;

/* State of a POST.  When it is DONE, its other fields are those of its
 * completion, which alone has the source, tag and size. */
typedef enum {
  OTF2_POST_OPEN,
  OTF2_POST_DONE,
  OTF2_POST_CANCELLED,
  OTF2_POST_LOST, /* the trace ends, or the request is used again, before it completes */
} Otf2PostState;

typedef struct {
  uint64_t ticks; /* of the clock of the archive */
  uint64_t request;
  uint64_t bytes, recv_bytes;
  uint32_t id;
  uint32_t peer; /* rank in the communicator */
  uint32_t tag;
  uint8_t kind; /* Otf2RecordKind */
  uint8_t post; /* Otf2PostState, of a POST */
  uint8_t op;   /* OTF2_CollectiveOp */
} Otf2Record;

/* A source of records. */
typedef struct Otf2Input Otf2Input;
struct Otf2Input {
  /* Appends some records (element-type Otf2Record), at least one unless the
   * input ends; *ended then.  FALSE and *error when it cannot be read. */
  gboolean (*pull) (Otf2Input *input, GArray *records, gboolean *ended, GError **error);
  /* A second input that goes on where this one is. */
  Otf2Input *(*fork) (Otf2Input *input);
  void (*free) (Otf2Input *input);
};

/* --- otf2_archive.c ---
 *
 * libotf2 reports errors to one function of the process, so that one lock is
 * held during all its calls.  It keeps a descriptor and a chunk (1 MiB as
 * Score-P writes) per open event file: the number of open files is limited over
 * all traces together, and the least recently used file is closed, to be opened
 * again at its position. */

/* The definitions of the archive with this anchor, and its writer (caller
 * frees).  Not yet finished. */
Otf2Definitions *otf2_archive_definitions (const char *anchor, char **creator, GError **error);

/* The paths of a location's events and, where there are any, of its own
 * definitions; caller frees. */
char *otf2_archive_events_path (const char *anchor, uint64_t location);
char *otf2_archive_definitions_path (const char *anchor, uint64_t location);
char *otf2_archive_global_path (const char *anchor);

/* FALSE and *error when a file of events or definitions is missing or has no
 * end.  libotf2 itself may read on in stale memory. */
gboolean otf2_archive_check_file (const char *path, GError **error);

/* The same for an anchor, and for a number of properties that would keep
 * libotf2 busy for minutes. */
gboolean otf2_archive_check_anchor (const char *path, GError **error);

/* The events of one location, from its first.  anchor: borrowed. */
Otf2Input *otf2_archive_input (const char *anchor, uint64_t location);

/* --- otf2_stream.c: one rank's records in order, each post with its completion --- */

typedef struct Otf2Stream Otf2Stream;

/* Takes the input.  The stream keeps at most about `limit` records in memory;
 * 0: the default. */
Otf2Stream *otf2_stream_new (Otf2Input *input, guint limit);
void otf2_stream_free (Otf2Stream *stream);

/* The next record; no POST is OTF2_POST_OPEN. */
TraceNext otf2_stream_next (Otf2Stream *stream, Otf2Record *record, GError **error);

/* --- otf2_collectives.c --- */

/* OTF2 leaves the meaning of sizes to the writer. */
typedef enum {
  OTF2_SIZES_PLAIN,  /* EZTrace: the arguments of the call, in bytes */
  OTF2_SIZES_SCOREP, /* Score-P: totals to, and from, all ranks */
} Otf2Sizes;

/* Fills kind, sizes and root of *op from a COLLECTIVE record or a completed
 * COLLECTIVE_POST; `me` is the rank's number among the n of the communicator.
 * The caller frees op->counts and op->recv_counts.  False when the root is no
 * rank of the communicator; *guessed is set when only a total was known. */
bool otf2_collectives_fill (const Otf2Record *record, Otf2Sizes sizes, uint32_t me, uint32_t n,
                            TraceOp *op, bool *guessed);

/* --- otf2_losses.c ---
 *
 * EZTrace records the completion of a request only in MPI_Wait with a status,
 * and nothing of MPI_Sendrecv.  A receive that was posted but never seen to
 * complete has no source, tag or size. */

typedef struct {
  uint64_t receives;    /* posted nonblocking */
  uint64_t lost;        /* of those, without source and size */
  uint64_t sendrecvs;   /* calls without a record */
  uint64_t collectives; /* begun, of unknown kind */
  uint64_t guessed;     /* lost receives with a send found for them */
  uint64_t unmatched;   /* sends without a receive, lost or not */
} Otf2LossCounts;

typedef struct Otf2Losses Otf2Losses;

/* definitions: borrowed. */
Otf2Losses *otf2_losses_new (const Otf2Definitions *definitions);
void otf2_losses_free (Otf2Losses *losses);

/* Reads all records of a rank; takes the input. */
gboolean otf2_losses_scan (Otf2Losses *losses, uint32_t rank, Otf2Input *input, GError **error);
/* After all ranks: assigns unreceived sends to the lost receives. */
void otf2_losses_match (Otf2Losses *losses);

const Otf2LossCounts *otf2_losses_counts (const Otf2Losses *losses);
/* Completes the rank's lost receive number `index`, in the order of posts;
 * false when no send is left for it. */
bool otf2_losses_guess (const Otf2Losses *losses, uint32_t rank, uint64_t index, Otf2Record *post);

/* --- otf2_events.c: one rank's records into operations --- */

/* Settings of one reading of an archive, shared by all ranks. */
typedef struct {
  Trace *trace; /* for warnings */
  const Otf2Definitions *definitions;
  Otf2Sizes sizes;
  const char *from_region; /* interned; or NULL */
  gboolean allow_lossy;
  const Otf2Losses *losses; /* substitutes for lost receives; or NULL */
} Otf2Reading;

typedef struct Otf2Events Otf2Events;

/* reading: borrowed. */
Otf2Events *otf2_events_new (const Otf2Reading *reading, uint32_t rank);
void otf2_events_free (Otf2Events *events);

/* Converts a record.  All its operations must be taken before the next record is
 * added; posts must not be OTF2_POST_OPEN. */
gboolean otf2_events_add (Otf2Events *events, const Otf2Record *record, GError **error);
/* Ends the trace; its last operations are taken as after otf2_events_add(). */
gboolean otf2_events_end (Otf2Events *events, GError **error);
/* FALSE when none is left.  Arrays of *op live until the next otf2_events_add(). */
gboolean otf2_events_take (Otf2Events *events, TraceOp *op);
