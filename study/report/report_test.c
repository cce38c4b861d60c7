/* report_test.c - what is in a report page: read back as a browser would.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * What the page does with it is tested in a browser: cli/study/report_test.sh. */
#include "study/report/report_data.h"

#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>
#include <zlib.h>

/* --- Reading back --- */

static JsonNode *
parse (const char *text)
{
  g_autoptr (GError) error = NULL;
  JsonNode *node = json_from_string (text, &error);

  g_assert_no_error (error);
  g_assert_nonnull (node);
  return node;
}

/* Base64 of a zlib stream; *n bytes. */
static guint8 *
unpack_bytes (const char *text, gsize *n)
{
  gsize size;
  g_autofree guchar *packed = g_base64_decode (text, &size);
  uLongf room = 1 << 22;
  guint8 *bytes = g_malloc (room);

  g_assert_cmpint (uncompress (bytes, &room, packed, size), ==, Z_OK);
  *n = room;
  return bytes;
}

static double *
unpack_values (JsonObject *packed, gsize *n)
{
  g_autofree guint8 *codes = unpack_bytes (json_object_get_string_member (packed, "codes"), n);
  JsonArray *levels = json_object_get_array_member (packed, "levels");
  double *values = g_new (double, *n + 1);

  for (gsize i = 0; i < *n; i++)
    values[i] = json_array_get_double_element (levels, codes[i]);
  return values;
}

/* The text between two marks, the second after the first. */
static char *
between (const char *text, const char *from, const char *to)
{
  const char *start = strstr (text, from), *end;

  g_assert_nonnull (start);
  start += strlen (from);
  end = strstr (start, to);
  g_assert_nonnull (end);
  return g_strndup (start, (gsize) (end - start));
}

/* --- Packing --- */

static JsonObject *
pack_and_parse (const uint64_t *values, gsize n, JsonNode **node)
{
  g_autoptr (GString) json = g_string_new (NULL);

  study_pack_values (json, values, n);
  *node = parse (json->str);
  return json_node_get_object (*node);
}

static void
test_few_values_are_exact (void)
{
  const uint64_t values[] = { 7, 0, G_GUINT64_CONSTANT (1) << 50, 7, 3 };
  g_autoptr (JsonNode) node = NULL;
  JsonObject *packed = pack_and_parse (values, G_N_ELEMENTS (values), &node);
  g_autofree double *got = NULL;
  gsize n;

  g_assert_true (json_object_get_boolean_member (packed, "exact"));
  got = unpack_values (packed, &n);
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
  const gsize n_values = 20000;
  g_autofree uint64_t *values = g_new (uint64_t, n_values);
  g_autoptr (JsonNode) node = NULL;
  g_autofree double *got = NULL;
  JsonObject *packed;
  gsize n;

  for (gsize i = 0; i < n_values; i++)
    values[i] = i % 10 == 0 ? 0 : (uint64_t) pow (10, g_test_rand_double_range (3, 9));
  values[1] = 1000;
  values[2] = 1000000000;
  packed = pack_and_parse (values, n_values, &node);
  g_assert_false (json_object_get_boolean_member (packed, "exact"));
  got = unpack_values (packed, &n);
  g_assert_cmpuint (n, ==, n_values);
  for (gsize i = 0; i < n; i++) {
    g_assert_cmpint (values[i] == 0, ==, got[i] == 0);
    g_assert_cmpfloat (fabs (got[i] - (double) values[i]), <=, 0.029 * (double) values[i]);
  }
  g_assert_cmpfloat (got[1], ==, 1000);
  g_assert_cmpfloat (got[2], ==, 1e9);
}

static void
test_nothing_is_packed (void)
{
  g_autoptr (JsonNode) node = NULL;
  JsonObject *packed = pack_and_parse (NULL, 0, &node);
  g_autofree double *got = NULL;
  gsize n;

  got = unpack_values (packed, &n);
  g_assert_cmpuint (n, ==, 0);
}

static void
test_text_ends_no_script (void)
{
  const char *text = "</script><!-- \"\\ \x01 \xe2\x80\xa8 \xc3\xa9";
  g_autoptr (GString) json = g_string_new (NULL);
  g_autoptr (GString) broken = g_string_new (NULL);
  g_autoptr (JsonNode) node = NULL, second = NULL;

  study_json_string (json, text);
  g_assert_null (strpbrk (json->str, "<>&"));
  node = parse (json->str);
  g_assert_cmpstr (json_node_get_string (node), ==, text);
  study_json_string (broken, "map-\xff");
  second = parse (broken->str);
  g_assert_cmpstr (json_node_get_string (second), ==, "map-\xef\xbf\xbd");
}

/* 512 ranks in 256 bins of two: 3 -> 4 is bin 1 -> 2, 2 -> 5 too, 511 -> 0 is 255 -> 0. */
static void
test_matrix_adds_neighbours (void)
{
  const SimEdge edges[] = { { 2, 5, 1, 10 }, { 3, 4, 2, 100 }, { 511, 0, 1, 7 } };
  g_autoptr (GString) json = g_string_new (NULL);
  g_autoptr (JsonNode) node = NULL;
  g_autofree double *got = NULL;
  JsonObject *matrix;
  double sum = 0;
  gsize n;

  study_report_matrix (json, edges, G_N_ELEMENTS (edges), 512);
  node = parse (json->str);
  matrix = json_node_get_object (node);
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
  g_auto (StudyReportDetail) detail = { NULL, NULL, NULL };
  g_autoptr (GString) json = g_string_new ("{");
  g_autoptr (JsonNode) node = NULL;
  g_autofree guint8 *bytes = NULL;
  JsonObject *ranks;
  float mean;
  gsize n;

  times[6].wait_s = 1;
  times[7].wait_s = 2;
  detail.rank_times = g_bytes_new (times, 1024 * sizeof *times);
  study_report_detail (json, &detail, NULL);
  g_string_append_c (json, '}');
  node = parse (json->str);
  ranks = json_object_get_object_member (json_node_get_object (node), "ranks");
  g_assert_cmpint (json_object_get_int_member (ranks, "n"), ==, 1024);
  bytes = unpack_bytes (json_object_get_string_member (ranks, "wait_s"), &n);
  g_assert_cmpuint (n, ==, 512 * sizeof (float));
  memcpy (&mean, bytes + 3 * sizeof mean, sizeof mean);
#if G_BYTE_ORDER == G_LITTLE_ENDIAN
  g_assert_cmpfloat (mean, ==, 1.5f);
#endif
}

/* --- Pages --- */

static TopoMachine *machine;

static const TopoMachine *
source_machine (void *data, const StudyRow *row, GError **error)
{
  (void) data;
  (void) row;
  (void) error;
  return machine;
}

static SimEdge *
source_edges (void *data, const StudyRow *row, uint64_t *n_edges, GError **error)
{
  (void) data;
  (void) row;
  (void) error;
  *n_edges = 0;
  return NULL;
}

/* Link number + 100. */
static gboolean
source_detail (void *data, StudyRow *row, StudyReportDetail *detail, GError **error)
{
  uint64_t bytes[32];
  GError *failure = data;

  (void) row;
  if (failure) {
    g_propagate_error (error, g_error_copy (failure));
    return FALSE;
  }
  for (uint64_t place = 0; place < G_N_ELEMENTS (bytes); place++)
    bytes[place] = place + 100;
  detail->link_bytes = g_bytes_new (bytes, sizeof bytes);
  return TRUE;
}

static const StudyReportSource source = { source_machine, source_edges, source_detail };

static StudyRow *
row_new (const char *mapping, double time_s)
{
  StudyRow *row = study_row_new ();

  row->key = g_strdup (mapping);
  row->trace = g_strdup ("a <trace> & more");
  row->trace_hash = g_strdup ("hash");
  row->machine = g_strdup ("torus:4x2m");
  row->machine_hash = g_strdup ("hash");
  row->mapping = g_strdup (mapping);
  row->network = g_strdup ("packet");
  row->routing = g_strdup ("default");
  row->grain = g_strdup ("exact");
  row->version = g_strdup ("1.2.3");
  row->ranks = row->nodes = 8;
  row->ranks_per_node = 1;
  row->compute_scale = 1;
  row->time_s = time_s;
  row->status = isnan (time_s) ? STUDY_FAILED : STUDY_DONE;
  row->error = isnan (time_s) ? g_strdup ("it broke </script>") : NULL;
  return row;
}

/* Places: e (1 s), b (2 s), d (3 s), ABT (4 s), c (5 s); f failed. */
static GPtrArray *
rows_new (void)
{
  GPtrArray *rows = g_ptr_array_new_with_free_func ((GDestroyNotify) study_row_free);

  g_ptr_array_add (rows, row_new ("b", 2));
  g_ptr_array_add (rows, row_new ("ABT", 4));
  g_ptr_array_add (rows, row_new ("c", 5));
  g_ptr_array_add (rows, row_new ("d", 3));
  g_ptr_array_add (rows, row_new ("e", 1));
  g_ptr_array_add (rows, row_new ("f", (double) NAN));
  return rows;
}

static char *
page_new (GPtrArray *rows, guint top, GError *failure, GError **error)
{
  const StudyReport report = { .title = "x</title><script>alert(1)</script>@DATA@",
                               .origin = "some.store",
                               .top = top,
                               .source = &source,
                               .data = failure,
                               .rows = rows };
  char *page = NULL;
  size_t size = 0;
  FILE *out = open_memstream (&page, &size);
  gboolean ok = study_report_write (out, &report, error);

  fclose (out);
  if (ok)
    return page;
  g_assert_cmpuint (size, ==, 0);
  free (page);
  return NULL;
}

static char *
good_page (guint top)
{
  g_autoptr (GPtrArray) rows = rows_new ();
  g_autoptr (GError) error = NULL;
  char *page = page_new (rows, top, NULL, &error);

  g_assert_no_error (error);
  return page;
}

static JsonNode *
data_of (const char *page)
{
  g_autofree char *text =
      between (page, "<script type=\"application/json\" id=\"data\">", "</script>");

  return parse (text);
}

static JsonArray *
mappings_of (JsonNode *data)
{
  JsonArray *cases = json_object_get_array_member (json_node_get_object (data), "cases");

  g_assert_cmpuint (json_array_get_length (cases), ==, 1);
  return json_object_get_array_member (json_array_get_object_element (cases, 0), "mappings");
}

/* The best one asked for, the default and the worst have their links in the page. */
static void
test_page_has_the_top (void)
{
  static const char *const names[] = { "e", "b", "d", "ABT", "c" };
  static const gboolean in_detail[] = { TRUE, FALSE, FALSE, TRUE, TRUE };
  g_autofree char *page = good_page (1);
  g_autoptr (JsonNode) data = data_of (page);
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
  g_autofree char *page = good_page (1);
  g_autoptr (JsonNode) data = data_of (page);
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
  g_autofree char *page = good_page (1);
  g_autoptr (JsonNode) data = data_of (page);
  JsonArray *failed = json_object_get_array_member (json_node_get_object (data), "failed");

  g_assert_cmpuint (json_array_get_length (failed), ==, 1);
  g_assert_cmpstr (
      json_object_get_string_member (json_array_get_object_element (failed, 0), "error"), ==,
      "it broke </script>");
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
  g_autofree char *page = good_page (1);
  g_autofree char *policy = between (page, "Content-Security-Policy\" content=\"", "\"");
  g_autofree char *style = between (page, "<style>", "</style>");
  const char *scripts = strstr (page, "<script>");

  g_assert_true (g_str_has_prefix (policy, "default-src 'none';"));
  g_assert_null (strstr (policy, "unsafe"));
  for (guint n = 0; n < 2; n++) {
    g_autofree char *script = between (scripts, "<script>", "</script>");
    g_autofree char *hash = hash_of (script);

    g_assert_nonnull (strstr (policy, hash));
    scripts = strstr (scripts + 1, "<script>");
  }
  g_assert_null (scripts);
  g_free (g_steal_pointer (&policy));
  policy = between (page, "style-src", ";");
  {
    g_autofree char *hash = hash_of (style);

    g_assert_nonnull (strstr (policy, hash));
  }
}

static void
test_text_is_escaped (void)
{
  g_autofree char *page = good_page (1);

  g_assert_nonnull (
      strstr (page, "<title>x&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;@DATA@ - hopcast"));
  g_assert_null (strstr (page, "alert(1)</script>"));
  g_assert_nonnull (strstr (page, "<caption>a &lt;trace&gt; &amp; more"));
}

static void
test_same_bytes (void)
{
  g_autofree char *first = good_page (3);
  g_autofree char *second = good_page (3);

  g_assert_cmpstr (first, ==, second);
  g_assert_cmpuint (strlen (first), <, 1000000);
}

static void
test_no_runs (void)
{
  g_autoptr (GPtrArray) rows = g_ptr_array_new ();
  g_autoptr (GError) error = NULL;
  g_autofree char *page = page_new (rows, 1, NULL, &error);
  g_autoptr (JsonNode) data = NULL;

  g_assert_no_error (error);
  data = data_of (page);
  g_assert_cmpint (json_object_get_int_member (json_node_get_object (data), "runs"), ==, 0);
}

static const TopoMachine *
lost_machine (void *data, const StudyRow *row, GError **error)
{
  (void) data;
  (void) row;
  g_set_error (error, STUDY_ERROR, STUDY_ERROR_CHANGED, "cluster.net changed");
  return NULL;
}

/* The ranking is there, and why there are no links. */
static void
test_machine_is_lost (void)
{
  const StudyReportSource lost = { lost_machine, source_edges, source_detail };
  g_autoptr (GPtrArray) rows = rows_new ();
  g_autoptr (GPtrArray) cases = NULL;
  g_autoptr (GError) error = NULL;
  const StudyReport report = { .title = "t", .top = 5, .source = &lost, .rows = rows };
  g_autoptr (GString) json = NULL;
  g_autoptr (JsonNode) data = NULL;
  JsonArray *machines;

  cases = study_report_cases (&report, &error);
  g_assert_no_error (error);
  json = study_report_data (&report, cases, &error);
  g_assert_no_error (error);
  data = parse (json->str);
  machines = json_object_get_array_member (json_node_get_object (data), "machines");
  g_assert_cmpstr (
      json_object_get_string_member (json_array_get_object_element (machines, 0), "problem"), ==,
      "cluster.net changed");
  g_assert_cmpuint (json_array_get_length (mappings_of (data)), ==, 5);
  g_assert_false (
      json_object_has_member (json_array_get_object_element (mappings_of (data), 0), "links"));
}

/* Nothing is written before all data are there: page_new() looks at the size. */
static void
test_failing_source (void)
{
  g_autoptr (GPtrArray) rows = rows_new ();
  g_autoptr (GError) failure = g_error_new_literal (STUDY_ERROR, STUDY_ERROR_STORE, "torn");
  g_autoptr (GError) error = NULL;

  g_assert_null (page_new (rows, 1, failure, &error));
  g_assert_error (error, STUDY_ERROR, STUDY_ERROR_STORE);
}

int
main (int argc, char **argv)
{
  int status;

  g_test_init (&argc, &argv, NULL);
  machine = topo_machine_new ("torus:4x2m", NULL);
  g_test_add_func ("/study/report/few-values-are-exact", test_few_values_are_exact);
  g_test_add_func ("/study/report/many-values-are-near", test_many_values_are_near);
  g_test_add_func ("/study/report/nothing-is-packed", test_nothing_is_packed);
  g_test_add_func ("/study/report/text-ends-no-script", test_text_ends_no_script);
  g_test_add_func ("/study/report/matrix-adds-neighbours", test_matrix_adds_neighbours);
  g_test_add_func ("/study/report/ranks-are-averaged", test_ranks_are_averaged);
  g_test_add_func ("/study/report/page-has-the-top", test_page_has_the_top);
  g_test_add_func ("/study/report/only-links-that-exist", test_only_links_that_exist);
  g_test_add_func ("/study/report/failures-are-told", test_failures_are_told);
  g_test_add_func ("/study/report/policy-fits", test_policy_fits);
  g_test_add_func ("/study/report/text-is-escaped", test_text_is_escaped);
  g_test_add_func ("/study/report/same-bytes", test_same_bytes);
  g_test_add_func ("/study/report/no-runs", test_no_runs);
  g_test_add_func ("/study/report/machine-is-lost", test_machine_is_lost);
  g_test_add_func ("/study/report/failing-source", test_failing_source);
  status = g_test_run ();
  topo_machine_free (machine);
  return status;
}
