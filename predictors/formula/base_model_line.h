/* base_model_line.h - a line of a model file, read from the left to the right.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/error.h"

#include <stdbool.h>

typedef struct {
  const char *source;
  guint number;          /* of the line, from 1 */
  const char *text, *at; /* the line, without its comment; what is next */
  GError **error;
} PredictLine;

guint predict_line_column (const PredictLine *line, const char *at);

/* Sets the error, whose column is that of `at`.  Always FALSE. */
gboolean predict_line_fail (const PredictLine *line, const char *at, const char *format, ...)
    G_GNUC_PRINTF (3, 4);

void predict_line_skip_blanks (PredictLine *line);

/* Whether this character, this word is next; then past it. */
bool predict_line_take (PredictLine *line, char wanted);
bool predict_line_word (PredictLine *line, const char *word);

/* NULL: there is no name here.  The caller frees. */
char *predict_line_name (PredictLine *line);

/* FALSE and the error: there is no finite number; `what` it should have been, "the value". */
gboolean predict_line_number (PredictLine *line, const char *what, double *number);

/* FALSE and the error: the line goes on. */
gboolean predict_line_end (PredictLine *line);
