/* placements.c - where pairs of ranks can sit in a node of two sockets.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validation/placements.h"

#include <glib.h>
#include <stdbool.h>

#define SYMMETRIES 128 /* 2 sockets, 2 x 2 dies, 4 x 2 cores to swap: 2^7 */

/* Bits of a symmetry: 0 swaps the sockets, 1 and 2 the dies of a socket, 3 to
 * 6 the cores of a die. */
static uint32_t
moved (uint32_t core, uint32_t symmetry)
{
  uint32_t die = core / 2, socket = core / 4;

  return core ^ (symmetry & 1u) * 4 ^ (symmetry >> (1 + socket) & 1u) * 2 ^
         (symmetry >> (3 + die) & 1u);
}

/* Each core's pair as a digit: 0 none, 1 the observed one, and the others
 * from 2 on in the order in which they are met, as they are alike. */
static uint64_t
digits (const uint8_t pair_of[VALIDATION_CORES])
{
  uint8_t name[2 + VALIDATION_MAX_NOISE] = { 0, 1 }, next = 2;
  uint64_t number = 0;

  for (uint32_t core = 0; core < VALIDATION_CORES; core++) {
    uint8_t pair = pair_of[core];

    if (pair > 1 && name[pair] == 0)
      name[pair] = next++;
    number = number << 4 | name[pair];
  }
  return number;
}

uint64_t
validation_placement_class (const ValidationPlacement *placement)
{
  uint64_t least = UINT64_MAX;

  for (uint32_t symmetry = 0; symmetry < SYMMETRIES; symmetry++) {
    uint8_t pair_of[VALIDATION_CORES] = { 0 };

    for (uint8_t pair = 0; pair < placement->n_pairs; pair++)
      for (uint32_t end = 0; end < 2; end++)
        pair_of[moved (placement->pair[pair][end], symmetry)] = (uint8_t) (pair + 1);
    least = MIN (least, digits (pair_of));
  }
  return least;
}

typedef struct {
  ValidationPlacement *classes;
  uint64_t seen[VALIDATION_MAX_PLACEMENTS];
  uint32_t n, n_pairs;
} Search;

static void
note (Search *search, const ValidationPlacement *placement)
{
  uint64_t class = validation_placement_class (placement);

  for (uint32_t i = 0; i < search->n; i++)
    if (search->seen[i] == class)
      return;
  g_assert (search->n < VALIDATION_MAX_PLACEMENTS);
  search->seen[search->n] = class;
  search->classes[search->n++] = *placement;
}

/* Adds pairs of free cores until there are enough; those of the noise by
 * growing first core. */
static void
extend (Search *search, ValidationPlacement placement, uint32_t used, uint32_t least_core)
{
  uint8_t pair = placement.n_pairs;

  if (pair == search->n_pairs) {
    note (search, &placement);
    return;
  }
  placement.n_pairs++;
  for (uint32_t a = least_core; a < VALIDATION_CORES; a++)
    for (uint32_t b = a + 1; b < VALIDATION_CORES; b++) {
      uint32_t cores = 1u << a | 1u << b;

      if ((used & cores) != 0)
        continue;
      placement.pair[pair][0] = (uint8_t) a;
      placement.pair[pair][1] = (uint8_t) b;
      extend (search, placement, used | cores, pair == 0 ? 0 : a + 1);
    }
}

uint32_t
validation_placements (uint32_t n_noise, ValidationPlacement classes[VALIDATION_MAX_PLACEMENTS])
{
  Search search = { .classes = classes, .n_pairs = 1 + n_noise };

  g_assert (n_noise <= VALIDATION_MAX_NOISE);
  extend (&search, (ValidationPlacement){ 0 }, 0, 0);
  return search.n;
}
