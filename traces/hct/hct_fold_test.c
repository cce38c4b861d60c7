/* hct_fold_test.c - sequences are folded into loops, and come out again.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Sequences are words, their letters the numbers; their folded form is written
 * as in "x(ab3)": x, then ab three times. */
#include "traces/hct/hct_fold.h"

#include <string.h>

static void
print_item (const HctFold *fold, uint32_t item, GString *out)
{
  const HctLoop *loop;

  if ((item & HCT_LOOP) == 0) {
    g_string_append_c (out, (char) item);
    return;
  }
  loop = hct_fold_loop (fold, item);
  g_string_append_c (out, '(');
  for (uint32_t i = 0; i < loop->n_items; i++)
    print_item (fold, hct_fold_body (fold, loop)[i], out);
  g_string_append_printf (out, "%" G_GUINT64_FORMAT ")", loop->count);
}

static void
expand_item (const HctFold *fold, uint32_t item, GArray *out)
{
  const HctLoop *loop;

  if ((item & HCT_LOOP) == 0) {
    g_array_append_val (out, item);
    return;
  }
  loop = hct_fold_loop (fold, item);
  for (uint64_t count = 0; count < loop->count; count++)
    for (uint32_t i = 0; i < loop->n_items; i++)
      expand_item (fold, hct_fold_body (fold, loop)[i], out);
}

static const struct {
  const char *word, *folded;
} words[] = {
  { "", "" },
  { "abcde", "abcde" },
  { "abcabc", "(abc2)" },
  { "xabcabcabcy", "x(abc3)y" },
  { "aaaaaaa", "(a7)" },
  /* A loop that takes more words than it saves stays as it is. */
  { "aa", "aa" },
  { "aaa", "aaa" },
  { "abab", "abab" },
  { "ababab", "(ab3)" },
  { "aaaabaaaabaaaab", "((a4)b3)" },
  { "xaaaabcaaaabcyxaaaabcaaaabcy", "(x((a4)bc2)y2)" },
  /* Loops of different counts are different. */
  { "aaaabcaaaaabcaaaabcaaaaabc", "((a4)bc(a5)bc2)" },
  /* The first iteration is often different from the others. */
  { "iabcdabceabceabceabcef", "iabcd(abce4)f" },
};

static void
test_words (void)
{
  for (guint k = 0; k < G_N_ELEMENTS (words); k++) {
    HctFold *fold = hct_fold_new ();
    g_autofree uint32_t *numbers = g_new (uint32_t, strlen (words[k].word) + 1);
    g_autoptr (GString) printed = g_string_new (NULL);
    const uint32_t *items;
    uint32_t n;

    for (gsize i = 0; words[k].word[i] != '\0'; i++)
      numbers[i] = (guint8) words[k].word[i];
    hct_fold (fold, numbers, (uint32_t) strlen (words[k].word), 256);
    items = hct_fold_items (fold, &n);
    for (uint32_t i = 0; i < n; i++)
      print_item (fold, items[i], printed);
    g_test_message ("%s", words[k].word);
    g_assert_cmpstr (printed->str, ==, words[k].folded);
    hct_fold_free (fold);
  }
}

static void
check_expands (const HctFold *fold, const uint32_t *numbers, uint32_t n)
{
  g_autoptr (GArray) out = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  uint32_t n_items;
  const uint32_t *items = hct_fold_items (fold, &n_items);

  for (uint32_t i = 0; i < n_items; i++)
    expand_item (fold, items[i], out);
  g_assert_cmpuint (out->len, ==, n);
  g_assert_true (n == 0 || memcmp (out->data, numbers, n * sizeof *numbers) == 0);
}

/* Whatever is folded comes out again; few letters make many loops. */
static void
test_random_words (void)
{
  HctFold *fold = hct_fold_new ();
  uint32_t numbers[300];

  for (guint run = 0; run < 5000; run++) {
    uint32_t n = (uint32_t) g_test_rand_int_range (0, G_N_ELEMENTS (numbers) + 1);
    gint letters = g_test_rand_int_range (1, 5);

    for (uint32_t i = 0; i < n; i++)
      numbers[i] = i > 20 && g_test_rand_bit () ? numbers[i - 12]
                                                : (uint32_t) g_test_rand_int_range (0, letters);
    hct_fold (fold, numbers, n, 5);
    check_expands (fold, numbers, n);
  }
  hct_fold_free (fold);
}

/* Ten loops in each other are more than what a cursor can hold;
 * the rest is written out. */
static void
test_depth (void)
{
  g_autofree uint32_t *numbers = g_new (uint32_t, 1 << 18);
  HctFold *fold = hct_fold_new ();
  uint32_t n = 1, n_items;
  const uint32_t *items;

  numbers[0] = 0;
  for (uint32_t level = 1; level <= 10; level++) {
    for (uint32_t i = 1; i < 3; i++)
      memcpy (numbers + i * n, numbers, n * sizeof *numbers);
    n *= 3;
    numbers[n++] = level;
  }
  hct_fold (fold, numbers, n, 12);
  check_expands (fold, numbers, n);
  items = hct_fold_items (fold, &n_items);
  for (uint32_t i = 0; i < n_items; i++)
    if ((items[i] & HCT_LOOP) != 0)
      g_assert_cmpuint (hct_fold_loop (fold, items[i])->depth, <=, HCT_MAX_DEPTH);
  hct_fold_free (fold);
}

/* The time is in proportion to the length, also when everything is nearly a
 * repetition. */
static void
test_not_quadratic (void)
{
  const uint32_t n = 200000, period = 20000;
  g_autofree uint32_t *numbers = g_new (uint32_t, n);
  HctFold *fold = hct_fold_new ();
  int64_t start_us = g_get_monotonic_time ();

  for (uint32_t i = 0; i < n; i++)
    numbers[i] = i % period == 0 ? 100 + i / period : i % period * 7919 % 97;
  hct_fold (fold, numbers, n, 200);
  check_expands (fold, numbers, n);
  g_assert_cmpint (g_get_monotonic_time () - start_us, <, 10 * G_USEC_PER_SEC);
  hct_fold_free (fold);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/traces/hct/fold/words", test_words);
  g_test_add_func ("/traces/hct/fold/random", test_random_words);
  g_test_add_func ("/traces/hct/fold/depth", test_depth);
  g_test_add_func ("/traces/hct/fold/not-quadratic", test_not_quadratic);
  return g_test_run ();
}
