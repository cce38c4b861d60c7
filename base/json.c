/* json.c - JSON objects: members written and read, and whole files of one.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"

#include "base/error.h"
#include "base/file.h"

#include <math.h>
#include <string.h>

/* Objects and arrays within each other; a model has four. */
#define MAX_DEPTH 16u

/* --- Writing --- */

void
base_json_add_number (JsonBuilder *builder, const char *name, double value)
{
  json_builder_set_member_name (builder, name);
  if (isfinite (value))
    json_builder_add_double_value (builder, value);
  else
    json_builder_add_null_value (builder);
}

void
base_json_add_integer (JsonBuilder *builder, const char *name, int64_t value)
{
  json_builder_set_member_name (builder, name);
  json_builder_add_int_value (builder, value);
}

void
base_json_add_string (JsonBuilder *builder, const char *name, const char *value)
{
  json_builder_set_member_name (builder, name);
  json_builder_add_string_value (builder, value);
}

void
base_json_add_numbers (JsonBuilder *builder, const char *name, const double *values, gsize n)
{
  json_builder_set_member_name (builder, name);
  json_builder_begin_array (builder);
  for (gsize i = 0; i < n; i++)
    if (isfinite (values[i]))
      json_builder_add_double_value (builder, values[i]);
    else
      json_builder_add_null_value (builder);
  json_builder_end_array (builder);
}

/* Between this machine's order of bytes and little-endian, which are mostly the same. */
static void
order_bytes (guint8 *bytes, gsize n, guint width)
{
  if (G_BYTE_ORDER == G_LITTLE_ENDIAN)
    return;
  for (gsize i = 0; i < n; i++, bytes += width)
    for (guint k = 0; k < width / 2; k++) {
      guint8 byte = bytes[k];

      bytes[k] = bytes[width - 1 - k];
      bytes[width - 1 - k] = byte;
    }
}

void
base_json_add_packed (JsonBuilder *builder, const char *name, const void *values, gsize n,
                      guint width)
{
  g_autofree guint8 *bytes = g_malloc (n * width + 1);
  g_autofree char *text = NULL;

  if (n > 0)
    memcpy (bytes, values, n * width);
  order_bytes (bytes, n, width);
  text = g_base64_encode (bytes, n * width);
  base_json_add_string (builder, name, text);
}

/* The position after a string whose opening quote is at `at`; the end of the text when the string
 * has none. */
static const char *
skip_string (const char *at, const char *end)
{
  char quote = *at++;

  while (at < end && *at != quote)
    at += *at == '\\' && at + 1 < end ? 2 : 1;
  return at < end ? at + 1 : end;
}

/* json-glib 1.6 adds ".0" to a number without a point, after its exponent too: 2e-08.0, which
 * no reader accepts. */
void
base_json_print (JsonNode *root, FILE *out)
{
  g_autoptr (JsonGenerator) generator = json_generator_new ();
  g_autofree char *text = NULL;
  const char *from, *at, *end;
  gsize n;

  json_generator_set_root (generator, root);
  json_generator_set_pretty (generator, TRUE);
  text = json_generator_to_data (generator, &n);
  end = text + n;
  for (from = at = text; at < end;)
    if (*at == '"') {
      at = skip_string (at, end);
    } else if (g_str_has_prefix (at, ".0") && !g_ascii_isdigit (at[2])) {
      const char *digit = at;

      while (digit > text && g_ascii_isdigit (digit[-1]))
        digit--;
      if (digit > text && (digit[-1] == '-' || digit[-1] == '+'))
        digit--;
      if (digit < at && digit > text && g_ascii_tolower (digit[-1]) == 'e') {
        fwrite (from, 1, (gsize) (at - from), out);
        from = at + strlen (".0");
      }
      at += strlen (".0");
    } else {
      at++;
    }
  fwrite (from, 1, (gsize) (at - from), out);
  fputc ('\n', out);
}

/* --- Reading members --- */

gboolean
base_json_fail (const char *name, const char *what, GError **error)
{
  g_set_error (error, BASE_ERROR, BASE_ERROR_JSON, "\"%s\" is not %s", name, what);
  return FALSE;
}

/* NULL: no such member, or no plain value of that type. */
static JsonNode *
value_node (JsonObject *object, const char *name, GType type)
{
  JsonNode *node = json_object_get_member (object, name);

  return node != NULL && JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == type
             ? node
             : NULL;
}

/* Whole numbers are numbers too. */
static gboolean
number_of (JsonNode *node, double *value)
{
  double number;

  if (node == NULL || !JSON_NODE_HOLDS_VALUE (node) ||
      (json_node_get_value_type (node) != G_TYPE_INT64 &&
       json_node_get_value_type (node) != G_TYPE_DOUBLE))
    return FALSE;
  number = json_node_get_double (node);
  if (!isfinite (number))
    return FALSE;
  *value = number;
  return TRUE;
}

gboolean
base_json_number (JsonObject *object, const char *name, double *value, GError **error)
{
  return number_of (json_object_get_member (object, name), value) ||
         base_json_fail (name, "a finite number", error);
}

gboolean
base_json_number_or_null (JsonObject *object, const char *name, double *value, GError **error)
{
  JsonNode *node = json_object_get_member (object, name);

  if (node == NULL || !JSON_NODE_HOLDS_NULL (node))
    return base_json_number (object, name, value, error);
  *value = NAN;
  return TRUE;
}

gboolean
base_json_integer (JsonObject *object, const char *name, int64_t smallest, int64_t largest,
                   int64_t *value, GError **error)
{
  JsonNode *node = value_node (object, name, G_TYPE_INT64);
  int64_t number = node != NULL ? json_node_get_int (node) : 0;

  if (node == NULL || number < smallest || number > largest) {
    g_set_error (error, BASE_ERROR, BASE_ERROR_JSON,
                 "\"%s\" is not a whole number from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT,
                 name, smallest, largest);
    return FALSE;
  }
  *value = number;
  return TRUE;
}

gboolean
base_json_boolean (JsonObject *object, const char *name, gboolean *value, GError **error)
{
  JsonNode *node = value_node (object, name, G_TYPE_BOOLEAN);

  if (node == NULL)
    return base_json_fail (name, "true or false", error);
  *value = json_node_get_boolean (node);
  return TRUE;
}

const char *
base_json_string (JsonObject *object, const char *name, GError **error)
{
  JsonNode *node = value_node (object, name, G_TYPE_STRING);

  if (node == NULL)
    base_json_fail (name, "a text", error);
  return node != NULL ? json_node_get_string (node) : NULL;
}

JsonObject *
base_json_object (JsonObject *object, const char *name, GError **error)
{
  JsonNode *node = json_object_get_member (object, name);
  gboolean is_one = node != NULL && JSON_NODE_HOLDS_OBJECT (node);

  if (!is_one)
    base_json_fail (name, "an object", error);
  return is_one ? json_node_get_object (node) : NULL;
}

JsonArray *
base_json_array (JsonObject *object, const char *name, GError **error)
{
  JsonNode *node = json_object_get_member (object, name);
  gboolean is_one = node != NULL && JSON_NODE_HOLDS_ARRAY (node);

  if (!is_one)
    base_json_fail (name, "an array", error);
  return is_one ? json_node_get_array (node) : NULL;
}

gboolean
base_json_numbers (JsonObject *object, const char *name, gsize n, double *values, GError **error)
{
  JsonArray *array = base_json_array (object, name, error);

  if (array == NULL)
    return FALSE;
  if (json_array_get_length (array) != n) {
    g_set_error (error, BASE_ERROR, BASE_ERROR_JSON,
                 "\"%s\" has %u numbers where %" G_GSIZE_FORMAT " are needed", name,
                 json_array_get_length (array), n);
    return FALSE;
  }
  for (gsize i = 0; i < n; i++)
    if (!number_of (json_array_get_element (array, (guint) i), values + i))
      return base_json_fail (name, "an array of finite numbers", error);
  return TRUE;
}

void *
base_json_packed (JsonObject *object, const char *name, guint width, gsize *n, GError **error)
{
  const char *text = base_json_string (object, name, error);
  gsize n_text = text != NULL ? strlen (text) : 0, n_bytes;
  g_autofree guint8 *bytes = NULL;

  if (text == NULL)
    return NULL;
  bytes = g_base64_decode (text, &n_bytes);
  /* Decoding ignores characters outside base64: then fewer bytes come out than the text is long. */
  if (n_text % 4 != 0 || n_bytes + 2 < n_text / 4 * 3 || n_bytes % width != 0) {
    base_json_fail (name, "whole values in base64", error);
    return NULL;
  }
  *n = n_bytes / width;
  order_bytes (bytes, *n, width);
  return g_steal_pointer (&bytes);
}

/* --- Files --- */

/* TRUE for one value without deep nesting.  json-glib accepts several values, and loses all but the
 * last; it reads comments, and nested arrays until the stack is full.  It reports all other errors. */
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

gpointer
base_json_file (const char *path, const char *schema,
                gpointer (*read) (JsonObject *root, GError **error), GError **error)
{
  gsize n, n_family = (gsize) (strchr (schema, '/') + 1 - schema);
  g_autofree char *text = NULL;
  g_autoptr (JsonParser) parser = json_parser_new_immutable ();
  g_autoptr (GError) syntax = NULL;
  JsonNode *node;
  JsonObject *root;
  const char *found;
  gpointer result = NULL;

  if (!base_file_read (path, &text, &n, error))
    return NULL;
  if (!is_one_value (text, n)) {
    g_set_error (error, BASE_ERROR, BASE_ERROR_JSON, "%s: no JSON object and nothing else", path);
    return NULL;
  }
  if (!json_parser_load_from_data (parser, text, (gssize) n, &syntax)) {
    guint line;
    g_autofree char *reason = base_parser_reason (syntax, &line);

    g_set_error (error, BASE_ERROR, BASE_ERROR_JSON, "%s:%u: no JSON: %s", path,
                 line > 0 ? line : json_parser_get_current_line (parser), reason);
    return NULL;
  }
  g_clear_pointer (&text, g_free);      /* up to 100 MB */
  node = json_parser_get_root (parser); /* NULL of an empty text */
  if (node == NULL || !JSON_NODE_HOLDS_OBJECT (node)) {
    g_set_error (error, BASE_ERROR, BASE_ERROR_JSON, "%s: no model: no JSON object", path);
    return NULL;
  }
  root = json_node_get_object (node);
  found = base_json_string (root, "schema", error);
  if (found != NULL && strcmp (found, schema) == 0)
    result = read (root, error);
  else if (found != NULL && strncmp (found, schema, n_family) == 0)
    g_set_error (error, BASE_ERROR, BASE_ERROR_JSON,
                 "a model of another version, %s; this program reads %s", found, schema);
  else if (found != NULL)
    g_set_error (error, BASE_ERROR, BASE_ERROR_JSON, "no %s but %s", schema, found);
  if (result == NULL)
    g_prefix_error (error, "%s: ", path);
  return result;
}
