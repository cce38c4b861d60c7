/* aggregation_runs.c - NAS benchmarks under the aggregation patterns, and what is chosen for them.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Of each program two short runs are simulated, of which the longer one's further iteration is
 * carried on to as many as the class has (infiniband_patterns.c says why that is enough). */
#include "config.h"

#include "validation/aggregation/aggregation_claims.h"

#include "predictors/aggregation/aggregation_choice.h"
#include "study/aggregate/aggregate_mapping.h"
#include "study/aggregate/network_pingpong.h"
#include "study/aggregate/power.h"

#include <math.h>
#include <string.h>

#define FEW_ITERATIONS  2
#define MORE_ITERATIONS 3

#define CLOCK_HZ                   2.8e9
#define INSTRUCTIONS_PER_OPERATION 3 /* guess */

/* FT: the paper's input is of no class; each task sends 134 MB to all others, as the paper says,
 * with the grid of class C; how often is not told, and drops out when all iterations are alike.
 * All eight patterns were run of LU alone: "pattern 8 is not available for some benchmarks". */
static const struct {
  const char *name, *kernel, *problem;
  uint32_t iterations, n_patterns;
} programs[AGGREGATION_PROGRAMS] = {
  [AGGREGATION_LU] = { "lu.D", "lu", "D", 300, 8 },
  [AGGREGATION_BT] = { "bt.D", "bt", "D", 250, 7 },
  [AGGREGATION_SP] = { "sp.D", "sp", "D", 500, 7 },
  [AGGREGATION_FT] = { "ft", "ft", "C", 25, 7 },
  [AGGREGATION_CG] = { "cg.D", "cg", "D", 100, 7 },
  [AGGREGATION_MG] = { "mg.D", "mg", "D", 50, 7 },
};

/* What two numbers of iterations take, carried on to all. */
static double
carried_on (const double s[2], uint32_t iterations)
{
  return s[1] + (s[1] - s[0]) / (MORE_ITERATIONS - FEW_ITERATIONS) * (iterations - MORE_ITERATIONS);
}

static bool
replay (const AggregationJob *job, const TopoMachine *machine, const TopoPatterns *patterns,
        const TopoPattern *pattern, uint32_t iterations, StudyPatternRun *run, GError **error)
{
  g_autofree char *spec = g_strdup_printf (
      "gen:npb:kernel=%s,class=%s,ranks=%u,iterations=%u", programs[job->program].kernel,
      programs[job->program].problem, job->n_ranks, iterations);
  const SimRunOptions options = { .trace_path = spec,
                                  .network = SIM_NETWORK_PACKET,
                                  .policy = ROUTE_POLICY_DEFAULT };
  const StudyAggregateOptions grouping = { .seed = 0 };
  double slowdown = aggregation_slowdown (job->program, job->n_ranks, machine, patterns, pattern);
  g_autoptr (Trace) trace = trace_open (spec, NULL, error);
  g_autoptr (StudyAggregate) aggregate = NULL;
  g_autoptr (TopoMapping) mapping = NULL;
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func (g_free);

  if (trace == NULL ||
      !(aggregate = study_aggregate_new (trace, patterns, &grouping, NULL, NULL, error)))
    return false;
  mapping = study_aggregate_mapping (aggregate, pattern);
  return study_pattern_run (trace, machine, mapping, &options, slowdown, run, warnings, error);
}

static bool
run_pattern (AggregationJob *job, const TopoMachine *machine, const TopoPatterns *patterns,
             const TopoPattern *pattern, GError **error)
{
  static const uint32_t iterations[] = { FEW_ITERATIONS, MORE_ITERATIONS };
  double computation_s[2], communication_s[2];

  for (guint i = 0; i < G_N_ELEMENTS (iterations); i++) {
    StudyPatternRun run;

    if (!replay (job, machine, patterns, pattern, iterations[i], &run, error))
      return false;
    computation_s[i] = run.computation_s;
    communication_s[i] = run.communication_s;
  }
  job->computation_s[pattern->id] = carried_on (computation_s, programs[job->program].iterations);
  job->communication_s[pattern->id] =
      carried_on (communication_s, programs[job->program].iterations);
  return true;
}

static void
tell (const Aggregation *aggregation, const AggregationJob *job, uint32_t pattern,
      const char *series, double value, const char *unit)
{
  g_autofree char *point =
      g_strdup_printf ("%s.%u pattern %u", programs[job->program].name, job->n_ranks, pattern);

  validation_detail (aggregation->details, series, point, (double) NAN, value, unit);
}

static bool
choose (const Aggregation *aggregation, AggregationJob *job, const TopoPatterns *patterns,
        GError **error)
{
  PredictAggregation all[AGGREGATION_PATTERNS];
  PredictAggregationJudgement judged[AGGREGATION_PATTERNS];

  for (uint32_t at = 0; at < patterns->n; at++)
    all[at] = (PredictAggregation){ .id = at + 1,
                                    .excluded = job->has[at + 1] ? NULL : "not run in the paper",
                                    .energy_rank = patterns->pattern[at].energy_rank,
                                    .computation_s = job->computation_s[at + 1],
                                    .communication_s = job->communication_s[at + 1] };
  if (!predict_aggregation_choose (all, patterns->n, PREDICT_REFERENCE, PREDICT_MAX_SLOWDOWN,
                                   judged, error))
    return false;
  for (uint32_t at = 0; at < patterns->n; at++) {
    uint32_t id = at + 1;

    if (judged[at].verdict == PREDICT_AGGREGATION_CHOSEN)
      job->chosen = id;
    if (!job->has[id])
      continue;
    job->energy_J[id] =
        study_power_energy_J (&study_power_guess, &patterns->pattern[at], judged[at].total_s, 0);
    tell (aggregation, job, id, "computation", job->computation_s[id], "s");
    tell (aggregation, job, id, "communication", job->communication_s[id], "s");
    tell (aggregation, job, id, "slowdown", 100 * judged[at].slowdown, "%");
    tell (aggregation, job, id, "energy", job->energy_J[id], "J");
  }
  tell (aggregation, job, job->chosen, "chosen", job->chosen, "pattern");
  return true;
}

static TopoMachine *
open_machine (const AggregationJob *job, GError **error)
{
  g_autofree char *spec = g_strdup_printf ("systemg:%u", job->n_ranks);
  g_autoptr (TopoMachine) machine = topo_machine_new (spec, error);

  if (machine == NULL)
    return NULL;
  study_slots_are_cores (machine);
  machine->parameters.compute_Flops =
      aggregation_ipc_alone (job->program) * CLOCK_HZ / INSTRUCTIONS_PER_OPERATION;
  return g_steal_pointer (&machine);
}

static bool
make_job (Aggregation *aggregation, AggregationJob *job, GError **error)
{
  g_autoptr (TopoMachine) machine = open_machine (job, error);
  g_autoptr (TopoPatterns) patterns = NULL;
  const TopoJob asked = { .n_ranks = job->n_ranks, .n_nodes = job->n_ranks };

  if (machine == NULL)
    return false;
  patterns = topo_patterns_new (machine->node, TOPO_PATTERNS_DEFAULT);
  g_assert (patterns->n == AGGREGATION_PATTERNS);
  if (!topo_patterns_admit (patterns, &asked, error))
    return false;
  for (uint32_t at = 0; at < programs[job->program].n_patterns; at++) {
    job->has[at + 1] = true;
    if (!run_pattern (job, machine, patterns, &patterns->pattern[at], error))
      return false;
  }
  return choose (aggregation, job, patterns, error);
}

const AggregationJob *
aggregation_job (Aggregation *aggregation, AggregationProgram program, uint32_t n_ranks,
                 GError **error)
{
  AggregationJob *job;

  for (guint i = 0; i < aggregation->jobs->len; i++) {
    job = aggregation->jobs->pdata[i];
    if (job->program == program && job->n_ranks == n_ranks)
      return job;
  }
  job = g_new0 (AggregationJob, 1);
  job->program = program;
  job->n_ranks = n_ranks;
  if (!make_job (aggregation, job, error)) {
    g_free (job);
    return NULL;
  }
  g_ptr_array_add (aggregation->jobs, job);
  return job;
}
