/* record_mpi.h - which MPI a command will use, and the recorder for it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>

/* Path of the recorder's library for the MPI called `name`, or, if that is
 * NULL, for the one that the command (NULL-terminated) uses; NULL and *error
 * when it cannot be told or there is none. */
char *cli_record_library (const char *name, char *const *command, GError **error);
