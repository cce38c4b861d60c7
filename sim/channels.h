/* channels.h - do the sends and receives of a trace add up?  Private to sim/.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A channel is (communicator, source, destination, tag).  Sends and receives
 * of a channel are only counted, so memory grows with the channels and not
 * with the messages.  Receives with wildcards take what the others leave. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct {
  uint32_t comm;        /* global number */
  uint32_t source;      /* world rank; TOPO_NONE in a receive: any */
  uint32_t destination; /* world rank */
  int32_t tag;          /* TRACE_ANY_TAG in a receive: any */
} SimChannel;

typedef struct SimChannels SimChannels;

SimChannels *sim_channels_new (void);
void sim_channels_free (SimChannels *channels);

void sim_channels_send (SimChannels *channels, SimChannel channel);
void sim_channels_receive (SimChannels *channels, SimChannel channel);
/* A receive counted before was cancelled: it may stay without a message. */
void sim_channels_cancel (SimChannels *channels, SimChannel channel);

/* What is left over when all have been counted. */
void sim_channels_unmatched (const SimChannels *channels, uint64_t *sends, uint64_t *receives);
