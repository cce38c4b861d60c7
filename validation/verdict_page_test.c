/* verdict_page_test.c - counts, places of marks and escapes of the page of results.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "validation/verdict_page.h"

#include <math.h>
#include <string.h>

static char source[] = "a < b & \"c\"";

static ValidationPublished
published (const char *name, double low, double high, double tolerance)
{
  return (ValidationPublished){ .name = (char *) name,
                                .unit = (char *) "us",
                                .low = low,
                                .high = high,
                                .tolerance = tolerance,
                                .role = (char *) "limit",
                                .source = source,
                                .conditions = (char *) "" };
}

static void
add (ValidationPage *page, const char *suite, const ValidationPublished *figure, double simulated,
     const char *commit)
{
  ValidationResult result = { .suite = suite,
                              .published = figure,
                              .simulated = simulated,
                              .lower = (double) NAN,
                              .upper = (double) NAN,
                              .is_run = !isnan (simulated),
                              .why = "no store",
                              .commit = commit };

  result.agrees = result.is_run && validation_agrees (figure, simulated);
  validation_page_add (page, &result);
}

static char *
page_text (const ValidationPage *page)
{
  char *text = NULL;
  gsize size;
  FILE *out = open_memstream (&text, &size);

  validation_page_write (page, "hopcast 1", out);
  fclose (out);
  return text;
}

/* Two suites: held, differing, beyond the picture, not run; recorded. */
static void
test_page (void)
{
  const ValidationPublished good = published ("good", 2, 2, 0.5),
                            half = published ("half", 2, 3, 0),
                            far = published ("far", -INFINITY, 1, 0),
                            none = published ("none", 1, INFINITY, 0);
  g_autoptr (ValidationPage) page = validation_page_new ();
  g_autofree char *text = NULL;

  add (page, "one", &good, 2, NULL);
  add (page, "one", &half, 1, NULL);
  add (page, "one", &far, 9, NULL);
  add (page, "two", &none, (double) NAN, NULL);
  add (page, "two", &good, 2, "abcdef0");
  text = page_text (page);
  /* claims, held, differ, not run, recorded */
  g_assert_nonnull (strstr (text,
                            "one</a></td><td class=n>3</td><td class=\"n held\">1</td><td "
                            "class=\"n differs\">2</td><td class=n>0</td><td class=n>0</td>"));
  g_assert_nonnull (strstr (text,
                            "two</a></td><td class=n>2</td><td class=\"n held\">1</td><td "
                            "class=\"n differs\">0</td><td class=n>1</td><td class=n>1</td>"));
  g_assert_nonnull (strstr (text, "all</td><td class=n>5</td>"));
  /* A mark at 1 is in the middle, at 1/2 a quarter from the left; 480 wide from 230 on. */
  g_assert_nonnull (strstr (text, "<circle cx=\"470.0\" cy=\"7.5\" r=\"4\" fill=\"#1b7f3b\"/>"));
  g_assert_nonnull (strstr (text, "<circle cx=\"350.0\" cy=\"22.5\" r=\"4\" fill=\"#c2410c\"/>"));
  g_assert_nonnull (strstr (text, "<path d=\"M710.0 37.5l-8 -4v8z\" fill=\"#c2410c\"/>"));
  g_assert_nonnull (strstr (text, "r=\"3.5\" fill=\"#fff\"")); /* recorded: open */
  g_assert_nonnull (strstr (text, "runs of commit abcdef0"));
  /* 1 to 3 of 2: from 1/2 on. */
  g_assert_nonnull (strstr (text, "<rect x=\"350.0\""));
  g_assert_null (strstr (text, source));
  g_assert_nonnull (strstr (text, "a &lt; b &amp; &quot;c&quot;"));
}

static void
test_published_text (void)
{
  const struct {
    double low, high, tolerance;
    const char *expected;
  } cases[] = { { 2.8, 2.8, 0.05, "2.8 +-5%" },
                { 0.85, 0.95, 0, "0.85..0.95" },
                { 1.2, INFINITY, 0, ">= 1.2" },
                { -INFINITY, 4, 0, "<= 4" } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const ValidationPublished it = published ("x", cases[i].low, cases[i].high, cases[i].tolerance);
    g_autofree char *text = validation_published_text (&it);

    g_assert_cmpstr (text, ==, cases[i].expected);
  }
}

static void
test_empty (void)
{
  g_autoptr (ValidationPage) page = validation_page_new ();
  g_autofree char *text = page_text (page);

  g_assert_nonnull (strstr (text, "all</td><td class=n>0</td>"));
  g_assert_null (strstr (text, "<svg"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/validation/verdict-page/page", test_page);
  g_test_add_func ("/validation/verdict-page/published-text", test_published_text);
  g_test_add_func ("/validation/verdict-page/empty", test_empty);
  return g_test_run ();
}
