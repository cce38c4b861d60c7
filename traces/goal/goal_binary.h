/* goal_binary.h - GOAL schedules in the binary form of LogGOPSim's txt2bin.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Numbers are little-endian and packed.  Offsets of ranks count from the
 * number of ranks.
 *
 *   u64 4223 | u32 ranks, u8 highest cpu, u8 highest nic
 *            | per rank u64 begin, u64 end
 *            | per rank u32 nodes, u32 roots, roots x u32, nodes x node, appendix
 *   node: u32 what it waits for, u8 kind (1 send, 2 recv, 3 calc), u32 peer,
 *         u64 size, u32 tag, u8 cpu, u8 nic,
 *         u32 nodes that wait for its end, u32 the first in the appendix,
 *         u32 nodes that wait for its begin, u32 the first in the appendix
 *   appendix: u32 numbers of nodes
 *
 * LogGOPSim2 wrote the same head before nodes of 104 bytes: refused. */
#pragma once

#include "traces/goal/goal_graph.h"

#define GOAL_BINARY_MAGIC 4223u

typedef struct GoalBinary GoalBinary;

gboolean goal_binary_probe (const guint8 *head, gsize n);

/* Checks where the ranks are, and how long. */
GoalBinary *goal_binary_open (const char *path, GError **error);
void goal_binary_close (GoalBinary *binary);
uint32_t goal_binary_ranks (const GoalBinary *binary);

/* The unsorted graph of a rank.  May be called from any thread. */
GoalGraph *goal_binary_read (const GoalBinary *binary, uint32_t rank, GError **error);
