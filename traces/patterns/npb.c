/* npb.c - the pattern "npb": one of the NAS Parallel Benchmarks.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/patterns/npb.h"

#include <string.h>

/* In the order of NpbKernelId. */
static const char *const names[] = { "bt", "sp", "lu", "cg", "mg", "ft", "is", "ep" };
static const NpbKernel *const kernels[] = { &npb_bt, &npb_sp, &npb_lu, &npb_cg,
                                            &npb_mg, &npb_ft, &npb_is, &npb_ep };

G_STATIC_ASSERT (G_N_ELEMENTS (names) == NPB_N_KERNELS);
G_STATIC_ASSERT (G_N_ELEMENTS (kernels) == NPB_N_KERNELS);

enum { KERNEL, CLASS, RANKS, ITERATIONS, COMPUTE };

static const TraceParameter parameters[] = {
  { "kernel", TRACE_PARAMETER_WORD, NULL, 0, "bt|sp|lu|cg|mg|ft|is|ep: which benchmark" },
  { "class", TRACE_PARAMETER_WORD, NULL, 0, "S|W|A|B|C|D|E: size of the problem" },
  { "ranks", TRACE_PARAMETER_INTEGER, NULL, 1,
    "number of ranks; bt, sp: square; ep: any; else 2^k" },
  { "iterations", TRACE_PARAMETER_INTEGER, "0", 0,
    "number of timed iterations; 0: the class's own" },
  { "compute", TRACE_PARAMETER_WORD, "counted", 0,
    "counted|none: operations as the benchmark counts them, or none" },
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
  g_set_error (error, TRACE_ERROR, TRACE_ERROR_RANGE, "class %c on %u ranks with %u iterations: %s",
               npb->class_name, npb->n_ranks, npb->iterations, reason);
  return FALSE;
}

gboolean
npb_need_power_of_two (const Npb *npb, GError **error)
{
  if ((npb->n_ranks & (npb->n_ranks - 1)) == 0)
    return TRUE;
  return npb_refuse (npb, error, "it runs on a power of two of ranks");
}

void
npb_release_nothing (gpointer own)
{
  g_assert (own == NULL);
}

static NpbKernelId
kernel_named (const char *name)
{
  guint id = 0;

  while (strcmp (names[id], name) != 0)
    id++;
  return (NpbKernelId) id;
}

static void
close_program (gpointer data)
{
  Npb *npb = data;

  npb->kernel->release (npb->own);
  g_free (npb);
}

static gpointer
open_program (TraceParameterValue *values, uint32_t *n_ranks, GError **error)
{
  NpbKernelId id = kernel_named (values[KERNEL].word);
  Npb *npb = g_new0 (Npb, 1);

  npb->kernel = kernels[id];
  npb->class_name = values[CLASS].word[0];
  npb->problem = npb_problem (id, npb->class_name);
  npb->n_ranks = (uint32_t) values[RANKS].integer;
  if (values[ITERATIONS].integer == 0)
    values[ITERATIONS].integer = npb->problem.iterations;
  npb->iterations = (uint32_t) values[ITERATIONS].integer;
  if (strcmp (values[COMPUTE].word, "counted") == 0)
    npb->flops = npb_problem_flops (id, &npb->problem);
  if (!npb->kernel->prepare (npb, error)) {
    close_program (npb);
    return NULL;
  }
  *n_ranks = npb->n_ranks;
  return npb;
}

static gboolean
make_batch (gconstpointer state, uint32_t rank, uint64_t index, TraceBatch *batch)
{
  const Npb *npb = state;

  if (index == 0)
    npb->kernel->setup (npb, rank, batch);
  else if (index == 1)
    npb->kernel->warm_up (npb, rank, batch);
  else if (index < npb->iterations + (uint64_t) 2)
    npb->kernel->step (npb, rank, (uint32_t) index - 1, batch);
  else if (index == npb->iterations + (uint64_t) 2)
    npb->kernel->end (npb, rank, batch);
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
  .batch = make_batch,
};
