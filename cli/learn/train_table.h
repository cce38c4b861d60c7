/* train_table.h - what training found, as tables and bars for a person.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/learn/train_report.h"

/* Of the sets that a search tried, the best so many are shown. */
#define CLI_SETS_SHOWN 5u

void cli_training_print_table (FILE *out, const CliTraining *training);
