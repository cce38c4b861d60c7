/* correct_points.h - what a model is mended by: measured times and what they depend on.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "predictors/formula/base_model.h"
#include "predictors/correction/correction.h"

typedef struct {
  PredictTable *table;    /* a row per point */
  double *observed;       /* [n_rows] s */
  const double **columns; /* [variables] of a model, after cli_points_bind() */
} CliPoints;

void cli_points_clear (CliPoints *points);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CliPoints, cli_points_clear)

/* From a CSV file whose column `observed` was measured; runs NULL: everything else is in that file
 * too, otherwise it says which of the runs (cli_learning_table()) were measured. */
gboolean cli_points_read (CliPoints *points, const char *path, const char *observed,
                          const PredictTable *runs, GError **error);

/* Finds the columns of the model's variables; FALSE and *error also where it has no value. */
gboolean cli_points_bind (CliPoints *points, const PredictBaseModel *model, GError **error);

/* hopcast itself as a model: time_s of a run, with a scale and an offset that can be fitted. */
PredictBaseModel *cli_simulator_model (const CliPoints *points);

/* Where the mended model will be used: where the points are, and the ranges ("VARIABLE=LOW:HIGH",
 * NULL-terminated; NULL: none).  [variables], the caller frees; NULL and *error. */
PredictRange *cli_points_box (const PredictCorrectionData *data, char **ranges, GError **error);
