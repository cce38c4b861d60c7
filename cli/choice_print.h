/* choice_print.h - aggregation patterns with what each costs, and the one that is chosen.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/choice.h"

/* choices: (element-type CliChoice), one for each number of ranks. */
void cli_choice_print (FILE *out, const GPtrArray *choices, const CliChoiceOptions *options);
