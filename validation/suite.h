/* suite.h - published figures of one kind of machine, and how each is measured again.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A suite is a CSV of published figures (published.h) and a function that
 * repeats the measurement of one of them in simulation with the default
 * parameters.  The role of a figure tells whether it had a part in setting
 * them: agreement proves something only for those that had none. */
#pragma once

#include "validation/published.h"

typedef struct {
  const char *suite; /* its name */
  const ValidationPublished *published;
  double simulated; /* in the published unit; NaN: not run */
  bool is_run;      /* else `why` says what was not given, and there is no verdict */
  const char *why;
  bool agrees;
  const char *cause; /* of what differs, where it is known; else NULL */
} ValidationResult;

typedef struct {
  /* Called for each figure as soon as it is known; `result` is borrowed. */
  void (*report) (void *data, const ValidationResult *result);
  /* Called before each with the share that is done, 0..1; may be NULL. */
  void (*progress) (void *data, double share);
  void *data;
  GString *details; /* NULL: not wanted */
  const char *xc30; /* published runs that a figure of aggregation is told from; NULL: none */
  const char *const *stores; /* finished studies, NULL at the end; of suites that read them */
} ValidationWatch;

typedef struct {
  const char *name;    /* as on the command line: "bgq" */
  const char *figures; /* the CSV's text */
  const char *path;    /* and what it is called in errors */
  /* What measurements share while the suite runs.  They append the points that a
   * figure is taken from to watch->details, as lines of validation_detail(). */
  gpointer (*open) (const ValidationWatch *watch);
  void (*close) (gpointer state);
  /* Writes the figure, in its published unit; false and *error, VALIDATION_ERROR_NOT_RUN when it
     cannot be told from what the watch gives. */
  bool (*measure) (gpointer state, const ValidationPublished *published, double *simulated,
                   GError **error);
  /* Why the figure of a name differs, when that is known; else NULL.  May be NULL itself. */
  const char *(*cause) (const char *name);
} ValidationSuite;

extern const ValidationSuite validation_bgq, validation_infiniband, validation_aggregation;
/* Reads watch->stores. */
extern const ValidationSuite validation_sc13;

/* Those that simulate by themselves, NULL at the end. */
extern const ValidationSuite *const validation_suites[];

/* Repeats the measurements of the suites (NULL at the end) in the order of
 * their CSVs.  With `only` (may be NULL) those named in the NULL-terminated
 * list; VALIDATION_ERROR_NAME, before anything is measured, when no suite has
 * a figure of a name. */
gboolean validation_run (const ValidationSuite *const *suites, const char *const *only,
                         const ValidationWatch *watch, GError **error);

/* The heading of details, and one line of them: series,point,published,
 * simulated,unit.  NaN is an empty field. */
extern const char validation_details_heading[];
void validation_detail (GString *details, const char *series, const char *point, double published,
                        double simulated, const char *unit);
