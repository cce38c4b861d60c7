/* matrix.c - communication graphs: in memory, and files in the formats of matrices and graphs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/search/matrix.h"

#include "base/file.h"
#include "study/study_error.h"

#include <string.h>

/* More than the slots of the largest machines. */
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

/* Messages of a rank to itself, if there are any. */
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

/* --- Tables: a list of edges, or a dense square --- */

/* A file as rows of fields, without comments and empty lines. */
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

/* n_columns: 3 or, with messages, 4. */
static StudyMatrix *
load_list (const Table *table, uint32_t first_row, uint32_t n_columns, GError **error)
{
  g_autoptr (StudyMatrix) matrix = NULL;
  uint32_t largest = 0;

  for (uint32_t i = first_row; i < table->rows->len; i++) {
    const Row *row = &g_array_index (table->rows, Row, i);

    if (!expect_fields (table, row, n_columns, error))
      return NULL;
    for (uint32_t column = 0; column < 2; column++) {
      uint64_t rank;

      if (!table_number (table, row, column, MAX_RANKS - 1, &rank, error))
        return NULL;
      largest = MAX (largest, (uint32_t) rank);
    }
  }
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

/* Takes the text. */

static StudyMatrix *
load_table (char *text, const char *path, GError **error)
{
  static const char *const with_messages[] = { "src", "dst", "messages", "bytes" };
  static const char *const plain[] = { "src", "dst", "bytes" };
  g_auto (Table) table = { 0 };
  g_autoptr (StudyMatrix) matrix = NULL;
  const Row *first;
  gboolean may_be_list, has_heading;
  uint32_t n;

  if (!table_cut (&table, text, path, error))
    return NULL;
  n = table.rows->len;
  first = &g_array_index (table.rows, Row, 0);
  may_be_list = has_heading = first->n_fields == 3 || first->n_fields == 4;
  for (uint32_t column = 0; has_heading && column < first->n_fields; column++)
    has_heading = !strcmp (table_field (&table, first, column),
                           first->n_fields == 4 ? with_messages[column] : plain[column]);
  if (has_heading)
    return load_list (&table, 1, first->n_fields, error);
  if (may_be_list && first->n_fields != n)
    return load_list (&table, 0, first->n_fields, error);
  matrix = study_matrix_new (n);

  for (uint32_t source = 0; source < n; source++) {
    const Row *row = &g_array_index (table.rows, Row, source);

    if (!expect_fields (&table, row, n, error))
      return NULL;
    for (uint32_t destination = 0; destination < n; destination++) {
      uint64_t bytes;

      if (!table_number (&table, row, destination, G_MAXINT64, &bytes, error))
        return NULL;
      if (bytes > 0)
        study_matrix_add (matrix, source, destination, 1, bytes);
    }
  }
  return g_steal_pointer (&matrix);
}

/* --- The formats of graph libraries --- */

/* They are told apart by their content:
 *
 *   topo           the number of ranks, then lines of src dst bytes
 *   MatrixMarket   %%MatrixMarket matrix coordinate|array, rows send to columns
 *   METIS          n m [fmt [ncon]], then the neighbours of each vertex, from 1
 *   Scotch .grf    0, then n m, then base flags, then degree and arcs of each vertex
 *
 * An arc is a message from the vertex of its line, of as many bytes as its weight
 * (1 without one): the graphs of METIS and Scotch name each edge at both ends, so that
 * as much goes there as back.  Weights and labels of vertices are skipped. */

#define BLANKS " \t\r"
/* The lines that are no comments, and where the reader is. */
typedef struct {
  const char *path;
  GPtrArray *lines; /* (element-type utf8) borrowed; not ended by a 0 */
  GArray *numbers;  /* (element-type uint32_t) of each line, from 1 */
  guint line;       /* that is read */
  const char *at;   /* in it */
} Source;

static void
source_clear (Source *source)
{
  g_clear_pointer (&source->lines, g_ptr_array_unref);
  g_clear_pointer (&source->numbers, g_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Source, source_clear)

/* Empty lines are vertices without neighbours; those at the end are left out. */
static Source
source_new (const char *text, const char *path)
{
  Source source = { .path = path,
                    .lines = g_ptr_array_new (),
                    .numbers = g_array_new (FALSE, TRUE, sizeof (uint32_t)) };
  guint n_filled = 0;

  for (uint32_t number = 1; text; number++) {
    const char *end = strchr (text, '\n');
    const char *first = text + strspn (text, BLANKS);

    if (*first != '%' && *first != '#') {
      g_ptr_array_add (source.lines, (char *) text);
      g_array_append_val (source.numbers, number);
      if (*first != '\n' && *first != '\0')
        n_filled = source.lines->len;
    }
    text = end ? end + 1 : NULL;
  }
  g_ptr_array_set_size (source.lines, (gint) n_filled);
  return source;
}

/* Numbers on a line; 0 behind the last line. */
static uint32_t
fields_of (const Source *source, guint line)
{
  const char *at = line < source->lines->len ? g_ptr_array_index (source->lines, line) : "";
  uint32_t n = 0;

  for (;;) {
    at += strspn (at, BLANKS);
    if (*at == '\n' || *at == '\0')
      return n;
    n++;
    at += strcspn (at, BLANKS "\n");
  }
}

static void
go_to (Source *source, guint line)
{
  source->line = line;
  source->at = g_ptr_array_index (source->lines, line);
}

static gboolean
at_end_of_line (Source *source)
{
  source->at += strspn (source->at, BLANKS);
  return *source->at == '\n' || *source->at == '\0';
}

static gboolean
complain (const Source *source, GError **error, const char *expected)
{
  int length = (int) MIN (strcspn (source->at, BLANKS "\n"), 40);

  g_set_error (error, STUDY_ERROR, STUDY_ERROR_INPUT, "%s:%u: expected %s, found '%.*s'",
               source->path, g_array_index (source->numbers, uint32_t, source->line), expected,
               length, source->at);
  return FALSE;
}

/* The next whole number of the line, within min .. max. */
static gboolean
read_number (Source *source, uint64_t min, uint64_t max, const char *expected, uint64_t *value,
             GError **error)
{
  char *end;
  uint64_t number;

  if (at_end_of_line (source) || !g_ascii_isdigit (*source->at))
    return complain (source, error, expected);
  number = g_ascii_strtoull (source->at, &end, 10);
  if (number < min || number > max || !strchr (BLANKS "\n", *end))
    return complain (source, error, expected);
  source->at = end;
  *value = number;
  return TRUE;
}

static gboolean
read_rank (Source *source, uint64_t base, uint64_t n_ranks, uint32_t *rank, GError **error)
{
  uint64_t value;

  if (!read_number (source, base, base + n_ranks - 1, "a rank of the graph", &value, error))
    return FALSE;
  *rank = (uint32_t) (value - base);
  return TRUE;
}

static gboolean
read_end (Source *source, GError **error)
{
  return at_end_of_line (source) || complain (source, error, "the end of the line");
}

static StudyMatrix *
read_topo (Source *source, GError **error)
{
  g_autoptr (StudyMatrix) matrix = NULL;
  uint64_t n_ranks, bytes;

  go_to (source, 0);
  if (!read_number (source, 1, MAX_RANKS, "the number of ranks", &n_ranks, error))
    return NULL;
  matrix = study_matrix_new ((uint32_t) n_ranks);
  for (guint line = 1; line < source->lines->len; line++) {
    uint32_t from, to;

    if (fields_of (source, line) == 0)
      continue;
    go_to (source, line);
    if (!read_rank (source, 0, n_ranks, &from, error) ||
        !read_rank (source, 0, n_ranks, &to, error) ||
        !read_number (source, 0, G_MAXINT64, "a number of bytes", &bytes, error) ||
        !read_end (source, error))
      return NULL;
    study_matrix_add (matrix, from, to, 1, bytes);
  }
  return g_steal_pointer (&matrix);
}

typedef struct {
  gboolean is_array, is_pattern, is_symmetric;
} Market;

static gboolean
parse_banner (const char *text, Market *market)
{
  g_autofree char *line = g_ascii_strdown (text, (gssize) strcspn (text, "\r\n"));
  g_auto (GStrv) word = g_strsplit_set (line, " \t", -1);
  gboolean good = g_strv_length (word) >= 5 && !strcmp (word[1], "matrix");

  if (!good)
    return FALSE;
  market->is_array = !strcmp (word[2], "array");
  market->is_pattern = !strcmp (word[3], "pattern");
  market->is_symmetric = !strcmp (word[4], "symmetric");
  return (market->is_array || !strcmp (word[2], "coordinate")) &&
         (market->is_pattern || !strcmp (word[3], "integer") || !strcmp (word[3], "real")) &&
         (market->is_symmetric || !strcmp (word[4], "general")) &&
         !(market->is_array && (market->is_pattern || market->is_symmetric));
}

/* A number of bytes, rounded to a whole one. */
static gboolean
read_value (Source *source, uint64_t *bytes, GError **error)
{
  char *end;
  double value;

  if (at_end_of_line (source))
    return complain (source, error, "a number of bytes");
  value = g_ascii_strtod (source->at, &end);
  if (end == source->at || !(value >= 0 && value < 0x1p63) || !strchr (BLANKS "\n", *end))
    return complain (source, error, "a number of bytes");
  source->at = end;
  *bytes = (uint64_t) (value + 0.5);
  return TRUE;
}

static StudyMatrix *
read_market (Source *source, const char *text, GError **error)
{
  g_autoptr (StudyMatrix) matrix = NULL;
  Market market;
  uint64_t n, n_columns, n_entries, place = 0;

  if (!parse_banner (text, &market) || source->lines->len == 0) {
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_INPUT,
                 "%s:1: a MatrixMarket matrix must be coordinate or array, integer, real or "
                 "pattern, general or symmetric",
                 source->path);
    return NULL;
  }
  go_to (source, 0);
  if (!read_number (source, 1, MAX_RANKS, "the number of rows", &n, error) ||
      !read_number (source, n, n, "as many columns as rows", &n_columns, error))
    return NULL;
  n_entries = n * n;
  if (!market.is_array &&
      !read_number (source, 0, n_entries, "the number of entries", &n_entries, error))
    return NULL;
  matrix = study_matrix_new ((uint32_t) n);
  for (guint line = 1; line < source->lines->len; line++) {
    /* Arrays are stored by columns. */
    uint32_t from = (uint32_t) (place % n), to = (uint32_t) (place / n);
    uint64_t bytes = 1;

    go_to (source, line);
    if (at_end_of_line (source))
      continue;
    if (place == n_entries) {
      complain (source, error, "no more entries");
      return NULL;
    }
    if ((!market.is_array &&
         (!read_rank (source, 1, n, &from, error) || !read_rank (source, 1, n, &to, error))) ||
        (!market.is_pattern && !read_value (source, &bytes, error)) || !read_end (source, error))
      return NULL;
    if (bytes > 0)
      study_matrix_add (matrix, from, to, 1, bytes);
    if (bytes > 0 && market.is_symmetric && from != to)
      study_matrix_add (matrix, to, from, 1, bytes);
    place++;
  }
  if (place < n_entries) {
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_INPUT,
                 "%s: %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " entries found", source->path,
                 place, n_entries);
    return NULL;
  }
  return g_steal_pointer (&matrix);
}

/* The lines of vertices in a graph of METIS or Scotch. */
typedef struct {
  uint64_t n, base;
  uint32_t n_before; /* numbers before the arcs: labels, weights, a degree */
  gboolean has_weights, weight_first;
  uint32_t first_line;
} Layout;

static StudyMatrix *
read_vertices (Source *source, const Layout *layout, GError **error)
{
  g_autoptr (StudyMatrix) matrix = study_matrix_new ((uint32_t) layout->n);

  for (uint32_t vertex = 0; vertex < layout->n; vertex++) {
    go_to (source, layout->first_line + vertex);
    for (uint32_t i = 0; i < layout->n_before; i++) {
      uint64_t ignored;

      if (!read_number (source, 0, G_MAXUINT64, "a whole number", &ignored, error))
        return NULL;
    }
    while (!at_end_of_line (source)) {
      uint64_t bytes = 1;
      uint32_t to;

      if ((layout->has_weights && layout->weight_first &&
           !read_number (source, 0, G_MAXINT64, "a weight", &bytes, error)) ||
          !read_rank (source, layout->base, layout->n, &to, error) ||
          (layout->has_weights && !layout->weight_first &&
           !read_number (source, 0, G_MAXINT64, "a weight", &bytes, error)))
        return NULL;
      study_matrix_add (matrix, vertex, to, 1, bytes);
    }
  }
  return g_steal_pointer (&matrix);
}

static uint64_t
sum_fields (const Source *source, guint first_line)
{
  uint64_t sum = 0;

  for (guint line = first_line; line < source->lines->len; line++)
    sum += fields_of (source, line);
  return sum;
}

/* The header must agree with the rest of the file: a list of edges, and a dense matrix, may begin
 * with two to four numbers too. */
static gboolean
is_metis (Source *source, Layout *layout)
{
  uint32_t n_fields = fields_of (source, 0);
  uint64_t n_edges, format = 0, n_weights = 1, n_numbers, n_missing;
  gboolean is_square = TRUE;

  for (guint line = 0; is_square && line < source->lines->len; line++)
    is_square = fields_of (source, line) == source->lines->len;
  if (n_fields < 2 || n_fields > 4 || is_square)
    return FALSE;
  go_to (source, 0);
  if (!read_number (source, 1, MAX_RANKS, "", &layout->n, NULL) ||
      !read_number (source, 0, G_MAXUINT32, "", &n_edges, NULL) ||
      (n_fields > 2 && !read_number (source, 0, 111, "", &format, NULL)) ||
      (n_fields > 3 && !read_number (source, 1, 100, "", &n_weights, NULL)))
    return FALSE;
  if (format % 10 > 1 || format / 10 % 10 > 1 || source->lines->len > layout->n + 1)
    return FALSE;
  layout->base = 1;
  layout->first_line = 1;
  layout->has_weights = format % 10 == 1;
  layout->n_before = (uint32_t) (format / 100 + (format / 10 % 10 ? n_weights : 0));
  n_numbers = 2 * n_edges * (layout->has_weights ? 2 : 1) + layout->n * layout->n_before;
  if (sum_fields (source, 1) != n_numbers)
    return FALSE;
  /* The last vertices may have no neighbours, and their empty lines are left out. */
  n_missing = layout->n + 1 - source->lines->len;
  for (uint64_t i = 0; i < n_missing; i++)
    g_ptr_array_add (source->lines, (char *) "");
  g_array_set_size (source->numbers, source->lines->len);
  return TRUE;
}

static StudyMatrix *
read_scotch (Source *source, GError **error)
{
  Layout layout = { .first_line = 3, .weight_first = TRUE };
  uint64_t n_arcs, n_numbers, flags;

  go_to (source, 0);
  if (!read_number (source, 0, 0, "version 0 of Scotch's graphs", &flags, error))
    return NULL;
  go_to (source, 1);
  if (!read_number (source, 1, MAX_RANKS, "the number of vertices", &layout.n, error) ||
      !read_number (source, 0, G_MAXUINT32, "the number of arcs", &n_arcs, error))
    return NULL;
  go_to (source, 2);
  if (!read_number (source, 0, 1, "base 0 or 1", &layout.base, error) ||
      !read_number (source, 0, 111, "flags such as 010", &flags, error))
    return NULL;
  layout.has_weights = flags / 10 % 10 == 1;
  layout.n_before = (uint32_t) (1 + flags / 100 + flags % 10);
  n_numbers = n_arcs * (layout.has_weights ? 2 : 1) + layout.n * layout.n_before;
  if (source->lines->len - layout.first_line != layout.n ||
      sum_fields (source, layout.first_line) != n_numbers) {
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_INPUT,
                 "%s: a Scotch graph of %" G_GUINT64_FORMAT " vertices, a line each, and "
                 "%" G_GUINT64_FORMAT " arcs was announced, but the rest differs",
                 source->path, layout.n, n_arcs);
    return NULL;
  }
  return read_vertices (source, &layout, error);
}

/* --- Reading any of the formats --- */

StudyMatrix *
study_matrix_load (const char *path, GError **error)
{
  g_autofree char *text = NULL;
  g_auto (Source) source = { 0 };
  Layout metis = { 0 };
  gsize length;

  if (!base_file_read (path, &text, &length, error))
    return NULL;
  if (strlen (text) != length) {
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_INPUT, "%s: not a text file", path);
    return NULL;
  }
  source = source_new (text, path);
  if (g_str_has_prefix (text, "%%MatrixMarket"))
    return read_market (&source, text, error);
  if (fields_of (&source, 0) == 1 && fields_of (&source, 1) == 3)
    return read_topo (&source, error);
  /* Version 0, sizes, base and flags: a line each, as Scotch's own programs write them. */
  if (fields_of (&source, 0) == 1 && fields_of (&source, 1) == 2 && fields_of (&source, 2) == 2)
    return read_scotch (&source, error);
  if (is_metis (&source, &metis))
    return read_vertices (&source, &metis, error);
  return load_table (g_steal_pointer (&text), path, error);
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

/* --- The graph in compressed rows --- */

/* A directed edge, as seen from one of its ends. */
typedef struct {
  uint32_t rank, neighbour;
  uint64_t sent, received;
} Half;

static int
compare_halves (const void *left, const void *right)
{
  const Half *a = left, *b = right;

  if (a->rank != b->rank)
    return a->rank < b->rank ? -1 : 1;
  return (a->neighbour > b->neighbour) - (a->neighbour < b->neighbour);
}

static int64_t
shifted (uint64_t bytes, uint32_t shift)
{
  return (int64_t) ((bytes >> shift) + ((bytes & ((1ull << shift) - 1)) != 0));
}

StudyGraph *
study_graph_new (const SimEdges *edges, uint32_t n_ranks)
{
  StudyGraph *graph = g_new0 (StudyGraph, 1);
  g_autofree SimEdge *sorted = sim_edges_sorted (edges, &graph->n_edges);
  g_autofree Half *halves = g_new (Half, 2 * graph->n_edges);
  uint64_t n_halves = 2 * graph->n_edges, n = 0;
  double sum = 0;

  /* The sum over all edges, at both ends, of weight times hops must stay far below 2^63.  Counted
   * in floating point, since the bytes themselves may not fit. */
  for (uint64_t i = 0; i < graph->n_edges; i++)
    sum += (double) sorted[i].bytes;
  while (2 * (sum / (double) (1ull << graph->shift) + (double) graph->n_edges) * STUDY_MAX_HOPS >
         0x1p61)
    graph->shift++;

  for (uint64_t i = 0; i < graph->n_edges; i++) {
    const SimEdge *edge = &sorted[i];

    halves[2 * i] = (Half){ edge->source, edge->destination, edge->bytes, 0 };
    halves[2 * i + 1] = (Half){ edge->destination, edge->source, 0, edge->bytes };
  }
  if (n_halves > 0)
    qsort (halves, n_halves, sizeof *halves, compare_halves);
  /* The halves of a pair are in a row, and become one. */
  for (uint64_t i = 0; i < n_halves; i++)
    if (n > 0 && compare_halves (&halves[n - 1], &halves[i]) == 0) {
      halves[n - 1].sent += halves[i].sent;
      halves[n - 1].received += halves[i].received;
    } else
      halves[n++] = halves[i];

  graph->n_ranks = n_ranks;
  graph->first = g_new0 (uint64_t, n_ranks + 1);
  graph->neighbour = g_new (uint32_t, n);
  graph->sent = g_new (uint64_t, n);
  graph->received = g_new (uint64_t, n);
  graph->weight = g_new (int64_t, n);
  for (uint64_t i = 0; i < n; i++) {
    graph->first[halves[i].rank + 1]++;
    graph->neighbour[i] = halves[i].neighbour;
    graph->sent[i] = halves[i].sent;
    graph->received[i] = halves[i].received;
    graph->weight[i] =
        shifted (halves[i].sent, graph->shift) + shifted (halves[i].received, graph->shift);
  }
  for (uint32_t rank = 0; rank < n_ranks; rank++)
    graph->first[rank + 1] += graph->first[rank];
  return graph;
}

void
study_graph_free (StudyGraph *graph)
{
  if (!graph)
    return;
  g_free (graph->first);
  g_free (graph->neighbour);
  g_free (graph->sent);
  g_free (graph->received);
  g_free (graph->weight);
  g_free (graph);
}
