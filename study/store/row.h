/* row.h - one run of a study: its inputs and results.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The store keeps rows; tables, rankings, reports and predictors read them.
 * Everything but wall_s and peak_rss_bytes is the same whenever, wherever and by
 * however many workers the run is made. */
#pragma once

#include "sim/run.h"

typedef enum { STUDY_DONE, STUDY_FAILED } StudyStatus;

typedef struct {
  /* Inputs. */
  char *key;          /* sim_run_key(); of a run whose inputs cannot be opened, a hash of their
                          texts */
  char *trace;        /* as the study names it: a path or the spec of a pattern */
  char *trace_hash;   /* trace_hash() */
  char *machine;      /* canonical spec, with the settings of the study: "bgq:512", see plan.h */
  char *machine_hash; /* study_machine_hash(): key of the store's machines */
  char *mapping;      /* as the study names it: "ABCDET", a recipe, a path */
  char *mapping_hash; /* study_mapping_hash(): key of the store's placements */
  char *network, *routing, *shrink; /* as options name them */
  char *version;                    /* of hopcast */
  uint32_t ranks, ranks_per_node, nodes, links;
  double compute_scale;
  uint64_t seed;
  uint32_t repetition, replica; /* 0, 1 ... */
  double jitter_s;              /* SimRunOptions.jitter_ps */

  /* Results; of a failed run only the error. */
  StudyStatus status;
  char *error;
  /* NaN where the network has no time; mean_end_s: of the ranks' ends, time_s is the last. */
  double time_s, mean_end_s, compute_s_avg, wait_s_avg, wait_s_max;
  /* Of the critical path, SimReplayResult.path; their sum is time_s. NaN: not known. */
  double path_compute_s, path_software_s, path_latency_s, path_bandwidth_s, path_queueing_s;
  uint32_t shrink_factor; /* SimRun.shrink */
  double shrink_share;    /* SimRun.shrink_share; stores do not keep it */
  uint64_t messages, message_bytes, packets, packet_hops, events;
  double features[SIM_N_FEATURES]; /* NaN: not known */
  double wall_s;
  uint64_t peak_rss_bytes;
  char **warnings;    /* NULL-terminated, never NULL */
  GBytes *link_bytes; /* uint64_t [n_places] (sim/counters.h), payload; NULL: not kept */
  GBytes *rank_times; /* StudyRankTimes [ranks]; NULL: not kept or no time */
} StudyRow;

/* Seconds of one rank, as `simulate --ranks` prints them. */
typedef struct {
  double end_s, compute_s, wait_s;
} StudyRankTimes;

/* The fields of the critical path's parts, "path_compute_s" ... "path_queueing_s". */
extern const char *const study_path_fields[SIM_N_CLASSES];

/* All empty, failed without an error yet, numbers that are not known NaN. */
StudyRow *study_row_new (void);
void study_row_free (StudyRow *row);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (StudyRow, study_row_free)

/* Fills the results and links from a run; link_bytes with keep_links, rank_times with
 * keep_ranks. */
void study_row_take (StudyRow *row, const SimRun *run, SimNetworkKind network, gboolean keep_links,
                     gboolean keep_ranks);

/* Means and the largest over the ranks, in seconds. */
typedef struct {
  double mean_end_s, compute_s_avg, wait_s_avg, wait_s_max;
} StudyRankSummary;
StudyRankSummary study_rank_summary (const SimReplayResult *result);

/* The row as one block, of the type STUDY_ROW_BLOCK, that another process of the
 * same program reads back; the caller g_variant_unref()s. */
#define STUDY_ROW_BLOCK G_VARIANT_TYPE ("(amsatadasmaymay)")
GVariant *study_row_pack (const StudyRow *row);
/* NULL when it is not such a block. */
StudyRow *study_row_unpack (GVariant *block);

/* The columns of every table: name, and the value as text, which the caller
 * frees (NULL when not known).  Timing columns (wall_s, peak_rss_bytes) come
 * last and only with `timing`. */
guint study_row_n_columns (gboolean timing);
const char *study_row_column_name (guint column);
char *study_row_column_text (const StudyRow *row, guint column);
/* Whether the column is a number, for JSON. */
gboolean study_row_column_is_number (guint column);
