/* csv.h - the cells of CSV files (RFC 4180): reading them one after the other, and writing.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/decimal.h"
#include "base/text_file.h"

#include <stdio.h>

typedef struct {
  BaseText text;
  GString *cell;      /* the text of the last one that was taken, without quotes */
  uint64_t line;      /* where it ends; to be set to text.line where a row begins */
  const char *column; /* whose cell is taken, for errors; NULL: none in particular */
} BaseCells;

typedef enum {
  BASE_TAKEN,
  BASE_TAKE_MORE, /* the cell does not end within the block */
  BASE_REFUSED,   /* and *error */
} BaseTaken;

/* Borrows `path`.  To be cleared also when it fails. */
gboolean base_cells_open (BaseCells *cells, const char *path, GError **error);
void base_cells_clear (BaseCells *cells);

/* The cell at *at, in the block, into cells->cell; *at is then at the comma or the line's end
 * behind it. */
BaseTaken base_cells_take (BaseCells *cells, const char **at, GError **error);

/* Sets "FILE:LINE: column "NAME": ..." and returns BASE_REFUSED. */
BaseTaken base_cells_refuse (const BaseCells *cells, GError **error, const char *format, ...)
    G_GNUC_PRINTF (3, 4);

/* The next line that is not empty; *any: whether there was one.  take() takes its cells, from *at on, and
 * leaves *at at the line's end; it may be called several times for a line, until it does not want more. */
gboolean
base_cells_line (BaseCells *cells, BaseTaken (*take) (void *data, const char **at, GError **error),
                 void *data, gboolean *any, GError **error);

/* The next line as names; blanks around a name do not count unless it is quoted. */
gboolean base_cells_header (BaseCells *cells, GPtrArray *names, gboolean *any, GError **error);

/* Whether a cell ends before `at`. */
static inline bool
base_cell_ends (const char *at)
{
  return *at == ',' || *at == '\n' || (*at == '\r' && at[1] == '\n');
}

static inline const char *
base_cell_skip_blanks (const char *at)
{
  while (*at == ' ' || *at == '\t')
    at++;
  return at;
}

/* The number that a cell consists of as a rule, without detours: where the cell ends; NULL: it is
 * something else. */
static inline const char *
base_cell_number (const char *at, double *number)
{
  const char *end = base_decimal (base_cell_skip_blanks (at), number);

  if (end != NULL && !base_cell_ends (end))
    end = base_cell_skip_blanks (end);
  return end != NULL && base_cell_ends (end) ? end : NULL;
}

/* One CSV field, quoted where it must be (RFC 4180). */
void base_csv_field (FILE *out, const char *text);

/* From here on fields of this process that spreadsheets take for formulas (they begin with = + - @, a tab
 * or a carriage return, and are no numbers) get an apostrophe in front.  Off at first: the text is what
 * other programs compare. */
void base_csv_make_safe (void);
gboolean base_csv_is_safe (void);
