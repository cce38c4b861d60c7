/* pingpong_ranks.c - the processes of an MPI job obey the orders of rank 0.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/pingpong/pingpong.h"

#include <mpi.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOOK_NS        1000000L
#define ALIGNMENT      4096
#define WARM_UP_ROUNDS 3
#define WARM_UP_SHARE  0.05 /* of the time of the measurement */
/* A sample is several round trips while these are shorter than the resolution of the clock. */
#define SAMPLE_US     10.0
#define SAMPLE_ROUNDS 64
#define LEAST_SAMPLES 6
#define SURE_SAMPLES  20 /* before the width of the interval may end it */
#define MOST_CALLS    64 /* of a collective between two looks of rank 0 at the clock */
#define LOOKS         10 /* about the number of looks */

typedef enum {
  IDLE,  /* no order at all */
  TELL,  /* report the process */
  BIND,  /* run on one processor */
  PING,  /* the observed pair: begins */
  PONG,  /* any pair: answers, until the last message */
  NOISE, /* begins, until rank `leader` stops it */
  CALLS, /* a collective */
  END,
} OrderKind;

typedef struct {
  int32_t kind;
  int32_t partner, leader, n_noise; /* n_noise: pairs that report to PING */
  int32_t collective, cpu, status;
  int64_t bytes;
  CliPingpongEffort effort;
} Order;

enum {
  TAG_ORDER,
  TAG_REPORT,
  TAG_MESSAGE,
  TAG_LAST,    /* the same pair: it is over */
  TAG_RUNNING, /* a pair of noise to PING: its messages go to and fro */
  TAG_STOP,    /* and back */
};

static int own_rank, n_ranks;
static CliPingpongProcess own_process;

static double
now_us (void)
{
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC, &now);
  return (double) now.tv_sec * 1e6 + (double) now.tv_nsec * 1e-3;
}

static gsize buffer_bytes;
static char *buffers[2];

static void
free_buffers (void)
{
  for (int i = 0; i < 2; i++)
    g_clear_pointer (&buffers[i], free);
  buffer_bytes = 0;
}

/* Memory for so many bytes to send (buffers[0]), and so many to receive, all of it touched. */
static void
make_buffers (gsize n_bytes)
{
  if (buffers[0] != NULL && n_bytes <= buffer_bytes)
    return;
  free_buffers ();
  buffer_bytes = MAX (n_bytes, ALIGNMENT);
  for (int i = 0; i < 2; i++) {
    void *memory = NULL;

    if (posix_memalign (&memory, ALIGNMENT, buffer_bytes) != 0)
      g_error ("no memory for %" G_GSIZE_FORMAT " bytes", buffer_bytes);
    buffers[i] = memory;
    memset (buffers[i], 0, buffer_bytes);
  }
}

/* --- Messages to and fro: the observed ones and the noise --- */

/* A process sends the bytes that it has just received, in the same buffer: its core has written
 * them, as that of a program has written results.  Of data that nobody writes any more the
 * receiver's cache keeps a copy, and messages inside a node seem up to three times as fast
 * (doc/handbook/aggregation-models.md). */
static void
send_message (const Order *order, int tag)
{
  MPI_Send (buffers[0], (int) order->bytes, MPI_BYTE, order->partner, tag, MPI_COMM_WORLD);
}

static int
receive_message (const Order *order, int tag)
{
  MPI_Status status;

  MPI_Recv (buffers[0], (int) order->bytes, MPI_BYTE, order->partner, tag, MPI_COMM_WORLD, &status);
  return status.MPI_TAG;
}

static void
signal_to (int rank, int tag)
{
  MPI_Send (NULL, 0, MPI_BYTE, rank, tag, MPI_COMM_WORLD);
}

/* The time of a round trip, of n in a row. */
static double
round_trips_us (const Order *order, guint n)
{
  double start_us = now_us ();

  for (guint i = 0; i < n; i++) {
    send_message (order, TAG_MESSAGE);
    receive_message (order, TAG_MESSAGE);
  }
  return (now_us () - start_us) / n;
}

static CliPingpongMedian
ping (const Order *order)
{
  g_autoptr (GArray) halves_us = g_array_new (FALSE, FALSE, sizeof (double));
  g_autofree int *noisy = g_new (int, order->n_noise);
  double shortest_us = G_MAXDOUBLE, start_us, end_us;
  guint n_rounds, next_look = SURE_SAMPLES;

  for (int i = 0; i < order->n_noise; i++) {
    MPI_Status status;

    MPI_Recv (NULL, 0, MPI_BYTE, MPI_ANY_SOURCE, TAG_RUNNING, MPI_COMM_WORLD, &status);
    noisy[i] = status.MPI_SOURCE;
  }

  /* Warm-up, which also finds how many round trips a sample needs. */
  start_us = now_us ();
  for (guint n = 0;
       n < WARM_UP_ROUNDS || now_us () - start_us < order->effort.seconds * 1e6 * WARM_UP_SHARE;
       n++)
    shortest_us = MIN (shortest_us, round_trips_us (order, 1));
  n_rounds = (guint) CLAMP (SAMPLE_US / MAX (shortest_us, 1e-3), 1, SAMPLE_ROUNDS);

  end_us = now_us () + order->effort.seconds * 1e6;
  while (halves_us->len < LEAST_SAMPLES || now_us () < end_us) {
    double half_us = round_trips_us (order, n_rounds) / 2;

    g_array_append_val (halves_us, half_us);
    if (halves_us->len < next_look)
      continue;
    if (cli_pingpong_median (halves_us).width <= order->effort.precision)
      break;
    next_look += next_look / 4;
  }
  signal_to (order->partner, TAG_LAST);
  for (int i = 0; i < order->n_noise; i++)
    signal_to (noisy[i], TAG_STOP);
  return cli_pingpong_median (halves_us);
}

static void
pong (const Order *order)
{
  while (receive_message (order, MPI_ANY_TAG) != TAG_LAST)
    send_message (order, TAG_MESSAGE);
}

static void
make_noise (const Order *order)
{
  MPI_Request stop;
  int is_over = 0;

  MPI_Irecv (NULL, 0, MPI_BYTE, order->leader, TAG_STOP, MPI_COMM_WORLD, &stop);
  for (guint n = 0; !is_over; n++) {
    send_message (order, TAG_MESSAGE);
    receive_message (order, TAG_MESSAGE);
    if (n == WARM_UP_ROUNDS)
      signal_to (order->leader, TAG_RUNNING);
    MPI_Test (&stop, &is_over, MPI_STATUS_IGNORE);
  }
  signal_to (order->partner, TAG_LAST);
}

/* --- A collective, over and over --- */

/* Reductions sum the widest floating-point numbers that fill the bytes; bits, if none do. */
static void
make_call (CliPingpongCollective collective, int n)
{
  MPI_Datatype element = n % 8 == 0 ? MPI_DOUBLE : n % 4 == 0 ? MPI_FLOAT : MPI_BYTE;
  MPI_Op operation = element == MPI_BYTE ? MPI_BOR : MPI_SUM;
  int n_elements = n % 8 == 0 ? n / 8 : n % 4 == 0 ? n / 4 : n;
  char *in = buffers[0], *out = buffers[1];

  switch (collective) {
  case CLI_PINGPONG_BARRIER: MPI_Barrier (MPI_COMM_WORLD); break;
  case CLI_PINGPONG_BCAST: MPI_Bcast (in, n, MPI_BYTE, 0, MPI_COMM_WORLD); break;
  case CLI_PINGPONG_GATHER:
    MPI_Gather (in, n, MPI_BYTE, out, n, MPI_BYTE, 0, MPI_COMM_WORLD);
    break;
  case CLI_PINGPONG_SCATTER:
    MPI_Scatter (in, n, MPI_BYTE, out, n, MPI_BYTE, 0, MPI_COMM_WORLD);
    break;
  case CLI_PINGPONG_ALLGATHER:
    MPI_Allgather (in, n, MPI_BYTE, out, n, MPI_BYTE, MPI_COMM_WORLD);
    break;
  case CLI_PINGPONG_ALLTOALL:
    MPI_Alltoall (in, n, MPI_BYTE, out, n, MPI_BYTE, MPI_COMM_WORLD);
    break;
  case CLI_PINGPONG_REDUCE:
    MPI_Reduce (in, out, n_elements, element, operation, 0, MPI_COMM_WORLD);
    break;
  case CLI_PINGPONG_ALLREDUCE:
    MPI_Allreduce (in, out, n_elements, element, operation, MPI_COMM_WORLD);
    break;
  case CLI_PINGPONG_COLLECTIVES: g_assert_not_reached ();
  }
}

/* n calls; on rank 0 the time of the slowest rank in each. */
static void
time_calls (const Order *order, int n, double slowest_us[])
{
  double own_us[MOST_CALLS];

  for (int i = 0; i < n; i++) {
    double start_us;

    MPI_Barrier (MPI_COMM_WORLD);
    start_us = now_us ();
    make_call ((CliPingpongCollective) order->collective, (int) order->bytes);
    own_us[i] = now_us () - start_us;
  }
  MPI_Reduce (own_us, slowest_us, n, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
}

/* The median on rank 0, which also decides how many calls come next. */
static CliPingpongMedian
call (const Order *order)
{
  g_autoptr (GArray) samples_us = g_array_new (FALSE, FALSE, sizeof (double));
  CliPingpongMedian so_far = { 0 };
  double slowest_us[MOST_CALLS], end_us;
  int n = 1;

  time_calls (order, 1, slowest_us); /* to warm up */
  end_us = now_us () + order->effort.seconds * 1e6;
  while (n > 0) {
    time_calls (order, n, slowest_us);
    if (own_rank == 0) {
      g_array_append_vals (samples_us, slowest_us, (guint) n);
      so_far = cli_pingpong_median (samples_us);
      n = (int) CLAMP (order->effort.seconds * 1e6 / LOOKS / MAX (so_far.median, 1e-3), 1,
                       MOST_CALLS);
      if (samples_us->len >= LEAST_SAMPLES &&
          (now_us () >= end_us ||
           (samples_us->len >= SURE_SAMPLES && so_far.width <= order->effort.precision)))
        n = 0;
    }
    MPI_Bcast (&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  return so_far;
}

/* --- All ranks --- */

uint32_t
cli_pingpong_begin (int *argc, char ***argv, uint32_t *n)
{
  MPI_Comm node;
  cpu_set_t set;
  int local, first;

  MPI_Init (argc, argv);
  MPI_Comm_rank (MPI_COMM_WORLD, &own_rank);
  MPI_Comm_size (MPI_COMM_WORLD, &n_ranks);
  *n = (uint32_t) n_ranks;
  /* The node is known by the first rank on it. */
  first = own_rank;
  MPI_Comm_split_type (MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, own_rank, MPI_INFO_NULL, &node);
  MPI_Comm_rank (node, &local);
  MPI_Bcast (&first, 1, MPI_INT, 0, node);
  MPI_Comm_free (&node);
  own_process = (CliPingpongProcess){ .node = (uint32_t) first, .local = (uint32_t) local };
  CPU_ZERO (&set);
  if (sched_getaffinity (0, sizeof set, &set) == 0)
    for (int cpu = 0; cpu < MIN (CLI_PINGPONG_MAX_CPUS, CPU_SETSIZE); cpu++)
      own_process.may_run[cpu] = CPU_ISSET (cpu, &set) != 0;
  return (uint32_t) own_rank;
}

/* The result of an order that the ranks other than 0 report. */
static CliPingpongMedian
obey (const Order *order)
{
  CliPingpongMedian report = { 0 };
  gsize n_bytes = (gsize) order->bytes;
  cpu_set_t set;

  if (order->kind == CALLS)
    n_bytes = cli_pingpong_buffer_bytes ((CliPingpongCollective) order->collective,
                                         (uint64_t) order->bytes, (uint32_t) n_ranks);
  if (order->kind != BIND)
    make_buffers (n_bytes);
  switch ((OrderKind) order->kind) {
  case BIND:
    CPU_ZERO (&set);
    CPU_SET (order->cpu, &set);
    report.median = sched_setaffinity (0, sizeof set, &set) == 0;
    break;
  case PING: report = ping (order); break;
  case PONG: pong (order); break;
  case NOISE: make_noise (order); break;
  case CALLS: report = call (order); break;
  case IDLE:
  case TELL:
  case END: g_assert_not_reached ();
  }
  return report;
}

/* A message of this rank and tag, without taking a core to wait for it. */
static void
receive (int rank, int tag, void *data, gsize n_bytes)
{
  const struct timespec look = { 0, LOOK_NS };
  int is_there = 0;

  for (;;) {
    MPI_Iprobe (rank, tag, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
    if (is_there)
      break;
    nanosleep (&look, NULL);
  }
  MPI_Recv (data, (int) n_bytes, MPI_BYTE, rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void
report_to_first (const void *data, gsize n_bytes)
{
  MPI_Send (data, (int) n_bytes, MPI_BYTE, 0, TAG_REPORT, MPI_COMM_WORLD);
}

static void
leave (void)
{
  MPI_Finalize ();
  free_buffers ();
}

int
cli_pingpong_serve (void)
{
  for (;;) {
    Order order;

    receive (0, TAG_ORDER, &order, sizeof order);
    if (order.kind == END) {
      leave ();
      return order.status;
    }
    if (order.kind == TELL)
      report_to_first (&own_process, sizeof own_process);
    else {
      const CliPingpongMedian report = obey (&order);

      report_to_first (&report, sizeof report);
    }
  }
}

/* --- Rank 0 --- */

static void
give (int rank, const Order *order)
{
  MPI_Send (order, sizeof *order, MPI_BYTE, rank, TAG_ORDER, MPI_COMM_WORLD);
}

void
cli_pingpong_end (int status)
{
  for (int rank = 1; rank < n_ranks; rank++)
    give (rank, &(Order){ .kind = END, .status = status });
  leave ();
}

CliPingpongProcess *
cli_pingpong_find_processes (void)
{
  CliPingpongProcess *processes = g_new (CliPingpongProcess, n_ranks);
  g_autofree uint32_t *number = g_new (uint32_t, n_ranks);
  uint32_t n = 0;

  processes[0] = own_process;
  for (int rank = 1; rank < n_ranks; rank++)
    give (rank, &(Order){ .kind = TELL });
  for (int rank = 1; rank < n_ranks; rank++)
    receive (rank, TAG_REPORT, &processes[rank], sizeof processes[rank]);
  /* Nodes were known by their first ranks; they are numbered in that order. */
  for (int rank = 0; rank < n_ranks; rank++) {
    if (processes[rank].node == (uint32_t) rank)
      number[rank] = n++;
    processes[rank].node = number[processes[rank].node];
  }
  return processes;
}

/* Gives all orders, obeys that of rank 0, and waits for the reports. */
static void
give_all (const Order orders[], CliPingpongMedian reports[])
{
  for (int rank = 1; rank < n_ranks; rank++)
    if (orders[rank].kind != IDLE)
      give (rank, &orders[rank]);
  if (orders[0].kind != IDLE)
    reports[0] = obey (&orders[0]);
  for (int rank = 1; rank < n_ranks; rank++)
    if (orders[rank].kind != IDLE)
      receive (rank, TAG_REPORT, &reports[rank], sizeof reports[rank]);
}

gboolean
cli_pingpong_bind (const uint32_t cpu[])
{
  g_autofree Order *orders = g_new0 (Order, n_ranks);
  g_autofree CliPingpongMedian *reports = g_new0 (CliPingpongMedian, n_ranks);
  gboolean all = TRUE;

  for (int rank = 0; rank < n_ranks; rank++)
    orders[rank] = (Order){ .kind = BIND, .cpu = (int32_t) cpu[rank] };
  give_all (orders, reports);
  for (int rank = 0; rank < n_ranks; rank++)
    all = all && reports[rank].median > 0;
  return all;
}

CliPingpongMedian
cli_pingpong_measure (const CliPingpongClass *class, uint64_t bytes, CliPingpongEffort effort)
{
  g_autofree Order *orders = g_new0 (Order, n_ranks);
  g_autofree CliPingpongMedian *reports = g_new0 (CliPingpongMedian, n_ranks);
  int n_noise = 0;

  for (uint32_t rank = 0; rank < (uint32_t) n_ranks; rank++) {
    uint32_t partner = class->partner[rank];

    orders[rank] = (Order){ .kind = partner == rank  ? IDLE
                                    : partner < rank ? PONG
                                                     : NOISE,
                            .partner = (int32_t) partner,
                            .leader = (int32_t) class->ping,
                            .bytes = (int64_t) bytes,
                            .effort = effort };
    n_noise += partner > rank;
  }
  orders[class->ping].kind = PING;
  orders[class->ping].n_noise = n_noise - 1;
  orders[class->pong].kind = PONG;
  give_all (orders, reports);
  return reports[class->ping];
}

CliPingpongMedian
cli_pingpong_measure_collective (guint collective, uint64_t bytes, CliPingpongEffort effort)
{
  g_autofree Order *orders = g_new0 (Order, n_ranks);
  g_autofree CliPingpongMedian *reports = g_new0 (CliPingpongMedian, n_ranks);

  for (int rank = 0; rank < n_ranks; rank++)
    orders[rank] = (Order){
      .kind = CALLS, .collective = (int32_t) collective, .bytes = (int64_t) bytes, .effort = effort
    };
  give_all (orders, reports);
  return reports[0];
}
