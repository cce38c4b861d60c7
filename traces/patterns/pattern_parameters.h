/* pattern_parameters.h - the parameters that many patterns have; private to traces/.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "traces/patterns/pattern.h"

/* Rows of a table of TraceParameter. */
#define PATTERN_RANKS(preset)                                      \
  {                                                                \
    "ranks", TRACE_PARAMETER_INTEGER, preset, 1, "number of ranks" \
  }
#define PATTERN_BYTES(preset, help)                 \
  {                                                 \
    "bytes", TRACE_PARAMETER_BYTES, preset, 0, help \
  }
#define PATTERN_ITERATIONS(preset)                                            \
  {                                                                           \
    "iterations", TRACE_PARAMETER_INTEGER, preset, 0, "how often all is done" \
  }
#define PATTERN_COMPUTE                                                                    \
  {                                                                                        \
    "compute", TRACE_PARAMETER_TIME, "0", 0, "time that a rank computes in each iteration" \
  }
#define PATTERN_GRID(preset, help)                \
  {                                               \
    "grid", TRACE_PARAMETER_GRID, preset, 1, help \
  }
#define PATTERN_PERIODIC(preset)                             \
  {                                                          \
    "periodic", TRACE_PARAMETER_WORD, preset, 0,             \
        "yes|no: are opposite edges of the grid neighbours?" \
  }
#define PATTERN_SEED                                                                   \
  {                                                                                    \
    "seed", TRACE_PARAMETER_INTEGER, "1", 0, "another number gives other destinations" \
  }
#define PATTERN_END                              \
  {                                              \
    NULL, TRACE_PARAMETER_INTEGER, NULL, 0, NULL \
  }

/* Where the rows of PATTERN_COMMON are, at the head of a table. */
enum {
  PATTERN_AT_RANKS,
  PATTERN_AT_BYTES,
  PATTERN_AT_ITERATIONS,
  PATTERN_AT_COMPUTE,
  PATTERN_N_COMMON,
};
#define PATTERN_COMMON(ranks, bytes, bytes_help, iterations) \
  [PATTERN_AT_RANKS] = PATTERN_RANKS (ranks),                \
  [PATTERN_AT_BYTES] = PATTERN_BYTES (bytes, bytes_help),    \
  [PATTERN_AT_ITERATIONS] = PATTERN_ITERATIONS (iterations), \
  [PATTERN_AT_COMPUTE] = PATTERN_COMPUTE

/* Their values. */
typedef struct {
  uint32_t n_ranks;
  uint64_t bytes, iterations;
  int64_t compute_ps;
} PatternCommon;

static inline PatternCommon
pattern_common (const TraceParameterValue *values)
{
  return (PatternCommon){
    .n_ranks = (uint32_t) values[PATTERN_AT_RANKS].integer,
    .bytes = (uint64_t) values[PATTERN_AT_BYTES].integer,
    .iterations = (uint64_t) values[PATTERN_AT_ITERATIONS].integer,
    .compute_ps = values[PATTERN_AT_COMPUTE].integer,
  };
}

/* Is the value of the parameter `name` no more than `most`? */
static inline gboolean
pattern_check_most (const char *name, int64_t value, int64_t most, GError **error)
{
  if (value <= most)
    return TRUE;
  g_set_error (error, TRACE_ERROR, TRACE_ERROR_RANGE,
               "%s: %" G_GINT64_FORMAT " is more than %" G_GINT64_FORMAT, name, value, most);
  return FALSE;
}
