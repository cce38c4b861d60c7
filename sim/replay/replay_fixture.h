/* replay_fixture.h - a small machine with round numbers, to replay scripts on.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Times of the machine, in nanoseconds: send 300, receive 700, any other
 * call 100, direct message 50; network 1000 + 1 per byte; within a node 200 +
 * 0.1 per byte.  Messages are eager up to 1,000 bytes. */
#pragma once

#include "sim/replay/fake_network.h"
#include "sim/replay/replay.h"
#include "sim/replay/script.h"

#define NS 1000

typedef struct {
  TopoMachine *machine;
  TopoMapping *mapping;
  Trace *trace;
  SimReplay *replay;
  SimNetwork *network;
  GError *error;
  const SimReplayResult *result; /* NULL: the run failed with `error` */
  SimTimeline *timeline;         /* borrowed; may be NULL */
  int64_t jitter_ps;
  double compute_scale;
} Fixture;

/* n_ranks with `per_node` consecutive ones on each node. */
void fixture_init (Fixture *fixture, uint32_t n_ranks, uint32_t per_node);
/* On a machine of this spec instead. */
void fixture_init_spec (Fixture *fixture, const char *spec, uint32_t n_ranks, uint32_t per_node);
/* On a fat tree, whose library is Open MPI.  Copies take 0.1 ns per byte, whoever
 * else copies, and a pointer to another rank of the node 200; handling a fragment
 * or a control message 40 within a node and 60 between nodes; registration 2,000
 * and 10 per page.  Limits and depths are the machine's defaults. */
void fixture_init_fabric (Fixture *fixture, uint32_t n_ranks, uint32_t per_node);
/* Limits so low that messages of 2,000 bytes go every way; three bits of `ways`
 * choose among the ways of long ones. */
void fixture_lower_limits (Fixture *fixture, uint32_t ways);
void fixture_clear (Fixture *fixture);

/* Replays; again when called again.  Without a timeline of the test's it is told to
 * one that must add up, as fixture_check_timeline() says. */
void fixture_run (Fixture *fixture);

/* Asserts of the timeline of the last run that every lane is without a gap from
 * 0 to its rank's end, and that computing and waiting add up to the rank's times.
 * Returns how many messages it has. */
uint64_t fixture_check_timeline (const Fixture *fixture);

/* When the rank ended, in nanoseconds. */
double fixture_end_ns (const Fixture *fixture, uint32_t rank);

/* How many messages of a kind the network carried. */
uint32_t fixture_count (const Fixture *fixture, SimMessageKind kind);
/* The i-th of them. */
const FakeRecord *fixture_record (const Fixture *fixture, SimMessageKind kind, uint32_t i);
