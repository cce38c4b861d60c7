/* sc13_test.c - cases of the SC13 study from made-up stores.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/store/export.h"
#include "study/store/store_fixture.h"
#include "validation/sc13/sc13.h"

#include <math.h>
#include <string.h>

#define N_MAPPINGS 6

static char *folder, *path;

/* Mapping i of the halo takes (1 + i) * factor seconds, sends its square of bytes, and 0.5 s
 * on the clock. */
static StudyRow *
made_up_row (const char *network, guint i, double factor)
{
  StudyRow *row = fixture_row (i);

  g_free (row->key);
  g_free (row->trace);
  g_free (row->mapping_hash);
  g_free (row->network);
  row->key = fixture_key (i + 1000 * (guint) *network);
  row->trace = g_strdup ("gen:halo2d:ranks=8");
  row->mapping_hash = fixture_places (i);
  row->network = g_strdup (network);
  row->time_s = (1 + i) * factor;
  row->wall_s = 0.5;
  row->replica = 0;
  for (guint feature = 0; feature < SIM_N_FEATURES; feature++)
    row->features[feature] = (1 + i) * (1 + i);
  return row;
}

/* Writes FOLDER/NAME.store with the first n mappings on each network; g_free(). */
static char *
made_up_store (const char *name, const char *const *networks, guint n, double factor)
{
  g_autofree char *file = g_strconcat (name, ".store", NULL);
  char *made = g_build_filename (folder, file, NULL);
  g_autoptr (StudyStore) store = fixture_open (made, STUDY_STORE_CREATE);
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify) study_row_free);
  g_autoptr (GError) error = NULL;

  for (; *networks != NULL; networks++)
    for (guint i = 0; i < n; i++)
      g_ptr_array_add (rows, made_up_row (*networks, i, factor));
  fixture_put (store, (StudyRow *const *) rows->pdata, rows->len, &error);
  g_assert_no_error (error);
  study_store_set_plan (store, name, "", (StudyRow *const *) rows->pdata, rows->len, &error);
  g_assert_no_error (error);
  return made;
}

static Sc13Stores *
read_stores (const char *first, const char *second)
{
  const char *const paths[] = { first, second, NULL };
  GError *error = NULL;
  Sc13Stores *stores = sc13_stores_read (paths, &error);

  g_assert_no_error (error);
  return stores;
}

static const char *const packet_and_load[] = { "packet", "load", "flow", NULL };
static const char *const packet[] = { "packet", NULL };

/* A case of six mappings; what was coarse or load stands beside the same mapping. */
static void
test_cases (void)
{
  g_autofree char *exact = made_up_store ("16k", packet_and_load, N_MAPPINGS, 1);
  g_autofree char *coarse = made_up_store ("coarse.16k", packet, N_MAPPINGS, 1.25);
  g_autoptr (Sc13Stores) stores = read_stores (coarse, exact);
  const Sc13Samples *samples;

  g_assert_cmpuint (stores->cases->len, ==, 1);
  samples = g_ptr_array_index (stores->cases, 0);
  g_assert_cmpstr (samples->name, ==, "16k.halo2d");
  g_assert_cmpuint (samples->n_groups, ==, N_MAPPINGS);
  g_assert_null (samples->rows[SC13_SHRUNK]);
  g_assert_null (samples->exact);
  for (Sc13Source source = 0; source < SC13_N_SOURCES; source++) {
    if (source == SC13_SHRUNK)
      continue;
    g_assert_nonnull (samples->rows[source]);
    g_assert_cmpuint (samples->rows[source]->len, ==, N_MAPPINGS);
    for (guint i = 0; i < N_MAPPINGS; i++) {
      const StudyRow *row = g_ptr_array_index (samples->rows[source], i);

      g_assert_cmpfloat (row->time_s, ==, (1 + i) * (source == SC13_COARSE ? 1.25 : 1));
      g_assert_cmpstr (row->network, ==, source == SC13_LOAD ? "load" : "packet");
      g_assert_cmpuint (samples->group[i], ==, i);
    }
  }
}

/* Replicas of a mapping are one sample, their mean; what a study is for stands before the case, which
 * the program ends; exact runs may be of some mappings only. */
static void
test_replicas_and_purposes (void)
{
  g_autofree char *shrunk = made_up_store ("large.halo2d", packet, N_MAPPINGS, 1);
  g_autofree char *exact = made_up_store ("exact.large.halo2d", packet, 2, 1.25);
  g_autoptr (StudyStore) store = fixture_open (shrunk, STUDY_STORE_WRITE);
  g_autoptr (GPtrArray) rows = study_store_rows (store, FALSE, NULL);
  g_autoptr (Sc13Stores) stores = NULL;
  const Sc13Samples *samples;
  const StudyRow *mean;

  for (guint i = 0; i < N_MAPPINGS; i++) {
    StudyRow *row = made_up_row ("packet", i, 1);

    g_free (row->key);
    row->key = fixture_key (500 + i);
    row->replica = 1;
    row->time_s += 0.5;
    row->features[SIM_FEATURE_MAX_BYTES] += 3;
    g_ptr_array_add (rows, row);
  }
  fixture_put (store, (StudyRow *const *) rows->pdata + N_MAPPINGS, N_MAPPINGS, NULL);
  study_store_set_plan (store, "large.halo2d", "", (StudyRow *const *) rows->pdata, rows->len,
                        NULL);
  stores = read_stores (exact, shrunk);
  g_assert_cmpuint (stores->cases->len, ==, 1);
  samples = g_ptr_array_index (stores->cases, 0);
  g_assert_cmpstr (samples->name, ==, "large.halo2d");
  g_assert_cmpuint (samples->rows[SC13_SAME]->len, ==, N_MAPPINGS);
  g_assert_cmpuint (samples->n_draws, ==, 2);
  g_assert_cmpfloat (samples->draws[2 * 2], ==, 3);
  g_assert_cmpfloat (samples->draws[2 * 2 + 1], ==, 3.5);
  mean = g_ptr_array_index (samples->rows[SC13_SAME], 2);
  g_assert_cmpfloat (mean->time_s, ==, 3.25);
  g_assert_cmpfloat (mean->features[SIM_FEATURE_MAX_BYTES], ==, 10.5);
  g_assert_cmpfloat (((StudyRow *) samples->exact->pdata[1])->time_s, ==, 2.5);
  g_assert_null (samples->exact->pdata[2]);
}

/* Times and what adds up are those of one iteration; dilation is not divided. */
static void
test_one_iteration (void)
{
  g_autofree char *made = made_up_store ("16k.halo2d", packet, N_MAPPINGS, 1);
  g_autoptr (StudyStore) store = fixture_open (made, STUDY_STORE_WRITE);
  g_autoptr (GPtrArray) rows = study_store_rows (store, FALSE, NULL);
  g_autoptr (Sc13Stores) stores = NULL;
  const StudyRow *before = g_ptr_array_index (rows, 2), *after;

  for (guint i = 0; i < N_MAPPINGS; i++) {
    StudyRow *row = g_ptr_array_index (rows, i);

    g_free (row->key);
    row->key = fixture_key (600 + i);
    g_free (row->trace);
    row->trace = g_strdup ("gen:halo2d:ranks=4,iterations=4,bytes=8");
  }
  fixture_put (store, (StudyRow *const *) rows->pdata, N_MAPPINGS, NULL);
  study_store_set_plan (store, "16k.halo2d", "", (StudyRow *const *) rows->pdata, rows->len, NULL);
  stores = read_stores (made, NULL);
  after = g_ptr_array_index (((Sc13Samples *) stores->cases->pdata[0])->rows[SC13_SAME], 2);
  g_assert_cmpfloat (after->time_s, ==, before->time_s / 4);
  g_assert_cmpfloat (after->features[SIM_FEATURE_MAX_BYTES], ==,
                     before->features[SIM_FEATURE_MAX_BYTES] / 4);
  g_assert_cmpfloat (after->features[SIM_FEATURE_MAX_DILATION], ==,
                     before->features[SIM_FEATURE_MAX_DILATION]);
}

static void
test_one_store_per_study (void)
{
  g_autofree char *store = made_up_store ("16k", packet, N_MAPPINGS, 1);
  const char *const twice[] = { store, store, NULL };
  g_autoptr (GError) error = NULL;

  g_assert_null (sc13_stores_read (twice, &error));
  g_assert_error (error, VALIDATION_ERROR, VALIDATION_ERROR_EXPERIMENT);
  g_assert_nonnull (strstr (error->message, "\"16k\""));
}

/* One mapping without a coarse run: no coarse features of the case. */
static void
test_sources_are_whole (void)
{
  g_autofree char *exact = made_up_store ("16k", packet, N_MAPPINGS, 1);
  g_autofree char *coarse = made_up_store ("coarse.16k", packet, N_MAPPINGS - 1, 1);
  g_autoptr (Sc13Stores) stores = read_stores (exact, coarse);
  const Sc13Samples *samples = g_ptr_array_index (stores->cases, 0);

  g_assert_null (samples->rows[SC13_COARSE]);
  g_assert_null (samples->rows[SC13_LOAD]);
}

/* Writes the table of a store's runs beside it; g_free(). */
static char *
export_store (const char *from)
{
  g_autofree char *stem = g_strndup (from, strlen (from) - strlen (".store"));
  char *table = g_strconcat (stem, ".csv", NULL);
  g_autoptr (StudyStore) store = fixture_open (from, STUDY_STORE_READ);
  g_autoptr (GError) error = NULL;
  FILE *out = fopen (table, "w");

  g_assert_nonnull (out);
  study_export (store, STUDY_EXPORT_RUNS, STUDY_EXPORT_CSV, TRUE, out, &error);
  g_assert_no_error (error);
  g_assert_cmpint (fclose (out), ==, 0);
  return table;
}

/* A table of the runs is as good as their store, to the last bit. */
static void
test_tables (void)
{
  g_autofree char *store = made_up_store ("16k.halo2d", packet_and_load, N_MAPPINGS, 1.0 / 3);
  g_autofree char *table = export_store (store);
  g_autoptr (Sc13Stores) stores = read_stores (store, NULL), tables = read_stores (table, NULL);
  const Sc13Samples *from_store = g_ptr_array_index (stores->cases, 0);
  const Sc13Samples *from_table = g_ptr_array_index (tables->cases, 0);

  g_assert_cmpstr (from_table->name, ==, from_store->name);
  g_assert_cmpmem (from_table->draws, N_MAPPINGS * sizeof (double), from_store->draws,
                   N_MAPPINGS * sizeof (double));
  for (guint i = 0; i < N_MAPPINGS; i++) {
    const StudyRow *read = g_ptr_array_index (from_table->rows[SC13_LOAD], i);
    const StudyRow *kept = g_ptr_array_index (from_store->rows[SC13_LOAD], i);

    /* The first column, the key, is a number in the fixture, unlike any hash. */
    for (guint column = 1; column < study_row_n_columns (TRUE); column++) {
      g_autofree char *a = study_row_column_text (read, column);
      g_autofree char *b = study_row_column_text (kept, column);

      if (strcmp (study_row_column_name (column), "warnings") != 0)
        g_assert_cmpstr (a, ==, b);
    }
  }
}

/* Line and column of what no run has. */
static void
test_broken_tables (void)
{
  static const char *const broken[][2] = {
    { "trace,mapping_hash\n", "network" },
    { "trace,mapping_hash,network,status,time_s\na,b,packet,done,x\n",
      "broken.csv:2: column \"time_s\"" },
    { "trace,mapping_hash,network,status,time_s,ranks\na,b,packet,done,1,-1\n",
      "column \"ranks\"" },
    { "trace,mapping_hash,network,status,time_s,ranks\na,b,packet,done,1,4294967296\n",
      "column \"ranks\"" },
    { "trace,mapping_hash,network,status,time_s\na,,packet,done,1\n",
      "broken.csv:2: a run without" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (broken); i++) {
    g_autofree char *table = g_build_filename (folder, "broken.csv", NULL);
    const char *const paths[] = { table, NULL };
    g_autoptr (GError) error = NULL;

    g_assert_true (g_file_set_contents (table, broken[i][0], -1, NULL));
    g_assert_null (sc13_stores_read (paths, &error));
    g_assert_nonnull (strstr (error->message, broken[i][1]));
  }
}

/* Both cases or none; the same mapping is one group in both. */
static void
test_pools (void)
{
  static const char *const both[] = { "16k.halo2d", "large.halo2d", NULL };
  static const char *const more[] = { "16k.halo2d", "8.halo2d", NULL };
  g_autofree char *small = made_up_store ("16k", packet_and_load, N_MAPPINGS, 1);
  g_autofree char *large = made_up_store ("large", packet, N_MAPPINGS, 8);
  g_autoptr (Sc13Stores) stores = read_stores (small, large);
  g_autoptr (Sc13Samples) pool = sc13_pool (stores, "both", both);

  g_assert_null (sc13_pool (stores, "more", more));
  g_assert_cmpuint (pool->rows[SC13_SAME]->len, ==, 2 * N_MAPPINGS);
  g_assert_null (pool->rows[SC13_LOAD]);
  g_assert_cmpuint (pool->n_groups, ==, N_MAPPINGS);
  g_assert_cmpuint (pool->group[N_MAPPINGS + 2], ==, 2);
  g_assert_cmpuint (pool->n_sets, ==, 2);
  g_assert_cmpuint (pool->set[N_MAPPINGS - 1], ==, 0);
  g_assert_cmpuint (pool->set[N_MAPPINGS], ==, 1);
}

/* Times 1 .. 6 s; the coarse ones are a quarter longer and in the same order. */
static void
test_numbers (void)
{
  g_autofree char *exact = made_up_store ("16k", packet, N_MAPPINGS, 1);
  g_autofree char *coarse = made_up_store ("coarse.16k", packet, N_MAPPINGS, 1.25);
  g_autoptr (Sc13Stores) stores = read_stores (exact, coarse);
  g_auto (Sc13Book) book = { 0 };
  g_autoptr (GError) error = NULL;

  sc13_book_init (&book, NULL);
  g_assert_true (sc13_draw (&book, g_ptr_array_index (stores->cases, 0), &error));
  g_assert_no_error (error);
  g_assert_cmpfloat (sc13_told (&book, "variation/16k.halo2d", "worst_to_best"), ==, 6);
  g_assert_cmpfloat (sc13_told (&book, "variation/16k.halo2d", "distinct"), ==, 6);
  g_assert_cmpfloat (sc13_told (&book, "variation/16k.halo2d", "best_s"), ==, 1);
  g_assert_cmpfloat (sc13_told (&book, "time/16k.halo2d", "5"), ==, 6);
  g_assert_cmpfloat (sc13_told (&book, "y/16k.halo2d/max_bytes", "2"), ==, 3);
  g_assert_cmpfloat (sc13_told (&book, "x/16k.halo2d/max_bytes", "2"), ==, 9);
  g_assert_cmpfloat (sc13_told (&book, "cost/16k.halo2d", "coarse"), ==, 0.5);
  g_assert_cmpfloat (sc13_told (&book, "coarse/16k.halo2d", "rcc"), ==, 1);
  g_assert_cmpfloat_with_epsilon (sc13_told (&book, "coarse/16k.halo2d", "mape"), 0.25, 1e-12);
  g_assert_true (isnan (sc13_told (&book, "cost/16k.halo2d", "load")));
  g_assert_cmpfloat (sc13_told (&book, "noise/16k.halo2d", "replicas"), ==, 1);
  g_assert_cmpfloat (sc13_told (&book, "variation/16k.halo2d", "most"), ==, 6);
  /* The first tree's root is the mean of all. */
  g_assert_cmpfloat (sc13_told (&book, "tree/16k.halo2d/0", "value"), ==, 3.5);
  g_assert_cmpfloat (sc13_told (&book, "leaf/16k.halo2d/0", "x_from"), ==, 1);
}

/* About nine of ten, of mappings that were not learned from; of few mappings nothing is promised. */
static void
test_intervals (void)
{
  g_autofree char *many = made_up_store ("16k", packet, 60, 1);
  g_autofree char *few = made_up_store ("large", packet, N_MAPPINGS, 1);
  g_autoptr (Sc13Stores) stores = read_stores (many, few);
  g_auto (Sc13Book) book = { 0 };
  g_autoptr (GError) error = NULL;

  sc13_book_init (&book, NULL);
  for (guint i = 0; i < stores->cases->len; i++)
    g_assert_true (sc13_cover (&book, g_ptr_array_index (stores->cases, i), &error));
  g_assert_no_error (error);
  g_assert_cmpfloat (sc13_told (&book, "interval/16k.halo2d", "H5"), >, 0.85);
  g_assert_cmpfloat (sc13_told (&book, "interval/16k.halo2d", "H5"), <=, 0.98);
  g_assert_cmpfloat (sc13_told (&book, "interval/16k.halo2d/half_width", "H5"), >, 0);
  g_assert_true (isnan (sc13_told (&book, "interval/large.halo2d", "H5")));
}

/* Learned from the same mappings, half as slow: their order is exact, their times are halved. */
static void
test_transfer (void)
{
  g_autofree char *low = made_up_store ("low", packet, N_MAPPINGS, 1);
  g_autofree char *high = made_up_store ("high", packet, N_MAPPINGS, 2);
  g_autoptr (Sc13Stores) stores = read_stores (low, high);
  g_auto (Sc13Book) book = { 0 };
  g_autoptr (GError) error = NULL;

  sc13_book_init (&book, NULL);
  g_assert_true (sc13_transfer (&book, g_ptr_array_index (stores->cases, 0),
                                g_ptr_array_index (stores->cases, 1), FALSE, &error));
  g_assert_no_error (error);
  g_assert_cmpfloat (sc13_told (&book, "transfer/high.halo2d/same/ours/rcc", "H3"), ==, 1);
  /* Sums of squares of 1 .. 6 and of 2, 4 .. 12 about their mean: 1 - 91 / 70. */
  g_assert_cmpfloat_with_epsilon (sc13_told (&book, "transfer/high.halo2d/same/paper/r2", "all"),
                                  1 - 91.0 / 70, 1e-9);
  g_assert_true (isnan (sc13_told (&book, "transfer/high.halo2d/load/ours/rcc", "H3")));
}

/* Two sets of the same mappings, one a hundred times as slow: in units of their means they are the
 * same, and one predicts the other. */
static void
test_normalized (void)
{
  static const char *const both[] = { "16k.halo2d", "large.halo2d", NULL };
  g_autofree char *small = made_up_store ("16k", packet, 30, 1);
  g_autofree char *large = made_up_store ("large", packet, 30, 100);
  g_autoptr (Sc13Stores) stores = read_stores (small, large);
  g_autoptr (Sc13Samples) pool = sc13_pool (stores, "both", both);
  g_auto (Sc13Book) book = { 0 };
  g_autoptr (GError) error = NULL;

  sc13_book_init (&book, NULL);
  g_assert_true (sc13_score (&book, pool, TRUE, &error));
  g_assert_true (sc13_score (&book, pool, FALSE, &error));
  g_assert_no_error (error);
  g_assert_cmpfloat (sc13_told (&book, "score/both_normalized/same/ours/rcc", "max_bytes"), >,
                     0.95);
  /* The features of both sets are equal: they cannot tell a hundredfold. */
  g_assert_cmpfloat (sc13_told (&book, "score/both/same/ours/rcc", "max_bytes"), <, 0.8);
  g_assert_cmpuint (sc13_told_splits (&book, "score/both/same/paper/rcc", "H1")->len, ==, 200);
  g_assert_cmpfloat (sc13_told (&book, "score/both/same/paper/rcc_p5", "H1"), <=,
                     sc13_told (&book, "score/both/same/paper/rcc", "H1"));
  /* Whatever is held out, the least of a set is put first or is near to what is: the next one takes
   * twice as long. */
  g_assert_cmpfloat (sc13_told (&book, "score/both_normalized/same/ours/regret", "max_bytes"), <,
                     1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  fixture_add_test ("/validation/sc13/cases", test_cases, "x", &folder, &path);
  fixture_add_test ("/validation/sc13/one-iteration", test_one_iteration, "x", &folder, &path);
  fixture_add_test ("/validation/sc13/sources-are-whole", test_sources_are_whole, "x", &folder,
                    &path);
  fixture_add_test ("/validation/sc13/pools", test_pools, "x", &folder, &path);
  fixture_add_test ("/validation/sc13/tables", test_tables, "x", &folder, &path);
  fixture_add_test ("/validation/sc13/broken-tables", test_broken_tables, "x", &folder, &path);
  fixture_add_test ("/validation/sc13/one-store-per-study", test_one_store_per_study, "x", &folder,
                    &path);
  fixture_add_test ("/validation/sc13/replicas-and-purposes", test_replicas_and_purposes, "x",
                    &folder, &path);
  fixture_add_test ("/validation/sc13/normalized", test_normalized, "x", &folder, &path);
  fixture_add_test ("/validation/sc13/numbers", test_numbers, "x", &folder, &path);
  fixture_add_test ("/validation/sc13/intervals", test_intervals, "x", &folder, &path);
  fixture_add_test ("/validation/sc13/transfer", test_transfer, "x", &folder, &path);
  return g_test_run ();
}
