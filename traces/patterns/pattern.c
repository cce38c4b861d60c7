/* pattern.c - programs that are generated: specs, the list of patterns, streams.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/patterns/pattern.h"

#include "base/words.h"
#include "traces/format.h"
#include "traces/patterns/pattern_ops.h"
#include "traces/patterns/pattern_grid.h"

#include <math.h>
#include <string.h>

/* --- Specs: "gen:KIND:NAME=VALUE,..." --- */

#define PATTERN_MAX_PARAMETERS 24

#define PREFIX      "gen:"
#define MAX_INTEGER ((int64_t) G_MAXINT32)
#define MAX_BYTES   ((int64_t) 1 << 40)
#define MAX_TIME_PS 1e15
#define MAX_GRID    ((int64_t) 1 << 24)

/* The largest first: a time is printed in the first that divides it. */
static const struct {
  const char *name;
  int64_t ps;
} times[] = {
  { "s", 1000000000000 }, { "ms", 1000000000 }, { "us", 1000000 }, { "ns", 1000 }, { "ps", 1 },
};

/* In the order in which they are listed. */
static const TracePattern *const patterns[] = {
  &trace_pattern_halo2d, &trace_pattern_halo3d,   &trace_pattern_suba2a,      &trace_pattern_pf3d,
  &trace_pattern_evh1,   &trace_pattern_alltoall, &trace_pattern_permutation, &trace_pattern_random,
  &trace_pattern_ring,   &trace_pattern_pingpong, &trace_pattern_npb,         NULL,
};

gboolean
trace_pattern_is_spec (const char *path)
{
  return g_str_has_prefix (path, PREFIX);
}

/* The names joined for a message, with the one that was probably meant; the
 * caller frees.  The array gets its terminator here. */
static char *
list_names (GPtrArray *names, const char *name)
{
  g_autofree char *known = NULL, *meant = NULL;

  g_ptr_array_add (names, NULL);
  known = g_strjoinv (", ", (char **) names->pdata);
  meant = base_did_you_mean (name, (const char *const *) names->pdata);
  return g_strconcat (known, meant, NULL);
}

/* The pattern that a spec names. */
static const TracePattern *
find_pattern (const char *spec, GError **error)
{
  const char *kind = spec + strlen (PREFIX);
  gsize n = strcspn (kind, ":");
  g_autofree char *name = g_strndup (kind, MIN (n, 80)), *known = NULL;
  g_autoptr (GPtrArray) names = g_ptr_array_new ();

  for (guint i = 0; patterns[i] != NULL; i++) {
    if (strlen (patterns[i]->name) == n && strncmp (patterns[i]->name, kind, n) == 0)
      return patterns[i];
    g_ptr_array_add (names, (gpointer) patterns[i]->name);
  }
  known = list_names (names, name);
  g_set_error (error, TRACE_ERROR, TRACE_ERROR_FORMAT,
               "%s: there is no pattern \"%s\"; there are %s", spec, name, known);
  return NULL;
}

/* FALSE and *error, always. */
static gboolean bad_value (const TraceParameter *parameter, const char *text, GError **error,
                           const char *expected, ...) G_GNUC_PRINTF (4, 5);

static gboolean
bad_value (const TraceParameter *parameter, const char *text, GError **error, const char *expected,
           ...)
{
  g_autofree char *what = NULL;
  va_list arguments;

  va_start (arguments, expected);
  what = g_strdup_vprintf (expected, arguments);
  va_end (arguments);
  return TRACE_FAIL (TRACE_ERROR_RANGE, error, "%s: \"%.80s\" is not %s", parameter->name, text,
                     what);
}

static gboolean
read_value (const TraceParameter *parameter, const char *text, TraceParameterValue *value,
            GError **error)
{
  switch (parameter->kind) {
  case TRACE_PARAMETER_INTEGER:
    if (g_ascii_string_to_signed (text, 10, parameter->least, MAX_INTEGER, &value->integer, NULL))
      return TRUE;
    return bad_value (parameter, text, error,
                      "a whole number within %" G_GINT64_FORMAT "..%" G_GINT64_FORMAT,
                      parameter->least, MAX_INTEGER);
  case TRACE_PARAMETER_BYTES: {
    static const char letters[] = "KMG";
    gsize n = strlen (text);
    const char *letter = n > 0 ? strchr (letters, g_ascii_toupper (text[n - 1])) : NULL;
    gint shift = letter != NULL ? 10 * (gint) (letter - letters + 1) : 0;
    g_autofree char *digits = g_strndup (text, letter != NULL ? n - 1 : n);
    int64_t number;

    if (g_ascii_string_to_signed (digits, 10, 0, MAX_BYTES >> shift, &number, NULL) &&
        (number << shift) >= parameter->least) {
      value->integer = number << shift;
      return TRUE;
    }
    return bad_value (parameter, text, error,
                      "a number of bytes within %" G_GINT64_FORMAT
                      "..1024G; K, M and G are powers of 1024",
                      parameter->least);
  }
  case TRACE_PARAMETER_TIME: {
    /* Digits, perhaps a point and more digits, then the unit; rounded to whole
     * picoseconds.  A plain 0 needs no unit. */
    gsize n = strspn (text, "0123456789.");
    g_autofree char *digits = g_strndup (text, n);
    g_autofree char *unit = g_strstrip (g_strdup (text + n));
    char *end;
    double number = g_ascii_strtod (digits, &end);
    gboolean good = n > 0 && *end == '\0' && end > digits;

    if (good && number == 0 && *unit == '\0') {
      value->integer = 0;
      return TRUE;
    }
    for (guint i = 0; good && i < G_N_ELEMENTS (times); i++)
      if (strcmp (unit, times[i].name) == 0 && number * (double) times[i].ps <= MAX_TIME_PS) {
        value->integer = llround (number * (double) times[i].ps);
        return TRUE;
      }
    return bad_value (parameter, text, error, "a time within 0..1000s, such as 10us or 2.5ms");
  }
  case TRACE_PARAMETER_GRID: {
    g_auto (GStrv) parts = g_strsplit (text, "x", -1);
    guint n = g_strv_length (parts);
    TraceParameterValue read = { .grid = { 0, 0, 0 } };
    gboolean good = n >= 1 && n <= G_N_ELEMENTS (read.grid);

    for (guint i = 0; good && i < n; i++)
      good = g_ascii_string_to_signed (parts[i], 10, MAX (parameter->least, 1), MAX_GRID,
                                       &read.grid[i], NULL);
    if (!good)
      return bad_value (parameter, text, error,
                        "a grid such as 16x8x128 of up to 3 numbers within 1..%" G_GINT64_FORMAT,
                        MAX_GRID);
    *value = read;
    return TRUE;
  }
  case TRACE_PARAMETER_WORD: {
    g_autofree char *list = g_strndup (parameter->help, strcspn (parameter->help, ":"));
    g_auto (GStrv) words = g_strsplit (list, "|", -1);
    g_autofree char *meant = NULL;

    for (guint i = 0; words[i] != NULL; i++)
      if (g_ascii_strcasecmp (words[i], text) == 0) {
        value->word = g_intern_string (words[i]);
        return TRUE;
      }
    meant = base_did_you_mean (text, (const char *const *) words);
    return bad_value (parameter, text, error, "one of %s%s", list, meant);
  }
  }
  g_assert_not_reached ();
}

/* Reads one NAME=VALUE, and marks its parameter in given[]. */
static gboolean
read_setting (const char *setting, const TracePattern *pattern, TraceParameterValue *values,
              gboolean *given, GError **error)
{
  const char *equals = strchr (setting, '=');
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  g_autofree char *name = NULL, *shown = NULL, *known = NULL;

  if (equals == NULL)
    return TRACE_FAIL (TRACE_ERROR_FORMAT, error, "\"%.80s\" is not of the form NAME=VALUE",
                       setting);
  name = g_strndup (setting, (gsize) (equals - setting));
  for (guint i = 0; pattern->parameters[i].name != NULL; i++) {
    if (strcmp (pattern->parameters[i].name, name) != 0)
      continue;
    if (given[i])
      return TRACE_FAIL (TRACE_ERROR_FORMAT, error, "%s is given twice", name);
    given[i] = TRUE;
    return read_value (&pattern->parameters[i], equals + 1, &values[i], error);
  }
  for (const TraceParameter *p = pattern->parameters; p->name != NULL; p++)
    g_ptr_array_add (names, (gpointer) p->name);
  shown = g_strndup (name, 80);
  known = list_names (names, shown);
  return TRACE_FAIL (TRACE_ERROR_FORMAT, error, "%s has no parameter \"%s\"; it has %s",
                     pattern->name, shown, known);
}

/* The values of a spec of this pattern, presets where it gives none. */
static gboolean
read_values (const char *spec, const TracePattern *pattern,
             TraceParameterValue values[PATTERN_MAX_PARAMETERS], GError **error)
{
  const char *colon = strchr (spec + strlen (PREFIX), ':');
  g_auto (GStrv) settings = g_strsplit (colon != NULL ? colon + 1 : "", ",", -1);
  gboolean given[PATTERN_MAX_PARAMETERS] = { FALSE };

  memset (values, 0, PATTERN_MAX_PARAMETERS * sizeof *values);
  for (guint i = 0; settings[i] != NULL; i++)
    if (!read_setting (settings[i], pattern, values, given, error))
      return FALSE;
  for (guint i = 0; pattern->parameters[i].name != NULL; i++) {
    const TraceParameter *parameter = &pattern->parameters[i];

    g_assert (i < PATTERN_MAX_PARAMETERS);
    if (given[i] || (parameter->preset != NULL && *parameter->preset == '\0'))
      continue;
    if (parameter->preset == NULL)
      return TRACE_FAIL (TRACE_ERROR_FORMAT, error, "%s=... is missing: %s", parameter->name,
                         parameter->help);
    if (!read_value (parameter, parameter->preset, &values[i], error))
      g_assert_not_reached ();
  }
  return TRUE;
}

/* The spec of these values, in the order of the table, without absent ones;
 * the caller frees it. */
static char *
print_spec (const TracePattern *pattern, const TraceParameterValue *values)
{
  static const TraceParameterValue absent = { .grid = { 0, 0, 0 } };
  GString *text = g_string_new (PREFIX);
  char separator = ':';

  g_string_append (text, pattern->name);
  for (guint i = 0; pattern->parameters[i].name != NULL; i++) {
    const TraceParameter *parameter = &pattern->parameters[i];
    const TraceParameterValue *value = &values[i];
    guint unit = 0;

    if (parameter->preset != NULL && *parameter->preset == '\0' &&
        memcmp (value, &absent, sizeof absent) == 0)
      continue;
    g_string_append_printf (text, "%c%s=", separator, parameter->name);
    separator = ',';
    switch (parameter->kind) {
    case TRACE_PARAMETER_INTEGER:
    case TRACE_PARAMETER_BYTES:
      g_string_append_printf (text, "%" G_GINT64_FORMAT, value->integer);
      break;
    case TRACE_PARAMETER_TIME:
      while (value->integer % times[unit].ps != 0)
        unit++;
      g_string_append_printf (text, "%" G_GINT64_FORMAT "%s", value->integer / times[unit].ps,
                              times[unit].name);
      break;
    case TRACE_PARAMETER_GRID:
      for (guint d = 0; d < 3 && value->grid[d] != 0; d++)
        g_string_append_printf (text, "%s%" G_GINT64_FORMAT, d == 0 ? "" : "x", value->grid[d]);
      break;
    case TRACE_PARAMETER_WORD: g_string_append (text, value->word); break;
    }
  }
  return g_string_free (text, FALSE);
}

/* --- Generated programs and their streams --- */

typedef struct {
  const TracePattern *pattern;
  gpointer state;
  char *spec; /* canonical */
} Program;

typedef enum { STAGE_INIT, STAGE_BATCHES, STAGE_ENDED } Stage;

typedef struct {
  const Program *program;
  uint32_t rank;
  Stage stage;
  guint at;        /* of the next operation in the batch */
  PatternOps *ops; /* NULL: the batch is over, or none was made yet */
  uint64_t n_batches;
  uint64_t n_operations; /* read from the batch */
  char *place;
} Cursor;

const TracePattern *const *
trace_patterns (void)
{
  return patterns;
}

static void
program_free (gpointer data)
{
  Program *program = data;

  if (program->state != NULL)
    program->pattern->close (program->state);
  g_free (program->spec);
  g_free (program);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Program, program_free)

static Program *
program_new (const char *spec, uint32_t *n_ranks, GError **error)
{
  g_autoptr (Program) program = g_new0 (Program, 1);
  TraceParameterValue values[PATTERN_MAX_PARAMETERS];

  program->pattern = find_pattern (spec, error);
  if (program->pattern == NULL)
    return NULL;
  if (read_values (spec, program->pattern, values, error))
    program->state = program->pattern->open (values, n_ranks, error);
  if (program->state == NULL) {
    g_prefix_error (error, "%s: ", spec);
    return NULL;
  }
  if (*n_ranks > PATTERN_MAX_RANKS) {
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_RANGE,
                 "%s: %u ranks; there may be up to %" G_GINT64_FORMAT, spec, *n_ranks,
                 PATTERN_MAX_RANKS);
    return NULL;
  }
  program->spec = print_spec (program->pattern, values);
  return g_steal_pointer (&program);
}

char *
trace_pattern_canonical (const char *spec, GError **error)
{
  uint32_t n_ranks;
  g_autoptr (Program) program = program_new (spec, &n_ranks, error);

  return program != NULL ? g_steal_pointer (&program->spec) : NULL;
}

static gboolean
probe (const char *path, const guint8 *head, gsize n)
{
  (void) head, (void) n;
  return trace_pattern_is_spec (path);
}

static gpointer
open_trace (Trace *trace, const char *path, const TraceOptions *options, uint32_t *n_ranks,
            GPtrArray *files, GError **error)
{
  g_autoptr (Program) program = NULL;

  (void) files;
  if (!trace_refuse_region (path, options, error) ||
      (program = program_new (path, n_ranks, error)) == NULL)
    return NULL;
  if (options->n_ranks != 0 && options->n_ranks != *n_ranks) {
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_RANGE, "%s: has %u ranks, but %u were asked for",
                 path, *n_ranks, options->n_ranks);
    return NULL;
  }
  trace_set_spec (trace, program->spec);
  return g_steal_pointer (&program);
}

static gpointer
cursor_new (gpointer state, uint32_t rank, GError **error)
{
  Cursor *cursor = g_new0 (Cursor, 1);

  (void) error;
  cursor->program = state;
  cursor->rank = rank;
  return cursor;
}

static void
cursor_free (gpointer data)
{
  Cursor *cursor = data;

  pattern_ops_free (cursor->ops);
  g_free (cursor->place);
  g_free (cursor);
}

static TraceNext
bare_operation (TraceOp *op, TraceOpKind kind, const char *name)
{
  *op = (TraceOp){ .kind = kind, .comm = TRACE_COMM_WORLD, .name = name };
  return TRACE_NEXT_OPERATION;
}

static TraceNext
cursor_next (gpointer data, TraceOp *op, GError **error)
{
  Cursor *cursor = data;
  const Program *program = cursor->program;

  (void) error;
  if (cursor->stage == STAGE_ENDED)
    return TRACE_NEXT_END;
  if (cursor->stage == STAGE_INIT) {
    cursor->stage = STAGE_BATCHES;
    return bare_operation (op, TRACE_OP_INIT, "MPI_Init");
  }
  while (cursor->ops == NULL || !pattern_ops_read (cursor->ops, &cursor->at, op)) {
    if (cursor->ops == NULL)
      cursor->ops = pattern_ops_new ();
    pattern_ops_clear (cursor->ops);
    if (!program->pattern->fill (program->state, cursor->rank, cursor->n_batches, cursor->ops)) {
      g_clear_pointer (&cursor->ops, pattern_ops_free);
      cursor->stage = STAGE_ENDED;
      return bare_operation (op, TRACE_OP_FINALIZE, "MPI_Finalize");
    }
    pattern_ops_seal (cursor->ops);
    cursor->n_batches++;
    cursor->n_operations = 0;
    cursor->at = 0;
  }
  cursor->n_operations++;
  /* A rank waits mostly in the last operation of a batch, and a million ranks at once. */
  if (pattern_ops_is_over (cursor->ops, cursor->at))
    g_clear_pointer (&cursor->ops, pattern_ops_free);
  return TRACE_NEXT_OPERATION;
}

/* Batches and their operations are counted from 0, as `index` is. */
static const char *
cursor_place (gpointer data)
{
  Cursor *cursor = data;
  const char *name = cursor->program->pattern->name;

  g_free (cursor->place);
  if (cursor->stage == STAGE_ENDED)
    cursor->place = g_strdup_printf ("gen:%s end", name);
  else if (cursor->n_operations == 0)
    cursor->place = g_strdup_printf ("gen:%s start", name);
  else
    cursor->place =
        g_strdup_printf ("gen:%s batch %" G_GUINT64_FORMAT " operation %" G_GUINT64_FORMAT, name,
                         cursor->n_batches - 1, cursor->n_operations - 1);
  return cursor->place;
}

const TraceFormat trace_format_pattern = {
  .name = "pattern",
  .summary = "generated pattern: gen:KIND:NAME=VALUE,...",
  .probe = probe,
  .open = open_trace,
  .close = program_free,
  .cursor_new = cursor_new,
  .cursor_free = cursor_free,
  .cursor_next = cursor_next,
  .cursor_place = cursor_place,
};
