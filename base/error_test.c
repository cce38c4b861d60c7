/* error_test.c - the words of errors about texts.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"

static void
test_places (void)
{
  static const struct {
    BasePlace place;
    const char *message;
  } cases[] = {
    { { "model", 3, 1 }, "model:3:7: no x" },
    { { NULL, 3, 1 }, "column 7: no x" },
  };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autoptr (GError) error = NULL;

    g_assert_false (base_fail_at (&cases[at].place, 7, &error, "no %s", "x"));
    g_assert_error (error, BASE_ERROR, BASE_ERROR_TEXT);
    g_assert_cmpstr (error->message, ==, cases[at].message);
  }
}

static void
test_quotes (void)
{
  g_autofree char *long_text = g_strnfill (61, 'x'), *limit = g_strnfill (60, 'x');
  g_autofree char *cut = g_strdup_printf ("\"%s...\"", limit);
  const char *const cases[][2] = {
    { "", "\"\"" }, { "a\nb", "\"a b\"" }, { "\xC3\xBC", "\"\xC3\xBC\"" }, { long_text, cut }
  };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autofree char *quoted = base_quote (cases[at][0]);

    g_assert_cmpstr (quoted, ==, cases[at][1]);
  }
}

static void
test_reasons (void)
{
  static const struct {
    const char *said, *reason;
    guint line;
  } cases[] = {
    { "Error on line 12 char 3: Document ended unexpectedly", "document ended unexpectedly", 12 },
    { "Error on line 4: Element <a> was closed\nbut not open",
      "element <a> was closed but not open", 4 },
    { "<data>:7:15: Parse error: unexpected identifier 'x'", "unexpected identifier 'x'", 7 },
    { "Document was empty", "document was empty", 0 },
    { "Error on line of sorts", "error on line of sorts", 0 },
  };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autoptr (GError) cause = g_error_new_literal (G_MARKUP_ERROR, 0, cases[at].said);
    guint line = 99;
    g_autofree char *reason = base_parser_reason (cause, &line);

    g_assert_cmpstr (reason, ==, cases[at].reason);
    g_assert_cmpuint (line, ==, cases[at].line);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/base/error/places", test_places);
  g_test_add_func ("/base/error/quotes", test_quotes);
  g_test_add_func ("/base/error/reasons", test_reasons);
  return g_test_run ();
}
