/* trace_fuzzing.h - helpers of the fuzz targets of the readers.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A target is one file that defines `fuzz_target`.  An input of the fuzzer is
 * written to files, opened as a trace, and every operation is read and
 * checked.  A trace of several files is one input in which lines of "%%" stand
 * between the contents of one file and the next. */
#pragma once

#include ".ci/fuzzing.h"
#include "traces/trace.h"

typedef struct {
  const char *path;         /* the file that is opened, in the folder */
  const char *const *files; /* which the input fills, in order; NULL at the end */
  const char *const *words; /* that mutations may insert; NULL at the end */
  TraceOptions options;
  void (*prepare) (const char *folder); /* writes files that never change; or NULL */
  void (*seed) (FuzzSeeds *seeds);
  void (*assemble) (const char *folder); /* makes `path` out of the files; or NULL */
} FuzzTarget;

/* Each target defines it. */
extern const FuzzTarget fuzz_target;
