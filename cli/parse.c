/* parse.c - the command line of one command: its options, and errors that name them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/parse.h"

#include "base/words.h"
#include "cli/command.h"

#include <math.h>
#include <string.h>

#define NAME_LETTERS G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "-"

CliParseHook cli_parse_hook;

static void
option_free (gpointer data)
{
  CliOption *option = data;

  g_free (option->name);
  g_free (option->letter);
  g_free (option->argument);
  g_free (option);
}

/* GLib hides the entries of a context, but prints them: "  -o, --output=FILE   Where to write". */
GPtrArray *
cli_options_of (GOptionContext *context)
{
  g_autofree char *help = g_option_context_get_help (context, FALSE, NULL);
  g_auto (GStrv) lines = g_strsplit (help, "\n", -1);
  GPtrArray *options = g_ptr_array_new_with_free_func (option_free);

  for (guint i = 0; lines[i] != NULL; i++) {
    const char *line = lines[i] + strspn (lines[i], " ");
    CliOption *option;
    gsize length;
    char letter = '\0';

    if (line[0] == '-' && line[1] != '-' && g_str_has_prefix (line + 2, ", ")) {
      letter = line[1];
      line += strlen ("-x, ");
    }
    if (*lines[i] != ' ' || !g_str_has_prefix (line, "--"))
      continue;
    length = strspn (line, NAME_LETTERS);
    option = g_new0 (CliOption, 1);
    option->name = g_strndup (line, length);
    option->letter = letter != '\0' ? g_strdup_printf ("-%c", letter) : NULL;
    if (line[length] == '=')
      option->argument = g_strndup (line + length + 1, strcspn (line + length + 1, " "));
    g_ptr_array_add (options, option);
  }
  return options;
}

const CliOption *
cli_option_find (const GPtrArray *options, const char *word)
{
  for (guint at = 0; at < options->len; at++) {
    const CliOption *option = g_ptr_array_index (options, at);

    if (strcmp (option->name, word) == 0 || g_strcmp0 (option->letter, word) == 0)
      return option;
  }
  return NULL;
}

/* --- Errors --- */

/* GLib refuses only values of numbers. */
static gboolean
refuse_value (const char *name, const char *value, GError **error)
{
  char *end;
  double number = g_ascii_strtod (value, &end);
  const char *problem = "is not a number";

  if (*value != '\0' && *end == '\0' && !isnan (number))
    problem = isfinite (number) && floor (number) != number ? "is not a whole number"
                                                            : "is outside of the range of numbers";
  return cli_refuse (error, "%s: '%s' %s", name, value, problem);
}

/* Finds the wrong word of GLib's error by checking all words again. */
static gboolean
refuse (GOptionContext *context, const char *const *words, const GError *cause, GError **error)
{
  g_autoptr (GPtrArray) options = cli_options_of (context);
  gboolean is_value = g_error_matches (cause, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE);

  for (; *words != NULL && strcmp (*words, "--") != 0; words++) {
    const char *word = *words, *equals = strchr (word, '='), *value;
    g_autofree char *name =
        g_strndup (word, equals != NULL ? (gsize) (equals - word) : strlen (word));
    const CliOption *option;

    if (word[0] != '-' || word[1] == '\0')
      continue;
    if (word[1] != '-' && strlen (name) > 2)
      name[2] = '\0'; /* -oFILE */
    option = cli_option_find (options, name);
    if (option == NULL) {
      g_autofree const char **names = g_new0 (const char *, options->len + 1);
      g_autofree char *meant = NULL;

      for (guint at = 0; at < options->len; at++)
        names[at] = ((CliOption *) g_ptr_array_index (options, at))->name;
      meant = base_did_you_mean (name, names);
      return cli_refuse (error, "unknown option %s%s", name, meant);
    }
    if (option->argument == NULL) {
      if (equals != NULL)
        return cli_refuse (error, "%s takes no value", name);
      continue;
    }
    value = equals != NULL ? equals + 1 : word[1] != '-' && word[2] != '\0' ? word + 2 : *++words;
    if (value == NULL)
      return cli_refuse (error, "%s %s: the value is missing", name, option->argument);
    if (!g_utf8_validate (value, -1, NULL))
      return cli_refuse (error, "%s: the value is not UTF-8", name);
    if (is_value && strstr (cause->message, name) != NULL && strstr (cause->message, value) != NULL)
      return refuse_value (name, value, error);
  }
  return cli_refuse (error, "%s", cause->message);
}

/* Refuses two things that GLib accepts: a value of an option that takes none, and NaN, which commands
 * use for a number that is not given. */
static gboolean
check_values (GOptionContext *context, const char *const *words, GError **error)
{
  static const char *const numbers[] = { "X", "F", "S", "PERCENT", "LEVEL", "SHARE", NULL };
  g_autoptr (GPtrArray) options = cli_options_of (context);

  for (; *words != NULL && strcmp (*words, "--") != 0; words++) {
    const char *equals = strchr (*words, '=');
    g_autofree char *name =
        g_strndup (*words, equals != NULL ? (gsize) (equals - *words) : strlen (*words));
    const CliOption *option = cli_option_find (options, name);
    const char *value;

    if (option != NULL && option->argument == NULL && equals != NULL)
      return cli_refuse (error, "%s takes no value", name);
    if (option == NULL || option->argument == NULL)
      continue;
    value = equals != NULL ? equals + 1 : *++words;
    if (g_strv_contains (numbers, option->argument) && isnan (g_ascii_strtod (value, NULL)))
      return refuse_value (option->name, value, error);
  }
  return TRUE;
}

gboolean
cli_parse_options (GOptionContext *context, const char *const *names, int *argc, char ***argv,
                   GError **error)
{
  g_autoptr (GPtrArray) words = g_ptr_array_new ();
  g_autoptr (GError) cause = NULL;

  if (cli_parse_hook != NULL) {
    cli_parse_hook (context, names, *argc, *argv);
    return cli_refuse (error, "the options were listed");
  }
  for (int at = 1; at < *argc; at++)
    g_ptr_array_add (words, (*argv)[at]);
  g_ptr_array_add (words, NULL);
  if (!g_option_context_parse (context, argc, argv, &cause))
    return refuse (context, (const char *const *) words->pdata, cause, error);
  /* The rest is a command to be run, with options of its own. */
  if (g_option_context_get_strict_posix (context))
    words->pdata[words->len - (guint) *argc] = NULL;
  return check_values (context, (const char *const *) words->pdata, error);
}

gboolean
cli_parse (GOptionContext *context, int argc, char **argv, const char *const *names,
           const char **values, GError **error)
{
  int next = 1;

  if (!cli_parse_options (context, names, &argc, &argv, error))
    return FALSE;
  if (next < argc && !strcmp (argv[next], "--"))
    next++;
  for (; *names; names++, values++, next++) {
    if (next >= argc && **names == '[') {
      *values = NULL;
      continue;
    }
    if (next >= argc)
      return cli_refuse (error, "%s is missing", *names);
    *values = argv[next];
  }
  return next >= argc || cli_refuse (error, "one argument too many: '%s'", argv[next]);
}

int
cli_parse_choice (const char *option, const char *text, const char *const *choices, GError **error)
{
  g_autofree char *list = NULL, *meant = NULL;

  if (text == NULL)
    return 0;
  for (int i = 0; choices[i]; i++)
    if (!strcmp (text, choices[i]))
      return i;
  list = g_strjoinv (", ", (char **) choices);
  meant = base_did_you_mean (text, choices);
  cli_refuse (error, "%s: '%s' is none of %s%s", option, text, list, meant);
  return -1;
}

gboolean
cli_check_number (const char *option, int value, int least, int most, GError **error)
{
  return value == G_MININT || (value >= least && value <= most) ||
         cli_refuse (error, "%s: %d is not within %d..%d", option, value, least, most);
}

#define MOST_BUDGET_S 1e9
#define MOST_BUDGET_N 1e6

gboolean
cli_parse_budget (const char *text, guint least, int64_t *budget_us, guint *n, GError **error)
{
  char *end;
  double value = g_ascii_strtod (text, &end);

  if (end != text && strcmp (end, "s") == 0 && value > 0 && value <= MOST_BUDGET_S)
    *budget_us = (int64_t) ceil (value * 1e6);
  else if (end != text && *end == '\0' && value >= least && value <= MOST_BUDGET_N &&
           value == floor (value))
    *n = (guint) value;
  else
    return cli_refuse (
        error, "--budget: '%s' is neither seconds, such as 20s, nor a number of at least %u", text,
        least);
  return TRUE;
}
