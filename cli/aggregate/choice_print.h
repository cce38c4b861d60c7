/* choice_print.h - aggregation patterns with what each costs, and the one that is chosen.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/aggregate/choice.h"

/* "pattern 1", or the one that takes its place, and why; the caller frees it. */
char *cli_choice_reference (const CliChoice *choice, const CliChoiceOptions *options);

/* What to do, without a full stop: the pattern and how much slower than the fastest it is, or why none
 * is recommended, and the order by time; the caller frees it. */
char *cli_choice_advice (const CliChoice *choice);

/* choices: (element-type CliChoice), one for each number of ranks. */
void cli_choice_print (FILE *out, const GPtrArray *choices, const CliChoiceOptions *options);

/* HTML with a picture for each of the choices (element-type CliChoice); it needs no other file. */
void cli_choice_write_page (FILE *out, const GPtrArray *choices, const CliChoiceOptions *options);

/* Those that the options ask for, and on standard error how to launch with each.  A file that
 * cannot say the placement is an error, one of --output PREFIX is left out with a warning. */
gboolean
cli_choice_write_files (const CliChoice *choice, const CliChoiceOptions *options, GError **error);
