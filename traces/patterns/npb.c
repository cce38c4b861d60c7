/* npb.c - the NAS Parallel Benchmarks as a pattern: classes, calls, programs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/patterns/npb.h"
#include "traces/format.h"

#include <math.h>
#include <string.h>

/* --- The problem sizes of the classes, and their operation counts --- */

/* Sizes and iterations are those of NPB 3.3 (NASA's page "Problem Sizes and
 * Parameters in NPB").  IS has no class E there: that one is of NPB 3.4. */

#define N_CLASSES 7

static const char class_names[N_CLASSES + 1] = "SWABCDE";

#define SIZE(n0, n1, n2, iterations) \
  {                                  \
    { n0, n1, n2 }, iterations       \
  }

/* n[] of BT, SP, LU, MG and FT is the grid; of CG the order of the matrix and
 * its nonzeros per row (before they are spread); of IS log2 of the number of
 * keys, of the largest key and of the number of buckets; of EP log2 of the
 * number of pairs. */
static const NpbProblem problems[NPB_N_KERNELS][N_CLASSES] = {
  [NPB_BT] = { SIZE (12, 12, 12, 60), SIZE (24, 24, 24, 200), SIZE (64, 64, 64, 200),
               SIZE (102, 102, 102, 200), SIZE (162, 162, 162, 200), SIZE (408, 408, 408, 250),
               SIZE (1020, 1020, 1020, 250) },
  [NPB_SP] = { SIZE (12, 12, 12, 100), SIZE (36, 36, 36, 400), SIZE (64, 64, 64, 400),
               SIZE (102, 102, 102, 400), SIZE (162, 162, 162, 400), SIZE (408, 408, 408, 500),
               SIZE (1020, 1020, 1020, 500) },
  [NPB_LU] = { SIZE (12, 12, 12, 50), SIZE (33, 33, 33, 300), SIZE (64, 64, 64, 250),
               SIZE (102, 102, 102, 250), SIZE (162, 162, 162, 250), SIZE (408, 408, 408, 300),
               SIZE (1020, 1020, 1020, 300) },
  [NPB_CG] = { SIZE (1400, 7, 0, 15), SIZE (7000, 8, 0, 15), SIZE (14000, 11, 0, 15),
               SIZE (75000, 13, 0, 75), SIZE (150000, 15, 0, 75), SIZE (1500000, 21, 0, 100),
               SIZE (9000000, 26, 0, 100) },
  [NPB_MG] = { SIZE (32, 32, 32, 4), SIZE (128, 128, 128, 4), SIZE (256, 256, 256, 4),
               SIZE (256, 256, 256, 20), SIZE (512, 512, 512, 20), SIZE (1024, 1024, 1024, 50),
               SIZE (2048, 2048, 2048, 50) },
  [NPB_FT] = { SIZE (64, 64, 64, 6), SIZE (128, 128, 32, 6), SIZE (256, 256, 128, 6),
               SIZE (512, 256, 256, 20), SIZE (512, 512, 512, 20), SIZE (2048, 1024, 1024, 25),
               SIZE (4096, 2048, 2048, 25) },
  [NPB_IS] = { SIZE (16, 11, 9, 10), SIZE (20, 16, 10, 10), SIZE (23, 19, 10, 10),
               SIZE (25, 21, 10, 10), SIZE (27, 23, 10, 10), SIZE (31, 27, 10, 10),
               SIZE (35, 31, 10, 10) },
  [NPB_EP] = { SIZE (24, 0, 0, 1), SIZE (25, 0, 0, 1), SIZE (28, 0, 0, 1), SIZE (30, 0, 0, 1),
               SIZE (32, 0, 0, 1), SIZE (36, 0, 0, 1), SIZE (40, 0, 0, 1) },
};
#undef SIZE

/* For one iteration: the polynomials of the Mop/s report of NPB 3.3.  EP
 * counts random numbers and IS ranked keys, which are not floating-point
 * operations. */
static double
problem_flops (NpbKernelId kernel, const NpbProblem *problem)
{
  double n = problem->n[0];
  double points = n * problem->n[1] * problem->n[2];
  double row = (double) problem->n[1] * (problem->n[1] + 1);

  switch (kernel) {
  case NPB_BT: return ((3478.8 * n - 17655.7) * n + 28023.7) * n;
  case NPB_SP: return ((881.174 * n - 4683.91) * n + 11484.5) * n - 19272.4;
  case NPB_LU: return ((1984.77 * n - 10923.3) * n + 27770.9) * n - 144010;
  case NPB_CG: return 2 * n * (3 + row + 25 * (5 + row) + 3);
  case NPB_MG: return 58 * points;
  case NPB_FT: return points * (5.23518 + 7.21113 * log (points));
  case NPB_IS: return ldexp (1, problem->n[0]);
  case NPB_EP: return ldexp (1, problem->n[0] + 1);
  case NPB_N_KERNELS: break;
  }
  g_assert_not_reached ();
}

/* --- The calls that the kernels have in common --- */

void
npb_call (PatternOps *ops, const char *name)
{
  pattern_ops_add (ops, TRACE_OP_CALL, name);
}

static TraceOp *
add_collective (PatternOps *ops, TraceOpKind kind, const char *name, uint32_t comm, uint64_t bytes)
{
  TraceOp *op = pattern_ops_add (ops, kind, name);

  op->comm = comm;
  op->bytes = bytes;
  return op;
}

void
npb_barrier (PatternOps *ops, uint32_t comm)
{
  add_collective (ops, TRACE_OP_BARRIER, "MPI_Barrier", comm, 0);
}

void
npb_bcast (PatternOps *ops, uint32_t comm, uint64_t bytes)
{
  add_collective (ops, TRACE_OP_BCAST, "MPI_Bcast", comm, bytes)->root = 0;
}

void
npb_reduce (PatternOps *ops, uint32_t comm, uint64_t bytes)
{
  add_collective (ops, TRACE_OP_REDUCE, "MPI_Reduce", comm, bytes)->root = 0;
}

void
npb_allreduce (PatternOps *ops, uint32_t comm, uint64_t bytes)
{
  add_collective (ops, TRACE_OP_ALLREDUCE, "MPI_Allreduce", comm, bytes);
}

void
npb_exchange (PatternOps *ops, int32_t from, uint64_t from_bytes, int32_t to, uint64_t to_bytes,
              int32_t tag)
{
  if (from >= 0)
    pattern_ops_irecv (ops, from, tag, from_bytes, PATTERN_FIRST_REQUEST);
  pattern_ops_send (ops, to, tag, to_bytes);
  if (from >= 0)
    pattern_ops_wait (ops, PATTERN_FIRST_REQUEST, 1);
}

void
npb_compute (const Npb *npb, PatternOps *ops, double share)
{
  if (npb->flops * share > 0)
    pattern_ops_add (ops, TRACE_OP_COMPUTE, "compute")->flops = npb->flops * share;
}

/* --- Programs and their steps --- */

/* In the order of NpbKernelId. */
static const char *const names[] = { "bt", "sp", "lu", "cg", "mg", "ft", "is", "ep" };
static const NpbKernel *const kernels[] = { &npb_bt, &npb_sp, &npb_lu, &npb_cg,
                                            &npb_mg, &npb_ft, &npb_is, &npb_ep };

G_STATIC_ASSERT (G_N_ELEMENTS (names) == NPB_N_KERNELS);
G_STATIC_ASSERT (G_N_ELEMENTS (kernels) == NPB_N_KERNELS);

enum { KERNEL, CLASS, RANKS, ITERATIONS, COMPUTE, GRID };

static const TraceParameter parameters[] = {
  { "kernel", TRACE_PARAMETER_WORD, NULL, 0, "bt|sp|lu|cg|mg|ft|is|ep: which benchmark" },
  { "class", TRACE_PARAMETER_WORD, NULL, 0, "S|W|A|B|C|D|E: size of the problem" },
  { "ranks", TRACE_PARAMETER_INTEGER, NULL, 1,
    "number of ranks; bt, sp: square; ep: any; else 2^k" },
  { "iterations", TRACE_PARAMETER_INTEGER, "0", 0,
    "number of timed iterations; 0: the class's own" },
  { "compute", TRACE_PARAMETER_WORD, "counted", 0,
    "counted|none: operations as the benchmark counts them, or none" },
  { "grid", TRACE_PARAMETER_GRID, "", 2,
    "ft: points of another grid than the class's, such as 1024x512x1024" },
  { NULL, 0, NULL, 0, NULL },
};

gboolean
npb_refuse (const Npb *npb, GError **error, const char *format, ...)
{
  g_autofree char *reason = NULL;
  va_list arguments;

  va_start (arguments, format);
  reason = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  return TRACE_FAIL (TRACE_ERROR_RANGE, error, "class %c on %u ranks with %u iterations: %s",
                     npb->class_name, npb->n_ranks, npb->iterations, reason);
}

gboolean
npb_need_power_of_two (const Npb *npb, GError **error)
{
  if ((npb->n_ranks & (npb->n_ranks - 1)) == 0)
    return TRUE;
  return npb_refuse (npb, error, "it runs on a power of two of ranks");
}

/* Replaces the grid of the class by another one. */
static gboolean
set_grid (Npb *npb, NpbKernelId id, const int64_t grid[3], GError **error)
{
  if (id != NPB_FT)
    return npb_refuse (npb, error, "only ft can have another grid than its class");
  for (guint axis = 0; axis < 3; axis++) {
    if (grid[axis] == 0 || (grid[axis] & (grid[axis] - 1)) != 0)
      return npb_refuse (npb, error, "the sides of a grid of ft are three powers of two");
    npb->problem.n[axis] = (int32_t) grid[axis];
  }
  return TRUE;
}

static void
close_program (gpointer data)
{
  Npb *npb = data;

  if (npb->own != NULL)
    npb->own_free (npb->own);
  g_free (npb);
}

static gpointer
open_program (TraceParameterValue *values, uint32_t *n_ranks, GError **error)
{
  Npb *npb = g_new0 (Npb, 1);
  guint id = 0;

  while (strcmp (names[id], values[KERNEL].word) != 0)
    id++;
  npb->kernel = kernels[id];
  npb->class_name = values[CLASS].word[0];
  npb->problem = problems[id][strchr (class_names, npb->class_name) - class_names];
  npb->n_ranks = (uint32_t) values[RANKS].integer;
  npb->iterations = (uint32_t) values[ITERATIONS].integer;
  if (values[GRID].grid[0] > 0 && !set_grid (npb, (NpbKernelId) id, values[GRID].grid, error)) {
    close_program (npb);
    return NULL;
  }
  if (values[ITERATIONS].integer == 0)
    values[ITERATIONS].integer = npb->problem.iterations;
  npb->iterations = (uint32_t) values[ITERATIONS].integer;
  if (strcmp (values[COMPUTE].word, "counted") == 0)
    npb->flops = problem_flops ((NpbKernelId) id, &npb->problem);
  if (!npb->kernel->prepare (npb, error)) {
    close_program (npb);
    return NULL;
  }
  *n_ranks = npb->n_ranks;
  return npb;
}

static gboolean
npb_fill (gconstpointer state, uint32_t rank, uint64_t index, PatternOps *ops)
{
  enum { N_STAGES_BEFORE = 2 }; /* the steps */
  const Npb *npb = state;

  if (index < N_STAGES_BEFORE)
    npb->kernel->fill (npb, rank, index == 0 ? NPB_SETUP : NPB_WARM_UP, 0, ops);
  else if (index - N_STAGES_BEFORE < npb->iterations)
    npb->kernel->fill (npb, rank, NPB_STEP, (uint32_t) (index - N_STAGES_BEFORE) + 1, ops);
  else if (index - N_STAGES_BEFORE == npb->iterations)
    npb->kernel->fill (npb, rank, NPB_END, 0, ops);
  else
    return FALSE;
  return TRUE;
}

const TracePattern trace_pattern_npb = {
  .name = "npb",
  .summary = "one of the NAS Parallel Benchmarks (NPB 3.3-MPI)",
  .parameters = parameters,
  .open = open_program,
  .close = close_program,
  .fill = npb_fill,
};
