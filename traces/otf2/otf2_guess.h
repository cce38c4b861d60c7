/* otf2_guess.h - which of the messages to a rank each of its lost receives got; private to traces/.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct {
  uint32_t source; /* world rank */
  uint32_t phase;
  uint32_t turn, n_turns; /* among all sends of its source in its phase */
  uint32_t comm, peer, tag;
  bool taken; /* by a receive that is recorded, or by a lost one */
  uint64_t bytes;
} Otf2Message;

typedef enum {
  OTF2_ACT_SEND,    /* destination, message */
  OTF2_ACT_PENDING, /* a nonblocking send that no recorded wait completes */
  OTF2_ACT_POST,    /* a lost receive */
  OTF2_ACT_WAIT,    /* of which it is not known for what */
  OTF2_ACT_WAITALL, /* the same */
  OTF2_ACT_NOTHING,
} Otf2ActKind;

/* What a rank does, as far as it matters here. */
typedef struct {
  Otf2ActKind kind;
  uint32_t destination;
  uint32_t message; /* index into the messages of the destination */
} Otf2Act;

/* acts (element-type Otf2Act) and messages (element-type Otf2Message) of each
 * rank.  Returns for each rank the indices of its messages
 * (element-type uint32_t) in the order of its lost receives; there may be
 * fewer, or, which are of no use, more. */
GArray **otf2_guess (GArray *const *acts, GArray *const *messages, uint32_t n_ranks);
