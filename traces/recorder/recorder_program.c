/* recorder_program.c - an MPI program for the test of the recorder: it does a
 * little of everything, and writes down its calls.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Usage: recorder_program FOLDER all|threads|times|killed|nothing
 * Every rank writes FOLDER/RANK.txt with one line per channel or call:
 *   send SOURCE DESTINATION MESSAGES BYTES     point to point, world ranks
 *   from RANK SOURCE MESSAGES                  of receives from any source
 *   call RANK NAME CALLS BYTES RECEIVED        collectives, see operation.c
 *   edge SOURCE DESTINATION NAME CALLS BYTES   of neighbourhoods
 *   access ORIGIN TARGET NAME CALLS SENT RECEIVED */
#include <mpi.h>

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_RANKS   64
#define MAX_NAMES   64
#define MAX_THREADS 4

typedef struct {
  long calls, bytes, received;
} Count;

static struct {
  Count sent[MAX_RANKS], from[MAX_RANKS];
  const char *names[MAX_NAMES];
  Count called[MAX_NAMES], edges[MAX_NAMES][MAX_RANKS], accesses[MAX_NAMES][MAX_RANKS];
} did;

static int rank, n_ranks;
static char data[1 << 16], other[1 << 16];
/* Counts and places for the calls that want one per rank. */
static int counts[MAX_RANKS], places[MAX_RANKS], back_counts[MAX_RANKS], back_places[MAX_RANKS];

static int
number_of (const char *name)
{
  int i = 0;

  while (did.names[i] != NULL && strcmp (did.names[i], name) != 0)
    i++;
  assert (i < MAX_NAMES - 1);
  did.names[i] = name;
  return i;
}

static void
add (Count *count, long bytes, long received)
{
  count->calls++;
  count->bytes += bytes;
  count->received += received;
}

static void
sent (int destination, long bytes)
{
  add (&did.sent[destination], bytes, 0);
}

static void
called (const char *name, long bytes, long received)
{
  add (&did.called[number_of (name)], bytes, received);
}

static void
report (const char *folder)
{
  char path[4096];
  FILE *file;

  snprintf (path, sizeof path, "%s/%d.txt", folder, rank);
  file = fopen (path, "w");
  assert (file != NULL);
  for (int i = 0; i < n_ranks; i++) {
    if (did.sent[i].calls > 0)
      fprintf (file, "send %d %d %ld %ld\n", rank, i, did.sent[i].calls, did.sent[i].bytes);
    if (did.from[i].calls > 0)
      fprintf (file, "from %d %d %ld\n", rank, i, did.from[i].calls);
  }
  for (int name = 0; did.names[name] != NULL; name++) {
    const Count *call = &did.called[name];

    if (call->calls > 0)
      fprintf (file, "call %d %s %ld %ld %ld\n", rank, did.names[name], call->calls, call->bytes,
               call->received);
    for (int i = 0; i < n_ranks; i++) {
      const Count *edge = &did.edges[name][i], *access = &did.accesses[name][i];

      if (edge->calls > 0)
        fprintf (file, "edge %d %d %s %ld %ld\n", rank, i, did.names[name], edge->calls,
                 edge->bytes);
      if (access->calls > 0)
        fprintf (file, "access %d %d %s %ld %ld %ld\n", rank, i, did.names[name], access->calls,
                 access->bytes, access->received);
    }
  }
  fclose (file);
}

/* --- Point to point --- */

static void
do_modes (void)
{
  int next = (rank + 1) % n_ranks, before = (rank + n_ranks - 1) % n_ranks;
  MPI_Request requests[4];
  MPI_Status status;
  void *buffer = malloc (65536);

  MPI_Irecv (other, 100, MPI_BYTE, before, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Ssend (data, 100, MPI_BYTE, next, 1, MPI_COMM_WORLD);
  sent (next, 100);
  MPI_Wait (&requests[0], &status);

  MPI_Buffer_attach (buffer, 65536);
  MPI_Bsend (data, 10, MPI_INT, next, 2, MPI_COMM_WORLD);
  sent (next, 40);
  MPI_Recv (other, 20, MPI_INT, before, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Ibsend (data, 11, MPI_INT, next, 2, MPI_COMM_WORLD, &requests[0]);
  sent (next, 44);
  MPI_Recv (other, 20, MPI_INT, before, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
  MPI_Wait (&requests[0], MPI_STATUS_IGNORE);
  MPI_Buffer_detach (&buffer, &(int){ 0 });
  free (buffer);

  MPI_Irecv (other, 30, MPI_BYTE, before, 3, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv (other + 64, 31, MPI_BYTE, before, 4, MPI_COMM_WORLD, &requests[1]);
  MPI_Barrier (MPI_COMM_WORLD);
  called ("barrier", 0, 0);
  MPI_Rsend (data, 30, MPI_BYTE, next, 3, MPI_COMM_WORLD);
  sent (next, 30);
  MPI_Irsend (data, 31, MPI_BYTE, next, 4, MPI_COMM_WORLD, &requests[2]);
  sent (next, 31);
  MPI_Issend (data, 0, MPI_BYTE, next, 5, MPI_COMM_WORLD, &requests[3]);
  sent (next, 0);
  MPI_Recv (other, 0, MPI_BYTE, before, 5, MPI_COMM_WORLD, &status);
  MPI_Waitall (4, requests, MPI_STATUSES_IGNORE);

  MPI_Sendrecv (data, 1000, MPI_DOUBLE, next, 6, other, 1000, MPI_DOUBLE, before, 6, MPI_COMM_WORLD,
                &status);
  sent (next, 8000);
  MPI_Sendrecv_replace (data, 50, MPI_CHAR, before, 7, next, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  sent (before, 50);
  MPI_Send (data, 5, MPI_INT, MPI_PROC_NULL, 8, MPI_COMM_WORLD);
  MPI_Recv (data, 5, MPI_INT, MPI_PROC_NULL, 8, MPI_COMM_WORLD, &status);
}

/* Only the bytes that are sent count, not the gaps between them. */
static void
do_types (void)
{
  int to = (rank + 3) % n_ranks, from = (rank + n_ranks - 3) % n_ranks;
  MPI_Datatype strided, wide;
  MPI_Request request;

  MPI_Type_vector (3, 2, 4, MPI_DOUBLE, &strided);
  MPI_Type_commit (&strided);
  MPI_Type_create_resized (strided, 0, 256, &wide);
  MPI_Type_commit (&wide);
  MPI_Isend (data, 2, wide, to, 11, MPI_COMM_WORLD, &request);
  sent (to, 96);
  MPI_Recv (other, 12, MPI_DOUBLE, from, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait (&request, MPI_STATUS_IGNORE);
  MPI_Type_free (&wide);
  MPI_Type_free (&strided);
}

/* Every message holds its source, which the receiver thus has without MPI. */
static void
do_wildcards (void)
{
  enum { N = 6 };
  int self[4] = { rank, rank, rank, rank }, got[N][4];
  MPI_Request requests[N];

  if (rank == 0) {
    for (int i = 1; i < n_ranks; i++) {
      MPI_Recv (got[0], 4, MPI_INT, MPI_ANY_SOURCE, 21, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      add (&did.from[got[0][0]], 0, 0);
    }
  } else {
    MPI_Send (self, 4, MPI_INT, 0, 21, MPI_COMM_WORLD);
    sent (0, 16);
  }
  if (rank == 1) {
    for (int i = 0; i < N; i++)
      MPI_Irecv (got[i], 4, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[i]);
    MPI_Waitall (N / 2, requests, MPI_STATUSES_IGNORE);
    for (int left = N - N / 2; left > 0;) {
      int indices[N], n;

      MPI_Waitsome (N - N / 2, requests + N / 2, &n, indices, MPI_STATUSES_IGNORE);
      left -= n;
    }
    for (int i = 0; i < N; i++)
      add (&did.from[got[i][0]], 0, 0);
  } else if (rank >= n_ranks - N) {
    MPI_Send (self, 3, MPI_INT, 1, 100 + rank, MPI_COMM_WORLD);
    sent (1, 12);
  }
  MPI_Barrier (MPI_COMM_WORLD);
  called ("barrier", 0, 0);
}

static void
do_persistent (void)
{
  int next = (rank + 2) % n_ranks, before = (rank + n_ranks - 2) % n_ranks, index, flag;
  MPI_Request requests[2];

  MPI_Send_init (data, 77, MPI_BYTE, next, 31, MPI_COMM_WORLD, &requests[0]);
  MPI_Recv_init (other, 77, MPI_BYTE, before, 31, MPI_COMM_WORLD, &requests[1]);
  for (int i = 0; i < 5; i++) {
    MPI_Startall (2, requests);
    sent (next, 77);
    MPI_Waitall (2, requests, MPI_STATUSES_IGNORE);
  }
  MPI_Start (&requests[1]);
  MPI_Start (&requests[0]);
  sent (next, 77);
  MPI_Waitany (2, requests, &index, MPI_STATUS_IGNORE);
  do
    MPI_Testall (2, requests, &flag, MPI_STATUSES_IGNORE);
  while (!flag);
  MPI_Request_free (&requests[0]);
  MPI_Request_free (&requests[1]);
}

/* Many small sends that are complete at once share one handle in Open MPI. */
static void
do_many (void)
{
  enum { N = 200 };
  int next = (rank + 1) % n_ranks, before = (rank + n_ranks - 1) % n_ranks, n_done = 0;
  MPI_Request requests[2 * N];

  for (int i = 0; i < N; i++)
    MPI_Irecv (other + 8 * i, 8, MPI_BYTE, before, i, MPI_COMM_WORLD, &requests[N + i]);
  for (int i = 0; i < N; i++) {
    MPI_Isend (data, 8, MPI_BYTE, next, i, MPI_COMM_WORLD, &requests[i]);
    sent (next, 8);
  }
  while (n_done < 2 * N) {
    int indices[2 * N], n;

    MPI_Testsome (2 * N, requests, &n, indices, MPI_STATUSES_IGNORE);
    n_done += n;
  }
}

static void
do_probes (void)
{
  int next = (rank + 1) % n_ranks, before = (rank + n_ranks - 1) % n_ranks, flag = 0;
  MPI_Request requests[2];
  MPI_Message message;
  MPI_Status status;

  MPI_Isend (data, 33, MPI_BYTE, next, 41, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend (data, 34, MPI_BYTE, next, 42, MPI_COMM_WORLD, &requests[1]);
  sent (next, 33);
  sent (next, 34);
  MPI_Probe (before, 41, MPI_COMM_WORLD, &status);
  MPI_Mprobe (before, 41, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
  MPI_Mrecv (other, 33, MPI_BYTE, &message, MPI_STATUS_IGNORE);
  while (!flag)
    MPI_Improbe (MPI_ANY_SOURCE, 42, MPI_COMM_WORLD, &flag, &message, &status);
  MPI_Imrecv (other, 34, MPI_BYTE, &message, &requests[0]);
  MPI_Waitall (2, requests, MPI_STATUSES_IGNORE);
  MPI_Irecv (other, 1, MPI_BYTE, before, 43, MPI_COMM_WORLD, &requests[0]);
  MPI_Cancel (&requests[0]);
  MPI_Wait (&requests[0], &status);
}

/* --- Communicators --- */

/* One message around the communicator; world[]: its members. */
static void
go_round (MPI_Comm comm, const int *world, int bytes)
{
  int self, size;

  MPI_Comm_rank (comm, &self);
  MPI_Comm_size (comm, &size);
  MPI_Sendrecv (data, bytes, MPI_BYTE, (self + 1) % size, 51, other, bytes, MPI_BYTE,
                (self + size - 1) % size, 51, comm, MPI_STATUS_IGNORE);
  sent (world[(self + 1) % size], bytes);
}

static void
do_splits (void)
{
  MPI_Comm row, copy, none, dup;
  int members[MAX_RANKS], n = 0;

  /* Reversed by the key. */
  for (int i = n_ranks - 1; i >= 0; i--)
    if (i % 4 == rank % 4)
      members[n++] = i;
  for (int turn = 0; turn < 3; turn++) {
    MPI_Comm_split (MPI_COMM_WORLD, rank % 4, -rank, &row);
    go_round (row, members, 500 + turn);
    MPI_Comm_dup (row, &copy);
    MPI_Comm_free (&row);
    go_round (copy, members, 600);
    MPI_Allreduce (data, other, 7, MPI_INT, MPI_SUM, copy);
    called ("allreduce", 28, 0);
    MPI_Comm_free (&copy);
  }
  MPI_Comm_split (MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 1, 0, &none);
  if (rank == 0) {
    assert (none == MPI_COMM_NULL);
  } else {
    for (int i = 1; i < n_ranks; i++)
      members[i - 1] = i;
    go_round (none, members, 700);
    MPI_Comm_free (&none);
  }
  for (int i = 0; i < n_ranks; i++)
    members[i] = i;
  MPI_Comm_dup_with_info (MPI_COMM_WORLD, MPI_INFO_NULL, &dup);
  go_round (dup, members, 800);
  MPI_Comm_free (&dup);
}

static void
do_creations (void)
{
  MPI_Comm half, third, late, cart, line;
  MPI_Group world, group;
  MPI_Request request;
  int members[MAX_RANKS], n = 0, range[1][3] = { { n_ranks - 2, 0, -2 } };
  int dims[2] = { n_ranks / 2, 2 }, periods[2] = { 0, 1 }, remain[2] = { 0, 1 };

  MPI_Comm_group (MPI_COMM_WORLD, &world);
  MPI_Group_range_incl (world, 1, range, &group);
  for (int i = n_ranks - 2; i >= 0; i -= 2)
    members[n++] = i;
  MPI_Comm_create (MPI_COMM_WORLD, group, &half);
  called ("barrier", 0, 0);
  if (rank % 2 == 0) {
    go_round (half, members, 900);
    MPI_Comm_create_group (MPI_COMM_WORLD, group, 5, &third);
    go_round (third, members, 901);
    MPI_Comm_free (&third);
    MPI_Comm_free (&half);
  }
  MPI_Group_free (&group);
  MPI_Group_free (&world);

  for (int i = 0; i < n_ranks; i++)
    members[i] = i;
  MPI_Comm_idup (MPI_COMM_WORLD, &late, &request);
  called ("ibarrier", 0, 0);
  MPI_Wait (&request, MPI_STATUS_IGNORE);
  go_round (late, members, 902);
  MPI_Comm_free (&late);

  MPI_Cart_create (MPI_COMM_WORLD, 2, dims, periods, 0, &cart);
  called ("barrier", 0, 0);
  MPI_Cart_sub (cart, remain, &line);
  called ("barrier", 0, 0);
  members[0] = rank - rank % 2;
  members[1] = members[0] + 1;
  go_round (line, members, 903);
  MPI_Comm_free (&line);
  MPI_Comm_free (&cart);
  MPI_Comm_split_type (MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &half);
  called ("barrier", 0, 0);
  MPI_Barrier (half);
  called ("barrier", 0, 0);
  MPI_Comm_free (&half);
}

/* --- Collectives --- */

static void
do_rooted (void)
{
  int root = 2, all = 4 * n_ranks * (n_ranks + 1) / 2;

  MPI_Bcast (data, 25, MPI_INT, root, MPI_COMM_WORLD);
  called ("bcast", 100, 0);
  MPI_Gather (data, 3, MPI_INT, other, 3, MPI_INT, root, MPI_COMM_WORLD);
  called ("gather", 12, rank == root ? 12 : 0);
  MPI_Gather (rank == root ? MPI_IN_PLACE : data, 5, MPI_INT, other, 5, MPI_INT, root,
              MPI_COMM_WORLD);
  called ("gather", 20, rank == root ? 20 : 0);
  MPI_Scatter (data, 6, MPI_INT, other, 6, MPI_INT, root, MPI_COMM_WORLD);
  called ("scatter", rank == root ? 24 : 0, 24);
  MPI_Scatter (data, 7, MPI_INT, rank == root ? MPI_IN_PLACE : other, 7, MPI_INT, root,
               MPI_COMM_WORLD);
  called ("scatter", rank == root ? 28 : 0, 28);
  for (int i = 0; i < n_ranks; i++) {
    counts[i] = i + 1;
    places[i] = i * (i + 1) / 2;
  }
  MPI_Gatherv (data, rank + 1, MPI_INT, other, counts, places, MPI_INT, root, MPI_COMM_WORLD);
  called ("gatherv", 4 * (rank + 1), rank == root ? all : 0);
  MPI_Scatterv (data, counts, places, MPI_INT, other, rank + 1, MPI_INT, root, MPI_COMM_WORLD);
  called ("scatterv", rank == root ? all : 0, 4 * (rank + 1));
  MPI_Reduce (data, other, 9, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
  called ("reduce", 36, 0);
}

static void
do_all_to_all (void)
{
  int all = 0;

  MPI_Allgather (data, 2, MPI_INT, other, 2, MPI_INT, MPI_COMM_WORLD);
  called ("allgather", 8, 8);
  MPI_Allgather (MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, other, 3, MPI_INT, MPI_COMM_WORLD);
  called ("allgather", 12, 12);
  MPI_Allgatherv (data, rank + 1, MPI_INT, other, counts, places, MPI_INT, MPI_COMM_WORLD);
  called ("allgatherv", 4 * (rank + 1), 4 * n_ranks * (n_ranks + 1) / 2);
  MPI_Alltoall (data, 4, MPI_INT, other, 4, MPI_INT, MPI_COMM_WORLD);
  called ("alltoall", 16, 16);
  MPI_Alltoall (MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, other, 5, MPI_INT, MPI_COMM_WORLD);
  called ("alltoall", 20, 20);
  /* Rank a sends a + b ints to rank b. */
  for (int i = 0; i < n_ranks; i++) {
    counts[i] = back_counts[i] = rank + i;
    places[i] = back_places[i] = i * 2 * n_ranks;
    all += 4 * (rank + i);
  }
  MPI_Alltoallv (data, counts, places, MPI_INT, other, back_counts, back_places, MPI_INT,
                 MPI_COMM_WORLD);
  called ("alltoallv", all, all);
}

static void
do_reductions (void)
{
  MPI_Allreduce (MPI_IN_PLACE, data, 10, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  called ("allreduce", 40, 0);
  MPI_Scan (data, other, 11, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  called ("scan", 44, 0);
  MPI_Exscan (data, other, 12, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  called ("exscan", 48, 0);
  MPI_Reduce_scatter_block (data, other, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  called ("reduce_scatter", 0, 12 * n_ranks);
  for (int i = 0; i < n_ranks; i++)
    counts[i] = i % 3;
  MPI_Reduce_scatter (data, other, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0, all = 0; i < n_ranks; i++) {
    all += 4 * counts[i];
    if (i == n_ranks - 1)
      called ("reduce_scatter", 0, all);
  }
}

static void
do_nonblocking (void)
{
  static char a[4096], b[4096], c[4096], d[4096];
  MPI_Request requests[4];
  int index, flag = 0;

  MPI_Ialltoall (data, 6, MPI_INT, a, 6, MPI_INT, MPI_COMM_WORLD, &requests[0]);
  called ("ialltoall", 24, 24);
  MPI_Iallreduce (data, b, 13, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[1]);
  called ("iallreduce", 52, 0);
  MPI_Ibarrier (MPI_COMM_WORLD, &requests[2]);
  called ("ibarrier", 0, 0);
  MPI_Ibcast (c, 14, MPI_INT, 1, MPI_COMM_WORLD, &requests[3]);
  called ("ibcast", 56, 0);
  MPI_Waitany (4, requests, &index, MPI_STATUS_IGNORE);
  MPI_Waitall (4, requests, MPI_STATUSES_IGNORE);
  MPI_Iallgather (data, 15, MPI_BYTE, d, 15, MPI_BYTE, MPI_COMM_WORLD, &requests[0]);
  called ("iallgather", 15, 15);
  while (!flag)
    MPI_Test (&requests[0], &flag, MPI_STATUS_IGNORE);
}

/* --- Neighbourhoods --- */

static void
edge (const char *name, int to, long bytes)
{
  if (to != MPI_PROC_NULL)
    add (&did.edges[number_of (name)][to], bytes, 0);
}

/* A line that does not close, times a circle of two: there the neighbour on
 * both sides is the same. */
static void
do_cart_neighbors (void)
{
  int dims[2] = { n_ranks / 2, 2 }, periods[2] = { 0, 1 };
  int near[4] = { rank >= 2 ? rank - 2 : MPI_PROC_NULL,
                  rank + 2 < n_ranks ? rank + 2 : MPI_PROC_NULL, rank ^ 1, rank ^ 1 };
  MPI_Request request;
  MPI_Comm cart;

  MPI_Cart_create (MPI_COMM_WORLD, 2, dims, periods, 0, &cart);
  called ("barrier", 0, 0);
  MPI_Neighbor_alltoall (data, 10, MPI_INT, other, 10, MPI_INT, cart);
  MPI_Ineighbor_alltoall (data, 20, MPI_INT, other, 20, MPI_INT, cart, &request);
  MPI_Wait (&request, MPI_STATUS_IGNORE);
  MPI_Neighbor_allgather (data, 30, MPI_INT, other, 30, MPI_INT, cart);
  for (int i = 0; i < 4; i++) {
    edge ("neighbor_alltoall", near[i], 40);
    edge ("ineighbor_alltoall", near[i], 80);
    edge ("neighbor_allgather", near[i], 120);
  }
  /* A call that fails moves nothing. */
  MPI_Comm_set_errhandler (cart, MPI_ERRORS_RETURN);
  assert (MPI_Neighbor_alltoall (data, -1, MPI_INT, other, -1, MPI_INT, cart) != MPI_SUCCESS);
  MPI_Comm_free (&cart);
}

/* Everyone sends to the next two, but hears from the two before. */
static void
do_graph_neighbors (void)
{
  int in[2] = { (rank + n_ranks - 1) % n_ranks, (rank + n_ranks - 2) % n_ranks };
  int out[2] = { (rank + 1) % n_ranks, (rank + 2) % n_ranks };
  int two[2] = { 3, 5 }, at[2] = { 0, 16 };
  MPI_Comm graph;

  MPI_Dist_graph_create_adjacent (MPI_COMM_WORLD, 2, in, MPI_UNWEIGHTED, 2, out, MPI_UNWEIGHTED,
                                  MPI_INFO_NULL, 0, &graph);
  called ("barrier", 0, 0);
  MPI_Neighbor_alltoallv (data, two, at, MPI_INT, other, two, at, MPI_INT, graph);
  edge ("neighbor_alltoall", out[0], 12);
  edge ("neighbor_alltoall", out[1], 20);
  MPI_Neighbor_allgather (data, 1, MPI_DOUBLE, other, 1, MPI_DOUBLE, graph);
  edge ("neighbor_allgather", out[0], 8);
  edge ("neighbor_allgather", out[1], 8);
  MPI_Comm_free (&graph);
}

/* --- One-sided --- */

static void
access_to (const char *name, int target, long bytes, long received)
{
  add (&did.accesses[number_of (name)][target], bytes, received);
}

static void
do_windows (void)
{
  int next = (rank + 1) % n_ranks, before = (rank + n_ranks - 1) % n_ranks, one = 1, zero = 0;
  MPI_Group world, to, from;
  MPI_Request request;
  int *memory, got[64];
  MPI_Win window;

  MPI_Win_allocate (4096, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  called ("win_create", 0, 0);
  MPI_Win_fence (0, window);
  MPI_Put (data, 10, MPI_INT, next, 0, 10, MPI_INT, window);
  access_to ("put", next, 40, 0);
  MPI_Get (got, 11, MPI_INT, before, 64, 11, MPI_INT, window);
  access_to ("get", before, 0, 44);
  MPI_Accumulate (data, 12, MPI_INT, next, 128, 12, MPI_INT, MPI_SUM, window);
  access_to ("put", next, 48, 0);
  MPI_Win_fence (0, window);
  called ("win_fence", 0, 0);
  called ("win_fence", 0, 0);

  MPI_Win_lock (MPI_LOCK_SHARED, next, 0, window);
  MPI_Fetch_and_op (&one, got, MPI_INT, next, 200, MPI_SUM, window);
  access_to ("fetch", next, 4, 4);
  MPI_Win_flush (next, window);
  MPI_Compare_and_swap (&one, &zero, got, MPI_INT, next, 201, window);
  access_to ("fetch", next, 8, 4);
  MPI_Rput (data, 13, MPI_INT, next, 300, 13, MPI_INT, window, &request);
  access_to ("put", next, 52, 0);
  MPI_Wait (&request, MPI_STATUS_IGNORE);
  MPI_Win_unlock (next, window);

  MPI_Comm_group (MPI_COMM_WORLD, &world);
  MPI_Group_incl (world, 1, &next, &to);
  MPI_Group_incl (world, 1, &before, &from);
  MPI_Win_post (from, 0, window);
  MPI_Win_start (to, 0, window);
  MPI_Put (data, 14, MPI_INT, next, 400, 14, MPI_INT, window);
  access_to ("put", next, 56, 0);
  MPI_Win_complete (window);
  MPI_Win_wait (window);
  MPI_Group_free (&to);
  MPI_Group_free (&from);
  MPI_Group_free (&world);
  MPI_Win_free (&window);
  called ("win_free", 0, 0);
}

/* A window outlives the communicator that it was made of. */
static void
do_late_window (void)
{
  int next = (rank + 1) % n_ranks, *memory;
  MPI_Win window;
  MPI_Comm dup;

  MPI_Comm_dup (MPI_COMM_WORLD, &dup);
  MPI_Win_allocate (64, 4, MPI_INFO_NULL, dup, &memory, &window);
  called ("win_create", 0, 0);
  MPI_Comm_free (&dup);
  MPI_Win_fence (0, window);
  MPI_Put (data, 3, MPI_INT, next, 0, 3, MPI_INT, window);
  access_to ("put", next, 12, 0);
  MPI_Win_fence (0, window);
  called ("win_fence", 0, 0);
  called ("win_fence", 0, 0);
  MPI_Win_free (&window);
  called ("win_free", 0, 0);
}

/* --- Files: the messages of MPI for them are not the program's --- */

static void
do_files (const char *folder)
{
  char path[4096];
  MPI_File file;

  snprintf (path, sizeof path, "%s/shared.data", folder);
  MPI_File_open (MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  MPI_File_write_at_all (file, 64 * rank, data, 64, MPI_BYTE, MPI_STATUS_IGNORE);
  MPI_File_close (&file);
}

/* --- Threads --- */

static void *
run_thread (void *argument)
{
  int number = *(int *) argument, next = (rank + 1) % n_ranks;
  int before = (rank + n_ranks - 1) % n_ranks;
  char mine[64], theirs[64];
  MPI_Request requests[2];

  for (int i = 0; i < 20; i++) {
    memset (mine, number, sizeof mine);
    if (i % 2 == 0) {
      MPI_Irecv (theirs, 64, MPI_BYTE, before, number, MPI_COMM_WORLD, &requests[0]);
      MPI_Isend (mine, 64, MPI_BYTE, next, number, MPI_COMM_WORLD, &requests[1]);
      MPI_Waitall (2, requests, MPI_STATUSES_IGNORE);
    } else if (rank % 2 == 0) {
      MPI_Send (mine, 64, MPI_BYTE, next, number, MPI_COMM_WORLD);
      MPI_Recv (theirs, 64, MPI_BYTE, before, number, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv (theirs, 64, MPI_BYTE, before, number, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send (mine, 64, MPI_BYTE, next, number, MPI_COMM_WORLD);
    }
    assert (theirs[0] == number);
  }
  return NULL;
}

static void
do_threads (void)
{
  pthread_t threads[MAX_THREADS];
  int numbers[MAX_THREADS];

  for (int i = 0; i < MAX_THREADS; i++) {
    numbers[i] = i;
    pthread_create (&threads[i], NULL, run_thread, &numbers[i]);
  }
  for (int i = 0; i < MAX_THREADS; i++)
    pthread_join (threads[i], NULL);
  for (int i = 0; i < 20 * MAX_THREADS; i++)
    sent ((rank + 1) % n_ranks, 64);
}

/* --- A killed program --- */

/* Rank 0 says when it has gone on for long enough that what was sent must have
 * been written. */
static void
do_until_killed (const char *folder)
{
  int goes_on = 1;
  double start;

  for (int i = 0; i < 300; i++) {
    MPI_Sendrecv (data, 100, MPI_BYTE, (rank + 1) % n_ranks, 1, other, 100, MPI_BYTE,
                  (rank + n_ranks - 1) % n_ranks, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    sent ((rank + 1) % n_ranks, 100);
  }
  report (folder);
  MPI_Barrier (MPI_COMM_WORLD);
  start = MPI_Wtime ();
  while (goes_on) {
    goes_on = MPI_Wtime () < start + 1.5;
    MPI_Bcast (&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  kill (getpid (), SIGKILL);
}

/* Rank 0 keeps all others waiting. */
static void
do_times (void)
{
  usleep (rank == 0 ? 600000 : 200000);
  MPI_Barrier (MPI_COMM_WORLD);
}

static void
do_all (const char *folder)
{
  do_modes ();
  do_types ();
  do_wildcards ();
  do_persistent ();
  do_many ();
  do_probes ();
  do_splits ();
  do_creations ();
  do_rooted ();
  do_all_to_all ();
  do_reductions ();
  do_nonblocking ();
  do_cart_neighbors ();
  do_graph_neighbors ();
  do_windows ();
  do_late_window ();
  do_files (folder);
}

int
main (int argc, char **argv)
{
  int level;

  if (argc != 3)
    return 2;
  if (strcmp (argv[2], "threads") == 0) {
    MPI_Init_thread (&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    if (level != MPI_THREAD_MULTIPLE)
      return 77;
  } else {
    MPI_Init (&argc, &argv);
  }
  MPI_Comm_rank (MPI_COMM_WORLD, &rank);
  MPI_Comm_size (MPI_COMM_WORLD, &n_ranks);
  if (strcmp (argv[2], "nothing") == 0)
    return MPI_Finalize ();
  assert (n_ranks >= 8 && n_ranks % 4 == 0 && n_ranks <= MAX_RANKS);
  if (strcmp (argv[2], "threads") == 0)
    do_threads ();
  else if (strcmp (argv[2], "times") == 0)
    do_times ();
  else if (strcmp (argv[2], "killed") == 0)
    do_until_killed (argv[1]);
  else
    do_all (argv[1]);
  report (argv[1]);
  MPI_Finalize ();
  return 0;
}
