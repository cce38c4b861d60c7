/* npb_classes.c - the problem sizes of the classes, and their operation counts.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Sizes and iterations are those of NPB 3.3 (NASA's page "Problem Sizes and
 * Parameters in NPB").  IS has no class E there: that one is of NPB 3.4. */
#include "traces/patterns/npb.h"

#include <math.h>
#include <string.h>

#define N_CLASSES 7

static const char class_names[N_CLASSES + 1] = "SWABCDE";

/* n[] of BT, SP, LU, MG and FT is the grid; of CG the order of the matrix and
 * its nonzeros per row (before they are spread); of IS log2 of the number of
 * keys, of the largest key and of the number of buckets; of EP log2 of the
 * number of pairs. */
static const NpbProblem problems[NPB_N_KERNELS][N_CLASSES] = {
  [NPB_BT] = { { { 12, 12, 12 }, 60 },
               { { 24, 24, 24 }, 200 },
               { { 64, 64, 64 }, 200 },
               { { 102, 102, 102 }, 200 },
               { { 162, 162, 162 }, 200 },
               { { 408, 408, 408 }, 250 },
               { { 1020, 1020, 1020 }, 250 } },
  [NPB_SP] = { { { 12, 12, 12 }, 100 },
               { { 36, 36, 36 }, 400 },
               { { 64, 64, 64 }, 400 },
               { { 102, 102, 102 }, 400 },
               { { 162, 162, 162 }, 400 },
               { { 408, 408, 408 }, 500 },
               { { 1020, 1020, 1020 }, 500 } },
  [NPB_LU] = { { { 12, 12, 12 }, 50 },
               { { 33, 33, 33 }, 300 },
               { { 64, 64, 64 }, 250 },
               { { 102, 102, 102 }, 250 },
               { { 162, 162, 162 }, 250 },
               { { 408, 408, 408 }, 300 },
               { { 1020, 1020, 1020 }, 300 } },
  [NPB_CG] = { { { 1400, 7 }, 15 },
               { { 7000, 8 }, 15 },
               { { 14000, 11 }, 15 },
               { { 75000, 13 }, 75 },
               { { 150000, 15 }, 75 },
               { { 1500000, 21 }, 100 },
               { { 9000000, 26 }, 100 } },
  [NPB_MG] = { { { 32, 32, 32 }, 4 },
               { { 128, 128, 128 }, 4 },
               { { 256, 256, 256 }, 4 },
               { { 256, 256, 256 }, 20 },
               { { 512, 512, 512 }, 20 },
               { { 1024, 1024, 1024 }, 50 },
               { { 2048, 2048, 2048 }, 50 } },
  [NPB_FT] = { { { 64, 64, 64 }, 6 },
               { { 128, 128, 32 }, 6 },
               { { 256, 256, 128 }, 6 },
               { { 512, 256, 256 }, 20 },
               { { 512, 512, 512 }, 20 },
               { { 2048, 1024, 1024 }, 25 },
               { { 4096, 2048, 2048 }, 25 } },
  [NPB_IS] = { { { 16, 11, 9 }, 10 },
               { { 20, 16, 10 }, 10 },
               { { 23, 19, 10 }, 10 },
               { { 25, 21, 10 }, 10 },
               { { 27, 23, 10 }, 10 },
               { { 31, 27, 10 }, 10 },
               { { 35, 31, 10 }, 10 } },
  [NPB_EP] = { { { 24 }, 1 },
               { { 25 }, 1 },
               { { 28 }, 1 },
               { { 30 }, 1 },
               { { 32 }, 1 },
               { { 36 }, 1 },
               { { 40 }, 1 } },
};

NpbProblem
npb_problem (NpbKernelId kernel, char class_name)
{
  const char *found = strchr (class_names, class_name);

  g_assert (found != NULL && class_name != '\0');
  return problems[kernel][found - class_names];
}

/* For one iteration: the polynomials of the Mop/s report of NPB 3.3.  EP
 * counts random numbers and IS ranked keys, which are not floating-point
 * operations. */
double
npb_problem_flops (NpbKernelId kernel, const NpbProblem *problem)
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
