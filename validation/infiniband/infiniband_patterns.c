/* infiniband_patterns.c - benchmarks of 16 tasks under the eight aggregation patterns.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Tasks are grouped as in the paper (infiniband_grouping.c).  Communication is the time that a task
 * spends outside of its computations, waiting included, as mpiP reports it: the mean over the
 * tasks, for all iterations of the program.  Only the first few are simulated, the others take as
 * long as the last of these: iterations of a generated program are alike (12 simulated iterations
 * of LU agree with the extrapolation from 2 and 4 to five digits), and the start and the end of the
 * program would count for more than in a whole run.
 *
 * A core computes 1.8 Gflop/s: the paper's 1.93 instructions per cycle of lu.D.16 at 2.8 GHz, and
 * three instructions per operation (guess).  Computations in a node do not slow each other down.
 * FT's input in the paper (1024 x 512 x 1024) is of no class of the benchmarks, so only its
 * all-to-all is run.  Each task sends 134 MB, as in the paper: 8 MiB to each of 16 (that grid has
 * four times as many). */
#include "validation/infiniband/infiniband.h"

#include "topology/mapping/aggregation.h"

#include <math.h>

#define FEW_ITERATIONS  2 /* the only one of a program is also its last, which takes norms */
#define MORE_ITERATIONS 4

static const struct {
  const char *name, *trace; /* the number of iterations is appended */
  uint32_t iterations;      /* of the paper: lu.D makes 300; 50 of MG and 10 of FT were measured */
} programs[IB_PROGRAMS] = {
  [IB_PROGRAM_LU] = { "lu.D.16", "gen:npb:kernel=lu,class=D,ranks=16", 300 },
  [IB_PROGRAM_FT] = { "ft.16", "gen:alltoall:ranks=16,bytes=8M", 10 },
  [IB_PROGRAM_MG] = { "mg.D.16", "gen:npb:kernel=mg,class=D,ranks=16", 50 },
};

static const char *const settings[] = { "node.compute=1.8 Gflop/s", NULL };

/* The time of all iterations, from those of two numbers of them. */
static double
carried_on (const double ps[2], uint32_t iterations)
{
  double step_ps = (ps[1] - ps[0]) / (MORE_ITERATIONS - FEW_ITERATIONS);

  return ps[1] + step_ps * (iterations - MORE_ITERATIONS);
}

/* Mean communication time of a task; made once; NaN on failure. */
static double
mpi_ps (InfiniBand *ib, IbProgram program, uint32_t pattern, GError **error)
{
  static const uint32_t iterations[] = { MORE_ITERATIONS, FEW_ITERATIONS };
  g_autoptr (TopoNode) harpertown = topo_node_harpertown ();
  double *known = &ib->mpi_ps[program][pattern], mpi[2], time[2];
  uint32_t node[IB_TASKS], n_cores;
  uint8_t cores[IB_TASKS], core[IB_TASKS];
  g_autofree char *spec = NULL, *point = NULL;
  g_autoptr (TopoMachine) machine = NULL;

  if (*known > 0)
    return *known;
  n_cores = topo_node_pattern (harpertown, pattern, cores);
  g_assert (n_cores > 0 && IB_TASKS % n_cores == 0);
  spec = g_strdup_printf ("systemg:%u", IB_TASKS / n_cores);
  if ((machine = validation_machine_new (spec, settings, error)) == NULL)
    return (double) NAN;
  for (uint32_t i = 0; i < 2; i++) {
    g_autofree char *trace =
        g_strdup_printf ("%s,iterations=%u", programs[program].trace, iterations[i]);
    ValidationRun run;

    /* Tasks are grouped by the longer run. */
    if ((i == 0 && !ib_group_tasks (ib, trace, cores, n_cores, node, core, error)) ||
        !validation_replay (trace, machine, IB_TASKS, node, core, &run, error))
      return (double) NAN;
    mpi[1 - i] = run.mpi_ps;
    time[1 - i] = run.time_ps;
  }
  *known = carried_on (mpi, programs[program].iterations);
  point = g_strdup_printf ("%s pattern %u", programs[program].name, pattern);
  validation_detail (ib->details, "pattern", point, (double) NAN, *known * 1e-9, "ms");
  validation_detail (ib->details, "pattern-total", point, (double) NAN,
                     carried_on (time, programs[program].iterations) * 1e-9, "ms");
  return *known;
}

/* The difference of the communication under a pattern from that under pattern 1, in percent. */
static double
rise_percent (InfiniBand *ib, IbProgram program, uint32_t pattern, GError **error)
{
  double alone_ps = mpi_ps (ib, program, 1, error);

  return isnan (alone_ps) ? alone_ps : 100 * (mpi_ps (ib, program, pattern, error) / alone_ps - 1);
}

/* The largest difference, up or down, of patterns 2 to 6 (0) or 7 and 8 (1). */
double
ib_lu_spread (InfiniBand *ib, uint32_t high_patterns, GError **error)
{
  uint32_t last = high_patterns ? 8 : 6;
  double most = 0;

  for (uint32_t pattern = high_patterns ? 7 : 2; pattern <= last; pattern++) {
    double percent = rise_percent (ib, IB_PROGRAM_LU, pattern, error);

    if (isnan (percent))
      return percent;
    most = fmax (most, fabs (percent));
  }
  return most;
}

/* The least (0) or the most (1) of patterns 2 to 6. */
static double
ft_2_to_6 (InfiniBand *ib, bool most, GError **error)
{
  double end = most ? -(double) INFINITY : (double) INFINITY;

  for (uint32_t pattern = 2; pattern <= 6; pattern++) {
    double percent = rise_percent (ib, IB_PROGRAM_FT, pattern, error);

    if (isnan (percent))
      return percent;
    end = most ? fmax (end, percent) : fmin (end, percent);
  }
  return end;
}

/* The least (0) or the most (1) of patterns 2 to 6; pattern 7 itself (7). */
double
ib_ft_rise (InfiniBand *ib, uint32_t which, GError **error)
{
  return which == 7 ? rise_percent (ib, IB_PROGRAM_FT, 7, error)
                    : ft_2_to_6 (ib, which == 1, error);
}

/* Time of pattern 7 over the longest of 1 to 6. */
double
ib_ft_worst (InfiniBand *ib, uint32_t unused G_GNUC_UNUSED, GError **error)
{
  double most = ft_2_to_6 (ib, true, error);
  double seventh = isnan (most) ? most : rise_percent (ib, IB_PROGRAM_FT, 7, error);

  return (100 + seventh) / (100 + fmax (most, 0));
}

/* The reduction of communication by a pattern, in percent. */
double
ib_mg_gain (InfiniBand *ib, uint32_t pattern, GError **error)
{
  return -rise_percent (ib, IB_PROGRAM_MG, pattern, error);
}

/* The smaller of the gains of pattern 3 over 2, and of 4 over 3, in percent of pattern 1. */
double
ib_mg_order (InfiniBand *ib, uint32_t unused G_GNUC_UNUSED, GError **error)
{
  double gain[3];

  for (uint32_t i = 0; i < 3; i++) {
    gain[i] = ib_mg_gain (ib, 2 + i, error);
    if (isnan (gain[i]))
      return gain[i];
  }
  return fmin (gain[1] - gain[0], gain[2] - gain[1]);
}
