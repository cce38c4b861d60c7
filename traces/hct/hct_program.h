/* hct_program.h - what a rank does, with loops: made ready to be run; private
 * to traces/.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A program is a sequence of tokens, each a varint with what follows it:
 *
 *   0, n, record[n]                            a record that was not there yet
 *   1, parameters, streamed, n, record[n]      the same, with measures
 *   2, count, n, token[n]                      a loop
 *   3 + i                                      record number i again
 *
 * `parameters` and `streamed` are sets of measures (bits by HCT_GAP ...).  The
 * parameters of a program are numbered in the order in which records name
 * them; their values stand first in the measures of the segment. */
#pragma once

#include "traces/hct/hct_fold.h"
#include "traces/hct/hct_measure.h"

enum {
  HCT_TOKEN_RECORD,
  HCT_TOKEN_MEASURED,
  HCT_TOKEN_LOOP,
  HCT_TOKEN_AGAIN,
};

/* A step of a program that is ready: the number of a record, or these with
 * the number of a loop, or the end. */
#define HCT_STEP_LOOP (UINT32_C (1) << 31)
#define HCT_STEP_NEXT (UINT32_C (1) << 30) /* the end of a loop's body */
#define HCT_STEP_END  UINT32_MAX
#define HCT_MAX_STEPS (UINT32_C (1) << 30)

/* An operation but for its patches and measures. */
typedef struct {
  TraceOp op;
  unsigned patches;
} HctTemplate;

typedef struct {
  const guint8 *bytes;
  uint32_t n_bytes;
  uint32_t first_parameter;
  guint16 parameters, streamed; /* sets of measures */
  uint64_t runs;                /* in one run of the program */
  const HctTemplate *ready;     /* NULL: to be taken apart each time */
} HctProgramRecord;

typedef struct {
  uint64_t count;
  uint32_t start; /* of the body, in steps[] */
} HctRepeat;

/* Constant once made, so that all cursors share it. */
typedef struct {
  HctProgramRecord *records;
  uint32_t *steps;
  HctRepeat *loops;
  guint8 *parameters; /* which measure each is */
  uint32_t n_records, n_steps, n_loops, n_parameters;
  uint64_t n_ops;
  HctTemplate *ready;
  uint32_t n_ready;
  GPtrArray *memory; /* of the arrays of ready records */
  GBytes *block;     /* holds the records' bytes */
} HctProgram;

/* Makes the program of block[at .. at + n_bytes) ready; NULL when it is none,
 * or not one of n_ops operations. */
HctProgram *hct_program_new (GBytes *block, const HctNames *names, uint32_t at, uint32_t n_bytes,
                             uint64_t n_ops);
void hct_program_free (HctProgram *program);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (HctProgram, hct_program_free)
