/* infiniband_alltoall.c - MPI_Alltoall of 64 ranks that fill 8 nodes.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * As measured in May 2009 on nodes of two quad-core Harpertowns (see the
 * conditions of the figures).  Ranks fill one node after the other, Open
 * MPI's default.  The forced algorithms are written out as messages, so that
 * they do not depend on the rules that choose one. */
#include "config.h"

#include "sim/collective/collective.h"
#include "validation/infiniband/infiniband.h"

#include <math.h>

#define RANKS     64
#define PER_NODE  8
#define MACHINE   "systemg:8"
#define BYTE_TYPE 6

#define FIRST_CALLS 1
#define CALLS       2

/* Appends one call of an algorithm, or what stands for one. */
typedef void (*AppendCall) (GString *text, uint32_t bytes);

static void
place (uint32_t node[RANKS], uint8_t core[RANKS])
{
  for (uint32_t rank = 0; rank < RANKS; rank++) {
    node[rank] = rank / PER_NODE;
    core[rank] = (uint8_t) (rank % PER_NODE);
  }
}

/* To `up` ranks on, and from as many back. */
static void
append_exchange (GString *text, uint32_t rank, uint32_t up, uint64_t bytes)
{
  g_string_append_printf (text,
                          "%u irecv %u 0 %" G_GUINT64_FORMAT " %d\n"
                          "%u isend %u 0 %" G_GUINT64_FORMAT " %d\n"
                          "%u waitall\n",
                          rank, (rank + RANKS - up) % RANKS, bytes, BYTE_TYPE, rank,
                          (rank + up) % RANKS, bytes, BYTE_TYPE, rank);
}

/* Open MPI's: in step k to the rank k on, from the rank k back. */
static void
append_pairwise (GString *text, uint32_t bytes)
{
  for (uint32_t up = 1; up < RANKS; up++)
    for (uint32_t rank = 0; rank < RANKS; rank++)
      append_exchange (text, rank, up, bytes);
}

/* Bruck's: half of all blocks to the rank 2^k on; the copies that sort the
 * blocks before and after are left out. */
static void
append_bruck (GString *text, uint32_t bytes)
{
  for (uint32_t up = 1; up < RANKS; up *= 2)
    for (uint32_t rank = 0; rank < RANKS; rank++)
      append_exchange (text, rank, up, (uint64_t) bytes * RANKS / 2);
}

static double
calls_ps (const TopoMachine *machine, AppendCall append, uint32_t bytes, uint32_t n_calls,
          GError **error)
{
  g_autoptr (GString) text = g_string_new (NULL);
  uint32_t node[RANKS];
  uint8_t core[RANKS];
  ValidationRun run;

  place (node, core);
  for (uint32_t rank = 0; rank < RANKS; rank++)
    g_string_append_printf (text, "%u init\n", rank);
  for (uint32_t call = 0; call < n_calls; call++)
    append (text, bytes);
  for (uint32_t rank = 0; rank < RANKS; rank++)
    g_string_append_printf (text, "%u finalize\n", rank);
  if (!validation_replay_text (text->str, machine, RANKS, node, core, &run, error))
    return (double) NAN;
  g_free (run.end_ps);
  return run.time_ps;
}

static double
generated_ps (const TopoMachine *machine, uint32_t bytes, uint32_t n_calls, GError **error)
{
  g_autofree char *trace =
      g_strdup_printf ("gen:alltoall:ranks=%d,bytes=%u,iterations=%u", RANKS, bytes, n_calls);
  uint32_t node[RANKS];
  uint8_t core[RANKS];
  ValidationRun run;

  place (node, core);
  if (!validation_replay (trace, machine, RANKS, node, core, &run, error))
    return (double) NAN;
  g_free (run.end_ps);
  return run.time_ps;
}

/* With `append` NULL by the rules of the machine's MPI. */
static double
call_us (AppendCall append, uint32_t bytes, GError **error)
{
  g_autoptr (TopoMachine) machine = validation_machine_new (MACHINE, NULL, error);
  double end_ps[2] = { (double) NAN, (double) NAN };

  for (uint32_t i = 0; machine != NULL && i < 2; i++) {
    uint32_t n_calls = FIRST_CALLS + i * CALLS;

    end_ps[i] = append == NULL ? generated_ps (machine, bytes, n_calls, error)
                               : calls_ps (machine, append, bytes, n_calls, error);
    if (isnan (end_ps[i]))
      break;
  }
  return (end_ps[1] - end_ps[0]) * 1e-6 / CALLS;
}

/* Measured once. */
static double
known_us (InfiniBand *ib, const char *series, AppendCall append, uint32_t bytes, GError **error)
{
  g_autofree char *point = g_strdup_printf ("%u", bytes);
  double us;

  if (ib_known (ib, series, point, &us))
    return us;
  us = call_us (append, bytes, error);
  if (!isnan (us))
    ib_keep (ib, series, point, us, "us");
  return us;
}

double
ib_alltoall_us (InfiniBand *ib, uint32_t bytes, GError **error)
{
  return known_us (ib, "alltoall-rules", NULL, bytes, error);
}

double
ib_pairwise_us (InfiniBand *ib, uint32_t bytes, GError **error)
{
  return known_us (ib, "alltoall-pairwise", append_pairwise, bytes, error);
}

double
ib_bruck_us (InfiniBand *ib, uint32_t bytes, GError **error)
{
  return known_us (ib, "alltoall-bruck", append_bruck, bytes, error);
}

/* Does a rank wait before it has sent to all others? */
static bool
goes_one_by_one (const TopoMachine *machine, uint64_t bytes)
{
  const TraceOp op = {
    .kind = TRACE_OP_ALLTOALL, .comm = TRACE_COMM_WORLD, .bytes = bytes, .recv_bytes = bytes
  };
  SimCollective collective;
  uint32_t n_sent = 0, n_waits = 0;

  sim_collective_init (&collective, machine, &op, RANKS, 0, true);
  for (uint32_t step = 0; step < collective.n_steps; step++) {
    SimStep now = sim_collective_step (&collective, step);

    n_sent += now.send_to != TOPO_NONE && now.send_to != 0;
    n_waits += now.wait && n_sent < RANKS - 1;
  }
  /* Bruck's rounds are fewer messages than there are ranks. */
  return n_sent == RANKS - 1 && n_waits >= RANKS - 2;
}

double
ib_alltoall_change_bytes (InfiniBand *ib, uint32_t last_bytes, GError **error)
{
  g_autoptr (TopoMachine) machine = validation_machine_new (MACHINE, NULL, error);
  uint32_t bytes = 1;

  (void) ib;
  if (machine == NULL)
    return (double) NAN;
  while (bytes < last_bytes && !goes_one_by_one (machine, bytes))
    bytes++;
  return bytes;
}

/* Time just below this size over the time at it. */
double
ib_alltoall_drop (InfiniBand *ib, uint32_t bytes, GError **error)
{
  double below_us = ib_alltoall_us (ib, bytes - 1, error);

  return isnan (below_us) ? below_us : below_us / ib_alltoall_us (ib, bytes, error);
}

double
ib_pairwise_flatness (InfiniBand *ib, uint32_t unused, GError **error)
{
  double small_us = ib_pairwise_us (ib, 10, error);

  (void) unused;
  return isnan (small_us) ? small_us : ib_pairwise_us (ib, 3000, error) / small_us;
}

double
ib_bruck_growth (InfiniBand *ib, uint32_t unused, GError **error)
{
  double half_us = ib_bruck_us (ib, 1000, error);

  (void) unused;
  return isnan (half_us) ? half_us : ib_bruck_us (ib, 2000, error) / half_us;
}
