/* race.h - which of many placements is best, with as few runs as possible.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every candidate has measures that cost little: the time of a run with shrunk messages, the bytes on
 * links.  Exact runs follow only for candidates that may still be among the best, draw after draw
 * (replicas.h), and a candidate is dropped as soon as noise does not explain how far it is behind.
 * In logarithms of times, two rules:
 *
 * Screening.  The first draws of the candidates that look best and of some from all over the field
 * are fitted, by least squares, as a linear function of the measures; the fit says how probable it is
 * that a candidate is faster than the best one so far, by more than a tie.  Dropped are as many of the least probable as
 * have together no more than the risk that is allowed; the others are run, eight at a time, and fitted
 * again.  So measures that say little drop nothing.
 *
 * Draws.  A time is the candidate's mean plus the draw's effect, which all candidates share (the same
 * start times), plus noise, whose variance is pooled over all candidates with two draws or more.  A
 * candidate is dropped when the mean difference to the best, over the draws of both, is more than
 * Student's t allows: it is beaten.  It is equal, and gets no more draws either, when by the same
 * margin it cannot be faster by more than a tie.  Where each has one draw the tie alone decides.
 *
 * The risk, 1 - confidence, is shared evenly by the two rules, and by the rounds of draws.  By draws
 * the true best can only be dropped in its own comparison with the one that leads, so that the number
 * of candidates does not count there; what a measure says wrongly of it is its own, so that in the
 * screening it does. */
#pragma once

#include <glib.h>

typedef struct {
  guint n_candidates, n_draws; /* draws: at most, of each */
  guint n_best;                /* how many are looked for */
  guint n_measures;            /* 0: nothing is known before the runs */
  double confidence;           /* 0 ... 1 */
  double tie;                  /* relative: times so near count as equal */
  const double *measures;      /* [n_candidates][n_measures] the first one says best who may win */
  const double *times;         /* [n_candidates][n_draws] NaN: not made; INFINITY: failed */
} StudyRace;

typedef enum {
  STUDY_RACER_IN,
  STUDY_RACER_SCREENED, /* dropped by its measures */
  STUDY_RACER_BEATEN,   /* dropped by its draws */
  STUDY_RACER_EQUAL,    /* likewise, as it may be as fast as the best but hardly faster */
  STUDY_RACER_FAILED,
} StudyRacerEnd;

typedef struct {
  StudyRacerEnd end;
  guint n_draws; /* that counted */
  /* Relative to the last one of the best then: how much slower it was (of a screened one: would have
   * been), and how much slower it may look by chance; NaN: of those that are in. */
  double behind, margin;
  double time; /* geometric mean of its draws, less their effects; NaN: none */
} StudyRacer;

typedef struct {
  guint candidate, draw;
} StudyRaceRun;

/* Whether so many candidates are worth screening: fewer all get a first draw. */
gboolean study_race_screens (guint n_candidates, guint n_best);

/* Judges all candidates (racers: [n_candidates]) by the times there are, and returns the runs that
 * are needed to go on (element-type StudyRaceRun); none: the race is over.  What is asked for and
 * who is dropped depends on nothing but the race, however many runs are already there. */
GArray *study_race_step (const StudyRace *race, StudyRacer *racers);

/* The candidates, best first (element-type guint): those that are in by their times, then those
 * that are equal, beaten, screened and failed. */
GArray *study_race_order (const StudyRace *race, const StudyRacer *racers);
