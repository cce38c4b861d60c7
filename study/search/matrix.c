/* matrix.c - who sends how much to whom, as a file.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/search/matrix.h"

#include "base/file.h"
#include "study/study_error.h"
#include "study/search/graph_files.h"

#include <string.h>

/* As many as the largest machine that one would ask about has slots. */
#define MAX_RANKS (1u << 24)

struct StudyMatrix {
  uint32_t n_ranks;
  SimEdges *edges;
  uint64_t *self_messages, *self_bytes; /* [n_ranks] */
};

StudyMatrix *
study_matrix_new (uint32_t n_ranks)
{
  StudyMatrix *matrix = g_new0 (StudyMatrix, 1);

  matrix->n_ranks = n_ranks;
  matrix->edges = sim_edges_new (n_ranks);
  matrix->self_messages = g_new0 (uint64_t, n_ranks);
  matrix->self_bytes = g_new0 (uint64_t, n_ranks);
  return matrix;
}

void
study_matrix_free (StudyMatrix *matrix)
{
  if (!matrix)
    return;
  sim_edges_free (matrix->edges);
  g_free (matrix->self_messages);
  g_free (matrix->self_bytes);
  g_free (matrix);
}

void
study_matrix_add (StudyMatrix *matrix, uint32_t source, uint32_t destination, uint64_t messages,
                  uint64_t bytes)
{
  if (source == destination) {
    matrix->self_messages[source] += messages;
    matrix->self_bytes[source] += bytes;
  } else
    sim_edges_add (matrix->edges, source, destination, messages, bytes);
}

uint32_t
study_matrix_ranks (const StudyMatrix *matrix)
{
  return matrix->n_ranks;
}

const SimEdges *
study_matrix_edges (const StudyMatrix *matrix)
{
  return matrix->edges;
}

static void
write_row (FILE *out, uint32_t source, uint32_t destination, uint64_t messages, uint64_t bytes)
{
  fprintf (out, "%u,%u,%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT "\n", source, destination,
           messages, bytes);
}

static void
write_self (const StudyMatrix *matrix, FILE *out, uint32_t rank)
{
  if (matrix->self_messages[rank] > 0)
    write_row (out, rank, rank, matrix->self_messages[rank], matrix->self_bytes[rank]);
}

void
study_matrix_write (const StudyMatrix *matrix, FILE *out)
{
  uint64_t n_edges, next = 0;
  g_autofree SimEdge *edges = sim_edges_sorted (matrix->edges, &n_edges);

  fputs ("src,dst,messages,bytes\n", out);
  for (uint32_t source = 0; source < matrix->n_ranks; source++) {
    gboolean self_written = FALSE;

    for (; next < n_edges && edges[next].source == source; next++) {
      if (!self_written && edges[next].destination > source) {
        write_self (matrix, out, source);
        self_written = TRUE;
      }
      write_row (out, source, edges[next].destination, edges[next].messages, edges[next].bytes);
    }
    if (!self_written)
      write_self (matrix, out, source);
  }
}

/* A file as rows of fields; comments and empty lines are left out. */
typedef struct {
  uint32_t line; /* in the file, from 1 */
  uint32_t first, n_fields;
} Row;

typedef struct {
  char *text;        /* cut into fields */
  GPtrArray *fields; /* of text */
  GArray *rows;      /* Row */
  const char *path;
} Table;

static void
table_clear (Table *table)
{
  g_free (table->text);
  g_clear_pointer (&table->fields, g_ptr_array_unref);
  g_clear_pointer (&table->rows, g_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Table, table_clear)

static void
cut_line (Table *table, char *line, uint32_t number)
{
  Row row = { number, table->fields->len, 0 };
  char *rest = NULL;

  line[strcspn (line, "#")] = '\0';
  for (char *field = strtok_r (line, ",; \t\r", &rest); field;
       field = strtok_r (NULL, ",; \t\r", &rest)) {
    g_ptr_array_add (table->fields, field);
    row.n_fields++;
  }
  if (row.n_fields > 0)
    g_array_append_val (table->rows, row);
}

/* Takes the text. */
static gboolean
table_cut (Table *table, char *text, const char *path, GError **error)
{
  uint32_t number = 1;

  table->text = text;
  table->path = path;
  table->fields = g_ptr_array_new ();
  table->rows = g_array_new (FALSE, FALSE, sizeof (Row));
  for (char *line = table->text; line; number++) {
    char *end = strchr (line, '\n');

    if (end)
      *end++ = '\0';
    cut_line (table, line, number);
    line = end;
  }
  if (table->rows->len == 0) {
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_INPUT, "%s: the matrix is empty", path);
    return FALSE;
  }
  return TRUE;
}

static const char *
table_field (const Table *table, const Row *row, uint32_t column)
{
  return g_ptr_array_index (table->fields, row->first + column);
}

static gboolean
table_number (const Table *table, const Row *row, uint32_t column, uint64_t max, uint64_t *value,
              GError **error)
{
  const char *text = table_field (table, row, column);
  guint64 parsed;

  if (!g_ascii_string_to_unsigned (text, 10, 0, max, &parsed, NULL)) {
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_INPUT,
                 "%s:%u: '%s' is not a whole number within 0..%" G_GUINT64_FORMAT, table->path,
                 row->line, text, max);
    return FALSE;
  }
  *value = parsed;
  return TRUE;
}

static gboolean
expect_fields (const Table *table, const Row *row, uint32_t n_fields, GError **error)
{
  if (row->n_fields == n_fields)
    return TRUE;
  g_set_error (error, STUDY_ERROR, STUDY_ERROR_INPUT, "%s:%u: %u columns, expected %u", table->path,
               row->line, row->n_fields, n_fields);
  return FALSE;
}

static StudyMatrix *
load_square (const Table *table, GError **error)
{
  uint32_t n = table->rows->len;
  g_autoptr (StudyMatrix) matrix = study_matrix_new (n);

  for (uint32_t source = 0; source < n; source++) {
    const Row *row = &g_array_index (table->rows, Row, source);

    if (!expect_fields (table, row, n, error))
      return NULL;
    for (uint32_t destination = 0; destination < n; destination++) {
      uint64_t bytes;

      if (!table_number (table, row, destination, G_MAXINT64, &bytes, error))
        return NULL;
      if (bytes > 0)
        study_matrix_add (matrix, source, destination, 1, bytes);
    }
  }
  return g_steal_pointer (&matrix);
}

static gboolean
largest_rank (const Table *table, uint32_t first_row, uint32_t n_columns, uint32_t *largest,
              GError **error)
{
  *largest = 0;
  for (uint32_t i = first_row; i < table->rows->len; i++) {
    const Row *row = &g_array_index (table->rows, Row, i);

    if (!expect_fields (table, row, n_columns, error))
      return FALSE;
    for (uint32_t column = 0; column < 2; column++) {
      uint64_t rank;

      if (!table_number (table, row, column, MAX_RANKS - 1, &rank, error))
        return FALSE;
      *largest = MAX (*largest, (uint32_t) rank);
    }
  }
  return TRUE;
}

static StudyMatrix *
load_list (const Table *table, uint32_t first_row, uint32_t n_columns, GError **error)
{
  g_autoptr (StudyMatrix) matrix = NULL;
  uint32_t largest;

  if (!largest_rank (table, first_row, n_columns, &largest, error))
    return NULL;
  matrix = study_matrix_new (largest + 1);
  for (uint32_t i = first_row; i < table->rows->len; i++) {
    const Row *row = &g_array_index (table->rows, Row, i);
    uint64_t source, destination, messages = 1, bytes;

    if (!table_number (table, row, 0, MAX_RANKS - 1, &source, error) ||
        !table_number (table, row, 1, MAX_RANKS - 1, &destination, error) ||
        (n_columns == 4 && !table_number (table, row, 2, G_MAXINT64, &messages, error)) ||
        !table_number (table, row, n_columns - 1, G_MAXINT64, &bytes, error))
      return NULL;
    study_matrix_add (matrix, (uint32_t) source, (uint32_t) destination, messages, bytes);
  }
  return g_steal_pointer (&matrix);
}

/* 3 or 4 when the row names the columns of a list, else 0. */
static uint32_t
heading_columns (const Table *table, const Row *row)
{
  static const char *const with_messages[] = { "src", "dst", "messages", "bytes" };
  static const char *const plain[] = { "src", "dst", "bytes" };
  const char *const *names = row->n_fields == 4 ? with_messages : plain;

  if (row->n_fields != 3 && row->n_fields != 4)
    return 0;
  for (uint32_t column = 0; column < row->n_fields; column++)
    if (strcmp (table_field (table, row, column), names[column]))
      return 0;
  return row->n_fields;
}

static StudyMatrix *
load_table (char *text, const char *path, GError **error)
{
  g_auto (Table) table = { 0 };
  const Row *first;
  uint32_t heading;

  if (!table_cut (&table, text, path, error))
    return NULL;
  first = &g_array_index (table.rows, Row, 0);
  heading = heading_columns (&table, first);
  if (heading > 0)
    return load_list (&table, 1, heading, error);
  if (first->n_fields != table.rows->len && (first->n_fields == 3 || first->n_fields == 4))
    return load_list (&table, 0, first->n_fields, error);
  return load_square (&table, error);
}

StudyMatrix *
study_matrix_load (const char *path, GError **error)
{
  g_autofree char *text = NULL;
  StudyMatrix *matrix;
  gboolean known;
  gsize length;

  if (!base_file_read (path, &text, &length, error))
    return NULL;
  if (strlen (text) != length) {
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_INPUT, "%s: not a text file", path);
    return NULL;
  }
  matrix = study_graph_file_read (text, path, &known, error);
  return known ? matrix : load_table (g_steal_pointer (&text), path, error);
}

gboolean
study_matrix_probe (const char *path)
{
  char head[256];
  FILE *file = fopen (path, "re");
  gsize n;

  if (!file)
    return FALSE;
  n = fread (head, 1, sizeof head - 1, file);
  fclose (file);
  head[n] = '\0';
  if (g_str_has_prefix (head, "src") || g_str_has_prefix (head, "%"))
    return TRUE;
  head[strcspn (head, "\n")] = '\0';
  return head[0] && strspn (head, "0123456789,; \t\r") == strlen (head);
}
