/* goal_scan.h - the words of a GOAL schedule.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>
#include <stdint.h>

typedef enum {
  GOAL_TOKEN_END,
  GOAL_TOKEN_WORD,
  GOAL_TOKEN_NUMBER,
  GOAL_TOKEN_SIGN, /* one character of ":{}" */
  GOAL_TOKEN_BAD,  /* no part of the language, or a comment without end */
} GoalTokenKind;

typedef struct {
  GoalTokenKind kind;
  const char *text; /* in the scanned text */
  gsize length;
} GoalToken;

/* A scanner is at a place of a text; it may be copied to come back to it. */
typedef struct {
  const char *at, *end;
} GoalScanner;

GoalToken goal_scan (GoalScanner *scanner);

gboolean goal_token_is (const GoalToken *token, const char *word);
/* FALSE when it is no number or does not fit; only -1 has a sign. */
gboolean goal_token_number (const GoalToken *token, int64_t *value);
