/* writer.c - the formats that traces can be written in.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/writer.h"

/* In the order in which they are listed. */
static const TraceWriter *const writers[] = {
  &trace_writer_hct,
  &trace_writer_ti,
  &trace_writer_goal,
  NULL,
};

const TraceWriter *const *
trace_writers (void)
{
  return writers;
}
