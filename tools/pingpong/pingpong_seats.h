/* pingpong_seats.h - which place of its node each process of a job has.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A place is a core of the node's tree, and a process that may run on the processors of one core
 * alone has that.  Without a tree nothing is known of what cores share: they count as alike,
 * and the processes of a node have a place each, in the order of their processors. */
#pragma once

#include "tools/pingpong/pingpong_plan.h"

#define CLI_PINGPONG_MAX_CPUS 1024

typedef struct {
  uint32_t node;                          /* from 0 on, in the order of their first ranks */
  uint32_t local;                         /* which process of its node it is */
  uint8_t may_run[CLI_PINGPONG_MAX_CPUS]; /* on a processor, by the system's number */
} CliPingpongProcess;

typedef struct {
  TopoLevels *levels;
  CliPingpongSeat *seats; /* [n_ranks] */
  GPtrArray *warnings;    /* (element-type utf8) */
} CliPingpongSeating;

void cli_pingpong_seating_free (CliPingpongSeating *seating);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CliPingpongSeating, cli_pingpong_seating_free)

/* With a tree, errors (CLI_ERROR_INPUT) when a process is not bound to a core, or to one that the
 * tree has not; node NULL: there is none.  Of processes that share a core only the first has it,
 * with a warning. */
CliPingpongSeating *
cli_pingpong_seating_new (const TopoNode *node, const CliPingpongProcess processes[],
                          uint32_t n_ranks, GError **error);

/* A processor for each process to be bound to, of those where the processes of its node may run:
 * one of each core, in their order, and again from the first when there are more processes.
 * The caller frees them; NULL and *error as above. */
uint32_t *cli_pingpong_choose_cpus (const TopoNode *node, const CliPingpongProcess processes[],
                                    uint32_t n_ranks, GError **error);

/* As if they were spread over so many nodes, in the order of their ranks. */
void
cli_pingpong_pretend_nodes (CliPingpongProcess processes[], uint32_t n_ranks, uint32_t n_nodes);
