/* trace_generate.c - `hopcast trace generate`: the spec or the trace of a pattern.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The options of a pattern are the rows of its table of parameters. */
#include "config.h"

#include "cli/parse.h"
#include "cli/command.h"
#include "cli/trace/trace_write.h"
#include "traces/patterns/pattern.h"

#include <string.h>

static char *
describe_patterns (void)
{
  GString *text = g_string_new ("Patterns:\n");

  for (const TracePattern *const *pattern = trace_patterns (); *pattern; pattern++)
    g_string_append_printf (text, "  %-12s %s\n", (*pattern)->name, (*pattern)->summary);
  g_string_append (text, "\n'hopcast trace generate KIND --help' tells the parameters of one.");
  return g_string_free (text, FALSE);
}

/* NULL and *error when there is none. */
static const TracePattern *
find_pattern (const char *kind, GError **error)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  int choice;

  for (const TracePattern *const *pattern = trace_patterns (); *pattern; pattern++)
    g_ptr_array_add (names, (gpointer) (*pattern)->name);
  g_ptr_array_add (names, NULL);
  choice = cli_parse_choice ("PATTERN", kind, (const char *const *) names->pdata, error);
  return choice >= 0 ? trace_patterns ()[choice] : NULL;
}

static const char *
argument_name (TraceParameterKind kind)
{
  switch (kind) {
  case TRACE_PARAMETER_INTEGER: return "N";
  case TRACE_PARAMETER_BYTES: return "BYTES";
  case TRACE_PARAMETER_TIME: return "TIME";
  case TRACE_PARAMETER_GRID: return "AxBxC";
  case TRACE_PARAMETER_WORD: return "WORD";
  }
  g_assert_not_reached ();
}

static char *
describe_parameter (const TraceParameter *parameter)
{
  if (!parameter->preset)
    return g_strdup_printf ("%s (must be given)", parameter->help);
  if (!*parameter->preset)
    return g_strdup (parameter->help);
  return g_strdup_printf ("%s (default: %s)", parameter->help, parameter->preset);
}

/* One option per parameter; texts gets what is typed, in the order of the
 * table, and owns it.  Descriptions are kept in `kept`. */
static void
add_parameters (GOptionContext *context, const TracePattern *pattern, GPtrArray *texts,
                GPtrArray *kept)
{
  guint n = 0;

  while (pattern->parameters[n].name)
    n++;
  g_ptr_array_set_size (texts, (gint) n);
  for (guint i = 0; i < n; i++) {
    const TraceParameter *parameter = &pattern->parameters[i];
    char *description = describe_parameter (parameter);
    const GOptionEntry entries[] = {
      { parameter->name, 0, 0, G_OPTION_ARG_STRING, &texts->pdata[i], description,
        argument_name (parameter->kind) },
      { NULL },
    };

    g_ptr_array_add (kept, description);
    g_option_context_add_main_entries (context, entries, NULL);
  }
}

/* Words right behind KIND, as in "npb LU D", are the first parameters in the
 * order of the table.  How many there are; they are taken out of argv. */
static guint
take_words (int *argc, char **argv, char **words, guint most)
{
  guint n = 0;

  while (n<most && * argc> 2 && *argv[2] != '-') {
    words[n++] = argv[2];
    memmove (&argv[2], &argv[3], (gsize) (*argc - 2) * sizeof *argv);
    --*argc;
  }
  return n;
}

static gboolean
fill_words (const TracePattern *pattern, GPtrArray *texts, char **words, guint n_words,
            GError **error)
{
  for (guint i = 0; i < n_words; i++) {
    if (texts->pdata[i]) {
      g_set_error (error, CLI_ERROR, CLI_ERROR_USAGE, "--%s is given twice: '%s' and '%s'",
                   pattern->parameters[i].name, words[i], (char *) texts->pdata[i]);
      return FALSE;
    }
    texts->pdata[i] = g_strdup (words[i]);
  }
  return TRUE;
}

static gboolean
append_setting (GString *spec, const char *name, const char *text, gboolean first, GError **error)
{
  if (strchr (text, ',')) {
    g_set_error (error, CLI_ERROR, CLI_ERROR_USAGE, "--%s: '%s' has a comma in it", name, text);
    return FALSE;
  }
  g_string_append_printf (spec, "%c%s=%s", first ? ':' : ',', name, text);
  return TRUE;
}

/* The complete spec of what was typed; NULL and *error when it is wrong. */
static char *
make_spec (const TracePattern *pattern, const GPtrArray *texts, GError **error)
{
  g_autoptr (GString) spec = g_string_new ("gen:");
  g_autoptr (GError) trouble = NULL;
  gboolean first = TRUE;
  char *canonical;

  g_string_append (spec, pattern->name);
  for (guint i = 0; i < texts->len; i++) {
    if (!texts->pdata[i])
      continue;
    if (!append_setting (spec, pattern->parameters[i].name, texts->pdata[i], first, error))
      return NULL;
    first = FALSE;
  }
  canonical = trace_pattern_canonical (spec->str, &trouble);
  if (!canonical)
    g_set_error_literal (error, CLI_ERROR, CLI_ERROR_USAGE, trouble->message);
  return canonical;
}

static gboolean
generate (const char *spec, const CliTraceWriteOptions *options, const CliTalkOptions *talk,
          GError **error)
{
  g_autoptr (Trace) trace = NULL;

  if (options->path)
    return (trace = trace_open (spec, NULL, error)) &&
           cli_trace_write (trace, options, talk, error);
  if (options->format_name) {
    g_set_error (error, CLI_ERROR, CLI_ERROR_USAGE, "--to: needs --output FILE");
    return FALSE;
  }
  printf ("%s\n", spec);
  return TRUE;
}

/* The pattern that the first argument names; NULL without *error when help on
 * all of them is asked for. */
static const TracePattern *
first_argument (int argc, char **argv, GError **error)
{
  if (argc > 1 && (!strcmp (argv[1], "--help") || !strcmp (argv[1], "-h")))
    return NULL;
  if (argc > 1 && *argv[1] != '-')
    return find_pattern (argv[1], error);
  g_set_error (error, CLI_ERROR, CLI_ERROR_USAGE, "KIND is missing: it comes before the options");
  return NULL;
}

/* With the options of a pattern, or what patterns there are. */
static GOptionContext *
make_context (const TracePattern *pattern, GPtrArray *texts, GPtrArray *kept)
{
  GOptionContext *context;
  g_autofree char *patterns = NULL;

  if (pattern) {
    context = cli_context_new (pattern->name, pattern->summary);
    add_parameters (context, pattern, texts, kept);
    return context;
  }
  context = cli_context_new ("KIND",
                             "Makes a trace of a communication pattern.  Without --output, prints "
                             "its complete\nspec, which every command takes in place of a trace.");
  patterns = describe_patterns ();
  g_option_context_set_description (context, patterns);
  return context;
}

int
cli_trace_generate (int argc, char **argv, GError **error)
{
  static const char *const names[] = { "KIND", NULL };
  g_autoptr (GPtrArray) texts = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GPtrArray) kept = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GError) trouble = NULL;
  const TracePattern *pattern = first_argument (argc, argv, &trouble);
  g_autoptr (GOptionContext) context = make_context (pattern, texts, kept);
  g_auto (CliTraceWriteOptions) write_options = { 0 };
  g_autofree char *spec = NULL;
  g_autofree char **words = g_new (char *, texts->len + 1);
  CliTalkOptions talk = { 0 };
  const char *kind;
  guint n_words;

  cli_add_trace_write_options (context, &write_options);
  cli_add_talk_options (context, &talk);
  if (trouble && !cli_parse_hook) {
    g_propagate_error (error, g_steal_pointer (&trouble));
    return CLI_FAILED;
  }
  n_words = take_words (&argc, argv, words, texts->len);
  if (!cli_parse (context, argc, argv, names, &kind, error) ||
      !fill_words (pattern, texts, words, n_words, error) ||
      !(spec = make_spec (pattern, texts, error)) || !generate (spec, &write_options, &talk, error))
    return CLI_FAILED;
  return CLI_DONE;
}
