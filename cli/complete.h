/* complete.h - the words that may stand at a place of the command line, for the shell's completion.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/command.h"

/* What `hopcast --complete WORD...` prints: the words that may stand in the place of the last WORD
 * and begin like it, a line each, and the line ":files" where a path may stand (":files SUFFIX..."
 * when it has one of these endings).  commands[n] are those of the program, argv the WORDs. */
void cli_complete (const CliCommand *commands, gsize n, int argc, char **argv);
