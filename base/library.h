/* library.h - where the program's own shared libraries are.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>

/* Path of lib<something>.so: in the folder that the environment's HOPCAST_LIBRARIES names, beside the
 * program (a build tree), in the installed tree, which may have been moved, or in the configured
 * folder.  The caller frees it; NULL when none has it. */
char *base_library_find (const char *name);
