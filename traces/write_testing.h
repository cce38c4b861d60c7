/* write_testing.h - helpers of the tests of writers.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "traces/trace_testing.h"
#include "traces/writer.h"

/* One operation of a program that is made up; comm and name are filled in
 * when they are 0. */
typedef struct {
  uint32_t rank;
  TraceOp op;
} WriteTestingOp;

/* A trace of these, which must live as long. */
Trace *write_testing_program (uint32_t n_ranks, const WriteTestingOp *ops, uint32_t n_ops);

/* What a writer makes of a trace; *error when it cannot.  Caller frees. */
char *write_testing_text (const TraceWriter *writer, Trace *trace, GError **error);
/* Fails unless the writer can and this is what it writes. */
void write_testing_same (const TraceWriter *writer, Trace *trace, const char *expected);

/* Fails unless the writer writes this program of two ranks, with a warning that has `part` in it, or
 * without one. */
void write_testing_told (const TraceWriter *writer, const WriteTestingOp *ops, uint32_t n_ops,
                         const char *part, gboolean told);
/* The writer must refuse the operation, in a program of two ranks, with `part` in the message. */
void write_testing_refused (const TraceWriter *writer, const WriteTestingOp *op, const char *part);

/* Both send the same bytes between the same world ranks under the same tags, but for tags of `written`
 * above all those of `trace`, which has no communicators. */
void write_testing_same_channels (Trace *trace, Trace *written);
