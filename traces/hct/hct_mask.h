/* hct_mask.h - what a record of the native format has in it; private to the
 * files hct_record*.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A record is the number of its call, a mask, and the values that the mask
 * names; what the mask does not name is 0.  The bits that simple messages need
 * come first, so that their mask is two bytes. */
#pragma once

#include "traces/hct/hct_record.h"

enum {
  HAS_COMM = 1 << 0,
  HAS_PEER = 1 << 1,
  HAS_TAG = 1 << 2,
  HAS_BYTES = 1 << 3,
  HAS_REQUEST = 1 << 4,
  RELATIVE_PEERS = 1 << 5,    /* no value follows */
  RELATIVE_REQUESTS = 1 << 6, /* no value follows */
  HAS_REQUESTS = 1 << 7,
  MATCHED_ANY = 1 << 8,  /* matched_source is TRACE_ANY_SOURCE; no value follows */
  MATCHED_PEER = 1 << 9, /* matched_source is peer; no value follows */
  ROOT_NONE = 1 << 10,   /* root is TRACE_NO_ROOT; no value follows */
  HAS_SITE = 1 << 11,
  HAS_MODE = 1 << 12,
  HAS_RECV_BYTES = 1 << 13,
  HAS_RECV_PEER = 1 << 14,
  HAS_RECV_TAG = 1 << 15,
  HAS_ROOT = 1 << 16,
  NONBLOCKING = 1 << 17, /* no value follows */
  HAS_COUNTS = 1 << 18,
  HAS_RECV_COUNTS = 1 << 19,
  HAS_VALUES = 1 << 20,
  HAS_VALUES2 = 1 << 21,
  HAS_WINDOW = 1 << 22,
  HAS_NEW_COMM = 1 << 23,
  HAS_GROUP = 1 << 24,
  HAS_GROUP2 = 1 << 25,
  HAS_NEW_GROUP = 1 << 26,
  HAS_AFTER = 1 << 27,
  HAS_AFTER_START = 1 << 28,
  HAS_CPU = 1 << 29,
  ALL_BITS = (1 << 30) - 1,
};

#define ARRAYS                                                                          \
  (HAS_REQUESTS | HAS_COUNTS | HAS_RECV_COUNTS | HAS_VALUES | HAS_VALUES2 | HAS_AFTER | \
   HAS_AFTER_START)
#define RARE                                                                          \
  (HAS_MODE | HAS_RECV_BYTES | HAS_RECV_PEER | HAS_RECV_TAG | HAS_ROOT | HAS_WINDOW | \
   HAS_NEW_COMM | HAS_GROUP | HAS_GROUP2 | HAS_NEW_GROUP | HAS_CPU)

/* Which values of a kind are ranks that often lie at the same distance. */
enum { USES_PEER = 1, USES_RECV_PEER = 2, USES_VALUES = 4 };
static const guint8 hct_uses[TRACE_N_OPS] = {
  [TRACE_OP_SEND] = USES_PEER,
  [TRACE_OP_ISEND] = USES_PEER,
  [TRACE_OP_SEND_INIT] = USES_PEER,
  [TRACE_OP_RECV] = USES_PEER,
  [TRACE_OP_IRECV] = USES_PEER,
  [TRACE_OP_RECV_INIT] = USES_PEER,
  [TRACE_OP_SENDRECV] = USES_PEER | USES_RECV_PEER,
  [TRACE_OP_PROBE] = USES_PEER,
  [TRACE_OP_IPROBE] = USES_PEER,
  [TRACE_OP_NEIGHBOR_ALLGATHER] = USES_VALUES,
  [TRACE_OP_NEIGHBOR_ALLTOALL] = USES_VALUES,
  [TRACE_OP_PUT] = USES_PEER,
  [TRACE_OP_GET] = USES_PEER,
  [TRACE_OP_FETCH] = USES_PEER,
  [TRACE_OP_WIN_FLUSH] = USES_PEER,
  [TRACE_OP_WIN_POST] = USES_VALUES,
  [TRACE_OP_WIN_START] = USES_VALUES,
  [TRACE_OP_WIN_COMPLETE] = USES_VALUES,
  [TRACE_OP_WIN_WAIT] = USES_VALUES,
};
