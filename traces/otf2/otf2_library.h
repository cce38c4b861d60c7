/* otf2_library.h - the one lock around libotf2, and its errors; private to traces/.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Everything between these two is one thread's; what libotf2 has to say is
 * kept instead of printed. */
void otf2_library_enter (void);
/* With a path: sets *error to what libotf2 reported about it.  NULL: all is well. */
void otf2_library_leave (const char *path, GError **error);

/* Whether it has reported one since otf2_library_enter(). */
bool otf2_library_failed (void);
