/* page_fixture.c - what is in a page, read back as a browser would.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/report/page_fixture.h"

#include <string.h>
#include <zlib.h>

static JsonNode *
parse (const char *text)
{
  g_autoptr (GError) error = NULL;
  JsonNode *node = json_from_string (text, &error);

  g_assert_no_error (error);
  g_assert_nonnull (node);
  return node;
}

guint8 *
page_unpack (const char *text, gsize *n)
{
  gsize size;
  g_autofree guchar *packed = g_base64_decode (text, &size);
  uLongf room = 1 << 23;
  guint8 *bytes = g_malloc (room);

  g_assert_cmpint (uncompress (bytes, &room, packed, size), ==, Z_OK);
  *n = room;
  return bytes;
}

char *
page_between (const char *text, const char *from, const char *to)
{
  const char *start = strstr (text, from), *end;

  g_assert_nonnull (start);
  start += strlen (from);
  end = strstr (start, to);
  g_assert_nonnull (end);
  return g_strndup (start, (gsize) (end - start));
}

JsonNode *
page_data (const char *page)
{
  g_autofree char *text =
      page_between (page, "<script type=\"application/json\" id=\"data\">", "</script>");

  g_assert_null (strpbrk (text, "<>&"));
  return parse (text);
}
