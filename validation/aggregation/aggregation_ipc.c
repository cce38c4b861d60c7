/* aggregation_ipc.c - computation under the patterns: Table I of the paper, and a model beside it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "validation/aggregation/aggregation_claims.h"

#include "predictors/aggregation/ipc_model.h"
#include "study/aggregate/node_shares.h"

#include <math.h>

typedef struct {
  AggregationProgram program;
  uint32_t pattern;
  double measured, predicted;
} Ipc;

/* Table I: 16 tasks, class D. */
static const Ipc table[] = {
  { AGGREGATION_LU, 1, 1.926, 1.944 }, { AGGREGATION_LU, 2, 1.921, 1.937 },
  { AGGREGATION_LU, 3, 1.924, 1.942 }, { AGGREGATION_LU, 6, 1.846, 1.834 },
  { AGGREGATION_LU, 7, 1.763, 1.743 }, { AGGREGATION_LU, 8, 1.699, 1.669 },
  { AGGREGATION_BT, 1, 2.033, 2.028 }, { AGGREGATION_BT, 2, 2.048, 2.032 },
  { AGGREGATION_BT, 3, 2.051, 2.041 }, { AGGREGATION_BT, 6, 2.014, 2.008 },
  { AGGREGATION_BT, 7, 1.989, 1.995 }, { AGGREGATION_FT, 1, 1.441, 1.469 },
  { AGGREGATION_FT, 2, 1.568, 1.601 }, { AGGREGATION_FT, 3, 1.512, 1.543 },
  { AGGREGATION_FT, 6, 1.451, 1.479 }, { AGGREGATION_FT, 7, 1.291, 1.314 },
  { AGGREGATION_SP, 1, 1.952, 1.976 }, { AGGREGATION_SP, 2, 1.956, 1.971 },
  { AGGREGATION_SP, 3, 1.990, 1.955 }, { AGGREGATION_SP, 6, 1.755, 1.789 },
  { AGGREGATION_SP, 7, 1.610, 1.628 },
};

/* Of CG and MG, which have no row in Table I: a lone core's IPC is LU's. */
#define GUESSED_IPC 1.926

/* Working sets that are tried: powers of two from a core's own cache on, and one beyond all caches. */
#define MIN_SET_BYTES 32768.0
#define N_SETS        16
#define N_SHARES      100

/* LU works on one plane of a task's grid at a time, and returns to the data of its points there:
 * four blocks of 5 x 5 doubles (a, b, c, d of NPB's applu.incl), and the unknowns and residuals of
 * that plane and the one before.  408 points along an axis, a quarter of them a task. */
#define LU_SET_BYTES (102.0 * 102 * (4 * 25 + 2 * 2 * 5) * sizeof (double))

double
aggregation_ipc_error (bool largest)
{
  double sum = 0, most = 0;

  for (guint i = 0; i < G_N_ELEMENTS (table); i++) {
    double error = fabs (table[i].predicted / table[i].measured - 1);

    sum += error;
    most = fmax (most, error);
  }
  return 100 * (largest ? most : sum / G_N_ELEMENTS (table));
}

/* NaN: not in the table. */
static double
known_ipc (AggregationProgram program, uint32_t pattern)
{
  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    if (table[i].program == program && table[i].pattern == pattern)
      return table[i].measured;
  return (double) NAN;
}

double
aggregation_ipc_alone (AggregationProgram program)
{
  double ipc = known_ipc (program, 1);

  return isnan (ipc) ? GUESSED_IPC : ipc;
}

static double
model_slowdown (const PredictMemoryUse *use, const TopoMachine *machine,
                const TopoPatterns *patterns, const TopoPattern *pattern,
                const PredictMemoryUse *use_alone)
{
  g_autofree PredictShare *shares =
      study_pattern_shares (machine->node, &machine->parameters, patterns->levels, pattern);
  g_autofree PredictShare *alone = study_pattern_shares (machine->node, &machine->parameters,
                                                         patterns->levels, &patterns->pattern[0]);

  return predict_sharing_slowdown (shares, pattern->n_tasks, alone, 1, use) *
         predict_sharing_time (&alone[0], use) / predict_sharing_time (&alone[0], use_alone);
}

/* The least sum of squares of relative errors in Table I.  The working set of a task of LU is known. */
PredictMemoryUse
aggregation_memory_use (AggregationProgram program, const TopoMachine *machine,
                        const TopoPatterns *patterns, const AggregationGuesses *guesses)
{
  PredictMemoryUse best = { guesses->memory_share[program], INFINITY, guesses->reuse_exponent };
  double least = (double) INFINITY, alone_ipc = known_ipc (program, 1);

  if (isnan (alone_ipc))
    return best;
  for (guint set = 0; set <= N_SETS; set++)
    for (guint share = 0; share <= N_SHARES; share++) {
      double set_bytes = program == AGGREGATION_LU ? LU_SET_BYTES
                         : set < N_SETS            ? ldexp (MIN_SET_BYTES, (int) set + 1)
                                                   : (double) INFINITY;
      const PredictMemoryUse use = { (double) share / N_SHARES, set_bytes,
                                     guesses->reuse_exponent };
      double sum = 0;

      for (uint32_t at = 1; at < patterns->n; at++) {
        double ipc = known_ipc (program, patterns->pattern[at].id);

        if (!isnan (ipc))
          sum += pow (model_slowdown (&use, machine, patterns, &patterns->pattern[at], &use) * ipc /
                              alone_ipc -
                          1,
                      2);
      }
      if (sum < least) {
        least = sum;
        best = use;
      }
    }
  return best;
}

double
aggregation_slowdown (AggregationProgram program, uint32_t n_ranks, const TopoMachine *machine,
                      const TopoPatterns *patterns, const TopoPattern *pattern,
                      const PredictMemoryUse *use)
{
  double ipc = known_ipc (program, pattern->id);
  PredictMemoryUse scaled = *use;

  if (n_ranks == AGGREGATION_TASKS && !isnan (ipc))
    return known_ipc (program, 1) / ipc;
  scaled.working_set_bytes *= (double) AGGREGATION_TASKS / n_ranks;
  return model_slowdown (&scaled, machine, patterns, pattern, use);
}

/* --- A model of the IPC, trained and used --- */

#define SAMPLE \
  6 /* two of each socket, on a die: patterns 4 and 5, the paper's samples, are not in the table */

/* Table I as predictors read counters; `without` AGGREGATION_PROGRAMS: all programs. */
static PredictTable *
table_of (AggregationProgram without, bool only)
{
  static const char *const names[] = { "lu", "bt", "sp", "ft" };
  g_autoptr (GPtrArray) programs = g_ptr_array_new ();
  double *pattern = g_new (double, G_N_ELEMENTS (table)),
         *ipc = g_new (double, G_N_ELEMENTS (table));
  PredictTable *made;

  for (guint i = 0; i < G_N_ELEMENTS (table); i++) {
    /* Of the four LU alone was run in pattern 8. */
    if ((table[i].program == without) != only || table[i].pattern == AGGREGATION_PATTERNS)
      continue;
    pattern[programs->len] = table[i].pattern;
    ipc[programs->len] = table[i].measured;
    g_ptr_array_add (programs, (char *) names[table[i].program]);
  }
  made = predict_table_new ("Table I", programs->len);
  predict_table_add_texts (made, "program", (const char *const *) programs->pdata);
  predict_table_take_numbers (made, "pattern", NULL, pattern);
  predict_table_take_numbers (made, "ipc", NULL, ipc);
  return made;
}

double
aggregation_ipc_left_out (GString *details, GError **error)
{
  static const char *const samples[] = { G_STRINGIFY (SAMPLE), NULL }, *const events[] = { NULL };
  double sum = 0;
  guint n = 0;

  for (AggregationProgram out = AGGREGATION_LU; out <= AGGREGATION_FT; out++) {
    g_autoptr (PredictTable) others = table_of (out, false), one = table_of (out, true);
    g_autoptr (PredictIpcModel) model =
        predict_ipc_train (others, samples, events, PREDICT_IPC_RIDGE, error);
    g_auto (PredictIpcAnswer) answer = { 0 };

    if (model == NULL || !predict_ipc_apply (model, one, &answer, error))
      return (double) NAN;
    for (guint target = 0; target < model->n_targets; target++) {
      g_autofree char *point = g_strdup_printf ("%s pattern %s", answer.phases->programs[0],
                                                model->targets[target].pattern);

      sum += fabs (answer.predicted[target] / answer.observed[target] - 1);
      n++;
      validation_detail (details, "ipc-left-out", point, answer.observed[target],
                         answer.predicted[target], "IPC");
    }
  }
  return 100 * sum / n;
}
