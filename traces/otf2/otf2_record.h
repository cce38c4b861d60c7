/* otf2_record.h - the events of one location that a replay looks at; private to traces/.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A record is one OTF2 event with libotf2 left out, so that what is made of
 * events can be tested, and fuzzed, without archives.  Names of events in
 * comments are those of the OTF2 documentation, "OTF2 Event records". */
#pragma once

#include <glib.h>
#include <stdint.h>

/* "There is none" in 32-bit fields: roots, regions. */
#define OTF2_RECORD_NONE UINT32_MAX

typedef enum {
  OTF2_RECORD_ENTER,               /* id: region */
  OTF2_RECORD_LEAVE,               /* id: region */
  OTF2_RECORD_SEND,                /* MpiSend: id: communicator, peer, tag, bytes */
  OTF2_RECORD_ISEND,               /* MpiIsend: and request */
  OTF2_RECORD_ISEND_COMPLETE,      /* request */
  OTF2_RECORD_RECV,                /* MpiRecv: id, peer, tag, bytes */
  OTF2_RECORD_IRECV_POST,          /* MpiIrecvRequest: request; see Otf2Fate */
  OTF2_RECORD_IRECV_COMPLETE,      /* MpiIrecv: id, peer, tag, bytes, request */
  OTF2_RECORD_TESTED,              /* MpiRequestTest: request, still under way */
  OTF2_RECORD_CANCELLED,           /* request */
  OTF2_RECORD_COLLECTIVE_BEGIN,    /* nothing */
  OTF2_RECORD_COLLECTIVE,          /* MpiCollectiveEnd: id, peer: root, op, bytes, recv_bytes */
  OTF2_RECORD_COLLECTIVE_POST,     /* NonBlockingCollectiveRequest: request; see Otf2Fate */
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

/* What became of a POST.  When it is DONE, its other fields are those of its
 * completion: only then the archive says what was received. */
typedef enum {
  OTF2_FATE_OPEN,
  OTF2_FATE_DONE,
  OTF2_FATE_CANCELLED,
  OTF2_FATE_LOST, /* the trace ends, or the request is used again, before it completes */
} Otf2Fate;

typedef struct {
  uint64_t ticks; /* of the clock of the archive */
  uint64_t request;
  uint64_t bytes, recv_bytes;
  uint32_t id;
  uint32_t peer; /* rank in the communicator */
  uint32_t tag;
  uint8_t kind; /* Otf2RecordKind */
  uint8_t fate; /* Otf2Fate, of a POST */
  uint8_t op;   /* OTF2_CollectiveOp */
} Otf2Record;

/* Where records come from. */
typedef struct Otf2Input Otf2Input;
struct Otf2Input {
  /* Appends some records (element-type Otf2Record), at least one unless the
   * input ends; *ended then.  FALSE and *error when it cannot be read. */
  gboolean (*pull) (Otf2Input *input, GArray *records, gboolean *ended, GError **error);
  /* A second input that goes on where this one is. */
  Otf2Input *(*fork) (Otf2Input *input);
  void (*free) (Otf2Input *input);
};
