/* aggregation_runs.c - NAS benchmarks under the aggregation patterns, and the choice for each.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Two short runs of each program are simulated; the further iteration of the longer one is
 * multiplied to all of the class (infiniband_patterns.c explains why that is enough). */
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
 * with the grid of class C; the number of iterations is not published, and drops out when all of
 * them are alike.
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

/* The time of all iterations, from those of two numbers of them. */
static double
carried_on (const double s[2], uint32_t iterations)
{
  return s[1] + (s[1] - s[0]) / (MORE_ITERATIONS - FEW_ITERATIONS) * (iterations - MORE_ITERATIONS);
}

static bool
run_pattern (AggregationJob *job, const TopoMachine *machine, const TopoPatterns *patterns,
             const TopoPattern *pattern, GError **error)
{
  static const uint32_t iterations[] = { FEW_ITERATIONS, MORE_ITERATIONS };
  double slowdown = aggregation_slowdown (job->program, job->n_ranks, machine, patterns, pattern);
  double computation_s[2], communication_s[2];

  for (guint i = 0; i < G_N_ELEMENTS (iterations); i++) {
    g_autofree char *spec = g_strdup_printf (
        "gen:npb:kernel=%s,class=%s,ranks=%u,iterations=%u", programs[job->program].kernel,
        programs[job->program].problem, job->n_ranks, iterations[i]);
    const SimRunOptions options = { .trace_path = spec,
                                    .network = SIM_NETWORK_PACKET,
                                    .policy = ROUTE_POLICY_DEFAULT };
    const StudyAggregateOptions grouping = { .seed = 0 };
    g_autoptr (Trace) trace = trace_open (spec, NULL, error);
    g_autoptr (StudyAggregate) aggregate = NULL;
    g_autoptr (TopoMapping) mapping = NULL;
    g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func (g_free);
    StudyPatternRun run;

    if (trace == NULL ||
        !(aggregate = study_aggregate_new (trace, patterns, &grouping, NULL, NULL, error)))
      return false;
    mapping = study_aggregate_mapping (aggregate, pattern);
    if (!study_pattern_run (trace, machine, mapping, &options, slowdown, &run, warnings, error))
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
add_detail (const Aggregation *aggregation, const AggregationJob *job, uint32_t pattern,
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
    add_detail (aggregation, job, id, "computation", job->computation_s[id], "s");
    add_detail (aggregation, job, id, "communication", job->communication_s[id], "s");
    add_detail (aggregation, job, id, "slowdown", 100 * judged[at].slowdown, "%");
    add_detail (aggregation, job, id, "energy", job->energy_J[id], "J");
  }
  add_detail (aggregation, job, job->chosen, "chosen", job->chosen, "pattern");
  return true;
}

const AggregationJob *
aggregation_job (Aggregation *aggregation, AggregationProgram program, uint32_t n_ranks,
                 GError **error)
{
  const TopoJob asked = { .n_ranks = n_ranks, .n_nodes = n_ranks };
  g_autofree char *spec = g_strdup_printf ("systemg:%u", n_ranks);
  g_autofree AggregationJob *job = NULL;
  g_autoptr (TopoMachine) machine = NULL;
  g_autoptr (TopoPatterns) patterns = NULL;

  for (guint i = 0; i < aggregation->jobs->len; i++) {
    const AggregationJob *known = aggregation->jobs->pdata[i];

    if (known->program == program && known->n_ranks == n_ranks)
      return known;
  }
  if ((machine = topo_machine_new (spec, error)) == NULL)
    return NULL;
  study_slots_are_cores (machine);
  machine->parameters.node.compute_Flops =
      aggregation_ipc_alone (program) * CLOCK_HZ / INSTRUCTIONS_PER_OPERATION;
  patterns = topo_patterns_new (machine->node, TOPO_PATTERNS_DEFAULT);
  g_assert (patterns->n == AGGREGATION_PATTERNS);
  if (!topo_patterns_admit (patterns, &asked, error))
    return NULL;
  job = g_new0 (AggregationJob, 1);
  job->program = program;
  job->n_ranks = n_ranks;
  for (uint32_t at = 0; at < programs[program].n_patterns; at++) {
    job->has[at + 1] = true;
    if (!run_pattern (job, machine, patterns, &patterns->pattern[at], error))
      return NULL;
  }
  if (!choose (aggregation, job, patterns, error))
    return NULL;
  g_ptr_array_add (aggregation->jobs, job);
  return g_steal_pointer (&job);
}
