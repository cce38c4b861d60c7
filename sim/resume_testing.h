/* resume_testing.h - runs that are saved on the way, ended, and resumed, for tests.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "sim/run.h"

/* Asserts that a run on the packet network ends with the same record and timeline, or the same error,
 * whether it is saved on the way or not, and when it is ended in `n_parts` of its pauses, drawn at
 * random, to be resumed each time. */
void resume_check (Trace *trace, const TopoMachine *machine, const TopoMapping *mapping,
                   const SimRunOptions *options, uint32_t n_parts);
