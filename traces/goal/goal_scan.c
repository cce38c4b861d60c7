/* goal_scan.c - the words of a GOAL schedule.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/goal/goal_scan.h"

#include <string.h>

/* Where a comment that begins at `at` is over; NULL when it never is. */
static const char *
comment_end (const char *at, const char *end)
{
  gsize n = (gsize) (end - at);

  if (at[1] == '/') {
    const char *newline = memchr (at, '\n', n);

    return newline != NULL ? newline : end;
  }
  for (at += 2; (at = memchr (at, '*', (gsize) (end - at))) != NULL; at++)
    if (at + 1 < end && at[1] == '/')
      return at + 2;
  return NULL;
}

/* To the next word; FALSE, at its begin, when a comment has no end. */
static gboolean
skip_space (GoalScanner *scanner)
{
  while (scanner->at < scanner->end)
    if (g_ascii_isspace (*scanner->at))
      scanner->at++;
    else if (*scanner->at == '/' && scanner->at + 1 < scanner->end &&
             (scanner->at[1] == '/' || scanner->at[1] == '*')) {
      const char *after = comment_end (scanner->at, scanner->end);

      if (after == NULL)
        return FALSE;
      scanner->at = after;
    } else
      return TRUE;
  return TRUE;
}

static gboolean
is_label_character (char c)
{
  return g_ascii_isalnum (c) || c == '_';
}

static gboolean
is_digit (char c)
{
  return g_ascii_isdigit (c);
}

static GoalToken
take (GoalScanner *scanner, GoalTokenKind kind, gboolean (*belongs) (char c))
{
  const char *begin = scanner->at++;

  while (belongs != NULL && scanner->at < scanner->end && belongs (*scanner->at))
    scanner->at++;
  return (GoalToken){ kind, begin, (gsize) (scanner->at - begin) };
}

GoalToken
goal_scan (GoalScanner *scanner)
{
  if (!skip_space (scanner))
    return take (scanner, GOAL_TOKEN_BAD, NULL);
  if (scanner->at == scanner->end)
    return (GoalToken){ GOAL_TOKEN_END, scanner->at, 0 };
  if (g_ascii_isalpha (*scanner->at))
    return take (scanner, GOAL_TOKEN_WORD, is_label_character);
  if (g_ascii_isdigit (*scanner->at) || *scanner->at == '-')
    return take (scanner, GOAL_TOKEN_NUMBER, is_digit);
  if (*scanner->at == ':' || *scanner->at == '{' || *scanner->at == '}')
    return take (scanner, GOAL_TOKEN_SIGN, NULL);
  return take (scanner, GOAL_TOKEN_BAD, NULL);
}

gboolean
goal_token_is (const GoalToken *token, const char *word)
{
  return token->length == strlen (word) && memcmp (token->text, word, token->length) == 0;
}

gboolean
goal_token_number (const GoalToken *token, int64_t *value)
{
  int64_t number = 0;

  if (token->kind != GOAL_TOKEN_NUMBER)
    return FALSE;
  if (token->text[0] == '-') {
    *value = -1;
    return goal_token_is (token, "-1");
  }
  for (gsize i = 0; i < token->length; i++) {
    int digit = token->text[i] - '0';

    if (number > (INT64_MAX - digit) / 10)
      return FALSE;
    number = number * 10 + digit;
  }
  *value = number;
  return TRUE;
}
