/* evaluate_blocks.c - the values of a formula at many points, its derivatives, and why there are none.
 *
 * SPDX-License-Identifier: Apache-2.0 */
/* We read neither traps nor errno: without them, selections between two results become vectors.  No
 * value changes. */
#ifndef __clang__
#pragma GCC optimize("no-trapping-math")
#pragma GCC optimize("no-math-errno")
#endif

#include "predictors/formula/evaluate_blocks.h"

#include "predictors/formula/elementary.h"

#include <float.h>

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
} Operand;

struct PredictWorkspace {
  Operand *operands; /* those that wait; of derivatives: those of every step */
  double *slots;     /* [][BLOCK] */
  double *adjoints;  /* [n steps][BLOCK] */
  uint32_t *left;    /* [n steps] the left operand, or the only one */
  bool *wanted;      /* [n steps] whether an unknown is below */
  uint32_t n_slots, n_steps;
};

typedef struct {
  const PredictExpression *expression;
  const double *const *columns;
  const double *parameters;
  PredictWorkspace *workspace;
} Job;

static inline Operand
leaf (const Job *job, const PredictStep *step, uint64_t first)
{
  if (step->op == PREDICT_OP_VARIABLE)
    return (Operand){ job->columns[step->index] + first, false };
  if (step->op == PREDICT_OP_PARAMETER)
    return (Operand){ &job->parameters[step->index], true };
  return (Operand){ &step->value, true };
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
 * values that must not be overwritten. */
static inline __attribute__ ((always_inline)) void
predict_operate (const PredictStep *step, Operand left, Operand right, double *out, double *spare,
                 uint32_t n)
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

PredictWorkspace *
predict_workspace_new (void)
{
  return g_new0 (PredictWorkspace, 1);
}

void
predict_workspace_free (PredictWorkspace *workspace)
{
  if (workspace == NULL)
    return;
  g_free (workspace->operands);
  g_free (workspace->slots);
  g_free (workspace->adjoints);
  g_free (workspace->left);
  g_free (workspace->wanted);
  g_free (workspace);
}

/* Memory for n_slots steps whose values are kept at once, two slots more, and the adjoints of a
 * formula of n_steps. */
static void
workspace_reserve (PredictWorkspace *workspace, uint32_t n_slots, uint32_t n_steps)
{
  if (n_slots > workspace->n_slots) {
    g_free (workspace->slots);
    workspace->n_slots = n_slots + n_slots / 2;
    workspace->slots = g_new (double, (gsize) (workspace->n_slots + 2) * BLOCK);
    workspace->operands = g_renew (Operand, workspace->operands, workspace->n_slots);
  }
  if (n_steps > workspace->n_steps) {
    g_free (workspace->adjoints);
    workspace->n_steps = n_steps + n_steps / 2;
    workspace->adjoints = g_new (double, (gsize) workspace->n_steps *BLOCK);
    workspace->left = g_renew (uint32_t, workspace->left, workspace->n_steps);
    workspace->wanted = g_renew (bool, workspace->wanted, workspace->n_steps);
  }
}

/* Results lie where the left operand waits: as many slots as values wait at most.  Counts the
 * points that are undefined. */
VECTORS static uint64_t
run_block (const Job *job, uint64_t first, uint32_t n, double *result)
{
  PredictWorkspace *workspace = job->workspace;
  Operand *top = workspace->operands; /* above the last that waits */
  double *spare = workspace->slots + (gsize) workspace->n_slots * BLOCK;
  uint64_t undefined = 0;

  for (uint32_t at = 0; at < job->expression->n; at++) {
    const PredictStep *step = &job->expression->steps[at];
    uint32_t n_operands = predict_ops[step->op].n_operands;

    if (n_operands == 0) {
      *top++ = leaf (job, step, first);
      continue;
    }
    top -= n_operands;

    Operand left = top[0], right = top[n_operands - 1];
    bool uniform = left.uniform && right.uniform;
    double *out = workspace->slots + (gsize) (top - workspace->operands) * BLOCK;

    predict_operate (step, left, right, out, spare, uniform ? 1 : n);
    *top++ = (Operand){ out, uniform };
  }
  top--;
  if (top->uniform)
    EACH result[i] = top->values[0];
  else
    memcpy (result, top->values, n * sizeof *result);
  EACH undefined += !(fabs (result[i]) <= DBL_MAX);
  return undefined;
}

uint64_t
predict_values (const PredictExpression *expression, const PredictPoints *points,
                const double *parameters, PredictWorkspace *workspace, double *values)
{
  Job job = { expression, points->columns, parameters, workspace };
  uint64_t undefined = 0;

  workspace_reserve (workspace, predict_expression_height (expression), 0);
  for (uint64_t first = 0; first < points->n; first += BLOCK)
    undefined += run_block (&job, first, (uint32_t) MIN (BLOCK, points->n - first), values + first);
  return undefined;
}

double
predict_value (const PredictExpression *expression, const double *variables,
               const double *parameters)
{
  g_autoptr (PredictWorkspace) workspace = predict_workspace_new ();
  uint32_t n = 0;
  double value;

  for (uint32_t at = 0; at < expression->n; at++)
    if (expression->steps[at].op == PREDICT_OP_VARIABLE)
      n = MAX (n, (uint32_t) expression->steps[at].index + 1);

  g_autofree const double **columns = g_new (const double *, n);
  PredictPoints points = { columns, 1 };

  for (uint32_t at = 0; at < n; at++)
    columns[at] = &variables[at];
  predict_values (expression, &points, parameters, workspace, &value);
  return value;
}

/* --- Derivatives with respect to parameters and numbers --- */

uint32_t
predict_unknowns (const PredictExpression *expression, uint32_t n_parameters, bool constants,
                  int32_t *unknown)
{
  uint32_t n = n_parameters;

  for (uint32_t at = 0; at < expression->n; at++) {
    const PredictStep *step = &expression->steps[at];

    unknown[at] = PREDICT_FIXED;
    if (step->op == PREDICT_OP_PARAMETER)
      unknown[at] = step->index;
    else if (step->op == PREDICT_OP_CONSTANT && constants)
      unknown[at] = (int32_t) n++;
  }
  return n;
}

/* Where the operands of every step are, and below which steps there are unknowns. */
static void
lay_out (const PredictExpression *expression, const int32_t *unknown, PredictWorkspace *workspace)
{
  for (uint32_t at = 0; at < expression->n; at++) {
    uint32_t n_operands = predict_ops[expression->steps[at].op].n_operands;

    workspace->wanted[at] = unknown[at] != PREDICT_FIXED;
    workspace->left[at] = at;
    if (n_operands == 0)
      continue;
    workspace->left[at] =
        n_operands == 1 ? at - 1 : predict_expression_first (expression, at - 1) - 1;
    workspace->wanted[at] = workspace->wanted[workspace->left[at]] || workspace->wanted[at - 1];
  }
}

/* Every step keeps its values at all of n <= BLOCK points: workspace->operands[step]. */
static VECTORS void
run_keeping (const Job *job, uint64_t first, uint32_t n)
{
  PredictWorkspace *workspace = job->workspace;
  Operand *operands = workspace->operands;
  double *spare = workspace->slots + (gsize) workspace->n_slots * BLOCK;

  for (uint32_t at = 0; at < job->expression->n; at++) {
    const PredictStep *step = &job->expression->steps[at];
    double *out = workspace->slots + (gsize) at * BLOCK;

    operands[at] = (Operand){ out, false };
    if (predict_ops[step->op].n_operands > 0) {
      predict_operate (step, operands[workspace->left[at]], operands[at - 1], out, spare, n);
      continue;
    }

    Operand value = leaf (job, step, first);

    if (!value.uniform)
      operands[at] = value;
    else
      EACH out[i] = value.values[0];
  }
}

/* The adjoint of an operand: that of the step times its slope with respect to the operand. */
#define HAND(to, slope)                                                                 \
  do {                                                                                  \
    EACH                                                                                \
    {                                                                                   \
      const double a = left[i], b = right[i], value = values[i], adjoint = adjoints[i]; \
      (void) a, (void) b, (void) value;                                                 \
      to[i] = adjoint * (slope);                                                        \
    }                                                                                   \
  } while (0)

/* x^y by x; at 0 as its limit from above. */
static inline double
power_slope (double x, double y, double value)
{
  double at_zero = y > 1 ? 0 : y < 1 ? (double) INFINITY : 1;
  double slope = y * value / x;

  return x == 0 ? at_zero : slope;
}

/* x^y by y; 0 at 0^y, where y is positive. */
static inline double
exponent_slope (double x, double value)
{
  double slope = value * predict_log (x);

  return x == 0 ? 0 : slope;
}

/* `on_left` and `on_right` are the adjoints of its operands; `spare` is a slot. */
static inline __attribute__ ((always_inline)) void
hand_down (const PredictStep *step, const double *left, const double *right, const double *values,
           const double *adjoints, double *on_left, double *on_right, double *spare, uint32_t n)
{
  switch ((PredictOp) step->op) {
  case PREDICT_OP_ADD:
    HAND (on_left, 1);
    HAND (on_right, 1);
    break;
  case PREDICT_OP_SUBTRACT:
    HAND (on_left, 1);
    HAND (on_right, -1);
    break;
  case PREDICT_OP_MULTIPLY:
    HAND (on_left, b);
    HAND (on_right, a);
    break;
  case PREDICT_OP_DIVIDE:
    HAND (on_left, 1 / b);
    HAND (on_right, -value / b);
    break;
  case PREDICT_OP_POWER:
    HAND (on_left, power_slope (a, b, value));
    HAND (on_right, exponent_slope (a, value));
    break;
  case PREDICT_OP_MIN:
    HAND (on_left, a <= b ? 1 : 0);
    HAND (on_right, a <= b ? 0 : 1);
    break;
  case PREDICT_OP_MAX:
    HAND (on_left, a >= b ? 1 : 0);
    HAND (on_right, a >= b ? 0 : 1);
    break;
  case PREDICT_OP_NEGATE: HAND (on_left, -1); break;
  case PREDICT_OP_INTEGER_POWER:
    predict_raise (left, step->index - 1, spare, n);
    HAND (on_left, step->index * (step->index == 0 ? 0 : spare[i]));
    break;
  case PREDICT_OP_LOG: HAND (on_left, 1 / a); break;
  case PREDICT_OP_LOG2: HAND (on_left, 1 / (a * G_LN2)); break;
  case PREDICT_OP_EXP: HAND (on_left, value); break;
  case PREDICT_OP_SQRT: HAND (on_left, 0.5 / value); break;
  case PREDICT_OP_SIN: HAND (on_left, predict_cos (a)); break;
  case PREDICT_OP_COS: HAND (on_left, -predict_sin (a)); break;
  case PREDICT_OP_ABS: HAND (on_left, a > 0 ? 1 : a < 0 ? -1 : 0); break;
  case PREDICT_OP_CEIL:
  case PREDICT_OP_FLOOR: HAND (on_left, 0); break;
  case PREDICT_OP_CONSTANT:
  case PREDICT_OP_VARIABLE:
  case PREDICT_OP_PARAMETER:
  case PREDICT_N_OPS: g_assert_not_reached ();
  }
}

/* Each step has one parent, so that its adjoint is set once.  Only ways to unknowns are gone. */
VECTORS static void
sweep_block (const Job *job, uint32_t n)
{
  PredictWorkspace *workspace = job->workspace;
  const Operand *operands = workspace->operands;
  double *spare = workspace->slots + (gsize) workspace->n_slots * BLOCK;
  uint32_t root = job->expression->n - 1;

  EACH workspace->adjoints[(gsize) root * BLOCK + i] = 1;
  for (uint32_t at = root + 1; at-- > 0;) {
    const PredictStep *step = &job->expression->steps[at];
    uint32_t left = workspace->left[at], n_operands = predict_ops[step->op].n_operands;

    if (n_operands == 0 || !workspace->wanted[at])
      continue;

    double *on_left = workspace->adjoints + (gsize) left * BLOCK;
    double *on_right = n_operands == 2 ? workspace->adjoints + (gsize) (at - 1) * BLOCK : NULL;

    hand_down (step, operands[left].values, operands[at - 1].values, operands[at].values,
               workspace->adjoints + (gsize) at * BLOCK, on_left, on_right, spare, n);
  }
}

uint64_t
predict_derivatives (const PredictExpression *expression, const PredictPoints *points,
                     const double *parameters, const int32_t *unknown, uint32_t n_unknowns,
                     PredictWorkspace *workspace, double *values, double *derivatives)
{
  Job job = { expression, points->columns, parameters, workspace };
  uint64_t undefined = 0;
  uint32_t root = expression->n - 1;

  workspace_reserve (workspace, expression->n, expression->n);
  lay_out (expression, unknown, workspace);
  memset (derivatives, 0, n_unknowns * points->n * sizeof *derivatives);
  for (uint64_t first = 0; first < points->n; first += BLOCK) {
    uint32_t n = (uint32_t) MIN (BLOCK, points->n - first);
    const double *result;

    run_keeping (&job, first, n);
    sweep_block (&job, n);
    result = workspace->operands[root].values;
    for (uint32_t i = 0; i < n; i++)
      undefined += !(fabs (values[first + i] = result[i]) <= DBL_MAX);
    for (uint32_t at = 0; at <= root; at++) {
      const double *adjoints = workspace->adjoints + (gsize) at * BLOCK;
      double *derivative = derivatives + (gsize) MAX (unknown[at], 0) * points->n + first;

      if (unknown[at] != PREDICT_FIXED)
        EACH derivative[i] += adjoints[i];
    }
  }
  return undefined;
}

/* --- Why there is no value --- */

/* The values of all steps at one row are those of the expressions that end with them. */
char *
predict_undefined (const PredictExpression *expression, const PredictNames *names,
                   const PredictPoints *points, uint64_t row, const double *parameters)
{
  g_autoptr (PredictWorkspace) workspace = predict_workspace_new ();
  g_autofree int32_t *unknown = g_new (int32_t, expression->n);
  Job job = { expression, points->columns, parameters, workspace };
  uint32_t at = 0;

  workspace_reserve (workspace, expression->n, expression->n);
  predict_unknowns (expression, 0, false, unknown);
  lay_out (expression, unknown, workspace);
  run_keeping (&job, row, 1);
  while (at < expression->n && isfinite (workspace->operands[at].values[0]))
    at++;
  if (at == expression->n)
    return NULL;

  guint said = 0;
  uint32_t operand[] = { workspace->left[at], at - 1 };
  uint32_t n_operands = predict_ops[expression->steps[at].op].n_operands;
  uint32_t from = predict_expression_first (expression, at);
  PredictExpression part = { expression->steps + from, at - from + 1 };
  g_autofree char *whole = predict_expression_text (&part, names);
  GString *text = g_string_new (whole);

  g_string_append (text, " is undefined");
  for (uint32_t i = 0; i < n_operands; i++) {
    uint32_t last = operand[i];

    from = predict_expression_first (expression, last);
    part = (PredictExpression){ expression->steps + from, last - from + 1 };
    if (part.steps->op == PREDICT_OP_CONSTANT && part.n == 1)
      continue;

    g_autofree char *name = predict_expression_text (&part, names);
    g_autofree char *value = predict_number_text (workspace->operands[last].values[0]);

    g_string_append_printf (text, "%s%s is %s", said++ == 0 ? " where " : " and ", name, value);
  }
  return g_string_free (text, FALSE);
}
