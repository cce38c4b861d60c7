/* columns.h - rows of a result, printed from one array of columns as a table, CSV or JSON.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A command fills an array of plain structs, one per row, and describes their fields once:
 *
 *   static const CliColumn columns[] = {
 *     { "pattern", "id", CLI_CELL_U32, offsetof (Row, pattern) },
 *     { "bound_s", "bound s", CLI_CELL_NUMBER, offsetof (Row, bound_s), .format = "%.6g" },
 *     { "excluded", "note", CLI_CELL_TEXT, offsetof (Row, excluded) },
 *   };
 *
 * A value that is not known is "-" in a table, an empty field in CSV and null in JSON. */
#pragma once

#include "cli/print/output.h"

typedef enum {
  CLI_CELL_U32,
  CLI_CELL_U64,
  CLI_CELL_KNOWN_U32, /* 0: not known */
  CLI_CELL_KNOWN_U64, /* 0: not known */
  CLI_CELL_NUMBER,    /* double; not finite: not known */
  CLI_CELL_SHARE,     /* double; tables show percent */
  CLI_CELL_BOOLEAN,   /* bool */
  CLI_CELL_TEXT,      /* const char *; NULL: not known */
  CLI_CELL_NODE,      /* JsonNode *, for JSON alone */
} CliCellKind;

enum { CLI_NOT_CSV = 1, CLI_NOT_JSON = 2 };

typedef struct {
  const char *name;    /* in CSV and JSON, with its unit; NULL: only in tables */
  const char *heading; /* in tables; NULL: only in CSV and JSON */
  CliCellKind kind;
  gsize offset;
  const char *format; /* of a number in tables; NULL: "%.6g", of a share "%+.1f%%" */
  guint needs;        /* in tables only when CliRows.has has all these bits */
  guint omit;         /* CLI_NOT_CSV, CLI_NOT_JSON */
} CliColumn;

typedef struct {
  const CliColumn *columns; /* [n_columns] */
  guint n_columns;
  const void *rows; /* [n_rows], of row_size bytes */
  gsize row_size;
  guint n_rows;
  guint has; /* see CliColumn.needs */
} CliRows;

#define CLI_ROWS(columns_, rows_, n_rows_)          \
  ((CliRows){ .columns = (columns_),                \
              .n_columns = G_N_ELEMENTS (columns_), \
              .rows = (rows_),                      \
              .row_size = sizeof *(rows_),          \
              .n_rows = (guint) (n_rows_) })

/* Names and values in columns that are as wide as their widest cell, each line after `indent`.  A
 * column of texts that no row has is left out. */
void cli_rows_print_table (FILE *out, const CliRows *rows, const char *indent);

/* One row, a line for each column of the table: its heading and its value. */
void
cli_columns_print_list (FILE *out, const CliColumn *columns, guint n, const void *row, guint has);

/* Both for rows that are not all there at once. */
void cli_columns_print_csv_names (FILE *out, const CliColumn *columns, guint n);
void cli_columns_print_csv_row (FILE *out, const CliColumn *columns, guint n, const void *row);
void cli_rows_print_csv (FILE *out, const CliRows *rows);

/* The members of one row, in an object that is begun; or the member `name`, an array of objects. */
void
cli_columns_add_json (JsonBuilder *builder, const CliColumn *columns, guint n, const void *row);
void cli_rows_add_json (JsonBuilder *builder, const char *name, const CliRows *rows);
