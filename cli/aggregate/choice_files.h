/* choice_files.h - the chosen placement as the files of launchers.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/aggregate/choice.h"

/* Those that the options ask for, and on standard error how to launch with each.  A file that
 * cannot say the placement is an error, one of --output PREFIX is left out with a warning. */
gboolean
cli_choice_write_files (const CliChoice *choice, const CliChoiceOptions *options, GError **error);
