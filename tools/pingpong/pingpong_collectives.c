/* pingpong_collectives.c - the collectives that hopcast-pingpong can measure.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/pingpong/pingpong_collectives.h"

const char *const cli_pingpong_collectives[] = { "barrier", "bcast",     "gather",
                                                 "scatter", "allgather", "alltoall",
                                                 "reduce",  "allreduce", NULL };

G_STATIC_ASSERT (G_N_ELEMENTS (cli_pingpong_collectives) == CLI_PINGPONG_COLLECTIVES + 1);

uint64_t
cli_pingpong_buffer_bytes (CliPingpongCollective collective, uint64_t bytes, uint32_t n_ranks)
{
  switch (collective) {
  case CLI_PINGPONG_BARRIER:
  case CLI_PINGPONG_BCAST:
  case CLI_PINGPONG_REDUCE:
  case CLI_PINGPONG_ALLREDUCE:
  case CLI_PINGPONG_COLLECTIVES: return bytes;
  case CLI_PINGPONG_GATHER:
  case CLI_PINGPONG_SCATTER:
  case CLI_PINGPONG_ALLGATHER:
  case CLI_PINGPONG_ALLTOALL: return bytes * n_ranks;
  }
  g_assert_not_reached ();
}
