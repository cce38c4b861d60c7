/* paraver_pcf.c - which numbers of events and values mean what.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A .pcf file has blocks: EVENT_TYPE, lines "COLOUR TYPE LABEL", VALUES, lines
 * "VALUE LABEL", which belong to all types of the block.  Types are known by
 * their labels; where there is none, by the numbers that Extrae has always
 * given them. */
#include "traces/paraver/paraver_format.h"

#include <string.h>

static const struct {
  const char *label;
  uint64_t type;
} roles[PARAVER_N_ROLES] = {
  [PARAVER_P2P] = { "MPI Point-to-point", 50000001 },
  [PARAVER_COLLECTIVE] = { "MPI Collective Comm", 50000002 },
  [PARAVER_OTHER] = { "MPI Other", 50000003 },
  [PARAVER_ONE_SIDED] = { "MPI One-sided", 50000004 },
  [PARAVER_IO] = { "MPI I/O", 50000005 },
  [PARAVER_SENT] = { "Send Size in MPI Global OP", 50100001 },
  [PARAVER_RECEIVED] = { "Recv Size in MPI Global OP", 50100002 },
  [PARAVER_ROOT] = { "Root in MPI Global OP", 50100003 },
  [PARAVER_COMM] = { "Communicator in MPI Global OP", 50100004 },
  [PARAVER_CALLER] = { "Caller at level 1", 70000001 },
  [PARAVER_CALLER_LINE] = { "Caller line at level 1", 80000001 },
};

typedef struct {
  ParaverMeaning *meaning;
  gboolean in_block[PARAVER_N_ROLES]; /* types of the block that is read */
  gboolean found[PARAVER_N_ROLES];
} Reading;

static void
skip_blanks (ParaverText *text)
{
  while (text->field < text->line_end && (*text->field == ' ' || *text->field == '\t'))
    text->field++;
}

/* The rest of a line, without blanks around it; may be empty. */
static char *
take_label (ParaverText *text)
{
  return g_strstrip (g_utf8_make_valid (text->field, text->line_end - text->field));
}

/* "COLOUR TYPE LABEL" */
static gboolean
read_type (Reading *reading, ParaverText *text)
{
  g_autofree char *label = NULL;
  uint64_t colour, type;

  skip_blanks (text);
  if (!paraver_take_number (text, UINT64_MAX, &colour))
    return FALSE;
  skip_blanks (text);
  if (!paraver_take_number (text, UINT64_MAX, &type))
    return FALSE;
  label = take_label (text);
  for (ParaverRole role = 0; role < PARAVER_N_ROLES; role++)
    if (g_str_equal (label, roles[role].label)) {
      reading->meaning->types[role] = type;
      reading->found[role] = reading->in_block[role] = TRUE;
    }
  return TRUE;
}

static void
add_call (Reading *reading, ParaverRole group, uint32_t value, const char *label)
{
  uint32_t call = paraver_call_by_name (label);

  g_hash_table_insert (reading->meaning->calls[group], GUINT_TO_POINTER (value),
                       GUINT_TO_POINTER ((call == PARAVER_NONE ? PARAVER_CALL_UNKNOWN : call) + 1));
}

static void
add_label (GHashTable *labels, uint32_t value, const char *label)
{
  g_hash_table_insert (labels, GUINT_TO_POINTER (value), g_strdup (label));
}

/* "VALUE LABEL"; values that do not fit are not of calls. */
static gboolean
read_value (Reading *reading, ParaverText *text)
{
  g_autofree char *label = NULL;
  uint64_t value;

  skip_blanks (text);
  if (!paraver_take_number (text, UINT64_MAX, &value))
    return FALSE;
  label = take_label (text);
  if (value == 0 || value > UINT32_MAX)
    return TRUE;
  for (ParaverRole group = 0; group < PARAVER_N_GROUPS; group++)
    if (reading->in_block[group])
      add_call (reading, group, (uint32_t) value, label);
  if (reading->in_block[PARAVER_CALLER])
    add_label (reading->meaning->callers, (uint32_t) value, label);
  if (reading->in_block[PARAVER_CALLER_LINE])
    add_label (reading->meaning->lines, (uint32_t) value, label);
  return TRUE;
}

static gboolean
is_keyword (const ParaverText *text, const char *word)
{
  gsize n = (gsize) (text->line_end - text->line);

  while (n > 0 && (text->line[n - 1] == ' ' || text->line[n - 1] == '\t'))
    n--;
  return n == strlen (word) && memcmp (text->line, word, n) == 0;
}

static gboolean
read_blocks (Reading *reading, ParaverText *text, GError **error)
{
  enum { ELSEWHERE, TYPES, VALUES } where = ELSEWHERE;

  while (paraver_text_next (text)) {
    gboolean good = TRUE;

    if (is_keyword (text, "EVENT_TYPE")) {
      memset (reading->in_block, 0, sizeof reading->in_block);
      where = TYPES;
    } else if (is_keyword (text, "VALUES") && where == TYPES)
      where = VALUES;
    else if (is_keyword (text, "") || !g_ascii_isdigit (*text->line))
      where = ELSEWHERE;
    else if (where == TYPES)
      good = read_type (reading, text);
    else if (where == VALUES)
      good = read_value (reading, text);
    if (!good)
      return paraver_bad_line (
          text, TRACE_ERROR_FORMAT,
          where == TYPES ? "expected \"COLOUR TYPE LABEL\"" : "expected \"VALUE LABEL\"", error);
  }
  return TRUE;
}

static void
use_standard (ParaverMeaning *meaning, ParaverRole role)
{
  meaning->types[role] = roles[role].type;
}

static gboolean
read_pcf (ParaverMeaning *meaning, const char *pcf, GError **error)
{
  g_autoptr (ParaverText) text = paraver_text_open (pcf, error);
  Reading reading = { .meaning = meaning };

  if (text == NULL || !read_blocks (&reading, text, error))
    return FALSE;
  for (ParaverRole role = 0; role < PARAVER_N_ROLES; role++)
    if (!reading.found[role])
      use_standard (meaning, role);
  return TRUE;
}

ParaverMeaning *
paraver_meaning_new (Trace *trace, const char *pcf, GError **error)
{
  ParaverMeaning *meaning = g_new0 (ParaverMeaning, 1);

  for (ParaverRole group = 0; group < PARAVER_N_GROUPS; group++)
    meaning->calls[group] = g_hash_table_new (NULL, NULL);
  meaning->callers = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  meaning->lines = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  meaning->sites = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, g_free);
  meaning->named = pcf != NULL;
  if (pcf == NULL) {
    for (ParaverRole role = 0; role < PARAVER_N_ROLES; role++)
      use_standard (meaning, role);
    trace_warn (trace, "no .pcf file beside it: events are taken for those of Extrae");
  } else if (!read_pcf (meaning, pcf, error)) {
    paraver_meaning_free (meaning);
    return NULL;
  }
  return meaning;
}

void
paraver_meaning_free (ParaverMeaning *meaning)
{
  if (meaning == NULL)
    return;
  for (ParaverRole group = 0; group < PARAVER_N_GROUPS; group++)
    g_hash_table_unref (meaning->calls[group]);
  g_hash_table_unref (meaning->callers);
  g_hash_table_unref (meaning->lines);
  g_hash_table_unref (meaning->sites);
  g_free (meaning);
}

/* "CommSend lulesh-comm.cc:101" of the labels "CommSend" and "101
 * (lulesh-comm.cc, lulesh2.0)". */
static char *
describe_site (const char *caller, const char *line)
{
  const char *open = line != NULL ? strchr (line, '(') : NULL;
  gsize n_digits = line != NULL ? strspn (line, "0123456789") : 0;
  const char *comma = open != NULL ? strchr (open, ',') : NULL;

  if (comma == NULL || n_digits == 0 || line[0] == '0')
    return g_strdup (caller);
  return g_strdup_printf ("%s %.*s:%.*s", caller, (int) (comma - open - 1), open + 1,
                          (int) n_digits, line);
}

const char *
paraver_site (ParaverMeaning *meaning, uint32_t caller, uint32_t line)
{
  const char *label = g_hash_table_lookup (meaning->callers, GUINT_TO_POINTER (caller));
  uint64_t key = (uint64_t) caller << 32 | line;
  char *site;

  /* The first labels are for callers that could not be found. */
  if (label == NULL || *label == '\0' || g_str_equal (label, "Unresolved") ||
      g_str_equal (label, "_NOT_Found"))
    return NULL;
  site = g_hash_table_lookup (meaning->sites, &key);
  if (site == NULL) {
    uint64_t *kept = g_new (uint64_t, 1);

    *kept = key;
    site = describe_site (label, g_hash_table_lookup (meaning->lines, GUINT_TO_POINTER (line)));
    g_hash_table_insert (meaning->sites, kept, site);
  }
  return site;
}
