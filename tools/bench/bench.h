/* bench.h - rows of `make bench`: what is measured, beside which yardstick, and what bounds it.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A row is measured in a process of its own, so that its peak of memory is its own and no row
 * meets the heap of another.  There it is opened once and sampled until its share of the time
 * is used up; each sample measures the yardstick too, so that both meet the machine in the same
 * state.  All times are processor time. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct {
  double value;      /* in the unit of the row */
  double beside;     /* the same of its yardstick; NAN: it has none */
  double peak_bytes; /* of memory, before the yardstick was measured; right in the first sample */
} BenchSample;

typedef struct BenchRow BenchRow;

typedef struct {
  /* Prepares what is not to be measured.  NULL and *error: the row is skipped, for that reason.
   * Sets row->n_nodes and n_ranks where bytes per node and per rank have a meaning. */
  gpointer (*open) (BenchRow *row, GError **error);
  void (*sample) (gpointer state, BenchSample *sample);
  void (*close) (gpointer state);
} BenchKind;

struct BenchRow {
  const BenchKind *kind;
  const void *details; /* of the kind */
  char *name;          /* without commas and quotes */
  const char *unit;
  const char *beside; /* the yardstick; NULL: none */
  const char *bound;  /* the physical argument, in a few words */
  char *old_words;    /* "SPEC u|n|d N": the same row of packet_bench, which earlier versions had */
  uint32_t most_nodes; /* machines are not made larger than that */
  uint32_t n_nodes, n_ranks;
  bool once;  /* a process can take one sample only */
  bool large; /* a sample takes several seconds */
};

/* Each appends its rows, owned by the caller. */
void bench_add_networks (GPtrArray *rows);
void bench_add_traces (GPtrArray *rows);

/* Processor time of this process. */
double bench_seconds (void);

/* The peak of memory beyond what the process had when it started. */
double bench_peak_bytes (void);

/* A spec of the same family with at most row->most_nodes nodes; the caller frees it. */
char *bench_spec (const BenchRow *row, const char *spec);

/* Path of a file in the folder of the build; the caller frees it. */
char *bench_built (const char *name);
