/* npb_keys.c - the keys that IS sorts, drawn and counted.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The generator of report RNR-94-007 (s' = 5^13 s modulo 2^46,
 * from 314159265), four numbers to a key.  All arithmetic is of integers:
 * the benchmark's, in doubles, is exact as well. */
#include "traces/patterns/npb_keys.h"

#include <math.h>
#include <string.h>

#define SEED            314159265ull
#define MULTIPLIER      1220703125ull /* 5^13 */
#define MODULUS_BITS    46
#define DRAWS           4  /* per key */
#define MAX_LOG_COUNTED 31 /* class D, in seconds */

/* Keys of rank 0 that the iterations replace, so that each sorts something else:
 * number i becomes i, and number n_iterations + i the largest key less i. */
typedef struct {
  uint64_t old_low, old_high; /* keys */
} Change;

struct NpbKeys {
  guint log_keys, log_largest, log_buckets;
  uint32_t n_ranks, n_buckets, n_iterations;
  GMutex lock;
  uint32_t *counts; /* [n_ranks][n_buckets] before any change; NULL: not drawn yet */
  uint64_t *totals; /* [n_buckets] of all ranks */
  Change *changes;  /* [n_iterations]; NULL: no keys were drawn */
};

NpbKeys *
npb_keys_new (const NpbProblem *problem, uint32_t n_ranks, uint32_t n_iterations)
{
  NpbKeys *keys = g_new0 (NpbKeys, 1);

  keys->log_keys = (guint) problem->n[0];
  keys->log_largest = (guint) problem->n[1];
  keys->log_buckets = (guint) problem->n[2];
  keys->n_ranks = n_ranks;
  keys->n_buckets = 1u << keys->log_buckets;
  keys->n_iterations = n_iterations;
  g_mutex_init (&keys->lock);
  return keys;
}

void
npb_keys_free (NpbKeys *keys)
{
  if (keys == NULL)
    return;
  g_mutex_clear (&keys->lock);
  g_free (keys->counts);
  g_free (keys->totals);
  g_free (keys->changes);
  g_free (keys);
}

static uint64_t
times (uint64_t a, uint64_t b)
{
  return a * b & (((uint64_t) 1 << MODULUS_BITS) - 1);
}

/* The four numbers are taken from the state by powers of the multiplier, not
 * one from another: a processor then works on all of them at a time. */
static uint64_t
next_key (const NpbKeys *keys, const uint64_t powers[DRAWS], uint64_t *state)
{
  uint64_t sum = 0;

  for (guint i = 0; i < DRAWS; i++)
    sum += times (*state, powers[i]);
  *state = times (*state, powers[DRAWS - 1]);
  return sum >> (MODULUS_BITS - (keys->log_largest - 2));
}

static uint32_t
bucket_of (const NpbKeys *keys, uint64_t key)
{
  return (uint32_t) (key >> (keys->log_largest - keys->log_buckets));
}

/* One of the keys that are going to be replaced. */
static void
note_change (NpbKeys *keys, uint32_t number, uint64_t key)
{
  if (number < keys->n_iterations)
    keys->changes[number].old_low = key;
  else
    keys->changes[number - keys->n_iterations].old_high = key;
}

/* Ranks have successive parts of one sequence. */
static void
draw (NpbKeys *keys)
{
  uint64_t per_rank = ((uint64_t) 1 << keys->log_keys) / keys->n_ranks, state = SEED;
  uint64_t powers[DRAWS] = { MULTIPLIER };

  for (guint i = 1; i < DRAWS; i++)
    powers[i] = times (powers[i - 1], MULTIPLIER);
  keys->changes = g_new (Change, keys->n_iterations);
  for (uint32_t rank = 0; rank < keys->n_ranks; rank++) {
    uint32_t *counts = keys->counts + (gsize) rank * keys->n_buckets;

    for (uint64_t i = 0; i < per_rank; i++) {
      uint64_t key = next_key (keys, powers, &state);

      counts[bucket_of (keys, key)]++;
      if (rank == 0 && i > 0 && i <= 2 * (uint64_t) keys->n_iterations)
        note_change (keys, (uint32_t) i - 1, key);
    }
  }
}

/* Of the sum of four uniform numbers in 0..1 (Irwin and Hall): the chance
 * that it is below x. */
static double
chance_below (double x)
{
  static const double coefficients[DRAWS + 1] = { 1, -4, 6, -4, 1 };
  double chance = 0;

  for (guint k = 0; k <= DRAWS && k < x; k++)
    chance += coefficients[k] * pow (x - k, DRAWS) / 24;
  return MIN (chance, 1);
}

static void
expect (NpbKeys *keys)
{
  double per_rank = ldexp (1, (int) keys->log_keys) / keys->n_ranks;
  uint64_t below = 0;

  for (uint32_t bucket = 0; bucket < keys->n_buckets; bucket++) {
    double edge = DRAWS * (bucket + 1.0) / keys->n_buckets;
    uint64_t next = (uint64_t) (per_rank * chance_below (edge));

    keys->counts[bucket] = (uint32_t) (next - below);
    below = next;
  }
  keys->counts[keys->n_buckets - 1] += (uint32_t) ((uint64_t) per_rank - below);
  for (uint32_t rank = 1; rank < keys->n_ranks; rank++)
    memcpy (keys->counts + (gsize) rank * keys->n_buckets, keys->counts,
            keys->n_buckets * sizeof *keys->counts);
}

static void
add_up (NpbKeys *keys)
{
  keys->totals = g_new0 (uint64_t, keys->n_buckets);
  for (uint32_t rank = 0; rank < keys->n_ranks; rank++)
    for (uint32_t bucket = 0; bucket < keys->n_buckets; bucket++)
      keys->totals[bucket] += keys->counts[(gsize) rank * keys->n_buckets + bucket];
}

static void
need_counts (NpbKeys *keys)
{
  g_mutex_lock (&keys->lock);
  if (keys->counts == NULL) {
    keys->counts = g_new0 (uint32_t, (gsize) keys->n_ranks * keys->n_buckets);
    if (keys->log_keys <= MAX_LOG_COUNTED)
      draw (keys);
    else
      expect (keys);
    add_up (keys);
  }
  g_mutex_unlock (&keys->lock);
}

/* Rank 0's counts after the changes of iterations 1 to n. */
static uint32_t *
changed_counts (const NpbKeys *keys, uint32_t n)
{
  uint32_t *counts = g_memdup2 (keys->counts, keys->n_buckets * sizeof *keys->counts);
  uint64_t largest = (uint64_t) 1 << keys->log_largest;

  for (uint32_t i = 1; i <= n && keys->changes != NULL; i++) {
    counts[bucket_of (keys, keys->changes[i - 1].old_low)]--;
    counts[bucket_of (keys, keys->changes[i - 1].old_high)]--;
    counts[bucket_of (keys, i)]++;
    counts[bucket_of (keys, largest - i)]++;
  }
  return counts;
}

/* Whose each bucket is: a rank takes buckets until all ranks up to it have
 * their average share; the last may be left without. */
static uint32_t *
find_owners (const NpbKeys *keys, const uint32_t *first_counts)
{
  uint64_t per_rank = ((uint64_t) 1 << keys->log_keys) / keys->n_ranks, n_keys = 0;
  uint32_t *owners = g_new (uint32_t, keys->n_buckets);
  uint32_t owner = 0;

  for (uint32_t bucket = 0; bucket < keys->n_buckets; bucket++) {
    n_keys += keys->totals[bucket] + first_counts[bucket] - keys->counts[bucket];
    owners[bucket] = owner;
    if (n_keys >= (owner + 1) * per_rank && owner + 1 < keys->n_ranks)
      owner++; /* what is left when all keys have been given away is empty */
  }
  return owners;
}

void
npb_keys_exchange (NpbKeys *keys, uint32_t rank, uint32_t iteration, uint64_t *sent,
                   uint64_t *received)
{
  g_autofree uint32_t *first_counts = NULL;
  g_autofree uint32_t *owners = NULL;
  const uint32_t *own_counts;

  need_counts (keys);
  first_counts = changed_counts (keys, iteration);
  owners = find_owners (keys, first_counts);
  own_counts = rank == 0 ? first_counts : keys->counts + (gsize) rank * keys->n_buckets;
  memset (sent, 0, keys->n_ranks * sizeof *sent);
  memset (received, 0, keys->n_ranks * sizeof *received);
  for (uint32_t bucket = 0; bucket < keys->n_buckets; bucket++) {
    sent[owners[bucket]] += own_counts[bucket];
    if (owners[bucket] != rank)
      continue;
    received[0] += first_counts[bucket];
    for (uint32_t source = 1; source < keys->n_ranks; source++)
      received[source] += keys->counts[(gsize) source * keys->n_buckets + bucket];
  }
}
