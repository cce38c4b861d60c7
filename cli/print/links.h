/* links.h - links and ranks as rows of files: names, counters, times.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "sim/replay/replay.h"
#include "sim/counters.h"
#include "sim/net/link_loads.h"
#include "topology/mapping/mapping.h"

#include <stdio.h>

/* "A+ of 0,1,2,3,0", of a fabric "leaf0 port 19 -> spine1 port 1"; the caller
 * frees it. */
char *cli_link_name (const TopoMachine *machine, uint32_t link);

/* "A-" ... "E+". */
#define CLI_PORT_SIZE 4
void cli_port_name (char name[CLI_PORT_SIZE], uint32_t port);

/* Writes "0,1,2,3,0". */
void cli_print_coordinates (FILE *out, const TopoMachine *machine, uint32_t node);

/* Writes "A,B,C,D,E", each letter after `prefix`. */
void cli_print_dimension_names (FILE *out, const TopoMachine *machine, const char *prefix);

/* The at most n links that sent most, hottest first, idle ones left out;
 * returns how many. */
uint32_t cli_links_hottest (const SimCounters *counters, uint32_t *links, uint32_t n);

/* CSV: a line per link; of a fabric see cli_fabric_links_write_csv(). */
void cli_links_write_csv (FILE *out, const TopoMachine *machine, const SimCounters *counters);

/* CSV: a line per interval and link that sent something in it. */
void cli_loads_write_csv (FILE *out, const TopoMachine *machine, const SimLinkLoads *loads);

/* The lines of LLNL's BGQNCL counter library; five dimensions only (see
 * cli_links_fit_bgqncl()). */
void cli_links_write_bgqncl (FILE *out, const TopoMachine *machine, const TopoMapping *mapping,
                             const SimCounters *counters);
gboolean cli_links_fit_bgqncl (const TopoMachine *machine);

/* CSV: a line per rank.  iterations: NULL: without the columns of iterations. */
void cli_ranks_write_csv (FILE *out, const TopoMachine *machine, const TopoMapping *mapping,
                          const SimReplayResult *result, const SimIterations *iterations);
