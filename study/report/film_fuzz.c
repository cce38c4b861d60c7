/* film_fuzz.c - any bytes as a file of link loads over time.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * What is read becomes a page whose data are JSON with a byte for each link and frame. */
#include ".ci/fuzzing.h"
#include "base/error.h"
#include "study/report/film.h"
#include "study/report/page_fixture.h"
#include "study/study_error.h"

#include <string.h>

static const char *const texts[] = {
  "begin_us,A,port,payload_bytes,wire_bytes,busy_share\n0,0,A+,0,200,0.1\n30,1,A-,0,200,0.1\n",
  "begin_us,A,B,C,D,E,F,port,payload_bytes,wire_bytes,busy_share\n0,0,1,2,3,4,5,F+,1,2,0.5\n",
  "begin_us,link,from,from_port,to,to_port,payload_bytes,wire_bytes,busy_share\n"
  "0,a port 1 -> b port 2,a,1,b,2,0,100,0.1\n7.5,\"a, port\",b,2,c,1,0,100,0.1\n",
  NULL,
};

static const char *const words[] = { "A+", "F-", "65535", "1e-6", "\\x22", "\\x0a0,", NULL };

static void
seed (FuzzSeeds *seeds)
{
  fuzz_add_texts (seeds, texts);
  fuzz_add_words (seeds, words);
}

static void
check (const uint8_t *data, size_t size)
{
  const char *path = fuzz_file (data, size);
  g_autoptr (GError) error = NULL;
  g_autoptr (JsonNode) root = NULL;
  g_autofree guint8 *codes = NULL;
  g_autofree char *page = NULL;
  JsonObject *film;
  size_t length = 0;
  FILE *out = open_memstream (&page, &length);
  gboolean good = study_film_write (out, path, NULL, &error);
  gsize n;

  fclose (out);
  g_assert_true (good == (error == NULL) && good == (length > 0));
  if (!good) {
    g_assert_true ((error->domain == BASE_ERROR || error->domain == STUDY_ERROR) &&
                   strchr (error->message, '\n') == NULL &&
                   g_str_has_prefix (error->message, path));
    return;
  }
  root = page_data (page);
  film = json_node_get_object (root);
  codes = page_unpack (json_object_get_string_member (film, "codes"), &n);
  g_assert_true ((gint64) n == json_object_get_int_member (film, "links") *
                                   json_object_get_int_member (film, "frames"));
}

const FuzzProgram fuzz_program = { NULL, seed, check };
