/* suite.h - published figures of one kind of machine, and their repetition in simulation.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A suite is a CSV of published figures (published.h) and a function that repeats the measurement
 * of a figure in simulation with the default parameters.  A figure whose role is "calibrated"
 * helped to set these parameters, so that its agreement proves nothing. */
#pragma once

#include "validation/published.h"

#include <stdint.h>
#include <stdio.h>

typedef struct {
  const char *suite; /* its name */
  const ValidationPublished *published;
  double simulated;    /* in the published unit; NaN: not run */
  double lower, upper; /* NaN: neither ValidationSuite.spread nor .range knows anything */
  bool is_range;       /* lower and upper are those of .range */
  bool is_run;
  const char *why; /* not run: the missing input */
  bool agrees;
  const char *cause; /* of the difference, where it is known; else NULL */
  const char
      *commit; /* of the runs, where the result is a recorded one (recorded.h); NULL: run now */
  const char *note; /* how the figure came about, where it could have been otherwise; else NULL */
} ValidationResult;

typedef struct {
  /* Called for each figure as soon as it is known; `result` is borrowed. */
  void (*report) (void *data, const ValidationResult *result);
  /* Called before each with the share that is done, 0..1; may be NULL. */
  void (*progress) (void *data, double share);
  void *data;
  GString *details; /* NULL: not wanted */
  const char *xc30; /* other runs than the built-in ones, for figures of aggregation; NULL: those */
  const char *const *stores; /* finished studies, NULL at the end; for suites that read them */
  const char *runs;          /* file in which shrink keeps its runs; NULL: none */
  const char *traces;        /* folder of the traces of simgrid; NULL: traces/data */
  const char *smpirun;       /* program for simgrid; NULL: the one of PATH */
  /* Suites, NULL at the end, that are not run: their results are the recorded ones; NULL: none. */
  const struct ValidationSuite *const *recorded;
  FILE *out; /* for ValidationSuite.print; NULL: not wanted */
} ValidationWatch;

/* How a figure is measured: a row of a suite's table. */
typedef struct {
  const char *name; /* of the published figure */
  /* The figure in its published unit; NaN and *error on failure.  `state` is that of the suite. */
  double (*measure) (gpointer state, uint32_t which, GError **error);
  uint32_t which;    /* for measure */
  const char *cause; /* of a difference; NULL: not known, or the figure agrees */
} ValidationMeasure;

typedef struct ValidationSuite {
  const char *name;    /* as on the command line: "bgq" */
  const char *figures; /* the CSV's text */
  const char *path;    /* its name in errors */
  /* The state of the measurements while the suite runs.  They append the points behind a figure to
   * watch->details, as lines of validation_detail(). */
  gpointer (*open) (const ValidationWatch *watch);
  void (*close) (gpointer state);
  /* [n_measures] for suites that measure each figure by a function of its own; the others have
   * `measure` and may have `cause`. */
  const ValidationMeasure *measures;
  guint n_measures;
  /* Writes the figure, in its published unit; false and *error, VALIDATION_ERROR_NOT_RUN when the
   * watch lacks an input. */
  bool (*measure) (gpointer state, const ValidationPublished *published, double *simulated,
                   GError **error);
  /* Where a figure that was measured may lie by the chance of measuring, from 5 to 95 %: then it agrees
   * when any of that is published.  False: the number itself is judged.  May be NULL. */
  bool (*spread) (gpointer state, const ValidationPublished *published, double *lower,
                  double *upper);
  /* Of a suite with a table: where a figure that was measured lies when what had to be guessed for it is
   * varied, which goes to the details by guess; it does not change the verdict.  False: nothing was
   * guessed.  May be NULL. */
  bool (*range) (gpointer state, const ValidationMeasure *row, double *low, double *high);
  /* How a figure that was measured came about, for people; the caller frees it.  May return and be NULL. */
  char *(*note) (gpointer state, const ValidationMeasure *row);
  /* Prints a table behind the figures.  May be NULL. */
  void (*print) (gpointer state, FILE *out);
  /* The known cause of a figure's difference, or NULL.  May be NULL itself. */
  const char *(*cause) (const char *name);
} ValidationSuite;

extern const ValidationSuite validation_bgq, validation_infiniband, validation_aggregation;
/* Reads watch->stores. */
extern const ValidationSuite validation_sc13, validation_sensitivity;
/* Some minutes of a core; the full one, all sizes and more ranks, hours. */
extern const ValidationSuite validation_modern, validation_modern_full;
/* The procedure of a paper on a stand-in for its data: two minutes of a core. */
extern const ValidationSuite validation_evh1;
/* Half a minute of two cores; needs SimGrid, for a column smpirun, and the traces of the source tree. */
extern const ValidationSuite validation_simgrid;
/* Takes up to two hours of two cores. */
extern const ValidationSuite validation_shrink;

/* All of them but modern_full, NULL at the end. */
extern const ValidationSuite *const validation_suites[];
/* Those that take long or need stores, NULL at the end. */
extern const ValidationSuite *const validation_long_suites[];

/* Repeats the measurements of the suites (NULL at the end) in the order of
 * their CSVs.  With `only` (may be NULL) those named in the NULL-terminated
 * list; VALIDATION_ERROR_NAME, before anything is measured, when no suite has
 * a figure of a name. */
gboolean validation_run (const ValidationSuite *const *suites, const char *const *only,
                         const ValidationWatch *watch, GError **error);

/* Measures one figure, by the suite's table or its function: as ValidationSuite.measure. */
bool validation_measure (const ValidationSuite *suite, gpointer state,
                         const ValidationPublished *published, double *simulated, GError **error);

/* The known cause of a difference of the figure, or NULL. */
const char *validation_cause (const ValidationSuite *suite, const char *name);

/* For ValidationSuite.measure: sets *error for a figure that no experiment measures; false. */
bool validation_no_experiment (const ValidationPublished *published, GError **error);

/* The heading of details, and one line of them: series,point,published,
 * simulated,unit.  NaN is an empty field. */
extern const char validation_details_heading[];
void validation_detail (GString *details, const char *series, const char *point, double published,
                        double simulated, const char *unit);
