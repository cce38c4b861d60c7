/* pingpong_ranks.h - the processes of an MPI job do what the first of them says.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Rank 0 knows what is to be measured and sends orders; who has none sleeps between two looks
 * for one, so that its core and its memory are left alone while others measure.
 *
 * Of a class of placements, noise begins first: each pair of noise reports to the observed pair
 * when its messages go to and fro, and only then does that one begin to count.  Noise ends
 * when the observed pair has all it needs, and rank 0 waits until everybody has stopped. */
#pragma once

#include "tools/pingpong/pingpong_plan.h"
#include "tools/pingpong/pingpong_samples.h"
#include "tools/pingpong/pingpong_seats.h"

/* What an operation may take of a rank's memory for what it sends, and as much again for what
 * it receives. */
#define CLI_PINGPONG_MAX_BYTES (UINT64_C (1) << 28)

typedef struct {
  double seconds; /* how long at most one class and size is measured (but see precision) */
  double
      precision; /* measured until cli_pingpong_median()'s width is this; a few samples at least */
} CliPingpongEffort;

/* Begins MPI; *n_ranks processes, of which this is the one returned. */
uint32_t cli_pingpong_begin (int *argc, char ***argv, uint32_t *n_ranks);

/* What all ranks but 0 do: returns the exit status of rank 0 when it has ended. */
int cli_pingpong_serve (void);

/* The rest is rank 0's.  Ends everybody. */
void cli_pingpong_end (int status);

/* Every process, [n_ranks]; the caller frees them. */
CliPingpongProcess *cli_pingpong_find_processes (void);

/* Lets each rank run on processor cpu[rank] alone.  FALSE when one cannot. */
gboolean cli_pingpong_bind (const uint32_t cpu[]);

/* Half a round trip of the observed pair, in microseconds. */
CliPingpongMedian
cli_pingpong_measure (const CliPingpongClass *class, uint64_t bytes, CliPingpongEffort effort);

/* A collective of all ranks, in microseconds: each call behind a barrier, its time that of the
 * slowest rank.  `bytes` as traces count them (mpi/operation.c); no rank
 * may need buffers of more than CLI_PINGPONG_MAX_BYTES. */
CliPingpongMedian
cli_pingpong_measure_collective (guint collective, uint64_t bytes, CliPingpongEffort effort);
