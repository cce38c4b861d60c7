/* base_model_line.c - a line of a model file, read from the left to the right.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/formula/base_model_line.h"

#include "base/decimal.h"
#include "predictors/formula/expression_tokens.h"

#include <math.h>

guint
predict_line_column (const PredictLine *line, const char *at)
{
  return 1 + (guint) (at - line->text);
}

gboolean
predict_line_fail (const PredictLine *line, const char *at, const char *format, ...)
{
  const BasePlace place = { line->source, line->number, 1 };
  va_list arguments;

  va_start (arguments, format);
  base_fail_at_v (&place, predict_line_column (line, at), line->error, format, arguments);
  va_end (arguments);
  return FALSE;
}

void
predict_line_skip_blanks (PredictLine *line)
{
  while (g_ascii_isspace (*line->at))
    line->at++;
}

bool
predict_line_take (PredictLine *line, char wanted)
{
  predict_line_skip_blanks (line);
  if (*line->at != wanted)
    return false;
  line->at++;
  return true;
}

bool
predict_line_word (PredictLine *line, const char *word)
{
  const char *begin = line->at;
  g_autofree char *name = predict_line_name (line);

  if (g_strcmp0 (name, word) == 0)
    return true;
  line->at = begin;
  return false;
}

char *
predict_line_name (PredictLine *line)
{
  const char *begin;
  gsize n;

  predict_line_skip_blanks (line);
  begin = line->at;
  n = predict_token_name (begin);
  line->at += n;
  return n > 0 ? g_strndup (begin, n) : NULL;
}

gboolean
predict_line_number (PredictLine *line, const char *what, double *number)
{
  const char *end;

  predict_line_skip_blanks (line);
  end = base_decimal (line->at, number);
  if (end == NULL || !isfinite (*number))
    return predict_line_fail (line, line->at, "expected %s, a number", what);
  line->at = end;
  return TRUE;
}

gboolean
predict_line_end (PredictLine *line)
{
  predict_line_skip_blanks (line);
  return *line->at == '\0' ||
         predict_line_fail (line, line->at, "\"%s\" does not belong here", line->at);
}
