/* aggregate.h - options and machines of the aggregate commands.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/options.h"

/* The machine of the options; a torus, which has no nodes with cores, is an error. */
TopoMachine *cli_aggregate_machine (const CliMachineOptions *options, GError **error);

/* The value of an option such as "3GiB", above 0; without text 0. */
gboolean
cli_aggregate_bytes (const char *option, const char *text, uint64_t *bytes, GError **error);
