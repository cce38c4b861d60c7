/* terminal_test.c - control characters are shown, not sent.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/print/terminal.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void
test_visible (void)
{
  static const char *const cases[][2] = {
    { "", "" },
    { "plain = 5 %", "plain = 5 %" },
    { "\033[31mred\033[0m", "\\x1b[31mred\\x1b[0m" },
    { "two\nlines\r\t", "two\\x0alines\\x0d\\x09" },
    { "bell\a\177", "bell\\x07\\x7f" },
    { "csi \xc2\x9b"
      "1m",
      "csi \\x9b1m" },
    { "csi \x9b"
      "1m",
      "csi \\x9b1m" },
    { "Z\xc3\xbcrich \xe2\x82\xac \xc2\xa0",
      "Z\xc3\xbcrich \xe2\x82\xac \xc2\xa0" }, /* U+A0 is none */
    { "latin Z\xfcrich", "latin Z\xfcrich" },
    { "cut \xc2", "cut \xc2" },
  };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autofree char *visible = cli_visible (cases[at][0]);

    g_assert_cmpstr (visible, ==, cases[at][1]);
  }
}

static void
test_long_messages (void)
{
  g_autofree char *line = g_strnfill (600000, 'x'), *long_message = NULL, *short_message = NULL;
  g_autofree char *cut = NULL, *same = cli_shorten ("a.map:3: no number");
  g_autoptr (GString) text = g_string_new (NULL);

  g_assert_cmpstr (same, ==, "a.map:3: no number");
  long_message = g_strdup_printf ("a.map:3: \"%s\" is no number", line);
  short_message = cli_shorten (long_message);
  g_assert_cmpuint (strlen (short_message), <=, 1000);
  g_assert_true (g_str_has_prefix (short_message, "a.map:3: \"xxx"));
  g_assert_true (g_str_has_suffix (short_message, "xxx\" is no number"));
  /* Wherever the cuts fall, both halves stay UTF-8. */
  for (int shift = 0; shift < 3; shift++) {
    g_string_truncate (text, 0);
    g_string_append_printf (text, "%.*s", shift, "aaa");
    for (int i = 0; i < 1000; i++)
      g_string_append (text, "\xe2\x82\xac");
    g_free (cut);
    cut = cli_shorten (text->str);
    g_assert_true (g_utf8_validate (cut, -1, NULL));
    g_assert_cmpuint (strlen (cut), <=, 1000);
  }
}

/* What cli_printf() and printf() make of the same arguments. */
#define assert_as_printf(...)                                  \
  G_STMT_START                                                 \
  {                                                            \
    char *text = NULL;                                         \
    size_t size = 0;                                           \
    FILE *out = open_memstream (&text, &size);                 \
    g_autofree char *expected = g_strdup_printf (__VA_ARGS__); \
                                                               \
    cli_printf (out, __VA_ARGS__);                             \
    fclose (out);                                              \
    g_assert_cmpstr (text, ==, expected);                      \
    free (text);                                               \
  }                                                            \
  G_STMT_END

static void
test_formats (void)
{
  assert_as_printf ("no conversion");
  assert_as_printf ("%s%%%s", "a", "");
  assert_as_printf ("%-18s|%8s|%.2s|%-*s|%*s|%.*s|%*.*s", "left", "right", "cut", 7, "star", 7,
                    "star", 2, "cut", 6, 2, "both");
  assert_as_printf ("%d %5d %-5d %+d %05u %x %c", -1, 2, 3, 4, 5u, 255u, 'c');
  assert_as_printf ("%ld %lu %lld %zu %jd %td", -1L, 2UL, -3LL, (size_t) 4, (intmax_t) 5,
                    (ptrdiff_t) 6);
  assert_as_printf ("%" G_GUINT64_FORMAT " %14" G_GUINT64_FORMAT " %hu", G_MAXUINT64, (guint64) 1,
                    (unsigned short) 7);
  assert_as_printf ("%g %.3g %14.9f %+7.1f%% %e %.*f %*g", 1.5, 2.0 / 3, 1e-9, -12.34, 1e300, 2,
                    3.14159, 9, 2.5);
}

static void
test_arguments_are_visible (void)
{
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream (&text, &size);

  cli_printf (out, "\033[1m%s\033[0m %-6s|%.*s|\n", "a\033b", "\n", 2, "\tx\033");
  fclose (out);
  g_assert_cmpstr (text, ==, "\033[1ma\\x1bb\033[0m \\x0a  |\\x09x|\n");
  free (text);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli/terminal/visible", test_visible);
  g_test_add_func ("/cli/terminal/long-messages", test_long_messages);
  g_test_add_func ("/cli/terminal/formats", test_formats);
  g_test_add_func ("/cli/terminal/arguments", test_arguments_are_visible);
  return g_test_run ();
}
