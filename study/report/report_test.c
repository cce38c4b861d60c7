/* report_test.c - what is in a report page: read back as a browser would.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * What the page does with it is tested in a browser: cli/study/report_test.sh. */
#include "study/report/report.h"

#include "study/inputs.h"
#include "study/report/page_fixture.h"
#include "study/store/store_fixture.h"

#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

/* --- Reading back --- */

static double *
unpack_values (JsonObject *packed, gsize *n)
{
  g_autofree guint8 *codes = page_unpack (json_object_get_string_member (packed, "codes"), n);
  JsonArray *levels = json_object_get_array_member (packed, "levels");
  double *values = g_new (double, *n + 1);

  for (gsize i = 0; i < *n; i++)
    values[i] = json_array_get_double_element (levels, codes[i]);
  return values;
}

static JsonArray *
mappings_of (JsonNode *data)
{
  JsonArray *cases = json_object_get_array_member (json_node_get_object (data), "cases");

  g_assert_cmpuint (json_array_get_length (cases), ==, 1);
  return json_object_get_array_member (json_array_get_object_element (cases, 0), "mappings");
}

/* --- Pages of one run --- */

static StudyRow *
run_row (void)
{
  StudyRow *row = fixture_row (0);

  g_clear_pointer (&row->link_bytes, g_bytes_unref);
  g_clear_pointer (&row->rank_times, g_bytes_unref);
  return row;
}

/* The data of its page. */
static JsonNode *
data_of_run (StudyRow *row, const char *spec, const SimEdges *edges)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (TopoMachine) machine = topo_machine_new (spec, &error);
  g_autoptr (TopoMapping) mapping = NULL;
  g_autofree char *page = NULL;
  size_t size;
  FILE *out = open_memstream (&page, &size);

  g_assert_no_error (error);
  mapping = topo_mapping_new (NULL, machine, 1, &error);
  g_assert_no_error (error);
  study_report_write_run (out, row, machine, mapping, edges, "a run", &error);
  g_assert_no_error (error);
  fclose (out);
  return page_data (page);
}

/* The values of all links as the page has them; *exact: without rounding. */
static double *
pack_links (const char *spec, const uint64_t *values, gsize n_values, gboolean *exact, gsize *n)
{
  g_autoptr (StudyRow) row = run_row ();
  g_autoptr (JsonNode) data = NULL;
  JsonObject *packed;

  row->link_bytes = g_bytes_new (values, n_values * sizeof *values);
  data = data_of_run (row, spec, NULL);
  packed = json_object_get_object_member (json_array_get_object_element (mappings_of (data), 0),
                                          "links");
  *exact = json_object_get_boolean_member (packed, "exact");
  return unpack_values (packed, n);
}

static void
test_few_values_are_exact (void)
{
  const uint64_t values[] = { 7, 0, G_GUINT64_CONSTANT (1) << 50, 7, 3, 9 };
  g_autofree double *got = NULL;
  gboolean exact;
  gsize n;

  got = pack_links ("torus:3", values, G_N_ELEMENTS (values), &exact, &n);
  g_assert_true (exact);
  g_assert_cmpuint (n, ==, G_N_ELEMENTS (values));
  for (gsize i = 0; i < n; i++)
    g_assert_cmpfloat (got[i], ==, (double) values[i]);
}

/* 255 levels from 1,000 to 1e9 are factors of 1e6^(1/254) = 1.0559 apart: at
 * most 1.0559^0.5 - 1 = 2.8 % off when rounded to the nearest by ratio; rounded to
 * the nearest by difference at most 0.0559 / 2 / 1 = 2.8 % too. */
static void
test_many_values_are_near (void)
{
  const gsize n_values = 16 * 16 * 16 * 6;
  g_autofree uint64_t *values = g_new (uint64_t, n_values);
  g_autofree double *got = NULL;
  gboolean exact;
  gsize n;

  for (gsize i = 0; i < n_values; i++)
    values[i] = i % 10 == 0 ? 0 : (uint64_t) pow (10, g_test_rand_double_range (3, 9));
  values[1] = 1000;
  values[2] = 1000000000;
  got = pack_links ("torus:16x16x16", values, n_values, &exact, &n);
  g_assert_false (exact);
  g_assert_cmpuint (n, ==, n_values);
  for (gsize i = 0; i < n; i++) {
    g_assert_cmpint (values[i] == 0, ==, got[i] == 0);
    g_assert_cmpfloat (fabs (got[i] - (double) values[i]), <=, 0.029 * (double) values[i]);
  }
  g_assert_cmpfloat (got[1], ==, 1000);
  g_assert_cmpfloat (got[2], ==, 1e9);
}

/* A node alone has ports, and no links. */
static void
test_nothing_is_packed (void)
{
  const uint64_t values[] = { 1, 2 };
  g_autofree double *got = NULL;
  gboolean exact;
  gsize n;

  got = pack_links ("torus:1m", values, G_N_ELEMENTS (values), &exact, &n);
  g_assert_true (exact);
  g_assert_cmpuint (n, ==, 0);
}

/* data_of() sees that no character of it ends a script. */
static void
test_text_is_kept (void)
{
  const char *text = "</script><!-- \"\\ \x01 \xe2\x80\xa8 \xc3\xa9 &amp;";
  g_autoptr (StudyRow) row = run_row ();
  g_autoptr (JsonNode) data = NULL;
  JsonArray *traces;

  g_free (row->trace);
  g_free (row->mapping);
  row->trace = g_strdup (text);
  row->mapping = g_strdup ("map-\xff");
  data = data_of_run (row, "torus:4", NULL);
  traces = json_object_get_array_member (json_node_get_object (data), "traces");
  g_assert_cmpstr (
      json_object_get_string_member (json_array_get_object_element (traces, 0), "name"), ==, text);
  g_assert_cmpstr (
      json_object_get_string_member (json_array_get_object_element (mappings_of (data), 0), "name"),
      ==, "map-\xef\xbf\xbd");
}

/* 512 ranks in 256 bins of two: 3 -> 4 is bin 1 -> 2, 2 -> 5 too, 511 -> 0 is 255 -> 0. */
static void
test_matrix_adds_neighbours (void)
{
  g_autoptr (StudyRow) row = run_row ();
  SimEdges *edges = sim_edges_new (512);
  g_autoptr (JsonNode) data = NULL;
  g_autofree double *got = NULL;
  JsonArray *traces;
  JsonObject *matrix;
  double sum = 0;
  gsize n;

  row->ranks = 512;
  sim_edges_add (edges, 2, 5, 1, 10);
  sim_edges_add (edges, 3, 4, 2, 100);
  sim_edges_add (edges, 511, 0, 1, 7);
  data = data_of_run (row, "torus:4", edges);
  sim_edges_free (edges);
  traces = json_object_get_array_member (json_node_get_object (data), "traces");
  matrix = json_object_get_object_member (json_array_get_object_element (traces, 0), "matrix");
  g_assert_cmpint (json_object_get_int_member (matrix, "n"), ==, 256);
  got = unpack_values (json_object_get_object_member (matrix, "bytes"), &n);
  g_assert_cmpuint (n, ==, 256 * 256);
  g_assert_cmpfloat (got[1 * 256 + 2], ==, 110);
  g_assert_cmpfloat (got[255 * 256], ==, 7);
  for (gsize i = 0; i < n; i++)
    sum += got[i];
  g_assert_cmpfloat (sum, ==, 117);
}

/* 1,024 ranks in 512 bins: bin 3 is ranks 6 and 7. */
static void
test_ranks_are_averaged (void)
{
  g_autofree StudyRankTimes *times = g_new0 (StudyRankTimes, 1024);
  g_autoptr (StudyRow) row = run_row ();
  g_autoptr (JsonNode) data = NULL;
  g_autofree guint8 *bytes = NULL;
  JsonObject *ranks;
  float mean;
  gsize n;

  times[6].wait_s = 1;
  times[7].wait_s = 2;
  row->rank_times = g_bytes_new (times, 1024 * sizeof *times);
  data = data_of_run (row, "torus:4", NULL);
  ranks = json_object_get_object_member (json_array_get_object_element (mappings_of (data), 0),
                                         "ranks");
  g_assert_cmpint (json_object_get_int_member (ranks, "n"), ==, 1024);
  bytes = page_unpack (json_object_get_string_member (ranks, "wait_s"), &n);
  g_assert_cmpuint (n, ==, 512 * sizeof (float));
  memcpy (&mean, bytes + 3 * sizeof mean, sizeof mean);
#if G_BYTE_ORDER == G_LITTLE_ENDIAN
  g_assert_cmpfloat (mean, ==, 1.5f);
#endif
}

/* --- Pages of stores --- */

static char *folder, *path;

#define SPEC "torus:4x2m"

/* On SPEC, with link number + 100 on the links. */
static StudyRow *
row_new (guint number, const char *mapping, double time_s)
{
  StudyRow *row = fixture_row (number);
  uint64_t bytes[32];

  for (uint64_t place = 0; place < G_N_ELEMENTS (bytes); place++)
    bytes[place] = place + 100;
  g_bytes_unref (row->link_bytes);
  row->link_bytes = g_bytes_new (bytes, sizeof bytes);
  g_free (row->trace);
  row->trace = g_strdup ("a <trace> & more");
  g_free (row->machine);
  row->machine = g_strdup (SPEC);
  g_free (row->mapping);
  row->mapping = g_strdup (mapping);
  row->nodes = 8;
  row->links = 24;
  row->time_s = time_s;
  row->seed = 0;
  row->status = isnan (time_s) ? STUDY_FAILED : STUDY_DONE;
  row->error = isnan (time_s) ? g_strdup ("it broke </script>") : NULL;
  return row;
}

typedef enum { WHOLE, NO_MACHINE, NO_PLACES, NO_RUNS } StoreKind;

/* Places: e (1 s), b (2 s), d (3 s), ABT (4 s), c (5 s); f failed. */
static StudyStore *
store_new (StoreKind kind)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (TopoMachine) machine = topo_machine_new (SPEC, &error);
  g_autoptr (TopoMapping) mapping = topo_mapping_new (NULL, machine, 8, &error);
  g_autofree char *text = study_machine_text (machine), *hash = study_machine_hash (machine);
  g_autofree char *places = study_mapping_hash (mapping);
  StudyStore *store = fixture_open (path, STUDY_STORE_CREATE);
  StudyRow *rows[] = { row_new (0, "b", 2), row_new (1, "ABT", 4), row_new (2, "c", 5),
                       row_new (3, "d", 3), row_new (4, "e", 1),   row_new (5, "f", (double) NAN) };
  guint n = kind == NO_RUNS ? 0 : G_N_ELEMENTS (rows);

  if (kind != NO_MACHINE)
    g_assert_true (study_store_put_machine (store, hash, text, NULL));
  if (kind != NO_PLACES)
    fixture_put_places (store, places, mapping);
  for (guint at = 0; at < G_N_ELEMENTS (rows); at++) {
    g_free (rows[at]->machine_hash);
    rows[at]->machine_hash = g_strdup (hash);
    g_free (rows[at]->mapping_hash);
    rows[at]->mapping_hash = g_strdup (places);
  }
  g_assert_true (study_store_set_plan (store, "little", "[study]\n", rows, n, NULL));
  g_assert_true (fixture_put (store, rows, n, NULL));
  for (guint at = 0; at < G_N_ELEMENTS (rows); at++)
    study_row_free (rows[at]);
  return store;
}

/* NULL and *error: nothing was written. */
static char *
page_of_store (StoreKind kind, guint top, GError **error)
{
  g_autoptr (StudyStore) store = store_new (kind);
  char *page = NULL;
  size_t size = 0;
  FILE *out = open_memstream (&page, &size);
  gboolean ok = study_report_write_store (out, store, "x</title><script>alert(1)</script>@DATA@",
                                          NULL, top, error);

  fclose (out);
  if (ok)
    return page;
  g_assert_cmpuint (size, ==, 0);
  free (page);
  return NULL;
}

static char *
good_page (StoreKind kind, guint top)
{
  g_autoptr (GError) error = NULL;
  char *page = page_of_store (kind, top, &error);

  g_assert_no_error (error);
  return page;
}

/* The best one asked for, the default and the worst have their links in the page. */
static void
test_page_has_the_top (void)
{
  static const char *const names[] = { "e", "b", "d", "ABT", "c" };
  static const gboolean in_detail[] = { TRUE, FALSE, FALSE, TRUE, TRUE };
  g_autofree char *page = good_page (WHOLE, 1);
  g_autoptr (JsonNode) data = page_data (page);
  JsonArray *mappings = mappings_of (data);

  g_assert_cmpuint (json_array_get_length (mappings), ==, G_N_ELEMENTS (names));
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    JsonObject *mapping = json_array_get_object_element (mappings, i);

    g_assert_cmpstr (json_object_get_string_member (mapping, "name"), ==, names[i]);
    g_assert_cmpint (json_object_has_member (mapping, "links"), ==, in_detail[i]);
    g_assert_cmpint (json_object_get_int_member (mapping, "place"), ==, i + 1);
    g_assert_cmpfloat (json_object_get_double_member (mapping, "gain"), ==,
                       4 / json_object_get_double_member (mapping, "value"));
  }
}

/* torus:4x2m has 4 * 2 * 2 links along A and, the mesh being open, 4 * 2 along B.  Node 0
 * has A-, A+ and B+ (0, 1, 3), node 1 has A-, A+ and B- (4, 5, 6). */
static void
test_only_links_that_exist (void)
{
  static const double expected[] = { 100, 101, 103, 104, 105, 106, 108 };
  g_autofree char *page = good_page (WHOLE, 1);
  g_autoptr (JsonNode) data = page_data (page);
  JsonObject *best = json_array_get_object_element (mappings_of (data), 0);
  g_autofree double *got = NULL;
  gsize n;

  got = unpack_values (json_object_get_object_member (best, "links"), &n);
  g_assert_cmpuint (n, ==, 24);
  for (gsize i = 0; i < G_N_ELEMENTS (expected); i++)
    g_assert_cmpfloat (got[i], ==, expected[i]);
}

static void
test_failures_are_told (void)
{
  g_autofree char *page = good_page (WHOLE, 1);
  g_autoptr (JsonNode) data = page_data (page);
  JsonArray *failed = json_object_get_array_member (json_node_get_object (data), "failed");

  g_assert_cmpuint (json_array_get_length (failed), ==, 1);
  g_assert_cmpstr (
      json_object_get_string_member (json_array_get_object_element (failed, 0), "error"), ==,
      "it broke </script>");
}

/* Paragraphs at the top, whatever is in them; without any there is no section. */
static void
test_advice (void)
{
  g_autofree char *plain = good_page (WHOLE, 1);
  g_autoptr (StudyStore) store = store_new (WHOLE);
  g_autoptr (GPtrArray) advice = g_ptr_array_new ();
  g_autoptr (GError) error = NULL;
  char *page = NULL;
  size_t size = 0;
  FILE *out = open_memstream (&page, &size);

  g_ptr_array_add (advice, (gpointer) "Launch with <e> & not with @DATA@.");
  g_assert_true (study_report_write_store (out, store, NULL, advice, 1, &error));
  g_assert_no_error (error);
  fclose (out);
  g_assert_nonnull (
      strstr (page, "<p>Launch with &lt;e&gt; &amp; not with @DATA@.</p>\n</section>"));
  g_assert_null (strstr (plain, "id=\"advice\""));
  free (page);
}

static char *
hash_of (const char *text)
{
  g_autoptr (GChecksum) checksum = g_checksum_new (G_CHECKSUM_SHA256);
  guint8 digest[32];
  gsize size = sizeof digest;
  g_autofree char *encoded = NULL;

  g_checksum_update (checksum, (const guchar *) text, -1);
  g_checksum_get_digest (checksum, digest, &size);
  encoded = g_base64_encode (digest, size);
  return g_strdup_printf ("'sha256-%s'", encoded);
}

/* The policy names what stands in the page, and lets nothing else in. */
static void
test_policy_fits (void)
{
  g_autofree char *page = good_page (WHOLE, 1);
  g_autofree char *policy = page_between (page, "Content-Security-Policy\" content=\"", "\"");
  g_autofree char *style = page_between (page, "<style>", "</style>");
  const char *scripts = strstr (page, "<script>");

  g_assert_true (g_str_has_prefix (policy, "default-src 'none';"));
  g_assert_null (strstr (policy, "unsafe"));
  for (guint n = 0; n < 2; n++) {
    g_autofree char *script = page_between (scripts, "<script>", "</script>");
    g_autofree char *hash = hash_of (script);

    g_assert_nonnull (strstr (policy, hash));
    scripts = strstr (scripts + 1, "<script>");
  }
  g_assert_null (scripts);
  g_free (g_steal_pointer (&policy));
  policy = page_between (page, "style-src", ";");
  {
    g_autofree char *hash = hash_of (style);

    g_assert_nonnull (strstr (policy, hash));
  }
}

static void
test_text_is_escaped (void)
{
  g_autofree char *page = good_page (WHOLE, 1);

  g_assert_nonnull (
      strstr (page, "<title>x&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;@DATA@ - hopcast"));
  g_assert_null (strstr (page, "alert(1)</script>"));
  g_assert_nonnull (strstr (page, "<caption>a &lt;trace&gt; &amp; more"));
}

static void
test_same_bytes (void)
{
  g_autofree char *first = good_page (WHOLE, 3);
  g_autofree char *second = good_page (WHOLE, 3);

  g_assert_cmpstr (first, ==, second);
  g_assert_cmpuint (strlen (first), <, 1000000);
}

static void
test_no_runs (void)
{
  g_autofree char *page = good_page (NO_RUNS, 1);
  g_autoptr (JsonNode) data = page_data (page);

  g_assert_cmpint (json_object_get_int_member (json_node_get_object (data), "runs"), ==, 0);
}

/* The ranking is there, and why there are no links. */
static void
test_machine_is_lost (void)
{
  g_autofree char *page = good_page (NO_MACHINE, 5);
  g_autoptr (JsonNode) data = page_data (page);
  JsonArray *machines = json_object_get_array_member (json_node_get_object (data), "machines");
  JsonObject *machine = json_array_get_object_element (machines, 0);

  g_assert_nonnull (strstr (json_object_get_string_member (machine, "problem"), "was not kept"));
  g_assert_cmpuint (json_array_get_length (mappings_of (data)), ==, 5);
  g_assert_false (
      json_object_has_member (json_array_get_object_element (mappings_of (data), 0), "links"));
}

/* Nothing is written before all data are there: page_of_store() looks at the size. */
static void
test_places_are_lost (void)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (page_of_store (NO_PLACES, 1, &error));
  g_assert_error (error, STUDY_ERROR, STUDY_ERROR_STORE);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/study/report/few-values-are-exact", test_few_values_are_exact);
  g_test_add_func ("/study/report/many-values-are-near", test_many_values_are_near);
  g_test_add_func ("/study/report/nothing-is-packed", test_nothing_is_packed);
  g_test_add_func ("/study/report/text-is-kept", test_text_is_kept);
  g_test_add_func ("/study/report/matrix-adds-neighbours", test_matrix_adds_neighbours);
  g_test_add_func ("/study/report/ranks-are-averaged", test_ranks_are_averaged);
#define ADD(name, test) fixture_add_test (name, test, "a.store", &folder, &path)
  ADD ("/study/report/page-has-the-top", test_page_has_the_top);
  ADD ("/study/report/only-links-that-exist", test_only_links_that_exist);
  ADD ("/study/report/failures-are-told", test_failures_are_told);
  ADD ("/study/report/advice", test_advice);
  ADD ("/study/report/policy-fits", test_policy_fits);
  ADD ("/study/report/text-is-escaped", test_text_is_escaped);
  ADD ("/study/report/same-bytes", test_same_bytes);
  ADD ("/study/report/no-runs", test_no_runs);
  ADD ("/study/report/machine-is-lost", test_machine_is_lost);
  ADD ("/study/report/places-are-lost", test_places_are_lost);
  return g_test_run ();
}
