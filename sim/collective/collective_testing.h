/* collective_testing.h - runs the steps of all ranks of a collective, for tests.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A small interpreter of messages.  A model decides the content of a
 * message, from the message's size and from the content of its sender at that
 * moment, never by asking the algorithm.  A send completes when its receive
 * is posted, so an algorithm that needs buffered messages deadlocks here. */
#pragma once

#include "sim/collective/collective_steps.h"

#include <glib.h>

typedef struct {
  uint64_t bytes;
  uint32_t lo, hi;  /* elements that it carries */
  uint64_t blocks;  /* or blocks, one per bit */
  uint8_t *content; /* [n_elements * n] how often each rank's part is in each element */
} Message;

typedef struct {
  bool is_send;
  uint32_t peer;
  uint32_t serial; /* among those of the same two ranks in this direction */
  uint64_t bytes;
} Posted;

typedef struct {
  uint32_t step;
  bool waits;
  bool gave_all;  /* its content is replaced by the next that it gets */
  GArray *posted; /* (element-type Posted) */
  uint32_t lo, hi;
  uint64_t blocks;
  uint8_t *content;
} Rank;

typedef struct World World;

/* The content of a message, and its effect on the receiver. */
typedef struct {
  void (*send) (World *world, uint32_t rank, const SimStep *step, Message *message);
  void (*receive) (World *world, uint32_t rank, uint32_t from, const Message *message);
} Model;

struct World {
  const SimAlgorithm *algorithm;
  const Model *model;
  SimCollective *calls; /* [n] */
  Rank *ranks;          /* [n] */
  GPtrArray **wires;    /* [n * n] (element-type Message) by source, destination */
  uint32_t *n_receives; /* [n * n] posted, same index */
  uint32_t n, n_elements;
  uint64_t unit_bytes; /* of an element */
  uint64_t n_messages, n_bytes;
};

/* Numbers of ranks that tests try: all small ones, and some larger. */
#define WORLD_SIZES 34
extern const uint32_t world_sizes[WORLD_SIZES];

/* Every rank has a copy of *call with its own rank in it; n_elements is how
 * many elements a rank's content has. */
World *world_new (const SimAlgorithm *algorithm, const Model *model, const SimCollective *call,
                  uint32_t n, uint32_t n_elements);
void world_free (World *world);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (World, world_free)

/* Runs all ranks to their end: no deadlock, equal sizes at both ends of each
 * message, nothing left on the wires. */
void world_run (World *world);

/* The n counters of an element: how often each rank's part is in it. */
uint8_t *world_content (uint8_t *content, const World *world, uint32_t element);

/* The rank has elements [lo, hi), with its own part in each. */
void world_own_part (World *world, uint32_t rank, uint32_t lo, uint32_t hi);

/* Each rank's part is in each element of this one once. */
void world_assert_sums (const World *world, uint32_t rank);

/* A model in which messages carry nothing but their size. */
extern const Model world_sizes_model;

/* The largest power of two that is not above n. */
uint32_t world_power_below (uint32_t n);
/* The smallest k with 2^k >= n. */
uint32_t world_rounds (uint32_t n);

/* 2^rank for n ranks: block sizes of which any sum tells which they are.  The
 * caller g_free()s. */
uint64_t *world_powers_of_two (uint32_t n);
