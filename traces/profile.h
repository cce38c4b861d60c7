/* profile.h - the calls of a program, their bytes and their time.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "traces/trace.h"

/* All calls of one MPI function from one place of the program, all ranks
 * together. */
typedef struct {
  const char *name; /* "MPI_Isend" */
  const char *site; /* NULL: not known; the trace's */
  uint64_t calls;
  uint64_t bytes;  /* that the callers sent or contributed */
  int64_t time_ps; /* inside the call, where the trace was recorded */
} TraceCallSite;

typedef struct {
  GArray *sites;      /* (element-type TraceCallSite) most time first, then most bytes */
  int64_t call_ps;    /* sum of time_ps; 0: the source has no times of calls */
  int64_t compute_ps; /* recorded gaps between calls */
  double flops;
  uint64_t instructions, cycles; /* in the gaps; 0: not counted */
} TraceProfile;

/* Reads the whole trace.  progress may be NULL. */
TraceProfile *trace_profile_new (Trace *trace, TraceProgress progress, void *data, GError **error);
void trace_profile_free (TraceProfile *profile);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TraceProfile, trace_profile_free)
