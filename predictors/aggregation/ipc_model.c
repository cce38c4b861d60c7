/* ipc_model.c - the IPC of programs in patterns that were not run, from a few that were.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/aggregation/ipc_model.h"

#include "predictors/model/linear.h"
#include "predictors/predict_error.h"
#include "base/json.h"
#include "predictors/table/samples.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define SCHEMA "hopcast.ipc/1"

/* Of the sample, or of the pair: one of the IPCs, and one of each event. */
static PredictIpcTerm *
put_terms (PredictIpcTerm *term, guint sample, guint second, guint n_events)
{
  *term++ = (PredictIpcTerm){ sample, second, PREDICT_IPC_NONE };
  for (guint event = 0; event < n_events; event++)
    *term++ = (PredictIpcTerm){ sample, second, event };
  return term;
}

/* "ipc(4)*misses(4)", "misses(4)*misses(5)"; the caller frees. */
static char *
term_name (const PredictIpcModel *model, const PredictIpcTerm *term)
{
  const char *sample = model->samples[term->sample];
  const char *event = term->event == PREDICT_IPC_NONE ? NULL : model->events[term->event];

  if (term->second == PREDICT_IPC_NONE)
    return event == NULL ? g_strdup_printf ("ipc(%s)", sample)
                         : g_strdup_printf ("ipc(%s)*%s(%s)", sample, event, sample);
  event = event != NULL ? event : "ipc";
  return g_strdup_printf ("%s(%s)*%s(%s)", event, sample, event, model->samples[term->second]);
}

/* --- Models --- */

const char *const predict_ipc_piece_names[] = { "[0,1)",   "[1,1.5)", "[1.5,2)",
                                                "[2,inf)", "all",     NULL };

/* The class of a phase with these IPCs in the samples. */
static guint
class_of (const double *ipc, guint n_samples)
{
  static const double ends[PREDICT_IPC_N_CLASSES] = { 1, 1.5, 2, INFINITY };
  double sum = 0, mean;
  guint class = 0;

  for (guint sample = 0; sample < n_samples; sample++)
    sum += ipc[sample];
  mean = sum / n_samples;
  while (class < PREDICT_IPC_N_CLASSES - 1 && mean >= ends[class])
    class ++;
  return class;
}

/* With its names and terms, and without targets.  NULL: more terms than there may be. */
static PredictIpcModel *
model_new (const char *const *samples, const char *const *events)
{
  guint n_samples = g_strv_length ((char **) samples), n_events = g_strv_length ((char **) events);
  guint n_terms;
  PredictIpcModel *model;
  PredictIpcTerm *next;

  if (n_samples == 0 || n_samples > PREDICT_IPC_MAX_TERMS || n_events >= PREDICT_IPC_MAX_TERMS)
    return NULL;
  n_terms = (n_samples + n_samples * (n_samples - 1) / 2) * (n_events + 1);
  if (n_terms > PREDICT_IPC_MAX_TERMS)
    return NULL;
  model = g_new0 (PredictIpcModel, 1);
  model->samples = g_strdupv ((char **) samples);
  model->events = g_strdupv ((char **) events);
  model->n_samples = n_samples;
  model->n_events = n_events;
  /* The terms but the constant: sample by sample, then the pairs. */
  model->n_terms = n_terms;
  next = model->terms = g_new (PredictIpcTerm, n_terms);
  for (guint sample = 0; sample < n_samples; sample++)
    next = put_terms (next, sample, PREDICT_IPC_NONE, n_events);
  for (guint sample = 0; sample < n_samples; sample++)
    for (guint second = sample + 1; second < n_samples; second++)
      next = put_terms (next, sample, second, n_events);
  g_assert (next == model->terms + n_terms);
  model->smallest = g_new0 (double, n_samples *(1 + n_events));
  model->largest = g_new0 (double, n_samples *(1 + n_events));
  return model;
}

void
predict_ipc_model_free (PredictIpcModel *model)
{
  if (model == NULL)
    return;
  for (guint target = 0; target < model->n_targets; target++) {
    g_free (model->targets[target].pattern);
    for (guint piece = 0; piece < PREDICT_IPC_N_PIECES; piece++)
      predict_linear_free (model->targets[target].pieces[piece].linear);
  }
  g_free (model->targets);
  g_free (model->version);
  g_free (model->source);
  g_free (model->hash);
  g_strfreev (model->samples);
  g_strfreev (model->events);
  g_free (model->smallest);
  g_free (model->largest);
  g_free (model->terms);
  g_free (model);
}

guint
predict_ipc_n_regressors (const PredictIpcModel *model)
{
  return model->n_terms + 1;
}

gboolean
predict_ipc_is_under_determined (const PredictIpcModel *model, const PredictIpcPiece *piece)
{
  return piece->n_programs < predict_ipc_n_regressors (model);
}

/* The terms of the programs with chosen[program] (NULL: all) as features, without a target. */
static PredictSamples *
samples_of (const PredictIpcModel *model, const PredictIpcPhases *phases, const gboolean *chosen,
            GError **error)
{
  guint n = 0, next = 0;
  g_autoptr (PredictSamples) samples = NULL;

  for (guint program = 0; program < phases->n_programs; program++)
    n += chosen == NULL || chosen[program];
  samples = predict_samples_new (n, model->n_terms, FALSE);
  for (guint program = 0; program < phases->n_programs; program++) {
    const double *rates, *ipc = predict_ipc_phase (phases, program, &rates);

    if (chosen != NULL && !chosen[program])
      continue;
    for (guint at = 0; at < model->n_terms; at++) {
      const PredictIpcTerm *term = &model->terms[at];
      const double *of_first = rates + term->sample * model->n_events;
      double value;

      if (term->event == PREDICT_IPC_NONE)
        value = ipc[term->sample] * (term->second == PREDICT_IPC_NONE ? 1 : ipc[term->second]);
      else if (term->second == PREDICT_IPC_NONE)
        value = ipc[term->sample] * of_first[term->event];
      else
        value = of_first[term->event] * rates[term->second * model->n_events + term->event];
      if (!(fabs (value) <= (double) FLT_MAX)) {
        g_autofree char *name = term_name (model, term);

        g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_NUMERIC,
                     "program '%s': %s is %g, which is too large for single precision",
                     phases->programs[program], name, value);
        return NULL;
      }
      samples->x[(gsize) at * n + next] = (float) value;
    }
    next++;
  }
  return g_steal_pointer (&samples);
}

/* --- Predicting --- */

/* Value i of a program: of each sample its IPC, then its rates. */
static double
value_at (const PredictIpcModel *model, const double *ipc, const double *rates, guint i)
{
  guint width = 1 + model->n_events, sample = i / width;

  return i % width == 0 ? ipc[sample] : rates[sample * model->n_events + i % width - 1];
}

gboolean
predict_ipc_apply (const PredictIpcModel *model, const PredictTable *table,
                   PredictIpcAnswer *answer, GError **error)
{
  PredictIpcPhases *phases = predict_ipc_phases_from (table, (const char *const *) model->samples,
                                                      (const char *const *) model->events, error);
  guint n_targets = model->n_targets;
  g_autoptr (PredictSamples) samples = NULL;
  g_autofree guint *class = NULL;
  g_autofree double *by_piece = NULL;
  gboolean is_finite;
  gsize n;

  if (phases == NULL)
    return FALSE;
  n = (gsize) phases->n_programs * n_targets;
  *answer = (PredictIpcAnswer){ phases, g_new0 (double, n), g_new (double, n), 0 };
  class = g_new (guint, phases->n_programs);
  by_piece = g_new (double, phases->n_programs);
  for (guint program = 0; program < phases->n_programs; program++) {
    const double *rates, *ipc = predict_ipc_phase (phases, program, &rates);
    guint n_values = model->n_samples * (1 + model->n_events);
    gboolean is_outside = FALSE;

    class[program] = class_of (ipc, model->n_samples);
    for (guint i = 0; i < n_values; i++) {
      double value = value_at (model, ipc, rates, i);

      is_outside |= value < model->smallest[i] || value > model->largest[i];
    }
    answer->n_outside += is_outside;
  }
  samples = samples_of (model, phases, NULL, error);
  for (guint target = 0; samples != NULL && target < n_targets; target++) {
    const PredictIpcPiece *pieces = model->targets[target].pieces;
    guint pattern = 0;

    /* Each program is predicted by the piece of its class, or else by that of all. */
    for (guint piece = 0; piece < PREDICT_IPC_N_PIECES; piece++) {
      if (pieces[piece].linear == NULL)
        continue;
      predict_linear_predict (pieces[piece].linear, samples, by_piece);
      for (guint program = 0; program < phases->n_programs; program++)
        if (class[program] == piece ||
            (piece == PREDICT_IPC_ALL && pieces[class[program]].linear == NULL))
          answer->predicted[(gsize) program * n_targets + target] = by_piece[program];
    }
    while (pattern < phases->n_patterns &&
           strcmp (phases->patterns[pattern], model->targets[target].pattern) != 0)
      pattern++;
    for (guint program = 0; program < phases->n_programs; program++)
      answer->observed[(gsize) program * n_targets + target] =
          pattern < phases->n_patterns ? phases->ipc[(gsize) program * phases->n_patterns + pattern]
                                       : (double) NAN;
  }
  is_finite = samples != NULL;
  for (gsize i = 0; is_finite && i < n; i++) {
    is_finite = isfinite (answer->predicted[i]) != 0;
    if (!is_finite)
      g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_NUMERIC,
                   "program '%s': the prediction of pattern %s overflows: its counters are too far "
                   "from what the model has learned",
                   phases->programs[i / n_targets], model->targets[i % n_targets].pattern);
  }
  if (is_finite)
    return TRUE;
  g_prefix_error (error, "%s: ", table->source);
  predict_ipc_answer_clear (answer);
  return FALSE;
}

void
predict_ipc_answer_clear (PredictIpcAnswer *answer)
{
  predict_ipc_phases_free (answer->phases);
  g_free (answer->predicted);
  g_free (answer->observed);
  *answer = (PredictIpcAnswer){ 0 };
}

/* --- Training --- */

/* Least squares without a ridge; each sample is predicted by a fit of the others too. */
static gboolean
fit_least_squares (const PredictSamples *samples, PredictIpcPiece *piece, GError **error)
{
  g_autofree bool *is_out = g_new0 (bool, samples->n_samples);
  double sum = 0;

  piece->ridge = 0;
  if (!(piece->linear = predict_linear_fit (samples, 0, error)))
    return FALSE;
  piece->rank = 1;
  for (guint term = 0; term < samples->n_features; term++)
    piece->rank += piece->linear->use[term] == PREDICT_COLUMN_USED;
  for (uint64_t out = 0; out < samples->n_samples; out++) {
    g_autoptr (PredictSamples) others = NULL, one = NULL;
    g_autoptr (PredictLinear) linear = NULL;
    double predicted;

    is_out[out] = true;
    others = predict_samples_select (samples, is_out, false);
    one = predict_samples_select (samples, is_out, true);
    is_out[out] = false;
    if (!(linear = predict_linear_fit (others, 0, error)))
      return FALSE;
    predict_linear_predict (linear, one, &predicted);
    sum += fabs (predicted / samples->y[out] - 1);
  }
  piece->error = sum / (double) samples->n_samples;
  return TRUE;
}

/* Programs that a function needs. */
static guint
least_programs (const PredictIpcModel *model, PredictIpcFit fit)
{
  return fit == PREDICT_IPC_LEAST_SQUARES ? predict_ipc_n_regressors (model) + 1
                                          : model->n_samples + 2;
}

/* Fits the function of the programs of the class (PREDICT_IPC_ALL: any) that have the pattern. */
static gboolean
fit_piece (const PredictIpcModel *model, const PredictIpcPhases *phases, PredictIpcFit fit,
           guint pattern, guint class, PredictIpcPiece *piece, GError **error)
{
  g_autofree gboolean *chosen = g_new (gboolean, phases->n_programs);
  g_autoptr (PredictSamples) samples = NULL;
  PredictRidgeChoice choice;
  double sum = 0;
  guint n = 0;

  for (guint program = 0; program < phases->n_programs; program++) {
    const double *rates, *ipc = predict_ipc_phase (phases, program, &rates);

    chosen[program] = isfinite (ipc[pattern]) &&
                      (class == PREDICT_IPC_ALL || class_of (ipc, phases->n_samples) == class);
    piece->n_programs += chosen[program];
  }
  piece->error = NAN;
  if (piece->n_programs < least_programs (model, fit))
    return TRUE;
  if (!(samples = samples_of (model, phases, chosen, error)))
    return FALSE;
  samples->y = g_new (double, phases->n_programs);
  for (guint program = 0; program < phases->n_programs; program++)
    if (chosen[program])
      samples->y[n++] = phases->ipc[(gsize) program * phases->n_patterns + pattern];
  if (fit == PREDICT_IPC_LEAST_SQUARES)
    return fit_least_squares (samples, piece, error);
  if (!predict_ridge_choose (samples, &choice, error))
    return FALSE;
  piece->rank = choice.rank;
  piece->ridge = choice.ridge;
  for (guint i = 0; i < n; i++)
    sum += fabs (choice.left_out[i] / samples->y[i] - 1);
  piece->error = sum / n;
  g_free (choice.left_out);
  piece->linear = predict_linear_fit (samples, piece->ridge, error);
  return piece->linear != NULL;
}

static PredictIpcModel *
begin_model (const PredictTable *table, const PredictIpcPhases *phases, const char *const *samples,
             const char *const *events, GError **error)
{
  static const char *const others[] = { "program", "pattern", "ipc" };
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  PredictIpcModel *model = model_new (samples, events);
  if (model == NULL) {
    g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_OPTION,
                 "%u samples and %u events make no model, or one of more than %u terms",
                 phases->n_samples, phases->n_events, PREDICT_IPC_MAX_TERMS);
    return NULL;
  }
  model->version = g_strdup (PACKAGE_VERSION);
  model->source = g_strdup (table->source);
  /* The columns that it is trained on. */
  for (gsize i = 0; i < G_N_ELEMENTS (others); i++)
    g_ptr_array_add (names, (char *) others[i]);
  for (guint i = 0; events[i] != NULL; i++)
    g_ptr_array_add (names, (char *) events[i]);
  g_ptr_array_add (names, NULL);
  model->hash = predict_table_hash (table, (const char *const *) names->pdata);
  model->n_programs = phases->n_programs;
  for (guint i = 0; i < model->n_samples * (1 + model->n_events); i++) {
    model->smallest[i] = INFINITY;
    model->largest[i] = -INFINITY;
    for (guint program = 0; program < phases->n_programs; program++) {
      const double *rates, *ipc = predict_ipc_phase (phases, program, &rates);
      double value = value_at (model, ipc, rates, i);

      model->smallest[i] = MIN (model->smallest[i], value);
      model->largest[i] = MAX (model->largest[i], value);
    }
  }
  return model;
}

PredictIpcModel *
predict_ipc_train (const PredictTable *table, const char *const *samples, const char *const *events,
                   PredictIpcFit fit, GError **error)
{
  g_autoptr (PredictIpcPhases) phases = predict_ipc_phases_from (table, samples, events, error);
  g_autoptr (PredictIpcModel) model =
      phases != NULL ? begin_model (table, phases, samples, events, error) : NULL;

  if (model == NULL)
    return NULL;
  if (phases->n_patterns == phases->n_samples) {
    g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_TABLE,
                 "%s has no pattern but the samples: nothing to predict", table->source);
    return NULL;
  }
  model->targets = g_new0 (PredictIpcTarget, phases->n_patterns - phases->n_samples);
  for (guint pattern = phases->n_samples; pattern < phases->n_patterns; pattern++) {
    PredictIpcTarget *target = &model->targets[model->n_targets++];
    const PredictIpcPiece *all = &target->pieces[PREDICT_IPC_ALL];

    target->pattern = g_strdup (phases->patterns[pattern]);
    for (guint piece = 0; piece < PREDICT_IPC_N_PIECES; piece++)
      if (!fit_piece (model, phases, fit, pattern, piece, &target->pieces[piece], error)) {
        g_prefix_error (error, "%s: pattern %s: ", table->source, target->pattern);
        return NULL;
      }
    if (all->linear == NULL) {
      g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_NUMERIC,
                   "%s: pattern %s: %u program%s, and at least %u are needed", table->source,
                   target->pattern, all->n_programs, all->n_programs == 1 ? " has it" : "s have it",
                   least_programs (model, fit));
      return NULL;
    }
  }
  return g_steal_pointer (&model);
}

/* --- Writing (doc/handbook/aggregation-models.md) --- */

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
    for (guint at = 0; at < PREDICT_IPC_N_PIECES; at++) {
      const PredictIpcPiece *piece = &target->pieces[at];
      const PredictLinear *linear = piece->linear;

      json_builder_begin_object (builder);
      base_json_add_string (builder, "class", predict_ipc_piece_names[at]);
      base_json_add_integer (builder, "programs", piece->n_programs);
      base_json_add_integer (builder, "rank", piece->rank);
      base_json_add_number (builder, "ridge", piece->ridge);
      base_json_add_number (builder, "error", piece->error);
      json_builder_set_member_name (builder, "linear");
      if (linear == NULL)
        json_builder_add_null_value (builder);
      else {
        json_builder_begin_object (builder);
        base_json_add_number (builder, "constant", linear->constant);
        base_json_add_numbers (builder, "means", linear->means, model->n_terms);
        base_json_add_numbers (builder, "coefficients", linear->coefficients, model->n_terms);
        json_builder_end_object (builder);
      }
      json_builder_end_object (builder);
    }
    json_builder_end_array (builder);
    json_builder_end_object (builder);
  }
  json_builder_end_array (builder);
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
  base_json_add_string (builder, "schema", SCHEMA);
  base_json_add_string (builder, "hopcast", model->version);
  json_builder_set_member_name (builder, "trained_on");
  json_builder_begin_object (builder);
  base_json_add_string (builder, "source", model->source);
  base_json_add_string (builder, "sha256", model->hash);
  base_json_add_integer (builder, "programs", model->n_programs);
  json_builder_end_object (builder);
  write_names (builder, "samples", model->samples);
  write_names (builder, "events", model->events);
  base_json_add_numbers (builder, "smallest", model->smallest, n_ranges);
  base_json_add_numbers (builder, "largest", model->largest, n_ranges);
  json_builder_set_member_name (builder, "terms");
  json_builder_begin_array (builder);
  for (guint term = 0; term < model->n_terms; term++) {
    g_autofree char *name = term_name (model, &model->terms[term]);

    json_builder_add_string_value (builder, name);
  }
  json_builder_end_array (builder);
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

/* --- Reading --- */

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
    base_json_fail (name, "a list as short as a model allows", error);
    return NULL;
  }
  names = g_new0 (char *, n + 1);
  for (guint i = 0; i < n; i++) {
    JsonNode *node = json_array_get_element (array, i);
    gboolean is_text =
        JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_STRING;
    const char *text = is_text ? json_node_get_string (node) : NULL;

    if (text == NULL || *text == '\0' || g_strv_contains ((const char *const *) names, text)) {
      base_json_fail (name, "a list of different names", error);
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
read_piece (JsonObject *from, const PredictIpcModel *model, const char *name,
            PredictIpcPiece *piece, GError **error)
{
  const char *class = base_json_string (from, "class", error);
  JsonNode *node = json_object_get_member (from, "linear");
  int64_t n_programs, rank;
  JsonObject *linear;

  if (class == NULL)
    return FALSE;
  if (strcmp (class, name) != 0)
    return base_json_fail ("class", name, error);
  if (!base_json_integer (from, "programs", 0, G_MAXINT32, &n_programs, error) ||
      !base_json_integer (from, "rank", 0, G_MAXINT32, &rank, error) ||
      !base_json_number (from, "ridge", &piece->ridge, error) ||
      !base_json_number_or_null (from, "error", &piece->error, error))
    return FALSE;
  piece->n_programs = (guint) n_programs;
  piece->rank = (guint) rank;
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
read_targets (JsonObject *root, PredictIpcModel *model, GError **error)
{
  JsonArray *patterns = base_json_array (root, "patterns", error);
  guint n = patterns != NULL ? json_array_get_length (patterns) : 0;

  if (n == 0)
    return patterns != NULL && base_json_fail ("patterns", "a list of at least one pattern", error);
  model->targets = g_new0 (PredictIpcTarget, n);
  while (model->n_targets < n) {
    JsonObject *from = object_at (patterns, model->n_targets, "patterns", error);
    JsonArray *pieces = from != NULL ? base_json_array (from, "pieces", error) : NULL;
    const char *pattern = pieces != NULL ? base_json_string (from, "pattern", error) : NULL;
    PredictIpcTarget *target;

    if (pattern == NULL)
      return FALSE;
    target = &model->targets[model->n_targets++];
    target->pattern = g_strdup (pattern);
    if (*pattern == '\0' || g_strv_contains ((const char *const *) model->samples, pattern))
      return base_json_fail ("pattern", "a pattern other than the samples", error);
    for (const PredictIpcTarget *other = model->targets; other < target; other++)
      if (strcmp (other->pattern, pattern) == 0)
        return base_json_fail (pattern, "a unique pattern", error);
    if (json_array_get_length (pieces) != PREDICT_IPC_N_PIECES)
      return base_json_fail ("pieces", "a list of every class and all", error);
    for (guint i = 0; i < PREDICT_IPC_N_PIECES; i++) {
      JsonObject *object = object_at (pieces, i, "pieces", error);

      if (object == NULL ||
          !read_piece (object, model, predict_ipc_piece_names[i], &target->pieces[i], error))
        return FALSE;
    }
    if (target->pieces[PREDICT_IPC_ALL].linear == NULL)
      return base_json_fail ("linear", "an object in the piece of all", error);
  }
  return TRUE;
}

static gpointer
read_root (JsonObject *root, GError **error)
{
  g_auto (GStrv) samples = NULL, events = NULL;
  g_autoptr (PredictIpcModel) model = NULL;
  JsonObject *table;
  int64_t n_programs;
  gsize n_ranges;

  if (!(samples = read_names (root, "samples", error)) ||
      !(events = read_names (root, "events", error)))
    return NULL;
  for (guint i = 0; events[i] != NULL; i++)
    if (predict_ipc_is_reserved (events[i])) {
      base_json_fail (events[i], "the name of an event", error);
      return NULL;
    }
  model = model_new ((const char *const *) samples, (const char *const *) events);
  if (model == NULL) {
    base_json_fail ("samples", "a list as short as a model allows", error);
    return NULL;
  }
  n_ranges = (gsize) model->n_samples * (1 + model->n_events);
  if (!(table = base_json_object (root, "trained_on", error)) ||
      !(model->version = g_strdup (base_json_string (root, "hopcast", error))) ||
      !(model->source = g_strdup (base_json_string (table, "source", error))) ||
      !(model->hash = g_strdup (base_json_string (table, "sha256", error))) ||
      !base_json_integer (table, "programs", 0, G_MAXINT32, &n_programs, error) ||
      !base_json_numbers (root, "smallest", n_ranges, model->smallest, error) ||
      !base_json_numbers (root, "largest", n_ranges, model->largest, error) ||
      !read_targets (root, model, error))
    return NULL;
  model->n_programs = (guint) n_programs;
  return g_steal_pointer (&model);
}

PredictIpcModel *
predict_ipc_model_read (const char *path, GError **error)
{
  return base_json_file (path, SCHEMA, read_root, error);
}
