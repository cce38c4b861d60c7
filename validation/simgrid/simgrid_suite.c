/* simgrid_suite.c - packets, flows and SimGrid's own replayer, side by side.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A case is a trace or a pattern on a torus.  Its figures: flow over smpirun -replay, an error of ours
 * or a difference of the protocols; packet over flow, the congestion that flows lack; of patterns also
 * the share of pairs of mappings (RCC) that both networks put in the same order. */
#include "predictors/scoring/scores.h"
#include "validation/simgrid/replays.h"
#include "validation/suite.h"

#include <math.h>
#include <string.h>

/* validation/data/simgrid_published.csv as a string, made by the build. */
static const char published_csv[] =
#include "validation/simgrid/simgrid_published.inc"
    ;

#define TREES \
  "--cfg=smpi/bcast:binomial_tree --cfg=smpi/reduce:ompi_binomial --cfg=smpi/barrier:ompi_bruck"
#define LONG_SUMS                                                  \
  TREES " --cfg=smpi/allreduce:rab_rdb --cfg=smpi/alltoall:bruck " \
        "--cfg=smpi/alltoallv:ompi_basic_linear"
#define SHORT_SUMS TREES " --cfg=smpi/allreduce:rdb"

static const SimgridCase cases[] = {
  { "nas_is_s", "nas-is-S-16.ti.gz", "4x4", NULL, LONG_SUMS },
  { "npb_is_a", "npb-is-A-16.meta", "4x4", NULL, LONG_SUMS },
  { "lammps", "lammps-64.hct", "4x4x4", NULL, SHORT_SUMS },
  { "comd", "comd-256.ti.gz", "16x4x4", NULL, SHORT_SUMS },
  { "npb_cg", "gen:npb:kernel=cg,class=S,ranks=64,iterations=2", "4x4x4", NULL, SHORT_SUMS },
  { "npb_mg", "gen:npb:kernel=mg,class=S,ranks=64,iterations=1", "4x4x4", NULL, SHORT_SUMS },
  { "npb_bt", "gen:npb:kernel=bt,class=S,ranks=16,iterations=2", "4x4", NULL, SHORT_SUMS },
  { "npb_sp", "gen:npb:kernel=sp,class=S,ranks=16,iterations=2", "4x4", NULL, SHORT_SUMS },
  { "pingpong_short", "gen:pingpong:ranks=64,bytes=4K,iterations=50", "4x4x4", NULL, "" },
  { "pingpong_long", "gen:pingpong:ranks=64,bytes=1M,iterations=4", "4x4x4", NULL, "" },
  { "ring", "gen:ring:ranks=64,bytes=64000,iterations=4", "4x4x4", NULL, "" },
  { "shift", "gen:permutation:ranks=64,kind=shift,distance=21,bytes=64000,iterations=4", "4x4x4",
    NULL, "" },
  { "transpose", "gen:permutation:ranks=64,kind=transpose,bytes=64000,iterations=4", "4x4x4", NULL,
    "" },
  { "reversal", "gen:permutation:ranks=64,kind=reverse,bytes=64000,iterations=4", "4x4x4", NULL,
    "" },
  { "permutation", "gen:permutation:ranks=64,kind=random,bytes=64000,iterations=4", "4x4x4", NULL,
    "" },
  { "random", "gen:random:ranks=64,bytes=64000,iterations=2", "4x4x4", NULL, "" },
  { "halo2d", "gen:halo2d:ranks=64,bytes=64000,iterations=2", "4x4x4", NULL, "" },
  { "halo3d", "gen:halo3d:ranks=64,bytes=64000,iterations=1", "4x4x4", NULL, "" },
  { "groups", "gen:suba2a:ranks=64,size=8,bytes=64000,iterations=1", "4x4x4", NULL, "" },
  { "alltoall", "gen:alltoall:ranks=64,bytes=8K,iterations=1", "4x4x4", "ompi-4.1",
    "--cfg=smpi/coll-selector:ompi" },
};

typedef struct {
  const ValidationWatch *watch;
  SimgridPlaces places;
  struct {
    guint n_done[SIMGRID_N_WAYS]; /* mappings */
    SimgridTime times[SIMGRID_N_WAYS][SIMGRID_N_MAPPINGS];
    double rcc;
  } of[G_N_ELEMENTS (cases)];
} Simgrid;

static gpointer
simgrid_open (const ValidationWatch *watch)
{
  Simgrid *simgrid = g_new0 (Simgrid, 1);

  simgrid->watch = watch;
  simgrid->places.traces = watch->traces != NULL ? watch->traces : "traces/data";
  simgrid->places.smpirun = watch->smpirun;
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    simgrid->of[i].rcc = (double) NAN;
  return simgrid;
}

static void
simgrid_close (gpointer data)
{
  Simgrid *simgrid = data;

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (guint way = 0; way < SIMGRID_N_WAYS; way++)
      for (guint mapping = 0; mapping < SIMGRID_N_MAPPINGS; mapping++)
        simgrid_time_clear (&simgrid->of[i].times[way][mapping]);
  g_free (simgrid);
}

/* Makes the runs of a case that are missing, of two ways.  FALSE and *error, also when one of them
 * could not be run. */
static gboolean
need (Simgrid *simgrid, guint number, SimgridWay one, SimgridWay other, guint n_mappings,
      GError **error)
{
  bool wanted[SIMGRID_N_WAYS] = { false };
  guint *n_done = simgrid->of[number].n_done;

  wanted[one] = n_done[one] < n_mappings;
  wanted[other] = n_done[other] < n_mappings;
  if ((wanted[one] || wanted[other]) &&
      !simgrid_replay (&cases[number], &simgrid->places, wanted, n_mappings,
                       simgrid->of[number].times, error))
    return FALSE;
  for (guint way = 0; way < SIMGRID_N_WAYS; way++)
    if (wanted[way])
      n_done[way] = n_mappings;
  for (guint i = 0; i < 2; i++) {
    const SimgridTime *time = &simgrid->of[number].times[i == 0 ? one : other][0];

    if (time->why != NULL) {
      g_set_error_literal (error, VALIDATION_ERROR, VALIDATION_ERROR_NOT_RUN, time->why);
      return FALSE;
    }
  }
  return TRUE;
}

static double
time_of (const Simgrid *simgrid, guint number, SimgridWay way, guint mapping)
{
  return simgrid->of[number].times[way][mapping].time_s;
}

/* NaN when either is not known. */
static double
ratio_of (const Simgrid *simgrid, guint number, SimgridWay over, SimgridWay under)
{
  if (simgrid->of[number].n_done[over] == 0 || simgrid->of[number].n_done[under] == 0)
    return (double) NAN;
  return time_of (simgrid, number, over, 0) / time_of (simgrid, number, under, 0);
}

/* NaN and *error when either could not be run. */
static double
measure_ratio (Simgrid *simgrid, uint32_t number, SimgridWay over, SimgridWay under,
               const char *point, GError **error)
{
  if (!need (simgrid, number, over, under, 1, error))
    return (double) NAN;
  validation_detail (simgrid->watch->details, cases[number].name, point,
                     time_of (simgrid, number, under, 0), time_of (simgrid, number, over, 0), "s");
  return ratio_of (simgrid, number, over, under);
}

static double
measure_flow_smpirun (gpointer state, uint32_t number, GError **error)
{
  return measure_ratio (state, number, SIMGRID_FLOW, SIMGRID_SMPIRUN, "flow/smpirun", error);
}

static double
measure_packet_flow (gpointer state, uint32_t number, GError **error)
{
  return measure_ratio (state, number, SIMGRID_PACKET, SIMGRID_FLOW, "packet/flow", error);
}

static double
measure_rcc (gpointer state, uint32_t number, GError **error)
{
  Simgrid *simgrid = state;
  double observed[SIMGRID_N_MAPPINGS], predicted[SIMGRID_N_MAPPINGS];

  if (!need (simgrid, number, SIMGRID_PACKET, SIMGRID_FLOW, SIMGRID_N_MAPPINGS, error))
    return (double) NAN;
  for (guint mapping = 0; mapping < SIMGRID_N_MAPPINGS; mapping++) {
    g_autofree char *point = g_strdup_printf ("packet/flow mapping %u", mapping);

    observed[mapping] = time_of (simgrid, number, SIMGRID_PACKET, mapping);
    predicted[mapping] = time_of (simgrid, number, SIMGRID_FLOW, mapping);
    validation_detail (simgrid->watch->details, cases[number].name, point, predicted[mapping],
                       observed[mapping], "s");
  }
  return simgrid->of[number].rcc = predict_score (observed, predicted, SIMGRID_N_MAPPINGS).rcc;
}

/* --- Causes of differences ---
 *
 * Tried by themselves are the weights of shift and permutation, by one round alone (0.4 %) and the hand-worked
 * case of validation/simgrid/simgrid_suite_test.sh, and their turns; the others are told as probable. */

static const char weights[] =
    "SimGrid shares a link by the latencies of paths, ours equally: ranks begin the next round at "
    "other times";
static const char as_weights[] =
    "probably as of shift: SimGrid shares a link by the latencies of paths, ours equally";
static const char turns[] =
    "flows share a link and end together; packets let some ranks begin the next round earlier";
static const char blocking[] =
    "probably: packets block one another in receive buffers and FIFOs; flows have neither";
static const char one_time[] =
    "all mappings load the links alike: flow has one time for all, packets differ";

static const struct {
  const char *figure, *cause;
} causes[] = {
  { "shift_flow_smpirun", weights },
  { "transpose_flow_smpirun", as_weights },
  { "reversal_flow_smpirun", as_weights },
  { "permutation_flow_smpirun", weights },
  { "random_flow_smpirun", as_weights },
  { "groups_flow_smpirun", as_weights },
  { "shift_packet_flow", turns },
  { "permutation_packet_flow", turns },
  { "transpose_packet_flow", blocking },
  { "random_packet_flow", blocking },
  { "halo2d_packet_flow", blocking },
  { "halo3d_packet_flow", blocking },
  { "groups_packet_flow", blocking },
  { "alltoall_packet_flow", blocking },
  { "ring_rcc", blocking },
  { "shift_rcc", turns },
  { "permutation_rcc", turns },
  { "random_rcc", blocking },
  { "halo2d_rcc", blocking },
  { "halo3d_rcc", blocking },
  { "groups_rcc", blocking },
  { "alltoall_rcc", one_time },
};

static const char *
cause_of (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (causes); i++)
    if (strcmp (causes[i].figure, name) == 0)
      return causes[i].cause;
  return NULL;
}

static bool
measure_figure (gpointer state, const ValidationPublished *published, double *simulated,
                GError **error)
{
  static const struct {
    const char *ending;
    double (*measure) (gpointer state, uint32_t number, GError **error);
  } kinds[] = { { "_flow_smpirun", measure_flow_smpirun },
                { "_packet_flow", measure_packet_flow },
                { "_rcc", measure_rcc } };

  for (uint32_t number = 0; number < G_N_ELEMENTS (cases); number++)
    for (guint i = 0; i < G_N_ELEMENTS (kinds); i++) {
      g_autofree char *name = g_strconcat (cases[number].name, kinds[i].ending, NULL);

      if (strcmp (name, published->name) == 0) {
        *simulated = kinds[i].measure (state, number, error);
        return !isnan (*simulated);
      }
    }
  return validation_no_experiment (published, error);
}

/* --- The table --- */

static void
print_time (FILE *out, const Simgrid *simgrid, guint number, SimgridWay way)
{
  if (simgrid->of[number].n_done[way] == 0 || isnan (time_of (simgrid, number, way, 0)))
    fprintf (out, " %11s", "not run");
  else
    fprintf (out, " %11.6f", time_of (simgrid, number, way, 0));
}

static void
print_ratio (FILE *out, double ratio)
{
  if (isnan (ratio))
    fprintf (out, " %11s", "-");
  else
    fprintf (out, " %11.3f", ratio);
}

static void
print_table (gpointer state, FILE *out)
{
  const Simgrid *simgrid = state;

  fprintf (out, "\n%-16s %-8s %11s %11s %11s %11s %11s %11s\n", "trace, pattern", "torus",
           "packet, s", "flow, s", "smpirun, s", "packet/flow", "flow/smpi", "RCC of 20");
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const guint *n_done = simgrid->of[i].n_done;

    if (n_done[SIMGRID_PACKET] + n_done[SIMGRID_FLOW] + n_done[SIMGRID_SMPIRUN] == 0)
      continue;
    fprintf (out, "%-16s %-8s", cases[i].name, cases[i].shape);
    for (guint way = 0; way < SIMGRID_N_WAYS; way++)
      print_time (out, simgrid, i, (SimgridWay) way);
    print_ratio (out, ratio_of (simgrid, i, SIMGRID_PACKET, SIMGRID_FLOW));
    print_ratio (out, ratio_of (simgrid, i, SIMGRID_FLOW, SIMGRID_SMPIRUN));
    print_ratio (out, simgrid->of[i].rcc);
    fputc ('\n', out);
  }
}

const ValidationSuite validation_simgrid = {
  .name = "simgrid",
  .figures = published_csv,
  .path = "simgrid_published.csv",
  .open = simgrid_open,
  .close = simgrid_close,
  .measure = measure_figure,
  .print = print_table,
  .cause = cause_of,
};
