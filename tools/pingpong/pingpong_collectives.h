/* pingpong_collectives.h - the collectives that hopcast-pingpong can measure.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>
#include <stdint.h>

typedef enum {
  CLI_PINGPONG_BARRIER,
  CLI_PINGPONG_BCAST,
  CLI_PINGPONG_GATHER,
  CLI_PINGPONG_SCATTER,
  CLI_PINGPONG_ALLGATHER,
  CLI_PINGPONG_ALLTOALL,
  CLI_PINGPONG_REDUCE,
  CLI_PINGPONG_ALLREDUCE,
  CLI_PINGPONG_COLLECTIVES
} CliPingpongCollective;

/* Lower-case names, as traces have them; NULL at the end. */
extern const char *const cli_pingpong_collectives[];

/* How much memory a rank needs for what it sends, or receives, whichever is more, when the
 * operation has so many bytes: once or for each rank. */
uint64_t
cli_pingpong_buffer_bytes (CliPingpongCollective collective, uint64_t bytes, uint32_t n_ranks);
