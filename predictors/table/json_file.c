/* json_file.c - see json_file.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/table/json_file.h"

#include "base/file.h"
#include "predictors/predict_error.h"
#include "predictors/table/json_fields.h"

#include <string.h>

/* Objects and arrays within each other; a model has four. */
#define MAX_DEPTH 16u

/* After the character that ends the text which begins at `at`; the end of all when none does. */
static const char *
skip_string (const char *at, const char *end)
{
  char quote = *at++;

  while (at < end && *at != quote)
    at += *at == '\\' && at + 1 < end ? 2 : 1;
  return at < end ? at + 1 : end;
}

/* Whether there is one value, and nothing is nested without end.  json-glib takes several values
 * for a document, of which it loses all but the last; it reads comments, and nested arrays until
 * the stack is full.  What is wrong otherwise, it tells. */
static gboolean
is_one_value (const char *text, gsize n)
{
  const char *at = text, *end = text + n;
  guint depth = 0;
  gboolean over = FALSE;

  while (at < end) {
    char here = *at;

    if ((over && !g_ascii_isspace (here)) || here == '/')
      return FALSE;
    depth += here == '{' || here == '[';
    over |= depth > 0 && (here == '}' || here == ']') && --depth == 0;
    if (depth > MAX_DEPTH || (depth == 0 && !over && !g_ascii_isspace (here)))
      return FALSE;
    at = here == '"' || here == '\'' ? skip_string (at, end) : at + 1;
  }
  return TRUE;
}

/* NULL and *error: no JSON, or no object. */
static JsonNode *
parse (const char *path, const char *text, gsize n, GError **error)
{
  g_autoptr (JsonParser) parser = json_parser_new_immutable ();
  g_autoptr (GError) syntax = NULL;
  JsonNode *root;

  if (!json_parser_load_from_data (parser, text, (gssize) n, &syntax)) {
    guint line;
    g_autofree char *reason = base_parser_reason (syntax, &line);

    g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_MODEL, "%s:%u: no JSON: %s", path,
                 line > 0 ? line : json_parser_get_current_line (parser), reason);
    return NULL;
  }
  root = json_parser_get_root (parser); /* NULL of an empty text */
  if (root != NULL && JSON_NODE_HOLDS_OBJECT (root))
    return json_parser_steal_root (parser);
  g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_MODEL, "%s: no model: no JSON object", path);
  return NULL;
}

static JsonNode *
load (const char *path, GError **error)
{
  g_autofree char *text = NULL;
  gsize n;

  if (!base_file_read (path, &text, &n, error))
    return NULL;
  if (is_one_value (text, n))
    return parse (path, text, n, error);
  g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_MODEL, "%s: no JSON object and nothing else",
               path);
  return NULL;
}

static gboolean
check_schema (JsonObject *root, const char *schema, GError **error)
{
  const char *found = predict_json_string (root, "schema", error);
  gsize n_family = (gsize) (strchr (schema, '/') + 1 - schema);

  if (found == NULL || strcmp (found, schema) == 0)
    return found != NULL;
  if (strncmp (found, schema, n_family) == 0)
    g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_MODEL,
                 "a model of another version, %s; this program reads %s", found, schema);
  else
    g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_MODEL, "no %s but %s", schema, found);
  return FALSE;
}

gpointer
predict_json_file (const char *path, const char *schema,
                   gpointer (*read) (JsonObject *root, GError **error), GError **error)
{
  g_autoptr (JsonNode) node = load (path, error);
  JsonObject *root;
  gpointer what;

  if (node == NULL)
    return NULL;
  root = json_node_get_object (node);
  what = check_schema (root, schema, error) ? read (root, error) : NULL;
  if (what == NULL)
    g_prefix_error (error, "%s: ", path);
  return what;
}
