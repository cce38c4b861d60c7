/* pingpong_ranks.c - the processes of an MPI job do what the first of them says.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/pingpong/pingpong_ranks.h"

#include "tools/pingpong/pingpong_collectives.h"
#include "tools/pingpong/pingpong_roles.h"

#include <mpi.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOOK_NS   1000000L
#define ALIGNMENT 4096

static int own_rank, n_ranks;
static CliPingpongProcess own_process;

double
pingpong_now_us (void)
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

void
pingpong_buffers (gsize n_bytes, char **sent, char **received)
{
  if (buffers[0] == NULL || n_bytes > buffer_bytes) {
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
  *sent = buffers[0];
  *received = buffers[1];
}

/* ---- all ranks ---- */

/* Which process of its node this is, and where it may run. */
static void
look_around (void)
{
  MPI_Comm node;
  cpu_set_t set;
  int local, first = own_rank;

  MPI_Comm_split_type (MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, own_rank, MPI_INFO_NULL, &node);
  MPI_Comm_rank (node, &local);
  MPI_Bcast (&first, 1, MPI_INT, 0, node);
  MPI_Comm_free (&node);
  own_process = (CliPingpongProcess){ .node = (uint32_t) first, .local = (uint32_t) local };
  CPU_ZERO (&set);
  if (sched_getaffinity (0, sizeof set, &set) != 0)
    return;
  for (int cpu = 0; cpu < MIN (CLI_PINGPONG_MAX_CPUS, CPU_SETSIZE); cpu++)
    own_process.may_run[cpu] = CPU_ISSET (cpu, &set) != 0;
}

uint32_t
cli_pingpong_begin (int *argc, char ***argv, uint32_t *n)
{
  MPI_Init (argc, argv);
  MPI_Comm_rank (MPI_COMM_WORLD, &own_rank);
  MPI_Comm_size (MPI_COMM_WORLD, &n_ranks);
  look_around ();
  *n = (uint32_t) n_ranks;
  return (uint32_t) own_rank;
}

static gboolean
bind_to (int cpu)
{
  cpu_set_t set;

  CPU_ZERO (&set);
  CPU_SET (cpu, &set);
  return sched_setaffinity (0, sizeof set, &set) == 0;
}

/* An order to do something. */
static CliPingpongMedian
obey (const PingpongOrder *order)
{
  CliPingpongMedian report = { 0 };

  switch ((PingpongOrderKind) order->kind) {
  case PINGPONG_BIND: report.median = bind_to (order->cpu); break;
  case PINGPONG_PING: report = pingpong_ping (order); break;
  case PINGPONG_PONG: pingpong_pong (order); break;
  case PINGPONG_NOISE: pingpong_noise (order); break;
  case PINGPONG_CALLS: report = pingpong_calls (order); break;
  case PINGPONG_IDLE:
  case PINGPONG_TELL:
  case PINGPONG_END: g_assert_not_reached ();
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
  MPI_Send (data, (int) n_bytes, MPI_BYTE, 0, PINGPONG_TAG_REPORT, MPI_COMM_WORLD);
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
    PingpongOrder order;

    receive (0, PINGPONG_TAG_ORDER, &order, sizeof order);
    if (order.kind == PINGPONG_END) {
      leave ();
      return order.status;
    }
    if (order.kind == PINGPONG_TELL)
      report_to_first (&own_process, sizeof own_process);
    else {
      const CliPingpongMedian report = obey (&order);

      report_to_first (&report, sizeof report);
    }
  }
}

/* ---- rank 0 ---- */

static void
give (int rank, const PingpongOrder *order)
{
  MPI_Send (order, sizeof *order, MPI_BYTE, rank, PINGPONG_TAG_ORDER, MPI_COMM_WORLD);
}

void
cli_pingpong_end (int status)
{
  for (int rank = 1; rank < n_ranks; rank++)
    give (rank, &(PingpongOrder){ .kind = PINGPONG_END, .status = status });
  leave ();
}

/* Numbers the nodes, which were their first ranks, in their order. */
static void
number_nodes (CliPingpongProcess processes[])
{
  g_autofree uint32_t *number = g_new (uint32_t, n_ranks);
  uint32_t n = 0;

  for (int rank = 0; rank < n_ranks; rank++) {
    if (processes[rank].node == (uint32_t) rank)
      number[rank] = n++;
    processes[rank].node = number[processes[rank].node];
  }
}

CliPingpongProcess *
cli_pingpong_find_processes (void)
{
  CliPingpongProcess *processes = g_new (CliPingpongProcess, n_ranks);

  processes[0] = own_process;
  for (int rank = 1; rank < n_ranks; rank++)
    give (rank, &(PingpongOrder){ .kind = PINGPONG_TELL });
  for (int rank = 1; rank < n_ranks; rank++)
    receive (rank, PINGPONG_TAG_REPORT, &processes[rank], sizeof processes[rank]);
  number_nodes (processes);
  return processes;
}

/* Gives all orders, obeys one's own, and waits for the reports. */
static void
give_all (const PingpongOrder orders[], CliPingpongMedian reports[])
{
  for (int rank = 1; rank < n_ranks; rank++)
    if (orders[rank].kind != PINGPONG_IDLE)
      give (rank, &orders[rank]);
  if (orders[0].kind != PINGPONG_IDLE)
    reports[0] = obey (&orders[0]);
  for (int rank = 1; rank < n_ranks; rank++)
    if (orders[rank].kind != PINGPONG_IDLE)
      receive (rank, PINGPONG_TAG_REPORT, &reports[rank], sizeof reports[rank]);
}

gboolean
cli_pingpong_bind (const uint32_t cpu[])
{
  g_autofree PingpongOrder *orders = g_new0 (PingpongOrder, n_ranks);
  g_autofree CliPingpongMedian *reports = g_new0 (CliPingpongMedian, n_ranks);
  gboolean all = TRUE;

  for (int rank = 0; rank < n_ranks; rank++)
    orders[rank] = (PingpongOrder){ .kind = PINGPONG_BIND, .cpu = (int32_t) cpu[rank] };
  give_all (orders, reports);
  for (int rank = 0; rank < n_ranks; rank++)
    all = all && reports[rank].median > 0;
  return all;
}

CliPingpongMedian
cli_pingpong_measure (const CliPingpongClass *class, uint64_t bytes, CliPingpongEffort effort)
{
  g_autofree PingpongOrder *orders = g_new0 (PingpongOrder, n_ranks);
  g_autofree CliPingpongMedian *reports = g_new0 (CliPingpongMedian, n_ranks);
  int n_noise = 0;

  for (uint32_t rank = 0; rank < (uint32_t) n_ranks; rank++) {
    uint32_t partner = class->partner[rank];

    orders[rank] = (PingpongOrder){ .kind = partner == rank  ? PINGPONG_IDLE
                                            : partner < rank ? PINGPONG_PONG
                                                             : PINGPONG_NOISE,
                                    .partner = (int32_t) partner,
                                    .leader = (int32_t) class->ping,
                                    .bytes = (int64_t) bytes,
                                    .effort = effort };
    n_noise += partner > rank;
  }
  orders[class->ping].kind = PINGPONG_PING;
  orders[class->ping].n_noise = n_noise - 1;
  orders[class->pong].kind = PINGPONG_PONG;
  give_all (orders, reports);
  return reports[class->ping];
}

CliPingpongMedian
cli_pingpong_measure_collective (guint collective, uint64_t bytes, CliPingpongEffort effort)
{
  g_autofree PingpongOrder *orders = g_new0 (PingpongOrder, n_ranks);
  g_autofree CliPingpongMedian *reports = g_new0 (CliPingpongMedian, n_ranks);

  for (int rank = 0; rank < n_ranks; rank++)
    orders[rank] = (PingpongOrder){ .kind = PINGPONG_CALLS,
                                    .collective = (int32_t) collective,
                                    .bytes = (int64_t) bytes,
                                    .effort = effort };
  give_all (orders, reports);
  return reports[0];
}
