/* sc13.h - the study of Jain et al. (SC 2013) on simulated runs; private to its files.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * validation/sc13/run makes the studies, one store for each program, size and scale, named
 * "16k.halo2d", "high.16k.halo2d", "pf3d" ...  That name is a case, with a sample for each mapping.
 * Observed is the mean time of its replicas on the packet network, of one iteration, and features are
 * means likewise.  Features may come from cheaper runs of the same mappings, whose studies have the name
 * of the case behind "load.", "shrunk." or "coarse."; a study "exact.CASE" tells what the times of
 * a case that is itself shrunk are off by. */
#pragma once

#include "predictors/scoring/evaluate.h"
#include "study/store/row.h"
#include "validation/suite.h"

typedef enum {
  SC13_SAME,   /* counters of the runs that were timed */
  SC13_SHRUNK, /* of a run whose messages were shrunk */
  SC13_COARSE, /* of a run with longer packets */
  SC13_LOAD,   /* of static paths, without time */
  SC13_N_SOURCES
} Sc13Source;
extern const char *const sc13_source_names[SC13_N_SOURCES];

/* How sets of features are judged: a third of the mappings is held out again and again. */
typedef struct {
  const char *name;
  guint repeats, trees;
  bool by_mapping; /* samples of one mapping are held out together; else each by itself */
} Sc13Protocol;
/* The paper's, whose single split is one of these, and ours. */
enum { SC13_PAPER, SC13_OURS, SC13_N_PROTOCOLS };
extern const Sc13Protocol sc13_protocols[SC13_N_PROTOCOLS];
/* Fewer mappings are too few to hold a third of them out. */
#define SC13_LEAST_GROUPS 3

/* Samples of one case or of several together. */
typedef struct {
  char *name;
  /* (element-type StudyRow) a row for each sample; NULL: some sample has none.  Those of
   * SC13_SAME are observed. */
  GPtrArray *rows[SC13_N_SOURCES];
  GPtrArray *exact; /* (element-type StudyRow or NULL) as rows; NULL: there are none */
  double *draws;    /* [samples][n_draws] the times of the replicas, NaN: not made */
  guint n_draws;
  uint32_t *group; /* [samples] the mapping's number */
  uint32_t n_groups;
  uint32_t *set; /* [samples] the number of its case in the pool */
  uint32_t n_sets;
} Sc13Samples;

void sc13_samples_free (Sc13Samples *samples);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Sc13Samples, sc13_samples_free)

typedef struct {
  GPtrArray *cases; /* (element-type Sc13Samples) in the order of the stores and their plans */
} Sc13Stores;

/* A path that ends with ".csv" is a table of the runs as `study export --timing` writes it, of the study
 * that the file is named after.  NULL and *error: a store that cannot be read, or two of one study, whose runs would count twice. */
Sc13Stores *sc13_stores_read (const char *const *paths, GError **error);
void sc13_stores_free (Sc13Stores *stores);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Sc13Stores, sc13_stores_free)

/* The cases named in the NULL-terminated list, together; NULL when one is missing: a part of them
 * would answer another question. */
Sc13Samples *sc13_pool (const Sc13Stores *stores, const char *name, const char *const *cases);

/* Numbers by series and point, for the claims and the details; of scores also those of the
 * single splits. */
typedef struct {
  GHashTable *numbers; /* "SERIES,POINT" -> double */
  GHashTable *splits;  /* "SERIES,POINT" -> (element-type double) GArray, by split */
  GString *details;    /* borrowed; may be NULL */
} Sc13Book;

void sc13_book_init (Sc13Book *book, GString *details);
void sc13_book_clear (Sc13Book *book);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Sc13Book, sc13_book_clear)

void
sc13_tell (Sc13Book *book, const char *series, const char *point, double value, const char *unit);
/* NaN: unknown. */
double sc13_told (const Sc13Book *book, const char *series, const char *point);
/* NULL: unknown. */
const GArray *sc13_told_splits (const Sc13Book *book, const char *series, const char *point);

/* The features of a source as a set's columns; NULL when a feature is not known there.  Of the set
 * "all" those that are known. */
PredictSamples *sc13_features (const Sc13Samples *samples, Sc13Source source,
                               const char *const *features, gboolean all);

/* Scores of each feature alone and of each named set, from every source, by every protocol; none of
 * fewer than SC13_LEAST_GROUPS mappings.  Series "score/CASE/SOURCE/PROTOCOL/rcc" (rcc_apart, r2,
 * mispredicted, regret), the median over the splits, with _p5 and _p95; of regret _p90.  Point: the set.
 * normalized: each case of the pool in units of its own means, series "score/CASE_normalized/...". */
gboolean
sc13_score (Sc13Book *book, const Sc13Samples *samples, gboolean normalized, GError **error);
/* Intervals of nominal 90 % around predictions of mappings that were held out: series
 * "interval/CASE", the share that they cover, and ".../half_width", as a share of the prediction;
 * point: the set.  None with so few mappings that intervals are infinite. */
gboolean sc13_cover (Sc13Book *book, const Sc13Samples *samples, GError **error);
/* Scores of models that are learned from one and applied to the other: series "transfer/..."; the
 * splits are forests of different seeds. */
gboolean sc13_transfer (Sc13Book *book, const Sc13Samples *from, const Sc13Samples *to,
                        gboolean normalized, GError **error);
/* The points of the figures: times, features, one split's predictions, a tree; and what is known
 * of the times themselves: their spread and noise, and what shrinking did to them. */
gboolean sc13_draw (Sc13Book *book, const Sc13Samples *samples, GError **error);
