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

/* Recorded traces for tests that sweep through them: a path, or NULL when it
 * is not here.  Takes what unpacks archives into account: *folder is to be
 * removed with trace_testing_remove(). */
char *write_testing_recorded (const char *name, char **folder);

/* Bytes by "source destination tag" of messages between world ranks with a
 * tag up to highest; of a trace without communicators.  Caller unrefs. */
GHashTable *write_testing_channels (Trace *trace, int32_t highest);
int32_t write_testing_highest_tag (Trace *trace);
void write_testing_same_channels (GHashTable *a, GHashTable *b);
