/* placements.h - where pairs of ranks can sit in a node of two sockets.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The node of the task-aggregation paper has two sockets of two dies of two
 * cores: cores 0 and 1 are one die, 0..3 one socket.  A placement is one
 * observed pair of ranks and up to three others, the noise.  Two placements
 * are of one class when swapping sockets, dies of a socket, or cores of a
 * die turns one into the other: they share the same hardware (the paper's
 * Figure 5; topology/mapping/message_placement.h). */
#pragma once

#include <stdint.h>

#define VALIDATION_CORES     8
#define VALIDATION_MAX_NOISE 3

typedef struct {
  uint8_t n_pairs;
  uint8_t pair[1 + VALIDATION_MAX_NOISE][2]; /* cores; pair 0 is the observed one */
} ValidationPlacement;

/* More than any number of noisy pairs has classes. */
#define VALIDATION_MAX_PLACEMENTS 32

/* One placement of each class with this many noisy pairs, 0 .. 3, in an order
 * of their own; returns how many: 3, 13, 27, 13. */
uint32_t
validation_placements (uint32_t n_noise, ValidationPlacement classes[VALIDATION_MAX_PLACEMENTS]);
