/* pingpong_pair.c - messages to and fro: the observed ones and the noise.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * What a process sends it has just received, into the same buffer: its core has written it, as
 * that of a program has when it sends what it has computed.  Of data that nobody writes any more
 * the receiver's cache keeps a copy, and messages inside a node seem up to three times as fast
 * (doc/handbook/aggregation-models.md). */
#include "config.h"

#include "tools/pingpong/pingpong_roles.h"

#include <mpi.h>

#define WARM_UP_ROUNDS 3
#define WARM_UP_SHARE  0.05 /* of the time of the measurement */
/* A sample is several round trips while these are shorter than the clock is good for. */
#define SAMPLE_US     10.0
#define SAMPLE_ROUNDS 64
#define LEAST_SAMPLES 6
#define SURE_SAMPLES  20 /* before the width of the interval may end it */

/* With one partner. */
typedef struct {
  char *buffer;
  int n_bytes, partner;
} Line;

static Line
line_new (const PingpongOrder *order)
{
  Line line = { .n_bytes = (int) order->bytes, .partner = order->partner };
  char *second;

  pingpong_buffers ((gsize) order->bytes, &line.buffer, &second);
  return line;
}

static void
signal_to (int rank, int tag)
{
  MPI_Send (NULL, 0, MPI_BYTE, rank, tag, MPI_COMM_WORLD);
}

static void
round_trip (const Line *line)
{
  MPI_Send (line->buffer, line->n_bytes, MPI_BYTE, line->partner, PINGPONG_TAG_MESSAGE,
            MPI_COMM_WORLD);
  MPI_Recv (line->buffer, line->n_bytes, MPI_BYTE, line->partner, PINGPONG_TAG_MESSAGE,
            MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* What one takes, of n in a row. */
static double
round_trips_us (const Line *line, guint n)
{
  double start_us = pingpong_now_us ();

  for (guint i = 0; i < n; i++)
    round_trip (line);
  return (pingpong_now_us () - start_us) / n;
}

/* The ranks that begin the pairs of noise; the caller frees them. */
static int *
await_noise (int n_noise)
{
  int *ranks = g_new (int, n_noise);

  for (int i = 0; i < n_noise; i++) {
    MPI_Status status;

    MPI_Recv (NULL, 0, MPI_BYTE, MPI_ANY_SOURCE, PINGPONG_TAG_RUNNING, MPI_COMM_WORLD, &status);
    ranks[i] = status.MPI_SOURCE;
  }
  return ranks;
}

/* Returns the shortest round trip. */
static double
warm_up_us (const Line *line, double least_us)
{
  double start_us = pingpong_now_us (), shortest_us = G_MAXDOUBLE;

  for (guint n = 0; n < WARM_UP_ROUNDS || pingpong_now_us () - start_us < least_us; n++)
    shortest_us = MIN (shortest_us, round_trips_us (line, 1));
  return shortest_us;
}

static CliPingpongMedian
sample (const Line *line, guint n_rounds, CliPingpongEffort effort)
{
  g_autoptr (GArray) halves_us = g_array_new (FALSE, FALSE, sizeof (double));
  double end_us = pingpong_now_us () + effort.seconds * 1e6;
  guint next_look = SURE_SAMPLES;

  while (halves_us->len < LEAST_SAMPLES || pingpong_now_us () < end_us) {
    double half_us = round_trips_us (line, n_rounds) / 2;

    g_array_append_val (halves_us, half_us);
    if (halves_us->len < next_look)
      continue;
    if (cli_pingpong_median (halves_us).width <= effort.precision)
      break;
    next_look += next_look / 4;
  }
  return cli_pingpong_median (halves_us);
}

CliPingpongMedian
pingpong_ping (const PingpongOrder *order)
{
  const Line line = line_new (order);
  g_autofree int *noisy = await_noise (order->n_noise);
  double shortest_us = warm_up_us (&line, order->effort.seconds * 1e6 * WARM_UP_SHARE);
  CliPingpongMedian median = sample (
      &line, (guint) CLAMP (SAMPLE_US / MAX (shortest_us, 1e-3), 1, SAMPLE_ROUNDS), order->effort);

  signal_to (line.partner, PINGPONG_TAG_LAST);
  for (int i = 0; i < order->n_noise; i++)
    signal_to (noisy[i], PINGPONG_TAG_STOP);
  return median;
}

void
pingpong_pong (const PingpongOrder *order)
{
  const Line line = line_new (order);

  for (;;) {
    MPI_Status status;

    MPI_Recv (line.buffer, line.n_bytes, MPI_BYTE, line.partner, MPI_ANY_TAG, MPI_COMM_WORLD,
              &status);
    if (status.MPI_TAG == PINGPONG_TAG_LAST)
      return;
    MPI_Send (line.buffer, line.n_bytes, MPI_BYTE, line.partner, PINGPONG_TAG_MESSAGE,
              MPI_COMM_WORLD);
  }
}

void
pingpong_noise (const PingpongOrder *order)
{
  const Line line = line_new (order);
  MPI_Request stop;
  int is_over = 0;

  MPI_Irecv (NULL, 0, MPI_BYTE, order->leader, PINGPONG_TAG_STOP, MPI_COMM_WORLD, &stop);
  for (guint n = 0; !is_over; n++) {
    round_trip (&line);
    if (n == WARM_UP_ROUNDS)
      signal_to (order->leader, PINGPONG_TAG_RUNNING);
    MPI_Test (&stop, &is_over, MPI_STATUS_IGNORE);
  }
  signal_to (line.partner, PINGPONG_TAG_LAST);
}
