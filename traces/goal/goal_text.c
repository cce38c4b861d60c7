/* goal_text.c - GOAL schedules as text.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/goal/goal_private.h"
#include "traces/format.h"

#include "traces/trace.h"
#include "traces/trace_file.h"

#include <glib.h>
#include <stdint.h>
#include <string.h>

/* --- Words --- */

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

/* A position in a text; it may be copied to come back to it. */
typedef struct {
  const char *at, *end;
} GoalScanner;

/* Goes to the next word; FALSE, at its begin, when a comment has no end. */
static gboolean
skip_space (GoalScanner *scanner)
{
  const char *end = scanner->end;

  while (scanner->at < end) {
    const char *at = scanner->at;

    if (g_ascii_isspace (*at)) {
      scanner->at++;
    } else if (*at == '/' && at + 1 < end && at[1] == '/') {
      at = memchr (at, '\n', (gsize) (end - at));
      scanner->at = at != NULL ? at : end;
    } else if (*at == '/' && at + 1 < end && at[1] == '*') {
      for (at += 2; (at = memchr (at, '*', (gsize) (end - at))) != NULL; at++)
        if (at + 1 < end && at[1] == '/')
          break;
      if (at == NULL)
        return FALSE;
      scanner->at = at + 2;
    } else {
      return TRUE;
    }
  }
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

static GoalToken
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

static gboolean
goal_token_is (const GoalToken *token, const char *word)
{
  return token->length == strlen (word) && memcmp (token->text, word, token->length) == 0;
}

/* FALSE when it is no number or does not fit; only -1 has a sign. */
static gboolean
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

/* --- Labels of the nodes of a rank --- */

/* Open addressing, at most half full: a schedule has as many labels as
 * operations, and an allocation for each would cost more than reading it. */

#define LEAST_CAPACITY 16u

typedef struct {
  const char *text; /* NULL: a free place */
  uint32_t length;
  uint32_t node;
} Label;

/* Labels are not copied: they stay in the text that they were read from. */
typedef struct {
  Label *places; /* [capacity], a power of two */
  gsize n, capacity;
} GoalLabels;

/* The place that the label has or would get. */
static Label *
find_place (const GoalLabels *labels, const char *text, gsize length)
{
  uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */

  for (gsize i = 0; i < length; i++)
    hash = (hash ^ (guint8) text[i]) * 0x100000001b3u;
  for (gsize at = (gsize) (hash ^ (hash >> 32));; at++) {
    Label *place = &labels->places[at & (labels->capacity - 1)];

    if (place->text == NULL || (place->length == length && memcmp (place->text, text, length) == 0))
      return place;
  }
}

/* FALSE when another node has the label. */
static gboolean
goal_labels_add (GoalLabels *labels, const char *text, gsize length, uint32_t node)
{
  Label *place;

  if (labels->n * 2 >= labels->capacity) {
    Label *old = labels->places;
    gsize n_old = labels->capacity;

    labels->capacity *= 2;
    labels->places = g_new0 (Label, labels->capacity);
    for (gsize i = 0; i < n_old; i++)
      if (old[i].text != NULL)
        *find_place (labels, old[i].text, old[i].length) = old[i];
    g_free (old);
  }
  place = find_place (labels, text, length);
  if (place->text != NULL)
    return FALSE;
  *place = (Label){ text, (uint32_t) length, node };
  labels->n++;
  return TRUE;
}

/* --- GOAL schedules as text: the ranks and their statements --- */

/* More ranks than any machine has: a larger number is a mistake. */
#define MAX_RANKS (1 << 24)
/* The binary form keeps processors in a byte. */
#define MAX_CPU UINT8_MAX

#define PS_PER_NS 1000

/* The statements of a rank, between its braces. */
typedef struct {
  gsize begin, end;
  uint64_t line; /* of the opening brace */
} Block;

struct GoalText {
  char *name; /* without its folder, for messages */
  GBytes *bytes;
  const char *data;
  gsize size;
  GArray *blocks; /* (element-type Block) by rank */
};

/* -- messages ----------------------------------------------------------------- */

static uint64_t
line_from (const GoalText *text, gsize known_at, uint64_t known_line, gsize at)
{
  const char *next = text->data + known_at, *end = text->data + at;
  uint64_t line = known_line;

  while (next < end && (next = memchr (next, '\n', (gsize) (end - next))) != NULL) {
    next++;
    line++;
  }
  return line;
}

/* Messages cut tokens, which may be a whole line of dashes. */
static int
shown_length (const GoalToken *token)
{
  return (int) MIN (token->length, 40);
}

/* A position in a text, and an earlier one whose line is known. */
typedef struct {
  const GoalText *text;
  gsize known_at;
  uint64_t known_line;
  GoalScanner scanner;
} Reading;

static gboolean fail (const Reading *reading, const GoalToken *token, TraceError code,
                      GError **error, const char *format, ...) G_GNUC_PRINTF (5, 6);

/* Sets an error at the line of a token.  Always FALSE. */
static gboolean
fail (const Reading *reading, const GoalToken *token, TraceError code, GError **error,
      const char *format, ...)
{
  const GoalText *text = reading->text;
  g_autofree char *message = NULL;
  va_list arguments;

  va_start (arguments, format);
  message = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  return TRACE_FAIL (
      code, error, "%s:%" G_GUINT64_FORMAT ": %s", text->name,
      line_from (text, reading->known_at, reading->known_line, (gsize) (token->text - text->data)),
      message);
}

static gboolean
fail_expected (const Reading *reading, const GoalToken *token, const char *what, GError **error)
{
  if (token->kind == GOAL_TOKEN_END)
    return fail (reading, token, TRACE_ERROR_FORMAT, error, "expected %s, but the text ends", what);
  if (token->kind == GOAL_TOKEN_BAD && token->text[0] == '/')
    return fail (reading, token, TRACE_ERROR_FORMAT, error,
                 "the comment that begins here has no end");
  return fail (reading, token, TRACE_ERROR_FORMAT, error, "expected %s, found \"%.*s\"", what,
               shown_length (token), token->text);
}

/* -- words -------------------------------------------------------------------- */

static gboolean
expect (Reading *reading, const char *word, GError **error)
{
  GoalToken token = goal_scan (&reading->scanner);
  g_autofree char *what = NULL;

  if (goal_token_is (&token, word))
    return TRUE;
  what = g_strdup_printf ("\"%s\"", word);
  return fail_expected (reading, &token, what, error);
}

/* A number of least..most, where a least of -1 stands for "any". */
static gboolean
take_number (Reading *reading, const char *what, int64_t least, int64_t most, int64_t *value,
             GError **error)
{
  GoalToken token = goal_scan (&reading->scanner);

  if (token.kind != GOAL_TOKEN_NUMBER)
    return fail_expected (reading, &token, what, error);
  if (!goal_token_number (&token, value) || *value < least || *value > most)
    return fail (reading, &token, TRACE_ERROR_RANGE, error,
                 "%s %.*s is impossible: must be %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT, what,
                 shown_length (&token), token.text, least, most);
  return TRUE;
}

/* Goes beyond the next word if it is this one. */
static gboolean
take_word (Reading *reading, const char *word)
{
  GoalScanner before = reading->scanner;
  GoalToken token = goal_scan (&reading->scanner);

  if (goal_token_is (&token, word))
    return TRUE;
  reading->scanner = before;
  return FALSE;
}

/* -- ranks --------------------------------------------------------------------- */

static gboolean
find_blocks (GoalText *text, GError **error)
{
  Reading reading = { .text = text,
                      .known_line = 1,
                      .scanner = { text->data, text->data + text->size } };
  GoalToken token;
  int64_t n_ranks;

  if (!expect (&reading, "num_ranks", error) ||
      !take_number (&reading, "number of ranks", 1, MAX_RANKS, &n_ranks, error))
    return FALSE;
  while (text->blocks->len < n_ranks) {
    Block block;
    int64_t rank;

    /* The head of a rank, up to the brace. */
    token = goal_scan (&reading.scanner);

    if (token.kind == GOAL_TOKEN_END)
      return fail (&reading, &token, TRACE_ERROR_FORMAT, error,
                   "the text ends before rank %u of %" G_GINT64_FORMAT, text->blocks->len, n_ranks);
    if (!goal_token_is (&token, "rank"))
      return fail_expected (&reading, &token, "\"rank\"", error);
    if (!take_number (&reading, "rank", 0, n_ranks - 1, &rank, error))
      return FALSE;
    if (rank != text->blocks->len)
      return fail (&reading, &token, TRACE_ERROR_RANGE, error,
                   "rank %" G_GINT64_FORMAT " where rank %u belongs: each must be there once, in "
                   "rising order",
                   rank, text->blocks->len);
    if (!expect (&reading, "{", error))
      return FALSE;
    block.begin = (gsize) (reading.scanner.at - text->data);
    block.line = line_from (text, reading.known_at, reading.known_line, block.begin);
    reading.known_at = block.begin;
    reading.known_line = block.line;
    while (token = goal_scan (&reading.scanner), !goal_token_is (&token, "}"))
      if (token.kind == GOAL_TOKEN_END || token.kind == GOAL_TOKEN_BAD ||
          goal_token_is (&token, "{"))
        return fail_expected (&reading, &token, "statements or \"}\"", error);
    block.end = (gsize) (reading.scanner.at - text->data) - 1;
    g_array_append_val (text->blocks, block);
  }
  token = goal_scan (&reading.scanner);
  return token.kind == GOAL_TOKEN_END ||
         fail_expected (&reading, &token, "nothing after the last rank", error);
}

gboolean
goal_text_probe (const guint8 *head, gsize n)
{
  GoalScanner scanner = { (const char *) head, (const char *) head + n };
  GoalToken token = goal_scan (&scanner);

  return goal_token_is (&token, "num_ranks");
}

GoalText *
goal_text_open (const char *path, GError **error)
{
  GBytes *bytes = trace_file_load (path, error);
  GoalText *text;

  if (bytes == NULL)
    return NULL;
  text = g_new (GoalText, 1);
  text->name = g_path_get_basename (path);
  text->bytes = bytes;
  text->data = g_bytes_get_data (bytes, &text->size);
  text->blocks = g_array_new (FALSE, FALSE, sizeof (Block));
  if (!find_blocks (text, error)) {
    goal_text_close (text);
    return NULL;
  }
  return text;
}

void
goal_text_close (GoalText *text)
{
  if (text == NULL)
    return;
  g_array_unref (text->blocks);
  g_bytes_unref (text->bytes);
  g_free (text->name);
  g_free (text);
}

uint32_t
goal_text_ranks (const GoalText *text)
{
  return text->blocks->len;
}

/* -- statements ----------------------------------------------------------------- */

typedef struct {
  Reading reading;
  uint32_t n_ranks;
  GoalGraph *graph;
  GoalLabels labels;
} RankReading;

/* Reads the rest of an operation.  begin: its first word, a label or the verb. */
static gboolean
read_operation (RankReading *rank, const GoalToken *begin, const GoalToken *verb, GError **error)
{
  static const char *const g2_verbs[] = { "put", "get", "append", "ct", "test", "tput", "tget" };
  GoalNode node = { .at = (uint64_t) (begin->text - rank->reading.text->data) };
  Reading *reading = &rank->reading;
  int64_t size, value;
  gboolean receives;

  if (goal_token_is (verb, "calc")) {
    node.kind = GOAL_CALC;
    if (!take_number (reading, "time in ns", 0, INT64_MAX / PS_PER_NS, &size, error))
      return FALSE;
    node.size = (uint64_t) size * PS_PER_NS;
  } else if (goal_token_is (verb, "send") || goal_token_is (verb, "recv")) {
    receives = goal_token_is (verb, "recv");
    node.kind = receives ? GOAL_RECV : GOAL_SEND;
    if (!take_number (reading, "size", 0, TRACE_MAX_BYTES, &size, error) ||
        !expect (reading, "b", error) || !expect (reading, receives ? "from" : "to", error) ||
        !take_number (reading, "rank", receives ? TRACE_ANY_SOURCE : 0, rank->n_ranks - 1, &value,
                      error))
      return FALSE;
    node.size = (uint64_t) size;
    node.peer = (int32_t) value;
    if (take_word (reading, "tag")) {
      if (!take_number (reading, "tag", receives ? TRACE_ANY_TAG : 0, INT32_MAX, &value, error))
        return FALSE;
      node.tag = (int32_t) value;
    }
  } else {
    /* In LogGOPSim2's dialect one-sided accesses complete by counters. */
    for (guint i = 0; i < G_N_ELEMENTS (g2_verbs); i++)
      if (goal_token_is (verb, g2_verbs[i]))
        return fail (reading, verb, TRACE_ERROR_FORMAT, error,
                     "\"%.*s\" belongs to the .g2 dialect of LogGOPSim2, which cannot be read",
                     shown_length (verb), verb->text);
    return fail_expected (reading, verb, "\"send\", \"recv\" or \"calc\"", error);
  }

  if (take_word (reading, "cpu")) {
    if (!take_number (reading, "cpu", 0, MAX_CPU, &value, error))
      return FALSE;
    node.cpu = (uint8_t) value;
  }
  /* The choice of a network interface is read and ignored. */
  if (node.kind != GOAL_CALC && take_word (reading, "nic") &&
      !take_number (reading, "nic", 0, UINT8_MAX, &value, error))
    return FALSE;
  g_array_append_val (rank->graph->nodes, node);
  return TRUE;
}

static gboolean
read_dependency (RankReading *rank, const GoalToken *label, gboolean on_start, GError **error)
{
  GoalToken labels[2] = { *label, goal_scan (&rank->reading.scanner) };
  uint32_t nodes[2];

  if (labels[1].kind != GOAL_TOKEN_WORD)
    return fail_expected (&rank->reading, &labels[1], "a label", error);
  for (guint i = 0; i < 2; i++) {
    const Label *place = find_place (&rank->labels, labels[i].text, labels[i].length);

    if (place->text == NULL)
      return fail (&rank->reading, &labels[i], TRACE_ERROR_FORMAT, error,
                   "label \"%.*s\" is not defined before this line", shown_length (&labels[i]),
                   labels[i].text);
    nodes[i] = place->node;
  }
  goal_graph_add_edge (rank->graph, nodes[0], nodes[1], on_start);
  return TRUE;
}

/* The second word decides the meaning of the first. */
static gboolean
read_statement (RankReading *rank, const GoalToken *first, GError **error)
{
  GoalScanner before = rank->reading.scanner;
  GoalToken second;

  if (first->kind != GOAL_TOKEN_WORD)
    return fail_expected (&rank->reading, first, "a statement", error);
  second = goal_scan (&rank->reading.scanner);
  if (goal_token_is (&second, ":")) {
    GoalToken verb = goal_scan (&rank->reading.scanner);

    if (!goal_labels_add (&rank->labels, first->text, first->length, rank->graph->nodes->len))
      return fail (&rank->reading, first, TRACE_ERROR_FORMAT, error,
                   "label \"%.*s\" is already defined in this rank", shown_length (first),
                   first->text);
    return read_operation (rank, first, &verb, error);
  }
  if (goal_token_is (&second, "requires"))
    return read_dependency (rank, first, FALSE, error);
  if (goal_token_is (&second, "irequires"))
    return read_dependency (rank, first, TRUE, error);
  rank->reading.scanner = before;
  return read_operation (rank, first, first, error);
}

GoalGraph *
goal_text_read (const GoalText *text, uint32_t rank, GError **error)
{
  const Block *block = &g_array_index (text->blocks, Block, rank);
  g_autoptr (GoalGraph) graph = goal_graph_new ();
  RankReading reading = {
    .reading = { .text = text,
                 .known_at = block->begin,
                 .known_line = block->line,
                 .scanner = { text->data + block->begin, text->data + block->end } },
    .n_ranks = text->blocks->len,
    .graph = graph,
    .labels = { g_new0 (Label, LEAST_CAPACITY), 0, LEAST_CAPACITY },
  };
  gboolean good = TRUE;
  GoalToken first;

  while (good && (first = goal_scan (&reading.reading.scanner)).kind != GOAL_TOKEN_END)
    good = read_statement (&reading, &first, error);
  g_free (reading.labels.places);
  return good ? g_steal_pointer (&graph) : NULL;
}

uint64_t
goal_text_line (const GoalText *text, uint32_t rank, uint64_t at)
{
  const Block *block = &g_array_index (text->blocks, Block, rank);

  return line_from (text, block->begin, block->line, (gsize) at);
}

char *
goal_text_describe (const GoalText *text, uint32_t rank, const GoalNode *node)
{
  GoalScanner scanner = { text->data + node->at, text->data + text->size };
  GoalToken label = goal_scan (&scanner);

  return g_strdup_printf ("\"%.*s\" (line %" G_GUINT64_FORMAT ")", shown_length (&label),
                          label.text, goal_text_line (text, rank, node->at));
}
