/* film_test.c - link loads over time: CSV by hand, the frames of its page, and files that are none.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * What the page does with them is tested in a browser: cli/study/report_test.sh. */
#include "study/report/film.h"

#include "base/error.h"
#include "study/report/page_fixture.h"
#include "study/study_error.h"

#include <glib/gstdio.h>
#include <string.h>

#define TORUS  "begin_us,A,B,port,payload_bytes,wire_bytes,busy_share\n"
#define FABRIC "begin_us,link,from,from_port,to,to_port,payload_bytes,wire_bytes,busy_share\n"

/* The page of a file of that text; NULL and *error: nothing was written. */
static char *
page_of (const char *text, GError **error)
{
  g_autofree char *folder = g_dir_make_tmp ("hopcast-film-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "over.csv", NULL);
  char *page = NULL;
  size_t size = 0;
  FILE *out = open_memstream (&page, &size);
  gboolean good;

  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  good = study_film_write (out, path, NULL, error);
  fclose (out);
  g_assert_true (good || size == 0);
  g_unlink (path);
  g_rmdir (folder);
  if (good)
    return page;
  free (page);
  return NULL;
}

static JsonNode *
data_of (const char *text)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *page = page_of (text, &error);

  g_assert_no_error (error);
  return page_data (page);
}

static guint8 *
codes_of (JsonObject *film, gsize expected)
{
  gsize n;
  guint8 *codes = page_unpack (json_object_get_string_member (film, "codes"), &n);

  g_assert_cmpuint (n, ==, expected);
  return codes;
}

static void
assert_json (JsonObject *object, const char *name, const char *expected)
{
  g_autofree char *text = json_to_string (json_object_get_member (object, name), FALSE);

  g_assert_cmpstr (text, ==, expected);
}

/* At 2 GB/s 20,000 bytes fill 10 us, the largest step between 0, 30 and 50 us.  Node (1,0) is number 2 of
 * 2 x 2, each of four ports. */
static void
test_torus (void)
{
  static const guint8 expected[6][3] = { { 51, 5, 0 },  { 0 }, { 0 },
                                         { 255, 0, 0 }, { 0 }, { 0, 0, 102 } };
  static const guint32 places[] = { 1, 8, 6 };
  g_autoptr (JsonNode) data = data_of (TORUS "0,0,0,A+,500,2000,0.1\n"
                                             "0,1,0,A-,0,200,0.01\n"
                                             "30,0,0,A+,9000,10000,0.5\n"
                                             "50,0,1,B-,2000,4000,0.2\n");
  JsonObject *film = json_node_get_object (data);
  JsonObject *machine = json_object_get_object_member (film, "machine");
  g_autofree guint8 *codes = codes_of (film, sizeof expected), *ports = NULL;
  gsize n;

  g_assert_cmpmem (codes, sizeof expected, expected, sizeof expected);
  assert_json (film, "wire_bytes", "[2200,0,0,10000,0,4000]");
  assert_json (film, "every_us", "10");
  assert_json (film, "frames", "6");
  assert_json (film, "links", "3");
  assert_json (film, "most", "0.5");
  assert_json (machine, "shape", "[2,2]");
  ports = page_unpack (json_object_get_string_member (machine, "ports"), &n);
  g_assert_cmpuint (n, ==, sizeof places);
  for (guint link = 0; link < G_N_ELEMENTS (places); link++)
    g_assert_cmpuint (GUINT32_FROM_LE (((const guint32 *) (const void *) ports)[link]), ==,
                      places[link]);
}

/* Devices in the order of the numbers in their names; leaf10 has two neighbours and is the switch. */
static void
test_fabric (void)
{
  g_autoptr (JsonNode) data =
      data_of (FABRIC "0,\"leaf10 port 1 -> a, b port 1\",leaf10,1,\"a, b\",1,0,100,0.1\n"
                      "0,leaf10 port 2 -> leaf2 port 7,leaf10,2,leaf2,7,0,100,0.1\n");
  JsonObject *film = json_node_get_object (data);
  JsonObject *machine = json_object_get_object_member (film, "machine");

  assert_json (machine, "devices", "[[\"a, b\",0,1],[\"leaf2\",0,7],[\"leaf10\",1,2]]");
  assert_json (machine, "links", "[2,1,0,1,2,2,1,7]");
  assert_json (film, "every_us", "0");
  assert_json (film, "frames", "1");
}

/* 5,000 intervals are 1,667 frames of three, the last of two: means of 0.1, 0.3, 0.1 and 0.3, 0.1, 0.3, and
 * of 0.1 and 0.3.  The largest, 0.2333, is step 255. */
static void
test_merged (void)
{
  g_autoptr (GString) text = g_string_new (TORUS);
  g_autoptr (JsonNode) data = NULL;
  g_autofree guint8 *codes = NULL;
  JsonObject *film;

  for (guint i = 0; i < 5000; i++)
    g_string_append_printf (text, "%u,0,0,B+,0,%s\n", i, i % 2 == 0 ? "200,0.1" : "600,0.3");
  data = data_of (text->str);
  film = json_node_get_object (data);
  assert_json (film, "merged", "3");
  assert_json (film, "intervals", "5000");
  codes = codes_of (film, 1667);
  g_assert_cmpuint (codes[0], ==, 182);
  g_assert_cmpuint (codes[1], ==, 255);
  g_assert_cmpuint (codes[1666], ==, 219);
}

static void
test_nothing_sent (void)
{
  g_autoptr (JsonNode) data = data_of (TORUS);

  assert_json (json_node_get_object (data), "links", "0");
  assert_json (json_node_get_object (data), "frames", "0");
}

static void
test_other_files (void)
{
  static const struct {
    const char *text, *words;
  } wrong[] = {
    { "", ":1: not the columns of a file that --links-over-time wrote" },
    { "A,B,C,port,payload_bytes\n0,0,0,A+,1\n", ":1: not the columns" },
    { "begin_us,B,port,payload_bytes,wire_bytes,busy_share\n", ":1: not the columns" },
    { TORUS "0,0,0,A+,0,200\n", ":2: fewer than the 7 cells" },
    { TORUS "0,0,0,A+,0,200,0.1,7\n", ":2: more than the 7 cells" },
    { TORUS "0,0,0,C+,0,200,0.1\n", ":2: column \"port\": \"C+\" is no port of a torus of 2" },
    { TORUS "0,0,0,A,0,200,0.1\n", ":2: column \"port\"" },
    { TORUS "x,0,0,A+,0,200,0.1\n", ":2: column \"begin_us\": \"x\" is not a number" },
    { TORUS "-1,0,0,A+,0,200,0.1\n", ":2: column \"begin_us\"" },
    { TORUS "1e10,0,0,A+,0,200,0.1\n", ":2: column \"begin_us\"" },
    { TORUS "0,0.5,0,A+,0,200,0.1\n", ":2: column \"A\": 0.5 is not whole" },
    { TORUS "0,0,70000,A+,0,200,0.1\n", ":2: column \"B\"" },
    { TORUS "0,0,0,A+,0,nan,0.1\n", ":2: column \"wire_bytes\"" },
    { TORUS "0,0,0,A+,201,200,0.1\n", ":2: wire_bytes are less" },
    { TORUS "0,0,0,A+,0,200,0.1\n\n0,0,0,A+,0,200,0.1\n",
      ":4: the interval has had a line of this link" },
    { TORUS "9,0,0,A+,0,200,0.1\n8,0,0,A-,0,200,0.1\n",
      ":3: column \"begin_us\": the interval begins" },
    /* The last line has lost a digit. */
    { TORUS "0,0,0,A+,0,200,0.125\n1,0,0,A+,0,200,0.12",
      ":3: column \"busy_share\": 0.12 does not go with the wire_bytes as on line 2" },
    { TORUS "0,65535,65535,A+,0,200,0.1\n", "a torus of more than" },
    { FABRIC "0,x,a,0,b,1,0,100,0.1\n", ":2: column \"from_port\"" },
    { FABRIC "0,,a,1,b,1,0,100,0.1\n", ":2: column \"link\": is empty" },
    { FABRIC "0,\"x,a,1,b,1,0,100,0.1\n", ":2: column \"link\": a quote that does not end" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *page = page_of (wrong[i].text, &error);

    g_assert_null (page);
    g_assert_true (error->domain == BASE_ERROR || error->domain == STUDY_ERROR);
    if (strstr (error->message, wrong[i].words) == NULL ||
        strstr (error->message, "over.csv:") == NULL)
      g_error ("\"%s\" is not in \"%s\"", wrong[i].words, error->message);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/study/film/torus", test_torus);
  g_test_add_func ("/study/film/fabric", test_fabric);
  g_test_add_func ("/study/film/merged", test_merged);
  g_test_add_func ("/study/film/nothing-sent", test_nothing_sent);
  g_test_add_func ("/study/film/other-files", test_other_files);
  return g_test_run ();
}
