/* feature_sets.c - the sets of features that have a name.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/scoring/feature_sets.h"

#include "predictors/predict_error.h"

#include <string.h>

#define FEATURES(...)   \
  (const char *const[]) \
  {                     \
    __VA_ARGS__, NULL   \
  }

const PredictFeatureSet predict_feature_sets[] = {
  { "H1", "SC13 table 3", FEATURES ("avg_bytes", "max_bytes", "max_FIFO") },
  { "H2", "SC13 table 3", FEATURES ("avg_bytes", "max_bytes", "sum_dilation_AO", "max_FIFO") },
  { "H3", "SC13 table 3", FEATURES ("avg_bytes", "max_bytes", "avg_buffer", "max_FIFO") },
  { "H4", "SC13 table 3", FEATURES ("avg_bytes", "max_bytes", "avg_buffer_TO") },
  { "H5", "SC13 table 3",
    FEATURES ("avg_bytes_TO", "avg_buffer_TO", "avg_delay_AO", "sum_hops_AO", "max_FIFO") },
  { "H6", "SC13 table 3",
    FEATURES ("avg_bytes_TO", "avg_buffer_AO", "avg_delay_TO", "avg_delay_AO", "sum_hops_AO",
              "max_FIFO") },
  { "prior", "SC13 section 5.2", FEATURES ("max_dilation", "avg_bytes", "max_bytes") },
  { "new", "SC13 section 5.3",
    FEATURES ("avg_buffer", "avg_buffer_TO", "sum_dilation_AO", "avg_bytes_AO", "avg_bytes_TO") },
  { "all", "every feature of a run",
    FEATURES ("max_dilation", "avg_dilation", "sum_dilation_AO", "sum_message_dilation_AO",
              "hop_bytes", "avg_hops_per_byte", "sum_hops_AO", "avg_bytes", "max_bytes",
              "avg_bytes_AO", "avg_bytes_TO", "avg_chunks", "max_chunks", "avg_chunks_AO",
              "avg_chunks_TO", "avg_buffer", "max_buffer", "avg_buffer_AO", "avg_buffer_TO",
              "avg_delay", "max_delay", "avg_delay_AO", "avg_delay_TO", "avg_waited", "max_waited",
              "avg_waited_AO", "avg_waited_TO", "avg_FIFO", "max_FIFO", "avg_FIFO_AO",
              "avg_FIFO_TO") },
  { NULL, NULL, NULL },
};

const PredictFeatureSet *
predict_feature_set (const char *name)
{
  for (const PredictFeatureSet *set = predict_feature_sets; set->name != NULL; set++)
    if (strcmp (set->name, name) == 0)
      return set;
  return NULL;
}

static void
add (GPtrArray *list, const char *name)
{
  if (!g_ptr_array_find_with_equal_func (list, name, g_str_equal, NULL))
    g_ptr_array_add (list, g_strdup (name));
}

char **
predict_feature_list (const char *text, const PredictTable *table, GPtrArray *left_out,
                      GError **error)
{
  g_autoptr (GPtrArray) list = g_ptr_array_new_with_free_func (g_free);
  g_auto (GStrv) words = g_strsplit (text, ",", -1);

  if (*words == NULL) {
    g_set_error_literal (error, PREDICT_ERROR, PREDICT_ERROR_OPTION, "no feature is named");
    return NULL;
  }
  for (char **word = words; *word != NULL; word++)
    if (*g_strstrip (*word) == '\0') {
      g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_OPTION,
                   "\"%s\": the name of a feature is missing", text);
      return NULL;
    }
  for (char **word = words; *word != NULL; word++) {
    const PredictFeatureSet *set = predict_feature_set (*word);

    if (set == NULL)
      add (list, *word);
    for (guint at = 0; set != NULL && set->features[at] != NULL; at++) {
      const char *name = set->features[at];
      const PredictColumn *column = table != NULL ? predict_table_find (table, name) : NULL;

      if (column == NULL || !predict_table_is_unknown (table, column) ||
          g_strv_contains ((const char *const *) words, name))
        add (list, name);
      else
        add (left_out, name);
    }
  }
  g_ptr_array_add (list, NULL);
  return (char **) g_ptr_array_steal (list, NULL);
}
