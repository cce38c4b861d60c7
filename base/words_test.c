/* words_test.c - which misspelt words find the one that was meant.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/words.h"

static const char *const words[] = { "--ranks",   "--ranks-per-node",
                                     "--routing", "--network",
                                     "time_s",    "bytes",
                                     "max_bytes", "ftree",
                                     "table",     "csv",
                                     "json",      NULL };

/* The number of edits, by hand, against the limit of a third of the letters. */
static void
test_distances (void)
{
  static const struct {
    const char *word, *known;
    gboolean near;
  } cases[] = {
    { "network", "netwrk", TRUE },       /* one letter removed */
    { "netwrk", "network", TRUE },       /* inserted */
    { "rbnk", "rank", TRUE },            /* replaced */
    { "cvs", "csv", TRUE },              /* exchanged: one edit */
    { "cvsx", "csv", FALSE },            /* two edits of four letters */
    { "kitten", "sitting", FALSE },      /* three edits of six letters, */
    { "kitten123", "sitting123", TRUE }, /* of nine */
    { "uvwxca", "uvwxabc", FALSE },      /* three: an exchanged letter is not edited again */
    { "", "abc", FALSE },
    { "rank", "Rank", TRUE },
  };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    const char *const known[] = { cases[at].known, NULL };

    g_test_message ("%s: %s", cases[at].word, cases[at].known);
    g_assert_cmpstr (base_nearest (cases[at].word, known), ==,
                     cases[at].near ? cases[at].known : NULL);
  }
}

static void
test_nearest (void)
{
  static const char *const cases[][2] = {
    { "--rank-per-node", "--ranks-per-node" },
    { "--ranks_per_node", "--ranks-per-node" },
    { "--netwrok", "--network" },
    { "--rank", "--ranks" },
    { "Time_S", "time_s" },
    { "cvs", "csv" },
    { "byts", "bytes" },
    { "max_byte", "max_bytes" },
    /* No word is near, but one begins so. */
    { "max", "max_bytes" },
    { "--rou", "--routing" },
  };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++)
    g_assert_cmpstr (base_nearest (cases[at][0], words), ==, cases[at][1]);
}

/* A far-fetched word is worse than none; neither helps with the empty one or a single letter. */
static void
test_nothing_near (void)
{
  static const char *const cases[] = { "",         "x",   "c",      "--",
                                       "--colour", "xml", "pigeon", "time_in_seconds" };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++)
    g_assert_null (base_nearest (cases[at], words));
  g_assert_null (base_nearest ("anything", (const char *const[]){ NULL }));
}

static void
test_sentence (void)
{
  g_autofree char *near = base_did_you_mean ("jsn", words);
  g_autofree char *far = base_did_you_mean ("pigeon", words);

  g_assert_cmpstr (near, ==, "; did you mean json?");
  g_assert_cmpstr (far, ==, "");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/base/words/distances", test_distances);
  g_test_add_func ("/base/words/nearest", test_nearest);
  g_test_add_func ("/base/words/nothing-near", test_nothing_near);
  g_test_add_func ("/base/words/sentence", test_sentence);
  return g_test_run ();
}
