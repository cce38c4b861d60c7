/* recording.h - the files that the recorder writes, one per rank.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the recorder, which runs inside of foreign programs and has no
 * GLib, and the reader.
 *
 *   file     magic, then blocks; the first holds the header, others operations
 *   block    head (RECORDING_HEAD_BYTES): five 32-bit little-endian numbers -
 *            bytes of the payload, bytes of the sources, operations in it,
 *            CRC-32 of these three numbers, the payload and the sources,
 *            and RECORDING_BLOCK, by which a block is recognized;
 *            then the payload, then the sources
 *   header   lines "key=value", UTF-8
 *   payload  entries: a byte RECORDING_STRING, length, text: names the next
 *            string; or a byte with the kind (an index into
 *            recording_kinds[]), a mask of the fields that are there, and
 *            these fields in the order of their bits
 *   sources  pairs: how many wildcard receives after the one of the pair
 *            before, and the source that it turned out to have received from.
 *            Receives are counted in the order in which they were posted,
 *            from the first of the file.  They stand apart since a receive
 *            may end when its own block is already written.
 *
 * Numbers are in groups of seven bits, the lowest first, the eighth bit set
 * in all but the last; signed ones are zigzag-coded before.  Lists are a
 * count and its numbers.  An absent field has the value in the table below. */
#pragma once

#include "mpi/operation.h"

#define RECORDING_MAGIC      "hopcast\x01"
#define RECORDING_MAGIC_SIZE 8
#define RECORDING_VERSION    1
#define RECORDING_BLOCK      0x6b6c6268u /* "hblk" */
#define RECORDING_HEAD_BYTES 20
/* No block is larger unless one operation is. */
#define RECORDING_FULL_BYTES (1u << 20)
#define RECORDING_STRING     255
/* Name of the file of a rank in the folder of a recording. */
#define RECORDING_FILE "rank-%u.rec"
/* A process whose rank was recorded already leaves a file of this name (host and process id) with the
 * lines of its header and two more, launcher=NAME and launched=N, when a launcher announced to the
 * process that it started N. */
#define RECORDING_REFUSED        "refused-%s-%ld.txt"
#define RECORDING_REFUSED_PREFIX "refused-"

/* The environment of the recorder. */
#define RECORDING_FOLDER_VARIABLE   "HOPCAST_RECORD_FOLDER"
#define RECORDING_COUNTERS_VARIABLE "HOPCAST_RECORD_COUNTERS" /* "off": do not count */

/* Kinds by their number in files.  New ones are added at the end. */
static const uint8_t recording_kinds[] = {
  TRACE_OP_CALL,
  TRACE_OP_INIT,
  TRACE_OP_FINALIZE,
  TRACE_OP_SEND,
  TRACE_OP_ISEND,
  TRACE_OP_SEND_INIT,
  TRACE_OP_RECV,
  TRACE_OP_IRECV,
  TRACE_OP_RECV_INIT,
  TRACE_OP_SENDRECV,
  TRACE_OP_START,
  TRACE_OP_PROBE,
  TRACE_OP_IPROBE,
  TRACE_OP_CANCEL,
  TRACE_OP_REQUEST_FREE,
  TRACE_OP_WAIT,
  TRACE_OP_WAIT_SOME,
  TRACE_OP_TEST,
  TRACE_OP_BARRIER,
  TRACE_OP_BCAST,
  TRACE_OP_GATHER,
  TRACE_OP_GATHERV,
  TRACE_OP_SCATTER,
  TRACE_OP_SCATTERV,
  TRACE_OP_ALLGATHER,
  TRACE_OP_ALLGATHERV,
  TRACE_OP_ALLTOALL,
  TRACE_OP_ALLTOALLV,
  TRACE_OP_REDUCE,
  TRACE_OP_ALLREDUCE,
  TRACE_OP_REDUCE_SCATTER,
  TRACE_OP_SCAN,
  TRACE_OP_EXSCAN,
  TRACE_OP_NEIGHBOR_ALLGATHER,
  TRACE_OP_NEIGHBOR_ALLTOALL,
  TRACE_OP_WIN_CREATE,
  TRACE_OP_WIN_FREE,
  TRACE_OP_WIN_FENCE,
  TRACE_OP_PUT,
  TRACE_OP_GET,
  TRACE_OP_FETCH,
  TRACE_OP_WIN_FLUSH,
  TRACE_OP_WIN_POST,
  TRACE_OP_WIN_START,
  TRACE_OP_WIN_COMPLETE,
  TRACE_OP_WIN_WAIT,
  TRACE_OP_COMM_DUP,
  TRACE_OP_COMM_SPLIT,
  TRACE_OP_COMM_FREE,
  TRACE_OP_COMM_DEFINE,
  TRACE_OP_UNSUPPORTED,
};

/* Fields by their bit, the frequent ones first so that masks are short.
 * U (bit, member, value when absent): unsigned; S: signed.  Times are in
 * nanoseconds; name and site are numbers of strings, from 1. */
typedef enum {
  RECORDING_GAP = 1u << 0,  /* unsigned: computed before the call */
  RECORDING_TIME = 1u << 1, /* unsigned: in the call */
  RECORDING_NAME = 1u << 2, /* unsigned */
  RECORDING_SITE = 1u << 3, /* unsigned */
  /* 4 to 19: the table below */
  RECORDING_REQUESTS = 1u << 20,
  RECORDING_COMPLETED = 1u << 21,
  RECORDING_COUNTS = 1u << 22,
  RECORDING_RECV_COUNTS = 1u << 23,
  RECORDING_VALUES = 1u << 24,      /* signed */
  RECORDING_VALUES2 = 1u << 25,     /* signed */
  RECORDING_COUNTERS = 1u << 26,    /* instructions and cycles, both unsigned */
  RECORDING_NONBLOCKING = 1u << 27, /* nothing follows */
  RECORDING_WILDCARD = 1u << 28,    /* nothing follows; counted for the sources */
  RECORDING_ALL_FIELDS = (1u << 29) - 1,
} RecordingField;

#define RECORDING_NUMBERS(U, S)            \
  S (4, peer, 0)                           \
  S (5, tag, 0)                            \
  U (6, bytes, 0)                          \
  U (7, request, 0)                        \
  U (8, comm, TRACE_COMM_WORLD)            \
  S (9, root, TRACE_NO_ROOT)               \
  U (10, recv_bytes, 0)                    \
  S (11, recv_peer, 0)                     \
  S (12, recv_tag, 0)                      \
  S (13, matched_source, TRACE_ANY_SOURCE) \
  U (14, window, 0)                        \
  U (15, new_comm, 0)                      \
  S (16, color, 0)                         \
  S (17, key, 0)                           \
  U (18, mode, TRACE_SEND_STANDARD)
