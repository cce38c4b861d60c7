/* pattern_alltoall.c - MPI_Alltoall of all ranks, over and over.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/patterns/batch.h"
#include "traces/patterns/pattern_parameters.h"

static const TraceParameter parameters[] = {
  PATTERN_COMMON (NULL, "1K", "bytes from each rank to each other", "10"),
  PATTERN_END,
};

static gpointer
open_pattern (TraceParameterValue *values, uint32_t *n_ranks, GError **error)
{
  PatternCommon *common = g_new (PatternCommon, 1);

  (void) error;
  *common = pattern_common (values);
  *n_ranks = common->n_ranks;
  return common;
}

static gboolean
fill_batch (gconstpointer data, uint32_t rank, uint64_t index, TraceBatch *batch)
{
  const PatternCommon *common = data;

  (void) rank;
  if (index >= common->iterations)
    return FALSE;
  trace_batch_compute (batch, common->compute_ps);
  trace_batch_alltoall (batch, TRACE_COMM_WORLD, common->bytes);
  return TRUE;
}

const TracePattern trace_pattern_alltoall = {
  .name = "alltoall",
  .summary = "MPI_Alltoall of all ranks",
  .parameters = parameters,
  .open = open_pattern,
  .close = g_free,
  .batch = fill_batch,
};
