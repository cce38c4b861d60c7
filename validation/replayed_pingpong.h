/* replayed_pingpong.h - two ranks of an MPI program, replayed on the packet network.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * For experiments that were measured through MPI: a trace is written, read
 * back and replayed, so that the whole way from file to time is tested. */
#pragma once

#include "topology/machine.h"

/* Half of a round trip of messages of `bytes` between ranks on two different
 * nodes, in picoseconds, without the program's start and end; 0 and *error
 * on failure. */
double validation_latency_ps (const TopoMachine *machine, uint32_t from, uint32_t to,
                              uint64_t bytes, GError **error);

/* Bytes per second of a window of nonblocking messages of `bytes` in one
 * direction, from the first call to the last completion. */
double validation_bandwidth_Bps (const TopoMachine *machine, uint32_t from, uint32_t to,
                                 uint64_t bytes, GError **error);
