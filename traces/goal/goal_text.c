/* goal_text.c - GOAL schedules as text.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/goal/goal_text.h"

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

/* A scanner is at a place of a text; it may be copied to come back to it. */
typedef struct {
  const char *at, *end;
} GoalScanner;

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

/* --- Which node of a rank has which label --- */

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

static GoalLabels *
goal_labels_new (void)
{
  GoalLabels *labels = g_new (GoalLabels, 1);

  labels->n = 0;
  labels->capacity = LEAST_CAPACITY;
  labels->places = g_new0 (Label, labels->capacity);
  return labels;
}

static void
goal_labels_free (GoalLabels *labels)
{
  if (labels == NULL)
    return;
  g_free (labels->places);
  g_free (labels);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GoalLabels, goal_labels_free)

/* FNV-1a. */
static gsize
hash (const char *text, gsize length)
{
  uint64_t hash = 0xcbf29ce484222325u;

  for (gsize i = 0; i < length; i++)
    hash = (hash ^ (guint8) text[i]) * 0x100000001b3u;
  return (gsize) (hash ^ (hash >> 32));
}

/* Where the label is, or would be. */
static Label *
find_place (const GoalLabels *labels, const char *text, gsize length)
{
  for (gsize at = hash (text, length);; at++) {
    Label *place = &labels->places[at & (labels->capacity - 1)];

    if (place->text == NULL || (place->length == length && memcmp (place->text, text, length) == 0))
      return place;
  }
}

static void
grow (GoalLabels *labels)
{
  Label *old = labels->places;
  gsize n_old = labels->capacity;

  labels->capacity *= 2;
  labels->places = g_new0 (Label, labels->capacity);
  for (gsize i = 0; i < n_old; i++)
    if (old[i].text != NULL)
      *find_place (labels, old[i].text, old[i].length) = old[i];
  g_free (old);
}

/* FALSE when another node has the label. */
static gboolean
goal_labels_add (GoalLabels *labels, const char *text, gsize length, uint32_t node)
{
  Label *place;

  if (labels->n * 2 >= labels->capacity)
    grow (labels);
  place = find_place (labels, text, length);
  if (place->text != NULL)
    return FALSE;
  *place = (Label){ text, (uint32_t) length, node };
  labels->n++;
  return TRUE;
}

/* FALSE when no node has it. */
static gboolean
goal_labels_find (const GoalLabels *labels, const char *text, gsize length, uint32_t *node)
{
  const Label *place = find_place (labels, text, length);

  if (place->text == NULL)
    return FALSE;
  *node = place->node;
  return TRUE;
}

/* --- GOAL schedules as text: where each rank is, and what it does --- */

/* More ranks than any machine has: such a number is a mistake. */
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
count_lines (const char *begin, const char *end)
{
  uint64_t n = 0;

  while (begin < end && (begin = memchr (begin, '\n', (gsize) (end - begin))) != NULL) {
    begin++;
    n++;
  }
  return n;
}

static uint64_t
line_from (const GoalText *text, gsize known_at, uint64_t known_line, gsize at)
{
  return known_line + count_lines (text->data + known_at, text->data + at);
}

/* What a message shows of a token: not a whole line of dashes. */
static int
shown_length (const GoalToken *token)
{
  return (int) MIN (token->length, 40);
}

/* What is read: the text, and a place in it whose line is known. */
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
  g_set_error (
      error, TRACE_ERROR, (gint) code, "%s:%" G_GUINT64_FORMAT ": %s", text->name,
      line_from (text, reading->known_at, reading->known_line, (gsize) (token->text - text->data)),
      message);
  return FALSE;
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

/* -- where the ranks are ------------------------------------------------------- */

/* Goes beyond the closing brace of a rank. */
static gboolean
skip_block (Reading *reading, GError **error)
{
  for (;;) {
    GoalToken token = goal_scan (&reading->scanner);

    if (goal_token_is (&token, "}"))
      return TRUE;
    if (token.kind == GOAL_TOKEN_END || token.kind == GOAL_TOKEN_BAD || goal_token_is (&token, "{"))
      return fail_expected (reading, &token, "statements or \"}\"", error);
  }
}

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
    if (!skip_block (&reading, error))
      return FALSE;
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
  GoalLabels *labels;
} RankReading;

/* [tag T] [cpu C] [nic K] in this order; which network interface, no machine
 * here can be asked. */
static gboolean
read_options (RankReading *rank, GoalNode *node, GError **error)
{
  Reading *reading = &rank->reading;
  int64_t least_tag = node->kind == GOAL_RECV ? TRACE_ANY_TAG : 0, value;

  if (node->kind != GOAL_CALC && take_word (reading, "tag")) {
    if (!take_number (reading, "tag", least_tag, INT32_MAX, &value, error))
      return FALSE;
    node->tag = (int32_t) value;
  }
  if (take_word (reading, "cpu")) {
    if (!take_number (reading, "cpu", 0, MAX_CPU, &value, error))
      return FALSE;
    node->cpu = (uint8_t) value;
  }
  return node->kind == GOAL_CALC || !take_word (reading, "nic") ||
         take_number (reading, "nic", 0, UINT8_MAX, &value, error);
}

static gboolean
read_message (RankReading *rank, GoalNode *node, GError **error)
{
  gboolean receives = node->kind == GOAL_RECV;
  int64_t bytes, peer;

  if (!take_number (&rank->reading, "size", 0, TRACE_MAX_BYTES, &bytes, error) ||
      !expect (&rank->reading, "b", error) ||
      !expect (&rank->reading, receives ? "from" : "to", error) ||
      !take_number (&rank->reading, "rank", receives ? TRACE_ANY_SOURCE : 0, rank->n_ranks - 1,
                    &peer, error))
    return FALSE;
  node->size = (uint64_t) bytes;
  node->peer = (int32_t) peer;
  return read_options (rank, node, error);
}

static gboolean
read_calc (RankReading *rank, GoalNode *node, GError **error)
{
  int64_t ns;

  if (!take_number (&rank->reading, "time in ns", 0, INT64_MAX / PS_PER_NS, &ns, error))
    return FALSE;
  node->size = (uint64_t) ns * PS_PER_NS;
  return read_options (rank, node, error);
}

/* Statements of LogGOPSim2's dialect, in which one-sided accesses complete by
 * counters. */
static gboolean
is_of_g2 (const GoalToken *token)
{
  static const char *const words[] = { "put", "get", "append", "ct", "test", "tput", "tget" };

  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    if (goal_token_is (token, words[i]))
      return TRUE;
  return FALSE;
}

/* What follows the label, or its absence; begin is the first word of all. */
static gboolean
read_operation (RankReading *rank, const GoalToken *begin, const GoalToken *verb, GError **error)
{
  GoalNode node = { .at = (uint64_t) (begin->text - rank->reading.text->data) };
  gboolean good;

  if (goal_token_is (verb, "calc"))
    node.kind = GOAL_CALC;
  else if (goal_token_is (verb, "send"))
    node.kind = GOAL_SEND;
  else if (goal_token_is (verb, "recv"))
    node.kind = GOAL_RECV;
  else if (is_of_g2 (verb))
    return fail (&rank->reading, verb, TRACE_ERROR_FORMAT, error,
                 "\"%.*s\" is of the .g2 dialect of LogGOPSim2, which cannot be read",
                 shown_length (verb), verb->text);
  else
    return fail_expected (&rank->reading, verb, "\"send\", \"recv\" or \"calc\"", error);
  good =
      node.kind == GOAL_CALC ? read_calc (rank, &node, error) : read_message (rank, &node, error);
  if (good)
    g_array_append_val (rank->graph->nodes, node);
  return good;
}

static gboolean
find_label (RankReading *rank, const GoalToken *label, uint32_t *node, GError **error)
{
  return goal_labels_find (rank->labels, label->text, label->length, node) ||
         fail (&rank->reading, label, TRACE_ERROR_FORMAT, error,
               "label \"%.*s\" is not defined before this line", shown_length (label), label->text);
}

static gboolean
read_dependency (RankReading *rank, const GoalToken *label, gboolean on_start, GError **error)
{
  GoalToken other = goal_scan (&rank->reading.scanner);
  uint32_t node = 0, on = 0;

  if (other.kind != GOAL_TOKEN_WORD)
    return fail_expected (&rank->reading, &other, "a label", error);
  if (!find_label (rank, label, &node, error) || !find_label (rank, &other, &on, error))
    return FALSE;
  goal_graph_add_edge (rank->graph, node, on, on_start);
  return TRUE;
}

/* The word after the first tells what the first is. */
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

    if (!goal_labels_add (rank->labels, first->text, first->length, rank->graph->nodes->len))
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
  g_autoptr (GoalLabels) labels = goal_labels_new ();
  RankReading reading = {
    .reading = { .text = text,
                 .known_at = block->begin,
                 .known_line = block->line,
                 .scanner = { text->data + block->begin, text->data + block->end } },
    .n_ranks = text->blocks->len,
    .graph = graph,
    .labels = labels,
  };
  GoalToken first;

  while ((first = goal_scan (&reading.reading.scanner)).kind != GOAL_TOKEN_END)
    if (!read_statement (&reading, &first, error))
      return NULL;
  return g_steal_pointer (&graph);
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
