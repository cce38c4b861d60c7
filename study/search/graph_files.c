/* graph_files.c - communication matrices in the formats of graph libraries.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/search/graph_files.h"

#include "study/study_error.h"

#include <string.h>

#define MAX_RANKS (1u << 24)
#define BLANKS    " \t\r"

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

/* Empty lines count: they are vertices without neighbours.  Those at the end do not. */
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

static uint32_t
count_fields (const char *line)
{
  uint32_t n = 0;

  for (;;) {
    line += strspn (line, BLANKS);
    if (*line == '\n' || *line == '\0')
      return n;
    n++;
    line += strcspn (line, BLANKS "\n");
  }
}

static uint32_t
fields_of (const Source *source, guint line)
{
  return line < source->lines->len ? count_fields (g_ptr_array_index (source->lines, line)) : 0;
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

/* --- topo --- */

static gboolean
is_topo (const Source *source)
{
  return fields_of (source, 0) == 1 && fields_of (source, 1) == 3;
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

/* --- MatrixMarket --- */

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

/* Rounded to whole bytes. */
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

static gboolean
read_entry (Source *source, const Market *market, uint64_t n, uint64_t *place, StudyMatrix *matrix,
            GError **error)
{
  uint32_t from = (uint32_t) (*place % n), to = (uint32_t) (*place / n);
  uint64_t bytes = 1;

  if (!market->is_array &&
      (!read_rank (source, 1, n, &from, error) || !read_rank (source, 1, n, &to, error)))
    return FALSE;
  if ((!market->is_pattern && !read_value (source, &bytes, error)) || !read_end (source, error))
    return FALSE;
  if (bytes > 0)
    study_matrix_add (matrix, from, to, 1, bytes);
  if (bytes > 0 && market->is_symmetric && from != to)
    study_matrix_add (matrix, to, from, 1, bytes);
  ++*place;
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
    go_to (source, line);
    if (!at_end_of_line (source) && place == n_entries) {
      complain (source, error, "no more entries");
      return NULL;
    }
    if (!at_end_of_line (source) && !read_entry (source, &market, n, &place, matrix, error))
      return NULL;
  }
  if (place < n_entries) {
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_INPUT,
                 "%s: %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " entries are there",
                 source->path, place, n_entries);
    return NULL;
  }
  return g_steal_pointer (&matrix);
}

/* --- METIS and Scotch --- */

/* What stands in the lines of vertices. */
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

/* As many lines as columns: bytes of a dense matrix. */
static gboolean
is_square (const Source *source)
{
  for (guint line = 0; line < source->lines->len; line++)
    if (fields_of (source, line) != source->lines->len)
      return FALSE;
  return TRUE;
}

/* A list of edges has lines of two to four numbers too: what a header says must be
 * what follows it. */
static gboolean
is_metis (Source *source, Layout *layout)
{
  uint32_t n_fields = fields_of (source, 0);
  uint64_t n_edges, format = 0, n_weights = 1, n_numbers, n_missing;

  if (n_fields < 2 || n_fields > 4 || is_square (source))
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
  /* The last vertices may have no neighbours, and their lines be gone as empty ones. */
  n_missing = layout->n + 1 - source->lines->len;
  for (uint64_t i = 0; i < n_missing; i++)
    g_ptr_array_add (source->lines, (char *) "");
  g_array_set_size (source->numbers, source->lines->len);
  return TRUE;
}

/* Version 0, sizes, base and flags: a line each, as Scotch's own programs write them. */
static gboolean
is_scotch (const Source *source)
{
  return fields_of (source, 0) == 1 && fields_of (source, 1) == 2 && fields_of (source, 2) == 2;
}

static gboolean
check_scotch_lines (const Source *source, const Layout *layout, uint64_t n_arcs, GError **error)
{
  uint64_t n_numbers = n_arcs * (layout->has_weights ? 2 : 1) + layout->n * layout->n_before;

  if (source->lines->len - layout->first_line == layout->n &&
      sum_fields (source, layout->first_line) == n_numbers)
    return TRUE;
  g_set_error (error, STUDY_ERROR, STUDY_ERROR_INPUT,
               "%s: a Scotch graph of %" G_GUINT64_FORMAT " vertices, a line each, and "
               "%" G_GUINT64_FORMAT " arcs was announced, and something else follows",
               source->path, layout->n, n_arcs);
  return FALSE;
}

static StudyMatrix *
read_scotch (Source *source, GError **error)
{
  Layout layout = { .first_line = 3, .weight_first = TRUE };
  uint64_t n_arcs, flags;

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
  return check_scotch_lines (source, &layout, n_arcs, error)
             ? read_vertices (source, &layout, error)
             : NULL;
}

StudyMatrix *
study_graph_file_read (const char *text, const char *path, gboolean *known, GError **error)
{
  g_auto (Source) source = source_new (text, path);
  Layout metis = { 0 };

  *known = TRUE;
  if (g_str_has_prefix (text, "%%MatrixMarket"))
    return read_market (&source, text, error);
  if (is_topo (&source))
    return read_topo (&source, error);
  if (is_scotch (&source))
    return read_scotch (&source, error);
  if (is_metis (&source, &metis))
    return read_vertices (&source, &metis, error);
  *known = FALSE;
  return NULL;
}
