/* csv_test.c - cells of CSV text, across blocks and packed.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/csv.h"
#include "base/error.h"

#include <glib/gstdio.h>
#include <string.h>
#include <zlib.h>

static char *path;

/* All cells of the file, a row on a line of its own; or the error. */
static char *
cells_of_file (void)
{
  g_autoptr (GError) error = NULL;
  GString *all = g_string_new (NULL);
  BaseCells cells;
  gboolean any = TRUE;

  g_assert_true (base_cells_open (&cells, path, &error));
  while (any) {
    const char *at = cells.text.at;
    BaseTaken taken = at < cells.text.end ? base_cells_take (&cells, &at, &error) : BASE_TAKE_MORE;

    if (taken == BASE_REFUSED ||
        (taken == BASE_TAKE_MORE && !base_text_more (&cells.text, &any, &error)))
      break;
    if (taken != BASE_TAKEN)
      continue;
    g_string_append_printf (all, "%s%c", cells.cell->str, *at == ',' ? '|' : ';');
    if (*at != ',')
      cells.line++;
    cells.text.at = at + (*at == '\r' ? 2 : 1);
    cells.text.line = cells.line;
  }
  if (error != NULL) {
    g_assert_error (error, BASE_ERROR, BASE_ERROR_TEXT);
    g_assert_true (g_str_has_prefix (error->message, path));
    g_string_assign (all, error->message + strlen (path));
  }
  base_cells_clear (&cells);
  return g_string_free (all, FALSE);
}

static void
test_cells (void)
{
  static const char *const cases[][2] = {
    { "a,b\n1,2\n", "a|b;1|2;" },
    { "a,\"b,\"\"c\"\"\"\r\n,", "a|b,\"c\";|;" },
    { "\xEF\xBB\xBF\"x\ny\",z", "x\ny|z;" },
    { "a\n\"b\"c\n", ":2: text behind the quote that ends a cell" },
    { "a\nb\rc\n", ":2: a carriage return that ends no line" },
    { "a\n\xFF\n", ":2: text that is not UTF-8" },
  };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autofree char *cells = NULL;

    g_assert_true (g_file_set_contents (path, cases[at][0], -1, NULL));
    cells = cells_of_file ();
    g_assert_cmpstr (cells, ==, cases[at][1]);
  }
}

/* A cell that is longer than any block, plain and packed. */
static void
test_long_cell (void)
{
  g_autofree char *cell = g_strnfill (1 << 20, 'x');
  g_autofree char *text = g_strdup_printf ("\"%s\"", cell);
  g_autofree char *expected = g_strconcat (cell, ";", NULL);

  for (guint packed = 0; packed < 2; packed++) {
    gzFile file = gzopen (path, packed ? "wb" : "wbT");
    g_autofree char *cells = NULL;

    g_assert_cmpint (gzwrite (file, text, (unsigned) strlen (text)), ==, (int) strlen (text));
    gzclose (file);
    cells = cells_of_file ();
    g_assert_cmpstr (cells, ==, expected);
  }
}

static void
test_numbers (void)
{
  static const struct {
    const char *text;
    gssize length; /* -1: not a number and nothing else */
  } cases[] = { { "1.5,", 3 }, { " 2\t\n", 3 }, { "3\r\n", 1 },  { "3\r", -1 },
                { "1x,", -1 }, { ",", -1 },     { "\"1\",", -1 } };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    double number;
    const char *end = base_cell_number (cases[at].text, &number);

    g_assert_cmpint (end != NULL ? end - cases[at].text : -1, ==, cases[at].length);
  }
}

int
main (int argc, char **argv)
{
  g_autofree char *folder = g_dir_make_tmp ("hopcast-csv-XXXXXX", NULL);
  int status;

  g_test_init (&argc, &argv, NULL);
  path = g_build_filename (folder, "cells.csv", NULL);
  g_test_add_func ("/base/csv/cells", test_cells);
  g_test_add_func ("/base/csv/long-cell", test_long_cell);
  g_test_add_func ("/base/csv/numbers", test_numbers);
  status = g_test_run ();
  g_unlink (path);
  g_rmdir (folder);
  g_free (path);
  return status;
}
