/* output.c - results as a table, CSV or JSON.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/print/output.h"

#include "base/csv.h"
#include "cli/print/terminal.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

/* The JSON text of a value that is no object and no array. */
static char *
leaf_text (JsonNode *node)
{
  char number[BASE_DECIMAL_SIZE];

  if (JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_DOUBLE)
    return g_strdup (base_decimal_print (number, json_node_get_double (node)));
  return json_to_string (node, FALSE);
}

/* The same without quotes, for a field of a table; "" for null. */
static char *
plain_text (JsonNode *node)
{
  if (JSON_NODE_HOLDS_NULL (node))
    return g_strdup ("");
  if (JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_STRING)
    return g_strdup (json_node_get_string (node));
  return leaf_text (node);
}

/* JSON-GLib prints doubles with 17 digits; leaf_text() prints the shortest text. */
static void
print_json (FILE *out, JsonNode *node, int depth)
{
  const char *separator = "\n";
  g_autofree char *text = NULL;

  if (JSON_NODE_HOLDS_OBJECT (node)) {
    JsonObjectIter iter;
    const char *name;
    JsonNode *member;

    fputc ('{', out);
    json_object_iter_init_ordered (&iter, json_node_get_object (node));
    while (json_object_iter_next_ordered (&iter, &name, &member)) {
      /* A name may be a column of the user's table, with any bytes. */
      g_autofree char *valid = g_utf8_make_valid (name, -1);
      g_autoptr (JsonNode) key = json_node_init_string (json_node_alloc (), valid);
      g_autofree char *quoted = json_to_string (key, FALSE);

      fprintf (out, "%s%*s%s: ", separator, 2 * depth + 2, "", quoted);
      print_json (out, member, depth + 1);
      separator = ",\n";
    }
    if (json_object_get_size (json_node_get_object (node)) > 0)
      fprintf (out, "\n%*s", 2 * depth, "");
    fputc ('}', out);
  } else if (JSON_NODE_HOLDS_ARRAY (node)) {
    JsonArray *array = json_node_get_array (node);
    guint n = json_array_get_length (array);

    fputc ('[', out);
    for (guint i = 0; i < n; i++) {
      fprintf (out, "%s%*s", separator, 2 * depth + 2, "");
      print_json (out, json_array_get_element (array, i), depth + 1);
      separator = ",\n";
    }
    if (n > 0)
      fprintf (out, "\n%*s", 2 * depth, "");
    fputc (']', out);
  } else {
    text = leaf_text (node);
    fputs (text, out);
  }
}

/* Between the elements of an array. */
#define CSV_SEPARATOR   "; "
#define TABLE_SEPARATOR "\n                            " /* below the first one */

/* The text of a member that is no object: of an array its elements; in a table, control characters
 * are visible. */
static char *
member_text (JsonNode *node, const char *separator)
{
  gboolean in_table = g_str_equal (separator, TABLE_SEPARATOR);
  g_autoptr (GPtrArray) parts = g_ptr_array_new_with_free_func (g_free);

  if (JSON_NODE_HOLDS_ARRAY (node)) {
    JsonArray *array = json_node_get_array (node);

    for (guint i = 0; i < json_array_get_length (array); i++)
      g_ptr_array_add (parts, plain_text (json_array_get_element (array, i)));
  } else {
    g_autofree char *text = plain_text (node);
    gsize length = strlen (text);

    /* In a table, a text that ends with a line end, such as a function in C, is a block of lines. */
    if (in_table && g_str_has_suffix (text, "\n")) {
      g_auto (GStrv) lines = NULL;

      text[length - 1] = '\0';
      lines = g_strsplit (text, "\n", -1);
      for (guint i = 0; lines[i] != NULL; i++)
        g_ptr_array_add (parts, g_strdup (lines[i]));
    } else
      g_ptr_array_add (parts, g_steal_pointer (&text));
  }
  for (guint i = 0; i < parts->len && in_table; i++) {
    char *part = parts->pdata[i];

    parts->pdata[i] = cli_visible (part);
    g_free (part);
  }
  g_ptr_array_add (parts, NULL);
  return g_strjoinv (separator, (char **) parts->pdata);
}

typedef void (*FieldFunction) (FILE *out, const char *name, const char *value, gboolean first);

/* Calls `field` for every leaf in order; first is set for the very first. */
static void
flatten (FILE *out, JsonObject *object, const char *prefix, const char *separator,
         FieldFunction field, gboolean *first)
{
  JsonObjectIter iter;
  const char *name;
  JsonNode *member;

  json_object_iter_init_ordered (&iter, object);
  while (json_object_iter_next_ordered (&iter, &name, &member)) {
    g_autofree char *path = g_strconcat (prefix, *prefix ? "." : "", name, NULL);
    g_autofree char *text = NULL;

    if (JSON_NODE_HOLDS_OBJECT (member)) {
      flatten (out, json_node_get_object (member), path, separator, field, first);
      continue;
    }
    text = member_text (member, separator);
    field (out, path, text, *first);
    *first = FALSE;
  }
}

static void
csv_name (FILE *out, const char *name, const char *value G_GNUC_UNUSED, gboolean first)
{
  if (!first)
    fputc (',', out);
  base_csv_field (out, name);
}

static void
csv_value (FILE *out, const char *name G_GNUC_UNUSED, const char *value, gboolean first)
{
  if (!first)
    fputc (',', out);
  base_csv_field (out, value);
}

static void
table_line (FILE *out, const char *name, const char *value, gboolean first G_GNUC_UNUSED)
{
  /* The value is visible already, and has line ends between its elements. */
  cli_printf (out, "%-26s  ", name);
  fprintf (out, "%s\n", *value ? value : "-");
}

void
cli_print_record (FILE *out, JsonNode *record, CliFormat format)
{
  JsonObject *object = json_node_get_object (record);
  gboolean first = TRUE;

  switch (format) {
  case CLI_FORMAT_TABLE: flatten (out, object, "", TABLE_SEPARATOR, table_line, &first); break;
  case CLI_FORMAT_CSV:
    flatten (out, object, "", CSV_SEPARATOR, csv_name, &first);
    fputc ('\n', out);
    first = TRUE;
    flatten (out, object, "", CSV_SEPARATOR, csv_value, &first);
    fputc ('\n', out);
    break;
  case CLI_FORMAT_JSON:
    print_json (out, record, 0);
    fputc ('\n', out);
    break;
  }
}

void
cli_print_object (FILE *out, JsonBuilder *builder)
{
  g_autoptr (JsonNode) record = NULL;

  json_builder_end_object (builder);
  record = json_builder_get_root (builder);
  cli_print_record (out, record, CLI_FORMAT_JSON);
}

void
cli_print_heading (FILE *out, const char *text)
{
  const char *no_color = g_getenv ("NO_COLOR");
  gboolean bold = isatty (fileno (out)) && !(no_color && *no_color);

  fputs (bold ? "\033[1m" : "", out);
  cli_printf (out, "%s", text);
  fputs (bold ? "\033[0m\n" : "\n", out);
}

/* Names of files need not be UTF-8, which JSON is. */
static void
add_text (JsonBuilder *builder, const char *text)
{
  g_autofree char *valid = text == NULL ? NULL : g_utf8_make_valid (text, -1);

  json_builder_add_string_value (builder, valid);
}

void
cli_add_string (JsonBuilder *builder, const char *name, const char *value)
{
  json_builder_set_member_name (builder, name);
  add_text (builder, value);
}

void
cli_add_schema (JsonBuilder *builder, const char *schema, CliFormat format)
{
  if (format == CLI_FORMAT_JSON)
    cli_add_string (builder, "schema", schema);
}

void
cli_add_integer (JsonBuilder *builder, const char *name, uint64_t value)
{
  json_builder_set_member_name (builder, name);
  json_builder_add_int_value (builder, (gint64) value);
}

static void
add_element (JsonBuilder *builder, double value)
{
  if (isfinite (value))
    json_builder_add_double_value (builder, value);
  else
    json_builder_add_null_value (builder);
}

void
cli_add_number (JsonBuilder *builder, const char *name, double value)
{
  json_builder_set_member_name (builder, name);
  add_element (builder, value);
}

void
cli_add_pair (JsonBuilder *builder, const char *name, double first, double second)
{
  cli_begin_array (builder, name);
  add_element (builder, first);
  add_element (builder, second);
  json_builder_end_array (builder);
}

void
cli_add_boolean (JsonBuilder *builder, const char *name, gboolean value)
{
  json_builder_set_member_name (builder, name);
  json_builder_add_boolean_value (builder, value);
}

void
cli_begin_object (JsonBuilder *builder, const char *name)
{
  json_builder_set_member_name (builder, name);
  json_builder_begin_object (builder);
}

void
cli_begin_array (JsonBuilder *builder, const char *name)
{
  json_builder_set_member_name (builder, name);
  json_builder_begin_array (builder);
}

void
cli_add_strings (JsonBuilder *builder, const char *name, const GPtrArray *strings)
{
  json_builder_set_member_name (builder, name);
  json_builder_begin_array (builder);
  for (guint i = 0; strings && i < strings->len; i++)
    add_text (builder, g_ptr_array_index (strings, i));
  json_builder_end_array (builder);
}
