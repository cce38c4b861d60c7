/* dumpi_format.h - the parts of the DUMPI reader among themselves; private.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A DUMPI file is a list of records, one per MPI call, all numbers
 * big-endian, followed by a header, a footer with call counts, a table of
 * datatype sizes and an index of these parts.
 *
 *   dumpi_record.c   one rank's file: its parts, and bytes -> DumpiRecord
 *   dumpi_ops.c      DumpiRecord -> TraceOp
 *   dumpi.c          the file set, cursors */
#pragma once

#include "traces/format.h"

enum {
  DUMPI_N_COUNTS = 291, /* ids that the footer counts */
  DUMPI_FUNCTION_ENTER = 291,
  DUMPI_FUNCTION_EXIT = 292,
  DUMPI_N_IDS = 293,
  DUMPI_END = 293 /* the end mark stands where an id would */
};

/* The ids that the reader itself must tell apart. */
enum {
  DUMPI_ID_WAIT = 13,
  DUMPI_ID_TEST = 14,
  DUMPI_ID_WAITANY = 16,
  DUMPI_ID_TESTANY = 17,
  DUMPI_ID_WAITALL = 18,
  DUMPI_ID_TESTALL = 19,
  DUMPI_ID_WAITSOME = 20,
  DUMPI_ID_TESTSOME = 21,
  DUMPI_ID_SENDRECV_REPLACE = 34,
  DUMPI_ID_TYPE_CONTIGUOUS = 35,
  DUMPI_ID_TYPE_VECTOR = 36,
  DUMPI_ID_TYPE_HVECTOR = 37,
  DUMPI_ID_TYPE_INDEXED = 38,
  DUMPI_ID_TYPE_HINDEXED = 39,
  DUMPI_ID_TYPE_STRUCT = 40,
  DUMPI_ID_WIN_GET_GROUP = 148,
  DUMPI_ID_WIN_TEST = 152,
  DUMPI_ID_ALLTOALLW = 155,
  DUMPI_ID_TYPE_DUP = 178,
  DUMPI_ID_TYPE_CREATE_DARRAY = 217,
  DUMPI_ID_TYPE_CREATE_HINDEXED = 218,
  DUMPI_ID_TYPE_CREATE_HVECTOR = 219,
  DUMPI_ID_TYPE_CREATE_INDEXED_BLOCK = 220,
  DUMPI_ID_TYPE_CREATE_RESIZED = 221,
  DUMPI_ID_TYPE_CREATE_STRUCT = 222,
  DUMPI_ID_TYPE_CREATE_SUBARRAY = 223
};

#define DUMPI_VERSION(major, minor, patch) ((major) << 16 | (minor) << 8 | (patch))

typedef struct {
  const char *name; /* NULL: an id without records */
  const char *layout;
  TraceOpKind kind;
  TraceSendMode mode;
} DumpiCall;

extern const DumpiCall dumpi_calls[DUMPI_N_IDS];

/* One rank's file.  Offsets are absolute; 0 = the part is absent. */
typedef struct {
  char *name; /* without its folder, for messages */
  GBytes *bytes;
  const guint8 *data;
  gsize size;
  gboolean salvage; /* no index: read until it makes no sense */
  uint32_t version; /* DUMPI_VERSION of the writer */
  gsize body, body_end;
  gsize footer, sizes;
} DumpiFile;

/* The handle that a request was recorded as: 8 bits counted before 0.6.7. */
static inline uint32_t
dumpi_request (const DumpiFile *file, int32_t recorded)
{
  return (uint32_t) recorded & (file->version < DUMPI_VERSION (0, 6, 7) ? 0xffu : UINT32_MAX);
}

DumpiFile *dumpi_file_open (const char *path, GError **error);
void dumpi_file_close (DumpiFile *file);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DumpiFile, dumpi_file_close)

/* From the footer: calls of `id` that were made, and those of them that have
 * no record.  FALSE when there is no footer. */
gboolean dumpi_file_counts (const DumpiFile *file, uint32_t id, uint64_t *made, uint64_t *ignored);

/* Reads numbers up to `end`; beyond it everything is 0 and `failed` is set. */
typedef struct {
  const guint8 *data;
  gsize at, end;
  gboolean failed;
} DumpiReader;

int32_t dumpi_read_i4 (DumpiReader *reader);

/* The arguments that mean something, by role. */
typedef enum {
  DUMPI_COUNT,
  DUMPI_TYPE,
  DUMPI_PEER,
  DUMPI_TAG,
  DUMPI_COMM,
  DUMPI_REQUEST,
  DUMPI_ROOT,
  DUMPI_RANK, /* mine in the communicator */
  DUMPI_RECV_COUNT,
  DUMPI_RECV_TYPE,
  DUMPI_RECV_PEER,
  DUMPI_RECV_TAG,
  DUMPI_NEW_COMM,
  DUMPI_GROUP,
  DUMPI_GROUP2,
  DUMPI_NEW_GROUP,
  DUMPI_WINDOW,
  DUMPI_FLAG,
  DUMPI_INDEX, /* or how many indices */
  DUMPI_COLOR,
  DUMPI_KEY,
  DUMPI_BLOCK_LENGTH,
  DUMPI_NEW_TYPE,
  DUMPI_N_SCALARS
} DumpiScalar;

typedef enum {
  DUMPI_REQUESTS,
  DUMPI_INDICES,
  DUMPI_VALUES,
  DUMPI_VALUES2,
  DUMPI_COUNTS,
  DUMPI_RECV_COUNTS,
  DUMPI_TYPES,
  DUMPI_RECV_TYPES,
  DUMPI_N_ARRAYS
} DumpiArray;

typedef struct {
  int32_t source;
  gboolean cancelled;
} DumpiStatus;

/* Seconds are kept as they stand in the file: 16 bits that wrap. */
typedef struct {
  uint16_t seconds;
  uint32_t ns;
} DumpiTime;

typedef struct {
  gsize at; /* offset in the file */
  uint16_t id;
  gboolean timed; /* start and stop are there */
  gboolean wall;  /* they are wall-clock times, not processor times */
  DumpiTime start, stop;
  int32_t scalar[DUMPI_N_SCALARS];
  GArray *array[DUMPI_N_ARRAYS]; /* (element-type int32_t) */
  GArray *statuses;              /* (element-type DumpiStatus) */
} DumpiRecord;

void dumpi_record_init (DumpiRecord *record);
void dumpi_record_clear (DumpiRecord *record);

/* Reads the record at *at and moves *at behind it.  At the end of the body
 * (end mark, or header reached) TRACE_NEXT_END.  finalized: MPI_Finalize was
 * read before, after which very old files end with a zero id. */
TraceNext dumpi_record_next (const DumpiFile *file, gsize *at, gboolean finalized,
                             DumpiRecord *record, GError **error);

static inline int32_t
dumpi_array_at (const DumpiRecord *record, DumpiArray array, guint element)
{
  return g_array_index (record->array[array], int32_t, element);
}

/* Appends the indices into requests[] that a completion call saw complete. */
void dumpi_record_completed (const DumpiRecord *record, GArray *completed);
/* The status of the completed request at position `nth` of that list, or NULL. */
const DumpiStatus *dumpi_record_status (const DumpiRecord *record, guint nth, uint32_t index);

/* Turns records into operations; its arrays live until the next record. */
typedef struct DumpiOps DumpiOps;

DumpiOps *dumpi_ops_new (Trace *trace, const DumpiFile *file, uint32_t n_ranks);
void dumpi_ops_free (DumpiOps *ops);
gboolean dumpi_ops_convert (DumpiOps *ops, const DumpiRecord *record, TraceOp *op, GError **error);
