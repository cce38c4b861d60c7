/* advise.h - which placement of a program's ranks to launch with, or none but the launcher's own.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A small study around one trace and one machine:
 *
 *   candidates   numbers of ranks per node x (the default order and what study/search finds)
 *   model        the cheapest one that nested validation trusts predicts the candidates without a run:
 *                bytes on links, else runs with shrunk messages, else none
 *   race         exact runs, on the machine as it is and on perturbed ones (study/race.h)
 *   gain         of the best candidate over the default, in pairs of runs on further perturbed machines,
 *                which had no part in the choice
 *   what if      the same pair with longer and shorter messages, with more and without computation
 *
 * All runs are in a store, so that an advice that was ended goes on from there. */
#pragma once

#include "study/advise/rivals.h"
#include "study/advise/trust.h"
#include "study/inputs.h"
#include "study/session/session.h"

typedef struct {
  const char *trace_path; /* names the trace in rows */
  TraceOptions trace_options;
  StudyMachineInputs machine; /* ranks_per_node, cores and pattern G_MININT or NULL: see below */
  SimNetworkKind network;     /* of exact runs: packet or flow */
  RoutePolicy policy;
  double compute_scale;
  uint64_t seed;
  guint n_workers;        /* processes; 0: one per core */
  int64_t budget_us;      /* for the whole advice; 0: n_runs counts */
  guint n_runs;           /* exact runs of the race */
  double least_gain;      /* a smaller one is not worth a change: 0.01 */
  const char *store_path; /* NULL: a temporary one */
  gboolean keep_details;  /* bytes on links and times of ranks, for a report */
  StudySessionProgress progress;
  void *progress_data;
} StudyAdviceOptions;

typedef enum {
  STUDY_ADVICE_CHANGE,  /* launch with .best */
  STUDY_ADVICE_NOISE,   /* keep the default: the interval of the gain holds 0 */
  STUDY_ADVICE_SMALL,   /* keep the default: the gain is not worth it */
  STUDY_ADVICE_NOTHING, /* keep the default: no other placement was faster */
  STUDY_ADVICE_UNKNOWN, /* the budget did not suffice for three pairs of runs */
} StudyVerdict;

/* "change", "noise", "small", "nothing", "unknown": for machines. */
extern const char *const study_verdict_names[];

#define STUDY_N_TRUSTS 2u

/* The gain of the best candidate where the inputs are others, by one pair of runs. */
typedef struct {
  const char *name, *what; /* for machines: "no_computation"; for people */
  double gain;             /* NaN: not run */
} StudyWhatIf;

#define STUDY_N_WHAT_IFS 4u

typedef struct {
  uint32_t n_ranks;
  StudyRivals *rivals;     /* best first, those without a run last */
  const StudyRival *plain; /* what the launcher does by itself */
  const StudyRival *best;  /* of the others; NULL: none was run */
  StudyGain gain;          /* of .best, by the pairs that had no part in the choice */
  StudyVerdict verdict;
  StudyTrust trusts[STUDY_N_TRUSTS];
  const char *model; /* "load", "shrunk", "exact": nothing but runs */
  StudyWhatIf what_ifs[STUDY_N_WHAT_IFS];
  double compute_s; /* mean computation of a rank, default, machine as it is */
  /* By how much, as a share, computation is slower with .best's ranks per node than with the default's, by the
   * model of the node (study/aggregate/node_shares.h) for programs of which nothing is known; NaN: none is
   * known of this node, or as many share it. */
  double slower_low, slower_high;
  guint n_exact, n_shrunk; /* runs */
  double wall_s;           /* of their workers, earlier ones included */
  double search_s, elapsed_s;
  char *store_path; /* a temporary one is removed with the advice */
  gboolean is_temporary;
  char **warnings; /* of the default's run */
  int signal;      /* that ended it; 0: none */
} StudyAdvice;

/* NULL and *error: an input cannot be read, the default mapping fails, or the store cannot be used. */
StudyAdvice *study_advise (const StudyAdviceOptions *options, GError **error);
void study_advice_free (StudyAdvice *advice);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (StudyAdvice, study_advice_free)
