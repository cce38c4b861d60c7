/* columns_test.c - the renderer of columns, against texts written by hand.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/print/columns.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

typedef struct {
  const char *name, *note;
  uint32_t nodes; /* 0: not known */
  uint64_t bytes;
  double time_s, share;
  bool is_even;
} Row;

enum { DETAILS = 1 };

static const CliColumn columns[] = {
  { "name", "name", CLI_CELL_TEXT, offsetof (Row, name) },
  { "nodes", "nodes", CLI_CELL_KNOWN_U32, offsetof (Row, nodes) },
  { "bytes", "bytes", CLI_CELL_U64, offsetof (Row, bytes), NULL, DETAILS },
  { "time_s", "time s", CLI_CELL_NUMBER, offsetof (Row, time_s), "%.3g" },
  { "share", "share", CLI_CELL_SHARE, offsetof (Row, share) },
  { "even", NULL, CLI_CELL_BOOLEAN, offsetof (Row, is_even), .omit = CLI_NOT_JSON },
  { "note", "note", CLI_CELL_TEXT, offsetof (Row, note), .omit = CLI_NOT_CSV },
};

static const Row rows[] = {
  { "a,\"b\"", NULL, 12, G_MAXUINT64, 1.0 / 3, -0.0004, true },
  { "\303\274\033[1m", NULL, 0, 0, NAN, 1.5, false },
};

typedef void (*PrintFunction) (FILE *out);

/* What `print` writes; the caller frees it. */
static char *
printed (PrintFunction print)
{
  char *text = NULL, *copy;
  size_t size;
  FILE *out = open_memstream (&text, &size);

  print (out);
  fclose (out);
  copy = g_strdup (text);
  free (text);
  return copy;
}

static void
print_table (FILE *out)
{
  cli_rows_print_table (out, &CLI_ROWS (columns, rows, 2), "> ");
}

static void
print_details (FILE *out)
{
  CliRows all = CLI_ROWS (columns, rows, 1);

  all.has = DETAILS;
  cli_rows_print_table (out, &all, "");
}

static void
print_list (FILE *out)
{
  cli_columns_print_list (out, columns, G_N_ELEMENTS (columns), &rows[0], 0);
}

static void
print_csv (FILE *out)
{
  cli_rows_print_csv (out, &CLI_ROWS (columns, rows, 2));
}

static void
print_json (FILE *out)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();

  json_builder_begin_object (builder);
  cli_rows_add_json (builder, "rows", &CLI_ROWS (columns, &rows[1], 1));
  cli_print_object (out, builder);
}

static void
assert_prints (PrintFunction print, const char *expected)
{
  g_autofree char *text = printed (print);

  g_assert_cmpstr (text, ==, expected);
}

/* Texts to the left, numbers to the right; letters count, not bytes; no column of notes. */
static void
test_table (void)
{
  assert_prints (print_table, "> name      nodes  time s    share\n"
                              "> a,\"b\"        12   0.333    +0.0%\n"
                              "> \303\274\\x1b[1m      -       -  +150.0%\n");
  assert_prints (print_details, "name   nodes                 bytes  time s  share\n"
                                "a,\"b\"     12  18446744073709551615   0.333  +0.0%\n");
}

static void
test_list (void)
{
  assert_prints (print_list,
                 "name    a,\"b\"\nnodes   12\ntime s  0.333\nshare   +0.0%\nnote    -\n");
}

static void
test_csv (void)
{
  assert_prints (print_csv,
                 "name,nodes,bytes,time_s,share,even\n"
                 "\"a,\"\"b\"\"\",12,18446744073709551615,0.3333333333333333,-0.0004,true\n"
                 "\303\274\033[1m,,0,,1.5,false\n");
}

static void
test_json (void)
{
  assert_prints (print_json,
                 "{\n  \"rows\": [\n    {\n      \"name\": \"\303\274\\u001b[1m\",\n"
                 "      \"nodes\": null,\n      \"bytes\": 0,\n      \"time_s\": null,\n"
                 "      \"share\": 1.5,\n      \"note\": null\n    }\n  ]\n}\n");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli/columns/table", test_table);
  g_test_add_func ("/cli/columns/list", test_list);
  g_test_add_func ("/cli/columns/csv", test_csv);
  g_test_add_func ("/cli/columns/json", test_json);
  return g_test_run ();
}
