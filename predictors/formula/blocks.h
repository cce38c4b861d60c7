/* blocks.h - the operations of formulas on blocks of points, for evaluate_blocks.c and its like.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Who does not ask for traps loses none: selections between two results become vectors.
 * No value changes. */
#ifndef __clang__
#pragma GCC optimize("no-trapping-math")
#pragma GCC optimize("no-math-errno")
#endif

#include "predictors/formula/elementary.h"
#include "predictors/formula/evaluate_blocks.h"

/* Points done together: 2 KiB a step, a dozen of which are in the first-level cache. */
#define BLOCK 256u

/* The same code for several sets of instructions, chosen when the program starts.  There is none
 * with fused operations, and nothing is contracted: the bits are the same. */
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__clang__) && \
    !defined(WITH_SANITIZERS) && defined(__OPTIMIZE__)
#define VECTORS __attribute__ ((target_clones ("default", "avx2", "avx512f")))
#else
#define VECTORS
#endif

/* A loop over the points of a block; in and out are the same array or do not overlap. */
#ifdef __clang__
#define EACH for (uint32_t i = 0; i < n; i++)
#else
#define EACH _Pragma ("GCC ivdep") for (uint32_t i = 0; i < n; i++)
#endif

/* A value at every point, or the same one at all of them, then values[0]. */
typedef struct {
  const double *values;
  bool uniform;
} PredictOperand;

struct PredictWorkspace {
  PredictOperand *operands; /* those that wait; of derivatives: those of every step */
  double *slots;            /* [][BLOCK] */
  double *adjoints;         /* [n steps][BLOCK] */
  uint32_t *left;           /* [n steps] the left operand, or the only one */
  bool *wanted;             /* [n steps] whether an unknown is below */
  uint32_t n_slots, n_steps;
};

typedef struct {
  const PredictExpression *expression;
  const double *const *columns;
  const double *parameters;
  PredictWorkspace *workspace;
} PredictJob;

/* Memory for n_slots steps whose values are kept at once, and two slots more. */
void predict_workspace_reserve (PredictWorkspace *workspace, uint32_t n_slots);
/* Memory for the adjoints of a formula of n_steps. */
void predict_workspace_reserve_steps (PredictWorkspace *workspace, uint32_t n_steps);

/* Where the operands of every step are, and below which steps there are unknowns. */
void predict_lay_out (const PredictExpression *expression, const int32_t *unknown,
                      PredictWorkspace *workspace);
/* Every step keeps its values at all of n <= BLOCK points: workspace->operands[step]. */
void predict_run_keeping (const PredictJob *job, uint64_t first, uint32_t n);

static inline PredictOperand
predict_leaf (const PredictJob *job, const PredictStep *step, uint64_t first)
{
  if (step->op == PREDICT_OP_VARIABLE)
    return (PredictOperand){ job->columns[step->index] + first, false };
  if (step->op == PREDICT_OP_PARAMETER)
    return (PredictOperand){ &job->parameters[step->index], true };
  return (PredictOperand){ &step->value, true };
}

#define BETWEEN(formula_of_a_and_b)                           \
  do {                                                        \
    if (right.uniform) {                                      \
      const double b = right.values[0];                       \
      EACH                                                    \
      {                                                       \
        const double a = left.values[i];                      \
        out[i] = formula_of_a_and_b;                          \
      }                                                       \
    } else if (left.uniform) {                                \
      const double a = left.values[0];                        \
      EACH                                                    \
      {                                                       \
        const double b = right.values[i];                     \
        out[i] = formula_of_a_and_b;                          \
      }                                                       \
    } else {                                                  \
      EACH                                                    \
      {                                                       \
        const double a = left.values[i], b = right.values[i]; \
        out[i] = formula_of_a_and_b;                          \
      }                                                       \
    }                                                         \
  } while (0)

#define OF(formula_of_a)               \
  do {                                 \
    EACH                               \
    {                                  \
      const double a = left.values[i]; \
      out[i] = formula_of_a;           \
    }                                  \
  } while (0)

/* By squaring, from the highest bit of the exponent down: the same products in the same order at
 * every point.  `base` and `out` do not overlap. */
static inline __attribute__ ((always_inline)) void
predict_raise (const double *base, int exponent, double *out, uint32_t n)
{
  uint32_t bits = (uint32_t) ABS (exponent);

  EACH out[i] = 1 + predict_taint (base[i]);
  for (uint32_t bit = 1u << 7; bit > 0; bit >>= 1) {
    if (bits >= 2 * bit)
      EACH out[i] *= out[i];
    if (bits & bit)
      EACH out[i] *= base[i];
  }
  if (exponent < 0)
    EACH out[i] = 1 / out[i] + predict_taint (out[i]);
}

/* The operations at n points (1 when all operands are uniform).  `spare` is a slot for
 * what must not be overwritten. */
static inline __attribute__ ((always_inline)) void
predict_operate (const PredictStep *step, PredictOperand left, PredictOperand right, double *out,
                 double *spare, uint32_t n)
{
  switch ((PredictOp) step->op) {
  case PREDICT_OP_ADD: BETWEEN (a + b); break;
  case PREDICT_OP_SUBTRACT: BETWEEN (a - b); break;
  case PREDICT_OP_MULTIPLY: BETWEEN (a * b); break;
  case PREDICT_OP_DIVIDE: BETWEEN (a / b + predict_taint (b)); break;
  case PREDICT_OP_POWER: BETWEEN (predict_power (a, b)); break;
  case PREDICT_OP_MIN: BETWEEN ((a <= b ? a : b) + (predict_taint (a) + predict_taint (b))); break;
  case PREDICT_OP_MAX: BETWEEN ((a >= b ? a : b) + (predict_taint (a) + predict_taint (b))); break;
  case PREDICT_OP_NEGATE: OF (-a); break;
  case PREDICT_OP_INTEGER_POWER:
    memcpy (spare, left.values, n * sizeof *spare);
    predict_raise (spare, step->index, out, n);
    break;
  case PREDICT_OP_LOG: OF (predict_log (a)); break;
  case PREDICT_OP_LOG2: OF (predict_log2 (a)); break;
  case PREDICT_OP_EXP: OF (predict_exp (a)); break;
  case PREDICT_OP_SQRT: OF (sqrt (a)); break;
  case PREDICT_OP_SIN: OF (predict_sin (a)); break;
  case PREDICT_OP_COS: OF (predict_cos (a)); break;
  case PREDICT_OP_ABS: OF (fabs (a)); break;
  case PREDICT_OP_CEIL: OF (ceil (a)); break;
  case PREDICT_OP_FLOOR: OF (floor (a)); break;
  case PREDICT_OP_CONSTANT:
  case PREDICT_OP_VARIABLE:
  case PREDICT_OP_PARAMETER:
  case PREDICT_N_OPS: g_assert_not_reached ();
  }
}
