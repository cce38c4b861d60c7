/* trace_picture.h - calls, message sizes and communication of a trace, drawn with letters.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "study/search/matrix.h"
#include "traces/profile.h"

/* Messages by size: class 0 has none, class k has 2^(k-1) .. 2^k - 1 bytes. */
#define CLI_SIZE_CLASSES 65
typedef struct {
  uint64_t messages[CLI_SIZE_CLASSES], bytes[CLI_SIZE_CLASSES];
} CliSizes;

void cli_sizes_add (CliSizes *sizes, uint64_t bytes);

/* The ranks that a rank sends to, itself not counted, over all ranks. */
typedef struct {
  uint64_t pairs;
  uint32_t min, max;
  double average;
} CliPartners;

CliPartners cli_partners (const StudyMatrix *matrix);

/* Each prints a heading and its lines; nothing when there is nothing to show. */
void cli_draw_call_sites (FILE *out, const TraceProfile *profile);
void cli_draw_sizes (FILE *out, const CliSizes *sizes);
void cli_draw_matrix (FILE *out, const StudyMatrix *matrix);
