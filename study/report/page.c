/* page.c - pages of one file: JSON text that may stand in them, and frames that are filled.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/report/page.h"

#include "base/decimal.h"

#include <math.h>
#include <string.h>
#include <zlib.h>

/* --- JSON --- */

/* The generator of json-glib writes all digits of a double and leaves '<' as it is; here numbers are
 * the shortest that read back, and no text ends a script. */

void
study_page_add_string (GString *json, const char *text)
{
  g_autofree char *valid = text ? g_utf8_make_valid (text, -1) : NULL;

  if (!text) {
    g_string_append (json, "null");
    return;
  }
  g_string_append (json, "\"");
  for (const char *at = valid; *at; at = g_utf8_next_char (at)) {
    gunichar character = g_utf8_get_char (at);

    /* '<' could end the script that contains the text, '&' could begin an entity where the page is
     * treated as XML, and the separators of lines and paragraphs end strings in old browsers. */
    if (character < 0x20 || strchr ("\"\\<>&", *at) || character == 0x2028 || character == 0x2029)
      g_string_append_printf (json, "\\u%04x", character);
    else
      g_string_append_unichar (json, character);
  }
  g_string_append (json, "\"");
}

void
study_page_add_number (GString *json, double value)
{
  char text[BASE_DECIMAL_SIZE];

  g_string_append (json, isfinite (value) ? base_decimal_print (text, value) : "null");
}

void
study_page_add_comma (GString *json)
{
  char last = json->len > 0 ? json->str[json->len - 1] : '[';

  if (last != '[' && last != '{')
    g_string_append_c (json, ',');
}

void
study_page_add_member (GString *json, const char *name)
{
  study_page_add_comma (json);
  study_page_add_string (json, name);
  g_string_append_c (json, ':');
}

void
study_page_add_string_member (GString *json, const char *name, const char *text)
{
  study_page_add_member (json, name);
  study_page_add_string (json, text);
}

void
study_page_add_number_member (GString *json, const char *name, double value)
{
  study_page_add_member (json, name);
  study_page_add_number (json, value);
}

void
study_page_pack (GString *json, const void *bytes, gsize n)
{
  uLongf size = compressBound (n);
  g_autofree guint8 *packed = g_malloc (size);
  g_autofree char *text = NULL;
  int status = compress2 (packed, &size, bytes, n, Z_BEST_COMPRESSION);

  g_assert (status == Z_OK);
  text = g_base64_encode (packed, size);
  g_string_append_printf (json, "\"%s\"", text);
}

/* --- Frames --- */

const char study_page_style[] =
#include "study/report/page_style.inc"
    ;
const char study_page_vendor[] =
#include "study/report/page_vendor.inc"
    ;

char *
study_page_escape (const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);

  return g_markup_escape_text (valid, -1);
}

/* 'sha256-...' as a policy names an inline script or style. */
static void
append_hash (GString *policy, const char *text)
{
  g_autoptr (GChecksum) checksum = g_checksum_new (G_CHECKSUM_SHA256);
  guint8 digest[32];
  gsize size = sizeof digest;
  g_autofree char *encoded = NULL;

  g_checksum_update (checksum, (const guchar *) text, -1);
  g_checksum_get_digest (checksum, digest, &size);
  encoded = g_base64_encode (digest, size);
  g_string_append_printf (policy, " 'sha256-%s'", encoded);
}

/* What an inline script or style of the page hashes to: the policy lets nothing else in. */
static char *
make_policy (const StudyPagePart *parts)
{
  static const struct {
    StudyPageKind kind;
    const char *directive;
  } kinds[] = { { STUDY_PAGE_SCRIPT, "; script-src" }, { STUDY_PAGE_STYLE, "; style-src" } };
  GString *policy = g_string_new ("default-src 'none'");

  for (gsize i = 0; i < G_N_ELEMENTS (kinds); i++) {
    g_string_append (policy, kinds[i].directive);
    for (const StudyPagePart *part = parts; part->name != NULL; part++)
      if (part->kind == kinds[i].kind)
        append_hash (policy, part->text);
  }
  g_string_append (policy, "; base-uri 'none'; form-action 'none'");
  return g_string_free (policy, FALSE);
}

void
study_page_write (FILE *out, const char *frame, const StudyPagePart *parts)
{
  g_autofree char *policy = make_policy (parts);
  const char *at = frame, *mark;

  while ((mark = strchr (at, '@')) != NULL) {
    g_autofree char *name = g_strndup (mark + 1, strcspn (mark + 1, "@"));

    fwrite (at, 1, (gsize) (mark - at), out);
    if (g_str_equal (name, "POLICY"))
      fputs (policy, out);
    for (const StudyPagePart *part = parts; part->name != NULL; part++)
      if (g_str_equal (part->name, name))
        fputs (part->text, out);
    at = mark + strlen (name) + 2;
  }
  fputs (at, out);
}
