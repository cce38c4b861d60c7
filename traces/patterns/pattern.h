/* pattern.h - programs that are generated instead of recorded.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A pattern is named by a spec that stands wherever a path of a trace may
 * stand: "gen:halo2d:ranks=64,bytes=65536,iterations=10".  Its operations are
 * made when they are asked for, so that a million ranks cost no file.
 *
 * A pattern is one file with a const TracePattern, listed in patterns[] of
 * pattern.c.  It hands its operations out in batches, such as one time step
 * of one rank.  A batch is a pure function of (parameters, rank,
 * number of the batch), so that cursors need no state and can begin
 * anywhere.  MPI_Init before the first batch and MPI_Finalize after the last
 * are added around them; communicators are made in a batch of their own, the
 * first. */
#pragma once

#include "traces/trace.h"

typedef struct PatternOps PatternOps;

/* The lowest handles that are free. */
enum { PATTERN_FIRST_REQUEST = 2, PATTERN_FIRST_COMM = 4 };

/* Appends an operation, all zero but for kind, name, comm (TRACE_COMM_WORLD),
 * matched_source and root (none).  `name` is static: "MPI_Isend".  The pointer
 * is good until the next call on the list. */
TraceOp *pattern_ops_add (PatternOps *ops, TraceOpKind kind, const char *name);

/* The common ones.  A peer < 0 that is not a wildcard adds nothing. */
void pattern_ops_compute (PatternOps *ops, int64_t gap_ps);
void pattern_ops_send (PatternOps *ops, int32_t peer, int32_t tag, uint64_t bytes);
void pattern_ops_recv (PatternOps *ops, int32_t peer, int32_t tag, uint64_t bytes);
void
pattern_ops_isend (PatternOps *ops, int32_t peer, int32_t tag, uint64_t bytes, uint32_t request);
void
pattern_ops_irecv (PatternOps *ops, int32_t peer, int32_t tag, uint64_t bytes, uint32_t request);
/* Waits for requests first .. first + n - 1; nothing when n is 0. */
void pattern_ops_wait (PatternOps *ops, uint32_t first, uint32_t n);
/* `bytes` to each rank of comm. */
void pattern_ops_alltoall (PatternOps *ops, uint32_t comm, uint64_t bytes);
/* Ranks of comm with the same colour get new_comm, ordered by key. */
void
pattern_ops_split (PatternOps *ops, uint32_t comm, int32_t color, int32_t key, uint32_t new_comm);

/* Arrays of the operation added last, which live as long as the list; to be
 * filled by the caller. */
uint64_t *pattern_ops_counts (PatternOps *ops, uint32_t n);
uint64_t *pattern_ops_recv_counts (PatternOps *ops, uint32_t n);

typedef enum {
  TRACE_PARAMETER_INTEGER, /* at least `least` */
  TRACE_PARAMETER_BYTES,   /* the same, with an optional k, K, M or G: powers of 1024 */
  TRACE_PARAMETER_TIME,    /* "10 us", 0 or more; read as picoseconds */
  TRACE_PARAMETER_GRID,    /* "16x8x128": up to 3 integers, absent ones 0 */
  TRACE_PARAMETER_WORD,    /* one of the words of `help`: "yes|no: is it ...?" */
} TraceParameterKind;

typedef struct {
  const char *name; /* of the option --NAME and in the spec: a-z, 0-9, - */
  TraceParameterKind kind;
  const char *preset; /* default as it would be typed; NULL: must be given, "": absent */
  int64_t least;
  const char *help; /* one line, with the unit */
} TraceParameter;

/* The values of a spec, one per parameter, in their order.  Absent: all 0. */
typedef union {
  int64_t integer;  /* INTEGER (to 2^31 - 1), BYTES (to 2^40), TIME (to 1000 s) */
  int64_t grid[3];  /* each up to 2^24 */
  const char *word; /* static */
} TraceParameterValue;

typedef struct {
  const char *name;                 /* "halo2d" */
  const char *summary;              /* one line for people, with the source */
  const TraceParameter *parameters; /* up to one with name NULL */

  /* The pattern's own state; sets *n_ranks.  *error: TRACE_ERROR_RANGE; the
   * spec is put before its message.  Fills in absent values that it works out
   * from others, so that the canonical spec has them. */
  gpointer (*open) (TraceParameterValue *values, uint32_t *n_ranks, GError **error);
  void (*close) (gpointer state);
  /* Appends the operations of the rank's batch number `index`; FALSE, and
   * nothing appended, when it has no more.  Called from any thread. */
  gboolean (*fill) (gconstpointer state, uint32_t rank, uint64_t index, PatternOps *ops);
} TracePattern;

extern const TracePattern trace_pattern_alltoall;
extern const TracePattern trace_pattern_evh1;
extern const TracePattern trace_pattern_halo2d;
extern const TracePattern trace_pattern_halo3d;
extern const TracePattern trace_pattern_permutation;
extern const TracePattern trace_pattern_npb;
extern const TracePattern trace_pattern_pf3d;
extern const TracePattern trace_pattern_pingpong;
extern const TracePattern trace_pattern_random;
extern const TracePattern trace_pattern_ring;
extern const TracePattern trace_pattern_suba2a;

/* All of them, NULL at the end. */
const TracePattern *const *trace_patterns (void);

/* Does this stand for a pattern, instead of naming a file? */
gboolean trace_pattern_is_spec (const char *path);

/* The spec with all parameters, in the order of the table; the content hash of
 * the trace is that of this text.  The caller frees it.  NULL and *error when the
 * spec is wrong. */
char *trace_pattern_canonical (const char *spec, GError **error);
