/* hct_fold.c - finds the loops in a sequence.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/hct/hct_fold.h"

#include <string.h>

#define NONE UINT32_MAX
/* Earlier places of an item that are tried. */
#define MAX_CANDIDATES 32
#define MULTIPLIER     UINT64_C (0x9e3779b97f4a7c15)

struct HctFold {
  /* The input read so far, as a stack of items. */
  uint32_t *items, *earlier; /* earlier: where the same item is below */
  uint64_t *sums;            /* sums[i]: of the i items below */
  uint64_t *powers;          /* of the multiplier */
  uint32_t n, capacity;

  uint32_t *last; /* where a number is on the stack, highest */
  uint32_t n_last;
  GArray *loops;      /* (element-type HctLoop) */
  GArray *last_loops; /* (element-type uint32_t): where a loop is */
  GArray *bodies;     /* (element-type uint32_t) */
  GHashTable *known;  /* sum of a loop's body and count -> its index + 1 */
};

HctFold *
hct_fold_new (void)
{
  HctFold *fold = g_new0 (HctFold, 1);

  fold->loops = g_array_new (FALSE, FALSE, sizeof (HctLoop));
  fold->last_loops = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  fold->bodies = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  fold->known = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  return fold;
}

void
hct_fold_free (HctFold *fold)
{
  if (fold == NULL)
    return;
  g_free (fold->items);
  g_free (fold->earlier);
  g_free (fold->sums);
  g_free (fold->powers);
  g_free (fold->last);
  g_array_unref (fold->loops);
  g_array_unref (fold->last_loops);
  g_array_unref (fold->bodies);
  g_hash_table_unref (fold->known);
  g_free (fold);
}

static inline uint32_t *
last_place (HctFold *fold, uint32_t item)
{
  return (item & HCT_LOOP) == 0 ? &fold->last[item]
                                : &g_array_index (fold->last_loops, uint32_t, item & ~HCT_LOOP);
}

static inline void
push (HctFold *fold, uint32_t item)
{
  uint32_t *last = last_place (fold, item);
  uint64_t z = (item + UINT64_C (1)) * UINT64_C (0xbf58476d1ce4e5b9);

  fold->items[fold->n] = item;
  fold->earlier[fold->n] = *last;
  fold->sums[fold->n + 1] = fold->sums[fold->n] * MULTIPLIER + (z ^ (z >> 29));
  *last = fold->n++;
}

/* The sum of the items from `from` to before `to`. */
static inline uint64_t
sum_between (const HctFold *fold, uint32_t from, uint32_t to)
{
  return fold->sums[to] - fold->sums[from] * fold->powers[to - from];
}

/* The item of the loop, whose body is the topmost items; an equal loop that was
 * made before is used again. */
static uint32_t
find_loop (HctFold *fold, const HctLoop *loop, uint64_t sum)
{
  const uint32_t *body = &fold->items[fold->n - loop->n_items];
  uint64_t key = (sum ^ (loop->count * MULTIPLIER)) + loop->n_items;
  guint found = GPOINTER_TO_UINT (g_hash_table_lookup (fold->known, &key));
  HctLoop made = *loop;

  if (found != 0) {
    const HctLoop *other = &g_array_index (fold->loops, HctLoop, found - 1);

    if (other->count == loop->count && other->n_items == loop->n_items &&
        memcmp (hct_fold_body (fold, other), body, loop->n_items * sizeof *body) == 0)
      return HCT_LOOP | (found - 1);
  }
  made.first = fold->bodies->len;
  g_array_append_vals (fold->bodies, body, loop->n_items);
  g_array_append_val (fold->loops, made);
  g_array_append_val (fold->last_loops, (uint32_t){ NONE });
  g_hash_table_insert (fold->known, g_memdup2 (&key, sizeof key),
                       GUINT_TO_POINTER (fold->loops->len));
  return HCT_LOOP | (fold->loops->len - 1);
}

/* The top n_items items repeat those below.  Takes these and all further
 * repetitions from the input, and moves *at behind them. */
static gboolean
fold_top (HctFold *fold, uint32_t n_items, const uint32_t *numbers, uint32_t n, uint32_t *at)
{
  const uint32_t *items = &fold->items[fold->n - n_items];
  HctLoop loop = { .n_items = n_items, .count = 2, .depth = 1 };
  uint32_t next = *at, length, item;

  for (uint32_t i = 0; i < n_items; i++)
    if ((items[i] & HCT_LOOP) != 0) {
      const HctLoop *inner = hct_fold_loop (fold, items[i]);

      loop.length += inner->length * inner->count;
      loop.depth = MAX (loop.depth, inner->depth + 1);
    } else
      loop.length++;
  length = (uint32_t) loop.length; /* at most n */
  while (n - next >= length &&
         memcmp (&numbers[next], &numbers[next - length], length * sizeof *numbers) == 0) {
    next += length;
    loop.count++;
  }
  /* A loop takes two words more than its body. */
  if (loop.depth > HCT_MAX_DEPTH || n_items * (loop.count - 1) <= 2)
    return FALSE;
  item = find_loop (fold, &loop, sum_between (fold, fold->n - n_items, fold->n));
  for (uint32_t i = 0; i < 2 * n_items; i++) {
    fold->n--;
    *last_place (fold, fold->items[fold->n]) = fold->earlier[fold->n];
  }
  push (fold, item);
  *at = next;
  return TRUE;
}

/* Folds the shortest repetition that ends the stack. */
static gboolean
fold_once (HctFold *fold, const uint32_t *numbers, uint32_t n, uint32_t *at)
{
  uint32_t place = fold->earlier[fold->n - 1];

  for (guint i = 0; i < MAX_CANDIDATES && place != NONE; i++, place = fold->earlier[place]) {
    uint32_t n_items = fold->n - 1 - place;

    if (n_items > fold->n / 2)
      return FALSE;
    if (sum_between (fold, fold->n - n_items, fold->n) ==
            sum_between (fold, fold->n - 2 * n_items, fold->n - n_items) &&
        memcmp (&fold->items[fold->n - n_items], &fold->items[fold->n - 2 * n_items],
                n_items * sizeof *fold->items) == 0 &&
        fold_top (fold, n_items, numbers, n, at))
      return TRUE;
  }
  return FALSE;
}

void
hct_fold (HctFold *fold, const uint32_t *numbers, uint32_t n, uint32_t n_numbers)
{
  if (n > fold->capacity) {
    fold->capacity = n;
    fold->items = g_renew (uint32_t, fold->items, n);
    fold->earlier = g_renew (uint32_t, fold->earlier, n);
    fold->sums = g_renew (uint64_t, fold->sums, (gsize) n + 1);
    fold->powers = g_renew (uint64_t, fold->powers, (gsize) n + 1);
    fold->sums[0] = 0;
    fold->powers[0] = 1;
    for (uint32_t i = 0; i < n; i++)
      fold->powers[i + 1] = fold->powers[i] * MULTIPLIER;
  }
  fold->n = 0;
  if (n_numbers > fold->n_last) {
    fold->last = g_renew (uint32_t, fold->last, n_numbers);
    fold->n_last = n_numbers;
  }
  if (n_numbers > 0)
    memset (fold->last, 0xff, n_numbers * sizeof *fold->last);
  g_array_set_size (fold->loops, 0);
  g_array_set_size (fold->last_loops, 0);
  g_array_set_size (fold->bodies, 0);
  g_hash_table_remove_all (fold->known);

  for (uint32_t at = 0; at < n;) {
    push (fold, numbers[at++]);
    while (fold_once (fold, numbers, n, &at))
      ;
  }
}

const uint32_t *
hct_fold_items (const HctFold *fold, uint32_t *n)
{
  *n = fold->n;
  return fold->items;
}

const HctLoop *
hct_fold_loop (const HctFold *fold, uint32_t item)
{
  return &g_array_index (fold->loops, HctLoop, item & ~HCT_LOOP);
}

const uint32_t *
hct_fold_body (const HctFold *fold, const HctLoop *loop)
{
  return &g_array_index (fold->bodies, uint32_t, loop->first);
}
