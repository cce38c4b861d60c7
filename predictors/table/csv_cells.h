/* csv_cells.h - the cells of a CSV file (RFC 4180), one after the other.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/decimal.h"
#include "predictors/table/text_blocks.h"

typedef struct {
  PredictText text;
  GString *cell;      /* the text of the last one that was taken, without quotes */
  uint64_t line;      /* where it ends; to be set to text.line where a row begins */
  const char *column; /* whose cell is taken, for errors; NULL: none in particular */
} PredictCells;

typedef enum {
  PREDICT_TAKEN,
  PREDICT_TAKE_MORE, /* the cell does not end within the block */
  PREDICT_REFUSED,   /* and *error */
} PredictTaken;

/* Borrows `path`.  To be cleared also when it fails. */
gboolean predict_cells_open (PredictCells *cells, const char *path, GError **error);
void predict_cells_clear (PredictCells *cells);

/* The cell at *at, in the block, into cells->cell; *at is then at the comma or the line's end
 * behind it. */
PredictTaken predict_cells_take (PredictCells *cells, const char **at, GError **error);

/* Sets "FILE:LINE: column "NAME": ..." and returns PREDICT_REFUSED. */
PredictTaken predict_cells_refuse (const PredictCells *cells, GError **error, const char *format,
                                   ...) G_GNUC_PRINTF (3, 4);

/* Whether a cell ends before `at`. */
static inline bool
predict_cell_ends (const char *at)
{
  return *at == ',' || *at == '\n' || (*at == '\r' && at[1] == '\n');
}

static inline const char *
predict_cell_skip_blanks (const char *at)
{
  while (*at == ' ' || *at == '\t')
    at++;
  return at;
}

/* The number that a cell consists of as a rule, without detours: where the cell ends; NULL: it is
 * something else. */
static inline const char *
predict_cell_number (const char *at, double *number)
{
  const char *end = predict_decimal (predict_cell_skip_blanks (at), number);

  if (end != NULL && !predict_cell_ends (end))
    end = predict_cell_skip_blanks (end);
  return end != NULL && predict_cell_ends (end) ? end : NULL;
}
