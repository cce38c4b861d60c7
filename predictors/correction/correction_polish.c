/* correction_polish.c - the same in fewer steps, and with fewer digits.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * What was bred carries what its ancestors needed: + 0, x^2.0000001, c and -c. */
#include "config.h"

#include "predictors/correction/correction_private.h"

#include <math.h>
#include <stdio.h>

#define EVALUATIONS 200
#define SAME        1e-8 /* of the loss: what may be lost for fewer digits */
#define MOST_DIGITS 15

/* Whether the tree describes the data more shortly than the member does, which then has it. */
static bool
take_if_shorter (CorrectionWork *work, CorrectionMember *member, const PredictTree *tree)
{
  CorrectionMember other;
  g_autofree double *parameters = g_new (double, work->problem->data->model->n_parameters + 1);
  PredictTarget train = correction_train (work);

  other.parameters = parameters;
  correction_copy (work->problem, member, &other);
  other.tree = *tree;
  if (!predict_tree_tidy (&other.tree))
    return false;
  correction_judge (work, &other);
  if (!isfinite (other.loss))
    return false;
  correction_fit (work, &other, &train, EVALUATIONS);
  correction_judge (work, &other);
  if (!(other.description < member->description))
    return false;
  correction_copy (work->problem, &other, member);
  return true;
}

static bool
remove_operation (CorrectionWork *work, CorrectionMember *member)
{
  for (uint32_t root = 0; root < member->tree.n; root++)
    for (uint8_t operand = 0; operand < predict_ops[member->tree.steps[root].op].n_operands;
         operand++) {
      PredictTree tree;

      predict_tree_without (&member->tree, root, operand, &tree);
      if (take_if_shorter (work, member, &tree))
        return true;
    }
  return false;
}

/* x^2.0000001 is x^2, which has a value of any x. */
static bool
make_power_integer (CorrectionWork *work, CorrectionMember *member)
{
  for (uint32_t root = 2; root < member->tree.n; root++) {
    PredictTree tree;
    double exponent = nearbyint (member->tree.steps[root - 1].value);

    if (member->tree.steps[root].op != PREDICT_OP_POWER ||
        member->tree.steps[root - 1].op != PREDICT_OP_CONSTANT ||
        !(fabs (exponent) <= PREDICT_MAX_EXPONENT) || exponent == 0)
      continue;
    predict_tree_without (&member->tree, root, 0, &tree);
    for (uint32_t at = tree.n; at > root - 1; at--)
      tree.steps[at] = tree.steps[at - 1];
    tree.steps[root - 1] =
        (PredictStep){ .op = PREDICT_OP_INTEGER_POWER, .index = (int32_t) exponent };
    tree.n++;
    if (take_if_shorter (work, member, &tree))
      return true;
  }
  return false;
}

/* -- digits ------------------------------------------------------------------------------ */

static double
rounded (double value, int n_digits)
{
  char format[8], text[G_ASCII_DTOSTR_BUF_SIZE];

  snprintf (format, sizeof format, "%%.%dg", n_digits);
  return g_ascii_strtod (g_ascii_formatd (text, sizeof text, format, value), NULL);
}

/* One number of the member. */
static void
round_number (CorrectionWork *work, CorrectionMember *member, double *number, double most_loss)
{
  double value = *number;

  for (int n_digits = 1; n_digits <= MOST_DIGITS; n_digits++) {
    *number = rounded (value, n_digits);
    correction_judge_as_it_is (work, member);
    if (member->loss <= most_loss)
      return;
  }
  *number = value;
  correction_judge_as_it_is (work, member);
}

void
correction_polish (CorrectionWork *work, CorrectionMember *member)
{
  PredictTarget train = correction_train (work);
  double most_loss;

  correction_fit (work, member, &train, EVALUATIONS);
  correction_judge (work, member);
  while (remove_operation (work, member) || make_power_integer (work, member))
    ;
  most_loss = MAX ((1 + SAME) * member->loss, work->problem->least_loss);
  for (uint32_t at = 0; at < member->tree.n; at++)
    if (member->tree.steps[at].op == PREDICT_OP_CONSTANT)
      round_number (work, member, &member->tree.steps[at].value, most_loss);
  round_number (work, member, &member->factor, most_loss);
}
