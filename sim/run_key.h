/* run_key.h - what a run is known by: a hash of everything that went in.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "sim/run.h"

/* SHA-256 as text, the caller frees it.  Files count by what they say, not by
 * their path.  Errors are those of reading the trace. */
char *sim_run_key (Trace *trace, const RoutePaths *paths, const TopoMapping *mapping,
                   const SimRunOptions *options, GError **error);

/* The same for a trace that need not be open: `trace_hash` is its trace_hash(). */
char *sim_run_key_of_hash (const char *trace_hash, const RoutePaths *paths,
                           const TopoMapping *mapping, const SimRunOptions *options);
