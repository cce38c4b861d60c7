/* ipc_json.c - IPC models as files (doc/handbook/aggregation-models.md).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/aggregation/ipc_private.h"
#include "base/json.h"

#include <string.h>

/* -- writing ---------------------------------------------------------------- */

static void
write_names (JsonBuilder *builder, const char *name, char *const *names)
{
  json_builder_set_member_name (builder, name);
  json_builder_begin_array (builder);
  for (; *names != NULL; names++)
    json_builder_add_string_value (builder, *names);
  json_builder_end_array (builder);
}

static void
write_terms (JsonBuilder *builder, const PredictIpcModel *model)
{
  json_builder_set_member_name (builder, "terms");
  json_builder_begin_array (builder);
  for (guint term = 0; term < model->n_terms; term++) {
    g_autofree char *name =
        predict_ipc_term_name (&model->terms[term], (const char *const *) model->samples,
                               (const char *const *) model->events);

    json_builder_add_string_value (builder, name);
  }
  json_builder_end_array (builder);
}

static void
write_piece (JsonBuilder *builder, const PredictIpcModel *model, const char *name,
             const PredictIpcPiece *piece)
{
  json_builder_begin_object (builder);
  base_json_add_string (builder, "class", name);
  base_json_add_integer (builder, "programs", piece->n_programs);
  base_json_add_integer (builder, "rank", piece->rank);
  base_json_add_number (builder, "ridge", piece->ridge);
  base_json_add_number (builder, "error", piece->error);
  json_builder_set_member_name (builder, "linear");
  if (piece->linear == NULL)
    json_builder_add_null_value (builder);
  else {
    json_builder_begin_object (builder);
    base_json_add_number (builder, "constant", piece->linear->constant);
    base_json_add_numbers (builder, "means", piece->linear->means, model->n_terms);
    base_json_add_numbers (builder, "coefficients", piece->linear->coefficients, model->n_terms);
    json_builder_end_object (builder);
  }
  json_builder_end_object (builder);
}

static void
write_targets (JsonBuilder *builder, const PredictIpcModel *model)
{
  json_builder_set_member_name (builder, "patterns");
  json_builder_begin_array (builder);
  for (guint i = 0; i < model->n_targets; i++) {
    const PredictIpcTarget *target = &model->targets[i];

    json_builder_begin_object (builder);
    base_json_add_string (builder, "pattern", target->pattern);
    json_builder_set_member_name (builder, "pieces");
    json_builder_begin_array (builder);
    for (guint piece = 0; piece < PREDICT_IPC_N_PIECES; piece++)
      write_piece (builder, model, predict_ipc_piece_names[piece], &target->pieces[piece]);
    json_builder_end_array (builder);
    json_builder_end_object (builder);
  }
  json_builder_end_array (builder);
}

static void
write_origin (JsonBuilder *builder, const PredictIpcModel *model)
{
  base_json_add_string (builder, "schema", PREDICT_IPC_SCHEMA);
  base_json_add_string (builder, "hopcast", model->version);
  json_builder_set_member_name (builder, "trained_on");
  json_builder_begin_object (builder);
  base_json_add_string (builder, "source", model->source);
  base_json_add_string (builder, "sha256", model->hash);
  base_json_add_integer (builder, "programs", model->n_programs);
  json_builder_end_object (builder);
}

static gpointer read_root (JsonObject *root, GError **error);

gboolean
predict_ipc_model_write (const PredictIpcModel *model, FILE *out, GError **error)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  g_autoptr (JsonNode) root = NULL;
  g_autoptr (PredictIpcModel) back = NULL;
  gsize n_ranges = (gsize) model->n_samples * (1 + model->n_events);

  json_builder_begin_object (builder);
  write_origin (builder, model);
  write_names (builder, "samples", model->samples);
  write_names (builder, "events", model->events);
  base_json_add_numbers (builder, "smallest", model->smallest, n_ranges);
  base_json_add_numbers (builder, "largest", model->largest, n_ranges);
  write_terms (builder, model);
  write_targets (builder, model);
  json_builder_end_object (builder);
  root = json_builder_get_root (builder);
  back = read_root (json_node_get_object (root), error);
  if (back == NULL) {
    g_prefix_error (error, "the model could not be read back: ");
    return FALSE;
  }
  base_json_print (root, out);
  return TRUE;
}

/* -- reading ---------------------------------------------------------------- */

/* Different texts that are not empty, and not too many for any model; NULL and *error. */
static char **
read_names (JsonObject *root, const char *name, GError **error)
{
  JsonArray *array = base_json_array (root, name, error);
  guint n = array != NULL ? json_array_get_length (array) : 0;
  g_auto (GStrv) names = NULL;

  if (array == NULL)
    return NULL;
  if (n > PREDICT_IPC_MAX_TERMS) {
    base_json_fail (name, "so few that there may be a model", error);
    return NULL;
  }
  names = g_new0 (char *, n + 1);
  for (guint i = 0; i < n; i++) {
    JsonNode *node = json_array_get_element (array, i);
    gboolean is_text =
        JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_STRING;
    const char *text = is_text ? json_node_get_string (node) : NULL;

    if (text == NULL || *text == '\0' || g_strv_contains ((const char *const *) names, text)) {
      base_json_fail (name, "different names", error);
      return NULL;
    }
    names[i] = g_strdup (text);
  }
  return g_steal_pointer (&names);
}

/* The number `i` of an array is an object; NULL and *error. */
static JsonObject *
object_at (JsonArray *array, guint i, const char *name, GError **error)
{
  JsonNode *node = json_array_get_element (array, i);

  if (JSON_NODE_HOLDS_OBJECT (node))
    return json_node_get_object (node);
  base_json_fail (name, "an array of objects", error);
  return NULL;
}

static gboolean
count_of (JsonObject *object, const char *name, guint *count, GError **error)
{
  int64_t value;

  if (!base_json_integer (object, name, 0, G_MAXINT32, &value, error))
    return FALSE;
  *count = (guint) value;
  return TRUE;
}

static gboolean
read_linear (JsonObject *from, const PredictIpcModel *model, PredictIpcPiece *piece, GError **error)
{
  JsonNode *node = json_object_get_member (from, "linear");
  JsonObject *linear;

  if (node != NULL && JSON_NODE_HOLDS_NULL (node))
    return TRUE;
  linear = base_json_object (from, "linear", error);
  if (linear == NULL)
    return FALSE;
  piece->linear = predict_linear_new (model->n_terms);
  return base_json_number (linear, "constant", &piece->linear->constant, error) &&
         base_json_numbers (linear, "means", model->n_terms, piece->linear->means, error) &&
         base_json_numbers (linear, "coefficients", model->n_terms, piece->linear->coefficients,
                            error);
}

static gboolean
read_piece (JsonObject *from, const PredictIpcModel *model, const char *name,
            PredictIpcPiece *piece, GError **error)
{
  const char *class = base_json_string (from, "class", error);

  if (class == NULL)
    return FALSE;
  if (strcmp (class, name) != 0)
    return base_json_fail ("class", name, error);
  return count_of (from, "programs", &piece->n_programs, error) &&
         count_of (from, "rank", &piece->rank, error) &&
         base_json_number (from, "ridge", &piece->ridge, error) &&
         base_json_number_or_null (from, "error", &piece->error, error) &&
         read_linear (from, model, piece, error);
}

static gboolean
read_target (JsonObject *from, const PredictIpcModel *model, PredictIpcTarget *target,
             GError **error)
{
  JsonArray *pieces = base_json_array (from, "pieces", error);
  const char *pattern = pieces != NULL ? base_json_string (from, "pattern", error) : NULL;

  if (pattern == NULL)
    return FALSE;
  target->pattern = g_strdup (pattern);
  if (*pattern == '\0' || g_strv_contains ((const char *const *) model->samples, pattern))
    return base_json_fail ("pattern", "one that is no sample", error);
  for (const PredictIpcTarget *other = model->targets; other < target; other++)
    if (strcmp (other->pattern, pattern) == 0)
      return base_json_fail (pattern, "a pattern once", error);
  if (json_array_get_length (pieces) != PREDICT_IPC_N_PIECES)
    return base_json_fail ("pieces", "of every class and of all", error);
  for (guint piece = 0; piece < PREDICT_IPC_N_PIECES; piece++) {
    JsonObject *object = object_at (pieces, piece, "pieces", error);

    if (object == NULL ||
        !read_piece (object, model, predict_ipc_piece_names[piece], &target->pieces[piece], error))
      return FALSE;
  }
  return target->pieces[PREDICT_IPC_ALL].linear != NULL ||
         base_json_fail ("linear", "an object in the piece of all", error);
}

static gboolean
read_targets (JsonObject *root, PredictIpcModel *model, GError **error)
{
  JsonArray *patterns = base_json_array (root, "patterns", error);
  guint n = patterns != NULL ? json_array_get_length (patterns) : 0;

  if (n == 0)
    return patterns != NULL && base_json_fail ("patterns", "of one pattern at least", error);
  model->targets = g_new0 (PredictIpcTarget, n);
  while (model->n_targets < n) {
    JsonObject *object = object_at (patterns, model->n_targets, "patterns", error);

    if (object == NULL || !read_target (object, model, &model->targets[model->n_targets++], error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
read_origin (JsonObject *root, PredictIpcModel *model, GError **error)
{
  JsonObject *table = base_json_object (root, "trained_on", error);
  gsize n_ranges = (gsize) model->n_samples * (1 + model->n_events);

  return table != NULL &&
         (model->version = g_strdup (base_json_string (root, "hopcast", error))) != NULL &&
         (model->source = g_strdup (base_json_string (table, "source", error))) != NULL &&
         (model->hash = g_strdup (base_json_string (table, "sha256", error))) != NULL &&
         count_of (table, "programs", &model->n_programs, error) &&
         base_json_numbers (root, "smallest", n_ranges, model->smallest, error) &&
         base_json_numbers (root, "largest", n_ranges, model->largest, error);
}

static gpointer
read_root (JsonObject *root, GError **error)
{
  g_auto (GStrv) samples = NULL, events = NULL;
  g_autoptr (PredictIpcModel) model = NULL;

  if (!(samples = read_names (root, "samples", error)) ||
      !(events = read_names (root, "events", error)))
    return NULL;
  for (guint i = 0; events[i] != NULL; i++)
    if (predict_ipc_is_reserved (events[i])) {
      base_json_fail (events[i], "the name of an event", error);
      return NULL;
    }
  model = predict_ipc_model_new ((const char *const *) samples, (const char *const *) events);
  if (model == NULL) {
    base_json_fail ("samples", "as many as a model may have", error);
    return NULL;
  }
  return read_origin (root, model, error) && read_targets (root, model, error)
             ? g_steal_pointer (&model)
             : NULL;
}

PredictIpcModel *
predict_ipc_model_read (const char *path, GError **error)
{
  return base_json_file (path, PREDICT_IPC_SCHEMA, read_root, error);
}
