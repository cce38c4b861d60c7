/* sc13.h - the study of Jain et al. (SC 2013) on simulated runs; private to its files.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * validation/sc13/run makes the studies: one store per scale and size, named "16k", "high.16k",
 * "pf3d" ...  A case is one program of one store, such as "16k.halo2d", with a sample per mapping.
 * Observed is the time on the packet network (runs of other networks are left out); the features
 * may come from cheaper runs. */
#pragma once

#include "predictors/scoring/evaluate.h"
#include "study/store/row.h"
#include "validation/suite.h"

typedef enum {
  SC13_SAME,   /* counters of the run that was timed */
  SC13_COARSE, /* of a run with longer packets: store "coarse.NAME" */
  SC13_LOAD,   /* of static paths, without time */
  SC13_N_SOURCES
} Sc13Source;
extern const char *const sc13_source_names[SC13_N_SOURCES];

typedef struct {
  const char *name;
  guint repeats, trees;
} Sc13Protocol;
/* The paper's, one split and ten trees, and ours. */
enum { SC13_PAPER, SC13_OURS, SC13_N_PROTOCOLS };
extern const Sc13Protocol sc13_protocols[SC13_N_PROTOCOLS];
/* Fewer mappings are too few to hold a third of them out. */
#define SC13_LEAST_GROUPS 3

/* Samples of one case or of several together. */
typedef struct {
  char *name;
  /* (element-type StudyRow) borrowed, a row per sample; NULL: some sample has none.  Those of
   * SC13_SAME are observed. */
  GPtrArray *rows[SC13_N_SOURCES];
  uint32_t *group; /* [samples] the mapping's number */
  uint32_t n_groups;
} Sc13Samples;

void sc13_samples_free (Sc13Samples *samples);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Sc13Samples, sc13_samples_free)

typedef struct {
  GPtrArray *rows;  /* (element-type StudyRow) of all stores */
  GPtrArray *cases; /* (element-type Sc13Samples) in the order of the stores and their plans */
} Sc13Stores;

/* NULL and *error: a store that cannot be read, or two of one study, whose runs would count twice. */
Sc13Stores *sc13_stores_read (const char *const *paths, GError **error);
void sc13_stores_free (Sc13Stores *stores);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Sc13Stores, sc13_stores_free)

/* The cases named in the NULL-terminated list, together; NULL when one is missing: a part of them
 * would answer another question. */
Sc13Samples *sc13_pool (const Sc13Stores *stores, const char *name, const char *const *cases);

/* Numbers by series and point, for the claims and the details. */
typedef struct {
  GHashTable *numbers; /* "SERIES,POINT" -> double */
  GString *details;    /* borrowed; may be NULL */
} Sc13Book;

void
sc13_tell (Sc13Book *book, const char *series, const char *point, double value, const char *unit);
/* NaN: unknown. */
double sc13_told (const Sc13Book *book, const char *series, const char *point);

/* The features of a source as a set's columns; NULL when a feature is not known there.  Of the set
 * "all" those that are known. */
PredictSamples *sc13_features (const Sc13Samples *samples, Sc13Source source,
                               const char *const *features, gboolean all);

/* Scores of each feature alone and of each named set, from every source, by every protocol; none of
 * fewer than SC13_LEAST_GROUPS mappings.  Series "score/CASE/SOURCE/PROTOCOL/rcc" (r2,
 * mispredicted; with _q1 and _q3 in the protocol "ours"), point: the set. */
gboolean sc13_score (Sc13Book *book, const Sc13Samples *samples, GError **error);
/* Intervals of nominal 90 % around predictions of mappings that were held out: series
 * "interval/CASE", the share that they cover, and ".../half_width", as a share of the prediction;
 * point: the set.  None with so few mappings that intervals are infinite. */
gboolean sc13_cover (Sc13Book *book, const Sc13Samples *samples, GError **error);
/* Scores of models that are learned from one and applied to the other: series "transfer/...". */
gboolean
sc13_transfer (Sc13Book *book, const Sc13Samples *from, const Sc13Samples *to, GError **error);
/* The points of the figures: times, features and one split's predictions. */
gboolean sc13_draw (Sc13Book *book, const Sc13Samples *samples, GError **error);
