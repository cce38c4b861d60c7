/* scale_test.c - the cost of one rank in a large run.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/run.h"

#include <glib/gstdio.h>
#include <stdio.h>
#include <sys/resource.h>

enum { SIDE = 256, N_RANKS = SIDE * SIDE, RANKS_PER_NODE = 16 };

/* A whole Sequoia, 98,304 nodes of 16 ranks, must fit in 16 GiB; half of that
 * is left for longer messages, and for more of them. */
#define MAX_BYTES_PER_RANK ((8ull << 30) / (98304 * RANKS_PER_NODE))

/* With messages of 4 KiB to 14 neighbours it must fit in 9 GB.  Here, on a 24th of the nodes, what
 * does not grow with the ranks counts for more. */
#define MAX_HALO3D_BYTES_PER_RANK (9500000000ull / (98304 * RANKS_PER_NODE))

/* The neighbour of a rank on a periodic square grid. */
static unsigned
neighbour (unsigned rank, unsigned direction)
{
  unsigned x = rank % SIDE, y = rank / SIDE;
  unsigned step = direction % 2 == 0 ? 1 : SIDE - 1;

  return direction < 2 ? (x + step) % SIDE + SIDE * y : x + SIDE * ((y + step) % SIDE);
}

/* Each rank exchanges 512 bytes with its four neighbours, then all reduce a
 * number.  Written at once, without keeping it in memory. */
static char *
write_halo (void)
{
  char *path = NULL;
  int descriptor = g_file_open_tmp ("hopcast-scale-XXXXXX.txt", &path, NULL);
  FILE *file = descriptor >= 0 ? fdopen (descriptor, "w") : NULL;

  g_assert_nonnull (file);
  for (unsigned rank = 0; rank < N_RANKS; rank++) {
    fprintf (file, "%u init\n", rank);
    for (unsigned direction = 0; direction < 4; direction++)
      fprintf (file, "%u irecv %u %u 512 6\n", rank, neighbour (rank, direction), direction ^ 1);
    for (unsigned direction = 0; direction < 4; direction++)
      fprintf (file, "%u isend %u %u 512 6\n", rank, neighbour (rank, direction), direction);
    fprintf (file, "%u waitall\n%u allreduce 1 0 0\n%u finalize\n", rank, rank, rank);
  }
  g_assert_cmpint (fclose (file), ==, 0);
  return path;
}

static uint64_t
peak_bytes (void)
{
  struct rusage usage;

  g_assert_cmpint (getrusage (RUSAGE_SELF, &usage), ==, 0);
  return (uint64_t) usage.ru_maxrss * 1024;
}

static SimRun *
run_file (const char *path)
{
  SimRunOptions options = { .trace_path = path, .compute_scale = 1 };
  GError *error = NULL;
  g_autoptr (Trace) trace = trace_open (path, NULL, &error);
  g_autoptr (TopoMachine) machine = topo_machine_new ("bgq:4096", &error);
  g_autoptr (TopoMapping) mapping = NULL;
  SimRun *run;

  g_assert_no_error (error);
  machine->ranks_per_node = RANKS_PER_NODE;
  mapping = topo_mapping_new (NULL, machine, N_RANKS, &error);
  g_assert_no_error (error);
  run = sim_run (trace, machine, mapping, &options, &error);
  g_assert_no_error (error);
  return run;
}

/* Before the first test. */
static uint64_t start_bytes;

/* They need memory of their own. */
static gboolean
have_sanitizers (void)
{
#ifdef WITH_SANITIZERS
  return TRUE;
#else
  return FALSE;
#endif
}

static void
test_memory_per_rank (void)
{
  g_autofree char *path = NULL;
  g_autoptr (SimRun) run = NULL;
  uint64_t taken_bytes;

  if (have_sanitizers ()) {
    g_test_skip ("built with sanitizers");
    return;
  }
  path = write_halo ();
  run = run_file (path);
  g_remove (path);
  g_assert_cmpuint (run->result.messages, ==, 4 * N_RANKS);
  g_assert_cmpuint (run->result.collectives, ==, N_RANKS);
  taken_bytes = run->peak_rss_bytes - start_bytes;
  g_test_message ("%" G_GUINT64_FORMAT " bytes per rank", taken_bytes / N_RANKS);
  g_assert_cmpuint (taken_bytes / N_RANKS, <, MAX_BYTES_PER_RANK);
}

/* In a process of its own, as the first test leaves memory behind that counts. */
static void
test_memory_of_a_halo (void)
{
  g_autoptr (SimRun) run = NULL;
  uint64_t taken_bytes;

  if (have_sanitizers ()) {
    g_test_skip ("built with sanitizers");
    return;
  }
  if (!g_test_subprocess ()) {
    g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_INHERIT_STDERR);
    g_test_trap_assert_passed ();
    return;
  }
  run = run_file ("gen:halo3d:ranks=65536,bytes=4K,iterations=1");
  g_assert_cmpuint (run->result.messages, ==, 14 * N_RANKS);
  taken_bytes = run->peak_rss_bytes - start_bytes;
  g_test_message ("%" G_GUINT64_FORMAT " bytes per rank", taken_bytes / N_RANKS);
  g_assert_cmpuint (taken_bytes / N_RANKS, <, MAX_HALO3D_BYTES_PER_RANK);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  start_bytes = peak_bytes ();
  g_test_add_func ("/sim/scale/memory_per_rank", test_memory_per_rank);
  g_test_add_func ("/sim/scale/memory_of_a_halo", test_memory_of_a_halo);
  return g_test_run ();
}
