/* splits.c - see splits.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/table/splits.h"

#include <math.h>

/* A third of 84 is 28, whichever way 1 / 3 was rounded. */
#define ROUNDING 1e-9

/* place[n_groups] of each group among all, shuffled (Fisher and Yates; Durstenfeld 1964). */
static uint32_t *
shuffle (BaseRandom *random, uint32_t n_groups)
{
  uint32_t *place = g_new (uint32_t, n_groups);

  for (uint32_t group = 0; group < n_groups; group++) {
    uint32_t other = (uint32_t) base_random_below (random, group + 1);

    place[group] = place[other];
    place[other] = group;
  }
  return place;
}

void
predict_split_draw (BaseRandom *random, const uint32_t *group, uint64_t n, uint32_t n_groups,
                    double share, bool *is_test)
{
  g_autofree uint32_t *place = shuffle (random, n_groups);
  double wanted = ceil (share * n_groups * (1 - ROUNDING));
  uint32_t n_test = (uint32_t) CLAMP (wanted, 1, MAX (n_groups, 2) - 1);

  for (uint64_t i = 0; i < n; i++)
    is_test[i] = place[group[i]] < n_test;
}

void
predict_split_deal (BaseRandom *random, const uint32_t *group, uint64_t n, uint32_t n_groups,
                    guint n_folds, uint32_t *fold)
{
  g_autofree uint32_t *place = shuffle (random, n_groups);

  g_assert (n_folds > 0 && n_folds <= n_groups);
  for (uint64_t i = 0; i < n; i++)
    fold[i] = place[group[i]] % n_folds;
}

uint32_t *
predict_split_groups (const uint32_t *group, const bool *chosen, uint64_t n, uint32_t n_groups,
                      uint32_t *n_left)
{
  g_autofree uint32_t *number = g_new0 (uint32_t, n_groups); /* from 1; 0: not met yet */
  uint32_t *left = g_new (uint32_t, n);
  uint64_t n_chosen = 0;

  *n_left = 0;
  for (uint64_t i = 0; i < n; i++)
    if (chosen[i]) {
      if (number[group[i]] == 0)
        number[group[i]] = ++*n_left;
      left[n_chosen++] = number[group[i]] - 1;
    }
  return left;
}
