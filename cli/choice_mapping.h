/* choice_mapping.h - which rank is where in an aggregation pattern: grouped by what ranks send.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "study/matrix.h"
#include "topology/aggregation.h"
#include "topology/mapping.h"
#include "traces/trace.h"

/* The point-to-point messages of a trace. */
StudyMatrix *cli_choice_matrix (Trace *trace, GError **error);

/* The slots of the machine are those of the pattern, whose n_nodes is set. */
TopoMapping *cli_choice_mapping (const StudyMatrix *matrix, const TopoMachine *machine,
                                 const TopoPattern *pattern, uint64_t seed, GError **error);
