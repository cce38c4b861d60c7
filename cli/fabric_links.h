/* fabric_links.h - links of a switched fabric as rows and by name.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "sim/counters.h"

#include <stdio.h>

/* "leaf0 port 19 -> spine1 port 1", with the ids of devices whose names are not
 * their own; the caller frees it. */
char *cli_fabric_link_name (const TopoFabric *fabric, uint32_t link);

/* CSV: a line per link.  Port... are the counters of the port that the link
 * leaves, as its hardware has them: Data in units of four bytes, Rcv what came
 * in through it; only PortXmitWait, whose ticks differ from maker to maker, is
 * in nanoseconds.  The others belong to the link: buffered packets waited where
 * it arrives. */
void cli_fabric_links_write_csv (FILE *out, const TopoFabric *fabric, const SimCounters *counters);
