/* random_testing.h - random programs of messages on a packet network, for tests.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A program is drawn from a seed: messages sent before the run, answers that
 * callbacks send, timers.  What a message is depends on its number alone, so
 * that two networks which deliver alike are asked alike. */
#pragma once

#include "base/random.h"
#include "sim/net/network.h"

/* Values that a parameter may have, NULL-terminated; "" keeps what it has. */
typedef struct {
  const char *key;
  const char *values[9];
} RandomSetting;

/* One of the texts, NULL-terminated. */
const char *random_text (BaseRandom *random, const char *const *texts);
void random_set_parameters (TopoParameters *parameters, const RandomSetting *settings, size_t n,
                            BaseRandom *random);

typedef struct {
  const TopoMapping *mapping;
  uint64_t seed;
  uint32_t n_nodes, n_ranks;
  uint32_t n_first;  /* messages sent before the run */
  int64_t within_ps; /* they start within this time */
  uint64_t most_bytes;
  uint32_t answers; /* of 256 deliveries, so many are answered */
  bool shares;      /* some of them by a timer of any rank */
  /* Fills in what a message is: kind, bytes and what the kind needs. */
  void (*draw_message) (SimMessage *message, uint64_t most_bytes, BaseRandom *random);
  /* Not NULL: a network like the one that runs.  After some of its windows, up to three times, it is
   * saved, and one of these goes on from there. */
  SimNetwork *(*make_again) (gpointer again_data);
  gpointer again_data;
} RandomProgram;

/* Runs the program on a network that nobody has used, whose client is replaced, and frees it.  A
 * hash of what each node received, with its picosecond and in its order, and
 * of what was counted on each link. */
uint64_t random_program_run (const RandomProgram *program, SimNetwork *network);

/* Compares hash (seed) with the golden ones of seeds 1, 2, ...; the environment
 * variable "FIRST N" prints the hashes of other seeds, to be compared between
 * two builds. */
void random_program_golden (const char *variable, uint64_t (*hash) (uint64_t seed),
                            const uint64_t *golden, size_t n_golden);
