/* warnings_test.c - what many ranks say is one line.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/print/warnings.h"

static void
check (const char *const *warnings, const char *expected)
{
  g_autoptr (GPtrArray) given = g_ptr_array_new ();
  g_autoptr (GPtrArray) lines = NULL;
  g_autofree char *joined = NULL;

  for (; *warnings; warnings++)
    g_ptr_array_add (given, (gpointer) *warnings);
  lines = cli_warnings_summarize (given);
  g_ptr_array_add (lines, NULL);
  joined = g_strjoinv ("|", (char **) lines->pdata);
  g_assert_cmpstr (joined, ==, expected);
}

static void
test_ranks (void)
{
  check ((const char *const[]){ NULL }, "");
  check ((const char *const[]){ "rank 3: cut", NULL }, "rank 3: cut");
  check ((const char *const[]){ "rank 3: cut", "a", "rank 14: cut", NULL },
         "rank 3 and 1 more rank: cut|a");
  check ((const char *const[]){ "no end", "rank 3: cut", "rank 4: lost", "rank 5: cut",
                                "rank 60: cut", NULL },
         "no end|rank 3 and 2 more ranks: cut|rank 4: lost");
}

/* Numbers of other things, and other words that end so, stay. */
static void
test_others (void)
{
  check ((const char *const[]){ "crank 3", "crank 4", "2 lost", "3 lost", "rank order", NULL },
         "crank 3|crank 4|2 lost|3 lost|rank order");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli/warnings/ranks", test_ranks);
  g_test_add_func ("/cli/warnings/others", test_others);
  return g_test_run ();
}
