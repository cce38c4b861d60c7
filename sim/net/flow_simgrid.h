/* flow_simgrid.h - what the flow network asks of SimGrid.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * SimGrid is large: its relocation took most of the start of every command.
 * So it is behind a library of our own, libhopcast-flow.so, which only the flow
 * network loads.  That library is C++, because the C interface of SimGrid wants
 * the route of every pair of hosts before the run, and an actor per message.
 *
 *     flow.c --> [SimFlowSolver] --> flow_simgrid.cc --> SimGrid
 *
 * A flow takes a list of links.  Flows that share a link share its bandwidth,
 * max-min fair; links have no latency. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct {
  /* Makes the engine with n_links links; a bandwidth of 0 stands for no link.
   * Once per process: SimGrid has one engine. */
  void (*open) (uint32_t n_links, const double *bandwidth_Bps);

  /* Calls `schedule` as an actor of SimGrid and returns when that has
   * returned.  The functions below are for schedule alone. */
  void (*run) (void (*schedule) (void *data), void *data);

  double (*clock_s) (void);

  /* Lets bytes flow over the links from now on. */
  void (*start) (const uint32_t *links, uint32_t n_links, uint64_t bytes, uint32_t tag);

  /* Sleeps until a flow ends or the clock is at until_s, HUGE_VAL for an end
   * only.  Returns whether it is that late. */
  bool (*wait) (double until_s);

  /* Takes the next flow that has ended, in the order of their ends, and writes
   * its tag; false when there is none. */
  bool (*take_ended) (uint32_t *tag);
} SimFlowSolver;

/* The symbol of libhopcast-flow.so. */
#ifdef __cplusplus
extern "C"
#else
extern
#endif
    const SimFlowSolver sim_flow_solver;
