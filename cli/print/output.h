/* output.h - results as a table, CSV or JSON.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Numbers do not depend on the locale and read back to the same double.
 * An unknown value is null in JSON, an empty field in CSV, "-" in a table. */
#pragma once

#include <glib.h>
#include <json-glib/json-glib.h>
#include <stdint.h>
#include <stdio.h>

typedef enum { CLI_FORMAT_TABLE, CLI_FORMAT_CSV, CLI_FORMAT_JSON } CliFormat;

/* Prints one object.  JSON: indented, members in their order.  CSV: a line
 * of names and a line of values, members of an inner object as outer.inner,
 * array elements joined by "; ".  Table: a line per member. */
void cli_print_record (FILE *out, JsonNode *record, CliFormat format);

/* The object that `builder` has begun, ended here and printed as JSON. */
void cli_print_object (FILE *out, JsonBuilder *builder);

/* A heading of a table: bold on a terminal, unless NO_COLOR is set. */
void cli_print_heading (FILE *out, const char *text);

/* Members; the name comes first so that the code reads like its output. */
void cli_add_string (JsonBuilder *builder, const char *name, const char *value);
/* Which JSON this is, such as "hopcast.score/1" (doc/handbook/json.md); tables and CSV have no such field. */
void cli_add_schema (JsonBuilder *builder, const char *schema, CliFormat format);
void cli_add_integer (JsonBuilder *builder, const char *name, uint64_t value);
void cli_add_number (JsonBuilder *builder, const char *name, double value); /* NaN: null */
void cli_add_boolean (JsonBuilder *builder, const char *name, gboolean value);
void cli_begin_object (JsonBuilder *builder, const char *name);
void cli_begin_array (JsonBuilder *builder, const char *name);
/* An array of two numbers. */
void cli_add_pair (JsonBuilder *builder, const char *name, double first, double second);
void cli_add_strings (JsonBuilder *builder, const char *name, const GPtrArray *strings);
