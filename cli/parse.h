/* parse.h - the command line of one command: its options, and errors that name them.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * GLib parses the options; its errors are replaced by ones in the form of the program's own: the
 * option, the value, the reason, and the option that is nearest to a misspelt one. */
#pragma once

#include <glib.h>

/* An option as the help of its context lists it. */
typedef struct {
  char *name;     /* "--output" */
  char *letter;   /* "-o", NULL: none */
  char *argument; /* name of its value in the help, "FILE"; NULL: it takes none */
} CliOption;

/* The options of a context, CliOption *; g_ptr_array_unref(). */
GPtrArray *cli_options_of (GOptionContext *context);

/* The option that `word` names, "--output" or "-o"; NULL when there is none.  It is in `options`. */
const CliOption *cli_option_find (const GPtrArray *options, const char *word);

/* As g_option_context_parse(); the error is CLI_ERROR_USAGE.  names: the positional arguments,
 * NULL-terminated, for the completion of words. */
gboolean cli_parse_options (GOptionContext *context, const char *const *names, int *argc,
                            char ***argv, GError **error);

/* The same, then checks that exactly the positional arguments `names` are left and puts them in
 * values[]; they live in argv.  The last may be in brackets: its value is NULL when it is not given. */
gboolean cli_parse (GOptionContext *context, int argc, char **argv, const char *const *names,
                    const char **values, GError **error);

/* The index of `text` among the NULL-terminated choices, 0 when it is NULL; -1 and *error: it is none
 * of them. */
int
cli_parse_choice (const char *option, const char *text, const char *const *choices, GError **error);

#define CLI_MAX_THREADS 1024

/* What --budget says: seconds with an s, or a whole number from `least` on.  One of *budget_us and *n is set.
 * FALSE and *error for anything else. */
gboolean
cli_parse_budget (const char *text, guint least, int64_t *budget_us, guint *n, GError **error);

/* Whether the value is within the bounds; one that was not given, G_MININT, is. */
gboolean cli_check_number (const char *option, int value, int least, int most, GError **error);

/* When it is set, cli_parse_options() calls it instead of parsing, and fails: so that a command
 * shows its options without running. */
typedef void (*CliParseHook) (GOptionContext *context, const char *const *names, int argc,
                              char **argv);
extern CliParseHook cli_parse_hook;
