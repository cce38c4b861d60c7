/* messages_at_once.h - a set of messages, all sent at once, on the packet network.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * For experiments on the network alone: one rank per node in node order, no
 * MPI.  Data is sent as the direct puts of a rendezvous. */
#pragma once

#include "sim/net/network.h"

typedef struct {
  uint32_t from, to; /* nodes, different */
  uint64_t bytes;
  SimMessageKind kind;
} ValidationMessage;

/* Sends messages[] at time 0, those of one node in the order given.  On a fabric `paths` are those
 * of the machine, on a torus NULL; `policy` is of a torus.  Returns the times of delivery (the
 * caller frees), NULL and *error on failure. */
int64_t *
validation_pattern_run (const TopoMachine *machine, RoutePolicy policy, const RoutePaths *paths,
                        const ValidationMessage *messages, uint32_t n_messages, GError **error);

/* The latest delivery; 0 for none. */
int64_t validation_pattern_end_ps (const int64_t *delivered_ps, uint32_t n_messages);
