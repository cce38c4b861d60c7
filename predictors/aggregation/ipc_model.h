/* ipc_model.h - the IPC of programs in patterns that were not run, from a few that were.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * For each target pattern a linear function of the terms below, by least squares with a ridge
 * that is chosen by leaving programs out (predict_ridge_choose()); one for each class of IPC and one for all
 * programs.  The paper classes a phase by its IPC in the sample patterns and does not say by which of
 * them: here, by the mean over them.  A class with so few programs that not even a constant and the
 * IPCs of the samples would be determined with one to spare, fewer than |S| + 2, has no function of its
 * own: programs of it are predicted by that of all.
 *
 * The paper's own fit, ordinary least squares, is an option.  Without a ridge a function needs more programs
 * than it has coefficients; a class with fewer has none of its own. */
#pragma once

#include "predictors/aggregation/ipc_phases.h"
#include "predictors/model/linear.h"

#include <stdio.h>

/* [0, 1), [1, 1.5), [1.5, 2), [2, inf); then the piece learned from all programs. */
#define PREDICT_IPC_N_CLASSES 4u
#define PREDICT_IPC_ALL       PREDICT_IPC_N_CLASSES
#define PREDICT_IPC_N_PIECES  (PREDICT_IPC_N_CLASSES + 1)

/* "[0,1)", "[1,1.5)", "[1.5,2)", "[2,inf)", "all", NULL. */
extern const char *const predict_ipc_piece_names[PREDICT_IPC_N_PIECES + 1];

/* The terms (equations 1 to 3).
 *
 * The paper on task aggregation (section III) predicts the instructions per cycle of a program in one
 * pattern from its IPC and event rates e in a few sample patterns S.  Multiplied out, its equations are
 * a sum, with a coefficient each, of
 *
 *     1                          sigma + l, which no data can tell apart
 *     IPC_s                      of each sample: y_1 + ... + y_n + z, likewise one coefficient
 *     IPC_s e_(j,s)              of each event and sample
 *     e_(j,s) e_(j,r)            of each event and pair of samples
 *     IPC_s IPC_r                of each pair of samples
 *
 * That is 1 + |S| (n + 1) + |S| (|S| - 1) / 2 (n + 1): 7 coefficients of two samples and one event, 10 of
 * two events, 13 of three. */

/* A product of one or two factors, of which the first is an IPC where `event` is NONE or `second`
 * is. */
#define PREDICT_IPC_NONE G_MAXUINT
typedef struct {
  guint sample, second; /* NONE: a term of one sample */
  guint event;          /* NONE: of no event */
} PredictIpcTerm;

/* More than any machine has counters for.  The limit keeps a broken file from asking for gigabytes. */
#define PREDICT_IPC_MAX_TERMS 1000u

typedef struct {
  guint n_programs; /* of the class that have the pattern */
  guint rank;       /* coefficients, with the constant, that they determine */
  double ridge;     /* of standardised terms */
  double error; /* mean |predicted / observed - 1| of programs left out, a share; a little too good:
                            the ridge was chosen by them */
  PredictLinear *linear; /* of the terms; NULL: too few programs */
} PredictIpcPiece;

typedef struct {
  char *pattern;
  PredictIpcPiece pieces[PREDICT_IPC_N_PIECES]; /* the last has a function */
} PredictIpcTarget;

typedef struct {
  char *version;              /* of hopcast that trained it */
  char *source, *hash;        /* of the training table: name, predict_table_hash() of the columns */
  guint n_programs;           /* of these */
  char **samples, **events;   /* [n_samples], [n_events], NULL-terminated */
  double *smallest, *largest; /* [n_samples][1 + n_events] IPC and rates of the training programs */
  guint n_targets;
  PredictIpcTarget *targets;
  /* Derived from the samples and the events: */
  guint n_samples, n_events, n_terms;
  PredictIpcTerm *terms;
} PredictIpcModel;

typedef enum { PREDICT_IPC_RIDGE, PREDICT_IPC_LEAST_SQUARES } PredictIpcFit;

/* Predicts every pattern of the table that is no sample.  NULL and *error: as
 * predict_ipc_phases_from(); no pattern but the samples; more terms than there may be; a term, a product
 * of two rates, that is too large for single precision; a pattern that fewer programs have than a
 * function needs. */
PredictIpcModel *predict_ipc_train (const PredictTable *table, const char *const *samples,
                                    const char *const *events, PredictIpcFit fit, GError **error);
void predict_ipc_model_free (PredictIpcModel *model);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PredictIpcModel, predict_ipc_model_free)

/* Coefficients of a function, the constant with them. */
guint predict_ipc_n_regressors (const PredictIpcModel *model);
/* Whether the programs of a piece are fewer than that. */
gboolean
predict_ipc_is_under_determined (const PredictIpcModel *model, const PredictIpcPiece *piece);

typedef struct {
  PredictIpcPhases *phases; /* of the table */
  double *predicted;        /* [n_programs][n_targets] */
  double *observed;         /* [n_programs][n_targets] NaN: not in the table */
  guint n_outside;          /* programs whose samples are outside of those of the training */
} PredictIpcAnswer;

/* FALSE and *error: as predict_ipc_phases_from(); a term too large for single precision.  Extrapolated
 * values may be anything, also negative. */
gboolean predict_ipc_apply (const PredictIpcModel *model, const PredictTable *table,
                            PredictIpcAnswer *answer, GError **error);
void predict_ipc_answer_clear (PredictIpcAnswer *answer);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (PredictIpcAnswer, predict_ipc_answer_clear)

/* JSON, "schema": "hopcast.ipc/1" (doc/handbook/aggregation-models.md).  FALSE and *error, with nothing
 * written, when predict_ipc_model_read() would refuse the result; errors of the stream are for its
 * owner to find. */
gboolean predict_ipc_model_write (const PredictIpcModel *model, FILE *out, GError **error);
/* NULL and *error: no such file, no JSON, another schema (which is named), or anything in it that would
 * make a prediction wrong. */
PredictIpcModel *predict_ipc_model_read (const char *path, GError **error);
