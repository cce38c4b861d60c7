/* choice_page.h - the patterns of a job as a page: bars of computation and communication.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/aggregate/choice.h"

/* HTML with a picture for each of the choices (element-type CliChoice); it needs no other file. */
void cli_choice_write_page (FILE *out, const GPtrArray *choices, const CliChoiceOptions *options);
