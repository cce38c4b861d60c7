/* expression_tokens.c - what the names and numbers of formulas look like.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/formula/expression_tokens.h"

#include <string.h>

char *
predict_token_found (const char *at)
{
  gunichar letter = *at != '\0' ? g_utf8_get_char_validated (at, -1) : 0;

  if (*at == '\0')
    return g_strdup ("the end");
  if (letter == (gunichar) -1 || letter == (gunichar) -2 || !g_unichar_isprint (letter))
    return g_strdup_printf ("the byte 0x%02x", (guint8) *at);
  return g_strdup_printf ("\"%.*s\"", (int) (g_utf8_next_char (at) - at), at);
}

bool
predict_token_begins_name (char letter)
{
  return g_ascii_isalpha (letter) || letter == '_';
}

gsize
predict_token_name (const char *at)
{
  gsize n = 0;

  if (predict_token_begins_name (*at))
    while (g_ascii_isalnum (at[n]) || at[n] == '_')
      n++;
  return n;
}

bool
predict_token_begins_number (const char *at)
{
  return g_ascii_isdigit (at[0]) || (at[0] == '.' && g_ascii_isdigit (at[1]));
}

const char *
predict_token_number (const char *at, bool *integer)
{
  const char *end = at;

  if (!predict_token_begins_number (at))
    return NULL;
  while (g_ascii_isdigit (*end))
    end++;
  *integer = *end != '.' && *end != 'e' && *end != 'E';
  if (*end == '.')
    for (end++; g_ascii_isdigit (*end);)
      end++;
  if (*end == 'e' || *end == 'E') {
    const char *exponent = end + 1 + (end[1] == '+' || end[1] == '-');

    for (; g_ascii_isdigit (*exponent); exponent++)
      end = exponent + 1;
  }
  return end;
}

PredictOp
predict_token_function (const char *name)
{
  for (PredictOp op = 0; op < PREDICT_N_OPS; op++)
    if (predict_ops[op].is_function && strcmp (predict_ops[op].name, name) == 0)
      return op;
  return PREDICT_N_OPS;
}
