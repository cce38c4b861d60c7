/* row_test.c - rows as columns and as blocks.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/inputs.h"
#include "study/store/row_fields.h"
#include "study/store/store_fixture.h"

#include <math.h>
#include <string.h>

/* The text of a column by its name, for both to be told apart: "-" not known. */
static char *
column (const StudyRow *row, const char *name)
{
  for (guint at = 0; at < study_row_n_columns (TRUE); at++)
    if (!strcmp (study_row_column_name (at), name)) {
      char *text = study_row_column_text (row, at);

      return text != NULL ? text : g_strdup ("-");
    }
  g_assert_not_reached ();
}

static void
assert_column (const StudyRow *row, const char *name, const char *expected)
{
  g_autofree char *text = column (row, name);

  g_assert_cmpstr (text, ==, expected);
}

static void
test_columns (void)
{
  g_autoptr (StudyRow) row = fixture_row (2);
  guint n = study_row_n_columns (TRUE);

  assert_column (row, "key", FIXTURE_KEY ("02"));
  assert_column (row, "ranks", "8");
  assert_column (row, "compute_scale", "1");
  assert_column (row, "status", "done");
  assert_column (row, "error", "-");
  assert_column (row, "time_s", "0.7666666666666666");
  assert_column (row, "message_bytes", "1099511627776");
  assert_column (row, "max_dilation", "2");
  assert_column (row, "avg_FIFO_TO", "6.285714285714286");
  assert_column (row, "compute_s_avg", "-");
  assert_column (row, "warnings", "rank 3: cut; a; b, \"c\"");
  assert_column (row, "wall_s", "0.25");
  g_assert_cmpuint (study_row_n_columns (FALSE), ==, n - 2);
  g_assert_cmpstr (study_row_column_name (n - 2), ==, "wall_s");
  g_assert_cmpstr (study_row_column_name (n - 1), ==, "peak_rss_bytes");
}

/* A run tells only what its network knows, one that failed only its error. */
static void
test_what_is_not_known (void)
{
  g_autoptr (StudyRow) row = fixture_row (1);

  memcpy (row->network, "load", 5);
  assert_column (row, "packets", "-");
  assert_column (row, "events", "-");
  assert_column (row, "messages", "1001");
  memcpy (row->network, "flow", 5);
  assert_column (row, "packet_hops", "-");
  assert_column (row, "events", "11");
  row->status = STUDY_FAILED;
  row->error = g_strdup ("no such file");
  assert_column (row, "messages", "-");
  assert_column (row, "ranks", "8");
  assert_column (row, "error", "no such file");
}

/* All columns and both blobs. */
static void
assert_equal (const StudyRow *left, const StudyRow *right)
{
  for (guint at = 0; at < study_row_n_columns (TRUE); at++) {
    g_autofree char *a = study_row_column_text (left, at);
    g_autofree char *b = study_row_column_text (right, at);

    g_assert_cmpstr (a, ==, b);
  }
  g_assert_true ((left->link_bytes == NULL) == (right->link_bytes == NULL));
  if (left->link_bytes != NULL)
    g_assert_true (g_bytes_equal (left->link_bytes, right->link_bytes));
  g_assert_true ((left->rank_times == NULL) == (right->rank_times == NULL));
  if (left->rank_times != NULL)
    g_assert_true (g_bytes_equal (left->rank_times, right->rank_times));
}

/* As it goes through a pipe: bytes without a type, at any address. */
static StudyRow *
sent (const StudyRow *row)
{
  g_autoptr (GVariant) block = study_row_pack (row);
  g_autoptr (GBytes) data = g_variant_get_data_as_bytes (block);
  g_autoptr (GVariant) received = g_variant_new_from_bytes (STUDY_ROW_BLOCK, data, FALSE);

  return study_row_unpack (received);
}

static void
test_blocks (void)
{
  g_autoptr (StudyRow) full = fixture_row (5), empty = study_row_new ();
  g_autoptr (StudyRow) full_back = sent (full), empty_back = sent (empty);

  g_assert_nonnull (full_back);
  g_assert_nonnull (empty_back);
  assert_equal (full, full_back);
  assert_equal (empty, empty_back);
}

/* A block that was cut anywhere is refused or a row, never a crash. */
static void
test_broken_blocks (void)
{
  g_autoptr (StudyRow) row = fixture_row (5);
  g_autoptr (GVariant) block = study_row_pack (row), other = NULL;
  g_autoptr (GBytes) data = g_variant_get_data_as_bytes (block);

  for (gsize length = 0; length < g_bytes_get_size (data); length += 7) {
    g_autoptr (GBytes) cut = g_bytes_new_from_bytes (data, 0, length);
    g_autoptr (GVariant) broken =
        g_variant_ref_sink (g_variant_new_from_bytes (STUDY_ROW_BLOCK, cut, FALSE));

    g_assert_null (study_row_unpack (broken));
  }
  other = g_variant_ref_sink (g_variant_new_string ("no row"));
  g_assert_null (study_row_unpack (other));
}

/* Two ranks, times worked out by hand. */
static void
test_take (void)
{
  g_autoptr (TopoMachine) machine = topo_machine_new ("torus:2m", NULL);
  g_autoptr (StudyRow) row = fixture_row (0);
  SimRankTimes ranks[] = { { .end_ps = 3000000, .compute_ps = 1000000, .wait_ps = 500000 },
                           { .end_ps = 4000000, .compute_ps = 3000000, .wait_ps = 100000 } };
  SimRun run = { .result = { .time_ps = 4000000, .ranks = ranks, .n_ranks = 2, .messages = 3 },
                 .counters = sim_counters_new (machine),
                 .warnings = g_ptr_array_new () };
  const StudyRankTimes *times;
  const uint64_t *bytes;

  run.counters->link[1].payload_bytes = 77;
  run.features[SIM_FEATURE_MAX_BYTES] = 77;
  g_ptr_array_add (run.warnings, (char *) "odd");
  row->error = g_strdup ("gone");
  study_row_take (row, &run, SIM_NETWORK_PACKET, TRUE, TRUE);
  assert_column (row, "error", "-");
  assert_column (row, "time_s", "4e-06");
  assert_column (row, "compute_s_avg", "2e-06");
  assert_column (row, "wait_s_avg", "3e-07");
  assert_column (row, "wait_s_max", "5e-07");
  assert_column (row, "max_bytes", "77");
  assert_column (row, "links", "2");
  assert_column (row, "warnings", "odd");
  bytes = g_bytes_get_data (row->link_bytes, NULL);
  g_assert_cmpuint (g_bytes_get_size (row->link_bytes), ==,
                    run.counters->n_places * sizeof (uint64_t));
  g_assert_cmpuint (bytes[0], ==, 0);
  g_assert_cmpuint (bytes[1], ==, 77);
  times = g_bytes_get_data (row->rank_times, NULL);
  g_assert_cmpfloat (times[0].end_s, ==, 3e-6);
  g_assert_cmpfloat (times[1].compute_s, ==, 3e-6);
  g_assert_cmpfloat (times[1].wait_s, ==, 1e-7);
  study_row_take (row, &run, SIM_NETWORK_LOAD, FALSE, TRUE);
  g_assert_null (row->link_bytes);
  g_assert_null (row->rank_times);
  sim_counters_free (run.counters);
  g_ptr_array_unref (run.warnings);
}

/* Machines are known by what they are, mappings by where the ranks are. */
static void
test_hashes (void)
{
  static const char *const one[] = { "link.hop_latency=50ns", NULL };
  const StudyMachineInputs inputs[] = {
    { "torus:2x4", G_MININT, NULL, G_MININT, NULL },
    { "torus:2x4", 2, NULL, G_MININT, NULL },
    { "torus:4x2", G_MININT, NULL, G_MININT, NULL },
    { "torus:2x4", G_MININT, NULL, G_MININT, one },
    { "systemg:4", G_MININT, NULL, G_MININT, NULL },
    { "systemg:4", 2, NULL, G_MININT, NULL },
    { "systemg:4", 2, "scatter", G_MININT, NULL },
    { "systemg:4,routes=updn", 2, NULL, G_MININT, NULL },
    { "systemg:5", 2, NULL, G_MININT, NULL },
  };
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (TopoMachine) machine = NULL;
  g_autoptr (TopoMapping) ab = NULL, ba = NULL;
  g_autofree char *ab_hash = NULL, *ba_hash = NULL;

  for (gsize at = 0; at < G_N_ELEMENTS (inputs); at++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (TopoMachine) first = study_machine_new (&inputs[at], &error);
    g_autoptr (TopoMachine) again = study_machine_new (&inputs[at], &error);
    g_autofree char *hash = NULL;

    g_assert_no_error (error);
    hash = study_machine_hash (again);
    g_assert_true (g_hash_table_add (seen, study_machine_hash (first)));
    g_assert_true (g_hash_table_contains (seen, hash));
  }
  machine = study_machine_new (&inputs[1], NULL);
  ab = study_mapping_new ("ABT", machine, 16, NULL);
  ba = study_mapping_new ("BAT", machine, 16, NULL);
  ab_hash = study_mapping_hash (ab);
  ba_hash = study_mapping_hash (ba);
  g_assert_cmpstr (ab_hash, !=, ba_hash);
  g_free (ba->name);
  memcpy (ba->node, ab->node, 16 * sizeof *ba->node);
  memcpy (ba->slot, ab->slot, 16);
  ba->name = g_strdup ("other");
  g_free (ba_hash);
  ba_hash = study_mapping_hash (ba);
  g_assert_cmpstr (ab_hash, ==, ba_hash);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/row/columns", test_columns);
  g_test_add_func ("/row/what-is-not-known", test_what_is_not_known);
  g_test_add_func ("/row/blocks", test_blocks);
  g_test_add_func ("/row/broken-blocks", test_broken_blocks);
  g_test_add_func ("/row/take", test_take);
  g_test_add_func ("/row/hashes", test_hashes);
  return g_test_run ();
}
