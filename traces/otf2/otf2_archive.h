/* otf2_archive.h - what is read through libotf2: definitions and events; private to traces/.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * libotf2 reports errors to one function of the process, so that one lock is
 * held whenever it works.  It keeps a descriptor and a chunk (1 MiB as
 * Score-P writes) per event file that is open: only so many are, of all
 * traces together, and the one that was not used for longest is closed and
 * opened again where it was. */
#pragma once

#include "traces/otf2/otf2_definitions.h"
#include "traces/otf2/otf2_record.h"

/* The definitions of the archive with this anchor, and its writer (caller
 * frees).  Not yet finished. */
Otf2Definitions *otf2_archive_definitions (const char *anchor, char **creator, GError **error);

/* The paths of a location's events and, where there are any, of its own
 * definitions; caller frees. */
char *otf2_archive_events_path (const char *anchor, uint64_t location);
char *otf2_archive_definitions_path (const char *anchor, uint64_t location);
char *otf2_archive_global_path (const char *anchor);

/* FALSE and *error when a file of events or definitions has not its end, or
 * is not there.  libotf2 itself may read on in what its memory held before. */
gboolean otf2_archive_check_file (const char *path, GError **error);

/* The same for an anchor, and that libotf2 will not read it forever. */
gboolean otf2_archive_check_anchor (const char *path, GError **error);

/* The events of one location, from its first.  anchor: borrowed. */
Otf2Input *otf2_archive_input (const char *anchor, uint64_t location);
