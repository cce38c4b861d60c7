/* hct_check.h - what a replay relies on, of operations out of a file; private
 * to traces/.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Checksums say that a file is as it was written, not that it was written by
 * us.  The writer asks the same, so that it never writes what is not read. */
#pragma once

#include "mpi/operation.h"

/* Does the operation make sense but for its measures?  With patches (as
 * hct_record.h has them) what is still relative is not looked at. */
bool hct_check_op (const TraceOp *op, unsigned patches);

/* Do its measures? */
bool hct_check_measures (const TraceOp *op);
