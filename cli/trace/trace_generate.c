/* trace_generate.c - `hopcast trace generate`: the spec or the trace of a pattern.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The options of a pattern are the rows of its table of parameters. */
#include "cli/parse.h"
#include "cli/command.h"
#include "cli/trace/trace_write.h"
#include "traces/patterns/pattern.h"

#include <string.h>

/* Words right behind KIND, as in "npb LU D", are the first parameters in the order of the table.
 * Moves at most `most` of them from argv to words[]; returns how many. */
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

/* The complete spec of the pattern with these parameters, texts[parameter] (NULL: not given); NULL
 * and *error when it is wrong. */
static char *
make_spec (const TracePattern *pattern, const GPtrArray *texts, GError **error)
{
  g_autoptr (GString) spec = g_string_new ("gen:");
  g_autoptr (GError) trouble = NULL;
  const char *before = ":";
  char *canonical;

  g_string_append (spec, pattern->name);
  for (guint i = 0; i < texts->len; i++) {
    const char *name = pattern->parameters[i].name, *text = texts->pdata[i];

    if (text == NULL)
      continue;
    if (strchr (text, ',')) {
      cli_refuse (error, "--%s: '%s' contains a comma", name, text);
      return NULL;
    }
    g_string_append_printf (spec, "%s%s=%s", before, name, text);
    before = ",";
  }
  canonical = trace_pattern_canonical (spec->str, &trouble);
  if (!canonical)
    cli_refuse (error, "%s", trouble->message);
  return canonical;
}

/* The pattern that the first argument names; NULL without *error when help on all of them is asked
 * for. */
static const TracePattern *
first_argument (int argc, char **argv, GError **error)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  int choice;

  if (argc > 1 && (!strcmp (argv[1], "--help") || !strcmp (argv[1], "-h")))
    return NULL;
  if (argc < 2 || *argv[1] == '-') {
    cli_refuse (error, "KIND is missing: it comes before the options");
    return NULL;
  }
  for (const TracePattern *const *pattern = trace_patterns (); *pattern; pattern++)
    g_ptr_array_add (names, (gpointer) (*pattern)->name);
  g_ptr_array_add (names, NULL);
  choice = cli_parse_choice ("PATTERN", argv[1], (const char *const *) names->pdata, error);
  return choice >= 0 ? trace_patterns ()[choice] : NULL;
}

/* With an option for each parameter of the pattern, whose text goes to texts[parameter]; or, without
 * a pattern, with a list of the patterns.  `kept` keeps the texts of the help. */
static GOptionContext *
make_context (const TracePattern *pattern, GPtrArray *texts, GPtrArray *kept)
{
  static const char *const arguments[] = {
    [TRACE_PARAMETER_INTEGER] = "N", [TRACE_PARAMETER_BYTES] = "BYTES",
    [TRACE_PARAMETER_TIME] = "TIME", [TRACE_PARAMETER_GRID] = "AxBxC",
    [TRACE_PARAMETER_WORD] = "WORD",
  };
  GOptionContext *context;
  g_autoptr (GString) list = g_string_new ("Patterns:\n");
  guint n = 0;

  if (pattern == NULL) {
    for (const TracePattern *const *each = trace_patterns (); *each; each++)
      g_string_append_printf (list, "  %-12s %s\n", (*each)->name, (*each)->summary);
    g_string_append (list, "\n'hopcast trace generate KIND --help' tells the parameters of one.");
    context = cli_context_new (
        "KIND", "Makes a trace of a communication pattern.  Without --output, prints its "
                "complete\nspec, which every command takes in place of a trace.");
    g_option_context_set_description (context, list->str);
    return context;
  }
  context = cli_context_new (pattern->name, pattern->summary);
  while (pattern->parameters[n].name)
    n++;
  g_ptr_array_set_size (texts, (gint) n);
  for (guint i = 0; i < n; i++) {
    const TraceParameter *parameter = &pattern->parameters[i];
    const char *preset = parameter->preset;
    char *description = preset == NULL ? g_strdup_printf ("%s (must be given)", parameter->help)
                        : *preset == '\0'
                            ? g_strdup (parameter->help)
                            : g_strdup_printf ("%s (default: %s)", parameter->help, preset);
    const GOptionEntry entries[] = {
      { parameter->name, 0, 0, G_OPTION_ARG_STRING, &texts->pdata[i], description,
        arguments[parameter->kind] },
      { NULL },
    };

    g_ptr_array_add (kept, description);
    g_option_context_add_main_entries (context, entries, NULL);
  }
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
  g_autoptr (Trace) trace = NULL;
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
  if (!cli_parse (context, argc, argv, names, &kind, error))
    return CLI_FAILED;
  for (guint i = 0; i < n_words; i++) {
    if (texts->pdata[i]) {
      cli_refuse (error, "--%s is given twice: '%s' and '%s'", pattern->parameters[i].name,
                  words[i], (char *) texts->pdata[i]);
      return CLI_FAILED;
    }
    texts->pdata[i] = g_strdup (words[i]);
  }
  if (!(spec = make_spec (pattern, texts, error)))
    return CLI_FAILED;
  if (write_options.path)
    return (trace = trace_open (spec, NULL, error)) &&
                   cli_trace_write (trace, &write_options, &talk, error)
               ? CLI_DONE
               : CLI_FAILED;
  if (write_options.format_name) {
    cli_refuse (error, "--to: needs --output FILE");
    return CLI_FAILED;
  }
  printf ("%s\n", spec);
  return CLI_DONE;
}
